//! Keys of the list `monitors`.

use super::Absent::{Nothing, Required, Says, Value};
use super::Kind::{Formula, List, Number, Section, Text, Vector, Whole, Words};
use super::Range::{Above, Any};
use super::{FLOW, FLUID, GAS, INCOMPRESSIBLE, Key, SPACE_TIME, key};

const TIME: super::Kind = Number(Above(0.0));
const STEPS: super::Kind = Whole(1, usize::MAX);
pub(super) const CONDITION: super::Kind = Formula("t, step and columns of monitors");
const POSITIVE: super::Kind = Number(Above(0.0));
const FORMULAS: super::Kind = List("formulas, or `Name: formula`", &[Text, Section]);
const BOUNDARY: &[super::Kind] = &[Text, List("names of boundaries", &[Text])];

pub(super) const KEYS: &[Key] = &[
    key(
        "monitors",
        &[List("monitors", &[Section])],
        Nothing,
        "Numbers that are recorded during the run, in tables `monitors/*.csv` with their curves `*.svg`. \
         Rows are written at the start and the end as well.",
    )
    .of(FLOW),
    key("monitors[].residual", &[Section], Nothing, "The L² norm of du/dt of each conserved variable.")
        .of(FLOW),
    key(
        "monitors[].error",
        &[Section],
        Nothing,
        "Norms of the error against an exact solution. Where no boundary of incompressible flow has a pressure, \
         pressures of the same mean are compared.",
    )
    .of(FLOW),
    key("monitors[].integral", &[Section], Nothing, "Integrals over the domain.").of(FLOW),
    key(
        "monitors[].divergence",
        &[Section],
        Nothing,
        "Norms of the divergence of the velocity and of its normal jumps.",
    )
    .of(INCOMPRESSIBLE),
    key(
        "monitors[].flow_rate",
        &[Section],
        Nothing,
        "The mean velocity and the force per mass that keeps it, with `physics.flow_rate`.",
    )
    .of(INCOMPRESSIBLE),
    key(
        "monitors[].limited",
        &[Section],
        Nothing,
        "Share of the elements that a limiter changed in the last stage, the smallest factor of their modes, \
         and the smallest density and pressure.",
    )
    .of(GAS),
    key(
        "monitors[].limited.every",
        &[TIME],
        Nothing,
        "The interval of time between rows, in place of `every_steps`.",
    )
    .of(GAS),
    key("monitors[].limited.every_steps", &[STEPS], Value("100"), "The number of steps between rows.")
        .of(GAS),
    key(
        "monitors[].forces",
        &[Section],
        Nothing,
        "Forces on boundaries, with their coefficients, means and Strouhal number.",
    )
    .of(FLUID),
    key(
        "monitors[].wall",
        &[Section],
        Nothing,
        "Pressure, friction and heat along boundaries, in `monitors/wall-curve.csv`, with the points of \
         separation.",
    )
    .of(FLUID),
    key("monitors[].recirculation", &[Section], Nothing, "The length of the recirculation along a line.")
        .of(FLOW),
    key("monitors[].probe", &[Section], Nothing, "Values at points.").of(FLOW),
    key(
        "monitors[].sample",
        &[Section],
        Nothing,
        "Values at many points: in `monitors/sample.csv` a row for each point and time, of a plane the last values \
         in `monitors/sample.vtu`.",
    )
    .of(FLOW),
    key(
        "monitors[].{residual,error,integral,forces,wall,recirculation,probe,sample}.every",
        &[TIME],
        Nothing,
        "The interval of time between rows, in place of `every_steps`.",
    )
    .of(FLOW),
    key(
        "monitors[].{divergence,flow_rate}.every",
        &[TIME],
        Nothing,
        "The interval of time between rows, in place of `every_steps`.",
    )
    .of(INCOMPRESSIBLE),
    key("monitors[].divergence.every_steps", &[STEPS], Value("100"), "The number of steps between rows.")
        .of(INCOMPRESSIBLE),
    key("monitors[].flow_rate.every_steps", &[STEPS], Value("10"), "The number of steps between rows.")
        .of(INCOMPRESSIBLE),
    key("monitors[].residual.every_steps", &[STEPS], Value("100"), "The number of steps between rows.")
        .of(FLOW),
    key(
        "monitors[].{forces,recirculation}.every_steps",
        &[STEPS],
        Value("10"),
        "The number of steps between rows.",
    )
    .of(FLOW),
    key("monitors[].probe.every_steps", &[STEPS], Value("1"), "The number of steps between rows.").of(FLOW),
    key(
        "monitors[].{error,integral,wall,sample}.every_steps",
        &[STEPS],
        Says("rows at the start and the end only"),
        "The number of steps between rows.",
    )
    .of(FLOW),
    key(
        "monitors[].error.exact",
        &[Text, Section],
        Required,
        "The exact solution: its name, or a section as in `initial.exact`. The name alone stands for the \
         solution of `initial` with its parameters.",
    )
    .of(FLOW),
    key(
        "monitors[].error.exact.name",
        &[Text],
        Nothing,
        "The name of an exact solution, whose parameters stand beside it.",
    )
    .of(FLOW),
    key(
        "monitors[].error.exact.<variable>",
        &[Formula(SPACE_TIME)],
        Required,
        "The formula of a primitive variable, or with `name` a parameter of that solution.",
    )
    .of(FLOW),
    key(
        "monitors[].error.<parameter>",
        &[Number(Any)],
        Says("the parameter's own"),
        "A parameter of the exact solution.",
    )
    .of(FLOW),
    key(
        "monitors[].error.norms",
        &[List("the words l1, l2, linf", &[Words(&["l1", "l2", "linf"])])],
        Value("[l1, l2, linf]"),
        "The norms: the integral of |e|, the root of that of e², and the largest |e|.",
    )
    .of(FLOW),
    key(
        "monitors[].integral.fields",
        &[FORMULAS],
        Required,
        "The integrands: formulas of the solution, such as `rho_E`, `Mach` or `(v_x - u_y)^2/2`.",
    )
    .of(FLOW),
    key(
        "monitors[].integral.reference",
        &[Section],
        Nothing,
        "A table of other numbers to compare the integrals with.",
    )
    .of(FLOW),
    key(
        "monitors[].integral.reference.file",
        &[Text],
        Required,
        "The path of a table of numbers in columns, whose first column is time.",
    )
    .of(FLOW),
    key(
        "monitors[].integral.reference.columns",
        &[Section],
        Required,
        "The columns of the table, such as `{ energy: 2 }`.",
    )
    .of(FLOW),
    key(
        "monitors[].integral.reference.columns.<integral>",
        &[Whole(2, usize::MAX)],
        Nothing,
        "The column that an integral is compared with, counted from 1.",
    )
    .of(FLOW),
    key("monitors[].{forces,wall}.boundary", BOUNDARY, Required, "The boundary, or a list of boundaries.")
        .of(FLUID),
    key(
        "monitors[].forces.from",
        &[Number(Any), Section],
        Says("none: no means"),
        "The time from which means, amplitudes, extremes and the Strouhal number are computed, or `when: \
         CONDITION`.",
    )
    .of(FLUID),
    key(
        "monitors[].{integral,probe,sample,wall}.from",
        &[Number(Any), Section],
        Says("the start"),
        "The time from which rows are recorded, or `when: CONDITION`.",
    )
    .of(FLOW),
    key(
        "monitors[].{forces,integral,probe,sample,wall}.from.when",
        &[CONDITION],
        Required,
        "The condition that must hold once: a formula in `t`, `step` and columns of monitors, such as \
         `integral_energy` or `forces_cd`.",
    )
    .of(FLOW),
    key(
        "monitors[].{forces,wall}.reference",
        &[Section],
        Says("`physics.reference`"),
        "The scales of the coefficients, where they are not those of `physics.reference`.",
    )
    .of(FLUID),
    key(
        "monitors[].{forces,wall}.reference.{density,velocity}",
        &[POSITIVE],
        Says("that of `physics.reference`; required without it"),
        "The scale of the dynamic pressure ½ρ|v|².",
    )
    .of(FLUID),
    key(
        "monitors[].{forces,wall}.reference.pressure",
        &[Number(Any)],
        Says("that of `physics.reference`, else 0"),
        "The pressure that is subtracted from the pressure on the boundary.",
    )
    .of(FLUID),
    key(
        "monitors[].{forces,wall}.reference.area",
        &[POSITIVE],
        Says("`length` in the plane; required in space"),
        "The area of force coefficients, in the plane a length.",
    )
    .of(FLUID),
    key(
        "monitors[].{forces,wall}.reference.length",
        &[POSITIVE],
        Says("that of `physics.reference`; required without it"),
        "The length of moment coefficients and of the Strouhal number.",
    )
    .of(FLUID),
    key(
        "monitors[].{forces,wall}.reference.direction",
        &[Vector],
        Says("that of `physics.reference`, else the x-axis"),
        "The direction of drag.",
    )
    .of(FLUID),
    key(
        "monitors[].{forces,wall}.reference.lift",
        &[Vector],
        Says("to the left of drag, in the plane of x and y"),
        "The direction of lift.",
    )
    .of(FLUID),
    key(
        "monitors[].{forces,wall}.reference.origin",
        &[Vector],
        Says("the origin"),
        "The point that moments are taken about.",
    )
    .of(FLUID),
    key("monitors[].recirculation.from", &[Vector], Required, "The first point of the line, on the body.")
        .of(FLOW),
    key(
        "monitors[].recirculation.to",
        &[Vector],
        Required,
        "The last point of the line, beyond the recirculation.",
    )
    .of(FLOW),
    key("monitors[].probe.points", &[List("points", &[Vector])], Required, "The points.").of(FLOW),
    key(
        "monitors[].sample.points",
        &[List("points", &[Vector]), Section],
        Nothing,
        "The points; `line` or `plane` in its place.",
    )
    .of(FLOW),
    key(
        "monitors[].sample.points.file",
        &[Text],
        Required,
        "A table of points, with or without a header: the columns `x`, `y` and `z`, or else the first ones.",
    )
    .of(FLOW),
    key("monitors[].sample.line", &[Section], Nothing, "Equally spaced points of a line.").of(FLOW),
    key("monitors[].sample.line.{from,to}", &[Vector], Required, "The first and the last point.").of(FLOW),
    key("monitors[].sample.line.points", &[Whole(2, usize::MAX)], Value("101"), "The number of points.")
        .of(FLOW),
    key("monitors[].sample.plane", &[Section], Nothing, "A grid of points on a rectangle or parallelogram.")
        .of(FLOW),
    key("monitors[].sample.plane.corner", &[Vector], Required, "A corner.").of(FLOW),
    key(
        "monitors[].sample.plane.sides",
        &[List("two vectors", &[Vector])],
        Required,
        "The two sides that begin there.",
    )
    .of(FLOW),
    key(
        "monitors[].sample.plane.points",
        &[List("two whole numbers", &[Whole(2, usize::MAX)])],
        Value("[51, 51]"),
        "The numbers of points along the sides.",
    )
    .of(FLOW),
    key(
        "monitors[].{probe,sample}.fields",
        &[FORMULAS],
        Required,
        "The recorded quantities: formulas of the solution, such as `p`, `Mach` or `Vorticity`.",
    )
    .of(FLOW),
];
