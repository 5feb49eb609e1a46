//! What a step of incompressible flow needs of the machine on which it runs.

use super::carrier::Carrier;
use super::components::Components;
use super::elliptics::Elliptics;
use super::phases::Moment;
use crate::SystemError;
use crate::elliptic::LineDescription;
use crate::elliptic::machine::{Apply, Of};
use crate::elliptic::{self, EllipticError, SolverOptions, preconditioner};
use crate::setup::Incompressible;
use dgsuite_amg::{KrylovPart, LinearOperator, Solution, SolveError, Stop};
use dgsuite_gpu::{GpuError, Vector};
use dgsuite_ops::elliptic::Triplet;
use dgsuite_ops::{Discretization, Norms, OpsError, StepMeasure};
use dgsuite_physics::Exact;
use dgsuite_physics::formula::Formula;
use dgsuite_physics::trace::StateRecording;
use dgsuite_timeint::Scheme;
use std::sync::Arc;

/// A first-order operator: the right-hand side of a law.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Pass {
    /// `−∇·(u ⊗ u)`: velocity to velocity.
    Convection,
    /// `−∇p` and `−∇·u` with homogeneous boundary values: pressure to velocity, or velocity to pressure. The
    /// fields are those of the state, `u v [w] p`; fields without an input are zero.
    Coupling,
    /// `−∇·u` element by element, without neighbours, with the fields of `Coupling`.
    Elementwise,
    /// The penalties on divergence and normal jumps, with the fields `u v [w] q c`.
    Penalty,
    /// `−∇·(ū T)` for a scalar T with its conditions, and the same for the constant 1: the fields are those
    /// of `Transport`, with T and 1 as the first two components of u.
    Scalar(usize),
    /// `−∇·(ū ⊗ u)`, with the components of u, then those of ū.
    Transport,
    /// `∇·((ν − ν₀ + ν_t) (∇u + ∇uᵀ))` and `∇·((α − α₀ + ν_t/Pr_t) ∇T)` of a viscosity and diffusivities that
    /// vary and of a closure: the velocity, then the scalars.
    Stress,
}

impl Pass {
    /// The places of operators in the list.
    pub(super) const CONVECTION: usize = 0;
    pub(super) const COUPLING: usize = 1;

    /// The operators that a law needs.
    pub(super) fn of(law: &Incompressible) -> Vec<Self> {
        let mut all = vec![Self::Convection, Self::Coupling, Self::Elementwise, Self::Penalty];
        all.extend((0..law.scalars.len()).map(Self::Scalar));
        if law.subcycles.is_some() {
            all.push(Self::Transport);
        }
        if law.has_explicit_stress() {
            all.push(Self::Stress);
        }
        all
    }

    /// Its place in a list with `scalars` scalars, and sub-steps if `transport`.
    pub(super) const fn place(self, (scalars, transport): (usize, bool)) -> usize {
        match self {
            Self::Convection => Self::CONVECTION,
            Self::Coupling => Self::COUPLING,
            Self::Elementwise => 2,
            Self::Penalty => 3,
            Self::Scalar(k) => 4 + k,
            Self::Transport => 4 + scalars,
            Self::Stress => 4 + scalars + transport as usize,
        }
    }
}

/// A sparse matrix between points and vectors.
pub(super) trait Map<V>: Send {
    /// `y ← A x`.
    fn apply(&self, x: &V, y: &mut V);
    /// `y ← y + A x`.
    fn add(&self, x: &V, y: &mut V);
}

/// Formulas of fields, of place and of time at the nodes of vectors.
pub(super) trait AtNodes<V>: Send {
    /// Computes the formulas of `fields` at time `t`. Entries that are not nodes become zero.
    fn eval(&mut self, t: f64, fields: &[&V], outputs: &mut [V]) -> Result<(), GpuError>;
    /// Bytes of its tables.
    fn bytes(&self) -> usize;
}

/// An approximate inverse of an operator `−∇² + λ`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Screened {
    Linelets,
    /// p-multigrid and algebraic multigrid, slightly nonlinear.
    PmgAmg,
}

