//! Scalars in incompressible flow against exact solutions: orders, conservation, buoyancy, restarts, threads.

use dgsuite_mesh::{Mesh, Shape, generate};
use dgsuite_physics::exact::OneField;
use dgsuite_physics::formula::{Formula, Names};
use dgsuite_physics::incompressible::ScalarFormulas;
use dgsuite_physics::source::FormulaSource;
use dgsuite_physics::trace::{Recording, StateRecording, Sym};
use dgsuite_physics::{Exact, Incompressible as Momentum, Real};
use dgsuite_solve::flow::{BoundaryKind, Flow, Law, Setup, SourceTerm};
use dgsuite_solve::incompressible::{
    Buoyancy, Incompressible, Scalar, ScalarCondition, ScalarData, Splitting, Subcycling, TEMPERATURE,
};
use std::sync::Arc;

/// A formula of `x, y, z, t`.
fn formula(text: &str) -> Formula {
    Formula::parse(text, &Names::space_time()).expect("a formula")
}

/// Functions of place and time.
fn function(texts: &[&str]) -> Arc<dyn Exact> {
    let all: Vec<Formula> = texts.iter().map(|text| formula(text)).collect();
    let values = |t: Sym, [x, y, z]: [Sym; 3]| {
        all.iter().map(|formula| formula.trace(&[x, y, z, t])).collect::<Vec<Sym>>()
    };
    Arc::new(Recording::new(values))
}

fn value(text: &str) -> ScalarCondition {
    ScalarCondition::Value(function(&[text]))
}

fn law(viscosity: f64, diffusivity: f64) -> Incompressible {
    let scalars = vec![Scalar::new(TEMPERATURE, diffusivity)];
    Incompressible { scalars, ..Incompressible::new(viscosity) }
}

fn square(shape: Shape, n: usize) -> Mesh {
    generate::Box::unit(shape, n).build().expect("a box")
}

/// A flow with the state `u, v, p, T`, prescribed velocities, and a condition of the scalar by boundary.
fn setup(
    mesh: Mesh,
    law: Incompressible,
    order: usize,
    state: &Arc<dyn Exact>,
    conditions: &[(&str, ScalarCondition)],
) -> Setup {
    let names: Vec<String> = mesh.boundary_names().iter().map(|n| (*n).to_owned()).collect();
    let mut setup = Setup::new(Arc::new(mesh), Law::Incompressible(law), order);
    let given = |name: String| (name, BoundaryKind::Prescribed(Arc::clone(state)));
    setup.boundaries = names.into_iter().map(given).collect();
    let conditions = conditions.iter().map(|(name, condition)| ((*name).to_owned(), condition.clone()));
    setup.scalars = vec![ScalarData { conditions: conditions.collect(), ..ScalarData::default() }];
    setup.threads = 1;
    setup
}

fn start(setup: Setup, state: &Arc<dyn Exact>) -> Flow {
    Flow::new(setup, state.as_ref(), 0.0).expect("a solver")
}

/// Marches to `end` with steps of about `dt`.
fn march(solver: &mut Flow, dt: f64, end: f64) {
    while solver.time() < end * (1.0 - 1e-12) {
        let left = end - solver.time();
        let wanted = solver.next_size(left / (left / dt - 1e-9).ceil());
        solver.step(wanted).expect("a step");
    }
}

/// `T = e^{−t} sin(x + 0.2) cos y` with the diffusivity 0.1 and its derivatives along x and y.
const T: &str = "exp(-t)*sin(x + 0.2)*cos(y)";
const ALONG_X: &str = "exp(-t)*cos(x + 0.2)*cos(y)";
const ALONG_Y: &str = "-exp(-t)*sin(x + 0.2)*sin(y)";

/// The order of the formula in time, the step, and sub-steps.
type Time = (usize, f64, Option<Subcycling>);

