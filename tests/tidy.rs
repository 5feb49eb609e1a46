//! Rules for the text of the repository: words, first lines, lengths, licences, links, examples.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

const CRATES: [&str; 10] =
    ["amg", "app", "basis", "gpu", "mesh", "ops", "output", "physics", "solve", "timeint"];
/// Crates without `unsafe`. The others need it for SIMD (`gpu`, `ops`), for launches of kernels (`amg`) and
/// for steps that a device replays (`app`).
const SAFE_CRATES: [&str; 4] = ["basis", "mesh", "physics", "timeint"];
const MAX_LINES: usize = 700;
/// Folders of these names contain outputs of programs.
const SKIPPED: [&str; 3] = ["target", "out", ".git"];
const TEXT: [&str; 9] = ["rs", "md", "toml", "yaml", "yml", "py", "geo", "sh", "cu"];

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// A path as in messages and pages: relative to the root, with `/`.
fn shown(path: &Path) -> String {
    let path = path.strip_prefix(root()).unwrap_or(path);
    path.components().map(|c| c.as_os_str().to_string_lossy()).collect::<Vec<_>>().join("/")
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", shown(path)))
}

/// All files below a folder, sorted, without results, build outputs and version control.
fn files_below(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    let mut open = vec![folder.to_owned()];
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", shown(&folder))) {
            let path = entry.expect("an entry of a folder").path();
            if !path.is_dir() {
                files.push(path);
            } else if !SKIPPED.iter().any(|name| path.ends_with(name)) {
                open.push(path);
            }
        }
    }
    files.sort();
    files
}

fn has_extension(path: &Path, extensions: &[&str]) -> bool {
    path.extension().is_some_and(|found| extensions.iter().any(|extension| found == *extension))
}

fn source_of(name: &str) -> PathBuf {
    root().join("crates").join(name).join("src")
}

/// The Rust files of one crate's `src`.
fn sources(name: &str) -> Vec<PathBuf> {
    let mut files = files_below(&source_of(name));
    files.retain(|path| has_extension(path, &["rs"]));
    assert!(!files.is_empty(), "crates/{name}/src holds no Rust file");
    files
}

fn rust_files() -> Vec<PathBuf> {
    let mut files = files_below(root());
    files.retain(|path| has_extension(path, &["rs"]));
    assert!(files.len() > 50, "too few Rust files were found for a meaningful test: {}", files.len());
    files
}

fn text_files() -> Vec<PathBuf> {
    let mut files = files_below(root());
    files.retain(|path| has_extension(path, &TEXT) || path.starts_with(root().join(".ci")));
    files
}

/// The lines that contain one of some words, as `path:line: text`.
fn lines_with(path: &Path, found: impl Fn(&str) -> bool) -> Vec<String> {
    let text = read(path);
    let numbered = text.lines().enumerate();
    numbered
        .filter(|(_, line)| found(line))
        .map(|(i, line)| format!("{}:{}: {}", shown(path), i + 1, line.trim()))
        .collect()
}

/// Returns whether a line contains a word that is neither preceded nor followed by a letter, digit or
/// underscore.
fn has_word(line: &str, word: &str) -> bool {
    let part_of_word = |c: char| c.is_alphanumeric() || c == '_';
    line.match_indices(word).any(|(at, _)| {
        !line[..at].ends_with(part_of_word) && !line[at + word.len()..].starts_with(part_of_word)
    })
}

#[track_caller]
fn assert_none(found: &[String], rule: &str) {
    assert!(found.is_empty(), "{rule}\n{}", found.join("\n"));
}

#[test]
fn words_are_found_whole() {
    assert!(has_word("a word, here", "word") && has_word("word", "word") && has_word("sword word", "word"));
    assert!(!has_word("words", "word") && !has_word("sword", "word") && !has_word("a_word", "word"));
}

/// Operators serve any conservation law, and `gpu` any solver: their sources do not name the equations.
#[test]
fn lower_floors_do_not_name_what_is_above_them() {
    for (name, words) in [("ops", ["euler", "navier"]), ("gpu", ["mesh", "flux"])] {
        for path in files_below(&source_of(name)) {
            let found = lines_with(&path, |line| words.iter().any(|word| line.to_lowercase().contains(word)));
            assert_none(&found, &format!("words {words:?} in crates/{name}/src:"));
        }
    }
}

#[test]
fn cuda_is_called_from_gpu_alone() {
    for name in CRATES.iter().filter(|name| **name != "gpu") {
        for path in sources(name) {
            let found = lines_with(&path, |line| has_word(line, "cudarc"));
            assert_none(&found, "cudarc is used in crates/gpu only:");
        }
    }
}

