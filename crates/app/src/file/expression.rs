//! Named constants and tables, and the expressions that may replace numbers.

use std::path::PathBuf;
use std::sync::Arc;

use dgsuite_physics::formula::{Formula, FormulaError, NameError, Names, Table};

use super::node::{Node, Value};
use super::problem::{InputError, Problem, names_reference, of_reference};
use super::source::Located;

/// The coordinates and the time, in the order of the arguments of formulas.
pub const COORDINATES: [&str; 4] = ["x", "y", "z", "t"];

/// The names that formulas of a state of some law may use, in any number of dimensions. The plan parses such
/// formulas, because it knows law and dimension.
pub const STATE: &[&str] = &[
    "rho",
    "u",
    "v",
    "w",
    "p",
    "rho_u",
    "rho_v",
    "rho_w",
    "rho_E",
    "gamma",
    "gas_constant",
    "Density",
    "Velocity_x",
    "Velocity_y",
    "Velocity_z",
    "Pressure",
    "Mach",
    "Momentum_x",
    "Momentum_y",
    "Momentum_z",
    "Energy",
    "Temperature",
    "SoundSpeed",
    "Entropy",
    "Vorticity",
    "Vorticity_x",
    "Vorticity_y",
    "Vorticity_z",
    "QCriterion",
    "Divergence",
    "EddyViscosity",
    "filter_width",
    "Schlieren",
    "rho_x",
    "rho_y",
    "rho_z",
    "u_x",
    "u_y",
    "u_z",
    "v_x",
    "v_y",
    "v_z",
    "w_x",
    "w_y",
    "w_z",
    "p_x",
    "p_y",
    "p_z",
];

/// The file's `constants`, in the order of the file, and its `tables`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Constants {
    values: Vec<(String, f64)>,
    tables: Vec<NamedTable>,
}

/// A table of a file with numbers, which formulas call by its name.
#[derive(Clone, Debug, PartialEq)]
pub struct NamedTable {
    /// The name.
    pub name: String,
    /// The file, resolved.
    pub file: PathBuf,
    table: Arc<Table>,
}

impl Constants {
    /// Reads the section `constants`; a value may use the names before it.
    ///
    /// # Errors
    /// A name that is not a word, that hides a coordinate, or a value that is not a number.
    pub fn read(node: Option<&Node>) -> Result<Self, InputError> {
        let mut constants = Self::default();
        let Some(node) = node else { return Ok(constants) };
        let Value::Map(entries) = &node.value else {
            return Err(wrong_type(node, "constants", "a section of names with their values"));
        };
        for entry in entries {
            let key = format!("constants.{}", entry.key);
            if let Err(error) = Names::new(COORDINATES).constant(&entry.key, 0.0) {
                return Err(InputError::at(&entry.place, Problem::Constant { error }));
            }
            let value = constants.number(&entry.node, &key)?;
            constants.values.push((entry.key.clone(), value.value));
        }
        Ok(constants)
    }

    /// Adds a table, which formulas call by its name.
    ///
    /// # Errors
    /// A name that is not a word or has a meaning.
    pub(crate) fn add_table(&mut self, name: &str, file: PathBuf, table: Table) -> Result<(), NameError> {
        let table = NamedTable { name: name.to_owned(), file, table: Arc::new(table) };
        self.names(&COORDINATES).table(&table.name, Arc::clone(&table.table))?;
        self.tables.push(table);
        Ok(())
    }

    /// The tables, in order.
    pub fn tables(&self) -> &[NamedTable] {
        &self.tables
    }

    /// The names and values, in order.
    pub fn values(&self) -> &[(String, f64)] {
        &self.values
    }

    /// Adds a constant, which replaces one of the same name: `order` in the limits of checks.
    #[must_use]
    pub fn and(&self, name: &str, value: f64) -> Self {
        let mut more = self.clone();
        more.values.retain(|(n, _)| n != name);
        more.values.push((name.to_owned(), value));
        more
    }

