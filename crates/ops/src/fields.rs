//! Access to the solution: projection, samples, and the canonical order of checkpoints.
//!
//! Projection uses a cubature finer than the scheme's and runs over elements in parallel. The canonical order
//! `[element][field][basis function]` does not depend on the layout and is what checkpoints contain.

pub(crate) mod gradients;
pub(crate) mod integrals;

use crate::lanes::simd::PackScalar;
use crate::rhs::discretization::Discretization;
use crate::rhs::limiter::StateFloor;
use crate::space::group::{Group, element_points};
use crate::space::positions::{coefficients, image, inside};
use crate::space::scheme::Scheme;
use dgsuite_basis::{
    Correction, Cubature, ElementSpec, Evaluation, LagrangeBasis, Matrix, Quadrature, ReferenceElement,
    Representation, Shape, lattice::lattice,
};
use dgsuite_physics::Exact;
use rayon::prelude::*;

/// The functions of an element and their derivatives at the points that `points` returns for a shape, by sum
/// factorisation where the element is a product of lines: the points must be such a product then, too.
pub(crate) fn evaluation(
    reference: &ReferenceElement,
    points: impl Fn(Shape) -> Vec<[f64; 3]>,
) -> Evaluation {
    let shape = reference.spec.shape;
    let line_of = |_| ReferenceElement::new(&ElementSpec { shape: Shape::Line, ..reference.spec }).ok();
    let line = reference.tensor.as_ref().and_then(line_of);
    Evaluation::new(shape, line.is_some(), |shape| {
        let (element, points) = (line.as_ref().unwrap_or(reference), points(shape));
        (element.evaluate(&points), element.gradient(&inside(shape, points)))
    })
}

/// [`evaluation`] on the lattice of order `order`.
pub(crate) fn on_lattice(reference: &ReferenceElement, order: usize) -> Evaluation {
    evaluation(reference, |shape| lattice(shape, order))
}

/// Values on a lattice in the elements of one shape.
#[derive(Clone, Debug)]
pub struct Sample {
    /// Shape of the elements.
    pub shape: Shape,
    /// Order of the lattice.
    pub order: usize,
    /// Global element indices.
    pub elements: Vec<usize>,
    /// Positions, `[element][lattice point]`.
    pub points: Vec<[f64; 3]>,
    /// Conserved states, `[field][element × lattice point]`.
    pub values: Vec<Vec<f64>>,
    /// Lifted gradients, physical, `[x][field][element × lattice point]`; empty unless they were requested.
    pub gradients: Vec<Vec<Vec<f64>>>,
    /// Lower bounds of density and pressure between the limiter's points, for each element; empty without a
    /// limiter. The values are those of the polynomials: apply
    /// [`keep_above`](Discretization::keep_above) to the states that are shown.
    pub floors: Vec<StateFloor>,
}

/// The points at which one task evaluates a state.
const POINTS: usize = 64;

impl<T: PackScalar> Discretization<T> {
    /// Projects `exact` at time `t` onto the space: interpolation at the nodes if the volume cubature is
    /// collocated, otherwise L² projection on the reference element.
    pub fn project(&self, exact: &dyn Exact, t: f64, u: &mut [T]) {
        let fields = self.physics.n_fields();
        for group in &self.groups {
            for part in &group.parts {
                let reference = &part.reference;
                // A finer rule than the scheme's, so that the projection has no aliasing errors.
                let (points, project) = match (part.collocated, &reference.nodes) {
                    (true, Some(nodes)) => (nodes.clone(), Matrix::identity(reference.n_basis)),
                    _ => fine_projection(reference),
                };
                let lanes = group.state.lanes;
                let layout = group.state;
                let len = layout.block_len();
                let begin = group.offset + part.first_block * len;
                let blocks = &mut u[begin..begin + part.n_blocks * len];
                let tables: Vec<(Shape, usize, Matrix)> = self.geometry_tables(group.shape, &points);
                self.host.install(|| {
                    blocks.par_chunks_mut(len).enumerate().for_each(|(b, block)| {
                        let mut values = vec![Vec::new(); fields];
                        for lane in 0..lanes {
                            let slot = (part.first_block + b) * lanes + lane;
                            let (set, local) = self.mesh.locate(group.elements[slot] as usize);
                            let x = self.map_points(&tables, set, local);
                            exact.eval(t, &x, &mut values);
                            for (k, v) in values.iter().enumerate() {
                                for (i, c) in project.mul_vec(v).into_iter().enumerate() {
                                    block[layout.index(lane, i, k)] = T::from_f64(c);
                                }
                            }
                        }
                    });
                });
            }
        }
    }

