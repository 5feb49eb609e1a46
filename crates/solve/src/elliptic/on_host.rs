//! The solve on the CPU, and the parts of its preconditioners.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use dgsuite_amg::{
    AmgOptions, Csr, Interpolation, Jacobi, LinearOperator, Multigrid, Solution, SolveError, Stop,
};
use dgsuite_gpu::{Host, HostVector};
use dgsuite_ops::elliptic::Sipdg;

use super::bridge::{BetweenOrders, Blocks, InverseMass, Linelets, Operator};
use super::continuous::ContinuousSpace;
use super::entries::{Compact, Reordered, Unknowns, compact, inverse_diagonal};
use super::krylov::{Krylov, Solver};
use super::lines::LineDescription;
use super::machine::{Between, Machine, Number, OnMatrix, Piece, Sizes};
use super::options::SolverOptions;
use super::preconditioner;
use super::{EllipticDescription, EllipticError};

type Vector<T> = HostVector<T>;

/// Operator, preconditioner and vectors on the CPU.
pub(super) struct HostSolver {
    host: Arc<Host>,
    krylov: Krylov<Vector<f64>, Operator<f64>>,
}

impl HostSolver {
    /// Sets up the preconditioner; `one` is the function 1.
    pub(super) fn new(
        operator: &Operator<f64>,
        options: &SolverOptions,
        host: &Arc<Host>,
        one: &Vector<f64>,
    ) -> Result<Self, EllipticError> {
        let built = preconditioner::build(&OnHost(host), operator, options)?;
        let krylov = Krylov::new(operator.clone(), built, one, operator.0.is_singular())?;
        Ok(Self { host: Arc::clone(host), krylov })
    }
}

impl Solver for HostSolver {
    fn describe(&self, description: &mut EllipticDescription) {
        self.krylov.describe(description);
    }

    fn solve(
        &mut self,
        b: &Vector<f64>,
        x: &mut Vector<f64>,
        limits: &Stop,
        stop: &AtomicBool,
        progress: &mut (dyn FnMut(usize, f64) + Send),
    ) -> (Result<Solution, SolveError>, bool) {
        let Self { host, krylov } = self;
        host.install(|| krylov.solve_watched(b, x, limits, stop, progress))
    }
}

/// The CPU as the machine of a preconditioner.
pub(crate) struct OnHost<'a>(pub(crate) &'a Host);

impl OnHost<'_> {
    fn amg<T: Number, S: Number>(
        &self,
        matrix: &Csr<f64>,
        unknowns: Option<Unknowns>,
        options: &AmgOptions,
    ) -> Result<OnMatrix<Vector<S>>, EllipticError> {
        let amg = T::amg(self.0, matrix, options)?;
        let summary = amg.summary().clone();
        let piece = Piece::new(Compact::new(Box::new(amg), unknowns, self.0)?, 0);
        Ok(OnMatrix { piece, summary, rows: matrix.n_rows() })
    }
}

impl Machine for OnHost<'_> {
    type Backend = Host;
    type Operator<T: Number> = Operator<T>;

    fn backend(&self) -> &Host {
        self.0
    }

    fn on_host(a: &Operator<f64>) -> &Sipdg<f64> {
        &a.0
    }

    fn sizes<T: Number>(a: &Operator<T>) -> Sizes {
        Sizes { order: a.0.order(), dofs: a.0.dofs(), entries: a.0.len(), bytes: a.0.bytes() }
    }

    fn linear<T: Number>(a: &Operator<T>) -> Box<dyn LinearOperator<Vector<T>> + Send + Sync> {
        Box::new(a.clone())
    }

    fn single(&self, a: &Operator<f64>) -> Result<Operator<f32>, EllipticError> {
        Ok(Operator(Arc::new(a.0.single()?)))
    }

    fn at_order<T: Number>(&self, a: &Operator<T>, order: usize) -> Result<Operator<T>, EllipticError> {
        Ok(Operator(Arc::new(a.0.at_order(order)?)))
    }

    fn inverse_mass(&self, a: &Operator<f64>) -> Result<Piece<Vector<f64>>, EllipticError> {
        Ok(Piece::new(InverseMass(Arc::clone(&a.0)), 0))
    }

    fn jacobi<T: Number>(&self, a: &Operator<T>) -> Result<Piece<Vector<T>>, EllipticError> {
        let inverse = Vector::from_slice(self.0, &inverse_diagonal(&a.0)?)?;
        Ok(Piece::new(Jacobi::from_inverse_diagonal(inverse), a.0.len() * T::BYTES))
    }

    fn block_jacobi<T: Number>(&self, a: &Operator<T>) -> Result<Piece<Vector<T>>, EllipticError> {
        let inverse = a.0.block_inverses()?;
        let bytes = inverse.bytes();
        Ok(Piece::new(Blocks(inverse), bytes))
    }

    fn linelets<T: Number>(
        &self,
        a: &Operator<T>,
    ) -> Result<(Piece<Vector<T>>, LineDescription), EllipticError> {
        let inverse = a.0.linelet_inverse()?;
        let (lines, bytes) = (LineDescription::of(&a.0, &inverse), inverse.bytes());
        Ok((Piece::new(Linelets(inverse), bytes), lines))
    }

    fn linelets_with_reaction(
        &self,
        a: &Operator<f64>,
        lambda: f64,
    ) -> Result<Piece<Vector<f64>>, EllipticError> {
        let inverse = a.0.linelet_inverse_with_reaction(lambda)?;
        let bytes = inverse.bytes();
        Ok(Piece::new(Linelets(inverse), bytes))
    }

    fn between_orders<T: Number>(
        &self,
        fine: &Operator<T>,
        coarse: &Operator<T>,
    ) -> Result<Between<Self, T>, EllipticError> {
        Ok((Box::new(BetweenOrders(Sipdg::transfer(&fine.0, &coarse.0)?)), 0))
    }

    fn continuous<T: Number>(&self, a: &Operator<T>) -> Result<(Csr<f64>, Between<Self, T>), EllipticError> {
        let space = ContinuousSpace::of(&a.0, self.0)?;
        let transfer = Interpolation::new(space.prolongation::<T>(None)?);
        Ok((space.matrix, (Box::new(transfer), 0)))
    }

    fn of_operator<T: Number, S: Number>(
        &self,
        a: &Operator<S>,
        options: &AmgOptions,
    ) -> Result<OnMatrix<Vector<S>>, EllipticError> {
        let (matrix, unknowns) = compact(&a.0)?;
        self.amg::<T, S>(&matrix, unknowns, options)
    }

    fn of_matrix<T: Number>(
        &self,
        matrix: &Csr<f64>,
        options: &AmgOptions,
    ) -> Result<OnMatrix<Vector<T>>, EllipticError> {
        self.amg::<T, T>(matrix, None, options)
    }

    fn whole(&self, multigrid: Multigrid<Vector<f64>>) -> Result<Piece<Vector<f64>>, EllipticError> {
        Ok(Piece::new(multigrid, 0))
    }

    fn inside_double(
        &self,
        a: &Operator<f64>,
        inner: &Operator<f32>,
        multigrid: Multigrid<Vector<f32>>,
    ) -> Result<Piece<Vector<f64>>, EllipticError> {
        let reordered = Reordered::new(&a.0, &inner.0, multigrid, self.0)?;
        let bytes = reordered.bytes();
        Ok(Piece::new(reordered, bytes))
    }
}
