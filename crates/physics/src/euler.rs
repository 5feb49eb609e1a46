//! The compressible Euler equations of a perfect gas in two and three dimensions.

use crate::law::Law;
use crate::real::{Real, array, dot};

/// Compressible Euler equations of a perfect gas, `u = (ρ, ρv, ρE)`:
///
/// ```text
/// F_d = (ρ v_d, ρ v v_d + p e_d, (ρE + p) v_d),   p = (γ − 1) (ρE − ½ ρ |v|²),   c² = γ p / ρ
/// ```
///
/// `ρE` is the total energy per volume. The same formulas implement `Law<2, 4>` and `Law<3, 5>`.
///
/// # Source
/// Toro, *Riemann Solvers and Numerical Methods for Fluid Dynamics*, 3rd ed., 2009, chapters 1 and 3.
///
/// ```
/// use dgsuite_physics::{Euler, Law};
/// let law = Euler { gamma: 1.4 };
/// let u = law.to_conserved(&[1.0_f64, 2.0, 0.0, 1.0]); // ρ u v p
/// let f = law.flux(&u);
/// assert!((f[0][1] - 5.0).abs() < 1e-12); // ρu² + p
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Euler {
    /// Ratio of specific heats, above 1.
    pub gamma: f64,
}

/// The quantities on one side of a face that Riemann solvers need; they invert the density once.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Side<R, const D: usize> {
    pub(crate) rho: R,
    /// `1/ρ`.
    pub(crate) inv_rho: R,
    /// Velocity.
    pub(crate) v: [R; D],
    /// Normal momentum `ρv·n`.
    pub(crate) mn: R,
    /// Normal velocity `v·n`.
    pub(crate) vn: R,
    pub(crate) p: R,
    /// Square of the sound speed, `γ p/ρ`.
    pub(crate) c2: R,
}

impl Euler {
    /// Ratio of specific heats `γ`, as a number of the formula's type.
    #[inline(always)]
    pub(crate) fn gamma<R: Real>(&self) -> R {
        R::param("gamma", self.gamma)
    }

    /// `γ − 1`.
    #[inline(always)]
    pub(crate) fn gamma_minus_one<R: Real>(&self) -> R {
        self.gamma::<R>() - R::lit(1.0)
    }

    /// Momentum `ρv` of a conserved state.
    #[inline(always)]
    pub(crate) fn momentum<R: Real, const D: usize, const N: usize>(u: &[R; N]) -> [R; D] {
        const { assert!(N == D + 2, "an Euler state has density, D momenta and energy") };
        array!(D, |d| u[1 + d])
    }

    /// Pressure `(γ − 1)(ρE − ½ |ρv|²/ρ)`, given `1/ρ`.
    #[inline(always)]
    fn pressure<R: Real, const D: usize, const N: usize>(&self, u: &[R; N], inv_rho: R) -> R {
        let m = Self::momentum::<R, D, N>(u);
        self.gamma_minus_one::<R>() * (R::lit(-0.5) * inv_rho).mul_add(dot(&m, &m), u[N - 1])
    }

    /// The state beside a face with unit normal `n`.
    #[inline(always)]
    pub(crate) fn side<R: Real, const D: usize, const N: usize>(&self, u: &[R; N], n: &[R; D]) -> Side<R, D> {
        let inv_rho = u[0].recip();
        let m = Self::momentum::<R, D, N>(u);
        let p = self.pressure::<R, D, N>(u, inv_rho);
        let mn = dot(&m, n);
        Side {
            rho: u[0],
            inv_rho,
            v: array!(D, |d| m[d] * inv_rho),
            mn,
            vn: mn * inv_rho,
            p,
            c2: self.gamma::<R>() * p * inv_rho,
        }
    }

    /// Normal flux `(ρ v_n, ρ v v_n + p n, (ρE + p) v_n)` from quantities that are already known.
    #[inline(always)]
    pub(crate) fn flux_of<R: Real, const D: usize, const N: usize>(
        u: &[R; N],
        vn: R,
        p: R,
        n: &[R; D],
    ) -> [R; N] {
        let mut f = [u[0] * vn; N];
        for d in 0..D {
            f[1 + d] = u[1 + d].mul_add(vn, p * n[d]);
        }
        f[N - 1] = (u[N - 1] + p) * vn;
        f
    }

    /// Conserved state of density, velocity and pressure.
    #[inline(always)]
    pub(crate) fn conserved<R: Real, const D: usize, const N: usize>(
        &self,
        rho: R,
        v: &[R; D],
        p: R,
    ) -> [R; N] {
        const { assert!(N == D + 2, "an Euler state has density, D momenta and energy") };
        let mut u = [rho; N];
        for d in 0..D {
            u[1 + d] = rho * v[d];
        }
        u[N - 1] = (R::lit(0.5) * rho).mul_add(dot(v, v), p / self.gamma_minus_one());
        u
    }

