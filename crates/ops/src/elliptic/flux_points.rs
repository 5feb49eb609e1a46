//! The points of boundaries by which first-order laws integrate their fluxes, as sparse matrices for vectors
//! of the operator.
//!
//! A prescribed flux or pressure is tested with the functions there. If these are the points of the law, the
//! load of constant data is exactly minus that of the volume and of all inner faces, so that a uniform flow
//! remains. On curved faces the elliptic operator has other points, see
//! [`BoundaryPoints`](super::BoundaryPoints).

use super::boundary_points::sparse_row::{SparseRow, sparse};
use super::{Beyond, Sipdg, Space, Triplet};
use crate::error::OpsError;
use crate::lanes::simd::PackScalar;
use crate::space::geometry::{GeometryTables, face_factors};
use crate::space::positions::positions;
use dgsuite_basis::{ElementSpec, ReferenceElement};

/// The points of first-order laws on some boundaries, and the maps between functions there and vectors of an
/// operator, see [`Sipdg::flux_points`].
///
/// Matrices are lists of entries without zeros, as those of [`BoundaryPoints`](super::BoundaryPoints).
#[derive(Clone, Debug, Default)]
pub struct FluxPoints {
    /// Positions.
    pub points: Vec<[f64; 3]>,
    /// Outward unit normals.
    pub normals: Vec<[f64; 3]>,
    /// Weights of the cubature times `sJ`.
    pub weights: Vec<f64>,
    /// The index of each point's boundary in the list of names.
    pub boundary: Vec<u32>,
    /// The element of each point, as numbered in the operator's mesh.
    pub elements: Vec<u32>,
    /// For each point the entries of its element in vectors, and the values of the functions.
    rows: Vec<SparseRow>,
}

impl FluxPoints {
    /// Number of points.
    #[must_use]
    pub fn len(&self) -> usize {
        self.points.len()
    }

    /// Whether there are no points.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.points.is_empty()
    }

    /// The matrix of `u`.
    #[must_use]
    pub fn value(&self) -> Vec<Triplet> {
        let rows = self.rows.iter().enumerate();
        rows.flat_map(|(q, row)| row.iter().map(move |&(i, v)| (q, i as usize, v))).collect()
    }

    /// The matrix of the load `⟨g, φ⟩`.
    #[must_use]
    pub fn load(&self) -> Vec<Triplet> {
        self.value().into_iter().map(|(q, i, v)| (i, q, v * self.weights[q])).collect()
    }
}

/// The tables of one part of a group.
struct OfPart {
    reference: ReferenceElement,
    /// By geometry order.
    geometry: Vec<(usize, GeometryTables)>,
}

impl<T: PackScalar> Sipdg<T> {
    /// The points of the boundaries of the mesh with these names at which a law with the scheme
    /// [`Scheme::loads_on_elliptic_nodes`](crate::Scheme::loads_on_elliptic_nodes) evaluates its fluxes, in
    /// the order of the mesh's elements. Names that the mesh does not have are ignored.
    ///
    /// # Errors
    /// [`OpsError::Basis`] if a reference element cannot be made.
    pub fn flux_points(&self, names: &[&str]) -> Result<FluxPoints, OpsError> {
        let space = &self.space;
        let mesh = &space.problem.mesh;
        let wanted: Vec<Option<usize>> =
            mesh.boundaries.iter().map(|tag| names.iter().position(|n| *n == tag.name)).collect();
        let tables = space.flux_tables()?;
        let faces = space.in_pieces(|element, all: &mut Vec<FluxPoints>| {
            for face in 0..mesh.shape(element).n_faces() {
                let Beyond::Boundary(b) = space.across(element, face) else { continue };
                if let Some(boundary) = wanted.get(b as usize).copied().flatten() {
                    let (g, p) = space.part_of(element);
                    all.push(space.fluxes_of_face((element, face), boundary, &tables[g][p]));
                }
            }
            Ok::<(), OpsError>(())
        })?;
        let mut out = FluxPoints::default();
        for mut face in faces {
            out.points.append(&mut face.points);
            out.normals.append(&mut face.normals);
            out.weights.append(&mut face.weights);
            out.boundary.append(&mut face.boundary);
            out.elements.append(&mut face.elements);
            out.rows.append(&mut face.rows);
        }
        Ok(out)
    }
}

impl<T: PackScalar> Space<T> {
    /// `[group][part]`.
    fn flux_tables(&self) -> Result<Vec<Vec<OfPart>>, OpsError> {
        let sets = &self.problem.mesh.sets;
        let of_part = |g: usize, p: usize| -> Result<OfPart, OpsError> {
            let own = self.groups[g].parts[p].reference.spec;
            let reference =
                ReferenceElement::new(&ElementSpec { face: self.loads[g][p].element.face, ..own })?;
            let mut orders: Vec<usize> =
                sets.iter().filter(|s| s.shape == own.shape).map(|s| s.order).collect();
            orders.dedup();
            let tables = |&n: &usize| (n, GeometryTables::new(own.shape, n, &reference, false));
            let geometry = orders.iter().map(tables).collect();
            Ok(OfPart { reference, geometry })
        };
        let parts = |g: usize| (0..self.groups[g].parts.len()).map(|p| of_part(g, p)).collect();
        (0..self.groups.len()).map(parts).collect()
    }

    fn fluxes_of_face(
        &self,
        (element, face): (usize, usize),
        boundary: usize,
        OfPart { reference, geometry }: &OfPart,
    ) -> FluxPoints {
        let mesh = &self.problem.mesh;
        let (set, _) = mesh.locate(element);
        let (shape, order) = (mesh.sets[set].shape, mesh.sets[set].order);
        let of_order = &geometry[geometry.iter().position(|(n, _)| *n == order).unwrap_or(0)].1;
        let x = self.nodes(element);
        let range = reference.face_offsets[face]..reference.face_offsets[face + 1];
        let factors: Vec<([f64; 3], f64)> =
            range.clone().map(|q| face_factors(shape, face, &of_order.face.tangents(q, &x))).collect();
        let (first, stride) = self.rows(element);
        let row = |q: usize| sparse(reference.interp_face.row(q), |i| (first + i * stride) as u32);
        FluxPoints {
            points: positions(mesh, element, &reference.face_points[range.clone()]),
            normals: factors.iter().map(|(n, _)| *n).collect(),
            weights: range.clone().zip(&factors).map(|(q, (_, s))| s * reference.face_weights[q]).collect(),
            boundary: vec![boundary as u32; range.len()],
            elements: vec![element as u32; range.len()],
            rows: range.map(row).collect(),
        }
    }
}
