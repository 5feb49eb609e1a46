//! Typed reading of a section of the pipeline file: every key is one of the table, every value is checked.

use super::expression::{Constants, wrong_type};
use super::keys::{self, Kind, Scope};
use super::node::{Entry, Node, Value};
use super::problem::{InputError, Problem};
use super::source::{Located, Place};

/// A mapping of the file that is being read. A key without a value counts as absent.
///
/// Its keys must be in the table ([`keys`]). The tests of this crate verify that the table has
/// every key that is read, with the type of the value and the words of a choice.
#[derive(Clone, Debug)]
pub struct Section<'a> {
    /// The keys and numbers that lead here from the top.
    steps: Vec<String>,
    /// The same, with dots between them, as messages write it.
    path: String,
    place: &'a Place,
    entries: &'a [Entry],
    constants: &'a Constants,
}

impl<'a> Section<'a> {
    /// The whole file; the keys of its top level must all be in the table.
    ///
    /// # Errors
    /// [`Problem::WrongType`] if it is no mapping, [`Problem::UnknownKey`] for the first unknown key.
    pub fn file(root: &'a Node, constants: &'a Constants) -> Result<Self, InputError> {
        let file = Self::at(root, Vec::new(), constants)?;
        file.known()?;
        Ok(file)
    }

    /// The mapping at `node`, which `steps` lead to.
    fn at(node: &'a Node, steps: Vec<String>, constants: &'a Constants) -> Result<Self, InputError> {
        let path = steps.join(".");
        let entries: &[Entry] = match &node.value {
            Value::Map(entries) => entries,
            Value::Null => &[],
            _ => {
                let name = if path.is_empty() { "the file" } else { &path };
                return Err(wrong_type(node, name, "a section with keys"));
            }
        };
        Ok(Self { steps, path, place: &node.place, entries, constants })
    }

    /// The steps of a key of this section.
    fn steps_to(&self, key: &str) -> Vec<String> {
        self.steps.iter().cloned().chain([key.to_owned()]).collect()
    }

    /// The section below a key, whose keys must all be in the table.
    ///
    /// # Errors
    /// [`Problem::WrongType`] if it is no mapping, [`Problem::UnknownKey`] for the first unknown key.
    pub fn section(&self, key: &str) -> Result<Option<Self>, InputError> {
        let section = self.unchecked(key)?;
        section.as_ref().map_or(Ok(()), Self::known)?;
        Ok(section)
    }

    /// [`Self::section`], or one without keys where it is not given.
    ///
    /// # Errors
    /// As [`Self::section`].
    pub fn section_or_empty(&self, key: &str) -> Result<Self, InputError> {
        Ok(self.section(key)?.unwrap_or_else(|| {
            let steps = self.steps_to(key);
            Self { path: steps.join("."), steps, place: self.place, entries: &[], constants: self.constants }
        }))
    }

    /// The section below a key, without a check of its keys.
    ///
    /// # Errors
    /// [`Problem::WrongType`] if it is no mapping.
    pub fn unchecked(&self, key: &str) -> Result<Option<Self>, InputError> {
        self.node(key).map(|node| Self::at(node, self.steps_to(key), self.constants)).transpose()
    }

    /// The section of an entry whose name the user chose, without a check of its keys.
    ///
    /// # Errors
    /// [`Problem::WrongType`] if it is no mapping.
    pub fn named(&self, entry: &'a Entry) -> Result<Self, InputError> {
        Self::at(&entry.node, self.steps_to(&entry.key), self.constants)
    }

    /// The section that is entry `i` of the list below a key, without a check of its keys.
    ///
    /// # Errors
    /// [`Problem::WrongType`] if it is no mapping.
    pub fn item(&self, key: &str, i: usize, node: &'a Node) -> Result<Self, InputError> {
        let mut steps = self.steps_to(key);
        steps.push(i.to_string());
        Self::at(node, steps, self.constants)
    }

    /// Rejects keys that the table does not have in this section.
    ///
    /// # Errors
    /// [`Problem::UnknownKey`] for the first unknown key.
    pub fn known(&self) -> Result<(), InputError> {
        self.known_in(Scope::default())
    }

    /// Rejects keys that the table does not have in this section for a model or a type of boundary.
    ///
    /// # Errors
    /// [`Problem::UnknownKey`] for the first unknown key.
    pub fn known_in(&self, scope: Scope<'_>) -> Result<(), InputError> {
        let known = keys::known(&self.steps, scope);
        if known.free { Ok(()) } else { self.only(&known.names) }
    }

    /// Rejects keys outside `known`.
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

