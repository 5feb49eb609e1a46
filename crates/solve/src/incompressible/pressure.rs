//! The problem of the pressure, on any machine.

use super::lower_order::LowerOrder;
use crate::SystemError;
use crate::elliptic::krylov::Krylov;
use crate::elliptic::lines::LineDescription;
use crate::elliptic::machine::Machine;
use crate::elliptic::{Preconditioning, preconditioner};
use crate::setup::Incompressible;
use crate::setup::Setup;
use dgsuite_amg::{KrylovVector, LinearOperator, Solution, SolveError, Stop};

/// The solver of `−∇²p = …`, for loads of the velocity's functions.
pub(super) struct Pressure<V: KrylovVector, A> {
    krylov: Krylov<V, A>,
    /// The linelets of the smoother, if it has them.
    pub(super) lines: Option<LineDescription>,
    lower_order: Option<LowerOrder<V>>,
    /// A load of the velocity's functions.
    work: V,
}

impl<V: KrylovVector<Scalar = f64>, A: LinearOperator<V>> Pressure<V, A> {
    /// Builds the preconditioner of the operator `of`, which is `operator` as a linear map. `one` is the
    /// function 1 of its space, `work` a vector of the velocity's functions.
    pub(super) fn new<M: Machine>(
        machine: &M,
        (of, operator): (&M::Operator<f64>, A),
        (setup, law): (&Setup, &Incompressible),
        one: &V,
        lower_order: Option<LowerOrder<V>>,
        work: V,
    ) -> Result<Self, SystemError>
    where
        M::Backend: dgsuite_gpu::Backend<Vector<f64> = V>,
    {
        let mut options = law.pressure.on(setup.device, M::sizes(of).order, M::on_host(of).whole_mesh());
        let mut lines = None;
        if setup.only_described {
            lines = options.has_lines().then(|| LineDescription::found(M::on_host(of)));
            options.preconditioner = Preconditioning::None;
        }
        let built = preconditioner::build::<M>(machine, of, &options)
            .map_err(|error| SystemError::Elliptic(Box::new(error)))?;
        let lines = lines.or_else(|| built.lines.clone());
        let krylov = Krylov::new(operator, built, one, M::on_host(of).is_singular())?;
        Ok(Self { krylov, lines, lower_order, work })
    }

    /// The operator.
    pub(super) fn operator(&self) -> &A {
        &self.krylov.operator
    }

    /// Solves for the load `b` from the guess in `x`; `mass` is the mass matrix of the velocity's functions.
    pub(super) fn solve(
        &mut self,
        b: &V,
        x: &mut V,
        mass: impl FnOnce(&V, &mut V),
        stop: &Stop,
    ) -> Result<Solution, SolveError> {
        let krylov = &mut self.krylov;
        match &mut self.lower_order {
            None => krylov.solve(b, x, stop),
            Some(lower) => {
                mass(x, &mut self.work);
                lower.solve((b, &self.work), x, |b, x| krylov.solve(b, x, stop))
            }
        }
    }

    /// The pressure with the load `b`; `inverse_mass` is the inverse of the velocity's mass matrix.
    pub(super) fn of_load(&mut self, b: &V, p: &mut V, inverse_mass: impl FnOnce(&V, &mut V)) {
        match &mut self.lower_order {
            None => inverse_mass(b, p),
            Some(lower) => lower.of_load(b, p),
        }
    }

    /// Bytes of the preconditioner and, with a lower order, of its vectors and of `operator` as given.
    pub(super) fn bytes(&self, operator: usize) -> usize {
        self.krylov.built.bytes() + self.lower_order.as_ref().map_or(0, |lower| lower.bytes() + operator)
    }
}
