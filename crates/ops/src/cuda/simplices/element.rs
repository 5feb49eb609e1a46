//! Text and operators of `element.cu`: small affine simplices, one thread per element, layouts of 32 lanes.

use crate::cuda::simplices::fragments::{face_interpolation, face_nodes};
use crate::cuda::text::kernel_text::{KernelText, LaunchShape, Sizes, reference_normals};
use crate::cuda::text::literals::{braces, matrix};
use crate::cuda::text::setting::{File, Setting};
use crate::lanes::simd::PackScalar;
use dgsuite_basis::{BasisError, Matrix, ReferenceElement, Representation, Shape};

/// Elements of a block of the layout: one per thread of a warp.
pub(crate) const LANES: usize = 32;
/// Threads of a block.
const THREADS: usize = 128;

/// Whether an element of `order` fits into the registers of a thread and this kernel was the fastest on an
/// H200 of those tried; `bytes` of a number.
pub(crate) const fn is_small(shape: Shape, order: usize, bytes: usize) -> bool {
    match (shape, bytes) {
        (Shape::Triangle, 8) => order <= 2,
        (Shape::Triangle, _) => order <= 4,
        (Shape::Tetrahedron, _) => order <= 1,
        _ => false,
    }
}

/// The macros of `element.cu` that contain operators, and the nodes of the faces.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ElementTables {
    /// Name and text of each macro.
    pub(crate) macros: Vec<(&'static str, String)>,
    /// The nodes of each face, in the order of the face's frame.
    pub(crate) face_nodes: Vec<Vec<usize>>,
    /// Whether face points are interpolated from face nodes.
    pub(crate) face_interp: bool,
}

impl ElementTables {
    /// The operators of a nodal element, or of constants. `project` are the matrices by which the fluxes of
    /// each direction are multiplied, `[basis function × volume point]`.
    ///
    /// Returns `None` if the kernel does not support the element: if faces differ, or if traces depend on
    /// more than the nodes on them.
    ///
    /// # Errors
    /// As [`ReferenceElement::new`], if the shape has no such nodes.
    pub(crate) fn new(reference: &ReferenceElement, project: &[Matrix]) -> Result<Option<Self>, BasisError> {
        // The only coefficient of a constant belongs to every face.
        let nodes = match reference.spec.representation {
            _ if reference.n_basis == 1 => Some(vec![vec![0]; reference.spec.shape.n_faces()]),
            Representation::Nodal(set) => face_nodes(reference, set)?,
            _ => None,
        };
        let Some(nodes) = nodes else { return Ok(None) };
        let Some(interp) = face_interpolation(reference, &nodes) else { return Ok(None) };
        let lift = reference.face_offsets.windows(2).map(|range| {
            Matrix::from_fn(reference.n_basis, range[1] - range[0], |i, k| reference.lift[(i, range[0] + k)])
        });
        let indices = nodes.iter().map(|face| braces(face.iter().map(ToString::to_string)));
        let macros = vec![
            ("FACE_NODE", braces(indices)),
            ("INTERP", matrix(&reference.interp_volume)),
            ("PROJECT", braces(project.iter().map(matrix))),
            ("LIFT", braces(lift.map(|l| matrix(&l)))),
            ("FACE_INTERP", matrix(&interp)),
        ];
        let face_interp = reference.face_nodes.is_none();
        Ok(Some(Self { macros, face_nodes: nodes, face_interp }))
    }
}

/// Builds the kernel of an affine part with the operators `tables`.
pub(crate) fn text<T: PackScalar>(of: &Setting<'_, T>, tables: &ElementTables, stage: bool) -> KernelText {
    let sizes = Sizes { direct: true, ..of.sizes() };
    let scalars = sizes.np * sizes.fields;
    // Blocks per multiprocessor: fewer if states need more registers.
    let words = scalars * T::BYTES / 4;
    let blocks = match (T::BYTES, words) {
        (_, 0..=8) | (4, 0..=24) => 4,
        (8, 0..=39) | (4, 0..=40) => 3,
        _ => 2,
    };
    let file = File { name: "element.cu", text: include_str!("element.cu"), headers: &["normals.cuh"] };
    let mut source = of
        .with_sizes(file, &sizes)
        .define("STAGE", u8::from(stage))
        .define("FACE_NODES", tables.face_nodes[0].len())
        .define("FACE_POINTS", of.group.face_offsets[1])
        .define(
            "FACE_SUM",
            if tables.face_interp && tables.face_nodes[0].len() > 1 { "real(0)" } else { "EMPTY" },
        )
        .define("BLOCK", THREADS)
        .define("BLOCKS", blocks)
        .define("AHEAD", 1)
        .define("NORMALS", 1)
        .define("REFERENCE_NORMALS", reference_normals(of.group.shape));
    for (name, value) in &tables.macros {
        source = source.define(*name, value);
    }
    let shape = LaunchShape { threads: THREADS, elements: THREADS, shared: 0, work: 0, persistent: false };
    KernelText::new(source, shape, false)
}

#[cfg(test)]
mod tests {
    use super::*;
    use dgsuite_basis::{ElementSpec, NodeSet};

    #[test]
    fn literals_read_back_to_the_same_bits_but_for_rounding() {
        let spec = ElementSpec::collocated(Shape::Triangle, 2, NodeSet::WarpBlend);
        let r = ReferenceElement::new(&spec).unwrap();
        let t = ElementTables::new(&r, &r.project).unwrap().unwrap();
        let (_, text) = t.macros.iter().find(|(name, _)| *name == "PROJECT").unwrap();
        let numbers =
            text.split(['{', '}', ',', ' ']).filter(|s| !s.is_empty()).map(|s| s.parse::<f64>().unwrap());
        let exact = r.project.iter().flat_map(|p| p.as_slice().iter().copied());
        let same = |x: f64, exact: f64| x.to_bits() == exact.to_bits() || x == 0.0 && exact.abs() < 1e-13;
        assert!(numbers.clone().zip(exact).all(|(x, exact)| same(x, exact)));
        assert_eq!(numbers.count(), 2 * 6 * 6);
        assert_eq!((t.face_nodes.len(), t.face_interp), (3, false));
    }
}
