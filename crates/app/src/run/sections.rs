//! The sections of a checkpoint with what the march through time knows beside the solution.

use dgsuite_timeint::{Memory, Progress};

use dgsuite_output::checkpoint::{Checkpoint, Section};

/// The section with the state of the control of errors.
const CONTROL: &str = "control";

/// The section with the share of the step size.
const SHARE: &str = "retry";

/// Returns the state of the control of errors as a section of a checkpoint.
pub fn of_control(memory: &Memory) -> Section<'static> {
    let Memory { dt, errors: [first, second], rejected } = *memory;
    Section::optional(CONTROL, 1).numbers(vec![dt, first, second, f64::from(rejected)])
}

/// The inverse of [`of_control`]; `None` if there is no such section or its numbers are impossible.
pub fn control(saved: &Checkpoint) -> Option<Memory> {
    let [dt, first, second, rejected] = *saved.section(CONTROL)?.values() else { return None };
    let sound = [dt, first, second].iter().all(|x| *x > 0.0) && first.max(second) <= 1.0;
    // The cast saturates.
    sound.then_some(Memory { dt, errors: [first, second], rejected: rejected as u32 })
}

/// The share of the step size after failed steps as a section of a checkpoint; `None` for whole steps.
pub fn of_share(share: f64) -> Option<Section<'static>> {
    (share < 1.0).then(|| Section::optional(SHARE, 1).numbers(vec![share]))
}

/// The inverse of [`of_share`]; `None` if there is no such section or its number is impossible.
pub fn share(saved: &Checkpoint) -> Option<f64> {
    let share = saved.section(SHARE)?.values().first().copied();
    share.filter(|share| (0.0..=1.0).contains(share))
}

/// The section with the residuals of a steady run.
const STEADY: &str = "steady";

/// Returns the residuals to which those of a steady run are relative as a section of a checkpoint.
pub fn of_steady(progress: &Progress) -> Section<'static> {
    let Progress { reference, best, since } = progress;
    let numbers = [*best, *since as f64].into_iter().chain(reference.iter().copied());
    Section::optional(STEADY, 1).numbers(numbers.collect::<Vec<f64>>())
}

/// The inverse of [`of_steady`] for so many `variables`; `None` if there is no such section or its numbers
/// are impossible.
pub fn steady(saved: &Checkpoint, variables: usize) -> Option<Progress> {
    let [best, since, reference @ ..] = saved.section(STEADY)?.values() else { return None };
    let sound = reference.len() == variables
        && reference.iter().all(|x| x.is_finite() && *x >= 0.0)
        && *best >= 0.0
        && *since >= 0.0;
    // The cast saturates.
    sound.then(|| Progress { reference: reference.to_vec(), best: *best, since: *since as u64 })
}
