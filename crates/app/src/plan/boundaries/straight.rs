//! Walls of round bodies in meshes of straight elements.

use crate::conditions::BoundarySpec;
use dgsuite_solve::RankMesh;

/// The order from which on straight faces bound the accuracy.
const HIGH: usize = 2;

/// Warns about walls whose straight faces meet at many small angles: the flow sees corners, and its error
/// falls no faster than with second order.
///
/// # Source
/// Bassi and Rebay (1997), section 5: with straight faces the flow around a cylinder separates in every mesh
/// and order.
pub(crate) fn check(specs: &[BoundarySpec], on_rank: &RankMesh, order: usize) -> Vec<String> {
    if order < HIGH || on_rank.is_part() {
        return Vec::new();
    }
    let mesh = on_rank.seen();
    let warning = |(boundary, angle): (u32, f64)| {
        let name = &mesh.boundaries.get(boundary as usize)?.name;
        let spec = specs.iter().find(|spec| spec.name.value == *name)?;
        let or = spec.condition.on_straight_faces()?;
        let degrees = angle.to_degrees();
        Some(format!(
            "boundaries.{name}: the mesh has straight faces that turn by {degrees:.1} degrees from one to the next, \
             and the flow sees corners there; make a mesh of order 2 or more (`gmsh -order 3`){or}"
        ))
    };
    mesh.polygons().into_iter().filter_map(warning).collect()
}
