//! Keys of the sections `initial` and `boundaries`; those of conditions stand beside their readers.

use crate::file::keys::Absent::{Nothing, Required, Says, Value};
use crate::file::keys::Kind::{Formula, Number, Section, Text, Whole, Words};
use crate::file::keys::Range::AtLeast;
use crate::file::keys::{
    ADVECTION, EULER, FLOW, FLUID, INCOMPRESSIBLE, NAVIER_STOKES, POISSON, Row, SPACE_TIME, row,
};

/// The words of `type` are those of the conditions that a model has.
pub(super) const KEYS: &[Row] = &[
    row(
        "initial",
        &[Section],
        Says("a gas at rest with ρ = p = 1, or u = 0; a fluid at rest"),
        "The state at the start: a formula for each primitive variable, an exact solution, or a checkpoint.",
    )
    .of(FLOW),
    row(
        "initial.restart",
        &[Text],
        Nothing,
        "The path of a checkpoint to start from, or of a folder with checkpoints, of which the newest is \
         used.",
    )
    .of(FLOW),
    row(
        "initial.exact",
        &[Text, Section],
        Nothing,
        "The name of an exact solution, or a section with a formula for each primitive variable. Errors \
         are measured against it.",
    )
    .of(FLOW),
    row(
        "initial.exact.name",
        &[Text],
        Nothing,
        "The name of an exact solution, whose parameters stand beside it.",
    )
    .of(FLOW),
    row(
        "initial.exact.<variable>",
        &[Formula(SPACE_TIME)],
        Required,
        "The formula of a primitive variable, or with `name` a parameter of that solution.",
    )
    .of(FLOW),
    row(
        "initial.<variable>",
        &[Formula(SPACE_TIME)],
        Required,
        "The formula of a primitive variable (`rho`, `u`, `v`, `w`, `p`, `T` and scalars of incompressible flow), \
         or beside `exact` a parameter of that solution. For incompressible flow the pressure can be left out, and \
         scalars have their formulas beside the name of a solution.",
    )
    .of(FLOW),
    row(
        "initial.turbulence",
        &[Section],
        Says("none: the state as given"),
        "Isotropic turbulence on a state of formulas, in a mesh that is periodic in all directions: waves without \
         divergence, with random phases and directions and a given spectrum. They are a function of place, the same \
         on all machines and ranks.",
    )
    .of(FLUID),
    row(
        "initial.turbulence.spectrum",
        &[Formula("the wave number k = 2π/length")],
        Required,
        "The energy per wave number: its sum over the wave numbers of 1, 2, … waves in the longest period, times \
         their distance, is the mean of half the square of the velocity. One of `tables` gives measured values.",
    )
    .of(FLUID),
    row(
        "initial.turbulence.waves",
        &[Whole(1, dgsuite_physics::exact::RandomWaves::MOST)],
        Required,
        "The largest number of waves in the longest period.",
    )
    .of(FLUID),
    row(
        "initial.turbulence.seed",
        &[Whole(0, usize::MAX)],
        Value("0"),
        "A number that chooses phases and directions.",
    )
    .of(FLUID),
    row(
        "boundaries",
        &[Section],
        Says("none; every boundary that is not periodic is required"),
        "The conditions on the boundaries, by the names that the mesh gives them.",
    ),
    row("boundaries.<name>", &[Section], Required, "The condition on the boundary of this name."),
    row(
        "boundaries.<name>.type",
        &[Words(&[])],
        Required,
        "The kind of condition.",
    )
    .of(EULER),
    row(
        "boundaries.<name>.type",
        &[Words(&[])],
        Required,
        "The kind of condition.",
    )
    .of(NAVIER_STOKES),
    row(
        "boundaries.<name>.type",
        &[Words(&[])],
        Required,
        "The kind of condition. `dirichlet` prescribes the velocity.",
    )
    .of(INCOMPRESSIBLE),
    row(
        "boundaries.<name>.type",
        &[Words(&[])],
        Required,
        "The kind of condition. `dirichlet` prescribes u where the flow enters.",
    )
    .of(ADVECTION),
    row(
        "boundaries.<name>.type",
        &[Words(&["dirichlet", "neumann", "robin"])],
        Required,
        "The kind of condition: u, κ ∂u/∂n, or κ ∂u/∂n + αu is prescribed.",
    )
    .of(POISSON),
];

/// Keys of conditions of elliptic problems.
pub(super) const ELLIPTIC: &[Row] = &[
    row(
        "boundaries.<name>.u",
        &[Words(&["exact"]), Formula("x, y, z")],
        Says("`exact` if `physics.exact` is given; required without it"),
        "The prescribed value of u.",
    )
    .of(POISSON)
    .with(&["dirichlet"]),
    row(
        "boundaries.<name>.flux",
        &[Words(&["exact"]), Formula("x, y, z")],
        Says("`exact` if `physics.exact` is given; required without it"),
        "The prescribed flux κ ∂u/∂n along the outward normal.",
    )
    .of(POISSON)
    .with(&["neumann"]),
    row(
        "boundaries.<name>.g",
        &[Words(&["exact"]), Formula("x, y, z")],
        Says("`exact` if `physics.exact` is given; required without it"),
        "The prescribed value of κ ∂u/∂n + αu.",
    )
    .of(POISSON)
    .with(&["robin"]),
    row(
        "boundaries.<name>.alpha",
        &[Number(AtLeast(0.0))],
        Required,
        "The coefficient α of the condition `robin`.",
    )
    .of(POISSON)
    .with(&["robin"]),
];
