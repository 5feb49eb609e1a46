//! The key `from`: when an output, a mean or a monitor begins, by time or by a condition.

use super::keys::Kind;
use super::node::Value;
use super::problem::InputError;
use super::section::Section;
use super::source::Located;

/// A condition.
pub const CONDITION: Kind = Kind::Formula("t, step and columns of monitors");

/// When something begins, as written.
#[derive(Clone, Debug, PartialEq)]
pub enum Beginning {
    /// At a time.
    Time(f64),
    /// When a condition holds for the first time: a formula in time, step and columns of monitors.
    When(Located<String>),
}

impl Beginning {
    /// Reads `from: TIME` or `from: { when: "CONDITION" }` of a section.
    ///
    /// # Errors
    /// Values of the wrong kind.
    pub fn read(section: &Section<'_>) -> Result<Option<Self>, InputError> {
        match section.node("from").map(|node| &node.value) {
            Some(Value::Map(_)) => {
                let Some(inner) = section.section("from")? else { return Ok(None) };
                let expected = "a condition, such as \"t > 2\" or \"integral_energy < 0.1\"";
                let node = inner.node("when").ok_or_else(|| inner.missing("when", expected))?;
                // The key of a message and of the summary is that of the beginning.
                let text = inner.constants().text(node, &inner.key("when"))?;
                Ok(Some(Self::When(text)))
            }
            _ => Ok(section.number("from")?.map(|time| Self::Time(time.value))),
        }
    }

    /// Returns the time, if it is known before the run.
    #[must_use]
    pub fn time(&self) -> Option<f64> {
        match self {
            Self::Time(time) => Some(*time),
            Self::When(_) => None,
        }
    }
}

/// When something begins, resolved.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Begin {
    /// At a time.
    At(f64),
    /// With the trigger of this number.
    Trigger(usize),
}

impl Begin {
    /// From the start of the run.
    pub const START: Self = Self::At(f64::NEG_INFINITY);
}
