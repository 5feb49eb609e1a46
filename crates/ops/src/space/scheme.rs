//! From the requested scheme to reference elements and metric rules for each shape.
//!
//! Both sides of a face use the same points, so there is one face cubature for the whole mesh. The volume
//! cubature and the metric rule depend on the shape and on whether elements are affine or curved.
//!
//! On curved elements of geometry order `N_g` the degrees of cubatures are raised to preserve the free
//! stream: the metric terms are polynomials of degree `N_g − 1` (two dimensions) or `2(N_g − 1)` (three
//! dimensions; one more in each direction on tensor shapes), and the cubature integrates their products with
//! the test functions exactly.

use crate::error::OpsError;
use dgsuite_basis::{
    BasisError, Correction, Cubature, ElementSpec, NodeSet, Polynomials, Representation, Shape,
    correction::Parameter,
};

/// Weak, strong or split form of the volume term.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Form {
    /// `∫ ∇v·F − ∮ v f*`.
    #[default]
    Weak,
    /// `−∫ v ∇·F − ∮ v (f* − F·n)`, with the interpolated flux as the subtracted trace.
    Strong,
    /// The strong form with two-point fluxes in the volume,
    /// `∂F̂_d/∂r_d ≈ 2 Σ_j D_ij f#(u_i, u_j, {{J∇r_d}})`, on quadrilaterals and hexahedra at Gauss–Lobatto
    /// nodes. It conserves what the two-point flux conserves, such as entropy (Gassner, Winters & Kopriva
    /// 2016). The equation must have a two-point flux.
    Split,
}

/// How the mass matrix of an element with a variable Jacobian is inverted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum MetricRule {
    /// Constant Jacobian: `M⁻¹ = M̂⁻¹ / J`.
    Affine,
    /// Nodal quadrature: `1/J` at the nodes (Kopriva 2009).
    Collocated,
    /// `M⁻¹ ≈ M̂⁻¹ M_{1/J} M̂⁻¹` (Chan, Hewett & Warburton 2017), plus a constant that restores the element's
    /// integral.
    WeightAdjusted,
    /// The exact inverse, dense, stored for each element; for comparison.
    Stored,
    /// `M̂⁻¹`: J is left out, so that the residual times `M̂` is the load, the residual tested with the
    /// functions. For [`Scheme::loads_on_elliptic_nodes`].
    Reference,
}

impl MetricRule {
    /// The name of the rule.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Affine => "affine",
            Self::Collocated => "collocated",
            Self::WeightAdjusted => "weight-adjusted",
            Self::Stored => "stored inverse",
            Self::Reference => "reference",
        }
    }
}

/// A discontinuous Galerkin or flux reconstruction scheme, as requested by the user.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scheme {
    /// Polynomial degree.
    pub order: usize,
    /// Polynomial space; default: total degree on simplices, tensor products on other shapes.
    pub polynomials: Option<Polynomials>,
    /// Modal or nodal.
    pub representation: Representation,
    /// Nodes of a nodal basis on triangles and tetrahedra, if `representation` does not select them. On these
    /// shapes, and on prisms, [`Cubature::Collocated`] then means the cubature of degree 2p: the nodes do not
    /// integrate products of two functions.
    pub simplex_nodes: Option<NodeSet>,
    /// Volume cubature; default: degree 2p, raised on curved elements.
    pub volume: Option<Cubature>,
    /// Face cubature; default: degree 2p + 1, raised on curved elements.
    pub face: Option<Cubature>,
    /// Weak, strong or split form.
    pub form: Form,
    /// Metric rule of curved elements; default: collocated for collocated schemes, otherwise weight-adjusted.
    /// Elements of a collocated scheme whose nodes keep the free stream are collocated with
    /// [`MetricRule::Reference`] too.
    pub metric: Option<MetricRule>,
    /// Correction of flux reconstruction (nodal, collocated, strong form), or none for discontinuous
    /// Galerkin.
    pub correction: Correction,
    /// Whether the unknowns whose flux is zero, such as a velocity that carries the others, are given anew
    /// before each evaluation. Stages on devices then need not write them.
    pub given: bool,
}

