//! The key `fields` of monitors: formulas of the solution, with names.

use super::Context;
use crate::file::expression::wrong_type;
use crate::file::keys::Absent::Required;
use crate::file::keys::Kind::{List, Section as Keys, Text};
use crate::file::keys::{FLOW, Kind, Row, row};
use crate::file::node::{Node, Value};
use crate::file::problem::InputError;
use crate::file::problem::mistakes::each;
use crate::file::section::{self, Section};
use crate::file::source::Located;
use dgsuite_physics::formula::Formula;

/// Formulas with or without names.
pub(super) const FORMULAS: Kind = List("formulas, or `Name: formula`", &[Text, Keys]);

pub(super) static KEYS: &[Row] = &[row(
    "monitors[].{probe,sample}.fields",
    &[FORMULAS],
    Required,
    "The recorded quantities: formulas of the solution, such as `p`, `Mach` or `Vorticity`.",
)
.of(FLOW)];

/// A formula and the name of its values; the text of the formula if the file gives no name.
#[derive(Clone, Debug)]
pub(super) struct NamedFormula {
    /// The name in tables and the summary.
    pub(super) name: String,
    /// The formula.
    pub(super) formula: Located<String>,
}

/// Reads formulas, each alone or as `Name: formula`.
pub(super) fn read(section: &Section<'_>) -> Result<Vec<NamedFormula>, InputError> {
    let expected = "a list of formulas in the variables of the model";
    let items = section.list("fields")?.ok_or_else(|| section.missing("fields", expected))?;
    let key = section.key("fields");
    let one = |item: &Node| {
        let (name, node) = match &item.value {
            Value::Map(entries) => match entries.as_slice() {
                [only] => {
                    let place = only.place.clone();
                    section::plain(&Located { value: only.key.clone(), key: key.clone(), place })?;
                    (Some(only.key.clone()), &only.node)
                }
                _ => return Err(wrong_type(item, &key, "a formula, or a name with a formula")),
            },
            _ => (None, item),
        };
        let formula = section.constants().text(node, &key)?;
        // The name of a column has one line, also if the formula has several.
        let own = || formula.value.split_whitespace().collect::<Vec<_>>().join(" ");
        Ok(NamedFormula { name: name.unwrap_or_else(own), formula })
    };
    let formulas = items.iter().map(one).collect::<Result<Vec<_>, _>>()?;
    section::once(&formulas.iter().map(|f| f.formula.with(f.name.clone())).collect::<Vec<_>>())?;
    Ok(formulas)
}

/// Formulas with the arguments of [`Vocabulary::new`](crate::models::vocabulary::Vocabulary::new).
pub(super) struct Formulas {
    /// Their names.
    pub(super) names: Vec<String>,
    /// The formulas.
    pub(super) formulas: Vec<Formula>,
    /// Whether one of them uses a derivative.
    pub(super) gradients: bool,
}

impl Formulas {
    /// Parses formulas.
    pub(super) fn resolve(fields: &[NamedFormula], context: &Context<'_>) -> Result<Self, InputError> {
        let formulas = each(fields.iter().map(|f| context.vocabulary.formula(&f.formula)))?;
        let gradients = formulas.iter().any(|f| context.states.variables.uses_gradients(f));
        Ok(Self { names: fields.iter().map(|f| f.name.clone()).collect(), formulas, gradients })
    }
}
