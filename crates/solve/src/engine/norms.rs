//! Norms of rates, and states that differ by rounding.

use dgsuite_ops::{Discretization, PackScalar};

/// L² norms over the domain, per unknown, of an array like the state.
pub(crate) fn norms<T: PackScalar>(d: &Discretization<T>, rate: &[T]) -> Vec<f64> {
    let n = d.physics().n_fields();
    let (squares, _) = d.integrate(rate, 2 * d.order(), n, |_, rate, out| {
        for k in 0..n {
            out[k] = rate[k] * rate[k];
        }
    });
    squares.into_iter().map(f64::sqrt).collect()
}

/// Returns the state `u` with every coefficient changed by one rounding, up or down without a pattern.
pub(crate) fn perturbed<T: PackScalar>(d: &Discretization<T>, u: &[T]) -> Vec<T> {
    let mut values = d.to_canonical(u);
    for (i, x) in values.iter_mut().enumerate() {
        // The signs of a fixed multiplicative hash have no pattern in which the differences could cancel.
        let negative = (i as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 63 == 1;
        *x *= 1.0 + if negative { -T::EPSILON.to_f64() } else { T::EPSILON.to_f64() };
    }
    let mut state = u.to_vec();
    // The lengths agree by construction; otherwise the states would be equal.
    let _ = d.from_canonical(&values, &mut state);
    state
}
