//! The results of a run, as lines at its end: integrals, walls, wakes and forces, from the summary.

use serde_json::{Map, Value};

use crate::pipeline::checks::rounded;

/// Returns the last values of the monitors, a line for each; the most important ones come last.
pub fn lines(summary: &Map<String, Value>) -> Vec<String> {
    let entries = |section: &str| summary.get(section).and_then(Value::as_object).into_iter().flatten();
    let mut lines = Vec::new();
    let mut line = |key: &str, value: String| {
        if !value.is_empty() {
            lines.push(format!("{key:<11} {value}"));
        }
    };
    line("integral", entries("integral").map(|(name, x)| valued(name, x)).collect::<Vec<_>>().join(", "));
    let norms = entries("divergence").filter(|(_, x)| !x.is_object());
    line("divergence", norms.map(|(name, x)| valued(name, x)).collect::<Vec<_>>().join(", "));
    line("flow rate", entries("flow_rate").map(|(name, x)| valued(name, x)).collect::<Vec<_>>().join(", "));
    let limited = entries("limited").map(|(name, x)| valued(name, x)).collect::<Vec<_>>().join(", ");
    line("limited", limited);
    // Tables of the same kind are numbered: `probe`, `probe-2`.
    for (name, values) in summary {
        match name.split('-').next() {
            Some("probe") => of_probe(name, values).into_iter().for_each(|text| line(name, text)),
            Some("sample") => of_sample(values).into_iter().for_each(|text| line(name, text)),
            _ => {}
        }
    }
    for (name, history) in entries("history") {
        let known = some(history, &["decay", "decay_time", "deviation"]);
        line(
            "history",
            if known.is_empty() { String::new() } else { format!("{name}: {}", known.join(", ")) },
        );
    }
    for (boundary, wall) in entries("wall") {
        line("wall", format!("{boundary}: {}", of_wall(wall)));
    }
    for (name, length) in entries("recirculation") {
        let found = if length.is_null() { format!("{name}: no reversed flow") } else { valued(name, length) };
        line("wake", found);
    }
    for (boundary, forces) in entries("forces") {
        line("forces", format!("{boundary}: {}", of_forces(forces)));
    }
    for (boundary, forces) in entries("forces") {
        for (by, derivatives) in forces.get("sensitivities").and_then(Value::as_object).into_iter().flatten()
        {
            let shown = some(derivatives, &["cd", "cl", "cs", "cm"]).join(", ");
            line("derivatives", format!("{boundary}, by {by}: {shown}"));
        }
    }
    lines
}

/// `name = value`, with enough digits to compare.
fn valued(name: &str, value: &Value) -> String {
    match value.as_f64() {
        Some(x) => format!("{name} = {}", rounded(x)),
        None => format!("{name} is not finite"),
    }
}

/// Returns the values of a section that `names` lists, as `name = value`.
fn some(section: &Value, names: &[&str]) -> Vec<String> {
    names.iter().filter_map(|name| Some(valued(name, section.get(name)?))).collect()
}

/// Most points of a probe in one line.
const MOST_POINTS: usize = 4;

/// A line for each field of a probe: its values at the first points, and the difference of two.
fn of_probe(table: &str, values: &Value) -> Vec<String> {
    let of_field = |(field, points): (&String, &Value)| {
        let at = |i: usize| points.get(i.to_string());
        let count = (0..).take_while(|&i| at(i).is_some()).count();
        let shown =
            (0..count.min(MOST_POINTS)).filter_map(|i| Some(valued(&format!("{field} at {i}"), at(i)?)));
        let mut parts: Vec<String> = shown.collect();
        parts.extend(points.get("difference").map(|x| valued("difference", x)));
        if count > MOST_POINTS {
            parts.push(format!("{} more in monitors/{table}.csv", count - MOST_POINTS));
        }
        parts.join(", ")
    };
    values.as_object().into_iter().flatten().map(of_field).collect()
}

/// A line for each field of a sample: its extremes and mean.
fn of_sample(values: &Value) -> Vec<String> {
    let of_field = |(field, section): (&String, &Value)| {
        let parts = some(section, &["min", "max", "mean"]);
        if parts.is_empty() { String::new() } else { format!("{field}: {}", parts.join(", ")) }
    };
    values.as_object().into_iter().flatten().map(of_field).collect()
}

