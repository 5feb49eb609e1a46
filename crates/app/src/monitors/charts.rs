//! The curves and axes of a picture, chosen from the columns of a table.

use dgsuite_output::writer::csv::Columns;
use dgsuite_output::writer::plot::{Chart, Curve};

/// Curves with fewer points are marked point by point.
const MANY: usize = 40;

/// Charts the columns `ys` of a table over its column `x`. Missing columns are left out.
#[must_use]
pub fn columns(table: &Columns, title: &str, x: &str, ys: &[&str]) -> Chart {
    let along = table.column(x).unwrap_or_default();
    let curve = |name: &&str| {
        let points: Vec<(f64, f64)> =
            along.iter().copied().zip(table.column(name)?.iter().copied()).collect();
        Some(Curve { name: (*name).to_owned(), marks: points.len() < MANY, points, alone: false })
    };
    let curves = ys.iter().take(CURVES).filter_map(curve).collect();
    let note = match ys.len() {
        0..=CURVES => String::new(),
        n => format!("The first {CURVES} of {n} columns."),
    };
    Chart { title: title.to_owned(), x: x.to_owned(), curves, note, ..Chart::default() }
}

/// The most curves of a picture; nobody can tell more apart.
const CURVES: usize = 24;

/// Charts all columns of a monitor's table over time or steps, by the name of `x`.
#[must_use]
pub fn all(name: &str, table: &Columns, x: &str) -> Chart {
    let all: Vec<&str> = (table.names.iter().map(String::as_str)).filter(|n| !is_place(n)).collect();
    columns(table, name, x, &all)
}

/// Charts all columns over steps, on a logarithmic axis.
#[must_use]
pub fn by_step(name: &str, table: &Columns) -> Chart {
    Chart { log_y: true, ..all(name, table, "step") }
}

/// Charts the coefficients of forces.
#[must_use]
pub fn of_forces(table: &Columns, x: &str) -> Chart {
    without_start(columns(table, "force coefficients", x, &["cd", "cl", "cs", "cm"]))
}

/// The title of the chart of the forces on a boundary.
#[must_use]
pub fn title_of_forces(boundary: &str) -> String {
    format!("Force coefficients: {boundary}")
}

/// The share of the rows, the first ones, that may leave the picture.
const START: f64 = 0.2;

/// How many times the height of the other rows the whole range must have, so that the start is cut off.
const SPIKE: f64 = 3.0;

/// Limits the vertical axis to the range of the rows after the first fifth, if the start would flatten them,
/// and says so below the title: a flow that starts at once has large forces for a moment.
fn without_start(mut chart: Chart) -> Chart {
    let range = |skip: f64| {
        let late = chart.curves.iter().flat_map(|c| &c.points[(skip * c.points.len() as f64) as usize..]);
        let finite = late.map(|(_, y)| *y);
        let finite = finite.filter(|y| y.is_finite());
        finite.fold([f64::INFINITY, f64::NEG_INFINITY], |[low, high], y| [low.min(y), high.max(y)])
    };
    let ([low, high], [least, most]) = (range(0.0), range(START));
    // Of a steady state, rounding is no height.
    let height = (most - least).max(1e-2 * least.abs().max(most.abs()));
    if high - low > SPIKE * height && height.is_finite() {
        let room = 0.04 * height;
        chart.y_range = Some([least - room, most + room]);
        chart.note = format!(
            "The axis shows the range of the last {:.0} % of the rows; before, values reach from {} to {}.",
            100.0 * (1.0 - START),
            rounded_to(low),
            rounded_to(high)
        );
    }
    chart
}

/// A number with three digits.
fn rounded_to(x: f64) -> String {
    match format!("{x:.2e}").parse::<f64>() {
        Ok(short) if x == 0.0 || (1e-3..1e5).contains(&short.abs()) => short.to_string(),
        _ => format!("{x:.2e}"),
    }
}

/// Charts the last rows of a sample along its line. Other samples have no curves.
#[must_use]
pub fn of_sample(table: &Columns) -> Chart {
    let steps = table.column("step").unwrap_or_default();
    let kept: Vec<usize> = (0..steps.len()).filter(|&i| Some(&steps[i]) == steps.last()).collect();
    let last = |column: &Vec<f64>| kept.iter().filter_map(|&i| column.get(i).copied()).collect();
    let rows = Columns { names: table.names.clone(), values: table.values.iter().map(last).collect() };
    let places = ["step", "time", "point", "s", "x", "y", "z"];
    let line = table.column("s").is_some();
    let names = table.names.iter().map(String::as_str);
    let fields: Vec<&str> = names.filter(|name| line && !places.contains(name)).collect();
    columns(&rows, "sample", "s", &fields)
}

/// Charts the residuals of a linear solve.
#[must_use]
pub fn of_linear_solve(table: &Columns) -> Chart {
    Chart { log_y: true, ..columns(table, "residual", "iteration", &["residual"]) }
}

/// Charts pressure and friction coefficients along a wall.
#[must_use]
pub fn along_a_wall(table: &Columns) -> Chart {
    columns(table, "wall coefficients", "s", &["cp", "cf"])
}

/// Returns whether a column gives the position of a row rather than a result.
#[must_use]
pub fn is_place(column: &str) -> bool {
    ["step", "time", "iteration"].contains(&column)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_spike_at_the_start_does_not_flatten_the_forces() {
        let forces = |cd: Vec<f64>| {
            let step: Vec<f64> = (0..cd.len()).map(|k| k as f64).collect();
            let names = ["step", "time", "cd"].map(str::to_owned).to_vec();
            of_forces(&Columns { names, values: vec![step.clone(), step, cd] }, "time")
        };
        let wave = |k: u32| 1.3 + 0.01 * f64::from(k).sin();
        let chart = forces((0..100).map(|k| if k < 10 { 40.0 } else { wave(k) }).collect());
        let [low, high] = chart.y_range.unwrap();
        assert!(low > 1.25 && low < 1.29 && high < 1.35 && high > 1.31, "{low} {high}");
        assert!(
            chart.note.contains("last 80 %") && chart.note.ends_with("from 1.29 to 40."),
            "{}",
            chart.note
        );
        assert!(chart.svg().unwrap().contains("last 80 %"));
        let even = forces((0..100).map(wave).collect());
        assert!(even.y_range.is_none() && even.note.is_empty());
        // A steady state after a transient, and one without.
        assert!(forces((0..100).map(|k| 1.3 + 5.0 * (-f64::from(k)).exp()).collect()).y_range.is_some());
        assert_eq!(forces(vec![1.3; 100]).y_range, None);
    }
}
