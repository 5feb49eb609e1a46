//! Texts and operators of `tensor_gradient.cu` and `tensor_mean_flux.cu`: diffusion at Gauss–Lobatto nodes.
//!
//! Both passes on quadrilaterals and hexahedra.

use crate::cuda::tensors::tensor::TensorTables;
use crate::cuda::text::kernel_text::KernelText;
use crate::cuda::text::passes::Passes;
use crate::cuda::text::setting::{Block, File, Setting};
use crate::lanes::simd::PackScalar;
use crate::space::scheme::{Form, MetricRule, PartSpec};
use dgsuite_basis::{BasisError, ReferenceElement, Shape};

/// Approximate number of threads of a block, in both passes.
const NEAR_THREADS: usize = 128;
/// The highest order whose gradients and jumps fit into the shared memory of a block.
const MOST_PLANAR_ORDER: usize = 9;
/// Limit of registers per thread of the second pass.
const MEAN_REGISTERS: usize = 64;

/// Limit of registers per thread of the first pass.
const fn gradient_registers(dim: usize) -> usize {
    if dim == 2 { 80 } else { 128 }
}

/// The operators of both passes of a part.
pub(crate) struct TensorDiffusion {
    tables: TensorTables,
    /// The operators of `quadrilateral.cu`, then the 1-D derivative.
    entries: Vec<f64>,
}

/// Whether these kernels run the elements of `specs` with contiguous unknowns: they do on hexahedra.
///
/// # Errors
/// Errors of reference elements.
pub(crate) fn is_planar(shape: Shape, specs: [Option<PartSpec>; 2], form: Form) -> Result<bool, BasisError> {
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
    pub(crate) fn new<T: PackScalar>(of: &Setting<'_, T>, form: Form) -> Option<Self> {
        let Setting { group, part, .. } = *of;
        let metric = matches!(part.spec.rule, MetricRule::Affine | MetricRule::Collocated);
        let laid_out = group.state.planar == (group.shape == Shape::Hexahedron);
        if !metric || !laid_out || !part.collocated || group.face_nodes.is_none() {
            return None;
        }
        let tables = TensorTables::new(&part.reference, form)?;
        let mut entries = tables.entries.clone();
        entries.extend(part.reference.tensor.as_ref()?.derivative.as_slice());
        Some(Self { tables, entries })
    }

    fn kernel<T: PackScalar>(
        &self,
        of: &Setting<'_, T>,
        file: File,
        block: Block,
        registers: usize,
        stage: bool,
    ) -> Option<KernelText> {
        let mut found = of.kernel(file, block, block.by_registers(registers))?;
        let (face_at, face_point) = self.tables.listed_faces();
        found.source = found
            .source
            .define("STAGE", u8::from(stage))
            .define("NODES", self.tables.n_nodes)
            .define("SPLIT", u8::from(of.law.two_point))
            .define("FACE_AT", face_at)
            .define("FACE_POINT", face_point);
        Some(found)
    }
}

impl<T: PackScalar> Passes<T> for TensorDiffusion {
    fn gradient(&self, of: &Setting<'_, T>) -> Option<Vec<KernelText>> {
        let (sizes, n) = (of.sizes(), self.tables.n_nodes);
        let block = Block::near(sizes.np, NEAR_THREADS);
        let registers = gradient_registers(sizes.dim);
        // The layout of shared memory in tensor_gradient.cu.
        let moved = usize::from(n == 4 && !of.law.two_point);
        let (field, apart, face) = match sizes.dim {
            3 => (n * (n * n + moved), 0, n * n + 3 * moved),
            _ => (sizes.np, moved, n),
        };
        let (state, flux) = (sizes.fields * field + apart, sizes.dim * sizes.fields * field + apart);
        let traces = 2 * sizes.fields * sizes.faces * face;
        let plan = |gradient: usize| block.room::<T>(2 * n * (n | 1), state + traces + gradient + flux);
        let separate = plan(sizes.dim * sizes.fields * sizes.np);
        let is_separate = separate.by_room() >= block.by_registers(registers);
        let block = if is_separate { separate } else { plan(0) };
        let file = File {
            name: "tensor_gradient.cu",
            text: include_str!("tensor_gradient.cu"),
            headers: &["rows.cuh", "published.cuh"],
        };
        let mut found = self.kernel(of, file, block, registers, false)?;
        found.source = found.source.define("SEPARATE", u8::from(is_separate)).define("ETA", of.eta());
        Some(vec![found])
    }

    fn mean_flux(&self, of: &Setting<'_, T>, stage: bool) -> Option<KernelText> {
        let file = File {
            name: "tensor_mean_flux.cu",
            text: include_str!("tensor_mean_flux.cu"),
            headers: &["rows.cuh", "published.cuh"],
        };
        self.kernel(of, file, Block::near(of.sizes().np, NEAR_THREADS), MEAN_REGISTERS, stage)
    }

    fn into_entries(self) -> Vec<f64> {
        self.entries
    }
}