    #[inline(always)]
    fn flux_all<R: Real, const D: usize, const N: usize>(&self, u: &[R; N]) -> [[R; N]; D] {
        let inv_rho = u[0].recip();
        let m = Self::momentum::<R, D, N>(u);
        let v = array!(D, |d| m[d] * inv_rho);
        let p = self.pressure::<R, D, N>(u, inv_rho);
        let mut f = [[m[0]; N]; D];
        for d in 0..D {
            f[d][0] = m[d];
            f[d][1 + d] = m[d].mul_add(v[d], p);
            // The momentum flux is symmetric.
            for i in 0..d {
                f[d][1 + i] = m[i] * v[d];
                f[i][1 + d] = f[d][1 + i];
            }
            f[d][N - 1] = (u[N - 1] + p) * v[d];
        }
        f
    }

    #[inline(always)]
    fn normal_flux_any<R: Real, const D: usize, const N: usize>(&self, u: &[R; N], n: &[R; D]) -> [R; N] {
        let inv_rho = u[0].recip();
        let m = Self::momentum::<R, D, N>(u);
        let p = self.pressure::<R, D, N>(u, inv_rho);
        Self::flux_of(u, dot(&m, n) * inv_rho, p, n)
    }

    /// Sum of the normal fluxes of both sides, and the larger normal speed. The pressures are added first.
    #[inline(always)]
    fn flux_sum_any<R: Real, const D: usize, const N: usize>(
        &self,
        um: &[R; N],
        up: &[R; N],
        n: &[R; D],
    ) -> ([R; N], R) {
        let (m, p) = (self.side(um, n), self.side(up, n));
        let pressure = m.p + p.p;
        let speed = (m.vn.abs() + m.c2.sqrt()).max(p.vn.abs() + p.c2.sqrt());
        let mut sum = [m.mn + p.mn; N];
        for d in 0..D {
            sum[1 + d] = um[1 + d].mul_add(m.vn, up[1 + d].mul_add(p.vn, pressure * n[d]));
        }
        sum[N - 1] = (um[N - 1] + m.p).mul_add(m.vn, (up[N - 1] + p.p) * p.vn);
        (sum, speed)
    }

    #[inline(always)]
    fn max_speed_any<R: Real, const D: usize, const N: usize>(&self, u: &[R; N]) -> R {
        let inv_rho = u[0].recip();
        let m = Self::momentum::<R, D, N>(u);
        let c2 = self.gamma::<R>() * self.pressure::<R, D, N>(u, inv_rho) * inv_rho;
        dot(&m, &m).sqrt() * inv_rho + c2.sqrt()
    }
}

macro_rules! euler {
    ($d:literal, $n:literal, $variables:expr, $primitives:expr) => {
        impl Law<$d, $n> for Euler {
            const NAME: &'static str = "euler";

            fn variables(&self) -> [&'static str; $n] {
                $variables
            }

            fn primitives(&self) -> [&'static str; $n] {
                $primitives
            }

            #[inline(always)]
            fn flux<R: Real>(&self, u: &[R; $n]) -> [[R; $n]; $d] {
                self.flux_all(u)
            }

            #[inline(always)]
            fn normal_flux<R: Real>(&self, u: &[R; $n], n: &[R; $d]) -> [R; $n] {
                self.normal_flux_any(u, n)
            }

            #[inline(always)]
            fn normal_speed<R: Real>(&self, u: &[R; $n], n: &[R; $d]) -> R {
                let s = self.side(u, n);
                s.vn.abs() + s.c2.sqrt()
            }

            #[inline(always)]
            fn flux_sum_and_speed<R: Real>(&self, um: &[R; $n], up: &[R; $n], n: &[R; $d]) -> ([R; $n], R) {
                self.flux_sum_any(um, up, n)
            }

            #[inline(always)]
            fn max_speed<R: Real>(&self, u: &[R; $n]) -> R {
                self.max_speed_any::<R, $d, $n>(u)
            }

            #[inline(always)]
            fn to_primitive<R: Real>(&self, u: &[R; $n]) -> [R; $n] {
                let inv_rho = u[0].recip();
                let p = self.pressure::<R, $d, $n>(u, inv_rho);
                let mut w = [u[0]; $n];
                for d in 0..$d {
                    w[1 + d] = u[1 + d] * inv_rho;
                }
                w[$n - 1] = p;
                w
            }

            #[inline(always)]
            fn to_conserved<R: Real>(&self, w: &[R; $n]) -> [R; $n] {
                self.conserved::<R, $d, $n>(w[0], &Self::momentum(w), w[$n - 1])
            }

            #[inline(always)]
            fn admissibility<R: Real>(&self, u: &[R; $n]) -> R {
                // The pressure is the second argument: `min` returns its second argument if either is NaN,
                // and for a density of zero or NaN the pressure is NaN as well.
                let inv_rho = u[0].recip();
                u[0].min(self.pressure::<R, $d, $n>(u, inv_rho))
            }
        }
    };
}

euler!(2, 4, ["rho", "rho_u", "rho_v", "rho_E"], ["rho", "u", "v", "p"]);
euler!(3, 5, ["rho", "rho_u", "rho_v", "rho_w", "rho_E"], ["rho", "u", "v", "w", "p"]);
