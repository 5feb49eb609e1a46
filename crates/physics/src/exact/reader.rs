//! Reads the parameters of a named solution: defaults, unknown names, impossible values.

use super::entries::{Entry, Parameter};
use super::{Context, ExactError};
use crate::suggest::nearest;
use std::collections::BTreeMap;

/// Names of the parameters that override the periods of the domain.
pub(super) const PERIODS: [&str; 3] = ["period_x", "period_y", "period_z"];

/// The given parameters of one solution.
pub(super) struct Reader<'a> {
    entry: &'a Entry,
    given: &'a BTreeMap<String, f64>,
    context: &'a Context,
}

impl<'a> Reader<'a> {
    /// Checks that all given names are known and all values finite.
    pub(super) fn new(
        entry: &'a Entry,
        given: &'a BTreeMap<String, f64>,
        context: &'a Context,
    ) -> Result<Self, ExactError> {
        let reader = Self { entry, given, context };
        let known = || entry.parameters.iter().map(|p| p.name).filter(|n| !reader.is_absent(n));
        for (name, value) in given {
            if !known().any(|k| k == name) {
                return Err(ExactError::UnknownParameter {
                    solution: entry.name.to_owned(),
                    name: name.clone(),
                    hint: nearest(name, known()).map(str::to_owned),
                    known: known().map(str::to_owned).collect(),
                });
            }
            if !value.is_finite() {
                return Err(reader.bad(name, *value, "a finite number"));
            }
        }
        Ok(reader)
    }

    /// Returns whether a parameter belongs to a direction that does not exist in this dimension.
    fn is_absent(&self, name: &str) -> bool {
        let third = ["w", "z0", "kz", "nz", "axis_z", "period_z", "w_left", "w_right"];
        let second = ["v", "y0", "ky", "ny", "period_y", "v_left", "v_right"];
        (self.context.dim < 3 && third.contains(&name)) || (self.context.dim < 2 && second.contains(&name))
    }

    fn bad(&self, name: &str, value: f64, expected: &'static str) -> ExactError {
        ExactError::BadParameter {
            solution: self.entry.name.to_owned(),
            name: name.to_owned(),
            value,
            expected,
        }
    }

    /// Returns the given value or the default; 0 for a direction that does not exist in this dimension.
    pub(super) fn number(&self, name: &str) -> f64 {
        if self.is_absent(name) {
            return 0.0;
        }
        let default = || {
            let period = PERIODS.iter().position(|p| *p == name);
            let listed = |p: &&Parameter| p.name == name;
            match period {
                Some(d) => self.context.period[d],
                None => self.entry.parameters.iter().find(listed).map_or(0.0, |p| p.default),
            }
        };
        self.given.get(name).copied().unwrap_or_else(default)
    }

    /// Returns a number that must be above zero.
    pub(super) fn positive(&self, name: &str) -> Result<f64, ExactError> {
        let value = self.number(name);
        if value > 0.0 { Ok(value) } else { Err(self.bad(name, value, "a number above 0")) }
    }

    /// Returns a number that must lie strictly between two bounds.
    pub(super) fn between(
        &self,
        name: &str,
        low: f64,
        high: f64,
        expected: &'static str,
    ) -> Result<f64, ExactError> {
        let value = self.number(name);
        if value > low && value < high { Ok(value) } else { Err(self.bad(name, value, expected)) }
    }

    /// Returns three numbers.
    pub(super) fn vector(&self, names: [&str; 3]) -> [f64; 3] {
        names.map(|n| self.number(n))
    }

    /// Returns three numbers, scaled to unit length.
    pub(super) fn direction(&self, names: [&str; 3]) -> Result<[f64; 3], ExactError> {
        let v = self.vector(names);
        let length = v.iter().map(|x| x * x).sum::<f64>().sqrt();
        if length > 0.0 {
            Ok(v.map(|x| x / length))
        } else {
            Err(self.bad(names[0], v[0], "a direction of length above 0"))
        }
    }

    /// Returns the periods of the domain, from the context unless given; 0 or more.
    pub(super) fn periods(&self) -> Result<[f64; 3], ExactError> {
        let period = self.vector(PERIODS);
        for (d, p) in period.iter().enumerate() {
            if *p < 0.0 {
                return Err(self.bad(PERIODS[d], *p, "a length, or 0 where the domain is not periodic"));
            }
        }
        Ok(period)
    }
}
