//! Operators of the lifted gradient (BR2).
//!
//! BR2 is the second scheme of Bassi & Rebay 1997 and Bassi, Rebay, Mariotti, Pedinotti & Savini 1997. With
//! the half jump `[u]_f = ½ (u⁺ − u⁻)` on face `f` (on a boundary `u_b − u⁻`), the gradients in an element,
//! in reference coordinates, are
//!
//! ```text
//! g_d   = D_d u + Σ_f N̂_d^f L_f [u]_f          in the volume,
//! g_d^f = D_d u + η N̂_d^f L_f [u]_f            on face f,        ∇u = Σ_d ∇r_d g_d.
//! ```
//!
//! As `n sJ = Σ_d N̂_d J∇r_d`, this is the lifting `∫ r_f·τ = ∮_f [u] n·τ` for every `τ` whose contravariant
//! components are polynomials. The matrices do not contain the metric, so they serve affine and curved
//! elements. The gradient of a linear field is exact (if the geometry is in the space), that of a constant
//! field is zero.
//!
//! The operator is coercive for `η > n_f`, the number of faces, and bounded below for `η = n_f` (Brezzi,
//! Manzini, Marini, Pietra & Russo 2000; Arnold, Brezzi, Cockburn & Marini 2002), because
//! `‖Σ_f r_f‖² ≤ n_f Σ_f ‖r_f‖²`: the liftings of at most `n_f` faces overlap at a point. The default is
//! `η = n_f`.

pub(crate) mod spectrum;
mod tensor;

use crate::lanes::panel::{Panels, Rows};
use crate::lanes::simd::PackScalar;
use crate::space::chain::{Chain, FaceFactors};
use crate::space::geometry::{GeometryBasis, gradients, reference_normal, volume_factors};
use crate::space::group::{Group, Part, element_points};
use crate::space::layout::Lanes;
use crate::space::scheme::MetricRule;
use dgsuite_basis::{Cubature, Matrix, ReferenceElement, Shape};
use dgsuite_gpu::{Buffer, Element, GpuError};
use dgsuite_mesh::Mesh;
use rayon::prelude::*;

/// The lifting operators of one part as sparse factors. With each factor goes the number of rows that follow
/// one another along the first direction. Columns: basis functions, then the half jumps at face points.
pub(crate) struct LiftFactors {
    /// From `[u; [u]_f]` to `u` at volume points (omitted if collocated), then `g_d`, direction after
    /// direction.
    pub(crate) gradient: Vec<(Rows, usize)>,
    /// From `[u; [u]_f]` to `g_d^f` at the face points, direction after direction.
    pub(crate) face_gradient: Vec<(Rows, usize)>,
}

impl LiftFactors {
    /// Builds the operators of `reference`; `eta` is the weight of the liftings on their own faces.
    pub(crate) fn new(reference: &ReferenceElement, eta: f64) -> Self {
        let shape = reference.spec.shape;
        let dim = shape.dim();
        let (np, nq, nf) = (reference.n_basis, reference.volume.points.len(), reference.face_points.len());
        let collocated = reference.spec.volume == Cubature::Collocated;
        if let Some(t) = reference.tensor.as_ref().filter(|_| !collocated) {
            return Self {
                gradient: tensor::gradient(reference, t),
                face_gradient: tensor::face_gradient(reference, t, eta),
            };
        }
        let normals = point_normals(reference);
        let lifted =
            if collocated { reference.lift.clone() } else { reference.interp_volume.mul(&reference.lift) };
        let mut rows = Vec::new();
        if !collocated {
            rows.extend(Rows::dense(&reference.interp_volume).rows);
        }
        for d in 0..dim {
            let jumps = Matrix::from_fn(nq, nf, |q, k| normals[k][d] * lifted[(q, k)]);
            rows.extend(Rows::dense(&reference.derivative[d]).beside(&Rows::dense(&jumps)).rows);
        }
        let gradient = Rows { cols: np + nf, rows };

        let mut rows = Vec::new();
        let own = own_liftings(reference, eta);
        let slopes = face_derivatives(reference);
        for d in 0..dim {
            let jumps = Matrix::from_fn(nf, nf, |q, k| normals[k][d] * own[(q, k)]);
            rows.extend(Rows::dense(&slopes[d]).beside(&Rows::dense(&jumps)).rows);
        }
        let face_gradient = Rows { cols: np + nf, rows };
        Self { gradient: vec![(gradient, nq)], face_gradient: vec![(face_gradient, nf)] }
    }
}

