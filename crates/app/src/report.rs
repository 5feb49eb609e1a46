//! `report.md`: set-up, published values beside those of this run, checks and times, for readers.

pub mod html;

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::file::node::Node;
use crate::pipeline::checks::rounded;
use crate::plan::comparison::Comparison;
use crate::run::Report;
use crate::run::summary::number_at;

/// One run: a row of the tables.
#[derive(Clone, Copy, Debug)]
pub struct Case<'a> {
    /// Its name in the tables; empty for a single run.
    pub name: &'a str,
    /// The file as it was run, with defaults.
    pub resolved: &'a Node,
    /// Its summary.
    pub summary: &'a Value,
}

/// What a report needs besides the results.
#[derive(Clone, Debug)]
pub struct Frame {
    /// The title.
    pub title: String,
    /// The plan in words, one line for each part: its name in 11 columns, then the text.
    pub setup: String,
    /// The command that started the run; empty if no command did.
    pub command: String,
    /// The tables to compare with.
    pub comparisons: Vec<Comparison>,
}

/// Numbers of the table of times: path in the summary and head of the column.
const TIMES: [(&str, &str); 6] = [
    ("timing.setup_s", "set-up, s"),
    ("timing.run_s", "run, s"),
    ("time.steps", "steps"),
    ("timing.rhs_evaluations", "evaluations"),
    ("timing.gdofs_per_s", "GDOF/s"),
    ("linear.iterations", "iterations"),
];

/// Properties of the machine: path in the summary and name.
const MACHINE: [(&str, &str); 9] = [
    ("date", "date"),
    ("machine.host", "host"),
    ("machine.cpu", "CPU"),
    ("device", "device"),
    ("device_name", "name"),
    ("threads", "CPU threads"),
    ("kernel", "kernel"),
    ("precision", "precision"),
    ("version", "dgsuite"),
];

/// Returns the path of the report in a directory of results.
#[must_use]
pub fn path(directory: &Path) -> PathBuf {
    directory.join("report.md")
}

