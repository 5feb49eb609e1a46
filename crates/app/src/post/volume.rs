//! Integrals of formulas of the solution and of its derivatives, from samples on the lattices of elements.

use dgsuite_basis::{LagrangeBasis, Matrix, Quadrature, Shape};
use dgsuite_physics::formula::Formula;

use crate::systems::hyperbolic::SampledSet;

/// Interpolation from the lattice of a shape to the points of a cubature rule.
struct Rule {
    values: Matrix,
    derivatives: [Matrix; 3],
    weights: Vec<f64>,
}

impl Rule {
    fn new(shape: Shape, order: usize) -> Self {
        let basis = LagrangeBasis::new(shape, order);
        let cubature = Quadrature::new(shape, 2 * order + 2);
        let (values, derivatives) = (basis.eval(&cubature.points), basis.grad(&cubature.points));
        Self { values, derivatives, weights: cubature.weights }
    }

    /// Interpolates the values at lattice points to cubature points.
    fn at_points(matrix: &Matrix, values: &[f64], out: &mut Vec<f64>) {
        out.clear();
        out.extend(
            (0..matrix.rows()).map(|q| matrix.row(q).iter().zip(values).map(|(m, x)| m * x).sum::<f64>()),
        );
    }
}

/// Returns the integral over the domain of each formula, whose arguments are the primitive variables, their
/// derivatives, `[axis][variable]`, and `x y z t`, in this order.
///
/// The sets are samples with gradients on lattices of order `order`. Values, derivatives and coordinates are
/// interpolated from the lattice to a rule that is exact to degree `2 order + 2`, so that integrals of
/// quadratic formulas have no quadrature error on affine elements if `order` is that of the solution.
#[must_use]
pub fn integrals(sets: &[SampledSet], order: usize, t: f64, formulas: &[&Formula]) -> Vec<f64> {
    let mut sums = vec![0.0; formulas.len()];
    for set in sets {
        let rule = Rule::new(set.shape, order);
        let (nodes, dim) = (rule.values.cols(), set.shape.dim());
        let columns: Vec<&Vec<f64>> = set.values.iter().chain(&set.gradients).collect();
        let mut arguments = vec![Vec::new(); columns.len() + 3];
        let (mut slope, mut results) = (Vec::new(), vec![0.0; rule.weights.len()]);
        for cell in 0..set.points.len() / nodes {
            let range = cell * nodes..(cell + 1) * nodes;
            for (column, out) in columns.iter().zip(&mut arguments) {
                Rule::at_points(&rule.values, &column[range.clone()], out);
            }
            let points = &set.points[range];
            let mut jacobian = vec![[[0.0; 3]; 3]; rule.weights.len()];
            for d in 0..3 {
                let coordinate: Vec<f64> = points.iter().map(|x| x[d]).collect();
                Rule::at_points(&rule.values, &coordinate, &mut arguments[columns.len() + d]);
                for (e, derivative) in rule.derivatives.iter().enumerate().take(dim) {
                    Rule::at_points(derivative, &coordinate, &mut slope);
                    for (j, &x) in jacobian.iter_mut().zip(&slope) {
                        j[d][e] = x;
                    }
                }
            }
            let time = [t];
            let inputs: Vec<&[f64]> = arguments.iter().map(Vec::as_slice).chain([&time[..]]).collect();
            for (sum, formula) in sums.iter_mut().zip(formulas) {
                formula.eval_batch(&inputs, &mut results);
                let terms = rule.weights.iter().zip(&jacobian).zip(&results);
                *sum += terms.map(|((w, j), x)| w * determinant(j, dim).abs() * x).sum::<f64>();
            }
        }
    }
    sums
}

/// The determinant of the first `dim` rows and columns.
fn determinant(j: &[[f64; 3]; 3], dim: usize) -> f64 {
    let minor = |a: usize, b: usize| j[1][a] * j[2][b] - j[1][b] * j[2][a];
    match dim {
        2 => j[0][0] * j[1][1] - j[0][1] * j[1][0],
        _ => j[0][0] * minor(1, 2) - j[0][1] * minor(0, 2) + j[0][2] * minor(0, 1),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dgsuite_basis::lattice::lattice;
    use dgsuite_physics::formula::Names;

    #[test]
    fn integrals_of_values_and_derivatives_are_exact_on_stretched_elements() {
        // x = 3r + s/2, y = 2s, z = t maps each shape with the determinant 6; u = x², v = x y.
        for (shape, dim) in [(Shape::Triangle, 2), (Shape::Quadrilateral, 2), (Shape::Prism, 3)] {
            let order = 3;
            let points: Vec<[f64; 3]> =
                lattice(shape, order).iter().map(|r| [3.0 * r[0] + 0.5 * r[1], 2.0 * r[1], r[2]]).collect();
            let column = |f: &dyn Fn(&[f64; 3]) -> f64| points.iter().map(f).collect::<Vec<f64>>();
            let zero = column(&|_| 0.0);
            let mut gradients =
                vec![column(&|x| 2.0 * x[0]), column(&|x| x[1]), zero.clone(), column(&|x| x[0])];
            gradients.resize(2 * dim, zero);
            let set = SampledSet {
                shape,
                values: vec![column(&|x| x[0] * x[0]), column(&|x| x[0] * x[1])],
                points: points.clone(),
                gradients,
                elements: vec![1],
            };
            let mut names = vec!["u", "v", "u_x", "v_x", "u_y", "v_y"];
            names.extend(["u_z", "v_z"].iter().take(2 * (dim - 2)));
            names.extend(["x", "y", "z", "t"]);
            let formula = |text: &str| Formula::parse(text, &Names::new(names.iter().copied())).unwrap();
            let formulas = [formula("1"), formula("t*(u_x + v_y)*v - 3*t*x^2*y"), formula("v_x - y + u_y")];
            let found = integrals(&[set], order, 0.5, &formulas.iter().collect::<Vec<_>>());
            let size = Quadrature::new(shape, 1).weights.iter().sum::<f64>() * 6.0;
            assert!((found[0] - size).abs() < 1e-12, "{shape}: {found:?}");
            assert!(found[1].abs() < 1e-12 && found[2].abs() < 1e-12, "{shape}: {found:?}");
        }
    }
}
