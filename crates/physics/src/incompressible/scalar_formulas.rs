//! Formulas of the scalars that an incompressible fluid carries: forces, diffusivities.

use crate::real::Real;
use crate::trace::StateRecording;
use std::sync::Arc;

/// Some numbers as formulas of the scalars, of place and of time.
#[derive(Clone, Debug)]
pub struct ScalarFormulas {
    texts: Vec<String>,
    scalars: usize,
    recording: Arc<StateRecording>,
}

impl ScalarFormulas {
    /// The formulas `texts`, recorded as functions of this number of scalars, of place and of time.
    #[must_use]
    pub const fn new(texts: Vec<String>, scalars: usize, recording: Arc<StateRecording>) -> Self {
        Self { texts, scalars, recording }
    }

    /// The texts of the formulas.
    #[must_use]
    pub fn texts(&self) -> &[String] {
        &self.texts
    }

    /// The numbers, in the order of the texts.
    ///
    /// # Panics
    /// If there are fewer scalars than the formulas have.
    pub fn at<R: Real>(&self, scalars: &[R], x: &[R; 3], t: R) -> Vec<R> {
        self.recording.eval(&scalars[..self.scalars], x, t)
    }
}

/// Formulas are equal if their texts are.
impl PartialEq for ScalarFormulas {
    fn eq(&self, other: &Self) -> bool {
        self.texts == other.texts && self.scalars == other.scalars
    }
}
