//! Boundary conditions of a gas that are values: one file for each.
//!
//! A file declares a [`ConditionKind`]: the word of the pipeline file, the models that have it, its keys, and
//! how they become the condition. Words, schema, messages, the plan and the solvers of all devices follow. A
//! new condition is its formulas in `dgsuite-physics`, a file here and its line in [`KINDS`].

mod slip_length;

use std::fmt;
use std::sync::Arc;

use crate::file::keys::Key;
use crate::file::problem::InputError;
use crate::file::section::Section;
use dgsuite_solve::own::OwnCondition;

/// The conditions of this workspace.
pub static KINDS: [ConditionKind; 1] = [slip_length::CONDITION];

/// A kind of boundary condition of a gas.
#[derive(Clone, Copy)]
pub struct ConditionKind {
    /// The word of `boundaries.<name>.type`.
    pub name: &'static str,
    /// The models that have it, such as [`GAS`](crate::file::keys::GAS).
    pub models: &'static [&'static str],
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
