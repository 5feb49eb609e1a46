//! Element groups: the elements of one shape, their layout, matrices and geometry.
//!
//! The state of a group is `[block][basis function][field][lane]`: each lane is one element, and a block has
//! as many elements as a SIMD register has lanes. Affine elements come first, then curved ones; each part is
//! filled up to whole blocks with copies of its last element. Affine and curved elements share one state
//! array and the same face points, so that a face between them is an ordinary inner face.

use crate::error::OpsError;
use crate::lanes::simd::PackScalar;
use crate::space::chain::{Factors, Operators};
use crate::space::directions::Directions;
use crate::space::geometry::{GeometryTables, is_affine, volume_factors};
use crate::space::layout::PerPoint;
use crate::space::layout::{Lanes, Layout, Wanted};
use crate::space::lifting::Lifting;
use crate::space::lines::Lines;
use crate::space::packing::Packings;
use crate::space::quadratic;
use crate::space::scheme::{Form, MetricRule, Need, PartSpec, Scheme, resolve};
use crate::space::step_measure::ElementBound;
use dgsuite_basis::{Cubature, Matrix, ReferenceElement, Shape, lattice::lattice};
use dgsuite_gpu::{Buffer, Element};
use dgsuite_mesh::Mesh;
use rayon::prelude::*;
use std::sync::Arc;

/// The elements of a group that share matrices and a metric rule.
pub(crate) struct Part<T: Element> {
    pub(crate) spec: PartSpec,
    pub(crate) reference: Arc<ReferenceElement>,
    pub(crate) first_block: usize,
    pub(crate) n_blocks: usize,
    /// Number of elements, without the copies that fill up the last block.
    pub(crate) n_elements: usize,
    /// Number of elements at the begin among which are all those at cut faces: whole runs of slots. On
    /// devices that overlap messages with work; 0 otherwise.
    pub(crate) n_cut: usize,
    /// Volume points.
    pub(crate) n_points: usize,
    pub(crate) collocated: bool,
    pub(crate) operators: Operators<T>,
    pub(crate) kind: PerPoint,
    /// `[block][d][x][lane]` (`∇r_d`) or `[block][point][d][x][lane]` (`J∇r_d`).
    pub(crate) metric: Buffer<T>,
    /// `[block][face][D + 1][lane]` (n, sJ/J) or `[block][face point][D + 1][lane]` (n, sJ).
    pub(crate) face: Buffer<T>,
    /// `1/J`, `[block][point][lane]`; curved only.
    pub(crate) inverse_jacobian: Buffer<T>,
    /// Weight-adjusted: `∫ φ_i` on the reference element.
    pub(crate) integral: Vec<T>,
    /// Weight-adjusted: the coefficients of the constant 1.
    pub(crate) one: Vec<T>,
    /// Weight-adjusted: `∫ J φ_i / ∫ J`, `[block][np][lane]`, then `1/∫ J`, `[lane]`.
    pub(crate) weighted: Buffer<T>,
    /// Stored: `M_e⁻¹ M̂`, `[block][np][np][lane]`.
    pub(crate) inverse: Buffer<T>,
    /// Curved simplices of geometry order 2, weight-adjusted, on devices: derivatives of the map, then
    /// `weighted`, `[element]`; see `cuda/quadratic.rs`.
    pub(crate) map: Buffer<T>,
    /// Split form: lines of nodes.
    pub(crate) lines: Option<Lines<T>>,
    /// Operators of the lifted gradient, where there is diffusion.
    pub(crate) lifting: Option<Lifting<T>>,
    /// The sets of faces for the step bound of waves in one direction.
    pub(crate) directions: Option<Directions>,
}

impl<T: Element> Group<T> {
    /// Whether waves run in one direction.
    pub(crate) fn is_directed(&self) -> bool {
        self.parts.iter().any(|part| part.directions.is_some())
    }
}

