//! The reader and the table of keys agree.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::{at, install, known, text};
use crate::file::keys::{Absent, Kind, Low, Part, Range, Row, Scope};
use crate::file::node::{Entry, Node, Value};
use crate::file::problem::{InputError, Problem};
use crate::file::source::{Place, Source};
use crate::pipeline::{Document, Sections};
use crate::plan::elliptic::EllipticPlan;
use crate::plan::{Choices, Plan};

/// Every key.
fn all() -> impl Iterator<Item = &'static Row> {
    install();
    crate::file::keys::all()
}

/// Files that have every key of the table.
const FILES: [&str; 19] = [
    "
mesh: { file: a.msh }
physics: { model: euler }
space: { shock: { entropy-filter: { tolerance: 1e-3, gate: none, bounds: entropy } } }
initial: { rho: 1, u: 0, v: 0, p: 1 }
time: { end: 1, retries: 3 }
monitors: [{ limited: { every: 1 } }, { limited: { every_steps: 1 } }]
",
    "
mesh: { generate: { kind: annulus, shape: quad, cells: [2, 8], centre: [0, 0], inner: 1, outer: 2, growth: 1.2, order: 2 } }
physics: { model: euler }
space: { order: 1 }
initial: { rho: 1, u: 0, v: 0, p: 1 }
time: { end: 1 }
",
    "
mesh: { generate: { kind: channel-cylinder, shape: tri, cells: [2, 8], min: [0, 0], max: [2, 1], centre: [0.5, 0.5], radius: 0.1 } }
physics: { model: euler }
space: { order: 1 }
initial: { rho: 1, u: 0, v: 0, p: 1 }
time: { end: 1 }
",
    "
mesh: { file: a.msh }
physics: { model: euler }
space: { limiter: { barth-jespersen: { neighbours: vertices } } }
initial: { rho: 1, u: 0, v: 0, p: 1 }
time: { end: 1 }
",
    "
title: A
device: cpu
precision: single
threads: 1
constants: { a: 1 }
tables: { history: { file: tests/data/inflow.csv, column: 2 } }
mesh:
  generate: { kind: box, shape: tri, cells: [2, 2], min: [0, 0], max: [1, 1], diagonal: main }
  extrude: { length: 1, layers: 2, start: -1, periodic: false }
  periodic: [[ymin, ymax]]
  refine: 1
  partition: graph
  scale: 2
  map: { order: 2, x: x, y: y, z: z }
physics:
  model: navier-stokes
  gamma: 1.3
  prandtl: 0.7
  viscosity: { sutherland: { mu_ref: 1, t_ref: 1, s: 0.4 } }
  closure: { smagorinsky: { constant: 0.1, length: 2*delta, turbulent_prandtl: 0.7 } }
  gas_constant: 1
  source: { rho: 0 }
  sponge: { strength: x, rho: 1, u: 0, v: 0, p: 1 }
  body_force: [0, -1]
  flow_rate: { direction: [1, 0], mean: 1, heat: free }
space:
  order: 2
  scheme: fr
  vcjh: sd
  basis: nodal
  nodes: gauss
  polynomials: tensor
  form: strong
  riemann: roe
  dissipation: 0.5
  viscous: { br2: { eta: 4 } }
  shock: none
  limiter: none
  cubature: { face: 3, volume: collocated }
initial: { rho: 1, u: 0, v: 0, p: 1 }
boundaries:
  a: { type: no-slip-wall, adiabatic: false, temperature: 1, velocity: { u: 1, v: 2, w: 3 } }
  b: { type: no-slip-wall, rotation: { omega: 1, centre: [0, 0, 0], axis: [0, 0, 1] } }
  g: { type: slip-length-wall, slip_length: 0.5 }
  h: { type: no-slip-wall, model: reichardt, exchange: 0.1 }
  c: { type: subsonic-inflow, total_pressure: 1, total_temperature: 1, direction: { x: 1, y: 2, z: 3 } }
  d: { type: pressure-outlet, p: 1, temperature: 1, velocity: { u: 1, v: 2, w: 3 } }
  e: { type: dirichlet, rho: 1, u: 0, v: 0, p: 1, turbulence: { intensity: 0.1, length: 1, velocity: [1, 0], seed: 1 } }
  f: { type: far-field, exact: { name: couette, u: 1 } }
time: { scheme: rk4, cfl: 0.5, end: 1, steps: 3 }
output:
  directory: out
  fields: { from: { when: t > 1 }, every: 1, names: [Density, { A: rho }], format: vtkhdf, precision: double }
  surfaces: { from: { when: step > 1 }, boundaries: [a], every: 1, names: [Density] }
  averages: { from: 1, every: 1, names: [Density], deviations: true, reynolds_stresses: true }
  checkpoint: { every: 1, keep: 3 }
monitors:
  - residual: { every: 1 }
  - kinetic_energy: { every: 1 }
  - kinetic_energy: { every_steps: 1 }
  - error: { exact: couette, u: 1, norms: [l2], every: 1 }
  - integral: { fields: [rho, { m: rho*u }], every: 1, reference: { file: table.txt, columns: { m: 2 } } }
  - probe: { points: [[0, 0]], fields: [u], every: 1 }
  - sample: { points: { file: tests/data/inflow.csv }, fields: [u], every: 1 }
  - sample: { line: { from: [0, 0], to: [1, 0], points: 3, spacing: uniform }, fields: [u], every_steps: 1 }
  - sample: { plane: { corner: [0, 0], sides: [[1, 0], [0, 1]], points: [3, 3] }, fields: [u] }
  - forces:
      boundary: a
      from: 1
      every: 1
      reference: &scales
        density: 1
        velocity: 1
        pressure: 1
        area: 1
        length: 1
        direction: [1, 0]
        lift: [0, 1]
        origin: [0, 0]
  - wall: { boundary: [a], every: 1, reference: *scales, over: z }
  - recirculation: { from: [0, 0], to: [1, 0], every: 1 }
checks:
  - { value: error.l2.rho, below: 1 }
  - { value: error.l2.rho, above: 1 }
  - { value: error.l2.rho, between: [0, 1] }
  - { value: error.l2.rho, near: 1, within: 5 }
references: [{ source: A, table: a.csv, value: error.l2.rho, column: b, by: [order], factor: 2 }]
study: { order: [1, 2], time.cfl: [1, 2], rate_in: time.cfl, values: { time.steps: 1 }, continued: true }
",
    "
mesh: { file: a.msh }
physics:
  model: navier-stokes
  viscosity: { power: { mu_ref: 1, t_ref: 1, exponent: 1 } }
  closure: { wale: { constant: 0.1, length: 2*delta, turbulent_prandtl: 0.7 } }
  gas_constant: 1
  sponge: { strength: 1, exact: { rho: 1, u: 0, v: 0, p: 1 } }
  body_force: { x: 1, y: x, z: 0 }
space: { scheme: dg, form: split, split_flux: ranocha, riemann: rusanov, cubature: collocated, viscous: br2 }
initial: { exact: couette, u: 1 }
boundaries:
  a: { type: far-field, rho: 1, u: 0, v: 0, p: 1, turbulence: { stress: { uu: 1, uv: 0, vv: x^2, ww: 0, uw: 0, vw: 0 }, length: 1, velocity: [1, 0] } }
  b: { type: no-slip-wall, velocity: [1, 0] }
  c: { type: dirichlet, exact: couette, u: 1 }
  d: { type: far-field, exact: couette }
  e: { type: dirichlet, exact: { rho: 1, u: 0, v: 0, p: 1 } }
  f: { type: dirichlet, exact: { name: couette } }
  g: { type: far-field, exact: { rho: 1, u: 0, v: 0, p: 1 } }
time: { adaptive: { tolerance: 1e-4 }, steps: 3 }
output:
  fields: { every_steps: 1 }
  surfaces: { boundaries: [a], every_steps: 1 }
  averages: { from: { when: residual_rho < 1 }, every_steps: 1 }
  checkpoint: { every_steps: 1 }
monitors:
  - residual: { every_steps: 1 }
  - error: { exact: { name: couette, u: 1 }, every_steps: 1 }
  - error: { exact: { rho: 1 }, every_steps: 1 }
  - integral: { from: { when: t > 1 }, fields: [rho], every_steps: 1 }
  - probe: { from: { when: t > 1 }, points: [[0, 0]], fields: [u], every_steps: 1 }
  - sample: { from: { when: t > 1 }, points: [[0, 0]], fields: [u] }
  - forces: { from: { when: t > 1 }, boundary: a, every_steps: 1 }
  - wall: { from: { when: t > 1 }, boundary: a, every_steps: 1, means: false }
  - recirculation: { from: [0, 0], to: [1, 0], every_steps: 1 }
",
    "
mesh: { file: a.msh }
physics:
  model: navier-stokes
  viscosity: { constant: 1 }
  closure: { vreman: { constant: 0.1, length: 2*delta, turbulent_prandtl: 0.7 } }
  reference: { mach: 0.1, length: 1, density: 1, velocity: 1, temperature: 1, angle: 2*deg }
initial: { exact: { rho: 1, u: 0, v: 0, p: 1 } }
time: { dt: 1, end: 1 }
output: { fields: none, checkpoint: none }
",
    "
mesh: { file: a.msh }
physics:
  model: navier-stokes
  gas_constant: 1
  closure: { sigma: { constant: 0.1, length: 2*delta, turbulent_prandtl: 0.7 } }
  reference: { mach: 0.1, reynolds: 10, length: 1, pressure: 1, temperature: 1, direction: [1, 0] }
initial: { exact: { name: couette, u: 1 } }
constants: { a: 1 }
time: { steady: { solver: newton, tolerance: 1e-6, sensitivities: [a] }, newton: { start: 5, growth: 2, from_order: 1 } }
",
    "
mesh: { file: a.msh }
physics: { model: euler }
initial: { rho: 1, u: 0, v: 0, p: 1 }
time: { scheme: esdirk43, adaptive: { tolerance: 1e-4 }, newton: { tolerance: 1e-6 }, end: 1 }
",
    "
mesh: { file: a.msh }
physics:
  model: navier-stokes
  gas_constant: 1
  reference: { mach: 0.1, reynolds: 10, length: 1, pressure: 1, temperature: 1, direction: [1, 0] }
initial: { exact: { name: couette, u: 1 } }
time: { steady: { solver: explicit, tolerance: 1e-6, max_steps: 10, local_steps: true, damping: 40, forces: { tolerance: 1e-3, rows: 20 } } }
study: { order: [1, 2], values: [time.steps] }
",
    "
mesh: { file: a.msh }
physics:
  model: euler
  source: manufactured
  reference: { mach: 0.1 }
  sponge: { strength: 1, exact: { name: uniform, rho: 1 } }
initial: { restart: out }
boundaries:
  a: { type: slip-wall }
  b: { type: curved-slip-wall, normal: [x, y] }
  c: { type: curved-slip-wall, normal: { x: x, y: y, z: z } }
  d: { type: curved-slip-wall, corner: 0.5 }
time: { end: 1 }
",
    "
mesh: { file: a.msh }
physics: { model: advection, velocity: [1, 0] }
boundaries:
  a: { type: outflow }
time: { end: 1 }
",
    "
device: auto
precision: double
mesh: { file: a.msh }
physics: { model: poisson, exact: x, forcing: exact, kappa: { a: 1 }, lambda: 1 }
space: { order: 2, scheme: dg, basis: nodal, viscous: { sipdg: { penalty: 2 } } }
boundaries:
  a: { type: dirichlet, u: exact }
  b: { type: neumann, flux: 1 }
  c: { type: robin, alpha: 1, g: x }
solver:
  preconditioner: pmg-amg
  tolerance: 1e-4
  max_iterations: 10
  cycle: v
  smoother: jacobi
  degree: 2
  coarsening: half
  coarse_space: continuous
  aggregation: smoothed
  inner_precision: double
output: { fields: { names: [u] } }
",
    "
mesh: { file: a.msh }
physics: { model: poisson, forcing: 1, kappa: 2 }
space: { viscous: sipdg }
ci: { set: { title: A }, checks: [] }
",
    "
precision: double
mesh: { file: a.msh }
physics: { model: incompressible, viscosity: 0.1, forcing: { u: 1, v: x, w: t } }
space: { order: 2, scheme: dg, basis: nodal, pressure_order: lower, penalties: on, lax_friedrichs: 0.5 }
boundaries:
  a: { type: dirichlet, exact: sine, u: 1 }
  b: { type: dirichlet, exact: { u: 1, v: 2 } }
  c: { type: dirichlet, exact: { name: sine } }
  d: { type: no-slip-wall, velocity: { u: 1, v: 2, w: 3 } }
  e: { type: no-slip-wall, rotation: { omega: 1, centre: [0, 0], axis: [0, 0, 1] } }
  f: { type: outflow, kind: dong, exact: sine, u: 1 }
  g: { type: outflow, exact: { p: 1 } }
  h: { type: outflow, exact: { name: sine } }
  j: { type: outflow, velocity: 1, delta: 0.05 }
  i: { type: pressure-outlet, p: x }
time:
  scheme: bdf3
  cfl: 0.5
  splitting: pressure-correction
  rotational: true
  subcycles: 4
  graded_start: false
  end: 1
solver:
  pressure:
    preconditioner: pmg-amg
    tolerance: 1e-4
    max_iterations: 10
    cycle: v
    smoother: jacobi
    degree: 2
    coarsening: half
    coarse_space: continuous
    aggregation: smoothed
    inner_precision: double
  velocity: { preconditioner: linelets, tolerance: 1e-4, max_iterations: 10 }
",
    "
mesh: { file: a.msh }
physics:
  model: incompressible
  forcing: manufactured
  reference: { reynolds: 10, length: 1, velocity: 1, direction: [1, 0] }
  flow_rate: { direction: [1, 0], mean: 1 }
space: { penalties: { divergence: 2, continuity: 0 } }
time: { dt: 1, splitting: dual, subcycles: auto, end: 1 }
monitors:
  - divergence: { every: 1 }
  - divergence: { every_steps: 1 }
  - profile:
      line: { from: [0, 0], to: [0, 1], points: 101, spacing: uniform }
      over: [x]
      samples: 32
      wall: a
      fields: [p]
      budget: false
      reference: { file: table.txt, columns: { u+: 2 } }
      every_steps: 10
  - profile: { line: { from: [0, 0], to: [0, 1] }, over: [x], from: { when: t > 1 }, every: 1 }
  - spectrum: { along: x, waves: 32, points: [[0, 0]], over: [y], samples: 8, fields: [p], every_steps: 10 }
  - spectrum: { along: x, from: { when: t > 1 }, every: 1, reference: { file: table.txt, columns: { energy: 2 } } }
  - spectrum: { along: [x, y] }
  - flow_rate: { every: 1 }
  - flow_rate: { every_steps: 1 }
",
    "
mesh: { file: a.msh }
physics: { model: incompressible, viscosity: 1, reference: { angle: 2*deg } }
initial: { u: 0, v: 0, turbulence: { spectrum: k, waves: 4, seed: 1 } }
time: { steady: { tolerance: 1e-3 } }
",
    "
mesh: { file: a.msh }
physics:
  model: incompressible
  viscosity: 1
  temperature: { diffusivity: { constant: 0.1, formula: 2 + dye }, source: x }
  scalars: { dye: { diffusivity: { constant: 0.1, formula: 1 + T }, source: t } }
  buoyancy: { gravity: [0, -1], expansion: 2, reference: 3 }
  closure: { vreman: { constant: 0.1, length: 2*delta, turbulent_prandtl: 0.7 } }
boundaries:
  a: { type: no-slip-wall, temperature: x }
  b: { type: no-slip-wall, heat_flux: t, dye: 1 }
  c: { type: no-slip-wall, transfer: 1, ambient: x, adiabatic: false }
  d: { type: pressure-outlet, p: 0, T: 1, dye: x }
  e: { type: outflow, T: 1, dye: x }
time: { dt: 1, end: 1 }
monitors:
  - nusselt: { boundary: a, length: 2, difference: 3, every: 1 }
  - nusselt: { boundary: [a, b], every_steps: 1 }
",
    "
mesh: { file: a.msh }
physics: { model: incompressible, viscosity: { constant: 1, formula: exp(-T)*(0.1 + shear)^0.5 }, temperature: { prandtl: 0.7 } }
time: { dt: 1, end: 1 }
",
];

