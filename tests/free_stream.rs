//! A uniform flow stays uniform over a thousand steps, on curved and mixed meshes.

use dgsuite_mesh::Mesh;
use dgsuite_mesh::generate::MixedBox;
use dgsuite_physics::Exact;
use dgsuite_physics::exact::{Context, Model, by_name};
use dgsuite_solve::flow::{BoundaryKind, Flow, Law, Setup};
use std::collections::BTreeMap;
use std::sync::Arc;

fn mixed(dim: usize) -> Mesh {
    let cells = if dim == 2 { [6, 6, 1] } else { [5, 2, 2] };
    let mut mesh = MixedBox { dim, min: [-1.0; 3], max: [1.0; 3], cells }.build().expect("a box");
    mesh.elevate(2).expect("curved cells");
    mesh.map(|[x, y, z]| {
        let bump = 0.04 * (2.0 * x).sin() * (3.0 * y).cos() * (1.0 + 0.5 * z);
        [x + bump, y - bump, z + if dim == 3 { 0.5 * bump } else { 0.0 }]
    })
    .expect("a curved mesh");
    mesh
}

fn largest_error(dim: usize, collocated: bool) -> f64 {
    let mesh = mixed(dim);
    let context = Context { dim, model: Model::Euler { gamma: 1.4 }, period: [0.0; 3] };
    let given: BTreeMap<String, f64> = [("u".to_owned(), 0.5), ("v".to_owned(), -0.3)].into();
    let uniform: Arc<dyn Exact> = Arc::from(by_name("uniform", &given, &context).expect("a known solution"));
    let boundaries = mesh
        .boundary_names()
        .into_iter()
        .map(|b| (b.to_owned(), BoundaryKind::FarField(uniform.clone())))
        .collect();
    let setup =
        Setup { boundaries, ..Setup::new(Arc::new(mesh), Law::Euler { gamma: 1.4, gas_constant: 1.0 }, 2) };
    let setup = if collocated { setup.collocated() } else { setup };
    let mut solver = Flow::new(setup, uniform.as_ref(), 0.0).expect("a solver");
    let dt = 0.1 * solver.stable_dt().expect("a gas");
    for _ in 0..1000 {
        solver.step(dt).expect("a step");
    }
    let norms = solver.errors(uniform.as_ref(), solver.time());
    norms.l2.into_iter().fold(0.0, f64::max)
}

#[test]
fn a_uniform_flow_stays_uniform() {
    for (dim, collocated) in [(2, false), (2, true), (3, false)] {
        let error = largest_error(dim, collocated);
        assert!(error < 1e-12, "{dim} dimensions, collocated {collocated}: {error:.2e}");
    }
}
