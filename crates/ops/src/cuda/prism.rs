//! `prism.cu`: collocated prisms. Their operators are those of a triangle and of a line.

use crate::cuda::source::{KernelText, LaunchShape, LawText, Sizes, reference_normals, source};
use crate::cuda::tensor::elements_near;
use crate::group::{Group, Part, volume_matrices};
use crate::scheme::Form;
use crate::simd::PackScalar;
use dgsuite_basis::{Cubature, Matrix, ReferenceElement, Shape};
use dgsuite_gpu::cuda::Source;

/// Registers of a multiprocessor, and those that the kernel is held to.
const REGISTERS: usize = 65_536;
const REGISTERS_OF_THREAD: usize = 80;
const REGISTERS_OF_THREAD_SINGLE: usize = 64;
/// Threads of a block that the kernel aims at, and the most it may have.
const NEAR_THREADS: usize = 160;
const MOST_THREADS: usize = 1024;
/// Part of the largest entry of a matrix by which a product may miss an entry.
const ROUNDING: f64 = 1e-11;

/// The operators of `prism.cu` and the place of each face point.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct PrismTables {
    /// The layer's matrices `[direction][column][row]`, the lifts of the sides `[side][number][row]`, the line's matrix
    /// `[row][column]`, the lifts of the lower and upper face.
    pub(crate) entries: Vec<f64>,
    /// Nodes along a line.
    pub(crate) n_nodes: usize,
    /// Nodes of a layer.
    pub(crate) n_triangle: usize,
    /// Where the flux of each face point goes: nodes of the lower and of the upper layer, then `[side][layer][number]`.
    pub(crate) place: Vec<usize>,
    /// The faces that are sides, in their order in the tables.
    pub(crate) sides: Vec<usize>,
}

impl PrismTables {
    /// The tables of a prism; `None` unless it is collocated, in volume and on faces, and its operators are products.
    #[must_use]
    pub(crate) fn new(reference: &ReferenceElement, form: Form) -> Option<Self> {
        let (spec, np) = (reference.spec, reference.n_basis);
        if spec.shape != Shape::Prism || spec.volume != Cubature::Collocated || spec.order == 0 {
            return None;
        }
        let n = spec.order + 1;
        let nt = n * (n + 1) / 2;
        let faces = reference.face_nodes.as_ref()?;
        if np != n * nt {
            return None;
        }
        let volume = volume_matrices(reference, form, 3);
        let mut entries = Vec::new();
        for m in &volume[..2] {
            entries.extend((0..nt * nt).map(|i| m[(i % nt, i / nt)]));
        }
        // Where the points go, and the triangle's nodes on each side.
        let layer = |q: &usize| *q / nt;
        let (mut place, mut sides, mut ends) = (vec![0; reference.face_points.len()], Vec::new(), [0.0; 2]);
        for (f, nodes) in faces.iter().enumerate() {
            let first = reference.face_offsets[f];
            if nodes.iter().all(|q| layer(q) == layer(&nodes[0])) {
                let end = usize::from(layer(&nodes[0]) != 0);
                ends[end] = reference.lift[(nodes[0], first)];
                for (q, node) in nodes.iter().enumerate() {
                    place[first + q] = end * nt + node % nt;
                }
            } else {
                let mut on_side: Vec<usize> = nodes.iter().filter(|q| layer(q) == 0).copied().collect();
                on_side.sort_unstable();
                let side = sides.len();
                for (q, node) in nodes.iter().enumerate() {
                    let m = on_side.iter().position(|t| *t == node % nt)?;
                    place[first + q] = 2 * nt + (side * n + layer(node)) * n + m;
                }
                for t in &on_side {
                    let q = first + nodes.iter().position(|node| node == t)?;
                    entries.extend((0..nt).map(|row| reference.lift[(row, q)]));
                }
                sides.push(f);
            }
        }
        entries.extend((0..n * n).map(|i| volume[2][(i / n * nt, i % n * nt)]));
        entries.extend(ends);
        let tables = Self { entries, n_nodes: n, n_triangle: nt, place, sides };
        let lift = |i: usize, q: usize| tables.lift(i, q);
        let same = tables.sides.len() == 3
            && agree(&reference.lift, lift)
            && (0..3).all(|d| agree(&volume[d], |i, j| tables.volume(d, i, j)));
        same.then_some(tables)
    }

