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
use super::machine::{Between, Machine, Number, OnMatrix, Piece, Sizes, start_entry};
use super::options::{SolverOptions, with_continuous};
use super::preconditioner;
use super::ranks::{GatheredSolver, GatheredTransfer, Whole, whole_at};
use super::{EllipticDescription, EllipticError};

type Vector<T> = HostVector<T>;

/// Operator, preconditioner and vectors on the CPU.
pub(super) struct HostSolver {
    host: Arc<Host>,
    krylov: Krylov<Vector<f64>, Operator<f64>>,
}

impl HostSolver {
    /// Sets up the preconditioner; `one` is the function 1. On several ranks, `whole` is the operator of
    /// order 1 on the whole mesh.
    pub(super) fn new(
        operator: &Operator<f64>,
        options: &SolverOptions,
        host: &Arc<Host>,
        one: &Vector<f64>,
        whole: Option<&Operator<f64>>,
    ) -> Result<Self, EllipticError> {
        let built = preconditioner::build(&OnHost::new(host, whole), operator, options)?;
        let mut krylov = Krylov::new(operator.clone(), built, one, operator.0.is_singular())?;
        krylov.ranks = operator.0.ranks().map(|ranks| Arc::clone(ranks.joint()));
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
pub(crate) struct OnHost<'a> {
    host: &'a Host,
    /// On several ranks, the operator of order 1 on the whole mesh.
    whole: Option<&'a Operator<f64>>,
}

impl<'a> OnHost<'a> {
    /// The CPU; on several ranks with the operator of order 1 on the whole mesh.
    pub(crate) fn new(host: &'a Host, whole: Option<&'a Operator<f64>>) -> Self {
        Self { host, whole }
    }

    fn amg<T: Number, S: Number>(
        &self,
        matrix: &Csr<f64>,
        unknowns: Option<Unknowns>,
        options: &AmgOptions,
    ) -> Result<OnMatrix<Vector<S>>, EllipticError> {
        let amg = T::amg(self.host, matrix, options)?;
        let summary = amg.summary().clone();
        let piece = Piece::new(Compact::new(Box::new(amg), unknowns, self.host)?, 0);
        Ok(OnMatrix { piece, summary, rows: matrix.n_rows() })
    }
}

impl Machine for OnHost<'_> {
    type Backend = Host;
    type Operator<T: Number> = Operator<T>;

    fn backend(&self) -> &Host {
        self.host
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

    fn start<T: Number>(&self, a: &Operator<T>) -> Result<Vector<T>, EllipticError> {
        let start = Vector::from_slice(self.host, &a.0.numbered(start_entry))?;
        Ok(start.summed_by(a.0.summation()))
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
        let inverse = Vector::from_slice(self.host, &inverse_diagonal(&a.0)?)?;
        Ok(Piece::new(Jacobi::from_inverse_diagonal(inverse), a.0.len() * T::BYTES))
    }

    fn block_jacobi<T: Number>(&self, a: &Operator<T>) -> Result<Piece<Vector<T>>, EllipticError> {
        let inverse = a.0.block_inverses()?;
        let bytes = inverse.bytes();
        Ok(Piece::new(Blocks(inverse, Arc::clone(&a.0)), bytes))
    }

    fn linelets<T: Number>(&self, a: &Operator<T>) -> Result<(Piece<Vector<T>>, usize), EllipticError> {
        let inverse = a.0.linelet_inverse(with_continuous(&a.0))?;
        let (bytes, of_lines) = (inverse.bytes(), inverse.summary().bytes);
        Ok((Piece::new(Linelets(inverse, Arc::clone(&a.0)), bytes), of_lines))
    }

    fn describe_lines<T: Number>(&self, a: &Operator<T>, bytes: usize) -> LineDescription {
        let found = self.whole.map_or_else(|| LineDescription::found(&a.0), |w| LineDescription::found(&w.0));
        LineDescription { bytes, ..found }
    }

    fn linelets_with_reaction(
        &self,
        a: &Operator<f64>,
        lambda: f64,
    ) -> Result<Piece<Vector<f64>>, EllipticError> {
        let inverse = a.0.linelet_inverse_with_reaction(lambda)?;
        let bytes = inverse.bytes();
        Ok(Piece::new(Linelets(inverse, Arc::clone(&a.0)), bytes))
    }

    fn between_orders<T: Number>(
        &self,
        fine: &Operator<T>,
        coarse: &Operator<T>,
    ) -> Result<Between<Self, T>, EllipticError> {
        Ok((Box::new(BetweenOrders(Sipdg::transfer(&fine.0, &coarse.0)?)), 0))
    }

    fn continuous<T: Number>(&self, a: &Operator<T>) -> Result<(Csr<f64>, Between<Self, T>), EllipticError> {
        let Some(whole) = self.whole else {
            let space = ContinuousSpace::of(&a.0, self.host)?;
            let transfer = Interpolation::new(space.prolongation::<T>(None)?);
            return Ok((space.matrix, (Box::new(transfer), 0)));
        };
        let whole = whole_at::<T>(whole, a.0.order())?;
        let space = ContinuousSpace::of(&whole.0, self.host)?;
        let inner = Box::new(Interpolation::new(space.prolongation::<T>(None)?));
        let whole = Whole::on_host(&a.0, &whole.0, self.host)?;
        Ok((space.matrix, (Box::new(GatheredTransfer { inner, whole }), 0)))
    }

    fn of_operator<T: Number, S: Number>(
        &self,
        a: &Operator<S>,
        options: &AmgOptions,
    ) -> Result<OnMatrix<Vector<S>>, EllipticError> {
        let Some(whole) = self.whole else {
            let (matrix, unknowns) = compact(&a.0)?;
            return self.amg::<T, S>(&matrix, unknowns, options);
        };
        let whole = whole_at::<S>(whole, a.0.order())?;
        let (matrix, unknowns) = compact(&whole.0)?;
        let OnMatrix { piece, summary, rows } = self.amg::<T, S>(&matrix, unknowns, options)?;
        let Piece { apply: inner, bytes } = piece;
        let whole = Whole::on_host(&a.0, &whole.0, self.host)?;
        Ok(OnMatrix { piece: Piece::new(GatheredSolver { inner, whole }, bytes), summary, rows })
    }

    fn of_matrix<T: Number>(
        &self,
        matrix: &Csr<f64>,
        options: &AmgOptions,
    ) -> Result<OnMatrix<Vector<T>>, EllipticError> {
        self.amg::<T, T>(matrix, None, options)
    }

    fn as_it_is(
        &self,
        _: &Operator<f64>,
        multigrid: Multigrid<Vector<f64>>,
    ) -> Result<Piece<Vector<f64>>, EllipticError> {
        Ok(Piece::new(multigrid, 0))
    }

    fn inside_double(
        &self,
        a: &Operator<f64>,
        inner: &Operator<f32>,
        multigrid: Multigrid<Vector<f32>>,
    ) -> Result<Piece<Vector<f64>>, EllipticError> {
        let reordered = Reordered::new(&a.0, &inner.0, multigrid, self.host)?;
        let bytes = reordered.bytes();
        Ok(Piece::new(reordered, bytes))
    }
}
