//! Newton steps at lower orders before those of the run, each from the flow of the order before.

use serde_json::{Value, json};

use super::beside::plan_with;
use crate::file::problem::InputError;
use crate::pipeline::Document;
use crate::plan::{Choices, Plan};
use crate::run::RunError;
use crate::run::log::Log;
use dgsuite_solve::flow::Flow;
use dgsuite_timeint::{Patience, Steady, Tolerance, Verdict};

/// The residual at which the next order follows, relative to that of the initial state.
const TOLERANCE: f64 = 1e-2;
/// The largest number of steps of an order.
const MOST: u64 = 60;

/// The plans of the lower orders; none for a run that is continued.
pub(super) struct LowerOrders {
    plans: Vec<Plan>,
}

impl LowerOrders {
    /// Collective.
    ///
    /// # Errors
    /// Mistakes that only a lower order leads to.
    pub(super) fn new(document: &Document, choices: &Choices, plan: &Plan) -> Result<Self, InputError> {
        if plan.restart.is_some() {
            return Ok(Self { plans: Vec::new() });
        }
        let at = |order: usize| plan_with(document, choices, plan, &format!("space.order={order}"));
        Ok(Self { plans: plan.lower_orders.clone().map(at).collect::<Result<_, _>>()? })
    }

    /// Finds the flow at each order and makes the last one the start of the run. Returns the residuals of the
    /// state with which the run would have begun, to which others are relative. A lower order that finds no
    /// flow is left as it is, with a note. `found` has what each order took, for the summary. Collective.
    ///
    /// # Errors
    /// Those of the solver of the run, and of set-ups.
    pub(super) fn find(
        &self,
        solver: &mut Flow,
        log: &mut Log,
        found: &mut Vec<Value>,
    ) -> Result<Option<Vec<f64>>, RunError> {
        if self.plans.is_empty() {
            return Ok(None);
        }
        let first = solver.residual()?;
        let mut before: Option<Flow> = None;
        for plan in &self.plans {
            let order = plan.setup.order;
            let mut flow = Flow::new(plan.setup.clone(), plan.initial.as_ref(), solver.time())?;
            let mut steady = Steady::new(Tolerance::Largest(TOLERANCE), Patience::default());
            steady.observe(0, &flow.residual()?);
            if let Some(before) = &before {
                flow.continue_from(before)?;
            }
            let (mut steps, mut iterations) = (0, 0);
            let ratio = loop {
                match steady.observe(steps, &flow.residual()?) {
                    Verdict::Continue { .. } if steps < MOST => {
                        iterations += flow.newton_step()?.iterations;
                        steps += 1;
                    }
                    Verdict::Continue { ratio }
                    | Verdict::Converged { ratio }
                    | Verdict::Rounding { ratio }
                    | Verdict::Stagnated { best: ratio, .. } => break ratio,
                    Verdict::Diverged { .. } => break f64::NAN,
                }
            };
            log.note(&format!(
                "order {order}: {steps} Newton steps to a residual of {ratio:.2e}, {iterations} linear iterations"
            ));
            found.push(
                json!({ "order": order, "steps": steps, "linear_iterations": iterations, "residual": ratio }),
            );
            if !ratio.is_finite() {
                break;
            }
            before = Some(flow);
        }
        if let Some(before) = &before {
            solver.continue_from(before)?;
        }
        Ok(Some(first))
    }
}
