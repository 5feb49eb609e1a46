//! Files that are written during a run: one file of this folder for each section of `output`.
//!
//! A file declares a [`Kind`]: the word and the keys of the pipeline file, how they are read (a [`Spec`]),
//! what they mean in a run ([`Resolved`]), and the open files of a run (a [`Writer`]). A new output is a new
//! file and its line in [`KINDS`].

pub mod averages;
pub mod checkpoint;
pub mod fields;
pub mod named;
mod pieces;
pub mod sampled;
pub mod schedule;
mod series;
pub mod shared;
pub mod surfaces;

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use dgsuite_timeint::TimePoint;

use self::fields::{FieldsPlan, FieldsSpec};
use self::named::{Elements, FieldSpec, OutputField};
use self::schedule::Schedule;
use crate::directory::Directory;
use crate::file::beginning::{Begin, Beginning, CONDITION};
use crate::file::every::Every;
use crate::file::expression::Constants;
use crate::file::keys::Absent::{Nothing, Required, Says};
use crate::file::keys::Kind::{List, Section as Of, Text};
use crate::file::keys::{FLOW, Kind as Values, Row, row};
use crate::file::node::Value;
use crate::file::problem::InputError;
use crate::file::problem::mistakes::{both, each};
use crate::file::section::Section;
use crate::file::source::{Located, Place};
use crate::models::variables::Variables;
use crate::monitors::MonitorError;
use crate::monitors::not_finite::NotFinite;
use dgsuite_output::checkpoint::{Checkpoint, Section as Stored};
use dgsuite_solve::RankMesh;
use dgsuite_solve::flow::{Flow, Setup};

/// All outputs, in the order in which they are written.
pub static KINDS: [&Kind; 4] = [&fields::OUTPUT, &surfaces::OUTPUT, &averages::OUTPUT, &checkpoint::OUTPUT];

const NAMES: Values = List("names of fields, or `Name: formula`", &[Text, Of]);

/// The keys of the whole section.
static KEYS: [Row; 2] = [
    row("output", &[Of], Nothing, "The results: where they are written, which, and when."),
    row(
        "output.directory",
        &[Text],
        Says("`out/` and the file's name"),
        "The directory of the results, relative to the pipeline file.",
    ),
];

/// The keys that several outputs have.
static SHARED: [Row; 2] = [
    row("output.{surfaces,averages}.names", &[NAMES], Says("as in `output.fields`"), "The fields.").of(FLOW),
    row(
        "output.{fields,surfaces,averages}.from.when",
        &[CONDITION],
        Required,
        "The condition that must hold once: a formula in `t`, `step` and columns of monitors, such as \
         `integral_energy` or `forces_cd`.",
    )
    .of(FLOW),
];

/// The keys of the section `output`.
pub fn keys() -> impl Iterator<Item = &'static Row> {
    KEYS.iter().chain(KINDS.iter().flat_map(|kind| kind.keys)).chain(series::KEYS).chain(&SHARED)
}

/// A kind of output.
pub struct Kind {
    /// The name of its section.
    pub name: &'static str,
    /// Its keys, that of the section first.
    pub keys: &'static [Row],
    /// Reads the section, whose keys are known.
    pub read: fn(&Section<'_>) -> Result<Arc<dyn Spec>, InputError>,
    /// What is written where the file does not mention it, in a case of a study, and if another run starts
    /// from the last state.
    pub usual: fn(bool, bool) -> Option<Arc<dyn Spec>>,
    /// Whether each of its times leaves a file.
    pub writes_files: bool,
    /// Whether it needs the files of all before it on the disk, and stores what they know. Then it is written
    /// at the ends of steps only.
    pub after_all: bool,
}

impl fmt::Debug for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

/// An output as written.
pub trait Spec: fmt::Debug + Send + Sync {
    /// Resolves names and formulas.
    ///
    /// # Errors
    /// Unknown names, formulas that do not parse.
    fn resolve(&self, context: &Context<'_>) -> Result<Resolved, InputError>;

    /// From when on it is written.
    fn from(&self) -> Option<&Beginning> {
        None
    }

    /// Whether it needs a time between its beginning and the end of the run.
    fn is_mean(&self) -> bool {
        false
    }

    /// How many numbers it keeps for each point, if fields by their names have as many as the function says.
    fn kept(&self, numbers: &dyn Fn(Option<&[FieldSpec]>) -> usize) -> usize {
        let _ = numbers;
        0
    }

    /// Keys that the program chooses, where the file has none, if means are computed from samples that are at
    /// most so many steps apart.
    fn chosen(&self, most: usize) -> Option<(&'static str, Every)> {
        let _ = most;
        None
    }
}

/// What names mean in this run.
#[derive(Clone, Copy)]
pub struct Context<'a> {
    /// The variables of the law.
    pub variables: &'a Variables,
    /// The constants of the file.
    pub constants: &'a Constants,
    /// The mesh.
    pub mesh: &'a RankMesh,
    /// Whether the scheme has a limiter.
    pub limited: bool,
    /// The largest number of steps between two samples of means, by default.
    pub most: usize,
    /// The fields of the run, unless they have mistakes.
    pub fields: Option<&'a FieldsPlan>,
}

impl Context<'_> {
    /// Compiles fields that have values at points.
    fn at_points(&self, names: Option<&[FieldSpec]>) -> Result<Vec<OutputField>, InputError> {
        named::resolve(names, self.variables, self.constants, Elements::PointsOnly)
    }
}

