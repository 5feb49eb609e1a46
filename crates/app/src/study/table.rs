//! The table of a study: errors against mesh size or another key, with their rates.

use std::fmt;

use serde_json::{Map, Value, json};

use crate::file::number::grouped;
use crate::pipeline::study::{RateIn, StudySpec};
use crate::run::summary::number_at;
use dgsuite_output::writer::plot::{Chart, Curve};
use dgsuite_solve::RankMesh;

/// The value of an axis in a case.
#[derive(Clone, Debug, PartialEq)]
pub struct Label {
    /// The axis.
    pub name: String,
    /// The value as written.
    pub text: String,
    /// The value, if it is a number or an expression.
    pub number: Option<f64>,
}

impl fmt::Display for Label {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} = {}", self.name, self.text)
    }
}

/// One case of a study.
#[derive(Clone, Debug)]
pub struct Row {
    /// The value of each axis.
    pub label: Vec<Label>,
    /// Polynomial order.
    pub order: usize,
    /// Number of uniform refinements.
    pub refine: usize,
    /// Number of elements.
    pub elements: usize,
    /// Number of unknowns.
    pub dofs: usize,
    /// Mesh size: the edge length of a cube with the mean volume of the elements.
    pub h: f64,
    /// The summary of the case.
    pub summary: Value,
    /// Rates relative to the previous case of the same family, `{norm: {field: rate}}`.
    pub rate: Value,
}

/// The rows of a study.
#[derive(Clone, Debug)]
pub struct Table {
    axes: Vec<String>,
    /// Axes along which errors decrease; rows that agree in all other axes are a family.
    refining: Vec<bool>,
    rate_key: Option<usize>,
    /// Further values of the summary, each with an optional reference value.
    values: Vec<(String, Option<f64>)>,
    rows: Vec<Row>,
}

/// Keys that change the size of the elements but neither their shape nor their geometry.
const REFINING: [&str; 4] = ["mesh.refine", "mesh.file", "mesh.generate.cells", "mesh.generate"];

/// Number of cases of a family over which the slope for a rate check is computed.
const SLOPE_CASES: usize = 3;

impl Row {
    /// Makes the row of a case that was run.
    pub fn new(label: Vec<Label>, order: usize, (mesh, refine): (&RankMesh, usize), summary: &Value) -> Self {
        let elements = mesh.n_elements();
        let dofs = summary.pointer("/space/dofs").and_then(Value::as_u64).unwrap_or(0);
        // Rank 0, which has the whole mesh, writes the table.
        let whole = Some(mesh.seen()).filter(|_| !mesh.is_part());
        let volume = whole.map_or(f64::NAN, |mesh| dgsuite_mesh::quality::statistics(mesh).volume);
        let h = (volume / elements.max(1) as f64).powf(1.0 / mesh.dim() as f64);
        Self {
            label,
            order,
            refine,
            elements,
            dofs: dofs as usize,
            h,
            summary: summary.clone(),
            rate: json!({}),
        }
    }

    fn error(&self, norm: &str, field: &str) -> Option<f64> {
        self.summary.get("error")?.get(norm)?.get(field)?.as_f64()
    }

    /// The conserved variables among the fields with errors.
    fn conserved(&self) -> Vec<String> {
        let conserved = self.summary.get("conservation").and_then(Value::as_object);
        self.fields().into_iter().filter(|f| conserved.is_none_or(|c| c.contains_key(f))).collect()
    }

    /// The norms with errors: L1, L2 and Linf, and the energy norm of elliptic problems.
    fn norms(&self) -> Vec<String> {
        let error = self.summary.get("error").and_then(Value::as_object);
        error.map_or_else(Vec::new, |norms| norms.keys().cloned().collect())
    }

    fn fields(&self) -> Vec<String> {
        let l2 = self.summary.pointer("/error/l2").and_then(Value::as_object);
        l2.map_or_else(Vec::new, |fields| fields.keys().cloned().collect())
    }
}

impl Table {
    /// An empty table for a study.
    pub fn new(spec: &StudySpec) -> Self {
        let rate_key = match &spec.rate_in {
            RateIn::H => None,
            RateIn::Key(key) => spec.axes.iter().position(|a| a.path == key.value),
        };
        let refining = spec.axes.iter().enumerate().map(|(i, axis)| match rate_key {
            Some(key) => key == i,
            None => REFINING.contains(&axis.path.as_str()),
        });
        Self {
            axes: spec.axes.iter().map(|a| a.name.clone()).collect(),
            refining: refining.collect(),
            rate_key,
            values: spec.values.iter().map(|(path, reference)| (path.value.clone(), *reference)).collect(),
            rows: Vec::new(),
        }
    }

