//! Curved walls on straight faces: what the condition needs of the mesh and of its normals.

use std::f64::consts::FRAC_PI_4;
use std::sync::Arc;

use dgsuite_mesh::{Across, Mesh};

use super::prescribed::Numbers;
use crate::file::problem::{InputError, Problem};
use crate::file::quantity::VectorQuantity;
use crate::file::source::Located;
use crate::models::state::BoundarySpec;
use dgsuite_solve::RankMesh;
use dgsuite_solve::curved_wall::EstimatedNormals;
use dgsuite_solve::flow::BoundaryKind;

/// The angle between a given normal and a face from which on the normal is that of something else.
const TOO_FAR: f64 = FRAC_PI_4;

/// The condition with normals that are estimated from the points of the boundary.
///
/// # Errors
/// A mesh in three dimensions.
pub(super) fn estimated(
    spec: &BoundarySpec,
    mesh: &RankMesh,
    corner: f64,
) -> Result<BoundaryKind, InputError> {
    let number = mesh.seen().boundaries.iter().position(|tag| tag.name == spec.name.value);
    match number.and_then(|number| mesh.boundary_curve(number as u32, corner)) {
        Some(curve) => Ok(BoundaryKind::CurvedSlipWall { normals: Arc::new(EstimatedNormals::from(curve)) }),
        None => {
            let key = format!("{}.normal", spec.name.key);
            let expected =
                "a formula for each direction, because normals are estimated in two dimensions only";
            Err(InputError::at(&spec.name.place, Problem::MissingKey { key, expected: expected.into() }))
        }
    }
}

/// Checks that the faces are straight and near their curve; returns a warning about refined faces. With
/// `split`, faces of the file have been split.
///
/// # Errors
/// Curved faces; normals estimated from points on straight lines; normals far from those of the faces.
pub(super) fn check(
    spec: &BoundarySpec,
    normal: Option<&VectorQuantity>,
    given: Option<&Numbers>,
    mesh: &Mesh,
    split: bool,
) -> Result<Option<String>, InputError> {
    let name = &spec.name.value;
    let misplaced = |belongs: &str| {
        let key = format!("{}.type: curved-slip-wall", spec.name.key);
        let (owner, belongs) = ("the mesh".to_owned(), belongs.to_owned());
        Err(InputError::at(&spec.name.place, Problem::Misplaced { key, owner, belongs }))
    };
    let named = |b: u32| mesh.boundaries.get(b as usize).is_some_and(|tag| tag.name == *name);
    let on_it = mesh.faces.iter().filter(|face| matches!(face.across, Across::Boundary(b) if named(b)));
    for face in on_it {
        let (set, _) = mesh.locate(face.minus.element as usize);
        if mesh.sets[set].order > 1 {
            return misplaced(
                "straight-sided elements; use slip-wall on curved ones, or make them straight (mesh.map.order: 1)",
            );
        }
    }
    if split && normal.is_none() {
        return misplaced(
            "unrefined faces: mesh.refine puts points on straight lines, from which no curve can be estimated; \
             refine in the mesh generator, or give `normal`",
        );
    }
    if let (Some(normal), Some(given)) = (normal, given) {
        let (angle, place) = given.largest_angle(mesh, name);
        if angle > TOO_FAR {
            let at = place[..mesh.dim].iter().map(|c| format!("{c:.4}")).collect::<Vec<_>>().join(", ");
            let shown = Located {
                value: format!("{:.0} degrees off the normal of the face at ({at})", angle.to_degrees()),
                key: normal.key.key.clone(),
                place: normal.key.place.clone(),
            };
            return Err(InputError::range(&shown, "the normal of the wall, of any length and sign"));
        }
    }
    Ok(split.then(|| {
        format!(
            "boundaries.{name}: mesh.refine puts points on the straight faces of the file instead of the curve, so \
             that errors of the wall's place remain"
        )
    }))
}
