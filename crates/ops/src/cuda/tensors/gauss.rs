//! Texts and operators of `gauss.cu`, `gauss_lines.cu` and `gauss_traces.cu`: quadrilaterals and hexahedra
//! with Gauss points.
//!
//! The cubature has as many Gauss points along a line as there are basis functions, for any basis, or more on
//! affine elements.

use crate::cuda::text::kernel_text::KernelText;
use crate::cuda::text::literals::matrix;
use crate::cuda::text::setting::{Block, File, Room, Setting, list, registers_of};
use crate::lanes::simd::PackScalar;
use crate::space::scheme::{Form, MetricRule};
use dgsuite_basis::{Matrix, ReferenceElement, Shape};

/// Approximate number of threads of a block.
pub(crate) const NEAR_THREADS: usize = 128;
/// Bytes of shared memory of a block of the kernel of traces, unless one element needs more, and the largest
/// number of elements.
const TRACE_ROOM: usize = 24 * 1024;
const MOST_ELEMENTS: usize = 32;
/// Largest number of blocks per multiprocessor to which registers are limited.
const MOST_BLOCKS: usize = 16;
/// Matrices and coordinates whose distance is below this are the same.
const SAME: f64 = 1e-10;

/// The operators of the kernels, and the position of each face point.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct GaussTables {
    /// With the matrix `T` from coefficients to values at the points: `T P`,
    /// `T`, `T⁻¹` (with more points than functions, the projection; both are padded with zeros to the number
    /// of points), values at both ends from values at the points, lifts from the ends to the points.
    pub(crate) entries: Vec<f64>,
    /// Points along a line.
    pub(crate) n_nodes: usize,
    /// Basis functions along a line.
    n_functions: usize,
    /// Whether `T` differs from the identity.
    pub(crate) transform: bool,
    /// For each face point, `(2 direction + end) · points of a face` plus the number of its line across the
    /// lines of that direction, faster directions first.
    place: Vec<usize>,
}

impl GaussTables {
    /// The tables of a quadrilateral or hexahedron. Returns `None` unless its face points are the ends of the
    /// lines of its points, and its metric rule is a factor for each element or, with as many points along a
    /// line as functions, for each point.
    #[must_use]
    pub(crate) fn new(reference: &ReferenceElement, form: Form, rule: MetricRule) -> Option<Self> {
        let tensor = reference.tensor.as_ref()?;
        let (shape, n, functions) = (reference.spec.shape, tensor.n_points_1d, tensor.n_basis_1d);
        let (values, back) = (&tensor.interp, &tensor.mass_project);
        let same = |a: &Matrix, b: &Matrix| a.rows == b.rows && a.cols == b.cols && a.distance(b) < SAME;
        let known = matches!(shape, Shape::Quadrilateral | Shape::Hexahedron)
            && matches!(form, Form::Weak | Form::Strong)
            && functions > 1
            && knows(rule, n == functions)
            && n >= functions
            && reference.face_nodes.is_none()
            && same(&back.mul(values), &Matrix::identity(functions))
            && same(values, &tensor.face_interp)
            && same(back, &tensor.face_mass_project);
        if !known {
            return None;
        }
        let ends = [0, 1].map(|e| back.transpose().mul_vec(&tensor.ends[e]));
        let lift = [0, 1].map(|e| values.mul_vec(&tensor.lift[e]));
        let line = match form {
            Form::Weak => values.mul(&tensor.project),
            // −D + L N̂ I_f along the line.
            Form::Strong | Form::Split => {
                let derivative = tensor.derivative.mul(back);
                Matrix::from_fn(n, n, |i, m| {
                    lift[1][i] * ends[1][m] - lift[0][i] * ends[0][m] - derivative[(i, m)]
                })
            }
        };
        let square =
            |m: &Matrix| Matrix::from_fn(n, n, |i, j| if i < m.rows && j < m.cols { m[(i, j)] } else { 0.0 });
        let mut entries = [&line, &square(values), &square(back)].map(Matrix::as_slice).concat();
        entries.extend(ends.into_iter().chain(lift).flatten());
        let place = (0..reference.face_points.len()).map(|q| place(reference, q)).collect::<Option<_>>()?;
        Some(Self {
            entries,
            n_nodes: n,
            n_functions: functions,
            transform: !same(values, &Matrix::identity(n)),
            place,
        })
    }

