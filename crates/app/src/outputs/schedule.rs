//! Schedules: events at intervals of time (landed on exactly), at intervals of steps, or at the end.

use dgsuite_timeint::{TimeError, TimePoint, multiples, next_multiple, same_time};

use crate::file::every::Every;

/// The next time or step of an event. Times are multiples of the interval, so that a restarted run has the
/// same times.
#[derive(Clone, Debug, PartialEq)]
pub struct Schedule {
    every: Every,
    /// The next multiple of the interval; of a growing one, the next step.
    next: u64,
    /// The step from which a growing interval grows.
    since: u64,
}

/// A growing interval is this part of the steps so far.
const PART: u64 = 100;

impl Schedule {
    /// Makes a schedule whose events up to and including `now` are over.
    pub fn new(every: Every, now: TimePoint) -> Self {
        let TimePoint { t: time, step, .. } = now;
        let next = match every {
            Every::Time(interval) => next_multiple(interval, time),
            Every::Steps(n) => step / n as u64 + 1,
            Every::Growing(_) => step + 1,
            Every::End => 1,
        };
        Self { every, next, since: step }
    }

    /// As [`new`](Self::new) for events that began at the step `since`.
    pub fn since(since: u64, every: Every, now: TimePoint) -> Self {
        let mut schedule = Self::new(every, now);
        if let Every::Growing(most) = every {
            (schedule.since, schedule.next) = (since.min(now.step), since.min(now.step));
            while schedule.next <= now.step {
                // The interval no longer grows.
                let whole = if schedule.interval(most) == most as u64 {
                    (now.step - schedule.next) / most as u64 * most as u64
                } else {
                    0
                };
                schedule.next += whole + schedule.interval(most);
            }
        }
        schedule
    }

    /// The growing interval that ends at the next step.
    fn interval(&self, most: usize) -> u64 {
        ((self.next - self.since) / PART).clamp(1, most as u64)
    }

    /// Returns the step from which a growing interval grows.
    pub fn start(&self) -> u64 {
        self.since
    }

    /// Returns the next time, if events are at intervals of time.
    pub fn next_time(&self) -> Option<f64> {
        match self.every {
            Every::Time(interval) => Some(self.next as f64 * interval),
            _ => None,
        }
    }

    /// Returns whether an event is due at the time of `now`, which lies between two steps; if so, moves on to
    /// the next one.
    pub fn due_between(&mut self, now: TimePoint) -> bool {
        matches!(self.every, Every::Time(_)) && self.due(now)
    }

    /// Returns the number of steps that can be done from `now` before an event may be due by its number of
    /// steps; with `local` steps, which count as one unit of time each, also by its time.
    pub fn steps_left(&self, now: TimePoint, local: bool) -> u64 {
        match self.every {
            Every::Steps(n) => (self.next * n as u64).saturating_sub(now.step),
            Every::Growing(_) => self.next.saturating_sub(now.step),
            // The cast saturates.
            Every::Time(_) if local => {
                self.next_time().map_or(u64::MAX, |t| (t - now.t).ceil().max(0.0) as u64)
            }
            Every::Time(_) | Every::End => u64::MAX,
        }
    }

    /// Returns whether an event is due now; if so, moves on to the next one.
    pub fn due(&mut self, now: TimePoint) -> bool {
        let TimePoint { t: time, step, .. } = now;
        let due = match self.every {
            Every::Time(_) => self.next_time().is_some_and(|t| time >= t || same_time(t, time)),
            Every::Steps(n) => step >= self.next * n as u64,
            Every::Growing(_) => step >= self.next,
            Every::End => false,
        };
        if due {
            *self = Self::since(self.since, self.every, now);
        }
        due
    }
}

