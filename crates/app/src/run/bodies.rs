//! Monitors of flows around bodies: rows of tables and entries of the summary from boundary points.

use std::fmt::Write as _;
use std::path::Path;

use serde_json::{Map, Value, json};

use super::error::RunError;
use crate::plan::ForcesJob;
use dgsuite_output::writer::csv::Columns;
use dgsuite_solve::flow::Flow;
use dgsuite_solve::post::forces::{Forces, Scales};
use dgsuite_solve::post::history::{Series, largest_decay};
use dgsuite_solve::post::wall::{self, Curves};
use dgsuite_solve::post::{Surface, line, spectrum};

/// Returns the points of all boundaries of a job, as one surface.
fn surface(solver: &Flow, job: &ForcesJob) -> Result<Surface, RunError> {
    let mut all = Surface { first: vec![0], ..Surface::default() };
    for name in &job.boundaries {
        all.append(solver.surface(name)?);
    }
    Ok(all)
}

/// Returns the row of a table of forces, and the entry of the summary.
///
/// # Errors
/// The errors of the solver.
pub fn forces(solver: &Flow, job: &ForcesJob) -> Result<(Vec<f64>, Value), RunError> {
    let forces = Forces::of(&surface(solver, job)?, &job.scales);
    let named = forces.coefficients(&job.scales).named();
    let mut row: Vec<f64> = named.iter().map(|(_, x)| *x).collect();
    row.extend(forces.pressure.into_iter().chain(forces.viscous).chain(forces.moment()));
    row.push(forces.heat);
    let mut summary: Map<String, Value> =
        named.iter().map(|(name, x)| ((*name).to_owned(), json!(x))).collect();
    summary.insert("force".into(), json!(forces.total()));
    summary.insert("pressure_force".into(), json!(forces.pressure));
    summary.insert("viscous_force".into(), json!(forces.viscous));
    summary.insert("moment".into(), json!(forces.moment()));
    summary.insert("heat".into(), json!(forces.heat));
    summary.insert("wetted_area".into(), json!(forces.area));
    Ok((row, Value::Object(summary)))
}

/// Returns the curves along a wall, and the entry of the summary.
///
/// # Errors
/// The errors of the solver.
pub fn wall(solver: &Flow, job: &ForcesJob) -> Result<(Curves, Value), RunError> {
    let dim = solver.dim();
    let curves = wall::curves(&surface(solver, job)?, &job.scales, dim);
    let [cp_min, cp_max, _, cf_max] = extremes(&curves);
    let mut summary = json!({ "cp_min": cp_min, "cp_max": cp_max, "cf_max": cf_max });
    if let (2, Value::Object(map)) = (dim, &mut summary) {
        let turns = wall::turns(&curves);
        for (name, separation) in [("separation", true), ("attachment", false)] {
            let points = turns.iter().filter(|turn| turn.separation == separation).map(|turn| turn.point);
            let mut places: Map<String, Value> =
                points.enumerate().map(|(i, x)| (i.to_string(), json!({ "x": x[0], "y": x[1] }))).collect();
            places.insert("count".into(), json!(places.len()));
            map.insert(name.into(), Value::Object(places));
        }
    }
    Ok((curves, summary))
}

/// Returns the smallest and largest pressure and friction coefficients.
#[must_use]
pub fn extremes(curves: &Curves) -> [f64; 4] {
    let least = |x: &[f64]| x.iter().copied().fold(f64::INFINITY, f64::min);
    let most = |x: &[f64]| x.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    [least(&curves.cp), most(&curves.cp), least(&curves.cf), most(&curves.cf)]
}

/// Returns the curves as a table, a row for each point.
#[must_use]
pub fn table(curves: &Curves) -> String {
    let mut text = "s,x,y,z,cp,cf,p,stress_x,stress_y,stress_z,heat\n".to_owned();
    for i in 0..curves.points.len() {
        let ([x, y, z], [a, b, c]) = (curves.points[i], curves.stress[i]);
        let row = [curves.arc[i], x, y, z, curves.cp[i], curves.cf[i], curves.p[i], a, b, c, curves.heat[i]];
        let row: Vec<String> = row.iter().map(|x| format!("{x:?}")).collect();
        let _ = writeln!(text, "{}", row.join(","));
    }
    text
}

/// Returns the length of a recirculation region along a line; `None` if the flow does not reverse.
pub fn recirculation(
    solver: &Flow,
    s: &[f64],
    places: &[Option<(usize, [f64; 3])>],
    along: [f64; 3],
) -> Option<f64> {
    let dim = solver.dim();
    let first = solver.primitives().iter().position(|name| *name == "u")?;
    let speed = |values: Option<Vec<f64>>| {
        values.map(|w| (0..dim).map(|d| w.get(first + d).copied().unwrap_or(0.0) * along[d]).sum::<f64>())
    };
    let (s, u): (Vec<f64>, Vec<f64>) =
        s.iter().zip(solver.evaluate_in(places)).filter_map(|(&s, w)| Some((s, speed(w)?))).unzip();
    line::end_of_reversed_flow(&s, &u)
}

