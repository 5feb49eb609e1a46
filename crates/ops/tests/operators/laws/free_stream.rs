//! Free-stream preservation: a uniform flow stays uniform on every mesh, with every scheme.

use crate::testkit::{Cells, PLANE, SPACE, State, euler, mesh, schemes};
use dgsuite_ops::Form;
use std::sync::Arc;

fn largest_rate(
    cells: Cells,
    n: usize,
    geometry: usize,
    p: usize,
    periodic: bool,
) -> Vec<(&'static str, f64)> {
    let mesh = mesh(cells, n, geometry, periodic);
    let dim = cells.dim();
    let uniform: Arc<dyn dgsuite_physics::Exact> = Arc::new(State(dim + 2, move |_, _| {
        let mut w = vec![1.1, 0.4, -0.3];
        w.resize(dim + 1, 0.2);
        w.push(0.9);
        w
    }));
    schemes(cells, p)
        .into_iter()
        // Split forms need a geometry that is in the space.
        .filter(|(_, scheme)| scheme.form != Form::Split || geometry <= p)
        .map(|(name, scheme)| {
            let mut d = euler::<f64>(&mesh, &scheme, Some(&uniform), 1);
            let mut u = vec![0.0; d.len()];
            d.project(uniform.as_ref(), 0.0, &mut u);
            let mut du = vec![0.0; d.len()];
            d.eval(0.0, &u, &mut du);
            // Measured as a function: coefficients of a Taylor basis are derivatives, which are large.
            let square = |_: [f64; 3], rate: &[f64], out: &mut [f64]| {
                out.iter_mut().zip(rate).for_each(|(square, x)| *square = x * x);
            };
            let (squares, _) = d.integrate(&du, 2 * p, dim + 2, square);
            (name, squares.into_iter().fold(0.0, f64::max).sqrt())
        })
        .collect()
}

#[test]
fn free_stream_is_kept_on_affine_meshes() {
    for cells in PLANE.into_iter().chain(SPACE) {
        for p in [1, 3] {
            for periodic in [true, false] {
                for (name, rate) in largest_rate(cells, 2, 1, p, periodic) {
                    assert!(rate < 1e-11, "{cells:?} p = {p} periodic {periodic} {name}: {rate:.2e}");
                }
            }
        }
    }
}

#[test]
fn free_stream_is_kept_on_curved_meshes() {
    for cells in PLANE {
        for (p, geometry) in [(2, 2), (3, 3), (4, 4), (2, 4)] {
            for (name, rate) in largest_rate(cells, 4, geometry, p, false) {
                assert!(rate < 2e-11, "{cells:?} p = {p}, geometry {geometry}, {name}: {rate:.2e}");
            }
        }
    }
    // The nodes of prisms preserve it at order 3, those of tetrahedra do not.
    for cells in SPACE.into_iter().chain([Cells::Stacked]) {
        let geometries: &[(usize, usize)] = if cells.has_pyramids() { &[(2, 2)] } else { &[(2, 2), (3, 3)] };
        for &(p, geometry) in geometries {
            for (name, rate) in largest_rate(cells, 2, geometry, p, false) {
                assert!(rate < 2e-11, "{cells:?} p = {p}, geometry {geometry}, {name}: {rate:.2e}");
            }
        }
    }
}