fn of_forces(forces: &Value) -> String {
    let mut parts = some(forces, &["cd", "cl", "cs", "cm"]);
    for (key, shown) in [("mean", "means"), ("amplitude", "amplitudes")] {
        if let Some(section) = forces.get(key) {
            parts.push(format!("{shown} {}", some(section, &["cd", "cl"]).join(", ")));
        }
    }
    if let Some(strouhal) = forces.get("strouhal").and_then(Value::as_f64) {
        let resolution = forces.get("strouhal_resolution").and_then(Value::as_f64).unwrap_or(0.0);
        parts.push(format!("Strouhal number {strouhal:.5} with a resolution of {resolution:.1e}"));
    }
    parts.join(", ")
}

fn of_wall(wall: &Value) -> String {
    let mut parts = at_wall(wall);
    if let Some(mean) = wall.get("mean") {
        parts.push(format!("means {}", at_wall(mean).join(", ")));
    }
    parts.join(", ")
}

fn at_wall(wall: &Value) -> Vec<String> {
    let mut parts = some(wall, &["cp_min", "cp_max", "cf_max", "y_plus_max"]);
    for turn in ["separation", "attachment"] {
        let points = wall.get(turn).and_then(Value::as_object).into_iter().flatten();
        let shown: Vec<String> = points
            .filter_map(|(_, point)| Some((point.get("x")?.as_f64()?, point.get("y")?.as_f64()?)))
            .map(|(x, y)| format!("({x:.5}, {y:.5})"))
            .collect();
        if !shown.is_empty() {
            parts.push(format!("{turn} at {}", shown.join(", ")));
        }
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn each_monitor_has_its_line() {
        let summary = json!({
            "integral": { "rho": 4.0, "strange": null },
            "forces": { "body": {
                "cd": 1.5, "cl": -0.25, "cs": 0.0, "cm": 0.0, "cd_pressure": 1.0,
                "mean": { "cd": 1.25, "cl": 0.0 }, "amplitude": { "cd": 0.5, "cl": 2.0 },
                "strouhal": 0.164, "strouhal_resolution": 0.01,
            } },
            "wall": { "body": { "cp_min": -1.0, "cp_max": 1.0, "cf_max": 0.5,
                "separation": { "0": { "x": 0.5, "y": 0.25 }, "count": 1 }, "attachment": { "count": 0 } } },
            "recirculation": { "length": 2.5, "length-2": null },
            "flow_rate": { "mean": 1.0, "force": 0.5 },
            "history": { "rho": { "decay": 0.25, "decay_time": 3.0 } },
            "probe": { "p": { "0": 1.0, "1": 0.5, "difference": 0.5 } },
            "probe-2": { "u": { "0": 1.0, "1": 2.0, "2": 3.0, "3": 4.0, "4": 5.0 } },
            "sample": { "u": { "min": 0.0, "max": 1.0, "mean": 0.5 } },
        });
        let lines = lines(summary.as_object().unwrap());
        assert_eq!(
            lines,
            [
                "integral    rho = 4, strange is not finite",
                "flow rate   force = 0.5, mean = 1",
                "probe       p at 0 = 1, p at 1 = 0.5, difference = 0.5",
                "probe-2     u at 0 = 1, u at 1 = 2, u at 2 = 3, u at 3 = 4, 1 more in monitors/probe-2.csv",
                "sample      u: min = 0, max = 1, mean = 0.5",
                "history     rho: decay = 0.25, decay_time = 3",
                "wall        body: cp_min = -1, cp_max = 1, cf_max = 0.5, \
                 separation at (0.50000, 0.25000)",
                "wake        length = 2.5",
                "wake        length-2: no reversed flow",
                "forces      body: cd = 1.5, cl = -0.25, cs = 0, cm = 0, \
                 means cd = 1.25, cl = 0, amplitudes cd = 0.5, cl = 2, \
                 Strouhal number 0.16400 with a resolution of 1.0e-2",
            ]
        );
        assert!(super::lines(&Map::new()).is_empty());
    }
}
