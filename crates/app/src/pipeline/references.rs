//! The list `references`: tables of published values that a report shows beside the results.

use std::path::PathBuf;

use crate::file::problem::InputError;
use crate::file::section::{self, Section};
use crate::file::source::Located;

/// A table of published values, as written.
#[derive(Clone, Debug)]
pub struct ReferenceSpec {
    /// Author, year and table, for the report.
    pub source: String,
    /// The file, relative to the pipeline file.
    pub table: Located<PathBuf>,
    /// The path of the value in the summary.
    pub value: Located<String>,
    /// The column of the published value.
    pub column: Located<String>,
    /// Columns that are keys of the file and choose the row of a case.
    pub by: Vec<Located<String>>,
    /// The unit of the column in the unit of the summary.
    pub factor: f64,
}

impl ReferenceSpec {
    /// Reads the list.
    ///
    /// # Errors
    /// An entry without a source, a table or a value.
    pub fn read_all(top: &Section<'_>) -> Result<Vec<Self>, InputError> {
        let Some(items) = top.list("references")? else { return Ok(Vec::new()) };
        items.iter().enumerate().map(|(i, item)| Self::read(&top.item("references", i, item)?)).collect()
    }

    fn read(section: &Section<'_>) -> Result<Self, InputError> {
        section.known()?;
        let needed = |key: &str, what: &str| section.text(key)?.ok_or_else(|| section.missing(key, what));
        let source = needed("source", "where the values are from: author, year and table")?.value;
        let table = needed("table", "a table of published values (CSV)")?;
        let value = needed("value", "the path of a value in the summary, such as error.l2.rho")?;
        let column = section.text("column")?.unwrap_or_else(|| value.clone());
        let by = match section.list("by")? {
            None => Vec::new(),
            Some(items) => {
                let key = section.key("by");
                let name = |item| section::text(item, &key, "a key that is a column of the table");
                items.iter().map(name).collect::<Result<_, _>>()?
            }
        };
        let factor = section.positive("factor")?.map_or(1.0, |factor| factor.value);
        Ok(Self { source, table: table.with(PathBuf::from(&table.value)), value, column, by, factor })
    }
}
