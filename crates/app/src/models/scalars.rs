//! Scalars of incompressible flow, as written: temperature, others by name, and their values on boundaries.

use crate::file::expression::COORDINATES;
use crate::file::keys::{INCOMPRESSIBLE_FLOW, Scope};
use crate::file::node::Value;
use crate::file::problem::InputError;
use crate::file::quantity::Quantity;
use crate::file::section::Section;
use crate::file::source::{Located, Place};
use dgsuite_solve::incompressible::{MOST_SCALARS, TEMPERATURE};

/// A scalar that the flow carries.
#[derive(Clone, Debug)]
pub struct ScalarSpec {
    /// Its name among the unknowns.
    pub name: &'static str,
    /// The diffusivity; its constant part if it varies.
    pub diffusivity: f64,
    /// The diffusivity as a formula.
    pub formula: Option<Located<String>>,
    /// The source, a formula of `x, y, z, t`.
    pub source: Option<Located<String>>,
}

/// The force of buoyancy.
#[derive(Clone, Debug)]
pub struct BuoyancySpec {
    /// The acceleration, one number for each direction.
    pub gravity: Located<Vec<f64>>,
    /// The thermal expansion coefficient.
    pub expansion: f64,
    /// The temperature without buoyancy.
    pub reference: f64,
}

/// What a boundary prescribes for a scalar.
#[derive(Clone, Debug)]
pub struct OnBoundary {
    /// The name of the scalar.
    pub name: String,
    /// The condition.
    pub condition: ScalarWord,
    /// Where it stands.
    pub place: Place,
}

/// The conditions of scalars.
#[derive(Clone, Debug)]
pub enum ScalarWord {
    /// The value of the fluid on a wall, or of fluid that enters.
    Value(Quantity),
    /// A flux out of the fluid.
    Flux(Quantity),
    /// A flux in proportion to the difference to a value outside.
    Transfer {
        /// The coefficient.
        coefficient: f64,
        /// The value outside.
        ambient: Quantity,
    },
}

impl ScalarSpec {
    /// Reads `temperature` and `scalars` of the section `physics` of a fluid with this viscosity.
    ///
    /// # Errors
    /// Missing diffusivities, numbers out of range, names that have another meaning, too many scalars.
    pub fn read_all(physics: &Section<'_>, viscosity: f64) -> Result<Vec<Self>, InputError> {
        let mut all = Vec::new();
        if let Some(section) = physics.section("temperature")? {
            section.exclusive("diffusivity", "prandtl")?;
            let prandtl = section.positive("prandtl")?;
            let (given, formula) = section.varying("diffusivity")?;
            let diffusivity = match (given, prandtl) {
                (Some(given), _) => given.value,
                (None, Some(prandtl)) => viscosity / prandtl.value,
                (None, None) => {
                    return Err(lacking(&section, &formula, "the thermal diffusivity, or `prandtl`"));
                }
            };
            let source = section.text_of_formula("source")?;
            all.push(Self { name: TEMPERATURE, diffusivity, formula, source });
        }
        let Some(scalars) = physics.section("scalars")? else { return Ok(all) };
        for entry in scalars.entries() {
            let key = scalars.key(&entry.key);
            let name = Located { value: entry.key.clone(), key, place: entry.place.clone() };
            check_name(&name)?;
            let section = scalars.named(entry)?;
            section.known()?;
            let (diffusivity, formula) = section.varying("diffusivity")?;
            let diffusivity = diffusivity.ok_or_else(|| lacking(&section, &formula, "the diffusivity"))?;
            let source = section.text_of_formula("source")?;
            if all.len() == MOST_SCALARS {
                let expected = format!("one of at most {MOST_SCALARS} scalars, the temperature included");
                return Err(InputError::range(&name, expected));
            }
            // The names of unknowns live as long as the program; there are few of them.
            let name = Box::leak(name.value.into_boxed_str());
            all.push(Self { name, diffusivity: diffusivity.value, formula, source });
        }
        Ok(all)
    }
}

