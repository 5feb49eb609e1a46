//! The times that a run must land on.

use crate::TimeError;

/// Times that differ by less than this fraction of their size are equal: multiples of intervals and sums of
/// steps are not more accurate.
const SAME: f64 = 1e-12;

/// Largest number of times that [`multiples`] returns.
pub const MAX_TIMES: usize = 10_000_000;

/// Whether two times are equal up to rounding, which is relative: no scale of time is special.
pub fn same_time(a: f64, b: f64) -> bool {
    (a - b).abs() <= SAME * a.abs().max(b.abs())
}

/// The number of the first multiple of `period` that is later than `time`, up to rounding; 0 before time 0.
pub fn next_multiple(period: f64, time: f64) -> u64 {
    let is_over = |k: u64| k as f64 * period <= time || same_time(k as f64 * period, time);
    // The cast saturates. The quotient has a rounding error, so that one or two further multiples may also
    // have passed.
    let last = (time.max(0.0) * (1.0 + SAME) / period).floor() as u64;
    (last..last.saturating_add(2)).find(|&k| !is_over(k)).unwrap_or(last.saturating_add(2))
}

/// An upper bound of the number of multiples of `period` after `start` and up to `end`, and the number of the
/// first one that [`multiples`] examines.
///
/// # Errors
/// As for [`multiples`].
fn count_multiples(period: f64, start: f64, end: f64) -> Result<(f64, u64), TimeError> {
    if !(period > 0.0 && period.is_finite()) {
        return Err(TimeError::NotPositive { what: "the period of output", value: period });
    }
    let (first, last) = ((start / period).floor(), (end / period * (1.0 + SAME)).floor());
    let count = last - first;
    if count > MAX_TIMES as f64 || count.is_nan() {
        return Err(TimeError::TooManyTimes { period, count, end, most: MAX_TIMES });
    }
    Ok((first, count.max(0.0) as u64))
}

/// Checks that [`multiples`] can compute its times, without computing them.
///
/// # Errors
/// As for [`multiples`].
pub fn check_multiples(period: f64, start: f64, end: f64) -> Result<(), TimeError> {
    count_multiples(period, start, end).map(|_| ())
}

/// The multiples `k × period` after `start` and up to `end` (included if it is a multiple up to rounding).
///
/// # Errors
/// A period that is not positive, or more than [`MAX_TIMES`] times.
pub fn multiples(period: f64, start: f64, end: f64) -> Result<Vec<f64>, TimeError> {
    let (first, count) = count_multiples(period, start, end)?;
    let times = (0..=count).map(|k| (first + k as f64) * period);
    Ok(times.filter(|&t| t > start).map(|t| if same_time(t, end) { end } else { t }).collect())
}

/// Events that are still ahead, in order; the end of the run is the last one.
#[derive(Clone, Debug)]
pub(super) struct Events {
    times: Vec<f64>,
    next: usize,
}

impl Events {
    pub(super) fn new(start: f64, end: Option<f64>, events: &[f64]) -> Result<Self, TimeError> {
        if let Some(&value) = events.iter().find(|t| t.is_nan()) {
            return Err(TimeError::BadTime { what: "an output time", value, start });
        }
        let inside = |t: f64| t > start && !same_time(t, start) && t.is_finite();
        let before_end = |t: f64| end.is_none_or(|end| t < end && !same_time(t, end));
        let mut times: Vec<f64> = events.iter().copied().filter(|&t| inside(t) && before_end(t)).collect();
        times.sort_by(f64::total_cmp);
        times.dedup_by(|later, earlier| same_time(*later, *earlier));
        times.extend(end);
        Ok(Self { times, next: 0 })
    }

    /// The next event.
    pub(super) fn next(&self) -> Option<f64> {
        self.times.get(self.next).copied()
    }

    /// The events to come, the next one first.
    pub(super) fn ahead(&self) -> &[f64] {
        &self.times[self.next.min(self.times.len())..]
    }

    /// Skips all events up to `t`.
    pub(super) fn skip_to(&mut self, t: f64) {
        self.next = self.times.partition_point(|&event| event <= t);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn multiples_end_on_the_end() {
        assert_eq!(multiples(0.1, 0.0, 0.3).unwrap(), [0.1, 0.2, 0.3]);
        assert_eq!(multiples(0.1, 0.0, 0.35).unwrap().len(), 3);
        assert_eq!(multiples(1.0, 2.0, 5.0).unwrap(), [3.0, 4.0, 5.0]);
        assert_eq!(multiples(1.0, 2.5, 2.9).unwrap(), []);
        assert_eq!(multiples(2.0, -3.0, 3.0).unwrap(), [-2.0, 0.0, 2.0]);
    }

    #[test]
    fn too_many_times_are_refused_with_their_number() {
        assert!(matches!(multiples(1e-12, 0.0, 1.0), Err(TimeError::TooManyTimes { .. })));
        assert!(matches!(multiples(-1.0, 0.0, 1.0), Err(TimeError::NotPositive { .. })));
    }

    #[test]
    fn times_that_differ_by_rounding_are_one_event() {
        let events = Events::new(0.0, Some(1.0), &[0.1 * 3.0, 0.3, 1.0 - 1e-15, 0.0, 7.0]).unwrap();
        assert_eq!(events.times, [0.3, 1.0]);
        // At any scale: 2e-300 differs from 1e-300 as 2 differs from 1.
        for scale in [1e-300, 1e-13, 1.0, 1e13, 1e300] {
            let times = [0.1 * 3.0, 0.3, 1.0 - 1e-15, 0.0, 0.3 + 1e-11].map(|t| t * scale);
            let events = Events::new(0.0, Some(scale), &times).unwrap();
            assert_eq!(events.times, [times[1], times[4], scale], "{scale:e}");
        }
    }

    #[test]
    fn the_next_multiple_is_found_at_once_whatever_the_interval() {
        for k in 0..2000_u64 {
            for period in [0.1, 0.3, 1.0 / 7.0, 1e-13, 3e250] {
                for time in [k as f64 * period, (k as f64 + 0.5) * period] {
                    assert_eq!(next_multiple(period, time), k + 1, "{k} of {period:e}");
                }
            }
        }
        let sum: f64 = (0..1000).map(|_| 0.1).sum();
        assert_eq!((sum != 100.0, next_multiple(0.1, sum)), (true, 1001));
        assert_eq!((next_multiple(0.5, -3.0), next_multiple(1e300, 1.0)), (0, 1));
        // Very many multiples, and multiples beyond the largest number.
        assert_eq!([next_multiple(1e-300, 1.0), next_multiple(f64::MIN_POSITIVE, 1e300)], [u64::MAX; 2]);
        assert!(next_multiple(1e-16, 1.0) > 10_000_000_000_000_000);
    }
}
