//! The table of every key of a pipeline file: its path, type, default, models and meaning.
//!
//! The reader ([`Section`](super::section::Section)) accepts the keys of this table and no others.
//! `dgsuite keys` prints the table, error messages quote it, and the book's page of keys is generated from
//! it. A row follows from the declaration of the key ([`key`](super::key)), which reads it; of rows without
//! one, tests verify that words, limits and defaults are those of the reader.
//!
//! # Paths
//! The parts of a path are separated by dots. A part is a name or a placeholder:
//!
//! | part | meaning |
//! |---|---|
//! | `<name>` | a name that the user chooses, such as that of a boundary or of a variable |
//! | `[]` | an entry of a list |
//! | `{a,b}` | each of the names in the braces |

mod print;
mod schema;

use std::sync::OnceLock;

pub(super) use self::print::shown;
pub use self::print::{KeysError, describe, markdown, text};
pub use self::schema::schema;

/// The word of the model of incompressible flow.
pub const INCOMPRESSIBLE_FLOW: &str = "incompressible";

/// The names of a reference state that expressions may use.
pub const OF_REFERENCE: [&str; 12] = [
    "rho_ref",
    "speed_ref",
    "u_ref",
    "v_ref",
    "w_ref",
    "p_ref",
    "T_ref",
    "c_ref",
    "R_ref",
    "mu_ref",
    "nu_ref",
    "L_ref",
];

/// The models.
pub const MODELS: [&str; 5] = ["euler", "navier-stokes", "incompressible", "advection", "poisson"];

/// The models that march in time.
pub const FLOW: &[&str] = &["euler", "navier-stokes", "incompressible", "advection"];
/// The models whose steps are explicit.
pub(crate) const EXPLICIT: &[&str] = &["euler", "navier-stokes", "advection"];
/// The models of a gas.
pub const GAS: &[&str] = &["euler", "navier-stokes"];
/// The models of a fluid with a pressure.
pub const FLUID: &[&str] = &["euler", "navier-stokes", "incompressible"];
/// The models with viscous walls.
pub(crate) const VISCOUS: &[&str] = &["navier-stokes", "incompressible"];
/// The models with linear solvers.
pub(crate) const IMPLICIT: &[&str] = &["poisson", "incompressible"];
/// The model of incompressible flow.
pub const INCOMPRESSIBLE: &[&str] = &["incompressible"];
/// The model of an inviscid gas.
pub const EULER: &[&str] = &["euler"];
/// The model of a viscous gas.
pub const NAVIER_STOKES: &[&str] = &["navier-stokes"];
pub(crate) const ADVECTION: &[&str] = &["advection"];
pub(crate) const POISSON: &[&str] = &["poisson"];

/// The names in formulas of place and time.
pub(crate) const SPACE_TIME: &str = "x, y, z, t";
/// The names in formulas of conditions that a gas has, too.
pub(crate) const STATE_TOO: &str = "x, y, z, t and, for a gas, the state inside";
/// A number greater than 0.
pub(crate) const POSITIVE: Kind = Kind::Number(Range::Above(0.0));

/// One key of the pipeline file, as the table has it.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    /// The full path.
    pub path: &'static str,
    /// The kinds of values that it may have.
    pub kinds: &'static [Kind],
    /// The default.
    pub default: Absent,
    /// The models that have the key; an empty list means all.
    pub models: &'static [&'static str],
    /// The types of a boundary that have the key; an empty list means all.
    pub types: &'static [&'static str],
    /// The meaning, in one or two sentences.
    pub text: &'static str,
    /// The first version with this key.
    pub since: &'static str,
}

/// A kind of value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Kind {
    /// A section with keys of its own.
    Section,
    /// A number, or an expression without variables.
    Number(Range),
    /// A whole number within these limits, both included, or an expression.
    Whole(usize, usize),
    /// `true` or `false`.
    Flag,
    /// Any text.
    Text,
    /// One of some words; an upper-case letter in a word is a placeholder for a number.
    Words(&'static [&'static str]),
    /// A number or a formula, with the names that it may use.
    Formula(&'static str),
    /// A list with one number for each direction.
    Vector,
    /// A list of such values, with a name for them.
    List(&'static str, &'static [Kind]),
}

