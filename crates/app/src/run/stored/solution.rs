//! The solution of a stored state, of any model.

use std::path::Path;
use std::sync::Arc;

use dgsuite_ops::Sample;

use super::fields::of_last_step;
use super::{ExportError, Fields};
use crate::file::problem::{InputError, Problem};
use crate::outputs::named::FieldSpec;
use crate::outputs::named::{Elements, resolve};
use crate::outputs::sampled::compute;
use crate::pipeline::Document;
use crate::plan::elliptic::{EllipticPlan, named_fields, usual_fields};
use crate::plan::{Choices, Outline, Plan};
use crate::run::elliptic::outputs;
use crate::run::shared;
use dgsuite_output::checkpoint::{self, Checkpoint};
use dgsuite_output::writer::CellBlock;
use dgsuite_solve::elliptic::{self, LAW, located};
use dgsuite_solve::flow::Flow;

/// A solution with the plan of its run.
pub(crate) trait Solution {
    /// What its plan has in common with those of other models.
    fn outline(&self) -> &Outline;

    /// Describes the state of a checkpoint in words.
    fn describe(&self, checkpoint: &str, time: f64, step: u64) -> String;

    /// Whether the run itself writes numbers of 64 bits.
    fn in_double(&self) -> bool;

    /// Compiles fields; without any, those that the run itself writes.
    ///
    /// # Errors
    /// Unknown names, formulas that do not parse, [`ExportError::NotStored`].
    fn fields(&self, specs: &[FieldSpec]) -> Result<Fields, ExportError>;

    /// Returns the solution on lattices of order `order`, with gradients if the fields need them.
    fn sample(&self, order: usize, gradients: bool) -> Vec<Sample>;

    /// Computes fields of this solution from samples, on cells of order `order`.
    fn compute(&self, samples: Vec<Sample>, order: usize, fields: &Fields) -> Vec<CellBlock>;

    /// The solver of a model in time, with the state.
    fn flow(&self) -> Option<&Flow> {
        None
    }
}

/// A solution, and the checkpoint that it is read from.
pub(crate) type Opened = (Checkpoint, Box<dyn Solution>);

/// The state of a model in time.
struct FlowState(Plan, Flow);

/// Opens the state of a model in time.
///
/// # Errors
/// As for [`Stored::open`](super::Stored::open).
pub(crate) fn flow(document: &Document, choices: &Choices, file: &Path) -> Result<Opened, ExportError> {
    let refused = |error: InputError| match *error.problem {
        Problem::Restart { error } => ExportError::Checkpoint(error),
        _ => error.into(),
    };
    let choices = Choices { restart: Some(file.to_owned()), ..choices.clone() };
    let plan = Plan::new(document, &choices).map_err(refused)?;
    let setup = |error| InputError::nowhere(Problem::Setup { error });
    let mut solver = Flow::new(plan.setup.clone(), plan.initial.as_ref(), 0.0).map_err(setup)?;
    let saved = plan.restart.as_ref().map(|(_, saved)| saved);
    let saved = saved.ok_or_else(|| ExportError::NoState { path: file.to_owned() })?.clone();
    shared::restore(&mut solver, &plan, true).map_err(refused)?;
    Ok((saved, Box::new(FlowState(plan, solver))))
}

impl Solution for FlowState {
    fn outline(&self) -> &Outline {
        &self.0.outline
    }

    fn describe(&self, checkpoint: &str, time: f64, step: u64) -> String {
        format!("{checkpoint}, t = {time}, step {step}")
    }

    fn in_double(&self) -> bool {
        self.0.fields.double
    }

    fn fields(&self, specs: &[FieldSpec]) -> Result<Fields, ExportError> {
        let plan = &self.0;
        if specs.is_empty() {
            return Ok(Fields::Flow(Arc::clone(&plan.fields.fields)));
        }
        let limited = Elements::Allowed { limited: plan.setup.limiting.is_some() };
        let fields = resolve(Some(specs), &plan.variables, &plan.outline.constants, limited)?;
        match fields.iter().find(|field| of_last_step(field)) {
            Some(field) => Err(ExportError::NotStored { name: field.name.clone() }),
            None => Ok(Fields::Flow(fields.into())),
        }
    }

    fn sample(&self, order: usize, gradients: bool) -> Vec<Sample> {
        self.1.conserved(order, gradients)
    }

    fn compute(&self, samples: Vec<Sample>, order: usize, fields: &Fields) -> Vec<CellBlock> {
        let (solver, Fields::Flow(fields)) = (&self.1, fields) else { return Vec::new() };
        let mut pieces = compute(solver, solver.primitive(samples), order, fields, false);
        let lost = |name: &str| fields.iter().any(|field| field.name == name && of_last_step(field));
        pieces.iter_mut().for_each(|piece| piece.cell_data.retain(|field| !lost(&field.name)));
        pieces
    }

    fn flow(&self) -> Option<&Flow> {
        Some(&self.1)
    }
}

/// The solution of an elliptic problem.
struct EllipticState(EllipticPlan, elliptic::Stored);

/// Opens the solution of an elliptic problem.
///
/// # Errors
/// As for [`Stored::open`](super::Stored::open).
pub(crate) fn elliptic(document: &Document, choices: &Choices, file: &Path) -> Result<Opened, ExportError> {
    let plan = EllipticPlan::new(document, choices)?;
    let saved = checkpoint::read(file, LAW, plan.outline.mesh_digest).map_err(ExportError::Checkpoint)?;
    let stored = elliptic::Stored::new(plan.setup.clone(), &saved.state)
        .map_err(|error| InputError::nowhere(Problem::Elliptic { error }))?
        .ok_or_else(|| ExportError::Order { path: file.to_owned(), order: plan.setup.order })?;
    Ok((saved, Box::new(EllipticState(plan, stored))))
}

impl Solution for EllipticState {
    fn outline(&self) -> &Outline {
        &self.0.outline
    }

    fn describe(&self, checkpoint: &str, _: f64, _: u64) -> String {
        format!("the solution in {checkpoint}")
    }

    fn in_double(&self) -> bool {
        self.0.fields.as_ref().is_some_and(|fields| fields.double)
    }

    fn fields(&self, specs: &[FieldSpec]) -> Result<Fields, ExportError> {
        let exact = self.0.exact.is_some();
        let fields = match (&self.0.fields, specs.is_empty()) {
            (Some(own), true) => own.fields.clone(),
            (None, true) => usual_fields(exact),
            (_, false) => named_fields(specs, &self.0.outline.constants, exact)?,
        };
        Ok(Fields::Elliptic(fields))
    }

    fn sample(&self, order: usize, _: bool) -> Vec<Sample> {
        self.1.sample(order)
    }

    fn compute(&self, samples: Vec<Sample>, order: usize, fields: &Fields) -> Vec<CellBlock> {
        let (plan, Fields::Elliptic(fields)) = (&self.0, fields) else { return Vec::new() };
        let block = |set| outputs::block(set, order, plan.exact.as_ref(), fields);
        located(samples, &plan.setup.mesh).into_iter().map(block).collect()
    }
}
