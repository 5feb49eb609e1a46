//! The section `physics.closure`: a model of unresolved scales and its numbers.

use dgsuite_physics::Closure;
use dgsuite_physics::closures::EddyViscosity;

use crate::file::node::Value;
use crate::file::problem::InputError;
use crate::file::section::Section;
use crate::file::source::{Located, Place};

/// A closure as written.
#[derive(Clone, Debug)]
pub struct ClosureSpec {
    /// The model.
    pub closure: Closure,
    /// Its constant.
    pub constant: f64,
    /// The filter width, a formula; `None` for that of the element.
    pub length: Option<Located<String>>,
    /// The turbulent Prandtl number.
    pub prandtl: f64,
    /// Where the closure was chosen.
    pub place: Place,
}

impl ClosureSpec {
    /// Reads `closure: none | vreman | { vreman: { constant, length, turbulent_prandtl } }`.
    ///
    /// # Errors
    /// An unknown closure, several closures, numbers that are not positive.
    pub fn read(physics: &Section<'_>) -> Result<Option<Self>, InputError> {
        let Some(node) = physics.node("closure") else { return Ok(None) };
        if !matches!(node.value, Value::Map(_)) {
            let words: Vec<(&str, Option<Closure>)> = std::iter::once(("none", None))
                .chain(Closure::ALL.iter().map(|&closure| (closure.name(), Some(closure))))
                .collect();
            let Some(word) = physics.choice("closure", &words)? else { return Ok(None) };
            let plain = |closure| {
                let EddyViscosity { constant, prandtl, .. } = EddyViscosity::usual(closure);
                Self { closure, constant, length: None, prandtl, place: word.place }
            };
            return Ok(word.value.map(plain));
        }
        let Some(section) = physics.section("closure")? else { return Ok(None) };
        for (i, first) in Closure::ALL.iter().enumerate() {
            for second in &Closure::ALL[i + 1..] {
                section.exclusive(first.name(), second.name())?;
            }
        }
        for &closure in Closure::ALL {
            let Some(inner) = section.section(closure.name())? else { continue };
            let length = match inner.node("length") {
                Some(node) => Some(inner.constants().text(node, &inner.key("length"))?),
                None => None,
            };
            let length = length.filter(|text| text.value.trim() != "delta");
            let usual = EddyViscosity::usual(closure);
            return Ok(Some(Self {
                closure,
                constant: inner.positive("constant")?.map_or(usual.constant, |c| c.value),
                length,
                prandtl: inner.positive("turbulent_prandtl")?.map_or(usual.prandtl, |pr| pr.value),
                place: inner.place().clone(),
            }));
        }
        Err(section.missing("vreman", "one of smagorinsky, wale, vreman, sigma, such as { vreman: {} }"))
    }
}
