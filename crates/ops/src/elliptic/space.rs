//! The discrete elliptic problem: elements, sides, coefficients and penalties, in double precision.
//!
//! All set-up code (operators of blocks, assembled matrix, right-hand side) reads geometry and coefficients
//! here.

pub(super) mod gathering;
pub(super) mod ranks;

use super::coefficient::Coefficient;
use super::linelets::Linelets;
use super::tables::{Tables, specify};
use super::{EllipticBoundary, SipdgOptions};
use crate::error::OpsError;
use crate::lanes::simd::PackScalar;
use crate::space::connect::{Connectivity, connect, places};
use crate::space::geometry::{dot, face_factors, gradients, volume_factors};
use crate::space::group::{Group, build_with, element_points};
use crate::space::layout::{Lanes, PerPoint};
use crate::space::packing::Packings;
use crate::space::scheme::{MetricRule, PartSpec, Scheme, resolve};
use dgsuite_basis::Matrix;
use dgsuite_gpu::{Buffer, Element, Host, SimdLevel};
use dgsuite_mesh::{Across, Mesh, Side};
use ranks::EllipticRanks;
use rayon::prelude::*;
use std::sync::{Arc, OnceLock};

/// Number of elements that one task processes.
const PIECE: usize = 256;

/// Data that do not depend on the order of a level.
pub(super) struct Problem {
    pub(super) mesh: Arc<Mesh>,
    pub(super) host: Arc<Host>,
    pub(super) options: SipdgOptions,
    pub(super) kappa: Coefficient,
    pub(super) lambda: Coefficient,
    /// Names and conditions, as given.
    pub(super) boundaries: Vec<(String, EllipticBoundary)>,
    /// For each boundary of the mesh, its index in `boundaries`.
    pub(super) condition: Vec<Option<usize>>,
    /// The assignment of elements to blocks, for all orders.
    pub(super) packings: Packings,
    /// This rank's share, if there are several.
    pub(super) ranks: Option<Arc<EllipticRanks>>,
    /// The linelets, once they have been found, for all orders and for any λ.
    pub(super) lines: Arc<OnceLock<Linelets>>,
}

impl Problem {
    /// The condition of a boundary of the mesh that has faces.
    pub(super) fn boundary(&self, boundary: u32) -> EllipticBoundary {
        let i = self.condition[boundary as usize].unwrap_or(0);
        self.boundaries[i].1
    }
}

/// The neighbour of a side.
#[derive(Clone, Copy, Debug)]
pub(super) enum Beyond {
    Element { side: Side, orientation: u8 },
    Boundary(u32),
}

/// Geometry and coefficients of one element.
pub(super) struct ElementTerms {
    /// Weight times `J` at volume points.
    pub(super) jw: Vec<f64>,
    /// `∇r_d` at volume points.
    pub(super) metric: Vec<[[f64; 3]; 3]>,
    pub(super) kappa: Vec<f64>,
    pub(super) lambda: Vec<f64>,
    /// At face points: `∇r_d`, the outward normal, `sJ` times the cubature weight, and `sJ / J`.
    pub(super) face: Vec<FacePoint>,
}

pub(super) struct FacePoint {
    pub(super) metric: [[f64; 3]; 3],
    pub(super) normal: [f64; 3],
    pub(super) weight: f64,
    pub(super) scale: f64,
}

impl FacePoint {
    /// `b_d = n·∇r_d`, so that `n·∇u = Σ_d b_d ∂u/∂r_d`.
    pub(super) fn conormal(&self) -> [f64; 3] {
        let [r, s, t] = &self.metric;
        [dot(*r, self.normal), dot(*s, self.normal), dot(*t, self.normal)]
    }
}

