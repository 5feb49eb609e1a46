//! The largest eigenvalue of `M⁻¹ A`, by Lanczos's method, for operators and preconditioners of any kind.

use dgsuite_gpu::{GpuError, Scalar, Vector};

use crate::{LinearOperator, Preconditioner};

/// If a known bound is at most this multiple of the estimate, the bound is used.
const NEAR: f64 = 1.08;

/// A start vector: entries of size 1 to 2 with signs that vary between neighbours, rich in the upper end of
/// the spectrum.
pub(crate) fn rough<T: Scalar>(n: usize) -> Vec<T> {
    (0..n).map(rough_entry).collect()
}

/// Entry `i` of a vector that is rich in the upper end of the spectrum of elliptic operators: of size 1 to 2
/// with signs that vary between neighbours.
#[inline]
pub fn rough_entry<T: Scalar>(i: usize) -> T {
    let bits = (i as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40;
    let size = 1.0 + bits as f64 / (1u64 << 24) as f64;
    T::from_f64(if bits & 1 == 0 { size } else { -size })
}

/// The largest eigenvalue of `M⁻¹ A` for symmetric `A` and symmetric positive definite `M`: the estimate θ
/// after `steps` steps plus twice the residual of its vector, `θ + 2 β |s|`, where `s` is the last entry of
/// the unit eigenvector of the tridiagonal matrix. An eigenvalue lies within that residual of θ. That the
/// largest one does is not proven, but observed in practice (Zhou and Li 2011, "Bounding the spectrum of
/// large Hermitian matrices"); twice the residual was an upper bound in all cases here. Returns `None` if one
/// of the matrices is not definite, or not finite.
///
/// `A M⁻¹` is symmetric in the inner product `(u, v) = uᵀ M⁻¹ v`, so that only products with `A` and `M⁻¹`
/// are needed. The first vector is `x + A x`, both scaled to length one: where entries of A differ by
/// decades, one of the two represents the rows with small entries, the other the rows with large ones.
///
/// Estimates increase with each step. If one comes within the factor [`NEAR`] of a known `bound`, the bound
/// is the result.
pub(crate) fn largest_eigenvalue<V: Vector>(
    a: &(impl LinearOperator<V> + ?Sized),
    m: &mut (impl Preconditioner<V> + ?Sized),
    x: &V,
    steps: usize,
    bound: f64,
) -> Result<Option<f64>, GpuError> {
    let (mut v, mut w, mut z, mut before) =
        (x.zeros_like()?, x.zeros_like()?, x.zeros_like()?, x.zeros_like()?);
    let size = |m: &mut _, v: &V, z: &mut V| {
        Preconditioner::apply(m, v, z);
        v.dot(z).sqrt()
    };
    a.apply(x, &mut w);
    let sizes = [size(&mut *m, x, &mut z), size(&mut *m, &w, &mut z)];
    v.lincomb(0.0, &[(1.0 / sizes[0], x)]);
    if sizes[1] > 0.0 {
        v.axpby(1.0 / sizes[1], &w, 1.0);
    }
    let mut here = size(&mut *m, &v, &mut z);
    let (mut alphas, mut betas) = (Vec::new(), Vec::<f64>::new());
    for _ in 0..steps {
        if here.is_nan() || here <= 0.0 {
            break;
        }
        v.lincomb(1.0 / here, &[]);
        z.lincomb(1.0 / here, &[]);
        a.apply(&z, &mut w);
        let alpha = w.dot(&z);
        alphas.push(alpha);
        if NEAR * largest_of_tridiagonal(&alphas, &betas) >= bound {
            return Ok(Some(bound));
        }
        match betas.last() {
            Some(&beta) => w.lincomb(1.0, &[(-alpha, &v), (-beta, &before)]),
            None => w.axpby(-alpha, &v, 1.0),
        }
        std::mem::swap(&mut before, &mut v);
        std::mem::swap(&mut v, &mut w);
        here = size(&mut *m, &v, &mut z);
        betas.push(here);
    }
    betas.pop();
    let finite = here.is_finite() && alphas.iter().all(|alpha| alpha.is_finite());
    let largest = largest_of_tridiagonal(&alphas, &betas);
    let residual = here * last_entry(&alphas, &betas, largest);
    Ok((finite && largest > 0.0).then_some((largest + 2.0 * residual).min(bound)))
}

/// The last entry of the unit eigenvector of a symmetric tridiagonal matrix for its largest eigenvalue, which
/// `largest` must not underestimate: then all entries and all pivots of the elimination are positive.
fn last_entry(diagonal: &[f64], beside: &[f64], largest: f64) -> f64 {
    let (mut entry, mut squares, mut coupling) = (1.0, 1.0, 0.0);
    for (d, b) in diagonal.iter().zip(beside) {
        let pivot = (largest - d - coupling).max(0.0);
        entry *= pivot / b;
        squares += entry * entry;
        coupling = b * b / pivot;
    }
    entry / f64::sqrt(squares)
}

/// The largest eigenvalue of a symmetric tridiagonal matrix, by bisection with Sturm's sequence.
fn largest_of_tridiagonal(diagonal: &[f64], beside: &[f64]) -> f64 {
    let reach = |i: usize| {
        let left = if i > 0 { beside[i - 1] } else { 0.0 };
        diagonal[i] + left + beside.get(i).copied().unwrap_or(0.0)
    };
    let above = (0..diagonal.len()).map(reach).fold(0.0, f64::max);
    let (mut low, mut high) = (0.0, above);
    for _ in 0..60 {
        let middle = 0.5 * (low + high);
        let mut pivot = 1.0;
        let some_above = diagonal.iter().enumerate().any(|(i, d)| {
            let coupling = if i > 0 { beside[i - 1] * beside[i - 1] / pivot } else { 0.0 };
            pivot = middle - d - coupling;
            pivot <= 0.0
        });
        if some_above { low = middle } else { high = middle }
    }
    high
}

#[cfg(test)]
mod tests {
    use dgsuite_gpu::{Backend, Host};

    use super::*;
    use crate::{Csr, Jacobi, gallery};

    fn estimate(a: &Csr<f64>) -> Option<f64> {
        let host = Host::new(2).unwrap();
        let mut jacobi = Jacobi::new(&host, a).unwrap();
        let x = host.upload(&rough::<f64>(a.n_rows())).unwrap();
        largest_eigenvalue(a, &mut jacobi, &x, 8, f64::INFINITY).unwrap()
    }

    #[test]
    fn the_largest_eigenvalue_is_met_from_above() {
        // The 27-point stencil is 27 − (1 + 2 cos)(1 + 2 cos)(1 + 2 cos) on products of sines.
        let factor = |k: u32| 1.0 + 2.0 * (f64::from(k) * std::f64::consts::PI / 11.0).cos();
        // Two grids of equal spectrum, one with entries 10⁻⁷ as large.
        let grid = gallery::poisson_2d(20, 20, 1.0).unwrap();
        let two = (0..400).flat_map(|i| {
            grid.row(i).flat_map(move |(j, v)| [(i, j, v), (400 + i, 400 + j, 1e-7 * v)]).collect::<Vec<_>>()
        });
        for (a, exact) in [
            (gallery::poisson_2d(40, 30, 1.0).unwrap(), 2.0),
            (gallery::poisson_2d(40, 30, 1e-3).unwrap(), 2.0),
            (gallery::poisson_27(10).unwrap(), (27.0 - factor(1) * factor(1) * factor(10)) / 26.0),
            (Csr::from_triplets(800, 800, two).unwrap(), 2.0),
        ] {
            let found = estimate(&a).unwrap();
            assert!(found > exact && found < 1.12 * exact, "{found} {exact}");
        }
    }

    #[test]
    fn what_has_no_largest_eigenvalue_gives_none() {
        let negative = Csr::from_triplets(2, 2, [(0, 0, -1.0), (1, 1, -2.0)]).unwrap();
        let host = Host::new(1).unwrap();
        let x = host.upload(&[1.0, 1.0]).unwrap();
        assert_eq!(largest_eigenvalue(&negative, &mut crate::Identity, &x, 8, f64::INFINITY).unwrap(), None);
        let x = host.upload(&[1.0, f64::NAN]).unwrap();
        assert_eq!(largest_eigenvalue(&negative, &mut crate::Identity, &x, 8, f64::INFINITY).unwrap(), None);
        // A single eigenvalue: Lanczos's method ends after one step.
        let five = Csr::from_triplets(2, 2, [(0, 0, 5.0), (1, 1, 5.0)]).unwrap();
        let x = host.upload(&[1.0, -1.0]).unwrap();
        let found = largest_eigenvalue(&five, &mut crate::Identity, &x, 8, f64::INFINITY).unwrap().unwrap();
        assert!((found - 5.0).abs() < 1e-12);
        let bounded = largest_eigenvalue(&five, &mut crate::Identity, &x, 8, 5.25).unwrap();
        assert_eq!(bounded, Some(5.25));
    }

    #[test]
    fn bisection_finds_the_largest_eigenvalue_and_elimination_its_vector() {
        let n = 12;
        let (diagonal, beside) = (vec![2.0; n], vec![1.0; n - 1]);
        let found = largest_of_tridiagonal(&diagonal, &beside);
        assert!((found - gallery::poisson_1d_eigenvalue(n, n)).abs() < 1e-14);
        // Its vector is sin(k π/(n + 1)), of length ((n + 1)/2)^½.
        let m = (n + 1) as f64;
        let exact = (std::f64::consts::PI / m).sin() / (0.5 * m).sqrt();
        let entry = last_entry(&diagonal, &beside, found);
        assert!((entry - exact).abs() < 1e-12, "{entry} {exact}");
    }
}
