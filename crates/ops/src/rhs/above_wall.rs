//! States at a height above the points of a boundary.
//!
//! The point at a height lies in the element of the boundary's face or beyond it; its place in an element and
//! the values of the basis there are computed once. Each evaluation of the residual interpolates the state
//! there. The element of the face is tried first, so that the places do not depend on the parts of a mesh.

use crate::error::OpsError;
use crate::formulas::above_wall::AboveWallKernel;
use crate::lanes::simd::PackScalar;
use crate::rhs::boundary_set::BoundarySet;
use crate::space::above::{Base, Height, places_above};
use crate::space::connect::BoundaryFace;
use crate::space::group::Group;
use dgsuite_gpu::Host;
use dgsuite_mesh::Mesh;
use rayon::prelude::*;
use std::collections::HashMap;

/// Points of a chunk of work.
const CHUNK: usize = 64;

/// Points whose places lie in elements of one group.
pub(crate) struct Run<T> {
    /// Offset of the group in the state.
    pub(crate) offset: usize,
    /// Offsets of the rows of an element in the state.
    pub(crate) rows: Vec<u32>,
    /// Stride between the unknowns of a row.
    pub(crate) stride: usize,
    /// Points of the boundary.
    pub(crate) points: Vec<u32>,
    /// Offset of the element of each point in the group.
    pub(crate) begin: Vec<u64>,
    /// Values of the basis, `[point][basis function]`.
    pub(crate) weights: Vec<T>,
    /// Outward unit normals of the boundary, `[point][D]`.
    pub(crate) normals: Vec<T>,
    /// Heights.
    pub(crate) heights: Vec<T>,
}

/// The places above all points of a boundary.
pub(crate) struct Above<T> {
    pub(crate) runs: Vec<Run<T>>,
    /// The elements with places.
    pub(crate) elements: Vec<usize>,
    /// Work space of each run: states and data.
    work: Vec<[Vec<T>; 2]>,
}

impl<T: PackScalar> Above<T> {
    /// Finds the places above the points of `set` with the faces `faces`. On several ranks only the elements
    /// of the faces are searched.
    ///
    /// # Errors
    /// [`OpsError::NothingAbove`] if there is no element at the height of a point.
    pub(crate) fn new(
        mesh: &Mesh,
        groups: &[Group<T>],
        faces: &[BoundaryFace],
        set: &BoundarySet<T>,
        height: Height,
        beyond: bool,
    ) -> Result<Self, OpsError> {
        let volumes = mesh.volumes();
        let mut points = Vec::with_capacity(set.positions.len());
        for (f, face) in faces.iter().enumerate() {
            let of_face = set.first[f]..set.first[f + 1];
            let element = groups[face.group as usize].elements[face.slot as usize] as usize;
            let height = height.above(volumes[element], set.weight[of_face.clone()].iter().sum());
            for p in of_face {
                let n = &set.normal[p * mesh.dim..][..mesh.dim];
                let normal = std::array::from_fn(|d| n.get(d).map_or(0.0, |n| n.to_f64()));
                points.push(Base { element, at: set.positions[p], normal, height });
            }
        }
        let places = places_above(mesh, &set.binding.name, &points, beyond)?;
        let slots: HashMap<u32, (usize, usize)> = groups
            .iter()
            .enumerate()
            .flat_map(|(g, group)| group.real_slots().map(move |slot| (group.elements[slot], (g, slot))))
            .collect();
        let mut runs: Vec<Option<Run<T>>> = groups.iter().map(|_| None).collect();
        for (p, (&(element, r), point)) in places.iter().zip(&points).enumerate() {
            let (g, slot) = slots[&(element as u32)];
            let (group, state) = (&groups[g], groups[g].state);
            let reference = &group.part_of(slot / state.lanes).reference;
            let run = runs[g].get_or_insert_with(|| Run {
                offset: group.offset,
                rows: (0..state.rows).map(|row| (row * state.row_stride()) as u32).collect(),
                stride: state.field_stride(),
                points: Vec::new(),
                begin: Vec::new(),
                weights: Vec::new(),
                normals: Vec::new(),
                heights: Vec::new(),
            });
            let basis = reference.evaluate(&[r]);
            run.weights.extend((0..state.rows).map(|i| T::from_f64(basis[(0, i)])));
            run.points.push(p as u32);
            run.begin.push(state.index(slot, 0, 0) as u64);
            run.normals.extend_from_slice(&set.normal[p * mesh.dim..][..mesh.dim]);
            run.heights.push(T::from_f64(point.height));
        }
        let mut elements: Vec<usize> = places.iter().map(|place| place.0).collect();
        elements.sort_unstable();
        elements.dedup();
        let runs: Vec<Run<T>> = runs.into_iter().flatten().collect();
        let room = |run: &Run<T>| vec![T::ZERO; run.points.len() * groups[0].state.fields];
        Ok(Self { work: runs.iter().map(|run| [room(run), room(run)]).collect(), runs, elements })
    }

