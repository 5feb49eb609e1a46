//! The times that a run must land on.

use crate::TimeError;

/// Times closer than this share of their size (or of the run) are one event.
const SAME: f64 = 1e-12;

/// Most times that [`multiples`] makes.
pub const MAX_TIMES: usize = 10_000_000;

/// The multiples `k × period` after `start` and up to `end` (which is among them if it is one up to rounding).
///
/// # Errors
/// A period that is not positive, or more than [`MAX_TIMES`] times.
pub fn multiples(period: f64, start: f64, end: f64) -> Result<Vec<f64>, TimeError> {
    if !(period > 0.0 && period.is_finite()) {
        return Err(TimeError::NotPositive { what: "the period of output", value: period });
    }
    let (first, last) = ((start / period).floor(), (end / period * (1.0 + SAME)).floor());
    let count = last - first;
    if count > MAX_TIMES as f64 || count.is_nan() {
        return Err(TimeError::TooManyTimes { period, count, end, most: MAX_TIMES });
    }
    let times = (0..=count.max(0.0) as u64).map(|k| (first + k as f64) * period);
    Ok(times.filter(|&t| t > start).map(|t| if same(t, end, end - start) { end } else { t }).collect())
}

/// Whether two times are one event.
fn same(a: f64, b: f64, span: f64) -> bool {
    (a - b).abs() <= SAME * a.abs().max(b.abs()).max(span)
}

/// Events still to come, in order; the end of the run is the last of them.
#[derive(Clone, Debug)]
pub(super) struct Events {
    times: Vec<f64>,
    /// Length of the run, the scale of rounding near time zero.
    span: f64,
    next: usize,
}

impl Events {
    pub(super) fn new(start: f64, end: Option<f64>, events: &[f64]) -> Result<Self, TimeError> {
        if let Some(&value) = events.iter().find(|t| t.is_nan()) {
            return Err(TimeError::BadTime { what: "an output time", value, start });
        }
        let span = end.map_or(0.0, |end| end - start);
        let inside = |t: f64| t > start && !same(t, start, span) && t.is_finite();
        let before_end = |t: f64| end.is_none_or(|end| t < end && !same(t, end, span));
        let mut times: Vec<f64> = events.iter().copied().filter(|&t| inside(t) && before_end(t)).collect();
        times.sort_by(f64::total_cmp);
        times.dedup_by(|later, earlier| same(*later, *earlier, span));
        times.extend(end);
        Ok(Self { times, span, next: 0 })
    }

    /// The next event.
    pub(super) fn next(&self) -> Option<f64> {
        self.times.get(self.next).copied()
    }

    /// Passes over everything up to `t`.
    pub(super) fn skip_to(&mut self, t: f64) {
        self.next = self.times.partition_point(|&event| event <= t);
    }

    /// Whether two times are one event.
    pub(super) fn same(&self, a: f64, b: f64) -> bool {
        same(a, b, self.span)
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
        let events = Events::new(0.0, Some(1.0), &[0.1 * 3.0, 0.3, 1.0 - 1e-15, 0.0, 1e-17, 7.0]).unwrap();
        assert_eq!(events.times, [0.3, 1.0]);
    }
}
