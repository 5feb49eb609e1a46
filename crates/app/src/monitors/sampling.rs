//! Values of formulas at points of the mesh, as rows of a table, as cells, and as numbers of the summary.

use dgsuite_basis::Shape;
use dgsuite_physics::formula::Formula;
use serde_json::{Value, json};

use crate::monitors::samples::Placed;
use crate::monitors::samples::Places;
use dgsuite_output::writer::{CellBlock, Field, UnstructuredFields};

use dgsuite_solve::flow::{Flow, SampledSet};
use dgsuite_solve::post::points::at_places;

/// Evaluates formulas, with the arguments of [`Vocabulary::new`](crate::models::vocabulary::Vocabulary::new),
/// at points: `[point][formula]`. Values are NaN at points outside of the mesh, and on all ranks but the
/// first.
///
/// Derivatives are those of output files, with the jumps between elements lifted, for which the whole
/// solution is sampled.
pub fn at_points(solver: &Flow, points: &[Placed], formulas: &[Formula], gradients: bool) -> Vec<Vec<f64>> {
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
        // A filter width comes with derivatives.
        arguments.extend(solver.setup().law.closure().map(|_| 0.0));
        values.iter_mut().zip(formulas).for_each(|(value, formula)| *value = formula.eval(&arguments));
    }
    values
}

/// Evaluates formulas, with the arguments of [`Vocabulary::new`](crate::models::vocabulary::Vocabulary::new),
/// at the points of a set: `[formula][point]`. Without gradients in the set they must not use derivatives.
pub fn evaluate<'f>(
    set: &SampledSet,
    (dim, time): (usize, f64),
    formulas: impl IntoIterator<Item = &'f Formula>,
) -> Vec<Vec<f64>> {
    let x: [Vec<f64>; 3] = std::array::from_fn(|d| set.points.iter().map(|x| x[d]).collect());
    // A formula without derivatives ignores these arguments.
    let unused = set.values.len() * dim * usize::from(set.gradients.is_empty());
    let time = [time];
    // One for each point; a formula without derivatives ignores it.
    let of_element = set.points.len() / set.elements.len().max(1);
    let widths: Vec<f64> = match &set.widths[..] {
        [] => vec![0.0],
        widths => widths.iter().flat_map(|&width| std::iter::repeat_n(width, of_element)).collect(),
    };
    let arguments: Vec<&[f64]> = (set.values.iter().chain(&set.gradients).map(Vec::as_slice))
        .chain(std::iter::repeat_n(&[0.0][..], unused))
        .chain(x.iter().map(Vec::as_slice))
        .chain([&time[..], &widths])
        .collect();
    let value = |formula: &Formula| {
        let mut column = vec![0.0; set.points.len()];
        // Without a closure there is no filter width among the names.
        formula.eval_batch(&arguments[..formula.names().len()], &mut column);
        column
    };
    formulas.into_iter().map(value).collect()
}

/// The rows of a sample's table: those before (step and time), the number of the point, on a line its
/// distance from the start, the coordinates, the values. Points outside of the mesh have no row.
pub fn rows(before: &[f64], places: &Places, values: &[Vec<f64>], dim: usize) -> Vec<Vec<f64>> {
    let inside = places.points.iter().zip(values).enumerate().filter(|(_, ((_, place), _))| place.is_some());
    let row = |(i, ((x, _), values)): (usize, (&Placed, &Vec<f64>))| {
        let distance = places.distances.iter().filter_map(|s| s.get(i));
        let number = [i as f64];
        before.iter().chain(&number).chain(distance).chain(&x[..dim]).chain(values).copied().collect()
    };
    inside.map(row).collect()
}

/// The smallest and the largest value and the mean of each field over the points in the mesh.
pub fn extremes(names: &[String], values: &[Vec<f64>]) -> Value {
    let of_field = |(k, name): (usize, &String)| {
        let column: Vec<f64> = values.iter().map(|row| row[k]).filter(|x| !x.is_nan()).collect();
        let mean = column.iter().sum::<f64>() / column.len() as f64;
        let min = column.iter().copied().fold(f64::INFINITY, f64::min);
        let max = column.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        (name.clone(), json!({ "min": min, "max": max, "mean": mean }))
    };
    Value::Object(names.iter().enumerate().map(of_field).collect())
}

/// A plane as linear quadrilaterals, but for those with a corner outside of the mesh.
pub fn cells(
    places: &Places,
    names: &[String],
    values: &[Vec<f64>],
    time: f64,
) -> Option<UnstructuredFields> {
    let [n, m] = places.grid?;
    // The corners in the order of a lattice.
    let corners = (0..m - 1).flat_map(|j| (0..n - 1).map(move |i| (i, j))).map(|(i, j)| {
        let first = j * n + i;
        [first, first + 1, first + n, first + n + 1]
    });
    let whole = |cell: &[usize; 4]| cell.iter().all(|&k| places.points[k].1.is_some());
    let nodes: Vec<usize> = corners.filter(whole).flatten().collect();
    let field = |(k, name): (usize, &String)| {
        Field::real(name.as_str(), 1, nodes.iter().map(|&i| values[i][k]).collect())
    };
    let block = CellBlock {
        shape: Shape::Quadrilateral,
        order: 1,
        points: nodes.iter().map(|&i| places.points[i].0).collect(),
        point_data: names.iter().enumerate().map(field).collect(),
        cell_data: Vec::new(),
    };
    Some(UnstructuredFields { time, pieces: vec![block] })
}
