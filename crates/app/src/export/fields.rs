//! The fields of an export: those of the run, or others by name and by formula.

use super::{ExportError, Fields, Stored};
use crate::file::section;
use crate::file::source::{Located, Place, Source};
use crate::outputs::named::FieldSpec;

/// The option that names a field.
const OPTION: &str = "--field";

impl Stored {
    /// Compiles fields from texts `NAME` and `NAME=FORMULA`, as `output.fields.names` has them; without texts
    /// the fields that the run itself writes, but for those that checkpoints do not store. Formulas may use
    /// the constants of the file, and `gamma` and `gas_constant` of a gas.
    ///
    /// # Errors
    /// Unknown names, formulas that do not parse, [`ExportError::NotStored`].
    pub fn fields(&self, texts: &[String]) -> Result<Fields, ExportError> {
        let specs = texts.iter().map(|text| spec(text)).collect::<Result<Vec<_>, _>>()?;
        section::once(&specs.iter().map(|spec| spec.name.clone()).collect::<Vec<_>>())?;
        self.compiled(&specs)
    }
}

/// Reads `NAME` or `NAME=FORMULA`.
fn spec(text: &str) -> Result<FieldSpec, ExportError> {
    let source = Source::new("command line", format!("{OPTION} {text}"));
    let (name, formula) = match text.split_once('=') {
        Some((name, formula)) => (name, Some(formula)),
        None => (text, None),
    };
    let located = |part: &str, before: usize| {
        let shift = part.chars().count() - part.trim_start().chars().count();
        Located {
            value: part.trim().to_owned(),
            key: OPTION.to_owned(),
            place: Place {
                source: source.clone(),
                line: 1,
                column: OPTION.chars().count() + 2 + before + shift,
                length: part.trim().chars().count().max(1),
            },
        }
    };
    let fields = FieldSpec {
        name: located(name, 0),
        formula: formula.map(|formula| located(formula, name.chars().count() + 1)),
    };
    if fields.formula.is_some() {
        section::plain(&fields.name)?;
    }
    if fields.name.value.is_empty() || fields.name.value.contains(char::is_control) {
        return Err(ExportError::Option {
            option: OPTION,
            found: text.to_owned(),
            expected: "a name, or a name and a formula, such as Density or 'head=p + rho*(u^2 + v^2)/2'"
                .to_owned(),
        });
    }
    Ok(fields)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_field_is_a_name_or_a_name_with_a_formula_and_keeps_its_place() {
        let plain = spec(" Mach ").unwrap();
        assert_eq!((plain.name.value.as_str(), plain.formula), ("Mach", None));
        let written = spec("low = if(p <= 1, 1, 0)").unwrap();
        let formula = written.formula.unwrap();
        assert_eq!((written.name.value.as_str(), formula.value.as_str()), ("low", "if(p <= 1, 1, 0)"));
        let underlined = formula.place.source.text.chars().skip(formula.place.column - 1);
        assert_eq!(underlined.collect::<String>(), "if(p <= 1, 1, 0)");
        assert!(spec("=p").is_err() && spec("").is_err());
    }
}
