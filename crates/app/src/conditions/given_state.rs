//! Conditions with a given state: what `dirichlet` and `far-field` share.

use std::sync::Arc;

use super::{Condition, On, Resolved};
use crate::file::keys::Absent::{Nothing, Required, Says, Value};
use crate::file::keys::Kind::{Formula, Section as Keys, Text, Vector, Whole};
use crate::file::keys::{EXPLICIT, FLUID, INCOMPRESSIBLE, POSITIVE, Row, SPACE_TIME, STATE_TOO, row};
use crate::file::problem::InputError;
use crate::file::section::Section;
use crate::file::source::Located;
use crate::models::inflow::TurbulenceSpec;
use crate::models::state::StateSpec;
use crate::models::variables::AtStart;
use dgsuite_ops::place_and_time;
use dgsuite_physics::Exact;
use dgsuite_solve::flow::BoundaryKind;

/// The conditions that prescribe a state.
const STATES: &[&str] = &["dirichlet", "far-field"];
/// The conditions of incompressible flow that can have an exact solution.
const OPEN_OR_GIVEN: &[&str] = &["dirichlet", "outflow"];

pub(super) const KEYS: &[Row] = &[
    row(
        "boundaries.<name>.exact",
        &[Text, Keys],
        Nothing,
        "The prescribed state is an exact solution: its name, or a section as in `initial.exact`. The name \
         alone stands for the solution of `initial` with its parameters.",
    )
    .of(EXPLICIT)
    .with(STATES),
    row(
        "boundaries.<name>.exact.name",
        &[Text],
        Nothing,
        "The name of an exact solution, whose parameters stand beside it.",
    )
    .of(EXPLICIT)
    .with(STATES),
    row(
        "boundaries.<name>.exact.<variable>",
        &[Formula(STATE_TOO)],
        Required,
        "The formula of a primitive variable, or with `name` a parameter of that solution.",
    )
    .of(EXPLICIT)
    .with(STATES),
    row(
        "boundaries.<name>.<variable>",
        &[Formula(STATE_TOO)],
        Required,
        "The prescribed primitive variable (`rho`, `u`, `v`, `w`, `p`), or beside `exact` a parameter of \
         that solution.",
    )
    .of(EXPLICIT)
    .with(STATES),
    row(
        "boundaries.<name>.turbulence",
        &[Keys],
        Says("none: the mean alone"),
        "Fluctuations of the velocity on the prescribed state: eddies at random places, without divergence, that \
         pass through the boundary. Their state is a function of place and time, the same on all machines, ranks \
         and after a restart.",
    )
    .of(FLUID)
    .with(STATES),
    row(
        "boundaries.<name>.turbulence.intensity",
        &[POSITIVE],
        Nothing,
        "The root mean square of each component of the fluctuations, relative to the magnitude of `velocity`.",
    )
    .of(FLUID)
    .with(STATES),
    row(
        "boundaries.<name>.turbulence.stress",
        &[Keys],
        Nothing,
        "The Reynolds stresses, in place of `intensity`.",
    )
    .of(FLUID)
    .with(STATES),
    row(
        "boundaries.<name>.turbulence.stress.{uu,vv,ww,uv,uw,vw}",
        &[Formula("x, y, z")],
        Value("0"),
        "A mean product of two components of the fluctuations.",
    )
    .of(FLUID)
    .with(STATES),
    row(
        "boundaries.<name>.turbulence.length",
        &[POSITIVE],
        Required,
        "The integral length of the fluctuations along a component. The radius of an eddy is 1.7 of it.",
    )
    .of(FLUID)
    .with(STATES),
    row(
        "boundaries.<name>.turbulence.velocity",
        &[Vector],
        Required,
        "The velocity at which the eddies pass, such as the mean over the boundary.",
    )
    .of(FLUID)
    .with(STATES),
    row(
        "boundaries.<name>.turbulence.seed",
        &[Whole(0, usize::MAX)],
        Value("0"),
        "A number that chooses the eddies.",
    )
    .of(FLUID)
    .with(STATES),
    row(
        "boundaries.<name>.exact",
        &[Text, Keys],
        Nothing,
        "The prescribed values are those of an exact solution: its name, or a section as in \
         `initial.exact`. The name alone stands for the solution of `initial` with its parameters. On an \
         outflow they are the pressure and the normal derivative of the velocity, which are 0 otherwise.",
    )
    .of(INCOMPRESSIBLE)
    .with(OPEN_OR_GIVEN),
    row(
        "boundaries.<name>.exact.name",
        &[Text],
        Nothing,
        "The name of an exact solution, whose parameters stand beside it.",
    )
    .of(INCOMPRESSIBLE)
    .with(OPEN_OR_GIVEN),
    row(
        "boundaries.<name>.exact.<variable>",
        &[Formula(SPACE_TIME)],
        Required,
        "The formula of a primitive variable, or with `name` a parameter of that solution.",
    )
    .of(INCOMPRESSIBLE)
    .with(OPEN_OR_GIVEN),
    row(
        "boundaries.<name>.<variable>",
        &[Formula(SPACE_TIME)],
        Required,
        "A component of the prescribed velocity (`u`, `v`, `w`), the temperature `T` or another scalar by its \
         name, or beside `exact` a parameter of that solution. On an outflow scalars alone, which can be left \
         out: those of fluid that enters.",
    )
    .of(INCOMPRESSIBLE)
    .with(OPEN_OR_GIVEN),
];

