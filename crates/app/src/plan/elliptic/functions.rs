//! Coefficients, exact solutions and derived data of elliptic problems, as functions of place.

use std::sync::Arc;

use dgsuite_physics::formula::Formula;
use dgsuite_physics::trace::{Recording, Sym};
use dgsuite_physics::{Dual, Real};

use crate::file::source::Place;
use dgsuite_solve::elliptic::{BoundaryFunction, Function};

/// The variables of the formulas.
pub const COORDINATES: [&str; 3] = ["x", "y", "z"];

/// A formula in x, y, z.
#[derive(Clone, Debug)]
pub struct Scalar {
    formula: Formula,
    /// Its value, if it is the same everywhere: it is not evaluated millions of times.
    constant: Option<f64>,
}

impl Scalar {
    /// Makes the function of a formula whose variables are [`COORDINATES`].
    pub fn new(formula: Formula) -> Self {
        Self { constant: formula.constant(), formula }
    }

    /// Returns the value at a point.
    pub fn at(&self, x: [f64; 3]) -> f64 {
        if let Some(value) = self.constant {
            return value;
        }
        let mut out = [0.0];
        self.formula.eval_batch(&[&x[..1], &x[1..2], &x[2..]], &mut out);
        out[0]
    }

    /// Whether the value is the same everywhere.
    pub fn is_constant(&self) -> bool {
        self.constant.is_some()
    }

    /// The text as written.
    pub fn text(&self) -> &str {
        self.formula.text()
    }

    /// Evaluates the formula over any number type.
    fn trace<R: Real>(&self, x: &[R; 3]) -> R {
        self.formula.trace(x)
    }
}

/// The coefficient κ: one formula, or one for each region of the mesh.
#[derive(Clone, Debug)]
pub struct Coefficient {
    /// Each formula with the name of its region (empty for a single formula) and its place in the file.
    pub parts: Vec<(String, Scalar, Place)>,
    /// The index of the formula of each element; empty for a single formula.
    pub part_of: Vec<u32>,
}

impl Coefficient {
    /// Returns the index of the formula of an element.
    pub fn part(&self, element: usize) -> usize {
        self.part_of.get(element).map_or(0, |&part| part as usize)
    }

    /// Returns the value in an element at a point.
    pub fn at(&self, element: usize, x: [f64; 3]) -> f64 {
        self.parts[self.part(element)].1.at(x)
    }

    /// The formulas as written.
    pub fn text(&self) -> String {
        let one = |(name, scalar, _): &(String, Scalar, Place)| match name.as_str() {
            "" => scalar.text().to_owned(),
            name => format!("{} in {name}", scalar.text()),
        };
        self.parts.iter().map(one).collect::<Vec<_>>().join(", ")
    }
}

/// An exact solution with its gradient.
#[derive(Clone, Debug)]
pub struct ExactSolution {
    /// The solution.
    pub value: Scalar,
    gradient: Arc<Recording>,
}

impl ExactSolution {
    /// Makes the solution from a formula in `dim` dimensions. Derivatives are computed once, here.
    pub fn new(value: Scalar, dim: usize) -> Self {
        let gradient = Recording::new(|_, x: [Sym; 3]| {
            let slope = |d: usize| match d < dim {
                true => value.trace(&std::array::from_fn(|i| Dual::new(x[i], along(i, d)))).derivative,
                false => Sym::lit(0.0),
            };
            [slope(0), slope(1), slope(2)]
        });
        Self { value, gradient: Arc::new(gradient) }
    }

    /// Returns ∇u at a point.
    pub fn gradient(&self, x: [f64; 3]) -> [f64; 3] {
        self.gradient.at(0.0, x)
    }

    /// Returns `κ ∂u/∂n + α u`, the data of a Neumann or Robin condition.
    pub fn flux(&self, kappa: &Arc<Coefficient>, alpha: f64) -> BoundaryFunction {
        let (exact, kappa) = (self.clone(), Arc::clone(kappa));
        Arc::new(move |element, x, n| {
            let slope = exact.gradient(x);
            let normal = slope[0] * n[0] + slope[1] * n[1] + slope[2] * n[2];
            kappa.at(element, x) * normal + if alpha > 0.0 { alpha * exact.value.at(x) } else { 0.0 }
        })
    }
}

/// 1 in direction `d`, 0 in the others.
fn along(i: usize, d: usize) -> Sym {
    Sym::lit(if i == d { 1.0 } else { 0.0 })
}

/// Returns `f = −∇·κ∇u + λu` for the exact solution u.
///
/// Dual numbers of dual numbers carry second derivatives through the formula. They are computed once for each
/// formula of κ, when the function is recorded.
pub fn forcing_for(exact: &ExactSolution, kappa: &Arc<Coefficient>, lambda: &Scalar, dim: usize) -> Function {
    let record = |kappa: &Scalar| {
        Recording::new(|_, x: [Sym; 3]| {
            let mut f = lambda.trace(&x) * exact.value.trace(&x);
            for d in 0..dim {
                let first: [Dual<Sym>; 3] = std::array::from_fn(|i| Dual::new(x[i], along(i, d)));
                let second = std::array::from_fn(|i| Dual::new(first[i], Dual::constant(along(i, d))));
                let u = exact.value.trace::<Dual<Dual<Sym>>>(&second);
                let k = kappa.trace(&first);
                f = f - (k.derivative * u.value.derivative + k.value * u.derivative.derivative);
            }
            [f]
        })
    };
    let parts: Vec<Recording> = kappa.parts.iter().map(|(_, formula, _)| record(formula)).collect();
    let kappa = Arc::clone(kappa);
    Arc::new(move |element, x| {
        let [f] = parts[kappa.part(element)].at(0.0, x);
        f
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::file::expression::Constants;
    use crate::file::source::Source;

    fn scalar(text: &str) -> Scalar {
        Scalar::new(Constants::default().formula(text, &COORDINATES).unwrap())
    }

    /// `−∇·κ∇u + λu`, differentiated by hand, for u = x² y + z, κ = 1 + x in one region and 2 in the other,
    /// λ = y.
    #[test]
    fn the_right_hand_side_of_a_polynomial_is_that_by_hand() {
        let place = Place::whole(&Source::new("case", ""));
        let parts = ["1 + x", "2"].map(|text| (text.to_owned(), scalar(text), place.clone()));
        let kappa = Arc::new(Coefficient { parts: parts.to_vec(), part_of: vec![0, 1] });
        let exact = ExactSolution::new(scalar("x^2*y + z"), 3);
        let f = forcing_for(&exact, &kappa, &scalar("y"), 3);
        let x = [0.5, 2.0, 3.0];
        let lambda_u = 2.0 * (0.25 * 2.0 + 3.0);
        // ∂x((1 + x) 2xy) = 2y + 4xy
        assert!((f(0, x) - (lambda_u - (2.0 * 2.0 + 4.0 * 0.5 * 2.0))).abs() < 1e-14);
        assert!((f(1, x) - (lambda_u - 2.0 * 2.0 * 2.0)).abs() < 1e-14);
        assert_eq!(exact.gradient(x), [2.0, 0.25, 1.0]);
        let n = [0.6, 0.8, 0.0];
        let robin = exact.flux(&kappa, 0.5)(0, x, n);
        assert!((robin - (1.5 * (0.6 * 2.0 + 0.8 * 0.25) + 0.5 * 3.5)).abs() < 1e-14);
    }
}
