//! Vectors on the CPU: updates in parallel pieces, reductions over the fixed tree.

use std::ops::{Deref, DerefMut};
use std::sync::Arc;

use rayon::prelude::*;

use super::{Summation, Vector, reduce};
use crate::simd::simd_versions;
use crate::{Buffer, GpuError, Host, Scalar};

/// Entries of one parallel piece of an update.
const PIECE: usize = 16 * 1024;

/// Entries of the block that a linear combination keeps in registers and first-level cache.
const BLOCK: usize = 256;

/// A vector on the CPU: an aligned buffer and the host whose threads work on it. It derefs to a slice.
///
/// ```
/// use dgsuite_gpu::{Host, HostVector, Vector};
/// let host = Host::new(0)?;
/// let x = HostVector::from_slice(&host, &[3.0, -4.0])?;
/// let mut y = x.zeros_like()?;
/// y.axpby(2.0, &x, 0.0);
/// assert_eq!((y[1], x.norm2(), y.norm_max()), (-8.0, 5.0, 8.0));
/// # Ok::<(), dgsuite_gpu::GpuError>(())
/// ```
#[derive(Clone, Debug)]
pub struct HostVector<T: Scalar> {
    data: Buffer<T>,
    host: Host,
    /// How entries are summed; `None` for the fixed tree.
    summation: Option<Arc<Summation>>,
}

impl<T: Scalar> HostVector<T> {
    /// `len` zeros, first written by the threads of `host`.
    ///
    /// # Errors
    /// [`GpuError::OutOfMemory`] if there is not enough memory.
    pub fn zeros(host: &Host, len: usize) -> Result<Self, GpuError> {
        Ok(Self { data: Buffer::zeros_on(host, len)?, host: host.clone(), summation: None })
    }

    /// A copy of `values`.
    ///
    /// # Errors
    /// [`GpuError::OutOfMemory`] if there is not enough memory.
    pub fn from_slice(host: &Host, values: &[T]) -> Result<Self, GpuError> {
        let mut vector = Self::zeros(host, values.len())?;
        vector.data.copy_from_slice(values);
        Ok(vector)
    }

    /// A vector that takes ownership of a buffer.
    pub fn from_buffer(host: &Host, data: Buffer<T>) -> Self {
        Self { data, host: host.clone(), summation: None }
    }

    /// The vector with sums, dot products and norms by items; vectors made [like](Vector::zeros_like) it have
    /// them too. Operations on two vectors sum as their first one does.
    ///
    /// # Panics
    /// If the summation is that of vectors of another length.
    #[must_use]
    pub fn summed_by(mut self, summation: Arc<Summation>) -> Self {
        assert_eq!(summation.len(), self.data.len(), "the summation of a vector has its length");
        self.summation = Some(summation);
        self
    }

    /// Returns the buffer and releases the host.
    pub fn into_buffer(self) -> Buffer<T> {
        self.data
    }

    /// The machine of this vector.
    pub fn host(&self) -> &Host {
        &self.host
    }

    /// The entries.
    pub fn as_slice(&self) -> &[T] {
        &self.data
    }

    /// The entries, mutable.
    pub fn as_mut_slice(&mut self) -> &mut [T] {
        &mut self.data
    }

    /// Calls `work(first, piece)` for disjoint pieces that cover the vector; `first` is the index of the
    /// piece's first entry. Pieces run in parallel, so the result of each may not depend on another.
    pub fn for_each_piece(&mut self, work: impl Fn(usize, &mut [T]) + Sync + Send) {
        let Self { data, host, .. } = self;
        if host.n_threads() == 1 || data.len() <= PIECE {
            for (i, piece) in data.chunks_mut(PIECE).enumerate() {
                work(i * PIECE, piece);
            }
        } else {
            host.install(|| {
                data.par_chunks_mut(PIECE).enumerate().for_each(|(i, piece)| work(i * PIECE, piece));
            });
        }
    }

    /// Whether a reduction over this vector is large enough for several threads.
    fn parallel(&self) -> bool {
        self.host.n_threads() > 1 && self.data.len() > PIECE
    }

    /// Runs a reduction on the pool, or on this thread if that is faster. The result is the same.
    fn reduce<A: Send>(&self, work: impl FnOnce(bool) -> A + Send) -> A {
        if self.parallel() { self.host.install(|| work(true)) } else { work(false) }
    }

    #[track_caller]
    fn same_length(&self, x: &Self) {
        assert_eq!(self.data.len(), x.data.len(), "vectors of one operation must have one length");
    }
}

impl<T: Scalar> Deref for HostVector<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        &self.data
    }
}

impl<T: Scalar> DerefMut for HostVector<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        &mut self.data
    }
}

#[inline(always)]
fn axpby_body<T: Scalar>(y: &mut [T], a: T, x: &[T], b: T) {
    if b == T::ZERO {
        for (y, x) in y.iter_mut().zip(x) {
            *y = a * *x;
        }
    } else if b == T::ONE {
        for (y, x) in y.iter_mut().zip(x) {
            *y += a * *x;
        }
    } else {
        for (y, x) in y.iter_mut().zip(x) {
            *y = b * *y + a * *x;
        }
    }
}

