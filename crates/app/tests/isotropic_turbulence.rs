//! Isotropic turbulence at the start, and the spectrum of a box, from the command line.

#![expect(clippy::unwrap_used, reason = "a failed preparation fails the test")]

#[path = "support/case.rs"]
mod support;

use std::f64::consts::PI;
use std::fs;

use support::{Case, number};

/// Waves in a box of different periods, with a mean flow.
const BOX: &str = "\
title: Turbulence in a box
mesh:
  generate: { shape: hex, cells: [3, 3, 3], max: [6, 4, 6] }
  periodic: [[xmin, xmax], [ymin, ymax], [zmin, zmax]]
physics: { model: incompressible, viscosity: 1e-3 }
space: { order: 7 }
initial: { u: 1, v: 0, w: 0, turbulence: { spectrum: k^2*exp(-k), waves: 3, seed: 5 } }
time: { dt: 1e-4, steps: 1 }
output: { fields: none, checkpoint: { every_steps: 1 } }
monitors:
  - spectrum: { along: [x, y, z], waves: 6, every_steps: 1, reference: { file: table.csv, columns: { energy: 2 } } }
  - integral: { fields: [Divergence^2, Vorticity_x^2, u - 1, v, w], every_steps: 1 }
";

const GAS: &str = "\
title: Turbulence in a gas
mesh:
  generate: { shape: tet, cells: [2, 2, 2], max: [2, 2, 2] }
  periodic: [[xmin, xmax], [ymin, ymax], [zmin, zmax]]
physics: { model: navier-stokes, viscosity: 1e-3, gas_constant: 1 }
space: { order: 6 }
initial: { rho: 1, u: 0, v: 0, w: 0, p: 100, turbulence: { spectrum: 0.1, waves: 1 } }
time: { steps: 1 }
output: { fields: none, checkpoint: { every_steps: 1 } }
monitors:
  - integral: { fields: [rho*(u^2 + v^2 + w^2)/2, p - 100, Divergence^2, Vorticity_x^2], every_steps: 1 }
";

fn case(yaml: &str) -> Case {
    let case = Case::new(yaml);
    // Twice the spectrum of the box at the first and second shell.
    let kappa = PI / 3.0;
    let row = |n: f64| format!("{:?},{:?}\n", n * kappa, 2.0 * (n * kappa).powi(2) * (-n * kappa).exp());
    fs::write(case.path("table.csv"), format!("k,E\n{}{}", row(1.0), row(2.0))).unwrap();
    case
}

#[test]
fn the_spectrum_of_the_box_is_the_prescribed_one() {
    let case = case(BOX);
    let summary = case.run(&[]);
    let rows = case.table("out/case/monitors/spectrum.csv");
    assert_eq!(rows[0].len(), 2 + 3 * 6);
    let kappa = PI / 3.0;
    for n in 1..=6_usize {
        let found: f64 = (0..3).map(|d| 0.5 * rows[0][1 + 6 * d + n]).sum();
        let k = n as f64 * kappa;
        let expected = if n <= 3 { k * k * (-k).exp() * kappa } else { 0.0 };
        // Elements of order 7 with one wave of the third shell hold it to 1e-3.
        assert!((found - expected).abs() < 4e-4, "shell {n}: {found} {expected}");
    }
    let energy: f64 = (1..4).map(|n| f64::from(n) * kappa).map(|k| k * k * (-k).exp() * kappa).sum();
    assert!((number(&summary, "/spectrum/energy/variance") - energy).abs() < 1e-3 * energy);
    assert!(number(&summary, "/spectrum/energy/upper_half") < 1e-5);
    // Half of the table is a deviation of a half.
    assert!((number(&summary, "/spectrum/deviation/energy") - 0.5).abs() < 1e-3);
    let picture = fs::read_to_string(case.path("out/case/monitors/spectrum-mean.svg")).unwrap();
    assert!(picture.contains("energy, reference"));
    let means = fs::read_to_string(case.path("out/case/monitors/spectrum-mean.csv")).unwrap();
    assert!(means.starts_with("k,E of u,E of v,E of w,E of energy,"), "{means}");
    // No divergence but that of the projection, and no mean.
    let integrals = &case.table("out/case/monitors/integral.csv")[0];
    assert!(
        integrals[2] < 1e-4 * integrals[3] && integrals[4..].iter().all(|x| x.abs() < 1e-8),
        "{integrals:?}"
    );
}

