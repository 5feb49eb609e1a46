//! Implicit steps in time: orders, where steps are small and where they are stiff; totals, restarts, threads,
//! ranks, attempts, failures.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::sync::Arc;

use dgsuite_gpu::comm::{Communicator, on_each, threads};
use dgsuite_mesh::{Mesh, Shape, generate};
use dgsuite_physics::navier_stokes::Viscosity;
use dgsuite_physics::{Euler, Exact, NavierStokes};
use dgsuite_solve::SystemError;
use dgsuite_solve::flow::{BoundaryKind, Flow, Law, Riemann, Setup, State};
use dgsuite_solve::implicit::lacks_in_time;
use dgsuite_solve::setup::ImplicitSteps;
use dgsuite_timeint::Esdirk;

/// A stream along x between a wall at y = 0 and a far field, with waves; the far field swings in time.
struct Stream {
    dim: usize,
    waves: f64,
}

impl Exact for Stream {
    fn n_fields(&self) -> usize {
        self.dim + 2
    }

    fn eval(&self, t: f64, points: &[[f64; 3]], out: &mut [Vec<f64>]) {
        out.iter_mut().for_each(Vec::clear);
        for x in points {
            let wave = |k: f64| {
                let phase = k + x[..self.dim].iter().map(|x| std::f64::consts::TAU * x).sum::<f64>();
                self.waves * phase.sin()
            };
            let swing = 0.1 * (3.0 * t).sin();
            let rho = 1.0 + wave(0.3) + 0.3 * swing;
            // No speed of a wave changes its sign, where numerical fluxes have kinks.
            let v = match self.waves > 0.0 {
                true => [0.4 + wave(1.1), 0.3 + wave(2.3), 0.2 + wave(0.7)],
                false => [(0.4 + swing) * x[1] * (2.0 - x[1]), 0.0, 0.0],
            };
            let p = 1.0 / 1.4 + wave(1.9);
            out[0].push(rho);
            (0..self.dim).for_each(|d| out[1 + d].push(rho * v[d]));
            let kinetic = 0.5 * rho * v[..self.dim].iter().map(|v| v * v).sum::<f64>();
            out[self.dim + 1].push(p / 0.4 + kinetic);
        }
    }
}

const INVISCID: Law = Law::Euler { gamma: 1.4, gas_constant: 1.0 };

fn viscous(mu: f64) -> Law {
    let (viscosity, gas) = (Viscosity::Constant { mu }, Euler { gamma: 1.4 });
    Law::NavierStokes(NavierStokes { gas, prandtl: 0.72, viscosity, gas_constant: 1.0, closure: None })
}

fn periodic(shape: Shape, n: usize) -> Arc<Mesh> {
    let mut mesh = generate::Box::unit(shape, n).build().unwrap();
    for (first, second) in &[("xmin", "xmax"), ("ymin", "ymax"), ("zmin", "zmax")][..mesh.dim] {
        mesh.make_periodic(first, second).unwrap();
    }
    Arc::new(mesh)
}

/// Implicit steps in a periodic box.
fn waves(shape: Shape, n: usize, order: usize, law: Law, scheme: Esdirk, tolerance: f64) -> Setup {
    let setup = Setup::new(periodic(shape, n), law, order);
    let implicit = Some(ImplicitSteps::new(scheme, tolerance));
    Setup { threads: 1, riemann: Riemann::Roe, implicit, ..setup }
}

/// Viscous flow over a wall with thin cells, under a far field that depends on time.
fn layer(scheme: Esdirk, tolerance: f64) -> Setup {
    let cells = [3, 5, 1];
    let mut mesh = generate::Box { cells, ..generate::Box::unit(Shape::Quadrilateral, 1) }.build().unwrap();
    mesh.map(|x| [x[0], x[1].powi(3), x[2]]).unwrap();
    mesh.make_periodic("xmin", "xmax").unwrap();
    let far = Arc::new(Stream { dim: 2, waves: 0.0 });
    let wall = BoundaryKind::NoSlipWall { velocity: None, temperature: None, data: None };
    let boundaries = [("ymin".to_owned(), wall), ("ymax".to_owned(), BoundaryKind::FarField(far))].into();
    let implicit = Some(ImplicitSteps::new(scheme, tolerance));
    let setup = Setup::new(Arc::new(mesh), viscous(0.01), 2);
    Setup { threads: 1, riemann: Riemann::Hllc, implicit, boundaries, ..setup }
}

