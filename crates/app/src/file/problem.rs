//! Mistakes of the input: one variant for each, with its place and the nearest valid name.

mod code;
mod extrusion;
pub(crate) mod mistakes;
pub mod unsolved;

use std::fmt;
use std::path::PathBuf;

use dgsuite_mesh::{ENDS, MeshError};
use dgsuite_ops::OpsError;
use dgsuite_physics::formula::{FormulaError, FormulaErrorKind};

use super::keys::{self, Scope};
use super::source::{Located, Place, TextError};
use dgsuite_output::checkpoint::{CheckpointError, CheckpointProblem, MESH};
use dgsuite_output::nearest::nearest;
use dgsuite_solve::SystemError;
use dgsuite_solve::elliptic::EllipticError;

/// One mistake in the input. [`InputError`] adds where it is.
#[derive(Debug, thiserror::Error)]
pub enum Problem {
    /// The pipeline file cannot be read.
    #[error("cannot read the pipeline file {}: {reason}", path.display())]
    Unreadable {
        /// The path as given.
        path: PathBuf,
        /// Why.
        reason: TextError,
    },
    /// The text is not YAML.
    #[error("this is not valid YAML: {reason}")]
    Syntax {
        /// The message of the parser.
        reason: String,
    },
    /// Ranks of which only some have a GPU.
    #[error("rank {with} has a GPU, but rank {without} has none: give each rank one, or set `device: cpu`")]
    MixedRanks {
        /// The first rank with a GPU.
        with: usize,
        /// The first rank without one.
        without: usize,
    },
    /// A file of another kind in place of the pipeline file.
    #[error("{} is {what}, not a pipeline file", path.display())]
    OtherFile {
        /// The file.
        path: PathBuf,
        /// Its kind.
        what: &'static str,
        /// What to do with it.
        instead: &'static str,
    },
    /// A key that the table does not have in this section.
    #[error("unknown key `{key}`{}", inside(section))]
    UnknownKey {
        /// The key as written.
        key: String,
        /// The section's path; empty at the top.
        section: String,
        /// The keys that are known there.
        known: Vec<String>,
    },
    /// A key that must be given.
    #[error("`{key}` is missing")]
    MissingKey {
        /// Its path.
        key: String,
        /// The value that is expected.
        expected: String,
    },
    /// A value of the wrong type.
    #[error("`{key}` must be {expected}, but {found} was found")]
    WrongType {
        /// The key's path.
        key: String,
        /// The type that is expected.
        expected: String,
        /// The value in words.
        found: String,
        /// The file's model, if it is known.
        model: Option<String>,
    },
    /// A word that the key does not have.
    #[error("`{found}` is not a value of `{key}`")]
    UnknownValue {
        /// The key's path.
        key: String,
        /// The word as written.
        found: String,
        /// The known words.
        known: Vec<String>,
    },
    /// A value out of its range.
    #[error("`{key}` is {value}, but must be {expected}")]
    OutOfRange {
        /// The key's path.
        key: String,
        /// The value.
        value: String,
        /// The range.
        expected: String,
    },
    /// Two keys that exclude each other.
    #[error("`{first}` and `{second}` exclude each other")]
    Conflict {
        /// One key's path.
        first: String,
        /// The other's.
        second: String,
    },
    /// A key that belongs to another choice than the one in the file.
    #[error("`{key}` does not belong to {owner}")]
    Misplaced {
        /// The key's path.
        key: String,
        /// The choice in the file, such as `the model euler`.
        owner: String,
        /// The choice that the key belongs to.
        belongs: String,
    },
    /// An angle that is a bare number.
    #[error("`{key}: {value}` does not say whether degrees or radians are meant")]
    NoUnit {
        /// The key's path.
        key: String,
        /// The number as written.
        value: String,
    },
    /// A formula that does not parse or that uses an unknown name.
    #[error("`{key}` is not a formula that can be used: {}", error.kind)]
    Formula {
        /// The key's path.
        key: String,
        /// What is wrong with it.
        error: FormulaError,
    },
    /// A name that a constant cannot have.
    #[error("this constant cannot be used: {error}")]
    Constant {
        /// Why not.
        error: dgsuite_physics::formula::NameError,
    },
    /// A named exact solution or one of its parameters is not known or out of range.
    #[error("`{key}`: {error}")]
    Exact {
        /// The key's path.
        key: String,
        /// What is wrong with it.
        error: dgsuite_physics::exact::ExactError,
    },
    /// A state with density or pressure that is not positive.
    #[error(
        "`{key}` gives {variable} = {value} at ({}), which is not {}",
        coordinates(point),
        if value.is_finite() { "a state of a gas" } else { "a number" }
    )]
    Inadmissible {
        /// The key's path.
        key: String,
        /// The variable.
        variable: String,
        /// Its value.
        value: f64,
        /// Where.
        point: [f64; 3],
    },
    /// A word that this version does not support.
    #[error("`{key}: {value}` is not supported by this version")]
    Unsupported {
        /// The key's path.
        key: String,
        /// The value.
        value: String,
        /// What to use instead.
        instead: String,
    },
    /// The requested device cannot be used.
    #[error("the device `{device}` cannot be used: {reason}")]
    Device {
        /// The word for the device.
        device: String,
        /// The reason.
        reason: String,
    },
    /// The mesh file cannot be read or used.
    #[error("the mesh {}: {}", path.display(), error.without_path())]
    Mesh {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        error: MeshError,
    },
    /// Faces that belong to two physical groups of the mesh.
    #[error("the mesh {}: {count} faces belong to both boundaries `{first}` and `{second}`", path.display())]
    SharedFaces {
        /// The file.
        path: PathBuf,
        /// How many.
        count: usize,
        /// One of the boundaries.
        first: String,
        /// The other.
        second: String,
    },
    /// The mesh cannot be generated.
    #[error("the generated mesh: {error}")]
    Generate {
        /// What is wrong with it.
        error: MeshError,
    },
    /// The mesh cannot be refined or scaled.
    #[error("the mesh cannot be prepared: {error}")]
    Prepare {
        /// Why not.
        error: MeshError,
    },
    /// A boundary name that the mesh does not have.
    #[error("the mesh has no boundary `{name}`")]
    UnknownBoundary {
        /// The name as written.
        name: String,
        /// The names that the mesh has.
        known: Vec<String>,
    },
    /// A region name that the mesh does not have.
    #[error("the mesh has no region `{name}`")]
    UnknownRegion {
        /// The name as written.
        name: String,
        /// The names that the mesh has.
        known: Vec<String>,
    },
    /// A region of the mesh that has elements but no coefficient.
    #[error("no coefficient is given for the region {name}")]
    MissingRegion {
        /// The region.
        name: String,
    },
    /// Boundaries of the mesh without a condition in the file.
    #[error("no condition is given for {}", boundary_list(names))]
    MissingBoundary {
        /// The names without a condition.
        names: Vec<String>,
        /// A condition of the model, as an example.
        example: &'static str,
    },
    /// Two boundaries that cannot be joined.
    #[error("the boundaries `{first}` and `{second}` cannot be made periodic: {}", error.without_path())]
    Periodic {
        /// One name.
        first: String,
        /// The other.
        second: String,
        /// Why not.
        error: MeshError,
    },
    /// A condition for a boundary that is joined to another one.
    #[error("the boundary `{name}` is periodic and can have no condition")]
    PeriodicBoundary {
        /// Its name.
        name: String,
    },
    /// A point outside of all elements.
    #[error("the point ({}) is outside of the mesh", coordinates(point))]
    PointOutside {
        /// The point.
        point: [f64; 3],
    },
    /// A sample without a point in the mesh.
    #[error("no point of `{key}` is in the mesh")]
    SampleOutside {
        /// The key.
        key: String,
    },
    /// A line outside of all elements.
    #[error("the line from ({}) to ({}) is outside of the mesh", coordinates(from), coordinates(to))]
    LineOutside {
        /// Its first point.
        from: [f64; 3],
        /// Its last one.
        to: [f64; 3],
    },
    /// More elements than fit into memory.
    #[error(
        "{elements} elements of order {order} need about {needed} of memory, but only {there} may be used here"
    )]
    Memory {
        /// Their number.
        elements: String,
        /// Polynomial order.
        order: usize,
        /// An estimate.
        needed: String,
        /// The memory of the machine, or a limit on this process.
        there: String,
    },
    /// Results that would replace the pipeline file.
    #[error("results in {} would replace the pipeline file, as the file that was run is kept there as pipeline.yaml", directory.display())]
    Overwrites {
        /// The directory of the results.
        directory: PathBuf,
    },
    /// A directory that cannot be created or written to.
    #[error("results cannot be written to {}: {reason}", directory.display())]
    Unwritable {
        /// The directory of the results.
        directory: PathBuf,
        /// The error of the system.
        reason: std::io::Error,
    },
    /// A name that is given twice in one list.
    #[error("`{key}` has the name `{name}` twice")]
    Twice {
        /// The key's path.
        key: String,
        /// The name.
        name: String,
    },
    /// A control character in a name or a text.
    #[error("{what} has the control character {}", .character.escape_unicode())]
    Control {
        /// The key or the text, with the character made visible.
        what: String,
        /// The character.
        character: char,
    },
    /// Too many times of output.
    #[error("the times of `{key}` are too many: {error}")]
    Times {
        /// The key of the interval.
        key: String,
        /// Why not.
        error: dgsuite_timeint::TimeError,
    },
    /// A checkpoint that cannot be used.
    #[error("cannot restart: {error}")]
    Restart {
        /// What is wrong with it.
        error: dgsuite_output::checkpoint::CheckpointError,
    },
    /// The solver of an elliptic problem rejects the set-up.
    #[error("this problem cannot be set up: {error}")]
    Elliptic {
        /// Why.
        error: EllipticError,
    },
    /// The solver rejects the set-up.
    #[error("this set-up cannot be run: {error}")]
    Setup {
        /// Why.
        error: SystemError,
    },
    /// A linear system of the set-up was not solved.
    #[error("this set-up cannot be run: {error}")]
    Unsolved {
        /// Which system, and how the solve went.
        error: SystemError,
        /// Why it takes many iterations, as far as mesh and options tell.
        causes: Vec<String>,
    },
    /// An override of the command line that is not of the form `key=value`.
    #[error("`{text}` is not of the form KEY=VALUE")]
    Override {
        /// The option's text.
        text: String,
    },
    /// A key path that does not lead to a place where a value can be set.
    #[error("`{path}` cannot be set: {reason}")]
    Path {
        /// The path.
        path: String,
        /// Why not.
        reason: PathFault,
    },
}

