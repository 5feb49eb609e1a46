//! Lagrange bases: the functions that are one at one node and zero at the others.
//!
//! `ℓ_i(x) = Σ_m ψ_m(x) (V⁻¹)_mi` with the generalised Vandermonde matrix `V_im = ψ_m(x_i)` of the
//! orthonormal modes. Products of lines (and of triangle and line) are evaluated factor by factor, so that no
//! large matrix is inverted.

use crate::nodes::{NodeSet, line_nodes, nodes, solid_face};
use crate::{BasisError, Matrix, OrthonormalBasis, Polynomials, Shape};

/// A Lagrange basis on a set of nodes of a shape.
///
/// [`LagrangeBasis::new`] is the basis of curved geometry, on the equispaced lattice.
///
/// ```
/// use dgsuite_basis::{LagrangeBasis, Matrix, Shape, lattice::lattice};
/// let basis = LagrangeBasis::new(Shape::Tetrahedron, 2);
/// let at_nodes = basis.eval(&lattice(Shape::Tetrahedron, 2));
/// assert!(at_nodes.distance(&Matrix::identity(10)) < 1e-14);
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct LagrangeBasis {
    shape: Shape,
    order: usize,
    nodes: Vec<[f64; 3]>,
    kind: Kind,
}

#[derive(Clone, Debug, PartialEq)]
enum Kind {
    /// The modes and `V⁻¹`, `[mode][node]`.
    Dense { modes: OrthonormalBasis, transform: Matrix, vandermonde: Matrix },
    /// Factors, the fastest first.
    Product(Vec<LagrangeBasis>),
}

impl LagrangeBasis {
    /// The basis of the given order on the [`lattice`](crate::lattice::lattice): total degree on simplices,
    /// tensor on quadrilaterals and hexahedra, their product on prisms, the rational space on pyramids.
    ///
    /// # Panics
    /// If the order is so high (above 30) that the basis on equispaced nodes is singular in double precision.
    #[must_use]
    pub fn new(shape: Shape, order: usize) -> Self {
        match Self::with_nodes(shape, order, NodeSet::Equispaced) {
            Ok(basis) => basis,
            Err(error) => panic!("equispaced lattice of order {order} on a {shape}: {error}"),
        }
    }

    /// The basis of the given order on a family of nodes.
    ///
    /// # Errors
    /// [`BasisError::UnsupportedNodes`] if the family is not defined on the shape, [`BasisError::Singular`]
    /// if the basis on these nodes is singular in double precision.
    pub fn with_nodes(shape: Shape, order: usize, set: NodeSet) -> Result<Self, BasisError> {
        let nodes = nodes(shape, order, set)?;
        let line = |set| {
            Self::dense(Shape::Line, order, line_nodes(order, set).iter().map(|&x| [x, 0.0, 0.0]).collect())
        };
        let kind = match shape {
            Shape::Quadrilateral | Shape::Hexahedron => Kind::Product(vec![line(set)?; shape.dim()]),
            Shape::Prism => {
                Kind::Product(vec![Self::dense(Shape::Triangle, order, solid_face(order, set))?, line(set)?])
            }
            _ => return Self::dense(shape, order, nodes),
        };
        Ok(Self { shape, order, nodes, kind })
    }

    /// The basis on given nodes, as many as the space of [`Self::new`] has dimensions.
    ///
    /// # Errors
    /// [`BasisError::NodesDoNotSpan`] if the number of nodes is wrong, [`BasisError::Singular`] if they do
    /// not determine a basis.
    pub fn on_points(shape: Shape, order: usize, nodes: Vec<[f64; 3]>) -> Result<Self, BasisError> {
        Self::dense(shape, order, nodes)
    }

