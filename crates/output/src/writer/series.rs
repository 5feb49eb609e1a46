//! Files of fields over time, of any format.

use super::{UnstructuredFields, VtuOptions, WriterError};

/// Files of fields over time.
pub trait TimeSeries {
    /// Writes the fields of one time; replaces those of the same time.
    ///
    /// # Errors
    /// Fields that do not fit their cells, and errors of the system; the files written before are whole.
    fn write(&mut self, fields: &UnstructuredFields, options: &VtuOptions) -> Result<(), WriterError>;
}

/// A series in the format of a run.
pub type AnySeries = Box<dyn TimeSeries + Send>;

impl TimeSeries for AnySeries {
    fn write(&mut self, fields: &UnstructuredFields, options: &VtuOptions) -> Result<(), WriterError> {
        (**self).write(fields, options)
    }
}
