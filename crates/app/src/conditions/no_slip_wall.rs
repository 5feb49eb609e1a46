//! The condition `no-slip-wall`: the fluid sticks to the wall, which may move and have a temperature.

use std::sync::Arc;

use super::numbers::{Building, COMPONENTS, Numbers};
use super::{Condition, ConditionKind, On, Resolved, faces, wall_model};
use crate::file::keys::Absent::{Nothing, Required, Says, Value};
use crate::file::keys::Kind::{Flag, Formula, Number, Section as Keys, Vector, Words};
use crate::file::keys::Range::AtLeast;
use crate::file::keys::{
    INCOMPRESSIBLE, INCOMPRESSIBLE_FLOW, NAVIER_STOKES, POSITIVE, SPACE_TIME, STATE_TOO, VISCOUS, row,
};
use crate::file::problem::InputError;
use crate::file::quantity::{Quantity, VectorQuantity};
use crate::file::section::Section;
use crate::file::source::Located;
use crate::models::scalars::OnBoundary;
use dgsuite_solve::flow::BoundaryKind;

const WALL: &[&str] = &["no-slip-wall"];

pub(super) const CONDITION: ConditionKind = ConditionKind {
    name: "no-slip-wall",
    models: VISCOUS,
    keys: &[
    row(
        "boundaries.<name>.<scalar>",
        &[Formula(SPACE_TIME)],
        Says("nothing diffuses through the wall"),
        "The value of a scalar of `physics.scalars` on the wall, by its name.",
    )
    .of(INCOMPRESSIBLE)
    .with(WALL),
    row("boundaries.<name>.temperature", &[Formula(SPACE_TIME)], Nothing, "The temperature of the wall.")
        .of(INCOMPRESSIBLE)
        .with(WALL),
    row(
        "boundaries.<name>.heat_flux",
        &[Formula(SPACE_TIME)],
        Nothing,
        "The heat flux −α ∂T/∂n out of the fluid, in units of temperature times velocity.",
    )
    .of(INCOMPRESSIBLE)
    .with(WALL),
    row(
        "boundaries.<name>.transfer",
        &[Number(AtLeast(0.0))],
        Nothing,
        "The coefficient h of the heat flux −α ∂T/∂n = h (T − `ambient`) out of the fluid.",
    )
    .of(INCOMPRESSIBLE)
    .with(WALL),
    row(
        "boundaries.<name>.ambient",
        &[Formula(SPACE_TIME)],
        Says("none; required with `transfer`"),
        "The temperature behind the wall.",
    )
    .of(INCOMPRESSIBLE)
    .with(WALL),
    row(
        "boundaries.<name>.adiabatic",
        &[Flag],
        Says("`true` without a condition of the temperature"),
        "No heat flows through the wall.",
    )
    .of(VISCOUS)
    .with(WALL),
    row(
        "boundaries.<name>.temperature",
        &[POSITIVE, Formula(STATE_TOO)],
        Says("none: the wall is adiabatic"),
        "The temperature of an isothermal wall.",
    )
    .of(NAVIER_STOKES)
    .with(WALL),
    row(
        "boundaries.<name>.model",
        &[Words(&["reichardt", "spalding"])],
        Says("none: the mesh resolves the layer at the wall"),
        "The wall model: friction and heat flux follow from the state at the height `exchange` and from the mean \
         profile of a turbulent boundary layer.",
    )
    .of(VISCOUS)
    .with(WALL),
    row(
        "boundaries.<name>.exchange",
        &[Words(&["auto"]), POSITIVE],
        Value("auto"),
        "The height above the wall from which `model` takes the state, in any element; `auto` is 0.8 of the \
         thickness of the elements at the wall.",
    )
    .of(VISCOUS)
    .with(WALL),
    row(
        "boundaries.<name>.velocity",
        &[COMPONENTS, Keys],
        Says("0: the wall is at rest"),
        "The velocity of the wall along itself: a list, or a section with some components. In incompressible \
         flow a component normal to the wall lets fluid pass; with `model` it has no effect, and components \
         are numbers.",
    )
    .of(VISCOUS)
    .with(WALL),
    row(
        "boundaries.<name>.velocity.{u,v,w}",
        &[Formula(SPACE_TIME)],
        Value("0"),
        "A component of the wall's velocity.",
    )
    .of(VISCOUS)
    .with(WALL),
    row(
        "boundaries.<name>.rotation",
        &[Keys],
        Nothing,
        "The wall moves as a rigid body that rotates, with the velocity ω × (x − centre).",
    )
    .of(VISCOUS)
    .with(WALL),
    row(
        "boundaries.<name>.rotation.omega",
        &[Formula(SPACE_TIME)],
        Required,
        "The angular velocity in radians per time, counter-clockwise in the plane.",
    )
    .of(VISCOUS)
    .with(WALL),
    row(
        "boundaries.<name>.rotation.centre",
        &[Vector],
        Says("the origin"),
        "A point of the axis of rotation.",
    )
    .of(VISCOUS)
    .with(WALL),
    row(
        "boundaries.<name>.rotation.axis",
        &[Vector],
        Says("the z-axis"),
        "The direction of the axis, in space only.",
    )
    .of(VISCOUS)
    .with(WALL),
    ],
    elsewhere: ": it needs viscosity; use slip-wall for an inviscid gas",
    read: |section, of| {
        let temperature = if of.model == INCOMPRESSIBLE_FLOW { None } else { temperature(section)? };
        let wall = NoSlipWall { temperature, motion: motion(section)? };
        match wall_model::read(section, &wall)? {
            Some(modelled) => Ok(modelled),
            None => Ok(Arc::new(wall)),
        }
    },
};

