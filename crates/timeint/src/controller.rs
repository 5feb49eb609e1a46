//! Step control: the size of each step, and exact landing on output times and on the end.

mod adaptive;
mod events;
mod time;

pub use adaptive::{Adaptive, Memory};
pub use events::{MAX_TIMES, check_multiples, multiples, next_multiple, same_time};
pub use time::TimePoint;

use crate::TimeError;
use events::Events;

/// How the step size is chosen.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum StepSize {
    /// This multiple of the stable step that the problem returns at each step, `min h / ((2p + 1) λ)`.
    Cfl(f64),
    /// A constant step.
    Fixed(f64),
}

/// The extent of a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Schedule {
    /// Start time.
    pub start: f64,
    /// End time.
    pub end: Option<f64>,
    /// Largest number of steps.
    pub steps: Option<u64>,
    /// Times to land on, in any order; times outside of the run are ignored.
    pub events: Vec<f64>,
}

/// A planned step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Step {
    /// Its number, from 0.
    pub index: u64,
    /// Its start time.
    pub t: f64,
    /// Its size.
    pub dt: f64,
    /// Its end time: if it lands on an event or the end, the same bits as that time.
    pub t_next: f64,
    /// Whether it lands on an event or on the end.
    pub lands: bool,
    /// The rounding error of `t_next`.
    low: f64,
}

/// Why a run has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Finish {
    /// It has reached the end time.
    End,
    /// It has done all steps.
    Steps,
}

/// A step may be longer by this fraction in order to land, so that rounding does not leave a tiny step.
pub const STRETCH: f64 = 1e-6;

/// Events within this fraction of a step are one event, at the time of the last of them, if the next one is
/// farther away than [`APART`] of a step.
const TOGETHER: f64 = 0.01;
const APART: f64 = 0.1;

/// The number of equal steps with which a smooth run lands.
const EVEN: f64 = 20.0;

/// Plans the steps of a run.
///
/// With `dt` the wanted step and `r` the time left to the next event or to the end, the step is
/// * `r`, which lands, if `r ≤ (1 + 10⁻⁶) dt`;
/// * `r / 2` if `r < 2 dt`, so that the last two steps are equal and none is tiny;
/// * `dt` otherwise.
///
/// A few events that are closer together than a hundredth of a step are one event, at the time of the last of
/// them: two tables whose intervals differ by rounding do not force a tiny step.
///
/// [Smooth](Self::smooth) steps, for formulas that extrapolate over the sizes of past steps, change little
/// from one to the next: they are evened out from 20 steps before an event, to `r/n` with the smallest n. The
/// plan depends on the present time and on the times to come alone, so that a restart does not change it.
/// Events closer together than a step would break this: outputs of multistep formulas between steps are
/// interpolated instead ([`Multistep::before`](crate::Multistep::before)).
///
/// Time is stored as the sum of two numbers, so that a fixed step that divides the run gives exactly the
/// expected number of steps, however many there are.
///
/// ```
/// use dgsuite_timeint::{Controller, Schedule, StepSize};
/// let schedule = Schedule { end: Some(1.0), events: vec![0.35], ..Schedule::default() };
/// let mut run = Controller::new(&schedule, StepSize::Fixed(0.1))?;
/// let mut times = Vec::new();
/// while let Some(step) = run.plan(f64::INFINITY)? {
///     run.accept(&step);
///     times.push(step.t_next);
/// }
/// assert_eq!(times.len(), 11);                        // 2 × 0.1, 2 × 0.075, 5 × 0.1, 2 × 0.075
/// assert_eq!((times[3], times[10]), (0.35, 1.0));     // to the last bit
/// # Ok::<(), dgsuite_timeint::TimeError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Controller {
    size: StepSize,
    steps: Option<u64>,
    end: Option<f64>,
    events: Events,
    smooth: bool,
    now: TimePoint,
}