impl<T: Element> Part<T> {
    /// The metric of the part's block `b`.
    pub(crate) fn metric_of(&self, b: usize) -> &[T] {
        let len = self.metric.len() / self.n_blocks;
        &self.metric[b * len..(b + 1) * len]
    }

    /// Normals and scales of the part's block `b`.
    pub(crate) fn face_of(&self, b: usize) -> &[T] {
        let len = self.face.len() / self.n_blocks;
        &self.face[b * len..(b + 1) * len]
    }

    fn bytes(&self) -> usize {
        (self.metric.len()
            + self.face.len()
            + self.inverse_jacobian.len()
            + self.weighted.len()
            + self.inverse.len()
            + self.map.len()
            + self.lifting.as_ref().map_or(0, |l| l.face_metric.len()))
            * size_of::<T>()
    }
}

/// The elements of one shape.
pub(crate) struct Group<T: Element> {
    pub(crate) shape: Shape,
    pub(crate) state: Layout,
    pub(crate) trace: Layout,
    /// Offset of the group's state in the whole state vector.
    pub(crate) offset: usize,
    /// Points of each face: `face_offsets[f]..face_offsets[f + 1]`.
    pub(crate) face_offsets: Vec<usize>,
    /// The basis function of each face point if the points are nodes: traces are then read from the state.
    pub(crate) face_nodes: Option<Vec<u32>>,
    pub(crate) parts: Vec<Part<T>>,
    /// Global element index of each slot.
    pub(crate) elements: Vec<u32>,
    /// `h = d |E| / (largest face measure)` of each slot.
    pub(crate) size: Vec<f64>,
    /// Bounds of the step of each slot; empty until [`add_bounds`](crate::rhs::step_bound::add_bounds).
    pub(crate) bounds: Vec<ElementBound>,
    /// The coefficient of diffusion of each slot; empty if the diffusive flux has none.
    pub(crate) coefficients: Vec<T>,
}

impl<T: PackScalar> Group<T> {
    /// The part that a block belongs to.
    pub(crate) fn part_of(&self, block: usize) -> &Part<T> {
        let i = self.parts.iter().rposition(|p| p.first_block <= block).unwrap_or(0);
        &self.parts[i]
    }

    /// Slots of elements, without the copies that fill up blocks.
    pub(crate) fn real_slots(&self) -> impl Iterator<Item = usize> + '_ {
        self.parts.iter().flat_map(|p| {
            let first = p.first_block * self.state.lanes;
            first..first + p.n_elements
        })
    }

    /// The coefficients of diffusion of a block, `[lane]`; empty if there are none.
    pub(crate) fn coefficients_of(&self, block: usize) -> &[T] {
        let lanes = self.state.lanes;
        if self.coefficients.is_empty() {
            &[]
        } else {
            &self.coefficients[block * lanes..(block + 1) * lanes]
        }
    }

    /// Memory of the geometry in bytes.
    pub(crate) fn geometry_bytes(&self) -> usize {
        self.parts.iter().map(Part::bytes).sum()
    }
}

/// Smallest number of consecutive elements that device kernels process together.
const RUN: usize = 8;

/// One element as input to the construction of groups.
#[derive(Clone, Copy)]
pub(crate) struct Entry {
    pub(crate) global: u32,
    pub(crate) set: usize,
    pub(crate) local: usize,
}

/// Builds the groups of `mesh` for `n_fields` unknowns. `whole` are the needs of the whole mesh if `mesh` is
/// a part of it. Each part of a group begins with its elements in `front`, which is sorted.
pub(crate) fn build<T: PackScalar>(
    mesh: &Mesh,
    scheme: &Scheme,
    n_fields: usize,
    lanes: Lanes,
    whole: Option<&[Need]>,
    front: &[u32],
) -> Result<Vec<Group<T>>, OpsError> {
    let specify = |own: &[Need]| resolve(scheme, whole.unwrap_or(own));
    build_with(mesh, scheme.form, n_fields, lanes, &Packings::default(), whole, front, specify)
}

