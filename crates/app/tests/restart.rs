//! Stored states: runs that continue from them (the first format, other parameters of the law, impossible
//! numbers), and fields that are exported from them.

#![expect(clippy::unwrap_used, reason = "a failed preparation fails the test")]

#[path = "support/case.rs"]
mod support;

use std::fs;
use std::path::Path;

use dgsuite_output::checkpoint;
use dgsuite_output::picture::{self, Run};
use dgsuite_output::writer::{UnstructuredFields, Values};
use support::{CHANNEL, Case, PLATE, STREAM, WAVE, number};

/// The run that wrote `data/first-format.dgs`.
const TWO_CELLS: &str = "\
mesh:
  generate: { shape: quad, cells: [2, 1] }
physics: { model: euler, gamma: 1.3 }
space: { order: 1, riemann: rusanov }
initial: { rho: 1 + 0.1*x, u: 0.5, v: 0, p: 1 }
boundaries:
  xmin: { type: dirichlet, rho: 1, u: 0.5, v: 0, p: 1 }
  xmax: { type: outflow }
  ymin: { type: slip-wall }
  ymax: { type: symmetry }
time: { end: 0.05, dt: 0.025 }
output: { averages: { every_steps: 1, names: [rho] } }
";

#[test]
fn a_checkpoint_of_the_first_format_is_continued_as_one_of_today() {
    let case = Case::new(TWO_CELLS);
    let old = Path::new(env!("CARGO_MANIFEST_DIR")).join("../output/tests/data/first-format.dgs");
    fs::copy(old, case.path("old.dgs")).unwrap();
    case.run(&[]);
    let more = ["--set", "time.end=0.1", "--set", "monitors=[{ integral: { fields: [rho, rho_E] } }]"];
    let today = case.run(&[&["--restart", "latest"], &more[..]].concat());
    let outcome = case
        .dgsuite(&[&["run", "case.yaml", "--restart", "old.dgs", "--output", "out/old"], &more[..]].concat());
    assert_eq!(outcome.code, 0, "{}", outcome.stderr);
    let other_law = |line: &str| line.starts_with("warning") && line.contains("gamma");
    assert!(!outcome.stderr.lines().any(other_law), "its parameters are not known: {}", outcome.stderr);
    let old = case.summary("out/old");
    // Another machine may round differently.
    for key in ["/integral/rho", "/integral/rho_E", "/time/end", "/time/steps"] {
        let (a, b) = (number(&old, key), number(&today, key));
        assert!((a - b).abs() <= 1e-12 * b.abs(), "{key}: {a} and {b}");
    }
}

/// The jobs of a chain are started by one command line.
#[test]
fn an_automatic_restart_begins_and_then_continues() {
    let case = Case::new(TWO_CELLS);
    let steps = |set: &[&str]| number(&case.run(&[&["--restart", "auto"], set].concat()), "/time/steps");
    assert_eq!(steps(&["--set", "time.end=0.025"]), 1.0);
    assert_eq!(steps(&[]), 2.0);
    assert!(!case.path("out/case/previous").exists(), "the second run continues the results of the first");
}

/// A quantity that decays as `e^(−t)`; its integral is recorded every second step.
const DECAY: &str = "\
mesh: { generate: { shape: quad, cells: [2, 2] }, periodic: [[xmin, xmax], [ymin, ymax]] }
physics: { model: advection, velocity: [1, 0], source: { u: -u } }
space: { order: 1 }
initial: { u: 1 + 0.1*sin(2*pi*x) }
time: { scheme: rk4, dt: 0.05, steps: 12 }
output:
  fields: { every_steps: 4, from: { when: step >= 7 } }
  averages: { from: { when: integral_mass < 0.8 }, every_steps: 1 }
monitors:
  - integral: { fields: [{ mass: u }], every_steps: 2 }
  - probe: { points: [[0.3, 0.4]], fields: [u], from: { when: integral_mass < 0.8 }, every_steps: 5 }
checks:
  - { value: triggers.0.step, between: [6, 6] }
";

