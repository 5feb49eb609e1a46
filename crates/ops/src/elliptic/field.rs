//! Functions and vectors of elliptic problems: right-hand side, projection, errors, integrals, samples.
//!
//! Right-hand sides and errors use a cubature finer than the operator's and run element by
//! element in double precision, in parallel over elements and with results in the order of the mesh.

mod fine;
mod forces;

pub use forces::{Force, ForceTables};

use self::fine::{BATCH, Fine};
use super::space::ElementTerms;
use super::{Beyond, BoundaryField, EllipticBoundary, Field, GradientField, Sipdg, Space};
use crate::fields::Sample;
use crate::lanes::simd::PackScalar;
use crate::space::positions::image;
use crate::space::positions::positions;
use dgsuite_basis::{LagrangeBasis, Matrix, lattice::lattice};
use dgsuite_gpu::ExactSum;
use rayon::prelude::*;
use std::convert::Infallible;

/// Distances between a discrete and an exact solution.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct EllipticErrors {
    /// `∫ |e|`.
    pub l1: f64,
    /// `(∫ e²)^½`.
    pub l2: f64,
    /// Largest `|e|` over the points of the rule.
    pub linf: f64,
    /// `(Σ_E ∫ κ |∇e|² + λ e²)^½`, if the exact gradient is given.
    pub energy: Option<f64>,
}

impl<T: PackScalar> Space<T> {
    /// Sums over all ranks.
    fn total<const N: usize>(&self, sums: &mut [ExactSum; N]) -> [f64; N] {
        match &self.problem.ranks {
            None => std::array::from_fn(|i| sums[i].value()),
            Some(ranks) => {
                let values = ranks.joint().sum(sums);
                std::array::from_fn(|i| values[i])
            }
        }
    }

    /// Calls `work` for all elements in parallel; results are in the order of the mesh.
    fn each<R: Send>(&self, work: impl Fn(usize) -> R + Sync + Send) -> Vec<R> {
        let n = self.problem.mesh.n_elements();
        self.problem.host.install(|| (0..n).into_par_iter().map(work).collect())
    }

    /// Collects the items that `work` appends for each element, in the order of the mesh.
    fn list<R: Clone + Send>(&self, work: impl Fn(usize, &mut Vec<R>) + Sync + Send) -> Vec<R> {
        let Ok(list) = self.in_pieces(|element, all| {
            work(element, all);
            Ok::<(), Infallible>(())
        });
        list
    }

    /// The loads `∫ f φ_i` of some functions by element and basis function, from what `of` returns for an
    /// element and its rule: for each function its values times `w J` at the points.
    fn loads(
        &self,
        rules: &[Fine],
        functions: usize,
        of: impl Fn(usize, &Fine) -> Vec<Vec<f64>> + Sync + Send,
    ) -> Vec<Vec<f64>> {
        let n = self.problem.mesh.n_elements();
        let batch = |k: usize| -> Vec<Vec<f64>> {
            let elements: Vec<usize> = (k * BATCH..n.min((k + 1) * BATCH)).collect();
            let rule = |element: usize| std::ptr::from_ref(self.fine_of(rules, element));
            let mut loads = vec![Vec::new(); functions];
            for elements in elements.chunk_by(|&a, &b| rule(a) == rule(b)) {
                let fine = self.fine_of(rules, elements[0]);
                let weighted: Vec<_> = elements.iter().map(|&element| of(element, fine)).collect();
                for (k, loads) in loads.iter_mut().enumerate() {
                    let of_function: Vec<_> = weighted.iter().map(|of_element| &*of_element[k]).collect();
                    loads.extend(fine.tested(&of_function));
                }
            }
            loads
        };
        let batches: Vec<Vec<Vec<f64>>> =
            self.problem.host.install(|| (0..n.div_ceil(BATCH)).into_par_iter().map(batch).collect());
        let joined = |k: usize| batches.iter().map(|batch| &*batch[k]).collect::<Vec<_>>().concat();
        (0..functions).map(joined).collect()
    }

    /// The first of consecutive numbers of each element, one for each basis function.
    fn first_numbers(&self) -> Vec<usize> {
        let mut next = 0;
        let mut first = |element| {
            next += self.n_basis(element);
            next - self.n_basis(element)
        };
        (0..self.problem.mesh.n_elements()).map(&mut first).collect()
    }

