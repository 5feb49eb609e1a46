//! The state of a checkpoint, of which each rank reads the ranges of its elements.

use dgsuite_gpu::comm::CommError;
use dgsuite_ops::{OpsError, agree};

use crate::file::problem::{InputError, Problem};
use crate::plan::Plan;
use dgsuite_output::checkpoint::{CheckpointError, Coefficients};
use dgsuite_solve::flow::{Flow, State};
use dgsuite_solve::{ROOT, Ranges};

/// Continues from the state of the plan's checkpoint, if it has one: each rank reads the coefficients of its
/// elements. A multistep scheme continues with the past states if they are wanted. Collective.
///
/// # Errors
/// A file that cannot be read or is damaged, a state that does not fit; on one rank, and
/// [`OpsError::OtherRank`] on the others, if they do not all find it.
pub fn restore(solver: &mut Flow, plan: &Plan, histories: bool) -> Result<(), InputError> {
    let Some((file, saved)) = &plan.restart else { return Ok(()) };
    let comm = plan.setup.comm.as_ref();
    let unusable = |error: CheckpointError| {
        let problem = Problem::Restart { error };
        match &plan.restart_place {
            Some(place) => InputError::at(place, problem),
            None => InputError::nowhere(problem),
        }
    };
    let unfit = |error| InputError::at(plan.outline.places.of(&error), Problem::Setup { error });
    let mut coefficients = agree(comm, Coefficients::open(file, histories).map_err(unusable))?;
    let total = coefficients.total();
    let ranges = solver.ranges_in(&saved.state, total);
    // Checked also if the state does not fit: the reason may be damage.
    let read = match &ranges {
        Ok(ranges) => coefficients.read(ranges),
        Err(_) => coefficients.read(&Ranges::share(total, comm.rank(), comm.size())),
    };
    let (fields, sum) = agree(comm, read.map_err(unusable))?;
    let lost = |error: CommError| InputError::from(OpsError::from(error));
    let sums = comm.gather(ROOT, &sum.to_le_bytes()).map_err(lost)?;
    let whole = sums.map(|sums| {
        sums.into_iter()
            .filter_map(|sum| sum.try_into().ok())
            .fold(0, |all, sum| all ^ u32::from_le_bytes(sum))
    });
    agree(comm, whole.map_or(Ok(()), |sum| coefficients.check(sum)).map_err(unusable))?;
    ranges.map_err(unfit)?;
    agree(comm, coefficients.check_finite(&fields).map_err(unusable))?;
    let state = State { fields, histories: coefficients.take_histories(), ..saved.state.clone() };
    solver.restore_own(&state).map_err(unfit)
}