/// The L² error of this scalar in a flow with the velocity `u, v` and the pressure `p`, which is exact.
fn error(
    mesh: Mesh,
    order: usize,
    flow: [&str; 3],
    conditions: &[(&str, ScalarCondition)],
    (time_order, dt, subcycles): Time,
) -> f64 {
    let [u, v, p] = flow;
    let state = function(&[u, v, p, T]);
    let of = Incompressible { time_order, subcycles, ..law(0.05, 0.1) };
    let mut of = setup(mesh, of, order, &state, conditions);
    let source = formula(&format!("-{T} + ({u})*({ALONG_X}) + ({v})*({ALONG_Y}) + 0.2*{T}"));
    of.scalars[0].source = Some(Arc::new(FormulaSource::of(&source)));
    let mut solver = start(of, &state);
    march(&mut solver, dt, 0.2);
    solver.errors(state.as_ref(), solver.time()).l2[3]
}

/// A shear flow; the upper wall has a heat flux.
fn sheared(shape: Shape, n: usize, order: usize, time: Time) -> f64 {
    let flux = ScalarCondition::Flux(function(&[&format!("-0.1*({ALONG_Y})")]));
    let conditions = [("xmin", value(T)), ("xmax", value(T)), ("ymin", value(T)), ("ymax", flux)];
    error(square(shape, n), order, ["y", "0", "0"], &conditions, time)
}

/// A rotating ring, with a heat transfer at the outer wall.
fn ring(n: usize, order: usize) -> f64 {
    let mesh = generate::Annulus {
        shape: Shape::Quadrilateral,
        centre: [0.0; 2],
        inner: 0.5,
        outer: 1.0,
        cells: [n, 4 * n],
        growth: 1.0,
        order,
    };
    let mesh = mesh.build().expect("a ring");
    // −0.1 ∂T/∂n = 0.4 (T − ambient)
    let ambient = function(&[&format!("{T} + 0.25*(x*({ALONG_X}) + y*({ALONG_Y}))/sqrt(x^2 + y^2)")]);
    let transfer = ScalarCondition::Transfer { coefficient: 0.4, ambient };
    let conditions = [("inner", value(T)), ("outer", transfer)];
    error(mesh, order, ["-y", "x", "(x^2 + y^2)/2"], &conditions, (3, 0.01, None))
}

#[test]
fn a_scalar_has_the_order_of_the_space() {
    for (shape, order) in [(Shape::Triangle, 2), (Shape::Quadrilateral, 3)] {
        let rate =
            (sheared(shape, 2, order, (3, 0.01, None)) / sheared(shape, 4, order, (3, 0.01, None))).log2();
        assert!(rate > order as f64 + 0.7, "{shape} p = {order}: {rate:.2}");
    }
    let rate = (ring(2, 3) / ring(3, 3)).log(1.5);
    assert!(rate > 3.7, "a ring: {rate:.2}");
}

#[test]
fn a_scalar_has_order_two_in_time() {
    for subcycles in [None, Some(Subcycling::Number(2))] {
        let at = |dt: f64| sheared(Shape::Quadrilateral, 2, 7, (2, dt, subcycles));
        let rate = (at(0.02) / at(0.01)).log2();
        // The data of carried fields lacks diffusion.
        let least = if subcycles.is_some() { 1.7 } else { 1.8 };
        assert!(rate > least && rate < 2.3, "{subcycles:?}: {rate:.2}");
    }
}

/// A vortex whose divergence is not zero in the space of the solver.
const VORTEX: [&str; 3] = ["-cos(3*x)*sin(3*y)", "sin(3*x)*cos(3*y)", "0"];

