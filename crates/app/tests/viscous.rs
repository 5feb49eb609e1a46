//! Viscous runs from the command line: exact forces and heat, monitors of bodies, means over time, restarts.

#![expect(clippy::unwrap_used, reason = "a failed preparation fails the test")]

#[path = "support/case.rs"]
mod support;

use support::{CHANNEL, Case, STREAM};

/// Couette flow from its exact solution: the upper wall moves and is warmer.
const COUETTE: &str = "title: Couette
mesh: { generate: { shape: quad, max: [2, 2], cells: [2, 4] } }
physics: { model: navier-stokes, prandtl: 0.72, reference: { mach: 0.1, reynolds: 10, length: 2, temperature: 0.85 } }
space: { order: 3, riemann: roe }
initial: { exact: couette }
boundaries:
  ymin: { type: no-slip-wall, temperature: 0.8 }
  ymax: { type: no-slip-wall, temperature: 0.85, velocity: [1, 0] }
  xmin: { type: dirichlet, exact: couette }
  xmax: { type: dirichlet, exact: couette }
time: { steps: 200 }
output: { fields: { names: [Vorticity, QCriterion, { Shear: u_y }], precision: double } }
monitors:
  - forces: { boundary: ymax, reference: { origin: [1, 0] } }
  - forces: { boundary: [ymin] }
  - wall: { boundary: ymin }
";

/// A flow that meets a plate suddenly, with steps several times too large.
const PLATE: &str = "title: A plate
mesh: { generate: { shape: quad, cells: [6, 4], max: [2, 1] } }
physics: { model: navier-stokes, reference: { mach: 0.2, reynolds: 100, length: 1 } }
space: { order: 2, riemann: roe }
initial: { rho: rho_ref, u: u_ref, v: 0, p: p_ref }
boundaries:
  xmin: { type: far-field, rho: rho_ref, u: u_ref, v: 0, p: p_ref }
  xmax: { type: pressure-outlet, p: p_ref }
  ymin: { type: no-slip-wall, temperature: 1.1*T_ref }
  ymax: { type: symmetry }
time: { steps: 2000, cfl: 2 }
";

fn number(summary: &serde_json::Value, path: &str) -> f64 {
    let value = path.split('.').fold(summary, |value, key| match key.parse::<usize>() {
        Ok(i) if value.is_array() => &value[i],
        _ => &value[key],
    });
    value.as_f64().unwrap_or_else(|| panic!("{path} is not in {summary}"))
}

#[track_caller]
fn near(x: f64, expected: f64, within: f64) {
    assert!((x - expected).abs() <= within, "{x}, expected {expected} within {within}");
}

#[test]
fn walls_feel_the_exact_friction_and_heat_of_couette_flow() {
    let case = Case::new(COUETTE);
    let summary = case.run(&[]);
    // τ = μ U/H = 0.2 · 1/2 per area; the walls have length 2. The gas decelerates the moving wall.
    let tau = 0.1;
    near(number(&summary, "forces.ymax.viscous_force.0"), -2.0 * tau, 1e-5);
    near(number(&summary, "forces.ymin.viscous_force.0"), 2.0 * tau, 1e-5);
    // The pressure acts outwards and equals the reference pressure.
    let p = number(&summary, "reference.p_ref");
    near(number(&summary, "forces.ymax.pressure_force.1"), 0.0, 1e-5 * p);
    // C_D = F/(½ ρ U² L) with drag along x.
    near(number(&summary, "forces.ymin.cd"), 2.0 * tau / (0.5 * 2.0), 1e-5);
    // The moment about (1, 0) of the force on the upper wall, at distance 2, is positive (anticlockwise).
    near(number(&summary, "forces.ymax.moment.2"), 2.0 * 2.0 * tau, 1e-5 * p);
    // q at the walls: −κ dT/dy = −κ (ΔT/H ± Pr U²/(2 c_p)/H); their sum is the work of the moving wall.
    let heat = number(&summary, "forces.ymax.heat") + number(&summary, "forces.ymin.heat");
    near(heat, 2.0 * tau, 1e-3);
    let cp = 3.5 * number(&summary, "reference.R_ref");
    let kappa = 0.2 * cp / 0.72;
    let slope = 0.05 / 2.0 + 0.72 / (2.0 * cp) / 2.0;
    near(number(&summary, "forces.ymin.heat"), 2.0 * kappa * slope, 1e-3);
    // The friction along the lower wall has one sign.
    near(number(&summary, "wall.ymin.separation.count"), 0.0, 0.0);
    let curve = std::fs::read_to_string(case.path("out/case/monitors/wall-curve.csv")).unwrap();
    let rows: Vec<Vec<f64>> =
        curve.lines().skip(1).map(|l| l.split(',').map(|x| x.parse().unwrap()).collect()).collect();
    assert!(rows.len() >= 8 && rows.windows(2).all(|w| w[1][1] > w[0][1]), "in order along x");
    for row in &rows {
        near(row[5], tau / 0.5, 1e-4);
    }
}