fn start(setup: &Setup, waves: f64) -> Flow {
    Flow::new(setup.clone(), &Stream { dim: setup.mesh.dim(), waves }, 0.0).unwrap()
}

/// The state after `n` steps to the time `end`, from `from`.
fn after(setup: &Setup, from: &State, end: f64, n: usize) -> Vec<f64> {
    let mut flow = start(setup, 0.02);
    flow.restore(from).unwrap();
    let dt = (end - from.time) / n as f64;
    (0..n).for_each(|_| flow.step(dt).unwrap());
    flow.save().fields
}

fn distance(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt()
}

/// Checks the orders of both schemes from a state to a time, by `n` and `2 n` steps.
fn has_orders(name: &str, setup: &dyn Fn(Esdirk) -> Setup, from: &State, end: f64, n: usize, within: f64) {
    let exact = after(&setup(Esdirk::Esdirk43), from, end, 4 * n);
    for scheme in Esdirk::ALL {
        let errors = [n, 2 * n].map(|n| distance(&after(&setup(scheme), from, end, n), &exact));
        let found = (errors[0] / errors[1]).log2();
        let wanted = scheme.order() as f64;
        assert!((found - wanted).abs() < within, "{name}, {scheme}: {found:.2} {errors:?}");
    }
}

#[test]
fn orders_are_three_and_four_in_smooth_flow() {
    let setup = |scheme| waves(Shape::Quadrilateral, 3, 2, INVISCID, scheme, 1e-11);
    let from = start(&setup(Esdirk::Esdirk32), 0.02).save();
    has_orders("waves", &setup, &from, 0.4, 8, 0.25);
}

#[test]
fn orders_are_three_and_four_with_steps_of_a_thousand_explicit_ones() {
    let setup = |scheme| layer(scheme, 1e-10);
    let mut flow = start(&setup(Esdirk::Esdirk32), 0.0);
    // The flow has adapted to the wall before its error is measured.
    (0..20).for_each(|_| flow.step(0.02).unwrap());
    let times = 0.1 / flow.explicit_dt().unwrap();
    assert!(times > 1000.0, "{times}");
    // Third order is not quite reached by steps of this size.
    has_orders("layer", &setup, &flow.save(), 1.2, 8, 0.35);
}

#[test]
fn small_implicit_steps_are_those_of_explicit_ones_on_all_shapes() {
    use Shape::{Hexahedron, Prism, Quadrilateral, Tetrahedron, Triangle};
    for (shape, n, p) in
        [(Triangle, 3, 2), (Quadrilateral, 3, 3), (Tetrahedron, 2, 1), (Hexahedron, 2, 2), (Prism, 2, 1)]
    {
        let setup = waves(shape, n, p, viscous(1e-3), Esdirk::Esdirk43, 1e-11);
        let explicit = Setup { implicit: None, ..setup.clone() };
        let mut flow = start(&explicit, 0.02);
        let dt = 0.5 * flow.explicit_dt().unwrap();
        (0..4).for_each(|_| flow.step(0.5 * dt).unwrap());
        let (exact, before) = (flow.save().fields, start(&explicit, 0.02).save());
        let found = after(&setup, &before, 2.0 * dt, 2);
        let (error, change) = (distance(&found, &exact), distance(&before.fields, &exact));
        assert!(error < 1e-3 * change, "{shape:?}: {error:.1e} of {change:.1e}");
    }
}