/// `L` as sparse factors.
pub(crate) fn lift_factors(reference: &ReferenceElement) -> Vec<(Rows, usize)> {
    let collocated = reference.spec.volume == Cubature::Collocated;
    if let Some(t) = reference.tensor.as_ref().filter(|_| !collocated) {
        let faces = FaceFactors::new(reference, t);
        return vec![(faces.project, t.n_basis_1d), (faces.lift, t.n_basis_1d)];
    }
    let line = reference.tensor.as_ref().map_or(reference.n_basis, |t| t.n_basis_1d);
    vec![(Rows::dense(&reference.lift), line)]
}

/// The face of a face point.
pub(crate) fn face_of(reference: &ReferenceElement, point: usize) -> usize {
    reference.face_offsets[1..].partition_point(|&end| end <= point)
}

/// `N̂` at each face point.
pub(crate) fn point_normals(reference: &ReferenceElement) -> Vec<[f64; 3]> {
    let of = |q: usize| reference_normal(reference.spec.shape, face_of(reference, q));
    (0..reference.face_points.len()).map(of).collect()
}

/// `∂φ_i/∂r_d` at the face points. On faces that carry nodes of a collocated element, the rows are those of
/// the nodes.
pub(crate) fn face_derivatives(reference: &ReferenceElement) -> Vec<Matrix> {
    let dim = reference.spec.shape.dim();
    let (nf, np) = (reference.face_points.len(), reference.n_basis);
    match &reference.face_nodes {
        Some(nodes) if reference.spec.volume == Cubature::Collocated => {
            let at: Vec<usize> = nodes.iter().flatten().copied().collect();
            (0..dim).map(|d| Matrix::from_fn(nf, np, |k, i| reference.derivative[d][(at[k], i)])).collect()
        }
        _ => reference.gradient(&reference.face_points).into_iter().take(dim).collect(),
    }
}

/// The lifting operators and geometry of one part.
pub(crate) struct Lifting<T: Element> {
    pub(crate) gradients: Gradients<T>,
    pub(crate) lift: Chain<T>,
    /// `∇r_d` at the face points of curved elements, `[block][point][d][x][lane]`; empty if affine.
    pub(crate) face_metric: Buffer<T>,
}

/// How gradients are computed.
pub(crate) enum Gradients<T> {
    /// From coefficients and half jumps together.
    Joined { gradient: Chain<T>, face_gradient: Chain<T> },
    /// Collocated, with nodes on the faces: derivatives at the nodes are used on the faces too, before the
    /// jumps are added.
    Nodal {
        /// `D_d`.
        slopes: Chain<T>,
        /// `N̂_d L`, `[d][node]` × face points; rows of nodes that are not on faces may be empty.
        jumps: Panels<T>,
        /// `η I_f L_f`, face by face.
        own: Chain<T>,
        /// `N̂`, `[face][d]`.
        normals: Vec<T>,
    },
}

impl<T: PackScalar> Gradients<T> {
    fn new(reference: &ReferenceElement, eta: f64, rows_per_panel: usize, width: usize) -> Self {
        let chain = |f: &[(Rows, usize)]| Chain::new(f, rows_per_panel, width);
        let collocated = reference.spec.volume == Cubature::Collocated;
        if !collocated || reference.face_nodes.is_none() {
            let LiftFactors { gradient, face_gradient } = LiftFactors::new(reference, eta);
            return Self::Joined { gradient: chain(&gradient), face_gradient: chain(&face_gradient) };
        }
        let shape = reference.spec.shape;
        let (dim, np, nf) = (shape.dim(), reference.n_basis, reference.face_points.len());
        let line = reference.tensor.as_ref().map_or(np, |t| t.n_basis_1d);
        let normals = point_normals(reference);
        let stacked = |of: &dyn Fn(usize) -> Matrix| {
            let rows: Vec<_> = (0..dim).flat_map(|d| Rows::dense(&of(d)).rows).collect();
            let cols = of(0).cols();
            Rows { cols, rows }
        };
        let slopes = stacked(&|d| reference.derivative[d].clone());
        let jumps = stacked(&|d| Matrix::from_fn(np, nf, |i, k| normals[k][d] * reference.lift[(i, k)]));
        let own = Rows::dense(&own_liftings(reference, eta));
        let per_face = (0..shape.n_faces()).flat_map(|f| reference_normal(shape, f).into_iter().take(dim));
        Self::Nodal {
            slopes: chain(&[(slopes, line)]),
            jumps: Panels::filled(&jumps, rows_per_panel, width),
            own: chain(&[(own, nf / shape.n_faces())]),
            normals: per_face.map(T::from_f64).collect(),
        }
    }