#[test]
fn a_uniform_scalar_stays_uniform() {
    let mut mesh = square(Shape::Triangle, 3);
    mesh.elevate(2).expect("elevation");
    mesh.map(|[x, y, z]| [x + 0.1 * (3.0 * y).sin(), y, z]).expect("a map that does not fold");
    let [u, v, p] = VORTEX;
    let state = function(&[u, v, p, "3"]);
    for splitting in [Splitting::Dual, Splitting::PressureCorrection { rotational: true }] {
        let conditions = [("xmin", value("3")), ("ymin", value("3")), ("ymax", value("3"))];
        let subcycles = (splitting == Splitting::Dual).then_some(Subcycling::Number(2));
        let of = Incompressible { splitting, subcycles, ..law(0.01, 0.02) };
        let mut of = setup(mesh.clone(), of, 3, &state, &conditions);
        let open = BoundaryKind::Open { backflow: None, data: None };
        of.boundaries.insert("xmax".to_owned(), open);
        let mut solver = start(of, &state);
        (0..5).for_each(|_| solver.step(0.01).expect("a step"));
        let norms = solver.errors(state.as_ref(), solver.time());
        // The linear solver stops at 1e-8 of the right-hand side, from a guess that is exact.
        assert!(norms.linf[3] < 1e-12 && norms.linf[0] > 1e-6, "{:?}", norms.linf);
    }
}

#[test]
fn an_insulated_box_keeps_its_scalar_and_a_flux_changes_it() {
    let state = function(&["0", "0", "0", "cos(3*x) + y*y"]);
    let mut mesh = square(Shape::Quadrilateral, 3);
    mesh.elevate(2).expect("elevation");
    mesh.map(|[x, y, z]| [x + 0.05 * (3.0 * y).sin(), y, z]).expect("a map that does not fold");
    let total = |solver: &Flow| solver.integral(&[formula_of_state("T")])[0];
    for flux in [0.0, -0.5] {
        let of = Incompressible {
            buoyancy: Some(Buoyancy { gravity: [0.0, -10.0, 0.0], expansion: 1.0, reference: 0.0 }),
            ..law(0.01, 0.01)
        };
        let conditions = [("ymax", ScalarCondition::Flux(function(&[&flux.to_string()])))];
        let mut of = setup(mesh.clone(), of, 3, &state, &conditions);
        let wall = BoundaryKind::NoSlipWall { velocity: None, temperature: None, data: None };
        of.boundaries.values_mut().for_each(|kind| *kind = wall.clone());
        let mut solver = start(of, &state);
        let before = total(&solver);
        march(&mut solver, 0.01, 0.2);
        let [speed, change] = [solver.errors(state.as_ref(), 0.0).linf[0], total(&solver) - before];
        // The flux acts on a wall of the length 1 for a time of 0.2; its load is met to the tolerance of the
        // solver.
        let gap = change + 0.2 * flux;
        let tolerance = if flux == 0.0 { 1e-13 } else { 1e-8 };
        assert!(speed > 0.1 && gap.abs() < tolerance, "flux {flux}: {gap:e}, speed {speed:.2}");
    }
}

/// A formula of the state `u, v, p, T` and `x, y, z, t`.
fn formula_of_state(text: &str) -> Formula {
    let names =
        ["u", "v", "p", "T", "primitive_u", "primitive_v", "primitive_p", "primitive_T", "x", "y", "z"];
    Formula::parse(text, &Names::new(names.into_iter().chain(["t"]))).expect("a formula")
}

/// With the transfer `−α ∂T/∂n = h (T − ½)` at x = 1, `h = α`, and no flux at x = 0,
/// `T = ½ + e^{−αk²t} cos kx` where `k tan k = 1`.
#[test]
fn a_wall_with_heat_transfer_cools_the_fluid_as_in_the_exact_solution() {
    let state =
        function(&["0", "0", "0", "0.5 + exp(-0.3*0.8603335890193797^2*t)*cos(0.8603335890193797*x)"]);
    let transfer = ScalarCondition::Transfer { coefficient: 0.3, ambient: function(&["0.5"]) };
    let of = setup(square(Shape::Quadrilateral, 2), law(0.1, 0.3), 6, &state, &[("xmax", transfer)]);
    let mut solver = start(of, &state);
    march(&mut solver, 0.01, 0.5);
    let error = solver.errors(state.as_ref(), 0.5).l2[3];
    assert!(error < 1e-6, "{error:e}");
}

