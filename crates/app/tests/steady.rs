//! Runs to a steady state: waves that stay in the domain are damped; derivatives of forces.

#![expect(clippy::unwrap_used, reason = "a failed preparation fails the test")]

#[path = "support/case.rs"]
mod support;

use support::{Case, number};

/// A uniform stream between two walls, with a sound wave that runs from wall to wall and hardly leaves.
const DUCT: &str = "\
title: A sound wave between walls
mesh: { generate: { shape: quad, max: [4, 1], cells: [8, 2] } }
physics: { model: euler }
space: { order: 3, riemann: roe }
initial: { rho: 1 + 0.01*cos(pi*y), u: 0.5, v: 0, p: (1 + 0.014*cos(pi*y))/1.4 }
boundaries:
  xmin: { type: far-field, rho: 1, u: 0.5, v: 0, p: 1/1.4 }
  xmax: { type: pressure-outlet, p: 1/1.4 }
  ymin: { type: slip-wall }
  ymax: { type: slip-wall }
time: { steady: { tolerance: 1e-5, max_steps: 1500, local_steps: true } }
output: { fields: none, checkpoint: none }
";

#[test]
fn a_wave_between_walls_is_damped() {
    let free = Case::new(DUCT);
    let outcome = free.dgsuite(&["run", "case.yaml"]);
    assert_eq!(outcome.code, 1, "{}", outcome.stdout);
    assert!(outcome.stderr.contains("time.steady.damping damps waves"), "{}", outcome.stderr);
    let left = number(&free.summary("out/case"), "/steady/residual");
    assert!(left > 1e-3, "{left:e}");
    // Whether the width of the mean is a third of the wave's period, of some 150 steps, or not.
    for damping in ["time.steady.damping=25", "time.steady.damping=50", "time.steady.damping=100"] {
        let damped = Case::new(DUCT).run(&["--set", damping]);
        assert!(number(&damped, "/steady/residual") < 1e-5, "{damping}: {damped}");
    }
    // With one step for all elements too.
    let steps = ["--set", "time.steady.damping=50", "--set", "time.steady.local_steps=false"];
    let damped = Case::new(DUCT).run(&steps);
    assert!(number(&damped, "/steady/residual") < 1e-5, "{damped}");
}

#[test]
fn damping_does_not_change_the_steady_state() {
    let narrow = DUCT
        .replace("[8, 2] } }", "[6, 2] }, map: { order: 2, y: y*(1 - 0.2*exp(-2*(x - 2)^2)) } }")
        .replace("1e-5, max_steps: 1500", "1e-9, max_steps: 20000")
        .replace("order: 3", "order: 1")
        + "monitors:\n  - integral: { fields: [p*x, rho_v*y], every_steps: 20000 }\n";
    let last = |damping: &str| {
        let case = Case::new(&narrow);
        case.run(&["--set", &format!("time.steady.damping={damping}")]);
        case.table("out/case/monitors/integral.csv").pop().unwrap()
    };
    let (short, long) = (last("20"), last("80"));
    for k in 2..4 {
        assert!((short[k] - long[k]).abs() < 1e-8 * (1.0 + long[k].abs()), "{short:?} {long:?}");
    }
}

/// A shock runs into gas at rest, with local steps of four times the stable size.
const TUBE: &str = "\
title: A shock by local steps
mesh: { generate: { shape: quad, max: [1, 0.1], cells: [30, 1] }, periodic: [[ymin, ymax]] }
physics: { model: euler }
space: { order: 2, riemann: hllc, shock: entropy-filter }
initial: { rho: 1, u: 'if(x < 0.3, 3, 0)', v: 0, p: 'if(x < 0.3, 10, 0.1)' }
boundaries: { xmin: { type: dirichlet, rho: 1, u: 3, v: 0, p: 10 }, xmax: { type: outflow } }
time: { cfl: 4, steady: { max_steps: 30, local_steps: true } }
output: { fields: none }
";

