//! `report.html`: a run as one page for any browser, with its pictures and curves inside of it.
//!
//! Results come first, in words, then the checks, and set-up, mesh and conditions beside the picture.
//! The page is made of what the run has written: `summary.json`, `log.txt`, `pipeline.yaml`, the tables of
//! the monitors and the fields. It needs no other file and no network, follows the reader's choice of light
//! or dark, and fits a phone and paper.

mod results;

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use base64::{Engine, engine::general_purpose::STANDARD};
use serde_json::{Map, Value};

use crate::monitors::{self, charts};
use crate::plan::print;
use dgsuite_output::escape::xml as escape;
use dgsuite_output::picture::{Picture, Run};
use dgsuite_output::writer::csv::Columns;

/// Why there is no page.
#[derive(Debug, thiserror::Error)]
pub enum HtmlError {
    /// The folder has no results.
    #[error("{} has no results to report: {}", path.display(), if path.is_dir() {
        "it needs summary.json, which `dgsuite run` writes"
    } else {
        "there is no such folder; give the folder of results of a run, such as out/vortex"
    })]
    NoRun {
        /// The folder.
        path: PathBuf,
    },
    /// The summary is not JSON.
    #[error("{} cannot be read: {what}; run the pipeline again to write it anew", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        what: String,
    },
}

/// Fields that are drawn, if the run has them, after the most telling one.
const FIELDS: [&str; 5] = ["Density", "Pressure", "Velocity", "Vorticity", "Temperature"];
/// Largest number of pictures of fields.
const MOST_PICTURES: usize = 4;
/// Rows of the table of results that are seen at once.
const FIRST_ROWS: usize = 16;
/// Largest number of rows of a list of numbers.
const MOST_ROWS: usize = 60;

/// Returns the page of the run in a folder of results. What cannot be drawn is left out, with the reason.
///
/// # Errors
/// [`HtmlError`] if the folder has no summary.
pub fn page(folder: &Path) -> Result<String, HtmlError> {
    let path = folder.join("summary.json");
    let text = fs::read_to_string(&path).map_err(|_| HtmlError::NoRun { path: folder.to_owned() })?;
    let summary: Value = serde_json::from_str(&text)
        .map_err(|error| HtmlError::Damaged { path: path.clone(), what: error.to_string() })?;
    let title = summary["title"].as_str().filter(|title| !title.is_empty()).unwrap_or("A run");
    let mut out = format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>{}</title>\n\
         <style>\n{}</style>\n</head>\n<body>\n",
        escape(title),
        include_str!("style.css")
    );
    head(&mut out, &summary, title);
    show_results(&mut out, &summary, folder);
    checks(&mut out, &summary);
    out.push_str("<h2>Set-up and fields</h2>\n<div class=\"beside\">\n<div>\n");
    let rest = fields(&mut out, folder);
    out.push_str("</div>\n<div>\n");
    set_up(&mut out, &summary, folder);
    out.push_str("</div>\n</div>\n");
    out.push_str(&rest);
    curves(&mut out, &summary, folder);
    timings(&mut out, &summary);
    environment(&mut out, &summary);
    reproduce(&mut out, &summary, folder);
    out.push_str("</body>\n</html>\n");
    Ok(out)
}

/// Title, status and checks.
fn head(out: &mut String, summary: &Value, title: &str) {
    let status = summary["status"].as_str().unwrap_or("unknown");
    let class = if status == "ok" { "good" } else { "bad" };
    let _ = writeln!(out, "<h1>{}</h1>", escape(title));
    let _ = writeln!(out, "<p><span class=\"status {class}\">{}</span></p>", escape(status));
    let mut under = Vec::new();
    if let Some(model) = summary["model"].as_str() {
        under.push(model.to_owned());
    }
    if let Some(order) = summary["space"]["order"].as_u64() {
        under.push(format!("order {order}"));
    }
    if let Some(dofs) = summary["space"]["dofs"].as_u64() {
        under.push(format!("{} unknowns", grouped(dofs)));
    }
    if let (Some(steps), Some(end)) = (summary["time"]["steps"].as_u64(), summary["time"]["end"].as_f64()) {
        let local = summary["time"]["local_steps"] == true;
        let reached = if local { String::new() } else { format!(" to t = {}", number(end)) };
        under.push(format!("{} {}steps{reached}", grouped(steps), if local { "local " } else { "" }));
    }
    let _ = writeln!(out, "<p class=\"under\">{}</p>", escape(&under.join(", ")));
    if let Some(date) = summary["date"].as_str() {
        let _ = writeln!(out, "<p class=\"under\">Started {} {}</p>", escape(date), escape(&place(summary)));
    }
    if let Some(message) = summary["failure"]["message"].as_str().or(summary["failure"].as_str()) {
        let _ = writeln!(out, "<p class=\"bad\">{}</p>", escape(message));
    }
}

