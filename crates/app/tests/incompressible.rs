//! Incompressible flow by the program: mistakes of the input, and runs.

#![expect(clippy::unwrap_used, reason = "a failed preparation fails the test")]

#[path = "support/case.rs"]
mod support;

use support::{CHANNEL, Case, number, refused, with};

#[test]
fn incompressible_flow_without_sense() {
    let case = Case::new(CHANNEL);
    let refuses = |set: &str, parts: &[&str]| refused(&case, &["--set", set], parts);
    refuses("physics.viscosity=", &["`physics.viscosity` is missing", "Reynolds number and length"]);
    refuses("physics.viscosity=0", &["`physics.viscosity` is 0, but must be greater than 0"]);
    refuses("physics.gamma=1.4", &["does not belong to the model incompressible", "euler or navier-stokes"]);
    let both = "physics.reference={ reynolds: 10, length: 1 }";
    refuses(both, &["`physics.viscosity` and `physics.reference.reynolds` exclude each other"]);
    for key in ["space.riemann=roe", "space.limiter=none", "space.form=split", "space.viscous=br2"] {
        refuses(key, &["does not belong to the model incompressible"]);
    }
    refuses("space.basis=modal", &["the model incompressible has `basis: nodal`"]);
    refuses("space.order=0", &["`space.order` is 0, but must be from 1 to 10"]);
    refuses("space.penalties=off", &["`off` is not a value of `space.penalties`", "on, none"]);
    refuses("space.penalties={ divergence: -1 }", &["`space.penalties.divergence` is -1"]);
    let lower = "space={ order: 1, pressure_order: lower }";
    refuses(lower, &["`space.pressure_order` does not belong to velocities of order 1", "orders from 2 on"]);
    let lower = "space={ order: 2, penalties: none, pressure_order: lower }";
    refuses(lower, &["does not belong to flow without the penalty", "`space.penalties: on`"]);
    refuses("space.pressure_order=1", &["`space.pressure_order`", "equal, lower"]);
    refuses("time.scheme=lserk54", &["does not belong to the model incompressible", "bdf1, bdf2 and bdf3"]);
    let rest = with(CHANNEL, "initial: { u: y, v: 0 }\n", "");
    refused(&rest, &["--set", "time.dt="], &["`time.dt` is missing", "the fluid is at rest at the start"]);
    refuses("time={ subcycles: auto, cfl: 1, end: 1 }", &["`time.dt` is missing", "bounds the sub-steps"]);
    refuses("time={ dt: 1, subcycles: auto, cfl: -1, end: 1 }", &["`time.cfl` is -1"]);
    refuses("time={ dt: 1, cfl: 1, end: 1 }", &["`time.cfl` and `time.dt` exclude each other"]);
    refuses("time.scheme=bdf4", &["expected one of: bdf1, bdf2, bdf3"]);
    refuses("time.adaptive={ tolerance: 1e-4 }", &["does not belong to the model incompressible"]);
    refuses(
        "time.rotational=true",
        &["does not belong to dual splitting", "`splitting: pressure-correction`"],
    );
    refuses("solver.tolerance=1e-4", &["does not belong to the model incompressible", "the model poisson"]);
    refuses("solver.pressure.cycle=x", &["`x` is not a value of `solver.pressure.cycle`"]);
    refuses(
        "precision=single",
        &["`precision: single` is not supported", "`solver.pressure.inner_precision`"],
    );
    refuses("boundaries.ymin.type=slip-wall", &["does not belong to the model incompressible"]);
    refuses(
        "boundaries.ymin.temperature=1",
        &["`boundaries.ymin.temperature` does not belong to flow without a temperature"],
    );
    refuses("boundaries.xmax.kind=dongs", &["did you mean `dong`?"]);
    refuses(
        "boundaries.xmax.p=1",
        &["unknown key `p` in `boundaries.xmax`", "known keys: type, kind, exact"],
    );
    refuses("boundaries.xmin.rho=1", &["unknown key `rho` in `boundaries.xmin`"]);
    refuses("initial.exact={ u: y, v: 0 }", &["exclude each other"]);
    refuses("initial={ exact: { u: y, v: 0 } }", &["`initial.exact.p` is missing"]);
    refuses("initial={ u: y }", &["`initial.v` is missing"]);
    refuses("physics.forcing={ w: 1 }", &["unknown key `w` in `physics.forcing`"]);
    refuses("checks=[{ value: conservation.u, below: 1 }]", &["`conservation.u` is not a value"]);
    refuses("physics.flow_rate={ direction: [1, 0] }", &["`physics.flow_rate.mean` is missing"]);
    refuses("physics.flow_rate={ mean: 1, direction: [0, 0] }", &["a vector that is not zero"]);
    refuses("physics.flow_rate={ mean: 1, direction: [1, 0, 0] }", &["the mesh has 2 dimensions"]);
    refuses("monitors=[{ flow_rate: {} }]", &["`physics.flow_rate` is missing"]);
    let closed = ["no flow passes through the domain along [1.0, 0.0, 0.0]", "hint: join the boundaries"];
    refuses("physics.flow_rate={ mean: 1 }", &closed);
    // The outflow is less than the inflow, then equal.
    let outlet =
        |u: &str| with(CHANNEL, "{ type: outflow }", &format!("{{ type: dirichlet, u: {u}, v: 0 }}"));
    refused(&outlet("0.8*y"), &[], &["let in 1.0000e-1 more than they let out", "case.yaml:7:"]);
    let equal = outlet("0.75*y*(2 - y)").dgsuite(&["check", "case.yaml"]);
    assert!(!equal.stderr.contains("let in"), "{}", equal.stderr);
}

