//! The monitor `integral`: integrals over the domain, compared with a history.

use std::path::PathBuf;
use std::sync::Arc;

use dgsuite_physics::formula::Formula;
use serde_json::{Map, Value, json};

use super::formulas::{self, FORMULAS, NamedFormula};
use super::reference::ReferenceSpec;
use super::{
    Context, ENDS, Finished, Kind, Monitor, MonitorError, Now, Spec, Values, beginning, charts, section,
};
use crate::file::every::Every;
use crate::file::expression::COORDINATES;
use crate::file::keys::Absent::{Nothing, Required};
use crate::file::keys::Kind::{Section as Keys, Text, Whole};
use crate::file::keys::{FLOW, row};
use crate::file::problem::InputError;
use crate::file::problem::mistakes::{both, each};
use crate::file::section::Section;
use crate::file::source::Located;
use crate::models::variables::Variables;
use crate::models::vocabulary::Vocabulary;
use dgsuite_output::writer::csv::{Columns, heading};
use dgsuite_solve::flow::Flow;
use dgsuite_solve::post::history::{Series, largest_decay};

pub(super) static MONITOR: Kind = Kind {
    name: "integral",
    keys: &[
        section!("integral", FLOW, "Integrals over the domain.", ENDS),
        beginning!("integral", FLOW),
        &[
            row(
                "monitors[].integral.fields",
                &[FORMULAS],
                Required,
                "The integrands: formulas of the solution, such as `rho_E`, `Mach` or `(v_x - u_y)^2/2`.",
            )
            .of(FLOW),
            row(
                "monitors[].integral.reference",
                &[Keys],
                Nothing,
                "A table of other numbers to compare the integrals with.",
            )
            .of(FLOW),
            row(
                "monitors[].integral.reference.file",
                &[Text],
                Required,
                "The path of a table of numbers in columns, whose first column is time.",
            )
            .of(FLOW),
            row(
                "monitors[].integral.reference.columns",
                &[Keys],
                Required,
                "The columns of the table, such as `{ energy: 2 }`.",
            )
            .of(FLOW),
            row(
                "monitors[].integral.reference.columns.<integral>",
                &[Whole(2, usize::MAX)],
                Nothing,
                "The column that an integral is compared with, counted from 1.",
            )
            .of(FLOW),
        ],
    ],
    every: Every::End,
    begins: true,
    read,
    chart: charts::all,
};

fn read(section: &Section<'_>) -> Result<Arc<dyn Spec>, InputError> {
    section.known()?;
    let fields = formulas::read(section)?;
    let known: Vec<&str> = fields.iter().map(|field| field.name.as_str()).collect();
    let reference = ReferenceSpec::read(section, &known)?;
    Ok(Arc::new(IntegralSpec { fields, reference }))
}

#[derive(Debug)]
struct IntegralSpec {
    fields: Vec<NamedFormula>,
    /// The table to compare their history with.
    reference: Option<ReferenceSpec>,
}

impl Spec for IntegralSpec {
    fn resolve(&self, context: &Context<'_>) -> Result<Box<dyn Monitor>, InputError> {
        let names: Vec<String> = self.fields.iter().map(|f| f.name.clone()).collect();
        let references = match &self.reference {
            Some(spec) => spec.series(&names, context),
            None => Ok(vec![None; names.len()]),
        };
        let formulas = each(self.fields.iter().map(|f| integrand(f, context)));
        let (formulas, references) = both(formulas, references)?;
        Ok(Box::new(Integral { names, formulas, references }))
    }

    fn values(&self, _: &str, _: &Variables) -> Vec<String> {
        let compared = |name: &str| self.reference.as_ref().is_some_and(|r| r.has(name));
        let of_field = |field: &NamedFormula| {
            let name = &field.name;
            let mut names = vec![format!("integral.{name}")];
            names.extend(["decay", "decay_time"].map(|what| format!("history.{name}.{what}")));
            names.extend(compared(name).then(|| format!("history.{name}.deviation")));
            names
        };
        self.fields.iter().flat_map(of_field).collect()
    }

    fn files(&self) -> Vec<(&'static str, &Located<PathBuf>)> {
        self.reference.iter().map(|table| ("reference.file", &table.file)).collect()
    }
}

/// Integrals over the domain.
struct Integral {
    names: Vec<String>,
    formulas: Vec<Integrand>,
    /// Reference data for their history.
    references: Vec<Option<Series>>,
}

