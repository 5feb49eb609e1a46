//! Tables of the points at which a state on a device is measured.

use crate::cuda::run::discretization::CudaDiscretization;
use crate::cuda::run::measure::PointRule;
use crate::fields::gradients::Lift;
use crate::lanes::simd::PackScalar;
use crate::rhs::discretization::Discretization;
use crate::rhs::halo::Halo;
use crate::space::connect::index;
use crate::space::group::{Group, Part, element_points};
use dgsuite_basis::{LagrangeBasis, Matrix, Quadrature};
use dgsuite_gpu::cuda::{Cuda, DeviceBuffer};
use dgsuite_gpu::{Element, GpuError};
use std::cell::Cell;

/// Largest size in bytes of a group's nodes, or of all traces, on the device; larger meshes are measured by
/// the host, to save device memory.
const LARGEST: usize = 1 << 30;
/// The bit of a face point on a boundary; `OUTER` of measure.cu.
const OUTER: u32 = 1 << 31;
/// The same of a face point on a face that another rank has on its other side; `ABROAD` of measure.cu.
const ABROAD: u32 = 1 << 30;
const WHAT: &str = "points of measurements";

/// Elements of a part that share tables.
pub(crate) struct Elements {
    /// The layout of `Elements` in measure.cu.
    pub(crate) words: [u64; 20],
    pub(crate) count: usize,
    pub(crate) points: usize,
    pub(crate) n_basis: usize,
    /// Face points; 0 without gradients.
    pub(crate) n_face: usize,
    _slots: DeviceBuffer<u32>,
    _tables: [DeviceBuffer<f64>; 8],
    _columns: [DeviceBuffer<u32>; 2],
}

/// The word of [`Elements`] with the threads of a team in its upper half.
pub(crate) const TEAM: usize = 15;

/// States at the face points of all elements, and what lies across.
pub(crate) struct Traces {
    /// `[face point][field]`.
    pub(crate) values: DeviceBuffer<f64>,
    /// For each face point, the one across, or a point of `outer` with [`OUTER`] or [`ABROAD`].
    pub(crate) across: DeviceBuffer<u32>,
    /// The points on boundaries, in the order of the exterior array, then those whose states other ranks
    /// need, in the order of the messages.
    pub(crate) picked: DeviceBuffer<u32>,
    /// `[point][field]`: the states at the points picked, then half jumps on boundaries and the states that
    /// other ranks have sent.
    pub(crate) outer: DeviceBuffer<f64>,
    /// The exchange with other ranks, from the first integral on.
    halo: Option<Halo>,
}

/// All elements with the tables of a rule; `None` if there are too many.
pub(crate) fn elements<T: PackScalar>(
    on: &CudaDiscretization<T>,
    rule: PointRule,
    gradients: bool,
) -> Result<Option<Vec<Elements>>, GpuError> {
    let mesh = &on.description.mesh;
    let (mut out, mut first, mut first_trace) = (Vec::new(), 0, 0);
    for run in runs(&on.description) {
        let part = &run.group.parts[run.part];
        let (points, weights, basis) = match rule {
            PointRule::Degree(degree) => {
                let rule = Quadrature::new(run.group.shape, degree);
                let basis = part.reference.evaluate(&rule.points);
                (rule.points, rule.weights, basis)
            }
            PointRule::Own => {
                let rule = &part.reference.volume;
                let basis = match part.collocated {
                    true => Matrix::identity(part.reference.n_basis),
                    false => part.reference.interp_volume.clone(),
                };
                (rule.points.clone(), rule.weights.clone(), basis)
            }
        };
        let geometry = LagrangeBasis::new(run.group.shape, run.order);
        let nodes = run.slots.len() * geometry.eval(&points[..1]).cols() * 3;
        let traces =
            if gradients { run.slots.len() * run.group.trace.rows * run.group.state.fields } else { 0 };
        if nodes.max(traces) * size_of::<f64>() > LARGEST {
            return Ok(None);
        }
        let slopes = gradients.then(|| Slopes::new(part, &points));
        let tables = Tables { run: &run, points: &points, weights: &weights, basis, slopes };
        out.push(tables.upload(on.cuda(), &on.description, mesh.dim, first, first_trace)?);
        first += run.slots.len();
        first_trace += run.slots.len() * run.group.trace.rows;
    }
    Ok(Some(out))
}

