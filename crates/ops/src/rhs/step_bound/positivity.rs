//! The weight of a face in the mean of an element, which bounds the steps that keep means positive.
//!
//! The mean of a polynomial of degree `p` is a combination of its means over the faces and of values inside,
//!
//! ```text
//! ū = Σ_f ω ⟨u⟩_f + (1 − Σ_f ω) u*,    ω > 0,
//! ```
//!
//! where `u*` is a mean with positive weights of values at points of the element. If they are all positive,
//! and the flux is that of Rusanov, HLL or HLLC, an explicit step of first order keeps the mean positive if
//! `Δt λ |f| ≤ ω |E|` for all faces `f` (Zhang and Shu, J. Comput. Phys. 229 (2010) 8918; Zhang, Xia and Shu,
//! J. Sci. Comput. 50 (2012) 29, for triangles), that is `Δt ≤ ω h / (d λ)` with
//! `h = d |E| / (largest face measure)`.
//!
//! On lines, quadrilaterals and hexahedra `ω = w/(2 d)`, with the end weight `w` of the Gauss–Lobatto rule
//! that is exact for degree `p`, relative to the length: `w = 1/(n (n − 1))` for `n = ⌈(p + 3)/2⌉` points. On
//! other shapes `ω` is the largest number, the same for all faces, for which the sum exists; the table has
//! the solutions of this linear programme, with the values inside on a fine lattice. For higher degrees the
//! value of the tensor product is used, which is smaller.

use dgsuite_basis::Shape;

/// `ω` for degrees 1 to 5.
const TRIANGLE: [f64; 5] = [1.0 / 3.0, 1.0 / 6.0, 0.150, 0.092, 0.087];
const TETRAHEDRON: [f64; 5] = [1.0 / 4.0, 0.150, 0.136, 0.089, 0.085];
const PRISM: [f64; 5] = [1.0 / 5.0, 1.0 / 12.0, 0.079, 0.043, 0.041];
const PYRAMID: [f64; 5] = [0.187, 0.117, 0.102, 0.064, 0.063];

/// `ω` of a shape for degree `order`.
pub(super) fn share_of_face(shape: Shape, order: usize) -> f64 {
    if order == 0 {
        return 1.0 / shape.n_faces() as f64;
    }
    let table = match shape {
        Shape::Triangle => &TRIANGLE[..],
        Shape::Tetrahedron => &TETRAHEDRON[..],
        Shape::Prism => &PRISM[..],
        Shape::Pyramid => &PYRAMID[..],
        _ => &[],
    };
    table.get(order - 1).copied().unwrap_or_else(|| {
        let n = (order + 3).div_ceil(2) as f64;
        1.0 / (n * (n - 1.0)) / shape.dim() as f64
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_those_of_gauss_and_lobatto_and_fall_with_the_order() {
        let near = |a: f64, b: f64| (a - b).abs() < 1e-15;
        // Trapezoidal rule and Simpson's rule.
        assert!(near(share_of_face(Shape::Quadrilateral, 1), 0.25));
        assert!(near(share_of_face(Shape::Quadrilateral, 2), 1.0 / 12.0));
        assert!(near(share_of_face(Shape::Hexahedron, 3), 1.0 / 18.0));
        for shape in Shape::ALL.into_iter().filter(|shape| shape.dim() > 1) {
            let shares: Vec<f64> = (0..10).map(|order| share_of_face(shape, order)).collect();
            assert!(shares.windows(2).all(|w| w[1] <= w[0] && w[1] > 0.0), "{shape}: {shares:?}");
            let all = shares[1] * shape.n_faces() as f64;
            assert!(all <= 1.0 + 1e-12, "{shape}: {all}");
        }
    }
}
