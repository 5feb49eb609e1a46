//! The files in the manual are read as they are printed there.

use std::path::Path;

use dgsuite::pipeline::Document;
use dgsuite::pipeline::source::Source;

const MANUAL: &str = include_str!("../PIPELINE.md");

#[test]
fn every_file_of_the_manual_is_read() {
    let files: Vec<&str> =
        MANUAL.split("```yaml\n").skip(1).map(|part| part.split("```").next().unwrap_or("")).collect();
    assert_eq!(files.len(), 4);
    for text in files {
        let source = Source::new("PIPELINE.md", text);
        for ci in [false, true] {
            let document = Document::parse(&source, Path::new(""), "case", ci, &[]);
            let read = document.and_then(|document| document.sections());
            assert!(read.is_ok(), "{}", read.err().map_or(String::new(), |e| e.to_string()));
        }
    }
}

/// Lines that are commented out in the manual, in place of the lines that they replace.
#[test]
fn the_alternatives_of_the_manual_are_read() {
    let file = MANUAL.split("```yaml\n").nth(2).and_then(|part| part.split("```").next()).unwrap_or("");
    for start in ["# initial: ", "# steady: "] {
        for line in file.lines().filter(|line| line.trim_start().starts_with(start)) {
            let written = line.trim_start().trim_start_matches("# ");
            let (key, _) = written.split_once(':').unwrap_or((written, ""));
            let dropped = match key {
                "initial" => vec!["initial:"],
                _ => vec!["  end:", "  steps:"],
            };
            let indent = if key == "initial" { "" } else { "  " };
            let mut text = String::new();
            for old in file.lines() {
                match dropped.iter().position(|d| old.starts_with(d)) {
                    Some(0) => text.push_str(&format!("{indent}{written}\n")),
                    Some(_) => {}
                    None => text.push_str(&format!("{old}\n")),
                }
            }
            let document =
                Document::parse(&Source::new("PIPELINE.md", text), Path::new(""), "case", false, &[]);
            let read = document.and_then(|document| document.pipeline());
            assert!(read.is_ok(), "{}", read.err().map_or(String::new(), |e| e.to_string()));
        }
    }
}
