//! Means of wall curves over time and over a homogeneous direction, and spectra, from the command line.

#![expect(clippy::unwrap_used, reason = "a failed preparation fails the test")]

#[path = "support/case.rs"]
mod support;

use std::fs;
use support::{Case, number};

/// Rolls over a wall: the friction has the sign of sin 2πx, until the pressure turns it around; x = 1/2 is a
/// plane of symmetry. The viscosity of the mesh in space needs the factor of the plane's.
const ROLLS: &str = "\
title: Rolls over a wall
mesh:
  generate: { shape: quad, cells: [4, 3] }
  map: { order: 2, x: x, y: y*(0.5 + 0.5*y) + 0.05*cos(2*pi*x)*(1 - y) }
  periodic: [[xmin, xmax]]
physics: { model: navier-stokes, reference: { mach: 0.3, reynolds: 100, length: 1 } }
space: { order: 2, viscous: { br2: { eta: 6 } } }
initial: { rho: 1, u: 0.2*sin(2*pi*x)*y*(1 - y), v: 0, p: p_ref }
boundaries:
  ymin: { type: no-slip-wall }
  ymax: { type: no-slip-wall }
time: { dt: 2e-3, end: 0.1 }
output: { fields: none, checkpoint: { every: 0.05 } }
monitors:
  - wall: { boundary: ymin, every_steps: 1, means: true, reference: { area: 1 } }
";

const IN_SPACE: [&str; 3] =
    ["mesh.extrude={length: 0.3, layers: 2}", "initial.w=0", "monitors.0.wall.over=z"];

/// The arguments for settings.
fn set<'a>(settings: &[&'a str]) -> Vec<&'a str> {
    settings.iter().flat_map(|setting| ["--set", *setting]).collect()
}

/// The columns x, cp, cf of a table of means.
fn means(case: &Case) -> Vec<[f64; 3]> {
    case.table("out/case/monitors/wall-mean.csv").iter().map(|row| [row[1], row[4], row[5]]).collect()
}

#[test]
fn means_are_those_of_the_curves_in_time() {
    let case = Case::new(ROLLS);
    let summary = case.run(&[]);
    assert_eq!(number(&summary, "/wall/ymin/mean/rows"), 51.0);
    // Step, time and the four extremes come before the values of the first point.
    let rows = case.table("out/case/monitors/wall.csv");
    let means = means(&case);
    let curve = case.table("out/case/monitors/wall-curve.csv");
    assert_eq!((rows[0].len(), curve.len()), (6 + 3 * means.len(), means.len()));
    for (i, [x, cp, cf]) in means.iter().enumerate() {
        assert_eq!(*x, curve[i][1]);
        for (k, mean) in [(0, cp), (1, cf)] {
            let at = |row: &Vec<f64>| row[6 + 3 * i + k];
            let sum: f64 = rows.windows(2).map(|w| 0.5 * (w[1][1] - w[0][1]) * (at(&w[0]) + at(&w[1]))).sum();
            assert!((sum / 0.1 - mean).abs() < 1e-12 * (1.0 + mean.abs()), "{i}: {sum} {mean}");
            // The last row is the curve.
            assert_eq!(at(&rows[50]), curve[i][4 + k]);
        }
    }
    // The friction changes its sign where the rolls meet again: their pressure has turned the flow at the
    // wall around.
    assert_eq!(number(&summary, "/wall/ymin/mean/attachment/count"), 1.0);
    let x = number(&summary, "/wall/ymin/mean/attachment/0/x");
    assert!((x - 0.5).abs() < 1e-9, "{x}");
}

#[test]
fn means_over_a_direction_are_the_curves_of_the_plane() {
    let (plane, space) = (Case::new(ROLLS), Case::new(ROLLS));
    let [of_plane, of_space] = [plane.run(&[]), space.run(&set(&IN_SPACE))];
    let [a, b] = [means(&plane), means(&space)];
    assert_eq!(a.len(), b.len());
    for (a, b) in a.iter().zip(&b) {
        assert!((0..3).all(|k| (a[k] - b[k]).abs() < 1e-5), "{a:?} {b:?}");
    }
    for path in ["/wall/ymin/attachment/0/x", "/wall/ymin/mean/attachment/0/x"] {
        let [a, b] = [&of_plane, &of_space].map(|summary| number(summary, path));
        assert!((a - b).abs() < 1e-6, "{path}: {a} {b}");
    }
}

