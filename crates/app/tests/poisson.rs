//! Elliptic problems from the pipeline file to `summary.json`: solves, null space, failures, mistakes.

#![expect(clippy::unwrap_used, reason = "a failed preparation fails the test")]

#[path = "support/case.rs"]
mod support;

use support::{Case, number, snapshots};

/// A polynomial of degree 3, which order 3 represents: solved to rounding with all kinds of conditions.
const CUBIC: &str = "\
title: A cubic
mesh: { generate: { shape: tri, cells: [3, 3] } }
physics:
  model: poisson
  exact: x^3 - 2*x*y^2 + y
  kappa: 1 + x
  lambda: 2
space: { order: 3 }
boundaries:
  xmin: { type: dirichlet, u: exact }
  xmax: { type: neumann, flux: exact }
  ymin: { type: robin, alpha: 2, g: exact }
  ymax: { type: dirichlet }
solver: { tolerance: 1e-13 }
";

/// `check` and `run` of the case end with 2, and the message contains all given parts.
#[track_caller]
fn refused(case: &Case, parts: &[&str]) {
    for command in ["check", "run"] {
        let outcome = case.dgsuite(&[command, "case.yaml"]);
        assert_eq!(outcome.code, 2, "{}{}", outcome.stdout, outcome.stderr);
        for part in parts {
            assert!(outcome.stderr.contains(part), "`{part}` is not in:\n{}", outcome.stderr);
        }
        if command == "check" {
            snapshots::compare(case.directory.path(), &outcome.stderr);
        }
    }
    assert!(!case.path("out").exists());
}

#[track_caller]
fn with(old: &str, new: &str) -> Case {
    assert!(CUBIC.contains(old), "`{old}` is not in the case");
    Case::new(&CUBIC.replace(old, new))
}

