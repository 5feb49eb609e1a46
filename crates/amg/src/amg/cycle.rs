//! V-, W- and K-cycles over levels of any machine, from a zero guess.

use crate::Cycle;

/// The levels of a hierarchy on some machine, the finest is level 0. Each has a right-hand side `b`, an iterate `x` and, where
/// a cycle may visit it twice, room for a first direction `c`.
pub(crate) trait Levels {
    /// Number of levels.
    fn count(&self) -> usize;
    /// Whether the coarsest level is solved directly; if not, it is smoothed.
    fn has_direct_solve(&self) -> bool;
    /// `x ← A⁻¹ b` on the coarsest level.
    fn solve_directly(&mut self);
    /// The smoother's steps on `x = 0`.
    fn smooth_from_zero(&mut self, k: usize);
    /// The smoother's steps on `x` as it is.
    fn smooth(&mut self, k: usize);
    /// `b_{k+1} ← Pᵀ (b_k − A x_k)`.
    fn restrict_residual(&mut self, k: usize);
    /// `x_k ← x_k + P x_{k+1}`.
    fn prolongate(&mut self, k: usize);
    /// `c ← x`, `b ← b − A c`.
    fn set_aside(&mut self, k: usize);
    /// `x ← x + c`.
    fn add_set_aside(&mut self, k: usize);
    /// The first iteration of a K-cycle, with the direction in `x`: sets it aside, and makes `b` the residual. False if that is
    /// enough, with the solution in `x`. A machine that does not wait for its numbers says true, and
    /// heeds them in [`second_direction`](Self::second_direction).
    fn first_direction(&mut self, k: usize) -> bool;
    /// The second iteration, with its direction in `x`: leaves the best combination of both there.
    fn second_direction(&mut self, k: usize);
}

/// The K-cycle's second iteration is left out where the first reduced the residual to this share (Notay
/// 2008).
pub(crate) const ENOUGH: f64 = 0.25;

/// `x ← M⁻¹ b` on the finest level.
pub(crate) fn run(levels: &mut impl Levels, cycle: Cycle) {
    visit(levels, cycle, 0);
}

/// Whether a cycle visits level `k` twice for each visit of the level above it.
pub(crate) fn visits_twice(cycle: Cycle, k: usize, count: usize, direct: bool) -> bool {
    let wanted = match cycle {
        Cycle::V => false,
        Cycle::W => true,
        Cycle::K { levels } => k <= levels,
    };
    wanted && k > 0 && !(direct && k + 1 == count)
}

/// One visit of level `k`.
fn visit(levels: &mut impl Levels, cycle: Cycle, k: usize) {
    let (count, direct) = (levels.count(), levels.has_direct_solve());
    if k + 1 == count {
        if direct {
            levels.solve_directly();
        } else {
            levels.smooth_from_zero(k);
            levels.smooth(k);
        }
        return;
    }
    levels.smooth_from_zero(k);
    levels.restrict_residual(k);
    match cycle {
        _ if !visits_twice(cycle, k + 1, count, direct) => visit(levels, cycle, k + 1),
        Cycle::K { .. } => iterate(levels, cycle, k + 1),
        Cycle::V | Cycle::W => {
            visit(levels, cycle, k + 1);
            levels.set_aside(k + 1);
            visit(levels, cycle, k + 1);
            levels.add_set_aside(k + 1);
        }
    }
    levels.prolongate(k);
    levels.smooth(k);
}

/// One or two iterations of flexible conjugate gradients, each preconditioned by a visit (Notay 2008,
/// algorithm 3.2; the second direction is made conjugate to the first in the coefficients).
fn iterate(levels: &mut impl Levels, cycle: Cycle, k: usize) {
    visit(levels, cycle, k);
    if levels.first_direction(k) {
        visit(levels, cycle, k);
        levels.second_direction(k);
    }
}
