//! Keys of the section `physics`.

use crate::file::keys::Absent::{Nothing, Required, Says, Value};
use crate::file::keys::Kind::{Formula, List, Number, Section, Text, Vector, Words};
use crate::file::keys::Range::{Above, Any, AtLeast};
use crate::file::keys::{
    ADVECTION, EXPLICIT, FLUID, GAS, INCOMPRESSIBLE, MODELS, NAVIER_STOKES, POISSON, Row, SPACE_TIME,
    VISCOUS, row,
};

const POSITIVE: crate::file::keys::Kind = Number(Above(0.0));

/// What formulas of diffusivities read.
const SCALARS: &str = "T, the names of scalars";
const CONSTANT_PART: &str = "The part α₀ of the diffusivity that is implicit: steps may be large for it. It should be \
                             the least value of the formula; where the formula gives less, α₀ counts.";
const VARIES: &str = "The diffusivity as a formula of the temperature and of other scalars. Its difference to \
                      `constant` is explicit and bounds the step.";

pub(super) const KEYS: &[Row] = &[
    row("physics", &[Section], Required, "The model and its parameters."),
    row(
        "physics.model",
        &[Words(&MODELS)],
        Required,
        "The equations: the compressible Euler equations, the compressible or incompressible \
         Navier-Stokes equations (laminar), linear advection, or Poisson's equation.",
    ),
    row("physics.gamma", &[Number(Above(1.0))], Value("1.4"), "The ratio of specific heats.").of(GAS),
    row("physics.prandtl", &[POSITIVE], Value("0.72"), "The Prandtl number.").of(NAVIER_STOKES),
    row(
        "physics.gas_constant",
        &[POSITIVE],
        Says(
            "1, or derived from the Mach number of `reference`; required where the viscosity depends on \
             the temperature and there is no `reference`",
        ),
        "The specific gas constant R in p = ρRT. With a `reference` it makes the reference state one with \
         units.",
    )
    .of(NAVIER_STOKES),
    row(
        "physics.viscosity",
        &[Number(AtLeast(0.0)), Section],
        Says("derived from the Reynolds number of `reference`; required without one"),
        "The dynamic viscosity: a constant, or one of three laws.",
    )
    .of(NAVIER_STOKES),
    row(
        "physics.viscosity",
        &[POSITIVE, Section],
        Says("derived from the Reynolds number of `reference`; required without one"),
        "The kinematic viscosity ν, which is dynamic viscosity over density; a section if it varies.",
    )
    .of(INCOMPRESSIBLE),
    row(
        "physics.viscosity.constant",
        &[POSITIVE],
        Says("derived from the Reynolds number of `reference`; required without one"),
        "The part ν₀ of the viscosity that is implicit: steps may be large for it. It must not exceed the least of ν and \
         of d(ν·shear)/d(shear), which is n ν in a power law of exponent n. Where the formula gives less, ν₀ counts.",
    )
    .of(INCOMPRESSIBLE),
    row(
        "physics.viscosity.formula",
        &[Formula("T, the names of scalars, shear")],
        Says("`constant`"),
        "The viscosity as a formula of the temperature, of other scalars, and of the shear rate `shear`, \
         √(2 S:S) with the rate of strain S. Its difference to `constant` is explicit and bounds the step.",
    )
    .of(INCOMPRESSIBLE),
    row("physics.viscosity.constant", &[Number(AtLeast(0.0))], Nothing, "A constant dynamic viscosity μ.")
        .of(NAVIER_STOKES),
    row("physics.viscosity.power", &[Section], Nothing, "A power law, μ = mu_ref (T/t_ref)^exponent.")
        .of(NAVIER_STOKES),
    row(
        "physics.viscosity.sutherland",
        &[Section],
        Nothing,
        "Sutherland's law, μ = mu_ref (T/t_ref)^1.5 (t_ref + s)/(T + s).",
    )
    .of(NAVIER_STOKES),
    row(
        "physics.viscosity.{power,sutherland}.mu_ref",
        &[Number(AtLeast(0.0))],
        Says("derived from the Reynolds number of `reference`; required without one"),
        "The viscosity at the temperature `t_ref`.",
    )
    .of(NAVIER_STOKES),
    row(
        "physics.viscosity.{power,sutherland}.t_ref",
        &[POSITIVE],
        Says("the temperature of `reference`; required without one"),
        "The temperature at which the viscosity is `mu_ref`.",
    )
    .of(NAVIER_STOKES),
    row("physics.viscosity.power.exponent", &[Number(Any)], Required, "The exponent of the temperature.")
        .of(NAVIER_STOKES),
    row(
        "physics.viscosity.sutherland.s",
        &[POSITIVE],
        Required,
        "Sutherland's temperature in the unit of `t_ref`: 110.4 for air in kelvin, 110.4/288.15 where \
         temperatures are relative to 288.15 K.",
    )
    .of(NAVIER_STOKES),
];

