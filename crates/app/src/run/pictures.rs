//! The curves and axes of a picture, chosen from the columns of a table.

use crate::writer::csv::Columns;
use crate::writer::plot::{Chart, Curve};

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
    let curves = ys.iter().filter_map(curve).collect();
    Chart { title: title.to_owned(), x: x.to_owned(), curves, ..Chart::default() }
}

/// Charts the columns of a monitor's table.
#[must_use]
pub fn of_monitor(kind: &str, table: &Columns) -> Chart {
    let all: Vec<&str> = (table.names.iter().map(String::as_str)).filter(|n| !is_place(n)).collect();
    match kind {
        "residual" | "divergence" => Chart { log_y: true, ..columns(table, kind, "step", &all) },
        "error" => Chart { log_y: true, ..columns(table, kind, "time", &all) },
        "forces" => columns(table, "force coefficients", "time", &["cd", "cl", "cs", "cm"]),
        _ => columns(table, kind, "time", &all),
    }
}

/// Charts a table of a run by the name of its file: `kind.csv`, or `kind-` and the name of a boundary or
/// probe.
#[must_use]
pub fn of_table(name: &str, table: &Columns) -> Chart {
    let kind = name.split(['-', '.', '_']).next().unwrap_or(name);
    match table.column("s") {
        Some(_) if name.contains("curve") => along_a_wall(table),
        _ if table.column("point").is_some() => of_sample(table),
        _ if table.column("iteration").is_some() => of_linear_solve(table),
        _ if table.column("time").is_some() || table.column("step").is_some() => of_monitor(kind, table),
        _ => {
            let x = table.names.first().cloned().unwrap_or_default();
            let others: Vec<&str> = table.names.iter().skip(1).map(String::as_str).collect();
            columns(table, name, &x, &others)
        }
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

    fn table(names: &[&str]) -> Columns {
        let values = (0..names.len()).map(|k| vec![k as f64, k as f64 + 1.0]).collect();
        Columns { names: names.iter().map(|&n| n.to_owned()).collect(), values }
    }

    #[test]
    fn each_monitor_shows_what_its_reader_looks_for() {
        let chart = of_monitor("residual", &table(&["step", "time", "rho", "rho*u"]));
        assert_eq!((chart.x.as_str(), chart.log_y, chart.curves.len()), ("step", true, 2));
        let chart = of_monitor("forces", &table(&["step", "time", "cd", "cl", "cd_pressure"]));
        let names: Vec<&str> = chart.curves.iter().map(|c| c.name.as_str()).collect();
        assert_eq!((chart.x.as_str(), names), ("time", vec!["cd", "cl"]));
        let sample = Columns {
            values: vec![vec![1.0, 2.0, 2.0]; 5],
            names: table(&["step", "point", "s", "x", "u"]).names,
        };
        let chart = of_table("sample-2", &sample);
        assert_eq!((chart.x.as_str(), chart.curves.len()), ("s", 1));
        assert_eq!(chart.curves[0].points, [(2.0, 2.0), (2.0, 2.0)]);
        assert!(of_table("sample", &table(&["step", "point", "x", "u"])).curves.is_empty());
        let chart = along_a_wall(&table(&["s", "x", "cp", "cf"]));
        assert_eq!(chart.curves[1].points, [(0.0, 3.0), (1.0, 4.0)]);
    }
}
