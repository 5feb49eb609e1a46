//! The monitor `error`: norms of the error against an exact solution.

use std::sync::Arc;

use dgsuite_physics::Exact;

use super::{Context, ENDS, Kind, Monitor, MonitorError, Now, Spec, Values, charts, section};
use crate::file::every::Every;
use crate::file::keys::Absent::{Nothing, Required, Says, Value};
use crate::file::keys::Kind::{Formula, List, Number, Section as Keys, Text, Words};
use crate::file::keys::{FLOW, Range, SPACE_TIME, Scope, known, row};
use crate::file::problem::InputError;
use crate::file::section::{self, Section};
use crate::models::state::StateSpec;
use crate::models::variables::Variables;
use dgsuite_solve::flow::{Flow, Norms};

pub(super) static MONITOR: Kind = Kind {
    name: "error",
    keys: &[
        section!(
            "error",
            FLOW,
            "Norms of the error against an exact solution. Where no boundary of incompressible flow has a pressure, \
             pressures of the same mean are compared.",
            ENDS
        ),
        &[
            row(
                "monitors[].error.exact",
                &[Text, Keys],
                Required,
                "The exact solution: its name, or a section as in `initial.exact`. The name alone stands for the \
                 solution of `initial` with its parameters.",
            )
            .of(FLOW),
            row(
                "monitors[].error.exact.name",
                &[Text],
                Nothing,
                "The name of an exact solution, whose parameters stand beside it.",
            )
            .of(FLOW),
            row(
                "monitors[].error.exact.<variable>",
                &[Formula(SPACE_TIME)],
                Required,
                "The formula of a primitive variable, or with `name` a parameter of that solution.",
            )
            .of(FLOW),
            row(
                "monitors[].error.<parameter>",
                &[Number(Range::Any)],
                Says("the parameter's own"),
                "A parameter of the exact solution.",
            )
            .of(FLOW),
            row(
                "monitors[].error.norms",
                &[List("the words l1, l2, linf", &[Words(&["l1", "l2", "linf"])])],
                Value("[l1, l2, linf]"),
                "The norms: the integral of |e|, the root of that of e², and the largest |e|.",
            )
            .of(FLOW),
        ],
    ],
    every: Every::End,
    begins: false,
    read,
    chart: |name, table, x| dgsuite_output::writer::plot::Chart {
        log_y: true,
        ..charts::all(name, table, x)
    },
};

/// A norm over the domain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Norm {
    /// `∫ |e|`.
    L1,
    /// `√∫ e²`.
    L2,
    /// The largest value at the quadrature points.
    Linf,
}

impl Norm {
    /// All norms with their words.
    pub const ALL: [(&'static str, Self); 3] = [("l1", Self::L1), ("l2", Self::L2), ("linf", Self::Linf)];

    /// The word of the pipeline file and of the summary.
    pub fn name(self) -> &'static str {
        match self {
            Self::L1 => "l1",
            Self::L2 => "l2",
            Self::Linf => "linf",
        }
    }
}

/// Returns the values of one norm.
pub fn norm_of(norms: &Norms, norm: Norm) -> &[f64] {
    match norm {
        Norm::L1 => &norms.l1,
        Norm::L2 => &norms.l2,
        Norm::Linf => &norms.linf,
    }
}

fn read(section: &Section<'_>) -> Result<Arc<dyn Spec>, InputError> {
    if !section.has("exact") {
        section.only(&known(section.steps(), Scope::default()).names)?;
        return Err(section.missing("exact", "the name of a solution, or a formula for each variable"));
    }
    let exact = StateSpec::read(section, &["norms", "every", "every_steps"])?;
    let norms = match section.list("norms")? {
        None => Norm::ALL.map(|(_, norm)| norm).to_vec(),
        Some(items) => items
            .iter()
            .map(|item| Ok(section::choice(item, &section.key("norms"), &Norm::ALL)?.value))
            .collect::<Result<_, InputError>>()?,
    };
    Ok(Arc::new(ErrorSpec { exact, norms }))
}

#[derive(Debug)]
struct ErrorSpec {
    exact: StateSpec,
    norms: Vec<Norm>,
}

impl Spec for ErrorSpec {
    fn resolve(&self, context: &Context<'_>) -> Result<Box<dyn Monitor>, InputError> {
        Ok(Box::new(Error { exact: context.states.resolve(&self.exact)?, norms: self.norms.clone() }))
    }

    fn has_exact(&self) -> bool {
        true
    }
}

struct Error {
    exact: Arc<dyn Exact>,
    norms: Vec<Norm>,
}

impl Monitor for Error {
    fn columns(&self, variables: &Variables) -> Vec<String> {
        let fields = variables.all();
        self.norms.iter().flat_map(|n| fields.iter().map(|f| format!("{}_{f}", n.name()))).collect()
    }

    fn record(
        &self,
        solver: &mut Flow,
        now: Now<'_>,
        _: &mut Values,
    ) -> Result<Option<Vec<f64>>, MonitorError> {
        let errors = solver.errors(self.exact.as_ref(), now.time.t);
        Ok(Some(self.norms.iter().flat_map(|norm| norm_of(&errors, *norm)).copied().collect()))
    }

    fn exact(&self) -> Option<&Arc<dyn Exact>> {
        Some(&self.exact)
    }
}
