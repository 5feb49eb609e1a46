//! Coefficients of the schemes, as stages `reg ← a reg + dt R(u)`, `next ← b base + (1 − b) u + c reg`.

use crate::rhs::RunningSum;

/// The base state of a stage, in addition to its input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Base {
    /// None: `b = 0`.
    None,
    /// The state at the start of the step.
    Start,
    /// The running sum.
    Sum,
    /// The newest mean.
    Mean,
}

/// A mean of states that is the base of later stages: `mean ← m (the mean before) + q u + s u₀`, with `u` the
/// state at the start of the stage and `u₀` the state at the start of the step. `m + q + s = 1`. Each mean of
/// a step is kept until its end.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Mean {
    /// Factor of the previous mean; zero for the first one.
    pub m: f64,
    /// Factor of the stage's input.
    pub q: f64,
    /// Factor of the state at the start of the step.
    pub s: f64,
}

/// Factors of one stage, without the step size.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Row {
    /// Factor of the old register.
    pub a: f64,
    /// Weight of the base.
    pub b: f64,
    /// Factor of the new register.
    pub c: f64,
    /// The base.
    pub base: Base,
    /// The update of the running sum after this stage.
    pub sum: Option<RunningSum>,
    /// A mean that is computed after this stage.
    pub mean: Option<Mean>,
}

pub(super) const fn row(a: f64, b: f64, c: f64, base: Base) -> Row {
    Row { a, b, c, base, sum: None, mean: None }
}

const fn row_with_sum(b: f64, c: f64, base: Base, p: f64, q: f64, d: f64) -> Row {
    Row { a: 0.0, b, c, base, sum: Some(RunningSum { p, q, d }), mean: None }
}

/// `b` rounded so that `b` and `1 − b` are both floating point numbers. The weights of a mean then add to
/// exactly one, and a constant state does not drift.
pub(super) const fn share(b: f64) -> f64 {
    1.0 - (1.0 - b)
}

/// Runge (1895): `u₁ = u₀ + ½ dt R(u₀)`, `u = u₀ + dt R(u₁)`.
pub(super) static MIDPOINT: [Row; 2] = [row(0.0, 0.0, 0.5, Base::None), row(0.0, 1.0, 1.0, Base::Start)];

/// Heun (1900) in Williamson's 2N form: the register after the second stage is `dt (R(u₁) − R(u₀))`.
pub(super) static HEUN: [Row; 2] = [row(0.0, 0.0, 1.0, Base::None), row(-1.0, 0.0, 0.5, Base::None)];

/// Kutta (1901): the running sum collects `u₀ + dt (k₁/6 + k₂/3 + k₃/3)`, the last stage adds `dt k₄/6`.
pub(super) static RK4: [Row; 4] = [
    row_with_sum(0.0, 0.5, Base::None, 0.0, 1.0, 1.0 / 6.0),
    row_with_sum(1.0, 0.5, Base::Start, 1.0, 0.0, 1.0 / 3.0),
    row_with_sum(1.0, 1.0, Base::Start, 1.0, 0.0, 1.0 / 3.0),
    row(0.0, 1.0, 1.0 / 6.0, Base::Sum),
];

/// Shu and Osher (1988), eq. (2.16).
pub(super) static SSPRK22: [Row; 2] = [row(0.0, 0.0, 1.0, Base::None), row(0.0, 0.5, 0.5, Base::Start)];

/// Shu and Osher (1988), eq. (2.18).
pub(super) static SSPRK33: [Row; 3] = [
    row(0.0, 0.0, 1.0, Base::None),
    row(0.0, 0.75, 0.25, Base::Start),
    row(0.0, share(1.0 / 3.0), 2.0 / 3.0, Base::Start),
];

/// Kraaijevanger (1991), SSP(4,3) in the Shu–Osher form of Ruuth and Spiteri (2002): Euler steps of `dt/2`, a
/// mean with the start after the third one.
pub(super) static SSPRK43: [Row; 4] = [
    row(0.0, 0.0, 0.5, Base::None),
    row(0.0, 0.0, 0.5, Base::None),
    row(0.0, share(2.0 / 3.0), 1.0 / 6.0, Base::Start),
    row(0.0, 0.0, 0.5, Base::None),
];