    /// Scalars of the tables.
    pub(crate) fn len(&self) -> usize {
        let work = self.work.iter().flatten().map(Vec::len);
        let tables = self.runs.iter().map(|run| run.weights.len() + run.normals.len() + run.heights.len());
        work.chain(tables).sum()
    }
}

impl<T: PackScalar> Run<T> {
    /// Computes the data of all points of the run, `[point][field]`; `states` is work space of this size.
    fn evaluate(
        &self,
        kernel: &dyn AboveWallKernel<T>,
        u: &[T],
        host: &Host,
        states: &mut [T],
        found: &mut [T],
    ) {
        let n = self.points.len();
        let (rows, dim, fields) = (self.rows.len(), self.normals.len() / n, found.len() / n);
        let chunk = |(i, (states, found)): (usize, (&mut [T], &mut [T]))| {
            let first = i * CHUNK;
            let points = first..first + found.len() / fields;
            for (state, q) in states.chunks_exact_mut(fields).zip(points.clone()) {
                let element = &u[self.offset + self.begin[q] as usize..];
                let weights = &self.weights[q * rows..(q + 1) * rows];
                for (k, value) in state.iter_mut().enumerate() {
                    let of = |&row: &u32| element[row as usize + k * self.stride].to_f64();
                    let sum: f64 = self.rows.iter().zip(weights).map(|(row, w)| of(row) * w.to_f64()).sum();
                    *value = T::from_f64(sum);
                }
            }
            let normals = &self.normals[points.start * dim..points.end * dim];
            kernel.data(states, normals, &self.heights[points], found);
        };
        let chunks = states.par_chunks_mut(CHUNK * fields).zip(found.par_chunks_mut(CHUNK * fields));
        host.install(|| chunks.enumerate().for_each(chunk));
    }

    /// Writes the data of the run to those of the boundary.
    fn scatter(&self, found: &[T], data: &mut [T]) {
        let fields = found.len() / self.points.len();
        for (&p, found) in self.points.iter().zip(found.chunks_exact(fields)) {
            data[p as usize * fields..][..fields].copy_from_slice(found);
        }
    }
}

impl<T: PackScalar> BoundarySet<T> {
    /// Scalars of the tables of [`Above`].
    pub(crate) fn len_above(&self) -> usize {
        self.above.as_ref().map_or(0, Above::len)
    }

    /// Updates the data from the state `u` above the boundary, if they come from there.
    pub(crate) fn update_from_above(&mut self, u: &[T], host: &Host) {
        let (Some(above), Some(kernel)) = (&mut self.above, self.binding.kernel.above()) else { return };
        for (run, [states, found]) in above.runs.iter().zip(&mut above.work) {
            run.evaluate(kernel, u, host, states, found);
            run.scatter(found, &mut self.data);
        }
    }

    /// Computes into `data` what [`update_from_above`](Self::update_from_above) does.
    pub(crate) fn data_from_above(&self, u: &[T], host: &Host, data: &mut [T]) {
        let (Some(above), Some(kernel)) = (&self.above, self.binding.kernel.above()) else { return };
        for (run, [states, found]) in above.runs.iter().zip(&mut above.work.clone()) {
            run.evaluate(kernel, u, host, states, found);
            run.scatter(found, data);
        }
    }
}
