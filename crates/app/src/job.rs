//! A run of either kind, in time or of an elliptic problem, as the program and its studies use it.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use dgsuite_mesh::Mesh;
use dgsuite_ops::{OpsError, agree};

use crate::pipeline::Document;
use crate::pipeline::expression::Constants;
use crate::pipeline::node::Node;
use crate::pipeline::problem::{InputError, Problem};
use crate::plan::comparison::Comparison;
use crate::plan::elliptic::EllipticPlan;
use crate::plan::values::KnownValues;
use crate::plan::{Choices, Plan};
use crate::report::{self, Frame};
use crate::run::elliptic::PreparedElliptic;
use crate::run::log::Log;
use crate::run::{Prepared, Report};
use crate::systems::ROOT;
use crate::systems::hyperbolic::KernelChoice;
use crate::writer::{WriterError, atomic};

/// A run that is ready to start.
pub struct Job {
    run: Run,
    /// The command and the tables of published values, if there are some.
    frame: Option<Frame>,
}

enum Run {
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
    /// The file with every default written out.
    pub resolved: Node,
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
                resolved: plan.resolved,
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
            resolved: plan.resolved,
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
        if document.is_elliptic() {
            one_rank(choices, "elliptic problems")?;
        }
        let run = match document.is_elliptic() {
            true => Run::Elliptic(Box::new(PreparedElliptic::new(document, choices)?)),
            false => Run::Flow(Box::new(Prepared::new(document, choices)?)),
        };
        let (title, known, resolved) = match &run {
            Run::Flow(run) => (&run.plan.title, &run.plan.known_values, &run.plan.resolved),
            Run::Elliptic(run) => (&run.plan.title, &run.plan.known_values, &run.plan.resolved),
        };
        // The report of a study has all of its cases.
        let specs = match choices.case_of_study {
            true => Vec::new(),
            false => document.sections()?.references().to_vec(),
        };
        let comparisons = Comparison::all(&specs, &document.base, known, resolved)?;
        let frame = (!comparisons.is_empty()).then(|| Frame {
            title: title.clone(),
            setup: String::new(),
            command: choices.command.clone(),
            comparisons,
        });
        choices.preparing.store(false, Ordering::SeqCst);
        Ok(Self { run, frame })
    }

    /// Describes the plan in words.
    pub fn describe(&mut self) -> String {
        match &mut self.run {
            Run::Flow(run) => run.describe(),
            Run::Elliptic(run) => run.describe(),
        }
    }

    /// As [`describe`](Self::describe), with the kernels that a GPU runs or would run, if the model marches
    /// in time.
    pub fn describe_with_kernels(&mut self) -> (String, Vec<KernelChoice>) {
        let mut text = self.describe();
        let kernels = match &self.run {
            Run::Flow(run) => run.forecast(&mut text),
            Run::Elliptic(_) => Vec::new(),
        };
        (text, kernels)
    }

    /// Runs, writes results and the summary, and a report if there are published values to compare with.
    ///
    /// # Errors
    /// Only if the summary or the report cannot be written; every other failure is in the report.
    pub fn execute(&mut self, log: &mut Log) -> Result<Report, WriterError> {
        let setup = if self.frame.is_some() { self.describe() } else { String::new() };
        let report = match &mut self.run {
            Run::Flow(run) => run.execute(log),
            Run::Elliptic(run) => run.execute(log),
        }?;
        let writes = match &self.run {
            Run::Flow(run) => run.plan.setup.comm.rank() == ROOT,
            Run::Elliptic(_) => true,
        };
        if let Some(frame) = self.frame.as_mut().filter(|_| writes) {
            frame.setup = setup;
            let (directory, resolved) = match &self.run {
                Run::Flow(run) => (&run.plan.directory, &run.plan.resolved),
                Run::Elliptic(run) => (&run.plan.directory, &run.plan.resolved),
            };
            let case = report::Case { name: "", resolved, summary: &report.summary };
            atomic::write(&report::path(directory), report::markdown(frame, &[case], &report).as_bytes())?;
        }
        Ok(report)
    }

    /// The mesh.
    pub fn mesh(&self) -> &Arc<Mesh> {
        match &self.run {
            Run::Flow(run) => &run.plan.setup.mesh,
            Run::Elliptic(run) => &run.plan.setup.mesh,
        }
    }

    /// Number of uniform refinements of the mesh.
    pub fn refine(&self) -> usize {
        match &self.run {
            Run::Flow(run) => run.plan.refine,
            Run::Elliptic(run) => run.plan.refine,
        }
    }
}

/// Refuses what several ranks cannot do yet; one of them reports it.
///
/// # Errors
/// The refusal, or that another rank reports it.
pub(crate) fn one_rank(choices: &Choices, what: &'static str) -> Result<(), InputError> {
    let refused = || InputError::nowhere(Problem::Setup { error: OpsError::NotOnRanks { what }.into() });
    choices.comm.as_ref().map_or(Ok(()), |comm| agree(comm.as_ref(), Err(refused())))
}
