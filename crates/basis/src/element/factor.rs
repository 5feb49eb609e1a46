//! The reference matrices of one factor of a shape.
//!
//! A line, simplex or pyramid has one factor. Quadrilaterals and hexahedra with the tensor space are products
//! of lines, prisms of a triangle and a line. Every matrix of a product is the Kronecker product of matrices
//! of its factors: a derivative or projection has the special matrix in one factor and the interpolation (or
//! the L2 projection) in the others.

use super::reference_taylor::ReferenceTaylor;
use super::spec::{Cubature, Representation};
use crate::nodes::nodes;
use crate::{
    BasisError, Correction, LagrangeBasis, Matrix, NodeSet, OrthonormalBasis, Polynomials, Quadrature, Shape,
};

/// The functions of a factor.
#[derive(Clone, Debug)]
pub(super) enum Functions {
    Modal(OrthonormalBasis),
    Nodal(LagrangeBasis),
    Taylor(Box<ReferenceTaylor>),
}

impl Functions {
    pub(super) fn new(
        shape: Shape,
        order: usize,
        polynomials: Polynomials,
        representation: Representation,
    ) -> Result<Self, BasisError> {
        let modes = OrthonormalBasis::new(shape, order, polynomials);
        let set = match representation {
            Representation::Modal => return Ok(Self::Modal(modes)),
            Representation::Taylor => {
                let taylor = ReferenceTaylor::new(shape, order, polynomials)?;
                return Ok(Self::Taylor(Box::new(taylor)));
            }
            Representation::Nodal(set) => set,
        };
        let nodal = LagrangeBasis::with_nodes(shape, order, set)?;
        if nodal.len() == modes.len() {
            return Ok(Self::Nodal(nodal));
        }
        let (nodes, n_basis) = (nodal.len(), modes.len());
        Err(BasisError::NodesDoNotSpan { shape, polynomials, nodes, n_basis })
    }

    /// The factors of a product space, the fastest first.
    pub(super) fn factors(&self) -> Vec<Self> {
        match self {
            Self::Taylor(_) => vec![self.clone()],
            Self::Nodal(basis) => basis.factors().into_iter().map(Self::Nodal).collect(),
            Self::Modal(basis) => {
                let of = |shape| Self::Modal(OrthonormalBasis::new(shape, basis.order(), Polynomials::Total));
                match (basis.shape(), basis.polynomials()) {
                    (Shape::Quadrilateral, Polynomials::Tensor) => vec![of(Shape::Line); 2],
                    (Shape::Hexahedron, Polynomials::Tensor) => vec![of(Shape::Line); 3],
                    (Shape::Prism, Polynomials::Tensor) => vec![of(Shape::Triangle), of(Shape::Line)],
                    _ => vec![self.clone()],
                }
            }
        }
    }

    pub(super) fn shape(&self) -> Shape {
        match self {
            Self::Taylor(taylor) => taylor.modes.shape(),
            Self::Modal(basis) => basis.shape(),
            Self::Nodal(basis) => basis.shape(),
        }
    }

    pub(super) fn len(&self) -> usize {
        match self {
            Self::Taylor(taylor) => taylor.basis.len(),
            Self::Modal(basis) => basis.len(),
            Self::Nodal(basis) => basis.len(),
        }
    }

    pub(super) fn nodes(&self) -> Option<&[[f64; 3]]> {
        match self {
            Self::Modal(_) | Self::Taylor(_) => None,
            Self::Nodal(basis) => Some(basis.nodes()),
        }
    }

    pub(super) fn eval(&self, points: &[[f64; 3]]) -> Matrix {
        match self {
            Self::Taylor(taylor) => taylor.basis.eval(points),
            Self::Modal(basis) => basis.eval(points),
            Self::Nodal(basis) => basis.eval(points),
        }
    }

