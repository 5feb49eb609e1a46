//! Incompressible flow against exact solutions: orders in space and time, splittings, shapes, threads.

use dgsuite_mesh::{Mesh, Shape, generate};
use dgsuite_physics::Exact;
use dgsuite_physics::exact::{Context, Model, by_name};
use dgsuite_solve::flow::{BoundaryKind, Flow, Law, Setup, State};
use dgsuite_solve::incompressible::{
    FlowRate, Incompressible, Penalties, PressureOrder, Splitting, Subcycling, VelocityPreconditioner,
};
use std::collections::BTreeMap;
use std::sync::Arc;

fn solution(name: &str, viscosity: f64, dim: usize) -> Arc<dyn Exact> {
    let context = Context { dim, model: Model::Incompressible { viscosity }, period: [0.0; 3] };
    by_name(name, &BTreeMap::new(), &context).expect("a known solution").into()
}

fn square(shape: Shape, n: usize) -> Mesh {
    let (min, max) = ([-0.5; 3], [0.5; 3]);
    generate::Box { shape, min, max, cells: [n, n, n], ..generate::Box::unit(shape, n) }
        .build()
        .expect("a box")
}

/// Prescribed velocities on all sides but the right one, where pressure and stress are prescribed.
fn setup(mesh: Mesh, law: Incompressible, order: usize, exact: &Arc<dyn Exact>) -> Setup {
    let names: Vec<String> = mesh.boundary_names().iter().map(|n| (*n).to_owned()).collect();
    let mut setup = Setup::new(Arc::new(mesh), Law::Incompressible(law), order);
    for name in names {
        let kind = match name.as_str() {
            "xmax" => BoundaryKind::Open { backflow: None, data: Some(Arc::clone(exact)) },
            _ => BoundaryKind::Prescribed(Arc::clone(exact)),
        };
        setup.boundaries.insert(name, kind);
    }
    setup.threads = 1;
    setup
}

/// Marches to `end` with steps of about `dt`.
fn march(solver: &mut Flow, dt: f64, end: f64) {
    while solver.time() < end * (1.0 - 1e-12) {
        let left = end - solver.time();
        let wanted = solver.next_size(left / (left / dt - 1e-9).ceil());
        solver.step(wanted).expect("a step");
    }
}

/// L² errors of velocity and pressure.
fn errors(solver: &Flow, exact: &Arc<dyn Exact>) -> [f64; 2] {
    let l2 = solver.errors(exact.as_ref(), solver.time()).l2;
    let n = l2.len() - 1;
    [l2[..n].iter().map(|e| e * e).sum::<f64>().sqrt(), l2[n]]
}

/// Errors at `end`, with a setup that may be changed.
fn run(mut of: Setup, exact: &Arc<dyn Exact>, dt: f64, end: f64, change: impl Fn(&mut Setup)) -> [f64; 2] {
    change(&mut of);
    let mut solver = Flow::new(of, exact.as_ref(), 0.0).expect("a solver");
    march(&mut solver, dt, end);
    errors(&solver, exact)
}

const PLAIN: Penalties = Penalties::NONE;

fn law(viscosity: f64) -> Incompressible {
    Incompressible { penalties: PLAIN, ..Incompressible::new(viscosity) }
}

fn rate(coarse: [f64; 2], fine: [f64; 2]) -> [f64; 2] {
    [0, 1].map(|k| (coarse[k] / fine[k]).log2())
}

const DUAL: Splitting = Splitting::Dual;
const CORRECTION: Splitting = Splitting::PressureCorrection { rotational: true };

#[test]
fn the_taylor_vortex_has_the_orders_of_the_space() {
    let exact = solution("taylor-vortex", 0.01, 2);
    for (splitting, shape, order) in [
        (DUAL, Shape::Triangle, 2),
        (DUAL, Shape::Triangle, 4),
        (DUAL, Shape::Quadrilateral, 3),
        (CORRECTION, Shape::Triangle, 3),
    ] {
        let at = |n: usize| {
            let law = Incompressible { splitting, ..law(0.01) };
            run(setup(square(shape, n), law, order, &exact), &exact, 0.005, 0.1, |_| {})
        };
        let [u, p] = rate(at(4), at(8));
        let order = order as f64;
        assert!(u > order + 0.7 && p > order - 0.2, "{splitting:?} {shape} p = {order}: {u:.2} {p:.2}");
    }
}

