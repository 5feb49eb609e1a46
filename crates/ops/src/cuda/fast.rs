//! Which fast kernel runs a part, if one does, and its text.

use crate::cuda::element::{self, ElementTables};
use crate::cuda::fragments::SimplexTables;
use crate::cuda::simplex;
use crate::cuda::source::{KernelText, LaunchShape, LawText, Sizes, source};
use crate::cuda::tensor::TensorTables;
use crate::error::OpsError;
use crate::group::{Group, Part, volume_matrices};
use crate::scheme::{Form, MetricRule, PartSpec};
use crate::simd::PackScalar;
use dgsuite_basis::{BasisError, ReferenceElement, Representation, Shape};

/// Lanes of the device's layout of a group whose affine elements are `affine`: a warp's, where a thread works on an
/// element; 1 otherwise.
///
/// # Errors
/// Those of reference elements.
pub(crate) fn lanes<T: PackScalar>(
    shape: Shape,
    affine: Option<&PartSpec>,
    curved: bool,
    form: Form,
) -> Result<usize, BasisError> {
    let Some(spec) = affine.filter(|_| !curved) else { return Ok(1) };
    if !element::is_small(shape, spec.element.order, T::BYTES) {
        return Ok(1);
    }
    let reference = ReferenceElement::new(&spec.element)?;
    let project = volume_matrices(&reference, form, shape.dim());
    Ok(if ElementTables::new(&reference, &project)?.is_some() { element::LANES } else { 1 })
}

/// Whether the fast kernels of affine simplices of `order` want nodal values.
pub(super) const fn wants_nodes<T: PackScalar>(shape: Shape, order: usize) -> bool {
    let simplex = matches!(shape, Shape::Triangle | Shape::Tetrahedron);
    simplex && order > 0 && (T::BYTES == 8 || element::is_small(shape, order, T::BYTES))
}

/// The operators of the fast kernel of a part.
pub(super) enum Fast {
    /// `element.cu`
    Element(ElementTables),
    /// `simplex.cu`
    Simplex(SimplexTables),
    /// `tensor.cu`
    Tensor(TensorTables),
}

impl Fast {
    /// The fast kernel that can run `part`; simplices in double precision only, which the tensor cores have.
    ///
    /// # Errors
    /// Those of reference elements.
    pub(super) fn new<T: PackScalar>(
        law: &LawText,
        group: &Group<T>,
        part: &Part<T>,
        form: Form,
    ) -> Result<Option<Self>, OpsError> {
        if group.state.lanes == element::LANES {
            let project = volume_matrices(&part.reference, form, group.shape.dim());
            return Ok(ElementTables::new(&part.reference, &project)?.map(Self::Element));
        }
        // The kernels read pairs of numbers, which must begin at even places.
        let begin = part.first_block * group.state.lanes * group.state.rows * group.state.fields;
        if !(group.offset + begin).is_multiple_of(2) {
            return Ok(None);
        }
        let found = match group.shape {
            Shape::Triangle | Shape::Tetrahedron if T::BYTES == 8 => Self::simplex(group, part, form)?,
            Shape::Quadrilateral | Shape::Hexahedron if group.face_nodes.is_some() => {
                Self::tensor(part, form)
            }
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

    /// The nodes of each face, where the kernel interpolates face points from them.
    pub(super) fn interpolated_nodes(&self) -> Option<&[Vec<usize>]> {
        match self {
            Self::Element(tables) if tables.face_interp => Some(&tables.face_nodes),
            Self::Simplex(tables) if tables.face_interp => Some(&tables.face_nodes),
            _ => None,
        }
    }

    /// Whether the kernel needs no traces beside the state.
    pub(super) const fn makes_traces(&self) -> bool {
        matches!(self, Self::Element(_) | Self::Simplex(_))
    }

    /// The operators' entries.
    pub(super) fn entries<T: PackScalar>(&self) -> Vec<T> {
        let entries = match self {
            Self::Element(_) => &Vec::new(),
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
            Self::Element(tables) => Some(element::text(law, group, part, tables, stage)),
            Self::Simplex(tables) => simplex::text(law, group, part, tables, stage),
            Self::Tensor(tables) => tensor_text(law, group, part, tables, stage),
        }
    }
}

/// Registers of a multiprocessor, and most threads of a block of the tensor kernel.
const REGISTERS: usize = 65_536;
const MOST_THREADS: usize = 1024;
/// Threads of a block that the tensor kernel aims at.
const NEAR_THREADS: usize = 128;

/// How the tensor kernel is built; see the head of tensor.cu.
#[derive(Clone, Copy)]
struct TensorBuild {
    /// Registers that it is held to.
    registers: usize,
    /// Directions in which neighbours are asked for early.
    ask: usize,
    /// Whether face points are dealt out to all threads.
    deal: bool,
}

/// The build that was fastest on an H200 of those tried.
const fn tensor_build(dim: usize, order: usize) -> TensorBuild {
    let (registers, ask, deal) = match (dim, order) {
        (2, 3 | 7) => (64, 1, false),
        (2, _) => (64, 0, false),
        (_, 0..=3) => (80, 3, false),
        (_, 5 | 6) => (72, 0, true),
        _ => (64, 1, false),
    };
    TensorBuild { registers, ask, deal }
}

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
    let build = tensor_build(sizes.dim, part.spec.element.order);
    let elements = elements_near(np, NEAR_THREADS);
    let threads = elements * np;
    if threads > MOST_THREADS {
        return None;
    }
    let blocks = (REGISTERS / (build.registers * threads.next_multiple_of(32))).clamp(1, 32);
    let staged = !fields.is_multiple_of(2);
    // The plan of shared memory of tensor.cu.
    let even = |x: usize| x.next_multiple_of(2);
    let state = elements * np * fields;
    let mut shared = even(even(n * (n | 1)) + sizes.dim * state);
    if staged {
        shared += 2 * even(state);
    }
    if build.deal {
        shared += elements * sizes.nf * fields;
    }
    let shared = T::BYTES * shared;
    if shared > 227 * 1024 {
        return None;
    }
    let list = |v: &[usize]| {
        let v: Vec<String> = v.iter().map(ToString::to_string).collect();
        format!("{{{}}}", v.join(","))
    };
    let lists = |v: Vec<String>| format!("{{{}}}", v.join(","));
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
        .define("AHEAD", u8::from(staged))
        .define("ASK", build.ask.min(sizes.dim))
        .define("DEAL", u8::from(build.deal))
        .define("FACE_AT", lists(tables.face_at.iter().map(|ends| list(ends)).collect()))
        .define("FACE_POINT", lists(tables.face_point.iter().map(|points| list(points)).collect()));
    let shape = LaunchShape { threads, elements, shared, work: 0, persistent: false };
    Some(KernelText { source, shape })
}
