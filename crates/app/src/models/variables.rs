//! The names of a law's variables, states from formulas, and primitive values from conserved ones.

use std::collections::BTreeMap;
use std::sync::Arc;

use dgsuite_physics::formula::{FieldsError, Formula, FormulaExact, Names};
use dgsuite_physics::source::FormulaSource;
use dgsuite_physics::trace::{Recording, StateRecording, Sym};
use dgsuite_physics::{Advection, Euler, Exact, Incompressible, Law as Formulas, Real, Source};

use crate::file::expression::COORDINATES;
use dgsuite_solve::flow::{FILTER_WIDTH, Law};
use dgsuite_solve::incompressible;

/// The variables of a law in a number of dimensions.
#[derive(Clone, Debug, PartialEq)]
pub struct Variables {
    law: Law,
    dim: usize,
    /// Conserved variables, in the order of the solver.
    pub conserved: Vec<&'static str>,
    /// Primitive variables, in the order of the solver.
    pub primitive: Vec<&'static str>,
    /// Derivatives of the primitive variables, `[axis][variable]`: `rho_x`, …, `p_y`.
    pub gradients: Vec<String>,
}

impl Variables {
    /// The variables of `law` in `dim` dimensions (2 or 3).
    pub fn of(law: &Law, dim: usize) -> Self {
        let (conserved, primitive) = match (law, dim) {
            (Law::Advection { .. }, 2) => names(&Advection::<2> { velocity: [0.0; 2] }),
            (Law::Advection { .. }, _) => names(&Advection::<3> { velocity: [0.0; 3] }),
            (Law::Incompressible(law), 2) => names::<_, 2, 3>(&flow(law)),
            (Law::Incompressible(law), _) => names::<_, 3, 4>(&flow(law)),
            (_, 2) => names::<_, 2, 4>(&gas(law)),
            (..) => names::<_, 3, 5>(&gas(law)),
        };
        let mut names = (conserved, primitive);
        if let Law::Incompressible(law) = law {
            names.0.extend(law.scalars.iter().map(|scalar| scalar.name));
            names.1.extend(law.scalars.iter().map(|scalar| scalar.name));
        }
        let (conserved, primitive) = names;
        let axes = &["x", "y", "z"][..dim];
        let gradient =
            |axis: &&str| primitive.iter().map(|name| format!("{name}_{axis}")).collect::<Vec<_>>();
        let gradients = axes.iter().flat_map(gradient).collect();
        Self { law: law.clone(), dim, conserved, primitive, gradients }
    }

    /// Dimension of the mesh.
    pub fn dim(&self) -> usize {
        self.dim
    }

    /// The law.
    pub fn law(&self) -> &Law {
        &self.law
    }