/// A value that no key accepts.
fn absurd(place: &Place) -> Node {
    let inner = Node { value: Value::List(Vec::new()), place: place.clone() };
    let entry = Entry { key: "§".into(), place: place.clone(), node: inner };
    Node { value: Value::Map(vec![entry]), place: place.clone() }
}

fn tree(text: &str) -> Node {
    Node::parse(&Source::new("case.yaml", text)).unwrap()
}

/// Reads a tree with its block `ci`.
fn read(root: &Node) -> Result<Sections, InputError> {
    let source = Source::new("case.yaml", root.to_yaml().unwrap());
    Document::parse(&source, Path::new(""), "case", true, &[])?.sections()
}

/// The model and the type of boundary that a path of a file belongs to.
fn scope<'a>(root: &'a Node, steps: &[String]) -> Scope<'a> {
    let word = |node: Option<&'a Node>| match node.map(|node| &node.value) {
        Some(Value::Text(word)) => Some(word.as_str()),
        _ => None,
    };
    let boundary = root.get("boundaries").filter(|_| steps[0] == "boundaries");
    let kind = steps.get(1).and_then(|name| boundary?.get(name)?.get("type"));
    Scope { model: word(root.get("physics").and_then(|physics| physics.get("model"))), kind: word(kind) }
}

