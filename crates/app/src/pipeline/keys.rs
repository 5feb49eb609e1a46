//! All keys of a pipeline file, from the rooms that read them.
//!
//! `dgsuite keys` prints the table, error messages quote it, and the book's page of keys is generated from
//! it. Tests verify that the reader uses every key and, of rows that are not declared beside their reader,
//! that words, limits and defaults are those of the reader.

mod general;
mod physics;
mod state;
#[cfg(test)]
mod tests;

use crate::file::key::Declared;
use crate::file::keys::Row;
pub use crate::file::keys::{KeysError, Scope};
use crate::pipeline::elliptic::solver;
use crate::pipeline::{closure, elliptic, incompressible, mesh, space, time, top};
use crate::{conditions, monitors, outputs, own};

/// Makes the table known to the readers of sections; every reader of a file calls this first.
pub fn install() {
    let rows = |rows: &'static [Row]| rows.iter().copied();
    let of = |keys: &'static [&'static dyn Declared]| keys.iter().map(|key| key.row());
    let all = of(top::KEYS)
        .chain(rows(general::FIRST))
        .chain(of(mesh::KEYS))
        .chain(rows(physics::KEYS))
        .chain(of(closure::KEYS))
        .chain(rows(physics::OTHERS))
        .chain(of(space::KEYS))
        .chain(of(elliptic::space::KEYS))
        .chain(of(incompressible::SPACE))
        .chain(of(space::limiting::KEYS))
        .chain(of(space::CUBATURES))
        .chain(rows(state::KEYS))
        .chain(conditions::kinds().flat_map(|kind| kind.keys).copied())
        .chain(rows(state::ELLIPTIC))
        .chain(of(time::FIRST))
        .chain(of(incompressible::TIME))
        .chain(of(time::KEYS))
        .chain(of(solver::SECTIONS))
        .chain(solver::OF_POISSON.list().into_iter().map(Declared::row))
        .chain(solver::OF_PRESSURE.list().into_iter().map(Declared::row))
        .chain(of(incompressible::VELOCITY))
        .chain(outputs::keys().copied())
        .chain(monitors::keys().copied())
        .chain(rows(general::LAST));
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
pub fn at<S: AsRef<str>>(steps: &[S], scope: Scope<'_>) -> Vec<&'static Row> {
    install();
    crate::file::keys::at(steps, scope)
}