    /// Adds a row and its rates relative to the last row of its family.
    pub fn push(&mut self, mut row: Row) {
        if let Some(before) = self.rows.iter().rev().find(|other| self.same_family(other, &row)) {
            row.rate = self.rates(&[before.clone(), row.clone()]);
        }
        self.rows.push(row);
    }

    fn same_family(&self, a: &Row, b: &Row) -> bool {
        let fixed = |i: &usize| !self.refining[*i];
        (0..self.axes.len()).filter(fixed).all(|i| a.label[i] == b.label[i])
    }

    /// Returns the rows that agree in all keys but the refining ones, in order.
    pub fn families(&self) -> Vec<Vec<&Row>> {
        let mut families: Vec<Vec<&Row>> = Vec::new();
        for row in &self.rows {
            match families.iter_mut().find(|family| self.same_family(family[0], row)) {
                Some(family) => family.push(row),
                None => families.push(vec![row]),
            }
        }
        families
    }

    /// Describes the common keys of the rows of a family, in words.
    pub fn family_label(&self, row: &Row) -> String {
        let fixed = (0..self.axes.len()).filter(|&i| !self.refining[i]);
        fixed.map(|i| row.label[i].to_string()).collect::<Vec<_>>().join(", ")
    }

    /// Returns the slopes over the last three rows of a family, as `{rate: {norm: {field: slope}}}`.
    pub fn slopes(&self, family: &[&Row]) -> Value {
        let last: Vec<Row> = family.iter().rev().take(SLOPE_CASES).rev().map(|row| (*row).clone()).collect();
        json!({ "rate": self.rates(&last) })
    }

    /// Least-squares slopes of log(error) over log(size), for each norm and field.
    fn rates(&self, rows: &[Row]) -> Value {
        let sizes: Option<Vec<f64>> = rows.iter().map(|row| self.size(row)).collect();
        let (Some(sizes), Some(first)) = (sizes, rows.first()) else { return json!({}) };
        let mut norms = Map::new();
        for norm in first.norms() {
            let mut fields = Map::new();
            for field in first.fields() {
                let errors: Option<Vec<f64>> = rows.iter().map(|row| row.error(&norm, &field)).collect();
                if let Some(slope) = errors.and_then(|errors| slope(&sizes, &errors)) {
                    fields.insert(field, json!(slope));
                }
            }
            norms.insert(norm, Value::Object(fields));
        }
        Value::Object(norms)
    }

    /// Charts the L2 error of the first conserved variable over the size that rates refer to, one curve for
    /// each family.
    pub fn chart(&self) -> Chart {
        let field = self.rows.first().and_then(|row| row.conserved().into_iter().next()).unwrap_or_default();
        let refined = self.families().into_iter().filter(|family| family.len() > 1);
        let curves = refined.map(|family| Curve {
            name: family.first().map_or_else(String::new, |row| self.family_label(row)),
            points: (family.iter())
                .filter_map(|row| Some((self.size(row)?, row.error("l2", &field)?)))
                .collect(),
            marks: true,
            alone: false,
        });
        Chart {
            title: "convergence".to_owned(),
            x: self.rate_key.map_or_else(|| "h".to_owned(), |key| self.axes[key].clone()),
            y: format!("L2 error of {field}"),
            log_x: true,
            log_y: true,
            curves: curves.collect(),
            ..Chart::default()
        }
    }

    fn size(&self, row: &Row) -> Option<f64> {
        match self.rate_key {
            None => Some(row.h),
            Some(key) => row.label[key].number,
        }
    }

    /// The cases that were run.
    pub fn rows(&self) -> &[Row] {
        &self.rows
    }

    /// The table as in the summary.
    pub fn to_json(&self) -> Value {
        let rows = self.rows.iter().map(|row| {
            let mut object = Map::new();
            for label in &row.label {
                let number = label.number.map(|x| if x.fract() == 0.0 { json!(x as i64) } else { json!(x) });
                object.insert(label.name.clone(), number.unwrap_or_else(|| json!(label.text)));
            }
            object.entry("order").or_insert_with(|| json!(row.order));
            object.entry("refine").or_insert_with(|| json!(row.refine));
            object.insert("elements".into(), json!(row.elements));
            object.insert("dofs".into(), json!(row.dofs));
            object.insert("h".into(), json!(row.h));
            object.insert("error".into(), row.summary.get("error").cloned().unwrap_or_else(|| json!({})));
            object.insert("rate".into(), row.rate.clone());
            object.insert(
                "conservation".into(),
                row.summary.get("conservation").cloned().unwrap_or(Value::Null),
            );
            if !self.values.is_empty() {
                let values = self.values.iter();
                let values: Map<String, Value> =
                    values.map(|(path, _)| (path.clone(), json!(number_at(&row.summary, path)))).collect();
                object.insert("values".into(), Value::Object(values));
            }
            Value::Object(object)
        });
        Value::Array(rows.collect())
    }
}