    fn dense(shape: Shape, order: usize, nodes: Vec<[f64; 3]>) -> Result<Self, BasisError> {
        let polynomials = Polynomials::Tensor;
        let modes = OrthonormalBasis::new(shape, order, polynomials);
        if nodes.len() != modes.len() {
            let (nodes, n_basis) = (nodes.len(), modes.len());
            return Err(BasisError::NodesDoNotSpan { shape, polynomials, nodes, n_basis });
        }
        let vandermonde = modes.eval(&nodes);
        let rough = vandermonde.inverse()?;
        // One Newton step, C ← C (2 − V C), removes the rounding errors of the factorisation.
        let residual = Matrix::identity(nodes.len()).add_scaled(-1.0, &vandermonde.mul(&rough));
        let transform = rough.add_scaled(1.0, &rough.mul(&residual));
        Ok(Self { shape, order, nodes, kind: Kind::Dense { modes, transform, vandermonde } })
    }

    /// The shape.
    #[must_use]
    pub const fn shape(&self) -> Shape {
        self.shape
    }

    /// The order.
    #[must_use]
    pub const fn order(&self) -> usize {
        self.order
    }

    /// The nodes, in the order of the basis functions.
    #[must_use]
    pub fn nodes(&self) -> &[[f64; 3]] {
        &self.nodes
    }

    /// Number of nodes and functions.
    #[must_use]
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// True if there is no node.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// Values `ℓ_i(x_q)`, `[point][node]`.
    #[must_use]
    pub fn eval(&self, points: &[[f64; 3]]) -> Matrix {
        match &self.kind {
            Kind::Dense { modes, transform, .. } => modes.eval(points).mul(transform),
            Kind::Product(factors) => rowwise(&each(factors, points, Self::eval)),
        }
    }

    /// Derivatives `∂ℓ_i/∂r_d (x_q)`, for each direction `[point][node]`; zero in directions that the
    /// shape does not have.
    #[must_use]
    pub fn grad(&self, points: &[[f64; 3]]) -> [Matrix; 3] {
        match &self.kind {
            Kind::Dense { modes, transform, .. } => {
                let dim = self.shape.dim();
                let mut d = 0;
                modes.grad(points).map(|g| {
                    d += 1;
                    if d > dim { g } else { g.mul(transform) }
                })
            }
            Kind::Product(factors) => {
                let values = each(factors, points, Self::eval);
                let slopes = each(factors, points, Self::grad);
                let mut out: [Matrix; 3] = std::array::from_fn(|_| Matrix::zeros(points.len(), self.len()));
                let mut d = 0;
                for f in 0..factors.len() {
                    for e in 0..factors[f].shape.dim() {
                        let mut parts = values.clone();
                        parts[f] = slopes[f][e].clone();
                        out[d] = rowwise(&parts);
                        d += 1;
                    }
                }
                out
            }
        }
    }

    /// The factors of a product basis, the fastest first; the basis itself if it is not a product.
    pub(crate) fn factors(&self) -> Vec<Self> {
        match &self.kind {
            Kind::Dense { .. } => vec![self.clone()],
            Kind::Product(factors) => factors.clone(),
        }
    }

    /// `V`, `[node][mode]`: maps coefficients of the orthonormal modes (of the tensor space where there is
    /// one) to nodal values.
    #[must_use]
    pub fn vandermonde(&self) -> Matrix {
        match &self.kind {
            Kind::Dense { vandermonde, .. } => vandermonde.clone(),
            Kind::Product(factors) => slowest_first(factors, Self::vandermonde),
        }
    }

    /// `V⁻¹`, `[mode][node]`: maps nodal values to coefficients of the orthonormal modes.
    #[must_use]
    pub fn to_modes(&self) -> Matrix {
        match &self.kind {
            Kind::Dense { transform, .. } => transform.clone(),
            Kind::Product(factors) => slowest_first(factors, Self::to_modes),
        }
    }
}

/// Evaluates `f` for every factor at its own coordinates of the points.
fn each<T>(
    factors: &[LagrangeBasis],
    points: &[[f64; 3]],
    f: impl Fn(&LagrangeBasis, &[[f64; 3]]) -> T,
) -> Vec<T> {
    let mut first = 0;
    factors
        .iter()
        .map(|factor| {
            let dim = factor.shape.dim();
            let own: Vec<[f64; 3]> = points
                .iter()
                .map(|x| std::array::from_fn(|d| if d < dim { x[first + d] } else { 0.0 }))
                .collect();
            first += dim;
            f(factor, &own)
        })
        .collect()
}

