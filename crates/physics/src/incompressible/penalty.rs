//! Penalties on the divergence and on jumps of the normal velocity.

use super::VelocityFirst;
use crate::flux::NumericalFlux;
use crate::law::{Law, finite};
use crate::real::{Real, array, dot};

/// The penalty terms of incompressible flow in the form of a law. The state is `(u_1, …, u_D, q, c)`: the
/// velocity, a multiple `q` of its divergence in each element, and the coefficient `c` of jumps:
///
/// ```text
/// F_d = (q e_d, 0, 0)
/// ```
///
/// With [`PenaltyFlux`] the weak right-hand side of the velocity is
///
/// ```text
/// (v, R) = (∇·v, q) − Σ_f ⟨[v]·n, {c} [u]·n⟩,   [u] = u⁻ − u⁺
/// ```
///
/// For `q = −τ_D ∇·u`, computed in each element, and `c = τ_C` this is the negative of the divergence and
/// continuity penalty operator, which is symmetric and positive semi-definite. The rows of `q` and `c` of the
/// right-hand side are zero. The law has no wave speed.
///
/// # Source
/// Fehn, Wall & Kronbichler, J. Comput. Phys. 372 (2018) 667–693.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Penalty;

/// The numerical flux of [`Penalty`]: with `n` from minus to plus,
///
/// ```text
/// f*_u = ½ (c⁻ + c⁺) ((u⁻ − u⁺)·n) n,   f*_q = 0,   f*_c = 0
/// ```
///
/// The flux is conservative, `f*(a, b, n) = −f*(b, a, −n)`. It is **not consistent** with the flux of the
/// law: it is zero if both states are equal, where `F·n = (q n, 0, 0)`. This is intended. The divergence of
/// the test function is multiplied by `q` in each element, without a term on faces, because `q` approximates
/// zero and not a pressure.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PenaltyFlux;

macro_rules! penalty {
    ($d:literal, $n:literal, $variables:expr) => {
        impl Law<$d, $n> for Penalty {
            const NAME: &'static str = "penalty";

            fn variables(&self) -> [&'static str; $n] {
                $variables
            }

            fn primitives(&self) -> [&'static str; $n] {
                $variables
            }

            #[inline(always)]
            fn flux<R: Real>(&self, u: &[R; $n]) -> [[R; $n]; $d] {
                let mut f = [[R::lit(0.0); $n]; $d];
                for d in 0..$d {
                    f[d][d] = u[$d];
                }
                f
            }

            #[inline(always)]
            fn normal_flux<R: Real>(&self, u: &[R; $n], n: &[R; $d]) -> [R; $n] {
                let mut f = [R::lit(0.0); $n];
                for d in 0..$d {
                    f[d] = u[$d] * n[d];
                }
                f
            }

            #[inline(always)]
            fn normal_speed<R: Real>(&self, _u: &[R; $n], _n: &[R; $d]) -> R {
                R::lit(0.0)
            }

            #[inline(always)]
            fn max_speed<R: Real>(&self, _u: &[R; $n]) -> R {
                R::lit(0.0)
            }

            #[inline(always)]
            fn to_primitive<R: Real>(&self, u: &[R; $n]) -> [R; $n] {
                *u
            }

            #[inline(always)]
            fn to_conserved<R: Real>(&self, w: &[R; $n]) -> [R; $n] {
                *w
            }

            #[inline(always)]
            fn admissibility<R: Real>(&self, u: &[R; $n]) -> R {
                finite(u)
            }
        }

        impl NumericalFlux<Penalty, $d, $n> for PenaltyFlux {
            const NAME: &'static str = "penalty";

            #[inline(always)]
            fn eval<R: Real>(&self, _law: &Penalty, um: &[R; $n], up: &[R; $n], n: &[R; $d]) -> [R; $n] {
                let (m, p) = (Penalty::velocity(um, 0), Penalty::velocity(up, 0));
                let jump = array!($d, |d| m[d] - p[d]);
                let push = R::lit(0.5) * (um[$d + 1] + up[$d + 1]) * dot(&jump, n);
                let mut f = [R::lit(0.0); $n];
                for d in 0..$d {
                    f[d] = push * n[d];
                }
                f
            }
        }
    };
}

penalty!(2, 4, ["u", "v", "q", "c"]);
penalty!(3, 5, ["u", "v", "w", "q", "c"]);
