//! One step of a Runge–Kutta scheme, from `u(t)` to `u(t + dt)`.

use std::mem::swap;

use dgsuite_gpu::{GpuError, Vector};

use crate::integrals::Integrals;
use crate::scheme::{Base, Mean, Row};
use crate::{Rhs, RunningSum, Scheme, Stage};

/// A scheme with its vectors. A step does not allocate.
///
/// ```
/// use dgsuite_timeint::{Host, HostVector, Scheme, Stepper, from_fn};
/// let host = Host::new(1)?;
/// let mut u = HostVector::from_slice(&host, &[1.0f64])?;
/// let mut decay = from_fn(|_t, u: &HostVector<f64>, du: &mut HostVector<f64>| du[0] = -u[0]);
/// let mut stepper = Stepper::new(Scheme::Lserk54, &u)?;
/// for i in 0..10 {
///     let Ok(()) = stepper.step(&mut decay, 0.1 * i as f64, 0.1, &mut u);
/// }
/// assert!((u[0] - (-1.0f64).exp()).abs() < 1e-6);
/// # Ok::<(), dgsuite_timeint::GpuError>(())
/// ```
pub struct Stepper<V: Vector> {
    scheme: Scheme,
    /// Weights of the quadrature in time.
    weights: Vec<f64>,
    /// Times of the stages, as fractions of the step.
    times: Vec<f64>,
    /// Whether the register is read after each stage.
    keep: Vec<bool>,
    reg: V,
    next: V,
    /// The other stage state, if the start of the step is kept.
    other: Option<V>,
    sum: Option<V>,
    /// The means of states of a step.
    means: Vec<V>,
    /// Factors of the error estimate: start, means, last input, result.
    error: Option<Vec<f64>>,
    /// Factors of the rates in the error estimate, if it is summed from them.
    rates: Option<Vec<f64>>,
    integrals: Integrals,
}

impl<V: Vector> Stepper<V> {
    /// Creates a stepper for states like `prototype` (same length, same machine).
    ///
    /// # Errors
    /// [`GpuError::OutOfMemory`] if the scheme's vectors do not fit.
    pub fn new(scheme: Scheme, prototype: &V) -> Result<Self, GpuError> {
        let rows = scheme.rows();
        let tableau = scheme.tableau();
        let with = |needed: bool| needed.then(|| prototype.zeros_like()).transpose();
        let read_next = |i: usize| rows.get(i + 1).is_some_and(|row| row.a != 0.0);
        let read_by_sum = |row: &Row| row.sum.is_some_and(|sum| sum.d != 0.0);
        Ok(Self {
            scheme,
            weights: tableau.b,
            times: tableau.c,
            keep: rows.iter().enumerate().map(|(i, row)| read_next(i) || read_by_sum(row)).collect(),
            reg: prototype.zeros_like()?,
            next: prototype.zeros_like()?,
            other: with(rows.iter().any(|row| row.base != Base::None))?,
            sum: with(rows.iter().any(|row| row.sum.is_some()))?,
            means: rows
                .iter()
                .filter(|row| row.mean.is_some())
                .map(|_| prototype.zeros_like())
                .collect::<Result<_, _>>()?,
            error: scheme.error_factors(),
            rates: None,
            integrals: Integrals::default(),
        })
    }

    /// Estimates errors from the rates of the stages, `dt Σ_i (b̂_i − b_i) R_i`, instead of from the states.
    /// Use it if the states are changed after the stages, as by a limiter: such a change does not vanish with
    /// the step, and would enter the estimate. It takes one more vector, and one more update in each stage.
    ///
    /// # Errors
    /// [`GpuError::OutOfMemory`] if the vector does not fit.
    pub fn estimate_from_rates(&mut self) -> Result<(), GpuError> {
        self.rates = self.scheme.error_weights();
        if self.rates.is_some() && self.sum.is_none() {
            self.sum = Some(self.reg.zeros_like()?);
        }
        Ok(())
    }

    /// The scheme.
    pub fn scheme(&self) -> Scheme {
        self.scheme
    }

    /// Evaluations of the right-hand side in one step.
    pub fn n_stages(&self) -> usize {
        self.weights.len()
    }

    /// Order of accuracy.
    pub fn order(&self) -> usize {
        self.scheme.order()
    }

    /// The side integrals `∫ r_k dt` over all steps so far, for the rates of [`Rhs::tally`]; empty before the
    /// first step and if there are none.
    pub fn integrals(&self) -> &[f64] {
        self.integrals.values()
    }

    /// The side integrals `∫ r_k dt` over the last finished step alone.
    pub fn increments(&self) -> &[f64] {
        self.integrals.increments()
    }

    /// Sets the side integrals, as after a restart.
    pub fn set_integrals(&mut self, values: &[f64]) {
        self.integrals.set(values);
    }

