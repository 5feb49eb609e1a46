//! Numerical fluxes of a program that is built on this crate, known to the readers of pipeline files, and the
//! words of lists that a program can make longer.

use std::sync::OnceLock;

use crate::conditions;
pub use crate::conditions::ConditionKind;
use crate::file::keys::{Kind, Row};
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

/// A row of the table, with the words of boundary conditions if it is that of their types.
pub(crate) fn with_words(row: Row) -> Row {
    let more: Vec<&'static str> = match row.path {
        "boundaries.<name>.type" => row.models.iter().flat_map(|model| conditions::words(model)).collect(),
        _ => Vec::new(),
    };
    let [Kind::Words(words)] = row.kinds else { return row };
    if more.is_empty() {
        return row;
    }
    // Once in a process, and as long as it.
    let words: &'static [&'static str] = Box::leak(words.iter().copied().chain(more).collect());
    Row { kinds: Box::leak(Box::new([Kind::Words(words)])), ..row }
}
