//! Which fast kernel runs a part, if one does, and its text.

use crate::cuda::fragments::SimplexTables;
use crate::cuda::simplex;
use crate::cuda::source::{KernelText, LaunchShape, LawText, Sizes, source};
use crate::cuda::tensor::TensorTables;
use crate::error::OpsError;
use crate::group::{Group, Part, volume_matrices};
use crate::scheme::{Form, MetricRule};
use crate::simd::PackScalar;
use dgsuite_basis::{Representation, Shape};

/// The operators of the fast kernel of a part.
pub(super) enum Fast {
    /// `simplex.cu`
    Simplex(SimplexTables),
    /// `tensor.cu`
    Tensor(TensorTables),
}

impl Fast {
    /// The fast kernel that can run `part`; double precision only.
    ///
    /// # Errors
    /// Those of reference elements.
    pub(super) fn new<T: PackScalar>(
        law: &LawText,
        group: &Group<T>,
        part: &Part<T>,
        form: Form,
    ) -> Result<Option<Self>, OpsError> {
        // The kernels read pairs of numbers, which must begin at even places.
        let begin = part.first_block * group.state.lanes * group.state.rows * group.state.fields;
        if T::BYTES != 8 || !(group.offset + begin).is_multiple_of(2) {
            return Ok(None);
        }
        let found = match group.shape {
            Shape::Triangle | Shape::Tetrahedron => Self::simplex(group, part, form)?,
            Shape::Quadrilateral | Shape::Hexahedron => Self::tensor(part, form),
            _ => None,
        };
        Ok(found.filter(|fast| fast.text(law, group, part, true).is_some()))
    }

    fn simplex<T: PackScalar>(
        group: &Group<T>,
        part: &Part<T>,
        form: Form,
    ) -> Result<Option<Self>, OpsError> {
        let Representation::Nodal(nodes) = part.spec.element.representation else { return Ok(None) };
        // Curved elements would read traces that nobody has written, unless traces are nodal values.
        let alone = group.parts.len() == 1 || group.face_nodes.is_some();
        if part.spec.rule != MetricRule::Affine || group.state.rows < 3 || !alone {
            return Ok(None);
        }
        let project = volume_matrices(&part.reference, form, group.shape.dim());
        Ok(SimplexTables::new(&part.reference, nodes, &project)?.map(Self::Simplex))
    }

    fn tensor<T: PackScalar>(part: &Part<T>, form: Form) -> Option<Self> {
        let metric = matches!(part.spec.rule, MetricRule::Affine | MetricRule::Collocated);
        if !metric || !part.collocated {
            return None;
        }
        TensorTables::new(&part.reference, form).map(Self::Tensor)
    }

    /// The operators' entries.
    pub(super) fn entries<T: PackScalar>(&self) -> Vec<T> {
        let entries = match self {
            Self::Simplex(tables) => &tables.entries,
            Self::Tensor(tables) => &tables.entries,
        };
        entries.iter().map(|&x| T::from_f64(x)).collect()
    }

    /// The text; `None` if the kernel does not fit the device.
    pub(super) fn text<T: PackScalar>(
        &self,
        law: &LawText,
        group: &Group<T>,
        part: &Part<T>,
        stage: bool,
    ) -> Option<KernelText> {
        match self {
            Self::Simplex(tables) => simplex::text(law, group, part, tables, stage),
            Self::Tensor(tables) => tensor_text(law, group, part, tables, stage),
        }
    }
}

/// Registers that the tensor kernel is held to.
const TENSOR_REGISTERS: usize = 80;
/// Registers of a multiprocessor, and most threads of a block of the tensor kernel.
const REGISTERS: usize = 65_536;
const MOST_THREADS: usize = 1024;

/// Elements of a block of `np` threads each, near `threads` in all with few idle lanes.
fn elements_near(np: usize, threads: usize) -> usize {
    let warps = |e: usize| (e * np).next_multiple_of(32);
    let quality = |e: usize| (e * np) as f64 / warps(e) as f64 + 0.02 * (e * np) as f64 / threads as f64;
    (1..=(threads / np).max(1)).max_by(|&a, &b| quality(a).total_cmp(&quality(b))).unwrap_or(1)
}

fn tensor_text<T: PackScalar>(
    law: &LawText,
    group: &Group<T>,
    part: &Part<T>,
    tables: &TensorTables,
    stage: bool,
) -> Option<KernelText> {
    let sizes = Sizes::new(group, part);
    let (n, np, fields) = (tables.n_nodes, sizes.np, sizes.fields);
    // Quadrilaterals are short of latency hiding, hexahedra of registers: measured on an H200.
    let registers = if sizes.dim == 2 { 64 } else { TENSOR_REGISTERS };
    let near = if sizes.dim == 3 && (2..=4).contains(&(n - 1)) { 256 } else { 128 };
    let elements = elements_near(np, near);
    let threads = elements * np;
    if threads > MOST_THREADS {
        return None;
    }
    let blocks = (REGISTERS / (registers * threads.next_multiple_of(32))).clamp(1, 32);
    let staged = !fields.is_multiple_of(2);
    let ahead = staged && np < 512;
    // The plan of shared memory of tensor.cu.
    let even = |x: usize| x.next_multiple_of(2);
    let state = elements * np * fields;
    let mut shared = even(n * (n | 1) + 2) + sizes.dim * state;
    shared = even(shared + elements * sizes.nf * fields);
    if staged {
        shared += even(state) * if ahead { 2 } else { 1 };
    }
    let shared = 8 * shared + 16;
    if shared > 227 * 1024 {
        return None;
    }
    let list = |v: &[usize]| {
        let v: Vec<String> = v.iter().map(ToString::to_string).collect();
        format!("{{{}}}", v.join(","))
    };
    let body = format!(
        "{}#include \"rows.cuh\"\n#line 1 \"tensor.cu\"\n{}",
        law.preamble(),
        include_str!("tensor.cu")
    );
    let source = sizes
        .define(source::<T>("tensor.cu", body), &group.face_offsets)
        .define("STAGE", u8::from(stage))
        .define("NODES", n)
        .define("ELEMENTS", elements)
        .define("BLOCKS", blocks)
        .define("AHEAD", u8::from(ahead))
        .define("FACE_DIRECTION", list(&tables.face_direction))
        .define("FACE_END", list(&tables.face_end));
    let shape = LaunchShape { threads, elements, shared, work: 0, persistent: false };
    Some(KernelText { source, shape })
}
