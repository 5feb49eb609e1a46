//! The section `time`: scheme, step size, and the end of the run.

use dgsuite_ops::StepMeasure;
use dgsuite_solve::flow::{Law, Setup};
use dgsuite_solve::setup::{ImplicitSteps, Newton};
use dgsuite_timeint::{Esdirk, Scheme, StepSize};

use crate::file::every::AUTO;
use crate::file::key::{Key, Needed, Parts, Usual, key, keys};
use crate::file::keys::Kind::{List, Text};
use crate::file::keys::Range::{self, Above, Any, AtLeast, Below};
use crate::file::keys::{EXPLICIT, FLOW, FLUID, GAS, INCOMPRESSIBLE, INCOMPRESSIBLE_FLOW, Low};
use crate::file::node::Value;
use crate::file::problem::{InputError, Problem};
use crate::file::section::{Section, once, text};
use crate::file::source::{Located, Place};
use crate::file::tree::Tree;

/// Time stepping as written.
#[derive(Clone, Debug)]
pub struct TimeSpec {
    /// The explicit Runge–Kutta scheme; without a meaning for incompressible flow, and with an implicit one
    /// that with which its steps are compared.
    pub scheme: Scheme,
    /// How steps are chosen.
    pub step: StepSpec,
    /// Steps by an estimate of their error.
    pub adaptive: Option<AdaptiveSpec>,
    /// The final time.
    pub end: Option<Located<f64>>,
    /// The largest number of steps.
    pub steps: Option<usize>,
    /// A steady run.
    pub steady: Option<SteadySpec>,
    /// The constants by which forces of the steady state are differentiated.
    pub sensitivities: Vec<Located<String>>,
    /// The order at which Newton steps begin.
    pub from_order: Option<usize>,
    /// Newton steps towards the steady state, with the place that asks for them.
    pub newton: Option<Located<Newton>>,
    /// Implicit steps in time, with the place that asks for them.
    pub implicit: Option<Located<ImplicitSteps>>,
    /// The largest number of repetitions of a failed step, each with half the size.
    pub retries: u64,
    /// Where the section starts.
    pub place: Place,
}

/// The step size.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum StepSpec {
    /// By wave speeds and a CFL number; `None` for the largest stable step, from the spectrum of each
    /// element.
    Cfl(Option<f64>),
    /// Fixed.
    Fixed(f64),
}

impl StepSpec {
    /// The measure in which the solver states its steps.
    pub fn measure(self) -> StepMeasure {
        match self {
            Self::Cfl(Some(_)) => StepMeasure::Cfl,
            Self::Cfl(None) | Self::Fixed(_) => StepMeasure::Radius,
        }
    }
}

/// Steps by an estimate of their error.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AdaptiveSpec {
    /// The error of a step that is allowed, relative to the size of the solution.
    pub tolerance: f64,
}

/// A run towards a steady state.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SteadySpec {
    /// The residual at which to stop, relative to the largest so far in each conserved variable.
    pub tolerance: f64,
    /// The largest number of steps.
    pub max_steps: usize,
    /// Newton steps.
    pub newton: bool,
    /// Every element uses its own step size, as Newton steps do.
    pub local_steps: bool,
    /// The number of steps over which the mean is taken to which the solution is drawn.
    pub damping: Option<f64>,
    /// When the forces count as steady, if that ends the run, too.
    pub forces: Option<SettledSpec>,
}

/// When forces count as steady.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SettledSpec {
    /// The range of drag and lift over the last rows of a monitor, relative to the larger of their sizes.
    pub tolerance: f64,
    /// The number of rows.
    pub rows: usize,
}

/// A tolerance that is relative to something.
const FRACTION: Range = Below(Low::Over(0.0), 1.0);

/// A scheme of either kind.
#[derive(Clone, Copy, PartialEq)]
enum Either {
    Explicit(Scheme),
    Implicit(Esdirk),
}

/// The words of explicit schemes, then those of implicit ones.
fn schemes() -> Vec<(&'static str, Either)> {
    let explicit = Scheme::ALL.iter().map(|scheme| (scheme.name(), Either::Explicit(*scheme)));
    let implicit = Esdirk::ALL.iter().map(|scheme| (scheme.name(), Either::Implicit(*scheme)));
    explicit.chain(implicit).collect()
}

