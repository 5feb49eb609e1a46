//! The reference element: all dense matrices of a discontinuous Galerkin scheme.

mod corrected;
mod faces;
mod factor;
mod reference_taylor;
mod spec;
mod tensor;

use faces::{FaceMass, FaceRule, face_rule};
use factor::{Factor, Functions, diagonal_rule};
pub use spec::{Cubature, ElementSpec, Representation};
pub use tensor::TensorFactors;

use crate::lagrange::rowwise;
use crate::{
    BasisError, Correction, Matrix, OrthonormalBasis, Polynomials, Quadrature, Shape, nodes::product,
};

/// Distance below which a face point coincides with a node.
const SAME_POINT: f64 = 1e-10;

/// The matrices of a scheme on one shape.
///
/// With basis functions `φ_i` (`n_basis` of them), volume points `x_q` and weights `w_q`, face
/// points `y_k` of all faces one after another, and `M_ij = ∫ φ_i φ_j`:
///
/// | field | size | entries |
/// |---|---|---|
/// | `interp_volume` | `[q × i]` | `I = φ_i(x_q)` |
/// | `derivative[d]` | `[q × i]` | `D_d = ∂φ_i/∂r_d (x_q)` |
/// | `project[d]` | `[i × q]` | `P_d = M⁻¹ D_dᵀ W` |
/// | `project_volume` | `[i × q]` | `Π = M⁻¹ Iᵀ W` |
/// | `interp_face` | `[k × i]` | `I_f = φ_i(y_k)` |
/// | `lift` | `[i × k]` | `L = M⁻¹ I_fᵀ W_f` |
///
/// **Collocated** elements have their nodes as volume points, `I = Π = 1`, `P_d = M⁻¹ D_dᵀ M`, and weights
/// `M 1`. The mass matrix is exact, except along Lobatto lines, where it is lumped (DGSEM). Collocated faces
/// have the nodes of the same family on the face (Gauss: Gauss points), and `L` integrates the interpolated
/// flux with the face's mass matrix (exact, or lumped as in the volume). `face_weights` are its row sums.
/// They are the same for both neighbours, which makes the scheme conservative. Row sums of exact mass
/// matrices can be zero or negative.
///
/// **Otherwise** `M` is exact for any degree of the cubature. Summation by parts,
/// `M D_d + D_dᵀ M = Σ_f ∮ n_d φφᵀ`, holds up to rounding where the volume and face rules integrate products
/// of two functions: from degree `2 · order` on (in each coordinate for tensor spaces), also on pyramids,
/// whose rational functions the collapsed rule integrates exactly.
///
/// **Flux reconstruction** ([`Correction::Vcjh`]) has `L = (M + K)⁻¹ I_fᵀ W_f` with the exact `M`, also at
/// Lobatto nodes, and is meant for the strong form: its residual is
/// `−Σ_d D_d F_d − L (f* − Σ_d N̂_d I_f F_d)`. On products the correction acts only in the direction across
/// the face; along the face the flux is interpolated (collocated) or projected. See
/// [`correction`](mod@crate::correction).
///
/// Faces need equal point sets on both sides. These collocated families meet point to point: triangles (warp
/// & blend) with Lobatto quadrilaterals; tetrahedra (warp & blend), prisms (warp & blend or Lobatto) and
/// Lobatto hexahedra; Gauss hexahedra with Gauss prisms, and these with tetrahedra. For other mixtures (Gauss
/// quadrilaterals beside triangles, any shape beside pyramids) choose a cubature degree for the faces, which
/// all shapes share.
///
/// Dense matrices are always built. For tensor spaces they are Kronecker products, which are fast to compute;
/// at order 10 on a hexahedron each collocated matrix needs 14 MB.
///
/// ```
/// use dgsuite_basis::{ElementSpec, NodeSet, ReferenceElement, Shape};
/// let element = ReferenceElement::new(&ElementSpec::collocated(Shape::Triangle, 3, NodeSet::WarpBlend))?;
/// // The derivative of r² at the nodes is 2 r.
/// let nodes = element.nodes.as_ref().unwrap();
/// let squares: Vec<f64> = nodes.iter().map(|x| x[0] * x[0]).collect();
/// let slope = element.derivative[0].mul_vec(&squares);
/// assert!(slope.iter().zip(nodes).all(|(s, x)| (s - 2.0 * x[0]).abs() < 1e-13));
/// # Ok::<(), dgsuite_basis::BasisError>(())
/// ```
#[derive(Clone, Debug)]
pub struct ReferenceElement {
    /// The specification of the element.
    pub spec: ElementSpec,
    /// Number of basis functions.
    pub n_basis: usize,
    /// The nodes of a nodal element.
    pub nodes: Option<Vec<[f64; 3]>>,
    /// Volume points and weights.
    pub volume: Quadrature,
    /// Points and weights of each face in its frame; equal for faces of equal shape, and mapped to
    /// itself by [`Shape::meet`].
    pub face_quadrature: Vec<Quadrature>,
    /// The points of all faces, one face after another, in the element's coordinates.
    pub face_points: Vec<[f64; 3]>,
    /// Face `f` has the points `face_offsets[f]..face_offsets[f + 1]`.
    pub face_offsets: Vec<usize>,
    /// Weights of all faces' points, in the measure of the face's reference shape.
    pub face_weights: Vec<f64>,
    /// `I`, `[q × i]`.
    pub interp_volume: Matrix,
    /// `P_d`, `[i × q]`, for each direction.
    pub project: Vec<Matrix>,
    /// `D_d`, `[q × i]`, for each direction.
    pub derivative: Vec<Matrix>,
    /// `I_f`, `[k × i]`.
    pub interp_face: Matrix,
    /// `L`, `[i × k]`.
    pub lift: Matrix,
    /// `Π`, `[i × q]`.
    pub project_volume: Matrix,
    /// `M`.
    pub mass: Matrix,
    /// `M⁻¹`.
    pub mass_inverse: Matrix,
    /// For collocated faces whose points are nodes: for each face, the node at each point.
    pub face_nodes: Option<Vec<Vec<usize>>>,
    /// One-dimensional factors, if the space is a product of lines.
    pub tensor: Option<TensorFactors>,
    functions: Functions,
}

