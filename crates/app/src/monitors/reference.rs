//! The key `reference` of monitors: a table of other numbers to compare curves with.

use std::path::PathBuf;

use super::Context;
use crate::file::problem::InputError;
use crate::file::section::Section;
use crate::file::source::{Located, read_text};
use dgsuite_solve::post::history::Series;

/// A table of numbers to compare with, as written.
#[derive(Clone, Debug)]
pub(super) struct ReferenceSpec {
    /// The file, relative to the pipeline file; its first column is time, or the place on a line.
    pub(super) file: Located<PathBuf>,
    /// The column of a curve by its name, counted from 1.
    pub(super) columns: Vec<(String, Located<usize>)>,
}

impl ReferenceSpec {
    /// Reads `reference` of a monitor with the curves `known`.
    pub(super) fn read(section: &Section<'_>, known: &[&str]) -> Result<Option<Self>, InputError> {
        let Some(inner) = section.section("reference")? else { return Ok(None) };
        let file = inner.text("file")?.ok_or_else(|| inner.missing("file", "a table of numbers"))?;
        let expected = "the column of each curve by its name, such as { energy: 2 }";
        let columns = inner.unchecked("columns")?.ok_or_else(|| inner.missing("columns", expected))?;
        columns.only(known)?;
        let column = |name: &&str| Some(columns.count(name, 2).transpose()?.map(|n| ((*name).to_owned(), n)));
        let columns = known.iter().filter_map(column).collect::<Result<_, _>>()?;
        Ok(Some(Self { file: file.with(PathBuf::from(&file.value)), columns }))
    }

    /// Returns whether the table has a column for a curve.
    pub(super) fn has(&self, name: &str) -> bool {
        self.columns.iter().any(|(n, _)| n == name)
    }

    /// Returns all curves of the table with their names.
    pub(super) fn all(&self, context: &Context<'_>) -> Result<Vec<(String, Series)>, InputError> {
        let names: Vec<String> = self.columns.iter().map(|(name, _)| name.clone()).collect();
        let series = self.series(&names, context)?;
        Ok(names.into_iter().zip(series).filter_map(|(name, series)| Some((name, series?))).collect())
    }

    /// Returns the column of each curve.
    pub(super) fn series(
        &self,
        names: &[String],
        context: &Context<'_>,
    ) -> Result<Vec<Option<Series>>, InputError> {
        let path = context.base.join(&self.file.value);
        let shown = self.file.value.display().to_string();
        let text = read_text(&path).map_err(|error| {
            InputError::range(&self.file.with(&shown), format!("a table that can be read: {error}"))
        })?;
        let one = |name: &String| {
            let Some((_, column)) = self.columns.iter().find(|(n, _)| n == name) else { return Ok(None) };
            let series = Series::parse(&text, column.value).map_err(|error| {
                let expected = format!("numbers in columns, the first of them in rising order: {error}");
                InputError::range(&self.file.with(&shown), expected)
            })?;
            Ok(Some(series))
        };
        names.iter().map(one).collect()
    }
}
