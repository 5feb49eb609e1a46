//! Code blocks of the book work: pipelines are accepted or run, keys exist, commands succeed.
//!
//! The words after ```` ```yaml ```` or ```` ```sh ```` determine how a block of `docs/src` is tested:
//!
//! | words | test |
//! |---|---|
//! | `yaml check` | `dgsuite check` accepts the file |
//! | `yaml run` | `dgsuite run` runs it, with its checks |
//! | `yaml part` | every key exists |
//! | `yaml refused`, `yaml mended` | those of error codes, which `book.rs` checks |
//! | `sh run` | bash runs it without an error, with `dgsuite` on the path and the repository in `$DGSUITE` |
//! | `sh` | it is not tested |
//!
//! Paths in pipelines are relative to the repository.

#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "a failed preparation fails the test")]

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

use dgsuite::file::node::{Node, Value};
use dgsuite::file::source::Source;
use dgsuite::pipeline::keys::{self, Scope};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

/// A code block with its place, `page:line`.
struct Block {
    place: String,
    words: Vec<String>,
    text: String,
}

/// The code blocks of a page that begin with one of two languages.
fn blocks_of(path: &Path) -> Vec<Block> {
    let mut blocks: Vec<Block> = Vec::new();
    // The indentation of the open block, and whether it is kept.
    let mut open: Option<(usize, bool)> = None;
    for (number, line) in fs::read_to_string(path).unwrap().lines().enumerate() {
        let bare = line.trim_start();
        match (bare.strip_prefix("```"), open) {
            (Some(words), None) => {
                let words: Vec<String> = words.split_whitespace().map(str::to_owned).collect();
                let kept = words.first().is_some_and(|word| ["yaml", "sh"].contains(&word.as_str()));
                if kept {
                    let page = path.strip_prefix(root()).unwrap().display();
                    let place = format!("{page}:{}", number + 1);
                    blocks.push(Block { place, words, text: String::new() });
                }
                open = Some((line.len() - bare.len(), kept));
            }
            (Some(_), Some(_)) => open = None,
            (None, Some((indent, true))) => {
                let text = &mut blocks.last_mut().unwrap().text;
                text.push_str(line.get(indent..).unwrap_or(bare));
                text.push('\n');
            }
            (None, _) => {}
        }
    }
    blocks
}

fn blocks() -> Vec<Block> {
    let mut pages: Vec<PathBuf> = ["docs/src", "docs/src/dev"]
        .iter()
        .flat_map(|folder| fs::read_dir(root().join(folder)).unwrap())
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|end| end == "md"))
        .collect();
    pages.sort();
    let blocks: Vec<Block> = pages.iter().flat_map(|page| blocks_of(page)).collect();
    assert!(blocks.len() > 20, "too few code blocks were found for a meaningful test: {}", blocks.len());
    blocks
}

/// The blocks with these words.
fn marked(language: &str, word: &str) -> Vec<Block> {
    let mut found = blocks();
    found.retain(|block| block.words == [language, word]);
    assert!(!found.is_empty(), "no page has a block `{language} {word}`");
    found
}

/// A directory with everything of the repository that pages may name. Results of examples go beside them, so
/// that these are copies.
fn directory() -> tempfile::TempDir {
    let directory = tempfile::tempdir().unwrap();
    symlink(root().join("data"), directory.path().join("data")).unwrap();
    for folder in fs::read_dir(root().join("examples")).unwrap().map(|entry| entry.unwrap().path()) {
        let copy = directory.path().join("examples").join(folder.file_name().unwrap());
        for file in fs::read_dir(&folder).into_iter().flatten().map(|entry| entry.unwrap().path()) {
            if file.extension().is_some_and(|end| end == "yaml") {
                fs::create_dir_all(&copy).unwrap();
                fs::copy(&file, copy.join(file.file_name().unwrap())).unwrap();
            }
        }
    }
    directory
}

/// Runs a command in a directory; returns its output if it fails.
fn failure(command: &mut Command, directory: &Path) -> Option<String> {
    let output = command.current_dir(directory).output().unwrap();
    let printed = [output.stdout, output.stderr].concat();
    (!output.status.success()).then(|| String::from_utf8_lossy(&printed).into_owned())
}

