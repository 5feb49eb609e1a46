//! Texts and operators of `quadrilateral.cu` and `hexahedron.cu`: Gauss–Lobatto nodes, collocated.
//!
//! The operators are one matrix along lines, and the lifts at the ends of lines.

use crate::cuda::text::kernel_text::KernelText;
use crate::cuda::text::setting::{Block, File, Setting, list};
use crate::lanes::simd::PackScalar;
use crate::space::scheme::Form;
use dgsuite_basis::{Matrix, ReferenceElement, Shape};

/// The operators of `quadrilateral.cu` and `hexahedron.cu`, and the position of each face.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct TensorTables {
    /// The 1-D matrix by which fluxes along a line are multiplied, `[node × node]`, then the lifts at −1 and
    /// at +1.
    pub(crate) entries: Vec<f64>,
    /// Nodes along a line.
    pub(crate) n_nodes: usize,
    /// For each direction, the faces at −1 and at +1.
    pub(crate) face_at: Vec<[usize; 2]>,
    /// For each direction and end, the point of the face at each of its nodes, counted within the face; nodes
    /// are in the order of their numbers.
    pub(crate) face_point: Vec<Vec<usize>>,
}

impl TensorTables {
    /// The tables of a quadrilateral or hexahedron; `None` unless the element is collocated, in volume and on
    /// faces, at nodes with a diagonal mass matrix that include the ends.
    #[must_use]
    pub(crate) fn new(reference: &ReferenceElement, form: Form) -> Option<Self> {
        let tensor = reference.tensor.as_ref()?;
        let (shape, n) = (reference.spec.shape, tensor.n_basis_1d);
        let identity = Matrix::identity(n);
        let lumped = tensor.interp == identity
            && tensor.mass_project == identity
            && tensor.face_mass_project == identity;
        if !lumped || !matches!(shape, Shape::Quadrilateral | Shape::Hexahedron) {
            return None;
        }
        let face_nodes = reference.face_nodes.as_ref()?;
        let ends = [0, n - 1];
        let only_end = |e: usize| (0..n).all(|i| i == ends[e] || tensor.lift[e][i] == 0.0);
        if !only_end(0) || !only_end(1) {
            return None;
        }
        let lift = [0, 1].map(|e| tensor.lift[e][ends[e]]);
        let line = match form {
            Form::Weak => tensor.project.clone(),
            // −D + L N̂ I_f along the line.
            Form::Strong | Form::Split => Matrix::from_fn(n, n, |i, m| {
                let at = |e: usize| if i == ends[e] && m == ends[e] { lift[e] } else { 0.0 };
                at(1) - at(0) - tensor.derivative[(i, m)]
            }),
        };
        let mut entries = line.as_slice().to_vec();
        entries.extend(lift);
        let mut face_at = vec![[0; 2]; shape.dim()];
        let mut face_point = vec![Vec::new(); shape.n_faces()];
        for (face, nodes) in face_nodes.iter().enumerate() {
            // The coordinate that is equal for all vertices of the face.
            let vertices = shape.face_vertices(face);
            let of = |v: usize, d: usize| shape.vertices()[v][d];
            let d = (0..shape.dim()).find(|&d| vertices.iter().all(|&v| of(v, d) == of(vertices[0], d)))?;
            let end = usize::from(of(vertices[0], d) > 0.0);
            face_at[d][end] = face;
            let mut points: Vec<usize> = (0..nodes.len()).collect();
            points.sort_unstable_by_key(|&q| nodes[q]);
            face_point[2 * d + end] = points;
        }
        Some(Self { entries, n_nodes: n, face_at, face_point })
    }

    /// `face_at` and `face_point` as the macros `FACE_AT` and `FACE_POINT`.
    pub(crate) fn listed_faces(&self) -> (String, String) {
        (list(self.face_at.iter().map(list)), list(self.face_point.iter().map(list)))
    }
}

/// Variants of a kernel; see the heads of quadrilateral.cu and hexahedron.cu.
#[derive(Clone, Copy)]
struct Build {
    /// Approximate number of threads of a block.
    threads: usize,
    /// Limit of registers per thread.
    registers: usize,
    /// Number of directions in which neighbours are loaded early.
    ask: usize,
    /// Whether face points are distributed over all threads.
    deal: bool,
    /// Whether sums along lines use the tensor cores.
    slabs: bool,
    /// Whether normals are computed from the metric; in quadrilateral.cu they always are.
    normals: bool,
    /// When the register is loaded.
    ahead: Ahead,
    /// Whether a node's state stays in registers; in quadrilateral.cu it always does.
    keep: bool,
}