/// Returns the report as Markdown.
#[must_use]
pub fn markdown(frame: &Frame, cases: &[Case<'_>], report: &Report) -> String {
    let mut out = format!("# {}\n\nStatus: {}.", one_line(&frame.title), report.status.word());
    if let Some(failure) = &report.failure {
        let _ = write!(out, " {}", one_line(failure));
    }
    out.push_str("\n\n## Set-up\n\n");
    if cases.len() > 1 {
        let _ = write!(out, "A study of {} cases; this is the first of them.\n\n", cases.len());
    }
    out.push_str(&facts(&parts_of(&frame.setup)));
    out.push_str("\n## Machine\n\n");
    let machine = MACHINE.iter().filter_map(|(key, name)| {
        let value = cases
            .first()?
            .summary
            .pointer(&format!("/{}", key.replace('.', "/")))
            .filter(|value| !value.is_null() && *value != "")?;
        Some(((*name).to_owned(), value.as_str().map_or_else(|| value.to_string(), str::to_owned)))
    });
    out.push_str(&facts(&machine.collect::<Vec<_>>()));
    for comparison in &frame.comparisons {
        let _ = write!(out, "\n## {}\n\n", one_line(&comparison.source));
        let _ = write!(out, "`{}` as published, and of this run.\n\n", comparison.value);
        out.push_str(&compared(comparison, cases));
    }
    if !report.checks.is_empty() {
        out.push_str("\n## Checks\n\n");
        let rows = report.checks.iter().map(|check| {
            let measured = check.measured.map_or_else(|| "not known".to_owned(), rounded);
            let verdict = if check.passed { "passed" } else { "FAILED" };
            vec![check.value.clone(), measured, check.limit.to_string(), verdict.to_owned()]
        });
        out.push_str(&table(&["value", "measured", "limit", ""], rows.collect()));
    }
    out.push_str("\n## Times\n\n");
    out.push_str(&times(cases));
    out.push_str("\n## To repeat it\n\n");
    if !frame.command.is_empty() {
        let _ = write!(out, "```sh\n{}\n```\n\n", one_line(&frame.command));
    }
    out.push_str(
        "`pipeline.yaml` in this folder is the file as it was run. `summary.json` has all numbers.\n",
    );
    out
}

/// The parts of a plan in words: names and texts.
fn parts_of(setup: &str) -> Vec<(String, String)> {
    let mut parts: Vec<(String, String)> = Vec::new();
    for line in setup.lines() {
        let (name, text) = line.split_at(line.char_indices().nth(11).map_or(line.len(), |(i, _)| i));
        match (name.trim(), parts.last_mut()) {
            ("title", _) => {}
            ("", Some((_, before))) => {
                let _ = write!(before, "; {}", text.trim());
            }
            (name, _) => parts.push((name.to_owned(), text.trim().to_owned())),
        }
    }
    parts
}

/// Published values beside those of the cases, with their ratio.
fn compared(comparison: &Comparison, cases: &[Case<'_>]) -> String {
    let mut head: Vec<&str> = comparison.by.iter().map(String::as_str).collect();
    head.extend(["published", "this run", "ratio"]);
    let rows = cases.iter().map(|case| {
        let mut row = comparison.keys(case.resolved);
        let (published, own) = (comparison.published(&row), number_at(case.summary, &comparison.value));
        let ratio = published.zip(own).filter(|(published, _)| *published != 0.0).map(|(a, b)| b / a);
        row.extend([published, own].map(|x| x.map_or_else(|| "—".to_owned(), digits)));
        row.push(ratio.map_or_else(|| "—".to_owned(), digits));
        row
    });
    table(&head, rows.collect())
}

/// The times of all cases, without columns that no case has.
fn times(cases: &[Case<'_>]) -> String {
    let there = |path: &str| cases.iter().any(|case| number_at(case.summary, path).is_some());
    let columns: Vec<(&str, &str)> = TIMES.into_iter().filter(|(path, _)| there(path)).collect();
    let mut head = vec!["case"];
    head.extend(columns.iter().map(|(_, name)| *name));
    let rows = cases.iter().map(|case| {
        let numbers = columns.iter().map(|(path, _)| number_at(case.summary, path));
        let name = if case.name.is_empty() { "the run" } else { case.name };
        let cells = numbers.map(|x| x.map_or_else(|| "—".to_owned(), digits));
        std::iter::once(name.to_owned()).chain(cells).collect()
    });
    table(&head, rows.collect())
}

/// A number with four significant digits; whole numbers in full.
fn digits(x: f64) -> String {
    if x.fract() == 0.0 && x.abs() < 1e15 {
        return format!("{x:.0}");
    }
    match format!("{x:.3e}").parse::<f64>() {
        Ok(short) if (1e-3..1e6).contains(&short.abs()) => short.to_string(),
        _ => format!("{x:.3e}"),
    }
}

/// Two columns without heads.
fn facts(parts: &[(String, String)]) -> String {
    table(&["", ""], parts.iter().map(|(name, text)| vec![name.clone(), text.clone()]).collect())
}

fn table(head: &[&str], rows: Vec<Vec<String>>) -> String {
    let mut out = String::new();
    let mut line = |cells: Vec<String>| {
        let cells: Vec<String> = cells.iter().map(|cell| one_line(cell).replace('|', "\\|")).collect();
        let _ = writeln!(out, "| {} |", cells.join(" | "));
    };
    line(head.iter().map(|cell| (*cell).to_owned()).collect());
    line(head.iter().map(|_| "---".to_owned()).collect());
    rows.into_iter().for_each(line);
    out
}

fn one_line(text: &str) -> String {
    text.lines().map(str::trim).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_without_a_name_belong_to_the_line_before() {
        let parts =
            parts_of("title       A\nmesh        4 quad\nspace       dg\n            a\n            b\n");
        let parts: Vec<(&str, &str)> = parts.iter().map(|(a, b)| (a.as_str(), b.as_str())).collect();
        assert_eq!(parts, [("mesh", "4 quad"), ("space", "dg; a; b")]);
    }

    #[test]
    fn numbers_have_four_digits_and_counts_all_of_them() {
        assert_eq!(
            [digits(1.234_56), digits(16_266_888.0), digits(3.278e-7)],
            ["1.235", "16266888", "3.278e-7"]
        );
    }
}
