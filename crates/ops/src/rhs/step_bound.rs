//! Bounds of the time step for each element, from the largest eigenvalues of advection and diffusion.
//!
//! **Advection.** With the local Lax–Friedrichs flux and the speed λ, `½ d/dt ‖u‖² = −½ λ Σ_f ∮ |[[u]]|²`.
//! The dissipation is largest if the neighbours' states are the mirror image with opposite sign; hence the
//! real parts of the eigenvalues are at least `−λ τ` with
//!
//! ```text
//! τ = max_u ∮_∂E u² / ∫_E u²,    the largest eigenvalue of  Σ_f w_f L_f I_f,    w_f = sJ / J on face f,
//! ```
//!
//! in the inner product of the scheme, including lumped masses or the correction. On cubes
//! `τ = (p + 1)(p + 2) d/Δx`, with the lumped masses of Gauss–Lobatto points `p (p + 1) d/Δx`. On simplices,
//! prisms and pyramids the program computes τ for the element's weights, rounded up. On other shapes it uses
//! a bound by sets of faces. As the largest eigenvalue is convex and homogeneous of degree one in the
//! weights, `τ(w) ≤ Σ_i (w_i − w_{i−1}) τ(faces with w_f ≥ w_i)`; this is exact if the space is a tensor
//! product and opposite faces are equal.
//!
//! For curved elements τ is the largest eigenvalue with their own traces and masses,
//! `max_u ∮ sJ u² / ∫ J u²`.
//!
//! **Diffusion.** The largest eigenvalue `σ` of BR2, with mirrored values of the neighbours, is homogeneous
//! of degree two in the inverse heights: `σ = Σ_f C_f w_f²`, exact on boxes. `C_f` is the largest value over
//! a few affine elements. On curved elements `w_f` is the mean over the face, and `σ` is multiplied by the
//! square of the ratio of the element's τ to the τ of the mean weights. Quadrilaterals and hexahedra use the
//! largest `w_f` at their volume points if that gives more: modes can be where the element is thinnest.
//!
//! Hence the step is `Δt = S / (τ λ + σ ν)`, where `S` is the largest product of step and spectral radius for
//! which the time integration scheme is stable.

mod positivity;

use self::positivity::share_of_face;
use crate::lanes::simd::PackScalar;
use crate::space::directions::{Directions, FaceSet};
use crate::space::group::{Group, Part};
use crate::space::lifting::spectrum;
use crate::space::scheme::MetricRule;
use crate::space::step_measure::ElementBound;
use dgsuite_basis::{Correction, Cubature, Matrix, NodeSet, ReferenceElement, Representation, Shape};
use rayon::prelude::*;
use std::collections::HashMap;

/// Largest number of faces of an element.
const FACES: usize = 6;

/// Weights of faces count as equal if their relative difference is below this.
const SAME: f64 = 1e-6;

/// Number of iterations of the power method.
const ITERATIONS: usize = 100;

/// Largest number of iterations for curved elements, each computed separately, and a margin for the remaining
/// error.
const CURVED_ITERATIONS: usize = 60;
const CURVED_MARGIN: f64 = 1.02;

/// Computes the bounds of all elements of a group; `eta` is the penalty of its lifting operators, if it has
/// any; `directed`: whether waves run in one direction.
pub(crate) fn add_bounds<T: PackScalar>(group: &mut Group<T>, eta: Option<f64>, directed: bool) {
    let lanes = group.state.lanes;
    let mut bounds = Vec::with_capacity(group.size.len());
    let mut directions = Vec::new();
    for part in &group.parts {
        let first = part.first_block * lanes;
        let mut spectra = Spectra::new(&part.reference);
        directions.push(directed.then(|| spectra.directions()));
        let diffusion = eta.map(|eta| diffusion_constants(&part.reference, eta));
        let faces = group.shape.n_faces();
        let share = share_of_face(group.shape, part.spec.element.order) / group.shape.dim() as f64;
        let curved = (part.spec.rule != MetricRule::Affine).then(|| curved_radii(part, lanes));
        for slot in 0..part.n_blocks * lanes {
            let w = face_weights(part, slot, lanes);
            let of_means = spectra.radius(&w[..faces]);
            let mut sigma = diffusion.map_or(0.0, |c| {
                (0..faces).map(|f| c[usize::from(is_second(group.shape, f))] * w[f] * w[f]).sum()
            });
            let (mut radius, mut factor) = (of_means, 1.0);
            if let Some(radii) = &curved {
                // Where the metric varies, diffusion grows with the square of the growth of the traces.
                radius = radii[slot] * spectra.undamped();
                factor = (radius / of_means).max(1.0);
                sigma *= factor.powi(2);
                // Modes can be where the element is thinnest.
                if let (Some(c), true) = (diffusion, part.reference.tensor.is_some()) {
                    let square = |f: usize| largest_weight(part, slot, lanes, f).powi(2);
                    sigma = sigma.max((0..faces).map(|f| c[0] * square(f)).sum());
                }
            }
            let (size, spread) = (group.size[first + slot], sigma / radius);
            bounds.push(ElementBound { size, radius, spread, share, factor });
        }
    }
    group.bounds = bounds;
    for (part, directions) in group.parts.iter_mut().zip(directions) {
        part.directions = directions;
    }
}

