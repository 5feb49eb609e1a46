//! Warp & blend nodes on triangles and tetrahedra.
//!
//! The equispaced lattice is moved so that its edges become Gauss–Lobatto points. The displacement of each
//! edge is blended into the faces, and the displacement of each face into the volume, with an exponent chosen
//! for each order to make the Lebesgue constant small.
//!
//! Source: Warburton, "An explicit construction of interpolation nodes on the simplex", Journal of
//! Engineering Mathematics 56 (2006) 247–262; blending parameters as tabulated with the codes of
//! Hesthaven & Warburton (2008), `Nodes2D` and `Nodes3D`.

use crate::{Shape, jacobi, lattice};

/// Blending parameters of the triangle for orders 1 to 15.
const ALPHA_TRIANGLE: [f64; 15] = [
    0.0, 0.0, 1.4152, 0.1001, 0.2751, 0.9800, 1.0999, 1.2832, 1.3648, 1.4773, 1.4959, 1.5743, 1.5770, 1.6223,
    1.6258,
];

/// Blending parameters of the tetrahedron for orders 1 to 15.
const ALPHA_TETRAHEDRON: [f64; 15] = [
    0.0, 0.0, 0.0, 0.1002, 1.1332, 1.5608, 1.3413, 1.2577, 1.1603, 1.10153, 0.6080, 0.4523, 0.8856, 0.8717,
    0.9655,
];

/// Warp & blend nodes of order `n ≥ 1` in lattice order, on the triangle as a cell.
pub(super) fn triangle(n: usize) -> Vec<[f64; 3]> {
    on_triangle(n, ALPHA_TRIANGLE.get(n - 1).copied().unwrap_or(5.0 / 3.0))
}

/// The nodes of a tetrahedron of order `n ≥ 1` on its faces: those of a triangle, with the tetrahedron's
/// blending parameter.
pub(super) fn tetrahedron_face(n: usize) -> Vec<[f64; 3]> {
    on_triangle(n, alpha_tetrahedron(n))
}

/// Warp & blend nodes of order `n ≥ 1` in lattice order, on the tetrahedron.
pub(super) fn tetrahedron(n: usize) -> Vec<[f64; 3]> {
    let (warp, alpha) = (Warp::new(n), alpha_tetrahedron(n));
    lattice::lattice_indices(Shape::Tetrahedron, n)
        .into_iter()
        .map(|[i, j, k]| {
            let l = [n - i - j - k, i, j, k].map(|c| c as f64 / n as f64);
            let shift = warp.volume(alpha, l);
            // Each reference coordinate from its own barycentric one: exactly −1 on its face.
            std::array::from_fn(|d| 2.0 * (l[d + 1] + shift[d + 1]) - 1.0)
        })
        .collect()
}

fn alpha_tetrahedron(n: usize) -> f64 {
    ALPHA_TETRAHEDRON.get(n - 1).copied().unwrap_or(1.0)
}

fn on_triangle(n: usize, alpha: f64) -> Vec<[f64; 3]> {
    let warp = Warp::new(n);
    lattice::lattice_indices(Shape::Triangle, n)
        .into_iter()
        .map(|[i, j, _]| {
            let l = [n - i - j, i, j].map(|c| c as f64 / n as f64);
            let shift = warp.face(alpha, l);
            [2.0 * (l[1] + shift[1]) - 1.0, 2.0 * (l[2] + shift[2]) - 1.0, 0.0]
        })
        .collect()
}

/// The one-dimensional displacement from equispaced to Gauss–Lobatto points.
struct Warp {
    equispaced: Vec<f64>,
    displacement: Vec<f64>,
}

impl Warp {
    fn new(n: usize) -> Self {
        let equispaced: Vec<f64> = (0..=n).map(|i| (2.0 * i as f64 - n as f64) / n as f64).collect();
        let (lobatto, _) = jacobi::gauss_lobatto(n + 1);
        let displacement = lobatto.iter().zip(&equispaced).map(|(x, e)| x - e).collect();
        Self { equispaced, displacement }
    }

    /// The displacement interpolated at `x`, divided by `1 − x²`; zero at the ends.
    fn scaled(&self, x: f64) -> f64 {
        if x.abs() > 1.0 - 1e-10 {
            return 0.0;
        }
        let e = &self.equispaced;
        let mut sum = 0.0;
        for (i, d) in self.displacement.iter().enumerate() {
            let others = (0..e.len()).filter(|&j| j != i);
            sum += d * others.map(|j| (x - e[j]) / (e[i] - e[j])).product::<f64>();
        }
        sum / (1.0 - x * x)
    }

    /// Displacement of the barycentric coordinates of a triangle: along each of its edges, times
    /// `1 + (α λ)²` with `λ` the coordinate that vanishes there.
    fn face(&self, alpha: f64, l: [f64; 3]) -> [f64; 3] {
        let mut shift = [0.0; 3];
        for a in 0..3 {
            let (b, c) = ((a + 1) % 3, (a + 2) % 3);
            let along = 4.0 * l[b] * l[c] * self.scaled(l[c] - l[b]) * (1.0 + (alpha * l[a]).powi(2));
            shift[c] += 0.5 * along;
            shift[b] -= 0.5 * along;
        }
        shift
    }

    /// Displacement of the barycentric coordinates of a tetrahedron: each face's, blended inwards.
    fn volume(&self, alpha: f64, l: [f64; 4]) -> [f64; 4] {
        let mut shift = [0.0; 4];
        let on_edge = l.iter().filter(|&&x| x == 0.0).count() >= 2;
        for a in 0..4 {
            let others = [(a + 1) % 4, (a + 2) % 4, (a + 3) % 4];
            let of_face = self.face(alpha, others.map(|b| l[b]));
            let blend = if on_edge {
                // The product formula is 0/0 on edges; there every face gives the same displacement.
                if l[a] != 0.0 {
                    continue;
                }
                1.0
            } else {
                let product: f64 = others.iter().map(|&b| l[b] / (l[b] + 0.5 * l[a])).product();
                product * (1.0 + (alpha * l[a]).powi(2))
            };
            for (b, s) in others.into_iter().zip(of_face) {
                shift[b] += blend * s;
            }
            if on_edge {
                break;
            }
        }
        shift
    }
}
