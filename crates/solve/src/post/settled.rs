//! Whether the forces of a steady run have settled.

use std::collections::{BTreeMap, VecDeque};

/// The last coefficients of drag and lift of each monitor `forces`.
#[derive(Clone, Debug)]
pub struct Settled {
    tolerance: f64,
    length: usize,
    rows: BTreeMap<usize, VecDeque<[f64; 2]>>,
}

impl Settled {
    /// No rows yet; `length` of them count.
    #[must_use]
    pub fn new(tolerance: f64, length: usize) -> Self {
        Self { tolerance, length, rows: BTreeMap::new() }
    }

    /// Takes a row of the monitor of this number: step, time, drag, lift and others.
    pub fn note(&mut self, monitor: usize, values: &[f64]) {
        let &[drag, lift, ..] = values else { return };
        let rows = self.rows.entry(monitor).or_default();
        rows.push_back([drag, lift]);
        if rows.len() > self.length {
            rows.pop_front();
        }
    }

    /// Returns whether, over the last rows of all of the `monitors`, drag and lift stay within the tolerance
    /// times the larger of their sizes.
    #[must_use]
    pub fn holds(&self, monitors: usize) -> bool {
        let steady = |rows: &VecDeque<[f64; 2]>| {
            let range = |k: usize| {
                rows.iter().fold([f64::INFINITY, f64::NEG_INFINITY], |[low, high], row| {
                    [low.min(row[k]), high.max(row[k])]
                })
            };
            let ranges = [range(0), range(1)];
            let size = ranges.iter().flatten().fold(0.0, |size: f64, x| size.max(x.abs()));
            let finite = rows.iter().flatten().all(|x| x.is_finite());
            finite
                && rows.len() == self.length
                && ranges.iter().all(|[low, high]| high - low <= self.tolerance * size)
        };
        monitors > 0 && self.rows.len() == monitors && self.rows.values().all(steady)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forces_have_settled_once_all_stay_within_the_tolerance() {
        let mut settled = Settled::new(1e-2, 3);
        let decay = |n: i32| 1.0 + 0.5_f64.powi(n);
        let first = (0..20).find(|&n| {
            settled.note(4, &[decay(n), 1e-9]);
            settled.holds(1)
        });
        // 2⁻ⁿ⁺² − 2⁻ⁿ = 3·2⁻ⁿ is within 1 % from n = 9 on.
        assert_eq!(first, Some(9));
        assert!(!settled.holds(2), "the other body has no rows yet");
        for n in 0..3 {
            settled.note(5, &[0.1, f64::from(n)]);
        }
        assert!(!settled.holds(2));
        for _ in 0..3 {
            settled.note(5, &[0.1, 0.2]);
        }
        assert!(settled.holds(2));
        settled.note(5, &[f64::NAN, 0.2]);
        assert!(!settled.holds(2));
    }
}
