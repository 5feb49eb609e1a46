//! Orthonormal polynomial bases on the seven shapes, with gradients.
//!
//! Every mode is a product of Jacobi polynomials in collapsed coordinates. The recurrences are evaluated for
//! homogeneous forms `τ^n P_n(x/τ)`, which are polynomials of the reference coordinates, so that neither
//! values nor gradients are singular at collapsed vertices.

mod jet;

use jet::{Jet, Number};

use crate::{Matrix, Shape, jacobi};

/// The polynomials of a space of order `p`, for shapes with a choice.
///
/// | shape | `Total` | `Tensor` |
/// |---|---|---|
/// | quadrilateral, hexahedron | total degree ≤ p | degree ≤ p in each coordinate |
/// | prism | total degree ≤ p | P_p(triangle) ⊗ P_p(line) |
/// | line, triangle, tetrahedron, pyramid | one space only | the same |
///
/// The pyramid has the rational space of Bergot, Cohen & Duruflé (2010): its dimension is (p+1)(p+2)(2p+3)/6,
/// it contains all polynomials of total degree ≤ p, and its traces are polynomials.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Polynomials {
    /// Total degree at most the order.
    Total,
    /// Degree at most the order in each factor of the shape.
    Tensor,
}

impl std::fmt::Display for Polynomials {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Total => "total-degree",
            Self::Tensor => "tensor",
        })
    }
}

/// An orthonormal basis of the polynomials of one order on a shape: `∫ ψ_m ψ_n = δ_mn`.
/// Mode 0 is constant. Tensor modes are ordered with the degree in `r` fastest, then `s`, then `t` (prism:
/// the triangle's modes fastest). All other modes are ordered by degree, lowest first, so that the modes of a
/// space of lower order come first.
///
/// Sources: Dubiner (1991) and Koornwinder (1975) on simplices, in the form of Hesthaven & Warburton
/// (2008), §6.1 and §10.1; Bergot, Cohen & Duruflé (2010) on the pyramid.
///
/// ```
/// use dgsuite_basis::{OrthonormalBasis, Polynomials, Shape};
/// let basis = OrthonormalBasis::new(Shape::Triangle, 3, Polynomials::Total);
/// assert_eq!(basis.len(), 10);
/// let values = basis.eval(&[[-0.2, -0.5, 0.0]]);
/// assert!((values[(0, 0)] - 0.5f64.sqrt()).abs() < 1e-15);
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct OrthonormalBasis {
    shape: Shape,
    order: usize,
    polynomials: Polynomials,
    modes: Vec<[usize; 3]>,
}

impl OrthonormalBasis {
    /// The basis of the given order; see [`Polynomials`] for the space.
    #[must_use]
    pub fn new(shape: Shape, order: usize, polynomials: Polynomials) -> Self {
        let modes = modes(shape, order, polynomials);
        Self { shape, order, polynomials, modes }
    }

    /// Number of modes.
    #[must_use]
    pub fn len(&self) -> usize {
        self.modes.len()
    }

    /// Always false: mode 0 exists.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.modes.is_empty()
    }

    /// The shape.
    #[must_use]
    pub const fn shape(&self) -> Shape {
        self.shape
    }

    /// The order of the space.
    #[must_use]
    pub const fn order(&self) -> usize {
        self.order
    }

    /// The space.
    #[must_use]
    pub const fn polynomials(&self) -> Polynomials {
        self.polynomials
    }

    /// The degrees `[i, j, k]` of each mode in the shape's collapsed coordinates. A mode is the same function
    /// in every space of the shape that contains its degrees.
    #[must_use]
    pub fn modes(&self) -> &[[usize; 3]] {
        &self.modes
    }

    /// Degree of each mode, for filters and smoothness sensors: the total degree, or for tensor spaces the
    /// largest degree in one factor.
    #[must_use]
    pub fn degrees(&self) -> Vec<usize> {
        let tensor = self.polynomials == Polynomials::Tensor;
        self.modes.iter().map(|&m| degree(self.shape, tensor, m)).collect()
    }

    /// Values `ψ_m(x_q)`, `[point][mode]`.
    #[must_use]
    pub fn eval(&self, points: &[[f64; 3]]) -> Matrix {
        let mut out = Matrix::zeros(points.len(), self.len());
        for (q, &x) in points.iter().enumerate() {
            evaluate::<f64>(self.shape, self.order, x, &self.modes, |m, v| out[(q, m)] = v);
        }
        out
    }

    /// Derivatives `∂ψ_m/∂r_d (x_q)`, for each direction `[point][mode]`; zero in directions that
    /// the shape does not have.
    ///
    /// At the pyramid's apex, where rational modes have no gradient, it is the limit along the axis.
    #[must_use]
    pub fn grad(&self, points: &[[f64; 3]]) -> [Matrix; 3] {
        let mut out: [Matrix; 3] = std::array::from_fn(|_| Matrix::zeros(points.len(), self.len()));
        for (q, &x) in points.iter().enumerate() {
            evaluate::<Jet>(self.shape, self.order, x, &self.modes, |m, v| {
                for d in 0..self.shape.dim() {
                    out[d][(q, m)] = v.gradient[d];
                }
            });
        }
        out
    }
}

