//! The names of a law's variables, states from formulas for them, and primitive values from conserved ones.

use std::sync::Arc;

use dgsuite_physics::formula::{Formula, FormulaExact};
use dgsuite_physics::{Advection, Euler, Exact, Law as Formulas};

use crate::systems::hyperbolic::Law;

/// The variables of a law in a number of dimensions.
#[derive(Clone, Debug, PartialEq)]
pub struct Variables {
    law: Law,
    dim: usize,
    /// Conserved variables, in the order of the solver.
    pub conserved: Vec<&'static str>,
    /// Primitive variables, in the order of the solver.
    pub primitive: Vec<&'static str>,
}

impl Variables {
    /// The variables of `law` in `dim` dimensions (2 or 3).
    pub fn of(law: &Law, dim: usize) -> Self {
        let (conserved, primitive) = match (law, dim) {
            (Law::Advection { .. }, 2) => names(&Advection::<2> { velocity: [0.0; 2] }),
            (Law::Advection { .. }, _) => names(&Advection::<3> { velocity: [0.0; 3] }),
            (Law::Euler { gamma }, 2) => names::<_, 2, 4>(&Euler { gamma: *gamma }),
            (Law::Euler { gamma }, _) => names::<_, 3, 5>(&Euler { gamma: *gamma }),
        };
        Self { law: law.clone(), dim, conserved, primitive }
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

    /// The primitive variables that must be positive.
    pub fn positive(&self) -> &'static [&'static str] {
        match self.law {
            Law::Advection { .. } => &[],
            Law::Euler { .. } => &["rho", "p"],
        }
    }

    /// A state from a formula in `x, y, z, t` for each primitive variable, in their order.
    ///
    /// # Panics
    /// If there are more or fewer formulas than variables.
    #[track_caller]
    pub fn from_formulas(&self, formulas: Vec<Formula>) -> Arc<dyn Exact> {
        match (&self.law, self.dim) {
            // The velocity has no part in a state.
            (Law::Advection { .. }, 2) => state(Advection::<2> { velocity: [0.0; 2] }, formulas),
            (Law::Advection { .. }, _) => state(Advection::<3> { velocity: [0.0; 3] }, formulas),
            (Law::Euler { gamma }, 2) => state::<_, 2, 4>(Euler { gamma: *gamma }, formulas),
            (Law::Euler { gamma }, _) => state::<_, 3, 5>(Euler { gamma: *gamma }, formulas),
        }
    }

    /// Replaces conserved values `u[variable][point]` by primitive ones.
    pub fn to_primitive(&self, u: &mut [Vec<f64>]) {
        match (&self.law, self.dim) {
            (Law::Advection { .. }, _) => {}
            (Law::Euler { gamma }, 2) => to_primitive::<_, 2, 4>(&Euler { gamma: *gamma }, u),
            (Law::Euler { gamma }, _) => to_primitive::<_, 3, 5>(&Euler { gamma: *gamma }, u),
        }
    }
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

fn to_primitive<L: Formulas<D, N>, const D: usize, const N: usize>(law: &L, values: &mut [Vec<f64>]) {
    for i in 0..values.first().map_or(0, Vec::len) {
        let w = law.to_primitive(&std::array::from_fn(|k| values[k][i]));
        for (column, x) in values.iter_mut().zip(w) {
            column[i] = x;
        }
    }
}