keys! { FIRST:
    TIME: Needed<Parts> = key("time")
        .section()
        .of(FLOW)
        .text("The scheme in time, the step size, and when the run ends.")
        .required("time: { end: T }, or `steps`, or `steady`");
    SCHEME: Key<Either> = key("time.scheme")
        .found(schemes)
        .of(EXPLICIT)
        .says("`lserk54`; `ssprk43` with a limiter; `rdpk35` with `adaptive`")
        .text("The Runge-Kutta scheme. `rk2` is the midpoint rule; `rdpk35` estimates its error. `esdirk32` \
               and `esdirk43` are implicit, of order 3 and 4, with an estimate of their error (euler and \
               navier-stokes, no limiter, in double precision): steps can be tens to thousands of explicit \
               ones.");
}

keys! { KEYS:
    CFL: Usual<Option<f64>> = key("time.cfl")
        .words(&[(AUTO, None)])
        .or_number(Above(0.0), Some, |cfl| *cfl)
        .of(EXPLICIT)
        .text("The step size: `auto` for the largest stable step, or a CFL number. With `adaptive` no step \
               is larger. An implicit scheme needs a number, such as 50, or `dt`; with `adaptive` `auto` is \
               a thousand times the largest stable explicit step.")
        .default(None);
    pub(super) CFL_OF_CONVECTION: Usual<Option<f64>> = key("time.cfl")
        .words(&[(AUTO, None)])
        .or_number(Above(0.0), Some, |cfl| *cfl)
        .of(INCOMPRESSIBLE)
        .text("The step size: `auto` for the largest stable step of convection, or a CFL number. With \
               `subcycles: auto` it bounds the sub-steps, and `dt` is the step.")
        .default(None);
    DT: Key<f64> = key("time.dt")
        .number(Above(0.0))
        .of(FLOW)
        .text("A fixed step size, in place of `cfl`.");
    ADAPTIVE: Key<Parts> = key("time.adaptive")
        .section()
        .of(EXPLICIT)
        .text("The step size is controlled by an estimate of the error in time. This needs `scheme: \
               rdpk35`, `esdirk32` or `esdirk43`.");
    ERROR: Needed<f64> = key("time.adaptive.tolerance")
        .number(FRACTION)
        .why(", as it is relative to the size of the solution")
        .of(EXPLICIT)
        .text("The error of one step that is allowed, relative to the size of the solution.")
        .required("the error of a step that is allowed, such as 1e-5");
    END: Key<f64> = key("time.end")
        .number(Any)
        .of(FLOW)
        .says("none; one of `end`, `steps` and `steady` is required")
        .text("The time at which the run ends. The last step is shortened to end there exactly.");
    STEPS: Key<usize> = key("time.steps")
        .whole(0, usize::MAX)
        .of(FLOW)
        .says("none; one of `end`, `steps` and `steady` is required")
        .text("The number of steps after which the run ends, counted from the start of the first run.");
    RETRIES: Key<usize> = key("time.retries")
        .whole(0, usize::MAX)
        .of(GAS)
        .says("10 with a limiter, 0 without")
        .text("How often a step that ends in a bad state is repeated with half its size before the run \
               fails. Steps grow again afterwards.");
    STEADY: Key<Parts> = key("time.steady")
        .section()
        .of(FLOW)
        .says("none; one of `end`, `steps` and `steady` is required")
        .text("The run ends when the solution is steady.");
    RESIDUAL: Usual<f64> = key("time.steady.tolerance")
        .number(FRACTION)
        .why(", as it is relative to the largest residual")
        .of(FLOW)
        .text("The residual at which the run ends, relative to the largest residual of the run.")
        .default(1e-10);
    MAX_STEPS: Key<usize> = key("time.steady.max_steps")
        .whole(1, usize::MAX)
        .of(FLOW)
        .says("200 with `solver: newton`, else 100000")
        .text("The number of steps after which the run fails if it is not steady.");
    SOLVER: Key<bool> = key("time.steady.solver")
        .words(&[("explicit", false), ("newton", true)])
        .of(GAS)
        .says("`newton`; `explicit` if the file has one of `local_steps`, `damping`, `scheme`, `cfl`, \
               `dt`, `adaptive` and `retries`")
        .text("How the steady state is reached: by explicit steps in time, or by implicit Newton steps with \
               exact products of the Jacobian, tens instead of many thousands (in double precision, without \
               a limiter).");
    SENSITIVITIES: Key<Parts> = key("time.steady.sensitivities")
        .parts(List("names of constants", &[Text]))
        .of(GAS)
        .says("none")
        .text("Names of `constants`: the derivatives of the forces of all monitors `forces` with respect to \
               each, at the steady state, by one linear problem with the Jacobian each (`solver: newton`).");
    NEWTON: Key<Parts> = key("time.newton")
        .section()
        .of(GAS)
        .text("Parameters of Newton steps, towards a steady state or in the stages of implicit steps in \
               time.");
    TOLERANCE: Key<f64> = key("time.newton.tolerance")
        .number(FRACTION)
        .why(", as it is relative to the size of the solution")
        .of(GAS)
        .says("1e-8; a twentieth of `adaptive.tolerance` with `adaptive`")
        .text("The residual of a stage of an implicit scheme in time that is left, relative to the size of \
               the solution.");
    START: Usual<f64> = key("time.newton.start")
        .number(Above(0.0))
        .of(GAS)
        .text("The first Newton step, in units of the largest explicit step of each element.")
        .default(10.0);
    GROWTH: Usual<f64> = key("time.newton.growth")
        .number(AtLeast(1.0))
        .of(GAS)
        .text("The factor by which steps grow at least after a whole step; they grow tenfold that at most, \
               as the residual falls.")
        .default(4.0);
    FROM_ORDER: Key<usize> = key("time.newton.from_order")
        .whole(0, usize::MAX)
        .of(GAS)
        .says("`space.order`")
        .text("Newton steps to a steady state begin at this order, and go on with the next one whenever the \
               residual has fallen to a hundredth, up to `space.order`. A run that is continued has its state \
               already.");
    LOCAL_STEPS: Usual<bool> = key("time.steady.local_steps")
        .flag()
        .of(EXPLICIT)
        .text("Every element uses its own stable step size, which is faster but has no meaning in time.")
        .default(false);
    FORCES: Key<Parts> = key("time.steady.forces")
        .section()
        .of(FLUID)
        .text("The run also ends when drag and lift of all monitors `forces` stay the same over some rows.");
    RANGE: Usual<f64> = key("time.steady.forces.tolerance")
        .number(FRACTION)
        .why(", as it is relative to the forces")
        .of(FLUID)
        .text("The range of drag and lift over these rows, relative to the larger of their sizes.")
        .default(1e-3);
    ROWS: Usual<usize> = key("time.steady.forces.rows")
        .whole(2, usize::MAX)
        .of(FLUID)
        .text("The number of rows of the monitor; after a restart they are counted anew.")
        .default(20);
    DAMPING: Key<f64> = key("time.steady.damping")
        .number(AtLeast(10.0))
        .why(" steps")
        .of(EXPLICIT)
        .text("Draws the solution towards its mean over about this number of steps, which damps waves that \
               leave the domain too slowly; a third of their period in steps is best. The steady state does \
               not change.");
}

