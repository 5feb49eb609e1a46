//! Lengths along a line: the point where reversed flow turns forwards again.

/// Returns the first point where `u` crosses zero from below, by linear interpolation; `None` if `u` is never
/// negative before it is positive, or never positive after it was negative.
///
/// For the velocity along the axis of a wake, starting at the body, this is the length of the recirculation
/// region.
#[must_use]
pub fn first_return(s: &[f64], u: &[f64]) -> Option<f64> {
    let mut negative = false;
    for i in 0..s.len().min(u.len()) {
        if u[i] < 0.0 {
            negative = true;
        } else if negative {
            // Between two values of different sign, or at a zero.
            let share = u[i - 1] / (u[i - 1] - u[i]);
            return Some(s[i - 1] + share * (s[i] - s[i - 1]));
        }
    }
    None
}

/// Returns `n + 1` equally spaced points from `a` to `b`, with their distances from `a`.
#[must_use]
pub fn points(a: [f64; 3], b: [f64; 3], n: usize) -> (Vec<f64>, Vec<[f64; 3]>) {
    let length = (0..3).map(|d| (b[d] - a[d]).powi(2)).sum::<f64>().sqrt();
    let share = |i: usize| i as f64 / n.max(1) as f64;
    let at = |i: usize| std::array::from_fn(|d| a[d] + share(i) * (b[d] - a[d]));
    ((0..=n).map(|i| share(i) * length).collect(), (0..=n).map(at).collect())
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
        assert!((first_return(&s, &u).unwrap() - 2.0).abs() < 1e-5);
        assert_eq!(first_return(&s, &vec![1.0; s.len()]), None);
        assert_eq!(first_return(&s, &vec![-1.0; s.len()]), None);
        assert_eq!(first_return(&[0.0, 1.0, 2.0], &[0.0, -1.0, 0.0]), Some(2.0));
    }
}
