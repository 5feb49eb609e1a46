//! Mistakes that do not follow from each other, joined in one answer, as text or JSON.

use std::sync::Arc;

use serde_json::{Value, json};

use super::{InputError, Problem, cut};
use crate::file::source::{Place, Source};
use dgsuite_output::escape::printable;

/// The values of all results, or all of their mistakes.
///
/// # Errors
/// The first mistake with all others.
pub(crate) fn each<V>(
    results: impl IntoIterator<Item = Result<V, InputError>>,
) -> Result<Vec<V>, InputError> {
    let (mut values, mut mistakes): (Vec<V>, Option<InputError>) = (Vec::new(), None);
    for result in results {
        match (result, &mut mistakes) {
            (Ok(value), None) => values.push(value),
            (Ok(_), Some(_)) => {}
            (Err(error), None) => mistakes = Some(error),
            (Err(error), Some(mistakes)) => mistakes.join(error),
        }
    }
    mistakes.map_or(Ok(values), Err)
}

/// Both values, or all mistakes of the two results, which do not depend on each other.
///
/// # Errors
/// The first mistake with all others.
pub(crate) fn both<A, B>(
    first: Result<A, InputError>,
    second: Result<B, InputError>,
) -> Result<(A, B), InputError> {
    match (first, second) {
        (Ok(first), Ok(second)) => Ok((first, second)),
        (Err(mut mistakes), Err(others)) => {
            mistakes.join(others);
            Err(mistakes)
        }
        (Err(mistakes), _) | (_, Err(mistakes)) => Err(mistakes),
    }
}

impl InputError {
    /// Adds the mistakes of another answer. One that is there already, as of a state to which several keys
    /// refer, is not added again, nor is a key that is missing for several reasons.
    pub(super) fn join(&mut self, mut other: Self) {
        let further = std::mem::take(&mut other.more);
        for mistake in std::iter::once(other).chain(further) {
            let same = |known: &Self| match (&*known.problem, &*mistake.problem) {
                (Problem::MissingKey { key: known, .. }, Problem::MissingKey { key, .. }) => known == key,
                _ => known.own() == mistake.own(),
            };
            if !same(self) && !self.more.iter().any(same) {
                self.more.push(mistake);
            }
        }
    }

    /// The message without those of further mistakes.
    fn own(&self) -> String {
        let mut text = String::new();
        // Writing to a text does not fail.
        let _ = self.write_own(&mut text);
        text
    }

    /// The mistakes as JSON: `[{ "code", "message", "place", "expected", "hint" }]` with the place
    /// `{ "file", "line", "column", "length" }`. Lines and columns count from 1, columns and the length in
    /// characters; `null` is what a mistake does not have.
    #[must_use]
    pub fn to_json(&self) -> Value {
        let one = |error: &Self| {
            let place = error.place.as_ref().map(|place| {
                let Place { source, line, column, length } = place;
                json!({ "file": source.name, "line": line, "column": column, "length": length })
            });
            json!({
                "code": error.problem.code().word(),
                "message": printable(&cut(&error.problem.to_string())),
                "place": place,
                "expected": error.problem.expected(),
                "hint": error.problem.hint(),
            })
        };
        std::iter::once(self).chain(&self.more).map(one).collect()
    }

    /// The mistakes in the order of the file; those of the command line come last.
    #[must_use]
    pub(crate) fn in_order(mut self, file: &Arc<Source>) -> Self {
        let mut all = std::mem::take(&mut self.more);
        all.insert(0, self);
        all.sort_by_key(|error| {
            error.place.as_ref().map(|place| (!Arc::ptr_eq(&place.source, file), place.line, place.column))
        });
        let first = all.remove(0);
        Self { more: all, ..first }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mistake(text: &str) -> InputError {
        InputError::nowhere(Problem::Override { text: text.to_owned() })
    }

    #[test]
    fn mistakes_of_all_results_are_kept_once() {
        let found = each([Ok(1), Err(mistake("a")), Ok(2), Err(mistake("b")), Err(mistake("a"))]);
        let text = found.unwrap_err().to_string();
        assert!(
            text.contains("`a`") && text.contains("`b`") && text.ends_with("2 mistakes in the file"),
            "{text}"
        );
        assert_eq!(each([Ok(1), Ok(2)]).unwrap(), [1, 2]);
        let missing = |expected: &str| {
            let (key, expected) = ("physics.exact".to_owned(), expected.to_owned());
            Err::<(), _>(InputError::nowhere(Problem::MissingKey { key, expected }))
        };
        assert_eq!(each([missing("for this"), missing("for that")]).unwrap_err().codes().len(), 1);
    }

    #[test]
    fn both_results_count() {
        assert_eq!(both(Ok(1), Ok(2)).unwrap(), (1, 2));
        assert_eq!(both::<(), i32>(Err(mistake("a")), Ok(2)).unwrap_err().codes().len(), 1);
        assert_eq!(both::<i32, ()>(Ok(1), Err(mistake("a"))).unwrap_err().codes().len(), 1);
        let two = each([Err::<(), _>(mistake("b")), Err(mistake("c"))]);
        assert_eq!(both(Err::<(), _>(mistake("a")), two).unwrap_err().codes().len(), 3);
    }
}