/// What the elements of each shape of the mesh need.
pub(crate) fn needs(mesh: &Mesh) -> Vec<Need> {
    let need = |shape| need(shape, &split_kinds(mesh, shape));
    shapes_of(mesh).into_iter().map(need).collect()
}

/// The shapes of the mesh's elements.
pub(crate) fn shapes_of(mesh: &Mesh) -> Vec<Shape> {
    let mut shapes: Vec<Shape> = mesh.sets.iter().map(|s| s.shape).collect();
    shapes.sort_unstable();
    shapes.dedup();
    shapes
}

fn need(shape: Shape, (affine, curved, order): &(Vec<Entry>, Vec<Entry>, usize)) -> Need {
    Need { shape, affine: !affine.is_empty(), curved: (!curved.is_empty()).then_some(*order) }
}

/// As [`build`], with given specifications for the affine and curved elements of each shape. Elements are
/// assigned to blocks so that blocks have few neighbours; `packings` stores the assignment for spaces of
/// other orders. `specify` returns one entry for each shape of `whole`, or of the mesh without it.
pub(crate) fn build_with<T: PackScalar>(
    mesh: &Mesh,
    form: Form,
    n_fields: usize,
    lanes: Lanes,
    packings: &Packings,
    whole: Option<&[Need]>,
    front: &[u32],
    specify: impl FnOnce(&[Need]) -> Result<Vec<(Option<PartSpec>, Option<PartSpec>)>, OpsError>,
) -> Result<Vec<Group<T>>, OpsError> {
    let shapes = shapes_of(mesh);
    // Splits every shape into affine and curved elements.
    let mut split: Vec<(Vec<Entry>, Vec<Entry>, usize)> =
        shapes.iter().map(|&s| split_kinds(mesh, s)).collect();
    if let Lanes::Simd(level) = lanes {
        for (&shape, (affine, curved, _)) in shapes.iter().zip(&mut split) {
            for (is_curved, entries) in [(false, affine), (true, curved)] {
                let key = (shape, is_curved, T::lanes(level));
                let in_front = |e: &&Entry| front.is_empty() || front.binary_search(&e.global).is_ok();
                let (first, rest): (Vec<&Entry>, Vec<&Entry>) = entries.iter().partition(in_front);
                let mut ordered = Vec::with_capacity(entries.len());
                for (in_front, some) in [(true, first), (false, rest)] {
                    let elements: Vec<u32> = some.iter().map(|e| e.global).collect();
                    let order = packings.order(mesh, (key, in_front), &elements);
                    ordered.extend(order.iter().map(|&i| *some[i as usize]));
                }
                *entries = ordered;
            }
        }
    } else {
        for (affine, curved, _) in &mut split {
            // A stable sort: within the two halves the order remains.
            for entries in [affine, curved] {
                entries.sort_by_key(|e| front.binary_search(&e.global).is_err());
            }
        }
    }
    // On CPUs, nothing else depends on it.
    let front = if matches!(lanes, Lanes::Simd(_)) { &[] } else { front };
    let own: Vec<Need> = shapes.iter().zip(&split).map(|(&shape, kinds)| need(shape, kinds)).collect();
    let specs = specify(&own)?;
    let all = whole.unwrap_or(&own);
    let mut offset = 0;
    let mut groups = Vec::new();
    for (&shape, (affine, curved, _)) in shapes.iter().zip(&split) {
        let i = all.iter().position(|n| n.shape == shape).ok_or(OpsError::Empty)?;
        let (affine_spec, curved_spec) = specs[i];
        // Other parts of the mesh may have kinds of elements that this one lacks.
        let absent: Vec<PartSpec> = [(affine, affine_spec), (curved, curved_spec)]
            .into_iter()
            .filter_map(|(entries, spec)| spec.filter(|_| entries.is_empty()))
            .collect();
        let (affine_spec, curved_spec) =
            (affine_spec.filter(|_| !affine.is_empty()), curved_spec.filter(|_| !curved.is_empty()));
        let group = build_group(
            mesh,
            shape,
            form,
            &[(affine, affine_spec), (curved, curved_spec)],
            &absent,
            all[i].curved,
            front,
            n_fields,
            lanes,
            offset,
        )?;
        offset += group.state.len();
        groups.push(group);
    }
    Ok(groups)
}

