//! All keys of a pipeline file, from the rooms that read them.
//!
//! `dgsuite keys` prints the table, error messages quote it, and the book's page of keys is generated from
//! it. Tests verify that the reader uses every key, that the words and limits in the table are those of the
//! reader, and that its defaults are those that a run writes to its `pipeline.yaml`.

mod general;
mod mesh;
mod physics;
mod solver;
mod space;
mod state;
#[cfg(test)]
mod tests;
mod time;

use crate::file::keys::Key;
pub use crate::file::keys::{KeysError, Scope};
use crate::pipeline::space::limiting;
use crate::{conditions, monitors, outputs, own};

/// Makes the table known to the readers of sections; every reader of a file calls this first.
pub fn install() {
    const FIRST: [&[Key]; 7] = [
        general::FIRST,
        mesh::KEYS,
        physics::KEYS,
        space::KEYS,
        limiting::KEYS,
        space::CUBATURE,
        state::KEYS,
    ];
    const BEFORE: [&[Key]; 6] =
        [state::ELLIPTIC, time::KEYS, solver::SECTIONS, solver::KEYS, solver::PRESSURE, solver::VELOCITY];
    let all = FIRST
        .into_iter()
        .flatten()
        .chain(conditions::kinds().flat_map(|kind| kind.keys))
        .chain(BEFORE.into_iter().flatten())
        .chain(outputs::keys())
        .chain(monitors::keys())
        .chain(general::LAST);
    crate::file::keys::install(all.map(own::with_words));
}

/// [`markdown`](crate::file::keys::markdown) of the whole table.
#[must_use]
pub fn markdown() -> String {
    install();
    crate::file::keys::markdown()
}

/// [`text`](crate::file::keys::text) of the whole table.
///
/// # Errors
/// A path for which the table has no key.
pub fn text(path: Option<&str>) -> Result<String, KeysError> {
    install();
    crate::file::keys::text(path)
}

/// [`schema`](crate::file::keys::schema) of the whole table.
#[must_use]
pub fn schema() -> serde_json::Value {
    install();
    crate::file::keys::schema()
}

/// [`known`](crate::file::keys::known) in the whole table.
pub fn known<S: AsRef<str>>(section: &[S], scope: Scope<'_>) -> crate::file::keys::Known {
    install();
    crate::file::keys::known(section, scope)
}

/// [`at`](crate::file::keys::at) in the whole table.
pub fn at<S: AsRef<str>>(steps: &[S], scope: Scope<'_>) -> Vec<&'static Key> {
    install();
    crate::file::keys::at(steps, scope)
}