/// The reason why a path of a key cannot be followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PathFault {
    /// An empty key between two dots, at the start or at the end.
    #[error("a key between the dots is empty")]
    EmptyKey,
    /// An index past the end of a list of this length.
    #[error("the list there has {0} entries (counted from 0)")]
    Index(usize),
    /// A key below a value that has no keys.
    #[error("the value above it has no keys")]
    Scalar,
    /// More keys than a file may have levels.
    #[error("it has more than {} keys", super::source::DEEPEST)]
    TooDeep,
}

/// A message without its middle part if it is too long.
pub(crate) fn cut(text: &str) -> String {
    let [most, kept] = [600, 200];
    let n = text.chars().count();
    if n <= most {
        return text.to_owned();
    }
    let (first, last): (String, String) =
        (text.chars().take(kept).collect(), text.chars().skip(n - kept).collect());
    format!("{first} … {last}")
}

fn inside(section: &str) -> String {
    if section.is_empty() { String::new() } else { format!(" in `{section}`") }
}

fn coordinates(point: &[f64; 3]) -> String {
    format!("{:.6}, {:.6}, {:.6}", point[0], point[1], point[2])
}

fn boundary_list(names: &[String]) -> String {
    let list = names.iter().map(|n| format!("`{n}`")).collect::<Vec<_>>().join(", ");
    if names.len() == 1 { format!("the boundary {list}") } else { format!("the boundaries {list}") }
}