/// Couette flow with walls given by formulas equals the flow with walls given by numbers, to the last bit:
/// with formulas that depend on place or time, and with a wall that rotates about a distant point.
#[test]
fn walls_by_formulas_are_walls_by_numbers() {
    let short = COUETTE.replace("steps: 200", "steps: 20");
    let forces = |temperature: &str, motion: &str| {
        let yaml = short
            .replace("temperature: 0.85, velocity: [1, 0]", &format!("temperature: {temperature}, {motion}"));
        Case::new(&yaml).run(&[])["forces"].clone()
    };
    let numbers = forces("0.85", "velocity: [1, 0]");
    assert_eq!(numbers, forces("0.85 + floor(x/9)", "velocity: [1 + floor(x/9), 0*x]"));
    assert_eq!(numbers, forces("0.85 + floor(t)", "velocity: { u: 1 + floor(t) }"));
    let turning = forces("0.85", "rotation: { omega: -1/1024, centre: [1, -1022] }");
    near(number(&turning, "ymax.viscous_force.0"), number(&numbers, "ymax.viscous_force.0"), 1e-6);
    // Data that depends on time changes the solution.
    let slower = forces("0.85", "velocity: { u: 1 - t }");
    assert!(number(&slower, "ymax.viscous_force.0") > number(&numbers, "ymax.viscous_force.0"));
}

/// A wall velocity normal to the wall is allowed, as only the tangential component counts, but a warning is
/// printed.
#[test]
fn a_wall_that_moves_across_itself_is_warned_about() {
    let said = |motion: &str| {
        let case = Case::new(&COUETTE.replace("velocity: [1, 0]", motion));
        case.dgsuite(&["check", "case.yaml"])
            .stdout
            .contains("boundaries.ymax: the velocity of the wall has a component")
    };
    assert!(said("velocity: [1, 0.1*t]") && said("rotation: { omega: 1 }"));
    assert!(!said("velocity: [16*x^2*(2 - x)^2, 0]"));
}