impl TimeSpec {
    /// Reads the section; `limited` if there is a limiter in space, `follow` if `cfl` bounds sub-steps and
    /// `dt` is the step.
    ///
    /// # Errors
    /// No end, both `cfl` and `dt`, a step that is not positive, an unknown scheme, keys of other models.
    pub fn read(top: &Section<'_>, model: &str, limited: bool, follow: bool) -> Result<Self, InputError> {
        let section = TIME.open(top)?;
        section.of_model(model)?;
        for (a, b) in [
            ("cfl", "dt"),
            ("adaptive", "dt"),
            ("adaptive", "steady"),
            ("end", "steady"),
            ("steps", "steady"),
        ] {
            // Sub-steps may be bounded by a CFL number within steps of a fixed size.
            if (a, b) != ("cfl", "dt") || !follow {
                section.exclusive(a, b)?;
            }
        }
        // The order of incompressible flow is one of its parameters.
        let (scheme, esdirk) = match model == INCOMPRESSIBLE_FLOW {
            true => (DEFAULT_SCHEME, None),
            false => scheme(&section, limited)?,
        };
        let step = match DT.read(&section)? {
            Some(dt) => StepSpec::Fixed(dt.value),
            None if follow => {
                let expected = "a step size, as `subcycles: auto` bounds the sub-steps by `cfl`";
                return Err(section.missing("dt", expected));
            }
            None => StepSpec::Cfl(match model {
                INCOMPRESSIBLE_FLOW => CFL_OF_CONVECTION.read(&section)?,
                _ => CFL.read(&section)?,
            }),
        };
        let embedded = esdirk.is_some() || scheme.embedded_order().is_some();
        let adaptive = AdaptiveSpec::read(&section, &scheme_name(scheme, esdirk.as_ref()), embedded)?;
        let implicit = implicit(&section, esdirk, step, adaptive)?;
        let end = END.read(&section)?;
        let steps = STEPS.read(&section)?.map(|n| n.value);
        let steady = SteadySpec::read(&section, model)?;
        let sensitivities = sensitivities(top, &section, steady.is_some_and(|steady| steady.newton))?;
        let newton = newton(&section, steady.is_some_and(|steady| steady.newton), implicit.is_some())?;
        let from_order = match NEWTON.open(&section)? {
            Some(section) => FROM_ORDER.read(&section)?.map(|order| order.value),
            None => None,
        };
        if let Some(dt) = section.entry("dt").filter(|_| steady.is_some_and(|steady| steady.local_steps)) {
            // With local steps the elements have no common step.
            let (first, second) = (section.key("dt"), section.key("steady.local_steps"));
            return Err(InputError::at(&dt.place, Problem::Conflict { first, second }));
        }
        if end.is_none() && steps.is_none() && steady.is_none() {
            return Err(section.missing("end", "the last time, or `steps`, or `steady`"));
        }
        let retries =
            RETRIES.read(&section)?.map_or(if limited { DEFAULT_RETRIES } else { 0 }, |n| n.value as u64);
        Ok(Self {
            scheme,
            step,
            adaptive,
            end,
            steps,
            steady,
            sensitivities,
            newton,
            from_order,
            implicit,
            retries,
            place: section.place().clone(),
        })
    }
}