/// Ctrl-C is not a failure: the last iterate and its residuals are written, and nothing is checked.
#[cfg(unix)]
#[test]
fn a_signal_ends_a_solve_with_its_last_iterate() {
    let slow = CUBIC
        .replace("cells: [3, 3]", "cells: [64, 64]")
        .replace("tolerance: 1e-13", "tolerance: 1e-15, preconditioner: none, max_iterations: 1000000");
    let case = Case::new(&format!("{slow}checks: [ {{ value: error.linf.u, below: 1e-99 }} ]\n"));
    let mut run = std::process::Command::new(env!("CARGO_BIN_EXE_dgsuite"))
        .args(["run", "case.yaml", "--quiet"])
        .current_dir(case.directory.path())
        .spawn()
        .unwrap();
    let said = || std::fs::read_to_string(case.path("out/case/log.txt")).unwrap_or_default();
    while !said().contains("set-up in") {
        assert_eq!(run.try_wait().unwrap(), None);
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    let id = run.id().to_string();
    assert!(std::process::Command::new("kill").args(["-s", "INT", &id]).status().unwrap().success());
    assert_eq!(run.wait().unwrap().code(), Some(0));
    let summary = case.summary("out/case");
    assert_eq!(summary["status"], "stopped");
    assert!(summary["failure"].is_null() && summary["checks"].as_array().unwrap().is_empty(), "{summary}");
    assert!(case.path("out/case/fields/fields_000000.vtu").exists());
    assert!(case.path("out/case/monitors/residual.csv").exists());
    assert!(said().contains("stopped after"), "{}", said());
}

#[test]
fn a_polynomial_of_the_order_is_the_solution_to_rounding_with_every_preconditioner() {
    for solver in [
        "pmg-amg",
        "pmg-amg, coarse_space: continuous, smoother: block-jacobi, coarsening: minus-one, inner_precision: double",
    ] {
        let case = with("tolerance: 1e-13", &format!("tolerance: 1e-13, preconditioner: {solver}"));
        let summary = case.run(&["--quiet"]);
        assert!(number(&summary, "/error/linf/u") < 1e-11, "{solver}: {summary}");
        assert!(number(&summary, "/error/energy/u") < 1e-10, "{solver}: {summary}");
        assert!(number(&summary, "/linear/iterations") < 40.0, "{solver}: {summary}");
        assert!(number(&summary, "/linear/bytes_per_element") > 0.0, "{solver}: {summary}");
    }
    for solver in ["amg", "mass", "jacobi", "none"] {
        let case = with("tolerance: 1e-13", &format!("tolerance: 1e-13, preconditioner: {solver}"));
        let summary = case.run(&["--quiet"]);
        assert!(number(&summary, "/error/linf/u") < 1e-10, "{solver}: {summary}");
    }
}

#[test]
fn a_run_leaves_fields_and_residuals_and_the_file_that_repeats_it() {
    let case = Case::new(CUBIC);
    let summary = case.run(&[]);
    let iterations = number(&summary, "/linear/iterations") as usize;
    let table = case.table("out/case/monitors/residual.csv");
    assert_eq!(table.len(), iterations + 1);
    assert_eq!(table[0][2], 1.0);
    assert!(table[iterations][2] <= 1e-13);
    assert!(case.path("out/case/fields/fields_000000.vtu").exists());
    assert_eq!(summary["linear"]["levels"][0]["kind"], "order 3");
    let outcome = case.dgsuite(&["check", "case.yaml"]);
    assert_eq!(outcome.code, 0, "{}", outcome.stderr);
    for part in [
        "poisson in 2D",
        "180 (",
        "order 3",
        "matrix-free",
        "operator complexity 1.00",
        "xmax: neumann",
        "fit to run",
    ] {
        assert!(outcome.stdout.contains(part), "`{part}` is not in:\n{}", outcome.stdout);
    }
    // The stored file repeats the run.
    std::fs::copy(case.path("out/case/pipeline.yaml"), case.path("again.yaml")).unwrap();
    let again = case.dgsuite(&["run", "--quiet", "again.yaml", "--output", "again"]);
    assert_eq!(again.code, 0, "{}", again.stderr);
    assert_eq!(case.summary("again")["error"], summary["error"]);
}

/// If no condition fixes u, the solution has the mean of `exact`; data for which there is no solution is
/// reported.
#[test]
fn the_constant_of_a_pure_neumann_problem_is_that_of_the_exact_solution() {
    let neumann = "
mesh: { generate: { shape: quad, cells: [4, 4] } }
physics: { model: poisson, exact: x^2*y - y^2 + 5 }
space: { order: 3 }
boundaries: { xmin: { type: neumann }, xmax: { type: neumann }, ymin: { type: neumann }, ymax: { type: neumann } }
solver: { tolerance: 1e-12 }
";
    let summary = Case::new(neumann).run(&[]);
    assert!(number(&summary, "/error/linf/u") < 1e-9, "{summary}");
    let periodic = "
mesh: { generate: { shape: tri, cells: [6, 6] }, periodic: [[xmin, xmax], [ymin, ymax]] }
physics: { model: poisson, forcing: 1 + sin(2*pi*x) }
space: { order: 4 }
";
    let case = Case::new(periodic);
    let outcome = case.dgsuite(&["run", "case.yaml"]);
    assert_eq!(outcome.code, 0, "{}", outcome.stderr);
    assert!(outcome.stderr.contains("must be 0, but it is 1.000"), "{}", outcome.stderr);
    let summary = case.summary("out/case");
    assert!((number(&summary, "/linear/imbalance") - 1.0).abs() < 1e-10, "{summary}");
    assert!(number(&summary, "/integral/u").abs() < 1e-12, "{summary}");
}

/// Two disconnected squares in one mesh.
const TWO_SQUARES: &str = "$MeshFormat
2.2 0 8
$EndMeshFormat
$PhysicalNames
2
1 1 \"left\"
1 2 \"right\"
$EndPhysicalNames
$Nodes
8
1 0 0 0
2 1 0 0
3 1 1 0
4 0 1 0
5 2 0 0
6 3 0 0
7 3 1 0
8 2 1 0
$EndNodes
$Elements
10
1 1 2 1 1 1 2
2 1 2 1 1 2 3
3 1 2 1 1 3 4
4 1 2 1 1 4 1
5 1 2 2 2 5 6
6 1 2 2 2 6 7
7 1 2 2 2 7 8
8 1 2 2 2 8 5
9 3 2 3 3 1 2 3 4
10 3 2 3 3 5 6 7 8
$EndElements
";

/// Each disconnected part of a mesh has its own constant: all are fixed, or none; otherwise a part is named.
#[test]
fn parts_of_a_mesh_have_their_own_constants() {
    let of = |left: &str, right: &str, forcing: &str| {
        let case = Case::new(&format!(
            "mesh: {{ file: two.msh, refine: 2 }}
physics: {{ model: poisson, {forcing} }}
boundaries: {{ left: {{ type: {left} }}, right: {{ type: {right} }} }}
solver: {{ tolerance: 1e-11 }}
"
        ));
        std::fs::write(case.path("two.msh"), TWO_SQUARES).unwrap();
        case
    };
    // A cubic, shifted and tilted on the right.
    let exact = "exact: 'x^2*(3 - 2*x)/2 + if(x < 1.5, 0.75, y + 8)'";
    refused(
        &of("dirichlet", "neumann", exact),
        &["nothing fixes u in the part of the mesh with element ", " at (2.", "lambda > 0"],
    );
    for (left, right) in [("dirichlet", "dirichlet"), ("neumann", "neumann")] {
        let summary = of(left, right, exact).run(&["--quiet"]);
        assert!(number(&summary, "/error/linf/u") < 1e-8, "{left} {right}: {summary}");
    }
    // Balanced in total, but not in each part.
    let case = of("neumann, flux: 0", "neumann, flux: 0", "forcing: 'if(x < 1.5, 1, -1)'");
    let outcome = case.dgsuite(&["run", "case.yaml"]);
    assert_eq!(outcome.code, 0, "{}", outcome.stderr);
    assert!(outcome.stderr.contains("must be 0, but it is 1.000"), "{}", outcome.stderr);
}

#[test]
fn too_few_iterations_end_with_the_history_and_a_hint() {
    let case = with("tolerance: 1e-13", "tolerance: 1e-13, preconditioner: jacobi, max_iterations: 3");
    let outcome = case.dgsuite(&["run", "case.yaml"]);
    assert_eq!(outcome.code, 1, "{}", outcome.stderr);
    for part in ["no convergence in 3 iterations", "hint: multigrid (`solver.preconditioner: pmg-amg`"] {
        assert!(outcome.stderr.contains(part), "`{part}` is not in:\n{}", outcome.stderr);
    }
    assert_eq!(case.table("out/case/monitors/residual.csv").len(), 4);
    assert!(case.path("out/case/fields/failed.vtu").exists());
    assert_eq!(case.summary("out/case")["status"], "failed");
}

#[test]
fn values_that_are_not_finite_end_a_solve() {
    let case = with("  exact: x^3 - 2*x*y^2 + y", "  forcing: log(x - 2)");
    let case = Case::new(
        &std::fs::read_to_string(case.path("case.yaml"))
            .unwrap()
            .replace("exact }", "0 }")
            .replace("ymax: { type: dirichlet }", "ymax: { type: dirichlet, u: 0 }"),
    );
    let outcome = case.dgsuite(&["run", "case.yaml"]);
    assert_eq!(outcome.code, 1, "{}", outcome.stderr);
    assert!(outcome.stderr.contains("`physics.forcing` is NaN in element 1 at (0."), "{}", outcome.stderr);
    assert_eq!(case.summary("out/case")["status"], "diverged");
    // If the exact solution is the cause, the message says so.
    let outcome = with("exact: x^3 - 2*x*y^2 + y", "exact: sqrt(x)").dgsuite(&["run", "case.yaml"]);
    assert_eq!(outcome.code, 1, "{}", outcome.stderr);
    for part in ["`boundaries.xmin` is ", " at (0.000000, 0.", "derived from `physics.exact`"] {
        assert!(outcome.stderr.contains(part), "`{part}` is not in:\n{}", outcome.stderr);
    }
}

/// The square of 1e-200 is 0 in double precision, but the residual is not 0.
#[test]
fn data_whose_squares_are_no_numbers_end_a_solve() {
    for (forcing, size) in [("1e-200*sin(x)", "e-20"), ("1e200*sin(x)", "e19")] {
        let case = Case::new(&format!(
            "mesh: {{ generate: {{ shape: tri, cells: [4, 4] }} }}
physics: {{ model: poisson, forcing: {forcing} }}
space: {{ order: 2 }}
boundaries: {{ xmin: {{ type: dirichlet, u: 0 }}, xmax: {{ type: dirichlet, u: 0 }}, ymin: {{ type: dirichlet, u: 0 }}, ymax: {{ type: dirichlet, u: 0 }} }}
"
        ));
        let outcome = case.dgsuite(&["run", "case.yaml"]);
        assert_eq!(outcome.code, 1, "{}", outcome.stderr);
        for part in [size, "beyond the range of double precision", "hint: scale `physics.forcing`"] {
            assert!(outcome.stderr.contains(part), "`{part}` is not in:\n{}", outcome.stderr);
        }
        assert_eq!(case.summary("out/case")["status"], "failed");
    }
}

/// Levels of high order on pyramids are smoothed by blocks by default: in a cube of six pyramids order 5
/// takes 26 iterations with point smoothers.
#[test]
fn pyramids_of_high_order_are_smoothed_by_blocks() {
    let of = |order: usize, solver: &str| {
        let sides = ["xmin", "xmax", "ymin", "ymax", "zmin", "zmax"];
        let conditions: String =
            sides.iter().map(|side| format!("  {side}: {{ type: dirichlet }}\n")).collect();
        let case = Case::new(&format!(
            "mesh: {{ generate: {{ shape: pyramid, cells: [1, 1, 1] }} }}
physics: {{ model: poisson, exact: sin(2*x + 1)*cos(3*y) + x*z, lambda: 2 }}
space: {{ order: {order} }}
solver: {{ {solver} }}
boundaries:
{conditions}"
        ));
        let summary = case.run(&["--quiet"]);
        let kept = std::fs::read_to_string(case.path("out/case/pipeline.yaml")).unwrap();
        (number(&summary, "/linear/iterations"), kept)
    };
    let (by_default, kept) = of(5, "");
    assert!(by_default < 13.0 && kept.contains("block-jacobi"), "{by_default} iterations, {kept}");
    let (by_points, kept) = of(5, "smoother: chebyshev4");
    assert!(by_points > 20.0 && !kept.contains("block-jacobi"), "{by_points} iterations, {kept}");
    for (order, solver, smoother) in
        [(2, "", "linelets"), (3, "", "block-jacobi"), (3, "preconditioner: amg", "chebyshev4")]
    {
        assert!(of(order, solver).1.contains(smoother), "{order} {solver}");
    }
}

/// All orders are levels on tetrahedra, except with blocks.
#[test]
fn tetrahedra_have_all_orders_as_levels() {
    let of = |shape: &str, solver: &str| {
        let sides = ["xmin", "xmax", "ymin", "ymax", "zmin", "zmax"];
        let conditions: String =
            sides.iter().map(|side| format!("  {side}: {{ type: dirichlet }}\n")).collect();
        let case = Case::new(&format!(
            "mesh: {{ generate: {{ shape: {shape}, cells: [2, 2, 2] }} }}
physics: {{ model: poisson, exact: sin(2*x + 1)*cos(3*y) + x*z }}
space: {{ order: 5 }}
solver: {{ {solver} }}
boundaries:
{conditions}"
        ));
        let summary = case.run(&["--quiet"]);
        let kinds = summary["linear"]["levels"].as_array().unwrap().iter();
        let orders = kinds.filter(|level| level["kind"].as_str().unwrap().starts_with("order")).count();
        (orders, number(&summary, "/linear/iterations"))
    };
    // The functions of order 1 are a level above the continuous ones.
    let (levels, by_default) = of("tet", "");
    let (halved, by_halves) = of("tet", "coarsening: half");
    assert_eq!((levels, halved), (5, 3));
    assert!(by_default < 0.75 * by_halves, "{by_default} and {by_halves} iterations");
    assert_eq!(of("tet", "smoother: block-jacobi").0, 2);
    assert_eq!(of("hex", "").0, 3);
}

/// Elements of aspect ratio 20.
const LAYERS: &str = "\
mesh: { generate: { shape: quad, cells: [8, 6], max: [1, 0.0375] } }
physics: { model: poisson, forcing: exp(x)*cos(30*y) }
space: { order: 3 }
boundaries:
  xmin: { type: dirichlet, u: 0 }
  xmax: { type: neumann, flux: 0 }
  ymin: { type: dirichlet, u: 0 }
  ymax: { type: neumann, flux: 0 }
";

#[test]
fn plan_and_summary_tell_the_lines_of_thin_elements() {
    let case = Case::new(LAYERS);
    let told = "linelets: 8 lines with 48 of 48 elements, 6 on average, 6 at most; thin elements in none: 0, in none of more than 3: 0";
    let found = case.run(&[])["linear"]["linelets"].clone();
    let counts = ["lines", "elements", "longest", "thin_elements_in_short"].map(|key| found[key].as_u64());
    assert_eq!(counts, [8, 48, 6, 0].map(Some), "{found}");
    // Two levels: blocks of 2 x 2 with their couplings, for each node of the layer.
    let factors = 8 * (4 + 2) * (6 * 4 + 5 * 4) * 4;
    assert!(found["bytes"].as_u64().unwrap() >= factors, "{found}");
    let log = std::fs::read_to_string(case.path("out/case/log.txt")).unwrap();
    assert!(log.contains(&format!("{told}; factors ")), "{log}");
    // Of a large problem nothing is set up.
    let large = case.dgsuite(&["check", "case.yaml", "--set", "mesh.generate.cells=[200, 100]"]);
    let told = "linelets: 200 lines with 20,000 of 20,000 elements, 100 on average, 100 at most";
    assert!(large.stdout.contains(told) && !large.stdout.contains("factors"), "{}", large.stdout);
    let checked = |name: &str| format!("checks=[{{ value: {name}, below: 7 }}]");
    let done = case.dgsuite(&[
        "run",
        "case.yaml",
        "--output",
        "checked",
        "--set",
        &checked("linear.linelets.longest"),
    ]);
    assert_eq!(done.code, 0, "{}{}", done.stdout, done.stderr);
    let unknown = case.dgsuite(&["check", "case.yaml", "--set", &checked("linear.linelets.length")]);
    assert!(unknown.code == 2, "{}", unknown.stdout);
    for smoother in ["solver.smoother=chebyshev4", "mesh.generate.max=[1, 1]"] {
        let outcome = case.dgsuite(&["check", "case.yaml", "--set", smoother]);
        assert!(outcome.code == 0 && !outcome.stdout.contains("linelets:"), "{}", outcome.stdout);
    }
}

/// Triangles of a Delaunay-like mesh, without columns: points in rows that are shifted irregularly,
/// flattened.
fn without_columns() -> String {
    let n = 12;
    let place = |i: usize, j: usize| {
        let moved = if j == 0 || j == n { 0.0 } else { 0.5 * ((i * 7 + j * 13) % 5) as f64 / 5.0 };
        let x = if i == 0 || i == n { i as f64 } else { i as f64 + moved - 0.25 };
        (x / n as f64, 0.01 * j as f64 / n as f64)
    };
    let number = |i: usize, j: usize| 1 + j * (n + 1) + i;
    let mut nodes = String::new();
    let mut elements = String::new();
    let mut count = 0;
    let mut element = |text: String, elements: &mut String| {
        count += 1;
        elements.push_str(&format!("{count} {text}\n"));
        count
    };
    for j in 0..=n {
        for i in 0..=n {
            let (x, y) = place(i, j);
            nodes.push_str(&format!("{} {x} {y} 0\n", number(i, j)));
        }
    }
    let mut last = 0;
    for k in 0..n {
        for (tag, a, b) in [
            (1, number(k, 0), number(k + 1, 0)),
            (2, number(k, n), number(k + 1, n)),
            (3, number(0, k), number(0, k + 1)),
            (4, number(n, k), number(n, k + 1)),
        ] {
            element(format!("1 2 {tag} {tag} {a} {b}"), &mut elements);
        }
        for i in 0..n {
            let [a, b, c, d] = [number(i, k), number(i + 1, k), number(i + 1, k + 1), number(i, k + 1)];
            let cut = if (i * i + 3 * k) % 4 < 2 { [[a, b, c], [a, c, d]] } else { [[a, b, d], [b, c, d]] };
            for [a, b, c] in cut {
                last = element(format!("2 2 5 5 {a} {b} {c}"), &mut elements);
            }
        }
    }
    format!(
        "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$PhysicalNames\n5\n1 1 \"ymin\"\n1 2 \"ymax\"\n1 3 \"xmin\"\n\
         1 4 \"xmax\"\n2 5 \"fluid\"\n$EndPhysicalNames\n$Nodes\n{}\n{nodes}$EndNodes\n$Elements\n{last}\n\
         {elements}$EndElements\n",
        (n + 1) * (n + 1)
    )
}

/// A solve that fails names what is true of its case, and nothing else.
#[test]
fn too_many_iterations_have_the_causes_of_their_case() {
    let case = Case::new(LAYERS);
    std::fs::write(case.path("odd.msh"), without_columns()).unwrap();
    let hint = |sets: &[&str]| {
        let mut args = vec!["run", "case.yaml", "--overwrite", "--quiet", "--set", "solver.max_iterations=2"];
        sets.iter().for_each(|set| args.extend(["--set", set]));
        let outcome = case.dgsuite(&args);
        assert_eq!(outcome.code, 1, "{}{}", outcome.stdout, outcome.stderr);
        let line = outcome.stderr.lines().find(|line| line.starts_with("hint: "));
        line.unwrap().to_owned()
    };
    let square = "mesh.generate.max=[1, 1]";
    let odd = "mesh={ file: odd.msh }";
    let all = [
        ("try `solver.smoother: linelets`", "grow with it"),
        ("in no line of more than 3", "dgsuite mesh lines"),
        ("preconditioner: pmg-amg", ""),
        ("root of the penalty", "10 times"),
        ("physics.kappa", "within an element"),
    ];
    let none: &[usize] = &[];
    for (sets, holds) in [
        (&[square][..], none),
        (&[square, "solver.smoother=block-jacobi"], none),
        (&["space.order=2"], none),
        (&["solver.smoother=chebyshev4"], &[0]),
        (&[odd], &[1]),
        (&[odd, "solver.smoother=chebyshev4"], &[0]),
        (&[square, "solver.preconditioner=jacobi"], &[2]),
        (&[square, "solver.preconditioner=amg"], &[2]),
        (&[square, "space.viscous={ sipdg: { penalty: 10 } }"], &[3]),
        (&["space.viscous={ sipdg: { penalty: 10 } }", "solver.smoother=jacobi"], &[0, 3]),
        (&[square, "physics.kappa=1e-5 + x"], &[4]),
    ] {
        let text = hint(sets);
        for (k, (what, more)) in all.iter().enumerate() {
            let said = text.contains(what) && text.contains(more);
            assert_eq!(said, holds.contains(&k), "{sets:?}: {what}: {text}");
        }
        assert!(text.contains("raise `solver.max_iterations`"), "{text}");
    }
    // Preconditioners without linelets on thin elements name them, too.
    let text = hint(&["solver.preconditioner=jacobi"]);
    assert!(
        text.contains("pmg-amg`) with `solver.smoother: linelets`") && text.contains("48 of 48"),
        "{text}"
    );
}

#[test]
fn smoothers_of_points_on_thin_elements_are_doubted() {
    let case = Case::new(LAYERS);
    let told = "warning     solver.smoother: chebyshev4 takes iterations that grow with the aspect ratio, and 48 of 48 \
                elements are thin, up to an aspect ratio of 20 in element ";
    for (set, doubted) in [
        ("solver.smoother=chebyshev4", true),
        ("solver.smoother=linelets", false),
        ("solver.tolerance=1e-9", false),
        ("solver={ preconditioner: amg, smoother: chebyshev4 }", false),
        ("solver={ smoother: chebyshev4 }", true),
    ] {
        let outcome = case.dgsuite(&["check", "case.yaml", "--set", set]);
        assert_eq!(outcome.code, 0, "{}", outcome.stderr);
        assert_eq!(outcome.stdout.contains(told), doubted, "{set}: {}", outcome.stdout);
    }
    let set = ["--set", "solver.smoother=chebyshev4", "--set", "mesh.generate.max=[1, 1]"];
    let square = case.dgsuite(&[&["check", "case.yaml"], &set[..]].concat());
    assert!(!square.stdout.contains("warning"), "{}", square.stdout);
}

#[test]
fn linelets_are_refused_where_nothing_has_elements() {
    for preconditioner in ["amg", "mass", "jacobi", "none"] {
        let solver = format!("tolerance: 1e-13, preconditioner: {preconditioner}, smoother: linelets");
        refused(&with("tolerance: 1e-13", &solver), &["[misplaced-key]", "smoother", "pmg-amg"]);
    }
}

#[test]
fn mistakes_are_named_with_their_place() {
    refused(&with("model: poisson", "model: poisson\n  gamma: 1.4"), &["`physics.gamma` does not belong"]);
    refused(&with("space:", "time: { end: 1 }\nspace:"), &["`time` does not belong", "starts from 0"]);
    refused(
        &with("space:", "study: { order: [1, 2], continued: true }\nspace:"),
        &["`study.continued` does not belong", "starts from 0"],
    );
    refused(&with("order: 3", "order: 3, riemann: roe"), &["`space.riemann` does not belong"]);
    refused(&with("order: 3", "order: 11"), &["from 1 to 10"]);
    refused(&with("tolerance: 1e-13", "tolerance: 2"), &["`solver.tolerance` is 2", "case.yaml:14"]);
    refused(&with("tolerance: 1e-13", "preconditioner: pmgamg"), &["did you mean `pmg-amg`?"]);
    refused(
        &with("tolerance: 1e-13", "preconditioner: jacobi, cycle: v"),
        &["`solver.cycle` does not belong to the preconditioner jacobi"],
    );
    refused(
        &with("tolerance: 1e-13", "preconditioner: amg, smoother: block-jacobi"),
        &["`solver.smoother: block-jacobi` does not belong to the preconditioner amg", "case.yaml:14"],
    );
    refused(&with("xmin:", "xmni:"), &["the mesh has no boundary `xmni`", "did you mean `xmin`?"]);
    refused(&with("alpha: 2", "alpha: -2"), &["`boundaries.ymin.alpha` is -2"]);
    refused(
        &with("alpha: 2", "alpha: 1e30"),
        &[
            "the matrix is not positive definite",
            "hint: rounding loses coefficients",
            "`dirichlet` condition",
        ],
    );
    // A tiny κ without a jump, in numbers of the preconditioner and of the solve.
    let tiny = |kappa: &str| {
        let coefficients = format!("kappa: {kappa}*(1 + x)");
        Case::new(
            &CUBIC
                .replace("kappa: 1 + x\n  lambda: 2", &coefficients)
                .replace("alpha: 2", &format!("alpha: {kappa}")),
        )
    };
    let underflow =
        "which underflow in single precision: scale the equation, or choose `solver.inner_precision: double`";
    refused(&tiny("1e-45"), &[underflow]);
    refused(&tiny("1e-150"), &[underflow]);
    refused(&tiny("1e-300"), &["which underflow in double precision: scale the equation\n"]);
    refused(&with("  ymax: { type: dirichlet }\n", ""), &["`ymax`", "{ type: dirichlet, u: 0 }"]);
    refused(&with("kappa: 1 + x", "kappa: 0.5 - x"), &["`physics.kappa` is", "greater than 0"]);
    refused(&with("kappa: 1 + x", "kappa: { steel: 1 }"), &["the mesh has no region `steel`"]);
    refused(&with("exact: x^3", "exact: t*x^3"), &["`physics.exact` is not a formula"]);
    refused(&with("space:", "device: cuda:99\nspace:"), &["the device `cuda:99` cannot be used: "]);
    refused(&with("space:", "precision: single\nspace:"), &["solver.inner_precision"]);
    refused(
        &with("space:", "checks: [{ value: linear.iteration, below: 3 }]\nspace:"),
        &["did you mean `linear.iterations`?"],
    );
}

/// With κ from 1 to 10⁶ the residual of the solution is rounding above the default tolerance.
#[test]
fn jumps_of_kappa_leave_a_solution_to_rounding() {
    for order in ["3", "5"] {
        let case = Case::new(&format!(
            "
mesh: {{ generate: {{ shape: quad, cells: [8, 8] }} }}
physics: {{ model: poisson, forcing: 1, kappa: \"if(sin(4*pi*x)*sin(4*pi*y) > 0, 1e6, 1)\" }}
space: {{ order: {order} }}
boundaries:
  xmin: {{ type: dirichlet, u: 0 }}
  xmax: {{ type: dirichlet, u: 0 }}
  ymin: {{ type: dirichlet, u: 0 }}
  ymax: {{ type: dirichlet, u: 0 }}
output: {{ fields: none }}
"
        ));
        assert!(number(&case.run(&[]), "/integral/u") > 2e-3);
    }
}