/// Returns affine elements, curved elements, and the largest geometry order of the curved ones.
pub(crate) fn split_kinds(mesh: &Mesh, shape: Shape) -> (Vec<Entry>, Vec<Entry>, usize) {
    let (mut affine, mut curved, mut order) = (Vec::new(), Vec::new(), 1);
    for (s, set) in mesh.sets.iter().enumerate().filter(|(_, set)| set.shape == shape) {
        let points = lattice(shape, set.order);
        let n = set.nodes.len() / points.len();
        let kinds: Vec<bool> = (0..n)
            .into_par_iter()
            .map(|e| {
                let x: Vec<[f64; 3]> = element_points(mesh, s, e);
                is_affine(shape, set.order, &points, &x)
            })
            .collect();
        for (local, is_affine) in kinds.into_iter().enumerate() {
            let entry = Entry { global: (set.first + local) as u32, set: s, local };
            if is_affine {
                affine.push(entry);
            } else {
                order = order.max(set.order);
                curved.push(entry);
            }
        }
    }
    (affine, curved, order)
}

/// Lattice nodes of an element.
pub(crate) fn element_points(mesh: &Mesh, set: usize, local: usize) -> Vec<[f64; 3]> {
    let set = &mesh.sets[set];
    let n = dgsuite_basis::lattice::lattice_len(set.shape, set.order);
    set.nodes[local * n..(local + 1) * n].iter().map(|&i| mesh.points[i as usize]).collect()
}

