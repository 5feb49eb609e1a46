//! States at a height above the points of a boundary.
//!
//! The point at a height lies in the element of the boundary's face or beyond it; its place in an element and
//! the values of the basis there are computed once. Each evaluation of the residual interpolates the state
//! there. On several ranks the place may lie in an element of another one, which then interpolates the state,
//! by the same sum, and sends it: see [`AboveHalo`].

use crate::error::OpsError;
use crate::formulas::above_wall::AboveWallKernel;
use crate::lanes::simd::PackScalar;
use crate::rhs::above_halo::{AboveHalo, Wall};
use crate::rhs::boundary_set::BoundarySet;
use crate::rhs::places_above::{PlaceAbove, PlacesAbove, places_above};
use crate::rhs::ranks::Ranks;
use crate::space::above::{Base, Height};
use crate::space::connect::Connectivity;
use crate::space::group::Group;
use dgsuite_gpu::Host;
use dgsuite_mesh::Mesh;
use rayon::prelude::*;
use std::collections::HashMap;
use std::sync::Arc;

/// Points of a chunk of work.
const CHUNK: usize = 64;

/// Places in elements of one group, at which a state is interpolated; or states that have arrived, as if each
/// were an element with a single constant function.
pub(crate) struct Spots<T> {
    /// Offset of the group in the state.
    pub(crate) offset: usize,
    /// Offsets of the rows of an element in the state.
    pub(crate) rows: Vec<u32>,
    /// Stride between the unknowns of a row.
    pub(crate) stride: usize,
    /// Offset of the element of each place in the group.
    pub(crate) begin: Vec<u64>,
    /// Values of the basis, `[place][basis function]`.
    pub(crate) weights: Vec<T>,
}

impl<T: PackScalar> Spots<T> {
    /// No places yet, in elements of a group.
    fn of(group: &Group<T>) -> Self {
        let state = group.state;
        Self {
            offset: group.offset,
            rows: (0..state.rows).map(|row| (row * state.row_stride()) as u32).collect(),
            stride: state.field_stride(),
            begin: Vec::new(),
            weights: Vec::new(),
        }
    }

    /// No states yet, in an array `[point][field]`.
    const fn arrived() -> Self {
        Self { offset: 0, rows: Vec::new(), stride: 1, begin: Vec::new(), weights: Vec::new() }
    }

    fn push(&mut self, group: &Group<T>, slot: usize, r: [f64; 3]) {
        let state = group.state;
        let reference = &group.part_of(slot / state.lanes).reference;
        let basis = reference.evaluate(&[r]);
        self.weights.extend((0..state.rows).map(|i| T::from_f64(basis[(0, i)])));
        self.begin.push(state.index(slot, 0, 0) as u64);
    }

    pub(crate) fn len(&self) -> usize {
        self.begin.len()
    }

    /// Interpolates the states at the places from `first` on, `[place][field]`.
    fn interpolate(&self, values: &[T], fields: usize, first: usize, states: &mut [T]) {
        let rows = self.rows.len();
        for (q, state) in (first..).zip(states.chunks_exact_mut(fields)) {
            let element = &values[self.offset + self.begin[q] as usize..];
            let weights = &self.weights[q * rows..(q + 1) * rows];
            for (k, value) in state.iter_mut().enumerate() {
                let of = |&row: &u32| element[row as usize + k * self.stride].to_f64();
                let sum: f64 = self.rows.iter().zip(weights).map(|(row, w)| of(row) * w.to_f64()).sum();
                *value = T::from_f64(sum);
            }
        }
    }

    /// Interpolates the states at all places, `[place][field]`.
    pub(crate) fn states(&self, values: &[T], fields: usize, host: &Host, states: &mut [T]) {
        let chunks = states.par_chunks_mut(CHUNK * fields).enumerate();
        host.install(|| chunks.for_each(|(i, states)| self.interpolate(values, fields, i * CHUNK, states)));
    }
}

/// Points whose states come from elements of one group, or from other ranks.
pub(crate) struct Run<T> {
    pub(crate) spots: Spots<T>,
    /// Whether the states have arrived from other ranks.
    pub(crate) arrived: bool,
    /// Points of the boundary.
    pub(crate) points: Vec<u32>,
    /// Outward unit normals of the boundary, `[point][D]`.
    pub(crate) normals: Vec<T>,
    /// Heights.
    pub(crate) heights: Vec<T>,
}