impl Controller {
    /// Starts a run.
    ///
    /// # Errors
    /// A step size, CFL number or time that is not valid, or a run without an end.
    pub fn new(schedule: &Schedule, size: StepSize) -> Result<Self, TimeError> {
        let Schedule { start, end, steps, ref events } = *schedule;
        let (what, value) = match size {
            StepSize::Cfl(value) => ("the CFL number", value),
            StepSize::Fixed(value) => ("the time step", value),
        };
        if !(value > 0.0 && value.is_finite()) {
            return Err(TimeError::NotPositive { what, value });
        }
        if !start.is_finite() {
            return Err(TimeError::BadTime { what: "the start", value: start, start });
        }
        if let Some(value) = end.filter(|end| !(end.is_finite() && *end >= start)) {
            return Err(TimeError::BadTime { what: "the end", value, start });
        }
        if end.is_none() && steps.is_none() {
            return Err(TimeError::Endless);
        }
        let events = Events::new(start, end, events)?;
        Ok(Self { size, steps, end, events, smooth: false, now: TimePoint { t: start, low: 0.0, step: 0 } })
    }

    /// Lets the sizes of steps change little from one to the next, as multistep formulas need.
    #[must_use]
    pub fn smooth(self) -> Self {
        Self { smooth: true, ..self }
    }

    /// Continues from a point of an earlier run, as if it had not been interrupted.
    pub fn resume(&mut self, point: TimePoint) {
        self.now = point;
        self.events.skip_to(point.t);
    }

    /// The present point of the run.
    pub fn now(&self) -> TimePoint {
        self.now
    }

    /// Time left to the next event or to the end, if there is one.
    pub fn left(&self) -> Option<f64> {
        self.events.next().map(|target| self.now.until(target))
    }

    /// Whether `time` has been reached, up to the rounding within which events are equal.
    pub fn reached(&self, time: f64) -> bool {
        same_time(time, self.now.t) || time <= self.now.t
    }

    /// Why the run has ended, if it has.
    pub fn finish(&self) -> Option<Finish> {
        if self.end.is_some_and(|end| self.now.t >= end) {
            Some(Finish::End)
        } else if self.steps.is_some_and(|steps| self.now.step >= steps) {
            Some(Finish::Steps)
        } else {
            None
        }
    }

    /// The next step, or `None` if the run has ended. `limit` is the stable step at CFL number one (infinite
    /// if the solution does not change); a fixed step ignores it.
    ///
    /// # Errors
    /// [`TimeError::StepLimit`] if the limit is not positive, [`TimeError::StepTooSmall`] if time would not
    /// advance.
    pub fn plan(&self, limit: f64) -> Result<Option<Step>, TimeError> {
        let wanted = match self.size {
            StepSize::Fixed(dt) => dt,
            StepSize::Cfl(cfl) => cfl * limit,
        };
        self.plan_size(wanted, limit)
    }

    /// The next step for a wanted size, or `None` if the run has ended; errors report `limit` if `wanted` is
    /// not a valid size.
    ///
    /// # Errors
    /// As [`plan`](Self::plan).
    pub fn plan_size(&self, wanted: f64, limit: f64) -> Result<Option<Step>, TimeError> {
        if self.finish().is_some() {
            return Ok(None);
        }
        let TimePoint { t, step, .. } = self.now;
        if wanted.is_nan() || wanted <= 0.0 {
            return Err(TimeError::StepLimit { step, t, limit });
        }
        let target = self.target(self.events.ahead(), wanted);
        let (dt, lands) = match target.map(|target| self.now.until(target)) {
            Some(left) if left <= wanted * (1.0 + STRETCH) => (left, true),
            Some(left) if self.smooth && left < EVEN * wanted => {
                (left / (left / wanted * (1.0 - STRETCH)).ceil().max(2.0), false)
            }
            Some(left) if left < 2.0 * wanted * (1.0 - STRETCH) => (0.5 * left, false),
            _ => (wanted, false),
        };
        if dt.is_infinite() {
            return Err(TimeError::StepLimit { step, t, limit });
        }
        let (t_next, low) = match target {
            Some(target) if lands => (target, 0.0),
            _ => self.now.after(dt),
        };
        if t_next <= t {
            return Err(TimeError::StepTooSmall { step, t, dt });
        }
        Ok(Some(Step { index: step, t, dt, t_next, lands, low }))
    }

    /// The first of the events `ahead`, or the last of those that are one event with it for steps of size
    /// `dt`.
    fn target(&self, ahead: &[f64], dt: f64) -> Option<f64> {
        let first = *ahead.first()?;
        let together = ahead.partition_point(|&t| t - first <= TOGETHER * dt);
        // Frequent events are not thinned out.
        let alone = first - self.now.t > 2.0 * TOGETHER * dt
            && ahead.get(together).is_none_or(|next| next - ahead[together - 1] > APART * dt);
        Some(ahead[if alone { together - 1 } else { 0 }])
    }

