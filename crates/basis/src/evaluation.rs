//! Values and derivatives of the functions of a shape at points, by sum factorisation on products of lines.

use crate::matrix::BLOCKED;
use crate::{Matrix, Shape};

/// A linear map from coefficients to values at points.
///
/// On quadrilaterals and hexahedra whose functions and points are both products of lines, the matrix is
/// `A_t ⊗ A_s ⊗ A_r` with `r` fastest, and is applied one direction after the other: `O(n^{d+1})` instead of
/// `O(n^{2d})` operations (Orszag 1980, "Spectral methods for problems in complex geometries").
#[derive(Clone, Debug, PartialEq)]
pub struct PointMap {
    /// The factors, slowest direction first; a dense matrix is the only factor.
    factors: Vec<Matrix>,
}

impl PointMap {
    /// The map of a matrix `[point][function]`.
    #[must_use]
    pub fn dense(matrix: Matrix) -> Self {
        Self { factors: vec![matrix] }
    }

    /// The Kronecker product of `[point][function]` matrices of lines, slowest direction first.
    #[must_use]
    pub fn product(factors: Vec<Matrix>) -> Self {
        Self { factors }
    }

    /// The transposed map: from numbers at the points to their sums with each function there.
    #[must_use]
    pub fn transpose(&self) -> Self {
        Self { factors: self.factors.iter().map(Matrix::transpose).collect() }
    }

    /// Number of points.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.factors.iter().map(Matrix::rows).product()
    }

    /// Number of functions.
    #[must_use]
    pub fn cols(&self) -> usize {
        self.factors.iter().map(Matrix::cols).product()
    }

    /// `A x` for each of several columns, `[column][function]` to `[column][point]`.
    ///
    /// # Panics
    /// If the number of entries is not a multiple of [`Self::cols`].
    #[must_use]
    #[track_caller]
    pub fn apply(&self, columns: &[f64]) -> Vec<f64> {
        assert!(columns.len().is_multiple_of(self.cols()), "whole columns");
        let mut x = columns.to_vec();
        if x.is_empty() {
            return x;
        }
        // Entries before and after the direction in `x`: the directions that are done have their points.
        let (mut outer, mut inner) = (x.len() / self.cols(), self.cols());
        for factor in &self.factors {
            inner /= factor.cols();
            x = along(factor, &x, outer, inner);
            outer *= factor.rows();
        }
        x
    }
}

/// `y[o][q][i] = Σ_k A[q][k] x[o][k][i]`.
fn along(a: &Matrix, x: &[f64], outer: usize, inner: usize) -> Vec<f64> {
    let (rows, cols) = (a.rows(), a.cols());
    if inner == 1 && outer * rows * cols < BLOCKED {
        // As the product below, without copies of its factors, which would take longer.
        let mut y = vec![0.0; outer * rows];
        for (x, y) in x.chunks_exact(cols).zip(y.chunks_exact_mut(rows)) {
            for (q, y) in y.iter_mut().enumerate() {
                *y = a.row(q).iter().zip(x).fold(0.0, |sum, (a, x)| sum + a * x);
            }
        }
        return y;
    }
    if inner == 1 {
        // The functions are contiguous: `Y = X Aᵀ`.
        return Matrix::from_row_major(outer, cols, x.to_vec()).mul(&a.transpose()).as_slice().to_vec();
    }
    let mut y = vec![0.0; outer * rows * inner];
    for (x, y) in x.chunks_exact(cols * inner).zip(y.chunks_exact_mut(rows * inner)) {
        for (q, y) in y.chunks_exact_mut(inner).enumerate() {
            for (&a, x) in a.row(q).iter().zip(x.chunks_exact(inner)) {
                y.iter_mut().zip(x).for_each(|(y, x)| *y += a * x);
            }
        }
    }
    y
}

/// Values and reference derivatives of the functions of a shape at points.
#[derive(Clone, Debug, PartialEq)]
pub struct Evaluation {
    /// The values.
    pub values: PointMap,
    /// `∂/∂r_d` for each direction of the shape.
    pub derivatives: Vec<PointMap>,
}