    /// The names that a formula in `variables` may use; a variable hides a constant of the same name.
    pub(crate) fn names(&self, variables: &[&str]) -> Names {
        let mut names = Names::new(variables.iter().copied());
        for (name, value) in self.values.iter().filter(|(name, _)| !variables.contains(&name.as_str())) {
            // Names of constants were checked when they were read.
            names = names.clone().constant(name, *value).unwrap_or(names);
        }
        for NamedTable { name, table, .. } in &self.tables {
            names = names.clone().table(name, Arc::clone(table)).unwrap_or(names);
        }
        names
    }

    /// Parses a formula in `variables` (the order of its arguments) and these constants.
    ///
    /// # Errors
    /// The mistake in the text, with its place.
    pub fn formula(&self, text: &str, variables: &[&str]) -> Result<Formula, FormulaError> {
        Formula::parse(text, &self.names(variables))
    }

    /// Parses a text of the file as [`Self::formula`] does.
    ///
    /// # Errors
    /// The mistake in the text, with an excerpt of the file.
    pub fn located_formula(&self, text: &Located<String>, variables: &[&str]) -> Result<Formula, InputError> {
        self.formula(&text.value, variables).map_err(|error| InputError::formula(text, error))
    }

    /// Evaluates an expression without variables.
    ///
    /// # Errors
    /// The mistake in the text, with its place.
    pub fn evaluate(&self, text: &str) -> Result<f64, FormulaError> {
        Ok(self.formula(text, &[])?.eval(&[]))
    }

    /// The number at `node`: as written, or the value of an expression.
    ///
    /// # Errors
    /// A value that is no number, or that is infinite or undefined.
    pub fn number(&self, node: &Node, key: &str) -> Result<Located<f64>, InputError> {
        let located = |value| Located { value, key: key.to_owned(), place: node.place.clone() };
        let value = match &node.value {
            Value::Number(x) => *x,
            Value::Text(text) => match self.evaluate(text) {
                Ok(x) => x,
                Err(_) if is_word(text) => return Err(self.unknown_word(node, key, text)),
                Err(error) => return Err(InputError::formula(&located(0.0).with(text.clone()), error)),
            },
            _ => return Err(wrong_type(node, key, "a number or an expression")),
        };
        if value.is_finite() {
            Ok(located(value))
        } else {
            Err(InputError::range(&located(value), "a finite number"))
        }
    }

    fn unknown_word(&self, node: &Node, key: &str, text: &str) -> InputError {
        let names: Vec<&str> = self.values.iter().map(|(n, _)| n.as_str()).collect();
        let constants = match dgsuite_output::nearest::nearest(text, &names) {
            None if names_reference(text) => format!(" ({})", of_reference(key, text)),
            Some(name) => format!(" (the constant `{name}`?)"),
            None => String::new(),
        };
        let expected = format!("a number or an expression{constants}");
        wrong_type(node, key, &expected)
    }

    /// The formula text at `node`; a number is a formula too.
    ///
    /// # Errors
    /// A value that is neither.
    pub fn text(&self, node: &Node, key: &str) -> Result<Located<String>, InputError> {
        let value = match &node.value {
            Value::Number(x) => x.to_string(),
            Value::Text(text) => text.clone(),
            _ => return Err(wrong_type(node, key, "a number or a formula")),
        };
        Ok(Located { value, key: key.to_owned(), place: node.place.clone() })
    }
}

/// A plain word: no number, no operator.
fn is_word(text: &str) -> bool {
    text.starts_with(|c: char| c.is_alphabetic()) && text.chars().all(|c| c.is_alphanumeric() || c == '_')
}

/// The error for a value of the wrong type.
pub fn wrong_type(node: &Node, key: &str, expected: &str) -> InputError {
    InputError::at(
        &node.place,
        Problem::WrongType {
            key: key.to_owned(),
            expected: expected.to_owned(),
            found: node.kind(),
            model: None,
        },
    )
}
