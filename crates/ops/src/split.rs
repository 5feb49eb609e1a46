//! Reference implementation of the residual in separate, simple stages: traces, volume, surface, mass.
//!
//! It works element by element with dense matrices and scalars, in canonical order. Tests compare the fused
//! kernels with it, and it is the shortest description of the method in this crate. It allocates freely.

mod diffusion;
mod reaction;

pub use diffusion::Walls;

use crate::error::OpsError;
use crate::space::geometry::{ElementGeometry, GeometryTables, is_affine, reference_normal};
use crate::space::group::element_points;
use crate::space::scheme::{Form, MetricRule, Need, PartSpec, Scheme, resolve};
use dgsuite_basis::{Cubature, Matrix, ReferenceElement, Shape, face_permutation, lattice::lattice};
use dgsuite_mesh::{Across, Mesh, Side};
use dgsuite_physics::{Law, NumericalFlux, TwoPointFlux};
use std::sync::Arc;

/// Data of one element: its reference element, metric rule and geometry.
struct Element {
    reference: Arc<ReferenceElement>,
    rule: MetricRule,
    geometry: ElementGeometry,
}

/// A two-point flux `f#(u_l, u_r, n)`.
type PairFlux<const D: usize, const N: usize> =
    Box<dyn Fn(&[f64; N], &[f64; N], &[f64; D]) -> [f64; N] + Send + Sync>;

/// The residual of law `L` with numerical flux `F` in separate stages.
pub struct Split<L, F, const D: usize, const N: usize> {
    mesh: Arc<Mesh>,
    form: Form,
    law: L,
    flux: F,
    two_point: Option<PairFlux<D, N>>,
    elements: Vec<Element>,
}

