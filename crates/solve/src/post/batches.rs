//! Means over time of a record, and their errors by batch means.

/// The number of batches.
const BATCHES: usize = 10;

/// The mean of the values `y` at the times `t`, by the trapezoidal rule; of one time its value, of none NaN.
///
/// ```
/// use dgsuite_solve::post::batches::mean;
/// assert_eq!(mean(&[0.0, 1.0, 3.0], &[0.0, 2.0, 2.0]), 5.0 / 3.0);
/// ```
#[must_use]
pub fn mean(t: &[f64], y: &[f64]) -> f64 {
    let (Some(first), Some(last)) = (t.first(), t.last()) else { return f64::NAN };
    if first == last {
        return y.iter().sum::<f64>() / y.len() as f64;
    }
    let steps = t.windows(2).zip(y.windows(2));
    steps.map(|(t, y)| 0.5 * (t[1] - t[0]) * (y[0] + y[1])).sum::<f64>() / (last - first)
}

/// The standard error of [`mean`]: that of the means of ten batches of consecutive values, `σ/√10`. It holds
/// where a batch is longer than the time over which values depend on each other. NaN below twenty values.
///
/// ```
/// use dgsuite_solve::post::batches::error;
/// let t: Vec<f64> = (0..40).map(f64::from).collect();
/// let y: Vec<f64> = t.iter().map(|t| f64::from(u8::from((t / 4.0) as u32 % 2 == 1))).collect();
/// // The batches have the means 0 and 1 in turn.
/// assert!((error(&t, &y) - (2.5_f64 / 9.0 / 10.0).sqrt()).abs() < 1e-15);
/// assert!(error(&t[..19], &y[..19]).is_nan());
/// ```
///
/// # Source
/// Schmeiser, Oper. Res. 30 (1982) 556–568.
#[must_use]
pub fn error(t: &[f64], y: &[f64]) -> f64 {
    let n = t.len().min(y.len());
    if n < 2 * BATCHES {
        return f64::NAN;
    }
    let batch = |b: usize| b * n / BATCHES..(b + 1) * n / BATCHES;
    let means: Vec<f64> = (0..BATCHES).map(|b| mean(&t[batch(b)], &y[batch(b)])).collect();
    let all = means.iter().sum::<f64>() / BATCHES as f64;
    let squares: f64 = means.iter().map(|m| (m - all) * (m - all)).sum();
    (squares / (BATCHES - 1) as f64 / BATCHES as f64).sqrt()
}
