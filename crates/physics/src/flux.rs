//! Numerical fluxes: one value at a face from the states on its two sides.

mod central;
mod hll;
mod hllc;
mod roe;
mod roe_average;
mod rusanov;
mod slau2;

pub use central::Central;
pub use hll::Hll;
pub use hllc::Hllc;
pub use roe::{FaceMean, Roe};
pub use rusanov::Rusanov;
pub use slau2::Slau2;

use crate::law::Law;
use crate::real::{Real, array};

/// The numerical fluxes of a gas, a row each: the variant of a choice by name, the word, the value, and what
/// it is. `gas_fluxes!(then! { before })` calls `then! { before rows }`; the choice of a set-up with its
/// words and docs, the engines, and the tests of all fluxes are made from these rows.
///
/// ```
/// macro_rules! words {
///     ($($variant:ident $word:literal $value:expr, $text:literal;)*) => { [$($word),*] };
/// }
/// assert!(dgsuite_physics::gas_fluxes!(words! {}).contains(&"hllc"));
/// ```
#[macro_export]
macro_rules! gas_fluxes {
    ($then:ident! { $($before:tt)* }) => {
        $then! {
            $($before)*
            Rusanov "rusanov" $crate::Rusanov, "Local Lax–Friedrichs.";
            Hll "hll" $crate::Hll, "Harten, Lax, van Leer: two waves.";
            Hllc "hllc" $crate::Hllc, "HLL with the contact restored.";
            Roe "roe" $crate::Roe::PLAIN, "Roe with entropy fix.";
            RoeLowMach "roe-low-mach" $crate::Roe::LOW_MACH,
                "Roe's flux with jumps of the normal velocity scaled by the Mach number.";
            Slau2 "slau2" $crate::Slau2, "Simple low-dissipation AUSM: a flux of mass and a pressure.";
        }
    };
}

/// A numerical flux `f*(u⁻, u⁺, n)` through a face with unit normal `n`, which points from minus to plus.
///
/// All numerical fluxes are consistent, `f*(u, u, n) = Σ_d F_d(u) n_d`, and conservative,
/// `f*(a, b, n) = −f*(b, a, −n)`, to rounding. The exceptions are [`PenaltyFlux`](crate::PenaltyFlux), which
/// is conservative but zero without a jump, and [`ElementwiseFlux`](crate::incompressible::ElementwiseFlux),
/// which does not read the outer state.
pub trait NumericalFlux<L: Law<D, N>, const D: usize, const N: usize>: Copy + Send + Sync + 'static {
    /// Name in pipeline files.
    const NAME: &'static str;

    /// Returns the flux from the minus to the plus side.
    fn eval<R: Real>(&self, law: &L, um: &[R; N], up: &[R; N], n: &[R; D]) -> [R; N];

    /// [`eval`](Self::eval) times `scale`, with the same bits. A flux that ends with a factor that is a power
    /// of two overrides this function, to combine both factors.
    #[inline(always)]
    fn eval_scaled<R: Real>(&self, law: &L, um: &[R; N], up: &[R; N], n: &[R; D], scale: R) -> [R; N] {
        let f = self.eval(law, um, up, n);
        array!(N, |k| f[k] * scale)
    }

    /// The flux with a share of its dissipation about a mean of two fluxes; the flux itself if it has none.
    #[must_use]
    fn with_share(self, share: f64, mean: FaceMean) -> Self {
        let _ = (share, mean);
        self
    }
}
