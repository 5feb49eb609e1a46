//! The section `tables`: numbers of files as functions that formulas call.

use std::path::Path;

use dgsuite_physics::formula::Table;

use crate::file::expression::Constants;
use crate::file::problem::{InputError, Problem};
use crate::file::section::Section;
use crate::file::source::read_text;
use dgsuite_solve::post::history::Series;

impl Constants {
    /// Adds the section `tables` of the file, whose paths are relative to `base`.
    ///
    /// # Errors
    /// A name that is not a word or has a meaning; a file that cannot be read or has no such columns.
    pub fn with_tables(mut self, top: &Section<'_>, base: &Path) -> Result<Self, InputError> {
        let Some(section) = top.section("tables")? else { return Ok(self) };
        for entry in section.entries() {
            let own = section.named(entry)?;
            let file =
                own.text("file")?.ok_or_else(|| own.missing("file", "a file with columns of numbers"))?;
            let column = own.count("column", 2)?.map_or(2, |n| n.value);
            let path = base.join(&file.value);
            let refuse = |expected: String| InputError::range(&file, expected);
            let text =
                read_text(&path).map_err(|error| refuse(format!("a table that can be read: {error}")))?;
            let series = Series::parse(&text, column).map_err(|error| {
                refuse(format!("numbers in columns, the first of them increasing: {error}"))
            })?;
            let (x, y) = series.into_columns();
            let table = Table::new(x, y).map_err(|error| refuse(format!("a shorter table: {error}")))?;
            self.add_table(&entry.key, path, table)
                .map_err(|error| InputError::at(&entry.place, Problem::Constant { error }))?;
        }
        Ok(self)
    }
}