#[test]
fn means_over_time_and_forces_go_on_after_a_restart() {
    let more = "output: { fields: none, averages: { from: 0.004, every_steps: 3, \
                names: [Velocity, { uu: u*u }], deviations: true, reynolds_stresses: true } }";
    let start = COUETTE.find("output:").unwrap();
    let end = COUETTE.find("monitors:").unwrap();
    let mut yaml = COUETTE.replace(&COUETTE[start..end], &format!("{more}\n"));
    // Not steady at first.
    yaml = yaml.replace(
        "initial: { exact: couette }",
        "initial: { rho: 1, u: y/2 + sin(pi*x)*y*(2 - y)/4, v: 0, p: p_ref }",
    );
    yaml = yaml
        .replace("exact: couette", "rho: 1, u: y/2, v: 0, p: p_ref")
        .replace("boundary: ymax,", "boundary: ymax, from: 0, every_steps: 1,");
    let case = Case::new(&yaml);
    let outcome = case.dgsuite(&["run", "case.yaml", "--output", "out/whole", "--set", "time.steps=40"]);
    assert_eq!(outcome.code, 0, "{}", outcome.stderr);
    let whole = case.summary("out/whole");
    case.run(&["--set", "time.steps=22"]);
    let rest = case.run(&["--restart", "latest", "--set", "time.steps=40"]);
    let bytes = |folder: &str| std::fs::read(case.path(folder).join("averages.vtu")).unwrap();
    assert_eq!(bytes("out/whole"), bytes("out/case"), "the means differ");
    for value in ["cd", "mean.cd", "amplitude.cd", "max.cd", "min.cl"] {
        let path = format!("forces.ymax.{value}");
        near(number(&rest, &path), number(&whole, &path), 1e-12);
    }
}

/// Slow waves in a very viscous fluid: diffusion alone bounds the step, and the energy must decrease with it
/// on every shape.
#[test]
fn the_default_step_is_stable_for_diffusion_alone() {
    let plane = "cells: [4, 4] }, periodic: [[xmin, xmax], [ymin, ymax]] }";
    let space = "cells: [2, 2, 2] }, periodic: [[xmin, xmax], [ymin, ymax], [zmin, zmax]] }";
    for (shape, order) in
        [("tri", 1), ("tri", 4), ("quad", 1), ("quad", 4), ("tet", 2), ("hex", 1), ("hex", 3), ("prism", 2)]
    {
        let flat = ["tri", "quad"].contains(&shape);
        let (mesh, w) = if flat { (plane, "") } else { (space, "w: 0.01*sin(9*z), ") };
        let case = Case::new(&format!(
            "mesh: {{ generate: {{ shape: {shape}, {mesh}
physics: {{ model: navier-stokes, viscosity: {{ constant: 10 }} }}
space: {{ order: {order} }}
initial: {{ rho: 1, u: 0.01*sin(11*x)*cos(17*y), v: 0.01*cos(40*x + 3*y), {w}p: 1 }}
time: {{ steps: 150 }}
output: {{ fields: none, checkpoint: none }}
monitors: [ {{ integral: {{ fields: [rho*(u^2 + v^2)], every_steps: 150 }} }} ]
"
        ));
        case.run(&[]);
        let table = std::fs::read_to_string(case.path("out/case/monitors/integral.csv")).unwrap();
        let energy: Vec<f64> =
            table.lines().skip(1).map(|line| line.split(',').nth(2).unwrap().parse().unwrap()).collect();
        assert!(energy[energy.len() - 1] < energy[0], "{shape}, order {order}: {energy:?}");
    }
}

#[test]
fn a_gas_too_cold_to_exist_is_named_with_place_and_hint() {
    // Steps far beyond the viscous limit.
    let case = Case::new(&COUETTE.replace("time: { steps: 200 }", "time: { steps: 200, dt: 0.1 }"));
    let plan = case.dgsuite(&["check", "case.yaml"]);
    assert!(plan.stdout.contains("times the step that is stable on this mesh"), "{}", plan.stdout);
    let outcome = case.dgsuite(&["run", "case.yaml"]);
    assert_eq!(outcome.code, 1, "{}", outcome.stderr);
    let hint = "hint: try a smaller time.dt than 0.1 (the stable step was";
    let parts =
        ["the solution is no longer", "in element", "rho_E =", "T =", "the lowest temperature was ", hint];
    for part in parts {
        assert!(outcome.stderr.contains(part), "`{part}` is not in:\n{}", outcome.stderr);
    }
    // The message about the state before a late failure agrees with a run that ends there.
    let said = Case::new(PLATE).dgsuite(&["run", "case.yaml"]).stderr;
    let number = |after: &str| -> f64 {
        let (_, rest) = said.split_once(after).unwrap_or_else(|| panic!("no `{after}` in {said}"));
        rest[..rest.find(|c: char| !"0123456789.e-".contains(c)).unwrap()].parse().unwrap()
    };
    let step = number(", step ");
    assert!(step > 1.0, "{said}");
    let lowest = number("the lowest temperature was ");
    let steps = format!("steps: {}", step - 1.0);
    let case = Case::new(&PLATE.replace("steps: 2000", &steps));
    near(self::number(&case.run(&[]), "time.end"), number("before this step, at time "), 1e-6);
    assert!(lowest < 0.99 && said.contains("time.cfl than 2 (up to"), "{said}");
}