/// The space of one order on the mesh.
pub(super) struct Space<T: Element> {
    pub(super) problem: Arc<Problem>,
    pub(super) order: usize,
    pub(super) groups: Vec<Group<T>>,
    pub(super) connectivity: Connectivity,
    /// `[group][part]`.
    pub(super) tables: Vec<Vec<Tables>>,
    /// `[group][part]`: the specification of first-order laws in the form of loads.
    pub(super) loads: Vec<Vec<PartSpec>>,
    /// Group and slot of each element.
    pub(super) place: Vec<(u8, u32)>,
    /// First side of each element.
    first_side: Vec<usize>,
    sides: Vec<Beyond>,
    /// By side: `penalty C |f|/|E|`.
    pub(super) trace: Vec<f64>,
    /// The factor by which λ of the problem is multiplied.
    pub(super) lambda_factor: f64,
}

impl<T: PackScalar> Space<T> {
    pub(super) fn new(problem: Arc<Problem>, order: usize, level: SimdLevel) -> Result<Self, OpsError> {
        let mesh = Arc::clone(&problem.mesh);
        let lanes = Lanes::Simd(level);
        let packings = &problem.packings;
        let whole = problem.ranks.as_ref().map(|ranks| ranks.needs());
        // On several ranks, own elements come first.
        let own: Vec<u32> = match &problem.ranks {
            Some(ranks) => (0..mesh.n_elements() as u32).filter(|&e| ranks.owns(e as usize)).collect(),
            None => Vec::new(),
        };
        let mut loads = Vec::new();
        let mut shapes = Vec::new();
        let mut groups = problem.host.install(|| {
            build_with::<T>(&mesh, crate::Form::Weak, 1, lanes, packings, whole, &own, |here| {
                let needs = whole.unwrap_or(here);
                shapes = needs.iter().map(|need| need.shape).collect();
                loads = resolve(&Scheme::loads_on_elliptic_nodes(order), needs)?;
                Ok(specify(order, needs))
            })
        })?;
        // As the parts of groups: affine elements first.
        let of_group = |group: &Group<T>| {
            let at = shapes.iter().position(|shape| *shape == group.shape).unwrap_or(0);
            let of_part = |part: &crate::space::group::Part<T>| match part.kind {
                PerPoint::No => loads[at].0,
                PerPoint::Yes => loads[at].1,
            };
            group.parts.iter().filter_map(of_part).collect()
        };
        let loads = groups.iter().map(of_group).collect();
        let connectivity = connect(&mesh, &groups, &[])?;
        let tables = groups
            .iter()
            .map(|g| {
                let of_part = |p: &crate::space::group::Part<T>| {
                    Tables::new(&mesh, &p.reference, &problem.kappa, &problem.lambda)
                };
                g.parts.iter().map(of_part).collect::<Result<Vec<_>, _>>()
            })
            .collect::<Result<Vec<_>, _>>()?;
        for part in groups.iter_mut().flat_map(|g| &mut g.parts) {
            // The operator stores its own metrics.
            part.metric = Buffer::zeros(0)?;
            part.face = Buffer::zeros(0)?;
            part.inverse_jacobian = Buffer::zeros(0)?;
            part.weighted = Buffer::zeros(0)?;
        }
        let mut first_side = vec![0];
        for e in 0..mesh.n_elements() {
            first_side.push(first_side[e] + mesh.shape(e).n_faces());
        }
        let mut sides = vec![Beyond::Boundary(0); first_side[mesh.n_elements()]];
        let at = |side: Side| first_side[side.element as usize] + side.face as usize;
        for face in &mesh.faces {
            match face.across {
                Across::Boundary(b) => sides[at(face.minus)] = Beyond::Boundary(b),
                Across::Interior { plus, orientation } | Across::Periodic { plus, orientation } => {
                    sides[at(face.minus)] = Beyond::Element { side: plus, orientation };
                    sides[at(plus)] = Beyond::Element { side: face.minus, orientation };
                }
            }
        }
        let place = places(&mesh, &groups);
        let mut out = Self {
            problem,
            order,
            groups,
            connectivity,
            tables,
            loads,
            place,
            trace: Vec::new(),
            first_side,
            sides,
            lambda_factor: 1.0,
        };
        out.trace = out.traces()?;
        Ok(out)
    }

