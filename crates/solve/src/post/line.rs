//! Lengths and derivatives along a line.

/// Returns the end of the interval of reversed flow (`u < 0`) with the strongest reversed flow, by linear
/// interpolation; `None` if `u` is never negative, or if the line ends before the interval does.
///
/// For the velocity along the axis of a wake, starting at the body, this is the length of the recirculation
/// region. Beside a wall, where the condition of no slip holds weakly, `u` may change its sign between the
/// first points; such an interval is ignored.
#[must_use]
pub fn end_of_reversed_flow(s: &[f64], u: &[f64]) -> Option<f64> {
    let lowest = (0..s.len().min(u.len())).min_by(|&i, &j| u[i].total_cmp(&u[j]))?;
    let end = (lowest..s.len().min(u.len())).find(|&i| u[i] >= 0.0).filter(|_| u[lowest] < 0.0)?;
    let share = u[end - 1] / (u[end - 1] - u[end]);
    Some(s[end - 1] + share * (s[end] - s[end - 1]))
}

/// Returns `n + 1` equally spaced points from `a` to `b`, with their distances from `a`.
#[must_use]
pub fn points(a: [f64; 3], b: [f64; 3], n: usize) -> (Vec<f64>, Vec<[f64; 3]>) {
    at_shares(a, b, (0..=n).map(|i| i as f64 / n.max(1) as f64))
}

/// Returns points from `a` to `b` that are dense at both ends, `(1 − cos(π i/n))/2` of the way for
/// `i = 0, …, n`, with their distances from `a`.
#[must_use]
pub fn cosine_points(a: [f64; 3], b: [f64; 3], n: usize) -> (Vec<f64>, Vec<[f64; 3]>) {
    let angle = |i: usize| std::f64::consts::PI * i as f64 / n.max(1) as f64;
    at_shares(a, b, (0..=n).map(|i| 0.5 - 0.5 * angle(i).cos()))
}

/// The points at these shares of the way from `a` to `b`, with their distances from `a`.
fn at_shares(a: [f64; 3], b: [f64; 3], shares: impl Iterator<Item = f64>) -> (Vec<f64>, Vec<[f64; 3]>) {
    let length = (0..3).map(|d| (b[d] - a[d]).powi(2)).sum::<f64>().sqrt();
    let at = |share: f64| std::array::from_fn(|d| a[d] + share * (b[d] - a[d]));
    shares.map(|share| (share * length, at(share))).unzip()
}

/// The derivative `dy/dx` at the points, of the polynomials through five neighbouring points each.
///
/// ```
/// use dgsuite_solve::post::line::derivative;
/// let x = [0.0, 0.1, 0.3, 0.6, 1.0, 1.5];
/// let slope = derivative(&x, &x.map(|x: f64| x.powi(4)));
/// for (x, slope) in x.iter().zip(slope) {
///     assert!((slope - 4.0 * x.powi(3)).abs() < 1e-12);
/// }
/// ```
#[must_use]
pub fn derivative(x: &[f64], y: &[f64]) -> Vec<f64> {
    let n = x.len().min(y.len());
    let at = |i: usize| {
        let first = i.saturating_sub(2).min(n.saturating_sub(5));
        let near = first..(first + 5).min(n);
        // The derivatives of the Lagrange polynomials at x_i.
        let weight = |k: usize| match near.clone().filter(|&m| m != k) {
            others if k == i => others.map(|m| 1.0 / (x[i] - x[m])).sum::<f64>(),
            others => {
                let product = |f: f64, m: usize| if m == i { f } else { f * (x[i] - x[m]) / (x[k] - x[m]) };
                others.fold(1.0 / (x[k] - x[i]), product)
            }
        };
        near.clone().map(|k| weight(k) * y[k]).sum()
    };
    (0..n).map(at).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wake_ends_where_the_flow_turns() {
        // u = s² − 4, sampled so that the zero is between two points; 0 at the wall first.
        let (s, _) = points([0.5, 0.0, 0.0], [5.5, 0.0, 0.0], 997);
        let mut u: Vec<f64> = s.iter().map(|s| s * s - 4.0).collect();
        u[0] = 0.0;
        assert!((end_of_reversed_flow(&s, &u).unwrap() - 2.0).abs() < 1e-5);
        assert_eq!(end_of_reversed_flow(&s, &vec![1.0; s.len()]), None);
        assert_eq!(end_of_reversed_flow(&s, &vec![-1.0; s.len()]), None);
        assert_eq!(end_of_reversed_flow(&[0.0, 1.0, 2.0], &[0.0, -1.0, 0.0]), Some(2.0));
        // The velocity at a wall is not exactly zero, and may have either sign.
        (u[0], u[1], u[2]) = (1e-6, -1e-3, 1e-5);
        assert!((end_of_reversed_flow(&s, &u).unwrap() - 2.0).abs() < 1e-5);
    }
}
