//! The Taylor basis: scaled monomials about an element's centroid, with zero mean.
//!
//! Unlike the other bases of this crate it is defined in physical coordinates, separately for each element:
//! the coefficient of the constant is the cell average, and the next ones are scaled derivatives at the
//! centroid, for any shape of the element.
//!
//! Source: Luo, Baum & Löhner, "A discontinuous Galerkin method based on a Taylor basis for the
//! compressible flows on arbitrary grids", Journal of Computational Physics 227 (2008) 8875–8893.

use crate::Matrix;

/// Taylor basis of one element: `B_0 = 1` and, for each multi-index `α` with `1 ≤ |α| ≤ p`,
/// `B_α = ((x − x_c)/h)^α / α! − mean`, the mean taken over the element.
///
/// Functions are ordered by degree; within a degree the power of `x` decreases, then the power of `y`.
///
/// ```
/// use dgsuite_basis::{Quadrature, Shape, TaylorBasis};
/// // The reference triangle itself, as an element.
/// let rule = Quadrature::new(Shape::Triangle, 4);
/// let scale = TaylorBasis::half_extent(Shape::Triangle.vertices());
/// let basis = TaylorBasis::new(2, 2, &rule.points, &rule.weights, scale);
/// let means = basis.eval(&rule.points).transpose().mul_vec(&rule.weights);
/// assert!((means[0] - 2.0).abs() < 1e-14 && means[1..].iter().all(|m| m.abs() < 1e-15));
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct TaylorBasis {
    dim: usize,
    centroid: [f64; 3],
    scale: [f64; 3],
    powers: Vec<[usize; 3]>,
    means: Vec<f64>,
}

impl TaylorBasis {
    /// The basis of total degree `order` on the element with the given physical volume points, whose weights
    /// include the Jacobian.
    ///
    /// Means and centroid are computed with the rule: exactly if it integrates polynomials of degree `order`
    /// in the physical coordinates. `scale` is the length by which each coordinate is divided, for example
    /// [`Self::half_extent`]; scales of unused coordinates are ignored.
    ///
    /// # Panics
    /// If `dim` is not 1, 2 or 3, or the numbers of points and weights differ or are zero.
    #[must_use]
    #[track_caller]
    pub fn new(dim: usize, order: usize, points: &[[f64; 3]], weights: &[f64], scale: [f64; 3]) -> Self {
        assert!((1..=3).contains(&dim), "dimension {dim}");
        assert!(points.len() == weights.len() && !points.is_empty(), "a weight for each point");
        let volume: f64 = weights.iter().sum();
        let centroid =
            std::array::from_fn(|d| points.iter().zip(weights).map(|(x, w)| w * x[d]).sum::<f64>() / volume);
        let mut basis = Self { dim, centroid, scale, powers: powers(dim, order), means: Vec::new() };
        basis.means = vec![0.0; basis.len()];
        let sums = basis.eval(points).transpose().mul_vec(weights);
        basis.means = sums.iter().map(|s| s / volume).collect();
        basis.means[0] = 0.0;
        basis
    }

    /// Half the extent of a set of points (an element's vertices) in each coordinate.
    #[must_use]
    pub fn half_extent(points: &[[f64; 3]]) -> [f64; 3] {
        std::array::from_fn(|d| {
            let of = |f: fn(f64, f64) -> f64, start| points.iter().map(|x| x[d]).fold(start, f);
            0.5 * (of(f64::max, f64::NEG_INFINITY) - of(f64::min, f64::INFINITY))
        })
    }

    /// Number of functions.
    #[must_use]
    pub fn len(&self) -> usize {
        self.powers.len()
    }

    /// Always false: the constant exists.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.powers.is_empty()
    }

    /// The element's centroid.
    #[must_use]
    pub const fn centroid(&self) -> [f64; 3] {
        self.centroid
    }

    /// The multi-index `α` of each function.
    #[must_use]
    pub fn powers(&self) -> &[[usize; 3]] {
        &self.powers
    }

    /// Values at physical points, `[point][function]`.
    #[must_use]
    pub fn eval(&self, points: &[[f64; 3]]) -> Matrix {
        Matrix::from_fn(points.len(), self.len(), |q, i| {
            let x = self.scaled(points[q]);
            (0..self.dim).map(|d| term(x[d], self.powers[i][d])).product::<f64>() - self.means[i]
        })
    }

    /// Derivatives with respect to the physical coordinates, for each direction `[point][function]`;
    /// zero in directions beyond the dimension.
    #[must_use]
    pub fn grad(&self, points: &[[f64; 3]]) -> [Matrix; 3] {
        std::array::from_fn(|direction| {
            Matrix::from_fn(points.len(), self.len(), |q, i| {
                let alpha = self.powers[i];
                if direction >= self.dim || alpha[direction] == 0 {
                    return 0.0;
                }
                let x = self.scaled(points[q]);
                let lowered = |d: usize| alpha[d] - usize::from(d == direction);
                (0..self.dim).map(|d| term(x[d], lowered(d))).product::<f64>() / self.scale[direction]
            })
        })
    }

    fn scaled(&self, x: [f64; 3]) -> [f64; 3] {
        std::array::from_fn(|d| if d < self.dim { (x[d] - self.centroid[d]) / self.scale[d] } else { 0.0 })
    }
}

