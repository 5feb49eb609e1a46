//! How far the schemes reach: limits of linear stability, and the CFL number to use when none is given.

use crate::scheme::Scheme;

/// Largest polynomial degree for which the table of simplices was computed; beyond it the table is continued
/// with its largest slope.
pub const MAX_ORDER: usize = 10;

/// What a mesh is made of, as far as the step size is concerned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Elements {
    /// Triangles or tetrahedra only.
    Simplices,
    /// Any shapes: quadrilaterals and hexahedra set the limit.
    Any,
}

/// Share of the limit that the default takes: nonlinear problems and curved elements need some air.
const MARGIN: f64 = 0.9;

impl Scheme {
    /// The largest `x` for which `|R(−y)| ≤ 1` for all `0 ≤ y ≤ x`: reach on the negative real axis.
    pub fn real_limit(self) -> f64 {
        match self {
            Self::Midpoint | Self::Heun | Self::SspRk22 => 2.0,
            Self::SspRk33 => 2.512_745_327,
            Self::Rk4 => 2.785_293_563,
            Self::SspRk54 => 5.331_472_640,
            Self::Lserk54 => 4.656_757_066,
        }
    }

    /// The largest `y` for which `|R(iω)| ≤ 1` for all `0 ≤ ω ≤ y`: reach on the imaginary axis. Zero for schemes
    /// of two stages, which amplify a wave by `1 + (ω dt)⁴ / 8` in each step.
    pub fn imaginary_limit(self) -> f64 {
        match self {
            Self::Midpoint | Self::Heun | Self::SspRk22 => 0.0,
            Self::SspRk33 => 1.732_050_808,
            Self::Rk4 => 2.828_427_125,
            Self::SspRk54 => 3.278_355_597,
            Self::Lserk54 => 3.340_717_986,
        }
    }

    /// Radius to which the spectrum of an upwind discontinuous Galerkin operator may be scaled.
    ///
    /// The spectra of linear Euler flow on lines, squares and triangles (p ≤ 10, Mach 0 to 3, all wave numbers)
    /// scaled to this radius lie inside the stability region. With two stages and p ≥ 2 no step is strictly
    /// stable; there the radius is the one up to which no mode grows by more than 10⁻⁴ in a step.
    fn upwind_limit(self) -> f64 {
        match self {
            Self::Midpoint | Self::Heun | Self::SspRk22 => 1.2,
            Self::SspRk33 => 2.4,
            Self::Rk4 => 2.65,
            Self::SspRk54 => 3.7,
            Self::Lserk54 => 4.0,
        }
    }

    /// The CFL number to use when none is given, for the step
    /// `dt = cfl · min h / ((2p + 1) λ)`, `h = d |E| / (largest face)`, `λ = |v| + c`,
    /// of an upwind discontinuous Galerkin method of degree `order` in `dim` dimensions.
    ///
    /// It is nine tenths of [the radius that the scheme allows](Self::real_limit) over
    /// [the radius of the operator](Elements::radius), hence stable at every order and for every shape.
    ///
    /// # Panics
    /// If `dim` is not 1, 2 or 3.
    #[track_caller]
    pub fn default_cfl(self, dim: usize, order: usize, elements: Elements) -> f64 {
        MARGIN * self.upwind_limit() / elements.radius(dim, order)
    }
}

/// Radius of the operator on equilateral triangles, by degree.
const TRIANGLES: [f64; MAX_ORDER + 1] = [6.00, 4.00, 4.36, 4.66, 5.34, 5.80, 6.53, 7.06, 7.80, 8.36, 9.10];

/// Radius of the operator on Sommerville's tetrahedra (four congruent faces, all of space filled), by degree;
/// from degree 7 on continued with the triangles' largest slope.
const TETRAHEDRA: [f64; MAX_ORDER + 1] =
    [12.00, 6.67, 6.76, 6.90, 7.52, 7.90, 8.40, 9.15, 9.90, 10.65, 11.40];

/// Largest growth of the tables from one degree to the next, for degrees beyond them.
const SLOPE: f64 = 0.75;

impl Elements {
    /// Spectral radius of the discontinuous Galerkin operator with the local Lax–Friedrichs flux for linear Euler
    /// flow, in units of `(2p + 1) λ / h`, for the worst shape and the worst state, which is rest.
    ///
    /// On cubes it is `d² (p + 1)(p + 2) / (2p + 1)`: each direction adds `(p + 1)(p + 2) λ / Δx`, and `h = d Δx`.
    /// On simplices it is tabulated from eigenvalues of the operator on lattices (`data/dg_radius.py`).
    ///
    /// # Panics
    /// If `dim` is not 1, 2 or 3.
    #[track_caller]
    pub fn radius(self, dim: usize, order: usize) -> f64 {
        let p = order as f64;
        let table = match (self, dim) {
            (Self::Simplices, 2) => &TRIANGLES,
            (Self::Simplices, 3) => &TETRAHEDRA,
            (_, 1..=3) => {
                let d = dim as f64;
                return d * d * (p + 1.0) * (p + 2.0) / (2.0 * p + 1.0);
            }
            _ => panic!("a mesh has 1, 2 or 3 dimensions, not {dim}"),
        };
        match table.get(order) {
            Some(&radius) => radius,
            None => table[MAX_ORDER] + SLOPE * (order - MAX_ORDER) as f64,
        }
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

    #[test]
    fn the_default_falls_with_order_and_dimension_and_simplices_allow_more() {
        for scheme in Scheme::ALL {
            for p in 1..15 {
                for elements in [Elements::Simplices, Elements::Any] {
                    let cfl = |dim| scheme.default_cfl(dim, p, elements);
                    assert!(cfl(1) > cfl(2) && cfl(2) > cfl(3) && cfl(3) > 0.0);
                    assert!(cfl(2) >= scheme.default_cfl(2, p + 1, elements));
                }
                for dim in [2, 3] {
                    let any = scheme.default_cfl(dim, p, Elements::Any);
                    assert!(scheme.default_cfl(dim, p, Elements::Simplices) > any);
                }
            }
        }
        assert!((Scheme::Lserk54.default_cfl(2, 3, Elements::Simplices) - 0.7725).abs() < 1e-4);
    }
}