/// The machine in words: host, processor and threads, or the GPU.
fn place(summary: &Value) -> String {
    let text = |value: &Value| value.as_str().filter(|text| !text.is_empty()).map(str::to_owned);
    let threads = summary["threads"].as_u64().map(|n| print::threads(n as usize));
    let ranks = summary["ranks"].as_u64().filter(|n| *n > 1).map(|n| format!("{n} ranks"));
    let on = text(&summary["device_name"]).or_else(|| text(&summary["machine"]["cpu"]));
    let all: Vec<String> = [on, threads, ranks].into_iter().flatten().collect();
    let host = text(&summary["machine"]["host"]).map_or_else(String::new, |host| format!("on {host}: "));
    format!("{host}{}", all.join(", "))
}

/// The checks of the file.
fn checks(out: &mut String, summary: &Value) {
    let checks = summary["checks"].as_array().map(Vec::as_slice).unwrap_or_default();
    if checks.is_empty() {
        out.push_str("<p>The file states no checks.</p>\n");
        return;
    }
    out.push_str("<h2>Checks</h2>\n");
    out.push_str(
        "<div class=\"wide\"><table><tr><th>check</th><th>limit</th><th>measured</th><th></th></tr>\n",
    );
    for check in checks {
        let passed = check["passed"].as_bool().unwrap_or(false);
        let (class, word) = if passed { ("good", "✓ passed") } else { ("bad", "✗ failed") };
        let _ = writeln!(
            out,
            "<tr><td>{}</td><td>{}</td><td class=\"number\">{}</td><td class=\"{class}\">{word}</td></tr>",
            escape(&words(&check["value"])),
            escape(&words(&check["limit"])),
            escape(&words(&check["measured"])),
        );
    }
    out.push_str("</table></div>\n");
}

/// Numbers of the summary that are results, in words.
fn show_results(out: &mut String, summary: &Value, folder: &Path) {
    if let Some(cases) = summary["table"].as_array().filter(|cases| !cases.is_empty()) {
        out.push_str("<h2>Cases</h2>\n");
        cases_table(out, cases);
    }
    let [rows, details] = results::rows(summary, folder);
    if rows.is_empty() && details.is_empty() {
        return;
    }
    out.push_str("<h2>Results</h2>\n");
    let table = |out: &mut String, rows: &[(String, String)]| {
        out.push_str("<div class=\"wide\"><table>\n");
        for (name, value) in rows {
            let _ = writeln!(
                out,
                "<tr><td>{}</td><td class=\"number\">{}</td></tr>",
                escape(name),
                escape(value)
            );
        }
        out.push_str("</table></div>\n");
    };
    let (first, more) = rows.split_at(rows.len().min(FIRST_ROWS));
    if !first.is_empty() {
        table(out, first);
    }
    let rest: Vec<(String, String)> = more.iter().chain(&details).take(MOST_ROWS).cloned().collect();
    if !rest.is_empty() {
        let _ = writeln!(out, "<details><summary>{} more</summary>", rest.len());
        table(out, &rest);
        out.push_str("</details>\n");
    }
    let _ = writeln!(out, "<p class=\"under\">{}</p>", escape(&units(summary)));
}

/// What the numbers are measured in.
fn units(summary: &Value) -> String {
    let mut text =
        "Numbers are in the units of the set-up and of the mesh; the program knows none. Coefficients, \
                    Strouhal and Mach numbers have no unit."
            .to_owned();
    let reference = &summary["reference"];
    if let (Some(length), Some(speed)) = (reference["L_ref"].as_f64(), reference["speed_ref"].as_f64()) {
        let _ = write!(
            text,
            " The reference has the length {}, the speed {} and the time {}.",
            number(length),
            number(speed),
            number(length / speed)
        );
    }
    text
}

