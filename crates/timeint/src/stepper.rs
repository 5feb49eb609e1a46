//! One step of a Runge–Kutta scheme, from `u(t)` to `u(t + dt)`.

use std::mem::swap;

use dgsuite_gpu::{GpuError, Vector};

use crate::integrals::Integrals;
use crate::scheme::{Base, Row};
use crate::{Rhs, Scheme, Stage};

/// A scheme with the vectors that it works in. A step allocates nothing.
///
/// ```
/// use dgsuite_gpu::{Host, HostVector};
/// use dgsuite_timeint::{Scheme, Stepper, from_fn};
/// let host = Host::new(1)?;
/// let mut u = HostVector::from_slice(&host, &[1.0f64])?;
/// let mut decay = from_fn(|_t, u: &HostVector<f64>, du: &mut HostVector<f64>| du[0] = -u[0]);
/// let mut stepper = Stepper::new(Scheme::Lserk54, &u)?;
/// for i in 0..10 {
///     let Ok(()) = stepper.step(&mut decay, 0.1 * i as f64, 0.1, &mut u);
/// }
/// assert!((u[0] - (-1.0f64).exp()).abs() < 1e-6);
/// # Ok::<(), dgsuite_gpu::GpuError>(())
/// ```
pub struct Stepper<V: Vector> {
    scheme: Scheme,
    /// Weights of the quadrature in time.
    weights: Vec<f64>,
    /// Times of the stages, as shares of the step.
    times: Vec<f64>,
    /// Whether the register is read after each stage.
    keep: Vec<bool>,
    reg: V,
    next: V,
    /// The other stage state, where the start of the step is kept.
    other: Option<V>,
    sum: Option<V>,
    integrals: Integrals,
}

impl<V: Vector> Stepper<V> {
    /// A stepper for states like `prototype` (same length, same machine).
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
            integrals: Integrals::default(),
        })
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
    /// first step and where there are none.
    pub fn integrals(&self) -> &[f64] {
        self.integrals.values()
    }

    /// Sets the side integrals, as after a restart.
    pub fn set_integrals(&mut self, values: &[f64]) {
        self.integrals.set(values);
    }

    /// One step: `u(t) → u(t + dt)`. The buffers of `u` and of the stepper may be exchanged.
    ///
    /// # Errors
    /// Those of `rhs`. Then the side integrals are those of the last finished step, and `u` is the state that
    /// the failed stage started from (in schemes of three vectors) or the state at `t` (in the others).
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
        for (i, row) in self.scheme.rows().iter().enumerate() {
            let stage = Stage { a: row.a, b: row.b, c: row.c, dt, keep: self.keep[i] };
            let time = t + self.times[i] * dt;
            match &mut self.other {
                // 2N: the state and `next` change places at each stage.
                None => {
                    rhs.stage(time, &stage, u, None, &mut self.reg, &mut self.next)?;
                    swap(u, &mut self.next);
                }
                // The start of the step stays in `u`; the stages alternate between `other` and `next`.
                Some(other) => {
                    let input: &V = if i == 0 { &*u } else { &*other };
                    let (reg, next) = (&mut self.reg, &mut self.next);
                    match (row.base, row.sum, &mut self.sum) {
                        (Base::Sum, _, Some(sum)) => rhs.stage(time, &stage, input, Some(sum), reg, next)?,
                        (base, Some(r), Some(sum)) => {
                            let u0 = (base == Base::Start).then_some(&*u);
                            rhs.stage_with_sum(time, &stage, &r, input, u0, reg, next, sum)?;
                        }
                        (base, ..) => {
                            let u0 = (base == Base::Start).then_some(&*u);
                            rhs.stage(time, &stage, input, u0, reg, next)?;
                        }
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
}
