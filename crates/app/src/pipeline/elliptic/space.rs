//! `space` of an elliptic problem: polynomial order and penalty of the symmetric interior penalty method.

use super::MODEL;
use crate::file::node::Value;
use crate::file::problem::{InputError, Problem};
use crate::file::section::{Section, choice};
use crate::file::source::Place;
use dgsuite_solve::setup::MAX_ORDER;

/// The default order.
const DEFAULT_ORDER: usize = 3;

/// The discretisation as written.
#[derive(Clone, Debug)]
pub struct SipdgSpec {
    /// Polynomial degree p.
    pub order: usize,
    /// Factor on the penalty for which the method is known to be stable.
    pub penalty: f64,
    /// Where the section starts.
    pub place: Place,
}

impl SipdgSpec {
    /// Reads the section; all of it has defaults.
    ///
    /// # Errors
    /// Keys of flow models, orders and penalties out of range.
    pub fn read(top: &Section<'_>) -> Result<Self, InputError> {
        let section = top.section_or_empty("space")?;
        section.of_model(MODEL)?;
        let only = |key: &str, word: &str, others: &[&'static str]| -> Result<(), InputError> {
            let Some(node) = section.node(key) else { return Ok(()) };
            let mut words = vec![(word, true)];
            words.extend(others.iter().map(|other| (*other, false)));
            let found = choice(node, &section.key(key), &words)?;
            match found.value {
                true => Ok(()),
                false => {
                    let value = node.value.scalar_text().unwrap_or_default();
                    let instead = format!("the model poisson has `{key}: {word}`");
                    let problem = Problem::Unsupported { key: section.key(key), value, instead };
                    Err(InputError::at(&found.place, problem))
                }
            }
        };
        only("scheme", "dg", &["fr"])?;
        only("basis", "nodal", &["modal", "taylor"])?;
        let mut penalty = 1.0;
        if section.node("viscous").is_some_and(|node| matches!(node.value, Value::Map(_))) {
            let kind = section.section("viscous")?;
            if let Some(sipdg) = kind.map(|kind| kind.section("sipdg")).transpose()?.flatten()
                && let Some(factor) = sipdg.number("penalty")?
            {
                if !(0.5..=100.0).contains(&factor.value) {
                    let expected =
                        "from 0.5 to 100: a factor on the penalty for which the method is known to be stable";
                    return Err(InputError::range(&factor, expected));
                }
                penalty = factor.value;
            }
        } else {
            only("viscous", "sipdg", &["br2"])?;
        }
        let order = section.count("order", 1)?;
        if let Some(order) = order.as_ref().filter(|p| p.value > MAX_ORDER) {
            return Err(InputError::range(order, format!("from 1 to {MAX_ORDER}")));
        }
        let order = order.map_or(DEFAULT_ORDER, |p| p.value);
        Ok(Self { order, penalty, place: section.place().clone() })
    }
}