/// A unit test that makes a solver compiles all laws, fluxes and conditions once more, for minutes: it stands
/// in `tests/` of the crate.
#[test]
fn unit_tests_make_no_solver() {
    for path in sources("solve") {
        let code = |line: &str| !line.trim_start().starts_with("//");
        let found = lines_with(&path, |line| code(line) && line.contains("use crate::flow::Flow;"));
        assert_none(&found, "flows are solved in crates/solve/tests:");
    }
}

/// A library that prints cannot be used in a program with its own output. Tests and documentation may print.
#[test]
fn only_app_prints() {
    for name in CRATES.iter().filter(|name| **name != "app") {
        for path in sources(name) {
            let text = read(&path);
            // Unit tests are at the end of a file.
            let code = text.split("#[cfg(test)]\nmod ").next().unwrap_or("");
            let prints = |line: &&str| {
                ["print!", "println!", "eprint!", "eprintln!", "dbg!"].iter().any(|word| has_word(line, word))
            };
            let found: Vec<String> = code
                .lines()
                .filter(|line| !line.trim_start().starts_with("//"))
                .filter(prints)
                .map(|line| format!("{}: {}", shown(&path), line.trim()))
                .collect();
            assert_none(&found, "a library crate prints:");
        }
    }
}

#[test]
fn every_source_file_says_first_what_it_is() {
    let mut found = Vec::new();
    for path in CRATES.iter().flat_map(|name| sources(name)) {
        let text = read(&path);
        let said = text.lines().next().and_then(|line| line.strip_prefix("//! "));
        if said.is_none_or(|words| words.split_whitespace().count() < 3) {
            found.push(shown(&path));
        }
    }
    assert_none(&found, "files that do not begin with a line `//! what this computes`:");
}

#[test]
fn no_file_is_too_long() {
    let mut found = Vec::new();
    for path in rust_files() {
        let lines = read(&path).lines().count();
        if lines > MAX_LINES {
            found.push(format!("{}: {lines} lines", shown(&path)));
        }
    }
    assert_none(&found, &format!("Rust files of more than {MAX_LINES} lines (one idea per file):"));
}

/// `tools/wrap.py` wraps them; a table, a heading, or a line with one word that fills it, may be longer.
#[test]
fn comments_and_pages_are_wrapped() {
    const WIDTH: usize = 110;
    let mut wrong = Vec::new();
    for path in files_below(root()) {
        let page = has_extension(&path, &["md"]);
        // One file is one line of the code map, which is generated.
        if path.ends_with("code-map.md") {
            continue;
        }
        if !page && !has_extension(&path, &["rs", "cu", "cuh", "hpp"]) {
            continue;
        }
        let mut fenced = false;
        for (number, line) in read(&path).lines().enumerate() {
            let bare = line.trim_start();
            let text = bare.trim_start_matches(['/', '!', ' ']);
            let exempt = if page {
                fenced ^= bare.starts_with("```");
                fenced || bare.starts_with(['|', '#', '<', '['])
            } else {
                !bare.starts_with("//") || text.starts_with('|')
            };
            let longest = bare.split_whitespace().map(|word| word.chars().count()).max().unwrap_or(0);
            if !exempt && line.chars().count() > WIDTH && longest < WIDTH - 20 {
                wrong.push(format!("{}:{}: {} characters", shown(&path), number + 1, line.chars().count()));
            }
        }
    }
    assert_none(&wrong, "comments and pages wider than 110 characters (tools/wrap.py wraps them):");
}

#[test]
fn there_is_no_mod_rs() {
    let found: Vec<String> =
        rust_files().iter().filter(|path| path.ends_with("mod.rs")).map(|path| shown(path)).collect();
    assert_none(&found, "a module with children is `name.rs` beside `name/`:");
}

#[test]
fn nothing_is_left_to_do_in_the_text() {
    // Written in two pieces, so that this file passes the test.
    let words = [concat!("TO", "DO"), concat!("FIX", "ME"), concat!("XX", "X")];
    for path in text_files() {
        let found = lines_with(&path, |line| words.iter().any(|word| has_word(line, word)));
        assert_none(&found, "what is missing belongs into an issue, or into the README's list of limits:");
    }
}