#[test]
fn a_reference_state_is_derived_with_units_and_without() {
    let case = |physics: &str| {
        let yaml = format!(
            "mesh: {{ generate: {{ shape: quad, cells: [2, 2] }}, periodic: [[xmin, xmax], [ymin, ymax]] }}
physics: {{ model: navier-stokes, {physics} }}
space: {{ order: 1 }}
initial: {{ rho: rho_ref, u: u_ref, v: v_ref, p: p_ref }}
time: {{ steps: 1 }}
output: {{ fields: none, checkpoint: none }}
monitors: [ {{ integral: {{ fields: [mu_ref, speed_ref*L_ref] }} }} ]
"
        );
        Case::new(&yaml).run(&[])
    };
    // Air at sea level: c = 340.29 m/s, μ = 1.7894e-5 kg/(m s) (U.S. Standard Atmosphere 1976).
    let air =
        "gas_constant: 287.053, viscosity: { sutherland: { mu_ref: 1.716e-5, t_ref: 273.15, s: 110.4 } }";
    let summary =
        case(&format!("{air}, reference: {{ mach: 0.5, pressure: 101325, temperature: 288.15, length: 2 }}"));
    near(number(&summary, "reference.c_ref"), 340.29, 0.01);
    near(number(&summary, "reference.rho_ref"), 1.225, 1e-4);
    near(number(&summary, "reference.mu_ref"), 1.789e-5, 1e-8);
    let re = 1.225 * 170.146 * 2.0 / 1.789e-5;
    near(number(&summary, "reference.reynolds") / re, 1.0, 1e-3);
    near(number(&summary, "integral.mu_ref"), 1.789e-5, 1e-8);
    // The Reynolds number determines the density.
    let summary =
        case(&format!("{air}, reference: {{ mach: 0.2, reynolds: 1e5, temperature: 288.15, length: 1 }}"));
    near(number(&summary, "reference.rho_ref"), 1e5 * 1.7893e-5 / (0.2 * 340.29), 1e-5);
    // Without units, density, speed and temperature are 1, and μ = 1/Re at the reference temperature.
    let summary = case(
        "viscosity: { power: { exponent: 0.7 } }, reference: { mach: 0.1, reynolds: 200, length: 4, angle: pi/6 }",
    );
    near(number(&summary, "reference.p_ref"), 1.0 / (1.4 * 0.01), 1e-12);
    near(number(&summary, "reference.mu_ref"), 4.0 / 200.0, 1e-15);
    near(number(&summary, "reference.u_ref"), 0.75_f64.sqrt(), 1e-15);
    near(number(&summary, "reference.v_ref"), 0.5, 1e-15);
}

