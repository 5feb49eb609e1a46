//! The coefficient κ by regions of the mesh, and the signs of coefficients.

use dgsuite_mesh::Mesh;

use super::functions::{Coefficient, Scalar};
use super::{constant, formula, nodes_of, wrong_sign};
use crate::file::expression::Constants;
use crate::file::problem::{InputError, Problem};
use crate::file::source::{Located, Place, Source};
use crate::pipeline::elliptic::physics::KappaSpec;

/// Returns the coefficient κ.
///
/// # Errors
/// Formulas that do not parse, regions that the mesh does not have, regions of the mesh without a formula.
pub(super) fn kappa(spec: &KappaSpec, constants: &Constants, mesh: &Mesh) -> Result<Coefficient, InputError> {
    match spec {
        KappaSpec::One => {
            let place = Place::whole(&Source::new("default", ""));
            Ok(Coefficient { parts: vec![(String::new(), constant(1.0)?, place)], part_of: Vec::new() })
        }
        KappaSpec::Everywhere(text) => {
            let parts = vec![(String::new(), formula(constants, text)?, text.place.clone())];
            Ok(Coefficient { parts, part_of: Vec::new() })
        }
        KappaSpec::Regions(given, place) => by_region(given, place, constants, mesh),
    }
}

fn by_region(
    given: &[(Located<String>, Located<String>)],
    place: &Place,
    constants: &Constants,
    mesh: &Mesh,
) -> Result<Coefficient, InputError> {
    let known: Vec<String> = mesh.region_names.iter().map(|tag| tag.name.clone()).collect();
    let mut parts = Vec::new();
    let mut numbers = Vec::new();
    for (name, text) in given {
        let Some(tag) = mesh.region_names.iter().find(|tag| tag.name == name.value) else {
            let problem = Problem::UnknownRegion { name: name.value.clone(), known };
            return Err(InputError::at(&name.place, problem));
        };
        numbers.push(tag.region);
        parts.push((name.value.clone(), formula(constants, text)?, text.place.clone()));
    }
    let mut part_of = Vec::with_capacity(mesh.n_elements());
    for set in &mesh.sets {
        for (&region, &tag) in set.regions.iter().zip(&set.tags) {
            let Some(part) = numbers.iter().position(|&number| number == region) else {
                let named = mesh.region_names.iter().find(|tag| tag.region == region);
                let found = named.map_or_else(|| format!("of element {tag}"), |tag| tag.name.clone());
                return Err(InputError::at(place, Problem::MissingRegion { name: found }));
            };
            part_of.push(part as u32);
        }
    }
    Ok(Coefficient { parts, part_of })
}

/// Rejects κ ≤ 0 at a node of the mesh.
pub(super) fn positive(kappa: &Coefficient, mesh: &Mesh) -> Result<(), InputError> {
    let constant = matches!(&kappa.parts[..], [(_, scalar, _)] if scalar.is_constant());
    for (element, x) in nodes_of(mesh).take(if constant { 1 } else { usize::MAX }) {
        let value = kappa.at(element, x);
        if !(value > 0.0 && value.is_finite()) {
            let (name, _, place) = &kappa.parts[kappa.part(element)];
            let key =
                if name.is_empty() { "physics.kappa".to_owned() } else { format!("physics.kappa.{name}") };
            return Err(wrong_sign(place, &key, value, x, "greater than 0 everywhere"));
        }
    }
    Ok(())
}

/// Rejects λ < 0 at a node of the mesh.
pub(super) fn not_negative(lambda: &Scalar, text: &Located<String>, mesh: &Mesh) -> Result<(), InputError> {
    for (_, x) in nodes_of(mesh).take(if lambda.is_constant() { 1 } else { usize::MAX }) {
        let value = lambda.at(x);
        if !(value >= 0.0 && value.is_finite()) {
            let expected = "0 or more everywhere, or the problem is not positive definite";
            return Err(wrong_sign(&text.place, &text.key, value, x, expected));
        }
    }
    Ok(())
}
