//! Text and operators of `prism_cubature.cu` and `prism_cubature_traces.cu`: prisms integrated by a cubature.
//!
//! The cubature is a triangle's times as many Gauss points as there are functions along the line, for any
//! basis. The operators are products of those of a triangle and of a line.

use crate::cuda::prisms::prism::agree;
use crate::cuda::text::kernel_text::KernelText;
use crate::cuda::text::setting::{File, Room, Setting, list};
use crate::lanes::simd::PackScalar;
use crate::space::group::volume_matrices;
use crate::space::scheme::Form;
use dgsuite_basis::{Matrix, ReferenceElement, Shape};

/// Approximate number of threads of a block.
const NEAR_THREADS: usize = 240;
/// Coordinates whose distance is below this are the same.
const SAME: f64 = 1e-10;

/// The operators of the kernels, and the position of each face point.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct CubatureTables {
    /// In the order of `prism_cubature.cuh`.
    pub(crate) entries: Vec<f64>,
    /// Functions, and layers, along a line.
    pub(crate) n_nodes: usize,
    /// Functions of the triangle.
    pub(crate) n_triangle: usize,
    /// Volume points of a layer.
    pub(crate) n_points: usize,
    /// Face points of a triangle.
    pub(crate) n_ends: usize,
    /// Whether the functions along a line differ from those of the layers.
    pub(crate) transform: bool,
    /// Whether the volume points of a layer are the nodes of its functions.
    pub(crate) nodal: bool,
    /// For each face point: points of the lower and of the upper triangle, then `[side][layer][number]`.
    pub(crate) place: Vec<usize>,
}

/// The factors of a prism's operators, for the line and for the triangle; see `prism_cubature.cuh`.
pub(crate) struct Factors {
    /// From functions to layers, `[layer][function]`, and back.
    pub(crate) values: Matrix,
    pub(crate) back: Matrix,
    /// `[function][layer]`
    slope_back: Matrix,
    /// `[end][function]`
    pub(crate) ends: Matrix,
    /// `[function][end]`
    pub(crate) end_lifts: Matrix,
    /// `[point][function]`
    pub(crate) interp: Matrix,
    /// `[function][point]`: of the derivatives, and the projection.
    test: [Matrix; 3],
    /// `[side, number][function]` and `[point][function]`
    pub(crate) side_traces: Matrix,
    pub(crate) end_traces: Matrix,
    /// `[function][side, number]` and `[function][point]`
    pub(crate) side_lifts: Matrix,
    pub(crate) end_face_lifts: Matrix,
}

impl CubatureTables {
    /// The tables of a prism. Returns `None` unless its points are in as many layers as it has functions
    /// along a line, its face points are in these layers and at the ends, and its operators are products.
    #[must_use]
    pub(crate) fn new(reference: &ReferenceElement, form: Form) -> Option<Self> {
        Some(Self::with_factors(reference, form)?.0)
    }

    /// As [`new`](Self::new), with the factors of the operators.
    pub(crate) fn with_factors(reference: &ReferenceElement, form: Form) -> Option<(Self, Factors)> {
        let (spec, nq) = (reference.spec, reference.volume.points.len());
        if spec.shape != Shape::Prism
            || spec.order == 0
            || reference.face_nodes.is_some()
            || form == Form::Split
        {
            return None;
        }
        let n = spec.order + 1;
        let nt = n * (n + 1) / 2;
        if reference.n_basis != n * nt || nq % n != 0 {
            return None;
        }
        let tq = nq / n;
        let heights: Vec<f64> = (0..n).map(|z| reference.volume.points[z * tq][2]).collect();
        let (place, n_ends) = places(reference, &heights)?;
        let factors = Factors::new(reference, form, [n, nt, tq, n_ends], &place)?;
        let f = &factors;
        let slope = f.values.mul(&f.slope_back);
        let lifts = f.values.mul(&f.end_lifts);
        let mut entries = Vec::new();
        let mut add = |m: &Matrix| entries.extend_from_slice(m.as_slice());
        [&f.values, &f.back, &f.slope_back, &slope].into_iter().for_each(&mut add);
        [&f.end_lifts.transpose(), &lifts.transpose(), &f.ends].into_iter().for_each(&mut add);
        let triangle = [&f.side_lifts, &f.end_face_lifts, &f.side_traces, &f.end_traces];
        [&f.interp].into_iter().chain(&f.test).chain(triangle).for_each(|m| add(&m.transpose()));
        let integral = reference.interp_volume.transpose().mul_vec(&reference.volume.weights);
        let integral =
            |layer: usize, t: usize| (0..n).map(|z| integral[z * nt + t] * f.back[(z, layer)]).sum();
        add(&Matrix::from_fn(n, nt, integral));
        entries.extend(reference.project_volume.mul_vec(&vec![1.0; nq]));
        let same = |m: &Matrix| m.rows == m.cols && m.distance(&Matrix::identity(m.rows)) < SAME;
        let (transform, nodal) = (!same(&f.values), same(&f.interp));
        let tables =
            Self { entries, n_nodes: n, n_triangle: nt, n_points: tq, n_ends, transform, nodal, place };
        Some((tables, factors))
    }

