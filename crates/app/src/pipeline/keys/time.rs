//! Keys of the section `time`.

use super::Absent::{Nothing, Required, Says, Value};
use super::Kind::{Flag, Number, Section, Whole, Words};
use super::Range::{Above, Any, Below};
use super::{FLOW, Key, Low, key};

const FRACTION: super::Kind = Number(Below(Low::Over(0.0), 1.0));

pub(super) const KEYS: &[Key] = &[
    key("time", &[Section], Required, "The scheme in time, the step size, and when the run ends.").of(FLOW),
    key(
        "time.scheme",
        &[Words(&["rk2", "heun", "rk4", "ssprk22", "ssprk33", "ssprk54", "lserk54", "rdpk35"])],
        Says("`lserk54`; `rdpk35` with `adaptive`"),
        "The explicit Runge-Kutta scheme. `rk2` is the midpoint rule; `rdpk35` estimates its error.",
    )
    .of(FLOW),
    key(
        "time.cfl",
        &[Words(&["auto"]), Number(Above(0.0))],
        Value("auto"),
        "The step size: `auto` for the largest stable step, or a CFL number. With `adaptive` a number \
         bounds the steps from above.",
    )
    .of(FLOW),
    key("time.dt", &[Number(Above(0.0))], Nothing, "A fixed step size, in place of `cfl`.").of(FLOW),
    key(
        "time.adaptive",
        &[Section],
        Nothing,
        "The step size is controlled by an estimate of the error in time. This needs `scheme: rdpk35`.",
    )
    .of(FLOW),
    key(
        "time.adaptive.tolerance",
        &[FRACTION],
        Required,
        "The error of one step that is allowed, relative to the size of the solution.",
    )
    .of(FLOW),
    key(
        "time.end",
        &[Number(Any)],
        Says("none; one of `end`, `steps` and `steady` is required"),
        "The time at which the run ends. The last step is shortened to end there exactly.",
    )
    .of(FLOW),
    key(
        "time.steps",
        &[Whole(0, usize::MAX)],
        Says("none; one of `end`, `steps` and `steady` is required"),
        "The number of steps after which the run ends, counted from the start of the first run.",
    )
    .of(FLOW),
    key(
        "time.steady",
        &[Section],
        Says("none; one of `end`, `steps` and `steady` is required"),
        "The run ends when the solution is steady.",
    )
    .of(FLOW),
    key(
        "time.steady.tolerance",
        &[FRACTION],
        Value("1e-10"),
        "The residual at which the run ends, relative to the largest residual of the run.",
    )
    .of(FLOW),
    key(
        "time.steady.max_steps",
        &[Whole(1, usize::MAX)],
        Value("100000"),
        "The number of steps after which the run fails if it is not steady.",
    )
    .of(FLOW),
    key(
        "time.steady.local_steps",
        &[Flag],
        Value("false"),
        "Every element uses its own stable step size, which is faster but has no meaning in time.",
    )
    .of(FLOW),
];