#[allow(clippy::too_many_lines)] // one table after the other, in the order of the struct
fn build_group<T: PackScalar>(
    mesh: &Mesh,
    shape: Shape,
    form: Form,
    kinds: &[(&Vec<Entry>, Option<PartSpec>); 2],
    absent: &[PartSpec],
    curved_order: Option<usize>,
    front: &[u32],
    n_fields: usize,
    lanes: Lanes,
    offset: usize,
) -> Result<Group<T>, OpsError> {
    let on_device = !matches!(lanes, Lanes::Simd(_));
    let (lanes, planar, rows_per_panel) = match lanes {
        Lanes::Simd(level) => (T::lanes(level), false, T::panel_rows(level, n_fields)),
        Lanes::Device(choose, terms) => {
            let specs = kinds.map(|(_, spec)| spec);
            let (lanes, planar) = choose(&Wanted { shape, specs, form, fields: n_fields, terms })?;
            (lanes, planar, 1)
        }
    };
    let dim = mesh.dim;
    let mut parts = Vec::new();
    let mut elements = Vec::new();
    let mut size = Vec::new();
    let mut first_block = 0;
    for (entries, spec) in kinds {
        let Some(spec) = *spec else { continue };
        let reference = Arc::new(ReferenceElement::new(&spec.element)?);
        let mut n_blocks = entries.len().div_ceil(lanes);
        // Device kernels read pairs of numbers, and the states of curved elements must then begin at an even
        // place: an odd number of affine elements is filled up by a copy, which no kernel processes.
        if on_device && lanes == 1 && kinds[1].1.is_some() && spec.rule == MetricRule::Affine {
            n_blocks = n_blocks.next_multiple_of(2);
        }
        let curved = spec.rule != MetricRule::Affine;
        let collocated = spec.element.volume == Cubature::Collocated;
        let nq = reference.volume.points.len();
        let nf = reference.face_points.len();
        let np = reference.n_basis;
        let slot_entry = |slot: usize| &entries[slot.min(entries.len() - 1)];
        elements.extend((0..n_blocks * lanes).map(|slot| slot_entry(slot).global));

        let kind = if curved { PerPoint::Yes } else { PerPoint::No };
        let metric_len = if curved { nq } else { 1 } * dim * dim * lanes;
        let face_len = if curved { nf } else { shape.n_faces() } * (dim + 1) * lanes;
        let inverse_len = if curved { nq * lanes } else { 0 };
        let mut metric = Buffer::<T>::zeros(n_blocks * metric_len)?;
        let mut face = Buffer::<T>::zeros(n_blocks * face_len)?;
        let mut inverse_jacobian = Buffer::<T>::zeros(n_blocks * inverse_len.max(1))?;
        let weight_adjusted = spec.rule == MetricRule::WeightAdjusted;
        // On devices the kernels of prisms and of quadrilaterals treat the reference rule as J = 1.
        let unweighted = on_device && spec.rule == MetricRule::Reference;
        let weighted_len = if weight_adjusted || unweighted { (np + 1) * lanes } else { 0 };
        let mut weighted = Buffer::<T>::zeros(n_blocks * weighted_len.max(1))?;
        let exact_inverse = (spec.rule == MetricRule::Stored).then(|| ExactInverse::new(&reference));
        let stored_len = if exact_inverse.is_some() { np * np * lanes } else { 0 };
        let mut inverse = Buffer::<T>::zeros(n_blocks * stored_len.max(1))?;
        let mut part_size = vec![0.0; n_blocks * lanes];

        // Tables by geometry order; affine elements need one point only.
        let orders: Vec<usize> = mesh.sets.iter().filter(|s| s.shape == shape).map(|s| s.order).collect();
        let tables: Vec<(usize, GeometryTables)> = orders
            .iter()
            .map(|&n| (n, GeometryTables::new(shape, n, &reference, spec.rule == MetricRule::Collocated)))
            .collect();
        let mass_weights = reference.volume.weights.clone();
        metric
            .par_chunks_mut(metric_len)
            .zip(face.par_chunks_mut(face_len))
            .zip(inverse_jacobian.par_chunks_mut(inverse_len.max(1)))
            .zip(weighted.par_chunks_mut(weighted_len.max(1)))
            .zip(inverse.par_chunks_mut(stored_len.max(1)))
            .zip(part_size.par_chunks_mut(lanes))
            .enumerate()
            .try_for_each(|(block, (((((metric, face), inv_j), weighted), inverse), size))| {
                for lane in 0..lanes {
                    let entry = slot_entry(block * lanes + lane);
                    let x = element_points(mesh, entry.set, entry.local);
                    let order = mesh.sets[entry.set].order;
                    let table = &tables[tables.iter().position(|(n, _)| *n == order).unwrap_or(0)].1;
                    let fail = |at: [f64; 3], jacobian: f64| OpsError::Jacobian {
                        element: mesh.sets[entry.set].tags[entry.local],
                        shape,
                        at,
                        jacobian,
                    };
                    let put = |out: &mut [T], i: usize, v: f64| out[i * lanes + lane] = T::from_f64(v);
                    if curved {
                        let g = table.element(&x, &reference);
                        for q in 0..nq {
                            let j = g.jacobian[q];
                            if !(j > 0.0 && j.is_finite()) {
                                return Err(fail(table.volume.position(q, &x), j));
                            }
                            put(inv_j, q, 1.0 / j);
                            for d in 0..dim {
                                for c in 0..dim {
                                    put(metric, (q * dim + d) * dim + c, g.metric[q][d][c]);
                                }
                            }
                        }
                        for (q, (n, s)) in g.face.iter().enumerate() {
                            for c in 0..dim {
                                put(face, q * (dim + 1) + c, n[c]);
                            }
                            put(face, q * (dim + 1) + dim, *s);
                        }
                        if weighted_len > 0 {
                            let jacobian = |q: usize| if unweighted { 1.0 } else { g.jacobian[q] };
                            let total: f64 =
                                mass_weights.iter().enumerate().map(|(q, w)| jacobian(q) * w).sum();
                            for i in 0..np {
                                let jphi: f64 = (0..nq)
                                    .map(|q| mass_weights[q] * jacobian(q) * reference.interp_volume[(q, i)])
                                    .sum();
                                put(weighted, i, jphi / total);
                            }
                            put(weighted, np, 1.0 / total);
                        }
                        if let Some(exact) = &exact_inverse {
                            let s = exact.of(&g.jacobian)?;
                            for i in 0..np * np {
                                put(inverse, i, s.as_slice()[i]);
                            }
                        }
                        let measures = face_measures(&reference, |q| g.face[q].1);
                        let volume: f64 = g.jacobian.iter().zip(&mass_weights).map(|(j, w)| j * w).sum();
                        size[lane] = dim as f64 * volume / measures;
                    } else {
                        let t = table.volume.tangents(0, &x);
                        let (j, a) = volume_factors(dim, &t);
                        if !(j > 0.0 && j.is_finite()) {
                            return Err(fail(table.volume.position(0, &x), j));
                        }
                        for d in 0..dim {
                            for c in 0..dim {
                                put(metric, d * dim + c, a[d][c] / j);
                            }
                        }
                        let mut largest = 0.0_f64;
                        for f in 0..shape.n_faces() {
                            let (n, s) = crate::space::geometry::face_factors(shape, f, &t);
                            for c in 0..dim {
                                put(face, f * (dim + 1) + c, n[c]);
                            }
                            put(face, f * (dim + 1) + dim, s / j);
                            largest = largest.max(s * shape.face_shape(f).map_or(1.0, Shape::measure));
                        }
                        size[lane] = dim as f64 * j * shape.measure() / largest;
                    }
                }
                Ok(())
            })?;

        let quadratic = curved_order == Some(quadratic::ORDER) && quadratic::has_map(shape);
        let maps = on_device && lanes == 1 && weight_adjusted && quadratic;
        let record_len = if maps { quadratic::record_len(dim, weighted_len) } else { 0 };
        let mut map = Buffer::<T>::zeros(n_blocks * record_len)?;
        if maps {
            let derivatives = quadratic::Derivatives::new(shape);
            map.par_chunks_mut(record_len).enumerate().for_each(|(e, record)| {
                let x = element_points(mesh, entries[e].set, entries[e].local);
                derivatives.record(&x, &weighted[e * weighted_len..(e + 1) * weighted_len], record);
            });
        }

        let matrices = volume_matrices(&reference, form, dim);
        let weak = form == Form::Weak;
        let factors = Factors::new(&reference, &matrices, weak);
        let operators = Operators::new(&factors, rows_per_panel, n_fields * lanes);
        let lines = (form == Form::Split).then(|| Lines::new(&reference, rows_per_panel, n_fields * lanes));
        let integral = reference.interp_volume.transpose().mul_vec(&reference.volume.weights);
        let one = reference.project_volume.mul_vec(&vec![1.0; nq]);
        let lift = |v: Vec<f64>| v.into_iter().map(T::from_f64).collect::<Vec<T>>();
        parts.push(Part {
            spec,
            first_block,
            n_blocks,
            n_elements: entries.len(),
            n_cut: entries
                .partition_point(|e| front.binary_search(&e.global).is_ok())
                .next_multiple_of(lanes.max(RUN))
                .min(entries.len()),
            n_points: nq,
            collocated,
            operators,
            kind,
            metric,
            face,
            inverse_jacobian,
            integral: lift(integral),
            one: lift(one),
            weighted,
            inverse,
            map,
            lines,
            lifting: None,
            directions: None,
            reference,
        });
        size.extend(part_size);
        first_block += n_blocks;
    }
    let reference = Arc::clone(&parts[0].reference);
    let state = Layout { lanes, blocks: first_block, rows: reference.n_basis, fields: n_fields, planar };
    let trace = Layout { rows: reference.face_points.len(), planar: false, ..state };
    let mut nodal = parts.iter().all(|p| p.reference.face_nodes.is_some());
    for spec in absent {
        nodal &= ReferenceElement::new(&spec.element)?.face_nodes.is_some();
    }
    let face_nodes =
        nodal.then(|| reference.face_nodes.iter().flatten().flatten().map(|&i| i as u32).collect());
    Ok(Group {
        shape,
        state,
        trace,
        offset,
        face_offsets: reference.face_offsets.clone(),
        face_nodes,
        parts,
        elements,
        size,
        bounds: Vec::new(),
        coefficients: Vec::new(),
    })
}