/// An output, resolved.
pub struct Resolved {
    /// When it is written, beside the end.
    pub every: Every,
    /// What is written, for the plan.
    pub about: String,
    /// Opens its files.
    pub open: Opener,
}

/// Opens the files of an output; errors are those of the file system, or results of another program.
pub type Opener = Box<dyn Fn(&Opening<'_>) -> Result<Box<dyn Writer>, MonitorError> + Send + Sync>;

/// Where and how files are opened.
pub struct Opening<'a> {
    /// The directory of this rank's results.
    pub directory: Directory,
    /// The directory of rank 0, into which all ranks write.
    pub shared: &'a Path,
    /// The fields of the run, and how they are written.
    pub fields: &'a FieldsPlan,
    /// The parameters of the solver.
    pub setup: &'a Setup,
    /// The digest of the mesh.
    pub mesh_digest: u64,
    /// The start of this run.
    pub now: TimePoint,
    /// The checkpoint that the run continues.
    pub saved: Option<&'a Checkpoint>,
    /// Whether the run continues the results in the directory.
    pub continues: bool,
    /// From when on the output is written.
    pub from: Begin,
    /// Whether that is over.
    pub begun: bool,
    /// Where values that are not finite are reported.
    pub not_finite: NotFinite,
}

impl Opening<'_> {
    /// The order of the lattices of the cells.
    pub fn lattice_order(&self) -> usize {
        sampled::lattice_order(self.setup.order, self.setup.mesh.max_order())
    }
}

/// What stands at a time of the run.
pub struct At {
    /// Time and step.
    pub now: TimePoint,
    /// Whether this is between two steps.
    pub between: bool,
    /// Whether the run ends here.
    pub end: bool,
    /// Whether the run ends here, or starts and does not continue another one.
    pub always: bool,
    /// Whether the output has begun.
    pub begun: bool,
    /// Whether it begins just now.
    pub begins: bool,
}

/// An output with its files open.
pub trait Writer {
    /// Its times.
    fn schedule(&mut self) -> &mut Schedule;

    /// Whether something is to be written; moves on to the next time.
    fn wanted(&mut self, at: &At) -> bool {
        let due = match at.between {
            true => self.schedule().due_between(at.now),
            false => self.schedule().due(at.now),
        };
        at.begins || (due || at.always) && at.begun || at.end
    }

    /// Writes; `stored` is what the run and the outputs before this one know, beside the solution.
    ///
    /// # Errors
    /// The errors of the solver and of the file system.
    fn write(&mut self, solver: &mut Flow, at: &At, stored: Kept) -> Result<(), MonitorError>;

    /// Waits until all files are on the disk; at the end of a run nothing follows.
    ///
    /// # Errors
    /// The errors of the file system.
    fn flush(&mut self, last: bool) -> Result<(), MonitorError> {
        let _ = last;
        Ok(())
    }

    /// Sums over time for a checkpoint, with a section about them.
    fn sums(&self) -> Option<(Vec<f64>, Stored<'static>)> {
        None
    }

    /// The newest file from which a run can be continued.
    fn latest(&self) -> Option<&PathBuf> {
        None
    }

    /// What is to be said in the log, once.
    fn news(&mut self) -> Option<String> {
        None
    }
}

/// What a checkpoint stores beside the solution.
#[derive(Default)]
pub struct Kept {
    /// Sums over time.
    pub averages: Vec<f64>,
    /// Sections.
    pub sections: Vec<Stored<'static>>,
}

