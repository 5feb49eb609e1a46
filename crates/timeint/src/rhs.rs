//! The right-hand side of `du/dt = R(t, u)`, and the stage of low-storage schemes.

use std::convert::Infallible;
use std::marker::PhantomData;

use dgsuite_gpu::Vector;

/// Factors of one Runge–Kutta stage.
///
/// ```text
/// reg  ← a reg + dt R(t, u)
/// next ← b u₀ + (1 − b) u + c reg
/// ```
/// With `a ≠ 0, b = 0` this is the 2N form of Williamson (1980); with `a = 0, b ≠ 0` the convex form of Shu
/// and Osher (1988). If a factor is zero, its vector is not read.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stage {
    /// Factor of the old register.
    pub a: f64,
    /// Weight of the base state `u₀`; zero for stages without one.
    pub b: f64,
    /// Factor of the new register.
    pub c: f64,
    /// Step size.
    pub dt: f64,
    /// Whether the register is read after this stage; if not, an implementation need not store it.
    pub keep: bool,
}

/// Factors of the running sum that some schemes compute in addition to the stages.
///
/// ```text
/// sum ← p sum + q u + d reg
/// ```
/// with `u` the state at the start of the stage and `reg` the register after it. If a factor is zero, its
/// vector is not read.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RunningSum {
    /// Factor of the old sum.
    pub p: f64,
    /// Factor of the stage's input.
    pub q: f64,
    /// Factor of the register.
    pub d: f64,
}

/// The right-hand side `R` of `du/dt = R(t, u)`.
///
/// Only [`eval`](Self::eval) must be implemented. Override [`stage`](Self::stage) as well if the stage can be
/// computed in the same sweep as `R`; the [`Stepper`](crate::Stepper) calls `stage`.
pub trait Rhs {
    /// The state.
    type Vector: Vector;
    /// The error of the evaluation of `R`.
    type Error;

    /// `du ← R(t, u)`.
    ///
    /// # Errors
    /// The errors of the problem.
    fn eval(&mut self, t: f64, u: &Self::Vector, du: &mut Self::Vector) -> Result<(), Self::Error>;

    /// Computes one [`Stage`]. `u`, `next` and `reg` are distinct; `u0` is passed if `b ≠ 0`. The default is
    /// an [`eval`](Self::eval) followed by vector updates, without a further vector.
    ///
    /// # Errors
    /// The errors of the problem.
    fn stage(
        &mut self,
        t: f64,
        s: &Stage,
        u: &Self::Vector,
        u0: Option<&Self::Vector>,
        reg: &mut Self::Vector,
        next: &mut Self::Vector,
    ) -> Result<(), Self::Error> {
        self.eval(t, u, next)?;
        match self.step_scale() {
            None => reg.axpby(s.dt, next, s.a),
            Some(scale) => reg.add_product(s.dt, scale, next, s.a),
        }
        match u0 {
            Some(u0) if s.b == 1.0 => next.lincomb(0.0, &[(1.0, u0), (s.c, reg)]),
            Some(u0) if s.b != 0.0 => next.lincomb(0.0, &[(s.b, u0), (1.0 - s.b, u), (s.c, reg)]),
            _ => next.lincomb(0.0, &[(1.0, u), (s.c, reg)]),
        }
        Ok(())
    }

    /// Computes one stage and the update of the running sum ([`RunningSum`]); the default does one after the
    /// other.
    ///
    /// # Errors
    /// The errors of the problem.
    fn stage_with_sum(
        &mut self,
        t: f64,
        s: &Stage,
        r: &RunningSum,
        u: &Self::Vector,
        u0: Option<&Self::Vector>,
        reg: &mut Self::Vector,
        next: &mut Self::Vector,
        sum: &mut Self::Vector,
    ) -> Result<(), Self::Error> {
        self.stage(t, s, u, u0, reg, next)?;
        match (r.q == 0.0, r.d == 0.0) {
            (true, _) => sum.lincomb(r.p, &[(r.d, reg)]),
            (false, true) => sum.lincomb(r.p, &[(r.q, u)]),
            (false, false) => sum.lincomb(r.p, &[(r.q, u), (r.d, reg)]),
        }
        Ok(())
    }

    /// `mean ← Σ f v` over the pairs `(f, v)` of `terms`, at most three: base states of some schemes.
    ///
    /// # Errors
    /// The errors of the problem.
    fn mean(&mut self, mean: &mut Self::Vector, terms: &[(f64, &Self::Vector)]) -> Result<(), Self::Error> {
        mean.lincomb(0.0, terms);
        Ok(())
    }

    /// Rates of scalar side integrals (for example fluxes through each boundary), as computed by the last
    /// [`eval`](Self::eval) or stage. The stepper integrates them with the same weights as the state, so that
    /// budgets close up to rounding. Their number must not change.
    fn tally(&self) -> &[f64] {
        &[]
    }

    /// Local time steps: a factor of `dt` for each unknown. Time then has no meaning. Use it for steady
    /// states, with `dt = 1` if the factors are the local steps themselves.
    fn step_scale(&self) -> Option<&Self::Vector> {
        None
    }
}

/// A right-hand side given by a function that cannot fail; created by [`from_fn`].
pub struct FnRhs<V, F> {
    function: F,
    vector: PhantomData<fn(V)>,
}

/// A [`Rhs`] from a function `f(t, u, du)`.
///
/// ```
/// use dgsuite_timeint::HostVector;
/// let decay = dgsuite_timeint::from_fn(|_t, u: &HostVector<f64>, du: &mut HostVector<f64>| du[0] = -u[0]);
/// # let _ = decay;
/// ```
pub fn from_fn<V: Vector, F: FnMut(f64, &V, &mut V)>(function: F) -> FnRhs<V, F> {
    FnRhs { function, vector: PhantomData }
}

impl<V: Vector, F: FnMut(f64, &V, &mut V)> Rhs for FnRhs<V, F> {
    type Vector = V;
    type Error = Infallible;

    fn eval(&mut self, t: f64, u: &V, du: &mut V) -> Result<(), Infallible> {
        (self.function)(t, u, du);
        Ok(())
    }
}
