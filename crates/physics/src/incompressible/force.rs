//! The force of an incompressible fluid on a boundary.

use crate::real::{Real, array};

/// The force of an incompressible fluid on a boundary, per area and density: pressure and friction,
///
/// ```text
/// p n   and   −ν (∇u + ∇uᵀ) n
/// ```
///
/// with the unit normal `n` out of the fluid, the pressure `p` and the gradient of the velocity
/// `grad[d][i] = ∂u_i/∂x_d`. The sign is that of the force of the fluid on the boundary; the traction that
/// acts on the fluid is the opposite. At a wall at rest `∂u/∂n·n = 0`, and the friction is `−ν ∂u/∂n`;
/// the transpose matters on moving walls and open boundaries.
///
/// ```
/// use dgsuite_physics::incompressible::wall_force;
/// // Shear flow u = 3 y above a wall at y = 0: the wall is pushed down and dragged along.
/// let (pressure, friction) = wall_force(0.1, 2.0, &[[0.0, 0.0], [3.0, 0.0]], &[0.0, -1.0]);
/// assert_eq!(pressure, [0.0, -2.0]);
/// assert_eq!(friction[0], 0.1 * 3.0);
/// ```
#[inline(always)]
pub fn wall_force<R: Real, const D: usize>(
    viscosity: f64,
    p: R,
    grad: &[[R; D]; D],
    n: &[R; D],
) -> ([R; D], [R; D]) {
    let nu = R::param("viscosity", viscosity);
    let friction = array!(D, |i| {
        let mut shear = (grad[0][i] + grad[i][0]) * n[0];
        for d in 1..D {
            shear = (grad[d][i] + grad[i][d]).mul_add(n[d], shear);
        }
        -(nu * shear)
    });
    (array!(D, |d| p * n[d]), friction)
}
