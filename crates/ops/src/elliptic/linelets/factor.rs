//! Block tridiagonal systems of linelets: factorisation and solution.
//!
//! A system consists of `count` independent ones, whose unknowns are `[i][k]` with the system k, and whose
//! blocks are `[i][j][k]`.

use dgsuite_gpu::Scalar;

/// The size of the unknowns of an element of a linelet: `n` for each of `count` systems.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Size {
    pub(super) n: usize,
    pub(super) count: usize,
}

impl Size {
    /// Unknowns of all systems.
    pub(super) fn len(self) -> usize {
        self.n * self.count
    }
}

/// Entries of the factors of an element, with the size of the one before it, if any.
pub(super) fn factor_len(size: Size, before: Option<Size>) -> usize {
    size.len() * (size.n + before.map_or(0, |before| before.n))
}

/// Replaces the blocks of a linelet by the factors: the diagonal block D of an element by the inverse of
/// `Δ = D − C Δ'⁻¹ Cᵀ`, and its coupling C to the element before it by `C Δ'⁻¹`. Returns whether all Δ are
/// positive definite.
pub(super) fn factorise(blocks: &mut [(Size, Vec<f64>, Vec<f64>)]) -> bool {
    for k in 0..blocks.len() {
        let (before, rest) = blocks.split_at_mut(k);
        let (Size { n, count }, own, coupling) = &mut rest[0];
        let (n, count) = (*n, *count);
        if let Some((Size { n: m, .. }, inverse, _)) = before.last() {
            let m = *m;
            let mut product = vec![0.0; n * m * count];
            for i in 0..n {
                for j in 0..m {
                    for l in 0..m {
                        for s in 0..count {
                            product[(i * m + j) * count + s] +=
                                coupling[(i * m + l) * count + s] * inverse[(l * m + j) * count + s];
                        }
                    }
                }
            }
            for i in 0..n {
                for j in 0..n {
                    for l in 0..m {
                        for s in 0..count {
                            own[(i * n + j) * count + s] -=
                                product[(i * m + l) * count + s] * coupling[(j * m + l) * count + s];
                        }
                    }
                }
            }
            *coupling = product;
        }
        if !(0..count).all(|s| invert(own, n, count, s)) {
            return false;
        }
    }
    true
}

/// Inverts the symmetric positive definite matrix s in place, by Gauss and Jordan's method without pivots;
/// returns whether all pivots are positive.
fn invert(a: &mut [f64], n: usize, count: usize, s: usize) -> bool {
    let at = |i: usize, j: usize| (i * n + j) * count + s;
    for k in 0..n {
        let pivot = a[at(k, k)];
        if !(pivot > 0.0 && pivot.is_finite()) {
            return false;
        }
        let inverse = 1.0 / pivot;
        a[at(k, k)] = 1.0;
        for j in 0..n {
            a[at(k, j)] *= inverse;
        }
        for i in 0..n {
            if i == k {
                continue;
            }
            let factor = a[at(i, k)];
            a[at(i, k)] = 0.0;
            for j in 0..n {
                a[at(i, j)] -= factor * a[at(k, j)];
            }
        }
    }
    true
}

/// Solves a linelet in place: `x` contains the unknowns of its elements, `factors` their inverses and, but
/// for the first, products with couplings. `work` has room for the unknowns of an element.
pub(super) fn solve<T: Scalar>(sizes: &[Size], factors: &[T], x: &mut [T], work: &mut Vec<T>) {
    let (mut at, mut first) = (0, 0);
    let mut starts = Vec::with_capacity(sizes.len());
    // x_k ← x_k − E_k x_{k−1}
    for (k, &size) in sizes.iter().enumerate() {
        let before = k.checked_sub(1).map(|k| sizes[k]);
        if let Some(before) = before {
            let (done, rest) = x.split_at_mut(at);
            let e = &factors[first + size.len() * size.n..][..size.len() * before.n];
            subtract(e, size, before, &done[at - before.len()..], &mut rest[..size.len()]);
        }
        starts.push((at, first));
        first += factor_len(size, before);
        at += size.len();
    }
    // x_k ← Δ_k⁻¹ x_k − E_{k+1}ᵀ x_{k+1}
    for k in (0..sizes.len()).rev() {
        let ((at, first), size) = (starts[k], sizes[k]);
        let (here, next) = x.split_at_mut(at + size.len());
        work.clear();
        work.resize(size.len(), T::ZERO);
        multiply(&factors[first..][..size.len() * size.n], size, &here[at..], work);
        here[at..].copy_from_slice(work);
        if let (Some(&after), Some((_, first))) = (sizes.get(k + 1), starts.get(k + 1)) {
            let e = &factors[first + after.len() * after.n..][..after.len() * size.n];
            subtract_transposed(e, size, &next[..after.len()], &mut here[at..]);
        }
    }
}

/// `y ← y + A x` with a symmetric A.
fn multiply<T: Scalar>(a: &[T], Size { n, count }: Size, x: &[T], y: &mut [T]) {
    for (row, x) in a.chunks_exact(n * count).zip(x.chunks_exact(count)) {
        if let [x] = x {
            y.iter_mut().zip(row).for_each(|(y, a)| *y += *a * *x);
            continue;
        }
        for (a, y) in row.chunks_exact(count).zip(y.chunks_exact_mut(count)) {
            y.iter_mut().zip(a).zip(x).for_each(|((y, a), x)| *y += *a * *x);
        }
    }
}

/// `y ← y − E x`, with a row of E for each unknown of `to`.
fn subtract<T: Scalar>(e: &[T], to: Size, from: Size, x: &[T], y: &mut [T]) {
    let count = to.count;
    for (row, y) in e.chunks_exact(from.len()).zip(y.chunks_exact_mut(count)) {
        if let [y] = y {
            *y -= dot(row, x);
            continue;
        }
        for (e, x) in row.chunks_exact(count).zip(x.chunks_exact(count)) {
            y.iter_mut().zip(e).zip(x).for_each(|((y, e), x)| *y -= *e * *x);
        }
    }
}

/// `y ← y − Eᵀ x`, with a row of E for each entry of x.
fn subtract_transposed<T: Scalar>(e: &[T], to: Size, x: &[T], y: &mut [T]) {
    let count = to.count;
    for (row, x) in e.chunks_exact(to.len()).zip(x.chunks_exact(count)) {
        if let [x] = x {
            y.iter_mut().zip(row).for_each(|(y, e)| *y -= *e * *x);
            continue;
        }
        for (e, y) in row.chunks_exact(count).zip(y.chunks_exact_mut(count)) {
            y.iter_mut().zip(e).zip(x).for_each(|((y, e), x)| *y -= *e * *x);
        }
    }
}

/// Partial sums of a scalar product.
const SUMS: usize = 8;

/// A scalar product in eight partial sums, which the compiler keeps in a register.
fn dot<T: Scalar>(a: &[T], b: &[T]) -> T {
    let mut sums = [T::ZERO; SUMS];
    let (a8, b8) = (a.chunks_exact(SUMS), b.chunks_exact(SUMS));
    let rest = a8.remainder().iter().zip(b8.remainder());
    for (a, b) in a8.zip(b8) {
        for i in 0..SUMS {
            sums[i] += a[i] * b[i];
        }
    }
    let mut sum = sums.into_iter().fold(T::ZERO, |sum, v| sum + v);
    for (a, b) in rest {
        sum += *a * *b;
    }
    sum
}