    fn geometry_tables(&self, shape: Shape, points: &[[f64; 3]]) -> Vec<(Shape, usize, Matrix)> {
        let mut out: Vec<(Shape, usize, Matrix)> = Vec::new();
        for set in self.mesh.sets.iter().filter(|s| s.shape == shape) {
            if !out.iter().any(|(_, n, _)| *n == set.order) {
                out.push((shape, set.order, LagrangeBasis::new(shape, set.order).eval(points)));
            }
        }
        out
    }

    fn map_points(&self, tables: &[(Shape, usize, Matrix)], set: usize, local: usize) -> Vec<[f64; 3]> {
        let order = self.mesh.sets[set].order;
        let i = tables.iter().position(|(_, n, _)| *n == order).unwrap_or(0);
        image(&tables[i].2, &element_points(&self.mesh, set, local))
    }

    /// Samples the conserved state on the lattice of order `order`, shape by shape, for writers.
    #[must_use]
    pub fn sample(&self, u: &[T], order: usize) -> Vec<Sample> {
        let fields = self.physics.n_fields();
        self.groups
            .iter()
            .enumerate()
            .map(|(g, group)| {
                let state = &u[group.offset..group.offset + group.state.len()];
                let points = lattice(group.shape, order);
                let basis = on_lattice(&group.parts[0].reference, order).values;
                let tables = self.geometry_tables(group.shape, &points);
                let slots: Vec<usize> = group.real_slots().collect();
                let per_element: Vec<(Vec<[f64; 3]>, Vec<f64>)> = self.host.install(|| {
                    slots
                        .par_iter()
                        .map(|&slot| {
                            let (set, local) = self.mesh.locate(group.elements[slot] as usize);
                            let x = self.map_points(&tables, set, local);
                            (x, basis.apply(&coefficients(group, state, slot).concat()))
                        })
                        .collect()
                });
                let mut values = vec![Vec::new(); fields];
                let mut x = Vec::new();
                for (points, v) in per_element {
                    for (all, one) in values.iter_mut().zip(v.chunks_exact(points.len())) {
                        all.extend(one);
                    }
                    x.extend(points);
                }
                let elements = slots.iter().map(|&s| group.elements[s] as usize).collect();
                let floors: Option<Vec<StateFloor>> = self
                    .host
                    .install(|| slots.par_iter().map(|&slot| self.state_floor(u, g, slot)).collect());
                Sample {
                    shape: group.shape,
                    order,
                    elements,
                    points: x,
                    values,
                    gradients: Vec::new(),
                    floors: floors.unwrap_or_default(),
                }
            })
            .collect()
    }

    /// Places of the coefficients of elements in the state, element after element. Elements of other ranks
    /// have none.
    #[must_use]
    pub fn entries(&self, elements: &[usize]) -> Vec<u32> {
        let places = self.places(elements.iter().copied());
        let of_place = |&place: &Option<(usize, usize)>| {
            place.map(|(g, slot)| {
                let (l, offset) = (self.groups[g].state, self.groups[g].offset);
                let rows = (0..l.fields).flat_map(move |k| (0..l.rows).map(move |i| (i, k)));
                rows.map(move |(i, k)| (offset + l.index(slot, i, k)) as u32)
            })
        };
        places.iter().filter_map(of_place).flatten().collect()
    }

    /// The elements at the faces of a boundary, and those above it from which its condition takes states,
    /// also for points of other ranks, each of them once.
    #[must_use]
    pub fn boundary_elements(&self, name: &str) -> Vec<usize> {
        let mut elements = self.lent_elements(name);
        if let Some(set) = self.boundaries.iter().find(|set| set.binding.name == name) {
            let faces = self.connectivity.boundaries[set.boundary].iter();
            let element = |g: u8, slot: u32| self.groups[g as usize].elements[slot as usize] as usize;
            elements.extend(faces.map(|face| element(face.group, face.slot)));
            elements.extend(set.above.iter().flat_map(|above| &above.elements));
        }
        elements.sort_unstable();
        elements.dedup();
        elements
    }

