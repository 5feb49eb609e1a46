//! The matrix of the symmetric interior penalty method on triangles, at degree 1.

use crate::{Csr, MatrixError};

/// Rows of the matrix of a reference triangle: `∫ φ_k` over each edge, with n·∇φ_l on it times its length.
///
/// Triangle (0,0), (1,0), (0,1) with the edges 01, 12, 20. The other triangle of a square is this one rotated
/// by 180° about the midpoint of edge 12, and all of these numbers are the same for it.
const ENDS: [[usize; 2]; 3] = [[0, 1], [1, 2], [2, 0]];
/// `|f| n·∇φ_l`.
const SLOPE: [[f64; 3]; 3] = [[1.0, 0.0, -1.0], [-2.0, 1.0, 1.0], [1.0, -1.0, 0.0]];
/// `|f|²`.
const SQUARE: [f64; 3] = [1.0, 2.0, 1.0];
/// `∫ ∇φ_k·∇φ_l`.
const STIFFNESS: [[f64; 3]; 3] = [[1.0, -0.5, -0.5], [-0.5, 0.5, 0.0], [-0.5, 0.0, 0.5]];

/// `−Δu` with u = 0 on the boundary of a square, by the symmetric interior penalty method (Arnold 1982) at
/// degree 1, with vertex values as unknowns: n × n squares, each split into two triangles, three rows for
/// each triangle.
///
/// ```text
/// a(u, v) = Σ_E ∫ ∇u·∇v − Σ_f ∫ ({n·∇u} [v] + {n·∇v} [u] − τ [u] [v]),    τ = penalty · 3 |f|/|E|
/// ```
///
/// with means {·} and jumps [·]. On the boundary of the square {n·∇u} = n·∇u, \[u\] = u, and the penalty is
/// twice as large, as if the neighbour were a mirror image. The factor `3 |f|/|E|` is `(p+1)(p+2)/2` divided
/// by a height of the triangle (Shahbazi 2005); `penalty = 1` is usual, and ½ is still positive definite.
///
/// # Errors
/// [`MatrixError::TooLarge`], or [`MatrixError::NotFinite`] if `penalty` is.
pub fn sipdg_triangles(n: usize, penalty: f64) -> Result<Csr<f64>, MatrixError> {
    let rows = n.saturating_mul(n).saturating_mul(6);
    if rows > crate::MAX_ROWS {
        return Csr::from_triplets(rows, rows, []);
    }
    let (mut starts, mut columns, mut values) = (vec![0], Vec::new(), Vec::new());
    for element in 0..2 * n * n {
        let neighbours: [Option<usize>; 3] = std::array::from_fn(|face| across(n, element, face));
        let mut blocks = vec![(element, own_block(&neighbours, penalty))];
        for (face, neighbour) in neighbours.iter().enumerate() {
            if let Some(neighbour) = neighbour {
                blocks.push((*neighbour, cross_block(face, penalty)));
            }
        }
        blocks.sort_by_key(|&(column, _)| column);
        for k in 0..3 {
            for (column, block) in &blocks {
                for (l, &value) in block[k].iter().enumerate() {
                    if value != 0.0 {
                        columns.push((3 * column + l) as u32);
                        values.push(value);
                    }
                }
            }
            starts.push(columns.len());
        }
    }
    Csr::from_arrays(rows, rows, starts, columns, values)
}

/// The element across a face: twice the number of its square, plus 1 for the upper triangle.
fn across(n: usize, element: usize, face: usize) -> Option<usize> {
    let (square, upper) = (element / 2, element % 2);
    let (i, j) = (square % n, square / n);
    match (face, upper) {
        (1, _) => Some(element ^ 1),
        (0, 0) => (j > 0).then(|| 2 * (square - n) + 1),
        (0, _) => (j + 1 < n).then(|| 2 * (square + n)),
        (_, 0) => (i > 0).then(|| 2 * (square - 1) + 1),
        (..) => (i + 1 < n).then(|| 2 * (square + 1)),
    }
}

/// `∫_f φ_k / |f|`.
fn mean(face: usize, k: usize) -> f64 {
    if ENDS[face].contains(&k) { 0.5 } else { 0.0 }
}

/// `∫_f φ_k φ_l / |f|`.
fn mass(face: usize, k: usize, l: usize) -> f64 {
    if mean(face, k) * mean(face, l) == 0.0 {
        0.0
    } else if k == l {
        1.0 / 3.0
    } else {
        1.0 / 6.0
    }
}

/// `τ |f|`: the area is ½.
fn weight(face: usize, penalty: f64) -> f64 {
    6.0 * penalty * SQUARE[face]
}

/// The block of a triangle with itself.
fn own_block(neighbours: &[Option<usize>; 3], penalty: f64) -> [[f64; 3]; 3] {
    let mut block = STIFFNESS;
    for (face, neighbour) in neighbours.iter().enumerate() {
        let (share, factor) = if neighbour.is_some() { (0.5, 1.0) } else { (1.0, 2.0) };
        for k in 0..3 {
            for l in 0..3 {
                let slopes = SLOPE[face][l] * mean(face, k) + SLOPE[face][k] * mean(face, l);
                block[k][l] += factor * weight(face, penalty) * mass(face, k, l) - share * slopes;
            }
        }
    }
    block
}