#[test]
fn threads_have_the_same_bits_and_seeds_have_others() {
    for yaml in [BOX, GAS] {
        let case = case(yaml);
        let initial = |output: &str, set: &[&str]| {
            let arguments: Vec<&str> = set.iter().flat_map(|one| ["--set", one]).collect();
            let args = [&["run", "case.yaml", "--output", output], &arguments[..]].concat();
            let outcome = case.dgsuite(&args);
            assert_eq!(outcome.code, 0, "{}", outcome.stderr);
            fs::read_to_string(case.path(&format!("{output}/monitors/integral.csv"))).unwrap()
        };
        let one = initial("one", &["threads=1"]);
        assert!(one == initial("two", &["threads=2"]));
        assert!(one != initial("other", &["initial.turbulence.seed=6"]));
    }
}

#[test]
fn a_gas_has_the_energy_and_keeps_its_pressure() {
    let case = case(GAS);
    case.run(&[]);
    let row = &case.table("out/case/monitors/integral.csv")[0];
    // The first shell has 18 vectors, to √2 waves in 2.
    let (energy, volume) = (0.1 * PI, 8.0);
    assert!((row[2] / volume - energy).abs() < 1e-3 * energy, "{row:?}");
    assert!(row[3].abs() < 1e-3 && row[4] < 1e-2 && row[5] > 1.0, "{row:?}");
}

#[test]
fn turbulence_that_there_cannot_be_is_refused() {
    for (set, word) in [
        ("initial.turbulence.spectrum=-k", "finite and not negative"),
        ("initial.turbulence.spectrum=1/(k - pi/3)", "finite and not negative"),
        ("initial.turbulence.spectrum=E(k)", "`E`"),
        ("initial.turbulence.waves=0", "initial.turbulence.waves"),
        ("initial.turbulence.waves=200", "from 1 to 128"),
        ("initial.turbulence={ spectrum: 1 }", "turbulence.waves` is missing"),
        ("initial.turbulence={ waves: 3 }", "turbulence.spectrum` is missing"),
        ("initial={ exact: taylor-green, turbulence: { spectrum: 1, waves: 2 } }", "exclude each other"),
        ("mesh.periodic=[[xmin, xmax], [ymin, ymax]]", "without a period along z"),
        ("monitors.0.spectrum={ along: [x, y], waves: 4 }", "all 3 of the mesh"),
        ("monitors.0.spectrum={ along: [x, x, y], waves: 4 }", "x"),
        ("monitors.0.spectrum={ along: [], waves: 4 }", "direction of the waves"),
        ("monitors.0.spectrum.over=[x]", "waves along all directions"),
        ("monitors.0.spectrum.waves=200", "at most 10000000 places"),
        ("monitors.0.spectrum.reference.columns={ p: 2 }", "`p`"),
    ] {
        let outcome = case(BOX).dgsuite(&["check", "case.yaml", "--set", set]);
        assert!(outcome.code != 0 && outcome.stderr.contains(word), "{set}: {}", outcome.stderr);
    }
    let advection = "\
mesh: { generate: { shape: quad, cells: [2, 2] }, periodic: [[xmin, xmax], [ymin, ymax]] }
physics: { model: advection, velocity: [1, 0] }
initial: { u: 0, turbulence: { spectrum: 1, waves: 2 } }
time: { steps: 1 }
";
    let outcome = Case::new(advection).dgsuite(&["check", "case.yaml"]);
    assert!(outcome.code != 0 && outcome.stderr.contains("which have a velocity"), "{}", outcome.stderr);
}