    /// The conserved states at reference points of elements, [kept above](Self::keep_above) what the limiter
    /// allows, if there is one; `None` for points without a place.
    #[must_use]
    pub fn states_at(&self, u: &[T], points: &[Option<(usize, [f64; 3])>]) -> Vec<Option<Vec<f64>>> {
        let places = self.places(points.iter().map(|point| point.map_or(usize::MAX, |(element, _)| element)));
        let state = |(place, point): (Option<(usize, usize)>, &Option<(usize, [f64; 3])>)| {
            let ((g, slot), (_, r)) = (place?, (*point)?);
            let group = &self.groups[g];
            let state = &u[group.offset..group.offset + group.state.len()];
            let basis = group.parts[0].reference.evaluate(&[r]);
            let mut state: Vec<f64> =
                coefficients(group, state, slot).iter().map(|c| basis.mul_vec(c)[0]).collect();
            if let Some(floor) = self.state_floor(u, g, slot) {
                self.keep_above(&floor, &mut state);
            }
            Some(state)
        };
        if points.len() <= POINTS {
            return places.into_iter().zip(points).map(state).collect();
        }
        self.host.install(|| places.into_par_iter().zip(points).with_min_len(POINTS).map(state).collect())
    }

    /// Group and slot of elements of the mesh; `None` for others.
    fn places(&self, elements: impl Iterator<Item = usize>) -> Vec<Option<(usize, usize)>> {
        let slots = self.slots.get_or_init(|| {
            let mut slots = vec![(0, 0); self.mesh.n_elements()];
            for (g, group) in self.groups.iter().enumerate() {
                group.real_slots().for_each(|s| slots[group.elements[s] as usize] = (g as u32, s as u32));
            }
            slots
        });
        elements.map(|e| slots.get(e).map(|&(g, slot)| (g as usize, slot as usize))).collect()
    }

    /// The conserved state at reference point `r` of an element.
    #[must_use]
    pub fn state_at(&self, u: &[T], element: usize, r: [f64; 3]) -> Option<Vec<f64>> {
        self.states_at(u, &[Some((element, r))]).pop().flatten()
    }

    /// Returns the state in canonical order, `[global element][field][basis function]`, in double precision.
    /// It does not depend on lanes, threads and precision.
    #[must_use]
    pub fn to_canonical(&self, u: &[T]) -> Vec<f64> {
        let first = self.canonical_offsets();
        let mut out = vec![0.0; first.last().copied().unwrap_or(0)];
        for group in &self.groups {
            let state = &u[group.offset..group.offset + group.state.len()];
            for slot in group.real_slots() {
                let mut at = first[group.elements[slot] as usize];
                for field in coefficients(group, state, slot) {
                    for v in field {
                        out[at] = v;
                        at += 1;
                    }
                }
            }
        }
        out
    }

    /// Converts canonical coefficients of another basis of the same space to this basis. Returns `None` if
    /// the length does not match or a shape does not have the other basis.
    #[must_use]
    pub fn convert_canonical(&self, canonical: &[f64], from: Representation) -> Option<Vec<f64>> {
        self.convert_canonical_of_order(canonical, from, self.scheme.order)
    }

    /// [`convert_canonical`](Self::convert_canonical) from another order, by L² projection on the reference
    /// element. The conversion from lower orders is exact.
    #[must_use]
    pub fn convert_canonical_of_order(
        &self,
        canonical: &[f64],
        from: Representation,
        order: usize,
    ) -> Option<Vec<f64>> {
        let first = self.canonical_offsets();
        if from == self.scheme.representation && order == self.scheme.order {
            return (first.last().copied() == Some(canonical.len())).then(|| canonical.to_vec());
        }
        let simplex_nodes = self.scheme.simplex_nodes.filter(|_| from == self.scheme.representation);
        let other = Scheme { representation: from, order, simplex_nodes, ..self.scheme };
        let changes: Vec<Matrix> =
            self.groups.iter().map(|group| change_of_basis(group, &other)).collect::<Option<_>>()?;
        // Offset of the coefficients of each element in the other space.
        let mut others = vec![0; self.mesh.n_elements() + 1];
        for (group, change) in self.groups.iter().zip(&changes) {
            for slot in group.real_slots() {
                others[group.elements[slot] as usize + 1] = change.cols() * group.state.fields;
            }
        }
        for e in 0..self.mesh.n_elements() {
            others[e + 1] += others[e];
        }
        if others.last().copied() != Some(canonical.len()) {
            return None;
        }
        let mut out = vec![0.0; first.last().copied().unwrap_or(0)];
        for (group, change) in self.groups.iter().zip(&changes) {
            let (np, of) = (group.state.rows, change.cols());
            for slot in group.real_slots() {
                let element = group.elements[slot] as usize;
                let (begin, other) = (first[element], others[element]);
                for k in 0..group.state.fields {
                    let values = change.mul_vec(&canonical[other + k * of..other + (k + 1) * of]);
                    out[begin + k * np..begin + (k + 1) * np].copy_from_slice(&values);
                }
            }
        }
        Some(out)
    }