/// Local steps that failed ended the run at step 1.
#[test]
fn local_steps_that_fail_are_repeated_with_half_their_size() {
    let ended = |case: &Case, args: &[&str]| {
        let outcome = case.dgsuite(&[&["run", "case.yaml"], args].concat());
        assert_eq!(outcome.code, 1, "{}", outcome.stdout);
        outcome.stderr
    };
    let whole = Case::new(TUBE);
    let said = ended(&whole, &[]);
    assert!(said.contains("no steady state") && said.contains("after 30 steps"), "{said}");
    assert!(said.contains("step 0 ended in a bad state: repeated with 0.500 of its default size"), "{said}");
    assert!(number(&whole.summary("out/case"), "/time/retries") >= 4.0);
    assert!(ended(&whole, &["--set", "time.retries=0"]).contains("no longer finite"));
    // The share of the step is in the checkpoint: the third step is still smaller than the others.
    let newest = |case: &Case| std::fs::read(case.path("out/case/checkpoints/step-00000030.dgs")).unwrap();
    ended(&whole, &[]);
    let stopped = Case::new(TUBE);
    ended(&stopped, &["--set", "time.steady.max_steps=3"]);
    ended(&stopped, &["--restart", "latest"]);
    assert!(newest(&stopped) == newest(&whole), "the states differ");
}

/// A lid over a box with a warm wall; the cells grow away from the floor.
const LID: &str = "\
title: A lid
mesh: { generate: { shape: quad, max: [1, 1], cells: [3, 3] }, map: { order: 1, y: y^2 } }
physics: { model: navier-stokes, reference: { mach: 0.3, reynolds: 5, length: 1 } }
space: { order: 1 }
initial: { rho: rho_ref, u: 0, v: 0, p: p_ref }
boundaries:
  xmin: { type: no-slip-wall, temperature: T_ref }
  xmax: { type: no-slip-wall, temperature: 1.2*T_ref }
  ymin: { type: no-slip-wall, temperature: T_ref }
  ymax: { type: no-slip-wall, temperature: T_ref, velocity: ['16*(x*(1 - x))^2', 0] }
time: { steady: { tolerance: 1e-9 } }
output: { fields: none }
monitors: [ { forces: { boundary: ymax, every_steps: 10 } } ]
";

/// Local steps changed the mass, and with it the pressure of the steady state.
#[test]
fn local_steps_between_walls_keep_the_mass_on_which_the_flow_depends() {
    let case = Case::new(LID);
    let local = ["--set", "time.steady.local_steps=true"];
    let (newton, explicit) = (case.run(&[]), case.run(&local));
    for of in ["cd", "cl", "cm", "heat"] {
        let [a, b] = [&newton, &explicit].map(|summary| number(summary, &format!("/forces/ymax/{of}")));
        assert!((a - b).abs() < 1e-7 * a.abs() && a != 0.0, "{of}: {a} and {b}");
    }
    let lost = number(&explicit, "/conservation/rho");
    assert!(lost < 1e-14, "{lost:e}");
    // In two parts too.
    case.dgsuite(&[&["run", "case.yaml", "--set", "time.steady.max_steps=105"][..], &local].concat());
    let parts = case.run(&[&local[..], &["--restart", "latest"]].concat());
    assert_eq!(parts["forces"], explicit["forces"]);
    // Nothing sets the energy between walls without a temperature.
    let boundaries = "boundaries={ xmin: &a { type: no-slip-wall }, xmax: *a, ymin: *a, ymax: *a }";
    let said = case.dgsuite(&["check", "case.yaml", local[0], local[1], "--set", boundaries]);
    let told = said.stdout + &said.stderr;
    assert!(said.code == 0 && told.contains("local steps do not keep the energy"), "{told}");
}

/// A viscous stream over a plate, that becomes steady.
const PLATE: &str = "\
title: A stream over a plate
mesh: { generate: { shape: quad, max: [2, 1], cells: [4, 2] } }
physics: { model: navier-stokes, reference: { mach: 0.3, reynolds: 10, length: 1 } }
space: { order: 1 }
initial: { rho: rho_ref, u: u_ref, v: 0, p: p_ref }
boundaries:
  xmin: { type: far-field, rho: rho_ref, u: u_ref, v: 0, p: p_ref }
  xmax: { type: pressure-outlet, p: p_ref }
  ymin: { type: no-slip-wall }
  ymax: { type: symmetry }