/// The integral is below 0.8 from step 5 on, where only a run that ends there records it.
#[test]
fn what_begins_by_a_condition_begins_at_the_same_step_in_a_run_that_was_stopped() {
    let straight = Case::new(DECAY);
    let outcome = straight.dgsuite(&["run", "case.yaml"]);
    assert_eq!(outcome.code, 0, "{}", outcome.stderr);
    let said = "output.averages.from: `integral_mass < 0.8` holds at t = 0.3";
    assert!(outcome.stdout.contains(said) || outcome.stderr.contains(said), "{}", outcome.stderr);
    let whole = straight.summary("out/case");
    let held =
        |i: usize| (whole["triggers"][i]["key"].as_str().unwrap(), whole["triggers"][i]["step"].as_u64());
    assert_eq!(held(0), ("monitors.1.probe.from", Some(6)));
    assert_eq!(held(1), ("output.fields.from", Some(7)));
    assert_eq!(held(2), ("output.averages.from", Some(6)));
    let read = |case: &Case, file: &str| fs::read(case.path("out/case").join(file)).unwrap();
    // The first row is that of the step at which it begins.
    let table = String::from_utf8(read(&straight, "monitors/probe.csv")).unwrap();
    let steps: Vec<&str> = table.lines().skip(1).map(|line| line.split(',').next().unwrap()).collect();
    assert_eq!(steps, ["6", "10", "12"]);
    assert!(straight.path("out/case/fields/fields_000002.vtu").exists(), "steps 7, 8 and 12");
    assert!(!straight.path("out/case/fields/fields_000003.vtu").exists());
    for stop in [3, 5, 6, 9] {
        let case = Case::new(DECAY);
        let first = format!("time.steps={stop}");
        case.run(&["--set", &first, "--set", "checks=[]"]);
        let summary = case.run(&["--restart", "latest"]);
        assert_eq!(summary["triggers"], whole["triggers"], "stopped at {stop}");
        assert!(read(&case, "averages.vtu") == read(&straight, "averages.vtu"), "means, stopped at {stop}");
        let newest = "checkpoints/step-00000012.dgs";
        assert!(read(&case, newest) == read(&straight, newest), "checkpoints, stopped at {stop}");
    }
}

#[test]
fn conditions_that_cannot_be_used_are_refused_and_those_that_never_hold_are_reported() {
    let case = Case::new(DECAY);
    let refused = |set: &str, words: &[&str]| {
        let outcome = case.dgsuite(&["check", "case.yaml", "--set", set]);
        assert_eq!(outcome.code, 2, "{}", outcome.stdout);
        words.iter().for_each(|word| assert!(outcome.stderr.contains(word), "{word}: {}", outcome.stderr));
    };
    let unknown = ["unknown name `mass`", "known: t, step, integral_mass, probe_u_0"];
    refused("output.averages.from.when=mass < 1", &unknown);
    refused("output.fields.from={ wen: t > 1 }", &["unknown key `wen`", "`when`?"]);
    refused("monitors.0.integral={ fields: [{ mass: u }] }", &["with `every` or `every_steps`"]);
    let outcome = case.dgsuite(&[
        "run",
        "case.yaml",
        "--set",
        "checks=[]",
        "--set",
        "output.averages.from.when=integral_mass > 2",
    ]);
    assert_eq!(outcome.code, 0, "{}", outcome.stderr);
    let never = "output.averages.from: `integral_mass > 2` never held";
    assert!(outcome.stderr.contains(never) || outcome.stdout.contains(never), "{}", outcome.stderr);
    assert!(!case.path("out/case/averages.vtu").exists());
}

/// The coefficients of reactions are not in checkpoints: a restart evaluates them again, to the same bits.
#[test]
fn a_run_with_a_sponge_and_a_force_continues_bit_by_bit() {
    let physics = "physics: { model: euler, gamma: 1.3, body_force: [0.2, -x], \
                   sponge: { strength: 3*x^2, rho: 1, u: 0.5, v: 0, p: 1 } }";
    let yaml = TWO_CELLS.replace("physics: { model: euler, gamma: 1.3 }", physics);
    let yaml = yaml.replace("cells: [2, 1]", "cells: [6, 4]").replace("averages", "fields");
    let numbers = |set: &[&str]| {
        let case = Case::new(&yaml);
        case.run(&[set, &["--set", "time.end=0.05"]].concat());
        let more = ["--restart", "latest", "--set", "time.end=0.1"];
        let summary = case.run(&[&more[..], set].concat());
        let straight = Case::new(&yaml);
        let other = straight.run(&[&["--set", "time.end=0.1"], set].concat());
        assert_eq!(number(&summary, "/time/steps"), 4.0);
        let newest = |case: &Case| fs::read(case.path("out/case/checkpoints/step-00000004.dgs")).unwrap();
        let (first, second) = (newest(&case), newest(&straight));
        assert!(first == second, "the states differ");
        assert_eq!(summary["conservation"], other["conservation"]);
        first
    };
    let one = numbers(&["--set", "threads=1"]);
    assert!(one == numbers(&["--set", "threads=2"]), "the states of one thread and of two differ");
}

#[test]
fn a_restart_with_another_law_warns_and_names_both_values() {
    let case = Case::new(TWO_CELLS);
    case.run(&[]);
    let restart = |set: &str| {
        let arguments = ["run", "case.yaml", "--restart", "latest", "--output", "other", "--set", set];
        let latest = case.path("out/case/checkpoints/latest").display().to_string();
        let arguments = arguments.map(|a| if a == "latest" { latest.as_str() } else { a });
        let outcome = case.dgsuite(&[&arguments[..], &["--set", "time.end=0.075"]].concat());
        assert_eq!(outcome.code, 0, "{}", outcome.stderr);
        outcome.stderr
    };
    let said = restart("physics.gamma=1.4");
    let of_law = |line: &&str| line.starts_with("warning") && line.contains("gamma");
    let warning = said.lines().find(of_law).unwrap_or_else(|| panic!("{said}"));
    assert!(
        warning.contains("gamma 1.3 (this run: 1.4)") && warning.contains("step-00000002.dgs"),
        "{warning}"
    );
    let said = restart("physics.gamma=1.3");
    assert!(!said.lines().any(|line| of_law(&line)), "{said}");
}

