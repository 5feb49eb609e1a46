//! The list `checks`: limits on values of the summary, which a run must keep.

use crate::file::expression::{Constants, wrong_type};
use crate::file::node::{Node, Value};
use crate::file::problem::InputError;
use crate::file::section::Section;
use crate::file::source::Located;

/// A check as written.
#[derive(Clone, Debug)]
pub struct CheckSpec {
    /// The path of the value in the summary, such as `error.l2.rho`.
    pub value: Located<String>,
    /// The limit as written; its expressions are read by [`Self::limit`].
    limit: LimitSpec,
}

#[derive(Clone, Debug)]
enum LimitSpec {
    Below(Node, String),
    Above(Node, String),
    Between([Node; 2], String),
    Near { near: Node, within: Node, key: String },
}

/// A limit with its numbers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Limit {
    /// Less than this.
    Below(f64),
    /// Greater than this.
    Above(f64),
    /// From the first to the second, both included.
    Between(f64, f64),
    /// At most `within` away from `near`.
    Near {
        /// The expected value.
        near: f64,
        /// The largest distance, absolute.
        within: f64,
    },
}

impl Limit {
    /// Returns whether a value keeps the limit; NaN does not.
    pub fn holds(&self, x: f64) -> bool {
        match *self {
            Self::Below(limit) => x < limit,
            Self::Above(limit) => x > limit,
            Self::Between(low, high) => low <= x && x <= high,
            Self::Near { near, within } => (x - near).abs() <= within,
        }
    }
}

/// A number in decimal notation, unless it is very small or very large.
fn plain(x: f64) -> String {
    match x.abs() {
        0.0 => "0".to_owned(),
        1e-3..1e6 => x.to_string(),
        _ if is_count(x) => format!("{x:.0}"),
        _ => format!("{x:e}"),
    }
}

/// A result with seven significant digits.
pub fn rounded(x: f64) -> String {
    plain(format!("{x:.6e}").parse().unwrap_or(x))
}

/// Returns whether a number is shown without powers of ten.
fn is_count(x: f64) -> bool {
    x.fract() == 0.0 && x.abs() < 1e7
}

impl std::fmt::Display for Limit {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match *self {
            Self::Below(limit) => write!(f, "below {}", plain(limit)),
            Self::Above(limit) => write!(f, "above {}", plain(limit)),
            Self::Between(low, high) => write!(f, "between {} and {}", plain(low), plain(high)),
            Self::Near { near, within } => write!(f, "near {} within {}", plain(near), plain(within)),
        }
    }
}

impl CheckSpec {
    /// Reads a list of checks.
    ///
    /// # Errors
    /// A check without a value or a limit, or with several limits.
    pub fn read_all(top: &Section<'_>) -> Result<Vec<Self>, InputError> {
        let Some(items) = top.list("checks")? else { return Ok(Vec::new()) };
        items.iter().enumerate().map(|(i, item)| Self::read(&top.item("checks", i, item)?)).collect()
    }

    fn read(section: &Section<'_>) -> Result<Self, InputError> {
        section.known()?;
        let value = section.text("value")?.ok_or_else(|| {
            section.missing("value", "the path of a value in the summary, such as error.l2.rho")
        })?;
        let forms = ["below", "above", "between", "near"];
        for (i, first) in forms.iter().enumerate() {
            for second in &forms[i + 1..] {
                section.exclusive(first, second)?;
            }
        }
        let form = forms.iter().find(|form| section.has(form));
        if section.has("within") && form != Some(&"near") {
            return Err(section.misplaced("within", "this check", "`near`"));
        }
        let limit = match (form, form.and_then(|f| section.node(f))) {
            (Some(&"below"), Some(node)) => LimitSpec::Below(node.clone(), section.key("below")),
            (Some(&"above"), Some(node)) => LimitSpec::Above(node.clone(), section.key("above")),
            (Some(&"between"), Some(node)) => {
                let key = section.key("between");
                match crate::file::section::list(node, &key)? {
                    [low, high] => LimitSpec::Between([low.clone(), high.clone()], key),
                    _ => return Err(wrong_type(node, &key, "a list of two numbers")),
                }
            }
            (Some(_), Some(near)) => {
                let within = section
                    .node("within")
                    .ok_or_else(|| section.missing("within", "a number, or such as 5%"))?;
                LimitSpec::Near { near: near.clone(), within: within.clone(), key: section.key("near") }
            }
            _ => return Err(section.missing("below", "a limit: below, above, between, or near with within")),
        };
        Ok(Self { value, limit })
    }

    /// Evaluates the numbers of the limit; `constants` may contain further names, such as `order`.
    ///
    /// # Errors
    /// Expressions that are no numbers, an empty interval, a negative distance.
    pub fn limit(&self, constants: &Constants) -> Result<Limit, InputError> {
        Ok(match &self.limit {
            LimitSpec::Below(node, key) => Limit::Below(constants.number(node, key)?.value),
            LimitSpec::Above(node, key) => Limit::Above(constants.number(node, key)?.value),
            LimitSpec::Between([low, high], key) => {
                let (low, high) = (constants.number(low, key)?, constants.number(high, key)?);
                if high.value < low.value {
                    return Err(InputError::range(&high, format!("at least the lower limit {}", low.value)));
                }
                Limit::Between(low.value, high.value)
            }
            LimitSpec::Near { near, within, key } => {
                let near = constants.number(near, key)?.value;
                let within = distance(within, &key.replace(".near", ".within"), constants, near)?;
                Limit::Near { near, within }
            }
        })
    }
}

/// The distance: absolute, or as a percentage of `near`.
fn distance(node: &Node, key: &str, constants: &Constants, near: f64) -> Result<f64, InputError> {
    let located = match &node.value {
        Value::Text(text) if text.trim_end().ends_with('%') => {
            let share = text.trim_end().trim_end_matches('%').to_owned();
            let number = Node { value: Value::Text(share), place: node.place.clone() };
            let share = constants.number(&number, key)?;
            share.with(share.value / 100.0 * near.abs())
        }
        _ => constants.number(node, key)?,
    };
    if located.value < 0.0 {
        return Err(InputError::range(&located, "at least 0"));
    }
    Ok(located.value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_are_printed_without_powers_of_ten_where_that_is_short() {
        for (x, text) in [
            (1.547_039_44, "1.547039"),
            (-0.004_860_634_2, "-0.004860634"),
            (764.269_9, "764.2699"),
            (-0.0, "0"),
            (5.382_911e-7, "5.382911e-7"),
            (3.1e9, "3.1e9"),
            (2_000_000.0, "2000000"),
        ] {
            assert_eq!(rounded(x), text);
        }
    }
}
