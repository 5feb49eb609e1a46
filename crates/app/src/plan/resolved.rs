//! The file as it was run: overrides applied, defaults written out, paths made absolute.
//!
//! `dgsuite run` of this file from the directory of the results repeats the run.

use std::path::Path;

use dgsuite_timeint::StepSize;

use super::TimePlan;
use crate::file::every::AUTO;
use crate::file::every::Every;
use crate::file::expression::Constants;
use crate::file::node::{Node, Value};
use crate::file::tree::Tree;
use crate::models::state::InitialSpec;
use crate::pipeline::physics::Model;
use crate::pipeline::references::ReferenceSpec;
use crate::pipeline::{Document, Pipeline, incompressible, space};
use dgsuite_solve::flow::{Law, Precision, Setup, StepMeasure};
use dgsuite_solve::incompressible::{Incompressible, Splitting, Subcycling};

/// Returns the tree of the file with every default filled in.
pub fn resolve(document: &Document, pipeline: &Pipeline, setup: &Setup, time: &TimePlan) -> Node {
    let mut tree = Tree::new(&document.root);
    tree.default("title", text(&pipeline.title));
    pipeline.mesh.write(&mut tree, &pipeline.base);
    match pipeline.physics.model {
        Model::Advection { .. } => {}
        Model::Incompressible { .. } => closure(&mut tree, setup),
        Model::Euler { gamma, .. } => tree.default("physics.gamma", number(gamma)),
        Model::NavierStokes { gamma, prandtl, .. } => {
            tree.default("physics.gamma", number(gamma));
            tree.default("physics.prandtl", number(prandtl));
            closure(&mut tree, setup);
            if let Some(drive) = setup.drive {
                tree.default(
                    "physics.flow_rate.heat",
                    text(if drive.balanced { "balanced" } else { "free" }),
                );
            }
        }
    }
    match &setup.law {
        Law::Incompressible(law) => write_incompressible(&mut tree, law, setup.order),
        _ => space::write(&mut tree, setup),
    }
    let incompressible = matches!(setup.law, Law::Incompressible(_));
    let most = super::most_between_samples(setup.device, incompressible);
    for (kind, spec) in pipeline.output.given() {
        if let Some((key, every)) = spec.chosen(most) {
            let often = match every {
                Every::Steps(n) => number(n as f64),
                _ => text(AUTO),
            };
            tree.default(&format!("output.{}.{key}", kind.name), often);
        }
    }
    if let InitialSpec::Restart(file) = &pipeline.initial {
        tree.file("initial.restart", &pipeline.resolve(&file.value));
    }
    for (i, monitor) in pipeline.monitors.iter().enumerate() {
        for (key, file) in monitor.spec.files() {
            let key = format!("monitors.{i}.{}.{key}", monitor.kind.name);
            tree.file(&key, &pipeline.resolve(&file.value));
        }
    }
    tables(&mut tree, &pipeline.references, &pipeline.constants, &pipeline.base);
    let newton = setup.newton.is_some();
    if !newton {
        tree.default("time.scheme", text(&time.scheme));
    }
    match time.step {
        _ if newton => {}
        // A multiple of the spectral radius is not a CFL number.
        StepSize::Cfl(_) if setup.step_measure == StepMeasure::Radius => tree.default("time.cfl", text(AUTO)),
        StepSize::Cfl(cfl) => tree.default("time.cfl", number(cfl)),
        StepSize::Fixed(dt) => tree.default("time.dt", number(dt)),
    }
    if let Some(steps) = setup.implicit {
        tree.default("time.newton.tolerance", number(steps.tolerance));
    }
    if time.retries > 0 {
        tree.default("time.retries", number(time.retries as f64));
    }
    if let Some(steady) = time.steady {
        tree.default("time.steady.tolerance", number(steady.tolerance));
        tree.default("time.steady.max_steps", number(steady.max_steps as f64));
        if let Some(forces) = steady.forces {
            tree.default("time.steady.forces.tolerance", number(forces.tolerance));
            tree.default("time.steady.forces.rows", number(forces.rows as f64));
        }
        if let Some(newton) = setup.newton {
            tree.default("time.newton.start", number(newton.start));
            tree.default("time.newton.growth", number(newton.growth));
            tree.default("time.steady.solver", text("newton"));
        } else if setup.law.gas().is_some() {
            tree.default("time.steady.solver", text("explicit"));
        }
        if !matches!(setup.law, Law::Incompressible(_)) && !steady.newton {
            tree.default("time.steady.local_steps", Value::Bool(steady.local_steps));
        }
    }
    tree.default("device", text(&setup.device.to_string()));
    tree.default("precision", text(if setup.precision == Precision::Double { "double" } else { "single" }));
    tree.default("threads", number(setup.threads as f64));
    tree.set("output.directory", text("."));
    tree.into_root()
}

/// The closure with its numbers.
fn closure(tree: &mut Tree, setup: &Setup) {
    let Some(closure) = setup.law.closure() else {
        tree.default("physics.closure", text("none"));
        return;
    };
    let key = |name: &str| format!("physics.closure.{}.{name}", closure.closure.name());
    tree.default(&key("constant"), number(closure.constant));
    if setup.filter_width.is_none() {
        tree.default(&key("length"), text("delta"));
    }
    tree.default(&key("turbulent_prandtl"), number(closure.prandtl));
}

fn write_incompressible(tree: &mut Tree, law: &Incompressible, order: usize) {
    // A Reynolds number of the reference state is the viscosity in other words.
    let of_reference = tree.get("physics.reference.reynolds").is_some();
    match (of_reference, &law.viscosity_formula) {
        (true, _) => {}
        (false, None) => tree.default("physics.viscosity", number(law.viscosity)),
        (false, Some(_)) => tree.default("physics.viscosity.constant", number(law.viscosity)),
    }
    if let Some(buoyancy) = law.buoyancy {
        tree.default("physics.buoyancy.expansion", number(buoyancy.expansion));
        tree.default("physics.buoyancy.reference", number(buoyancy.reference));
    }
    incompressible::write_space(tree, law, order);
    match law.splitting {
        Splitting::Dual => tree.default("time.splitting", text("dual")),
        Splitting::PressureCorrection { rotational } => {
            tree.default("time.rotational", Value::Bool(rotational));
        }
    }
    match law.subcycles {
        None => tree.default("time.subcycles", number(0.0)),
        Some(Subcycling::Number(n)) => tree.default("time.subcycles", number(n as f64)),
        Some(Subcycling::Cfl(None)) => tree.default("time.cfl", text(AUTO)),
        Some(Subcycling::Cfl(Some(_))) => {}
    }
    tree.default("time.graded_start", Value::Bool(law.graded_start));
    incompressible::write_solver(tree, law);
}

pub(super) fn text(word: &str) -> Value {
    Value::Text(word.to_owned())
}

pub(super) fn number(x: f64) -> Value {
    Value::Number(x)
}

/// Makes the paths of tables absolute: those that formulas call, and those of published values.
pub(super) fn tables(tree: &mut Tree, references: &[ReferenceSpec], constants: &Constants, base: &Path) {
    for table in constants.tables() {
        tree.file(&format!("tables.{}.file", table.name), &table.file);
    }
    for (i, reference) in references.iter().enumerate() {
        tree.file(&format!("references.{i}.table"), &base.join(&reference.table.value));
    }
}
