//! Text and operators of `prism.cu`: collocated prisms, with operators of a triangle and of a line.

use crate::cuda::text::kernel_text::{KernelText, reference_normals};
use crate::cuda::text::setting::{Block, File, Setting, list};
use crate::lanes::simd::PackScalar;
use crate::space::geometry::reference_normal;
use crate::space::group::volume_matrices;
use crate::space::scheme::Form;
use dgsuite_basis::{Cubature, Matrix, ReferenceElement, Shape};
use dgsuite_gpu::cuda::Source;

/// Limit of registers per thread.
const REGISTERS_OF_THREAD: usize = 80;
const REGISTERS_OF_THREAD_SINGLE: usize = 64;
/// Approximate number of threads of a block.
const NEAR_THREADS: usize = 160;
/// Largest error of an entry of a product, as a fraction of the largest entry of the matrix.
const ROUNDING: f64 = 1e-11;

/// The operators of `prism.cu` and the position of each face point.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct PrismTables {
    /// The layer's matrices `[direction][column][row]`, the lifts of the sides `[side][number][row]`, the
    /// line's matrix `[row][column]`, the lifts of the lower and upper face.
    pub(crate) entries: Vec<f64>,
    /// Nodes along a line.
    pub(crate) n_nodes: usize,
    /// Nodes of a layer.
    pub(crate) n_triangle: usize,
    /// Destination of the flux of each face point: nodes of the lower and of the upper layer, then
    /// `[side][layer][number]`.
    pub(crate) place: Vec<usize>,
    /// The faces that are sides, in the order of the tables.
    pub(crate) sides: Vec<usize>,
}

impl PrismTables {
    /// The tables of a prism; `None` unless it is collocated, in volume and on faces, and its operators are
    /// products.
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
        // Destinations of the points, and the triangle's nodes on each side.
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
    pub(crate) fn define(&self, source: Source) -> Source {
        source
            .define("NODES", self.n_nodes)
            .define("TRIANGLE", self.n_triangle)
            .define("FACE_PLACE", list(&self.place))
    }

    /// Entry of the volume matrix of direction `d`, as the kernel applies it.
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

    /// Entry of the lift, as the kernel applies it.
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

/// Whether a matrix has these entries up to rounding.
pub(crate) fn agree(a: &Matrix, b: impl Fn(usize, usize) -> f64) -> bool {
    let tolerance = ROUNDING * a.max_abs();
    (0..a.rows).all(|i| (0..a.cols).all(|j| (a[(i, j)] - b(i, j)).abs() <= tolerance))
}

/// `N̂` of the sides in the plane of the triangle; the component along the line is 0.
pub(crate) fn side_normals(shape: Shape) -> String {
    let normals = (0..shape.n_faces()).map(|f| reference_normal(shape, f)).filter(|n| n[2] == 0.0);
    list(normals.map(|n| list([n[0], n[1]].map(|x| x.round() as i64))))
}

/// Builds the kernel of a part with the operators `tables`; `None` if it does not fit the device.
pub(crate) fn text<T: PackScalar>(
    of: &Setting<'_, T>,
    tables: &PrismTables,
    stage: bool,
) -> Option<KernelText> {
    let sizes = of.sizes();
    let registers = if T::BYTES == 4 { REGISTERS_OF_THREAD_SINGLE } else { REGISTERS_OF_THREAD };
    // The layout of shared memory in prism.cu.
    let block = Block::near(sizes.np, NEAR_THREADS)
        .room::<T>(tables.entries.len().next_multiple_of(2), (3 * sizes.np + sizes.nf) * sizes.fields);
    let file = File { name: "prism.cu", text: include_str!("prism.cu"), headers: &["normals.cuh"] };
    let mut found = of.kernel(file, block, block.by_registers(registers))?;
    let normals = sizes.curved || of.part.spec.element.order == 1;
    found.source = tables
        .define(found.source)
        .define("STAGE", u8::from(stage))
        .define("NORMALS", u8::from(normals))
        .define("REFERENCE_NORMALS", reference_normals(of.group.shape));
    Some(found)
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
