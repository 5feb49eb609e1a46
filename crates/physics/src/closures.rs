//! Closures of large-eddy simulation: eddy viscosities `ν_t` as point formulas of the velocity gradient.

mod sigma;
mod smagorinsky;
mod vreman;
mod wale;

use crate::real::{Real, array};

/// The gradient of the velocity, `g[d][i] = ∂v_i/∂x_d`, in three dimensions.
pub type VelocityGradient<R> = [[R; 3]; 3];

/// The closures: variant, word of pipeline files, module of the formula, default of the constant, whether the
/// constant is a length in units of the filter width (and enters squared), one line.
macro_rules! closures {
    ($($variant:ident $word:literal $module:ident $default:literal $squared:literal, $text:literal;)*) => {
        /// A model of the eddy viscosity `ν_t = C(c) Δ² rate(∇v)` with a constant `c` and the filter width
        /// `Δ`. `C(c) = c²`, and `c` for [`Vreman`](Closure::Vreman).
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Closure {
            $(#[doc = $text] $variant,)*
        }

        impl Closure {
            /// All closures.
            pub const ALL: &'static [Self] = &[$(Self::$variant),*];

            /// The word of pipeline files.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $word,)* }
            }

            /// The usual value of the constant.
            #[must_use]
            pub const fn usual_constant(self) -> f64 {
                match self { $(Self::$variant => $default,)* }
            }

            /// `C(c) Δ²`, the square of a mixing length, for a constant and a filter width.
            #[must_use]
            pub fn mixing<R: Real>(self, constant: f64, width: R) -> R {
                let squared = match self { $(Self::$variant => $squared,)* };
                let length = R::lit(constant) * width;
                if squared { length * length } else { length * width }
            }

            /// `ν_t/(C Δ²)`, one over time. It is homogeneous: `rate(a g) = a rate(g)` for `a ≥ 0`, so that
            /// `rate(ρ ∇v) = ρ rate(∇v)`.
            #[inline(always)]
            pub fn rate<R: Real>(self, g: &VelocityGradient<R>) -> R {
                match self { $(Self::$variant => $module::rate(g),)* }
            }
        }
    };
}

closures! {
    Smagorinsky "smagorinsky" smagorinsky 0.17 true,
        "Smagorinsky 1963: the rate of strain; not zero at walls.";
    Wale "wale" wale 0.325 true,
        "WALE, Nicoud & Ducros 1999: zero in plane shear, `∝ y³` at walls.";
    Vreman "vreman" vreman 0.07 false,
        "Vreman 2004: zero in plane shear and in all flows of one component.";
    Sigma "sigma" sigma 1.35 true,
        "Sigma, Nicoud et al. 2011: zero in plane and axisymmetric flows, `∝ y³` at walls.";
}

/// A closure with its numbers: what [`NavierStokes`](crate::NavierStokes) adds to the molecular viscosity.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct EddyViscosity {
    /// The model.
    pub closure: Closure,
    /// Its constant.
    pub constant: f64,
    /// Turbulent Prandtl number `Pr_t = μ_t c_p/κ_t`, about 0.9.
    pub prandtl: f64,
    /// `C Δ²`, the coefficient of the element; see
    /// [`Diffusion::with_coefficient`](crate::Diffusion::with_coefficient).
    pub mixing: f64,
}

impl EddyViscosity {
    /// A closure with its usual constant and `Pr_t = 0.9`; [`mixing`](Self::mixing) is zero.
    #[must_use]
    pub const fn usual(closure: Closure) -> Self {
        Self { closure, constant: closure.usual_constant(), prandtl: 0.9, mixing: 0.0 }
    }
}

/// A gradient in `D` dimensions, in three: other derivatives and components are zero.
#[inline(always)]
pub fn in_space<R: Real, const D: usize>(g: &[[R; D]; D]) -> VelocityGradient<R> {
    let mut out = [[R::lit(0.0); 3]; 3];
    for d in 0..D {
        for i in 0..D {
            out[d][i] = g[d][i];
        }
    }
    out
}

/// `Σ_ij g_ij²`.
#[inline(always)]
fn square_sum<R: Real>(g: &VelocityGradient<R>) -> R {
    let mut sum = g[0][0] * g[0][0];
    for i in 1..9 {
        sum = g[i / 3][i % 3].mul_add(g[i / 3][i % 3], sum);
    }
    sum
}

/// The cofactors of a gradient, but for their signs: its minors of two rows and two columns. The sum of their
/// squares is the second invariant of `gᵀg` (Cauchy and Binet).
#[inline(always)]
fn minors<R: Real>(g: &VelocityGradient<R>) -> VelocityGradient<R> {
    array!(3, |i| {
        let (a, b) = ((i + 1) % 3, (i + 2) % 3);
        array!(3, |j| {
            let (k, l) = ((j + 1) % 3, (j + 2) % 3);
            g[a][k] * g[b][l] - g[a][l] * g[b][k]
        })
    })
}