/// Data on boundaries are those of the times of the stages.
#[test]
fn implicit_steps_follow_boundaries_that_depend_on_time() {
    let mesh = Arc::new(generate::Box::unit(Shape::Triangle, 3).build().unwrap());
    let far = Arc::new(Stream { dim: 2, waves: 0.0 });
    let sides = ["xmin", "xmax", "ymin", "ymax"];
    let boundaries = sides.map(|side| (side.to_owned(), BoundaryKind::FarField(far.clone()))).into();
    let implicit = Some(ImplicitSteps::new(Esdirk::Esdirk43, 1e-10));
    // With Rusanov's flux the far field has a jump where the flow along it turns from entering to leaving.
    let riemann = Riemann::Hllc;
    let setup = Setup { threads: 1, riemann, implicit, boundaries, ..Setup::new(mesh, INVISCID, 2) };
    let explicit = Setup { implicit: None, ..setup.clone() };
    let before = start(&explicit, 0.0).save();
    let (exact, found) = (after(&explicit, &before, 0.2, 200), after(&setup, &before, 0.2, 8));
    let (error, change) = (distance(&found, &exact), distance(&before.fields, &exact));
    assert!(error < 1e-3 * change, "{error:.1e} of {change:.1e}");
}

#[test]
fn totals_are_those_of_the_fluxes_whatever_newton_leaves() {
    // Far from solved, and with much that passes the boundary.
    for scheme in Esdirk::ALL {
        let mut flow = start(&layer(scheme, 1e-3), 0.0);
        let before = flow.conserved_totals();
        (0..5).for_each(|_| flow.step(0.05).unwrap());
        let change = (flow.conserved_totals()[1] - before[1]).abs();
        assert!(change > 1e-4, "{change:.1e}");
        let defects = flow.conservation();
        assert!(defects.iter().all(|(_, defect)| *defect < 1e-14), "{defects:?}");
    }
}

#[test]
fn a_restored_run_and_two_threads_have_the_same_bits() {
    let setup = layer(Esdirk::Esdirk43, 1e-7);
    // Steps of several sizes, so that the preconditioner is made anew on the way.
    let size = |i: usize| if i == 0 { 0.004 } else { 0.6 * (1 + i % 3) as f64 };
    let mut whole = start(&setup, 0.0);
    let mut saved = Vec::new();
    for i in 0..12 {
        saved.push(whole.save());
        whole.step(size(i)).unwrap();
    }
    let made = whole.newton_statistics().unwrap().setups;
    assert!(made > 1, "{made}");
    let end = whole.save();
    for (i, threads) in [(0, 2), (3, 1), (7, 1), (11, 2)] {
        let mut flow = start(&Setup { threads, ..setup.clone() }, 0.0);
        flow.restore(&saved[i]).unwrap();
        (i..12).for_each(|i| flow.step(size(i)).unwrap());
        assert!(flow.save().fields == end.fields, "from step {i}");
        assert_eq!(flow.save().tally, end.tally);
    }
}