    /// Whether there are more points along a line than functions.
    pub(crate) const fn is_over_integrated(&self) -> bool {
        self.n_nodes > self.n_functions
    }

    /// Builds the kernel of the stage or residual; `None` if it does not fit the device.
    pub(crate) fn text<T: PackScalar>(&self, of: &Setting<'_, T>, stage: bool) -> Option<KernelText> {
        if self.transform { self.text_of_lines(of, stage) } else { self.text_of_points(of, stage) }
    }

    /// A thread for each point: bases that are nodal at the points.
    fn text_of_points<T: PackScalar>(&self, of: &Setting<'_, T>, stage: bool) -> Option<KernelText> {
        let s = of.sizes();
        let registers = match (T::BYTES, s.dim) {
            (4, _) => 56,
            (_, 2) => 80,
            // Two blocks of the large elements per multiprocessor, if that leaves enough registers.
            _ => registers_of(2, Block::near(s.nq, NEAR_THREADS).threads).clamp(64, 96),
        };
        let n = self.n_nodes;
        // Matrices; values, fluxes and numerical fluxes.
        let block = (4 * n + n * (n | 1)).next_multiple_of(4);
        let room = Room { registers, block, element: ((1 + s.dim) * s.nq + s.nf) * s.fields };
        let file = File { name: "gauss.cu", text: include_str!("gauss.cu"), headers: &[] };
        let mut found = of.kernel_of_points(file, NEAR_THREADS, room)?;
        found.source = found
            .source
            .define("STAGE", u8::from(stage))
            .define("NODES", n)
            .define("PLACE", list(&self.place));
        Some(found)
    }

    /// A thread for each line of points: other bases.
    fn text_of_lines<T: PackScalar>(&self, of: &Setting<'_, T>, stage: bool) -> Option<KernelText> {
        let (s, changing) = (of.sizes(), self.changing(of));
        // A pointer for each face point; values, and rates of the unknowns that change.
        let element = s.nf * 8 / T::BYTES + (s.fields + changing) * grid(self.n_nodes, s.dim);
        // The sums of a line, traces of both sides at both ends, and the fluxes there.
        let numbers = changing * self.n_nodes + 4 * s.fields + 2 * changing;
        let registers = (numbers * T::BYTES / 4 + 40).next_multiple_of(8).clamp(64, 255);
        let block = Block::near(self.lines(s.dim), NEAR_THREADS).room::<T>(0, element);
        let file = File { name: "gauss_lines.cu", text: include_str!("gauss_lines.cu"), headers: &[] };
        let mut found = self.kernel_of_lines(of, file, registers, block)?;
        let given = u8::from(of.law.given);
        found.source = found.source.define("STAGE", u8::from(stage)).define("GIVEN", given);
        Some(found)
    }

    /// Builds the kernel of traces; `None` if it does not fit the device.
    pub(crate) fn traces<T: PackScalar>(&self, of: &Setting<'_, T>) -> Option<KernelText> {
        let s = of.sizes();
        let faces = 2 * s.dim * if s.dim == 3 { self.n_nodes } else { 1 } * (self.n_nodes | 1);
        let element = s.fields * (grid(self.n_functions, s.dim) + faces);
        // Lines are distributed over any number of threads.
        let elements = (TRACE_ROOM / (element * T::BYTES)).clamp(1, MOST_ELEMENTS);
        let threads = if elements == 1 { 2 * NEAR_THREADS } else { NEAR_THREADS };
        let block = Block::new(elements, threads).room::<T>(0, element);
        let file = File { name: "gauss_traces.cu", text: include_str!("gauss_traces.cu"), headers: &[] };
        let mut found = self.kernel_of_lines(of, file, 48, block)?;
        found.source = found.source.define("STAGE", 0);
        Some(found)
    }

    /// The lifts from both ends of a line as coefficients, `[end][function]`.
    pub(crate) fn lifts_as_coefficients(&self) -> Matrix {
        let (n, functions) = (self.n_nodes, self.n_functions);
        let back = Matrix::from_fn(functions, n, |i, m| self.entries[(2 * n + i) * n + m]);
        let lifts = [2, 3].map(|i| back.mul_vec(&self.entries[(3 * n + i) * n..][..n]));
        Matrix::from_fn(2, functions, |e, i| lifts[e][i])
    }

