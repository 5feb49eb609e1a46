//! Small dense matrices: factors with pivots, and their inverses.

/// Replaces a square matrix of `n` rows, row by row, by its inverse: Gauss–Jordan elimination with row
/// pivots. Returns `false` if a pivot is zero or not finite; the matrix is then not usable.
pub(super) fn invert(a: &mut [f64], n: usize) -> bool {
    let mut order: Vec<usize> = (0..n).collect();
    for k in 0..n {
        let mut pivot = k;
        for i in k + 1..n {
            if a[i * n + k].abs() > a[pivot * n + k].abs() {
                pivot = i;
            }
        }
        let largest = a[pivot * n + k];
        if largest == 0.0 || !largest.is_finite() {
            return false;
        }
        if pivot != k {
            let (upper, lower) = a.split_at_mut(pivot * n);
            upper[k * n..(k + 1) * n].swap_with_slice(&mut lower[..n]);
            order.swap(k, pivot);
        }
        let scale = 1.0 / largest;
        let (before, rest) = a.split_at_mut(k * n);
        let (row, after) = rest.split_at_mut(n);
        row[k] = 1.0;
        row.iter_mut().for_each(|x| *x *= scale);
        for other in before.chunks_exact_mut(n).chain(after.chunks_exact_mut(n)) {
            let factor = std::mem::replace(&mut other[k], 0.0);
            if factor != 0.0 {
                for (x, &y) in other.iter_mut().zip(row.iter()) {
                    *x -= factor * y;
                }
            }
        }
    }
    // The columns of the inverse are in the order of the pivots.
    let mut row = vec![0.0; n];
    for i in 0..n {
        for (k, &column) in order.iter().enumerate() {
            row[column] = a[i * n + k];
        }
        a[i * n..(i + 1) * n].copy_from_slice(&row);
    }
    a.iter().all(|x| x.is_finite())
}

/// `y ← y + factor A x`, with `A` of `y.len()` rows, row by row.
pub(super) fn add_product(a: &[f64], x: &[f64], factor: f64, y: &mut [f64]) {
    for (y, row) in y.iter_mut().zip(a.chunks_exact(x.len())) {
        // The sums of several rows run beside each other: parts of one sum made these small products slower.
        let sum: f64 = row.iter().zip(x).map(|(a, x)| a * x).sum();
        *y += factor * sum;
    }
}

/// `c ← c − A B`, with square matrices of `n` rows, row by row.
pub(super) fn subtract_product(a: &[f64], b: &[f64], n: usize, inner: usize, c: &mut [f64]) {
    let columns = b.len() / inner.max(1);
    for i in 0..n {
        let row = &mut c[i * columns..(i + 1) * columns];
        for k in 0..inner {
            let factor = a[i * inner + k];
            for (c, b) in row.iter_mut().zip(&b[k * columns..(k + 1) * columns]) {
                *c -= factor * b;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_inverse_times_its_matrix_is_one() {
        // A zero on the diagonal needs a pivot.
        let n = 7;
        let mut a: Vec<f64> = (0..n * n).map(|i| ((i * i * 31 + 7 * i) % 17) as f64 - 8.0).collect();
        a[0] = 0.0;
        let before = a.clone();
        assert!(invert(&mut a, n));
        let mut product = vec![0.0; n * n];
        subtract_product(&a, &before, n, n, &mut product);
        for i in 0..n {
            for j in 0..n {
                let expected = if i == j { -1.0 } else { 0.0 };
                assert!((product[i * n + j] - expected).abs() < 1e-11, "{i} {j}: {}", product[i * n + j]);
            }
        }
        let mut singular = vec![1.0, 2.0, 2.0, 4.0];
        assert!(!invert(&mut singular, 2));
    }
}
