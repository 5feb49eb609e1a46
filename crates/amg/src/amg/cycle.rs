//! V-, W- and K-cycles over levels of any machine, from a zero guess.

use crate::Cycle;

/// The levels of a hierarchy on some machine; level 0 is the finest. Each has a right-hand side `b`, an
/// iterate `x` and, where a cycle may visit it twice, work space for a first direction `c`.
pub(crate) trait Levels {
    /// Number of levels.
    fn count(&self) -> usize;
    /// Whether the coarsest level is solved directly; if not, it is smoothed.
    fn has_direct_solve(&self) -> bool;
    /// `x ← A⁻¹ b` on the coarsest level.
    fn solve_directly(&mut self);
    /// Applies the smoother's steps to `x = 0`.
    fn smooth_from_zero(&mut self, k: usize);
    /// Applies the smoother's steps to the present `x`.
    fn smooth(&mut self, k: usize);
    /// `b_{k+1} ← Pᵀ (b_k − A x_k)`.
    fn restrict_residual(&mut self, k: usize);
    /// `x_k ← x_k + P x_{k+1}`.
    fn prolongate(&mut self, k: usize);
    /// `c ← x`, `b ← b − A c`.
    fn set_aside(&mut self, k: usize);
    /// `x ← x + c`.
    fn add_set_aside(&mut self, k: usize);
    /// The first iteration of a K-cycle, with the direction in `x`: stores it and replaces `b` by the
    /// residual. Returns false if one iteration is enough; `x` is then the solution. A machine that does not
    /// wait for its numbers returns true and uses them in [`second_direction`](Self::second_direction).
    fn first_direction(&mut self, k: usize) -> bool;
    /// The second iteration, with its direction in `x`: leaves the best combination of both directions there.
    fn second_direction(&mut self, k: usize);
}

/// The K-cycle omits its second iteration if the first reduced the residual to this fraction (Notay 2008).
pub(crate) const ENOUGH: f64 = 0.25;

/// Least number of K-cycle levels in the automatic choice, the finest not counted.
const K_LEVELS: usize = 4;
/// Least number of rows of a further K-cycle level.
const K_ROWS: usize = 2048;
/// Largest number of entries that a further level reads, over all its visits, relative to the finest level.
const K_SHARE: f64 = 0.25;

/// The cycle for levels with the given rows and entries; [`usize::MAX`] levels of a K-cycle become as many as
/// are worthwhile. K-cycle iterations on a level double the visits of all levels below. On small levels they
/// cost time and save nothing, and where coarsening slows down, the work grows without bound (8 million rows
/// of seven points took 15 iterations and 510 s with K-cycles on all levels, 15 iterations and 20 s with
/// four).
pub(crate) fn worthwhile(cycle: Cycle, sizes: &[(usize, usize)]) -> Cycle {
    let Cycle::K { levels: usize::MAX } = cycle else { return cycle };
    let finest = sizes.first().map_or(0.0, |&(_, entries)| entries as f64);
    let pays = |&(k, (rows, entries)): &(usize, (usize, usize))| {
        k <= K_LEVELS || (rows >= K_ROWS && (k as f64).exp2() * entries as f64 <= K_SHARE * finest)
    };
    Cycle::K { levels: sizes.iter().copied().enumerate().skip(1).take_while(pays).count() }
}

/// `x ← M⁻¹ b` on the finest level.
pub(crate) fn run(levels: &mut impl Levels, cycle: Cycle) {
    visit(levels, cycle, 0);
}

/// Whether a cycle visits level `k` twice for each visit of the next finer level.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn iterations_end_where_they_do_not_pay() {
        let sizes = |rows: usize, ratio: f64, count: i32| -> Vec<(usize, usize)> {
            (0..count).map(|k| (rows as f64 / ratio.powi(k)) as usize).map(|n| (n, 5 * n)).collect()
        };
        let of = |sizes: &[(usize, usize)]| worthwhile(Cycle::K { levels: usize::MAX }, sizes);
        // As long as levels are large; at least four; at most as many as there are.
        assert_eq!(of(&sizes(1_000_000, 4.0, 8)), Cycle::K { levels: 4 });
        assert_eq!(of(&sizes(9_000_000, 4.0, 9)), Cycle::K { levels: 6 });
        assert_eq!(of(&sizes(1000, 4.0, 3)), Cycle::K { levels: 2 });
        assert_eq!(of(&sizes(100, 4.0, 1)), Cycle::K { levels: 0 });
        // Slow coarsening.
        assert_eq!(of(&sizes(8_000_000, 1.4, 30)), Cycle::K { levels: 4 });
        // An explicit number is kept.
        for cycle in [Cycle::V, Cycle::W, Cycle::K { levels: 9 }] {
            assert_eq!(worthwhile(cycle, &sizes(1_000_000, 1.4, 30)), cycle);
        }
    }
}