/// The pressure has the order p of its own space, and the velocity p + ½ on fine meshes.
#[test]
fn a_pressure_of_lower_order_has_the_order_of_its_space() {
    let exact = solution("taylor-vortex", 0.01, 2);
    for (splitting, shape, order) in [
        (DUAL, Shape::Triangle, 2),
        (DUAL, Shape::Quadrilateral, 3),
        (CORRECTION, Shape::Triangle, 3),
        (CORRECTION, Shape::Quadrilateral, 2),
    ] {
        let at = |n: usize| {
            let pressure_order = PressureOrder::Lower;
            let law = Incompressible { splitting, pressure_order, ..Incompressible::new(0.01) };
            run(setup(square(shape, n), law, order, &exact), &exact, 0.005, 0.1, |_| {})
        };
        let [u, p] = rate(at(4), at(8));
        let order = order as f64;
        let as_expected = u > order - 0.1 && p > order - 0.2 && p < order + 0.5;
        assert!(as_expected, "{splitting:?} {shape} p = {order}: {u:.2} {p:.2}");
    }
}

#[test]
fn a_pressure_of_lower_order_needs_order_two_and_the_penalty_on_the_divergence() {
    let exact = solution("taylor-vortex", 0.01, 2);
    for (order, penalties) in [(1, Penalties::default()), (2, PLAIN)] {
        let law = Incompressible { pressure_order: PressureOrder::Lower, penalties, ..law(0.01) };
        let of = setup(square(Shape::Triangle, 2), law, order, &exact);
        let refused = Flow::new(of, exact.as_ref(), 0.0).err().expect("a refusal").to_string();
        assert!(refused.contains("with a pressure of"), "{refused}");
    }
}

/// A state of another space of the pressure: its past does not fit, and its pressure is projected.
#[test]
fn a_state_continues_with_a_pressure_of_lower_order() {
    let law = Incompressible { splitting: CORRECTION, ..Incompressible::new(0.02) };
    let (mut equal, exact) = periodic(law.clone(), 1);
    let steps = |solver: &mut Flow, n: usize| {
        for _ in 0..n {
            let dt = solver.next_size(0.01);
            solver.step(dt).expect("a step");
        }
    };
    steps(&mut equal, 4);
    let (mut lower, _) = periodic(Incompressible { pressure_order: PressureOrder::Lower, ..law }, 1);
    lower.restore(&equal.save()).expect("a saved state");
    // The projection of a projection is itself.
    let once = lower.save();
    lower.restore(&State { histories: None, ..once.clone() }).expect("a saved state");
    let twice = lower.save();
    let gap = once.fields.iter().zip(&twice.fields).fold(0.0_f64, |m, (a, b)| m.max((a - b).abs()));
    let moved = once.fields.iter().zip(&equal.save().fields).fold(0.0_f64, |m, (a, b)| m.max((a - b).abs()));
    assert!(gap < 1e-12 && moved > 1e-6, "{gap:e} {moved:e}");
    steps(&mut lower, 4);
    steps(&mut equal, 4);
    let [a, b] = [&lower, &equal].map(|solver| errors(solver, &exact)[0]);
    assert!(a < 3.0 * b, "{a:e} {b:e}");
}

#[test]
fn formulas_of_order_two_and_three_have_their_orders_in_time() {
    for (splitting, time_order, viscosity, dt, least) in [
        (DUAL, 2, 0.01, 0.02, [1.8, 1.8]),
        (CORRECTION, 2, 0.01, 0.02, [1.8, 1.8]),
        (DUAL, 3, 0.05, 0.01, [2.6, 2.6]),
    ] {
        let exact = solution("taylor-vortex", viscosity, 2);
        let at = |dt: f64| {
            let mut law = Incompressible { splitting, time_order, ..law(viscosity) };
            law.velocity.tolerance = 1e-11;
            law.pressure.tolerance = 1e-11;
            run(setup(square(Shape::Quadrilateral, 4), law, 7, &exact), &exact, dt, 0.2, |_| {})
        };
        let found = rate(at(dt), at(dt / 2.0));
        assert!(found[0] > least[0] && found[1] > least[1], "{splitting:?} {time_order}: {found:.2?}");
    }
}