/// The formula of an integral.
enum Integrand {
    /// A formula in the variables of [`integral_variables`].
    Values(Formula),
    /// A formula in the primitive variables, their derivatives, and `x, y, z, t`.
    Derivatives(Formula),
}

/// The arguments of integrated formulas: conserved variables, primitive variables, then `x, y, z, t`.
///
/// A name in both lists means the conserved variable. The primitive variable keeps its position under the
/// name `primitive_…`, so that positions do not depend on the law.
pub fn integral_variables(variables: &Variables) -> Vec<String> {
    let conserved = variables.conserved.iter().map(|&name| name.to_owned());
    let primitive = variables.primitive.iter().map(|&name| match variables.conserved.contains(&name) {
        true => format!("primitive_{name}"),
        false => name.to_owned(),
    });
    conserved.chain(primitive).chain(COORDINATES.map(str::to_owned)).collect()
}

/// Returns the formula of an integral; one that uses derivatives has no conserved variables as arguments.
fn integrand(field: &NamedFormula, context: &Context<'_>) -> Result<Integrand, InputError> {
    let states = context.states;
    let formula = context.vocabulary.formula(&field.formula)?;
    if states.variables.uses_gradients(&formula) {
        return Ok(Integrand::Derivatives(formula));
    }
    let values = integral_variables(states.variables);
    let values: Vec<&str> = values.iter().map(String::as_str).collect();
    let of_values = Vocabulary::with_arguments(states.variables, states.constants, &values);
    // A formula may name a derivative without depending on it.
    Ok(match of_values.parse(&field.formula.value) {
        Ok(formula) => Integrand::Values(formula),
        Err(_) => Integrand::Derivatives(formula),
    })
}

impl Monitor for Integral {
    fn columns(&self, _: &Variables) -> Vec<String> {
        self.names.iter().map(|n| heading(n)).collect()
    }

    fn record(
        &self,
        solver: &mut Flow,
        _: Now<'_>,
        values: &mut Values,
    ) -> Result<Option<Vec<f64>>, MonitorError> {
        let row = integrals(solver, &self.formulas);
        for (name, x) in self.names.iter().zip(&row) {
            values.put(&["integral", name], json!(x));
        }
        Ok(Some(row))
    }

    fn finish(&self, end: &Finished<'_>, values: &mut Values) -> Result<(), MonitorError> {
        end.write(&end.chart)?;
        for (name, history) in decays(end.table, &self.names, &self.references) {
            values.put(&["history", &name], history);
        }
        Ok(())
    }

    fn about(&self) -> [String; 2] {
        [format!(" of {}", self.names.join(", ")), String::new()]
    }
}

/// Returns integrals over the domain; those of derivatives share one sampling of the solution.
fn integrals(solver: &Flow, all: &[Integrand]) -> Vec<f64> {
    let (mut of_values, mut of_derivatives) = (Vec::new(), Vec::new());
    for integrand in all {
        match integrand {
            Integrand::Values(formula) => of_values.push(formula.clone()),
            Integrand::Derivatives(formula) => of_derivatives.push(formula),
        }
    }
    let empty = of_derivatives.is_empty();
    let derived = if empty { Vec::new() } else { solver.integral_of_derivatives(&of_derivatives) };
    let plain = if of_values.is_empty() { Vec::new() } else { solver.integral(&of_values) };
    let (mut derived, mut plain) = (derived.into_iter(), plain.into_iter());
    let next = |integrand: &Integrand| match integrand {
        Integrand::Values(_) => plain.next(),
        Integrand::Derivatives(_) => derived.next(),
    };
    all.iter().map(next).map(|value| value.unwrap_or(f64::NAN)).collect()
}

/// Returns the largest rate of decay of each integral in a table, and its largest deviation from the
/// reference.
fn decays(table: &Columns, names: &[String], references: &[Option<Series>]) -> Vec<(String, Value)> {
    let t = table.column("time").unwrap_or_default();
    // The columns of integrals follow step and time.
    let columns = names.iter().zip(references).zip(table.values.iter().skip(2));
    let of_one = |((name, reference), x): ((&String, &Option<Series>), &Vec<f64>)| {
        let mut summary = Map::new();
        if let Some(decay) = largest_decay(t, x) {
            summary.insert("decay".into(), json!(decay.rate));
            summary.insert("decay_time".into(), json!(decay.time));
        }
        if let Some(far) = reference.as_ref().and_then(|reference| reference.deviation(t, x)) {
            summary.insert("deviation".into(), json!(far));
        }
        (name.clone(), Value::Object(summary))
    };
    columns.map(of_one).collect()
}
