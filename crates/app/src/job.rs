//! A run of either kind, in time or of an elliptic problem, as the program and its studies use it.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use dgsuite_mesh::Mesh;

use crate::pipeline::Document;
use crate::pipeline::expression::Constants;
use crate::pipeline::problem::InputError;
use crate::plan::elliptic::EllipticPlan;
use crate::plan::values::KnownValues;
use crate::plan::{Choices, Plan};
use crate::run::elliptic::PreparedElliptic;
use crate::run::log::Log;
use crate::run::{Prepared, Report};
use crate::writer::WriterError;

/// A run that is ready to start.
pub enum Job {
    /// A run of a model in time.
    Flow(Box<Prepared>),
    /// An elliptic problem.
    Elliptic(Box<PreparedElliptic>),
}

/// Properties of a case that a study needs before the case runs.
pub struct Outline {
    /// The values that checks may name.
    pub known_values: KnownValues,
    /// The file's constants, with `order`.
    pub constants: Constants,
    /// The directory of the results.
    pub directory: PathBuf,
    /// Polynomial order.
    pub order: usize,
    /// Elements of the mesh.
    pub elements: usize,
    /// The device, as written in a pipeline file.
    pub device: String,
}

impl Outline {
    /// Makes the plan of a file.
    ///
    /// # Errors
    /// The first mistake found in the input.
    pub fn new(document: &Document, choices: &Choices) -> Result<Self, InputError> {
        if document.is_elliptic() {
            let plan = EllipticPlan::new(document, choices)?;
            return Ok(Self {
                known_values: plan.known_values,
                constants: plan.constants,
                directory: plan.directory,
                order: plan.setup.order,
                elements: plan.setup.mesh.n_elements(),
                device: plan.setup.device.to_string(),
            });
        }
        let plan = Plan::new(document, choices)?;
        Ok(Self {
            known_values: plan.known_values,
            constants: plan.constants,
            directory: plan.directory,
            order: plan.setup.order,
            elements: plan.setup.mesh.n_elements(),
            device: plan.setup.device.to_string(),
        })
    }
}

impl Job {
    /// Makes the plan and the solver.
    ///
    /// # Errors
    /// The first mistake found in the input; nothing has been written then.
    pub fn new(document: &Document, choices: &Choices) -> Result<Self, InputError> {
        choices.preparing.store(true, Ordering::SeqCst);
        let job = match document.is_elliptic() {
            true => Self::Elliptic(Box::new(PreparedElliptic::new(document, choices)?)),
            false => Self::Flow(Box::new(Prepared::new(document, choices)?)),
        };
        choices.preparing.store(false, Ordering::SeqCst);
        Ok(job)
    }

    /// Describes the plan in words.
    pub fn describe(&mut self) -> String {
        match self {
            Self::Flow(run) => run.describe(),
            Self::Elliptic(run) => run.describe(),
        }
    }

    /// Runs, writes results and the summary.
    ///
    /// # Errors
    /// Only if the summary cannot be written; every other failure is in the report.
    pub fn execute(&mut self, log: &mut Log) -> Result<Report, WriterError> {
        match self {
            Self::Flow(run) => run.execute(log),
            Self::Elliptic(run) => run.execute(log),
        }
    }

    /// The mesh.
    pub fn mesh(&self) -> &Arc<Mesh> {
        match self {
            Self::Flow(run) => &run.plan.setup.mesh,
            Self::Elliptic(run) => &run.plan.setup.mesh,
        }
    }

    /// Number of uniform refinements of the mesh.
    pub fn refine(&self) -> usize {
        match self {
            Self::Flow(run) => run.plan.refine,
            Self::Elliptic(run) => run.plan.refine,
        }
    }
}