    pub(super) fn grad(&self, points: &[[f64; 3]]) -> [Matrix; 3] {
        match self {
            Self::Taylor(taylor) => taylor.basis.grad(points),
            Self::Modal(basis) => basis.grad(points),
            Self::Nodal(basis) => basis.grad(points),
        }
    }

    /// `[mode][function]`: maps coefficients to coefficients of the orthonormal modes.
    pub(super) fn to_modes(&self) -> Matrix {
        match self {
            Self::Modal(basis) => Matrix::identity(basis.len()),
            Self::Nodal(basis) => basis.to_modes(),
            Self::Taylor(taylor) => taylor.to_modes.clone(),
        }
    }

    /// `[function][mode]`: the inverse of [`Self::to_modes`].
    pub(super) fn of_modes(&self) -> Matrix {
        match self {
            Self::Modal(basis) => Matrix::identity(basis.len()),
            Self::Nodal(basis) => basis.vandermonde(),
            Self::Taylor(taylor) => taylor.from_modes.clone(),
        }
    }

    /// Exact mass matrix, `(V Vᵀ)⁻¹`.
    pub(super) fn mass(&self) -> Matrix {
        let gram = |to_modes: &Matrix| to_modes.transpose().mul(to_modes);
        match self {
            Self::Modal(basis) => Matrix::identity(basis.len()),
            Self::Nodal(basis) => gram(&basis.to_modes()),
            Self::Taylor(taylor) => gram(&taylor.to_modes),
        }
    }

    /// Inverse of the exact mass matrix, `V Vᵀ`.
    pub(super) fn mass_inverse(&self) -> Matrix {
        let gram = |from_modes: &Matrix| from_modes.mul(&from_modes.transpose());
        match self {
            Self::Modal(basis) => Matrix::identity(basis.len()),
            Self::Nodal(basis) => gram(&basis.vandermonde()),
            Self::Taylor(taylor) => gram(&taylor.from_modes),
        }
    }

    /// `M⁻¹ A` for integrals `A` tested with the functions, `[function × point]`. For Taylor polynomials it
    /// is computed as `V (Vᵀ A)`, tested with the modes first: the condition number of `M⁻¹` is the square of
    /// that of `V`, 10⁹ at order 10.
    pub(super) fn tested(&self, mass_inverse: &Matrix, a: &Matrix) -> Matrix {
        match self {
            Self::Taylor(taylor) => taylor.from_modes.mul(&taylor.from_modes.transpose().mul(a)),
            Self::Modal(_) | Self::Nodal(_) => mass_inverse.mul(a),
        }
    }
}

/// Reference matrices of one factor; see [`super::ReferenceElement`] for their definitions.
#[derive(Clone, Debug)]
pub(super) struct Factor {
    pub(super) functions: Functions,
    pub(super) rule: Quadrature,
    pub(super) interp: Matrix,
    pub(super) derivative: Vec<Matrix>,
    pub(super) project: Vec<Matrix>,
    pub(super) mass_project: Matrix,
    pub(super) mass: Matrix,
    pub(super) mass_inverse: Matrix,
}

impl Factor {
    pub(super) fn new(
        functions: Functions,
        representation: Representation,
        cubature: Cubature,
        correction: Correction,
    ) -> Result<Self, BasisError> {
        let shape = functions.shape();
        match (cubature, representation, functions) {
            (Cubature::Degree(degree), _, functions) => {
                Ok(Self::integrated(functions, Quadrature::new(shape, degree)))
            }
            (Cubature::Collocated, Representation::Nodal(set), Functions::Nodal(basis))
                if shape != Shape::Pyramid =>
            {
                Ok(Self::collocated(basis, set, correction))
            }
            (Cubature::Nodes(set), _, Functions::Nodal(basis)) if shape != Shape::Pyramid => {
                Self::interpolated(basis, set)
            }
            (Cubature::Collocated | Cubature::Nodes(_), ..) => Err(BasisError::NotCollocated { shape }),
        }
    }