/// The numbers that are accepted.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Range {
    /// All.
    Any,
    /// Numbers greater than this.
    Above(f64),
    /// Numbers not less than this.
    AtLeast(f64),
    /// Numbers from the first to the second, both included.
    Between(f64, f64),
    /// Numbers from the first, included or not, to below the second.
    Below(Low, f64),
}

impl Range {
    /// What is expected in place of a number, if it is out of range.
    pub fn expected(self, x: f64) -> Option<String> {
        let says = |holds: bool, expected: String| (!holds).then_some(expected);
        match self {
            Self::Any => None,
            Self::Above(low) => says(x > low, format!("greater than {}", shown(low))),
            Self::AtLeast(0.0) => says(x >= 0.0, "0 or more".to_owned()),
            Self::AtLeast(low) => says(x >= low, format!("at least {}", shown(low))),
            Self::Between(low, high) => {
                says((low..=high).contains(&x), format!("from {} to {}", shown(low), shown(high)))
            }
            Self::Below(Low::From(low), high) => {
                says((low..high).contains(&x), format!("from {} to below {}", shown(low), shown(high)))
            }
            Self::Below(Low::Over(low), _) if x <= low => Self::Above(low).expected(x),
            Self::Below(Low::Over(_), high) => says(x < high, format!("below {}", shown(high))),
        }
    }
}

/// A lower limit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Low {
    /// The limit belongs to the range.
    From(f64),
    /// The limit does not belong to the range.
    Over(f64),
}

/// The default of a key.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Absent {
    /// The key must be given.
    Required,
    /// The key has no default and need not be given.
    Nothing,
    /// A value.
    Value(&'static str),
    /// A default described in words.
    Says(&'static str),
}

/// A key that all models have.
#[must_use]
pub const fn row(path: &'static str, kinds: &'static [Kind], default: Absent, text: &'static str) -> Row {
    Row { path, kinds, default, models: &[], types: &[], text, since: "0.1" }
}

impl Row {
    /// The key, for some models only.
    #[must_use]
    pub const fn of(self, models: &'static [&'static str]) -> Self {
        Self { models, ..self }
    }

    /// The key, for some types of a boundary only.
    #[must_use]
    pub const fn with(self, types: &'static [&'static str]) -> Self {
        Self { types, ..self }
    }

    /// The last part of the path.
    pub fn name(&self) -> &'static str {
        self.path.rsplit('.').next().unwrap_or(self.path)
    }

    /// The parts of the path.
    pub fn parts(&self) -> Vec<Part> {
        let mut parts = Vec::new();
        for piece in self.path.split('.') {
            let name = piece.trim_end_matches("[]");
            parts.push(match name.strip_prefix('{').and_then(|rest| rest.strip_suffix('}')) {
                Some(names) => Part::Each(names.split(',').collect()),
                None if name.starts_with('<') => Part::Free,
                None => Part::Each(vec![name]),
            });
            parts.extend((name.len() < piece.len()).then_some(Part::Item));
        }
        parts
    }

    /// The words that the key may have as a value.
    pub fn words(&self) -> &'static [&'static str] {
        let words = |kind: &Kind| if let Kind::Words(words) = kind { Some(*words) } else { None };
        self.kinds.iter().find_map(words).unwrap_or(&[])
    }
}

/// A part of a path.
#[derive(Clone, Debug, PartialEq)]
pub enum Part {
    /// One of these names.
    Each(Vec<&'static str>),
    /// A name that the user chooses.
    Free,
    /// An entry of a list.
    Item,
}

impl Part {
    /// Whether a step of a file's path can be this part.
    fn is(&self, step: &str) -> bool {
        match self {
            Self::Each(names) => names.contains(&step),
            Self::Free => true,
            Self::Item => step.parse::<usize>().is_ok(),
        }
    }
}

/// A restriction of the table to the keys of a model or of a type of boundary.
#[derive(Clone, Copy, Debug, Default)]
pub struct Scope<'a> {
    /// Only keys of this model.
    pub model: Option<&'a str>,
    /// Only keys of boundaries of this type.
    pub kind: Option<&'a str>,
}