    /// Number of rows: of coefficients and jumps, of gradients in the volume, of gradients at faces, and the
    /// largest number between factors.
    pub(crate) fn rows(&self, nf: usize) -> [usize; 4] {
        match self {
            Self::Joined { gradient, face_gradient } => [
                gradient.cols(),
                gradient.rows(),
                face_gradient.rows(),
                gradient.widest().max(face_gradient.widest()),
            ],
            // The liftings on their own faces follow the gradients at faces.
            Self::Nodal { slopes, own, normals, .. } => {
                let dim = slopes.rows() / slopes.cols();
                debug_assert_eq!(normals.len() % dim, 0);
                [slopes.cols() + nf, slopes.rows(), (dim + 1) * own.rows(), slopes.widest().max(own.widest())]
            }
        }
    }

    fn multiply_adds(&self) -> usize {
        match self {
            Self::Joined { gradient, face_gradient } => {
                gradient.multiply_adds() + face_gradient.multiply_adds()
            }
            Self::Nodal { slopes, jumps, own, .. } => {
                slopes.multiply_adds() + jumps.multiply_adds() + own.multiply_adds()
            }
        }
    }
}

/// `η I_f L_f`: the lifting of each face, evaluated at its own points.
fn own_liftings(reference: &ReferenceElement, eta: f64) -> Matrix {
    let nf = reference.face_points.len();
    let own = reference.interp_face.mul(&reference.lift);
    Matrix::from_fn(nf, nf, |q, k| {
        if face_of(reference, q) == face_of(reference, k) { eta * own[(q, k)] } else { 0.0 }
    })
}

impl<T: PackScalar> Lifting<T> {
    /// Multiply–adds of both passes, per element and field.
    pub(crate) fn multiply_adds(&self) -> usize {
        self.gradients.multiply_adds() + self.lift.multiply_adds()
    }
}

/// Weight of the liftings on their own faces: `eta`, or the number of faces.
pub(crate) fn penalty(shape: Shape, eta: Option<f64>) -> f64 {
    eta.unwrap_or(shape.n_faces() as f64)
}

/// Adds the lifting operators to each part of a group.
///
/// # Errors
/// [`GpuError`] if memory cannot be allocated.
pub(crate) fn add_lifting<T: PackScalar>(
    group: &mut Group<T>,
    mesh: &Mesh,
    eta: Option<f64>,
    lanes: Lanes,
) -> Result<(), GpuError> {
    let rows_per_panel = match lanes {
        Lanes::Simd(level) => T::panel_rows(level, group.state.fields),
        Lanes::Device(..) => 1,
    };
    let lanes = group.state.lanes;
    let width = group.state.fields * lanes;
    for part in &mut group.parts {
        let gradients = Gradients::new(&part.reference, penalty(group.shape, eta), rows_per_panel, width);
        let lift = Chain::new(&lift_factors(&part.reference), rows_per_panel, width);
        let curved = part.spec.rule != MetricRule::Affine;
        let nf = part.reference.face_points.len();
        let mut face_metric =
            Buffer::zeros(if curved { part.n_blocks * nf * mesh.dim * mesh.dim * lanes } else { 0 })?;
        if curved {
            let elements = &group.elements[part.first_block * lanes..][..part.n_blocks * lanes];
            let bases = FaceBases::new(mesh, &part.reference);
            let part = &*part;
            let fill = |(b, (elements, block)): (usize, (&[u32], &mut [T]))| {
                for (lane, &element) in elements.iter().enumerate() {
                    let metric = of_faces(part, b * lanes + lane, element as usize, lanes, mesh, &bases);
                    for (q, g) in metric.iter().enumerate() {
                        for d in 0..mesh.dim {
                            for x in 0..mesh.dim {
                                let row = (q * mesh.dim + d) * mesh.dim + x;
                                block[row * lanes + lane] = T::from_f64(g[d][x]);
                            }
                        }
                    }
                }
            };
            let blocks = face_metric.par_chunks_mut(nf * mesh.dim * mesh.dim * lanes);
            elements.par_chunks(lanes).zip(blocks).enumerate().for_each(fill);
        }
        part.lifting = Some(Lifting { gradients, lift, face_metric });
    }
    Ok(())
}