/// Elements of a part and of one order of the geometry.
struct Run<'a, T: PackScalar> {
    g: usize,
    group: &'a Group<T>,
    part: usize,
    order: usize,
    slots: Vec<u32>,
}

fn runs<T: PackScalar>(d: &Discretization<T>) -> Vec<Run<'_, T>> {
    let mesh = &d.mesh;
    let mut out = Vec::new();
    for (g, group) in d.groups.iter().enumerate() {
        let mut orders: Vec<usize> =
            mesh.sets.iter().filter(|s| s.shape == group.shape).map(|s| s.order).collect();
        orders.sort_unstable();
        orders.dedup();
        for (p, part) in group.parts.iter().enumerate() {
            let first = part.first_block * group.state.lanes;
            for &order in &orders {
                let own = |&s: &usize| mesh.sets[mesh.locate(group.elements[s] as usize).0].order == order;
                let slots: Vec<u32> =
                    (first..first + part.n_elements).filter(own).map(|s| s as u32).collect();
                if !slots.is_empty() {
                    out.push(Run { g, group, part: p, order, slots });
                }
            }
        }
    }
    out
}

/// What gradients need beside values.
struct Slopes {
    derivatives: Vec<f64>,
    lifts: Vec<f64>,
    columns: Vec<u32>,
    ends: [usize; 3],
    rows: Vec<f64>,
    functions: Vec<u32>,
    width: usize,
}

impl Slopes {
    fn new<T: PackScalar>(part: &Part<T>, points: &[[f64; 3]]) -> Self {
        let reference = &part.reference;
        let dim = reference.spec.shape.dim();
        let derivatives = reference.gradient(points).iter().take(dim).flat_map(transposed).collect();
        let (mut lifts, mut columns, mut ends) = (Vec::new(), Vec::new(), [0; 3]);
        for (d, lift) in Lift::at(reference, points).iter().enumerate() {
            lifts.extend(transposed(&lift.matrix));
            columns.extend(lift.points.iter().map(|&q| q as u32));
            ends[d] = columns.len();
        }
        // The entries of each row that are not zero, padded to the same number.
        let face = &reference.interp_face;
        let entries: Vec<Vec<usize>> =
            (0..face.rows()).map(|q| (0..face.cols()).filter(|&i| face[(q, i)] != 0.0).collect()).collect();
        let width = entries.iter().map(Vec::len).max().unwrap_or(0);
        let places = || (0..width).flat_map(|w| entries.iter().enumerate().map(move |(q, e)| (q, e.get(w))));
        Self {
            derivatives,
            lifts,
            columns,
            ends,
            rows: places().map(|(q, i)| i.map_or(0.0, |&i| face[(q, i)])).collect(),
            functions: places().map(|(_, i)| i.map_or(0, |&i| i as u32)).collect(),
            width,
        }
    }
}

fn transposed(m: &Matrix) -> Vec<f64> {
    m.transpose().as_slice().to_vec()
}

/// Tables of a point rule, to be completed by the elements' nodes.
struct Tables<'a, T: PackScalar> {
    run: &'a Run<'a, T>,
    points: &'a [[f64; 3]],
    weights: &'a [f64],
    basis: Matrix,
    slopes: Option<Slopes>,
}

