//! The section `time`: scheme, step size, and the end of the run.

use dgsuite_ops::StepMeasure;
use dgsuite_solve::setup::{ImplicitSteps, Newton};
use dgsuite_timeint::{Esdirk, Scheme};

use crate::file::every::AUTO;
use crate::file::keys::INCOMPRESSIBLE_FLOW;
use crate::file::node::{Node, Value};
use crate::file::problem::{InputError, Problem};
use crate::file::section::{Section, once, text};
use crate::file::source::{Located, Place};

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

impl TimeSpec {
    /// Reads the section; `limited` if there is a limiter in space.
    ///
    /// # Errors
    /// No end, both `cfl` and `dt`, a step that is not positive, an unknown scheme, keys of other models.
    pub fn read(top: &Section<'_>, model: &str, limited: bool) -> Result<Self, InputError> {
        let wanted = "time: { end: T }, or `steps`, or `steady`";
        let section = top.section("time")?.ok_or_else(|| top.missing("time", wanted))?;
        section.of_model(model)?;
        let follow = model == INCOMPRESSIBLE_FLOW && subcycles_follow(&section);
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
        let step = match section.positive("dt")? {
            Some(dt) => StepSpec::Fixed(dt.value),
            None if follow => {
                let expected = "a step size, as `subcycles: auto` bounds the sub-steps by `cfl`";
                return Err(section.missing("dt", expected));
            }
            None => StepSpec::Cfl(read_cfl(&section)?),
        };
        let embedded = esdirk.is_some() || scheme.embedded_order().is_some();
        let adaptive = AdaptiveSpec::read(&section, &scheme_name(scheme, esdirk.as_ref()), embedded)?;
        let implicit = implicit(&section, esdirk, step, adaptive)?;
        let end = section.number("end")?;
        let steps = section.count("steps", 0)?.map(|n| n.value);
        let steady = SteadySpec::read(&section, model)?;
        let sensitivities = sensitivities(top, &section, steady.is_some_and(|steady| steady.newton))?;
        let newton = newton(&section, steady.is_some_and(|steady| steady.newton), implicit.is_some())?;
        if let Some(dt) = section.entry("dt").filter(|_| steady.is_some_and(|steady| steady.local_steps)) {
            // With local steps the elements have no common step.
            let (first, second) = (section.key("dt"), section.key("steady.local_steps"));
            return Err(InputError::at(&dt.place, Problem::Conflict { first, second }));
        }
        if end.is_none() && steps.is_none() && steady.is_none() {
            return Err(section.missing("end", "the last time, or `steps`, or `steady`"));
        }
        let retries = section
            .count("retries", 0)?
            .map_or(if limited { DEFAULT_RETRIES } else { 0 }, |n| n.value as u64);
        Ok(Self {
            scheme,
            step,
            adaptive,
            end,
            steps,
            steady,
            sensitivities,
            newton,
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
    let Some(steady) = time.section("steady")? else { return Ok(Vec::new()) };
    let Some(items) = steady.list("sensitivities")? else { return Ok(Vec::new()) };
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
    let section = time.section("newton")?;
    if implicit {
        return Ok(None);
    }
    if !used {
        return match section {
            Some(_) => {
                let belongs = "`time.steady.solver: newton`, or an implicit `time.scheme`";
                Err(time.misplaced("newton", "explicit steps", belongs))
            }
            None => Ok(None),
        };
    }
    if let Some(section) = section.as_ref().filter(|section| section.has("tolerance")) {
        return Err(section.misplaced("tolerance", "a steady state", "an implicit `time.scheme`"));
    }
    let default = Newton::default();
    let (start, growth) = match &section {
        Some(section) => (section.positive("start")?, section.number("growth")?),
        None => (None, None),
    };
    if let Some(small) = growth.as_ref().filter(|growth| growth.value.is_nan() || growth.value < 1.0) {
        return Err(InputError::range(small, "at least 1"));
    }
    let number = |given: Option<Located<f64>>, default| given.map_or(default, |given| given.value);
    let value =
        Newton { start: number(start, default.start), growth: number(growth, default.growth), ..default };
    // The default has no place of its own.
    let chosen = time.section("steady")?.and_then(|s| s.entry("solver").map(|entry| entry.place.clone()));
    let (key, place) = match chosen {
        Some(place) => ("time.steady.solver", Some(place)),
        None => ("time.steady", time.entry("steady").map(|entry| entry.place.clone())),
    };
    let place = place.unwrap_or_else(|| time.place().clone());
    Ok(Some(Located { value, key: key.to_owned(), place }))
}

/// The residual of implicit stages that is left, relative to the size of the solution, without control of
/// errors.
const TOLERANCE: f64 = 1e-8;

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
    let section = time.section("newton")?;
    let steady = |section: &Section<'_>, key: &str| {
        section.misplaced(key, "implicit steps in time", "`time.steady.solver: newton`")
    };
    let mut tolerance = None;
    if let Some(section) = &section {
        if let Some(key) = ["start", "growth"].into_iter().find(|key| section.has(key)) {
            return Err(steady(section, key));
        }
        tolerance = section.positive("tolerance")?;
    }
    if let Some(wide) = tolerance.as_ref().filter(|t| t.value >= 1.0) {
        return Err(InputError::range(wide, "below 1, as it is relative to the size of the solution"));
    }
    let default = adaptive.map_or(TOLERANCE, |adaptive| SHARE_OF_ERROR * adaptive.tolerance);
    let steps = ImplicitSteps::new(esdirk.value, tolerance.map_or(default, |t| t.value));
    Ok(Some(esdirk.with(steps)))
}

/// Whether the section has `subcycles: auto`, so that `cfl` bounds the sub-steps and `dt` is the step.
pub(super) fn subcycles_follow(time: &Section<'_>) -> bool {
    matches!(time.node("subcycles"), Some(Node { value: Value::Text(word), .. }) if word == AUTO)
}

/// Reads `cfl: NUMBER | auto`; `None` for the largest stable step.
pub(super) fn read_cfl(time: &Section<'_>) -> Result<Option<f64>, InputError> {
    if matches!(time.node("cfl"), Some(Node { value: Value::Text(word), .. }) if word == AUTO) {
        return Ok(None);
    }
    Ok(time.positive("cfl")?.map(|cfl| cfl.value))
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

/// A scheme of either kind.
#[derive(Clone, Copy)]
enum Either {
    Explicit(Scheme),
    Implicit(Esdirk),
}

/// The explicit scheme, and the implicit one in its place.
fn scheme(section: &Section<'_>, limited: bool) -> Result<(Scheme, Option<Located<Esdirk>>), InputError> {
    let explicit = Scheme::ALL.iter().map(|s| (s.name(), Either::Explicit(*s)));
    let implicit = Esdirk::ALL.iter().map(|s| (s.name(), Either::Implicit(*s)));
    let words: Vec<(&str, Either)> = explicit.chain(implicit).collect();
    let names = Scheme::ALL.map(Scheme::name).join(", ");
    let others = Esdirk::ALL.map(Esdirk::name).join(", ");
    let instead = format!("schemes are explicit and of order 2 to 4: {names}; or implicit: {others}");
    section.lacks("scheme", &OTHERS, &instead)?;
    let default = match section.has("adaptive") {
        true => DEFAULT_PAIR,
        false if limited => DEFAULT_LIMITED,
        false => DEFAULT_SCHEME,
    };
    Ok(section.choice("scheme", &words)?.map_or((default, None), |found| match found.value {
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
        let Some(section) = time.section("adaptive")? else { return Ok(None) };
        if !embedded {
            let explicit = Scheme::ALL.iter().filter(|s| s.embedded_order().is_some()).map(|s| s.name());
            let pairs: Vec<&str> = explicit.chain(Esdirk::ALL.map(Esdirk::name)).collect();
            let owner = format!("the scheme {scheme}");
            return Err(time.misplaced("adaptive", &owner, &format!("the scheme {}", pairs.join(", "))));
        }
        let tolerance = section.positive("tolerance")?.ok_or_else(|| {
            section.missing("tolerance", "the error of a step that is allowed, such as 1e-5")
        })?;
        if tolerance.value >= 1.0 {
            return Err(InputError::range(
                &tolerance,
                "below 1, as it is relative to the size of the solution",
            ));
        }
        Ok(Some(Self { tolerance: tolerance.value }))
    }
}

/// The models whose steady flows Newton steps find.
const GASES: [&str; 2] = ["euler", "navier-stokes"];

/// Whether a file asks for a march in time towards the steady state, by a key that belongs to one.
fn marches(time: &Section<'_>, steady: &Section<'_>) -> bool {
    let of_march = ["scheme", "cfl", "dt", "retries", "adaptive"];
    of_march.iter().any(|key| time.has(key)) || ["local_steps", "damping"].iter().any(|key| steady.has(key))
}

impl SteadySpec {
    fn read(time: &Section<'_>, model: &str) -> Result<Option<Self>, InputError> {
        let Some(section) = time.section("steady")? else {
            return Ok(None);
        };
        section.of_model(model)?;
        let tolerance = section.positive("tolerance")?;
        if let Some(wide) = tolerance.as_ref().filter(|t| t.value >= 1.0) {
            return Err(InputError::range(wide, "below 1, as it is relative to the largest residual"));
        }
        let damping = section.number("damping")?;
        if let Some(short) = damping.as_ref().filter(|n| n.value < 10.0) {
            return Err(InputError::range(short, "at least 10 steps"));
        }
        let forces = match section.section("forces")? {
            Some(forces) => {
                let tolerance = forces.positive("tolerance")?;
                if let Some(wide) = tolerance.as_ref().filter(|t| t.value >= 1.0) {
                    return Err(InputError::range(wide, "below 1, as it is relative to the forces"));
                }
                Some(SettledSpec {
                    tolerance: tolerance.map_or(1e-3, |t| t.value),
                    rows: forces.count("rows", 2)?.map_or(20, |n| n.value),
                })
            }
            None => None,
        };
        let words = [("explicit", false), ("newton", true)];
        let chosen = section.choice("solver", &words)?.map(|found| found.value);
        let newton = chosen.unwrap_or_else(|| GASES.contains(&model) && !marches(time, &section));
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
            damping: damping.map(|n| n.value),
            tolerance: tolerance.map_or(1e-10, |t| t.value),
            max_steps: section.count("max_steps", 1)?.map_or(if newton { 200 } else { 100_000 }, |n| n.value),
            local_steps: newton || section.flag("local_steps")?.is_some_and(|f| f.value),
        }))
    }
}
