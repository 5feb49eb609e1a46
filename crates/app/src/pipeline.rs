//! The pipeline file as written: parsed, overridden and typed, but not yet checked against a mesh.
//!
//! Text → [`Node`] (a tree with the place of each value) → overrides → [`Pipeline`] (typed sections). What
//! the file *means*, with its mesh read and all names resolved, is a [`Plan`](crate::plan::Plan).
//!
//! The keys, their types and defaults are in one table, [`keys`]; `dgsuite keys` prints it.

pub mod checks;
pub mod closure;
pub mod elliptic;
pub mod incompressible;
pub mod keys;
pub mod mesh;
pub mod overrides;
pub mod physics;
pub mod references;
mod repair;
pub mod space;
pub mod study;
mod tables;
pub mod time;
pub mod top;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use self::checks::CheckSpec;

use self::mesh::MeshSpec;
use self::overrides::Override;
use self::physics::{Model, PhysicsSpec};
use self::references::ReferenceSpec;
use self::space::SpaceSpec;
use self::study::StudySpec;
use self::time::TimeSpec;
pub use self::top::DeviceSpec;
use self::top::{THREADS, TITLE};
use crate::conditions::BoundarySpec;
use crate::file::expression::Constants;
use crate::file::node::{Node, Value};
use crate::file::problem::{InputError, Problem};
use crate::file::section::Section;
use crate::file::source::{Place, Source};
use crate::models::state::InitialSpec;
use crate::monitors::MonitorSpec;
use crate::outputs::OutputSpec;
use dgsuite_solve::flow::Precision;
use dgsuite_solve::incompressible::{Incompressible, Subcycling};

/// A pipeline file with its overrides applied.
#[derive(Clone, Debug)]
pub struct Document {
    /// The tree that the sections are read from.
    pub root: Node,
    /// The directory that paths in the file are relative to.
    pub base: PathBuf,
    /// The file's name without its extension: the default name of the results.
    pub stem: String,
}

/// The file's sections, typed.
#[derive(Clone, Debug)]
pub struct Pipeline {
    /// Free text.
    pub title: String,
    /// Names for expressions.
    pub constants: Constants,
    /// The mesh.
    pub mesh: MeshSpec,
    /// The model.
    pub physics: PhysicsSpec,
    /// The discretisation.
    pub space: SpaceSpec,
    /// The initial state.
    pub initial: InitialSpec,
    /// Boundary conditions.
    pub boundaries: Vec<BoundarySpec>,
    /// Time stepping.
    pub time: TimeSpec,
    /// The parameters of incompressible flow, for this model only.
    pub incompressible: Option<Incompressible>,
    /// Arithmetic of the solution.
    pub precision: Precision,
    /// CPU threads, 0 for all.
    pub threads: usize,
    /// The device on which to run.
    pub device: DeviceSpec,
    /// Results.
    pub output: OutputSpec,
    /// Numbers recorded during the run.
    pub monitors: Vec<MonitorSpec>,
    /// The checks: limits that results must keep.
    pub checks: Vec<CheckSpec>,
    /// Published values for the report.
    pub references: Vec<ReferenceSpec>,
    /// The study, if there is one.
    pub study: Option<StudySpec>,
    /// Where the file starts.
    pub place: Place,
    /// The directory that paths in the file are relative to.
    pub base: PathBuf,
    /// The default name of the results.
    pub stem: String,
}

/// Files of these programs that users give in place of a pipeline file, with what to do instead.
const OTHER_FILES: [(&str, &str, &str); 6] = [
    (
        "msh",
        "a mesh",
        "`dgsuite init MODEL --mesh FILE` writes a pipeline file for it; a pipeline names it in `mesh.file`",
    ),
    (
        "geo",
        "a geometry of Gmsh",
        "`gmsh FILE -2 -o MESH.msh` (or -3) makes a mesh of it, which a pipeline names in `mesh.file`",
    ),
    ("dgs", "a checkpoint", "`dgsuite run PIPELINE --restart FILE` continues from it"),
    ("vtu", "a file of fields", "`dgsuite picture DIRECTORY` draws the fields of a run"),
    ("pvd", "a list of fields", "`dgsuite picture DIRECTORY` draws the fields of a run"),
    ("vtkhdf", "a file of fields", "`dgsuite picture DIRECTORY` draws the fields of a run"),
];