/// The keys between backquotes of a hint, without values.
fn keys_of(hint: &str) -> Vec<&str> {
    let quoted = hint.split('`').skip(1).step_by(2);
    quoted.map(|text| text.split(':').next().unwrap_or_default()).collect()
}

#[test]
fn a_solver_that_does_not_converge_names_the_keys_that_help_and_shows_its_residuals() {
    let case = with(CHANNEL, "initial: { u: y, v: 0 }", "initial: { u: y^2, v: 0 }");
    // The set-up solves for the pressure of the initial state, a step for the velocity. The penalties have
    // the limits of the velocity.
    for (solver, code) in [("pressure", 2), ("velocity", 1)] {
        let set = |key: &str| format!("solver.{solver}.{key}");
        let (most, tolerance) = (set("max_iterations=2"), set("tolerance=1e-13"));
        let sets = ["--set", &most, "--set", &tolerance, "--set", "space.penalties=none"];
        let outcome = case.dgsuite(&[&["run", "case.yaml"], &sets[..]].concat());
        let text = &outcome.stderr;
        assert_eq!(outcome.code, code, "{text}");
        assert!(text.contains(&format!("the {solver} could not be solved: no convergence in 2")), "{text}");
        let shown = text.lines().filter(|line| line.starts_with("residuals") && line.ends_with(" (2)"));
        assert_eq!(shown.count(), usize::from(code == 1), "{text}");
        let hint = text.lines().find(|line| line.starts_with("hint: raise")).unwrap();
        let keys = keys_of(hint);
        assert!(keys.contains(&set("max_iterations").as_str()), "{hint}");
        keys.iter().for_each(|key| assert_eq!(case.dgsuite(&["keys", key]).code, 0, "{key}"));
    }
}

/// Waves in a channel whose cells at the walls have an aspect ratio of 300.
const THIN: &str = "\
title: Thin
mesh:
  generate: { shape: quad, cells: [4, 16], min: [0, -1], max: [4, 1] }
  periodic: [[xmin, xmax]]
  map: { order: 1, y: tanh(3*y)/tanh(3) }
physics: { model: incompressible, viscosity: 1e-2 }
space: { order: 3 }
initial: { u: (1 - y^2)*(1 + 0.1*sin(pi*x/2)*y), v: 0.1*cos(pi*x/2)*(1 - y^2)^2 }
boundaries:
  ymin: { type: no-slip-wall }
  ymax: { type: no-slip-wall }
time: { dt: 0.05, steps: 4, graded_start: false }
solver: { velocity: { tolerance: 1e-10 } }
monitors:
  - integral: { fields: [{ energy: u^2 + v^2 }] }
";

/// All preconditioners of the velocity give one flow, and those that know thin elements take few iterations.
#[test]
fn viscous_steps_at_walls_take_few_iterations() {
    for (shape, few) in [("quad", 36.0), ("tri", 36.0)] {
        let case = Case::new(THIN);
        let shape = format!("mesh.generate.shape={shape}");
        let run = |word: &str| {
            let word = format!("solver.velocity.preconditioner={word}");
            let summary = case.run(&["--set", &shape, "--set", &word]);
            (number(&summary, "/linear/velocity/iterations"), number(&summary, "/integral/energy"))
        };
        let (point, energy) = run("jacobi");
        let all = ["linelets", "pmg-amg", "auto"].map(|word| (word, run(word)));
        for (word, (iterations, same)) in all {
            assert!(iterations < few && 3.0 * iterations < point, "{word}, {shape}: {iterations} of {point}");
            assert!((same - energy).abs() < 1e-8 * energy, "{word}, {shape}: {same} and {energy}");
        }
        let [(_, linelets), _, (_, auto)] = all;
        assert!(linelets == auto, "{shape}: {linelets:?} and {auto:?}");
    }
}