/// Calls `visit` for every key of a file, with the steps to it.
fn walk(node: &Node, steps: &mut Vec<String>, visit: &mut dyn FnMut(&[String], &Node)) {
    // Below a key whose value may be anything, such as one of `ci.set`, no keys are known.
    let here = known(steps, Scope::default());
    match &node.value {
        Value::Map(entries) if here.free || !here.names.is_empty() => {
            for entry in entries {
                steps.push(entry.key.clone());
                visit(steps, &entry.node);
                walk(&entry.node, steps, visit);
                steps.pop();
            }
        }
        Value::List(items) => {
            for (i, item) in items.iter().enumerate() {
                steps.push(i.to_string());
                walk(item, steps, visit);
                steps.pop();
            }
        }
        _ => {}
    }
}

/// The steps of every key of a file, and the row of the table for each.
fn rows(root: &Node) -> Vec<(Vec<String>, &'static Row)> {
    let mut rows = Vec::new();
    walk(root, &mut Vec::new(), &mut |steps, _| {
        let found = at(steps, scope(root, steps));
        assert_eq!(found.len(), 1, "{}: {found:?}", steps.join("."));
        rows.push((steps.to_vec(), found[0]));
    });
    rows
}

/// The node that steps lead to.
fn node<'a>(root: &'a mut Node, steps: &[String]) -> &'a mut Node {
    steps.iter().fold(root, |node, step| match &mut node.value {
        Value::Map(entries) => &mut entries.iter_mut().find(|e| e.key == *step).unwrap().node,
        Value::List(items) => &mut items[step.parse::<usize>().unwrap()],
        _ => panic!("{steps:?}"),
    })
}

