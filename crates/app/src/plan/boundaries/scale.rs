//! Pressures at boundaries in another unit than those of the initial state.

use dgsuite_physics::Exact;

use super::prescribed::Numbers;
use crate::models::state::Condition;
use crate::models::states::States;
use crate::pipeline::checks::rounded;
use dgsuite_solve::flow::BoundaryKind;

/// Pressures that differ by this factor are taken for numbers in different units.
const FACTOR: f64 = 100.0;

/// Warns if the pressure that the open boundary `name` prescribes is of another scale than that of the state
/// `start` at its `points`.
pub(super) fn check(
    (name, condition): (&str, &Condition),
    (kind, given): (&BoundaryKind, Option<&Numbers>),
    states: &States<'_>,
    start: &dyn Exact,
    points: &[[f64; 3]],
) -> Option<String> {
    states.variables.law().gas()?;
    let pressures = |state: &dyn Exact| {
        let mut values = vec![Vec::new(); state.n_fields()];
        state.eval(0.0, points, &mut values);
        states.variables.to_primitive(&mut values);
        values.pop().unwrap_or_default()
    };
    let prescribed = match (condition, kind, given) {
        (Condition::FarField(_), BoundaryKind::FarField(state), _) => pressures(state.as_ref()),
        (Condition::PressureOutlet { .. }, _, Some(given)) => given.last_at(points)?,
        _ => return None,
    };
    let inner = pressures(start);
    let other = |(p, q): &(f64, f64)| *p > FACTOR * q || *q > FACTOR * p;
    let (p, q) = prescribed.into_iter().zip(inner).find(other)?;
    let (by, more) = if p > q { (p / q, "times") } else { (q / p, "times less than") };
    let reference = states.constants.values().iter().find(|(name, _)| name == "p_ref");
    let reference =
        reference.map_or_else(String::new, |(_, p)| format!(" (the reference has p_ref = {})", rounded(*p)));
    Some(format!(
        "boundaries.{name}.p is {}, {by:.0} {more} the initial pressure {} there{reference}: are both in the same \
         units?",
        rounded(p),
        rounded(q)
    ))
}