/// When the register is loaded, in the numbering of the kernels; the last is for hexahedron.cu only.
#[derive(Clone, Copy)]
enum Ahead {
    AfterAll = 0,
    BeforeArithmetic = 1,
    BeforeSums = 2,
}

/// Fluxes at the ends of lines; normals from the metric.
const fn ends(registers: usize, ask: usize) -> Build {
    let (deal, slabs, ahead) = (false, false, Ahead::AfterAll);
    Build { threads: 128, registers, ask, deal, slabs, normals: true, ahead, keep: true }
}

/// As [`ends`], with the register loaded early.
const fn early(registers: usize, ask: usize) -> Build {
    Build { ahead: Ahead::BeforeArithmetic, ..ends(registers, ask) }
}

/// Face points distributed over all threads, the register loaded early.
const fn dealt(registers: usize) -> Build {
    Build { deal: true, ..early(registers, 0) }
}

/// Face points distributed over all threads, sums by the tensor cores.
const fn slabs(registers: usize) -> Build {
    Build { slabs: true, ..dealt(registers) }
}

/// The variant for split forms, whose two-point fluxes need registers.
const fn split_build(dim: usize, order: usize) -> Build {
    if dim == 2 {
        ends(128, 0)
    } else if order <= 3 {
        early(128, 0)
    } else {
        dealt(128)
    }
}

/// The variant that was the fastest on an H200 of those tried; tensor cores support double precision only.
const fn build(dim: usize, order: usize, curved: bool, single: bool) -> Build {
    let build = match (dim, order, curved) {
        (2, 1 | 5, false) => early(72, 0),
        (2, 3, false) => ends(64, 2),
        (2, 3 | 7, _) => ends(64, 1),
        (2, _, _) => ends(64, 0),
        (_, 0 | 1, false) => early(96, 3),
        (_, 0..=2, _) => early(96, 0),
        (_, 3, false) => Build { ahead: Ahead::BeforeSums, ..ends(72, 1) },
        (_, 3, _) => dealt(80),
        (_, 4, _) => Build { ahead: Ahead::BeforeSums, ..dealt(80) },
        (_, 5, _) => Build { ahead: Ahead::BeforeSums, ..slabs(80) },
        (_, 6, _) => Build { normals: curved, ..slabs(80) },
        _ => Build { normals: false, ahead: Ahead::BeforeSums, keep: false, ..slabs(64) },
    };
    // A number in single precision takes one register instead of two; tiles of the tensor cores have eight
    // nodes of a line.
    match (single, dim, order, curved) {
        (true, 2, 2, false) => return ends(40, 2),
        (true, 2, 3, _) => return dealt(40),
        _ => {}
    }
    let wide = single && dim == 3 && order >= 3;
    let small = if dim == 2 { order == 3 || order == 7 } else { order <= 3 && !wide };
    let threads = if small { 64 } else { 128 };
    let most = if dim == 2 || order >= 2 { 48 } else { 64 };
    let registers = if single && build.registers > most { most } else { build.registers };
    // This leaves registers for the state, and also for the register of the stage if it is loaded early.
    let build = if wide {
        Build { deal: true, ahead: Ahead::BeforeSums, keep: true, ..build }
    } else if single && dim == 3 {
        Build { ahead: Ahead::BeforeArithmetic, keep: true, ..build }
    } else {
        build
    };
    Build { threads, registers, slabs: build.slabs && !single && order < 8, ..build }
}

/// Stride between planes of a hexahedron in shared memory, as PLANE of hexahedron.cu.
fn plane(n: usize, slabs: bool) -> usize {
    if slabs { (n * n..).find(|p| [4, 12].contains(&(p % 16))).unwrap_or(n * n) } else { n * n }
}