#[test]
fn no_path_of_somebody_s_machine() {
    let paths = [
        concat!("/ho", "me/"),
        concat!("/ro", "ot/"),
        concat!("/Use", "rs/"),
        concat!("C:", "\\"),
        concat!("/wo", "rk/"),
    ];
    // After a letter, a dot or a closing brace the path is part of a relative one.
    let absolute = |line: &str, path: &str| {
        line.match_indices(path)
            .any(|(at, _)| !line[..at].ends_with(|c: char| c.is_alphanumeric() || "._-}*".contains(c)))
    };
    for path in text_files() {
        let found = lines_with(&path, |line| paths.iter().any(|path| absolute(line, path)));
        assert_none(&found, "absolute paths:");
    }
}

#[test]
fn crates_without_unsafe_forbid_it() {
    for name in SAFE_CRATES {
        let mut roots = vec![source_of(name).join("lib.rs")];
        roots.extend(Some(source_of(name).join("main.rs")).filter(|path| path.exists()));
        for path in roots {
            let forbids = read(&path).lines().any(|line| line.trim() == "#![forbid(unsafe_code)]");
            assert!(forbids, "{} lacks #![forbid(unsafe_code)]", shown(&path));
        }
    }
}

/// The host plans the dynamic shared memory of a kernel, which compares it with its own layout when it is
/// compiled. One kernel has a layout that each launch chooses.
#[test]
fn kernels_check_how_much_shared_memory_the_host_plans() {
    let mut checked = 0;
    for path in files_below(&source_of("ops")).iter().filter(|path| has_extension(path, &["cu", "cuh"])) {
        let text = read(path);
        checked += text.matches("DG_PLANNED_SHARED(").count();
        let mut before = "";
        for line in text.lines() {
            let plain = has_word(line, "DG_DYNAMIC_SHARED")
                || has_word(line, "__shared__") && line.contains("extern");
            let compared = before.contains("static_assert(") && before.contains("_BYTES");
            assert!(
                !plain || compared || path.ends_with("cuda/run/measure.cu"),
                "{}: shared memory is declared by DG_PLANNED_SHARED",
                shown(path)
            );
            before = line;
        }
    }
    assert!(checked > 25, "{checked} kernels with dynamic shared memory are too few for a meaningful test");
}

/// A comment above each `unsafe` block or implementation, or in its line, gives the reason why it is sound.
#[test]
fn every_unsafe_block_says_why_it_is_sound() {
    const ABOVE: usize = 12;
    for path in CRATES.iter().flat_map(|name| sources(name)) {
        let text = read(&path);
        let lines: Vec<&str> = text.lines().collect();
        let found: Vec<String> = (0..lines.len())
            .filter(|&i| {
                let line = lines[i].trim_start();
                !line.starts_with("//") && (line.contains("unsafe {") || line.starts_with("unsafe impl"))
            })
            .filter(|&i| !lines[i.saturating_sub(ABOVE)..=i].iter().any(|line| line.contains("SAFETY")))
            .map(|i| format!("{}:{}: {}", shown(&path), i + 1, lines[i].trim()))
            .collect();
        assert_none(&found, &format!("unsafe without a line `SAFETY` within {ABOVE} lines above:"));
    }
}

#[test]
fn both_licences_are_here_in_full() {
    let mit = read(&root().join("LICENSE-MIT"));
    assert!(
        mit.contains("Permission is hereby granted") && mit.contains("THE SOFTWARE IS PROVIDED \"AS IS\"")
    );
    let apache = read(&root().join("LICENSE-APACHE"));
    assert!(apache.contains("Version 2.0, January 2004") && apache.contains("END OF TERMS AND CONDITIONS"));
    assert!(apache.lines().count() > 150, "the Apache licence is not the full text");
}

/// Every crate can be read and tried alone.
#[test]
fn every_crate_has_a_readme_a_program_and_tests() {
    for name in CRATES {
        let folder = root().join("crates").join(name);
        let readme = read(&folder.join("README.md"));
        assert!(readme.lines().count() >= 10, "crates/{name}/README.md says too little");
        for part in ["examples", "tests"] {
            let found = files_below(&folder.join(part)).iter().any(|path| has_extension(path, &["rs"]));
            assert!(found, "crates/{name}/{part} holds no Rust file");
        }
        assert!(
            read(&source_of(name).join("lib.rs")).contains("//! ```"),
            "crates/{name}: no example on its front page"
        );
    }
}

/// The anchors of a page: its headings in lower case, blanks as `-`, without punctuation, as mdBook and
/// GitHub make them.
fn anchors(page: &str) -> BTreeSet<String> {
    let mut fenced = false;
    let mut found = BTreeSet::new();
    for line in page.lines() {
        fenced ^= line.trim_start().starts_with("```");
        let title = line.trim_start_matches('#');
        if fenced || title.len() == line.len() || !title.starts_with(' ') {
            continue;
        }
        let kept = title.trim().chars().filter(|c| c.is_alphanumeric() || " _-".contains(*c));
        found.insert(kept.map(|c| if c == ' ' { '-' } else { c }).collect::<String>().to_lowercase());
    }
    found
}

