//! The schema that `dgsuite schema` prints, compared with the examples by a validator that knows the drafts:
//! the Python package jsonschema.
//!
//! The interpreter is `$DGSUITE_SCHEMA_PYTHON`, or `python3` if it has the module `jsonschema`. Without it
//! the tests print SKIPPED, or fail if `DGSUITE_REQUIRE_TOOLS=1`.

#![expect(clippy::unwrap_used, reason = "a failed preparation fails the test")]

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use dgsuite::file::node::Node;
use dgsuite::file::source::Source;
use dgsuite::pipeline::keys::schema;
use serde_json::{Value, json};

/// Exit status and output of the validator for these files; `None` without one.
fn validate(schema: &Value, files: &[(String, Value)]) -> Option<(i32, String)> {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/tools/schema_check.py");
    let python = std::env::var_os("DGSUITE_SCHEMA_PYTHON").map_or_else(|| "python3".into(), PathBuf::from);
    let works =
        Command::new(&python).args(["-c", "import jsonschema"]).output().is_ok_and(|o| o.status.success());
    if !script.exists() || !works {
        let reason = format!("{} has no module jsonschema (set DGSUITE_SCHEMA_PYTHON)", python.display());
        assert!(std::env::var_os("DGSUITE_REQUIRE_TOOLS").is_none_or(|v| v != "1"), "{reason}");
        let _ = writeln!(std::io::stderr(), "SKIPPED: {reason}");
        return None;
    }
    let folder = tempfile::tempdir().unwrap();
    let list = folder.path().join("list.json");
    let files: Vec<Value> =
        files.iter().map(|(name, value)| json!({ "name": name, "value": value })).collect();
    std::fs::write(&list, json!({ "schema": schema, "files": files }).to_string()).unwrap();
    let output = Command::new(python).arg(script).arg(&list).output().unwrap();
    let text = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
    Some((output.status.code().unwrap_or(-1), text))
}

/// A file as the program reads it.
fn value_of(text: &str) -> Value {
    serde_json::to_value(Node::parse(&Source::new("file", text)).unwrap()).unwrap()
}

fn examples(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        // A crate has words of its own.
        if path.is_dir() && !path.ends_with("out") && !path.join("Cargo.toml").exists() {
            examples(&path, found);
        } else if path.extension().is_some_and(|e| e == "yaml") {
            found.push(path);
        }
    }
}

#[test]
fn every_example_and_template_fits_the_schema() {
    let mut files = Vec::new();
    let app = Path::new(env!("CARGO_MANIFEST_DIR"));
    examples(&app.join("../../examples"), &mut files);
    assert!(files.len() > 80);
    examples(&app.join("templates"), &mut files);
    let read =
        |file: &PathBuf| (file.display().to_string(), value_of(&std::fs::read_to_string(file).unwrap()));
    let files: Vec<_> = files.iter().map(read).collect();
    let Some((status, misfits)) = validate(&schema(), &files) else { return };
    assert!(status == 0 && misfits.is_empty(), "{misfits}");
}

/// The validator compares schemas with that of draft 7, which refuses an empty `anyOf`.
#[test]
fn a_schema_that_is_none_is_noticed() {
    let empty = json!({
        "$schema": "http://json-schema.org/draft-07/schema#",
        "properties": { "study": { "anyOf": [] } },
    });
    let Some((status, text)) = validate(&empty, &[]) else { return };
    assert!(status == 2, "{status}: {text}");
}

#[test]
fn mistakes_do_not_fit() {
    let mistakes = [
        ("spaec: { order: 1 }", "'spaec' was unexpected"),
        ("space: { ordr: 1 }", "'ordr' was unexpected"),
        ("space: { riemann: rowe }", "/space/riemann:"),
        ("space: { order: [1] }", "/space/order:"),
        ("threads: -1", "/threads:"),
        ("boundaries: { inlet: { type: outflw } }", "/boundaries/inlet/type:"),
        ("monitors: [{ probes: {} }]", "'probes' was unexpected"),
        ("study: { order: 3 }", "/study/order:"),
    ];
    let files: Vec<_> = mistakes.iter().map(|(text, _)| ((*text).to_owned(), value_of(text))).collect();
    let Some((status, misfits)) = validate(&schema(), &files) else { return };
    assert_eq!(status, 0, "{misfits}");
    for (text, part) in mistakes {
        let mut found = misfits.lines().filter(|line| line.starts_with(text));
        assert!(found.any(|line| line.contains(part)), "{text}: {misfits}");
    }
}