impl Scheme {
    /// The modal scheme in weak form, with cubatures of degrees 2p and 2p + 1.
    #[must_use]
    pub const fn modal(order: usize) -> Self {
        Self {
            order,
            polynomials: None,
            representation: Representation::Modal,
            simplex_nodes: None,
            volume: None,
            face: None,
            form: Form::Weak,
            metric: None,
            correction: Correction::Dg,
            given: false,
        }
    }

    /// The nodal, collocated scheme: Gauss–Lobatto nodes on tensor shapes, warp & blend nodes on simplices.
    #[must_use]
    pub const fn collocated(order: usize) -> Self {
        Self {
            representation: Representation::Nodal(NodeSet::GaussLobatto),
            volume: Some(Cubature::Collocated),
            face: Some(Cubature::Collocated),
            ..Self::modal(order)
        }
    }

    /// The split form at Gauss–Lobatto nodes.
    #[must_use]
    pub const fn split(order: usize) -> Self {
        Self { form: Form::Split, ..Self::collocated(order) }
    }

    /// Flux reconstruction with the correction of parameter c (Vincent, Castonguay & Jameson 2011; see
    /// [`dgsuite_basis::correction`]): the flux is interpolated at the solution points, the nodes of `set`,
    /// and corrected at flux points on the faces,
    ///
    /// ```text
    /// du = (1/J) [ −Σ_d D_d F̂_d − (M + K)⁻¹ I_fᵀ W_f (f̂* − Σ_d N̂_d I_f F̂_d) ] .
    /// ```
    ///
    /// On curved elements the scheme uses `J∇r` at the solution points; the geometry is reduced to order p if
    /// its order is higher. The step bound includes the correction. Schemes with c > 0 are stable with larger
    /// steps: for upwind advection at p = 2, 3 the spectra of c_sd are 0.65 times as large as those of
    /// `c = 0` on quadrilaterals and 0.71 to 0.77 times on triangles, the spectra of c_hu 0.5 and 0.53 to
    /// 0.66 times.
    ///
    /// Schemes with c < 0 need smaller steps: the highest modes of the lift are θ = 1/(1 − c/c_−) times as
    /// large. The spectrum of advection is at most θ times as large (for c = c_−/2, where θ = 2: 2 times at
    /// p = 1, 1.85, 1.76, 1.69, 1.65 times at p = 2 … 5 on the line, 1.6 to 1.8 times on triangles). The
    /// spectrum of diffusion, which lifts twice, is at most θ² times as large (4 times at p = 1, then 3.32,
    /// 2.78, 2.41, 2.15).
    #[must_use]
    pub const fn flux_reconstruction(order: usize, set: NodeSet, c: Parameter) -> Self {
        Self {
            representation: Representation::Nodal(set),
            form: Form::Strong,
            correction: Correction::Vcjh(c),
            ..Self::collocated(order)
        }
    }

    /// The weak form at the nodes of the elliptic operator [`Sipdg`](crate::Sipdg): warp & blend on
    /// simplices, Gauss along lines on quadrilaterals, hexahedra and prisms, equispaced on pyramids. Vectors
    /// of the operator and fields of a state have the same entries in another order, see
    /// [`elliptic_places`](crate::elliptic_places).
    ///
    /// The volume cubature is that of the nodes on quadrilaterals and hexahedra, which has degree 2p + 1, and
    /// otherwise of degree 2p. `volume` and `face` can be changed to cubatures of a higher degree.
    #[must_use]
    pub const fn on_elliptic_nodes(order: usize) -> Self {
        Self {
            representation: Representation::Nodal(NodeSet::GaussLegendre),
            simplex_nodes: Some(NodeSet::WarpBlend),
            volume: Some(Cubature::Collocated),
            ..Self::modal(order)
        }
    }

