//! Loads of forces by which a gradient is balanced by a pressure.
//!
//! A force `f` enters the equations of incompressible flow as `(f, v)`. If it is a gradient `∇φ`, it should
//! change the pressure alone. The discrete gradients, however, are the loads `−(φ_h, D v)` of functions φ_h
//! of order p with the discrete divergence
//!
//! ```text
//! (q, D v) = −(∇q, v) + ⟨q, n·{v}⟩,   {v} = v on boundaries where the velocity is prescribed
//! ```
//!
//! and `(∇φ, v)` is one of them only if φ is a polynomial of order p: the rest, of the size `h^p`, drives a
//! flow. With the reconstruction R v of Raviart and Thomas, whose normal component is `n·{v}` on each face
//! and whose moments with `∇q` are those of v, so that `∇·R v = D v`, the load
//!
//! ```text
//! (f, R v) = (f, v) − Σ_E ⟨n·v, {ψ}⟩,   ⟨ψ, n·h⟩ = (f, h)
//! ```
//!
//! of a gradient is that of its projected potential, `(∇φ, R v) = −(φ, D v)`, and differs from `(f, v)` by
//! terms of the order of the error of a projection. h are the fields of the space of Raviart and Thomas that
//! are orthogonal to all `∇q`; ψ is what the force's potential in an element lacks in order p, `φ − Πφ`.
//! On lines of nodes h are the correction functions of order p + 1 of flux reconstruction. On other shapes ψ
//! is computed from the potential of order p + [`MORE`] that is closest to f, in reference coordinates, where
//! f has its covariant components.
//!
//! # Source
//! Linke, Comput. Methods Appl. Mech. Engrg. 268 (2014) 782–800; John, Linke, Merdon, Neilan & Rebholz, SIAM
//! Rev. 59 (2017) 492–544.

use super::fine::Fine;
use crate::elliptic::{Beyond, EllipticBoundary, Sipdg, Space};
use crate::error::OpsError;
use crate::lanes::simd::PackScalar;
use crate::space::geometry::reference_normal;
use crate::space::positions::image;
use dgsuite_basis::correction::correction_functions;
use dgsuite_basis::{Matrix, OrthonormalBasis, Polynomials, Quadrature, ReferenceElement, Shape, jacobi};

/// Orders of the potential on simplices, prisms and pyramids beyond that of the functions.
const MORE: usize = 4;

/// A force: the components at a list of positions in an element.
pub type Force<'a> = dyn Fn(&[[f64; 3]]) -> Vec<Vec<f64>> + Sync + 'a;

/// What the loads of forces need of the elements of each shape, see [`Sipdg::forces`].
pub struct ForceTables {
    rules: Vec<Fine>,
    potentials: Vec<Matrix>,
}

/// From the covariant components of a force at the points of a rule, `[point × direction]`, to ψ at the face
/// points.
fn potentials(reference: &ReferenceElement, rule: &Quadrature) -> Result<Matrix, OpsError> {
    let (shape, order) = (reference.spec.shape, reference.spec.order);
    let dim = shape.dim();
    let (offsets, weights) = (&reference.face_offsets, &rule.weights);
    if matches!(shape, Shape::Line | Shape::Quadrilateral | Shape::Hexahedron) {
        let mut out = Matrix::zeros(reference.face_points.len(), rule.len() * dim);
        let kernel = |x: f64, y: f64| -> f64 {
            (0..=order).map(|n| jacobi::orthonormal(n, 0, 0, x).0 * jacobi::orthonormal(n, 0, 0, y).0).sum()
        };
        for face in 0..shape.n_faces() {
            let normal = reference_normal(shape, face);
            let Some(along) = (0..dim).find(|&d| normal[d].abs() > 0.5) else { continue };
            for k in offsets[face]..offsets[face + 1] {
                for (q, (x, w)) in rule.points.iter().zip(weights).enumerate() {
                    let [left, right] = correction_functions(order, 0.0, x[along]);
                    let h = if normal[along] > 0.0 { right.0 } else { -left.0 };
                    let across = (0..dim).filter(|d| *d != along);
                    let across: f64 = across.map(|d| kernel(reference.face_points[k][d], x[d])).product();
                    out[(k, q * dim + along)] = w * h * across;
                }
            }
        }
        return Ok(out);
    }
    let space = |order| OrthonormalBasis::new(shape, order, reference.modes().polynomials());
    let (modes, resolved) = (space(order + MORE), space(order));
    let slopes = modes.grad(&rule.points);
    // Without the constant, mode 0.
    let slopes =
        Matrix::from_fn(rule.len() * dim, modes.len() - 1, |row, m| slopes[row % dim][(row / dim, m + 1)]);
    let each: Vec<f64> = weights.iter().flat_map(|w| vec![*w; dim]).collect();
    let tested = slopes.scale_rows(&each).transpose();
    let potential = tested.mul(&slopes).solve(&tested)?;
    let mut rows: Vec<Matrix> = Vec::new();
    let lacking: Vec<usize> =
        (1..modes.len()).filter(|m| !resolved.modes().contains(&modes.modes()[*m])).collect();
    let potential = Matrix::from_fn(lacking.len(), potential.cols(), |i, q| potential[(lacking[i] - 1, q)]);
    for face in 0..shape.n_faces() {
        let of_face = shape.face_shape(face).unwrap_or(Shape::Line);
        let fine = Quadrature::new(of_face, 2 * order + MORE);
        let points: Vec<_> = fine.points.iter().map(|&xi| shape.face_point(face, xi)).collect();
        let at = modes.eval(&points);
        let trace = Matrix::from_fn(points.len(), lacking.len(), |q, i| at[(q, lacking[i])]);
        let polynomials =
            if of_face == Shape::Quadrilateral { Polynomials::Tensor } else { Polynomials::Total };
        let on_face = OrthonormalBasis::new(of_face, order, polynomials);
        let project = on_face.eval(&fine.points).scale_rows(&fine.weights).transpose();
        let values = on_face.eval(&reference.face_quadrature[face].points);
        rows.push(values.mul(&project.mul(&trace)));
    }
    let trace = Matrix::from_fn(reference.face_points.len(), lacking.len(), |k, i| {
        let face = offsets.iter().rposition(|first| *first <= k).unwrap_or(0);
        rows[face][(k - offsets[face], i)]
    });
    Ok(trace.mul(&potential))
}

