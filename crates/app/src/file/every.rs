//! The keys `every` and `every_steps`: how often something is written or recorded.

use super::keys::{Kind, Range};
use super::node::Value;
use super::problem::InputError;
use super::section::Section;

/// The word for a value that the program chooses.
pub const AUTO: &str = "auto";

/// An interval of time.
pub const TIME: Kind = Kind::Number(Range::Above(0.0));
/// A number of steps.
pub const STEPS: Kind = Kind::Whole(1, usize::MAX);

/// How often something is written or recorded, beside the end of the run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Every {
    /// At intervals of time.
    Time(f64),
    /// At intervals of steps.
    Steps(usize),
    /// At intervals that are a hundredth of the steps since the first time, at least one step and at most so
    /// many.
    Growing(usize),
    /// Only at the end.
    End,
}

impl Every {
    /// Reads `every` (time) or `every_steps` of a section.
    ///
    /// # Errors
    /// Both at once, or values that are not positive.
    pub fn read(section: &Section<'_>, default: Self) -> Result<Self, InputError> {
        Ok(Self::given(section)?.unwrap_or(default))
    }

    /// As [`read`](Self::read); `None` if the section has neither.
    pub(crate) fn given(section: &Section<'_>) -> Result<Option<Self>, InputError> {
        section.exclusive("every", "every_steps")?;
        if let Some(time) = section.positive("every")? {
            return Ok(Some(Self::Time(time.value)));
        }
        Ok(section.count("every_steps", 1)?.map(|n| Self::Steps(n.value)))
    }

    /// As [`read`](Self::read); `None` also for the word `auto`.
    ///
    /// # Errors
    /// As [`read`](Self::read).
    pub fn given_or_auto(section: &Section<'_>) -> Result<Option<Self>, InputError> {
        let auto =
            section.node("every_steps").is_some_and(|n| matches!(&n.value, Value::Text(w) if w == AUTO));
        if auto { section.exclusive("every", "every_steps").map(|()| None) } else { Self::given(section) }
    }
}