#[test]
fn means_of_a_continued_run_are_those_of_one_run() {
    let (whole, parts) = (Case::new(ROLLS), Case::new(ROLLS));
    whole.run(&set(&IN_SPACE));
    parts.run(&set(&[&IN_SPACE[..], &["time.end=0.05"]].concat()));
    parts.run(&[&set(&IN_SPACE)[..], &["--restart", "latest"]].concat());
    let bytes = |case: &Case| fs::read(case.path("out/case/monitors/wall-mean.csv")).unwrap();
    assert!(bytes(&whole) == bytes(&parts));
    // A table with other columns is kept; the message does not list all 42 of them.
    let other = [&set(&IN_SPACE)[..], &["--set", "monitors.0.wall.means=false"]].concat();
    let outcome = parts.dgsuite(&[&["run", "case.yaml", "--restart", "latest"], &other[..]].concat());
    let said = "cp at 0,cf at 0, … (42 columns)`, now `step,time,cp_min,cp_max,cf_min,cf_max`";
    assert!(outcome.code != 0 && outcome.stderr.contains(said), "{}", outcome.stderr);
    assert!(bytes(&whole) == bytes(&parts));
}

#[test]
fn directions_without_means_are_refused() {
    let refused = |settings: &[&str], words: &[&str]| {
        let outcome = Case::new(ROLLS).dgsuite(&[&["run", "case.yaml"], &set(settings)[..]].concat());
        let message = outcome.stderr;
        assert_ne!(outcome.code, 0);
        words.iter().for_each(|word| assert!(message.contains(word), "{message}"));
    };
    refused(&["monitors.0.wall.over=z"], &["`monitors.0.wall.over`", "a mesh in space"]);
    refused(&IN_SPACE[..2], &["`monitors.0.wall.means`", "`over: z` beside it"]);
    refused(&["monitors=[{ wall: { boundary: ymin, means: true } }]"], &["wall.every_steps` is missing"]);
    let wrong = [IN_SPACE[0], IN_SPACE[1], "monitors.0.wall.over=y"];
    refused(&wrong, &["no other points of the boundary beside it in the direction y", "mesh.extrude"]);
}

/// Waves in a box: of u three along x, of v two along y that do not change along x.
const WAVES: &str = "\
title: Waves
mesh: { generate: { shape: tri, cells: [6, 6] }, periodic: [[xmin, xmax], [ymin, ymax]] }
physics: { model: incompressible, viscosity: 1e-2 }
space: { order: 6 }
initial: { u: 0.5, v: 0.4*sin(2*pi*x) + 0.1*cos(6*pi*x) }
time: { dt: 2e-3, end: 0.04 }
output: { fields: none, checkpoint: { every: 0.02 } }
monitors:
  - spectrum: { along: x, waves: 5, points: [[0, 0.3], [0.5, 0.8]], over: [y], samples: 3, every_steps: 5 }
  - spectrum: { along: x, waves: 8, fields: [v, Vorticity], every_steps: 5 }
";

#[test]
fn a_spectrum_has_the_waves_of_the_flow() {
    let case = Case::new(WAVES);
    let summary = case.run(&[]);
    // Step and time, five waves of u, five of v. Incompressible flow starts with shorter steps.
    let rows = case.table("out/case/monitors/spectrum.csv");
    assert_eq!((rows[0][1], rows[0].len()), (0.0, 12));
    let last = &rows[rows.len() - 1];
    for (row, t) in [(&rows[0], 0.0), (last, 0.04_f64)] {
        for (m, amplitude) in [(1, 0.4), (2, 0.0), (3, 0.1), (4, 0.0), (5, 0.0)] {
            let wave = std::f64::consts::TAU * f64::from(m);
            let expected = 0.5 * (amplitude * (-0.01 * wave * wave * t).exp()).powi(2);
            let found = row[6 + m as usize];
            assert!((found - expected).abs() < 2e-5, "{t}, {m}: {found} {expected}");
            assert!(row[1 + m as usize] < 1e-8);
        }
    }
    // The density in wave numbers, means over time; of the vorticity more than of v.
    let means = case.table("out/case/monitors/spectrum-2-mean.csv");
    assert_eq!((means.len(), means[0].len()), (8, 5));
    assert!((means[2][0] - 3.0 * std::f64::consts::TAU).abs() < 1e-12);
    for row in [&means[0], &means[2]] {
        assert!((row[2] / row[1] / (row[0] * row[0]) - 1.0).abs() < 0.01, "{row:?}");
    }
    let sum: f64 = means.iter().map(|row| row[1]).sum();
    let variance = number(&summary, "/spectrum-2/v/variance");
    assert!((sum * std::f64::consts::TAU - variance).abs() < 1e-12 && (0.07..0.086).contains(&variance));
    // A run in two parts, on one thread.
    let parts = Case::new(WAVES);
    parts.run(&set(&["threads=1", "time.steps=3", "monitors.0.spectrum.every_steps=1"]));
    let again = Case::new(WAVES);
    again.run(&set(&["threads=1", "monitors.0.spectrum.every_steps=1"]));
    parts.run(
        &[&set(&["threads=1", "monitors.0.spectrum.every_steps=1"])[..], &["--restart", "latest"]].concat(),
    );
    let bytes = |case: &Case| fs::read(case.path("out/case/monitors/spectrum-mean.csv")).unwrap();
    assert!(bytes(&again) == bytes(&parts));
}

