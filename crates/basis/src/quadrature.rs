//! Cubature rules on the seven shapes.

mod collapsed;
mod symmetric;
mod tetrahedron_table;
mod triangle_table;

use crate::{Shape, jacobi, nodes::product};

pub(crate) type Points = Vec<[f64; 3]>;
pub(crate) type Weights = Vec<f64>;

/// Points and weights on a reference shape: `∫ f ≈ Σ w_i f(x_i)`.
///
/// All weights are positive and all points lie inside (Lobatto rules: inside or on the boundary).
///
/// ```
/// use dgsuite_basis::{Quadrature, Shape};
/// let rule = Quadrature::new(Shape::Triangle, 4);
/// assert_eq!(rule.len(), 6);
/// let sum: f64 = rule.points.iter().zip(&rule.weights).map(|(x, w)| w * x[0] * x[1]).sum();
/// assert!(sum.abs() < 1e-15); // ∫ r s = 0 on this triangle
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Quadrature {
    /// The shape.
    pub shape: Shape,
    /// Points in reference coordinates. Products are ordered `r` fastest, then `s`, then `t`
    /// (prism: the triangle's points fastest).
    pub points: Vec<[f64; 3]>,
    /// Weights; their sum is the shape's measure.
    pub weights: Vec<f64>,
    /// The rule is exact for the polynomials of this total degree (products of Gauss rules: in each
    /// coordinate; pyramid: see [`Quadrature::new`]).
    pub degree: usize,
}

impl Quadrature {
    /// The best available rule that is exact to `degree`.
    ///
    /// * line, quadrilateral, hexahedron: products of Gauss–Legendre rules;
    /// * triangle to degree 20, tetrahedron to degree 20: fully symmetric rules, tabulated
    ///   (Witherden & Vincent 2015 and sources given with the tables); beyond, collapsed Gauss–Jacobi;
    /// * prism: the triangle's rule times Gauss–Legendre;
    /// * pyramid: collapsed Gauss–Jacobi, exact for polynomials of total degree `degree`, and for
    ///   products of two functions of the pyramid's rational space of order `degree / 2`, or of one
    ///   with the gradient of another.
    #[must_use]
    pub fn new(shape: Shape, degree: usize) -> Self {
        let tabulated = match shape {
            Shape::Triangle => symmetric::triangle(degree),
            Shape::Tetrahedron => symmetric::tetrahedron(degree),
            Shape::Prism => return Self::prism(&Self::new(Shape::Triangle, degree), degree),
            Shape::Pyramid => None,
            _ => return Self::gauss(shape, degree / 2 + 1),
        };
        let (points, weights, degree) = tabulated.unwrap_or_else(|| {
            let (points, weights) = collapsed::collapsed(shape, degree);
            (points, weights, 2 * (degree / 2) + 1)
        });
        Self { shape, points, weights, degree }
    }

    /// A rule exact to `degree` that the symmetries of the shape map to itself. Faces need it, since their
    /// two sides see them rotated against each other.
    ///
    /// If the rule of [`Self::new`] is symmetric, it is returned. On simplices beyond the tables the
    /// collapsed rule is averaged over the symmetry group, which costs 6 (triangle) or 24 (tetrahedron) times
    /// its points. The pyramid's rule has the symmetries of its base.
    #[must_use]
    pub fn symmetric(shape: Shape, degree: usize) -> Self {
        let tabulated = match shape {
            Shape::Triangle => symmetric::triangle(degree),
            Shape::Tetrahedron => symmetric::tetrahedron(degree),
            Shape::Prism => return Self::prism(&Self::symmetric(Shape::Triangle, degree), degree),
            _ => return Self::new(shape, degree),
        };
        let (points, weights, degree) = tabulated.unwrap_or_else(|| {
            let (points, weights) = collapsed::symmetrised(shape, degree);
            (points, weights, 2 * (degree / 2) + 1)
        });
        Self { shape, points, weights, degree }
    }

    /// The product of Gauss–Legendre rules of `n` points in each direction: degree `2n − 1` in each.
    ///
    /// # Panics
    /// If `n` is zero, or the shape is not a line, quadrilateral or hexahedron.
    #[must_use]
    pub fn gauss(shape: Shape, n: usize) -> Self {
        Self::tensor(shape, &jacobi::gauss_legendre(n), 2 * n - 1)
    }

    /// The product of Gauss–Lobatto rules of `n ≥ 2` points in each direction: degree `2n − 3` in each.
    ///
    /// # Panics
    /// If `n < 2`, or the shape is not a line, quadrilateral or hexahedron.
    #[must_use]
    pub fn lobatto(shape: Shape, n: usize) -> Self {
        Self::tensor(shape, &jacobi::gauss_lobatto(n), 2 * n - 3)
    }

    /// Number of points.
    #[must_use]
    pub fn len(&self) -> usize {
        self.points.len()
    }

