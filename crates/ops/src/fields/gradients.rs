//! Lifted gradients for output: at sample points, and on boundaries for forces and heat fluxes.
//!
//! The functions work element by element in double precision, from coefficients alone, so that they support
//! any layout, including layouts of devices. The gradient is that of the scheme: `∇u + Σ_f r_f` in the
//! volume, `∇u + η r_f` on a face. Without diffusion, the half jump on a boundary leads to the mean of the
//! inner and the outer state.

use crate::fields::{Sample, on_lattice};
use crate::lanes::simd::PackScalar;
use crate::rhs::boundary_set::BoundarySet;
use crate::rhs::discretization::Discretization;
use crate::rhs::halo::Halo;
use crate::rhs::slopes::BoundarySlopes;
use crate::space::connect::{Foreign, index};
use crate::space::geometry::{GeometryBasis, reference_normal};
use crate::space::group::{Group, element_points};
use crate::space::lifting::{FaceBases, face_derivatives, face_metrics, metric_of, penalty, point_normals};
use crate::space::positions::coefficients;
use crate::space::positions::face_geometry;
use crate::space::positions::inside;
use dgsuite_basis::lattice::lattice;
use dgsuite_basis::{Matrix, ReferenceElement};
use rayon::prelude::*;

/// The solution on one boundary, at the face points of the scheme.
#[derive(Clone, Debug, Default)]
pub struct BoundarySamples {
    /// Index of the first point of each face, then the number of points.
    pub first: Vec<usize>,
    /// Global element of each face.
    pub elements: Vec<usize>,
    /// Positions.
    pub points: Vec<[f64; 3]>,
    /// Unit normals, pointing out of the domain.
    pub normals: Vec<[f64; 3]>,
    /// Surface cubature weights: `∫ f dS ≈ Σ w f`.
    pub weights: Vec<f64>,
    /// Distances from the boundary for wall units: the thickness of the point's element (its volume over the
    /// area of its face) divided by p + 1, or the height from which a wall model takes its state.
    pub distances: Vec<f64>,
    /// Inner states `u⁻`, `[point][field]`.
    pub inner: Vec<Vec<f64>>,
    /// States on the boundary, `[point][field]`: `u_b` with diffusion, otherwise the mean of `u⁻` and `u⁺`.
    pub states: Vec<Vec<f64>>,
    /// Lifted gradients, physical, `[point][x][field]`.
    pub gradients: Vec<Vec<Vec<f64>>>,
    /// The scheme's inviscid normal fluxes `f*(u⁻, u⁺, n)`, `[point][field]`.
    pub inviscid: Vec<Vec<f64>>,
    /// The scheme's diffusive normal fluxes, `[point][field]`; zero without diffusion.
    pub diffusive: Vec<Vec<f64>>,
}

/// Half jumps at the face points of every slot of each group, `[group][slot × point × field]`.
type Jumps = Vec<Vec<f64>>;

/// One boundary's states, all `[point][field]`.
struct Outside<T> {
    minus: Vec<T>,
    inviscid: Vec<T>,
    /// `u_b`, or the mean of inner and outer state.
    face: Vec<T>,
    data: Vec<T>,
}

impl<T: PackScalar> Discretization<T> {
    /// As [`sample`](Self::sample), with the lifted gradients of the conserved variables at the same points.
    #[must_use]
    pub fn sample_with_gradients(&self, u: &[T], t: f64, order: usize) -> Vec<Sample> {
        let jumps = self.half_jumps(u, t);
        let mut samples = self.sample(u, order);
        for ((group, jumps), sample) in self.groups.iter().zip(&jumps).zip(&mut samples) {
            sample.gradients = self.group_gradients(group, u, jumps, order);
        }
        samples
    }