impl<T: PackScalar> Tables<'_, T> {
    fn upload(
        &self,
        cuda: &Cuda,
        d: &Discretization<T>,
        dim: usize,
        first: usize,
        first_trace: usize,
    ) -> Result<Elements, GpuError> {
        let Run { group, order, slots, .. } = self.run;
        let nodes: Vec<f64> = slots
            .iter()
            .flat_map(|&slot| {
                let (set, local) = d.mesh.locate(group.elements[slot as usize] as usize);
                element_points(&d.mesh, set, local).concat()
            })
            .collect();
        let lagrange = LagrangeBasis::new(group.shape, *order);
        let geometry = lagrange.eval(self.points);
        let gradient: Vec<f64> = lagrange.grad(self.points).iter().take(dim).flat_map(transposed).collect();
        let slopes = self.slopes.as_ref();
        let table = |values: &[f64]| put(cuda, values);
        let of = |values: fn(&Slopes) -> &[f64]| table(slopes.map_or(&[], values));
        let tables = [
            table(&nodes)?,
            table(&transposed(&self.basis))?,
            table(&transposed(&geometry))?,
            table(&gradient)?,
            table(self.weights)?,
            of(|s| &s.derivatives)?,
            of(|s| &s.lifts)?,
            of(|s| &s.rows)?,
        ];
        let columns = [
            put(cuda, slopes.map_or(&[], |s| &s.columns))?,
            put(cuda, slopes.map_or(&[], |s| &s.functions))?,
        ];
        let slots_on = DeviceBuffer::from_slice(cuda, WHAT, slots)?;
        let n_face = if slopes.is_some() { group.trace.rows } else { 0 };
        let ends = slopes.map_or([0; 3], |s| s.ends);
        let pair = |a: usize, b: usize| a as u64 | (b as u64) << 32;
        let words = [
            slots_on.ptr(),
            tables[0].ptr(),
            tables[1].ptr(),
            tables[2].ptr(),
            tables[3].ptr(),
            tables[4].ptr(),
            tables[5].ptr(),
            tables[6].ptr(),
            columns[0].ptr(),
            tables[7].ptr(),
            columns[1].ptr(),
            group.offset as u64,
            pair(slots.len(), group.state.lanes),
            pair(self.basis.cols(), self.weights.len()),
            pair(geometry.cols(), group.state.row_stride()),
            pair(group.state.field_stride(), 0),
            pair(first, n_face),
            pair(slopes.map_or(0, |s| s.width), first_trace),
            pair(ends[0], ends[1]),
            pair(ends[2], 0),
        ];
        Ok(Elements {
            words,
            count: slots.len(),
            points: self.weights.len(),
            n_basis: self.basis.cols(),
            n_face,
            _slots: slots_on,
            _tables: tables,
            _columns: columns,
        })
    }
}

/// A table on the device, of at least one entry.
fn put<E: Element + Default>(cuda: &Cuda, values: &[E]) -> Result<DeviceBuffer<E>, GpuError> {
    if values.is_empty() {
        return DeviceBuffer::from_slice(cuda, WHAT, &[E::default()]);
    }
    DeviceBuffer::from_slice(cuda, WHAT, values)
}