    /// True if the rule has no points.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.points.is_empty()
    }

    /// `Σ w_i f(x_i)`.
    pub fn integrate(&self, mut f: impl FnMut([f64; 3]) -> f64) -> f64 {
        self.points.iter().zip(&self.weights).map(|(&x, w)| w * f(x)).sum()
    }

    #[track_caller]
    fn tensor(shape: Shape, (x, w): &(Vec<f64>, Vec<f64>), degree: usize) -> Self {
        assert!(
            matches!(shape, Shape::Line | Shape::Quadrilateral | Shape::Hexahedron),
            "a {shape} is not a product of lines"
        );
        let (mut points, mut weights) = (vec![[0.0; 3]], vec![1.0]);
        for d in 0..shape.dim() {
            points = product(&points, x, d);
            weights = w.iter().flat_map(|w| weights.iter().map(move |v| w * v)).collect();
        }
        Self { shape, points, weights, degree }
    }

    fn prism(base: &Self, degree: usize) -> Self {
        let (x, w) = jacobi::gauss_legendre(degree / 2 + 1);
        let weights = w.iter().flat_map(|w| base.weights.iter().map(move |v| w * v)).collect();
        Self {
            shape: Shape::Prism,
            points: product(&base.points, &x, 2),
            weights,
            degree: base.degree.min(2 * x.len() - 1),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{OrthonormalBasis, Polynomials};

    /// Largest `|Σ w ψ_m − ∫ ψ_m|` over the orthonormal modes to the rule's degree.
    fn defect(rule: &Quadrature, degree: usize) -> f64 {
        let basis = OrthonormalBasis::new(rule.shape, degree, Polynomials::Total);
        let sums = basis.eval(&rule.points).transpose().mul_vec(&rule.weights);
        let constant = rule.shape.measure().sqrt();
        sums.iter()
            .enumerate()
            .map(|(m, s)| if m == 0 { s - constant } else { *s })
            .fold(0.0, |a, b| a.max(b.abs()))
    }

    fn check(rule: &Quadrature, degree: usize, name: &str) {
        let shape = rule.shape;
        assert!(rule.degree >= degree, "{name} {shape} {degree}");
        assert!(rule.weights.iter().all(|&w| w > 0.0), "{name} {shape} {degree}");
        assert!(rule.points.iter().all(|&x| shape.contains(x, -1e-6)), "{name} {shape} {degree}: inside");
        let error = defect(rule, degree);
        // The averaged rules sum over tens of thousands of points.
        let tolerance = if rule.len() > 10_000 { 1e-13 } else { 3e-14 };
        assert!(error < tolerance, "{name} {shape} {degree}: {error:e}");
    }

    #[test]
    fn every_rule_is_exact_positive_and_inside() {
        for shape in Shape::ALL {
            let end = if shape.dim() == 3 { 21 } else { 31 };
            for degree in 0..=end {
                check(&Quadrature::new(shape, degree), degree, "best");
            }
            for degree in [0, 3, 8, 14, 20, 21] {
                if shape != Shape::Tetrahedron || degree <= 14 {
                    check(&Quadrature::symmetric(shape, degree), degree, "symmetric");
                }
            }
        }
        check(&Quadrature::symmetric(Shape::Tetrahedron, 21), 21, "averaged");
    }

    #[test]
    fn rules_do_not_promise_less_than_they_keep() {
        // The next degree must fail somewhere; otherwise the table understates the degree.
        for degree in 1..=20 {
            let rule = Quadrature::new(Shape::Triangle, degree);
            assert!(defect(&rule, rule.degree + 1) > 1e-9, "triangle {degree}");
        }
        for degree in 1..=10 {
            let rule = Quadrature::new(Shape::Tetrahedron, degree);
            assert!(defect(&rule, rule.degree + 1) > 1e-9, "tetrahedron {degree}");
        }
    }

    #[test]
    fn counts_are_the_published_ones() {
        let count = |shape, degree| Quadrature::new(shape, degree).len();
        let triangle: Vec<usize> = (1..=20).map(|d| count(Shape::Triangle, d)).collect();
        let expected = [1, 3, 6, 6, 7, 12, 15, 16, 19, 25, 28, 33, 37, 42, 49, 55, 60, 67, 73, 79];
        assert_eq!(triangle, expected);
        let tetrahedron: Vec<usize> = (1..=10).map(|d| count(Shape::Tetrahedron, d)).collect();
        assert_eq!(tetrahedron, [1, 4, 8, 14, 14, 24, 35, 46, 59, 79]);
    }

    #[test]
    fn pyramid_rules_integrate_products_of_the_rational_space() {
        for p in 0..=10 {
            let basis = OrthonormalBasis::new(Shape::Pyramid, p, Polynomials::Total);
            let integrate = |degree| {
                let rule = Quadrature::new(Shape::Pyramid, degree);
                let (v, g) = (basis.eval(&rule.points), basis.grad(&rule.points));
                let test = v.transpose().scale_cols(&rule.weights);
                [test.mul(&v), test.mul(&g[0]), test.mul(&g[2])]
            };
            let (least, more) = (integrate(2 * p), integrate(2 * p + 6));
            for (a, b) in least.iter().zip(&more) {
                assert!(a.distance(b) < 1e-12 * (1.0 + b.max_abs()), "{p}");
            }
        }
    }

    #[test]
    fn lobatto_products_are_exact_to_their_degree() {
        for shape in [Shape::Line, Shape::Quadrilateral, Shape::Hexahedron] {
            for n in 2..=7 {
                let rule = Quadrature::lobatto(shape, n);
                assert!(defect(&rule, rule.degree) < 1e-14, "{shape} {n}");
            }
        }
    }
}
