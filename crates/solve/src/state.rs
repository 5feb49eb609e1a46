//! Saved states: the data that a run needs to continue, with the basis of their coefficients.

use super::solves::Histories;
use dgsuite_basis::{NodeSet, Representation};

/// A saved state: the data with which a run continues as if it had not stopped.
#[derive(Clone, Debug, PartialEq)]
pub struct State {
    /// Time.
    pub time: f64,
    /// Number of steps done.
    pub step: usize,
    /// Polynomial degree.
    pub order: usize,
    /// The law's name.
    pub law: String,
    /// The law's parameters, by the names of their keys; empty if they are unknown.
    pub parameters: Vec<(String, f64)>,
    /// The basis of the coefficients, with its nodes.
    pub basis: String,
    /// Coefficients, `[global element][field][basis function]`.
    pub fields: Vec<f64>,
    /// For each conserved variable in turn: the time integral of the boundary rates, the initial integral,
    /// and the initial integral of the absolute value.
    pub tally: Vec<f64>,
    /// What the time integrals of the boundary rates lack, as terms for each variable in turn: with them the
    /// sums are exact.
    pub tally_rest: Vec<f64>,
    /// The past states of a multistep scheme.
    pub histories: Option<Histories>,
}

/// Parameters whose relative difference is smaller are equal: it may come from rounding.
const SAME: f64 = 1e-12;

impl State {
    /// Returns the parameters of the law that differ from those of a run, as `gamma 1.4 (this run: 1.3)`;
    /// empty if the parameters of the state are unknown.
    #[must_use]
    pub fn other_parameters(&self, run: &[(String, f64)]) -> Vec<String> {
        if self.parameters.is_empty() {
            return Vec::new();
        }
        let value = |list: &[(String, f64)], name: &str| list.iter().find(|(n, _)| n == name).map(|p| p.1);
        let mut names: Vec<&String> = self.parameters.iter().map(|(name, _)| name).collect();
        names.extend(run.iter().map(|(name, _)| name).filter(|n| value(&self.parameters, n).is_none()));
        let different = |name: &String| {
            let shown = |value: Option<f64>| value.map_or_else(|| "none".to_owned(), |x| x.to_string());
            let (before, now) = (value(&self.parameters, name), value(run, name));
            let same = match (before, now) {
                (Some(a), Some(b)) => a == b || (a - b).abs() <= SAME * a.abs().max(b.abs()),
                _ => false,
            };
            (!same).then(|| format!("{name} {} (this run: {})", shown(before), shown(now)))
        };
        names.into_iter().filter_map(different).collect()
    }
}

/// Every basis that a checkpoint may have.
const REPRESENTATIONS: [Representation; 5] = [
    Representation::Modal,
    Representation::Taylor,
    Representation::Nodal(NodeSet::GaussLobatto),
    Representation::Nodal(NodeSet::GaussLegendre),
    Representation::Nodal(NodeSet::WarpBlend),
];

/// A basis in words, with its nodes.
pub(super) fn basis_name(representation: Representation) -> String {
    match representation {
        Representation::Modal => "modal".to_owned(),
        Representation::Taylor => "taylor".to_owned(),
        Representation::Nodal(nodes) => format!("nodal ({nodes})"),
    }
}

/// Returns the basis of this name.
pub(super) fn basis_of(name: &str) -> Option<Representation> {
    REPRESENTATIONS.into_iter().find(|&r| basis_name(r) == name)
}