impl<L, F, const D: usize, const N: usize> Split<L, F, D, N>
where
    L: Law<D, N>,
    F: NumericalFlux<L, D, N>,
{
    /// Sets up the operators on `mesh`.
    ///
    /// # Errors
    /// [`OpsError`] if the scheme does not exist on a shape of the mesh.
    pub fn new(mesh: Arc<Mesh>, scheme: &Scheme, law: L, flux: F) -> Result<Self, OpsError> {
        let mut kinds = Vec::new();
        for e in 0..mesh.n_elements() {
            let (set, local) = mesh.locate(e);
            let s = &mesh.sets[set];
            let points = lattice(s.shape, s.order);
            kinds.push(is_affine(s.shape, s.order, &points, &element_points(&mesh, set, local)));
        }
        let mut shapes: Vec<Shape> = mesh.sets.iter().map(|s| s.shape).collect();
        shapes.sort_unstable();
        shapes.dedup();
        let order_of = |e: usize| mesh.sets[mesh.locate(e).0].order;
        let shape_of = |e: usize| mesh.sets[mesh.locate(e).0].shape;
        let needs: Vec<Need> = shapes
            .iter()
            .map(|&shape| {
                let of_shape = || (0..mesh.n_elements()).filter(|&e| shape_of(e) == shape);
                Need {
                    shape,
                    affine: of_shape().any(|e| kinds[e]),
                    curved: of_shape().filter(|&e| !kinds[e]).map(order_of).max(),
                }
            })
            .collect();
        let specs = resolve(scheme, &needs)?;
        let mut cache: Vec<(PartSpec, Arc<ReferenceElement>)> = Vec::new();
        let mut elements = Vec::new();
        for e in 0..mesh.n_elements() {
            let (set, local) = mesh.locate(e);
            let i = shapes.iter().position(|&s| s == shape_of(e)).unwrap_or(0);
            let Some(spec) = (if kinds[e] { specs[i].0 } else { specs[i].1 }) else { continue };
            if !cache.iter().any(|(s, _)| *s == spec) {
                cache.push((spec, Arc::new(ReferenceElement::new(&spec.element)?)));
            }
            let reference = Arc::clone(&cache.iter().find(|(s, _)| *s == spec).unwrap_or(&cache[0]).1);
            let tables = GeometryTables::new(
                shape_of(e),
                order_of(e),
                &reference,
                spec.rule == MetricRule::Collocated,
            );
            let geometry = tables.element(&element_points(&mesh, set, local), &reference);
            elements.push(Element { reference, rule: spec.rule, geometry });
        }
        Ok(Self { mesh, form: scheme.form, law, flux, two_point: None, elements })
    }

    /// Adds the two-point flux of a split form.
    #[must_use]
    pub fn with_two_point<S: TwoPointFlux<L, D, N>>(mut self, flux: S) -> Self {
        let law = self.law.clone();
        self.two_point = Some(Box::new(move |ul, ur, n| flux.eval(&law, ul, ur, n)));
        self
    }

    /// Computes `du = R(u)`, both `[element][field][basis function]`. `outer(boundary, u⁻, n)` returns the
    /// outer state on a boundary.
    #[must_use]
    pub fn eval(
        &self,
        u: &[Vec<Vec<f64>>],
        outer: &dyn Fn(usize, &[f64; N], &[f64; D]) -> [f64; N],
    ) -> Vec<Vec<Vec<f64>>> {
        let traces = self.traces(u);
        let surface = self.surface(&traces, outer);
        self.elements
            .iter()
            .enumerate()
            .map(|(e, element)| {
                let volume = self.volume(element, &u[e]);
                self.mass(element, self.differences(element, &u[e]), &volume, &surface[e])
            })
            .collect()
    }

    /// Estimates the effect of rounding on the residual, in units of the rounding of one number: `√n S`,
    /// where `S` is the sum of the absolute values of the `n` terms of an entry,
    /// `Σ|P_ij||F̂_j| + Σ|L_ij||f̂*_j|`, multiplied by the absolute values of the inverse mass matrix.
    /// Arguments and index order are those of [`eval`](Self::eval).
    #[must_use]
    pub fn rounding(
        &self,
        u: &[Vec<Vec<f64>>],
        outer: &dyn Fn(usize, &[f64; N], &[f64; D]) -> [f64; N],
    ) -> Vec<Vec<Vec<f64>>> {
        let traces = self.traces(u);
        let surface = self.surface(&traces, outer);
        let sizes = |(e, element): (usize, &Element)| {
            let reference = &element.reference;
            let collocated = reference.spec.volume == Cubature::Collocated;
            let volume = self.volume(element, &u[e]);
            let n_terms = D * volume[0][0].len() + surface[e][0].len();
            let field = |k: usize| {
                let mut size = absolute(&reference.lift, &surface[e][k]);
                for flux in volume.iter().map(|v| &v[k]).enumerate() {
                    let term = match self.form {
                        Form::Weak => absolute(&reference.project[flux.0], flux.1),
                        // Two-point fluxes have the magnitude of the fluxes.
                        Form::Strong | Form::Split => strong_size(reference, collocated, flux.0, flux.1),
                    };
                    size.iter_mut().zip(term).for_each(|(s, t)| *s += t);
                }
                let root = (n_terms as f64).sqrt();
                invert_size(element, size).into_iter().map(|s| root * s).collect()
            };
            (0..N).map(field).collect()
        };
        self.elements.iter().enumerate().map(sizes).collect()
    }

    /// Computes the traces `I_f u`: `[element][face point]`.
    fn traces(&self, u: &[Vec<Vec<f64>>]) -> Vec<Vec<[f64; N]>> {
        self.elements.iter().zip(u).map(|(el, u)| states(&el.reference.interp_face, u)).collect()
    }

    /// Computes contravariant fluxes at volume points: `[d][field][point]`.
    fn volume(&self, element: &Element, u: &[Vec<f64>]) -> Vec<Vec<Vec<f64>>> {
        let reference = &element.reference;
        let at_points: Vec<[f64; N]> = if reference.spec.volume == Cubature::Collocated {
            states(&Matrix::identity(reference.n_basis), u)
        } else {
            states(&reference.interp_volume, u)
        };
        let mut out = vec![vec![vec![0.0; at_points.len()]; N]; D];
        for (q, state) in at_points.iter().enumerate() {
            let f = self.law.flux(state);
            for d in 0..D {
                for k in 0..N {
                    out[d][k][q] = (0..D).map(|x| element.geometry.metric[q][d][x] * f[x][k]).sum();
                }
            }
        }
        out
    }

    /// Split form: `−Σ_d Σ_j 2 D_ij f#(u_i, u_j, {{J∇r_d}})`, `[field][node]`; empty in other forms.
    fn differences(&self, element: &Element, u: &[Vec<f64>]) -> Vec<Vec<f64>> {
        let (reference, metric) = (&element.reference, &element.geometry.metric);
        let np = reference.n_basis;
        let mut out = vec![vec![0.0; np]; N];
        let Some(flux) = self.two_point.as_ref().filter(|_| self.form == Form::Split) else { return out };
        let at: Vec<[f64; N]> = states(&Matrix::identity(np), u);
        for d in 0..D {
            for i in 0..np {
                for j in (0..np).filter(|&j| reference.derivative[d][(i, j)] != 0.0) {
                    let mean = std::array::from_fn(|x| 0.5 * (metric[i][d][x] + metric[j][d][x]));
                    let f = flux(&at[i], &at[j], &mean);
                    (0..N).for_each(|k| out[k][i] -= 2.0 * reference.derivative[d][(i, j)] * f[k]);
                }
            }
        }
        out
    }

    /// Computes numerical fluxes times `sJ`: `[element][field][face point]`.
    fn surface(
        &self,
        traces: &[Vec<[f64; N]>],
        outer: &dyn Fn(usize, &[f64; N], &[f64; D]) -> [f64; N],
    ) -> Vec<Vec<Vec<f64>>> {
        let mut out: Vec<Vec<Vec<f64>>> = traces.iter().map(|t| vec![vec![0.0; t.len()]; N]).collect();
        let mut put = |side: Side, across: &dyn Fn(usize, &[f64; N], &[f64; D]) -> [f64; N]| {
            let e = side.element as usize;
            let element = &self.elements[e];
            let offsets = &element.reference.face_offsets;
            let first = offsets[side.face as usize];
            for q in first..offsets[side.face as usize + 1] {
                let (n, sj) = element.geometry.face[q];
                let n: [f64; D] = std::array::from_fn(|d| n[d]);
                let um = traces[e][q];
                let up = across(q - first, &um, &n);
                let f = self.flux.eval(&self.law, &um, &up, &n);
                for k in 0..N {
                    out[e][k][q] = sj * f[k];
                }
            }
        };
        for face in &self.mesh.faces {
            match face.across {
                Across::Boundary(b) => put(face.minus, &|_, um, n| outer(b as usize, um, n)),
                Across::Interior { plus, orientation } | Across::Periodic { plus, orientation } => {
                    for (own, other) in [(face.minus, plus), (plus, face.minus)] {
                        let table = self.meeting_points(other, orientation);
                        put(own, &|q, _, _| traces[other.element as usize][table[q]]);
                    }
                }
            }
        }
        out
    }

    /// The face points of `side`, in the numbering of the other side.
    fn meeting_points(&self, side: Side, orientation: u8) -> Vec<usize> {
        let reference = &self.elements[side.element as usize].reference;
        let f = side.face as usize;
        let shape = reference.spec.shape.face_shape(f).unwrap_or(Shape::Line);
        let points = &reference.face_quadrature[f].points;
        let permutation = face_permutation(shape, orientation as usize, points)
            .unwrap_or_else(|_| (0..points.len()).collect());
        permutation.into_iter().map(|q| reference.face_offsets[f] + q).collect()
    }

    /// Tests both terms, adds them to `rows`, and applies the inverse mass matrix by the metric rule.
    fn mass(
        &self,
        element: &Element,
        rows: Vec<Vec<f64>>,
        volume: &[Vec<Vec<f64>>],
        surface: &[Vec<f64>],
    ) -> Vec<Vec<f64>> {
        let reference = &element.reference;
        let collocated = reference.spec.volume == Cubature::Collocated;
        rows.into_iter()
            .enumerate()
            .map(|(k, mut r)| {
                for d in 0..D {
                    let term = match self.form {
                        Form::Weak => reference.project[d].mul_vec(&volume[d][k]),
                        Form::Strong => strong(reference, collocated, d, &volume[d][k]),
                        Form::Split => lifted_trace(reference, d, &volume[d][k]),
                    };
                    r.iter_mut().zip(term).for_each(|(r, t)| *r += t);
                }
                let lifted = reference.lift.mul_vec(&surface[k]);
                r.iter_mut().zip(lifted).for_each(|(r, l)| *r -= l);
                invert(element, r)
            })
            .collect()
    }
}

