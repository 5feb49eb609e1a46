//! Values of formulas at points of the mesh.

use dgsuite_physics::formula::Formula;

use super::fields::evaluate;
use crate::plan::monitors::Placed;
use crate::post::points::at_places;
use crate::systems::hyperbolic::Hyperbolic;

/// Evaluates formulas, with the arguments of [`Vocabulary::new`](crate::plan::vocabulary::Vocabulary::new),
/// at points: `[point][formula]`. Values are NaN at points outside of the mesh, and on all ranks but the
/// first.
///
/// Derivatives are those of output files, with the jumps between elements lifted, for which the whole
/// solution is sampled.
pub fn at_points(
    solver: &Hyperbolic,
    points: &[Placed],
    formulas: &[Formula],
    gradients: bool,
) -> Vec<Vec<f64>> {
    let places: Vec<_> = points.iter().map(|(_, place)| *place).collect();
    let mut values = vec![vec![f64::NAN; formulas.len()]; points.len()];
    if gradients {
        let order = solver.setup().order.max(1);
        let (samples, rows): (Vec<_>, Vec<_>) =
            at_places(&solver.conserved(order, true), &places).into_iter().unzip();
        for (set, rows) in solver.primitive(samples).iter().zip(rows) {
            let columns = evaluate(set, (solver.dim(), solver.time()), formulas);
            for (k, column) in columns.iter().enumerate() {
                rows.iter().zip(column).for_each(|(&row, &x)| values[row][k] = x);
            }
        }
        return values;
    }
    for ((state, (x, _)), values) in solver.evaluate_in(&places).into_iter().zip(points).zip(&mut values) {
        let Some(mut arguments) = state else { continue };
        // A formula without derivatives ignores these arguments.
        arguments.resize(arguments.len() * (1 + solver.dim()), 0.0);
        arguments.extend(x);
        arguments.push(solver.time());
        values.iter_mut().zip(formulas).for_each(|(value, formula)| *value = formula.eval(&arguments));
    }
    values
}