/// A Taylor vortex that moves through a periodic square.
#[test]
fn sub_steps_of_convection_have_order_two_whatever_their_number() {
    let viscosity = 0.02;
    let context = Context { dim: 2, model: Model::Incompressible { viscosity }, period: [0.0; 3] };
    let moved: BTreeMap<String, f64> = [("u".to_owned(), 1.0), ("v".to_owned(), 0.3)].into();
    let exact: Arc<dyn Exact> = by_name("taylor-vortex", &moved, &context).expect("a known solution").into();
    let error = |steps: usize, dt: f64| {
        let mut mesh = square(Shape::Quadrilateral, 4);
        mesh.make_periodic("xmin", "xmax").expect("opposite sides");
        mesh.make_periodic("ymin", "ymax").expect("opposite sides");
        let law = Incompressible { subcycles: Some(Subcycling::Number(steps)), ..law(viscosity) };
        run(setup(mesh, law, 6, &exact), &exact, dt, 0.1, |of| of.boundaries.clear())
    };
    let (four, eight, half) = (error(4, 0.01), error(8, 0.01), error(4, 0.005));
    assert!(rate(four, half)[0] > 1.7, "{four:?} {half:?}");
    assert!((four[0] / eight[0] - 1.0).abs() < 0.05, "{four:?} {eight:?}");
}

/// The error of a run over a fixed number of steps does not grow as the steps become small.
#[test]
fn small_steps_are_stable() {
    let exact = solution("taylor-vortex", 0.01, 2);
    for splitting in [DUAL, CORRECTION] {
        let at = |dt: f64| {
            let law = Incompressible { splitting, ..law(0.01) };
            run(setup(square(Shape::Triangle, 4), law, 3, &exact), &exact, dt, 60.0 * dt, |_| {})
        };
        let (large, small) = (at(1e-3), at(1e-5));
        // A pressure correction keeps in the pressure what the first step finds of the divergence.
        let pressure = if splitting == DUAL { 3.0 } else { 40.0 };
        let grows = small[0] > 1.2 * large[0] || small[1] > pressure * large[1];
        assert!(!grows, "{splitting:?}: {large:?} {small:?}");
    }
}

#[test]
fn kovasznay_flow_is_reached_to_the_accuracy_of_the_space() {
    let exact = solution("kovasznay", 1.0 / 40.0, 2);
    let of = |law| run(setup(square(Shape::Quadrilateral, 4), law, 6, &exact), &exact, 0.01, 6.0, |_| {});
    let [u, p] = of(Incompressible::new(1.0 / 40.0));
    assert!(u < 1e-6 && p < 1e-5, "{u:e} {p:e}");
}

/// Where viscosity is large within a step, νΔt/h² = 0.09 and 0.36, the order is that of the space.
#[test]
fn viscous_flow_has_the_order_of_the_space_with_large_steps() {
    let exact = solution("kovasznay", 0.5, 2);
    for pressure_order in [PressureOrder::Equal, PressureOrder::Lower] {
        let at = |splitting, n: usize| {
            let law = Incompressible { splitting, pressure_order, ..Incompressible::new(0.5) };
            let closed = |of: &mut Setup| {
                let prescribed = BoundaryKind::Prescribed(Arc::clone(&exact));
                of.boundaries.insert("xmax".to_owned(), prescribed);
            };
            run(setup(square(Shape::Quadrilateral, n), law, 3, &exact), &exact, 0.02, 0.3, closed)
        };
        let (coarse, fine) = (at(DUAL, 3), at(DUAL, 6));
        let [u, p] = rate(coarse, fine);
        assert!(u > 3.3 && p > 1.5, "{pressure_order:?}: {u:.2} {p:.2}");
        assert!(fine[0] < 2.0 * at(CORRECTION, 6)[0], "{pressure_order:?}: {fine:?}");
    }
}

/// A uniform velocity along the first axis, and no pressure.
struct Along(f64);

impl Exact for Along {
    fn n_fields(&self) -> usize {
        3
    }

    fn eval(&self, _: f64, x: &[[f64; 3]], out: &mut [Vec<f64>]) {
        out.iter_mut().for_each(Vec::clear);
        for _ in x {
            out.iter_mut().zip([self.0, 0.0, 0.0]).for_each(|(out, v)| out.push(v));
        }
    }

