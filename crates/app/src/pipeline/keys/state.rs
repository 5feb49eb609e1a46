//! Keys of the sections `initial` and `boundaries`.

use crate::file::keys::Absent::{Nothing, Required, Says, Value};
use crate::file::keys::Kind::{Flag, Formula, List, Number, Section, Text, Vector, Whole, Words};
use crate::file::keys::Range::{Above, AtLeast, Between};
use crate::file::keys::{
    ADVECTION, EULER, EXPLICIT, FLOW, FLUID, GAS, INCOMPRESSIBLE, Key, NAVIER_STOKES, POISSON, SPACE_TIME,
    VISCOUS, key,
};

const COMPONENTS: crate::file::keys::Kind =
    List("one number or formula for each direction", &[Formula(SPACE_TIME)]);

/// The names in formulas of conditions that a gas has, too.
const STATE_TOO: &str = "x, y, z, t and, for a gas, the state inside";
const POSITIVE: crate::file::keys::Kind = Number(Above(0.0));

/// The conditions that prescribe a state.
const STATES: &[&str] = &["dirichlet", "far-field"];
const WALL: &[&str] = &["no-slip-wall"];
/// The conditions of incompressible flow that can have an exact solution.
const OPEN_OR_GIVEN: &[&str] = &["dirichlet", "outflow"];
const INFLOW: &[&str] = &["subsonic-inflow"];
const CURVED: &[&str] = &["curved-slip-wall"];

