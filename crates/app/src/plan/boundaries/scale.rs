//! Pressures at boundaries in another unit than those of the initial state.

use crate::conditions::On;
use crate::pipeline::checks::rounded;

/// Pressures that differ by this factor are taken for numbers in different units.
const FACTOR: f64 = 100.0;

/// Warns if the pressures `outside` that the condition on an open boundary prescribes are of another scale
/// than those of the state at the start.
pub(super) fn check(on: &On<'_>, outside: &[f64]) -> Option<String> {
    let inner = on.pressures(on.start?);
    let other = |(p, q): &(f64, f64)| *p > FACTOR * q || *q > FACTOR * p;
    let (p, q) = outside.iter().copied().zip(inner).find(other)?;
    let (by, more) = if p > q { (p / q, "times") } else { (q / p, "times less than") };
    let reference = on.states.constants.values().iter().find(|(name, _)| name == "p_ref");
    let reference =
        reference.map_or_else(String::new, |(_, p)| format!(" (the reference has p_ref = {})", rounded(*p)));
    Some(format!(
        "boundaries.{}.p is {}, {by:.0} {more} the initial pressure {} there{reference}: are both in the same \
         units?",
        on.name.value,
        rounded(p),
        rounded(q)
    ))
}
