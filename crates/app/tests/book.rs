//! The pages of the book about keys, codes and commands agree with this program.
//!
//! The page of each code is true: its first file gives the code, its second one is accepted.

#![expect(clippy::unwrap_used, reason = "a failed preparation fails the test")]

use std::path::{Path, PathBuf};

use clap::{Command, CommandFactory};
use dgsuite::cli::Cli;
use dgsuite::code::{self, Code};
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