    /// The macros of prisms.cuh.
    pub(super) fn define(&self, source: Source) -> Source {
        let place: Vec<String> = self.place.iter().map(ToString::to_string).collect();
        source
            .define("NODES", self.n_nodes)
            .define("TRIANGLE", self.n_triangle)
            .define("FACE_PLACE", format!("{{{}}}", place.join(",")))
    }

    /// Entry of the volume matrix of direction `d` as the kernel has it.
    fn volume(&self, d: usize, i: usize, j: usize) -> f64 {
        let (n, nt) = (self.n_nodes, self.n_triangle);
        let ((z, t), (zj, tj)) = ((i / nt, i % nt), (j / nt, j % nt));
        let line = 2 * nt * nt + 3 * n * nt;
        match d {
            2 if t == tj => self.entries[line + z * n + zj],
            0 | 1 if z == zj => self.entries[(d * nt + tj) * nt + t],
            _ => 0.0,
        }
    }

    /// Entry of the lift as the kernel has it.
    fn lift(&self, i: usize, q: usize) -> f64 {
        let (n, nt) = (self.n_nodes, self.n_triangle);
        let (z, t, place) = (i / nt, i % nt, self.place[q]);
        if let Some(p) = place.checked_sub(2 * nt) {
            let (side, layer, m) = (p / (n * n), p / n % n, p % n);
            if z == layer { self.entries[2 * nt * nt + (side * n + m) * nt + t] } else { 0.0 }
        } else {
            let end = place / nt;
            let at = z == end * (n - 1) && t == place % nt;
            if at { self.entries[self.entries.len() - 2 + end] } else { 0.0 }
        }
    }
}

/// Whether a matrix has these entries, but for rounding.
pub(super) fn agree(a: &Matrix, b: impl Fn(usize, usize) -> f64) -> bool {
    let tolerance = ROUNDING * a.max_abs();
    (0..a.rows).all(|i| (0..a.cols).all(|j| (a[(i, j)] - b(i, j)).abs() <= tolerance))
}

/// The kernel of a part whose operators are `tables`; `None` if it does not fit the device.
pub(super) fn text<T: PackScalar>(
    law: &LawText,
    group: &Group<T>,
    part: &Part<T>,
    tables: &PrismTables,
    stage: bool,
) -> Option<KernelText> {
    let sizes = Sizes::new(group, part);
    let (np, fields) = (sizes.np, sizes.fields);
    let elements = elements_near(np, NEAR_THREADS);
    let threads = elements * np;
    let registers = if T::BYTES == 4 { REGISTERS_OF_THREAD_SINGLE } else { REGISTERS_OF_THREAD };
    let blocks = (REGISTERS / (registers * threads.next_multiple_of(32))).clamp(1, 32);
    // The plan of shared memory of prism.cu.
    let shared = tables.entries.len().next_multiple_of(2) + elements * (3 * np + sizes.nf) * fields;
    let shared = T::BYTES * shared;
    if threads > MOST_THREADS || shared > 227 * 1024 {
        return None;
    }
    let body = format!(
        "{}#include \"normals.cuh\"\n#line 1 \"prism.cu\"\n{}",
        law.preamble(),
        include_str!("prism.cu")
    );
    let normals = sizes.curved || part.spec.element.order == 1;
    let source = tables
        .define(sizes.define(source::<T>("prism.cu", body), &group.face_offsets))
        .define("STAGE", u8::from(stage))
        .define("ELEMENTS", elements)
        .define("BLOCKS", blocks)
        .define("NORMALS", u8::from(normals))
        .define("REFERENCE_NORMALS", reference_normals(group.shape));
    let shape = LaunchShape { threads, elements, shared, work: 0, persistent: false };
    Some(KernelText { source, shape, wide: false })
}

#[cfg(test)]
mod tests {
    use super::*;
    use dgsuite_basis::{ElementSpec, NodeSet};

    #[test]
    fn collocated_prisms_are_triangles_times_lines() {
        for order in 1..=5 {
            let spec = ElementSpec::collocated(Shape::Prism, order, NodeSet::GaussLobatto);
            let r = ReferenceElement::new(&spec).unwrap();
            for form in [Form::Weak, Form::Strong] {
                let t = PrismTables::new(&r, form).expect("operators that are products");
                let mut places = t.place.clone();
                places.sort_unstable();
                assert_eq!(places, (0..r.face_points.len()).collect::<Vec<_>>());
            }
        }
        let spec = ElementSpec::over_integrated(Shape::Prism, 2);
        assert_eq!(PrismTables::new(&ReferenceElement::new(&spec).unwrap(), Form::Weak), None);
    }
}