/// The inner circle begins to turn around thin, curved triangles: penalties on a velocity that contains the
/// viscous term of the last step, which is removed afterwards, fed it without bound.
#[test]
fn penalties_do_not_feed_viscous_flow_at_thin_walls() {
    let case = Case::new(
        "\
title: Ring
mesh: { generate: { kind: annulus, shape: tri, cells: [10, 12], inner: 1, outer: 2, growth: 1.6 } }
physics: { model: incompressible, viscosity: 0.5 }
space: { order: 2 }
boundaries:
  inner: { type: no-slip-wall, velocity: { u: -y, v: x } }
  outer: { type: no-slip-wall }
time: { dt: 0.013, end: 0.1 }
monitors: [{ integral: { fields: [{ energy: u^2 + v^2 }] } }]
",
    );
    let energy = |set: &str| number(&case.run(&["--set", set]), "/integral/energy");
    let (with, without) = (energy("space.penalties=on"), energy("space.penalties=none"));
    assert!((with / without - 1.0).abs() < 1e-2, "{with} with penalties, {without} without");
}

/// Flow between two plates, a polynomial of degree 2, with a probe and all monitors of the velocity.
const PLATES: &str = "\
title: Plates
mesh: { generate: { shape: tri, cells: [4, 2], max: [2, 1] } }
physics: { model: incompressible, viscosity: 0.1 }
space: { order: 2 }
initial: { exact: poiseuille }
boundaries:
  xmin: { type: dirichlet, exact: poiseuille }
  xmax: { type: outflow, exact: poiseuille }
  ymin: { type: no-slip-wall }
  ymax: { type: no-slip-wall }
time: { dt: 0.01, steps: 12 }
solver: { pressure: { tolerance: 1e-11 }, velocity: { tolerance: 1e-11 } }
monitors:
  - divergence: { every_steps: 1 }
  - probe: { points: [[1, 0.5], [1.5, 0.25]], fields: [u, p, Vorticity, y*u_y + t] }
  - integral: { fields: [{ enstrophy: Vorticity^2/2 }, { first: x*y*u }] }
  - forces: { boundary: [ymin, ymax], reference: { density: 1, velocity: 1, length: 1 } }
checks:
  - { value: linear.pressure.iterations, between: [0, 50] }
  - { value: probe.p.difference, near: 0.4, within: 1e-7 }
";

/// As thin elements make a solve of the pressure long, the hint names what helps there.
#[test]
fn a_pressure_that_does_not_converge_on_thin_elements_names_linelets() {
    let thin = with(PLATES, "cells: [4, 2]", "cells: [4, 20]");
    let check = |set: &str| thin.dgsuite(&["check", "case.yaml", "--set", set]);
    let chosen = check("solver.pressure.smoother=chebyshev4");
    let warning =
        "warning     solver.pressure.smoother: chebyshev4 takes iterations that grow with the aspect ratio";
    assert!(chosen.code == 0 && chosen.stdout.contains(warning), "{}{}", chosen.stdout, chosen.stderr);
    for (smoother, named) in [("chebyshev4", true), ("linelets", false)] {
        let failed = check(&format!(
            "solver.pressure={{ smoother: {smoother}, max_iterations: 2, tolerance: 1e-13 }}"
        ));
        let hint = failed.stderr.lines().find(|line| line.starts_with("hint: ")).unwrap_or_default();
        assert!(
            failed.code == 2 && hint.contains("raise `solver.pressure.max_iterations`"),
            "{}",
            failed.stderr
        );
        let what = "160 of 160 elements are thin";
        assert_eq!(
            hint.contains(what) && hint.contains("`solver.pressure.smoother: linelets`"),
            named,
            "{hint}"
        );
    }
}

#[test]
fn plan_and_summary_tell_the_lines_of_the_pressure() {
    let case = with(PLATES, "cells: [4, 2]", "cells: [4, 20]");
    let told = "linelets: 4 lines with 160 of 160 elements, 40 on average, 40 at most; thin elements in none: 0, in none of more than 3: 0";
    let small = case.dgsuite(&["check", "case.yaml"]);
    assert!(small.stdout.contains(&format!("{told}; factors ")), "{}{}", small.stdout, small.stderr);
    let large = case.dgsuite(&["check", "case.yaml", "--set", "mesh.generate.cells=[40, 200]"]);
    let told = "linelets: 40 lines with 16,000 of 16,000 elements, 400 on average, 400 at most";
    assert!(large.stdout.contains(told) && !large.stdout.contains("factors"), "{}", large.stdout);
    let summary = case.run(&["--set", "time.steps=1", "--set", "checks=[]", "--set", "monitors=[]"]);
    let found = &summary["linear"]["pressure"]["linelets"];
    assert_eq!((found["lines"].as_u64(), found["longest"].as_u64()), (Some(4), Some(40)), "{summary}");
    assert!(found["bytes"].as_u64().unwrap() > 0, "{summary}");
}