/// Links between the pages, and from them to files, lead somewhere; so do anchors.
#[test]
fn links_in_the_pages_lead_to_files_and_headings() {
    let mut wrong = Vec::new();
    for page in files_below(root()).iter().filter(|path| has_extension(path, &["md"])) {
        let text = read(page);
        for target in text.split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
            let (file, anchor) = target.split_once('#').unwrap_or((target, ""));
            if file.contains("://") || file.contains("::") {
                continue;
            }
            let path = match file {
                "" => page.clone(),
                file => page.parent().expect("a file's folder").join(file),
            };
            let leads = path.exists()
                && (anchor.is_empty() || path.is_dir() || anchors(&read(&path)).contains(anchor));
            if !leads {
                wrong.push(format!("{}: {target}", shown(page)));
            }
        }
    }
    assert_none(&wrong, "links to files or headings that do not exist:");
}

/// Every page of the book is in its table of contents.
#[test]
fn the_book_lists_every_page() {
    let folder = root().join("docs/src");
    let contents = read(&folder.join("SUMMARY.md"));
    let mut missing = Vec::new();
    for path in files_below(&folder).iter().filter(|path| has_extension(path, &["md"])) {
        let page = shown(path).trim_start_matches("docs/src/").to_owned();
        if page != "SUMMARY.md" && !page.starts_with("images/") && !contents.contains(&format!("({page})")) {
            missing.push(page);
        }
        if read(path).lines().count() < 5 {
            missing.push(format!("{} is empty", shown(path)));
        }
    }
    assert_none(&missing, "pages that docs/src/SUMMARY.md does not list:");
}

/// Example pipelines and data that the pages name exist.
#[test]
fn pipelines_and_data_named_in_the_pages_exist() {
    let mut wrong = Vec::new();
    let mut count = 0;
    for name in ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CONVENTIONS.md"] {
        let text = read(&root().join(name));
        for word in text.split(|c: char| c.is_whitespace() || "`()[],;\"'".contains(c)) {
            let word = word.trim_end_matches(['.', ':']);
            let ours =
                ["examples/", "data/", "crates/", "tests/"].iter().any(|start| word.starts_with(start));
            // `<case>` and `*` are placeholders, and `out/` contains results of runs.
            if ours && !word.contains(['<', '*', '…']) && !word.contains("/out/") {
                count += 1;
                if !root().join(word).exists() {
                    wrong.push(format!("{name}: {word}"));
                }
            }
        }
    }
    assert!(count > 5, "too few names were found for a meaningful test: {count}");
    assert_none(&wrong, "files that are named and do not exist:");
}

/// Source files that the pages name exist: by their path, or by the end of it without `crates` and `src`,
/// such as `timeint/controller.rs`.
#[test]
fn source_files_named_in_the_pages_exist() {
    let parts = |path: &str| -> Vec<String> {
        path.split('/').filter(|part| !["crates", "src"].contains(part)).map(str::to_owned).collect()
    };
    let files = files_below(root());
    let known: Vec<Vec<String>> = files.iter().map(|path| parts(&shown(path))).collect();
    let ends = [".rs", ".cu", ".cuh", ".hpp"];
    let (mut wrong, mut count) = (Vec::new(), 0);
    // The code map has a test of its own.
    for page in files.iter().filter(|path| has_extension(path, &["md"]) && !path.ends_with("code-map.md")) {
        for word in read(page).split(|c: char| c.is_whitespace() || "`()[],;\"'│".contains(c)) {
            let word = word.trim_end_matches(['.', ':']).split(['#', ':']).next().unwrap_or_default();
            let named = ends.iter().any(|end| word.len() > end.len() && word.ends_with(end));
            // `*` and `<case>` are placeholders; two names are examples of names.
            if !named || word.contains(['*', '<', '{', '…']) || ["mod.rs", "volume.rs"].contains(&word) {
                continue;
            }
            count += 1;
            let end = parts(word);
            if !known.iter().any(|path| path.ends_with(&end)) {
                wrong.push(format!("{}: {word}", shown(page)));
            }
        }
    }
    assert!(count > 100, "too few names were found for a meaningful test: {count}");
    assert_none(&wrong, "source files that are named and do not exist:");
}