    /// For each end of a line, the lifting of 1 there, evaluated there.
    pub(crate) fn own_lifts(&self) -> [f64; 2] {
        let n = self.n_nodes;
        let of = |i: usize| &self.entries[(3 * n + i) * n..][..n];
        [0, 1].map(|e| of(e).iter().zip(of(2 + e)).map(|(end, lift)| end * lift).sum())
    }

    /// The number of the first unknowns that change.
    fn changing<T: PackScalar>(&self, of: &Setting<'_, T>) -> usize {
        if of.law.source { of.group.state.fields } else { of.law.changing }
    }

    /// The number of lines of points of one direction.
    const fn lines(&self, dim: usize) -> usize {
        self.n_nodes.pow(dim as u32 - 1)
    }

    /// Builds the kernel of `file`; `None` if it does not fit the device.
    pub(crate) fn kernel_of_lines<T: PackScalar>(
        &self,
        of: &Setting<'_, T>,
        file: File,
        registers: usize,
        block: Block,
    ) -> Option<KernelText> {
        let (n, functions) = (self.n_nodes, self.n_functions);
        let blocks = block.by_registers(registers).min(block.by_room()).clamp(1, MOST_BLOCKS);
        let mut found = of.kernel(file, block, blocks)?;
        let at = |i: usize, rows: usize, columns: usize| {
            Matrix::from_fn(rows, columns, |k, j| self.entries[i * n * n + k * n + j])
        };
        let values = at(1, n, functions);
        let [ends, lift] =
            [0, 2].map(|e| Matrix::from_fn(2, n, |k, i| self.entries[(3 * n + e + k) * n + i]));
        let mut points = vec![0; self.place.len()];
        self.place.iter().enumerate().for_each(|(q, &place)| points[place] = q);
        found.source = found
            .source
            .define("THREADS", block.threads)
            .define("NODES", n)
            .define("FUNCTIONS", functions)
            .define("TRANSFORM", u8::from(self.transform))
            .define("CHANGING", self.changing(of))
            .define("PLACE", list(&self.place))
            .define("POINT_AT", list(points))
            .define("VALUES", matrix(&values))
            .define("BACK", matrix(&at(2, functions, n)))
            .define("SUM", matrix(&at(0, n, n).transpose()))
            .define("TRACES", matrix(&ends.mul(&values)))
            .define("ENDS", matrix(&ends))
            .define("LIFT", matrix(&lift));
        Some(found)
    }
}

/// Whether the kernels support a metric rule: a factor for each element or point. With as many points as
/// functions the weight-adjusted rule is a factor for each point, and conservative without a correction.
pub(crate) const fn knows(rule: MetricRule, as_many: bool) -> bool {
    match rule {
        MetricRule::Affine => true,
        MetricRule::Collocated | MetricRule::WeightAdjusted | MetricRule::Reference => as_many,
        MetricRule::Stored => false,
    }
}

/// Scalars of one unknown of an element in shared memory, with rows as `Grid` in gauss_lines.cuh.
pub(crate) const fn grid(n: usize, dim: usize) -> usize {
    let row = if n >= 10 && n % 4 == 2 { n } else { n | 1 };
    n * row * if dim == 3 { n } else { 1 }
}