    /// Builds the kernel of the stage or residual; `None` if it does not fit the device.
    pub(crate) fn text<T: PackScalar>(&self, of: &Setting<'_, T>, stage: bool) -> Option<KernelText> {
        let s = of.sizes();
        let registers = if T::BYTES == 4 { 64 } else { 96 };
        let more = if s.curved { 2 * s.np } else { 0 };
        let element = self.room(s.dim * self.flux_rows() * s.fields)
            + self.face_room(s.nf.max(s.np) * s.fields)
            + 2 * self.n_triangle * s.fields;
        let room = Room { registers, block: (self.traces_at() + more).next_multiple_of(2), element };
        let file = File { name: "prism_cubature.cu", text: include_str!("prism_cubature.cu"), headers: &[] };
        self.kernel(of, file, stage, room)
    }

    /// Builds the kernel of traces; `None` if it does not fit the device.
    pub(crate) fn traces<T: PackScalar>(&self, of: &Setting<'_, T>) -> Option<KernelText> {
        let (s, n, nt) = (of.sizes(), self.n_nodes, self.n_triangle);
        let room = Room {
            registers: 48,
            block: 4 * n * n + 6 * n + (3 * n + self.n_ends) * nt,
            element: ((n + 2) * nt + s.nf.max(s.np)) * s.fields,
        };
        let text = include_str!("prism_cubature_traces.cu");
        self.kernel(of, File { name: "prism_cubature_traces.cu", text, headers: &[] }, false, room)
    }

    /// Number of rows of an unknown's fluxes at volume points; `FLUX` of `prism_cubature.cuh`.
    pub(crate) const fn flux_rows(&self) -> usize {
        self.n_nodes * (self.n_points | 1)
    }

    /// Memory of an element for fluxes: `size` numbers plus padding.
    pub(crate) const fn room(&self, size: usize) -> usize {
        padded(size, self.flux_rows())
    }

    /// Memory of an element for values at face points: `size` numbers plus padding.
    pub(crate) const fn face_room(&self, size: usize) -> usize {
        let n = self.n_nodes;
        padded(size, if n % 2 == 1 { n * n } else { n + 1 })
    }

    /// Offset of the tables of traces.
    pub(crate) fn traces_at(&self) -> usize {
        let (n, nt) = (self.n_nodes, self.n_triangle);
        4 * n * n + 6 * n + nt * (4 * self.n_points + 3 * n + self.n_ends)
    }

    /// Builds the kernel of `file`; `None` if it does not fit the device.
    pub(crate) fn kernel<T: PackScalar>(
        &self,
        of: &Setting<'_, T>,
        file: File,
        stage: bool,
        room: Room,
    ) -> Option<KernelText> {
        let mut found = of.kernel_of_points(file, NEAR_THREADS, room)?;
        found.source = found
            .source
            .define("STAGE", u8::from(stage))
            .define("NODES", self.n_nodes)
            .define("TRIANGLE", self.n_triangle)
            .define("POINTS", self.n_points)
            .define("END_POINTS", self.n_ends)
            .define("TRANSFORM", u8::from(self.transform))
            .define("NODAL", u8::from(self.nodal))
            .define("GROUP", if self.n_triangle.is_multiple_of(3) { 3 } else { 2 })
            .define("FACE_PLACE", list(&self.place));
        Some(found)
    }
}