/// The cases of a study: one row each, with the columns of the first.
fn cases_table(out: &mut String, cases: &[Value]) {
    let flat = |case: &Value| {
        let mut rows = Vec::new();
        flatten("", case, &mut rows);
        rows
    };
    let names: Vec<String> = flat(&cases[cases.len() - 1]).into_iter().map(|(name, _)| name).collect();
    out.push_str("<div class=\"wide\"><table><tr>");
    for name in &names {
        let _ = write!(out, "<th>{}</th>", escape(name));
    }
    out.push_str("</tr>\n");
    for case in cases {
        let rows = flat(case);
        out.push_str("<tr>");
        for name in &names {
            let value = rows.iter().find(|(known, _)| known == name).map_or("", |(_, value)| value);
            let _ = write!(out, "<td class=\"number\">{}</td>", escape(value));
        }
        out.push_str("</tr>\n");
    }
    out.push_str("</table></div>\n");
}

/// Writes the picture of the most telling field at the last time, and returns those of the others.
fn fields(out: &mut String, folder: &Path) -> String {
    let Ok(run) = Run::open(folder) else { return String::new() };
    let mut rest = String::new();
    let runs = [run];
    let mut labels: Vec<String> = Vec::new();
    for name in std::iter::once(None).chain(FIELDS.map(Some)) {
        let field = name.map(str::to_owned);
        // The first one shows the mesh as well.
        let picture = Picture {
            field,
            mesh: name.is_none(),
            close: true,
            size: (Some(900.0), None),
            ..Picture::default()
        };
        let quantity = match picture.quantity(&runs[0]) {
            Ok(quantity) => quantity,
            Err(error) if name.is_none() => {
                let _ = writeln!(out, "<p class=\"bad\">{}</p>", escape(&error.to_string()));
                return rest;
            }
            Err(_) => continue,
        };
        if labels.contains(&quantity.label) || labels.len() == MOST_PICTURES {
            continue;
        }
        let out = if name.is_none() { &mut *out } else { &mut rest };
        match picture.draw(&runs) {
            Ok(scene) => {
                let data = STANDARD.encode(scene.image(1.0).png());
                let label = escape(&quantity.label);
                let _ = writeln!(
                    out,
                    "<figure><img alt=\"{label}\" src=\"data:image/png;base64,{data}\"></figure>"
                );
            }
            Err(error) => {
                let _ = writeln!(out, "<p>{}: {}</p>", escape(&quantity.label), escape(&error.to_string()));
            }
        }
        labels.push(quantity.label);
    }
    rest
}

/// Curves of every table.
fn curves(out: &mut String, summary: &Value, folder: &Path) {
    let local = summary["time"]["local_steps"] == true;
    // The boundary of a table of forces.
    let boundary = |stem: &str| {
        let all = summary["forces"].as_object().into_iter().flatten();
        all.filter(|(_, forces)| forces["table"] == stem).map(|(name, _)| name).next()
    };
    let files = |folder: PathBuf| -> Vec<PathBuf> {
        let entries = fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
        let mut files: Vec<PathBuf> =
            entries.filter(|path| path.extension().is_some_and(|extension| extension == "csv")).collect();
        files.sort();
        files
    };
    let mut drawn = 0;
    // The rates of a study, as its end has drawn them.
    if let Ok(svg) = fs::read(folder.join("convergence.svg")) {
        let data = STANDARD.encode(svg);
        let _ = writeln!(
            out,
            "<h2>Curves</h2>\n<figure><img alt=\"convergence\" src=\"data:image/svg+xml;base64,{data}\"></figure>"
        );
        drawn += 1;
    }
    for path in files(folder.to_owned()).into_iter().chain(files(folder.join("monitors"))) {
        let Ok(table) = Columns::read(&path) else { continue };
        let stem = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let mut chart = monitors::of_table(&stem, &table, local);
        chart.title = boundary(&stem).map_or_else(|| stem.clone(), |name| charts::title_of_forces(name));
        let Some(svg) = chart.svg() else { continue };
        if drawn == 0 {
            out.push_str("<h2>Curves</h2>\n");
        }
        // Names of windows are those of one page: each picture gets its own.
        let svg =
            svg.replace("id=\"w", &format!("id=\"c{drawn}w")).replace("url(#w", &format!("url(#c{drawn}w"));
        let _ = writeln!(out, "<figure>{svg}</figure>");
        drawn += 1;
    }
}

