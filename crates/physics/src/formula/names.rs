//! The names that a formula may use.

use super::functions;
use super::table::Table;
use super::{Formula, FormulaError};
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

/// Variables, constants, parameters, tables and other formulas that a formula may use, in addition to the
/// functions, `pi` and `deg = pi/180`.
///
/// A name of the user replaces `deg`, so that formulas which define it themselves keep their meaning.
///
/// A *constant* is replaced by its value when a formula is parsed. A *parameter* keeps its name: recorded
/// formulas take it as a kernel argument, so another value does not need another kernel.
#[derive(Clone, Debug, Default)]
pub struct Names {
    variables: Vec<String>,
    values: BTreeMap<String, Value>,
    tables: BTreeMap<String, Arc<Table>>,
    definitions: BTreeMap<String, Arc<Formula>>,
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

    /// Adds a name for a formula: formulas that use it contain that formula in its place. The formula itself
    /// is read with `its` names, so that constants of the user do not change its meaning. Its variables must
    /// be among these variables; if one of them is not, or if the name already has a meaning, nothing is
    /// added.
    ///
    /// ```
    /// use dgsuite_physics::formula::{Formula, Names};
    /// let its = Names::new(["rho", "p"]).constant("gamma", 1.4)?;
    /// let names = Names::new(["p", "rho"]).define("c", "sqrt(gamma*p/rho)", &its)?;
    /// assert_eq!(Formula::parse("2*c", &names)?.eval(&[1.0, 1.4]), 2.0);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`FormulaError`] if the formula cannot be read.
    pub fn define(self, name: &str, text: &str, its: &Self) -> Result<Self, FormulaError> {
        Ok(self.formula(name, Formula::parse(text, its)?))
    }

    /// As [`define`](Self::define), for a formula that has been parsed or recorded.
    #[must_use]
    pub fn formula(mut self, name: &str, formula: Formula) -> Self {
        let known = |variable: &&str| self.variables.iter().any(|v| v == variable);
        if self.check(name).is_ok() && formula.variables().iter().all(known) {
            self.definitions.insert(name.to_owned(), Arc::new(formula));
        }
        self
    }

    /// Returns the variables in order.
    pub fn variables(&self) -> &[String] {
        &self.variables
    }

    /// Returns all names except functions, the most used ones first.
    pub(super) fn known(&self) -> impl Iterator<Item = &str> {
        let variables = self.variables.iter().map(String::as_str);
        let values = self.values.keys().map(String::as_str);
        variables.chain(values).chain(self.definitions.keys().map(String::as_str)).chain(["pi", "deg"])
    }

    /// Returns the names of the tables.
    pub(super) fn tables(&self) -> impl Iterator<Item = &str> {
        self.tables.keys().map(String::as_str)
    }

    pub(super) fn find_table(&self, name: &str) -> Option<&Table> {
        self.tables.get(name).map(Arc::as_ref)
    }

    pub(super) fn definition(&self, name: &str) -> Option<&Formula> {
        self.definitions.get(name).map(Arc::as_ref)
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
        } else if self.definitions.contains_key(name) {
            "the name of a formula"
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

    #[test]
    fn a_formula_with_a_name_keeps_its_own_meaning_of_names() {
        let its = Names::new(["p", "rho"]).constant("gamma", 1.4).unwrap();
        let names = Names::new(["rho", "x", "p"]).constant("gamma", 9.0).unwrap();
        let names = names.define("c", "sqrt(gamma*p/rho)", &its).unwrap();
        let names = names.define("hidden", "u_x", &Names::new(["u_x"])).unwrap();
        let names = names.define("gamma", "1", &its).unwrap();
        let formula = Formula::parse("gamma*c + c^2", &names).unwrap();
        assert_eq!(formula.eval(&[1.4, 5.0, 4.0]), 9.0 * 2.0 + 4.0);
        assert_eq!(formula.variables(), ["rho", "p"]);
        // It cannot use variables that are not there, and it is one of the names that a message lists.
        let error = Formula::parse("hidden", &names).unwrap_err();
        assert_eq!(error.hint.as_deref(), Some("known: rho, x, p, gamma, c, pi, deg"));
        assert_eq!(
            names.clone().constant("c", 1.0).unwrap_err().to_string(),
            "`c` is already the name of a formula"
        );
        assert!(names.define("d", "1 +", &its).is_err());
    }
}