impl ReferenceElement {
    /// Builds the element.
    ///
    /// # Errors
    /// [`BasisError::UnsupportedNodes`] for a family that is not defined on the shape;
    /// [`BasisError::NodesDoNotSpan`] for nodes with a total-degree space on quadrilaterals, hexahedra and
    /// prisms; [`BasisError::NotCollocated`] for collocation of modes, or on pyramids;
    /// [`BasisError::NotTotalDegree`] for a Taylor basis of another space; [`BasisError::NoCorrection`] and
    /// [`BasisError::UnstableCorrection`] for a correction that does not exist or is not stable.
    pub fn new(spec: &ElementSpec) -> Result<Self, BasisError> {
        let &ElementSpec { shape, order, polynomials, representation, .. } = spec;
        let functions = Functions::new(shape, order, polynomials, representation)?;
        let mut factors: Vec<Factor> = Vec::new();
        for part in functions.factors() {
            factors.push(match factors.last() {
                Some(last) if last.rule.shape == part.shape() => last.clone(),
                _ => Factor::new(part, representation, spec.volume, spec.correction)?,
            });
        }
        let rules: Vec<FaceRule> =
            (0..shape.n_faces()).map(|f| face_rule(spec, f)).collect::<Result<_, _>>()?;

        let mass_inverse = kron(&factors, |f| &f.mass_inverse);
        let mut face_points = Vec::new();
        let mut face_offsets = vec![0];
        for (f, rule) in rules.iter().enumerate() {
            face_points.extend(rule.quadrature.points.iter().map(|&xi| shape.face_point(f, xi)));
            face_offsets.push(face_points.len());
        }
        let nodes = functions.nodes().map(<[_]>::to_vec);
        let face_nodes = match (&nodes, spec.face) {
            (Some(nodes), Cubature::Collocated) => nodes_at(nodes, &face_points, &face_offsets),
            _ => None,
        };
        let (interp_face, tested) = match &face_nodes {
            Some(faces) => {
                // Unit rows, so that traces are copies; the same for columns of M⁻¹.
                let at: Vec<usize> = faces.iter().flatten().copied().collect();
                let n = functions.len();
                let rows = Matrix::from_fn(at.len(), n, |k, i| if at[k] == i { 1.0 } else { 0.0 });
                (rows, Matrix::from_fn(n, at.len(), |i, k| mass_inverse[(i, at[k])]))
            }
            None => traces(&factors, &face_points),
        };
        let diagonal = match representation {
            Representation::Nodal(set) => diagonal_rule(Shape::Line, order, set, spec.correction),
            Representation::Modal | Representation::Taylor => None,
        };
        let mut lift = lift(&tested, &rules, &face_offsets);
        let mut tensor = (factors.len() == shape.dim() && factors[0].rule.shape == Shape::Line)
            .then(|| TensorFactors::new(&factors[0], spec.face, diagonal));
        if let Correction::Vcjh(parameter) = spec.correction {
            corrected::correct(shape, order, parameter, &factors, &face_offsets, &mut lift, tensor.as_mut())?;
        }

        Ok(Self {
            spec: *spec,
            n_basis: functions.len(),
            nodes,
            volume: volume_rule(shape, &factors),
            face_weights: rules.iter().flat_map(|r| r.quadrature.weights.iter().copied()).collect(),
            face_quadrature: rules.into_iter().map(|r| r.quadrature).collect(),
            face_points,
            face_offsets,
            interp_volume: kron(&factors, |f| &f.interp),
            project: directional(&factors, |f| &f.project, |f| &f.mass_project),
            derivative: directional(&factors, |f| &f.derivative, |f| &f.interp),
            interp_face,
            lift,
            project_volume: kron(&factors, |f| &f.mass_project),
            mass: kron(&factors, |f| &f.mass),
            mass_inverse,
            face_nodes,
            tensor,
            functions,
        })
    }

