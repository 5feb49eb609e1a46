//! Texts and operators of `gauss_gradient.cu` and `gauss_mean_flux.cu`: diffusion with Gauss points.
//!
//! Both passes on quadrilaterals and hexahedra.

use crate::cuda::tensors::gauss::GaussTables;
use crate::cuda::text::kernel_text::KernelText;
use crate::cuda::text::passes::Passes;
use crate::cuda::text::setting::{File, Room, Setting};
use crate::lanes::simd::PackScalar;
use crate::space::scheme::{Form, PartSpec};
use dgsuite_basis::{BasisError, ReferenceElement, Shape};

/// The highest order whose gradients and jumps fit into the shared memory of a block.
const MOST_PLANAR_ORDER: usize = 9;

/// The operators of both passes of a part.
pub(crate) struct GaussDiffusion {
    tables: GaussTables,
    /// The operators of `gauss.cu`, then the 1-D derivative of values at the points.
    entries: Vec<f64>,
}

/// Whether these kernels run the elements of `specs` with contiguous unknowns: they do on hexahedra, unless
/// there are more points than functions; then it depends on the mesh whether the universal kernels run them.
///
/// # Errors
/// Errors of reference elements.
pub(crate) fn is_planar(shape: Shape, specs: [Option<PartSpec>; 2], form: Form) -> Result<bool, BasisError> {
    for spec in specs.into_iter().flatten() {
        let known = spec.element.order <= MOST_PLANAR_ORDER;
        let tables = GaussTables::new(&ReferenceElement::new(&spec.element)?, form, spec.rule);
        if !known || tables.is_none_or(|tables| tables.is_over_integrated()) {
            return Ok(false);
        }
    }
    Ok(shape == Shape::Hexahedron)
}

impl GaussDiffusion {
    /// Returns `None` if these kernels do not support the part. With more points than functions, the mesh
    /// must have no boundaries: jumps are lifted from their values at the points, which is exact only if they
    /// are polynomials in the space, as between elements but not on boundaries.
    pub(crate) fn new<T: PackScalar>(of: &Setting<'_, T>, form: Form) -> Option<Self> {
        let Setting { law, group, part } = *of;
        let tables = GaussTables::new(&part.reference, form, part.spec.rule)?;
        let over = tables.is_over_integrated();
        let planar = group.shape == Shape::Hexahedron && !over;
        if group.state.planar != planar || (over && law.boundaries) {
            return None;
        }
        let tensor = part.reference.tensor.as_ref()?;
        let mut entries = tables.entries.clone();
        entries.extend(tensor.derivative.mul(&tensor.mass_project).as_slice());
        Some(Self { tables, entries })
    }

    /// The kernel of the traces that the first pass reads; `None` if it does not fit the device.
    pub(crate) fn traces<T: PackScalar>(&self, of: &Setting<'_, T>) -> Option<KernelText> {
        self.tables.traces(of)
    }
}

impl<T: PackScalar> Passes<T> for GaussDiffusion {
    fn gradient(&self, of: &Setting<'_, T>) -> Option<Vec<KernelText>> {
        let (s, n) = (of.sizes(), self.tables.n_nodes);
        // States, gradients or fluxes, half jumps and numerical fluxes.
        let element = ((1 + s.dim) * s.nq + 2 * s.nf) * s.fields;
        let registers = if T::BYTES == 4 { 80 } else { 128 };
        let room = Room { registers, block: (n * (n | 1)).next_multiple_of(4), element };
        let file = File {
            name: "gauss_gradient.cu",
            text: include_str!("gauss_gradient.cu"),
            headers: &["published.cuh"],
        };
        let mut found = self.tables.kernel(of, file, false, room)?;
        found.source = found.source.define("ETA", of.eta());
        Some(vec![found])
    }

    fn mean_flux(&self, of: &Setting<'_, T>, stage: bool) -> Option<KernelText> {
        let s = of.sizes();
        let element = (s.nf + if self.tables.transform { 2 * s.nq } else { 0 }) * s.fields;
        let room = Room { registers: if T::BYTES == 4 { 40 } else { 64 }, block: 0, element };
        let file = File {
            name: "gauss_mean_flux.cu",
            text: include_str!("gauss_mean_flux.cu"),
            headers: &["published.cuh"],
        };
        self.tables.kernel(of, file, stage, room)
    }

    fn into_entries(self) -> Vec<f64> {
        self.entries
    }
}