    /// Group and part of an element.
    pub(super) fn part_of(&self, element: usize) -> (usize, usize) {
        let (g, slot) = self.place[element];
        let group = &self.groups[g as usize];
        let block = slot as usize / group.state.lanes;
        (g as usize, group.parts.iter().rposition(|p| p.first_block <= block).unwrap_or(0))
    }

    /// Whether an element is affine.
    pub(super) fn is_affine(&self, element: usize) -> bool {
        let (g, p) = self.part_of(element);
        self.groups[g].parts[p].spec.rule == MetricRule::Affine
    }

    /// Tables of an element.
    pub(super) fn tables_of(&self, element: usize) -> &Tables {
        let (g, p) = self.part_of(element);
        &self.tables[g][p]
    }

    /// Index in the operator's vectors of an element's first function, and the stride to the others.
    pub(super) fn rows(&self, element: usize) -> (usize, usize) {
        let (g, slot) = self.place[element];
        let group = &self.groups[g as usize];
        (group.offset + group.state.index(slot as usize, 0, 0), group.state.row_stride())
    }

    /// Number of unknowns of an element.
    pub(super) fn n_basis(&self, element: usize) -> usize {
        self.groups[self.place[element].0 as usize].state.rows
    }

    /// Length of a vector.
    pub(super) fn len(&self) -> usize {
        self.groups.iter().map(|g| g.state.len()).sum()
    }

    /// The neighbour across a face of an element.
    pub(super) fn across(&self, element: usize, face: usize) -> Beyond {
        self.sides[self.first_side[element] + face]
    }

    /// Geometry nodes of an element.
    pub(super) fn nodes(&self, element: usize) -> Vec<[f64; 3]> {
        let (set, local) = self.problem.mesh.locate(element);
        element_points(&self.problem.mesh, set, local)
    }

    /// Values of λ in an element at the points of a table.
    pub(super) fn lambda_at(&self, element: usize, table: &Matrix) -> Vec<f64> {
        let mut values = self.problem.lambda.at(element, table);
        values.iter_mut().for_each(|v| *v *= self.lambda_factor);
        values
    }

    /// Computes geometry and coefficients of an element.
    pub(super) fn terms(&self, element: usize) -> ElementTerms {
        let tables = self.tables_of(element);
        let mesh = &self.problem.mesh;
        let (set, local) = mesh.locate(element);
        let x = element_points(mesh, set, local);
        let geometry = tables.of_order(mesh.sets[set].order);
        let reference = &tables.reference;
        let weights = &reference.volume.weights;
        if self.is_affine(element) {
            // The same at all points of the volume, and of each face.
            let tangents = geometry.volume.tangents(0, &x);
            let (j, a) = volume_factors(mesh.dim, &tangents);
            let metric = gradients(a, j);
            let of_face = |face: usize| {
                let (normal, s) = face_factors(mesh.sets[set].shape, face, &tangents);
                let points = reference.face_offsets[face]..reference.face_offsets[face + 1];
                points.map(move |q| {
                    let weight = s * reference.face_weights[q];
                    FacePoint { metric, normal, weight, scale: s / j }
                })
            };
            return ElementTerms {
                jw: weights.iter().map(|w| j * w).collect(),
                metric: vec![metric; weights.len()],
                kappa: self.problem.kappa.at(element, &tables.kappa[0]),
                lambda: self.lambda_at(element, &tables.lambda),
                face: (0..reference.face_offsets.len() - 1).flat_map(of_face).collect(),
            };
        }
        let g = geometry.element(&x, reference);
        ElementTerms {
            jw: g.jacobian.iter().zip(weights).map(|(j, w)| j * w).collect(),
            metric: g.metric.iter().zip(&g.jacobian).map(|(a, j)| gradients(*a, *j)).collect(),
            kappa: self.problem.kappa.at(element, &tables.kappa[0]),
            lambda: self.lambda_at(element, &tables.lambda),
            face: g
                .face
                .iter()
                .enumerate()
                .map(|(q, (normal, s))| {
                    let (j, a) = volume_factors(mesh.dim, &geometry.face.tangents(q, &x));
                    FacePoint {
                        metric: gradients(a, j),
                        normal: *normal,
                        weight: s * reference.face_weights[q],
                        scale: s / j,
                    }
                })
                .collect(),
        }
    }