impl Traces {
    /// Memory for the traces of all elements, in the order of [`elements`].
    pub(crate) fn new<T: PackScalar>(on: &CudaDiscretization<T>) -> Result<Self, GpuError> {
        let (d, cuda) = (&on.description, on.cuda());
        let connectivity = &d.connectivity;
        let fields = d.physics.n_fields();
        // The first face point of each slot of each group.
        let mut first: Vec<Vec<u32>> =
            d.groups.iter().map(|g| vec![0; g.state.blocks * g.state.lanes]).collect();
        let mut n = 0;
        for run in runs(d) {
            for &slot in &run.slots {
                first[run.g][slot as usize] = n;
                n += run.group.trace.rows as u32;
            }
        }
        let row_of = |group: &Group<T>, row: u32| row as usize / (fields * group.state.lanes);
        // The points of the exterior array that are copies of traces of other groups.
        let mut copied = vec![OUTER; connectivity.exterior_len / fields];
        for foreign in &connectivity.foreign {
            let g = foreign.group as usize;
            let table = connectivity.neighbours[g].point_table(foreign.code, foreign.points as usize);
            for (i, &row) in table.iter().enumerate() {
                copied[foreign.exterior as usize / fields + i] =
                    first[g][foreign.slot as usize] + row_of(&d.groups[g], row) as u32;
            }
        }
        let boundary = connectivity.boundary_len / fields;
        let mut picked = vec![0; boundary];
        for border in &connectivity.borders {
            for (point, to) in
                (border.exterior.start / fields..border.exterior.end / fields).zip(picked.len()..)
            {
                copied[point] = OUTER | ABROAD | to as u32;
            }
            for send in &border.sends {
                let g = send.group as usize;
                let table = connectivity.neighbours[g].point_table(send.code, send.points as usize);
                let at = |&row: &u32| first[g][send.slot as usize] + row_of(&d.groups[g], row) as u32;
                picked.extend(table.iter().map(at));
            }
        }
        let mut across = vec![0; n as usize];
        for (g, group) in d.groups.iter().enumerate() {
            let (neighbours, lanes) = (&connectivity.neighbours[g], group.state.lanes);
            for slot in group.real_slots() {
                for face in 0..group.shape.n_faces() {
                    let (begin, end) = (group.face_offsets[face], group.face_offsets[face + 1]);
                    let i = index(group, slot, face);
                    let other = first[g][neighbours.slot[i] as usize];
                    let table = neighbours.point_table(neighbours.code[i], end - begin);
                    for (q, &row) in (begin..end).zip(table) {
                        across[first[g][slot] as usize + q] = other + row_of(group, row) as u32;
                    }
                }
            }
            let real: Vec<bool> = {
                let mut real = vec![false; group.state.blocks * lanes];
                group.real_slots().for_each(|slot| real[slot] = true);
                real
            };
            for block in 0..group.state.blocks {
                for fix in neighbours.fixes_of(block) {
                    let (slot, face) = (block * lanes + fix.lane as usize, fix.face as usize);
                    if !real[slot] {
                        continue;
                    }
                    let outside = fix.exterior as usize / fields;
                    for (i, q) in (group.face_offsets[face]..group.face_offsets[face + 1]).enumerate() {
                        let own = first[g][slot] + q as u32;
                        let point = outside + i;
                        across[own as usize] =
                            if point < boundary { OUTER | point as u32 } else { copied[point] };
                        if point < boundary {
                            picked[point] = own;
                        }
                    }
                }
            }
        }
        Ok(Self {
            values: DeviceBuffer::zeros(cuda, WHAT, (n as usize * fields).max(1))?,
            across: put(cuda, &across)?,
            picked: DeviceBuffer::from_slice(cuda, WHAT, &picked)?,
            outer: DeviceBuffer::zeros(cuda, WHAT, (picked.len() * fields).max(1))?,
            halo: None,
        })
    }

    /// Replaces the states at the points picked by half jumps on boundaries, which `jumps` computes, and by
    /// the states of other ranks. Collective.
    pub(crate) fn meet<T: PackScalar>(
        &mut self,
        d: &Discretization<T>,
        jumps: impl Fn(&[f64]) -> Vec<f64>,
    ) -> Result<(), GpuError> {
        let mut states = if !self.picked.is_empty() { self.outer.to_vec()? } else { Vec::new() };
        let (boundary, borders) = (d.connectivity.boundary_len, &d.connectivity.borders);
        let on_boundaries = jumps(&states[..boundary]);
        if let Some(ranks) = d.ranks() {
            if self.halo.is_none() {
                self.halo = Some(Halo::new::<f64>(ranks, borders)?);
            }
            let mut exterior = vec![0.0; d.connectivity.exterior_len];
            if let Some(halo) = &mut self.halo {
                let sent = Cell::new(boundary);
                halo.start(|_, out: &mut [f64]| {
                    let from = sent.replace(sent.get() + out.len());
                    out.copy_from_slice(&states[from..][..out.len()]);
                });
                halo.finish(&mut exterior);
            }
            let mut to = boundary;
            for border in borders {
                let received = &exterior[border.exterior.clone()];
                states[to..][..received.len()].copy_from_slice(received);
                to += received.len();
            }
        }
        states[..boundary].copy_from_slice(&on_boundaries);
        if states.is_empty() { Ok(()) } else { self.outer.upload(&states) }
    }
}