/// The least-squares slope of `ln e` over `ln h`; `None` without two different sizes or if an error has no
/// logarithm.
fn slope(h: &[f64], e: &[f64]) -> Option<f64> {
    let logs = |values: &[f64]| -> Option<Vec<f64>> {
        values.iter().map(|&x| (x > 0.0 && x.is_finite()).then(|| x.ln())).collect()
    };
    let (x, y) = (logs(h)?, logs(e)?);
    let n = x.len() as f64;
    let (mean_x, mean_y) = (x.iter().sum::<f64>() / n, y.iter().sum::<f64>() / n);
    let spread: f64 = x.iter().map(|a| (a - mean_x).powi(2)).sum();
    let joint: f64 = x.iter().zip(&y).map(|(a, b)| (a - mean_x) * (b - mean_y)).sum();
    (spread > 1e-20).then(|| joint / spread)
}

/// Formats a value of the summary: counts without decimals, others with five digits after the point, or with
/// an exponent where these digits would not suffice.
fn shown(value: Option<f64>) -> String {
    match value {
        None => "-".into(),
        Some(x) if x.fract() == 0.0 && x.abs() < 1e15 => format!("{x:.0}"),
        Some(x) if x.abs() < 1e-2 => format!("{x:.3e}"),
        Some(x) => format!("{x:.5}"),
    }
}