    /// Marks a planned step as done.
    pub fn accept(&mut self, step: &Step) {
        self.now = TimePoint { t: step.t_next, low: step.low, step: step.index + 1 };
        self.events.skip_to(step.t_next);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(schedule: &Schedule, size: StepSize, limit: f64) -> Vec<Step> {
        let mut controller = Controller::new(schedule, size).unwrap();
        let mut steps = Vec::new();
        while let Some(step) = controller.plan(limit).unwrap() {
            controller.accept(&step);
            steps.push(step);
        }
        steps
    }

    fn until(end: f64) -> Schedule {
        Schedule { end: Some(end), ..Schedule::default() }
    }

    #[test]
    fn a_fixed_step_that_divides_the_run_gives_its_number_of_steps() {
        for n in [1, 3, 7, 10, 1000, 333_333] {
            let steps = run(&until(10.0), StepSize::Fixed(10.0 / n as f64), 0.0);
            assert_eq!(steps.len(), n);
            assert_eq!(steps.last().unwrap().t_next, 10.0);
            assert!(steps[..n - 1].iter().all(|s| s.dt == 10.0 / n as f64));
        }
    }

    #[test]
    fn the_last_two_steps_are_equal_and_none_is_tiny() {
        let steps = run(&until(1.0), StepSize::Fixed(0.3), 0.0);
        let sizes: Vec<f64> = steps.iter().map(|s| s.dt).collect();
        let expected = [0.3, 0.3, 0.2, 0.2];
        assert!(sizes.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-15), "{sizes:?}");
    }

    /// The smallest ratio of a step to one of its neighbours.
    fn least_ratio(steps: &[Step]) -> f64 {
        let ratios = steps.windows(2).map(|pair| (pair[0].dt / pair[1].dt).min(pair[1].dt / pair[0].dt));
        ratios.fold(1.0, f64::min)
    }

    #[test]
    fn events_that_differ_by_much_less_than_a_step_are_one() {
        let third = 0.333_333_3;
        let schedule = Schedule { events: vec![third, 2.0 * third, 3.0 * third], ..until(1.0) };
        let steps = run(&schedule, StepSize::Fixed(0.005), 0.0);
        assert!(least_ratio(&steps) > 0.49, "{}", least_ratio(&steps));
        let landings: Vec<f64> = steps.iter().filter(|s| s.lands).map(|s| s.t_next).collect();
        assert_eq!(landings, [third, 2.0 * third, 1.0]);
        // Three tables, and the end.
        let events = vec![0.5, 0.500_000_1, 0.500_02, 0.999_999_9, 0.999_999_999];
        let steps = run(&Schedule { events, ..until(1.0) }, StepSize::Fixed(0.005), 0.0);
        let landings: Vec<f64> = steps.iter().filter(|s| s.lands).map(|s| s.t_next).collect();
        assert_eq!(landings, [0.500_02, 1.0]);
        // Frequent output is not thinned out.
        let events: Vec<f64> = (1..1000).map(|k| f64::from(k) * 1e-3).collect();
        let schedule = Schedule { events, ..until(1.0) };
        assert_eq!(run(&schedule, StepSize::Fixed(1.0), 0.0).len(), 1000);
        assert_eq!(run(&schedule, StepSize::Fixed(0.005), 0.0).len(), 1000);
    }

    #[test]
    fn smooth_steps_change_little_before_events() {
        let plan = |schedule: &Schedule, dt: f64| {
            let mut controller = Controller::new(schedule, StepSize::Fixed(dt)).unwrap().smooth();
            let mut steps: Vec<Step> = Vec::new();
            loop {
                // Steps grow by a factor of two at most, as those of a multistep formula.
                let wanted = steps.last().map_or(dt, |last| dt.min(2.0 * last.dt));
                let Some(step) = controller.plan_size(wanted, 0.0).unwrap() else { return steps };
                // A run that begins here takes the same step.
                let mut again = Controller::new(schedule, StepSize::Fixed(dt)).unwrap().smooth();
                again.resume(controller.now());
                assert_eq!(again.plan_size(wanted, 0.0).unwrap(), Some(step));
                controller.accept(&step);
                steps.push(step);
            }
        };
        // Neighbours differ by a twentieth.
        for (every, n) in [(0.1501, 7), (0.333_333_3, 3), (0.25, 4)] {
            let events: Vec<f64> = (1..).map(|k| every * f64::from(k)).take_while(|t| *t < 1.0).collect();
            let steps = plan(&Schedule { events, ..until(1.0) }, 0.002);
            assert!(least_ratio(&steps) > 0.94, "{every}: {}", least_ratio(&steps));
            assert_eq!(steps.iter().filter(|step| step.lands).count(), n);
        }
        let whole = plan(&until(10.0), 0.1);
        assert!(whole.len() == 100 && whole.iter().all(|s| (s.dt - 0.1).abs() < 1e-14), "{}", whole.len());
    }