    /// Conserved variables, then the primitive ones that are not conserved.
    pub fn all(&self) -> Vec<&'static str> {
        let mut names = self.conserved.clone();
        names.extend(self.primitive.iter().filter(|p| !self.conserved.contains(p)));
        names
    }

    /// The arguments of formulas of the solution: primitive variables, then their derivatives, place and
    /// time, and the filter width of a closure.
    pub fn arguments(&self) -> Vec<&str> {
        let width = self.law.closure().map(|_| FILTER_WIDTH);
        self.with_gradients().into_iter().chain(COORDINATES).chain(width).collect()
    }

    /// The first arguments of formulas of the solution: primitive variables, then their derivatives.
    pub fn with_gradients(&self) -> Vec<&str> {
        self.primitive.iter().copied().chain(self.gradients.iter().map(String::as_str)).collect()
    }

    /// Returns whether a formula uses a derivative, or what belongs to the eddy viscosity.
    pub fn uses_gradients(&self, formula: &Formula) -> bool {
        let uses = |name: &str| formula.depends_on(name);
        self.gradients.iter().any(|name| uses(name)) || self.law.closure().is_some() && uses(FILTER_WIDTH)
    }

    /// The primitive variables that must be positive.
    pub fn positive(&self) -> &'static [&'static str] {
        match self.law {
            Law::Advection { .. } | Law::Incompressible(_) => &[],
            _ => &["rho", "p"],
        }
    }

    /// Returns a state from a formula in `x, y, z, t` for each primitive variable, in their order.
    ///
    /// # Panics
    /// If there are more or fewer formulas than variables.
    #[track_caller]
    pub fn from_formulas(&self, formulas: Vec<Formula>) -> Arc<dyn Exact> {
        match (&self.law, self.dim) {
            (Law::Incompressible(law), _) if !law.scalars.is_empty() => {
                let (given, count) = (formulas.len(), self.primitive.len());
                assert_eq!(given, count, "{given} formulas for {count} variables");
                let values = |[x, y, z]: [Sym; 3], t| formulas.iter().map(move |f| f.trace(&[x, y, z, t]));
                Arc::new(Recording::new(|t, x| values(x, t).collect::<Vec<Sym>>()))
            }
            // The velocity does not matter for a state.
            (Law::Advection { .. }, 2) => state(Advection::<2> { velocity: [0.0; 2] }, formulas),
            (Law::Advection { .. }, _) => state(Advection::<3> { velocity: [0.0; 3] }, formulas),
            (Law::Incompressible(law), 2) => state::<_, 2, 3>(flow(law), formulas),
            (Law::Incompressible(law), _) => state::<_, 3, 4>(flow(law), formulas),
            (law, 2) => state::<_, 2, 4>(gas(law), formulas),
            (law, _) => state::<_, 3, 5>(gas(law), formulas),
        }
    }

    /// Records the conserved state of a gas with a formula for each primitive variable, in their order, of
    /// the primitive variables of another state, `x, y, z, t` (where the flag is set) or of `x, y, z, t`.
    ///
    /// # Panics
    /// If there are more or fewer formulas than variables.
    pub fn of_state(&self, formulas: &[(Formula, bool)]) -> StateRecording {
        StateRecording::new(self.primitive.len(), |w, t, x| {
            let at = At { t, x, w };
            let values: Vec<Sym> = formulas.iter().map(|(f, of_state)| at.value(f, *of_state)).collect();
            match self.dim {
                2 => conserved::<2, 4>(&gas(&self.law), &values),
                _ => conserved::<3, 5>(&gas(&self.law), &values),
            }
        })
    }

    /// Returns a source term from formulas in `x, y, z, t` for conserved variables.
    ///
    /// # Errors
    /// Names that are not conserved variables, formulas that do not parse.
    pub fn source(
        &self,
        texts: &BTreeMap<String, String>,
        names: &Names,
    ) -> Result<Arc<dyn Source>, FieldsError> {
        Ok(Arc::new(match (&self.law, self.dim) {
            (Law::Advection { .. }, 2) => {
                FormulaSource::parse(&Advection::<2> { velocity: [0.0; 2] }, texts, names)
            }
            (Law::Advection { .. }, _) => {
                FormulaSource::parse(&Advection::<3> { velocity: [0.0; 3] }, texts, names)
            }
            (Law::Incompressible(law), 2) => FormulaSource::parse::<_, 2, 3>(&flow(law), texts, names),
            (Law::Incompressible(law), _) => FormulaSource::parse::<_, 3, 4>(&flow(law), texts, names),
            (law, 2) => FormulaSource::parse::<_, 2, 4>(&gas(law), texts, names),
            (law, _) => FormulaSource::parse::<_, 3, 5>(&gas(law), texts, names),
        }?))
    }

    /// Replaces conserved values `u[variable][point]` by primitive ones.
    pub fn to_primitive(&self, u: &mut [Vec<f64>]) {
        match (&self.law, self.dim) {
            (Law::Advection { .. } | Law::Incompressible(_), _) => {}
            (law, 2) => to_primitive::<_, 2, 4>(&gas(law), u),
            (law, _) => to_primitive::<_, 3, 5>(&gas(law), u),
        }
    }
}

