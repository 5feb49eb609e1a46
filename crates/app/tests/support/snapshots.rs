//! Snapshots of messages: code, place, first line and hint of every mistake that the tests provoke.
//!
//! `tests/snapshots/messages.txt` has a section for each test, with an entry for each answer in it, in the
//! order of the test. `DGSUITE_UPDATE_SNAPSHOTS=1` writes the sections of the tests that run.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, OnceLock, PoisonError};

/// Codes of mistakes whose words depend on the machine.
const OF_THE_MACHINE: [&str; 2] = ["device", "memory"];

const HEADER: &str = "\
# The messages that the tests provoke: code, place, first line and hint. Read the difference before you commit it.
# DGSUITE_UPDATE_SNAPSHOTS=1 cargo test --release -p dgsuite --test mistakes --test guidance --test poisson \\
#   --test incompressible --test studies --test endings
";

thread_local! {
    /// The number of answers of this test so far.
    static ANSWERS: Cell<usize> = const { Cell::new(0) };
}

/// The entries of each test.
type Snapshots = BTreeMap<String, Vec<String>>;

fn file() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/snapshots/messages.txt")
}

fn read() -> Snapshots {
    let text = std::fs::read_to_string(file()).unwrap_or_default();
    let mut all = Snapshots::new();
    for section in text.split("\n\n").filter(|section| !section.starts_with('#')) {
        let Some((test, entries)) = section.trim().split_once("\n- ") else { continue };
        all.insert(test.to_owned(), entries.split("\n- ").map(str::to_owned).collect());
    }
    all
}

/// Whether a word is a number that is zero but for rounding, which is not the same on all machines.
fn is_rounding(word: &str) -> bool {
    word.parse::<f64>().is_ok_and(|x| x != 0.0 && x.abs() < 1e-14)
}

/// An answer as the file has it. Paths of the test are those of this moment.
fn entry(directory: &Path, answer: &str) -> String {
    let mut text = String::new();
    for mistake in answer.replace(&directory.display().to_string(), "DIRECTORY").split("\n\nerror") {
        let mistake = mistake.strip_prefix("error").unwrap_or(mistake);
        let (code, message) = mistake.split_once(": ").unwrap_or(("", mistake));
        let code = code.trim_matches(['[', ']']);
        let after = |start: &str| message.lines().find_map(|line| line.strip_prefix(start));
        let place = after(" --> ").map_or_else(String::new, |place| format!(" at {place}"));
        let _ = write!(text, "{}{code}{place}", if text.is_empty() { "" } else { "\n  " });
        if OF_THE_MACHINE.contains(&code) {
            continue;
        }
        let first = message.lines().next().unwrap_or_default();
        let words: Vec<&str> =
            first.split(' ').map(|word| if is_rounding(word) { "TINY" } else { word }).collect();
        let _ = write!(text, ": {}", words.join(" "));
        if let Some(hint) = after("hint: ") {
            let _ = write!(text, "\n    hint: {hint}");
        }
    }
    text
}

/// Compares the answer of a command in a directory with its snapshot.
#[track_caller]
pub(crate) fn compare(directory: &Path, answer: &str) {
    // With one thread for all tests there are no names of tests.
    let thread = std::thread::current();
    let Some(name) = thread.name().filter(|name| *name != "main") else { return };
    let binary = module_path!().split("::").next().unwrap_or_default();
    let test = format!("{binary}::{name}");
    let found = entry(directory, answer);
    let n = ANSWERS.replace(ANSWERS.get() + 1);
    if std::env::var_os("DGSUITE_UPDATE_SNAPSHOTS").is_some() {
        return update(&test, n, found);
    }
    static KNOWN: OnceLock<Snapshots> = OnceLock::new();
    let known = KNOWN.get_or_init(read).get(&test).and_then(|entries| entries.get(n));
    assert!(
        known == Some(&found),
        "answer {} of {test} has changed; look at it, and renew tests/snapshots/messages.txt as its first lines say\n\
         before: {}\n   now: {found}",
        n + 1,
        known.map_or("nothing", String::as_str)
    );
}

fn update(test: &str, n: usize, found: String) {
    static ONE: Mutex<()> = Mutex::new(());
    let _one = ONE.lock().unwrap_or_else(PoisonError::into_inner);
    let mut all = read();
    let entries = all.entry(test.to_owned()).or_default();
    entries.truncate(n);
    entries.push(found);
    let mut text = HEADER.to_owned();
    for (test, entries) in &all {
        let _ = write!(text, "\n{test}\n- {}\n", entries.join("\n- "));
    }
    std::fs::create_dir_all(file().parent().unwrap()).unwrap();
    std::fs::write(file(), text).unwrap();
}

/// The sections of tests that do not exist.
pub(crate) fn without_test() -> Vec<String> {
    let exists = |test: &String| {
        let (file, name) = test.split_once("::").unwrap_or_default();
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/{file}.rs"));
        std::fs::read_to_string(source).is_ok_and(|text| text.contains(&format!("fn {name}()")))
    };
    if std::env::var_os("DGSUITE_UPDATE_SNAPSHOTS").is_some() {
        return Vec::new();
    }
    let all = read();
    assert!(all.len() > 30, "too few snapshots were found for a meaningful test: {}", all.len());
    all.into_keys().filter(|test| !exists(test)).collect()
}