#[track_caller]
fn assert_none(wrong: &[String]) {
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

/// The commands of shell blocks, run or not, exist with all of their long options.
#[test]
fn commands_and_their_options_exist() {
    let mut helps: BTreeMap<String, String> = BTreeMap::new();
    let (mut count, mut wrong) = (0, Vec::new());
    let shell = blocks().into_iter().filter(|block| block.words[0] == "sh");
    let front = blocks_of(&root().join("README.md")).into_iter().filter(|block| block.words[0] == "sh");
    for block in shell.chain(front) {
        let text = block.text.replace("\\\n", " ");
        let calls =
            text.lines().flat_map(|line| line.split([';', '&', '|', '#', '(', ')'])).filter_map(|part| {
                let (before, call) = part.split_once("dgsuite ")?;
                (before.is_empty() || before.ends_with(' ')).then_some(call)
            });
        for call in calls {
            let words: Vec<&str> = call.split_whitespace().collect();
            let nested = ["mesh", "bench scale", "bench comm"];
            let two = words.len() > 1 && nested.iter().any(|start| words.join(" ").starts_with(start));
            let Some(name) = words.get(..if two { 2 } else { 1 }) else { continue };
            // Another word behind the name, as that of a folder.
            if !name[0].starts_with(|c: char| c.is_ascii_lowercase()) {
                continue;
            }
            count += 1;
            let help = helps.entry(name.join(" ")).or_insert_with(|| {
                let output =
                    Command::new(env!("CARGO_BIN_EXE_dgsuite")).args(name).arg("--help").output().unwrap();
                if output.status.success() {
                    String::from_utf8(output.stdout).unwrap()
                } else {
                    String::new()
                }
            });
            let options = words
                .iter()
                .filter(|word| word.starts_with("--"))
                .map(|word| word.split('=').next().unwrap_or_default());
            if help.is_empty() {
                wrong.push(format!("{}: there is no command: {call}", block.place));
            }
            wrong.extend(
                options
                    .filter(|option| !help.contains(option))
                    .map(|option| format!("{}: {option} is no option of: {call}", block.place)),
            );
        }
    }
    assert!(count > 80, "too few commands were found for a meaningful test: {count}");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_block_says_what_holds_of_it() {
    let known = [
        &["yaml", "check"][..],
        &["yaml", "run"],
        &["yaml", "refused"],
        &["yaml", "mended"],
        &["yaml", "part"],
        &["sh", "run"],
        &["sh"],
    ];
    let wrong = blocks().into_iter().filter(|block| !known.iter().any(|words| block.words == *words));
    let wrong: Vec<String> =
        wrong.map(|block| format!("{}: `{}`", block.place, block.words.join(" "))).collect();
    assert_none(&wrong);
}

#[test]
fn pipelines_of_the_book_are_accepted_or_run() {
    let mut wrong = Vec::new();
    for (word, action) in [("check", &["check"][..]), ("run", &["run", "--quiet"])] {
        for block in marked("yaml", word) {
            let directory = directory();
            fs::write(directory.path().join("case.yaml"), &block.text).unwrap();
            let mut command = Command::new(env!("CARGO_BIN_EXE_dgsuite"));
            command.args(action).args(["case.yaml", "--device", "cpu"]);
            let failed = failure(&mut command, directory.path());
            wrong.extend(failed.map(|printed| format!("{}: {printed}", block.place)));
        }
    }
    assert_none(&wrong);
}

/// The paths of a tree that are no keys.
fn unknown(node: &Node, path: &[String], found: &mut Vec<String>) {
    let known = keys::known(path, Scope::default());
    let children: Vec<(String, &Node)> = match &node.value {
        // Such as `{ Name: formula }`, which is one value.
        Value::Map(_) if known.names.is_empty() && !known.free => return,
        Value::Map(entries) => entries.iter().map(|entry| (entry.key.clone(), &entry.node)).collect(),
        Value::List(items) => items.iter().enumerate().map(|(i, item)| (i.to_string(), item)).collect(),
        _ => return,
    };
    for (name, child) in children {
        let path = [path, std::slice::from_ref(&name)].concat();
        let is_item = name.parse::<usize>().is_ok();
        // Keys of a path with dots, as `study` and `ci.set` have them, are read by the overrides.
        if name.contains('.') {
            continue;
        }
        if !is_item && keys::at(&path, Scope::default()).is_empty() {
            found.push(path.join("."));
        } else {
            unknown(child, &path, found);
        }
    }
}

#[test]
fn keys_in_parts_of_pipelines_exist() {
    let mut wrong = Vec::new();
    for block in marked("yaml", "part") {
        let source = Source::new(block.place.clone(), block.text.clone());
        match Node::parse(&source) {
            Err(error) => wrong.push(format!("{}: {error}", block.place)),
            Ok(tree) => {
                let mut found = Vec::new();
                unknown(&tree, &[], &mut found);
                wrong.extend(found.into_iter().map(|path| format!("{}: no key `{path}`", block.place)));
            }
        }
    }
    assert_none(&wrong);
}

#[test]
fn commands_of_the_book_work() {
    let mut wrong = Vec::new();
    for block in marked("sh", "run") {
        let directory = directory();
        let program = Path::new(env!("CARGO_BIN_EXE_dgsuite")).parent().unwrap();
        let path = format!("{}:{}", program.display(), std::env::var("PATH").unwrap());
        let mut command = Command::new("bash");
        command.args(["-euo", "pipefail", "-c", &block.text]).env("PATH", path).env("DGSUITE", root());
        let failed = failure(&mut command, directory.path());
        wrong.extend(failed.map(|printed| format!("{}: {printed}", block.place)));
    }
    assert_none(&wrong);
}