/// `∇r_d` at the face points of slot `slot` of the group.
pub(crate) fn face_metrics<T: PackScalar>(
    part: &Part<T>,
    slot: usize,
    group: &Group<T>,
    mesh: &Mesh,
    bases: &FaceBases,
) -> Vec<[[f64; 3]; 3]> {
    let lanes = group.state.lanes;
    of_faces(part, slot - part.first_block * lanes, group.elements[slot] as usize, lanes, mesh, bases)
}

/// As [`face_metrics`], for slot `slot` of the part. Where curved elements are collocated and faces carry
/// nodes, the metric is that of the nodes.
fn of_faces<T: PackScalar>(
    part: &Part<T>,
    slot: usize,
    element: usize,
    lanes: usize,
    mesh: &Mesh,
    bases: &FaceBases,
) -> Vec<[[f64; 3]; 3]> {
    match &part.reference.face_nodes {
        Some(nodes) if part.spec.rule == MetricRule::Collocated => {
            nodes.iter().flatten().map(|&q| nodal_metric(part, slot, q, lanes, mesh.dim)).collect()
        }
        _ => exact_metric(mesh, element, bases),
    }
}

/// `∇r_d` at node `q`, from the volume metric.
fn nodal_metric<T: PackScalar>(
    part: &Part<T>,
    slot: usize,
    q: usize,
    lanes: usize,
    dim: usize,
) -> [[f64; 3]; 3] {
    let (block, lane) = (slot / lanes, slot % lanes);
    let point = block * part.n_points + q;
    let inverse = part.inverse_jacobian[point * lanes + lane].to_f64();
    let entry = |d: usize, x: usize| part.metric[((point * dim + d) * dim + x) * lanes + lane].to_f64();
    let mut out = [[0.0; 3]; 3];
    for d in 0..dim {
        for x in 0..dim {
            out[d][x] = entry(d, x) * inverse;
        }
    }
    out
}

/// The maps of the elements of a reference element's shape, at its face points, by geometry order.
pub(crate) struct FaceBases(Vec<(usize, GeometryBasis)>);

impl FaceBases {
    /// For all geometry orders that the shape has in the mesh.
    pub(crate) fn new(mesh: &Mesh, reference: &ReferenceElement) -> Self {
        let shape = reference.spec.shape;
        let mut orders: Vec<usize> =
            mesh.sets.iter().filter(|set| set.shape == shape).map(|set| set.order).collect();
        orders.sort_unstable();
        orders.dedup();
        let of = |order| (order, GeometryBasis::new(shape, order, &reference.face_points));
        Self(orders.into_iter().map(of).collect())
    }
}

/// `∇r_d` at the face points, from the map of the element.
pub(crate) fn exact_metric(mesh: &Mesh, element: usize, bases: &FaceBases) -> Vec<[[f64; 3]; 3]> {
    let (set, local) = mesh.locate(element);
    let order = mesh.sets[set].order;
    let basis = bases.0.iter().find(|(of, _)| *of == order).or(bases.0.first());
    basis.map_or_else(Vec::new, |(_, basis)| metric_of(mesh.dim, basis, &element_points(mesh, set, local)))
}

/// `∇r_d` at the points of a geometry basis, for the element with lattice nodes `x`.
pub(crate) fn metric_of(dim: usize, basis: &GeometryBasis, x: &[[f64; 3]]) -> Vec<[[f64; 3]; 3]> {
    (0..basis.len())
        .map(|q| {
            let (j, a) = volume_factors(dim, &basis.tangents(q, x));
            gradients(a, j)
        })
        .collect()
}
