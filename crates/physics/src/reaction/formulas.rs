//! Source terms that users write as formulas of the state.

use super::Reaction;
use crate::coefficients::Coefficients;
use crate::exact::Exact;
use crate::formula::Formula;
use crate::law::Law;
use crate::real::{Dual, Real, array};
use crate::tangent::Tangent;
use std::sync::Arc;

/// Source terms `S_k(w, x)` by formulas in the primitive unknowns `w` of a law and the place `x`, with the
/// coefficients `c = (x, y, z)` of [`Position`].
///
/// ```
/// use dgsuite_physics::formula::{Formula, Names};
/// use dgsuite_physics::reaction::{FormulaReaction, Reaction};
/// use dgsuite_physics::Euler;
/// use std::sync::Arc;
///
/// // A gas that loses heat where x > 0: ∂(ρE)/∂t = −2 p x.
/// let names = Names::new(["rho", "u", "v", "p", "x", "y", "z"]);
/// let loss = Formula::parse("-2*p*max(x, 0)", &names)?;
/// let formulas: Arc<[_]> = [None, None, None, Some(loss)].into();
/// let cooling = FormulaReaction::<_, 2> { law: Euler { gamma: 1.4 }, formulas, stiffness: 0.8 };
/// let s: [f64; 4] = cooling.rate(&[1.0, 0.0, 0.0, 2.5], &[0.5, 0.0, 0.0]); // p = 1
/// assert!((s[3] + 1.0).abs() < 1e-15 && s[..3] == [0.0; 3]);
/// # Ok::<(), dgsuite_physics::formula::FormulaError>(())
/// ```
#[derive(Clone, Debug)]
pub struct FormulaReaction<L, const D: usize> {
    /// The law, which converts states to primitive unknowns.
    pub law: L,
    /// The source of each conserved unknown; without a formula it is 0. Variables: the primitive unknowns,
    /// then `x, y, z`.
    pub formulas: Arc<[Option<Formula>]>,
    /// A bound of the absolute eigenvalues of `∂S/∂u`, per time: see [`Self::stiffness_of`].
    pub stiffness: f64,
}

impl<L, const D: usize> FormulaReaction<L, D> {
    /// Returns the largest `Σ_j |∂S_k/∂u_j|` over the unknowns `k`, at the states `exact` at time `t` at the
    /// points `x`. By Gershgorin's theorem no eigenvalue of `∂S/∂u` at these states is larger. Values that
    /// are not finite are left out.
    ///
    /// # Panics
    /// If `exact` does not have `N` fields.
    pub fn stiffness_of<const N: usize>(&self, exact: &dyn Exact, t: f64, x: &[[f64; 3]]) -> f64
    where
        L: Law<D, N>,
    {
        let mut columns = vec![Vec::new(); N];
        exact.eval(t, x, &mut columns);
        let mut largest = 0.0_f64;
        for (i, x) in x.iter().enumerate() {
            let place = x.map(Dual::constant);
            let mut sums = [0.0; N];
            for j in 0..N {
                let seeded = |k: usize| {
                    let value = columns[k][i];
                    if k == j { Dual::variable(value) } else { Dual::constant(value) }
                };
                let rate = self.rate(&array!(N, |k| seeded(k)), &place);
                (0..N).for_each(|k| sums[k] += rate[k].derivative.abs());
            }
            largest = sums.into_iter().filter(|sum| sum.is_finite()).fold(largest, f64::max);
        }
        largest
    }

    /// Returns the source terms and their derivatives along a direction as formulas, in the unknowns of the
    /// tangent law: `(S(w, x), ∂S/∂w v)` with the primitive unknowns and their direction `(w, v)`.
    #[must_use]
    pub fn tangent<const N: usize>(&self) -> FormulaReaction<Tangent<L, N>, D>
    where
        L: Law<D, N>,
    {
        let pairs: Vec<Option<[Formula; 2]>> =
            (0..N).map(|k| self.formulas.get(k)?.as_ref().map(|formula| formula.tangent(N))).collect();
        let part = |i: usize| pairs.iter().map(move |pair| pair.as_ref().map(|pair| pair[i].clone()));
        FormulaReaction {
            law: Tangent(self.law.clone()),
            formulas: part(0).chain(part(1)).collect(),
            stiffness: self.stiffness,
        }
    }
}

impl<L: Law<D, N>, const D: usize, const N: usize> Reaction<N, 3> for FormulaReaction<L, D> {
    fn rate<R: Real>(&self, u: &[R; N], c: &[R; 3]) -> [R; N] {
        let values: Vec<R> = self.law.to_primitive(u).into_iter().chain(*c).collect();
        let source = |k: usize| match self.formulas.get(k) {
            Some(Some(formula)) => formula.trace(&values),
            _ => R::lit(0.0),
        };
        array!(N, |k| source(k))
    }

    fn stiffness(&self, _c: &[f64; 3]) -> f64 {
        self.stiffness
    }

    fn is_idle(&self, _c: &[f64; 3]) -> bool {
        false
    }
}

/// The coordinates `x, y, z` as coefficients.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Position;

impl Coefficients for Position {
    fn count(&self) -> usize {
        3
    }

    fn eval(&self, x: &[[f64; 3]], out: &mut [Vec<f64>]) {
        assert_eq!(out.len(), 3, "one vector for each direction");
        for (d, out) in out.iter_mut().enumerate() {
            *out = x.iter().map(|x| x[d]).collect();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Advection;
    use crate::formula::Names;

    /// A state that is `x` everywhere.
    struct Ramp;

    impl Exact for Ramp {
        fn n_fields(&self) -> usize {
            1
        }
        fn eval(&self, _: f64, x: &[[f64; 3]], out: &mut [Vec<f64>]) {
            out[0] = x.iter().map(|x| x[0]).collect();
        }
    }

    #[test]
    fn the_stiffness_is_the_largest_slope() {
        let formula = Formula::parse("y - u^3 + log(u)", &Names::new(["u", "x", "y", "z"])).unwrap();
        let law = Advection { velocity: [1.0, 0.0] };
        let reaction = FormulaReaction::<_, 2> { law, formulas: [Some(formula)].into(), stiffness: 0.0 };
        let rate: [f64; 1] = reaction.rate(&[2.0], &[9.0, 5.0, 0.0]);
        assert_eq!(rate, [5.0 - 8.0 + 2.0_f64.ln()]);
        // The slope is 1/u − 3u²; at 0 it is not finite.
        let points = [0.0, 1.0, 2.0].map(|x| [x, 0.0, 0.0]);
        assert!((reaction.stiffness_of::<1>(&Ramp, 0.0, &points) - 11.5).abs() < 1e-14);
    }
}
