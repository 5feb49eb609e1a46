//! The implicit step of diffusion: all components of the velocity, or a scalar, in one system,
//! `(s M + ν A) u = b`.

mod inverse;

use self::inverse::Inverse;
use super::components::Components;
use super::machine::Machine;
use super::slip::Slip;
use crate::SystemError;
use crate::setup::VelocityPreconditioner;
use crate::solves::LinearSystem;
use dgsuite_amg::{LinearOperator, Pcg, Preconditioner, Reference, Solution, Stop};
use dgsuite_gpu::Vector;
use std::cell::RefCell;
use std::sync::Arc;

/// The solver of some components.
pub(super) struct HelmholtzSolver<M: Machine> {
    viscosity: f64,
    operators: Vec<Arc<M::A>>,
    /// The terms that couple the components.
    slip: Option<Slip<M::V>>,
    inverse: Inverse<M::V>,
    /// `(p + 1)²`.
    scale: f64,
    work: RefCell<M::V>,
    pcg: Pcg<Components<M::V>>,
    /// For preconditioners that are slightly nonlinear, made for the first of them.
    flexible: Option<Pcg<Components<M::V>>>,
}

impl<M: Machine> HelmholtzSolver<M> {
    /// The solver of the velocity, for fields like `like`.
    pub(super) fn of_velocity(
        machine: &M,
        like: &Components<M::V>,
        viscosity: f64,
        preconditioner: Option<VelocityPreconditioner>,
    ) -> Result<Self, SystemError> {
        let slip = Slip::new(machine, &machine.elliptics().oblique)?;
        Self::new(machine, (0, like), slip, viscosity, preconditioner)
    }

    /// The solver of the components from number `first` on, for fields like `like`.
    pub(super) fn new(
        machine: &M,
        (first, like): (usize, &Components<M::V>),
        slip: Option<Slip<M::V>>,
        viscosity: f64,
        preconditioner: Option<VelocityPreconditioner>,
    ) -> Result<Self, SystemError> {
        let range = first..first + like.0.len();
        let inverse = Inverse::new(machine, range.clone(), slip.as_ref(), viscosity, preconditioner)?;
        Ok(Self {
            viscosity,
            operators: machine.stiffness()[range].to_vec(),
            slip,
            scale: ((machine.elliptics().nodes.order() + 1) as f64).powi(2),
            work: RefCell::new(like.0[0].zeros_like()?),
            pcg: Pcg::new(like)?,
            flexible: None,
            inverse,
        })
    }

    /// The weight of viscosity in a step with the leading coefficient `s`: `λ = ν κ/(s (p + 1)²)` with the
    /// largest ratio κ of the diagonals of A and M, one to two times `ν Δt (p + 1)²/h²`.
    pub(super) fn stiffness(&self, s: f64) -> f64 {
        self.viscosity * self.inverse.ratio() / (s * self.scale)
    }

    /// `b ← b − ν A u`.
    pub(super) fn subtract_viscous(&self, u: &Components<M::V>, b: &mut Components<M::V>) {
        let mut work = self.work.borrow_mut();
        if let Some(slip) = &self.slip {
            slip.evaluate(&u.0);
        }
        for (d, ((a, u), b)) in self.operators.iter().zip(&u.0).zip(&mut b.0).enumerate() {
            a.apply(u, &mut work);
            if let Some(slip) = &self.slip {
                slip.add(d, &mut work);
            }
            b.axpby(-self.viscosity, &work, 1.0);
        }
    }

    /// Solves from the guess in `x`.
    pub(super) fn solve(
        &mut self,
        (machine, system): (&M, LinearSystem),
        s: f64,
        b: &Components<M::V>,
        x: &mut Components<M::V>,
        stop: &Stop,
    ) -> Result<Solution, SystemError> {
        let operator = Helmholtz {
            machine,
            operators: &self.operators,
            slip: self.slip.as_ref(),
            s,
            viscosity: self.viscosity,
            work: &self.work,
        };
        let solved = match self.inverse.of(machine, s)? {
            None => self.pcg.solve(&operator, &mut ByMass(machine), b, x, stop),
            Some(inverse) if inverse.is_nonlinear() => {
                let pcg = match &mut self.flexible {
                    Some(pcg) => pcg,
                    none => none.insert(Pcg::new(x)?.flexible()),
                };
                pcg.solve(&operator, inverse, b, x, stop)
            }
            Some(inverse) => self.pcg.solve(&operator, inverse, b, x, stop),
        };
        solved.map_err(|cause| SystemError::Solve { system, cause })
    }
}

/// `s M + ν A` for all components.
struct Helmholtz<'a, M: Machine> {
    machine: &'a M,
    operators: &'a [Arc<M::A>],
    slip: Option<&'a Slip<M::V>>,
    s: f64,
    viscosity: f64,
    work: &'a RefCell<M::V>,
}

impl<M: Machine> LinearOperator<Components<M::V>> for Helmholtz<'_, M> {
    fn n_rows(&self) -> usize {
        self.operators.iter().map(LinearOperator::n_rows).sum()
    }

    fn recordable(&self) -> Option<u64> {
        Some(self.s.to_bits())
    }

    fn apply(&self, x: &Components<M::V>, y: &mut Components<M::V>) {
        let mut work = self.work.borrow_mut();
        if let Some(slip) = self.slip {
            slip.evaluate(&x.0);
        }
        for (d, ((a, x), y)) in self.operators.iter().zip(&x.0).zip(&mut y.0).enumerate() {
            a.apply(x, y);
            if let Some(slip) = self.slip {
                slip.add(d, y);
            }
        }
        self.machine.add_mass(self.s, x, self.viscosity, y, &mut work);
    }
}

/// The inverse mass matrix; a factor would not change the iterates.
struct ByMass<'a, M: Machine>(&'a M);

impl<M: Machine> Preconditioner<Components<M::V>> for ByMass<'_, M> {
    fn apply(&mut self, r: &Components<M::V>, z: &mut Components<M::V>) {
        self.0.inverse_mass_each(r, z);
    }

    fn recordable(&self) -> Option<u64> {
        Some(0)
    }
}

/// The stopping criterion of a solver: relative to the right-hand side.
pub(super) fn stop(relative: f64, max_iterations: usize, absolute: f64) -> Stop {
    Stop { relative, reference: Reference::RightHandSide, absolute, max_iterations }
}