/// `x^n / n!`.
fn term(x: f64, n: usize) -> f64 {
    (1..=n).fold(1.0, |v, k| v * x / k as f64)
}

/// Multi-indices of total degree at most `order`, lowest degree first.
fn powers(dim: usize, order: usize) -> Vec<[usize; 3]> {
    let mut out = Vec::new();
    for degree in 0..=order {
        for a in (0..=degree).rev() {
            for b in (0..=degree - a).rev() {
                let alpha = [a, b, degree - a - b];
                if alpha[dim..].iter().all(|&x| x == 0) {
                    out.push(alpha);
                }
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Quadrature, Shape};

    /// An affine image of a shape, far from the origin and stretched.
    fn element(shape: Shape, order: usize) -> (Quadrature, [f64; 3]) {
        let place = |x: &[f64; 3]| {
            [100.0 + 0.01 * x[0] + 0.004 * x[1], -3.0 + 2.0 * x[1] + 0.3 * x[2], 7.0 + 0.5 * x[2]]
        };
        let mut rule = Quadrature::new(shape, 2 * order);
        rule.points = rule.points.iter().map(place).collect();
        let corners: Vec<[f64; 3]> = shape.vertices().iter().map(place).collect();
        (rule, TaylorBasis::half_extent(&corners))
    }

    #[test]
    fn all_functions_but_the_first_have_zero_mean() {
        for shape in Shape::ALL.into_iter().filter(|s| s.dim() > 1) {
            for order in 1..=4 {
                let (rule, scale) = element(shape, order);
                let basis = TaylorBasis::new(shape.dim(), order, &rule.points, &rule.weights, scale);
                let dim = shape.dim();
                assert_eq!(basis.len(), (1..=dim).fold(1, |c, i| c * (order + i) / i), "{shape}");
                let sums = basis.eval(&rule.points).transpose().mul_vec(&rule.weights);
                assert!((sums[0] - shape.measure()).abs() < 1e-13);
                assert!(sums[1..].iter().all(|s| s.abs() < 1e-12), "{shape} {order}");
            }
        }
    }

    #[test]
    fn a_linear_field_has_its_mean_and_scaled_slopes_as_coefficients() {
        let (rule, scale) = element(Shape::Prism, 2);
        let basis = TaylorBasis::new(3, 2, &rule.points, &rule.weights, scale);
        let c = basis.centroid();
        let slopes = [3.0, -2.0, 0.5];
        let f = |x: &[f64; 3]| 5.0 + (0..3).map(|d| slopes[d] * (x[d] - c[d])).sum::<f64>();
        let mut coefficients = vec![0.0; basis.len()];
        coefficients[0] = 5.0;
        for d in 0..3 {
            coefficients[1 + d] = slopes[d] * scale[d];
        }
        let values = basis.eval(&rule.points).mul_vec(&coefficients);
        for (v, x) in values.iter().zip(&rule.points) {
            assert!((v - f(x)).abs() < 1e-11);
        }
        let grad = basis.grad(&rule.points);
        for d in 0..3 {
            assert!(grad[d].mul_vec(&coefficients).iter().all(|g| (g - slopes[d]).abs() < 1e-12));
        }
    }

    #[test]
    fn gradients_match_differences() {
        let (rule, scale) = element(Shape::Quadrilateral, 4);
        let basis = TaylorBasis::new(2, 4, &rule.points, &rule.weights, scale);
        let grad = basis.grad(&rule.points);
        for d in 0..2 {
            let h = 1e-3 * scale[d];
            let at = |c: f64| {
                let moved: Vec<[f64; 3]> = rule
                    .points
                    .iter()
                    .map(|x| std::array::from_fn(|e| x[e] + if e == d { c * h } else { 0.0 }))
                    .collect();
                basis.eval(&moved)
            };
            let near = at(1.0).add_scaled(-1.0, &at(-1.0)).scaled(8.0);
            let far = at(2.0).add_scaled(-1.0, &at(-2.0));
            let difference = near.add_scaled(-1.0, &far).scaled(1.0 / (12.0 * h));
            assert!(difference.distance(&grad[d]) < 1e-7 * grad[d].max_abs(), "{d}");
        }
        assert_eq!(grad[2].max_abs(), 0.0);
    }
}