/// Whether a face is of the second kind, on shapes with two kinds of faces.
fn is_second(shape: Shape, face: usize) -> bool {
    matches!(shape, Shape::Prism | Shape::Pyramid) && shape.face_shape(face) == Some(Shape::Quadrilateral)
}

/// `sJ / J` of each face of a slot of the part; for curved elements the mean `∫ sJ / ∫ J`, relative to the
/// reference element.
fn face_weights<T: PackScalar>(part: &Part<T>, slot: usize, lanes: usize) -> [f64; FACES] {
    let reference = &part.reference;
    let (dim, faces) = (reference.spec.shape.dim(), reference.spec.shape.n_faces());
    let (face, lane) = (part.face_of(slot / lanes), slot % lanes);
    let at = |i: usize| face[(i * (dim + 1) + dim) * lanes + lane].to_f64();
    if part.spec.rule == MetricRule::Affine {
        return std::array::from_fn(|f| if f < faces { at(f) } else { 0.0 });
    }
    let weights = &reference.volume.weights;
    let inverse = inverse_jacobians(part, slot, lanes);
    let volume: f64 = weights.iter().zip(&inverse).map(|(w, inverse)| w / inverse).sum();
    let mean = volume / weights.iter().sum::<f64>();
    std::array::from_fn(|f| {
        let Some(&end) = reference.face_offsets.get(f + 1) else { return 0.0 };
        let points = reference.face_offsets[f]..end;
        let measure: f64 = points.clone().map(|q| reference.face_weights[q] * at(q)).sum();
        measure / points.map(|q| reference.face_weights[q]).sum::<f64>() / mean
    })
}

/// The largest value of `|Σ_d N̂_d ∇r_d|` of face `f`, the inverse of the height above it, at the volume
/// points of a slot of a curved part.
fn largest_weight<T: PackScalar>(part: &Part<T>, slot: usize, lanes: usize, f: usize) -> f64 {
    let (dim, n) = (part.reference.spec.shape.dim(), part.n_points);
    let normal = crate::space::geometry::reference_normal(part.reference.spec.shape, f);
    let (metric, lane) = (part.metric_of(slot / lanes), slot % lanes);
    let inverse = inverse_jacobians(part, slot, lanes);
    let at = |q: usize, d: usize, x: usize| metric[((q * dim + d) * dim + x) * lanes + lane].to_f64();
    let square = |q: usize| -> f64 {
        (0..dim).map(|x| (0..dim).map(|d| normal[d] * at(q, d, x)).sum::<f64>().powi(2)).sum()
    };
    (0..n).map(|q| square(q).sqrt() * inverse[q]).fold(0.0, f64::max)
}

/// `1/J` at the volume points of a slot of a curved part.
fn inverse_jacobians<T: PackScalar>(part: &Part<T>, slot: usize, lanes: usize) -> Vec<f64> {
    let n = part.n_points;
    (0..n).map(|q| part.inverse_jacobian[((slot / lanes) * n + q) * lanes + slot % lanes].to_f64()).collect()
}

