//! The normals of curved walls on straight faces, as data of their condition.

use dgsuite_mesh::{BoundaryCurve, Mesh};
use dgsuite_physics::Exact;

/// Unit normals estimated from the vertices of a boundary in the plane: entries 1 and 2 of a state, of which
/// the others are 0. They do not depend on time.
#[derive(Clone, Debug)]
pub struct EstimatedNormals(BoundaryCurve);

impl EstimatedNormals {
    /// Estimates the normals of boundary number `boundary`, which has a corner wherever it turns by more than
    /// the angle `corner` (radians); `None` in three dimensions.
    #[must_use]
    pub fn new(mesh: &Mesh, boundary: u32, corner: f64) -> Option<Self> {
        mesh.boundary_curve(boundary, corner).map(Self)
    }
}

impl From<BoundaryCurve> for EstimatedNormals {
    fn from(curve: BoundaryCurve) -> Self {
        Self(curve)
    }
}

impl Exact for EstimatedNormals {
    fn n_fields(&self) -> usize {
        4
    }

    fn eval(&self, _t: f64, x: &[[f64; 3]], out: &mut [Vec<f64>]) {
        let normals = self.0.normals(x);
        for (k, values) in out.iter_mut().enumerate() {
            values.clear();
            values.extend(normals.iter().map(|n| if k == 1 || k == 2 { n[k - 1] } else { 0.0 }));
        }
    }

    fn is_steady(&self) -> bool {
        true
    }
}
