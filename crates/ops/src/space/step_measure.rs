//! The measure of time steps, and the numbers of an element from which its largest step follows.

/// The measure in which time steps are given.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum StepMeasure {
    /// CFL number: the step for the value 1 is `min h / ((2p + 1)(λ + ν σ/τ))`,
    /// `h = d |E| / (largest face measure)`.
    #[default]
    Cfl,
    /// Product of step and spectral radius: the step for the value 1 is `min 1 / (τ λ + σ ν)`, with the
    /// shape, space and geometry of each element. Where all waves run with one velocity, as in incompressible
    /// flow, `τ λ` takes the element's shape along the flow.
    Radius,
    /// Positivity: with the step for the value 1 an explicit step of first order keeps density and pressure
    /// of all means positive, `min ω h / (d λ)`, where `ω` is the weight of a face in the mean of an element
    /// (`step_bound/positivity.rs`). A scheme in time that preserves strong stability needs a value below its
    /// SSP coefficient.
    Positivity,
}

/// Data on which the step of one element depends.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct ElementBound {
    /// `h = d |E| / (largest face measure)`.
    pub(crate) size: f64,
    /// `τ`.
    pub(crate) radius: f64,
    /// `σ / τ`; 0 without diffusion.
    pub(crate) spread: f64,
    /// `ω / d`.
    pub(crate) share: f64,
    /// The factor of [the rate](crate::formulas::directed) of laws whose waves run in one direction; above 1
    /// where the traces of a curved element grow more than those of its mean.
    pub(crate) factor: f64,
}

impl ElementBound {
    /// The step for the value 1 of the measure, times `λ + ν σ/τ`.
    pub(crate) fn unit(&self, measure: StepMeasure, order: usize) -> f64 {
        match measure {
            StepMeasure::Cfl => self.size / (2 * order + 1) as f64,
            StepMeasure::Radius => 1.0 / self.radius,
            StepMeasure::Positivity => self.share * self.size,
        }
    }
}
