//! Keys of the section `time`.

use crate::file::keys::Absent::{Nothing, Required, Says, Value};
use crate::file::keys::Kind::{Flag, List, Number, Section, Text, Whole, Words};
use crate::file::keys::Range::{Above, Any, AtLeast, Below};
use crate::file::keys::{EXPLICIT, FLOW, FLUID, GAS, INCOMPRESSIBLE, Low, Row, row};
use dgsuite_timeint::{Esdirk, Scheme};

const FRACTION: crate::file::keys::Kind = Number(Below(Low::Over(0.0), 1.0));

/// The words of explicit schemes, then those of implicit ones.
const SCHEMES: [&str; Scheme::ALL.len() + Esdirk::ALL.len()] = {
    let mut words = [""; Scheme::ALL.len() + Esdirk::ALL.len()];
    let mut i = 0;
    while i < words.len() {
        words[i] = match i < Scheme::ALL.len() {
            true => Scheme::ALL[i].name(),
            false => Esdirk::ALL[i - Scheme::ALL.len()].name(),
        };
        i += 1;
    }
    words
};

pub(super) const KEYS: &[Row] = &[
    row("time", &[Section], Required, "The scheme in time, the step size, and when the run ends.").of(FLOW),
    row(
        "time.scheme",
        &[Words(&SCHEMES)],
        Says("`lserk54`; `ssprk43` with a limiter; `rdpk35` with `adaptive`"),
        "The Runge-Kutta scheme. `rk2` is the midpoint rule; `rdpk35` estimates its error. `esdirk32` and `esdirk43` are \
         implicit, of order 3 and 4, with an estimate of their error (euler and navier-stokes, \
         no limiter, in double precision): steps can be tens to thousands of explicit ones.",
    )
    .of(EXPLICIT),
    row(
        "time.scheme",
        &[Words(&["bdf1", "bdf2", "bdf3"])],
        Value("bdf2"),
        "The backward difference formula of order 1, 2 or 3. Convection is extrapolated with the same order.",
    )
    .of(INCOMPRESSIBLE),
    row(
        "time.splitting",
        &[Words(&["dual", "pressure-correction"])],
        Value("dual"),
        "How velocity and pressure are decoupled: dual splitting solves for the pressure first, pressure \
         correction for the velocity.",
    )
    .of(INCOMPRESSIBLE),
    row(
        "time.rotational",
        &[Flag],
        Value("true"),
        "Whether `pressure-correction` has the rotational form, which is more accurate at walls.",
    )
    .of(INCOMPRESSIBLE),
    row(
        "time.subcycles",
        &[Words(&["auto"]), Whole(0, usize::MAX)],
        Value("0"),
        "The number of explicit sub-steps of convection in each step, so that steps can be larger; 0 for \
         none. `auto` takes as many as `cfl` requires in steps of size `dt`.",
    )
    .of(INCOMPRESSIBLE),
    row(
        "time.graded_start",
        &[Flag],
        Value("true"),
        "Whether the first step is a hundredth of the others and the next ones grow, so that the first \
         steps, which are of order 1, do not limit the accuracy.",
    )
    .of(INCOMPRESSIBLE),
    row(
        "time.cfl",
        &[Words(&["auto"]), Number(Above(0.0))],
        Value("auto"),
        "The step size: `auto` for the largest stable step, or a CFL number. With `adaptive` no step is \
         larger. An implicit scheme needs a number, such as 50, or `dt`; with `adaptive` `auto` is a thousand \
         times the largest stable explicit step.",
    )
    .of(EXPLICIT),
    row(
        "time.cfl",
        &[Words(&["auto"]), Number(Above(0.0))],
        Value("auto"),
        "The step size: `auto` for the largest stable step of convection, or a CFL number. With \
         `subcycles: auto` it bounds the sub-steps, and `dt` is the step.",
    )
    .of(INCOMPRESSIBLE),
    row("time.dt", &[Number(Above(0.0))], Nothing, "A fixed step size, in place of `cfl`.").of(FLOW),
    row(
        "time.adaptive",
        &[Section],
        Nothing,
        "The step size is controlled by an estimate of the error in time. This needs `scheme: rdpk35`, \
         `esdirk32` or `esdirk43`.",
    )
    .of(EXPLICIT),
    row(
        "time.adaptive.tolerance",
        &[FRACTION],
        Required,
        "The error of one step that is allowed, relative to the size of the solution.",
    )
    .of(EXPLICIT),
    row(
        "time.end",
        &[Number(Any)],
        Says("none; one of `end`, `steps` and `steady` is required"),
        "The time at which the run ends. The last step is shortened to end there exactly.",
    )
    .of(FLOW),
    row(
        "time.steps",
        &[Whole(0, usize::MAX)],
        Says("none; one of `end`, `steps` and `steady` is required"),
        "The number of steps after which the run ends, counted from the start of the first run.",
    )
    .of(FLOW),
    row(
        "time.retries",
        &[Whole(0, usize::MAX)],
        Says("10 with a limiter, 0 without"),
        "How often a step that ends in a bad state is repeated with half its size before the run fails. Steps \
         grow again afterwards.",
    )
    .of(GAS),
    row(
        "time.steady",
        &[Section],
        Says("none; one of `end`, `steps` and `steady` is required"),
        "The run ends when the solution is steady.",
    )
    .of(FLOW),
    row(
        "time.steady.tolerance",
        &[FRACTION],
        Value("1e-10"),
        "The residual at which the run ends, relative to the largest residual of the run.",
    )
    .of(FLOW),
    row(
        "time.steady.max_steps",
        &[Whole(1, usize::MAX)],
        Says("200 with `solver: newton`, else 100000"),
        "The number of steps after which the run fails if it is not steady.",
    )
    .of(FLOW),
    row(
        "time.steady.solver",
        &[Words(&["explicit", "newton"])],
        Says("`newton`; `explicit` if the file has one of `local_steps`, `damping`, `scheme`, `cfl`, `dt`, \
              `adaptive` and `retries`"),
        "How the steady state is reached: by explicit steps in time, or by implicit Newton steps with exact \
         products of the Jacobian, tens instead of many thousands (in double precision, without a limiter).",
    )
    .of(GAS),
    row(
        "time.steady.sensitivities",
        &[List("names of constants", &[Text])],
        Says("none"),
        "Names of `constants`: the derivatives of the forces of all monitors `forces` with respect to each, at the \
         steady state, by one linear problem with the Jacobian each (`solver: newton`).",
    )
    .of(GAS),
    row(
        "time.newton",
        &[Section],
        Nothing,
        "Parameters of Newton steps, towards a steady state or in the stages of implicit steps in time.",
    )
    .of(GAS),
    row(
        "time.newton.tolerance",
        &[FRACTION],
        Says("1e-8; a twentieth of `adaptive.tolerance` with `adaptive`"),
        "The residual of a stage of an implicit scheme in time that is left, relative to the size of the \
         solution.",
    )
    .of(GAS),
    row(
        "time.newton.start",
        &[Number(Above(0.0))],
        Value("10"),
        "The first Newton step, in units of the largest explicit step of each element.",
    )
    .of(GAS),
    row(
        "time.newton.growth",
        &[Number(AtLeast(1.0))],
        Value("4"),
        "The factor by which steps grow at least after a whole step; they grow tenfold that at most, as the \
         residual falls.",
    )
    .of(GAS),
    row(
        "time.steady.local_steps",
        &[Flag],
        Value("false"),
        "Every element uses its own stable step size, which is faster but has no meaning in time.",
    )
    .of(EXPLICIT),
    row(
        "time.steady.forces",
        &[Section],
        Nothing,
        "The run also ends when drag and lift of all monitors `forces` stay the same over some rows.",
    )
    .of(FLUID),
    row(
        "time.steady.forces.tolerance",
        &[FRACTION],
        Value("1e-3"),
        "The range of drag and lift over these rows, relative to the larger of their sizes.",
    )
    .of(FLUID),
    row(
        "time.steady.forces.rows",
        &[Whole(2, usize::MAX)],
        Value("20"),
        "The number of rows of the monitor; after a restart they are counted anew.",
    )
    .of(FLUID),
    row(
        "time.steady.damping",
        &[Number(AtLeast(10.0))],
        Nothing,
        "Draws the solution towards its mean over about this number of steps, which damps waves that leave \
         the domain too slowly; a third of their period in steps is best. The steady state does not change.",
    )
    .of(EXPLICIT),
];
