//! What comes of a solve.

use dgsuite_amg::{Solution, SolveError};
use dgsuite_gpu::GpuError;

/// The part of the data that no solution can meet, of a problem that fixes u up to a constant only. Of a mesh
/// of several parts that are joined nowhere: in the part where it is largest.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Imbalance {
    /// `∫ f + ∮ g`, which would have to be 0.
    pub total: f64,
    /// Sum of the sizes of what is added up there.
    pub size: f64,
}

/// Imbalance that cubature explains.
const BALANCE: f64 = 1e-3;

impl Imbalance {
    /// Whether it is no more than errors of cubature.
    #[must_use]
    pub fn is_compatible(&self) -> bool {
        self.total.abs() <= BALANCE * self.size
    }

    /// What part of the data it is.
    pub(super) fn share(&self) -> f64 {
        if self.size > 0.0 { self.total.abs() / self.size } else { 0.0 }
    }
}

/// A datum that is infinite or no number.
#[derive(Clone, Debug, PartialEq)]
pub struct BadDatum {
    /// The boundary whose datum it is; none for the right-hand side f.
    pub boundary: Option<String>,
    /// The element, as the mesh file numbers it.
    pub element: u64,
    /// Where.
    pub at: [f64; 3],
    /// What was found.
    pub value: f64,
}

/// A solve, whether it went well or not.
#[derive(Debug)]
pub struct Solved {
    /// The solution, or the last iterate, in the operator's order.
    pub u: Vec<f64>,
    /// How it went.
    pub outcome: Result<Solution, SolveError>,
    /// What the device refused, which makes the outcome worthless.
    pub refused: Option<GpuError>,
    /// What made the first residual a number that is none.
    pub bad_datum: Option<BadDatum>,
    /// Whether it was ended from outside.
    pub stopped: bool,
    /// Seconds for the right-hand side, its copy to the device included.
    pub right_hand_side_s: f64,
    /// Seconds for the solve.
    pub solve_s: f64,
    /// `∫ u`.
    pub integral: f64,
    /// Where nothing fixes a constant: what does not balance.
    pub imbalance: Option<Imbalance>,
}

impl Solved {
    /// Norms of the residuals, the first before any iteration.
    #[must_use]
    pub fn history(&self) -> &[f64] {
        match &self.outcome {
            Ok(solution) => &solution.residuals,
            Err(error) => error.history(),
        }
    }

    /// Iterations done.
    #[must_use]
    pub fn iterations(&self) -> usize {
        self.outcome.as_ref().map_or_else(|e| e.history().len().saturating_sub(1), |s| s.iterations)
    }

    /// The norm of the last residual: of a solution that of `b − A u`.
    #[must_use]
    pub fn residual(&self) -> f64 {
        let last = self.history().last().copied().unwrap_or(0.0);
        self.outcome.as_ref().map_or(last, |solution| solution.true_residual)
    }

    /// The last residual over the first.
    #[must_use]
    pub fn reduction(&self) -> f64 {
        match self.history().first() {
            Some(&first) if first > 0.0 => self.residual() / first,
            _ => 0.0,
        }
    }

    /// The mean factor of an iteration on the residual.
    #[must_use]
    pub fn rate(&self) -> f64 {
        match self.iterations() {
            0 => 0.0,
            n => self.reduction().powf(1.0 / n as f64),
        }
    }

    /// Millions of unknowns a second.
    #[must_use]
    pub fn mdofs_per_s(&self, dofs: usize) -> f64 {
        if self.solve_s > 0.0 { dofs as f64 / self.solve_s / 1e6 } else { 0.0 }
    }
}