/// A number of speed on the front page has the command beside it that measures it.
#[test]
fn speeds_of_the_front_page_have_commands() {
    let readme = read(&root().join("README.md"));
    let part = readme.split("## How fast it is").nth(1).and_then(|part| part.split("\n## ").next());
    let rows: Vec<&str> = part.unwrap_or_default().lines().filter(|line| line.contains("DOF/s")).collect();
    assert!(rows.len() > 3, "the table of speeds was not found");
    let command = |row: &&str| {
        let last = row.trim_end_matches(" |").rsplit(" | ").next().unwrap_or_default();
        last.starts_with('`') && ["bench", "run ", "--example "].iter().any(|word| last.contains(word))
    };
    let without: Vec<String> = rows.iter().filter(|row| !command(row)).map(|row| (*row).to_owned()).collect();
    assert_none(&without, "speeds without a command in README.md:");
}

/// The front page is read in a minute, and fits a terminal; the other one in ten.
#[test]
fn the_front_pages_are_short() {
    let readme = read(&root().join("README.md"));
    assert!(readme.lines().count() <= 150, "README.md has more than 150 lines");
    let wide: Vec<&str> = readme.lines().filter(|line| line.chars().count() > 110).collect();
    assert!(wide.is_empty(), "README.md has lines of more than 110 characters:\n{}", wide.join("\n"));
    let size = read(&root().join("ARCHITECTURE.md")).len();
    assert!(size <= 15_000, "ARCHITECTURE.md has {size} bytes, more than 15,000");
}

#[test]
fn every_pipeline_has_a_title_and_a_short_form_for_tests() {
    let mut files = files_below(&root().join("examples"));
    files.retain(|path| has_extension(path, &["yaml", "yml"]));
    assert!(!files.is_empty(), "examples/ holds no pipeline");
    for path in files {
        assert!(has_extension(&path, &["yaml"]), "{}: pipelines end in .yaml", shown(&path));
        let text = read(&path);
        for key in ["title:", "ci:"] {
            assert!(
                text.lines()
                    .any(|line| line.starts_with(key) && line.len() > key.len() || line.trim_end() == key),
                "{} has no key `{key}` at its top level",
                shown(&path)
            );
        }
    }
}

/// Without the declarations of keys, which are macros, and without comments.
fn without_declarations(source: &str) -> (String, String) {
    let (mut declared, mut rest, mut inside) = (String::new(), String::new(), false);
    for line in source.lines().filter(|line| !line.trim_start().starts_with("//")) {
        inside |= line.starts_with("keys! {") || line.starts_with("macro_rules! ");
        let part = if inside { &mut declared } else { &mut rest };
        part.push_str(line);
        part.push('\n');
        inside &= line != "}";
    }
    (declared, rest)
}

/// A key is declared once: what reads it has no second list of its words and no limits of its own, and its
/// row of the table is not written by hand.
#[test]
fn keys_that_are_declared_have_no_second_list() {
    let readers = ["number", "positive", "count", "flag", "choice", "vector"];
    let limits = ["\"from ", "\"at least ", "\"below ", "\"0 or more"];
    let (mut wrong, mut count) = (Vec::new(), 0);
    for path in sources("app").iter().filter(|path| !path.ends_with("file/key.rs")) {
        let source = read(path);
        let of_section =
            source.contains("use super::{") && path.to_string_lossy().contains("/pipeline/mesh/");
        if !source.contains("\nkeys! {") && !of_section {
            continue;
        }
        count += 1;
        let (declared, rest) = without_declarations(&source);
        let mut texts = vec![("row(\"".to_owned(), "writes a row by hand")];
        texts.extend(readers.iter().map(|name| (format!(".{name}(\""), "reads a key past its declaration")));
        // What a message expects stands within its first words.
        for message in rest.split("InputError::range(").skip(1) {
            let start: String = message.chars().take(80).collect();
            if let Some(limit) = limits.iter().find(|limit| start.contains(**limit)) {
                wrong.push(format!("{}: `{limit}` is a limit of its own", shown(path)));
            }
        }
        // `("word", value)`
        for piece in declared.split("(\"").skip(1) {
            if let Some((word, _)) = piece.split_once("\", ").filter(|(word, _)| !word.contains('"')) {
                texts.push((format!("\"{word}\""), "is a word of a declaration"));
            }
        }
        let found = texts.iter().filter(|(text, _)| rest.contains(text));
        wrong.extend(found.map(|(text, why)| format!("{}: `{text}` {why}", shown(path))));
    }
    assert!(count >= 7, "too few sections declare their keys for a meaningful test: {count}");
    assert_none(&wrong, "second lists beside declarations of keys:");
}