time: { steady: { tolerance: 1e-6, local_steps: true } }
output: { fields: none }
monitors: [ { forces: { boundary: ymin, every_steps: 5 } } ]
";

/// The residual was relative to the largest one since the restart, so that a run that was nearly steady had
/// to fall by the whole tolerance once more.
#[test]
fn a_steady_run_in_two_parts_ends_where_one_ends() {
    let whole = number(&Case::new(PLATE).run(&[]), "/time/steps");
    let case = Case::new(PLATE);
    let most = format!("time.steady.max_steps={}", (0.9 * whole) as usize);
    let first = case.dgsuite(&["run", "case.yaml", "--set", &most]);
    assert!(first.code == 1 && first.stderr.contains("--restart latest"), "{}{}", first.stdout, first.stderr);
    let second = case.run(&["--restart", "latest"]);
    assert!(number(&second, "/steady/residual") <= 1e-6, "{second}");
    let end = case.table("out/case/monitors/forces.csv").pop().unwrap()[0];
    assert!((end - whole).abs() < 1.0, "{end} {whole}");
}

#[test]
fn a_steady_run_may_end_by_its_forces() {
    let whole = Case::new(PLATE).run(&[]);
    let case = Case::new(PLATE);
    let forces = "time.steady.forces={ tolerance: 1e-3, rows: 10 }";
    let outcome = case.dgsuite(&["run", "case.yaml", "--set", forces]);
    assert_eq!(outcome.code, 0, "{}", outcome.stderr);
    assert!(outcome.stderr.contains("the forces have settled"), "{}{}", outcome.stdout, outcome.stderr);
    let summary = case.summary("out/case");
    let (steps, all) = (number(&summary, "/time/steps"), number(&whole, "/time/steps"));
    assert!(steps < 0.9 * all, "{steps} {all}");
    // Drag and lift stay the same over these rows, and not over the ten before the last one.
    let table = case.table("out/case/monitors/forces.csv");
    let rows: Vec<&Vec<f64>> = table.iter().filter(|row| row[0] % 5.0 == 0.0).collect();
    let range = |rows: &[&Vec<f64>], k: usize| {
        let of = |f: fn(f64, f64) -> f64, start| rows.iter().map(|row| row[k]).fold(start, f);
        of(f64::max, f64::NEG_INFINITY) - of(f64::min, f64::INFINITY)
    };
    let settled = |rows: &[&Vec<f64>]| {
        let size = rows.iter().flat_map(|row| [row[2].abs(), row[3].abs()]).fold(0.0, f64::max);
        (2..4).all(|k| range(rows, k) <= 1e-3 * size)
    };
    let n = rows.len();
    assert!(settled(&rows[n - 10..]) && !settled(&rows[n - 11..n - 1]), "{:?}", &rows[n - 11..]);
    let refused = case.dgsuite(&["check", "case.yaml", "--set", forces, "--set", "monitors=[]"]);
    assert!(refused.code == 2 && refused.stderr.contains("a monitor `forces"), "{}", refused.stderr);
}

/// An impulsive start: a gas at Mach 0.38 past a cylinder on curved triangles of order 3. Fluxes, cubatures
/// and smaller steps do not help, and so the advice must not name them.
const CYLINDER: &str = "\
mesh: { generate: { kind: annulus, shape: tri, cells: [8, 16], inner: 0.5, outer: 20, growth: 1.6 } }
physics: { model: euler, reference: { mach: 0.38, length: 1 } }
space: { order: 3, riemann: rusanov }
initial: { rho: rho_ref, u: u_ref, v: 0, p: p_ref }
boundaries:
  inner: { type: slip-wall }
  outer: { type: far-field, rho: rho_ref, u: u_ref, v: 0, p: p_ref }
time: { steady: { tolerance: 1e-2, max_steps: 200, local_steps: true } }
output: { fields: none }
";