/// The block of a triangle (rows) with its neighbour across a face (columns); the neighbour traverses the
/// face in the opposite direction.
fn cross_block(face: usize, penalty: f64) -> [[f64; 3]; 3] {
    let [a, b] = ENDS[face];
    let same_place = |l: usize| {
        if l == a {
            b
        } else if l == b {
            a
        } else {
            l
        }
    };
    let mut block = [[0.0; 3]; 3];
    for k in 0..3 {
        for l in 0..3 {
            let slopes = SLOPE[face][l] * mean(face, k) + SLOPE[face][k] * mean(face, l);
            block[k][l] = 0.5 * slopes - weight(face, penalty) * mass(face, k, same_place(l));
        }
    }
    block
}

#[cfg(test)]
mod tests {
    use dgsuite_gpu::{Backend, Host, Vector};

    use super::*;
    use crate::LinearOperator;

    /// Vertices of an element of the mesh with squares of side 1.
    fn vertices(n: usize, element: usize) -> [[f64; 2]; 3] {
        let (i, j) = ((element / 2 % n) as f64, (element / 2 / n) as f64);
        if element.is_multiple_of(2) {
            [[i, j], [i + 1.0, j], [i, j + 1.0]]
        } else {
            [[i + 1.0, j + 1.0], [i, j + 1.0], [i + 1.0, j]]
        }
    }

    /// `A u` is the consistent residual for smooth fields: zero away from the boundary for linear fields, and
    /// the load of f = 2 for x (n − x), since interpolation at the vertices is continuous and its slopes
    /// jump.
    #[test]
    fn linear_fields_are_in_the_null_space_inside() {
        let host = Host::new(1).unwrap();
        let n = 6;
        let a = sipdg_triangles(n, 0.7).unwrap();
        a.require_symmetric(1e-15).unwrap();
        let at = |field: &dyn Fn([f64; 2]) -> f64| {
            let u: Vec<f64> = (0..2 * n * n).flat_map(|e| vertices(n, e).map(field)).collect();
            let u = host.upload(&u).unwrap();
            let mut au = u.zeros_like().unwrap();
            a.apply(&u, &mut au);
            au
        };
        let inside = |e: usize| vertices(n, e).iter().flatten().all(|&x| x > 0.5 && x < n as f64 - 0.5);
        let au = at(&|[x, y]| 1.0 + 2.0 * x - 3.0 * y);
        for e in (0..2 * n * n).filter(|&e| inside(e)) {
            assert!((0..3).all(|k| au[3 * e + k].abs() < 1e-12), "{e}");
        }
        // Tested with a continuous v (a hat function), the jumps of u and v vanish, and ∫ ∇u·∇v remains: the
        // five-point stencil of −Δ.
        let au = at(&|[x, _]| x * (n as f64 - x));
        let hat = |point: [f64; 2]| {
            (0..2 * n * n)
                .flat_map(|e| vertices(n, e).into_iter().enumerate().map(move |(k, v)| (3 * e + k, v)))
                .filter(|(_, v)| *v == point)
                .map(|(row, _)| au[row])
                .sum::<f64>()
        };
        assert!((hat([3.0, 2.0]) - 2.0).abs() < 1e-12 && (hat([2.0, 4.0]) - 2.0).abs() < 1e-12);
    }

    /// λ_min(A u = λ M u) tends to 2π² for the unit square; the energy of the lowest sine is a Rayleigh
    /// quotient.
    #[test]
    fn the_energy_of_a_sine_is_that_of_the_equation() {
        let host = Host::new(1).unwrap();
        let n = 40;
        let a = sipdg_triangles(n, 1.0).unwrap();
        let sine = |[x, y]: [f64; 2]| {
            let factor = std::f64::consts::PI / n as f64;
            (factor * x).sin() * (factor * y).sin()
        };
        let u: Vec<f64> = (0..2 * n * n).flat_map(|e| vertices(n, e).map(sine)).collect();
        let u = host.upload(&u).unwrap();
        let mut au = u.zeros_like().unwrap();
        a.apply(&u, &mut au);
        // ∫ |∇u|² = π²/2, whatever the size of the square in two dimensions.
        let energy = u.dot(&au) / (0.5 * std::f64::consts::PI.powi(2));
        assert!((energy - 1.0).abs() < 3e-3, "{energy}");
    }

    #[test]
    fn half_of_the_penalty_is_positive_definite_and_a_tenth_is_not() {
        let smallest = |penalty: f64| {
            let a = sipdg_triangles(3, penalty).unwrap();
            let dense = faer::Mat::from_fn(54, 54, |i, j| a.get(i, j));
            let values = dense.self_adjoint_eigenvalues(faer::Side::Lower).unwrap();
            values.into_iter().fold(f64::INFINITY, f64::min)
        };
        assert!(smallest(1.0) > 0.0 && smallest(0.5) > 0.0 && smallest(0.1) < 0.0);
        assert!(sipdg_triangles(1 << 30, 1.0).is_err());
    }
}