/// A name as a key of a YAML file: in quotes if YAML would read it as something else, such as `#1`, which
/// begins a comment.
fn as_key(name: &str) -> String {
    let plain = name.starts_with(|c: char| c.is_alphabetic() || c == '_')
        && name.chars().all(|c| c.is_alphanumeric() || "_-.+".contains(c))
        && !["null", "true", "false"].contains(&name.to_lowercase().as_str());
    if plain { name.to_owned() } else { format!("{name:?}") }
}

/// The largest number of names that a message lists.
const LISTED: usize = 24;

fn listed(names: &[String]) -> String {
    let mut text = names.iter().take(LISTED).cloned().collect::<Vec<_>>().join(", ");
    if names.len() > LISTED {
        text.push_str(&format!(", … ({} in all)", names.len()));
    }
    if text.is_empty() { "(none)".into() } else { text }
}

/// The hint on a name of the reference state that is not known at `key`.
pub(crate) fn of_reference(key: &str, name: &str) -> String {
    match (key.starts_with("physics."), name) {
        (true, "mu_ref") => {
            "leave `viscosity: { constant: … }` out: with `reynolds` and `length` in `physics.reference` the viscosity follows"
        }
        (true, _) => "only other sections can use the names of the reference state: within `physics` write the number",
        _ => "`physics.reference: { mach: 0.2, reynolds: 100, length: 1 }` gives this name to the other sections",
    }
    .to_owned()
}