/// Builds the kernel of a part with the operators `tables`; `None` if it does not fit the device.
pub(crate) fn text<T: PackScalar>(
    of: &Setting<'_, T>,
    tables: &TensorTables,
    stage: bool,
) -> Option<KernelText> {
    let sizes = of.sizes();
    let (n, np, fields, dim) = (tables.n_nodes, sizes.np, sizes.fields, sizes.dim);
    let (order, split) = (of.part.spec.element.order, of.law.two_point);
    let build = if split { split_build(dim, order) } else { build(dim, order, sizes.curved, T::BYTES == 4) };
    let block = Block::near(np, build.threads);
    // The layouts of shared memory of the two kernels.
    let nodes = if dim == 3 { n * plane(n, build.slabs) } else { np };
    let rows = if split { 1 } else { dim };
    let faces = if build.deal { sizes.nf } else { 0 };
    let matrix = (n * (n | 1)).next_multiple_of(if sizes.planar { 2 } else { 4 });
    let block = block.room::<T>(matrix, (rows * nodes + faces) * fields);
    let block = if build.slabs { block.whole_warps() } else { block };
    let headers = &["rows.cuh"];
    let file = if sizes.planar {
        File { name: "hexahedron.cu", text: include_str!("hexahedron.cu"), headers }
    } else {
        File { name: "quadrilateral.cu", text: include_str!("quadrilateral.cu"), headers }
    };
    let mut found = of.kernel(file, block, block.by_registers(build.registers))?;
    let (face_at, face_point) = tables.listed_faces();
    found.source = found
        .source
        .define("STAGE", u8::from(stage))
        .define("NODES", n)
        .define("AHEAD", build.ahead as u8)
        .define("KEEP", u8::from(build.keep))
        .define("SPLIT", u8::from(split))
        .define("ASK", build.ask.min(dim))
        .define("DEAL", u8::from(build.deal))
        .define("SLABS", u8::from(build.slabs))
        .define("NORMALS", u8::from(build.normals))
        .define("FACE_AT", face_at)
        .define("FACE_POINT", face_point);
    Some(found)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::space::group::volume_matrices;
    use dgsuite_basis::{ElementSpec, NodeSet};

    /// The matrices that the kernel applies, written explicitly: sums along lines, lifts at their ends.
    #[test]
    fn lines_and_lifts_are_the_dense_matrices() {
        for (shape, order) in [(Shape::Quadrilateral, 1), (Shape::Quadrilateral, 4), (Shape::Hexahedron, 3)] {
            let spec = ElementSpec::collocated(shape, order, NodeSet::GaussLobatto);
            let r = ReferenceElement::new(&spec).unwrap();
            for form in [Form::Weak, Form::Strong] {
                let t = TensorTables::new(&r, form).unwrap();
                let (n, np) = (t.n_nodes, r.n_basis);
                let dense = volume_matrices(&r, form, shape.dim());
                for (d, dense) in dense.iter().enumerate() {
                    let stride = n.pow(d as u32);
                    let along = |i: usize| i / stride % n;
                    let line = Matrix::from_fn(np, np, |i, m| {
                        let same = i - along(i) * stride == m - along(m) * stride;
                        if same { t.entries[along(i) * n + along(m)] } else { 0.0 }
                    });
                    assert!(line.distance(dense) < 1e-11, "{shape:?} {order} {form:?} {d}");
                }
                let face_nodes = r.face_nodes.as_ref().unwrap();
                for (d, end) in (0..shape.dim()).flat_map(|d| [(d, 0), (d, 1)]) {
                    let (f, stride) = (t.face_at[d][end], n.pow(d as u32));
                    // Kernels compute normals from ∇r_d.
                    let out = if end == 0 { -1.0 } else { 1.0 };
                    let normal = crate::space::geometry::reference_normal(shape, f);
                    assert_eq!(normal, [0, 1, 2].map(|x| if x == d { out } else { 0.0 }));
                    // Numbers across the lines in the kernel's order: faster directions first.
                    let number = |node: usize| node / (stride * n) * stride + node % stride;
                    for (b, &q) in t.face_point[2 * d + end].iter().enumerate() {
                        let node = face_nodes[f][q];
                        assert_eq!((node / stride % n, number(node)), (end * (n - 1), b));
                        for i in 0..np {
                            let lift = if i == node { t.entries[n * n + end] } else { 0.0 };
                            assert!((r.lift[(i, r.face_offsets[f] + q)] - lift).abs() < 1e-12 * (1.0 + lift));
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn nodes_inside_the_lines_are_left_to_others() {
        let spec = ElementSpec::collocated(Shape::Hexahedron, 2, NodeSet::GaussLegendre);
        assert_eq!(TensorTables::new(&ReferenceElement::new(&spec).unwrap(), Form::Weak), None);
    }
}