#[test]
fn a_developed_flow_stays_as_it_is_and_drags_its_walls() {
    let summary = Case::new(PLATES).run(&[]);
    for field in ["u", "v", "p"] {
        let error = number(&summary, &format!("/error/l2/{field}"));
        assert!(error < 1e-8, "{field}: {error}");
    }
    // u = 4 y (1 − y), p = −8 ν x + constant: ∫ (8y − 4)²/2 over 2 × 1, and friction 4 ν on two walls of
    // length 2.
    assert!((number(&summary, "/integral/enstrophy") - 16.0 / 3.0).abs() < 1e-7);
    assert!((number(&summary, "/probe/u/0") - 1.0).abs() < 1e-8);
    assert!((number(&summary, "/probe/p/difference") - 0.4).abs() < 1e-7);
    // At (1, 1/2) and (3/2, 1/4): ω = −u_y = 8y − 4.
    for (path, value) in [
        ("/probe/Vorticity/0", 0.0),
        ("/probe/Vorticity/1", -2.0),
        ("/probe/y*u_y + t/1", 0.5 + number(&summary, "/time/end")),
        ("/integral/first", 2.0 / 3.0),
    ] {
        assert!((number(&summary, path) - value).abs() < 1e-7, "{path}: {summary}");
    }
    assert!((number(&summary, "/forces/ymin+ymax/viscous_force/0") - 1.6).abs() < 1e-7);
    assert!(number(&summary, "/divergence/l2") < 1e-8 && number(&summary, "/divergence/jumps") < 1e-8);
    assert!(number(&summary, "/timing/phases/pressure") > 0.0);
    assert!(summary.get("conservation").is_none(), "{summary}");
}

#[test]
fn samples_on_a_line_a_plane_and_at_points_of_a_file_are_those_of_the_flow() {
    let samples = "\
monitors:
  - sample: { line: { from: [1, 0.125], to: [1, 1.125], points: 5 }, fields: [u, { spin: Vorticity }], every_steps: 6 }
  - sample: { plane: { corner: [0.5, -0.25], sides: [[1, 0], [0, 1]], points: [3, 5] }, fields: [u] }
  - sample: { points: { file: points.csv }, fields: [u*x] }
checks:
  - { value: sample.spin.max, near: 3, within: 1e-6 }
";
    let case = Case::new(&format!("{}{samples}", &PLATES[..PLATES.find("monitors:").unwrap()]));
    std::fs::write(case.path("points.csv"), "# sensors\ny;x\n0.5;0.75\n0.25;9\n").unwrap();
    let summary = case.run(&[]);
    let rows = |name: &str| {
        let text = std::fs::read_to_string(case.path("out/case/monitors").join(name)).unwrap();
        let (head, rows) = text.split_once('\n').unwrap();
        let row = |line: &str| line.split(',').map(|x| x.parse().unwrap()).collect::<Vec<f64>>();
        (head.to_owned(), rows.lines().map(row).collect::<Vec<_>>())
    };
    let exact = |y: f64| 4.0 * y * (1.0 - y);
    let (head, line) = rows("sample.csv");
    assert_eq!(head, "step,time,point,s,x,y,u,spin");
    // Four of five points are in the mesh, at the start, at step 6 and at the end.
    let found: Vec<(f64, f64)> = line.iter().map(|row| (row[0], row[2])).collect();
    let all = [0.0, 6.0, 12.0].iter().flat_map(|&step| (0..4).map(move |i| (step, f64::from(i))));
    assert_eq!(found, all.collect::<Vec<_>>());
    for row in &line {
        assert!((row[3] - 0.25 * row[2]).abs() < 1e-12 && row[4] == 1.0 && row[5] == 0.125 + row[3]);
        assert!(
            (row[6] - exact(row[5])).abs() < 1e-7 && (row[7] - 8.0 * row[5] + 4.0).abs() < 1e-6,
            "{row:?}"
        );
    }
    let (head, plane) = rows("sample-2.csv");
    assert_eq!((head.as_str(), plane.len()), ("step,time,point,x,y,u", 2 * 12));
    assert!(plane.iter().all(|row| (row[5] - exact(row[4])).abs() < 1e-7));
    let (head, points) = rows("sample-3.csv");
    assert_eq!((head.as_str(), points.len()), ("step,time,point,x,y,u*x", 2));
    assert!((points[1][5] - 0.75).abs() < 1e-7 && points[1][2..5] == [0.0, 0.75, 0.5]);
    assert!((number(&summary, "/sample/u/min") - exact(0.125)).abs() < 1e-7);
    // Three of four rows of cells are whole.
    let cells = std::fs::read(case.path("out/case/monitors/sample-2.vtu")).unwrap();
    assert!(String::from_utf8_lossy(&cells).contains("NumberOfCells=\"6\""));
    // A new run takes the files of this one away.
    case.run(&["--set", "monitors=[]", "--set", "checks=[]"]);
    assert!(!case.path("out/case/monitors/sample-2.vtu").exists());
    assert!(case.path("out/case/previous/monitors/sample-2.vtu").exists());

    let refused = |monitor: &str, words: &[&str]| {
        let set = format!("monitors=[{{ sample: {{ {monitor}, fields: [u] }} }}]");
        let outcome = case.dgsuite(&["check", "case.yaml", "--set", &set, "--set", "checks=[]"]);
        assert_eq!(outcome.code, 2, "{}", outcome.stdout);
        words.iter().for_each(|word| assert!(outcome.stderr.contains(word), "{word}: {}", outcome.stderr));
    };
    refused(
        "line: { from: [5, 0], to: [6, 0] }",
        &["no point of `monitors.0.sample.line.from` is in the mesh"],
    );
    refused("plane: { corner: [0, 0], sides: [[1, 0]] }", &["sides", "two sides of the plane"]);
    refused("plane: { corner: [0, 0], sides: [[1, 0], [2, 0]] }", &["not parallel"]);
    refused("points: { file: no.csv }", &["a table that can be read"]);
    refused("points: [[1, 0.5]], line: { from: [0, 0], to: [1, 0] }", &["points", "line"]);
    refused("points: [[1, 0.5], [9, 9]]", &["the point (9.000000, 9.000000, 0.000000) is outside"]);
}