/// The plan as the run printed it, the mesh, and the file.
fn set_up(out: &mut String, summary: &Value, folder: &Path) {
    let log = fs::read_to_string(folder.join("log.txt")).unwrap_or_default();
    let rows = plan_of(&log);
    if !rows.is_empty() {
        out.push_str("<h3>Set-up</h3>\n<div class=\"wide\"><table>\n");
        for (name, text) in rows.into_iter().filter(|(name, _)| !["title", "boundaries"].contains(&&**name)) {
            let _ = writeln!(out, "<tr><th>{}</th><td>{}</td></tr>", escape(&name), escape(&text));
        }
        out.push_str("</table></div>\n");
    }
    let mesh = &summary["mesh"];
    if let Some(elements) = mesh["elements"].as_object() {
        out.push_str("<h3>Mesh</h3>\n<div class=\"wide\"><table>\n");
        let mut row = |name: &str, value: String| {
            let _ = writeln!(
                out,
                "<tr><th>{}</th><td class=\"number\">{}</td></tr>",
                escape(name),
                escape(&value)
            );
        };
        for (shape, count) in elements {
            row(&shape_in_words(shape), count.as_u64().map_or_else(String::new, grouped));
        }
        for (key, name) in [("faces", "faces"), ("order", "geometry order"), ("digest", "digest")] {
            if !mesh[key].is_null() {
                row(name, mesh[key].as_u64().map_or_else(|| words(&mesh[key]), grouped));
            }
        }
        let names: Vec<&str> =
            mesh["boundaries"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
        if !names.is_empty() {
            row("boundaries", names.join(", "));
        }
        out.push_str("</table></div>\n");
    }
    let file = fs::read_to_string(folder.join("pipeline.yaml")).unwrap_or_default();
    let conditions: Vec<&str> =
        ["boundaries", "initial"].into_iter().filter_map(|key| section(&file, key)).collect();
    if !conditions.is_empty() {
        let _ = writeln!(out, "<h3>Conditions</h3>\n<pre>{}</pre>", text(&conditions.concat()));
    }
}

/// A section of a pipeline file as it is written, from its key to the next one.
fn section<'a>(file: &'a str, key: &str) -> Option<&'a str> {
    let head = format!("{key}:");
    let mut at = 0;
    let starts: Vec<usize> = (file.split_inclusive('\n'))
        .filter_map(|line| {
            let start = at;
            at += line.len();
            line.starts_with(|c: char| c.is_ascii_alphabetic()).then_some(start)
        })
        .collect();
    let first = starts.iter().position(|&start| file[start..].starts_with(&head))?;
    file.get(starts[first]..starts.get(first + 1).copied().unwrap_or(file.len()))
}

/// The shape of elements in words: `tri` is short for triangles.
fn shape_in_words(shape: &str) -> String {
    let words = match shape {
        "line" => "lines",
        "tri" => "triangles",
        "quad" => "quadrilaterals",
        "tet" => "tetrahedra",
        "hex" => "hexahedra",
        "prism" => "prisms",
        "pyramid" => "pyramids",
        other => other,
    };
    words.to_owned()
}

/// The plan in a log, the last one after restarts: names in 11 columns, then the text; lines without a name
/// continue the one before.
fn plan_of(log: &str) -> Vec<(String, String)> {
    let mut rows: Vec<(String, String)> = Vec::new();
    let lines: Vec<&str> = log.lines().collect();
    let first = lines.iter().rposition(|line| line.starts_with("title       ")).unwrap_or(0);
    for line in &lines[first..] {
        let (Some(name), Some(text)) = (line.get(..12), line.get(12..)) else { break };
        let is_name = |name: &str| name.chars().all(|c| c.is_ascii_lowercase() || c == ' ' || c == '-');
        if !is_name(name) || !name.ends_with(' ') || text.starts_with(' ') {
            break;
        }
        match (name.trim(), rows.last_mut()) {
            ("", Some((_, before))) => {
                before.push_str("; ");
                before.push_str(text);
            }
            (name, _) => rows.push((name.to_owned(), text.to_owned())),
        }
    }
    rows
}

