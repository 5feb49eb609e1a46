//! Hints for meshes that cannot be extruded, and for their ends.

use dgsuite_mesh::MeshError;

/// What to do about a condition on an end that is periodic.
pub(super) const JOINED: &str =
    "remove the condition, or do not join the ends (extruded: `mesh.extrude.periodic: false`)";

/// What to do about an error of an extrusion.
pub(super) fn hint(error: &MeshError) -> Option<String> {
    let hint = match error {
        MeshError::NotPlane { .. } => "remove `mesh.extrude`, or take a mesh of the plane",
        MeshError::EndTaken { .. } => "give the boundary another name in the mesh file",
        MeshError::Extent { .. } => {
            "choose a `start` nearer to zero: `start + length` must differ from it as a number"
        }
        _ => return None,
    };
    Some(hint.into())
}
