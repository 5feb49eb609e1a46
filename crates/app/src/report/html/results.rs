//! The results of a run in words: forces with their spread and the Strouhal number first.

use std::path::Path;

use serde_json::Value;

use super::{flatten, number, words};
use dgsuite_output::writer::csv::Columns;
use dgsuite_solve::post::spectrum;

/// Sections of the summary that are results, after the forces.
const SECTIONS: [&str; 11] = [
    "error",
    "wall",
    "recirculation",
    "flow_rate",
    "integral",
    "history",
    "divergence",
    "conservation",
    "steady",
    "residual",
    "limited",
];

/// Largest number of points of a probe.
const MOST_POINTS: usize = 8;

/// The share of the rows of a table, the last ones, that show the spread of forces without averages.
const LAST: f64 = 0.2;

/// Returns names and values, the most important ones first, and then those of detail.
pub(super) fn rows(summary: &Value, folder: &Path) -> [Vec<(String, String)>; 2] {
    let (mut rows, mut details) = (Vec::new(), Vec::new());
    for (boundary, forces) in summary["forces"].as_object().into_iter().flatten() {
        rows.extend(of_forces(boundary, forces, folder, summary));
        details.extend(details_of_forces(boundary, forces));
    }
    for section in SECTIONS {
        let mut all = Vec::new();
        flatten(section, &summary[section], &mut all);
        let detail = ["residual", "limited", "history", "conservation"].contains(&section);
        let into = if detail { &mut details } else { &mut rows };
        into.extend(all.into_iter().filter_map(|(path, value)| Some((in_words(&path)?, value))));
    }
    for (name, values) in summary.as_object().into_iter().flatten() {
        match name.split('-').next() {
            Some("probe") => rows.extend(of_probe(name, values)),
            Some("sample") => {
                let mut all = Vec::new();
                flatten(name, values, &mut all);
                rows.extend(
                    all.into_iter().filter_map(|(path, value)| Some((of_sample(name, &path)?, value))),
                );
            }
            _ => {}
        }
    }
    let mut all = Vec::new();
    flatten("linear", &summary["linear"], &mut all);
    details.extend(all.into_iter().filter_map(|(path, value)| Some((of_linear(&path)?, value))));
    [rows, details]
}

/// The coefficients of a boundary with their spread, its Strouhal number, and derivatives.
fn of_forces(boundary: &str, forces: &Value, folder: &Path, summary: &Value) -> Vec<(String, String)> {
    let table = forces["table"].as_str().and_then(|name| {
        // A name of this program has no separators; another one is not followed.
        let plain = name.chars().all(|c| c.is_ascii_alphanumeric() || c == '-');
        Columns::read(&folder.join("monitors").join(format!("{name}.csv"))).ok().filter(|_| plain)
    });
    let in_space = summary["mesh"]["elements"].as_object().is_some_and(|shapes| {
        shapes.keys().any(|shape| ["tet", "hex", "prism", "pyramid"].contains(&&**shape))
    });
    let mut rows = Vec::new();
    let named = [("cd", "drag"), ("cl", "lift"), ("cs", "side force"), ("cm", "moment")];
    for (key, name) in named.into_iter().filter(|(key, _)| *key != "cs" || in_space) {
        let Some(last) = forces[key].as_f64() else { continue };
        let mean = forces["mean"][key].as_f64();
        let value = match (mean, forces["deviation"][key].as_f64()) {
            (Some(mean), Some(deviation)) => {
                let from =
                    forces["from"].as_f64().map_or_else(String::new, |t| format!(" from t = {}", number(t)));
                format!("{} (mean{from})", with_spread(mean, deviation))
            }
            _ => match table.as_ref().and_then(|table| spread_of_last(table, key)) {
                Some((mean, deviation, n)) => {
                    format!("{} (mean of the last {n} rows)", with_spread(mean, deviation))
                }
                None => format!("{} (last value)", number(last)),
            },
        };
        rows.push((format!("{name} coefficient, {boundary}"), value));
    }
    if let Some(strouhal) = forces["strouhal"].as_f64() {
        let resolution = forces["strouhal_resolution"].as_f64().unwrap_or(0.0);
        let value = format!("{} ± {} (resolution)", number(strouhal), number(rounded(resolution)));
        rows.push((format!("Strouhal number of the lift, {boundary}"), value));
    }
    for (by, derivatives) in forces["sensitivities"].as_object().into_iter().flatten() {
        for (key, name) in named.into_iter().filter(|(key, _)| *key != "cs" || in_space) {
            let Some(slope) = derivatives[key].as_f64() else { continue };
            rows.push((format!("derivative of the {name} coefficient by {by}, {boundary}"), number(slope)));
        }
    }
    rows
}