/// The degree by which a mode is ordered.
fn degree(shape: Shape, tensor: bool, [i, j, k]: [usize; 3]) -> usize {
    match shape {
        Shape::Pyramid => i.max(j) + k,
        Shape::Quadrilateral | Shape::Hexahedron if tensor => i.max(j).max(k),
        Shape::Prism if tensor => (i + j).max(k),
        _ => i + j + k,
    }
}

fn modes(shape: Shape, p: usize, polynomials: Polynomials) -> Vec<[usize; 3]> {
    let tensor = polynomials == Polynomials::Tensor
        && matches!(shape, Shape::Quadrilateral | Shape::Hexahedron | Shape::Prism);
    let end = |d: usize| if d < shape.dim() { p } else { 0 };
    let mut out = Vec::new();
    for k in 0..=end(2) {
        for j in 0..=end(1) {
            for i in 0..=end(0) {
                if degree(shape, tensor, [i, j, k]) <= p {
                    out.push([i, j, k]);
                }
            }
        }
    }
    if !tensor {
        out.sort_by_key(|&m| degree(shape, tensor, m));
    } else if shape == Shape::Prism {
        out.sort_by_key(|&[i, j, k]| (k, i + j));
    }
    out
}

/// Homogeneous orthonormal Jacobi polynomials `τ^n P̂_n^{(α,0)}(x/τ)` for `n = 0..=p`.
fn homogeneous<R: Number>(p: usize, alpha: usize, x: R, tau: R) -> Vec<R> {
    let tau2 = tau * tau;
    let mut out = vec![R::constant(1.0 / jacobi::total_weight(alpha, 0).sqrt())];
    for n in 0..p {
        let (a, b) = jacobi::recurrence(n, alpha, 0);
        let (next, _) = jacobi::recurrence(n + 1, alpha, 0);
        let mut v = (x - tau.scale(b)) * out[n];
        if n > 0 {
            v = v - (tau2 * out[n - 1]).scale(a);
        }
        out.push(v.scale(1.0 / next));
    }
    out
}

/// Passes every mode at the point `x` to `put`.
fn evaluate<R: Number>(
    shape: Shape,
    p: usize,
    x: [f64; 3],
    modes: &[[usize; 3]],
    mut put: impl FnMut(usize, R),
) {
    let one = R::constant(1.0);
    let [r, s, t] = [R::coordinate(x[0], 0), R::coordinate(x[1], 1), R::coordinate(x[2], 2)];
    match shape {
        Shape::Line | Shape::Quadrilateral | Shape::Hexahedron => {
            let along = |x: R, d: usize| homogeneous(if d < shape.dim() { p } else { 0 }, 0, x, one);
            let (a, b, c) = (along(r, 0), along(s, 1), along(t, 2));
            // Unused directions contribute the constant 1/√2, which is divided out.
            let scale = 2f64.powi(3 - shape.dim() as i32).sqrt();
            for (m, &[i, j, k]) in modes.iter().enumerate() {
                put(m, (a[i] * b[j] * c[k]).scale(scale));
            }
        }
        Shape::Triangle | Shape::Prism => {
            let (a, b) = triangle(p, r, s);
            let c = homogeneous(if shape == Shape::Prism { p } else { 0 }, 0, t, one);
            let scale = if shape == Shape::Prism { 1.0 } else { 2f64.sqrt() };
            for (m, &[i, j, k]) in modes.iter().enumerate() {
                put(m, (a[i] * b[i][j] * c[k]).scale(scale));
            }
        }
        Shape::Tetrahedron => {
            // With a, b, c the collapsed coordinates: τ₁ = (1−b)(1−c)/4, τ₂ = (1−c)/2.
            let tau1 = (s + t).scale(-0.5);
            let tau2 = (one - t).scale(0.5);
            let a = homogeneous(p, 0, r + one - tau1, tau1);
            let y = s + one - tau2;
            let b: Vec<Vec<R>> = (0..=p).map(|i| homogeneous(p - i, 2 * i + 1, y, tau2)).collect();
            let c: Vec<Vec<R>> = (0..=p).map(|n| homogeneous(p - n, 2 * n + 2, t, one)).collect();
            for (m, &[i, j, k]) in modes.iter().enumerate() {
                let scale = 8f64.sqrt() * 2f64.powi((2 * i + j) as i32);
                put(m, (a[i] * b[i][j] * c[i + j][k]).scale(scale));
            }
        }
        Shape::Pyramid => pyramid(p, x, modes, put),
    }
}