/// No diffusivity, or none beside a formula.
fn lacking(section: &Section<'_>, formula: &Option<Located<String>>, expected: &str) -> InputError {
    match formula {
        None => section.missing("diffusivity", expected),
        Some(_) => section.missing(
            "diffusivity.constant",
            "the constant part of the diffusivity, at most the least value of the formula",
        ),
    }
}

impl BuoyancySpec {
    /// Reads `buoyancy` of the section `physics`.
    ///
    /// # Errors
    /// No gravity, no temperature.
    pub fn read(physics: &Section<'_>) -> Result<Option<Self>, InputError> {
        let Some(section) = physics.section("buoyancy")? else { return Ok(None) };
        if !physics.has("temperature") {
            let belongs = "flow with a temperature; add `physics.temperature: { diffusivity: 0.01 }`";
            return Err(physics.misplaced("buoyancy", "flow without a temperature", belongs));
        }
        let gravity = section.vector("gravity")?;
        let gravity =
            gravity.ok_or_else(|| section.missing("gravity", "the acceleration, such as [0, -1]"))?;
        Ok(Some(Self {
            gravity,
            expansion: section.number("expansion")?.map_or(1.0, |beta| beta.value),
            reference: section.number("reference")?.map_or(0.0, |t| t.value),
        }))
    }
}

/// Rejects names of scalars that formulas use for something else, or cannot use.
fn check_name(name: &Located<String>) -> Result<(), InputError> {
    const TAKEN: [&str; 12] =
        ["u", "v", "w", "p", "T", "exact", "type", "velocity", "rotation", "kind", "delta", "adiabatic"];
    let of = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let word = name.value.starts_with(|c: char| c.is_ascii_alphabetic()) && name.value.chars().all(of);
    let derivative = ["_x", "_y", "_z"].iter().any(|end| name.value.ends_with(end));
    let taken = TAKEN.contains(&name.value.as_str()) || COORDINATES.contains(&name.value.as_str());
    match word && !derivative && !taken {
        true => Ok(()),
        false => Err(InputError::range(
            name,
            "a name of letters, digits and `_` that is not one of another unknown, key, coordinate or derivative",
        )),
    }
}

/// The names of the scalars of a file, as far as they can be read.
pub fn names(top: &Section<'_>, model: &str) -> Vec<String> {
    if model != INCOMPRESSIBLE_FLOW {
        return Vec::new();
    }
    let Ok(Some(physics)) = top.unchecked("physics") else { return Vec::new() };
    let temperature = physics.has("temperature").then(|| TEMPERATURE.to_owned());
    let scalars = physics.unchecked("scalars").ok().flatten();
    let others = scalars.iter().flat_map(|section| section.entries().iter().map(|entry| entry.key.clone()));
    temperature.into_iter().chain(others).collect()
}

impl OnBoundary {
    /// Reads the scalars of fluid that enters through a boundary of this type.
    ///
    /// # Errors
    /// Unknown keys, values of the wrong kind.
    pub fn read_entering(
        section: &Section<'_>,
        kind: &str,
        names: &[String],
    ) -> Result<Vec<Self>, InputError> {
        Self::read_values(section, kind, &names.iter().map(String::as_str).collect::<Vec<_>>())
    }

    /// Reads the conditions of scalars on a wall of this type.
    ///
    /// # Errors
    /// Conditions of a temperature that the flow does not have, several of them, unknown keys.
    pub fn read_wall(section: &Section<'_>, kind: &str, names: &[String]) -> Result<Vec<Self>, InputError> {
        // The temperature has keys of its own.
        let by_name: Vec<&str> =
            names.iter().map(String::as_str).filter(|name| *name != TEMPERATURE).collect();
        let mut all = Self::read_values(section, kind, &by_name)?;
        all.extend(heat(section, names)?);
        Ok(all)
    }

