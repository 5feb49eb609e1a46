//! What a preconditioner is made of, on any machine.

use dgsuite_amg::{
    Amg, AmgError, AmgOptions, Csr, HierarchySummary, LinearOperator, Multigrid, Preconditioner, Transfer,
    rough_entry,
};
use dgsuite_gpu::{Backend, Host, Vector};
use dgsuite_ops::elliptic::Sipdg;
use dgsuite_ops::{OpsError, PackScalar};

use super::EllipticError;
use super::lines::LineDescription;

/// A preconditioner that can be sent to another thread.
pub(crate) type Apply<V> = dyn Preconditioner<V> + Send;

/// The vectors of a machine with numbers of type `T`.
pub(crate) type Of<M, T> = <<M as Machine>::Backend as Backend>::Vector<T>;

/// A transfer between vectors of `T`, with its bytes.
pub(super) type Between<M, T> = (Box<dyn Transfer<Of<M, T>> + Send + Sync>, usize);

/// The numbers of multigrid.
pub(crate) trait Number: PackScalar {
    /// An operator in these numbers.
    fn of(operator: Sipdg<f64>) -> Result<Sipdg<Self>, OpsError>;
    /// Algebraic multigrid for a matrix, in these numbers.
    fn amg(host: &Host, a: &Csr<f64>, options: &AmgOptions) -> Result<Amg<Self>, AmgError>;
}

impl Number for f32 {
    fn of(operator: Sipdg<f64>) -> Result<Sipdg<Self>, OpsError> {
        operator.single()
    }

    fn amg(host: &Host, a: &Csr<f64>, options: &AmgOptions) -> Result<Amg<f32>, AmgError> {
        Amg::new(host, a, options)
    }
}

impl Number for f64 {
    fn of(operator: Sipdg<f64>) -> Result<Sipdg<Self>, OpsError> {
        Ok(operator)
    }

    fn amg(host: &Host, a: &Csr<f64>, options: &AmgOptions) -> Result<Amg<f64>, AmgError> {
        Amg::in_double(host, a, options)
    }
}

/// A part of a preconditioner with the bytes that it adds.
pub(crate) struct Piece<V> {
    pub apply: Box<Apply<V>>,
    pub bytes: usize,
}

impl<V: Vector> Piece<V> {
    pub(super) fn new(apply: impl Preconditioner<V> + Send + 'static, bytes: usize) -> Self {
        Self { apply: Box::new(apply), bytes }
    }
}

/// Algebraic multigrid on a matrix.
pub(crate) struct OnMatrix<V> {
    /// The solver and its bytes beside those of its levels.
    pub piece: Piece<V>,
    pub summary: HierarchySummary,
    /// Rows of the matrix.
    pub rows: usize,
}

/// Sizes of an operator.
pub(crate) struct Sizes {
    pub order: usize,
    /// Unknowns.
    pub dofs: usize,
    /// Entries of a vector, padding included.
    pub entries: usize,
    /// Bytes of the operator on this machine.
    pub bytes: usize,
}

/// A machine that applies preconditioners: it supplies their parts, and
/// [`build`](super::preconditioner::build) puts them together.
pub(crate) trait Machine {
    /// The machine of the vectors.
    type Backend: Backend;
    /// A shared operator whose vectors are of `T`.
    type Operator<T: Number>: Clone;

    /// The machine of the vectors.
    fn backend(&self) -> &Self::Backend;
    /// The operator of a solve as the host knows it.
    fn on_host(a: &Self::Operator<f64>) -> &Sipdg<f64>;
    /// The sizes of an operator.
    fn sizes<T: Number>(a: &Self::Operator<T>) -> Sizes;
    /// The operator as a linear map of vectors.
    fn linear<T: Number>(a: &Self::Operator<T>) -> Box<dyn LinearOperator<Of<Self, T>> + Send + Sync>;

    /// A first vector for the largest eigenvalue of a level, which depends on the numbers of elements and
    /// nodes alone.
    fn start<T: Number>(&self, a: &Self::Operator<T>) -> Result<Of<Self, T>, EllipticError>;

    /// The operator in single precision.
    fn single(&self, a: &Self::Operator<f64>) -> Result<Self::Operator<f32>, EllipticError>;
    /// The operator of the same problem for another order.
    fn at_order<T: Number>(
        &self,
        a: &Self::Operator<T>,
        order: usize,
    ) -> Result<Self::Operator<T>, EllipticError>;

    /// The inverse of the mass matrix.
    fn inverse_mass(&self, a: &Self::Operator<f64>) -> Result<Piece<Of<Self, f64>>, EllipticError>;
    /// The inverse of the diagonal.
    fn jacobi<T: Number>(&self, a: &Self::Operator<T>) -> Result<Piece<Of<Self, T>>, EllipticError>;
    /// The inverses of the element blocks.
    fn block_jacobi<T: Number>(&self, a: &Self::Operator<T>) -> Result<Piece<Of<Self, T>>, EllipticError>;
    /// Point Jacobi with linelets, and the bytes of the linelets' factors.
    fn linelets<T: Number>(
        &self,
        a: &Self::Operator<T>,
    ) -> Result<(Piece<Of<Self, T>>, usize), EllipticError>;

    /// What the linelets are, whose factors take these bytes.
    fn describe_lines<T: Number>(&self, a: &Self::Operator<T>, bytes: usize) -> LineDescription;

    /// Point Jacobi with linelets for the operator with the constant `lambda` instead of its own λ.
    fn linelets_with_reaction(
        &self,
        a: &Self::Operator<f64>,
        lambda: f64,
    ) -> Result<Piece<Of<Self, f64>>, EllipticError>;

    /// The transfer between two orders.
    fn between_orders<T: Number>(
        &self,
        fine: &Self::Operator<T>,
        coarse: &Self::Operator<T>,
    ) -> Result<Between<Self, T>, EllipticError>;
    /// The matrix of the continuous functions in the space of an operator, and the transfer to them.
    fn continuous<T: Number>(
        &self,
        a: &Self::Operator<T>,
    ) -> Result<(Csr<f64>, Between<Self, T>), EllipticError>;

    /// Algebraic multigrid in numbers of `T` on the matrix of an operator, for its vectors.
    fn of_operator<T: Number, S: Number>(
        &self,
        a: &Self::Operator<S>,
        options: &AmgOptions,
    ) -> Result<OnMatrix<Of<Self, S>>, EllipticError>;
    /// Algebraic multigrid on any matrix, for vectors of its rows.
    fn of_matrix<T: Number>(
        &self,
        matrix: &Csr<f64>,
        options: &AmgOptions,
    ) -> Result<OnMatrix<Of<Self, T>>, EllipticError>;

    /// Multigrid of double precision as the preconditioner of a solve with `a`.
    fn as_it_is(
        &self,
        a: &Self::Operator<f64>,
        multigrid: Multigrid<Of<Self, f64>>,
    ) -> Result<Piece<Of<Self, f64>>, EllipticError>;
    /// Multigrid on the operator `inner` of single precision as the preconditioner of a solve with `a`.
    fn inside_double(
        &self,
        a: &Self::Operator<f64>,
        inner: &Self::Operator<f32>,
        multigrid: Multigrid<Of<Self, f32>>,
    ) -> Result<Piece<Of<Self, f64>>, EllipticError>;
}

/// Entries of the elements in the numbers of first vectors: more than any element has.
const ENTRIES: usize = 1 << 12;

/// Entry `node` of an element in a [first vector](Machine::start).
pub(super) fn start_entry(element: usize, node: usize) -> f64 {
    rough_entry(element * ENTRIES + node)
}