/// `−D f + L (N̂·f)` of the projected flux.
fn strong(reference: &ReferenceElement, collocated: bool, d: usize, flux: &[f64]) -> Vec<f64> {
    let projected = if collocated { flux.to_vec() } else { reference.project_volume.mul_vec(flux) };
    let derivative = reference.derivative[d].mul_vec(&projected);
    let derivative = if collocated { derivative } else { reference.project_volume.mul_vec(&derivative) };
    lifted_trace(reference, d, &projected).iter().zip(derivative).map(|(l, d)| l - d).collect()
}

/// `L (N̂·f)`.
fn lifted_trace(reference: &ReferenceElement, d: usize, flux: &[f64]) -> Vec<f64> {
    let shape = reference.spec.shape;
    let mut trace = reference.interp_face.mul_vec(flux);
    for f in 0..shape.n_faces() {
        for q in reference.face_offsets[f]..reference.face_offsets[f + 1] {
            trace[q] *= reference_normal(shape, f)[d];
        }
    }
    reference.lift.mul_vec(&trace)
}

/// The metric rule: from `M̂⁻¹ r` to the element's `M⁻¹ r`.
fn invert(element: &Element, r: Vec<f64>) -> Vec<f64> {
    let reference = &element.reference;
    let jacobian = &element.geometry.jacobian;
    let (weights, interp) = (&reference.volume.weights, &reference.interp_volume);
    match element.rule {
        MetricRule::Reference => r,
        MetricRule::Affine => r.into_iter().map(|v| v / jacobian[0]).collect(),
        MetricRule::Collocated => r.into_iter().zip(jacobian).map(|(v, j)| v / j).collect(),
        MetricRule::WeightAdjusted => {
            let integral = |v: &[f64], j: &dyn Fn(usize) -> f64| -> f64 {
                interp.mul_vec(v).iter().enumerate().map(|(q, v)| weights[q] * j(q) * v).sum()
            };
            let gain = integral(&r, &|_| 1.0);
            let scaled: Vec<f64> = interp.mul_vec(&r).iter().zip(jacobian).map(|(v, j)| v / j).collect();
            let v = reference.project_volume.mul_vec(&scaled);
            let total: f64 = jacobian.iter().zip(weights).map(|(j, w)| j * w).sum();
            let missing = (gain - integral(&v, &|q| jacobian[q])) / total;
            let one = reference.project_volume.mul_vec(&vec![1.0; jacobian.len()]);
            v.iter().zip(one).map(|(v, one)| v + missing * one).collect()
        }
        MetricRule::Stored => {
            let np = reference.n_basis;
            let mass = Matrix::from_fn(np, np, |a, b| {
                (0..jacobian.len()).map(|q| weights[q] * jacobian[q] * interp[(q, a)] * interp[(q, b)]).sum()
            });
            let inverse = mass.inverse().expect("a mass matrix of positive weights is regular");
            inverse.mul_vec(&reference.mass.mul_vec(&r))
        }
    }
}

