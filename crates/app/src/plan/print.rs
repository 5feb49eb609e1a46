//! The plan in words: printed by `dgsuite check`, and by a run before it starts.

pub(crate) mod results;

use std::collections::BTreeMap;
use std::fmt::Write as _;

use crate::pipeline::space::limiting;
use dgsuite_basis::correction::Parameter;
use dgsuite_basis::{Correction, Representation, Shape};
use dgsuite_gpu::comm::Communicator;
use dgsuite_mesh::SetSize;
use dgsuite_physics::NavierStokes;
use dgsuite_physics::navier_stokes::Viscosity;
use dgsuite_timeint::StepSize;
use serde_json::{Value, json};

use super::time::MOST_EXPLICIT;
use super::{Outline, Plan};
use crate::file::number::{grouped, short};
use crate::pipeline::time::AdaptiveSpec;
use dgsuite_solve::elliptic::{LineDescription, SHORT, SolverOptions};
use dgsuite_solve::flow::{
    BoundaryKind, Description, Form, KernelChoice, Law, Setup, SplitFlux, StepMeasure,
};
use dgsuite_solve::incompressible::FlowRate;
use dgsuite_solve::incompressible::{
    Incompressible, Penalties, PressureOrder, Scalar, Splitting, Subcycling, VelocityOptions,
    VelocityPreconditioner,
};

/// The word of the pipeline file for a shape.
pub fn shape_word(shape: Shape) -> &'static str {
    match shape {
        Shape::Line => "line",
        Shape::Triangle => "tri",
        Shape::Quadrilateral => "quad",
        Shape::Tetrahedron => "tet",
        Shape::Hexahedron => "hex",
        Shape::Prism => "prism",
        Shape::Pyramid => "pyramid",
    }
}

/// The number of elements of each shape.
pub fn elements_by_shape(sets: &[SetSize]) -> BTreeMap<&'static str, usize> {
    let mut counts = BTreeMap::new();
    for set in sets {
        *counts.entry(shape_word(set.shape)).or_insert(0) += set.elements;
    }
    counts
}

/// The number of elements of each shape, in words: "1,200 tri + 30 quad".
pub fn counted_shapes(sets: &[SetSize]) -> String {
    let counts = elements_by_shape(sets);
    let words: Vec<String> = counts.iter().map(|(shape, n)| format!("{} {shape}", grouped(*n))).collect();
    words.join(" + ")
}

/// A number of threads with its word.
pub fn threads(n: usize) -> String {
    if n == 1 { "1 thread".to_owned() } else { format!("{n} threads") }
}

/// Bytes in a readable unit.
pub fn bytes(n: usize) -> String {
    let x = n as f64;
    match n {
        0..1024 => format!("{n} B"),
        1024..1_048_576 => format!("{:.1} KiB", x / 1024.0),
        1_048_576..1_073_741_824 => format!("{:.1} MiB", x / 1_048_576.0),
        1_073_741_824..1_099_511_627_776 => format!("{:.2} GiB", x / 1_073_741_824.0),
        _ => format!("{:.1} TiB", x / 1_099_511_627_776.0),
    }
}

/// Steps at the start, where they are known.
#[derive(Clone, Copy, Debug, Default)]
pub struct FirstSteps {
    /// The first step.
    pub dt: Option<f64>,
    /// The number of sub-steps in it.
    pub substeps: Option<usize>,
    /// The largest stable step.
    pub stable: Option<f64>,
    /// That of the stress of a closure alone, in incompressible flow.
    pub stress: Option<f64>,
    /// The largest stable CFL number.
    pub stable_cfl: Option<f64>,
}

/// Bytes that a context with its compiled kernels and pools takes on a device, as measured on an H200: 413 to
/// 534 MiB beside the data of explicit steps, 770 MiB beside those of incompressible flow.
const CONTEXT: usize = 480 * 1024 * 1024;

/// What a run needs of memory, and what there is; `on_device` are the bytes of the solver on a device.
pub(crate) fn memory(outline: &Outline, on_device: Option<usize>) -> String {
    let there = outline.available.map_or_else(String::new, |there| format!(" of {}", bytes(there as usize)));
    let device = on_device.map(|data| format!("; on the device about {}", bytes(data + CONTEXT)));
    format!("about {}{there}{}", bytes(outline.memory as usize), device.unwrap_or_default())
}

