//! Vector arithmetic for time integrators and linear solvers.

pub(crate) mod cuda;
mod host;
mod permutation;
mod reduce;
mod summation;

pub use cuda::{CudaItems, CudaSummation, CudaVector, EXACT_HEADER, ItemLists, REDUCE_HEADER};
pub use host::HostVector;
pub use permutation::Permutation;
pub use summation::{Items, Summation};

use crate::{GpuError, Scalar};

/// A vector of numbers on some machine: the arithmetic of time integrators and Krylov methods.
///
/// Factors are `f64`, rounded once to the vector's type. Reductions return `f64`. They sum in double
/// precision over a tree that depends only on the length, so that a machine gives the same bits on every run
/// and for any number of threads. If the factor of the old value is zero, the old value is not read (so that
/// a NaN there has no effect).
///
/// Updates do not return errors: an asynchronous machine stores its first failure and reports it at the next
/// call that copies data to the host.
///
/// # Panics
/// Every operation on two vectors panics if their lengths differ.
pub trait Vector: Sized + Send {
    /// The type of the numbers.
    type Scalar: Scalar;

    /// Number of entries.
    fn len(&self) -> usize;

    /// Whether there are no entries.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// A vector of zeros of the same length on the same machine.
    ///
    /// # Errors
    /// [`GpuError::OutOfMemory`] if the machine's memory is too small.
    fn zeros_like(&self) -> Result<Self, GpuError>;

    /// `self ← x`.
    fn copy_from(&mut self, x: &Self);

    /// `self_i ← value`.
    fn fill(&mut self, value: f64);

    /// `self ← a x + b self`.
    fn axpby(&mut self, a: f64, x: &Self, b: f64);

    /// `self ← b self + Σ_k c_k x_k`, summed from left to right; `terms` are the pairs `(c_k, x_k)`.
    fn lincomb(&mut self, b: f64, terms: &[(f64, &Self)]);

    /// [`axpby`](Self::axpby) for each pair of vectors of two lists, all of one length.
    ///
    /// # Panics
    /// If the lists or the vectors differ in length.
    #[track_caller]
    fn axpby_each(ys: &mut [Self], a: f64, xs: &[Self], b: f64) {
        assert_eq!(ys.len(), xs.len(), "as many vectors on both sides");
        ys.iter_mut().zip(xs).for_each(|(y, x)| y.axpby(a, x, b));
    }

    /// [`lincomb`](Self::lincomb) for each vector of a list with those of the lists in `terms`, all of one
    /// length.
    ///
    /// # Panics
    /// If the lists or the vectors differ in length.
    #[track_caller]
    fn lincomb_each(ys: &mut [Self], b: f64, terms: &[(f64, &[Self])]) {
        terms.iter().for_each(|(_, xs)| assert_eq!(ys.len(), xs.len(), "as many vectors in each term"));
        for (k, y) in ys.iter_mut().enumerate() {
            let terms: Vec<(f64, &Self)> = terms.iter().map(|(c, xs)| (*c, &xs[k])).collect();
            y.lincomb(b, &terms);
        }
    }

    /// `self_i ← a x_i y_i + b self_i`.
    fn add_product(&mut self, a: f64, x: &Self, y: &Self, b: f64);

    /// `Σ_i self_i x_i`.
    fn dot(&self, x: &Self) -> f64;

    /// `Σ_i self_i x_i` and `Σ_i self_i y_i`, with a single wait on asynchronous machines.
    fn dot_two(&self, x: &Self, y: &Self) -> [f64; 2] {
        [self.dot(x), self.dot(y)]
    }

    /// `Σ_i x_i y_i` of each pair, with a single wait on asynchronous machines.
    fn dots(pairs: &[(&Self, &Self)]) -> Vec<f64> {
        pairs.iter().map(|(x, y)| x.dot(y)).collect()
    }

    /// `self ← self + a x`, and `Σ_i self_i²` of the result.
    fn add_and_square(&mut self, a: f64, x: &Self) -> f64 {
        self.axpby(a, x, 1.0);
        self.dot(self)
    }

    /// `x ← x + a self`, then `self ← y + b self`: a step along a direction, and the next direction.
    fn step_and_turn(&mut self, a: f64, x: &mut Self, b: f64, y: &Self) {
        x.axpby(a, self, 1.0);
        self.axpby(1.0, y, b);
    }

    /// `(Σ_i self_i²)^½`.
    fn norm2(&self) -> f64 {
        self.dot(self).sqrt()
    }

    /// `max_i |self_i|`; NaN if any entry is NaN, 0 for an empty vector.
    fn norm_max(&self) -> f64;

    /// `Σ_i self_i`, as accurate as if it were summed in twice the working precision.
    fn sum(&self) -> f64;
}