    fn is_steady(&self) -> bool {
        true
    }
}

/// The largest change of the pressure's norm within a step, relative to that of steady flow with a lid, while
/// the size of the step changes.
fn largest_change(shape: Shape, viscosity: f64, change: impl Fn(&mut Incompressible)) -> f64 {
    let mut law = Incompressible::new(viscosity);
    change(&mut law);
    let rest: Arc<dyn Exact> = Arc::new(Along(0.0));
    let mut of = setup(square(shape, 3), law, 4, &rest);
    of.boundaries.values_mut().for_each(|b| *b = BoundaryKind::Prescribed(Arc::clone(&rest)));
    of.boundaries.insert("ymax".to_owned(), BoundaryKind::Prescribed(Arc::new(Along(1.0))));
    let mut solver = Flow::new(of, &Along(0.0), 0.0).expect("a solver");
    // The exact solution zero makes errors norms.
    let norm = |solver: &Flow| solver.errors(&Along(0.0), 0.0).l2[2];
    march(&mut solver, 0.02, 0.6);
    let steady = norm(&solver);
    let mut last = steady;
    let mut largest = 0.0_f64;
    for wanted in [0.01, 0.01, 0.02, 0.02, 0.01, 0.005, 0.02, 0.02].into_iter().chain([4e-4; 9]) {
        let size = solver.next_size(wanted);
        solver.step(size).expect("a step");
        largest = largest.max((norm(&solver) - last).abs() / steady);
        last = norm(&solver);
    }
    largest
}

/// The pressure does not follow the size of the step, also at corners where the flow is singular.
#[test]
fn a_change_of_the_step_leaves_the_pressure_as_it_is() {
    for shape in [Shape::Quadrilateral, Shape::Triangle] {
        for viscosity in [0.01, 1.0] {
            for pressure_order in [PressureOrder::Equal, PressureOrder::Lower] {
                let change = largest_change(shape, viscosity, |law| law.pressure_order = pressure_order);
                assert!(change < 0.06, "{shape} {viscosity} {pressure_order:?}: {change:.4}");
            }
        }
    }
}

#[test]
fn beltrami_flow_converges_on_solid_shapes() {
    let viscosity = 0.1;
    let exact = solution("beltrami", viscosity, 3);
    let shapes = [Shape::Tetrahedron, Shape::Hexahedron, Shape::Prism, Shape::Pyramid];
    for (shape, curved) in shapes.map(|shape| (shape, shape == Shape::Hexahedron)) {
        let at = |n: usize| {
            let mut mesh = square(shape, n);
            if curved {
                mesh.elevate(2).expect("elevation");
                let s = |x: f64| (std::f64::consts::PI * x).cos();
                let bend = |[x, y, z]: [f64; 3]| {
                    let b = 0.04 * s(x) * s(y) * s(z);
                    [x + b, y - b, z + b]
                };
                mesh.map(bend).expect("a map");
            }
            let of = setup(mesh, Incompressible::new(viscosity), 2, &exact);
            run(of, &exact, 0.004, 0.02, |_| {})
        };
        let [u, p] = rate(at(2), at(4));
        assert!(u > 2.5 && p > 1.8, "{shape}: {u:.2} {p:.2}");
    }
}

/// A periodic flow without boundaries, moved by a mean velocity.
/// Eddies in a square of side π, turned by an angle: the sides are planes of symmetry.
struct Eddies {
    viscosity: f64,
    angle: f64,
}

impl Exact for Eddies {
    fn n_fields(&self) -> usize {
        3
    }

    fn eval(&self, t: f64, x: &[[f64; 3]], out: &mut [Vec<f64>]) {
        let (sin, cos) = self.angle.sin_cos();
        let decay = (-2.0 * self.viscosity * t).exp();
        out.iter_mut().for_each(Vec::clear);
        for [x, y, _] in x {
            let (a, b) = (cos * x + sin * y, cos * y - sin * x);
            let (u, v) = (a.sin() * b.cos() * decay, -a.cos() * b.sin() * decay);
            let p = 0.25 * ((2.0 * a).cos() + (2.0 * b).cos()) * decay * decay;
            out.iter_mut().zip([cos * u - sin * v, sin * u + cos * v, p]).for_each(|(out, v)| out.push(v));
        }
    }
}