/// The section `output` as written.
#[derive(Clone, Debug)]
pub struct OutputSpec {
    /// The directory, relative to the pipeline file.
    pub directory: Option<Located<PathBuf>>,
    /// Where it was written, if it was.
    pub place: Option<Place>,
    /// Which fields are written, and how; also those of a failed run.
    pub fields: FieldsSpec,
    /// What the file mentions: without a description the word `none`.
    written: Vec<(&'static Kind, Option<Arc<dyn Spec>>)>,
}

impl OutputSpec {
    /// Reads the section; all of it has defaults.
    ///
    /// # Errors
    /// Values of the wrong kind.
    pub fn read(top: &Section<'_>) -> Result<Self, InputError> {
        let (directory, place, fields, written) = (None, None, FieldsSpec::default(), Vec::new());
        let mut spec = Self { directory, place, fields, written };
        let Some(section) = top.section("output")? else { return Ok(spec) };
        let directory = section.text("directory")?;
        if let Some(nothing) = directory.as_ref().filter(|d| d.value.is_empty()) {
            return Err(InputError::range(&nothing.with("empty"), "the path of a directory"));
        }
        spec.directory = directory.map(|d| d.with(PathBuf::from(&d.value)));
        spec.place = Some(section.place().clone());
        for kind in KINDS {
            let may_be_none = kind.keys[0].words().contains(&"none");
            match section.node(kind.name).map(|node| &node.value) {
                Some(Value::Text(word)) if may_be_none && word == "none" => {
                    // Where nothing is written by itself, the word changes nothing.
                    if (kind.usual)(false, false).is_some() {
                        spec.written.push((kind, None));
                    }
                }
                _ => {
                    if let Some(inner) = section.section(kind.name)? {
                        spec.written.push((kind, Some((kind.read)(&inner)?)));
                    }
                }
            }
        }
        if !spec.is_off(fields::OUTPUT.name)
            && let Some(inner) = section.section(fields::OUTPUT.name)?
        {
            spec.fields = FieldsSpec::read(&inner)?;
        }
        Ok(spec)
    }

    /// Whether the file says `none`.
    pub fn is_off(&self, name: &str) -> bool {
        self.written.iter().any(|(kind, spec)| kind.name == name && spec.is_none())
    }

    /// The outputs of the file.
    pub fn given(&self) -> impl Iterator<Item = (&'static Kind, &Arc<dyn Spec>)> {
        self.written.iter().filter_map(|(kind, spec)| Some((*kind, spec.as_ref()?)))
    }

    /// The outputs of a run, in a case of a study or not, and if another run starts from the last state.
    pub fn of_run(&self, case: bool, continued: bool) -> Vec<(&'static Kind, Arc<dyn Spec>)> {
        let wanted = KINDS.into_iter().filter_map(|kind| {
            let written = self.written.iter().find(|(of, _)| of.name == kind.name);
            let spec = written.map_or_else(|| (kind.usual)(case, continued), |(_, spec)| spec.clone());
            Some((kind, spec?))
        });
        wanted.collect()
    }
}

/// An output, resolved, with what all have.
pub struct OutputPlan {
    /// Its kind.
    pub kind: &'static Kind,
    /// What is written, and when.
    pub output: Resolved,
    /// From when on it is written.
    pub from: Begin,
    spec: Arc<dyn Spec>,
}

impl OutputPlan {
    /// Resolves from when on it is written, once monitors have names.
    ///
    /// # Errors
    /// Those of `read`.
    pub fn begin(
        &mut self,
        read: impl FnOnce(Option<&Beginning>) -> Result<Begin, InputError>,
    ) -> Result<(), InputError> {
        self.from = read(self.spec.from())?;
        Ok(())
    }
}

/// Resolves the fields of a run and all of its outputs.
///
/// # Errors
/// As [`Spec::resolve`].
pub fn resolve(
    spec: &OutputSpec,
    (case, continued): (bool, bool),
    context: &Context<'_>,
) -> Result<(FieldsPlan, Vec<OutputPlan>), InputError> {
    let fields = spec.fields.plan(context);
    let context = &Context { fields: fields.as_ref().ok(), ..*context };
    let outputs = spec.of_run(case, continued).into_iter().map(|(kind, spec)| {
        Ok(OutputPlan { kind, output: spec.resolve(context)?, from: Begin::START, spec })
    });
    let outputs = each(outputs);
    both(fields, outputs)
}