/// Parts, vectors and extremes of the forces on a boundary, at the end of the run.
fn details_of_forces(boundary: &str, forces: &Value) -> Vec<(String, String)> {
    let mut rows = Vec::new();
    let mut row = |name: &str, value: &Value| match value {
        Value::Array(axes) => {
            let axes: Vec<String> = axes.iter().map(words).collect();
            rows.push((format!("{name}, {boundary}"), format!("({})", axes.join(", "))));
        }
        Value::Number(_) => rows.push((format!("{name}, {boundary}"), words(value))),
        _ => {}
    };
    for (key, name) in [
        ("cd", "drag coefficient at the end"),
        ("cl", "lift coefficient at the end"),
        ("cd_pressure", "drag coefficient of pressure"),
        ("cd_viscous", "drag coefficient of friction"),
        ("force", "force"),
        ("pressure_force", "force of pressure"),
        ("viscous_force", "force of friction"),
        ("moment", "moment"),
        ("heat", "heat into the boundary per time"),
        ("wetted_area", "wetted area (in the plane: length)"),
    ] {
        row(name, &forces[key]);
    }
    for (key, name) in [("amplitude", "amplitude of the"), ("min", "smallest"), ("max", "largest")] {
        row(&format!("{name} drag coefficient"), &forces[key]["cd"]);
        row(&format!("{name} lift coefficient"), &forces[key]["cl"]);
    }
    rows
}

/// The mean, the deviation and the number of the last rows of a column; `None` for fewer than five rows.
fn spread_of_last(table: &Columns, name: &str) -> Option<(f64, f64, usize)> {
    let (t, x) = (table.column("time")?, table.column(name)?);
    let n = t.len().min(x.len());
    let kept = ((n as f64 * LAST).ceil() as usize).max(5);
    let first = n.checked_sub(kept)?;
    let (t, x) = (&t[first..n], &x[first..n]);
    let (mean, _) = spectrum::mean_and_amplitude(t, x)?;
    Some((mean, spectrum::deviation(t, x, mean)?, kept)).filter(|(mean, ..)| mean.is_finite())
}

/// `0.131 ± 0.002`: the deviation with one digit, or two below 2, and the mean with as many decimals.
pub(super) fn with_spread(mean: f64, deviation: f64) -> String {
    if !deviation.is_finite() || deviation <= 1e-9 * mean.abs() {
        return format!("{} ± 0", number(mean));
    }
    let largest = mean.abs().max(deviation);
    if !(1e-3..1e6).contains(&largest) {
        let exponent = largest.log10().floor() as i32;
        let unit = 10f64.powi(exponent);
        return format!("({})e{exponent}", with_spread(mean / unit, deviation / unit));
    }
    let place = deviation.log10().floor();
    let decimals = if deviation / 10f64.powf(place) < 1.95 { 1.0 - place } else { -place };
    let decimals = decimals.clamp(0.0, 12.0) as usize;
    let mean = format!("{mean:.decimals$}");
    let zero = mean.chars().all(|c| "-0.".contains(c));
    let mean = if zero { mean.trim_start_matches('-') } else { &mean };
    format!("{mean} ± {deviation:.decimals$}")
}

/// A number with two digits.
fn rounded(x: f64) -> f64 {
    format!("{x:.1e}").parse().unwrap_or(x)
}

