//! The names that a formula may use.

use super::functions;
use super::table::Table;
use std::collections::{BTreeMap, BTreeSet};
use std::f64::consts::PI;
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

/// One degree in radians: `sin(30*deg)` is one half.
const DEGREE: f64 = PI / 180.0;

/// Why a name cannot be added.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NameError {
    /// Not a letter or underscore followed by letters, digits and underscores.
    #[error("`{0}` is not a name: letters, digits and underscores, not a digit first")]
    Malformed(String),
    /// The name already has a meaning.
    #[error("`{name}` is already {what}")]
    Taken {
        /// The name.
        name: String,
        /// Its meaning.
        what: &'static str,
    },
}

/// Variables, constants, parameters and tables that a formula may use, in addition to the functions, `pi` and
/// `deg = pi/180`.
///
/// A name of the user replaces `deg`, so that formulas which define it themselves keep their meaning.
///
/// A *constant* is replaced by its value when a formula is parsed. A *parameter* keeps its name: recorded
/// formulas take it as a kernel argument, so another value does not need another kernel.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Names {
    variables: Vec<String>,
    values: BTreeMap<String, Value>,
    tables: BTreeMap<String, Arc<Table>>,
}

/// The meaning of a name that is not a variable.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Value {
    Constant(f64),
    Parameter(&'static str, f64),
}

impl Names {
    /// Makes names with these variables, in the order of their values.
    ///
    /// # Panics
    /// If a variable is not a name, is a function or `pi`, or occurs twice.
    pub fn new<'a>(variables: impl IntoIterator<Item = &'a str>) -> Self {
        let mut names = Self::default();
        for v in variables {
            if let Err(error) = names.check(v) {
                panic!("{error}");
            }
            names.variables.push(v.to_owned());
        }
        names
    }

    /// Makes the variables `x, y, z, t`.
    pub fn space_time() -> Self {
        Self::new(["x", "y", "z", "t"])
    }

    /// Adds a constant.
    ///
    /// # Errors
    /// [`NameError`] if it is not a name or already has a meaning.
    pub fn constant(mut self, name: &str, value: f64) -> Result<Self, NameError> {
        self.check(name)?;
        self.values.insert(name.to_owned(), Value::Constant(value));
        Ok(self)
    }

    /// Adds a parameter.
    ///
    /// # Errors
    /// [`NameError`] if it is not a name or already has a meaning.
    pub fn parameter(mut self, name: &str, value: f64) -> Result<Self, NameError> {
        self.check(name)?;
        self.values.insert(name.to_owned(), Value::Parameter(permanent(name), value));
        Ok(self)
    }

    /// Adds a table, which formulas call as a function of one number.
    ///
    /// # Errors
    /// [`NameError`] if it is not a name or already has a meaning.
    pub fn table(mut self, name: &str, table: impl Into<Arc<Table>>) -> Result<Self, NameError> {
        self.check(name)?;
        self.tables.insert(name.to_owned(), table.into());
        Ok(self)
    }

    /// Returns the variables in order.
    pub fn variables(&self) -> &[String] {
        &self.variables
    }

    /// Returns all names except functions, the most used ones first.
    pub(super) fn known(&self) -> impl Iterator<Item = &str> {
        let variables = self.variables.iter().map(String::as_str);
        variables.chain(self.values.keys().map(String::as_str)).chain(["pi", "deg"])
    }

    /// Returns the names of the tables.
    pub(super) fn tables(&self) -> impl Iterator<Item = &str> {
        self.tables.keys().map(String::as_str)
    }

    pub(super) fn find_table(&self, name: &str) -> Option<&Table> {
        self.tables.get(name).map(Arc::as_ref)
    }

    pub(super) fn value(&self, name: &str) -> Option<Value> {
        let own = match name {
            "pi" => Some(Value::Constant(PI)),
            "deg" => Some(Value::Constant(DEGREE)),
            _ => None,
        };
        self.values.get(name).copied().or(own)
    }

    fn check(&self, name: &str) -> Result<(), NameError> {
        let mut letters = name.chars();
        let head = letters.next().is_some_and(|c| c.is_ascii_alphabetic() || c == '_');
        if !head || !letters.all(|c| c.is_ascii_alphanumeric() || c == '_') {
            return Err(NameError::Malformed(name.to_owned()));
        }
        let what = if functions::find(name).is_some() {
            "a function"
        } else if name == "pi" {
            "the number pi"
        } else if self.variables.iter().any(|v| v == name) {
            "a variable"
        } else if self.values.contains_key(name) {
            "a constant"
        } else if self.tables.contains_key(name) {
            "a table"
        } else {
            return Ok(());
        };
        Err(NameError::Taken { name: name.to_owned(), what })
    }
}

/// Returns the same text with a static lifetime; each text is stored once.
pub(super) fn permanent(name: &str) -> &'static str {
    static STORED: LazyLock<Mutex<BTreeSet<&'static str>>> = LazyLock::new(Mutex::default);
    let mut stored = STORED.lock().unwrap_or_else(PoisonError::into_inner);
    match stored.get(name) {
        Some(known) => known,
        None => {
            let text: &'static str = Box::leak(name.to_owned().into_boxed_str());
            stored.insert(text);
            text
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_must_be_new_and_well_formed() {
        let names = Names::space_time();
        let taken = |n: &str| names.clone().constant(n, 1.0).unwrap_err().to_string();
        assert_eq!(taken("x"), "`x` is already a variable");
        assert_eq!(taken("sin"), "`sin` is already a function");
        assert_eq!(taken("pi"), "`pi` is already the number pi");
        assert!(taken("2a").contains("not a name"));
        assert!(taken("").contains("not a name"));
        let names = names.constant("M", 0.5).unwrap();
        assert_eq!(names.parameter("M", 0.5).unwrap_err().to_string(), "`M` is already a constant");
    }
}