pub(super) const KEYS: &[Key] = &[
    key(
        "initial",
        &[Section],
        Says("a gas at rest with ρ = p = 1, or u = 0; a fluid at rest"),
        "The state at the start: a formula for each primitive variable, an exact solution, or a checkpoint.",
    )
    .of(FLOW),
    key(
        "initial.restart",
        &[Text],
        Nothing,
        "The path of a checkpoint to start from, or of a folder with checkpoints, of which the newest is \
         used.",
    )
    .of(FLOW),
    key(
        "initial.exact",
        &[Text, Section],
        Nothing,
        "The name of an exact solution, or a section with a formula for each primitive variable. Errors \
         are measured against it.",
    )
    .of(FLOW),
    key(
        "initial.exact.name",
        &[Text],
        Nothing,
        "The name of an exact solution, whose parameters stand beside it.",
    )
    .of(FLOW),
    key(
        "initial.exact.<variable>",
        &[Formula(SPACE_TIME)],
        Required,
        "The formula of a primitive variable, or with `name` a parameter of that solution.",
    )
    .of(FLOW),
    key(
        "initial.<variable>",
        &[Formula(SPACE_TIME)],
        Required,
        "The formula of a primitive variable (`rho`, `u`, `v`, `w`, `p`, `T` and scalars of incompressible flow), \
         or beside `exact` a parameter of that solution. For incompressible flow the pressure can be left out, and \
         scalars have their formulas beside the name of a solution.",
    )
    .of(FLOW),
    key(
        "initial.turbulence",
        &[Section],
        Says("none: the state as given"),
        "Isotropic turbulence on a state of formulas, in a mesh that is periodic in all directions: waves without \
         divergence, with random phases and directions and a given spectrum. They are a function of place, the same \
         on all machines and ranks.",
    )
    .of(FLUID),
    key(
        "initial.turbulence.spectrum",
        &[Formula("the wave number k = 2π/length")],
        Required,
        "The energy per wave number: its sum over the wave numbers of 1, 2, … waves in the longest period, times \
         their distance, is the mean of half the square of the velocity. One of `tables` gives measured values.",
    )
    .of(FLUID),
    key(
        "initial.turbulence.waves",
        &[Whole(1, dgsuite_physics::exact::RandomWaves::MOST)],
        Required,
        "The largest number of waves in the longest period.",
    )
    .of(FLUID),
    key(
        "initial.turbulence.seed",
        &[Whole(0, usize::MAX)],
        Value("0"),
        "A number that chooses phases and directions.",
    )
    .of(FLUID),
    key(
        "boundaries",
        &[Section],
        Says("none; every boundary that is not periodic is required"),
        "The conditions on the boundaries, by the names that the mesh gives them.",
    ),
    key("boundaries.<name>", &[Section], Required, "The condition on the boundary of this name."),
    key(
        "boundaries.<name>.type",
        &[Words(&[
            "dirichlet",
            "outflow",
            "slip-wall",
            "curved-slip-wall",
            "symmetry",
            "far-field",
            "subsonic-inflow",
            "pressure-outlet",
        ])],
        Required,
        "The kind of condition.",
    )
    .of(EULER),
    key(
        "boundaries.<name>.type",
        &[Words(&[
            "dirichlet",
            "outflow",
            "slip-wall",
            "no-slip-wall",
            "symmetry",
            "far-field",
            "subsonic-inflow",
            "pressure-outlet",
        ])],
        Required,
        "The kind of condition.",
    )
    .of(NAVIER_STOKES),
    key(
        "boundaries.<name>.type",
        &[Words(&["dirichlet", "no-slip-wall", "symmetry", "outflow", "pressure-outlet"])],
        Required,
        "The kind of condition. `dirichlet` prescribes the velocity.",
    )
    .of(INCOMPRESSIBLE),
    key(
        "boundaries.<name>.type",
        &[Words(&["dirichlet", "outflow", "far-field"])],
        Required,
        "The kind of condition. `dirichlet` prescribes u where the flow enters.",
    )
    .of(ADVECTION),
    key(
        "boundaries.<name>.type",
        &[Words(&["dirichlet", "neumann", "robin"])],
        Required,
        "The kind of condition: u, κ ∂u/∂n, or κ ∂u/∂n + αu is prescribed.",
    )
    .of(POISSON),
    key(
        "boundaries.<name>.exact",
        &[Text, Section],
        Nothing,
        "The prescribed state is an exact solution: its name, or a section as in `initial.exact`. The name \
         alone stands for the solution of `initial` with its parameters.",
    )
    .of(EXPLICIT)
    .with(STATES),
    key(
        "boundaries.<name>.exact.name",
        &[Text],
        Nothing,
        "The name of an exact solution, whose parameters stand beside it.",
    )
    .of(EXPLICIT)
    .with(STATES),
    key(
        "boundaries.<name>.exact.<variable>",
        &[Formula(STATE_TOO)],
        Required,
        "The formula of a primitive variable, or with `name` a parameter of that solution.",
    )
    .of(EXPLICIT)
    .with(STATES),
    key(
        "boundaries.<name>.<variable>",
        &[Formula(STATE_TOO)],
        Required,
        "The prescribed primitive variable (`rho`, `u`, `v`, `w`, `p`), or beside `exact` a parameter of \
         that solution.",
    )
    .of(EXPLICIT)
    .with(STATES),
    key(
        "boundaries.<name>.turbulence",
        &[Section],
        Says("none: the mean alone"),
        "Fluctuations of the velocity on the prescribed state: eddies at random places, without divergence, that \
         pass through the boundary. Their state is a function of place and time, the same on all machines, ranks \
         and after a restart.",
    )
    .of(FLUID)
    .with(STATES),
    key(
        "boundaries.<name>.turbulence.intensity",
        &[POSITIVE],
        Nothing,
        "The root mean square of each component of the fluctuations, relative to the magnitude of `velocity`.",
    )
    .of(FLUID)
    .with(STATES),
    key(
        "boundaries.<name>.turbulence.stress",
        &[Section],
        Nothing,
        "The Reynolds stresses, in place of `intensity`.",
    )
    .of(FLUID)
    .with(STATES),
    key(
        "boundaries.<name>.turbulence.stress.{uu,vv,ww,uv,uw,vw}",
        &[Formula("x, y, z")],
        Value("0"),
        "A mean product of two components of the fluctuations.",
    )
    .of(FLUID)
    .with(STATES),
    key(
        "boundaries.<name>.turbulence.length",
        &[POSITIVE],
        Required,
        "The integral length of the fluctuations along a component. The radius of an eddy is 1.7 of it.",
    )
    .of(FLUID)
    .with(STATES),
    key(
        "boundaries.<name>.turbulence.velocity",
        &[Vector],
        Required,
        "The velocity at which the eddies pass, such as the mean over the boundary.",
    )
    .of(FLUID)
    .with(STATES),
    key(
        "boundaries.<name>.turbulence.seed",
        &[Whole(0, usize::MAX)],
        Value("0"),
        "A number that chooses the eddies.",
    )
    .of(FLUID)
    .with(STATES),
    key(
        "boundaries.<name>.exact",
        &[Text, Section],
        Nothing,
        "The prescribed values are those of an exact solution: its name, or a section as in \
         `initial.exact`. The name alone stands for the solution of `initial` with its parameters. On an \
         outflow they are the pressure and the normal derivative of the velocity, which are 0 otherwise.",
    )
    .of(INCOMPRESSIBLE)
    .with(OPEN_OR_GIVEN),
    key(
        "boundaries.<name>.exact.name",
        &[Text],
        Nothing,
        "The name of an exact solution, whose parameters stand beside it.",
    )
    .of(INCOMPRESSIBLE)
    .with(OPEN_OR_GIVEN),
    key(
        "boundaries.<name>.exact.<variable>",
        &[Formula(SPACE_TIME)],
        Required,
        "The formula of a primitive variable, or with `name` a parameter of that solution.",
    )
    .of(INCOMPRESSIBLE)
    .with(OPEN_OR_GIVEN),
    key(
        "boundaries.<name>.<variable>",
        &[Formula(SPACE_TIME)],
        Required,
        "A component of the prescribed velocity (`u`, `v`, `w`), the temperature `T` or another scalar by its \
         name, or beside `exact` a parameter of that solution. On an outflow scalars alone, which can be left \
         out: those of fluid that enters.",
    )
    .of(INCOMPRESSIBLE)
    .with(OPEN_OR_GIVEN),
    key(
        "boundaries.<name>.<scalar>",
        &[Formula(SPACE_TIME)],
        Says("the value inside"),
        "The temperature `T` or another scalar of fluid that enters, by its name.",
    )
    .of(INCOMPRESSIBLE)
    .with(&["pressure-outlet"]),
    key(
        "boundaries.<name>.<scalar>",
        &[Formula(SPACE_TIME)],
        Says("nothing diffuses through the wall"),
        "The value of a scalar of `physics.scalars` on the wall, by its name.",
    )
    .of(INCOMPRESSIBLE)
    .with(WALL),
    key("boundaries.<name>.temperature", &[Formula(SPACE_TIME)], Nothing, "The temperature of the wall.")
        .of(INCOMPRESSIBLE)
        .with(WALL),
    key(
        "boundaries.<name>.heat_flux",
        &[Formula(SPACE_TIME)],
        Nothing,
        "The heat flux −α ∂T/∂n out of the fluid, in units of temperature times velocity.",
    )
    .of(INCOMPRESSIBLE)
    .with(WALL),
    key(
        "boundaries.<name>.transfer",
        &[Number(AtLeast(0.0))],
        Nothing,
        "The coefficient h of the heat flux −α ∂T/∂n = h (T − `ambient`) out of the fluid.",
    )
    .of(INCOMPRESSIBLE)
    .with(WALL),
    key(
        "boundaries.<name>.ambient",
        &[Formula(SPACE_TIME)],
        Says("none; required with `transfer`"),
        "The temperature behind the wall.",
    )
    .of(INCOMPRESSIBLE)
    .with(WALL),
    key(
        "boundaries.<name>.kind",
        &[Words(&["dong", "do-nothing"])],
        Value("dong"),
        "The condition on an outflow without `exact`: ∂u/∂n = 0, and p = 0 or, with `dong`, p = −½|u|² where \
         the flow enters, so that backflow cannot make the energy grow.",
    )
    .of(INCOMPRESSIBLE)
    .with(&["outflow"]),
    key(
        "boundaries.<name>.velocity",
        &[POSITIVE],
        Says("the root mean square of the flow's velocity over the domain, in each step"),
        "With `dong`, the velocity U₀ of the step between inflow and outflow, \
         p = −½|u|² ½(1 − tanh(n·u/(U₀ δ))). Not beside `exact`.",
    )
    .of(INCOMPRESSIBLE)
    .with(&["outflow"]),
    key(
        "boundaries.<name>.delta",
        &[POSITIVE],
        Value("0.05"),
        "With `dong`, the width δ of the step between inflow and outflow, relative to `velocity`. Not beside \
         `exact`.",
    )
    .of(INCOMPRESSIBLE)
    .with(&["outflow"]),
    key(
        "boundaries.<name>.adiabatic",
        &[Flag],
        Says("`true` without a condition of the temperature"),
        "No heat flows through the wall.",
    )
    .of(VISCOUS)
    .with(WALL),
    key(
        "boundaries.<name>.temperature",
        &[POSITIVE, Formula(STATE_TOO)],
        Says("none: the wall is adiabatic"),
        "The temperature of an isothermal wall.",
    )
    .of(NAVIER_STOKES)
    .with(WALL),
    key(
        "boundaries.<name>.model",
        &[Words(&["reichardt", "spalding"])],
        Says("none: the mesh resolves the layer at the wall"),
        "The wall model: friction and heat flux follow from the state at the height `exchange` and from the mean \
         profile of a turbulent boundary layer.",
    )
    .of(VISCOUS)
    .with(WALL),
    key(
        "boundaries.<name>.exchange",
        &[Words(&["auto"]), POSITIVE],
        Value("auto"),
        "The height above the wall from which `model` takes the state, in any element; `auto` is 0.8 of the \
         thickness of the elements at the wall.",
    )
    .of(VISCOUS)
    .with(WALL),
    key(
        "boundaries.<name>.velocity",
        &[COMPONENTS, Section],
        Says("0: the wall is at rest"),
        "The velocity of the wall along itself: a list, or a section with some components. In incompressible \
         flow a component normal to the wall lets fluid pass; with `model` it has no effect, and components \
         are numbers.",
    )
    .of(VISCOUS)
    .with(WALL),
    key(
        "boundaries.<name>.velocity.{u,v,w}",
        &[Formula(SPACE_TIME)],
        Value("0"),
        "A component of the wall's velocity.",
    )
    .of(VISCOUS)
    .with(WALL),
    key(
        "boundaries.<name>.rotation",
        &[Section],
        Nothing,
        "The wall moves as a rigid body that rotates, with the velocity ω × (x − centre).",
    )
    .of(VISCOUS)
    .with(WALL),
    key(
        "boundaries.<name>.rotation.omega",
        &[Formula(SPACE_TIME)],
        Required,
        "The angular velocity in radians per time, counter-clockwise in the plane.",
    )
    .of(VISCOUS)
    .with(WALL),
    key(
        "boundaries.<name>.rotation.centre",
        &[Vector],
        Says("the origin"),
        "A point of the axis of rotation.",
    )
    .of(VISCOUS)
    .with(WALL),
    key(
        "boundaries.<name>.rotation.axis",
        &[Vector],
        Says("the z-axis"),
        "The direction of the axis, in space only.",
    )
    .of(VISCOUS)
    .with(WALL),
    key(
        "boundaries.<name>.normal",
        &[COMPONENTS, Section],
        Says("estimated from circles through neighbouring points of the boundary, in two dimensions only"),
        "The normal of the curve or surface of which the straight faces are chords, of any length and sign: a \
         list, or a section with some components.",
    )
    .of(EULER)
    .with(CURVED),
    key(
        "boundaries.<name>.normal.{x,y,z}",
        &[Formula(SPACE_TIME)],
        Value("0"),
        "A component of the normal.",
    )
    .of(EULER)
    .with(CURVED),
    key(
        "boundaries.<name>.corner",
        &[Number(Between(0.0, std::f64::consts::PI))],
        Value("40*deg"),
        "The angle in radians above which the boundary has a corner at a point: no circle goes through points \
         on both sides of it. Not beside `normal`.",
    )
    .of(EULER)
    .with(CURVED),
    key(
        "boundaries.<name>.{total_pressure,total_temperature}",
        &[POSITIVE, Formula(STATE_TOO)],
        Required,
        "The value that the gas would have if it were brought to rest without losses.",
    )
    .of(GAS)
    .with(INFLOW),
    key(
        "boundaries.<name>.direction",
        &[COMPONENTS, Section],
        Says("inwards along the normal"),
        "The direction of the inflow, of any length: a list, or a section with some components.",
    )
    .of(GAS)
    .with(INFLOW),
    key(
        "boundaries.<name>.direction.{x,y,z}",
        &[Formula(SPACE_TIME)],
        Value("0"),
        "A component of the direction.",
    )
    .of(GAS)
    .with(INFLOW),
    key(
        "boundaries.<name>.p",
        &[POSITIVE, Formula(STATE_TOO)],
        Required,
        "The static pressure of gas that leaves, and the total pressure of gas that comes back.",
    )
        .of(GAS)
        .with(&["pressure-outlet"]),
    key(
        "boundaries.<name>.temperature",
        &[POSITIVE, Formula(STATE_TOO)],
        Says("that of the initial state there"),
        "The temperature of gas that comes back through the boundary, at rest; `p` is its total pressure.",
    )
    .of(GAS)
    .with(&["pressure-outlet"]),
    key(
        "boundaries.<name>.velocity",
        &[COMPONENTS, Section],
        Says("that of the initial state there"),
        "The velocity of which gas that comes back has the part along the boundary: a list, or a section with \
         some components.",
    )
    .of(GAS)
    .with(&["pressure-outlet"]),
    key(
        "boundaries.<name>.velocity.{u,v,w}",
        &[Formula(SPACE_TIME)],
        Value("0"),
        "A component of this velocity.",
    )
    .of(GAS)
    .with(&["pressure-outlet"]),
    key("boundaries.<name>.p", &[Formula(SPACE_TIME)], Required, "The pressure on the boundary.")
        .of(INCOMPRESSIBLE)
        .with(&["pressure-outlet"]),
    key(
        "boundaries.<name>.u",
        &[Words(&["exact"]), Formula("x, y, z")],
        Says("`exact` if `physics.exact` is given; required without it"),
        "The prescribed value of u.",
    )
    .of(POISSON)
    .with(&["dirichlet"]),
    key(
        "boundaries.<name>.flux",
        &[Words(&["exact"]), Formula("x, y, z")],
        Says("`exact` if `physics.exact` is given; required without it"),
        "The prescribed flux κ ∂u/∂n along the outward normal.",
    )
    .of(POISSON)
    .with(&["neumann"]),
    key(
        "boundaries.<name>.g",
        &[Words(&["exact"]), Formula("x, y, z")],
        Says("`exact` if `physics.exact` is given; required without it"),
        "The prescribed value of κ ∂u/∂n + αu.",
    )
    .of(POISSON)
    .with(&["robin"]),
    key(
        "boundaries.<name>.alpha",
        &[Number(AtLeast(0.0))],
        Required,
        "The coefficient α of the condition `robin`.",
    )
    .of(POISSON)
    .with(&["robin"]),
];
