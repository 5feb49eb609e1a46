//! Limits of linear stability, and the default step size.

use crate::scheme::Scheme;

/// The default as a fraction of the limit: nonlinear problems and curved elements need a margin.
const MARGIN: f64 = 0.9;

impl Scheme {
    /// Largest product of step and spectral radius for which upwind discontinuous Galerkin operators of
    /// degree `order` are stable.
    ///
    /// Their spectra extend farthest along the negative real axis, where the states of neighbours alternate
    /// in sign, so that this is [the limit there](Self::real_limit). The stability regions of `ssprk43`,
    /// `ssprk54`, `ssprk104` and `lserk54` are narrow beside the axis, where low orders have eigenvalues.
    /// Their limits are those of acoustics on a line (`tests/upwind.rs`), which also hold in more dimensions.
    /// With two stages and p ≥ 2 no step is strictly stable; the limit is the step up to which no mode grows
    /// by more than 10⁻⁴ per step.
    fn upwind_limit(self, order: usize) -> f64 {
        let listed = |limits: &[f64]| limits[order.min(limits.len() - 1)];
        match self {
            Self::Midpoint | Self::Heun | Self::SspRk22 => listed(&[1.9, 1.9, 1.2]),
            Self::SspRk33 => 2.45,
            Self::Rk4 => 2.77,
            Self::SspRk43 => listed(&[4.0, 3.55, 3.65, 3.8, 4.0, 4.15, 4.25, 4.4, 4.5, 4.6, 4.7]),
            Self::SspRk54 => listed(&[4.5, 4.1, 4.25, 4.4, 4.6, 4.7, 4.8, 4.9, 5.0, 5.1, 5.2]),
            Self::SspRk104 => listed(&[12.0, 8.2, 8.5, 9.0, 9.6, 10.1, 10.5, 11.0, 11.3, 11.7, 12.0]),
            Self::Lserk54 => listed(&[4.6, 4.2, 4.35, 4.5, 4.6, 4.65, self.real_limit()]),
            Self::Rdpk35 => 4.9,
        }
    }

    /// The default product of step and spectral radius for polynomials of degree `order`: nine tenths of the
    /// largest for which upwind discontinuous Galerkin operators are stable.
    pub fn stable_radius(self, order: usize) -> f64 {
        MARGIN * self.upwind_limit(order)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// |R(x + iy)| by Horner's rule.
    fn amplification(c: &[f64], x: f64, y: f64) -> f64 {
        let (re, im) = c.iter().rev().fold((0.0, 0.0), |(re, im), c| (re * x - im * y + c, re * y + im * x));
        f64::hypot(re, im)
    }

    #[test]
    fn limits_are_where_the_amplification_passes_one() {
        for scheme in Scheme::ALL {
            let c = scheme.tableau().stability_polynomial();
            let (real, imaginary) = (scheme.real_limit(), scheme.imaginary_limit());
            for i in 0..=1000 {
                let share = f64::from(i) / 1000.0;
                assert!(amplification(&c, -share * real, 0.0) <= 1.0 + 1e-7, "{scheme}");
                assert!(amplification(&c, 0.0, share * imaginary) <= 1.0 + 1e-7, "{scheme}");
            }
            assert!(amplification(&c, -real - 1e-5, 0.0) > 1.0 + 1e-6, "{scheme}");
            assert!(amplification(&c, 0.0, imaginary + 0.1) > 1.0 + 1e-6, "{scheme}");
        }
    }

    #[test]
    fn the_first_coefficients_are_those_of_the_exponential() {
        for scheme in Scheme::ALL {
            let c = scheme.tableau().stability_polynomial();
            let mut factorial = 1.0;
            for k in 0..=scheme.order() {
                factorial *= if k == 0 { 1.0 } else { k as f64 };
                assert!((c[k] - 1.0 / factorial).abs() < 4e-15, "{scheme}, power {k}");
            }
        }
    }
}