/// A channel that is periodic along the flow, which starts from rest.
const DRIVEN: &str = "\
title: A driven channel
mesh: { generate: { shape: quad, cells: [3, 2], max: [1, 1] }, periodic: [[xmin, xmax]] }
physics: { model: incompressible, viscosity: 0.5, flow_rate: { mean: 0.1 } }
space: { order: 3 }
boundaries:
  ymin: { type: no-slip-wall }
  ymax: { type: no-slip-wall }
time: { dt: 0.05, end: 1.5 }
solver: { pressure: { tolerance: 1e-11 }, velocity: { tolerance: 1e-11 } }
monitors:
  - flow_rate: { every_steps: 1 }
  - error: { exact: { u: 0.6*y*(1 - y), v: '0', p: '0' } }
  - forces: { boundary: [ymin, ymax], reference: { density: 1, velocity: 1, length: 1 } }
checks:
  - { value: flow_rate.force, near: 0.6, within: 1e-7 }
";

/// The column `mean` of the monitor `flow_rate`.
fn means(case: &Case) -> Vec<f64> {
    let table = std::fs::read_to_string(case.path("out/case/monitors/flow_rate.csv")).unwrap();
    table.lines().skip(1).map(|row| row.split(',').nth(2).unwrap().parse().unwrap()).collect()
}

#[test]
fn a_flow_rate_in_a_periodic_channel_leads_to_the_flow_and_the_force_of_poiseuille() {
    // u = 6 U y (1 − y) with the force 12 ν U.
    for splitting in ["time.splitting=dual", "time.splitting=pressure-correction"] {
        let case = Case::new(DRIVEN);
        let summary = case.run(&["--set", splitting]);
        let force = number(&summary, "/flow_rate/force");
        assert!((force - 0.6).abs() < 6e-7, "{splitting}: {force}");
        let error = number(&summary, "/error/l2/u");
        assert!(error < 1e-9, "{splitting}: {error}");
        let means = means(&case);
        assert!(means.len() >= 30 && means.iter().all(|mean| (mean - 0.1).abs() < 1e-10), "{means:?}");
        // A row has the force of a step: there is none at the start.
        let first = case.table("out/case/monitors/flow_rate.csv")[0].clone();
        assert!(first[0] == 1.0 && first[3] > 0.0, "{splitting}: {first:?}");
    }
}

#[test]
fn a_flow_rate_moves_a_fluid_at_rest_so_that_a_cfl_number_gives_steps() {
    let summary =
        with(DRIVEN, "{ dt: 0.05, end: 1.5 }", "{ cfl: 0.5, steps: 3 }").run(&["--set", "checks=[]"]);
    assert!((number(&summary, "/flow_rate/mean") - 0.1).abs() < 1e-10, "{summary}");
    let resting = with(DRIVEN, "mean: 0.1", "mean: 0");
    refused(&resting, &["--set", "time.dt="], &["`time.dt` is missing", "the fluid is at rest at the start"]);
}