impl<T: PackScalar> Run<T> {
    const fn new(spots: Spots<T>, arrived: bool) -> Self {
        Self { spots, arrived, points: Vec::new(), normals: Vec::new(), heights: Vec::new() }
    }

    /// Adds a point of the boundary, whose place has been added.
    fn push(&mut self, p: usize, set: &BoundarySet<T>, height: f64, dim: usize) {
        self.points.push(p as u32);
        self.normals.extend_from_slice(&set.normal[p * dim..][..dim]);
        self.heights.push(T::from_f64(height));
    }
}

/// The places above all points of a boundary.
pub(crate) struct Above<T> {
    pub(crate) runs: Vec<Run<T>>,
    /// The elements with places.
    pub(crate) elements: Vec<usize>,
    /// Work space of each run: states and data.
    work: Vec<[Vec<T>; 2]>,
}

/// The group and slot of each element.
pub(crate) type Slots = HashMap<u32, (usize, usize)>;

/// Finds the places above the points of all boundaries `walls` of the mesh whose data come from there.
/// Collective with several ranks, which then exchange states.
///
/// # Errors
/// [`OpsError::NothingAbove`] if there is no element at the height of a point.
pub(crate) fn find_above<T: PackScalar>(
    mesh: &Mesh,
    groups: &[Group<T>],
    connectivity: &Connectivity,
    sets: &mut [BoundarySet<T>],
    walls: &[Wall],
    ranks: Option<&Arc<Ranks>>,
) -> Result<Option<AboveHalo<T>>, OpsError> {
    if walls.is_empty() {
        return Ok(None);
    }
    let among = ranks.map(|ranks| ranks.among());
    let mut found = Vec::new();
    for wall in walls {
        let set = sets.iter().find(|set| set.boundary == wall.boundary);
        let points = set.map_or_else(Vec::new, |set| bases(mesh, groups, connectivity, set, wall.height));
        let places = places_above(mesh, &wall.name, &points, among.as_ref())?;
        found.push((points, places));
    }
    let slots: Slots = groups
        .iter()
        .enumerate()
        .flat_map(|(g, group)| group.real_slots().map(move |slot| (group.elements[slot], (g, slot))))
        .collect();
    let halo = ranks.map(|ranks| AboveHalo::new(ranks, groups, &slots, walls, &found)).transpose()?;
    for (w, (wall, (points, places))) in walls.iter().zip(&found).enumerate() {
        if let Some(set) = sets.iter_mut().find(|set| set.boundary == wall.boundary) {
            let first = |rank: usize| halo.as_ref().map_or(0, |halo| halo.first_borrowed(rank, w));
            set.above = Some(Above::new(groups, &slots, set, points, places, mesh.dim, first));
        }
    }
    Ok(halo)
}

/// The points of a boundary, each with its height.
fn bases<T: PackScalar>(
    mesh: &Mesh,
    groups: &[Group<T>],
    connectivity: &Connectivity,
    set: &BoundarySet<T>,
    height: Height,
) -> Vec<Base> {
    let volumes = mesh.volumes();
    let mut points = Vec::with_capacity(set.positions.len());
    for (f, face) in connectivity.boundaries[set.boundary].iter().enumerate() {
        let of_face = set.first[f]..set.first[f + 1];
        let element = groups[face.group as usize].elements[face.slot as usize] as usize;
        let height = height.above(volumes[element], set.weight[of_face.clone()].iter().sum());
        for p in of_face {
            let n = &set.normal[p * mesh.dim..][..mesh.dim];
            let normal = std::array::from_fn(|d| n.get(d).map_or(0.0, |n| n.to_f64()));
            points.push(Base { element, at: set.positions[p], normal, height });
        }
    }
    points
}