/// The products of all entries of one row of each factor, the first factor's index fastest.
pub(crate) fn rowwise(factors: &[Matrix]) -> Matrix {
    let n: usize = factors.iter().map(|f| f.cols).product();
    let mut data = Vec::with_capacity(factors[0].rows * n);
    let mut row = Vec::new();
    for q in 0..factors[0].rows {
        row.clear();
        row.push(1.0);
        for f in factors {
            row = f.row(q).iter().flat_map(|x| row.iter().map(move |y| x * y)).collect();
        }
        data.extend_from_slice(&row);
    }
    Matrix { rows: factors[0].rows, cols: n, data }
}

/// The Kronecker product of a matrix of each factor, the first factor's index fastest.
fn slowest_first(factors: &[LagrangeBasis], f: impl Fn(&LagrangeBasis) -> Matrix) -> Matrix {
    factors.iter().fold(Matrix::identity(1), |product, factor| f(factor).kron(&product))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lattice::lattice;

    #[test]
    fn functions_are_one_at_their_node_and_zero_at_the_others() {
        for shape in Shape::ALL {
            for set in NodeSet::ALL.into_iter().filter(|s| s.is_defined_on(shape)) {
                for order in 0..=6 {
                    let basis = LagrangeBasis::with_nodes(shape, order, set).unwrap();
                    let error = basis.eval(basis.nodes()).distance(&Matrix::identity(basis.len()));
                    assert!(error < 1e-12, "{shape} {set} {order}: {error:e}");
                }
            }
        }
    }

    #[test]
    fn geometry_bases_reproduce_their_polynomials_and_gradients() {
        for shape in Shape::ALL {
            for order in 1..=4 {
                let basis = LagrangeBasis::new(shape, order);
                let f = |x: &[f64; 3]| (1.0 + 0.5 * x[0] - 0.3 * x[1] + 0.2 * x[2]).powi(order as i32);
                let slope = |x: &[f64; 3]| {
                    order as f64 * (1.0 + 0.5 * x[0] - 0.3 * x[1] + 0.2 * x[2]).powi(order as i32 - 1)
                };
                let nodal: Vec<f64> = basis.nodes().iter().map(f).collect();
                let mut points = lattice(shape, 7);
                points.extend_from_slice(shape.vertices());
                let values = basis.eval(&points).mul_vec(&nodal);
                let grad = basis.grad(&points);
                let slopes: Vec<Vec<f64>> = grad.iter().map(|g| g.mul_vec(&nodal)).collect();
                for (q, x) in points.iter().enumerate() {
                    assert!((values[q] - f(x)).abs() < 1e-13, "{shape} {order}");
                    for (d, c) in [0.5, -0.3, 0.2].into_iter().enumerate().take(shape.dim()) {
                        assert!((slopes[d][q] - c * slope(x)).abs() < 1e-12, "{shape} {order} {d}");
                    }
                }
            }
        }
    }

    #[test]
    fn products_are_the_dense_basis_on_the_same_nodes() {
        for shape in [Shape::Quadrilateral, Shape::Hexahedron, Shape::Prism] {
            let product = LagrangeBasis::with_nodes(shape, 3, NodeSet::GaussLobatto).unwrap();
            let dense = LagrangeBasis::on_points(shape, 3, product.nodes().to_vec()).unwrap();
            let points = lattice(shape, 4);
            assert!(product.eval(&points).distance(&dense.eval(&points)) < 1e-13, "{shape}");
            for (a, b) in product.grad(&points).iter().zip(&dense.grad(&points)) {
                assert!(a.distance(b) < 1e-12, "{shape}");
            }
            assert!(product.to_modes().distance(&dense.to_modes()) < 1e-13, "{shape}");
            assert!(product.vandermonde().distance(&dense.vandermonde()) < 1e-13, "{shape}");
        }
    }
}