#[test]
fn coefficients_that_do_not_fit_their_order_are_refused_with_both_named() {
    let case = Case::new(TWO_CELLS);
    case.run(&[]);
    let file = checkpoint::find(&case.path("out/case")).unwrap();
    let bytes = fs::read(&file).unwrap();
    let text = String::from_utf8_lossy(&bytes);
    let mesh = text.split("\"mesh\":\"").nth(1).unwrap().split('"').next().unwrap();
    let mesh = u64::from_str_radix(mesh, 16).unwrap();
    let refused = |change: &dyn Fn(&mut checkpoint::Checkpoint), part: &str| {
        let mut saved = checkpoint::read(&file, "euler", mesh).unwrap();
        change(&mut saved);
        checkpoint::write(&case.path("changed"), &saved, mesh).unwrap();
        let outcome = case.dgsuite(&["run", "case.yaml", "--restart", "changed"]);
        assert_eq!(outcome.code, 2, "{}", outcome.stderr);
        assert!(outcome.stderr.contains(part), "`{part}` is not in:\n{}", outcome.stderr);
    };
    refused(&|c| c.state.order = 2, "has 32 coefficients, which do not fit order 2 with a modal basis");
    refused(
        &|c| c.state.fields.truncate(31),
        "has 31 coefficients, which do not fit order 1 with a modal basis on this mesh: these have 32",
    );
    refused(
        &|c| c.state.tally.truncate(9),
        "euler with 9 sums for conservation, this solver is of euler with 12",
    );
    refused(&|c| c.state.basis = "wavelets".into(), "has a wavelets basis");
    refused(&|c| c.state.order = 1000, "has order 1000, which is not from 0 to 10");
}

/// A Poisson problem with curved elements, on which nothing but rounding hides a wrong coefficient.
const HEAT: &str = "\
mesh: { generate: { shape: tri, cells: [3, 3] }, map: { x: x + 0.1*x*y, order: 2 } }
physics: { model: poisson, exact: sin(x)*y }
space: { order: 3 }
boundaries: { xmin: { type: dirichlet, u: exact }, xmax: { type: robin, alpha: 1, g: exact },
  ymin: { type: dirichlet, u: exact }, ymax: { type: neumann, flux: exact } }
";

fn values<'a>(fields: &'a UnstructuredFields, name: &str) -> &'a [f64] {
    let field = fields.pieces[0].point_data.iter().find(|field| field.name == name).unwrap();
    let Values::Real(values) = &field.values else { panic!("{name}") };
    values
}

#[test]
fn an_exported_state_is_the_file_that_the_run_wrote() {
    let with = |text: &str, output: &str| format!("{text}output: {output}\n");
    let derived = "{ fields: { names: [Density, Vorticity, { head: p + u_x }], precision: double } }";
    let gated = STREAM.replace("order: 1", "order: 2, shock: entropy-filter");
    // The file beside the results has the viscosity in the words of the file.
    let by_reynolds = CHANNEL.replace("viscosity: 0.1", "reference: { reynolds: 10, length: 1 }");
    let cases = [
        with(STREAM, "{ averages: { every_steps: 1 } }"),
        with(&gated, "{ fields: { names: [Sensor, Pressure] } }"),
        with(PLATE, derived),
        with(&by_reynolds, "{ fields: { names: [Pressure, QCriterion] } }"),
        with(
            &WAVE.replace("order: 2", "order: 3, basis: nodal"),
            "{ checkpoint: { every_steps: 1, keep: 99 } }",
        ),
        HEAT.to_owned(),
    ];
    for yaml in &cases {
        let case = Case::new(yaml);
        case.run(&[]);
        let outcome = case.dgsuite(&["export", "out/case"]);
        assert_eq!(outcome.code, 0, "{yaml}{}", outcome.stderr);
        let run = Run::open(&case.path("out/case")).unwrap();
        let own = fs::read(run.files().last().unwrap().1.path()).unwrap();
        assert!(own == fs::read(case.path("out/case/export.vtu")).unwrap(), "{yaml}{}", outcome.stdout);
    }
    // What the limiter did in the last step is not stored.
    let case = Case::new(&with(&gated, "{ fields: { names: [Filter, Pressure] } }"));
    case.run(&[]);
    let outcome = case.dgsuite(&["export", "out/case"]);
    assert!(outcome.stdout.contains(": Pressure on 16 cells"), "{}{}", outcome.stdout, outcome.stderr);
    let fields = picture::read(&case.path("out/case/export.vtu")).unwrap();
    assert!(fields.pieces[0].cell_data.iter().all(|field| field.name == "element_id"));
    let outcome = case.dgsuite(&["export", "out/case", "-f", "Filter"]);
    assert!(outcome.code == 2 && outcome.stderr.contains("the last step"), "{}", outcome.stderr);
    // A former state, from the same run as the last but one case.
    let case = Case::new(&cases[4]);
    case.run(&[]);
    let first = "out/case/checkpoints/step-00000001.dgs";
    let outcome = case.dgsuite(&["export", "out/case", "--from", first, "--order", "6", "-o", "first.vtu"]);
    assert_eq!(outcome.code, 0, "{}", outcome.stderr);
    let fields = picture::read(&case.path("first.vtu")).unwrap();
    assert!(fields.time > 0.0 && fields.time < 0.1 && fields.pieces[0].order == 6, "{}", outcome.stdout);
}

