//! The errors of the isentropic vortex in a periodic box agree with those of an independent code.

use dgsuite_mesh::generate::{Box as Square, Diagonal};
use dgsuite_mesh::{Shape, SpaceFillingCurve};
use dgsuite_physics::exact::{Context, Model, by_name};
use dgsuite_solve::flow::{Flow, Law, Setup};
use std::sync::Arc;

/// Errors of the conserved variables at `t = 10`, and the conservation defects.
fn run(p: usize, n: usize) -> (Vec<f64>, Vec<f64>) {
    let mut mesh = Square {
        shape: Shape::Triangle,
        min: [-5.0, -5.0, 0.0],
        max: [5.0, 5.0, 0.0],
        cells: [n, n, 1],
        diagonal: Diagonal::Anti,
    }
    .build()
    .expect("a square");
    mesh.make_periodic("xmin", "xmax").expect("periodic in x");
    mesh.make_periodic("ymin", "ymax").expect("periodic in y");
    mesh.renumber(SpaceFillingCurve::Hilbert);
    let context = Context { dim: 2, model: Model::Euler { gamma: 1.4 }, period: [10.0, 10.0, 0.0] };
    let vortex = by_name("isentropic-vortex", &Default::default(), &context).expect("a known solution");
    let setup = Setup::new(Arc::new(mesh), Law::Euler { gamma: 1.4, gas_constant: 1.0 }, p);
    let mut solver = Flow::new(setup, vortex.as_ref(), 0.0).expect("a solver");
    let steps = (10.0 / (0.5 * solver.stable_dt().expect("a gas"))).ceil();
    for _ in 0..steps as usize {
        solver.step(10.0 / steps).expect("a step");
    }
    solver.stable_dt().expect("still a gas");
    let errors = solver.errors(vortex.as_ref(), 10.0);
    (errors.l2[..4].to_vec(), solver.conservation().into_iter().map(|c| c.1).collect())
}

#[test]
fn errors_are_those_of_an_independent_code() {
    let table = include_str!("../data/reference/isentropic-vortex-rusanov.csv");
    let rows = table.lines().filter(|l| l.starts_with(|c: char| c.is_ascii_digit()));
    let mut compared = 0;
    for row in rows {
        let values: Vec<f64> = row.split(',').map(|v| v.parse().expect("a number")).collect();
        let (p, n) = (values[0] as usize, values[1] as usize);
        if p > 3 || n > 32 {
            continue;
        }
        let (errors, conservation) = run(p, n);
        for (k, (e, reference)) in errors.iter().zip(&values[2..]).enumerate() {
            let ratio = e / reference;
            assert!(
                (0.75..1.25).contains(&ratio),
                "p = {p}, N = {n}, variable {k}: {e:.3e}, not {reference:.3e}"
            );
        }
        assert!(conservation.iter().all(|c| *c < 1e-13), "p = {p}, N = {n}: conservation {conservation:?}");
        compared += 1;
    }
    assert_eq!(compared, 6);
}
