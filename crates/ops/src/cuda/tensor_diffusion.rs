//! The texts and launches of `tensor_gradient.cu` and `tensor_mean_flux.cu`: both passes of diffusion on quadrilaterals and
//! hexahedra at Gauss–Lobatto nodes.

use crate::cuda::source::{KernelText, LaunchShape, LawText, Sizes, source};
use crate::cuda::tensor::{TensorTables, elements_near};
use crate::group::{Group, Part};
use crate::lifting::penalty;
use crate::scheme::{Form, MetricRule, PartSpec};
use crate::simd::PackScalar;
use dgsuite_basis::{BasisError, ReferenceElement, Shape};

/// Bytes of shared memory of a multiprocessor that its blocks may have.
const SHARED: usize = 227 * 1024;
/// Registers of a multiprocessor, and most threads of a block.
const REGISTERS: usize = 65_536;
const MOST_THREADS: usize = 1024;
/// Threads of a block that both passes aim at.
const NEAR_THREADS: usize = 128;
/// Highest order whose gradients and jumps fit the shared memory of a block.
const MOST_PLANAR_ORDER: usize = 9;
/// Registers that the second pass is held to.
const MEAN_REGISTERS: usize = 64;

/// Registers that the first pass is held to.
const fn gradient_registers(dim: usize) -> usize {
    if dim == 2 { 80 } else { 128 }
}

/// The operators of both passes of a part, or nothing if these kernels can't run it.
pub(super) struct TensorDiffusion {
    tables: TensorTables,
    /// Those of `tensor.cu`, then the 1-D derivative.
    pub(super) entries: Vec<f64>,
}

/// Whether these kernels run the elements of `specs` and want the unknowns one after the other: those of hexahedra do.
///
/// # Errors
/// Those of reference elements.
pub(super) fn is_planar(shape: Shape, specs: [Option<PartSpec>; 2], form: Form) -> Result<bool, BasisError> {
    for spec in specs.into_iter().flatten() {
        let metric = matches!(spec.rule, MetricRule::Affine | MetricRule::Collocated);
        let known = shape == Shape::Hexahedron && spec.element.order <= MOST_PLANAR_ORDER && metric;
        if !known || TensorTables::new(&ReferenceElement::new(&spec.element)?, form).is_none() {
            return Ok(false);
        }
    }
    Ok(shape == Shape::Hexahedron)
}

impl TensorDiffusion {
    pub(super) fn new<T: PackScalar>(group: &Group<T>, part: &Part<T>, form: Form) -> Option<Self> {
        let metric = matches!(part.spec.rule, MetricRule::Affine | MetricRule::Collocated);
        let laid_out = group.state.planar == (group.shape == Shape::Hexahedron);
        if !metric
            || !laid_out
            || !part.collocated
            || group.face_nodes.is_none()
            || group.state.rows > MOST_THREADS
        {
            return None;
        }
        let tables = TensorTables::new(&part.reference, form)?;
        let mut entries = tables.entries.clone();
        entries.extend(part.reference.tensor.as_ref()?.derivative.as_slice());
        Some(Self { tables, entries })
    }

    /// The first pass; `None` if it does not fit the device.
    pub(super) fn gradient<T: PackScalar>(
        &self,
        law: &LawText,
        group: &Group<T>,
        part: &Part<T>,
    ) -> Option<KernelText> {
        let (sizes, n) = (Sizes::new(group, part), self.tables.n_nodes);
        let elements = elements_near(sizes.np, NEAR_THREADS);
        let registers = gradient_registers(sizes.dim);
        let threads = (elements * sizes.np).next_multiple_of(32);
        let blocks = (REGISTERS / (registers * threads)).max(1);
        // The plan of shared memory of tensor_gradient.cu.
        let moved = usize::from(n == 4 && !law.two_point);
        let (field, apart, face) = match sizes.dim {
            3 => (n * (n * n + moved), 0, n * n + 3 * moved),
            _ => (sizes.np, moved, n),
        };
        let (state, flux) = (sizes.fields * field + apart, sizes.dim * sizes.fields * field + apart);
        let traces = 2 * sizes.fields * sizes.faces * face;
        let gradient = |separate: bool| if separate { sizes.dim * sizes.fields * sizes.np } else { 0 };
        let plan = |separate: bool| {
            T::BYTES * (2 * n * (n | 1) + elements * (state + traces + gradient(separate) + flux))
        };
        let separate = blocks * (plan(true) + 1024) <= SHARED;
        let shared = plan(separate);
        if shared > SHARED {
            return None;
        }
        let text = include_str!("tensor_gradient.cu");
        let mut found = self.text("tensor_gradient.cu", text, law, group, part, elements, registers, shared);
        found.source = found.source.define("SEPARATE", u8::from(separate));
        let eta = law.lifts.and_then(|lifts| lifts.eta);
        found.source =
            found.source.define("STAGE", 0).define("ETA", format!("{:?}", penalty(group.shape, eta)));
        Some(found)
    }

    /// The second pass, alone or with the stage.
    pub(super) fn mean_flux<T: PackScalar>(
        &self,
        law: &LawText,
        group: &Group<T>,
        part: &Part<T>,
        stage: bool,
    ) -> KernelText {
        let sizes = Sizes::new(group, part);
        let elements = elements_near(sizes.np, NEAR_THREADS);
        let text = include_str!("tensor_mean_flux.cu");
        let mut found = self.text("tensor_mean_flux.cu", text, law, group, part, elements, MEAN_REGISTERS, 0);
        found.source = found.source.define("STAGE", u8::from(stage));
        found
    }

    fn text<T: PackScalar>(
        &self,
        name: &str,
        text: &str,
        law: &LawText,
        group: &Group<T>,
        part: &Part<T>,
        elements: usize,
        registers: usize,
        shared: usize,
    ) -> KernelText {
        let sizes = Sizes::new(group, part);
        let threads = elements * sizes.np;
        let blocks = (REGISTERS / (registers * threads.next_multiple_of(32))).clamp(1, 32);
        let headers = "#include \"rows.cuh\"\n#include \"published.cuh\"\n";
        let body = format!("{}{headers}#line 1 \"{name}\"\n{text}", law.preamble());
        let (face_at, face_point) = self.tables.listed_faces();
        let source = sizes
            .define(source::<T>(name, body), &group.face_offsets)
            .define("NODES", self.tables.n_nodes)
            .define("SPLIT", u8::from(law.two_point))
            .define("ELEMENTS", elements)
            .define("BLOCKS", blocks)
            .define("FACE_AT", face_at)
            .define("FACE_POINT", face_point);
        let shape = LaunchShape { threads, elements, shared, work: 0, persistent: false };
        KernelText { source, shape, wide: false }
    }
}
