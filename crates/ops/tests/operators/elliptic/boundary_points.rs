//! Points of boundaries: values, derivatives, `n·∇×∇×u` and loads, against functions and right-hand sides.

use crate::elliptic::{SHAPES, bend, poisson, shear, unit};
use dgsuite_mesh::Mesh;
use dgsuite_ops::EllipticBoundary;
use dgsuite_ops::elliptic::Triplet;
use std::sync::Arc;

fn product(matrix: &[Triplet], x: &[f64], rows: usize) -> Vec<f64> {
    let mut y = vec![0.0; rows];
    matrix.iter().for_each(|&(i, j, v)| y[i] += v * x[j]);
    y
}

fn gap(a: &[f64], b: &[f64]) -> f64 {
    assert_eq!(a.len(), b.len());
    a.iter().zip(b).fold(0.0, |m, (x, y)| m.max((x - y).abs()))
}

fn meshes(curved: bool) -> impl Iterator<Item = Mesh> {
    SHAPES.into_iter().map(move |(shape, dim, n)| {
        let mut mesh = unit(shape, dim, n);
        if curved {
            bend(&mut mesh, 2);
        } else {
            shear(&mut mesh);
        }
        mesh
    })
}

/// `u_c` and `∂u_c/∂x_d` of a vector field of degree 2.
fn field(c: usize, x: [f64; 3]) -> f64 {
    let [x, y, z] = x;
    [x * y + 0.5 * y * y - z * z, x * x - 2.0 * y * z + x, 3.0 * x * z + y * y + 0.25 * z * z][c]
}

fn slope(c: usize, d: usize, x: [f64; 3]) -> f64 {
    let [x, y, z] = x;
    [[y, x + y, -2.0 * z], [2.0 * x + 1.0, -2.0 * z, -2.0 * y], [3.0 * z, 2.0 * y, 3.0 * x + 0.5 * z]][c][d]
}

/// `∇×∇×u = ∇(∇·u) − Δu` of the field; in two dimensions without z.
fn double_curl(dim: usize) -> [f64; 3] {
    let laplacian = [1.0 - if dim == 3 { 2.0 } else { 0.0 }, 2.0, 2.5];
    // ∇·u = y − 2z + 3x + z/2 in three dimensions, y in two.
    let gradient = if dim == 3 { [3.0, 1.0, -1.5] } else { [0.0, 1.0, 0.0] };
    [0, 1, 2].map(|d| if d < dim { gradient[d] - laplacian[d] } else { 0.0 })
}

#[test]
fn evaluations_of_a_quadratic_field_are_exact_on_affine_elements() {
    for mesh in meshes(false) {
        let (mesh, dim) = (Arc::new(mesh), 2);
        let dim = mesh.dim.max(dim);
        let a = poisson(&mesh, 2, EllipticBoundary::Neumann);
        let on = a.boundary_points(&["xmin", "nowhere", "ymax"]);
        assert!(on.boundary.contains(&0) && on.boundary.contains(&2) && !on.is_empty());
        let mut curl = vec![0.0; on.len()];
        for c in 0..dim {
            let u = a.project(&|_, x| field(c, x));
            let exact: Vec<f64> = on.points.iter().map(|&x| field(c, x)).collect();
            assert!(gap(&product(&on.value(), &u, on.len()), &exact) < 1e-12);
            for d in 0..dim {
                let exact: Vec<f64> = on.points.iter().map(|&x| slope(c, d, x)).collect();
                assert!(gap(&product(&on.derivative(d), &u, on.len()), &exact) < 1e-11, "{c} {d}");
            }
            for (sum, v) in curl.iter_mut().zip(product(&on.double_curl(c), &u, on.len())) {
                *sum += v;
            }
        }
        let of_field = double_curl(dim);
        let exact: Vec<f64> = on.normals.iter().map(|n| (0..3).map(|d| n[d] * of_field[d]).sum()).collect();
        assert!(gap(&curl, &exact) < 1e-9, "{:e}", gap(&curl, &exact));
    }
}

#[test]
fn loads_are_the_boundary_terms_of_the_right_hand_side() {
    let g = |_: usize, x: [f64; 3]| (2.0 * x[0] - x[1]).sin() + x[2];
    for curved in [false, true] {
        for mesh in meshes(curved) {
            let mesh = Arc::new(mesh);
            for condition in [EllipticBoundary::Dirichlet, EllipticBoundary::Neumann] {
                let a = poisson(&mesh, 3, condition);
                let names: Vec<&str> = mesh.boundary_names();
                let on = a.boundary_points(&names);
                let data: Vec<f64> = on.points.iter().map(|&x| g(0, x)).collect();
                let load =
                    if condition == EllipticBoundary::Dirichlet { on.dirichlet_load() } else { on.load() };
                let wanted = a.right_hand_side(&|_, _| 0.0, &vec![&g as &_; names.len()]);
                let scale = wanted.iter().fold(0.0_f64, |m, v| m.max(v.abs()));
                assert!(gap(&product(&load, &data, a.len()), &wanted) < 1e-13 * scale);
            }
        }
    }
}

/// The projection of ω lowers the order of `n·∇×∇×u` on curved elements, but not its convergence.
#[test]
fn the_double_curl_converges_on_curved_elements() {
    let error = |n: usize| {
        let mut mesh = unit(Some(dgsuite_mesh::Shape::Triangle), 2, n);
        bend(&mut mesh, 2);
        let mesh = Arc::new(mesh);
        let a = poisson(&mesh, 4, EllipticBoundary::Neumann);
        let on = a.boundary_points(&["xmin"]);
        // u = (sin y, cos x): ω = −sin x − cos y, ∇×ω = (∂ω/∂y, −∂ω/∂x) = (sin y, cos x).
        let u = [a.project(&|_, x| x[1].sin()), a.project(&|_, x| x[0].cos())];
        let mut curl = vec![0.0; on.len()];
        for (c, u) in u.iter().enumerate() {
            for (sum, v) in curl.iter_mut().zip(product(&on.double_curl(c), u, on.len())) {
                *sum += v;
            }
        }
        let exact: Vec<f64> =
            on.points.iter().zip(&on.normals).map(|(x, n)| n[0] * x[1].sin() + n[1] * x[0].cos()).collect();
        gap(&curl, &exact)
    };
    let (coarse, fine) = (error(4), error(8));
    assert!(fine < 1e-3 && coarse / fine > 5.0, "{coarse:e} {fine:e}");
}
