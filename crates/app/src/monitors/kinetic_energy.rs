//! The monitor `kinetic_energy`: the budget of the kinetic energy of the domain.
//!
//! For E = ∫ ½ρ|u|² the momentum and mass balances give, with the viscous stress τ,
//!
//! dE/dt = ∫ p ∇·u − ∫ τ:∇u − ∮ (½ρ|u|² u·n + p u·n − u·τ·n) + sources.
//!
//! The sources of incompressible flow are forces f per mass, with the work ∫ f·u. The stress of a closure is
//! a part of τ, whose dissipation is a column of its own.
//!
//! Of p the mean p̄ over the domain is subtracted in both terms, which changes neither sum: in slow flow
//! their errors would be larger than all others. What is missing in the history of the table is what the
//! scheme dissipates, less the work of the sources of a gas.

use std::sync::Arc;

use dgsuite_physics::formula::Formula;
use dgsuite_physics::incompressible::ViscosityFormula;
use dgsuite_physics::navier_stokes::Viscosity;
use serde_json::json;

use super::{Context, Finished, Kind, Monitor, MonitorError, Now, Spec, Values, charts, section};
use crate::file::every::Every;
use crate::file::keys::{Absent::Value, FLUID};
use crate::file::problem::mistakes::each;
use crate::file::problem::{InputError, Problem};
use crate::file::section::Section;
use crate::models::variables::Variables;
use dgsuite_output::writer::csv::Columns;
use dgsuite_solve::flow::{Flow, Law};
use dgsuite_solve::incompressible::Incompressible;
use dgsuite_solve::post::{Surface, dot};

pub(super) static MONITOR: Kind = Kind {
    name: "kinetic_energy",
    keys: &[section!(
        "kinetic_energy",
        FLUID,
        "The kinetic energy of the domain, its dissipation by viscosity, the work of pressure in compression, what \
         leaves through boundaries, the work of the forces on incompressible flow, and the dissipation by the eddy \
         viscosity of a closure; in the summary also what the scheme dissipates.",
        Value("10")
    )],
    every: Every::Steps(10),
    begins: false,
    read,
    chart: charts::all,
};

/// The columns: E, ∫ τ:∇u, ∫ p ∇·u, and the integral over the boundaries.
const COLUMNS: [&str; 4] = ["energy", "dissipation", "compression", "outflow"];

/// The work of forces, of incompressible flow.
const WORK: &str = "work";

/// The dissipation by the eddy viscosity of a closure.
const EDDIES: &str = "eddy_dissipation";

/// The columns of a law.
fn columns(law: &Law) -> Vec<&'static str> {
    let work = matches!(law, Law::Incompressible(_)).then_some(WORK);
    let eddies = law.closure().map(|_| EDDIES);
    COLUMNS.into_iter().chain(work).chain(eddies).collect()
}

fn read(section: &Section<'_>) -> Result<Arc<dyn Spec>, InputError> {
    section.known()?;
    Ok(Arc::new(BudgetSpec))
}

#[derive(Debug)]
struct BudgetSpec;

impl Spec for BudgetSpec {
    fn resolve(&self, context: &Context<'_>) -> Result<Box<dyn Monitor>, InputError> {
        let law = context.states.variables.law();
        let density = if matches!(law, Law::Incompressible(_)) { "1" } else { "rho" };
        let viscosity = viscosity(law, context.states.variables.dim());
        let dim = context.states.variables.dim();
        let mut texts = integrands(dim, density, &viscosity).to_vec();
        if law.closure().is_some() {
            texts.push(dissipation(dim, density, &format!("{density}*EddyViscosity")));
        }
        let parse = |text: &String| formula("monitors.kinetic_energy", text, context);
        Ok(Box::new(Budget {
            integrands: each(texts.iter().map(parse))?,
            boundaries: context.mesh.boundary_names().into_iter().map(str::to_owned).collect(),
            has_density: law.gas().is_some(),
        }))
    }

    fn values(&self, _: &str, variables: &Variables) -> Vec<String> {
        let names = columns(variables.law()).into_iter().chain(["lost", "numerical", "numerical_share"]);
        names.map(|name| format!("kinetic_energy.{name}")).collect()
    }
}