impl Factors {
    /// The factors of a prism with `[functions along a line, of the triangle, points of a layer, of an end]`;
    /// `None` unless its operators are products of them.
    fn new(reference: &ReferenceElement, form: Form, sizes: [usize; 4], place: &[usize]) -> Option<Self> {
        let [n, nt, tq, ne] = sizes;
        let (np, nf) = (reference.n_basis, place.len());
        let (interp, project) = (&reference.interp_volume, &reference.project_volume);
        let volume = volume_matrices(reference, form, 3);
        let mut at = vec![0; nf];
        place.iter().enumerate().for_each(|(q, &p)| at[p] = q);
        let trace = Matrix::from_fn(nf, np, |p, i| reference.interp_face[(at[p], i)]);
        let lift = Matrix::from_fn(np, nf, |i, p| reference.lift[(i, at[p])]);

        let (i, j) = largest(interp);
        let values =
            Matrix::from_fn(n, n, |l, z| interp[(l * tq + i % tq, z * nt + j % nt)] / interp[(i, j)]);
        let back = values.inverse().ok()?;
        // Side points of layer 0, in the order of the layer's tables.
        let (side, first) = (|k: usize| 2 * ne + k / n * n * n + k % n, largest(&values.row_range(0..1)).1);
        let (line, layer) = largest(&back);
        let (p, f) = largest(&trace.row_range(0..ne));
        let end_traces = Matrix::from_fn(ne, nt, |q, t| trace[(q, f / nt * nt + t)]);
        let (g, q) = largest(&Matrix::from_fn(np, ne, |i, q| lift[(i, q)]));
        let end_face_lifts = Matrix::from_fn(nt, ne, |t, q| lift[(g / nt * nt + t, q)]);
        let projection = inner(project, &back, nt, tq);
        let (b, a) = largest(&projection);
        let found = Self {
            interp: inner(interp, &values, tq, nt),
            slope_back: Matrix::from_fn(n, n, |z, l| {
                volume[2][(z * nt + b, l * tq + a)] / projection[(b, a)]
            }),
            test: [inner(&volume[0], &back, nt, tq), inner(&volume[1], &back, nt, tq), projection],
            ends: Matrix::from_fn(2, n, |e, z| {
                trace[(e * ne + p, z * nt + f % nt)] / end_traces[(p, f % nt)]
            }),
            end_lifts: Matrix::from_fn(n, 2, |z, e| {
                lift[(z * nt + g % nt, e * ne + q)] / end_face_lifts[(g % nt, q)]
            }),
            side_traces: Matrix::from_fn(3 * n, nt, |k, t| {
                trace[(side(k), first * nt + t)] / values[(0, first)]
            }),
            side_lifts: Matrix::from_fn(nt, 3 * n, |t, k| {
                lift[(line * nt + t, side(k) + layer * n)] / back[(line, layer)]
            }),
            values,
            back,
            end_traces,
            end_face_lifts,
        };
        let on_side = |p: usize| {
            let k = p - 2 * ne;
            (k / n % n, k / (n * n) * n + k % n)
        };
        let traces = |p: usize, i: usize| {
            if p < 2 * ne {
                found.ends[(p / ne, i / nt)] * found.end_traces[(p % ne, i % nt)]
            } else {
                let (layer, k) = on_side(p);
                found.values[(layer, i / nt)] * found.side_traces[(k, i % nt)]
            }
        };
        let lifts = |i: usize, p: usize| {
            if p < 2 * ne {
                found.end_lifts[(i / nt, p / ne)] * found.end_face_lifts[(i % nt, p % ne)]
            } else {
                let (layer, k) = on_side(p);
                found.back[(i / nt, layer)] * found.side_lifts[(i % nt, k)]
            }
        };
        let product = |whole: &Matrix, line: &Matrix, triangle: &Matrix| {
            let product = line.kron(triangle);
            agree(whole, |i, j| product[(i, j)])
        };
        let same = product(interp, &found.values, &found.interp)
            && product(project, &found.back, &found.test[2])
            && product(&volume[0], &found.back, &found.test[0])
            && product(&volume[1], &found.back, &found.test[1])
            && product(&volume[2], &found.slope_back, &found.test[2])
            && agree(&trace, traces)
            && agree(&lift, lifts);
        same.then_some(found)
    }
}