impl Evaluation {
    /// The maps of a shape from `tables`, which returns the values `[point][function]` and the derivatives in
    /// each direction of the functions of a shape at points of that shape.
    ///
    /// If `product`, functions and points of a quadrilateral or hexahedron are products of those of the line
    /// with `r` fastest, and only the tables of the line are asked for.
    ///
    /// ```
    /// use dgsuite_basis::{Evaluation, LagrangeBasis, Quadrature, Shape};
    ///
    /// // From the lattice of order 4 of a hexahedron to a rule of degree 9.
    /// let of = |shape| {
    ///     let (basis, rule) = (LagrangeBasis::new(shape, 4), Quadrature::new(shape, 9));
    ///     (basis.eval(&rule.points), basis.grad(&rule.points))
    /// };
    /// let lines = Evaluation::new(Shape::Hexahedron, true, of);
    /// let x: Vec<f64> = (0..125).map(|i| f64::from(i).sin()).collect();
    /// let dense = of(Shape::Hexahedron).1[2].mul_vec(&x);
    /// for (a, b) in lines.derivatives[2].apply(&x).iter().zip(&dense) {
    ///     assert!((a - b).abs() < 1e-12);
    /// }
    /// ```
    #[must_use]
    pub fn new(shape: Shape, product: bool, tables: impl Fn(Shape) -> (Matrix, [Matrix; 3])) -> Self {
        let dim = shape.dim();
        if !product || !matches!(shape, Shape::Quadrilateral | Shape::Hexahedron) {
            let (values, derivatives) = tables(shape);
            let derivatives = derivatives.into_iter().take(dim).map(PointMap::dense).collect();
            return Self { values: PointMap::dense(values), derivatives };
        }
        let (value, [slope, ..]) = tables(Shape::Line);
        // Factors are listed from the slowest direction: direction `d` is factor `dim - 1 - d`.
        let with = |slopes: Option<usize>| {
            let factor = |i: usize| if slopes == Some(dim - 1 - i) { slope.clone() } else { value.clone() };
            PointMap::product((0..dim).map(factor).collect())
        };
        Self { values: with(None), derivatives: (0..dim).map(|d| with(Some(d))).collect() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lattice::lattice;
    use crate::{ElementSpec, LagrangeBasis, NodeSet, Quadrature, ReferenceElement};

    fn close(map: &PointMap, dense: &Matrix) {
        assert_eq!((map.rows(), map.cols()), (dense.rows(), dense.cols()));
        let columns: Vec<f64> = (0..3 * map.cols()).map(|i| (1.7 * i as f64).cos()).collect();
        let found = map.apply(&columns);
        for (x, y) in columns.chunks_exact(map.cols()).zip(found.chunks_exact(map.rows())) {
            for (a, b) in dense.mul_vec(x).iter().zip(y) {
                assert!((a - b).abs() < 1e-11 * (1.0 + a.abs()), "{a} and {b}");
            }
        }
    }

    #[test]
    fn products_of_lines_are_the_dense_matrices() {
        for shape in [Shape::Triangle, Shape::Quadrilateral, Shape::Hexahedron, Shape::Prism] {
            let of = |shape| {
                let (basis, rule) = (LagrangeBasis::new(shape, 3), Quadrature::new(shape, 8));
                (basis.eval(&rule.points), basis.grad(&rule.points))
            };
            let (found, (values, slopes)) = (Evaluation::new(shape, true, of), of(shape));
            close(&found.values, &values);
            assert_eq!(found.derivatives.len(), shape.dim());
            found.derivatives.iter().zip(&slopes).for_each(|(map, dense)| close(map, dense));
        }
    }

    #[test]
    fn the_functions_of_an_element_on_a_lattice_are_products_of_lines() {
        for shape in [Shape::Quadrilateral, Shape::Hexahedron] {
            for spec in [
                ElementSpec::over_integrated(shape, 3),
                ElementSpec::collocated(shape, 3, NodeSet::GaussLobatto),
            ] {
                let of = |shape| {
                    let element = ReferenceElement::new(&ElementSpec { shape, ..spec }).unwrap();
                    let points = lattice(shape, 5);
                    (element.evaluate(&points), element.gradient(&points))
                };
                let product = ReferenceElement::new(&spec).unwrap().tensor.is_some();
                let (found, (values, slopes)) = (Evaluation::new(shape, product, of), of(shape));
                close(&found.values, &values);
                close(&found.values.transpose(), &values.transpose());
                found.derivatives.iter().zip(&slopes).for_each(|(map, dense)| close(map, dense));
            }
        }
    }
}
