//! Quantities of a state that limiters keep within bounds.

use crate::euler::Euler;
use crate::law::Law;
use crate::real::Real;

/// A law whose states have a density and a pressure that must stay positive, and an entropy that must not
/// fall below the entropy of earlier states nearby.
pub trait Bounded<const D: usize, const N: usize>: Law<D, N> {
    /// Returns the density and the pressure.
    fn density_and_pressure<R: Real>(&self, u: &[R; N]) -> [R; 2];

    /// Returns the density, the pressure, and an increasing function of the entropy. The pressure is a
    /// concave function of conserved states with positive density. For states that are not admissible, the
    /// entropy is a large negative number.
    fn bounded<R: Real>(&self, u: &[R; N]) -> [R; 3];

    /// Returns the derivatives of the pressure with respect to the conserved unknowns.
    fn pressure_gradient<R: Real>(&self, u: &[R; N]) -> [R; N];

    /// Returns a bound of `|p(w) − p(u) − ∇p(u)·(w − u)|` over all states `w` with `|w_k − u_k| ≤ delta[k]`.
    /// The density, `u[0]`, is larger than `delta[0]`.
    fn pressure_remainder<R: Real>(&self, u: &[R; N], delta: &[R; N]) -> R;
}

/// The smallest pressure and density whose logarithm is taken. It is a normal number in single precision.
const LEAST: f64 = 1e-36;

macro_rules! gas {
    ($d:literal, $n:literal) => {
        impl Bounded<$d, $n> for Euler {
            #[inline(always)]
            fn density_and_pressure<R: Real>(&self, u: &[R; $n]) -> [R; 2] {
                [u[0], Law::<$d, $n>::to_primitive(self, u)[$n - 1]]
            }

            /// Density, pressure and `ln p − γ ln ρ`.
            ///
            /// ```
            /// use dgsuite_physics::{Bounded, Euler, Law};
            ///
            /// let gas = Euler { gamma: 1.4 };
            /// let u: [f64; 4] = gas.to_conserved(&[2.0, 0.3, -0.1, 5.0]); // ρ u v p
            /// let [rho, p, s] = Bounded::<2, 4>::bounded(&gas, &u);
            /// assert!((rho, (p - 5.0).abs() < 1e-14) == (2.0, true));
            /// assert!((s.exp() - 5.0 / 2.0_f64.powf(1.4)).abs() < 1e-14);
            /// ```
            #[inline(always)]
            fn bounded<R: Real>(&self, u: &[R; $n]) -> [R; 3] {
                let [rho, p] = Bounded::<$d, $n>::density_and_pressure(self, u);
                let least = R::lit(LEAST);
                let (log_p, log_rho) = (p.max(least).ln(), rho.max(least).ln());
                let s = (R::lit(0.0) - self.gamma()).mul_add(log_rho, log_p);
                let inside = R::and(least.lt(rho), least.lt(p));
                [rho, p, R::select(inside, s, R::lit(-1e30))]
            }

            /// `(γ − 1) (½|v|², −v, 1)`.
            #[inline(always)]
            fn pressure_gradient<R: Real>(&self, u: &[R; $n]) -> [R; $n] {
                let (inv_rho, factor) = (u[0].recip(), self.gamma_minus_one::<R>());
                let mut gradient = [factor; $n];
                let mut square = R::lit(0.0);
                for d in 0..$d {
                    let v = u[1 + d] * inv_rho;
                    square = v.mul_add(v, square);
                    gradient[1 + d] = -(factor * v);
                }
                gradient[0] = R::lit(0.5) * factor * square;
                gradient
            }

            /// The remainder is `−½(γ − 1) |δm − v δρ|² / (ρ + δρ)` for a change `δρ` of the density and `δm`
            /// of the momentum.
            #[inline(always)]
            fn pressure_remainder<R: Real>(&self, u: &[R; $n], delta: &[R; $n]) -> R {
                let (inv_rho, factor) = (u[0].recip(), self.gamma_minus_one::<R>());
                let mut square = R::lit(0.0);
                for d in 0..$d {
                    let v = (u[1 + d] * inv_rho).abs();
                    let largest = v.mul_add(delta[0], delta[1 + d]);
                    square = largest.mul_add(largest, square);
                }
                R::lit(0.5) * factor * square / (u[0] - delta[0])
            }
        }
    };
}
gas!(2, 4);
gas!(3, 5);