/// The pressure of a linear stratification is a polynomial of degree two, which the space has.
#[test]
fn a_stratified_fluid_stays_at_rest() {
    let state = function(&["0", "0", "50*y^2 - 30*y", "y"]);
    for splitting in [Splitting::Dual, Splitting::PressureCorrection { rotational: true }] {
        let buoyancy = Some(Buoyancy { gravity: [0.0, -100.0, 0.0], expansion: 1.0, reference: 0.3 });
        let of = Incompressible { buoyancy, splitting, ..law(0.01, 0.01) };
        let conditions = [("ymin", value("0")), ("ymax", value("1"))];
        let mut solver = start(setup(square(Shape::Triangle, 3), of, 3, &state, &conditions), &state);
        march(&mut solver, 0.02, 0.4);
        let norms = solver.errors(state.as_ref(), 0.4);
        // Accelerations of 100 are balanced to the tolerance of the pressure, 1e-8.
        let speed = norms.linf[0].max(norms.linf[1]);
        assert!(speed < 1e-6 && norms.linf[2] < 1e-5 && norms.linf[3] < 1e-6, "{:?}", norms.linf);
    }
}

/// Warm fluid above cold, with a velocity that is small: gravity waves, which friction damps. What a velocity
/// that is not quite free of divergence does to the temperature must not become work of buoyancy.
#[test]
fn a_stable_stratification_damps_small_motions() {
    let state = function(&["0.001*sin(7*x)*cos(5*y)", "0.001*cos(11*x)", "25*y^2", "5*y"]);
    let rest = function(&["0", "0", "0", "5*y"]);
    for (shape, order, splitting, subcycles) in [
        (Shape::Quadrilateral, 3, Splitting::Dual, None),
        (Shape::Triangle, 3, Splitting::PressureCorrection { rotational: true }, None),
        (Shape::Quadrilateral, 4, Splitting::Dual, Some(Subcycling::Number(2))),
    ] {
        let buoyancy = Some(Buoyancy { gravity: [0.0, -10.0, 0.0], expansion: 1.0, reference: 0.0 });
        let mut of = Incompressible { buoyancy, splitting, subcycles, ..law(1e-4, 1e-4) };
        of.velocity.tolerance = 1e-11;
        of.pressure.tolerance = 1e-11;
        let conditions = [("ymin", value("0")), ("ymax", value("5"))];
        let mut of = setup(square(shape, 3), of, order, &state, &conditions);
        let wall = BoundaryKind::NoSlipWall { velocity: None, temperature: None, data: None };
        of.boundaries.values_mut().for_each(|kind| *kind = wall.clone());
        let mut solver = start(of, &state);
        march(&mut solver, 0.02, 4.0);
        let norms = solver.errors(rest.as_ref(), 4.0);
        let speed = norms.l2[0].max(norms.l2[1]);
        assert!(speed < 1e-3 && norms.l2[3] < 1e-3, "{shape} {splitting:?}: {:?}", norms.l2);
    }
}