/// Planes of symmetry normal to no axis couple the components: the errors are those of the same flow between
/// planes normal to the axes.
#[test]
fn planes_of_symmetry_may_have_any_direction() {
    let errors = |splitting: Splitting, viscosity: f64, angle: f64| {
        let side = std::f64::consts::PI;
        let unit = generate::Box::unit(Shape::Triangle, 4);
        let mut mesh = generate::Box { max: [side, side, 1.0], ..unit }.build().expect("a box");
        let (sin, cos) = angle.sin_cos();
        mesh.map(|[x, y, z]| [cos * x - sin * y, sin * x + cos * y, z]).expect("a rotation");
        let exact: Arc<dyn Exact> = Arc::new(Eddies { viscosity, angle });
        let law = Incompressible { splitting, ..law(viscosity) };
        let symmetric = |of: &mut Setup| of.boundaries.values_mut().for_each(|b| *b = BoundaryKind::Symmetry);
        run(setup(mesh, law, 3, &exact), &exact, 0.01, 0.1, symmetric)
    };
    for (splitting, viscosity) in [(DUAL, 0.05), (CORRECTION, 0.05), (DUAL, 1.0)] {
        let straight = errors(splitting, viscosity, 0.0);
        let turned = errors(splitting, viscosity, 0.7);
        assert!(straight[0] < 3e-3 && straight[1] < 2e-2, "{splitting:?}: {straight:?}");
        for (a, b) in straight.iter().zip(&turned) {
            assert!(
                (a / b - 1.0).abs() < 0.05,
                "{splitting:?}, viscosity {viscosity}: {straight:?} {turned:?}"
            );
        }
    }
}

/// Components that a boundary couples have no preconditioner of their own.
#[test]
fn preconditioners_of_components_need_planes_normal_to_axes() {
    let exact: Arc<dyn Exact> = Arc::new(Eddies { viscosity: 1.0, angle: 0.7 });
    for (angle, allowed) in [(0.0_f64, true), (0.7, false)] {
        let mut mesh = generate::Box::unit(Shape::Triangle, 2).build().expect("a box");
        let (sin, cos) = angle.sin_cos();
        mesh.map(|[x, y, z]| [cos * x - sin * y, sin * x + cos * y, z]).expect("a rotation");
        let mut law = law(1.0);
        law.velocity.preconditioner = Some(VelocityPreconditioner::Linelets);
        let mut of = setup(mesh, law, 2, &exact);
        of.boundaries.values_mut().for_each(|b| *b = BoundaryKind::Symmetry);
        match Flow::new(of, exact.as_ref(), 0.0) {
            Ok(_) => assert!(allowed),
            Err(error) => {
                let text = error.to_string();
                assert!(!allowed && text.contains("not normal to an axis"), "{text}");
            }
        }
    }
}

fn periodic(law: Incompressible, threads: usize) -> (Flow, Arc<dyn Exact>) {
    let exact = solution("walsh-eddies", law.viscosity, 2);
    let pi = std::f64::consts::PI;
    let (min, max) = ([0.0; 3], [2.0 * pi; 3]);
    let shape = Shape::Triangle;
    let mut mesh =
        generate::Box { min, max, cells: [8; 3], ..generate::Box::unit(shape, 8) }.build().expect("a box");
    mesh.make_periodic("xmin", "xmax").expect("opposite sides");
    mesh.make_periodic("ymin", "ymax").expect("opposite sides");
    let mut of = setup(mesh, law, 4, &exact);
    of.boundaries.clear();
    of.threads = threads;
    (Flow::new(of, exact.as_ref(), 0.0).expect("a solver"), exact)
}