/// The largest allowed velocity across the wall, relative to its largest speed: faces deviate from the
/// surface of the body.
const ACROSS: f64 = 0.05;

#[derive(Debug)]
pub(super) struct NoSlipWall {
    /// None for an adiabatic wall.
    pub(super) temperature: Option<Quantity>,
    /// At rest if none is given.
    pub(super) motion: Option<WallMotion>,
}

/// The velocity of a wall, along itself.
#[derive(Debug)]
pub(super) enum WallMotion {
    /// Components of the velocity.
    Velocity(VectorQuantity),
    /// Rotation of a rigid body: `v = omega × (x − centre)`.
    Rotation {
        /// The angular velocity, counter-clockwise seen against the axis.
        omega: Quantity,
        /// A point of the axis; the origin if none is given.
        centre: Option<Located<Vec<f64>>>,
        /// The direction of the axis in space; z if none is given.
        axis: Option<Located<Vec<f64>>>,
    },
}

/// The temperature of the wall of a gas.
fn temperature(section: &Section<'_>) -> Result<Option<Quantity>, InputError> {
    let temperature = section.positive_quantity("temperature")?;
    match (section.flag("adiabatic")?, &temperature) {
        (Some(flag), Some(_)) if flag.value => section.exclusive("adiabatic", "temperature")?,
        (Some(flag), None) if !flag.value => {
            return Err(section.missing("temperature", "the wall's temperature, as it is not adiabatic"));
        }
        _ => {}
    }
    Ok(temperature)
}

fn motion(section: &Section<'_>) -> Result<Option<WallMotion>, InputError> {
    section.exclusive("velocity", "rotation")?;
    Ok(match section.section("rotation")? {
        Some(rotation) => Some(WallMotion::Rotation {
            omega: rotation
                .quantity("omega")?
                .ok_or_else(|| rotation.missing("omega", "the angular velocity in radians per time"))?,
            centre: rotation.vector("centre")?,
            axis: rotation.vector("axis")?,
        }),
        None => section.quantities("velocity", ["u", "v", "w"])?.map(WallMotion::Velocity),
    })
}

impl Condition for NoSlipWall {
    fn resolve(&self, on: &On<'_>) -> Result<Resolved, InputError> {
        let mut numbers = Building::new(on);
        let temperature =
            self.temperature.as_ref().map(|given| numbers.last("temperature", given)).transpose()?;
        let velocity = match &self.motion {
            None => None,
            Some(WallMotion::Velocity(given)) => numbers.vector("velocity", given)?,
            Some(WallMotion::Rotation { omega, centre, axis }) => {
                numbers.rotation("velocity", omega, centre.as_ref(), axis.as_ref())?
            }
        };
        let numbers = numbers.check()?;
        let warnings = leaves_its_place(&numbers, on).into_iter().collect();
        let kind = numbers.kind(|data| BoundaryKind::NoSlipWall { velocity, temperature, data });
        Ok(Resolved { warnings, ..kind.into() })
    }

    fn formulas(&self) -> Vec<&Located<String>> {
        let mut texts: Vec<_> = self.temperature.iter().filter_map(Quantity::text).collect();
        match &self.motion {
            Some(WallMotion::Velocity(vector)) => texts.extend(vector.texts()),
            Some(WallMotion::Rotation { omega, .. }) => texts.extend(omega.text()),
            None => {}
        }
        texts
    }

    fn passes_heat(&self) -> bool {
        self.temperature.is_some()
    }

    fn on_straight_faces(&self) -> Option<&'static str> {
        Some("")
    }

    fn scalars(&self, section: &Section<'_>, names: &[String]) -> Result<Vec<OnBoundary>, InputError> {
        OnBoundary::read_wall(section, CONDITION.name, names)
    }
}

/// Warns if the wall moves across itself, which a fixed mesh cannot follow. Checks the midpoint of each face
/// at the times 0 and 1.
fn leaves_its_place(numbers: &Numbers, on: &On<'_>) -> Option<String> {
    if !numbers.has_known_vector() {
        return None;
    }
    let (mesh, name) = (on.mesh.seen(), &on.name.value);
    let sides = faces::sides_of(mesh, name);
    let points: Vec<[f64; 3]> = sides.iter().map(|&side| mesh.side_centroid(side)).collect();
    let (mut fastest, mut across, mut place) = (0.0_f64, 0.0_f64, [0.0; 3]);
    for t in [0.0, 1.0] {
        for ((v, &side), &point) in numbers.vectors(t, &points).iter().zip(&sides).zip(&points) {
            let n = faces::normal(side, mesh);
            let through = (v[0] * n[0] + v[1] * n[1] + v[2] * n[2]).abs();
            fastest = fastest.max(v.iter().map(|c| c * c).sum::<f64>().sqrt());
            if through > across {
                (across, place) = (through, point);
            }
        }
    }
    let shown = place[..mesh.dim].iter().map(|c| format!("{c:.6}")).collect::<Vec<_>>().join(", ");
    let what = match on.states.variables.primitive.contains(&"rho") {
        false => "fluid passes through it with this velocity, because the mesh does not move",
        true => "it is ignored, because the mesh does not move",
    };
    (across > ACROSS * fastest).then(|| {
        format!(
            "boundaries.{name}: the velocity of the wall has a component of {across:.3e} normal to the wall at \
             ({shown}); {what}"
        )
    })
}