/// Seconds of each phase, with bars.
fn timings(out: &mut String, summary: &Value) {
    let Some(timing) = summary["timing"].as_object() else { return };
    out.push_str("<h2>Timings</h2>\n<div class=\"wide\"><table>\n");
    let mut seconds: Vec<(String, f64)> = Vec::new();
    for (key, name) in [("setup_s", "set-up"), ("run_s", "run"), ("output_s", "output")] {
        if let Some(s) = timing.get(key).and_then(Value::as_f64) {
            seconds.push((name.to_owned(), s));
        }
    }
    if let Some(phases) = timing.get("phases").and_then(Value::as_object) {
        seconds.extend(phases.iter().filter_map(|(name, s)| Some((format!("— {name}"), s.as_f64()?))));
    }
    let most = seconds.iter().map(|(_, s)| *s).fold(f64::MIN_POSITIVE, f64::max);
    for (name, s) in &seconds {
        let _ = writeln!(
            out,
            "<tr><th>{}</th><td class=\"number\">{} s</td><td style=\"min-width:12rem\"><span class=\"bar\" \
             style=\"width:{:.1}%\"></span></td></tr>",
            escape(name),
            number(*s),
            100.0 * s / most
        );
    }
    for (key, name) in [("rhs_evaluations", "right-hand sides"), ("gdofs_per_s", "10⁹ unknowns per second")]
    {
        if let Some(x) = timing.get(key).and_then(Value::as_f64).filter(|x| *x > 0.0) {
            let _ = writeln!(out, "<tr><th>{name}</th><td class=\"number\">{}</td><td></td></tr>", number(x));
        }
    }
    out.push_str("</table></div>\n");
}

fn environment(out: &mut String, summary: &Value) {
    out.push_str("<h2>Environment</h2>\n<div class=\"wide\"><table>\n");
    const KEYS: [(&str, &str); 10] = [
        ("date", "date"),
        ("/machine/host", "host"),
        ("/machine/cpu", "CPU"),
        ("version", "dgsuite"),
        ("device", "device"),
        ("device_name", "name of the device"),
        ("threads", "threads"),
        ("ranks", "ranks"),
        ("kernel", "kernel"),
        ("precision", "precision"),
    ];
    for (key, name) in KEYS {
        let path = if key.starts_with('/') { key.to_owned() } else { format!("/{key}") };
        let text = summary.pointer(&path).map_or_else(String::new, words);
        if !text.is_empty() {
            let _ = writeln!(out, "<tr><th>{name}</th><td>{}</td></tr>", escape(&text));
        }
    }
    out.push_str("</table></div>\n");
}

/// The command and the files.
fn reproduce(out: &mut String, summary: &Value, folder: &Path) {
    out.push_str("<h2>How to reproduce</h2>\n");
    let version = summary["version"].as_str().unwrap_or("the same version");
    if let Ok(file) = fs::read_to_string(folder.join("pipeline.yaml")) {
        let _ = writeln!(
            out,
            "<p>With dgsuite {}, the file below as pipeline.yaml, and the mesh that it names:</p>\n\
             <pre>dgsuite run pipeline.yaml --output again</pre>\n\
             <p>The file is that of the run, with overrides applied and defaults written out.</p>\n<pre>{}</pre>",
            escape(version),
            text(&file)
        );
    }
    for (name, title) in [("report.md", "Comparison with published values (report.md)"), ("log.txt", "Log")] {
        if let Ok(file) = fs::read_to_string(folder.join(name)) {
            let _ = writeln!(out, "<details><summary>{title}</summary><pre>{}</pre></details>", text(&file));
        }
    }
    let all = serde_json::to_string_pretty(summary).unwrap_or_default();
    let _ = writeln!(out, "<details><summary>summary.json</summary><pre>{}</pre></details>", text(&all));
}

/// A text of several lines in the page.
fn text(text: &str) -> String {
    text.lines().map(escape).collect::<Vec<_>>().join("\n")
}