/// Parses a formula with the [`viscosity`] of the law.
///
/// # Errors
/// A mistake in the text.
pub(super) fn formula(key: &str, text: &str, context: &Context<'_>) -> Result<Formula, InputError> {
    // The formula of a viscosity may have constants of the file.
    match context.states.variables.law() {
        Law::Incompressible(law) if law.viscosity_formula.is_some() => {
            let problem = |error| Problem::Formula { key: key.to_owned(), error };
            context.vocabulary.parse(text).map_err(|error| InputError::nowhere(problem(error)))
        }
        _ => context.vocabulary.known(key, text),
    }
}

/// The viscosity of a law as a formula of the state and its derivatives: the dynamic one of a gas, the
/// kinematic one of a liquid.
pub(super) fn viscosity(law: &Law, dim: usize) -> String {
    match law {
        Law::Incompressible(law) => of_liquid(law, dim),
        Law::NavierStokes(law) => text_of(&law.viscosity),
        Law::Euler { .. } | Law::Advection { .. } => "0".to_owned(),
    }
}

/// The viscosity as a formula of the state.
fn text_of(viscosity: &Viscosity) -> String {
    const TEMPERATURE: &str = "(p/(rho*gas_constant))";
    match *viscosity {
        Viscosity::Constant { mu } => format!("{mu:?}"),
        Viscosity::PowerLaw { mu_ref, t_ref, exponent } => {
            format!("{mu_ref:?}*({TEMPERATURE}/{t_ref:?})^({exponent:?})")
        }
        Viscosity::Sutherland { mu_ref, t_ref, s } => {
            format!("{mu_ref:?}*({TEMPERATURE}/{t_ref:?})^1.5*({t_ref:?} + {s:?})/({TEMPERATURE} + {s:?})")
        }
    }
}

/// The kinematic viscosity as a formula of the state and its derivatives.
fn of_liquid(law: &Incompressible, dim: usize) -> String {
    match &law.viscosity_formula {
        None => format!("{:?}", law.viscosity),
        Some(formula) => {
            let shear = format!("sqrt({})", strain(dim).join(" + "));
            let mut text = String::new();
            let mut word = String::new();
            // The shear rate is no field.
            for c in formula.text().chars().chain([' ']) {
                if c.is_alphanumeric() || c == '_' {
                    word.push(c);
                    continue;
                }
                text += if word == ViscosityFormula::SHEAR { &shear } else { &word };
                word.clear();
                text.push(c);
            }
            format!("max({:?}, {})", law.viscosity, text.trim_end())
        }
    }
}

/// The terms of `2 S:S` with the rate of strain S.
pub(super) fn strain(dim: usize) -> Vec<String> {
    let (velocity, axes) = (&["u", "v", "w"][..dim], &["x", "y", "z"][..dim]);
    let mut strain: Vec<String> = velocity.iter().zip(axes).map(|(u, x)| format!("2*{u}_{x}^2")).collect();
    for i in 0..dim {
        strain
            .extend((0..i).map(|j| format!("({}_{} + {}_{})^2", velocity[i], axes[j], velocity[j], axes[i])));
    }
    strain
}

/// The integrands of E, of τ:∇u = μ (½ |∇u + ∇uᵀ|² − ⅔ (∇·u)²) and of p ∇·u, and ∇·u, p and 1.
fn integrands(dim: usize, density: &str, viscosity: &str) -> [String; 6] {
    let (velocity, axes) = (&["u", "v", "w"][..dim], &["x", "y", "z"][..dim]);
    let sum = |terms: Vec<String>| terms.join(" + ");
    let squares = sum(velocity.iter().map(|u| format!("{u}^2")).collect());
    let divergence = sum(velocity.iter().zip(axes).map(|(u, x)| format!("{u}_{x}")).collect());
    [
        format!("{density}/2*({squares})"),
        dissipation(dim, density, viscosity),
        format!("p*({divergence})"),
        divergence,
        "p".to_owned(),
        "1".to_owned(),
    ]
}