    /// Samples the solution on the boundary `name` at time `t`: states, lifted gradients, fluxes, normals and
    /// weights. Returns `None` if no face belongs to that boundary. Collective on several ranks.
    #[must_use]
    pub fn boundary_samples(&self, u: &[T], t: f64, name: &str) -> Option<BoundarySamples> {
        let arrived = self.arrived_above(u, name);
        let set = self.boundaries.iter().find(|set| set.binding.name == name)?;
        let fields = self.physics.n_fields();
        let slopes = set.slopes.get_or_init(|| self.boundary_slopes(set));
        let mut data = self.given(set, t);
        set.data_from_above(u, &arrived, &self.host, &mut data);
        let outside = self.outside(set, u, data);
        let rows = |v: &[T]| -> Vec<Vec<f64>> {
            v.chunks_exact(fields).map(|row| row.iter().map(|x| x.to_f64()).collect()).collect()
        };
        let mut out = BoundarySamples {
            first: set.first.clone(),
            points: set.positions.clone(),
            normals: slopes.normals.clone(),
            weights: set.weight.clone(),
            distances: slopes.distances.clone(),
            inner: rows(&outside.minus),
            states: rows(&outside.face),
            inviscid: rows(&outside.inviscid),
            ..BoundarySamples::default()
        };
        let faces = &self.connectivity.boundaries[set.boundary];
        for (f, face) in faces.iter().enumerate() {
            let group = &self.groups[face.group as usize];
            out.elements.push(group.elements[face.slot as usize] as usize);
            let points = set.first[f]..set.first[f + 1];
            let jump = |p: usize| (0..fields).map(|k| out.states[p][k] - out.inner[p][k]).collect();
            let jump: Vec<Vec<f64>> = points.clone().map(jump).collect();
            let state = &u[group.offset..group.offset + group.state.len()];
            let (slot, metric) = (face.slot as usize, &slopes.metric[points]);
            let slopes = slopes.of(face.group as usize, group, slot);
            out.gradients.extend(self.face_gradient(
                group,
                state,
                slot,
                face.face as usize,
                &jump,
                slopes,
                metric,
            ));
        }
        let mut flux = vec![T::ZERO; outside.minus.len()];
        if let (Some(kernel), Some(_)) = (set.binding.kernel.diffusive(), &self.diffusion) {
            let gradients: Vec<T> =
                out.gradients.iter().flatten().flatten().map(|&v| T::from_f64(v)).collect();
            let Outside { minus, face, data, .. } = &outside;
            kernel.normal_flux(minus, face, &gradients, &set.normal, data, &set.coefficients, &mut flux);
        }
        out.diffusive = rows(&flux);
        Some(out)
    }

    /// Computes the operators of the gradients at the points of a boundary.
    fn boundary_slopes(&self, set: &BoundarySet<T>) -> BoundarySlopes {
        let distances = self.wall_distances(set);
        let mut slopes =
            BoundarySlopes { parts: Vec::new(), distances, normals: Vec::new(), metric: Vec::new() };
        // Of the parts.
        let mut bases = Vec::new();
        for face in &self.connectivity.boundaries[set.boundary] {
            let (g, slot, f) = (face.group as usize, face.slot as usize, face.face as usize);
            let group = &self.groups[g];
            let part = group.part_of(slot / group.state.lanes);
            let known = slopes.parts.iter().position(|(of, first, _)| (*of, *first) == (g, part.first_block));
            let known = known.unwrap_or_else(|| {
                slopes.parts.push((g, part.first_block, face_derivatives(&part.reference)));
                bases.push(FaceBases::new(&self.mesh, &part.reference));
                bases.len() - 1
            });
            slopes.normals.extend(face_geometry(group, slot, f, self.mesh.dim).0);
            let metric = face_metrics(part, slot, group, &self.mesh, &bases[known]);
            slopes.metric.extend_from_slice(&metric[group.face_offsets[f]..group.face_offsets[f + 1]]);
        }
        slopes
    }

    /// Computes [`BoundarySamples::distances`].
    fn wall_distances(&self, set: &BoundarySet<T>) -> Vec<f64> {
        let volumes = self.mesh.volumes();
        let mut distances = Vec::with_capacity(set.positions.len());
        for (f, face) in self.connectivity.boundaries[set.boundary].iter().enumerate() {
            let points = set.first[f]..set.first[f + 1];
            let element = self.groups[face.group as usize].elements[face.slot as usize] as usize;
            let area: f64 = set.weight[points.clone()].iter().sum();
            let thickness = volumes[element] / area / (self.scheme.order + 1) as f64;
            distances.resize(points.end, thickness);
        }
        for run in set.above.iter().flat_map(|above| &above.runs) {
            for (&p, h) in run.points.iter().zip(&run.heights) {
                distances[p as usize] = h.to_f64();
            }
        }
        distances
    }