/// Returns whether this is a name of the reference state.
pub(crate) fn names_reference(name: &str) -> bool {
    keys::OF_REFERENCE.contains(&name)
}

pub(crate) fn is_of_reference(kind: &FormulaErrorKind) -> bool {
    matches!(kind, FormulaErrorKind::UnknownName(name) if names_reference(name))
}

/// The place of an unknown key that another section has.
fn elsewhere(key: &str) -> Option<String> {
    let path = keys::only_place(key)?;
    Some(match path.rsplit_once('.') {
        Some((section, _)) => match keys::models(&keys::steps(path))[..] {
            [model] if !path.contains('<') => format!("`{key}` is a key of `{section}` of the model {model}"),
            _ => format!("`{key}` is a key of `{section}`"),
        },
        None => format!("`{key}` is a key of the top level"),
    })
}

/// The monitors whose names begin values of the summary.
const RECORDED: [&str; 10] = [
    "residual",
    "integral",
    "forces",
    "wall",
    "probe",
    "limited",
    "divergence",
    "nusselt",
    "flow_rate",
    "recirculation",
];

/// The command that explains a key or the keys of a section.
fn explained(path: &str) -> Option<String> {
    if path.is_empty() {
        return Some("`dgsuite keys` explains all keys".into());
    }
    let known = !keys::at(&keys::steps(path), Scope::default()).is_empty();
    known.then(|| format!("`dgsuite keys {path}` explains it"))
}

impl Problem {
    /// The expected names, type or value, if there is more than the message contains.
    pub(crate) fn expected(&self) -> Option<String> {
        match self {
            Self::UnknownKey { known, .. } => Some(format!("known keys: {}", listed(known))),
            Self::UnknownValue { known, .. } => Some(format!("expected one of: {}", listed(known))),
            Self::UnknownBoundary { known, .. } => Some(format!("boundaries of the mesh: {}", listed(known))),
            Self::UnknownRegion { known, .. } => Some(format!("regions of the mesh: {}", listed(known))),
            Self::MissingKey { expected, .. } => Some(format!("expected: {expected}")),
            Self::WrongType { key, model, .. } => keys::describe(key, model.as_deref()),
            _ => None,
        }
    }