/// The integrand τ:∇u of the stress with a viscosity.
fn dissipation(dim: usize, density: &str, viscosity: &str) -> String {
    let divergence: Vec<String> =
        ["u", "v", "w"][..dim].iter().zip(["x", "y", "z"]).map(|(u, x)| format!("{u}_{x}")).collect();
    // A liquid has no compression in its stress, and what the scheme leaves of it does not count.
    let bulk = match density {
        "rho" => format!(" - 2/3*({})^2", divergence.join(" + ")),
        _ => String::new(),
    };
    format!("{viscosity}*({}{bulk})", strain(dim).join(" + "))
}

struct Budget {
    integrands: Vec<Formula>,
    boundaries: Vec<String>,
    /// Whether the first variable is the density.
    has_density: bool,
}

impl Monitor for Budget {
    fn columns(&self, variables: &Variables) -> Vec<String> {
        columns(variables.law()).into_iter().map(str::to_owned).collect()
    }

    fn record(
        &self,
        solver: &mut Flow,
        _: Now<'_>,
        values: &mut Values,
    ) -> Result<Option<Vec<f64>>, MonitorError> {
        let all = solver.integral_of_derivatives(&self.integrands.iter().collect::<Vec<_>>());
        let [energy, dissipation, work, divergence, pressure, volume, ref eddies @ ..] = all[..] else {
            return Ok(None);
        };
        let mean = pressure / volume;
        let mut outflow = 0.0;
        for name in &self.boundaries {
            outflow += self.through(&solver.surface(name)?, solver.dim(), mean);
        }
        let mut row = vec![energy, dissipation, work - mean * divergence, outflow];
        row.extend(solver.work_of_forces()?);
        row.extend(eddies);
        for (name, x) in columns(&solver.setup().law).iter().zip(&row) {
            values.put(&["kinetic_energy", name], json!(x));
        }
        Ok(Some(row))
    }

    fn finish(&self, end: &Finished<'_>, values: &mut Values) -> Result<(), MonitorError> {
        end.write(&end.chart)?;
        if let Some([lost, numerical]) = losses(end.table) {
            values.put(&["kinetic_energy", "lost"], json!(lost));
            values.put(&["kinetic_energy", "numerical"], json!(numerical));
            values.put(&["kinetic_energy", "numerical_share"], json!(numerical / lost));
        }
        Ok(())
    }
}

impl Budget {
    /// Returns ∮ (½ρ|u|² u·n + (p − p̄) u·n − u·τ·n) over a boundary.
    fn through(&self, surface: &Surface, dim: usize, mean: f64) -> f64 {
        let first = usize::from(self.has_density);
        let pressure = surface.pressure();
        let at = |k: usize| {
            let mut u = [0.0; 3];
            u[..dim].iter_mut().zip(&surface.values[first..]).for_each(|(u, values)| *u = values[k]);
            let density = if self.has_density { surface.values[0][k] } else { 1.0 };
            let normal = dot(u, surface.normals[k]);
            let stress = surface.traction.get(k).map_or(0.0, |t| dot(u, *t));
            surface.weights[k] * ((0.5 * density * dot(u, u) + pressure[k] - mean) * normal - stress)
        };
        (0..surface.points.len()).map(at).sum()
    }
}

