//! The factor of λ, which can change after the set-up of an operator.
//!
//! λ occurs in one number of each row of coefficients, `w J λ`. A change of the factor rewrites these numbers
//! in place, from a copy of those of the set-up.

use super::Sipdg;
use super::coefficient::Coefficient;
use super::part::PartOperator;
use super::space::Problem;
use crate::error::OpsError;
use crate::lanes::simd::PackScalar;
use rayon::prelude::*;
use std::sync::Arc;

/// Checks the factor of λ of a problem; `zero` states whether λ vanishes.
pub(crate) fn check_factor(factor: f64, zero: bool) -> Result<(), OpsError> {
    let refuse = |reason: String| Err(OpsError::Elliptic { reason });
    if zero {
        return refuse("lambda cannot be multiplied: it is zero since the set-up".to_owned());
    }
    if factor > 0.0 && factor.is_finite() {
        return Ok(());
    }
    refuse(format!("the factor of lambda is {factor}, and has to be finite and positive"))
}

impl<T: PackScalar> Sipdg<T> {
    /// Changes λ to `factor` times the λ of the set-up, whatever factor was set before.
    ///
    /// All other functions of the operator follow: products, diagonals, matrices, inverses of blocks, and
    /// operators of other orders or in single precision that are made later. The function rewrites one number
    /// for each element, or one for each cubature point if elements are curved or coefficients vary. The
    /// results are those of an operator that is set up with `λ factor`, up to rounding.
    ///
    /// # Errors
    /// [`OpsError::Elliptic`] if λ is zero, or the factor is not finite and positive.
    pub fn set_lambda(&mut self, factor: f64) -> Result<(), OpsError> {
        check_factor(factor, self.space.problem.lambda.is_zero())?;
        self.space.lambda_factor = factor;
        let (dim, host) = (self.space.problem.mesh.dim, Arc::clone(self.host()));
        for (group, parts) in self.space.groups.iter().zip(&mut self.operators) {
            let lanes = group.state.lanes;
            host.install(|| parts.iter_mut().for_each(|part| part.set_reaction(factor, dim, lanes)));
        }
        Ok(())
    }

    /// The factor of [`set_lambda`](Self::set_lambda), 1 after the set-up.
    #[must_use]
    pub fn lambda_factor(&self) -> f64 {
        self.space.lambda_factor
    }

    /// The operator of the same problem with the constant `lambda` instead of its own λ.
    ///
    /// # Errors
    /// [`OpsError::Coefficient`] if `lambda` is negative or not finite, and errors of memory allocation.
    pub fn with_reaction(&self, lambda: f64) -> Result<Self, OpsError> {
        let problem = self.space.problem.with_reaction(lambda)?;
        Self::of_problem(Arc::new(problem), self.space.order, Some(&self.space.trace))
    }

    /// The operator with another factor of λ.
    pub(super) fn with_lambda(mut self, factor: f64) -> Result<Self, OpsError> {
        if factor.to_bits() != self.space.lambda_factor.to_bits() {
            self.set_lambda(factor)?;
        }
        Ok(self)
    }
}

impl Problem {
    pub(super) fn with_reaction(&self, lambda: f64) -> Result<Self, OpsError> {
        let of = Arc::clone(&self.mesh);
        Ok(Self {
            lambda: Coefficient::new("lambda", &of, self.options.order, &|_, _| lambda, &self.host)?
                .on(self.ranks.as_deref())?,
            kappa: self.kappa.clone(),
            boundaries: self.boundaries.clone(),
            condition: self.condition.clone(),
            packings: self.packings.clone(),
            ranks: self.ranks.clone(),
            lines: Arc::clone(&self.lines),
            host: Arc::clone(&self.host),
            options: self.options,
            mesh: of,
        })
    }
}

impl<T: PackScalar> PartOperator<T> {
    fn set_reaction(&mut self, factor: f64, dim: usize, lanes: usize) {
        // The last entry of each row, after G_de.
        let row = (dim * (dim + 1) / 2 + 1) * lanes;
        if self.reaction.is_empty() {
            let last = |row: &[T]| row[row.len() - lanes..].to_vec();
            self.reaction = self.metric.chunks_exact(row).flat_map(last).collect();
        }
        scale_last(&mut self.metric, row, &self.reaction, lanes, factor);
        if let Some(lines) = self.lines.as_ref().filter(|_| !self.boxes.is_empty()) {
            let row = lines.box_rows(true) * lanes;
            scale_last(&mut self.boxes, row, &self.reaction, lanes, factor);
        }
    }
}

/// Replaces the last `lanes` numbers of each row by `factor` times those of `from`.
fn scale_last<T: PackScalar>(numbers: &mut [T], row: usize, from: &[T], lanes: usize, factor: f64) {
    let rows = numbers.par_chunks_exact_mut(row).zip(from.par_chunks_exact(lanes));
    rows.for_each(|(row, from)| {
        let last = row.len() - lanes;
        for (v, from) in row[last..].iter_mut().zip(from) {
            *v = T::from_f64(from.to_f64() * factor);
        }
    });
}