/// Refuses a file whose name says that it is no pipeline file.
fn not_another_file(path: &Path) -> Result<(), InputError> {
    let extension = path.extension().map(|extension| extension.to_string_lossy().to_lowercase());
    let other = OTHER_FILES.iter().find(|(known, ..)| extension.as_deref() == Some(known));
    match other.filter(|_| path.is_file()) {
        Some(&(_, what, instead)) => {
            Err(InputError::nowhere(Problem::OtherFile { path: path.to_owned(), what, instead }))
        }
        None => Ok(()),
    }
}

impl Document {
    /// Reads a file and applies its `ci` block (if `ci`), then the overrides of the command line.
    ///
    /// # Errors
    /// A file that cannot be read or is not YAML; overrides that lead nowhere.
    pub fn read(path: &Path, ci: bool, overrides: &[Override]) -> Result<Self, InputError> {
        not_another_file(path)?;
        let text = crate::file::source::read_text(path)
            .map_err(|reason| InputError::nowhere(Problem::Unreadable { path: path.to_owned(), reason }))?;
        let source = Source::new(path.display().to_string(), text);
        let base = path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new(""));
        let stem = path.file_stem().map_or("run".into(), |s| s.to_string_lossy().into_owned());
        Self::parse(&source, base, &stem, ci, overrides)
    }

    /// Does the same as [`Self::read`] with a text in memory.
    ///
    /// # Errors
    /// As [`Self::read`].
    pub fn parse(
        source: &Arc<Source>,
        base: &Path,
        stem: &str,
        ci: bool,
        overrides: &[Override],
    ) -> Result<Self, InputError> {
        keys::install();
        let mut root = Node::parse(source)?;
        let (sets, checks) = ci_block(&root)?;
        if let Value::Map(entries) = &mut root.value {
            entries.retain(|e| e.key != "ci");
        }
        if ci {
            change(&mut root, &sets)?;
            change(&mut root, &checks)?;
        }
        change(&mut root, overrides)?;
        Ok(Self { root, base: base.to_owned(), stem: stem.to_owned() })
    }

    /// This file with further overrides and without its study: one case of it.
    ///
    /// # Errors
    /// Overrides that lead nowhere.
    pub fn case(&self, overrides: &[Override]) -> Result<Self, InputError> {
        let mut case = self.clone();
        if let Value::Map(entries) = &mut case.root.value {
            entries.retain(|e| e.key != "study");
        }
        change(&mut case.root, overrides)?;
        Ok(case)
    }

    /// The sections, typed, of a model in time or of an elliptic problem.
    ///
    /// # Errors
    /// As [`Self::pipeline`].
    pub fn sections(&self) -> Result<Sections, InputError> {
        Ok(match self.is_elliptic() {
            true => Sections::Elliptic(Box::new(self.elliptic()?)),
            false => Sections::Flow(Box::new(self.pipeline()?)),
        })
    }

    /// The sections of a model in time, typed; those of an elliptic problem are read by [`Self::elliptic`].
    ///
    /// # Errors
    /// The first mistake that is found, an unknown key, a value of the wrong type or out of its range, with
    /// all further ones that do not follow from it.
    pub fn pipeline(&self) -> Result<Pipeline, InputError> {
        self.read_flow()
            .map_err(|first| repair::with_others(self, first, |document| document.read_flow().map(drop)))
    }

    fn read_flow(&self) -> Result<Pipeline, InputError> {
        // An unknown key of the top level is reported first, because a misspelt section would also be
        // missing.
        Section::file(&self.root, &Constants::default())?;
        let constants = Constants::read(self.root.get("constants"))?;
        let constants = constants.clone().with_tables(&Section::file(&self.root, &constants)?, &self.base)?;
        let top = Section::file(&self.root, &constants)?;
        let device = DeviceSpec::read(&top)?;
        let physics = PhysicsSpec::read(&top)?;
        let model = physics.model.name();
        // All sections except `physics`, which defines them, can use the names of a reference state.
        let constants = match &physics.reference {
            Some(state) => state.extend(&constants, &physics.place)?,
            None => constants,
        };
        let top = Section::file(&self.root, &constants)?;
        top.of_model(model)?;
        let space = SpaceSpec::read(&top, model)?;
        let incompressible = match physics.model {
            Model::Incompressible { viscosity, .. } => Some(incompressible::read(&top, viscosity)?),
            _ => None,
        };
        let follow = |law: &Incompressible| matches!(law.subcycles, Some(Subcycling::Cfl(_)));
        let follow = incompressible.as_ref().is_some_and(follow);
        let time = TimeSpec::read(&top, model, space.limiting.is_some(), follow)?;
        let of_preconditioner = incompressible.as_ref().map(|_| "`solver.pressure.inner_precision`");
        let precision = top::precision(&top, of_preconditioner)?;
        let pipeline = Pipeline {
            title: TITLE.read(&top)?.map_or_else(|| self.stem.clone(), |t| t.value),
            mesh: MeshSpec::read(&top)?,
            initial: InitialSpec::read(&top)?,
            boundaries: BoundarySpec::read_all(&top, model)?,
            precision,
            threads: THREADS.read(&top)?,
            device,
            output: OutputSpec::read(&top)?,
            monitors: MonitorSpec::read_all(&top, model)?,
            checks: CheckSpec::read_all(&top)?,
            references: ReferenceSpec::read_all(&top)?,
            study: StudySpec::read(&top)?,
            place: self.root.place.clone(),
            base: self.base.clone(),
            stem: self.stem.clone(),
            constants: constants.clone(),
            physics,
            space,
            time,
            incompressible,
        };
        let limited = |monitor: &(usize, &MonitorSpec)| monitor.1.spec.is_of_limiters();
        if let (None, Some((i, monitor))) =
            (pipeline.space.limiting, pipeline.monitors.iter().enumerate().find(limited))
        {
            let problem = Problem::Misplaced {
                key: format!("monitors.{i}.{}", monitor.kind.name),
                owner: "a scheme without limiter".to_owned(),
                belongs: "`space.shock: entropy-filter` and `space.limiter`".to_owned(),
            };
            return Err(InputError::at(&monitor.place, problem));
        }
        let with_order = constants.and("order", pipeline.space.order as f64);
        for check in &pipeline.checks {
            check.limit(&with_order)?;
        }
        Ok(pipeline)
    }
}