    /// Reads the values of scalars by their names.
    fn read_values(section: &Section<'_>, kind: &str, names: &[&str]) -> Result<Vec<Self>, InputError> {
        section.known_with(Scope { model: Some(INCOMPRESSIBLE_FLOW), kind: Some(kind) }, names)?;
        let mut all = Vec::new();
        for &name in names {
            if let Some(node) = section.entries().iter().find(|entry| entry.key == name) {
                let value = Quantity::read(&node.node, &section.key(name), section.constants())?;
                let (name, place) = (name.to_owned(), node.place.clone());
                all.push(Self { name, condition: ScalarWord::Value(value), place });
            }
        }
        Ok(all)
    }
}

/// The condition of the temperature on a wall.
fn heat(section: &Section<'_>, names: &[String]) -> Result<Option<OnBoundary>, InputError> {
    const KEYS: [&str; 5] = ["adiabatic", "temperature", "heat_flux", "transfer", "ambient"];
    let has_temperature = names.iter().any(|name| name == TEMPERATURE);
    for key in KEYS {
        if section.has(key) && !has_temperature {
            let belongs = "flow with a temperature; add `physics.temperature: { diffusivity: 0.01 }`";
            return Err(section.misplaced(key, "flow without a temperature", belongs));
        }
    }
    let adiabatic = section.flag("adiabatic")?;
    for (first, second) in
        [("temperature", "heat_flux"), ("temperature", "transfer"), ("heat_flux", "transfer")]
    {
        section.exclusive(first, second)?;
    }
    if adiabatic.as_ref().is_some_and(|flag| flag.value) {
        for key in &KEYS[1..] {
            section.exclusive("adiabatic", key)?;
        }
    }
    let coefficient = match section.number("transfer")? {
        Some(given) if given.value < 0.0 => return Err(InputError::range(&given, "0 or more")),
        given => given.map(|h| h.value),
    };
    let ambient = section.quantity("ambient")?;
    let condition = match (section.quantity("temperature")?, section.quantity("heat_flux")?, coefficient) {
        (Some(value), ..) => Some(ScalarWord::Value(value)),
        (_, Some(flux), _) => Some(ScalarWord::Flux(flux)),
        (.., Some(coefficient)) => {
            let ambient = ambient.clone();
            let ambient = ambient.ok_or_else(|| section.missing("ambient", "the temperature outside"))?;
            Some(ScalarWord::Transfer { coefficient, ambient })
        }
        _ => None,
    };
    if ambient.is_some() && !matches!(condition, Some(ScalarWord::Transfer { .. })) {
        return Err(section.missing("transfer", "the coefficient of the heat transfer to `ambient`"));
    }
    if let (None, Some(flag)) = (&condition, adiabatic)
        && !flag.value
    {
        return Err(section.missing("temperature", "the wall's temperature, as it is not adiabatic"));
    }
    let name = TEMPERATURE.to_owned();
    Ok(condition.map(|condition| OnBoundary { name, condition, place: section.place().clone() }))
}

impl Section<'_> {
    /// Rejects keys that the table does not have in this section for a model and a type of boundary, except
    /// for these names.
    fn known_with(&self, scope: Scope<'_>, names: &[&str]) -> Result<(), InputError> {
        let mut known = crate::file::keys::known(self.steps(), scope).names;
        let named: Vec<&str> = known.drain(..).chain(names.iter().copied()).collect();
        self.only(&named)
    }

    /// Reads `key: number | { constant: number, formula: … }`.
    ///
    /// # Errors
    /// Numbers that are not positive, unknown keys.
    pub fn varying(&self, key: &str) -> Result<(Option<Located<f64>>, Option<Located<String>>), InputError> {
        let Some(node) = self.node(key) else { return Ok((None, None)) };
        if !matches!(node.value, Value::Map(_)) {
            return Ok((self.positive(key)?, None));
        }
        let Some(section) = self.section(key)? else { return Ok((None, None)) };
        Ok((section.positive("constant")?, section.text_of_formula("formula")?))
    }

    /// A formula, as written.
    fn text_of_formula(&self, key: &str) -> Result<Option<Located<String>>, InputError> {
        let Some(node) = self.node(key) else { return Ok(None) };
        self.constants().text(node, &self.key(key)).map(Some)
    }
}