#[test]
fn fields_by_formula_and_boundaries_are_exported() {
    let case = Case::new(STREAM);
    case.run(&[]);
    let head = "head=gamma*p + rho*u^2/2";
    let boundaries = ["--surface", "ymin", "xmax", "--order", "3"];
    let outcome = case.dgsuite(&[&["export", "out/case", "--field", head], &boundaries[..]].concat());
    assert_eq!(outcome.code, 0, "{}", outcome.stderr);
    let surface = picture::read(&case.path("out/case/surface.vtu")).unwrap();
    assert_eq!((surface.pieces[0].order, surface.pieces[0].n_cells()), (3, 4 + 2));
    // Single precision.
    assert!(values(&surface, "head").iter().all(|head| (head - 1.525).abs() < 1e-6));
    let on = |x: &[f64; 3]| x[1].abs() < 1e-6 || (x[0] - 2.0).abs() < 1e-6;
    assert!(surface.pieces[0].points.iter().all(on));
    let refused = |arguments: &[&str], parts: &[&str]| {
        let outcome = case.dgsuite(&[&["export"], arguments].concat());
        assert_eq!(outcome.code, 2, "{}", outcome.stdout);
        for part in parts {
            assert!(outcome.stderr.contains(part), "`{part}` is not in: {}", outcome.stderr);
        }
    };
    refused(
        &["out/case", "--field", "Presure"],
        &["`Presure` is not a value of `--field`", "did you mean `Pressure`?", "--field Presure"],
    );
    refused(&["out/case", "--field", "a=rho+q"], &["unknown name `q`", "--field a=rho+q", "^"]);
    refused(&["out/case", "--field", "p", "--field", "p"], &["has the name `p` twice"]);
    refused(&["out/case", "--surface", "ymim"], &["no boundary `ymim`", "did you mean `ymin`?"]);
    refused(&["out/case", "--order", "11"], &["--order cannot be `11`"]);
    refused(&["out/case", "-o", "a.csv"], &["ends in .vtu"]);
    refused(&["out"], &["out has no run to export", "choose a run inside of it: out/case"]);
    refused(&["nowhere"], &["there is no such folder"]);
    fs::remove_dir_all(case.path("out/case/checkpoints")).unwrap();
    refused(&["out/case"], &["out/case holds no checkpoint", "hint: a run writes one at its end"]);
    refused(&["out/case", "--from", "case.yaml"], &["case.yaml is not a checkpoint of dgsuite"]);
}

/// The solution `u = x y`, which stands still, in a box that is sheared along z: a polynomial of every
/// element.
fn sheared(shape: &str) -> Case {
    let case = Case::new(&format!(
        "mesh: {{ generate: {{ shape: {shape}, cells: [2, 2, 2] }}, map: {{ z: z + 0.1*x*y, order: 2 }} }}
physics: {{ model: advection, velocity: [0, 0, 1] }}
space: {{ order: 2 }}
initial: {{ exact: {{ u: x*y }} }}
boundaries: {{ xmin: {{ type: outflow }}, xmax: {{ type: outflow }}, ymin: {{ type: outflow }},
  ymax: {{ type: outflow }}, zmin: {{ type: dirichlet, u: x*y }}, zmax: {{ type: outflow }} }}
time: {{ steps: 1 }}
output: {{ fields: {{ every: 1, precision: double }} }}
"
    ));
    case.run(&[]);
    case
}