#[inline(always)]
fn product_body<T: Scalar>(z: &mut [T], a: T, x: &[T], y: &[T], b: T) {
    if b == T::ZERO {
        for (z, (x, y)) in z.iter_mut().zip(x.iter().zip(y)) {
            *z = a * *x * *y;
        }
    } else {
        for (z, (x, y)) in z.iter_mut().zip(x.iter().zip(y)) {
            *z = b * *z + a * *x * *y;
        }
    }
}

#[inline(always)]
fn lincomb_body<T: Scalar>(y: &mut [T], first: usize, b: T, terms: &[(f64, &HostVector<T>)]) {
    let mut sum = [T::ZERO; BLOCK];
    for (i, block) in y.chunks_mut(BLOCK).enumerate() {
        let (n, start) = (block.len(), first + i * BLOCK);
        let sum = &mut sum[..n];
        if b == T::ZERO {
            sum.fill(T::ZERO);
        } else {
            for (s, y) in sum.iter_mut().zip(block.iter()) {
                *s = b * *y;
            }
        }
        for (c, x) in terms {
            let c = T::from_f64(*c);
            for (s, x) in sum.iter_mut().zip(&x.data[start..start + n]) {
                *s += c * *x;
            }
        }
        block.copy_from_slice(sum);
    }
}

simd_versions! {
    /// `y ← a x + b y`.
    fn axpby_piece<T: Scalar>(y: &mut [T], a: T, x: &[T], b: T) = axpby_body;
}
simd_versions! {
    /// `z_i ← a x_i y_i + b z_i`.
    fn product_piece<T: Scalar>(z: &mut [T], a: T, x: &[T], y: &[T], b: T) = product_body;
}
simd_versions! {
    /// `y ← b y + Σ c_k x_k` on the entries from `first` on.
    fn lincomb_piece<T: Scalar>(y: &mut [T], first: usize, b: T, terms: &[(f64, &HostVector<T>)]) = lincomb_body;
}

impl<T: Scalar> Vector for HostVector<T> {
    type Scalar = T;

    fn len(&self) -> usize {
        self.data.len()
    }

    fn zeros_like(&self) -> Result<Self, GpuError> {
        let zeros = Self::zeros(&self.host, self.data.len())?;
        Ok(Self { summation: self.summation.clone(), ..zeros })
    }

    #[track_caller]
    fn copy_from(&mut self, x: &Self) {
        self.same_length(x);
        self.for_each_piece(|first, piece| piece.copy_from_slice(&x.data[first..first + piece.len()]));
    }

    fn fill(&mut self, value: f64) {
        self.for_each_piece(|_, piece| piece.fill(T::from_f64(value)));
    }

    #[track_caller]
    fn axpby(&mut self, a: f64, x: &Self, b: f64) {
        self.same_length(x);
        let (a, b) = (T::from_f64(a), T::from_f64(b));
        self.for_each_piece(|first, y| axpby_piece(&x.host, y, a, &x.data[first..first + y.len()], b));
    }

    #[track_caller]
    fn lincomb(&mut self, b: f64, terms: &[(f64, &Self)]) {
        for (_, x) in terms {
            self.same_length(x);
        }
        let (b, host) = (T::from_f64(b), self.host.clone());
        self.for_each_piece(|first, y| lincomb_piece(&host, y, first, b, terms));
    }

    #[track_caller]
    fn add_product(&mut self, a: f64, x: &Self, y: &Self, b: f64) {
        self.same_length(x);
        self.same_length(y);
        let (a, b) = (T::from_f64(a), T::from_f64(b));
        self.for_each_piece(|first, z| {
            let range = first..first + z.len();
            product_piece(&x.host, z, a, &x.data[range.clone()], &y.data[range], b);
        });
    }

    #[track_caller]
    fn dot(&self, x: &Self) -> f64 {
        self.same_length(x);
        if let Some(summation) = &self.summation {
            return summation.dots(&self.host, [[&self.data, &x.data]])[0];
        }
        self.reduce(|parallel| reduce::dot(&self.host, parallel, &self.data, &x.data))
    }

    #[track_caller]
    fn dot_two(&self, x: &Self, y: &Self) -> [f64; 2] {
        self.same_length(x);
        self.same_length(y);
        if let Some(summation) = &self.summation {
            return summation.dots(&self.host, [[&self.data, &x.data], [&self.data, &y.data]]);
        }
        self.reduce(|parallel| reduce::dot_two(&self.host, parallel, &self.data, &x.data, &y.data))
    }

    #[track_caller]
    fn dots(pairs: &[(&Self, &Self)]) -> Vec<f64> {
        pairs.iter().for_each(|(x, y)| x.same_length(y));
        match pairs.first().and_then(|(first, _)| Some((first, first.summation.as_ref()?))) {
            Some((first, summation)) => {
                let data: Vec<[&[T]; 2]> = pairs.iter().map(|(x, y)| [&x.data[..], &y.data[..]]).collect();
                summation.all_dots(&first.host, &data)
            }
            None => pairs.iter().map(|(x, y)| x.dot(y)).collect(),
        }
    }