/// τ of the slots of a curved part: the largest eigenvalue of `I_f M_J⁻¹ I_fᵀ W_f sJ` with
/// `M_J⁻¹ = Π (1/J) I M⁻¹`; collocated metrics lead to the same operator.
fn curved_radii<T: PackScalar>(part: &Part<T>, lanes: usize) -> Vec<f64> {
    let reference = &part.reference;
    let dim = reference.spec.shape.dim();
    let lifted = reference.interp_volume.mul(&reference.lift);
    let traced = reference.interp_face.mul(&reference.project_volume);
    let n = lifted.cols();
    let radius = |slot: usize| {
        let inverse = inverse_jacobians(part, slot, lanes);
        let face = part.face_of(slot / lanes);
        let scale = |q: usize| face[(q * (dim + 1) + dim) * lanes + slot % lanes].to_f64();
        let scale: Vec<f64> = (0..n).map(scale).collect();
        let mut y: Vec<f64> = (0..n).map(|i| 1.0 + ((i * 7919 + 13) % 101) as f64 / 50.0).collect();
        let mut largest = 0.0;
        for i in 0..CURVED_ITERATIONS {
            let size = y.iter().map(|v| v * v).sum::<f64>().sqrt();
            let scaled: Vec<f64> = y.iter().zip(&scale).map(|(v, s)| v * s / size).collect();
            let mut values = lifted.mul_vec(&scaled);
            values.iter_mut().zip(&inverse).for_each(|(v, inverse)| *v *= inverse);
            y = traced.mul_vec(&values);
            let found = y.iter().map(|v| v * v).sum::<f64>().sqrt();
            let change = (found - largest).abs();
            largest = found;
            if i >= 8 && change < 1e-3 * found {
                break;
            }
        }
        CURVED_MARGIN * largest
    };
    // Fillers are copies of elements; the power method runs for them too, as there are few.
    (0..part.n_blocks * lanes).into_par_iter().map(radius).collect()
}

/// The largest eigenvalues of the traces of a reference element for given weights of its faces, computed on
/// demand.
struct Spectra<'a> {
    reference: &'a ReferenceElement,
    /// `I_f L`, face points by face points.
    traces: Matrix,
    known: HashMap<[u8; FACES], f64>,
}

impl<'a> Spectra<'a> {
    fn new(reference: &'a ReferenceElement) -> Self {
        let traces = reference.interp_face.mul(&reference.lift);
        Self { reference, traces, known: HashMap::new() }
    }

    /// τ for these weights of the faces, or an upper bound of it.
    fn radius(&mut self, weights: &[f64]) -> f64 {
        let radius = match self.reference.spec.shape {
            Shape::Triangle => self.rounded(weights, 64),
            Shape::Tetrahedron | Shape::Prism | Shape::Pyramid => self.rounded(weights, 16),
            _ => self.layered(weights),
        };
        radius * self.undamped()
    }

    /// The sets of faces for waves in one direction.
    fn directions(&mut self) -> Directions {
        let shape = self.reference.spec.shape;
        let normals: Vec<[f64; 3]> =
            (0..shape.n_faces()).map(|f| crate::space::geometry::reference_normal(shape, f)).collect();
        let opposite = |a: &[f64; 3], b: &[f64; 3]| (0..3).all(|d| a[d] == -b[d]);
        let same_set = |f: usize, g: usize| match shape {
            Shape::Line | Shape::Quadrilateral | Shape::Hexahedron => {
                f == g || opposite(&normals[f], &normals[g])
            }
            Shape::Prism => is_second(shape, f) == is_second(shape, g),
            Shape::Triangle | Shape::Tetrahedron | Shape::Pyramid => true,
        };
        let mut sets: Vec<Vec<usize>> = Vec::new();
        for f in 0..normals.len() {
            match sets.iter_mut().find(|set| same_set(set[0], f)) {
                Some(set) => set.push(f),
                None => sets.push(vec![f]),
            }
        }
        let mut of_set = |set: Vec<usize>| {
            let members: [u8; FACES] = std::array::from_fn(|f| u8::from(set.contains(&f)));
            let radius = self.of(members) * self.undamped();
            let mut own: Vec<[f64; 3]> = Vec::new();
            for f in set {
                if !own.iter().any(|n| opposite(n, &normals[f])) {
                    own.push(normals[f]);
                }
            }
            FaceSet { radius, normals: own }
        };
        Directions(sets.into_iter().map(&mut of_set).collect())
    }

    /// Lumped masses of order 1 hardly damp waves: the stable step is 0.78 times that for other spectra.
    fn undamped(&self) -> f64 {
        let spec = &self.reference.spec;
        let lines = spec.volume == Cubature::Collocated && spec.correction == Correction::Dg;
        let lumped = lines && spec.representation == Representation::Nodal(NodeSet::GaussLobatto);
        if lumped && spec.order == 1 && self.reference.tensor.is_some() { 1.0 / 0.78 } else { 1.0 }
    }

    /// τ for weights rounded up to multiples of this fraction of the largest.
    fn rounded(&mut self, weights: &[f64], levels: u8) -> f64 {
        let largest = weights.iter().copied().fold(0.0, f64::max);
        let mut shares = [0; FACES];
        for (share, w) in shares.iter_mut().zip(weights) {
            *share = (w / largest * f64::from(levels) * (1.0 - SAME)).ceil() as u8;
        }
        largest / f64::from(levels) * self.of(shares)
    }

