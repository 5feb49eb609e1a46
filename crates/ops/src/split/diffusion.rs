//! Reference implementation of diffusion (BR2) in separate, simple stages: lift, sum, flux, test.
//!
//! With half jumps `[u]_f`, the gradients are `∇u + Σ_f r_f` in the volume and `∇u + η r_f` on face f; the
//! numerical flux is the mean of the two one-sided fluxes, or the flux of the boundary condition.

use super::{Element, Split, invert, states, strong};
use crate::space::lifting::{FaceBases, exact_metric, face_derivatives, penalty, point_normals};
use crate::space::scheme::Form;
use crate::space::widths::filter_widths;
use dgsuite_basis::{Cubature, Matrix};
use dgsuite_mesh::{Across, Side};
use dgsuite_physics::{Diffusion, Law, NumericalFlux};

/// The treatment of diffusion on boundaries: `u_b(boundary, u⁻, n)`, and the flux out of the domain as a
/// function of `((boundary, element), u⁻, u_b, ∇u, n)`.
pub struct Walls<'a, const D: usize, const N: usize> {
    /// `u_b`.
    pub state: &'a dyn Fn(usize, &[f64; N], &[f64; D]) -> [f64; N],
    /// The flux.
    pub flux: &'a dyn Fn((usize, usize), &[f64; N], &[f64; N], &[[f64; N]; D], &[f64; D]) -> [f64; N],
}

/// One element's lifted gradients, physical, `[point][x][field]`.
struct Gradients<const D: usize, const N: usize> {
    volume: Vec<[[f64; N]; D]>,
    face: Vec<[[f64; N]; D]>,
}