#[test]
fn local_steps_that_fail_from_a_uniform_flow_pass_from_a_lower_order_as_the_advice_says() {
    let case = Case::new(CYLINDER);
    let outcome = case.dgsuite(&["run", "case.yaml", "--output", "fails"]);
    assert!(outcome.code == 1 && outcome.stderr.contains("error[not-finite]"), "{}", outcome.stderr);
    let advice = "run with `space.order: 1` first, then continue with `--restart latest --set space.order=3`";
    let newton = "leave out `time.steady.local_steps`, so that Newton steps are taken";
    let both = format!("{newton}, with `space.riemann: hllc`; or {advice}");
    assert!(outcome.stderr.contains(&both), "{}", outcome.stderr);
    assert!(!outcome.stderr.contains("smaller time.cfl"), "{}", outcome.stderr);
    let low = ["--set", "space.order=1", "--set", "time.steady.max_steps=500"];
    let steps = number(&case.run(&low), "/time/steps");
    // Past the step at which the run of order 3 fails.
    let most = format!("time.steady.max_steps={}", steps + 200.0);
    let more = ["run", "case.yaml", "--restart", "latest", "--set", "space.order=3", "--set", &most];
    let outcome = case.dgsuite(&more);
    assert!(outcome.stderr.contains("error[not-steady]"), "{}", outcome.stderr);
    // The first part of the advice is enough with this flux, and without it where the flux is not to blame.
    let hllc = ["--set", "space.riemann=hllc", "--set"];
    let outcome =
        case.dgsuite(&[&["run", "case.yaml", "--output", "fails"], &hllc[..], &["threads=1"]].concat());
    assert!(outcome.stderr.contains(&format!("{newton}; or {advice}")), "{}", outcome.stderr);
    let steady = case.run(&[&hllc[..], &["time.steady.local_steps=", "--overwrite"]].concat());
    assert!(number(&steady, "/time/steps") < 60.0, "{}", steady["time"]);
}

/// The wave of [`DUCT`] is not steady after 1,500 explicit steps.
#[test]
fn newton_steps_need_no_damping_between_walls() {
    let newton = ["--set", "time={ steady: { solver: newton, tolerance: 1e-9 } }", "--set", "device=cpu"];
    let whole = Case::new(DUCT);
    let outcome = whole.dgsuite(&[&["run", "case.yaml"][..], &newton].concat());
    assert_eq!(outcome.code, 0, "{}", outcome.stderr);
    assert!(
        outcome.stderr.contains("Newton step 1: residual 1.00e0 before, CFL 1.0e1"),
        "{}",
        outcome.stderr
    );
    let summary = whole.summary("out/case");
    let steps = number(&summary, "/newton/steps");
    assert!(number(&summary, "/steady/residual") < 1e-9 && steps < 20.0, "{summary}");
    assert!(number(&summary, "/newton/jacobian_products") > number(&summary, "/newton/linear_iterations"));
    assert_eq!(number(&summary, "/time/steps"), steps);
    // Each step, with the residual before it.
    let column = |of: &str| -> Vec<f64> {
        let values = summary["newton"]["history"][of].as_array().unwrap();
        values.iter().map(|x| x.as_f64().unwrap()).collect()
    };
    let (residuals, numbers) = (column("residual"), column("step"));
    assert_eq!((residuals[0], numbers[0], numbers.len() as f64), (1.0, 1.0, steps));
    assert!(residuals[1..].iter().all(|ratio| *ratio < 1.0 && *ratio > 1e-9), "{residuals:?}");
    assert_eq!(
        column("linear_iterations").iter().sum::<f64>(),
        number(&summary, "/newton/linear_iterations")
    );
    assert!(column("cfl")[0] == 10.0 && column("share").iter().all(|share| *share > 0.0), "{summary}");
    // One step more than are allowed.
    let short = Case::new(DUCT);
    let most = ["--set", "time.steady.max_steps=3"];
    let outcome = short.dgsuite(&[&["run", "case.yaml"][..], &newton, &most].concat());
    assert!(outcome.code == 1 && outcome.stderr.contains("time.newton.growth"), "{}", outcome.stderr);
    assert!(outcome.stderr.contains("the residual is largest in element "), "{}", outcome.stderr);
    assert!(outcome.stderr.contains("fields/residual.vtu"), "{}", outcome.stderr);
    let fields = std::fs::read(short.path("out/case/fields/residual.vtu")).unwrap();
    let text = String::from_utf8_lossy(&fields);
    assert!(["rho", "rho_u", "rho_v", "rho_E"].iter().all(|name| text.contains(&format!("Name=\"{name}\""))));
}

