//! The condition `pressure-outlet`: the pressure outside a subsonic outlet.

use std::sync::Arc;

use super::numbers::{Building, COMPONENTS};
use super::{Condition, ConditionKind, On, Resolved};
use crate::file::keys::Absent::{Required, Says, Value};
use crate::file::keys::Kind::{Formula, Section as Keys};
use crate::file::keys::{
    FLUID, GAS, INCOMPRESSIBLE, INCOMPRESSIBLE_FLOW, POSITIVE, SPACE_TIME, STATE_TOO, row,
};
use crate::file::problem::InputError;
use crate::file::quantity::{Quantity, VectorQuantity};
use crate::file::section::Section;
use crate::file::source::Located;
use crate::models::scalars::OnBoundary;
use dgsuite_solve::flow::{BoundaryKind, Riemann};

pub(super) const CONDITION: ConditionKind = ConditionKind {
    name: "pressure-outlet",
    models: FLUID,
    keys: &[
    row(
        "boundaries.<name>.<scalar>",
        &[Formula(SPACE_TIME)],
        Says("the value inside"),
        "The temperature `T` or another scalar of fluid that enters, by its name.",
    )
    .of(INCOMPRESSIBLE)
    .with(&["pressure-outlet"]),
    row(
        "boundaries.<name>.p",
        &[POSITIVE, Formula(STATE_TOO)],
        Required,
        "The static pressure of gas that leaves, and the total pressure of gas that comes back.",
    )
        .of(GAS)
        .with(&["pressure-outlet"]),
    row(
        "boundaries.<name>.temperature",
        &[POSITIVE, Formula(STATE_TOO)],
        Says("that of the initial state there"),
        "The temperature of gas that comes back through the boundary, at rest; `p` is its total pressure.",
    )
    .of(GAS)
    .with(&["pressure-outlet"]),
    row(
        "boundaries.<name>.velocity",
        &[COMPONENTS, Keys],
        Says("that of the initial state there"),
        "The velocity of which gas that comes back has the part along the boundary: a list, or a section with \
         some components.",
    )
    .of(GAS)
    .with(&["pressure-outlet"]),
    row(
        "boundaries.<name>.velocity.{u,v,w}",
        &[Formula(SPACE_TIME)],
        Value("0"),
        "A component of this velocity.",
    )
    .of(GAS)
    .with(&["pressure-outlet"]),
    row("boundaries.<name>.p", &[Formula(SPACE_TIME)], Required, "The pressure on the boundary.")
        .of(INCOMPRESSIBLE)
        .with(&["pressure-outlet"]),
    ],
    elsewhere: "",
    read: |section, of| Ok(Arc::new(PressureOutlet::read(section, of.model)?)),
};

#[derive(Debug)]
struct PressureOutlet {
    p: Quantity,
    /// The temperature of gas that comes back; that of the start of the run if none is given.
    temperature: Option<Quantity>,
    /// A velocity of which gas that comes back has the part along the boundary; that of the start of the run
    /// if none is given.
    velocity: Option<VectorQuantity>,
}

impl PressureOutlet {
    fn read(section: &Section<'_>, model: &str) -> Result<Self, InputError> {
        let missing = || section.missing("p", "the pressure outside");
        if model == INCOMPRESSIBLE_FLOW {
            // The pressure of incompressible flow is known up to a constant.
            let p = section.quantity("p")?.ok_or_else(missing)?;
            return Ok(Self { p, temperature: None, velocity: None });
        }
        Ok(Self {
            p: section.positive_quantity("p")?.ok_or_else(missing)?,
            temperature: section.positive_quantity("temperature")?,
            velocity: section.quantities("velocity", ["u", "v", "w"])?,
        })
    }
}

impl Condition for PressureOutlet {
    fn resolve(&self, on: &On<'_>) -> Result<Resolved, InputError> {
        let mut numbers = Building::new(on);
        let p = numbers.last("p", &self.p)?;
        // What comes back is what was there at the start.
        let temperature = match &self.temperature {
            Some(given) => Some(numbers.first("temperature", given)?),
            None => numbers.temperature_of_start(),
        };
        let velocity = match &self.velocity {
            Some(given) => numbers.vector("velocity", given)?,
            None => numbers.velocity_of_start(),
        };
        let numbers = numbers.check()?;
        let pressures = if on.is_compared() { numbers.last_at_start(on.points) } else { None };
        let kind = numbers.kind(|data| BoundaryKind::PressureOutlet { p, temperature, velocity, data });
        Ok(Resolved { pressures, ..kind.into() })
    }

    fn formulas(&self) -> Vec<&Located<String>> {
        let numbers = [Some(&self.p), self.temperature.as_ref()].into_iter().flatten();
        let velocity = self.velocity.iter().flat_map(VectorQuantity::texts);
        numbers.filter_map(Quantity::text).chain(velocity).collect()
    }

    fn with_flux(&self, name: &str, riemann: Riemann) -> Option<String> {
        (riemann == Riemann::Slau2).then(|| {
            format!(
                "boundaries.{name}: with `riemann: slau2` disturbances gain energy at a pressure outlet that gas \
                 passes at more than 0.9 of the speed of sound; take `hllc` or `roe-low-mach` for such a flow"
            )
        })
    }

    fn scalars(&self, section: &Section<'_>, names: &[String]) -> Result<Vec<OnBoundary>, InputError> {
        OnBoundary::read_entering(section, "pressure-outlet", names)
    }
}