impl<T: PackScalar> Space<T> {
    /// The loads `(f_d, φ_i)` of an element, `[d][i]`, and ψ at its face points.
    fn force_on(
        &self,
        element: usize,
        f: &Force<'_>,
        fine: &Fine,
        potentials: &Matrix,
    ) -> (Vec<f64>, Vec<f64>) {
        let dim = self.problem.mesh.dim;
        let nodes = self.nodes(element);
        let (x, jw, _) = fine.geometry(dim, &nodes);
        let f = f(&x);
        let weighted: Vec<Vec<f64>> =
            f[..dim].iter().map(|f| f.iter().zip(&jw).map(|(f, w)| f * w).collect()).collect();
        let tangents: Vec<_> = (0..dim).map(|d| image(&fine.tangent[d], &nodes)).collect();
        let covariant: Vec<f64> = (0..x.len())
            .flat_map(|q| {
                let f = &f;
                let along = move |t: &Vec<[f64; 3]>| (0..dim).map(|c| t[q][c] * f[c][q]).sum::<f64>();
                tangents.iter().map(along).collect::<Vec<_>>()
            })
            .collect();
        (fine.tested(&weighted.iter().map(Vec::as_slice).collect::<Vec<_>>()), potentials.mul_vec(&covariant))
    }

    /// Subtracts `⟨n·φ_i, {ψ}⟩` from the loads of an element.
    fn subtract_potential(&self, element: usize, psi: &[Vec<f64>], loads: &mut [f64]) {
        let (terms, reference) = (self.terms(element), &self.tables_of(element).reference);
        let (offsets, n) = (&reference.face_offsets, reference.n_basis);
        for face in 0..offsets.len() - 1 {
            let meets = self.meeting_points(element, face);
            for q in 0..offsets[face + 1] - offsets[face] {
                let k = offsets[face] + q;
                let mean = match self.across(element, face) {
                    Beyond::Element { side, .. } => {
                        let other = side.element as usize;
                        let first = self.tables_of(other).reference.face_offsets[side.face as usize];
                        0.5 * (psi[element][k] + psi[other][first + meets[q]])
                    }
                    Beyond::Boundary(b) => match self.problem.boundary(b) {
                        EllipticBoundary::Dirichlet => 0.0,
                        _ => psi[element][k],
                    },
                };
                let (normal, w) = (terms.face[k].normal, mean * terms.face[k].weight);
                for (loads, n_d) in loads.chunks_exact_mut(n).zip(normal) {
                    loads
                        .iter_mut()
                        .zip(reference.interp_face.row(k))
                        .for_each(|(b, phi)| *b -= w * n_d * phi);
                }
            }
        }
    }
}

impl<T: PackScalar> Sipdg<T> {
    /// The tables for [`forces`](Self::forces).
    ///
    /// # Errors
    /// [`OpsError::Basis`] if a table cannot be made.
    pub fn force_tables(&self) -> Result<ForceTables, OpsError> {
        let rules = self.space.fine_rules(2 * (self.space.order + MORE));
        let of_rule = |fine: &Fine| match self.space.reference(fine.shape) {
            Some(reference) => potentials(reference, &fine.rule),
            None => Ok(Matrix::zeros(0, 0)),
        };
        let potentials = rules.iter().map(of_rule).collect::<Result<_, _>>()?;
        Ok(ForceTables { rules, potentials })
    }

    /// The fields with the loads `(f, R v)` of a force, by component: a gradient becomes the discrete
    /// gradient of its projected potential, so that a pressure balances it. The conditions of this operator
    /// are those of the pressure: where they are of Dirichlet's kind the boundary is open.
    ///
    /// On several ranks collective.
    #[must_use]
    pub fn forces(&self, ForceTables { rules, potentials }: &ForceTables, f: &Force<'_>) -> Vec<Vec<T>> {
        let space = &self.space;
        let dim = space.problem.mesh.dim;
        let table = |element: usize| {
            let fine = space.fine_of(rules, element);
            let k = rules.iter().position(|rule| std::ptr::eq(rule, fine)).unwrap_or(0);
            (fine, &potentials[k])
        };
        let (loads, psi): (Vec<_>, Vec<_>) = space
            .each(|element| {
                let (fine, potentials) = table(element);
                space.force_on(element, f, fine, potentials)
            })
            .into_iter()
            .unzip();
        let loads = space.each(|element| {
            let mut own = loads[element].clone();
            space.subtract_potential(element, &psi, &mut own);
            own
        });
        let first = space.first_numbers();
        let component = |d: usize| {
            let of = |own: &Vec<f64>| {
                let n = own.len() / dim;
                own[d * n..(d + 1) * n].to_vec()
            };
            let load = space.scatter(&first, &loads.iter().flat_map(of).collect::<Vec<_>>());
            let mut field = vec![T::ZERO; self.len()];
            self.inverse_mass(&load, &mut field);
            self.refresh(&mut field);
            field
        };
        (0..dim).map(component).collect()
    }
}