impl Screened {
    /// Builds the inverse from the operator `−∇²`, or, for multigrid, from one with λ; `options` are those of
    /// multigrid.
    pub(super) fn build<E: elliptic::machine::Machine>(
        self,
        machine: &E,
        (without, lambda): (&E::Operator<f64>, f64),
        with: impl FnOnce() -> Result<E::Operator<f64>, EllipticError>,
        options: &SolverOptions,
    ) -> Result<Box<Apply<Of<E, f64>>>, EllipticError> {
        match self {
            Self::Linelets => Ok(machine.linelets_with_reaction(without, lambda)?.apply),
            Self::PmgAmg => Ok(preconditioner::build(machine, &with()?, options)?.apply),
        }
    }
}

/// A machine with the operators of one flow. Vectors of the nodes have the order of the machine's elliptic
/// operator; other vectors are lists of numbers.
pub(super) trait Machine: Send {
    /// Vectors.
    type V: KrylovPart<Scalar = f64> + 'static;
    /// The elliptic operator of one component of the velocity or a scalar, `−∇²` with its conditions.
    type A: LinearOperator<Self::V> + Send + Sync;

    /// A vector of nodes from its values in the order of the host.
    fn upload(&self, values: &[f64]) -> Result<Self::V, GpuError>;
    /// The values of a vector of nodes in the order of the host.
    fn download(&self, vector: &Self::V) -> Result<Vec<f64>, GpuError>;
    /// A list of numbers.
    fn numbers(&self, values: &[f64]) -> Result<Self::V, GpuError>;
    /// The values of a list.
    fn read(&self, list: &Self::V) -> Result<Vec<f64>, GpuError>;
    /// A matrix from vectors of nodes to a list of `n` numbers.
    fn evaluation(&self, n: usize, entries: &[Triplet]) -> Result<Box<dyn Map<Self::V>>, SystemError>;
    /// Formulas of this number of fields.
    fn at_nodes(
        &self,
        formulas: StateRecording,
        fields: usize,
    ) -> Result<Box<dyn AtNodes<Self::V>>, SystemError>;
    /// A matrix from a list of `n` numbers to vectors of nodes.
    fn load(&self, n: usize, entries: &[Triplet]) -> Result<Box<dyn Map<Self::V>>, SystemError>;

    /// Evaluates a first-order operator at time `t`: inputs and outputs are pairs of field and vector. The
    /// outputs of convection are rates of change, those of other operators residuals: their load is
    /// [`load_of_residual`](Self::load_of_residual).
    fn pass(
        &mut self,
        pass: Pass,
        t: f64,
        inputs: &[(usize, &Self::V)],
        outputs: &mut [(usize, &mut Self::V)],
    ) -> Result<(), OpsError>;
    /// `mu ← M u`.
    fn mass(&self, u: &Self::V, mu: &mut Self::V);
    /// `out ← b out + c M u`; `work` may be overwritten.
    fn add_mass(
        &self,
        c: f64,
        u: &Components<Self::V>,
        b: f64,
        out: &mut Components<Self::V>,
        work: &mut Self::V,
    ) {
        for (u, out) in u.0.iter().zip(&mut out.0) {
            self.mass(u, work);
            out.axpby(c, work, b);
        }
    }
    /// `out ← M (u + a w)`; `work` may be overwritten.
    fn mass_of_sum(
        &self,
        u: &Components<Self::V>,
        a: f64,
        w: &Components<Self::V>,
        out: &mut Components<Self::V>,
        work: &mut Self::V,
    ) {
        for ((u, w), out) in u.0.iter().zip(&w.0).zip(&mut out.0) {
            work.lincomb(0.0, &[(1.0, u), (a, w)]);
            self.mass(work, out);
        }
    }
    /// `u ← M⁻¹ b`.
    fn inverse_mass(&self, b: &Self::V, u: &mut Self::V);
    /// `u ← M⁻¹ b` for all components.
    fn inverse_mass_each(&self, b: &Components<Self::V>, u: &mut Components<Self::V>) {
        b.0.iter().zip(&mut u.0).for_each(|(b, u)| self.inverse_mass(b, u));
    }
    /// `load ←` the residual `r` of a pass, tested with the functions.
    fn load_of_residual(&self, r: &Self::V, load: &mut Self::V);
    /// `r ← M⁻¹` times the load of the residual `r` of a pass; `work` is overwritten.
    fn rate_of_residual(&self, r: &mut Self::V, work: &mut Self::V) {
        if !self.elliptics().nodes.residuals_are_rates() {
            self.load_of_residual(r, work);
            self.inverse_mass(work, r);
        }
    }