/// The file with another value of one key.
fn with(root: &Node, steps: &[String], value: Value) -> Node {
    let mut changed = root.clone();
    node(&mut changed, steps).value = value;
    changed
}

/// A row of the table, with the names that a path of a file chooses.
fn tag(key: &Row, steps: &[String]) -> String {
    let part = |(part, step): (&Part, &String)| match part {
        Part::Each(_) => step.clone(),
        Part::Free => "<>".into(),
        Part::Item => "[]".into(),
    };
    let path: Vec<String> = key.parts().iter().zip(steps).map(part).collect();
    format!("{} {:?} {:?}", path.join("."), key.models, key.types)
}

#[test]
fn files_with_every_key_of_the_table_are_read_and_have_no_others() {
    let mut seen = BTreeSet::new();
    for file in FILES {
        let root = tree(file);
        assert!(read(&root).is_ok(), "{}", read(&root).unwrap_err());
        seen.extend(rows(&root).iter().map(|(steps, key)| tag(key, steps)));
    }
    for key in all() {
        let mut paths = vec![Vec::new()];
        for part in key.parts() {
            let names = if let Part::Each(names) = part { names } else { vec!["0"] };
            let longer = |path: &Vec<String>| -> Vec<Vec<String>> {
                names.iter().map(|name| path.iter().cloned().chain([(*name).to_owned()]).collect()).collect()
            };
            paths = paths.iter().flat_map(longer).collect();
        }
        for path in paths {
            assert!(seen.contains(&tag(key, &path)), "no file has {}", tag(key, &path));
        }
    }
}

