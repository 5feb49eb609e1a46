//! Means over time: time integrals of fields at the points of the cells, stored in checkpoints.

use std::path::Path;

use dgsuite_timeint::TimePoint;

use super::fields;
use super::schedule::Schedule;
use crate::plan::AveragesPlan;
use crate::systems::hyperbolic::Hyperbolic;
use crate::writer::{UnstructuredFields, Values, VtuOptions, WriterError};

/// Time integrals by the trapezoidal rule, starting at a given time.
pub struct Averages<'a> {
    plan: &'a AveragesPlan,
    schedule: Schedule,
    lattice_order: usize,
    /// The integrals: all fields of all cells, one after the other.
    sum: Vec<f64>,
    /// The time that they span.
    length: f64,
    /// The last sample and its time.
    last: Option<(f64, Vec<f64>)>,
}

impl<'a> Averages<'a> {
    /// Starts from zero, or from the integrals in a checkpoint.
    pub fn new(plan: &'a AveragesPlan, lattice_order: usize, now: TimePoint, saved: &[f64]) -> Self {
        let mut new = Self {
            plan,
            schedule: Schedule::new(plan.every, now),
            lattice_order,
            sum: Vec::new(),
            length: 0.0,
            last: None,
        };
        if let [length, time, values @ ..] = saved {
            let (sum, last) = values.split_at(values.len() / 2);
            new.length = *length;
            new.sum = sum.to_vec();
            new.last = Some((*time, last.to_vec()));
        }
        new
    }

    /// Takes a sample if one is due now or if there is none yet.
    pub fn record(&mut self, solver: &Hyperbolic, now: TimePoint) {
        let due = self.schedule.due(now);
        if now.t < self.plan.from || !(due || self.last.is_none()) {
            return;
        }
        let values = flat(&self.sample(solver, now.t));
        match &self.last {
            // Integrals of other fields in the checkpoint cannot be used.
            Some((before, earlier)) if earlier.len() == values.len() => {
                self.length += now.t - before;
                add(&mut self.sum, now.t - before, earlier, &values);
            }
            _ => {
                self.sum = vec![0.0; values.len()];
                self.length = 0.0;
            }
        }
        self.last = Some((now.t, values));
    }

    /// Returns the data for a checkpoint.
    pub fn save(&self) -> Vec<f64> {
        let Some((time, last)) = &self.last else { return Vec::new() };
        [self.length, *time].into_iter().chain(self.sum.iter().copied()).chain(last.iter().copied()).collect()
    }

    /// Writes the means up to now, if any time has passed. The sums stay, so that stopping and continuing a
    /// run does not change them.
    ///
    /// # Errors
    /// The errors of the writer.
    pub fn write(
        &self,
        solver: &Hyperbolic,
        t: f64,
        path: &Path,
        options: &VtuOptions,
    ) -> Result<(), WriterError> {
        let Some((before, earlier)) = &self.last else { return Ok(()) };
        let length = self.length + (t - before);
        let mut means = self.sample(solver, t);
        let values = flat(&means);
        if length <= 0.0 || values.len() != earlier.len() {
            return Ok(());
        }
        let mut sum = self.sum.clone();
        add(&mut sum, t - before, earlier, &values);
        let mut sums = sum.iter();
        for field in means.pieces.iter_mut().flat_map(|piece| &mut piece.point_data) {
            if let Values::Real(values) = &mut field.values {
                for (x, sum) in values.iter_mut().zip(sums.by_ref()) {
                    *x = sum / length;
                }
            }
        }
        means.write(path, options).map(|_| ())
    }

    fn sample(&self, solver: &Hyperbolic, t: f64) -> UnstructuredFields {
        fields::sample(solver, t, self.lattice_order, &self.plan.fields, false)
    }
}

/// Adds a trapezoid of width `dt`.
fn add(sum: &mut [f64], dt: f64, earlier: &[f64], now: &[f64]) {
    for ((sum, a), b) in sum.iter_mut().zip(earlier).zip(now) {
        *sum += 0.5 * dt * (a + b);
    }
}

/// The values of all fields, cell blocks one after the other.
fn flat(fields: &UnstructuredFields) -> Vec<f64> {
    let fields = fields.pieces.iter().flat_map(|piece| &piece.point_data);
    let values = fields.filter_map(|field| match &field.values {
        Values::Real(values) => Some(values.as_slice()),
        Values::Integer(_) => None,
    });
    values.flatten().copied().collect()
}