#[test]
fn slices_lie_on_their_planes_and_have_the_values_of_the_solution() {
    for shape in ["tet", "hex", "prism"] {
        let case = sheared(shape);
        // Through faces of elements, through a corner of the domain, and between.
        for (axis, at) in [(0, 0.5), (0, 1.0), (1, 0.3), (2, 0.5)] {
            let slice = format!("{}={at}", ["x", "y", "z"][axis]);
            let fields = ["--field", "u", "--field", "slope=u_x", "--order", "6", "-o", "slice.vtu"];
            let outcome = case.dgsuite(&[&["export", "out/case", "--slice", &slice], &fields[..]].concat());
            assert_eq!(outcome.code, 0, "{}", outcome.stderr);
            let cut = picture::read(&case.path("slice.vtu")).unwrap();
            let mut area = 0.0;
            for piece in &cut.pieces {
                let value = |name: &str, i: usize| {
                    let field = piece.point_data.iter().find(|field| field.name == name).unwrap();
                    let Values::Real(values) = &field.values else { panic!("{name}") };
                    values[i]
                };
                for (i, x) in piece.points.iter().enumerate() {
                    assert!((x[axis] - at).abs() < 1e-14, "{shape} {slice}: {x:?}");
                    assert!((value("u", i) - x[0] * x[1]).abs() < 1e-12, "{shape} {slice}: {x:?}");
                    assert!((value("slope", i) - x[1]).abs() < 1e-11, "{shape} {slice}: {x:?}");
                }
                for [a, b, c] in piece.points.chunks(3).map(|corners| <[_; 3]>::try_from(corners).unwrap()) {
                    let [u, v]: [[f64; 3]; 2] = [b, c].map(|p| std::array::from_fn(|d| p[d] - a[d]));
                    let [d, e] = [(axis + 1) % 3, (axis + 2) % 3];
                    area += 0.5 * (u[d] * v[e] - u[e] * v[d]).abs();
                }
            }
            assert!((area - 1.0).abs() < 1e-12, "{shape} {slice}: {area}");
        }
    }
}

#[test]
fn a_line_has_the_values_of_probes() {
    let case = sheared("tet");
    let line = ["export", "out/case", "--line", "0.1,0.2,0.3 1.1,0.7,0.8", "--points", "11", "--field", "u"];
    let outcome = case.dgsuite(&line);
    assert!(
        outcome.stdout.contains("u at 10 points (1 more are outside"),
        "{}{}",
        outcome.stdout,
        outcome.stderr
    );
    let text = fs::read_to_string(case.path("out/case/line.csv")).unwrap();
    assert_eq!(text.lines().next(), Some("s,x,y,z,u"));
    for row in case.table("out/case/line.csv") {
        assert!((row[4] - row[1] * row[2]).abs() < 1e-12, "{row:?}");
        assert!((row[0] - (row[1] - 0.1) * 1.5_f64.sqrt()).abs() < 1e-12, "{row:?}");
    }
    // A flow whose pressure is no polynomial, at a probe.
    let vortex = "\
mesh: { generate: { shape: tri, min: [-5, -5], max: [5, 5], cells: [4, 4] },
  periodic: [[xmin, xmax], [ymin, ymax]] }
physics: { model: euler }
space: { order: 2 }
initial: { exact: isentropic-vortex }
time: { steps: 3 }
monitors: [{ probe: { points: [[1.25, 0.75]], fields: [p, u], every_steps: 1 } }]
";
    let case = Case::new(vortex);
    case.run(&[]);
    let line = ["export", "out/case", "--line", "0.25,0.25 2.25,1.25", "--points", "3"];
    let outcome = case.dgsuite(&[&line[..], &["-f", "Velocity", "-f", "p", "-o", "line.csv"]].concat());
    assert_eq!(outcome.code, 0, "{}", outcome.stderr);
    let text = fs::read_to_string(case.path("line.csv")).unwrap();
    assert_eq!(text.lines().next(), Some("s,x,y,Velocity.x,Velocity.y,p"));
    let (row, probe) =
        (case.table("line.csv").remove(1), case.table("out/case/monitors/probe.csv").pop().unwrap());
    let [p, u] = [probe[probe.len() - 2], probe[probe.len() - 1]];
    assert!((row[5] - p).abs() < 1e-13 && (row[3] - u).abs() < 1e-13, "{row:?} {probe:?}");
    // The exact solution of Poisson's problem, and its discrete one.
    let case = Case::new(HEAT);
    case.run(&[]);
    let line = ["export", "out/case", "--line", "0,0.5 0.9,0.5", "-f", "exact", "-f", "u"];
    assert_eq!(case.dgsuite(&line).code, 0);
    let table = case.table("out/case/line.csv");
    assert_eq!(table.len(), 101);
    for row in table {
        let exact = row[1].sin() * row[2];
        assert!((row[3] - exact).abs() < 1e-12 && (row[4] - exact).abs() < 1e-3, "{row:?}");
    }
    let refused = |arguments: &[&str], part: &str| {
        let outcome = case.dgsuite(&[&["export", "out/case"], arguments].concat());
        assert_eq!(outcome.code, 2, "{}", outcome.stdout);
        assert!(outcome.stderr.contains(part), "`{part}` is not in: {}", outcome.stderr);
    };
    refused(&["--line", "0,0 0,0"], "two different points of two coordinates");
    refused(&["--line", "2,2 3,3"], "the line from (2.000000, 2.000000, 0.000000)");
    refused(&["--slice", "z=0"], "the mesh is a plane itself");
    refused(&["--line", "0,0 1,1", "-o", "line.vtu"], "ends in .csv");
    refused(&["--line", "0,0 1,1", "--points", "1"], "--points");
    let case = sheared("hex");
    let outcome = case.dgsuite(&["export", "out/case", "--slice", "x=1.5"]);
    assert!(outcome.code == 2 && outcome.stderr.contains("0.000000 and 1.000000"), "{}", outcome.stderr);
}