/// Runs a gas that leaves with given conditions on two of its boundaries; returns integrals of the solution.
fn leaving(outlet: &str, wall: &str) -> Vec<f64> {
    let case = Case::new(&format!(
        "\
mesh: {{ generate: {{ shape: tri, cells: [3, 2] }} }}
physics: {{ model: navier-stokes, gas_constant: 1, viscosity: {{ constant: 0.01 }} }}
space: {{ order: 2 }}
initial: {{ rho: 1 + 0.1*y, u: 0.5 + 0.1*sin(3*x), v: 0.1*y, p: 1 + 0.1*x }}
boundaries:
  xmin: {{ type: far-field, rho: 1, u: 0.5, v: 0, p: 1 }}
  xmax: {{ {outlet} }}
  ymin: {{ type: slip-wall }}
  ymax: {{ {wall} }}
time: {{ dt: 1e-3, steps: 20 }}
output: {{ fields: none, checkpoint: none }}
monitors:
  - integral: {{ fields: [rho*x, rho_u*y, rho_v, {{ energy: rho_E*x }}] }}
"
    ));
    let summary = case.run(&[]);
    ["rho*x", "rho_u*y", "rho_v", "energy"].map(|name| summary["integral"][name].as_f64().unwrap()).to_vec()
}

/// Formulas of the state that have the value of a formula without it, and the inner state as the outer one.
#[test]
fn boundaries_of_the_state_do_what_their_values_do() {
    const WARM: &str = "type: no-slip-wall, temperature: 1.1";
    let plain = leaving("type: pressure-outlet, p: 0.9 + 0.1*t", WARM);
    let same = leaving(
        "type: pressure-outlet, p: \"min(0.9 + 0.1*t, 1 + p)\"",
        "type: no-slip-wall, temperature: \"min(1.1, 2 + rho)\"",
    );
    assert_eq!(plain, same);
    let open = leaving("type: outflow", WARM);
    let inner = leaving("type: pressure-outlet, p: p", WARM);
    for ((open, inner), plain) in open.iter().zip(&inner).zip(&plain) {
        assert!((open - inner).abs() < 1e-14 && (open - plain).abs() > 1e-6, "{open} {inner} {plain}");
    }
    let given = leaving("type: dirichlet, rho: rho, u: u, v: v, p: 0.9 + 0.1*t", WARM);
    let mixed =
        leaving("type: dirichlet, rho: Density, u: rho_u/rho, v: v, p: \"min(0.9 + 0.1*t, 1 + p)\"", WARM);
    for (given, mixed) in given.iter().zip(&mixed) {
        assert!((given - mixed).abs() < 1e-14, "{given} {mixed}");
    }
}

/// What a boundary cannot use is refused with a reason.
#[test]
fn boundaries_refuse_derivatives_and_states_of_other_models() {
    let refused = |text: &str, from: &str, to: &str, reason: &str| {
        let case = Case::new(&text.replace(from, to));
        let outcome = case.dgsuite(&["check", "case.yaml"]);
        assert!(outcome.code != 0 && outcome.stderr.contains(reason), "{to}: {}", outcome.stderr);
    };
    let outflow = "type: outflow";
    refused(STREAM, outflow, "type: pressure-outlet, p: 1 - 0.1*u_x", "without derivatives of the state");
    refused(STREAM, outflow, "type: pressure-outlet, p: 1 + q", "unknown");
    // At the start u = 0.5.
    refused(STREAM, outflow, "type: pressure-outlet, p: 1 - 4*u", "p = -1");
    refused(STREAM, outflow, "type: dirichlet, rho: 1, u: u, v: v, p: p - 2", "p = -1");
    let liquid = "the models euler and navier-stokes";
    refused(CHANNEL, "velocity: [1, 0]", "velocity: [1 + p, 0]", liquid);
    let wave = "\
mesh: { generate: { shape: quad, cells: [2, 2] } }
physics: { model: advection, velocity: [1, 0] }
space: { order: 1 }
initial: { u: 0 }
boundaries:
  xmin: { type: outflow }
  xmax: { type: outflow }
  ymin: { type: outflow }
  ymax: { type: outflow }
time: { steps: 1 }
";
    refused(wave, "xmin: { type: outflow }", "xmin: { type: dirichlet, u: u/2 }", liquid);
}