    /// Computes the trace constants of all sides times the penalty factor; returns an error for inadmissible
    /// coefficients and Jacobians.
    fn traces(&self) -> Result<Vec<f64>, OpsError> {
        let problem = &self.problem;
        let of_element = |e: usize, all: &mut Vec<f64>| -> Result<(), OpsError> {
            let tables = self.tables_of(e);
            let terms = self.terms(e);
            problem.kappa.check(&problem.mesh, e, &terms.kappa)?;
            problem.kappa.check(&problem.mesh, e, &problem.kappa.at(e, &tables.kappa[1]))?;
            problem.lambda.check(&problem.mesh, e, &terms.lambda)?;
            let reference = &tables.reference;
            if let Some(q) = terms.face.iter().position(|p| !(p.scale > 0.0 && p.scale.is_finite())) {
                let at =
                    crate::space::positions::positions(&problem.mesh, e, &reference.face_points[q..=q])[0];
                let (element, shape) = (problem.mesh.tag(e), problem.mesh.shape(e));
                return Err(OpsError::Jacobian { element, shape, at, jacobian: terms.face[q].scale });
            }
            all.extend(reference.face_offsets.windows(2).zip(&tables.trace).map(|(w, c)| {
                let scale = terms.face[w[0]..w[1]].iter().fold(0.0_f64, |m, p| m.max(p.scale));
                problem.options.penalty * c * scale
            }));
            Ok(())
        };
        self.in_pieces(of_element)
    }

    /// Collects the items that `work` appends for each element, in the order of the mesh, or returns the
    /// first error. Each task processes several elements: one list for each element would be allocated by one
    /// thread and freed by another, which makes the threads wait for each other.
    pub(super) fn in_pieces<R: Clone + Send, E: Send>(
        &self,
        work: impl Fn(usize, &mut Vec<R>) -> Result<(), E> + Sync + Send,
    ) -> Result<Vec<R>, E> {
        let n = self.problem.mesh.n_elements();
        let piece = |k: usize| {
            let mut all = Vec::new();
            (k * PIECE..n.min((k + 1) * PIECE)).try_for_each(|element| work(element, &mut all))?;
            Ok(all)
        };
        let pieces: Vec<Result<Vec<R>, E>> =
            self.problem.host.install(|| (0..n.div_ceil(PIECE)).into_par_iter().map(piece).collect());
        Ok(pieces.into_iter().collect::<Result<Vec<_>, E>>()?.concat())
    }

    /// A vector from the entries of each element's nodes, and the entry in the padding and in elements
    /// without entries.
    pub(super) fn vector<E: Copy + Send + Sync, I: IntoIterator<Item = E>>(
        &self,
        padding: E,
        of_element: impl Fn(usize) -> Option<I> + Sync,
    ) -> Vec<E> {
        let mut out = vec![padding; self.len()];
        let mut rest = &mut out[..];
        for group in &self.groups {
            let (own, others) = rest.split_at_mut(group.state.len());
            rest = others;
            let lanes = group.state.lanes;
            self.problem.host.install(|| {
                own.par_chunks_mut(group.state.block_len()).enumerate().for_each(|(block, out)| {
                    let part = group.part_of(block);
                    let end = part.first_block * lanes + part.n_elements;
                    for slot in block * lanes..((block + 1) * lanes).min(end) {
                        let Some(entries) = of_element(group.elements[slot] as usize) else { continue };
                        for (out, entry) in out[slot % lanes..].iter_mut().step_by(lanes).zip(entries) {
                            *out = entry;
                        }
                    }
                });
            });
        }
        out
    }

