//! The sections of a file with `physics.model: poisson`: a problem without time, and a linear solver.

pub mod boundaries;
pub mod physics;
pub mod solver;
pub mod space;

use dgsuite_solve::elliptic::SolverOptions;
use std::path::{Path, PathBuf};

use self::boundaries::BoundarySpec;
use self::physics::PoissonSpec;
use self::space::SipdgSpec;
use super::checks::CheckSpec;
use super::mesh::MeshSpec;
use super::references::ReferenceSpec;
use super::study::StudySpec;
use super::top::{DeviceSpec, THREADS, TITLE, precision};
use super::{Document, repair};
use crate::file::expression::Constants;
use crate::file::problem::InputError;
use crate::file::section::Section;
use crate::file::source::Place;
use crate::outputs::OutputSpec;

/// The word of the model.
pub const MODEL: &str = "poisson";

/// The owner that errors name.
const OWNER: &str = "the model poisson";

/// A file for an elliptic problem, typed.
#[derive(Clone, Debug)]
pub struct EllipticPipeline {
    /// Free text.
    pub title: String,
    /// Names for expressions.
    pub constants: Constants,
    /// The mesh.
    pub mesh: MeshSpec,
    /// Coefficients, right-hand side, exact solution.
    pub physics: PoissonSpec,
    /// The discretisation.
    pub space: SipdgSpec,
    /// Boundary conditions.
    pub boundaries: Vec<BoundarySpec>,
    /// The linear solver.
    pub solver: SolverOptions,
    /// CPU threads, 0 for all.
    pub threads: usize,
    /// The device on which to run.
    pub device: DeviceSpec,
    /// Results.
    pub output: OutputSpec,
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

impl Document {
    /// The word of the model, if it is a word.
    pub(crate) fn model(&self) -> Option<String> {
        self.root.get("physics")?.get("model")?.value.scalar_text()
    }

    /// Returns whether the file describes an elliptic problem.
    pub fn is_elliptic(&self) -> bool {
        self.model().as_deref() == Some(MODEL)
    }

    /// The sections of an elliptic problem, typed.
    ///
    /// # Errors
    /// The first mistake that is found, an unknown key, a key of the models in time, a value of the wrong
    /// type or out of its range, with all further ones that do not follow from it.
    pub fn elliptic(&self) -> Result<EllipticPipeline, InputError> {
        self.read_elliptic()
            .map_err(|first| repair::with_others(self, first, |document| document.read_elliptic().map(drop)))
    }

    fn read_elliptic(&self) -> Result<EllipticPipeline, InputError> {
        Section::file(&self.root, &Constants::default())?;
        let constants = Constants::read(self.root.get("constants"))?;
        let constants = constants.clone().with_tables(&Section::file(&self.root, &constants)?, &self.base)?;
        let top = Section::file(&self.root, &constants)?;
        without_time(&top)?;
        let physics = PoissonSpec::read(&top)?;
        let space = SipdgSpec::read(&top)?;
        let pipeline = EllipticPipeline {
            title: TITLE.read(&top)?.map_or_else(|| self.stem.clone(), |t| t.value),
            mesh: MeshSpec::read(&top)?,
            boundaries: BoundarySpec::read_all(&top, physics.exact.is_some())?,
            solver: solver::read(&top)?,
            threads: THREADS.read(&top)?,
            device: DeviceSpec::read(&top)?,
            output: output(&top)?,
            checks: CheckSpec::read_all(&top)?,
            references: ReferenceSpec::read_all(&top)?,
            study: StudySpec::read(&top)?,
            place: self.root.place.clone(),
            base: self.base.clone(),
            stem: self.stem.clone(),
            constants: constants.clone(),
            physics,
            space,
        };
        let with_order = constants.and("order", pipeline.space.order as f64);
        for check in &pipeline.checks {
            check.limit(&with_order)?;
        }
        Ok(pipeline)
    }
}

/// Rejects keys of the models in time.
fn without_time(top: &Section<'_>) -> Result<(), InputError> {
    let marching = "the models that march in time; poisson has no time, and its solver starts from 0";
    let recorded = "the models that march in time; the residuals of poisson are in monitors/residual.csv, and its errors \
                    against `physics.exact` in the summary";
    for (key, belongs) in [("initial", marching), ("time", marching), ("monitors", recorded)] {
        if top.has(key) {
            return Err(top.misplaced(key, OWNER, belongs));
        }
    }
    if let Some(study) = top.section("study")?.filter(|study| study.has("continued")) {
        return Err(study.misplaced("continued", OWNER, marching));
    }
    precision(top, Some("`solver.inner_precision`")).map(drop)
}

fn output(top: &Section<'_>) -> Result<OutputSpec, InputError> {
    let spec = OutputSpec::read(top)?;
    let belongs = "the models that march in time; poisson writes its solution once";
    if let Some(section) = top.section("output")? {
        for key in ["surfaces", "averages", "checkpoint"] {
            if section.has(key) {
                return Err(section.misplaced(key, OWNER, belongs));
            }
        }
        let is_section = section.node("fields").is_some_and(|node| node.value.scalar_text().is_none());
        if let Some(fields) = is_section.then(|| section.section("fields")).transpose()?.flatten() {
            for key in ["every", "every_steps"] {
                if fields.has(key) {
                    return Err(fields.misplaced(key, OWNER, belongs));
                }
            }
        }
    }
    Ok(spec)
}

impl EllipticPipeline {
    /// A path of the file, resolved against the file's directory.
    pub fn resolve(&self, path: &Path) -> PathBuf {
        self.base.join(path)
    }
}
