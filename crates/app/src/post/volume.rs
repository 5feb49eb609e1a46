//! Integrals of formulas of the solution and of its derivatives, from samples on the lattices of elements.

use dgsuite_basis::{Evaluation, LagrangeBasis, Quadrature, Shape};
use dgsuite_gpu::ExactSum;
use dgsuite_physics::formula::Formula;
use rayon::prelude::*;

use crate::systems::hyperbolic::SampledSet;

/// Interpolation from the lattice of a shape to the points of a cubature rule.
struct Rule {
    nodes: Evaluation,
    weights: Vec<f64>,
}

impl Rule {
    fn new(shape: Shape, order: usize) -> Self {
        let degree = 2 * order + 2;
        let nodes = Evaluation::new(shape, true, |shape| {
            let (basis, rule) = (LagrangeBasis::new(shape, order), Quadrature::new(shape, degree));
            (basis.eval(&rule.points), basis.grad(&rule.points))
        });
        Self { nodes, weights: Quadrature::new(shape, degree).weights }
    }

    /// Returns the integrals of the formulas over an element, from those columns of the samples that are
    /// `used`.
    fn of_element(
        &self,
        set: &SampledSet,
        columns: &[&[f64]],
        used: &[usize],
        element: usize,
        t: f64,
        formulas: &[&Formula],
    ) -> Vec<f64> {
        let (nodes, points, dim) = (self.nodes.values.cols(), self.weights.len(), set.shape.dim());
        let own = element * nodes..(element + 1) * nodes;
        let samples: Vec<f64> = used.iter().flat_map(|&i| &columns[i][own.clone()]).copied().collect();
        let positions: Vec<f64> =
            (0..3).flat_map(|d| set.points[own.clone()].iter().map(move |x| x[d])).collect();
        let (values, x) = (self.nodes.values.apply(&samples), self.nodes.values.apply(&positions));
        let slopes: Vec<Vec<f64>> = self.nodes.derivatives.iter().map(|d| d.apply(&positions)).collect();
        let mut inputs: Vec<&[f64]> = vec![&[0.0]; columns.len()];
        for (&column, values) in used.iter().zip(values.chunks_exact(points)) {
            inputs[column] = values;
        }
        inputs.extend(x.chunks_exact(points));
        let time = [t];
        inputs.push(&time);
        let volume = |q: usize| {
            let mut jacobian = [[0.0; 3]; 3];
            for (e, slope) in slopes.iter().enumerate() {
                (0..3).for_each(|d| jacobian[d][e] = slope[d * points + q]);
            }
            self.weights[q] * determinant(&jacobian, dim).abs()
        };
        let volumes: Vec<f64> = (0..points).map(volume).collect();
        let mut results = vec![0.0; points];
        let integral = |formula: &&Formula| {
            formula.eval_batch(&inputs, &mut results);
            volumes.iter().zip(&results).map(|(w, f)| w * f).sum()
        };
        formulas.iter().map(integral).collect()
    }
}

/// Returns the integral over the domain of each formula, whose arguments are the primitive variables, their
/// derivatives, `[axis][variable]`, and `x y z t`, in this order.
///
/// The sets are samples with gradients on lattices of order `order`. Values, derivatives and coordinates are
/// interpolated from the lattice to a rule that is exact to degree `2 order + 2`, so that integrals of
/// quadratic formulas have no quadrature error on affine elements if `order` is that of the solution.
/// Elements run in parallel on the current pool of threads. Their integrals are summed exactly, so that
/// neither threads nor the order of the elements change the result.
#[must_use]
pub fn integrals(sets: &[SampledSet], order: usize, t: f64, formulas: &[&Formula]) -> Vec<f64> {
    let mut sums = vec![ExactSum::new(); formulas.len()];
    for set in sets {
        let rule = Rule::new(set.shape, order);
        let columns: Vec<&[f64]> = set.values.iter().chain(&set.gradients).map(Vec::as_slice).collect();
        let used: Vec<usize> = (0..columns.len())
            .filter(|&i| formulas.iter().any(|f| f.names().get(i).is_some_and(|name| f.depends_on(name))))
            .collect();
        let elements = set.points.len() / rule.nodes.values.cols();
        let terms: Vec<Vec<f64>> = (0..elements)
            .into_par_iter()
            .map(|element| rule.of_element(set, &columns, &used, element, t, formulas))
            .collect();
        for terms in terms {
            sums.iter_mut().zip(terms).for_each(|(sum, x)| sum.add(x));
        }
    }
    sums.iter().map(ExactSum::value).collect()
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
        for (shape, dim) in
            [(Shape::Triangle, 2), (Shape::Quadrilateral, 2), (Shape::Prism, 3), (Shape::Hexahedron, 3)]
        {
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