/// Returns the energy lost from the first to the last row, and the part of it that no term of the budget
/// explains, by the trapezoidal rule.
fn losses(table: &Columns) -> Option<[f64; 2]> {
    let t = table.column("time")?;
    let [energy, dissipation, compression, outflow] = COLUMNS.map(|name| table.column(name));
    let (energy, dissipation, compression, outflow) = (energy?, dissipation?, compression?, outflow?);
    let (work, eddies) = (table.column(WORK), table.column(EDDIES));
    let at = |column: Option<&[f64]>, k: usize| column.map_or(0.0, |column| column[k]);
    let rate = |k: usize| dissipation[k] + at(eddies, k) - compression[k] + outflow[k] - at(work, k);
    let explained: f64 = (1..t.len()).map(|k| 0.5 * (t[k] - t[k - 1]) * (rate(k) + rate(k - 1))).sum();
    let lost = energy.first()? - energy.last()?;
    Some([lost, lost - explained])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::file::expression::Constants;
    use crate::models::vocabulary::Vocabulary;
    use dgsuite_physics::{Euler, NavierStokes};

    fn arguments(dim: usize) -> Vec<f64> {
        let state = [1.3, 0.4, -0.7, 0.2, 2.1];
        let state = if dim == 3 { state.to_vec() } else { vec![1.3, 0.4, -0.7, 2.1] };
        let slopes = (0..state.len() * dim).map(|k| ((7 * k + 3) % 11) as f64 / 5.0 - 1.0);
        state.iter().copied().chain(slopes).chain([0.0; 4]).collect()
    }

    #[test]
    fn dissipation_is_stress_times_gradient_of_the_velocity() {
        let of = [
            Viscosity::Constant { mu: 0.3 },
            Viscosity::PowerLaw { mu_ref: 0.2, t_ref: 1.7, exponent: 0.7 },
            Viscosity::Sutherland { mu_ref: 0.4, t_ref: 1.1, s: 0.5 },
        ];
        for (dim, viscosity) in [2, 3].into_iter().flat_map(|dim| of.map(|viscosity| (dim, viscosity))) {
            let gas = NavierStokes {
                gas: Euler { gamma: 1.4 },
                prandtl: 0.7,
                viscosity,
                gas_constant: 0.9,
                closure: None,
            };
            let variables = Variables::of(&Law::NavierStokes(gas), dim);
            let vocabulary = Vocabulary::new(&variables, &Constants::default());
            let w = arguments(dim);
            let texts = integrands(dim, "rho", &text_of(&viscosity));
            let found = texts.map(|text| vocabulary.known("x", &text).unwrap().eval(&w));
            // Derivative of velocity component i along j.
            let n = dim + 2;
            let slope = |i: usize, j: usize| w[n + j * n + 1 + i];
            let divergence: f64 = (0..dim).map(|i| slope(i, i)).sum();
            let mu = viscosity.at(w[n - 1] / (0.9 * w[0]));
            let stress = |i: usize, j: usize| {
                mu * (slope(i, j) + slope(j, i) - if i == j { 2.0 / 3.0 * divergence } else { 0.0 })
            };
            let pairs = (0..dim).flat_map(|i| (0..dim).map(move |j| (i, j)));
            let expected: f64 = pairs.map(|(i, j)| stress(i, j) * slope(i, j)).sum();
            assert!((found[1] - expected).abs() < 1e-13 * expected.abs(), "{dim} {viscosity:?}: {found:?}");
            assert!((found[3] - divergence).abs() < 1e-14 && found[4] == w[n - 1] && found[5] == 1.0);
            assert!((found[2] - w[n - 1] * divergence).abs() < 1e-14);
            let square: f64 = w[1..=dim].iter().map(|u| u * u).sum();
            assert!((found[0] - 0.65 * square).abs() < 1e-14);
        }
    }

    #[test]
    fn what_no_term_explains_is_lost_by_the_scheme() {
        let columns = ["step", "time"].into_iter().chain(COLUMNS).map(str::to_owned).collect();
        let table = |energy: Vec<f64>| Columns {
            names: Vec::clone(&columns),
            values: vec![
                vec![0.0, 1.0, 2.0],
                vec![1.0, 2.0, 4.0],
                energy,
                vec![0.5, 0.5, 0.5],
                vec![0.1; 3],
                vec![0.2; 3],
            ],
        };
        // Three units of time at a rate of 0.5 - 0.1 + 0.2.
        let [lost, numerical] = losses(&table(vec![9.0, 8.0, 7.2])).unwrap();
        assert!((lost - 1.8).abs() < 1e-14 && numerical.abs() < 1e-14, "{lost} {numerical}");
        let [lost, numerical] = losses(&table(vec![9.0, 8.0, 7.0])).unwrap();
        assert!((lost - 2.0).abs() < 1e-14 && (numerical - 0.2).abs() < 1e-14);
    }
}
