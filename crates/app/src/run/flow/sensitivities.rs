//! Derivatives of forces at a steady state with respect to constants of the file.
//!
//! With `R(u, α) = 0` the state changes with a constant α by `w = du/dα`, where `−R′(u) w = ∂R/∂α`. The
//! derivative of a force is that along the line `(u + s w, α + s)`:
//!
//! ```text
//! dF/dα = ∂F/∂u w + ∂F/∂α = (F(u + h w, α + h) − F(u − h w, α − h)) / 2h + O(h²)
//! ```
//!
//! `∂R/∂α` is the same difference of the rates of the state `u` in set-ups with `α ± h`, which know all that
//! depends on the constant: boundary states, fluxes, viscosity, sources, directions and scales of forces.

use serde_json::{Map, Value, json};

use super::beside::plan_with;
use crate::file::problem::{InputError, Problem};
use crate::file::source::Located;
use crate::monitors::Values;
use crate::pipeline::Document;
use crate::plan::{Choices, Plan};
use crate::run::RunError;
use crate::run::log::Log;
use dgsuite_solve::flow::{Flow, Setup};

/// The change of a constant, relative to its size: the error of a central difference, of the size of its
/// square, is below 1e-9, and that of rounding, 1e-16 over it, too.
const CHANGE: f64 = 1e-5;

/// A constant, and the plans with more and less of it.
pub(super) struct Varied {
    name: String,
    change: f64,
    plans: [Plan; 2],
}

impl Varied {
    /// Those of all constants that a file names. Collective.
    ///
    /// # Errors
    /// A constant on which the mesh depends, and mistakes that only other values of a constant lead to.
    pub(super) fn all(document: &Document, choices: &Choices, plan: &Plan) -> Result<Vec<Self>, InputError> {
        plan.sensitivities.iter().map(|name| Self::new(document, choices, plan, name)).collect()
    }

    fn new(
        document: &Document,
        choices: &Choices,
        plan: &Plan,
        name: &Located<String>,
    ) -> Result<Self, InputError> {
        let known = plan.outline.constants.values().iter().find(|(of, _)| *of == name.value);
        let value = known.map_or(0.0, |(_, value)| *value);
        let change = if value == 0.0 { CHANGE } else { CHANGE * value.abs() };
        let beside = |value: f64| -> Result<Plan, InputError> {
            let other = plan_with(document, choices, plan, &format!("constants.{}={value:?}", name.value))?;
            if other.outline.mesh_digest != plan.outline.mesh_digest {
                let instead = format!(
                    "the mesh depends on `{0}`: two runs with other values of `constants.{0}` show its effect",
                    name.value
                );
                let (key, value) = (name.key.clone(), name.value.clone());
                return Err(InputError::at(&name.place, Problem::Unsupported { key, value, instead }));
            }
            Ok(other)
        };
        let plans = [beside(value + change)?, beside(value - change)?];
        Ok(Self { name: name.value.clone(), change, plans })
    }

    /// Computes the derivatives at the steady state of a solver and puts them beside the forces. Collective.
    ///
    /// # Errors
    /// Those of the solvers.
    pub(super) fn put(
        &self,
        plan: &Plan,
        solver: &mut Flow,
        values: &mut Values,
        log: &mut Log,
    ) -> Result<(), RunError> {
        let state = solver.own_coefficients();
        let mut sides = Vec::new();
        for side in &self.plans {
            let setup = Setup { newton: None, ..side.setup.clone() };
            let mut flow = Flow::new(setup, side.initial.as_ref(), solver.time())?;
            flow.set_own_coefficients(&state)?;
            sides.push(flow);
        }
        let [more, less] = &mut sides[..] else { return Ok(()) };
        let scale = 0.5 / self.change;
        let (above, below) = (more.own_rate()?, less.own_rate()?);
        let rate: Vec<f64> = above.iter().zip(&below).map(|(a, b)| scale * (a - b)).collect();
        let found = solver.response(&rate)?;
        let (name, iterations, residual) = (&self.name, found.iterations, found.residual);
        if !found.is_solved() {
            log.warn(&format!(
                "warning: no derivatives by {name}: their linear problem has a residual of {residual:.1e} after \
                 {iterations} iterations"
            ));
            return Ok(());
        }
        log.note(&format!("derivatives by {name}: {iterations} linear iterations"));
        for (flow, sign) in [(&mut *more, self.change), (&mut *less, -self.change)] {
            let moved: Vec<f64> = state.iter().zip(&found.change).map(|(u, w)| u + sign * w).collect();
            flow.set_own_coefficients(&moved)?;
        }
        for i in 0..plan.monitors.len() {
            let [a, b] = [0, 1].map(|side| &self.plans[side].monitors[i].monitor);
            let (Some((path, a)), Some((_, b))) = (a.forces(more)?, b.forces(less)?) else { continue };
            let [section, on] = &path;
            let derivatives: Map<String, Value> =
                a.iter().zip(b.values()).map(|((of, a), b)| (of.clone(), slope(a, b, scale))).collect();
            values.put(&[section, on, "sensitivities", name], derivatives);
        }
        Ok(())
    }
}

/// The difference of numbers, or of lists of them, times a factor.
fn slope(a: &Value, b: &Value, scale: f64) -> Value {
    match (a, b) {
        (Value::Array(a), Value::Array(b)) => a.iter().zip(b).map(|(a, b)| slope(a, b, scale)).collect(),
        _ => json!(a.as_f64().zip(b.as_f64()).map(|(a, b)| scale * (a - b))),
    }
}