/// A file's sections by the kind of its model.
#[derive(Clone, Debug)]
pub enum Sections {
    /// A model in time.
    Flow(Box<Pipeline>),
    /// An elliptic problem.
    Elliptic(Box<elliptic::EllipticPipeline>),
}

impl Sections {
    /// Free text.
    pub fn title(&self) -> &str {
        match self {
            Self::Flow(file) => &file.title,
            Self::Elliptic(file) => &file.title,
        }
    }

    /// Names for expressions.
    pub fn constants(&self) -> &Constants {
        match self {
            Self::Flow(file) => &file.constants,
            Self::Elliptic(file) => &file.constants,
        }
    }

    /// The checks: limits that results must keep.
    pub fn checks(&self) -> &[CheckSpec] {
        match self {
            Self::Flow(file) => &file.checks,
            Self::Elliptic(file) => &file.checks,
        }
    }

    /// Published values for the report.
    pub fn references(&self) -> &[ReferenceSpec] {
        match self {
            Self::Flow(file) => &file.references,
            Self::Elliptic(file) => &file.references,
        }
    }

    /// The study, if there is one.
    pub fn study(&self) -> Option<&StudySpec> {
        match self {
            Self::Flow(file) => file.study.as_ref(),
            Self::Elliptic(file) => file.study.as_ref(),
        }
    }
}

/// Applies overrides. The block `ci` was read before them and cannot be changed by them.
fn change(root: &mut Node, overrides: &[Override]) -> Result<(), InputError> {
    if let Some(late) = overrides.iter().find(|item| item.path.first().is_some_and(|key| key == "ci")) {
        let (owner, belongs) =
            ("overrides".to_owned(), "the file; `--set` takes the keys themselves".to_owned());
        let key = late.path.join(".");
        return Err(InputError::at(&late.place, Problem::Misplaced { key, owner, belongs }));
    }
    overrides::apply(root, overrides)?;
    root.check_characters()
}

/// The overrides of the block `ci`: those of `set`, then the replaced `checks`.
fn ci_block(root: &Node) -> Result<(Vec<Override>, Vec<Override>), InputError> {
    if root.get("ci").is_none() {
        return Ok((Vec::new(), Vec::new()));
    }
    let none = Constants::default();
    let Some(section) = Section::file(root, &none)?.section("ci")? else {
        return Ok((Vec::new(), Vec::new()));
    };
    let sets = match section.section("set")? {
        Some(set) => set.entries().iter().map(Override::from_entry).collect::<Result<_, _>>()?,
        None => Vec::new(),
    };
    let checks = match section.entry("checks") {
        Some(entry) => vec![Override::new("checks", &entry.place, &entry.node)?],
        None => Vec::new(),
    };
    Ok((sets, checks))
}

impl Pipeline {
    /// A path of the file, resolved against the file's directory.
    pub fn resolve(&self, path: &Path) -> PathBuf {
        self.base.join(path)
    }
}