/// The coefficients in the newest checkpoint of a folder of results.
fn coefficients(case: &Case, results: &str, law: &str) -> Vec<f64> {
    let file = checkpoint::find(&case.path(results)).unwrap();
    checkpoint::read_on_any_mesh(&file, law, 0).unwrap().0.state.fields
}

#[test]
fn a_state_comes_back_from_a_higher_order() {
    let case = Case::new(STREAM);
    let waves = "initial={ rho: 1 + 0.2*sin(3*x)*cos(2*y), u: 0.5, v: 0, p: 1 }";
    case.run(&["--set", "space.order=2", "--set", waves]);
    let project = |from: &str, to: &str, order: &str| {
        let order = format!("space.order={order}");
        let outcome =
            case.dgsuite(&["run", "case.yaml", "--restart-project", from, "--output", to, "--set", &order]);
        assert_eq!(outcome.code, 0, "{}", outcome.stderr);
        outcome.stderr
    };
    let said = project("out/case", "higher", "3");
    assert!(said.contains("of order 2 is projected to order 3; conservation defect"), "{said}");
    project("higher", "back", "2");
    let [first, higher, back] = ["out/case", "higher", "back"].map(|run| coefficients(&case, run, "euler"));
    assert!(higher.len() > first.len() && back.len() == first.len());
    for (a, b) in first.iter().zip(&back) {
        assert!((a - b).abs() < 1e-14, "{a} and {b}");
    }
    assert_eq!(number(&case.summary("back"), "/time/end"), 0.05, "the time continues");
}

/// The steady solution `u = x y` on triangles, projected onto quadrilaterals, of which it is a polynomial
/// too.
#[test]
fn a_polynomial_is_carried_to_another_mesh() {
    let still = "\
mesh: { generate: { shape: tri, cells: [3, 3] } }
physics: { model: advection, velocity: [0, 0] }
space: { order: 2 }
initial: { exact: { u: x*y } }
boundaries: { xmin: { type: outflow }, xmax: { type: outflow }, ymin: { type: outflow }, ymax: { type: outflow } }
time: { steps: 2, dt: 0.5 }
";
    let case = Case::new(still);
    case.run(&[]);
    let onto = |sets: &[&str]| {
        let base = [
            "run",
            "case.yaml",
            "--restart-project",
            "out/case",
            "--output",
            "other",
            "--set",
            "time.steps=3",
        ];
        let sets: Vec<&str> = sets.iter().flat_map(|set| ["--set", set]).collect();
        case.dgsuite(&[&base[..], &sets].concat())
    };
    let other = "mesh.generate={ shape: quad, cells: [4, 5] }";
    for order in ["space.order=2", "space.order=3"] {
        let outcome = onto(&[other, order]);
        assert_eq!(outcome.code, 0, "{}", outcome.stderr);
        assert!(
            outcome.stderr.contains(
                "of order 2 on 18 elements is projected onto this mesh; integrals change by at most"
            )
        );
        let summary = case.summary("other");
        assert!(number(&summary, "/error/linf/u") < 1e-13, "{}", summary["error"]);
        assert_eq!((number(&summary, "/time/end"), number(&summary, "/time/steps")), (1.5, 3.0));
    }
    let again =
        ["run", "case.yaml", "--restart-project", "out/case", "--output", "again", "--start-time", "0.25"];
    let outcome = case.dgsuite(&[&again[..], &["--set", other, "--set", "time.steps=1"]].concat());
    assert_eq!(outcome.code, 0, "{}", outcome.stderr);
    let summary = case.summary("again");
    assert_eq!((number(&summary, "/time/end"), number(&summary, "/time/steps")), (0.75, 1.0));
    // A little beyond the old mesh its nearest element is continued; farther away nothing is known.
    let outcome = onto(&["mesh.generate={ shape: quad, cells: [4, 4], max: [1.01, 1] }"]);
    assert_eq!(outcome.code, 0, "{}", outcome.stderr);
    let refused = |sets: &[&str], parts: &[&str]| {
        let outcome = onto(sets);
        assert_eq!(outcome.code, 2, "{}", outcome.stderr);
        parts.iter().for_each(|p| assert!(outcome.stderr.contains(p), "`{p}` is not in: {}", outcome.stderr));
    };
    refused(
        &["mesh.generate={ shape: quad, cells: [4, 4], max: [2, 1] }"],
        &["cannot restart", "has no value at (1."],
    );
    refused(
        &["physics={ model: euler }", "initial={ rho: 1, u: 0, v: 0, p: 1 }"],
        &["has the model advection"],
    );
    let plain = case.dgsuite(&["run", "case.yaml", "--restart", "latest", "--set", other]);
    assert!(plain.code == 2 && plain.stderr.contains("hint: `--restart-project"), "{}", plain.stderr);
    fs::remove_file(case.path("out/case/pipeline.yaml")).unwrap();
    refused(&[other], &["was written on another mesh", "out/case/pipeline.yaml does not exist"]);
}

