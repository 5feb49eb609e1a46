//! The interior penalty operator: comparison with its matrix, manufactured solutions, general properties.
//!
//! With `DGSUITE_FULL=1` the tests run orders 1 to 6, otherwise a few.

mod boundary_points;
mod continuous;
mod convergence;
mod linelets;
mod operator;
mod places;
pub(crate) mod ranks;
mod reaction;
mod transfer;

use dgsuite_gpu::Host;
use dgsuite_mesh::{Mesh, Shape, generate};
use dgsuite_ops::{EllipticBoundary, Sipdg, SipdgOptions};
use std::sync::Arc;

/// Whether the long versions run.
pub(crate) fn full() -> bool {
    std::env::var_os("DGSUITE_FULL").is_some_and(|v| v == "1")
}

/// A machine with the given number of threads.
pub(crate) fn host(threads: usize) -> Arc<Host> {
    Arc::new(Host::new(threads).expect("a machine"))
}

/// The unit square or cube of one shape, or of all shapes of the dimension (`None`).
pub(crate) fn unit(shape: Option<Shape>, dim: usize, n: usize) -> Mesh {
    match shape {
        Some(shape) => generate::Box::unit(shape, n).build(),
        None => {
            let cells = if dim == 2 { [n.max(2), n, 1] } else { [5 * n.div_ceil(2), n, n] };
            generate::MixedBox { dim, min: [0.0; 3], max: [1.0; 3], cells }.build()
        }
    }
    .expect("a box")
}

/// Deforms the unit box by a smooth map to itself that curves all inner elements.
pub(crate) fn bend(mesh: &mut Mesh, order: usize) {
    bend_from(mesh, order, 0.0, 0.06);
}

/// As [`bend`], for elements beyond `x = from`, by at most `size` in each direction; elements before it stay
/// affine.
pub(crate) fn bend_from(mesh: &mut Mesh, order: usize, from: f64, size: f64) {
    mesh.elevate(order).expect("elevation");
    let s = |x: f64| (std::f64::consts::PI * x).sin();
    let dim = mesh.dim;
    mesh.map(|[x, y, z]| {
        let b = size * s(((x - from) / (1.0 - from)).max(0.0)) * s(y) * if dim == 3 { s(z) } else { 1.0 };
        [x + b, y - b, if dim == 3 { z + b } else { z }]
    })
    .expect("a map that does not fold");
}

/// Deforms boxes into parallelograms.
pub(crate) fn shear(mesh: &mut Mesh) {
    let dim = mesh.dim;
    mesh.map(|[x, y, z]| [x + 0.3 * y, y + 0.1 * x, if dim == 3 { z + 0.2 * x } else { z }]).expect("affine");
}

/// The same condition on all boundaries.
pub(crate) fn everywhere(mesh: &Mesh, condition: EllipticBoundary) -> Vec<(String, EllipticBoundary)> {
    mesh.boundary_names().iter().map(|n| ((*n).to_owned(), condition)).collect()
}

/// κ = 1, λ = 0.
pub(crate) fn poisson(mesh: &Arc<Mesh>, order: usize, condition: EllipticBoundary) -> Sipdg<f64> {
    let boundaries = everywhere(mesh, condition);
    let options = SipdgOptions::new(order);
    Sipdg::new(Arc::clone(mesh), &options, &|_, _| 1.0, &|_, _| 0.0, &boundaries, host(1))
        .expect("an operator")
}

/// Pseudo-random numbers between −1 and 1.
pub(crate) fn noise(n: usize, seed: u64) -> Vec<f64> {
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    (0..n)
        .map(|_| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            (state >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
        })
        .collect()
}

/// `a·b`.
pub(crate) fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// Solves by conjugate gradients with block Jacobi; returns the solution and the number of iterations.
pub(crate) fn solve(a: &Sipdg<f64>, b: &[f64], tolerance: f64) -> (Vec<f64>, usize) {
    let blocks = a.block_inverses().expect("regular blocks");
    let n = a.len();
    let (mut x, mut r, mut z, mut ap) = (vec![0.0; n], b.to_vec(), vec![0.0; n], vec![0.0; n]);
    blocks.apply(&r, &mut z);
    let mut p = z.clone();
    let mut rz = dot(&r, &z);
    let target = tolerance * rz.sqrt();
    for iteration in 0..10_000 {
        if rz.sqrt() <= target {
            return (x, iteration);
        }
        a.apply(&p, &mut ap);
        let alpha = rz / dot(&p, &ap);
        for i in 0..n {
            x[i] += alpha * p[i];
            r[i] -= alpha * ap[i];
        }
        blocks.apply(&r, &mut z);
        let next = dot(&r, &z);
        for i in 0..n {
            p[i] = z[i] + next / rz * p[i];
        }
        rz = next;
    }
    panic!("no convergence: {:e} of {:e}", rz.sqrt(), target);
}

/// Every shape and the mixtures of both dimensions, with a number of cells for small meshes.
pub(crate) const SHAPES: [(Option<Shape>, usize, usize); 8] = [
    (Some(Shape::Triangle), 2, 3),
    (Some(Shape::Quadrilateral), 2, 3),
    (None, 2, 2),
    (Some(Shape::Tetrahedron), 3, 2),
    (Some(Shape::Hexahedron), 3, 2),
    (Some(Shape::Prism), 3, 2),
    (Some(Shape::Pyramid), 3, 1),
    (None, 3, 1),
];
