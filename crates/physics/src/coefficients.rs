//! Coefficients of point formulas: numbers that depend on place alone.

use crate::formula::Formula;

/// Numbers at points that point formulas read beside the state, `c: &[R; C]`: a damping rate, a reference
/// state, a force, a distance. They do not depend on time, so that they are evaluated once.
pub trait Coefficients: Send + Sync {
    /// Number of coefficients, the `C` of the formula.
    fn count(&self) -> usize;

    /// Computes the coefficients at points `(x, y, z)`: `out[k][i]` is coefficient `k` at point `i`. Each
    /// vector of `out` is set to the number of points.
    ///
    /// # Panics
    /// If `out` does not have one vector per coefficient.
    fn eval(&self, x: &[[f64; 3]], out: &mut [Vec<f64>]);
}

/// One formula in `x, y, z` for each coefficient; in two dimensions `z` is 0.
///
/// ```
/// use dgsuite_physics::coefficients::FormulaCoefficients;
/// use dgsuite_physics::Coefficients;
/// use dgsuite_physics::formula::{Formula, Names};
///
/// let names = Names::new(["x", "y", "z"]);
/// let list = FormulaCoefficients(vec![Formula::parse("2*x", &names)?, Formula::parse("-9.81", &names)?]);
/// let mut c = vec![Vec::new(); list.count()];
/// list.eval(&[[0.5, 0.0, 0.0]], &mut c);
/// assert_eq!(c, [[1.0], [-9.81]]);
/// # Ok::<(), dgsuite_physics::formula::FormulaError>(())
/// ```
#[derive(Clone, Debug)]
pub struct FormulaCoefficients(pub Vec<Formula>);

impl Coefficients for FormulaCoefficients {
    fn count(&self) -> usize {
        self.0.len()
    }

    fn eval(&self, x: &[[f64; 3]], out: &mut [Vec<f64>]) {
        assert_eq!(out.len(), self.0.len(), "one vector for each coefficient");
        let column = |d: usize| x.iter().map(|x| x[d]).collect::<Vec<f64>>();
        let columns = [column(0), column(1), column(2)];
        for (formula, out) in self.0.iter().zip(out) {
            out.resize(x.len(), 0.0);
            formula.eval_batch(&[&columns[0], &columns[1], &columns[2]], out);
        }
    }
}