#[test]
fn incompressible_flow_is_carried_to_another_mesh() {
    let case = Case::new(CHANNEL);
    case.run(&[]);
    let sets = ["mesh.generate={ shape: tri, cells: [5, 3], max: [2, 1] }", "space.order=3", "time.steps=2"];
    let sets: Vec<&str> = sets.iter().flat_map(|set| ["--set", set]).collect();
    let base = ["run", "case.yaml", "--restart-project", "out/case", "--output", "other"];
    let outcome = case.dgsuite(&[&base[..], &sets].concat());
    assert_eq!(outcome.code, 0, "{}", outcome.stderr);
    let line = ["export", "other", "--line", "1,0 1,1", "--points", "21", "-f", "u", "-o", "line.csv"];
    assert_eq!(case.dgsuite(&line).code, 0);
    // Couette's flow, u = y, is a solution; the outflow disturbs it a little.
    for row in case.table("line.csv") {
        assert!((row[3] - row[2]).abs() < 1e-3, "{row:?}");
    }
}

/// All times are in one file; a continued run keeps the former ones, and checkpoints become the times of one.
#[test]
fn one_file_has_all_times() {
    let yaml = WAVE.replace("time: { end: 0.1 }", "time: { end: 0.1, dt: 0.025 }");
    let output = "output: { checkpoint: { every_steps: 1, keep: 99 }, fields: { every_steps: 1 } }\n";
    let case = Case::new(&format!("{yaml}{output}"));
    let outcome = case.dgsuite(&["run", "case.yaml", "--output", "out/files"]);
    assert_eq!(outcome.code, 0, "{}", outcome.stderr);
    let one = ["--set", "output.fields.format=vtkhdf"];
    case.run(&[&one[..], &["--set", "time.end=0.05"]].concat());
    assert!(!case.path("out/case/fields.pvd").exists() && !case.path("out/case/fields").exists());
    let read = |path: &str| -> Vec<(f64, UnstructuredFields)> {
        let run = Run::open(&case.path(path)).unwrap();
        run.files().iter().map(|(time, source)| (*time, source.read().unwrap())).collect()
    };
    let expected = read("out/files");
    assert_eq!(expected.len(), 5);
    let agree = |found: &[(f64, UnstructuredFields)], expected: &[(f64, UnstructuredFields)]| {
        assert_eq!(found.len(), expected.len());
        assert!(found.iter().zip(expected).all(|((t, a), (s, b))| t == s && a == b));
    };
    agree(&read("out/case"), &expected[..3]);
    case.run(&[&one[..], &["--restart", "latest"]].concat());
    agree(&read("out/case/fields.vtkhdf"), &expected);
    // From a former state: its later times are dropped, and written again.
    let former = ["--restart", "out/case/checkpoints/step-00000001.dgs", "--set", "time.end=0.05"];
    case.run(&[&one[..], &former[..]].concat());
    agree(&read("out/case"), &expected[..3]);

    let outcome = case.dgsuite(&["export", "out/case", "--all", "-o", "all.vtkhdf"]);
    assert!(
        outcome.stdout.contains("at 2 times from t = 0.025 to 0.05"),
        "{}{}",
        outcome.stdout,
        outcome.stderr
    );
    agree(&read("all.vtkhdf"), &expected[1..3]);
    let outcome = case.dgsuite(&["export", "out/files", "-o", "out/last.vtkhdf"]);
    assert_eq!(outcome.code, 0, "{}", outcome.stderr);
    agree(&read("out/last.vtkhdf"), &expected[4..]);
    let outcome = case.dgsuite(&["export", "out/case", "--all", "-o", "all.vtu"]);
    assert!(outcome.code == 2 && outcome.stderr.contains("ends in .vtkhdf"), "{}", outcome.stderr);

    // Other fields have no values at the former times.
    let others = ["--restart", "latest", "--set", "output.fields.names=[u, { twice: 2*u }]"];
    let outcome = case.dgsuite(&[&["run", "case.yaml"], &one[..], &others[..]].concat());
    let parts = ["fields.vtkhdf", "every field needs values at all times", "move the file away"];
    assert!(
        outcome.code != 0 && parts.iter().all(|part| outcome.stderr.contains(part)),
        "{}",
        outcome.stderr
    );
    agree(&read("out/case"), &expected[..3]);
}

/// A uniform gas under a uniform force: its velocity is the time.
const FORCED: &str = "\
title: A gas that falls
mesh: { generate: { shape: quad, cells: [2, 2] }, periodic: [[xmin, xmax], [ymin, ymax]] }
physics: { model: euler, body_force: [1, 0] }
space: { order: 2 }
initial: { rho: 1, u: 0, v: 0, p: 1 }
time: { end: 1 }
output: { fields: none, averages: { every_steps: 1, names: [Velocity], deviations: true } }
";