    #[track_caller]
    fn add_and_square(&mut self, a: f64, x: &Self) -> f64 {
        self.same_length(x);
        if self.summation.is_some() {
            self.axpby(a, x, 1.0);
            return self.dot(self);
        }
        let (a, parallel) = (T::from_f64(a), self.parallel());
        let Self { data, host, .. } = self;
        let update = |first: usize, y: &mut [T]| {
            axpby_piece(host, y, a, &x.data[first..first + y.len()], T::ONE);
        };
        if parallel {
            host.install(|| reduce::square_after(host, true, data, update))
        } else {
            reduce::square_after(host, false, data, update)
        }
    }

    #[track_caller]
    fn step_and_turn(&mut self, a: f64, x: &mut Self, b: f64, y: &Self) {
        self.same_length(x);
        self.same_length(y);
        let (a, b, parallel) = (T::from_f64(a), T::from_f64(b), self.parallel());
        let Self { data, host, .. } = self;
        let work = |(i, (p, x)): (usize, (&mut [T], &mut [T]))| {
            // Blocks that stay in the first-level cache between the two updates.
            for (k, (p, x)) in p.chunks_mut(BLOCK).zip(x.chunks_mut(BLOCK)).enumerate() {
                let first = i * PIECE + k * BLOCK;
                axpby_piece(host, x, a, p, T::ONE);
                axpby_piece(host, p, T::ONE, &y.data[first..first + p.len()], b);
            }
        };
        if parallel {
            host.install(|| {
                data.par_chunks_mut(PIECE).zip(x.data.par_chunks_mut(PIECE)).enumerate().for_each(work);
            });
        } else {
            data.chunks_mut(PIECE).zip(x.data.chunks_mut(PIECE)).enumerate().for_each(work);
        }
    }

    fn norm_max(&self) -> f64 {
        let own = self.reduce(|parallel| reduce::norm_max(&self.host, parallel, &self.data));
        self.summation.as_ref().map_or(own, |summation| summation.largest(own))
    }

    fn sum(&self) -> f64 {
        if let Some(summation) = &self.summation {
            return summation.sum(&self.host, &self.data);
        }
        self.reduce(|parallel| reduce::sum(&self.host, parallel, &self.data))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_zero_factor_does_not_read_the_old_value() {
        let host = Host::new(1).unwrap();
        let x = HostVector::from_slice(&host, &[1.0, 2.0]).unwrap();
        let mut y = HostVector::from_slice(&host, &[f64::NAN, f64::INFINITY]).unwrap();
        y.axpby(3.0, &x, 0.0);
        assert_eq!(&y[..], &[3.0, 6.0]);
        y.fill(f64::NAN);
        y.lincomb(0.0, &[(1.0, &x), (1.0, &x)]);
        assert_eq!(&y[..], &[2.0, 4.0]);
        y.fill(f64::NAN);
        y.add_product(0.5, &x, &x, 0.0);
        assert_eq!(&y[..], &[0.5, 2.0]);
    }

    #[test]
    fn operations_of_one_pass_have_the_bits_of_several() {
        for (threads, n) in [(1, 5000), (3, 100_003)] {
            let host = Host::new(threads).unwrap();
            let vector = |k: f64| {
                let entries: Vec<f64> = (0..n).map(|i| (k + 0.3 * f64::from(i)).sin()).collect();
                HostVector::from_slice(&host, &entries).unwrap()
            };
            let (x, y, z) = (vector(1.0), vector(2.0), vector(3.0));
            assert_eq!(x.dot_two(&y, &z), [x.dot(&y), x.dot(&z)]);
            let (mut one, mut several) = (x.clone(), x.clone());
            let square = one.add_and_square(-0.7, &y);
            several.axpby(-0.7, &y, 1.0);
            assert_eq!((&one[..], square), (&several[..], several.dot(&several)));
            for b in [0.0, 1.0, 0.4] {
                let (mut p, mut q) = (x.clone(), y.clone());
                p.step_and_turn(0.9, &mut q, b, &z);
                let (mut turned, mut stepped) = (x.clone(), y.clone());
                stepped.axpby(0.9, &turned, 1.0);
                turned.axpby(1.0, &z, b);
                assert_eq!((&p[..], &q[..]), (&turned[..], &stepped[..]));
            }
        }
    }

    #[test]
    fn the_largest_entry_is_nan_if_there_is_one() {
        let host = Host::new(1).unwrap();
        let mut x = HostVector::from_slice(&host, &vec![1.0f32; 5000]).unwrap();
        x[4999] = -7.0;
        assert_eq!(x.norm_max(), 7.0);
        x[123] = f32::NAN;
        assert!(x.norm_max().is_nan());
        assert_eq!(HostVector::<f64>::zeros(&host, 0).unwrap().norm_max(), 0.0);
    }

    #[test]
    #[should_panic(expected = "one length")]
    fn lengths_must_agree() {
        let host = Host::new(1).unwrap();
        let x = HostVector::<f64>::zeros(&host, 3).unwrap();
        let y = HostVector::<f64>::zeros(&host, 4).unwrap();
        let _ = x.dot(&y);
    }
}
