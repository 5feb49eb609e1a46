//! The fields of the output files: known names and formulas, compiled over the primitive variables, their
//! derivatives, place and time.

use dgsuite_physics::formula::Formula;

use crate::file::expression::{COORDINATES, Constants, wrong_type};
use crate::file::node::{Node, Value};
use crate::file::problem::mistakes::each;
use crate::file::problem::{InputError, Problem};
use crate::file::section::{self, Section};
use crate::file::source::Located;
use crate::models::variables::Variables;
use crate::models::vocabulary::{Vocabulary, known_fields};

/// A field of the output, as written.
#[derive(Clone, Debug)]
pub struct FieldSpec {
    /// Its name in the file.
    pub name: Located<String>,
    /// Its formula in the primitive variables, if it is not a known field.
    pub formula: Option<Located<String>>,
}

impl FieldSpec {
    /// The list `names` of a section.
    pub(super) fn read_all(section: &Section<'_>) -> Result<Option<Vec<Self>>, InputError> {
        Ok(match section.list("names")? {
            None => None,
            Some([]) => {
                let place = section.node("names").map_or(section.place(), |node| &node.place);
                let nothing = Located { value: "[]", key: section.key("names"), place: place.clone() };
                return Err(InputError::range(
                    &nothing,
                    "at least one name; `fields: none` writes no fields",
                ));
            }
            Some(items) => {
                let key = section.key("names");
                let fields = items.iter().map(|item| FieldSpec::read(item, &key, section));
                let fields = fields.collect::<Result<Vec<_>, _>>()?;
                section::once(&fields.iter().map(|field| field.name.clone()).collect::<Vec<_>>())?;
                Some(fields)
            }
        })
    }

    /// A name, or a section with one key: `Swirl: sqrt(u^2 + v^2)`.
    fn read(item: &Node, key: &str, section: &Section<'_>) -> Result<Self, InputError> {
        let expected = "the name of a field, or NAME: FORMULA";
        match &item.value {
            Value::Map(entries) => match entries.as_slice() {
                [only] => {
                    let path = format!("{key}.{}", only.key);
                    let formula = section.constants().text(&only.node, &path)?;
                    let name = Located { value: only.key.clone(), key: path, place: only.place.clone() };
                    section::plain(&name)?;
                    Ok(Self { name, formula: Some(formula) })
                }
                _ => Err(wrong_type(item, key, expected)),
            },
            _ => Ok(Self { name: section::text(item, key, expected)?, formula: None }),
        }
    }
}

/// A field of the output files.
#[derive(Debug)]
pub struct OutputField {
    /// Its name in the file.
    pub name: String,
    /// A formula with the arguments of [`Vocabulary::new`] for each component: one, or three for a vector.
    pub components: Vec<Formula>,
    /// Whether one of them uses a derivative.
    pub gradients: bool,
    /// What it is instead of formulas, if it has one value for each element.
    pub of_element: Option<OfElement>,
}

/// A number of each element that a limiter knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OfElement {
    /// The sensor of the gate.
    Sensor,
    /// The factor of the modes in the last stage.
    Filter,
}

impl OfElement {
    /// The numbers by name.
    pub const ALL: [(&'static str, Self); 2] = [("Sensor", Self::Sensor), ("Filter", Self::Filter)];
}

/// Whether the fields may have one value for each element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Elements {
    /// They may; the numbers of a limiter exist if there is one.
    Allowed {
        /// Whether there is one.
        limited: bool,
    },
    /// They may not: means over time and faces of boundaries need values at points.
    PointsOnly,
}

/// Compiles the fields that the file names, or the default ones of the model.
///
/// # Errors
/// Unknown names and formulas that do not parse.
pub fn resolve(
    specs: Option<&[FieldSpec]>,
    variables: &Variables,
    constants: &Constants,
    elements: Elements,
) -> Result<Vec<OutputField>, InputError> {
    let (known, usual) = known_fields(variables.law(), variables.dim());
    let vocabulary = Vocabulary::new(variables, constants);
    let place = |name: &&str| !COORDINATES.contains(name);
    let arguments: Vec<&str> = variables.arguments().into_iter().filter(place).collect();
    let field = |name: &str, components: Vec<Formula>| {
        let gradients = components.iter().any(|f| variables.uses_gradients(f));
        OutputField { name: name.to_owned(), components, gradients, of_element: None }
    };
    let compile = |name: &str, texts: &[&str]| {
        let components = texts.iter().map(|text| vocabulary.known(name, text));
        Ok(field(name, components.collect::<Result<_, _>>()?))
    };
    let Some(specs) = specs else {
        let usual = known.iter().take(usual);
        return match known.is_empty() {
            false => usual.map(|(name, texts)| compile(name, texts)).collect(),
            true => Ok(vec![compile("u", &["u"])?]),
        };
    };
    each(specs.iter().map(|spec| {
        let name = spec.name.value.as_str();
        if let Some(text) = &spec.formula {
            return Ok(field(name, vec![vocabulary.formula(text)?]));
        }
        if let Some((name, texts)) = known.iter().find(|(known, _)| *known == name) {
            return compile(name, texts);
        }
        if arguments.contains(&name) {
            return compile(name, &[name]);
        }
        if vocabulary.is_derived(name) {
            return Ok(field(name, vec![vocabulary.formula(&spec.name)?]));
        }
        if let Some(&(_, of_element)) = OfElement::ALL.iter().find(|(known, _)| *known == name) {
            let misplaced = |owner: &str, belongs: &str| {
                let (key, owner, belongs) = (spec.name.key.clone(), owner.to_owned(), belongs.to_owned());
                Err(InputError::at(&spec.name.place, Problem::Misplaced { key, owner, belongs }))
            };
            return match elements {
                Elements::Allowed { limited: true } => {
                    Ok(OutputField { of_element: Some(of_element), ..field(name, Vec::new()) })
                }
                Elements::Allowed { .. } => {
                    misplaced("a scheme without limiter", "`space.shock: entropy-filter` and `space.limiter`")
                }
                Elements::PointsOnly => misplaced("fields at points", "`output.fields`"),
            };
        }
        let fields = known.iter().map(|(n, _)| *n);
        let more = vocabulary.derived().filter(|name| !known.iter().any(|(n, _)| n == name));
        let names = fields.chain(more).chain(arguments.iter().copied());
        Err(InputError::at(
            &spec.name.place,
            Problem::UnknownValue {
                key: spec.name.key.clone(),
                found: name.to_owned(),
                known: names.map(str::to_owned).collect(),
            },
        ))
    }))
}

/// The names of fields, for the plan.
pub(super) fn list(fields: &[OutputField]) -> String {
    fields.iter().map(|field| field.name.as_str()).collect::<Vec<_>>().join(", ")
}
