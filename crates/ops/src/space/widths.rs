//! Filter widths of the elements, and the coefficient of diffusion that follows from them.

use crate::error::OpsError;
use crate::lanes::simd::PackScalar;
use crate::space::group::Group;
use dgsuite_mesh::Mesh;
use dgsuite_physics::formula::Formula;

/// Computes the filter width of each element, by global index:
///
/// ```text
/// Δ = |E|^{1/d}/(p + 1)
/// ```
///
/// with the polynomial degree `p` of the solution, or the value of `length`, a formula of the variables `x`,
/// `y`, `z` (the mean of the element's nodes) and `delta` (the width `Δ` above), in this order. Lengths have
/// the unit of the mesh.
///
/// # Errors
/// [`OpsError::Width`] if a width is not positive or not finite.
pub fn filter_widths(mesh: &Mesh, order: usize, length: Option<&Formula>) -> Result<Vec<f64>, OpsError> {
    let mut widths: Vec<f64> = mesh
        .volumes()
        .iter()
        .map(|volume| if mesh.dim == 2 { volume.sqrt() } else { volume.cbrt() } / (order + 1) as f64)
        .collect();
    let Some(formula) = length else { return Ok(widths) };
    for set in &mesh.sets {
        let nodes = set.nodes.chunks(set.nodes_per_element());
        for ((nodes, width), tag) in nodes.zip(&mut widths[set.first..]).zip(&set.tags) {
            let mean = |d: usize| {
                nodes.iter().map(|&i| mesh.points[i as usize][d]).sum::<f64>() / nodes.len() as f64
            };
            *width = formula.eval(&[mean(0), mean(1), mean(2), *width]);
            if !(*width > 0.0 && width.is_finite()) {
                return Err(OpsError::Width { element: *tag, width: *width });
            }
        }
    }
    Ok(widths)
}

/// Sets the coefficients of a group's slots; `coefficient` is that of an element from its filter width, or
/// `None` if the diffusive flux has none.
pub(crate) fn add_coefficients<T: PackScalar>(
    group: &mut Group<T>,
    mesh: &Mesh,
    order: usize,
    coefficient: &dyn Fn(f64) -> Option<f64>,
    length: Option<&Formula>,
) -> Result<(), OpsError> {
    if coefficient(1.0).is_none() {
        return Ok(());
    }
    let widths = filter_widths(mesh, order, length)?;
    let of = |&e: &u32| coefficient(widths[e as usize]).map_or(T::ZERO, T::from_f64);
    group.coefficients = group.elements.iter().map(of).collect();
    Ok(())
}
