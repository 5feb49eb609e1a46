//! The file as it was run: overrides applied, defaults written out, paths made absolute.
//!
//! `dgsuite run` of this file from the directory of the results repeats the run.

use std::path::Path;

use super::TimePlan;
use crate::file::every::AUTO;
use crate::file::every::Every;
use crate::file::expression::Constants;
use crate::file::node::{Node, Value};
use crate::file::tree::Tree;
use crate::models::state::InitialSpec;
use crate::pipeline::physics::Model;
use crate::pipeline::references::ReferenceSpec;
use crate::pipeline::{Document, Pipeline, closure, incompressible, space, time, top};
use dgsuite_solve::flow::{Law, Setup};
use dgsuite_solve::incompressible::Incompressible;

/// Returns the tree of the file with every default filled in.
pub fn resolve(document: &Document, pipeline: &Pipeline, setup: &Setup, steps: &TimePlan) -> Node {
    let mut tree = Tree::new(&document.root);
    top::TITLE.write(&mut tree, &pipeline.title);
    pipeline.mesh.write(&mut tree, &pipeline.base);
    match pipeline.physics.model {
        Model::Advection { .. } => {}
        Model::Incompressible { .. } => closure::write(&mut tree, setup),
        Model::Euler { gamma, .. } => tree.default("physics.gamma", number(gamma)),
        Model::NavierStokes { gamma, prandtl, .. } => {
            tree.default("physics.gamma", number(gamma));
            tree.default("physics.prandtl", number(prandtl));
            closure::write(&mut tree, setup);
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
    time::write(&mut tree, setup, steps.step, steps.retries, steps.steady);
    top::DEVICE.write(&mut tree, &Some(setup.device));
    top::write(&mut tree, setup.precision, setup.threads);
    tree.set("output.directory", text("."));
    tree.into_root()
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
    incompressible::write_time(tree, law);
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
