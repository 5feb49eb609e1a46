//! Values of monitors and fields that are not finite: each name is reported once.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};

use dgsuite_output::writer::{UnstructuredFields, Values};

/// A list shared by the run and the threads that write its fields.
#[derive(Clone, Debug, Default)]
pub struct NotFinite(Arc<Mutex<Seen>>);

#[derive(Debug, Default)]
struct Seen {
    names: BTreeSet<String>,
    fresh: Vec<String>,
}

impl NotFinite {
    /// Checks the row of a monitor; `columns` are those of its table, after step and time.
    pub fn look_at_row(&self, monitor: &str, columns: &[String], row: &[f64], t: f64) {
        for (name, x) in columns.iter().zip(row).filter(|(_, x)| !x.is_finite()) {
            self.add(&format!("the monitor {monitor}: {name}"), *x, t);
        }
    }

    /// Checks fields that are about to be written.
    pub fn look_at_fields(&self, fields: &UnstructuredFields) {
        in_fields(fields).for_each(|(name, x)| self.add_field(name, x, fields.time));
    }

    /// Notes a value of a field.
    pub fn add_field(&self, name: &str, value: f64, t: f64) {
        self.add(&format!("the field {name}"), value, t);
    }

    /// Returns the findings since the last call, a sentence each.
    pub fn take(&self) -> Vec<String> {
        std::mem::take(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner).fresh)
    }

    fn add(&self, what: &str, value: f64, t: f64) {
        let mut seen = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if seen.names.insert(what.to_owned()) {
            seen.fresh.push(format!("warning: {what} is {value} at t = {t} (reported once)"));
        }
    }
}

/// The first value of each field that is not finite.
pub fn in_fields(fields: &UnstructuredFields) -> impl Iterator<Item = (&str, f64)> {
    fields.pieces.iter().flat_map(|piece| &piece.point_data).filter_map(|field| match &field.values {
        Values::Real(values) => values.iter().find(|x| !x.is_finite()).map(|x| (field.name.as_str(), *x)),
        Values::Integer(_) => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_reported_once() {
        let list = NotFinite::default();
        let columns = ["a".to_owned(), "b".to_owned()];
        list.look_at_row("integral", &columns, &[1.0, f64::NAN], 0.5);
        list.look_at_row("integral", &columns, &[1.0, f64::NAN], 0.75);
        let found = list.take();
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(found[0].contains("the monitor integral: b is NaN at t = 0.5"), "{found:?}");
        list.look_at_row("integral", &columns, &[f64::INFINITY, 0.0], 1.0);
        assert_eq!(list.take().len(), 1);
        assert!(list.take().is_empty());
    }
}
