//! The pages of the book about keys, codes and commands agree with this program.
//!
//! The page of each code is true: its first file gives the code, its second one is accepted.

#![expect(clippy::unwrap_used, reason = "a failed preparation fails the test")]

use std::path::{Path, PathBuf};

use clap::{Command, CommandFactory};
use dgsuite::cli::Cli;
use dgsuite::code::{self, Code};
use dgsuite::file::node::{Node, Value};
use dgsuite::file::problem::InputError;
use dgsuite::file::source::Source;
use dgsuite::job::Job;
use dgsuite::pipeline::{Document, keys};
use dgsuite::plan::Choices;
use dgsuite::run::Status;
use dgsuite::run::log::Log;

fn page(name: &str) -> String {
    std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/src").join(name)).unwrap()
}

#[test]
fn the_page_of_keys_is_that_of_the_table() {
    let (page, table) = (page("keys.md"), keys::markdown());
    let differing = page.lines().zip(table.lines()).find(|(old, new)| old != new);
    let renew = "cargo run --release -p dgsuite -- keys --markdown > docs/src/keys.md";
    assert!(page == table, "docs/src/keys.md is out of date; renew it by\n  {renew}\n{differing:?}");
}

#[test]
fn the_page_of_codes_is_that_of_the_program() {
    let renew = "cargo run --release -p dgsuite -- explain --markdown > docs/src/codes.md";
    assert!(page("codes.md") == code::markdown(), "docs/src/codes.md is out of date; renew it by\n  {renew}");
}

/// Codes without a file that is refused: a pipeline file alone does not lead to them.
const WITHOUT_FILE: [Code; 8] = [
    Code::UnreadableFile,
    Code::Override,
    Code::Ranks,
    Code::NoResults,
    Code::DamagedResults,
    Code::UnknownField,
    Code::NothingToDraw,
    Code::BadOption,
];
/// Codes of files that are accepted, and whose runs fail.
const OF_RUNS: [Code; 5] =
    [Code::NotFinite, Code::StepSize, Code::NotSteady, Code::LinearSystem, Code::CheckFailed];

/// The block of a page that begins with these words.
fn block<'p>(code: Code, words: &str) -> Option<&'p str> {
    let rest = code.page().split_once(&format!("```{words}\n"))?.1;
    Some(rest.split_once("```").map_or(rest, |(block, _)| block))
}

/// Checks a text as `dgsuite check` does. Paths are those of the repository.
fn check(text: &str, results: Option<&Path>) -> Result<Job, InputError> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let document = Document::parse(&Source::new("case.yaml", text), &root, "case", false, &[])?;
    document.sections()?;
    Job::new(&document, &Choices { output: results.map(PathBuf::from), ..Choices::default() })
}

#[test]
fn files_of_pages_are_refused_with_their_code_and_mended() {
    for code in Code::ALL.iter().filter(|code| !WITHOUT_FILE.contains(code)) {
        let (refused, mended) = (block(*code, "yaml refused").unwrap(), block(*code, "yaml mended").unwrap());
        if let Err(error) = check(mended, None) {
            panic!("the mended file of {code} is refused: {error}");
        }
        if OF_RUNS.contains(code) {
            let results = tempfile::tempdir().unwrap();
            let report = check(refused, Some(results.path())).unwrap().execute(&mut Log::mute()).unwrap();
            assert_ne!(report.status, Status::Ok, "{code}");
            if *code == Code::CheckFailed {
                assert_eq!(report.status, Status::CheckFailed);
            } else {
                assert_eq!(report.summary["failure"]["code"], code.word(), "{}", report.summary["failure"]);
            }
            let results = tempfile::tempdir().unwrap();
            let report = check(mended, Some(results.path())).unwrap().execute(&mut Log::mute()).unwrap();
            assert_eq!(report.status, Status::Ok, "{code}: {:?}", report.failure);
        } else {
            match check(refused, None) {
                Ok(_) => panic!("the first file of {code} is accepted"),
                Err(error) => assert_eq!(error.codes(), [*code], "{error}"),
            }
        }
    }
}

#[test]
fn pages_have_their_form() {
    for code in Code::ALL {
        let page = code.page();
        assert!(page.starts_with(&format!("# {code}\n\n")), "{code}");
        assert_eq!(block(*code, "yaml refused").is_none(), WITHOUT_FILE.contains(code), "{code}");
        assert!(code.meaning().ends_with('.') && code.meaning().lines().count() == 1, "{code}");
        assert!(code::explained(*code).starts_with(&format!("{code}\n\n{}\n\n", code.meaning())));
        assert!(!code::explained(*code).contains("```"), "{code}");
    }
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("codes");
    assert_eq!(std::fs::read_dir(folder).unwrap().count(), Code::ALL.len(), "a page has no code");
}