/// Describes the plan, one line for each part.
pub fn plan(plan: &Plan, description: &Description, steps: FirstSteps) -> String {
    let mut out = String::new();
    let mut line = |key: &str, value: String| {
        let _ = writeln!(out, "{key:<11} {value}");
    };
    line("title", plan.outline.title.clone());
    line("mesh", mesh_line(plan));
    line("physics", physics_line(plan));
    if let Some(closure) = plan.setup.law.closure() {
        let (length, mesh) = (plan.setup.filter_width.as_ref(), plan.setup.mesh.seen());
        line("closure", super::closure::describe(closure, length, plan.setup.order, mesh));
    }
    if let Some(reference) = &plan.reference {
        line("reference", reference.describe());
    }
    if let Some(source) = &plan.setup.source {
        line("source", format!("{source:?}"));
    }
    if !plan.setup.reactions.is_empty() {
        let names: Vec<String> = plan.setup.reactions.iter().map(|term| format!("{term:?}")).collect();
        line("sources", format!("{} of the state", names.join(" and ")));
    }
    let space = &plan.setup;
    line(
        "space",
        match &space.law {
            Law::Incompressible(law) => incompressible_line(law, space.order),
            _ => space_line(space),
        },
    );
    for group in &description.groups {
        line("", group.to_string());
    }
    line("unknowns", format!("{} ({})", grouped(description.dofs), bytes(description.bytes)));
    let on_device = (!description.device_name.is_empty()).then_some(description.bytes);
    line("memory", memory(&plan.outline, on_device));
    let named = |(name, kind): (&String, &BoundaryKind)| {
        let details = match kind {
            BoundaryKind::Own(own) => own.details(),
            _ => None,
        };
        format!("{name}: {}{}", kind.name(), details.map_or_else(String::new, |more| format!(" ({more})")))
    };
    let names: Vec<String> = plan.setup.boundaries.iter().map(named).collect();
    if !names.is_empty() {
        line("boundaries", names.join("; "));
    }
    line("time", time_line(plan, steps));
    if let Law::Incompressible(law) = &space.law {
        let SolverOptions { preconditioner, tolerance, max_iterations, .. } = law.pressure;
        line("pressure", limits(preconditioner.word(), tolerance, max_iterations));
        if let Some(found) = description.lines.as_ref().filter(|found| has_thin(found)) {
            line("", lines(found, plan.setup.mesh.n_elements()));
        }
        let VelocityOptions { preconditioner, tolerance, max_iterations } = law.velocity;
        line(
            "velocity",
            limits(
                preconditioner.map_or("preconditioner by the step", VelocityPreconditioner::word),
                tolerance,
                max_iterations,
            ),
        );
    }
    line("device", device_line(description, plan.setup.comm.as_ref()));
    if !plan.cores.is_empty() {
        line("cores", format!("of the ranks of this machine: {}", plan.cores));
    }
    let kernels = &description.kernels;
    if !kernels.is_empty() {
        line("kernels", kernels.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "));
    }
    for text in advice(kernels) {
        line("", text);
    }
    for (i, monitor) in results::monitors(plan).into_iter().enumerate() {
        line(if i == 0 { "monitors" } else { "" }, monitor);
    }
    results::checks(&plan.outline).into_iter().for_each(|checks| line("checks", checks));
    line("output", results::output(plan));
    out
}

/// The kernels that a GPU would run, as lines of a plan; empty if there are none.
pub fn forecast(kernels: &[KernelChoice]) -> String {
    if kernels.is_empty() {
        return String::new();
    }
    let names: Vec<String> = kernels.iter().map(ToString::to_string).collect();
    let mut out = format!("{:<11} {}\n", "on a GPU", names.join("; "));
    for text in advice(kernels) {
        let _ = writeln!(out, "{:<11} {text}", "");
    }
    out
}

/// What would make universal kernels fast, if there are any.
pub(crate) fn advice(kernels: &[KernelChoice]) -> Vec<String> {
    if kernels.iter().all(|kernel| kernel.fast) {
        return Vec::new();
    }
    let slow = "the universal kernel is 3 to 20 times slower than others; `dgsuite bench --all --dry` lists the \
                orders, forms and models that have kernels of their own";
    [slow.to_owned()].into_iter().chain(kernels.iter().filter_map(KernelChoice::advice)).collect()
}

/// The discretisation of an explicit model.
fn space_line(space: &Setup) -> String {
    let flux = match space.dissipation {
        Some(share) => format!("{} flux with {share} of its dissipation", space.riemann.name()),
        None => format!("{} flux", space.riemann.name()),
    };
    let viscous = match (&space.law, space.eta) {
        (Law::NavierStokes(_), Some(eta)) => format!(", br2 with eta {eta}"),
        (Law::NavierStokes(_), None) => ", br2 with eta the number of faces".to_owned(),
        _ => String::new(),
    };
    let scheme = match space.correction {
        Correction::Dg => "dg".to_owned(),
        Correction::Vcjh(Parameter::SpectralDifference) => "fr (c_sd)".to_owned(),
        Correction::Vcjh(Parameter::Huynh) => "fr (c_hu)".to_owned(),
        Correction::Vcjh(Parameter::C(c)) => format!("fr (c = {c:e})"),
    };
    let form = match (space.form, &space.law) {
        (Form::Split, Law::Advection { .. }) => ", split form (mean flux)",
        (Form::Split, _) if space.split_flux == SplitFlux::Ranocha => ", split form (ranocha)",
        (Form::Split, _) => ", split form (kennedy-gruber)",
        (Form::Strong, _) => ", strong form",
        (Form::Weak, _) => ", weak form",
    };
    let basis = match space.representation {
        Representation::Modal => "modal".to_owned(),
        Representation::Taylor => "taylor".to_owned(),
        Representation::Nodal(nodes) => format!("nodal ({nodes})"),
    };
    let limiter = space.limiting.map_or_else(String::new, limiting::line);
    format!("{scheme}, {basis}, order {}, {flux}{form}{viscous}{limiter}", space.order)
}

/// The discretisation of incompressible flow.
fn incompressible_line(law: &Incompressible, order: usize) -> String {
    let Penalties { divergence, continuity } = law.penalties;
    let penalties = match law.penalties == Penalties::NONE {
        true => "no penalties".to_owned(),
        false => format!("penalties {divergence} on divergence and {continuity} on normal jumps"),
    };
    let pressure = match law.pressure_order {
        PressureOrder::Equal => String::new(),
        PressureOrder::Lower => format!(", order {} of the pressure", law.pressure_order.of(order)),
    };
    format!("dg, nodal, order {order}{pressure}, Lax-Friedrichs factor {}, {penalties}", law.lax_friedrichs)
}

/// A linear solver of incompressible flow, in words.
fn limits(preconditioner: &str, tolerance: f64, max_iterations: usize) -> String {
    format!("{preconditioner}, tolerance {tolerance:e}, at most {max_iterations} iterations")
}

/// Whether a mesh has thin elements, in linelets or in none.
pub(crate) fn has_thin(found: &LineDescription) -> bool {
    found.lines > 0 || found.without.count > 0
}

/// The linelets of a smoother, in words.
pub(crate) fn lines(found: &LineDescription, n_elements: usize) -> String {
    let mut text = format!(
        "linelets: {} lines with {} of {} elements, {} on average, {} at most; thin elements in none: {}, in none of more than {SHORT}: {}",
        grouped(found.lines),
        grouped(found.elements),
        grouped(n_elements),
        short(found.mean()),
        grouped(found.longest),
        grouped(found.without.count),
        grouped(found.short.count)
    );
    if found.bytes > 0 {
        let _ = write!(text, "; factors {}", bytes(found.bytes));
    }
    text
}

/// The linelets of a smoother, for a summary.
pub(crate) fn lines_to_json(found: &LineDescription) -> Value {
    json!({
        "lines": found.lines,
        "elements": found.elements,
        "longest": found.longest,
        "thin_elements_without": found.without.count,
        "thin_elements_in_short": found.short.count,
        "bytes": found.bytes,
    })
}

fn mesh_line(plan: &Plan) -> String {
    let mesh = &plan.setup.mesh;
    let (boundaries, links) = (&mesh.seen().boundaries, &mesh.seen().links);
    let name = |i: u32| boundaries.get(i as usize).map_or("?", |b| b.name.as_str());
    let mut text = format!(
        "{}: {}, geometry order {}, {} faces",
        plan.outline.mesh_origin,
        counted_shapes(&mesh.set_sizes()),
        mesh.max_order(),
        grouped(mesh.n_faces())
    );
    if !links.is_empty() {
        let links: Vec<String> =
            links.iter().map(|l| format!("{}-{}", name(l.first), name(l.second))).collect();
        let _ = write!(text, ", periodic {}", links.join(", "));
    }
    text
}

fn physics_line(plan: &Plan) -> String {
    let variables = plan.variables.conserved.join(", ");
    match plan.variables.law() {
        Law::Euler { gamma, .. } => {
            format!("euler in {}D, gamma {gamma}; unknowns {variables}", plan.variables.dim())
        }
        Law::NavierStokes(viscous) => format!(
            "navier-stokes in {}D, gamma {}, Prandtl {}, {}{}; unknowns {variables}",
            plan.variables.dim(),
            viscous.gas.gamma,
            viscous.prandtl,
            viscosity_text(viscous),
            plan.setup.drive.map_or_else(String::new, |drive| rate_text(&drive.rate, plan.variables.dim()))
        ),
        Law::Incompressible(law) => {
            let (dim, mut viscosity) = (plan.variables.dim(), short(law.viscosity));
            if let Some(formula) = &law.viscosity_formula {
                viscosity = format!("{}, at least {viscosity}", formula.text());
            }
            let rate = law.flow_rate.map_or_else(String::new, |rate| rate_text(&rate, dim));
            let scalar = |scalar: &Scalar| {
                let mut diffusivity = short(scalar.diffusivity);
                if let Some(formula) = &scalar.formula {
                    diffusivity = format!("{}, at least {diffusivity}", formula.texts().join(", "));
                }
                format!(", diffusivity of {} {diffusivity}", scalar.name)
            };
            let scalars: String = law.scalars.iter().map(scalar).collect();
            format!("incompressible in {dim}D, viscosity {viscosity}{scalars}{rate}; unknowns {variables}")
        }
        Law::Advection { velocity } => {
            format!("advection in {}D, velocity {velocity:?}", plan.variables.dim())
        }
    }
}

fn rate_text(rate: &FlowRate, dim: usize) -> String {
    let direction: Vec<String> = rate.direction[..dim].iter().map(|&e| short(e)).collect();
    format!(", mean velocity {} along [{}]", short(rate.mean), direction.join(", "))
}

fn viscosity_text(viscous: &NavierStokes) -> String {
    let r = viscous.gas_constant;
    match viscous.viscosity {
        Viscosity::Constant { mu } => format!("viscosity {}", short(mu)),
        Viscosity::PowerLaw { mu_ref, t_ref, exponent } => {
            format!("viscosity {} (T/{t_ref})^{exponent}, gas constant {}", short(mu_ref), short(r))
        }
        Viscosity::Sutherland { mu_ref, t_ref, s } => {
            format!(
                "viscosity {} at T = {t_ref}, Sutherland's S {s}, gas constant {}",
                short(mu_ref),
                short(r)
            )
        }
    }
}

/// The scheme and its steps.
fn step_line(plan: &Plan, steps: FirstSteps) -> String {
    let time = &plan.time;
    let mut text = time.scheme.clone();
    if let Law::Incompressible(law) = &plan.setup.law {
        text.push_str(match law.splitting {
            Splitting::Dual => ", dual splitting",
            Splitting::PressureCorrection { rotational: true } => ", rotational pressure correction",
            Splitting::PressureCorrection { rotational: false } => ", pressure correction",
        });
        let now = || steps.substeps.map(|n| format!(" (now {n})")).unwrap_or_default();
        let _ = match law.subcycles {
            None => Ok(()),
            Some(Subcycling::Number(n)) => write!(text, ", {n} sub-steps"),
            Some(Subcycling::Cfl(None)) => write!(text, ", sub-steps by cfl auto{}", now()),
            Some(Subcycling::Cfl(Some(cfl))) => write!(text, ", sub-steps by cfl {}{}", short(cfl), now()),
        };
    }
    if let Some(AdaptiveSpec { tolerance }) = time.adaptive {
        let _ = write!(text, ", steps by error, tolerance {tolerance:e}, at most");
    } else {
        text.push(',');
    }
    let implicit = plan.setup.implicit.is_some();
    match time.step {
        StepSize::Cfl(_) if implicit && plan.setup.step_measure == StepMeasure::Radius => {
            let _ = write!(text, " {MOST_EXPLICIT} explicit steps");
        }
        // By default each element has its own bound, and the smallest step counts.
        StepSize::Cfl(_) if plan.setup.step_measure == StepMeasure::Radius => {
            let now = steps.stable_cfl.map(|cfl| format!(" (now {cfl:.4})"));
            let _ = write!(text, " cfl auto{}", now.unwrap_or_default());
        }
        StepSize::Cfl(cfl) => {
            let _ = write!(text, " cfl {}", short(cfl));
        }
        StepSize::Fixed(dt) => {
            let _ = write!(text, " dt {dt}");
            if let Some(stable) = steps.stable {
                let _ = write!(text, " ({} times the stable step)", short(dt / stable));
            }
        }
    }
    let dt = match time.step {
        StepSize::Fixed(dt) => Some(dt),
        StepSize::Cfl(_) => steps.dt,
    };
    let by_error = implicit && time.adaptive.is_some();
    if let Some(dt) = dt.filter(|_| !by_error) {
        let _ = write!(text, ", first step {dt:.4e}");
        if let (true, StepSize::Cfl(cfl), Some(stable)) = (implicit, time.step, steps.stable_cfl) {
            let _ = write!(text, " ({} times the explicit one)", short(cfl / stable));
        }
    }
    if let Some(end) = time.end {
        let _ = write!(text, ", to t = {end}");
        let dt = dt.filter(|dt| *dt > 0.0 && dt.is_finite() && !by_error);
        if let Some(steps) = dt.and_then(|dt| plan.steps_to_end(dt)) {
            let _ = write!(text, " in about {} steps", grouped(steps));
        }
    }
    if let Some(steps) = time.steps {
        let _ = write!(text, ", at most {} steps", grouped(steps));
    }
    text
}

fn time_line(plan: &Plan, steps: FirstSteps) -> String {
    let time = &plan.time;
    let mut text = match &plan.setup.newton {
        Some(newton) => {
            let from = match plan.lower_orders.is_empty() {
                true => String::new(),
                false => format!(" from order {}", plan.lower_orders.start),
            };
            format!("implicit{from}, first step {} times the explicit one", short(newton.start))
        }
        None => step_line(plan, steps),
    };
    if let Some(steady) = &time.steady {
        let kind = match (steady.newton, steady.local_steps) {
            (true, _) => "Newton",
            (_, true) => "local",
            (_, false) => "global",
        };
        let most = grouped(steady.max_steps);
        let _ = write!(text, ", steady to {:e} by {kind} steps, at most {most}", steady.tolerance);
        if let Some(forces) = steady.forces {
            let _ = write!(
                text,
                ", or until forces stay within {:e} over {} rows",
                forces.tolerance, forces.rows
            );
        }
    }
    text
}

fn device_line(description: &Description, comm: &dyn Communicator) -> String {
    let device = if description.device_name.is_empty() {
        format!("cpu, {}, {}", threads(description.threads), description.kernel)
    } else {
        format!("{}, {}, {}", description.device, description.device_name, description.kernel)
    };
    match comm.size() {
        1 => device,
        n => {
            // GPUs have numbers of their own on each rank.
            let who = if description.device_name.is_empty() { "each" } else { "rank 0" };
            format!("{n} ranks ({}), {who} on {device}", comm.plane())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_readable() {
        assert_eq!(grouped(1_234_567), "1,234,567");
        assert_eq!(grouped(12), "12");
        assert_eq!(bytes(3 * 1024 * 1024 / 2), "1.5 MiB");
        assert_eq!(short(0.8256880733944953), "0.8257");
        assert_eq!(short(0.5), "0.5");
    }
}