/// Behind a bump the pressure takes part, and the force balances pressure and friction on the walls.
#[test]
fn the_force_of_a_flow_rate_balances_the_drag_of_the_walls() {
    let bent = "periodic: [[xmin, xmax]], map: { order: 2, y: y + 0.15*(1 - y)*sin(2*pi*x) }";
    let case = with(DRIVEN, "periodic: [[xmin, xmax]]", bent);
    let sets = ["space.order=5", "mesh.generate.cells=[6, 3]", "time={ dt: 0.02, end: 0.6 }", "checks=[]"];
    let args: Vec<&str> = sets.iter().flat_map(|set| ["--set", set]).collect();
    let summary = case.run(&args);
    // The volume is 1, since the mean of the lower wall is 0.
    let drag = number(&summary, "/forces/ymin+ymax/force/0");
    let (pressure, force) =
        (number(&summary, "/forces/ymin+ymax/pressure_force/0"), number(&summary, "/flow_rate/force"));
    assert!(pressure > 0.15 && force > 0.75, "{pressure} {force}");
    // The friction is that of the gradient at the wall, which has the error of the space: 2.4e-3 also with
    // pressure correction without penalties.
    assert!((drag - force).abs() < 2.5e-3 * force, "{drag} {force}");
    let means = means(&case);
    assert!(means.iter().skip(1).all(|mean| (mean - 0.1).abs() < 1e-9), "{means:?}");
}

/// The state and the past states at the end of a run, as bytes.
fn end(case: &Case, results: &str, steps: usize) -> Vec<u8> {
    std::fs::read(case.path(&format!("{results}/checkpoints/step-{steps:08}.dgs"))).unwrap()
}

/// A channel whose flow slows down after a graded start.
#[test]
fn the_number_of_sub_steps_follows_the_velocity_and_the_cfl_number() {
    let start = "initial: { u: y, v: 0 }";
    let fast = CHANNEL.replace(start, "initial: { u: 20*y, v: 0 }");
    let case = with(&fast, "time: { dt: 0.01, steps: 1 }", "time: { dt: 0.1, steps: 6, subcycles: auto }");
    let substeps = |sets: &[&str], key: &str| number(&case.run(sets), &format!("/time/substeps/{key}"));
    let (mean, most) = (substeps(&[], "mean"), substeps(&[], "max"));
    assert!(most > mean && mean > 1.0, "{mean} {most}");
    let small = substeps(&["--set", "time.cfl=0.1"], "max");
    let half = substeps(&["--set", "time.cfl=0.05"], "max");
    assert!((half - 2.0 * small).abs() <= 1.0 && small > most, "{small} {half}");
}

/// The rates of the monitor `residual`, row by row.
fn rates(case: &Case) -> Vec<f64> {
    let table = std::fs::read_to_string(case.path("out/case/monitors/residual.csv")).unwrap();
    table.lines().skip(1).flat_map(|row| row.split(',').skip(2).map(|x| x.parse().unwrap())).collect()
}

#[test]
fn rates_of_change_are_written_as_soon_as_there_are_two_times() {
    let time = "time: { dt: 0.01, scheme: bdf1, steps: 4 }\nmonitors: [residual: { every_steps: 1 }]";
    let case = with(CHANNEL, "time: { dt: 0.01, steps: 1 }", time);
    case.run(&[]);
    let first = rates(&case);
    assert!(first.len() == 4 * 3 && first.iter().all(|rate| rate.is_finite()), "{first:?}");
    // The past of another order does not fit.
    case.run(&["--restart", "latest", "--set", "space.order=3", "--set", "time.steps=6"]);
    let all = rates(&case);
    assert!(all.len() == 6 * 3 && all.iter().all(|rate| rate.is_finite()), "{all:?}");
}

#[test]
fn a_run_that_continues_and_one_with_more_threads_have_the_same_bits() {
    let base = with(CHANNEL, "time: { dt: 0.01, steps: 1 }", "time: { dt: 0.01, scheme: bdf3, steps: 10 }");
    let correction = "{ dt: 0.01, splitting: pressure-correction, steps: 10 }";
    // With the pressure of a flow that enters through its outflow as well.
    let back = with(
        &CHANNEL.replace("initial: { u: y,", "initial: { u: y - 0.4,"),
        "{ dt: 0.01, steps: 1 }",
        correction,
    );
    for case in [base, back] {
        let whole = case.dgsuite(&["run", "case.yaml", "--output", "out/whole", "--set", "threads=1"]);
        assert_eq!(whole.code, 0, "{}", whole.stderr);
        case.run(&["--set", "time.steps=4", "--set", "threads=2"]);
        case.run(&["--restart", "latest"]);
        assert!(end(&case, "out/case", 10) == end(&case, "out/whole", 10));
    }
}

/// Shear between two walls with a temperature that is linear, `T = y`. The stress 0.1 is the same everywhere,
/// so that `u' = 0.1/ν(T)` with `ν = 0.1/(1 + T)` gives `u = y + y²/2`.
const WARM: &str = "\
title: Oil between warm walls
constants: { a: 0.1 }
mesh: { generate: { shape: quad, cells: [3, 2] }, periodic: [[xmin, xmax]] }
physics:
  model: incompressible
  viscosity: { constant: 0.02, formula: a/(1 + T) }
  temperature: { diffusivity: 0.1 }
space: { order: 3 }
initial: { exact: { u: y + y^2/2, v: 0, p: 0, T: y } }
boundaries:
  ymin: { type: no-slip-wall, temperature: 0 }
  ymax: { type: no-slip-wall, velocity: [1.5, 0], temperature: 1 }
