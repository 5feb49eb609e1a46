//! Texts and operators of `prism_gradient.cu` and `prism_mean_flux.cu`: diffusion on collocated prisms.

use crate::cuda::prisms::prism::{PrismTables, agree, side_normals};
use crate::cuda::text::kernel_text::{KernelText, reference_normals};
use crate::cuda::text::passes::Passes;
use crate::cuda::text::setting::{Block, File, Setting};
use crate::lanes::simd::PackScalar;
use crate::space::scheme::{Form, MetricRule, PartSpec};
use dgsuite_basis::{BasisError, ReferenceElement, Shape};

/// Approximate number of threads of a block, in both passes.
const NEAR_THREADS: usize = 160;
/// The highest order whose gradients and jumps fit into the shared memory of a block.
const MOST_ORDER: usize = 7;
/// Limits of registers per thread.
const GRADIENT_REGISTERS: usize = 128;
const MEAN_REGISTERS: usize = 64;

/// The operators of both passes of a part.
pub(crate) struct PrismDiffusion {
    tables: PrismTables,
    /// The operators of `prism.cu`, then the layer's derivatives `[direction][column][row]` and the line's
    /// `[row][column]`.
    entries: Vec<f64>,
}

/// Whether these kernels run the elements of `specs`.
///
/// # Errors
/// Errors of reference elements.
pub(crate) fn is_known(specs: [Option<PartSpec>; 2], form: Form) -> Result<bool, BasisError> {
    for spec in specs.into_iter().flatten() {
        let metric = matches!(spec.rule, MetricRule::Affine | MetricRule::Collocated);
        let known = spec.element.shape == Shape::Prism && spec.element.order <= MOST_ORDER && metric;
        if !known || entries(&ReferenceElement::new(&spec.element)?, form).is_none() {
            return Ok(false);
        }
    }
    Ok(true)
}

/// The tables of `prism.cu`, and the same followed by the derivatives; `None` unless all are products.
fn entries(reference: &ReferenceElement, form: Form) -> Option<(PrismTables, Vec<f64>)> {
    let tables = PrismTables::new(reference, form)?;
    let (n, nt) = (tables.n_nodes, tables.n_triangle);
    let slopes = &reference.derivative;
    let entry = |d: usize, i: usize, j: usize| {
        let ((z, t), (zj, tj)) = ((i / nt, i % nt), (j / nt, j % nt));
        match d {
            2 if t == tj => slopes[2][(z * nt, zj * nt)],
            0 | 1 if z == zj => slopes[d][(t, tj)],
            _ => 0.0,
        }
    };
    if !(0..3).all(|d| agree(&slopes[d], |i, j| entry(d, i, j))) {
        return None;
    }
    let mut all = tables.entries.clone();
    for d in 0..2 {
        all.extend((0..nt * nt).map(|i| entry(d, i % nt, i / nt)));
    }
    all.extend((0..n * n).map(|i| entry(2, i / n * nt, i % n * nt)));
    Some((tables, all))
}

impl PrismDiffusion {
    /// The operators of a part; `None` if these kernels do not support it.
    pub(crate) fn new<T: PackScalar>(of: &Setting<'_, T>, form: Form) -> Option<Self> {
        if !of.group.state.planar || of.group.face_nodes.is_none() {
            return None;
        }
        let (tables, entries) = entries(&of.part.reference, form)?;
        Some(Self { tables, entries })
    }
}

impl<T: PackScalar> Passes<T> for PrismDiffusion {
    fn gradient(&self, of: &Setting<'_, T>) -> Option<Vec<KernelText>> {
        let sizes = of.sizes();
        let block = Block::near(sizes.np, NEAR_THREADS);
        let blocks = block.by_registers(GRADIENT_REGISTERS);
        // The layout of shared memory in prism_gradient.cu.
        let plan = |rooms: usize| {
            let element = (1 + rooms * sizes.dim) * sizes.np + 2 * sizes.nf;
            block.room::<T>(self.entries.len().next_multiple_of(2), element * sizes.fields)
        };
        let separate = plan(2).by_room() >= blocks;
        let file = File {
            name: "prism_gradient.cu",
            text: include_str!("prism_gradient.cu"),
            headers: &["normals.cuh", "published.cuh"],
        };
        let mut found = of.kernel(file, plan(1 + usize::from(separate)), blocks)?;
        found.source = self
            .tables
            .define(found.source)
            .define("STAGE", 0)
            .define("SEPARATE", u8::from(separate))
            .define("NORMALS", u8::from(sizes.curved))
            .define("REFERENCE_NORMALS", reference_normals(of.group.shape))
            .define("SIDE_NORMALS", side_normals(of.group.shape))
            .define("ETA", of.eta());
        Some(vec![found])
    }

    fn mean_flux(&self, of: &Setting<'_, T>, stage: bool) -> Option<KernelText> {
        let sizes = of.sizes();
        // The layout of shared memory in prism_mean_flux.cu.
        let lifts = 3 * self.tables.n_nodes * self.tables.n_triangle;
        let block =
            Block::near(sizes.np, NEAR_THREADS).room::<T>(lifts.next_multiple_of(2), sizes.nf * sizes.fields);
        let file = File {
            name: "prism_mean_flux.cu",
            text: include_str!("prism_mean_flux.cu"),
            headers: &["published.cuh"],
        };
        let mut found = of.kernel(file, block, block.by_registers(MEAN_REGISTERS))?;
        found.source = self.tables.define(found.source).define("STAGE", u8::from(stage));
        Some(found)
    }

    fn into_entries(self) -> Vec<f64> {
        self.entries
    }
}
