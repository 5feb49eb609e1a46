//! The condition `outflow`: the outer state is the inner one; of incompressible flow an open boundary.

use std::sync::Arc;

use super::{Condition, ConditionKind, OfModel, On, Resolved};
use crate::file::keys::Absent::{Says, Value};
use crate::file::keys::Kind::Words;
use crate::file::keys::{FLOW, INCOMPRESSIBLE, INCOMPRESSIBLE_FLOW, POSITIVE, row};
use crate::file::problem::InputError;
use crate::file::section::Section;
use crate::file::source::Located;
use crate::models::scalars::OnBoundary;
use crate::models::state::StateSpec;
use dgsuite_solve::flow::BoundaryKind;
use dgsuite_solve::incompressible::Backflow;
use dgsuite_solve::post::slow_outflow;

pub(super) const CONDITION: ConditionKind = ConditionKind {
    name: "outflow",
    models: FLOW,
    // Those of an exact solution stand in `given_state.rs`.
    keys: &[
    row(
        "boundaries.<name>.kind",
        &[Words(&["dong", "do-nothing"])],
        Value("dong"),
        "The condition on an outflow without `exact`: ∂u/∂n = 0, and p = 0 or, with `dong`, p = −½|u|² where \
         the flow enters, so that backflow cannot make the energy grow.",
    )
    .of(INCOMPRESSIBLE)
    .with(&["outflow"]),
    row(
        "boundaries.<name>.velocity",
        &[POSITIVE],
        Says("the root mean square of the flow's velocity over the domain, in each step"),
        "With `dong`, the velocity U₀ of the step between inflow and outflow, \
         p = −½|u|² ½(1 − tanh(n·u/(U₀ δ))). Not beside `exact`.",
    )
    .of(INCOMPRESSIBLE)
    .with(&["outflow"]),
    row(
        "boundaries.<name>.delta",
        &[POSITIVE],
        Value("0.05"),
        "With `dong`, the width δ of the step between inflow and outflow, relative to `velocity`. Not beside \
         `exact`.",
    )
    .of(INCOMPRESSIBLE)
    .with(&["outflow"]),
    ],
    elsewhere: "",
    read: |section, of| match of.model {
        INCOMPRESSIBLE_FLOW => open(section, of),
        _ => Ok(Arc::new(Outflow)),
    },
};

/// The outer state is the inner one.
#[derive(Debug)]
struct Outflow;

impl Condition for Outflow {
    fn resolve(&self, on: &On<'_>) -> Result<Resolved, InputError> {
        let warnings = slow(on).into_iter().collect();
        Ok(Resolved { warnings, ..BoundaryKind::Outflow.into() })
    }
}

/// Warns if the flow through the boundary is not supersonic at the start, at the centres of its faces.
fn slow(on: &On<'_>) -> Option<String> {
    let (gas, start) = (on.states.variables.law().gas()?, on.start?);
    let (points, normals): (Vec<_>, Vec<_>) = on.outward_normals().unzip();
    let mut values = vec![Vec::new(); start.n_fields()];
    start.eval(0.0, &points, &mut values);
    on.states.variables.to_primitive(&mut values);
    let slowest = slow_outflow::slowest(gas, &points, &normals, &values)?;
    Some(slowest.warning(&on.name.value, "at the start", on.mesh.dim()))
}

/// An open boundary of incompressible flow.
#[derive(Debug)]
struct Open {
    /// How the pressure is reduced where the flow enters.
    backflow: Option<Backflow>,
    /// The solution whose pressure and normal derivative of the velocity are imposed.
    exact: Option<StateSpec>,
}

fn open(section: &Section<'_>, of: OfModel<'_>) -> Result<Arc<dyn Condition>, InputError> {
    let kind = section.choice("kind", &[("dong", true), ("do-nothing", false)])?;
    let dong = kind.is_none_or(|kind| kind.value);
    let mut backflow = Backflow::default();
    let exact = match section.has("exact") {
        true => Some(StateSpec::read(section, &["type", "kind"])?),
        // Without a solution there are no parameters, whose names would be free.
        false => {
            let scales: &[&str] = if dong { &["velocity", "delta"] } else { &[] };
            let names: Vec<&str> = of.scalars.iter().map(String::as_str).collect();
            section.only(&[&["type", "kind", "exact"], scales, &names].concat())?;
            backflow.velocity = section.positive("velocity")?.map(|given| given.value);
            backflow.delta = section.positive("delta")?.map_or(backflow.delta, |given| given.value);
            None
        }
    };
    Ok(Arc::new(Open { backflow: dong.then_some(backflow), exact }))
}

impl Condition for Open {
    fn resolve(&self, on: &On<'_>) -> Result<Resolved, InputError> {
        let data = self.exact.as_ref().map(|state| on.state(state)).transpose()?;
        Ok(BoundaryKind::Open { backflow: self.backflow, data }.into())
    }

    fn formulas(&self) -> Vec<&Located<String>> {
        self.exact.iter().flat_map(StateSpec::formulas).collect()
    }

    fn scalars(&self, section: &Section<'_>, names: &[String]) -> Result<Vec<OnBoundary>, InputError> {
        match &self.exact {
            // A prescribed state has all unknowns.
            Some(_) => Ok(Vec::new()),
            None => OnBoundary::read_entering(section, "outflow", names),
        }
    }
}