    /// The basis at any points, `[point][function]`.
    #[must_use]
    pub fn evaluate(&self, points: &[[f64; 3]]) -> Matrix {
        self.functions.eval(points)
    }

    /// Derivatives of the basis at any points, for each direction `[point][function]`.
    #[must_use]
    pub fn gradient(&self, points: &[[f64; 3]]) -> [Matrix; 3] {
        self.functions.grad(points)
    }

    /// The orthonormal modes of the element's space.
    #[must_use]
    pub fn modes(&self) -> OrthonormalBasis {
        match &self.functions {
            Functions::Taylor(taylor) => taylor.modes.clone(),
            Functions::Modal(basis) => basis.clone(),
            Functions::Nodal(basis) => {
                OrthonormalBasis::new(basis.shape(), basis.order(), Polynomials::Tensor)
            }
        }
    }

    /// `[mode][function]`: maps coefficients to coefficients of the orthonormal modes (`V⁻¹`; identity if
    /// modal).
    #[must_use]
    pub fn to_modes(&self) -> Matrix {
        self.functions.to_modes()
    }

    /// `[function][mode]`: the inverse of [`Self::to_modes`] (`V`).
    #[must_use]
    pub fn from_modes(&self) -> Matrix {
        self.functions.of_modes()
    }
}

/// Kronecker product of one matrix of each factor, the first factor's index fastest.
fn kron<'a>(factors: &'a [Factor], of: impl Fn(&'a Factor) -> &'a Matrix) -> Matrix {
    let (first, rest) = (of(&factors[0]).clone(), &factors[1..]);
    rest.iter().fold(first, |product, f| of(f).kron(&product))
}

/// For each direction: `special` in the factor with that direction, `other` in the others.
fn directional<'a>(
    factors: &'a [Factor],
    special: impl Fn(&'a Factor) -> &'a Vec<Matrix>,
    other: impl Fn(&'a Factor) -> &'a Matrix,
) -> Vec<Matrix> {
    let mut out = Vec::new();
    for (owner, f) in factors.iter().enumerate() {
        for matrix in special(f) {
            let part = |g: usize| if g == owner { matrix } else { other(&factors[g]) };
            out.push((1..factors.len()).fold(part(0).clone(), |product, g| part(g).kron(&product)));
        }
    }
    out
}

/// Points and weights of the product of the factors' rules.
fn volume_rule(shape: Shape, factors: &[Factor]) -> Quadrature {
    let mut rule = factors[0].rule.clone();
    let mut first = rule.shape.dim();
    rule.shape = shape;
    for f in &factors[1..] {
        let line: Vec<f64> = f.rule.points.iter().map(|x| x[0]).collect();
        rule.points = product(&rule.points, &line, first);
        rule.weights = f.rule.weights.iter().flat_map(|w| rule.weights.iter().map(move |v| w * v)).collect();
        rule.degree = rule.degree.min(f.rule.degree);
        first += f.rule.shape.dim();
    }
    rule
}

/// `I_f` and `M⁻¹ I_fᵀ` at the face points, from the factors.
fn traces(factors: &[Factor], points: &[[f64; 3]]) -> (Matrix, Matrix) {
    let mut first = 0;
    let (mut values, mut tested) = (Vec::new(), Vec::new());
    for f in factors {
        let dim = f.rule.shape.dim();
        let own = |x: &[f64; 3]| std::array::from_fn(|d| if d < dim { x[first + d] } else { 0.0 });
        let value = f.functions.eval(&points.iter().map(own).collect::<Vec<_>>());
        tested.push(f.functions.tested(&f.mass_inverse, &value.transpose()).transpose());
        values.push(value);
        first += dim;
    }
    (rowwise(&values), rowwise(&tested).transpose())
}

/// `M⁻¹ I_fᵀ` times the face mass matrix, face by face.
fn lift(tested: &Matrix, rules: &[FaceRule], offsets: &[usize]) -> Matrix {
    let mut out = tested.clone();
    for (f, rule) in rules.iter().enumerate() {
        let range = offsets[f]..offsets[f + 1];
        match &rule.mass {
            FaceMass::Weights => {
                for i in 0..out.rows {
                    for (x, w) in out.row_mut(i)[range.clone()].iter_mut().zip(&rule.quadrature.weights) {
                        *x *= w;
                    }
                }
            }
            FaceMass::Full(mass) => {
                let block = Matrix::from_fn(tested.rows, mass.rows, |i, k| tested[(i, range.start + k)]);
                let block = block.mul(mass);
                for i in 0..out.rows {
                    out.row_mut(i)[range.clone()].copy_from_slice(block.row(i));
                }
            }
        }
    }
    out
}

/// The node at each face point; `None` unless every point is a node.
fn nodes_at(nodes: &[[f64; 3]], points: &[[f64; 3]], offsets: &[usize]) -> Option<Vec<Vec<usize>>> {
    let node_at = |x: &[f64; 3]| nodes.iter().position(|n| (0..3).all(|d| (n[d] - x[d]).abs() < SAME_POINT));
    offsets.windows(2).map(|w| points[w[0]..w[1]].iter().map(node_at).collect()).collect()
}
