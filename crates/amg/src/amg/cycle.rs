//! V-, W- and K-cycles over the levels, from a zero guess.

use dgsuite_gpu::{HostVector, Scalar, Vector};

use super::Level;
use crate::Cycle;
use crate::dense::DenseInverse;
use crate::hierarchy::NONE;

/// The K-cycle's second iteration is left out where the first reduced the residual to this share (Notay
/// 2008).
const ENOUGH: f64 = 0.25;

/// `x ← M⁻¹ b` on the first of the levels.
pub(super) fn run<T: Scalar>(levels: &mut [Level<T>], direct: Option<&DenseInverse>, cycle: Cycle) {
    visit(levels, direct, cycle, 1);
}

/// One visit of a level; `next` is the number of the level below it, counted from the finest.
fn visit<T: Scalar>(levels: &mut [Level<T>], direct: Option<&DenseInverse>, cycle: Cycle, next: usize) {
    let Some((level, coarser)) = levels.split_first_mut() else { return };
    if coarser.is_empty() {
        match direct {
            Some(inverse) => inverse.apply(&level.b, &mut level.x),
            None => {
                level.smooth_from_zero();
                level.smooth();
            }
        }
        return;
    }
    level.smooth_from_zero();
    level.restrict_residual(&mut coarser[0].b);
    let twice = coarser.len() > 1 || direct.is_none();
    match cycle {
        Cycle::W if twice => visit_twice(coarser, direct, cycle, next + 1),
        Cycle::K { levels } if twice && next <= levels => iterate(coarser, direct, cycle, next + 1),
        _ => visit(coarser, direct, cycle, next + 1),
    }
    level.prolongate(&coarser[0].x);
    level.smooth();
}

/// Two visits, the second for the residual of the first.
fn visit_twice<T: Scalar>(levels: &mut [Level<T>], direct: Option<&DenseInverse>, cycle: Cycle, next: usize) {
    visit(levels, direct, cycle, next);
    let level = &mut levels[0];
    std::mem::swap(&mut level.x, &mut level.c);
    level.matrix.subtract_product(&level.c, &mut level.b);
    visit(levels, direct, cycle, next);
    let level = &mut levels[0];
    level.x.axpby(1.0, &level.c, 1.0);
}

/// One or two iterations of flexible conjugate gradients, each preconditioned by a visit (Notay 2008,
/// algorithm 3.2; the second direction is made conjugate to the first in the coefficients).
fn iterate<T: Scalar>(levels: &mut [Level<T>], direct: Option<&DenseInverse>, cycle: Cycle, next: usize) {
    visit(levels, direct, cycle, next);
    let level = &mut levels[0];
    std::mem::swap(&mut level.x, &mut level.c);
    level.matrix.multiply(&level.c, &mut level.v);
    let (rho, alpha, size) = (level.c.dot(&level.v), level.c.dot(&level.b), level.b.dot(&level.b));
    if !(rho > 0.0 && rho.is_finite()) {
        // Nothing, or something that is no direction: pass it on, the solver outside judges.
        std::mem::swap(&mut level.x, &mut level.c);
        return;
    }
    let length = alpha / rho;
    level.b.axpby(-length, &level.v, 1.0);
    if level.b.dot(&level.b) <= ENOUGH * ENOUGH * size {
        level.x.axpby(length, &level.c, 0.0);
        return;
    }
    visit(levels, direct, cycle, next);
    let level = &mut levels[0];
    level.matrix.multiply(&level.x, &mut level.y);
    let (gamma, beta) = (level.x.dot(&level.v), level.x.dot(&level.y));
    let rest = level.x.dot(&level.b);
    let rho_two = beta - gamma * gamma / rho;
    if rho_two > 0.0 && rho_two.is_finite() {
        let second = rest / rho_two;
        level.x.axpby(length - gamma * second / rho, &level.c, second);
    } else {
        level.x.axpby(length, &level.c, 0.0);
    }
}

impl<T: Scalar> Level<T> {
    /// The smoother's steps on `x = 0`.
    fn smooth_from_zero(&mut self) {
        for k in 0..self.steps.len() {
            let (alpha, beta) = self.steps[k];
            if k == 0 {
                self.x.add_product(beta, &self.inverse_diagonal, &self.b, 0.0);
                continue;
            }
            if k == 1 && alpha != 0.0 {
                // The iterate before the first is zero.
                self.y.fill(0.0);
            }
            self.step(alpha, beta);
        }
    }

    /// The smoother's steps on `x` as it is.
    fn smooth(&mut self) {
        for k in 0..self.steps.len() {
            let (alpha, beta) = self.steps[k];
            self.step(alpha, beta);
        }
    }

    fn step(&mut self, alpha: f64, beta: f64) {
        self.matrix.relax((alpha, beta), &self.inverse_diagonal, &self.b, &self.x, &mut self.y);
        std::mem::swap(&mut self.x, &mut self.y);
    }

    /// `coarse ← Pᵀ (b − A x)`.
    fn restrict_residual(&self, coarse: &mut HostVector<T>) {
        let Some(aggregates) = &self.aggregates else { return };
        let (a, b, x) = (self.matrix.view(), self.b.as_slice(), self.x.as_slice());
        coarse.for_each_piece(|first, piece| {
            for (k, coarse) in (first..).zip(piece) {
                let mut sum = T::ZERO;
                for &i in aggregates.rows(k) {
                    let i = i as usize;
                    sum += b[i] - a.product(i, x);
                }
                *coarse = sum;
            }
        });
    }

    /// `x ← x + P coarse`.
    fn prolongate(&mut self, coarse: &[T]) {
        let Some(aggregates) = &self.aggregates else { return };
        let of_row = aggregates.of_row.as_slice();
        self.x.for_each_piece(|first, piece| {
            for (x, &k) in piece.iter_mut().zip(&of_row[first..]) {
                if k != NONE {
                    *x += coarse[k as usize];
                }
            }
        });
    }
}