/// Reads `steady.sensitivities`, names of constants.
fn sensitivities(
    top: &Section<'_>,
    time: &Section<'_>,
    newton: bool,
) -> Result<Vec<Located<String>>, InputError> {
    let Some(steady) = STEADY.open(time)? else { return Ok(Vec::new()) };
    let Some(items) = SENSITIVITIES.items(&steady)? else { return Ok(Vec::new()) };
    if !newton {
        return Err(steady.misplaced("sensitivities", "explicit steps", "`time.steady.solver: newton`"));
    }
    let key = steady.key("sensitivities");
    let names = items.iter().map(|item| text(item, &key, "the name of a constant"));
    let names = names.collect::<Result<Vec<_>, InputError>>()?;
    once(&names)?;
    // Those of the file, not the reference quantities that formulas may name as well.
    let known: Vec<String> = match top.node("constants").map(|constants| &constants.value) {
        Some(Value::Map(entries)) => entries.iter().map(|entry| entry.key.clone()).collect(),
        _ => Vec::new(),
    };
    match names.iter().find(|name| !known.contains(&name.value)) {
        None => Ok(names),
        Some(name) => {
            let problem = Problem::UnknownValue { key: name.key.clone(), found: name.value.clone(), known };
            Err(InputError::at(&name.place, problem))
        }
    }
}

/// Reads `newton`, if there are Newton steps.
fn newton(time: &Section<'_>, used: bool, implicit: bool) -> Result<Option<Located<Newton>>, InputError> {
    let section = NEWTON.open(time)?;
    if implicit {
        return Ok(None);
    }
    if !used {
        return match section {
            Some(_) => {
                let belongs = "`time.steady.solver: newton`, or an implicit `time.scheme`";
                Err(time.misplaced(NEWTON.name(), "explicit steps", belongs))
            }
            None => Ok(None),
        };
    }
    if let Some(section) = section.as_ref().filter(|section| section.has("tolerance")) {
        return Err(section.misplaced("tolerance", "a steady state", "an implicit `time.scheme`"));
    }
    let (start, growth) = match &section {
        Some(section) => (START.read(section)?, GROWTH.read(section)?),
        None => (START.usual(), GROWTH.usual()),
    };
    let value = Newton { start, growth, ..Newton::default() };
    // The default has no place of its own.
    let chosen = STEADY.open(time)?.and_then(|s| s.entry("solver").map(|entry| entry.place.clone()));
    let (key, place) = match chosen {
        Some(place) => ("time.steady.solver", Some(place)),
        None => ("time.steady", time.entry("steady").map(|entry| entry.place.clone())),
    };
    let place = place.unwrap_or_else(|| time.place().clone());
    Ok(Some(Located { value, key: key.to_owned(), place }))
}