    /// As [`on_elliptic_nodes`](Self::on_elliptic_nodes), for operators that are needed as loads: the
    /// residual tested with the functions. The metric rule inverts the mass matrix of the elliptic operator
    /// exactly where it can, and otherwise leaves it to [`Sipdg`](crate::Sipdg), whose
    /// [`load_of_residual`](crate::Sipdg::load_of_residual) turns residuals into loads.
    #[must_use]
    pub const fn loads_on_elliptic_nodes(order: usize) -> Self {
        Self { metric: Some(MetricRule::Reference), ..Self::on_elliptic_nodes(order) }
    }

    /// The representation on one shape.
    pub(crate) fn representation_on(&self, shape: Shape) -> Representation {
        match (self.representation, self.simplex_nodes, shape) {
            (Representation::Nodal(_), Some(set), Shape::Triangle | Shape::Tetrahedron) => {
                Representation::Nodal(set)
            }
            // The only nodes that pyramids have.
            (Representation::Nodal(_), Some(_), Shape::Pyramid) => Representation::Nodal(NodeSet::Equispaced),
            (r, _, _) => representation_on(r, shape),
        }
    }

    /// Whether there is a correction; flux reconstruction of order 0 is discontinuous Galerkin.
    pub(crate) fn corrected(&self) -> bool {
        self.correction != Correction::Dg && self.order > 0
    }
}

/// Number of basis functions of elements of a shape under `scheme`.
#[must_use]
pub fn basis_size(scheme: &Scheme, shape: Shape) -> usize {
    let polynomials = scheme.polynomials.unwrap_or(default_polynomials(scheme.representation, shape));
    dgsuite_basis::OrthonormalBasis::new(shape, scheme.order, polynomials).len()
}

/// Total degree on simplices and for Taylor bases, otherwise tensor products.
fn default_polynomials(representation: Representation, shape: Shape) -> Polynomials {
    let simplex = matches!(shape, Shape::Line | Shape::Triangle | Shape::Tetrahedron);
    let taylor = representation == Representation::Taylor && shape != Shape::Pyramid;
    if simplex || taylor { Polynomials::Total } else { Polynomials::Tensor }
}

/// The requirements of one shape of the mesh: the largest geometry order of its curved elements, if there are
/// any.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Need {
    pub(crate) shape: Shape,
    pub(crate) affine: bool,
    pub(crate) curved: Option<usize>,
}

/// The specification of one part of a group, and its metric rule.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct PartSpec {
    pub(crate) element: ElementSpec,
    pub(crate) rule: MetricRule,
}

/// Computes the specifications for affine and curved elements of each shape of the mesh.
pub(crate) fn resolve(
    scheme: &Scheme,
    needs: &[Need],
) -> Result<Vec<(Option<PartSpec>, Option<PartSpec>)>, OpsError> {
    let p = scheme.order;
    check_reconstruction(scheme, needs)?;
    check_split(scheme, needs)?;
    let reconstructs = scheme.corrected();
    let face = match scheme.face {
        Some(Cubature::Collocated) => {
            if let Some(need) = needs.iter().find(|n| n.shape == Shape::Pyramid) {
                return Err(OpsError::Scheme {
                    shape: need.shape,
                    reason: "pyramids have no collocated faces; give the face cubature by degree",
                });
            }
            // If nodal faces would not preserve the free stream, they are replaced by a cubature that does.
            if needs
                .iter()
                .all(|n| n.curved.is_none_or(|g| reconstructs || nodal_faces_are_exact(n.shape, p, g)))
            {
                Cubature::Collocated
            } else {
                Cubature::Degree((2 * p + 1).max(curved_face_degree(p, needs)))
            }
        }
        Some(nodes @ Cubature::Nodes(_)) => nodes,
        Some(Cubature::Degree(degree)) => Cubature::Degree(degree.max(curved_face_degree(p, needs))),
        None => Cubature::Degree((2 * p + 1).max(curved_face_degree(p, needs))),
    };
    needs
        .iter()
        .map(|need| {
            let affine = need.affine.then(|| part(scheme, need.shape, None, face)).transpose()?;
            let curved = need.curved.map(|n| part(scheme, need.shape, Some(n), face)).transpose()?;
            Ok((affine, curved))
        })
        .collect()
}

