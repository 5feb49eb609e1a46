//! Numerical fluxes and boundary conditions of a program that is built on this crate, known to the readers of
//! pipeline files.

use std::fmt;
use std::sync::{Arc, OnceLock};

use crate::file::keys::{Key, Kind};
use crate::file::problem::InputError;
use crate::file::section::Section;
use dgsuite_solve::own::{Flux, OwnCondition};

/// A kind of boundary condition of a gas.
#[derive(Clone, Copy)]
pub struct ConditionKind {
    /// The word of `boundaries.<name>.type`.
    pub name: &'static str,
    /// Its own keys, `boundaries.<name>.KEY`, each with the word in [`with`](Key::with).
    pub keys: &'static [Key],
    /// Reads the section, whose keys are known.
    pub read: fn(&Section<'_>) -> Result<Arc<dyn OwnCondition>, InputError>,
}

impl fmt::Debug for ConditionKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

/// What a program adds.
#[derive(Debug, Default)]
pub(crate) struct Own {
    pub(crate) fluxes: Vec<Flux>,
    pub(crate) conditions: Vec<ConditionKind>,
}

static OWN: OnceLock<Own> = OnceLock::new();

/// Makes fluxes and conditions known; only the first call of a process does.
pub(crate) fn install(own: Own) {
    OWN.get_or_init(|| own);
}

/// Without additions before they are installed.
fn own() -> &'static Own {
    static NONE: Own = Own { fluxes: Vec::new(), conditions: Vec::new() };
    OWN.get().unwrap_or(&NONE)
}

/// The own numerical fluxes.
pub(crate) fn fluxes() -> &'static [Flux] {
    &own().fluxes
}

/// The own condition of this name.
pub(crate) fn condition(name: &str) -> Option<ConditionKind> {
    own().conditions.iter().find(|kind| kind.name == name).copied()
}

/// The keys of own conditions.
pub(crate) fn keys() -> impl Iterator<Item = &'static Key> {
    own().conditions.iter().flat_map(|kind| kind.keys)
}

/// A row of the table with the words that the program adds to it.
pub(crate) fn with_words(key: &'static Key) -> &'static Key {
    let more: Vec<&'static str> = match key.path {
        "space.riemann" => own().fluxes.iter().map(|flux| flux.0.name()).collect(),
        "boundaries.<name>.type" if key.models == ["euler"] || key.models == ["navier-stokes"] => {
            own().conditions.iter().map(|kind| kind.name).collect()
        }
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