    /// A vector from consecutive numbers of all elements, which begin at `first`; zero in the padding.
    fn scatter(&self, first: &[usize], numbers: &[f64]) -> Vec<T> {
        let of = |element: usize| &numbers[first[element]..first[element] + self.n_basis(element)];
        self.vector(T::ZERO, |element| Some(of(element).iter().map(|&v| T::from_f64(v))))
    }

    /// The entries of an element's unknowns in vectors.
    pub(super) fn entries_of(&self, element: usize) -> impl Iterator<Item = u32> {
        let (first, stride) = self.rows(element);
        (0..self.n_basis(element)).map(move |i| (first + i * stride) as u32)
    }

    /// Nodal values of one element.
    fn coefficients(&self, u: &[T], element: usize) -> Vec<f64> {
        let (first, stride) = self.rows(element);
        (0..self.n_basis(element)).map(|i| u[first + i * stride].to_f64()).collect()
    }

    /// Adds the boundary data of an element's faces to its right-hand side.
    fn add_boundaries(&self, element: usize, data: &[&BoundaryField<'_>], out: &mut [f64]) {
        let mut terms: Option<ElementTerms> = None;
        for face in 0..self.problem.mesh.shape(element).n_faces() {
            let Beyond::Boundary(b) = self.across(element, face) else { continue };
            let Some(g) = self.problem.condition[b as usize].and_then(|i| data.get(i)) else { continue };
            let terms = terms.get_or_insert_with(|| self.terms(element));
            let reference = &self.tables_of(element).reference;
            let range = reference.face_offsets[face]..reference.face_offsets[face + 1];
            let x = positions(&self.problem.mesh, element, &reference.face_points[range.clone()]);
            let slopes = self.normal_derivatives(element, face, terms);
            let (tau, kappa) = self.face_coefficients(element, face);
            let dirichlet = self.problem.boundary(b) == EllipticBoundary::Dirichlet;
            for (q, point) in range.enumerate() {
                let value = g(element, x[q], terms.face[point].normal) * terms.face[point].weight;
                for (i, out) in out.iter_mut().enumerate() {
                    let phi = reference.interp_face[(point, i)];
                    *out += if dirichlet {
                        kappa[q] * value * (2.0 * tau * phi - slopes[(q, i)])
                    } else {
                        value * phi
                    };
                }
            }
        }
    }
}

impl<T: PackScalar> Sipdg<T> {
    /// Computes the right-hand side: `∫ f v` plus the contributions of the boundary data `g`. `data` is in
    /// the order of the boundaries of [`new`](Self::new); a boundary without data has `g = 0`.
    #[must_use]
    pub fn right_hand_side(&self, f: &Field<'_>, data: &[&Field<'_>]) -> Vec<T> {
        let data: Vec<_> = data.iter().map(|g| move |element, x, _: [f64; 3]| g(element, x)).collect();
        let data: Vec<&BoundaryField<'_>> = data.iter().map(|g| g as &BoundaryField<'_>).collect();
        self.right_hand_side_with_normals(f, &data)
    }

    /// As [`right_hand_side`](Self::right_hand_side), with data that depend on the normal, such as the flux
    /// of a solution.
    #[must_use]
    pub fn right_hand_side_with_normals(&self, f: &Field<'_>, data: &[&BoundaryField<'_>]) -> Vec<T> {
        let space = &self.space;
        let rules = space.fine_rules(2 * space.order + 4);
        let loads = space.loads(&rules, 1, |element, fine| {
            let (x, jw, _) = fine.geometry(space.problem.mesh.dim, &space.nodes(element));
            vec![x.iter().zip(&jw).map(|(x, w)| w * f(element, *x)).collect()]
        });
        let (loads, first) = (&loads[0], space.first_numbers());
        let numbers = space.list(|element, all: &mut Vec<f64>| {
            let start = all.len();
            all.extend(&loads[first[element]..first[element] + space.n_basis(element)]);
            space.add_boundaries(element, data, &mut all[start..]);
        });
        space.scatter(&first, &numbers)
    }

    /// The entry of each unknown in vectors, by element of the mesh, then by node. Other entries are padding.
    /// Operators of other precision have other entries, with the same order of unknowns.
    #[must_use]
    pub fn unknowns(&self) -> Vec<u32> {
        let space = &self.space;
        space.list(|element, all: &mut Vec<u32>| all.extend(space.entries_of(element)))
    }

    /// The entries of each element's unknowns, by node.
    #[must_use]
    pub fn blocks_of_unknowns(&self) -> Vec<Vec<u32>> {
        let space = &self.space;
        space.each(|element| space.entries_of(element).collect())
    }

    /// The coordinates of the nodes, by axis; zero at padding. The map of an element is a polynomial of its
    /// space, or is projected to it.
    #[must_use]
    pub fn places(&self) -> [Vec<T>; 3] {
        [0, 1, 2].map(|d| self.project(&|_, x| x[d]))
    }

    /// The function of this value everywhere.
    #[must_use]
    pub fn constant(&self, value: f64) -> Vec<T> {
        let space = &self.space;
        space.vector(T::ZERO, |element| Some((0..space.n_basis(element)).map(|_| T::from_f64(value))))
    }

    /// Computes the L² projection of a function. On curved elements what is projected is the difference to
    /// the values at the nodes, so that functions of the space remain although the rule of the mass matrix is
    /// not exact there.
    #[must_use]
    pub fn project(&self, f: &Field<'_>) -> Vec<T> {
        self.project_values(&|element, x| x.iter().map(|x| f(element, *x)).collect())
    }

    /// As [`project`](Self::project), of a function of an element and a list of positions in it, which
    /// returns its values there.
    #[must_use]
    pub fn project_values(&self, f: &(dyn Fn(usize, &[[f64; 3]]) -> Vec<f64> + Sync)) -> Vec<T> {
        self.project_fields(1, &|element, x| vec![f(element, x)]).swap_remove(0)
    }

    /// As [`project_values`](Self::project_values), of a function with this number of components, which
    /// returns `[component][position]`.
    #[must_use]
    pub fn project_fields(
        &self,
        components: usize,
        f: &(dyn Fn(usize, &[[f64; 3]]) -> Vec<Vec<f64>> + Sync),
    ) -> Vec<Vec<T>> {
        let space = &self.space;
        let rules = space.fine_rules(2 * space.order + 4);
        let first = space.first_numbers();
        // Values at the nodes of curved elements.
        let nodal = space.each(|element| match space.is_affine(element) {
            true => Vec::new(),
            false => f(element, &image(&space.fine_of(&rules, element).node_position, &space.nodes(element))),
        });
        let loads = space.loads(&rules, components, |element, fine| {
            let (x, jw, _) = fine.geometry(space.problem.mesh.dim, &space.nodes(element));
            let mut values = f(element, &x);
            for (values, nodal) in values.iter_mut().zip(&nodal[element]) {
                values.iter_mut().zip(fine.at_points(nodal)).for_each(|(v, nodal)| *v -= nodal);
            }
            for values in &mut values {
                values.iter_mut().zip(&jw).for_each(|(v, w)| *v *= w);
            }
            values
        });
        let of_component = |(k, loads): (usize, &Vec<f64>)| {
            let mut u = vec![T::ZERO; self.len()];
            self.inverse_mass(&space.scatter(&first, loads), &mut u);
            if nodal.iter().any(|nodal| !nodal.is_empty()) {
                let of = |element: usize| Some(nodal[element].get(k)?.iter().map(|&v| T::from_f64(v)));
                let nodal = space.vector(T::ZERO, of);
                u.iter_mut().zip(nodal).for_each(|(u, nodal)| *u += nodal);
            }
            u
        };
        loads.iter().enumerate().map(of_component).collect()
    }

    /// Computes norms of `u − exact`, including the energy norm if the exact gradient is given.
    #[must_use]
    pub fn errors(&self, u: &[T], exact: &Field<'_>, gradient: Option<&GradientField<'_>>) -> EllipticErrors {
        let space = &self.space;
        let dim = space.problem.mesh.dim;
        let rules = space.fine_rules(2 * space.order + 4);
        let of_element = |element: usize| -> [f64; 4] {
            let fine = space.fine_of(&rules, element);
            let (x, jw, metric) = fine.geometry(dim, &space.nodes(element));
            let c = space.coefficients(u, element);
            let (value, slopes) = (fine.at_points(&c), fine.slopes(&c));
            let kappa = space.problem.kappa.at(element, &fine.kappa);
            let lambda = space.lambda_at(element, &fine.lambda);
            let mut out = [0.0; 4];
            for q in 0..x.len() {
                let e = value[q] - exact(element, x[q]);
                out[0] += jw[q] * e.abs();
                out[1] += jw[q] * e * e;
                out[2] = out[2].max(e.abs());
                if let Some(gradient) = gradient {
                    let g = gradient(element, x[q]);
                    let mut square = 0.0;
                    for c in 0..dim {
                        let slope: f64 = (0..dim).map(|d| metric[q][d][c] * slopes[d][q]).sum();
                        square += (slope - g[c]).powi(2);
                    }
                    out[3] += jw[q] * (kappa[q] * square + lambda[q] * e * e);
                }
            }
            out
        };
        let mut sums = [const { ExactSum::new() }; 3];
        let mut largest = [0.0_f64];
        for (element, [l1, l2, linf, energy]) in space.each(of_element).into_iter().enumerate() {
            if space.counts(element) {
                sums.iter_mut().zip([l1, l2, energy]).for_each(|(sum, x)| sum.add(x));
                largest[0] = largest[0].max(linf);
            }
        }
        let [l1, l2, energy] = space.total(&mut sums);
        if let Some(ranks) = self.ranks() {
            ranks.joint().max(&mut largest);
        }
        let energy = gradient.map(|_| energy.sqrt());
        EllipticErrors { l1, l2: l2.sqrt(), linf: largest[0], energy }
    }

    /// Computes `∫ u`.
    #[must_use]
    pub fn integral(&self, u: &[T]) -> f64 {
        let space = &self.space;
        let of_element = |element: usize| -> f64 {
            let interp = &space.tables_of(element).reference.interp_volume;
            let value = interp.mul_vec(&space.coefficients(u, element));
            value.iter().zip(space.terms(element).jw).map(|(v, w)| v * w).sum()
        };
        let own =
            space.each(of_element).into_iter().enumerate().filter(|(element, _)| space.counts(*element));
        let mut sum = [own.map(|(_, x)| x).collect::<ExactSum>()];
        space.total(&mut sum)[0]
    }

    /// A vector from numbers of elements of the whole mesh and their nodes.
    #[must_use]
    pub fn numbered(&self, of: impl Fn(usize, usize) -> f64 + Sync + Send) -> Vec<T> {
        let space = &self.space;
        space.vector(T::ZERO, |element| {
            let (number, of) = (space.number(element), &of);
            Some((0..space.n_basis(element)).map(move |node| T::from_f64(of(number, node))))
        })
    }

    /// Samples values on the lattice of an order, shape by shape, like
    /// [`Discretization::sample`](crate::Discretization::sample); one field. On several ranks these are the
    /// values in own elements, which have the numbers of the rank's mesh.
    #[must_use]
    pub fn sample(&self, u: &[T], order: usize) -> Vec<Sample> {
        let space = &self.space;
        space
            .groups
            .iter()
            .map(|group| {
                let points = lattice(group.shape, order);
                let basis = group.parts[0].reference.evaluate(&points);
                let all = group.real_slots().map(|s| group.elements[s] as usize);
                let elements: Vec<usize> = all.filter(|element| space.counts(*element)).collect();
                let mesh = &space.problem.mesh;
                let places: Vec<Matrix> = mesh
                    .sets
                    .iter()
                    .map(|set| match set.shape == group.shape {
                        true => LagrangeBasis::new(set.shape, set.order).eval(&points),
                        false => Matrix::zeros(0, 0),
                    })
                    .collect();
                let of_element = |&e: &usize| {
                    let x = image(&places[mesh.locate(e).0], &space.nodes(e));
                    (x, basis.mul_vec(&space.coefficients(u, e)))
                };
                let all: Vec<(Vec<[f64; 3]>, Vec<f64>)> =
                    space.problem.host.install(|| elements.par_iter().map(of_element).collect());
                let (mut x, mut values) = (Vec::new(), Vec::new());
                for (points, v) in all {
                    x.extend(points);
                    values.extend(v);
                }
                let values = vec![values];
                let (gradients, floors) = (Vec::new(), Vec::new());
                Sample { shape: group.shape, order, elements, points: x, values, gradients, floors }
            })
            .collect()
    }
}