/// The words for a path of the summary; `None` for what is no result of its own.
fn in_words(path: &str) -> Option<String> {
    let (section, rest) = path.split_once('.')?;
    let end = |word: &str| rest.strip_suffix(word).and_then(|name| name.strip_suffix('.'));
    let norm = |rest: &str| {
        let (norm, field) = rest.split_once('.')?;
        let norm = match norm {
            "l1" => "L¹ norm",
            "l2" => "L² norm",
            "linf" => "largest value",
            "energy" => "energy norm",
            _ => return None,
        };
        Some(format!("error of {field}, {norm}"))
    };
    Some(match section {
        "error" => return norm(rest),
        "wall" => {
            let names = [
                ("y_plus_max", "largest y+ of a wall"),
                ("cp_min", "smallest pressure coefficient"),
                ("cp_max", "largest pressure coefficient"),
                ("cf_max", "largest friction coefficient"),
                ("separation.count", "points of separation"),
                ("attachment.count", "points of attachment"),
            ];
            if let Some((boundary, name)) = names.iter().find_map(|(key, name)| Some((end(key)?, name))) {
                return Some(format!("{name}, {boundary}"));
            }
            let (start, axis) = rest.rsplit_once('.')?;
            let (start, point) = start.rsplit_once('.')?;
            let (boundary, turn) = start.rsplit_once('.')?;
            format!("{axis} of {turn} {}, {boundary}", point.parse::<usize>().ok()? + 1)
        }
        "recirculation" => {
            format!("length of the reversed flow{}", rest.strip_prefix("length").unwrap_or(rest))
        }
        "flow_rate" if rest == "mean" => "mean velocity of the driven flow".to_owned(),
        "flow_rate" => "driving force per volume".to_owned(),
        "integral" => format!("integral of {rest}"),
        "history" => match (end("decay"), end("decay_time"), end("deviation")) {
            (Some(name), ..) => format!("largest rate of decay of {name}"),
            (_, Some(name), _) => format!("time of the largest rate of decay of {name}"),
            (_, _, Some(name)) => format!("largest deviation of {name} from the reference"),
            _ => return None,
        },
        "divergence" => match rest {
            "l2" => "divergence of the velocity, L² norm".to_owned(),
            "jumps" => "normal jumps of the velocity, L² norm".to_owned(),
            "growth.l2" => "growth of the divergence over the last quarter".to_owned(),
            "growth.jumps" => "growth of the normal jumps over the last quarter".to_owned(),
            _ => return None,
        },
        "conservation" => format!("defect of conservation of {rest}"),
        "steady" => "residual at the end, of its largest value".to_owned(),
        "residual" => format!("residual of {rest}, L² norm"),
        "limited" => match rest {
            "mean" => "share of the elements that were limited, mean".to_owned(),
            "max" => "share of the elements that were limited, largest".to_owned(),
            "factor" => "smallest factor of a limiter".to_owned(),
            _ => format!("smallest {rest} that a limiter saw"),
        },
        _ => return None,
    })
}

/// The values of a probe at its first points.
fn of_probe(table: &str, values: &Value) -> Vec<(String, String)> {
    let mut rows = Vec::new();
    for (field, points) in values.as_object().into_iter().flatten() {
        let at = |i: usize| points.get(i.to_string());
        let count = (0..).take_while(|&i| at(i).is_some()).count();
        let name = |what: String| format!("{field} {what} of {table}");
        rows.extend(
            (0..count.min(MOST_POINTS)).filter_map(|i| Some((name(format!("at point {i}")), words(at(i)?)))),
        );
        rows.extend(
            points.get("difference").map(|x| (name("at point 0 less that at point 1".into()), words(x))),
        );
        if count > MOST_POINTS {
            rows.push((name("at further points".into()), format!("{} in {table}.csv", count - MOST_POINTS)));
        }
    }
    rows
}

fn of_sample(table: &str, path: &str) -> Option<String> {
    let (field, what) = path.strip_prefix(table)?.strip_prefix('.')?.rsplit_once('.')?;
    let what = match what {
        "min" => "smallest",
        "max" => "largest",
        "mean" => "mean",
        _ => return None,
    };
    Some(format!("{what} {field} of {table}"))
}