#[test]
fn every_key_of_the_table_is_read() {
    for file in FILES {
        let root = tree(file);
        for (steps, _) in rows(&root) {
            let wrong = with(&root, &steps, absurd(&root.place).value);
            assert!(read(&wrong).is_err(), "the reader does not use {}", steps.join("."));
        }
    }
}

#[test]
fn numbers_outside_of_the_stated_range_are_refused() {
    let mut count = 0;
    for file in FILES {
        let root = tree(file);
        for (steps, key) in rows(&root) {
            for kind in key.kinds {
                let outside = match *kind {
                    Kind::Whole(low, usize::MAX) => vec![low as f64 - 1.0, low as f64 + 0.5],
                    Kind::Whole(low, high) => vec![low as f64 - 1.0, high as f64 + 1.0, low as f64 + 0.5],
                    Kind::Number(range) => match range {
                        Range::Any => vec![],
                        Range::Above(low) => vec![low],
                        Range::AtLeast(low) => vec![low - 0.25],
                        Range::Between(low, high) => vec![low - 0.25, high + 0.25],
                        Range::Below(Low::Over(low), high) => vec![low, high],
                        Range::Below(Low::From(low), high) => vec![low - 0.25, high],
                    },
                    _ => vec![],
                };
                for value in outside {
                    count += 1;
                    let result = read(&with(&root, &steps, Value::Number(value)));
                    assert!(result.is_err(), "{} = {value} is accepted", steps.join("."));
                }
            }
        }
    }
    assert!(count > 100, "{count} numbers are too few for a meaningful test");
}