    /// Computes the states on the two sides of a boundary from its data, `[point][field]`.
    fn outside(&self, set: &BoundarySet<T>, u: &[T], data: Vec<T>) -> Outside<T> {
        let fields = self.physics.n_fields();
        let mut minus = Vec::with_capacity(set.positions.len() * fields);
        for face in &self.connectivity.boundaries[set.boundary] {
            let group = &self.groups[face.group as usize];
            let reference = &group.part_of(face.slot as usize / group.state.lanes).reference;
            let state = &u[group.offset..group.offset + group.state.len()];
            let c = coefficients(group, state, face.slot as usize);
            for q in group.face_offsets[face.face as usize]..group.face_offsets[face.face as usize + 1] {
                minus.extend(c.iter().map(|c| T::from_f64(row_times(&reference.interp_face, q, c))));
            }
        }
        self.outside_of(set, minus, data)
    }

    /// The data of a boundary that are given by functions of place and time, `[point][field]`.
    fn given(&self, set: &BoundarySet<T>, t: f64) -> Vec<T> {
        let fields = self.physics.n_fields();
        let mut data = vec![T::ZERO; set.positions.len() * fields];
        if let Some(exact) = &set.binding.data {
            let mut columns = vec![Vec::new(); fields];
            exact.eval(t, &set.positions, &mut columns);
            for (k, column) in columns.iter().enumerate() {
                column.iter().enumerate().for_each(|(i, &v)| data[i * fields + k] = T::from_f64(v));
            }
        }
        data
    }

    /// [`outside`](Self::outside) from the inner states and the data, `[point][field]`.
    fn outside_of(&self, set: &BoundarySet<T>, minus: Vec<T>, data: Vec<T>) -> Outside<T> {
        let (mut plus, mut inviscid) = (minus.clone(), minus.clone());
        set.binding.kernel.outer(&minus, &set.normal, &data, &mut plus);
        self.physics.numerical_flux(&minus, &plus, &set.normal, &mut inviscid);
        let face = match (set.binding.kernel.diffusive(), &self.diffusion) {
            (Some(kernel), Some(_)) => {
                let mut face = minus.clone();
                kernel.face_state(&minus, &set.normal, &data, &mut face);
                face
            }
            _ => {
                let half = T::from_f64(0.5);
                minus.iter().zip(&plus).map(|(&a, &b)| half * (a + b)).collect()
            }
        };
        Outside { minus, inviscid, face, data }
    }

    /// The half jumps at the points of all boundaries from the inner states there, both in the order of the
    /// exterior array. They need no data from above a boundary.
    pub(crate) fn boundary_jumps(&self, minus: &[f64], t: f64) -> Vec<f64> {
        let mut jumps = vec![0.0; minus.len()];
        for set in &self.boundaries {
            let begin = self.connectivity.boundary_exterior[set.boundary];
            let own = begin..begin + set.positions.len() * self.physics.n_fields();
            let outside = self.outside_of(
                set,
                minus[own].iter().map(|&v| T::from_f64(v)).collect(),
                self.given(set, t),
            );
            for (i, (face, minus)) in outside.face.iter().zip(&outside.minus).enumerate() {
                jumps[begin + i] = face.to_f64() - minus.to_f64();
            }
        }
        jumps
    }

    /// Computes the half jumps on all faces.
    pub(crate) fn half_jumps(&self, u: &[T], t: f64) -> Jumps {
        let fields = self.physics.n_fields();
        let traces: Vec<Vec<f64>> = self
            .groups
            .iter()
            .map(|group| {
                let state = &u[group.offset..group.offset + group.state.len()];
                let interp = &group.parts[0].reference.interp_face;
                let per_slot = |slot: usize| -> Vec<f64> {
                    let c = coefficients(group, state, slot);
                    let columns: Vec<Vec<f64>> = c.iter().map(|c| interp.mul_vec(c)).collect();
                    (0..interp.rows()).flat_map(|q| columns.iter().map(move |v| v[q])).collect()
                };
                let slots = group.state.blocks * group.state.lanes;
                self.host.install(|| (0..slots).into_par_iter().flat_map_iter(per_slot).collect())
            })
            .collect();
        // The exterior array holds jumps for boundaries and states for other groups.
        let mut exterior = vec![0.0; self.connectivity.exterior_len];
        for set in &self.boundaries {
            // No face state depends on data from above a boundary.
            let outside = self.outside(set, u, self.given(set, t));
            let begin = self.connectivity.boundary_exterior[set.boundary];
            for (i, (face, minus)) in outside.face.iter().zip(&outside.minus).enumerate() {
                exterior[begin + i] = face.to_f64() - minus.to_f64();
            }
        }
        let copy = |foreign: &Foreign, out: &mut [f64]| {
            let g = foreign.group as usize;
            let (group, source) = (&self.groups[g], &traces[g]);
            let rows = group.trace.rows;
            let table = self.connectivity.neighbours[g].point_table(foreign.code, foreign.points as usize);
            for (point, &row) in out.chunks_exact_mut(fields).zip(table) {
                let q = row as usize / (fields * group.state.lanes);
                point.copy_from_slice(&source[(foreign.slot as usize * rows + q) * fields..][..fields]);
            }
        };
        for foreign in &self.connectivity.foreign {
            copy(foreign, &mut exterior[foreign.exterior as usize..]);
        }
        if let Some(ranks) = &self.ranks
            && let Some(mut halo) = ranks.kept(Halo::new::<f64>(ranks, &self.connectivity.borders))
        {
            halo.start(copy);
            halo.finish(&mut exterior);
        }
        (0..self.groups.len()).map(|g| self.group_jumps(g, &traces[g], &exterior)).collect()
    }

