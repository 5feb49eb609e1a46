//! Times of the phases of a step, by the clock of the machine that does the work.
//!
//! A device works through a queue: the host's clock would count the work of a phase in the next one that
//! waits for a result.

use crate::solves::PhaseSeconds;
use dgsuite_gpu::GpuError;
use dgsuite_gpu::cuda::{Cuda, Event};
use std::time::Instant;

/// A phase of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    Advection,
    Pressure,
    Velocity,
    Scalars,
    Penalty,
}

/// A moment in the work of a machine.
pub(super) enum Moment {
    Host(Instant),
    Device(Event),
}

impl Moment {
    /// Now on the host.
    pub(super) fn now() -> Self {
        Self::Host(Instant::now())
    }

    /// When the device has done what is in its queue now.
    pub(super) fn on(cuda: &Cuda) -> Result<Self, GpuError> {
        let event = Event::new(cuda)?;
        cuda.stream().record(&event)?;
        Ok(Self::Device(event))
    }

    fn has_passed(&self) -> bool {
        match self {
            Self::Host(_) => true,
            // A failure of the device is reported by the next step.
            Self::Device(event) => event.is_done().unwrap_or(true),
        }
    }

    /// Seconds from `start`; waits for this moment.
    fn seconds_since(&self, start: &Self) -> f64 {
        match (start, self) {
            (Self::Host(start), Self::Host(end)) => (*end - *start).as_secs_f64(),
            (Self::Device(start), Self::Device(end)) => end.seconds_since(start).unwrap_or(0.0),
            _ => 0.0,
        }
    }
}

/// The phases of past steps.
#[derive(Default)]
pub(super) struct Phases {
    done: PhaseSeconds,
    /// Phases that the machine may not have ended yet, in their order.
    running: Vec<(Phase, Moment, Moment)>,
}

impl Phases {
    /// Adds a phase from `start` to `end`. Does not wait.
    pub(super) fn add(&mut self, phase: Phase, start: Moment, end: Moment) {
        let ended = self.running.iter().take_while(|(.., end)| end.has_passed()).count();
        for (phase, start, end) in self.running.drain(..ended) {
            *of(&mut self.done, phase) += end.seconds_since(&start);
        }
        self.running.push((phase, start, end));
    }

    /// The seconds of all phases; waits for the machine.
    pub(super) fn seconds(&self) -> PhaseSeconds {
        let mut all = self.done;
        for (phase, start, end) in &self.running {
            *of(&mut all, *phase) += end.seconds_since(start);
        }
        all
    }
}

fn of(seconds: &mut PhaseSeconds, phase: Phase) -> &mut f64 {
    match phase {
        Phase::Advection => &mut seconds.advection,
        Phase::Pressure => &mut seconds.pressure,
        Phase::Velocity => &mut seconds.velocity,
        Phase::Scalars => &mut seconds.scalars,
        Phase::Penalty => &mut seconds.penalty,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn phases_of_a_kind_add_up() {
        let start = Instant::now();
        let at = |ms: u64| Moment::Host(start + Duration::from_millis(ms));
        let mut phases = Phases::default();
        phases.add(Phase::Pressure, at(0), at(3));
        phases.add(Phase::Velocity, at(3), at(5));
        phases.add(Phase::Pressure, at(5), at(9));
        let seconds = phases.seconds();
        assert!((seconds.pressure - 7e-3).abs() < 1e-12 && (seconds.velocity - 2e-3).abs() < 1e-12);
        assert_eq!((seconds.advection, seconds.penalty), (0.0, 0.0));
    }
}