/// The time that the means of a checkpoint span, and the mean velocity at its first point.
fn mean_of(case: &Case, results: &str, law: &str) -> (f64, f64) {
    let digest = case.summary(results)["mesh"]["digest"].as_str().map(|text| u64::from_str_radix(text, 16));
    let latest = case.path(results).join("checkpoints/latest");
    let file = dgsuite_output::checkpoint::find(&latest).unwrap();
    let saved = dgsuite_output::checkpoint::read(&file, law, digest.unwrap().unwrap()).unwrap();
    (saved.averages[0], saved.averages[2] / saved.averages[0])
}

/// Means were dropped in silence where their number had changed (0.75 for 0.5), and samples from before
/// `from` were kept (0.5 for 0.85).
#[test]
fn means_continue_with_another_order_or_fewer_fields_and_otherwise_say_that_they_begin_anew() {
    let case = Case::new(FORCED);
    case.run(&["--set", "time.end=0.5"]);
    let (length, mean) = mean_of(&case, "out/case", "euler");
    assert!((length - 0.5).abs() < 1e-12 && (mean - 0.25).abs() < 1e-10, "{length}, {mean}");
    let none = "";
    for (set, expected, warning) in [
        ("time.end=1", [1.0, 0.5], none),
        ("space.order=3", [1.0, 0.5], none),
        ("space.order=1", [1.0, 0.5], none),
        ("output.averages.deviations=false", [1.0, 0.5], none),
        ("output.averages.names=[Velocity, Pressure]", [0.5, 0.75], "has none of Pressure, Pressure_std"),
        ("output.averages.names=[Pressure]", [0.5, 1.0], "has none of Pressure"),
        ("output.averages.from=0.7", [0.3, 0.85], "begin later"),
        ("output.averages.from=0.25", [0.5, 0.75], "before output.averages.from, 0.25"),
    ] {
        let latest = case.path("out/case/checkpoints/latest").display().to_string();
        let args = ["run", "case.yaml", "--restart", &latest, "--output", "more", "--set", set];
        let outcome = case.dgsuite(&args);
        assert_eq!(outcome.code, 0, "{set}: {}", outcome.stderr);
        let said = outcome.stderr.contains("warning: means (output.averages) begin");
        assert!(said != warning.is_empty() && outcome.stderr.contains(warning), "{set}: {}", outcome.stderr);
        let (length, mean) = mean_of(&case, "more", "euler");
        // `from` is not landed on: the first sample is taken up to a step later.
        let tolerance = if set.ends_with("0.7") { 0.05 } else { 1e-9 };
        let near = |a: f64, b: f64| (a - b).abs() < tolerance;
        assert!(near(length, expected[0]) && near(mean, expected[1]), "{set}: {mean} over {length}");
    }
}

/// By default each tenth step was sampled, of a short run little but the start. After a restart
/// samples go on at the same steps.
#[test]
fn short_runs_sample_each_step_by_default_and_long_ones_the_same_steps_after_a_restart() {
    let plain =
        FORCED.replace("every_steps: 1, ", "").replace("time: { end: 1 }", "time: { dt: 0.004, steps: 250 }");
    let case = Case::new(&plain);
    let outcome = case.dgsuite(&["run", "case.yaml", "--set", "time.steps=100"]);
    assert!(outcome.stderr.contains("sampled every step at first"), "{}", outcome.stderr);
    let resolved = fs::read_to_string(case.path("out/case/pipeline.yaml")).unwrap();
    assert!(resolved.contains("every_steps: auto"), "{resolved}");
    // Each of 100 steps: the last sample is that of the last step.
    let (length, _) = mean_of(&case, "out/case", "euler");
    assert!((length - 0.4).abs() < 1e-12, "{length}");
    // 230 steps; a sample each second one from the 200th on.
    case.run(&["--restart", "latest", "--set", "time.steps=230"]);
    case.run(&["--restart", "latest"]);
    let whole = Case::new(&plain);
    whole.run(&[]);
    let newest = |case: &Case| fs::read(case.path("out/case/checkpoints/step-00000250.dgs")).unwrap();
    assert!(newest(&case) == newest(&whole), "the means differ");
}

/// By default each tenth step was sampled, and so nothing but the start of a run of 4 steps.
#[test]
fn each_step_of_incompressible_flow_is_sampled_by_default() {
    let more = "output: { fields: none, averages: { names: [Velocity] } }\n";
    let case = Case::new(&format!("{}{more}", CHANNEL.replace("steps: 1", "steps: 4")));
    let end = number(&case.run(&["--device", "cpu"]), "/time/end");
    let (length, _) = mean_of(&case, "out/case", "incompressible");
    assert!(end > 0.0 && (length - end).abs() < 1e-12, "{length} of {end}");
}