    #[test]
    fn a_still_flow_goes_straight_to_the_next_event() {
        let schedule = Schedule { events: vec![0.5], ..until(2.0) };
        let steps = run(&schedule, StepSize::Cfl(0.5), f64::INFINITY);
        assert_eq!(steps.iter().map(|s| s.t_next).collect::<Vec<_>>(), [0.5, 2.0]);
        let endless = Schedule { steps: Some(3), ..Schedule::default() };
        let controller = Controller::new(&endless, StepSize::Cfl(0.5)).unwrap();
        assert!(matches!(controller.plan(f64::INFINITY), Err(TimeError::StepLimit { .. })));
    }

    #[test]
    fn the_number_of_steps_ends_a_run() {
        let schedule = Schedule { steps: Some(5), ..until(1.0) };
        assert_eq!(run(&schedule, StepSize::Fixed(0.1), 0.0).len(), 5);
        assert_eq!(run(&schedule, StepSize::Fixed(0.5), 0.0).len(), 2);
        let none = Schedule { steps: Some(0), ..until(1.0) };
        assert!(run(&none, StepSize::Fixed(0.1), 0.0).is_empty());
        assert!(run(&until(0.0), StepSize::Fixed(0.1), 0.0).is_empty());
    }

    #[test]
    fn bad_input_and_bad_states_have_their_own_errors() {
        let new = |schedule: &Schedule, size| Controller::new(schedule, size).map(|_| ());
        assert_eq!(new(&Schedule::default(), StepSize::Fixed(1.0)), Err(TimeError::Endless));
        assert!(matches!(new(&until(1.0), StepSize::Cfl(0.0)), Err(TimeError::NotPositive { .. })));
        assert!(matches!(new(&until(1.0), StepSize::Fixed(f64::NAN)), Err(TimeError::NotPositive { .. })));
        assert!(matches!(new(&until(-1.0), StepSize::Fixed(0.1)), Err(TimeError::BadTime { .. })));
        let event = Schedule { events: vec![f64::NAN], ..until(1.0) };
        assert!(matches!(new(&event, StepSize::Fixed(0.1)), Err(TimeError::BadTime { .. })));
        let controller = Controller::new(&until(1.0), StepSize::Cfl(0.5)).unwrap();
        for limit in [f64::NAN, 0.0, -1.0] {
            assert!(matches!(controller.plan(limit), Err(TimeError::StepLimit { .. })));
        }
        let late = Schedule { start: 1e16, end: Some(2e16), ..Schedule::default() };
        let controller = Controller::new(&late, StepSize::Fixed(0.1)).unwrap();
        assert!(matches!(controller.plan(1.0), Err(TimeError::StepTooSmall { .. })));
    }

    #[test]
    fn an_interrupted_run_goes_on_with_the_same_steps() {
        let schedule = Schedule { events: vec![0.77, 2.1], ..until(3.0) };
        let whole = run(&schedule, StepSize::Fixed(0.013), 0.0);
        let mut first = Controller::new(&schedule, StepSize::Fixed(0.013)).unwrap();
        for _ in 0..100 {
            let step = first.plan(0.0).unwrap().unwrap();
            first.accept(&step);
        }
        let mut second = Controller::new(&schedule, StepSize::Fixed(0.013)).unwrap();
        second.resume(first.now());
        for step in &whole[100..] {
            let planned = second.plan(0.0).unwrap().unwrap();
            assert_eq!(&planned, step);
            second.accept(&planned);
        }
        assert_eq!(second.finish(), Some(Finish::End));
    }
}