    /// `Σ_q w_q φ_i²` of an element for weights at its points, by function.
    pub(super) fn squares(&self, element: usize, weights: &[f64]) -> Vec<f64> {
        let tables = self.tables_of(element);
        let mut out = vec![0.0; tables.reference.n_basis];
        for (q, w) in weights.iter().enumerate() {
            for &(i, phi) in tables.values_at(q) {
                out[i] += w * phi * phi;
            }
        }
        out
    }

    /// Penalty and coefficient of a face, seen from one of its sides: `τ` and `κ_f` at the side's points.
    pub(super) fn face_coefficients(&self, element: usize, face: usize) -> (f64, Vec<f64>) {
        let tables = self.tables_of(element);
        let range = tables.reference.face_offsets[face]..tables.reference.face_offsets[face + 1];
        let kappa = &self.problem.kappa;
        let own = |q: usize| kappa.at_point(element, &tables.kappa[1], q);
        let tau = self.trace[self.first_side[element] + face];
        match self.across(element, face) {
            Beyond::Boundary(_) => (tau, range.map(own).collect()),
            Beyond::Element { side, .. } => {
                let (other, theirs) = (side.element as usize, self.tables_of(side.element as usize));
                let first = theirs.reference.face_offsets[side.face as usize];
                let meets = self.meeting_points(element, face);
                let tau = tau.max(self.trace[self.first_side[other] + side.face as usize]);
                let mean = range
                    .zip(meets)
                    .map(|(q, &m)| {
                        let (a, b) = (own(q), kappa.at_point(other, &theirs.kappa[1], first + m));
                        // Written so that equal values are reproduced exactly and both sides compute the same
                        // number.
                        if a == b { a } else { 2.0 * (a * b) / (a + b) }
                    })
                    .collect();
                (tau, mean)
            }
        }
    }

    /// For each point of a face, the matching point of the other side; empty at a boundary.
    pub(super) fn meeting_points(&self, element: usize, face: usize) -> &[usize] {
        match self.across(element, face) {
            Beyond::Element { orientation, .. } => self.tables_of(element).meeting_points(face, orientation),
            Beyond::Boundary(_) => &[],
        }
    }

    /// `b_d = n·∇r_d` at the points of one face, as computed by [`FacePoint::conormal`].
    pub(super) fn conormals(&self, element: usize, face: usize) -> impl Iterator<Item = [f64; 3]> {
        let tables = self.tables_of(element);
        let mesh = &self.problem.mesh;
        let (set, local) = mesh.locate(element);
        let x = element_points(mesh, set, local);
        let geometry = tables.of_order(mesh.sets[set].order);
        let (dim, shape) = (mesh.dim, mesh.sets[set].shape);
        let offsets = &tables.reference.face_offsets;
        (offsets[face]..offsets[face + 1]).map(move |q| {
            let tangents = geometry.face.tangents(q, &x);
            let (j, a) = volume_factors(dim, &tangents);
            let (normal, _) = face_factors(shape, face, &tangents);
            a.map(|row| (0..3).map(|x| row[x] / j * normal[x]).sum())
        })
    }

    /// `[point][function]` physical normal derivatives at the points of one face.
    pub(super) fn normal_derivatives(&self, element: usize, face: usize, terms: &ElementTerms) -> Matrix {
        let tables = self.tables_of(element);
        let offsets = &tables.reference.face_offsets;
        let dim = self.problem.mesh.dim;
        Matrix::from_fn(offsets[face + 1] - offsets[face], tables.reference.n_basis, |q, i| {
            let q = offsets[face] + q;
            let b = terms.face[q].conormal();
            (0..dim).map(|d| b[d] * tables.face_derivative[d][(q, i)]).sum()
        })
    }
}