    /// The hint: the nearest valid name, or what to do.
    pub(crate) fn hint(&self) -> Option<String> {
        let near =
            |typed: &str, known: &[String]| nearest(typed, known).map(|n| format!("did you mean `{n}`?"));
        match self {
            Self::UnknownKey { key, section, known } => {
                near(key, known).or_else(|| elsewhere(key)).or_else(|| explained(section))
            }
            Self::MissingKey { key, .. } | Self::WrongType { key, .. } => explained(key),
            Self::UnknownValue { key, found, known } => {
                let monitored = RECORDED.into_iter().find(|monitor| {
                    let recorded = |value: &str| value.split('.').next() == Some(monitor);
                    recorded(found) && !known.iter().any(|value| recorded(value))
                });
                let name = || found.split('.').nth(1).unwrap_or("NAME");
                // Values of the summary have several parts.
                let of_means = [".strouhal", ".mean.", ".amplitude."].iter().any(|part| found.contains(part));
                match monitored.filter(|_| found.contains('.')) {
                    None if found.starts_with("forces.") && of_means => Some(
                        "means, amplitudes and frequencies need `from: TIME` in the monitor `forces`".into(),
                    ),
                    Some("forces") => Some(format!(
                        "it is recorded by a monitor: `- forces: {{ boundary: {}, every_steps: 10 }}`",
                        name()
                    )),
                    Some("wall") => {
                        Some(format!("it is recorded by a monitor: `- wall: {{ boundary: {} }}`", name()))
                    }
                    Some(monitor) => Some(format!("it is recorded by a monitor `{monitor}`")),
                    None => near(found, known).or_else(|| explained(key)),
                }
            }
            Self::Mesh { path, error } if matches!(error.without_path(), MeshError::NotFound) => {
                let looked = std::path::absolute(path).unwrap_or_else(|_| path.clone());
                Some(format!("paths are relative to the pipeline file: {} does not exist", looked.display()))
            }
            Self::Memory { .. } => Some(
                "use fewer elements (`mesh.generate.cells`, `mesh.refine`) or a lower `space.order`".into(),
            ),
            Self::SharedFaces { .. } => Some(
                "a face has one condition: put every curve or surface into one physical group only".into(),
            ),
            Self::Prepare { error } => extrusion::hint(error),
            Self::PeriodicBoundary { name } if ENDS.contains(&name.as_str()) => {
                Some(extrusion::JOINED.into())
            }
            Self::Overwrites { .. } | Self::Unwritable { .. } => {
                Some("choose another `output.directory`, or `--output DIR`".into())
            }
            Self::UnknownBoundary { name, known } | Self::UnknownRegion { name, known } => near(name, known),
            Self::MissingBoundary { names, example } => Some(format!(
                "add it to `boundaries`, for example  {}: {example} , or join two boundaries in `mesh.periodic`",
                names.first().map_or_else(String::new, |name| as_key(name))
            )),
            Self::Misplaced { belongs, .. } => Some(format!("it belongs to {belongs}")),
            Self::Unsupported { instead, .. } => Some(instead.clone()),
            Self::OtherFile { instead, .. } => Some((*instead).to_owned()),
            Self::Device { .. } => Some("`device: auto` uses the CPU if no GPU can be used".into()),
            Self::Formula { key, error } if is_of_reference(&error.kind) => {
                Some(of_reference(key, &error.text[error.span.clone()]))
            }
            Self::Formula { error, .. } if error.hint.is_some() => error.hint.clone(),
            Self::Formula { error, .. } if matches!(error.kind, FormulaErrorKind::Unclosed) => {
                Some("inside { } or [ ] a formula with commas needs quotes: \"if(x < 0, 1, 2)\"".into())
            }
            Self::Restart {
                error: CheckpointError { path, problem: CheckpointProblem::Mismatch { what: MESH, .. } },
            } => Some(format!("`--restart-project {}` projects its solution onto this mesh", path.display())),
            Self::Elliptic { error } => error.hint().map(str::to_owned),
            Self::Setup { error: SystemError::Closed { .. } } => Some(
                "join the boundaries that the flow crosses by `mesh.periodic`, or choose another \
                 `physics.flow_rate.direction`"
                    .into(),
            ),
            Self::Setup { error: SystemError::Solve { system, cause } } => {
                Some(unsolved::hint(*system, cause, &[]))
            }
            Self::Unsolved { error: SystemError::Solve { system, cause }, causes } => {
                Some(unsolved::hint(*system, cause, causes))
            }
            Self::NoUnit { value, .. } => Some(format!(
                "write {value}*deg for degrees; radians are an expression, such as pi/90 or {value}*1"
            )),
            Self::Override { text } if !text.contains(char::is_whitespace) => {
                Some(format!("add a value, as in  --set {text}=VALUE"))
            }
            Self::Override { .. } => Some("for example  --set space.order=4".into()),
            _ => None,
        }
    }
}

