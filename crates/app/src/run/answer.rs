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
    let mut parts = some(wall, &["cp_min", "cp_max", "cf_max"]);
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
    parts.join(", ")
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
        });
        let lines = lines(summary.as_object().unwrap());
        assert_eq!(
            lines,
            [
                "integral    rho = 4, strange is not finite",
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