    /// Basis functions of a shape in a space like this one's with another basis and order.
    #[must_use]
    pub fn basis_size_in(&self, representation: Representation, order: usize, shape: Shape) -> usize {
        crate::basis_size(&Scheme { representation, order, ..self.scheme }, shape)
    }

    /// The scheme, on a device with the basis of its kernels.
    #[must_use]
    pub const fn scheme(&self) -> &Scheme {
        &self.scheme
    }

    /// The representation of the coefficients: modal, nodal or Taylor.
    #[must_use]
    pub fn representation(&self) -> Representation {
        self.scheme.representation
    }

    /// The inverse of [`to_canonical`](Self::to_canonical); `None` if the length does not match.
    #[must_use]
    pub fn from_canonical(&self, canonical: &[f64], u: &mut [T]) -> Option<()> {
        let first = self.canonical_offsets();
        if first.last().copied() != Some(canonical.len()) || u.len() != self.len() {
            return None;
        }
        for group in &self.groups {
            let l = group.state;
            for slot in 0..l.blocks * l.lanes {
                let begin = first[group.elements[slot] as usize];
                for k in 0..l.fields {
                    for i in 0..l.rows {
                        u[group.offset + l.index(slot, i, k)] =
                            T::from_f64(canonical[begin + k * l.rows + i]);
                    }
                }
            }
        }
        Some(())
    }

    /// As [`from_canonical`](Self::from_canonical), with zeros in the copies of elements that fill up blocks:
    /// for weights of sums over a state, in which each element must count once.
    #[must_use]
    pub fn from_canonical_once(&self, canonical: &[f64], u: &mut [T]) -> Option<()> {
        self.from_canonical(canonical, u)?;
        for group in &self.groups {
            let l = group.state;
            let mut copy = vec![true; l.blocks * l.lanes];
            group.real_slots().for_each(|slot| copy[slot] = false);
            for slot in (0..copy.len()).filter(|&slot| copy[slot]) {
                for k in 0..l.fields {
                    (0..l.rows).for_each(|i| u[group.offset + l.index(slot, i, k)] = T::ZERO);
                }
            }
        }
        Some(())
    }

    /// Offset of each element in canonical order, then the total.
    fn canonical_offsets(&self) -> Vec<usize> {
        let mut first = vec![0; self.mesh.n_elements() + 1];
        for group in &self.groups {
            for slot in group.real_slots() {
                first[group.elements[slot] as usize + 1] = group.state.rows * group.state.fields;
            }
        }
        for e in 0..self.mesh.n_elements() {
            first[e + 1] += first[e];
        }
        first
    }
}

/// The matrix from coefficients of another basis and order to those of a group.
fn change_of_basis<T: PackScalar>(group: &Group<T>, from: &Scheme) -> Option<Matrix> {
    let reference = &group.parts[0].reference;
    let (representation, order) = (from.representation_on(group.shape), from.order);
    // Cubatures and corrections do not change the functions; the other basis may not support this one's.
    let (volume, face) = (Cubature::Degree(0), Cubature::Degree(0));
    let spec =
        ElementSpec { representation, order, volume, face, correction: Correction::Dg, ..reference.spec };
    let (points, project) = fine_projection(reference);
    let other = ReferenceElement::new(&spec).ok()?;
    Some(project.mul(&other.evaluate(&points)))
}

/// Points and matrix of an L² projection by a rule finer than the scheme's. It goes through the orthonormal
/// modes, whose mass matrix is the identity: the mass matrix of Taylor polynomials is singular to rounding at
/// high orders, and collocated schemes lump theirs.
fn fine_projection(reference: &ReferenceElement) -> (Vec<[f64; 3]>, Matrix) {
    let degree = match reference.spec.volume {
        Cubature::Degree(d) => d.max(2 * reference.spec.order + 2),
        Cubature::Collocated | Cubature::Nodes(_) => 2 * reference.spec.order + 2,
    };
    let q = Quadrature::new(reference.spec.shape, degree);
    let tested = reference.modes().eval(&q.points).transpose().scale_cols(&q.weights);
    (q.points, reference.from_modes().mul(&tested))
}
