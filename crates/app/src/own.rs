//! Numerical fluxes of a program that is built on this crate, known to the readers of pipeline files, and the
//! words of lists that a program can make longer.

use std::sync::OnceLock;

use crate::conditions;
pub use crate::conditions::ConditionKind;
use crate::file::keys::{Key, Kind};
use dgsuite_solve::own::Flux;

/// What a program adds.
#[derive(Debug, Default)]
pub(crate) struct Own {
    pub(crate) fluxes: Vec<Flux>,
}

static OWN: OnceLock<Own> = OnceLock::new();

/// Makes fluxes known; only the first call of a process does.
pub(crate) fn install(own: Own) {
    OWN.get_or_init(|| own);
}

/// Without additions before they are installed.
fn own() -> &'static Own {
    static NONE: Own = Own { fluxes: Vec::new() };
    OWN.get().unwrap_or(&NONE)
}

/// The own numerical fluxes.
pub(crate) fn fluxes() -> &'static [Flux] {
    &own().fluxes
}

/// A row of the table with the words of boundary conditions, or those that the program adds to it.
pub(crate) fn with_words(key: &'static Key) -> &'static Key {
    let more: Vec<&'static str> = match key.path {
        "space.riemann" => own().fluxes.iter().map(|flux| flux.0.name()).collect(),
        "boundaries.<name>.type" => key.models.iter().flat_map(|model| conditions::words(model)).collect(),
        _ => Vec::new(),
    };
    let [Kind::Words(words)] = key.kinds else { return key };
    if more.is_empty() {
        return key;
    }
    // Once in a process, and as long as it.
    let words: &'static [&'static str] = Box::leak(words.iter().copied().chain(more).collect());
    let kinds: &'static [Kind] = Box::leak(Box::new([Kind::Words(words)]));
    Box::leak(Box::new(Key { kinds, ..*key }))
}