    /// `out ← factor P u` with the penalties on divergence and normal jumps of `[τ_D, τ_C]`; returns whether
    /// the machine has done so. Otherwise they are made of [`pass`](Self::pass).
    fn penalties(
        &mut self,
        _of: [&Self::V; 2],
        _factor: f64,
        _u: &Components<Self::V>,
        _out: &mut Components<Self::V>,
    ) -> Result<bool, OpsError> {
        Ok(false)
    }

    /// Solves the pressure's problem from the guess in `x`. The load `b` is that of the velocity's functions.
    fn solve_pressure(&mut self, b: &Self::V, x: &mut Self::V, stop: &Stop) -> Result<Solution, SolveError>;
    /// `y ← A x` with the pressure's operator, where the pressure has the order of the velocity.
    fn apply_pressure(&self, x: &Self::V, y: &mut Self::V);
    /// `p ← M⁻¹ b` in the space of the pressure, for a load `b` of the velocity's functions.
    fn pressure_of_load(&mut self, b: &Self::V, p: &mut Self::V);
    /// The linelets of the pressure's smoother, if it has them.
    fn lines(&self) -> Option<LineDescription>;
    /// The operators of the velocity's components, then those of the scalars.
    fn stiffness(&self) -> Vec<Arc<Self::A>>;
    /// An approximate inverse of `−∇² + λ` with the conditions of number `d` of
    /// [`stiffness`](Self::stiffness).
    fn screened(&self, d: usize, lambda: f64, kind: Screened) -> Result<Box<Apply<Self::V>>, SystemError>;
    /// The elliptic operators on the host.
    fn elliptics(&self) -> &Elliptics;
    /// The step of an explicit operator with the fields `u` for the value 1 of a measure; infinite if nothing
    /// moves or diffuses.
    fn stable_step(&mut self, pass: Pass, u: &[&Self::V], measure: StepMeasure) -> Result<f64, OpsError>;
    /// Carries `field` with the velocity `carrier` by explicit steps of `size` that begin at `begins`;
    /// returns whether the machine has done so. Otherwise the steps are made of [`pass`](Self::pass).
    fn carry(
        &mut self,
        _scheme: Scheme,
        (_begins, _size): (&[f64], f64),
        _carrier: &mut Carrier<'_, Self::V>,
        _field: &mut Components<Self::V>,
    ) -> Result<bool, OpsError> {
        Ok(false)
    }
    /// Integrals of formulas of the state `u v [w] p …`, of its derivatives `[axis][field]`, and `x y z t`,
    /// by a rule of degree `degree`, with the conditions at boundaries of `outside`; `None` if the host must
    /// compute them.
    fn integrate_derivatives(
        &self,
        _state: &[&Self::V],
        _formulas: &[&Formula],
        _degree: usize,
        _t: f64,
        _outside: &Discretization<f64>,
    ) -> Option<Vec<f64>> {
        None
    }
    /// As [`integrate_derivatives`](Self::integrate_derivatives), of the state (twice, as conserved and as
    /// primitive variables) and `x y z t`.
    fn integrate_formulas(
        &self,
        _state: &[&Self::V],
        _formulas: &[Formula],
        _degree: usize,
        _t: f64,
    ) -> Option<Vec<f64>> {
        None
    }
    /// Norms of the difference to an exact solution; `None` if the host must compute them.
    fn errors(&self, _state: &[&Self::V], _exact: &dyn Exact, _t: f64) -> Option<(Vec<String>, Norms)> {
        None
    }
    /// The end of the work that the machine has been given.
    fn now(&self) -> Moment {
        Moment::now()
    }
    /// Bytes of operators and tables.
    fn bytes(&self) -> usize;
    /// The instruction level in use, or the device's architecture.
    fn kernel(&self) -> String;
    /// The name of a GPU; empty for the CPU.
    fn device_name(&self) -> String;
}

/// The pressure's operator.
pub(super) struct OfPressure<'a, M>(pub(super) &'a M);

impl<M: Machine> LinearOperator<M::V> for OfPressure<'_, M> {
    fn n_rows(&self) -> usize {
        self.0.elliptics().pressure.len()
    }

    fn apply(&self, x: &M::V, y: &mut M::V) {
        self.0.apply_pressure(x, y);
    }
}
