//! The kinds of models: how a pipeline file becomes a plan and a run.

use crate::file::keys::INCOMPRESSIBLE_FLOW;
use crate::file::problem::InputError;
use crate::pipeline::{Document, elliptic};
use crate::plan::elliptic::EllipticPlan;
use crate::plan::{Choices, Outline, Plan};
use crate::run::Run;
use crate::run::elliptic::EllipticRun;
use crate::run::flow::FlowRun;
use dgsuite_solve::flow::KernelChoice;

/// What the program does with the files of one kind of model. A further kind is a constant of this type, and
/// what its functions return.
pub(crate) struct Kind {
    /// Makes the plan of a file, and returns what all plans have.
    plan: fn(&Document, &Choices) -> Result<Outline, InputError>,
    /// Makes the plan and the solver.
    run: fn(&Document, &Choices) -> Result<Box<dyn Run>, InputError>,
}

/// Models that march in time.
const FLOW: Kind = Kind {
    plan: |document, choices| Ok(Plan::new(document, choices)?.outline),
    run: |document, choices| Ok(Box::new(FlowRun::new(document, choices)?)),
};

/// Elliptic problems: one linear system.
const ELLIPTIC: Kind = Kind {
    plan: |document, choices| Ok(EllipticPlan::new(document, choices)?.outline),
    run: |document, choices| Ok(Box::new(EllipticRun::new(document, choices)?)),
};

impl Kind {
    /// The kind of a file's model.
    pub(crate) fn of(document: &Document) -> &'static Self {
        if document.is_elliptic() { &ELLIPTIC } else { &FLOW }
    }

    /// Makes the plan of a file.
    ///
    /// # Errors
    /// The mistakes in the input.
    pub(crate) fn plan(&self, document: &Document, choices: &Choices) -> Result<Outline, InputError> {
        (self.plan)(document, choices)
    }

    /// Makes the plan and the solver.
    ///
    /// # Errors
    /// The mistakes in the input; nothing has been written then.
    pub(crate) fn run(&self, document: &Document, choices: &Choices) -> Result<Box<dyn Run>, InputError> {
        (self.run)(document, choices)
    }

    /// The kernels that a GPU runs or would run; none if this kind has no choice of them.
    ///
    /// # Errors
    /// As for [`run`](Self::run).
    pub(crate) fn forecast(
        &self,
        document: &Document,
        choices: &Choices,
    ) -> Result<Vec<KernelChoice>, InputError> {
        match document.model().as_deref() {
            // Their solvers take long to set up, and a GPU has no choice of kernels for them.
            Some(elliptic::MODEL | INCOMPRESSIBLE_FLOW) => Ok(Vec::new()),
            _ => Ok(self.run(document, choices)?.forecast(&mut String::new())),
        }
    }
}
