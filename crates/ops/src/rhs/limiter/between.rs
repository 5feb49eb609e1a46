//! States between the points at which a limiter bounds them.
//!
//! A limiter bounds density and pressure at the points of the scheme. Between them the polynomials can fall
//! below these bounds, at shocks also below zero. A state that is shown at such a point is therefore scaled
//! towards the mean of its element as the limiter scales the polynomials, first its density, then all
//! unknowns, until density and pressure are at least half of the smallest values at the limiter's points.
//! Where the solution is smooth this changes nothing, because the values in between are close to those at the
//! points.
//!
//! Source: Zhang and Shu, J. Comput. Phys. 229 (2010) 8918, for the scaling.

use super::Bounds;
use super::element::share;
use super::pass::{load, tables_of};
use crate::lanes::simd::PackScalar;
use crate::rhs::discretization::Discretization;

/// Smallest density and pressure between the limiter's points, relative to the smallest values there.
const BELOW: f64 = 0.5;

/// The lower bounds of the states that are shown of one element.
#[derive(Clone, Debug, PartialEq)]
pub struct StateFloor {
    /// The mean of the conserved state.
    pub mean: Vec<f64>,
    /// Smallest density and pressure; −∞ if the limiter does not bound the element.
    pub low: [f64; 2],
}

impl StateFloor {
    /// Scales a state towards the mean so that density and pressure, the first two of `bounded`, are not
    /// below the floor.
    fn hold(&self, u: &mut [f64], bounded: impl Fn(&[f64]) -> [f64; 3]) {
        let mean = bounded(&self.mean);
        let density = share(mean[0], self.low[0], bounded(u)[0]);
        if density < 1.0 {
            u[0] = self.mean[0] + density * (u[0] - self.mean[0]);
        }
        let all = share(mean[1], self.low[1], bounded(u)[1]);
        if all < 1.0 {
            for (u, mean) in u.iter_mut().zip(&self.mean) {
                *u = mean + all * (*u - mean);
            }
        }
    }
}

impl<T: PackScalar> Discretization<T> {
    /// The lower bounds of the element in a slot of group `g`; `None` without a limiter.
    pub(crate) fn state_floor(&self, u: &[T], g: usize, slot: usize) -> Option<StateFloor> {
        let limiter = self.limiter.as_ref()?;
        let (law, fields): (&dyn Bounds, _) = (limiter.law.as_ref(), limiter.law.n_fields());
        let group = &self.groups[g];
        let (local, tables) = tables_of(limiter, group, g, slot);
        let [work, _] = &mut *limiter.work_space();
        load(&u[group.offset..group.offset + group.state.len()], group.state, slot, work);
        work.compute_modes(tables, fields);
        let mean = work.mean(tables.mean_of(local), fields).to_vec();
        let [rho, p, _] = law.bounded(&mean);
        let least = work.least(tables, law);
        // A state that is bad at the limiter's points as well is shown as it is.
        let bounded = rho > 0.0 && p > 0.0 && least[0] > 0.0 && least[1] > 0.0;
        let low = if bounded { least.map(|x| BELOW * x) } else { [f64::NEG_INFINITY; 2] };
        Some(StateFloor { mean, low })
    }

    /// Scales a state at a point of an element towards its mean so that density and pressure are not below
    /// the floor of the element. Nothing changes without a limiter.
    pub fn keep_above(&self, floor: &StateFloor, u: &mut [f64]) {
        if let Some(limiter) = &self.limiter {
            floor.hold(u, |u| limiter.law.bounded(u));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Density and pressure of `[ρ, ρu, E]` of a gas with γ = 1.4.
    fn gas(u: &[f64]) -> [f64; 3] {
        [u[0], 0.4 * (u[2] - 0.5 * u[1] * u[1] / u[0]), 0.0]
    }

    #[test]
    fn states_are_scaled_to_the_floor_and_good_ones_are_kept() {
        let floor = StateFloor { mean: vec![1.0, 0.5, 3.0], low: [0.2, 0.1] };
        let good = [0.4, 0.1, 1.0];
        let mut u = good;
        floor.hold(&mut u, gas);
        assert_eq!(u, good);
        for bad in [[-0.3, 0.2, 2.0], [0.5, 3.0, 2.0], [0.1, -2.0, -5.0], [0.9, 0.0, -80.0]] {
            let mut u = bad;
            floor.hold(&mut u, gas);
            let [rho, p, _] = gas(&u);
            assert!(rho >= 0.2 - 1e-15 && p >= 0.1 - 1e-14, "{bad:?}: {u:?} has {rho} {p}");
        }
        // A state that is not a number stays, so that it is seen.
        let mut u = [f64::NAN, 0.0, 1.0];
        floor.hold(&mut u, gas);
        assert!(u[0].is_nan() && u[2] == 1.0);
        let mut u = [0.5, 3.0, 2.0];
        StateFloor { low: [f64::NEG_INFINITY; 2], ..floor }.hold(&mut u, gas);
        assert_eq!(u, [0.5, 3.0, 2.0]);
    }
}