    /// One step: `u(t) → u(t + dt)`. The buffers of `u` and of the stepper may be exchanged.
    ///
    /// # Errors
    /// The errors of `rhs`. The side integrals are then those of the last finished step, and `u` is the state
    /// at the start of the failed stage (in schemes of three vectors) or the state at `t` (in the others).
    ///
    /// # Panics
    /// If `u` is not like the prototype, or the number of side integrals changes.
    pub fn step<R: Rhs<Vector = V>>(
        &mut self,
        rhs: &mut R,
        t: f64,
        dt: f64,
        u: &mut V,
    ) -> Result<(), R::Error> {
        self.integrals.begin();
        let mut made = 0;
        for (i, row) in self.scheme.rows().iter().enumerate() {
            let first = if i == 0 { 0.0 } else { 1.0 };
            let estimate = self.rates.as_ref().map(|d| RunningSum { p: first, q: 0.0, d: d[i] });
            let keep = self.keep[i] || estimate.is_some();
            let stage = Stage { a: row.a, b: row.b, c: row.c, dt, keep };
            let time = t + self.times[i] * dt;
            match &mut self.other {
                // 2N: the state and `next` are exchanged at each stage.
                None => {
                    rhs.stage(time, &stage, u, None, &mut self.reg, &mut self.next)?;
                    swap(u, &mut self.next);
                }
                // The start of the step stays in `u`; the stages alternate between `other` and `next`.
                Some(other) => {
                    let input: &V = if i == 0 { &*u } else { &*other };
                    let (reg, next) = (&mut self.reg, &mut self.next);
                    let newest = self.means[..made].last();
                    let base = match row.base {
                        Base::Start => Some(&*u),
                        Base::Mean => newest,
                        Base::None | Base::Sum => None,
                    };
                    match (row.base, row.sum.or(estimate), &mut self.sum) {
                        (Base::Sum, _, Some(sum)) => rhs.stage(time, &stage, input, Some(sum), reg, next)?,
                        (_, Some(r), Some(sum)) => {
                            rhs.stage_with_sum(time, &stage, &r, input, base, reg, next, sum)?;
                        }
                        _ => rhs.stage(time, &stage, input, base, reg, next)?,
                    }
                    if let Some(Mean { m, q, s }) = row.mean {
                        let (before, rest) = self.means.split_at_mut(made);
                        match before.last() {
                            Some(last) => rhs.mean(&mut rest[0], &[(m, last), (q, input), (s, u)])?,
                            None => rhs.mean(&mut rest[0], &[(q, input), (s, u)])?,
                        }
                        made += 1;
                    }
                    swap(other, &mut self.next);
                }
            }
            self.integrals.add(self.weights[i], rhs.tally());
        }
        if let Some(other) = &mut self.other {
            swap(u, other);
        }
        self.integrals.finish(dt);
        Ok(())
    }

    /// The norm `(Σ_i (w_i e_i)²)^½` of the estimated error `e` of the last step, which resulted in `u`, with
    /// weights `w`; `None` for schemes without an embedded solution. Call it only once after a step: it
    /// overwrites the vectors of the stages.
    pub fn weighted_error(&mut self, u: &V, weights: &V) -> Option<f64> {
        Some(self.weigh_error(u, weights)?.norm2())
    }

    /// The weighted errors themselves, `w_i e_i`, as for [`weighted_error`](Self::weighted_error).
    pub fn weigh_error(&mut self, u: &V, weights: &V) -> Option<&V> {
        if let (Some(_), Some(sum)) = (&self.rates, &self.sum) {
            self.next.add_product(1.0, sum, weights, 0.0);
            return Some(&self.next);
        }
        let (factors, start) = (self.error.as_ref()?, self.other.as_ref()?);
        let vectors = [start].into_iter().chain(&self.means).chain([&self.next, u]);
        let terms: Vec<(f64, &V)> = factors.iter().copied().zip(vectors).collect();
        self.reg.lincomb(0.0, &terms);
        self.next.add_product(1.0, &self.reg, weights, 0.0);
        Some(&self.next)
    }

    /// The state at the start of the last step, for schemes that keep it.
    pub fn start(&self) -> Option<&V> {
        self.other.as_ref()
    }

    /// Undoes the last step, for schemes that [estimate](Self::weighted_error) its error: restores `u` and
    /// the side integrals of its start, to the last bit. Call it only once, and before anything else.
    ///
    /// # Panics
    /// If the scheme keeps no state at the start of a step.
    pub fn undo(&mut self, u: &mut V) {
        let Some(start) = &mut self.other else {
            panic!("{} does not keep the start of a step", self.scheme)
        };
        swap(u, start);
        self.integrals.undo();
    }
}
