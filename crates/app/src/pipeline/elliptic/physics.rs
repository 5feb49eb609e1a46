//! `physics` of the screened Poisson equation `−∇·κ∇u + λu = f`: formulas in x, y, z.

use super::MODEL;
use crate::file::node::Value;
use crate::file::problem::InputError;
use crate::file::section::Section;
use crate::file::source::{Located, Place};

/// The equation as written.
#[derive(Clone, Debug)]
pub struct PoissonSpec {
    /// The right-hand side f.
    pub forcing: ForcingSpec,
    /// The coefficient κ.
    pub kappa: KappaSpec,
    /// The coefficient λ; 0 if none is given.
    pub lambda: Option<Located<String>>,
    /// The exact solution.
    pub exact: Option<Located<String>>,
    /// Where the model was chosen.
    pub place: Place,
}

/// The right-hand side as written.
#[derive(Clone, Debug)]
pub enum ForcingSpec {
    /// The right-hand side for which the exact solution solves the equation.
    Exact,
    /// A formula.
    Formula(Located<String>),
}

/// The coefficient κ as written.
#[derive(Clone, Debug)]
pub enum KappaSpec {
    /// 1.
    One,
    /// One formula.
    Everywhere(Located<String>),
    /// A formula for each region of the mesh: name and formula.
    Regions(Vec<(Located<String>, Located<String>)>, Place),
}

impl PoissonSpec {
    /// Reads the section.
    ///
    /// # Errors
    /// Parameters of other models, values that are no formulas, no right-hand side.
    pub fn read(top: &Section<'_>) -> Result<Self, InputError> {
        let section = top
            .section("physics")?
            .ok_or_else(|| top.missing("physics", "physics: { model: poisson, forcing: 1 }"))?;
        section.of_model(MODEL)?;
        let place = section.node("model").map_or(section.place(), |node| &node.place).clone();
        let exact = formula(&section, "exact")?;
        let given = formula(&section, "forcing")?;
        let forcing = match (given, &exact) {
            (None, Some(_)) => ForcingSpec::Exact,
            (Some(word), Some(_)) if word.value == "exact" => ForcingSpec::Exact,
            (Some(word), None) if word.value == "exact" => {
                return Err(section.missing("exact", "the solution that the right-hand side is derived from"));
            }
            (Some(text), _) => ForcingSpec::Formula(text),
            (None, None) => {
                let expected =
                    "the right-hand side f, a formula in x, y, z; or `exact`, a solution to derive it from";
                return Err(section.missing("forcing", expected));
            }
        };
        Ok(Self { forcing, kappa: kappa(&section)?, lambda: formula(&section, "lambda")?, exact, place })
    }
}

fn formula(section: &Section<'_>, key: &str) -> Result<Option<Located<String>>, InputError> {
    section.node(key).map(|node| section.constants().text(node, &section.key(key))).transpose()
}

fn kappa(section: &Section<'_>) -> Result<KappaSpec, InputError> {
    let Some(node) = section.node("kappa") else { return Ok(KappaSpec::One) };
    if !matches!(node.value, Value::Map(_)) {
        return Ok(formula(section, "kappa")?.map_or(KappaSpec::One, KappaSpec::Everywhere));
    }
    let Some(inner) = section.section("kappa")? else { return Ok(KappaSpec::One) };
    let regions = inner
        .entries()
        .iter()
        .map(|entry| {
            let key = inner.key(&entry.key);
            let text = inner.constants().text(&entry.node, &key)?;
            Ok((Located { value: entry.key.clone(), key, place: entry.place.clone() }, text))
        })
        .collect::<Result<Vec<_>, InputError>>()?;
    Ok(KappaSpec::Regions(regions, node.place.clone()))
}