/// The two factors of the triangle's modes, `√2 2^i τ^i P̂_i(x/τ)` and `P̂_j^{(2i+1,0)}(s)`, with
/// `τ = (1−s)/2`.
fn triangle<R: Number>(p: usize, r: R, s: R) -> (Vec<R>, Vec<Vec<R>>) {
    let one = R::constant(1.0);
    let tau = (one - s).scale(0.5);
    let mut a = homogeneous(p, 0, r + one - tau, tau);
    for (i, v) in a.iter_mut().enumerate() {
        *v = v.scale(2f64.sqrt() * 2f64.powi(i as i32));
    }
    let b = (0..=p).map(|i| homogeneous(p - i, 2 * i + 1, s, one)).collect();
    (a, b)
}

/// Pyramid modes `2^{n+1} τ^n P̂_i(r/τ) P̂_j(s/τ) P̂_k^{(2n+2,0)}(t)`, `n = max(i, j)`, `τ = (1−t)/2`.
fn pyramid<R: Number>(p: usize, x: [f64; 3], modes: &[[usize; 3]], mut put: impl FnMut(usize, R)) {
    let one = R::constant(1.0);
    let mut tau = (one - R::coordinate(x[2], 2)).scale(0.5);
    let [mut r, mut s] = [x[0], x[1]];
    if tau.value() < 1e-12 {
        // At the apex: on the axis, at a height so close to 1 that τ^n is zero or 1/τ finite.
        tau = tau + R::constant(1e-100 - tau.value());
        [r, s] = [0.0, 0.0];
    }
    let inverse = tau.recip();
    let a = homogeneous(p, 0, R::coordinate(r, 0) * inverse, one);
    let b = homogeneous(p, 0, R::coordinate(s, 1) * inverse, one);
    let t = R::coordinate(x[2], 2);
    let c: Vec<Vec<R>> = (0..=p).map(|n| homogeneous(p - n, 2 * n + 2, t, one)).collect();
    let mut power = vec![one];
    for n in 0..p {
        power.push(power[n] * tau);
    }
    for (m, &[i, j, k]) in modes.iter().enumerate() {
        let n = i.max(j);
        put(m, (power[n] * a[i] * b[j] * c[n][k]).scale(2f64.powi(n as i32 + 1)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Quadrature;

    #[test]
    fn spaces_have_their_dimensions() {
        for p in 0..=10 {
            let len = |shape, polynomials| OrthonormalBasis::new(shape, p, polynomials).len();
            let total = [1, 2, 3].map(|d| (1..=d).fold(1, |c, i| c * (p + i) / i));
            assert_eq!(len(Shape::Line, Polynomials::Total), p + 1);
            assert_eq!(len(Shape::Triangle, Polynomials::Tensor), total[1]);
            assert_eq!(len(Shape::Quadrilateral, Polynomials::Total), total[1]);
            assert_eq!(len(Shape::Quadrilateral, Polynomials::Tensor), (p + 1).pow(2));
            assert_eq!(len(Shape::Tetrahedron, Polynomials::Total), total[2]);
            assert_eq!(len(Shape::Hexahedron, Polynomials::Total), total[2]);
            assert_eq!(len(Shape::Hexahedron, Polynomials::Tensor), (p + 1).pow(3));
            assert_eq!(len(Shape::Prism, Polynomials::Total), total[2]);
            assert_eq!(len(Shape::Prism, Polynomials::Tensor), total[1] * (p + 1));
            assert_eq!(len(Shape::Pyramid, Polynomials::Total), (p + 1) * (p + 2) * (2 * p + 3) / 6);
        }
    }

    #[test]
    fn modes_are_orthonormal_to_order_ten() {
        for shape in Shape::ALL {
            for polynomials in [Polynomials::Total, Polynomials::Tensor] {
                for p in [1, 4, 7, 10] {
                    if shape == Shape::Hexahedron && polynomials == Polynomials::Tensor && p > 7 {
                        continue; // products of the line's modes, which are tested at order 10
                    }
                    let basis = OrthonormalBasis::new(shape, p, polynomials);
                    let rule = Quadrature::new(shape, 2 * p);
                    let v = basis.eval(&rule.points);
                    let gram = v.transpose().mul(&v.scale_rows(&rule.weights));
                    let error = gram.distance(&Matrix::identity(basis.len()));
                    assert!(error < 1e-12, "{shape} {polynomials} {p}: {error:e}");
                    assert!((v[(0, 0)] - 1.0 / shape.measure().sqrt()).abs() < 1e-14, "{shape}");
                }
            }
        }
    }

    #[test]
    fn gradients_match_central_differences_inside_and_at_vertices() {
        for shape in Shape::ALL {
            let basis = OrthonormalBasis::new(shape, 4, Polynomials::Tensor);
            let mut points = crate::lattice::lattice(shape, 3);
            if shape == Shape::Pyramid {
                points.pop(); // rational modes have no gradient at the apex
            }
            let grad = basis.grad(&points);
            let h = 1e-3;
            for d in 0..shape.dim() {
                let at = |c: f64| {
                    let moved: Vec<[f64; 3]> = points
                        .iter()
                        .map(|x| std::array::from_fn(|e| x[e] + if e == d { c * h } else { 0.0 }))
                        .collect();
                    basis.eval(&moved)
                };
                // Fourth-order differences: exact up to rounding for polynomials of degree 4.
                let near = at(1.0).add_scaled(-1.0, &at(-1.0)).scaled(8.0);
                let far = at(2.0).add_scaled(-1.0, &at(-2.0));
                let difference = near.add_scaled(-1.0, &far).scaled(1.0 / (12.0 * h));
                let error = grad[d].distance(&difference) / grad[d].max_abs();
                assert!(error < 1e-9, "{shape} direction {d}: {error:e}");
            }
            for d in shape.dim()..3 {
                assert_eq!(grad[d].max_abs(), 0.0);
            }
        }
    }

    #[test]
    fn collapsed_vertices_are_regular_points_at_high_order() {
        for shape in Shape::ALL {
            let basis = OrthonormalBasis::new(shape, 12, Polynomials::Total);
            let values = basis.eval(shape.vertices());
            let grad = basis.grad(shape.vertices());
            assert!(values.data.iter().chain(grad.iter().flat_map(|g| &g.data)).all(|x| x.is_finite()));
        }
    }

    #[test]
    fn lower_orders_are_leading_parts() {
        for shape in Shape::ALL {
            let low = OrthonormalBasis::new(shape, 3, Polynomials::Total);
            let high = OrthonormalBasis::new(shape, 6, Polynomials::Total);
            assert_eq!(low.modes(), &high.modes()[..low.len()], "{shape}");
            assert!(high.degrees().windows(2).all(|d| d[0] <= d[1]));
        }
    }

    #[test]
    fn the_pyramid_apex_gradient_is_the_limit_along_the_axis() {
        let basis = OrthonormalBasis::new(Shape::Pyramid, 5, Polynomials::Total);
        let apex = basis.grad(&[[0.0, 0.0, 1.0]]);
        let near = basis.grad(&[[0.0, 0.0, 1.0 - 1e-9]]);
        for d in 0..3 {
            assert!(apex[d].distance(&near[d]) < 1e-5 * (1.0 + apex[d].max_abs()), "{d}");
        }
    }
}
