//! `boundaries` of an elliptic problem: Dirichlet, Neumann and Robin conditions.

use super::MODEL;
use crate::file::keys::Scope;
use crate::file::problem::InputError;
use crate::file::section::Section;
use crate::file::source::{Located, Place};

/// A boundary's condition, as written.
#[derive(Clone, Debug)]
pub struct BoundarySpec {
    /// The boundary's name in the mesh.
    pub name: Located<String>,
    /// The kind of condition.
    pub kind: KindSpec,
    /// The data.
    pub data: DataSpec,
}

/// The kind of condition on a boundary.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum KindSpec {
    /// `u = g`.
    Dirichlet,
    /// `κ ∂u/∂n = g`.
    Neumann,
    /// `κ ∂u/∂n + α u = g`.
    Robin {
        /// The coefficient α.
        alpha: f64,
    },
}

/// The data of a condition.
#[derive(Clone, Debug)]
pub enum DataSpec {
    /// The data of the exact solution.
    Exact,
    /// A formula in x, y, z.
    Formula(Located<String>),
}

const KINDS: [&str; 3] = ["dirichlet", "neumann", "robin"];

impl BoundarySpec {
    /// Reads the section `boundaries`. If there is an `exact` solution, its data are the default.
    ///
    /// # Errors
    /// Unknown types, missing or surplus data.
    pub fn read_all(top: &Section<'_>, exact: bool) -> Result<Vec<Self>, InputError> {
        let Some(section) = top.section("boundaries")? else { return Ok(Vec::new()) };
        section
            .entries()
            .iter()
            .map(|entry| {
                let key = section.key(&entry.key);
                let inner = section.named(entry)?;
                let name = Located { value: entry.key.clone(), key, place: entry.place.clone() };
                Self::read(name, &inner, exact, &entry.place)
            })
            .collect()
    }

    fn read(
        name: Located<String>,
        section: &Section<'_>,
        exact: bool,
        place: &Place,
    ) -> Result<Self, InputError> {
        let word = section
            .choice("type", &KINDS.map(|k| (k, k)))?
            .ok_or_else(|| section.missing("type", &KINDS.join(", ")))?;
        let (key, kind) = match word.value {
            "dirichlet" => ("u", KindSpec::Dirichlet),
            "neumann" => ("flux", KindSpec::Neumann),
            _ => {
                let expected = "the factor of u in κ ∂u/∂n + alpha u = g";
                let alpha = section.number("alpha")?.ok_or_else(|| section.missing("alpha", expected))?;
                if alpha.value < 0.0 {
                    return Err(InputError::range(
                        &alpha,
                        "0 or more; otherwise the problem is not positive definite",
                    ));
                }
                ("g", KindSpec::Robin { alpha: alpha.value })
            }
        };
        section.known_in(Scope { model: Some(MODEL), kind: Some(word.value) })?;
        let without_exact = |at: &Place| {
            let problem = crate::file::problem::Problem::MissingKey {
                key: "physics.exact".into(),
                expected: "the exact solution, a formula in x, y, z".into(),
            };
            InputError::at(at, problem)
        };
        let text =
            section.node(key).map(|node| section.constants().text(node, &section.key(key))).transpose()?;
        let data = match text {
            Some(text) if text.value == "exact" && exact => DataSpec::Exact,
            Some(text) if text.value == "exact" => return Err(without_exact(&text.place)),
            Some(text) => DataSpec::Formula(text),
            None if exact => DataSpec::Exact,
            None => {
                let mut error = section.missing(key, "a formula in x, y, z, such as 0");
                error.place = Some(place.clone());
                return Err(error);
            }
        };
        Ok(Self { name, kind, data })
    }
}

impl KindSpec {
    /// The word of the pipeline file.
    pub fn name(self) -> &'static str {
        match self {
            Self::Dirichlet => KINDS[0],
            Self::Neumann => KINDS[1],
            Self::Robin { .. } => KINDS[2],
        }
    }
}
