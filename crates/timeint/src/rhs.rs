//! The right-hand side of `du/dt = R(t, u)`, and the stage in which low-storage schemes are written.

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
/// and Osher (1988). A zero factor means that the vector behind it is not read.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stage {
    /// Factor of the old register.
    pub a: f64,
    /// Share of the base state `u₀`; zero where the stage has none.
    pub b: f64,
    /// Factor of the new register.
    pub c: f64,
    /// Step size.
    pub dt: f64,
    /// Whether the register is read after this stage; if not, an implementation need not store it.
    pub keep: bool,
}

/// Factors of the running sum that some schemes carry beside the stages.
///
/// ```text
/// sum ← p sum + q u + d reg
/// ```
/// with `u` the state that the stage started from and `reg` the register after it. A zero factor means that
/// the vector behind it is not read.
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
/// Only [`eval`](Self::eval) must be written. Where the stage can be done in the same sweep as `R`,
/// [`stage`](Self::stage) is overridden too: it is what a [`Stepper`](crate::Stepper) calls.
pub trait Rhs {
    /// The state.
    type Vector: Vector;
    /// What can go wrong while `R` is worked out.
    type Error;

    /// `du ← R(t, u)`.
    ///
    /// # Errors
    /// Those of the problem.
    fn eval(&mut self, t: f64, u: &Self::Vector, du: &mut Self::Vector) -> Result<(), Self::Error>;

    /// One stage, as [`Stage`] says. `u`, `next` and `reg` are distinct; `u0` is given where `b ≠ 0`.
    /// By default an [`eval`](Self::eval) followed by vector updates, without a vector of its own.
    ///
    /// # Errors
    /// Those of the problem.
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

    /// One stage and the update of the running sum ([`RunningSum`]); by default one after the other.
    ///
    /// # Errors
    /// Those of the problem.
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

    /// `mean ← Σ f v` over the pairs `(f, v)` of `terms`, at most three: states that some schemes lean on.
    ///
    /// # Errors
    /// Those of the problem.
    fn mean(&mut self, mean: &mut Self::Vector, terms: &[(f64, &Self::Vector)]) -> Result<(), Self::Error> {
        mean.lincomb(0.0, terms);
        Ok(())
    }

    /// Rates of scalar side integrals (fluxes through each boundary, say), as found by the last
    /// [`eval`](Self::eval) or stage. The stepper integrates them with the weights of the scheme, exactly as
    /// it does the state, so that budgets close to rounding. Their number may not change.
    fn tally(&self) -> &[f64] {
        &[]
    }

    /// Local time steps: a factor for each unknown, by which `dt` is multiplied there. Time has no meaning
    /// then; use it for steady states, with a `dt` of 1 if the factors are the local steps themselves.
    fn step_scale(&self) -> Option<&Self::Vector> {
        None
    }
}

/// A right-hand side that is a plain function without failure; made by [`from_fn`].
pub struct FnRhs<V, F> {
    function: F,
    vector: PhantomData<fn(V)>,
}

/// A [`Rhs`] from a function `f(t, u, du)`.
///
/// ```
/// use dgsuite_gpu::HostVector;
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
