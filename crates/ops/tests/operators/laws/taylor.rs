//! Taylor polynomials span the same space as modes of a total degree, at every order.

use crate::testkit::{Cells, PLANE, SPACE, euler, mesh, wavy};
use dgsuite_basis::{Polynomials, Representation, Shape};
use dgsuite_ops::{MetricRule, Sample, Scheme};
use dgsuite_physics::Exact;
use std::sync::Arc;

/// Samples of the projected state and of its residual.
fn samples(cells: Cells, geometry: usize, scheme: &Scheme) -> [Vec<Sample>; 2] {
    let mesh = mesh(cells, if cells.dim() == 2 { 2 } else { 1 }, geometry, false);
    let data: Arc<dyn Exact> = Arc::new(wavy(cells.dim()));
    let mut d = euler::<f64>(&mesh, scheme, Some(&data), 1);
    let (mut u, mut du) = (vec![0.0; d.len()], vec![0.0; d.len()]);
    d.project(data.as_ref(), 0.0, &mut u);
    d.eval(0.0, &u, &mut du);
    [d.sample(&u, 3), d.sample(&du, 3)]
}

/// Rounding relative to the largest value, in the state and in its residual: the closer the shape is to a
/// box, the better conditioned are the monomials.
fn rounding(cells: Cells) -> [f64; 2] {
    match cells {
        Cells::Of(Shape::Quadrilateral | Shape::Hexahedron) => [1e-11, 1e-9],
        Cells::Of(Shape::Tetrahedron) => [1e-8, 1e-5],
        _ => [1e-9, 3e-6],
    }
}

#[test]
fn taylor_polynomials_are_modes_of_a_total_degree_up_to_order_10() {
    let [triangles, quadrilaterals, _] = PLANE;
    let [tetrahedra, hexahedra, prisms, ..] = SPACE;
    let plane = [triangles, quadrilaterals].map(|cells| [(cells, 9, 1), (cells, 10, 2)]);
    let space = [tetrahedra, hexahedra, prisms].map(|cells| (cells, 9, 1));
    for (cells, p, geometry) in plane.into_iter().flatten().chain(space) {
        for metric in [None, Some(MetricRule::Stored)].into_iter().take(geometry) {
            let modal = Scheme { polynomials: Some(Polynomials::Total), metric, ..Scheme::modal(p) };
            let taylor = Scheme { representation: Representation::Taylor, ..modal };
            let both = samples(cells, geometry, &taylor).into_iter().zip(samples(cells, geometry, &modal));
            for ((found, expected), tolerance) in both.zip(rounding(cells)) {
                let values = |samples: Vec<Sample>| samples.into_iter().flat_map(|s| s.values.concat());
                let (mut worst, mut size) = (0.0_f64, 0.0_f64);
                for (a, b) in values(found).zip(values(expected)) {
                    assert!(a.is_finite());
                    worst = worst.max((a - b).abs());
                    size = size.max(b.abs());
                }
                assert!(worst < tolerance * size, "{cells:?} p = {p} {metric:?}: {:.1e}", worst / size);
            }
        }
    }
}
