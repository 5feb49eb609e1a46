//! Newton steps of an engine, and where a flow is farthest from steady.

use std::sync::Arc;

use dgsuite_ops::{Discretization, OpsError, PackScalar, Ranks, Sample};
use dgsuite_timeint::NewtonStep;

use super::HostEngine;
use crate::SystemError;
use crate::implicit::{HostState, Implicit, Response};
use crate::setup::{Newton, Setup};

/// An engine that takes Newton steps towards a steady state.
pub(crate) trait NewtonSteps {
    fn newton_step(&mut self, t: f64) -> Result<NewtonStep, OpsError>;
    /// See [`Implicit::response`]. Collective.
    fn response(&mut self, t: f64, rate: &[f64]) -> Result<Option<Response>, OpsError>;
    /// See [`relative_rates`]. Collective.
    fn relative_rates(&mut self, t: f64, order: usize) -> Result<Vec<Sample>, OpsError>;
    /// Where the largest of them are, on a fine lattice. Collective.
    fn largest_rate(&mut self, t: f64) -> Result<Option<LargestRate>, OpsError>;
}

/// Where a flow is farthest from steady.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LargestRate {
    /// The element, and the place in it.
    pub element: usize,
    /// See [`element`](Self::element).
    pub at: [f64; 3],
    /// The conserved variable that changes most.
    pub variable: &'static str,
    /// Its change in an explicit step of the element, relative to its largest size in the domain.
    pub change: f64,
}

/// How much an explicit step of its element would change each conserved variable, relative to the variable's
/// largest size in the whole domain, on the lattice of an order: for a state `u` with rates `du` and the
/// steps of all elements. Collective.
pub(crate) fn relative_rates<T: PackScalar>(
    d: &Discretization<T>,
    (u, du): (&[T], &[T]),
    steps: &[f64],
    order: usize,
) -> Vec<Sample> {
    let mut sizes = vec![0.0_f64; d.physics().n_fields()];
    for sample in d.sample(u, order) {
        let fields = sizes.iter_mut().zip(&sample.values);
        fields.for_each(|(size, field)| *size = field.iter().fold(*size, |size, u| size.max(u.abs())));
    }
    if let Some(ranks) = d.ranks() {
        ranks.max(&mut sizes);
    }
    let mut rates = d.sample(du, order);
    for sample in &mut rates {
        let in_element = sample.points.len() / sample.elements.len().max(1);
        for (field, size) in sample.values.iter_mut().zip(&sizes) {
            for (i, rate) in field.iter_mut().enumerate() {
                // What is zero everywhere does not change.
                let change = *rate * steps[sample.elements[i / in_element]];
                *rate = if change == 0.0 { 0.0 } else { change / size };
            }
        }
    }
    rates
}

/// The place of the largest of [`relative_rates`]; `None` if nothing changes, or all that does is not a
/// number. Collective.
pub(crate) fn largest_of<T: PackScalar>(d: &Discretization<T>, rates: &[Sample]) -> Option<LargestRate> {
    let variables = d.physics().variables();
    let mut largest: Option<LargestRate> = None;
    for sample in rates {
        let in_element = sample.points.len() / sample.elements.len().max(1);
        for (field, variable) in sample.values.iter().zip(&variables) {
            for (i, (rate, &at)) in field.iter().zip(&sample.points).enumerate() {
                let change = rate.abs();
                if change > largest.map_or(0.0, |largest| largest.change) && change.is_finite() {
                    let element = sample.elements[i / in_element];
                    largest = Some(LargestRate { element, at, variable, change });
                }
            }
        }
    }
    match d.ranks() {
        Some(ranks) => of_all(ranks, largest, &variables),
        None => largest,
    }
}

/// The largest rate of all ranks, of equal ones that of the first element, with its number in the whole mesh.
fn of_all(ranks: &Ranks, own: Option<LargestRate>, variables: &[&'static str]) -> Option<LargestRate> {
    let own = own.map(|own| LargestRate { element: ranks.elements()[own.element] as usize, ..own });
    let mut change = [own.map_or(0.0, |own| own.change)];
    ranks.max(&mut change);
    let mut first = [f64::NEG_INFINITY];
    if let Some(own) = own.filter(|own| own.change == change[0]) {
        first = [-(own.element as f64)];
    }
    ranks.max(&mut first);
    // One rank tells where this is.
    let mut told = [f64::NEG_INFINITY; 4];
    if let Some(own) = own.filter(|own| own.change == change[0] && -(own.element as f64) == first[0]) {
        let variable = variables.iter().position(|of| *of == own.variable).unwrap_or(0);
        told = [own.at[0], own.at[1], own.at[2], variable as f64];
    }
    ranks.max(&mut told);
    let (at, variable) = ([told[0], told[1], told[2]], variables.get(told[3] as usize)?);
    (change[0] > 0.0).then_some(LargestRate { element: -first[0] as usize, at, variable, change: change[0] })
}

impl<T: PackScalar> HostEngine<T> {
    /// Prepares Newton steps.
    pub(crate) fn with_newton(mut self, setup: &Setup, newton: Newton) -> Result<Self, SystemError> {
        let d = &self.rhs.discretization;
        self.implicit = Some(Implicit::on_host(setup, newton, d.host(), d)?);
        Ok(self)
    }
}

impl<T: PackScalar> NewtonSteps for HostEngine<T> {
    fn newton_step(&mut self, t: f64) -> Result<NewtonStep, OpsError> {
        let Some(implicit) = &mut self.implicit else { return Ok(NewtonStep::none()) };
        let host = Arc::clone(self.rhs.discretization.host());
        let state = HostState::new(&mut self.rhs.discretization, t, &mut self.u)?;
        // The pool of threads is entered once, and not for each operation with vectors.
        host.install(|| implicit.step(state))
    }

    fn response(&mut self, t: f64, rate: &[f64]) -> Result<Option<Response>, OpsError> {
        let Some(implicit) = &mut self.implicit else { return Ok(None) };
        let host = Arc::clone(self.rhs.discretization.host());
        let state = HostState::new(&mut self.rhs.discretization, t, &mut self.u)?;
        host.install(|| implicit.response(state, rate)).map(Some)
    }

    fn relative_rates(&mut self, t: f64, order: usize) -> Result<Vec<Sample>, OpsError> {
        let (d, mut du, mut steps) = (&mut self.rhs.discretization, vec![T::ZERO; self.u.len()], Vec::new());
        d.eval(t, &self.u, &mut du);
        d.time_step(&self.u, Some(&mut steps))?;
        Ok(relative_rates(d, (&self.u, &du), &d.of_elements(&steps), order))
    }

    fn largest_rate(&mut self, t: f64) -> Result<Option<LargestRate>, OpsError> {
        let order = self.rhs.discretization.order() + 1;
        let rates = self.relative_rates(t, order)?;
        Ok(largest_of(&self.rhs.discretization, &rates))
    }
}
