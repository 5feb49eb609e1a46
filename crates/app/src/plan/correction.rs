//! The correction of flux reconstruction on the shapes of a mesh.

use dgsuite_basis::correction::{Parameter, c_minus};
use dgsuite_basis::{Correction, Shape};
use dgsuite_mesh::SetSize;

use crate::file::problem::InputError;
use crate::file::source::Located;
use crate::pipeline::Pipeline;

/// The shapes whose corrections `shape` uses; none for pyramids, for which no corrections are known.
fn factors(shape: Shape) -> &'static [Shape] {
    match shape {
        Shape::Triangle => &[Shape::Triangle],
        Shape::Tetrahedron => &[Shape::Tetrahedron],
        Shape::Prism => &[Shape::Triangle, Shape::Line],
        Shape::Pyramid => &[],
        _ => &[Shape::Line],
    }
}

/// The lower bound of c on one of these shapes.
fn least(factor: Shape, order: usize) -> f64 {
    c_minus(factor, order).unwrap_or(f64::NEG_INFINITY)
}

/// Returns the correction, which must exist on every shape of the mesh, which has these sets of elements.
///
/// # Errors
/// A shape without corrections, or a c that is unstable on one of the shapes.
pub(super) fn resolve(pipeline: &Pipeline, sets: &[SetSize]) -> Result<Correction, InputError> {
    let Some(parameter) = &pipeline.space.correction else { return Ok(Correction::Dg) };
    for set in sets {
        if factors(set.shape).is_empty() {
            let key = parameter.key.rsplit_once('.').map_or("space", |(section, _)| section);
            let scheme =
                Located { value: "fr", key: format!("{key}.scheme"), place: parameter.place.clone() };
            return Err(InputError::range(&scheme, "dg, as no corrections are known on pyramid elements"));
        }
        for &factor in factors(set.shape) {
            let least = least(factor, pipeline.space.order);
            if let Parameter::C(c) = parameter.value
                && c <= least
            {
                let of = if factor == set.shape { String::new() } else { format!(" (its {factor} factor)") };
                let expected = format!(
                    "dg, sd, hu, or a number above {least:.4e}, the bound of stability on {} elements of order {}{of}",
                    set.shape, pipeline.space.order
                );
                return Err(InputError::range(&parameter.with(c), expected));
            }
        }
    }
    Ok(Correction::Vcjh(parameter.value))
}
