//! Forces on an incompressible fluid that depend on the scalars it carries: buoyancy, and formulas.

use super::ScalarFormulas;
use crate::real::Real;
use crate::trace::{StateRecording, Sym};

/// The force per mass of the Boussinesq approximation, `−β (T − T₀) g`, with the first scalar as T.
///
/// # Source
/// Boussinesq, *Théorie analytique de la chaleur* II (1903), 154–161.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Buoyancy {
    /// The acceleration g.
    pub gravity: [f64; 3],
    /// The thermal expansion coefficient β.
    pub expansion: f64,
    /// The temperature T₀ without buoyancy.
    pub reference: f64,
}

impl Buoyancy {
    /// The force at the temperature `t`, zero where gravity is.
    ///
    /// ```
    /// use dgsuite_physics::incompressible::Buoyancy;
    /// let of = Buoyancy { gravity: [0.0, -10.0, 0.0], expansion: 0.5, reference: 1.0 };
    /// assert_eq!(of.force(3.0_f64), [0.0, 10.0, 0.0]);
    /// ```
    pub fn force<R: Real>(&self, t: R) -> [R; 3] {
        const NAMES: [&str; 3] = ["gravity_x", "gravity_y", "gravity_z"];
        let lighter = R::param("expansion", self.expansion) * (t - R::param("reference", self.reference));
        std::array::from_fn(|d| match self.gravity[d] {
            0.0 => R::lit(0.0),
            g => -(lighter * R::param(NAMES[d], g)),
        })
    }
}

/// The sum of both forces in `dim` dimensions as functions of this number of scalars, of place and of time;
/// `None` if there is no force.
#[must_use]
pub fn force_of_scalars(
    (dim, scalars): (usize, usize),
    buoyancy: Option<&Buoyancy>,
    formulas: Option<&ScalarFormulas>,
) -> Option<StateRecording> {
    if buoyancy.is_none() && formulas.is_none() {
        return None;
    }
    Some(StateRecording::new(scalars, |w: &[Sym], t, x| {
        let lifted = buoyancy.map(|of| of.force(w[0]));
        let given = formulas.map(|of| of.at(w, x, t));
        let component = |d: usize| match (&lifted, &given) {
            (Some(lifted), Some(given)) => lifted[d] + given[d],
            (Some(lifted), None) => lifted[d],
            (None, Some(given)) => given[d],
            (None, None) => Sym::lit(0.0),
        };
        (0..dim).map(component).collect()
    }))
}