#[test]
fn every_stated_word_is_one_of_the_reader() {
    for file in FILES {
        let root = tree(file);
        for (steps, key) in rows(&root) {
            for word in key.words() {
                // In `cuda:N` and `kN` the letter is a placeholder for a number.
                let text = word.replace('N', "2");
                if let Err(error) = read(&with(&root, &steps, Value::Text(text))) {
                    let path = steps.join(".");
                    let refused = |error: &InputError| match &*error.problem {
                        Problem::UnknownValue { key, .. } | Problem::Unsupported { key, .. } => *key == path,
                        _ => false,
                    };
                    let any = refused(&error) || error.more.iter().any(refused);
                    assert!(!any, "{path}: {word}\n{error}");
                }
            }
        }
    }
}

/// The typed sections as text, without the places of their values.
fn without_places(sections: &Sections) -> String {
    let text = format!("{sections:?}");
    let place = |c: char| c.is_ascii_digit() || c == ':';
    text.split("case.yaml").map(|part| part.trim_start_matches(place)).collect()
}

fn scalar(text: &str) -> Value {
    tree(&format!("a: {text}")).get("a").unwrap().value.clone()
}

#[test]
fn a_stated_default_reads_as_if_the_key_were_not_there() {
    // The plan, not the reader, fills in these defaults, or stores the key from which they were read.
    let of_the_plan = [
        "space.vcjh",
        "physics.source.<variable>",
        "physics.body_force.{x,y,z}",
        "physics.forcing.{u,v,w}",
        "physics.temperature.source",
        "physics.scalars.<name>.source",
        "physics.kappa",
        "physics.lambda",
        "boundaries.<name>.velocity.{u,v,w}",
        "boundaries.<name>.direction.{x,y,z}",
        "boundaries.<name>.normal.{x,y,z}",
    ];
    let mut seen = BTreeSet::new();
    for file in FILES {
        let root = tree(file);
        for (steps, key) in rows(&root) {
            let Absent::Value(value) = key.default else { continue };
            if of_the_plan.contains(&key.path) {
                continue;
            }
            let absent = read(&with(&root, &steps, Value::Null));
            let stated = read(&with(&root, &steps, scalar(value)));
            // Other keys of the file may need another value than the default.
            if let (Ok(absent), Ok(stated)) = (absent, stated) {
                assert_eq!(without_places(&absent), without_places(&stated), "{} = {value}", key.path);
                seen.insert(key.path);
            }
        }
    }
    let stated =
        all().filter(|key| matches!(key.default, Absent::Value(_)) && !of_the_plan.contains(&key.path));
    let unseen: Vec<&str> = stated.map(|key| key.path).filter(|path| !seen.contains(path)).collect();
    assert!(unseen.is_empty(), "defaults that no file shows: {unseen:?}");
}