/// A mistake in the input with its place: file, line, column and key. The command ends with exit code 2.
#[derive(Debug)]
pub struct InputError {
    /// The mistake.
    pub problem: Box<Problem>,
    /// Its place, if it is in a text.
    pub place: Option<Place>,
    /// Further mistakes of the file, which do not follow from this one.
    pub more: Vec<InputError>,
}

impl From<OpsError> for InputError {
    fn from(error: OpsError) -> Self {
        Self::nowhere(Problem::Setup { error: error.into() })
    }
}

impl Problem {
    /// Whether another rank reports this problem.
    pub fn is_elsewhere(&self) -> bool {
        matches!(
            self,
            Self::Setup { error: SystemError::Ops(OpsError::OtherRank { .. }) }
                | Self::Elliptic { error: EllipticError::Operator(OpsError::OtherRank { .. }) }
        )
    }
}

impl InputError {
    /// A mistake at a place.
    pub fn at(place: &Place, problem: Problem) -> Self {
        Self { problem: Box::new(problem), place: Some(place.clone()), more: Vec::new() }
    }

    /// A mistake without a place in a text.
    pub fn nowhere(problem: Problem) -> Self {
        Self { problem: Box::new(problem), place: None, more: Vec::new() }
    }

    /// A value out of its range.
    pub fn range<T: fmt::Display>(what: &Located<T>, expected: impl Into<String>) -> Self {
        Self::at(
            &what.place,
            Problem::OutOfRange {
                key: what.key.clone(),
                value: what.value.to_string(),
                expected: expected.into(),
            },
        )
    }

    /// A formula that cannot be used; the place is the part of the formula with the mistake.
    pub fn formula(what: &Located<String>, error: FormulaError) -> Self {
        let place = what.place.part(&what.value, &error.span);
        Self::at(&place, Problem::Formula { key: what.key.clone(), error })
    }
}

impl InputError {
    /// Writes the message without those of further mistakes.
    pub(crate) fn write_own(&self, f: &mut impl fmt::Write) -> fmt::Result {
        write!(f, "{}", cut(&self.problem.to_string()))?;
        if let Some(place) = &self.place {
            write!(f, "\n --> {place}\n{}", place.excerpt())?;
        }
        if let Some(expected) = self.problem.expected() {
            write!(f, "\n  = {expected}")?;
        }
        if let Some(hint) = self.problem.hint() {
            write!(f, "\nhint: {hint}")?;
        }
        Ok(())
    }
}

impl fmt::Display for InputError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write_own(f)?;
        for other in &self.more {
            write!(f, "\n\nerror[{}]: {other}", other.problem.code())?;
        }
        if !self.more.is_empty() {
            write!(f, "\n\n{} mistakes in the file", 1 + self.more.len())?;
        }
        Ok(())
    }
}

impl std::error::Error for InputError {}
