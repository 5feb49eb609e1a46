//! Texts and operators of `gauss_gradient.cu` and `gauss_mean_flux.cu`: diffusion with Gauss points.
//!
//! Both passes on quadrilaterals and hexahedra.

use crate::cuda::tensors::gauss::{GaussTables, NEAR_THREADS, grid};
use crate::cuda::text::kernel_text::KernelText;
use crate::cuda::text::literals::matrix;
use crate::cuda::text::passes::Passes;
use crate::cuda::text::setting::{Block, File, Phase, Setting};
use crate::lanes::simd::PackScalar;
use crate::space::scheme::{Form, PartSpec};
use dgsuite_basis::{BasisError, Matrix, ReferenceElement};

/// The highest order whose gradients and jumps fit into the shared memory of a block.
const MOST_PLANAR_ORDER: usize = 9;

/// The operators of both passes of a part.
pub(crate) struct GaussDiffusion {
    tables: GaussTables,
    /// The 1-D derivative of values at the points.
    derivative: Matrix,
    /// The lifting of the unit jump of an end at this end.
    own: [f64; 2],
}

/// Whether these kernels run the elements of `specs` with contiguous unknowns: they do, unless there are more
/// points than functions; then it depends on the mesh whether the universal kernels run them.
///
/// # Errors
/// Errors of reference elements.
pub(crate) fn is_planar(specs: [Option<PartSpec>; 2], form: Form) -> Result<bool, BasisError> {
    for spec in specs.into_iter().flatten() {
        let known = spec.element.order <= MOST_PLANAR_ORDER;
        let tables = GaussTables::new(&ReferenceElement::new(&spec.element)?, form, spec.rule);
        if !known || tables.is_none_or(|tables| tables.is_over_integrated()) {
            return Ok(false);
        }
    }
    Ok(true)
}

impl GaussDiffusion {
    /// Returns `None` if these kernels do not support the part. With more points than functions, the mesh
    /// must have no boundaries: jumps are lifted from their values at the points, which is exact only if they
    /// are polynomials in the space, as between elements but not on boundaries.
    pub(crate) fn new<T: PackScalar>(of: &Setting<'_, T>, form: Form) -> Option<Self> {
        let Setting { law, part, .. } = *of;
        let tables = GaussTables::new(&part.reference, form, part.spec.rule)?;
        if tables.is_over_integrated() && law.boundaries {
            return None;
        }
        let tensor = part.reference.tensor.as_ref()?;
        let derivative = tensor.derivative.mul(&tensor.mass_project);
        let own = tables.own_lifts();
        Some(Self { tables, derivative, own })
    }

    /// The kernel of the traces that the first pass reads; `None` if it does not fit the device.
    pub(crate) fn traces<T: PackScalar>(&self, of: &Setting<'_, T>) -> Option<KernelText> {
        self.tables.traces(of)
    }
}

impl<T: PackScalar> Passes<T> for GaussDiffusion {
    fn gradient(&self, of: &Setting<'_, T>) -> Option<Vec<KernelText>> {
        let (s, n) = (of.sizes(), self.tables.n_nodes);
        // Values, slopes or fluxes, half jumps.
        let element = ((1 + s.dim) * grid(n, s.dim) + s.nf) * s.fields;
        let registers = if T::BYTES == 4 { 64 } else { 96 };
        // Costs are scalars of shared memory that are read or written, and some for the formulas.
        let lines = s.fields * s.nf / (2 * s.dim);
        let phases = [
            Phase { items: s.dim * lines, cost: 2 * n },
            Phase { items: s.nf, cost: s.fields * (n * (1 + s.dim) + 8) },
            Phase { items: s.nq, cost: s.fields * (8 + 4 * s.dim) },
            Phase { items: lines, cost: s.dim * 7 * n },
        ];
        let block = Block::of_phases::<T>(&phases, registers, 2 * n, element);
        let file = File {
            name: "gauss_gradient.cu",
            text: include_str!("gauss_gradient.cu"),
            headers: &["published.cuh"],
        };
        let mut found = self.tables.kernel_of_lines(of, file, registers, block)?;
        let [first, second] = self.own;
        let eta = of.eta();
        found.source = found
            .source
            .define("STAGE", 0)
            .define("DERIVE", matrix(&self.derivative))
            .define("OWN", format!("{{-({eta}) * {first:e}, ({eta}) * {second:e}}}"));
        Some(vec![found])
    }

    fn mean_flux(&self, of: &Setting<'_, T>, stage: bool) -> Option<KernelText> {
        let (s, n) = (of.sizes(), self.tables.n_nodes);
        let faces = if s.dim == 3 { 6 * n } else { 4 } * (n | 1);
        let rates = if s.curved && self.tables.transform { grid(n, s.dim) } else { 0 };
        let block =
            Block::near(s.np, NEAR_THREADS).whole_warps().room::<T>(2 * n, (faces + rates) * s.fields);
        let file = File {
            name: "gauss_mean_flux.cu",
            text: include_str!("gauss_mean_flux.cu"),
            headers: &["published.cuh"],
        };
        let registers = if T::BYTES == 4 { 40 } else { 64 };
        let mut found = self.tables.kernel_of_lines(of, file, registers, block)?;
        found.source = found
            .source
            .define("STAGE", u8::from(stage))
            .define("LIFT_BACK", matrix(&self.tables.lifts_as_coefficients()));
        Some(found)
    }

    fn into_entries(self) -> Vec<f64> {
        self.tables.entries
    }
}