/// A force that is a gradient changes the pressure alone, whether its potential is a polynomial or not.
#[test]
fn a_force_that_is_a_gradient_moves_nothing() {
    let [fx, fy] = ["100*pi*cos(pi*x)*sin(pi*y)", "100*pi*sin(pi*x)*cos(pi*y)"];
    let rest = function(&["0", "0", "0"]);
    let mut bent = square(Shape::Quadrilateral, 3);
    bent.elevate(2).expect("elevation");
    bent.map(|[x, y, z]| [x + 0.05 * (3.0 * y).sin(), y, z]).expect("a map that does not fold");
    let correction = Splitting::PressureCorrection { rotational: true };
    // The velocity would be 0.05 to 0.3 with the values of the force at the nodes.
    for (mesh, order, splitting, most) in [
        (square(Shape::Quadrilateral, 4), 3, correction, 5e-6),
        (square(Shape::Quadrilateral, 4), 3, Splitting::Dual, 2e-3),
        (square(Shape::Triangle, 4), 3, correction, 1e-4),
        (square(Shape::Triangle, 4), 3, Splitting::Dual, 1e-2),
        (bent, 3, correction, 1e-3),
    ] {
        let mut of = Incompressible { splitting, ..Incompressible::new(1e-6) };
        of.pressure.tolerance = 1e-10;
        let mut of = setup(mesh, of, order, &rest, &[]);
        of.scalars.clear();
        let texts = [("u", fx), ("v", fy)].map(|(name, text)| (name.to_owned(), text.to_owned()));
        let of_flow = Momentum { viscosity: 1e-6 };
        let force = FormulaSource::parse::<_, 2, 3>(&of_flow, &texts.into(), &Names::space_time());
        of.source = Some(SourceTerm::Given(Arc::new(force.expect("formulas"))));
        let mut solver = start(of, &rest);
        march(&mut solver, 0.01, 1.0);
        let l2 = solver.errors(rest.as_ref(), 1.0).l2;
        let speed = l2[0].max(l2[1]);
        println!("{splitting:?}, order {order}: {speed:e}");
        assert!(speed < most, "{splitting:?}, order {order}: {speed:e}");
    }
}

/// A solution by formulas: the velocity, the pressure, the temperature and another scalar.
fn convected(g: &str) -> Arc<dyn Exact> {
    let of = |text: &str| format!("{g}*({text})");
    function(&[
        &of("sin(2*x)*cos(2*y)"),
        &of("-cos(2*x)*sin(2*y)"),
        &of("sin(x + y)"),
        &format!("1 + 0.3*{g}*sin(x + 2*y)"),
        &of("cos(3*x - y)"),
    ])
}

/// L² errors of velocity, pressure and scalars of that solution at the time 0.2, with buoyancy, and with a
/// diffusivity of the temperature that varies or not.
fn manufactured(mesh: Mesh, order: usize, g: &str, varies: bool, time: Time) -> [f64; 4] {
    let (time_order, dt, subcycles) = time;
    let state = convected(g);
    let buoyancy = Some(Buoyancy { gravity: [0.0, -10.0, 0.0], expansion: 0.5, reference: 1.0 });
    let mut of = Incompressible { time_order, subcycles, buoyancy, ..law(0.05, 0.05) };
    let varying = |w: &[Sym], _: Sym, _: &[Sym; 3]| vec![Sym::lit(0.05) + Sym::lit(0.004) * w[0]];
    let formula = varies.then(|| recorded(&["0.05 + 0.004*T"], varying));
    of.scalars = vec![Scalar { formula, ..Scalar::new(TEMPERATURE, 0.05) }, Scalar::new("dye", 0.03)];
    of.velocity.tolerance = 1e-11;
    of.pressure.tolerance = 1e-11;
    let mut of = setup(mesh, of, order, &state, &[]);
    let names: Vec<String> = of.boundaries.keys().cloned().collect();
    let given = |field: usize| ScalarData {
        conditions: names
            .iter()
            .map(|name| {
                let one = OneField { of: Arc::clone(&state), field };
                (name.clone(), ScalarCondition::Value(Arc::new(one)))
            })
            .collect(),
        ..ScalarData::default()
    };
    of.scalars = vec![given(3), given(4)];
    of.source = Some(SourceTerm::Manufactured(Arc::clone(&state)));
    let mut solver = start(of, &state);
    march(&mut solver, dt, 0.2);
    let l2 = solver.errors(state.as_ref(), solver.time()).l2;
    [l2[0].hypot(l2[1]), l2[2], l2[3], l2[4]]
}