    /// The upper bound by sets of faces.
    fn layered(&mut self, weights: &[f64]) -> f64 {
        let (mut sum, mut below) = (0.0, 0.0);
        while let Some(next) = weights.iter().copied().filter(|&w| w > below * (1.0 + SAME)).reduce(f64::min)
        {
            let mut set = [0; FACES];
            for (member, &w) in set.iter_mut().zip(weights) {
                *member = u8::from(w >= next);
            }
            // Weights that are equal up to rounding are replaced by the largest of them.
            let level = weights.iter().copied().filter(|&w| w <= next * (1.0 + SAME)).fold(next, f64::max);
            sum += (level - below) * self.of(set);
            below = level;
        }
        sum
    }

    /// Computes the largest eigenvalue of `Σ_f w_f L_f I_f` by the power method on the face points.
    fn of(&mut self, weights: [u8; FACES]) -> f64 {
        let (reference, traces) = (self.reference, &self.traces);
        *self.known.entry(weights).or_insert_with(|| {
            let offsets = &reference.face_offsets;
            let points: Vec<(usize, f64)> = (0..offsets.len() - 1)
                .filter(|&f| weights[f] > 0)
                .flat_map(|f| (offsets[f]..offsets[f + 1]).map(move |q| (q, f64::from(weights[f]))))
                .collect();
            let n = points.len();
            let matrix = Matrix::from_fn(n, n, |i, j| traces[(points[i].0, points[j].0)] * points[j].1);
            let mut y: Vec<f64> = (0..n).map(|i| 1.0 + ((i * 7919 + 13) % 101) as f64 / 50.0).collect();
            let mut largest = 0.0;
            for _ in 0..ITERATIONS {
                let next = matrix.mul_vec(&y);
                let norm = next.iter().map(|v| v * v).sum::<f64>().sqrt();
                largest = norm / y.iter().map(|v| v * v).sum::<f64>().sqrt();
                y = next.into_iter().map(|v| v / norm).collect();
            }
            largest
        })
    }
}

/// `C_f` of `σ = Σ_f C_f w_f²`: for all faces, or for triangles and quadrilaterals of prisms and pyramids.
fn diffusion_constants(reference: &ReferenceElement, eta: f64) -> [f64; 2] {
    let shape = reference.spec.shape;
    let diagonal = |entries: [f64; 3]| -> spectrum::Metric {
        std::array::from_fn(|d| std::array::from_fn(|e| if d == e { entries[d] } else { 0.0 }))
    };
    // `∇r_d · ∇r_e` of the equilateral simplex of dimension n with edges of length two.
    let equilateral = |n: usize| -> spectrum::Metric {
        let entry =
            |d: usize, e: usize| if d < n && e < n { f64::from(d == e) - 1.0 / (n + 1) as f64 } else { 0.0 };
        std::array::from_fn(|d| std::array::from_fn(|e| 2.0 * entry(d, e)))
    };
    // The largest eigenvalue divided by the sum of the squared weights of these faces.
    let constant = |metrics: &[spectrum::Metric], counted: &dyn Fn(usize) -> bool| {
        let of = |metric: &spectrum::Metric| {
            let squares = |f: usize| {
                let n = crate::space::geometry::reference_normal(shape, f);
                (0..3).map(|d| (0..3).map(|e| n[d] * metric[d][e] * n[e]).sum::<f64>()).sum::<f64>()
            };
            let sum: f64 = (0..shape.n_faces()).filter(|&f| counted(f)).map(squares).sum();
            spectrum::largest_eigenvalue(reference, eta, metric) / sum
        };
        metrics.iter().map(of).fold(0.0, f64::max)
    };
    let all = |_: usize| true;
    match shape {
        Shape::Triangle => [constant(&[diagonal([1.0, 1.0, 0.0]), equilateral(2)], &all); 2],
        Shape::Tetrahedron => [constant(&[diagonal([1.0; 3]), equilateral(3)], &all); 2],
        Shape::Prism => [
            constant(&[diagonal([0.0, 0.0, 1.0])], &|f| !is_second(shape, f)),
            constant(&[diagonal([1.0, 1.0, 0.0]), equilateral(2)], &|f| is_second(shape, f)),
        ],
        Shape::Pyramid => {
            let metrics = [0.25, 1.0, 4.0].map(|t| diagonal([1.0, 1.0, t]));
            [constant(&metrics, &all); 2]
        }
        Shape::Line | Shape::Quadrilateral | Shape::Hexahedron => {
            [constant(&[diagonal([1.0, 0.0, 0.0])], &all); 2]
        }
    }
}