#[test]
fn several_ranks_take_the_steps_of_one_to_the_last_bit() {
    // Triangles and quadrilaterals; steps of several sizes, attempts that are undone, a step without a
    // solution.
    let mut mesh =
        generate::MixedBox { dim: 2, min: [0.0; 3], max: [1.0; 3], cells: [4, 3, 0] }.build().unwrap();
    mesh.map(|x| [x[0], x[1].powi(2), x[2]]).unwrap();
    let implicit = Some(ImplicitSteps::new(Esdirk::Esdirk43, 1e-7));
    let thin = Setup { mesh: Arc::new(mesh).into(), ..layer(Esdirk::Esdirk43, 1e-7) };
    let sides = ["xmin", "xmax"]
        .map(|side| (side.to_owned(), BoundaryKind::FarField(Arc::new(Stream { dim: 2, waves: 0.0 }))));
    let boundaries = thin.boundaries.clone().into_iter().chain(sides).collect();
    let setup = Setup { boundaries, implicit, ..thin };
    let size = |i: usize| if i == 0 { 0.004 } else { 0.4 * (1 + i % 3) as f64 };
    let run = |setup: Setup, from: Option<&State>| {
        let mut flow = start(&setup, 0.0);
        from.iter().for_each(|from| flow.restore(from).unwrap());
        let (mut saved, mut errors) = (Vec::new(), Vec::new());
        for i in flow.steps()..7 {
            saved.push(flow.save());
            if i == 3 {
                let t = flow.time();
                errors.push(flow.try_step(1.0).unwrap());
                flow.undo_step(t);
                assert!(matches!(flow.step(1e9), Err(SystemError::Stage { .. })));
            }
            flow.step(size(i)).unwrap();
        }
        let counts = flow.newton_statistics().unwrap();
        let counts = [counts.steps, counts.linear_iterations, counts.products, counts.setups];
        saved.push(flow.save());
        (saved, errors, counts)
    };
    let (states, errors, counts) = run(setup.clone(), None);
    assert!(counts[3] > 1 && errors[0] > 0.0, "{counts:?} {errors:?}");
    for n in [2, 3] {
        let all = on_each(threads(n), |comm| {
            let comm: Arc<dyn Communicator> = Arc::new(comm);
            let setup = Setup { comm, ..setup.clone() };
            // From the state of one rank after two steps.
            let continued = run(setup.clone(), Some(&states[2]));
            (run(setup, None), continued)
        });
        for (rank, ((of_rank, found, took), continued)) in all.into_iter().enumerate() {
            assert_eq!((&found, &took), (&errors, &counts), "rank {rank} of {n}");
            if rank == 0 {
                assert!(of_rank == states, "{n} ranks");
                assert!(continued.0 == states[2..], "{n} ranks continue");
            }
        }
    }
}

#[test]
fn an_attempt_tells_its_error_and_can_be_undone() {
    for scheme in Esdirk::ALL {
        let mut flow = start(&waves(Shape::Triangle, 3, 2, INVISCID, scheme, 1e-9), 0.02);
        flow.step(0.02).unwrap();
        let (before, through) = (flow.save().fields, flow.conservation());
        let errors = [0.1, 0.05].map(|dt| {
            let error = flow.try_step(dt).unwrap();
            flow.undo_step(0.02);
            error
        });
        assert_eq!((before, through), (flow.save().fields, flow.conservation()));
        assert!(errors[1] > 0.0 && errors[0] > 5.0 * errors[1], "{scheme}: {errors:?}");
    }
}

#[test]
fn a_step_that_newton_cannot_take_says_so_and_leaves_the_state() {
    let mut flow = start(&waves(Shape::Triangle, 3, 1, INVISCID, Esdirk::Esdirk32, 1e-8), 0.4);
    let before = flow.save().fields;
    let error = flow.step(1e4).unwrap_err();
    assert!(matches!(error, SystemError::Stage { .. }), "{error}");
    assert!(error.to_string().contains("no solution is found for a step of size 1.0000e4"), "{error}");
    assert_eq!(before, flow.save().fields);
    assert!(flow.try_step(1e4).unwrap().is_nan());
    flow.undo_step(0.0);
    assert_eq!((before, flow.time(), flow.steps()), (flow.save().fields, 0.0, 0));
}

#[test]
fn set_ups_without_implicit_steps_are_told_why() {
    let setup = waves(Shape::Triangle, 2, 1, INVISCID, Esdirk::Esdirk32, 1e-8);
    assert_eq!(lacks_in_time(&setup), None);
    let single = Setup { precision: dgsuite_solve::flow::Precision::Single, ..setup.clone() };
    let said = lacks_in_time(&single).unwrap();
    assert!(said.contains("`precision: double`") && said.contains("explicit `time.scheme`"), "{said}");
    assert!(Flow::new(single, &Stream { dim: 2, waves: 0.0 }, 0.0).is_err());
    let split = setup.split(dgsuite_solve::flow::SplitFlux::Ranocha);
    assert_eq!(lacks_in_time(&split), None);
}
