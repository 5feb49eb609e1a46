//! The rate at which waves cross an element, for laws whose waves run in one direction.
//!
//! The bound `τ λ` of [the step](crate::rhs::step_bound) takes the largest speed λ in all directions. Where
//! all waves run with a velocity, `λ(u, n) = a |n·v|`, that is far too much on elements that are thin across
//! the flow, as at walls. With `m_f = Σ_d N̂_d ∇r_d`, whose length is the weight `w_f = sJ/J` of face f, the
//! dissipation of the numerical flux on it is that of the weight `λ(u, m_f)`, and as the largest eigenvalue τ
//! of the traces is convex and homogeneous of degree one in the weights,
//!
//! ```text
//! τ(λ(u, m_1), …) ≤ Σ_G τ(faces of G) max_{f ∈ G} λ(u, m_f)
//! ```
//!
//! for any partition of the faces into sets G: opposite faces of tensor shapes, for which the bound is exact
//! on boxes, the triangles and the quadrilaterals of a prism, all faces of simplices and pyramids.

use crate::space::directions::Directions;
use dgsuite_physics::{Law, Real};

/// The bound of the rate for a state and the derivatives `g[d][x] = ∂r_d/∂x_x`, `[d × D + x]`.
#[inline(always)]
pub(crate) fn rate<L: Law<D, N>, R: Real, const D: usize, const N: usize>(
    law: &L,
    u: &[R; N],
    g: &[R],
    directions: &Directions,
) -> R {
    let mut sum = R::lit(0.0);
    for set in &directions.0 {
        let mut largest = R::lit(0.0);
        for normal in &set.normals {
            let mut m = [R::lit(0.0); D];
            for x in 0..D {
                for d in 0..D {
                    m[x] = R::lit(normal[d]).mul_add(g[d * D + x], m[x]);
                }
            }
            largest = largest.max(law.normal_speed(u, &m));
        }
        sum = R::lit(set.radius).mul_add(largest, sum);
    }
    sum
}