/// The largest face measure `∫ sJ`.
fn face_measures(reference: &ReferenceElement, sj: impl Fn(usize) -> f64) -> f64 {
    reference
        .face_offsets
        .windows(2)
        .map(|w| (w[0]..w[1]).map(|q| reference.face_weights[q] * sj(q)).sum())
        .fold(0.0, f64::max)
}

/// `P_d`; in strong form `−D_d + L N̂_d I_f` applied to the projected flux. In split form these matrices are
/// for diffusive fluxes.
pub(crate) fn volume_matrices(reference: &ReferenceElement, form: Form, dim: usize) -> Vec<Matrix> {
    let (np, nq, nf) = (reference.n_basis, reference.volume.points.len(), reference.face_points.len());
    match form {
        Form::Weak => reference.project.clone(),
        Form::Strong | Form::Split => (0..dim)
            .map(|d| {
                let shape = reference.spec.shape;
                let offsets = &reference.face_offsets;
                let face_of =
                    |q: usize| offsets.iter().rposition(|&o| o <= q).unwrap_or(0).min(shape.n_faces() - 1);
                // The flux is projected to the space first; then its derivative and its trace follow from the
                // coefficients.
                let collocated = reference.spec.volume == Cubature::Collocated;
                let pi = &if collocated { Matrix::identity(np) } else { reference.project_volume.clone() };
                let derivative = pi.mul(&reference.derivative[d]).mul(pi);
                let trace = Matrix::from_fn(nf, np, |q, i| {
                    let normal = crate::space::geometry::reference_normal(shape, face_of(q));
                    normal[d] * reference.interp_face[(q, i)]
                });
                let lifted = reference.lift.mul(&trace).mul(pi);
                Matrix::from_fn(np, nq, |i, q| lifted[(i, q)] - derivative[(i, q)])
            })
            .collect(),
    }
}

/// `M_e⁻¹ M̂` with `M_e = Iᵀ W J I`, computed in the orthonormal modes: `M_e` of Taylor polynomials is
/// singular to rounding at high orders.
struct ExactInverse {
    /// Modes at the volume points.
    values: Matrix,
    weights: Vec<f64>,
    from_modes: Matrix,
    /// `M̂`, from coefficients to modes.
    reference_mass: Matrix,
}

impl ExactInverse {
    fn new(reference: &ReferenceElement) -> Self {
        let from_modes = reference.from_modes();
        let mass = from_modes.transpose().mul(&reference.mass).mul(&from_modes);
        Self {
            values: reference.interp_volume.mul(&from_modes),
            weights: reference.volume.weights.clone(),
            reference_mass: mass.mul(&reference.to_modes()),
            from_modes,
        }
    }

    /// The matrix for the given Jacobian at the volume points.
    fn of(&self, jacobian: &[f64]) -> Result<Matrix, OpsError> {
        let w: Vec<f64> = self.weights.iter().zip(jacobian).map(|(w, j)| w * j).collect();
        let mass = self.values.transpose().scale_cols(&w).mul(&self.values);
        Ok(self.from_modes.mul(&mass.inverse()?).mul(&self.reference_mass))
    }
}