/// Numbers below a key, with their paths.
fn flatten(path: &str, value: &Value, rows: &mut Vec<(String, String)>) {
    let below = |key: &str| if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") };
    match value {
        Value::Object(map) => {
            ordered(map).into_iter().for_each(|(key, value)| flatten(&below(key), value, rows));
        }
        Value::Array(items) => {
            items.iter().enumerate().for_each(|(k, item)| flatten(&below(&k.to_string()), item, rows));
        }
        Value::Number(_) | Value::String(_) => rows.push((path.to_owned(), words(value))),
        Value::Null | Value::Bool(_) => {}
    }
}

/// The entries of a map, numbers before maps and lists.
fn ordered(map: &Map<String, Value>) -> Vec<(&String, &Value)> {
    let mut entries: Vec<_> = map.iter().collect();
    entries.sort_by_key(|(_, value)| value.is_object() || value.is_array());
    entries
}

/// A value in a table.
fn words(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        Value::Number(n) => match n.as_f64() {
            Some(x) if !n.is_u64() && !n.is_i64() => number(x),
            _ => n.to_string(),
        },
        other => other.to_string(),
    }
}

/// A number with at most six digits.
fn number(x: f64) -> String {
    if x == 0.0 || x == x.trunc() && x.abs() < 1e7 {
        return format!("{x}");
    }
    if !(1e-3..1e6).contains(&x.abs()) {
        return format!("{x:.4e}");
    }
    let decimals = (5 - x.abs().log10().floor() as i32).clamp(0, 9) as usize;
    let text = format!("{x:.decimals$}");
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

/// A whole number with groups of three digits.
fn grouped(n: u64) -> String {
    let digits = n.to_string();
    let mut out = String::new();
    for (k, digit) in digits.chars().enumerate() {
        if k > 0 && (digits.len() - k).is_multiple_of(3) {
            out.push('\u{202f}');
        }
        out.push(digit);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_plan_is_read_from_the_log() {
        let log =
            "title       A wave\nmesh        16 quad\n            and more\ntime        rk4\n\nstep 1 of 3\n";
        let rows = plan_of(log);
        assert_eq!(rows.len(), 3);
        assert_eq!(rows[1], ("mesh".to_owned(), "16 quad; and more".to_owned()));
        let again = format!("running on the CPU: why\n{log}title       Again\nmesh        4 tri\n");
        assert_eq!(plan_of(&again)[1].1, "4 tri");
    }

    #[test]
    fn a_page_shows_checks_and_escapes_what_others_wrote() {
        let folder = tempfile::tempdir().unwrap();
        let summary = json!({
            "title": "a <b>", "status": "check-failed", "timing": { "run_s": 2.5 },
            "checks": [{ "value": "error.l2.u", "limit": "below 1", "measured": 2.0, "passed": false }],
            "error": { "l2": { "u": 2.0 } },
        });
        fs::write(folder.path().join("summary.json"), summary.to_string()).unwrap();
        let page = page(folder.path()).unwrap();
        assert!(page.contains("<h1>a &lt;b&gt;</h1>") && !page.contains("<b>"), "{page}");
        assert!(
            page.contains("✗ failed") && page.contains("error of u, L² norm") && page.contains("2.5 s"),
            "{page}"
        );
        assert!(matches!(super::page(&folder.path().join("none")), Err(HtmlError::NoRun { .. })));
        fs::write(folder.path().join("summary.json"), "{").unwrap();
        assert!(matches!(super::page(folder.path()), Err(HtmlError::Damaged { .. })));
    }

    #[test]
    fn sections_of_a_file_are_found() {
        let file = "title: a\ninitial:\n  u: 1\nboundaries:\n  wall:\n    type: slip-wall\n# end\ntime: 1\n";
        assert_eq!(section(file, "initial"), Some("initial:\n  u: 1\n"));
        assert!(section(file, "boundaries").is_some_and(|text| text.ends_with("# end\n")));
        assert_eq!((section(file, "time"), section(file, "mesh")), (Some("time: 1\n"), None));
    }

    #[test]
    fn numbers_are_short() {
        assert_eq!([number(2.0), number(0.123_456_789), number(1e-9)], ["2", "0.123457", "1.0000e-9"]);
        assert_eq!(grouped(1_234_567), "1\u{202f}234\u{202f}567");
    }
}