    /// Rejects keys that the table has for other models only.
    ///
    /// # Errors
    /// [`Problem::Misplaced`] for the first.
    pub fn of_model(&self, model: &str) -> Result<(), InputError> {
        for entry in self.entries.iter().filter(|entry| !matches!(entry.node.value, Value::Null)) {
            let owners = keys::models(&self.steps_to(&entry.key));
            if !owners.contains(&model) {
                let belongs = format!("the model {}", owners.join(" or "));
                return Err(self.misplaced(&entry.key, &format!("the model {model}"), &belongs));
            }
        }
        Ok(())
    }

    /// Verifies, in the tests of this crate only, that the table has a key with a kind of value.
    pub(crate) fn held(&self, key: &str, kind: impl Fn(&Kind) -> bool) {
        if cfg!(test) {
            let rows = keys::at(&self.steps_to(key), Scope::default());
            let found = rows.iter().flat_map(|row| row.kinds).any(kind);
            assert!(found, "the table of keys has no `{}` of this kind: {rows:?}", self.key(key));
        }
    }

    /// The keys and numbers that lead here from the top.
    pub fn steps(&self) -> &[String] {
        &self.steps
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
        self.held(key, |_| true);
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
        let place = self.entries.iter().find(|e| e.key == key).map_or(self.place, |e| &e.place);
        let problem =
            Problem::Misplaced { key: self.key(key), owner: owner.to_owned(), belongs: belongs.to_owned() };
        InputError::at(place, problem)
    }

    /// Rejects `second` if `first` is given as well.
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
        self.held(key, |kind| matches!(kind, Kind::Number(_)));
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
        self.held(key, |kind| matches!(*kind, Kind::Whole(from, _) if from == least));
        self.node(key).map(|node| count(node, &self.key(key), least, self.constants)).transpose()
    }

    /// `true` or `false`.
    ///
    /// # Errors
    /// Any other value.
    pub fn flag(&self, key: &str) -> Result<Option<Located<bool>>, InputError> {
        self.held(key, |kind| *kind == Kind::Flag);
        self.node(key)
            .map(|node| match node.value {
                Value::Bool(value) => Ok(Located { value, key: self.key(key), place: node.place.clone() }),
                _ => Err(wrong_type(node, &self.key(key), "true or false")),
            })
            .transpose()
    }

    /// A text; a number is returned as it is written.
    ///
    /// # Errors
    /// A list or a section.
    pub fn text(&self, key: &str) -> Result<Option<Located<String>>, InputError> {
        self.held(key, |kind| matches!(kind, Kind::Text | Kind::Words(_)));
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
        self.held(key, |kind| match kind {
            Kind::Words(words) => {
                words.len() == choices.len() && choices.iter().all(|(word, _)| words.contains(word))
            }
            _ => false,
        });
        self.node(key).map(|node| choice(node, &self.key(key), choices)).transpose()
    }

    /// Rejects words that other codes have for a key, with a hint of its own on what to use instead. Messages
    /// do not offer these words.
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

    /// The items of a list.
    ///
    /// # Errors
    /// A value that is no list.
    pub fn list(&self, key: &str) -> Result<Option<&'a [Node]>, InputError> {
        self.held(key, |kind| matches!(kind, Kind::List(..)));
        self.node(key).map(|node| list(node, &self.key(key))).transpose()
    }

    /// The numbers of a list with one entry for each direction.
    ///
    /// # Errors
    /// A value that is no list of one to three numbers.
    pub fn vector(&self, key: &str) -> Result<Option<Located<Vec<f64>>>, InputError> {
        self.held(key, |kind| matches!(kind, Kind::Vector | Kind::List(_, [Kind::Whole(..)])));
        self.node(key).map(|node| vector(node, &self.key(key), self.constants)).transpose()
    }
}

/// The numbers of a list with one entry for each direction.
///
/// # Errors
/// A value that is no list of one to three numbers.
pub fn vector(node: &Node, key: &str, constants: &Constants) -> Result<Located<Vec<f64>>, InputError> {
    let items = list(node, key)?;
    let number = |(i, item)| Ok(constants.number(item, &format!("{key}.{i}"))?.value);
    let value = items.iter().enumerate().map(number).collect::<Result<Vec<f64>, InputError>>()?;
    if value.is_empty() || value.len() > 3 {
        return Err(wrong_type(node, key, "a list of one number for each direction"));
    }
    Ok(Located { value, key: key.to_owned(), place: node.place.clone() })
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

/// Rejects a name that is given twice in one list.
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

/// Rejects a name that spreadsheets run as a formula where it is the name of a column, such as `=1+1`.
///
/// # Errors
/// [`Problem::OutOfRange`].
pub fn plain(name: &Located<String>) -> Result<(), InputError> {
    match name.value.trim_start().starts_with(['=', '+', '-', '@']) {
        true => Err(InputError::range(
            name,
            "a name that does not begin with =, +, - or @, as formulas of spreadsheets do",
        )),
        false => Ok(()),
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