#[test]
fn a_restart_and_another_number_of_threads_change_no_bit() {
    // The mean velocity of this flow in this direction.
    let rate = Some(FlowRate { direction: [0.6, 0.8, 0.0], mean: 0.84 });
    let (equal, lower) = (PressureOrder::Equal, PressureOrder::Lower);
    for (splitting, time_order, subcycles, flow_rate, pressure_order) in [
        (DUAL, 3, None, rate, equal),
        (CORRECTION, 2, None, None, equal),
        (DUAL, 2, Some(Subcycling::Number(2)), None, equal),
        (DUAL, 2, None, rate, lower),
        (CORRECTION, 2, None, None, lower),
    ] {
        let parts = Incompressible::new(0.02);
        let law = Incompressible { splitting, time_order, subcycles, flow_rate, pressure_order, ..parts };
        let (mut whole, exact) = periodic(law.clone(), 1);
        let steps = |solver: &mut Flow, n: usize| {
            for _ in 0..n {
                let dt = solver.next_size(0.01);
                solver.step(dt).expect("a step");
            }
        };
        steps(&mut whole, 12);
        let saved = whole.save();
        steps(&mut whole, 5);
        let (mut resumed, _) = periodic(law, 3);
        resumed.restore(&saved).expect("a saved state");
        steps(&mut resumed, 5);
        let [a, b] = [&whole, &resumed].map(|solver| solver.save().fields);
        let same = a.iter().zip(&b).all(|(a, b)| a.to_bits() == b.to_bits());
        assert!(same, "{splitting:?} {pressure_order:?}");
        assert!(errors(&whole, &exact)[0] < 0.5);
    }
}

#[test]
fn normal_jumps_are_those_of_a_velocity_that_is_constant_in_each_element() {
    let exact = solution("uniform", 0.1, 2);
    let mesh = generate::Box { cells: [2, 1, 1], ..generate::Box::unit(Shape::Quadrilateral, 1) };
    let of = setup(mesh.build().expect("a box"), law(0.1), 2, &exact);
    let mut solver = Flow::new(of, exact.as_ref(), 0.0).expect("a solver");
    let mut state = solver.save();
    // u = (3, 5) in one half of the square and (1, −5) in the other.
    let half = state.fields.len() / 2;
    for (i, v) in state.fields.iter_mut().enumerate() {
        let field = i % half / (half / 3);
        *v = [if i < half { 3.0 } else { 1.0 }, if i < half { 5.0 } else { -5.0 }, 0.0][field];
    }
    solver.restore(&state).expect("a state of this space");
    let jumps = solver.normal_jumps().expect("no error").expect("a velocity");
    assert!((jumps - 2.0).abs() < 1e-12, "{jumps}");
}

/// A thin shear layer without viscosity to speak of, on a coarse mesh: without penalties its energy grows.
#[test]
fn penalties_keep_the_energy_of_an_underresolved_flow_from_growing() {
    struct Layer;
    impl Exact for Layer {
        fn n_fields(&self) -> usize {
            3
        }
        fn eval(&self, _: f64, x: &[[f64; 3]], out: &mut [Vec<f64>]) {
            let u = |y: f64| if y <= 0.5 { (30.0 * (y - 0.25)).tanh() } else { (30.0 * (0.75 - y)).tanh() };
            let tau = std::f64::consts::TAU;
            out[0] = x.iter().map(|x| u(x[1])).collect();
            out[1] = x.iter().map(|x| 0.05 * (tau * x[0]).sin()).collect();
            out[2] = vec![0.0; x.len()];
        }
    }
    let mut mesh = generate::Box::unit(Shape::Quadrilateral, 6).build().expect("a box");
    mesh.make_periodic("xmin", "xmax").expect("opposite sides");
    mesh.make_periodic("ymin", "ymax").expect("opposite sides");
    let mut of = Setup::new(Arc::new(mesh), Law::Incompressible(Incompressible::new(1e-6)), 5);
    of.threads = 1;
    let mut solver = Flow::new(of, &Layer, 0.0).expect("a solver");
    let energy =
        |solver: &Flow| -> f64 { solver.errors(&Rest, solver.time()).l2[..2].iter().map(|e| e * e).sum() };
    let first = energy(&solver);
    let mut last = first;
    while solver.time() < 1.5 {
        let wanted = 0.4 * solver.stable_dt().expect("a step") * solver.setup().stable_radius();
        let dt = solver.next_size(wanted.min(2e-3));
        solver.step(dt).expect("a step");
        last = energy(&solver);
        assert!(last < 1.001 * first, "t = {}: {last} of {first}", solver.time());
    }
    assert!(last < first && last > 0.8 * first, "{last} of {first}");
}

/// The fluid at rest.
struct Rest;

impl Exact for Rest {
    fn n_fields(&self) -> usize {
        3
    }
    fn eval(&self, _: f64, x: &[[f64; 3]], out: &mut [Vec<f64>]) {
        out.iter_mut().for_each(|out| *out = vec![0.0; x.len()]);
    }
}