/// Returns the times on which a run from `start` to `end` lands because of `every`. Without an end, 100,000
/// intervals are listed; later events happen at the step after their time.
///
/// # Errors
/// Too many times to list.
pub fn times(every: Every, start: f64, end: Option<f64>) -> Result<Vec<f64>, TimeError> {
    match every {
        Every::Time(interval) => {
            let horizon = || (start + HORIZON * interval).min(f64::MAX);
            multiples(interval, start, end.unwrap_or_else(horizon))
        }
        _ => Ok(Vec::new()),
    }
}

/// Number of intervals for which a run without a final time lands on times of output.
const HORIZON: f64 = 1e5;

#[cfg(test)]
mod tests {
    use super::*;

    fn at(t: f64, step: u64) -> TimePoint {
        TimePoint { t, low: 0.0, step }
    }

    #[test]
    fn times_are_multiples_also_after_a_restart() {
        let mut fresh = Schedule::new(Every::Time(0.1), at(0.0, 0));
        assert_eq!(fresh.next_time(), Some(0.1));
        assert!(!fresh.due(at(0.05, 1)));
        assert!(fresh.due(at(0.1, 2)));
        assert_eq!(fresh.next_time(), Some(0.2));
        for k in 1..200_u32 {
            let sum: f64 = (0..k).map(|_| 0.1).sum();
            let restarted = Schedule::new(Every::Time(0.1), at(sum, 0));
            assert_eq!(restarted.next_time(), Some(f64::from(k + 1) * 0.1), "after {k} sums");
        }
    }

    #[test]
    fn steps_are_counted_from_the_start_of_the_first_run() {
        let mut schedule = Schedule::new(Every::Steps(10), at(0.0, 25));
        let due: Vec<u64> = (26..=50).filter(|&step| schedule.due(at(0.0, step))).collect();
        assert_eq!(due, [30, 40, 50]);
    }

    #[test]
    fn growing_intervals_are_a_hundredth_of_the_steps_also_after_a_restart() {
        let every = Every::Growing(10);
        let mut schedule = Schedule::new(every, at(0.0, 5));
        let due: Vec<u64> = (6..=3005).filter(|&step| schedule.due(at(0.0, step))).collect();
        assert_eq!(due[..200], (6..=205).collect::<Vec<_>>());
        assert_eq!(due[200..203], [207, 209, 211]);
        assert!(due.windows(2).all(|pair| pair[1] - pair[0] == ((pair[0] - 5) / 100).clamp(1, 10)));
        for step in (5..=2900).step_by(7) {
            let (next, mut again) =
                (due.iter().find(|&&due| due > step), Schedule::since(5, every, at(0.0, step)));
            assert_eq!((step + again.steps_left(at(0.0, step), false)), *next.expect("one more"));
            assert!(!again.due(at(0.0, step)));
        }
        // Not one by one.
        assert!(Schedule::since(0, every, at(0.0, 1 << 50)).next > 1 << 50);
    }

    #[test]
    fn times_are_due_at_any_scale_and_no_interval_is_too_small() {
        for interval in [1e-300, 1e-13, 1.0, 1e13] {
            let mut schedule = Schedule::new(Every::Time(interval), at(0.0, 0));
            let quarters = (1..=40).map(|k| f64::from(k) * 0.25 * interval);
            let due: Vec<f64> = quarters.filter(|&t| schedule.due(at(t, 0))).collect();
            assert_eq!(due, (1..=10).map(|k| f64::from(k) * interval).collect::<Vec<_>>());
        }
        // Due after each step, without counting up to it.
        let mut schedule = Schedule::new(Every::Time(1e-300), at(0.0, 0));
        assert!((1..5).all(|k| schedule.due(at(0.25 * f64::from(k), 0))));
    }

    #[test]
    fn an_event_passed_over_is_due_once() {
        let mut schedule = Schedule::new(Every::Time(1.0), at(0.0, 0));
        assert!(schedule.due(at(3.5, 1)));
        assert!(!schedule.due(at(3.9, 2)));
        assert_eq!(schedule.next_time(), Some(4.0));
    }
}
