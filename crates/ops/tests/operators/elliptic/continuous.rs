//! The continuous functions of order 1 that an operator offers as a coarser level.

use crate::elliptic::{dot, everywhere, host};
use dgsuite_mesh::{Mesh, Shape, generate::Box as Square};
use dgsuite_ops::elliptic::VertexInterpolation;
use dgsuite_ops::{EllipticBoundary, Sipdg, SipdgOptions};
use std::sync::Arc;

fn operator(mesh: &Arc<Mesh>, options: SipdgOptions) -> Sipdg<f64> {
    let boundaries = everywhere(mesh, EllipticBoundary::Neumann);
    Sipdg::new(Arc::clone(mesh), &options, &|_, _| 1.0, &|_, _| 0.0, &boundaries, host(1))
        .expect("an operator")
}

/// `P v`.
fn interpolate(p: &VertexInterpolation, v: &[f64]) -> Vec<f64> {
    let row = |at: &[usize]| (at[0]..at[1]).map(|k| p.values[k] * v[p.columns[k] as usize]).sum();
    p.starts.windows(2).map(row).collect()
}

/// A function of vertices is continuous: its energy contains no jumps, so that doubling the penalty does
/// not change it; linear functions are reproduced.
#[test]
fn functions_of_vertices_are_continuous_and_linear_functions_are_among_them() {
    for (shape, vertices) in [
        (Shape::Triangle, 16),
        (Shape::Quadrilateral, 16),
        (Shape::Tetrahedron, 64),
        (Shape::Hexahedron, 64),
        (Shape::Prism, 64),
    ] {
        let mesh = Arc::new(Square::unit(shape, 3).build().expect("a box"));
        for order in [1, 3] {
            let a = operator(&mesh, SipdgOptions::new(order));
            let p = a.vertex_interpolation();
            assert_eq!((p.n_vertices, p.starts.len()), (vertices, a.len() + 1), "{shape:?}");
            // The points of the mesh in the order in which elements use them.
            let mut points: Vec<u32> = Vec::new();
            for element in 0..mesh.n_elements() {
                for point in mesh.element_vertices(element) {
                    if !points.contains(&point) {
                        points.push(point);
                    }
                }
            }
            let linear = |x: [f64; 3]| 1.0 + 2.0 * x[0] - 3.0 * x[1] + 0.5 * x[2];
            let values: Vec<f64> = points.iter().map(|&point| linear(mesh.points[point as usize])).collect();
            let (found, expected) = (interpolate(&p, &values), a.project(&|_, x| linear(x)));
            let worst = found.iter().zip(&expected).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
            assert!(worst < 1e-12, "{shape:?} {order}: {worst}");
            let hat: Vec<f64> = (0..vertices).map(|v| (v as f64).sin()).collect();
            let u = interpolate(&p, &hat);
            let energy = |a: &Sipdg<f64>| {
                let mut au = vec![0.0; u.len()];
                a.apply(&u, &mut au);
                dot(&u, &au)
            };
            let other = operator(&mesh, SipdgOptions { order, penalty: 2.0 });
            let (one, two) = (energy(&a), energy(&other));
            assert!((one - two).abs() < 1e-11 * one, "{shape:?} {order}: {one} {two}");
        }
    }
}

#[test]
fn periodic_vertices_are_one() {
    for (shape, dim) in [(Shape::Triangle, 2), (Shape::Quadrilateral, 2), (Shape::Tetrahedron, 3)] {
        let mut mesh = Square::unit(shape, 4).build().expect("a box");
        for pair in [["xmin", "xmax"], ["ymin", "ymax"], ["zmin", "zmax"]].iter().take(dim) {
            mesh.make_periodic(pair[0], pair[1]).expect("opposite sides");
        }
        let p = operator(&Arc::new(mesh), SipdgOptions::new(1)).vertex_interpolation();
        assert_eq!(p.n_vertices, 4_usize.pow(dim as u32), "{shape:?}");
    }
}
