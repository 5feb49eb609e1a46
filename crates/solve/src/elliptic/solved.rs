//! The result of a solve.

use dgsuite_amg::{Solution, SolveError};
use dgsuite_gpu::GpuError;

use crate::words::{Reader, Words};

/// The part of the data for which no solution exists, in a problem that fixes u only up to a constant. In a
/// mesh of several disconnected parts: the part in which it is largest.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Imbalance {
    /// `∫ f + ∮ g`, which should be 0.
    pub total: f64,
    /// Sum of the absolute values of the terms of `total`.
    pub size: f64,
}

/// Imbalance that cubature errors explain.
const BALANCE: f64 = 1e-3;

impl Imbalance {
    /// Whether it is within the errors of cubature.
    #[must_use]
    pub fn is_compatible(&self) -> bool {
        self.total.abs() <= BALANCE * self.size
    }

    /// The imbalance relative to the data.
    pub(super) fn share(&self) -> f64 {
        if self.size > 0.0 { self.total.abs() / self.size } else { 0.0 }
    }
}

/// A datum that is not finite.
#[derive(Clone, Debug, PartialEq)]
pub struct BadDatum {
    /// The boundary of the datum; `None` for the right-hand side f.
    pub boundary: Option<String>,
    /// The element, as numbered in the mesh file.
    pub element: u64,
    /// The point.
    pub at: [f64; 3],
    /// The value.
    pub value: f64,
}

impl BadDatum {
    pub(super) fn to_bytes(&self) -> Vec<u8> {
        let mut words = Words::default();
        words.list(self.boundary.as_deref().unwrap_or_default().as_bytes());
        words.number(usize::from(self.boundary.is_some()));
        words.number(self.element as usize);
        words.reals(self.at.into_iter().chain([self.value]).collect::<Vec<_>>().into_iter());
        words.bytes().to_vec()
    }

    pub(super) fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let mut reader = Reader::new(bytes);
        let name = String::from_utf8_lossy(reader.list()).into_owned();
        let boundary = (reader.number() == 1).then_some(name);
        let element = reader.number() as u64;
        let [x, y, z, value] = reader.reals()[..] else { return None };
        Some(Self { boundary, element, at: [x, y, z], value })
    }
}

/// The result of a solve, successful or not.
#[derive(Debug)]
pub struct Solved {
    /// The solution, or the last iterate, in the operator's order; on several ranks that of this one.
    pub u: Vec<f64>,
    /// The solution's residuals, or the error.
    pub outcome: Result<Solution, SolveError>,
    /// The error of the device or of the communication, which makes the outcome meaningless.
    pub refused: Option<GpuError>,
    /// The datum that is not finite, if the first residual is not finite.
    pub bad_datum: Option<BadDatum>,
    /// Whether the solve was stopped from outside.
    pub stopped: bool,
    /// Seconds for the right-hand side, including its copy to the device.
    pub right_hand_side_s: f64,
    /// Seconds for the solve.
    pub solve_s: f64,
    /// `∫ u`.
    pub integral: f64,
    /// For a solution that is fixed only up to a constant: the imbalance of the data.
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

    /// Number of iterations.
    #[must_use]
    pub fn iterations(&self) -> usize {
        self.outcome.as_ref().map_or_else(|e| e.history().len().saturating_sub(1), |s| s.iterations)
    }

    /// The norm of the last residual; for a solution that of `b − A u`.
    #[must_use]
    pub fn residual(&self) -> f64 {
        let last = self.history().last().copied().unwrap_or(0.0);
        self.outcome.as_ref().map_or(last, |solution| solution.true_residual)
    }

    /// The last residual relative to the first.
    #[must_use]
    pub fn reduction(&self) -> f64 {
        match self.history().first() {
            Some(&first) if first > 0.0 => self.residual() / first,
            _ => 0.0,
        }
    }

    /// The mean factor by which an iteration reduces the residual.
    #[must_use]
    pub fn rate(&self) -> f64 {
        match self.iterations() {
            0 => 0.0,
            n => self.reduction().powf(1.0 / n as f64),
        }
    }

    /// Millions of unknowns per second.
    #[must_use]
    pub fn mdofs_per_s(&self, dofs: usize) -> f64 {
        if self.solve_s > 0.0 { dofs as f64 / self.solve_s / 1e6 } else { 0.0 }
    }
}