/// The words for numbers of linear solvers.
fn of_linear(path: &str) -> Option<String> {
    Some(match path.strip_prefix("linear.")? {
        "iterations" => "iterations of the linear solver".to_owned(),
        "preconditioner" => "preconditioner".to_owned(),
        "reduction" => "residual, of the first one".to_owned(),
        "rate" => "factor of the residual in an iteration".to_owned(),
        "operator_complexity" => "nonzeros of all levels, of those of the first".to_owned(),
        rest => {
            let (solver, what) = rest.rsplit_once('.')?;
            match what {
                "iterations" => format!("iterations for the {solver}, mean of the steps"),
                "max" => format!("iterations for the {solver}, largest"),
                _ => return None,
            }
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn spreads_have_the_digits_that_count() {
        let shown = [(0.130_94, 0.002_1), (1.3, 0.42), (-3e-7, 0.25), (2e-5, 3e-7), (1.5, 0.0), (2.5e7, 4e5)];
        assert_eq!(
            shown.map(|(mean, deviation)| with_spread(mean, deviation)),
            ["0.131 ± 0.002", "1.3 ± 0.4", "0.0 ± 0.2", "(2.00 ± 0.03)e-5", "1.5 ± 0", "(2.50 ± 0.04)e7"]
        );
    }

    #[test]
    fn forces_come_first_with_their_spread_in_words() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("monitors")).unwrap();
        let rows: String =
            (0..50).map(|k| format!("{k},{k},{},0\n", 1.3 + 0.01 * f64::from(k % 2))).collect();
        std::fs::write(folder.path().join("monitors/forces.csv"), format!("step,time,cd,cl\n{rows}"))
            .unwrap();
        let summary = json!({
            "mesh": { "elements": { "tri": 4 } },
            "error": { "l2": { "rho": 0.5 } },
            "conservation": { "rho": 1e-16 },
            "forces": {
                "body": { "cd": 1.5, "cl": 0.1, "cs": 0.0, "cm": 0.0, "table": "forces", "wetted_area": 3.0 },
                "wing": { "cd": 1.5, "cl": 0.1, "table": "../forces", "from": 20.0,
                    "mean": { "cd": 0.131, "cl": 0.0 }, "deviation": { "cd": 0.002, "cl": 0.2 },
                    "strouhal": 0.1643, "strouhal_resolution": 0.0104,
                    "sensitivities": { "alpha": { "cd": 5e-4, "cl": 0.021, "cs": 0.0, "heat": 2.0 } } },
            },
        });
        let [rows, details] = super::rows(&summary, folder.path());
        let rows: Vec<(&str, &str)> = rows.iter().map(|(a, b)| (a.as_str(), b.as_str())).collect();
        assert_eq!(
            rows,
            [
                ("drag coefficient, body", "1.305 ± 0.005 (mean of the last 10 rows)"),
                ("lift coefficient, body", "0 ± 0 (mean of the last 10 rows)"),
                ("moment coefficient, body", "0 (last value)"),
                ("drag coefficient, wing", "0.131 ± 0.002 (mean from t = 20)"),
                ("lift coefficient, wing", "0.0 ± 0.2 (mean from t = 20)"),
                ("Strouhal number of the lift, wing", "0.1643 ± 0.01 (resolution)"),
                ("derivative of the drag coefficient by alpha, wing", "5.0000e-4"),
                ("derivative of the lift coefficient by alpha, wing", "0.021"),
                ("error of rho, L² norm", "0.5"),
            ]
        );
        assert!(details.contains(&("wetted area (in the plane: length), body".to_owned(), "3".to_owned())));
        assert!(details.iter().any(|(name, _)| name == "defect of conservation of rho"));
    }

    #[test]
    fn paths_become_words() {
        for (path, words) in [
            ("wall.body.cp_min", "smallest pressure coefficient, body"),
            ("wall.a.b.separation.0.x", "x of separation 1, a.b"),
            ("recirculation.length-2", "length of the reversed flow-2"),
            ("history.E.decay", "largest rate of decay of E"),
            ("divergence.l2", "divergence of the velocity, L² norm"),
        ] {
            assert_eq!(in_words(path).as_deref(), Some(words));
        }
        assert_eq!(of_sample("sample-2", "sample-2.u.max").as_deref(), Some("largest u of sample-2"));
        assert_eq!(of_linear("linear.pressure.max").as_deref(), Some("iterations for the pressure, largest"));
    }
}
