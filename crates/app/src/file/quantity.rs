//! Data of boundary conditions: numbers, or formulas in x, y, z and t.

use super::expression::{COORDINATES, Constants, STATE, wrong_type};
use super::keys::Kind;
use super::node::{Node, Value};
use super::problem::InputError;
use super::section::{Section, list};
use super::source::{Located, Place};

/// A number, or a formula in `x, y, z, t` or in names of the state.
#[derive(Clone, Debug)]
pub enum Quantity {
    /// The same everywhere.
    Constant(Located<f64>),
    /// A formula that depends on a coordinate, the time or the state.
    Formula(Located<String>),
}

/// A vector whose components are numbers or formulas, by their direction; 0 where nothing is given.
#[derive(Clone, Debug)]
pub struct VectorQuantity {
    /// The components.
    pub components: [Option<Quantity>; 3],
    /// The length of the list, or the number of components up to the last one in a section.
    pub len: usize,
    /// Whether they were given as a list, which must have one component for each direction.
    pub is_list: bool,
    /// The key's path, with its place.
    pub key: Located<()>,
}

impl VectorQuantity {
    /// The texts of components that are formulas.
    pub fn texts(&self) -> impl Iterator<Item = &Located<String>> {
        self.components.iter().flatten().filter_map(Quantity::text)
    }
}

impl Quantity {
    /// The number or formula at `node`.
    ///
    /// # Errors
    /// A value that is neither; a number that is infinite or undefined.
    pub fn read(node: &Node, key: &str, constants: &Constants) -> Result<Self, InputError> {
        if let Value::Text(text) = &node.value {
            let located = Located { value: text.clone(), key: key.to_owned(), place: node.place.clone() };
            match constants.formula(text, &COORDINATES) {
                Ok(formula) if !formula.variables().is_empty() => return Ok(Self::Formula(located)),
                // A formula that depends on no coordinate, such as 1 + 0*x, is a number.
                Ok(formula) => {
                    let value = located.with(formula.eval(&[0.0; COORDINATES.len()]));
                    if !value.value.is_finite() {
                        return Err(InputError::range(&value, "a finite number"));
                    }
                    return Ok(Self::Constant(value));
                }
                // The plan knows which names the state has.
                Err(_) if constants.formula(text, &names_of_state()).is_ok() => {
                    return Ok(Self::Formula(located));
                }
                // A mistake in an expression is reported as one in a formula; a single word is not an
                // expression.
                Err(error) if text.contains(|c: char| !c.is_alphanumeric() && c != '_') => {
                    return Err(InputError::formula(&located, error));
                }
                _ => {}
            }
        }
        constants.number(node, key).map(Self::Constant)
    }

    /// The key's path and its place.
    pub fn place(&self) -> (&str, &Place) {
        match self {
            Self::Constant(x) => (&x.key, &x.place),
            Self::Formula(text) => (&text.key, &text.place),
        }
    }

    /// The text, if it is a formula.
    pub fn text(&self) -> Option<&Located<String>> {
        match self {
            Self::Formula(text) => Some(text),
            Self::Constant(_) => None,
        }
    }
}

/// The names of coordinates and of states.
fn names_of_state() -> Vec<&'static str> {
    COORDINATES.iter().chain(STATE).copied().collect()
}

impl Section<'_> {
    /// A number or a formula.
    ///
    /// # Errors
    /// As [`Quantity::read`].
    pub fn quantity(&self, key: &str) -> Result<Option<Quantity>, InputError> {
        self.held(key, |kind| matches!(kind, Kind::Formula(_)));
        self.node(key).map(|node| Quantity::read(node, &self.key(key), self.constants())).transpose()
    }

    /// A number greater than zero, or a formula.
    ///
    /// # Errors
    /// As [`Quantity::read`]; a number that is not positive.
    pub fn positive_quantity(&self, key: &str) -> Result<Option<Quantity>, InputError> {
        match self.quantity(key)? {
            Some(Quantity::Constant(x)) if x.value <= 0.0 => Err(InputError::range(&x, "greater than 0")),
            other => Ok(other),
        }
    }

    /// The components of a vector, as a list of numbers and formulas or as a section with some of `names`.
    ///
    /// # Errors
    /// A value that is neither, a list of no or more than three items, other names.
    pub fn quantities(&self, key: &str, names: [&str; 3]) -> Result<Option<VectorQuantity>, InputError> {
        let Some(node) = self.node(key) else { return Ok(None) };
        let path = self.key(key);
        let located = Located { value: (), key: path.clone(), place: node.place.clone() };
        if let Value::Map(_) = node.value {
            let Some(inner) = self.section(key)? else { return Ok(None) };
            let mut components = [None, None, None];
            for (component, name) in components.iter_mut().zip(names) {
                *component = inner.quantity(name)?;
            }
            let len = components.iter().rposition(Option::is_some).map_or(0, |last| last + 1);
            return Ok(Some(VectorQuantity { components, len, is_list: false, key: located }));
        }
        let items = list(node, &path)?;
        if items.is_empty() || items.len() > 3 {
            return Err(wrong_type(node, &path, "a list of one number for each direction"));
        }
        let mut components = [None, None, None];
        for (d, (component, item)) in components.iter_mut().zip(items).enumerate() {
            *component = Some(Quantity::read(item, &format!("{path}.{d}"), self.constants())?);
        }
        Ok(Some(VectorQuantity { components, len: items.len(), is_list: true, key: located }))
    }
}