#[test]
fn the_force_and_the_sources_of_a_solution_make_it_one() {
    let curved = |n: usize| {
        let mut mesh = square(Shape::Quadrilateral, n);
        mesh.elevate(2).expect("elevation");
        mesh.map(|[x, y, z]| [x + 0.05 * (3.0 * y).sin(), y, z]).expect("a map that does not fold");
        mesh
    };
    let of_space: [(&str, usize, &dyn Fn(usize) -> Mesh); 3] = [
        ("triangles", 3, &|n| square(Shape::Triangle, n)),
        ("quadrilaterals", 2, &|n| square(Shape::Quadrilateral, n)),
        ("curved", 3, &curved),
    ];
    for (name, order, mesh) in of_space {
        let [coarse, fine] = [2, 4].map(|n| manufactured(mesh(n), order, "1", true, (2, 0.005, None)));
        let rates = [0, 1, 2, 3].map(|k| (coarse[k] / fine[k]).log2());
        let least = [0.6, -0.3, 0.6, 0.6].map(|more| order as f64 + more);
        assert!(rates.iter().zip(least).all(|(rate, least)| *rate > least), "{name}: {rates:?}");
    }
    for (time_order, subcycles, least) in
        [(2, None, 1.8), (3, None, 2.6), (2, Some(Subcycling::Number(2)), 1.7)]
    {
        let at = |dt: f64| {
            let time = (time_order, dt, subcycles);
            manufactured(square(Shape::Quadrilateral, 2), 7, "cos(3*t)", false, time)
        };
        let (coarse, fine) = (at(0.01), at(0.005));
        let rates = [0, 2, 3].map(|k| (coarse[k] / fine[k]).log2());
        assert!(rates.iter().all(|rate| *rate > least), "order {time_order}, {subcycles:?}: {rates:?}");
    }
}

/// Formulas of two scalars.
fn recorded(texts: &[&str], f: impl FnOnce(&[Sym], Sym, &[Sym; 3]) -> Vec<Sym>) -> ScalarFormulas {
    let texts = texts.iter().map(|text| (*text).to_owned()).collect();
    ScalarFormulas::new(texts, 2, Arc::new(StateRecording::new(2, f)))
}

#[test]
fn a_restart_and_another_number_of_threads_change_no_bit() {
    let [u, v, p] = VORTEX;
    let state = function(&[u, v, p, "x*y", "x"]);
    let solver = |threads: usize, subcycles: Option<Subcycling>| {
        let mut of = Incompressible { subcycles, ..law(0.02, 0.01) };
        let dye = |w: &[Sym], _: Sym, _: &[Sym; 3]| vec![Sym::lit(0.02) + Sym::lit(0.01) * w[0]];
        let pushed = |w: &[Sym], t: Sym, x: &[Sym; 3]| vec![w[1] * t, w[0] * x[0]];
        let formula = Some(recorded(&["0.02 + 0.01*T"], dye));
        of.scalars.push(Scalar { formula, ..Scalar::new("dye", 0.02) });
        of.forcing = Some(Box::new(recorded(&["dye*t", "T*x"], pushed)));
        of.buoyancy = Some(Buoyancy { gravity: [0.0, -1.0, 0.0], expansion: 1.0, reference: 0.0 });
        let mut of = setup(square(Shape::Triangle, 4), of, 3, &state, &[("xmin", value("y*cos(t)"))]);
        of.scalars.push(ScalarData::default());
        of.threads = threads;
        start(of, &state)
    };
    let steps = |solver: &mut Flow, n: usize| {
        for _ in 0..n {
            let dt = solver.next_size(0.01);
            solver.step(dt).expect("a step");
        }
    };
    for subcycles in [None, Some(Subcycling::Number(2))] {
        let mut whole = solver(1, subcycles);
        steps(&mut whole, 8);
        let saved = whole.save();
        steps(&mut whole, 4);
        let mut resumed = solver(3, subcycles);
        resumed.restore(&saved).expect("a saved state");
        steps(&mut resumed, 4);
        let [a, b] = [&whole, &resumed].map(|solver| solver.save().fields);
        assert!(a.len() > 5 && a.iter().zip(&b).all(|(a, b)| a.to_bits() == b.to_bits()), "{subcycles:?}");
    }
}