impl<L, F, const D: usize, const N: usize> Split<L, F, D, N>
where
    L: Law<D, N>,
    F: NumericalFlux<L, D, N>,
{
    /// Computes the diffusive part of the residual, `[element][field][basis function]`.
    #[must_use]
    pub fn diffusive<V: Diffusion<D, N>>(
        &self,
        u: &[Vec<Vec<f64>>],
        diffusion: &V,
        eta: Option<f64>,
        walls: &Walls<'_, D, N>,
    ) -> Vec<Vec<Vec<f64>>> {
        let traces = self.traces(u);
        let jumps = self.jumps(&traces, walls);
        let gradients: Vec<Gradients<D, N>> =
            (0..self.elements.len()).map(|e| self.gradients(e, &u[e], &jumps[e], eta)).collect();
        let laws = self.laws(diffusion);
        let surface = self.mean_fluxes(&traces, &gradients, &laws, walls);
        self.elements
            .iter()
            .enumerate()
            .map(|(e, element)| self.tested(element, &u[e], &gradients[e], &laws[e], &surface[e]))
            .collect()
    }

    /// The law of each element, with its coefficient if the flux has one.
    fn laws<V: Diffusion<D, N>>(&self, diffusion: &V) -> Vec<V> {
        let order = self.elements.iter().map(|element| element.reference.spec.order).max().unwrap_or(0);
        let widths = filter_widths(&self.mesh, order, None).unwrap_or_default();
        let law = |&width: &f64| {
            diffusion.coefficient(width).map_or_else(|| diffusion.clone(), |c| diffusion.with_coefficient(c))
        };
        widths.iter().map(law).collect()
    }

    /// Half jumps at the face points, `[element][point][field]`.
    fn jumps(&self, traces: &[Vec<[f64; N]>], walls: &Walls<'_, D, N>) -> Vec<Vec<[f64; N]>> {
        let mut out: Vec<Vec<[f64; N]>> = traces.iter().map(|t| vec![[0.0; N]; t.len()]).collect();
        self.each_side(|side, boundary, across| {
            let e = side.element as usize;
            for (i, q) in self.points(side).enumerate() {
                let um = traces[e][q];
                out[e][q] = match (boundary, across) {
                    (_, Some((other, table))) => {
                        std::array::from_fn(|k| 0.5 * (traces[other][table[i]][k] - um[k]))
                    }
                    (b, None) => {
                        let ub = (walls.state)(b, &um, &self.normal(e, q));
                        std::array::from_fn(|k| ub[k] - um[k])
                    }
                };
            }
        });
        out
    }

    /// `∇u + Σ_f r_f` at volume points and `∇u + η r_f` at face points.
    fn gradients(&self, e: usize, u: &[Vec<f64>], jumps: &[[f64; N]], eta: Option<f64>) -> Gradients<D, N> {
        let element = &self.elements[e];
        let reference = &element.reference;
        let shape = reference.spec.shape;
        let eta = penalty(shape, eta);
        let normals = point_normals(reference);
        let slopes = face_derivatives(reference);
        let collocated = reference.spec.volume == Cubature::Collocated;
        let (nq, nf) = (reference.volume.points.len(), reference.face_points.len());
        let mut volume = vec![[[0.0; N]; D]; nq];
        let mut face = vec![[[0.0; N]; D]; nf];
        for k in 0..N {
            for d in 0..D {
                for (q, v) in reference.derivative[d].mul_vec(&u[k]).into_iter().enumerate() {
                    volume[q][d][k] += v;
                }
                for (q, v) in slopes[d].mul_vec(&u[k]).into_iter().enumerate() {
                    face[q][d][k] += v;
                }
                for f in 0..shape.n_faces() {
                    let points = reference.face_offsets[f]..reference.face_offsets[f + 1];
                    let mut jump = vec![0.0; nf];
                    points.clone().for_each(|q| jump[q] = normals[q][d] * jumps[q][k]);
                    let lifted = reference.lift.mul_vec(&jump);
                    let at_points =
                        if collocated { lifted.clone() } else { reference.interp_volume.mul_vec(&lifted) };
                    at_points.into_iter().enumerate().for_each(|(q, v)| volume[q][d][k] += v);
                    let at_face = reference.interp_face.mul_vec(&lifted);
                    points.for_each(|q| face[q][d][k] += eta * at_face[q]);
                }
            }
        }
        let inverse =
            |q: usize| element.geometry.metric[q].map(|r| r.map(|v| v / element.geometry.jacobian[q]));
        let volume = volume.iter().enumerate().map(|(q, g)| physical(&inverse(q), g)).collect();
        let on_faces: Vec<[[f64; 3]; 3]> = match &reference.face_nodes {
            Some(nodes) if collocated => nodes.iter().flatten().map(|&q| inverse(q)).collect(),
            _ => exact_metric(&self.mesh, e, &FaceBases::new(&self.mesh, reference)),
        };
        let face = face.iter().zip(&on_faces).map(|(g, m)| physical(m, g)).collect();
        Gradients { volume, face }
    }

    /// Computes means of the one-sided normal fluxes times `sJ`, `[element][field][face point]`.
    fn mean_fluxes<V: Diffusion<D, N>>(
        &self,
        traces: &[Vec<[f64; N]>],
        gradients: &[Gradients<D, N>],
        laws: &[V],
        walls: &Walls<'_, D, N>,
    ) -> Vec<Vec<Vec<f64>>> {
        let mut out: Vec<Vec<Vec<f64>>> = traces.iter().map(|t| vec![vec![0.0; t.len()]; N]).collect();
        self.each_side(|side, boundary, across| {
            let e = side.element as usize;
            for (i, q) in self.points(side).enumerate() {
                let (n, um, own) = (self.normal(e, q), traces[e][q], &gradients[e].face[q]);
                let flux = match across {
                    Some((other, table)) => {
                        let (up, g) = (&traces[other][table[i]], &gradients[other].face[table[i]]);
                        let (a, b) = (
                            laws[e].normal_diffusive_flux(&um, own, &n),
                            laws[other].normal_diffusive_flux(up, g, &n),
                        );
                        std::array::from_fn(|k| 0.5 * (a[k] + b[k]))
                    }
                    None => {
                        let ub = (walls.state)(boundary, &um, &n);
                        (walls.flux)((boundary, e), &um, &ub, own, &n)
                    }
                };
                let sj = self.elements[e].geometry.face[q].1;
                for k in 0..N {
                    out[e][k][q] = sj * flux[k];
                }
            }
        });
        out
    }

    /// Tests the fluxes and applies the metric rule.
    fn tested<V: Diffusion<D, N>>(
        &self,
        element: &Element,
        u: &[Vec<f64>],
        gradients: &Gradients<D, N>,
        diffusion: &V,
        surface: &[Vec<f64>],
    ) -> Vec<Vec<f64>> {
        let reference = &element.reference;
        let collocated = reference.spec.volume == Cubature::Collocated;
        let at_points: Vec<[f64; N]> = if collocated {
            states(&Matrix::identity(reference.n_basis), u)
        } else {
            states(&reference.interp_volume, u)
        };
        let fluxes: Vec<[[f64; N]; D]> = at_points
            .iter()
            .zip(&gradients.volume)
            .enumerate()
            .map(|(q, (u, g))| {
                let f = diffusion.diffusive_flux(u, g);
                let a = &element.geometry.metric[q];
                std::array::from_fn(|d| std::array::from_fn(|k| (0..D).map(|x| a[d][x] * f[x][k]).sum()))
            })
            .collect();
        (0..N)
            .map(|k| {
                let mut r = reference.lift.mul_vec(&surface[k]);
                for d in 0..D {
                    let flux: Vec<f64> = fluxes.iter().map(|f| f[d][k]).collect();
                    let term = match self.form {
                        Form::Weak => reference.project[d].mul_vec(&flux),
                        Form::Strong | Form::Split => strong(reference, collocated, d, &flux),
                    };
                    r.iter_mut().zip(term).for_each(|(r, t)| *r -= t);
                }
                invert(element, r)
            })
            .collect()
    }

    /// Visits every side, with the number of its boundary, or with its neighbour and the neighbour's point
    /// that matches each own point.
    fn each_side(&self, mut visit: impl FnMut(Side, usize, Option<(usize, &[usize])>)) {
        for face in &self.mesh.faces {
            match face.across {
                Across::Boundary(b) => visit(face.minus, b as usize, None),
                Across::Interior { plus, orientation } | Across::Periodic { plus, orientation } => {
                    for (own, other) in [(face.minus, plus), (plus, face.minus)] {
                        let table = self.meeting_points(other, orientation);
                        visit(own, 0, Some((other.element as usize, &table)));
                    }
                }
            }
        }
    }

    fn points(&self, side: Side) -> std::ops::Range<usize> {
        let offsets = &self.elements[side.element as usize].reference.face_offsets;
        offsets[side.face as usize]..offsets[side.face as usize + 1]
    }

    fn normal(&self, e: usize, q: usize) -> [f64; D] {
        std::array::from_fn(|d| self.elements[e].geometry.face[q].0[d])
    }
}

/// `Σ_d ∇r_d g_d`.
fn physical<const D: usize, const N: usize>(metric: &[[f64; 3]; 3], g: &[[f64; N]; D]) -> [[f64; N]; D] {
    std::array::from_fn(|x| std::array::from_fn(|k| (0..D).map(|d| metric[d][x] * g[d][k]).sum()))
}