/// Time, place and the primitive variables of a state there; without any if the state is not known.
#[derive(Clone, Copy)]
pub(crate) struct At<'a, R> {
    pub(crate) t: R,
    pub(crate) x: &'a [R; 3],
    pub(crate) w: &'a [R],
}

impl<R: Real> At<'_, R> {
    /// Returns the value of a formula of `x, y, z, t` or, with `of_state`, of the state and these; 1 if it
    /// needs a state that is not known.
    pub(crate) fn value(&self, formula: &Formula, of_state: bool) -> R {
        let [x, y, z] = *self.x;
        let place = [x, y, z, self.t];
        match (of_state, self.w) {
            (false, _) => formula.trace(&place),
            (true, []) => R::lit(1.0),
            (true, w) => formula.trace(&w.iter().copied().chain(place).collect::<Vec<R>>()),
        }
    }
}

/// Data of a condition by formulas of the state, at the state of another solution.
pub(crate) struct AtStart<'a> {
    pub(crate) variables: &'a Variables,
    pub(crate) formulas: &'a StateRecording,
    pub(crate) state: &'a dyn Exact,
}

impl AtStart<'_> {
    /// Computes the data `out[entry][point]` at points at time `t`.
    pub(crate) fn eval(&self, t: f64, x: &[[f64; 3]], out: &mut [Vec<f64>]) {
        let n = x.len();
        let mut columns = vec![Vec::new(); self.state.n_fields()];
        self.state.eval(t, x, &mut columns);
        self.variables.to_primitive(&mut columns);
        columns.extend((0..3).map(|d| x.iter().map(|x| x[d]).collect()));
        columns.push(vec![t; n]);
        let slices: Vec<&[f64]> = columns.iter().map(Vec::as_slice).collect();
        out.iter_mut().for_each(|column| column.resize(n, 0.0));
        self.formulas.eval_batch(n, &slices, |k, i, values| {
            out[k][i..i + values.len()].copy_from_slice(values);
        });
    }
}

/// Returns the gas of a law; the callers exclude laws that have none.
fn gas(law: &Law) -> Euler {
    law.gas().unwrap_or(Euler { gamma: 1.4 })
}

/// Returns the formulas of incompressible flow.
fn flow(law: &incompressible::Incompressible) -> Incompressible {
    Incompressible { viscosity: law.viscosity }
}

fn names<L: Formulas<D, N>, const D: usize, const N: usize>(
    law: &L,
) -> (Vec<&'static str>, Vec<&'static str>) {
    (law.variables().to_vec(), law.primitives().to_vec())
}

#[track_caller]
fn state<L: Formulas<D, N>, const D: usize, const N: usize>(
    law: L,
    formulas: Vec<Formula>,
) -> Arc<dyn Exact> {
    let count = formulas.len();
    match <[Formula; N]>::try_from(formulas) {
        Ok(formulas) => Arc::new(FormulaExact::<L, D, N>::new(law, formulas)),
        Err(_) => panic!("{count} formulas for {N} variables"),
    }
}

/// Returns the conserved unknowns of a gas.
#[track_caller]
fn conserved<const D: usize, const N: usize>(gas: &Euler, w: &[Sym]) -> Vec<Sym>
where
    Euler: Formulas<D, N>,
{
    assert_eq!(w.len(), N, "formulas for {N} variables");
    gas.to_conserved(&std::array::from_fn(|k| w[k])).to_vec()
}

fn to_primitive<L: Formulas<D, N>, const D: usize, const N: usize>(law: &L, values: &mut [Vec<f64>]) {
    for i in 0..values.first().map_or(0, Vec::len) {
        let w = law.to_primitive(&std::array::from_fn(|k| values[k][i]));
        for (column, x) in values.iter_mut().zip(w) {
            column[i] = x;
        }
    }
}