    /// The operators of a collocated element with the nodes of `set`, for nodal values elsewhere.
    fn interpolated(basis: LagrangeBasis, set: NodeSet) -> Result<Self, BasisError> {
        let (n, shape, order) = (basis.len(), basis.shape(), basis.order());
        let functions = Functions::Nodal(basis);
        let (mass, mass_inverse) = (functions.mass(), functions.mass_inverse());
        let points = nodes(shape, order, set)?;
        let interp = functions.eval(&points);
        let mass_project = interp.inverse()?;
        let weights = mass_project.transpose().mul(&mass).mul_vec(&vec![1.0; n]);
        let rule = Quadrature { shape, points, weights, degree: order };
        let derivative: Vec<Matrix> = gradient(&functions, &rule);
        let fluxes = mass.mul(&mass_project);
        let project = derivative
            .iter()
            .map(|d| functions.tested(&mass_inverse, &mass_project.mul(d).transpose()).mul(&fluxes))
            .collect();
        Ok(Self { functions, rule, interp, derivative, project, mass_project, mass, mass_inverse })
    }

    /// Exact mass matrix; fluxes projected by the rule.
    fn integrated(functions: Functions, rule: Quadrature) -> Self {
        let (mass, mass_inverse) = (functions.mass(), functions.mass_inverse());
        let interp = functions.eval(&rule.points);
        let derivative: Vec<Matrix> = gradient(&functions, &rule);
        let tested = |m: &Matrix| functions.tested(&mass_inverse, &m.transpose().scale_cols(&rule.weights));
        let project = derivative.iter().map(tested).collect();
        let mass_project = tested(&interp);
        Self { functions, rule, interp, derivative, project, mass_project, mass, mass_inverse }
    }

    /// Fluxes at the nodes: `P_d = M⁻¹ D_dᵀ M`, and weights `M 1`.
    fn collocated(basis: LagrangeBasis, set: NodeSet, correction: Correction) -> Self {
        let (n, shape, order) = (basis.len(), basis.shape(), basis.order());
        let functions = Functions::Nodal(basis);
        let (rule, mass, mass_inverse) = match diagonal_rule(shape, order, set, correction) {
            Some(rule) => {
                let reciprocals: Vec<f64> = rule.weights.iter().map(|w| 1.0 / w).collect();
                let mass = Matrix::diagonal(&rule.weights);
                (rule, mass, Matrix::diagonal(&reciprocals))
            }
            None => {
                let mass = functions.mass();
                let points = functions.nodes().unwrap_or_default().to_vec();
                let weights = mass.mul_vec(&vec![1.0; n]);
                (Quadrature { shape, points, weights, degree: order }, mass, functions.mass_inverse())
            }
        };
        let derivative = gradient(&functions, &rule);
        let project = derivative.iter().map(|d| mass_inverse.mul(&d.transpose()).mul(&mass)).collect();
        let (interp, mass_project) = (Matrix::identity(n), Matrix::identity(n));
        Self { functions, rule, interp, derivative, project, mass_project, mass, mass_inverse }
    }
}

fn gradient(functions: &Functions, rule: &Quadrature) -> Vec<Matrix> {
    functions.grad(&rule.points).into_iter().take(rule.shape.dim()).collect()
}

/// The rule on the nodes whose weights are a diagonal mass matrix of the line or of a product of
/// lines: Gauss (exact) and Lobatto (lumped, which flux reconstruction is not).
pub(super) fn diagonal_rule(
    shape: Shape,
    order: usize,
    set: NodeSet,
    correction: Correction,
) -> Option<Quadrature> {
    match (shape, set) {
        (Shape::Line | Shape::Quadrilateral, NodeSet::GaussLegendre) => {
            Some(Quadrature::gauss(shape, order + 1))
        }
        (Shape::Line | Shape::Quadrilateral, NodeSet::GaussLobatto)
            if order > 0 && correction == Correction::Dg =>
        {
            Some(Quadrature::lobatto(shape, order + 1))
        }
        _ => None,
    }
}