impl fmt::Display for Table {
    /// Shows the conserved variables in L2, with the rate beside each error. A column is as wide as its
    /// widest entry.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(first) = self.rows.first() else { return write!(f, "no case was run") };
        let fields = first.conserved();
        let mut lines: Vec<Vec<String>> = Vec::new();
        let mut head: Vec<String> = self.axes.clone();
        head.extend(["elements", "dofs", "h"].map(str::to_owned));
        let norms: &[&str] =
            if first.norms().iter().any(|n| n == "energy") { &["l2", "energy"] } else { &["l2"] };
        for field in &fields {
            for norm in norms {
                let word = if *norm == "l2" { "L2" } else { norm };
                head.extend([format!("{word} {field}"), "rate".to_owned()]);
            }
        }
        head.extend(self.values.iter().map(|(path, _)| path.clone()));
        lines.push(head);
        for row in &self.rows {
            let mut line: Vec<String> = row.label.iter().map(|label| label.text.clone()).collect();
            line.extend([grouped(row.elements), grouped(row.dofs), format!("{:.4e}", row.h)]);
            for (field, norm) in fields.iter().flat_map(|field| norms.iter().map(move |norm| (field, norm))) {
                let rate = row.rate.get(*norm).and_then(|r| r.get(field)).and_then(Value::as_f64);
                line.push(row.error(norm, field).map_or("-".into(), |e| format!("{e:.3e}")));
                line.push(rate.map_or("-".into(), |r| format!("{r:.2}")));
            }
            line.extend(self.values.iter().map(|(path, _)| shown(number_at(&row.summary, path))));
            lines.push(line);
        }
        if self.values.iter().any(|(_, reference)| reference.is_some()) {
            let mut line = vec![String::new(); lines[0].len() - self.values.len()];
            line[0] = "reference".to_owned();
            let shown = |x: Option<f64>| x.map_or(String::new(), |x| format!("{x}"));
            line.extend(self.values.iter().map(|(_, reference)| shown(*reference)));
            lines.push(line);
        }
        let widths: Vec<usize> = (0..lines[0].len())
            .map(|c| lines.iter().map(|line| line[c].chars().count()).max().unwrap_or(0))
            .collect();
        for (i, line) in lines.iter().enumerate() {
            let cells: Vec<String> =
                line.iter().zip(&widths).map(|(cell, &w)| format!("{cell:>w$}")).collect();
            let end = if i + 1 < lines.len() { "\n" } else { "" };
            write!(f, "{}{end}", cells.join("  "))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::file::source::Source;
    use crate::pipeline::Document;
    use std::path::Path;

    fn spec(study: &str) -> StudySpec {
        let text = format!(
            "mesh: {{ file: a.msh }}\nphysics: {{ model: euler }}\ntime: {{ end: 1 }}\nstudy: {study}\n"
        );
        let source = Source::new("case.yaml", text);
        let document = Document::parse(&source, Path::new("."), "case", false, &[]).unwrap();
        document.pipeline().unwrap().study.unwrap()
    }

    fn row(label: &[(&str, &str)], h: f64, error: f64) -> Row {
        Row {
            label: label
                .iter()
                .map(|(name, text)| Label {
                    name: (*name).to_owned(),
                    text: (*text).to_owned(),
                    number: text.parse().ok(),
                })
                .collect(),
            order: 2,
            refine: 0,
            elements: 8,
            dofs: 24,
            h,
            summary: json!({ "error": { "l1": { "rho": error }, "l2": { "rho": error }, "linf": { "rho": error } } }),
            rate: json!({}),
        }
    }

    #[test]
    fn rates_are_taken_within_a_family() {
        let mut table = Table::new(&spec("{ order: [1, 2], refine: [0, 1, 2] }"));
        for p in ["1", "2"] {
            let order: i32 = p.parse::<i32>().unwrap() + 1;
            for (r, h) in [("0", 1.0), ("1", 0.5), ("2", 0.25)] {
                table.push(row(&[("order", p), ("refine", r)], h, 3.0 * f64::powi(h, order)));
            }
        }
        let json = table.to_json();
        assert_eq!(json[0]["rate"], json!({}));
        assert!((json[1]["rate"]["l2"]["rho"].as_f64().unwrap() - 2.0).abs() < 1e-12);
        assert_eq!(json[3]["rate"], json!({}), "the first row of the second family has no rate");
        assert_eq!(json[5]["order"], json!(2));
        let families = table.families();
        assert_eq!(families.len(), 2);
        let slope = table.slopes(&families[1])["rate"]["l2"]["rho"].as_f64().unwrap();
        assert!((slope - 3.0).abs() < 1e-12);
        assert_eq!(table.to_string().lines().count(), 7);
    }

    #[test]
    fn shapes_are_families_of_their_own() {
        let mut table = Table::new(&spec("{ mesh.generate.shape: [tri, quad], refine: [0, 1] }"));
        for shape in ["tri", "quad"] {
            for (r, h) in [("0", 1.0), ("1", 0.5)] {
                table.push(row(&[("mesh.generate.shape", shape), ("refine", r)], h, h * h));
            }
        }
        assert_eq!(table.families().len(), 2);
        assert_eq!(table.to_json()[2]["rate"], json!({}), "a quadrilateral is no finer triangle");
    }

    #[test]
    fn rates_may_be_taken_in_any_key() {
        let mut table = Table::new(&spec("{ time.dt: [1e-2, 5e-3], rate_in: time.dt }"));
        for (text, dt) in [("0.01", 0.01), ("0.005", 0.005)] {
            table.push(row(&[("time.dt", text)], 1.0, f64::powi(dt, 4)));
        }
        assert!((table.to_json()[1]["rate"]["l1"]["rho"].as_f64().unwrap() - 4.0).abs() < 1e-12);
    }

    #[test]
    fn further_values_stand_beside_what_they_are_compared_with() {
        let mut table =
            Table::new(&spec("{ order: [1, 2], values: { forces.body.cd: 1.553, time.steps: } }"));
        for (p, cd) in [("1", 1.5), ("2", 1.55)] {
            let mut row = row(&[("order", p)], 1.0, 0.1);
            row.summary = json!({ "forces": { "body": { "cd": cd } }, "time": { "steps": 7 } });
            table.push(row);
        }
        let text = table.to_string();
        let last: Vec<&str> = text.lines().last().unwrap().split_whitespace().collect();
        assert_eq!(last, ["reference", "1.553"]);
        let second: Vec<&str> = text.lines().nth(2).unwrap().split_whitespace().collect();
        assert_eq!(second[second.len() - 2..], ["1.55000", "7"], "{text}");
        assert_eq!(table.to_json()[1]["values"]["forces.body.cd"], json!(1.55));
    }

    #[test]
    fn no_slope_without_two_sizes_or_with_a_zero_error() {
        assert_eq!(slope(&[1.0, 1.0], &[1.0, 2.0]), None);
        assert_eq!(slope(&[1.0, 0.5], &[1.0, 0.0]), None);
        assert_eq!(slope(&[1.0], &[1.0]), None);
    }
}