#[test]
fn stated_defaults_are_what_a_run_writes_to_its_pipeline_file() {
    let mesh = "device: cpu\nmesh: { generate: { shape: quad, cells: [2, 2] }, \
                periodic: [[xmin, xmax], [ymin, ymax]] }\n";
    let flow = |rest: &str| format!("{mesh}{rest}");
    let extruded =
        |rest: &str| flow(rest).replace("periodic:", "extrude: { length: 1, layers: 1 }, periodic:");
    let files = [
        flow("physics: { model: euler }\ntime: { end: 1 }\n"),
        flow("physics: { model: advection, velocity: [1, 0] }\nspace: { scheme: fr }\ntime: { end: 1 }\n"),
        flow("physics: { model: navier-stokes, viscosity: { constant: 1 } }\ntime: { steady: {} }\n"),
        flow("physics: { model: incompressible, viscosity: 1 }\ninitial: { u: 1, v: 0 }\ntime: { end: 1 }\n"),
        extruded("physics: { model: euler }\nspace: { form: split }\ntime: { end: 1 }\n"),
        extruded("physics: { model: poisson, exact: sin(2*pi*x) }\n"),
    ];
    let mut seen = BTreeSet::new();
    let directory = tempfile::tempdir().unwrap();
    let choices = Choices { output: Some(directory.path().join("out")), ..Choices::default() };
    for file in &files {
        let source = Source::new("case.yaml", file.as_str());
        let document = Document::parse(&source, Path::new(""), "case", false, &[]).unwrap();
        let resolved = match document.is_elliptic() {
            true => EllipticPlan::new(&document, &choices).map(|plan| plan.outline.resolved),
            false => Plan::new(&document, &choices).map(|plan| plan.outline.resolved),
        };
        let mut resolved = resolved.unwrap_or_else(|error| panic!("{error}"));
        let given: BTreeSet<Vec<String>> = rows(&document.root).into_iter().map(|(steps, _)| steps).collect();
        for (steps, key) in rows(&resolved.clone()) {
            let written = node(&mut resolved, &steps).value.scalar_text();
            if let (Absent::Value(stated), Some(written), false) =
                (key.default, written, given.contains(&steps))
            {
                let same = match (stated.parse::<f64>(), written.parse::<f64>()) {
                    (Ok(a), Ok(b)) => a == b,
                    _ => stated == written,
                };
                assert!(same, "{}: the table states {stated}, the run writes {written}", key.path);
                seen.insert(key.path);
            }
        }
    }
    assert!(seen.len() >= 20, "too few defaults are written for a meaningful test: {seen:?}");
}

fn pipelines_below(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        // A crate has words of its own.
        if path.is_dir() && !path.ends_with("out") && !path.join("Cargo.toml").exists() {
            pipelines_below(&path, files);
        } else if path.extension().is_some_and(|extension| extension == "yaml") {
            files.push(path);
        }
    }
}

#[test]
fn every_key_of_the_examples_is_in_the_table() {
    let mut files = Vec::new();
    pipelines_below(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples"), &mut files);
    assert!(files.len() >= 8, "{files:?}");
    for file in files {
        rows(&tree(&std::fs::read_to_string(file).unwrap()));
    }
}

#[test]
fn monitors_have_the_words_that_their_files_are_named_after() {
    let names: Vec<&str> = crate::monitors::KINDS.iter().map(|kind| kind.name).collect();
    assert_eq!(known(&["monitors", "0"], Scope::default()).names, names);
}

#[test]
fn a_path_prints_its_keys_and_a_wrong_one_the_nearest() {
    let shown = |path: &str| text(Some(path)).unwrap();
    assert!(shown("space.order").starts_with("space.order  [euler"), "{}", shown("space.order"));
    assert!(shown("boundaries.wall.temperature").starts_with("boundaries.<name>.temperature"));
    assert_eq!(shown("monitors[0].probe.fields"), shown("monitors.probe.fields"));
    assert!(shown("riemann").starts_with("space.riemann"));
    assert!(!shown("initial.exact").contains("initial.<variable>"));
    assert_eq!(text(Some("spce")).unwrap_err().near.as_deref(), Some("space"));
    assert_eq!(text(Some("time.ende")).unwrap_err().near.as_deref(), Some("time.end"));
    assert!(text(None).unwrap().matches("\n    ").count() >= 2 * all().count());
}
