//! The layout of a group on the device, chosen before its parts exist, for the kernels that will run them.

use crate::cuda::prisms::prism::PrismTables;
use crate::cuda::prisms::prism_cubature::CubatureTables;
use crate::cuda::prisms::{prism_cubature_diffusion, prism_diffusion};
use crate::cuda::simplices::element::{self, ElementTables};
use crate::cuda::tensors::gauss::{self, GaussTables};
use crate::cuda::tensors::tensor::TensorTables;
use crate::cuda::tensors::{gauss_diffusion, tensor_diffusion};
use crate::lanes::simd::PackScalar;
use crate::space::group::volume_matrices;
use crate::space::layout::Wanted;
use crate::space::scheme::{Form, PartSpec};
use dgsuite_basis::{BasisError, ReferenceElement, Shape};

/// Lanes of a group's layout on the device, and whether it is planar. The lanes are those of a warp if one
/// thread processes an element. The layout is planar if one thread processes a node and the unknowns cannot
/// be loaded in pairs. With diffusion, or rows to be added, each block is one element.
///
/// # Errors
/// Errors of reference elements.
pub(crate) fn layout<T: PackScalar>(wanted: &Wanted) -> Result<(usize, bool), BasisError> {
    let Wanted { shape, specs, form, terms, .. } = *wanted;
    if terms.diffusion {
        return Ok((1, is_planar_with_diffusion(shape, specs, form)?));
    }
    let (lanes, planar) = layout_without_terms::<T>(wanted)?;
    Ok((if terms.rows { 1 } else { lanes }, planar))
}

/// As [`layout`], without diffusion and rows.
fn layout_without_terms<T: PackScalar>(wanted: &Wanted) -> Result<(usize, bool), BasisError> {
    let Wanted { shape, specs: [affine, curved], form, fields, .. } = *wanted;
    let Some(spec) = affine.or(curved) else { return Ok((1, false)) };
    match shape {
        Shape::Quadrilateral | Shape::Hexahedron => {
            let (mut known, mut lines) = (false, false);
            for spec in [affine, curved].into_iter().flatten() {
                let reference = ReferenceElement::new(&spec.element)?;
                let tensor = reference.face_nodes.is_some() && TensorTables::new(&reference, form).is_some();
                let gauss = GaussTables::new(&reference, form, spec.rule);
                known |= tensor || gauss.is_some();
                lines |= !tensor && gauss.is_some_and(|tables| tables.transform);
            }
            Ok((1, lines || known && is_planar(shape, fields)))
        }
        Shape::Prism => {
            let reference = ReferenceElement::new(&spec.element)?;
            let known = PrismTables::new(&reference, form).is_some()
                || (gauss::knows(spec.rule, true) && CubatureTables::new(&reference, form).is_some());
            Ok((1, known))
        }
        _ if curved.is_none() && element::is_small(shape, spec.element.order, T::BYTES) => {
            let reference = ReferenceElement::new(&spec.element)?;
            let project = volume_matrices(&reference, form, shape.dim());
            let small = ElementTables::new(&reference, &project)?.is_some();
            Ok((if small { element::LANES } else { 1 }, false))
        }
        _ => Ok((1, false)),
    }
}

/// Whether the unknowns of tensor elements with fast kernels are stored one after the other.
const fn is_planar(shape: Shape, fields: usize) -> bool {
    matches!(shape, Shape::Hexahedron) || !fields.is_multiple_of(2)
}

/// Whether the device's layout is planar for a group with affine and curved elements of the specifications
/// `specs`: if fast kernels run all of them, with one thread per node, and unknowns are not loaded in pairs.
///
/// # Errors
/// Errors of reference elements.
fn is_planar_with_diffusion(
    shape: Shape,
    specs: [Option<PartSpec>; 2],
    form: Form,
) -> Result<bool, BasisError> {
    match shape {
        Shape::Quadrilateral | Shape::Hexahedron => {
            Ok(tensor_diffusion::is_planar(shape, specs, form)? || gauss_diffusion::is_planar(specs, form)?)
        }
        Shape::Prism => {
            Ok(prism_diffusion::is_known(specs, form)? || prism_cubature_diffusion::is_known(specs, form)?)
        }
        _ => Ok(false),
    }
}