    fn group_jumps(&self, g: usize, traces: &[f64], exterior: &[f64]) -> Vec<f64> {
        let (group, neighbours) = (&self.groups[g], &self.connectivity.neighbours[g]);
        let (fields, lanes, rows) = (group.state.fields, group.state.lanes, group.trace.rows);
        let mut out = vec![0.0; traces.len()];
        for slot in group.real_slots() {
            for face in 0..group.shape.n_faces() {
                let (first, end) = (group.face_offsets[face], group.face_offsets[face + 1]);
                let i = index(group, slot, face);
                let across = neighbours.slot[i] as usize;
                for (q, &row) in (first..end).zip(neighbours.point_table(neighbours.code[i], end - first)) {
                    let (own, other) =
                        ((slot * rows + q) * fields, across * rows + row as usize / (fields * lanes));
                    for k in 0..fields {
                        out[own + k] = 0.5 * (traces[other * fields + k] - traces[own + k]);
                    }
                }
            }
        }
        for block in 0..group.state.blocks {
            for fix in neighbours.fixes_of(block) {
                let (slot, face) = (block * lanes + fix.lane as usize, fix.face as usize);
                let begin = (slot * rows + group.face_offsets[face]) * fields;
                let len = (group.face_offsets[face + 1] - group.face_offsets[face]) * fields;
                let boundary = (fix.exterior as usize) < self.connectivity.boundary_len;
                for i in 0..len {
                    let v = exterior[fix.exterior as usize + i];
                    out[begin + i] = if boundary { v } else { 0.5 * (v - traces[begin + i]) };
                }
            }
        }
        out
    }

    /// `∇u + Σ_f r_f` at lattice points: `[x][field][element × point]`.
    fn group_gradients(&self, group: &Group<T>, u: &[T], jumps: &[f64], order: usize) -> Vec<Vec<Vec<f64>>> {
        let (dim, fields, nf) = (self.mesh.dim, group.state.fields, group.trace.rows);
        let state = &u[group.offset..group.offset + group.state.len()];
        let points = inside(group.shape, lattice(group.shape, order));
        let of = on_lattice(&group.parts[0].reference, order);
        let lifts: Vec<(usize, Vec<Lift>)> =
            group.parts.iter().map(|p| (p.first_block, Lift::at(&p.reference, &points))).collect();
        let orders = self.mesh.sets.iter().filter(|s| s.shape == group.shape).map(|s| s.order);
        let geometry: Vec<(usize, GeometryBasis)> =
            orders.map(|n| (n, GeometryBasis::new(group.shape, n, &points))).collect();
        let per_slot = |slot: usize| -> Vec<f64> {
            let c = coefficients(group, state, slot);
            let c = c.concat();
            let jump = &jumps[slot * nf * fields..(slot + 1) * nf * fields];
            let part = lifts.iter().rposition(|l| l.0 <= slot / group.state.lanes).unwrap_or(0);
            let (set, local) = self.mesh.locate(group.elements[slot] as usize);
            let i = geometry.iter().position(|g| g.0 == self.mesh.sets[set].order).unwrap_or(0);
            let metric = metric_of(dim, &geometry[i].1, &element_points(&self.mesh, set, local));
            let mut out = vec![0.0; dim * fields * points.len()];
            for d in 0..dim {
                let (slope, lifted) = (of.derivatives[d].apply(&c), lifts[part].1[d].apply(jump, fields));
                for q in 0..points.len() {
                    for (k, b) in lifted.row(q).iter().enumerate() {
                        let a = slope[k * points.len() + q];
                        for x in 0..dim {
                            out[(x * fields + k) * points.len() + q] += metric[q][d][x] * (a + b);
                        }
                    }
                }
            }
            out
        };
        let slots: Vec<usize> = group.real_slots().collect();
        let all: Vec<Vec<f64>> = self.host.install(|| slots.par_iter().map(|&s| per_slot(s)).collect());
        let column = |x: usize, k: usize| {
            let begin = (x * fields + k) * points.len();
            all.iter().flat_map(|v| v[begin..begin + points.len()].iter().copied()).collect()
        };
        (0..dim).map(|x| (0..fields).map(|k| column(x, k)).collect()).collect()
    }