/// Weight of `u₅` in the running sum `q₂` of Ketcheson's scheme, divided by the sum of its weights, 2/5.
const SSP104_Q: f64 = share(0.9);

/// Ketcheson (2008), SIAM J. Sci. Comput. 30, 2113–2136, SSPRK(10,4): Euler steps of `dt/6`, with
/// `v = 3/5 u₀ + 2/5 u₅` after the fifth one; the last stage is
/// `u = 1/25 u₀ + 9/25 u₅ + 3/5 u₉ + dt/10 R(u₉)`. The running sum collects `u₀/10 + 9/10 u₅`, with
/// `u₅ = u₄ + dt/6 R(u₄)`.
pub(super) static SSPRK104: [Row; 10] = [
    row_with_sum(0.0, 1.0 / 6.0, Base::None, 0.0, 1.0, 0.0),
    row(0.0, 0.0, 1.0 / 6.0, Base::None),
    row(0.0, 0.0, 1.0 / 6.0, Base::None),
    row(0.0, 0.0, 1.0 / 6.0, Base::None),
    row_with_sum(share(0.6), 1.0 / 15.0, Base::Start, 1.0 - SSP104_Q, SSP104_Q, SSP104_Q / 6.0),
    row(0.0, 0.0, 1.0 / 6.0, Base::None),
    row(0.0, 0.0, 1.0 / 6.0, Base::None),
    row(0.0, 0.0, 1.0 / 6.0, Base::None),
    row(0.0, 0.0, 1.0 / 6.0, Base::None),
    row(0.0, share(0.4), 0.1, Base::Sum),
];

/// Weight of everything except `u₄` in the last stage of Spiteri and Ruuth's scheme.
const SSP54_B: f64 = share(1.0 - 0.386_708_617_503_269);
/// Weight of `u₂` in it (0.517231671970585 in the last stage as printed; the rest belongs to `u₃`,
/// 0.096059710526147).
const SSP54_Q: f64 = share(1.0 - 0.096_059_710_526_147 / SSP54_B);

/// Spiteri and Ruuth (2002), SSPRK(5,4). The last stage,
/// `u = α₂ u₂ + α₃ u₃ + β₃ dt R(u₃) + α₄ u₄ + β₄ dt R(u₄)`, is the mean of `u₄` and of a running sum of `u₂`,
/// `u₃` and `dt R(u₃)`.
pub(super) static SSPRK54: [Row; 5] = [
    row(0.0, 0.0, 0.391_752_226_571_890, Base::None),
    row(0.0, share(0.444_370_493_651_235), 0.368_410_593_050_371, Base::Start),
    row_with_sum(share(0.620_101_851_488_403), 0.251_891_774_271_694, Base::Start, 0.0, SSP54_Q, 0.0),
    row_with_sum(
        share(0.178_079_954_393_132),
        0.544_974_750_228_521,
        Base::Start,
        1.0,
        1.0 - SSP54_Q,
        0.063_692_468_666_290 / SSP54_B,
    ),
    row(0.0, SSP54_B, 0.226_007_483_236_906, Base::Sum),
];

/// Carpenter and Kennedy (1994), the 2N scheme with five stages of order four (solution 3 of NASA TM 109112).
#[rustfmt::skip]
pub(super) static LSERK54: [Row; 5] = [
    row(                                    0.0, 0.0, 1432997174477.0 /  9575080441755.0, Base::None),
    row( -567301805773.0 / 1357537059087.0, 0.0, 5161836677717.0 / 13612068292357.0, Base::None),
    row(-2404267990393.0 / 2016746695238.0, 0.0, 1720146321549.0 /  2090206949498.0, Base::None),
    row(-3550918686646.0 / 2091501179385.0, 0.0, 3134564353537.0 /  4481467310338.0, Base::None),
    row(-1275806237668.0 /  842570457699.0, 0.0, 2277821191437.0 / 14882151754819.0, Base::None),
];