/// The commands and options, from this command down, that the page does not mention.
fn missing(command: &Command, name: &str, page: &str) -> Vec<String> {
    let mut lacks = Vec::new();
    // `mesh` alone, as the program alone, does nothing.
    if !command.has_subcommands() && !page.contains(&format!("`{name}`")) {
        lacks.push(name.to_owned());
    }
    // The part of the page about this command, or about the program.
    let part = page.split(&format!("\n## {name}\n")).nth(1).and_then(|rest| rest.split("\n## ").next());
    for option in command.get_arguments() {
        let Some(long) = option.get_long().map(|long| format!("--{long}")) else { continue };
        if !part.unwrap_or(page).contains(&long) {
            lacks.push(format!("{name} {long}"));
        }
    }
    for inner in command.get_subcommands().filter(|inner| inner.get_name() != "help") {
        lacks.extend(missing(inner, &format!("{name} {}", inner.get_name()), page));
    }
    lacks
}

#[test]
fn the_page_of_commands_has_every_command_and_option() {
    let lacks = missing(&Cli::command(), "dgsuite", &page("commands.md"));
    assert!(lacks.is_empty(), "docs/src/commands.md does not mention {lacks:?}");
}

/// Whether a file sets a key, at any depth and as the last part of a dotted key too: to this value, to one of
/// several in a study, or to a section that begins with it.
fn sets(node: &Node, key: &str, value: Option<&str>) -> bool {
    let is = |node: &Node| match &node.value {
        Value::Text(text) => value.is_none_or(|value| text == value),
        Value::Bool(flag) => value.is_none_or(|value| flag.to_string() == value),
        Value::Number(x) => value.is_none_or(|value| x.to_string() == value),
        Value::Map(entries) => value.is_none_or(|value| entries.iter().any(|entry| entry.key == value)),
        Value::List(_) | Value::Null => value.is_none(),
    };
    let within = |node: &Node| match &node.value {
        Value::List(items) => is(node) || items.iter().any(is),
        _ => is(node),
    };
    match &node.value {
        Value::Map(entries) => entries.iter().any(|entry| {
            let named = entry.key.rsplit('.').next() == Some(key);
            named && within(&entry.node) || sets(&entry.node, key, value)
        }),
        Value::List(items) => items.iter().any(|item| sets(item, key, value)),
        // A quantity stands in formulas.
        Value::Text(text) => value.is_none() && text.contains(key) && key.starts_with(char::is_uppercase),
        _ => false,
    }
}

/// The parts of a text in backticks.
fn spans(text: &str) -> Vec<&str> {
    text.split('`').skip(1).step_by(2).collect()
}

#[test]
fn each_advice_about_turbulence_has_an_example_that_sets_it() {
    let page = page("turbulence.md");
    let rows: Vec<Vec<&str>> = page
        .split_once("| advice | set | example |\n|---|---|---|\n")
        .unwrap()
        .1
        .lines()
        .take_while(|line| line.starts_with('|'))
        .map(|line| line.trim_matches('|').split(" | ").collect())
        .collect();
    assert!(rows.len() > 10);
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    for row in &rows {
        let [advice, set, examples] = row[..] else { panic!("{row:?} is no row of advice") };
        let (set, examples) = (spans(set), spans(examples));
        assert!(!set.is_empty() && !examples.is_empty(), "{advice}");
        for example in examples {
            let text = std::fs::read_to_string(root.join(example)).unwrap();
            let document = Document::parse(&Source::new(example, &text), &root, "case", false, &[]).unwrap();
            for one in &set {
                let (key, value) = one.split_once(": ").map_or((*one, None), |(k, v)| (k, Some(v)));
                assert!(sets(&document.root, key, value), "{example} does not set {one}: {advice}");
            }
        }
    }
    // Each closure and each model of a wall is in an example, and each section about one has its rows.
    let all: Vec<&str> = rows.iter().flat_map(|row| spans(row[1])).collect();
    let closures = ["none", "smagorinsky", "wale", "vreman", "sigma"].map(|word| format!("closure: {word}"));
    let models = ["reichardt", "spalding"].map(|word| format!("model: {word}"));
    for one in closures.iter().chain(&models) {
        assert!(all.contains(&one.as_str()), "{one} has no example");
    }
    for section in page.lines().filter_map(|line| line.strip_prefix("## ")) {
        let part = page.split(&format!("\n## {section}\n")).nth(1).unwrap();
        let part = part.split("\n## ").next().unwrap();
        let link = format!("](#{})", section.to_lowercase().replace(' ', "-"));
        let of_rows = rows.iter().any(|row| row[0].contains(&link));
        assert!(of_rows || part.contains("`examples/"), "the section {section} has no example");
    }
}
