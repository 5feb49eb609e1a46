//! The scheme that a device runs: the method of a given scheme, with the basis that fast kernels want.

use crate::cuda::choose::fast::wants_nodes;
use crate::space::group::{needs, shapes_of};
use crate::space::scheme::{Need, Scheme};
use dgsuite_basis::nodes::nodes;
use dgsuite_basis::{Cubature, NodeSet, Representation, Shape};
use dgsuite_mesh::Mesh;

/// The scheme with the basis for devices: nodal values instead of modes if there are simplices with fast
/// kernels, for which the nodes on a face then suffice for a neighbour's trace. The space, and thus the
/// method, is the same on every shape; pyramids keep their modes. `whole` describes the mesh of which `mesh`
/// is a part.
///
/// If all elements are such simplices, Taylor polynomials, whose space on tensor shapes is of total degree,
/// become nodal values too. Flux reconstruction at nodes inside of affine elements then gets nodes on the
/// faces, and interpolates its fluxes from the former.
pub(crate) fn on_device(scheme: &Scheme, mesh: &Mesh, whole: Option<&[Need]>) -> Scheme {
    let shapes = whole.map_or_else(|| shapes_of(mesh), |whole| whole.iter().map(|need| need.shape).collect());
    let wants = |shape: &Shape| wants_nodes(*shape, scheme.order);
    let (some, all) = (shapes.iter().any(wants), shapes.iter().all(wants));
    let inside = |set| {
        let differ = |shape: &Shape| {
            let of = |set| nodes(*shape, scheme.order, set).ok();
            of(set) != of(NodeSet::WarpBlend)
        };
        let affine = |needs: &[Need]| needs.iter().all(|need| need.curved.is_none());
        scheme.corrected() && shapes.iter().any(differ) && whole.map_or_else(|| affine(&needs(mesh)), affine)
    };
    match scheme.representation {
        // Spaces of total degree have no nodes on tensor shapes.
        Representation::Modal if some && (scheme.polynomials.is_none() || all) => {
            Scheme { representation: Representation::Nodal(NodeSet::GaussLobatto), ..*scheme }
        }
        Representation::Taylor if some && all => {
            Scheme { representation: Representation::Nodal(NodeSet::GaussLobatto), ..*scheme }
        }
        Representation::Nodal(set @ NodeSet::GaussLegendre) if some && all && inside(set) => {
            let at = Some(Cubature::Nodes(set));
            Scheme {
                representation: Representation::Nodal(NodeSet::WarpBlend),
                volume: at,
                face: if scheme.face == Some(Cubature::Collocated) { at } else { scheme.face },
                ..*scheme
            }
        }
        _ => *scheme,
    }
}
