//! Ticks of an axis: round numbers, and their labels with the same number of decimals.

/// Positions and labels of the ticks of an axis.
///
/// ```
/// use dgsuite_output::draw::axis::Ticks;
/// let ticks = Ticks::new(-0.13, 1.02, 8);
/// assert_eq!(ticks.labels, ["0.0", "0.2", "0.4", "0.6", "0.8", "1.0"]);
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Ticks {
    /// Positions, in increasing order.
    pub values: Vec<f64>,
    /// Their labels.
    pub labels: Vec<String>,
}

impl Ticks {
    /// At most `most` ticks between two numbers, at multiples of 1, 2 or 5 times a power of ten.
    #[must_use]
    pub fn new(low: f64, high: f64, most: usize) -> Self {
        let most = most.max(2);
        let width = high - low;
        if !(width.is_finite() && width > 0.0) {
            return Self { values: vec![low], labels: vec![label(low, 0.0)] };
        }
        let power = 10f64.powf((width / most as f64).log10().floor());
        let steps = [1.0, 2.0, 5.0, 10.0, 20.0].map(|m| m * power);
        // A hair of room: a tick at the very end counts.
        let slack = 1e-9 * width;
        let all = |step: f64| {
            let (first, last) = (((low - slack) / step).ceil(), ((high + slack) / step).floor());
            (first, (last - first + 1.0).max(0.0))
        };
        let step = steps.into_iter().find(|&step| all(step).1 <= most as f64).unwrap_or(steps[4]);
        let (first, count) = all(step);
        let values: Vec<f64> =
            (0..count.min(most as f64) as usize).map(|k| (first + k as f64) * step).collect();
        let labels = values.iter().map(|&v| label(v, step)).collect();
        Self { values, labels }
    }

    /// Ticks at powers of ten (or at 1, 2 and 5 times powers of ten, if these are few) between two positive
    /// numbers.
    #[must_use]
    pub fn logarithmic(low: f64, high: f64, most: usize) -> Self {
        let (first, last) = (low.log10(), high.log10());
        if !(first.is_finite() && last.is_finite() && last > first) {
            return Self { values: vec![low], labels: vec![label(low, 0.0)] };
        }
        let slack = 1e-9 * (last - first);
        let within = |v: &f64| (first - slack..=last + slack).contains(&v.log10());
        let decades = |step: i32| {
            let start = ((first - slack) / f64::from(step)).ceil() as i32 * step;
            (start..=(last + slack).floor() as i32).step_by(step as usize)
        };
        let values: Vec<f64> = if last - first < 2.0 {
            let multiples = (first.floor() as i32..=last.ceil() as i32)
                .flat_map(|d| [1.0, 2.0, 5.0].map(|m| m * 10f64.powi(d)));
            multiples.filter(within).collect()
        } else {
            let step = (1..).find(|&step| decades(step).count() <= most.max(2)).unwrap_or(1);
            decades(step).map(|d| 10f64.powi(d)).collect()
        };
        if values.len() < 2 {
            return Self::new(low, high, most);
        }
        let labels = values.iter().map(|&v| label(v, v)).collect();
        Self { values, labels }
    }
}

/// The label of a number among others at a distance `step`, with a true minus sign.
fn label(v: f64, step: f64) -> String {
    let text = number(v, step);
    text.replace('-', "\u{2212}")
}

fn number(v: f64, step: f64) -> String {
    let step = step.abs();
    let zero = v.abs() < 1e-9 * step || v == 0.0;
    if step == 0.0 || !step.is_finite() {
        return format!("{v}");
    }
    let exponent = (step * (1.0 + 1e-9)).log10().floor();
    let (size, decimals) = (v.abs().max(step), (-exponent).max(0.0) as usize);
    if size < 1e5 && decimals <= 4 || (1e-2..1e5).contains(&size) && decimals <= 7 {
        return format!("{:.decimals$}", if zero { 0.0 } else { v });
    }
    if zero {
        return "0".to_owned();
    }
    let digits = (v.abs().log10().floor() - exponent).clamp(0.0, 8.0) as usize;
    format!("{v:.digits$e}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round_inside_and_not_too_many() {
        for (low, high) in [(0.0, 1.0), (-3.7, 12.0), (1e-9, 3e-9), (99_999.0, 100_001.0), (-1e6, 2e6)] {
            for most in 2..12 {
                let ticks = Ticks::new(low, high, most);
                let n = ticks.values.len();
                assert!((1..=most).contains(&n) && ticks.labels.len() == n, "{low} {high} {most} {ticks:?}");
                assert!(ticks.values.iter().all(|v| (low - 1e-6..=high + 1e-6).contains(v)));
                let mut labels = ticks.labels.clone();
                labels.dedup();
                assert_eq!(labels.len(), n, "labels differ: {labels:?}");
            }
        }
        assert_eq!(Ticks::new(-1.0, 1.0, 5).labels, ["\u{2212}1.0", "\u{2212}0.5", "0.0", "0.5", "1.0"]);
        assert_eq!(Ticks::new(0.0, 4e-7, 4).labels, ["0", "2e\u{2212}7", "4e\u{2212}7"]);
        assert_eq!(Ticks::new(3.0, 3.0, 4).values, [3.0]);
    }

    #[test]
    fn logarithmic_ticks_are_powers_or_few_multiples() {
        assert_eq!(Ticks::logarithmic(1e-8, 1.0, 5).values.len(), 5);
        assert_eq!(Ticks::logarithmic(0.5, 20.0, 9).labels, ["0.5", "1", "2", "5", "10", "20"]);
        assert!(Ticks::logarithmic(1.1, 1.3, 5).values.len() >= 2);
        assert_eq!(Ticks::logarithmic(0.0, 1.0, 5).values.len(), 1);
    }
}