#[test]
fn newton_steps_take_split_forms_and_formulas_of_the_state() {
    let newton = "time={ steady: { solver: newton, tolerance: 1e-9 } }";
    for set in [
        "space.form=split",
        "boundaries.xmax={ type: pressure-outlet, p: 1/1.4 + 0.1*(rho - 1) }",
        "physics.source={ rho_u: -0.1*(u - 0.5)*rho }",
    ] {
        let case = Case::new(DUCT);
        let outcome = case.dgsuite(&["run", "case.yaml", "--device", "cpu", "--set", newton, "--set", set]);
        assert_eq!(outcome.code, 0, "{set}: {}", outcome.stderr);
        let summary = case.summary("out/case");
        let [steps, residual] = ["/newton/steps", "/steady/residual"].map(|path| number(&summary, path));
        assert!(residual < 1e-9 && steps < 20.0, "{set}: {steps} steps to {residual:e}");
    }
}

#[test]
fn newton_steps_are_refused_where_they_have_no_derivative() {
    let newton = "time={ steady: { solver: newton } }";
    let refused = |text: &str, sets: &[&str], words: &str| {
        let case = Case::new(text);
        let sets = sets.iter().flat_map(|set| ["--set", set]);
        let args: Vec<&str> = ["check", "case.yaml", "--set", newton].into_iter().chain(sets).collect();
        let outcome = case.dgsuite(&args);
        let said = outcome.stderr;
        assert!(outcome.code == 2 && said.contains(words) && said.contains("time.steady"), "{said}");
    };
    refused(TUBE, &[], "Newton steps have no limiter");
    refused(DUCT, &["precision=single"], "Newton steps are in double precision");
    refused(DUCT, &["time.steady.damping=50"], "exclude each other");
    refused(
        DUCT,
        &["time.steady.solver=explicit", "time.newton={ start: 3 }"],
        "does not belong to explicit steps",
    );
}

/// A stream with drag over a wall with a model, to a valve, in split form.
const FORMULAS: &str = "\
title: Formulas of the state
mesh: { generate: { shape: quad, cells: [3, 2], min: [0, 0], max: [3, 1] } }
physics: { model: navier-stokes, viscosity: 1e-3, source: { rho_u: '-0.1*rho*u*sqrt(u^2 + v^2)' } }
space: { order: 2, riemann: roe, form: split }
initial: { rho: 1, u: 0, v: 0, p: 1/1.4 }
boundaries:
  xmin: { type: far-field, rho: 1, u: 0.4, v: 0, p: 1/1.4 }
  xmax: { type: pressure-outlet, p: 1/1.4 + 0.1*rho*u*abs(u) }
  ymin: { type: no-slip-wall, model: reichardt, exchange: 0.6, temperature: 1 }
  ymax: { type: far-field, rho: 1, u: 0.4, v: 0, p: 1/1.4 }
output: { fields: none, checkpoint: none }
monitors: [ { forces: { boundary: ymin, reference: { density: 1, velocity: 0.4, length: 3 } } } ]
";

/// From rest, where the derivative of the speed is that of the tip of a cone.
#[test]
fn newton_steps_find_the_flow_of_explicit_ones_with_formulas_and_a_wall_model_in_split_form() {
    let case = Case::new(FORMULAS);
    let run = |steady: &str| case.run(&["--set", &format!("time={{ steady: {{ {steady} }} }}")]);
    let (newton, explicit) = (run("tolerance: 1e-10"), run("tolerance: 1e-8, solver: explicit"));
    assert!(number(&newton, "/newton/steps") < 20.0 && explicit["newton"].is_null(), "{newton}");
    for of in ["cd", "cl", "cm", "heat"] {
        let [a, b] = [&newton, &explicit].map(|summary| number(summary, &format!("/forces/ymin/{of}")));
        assert!((a - b).abs() < 1e-6 * (0.01 + a.abs()) && a != 0.0, "{of}: {a} and {b}");
    }
}