/// Those behind the keys of closures.
pub(super) const OTHERS: &[Row] = &[
    row(
        "physics.reference",
        &[Section],
        Nothing,
        "A reference state of the gas, with units or without. Expressions of the other sections may use \
         its numbers: `rho_ref`, `speed_ref`, `u_ref`, `v_ref`, `w_ref`, `p_ref`, `T_ref`, `c_ref`, \
         `R_ref`, `mu_ref`, `L_ref`.",
    )
    .of(GAS),
    row(
        "physics.reference",
        &[Section],
        Nothing,
        "Velocity and length of the flow, with its Reynolds number or viscosity. Expressions of the other \
         sections may use the numbers `speed_ref`, `u_ref`, `v_ref`, `w_ref`, `nu_ref`, `L_ref`.",
    )
    .of(INCOMPRESSIBLE),
    row("physics.reference.mach", &[POSITIVE], Required, "The Mach number |v|/c.").of(GAS),
    row(
        "physics.reference.reynolds",
        &[POSITIVE],
        Says("none; required where `viscosity` has no numbers"),
        "The Reynolds number ρ|v|L/μ, which fixes the viscosity, or the density of a state with units.",
    )
    .of(NAVIER_STOKES),
    row(
        "physics.reference.reynolds",
        &[POSITIVE],
        Says("derived from `physics.viscosity` and `length`; required without a viscosity"),
        "The Reynolds number |v|L/ν, which fixes the viscosity.",
    )
    .of(INCOMPRESSIBLE),
    row(
        "physics.reference.length",
        &[POSITIVE],
        Says("none; required with `reynolds`"),
        "The length L of the Reynolds number and of force coefficients.",
    )
    .of(FLUID),
    row("physics.reference.density", &[POSITIVE], Says("1, or derived"), "The density.").of(GAS),
    row("physics.reference.pressure", &[POSITIVE], Says("derived"), "The pressure, in place of the density.")
        .of(GAS),
    row(
        "physics.reference.velocity",
        &[POSITIVE],
        Says("1; derived from the Mach number where `gas_constant` is given"),
        "The magnitude of the velocity, in a state without units.",
    )
    .of(GAS),
    row("physics.reference.velocity", &[POSITIVE], Value("1"), "The magnitude of the velocity.")
        .of(INCOMPRESSIBLE),
    row(
        "physics.reference.temperature",
        &[POSITIVE],
        Says("1; required where `gas_constant` is given"),
        "The temperature.",
    )
    .of(GAS),
    row(
        "physics.reference.direction",
        &[Vector],
        Says("the x-axis"),
        "The direction of the velocity; its length does not matter.",
    )
    .of(FLUID),
    row(
        "physics.reference.angle",
        &[Number(Any)],
        Value("0"),
        "The angle of the velocity to the x-axis, in place of `direction`, from `-360*deg` to `360*deg`. \
         Write `2*deg` for degrees, or an expression in radians.",
    )
    .of(FLUID),
    row(
        "physics.source",
        &[Words(&["manufactured"]), Section],
        Nothing,
        "A source term. `manufactured` derives the source for which the exact solution solves the equations: \
         the one of the first monitor `error`, else of `initial`.",
    )
    .of(EXPLICIT),
    row(
        "physics.source.<variable>",
        &[Formula("x, y, z, t, or of the primitive variables and x, y, z")],
        Value("0"),
        "The source of a conserved variable: `rho`, `rho_u`, `rho_v`, `rho_w`, `rho_E`, or `u`.",
    )
    .of(EXPLICIT),
    row(
        "physics.sponge",
        &[Section],
        Nothing,
        "A layer that damps waves, `∂u/∂t + … = σ (u_ref − u)`: its strength, and beside it the reference state \
         as in `initial`. Without one it is the state of `initial`. It must not depend on time.",
    )
    .of(EXPLICIT),
    row(
        "physics.sponge.strength",
        &[Formula("x, y, z")],
        Required,
        "The damping rate σ, 0 or more, per time. It is evaluated once, at the volume points of the scheme.",
    )
    .of(EXPLICIT),
    row(
        "physics.sponge.exact",
        &[Text, Section],
        Nothing,
        "The reference state is an exact solution: its name, or a section as in `initial.exact`.",
    )
    .of(EXPLICIT),
    row(
        "physics.sponge.exact.name",
        &[Text],
        Nothing,
        "The name of an exact solution, whose parameters stand beside it.",
    )
    .of(EXPLICIT),
    row(
        "physics.sponge.exact.<variable>",
        &[Formula(SPACE_TIME)],
        Required,
        "The formula of a primitive variable, or with `name` a parameter of that solution.",
    )
    .of(EXPLICIT),
    row(
        "physics.sponge.<variable>",
        &[Formula(SPACE_TIME)],
        Required,
        "A primitive variable of the reference state (`rho`, `u`, `v`, `w`, `p`), or beside `exact` a \
         parameter of that solution.",
    )
    .of(EXPLICIT),
    row(
        "physics.body_force",
        &[List("one number or formula for each direction", &[Formula("x, y, z")]), Section],
        Nothing,
        "A force per mass g on the gas, such as gravity: it adds ρg to the momentum and ρu·g to the energy. A \
         list, or a section with some components.",
    )
    .of(GAS),
    row("physics.body_force.{x,y,z}", &[Formula("x, y, z")], Value("0"), "A component of the force.")
        .of(GAS),
    row(
        "physics.forcing",
        &[Words(&["manufactured"]), Section],
        Nothing,
        "A force per mass, by its components, beside that of `buoyancy`. `manufactured` derives the force for \
         which the exact solution solves the equations, and the source of each scalar: the solution of the \
         first monitor `error`, else of `initial`.",
    )
    .of(INCOMPRESSIBLE),
    row(
        "physics.forcing.{u,v,w}",
        &[Formula("T, the names of scalars, x, y, z, t")],
        Value("0"),
        "A component of the force, as a formula of place and time, of the temperature and of other scalars.",
    )
    .of(INCOMPRESSIBLE),
    row(
        "physics.temperature",
        &[Section],
        Nothing,
        "A temperature T that the flow carries, `∂T/∂t + ∇·(uT) = ∇·(α∇T) + q`: its diffusivity, directly or by \
         the Prandtl number. `T` is one of the unknowns then.",
    )
    .of(INCOMPRESSIBLE),
    row(
        "physics.temperature.diffusivity",
        &[POSITIVE, Section],
        Says("derived from `prandtl`; required without it"),
        "The thermal diffusivity α; a section if it varies.",
    )
    .of(INCOMPRESSIBLE),
    row("physics.temperature.diffusivity.constant", &[POSITIVE], Required, CONSTANT_PART).of(INCOMPRESSIBLE),
    row("physics.temperature.diffusivity.formula", &[Formula(SCALARS)], Says("`constant`"), VARIES)
        .of(INCOMPRESSIBLE),
    row("physics.temperature.prandtl", &[POSITIVE], Nothing, "The Prandtl number ν/α, in place of `diffusivity`.")
        .of(INCOMPRESSIBLE),
    row("physics.temperature.source", &[Formula(SPACE_TIME)], Value("0"), "The source q of the temperature.")
        .of(INCOMPRESSIBLE),
    row(
        "physics.scalars",
        &[Section],
        Nothing,
        "Passive scalars that the flow carries as it does the temperature, by the names of their unknowns: up \
         to 3, the temperature included.",
    )
    .of(INCOMPRESSIBLE),
    row("physics.scalars.<name>", &[Section], Required, "A scalar.").of(INCOMPRESSIBLE),
    row(
        "physics.scalars.<name>.diffusivity",
        &[POSITIVE, Section],
        Required,
        "Its diffusivity; a section if it varies.",
    )
    .of(INCOMPRESSIBLE),
    row("physics.scalars.<name>.diffusivity.constant", &[POSITIVE], Required, CONSTANT_PART).of(INCOMPRESSIBLE),
    row("physics.scalars.<name>.diffusivity.formula", &[Formula(SCALARS)], Says("`constant`"), VARIES)
        .of(INCOMPRESSIBLE),
    row("physics.scalars.<name>.source", &[Formula(SPACE_TIME)], Value("0"), "Its source.").of(INCOMPRESSIBLE),
    row(
        "physics.buoyancy",
        &[Section],
        Nothing,
        "The force per mass −β (T − T₀) g of the Boussinesq approximation, with `physics.temperature`.",
    )
    .of(INCOMPRESSIBLE),
    row("physics.buoyancy.gravity", &[Vector], Required, "The acceleration g, such as `[0, -1]`.")
        .of(INCOMPRESSIBLE),
    row("physics.buoyancy.expansion", &[Number(Any)], Value("1"), "The thermal expansion coefficient β.")
        .of(INCOMPRESSIBLE),
    row("physics.buoyancy.reference", &[Number(Any)], Value("0"), "The temperature T₀ without buoyancy.")
        .of(INCOMPRESSIBLE),
    row(
        "physics.flow_rate",
        &[Section],
        Nothing,
        "A mean velocity that a uniform force per mass keeps, as in a channel that is periodic along the flow. \
         Each step computes the force. Of a gas it is the bulk velocity, momentum over mass.",
    )
    .of(VISCOUS),
    row(
        "physics.flow_rate.mean",
        &[Number(Any)],
        Required,
        "The mean over the domain of the velocity along `direction`.",
    )
    .of(VISCOUS),
    row(
        "physics.flow_rate.direction",
        &[Vector],
        Says("the x-axis"),
        "The direction of the force; its length does not matter.",
    )
    .of(VISCOUS),
    row(
        "physics.flow_rate.heat",
        &[Words(&["free", "balanced"])],
        Value("free"),
        "Where the work of the force goes, which friction turns to heat: it stays in the gas until a boundary \
         takes it (`free`), or it is taken out, equally for all mass (`balanced`).",
    )
    .of(NAVIER_STOKES),
    row(
        "physics.velocity",
        &[Vector],
        Required,
        "The velocity of linear advection. The unknown is called `u`.",
    )
    .of(ADVECTION),
    row(
        "physics.exact",
        &[Formula("x, y, z")],
        Nothing,
        "The exact solution, from which the program derives right-hand side and boundary data and computes \
         errors.",
    )
    .of(POISSON),
    row(
        "physics.forcing",
        &[Words(&["exact"]), Formula("x, y, z")],
        Says("`exact` if `physics.exact` is given; required without it"),
        "The right-hand side f of −∇·(κ∇u) + λu = f. `exact` derives it from the exact solution, κ and λ.",
    )
    .of(POISSON),
    row(
        "physics.kappa",
        &[Formula("x, y, z"), Section],
        Value("1"),
        "The coefficient κ, which must be greater than 0: one formula, or a section with one for each \
         region of the mesh.",
    )
    .of(POISSON),
    row(
        "physics.kappa.<region>",
        &[Formula("x, y, z")],
        Required,
        "The coefficient κ in a region of the mesh.",
    )
    .of(POISSON),
    row("physics.lambda", &[Formula("x, y, z")], Value("0"), "The coefficient λ, which must be 0 or more.")
        .of(POISSON),
];