#[test]
fn spectra_without_a_period_are_refused() {
    let refused = |settings: &[&str], word: &str| {
        let outcome = Case::new(WAVES).dgsuite(&[&["check", "case.yaml"], &set(settings)[..]].concat());
        assert!(outcome.code != 0 && outcome.stderr.contains(word), "{}", outcome.stderr);
    };
    refused(&["monitors.0.spectrum.along=z"], "a direction in which opposite sides");
    refused(&["monitors.0.spectrum.over=[x]"], "other than that of the waves");
    refused(&["monitors.0.spectrum.over=[z]"], "a direction in which opposite sides");
    refused(&["monitors.0.spectrum.points=[[3, 0]]"], "outside of the mesh");

    refused(&["monitors.0.spectrum={ waves: 3 }"], "the direction of the waves");
    refused(&["monitors.0.spectrum.waves=100000000"], "at most 10000000 places");
}

/// Vortices `u = −cos x sin y, v = sin x cos y` on a stretched mesh, whose periodic sides are curved: in the
/// mean over x there is no flow, `k = ¼` and the dissipation ν everywhere, and nothing else, so that the
/// residual is what the vortices lose.
const VORTICES: &str = "\
title: Vortices
mesh:
  generate: { shape: quad, cells: [6, 6], max: [2*pi, 2*pi] }
  map: { order: 2, x: x + 0.2*sin(y), y: y + 0.15*sin(y) }
  periodic: [[xmin, xmax], [ymin, ymax]]
physics: { model: incompressible, viscosity: 0.05 }
space: { order: 6 }
initial: { u: -cos(x)*sin(y), v: sin(x)*cos(y), p: -(cos(2*x) + cos(2*y))/4 }
time: { dt: 1e-4, steps: 4 }
output: { fields: none }
monitors:
  - profile:
      line: { from: [0, 0.5], to: [0, 5.5], points: 21, spacing: cosine }
      over: [x]
      budget: true
      every_steps: 1
      reference: { file: table.csv, columns: { uu: 2, vv: 3 } }
";

#[test]
fn a_budget_has_the_dissipation_of_vortices() {
    let gas = VORTICES
        .replace("incompressible, viscosity", "navier-stokes, viscosity")
        .replace("u: -cos", "rho: 1, u: -cos")
        .replace("p: -(", "p: 200 - (");
    // ½ sin² y and ½ cos² y, and a table that is wrong by a tenth of the largest value.
    let table = |wrong: f64| -> String {
        let row = |i: i32| {
            let (sin, cos) = (0.5 + f64::from(i) * 0.1).sin_cos();
            format!("{},{},{}\n", f64::from(i) * 0.1, sin * sin / 2.0, cos * cos / 2.0 + wrong)
        };
        "s,uu,vv\n".to_owned() + &(0..=70).map(row).collect::<String>()
    };
    for (text, wrong) in [(VORTICES, 0.0), (&gas, 0.05)] {
        let case = Case::new(text);
        fs::write(case.path("table.csv"), table(wrong)).unwrap();
        let summary = case.run(&["--set", "monitors.0.profile.line.points=101"]);
        let far = ["uu", "vv"].map(|name| number(&summary, &format!("/profile/deviation/{name}")));
        // The means are linear between their points.
        assert!(far[0] < 5e-3 && (far[1] - wrong / 0.55).abs() < 5e-3, "{far:?}");
        assert!(case.path("out/case/monitors/profile-reference.svg").exists());
        let value = |name: &str| number(&summary, &format!("/profile/{name}"));
        let [dissipation, residual] = ["dissipation", "residual"].map(value);
        assert!((dissipation - 0.05).abs() < 1e-5, "{summary}");
        for term in ["production", "turbulent_transport", "viscous_diffusion", "convection"] {
            assert!(value(term) < 1e-5, "{term}: {summary}");
        }
        // The pressure of the first steps is the least exact.
        let pressure = value("pressure_transport");
        assert!(pressure < 4e-3 && (residual - 0.05).abs() < 1e-5 + pressure, "{summary}");
        let header = fs::read_to_string(case.path("out/case/monitors/profile-mean.csv")).unwrap();
        assert!(
            header.lines().next().unwrap().ends_with("viscous_diffusion,convection,residual"),
            "{header}"
        );
        assert!(case.path("out/case/monitors/profile-budget.svg").exists());
        let rows = case.table("out/case/monitors/profile-mean.csv");
        // Dense at the ends.
        assert!(rows[1][0] < 0.05 * (rows[51][0] - rows[50][0]), "{rows:?}");
    }
    let case = Case::new(VORTICES);
    fs::write(case.path("table.csv"), table(0.0)).unwrap();
    let refused = case.dgsuite(&["check", "case.yaml", "--set", "monitors.0.profile.line.to=[1, 3]"]);
    assert!(
        refused.stderr.contains("a line along the only direction that is not among `over`"),
        "{}",
        refused.stderr
    );
}