/// The position of face point `q`, if it is at the end of a line of points.
fn place(reference: &ReferenceElement, q: usize) -> Option<usize> {
    let points = &reference.tensor.as_ref()?.points;
    let (shape, n) = (reference.spec.shape, points.len());
    let face = reference.face_offsets.iter().rposition(|&o| o <= q)?;
    let normal = crate::space::geometry::reference_normal(shape, face);
    let d = (0..shape.dim()).find(|&d| normal[d] != 0.0)?;
    let x = &reference.face_points[q];
    let mut number = 0;
    for other in (0..shape.dim()).rev().filter(|&other| other != d) {
        number = number * n + points.iter().position(|p| (p - x[other]).abs() < SAME)?;
    }
    Some((2 * d + usize::from(normal[d] > 0.0)) * n.pow(shape.dim() as u32 - 1) + number)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::space::group::volume_matrices;
    use dgsuite_basis::correction::Parameter;
    use dgsuite_basis::{Correction, Cubature, ElementSpec, NodeSet, Polynomials, Representation};

    fn specs(shape: Shape, order: usize) -> Vec<(ElementSpec, Form)> {
        let gauss = ElementSpec::collocated(shape, order, NodeSet::GaussLegendre);
        let nodal = ElementSpec {
            polynomials: Polynomials::Tensor,
            representation: Representation::Nodal(NodeSet::GaussLobatto),
            volume: Cubature::Degree(2 * order),
            face: Cubature::Degree(2 * order + 1),
            ..gauss
        };
        let modal = ElementSpec { representation: Representation::Modal, ..nodal };
        let fr = ElementSpec { correction: Correction::Vcjh(Parameter::Huynh), ..gauss };
        let more = Cubature::Degree(2 * order + 3);
        let over = ElementSpec { volume: more, face: more, ..modal };
        let mut all = vec![(fr, Form::Strong)];
        for form in [Form::Weak, Form::Strong] {
            all.extend([gauss, nodal, modal, over].map(|spec| (spec, form)));
        }
        all
    }

    /// The matrices that the kernels apply, written explicitly: traces, sums along lines, lifts from their
    /// ends.
    #[test]
    fn lines_between_points_are_the_dense_matrices() {
        for (shape, order) in [(Shape::Quadrilateral, 1), (Shape::Quadrilateral, 4), (Shape::Hexahedron, 2)] {
            for (spec, form) in specs(shape, order) {
                let r = ReferenceElement::new(&spec).unwrap();
                let t = GaussTables::new(&r, form, MetricRule::Affine).expect("tables");
                assert_eq!(t.transform, spec.volume != Cubature::Collocated);
                let (n, functions, dim) = (t.n_nodes, t.n_functions, shape.dim());
                let np = n.pow(dim as u32);
                let part = |at: usize, len: usize| &t.entries[at..at + len];
                let matrix = |i: usize, rows: usize, cols: usize| {
                    let all = part(i * n * n, n * n);
                    let outside = (0..n * n).filter(|at| at / n >= rows || at % n >= cols);
                    assert!(outside.map(|at| all[at]).all(|x| x == 0.0), "{spec:?}");
                    Matrix::from_fn(rows, cols, |i, j| all[i * n + j])
                };
                let full = |m: &Matrix| (1..dim).fold(m.clone(), |all, _| all.kron(m));
                let (values, back) = (full(&matrix(1, n, functions)), full(&matrix(2, functions, n)));
                assert!(values.distance(&r.interp_volume) < 1e-12);
                assert!(back.distance(&r.project_volume) < 1e-11);
                let ends = |e: usize| part(3 * n * n + e * n, n);
                let lifts = |e: usize| part(3 * n * n + (2 + e) * n, n);
                let along = |i: usize, d: usize| i / n.pow(d as u32) % n;
                let across = |i: usize, d: usize| {
                    let below = n.pow(d as u32);
                    i / (below * n) * below + i % below
                };
                for (d, dense) in volume_matrices(&r, form, dim).iter().enumerate() {
                    let line = Matrix::from_fn(np, np, |i, m| {
                        if across(i, d) == across(m, d) {
                            t.entries[along(i, d) * n + along(m, d)]
                        } else {
                            0.0
                        }
                    });
                    assert!(back.mul(&line).distance(dense) < 1e-10, "{spec:?} {form:?} {d}");
                }
                let nf = r.face_points.len();
                let points = n.pow(dim as u32 - 1);
                let at = |q: usize| (t.place[q] / points / 2, t.place[q] / points % 2, t.place[q] % points);
                let trace = Matrix::from_fn(nf, np, |q, i| {
                    let (d, e, number) = at(q);
                    if across(i, d) == number { ends(e)[along(i, d)] } else { 0.0 }
                });
                let lift = Matrix::from_fn(np, nf, |i, q| {
                    let (d, e, number) = at(q);
                    if across(i, d) == number { lifts(e)[along(i, d)] } else { 0.0 }
                });
                assert!(trace.mul(&values).distance(&r.interp_face) < 1e-11, "{spec:?}");
                assert!(back.mul(&lift).distance(&r.lift) < 1e-10, "{spec:?}");
            }
        }
    }

    #[test]
    fn other_points_are_left_to_others() {
        let lobatto = ElementSpec::collocated(Shape::Hexahedron, 2, NodeSet::GaussLobatto);
        let (more, _) = specs(Shape::Quadrilateral, 2)[2];
        let more = ElementSpec { volume: Cubature::Degree(7), ..more };
        for spec in [lobatto, more] {
            assert_eq!(
                GaussTables::new(&ReferenceElement::new(&spec).unwrap(), Form::Weak, MetricRule::Affine),
                None
            );
        }
    }
}