    /// `∇u + η r_f` at the points of one face, `[point][x][field]`, with the operators of its part and the
    /// metric at its points.
    fn face_gradient(
        &self,
        group: &Group<T>,
        state: &[T],
        slot: usize,
        face: usize,
        jump: &[Vec<f64>],
        slopes: &[Matrix],
        metric: &[[[f64; 3]; 3]],
    ) -> Vec<Vec<Vec<f64>>> {
        let dim = self.mesh.dim;
        let reference = &group.part_of(slot / group.state.lanes).reference;
        let normal = reference_normal(group.shape, face);
        let eta = penalty(group.shape, self.eta);
        let points = group.face_offsets[face]..group.face_offsets[face + 1];
        let mut out = vec![vec![vec![0.0; group.state.fields]; dim]; points.len()];
        let mut full = vec![0.0; group.trace.rows];
        for (k, c) in coefficients(group, state, slot).iter().enumerate() {
            points.clone().zip(jump).for_each(|(q, jump)| full[q] = jump[k]);
            let lifted = reference.lift.mul_vec(&full);
            for (i, q) in points.clone().enumerate() {
                let own = eta * row_times(&reference.interp_face, q, &lifted);
                for d in 0..dim {
                    let g = row_times(&slopes[d], q, c) + normal[d] * own;
                    for x in 0..dim {
                        out[i][x][k] += metric[i][d][x] * g;
                    }
                }
            }
        }
        out
    }
}

/// `L N̂_d` for each direction.
fn directed_lifts(reference: &ReferenceElement) -> Vec<Matrix> {
    let normals = point_normals(reference);
    let (np, nf) = (reference.n_basis, reference.face_points.len());
    (0..reference.spec.shape.dim())
        .map(|d| Matrix::from_fn(np, nf, |i, q| reference.lift[(i, q)] * normals[q][d]))
        .collect()
}

/// A row of a matrix times a vector.
fn row_times(a: &Matrix, row: usize, v: &[f64]) -> f64 {
    a.row(row).iter().zip(v).map(|(a, v)| a * v).sum()
}

/// A matrix from jumps at face points to points of the element, without the columns that are zero: those of
/// faces whose reference normal has no part in its direction.
pub(crate) struct Lift {
    /// The face points of the columns.
    pub(crate) points: Vec<usize>,
    pub(crate) matrix: Matrix,
}

impl Lift {
    /// The lifts in each direction at points of an element.
    pub(crate) fn at(reference: &ReferenceElement, points: &[[f64; 3]]) -> Vec<Self> {
        let values = reference.evaluate(points);
        directed_lifts(reference).iter().map(|lift| Self::new(&values.mul(lift))).collect()
    }

    fn new(whole: &Matrix) -> Self {
        let points: Vec<usize> =
            (0..whole.cols()).filter(|&q| (0..whole.rows()).any(|i| whole[(i, q)] != 0.0)).collect();
        let matrix = Matrix::from_fn(whole.rows(), points.len(), |i, j| whole[(i, points[j])]);
        Self { points, matrix }
    }

    /// `[point][field]` from jumps `[face point][field]`.
    pub(crate) fn apply(&self, jumps: &[f64], fields: usize) -> Matrix {
        let used = |j: usize, k: usize| jumps[self.points[j] * fields + k];
        self.matrix.mul(&Matrix::from_fn(self.points.len(), fields, used))
    }
}
