//! Every page is true: its first file gives the code of the page, its second one is accepted.

use std::path::{Path, PathBuf};

use super::*;
use crate::job::Job;
use crate::pipeline::Document;
use crate::pipeline::problem::InputError;
use crate::pipeline::source::Source;
use crate::plan::Choices;
use crate::run::Status;
use crate::run::log::Log;

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
        assert!(explained(*code).starts_with(&format!("{code}\n\n{}\n\n", code.meaning())));
        assert!(!explained(*code).contains("```"), "{code}");
    }
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("codes");
    assert_eq!(std::fs::read_dir(folder).unwrap().count(), Code::ALL.len(), "a page has no code");
}

#[test]
fn words_are_read_with_and_without_brackets() {
    for word in ["unknown-key", "error[unknown-key]", "[unknown-key]", " unknown-key "] {
        assert_eq!(Code::of_word(word).unwrap(), Code::UnknownKey);
    }
    let text = Code::of_word("unkown-key").unwrap_err().to_string();
    assert!(text.contains("did you mean `unknown-key`?"), "{text}");
    assert!(!Code::of_word("").unwrap_err().to_string().contains("did you mean"));
}

#[test]
fn the_last_line_names_each_code_once() {
    assert_eq!(Code::more_about(&[Code::Formula, Code::Formula]), "`dgsuite explain formula` tells more");
    let two = Code::more_about(&[Code::Formula, Code::NoUnit, Code::Formula]);
    assert_eq!(two, "`dgsuite explain CODE` tells more; the codes are formula, no-unit");
}
