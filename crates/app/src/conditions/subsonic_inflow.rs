//! The condition `subsonic-inflow`: total pressure, total temperature and direction of a gas that enters.

use std::sync::Arc;

use super::numbers::{Building, COMPONENTS};
use super::{Condition, ConditionKind, On, Resolved};
use crate::file::keys::Absent::{Required, Says, Value};
use crate::file::keys::Kind::{Formula, Section as Keys};
use crate::file::keys::{GAS, POSITIVE, SPACE_TIME, STATE_TOO, row};
use crate::file::problem::InputError;
use crate::file::problem::mistakes::both;
use crate::file::quantity::{Quantity, VectorQuantity};
use crate::file::section::Section;
use crate::file::source::Located;
use dgsuite_solve::flow::BoundaryKind;

pub(super) const CONDITION: ConditionKind = ConditionKind {
    name: "subsonic-inflow",
    models: GAS,
    keys: &[
        row(
            "boundaries.<name>.{total_pressure,total_temperature}",
            &[POSITIVE, Formula(STATE_TOO)],
            Required,
            "The value that the gas would have if it were brought to rest without losses.",
        )
        .of(GAS)
        .with(&["subsonic-inflow"]),
        row(
            "boundaries.<name>.direction",
            &[COMPONENTS, Keys],
            Says("inwards along the normal"),
            "The direction of the inflow, of any length: a list, or a section with some components.",
        )
        .of(GAS)
        .with(&["subsonic-inflow"]),
        row(
            "boundaries.<name>.direction.{x,y,z}",
            &[Formula(SPACE_TIME)],
            Value("0"),
            "A component of the direction.",
        )
        .of(GAS)
        .with(&["subsonic-inflow"]),
    ],
    elsewhere: "",
    read: |section, _| Ok(Arc::new(SubsonicInflow::read(section)?)),
};

#[derive(Debug)]
struct SubsonicInflow {
    total_pressure: Quantity,
    total_temperature: Quantity,
    /// Inwards along the normal if none is given.
    direction: Option<VectorQuantity>,
}

impl SubsonicInflow {
    fn read(section: &Section<'_>) -> Result<Self, InputError> {
        let given = |key: &str| {
            section
                .positive_quantity(key)?
                .ok_or_else(|| section.missing(key, "the value of the gas brought to rest without losses"))
        };
        Ok(Self {
            total_pressure: given("total_pressure")?,
            total_temperature: given("total_temperature")?,
            direction: section.quantities("direction", ["x", "y", "z"])?,
        })
    }
}

impl Condition for SubsonicInflow {
    fn resolve(&self, on: &On<'_>) -> Result<Resolved, InputError> {
        let mut numbers = Building::new(on);
        let pressure = numbers.first("total_pressure", &self.total_pressure);
        let temperature = numbers.last("total_temperature", &self.total_temperature);
        let (total_pressure, total_temperature) = both(pressure, temperature)?;
        let direction = match &self.direction {
            Some(given) => numbers.direction("direction", given)?,
            None => None,
        };
        let numbers = numbers.check()?;
        if let Some(direction) = &self.direction
            // A part has some faces of the boundary only.
            && !on.mesh.is_part()
            && numbers.has_known_vector()
        {
            let (points, normals): (Vec<_>, Vec<_>) = on.outward_normals().unzip();
            let along = numbers.vectors(0.0, &points);
            let leads_out = |(n, a): (&[f64; 3], &[f64; 3])| (0..3).map(|d| n[d] * a[d]).sum::<f64>() > 0.0;
            if !points.is_empty() && normals.iter().zip(&along).all(leads_out) {
                let shown = direction.key.with("a direction out of the domain");
                return Err(InputError::range(
                    &shown,
                    "one into the domain: the direction of the flow, not the direction from which it comes",
                ));
            }
        }
        let kind = |data| BoundaryKind::SubsonicInflow { total_pressure, total_temperature, direction, data };
        Ok(numbers.kind(kind).into())
    }

    fn formulas(&self) -> Vec<&Located<String>> {
        let numbers = [&self.total_pressure, &self.total_temperature].into_iter().filter_map(Quantity::text);
        numbers.chain(self.direction.iter().flat_map(VectorQuantity::texts)).collect()
    }
}