/// A viscous stream over a bump; all that a force depends on depends on the constants.
const BUMP: &str = "\
title: Derivatives of forces
constants: { mach: 0.4, alpha: 2, cosine: cos(alpha*deg), sine: sin(alpha*deg), mu: 0.002, unused: 0 }
mesh:
  generate: { shape: tri+quad, min: [-1.5, 0], max: [1.5, 0.8], cells: [6, 4] }
  map: { order: 2, x: x, y: 'y*(0.2 + y) + 0.0625*exp(-25*x^2)*(1 - y/0.8)' }
physics: { model: navier-stokes, viscosity: mu*(1 + 0.1*sine), source: { rho_u: 0.01*mach*y } }
space: { order: 2, riemann: roe }
initial: { rho: 1, u: mach*cosine, v: mach*sine, p: 1/1.4 }
boundaries:
  xmin: { type: far-field, rho: 1, u: mach*cosine, v: mach*sine, p: 1/1.4 }
  xmax: { type: pressure-outlet, p: 1/1.4 - 0.01*mach }
  ymin: { type: no-slip-wall, temperature: 1 }
  ymax: { type: far-field, rho: 1, u: mach*cosine, v: mach*sine, p: 1/1.4 }
time: { steady: { tolerance: 1e-11 } }
output: { fields: none, checkpoint: none }
monitors:
  - forces:
      boundary: ymin
      reference: { density: 1, velocity: mach, direction: [cosine, sine], pressure: 1/1.4, length: 3 }
";

/// Central differences of fourth order of converged runs have errors of 1e-9.
#[test]
fn derivatives_of_forces_are_those_of_converged_runs() {
    let case = Case::new(BUMP);
    let names = "time.steady.sensitivities=[alpha, mach, mu, unused]";
    let outcome = case.dgsuite(&[
        "run",
        "case.yaml",
        "--set",
        names,
        "--set",
        "checks=[{ value: forces.ymin.sensitivities.mu.cd, above: 1 }]",
    ]);
    assert_eq!(outcome.code, 0, "{}", outcome.stderr);
    assert!(outcome.stdout.contains("derivatives ymin, by alpha: cd = "), "{}", outcome.stdout);
    let found = case.summary("out/case");
    let of = |by: &str, value: &str| number(&found, &format!("/forces/ymin/sensitivities/{by}/{value}"));
    for (by, value) in [("alpha", 2.0), ("mach", 0.4), ("mu", 0.002)] {
        let at = |factor: f64| {
            let summary = case.run(&["--set", &format!("constants.{by}={:?}", value * factor)]);
            ["cd", "cl", "cm", "heat", "force/1"].map(|of| number(&summary, &format!("/forces/ymin/{of}")))
        };
        let h = 1e-3;
        let [more, less, most, least] = [1.0 + h, 1.0 - h, 1.0 + 2.0 * h, 1.0 - 2.0 * h].map(at);
        for (i, name) in ["cd", "cl", "cm", "heat", "force/1"].into_iter().enumerate() {
            let slope = (8.0 * (more[i] - less[i]) - (most[i] - least[i])) / (12.0 * h * value);
            let error = of(by, name) / slope - 1.0;
            assert!(error.abs() < 1e-6, "d{name}/d{by}: {} and {slope}", of(by, name));
        }
    }
    assert_eq!(of("unused", "cd"), 0.0);
}

/// A run that was continued where nothing was left to do forgot to what its residual was relative, so that
/// the next one took the residual of rounding for its largest, and found neither an end nor derivatives.
#[test]
fn derivatives_are_those_of_one_run_after_restarts_of_a_steady_state() {
    let case = Case::new(&BUMP.replace("fields: none, checkpoint: none", "fields: none"));
    let names = ["--set", "time.steady.sensitivities=[alpha]"];
    let of = |summary: &_| number(summary, "/forces/ymin/sensitivities/alpha/cl");
    let whole = of(&case.run(&names));
    let steps = number(&case.run(&["--set", "output.directory=out/parts"]), "/newton/steps");
    let parts = [&names[..], &["--set", "output.directory=out/parts", "--restart", "latest"]].concat();
    for _ in 0..3 {
        let summary = case.run(&parts);
        assert_eq!(number(&summary, "/newton/steps"), steps);
        let again = of(&summary);
        assert!((again / whole - 1.0).abs() < 1e-7, "{again} {whole}");
    }
    assert_eq!(case.dgsuite(&["report", "out/parts"]).code, 0);
    let page = std::fs::read_to_string(case.path("out/parts/report.html")).unwrap();
    assert!(page.contains("derivative of the lift coefficient by alpha, ymin"), "{page:.500}");
}

