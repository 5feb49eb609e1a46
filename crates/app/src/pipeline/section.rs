//! Typed reading of a section of the pipeline file: every key is known beforehand, every value is checked.

use super::expression::{Constants, wrong_type};
use super::node::{Entry, Node, Value};
use super::problem::{InputError, Problem};
use super::source::{Located, Place};

/// A mapping of the file that is being read. A key without a value counts as absent.
#[derive(Clone, Debug)]
pub struct Section<'a> {
    path: String,
    place: &'a Place,
    entries: &'a [Entry],
    constants: &'a Constants,
}

impl<'a> Section<'a> {
    /// The mapping at `node`, whose keys must all be among `known`.
    ///
    /// # Errors
    /// [`Problem::WrongType`] if it is no mapping, [`Problem::UnknownKey`] for the first unknown key.
    pub fn open(
        node: &'a Node,
        path: &str,
        known: &[&str],
        constants: &'a Constants,
    ) -> Result<Self, InputError> {
        let section = Self::open_any(node, path, constants)?;
        section.only(known)?;
        Ok(section)
    }

    /// The mapping at `node` with keys of the user's choice.
    ///
    /// # Errors
    /// [`Problem::WrongType`] if it is no mapping.
    pub fn open_any(node: &'a Node, path: &str, constants: &'a Constants) -> Result<Self, InputError> {
        let entries: &[Entry] = match &node.value {
            Value::Map(entries) => entries,
            Value::Null => &[],
            _ => {
                return Err(wrong_type(
                    node,
                    if path.is_empty() { "the file" } else { path },
                    "a section with keys",
                ));
            }
        };
        Ok(Self { path: path.to_owned(), place: &node.place, entries, constants })
    }

    /// Refuses keys outside `known`.
    ///
    /// # Errors
    /// [`Problem::UnknownKey`] for the first unknown key.
    pub fn only(&self, known: &[&str]) -> Result<(), InputError> {
        match self.entries.iter().find(|e| !known.contains(&e.key.as_str())) {
            None => Ok(()),
            Some(entry) => Err(InputError::at(
                &entry.place,
                Problem::UnknownKey {
                    key: entry.key.clone(),
                    section: self.path.clone(),
                    known: known.iter().map(|&k| k.to_owned()).collect(),
                },
            )),
        }
    }

    /// The section's own path.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// Where the section starts.
    pub fn place(&self) -> &'a Place {
        self.place
    }

    /// The constants of the file.
    pub fn constants(&self) -> &'a Constants {
        self.constants
    }

    /// The entries in the order of the file.
    pub fn entries(&self) -> &'a [Entry] {
        self.entries
    }

    /// The full path of a key of this section.
    pub fn key(&self, key: &str) -> String {
        if self.path.is_empty() { key.to_owned() } else { format!("{}.{key}", self.path) }
    }

    /// The entry of a key, unless it is absent or has no value.
    pub fn entry(&self, key: &str) -> Option<&'a Entry> {
        self.entries.iter().find(|e| e.key == key && !matches!(e.node.value, Value::Null))
    }

    /// The value of a key.
    pub fn node(&self, key: &str) -> Option<&'a Node> {
        self.entry(key).map(|e| &e.node)
    }

    /// Whether the key is given.
    pub fn has(&self, key: &str) -> bool {
        self.node(key).is_some()
    }

    /// The error for a key that must be given.
    pub fn missing(&self, key: &str, expected: &str) -> InputError {
        InputError::at(self.place, Problem::MissingKey { key: self.key(key), expected: expected.to_owned() })
    }

    /// The error for a key that belongs to another choice.
    pub fn misplaced(&self, key: &str, owner: &str, belongs: &str) -> InputError {
        let place = self.entry(key).map_or(self.place, |e| &e.place);
        let problem =
            Problem::Misplaced { key: self.key(key), owner: owner.to_owned(), belongs: belongs.to_owned() };
        InputError::at(place, problem)
    }

    /// Refuses `second` where `first` is given as well.
    ///
    /// # Errors
    /// [`Problem::Conflict`].
    pub fn exclusive(&self, first: &str, second: &str) -> Result<(), InputError> {
        match (self.entry(first), self.entry(second)) {
            (Some(_), Some(entry)) => Err(InputError::at(
                &entry.place,
                Problem::Conflict { first: self.key(first), second: self.key(second) },
            )),
            _ => Ok(()),
        }
    }

    /// A number or the value of an expression.
    ///
    /// # Errors
    /// A value that is no number.
    pub fn number(&self, key: &str) -> Result<Option<Located<f64>>, InputError> {
        self.node(key).map(|node| self.constants.number(node, &self.key(key))).transpose()
    }

    /// A number greater than zero.
    ///
    /// # Errors
    /// A value that is no number or not positive.
    pub fn positive(&self, key: &str) -> Result<Option<Located<f64>>, InputError> {
        match self.number(key)? {
            Some(x) if x.value <= 0.0 => Err(InputError::range(&x, "greater than 0")),
            other => Ok(other),
        }
    }

    /// A whole number from `least` on.
    ///
    /// # Errors
    /// A value that is no whole number or below `least`.
    pub fn count(&self, key: &str, least: usize) -> Result<Option<Located<usize>>, InputError> {
        self.node(key).map(|node| count(node, &self.key(key), least, self.constants)).transpose()
    }

    /// `true` or `false`.
    ///
    /// # Errors
    /// Any other value.
    pub fn flag(&self, key: &str) -> Result<Option<Located<bool>>, InputError> {
        self.node(key)
            .map(|node| match node.value {
                Value::Bool(value) => Ok(Located { value, key: self.key(key), place: node.place.clone() }),
                _ => Err(wrong_type(node, &self.key(key), "true or false")),
            })
            .transpose()
    }

    /// A text; numbers are taken as written.
    ///
    /// # Errors
    /// A list or a section.
    pub fn text(&self, key: &str) -> Result<Option<Located<String>>, InputError> {
        self.node(key).map(|node| text(node, &self.key(key), "a text")).transpose()
    }

    /// One of the words in `choices`.
    ///
    /// # Errors
    /// [`Problem::UnknownValue`] with the nearest known word.
    pub fn choice<T: Clone>(
        &self,
        key: &str,
        choices: &[(&str, T)],
    ) -> Result<Option<Located<T>>, InputError> {
        self.node(key).map(|node| choice(node, &self.key(key), choices)).transpose()
    }

    /// Refuses words that other versions and other codes have for a key, by a sentence of their own that says
    /// what is there instead. They are not among the words that messages offer.
    ///
    /// # Errors
    /// [`Problem::Unsupported`].
    pub fn lacks(&self, key: &str, words: &[&str], instead: &str) -> Result<(), InputError> {
        match self.node(key).and_then(|node| Some((node.value.scalar_text()?, &node.place))) {
            Some((value, place)) if words.contains(&value.as_str()) => Err(InputError::at(
                place,
                Problem::Unsupported { key: self.key(key), value, instead: instead.to_owned() },
            )),
            _ => Ok(()),
        }
    }

    /// The section below a key, whose keys must be among `known`.
    ///
    /// # Errors
    /// As [`Self::open`].
    pub fn section(&self, key: &str, known: &[&str]) -> Result<Option<Self>, InputError> {
        self.node(key).map(|node| Self::open(node, &self.key(key), known, self.constants)).transpose()
    }

    /// The items of a list.
    ///
    /// # Errors
    /// A value that is no list.
    pub fn list(&self, key: &str) -> Result<Option<&'a [Node]>, InputError> {
        self.node(key).map(|node| list(node, &self.key(key))).transpose()
    }

    /// The numbers of a list with one entry for each direction.
    ///
    /// # Errors
    /// A value that is no list of one to three numbers.
    pub fn vector(&self, key: &str) -> Result<Option<Located<Vec<f64>>>, InputError> {
        let Some(node) = self.node(key) else { return Ok(None) };
        let path = self.key(key);
        let items = list(node, &path)?;
        let value = items
            .iter()
            .enumerate()
            .map(|(i, item)| Ok(self.constants.number(item, &format!("{path}.{i}"))?.value))
            .collect::<Result<Vec<f64>, InputError>>()?;
        if value.is_empty() || value.len() > 3 {
            return Err(wrong_type(node, &path, "a list of one number for each direction"));
        }
        Ok(Some(Located { value, key: path, place: node.place.clone() }))
    }
}