impl Scope<'_> {
    fn has(&self, key: &Row) -> bool {
        let within =
            |all: &[&str], one: Option<&str>| all.is_empty() || one.is_none_or(|one| all.contains(&one));
        within(key.models, self.model) && within(key.types, self.kind)
    }
}

/// The table, with the parts of each path.
static TABLE: OnceLock<Vec<Line>> = OnceLock::new();

/// Makes the table of these keys; the first call decides.
///
/// The keys stand beside what reads them, in rooms above this one, and readers of sections need the whole
/// table: the room that knows all readers installs it before the first file is read.
pub fn install(rows: impl Iterator<Item = Row>) {
    TABLE.get_or_init(|| rows.map(|row| Line { row, parts: row.parts() }).collect());
}

/// Every key, in the order of the sections of a file.
pub fn all() -> impl Iterator<Item = &'static Row> {
    lines().iter().map(|line| &line.row)
}

/// The rows for one path of a file, such as `["boundaries", "inlet", "type"]`: several where models or types
/// differ. A row with a name comes before one in which the user chooses it.
pub fn at<S: AsRef<str>>(steps: &[S], scope: Scope<'_>) -> Vec<&'static Row> {
    let of = |line: &&Line| fits(&line.parts, steps) && scope.has(&line.row);
    let found: Vec<&Line> = lines().iter().filter(of).collect();
    let any = found.iter().any(|line| line.is_named());
    found.into_iter().filter(|line| line.is_named() || !any).map(|line| &line.row).collect()
}

/// A row with the parts of its path.
#[derive(Debug)]
struct Line {
    row: Row,
    parts: Vec<Part>,
}

impl Line {
    /// Whether the user does not choose its name.
    fn is_named(&self) -> bool {
        self.parts.last() != Some(&Part::Free)
    }
}

/// Every key, with its parts. They are parsed once, because a reader looks up each of its keys.
fn lines() -> &'static [Line] {
    TABLE.get().map_or(&[], Vec::as_slice)
}

/// Whether steps of a file's path can be these parts.
pub(super) fn fits<S: AsRef<str>>(parts: &[Part], steps: &[S]) -> bool {
    parts.len() == steps.len() && parts.iter().zip(steps).all(|(part, step)| part.is(step.as_ref()))
}

/// The keys of a section by its path, for the reader.
#[derive(Debug, PartialEq)]
pub struct Known {
    /// Their names.
    pub names: Vec<&'static str>,
    /// Whether the user may choose further names.
    pub free: bool,
}

/// The keys known in a section of a file.
pub fn known<S: AsRef<str>>(section: &[S], scope: Scope<'_>) -> Known {
    let mut known = Known { names: Vec::new(), free: false };
    for Line { row, parts } in lines() {
        let Some((last, above)) = parts.split_last() else { continue };
        if !fits(above, section) || !scope.has(row) {
            continue;
        }
        match last {
            Part::Each(names) => {
                for name in names {
                    if !known.names.contains(name) {
                        known.names.push(name);
                    }
                }
            }
            Part::Free => known.free = true,
            Part::Item => {}
        }
    }
    known
}

/// The models that have a key.
pub fn models<S: AsRef<str>>(steps: &[S]) -> Vec<&'static str> {
    let rows = at(steps, Scope::default());
    let has =
        |model: &&'static str| rows.iter().any(|key| key.models.is_empty() || key.models.contains(model));
    MODELS.iter().copied().filter(has).collect()
}

/// The path of the key with this name, if there is exactly one.
pub fn only_place(name: &str) -> Option<&'static str> {
    let mut paths: Vec<_> = all().filter(|key| key.name() == name).map(|key| key.path).collect();
    paths.dedup();
    if let [path] = paths.as_slice() { Some(path) } else { None }
}

/// The steps of a path as messages write it. A name with a dot in it is split.
pub fn steps(path: &str) -> Vec<&str> {
    path.split('.').collect()
}