/// Checks that flux reconstruction is nodal, collocated and strong, on shapes that have corrections.
fn check_reconstruction(scheme: &Scheme, needs: &[Need]) -> Result<(), OpsError> {
    if scheme.correction == Correction::Dg {
        return Ok(());
    }
    if let Some(need) = needs.iter().find(|n| n.shape == Shape::Pyramid) {
        return Err(BasisError::NoCorrection { shape: need.shape }.into());
    }
    let Some(&Need { shape, .. }) = needs.first() else { return Ok(()) };
    let refuse = |reason| Err(OpsError::Scheme { shape, reason });
    if !matches!(scheme.representation, Representation::Nodal(_)) {
        return refuse("flux reconstruction needs a nodal basis");
    }
    if !matches!(scheme.volume, Some(Cubature::Collocated | Cubature::Nodes(_))) {
        return refuse("flux reconstruction evaluates the flux at its solution points, not by a cubature");
    }
    if scheme.form != Form::Strong {
        return refuse("flux reconstruction is a strong form");
    }
    Ok(())
}

/// Checks that split forms have summation by parts along lines of nodes that include the end points.
fn check_split(scheme: &Scheme, needs: &[Need]) -> Result<(), OpsError> {
    if scheme.form != Form::Split {
        return Ok(());
    }
    for &Need { shape, curved, .. } in needs {
        let refuse = |reason| Err(OpsError::Scheme { shape, reason });
        if !matches!(shape, Shape::Quadrilateral | Shape::Hexahedron) {
            return refuse("split forms are for quadrilaterals and hexahedra, whose nodes lie on lines");
        }
        let lobatto = scheme.representation_on(shape) == Representation::Nodal(NodeSet::GaussLobatto);
        let nodal = [scheme.volume, scheme.face].iter().all(|c| *c == Some(Cubature::Collocated));
        let metric = scheme.metric.is_none_or(|m| m == MetricRule::Collocated);
        if !lobatto || !nodal || !metric || scheme.polynomials == Some(Polynomials::Total) {
            return refuse("split forms need Gauss–Lobatto nodes, collocated in the volume and at the faces");
        }
        if scheme.order == 0 {
            return refuse("split forms need an order of 1 or more");
        }
        if curved.is_some_and(|n| n > scheme.order) {
            return refuse("split forms need elements whose geometry has no higher order than the scheme");
        }
    }
    Ok(())
}

/// The degree that integrates `φ n sJ` exactly on every curved face.
fn curved_face_degree(p: usize, needs: &[Need]) -> usize {
    needs
        .iter()
        .filter_map(|need| need.curved.map(|n| (need.shape, n)))
        .map(|(shape, n)| match shape {
            Shape::Line | Shape::Triangle | Shape::Quadrilateral => p + n - 1,
            Shape::Tetrahedron => p + 2 * (n - 1),
            _ => p + 2 * n - 1,
        })
        .max()
        .unwrap_or(0)
}

/// Whether the nodes of faces of geometry order `n` integrate `φ n sJ` exactly: by interpolation on
/// simplices, by the Gauss–Lobatto rule (or nodal metrics) on tensor shapes.
fn nodal_faces_are_exact(shape: Shape, p: usize, n: usize) -> bool {
    match shape {
        Shape::Line | Shape::Triangle => n <= p + 1,
        Shape::Tetrahedron => 2 * (n - 1) <= p,
        _ => n <= p,
    }
}

/// The degree that integrates `∇φ · (J∇r)` exactly in a curved element.
fn curved_volume_degree(shape: Shape, p: usize, n: usize) -> usize {
    match shape {
        Shape::Line | Shape::Triangle => (p + n).saturating_sub(2),
        Shape::Quadrilateral => (p + n).saturating_sub(1),
        Shape::Tetrahedron => (p + 2 * n).saturating_sub(3),
        _ => (p + 2 * n).saturating_sub(1),
    }
}