/// The residual at the end is relative to that of the state at the start, as without lower orders.
#[test]
fn newton_steps_from_lower_orders_find_the_same_flow_in_fewer_steps() {
    let case = Case::new(&BUMP.replace("fields: none, checkpoint: none", "fields: none"));
    let set = |order: &str| format!("time.newton.from_order={order}");
    let of = |summary: &_| ["cd", "cl", "cm"].map(|of| number(summary, &format!("/forces/ymin/{of}")));
    let plain = case.run(&[]);
    let lower = case.run(&["--set", &set("0")]);
    let orders = lower["newton"]["lower_orders"].as_array().unwrap();
    assert_eq!(orders.iter().map(|of| number(of, "/order")).collect::<Vec<_>>(), [0.0, 1.0]);
    assert!(orders.iter().all(|of| number(of, "/residual") <= 1e-2), "{orders:?}");
    let [few, many] = [&lower, &plain].map(|summary| number(summary, "/newton/linear_iterations"));
    assert!(few < many, "{few} and {many}");
    assert!(number(&lower, "/newton/history/residual/0") < 0.2, "{lower}");
    for (a, b) in of(&lower).into_iter().zip(of(&plain)) {
        assert!((a / b - 1.0).abs() < 1e-8, "{a} and {b}");
    }
    // What is continued has its state.
    case.dgsuite(&["run", "case.yaml", "--set", &set("0"), "--set", "time.steady.max_steps=4"]);
    let parts = case.run(&["--set", &set("0"), "--restart", "latest"]);
    let close = of(&parts).into_iter().zip(of(&lower)).all(|(a, b)| (a / b - 1.0).abs() < 1e-8);
    assert!(parts["newton"]["lower_orders"].is_null() && close, "{parts}");
    // An order that is not lower changes nothing.
    assert_eq!(case.run(&["--set", &set("2")])["forces"], plain["forces"]);
    let refused = case.dgsuite(&["check", "case.yaml", "--set", "time.scheme=rk4", "--set", &set("1")]);
    assert!(refused.code == 2 && refused.stderr.contains("time.newton"), "{}", refused.stderr);
}

#[test]
fn derivatives_are_refused_by_name_where_there_are_none() {
    let case = Case::new(BUMP);
    let of = |names: &str| format!("time.steady={{ sensitivities: [{names}] }}");
    let walls = "boundaries={ xmin: { type: slip-wall }, xmax: { type: slip-wall }, \
                 ymin: { type: no-slip-wall, temperature: 1 }, ymax: { type: slip-wall } }";
    let mesh = "mesh.map.y=y + 0.01*alpha*exp(-25*x^2)*(1 - y/0.8)";
    let reference = "physics={ model: navier-stokes, reference: { mach: mach, reynolds: 50, length: 1 } }";
    let at_rest = "physics={ model: navier-stokes, viscosity: 0.01 }";
    for (sets, words) in [
        (&[&*of("alpa")][..], "did you mean `alpha`?"),
        (&[&*of("u_ref"), reference], "expected one of: mach, alpha, cosine"),
        (&[&*of("mu, mu")], "has the name `mu` twice"),
        (&["time.steady={ solver: explicit, sensitivities: [mu] }"], "`time.steady.solver: newton`"),
        (&[&*of("mu"), "monitors=[]"], "a monitor `forces"),
        (&[&*of("alpha"), mesh], "the mesh depends on `alpha`"),
        (&[&*of("mu"), walls, at_rest], "depends on the mass at the start"),
    ] {
        let sets = sets.iter().flat_map(|set| ["--set", set]);
        let outcome = case.dgsuite(&["check", "case.yaml"].into_iter().chain(sets).collect::<Vec<_>>());
        assert!(outcome.code == 2 && outcome.stderr.contains(words), "{words}: {}", outcome.stderr);
    }
}
