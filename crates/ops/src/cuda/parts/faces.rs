//! Tables by which kernels read the traces of a group's elements and of their neighbours.
//!
//! If face points are nodes, traces are read from the state. Otherwise either a kernel has written them
//! before, or the kernel interpolates them from the nodes on the face.

use crate::cuda::simplices::fragments::face_interpolation;
use crate::error::OpsError;
use crate::lanes::simd::PackScalar;
use crate::space::connect::{Neighbours, ORIENTATIONS, orientation_tables};
use crate::space::group::Group;
use dgsuite_basis::{Cubature, ElementSpec, ReferenceElement};

/// Location of the traces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TraceSource {
    /// In the state.
    State,
    /// In the array of traces that a kernel has written.
    Traces,
    /// Interpolated from the nodes on the face.
    FaceNodes,
}

/// Tables of rows for the faces of a group.
pub(crate) struct FaceTables<T> {
    pub(crate) source: TraceSource,
    /// `[face][entry]`: offset of the element's own row in a block.
    pub(crate) own: Vec<u32>,
    /// `[code][entry]`: offset of the row across, in the order of the own face; `len` entries for each code.
    pub(crate) rows: Vec<u32>,
    pub(crate) len: usize,
    /// The order in which the terms of a point are added up: entries of a face; a single 0 if points are
    /// entries.
    sum_order: Vec<usize>,
    /// Face points from entries in that order, `[point of a face][term]`; a single 1 if points are entries.
    pub(crate) weights: Vec<T>,
    /// Number of entries from which a point is interpolated.
    pub(crate) n_inner: usize,
}

impl<T: PackScalar> FaceTables<T> {
    /// Tables of the scheme's face points, which are nodes or traces.
    pub(crate) fn of_points(group: &Group<T>, neighbours: &Neighbours) -> Self {
        let own = match &group.face_nodes {
            Some(nodes) => nodes.iter().map(|&n| n * group.state.row_stride() as u32).collect(),
            None => (0..group.trace.rows).map(|q| (q * group.trace.row_stride()) as u32).collect(),
        };
        Self {
            source: if group.face_nodes.is_some() { TraceSource::State } else { TraceSource::Traces },
            own,
            rows: neighbours.tables.clone(),
            len: neighbours.table_len,
            sum_order: vec![0],
            weights: vec![T::from_f64(1.0)],
            n_inner: 1,
        }
    }

    /// Tables of the nodes on the faces, from which the face points of a simplex are interpolated;
    /// `sum_order` is the order in which the kernels add up the terms of a face's nodes.
    pub(crate) fn of_nodes(
        group: &Group<T>,
        face_nodes: &[Vec<usize>],
        sum_order: &[usize],
    ) -> Result<Self, OpsError> {
        let scale = group.state.row_stride();
        let reference = &group.parts[0].reference;
        let row = |face: usize, entry: usize| (face_nodes[face][entry] * scale) as u32;
        let len = face_nodes[0].len();
        let n_faces = group.shape.n_faces();
        let rows = if reference.n_basis == 1 {
            vec![0; n_faces * ORIENTATIONS]
        } else {
            let spec = ElementSpec { face: Cubature::Collocated, ..reference.spec };
            let nodal = ReferenceElement::new(&spec)?;
            orientation_tables(group.shape, &nodal, len, row)?
        };
        let own = (0..n_faces).flat_map(|f| (0..len).map(move |m| row(f, m))).collect();
        let of_points = face_interpolation(reference, face_nodes).ok_or(OpsError::NotOnDevices {
            what: "traces that do not only depend on the nodes of their face",
        })?;
        let terms = |q| sum_order.iter().map(move |&m| (q, m));
        let weights = (0..of_points.rows).flat_map(terms).map(|at| T::from_f64(of_points[at])).collect();
        let sum_order = sum_order.to_vec();
        Ok(Self { source: TraceSource::FaceNodes, own, rows, len, sum_order, weights, n_inner: len })
    }

    /// The tables `own` and `rows`, one after the other, with the entries of each face in the order in which
    /// they are added up: points computed from them have the bits that kernels compute.
    pub(crate) fn places(&self) -> Vec<u32> {
        let faces = [&self.own, &self.rows].into_iter().flat_map(|table| table.chunks(self.n_inner));
        faces.flat_map(|face| self.sum_order.iter().map(|&m| face[m])).collect()
    }

    /// The first entry of point `q` (of a face) whose table entries begin at `first`, and the offset of its
    /// weights.
    pub(crate) fn point(&self, first: usize, q: usize) -> (u32, u32) {
        match self.source {
            TraceSource::FaceNodes => (first as u32, (q * self.n_inner) as u32),
            _ => ((first + q) as u32, 0),
        }
    }
}