/// The position of each face point, and the number of points of an end; `None` unless the points of the sides
/// are at `heights`, equally many in each layer.
fn places(reference: &ReferenceElement, heights: &[f64]) -> Option<(Vec<usize>, usize)> {
    let close = |a: f64, b: f64| (a - b).abs() < SAME;
    let same = |a: &[f64; 3], b: &[f64; 3]| close(a[0], b[0]) && close(a[1], b[1]);
    let (points, n) = (&reference.face_points, heights.len());
    let mut place = vec![0; points.len()];
    let (mut base, mut n_sides): (Vec<[f64; 3]>, usize) = (Vec::new(), 0);
    for (f, range) in reference.face_offsets.windows(2).map(|w| w[0]..w[1]).enumerate() {
        let normal = crate::space::geometry::reference_normal(Shape::Prism, f);
        if normal[2] == 0.0 {
            let mut edge: Vec<[f64; 3]> = Vec::new();
            for q in range {
                let layer = heights.iter().position(|&z| close(z, points[q][2]))?;
                let number = edge.iter().position(|x| same(x, &points[q])).unwrap_or(edge.len());
                if number == edge.len() {
                    edge.push(points[q]);
                }
                place[q] = 2 * base.len() + (n_sides * n + layer) * n + number;
            }
            if edge.len() != n {
                return None;
            }
            n_sides += 1;
        } else {
            if base.is_empty() {
                base = points[range.clone()].to_vec();
            }
            for q in range {
                let number = base.iter().position(|x| same(x, &points[q]))?;
                place[q] = number + if normal[2] > 0.0 { base.len() } else { 0 };
            }
        }
    }
    let mut sorted = place.clone();
    sorted.sort_unstable();
    sorted.iter().enumerate().all(|(i, &p)| i == p).then_some((place, base.len()))
}

/// The smallest number from `size` on that is `rest` modulo the number of banks of shared memory.
const fn padded(size: usize, rest: usize) -> usize {
    size + (rest + 32 - size % 32) % 32
}

/// Row and column of the entry with the largest magnitude.
pub(crate) fn largest(m: &Matrix) -> (usize, usize) {
    let all = m.as_slice();
    let i = (0..all.len()).max_by(|&i, &j| all[i].abs().total_cmp(&all[j].abs())).unwrap_or(0);
    (i / m.cols.max(1), i % m.cols.max(1))
}

/// The `rows` × `cols` factor of a Kronecker product whose other factor is `outer`.
pub(crate) fn inner(product: &Matrix, outer: &Matrix, rows: usize, cols: usize) -> Matrix {
    let (i, j) = largest(outer);
    Matrix::from_fn(rows, cols, |r, c| product[(i * rows + r, j * cols + c)] / outer[(i, j)])
}

#[cfg(test)]
mod tests {
    use super::*;
    use dgsuite_basis::correction::Parameter;
    use dgsuite_basis::{Correction, Cubature, ElementSpec, NodeSet, Representation};

    /// `with_factors` compares every operator with the dense one.
    #[test]
    fn operators_of_the_usual_forms_are_triangles_times_lines() {
        for order in 1..=6 {
            let modal = ElementSpec::over_integrated(Shape::Prism, order);
            let nodal = ElementSpec { representation: Representation::Nodal(NodeSet::GaussLobatto), ..modal };
            let gauss = ElementSpec::collocated(Shape::Prism, order, NodeSet::GaussLegendre);
            let fr = ElementSpec { correction: Correction::Vcjh(Parameter::Huynh), ..gauss };
            let curved = ElementSpec {
                volume: Cubature::Degree((2 * order).max(order + 3)),
                face: Cubature::Degree((2 * order + 1).max(order + 3)),
                ..modal
            };
            for (spec, known) in
                [(modal, true), (nodal, true), (gauss, true), (fr, true), (curved, order > 1)]
            {
                for form in [Form::Weak, Form::Strong] {
                    let r = ReferenceElement::new(&spec).unwrap();
                    let t = CubatureTables::new(&r, form);
                    assert_eq!(t.is_some(), known, "{spec:?} {form:?}");
                    let Some(t) = t else { continue };
                    assert_eq!(t.transform, spec.volume != Cubature::Collocated);
                    assert_eq!(t.nodal, spec.volume == Cubature::Collocated);
                    let (n, nt) = (t.n_nodes, t.n_triangle);
                    assert_eq!(t.entries.len(), t.traces_at() + (3 * n + t.n_ends) * nt + 2 * n * nt);
                }
            }
        }
        let collocated = ElementSpec::collocated(Shape::Prism, 2, NodeSet::GaussLobatto);
        assert_eq!(CubatureTables::new(&ReferenceElement::new(&collocated).unwrap(), Form::Weak), None);
    }
}