/// The residual of implicit stages that is left, relative to the size of the solution, without control of
/// errors.
const USUAL_TOLERANCE: f64 = 1e-8;

/// The same as a part of the error of a step that is allowed.
const SHARE_OF_ERROR: f64 = 0.05;

/// Reads what belongs to implicit steps in time, if there are some.
fn implicit(
    time: &Section<'_>,
    esdirk: Option<Located<Esdirk>>,
    step: StepSpec,
    adaptive: Option<AdaptiveSpec>,
) -> Result<Option<Located<ImplicitSteps>>, InputError> {
    let Some(esdirk) = esdirk else { return Ok(None) };
    if let Some(steady) = time.entry("steady") {
        let (first, second) = (time.key("scheme"), time.key("steady"));
        return Err(InputError::at(&steady.place, Problem::Conflict { first, second }));
    }
    if step == StepSpec::Cfl(None) && adaptive.is_none() {
        let expected = "the step of an implicit scheme, which accuracy limits, or `cfl: 50` (some 50 explicit \
                        steps), or `adaptive: { tolerance: 1e-5 }`";
        return Err(time.missing("dt", expected));
    }
    let section = NEWTON.open(time)?;
    let steady = |section: &Section<'_>, key: &str| {
        section.misplaced(key, "implicit steps in time", "`time.steady.solver: newton`")
    };
    let mut tolerance = None;
    if let Some(section) = &section {
        if let Some(key) = ["start", "growth", "from_order"].into_iter().find(|key| section.has(key)) {
            return Err(steady(section, key));
        }
        tolerance = TOLERANCE.read(section)?;
    }
    let default = adaptive.map_or(USUAL_TOLERANCE, |adaptive| SHARE_OF_ERROR * adaptive.tolerance);
    let steps = ImplicitSteps::new(esdirk.value, tolerance.map_or(default, |t| t.value));
    Ok(Some(esdirk.with(steps)))
}

/// The default scheme: the fewest vectors and nearly the largest step.
const DEFAULT_SCHEME: Scheme = Scheme::Lserk54;

/// The default scheme with `adaptive`.
const DEFAULT_PAIR: Scheme = Scheme::Rdpk35;

/// The default scheme with a limiter: its stages are convex combinations of Euler steps, which keep what the
/// limiter bounds.
const DEFAULT_LIMITED: Scheme = Scheme::SspRk43;

/// The default number of repetitions of a failed step with a limiter.
const DEFAULT_RETRIES: u64 = 10;

/// Names of schemes that are implicit, or not stable with high order in space.
const OTHERS: [&str; 12] = [
    "euler",
    "forward-euler",
    "explicit-euler",
    "backward-euler",
    "implicit-euler",
    "implicit",
    "crank-nicolson",
    "bdf1",
    "bdf2",
    "bdf3",
    "sdirk",
    "esdirk",
];

/// The explicit scheme, and the implicit one in its place.
fn scheme(section: &Section<'_>, limited: bool) -> Result<(Scheme, Option<Located<Esdirk>>), InputError> {
    let names = Scheme::ALL.map(Scheme::name).join(", ");
    let others = Esdirk::ALL.map(Esdirk::name).join(", ");
    let instead = format!("schemes are explicit and of order 2 to 4: {names}; or implicit: {others}");
    section.lacks("scheme", &OTHERS, &instead)?;
    let default = match section.has("adaptive") {
        true => DEFAULT_PAIR,
        false if limited => DEFAULT_LIMITED,
        false => DEFAULT_SCHEME,
    };
    Ok(SCHEME.read(section)?.map_or((default, None), |found| match found.value {
        Either::Explicit(scheme) => (scheme, None),
        Either::Implicit(esdirk) => (DEFAULT_SCHEME, Some(found.with(esdirk))),
    }))
}

/// The name of the scheme that is chosen.
fn scheme_name(scheme: Scheme, esdirk: Option<&Located<Esdirk>>) -> String {
    esdirk.map_or_else(|| scheme.to_string(), |esdirk| esdirk.value.to_string())
}

