//! `gauss_gradient.cu` and `gauss_mean_flux.cu`: both passes of diffusion on quadrilaterals and hexahedra with Gauss points.

use crate::cuda::gauss::{self, GaussTables, Room};
use crate::cuda::source::{KernelText, LawText, Sizes};
use crate::group::{Group, Part};
use crate::lifting::penalty;
use crate::scheme::{Form, PartSpec};
use crate::simd::PackScalar;
use dgsuite_basis::{BasisError, ReferenceElement, Shape};

/// Highest order whose gradients and jumps fit the shared memory of a block.
const MOST_PLANAR_ORDER: usize = 9;

/// The operators of both passes of a part, or nothing if these kernels can't run it.
pub(super) struct GaussDiffusion {
    tables: GaussTables,
    /// Those of `gauss.cu`, then the 1-D derivative of values at the points.
    pub(super) entries: Vec<f64>,
}

/// Whether these kernels run the elements of `specs` and want the unknowns one after the other: those of hexahedra do.
///
/// # Errors
/// Those of reference elements.
pub(super) fn is_planar(shape: Shape, specs: [Option<PartSpec>; 2], form: Form) -> Result<bool, BasisError> {
    for spec in specs.into_iter().flatten() {
        let known = spec.element.order <= MOST_PLANAR_ORDER && gauss::knows(spec.rule);
        if !known || GaussTables::new(&ReferenceElement::new(&spec.element)?, form).is_none() {
            return Ok(false);
        }
    }
    Ok(shape == Shape::Hexahedron)
}

impl GaussDiffusion {
    pub(super) fn new<T: PackScalar>(group: &Group<T>, part: &Part<T>, form: Form) -> Option<Self> {
        if !gauss::knows(part.spec.rule) || group.state.planar != (group.shape == Shape::Hexahedron) {
            return None;
        }
        let tables = GaussTables::new(&part.reference, form)?;
        let tensor = part.reference.tensor.as_ref()?;
        let mut entries = tables.entries.clone();
        entries.extend(tensor.derivative.mul(&tensor.mass_project).as_slice());
        Some(Self { tables, entries })
    }

    /// The traces that the first pass reads; `None` if the kernel does not fit the device.
    pub(super) fn traces<T: PackScalar>(
        &self,
        law: &LawText,
        group: &Group<T>,
        part: &Part<T>,
    ) -> Option<KernelText> {
        self.tables.traces(law, group, part)
    }

    /// The first pass; `None` if it does not fit the device.
    pub(super) fn gradient<T: PackScalar>(
        &self,
        law: &LawText,
        group: &Group<T>,
        part: &Part<T>,
    ) -> Option<KernelText> {
        let (s, n) = (Sizes::new(group, part), self.tables.n_nodes);
        // States, gradients or fluxes, half jumps and numerical fluxes.
        let scalars = ((1 + s.dim) * s.np + 2 * s.nf) * s.fields;
        let registers = if T::BYTES == 4 { 80 } else { 128 };
        let room = Room { registers, block: (n * (n | 1)).next_multiple_of(4), element: scalars };
        let body = ("gauss_gradient.cu", include_str!("gauss_gradient.cu"));
        let mut found = self.tables.kernel(body, law, group, part, false, room)?;
        let eta = penalty(group.shape, law.lifts.and_then(|lifts| lifts.eta));
        found.source = found.source.define("ETA", format!("{eta:?}"));
        Some(found)
    }

    /// The second pass, alone or with the stage; `None` if it does not fit the device.
    pub(super) fn mean_flux<T: PackScalar>(
        &self,
        law: &LawText,
        group: &Group<T>,
        part: &Part<T>,
        stage: bool,
    ) -> Option<KernelText> {
        let s = Sizes::new(group, part);
        let scalars = (s.nf + if self.tables.transform { 2 * s.np } else { 0 }) * s.fields;
        let room = Room { registers: if T::BYTES == 4 { 40 } else { 64 }, block: 0, element: scalars };
        let body = ("gauss_mean_flux.cu", include_str!("gauss_mean_flux.cu"));
        self.tables.kernel(body, law, group, part, stage, room)
    }
}