time: { dt: 0.005, steps: 10 }
output: { fields: none }
monitors:
  - forces: { boundary: ymin, every_steps: 10, reference: { density: 1, velocity: 1, length: 1, area: 1 } }
  - kinetic_energy: { every_steps: 10 }
";

#[test]
fn a_viscosity_of_the_temperature_has_its_profile_friction_and_dissipation() {
    for shape in ["quad", "tri", "mixed"] {
        let case = Case::new(&WARM.replace("shape: quad", &format!("shape: {shape}")));
        let summary = case.run(&[]);
        let [u, v] = ["u", "v"].map(|name| number(&summary, &format!("/error/linf/{name}")));
        assert!(u < 1e-9 && v < 1e-9, "{shape}: {u:e} {v:e}");
        let drag = number(&summary, "/forces/ymin/force/0");
        assert!((drag - 0.1).abs() < 1e-9, "{shape}: {drag}");
        // ∫ ν u'² = ∫ 0.1 (1 + y).
        let rows = case.table("out/case/monitors/kinetic_energy.csv");
        assert!((rows[0][3] - 0.15).abs() < 1e-9, "{shape}: {rows:?}");
    }
}

/// A power-law fluid, `ν = k γ̇^(n−1)`, with the stress `−G y` of a uniform force: `u' = −(G y/k)^(1/n)`.
/// Walls are at y = 1, which moves, and y = 2.
const POWER_LAW: &str = "\
constants: { k: 0.2, G: 0.3, n: 1.5, m: 1 + 1/n }
mesh: { generate: { shape: quad, cells: [2, 2], min: [0, 1], max: [1, 2] }, periodic: [[xmin, xmax]] }
physics:
  model: incompressible
  viscosity: { constant: 0.22, formula: k*shear^(n - 1) }
  forcing: { u: G }
space: { order: 2 }
initial: { exact: { u: (G/k)^(1/n)*(2^m - y^m)/m, v: 0, p: 0 } }
boundaries:
  ymin: { type: no-slip-wall, velocity: [(G/k)^(1/n)*(2^m - 1)/m, 0] }
  ymax: { type: no-slip-wall }
time: { cfl: auto, end: 0.1 }
output: { fields: none }
monitors:
  - forces: { boundary: ymax, every_steps: 1000, reference: { density: 1, velocity: 1, length: 1, area: 1 } }
";

#[test]
fn a_power_law_fluid_has_the_orders_of_the_space() {
    for (shape, order) in [("quad", 2), ("tri", 3)] {
        let case = Case::new(&POWER_LAW.replace("shape: quad", &format!("shape: {shape}")));
        let error = |cells: usize| {
            let set = [format!("mesh.generate.cells=[2, {cells}]"), format!("space.order={order}")];
            let summary = case.run(&["--overwrite", "--set", &set[0], "--set", &set[1]]);
            // The wall carries the stress G y at y = 2.
            let drag = number(&summary, "/forces/ymax/force/0");
            assert!((drag - 0.6).abs() < 2e-3, "{shape}: {drag}");
            number(&summary, "/error/l2/u")
        };
        let [coarse, fine] = [error(2), error(4)];
        let rate = (coarse / fine).log2();
        assert!(rate > f64::from(order) + 0.7, "{shape}, order {order}: {coarse:e} {fine:e}, rate {rate}");
    }
}

#[test]
fn viscosities_that_do_not_fit_are_refused() {
    let case = Case::new(POWER_LAW);
    let refuse = |set: &str, parts: &[&str]| refused(&case, &["--set", set], parts);
    refuse(
        "physics.viscosity.formula=k*shear^(n - 2)",
        &["`physics.viscosity.formula`", "at the shear rate 0", "limit it, as max(shear, 1e-3) does"],
    );
    refuse("physics.viscosity.formula=k*T", &["`physics.viscosity.formula`", "unknown name `T`", "shear"]);
    refuse("physics.forcing=manufactured", &["a manufactured force does not know a viscosity that varies"]);
    refuse(
        "boundaries.ymax={ type: no-slip-wall, model: spalding, exchange: 0.1 }",
        &["the wall `ymax` is that of a fluid with a constant viscosity"],
    );
    refuse("physics.viscosity={ formula: shear + 1 }", &["`physics.viscosity` is missing"]);
}

/// A lid-driven cavity: the pressure at its corners answers to each change of the step.
const CAVITY: &str = "\
mesh: { generate: { shape: quad, cells: [2, 2] } }
physics: { model: incompressible, viscosity: 0.02 }
space: { order: 3 }
boundaries: { xmin: { type: no-slip-wall }, xmax: { type: no-slip-wall }, ymin: { type: no-slip-wall }, \
              ymax: { type: no-slip-wall, velocity: [1, 0] } }