impl AdaptiveSpec {
    fn read(time: &Section<'_>, scheme: &str, embedded: bool) -> Result<Option<Self>, InputError> {
        let Some(section) = ADAPTIVE.open(time)? else { return Ok(None) };
        if !embedded {
            let explicit = Scheme::ALL.iter().filter(|s| s.embedded_order().is_some()).map(|s| s.name());
            let pairs: Vec<&str> = explicit.chain(Esdirk::ALL.map(Esdirk::name)).collect();
            let owner = format!("the scheme {scheme}");
            return Err(time.misplaced("adaptive", &owner, &format!("the scheme {}", pairs.join(", "))));
        }
        Ok(Some(Self { tolerance: ERROR.read(&section)?.value }))
    }
}

/// Whether a file asks for a march in time towards the steady state, by a key that belongs to one.
fn marches(time: &Section<'_>, steady: &Section<'_>) -> bool {
    let of_march = ["scheme", "cfl", "dt", "retries", "adaptive"];
    of_march.iter().any(|key| time.has(key)) || ["local_steps", "damping"].iter().any(|key| steady.has(key))
}

impl SteadySpec {
    fn read(time: &Section<'_>, model: &str) -> Result<Option<Self>, InputError> {
        let Some(section) = STEADY.open(time)? else { return Ok(None) };
        section.of_model(model)?;
        let forces = FORCES.open(&section)?.map(|forces| SettledSpec::read(&forces)).transpose()?;
        let chosen = SOLVER.read(&section)?.map(|found| found.value);
        let newton = chosen.unwrap_or_else(|| GAS.contains(&model) && !marches(time, &section));
        if newton {
            section.exclusive("solver", "local_steps")?;
            section.exclusive("solver", "damping")?;
            for key in ["scheme", "cfl", "dt", "retries"] {
                if let Some(entry) = time.entry(key) {
                    let (first, second) = (section.key("solver"), time.key(key));
                    return Err(InputError::at(&entry.place, Problem::Conflict { first, second }));
                }
            }
        }
        Ok(Some(Self {
            newton,
            forces,
            damping: DAMPING.read(&section)?.map(|n| n.value),
            tolerance: RESIDUAL.read(&section)?,
            max_steps: MAX_STEPS.read(&section)?.map_or(if newton { 200 } else { 100_000 }, |n| n.value),
            local_steps: LOCAL_STEPS.read(&section)? || newton,
        }))
    }
}

impl SettledSpec {
    fn read(forces: &Section<'_>) -> Result<Self, InputError> {
        Ok(Self { tolerance: RANGE.read(forces)?, rows: ROWS.read(forces)? })
    }
}

/// Writes out the steps with what the plan chose; `step` is in terms of the solver.
pub(crate) fn write(
    tree: &mut Tree,
    setup: &Setup,
    step: StepSize,
    retries: u64,
    steady: Option<SteadySpec>,
) {
    let newton = setup.newton.is_some();
    match (&setup.law, &setup.implicit) {
        _ if newton => {}
        // Its order stands with its other parameters.
        (Law::Incompressible(_), _) => {}
        (_, Some(steps)) => SCHEME.write(tree, &Either::Implicit(steps.scheme)),
        (_, None) => SCHEME.write(tree, &Either::Explicit(setup.scheme)),
    }
    match step {
        _ if newton => {}
        // A multiple of the spectral radius is not a CFL number.
        StepSize::Cfl(_) if setup.step_measure == StepMeasure::Radius => CFL.write(tree, &None),
        StepSize::Cfl(cfl) => CFL.write(tree, &Some(cfl)),
        StepSize::Fixed(dt) => DT.write(tree, &dt),
    }
    if let Some(steps) = &setup.implicit {
        TOLERANCE.write(tree, &steps.tolerance);
    }
    if retries > 0 {
        RETRIES.write(tree, &(retries as usize));
    }
    let Some(steady) = steady else { return };
    RESIDUAL.write(tree, &steady.tolerance);
    MAX_STEPS.write(tree, &steady.max_steps);
    if let Some(forces) = &steady.forces {
        RANGE.write(tree, &forces.tolerance);
        ROWS.write(tree, &forces.rows);
    }
    if let Some(newton) = &setup.newton {
        START.write(tree, &newton.start);
        GROWTH.write(tree, &newton.growth);
    }
    if setup.law.gas().is_some() {
        SOLVER.write(tree, &newton);
    }
    if !matches!(setup.law, Law::Incompressible(_)) && !steady.newton {
        LOCAL_STEPS.write(tree, &steady.local_steps);
    }
}