/// Returns means, deviations, amplitudes, extremes and the frequency of lift from a table of forces, starting
/// at a given time.
///
/// # Errors
/// [`RunError::Writer`].
pub fn history(path: &Path, from: f64, scales: &Scales) -> Result<Map<String, Value>, RunError> {
    let table = Columns::read(path)?;
    let column = |name: &str| table.column(name).unwrap_or_default();
    let (mut t, mut cd, mut cl) = (Vec::new(), Vec::new(), Vec::new());
    for ((&time, &drag), &lift) in column("time").iter().zip(column("cd")).zip(column("cl")) {
        if time >= from {
            t.push(time);
            cd.push(drag);
            cl.push(lift);
        }
    }
    let mut summary = Map::new();
    if let (Some(drag), Some(lift)) =
        (spectrum::mean_and_amplitude(&t, &cd), spectrum::mean_and_amplitude(&t, &cl))
    {
        summary.insert("from".into(), json!(t[0]));
        summary.insert("mean".into(), json!({ "cd": drag.0, "cl": lift.0 }));
        let deviation = |x: &[f64], mean| spectrum::deviation(&t, x, mean);
        summary.insert(
            "deviation".into(),
            json!({ "cd": deviation(&cd, drag.0), "cl": deviation(&cl, lift.0) }),
        );
        summary.insert("amplitude".into(), json!({ "cd": drag.1, "cl": lift.1 }));
        let least = |x: &[f64]| x.iter().copied().fold(f64::INFINITY, f64::min);
        let most = |x: &[f64]| x.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        summary.insert("min".into(), json!({ "cd": least(&cd), "cl": least(&cl) }));
        summary.insert("max".into(), json!({ "cd": most(&cd), "cl": most(&cl) }));
    }
    if let Some(peak) = spectrum::dominant(&t, &cl) {
        let strouhal = scales.length / scales.speed;
        summary.insert("strouhal".into(), json!(peak.frequency * strouhal));
        summary.insert("strouhal_resolution".into(), json!(peak.resolution * strouhal));
    }
    Ok(summary)
}

/// Returns by how much each norm in a table grows: its largest value in the last quarter of the run's time
/// over that in the quarter before; nothing where one of them has no rows.
///
/// # Errors
/// [`RunError::Writer`].
pub fn growth(path: &Path) -> Result<Map<String, Value>, RunError> {
    let table = Columns::read(path)?;
    let t = table.column("time").unwrap_or_default();
    let [first, last] = [t.first(), t.last()].map(|t| t.copied().unwrap_or_default());
    let quarters: Vec<f64> = t.iter().map(|t| 4.0 * (t - first) / (last - first)).collect();
    let mut all = Map::new();
    // The norms follow step and time.
    for (name, x) in table.names.iter().zip(&table.values).skip(2) {
        let largest = |from: f64, to: f64| {
            let within = quarters.iter().zip(x).filter(|(q, _)| (from..to).contains(*q));
            within.map(|(_, x)| *x).reduce(f64::max)
        };
        if let (Some(before), Some(after)) = (largest(2.0, 3.0), largest(3.0, f64::INFINITY)) {
            all.insert(name.clone(), json!(after / before));
        }
    }
    Ok(all)
}

/// Returns the largest rate of decay of each integral in a table, and its largest deviation from the
/// reference.
///
/// # Errors
/// [`RunError::Writer`].
pub fn decays(
    path: &Path,
    names: &[String],
    references: &[Option<Series>],
) -> Result<Map<String, Value>, RunError> {
    let table = Columns::read(path)?;
    let t = table.column("time").unwrap_or_default();
    let mut all = Map::new();
    // The columns of integrals follow step and time.
    for ((name, reference), x) in names.iter().zip(references).zip(table.values.iter().skip(2)) {
        let mut summary = Map::new();
        if let Some(decay) = largest_decay(t, x) {
            summary.insert("decay".into(), json!(decay.rate));
            summary.insert("decay_time".into(), json!(decay.time));
        }
        if let Some(far) = reference.as_ref().and_then(|reference| reference.deviation(t, x)) {
            summary.insert("deviation".into(), json!(far));
        }
        all.insert(name.clone(), Value::Object(summary));
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn norms_grow_by_the_largest_values_of_the_last_two_quarters() {
        let directory = tempfile::tempdir().unwrap();
        let growth = |rows: &[[f64; 2]]| {
            let path = directory.path().join("divergence.csv");
            let text: String = rows.iter().map(|[t, x]| format!("0,{t},{x},1\n")).collect();
            std::fs::write(&path, format!("step,time,l2,jumps\n{text}")).unwrap();
            growth(&path).unwrap()
        };
        // From t = 10 to 18: the third quarter begins at 14, the last one at 16.
        let all = growth(&[[10.0, 9.0], [13.9, 9.0], [14.0, 2.0], [15.9, 4.0], [16.0, 5.0], [18.0, 6.0]]);
        assert_eq!(all["l2"], 1.5);
        assert_eq!(all["jumps"], 1.0);
        assert!(growth(&[[0.0, 1.0], [1.0, 1.0]]).is_empty() && growth(&[[0.0, 1.0]]).is_empty());
    }
}