/// The items of the list at `node`.
///
/// # Errors
/// A value that is no list.
pub fn list<'a>(node: &'a Node, key: &str) -> Result<&'a [Node], InputError> {
    match &node.value {
        Value::List(items) => Ok(items),
        _ => Err(wrong_type(node, key, "a list")),
    }
}

/// Refuses a name that is given twice in one list.
///
/// # Errors
/// [`Problem::Twice`] at the second.
pub fn once(names: &[Located<String>]) -> Result<(), InputError> {
    let again = |(i, name): &(usize, &Located<String>)| names[..*i].iter().any(|n| n.value == name.value);
    match names.iter().enumerate().find(again) {
        None => Ok(()),
        Some((_, name)) => {
            let problem = Problem::Twice { key: name.key.clone(), name: name.value.clone() };
            Err(InputError::at(&name.place, problem))
        }
    }
}

/// The text at `node`.
///
/// # Errors
/// A list or a section.
pub fn text(node: &Node, key: &str, expected: &str) -> Result<Located<String>, InputError> {
    match node.value.scalar_text() {
        Some(value) => Ok(Located { value, key: key.to_owned(), place: node.place.clone() }),
        None => Err(wrong_type(node, key, expected)),
    }
}

/// The whole number at `node`.
///
/// # Errors
/// A value that is no whole number or below `least`.
pub fn count(
    node: &Node,
    key: &str,
    least: usize,
    constants: &Constants,
) -> Result<Located<usize>, InputError> {
    let expected =
        if least == 0 { "a whole number".to_owned() } else { format!("a whole number of at least {least}") };
    let x = match constants.number(node, key) {
        Ok(x) => x,
        Err(error) => match *error.problem {
            Problem::WrongType { .. } => return Err(wrong_type(node, key, &expected)),
            _ => return Err(error),
        },
    };
    // Doubles are whole numbers up to 2^53.
    if x.value.fract() != 0.0 || x.value < least as f64 || x.value > 9.0e15 {
        let expected = if least == 0 { format!("{expected}, 0 or more") } else { expected };
        return Err(InputError::range(&x, expected));
    }
    Ok(x.with(x.value as usize))
}

/// The word of `choices` at `node`.
///
/// # Errors
/// [`Problem::UnknownValue`] with the nearest known word.
pub fn choice<T: Clone>(node: &Node, key: &str, choices: &[(&str, T)]) -> Result<Located<T>, InputError> {
    let known: Vec<String> = choices.iter().map(|(word, _)| (*word).to_owned()).collect();
    let word = text(node, key, &format!("one of {}", known.join(", ")))?;
    match choices.iter().find(|(known, _)| *known == word.value) {
        Some((_, value)) => Ok(word.with(value.clone())),
        None => Err(InputError::at(
            &word.place,
            Problem::UnknownValue { key: key.to_owned(), found: word.value, known },
        )),
    }
}