time: { scheme: bdf3, dt: 0.02, end: 0.3 }
output: { fields: none, checkpoint: { every: 0.11, keep: 9 } }
monitors:
  - probe: { points: [[0.9, 0.97], [0.4, 0.6]], fields: [u, p], every_steps: 1 }
";

/// Outputs at times that do not divide the step, two of them in one step and two closer than its hundredth.
const BETWEEN: &str = "  - sample: { points: [[0.9, 0.97], [0.4, 0.6]], fields: [u, p], every: 0.0131 }
  - probe: { points: [[0.9, 0.97], [0.4, 0.6]], fields: [u, p], every: 0.0131 }
  - divergence: { every: 0.1001 }
  - integral: { fields: [p*p], every: 0.05 }
";

#[test]
fn outputs_between_steps_are_interpolated_and_leave_the_steps_as_they_are() {
    for (scheme, order) in [("bdf1", 2), ("bdf2", 2), ("bdf3", 3)] {
        let case = Case::new(&CAVITY.replace("bdf3", scheme));
        assert_eq!(case.dgsuite(&["run", "case.yaml", "--output", "out/alone", "--threads", "1"]).code, 0);
        let files = "output.fields={ every: 0.07 }";
        let between = Case::new(&(CAVITY.replace("bdf3", scheme) + BETWEEN));
        between.run(&["--set", files, "--set", "output.averages={ every: 0.031 }", "--threads", "1"]);
        let steps = between.table("out/case/monitors/probe.csv");
        assert_eq!(steps, case.table("out/alone/monitors/probe.csv"), "{scheme}: the steps are the same");
        let rows = between.table("out/case/monitors/probe-2.csv");
        // The start, 22 multiples of 0.0131 and the end.
        assert_eq!(rows.len(), 24, "{scheme}");
        for row in &rows[1..rows.len() - 1] {
            let next = steps.iter().position(|step| step[1] >= row[1]).unwrap();
            assert_eq!(row[0], steps[next][0], "{scheme}: the step that passes t = {}", row[1]);
            let past = &steps[(next + 1).saturating_sub(order)..=next];
            for column in 2..row.len() {
                // Lagrange's polynomial through the last times.
                let term = |(i, of): (usize, &Vec<f64>)| -> f64 {
                    let others = past.iter().enumerate().filter(|(k, _)| *k != i);
                    of[column] * others.map(|(_, o)| (row[1] - o[1]) / (of[1] - o[1])).product::<f64>()
                };
                let expected: f64 = past.iter().enumerate().map(term).sum();
                let scale = past.iter().map(|of| of[column].abs()).fold(1e-3, f64::max);
                let close = (row[column] - expected).abs() < 1e-11 * scale;
                assert!(close, "{scheme}: {} for {expected} at t = {}", row[column], row[1]);
            }
        }
    }
}

#[test]
fn a_run_with_outputs_between_steps_continues_bit_by_bit() {
    let case = Case::new(&(CAVITY.to_owned() + BETWEEN));
    let more = ["--set", "output.fields={ every: 0.07 }", "--set"];
    let more = [&more[..], &["output.averages={ every: 0.031 }"]].concat();
    let whole = ["run", "case.yaml", "--threads", "1", "--output", "out/whole"];
    assert_eq!(case.dgsuite(&[&whole[..], &more].concat()).code, 0);
    // It ends within the interval of the second checkpoint, and after times between steps.
    case.run(&[&more[..], &["--threads", "2", "--set", "time.steps=13"]].concat());
    let checkpoints = |results: &str| {
        let files = std::fs::read_dir(case.path(results).join("checkpoints")).unwrap();
        let mut names: Vec<String> =
            files.map(|file| file.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    };
    let first = checkpoints("out/case")[1].clone();
    let from = format!("out/case/checkpoints/{first}");
    case.run(&[&more[..], &["--threads", "2", "--restart", &from]].concat());
    for file in ["probe", "probe-2", "sample", "divergence", "integral"].map(|m| format!("monitors/{m}.csv"))
    {
        assert_eq!(
            case.table(&format!("out/case/{file}")),
            case.table(&format!("out/whole/{file}")),
            "{file}"
        );
    }
    let last = checkpoints("out/whole").pop().unwrap();
    let fields = std::fs::read_dir(case.path("out/whole/fields")).unwrap();
    let fields: Vec<_> =
        fields.map(|file| format!("fields/{}", file.unwrap().file_name().display())).collect();
    assert_eq!(fields.len(), 6, "the start, four times and the end");
    let others = ["fields.pvd".to_owned(), "averages.vtu".to_owned(), format!("checkpoints/{last}")];
    for file in fields.iter().chain(&others) {
        let bytes = |results: &str| std::fs::read(case.path(results).join(file)).unwrap();
        assert!(bytes("out/case") == bytes("out/whole"), "{file}");
    }
}