/// `Σ_j |m_ij| |v_j|`.
fn absolute(m: &Matrix, v: &[f64]) -> Vec<f64> {
    (0..m.rows()).map(|i| v.iter().enumerate().map(|(j, v)| (m[(i, j)] * v).abs()).sum()).collect()
}

/// [`strong`] with absolute values.
fn strong_size(reference: &ReferenceElement, collocated: bool, d: usize, flux: &[f64]) -> Vec<f64> {
    let project = |v: Vec<f64>| if collocated { v } else { absolute(&reference.project_volume, &v) };
    let projected = project(flux.iter().map(|f| f.abs()).collect());
    let derivative = project(absolute(&reference.derivative[d], &projected));
    // Components of reference normals are at most 1, except on a simplex's slanted face, where they are at
    // most about √3.
    let trace = absolute(&reference.interp_face, &projected);
    let lifted = absolute(&reference.lift, &trace);
    lifted.iter().zip(derivative).map(|(l, d)| l + d).collect()
}

/// [`invert`] with absolute values.
fn invert_size(element: &Element, r: Vec<f64>) -> Vec<f64> {
    let reference = &element.reference;
    let jacobian = &element.geometry.jacobian;
    let (weights, interp) = (&reference.volume.weights, &reference.interp_volume);
    match element.rule {
        MetricRule::Reference | MetricRule::Affine | MetricRule::Collocated => invert(element, r),
        MetricRule::WeightAdjusted => {
            let at_points = absolute(interp, &r);
            let scaled: Vec<f64> = at_points.iter().zip(jacobian).map(|(v, j)| v / j).collect();
            let v = absolute(&reference.project_volume, &scaled);
            let dot = |a: &[f64], b: &dyn Fn(usize) -> f64| -> f64 {
                a.iter().enumerate().map(|(q, a)| a * weights[q] * b(q)).sum()
            };
            let total = dot(jacobian, &|_| 1.0);
            let missing = (dot(&at_points, &|_| 1.0) + dot(&absolute(interp, &v), &|q| jacobian[q])) / total;
            let one = reference.project_volume.mul_vec(&vec![1.0; jacobian.len()]);
            v.iter().zip(one).map(|(v, one)| v + missing * one.abs()).collect()
        }
        MetricRule::Stored => {
            let columns = 0..reference.n_basis;
            let unit = |j: usize| columns.clone().map(|i| f64::from(u8::from(i == j))).collect();
            let product: Vec<Vec<f64>> = columns.clone().map(|j| invert(element, unit(j))).collect();
            columns.clone().map(|i| columns.clone().map(|j| (product[j][i] * r[j]).abs()).sum()).collect()
        }
    }
}

/// States at the rows of an interpolation matrix.
fn states<const N: usize>(interp: &Matrix, u: &[Vec<f64>]) -> Vec<[f64; N]> {
    let columns: Vec<Vec<f64>> = u.iter().map(|c| interp.mul_vec(c)).collect();
    (0..interp.rows()).map(|q| std::array::from_fn(|k| columns[k][q])).collect()
}