/// The representation on one shape. One name selects the nodes of all shapes: Gauss–Lobatto means warp &
/// blend on simplices, whose edges carry the Gauss–Lobatto points; pyramids are modal.
fn representation_on(representation: Representation, shape: Shape) -> Representation {
    match (representation, shape) {
        (Representation::Nodal(_) | Representation::Taylor, Shape::Pyramid) => Representation::Modal,
        (Representation::Nodal(NodeSet::GaussLobatto), Shape::Triangle | Shape::Tetrahedron) => {
            Representation::Nodal(NodeSet::WarpBlend)
        }
        (
            Representation::Nodal(NodeSet::WarpBlend),
            Shape::Quadrilateral | Shape::Hexahedron | Shape::Prism,
        ) => Representation::Nodal(NodeSet::GaussLobatto),
        (r, _) => r,
    }
}

fn part(scheme: &Scheme, shape: Shape, curved: Option<usize>, face: Cubature) -> Result<PartSpec, OpsError> {
    let p = scheme.order;
    let simplex = matches!(shape, Shape::Line | Shape::Triangle | Shape::Tetrahedron);
    let polynomials = scheme.polynomials.unwrap_or(default_polynomials(scheme.representation, shape));
    let representation = scheme.representation_on(shape);
    let modal = !matches!(representation, Representation::Nodal(_));
    let not_cubature =
        scheme.simplex_nodes.is_some() && (simplex || matches!(shape, Shape::Prism | Shape::Pyramid));
    let collocated = scheme.volume == Some(Cubature::Collocated) && !modal && !not_cubature;
    if scheme.volume == Some(Cubature::Collocated) && modal && shape != Shape::Pyramid {
        return Err(OpsError::Scheme { shape, reason: "a collocated cubature needs a nodal basis" });
    }
    let corrected = scheme.corrected();
    let asked = match scheme.volume {
        Some(Cubature::Degree(degree)) => degree,
        _ => 2 * p,
    };
    let (volume, rule) = match curved {
        None if collocated => (Cubature::Collocated, MetricRule::Affine),
        None if let Some(nodes @ Cubature::Nodes(_)) = scheme.volume => (nodes, MetricRule::Affine),
        None => (Cubature::Degree(asked), MetricRule::Affine),
        Some(n)
            if collocated
                && scheme
                    .metric
                    .is_none_or(|m| matches!(m, MetricRule::Collocated | MetricRule::Reference))
                && (corrected
                    || (!simplex && keeps_free_stream_at_nodes(shape, representation, face, p, n))) =>
        {
            (Cubature::Collocated, MetricRule::Collocated)
        }
        Some(n) => {
            let degree = asked.max(curved_volume_degree(shape, p, n));
            let rule = match scheme.metric {
                Some(rule @ (MetricRule::Stored | MetricRule::Reference)) => rule,
                _ => MetricRule::WeightAdjusted,
            };
            (Cubature::Degree(degree), rule)
        }
    };
    let correction = if corrected { scheme.correction } else { Correction::Dg };
    let element = ElementSpec { shape, order: p, polynomials, representation, volume, face, correction };
    Ok(PartSpec { element, rule })
}

/// Whether nodal metrics of geometry order `n` satisfy the metric identities and agree across faces. The
/// geometry must be in the space. In three dimensions, moreover, either the curl form must be determined by
/// the nodes on the face (Gauss–Lobatto; Kopriva 2006) and the face be integrated with them (which is not the
/// case if tetrahedra in the mesh need a cubature), or no product must be truncated.
fn keeps_free_stream_at_nodes(
    shape: Shape,
    representation: Representation,
    face: Cubature,
    p: usize,
    n: usize,
) -> bool {
    let on_faces =
        representation == Representation::Nodal(NodeSet::GaussLobatto) && face == Cubature::Collocated;
    n <= p && (shape.dim() == 2 || on_faces || 2 * n <= p)
}
