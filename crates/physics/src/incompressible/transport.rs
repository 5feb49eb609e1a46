//! Transport of a velocity by another one that is given: the sub-steps of convection.

use super::VelocityFirst;
use super::convection::speed_factor;
use crate::flux::NumericalFlux;
use crate::law::{Law, finite};
use crate::real::{Real, array, dot};

/// Transport of the velocity `ũ` by the given velocity `ū`, `∂ũ/∂t + ∇·(ū ⊗ ũ) = 0` with `∂ū/∂t = 0`. The
/// state is `(ũ_1, …, ũ_D, ū_1, …, ū_D)`:
///
/// ```text
/// F_d = (ū_d ũ, 0),   λ(u, n) = a |n·ū|,   max over n: a |ū|
/// ```
///
/// With [`TransportFlux`] the right-hand side of `ū` is exactly zero. The same formulas implement `Law<2, 4>`
/// and `Law<3, 6>`.
///
/// # Source
/// Karakus, Chalmers, Świrydowicz & Warburton, J. Comput. Phys. 390 (2019) 380–404, §2.3 (subcycling);
/// Maday, Patera & Rønquist, J. Sci. Comput. 5 (1990) 263–292 (operator-integration-factor splitting).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Transport {
    /// The factor `a` of the speed, as in [`Convection`](super::Convection).
    pub factor: f64,
}

/// The local Lax–Friedrichs flux of [`Transport`]: that of [`Rusanov`](crate::Rusanov) for `ũ`, zero for `ū`:
///
/// ```text
/// f*_ũ = ½ ((n·ū⁻) ũ⁻ + (n·ū⁺) ũ⁺) − ½ max(λ⁻, λ⁺) (ũ⁺ − ũ⁻),   f*_ū = 0
/// ```
///
/// If `n·ū` is continuous and `a = 1`, this is the upwind flux.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TransportFlux;

/// The flux of transport without divergence: that of [`TransportFlux`] less what a jump of `n·ū` adds to the
/// inner state,
///
/// ```text
/// f*_ũ = f*_transport − ½ ũ⁻ (n·ū⁺ − n·ū⁻)
/// ```
///
/// A right-hand side with it is `−∇·(ū ũ) + ũ D` where ũ is constant in an element and its neighbours, with
/// the divergence `D = ∇·ū` element by element, so that `ũ D` can be taken off at points. The flux is
/// consistent but **not conservative**, as [`ElementwiseFlux`](super::ElementwiseFlux).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AdvectiveFlux;

/// `2 f*`, with all but the factor ½.
#[inline(always)]
fn twice<R: Real, const D: usize, const N: usize>(factor: f64, um: &[R; N], up: &[R; N], n: &[R; D]) -> [R; D]
where
    Transport: Law<D, N>,
{
    let (m, p) = (dot(&Transport::velocity(um, 1), n), dot(&Transport::velocity(up, 1), n));
    let speed = (speed_factor::<R>(factor) * m.abs().max(p.abs())).named("speed");
    array!(D, |k| speed.mul_add(um[k] - up[k], um[k].mul_add(m, up[k] * p)))
}

macro_rules! transport {
    ($d:literal, $n:literal, $variables:expr) => {
        impl Law<$d, $n> for Transport {
            const NAME: &'static str = "transport";
            const DIRECTED: bool = true;

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
                    for k in 0..$d {
                        f[d][k] = u[$d + d] * u[k];
                    }
                }
                f
            }

            #[inline(always)]
            fn normal_flux<R: Real>(&self, u: &[R; $n], n: &[R; $d]) -> [R; $n] {
                let un = dot(&Self::velocity(u, 1), n);
                let mut f = [R::lit(0.0); $n];
                for k in 0..$d {
                    f[k] = un * u[k];
                }
                f
            }

            #[inline(always)]
            fn normal_speed<R: Real>(&self, u: &[R; $n], n: &[R; $d]) -> R {
                speed_factor::<R>(self.factor) * dot(&Self::velocity(u, 1), n).abs()
            }

            #[inline(always)]
            fn max_speed<R: Real>(&self, u: &[R; $n]) -> R {
                let by = Self::velocity(u, 1);
                speed_factor::<R>(self.factor) * dot(&by, &by).sqrt()
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

        impl NumericalFlux<Transport, $d, $n> for TransportFlux {
            const NAME: &'static str = "transport";

            #[inline(always)]
            fn eval<R: Real>(&self, law: &Transport, um: &[R; $n], up: &[R; $n], n: &[R; $d]) -> [R; $n] {
                self.eval_scaled(law, um, up, n, R::lit(1.0))
            }

            #[inline(always)]
            fn eval_scaled<R: Real>(
                &self,
                law: &Transport,
                um: &[R; $n],
                up: &[R; $n],
                n: &[R; $d],
                scale: R,
            ) -> [R; $n] {
                let sum = twice(law.factor, um, up, n);
                let scale = R::lit(0.5) * scale;
                let mut f = [R::lit(0.0); $n];
                for k in 0..$d {
                    f[k] = scale * sum[k];
                }
                f
            }
        }

        impl NumericalFlux<Transport, $d, $n> for AdvectiveFlux {
            const NAME: &'static str = "advective";

            #[inline(always)]
            fn eval<R: Real>(&self, law: &Transport, um: &[R; $n], up: &[R; $n], n: &[R; $d]) -> [R; $n] {
                let sum = twice(law.factor, um, up, n);
                let jump = dot(&Transport::velocity(up, 1), n) - dot(&Transport::velocity(um, 1), n);
                let mut f = [R::lit(0.0); $n];
                for k in 0..$d {
                    f[k] = R::lit(0.5) * (sum[k] - um[k] * jump);
                }
                f
            }
        }
    };
}

transport!(2, 4, ["u", "v", "by_u", "by_v"]);
transport!(3, 6, ["u", "v", "w", "by_u", "by_v", "by_w"]);

#[cfg(test)]
mod tests {
    use super::*;

    /// The flux is consistent, and of a constant it is that of the inner velocity: element by element.
    #[test]
    fn the_advective_flux_of_a_constant_knows_the_inner_velocity_alone() {
        let (law, n) = (Transport { factor: 1.0 }, [0.6, 0.8]);
        let of = |um: [f64; 4], up: [f64; 4]| AdvectiveFlux.eval(&law, &um, &up, &n);
        let (um, up) = ([3.0, 3.0, 0.5, -2.0], [3.0, 3.0, 1.5, 0.25]);
        let inner = law.normal_flux(&um, &n);
        assert!(of(um, up).iter().zip(inner).all(|(a, b)| (a - b).abs() < 1e-14));
        // Elsewhere it is upwind: the whole jump enters where the flow does.
        let carried = |inner: f64, outer: f64, by: [f64; 2]| {
            let state = |v: f64| [v, v, by[0], by[1]];
            of(state(inner), state(outer))[0]
        };
        assert!((carried(1.0, 4.0, [-1.0, 0.0]) - -0.6 * 4.0).abs() < 1e-14);
        assert!((carried(1.0, 4.0, [1.0, 0.0]) - 0.6).abs() < 1e-14);
    }
}
