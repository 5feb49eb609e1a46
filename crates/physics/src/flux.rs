//! Numerical fluxes: one value at a face from the states on its two sides.

mod hll;
mod hllc;
mod roe;
mod roe_average;
mod rusanov;

pub use hll::Hll;
pub use hllc::Hllc;
pub use roe::{FaceMean, Roe};
pub use rusanov::Rusanov;

use crate::law::Law;
use crate::real::{Real, array};

/// A numerical flux `f*(u⁻, u⁺, n)` through a face with unit normal `n`, which points from minus to plus.
///
/// Every one is consistent, `f*(u, u, n) = Σ_d F_d(u) n_d`, and conservative,
/// `f*(a, b, n) = −f*(b, a, −n)`, to rounding.
pub trait NumericalFlux<L: Law<D, N>, const D: usize, const N: usize>: Copy + Send + Sync + 'static {
    /// Name in pipeline files.
    const NAME: &'static str;

    /// The flux from the minus to the plus side.
    fn eval<R: Real>(&self, law: &L, um: &[R; N], up: &[R; N], n: &[R; D]) -> [R; N];

    /// The flux through boundaries, where the outer state is a condition's.
    #[must_use]
    fn on_boundaries(&self) -> Self {
        *self
    }

    /// [`eval`](Self::eval) times `scale`, the same to the last bit: a flux that ends with a factor that is a
    /// power of two overrides it, so that both factors are one.
    #[inline(always)]
    fn eval_scaled<R: Real>(&self, law: &L, um: &[R; N], up: &[R; N], n: &[R; D], scale: R) -> [R; N] {
        let f = self.eval(law, um, up, n);
        array!(N, |k| f[k] * scale)
    }
}