/// Sorts places by the group of their elements: for each group the places, and the number of each.
pub(crate) fn by_group<T: PackScalar>(
    groups: &[Group<T>],
    slots: &Slots,
    places: impl Iterator<Item = (usize, PlaceAbove)>,
) -> Vec<(Spots<T>, Vec<usize>)> {
    let mut out: Vec<(Spots<T>, Vec<usize>)> =
        groups.iter().map(|group| (Spots::of(group), Vec::new())).collect();
    for (q, (element, r)) in places {
        let (g, slot) = slots[&(element as u32)];
        out[g].0.push(&groups[g], slot, r);
        out[g].1.push(q);
    }
    out.retain(|(spots, _)| spots.len() > 0);
    out
}

impl<T: PackScalar> Above<T> {
    /// The places above the points of `set`; `first` is where the states of a rank begin among those that
    /// arrive, in points.
    fn new(
        groups: &[Group<T>],
        slots: &Slots,
        set: &BoundarySet<T>,
        points: &[Base],
        places: &PlacesAbove,
        dim: usize,
        first: impl Fn(usize) -> usize,
    ) -> Self {
        let fields = groups[0].state.fields;
        let own = places.own.iter().enumerate().filter_map(|(p, place)| place.map(|place| (p, place)));
        let mut elements: Vec<usize> = own.clone().map(|(_, place)| place.0).collect();
        elements.sort_unstable();
        elements.dedup();
        let mut runs = Vec::new();
        for (spots, of) in by_group(groups, slots, own) {
            let mut run = Run::new(spots, false);
            of.into_iter().for_each(|p| run.push(p, set, points[p].height, dim));
            runs.push(run);
        }
        let mut arrived = Run::new(Spots::arrived(), true);
        arrived.spots.rows.push(0);
        for loan in &places.loans {
            for (at, &p) in (first(loan.rank)..).zip(&loan.borrowed) {
                arrived.spots.begin.push((at * fields) as u64);
                arrived.spots.weights.push(T::from_f64(1.0));
                arrived.push(p, set, points[p].height, dim);
            }
        }
        if !arrived.points.is_empty() {
            runs.push(arrived);
        }
        let room = |run: &Run<T>| vec![T::ZERO; run.points.len() * fields];
        Self { work: runs.iter().map(|run| [room(run), room(run)]).collect(), runs, elements }
    }

    /// Scalars of the tables.
    pub(crate) fn len(&self) -> usize {
        let work = self.work.iter().flatten().map(Vec::len);
        let of = |run: &Run<T>| run.spots.weights.len() + run.normals.len() + run.heights.len();
        work.chain(self.runs.iter().map(of)).sum()
    }
}

impl<T: PackScalar> Run<T> {
    /// Computes the data of all points of the run, `[point][field]`; `states` is work space of this size.
    fn evaluate(
        &self,
        kernel: &dyn AboveWallKernel<T>,
        values: &[T],
        host: &Host,
        states: &mut [T],
        found: &mut [T],
    ) {
        let n = self.points.len();
        let (dim, fields) = (self.normals.len() / n, found.len() / n);
        let chunk = |(i, (states, found)): (usize, (&mut [T], &mut [T]))| {
            let first = i * CHUNK;
            let points = first..first + found.len() / fields;
            self.spots.interpolate(values, fields, first, states);
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

    /// Updates the data from the state `u` above the boundary, and from the states that have arrived from
    /// other ranks, if the data come from there.
    pub(crate) fn update_from_above(&mut self, u: &[T], arrived: &[T], host: &Host) {
        let (Some(above), Some(kernel)) = (&mut self.above, self.binding.kernel.above()) else { return };
        for (run, [states, found]) in above.runs.iter().zip(&mut above.work) {
            run.evaluate(kernel, if run.arrived { arrived } else { u }, host, states, found);
            run.scatter(found, &mut self.data);
        }
    }

    /// Computes into `data` what [`update_from_above`](Self::update_from_above) does.
    pub(crate) fn data_from_above(&self, u: &[T], arrived: &[T], host: &Host, data: &mut [T]) {
        let (Some(above), Some(kernel)) = (&self.above, self.binding.kernel.above()) else { return };
        for (run, [states, found]) in above.runs.iter().zip(&mut above.work.clone()) {
            run.evaluate(kernel, if run.arrived { arrived } else { u }, host, states, found);
            run.scatter(found, data);
        }
    }
}