/// A state, turbulence on it, and what they become.
#[derive(Debug)]
struct GivenState {
    state: StateSpec,
    turbulence: Option<TurbulenceSpec>,
    kind: fn(Arc<dyn Exact>) -> BoundaryKind,
    /// Whether its pressure is that of the gas outside.
    is_around: bool,
}

/// Reads the state beside the keys `type` and `turbulence`, for a condition of this kind; with `is_around`
/// its pressure is compared with that of the start.
pub(super) fn read(
    section: &Section<'_>,
    kind: fn(Arc<dyn Exact>) -> BoundaryKind,
    is_around: bool,
) -> Result<Arc<dyn Condition>, InputError> {
    let state = StateSpec::read(section, &["type", "turbulence"])?;
    let turbulence = TurbulenceSpec::read(section)?;
    Ok(Arc::new(GivenState { state, turbulence, kind, is_around }))
}

impl Condition for GivenState {
    fn resolve(&self, on: &On<'_>) -> Result<Resolved, InputError> {
        let (states, points) = (on.states, on.points);
        let Some(formulas) = states.of_state(&self.state)? else {
            let mut state = on.state(&self.state)?;
            if let Some(turbulence) = &self.turbulence {
                state = turbulence.on(state, states, points)?;
            }
            let pressures = (self.is_around && on.is_compared()).then(|| on.pressures(state.as_ref()));
            return Ok(Resolved { pressures, ..Resolved::from((self.kind)(state)) });
        };
        // Formulas of the inner state.
        let n = formulas.n_outputs();
        if let Some(state) = on.start {
            let mut values = vec![Vec::new(); n];
            let (variables, formulas) = (states.variables, &formulas);
            AtStart { variables, formulas, state }.eval(0.0, points, &mut values);
            states.possible(values, &self.state, points)?;
        }
        let place = place_and_time(&formulas, on.mesh.dim(), n);
        if let Some(turbulence) = &self.turbulence {
            let found = turbulence.key().with("given beside formulas of the state inside");
            return Err(InputError::range(&found, "beside a state that is given by x, y, z and t alone"));
        }
        let kind = Box::new((self.kind)(Arc::new(place)));
        Ok(BoundaryKind::OfState { kind, formulas: Arc::new(formulas) }.into())
    }

    fn suits(&self, steady: bool) -> Result<(), InputError> {
        self.turbulence.as_ref().map_or(Ok(()), |turbulence| turbulence.not_steady(steady))
    }

    fn formulas(&self) -> Vec<&Located<String>> {
        self.state.formulas().collect()
    }
}
