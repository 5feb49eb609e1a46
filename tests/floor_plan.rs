//! Tests the dependencies among crates against the floor plan of ARCHITECTURE.md, the rooms of `ops`, and the
//! oldest Rust.
//!
//! Dependencies are read from `cargo metadata`, so that the tests check what cargo builds; rooms from
//! sources.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

/// Each crate (by folder) with the crates below it that it may use.
const FLOOR_PLAN: [(&str, &[&str]); 10] = [
    ("app", &["amg", "basis", "gpu", "mesh", "ops", "output", "physics", "solve", "timeint"]),
    ("output", &["basis", "solve", "timeint"]),
    ("solve", &["amg", "basis", "gpu", "mesh", "ops", "physics", "timeint"]),
    ("ops", &["basis", "gpu", "mesh", "physics"]),
    ("mesh", &["basis"]),
    ("timeint", &["gpu"]),
    ("amg", &["gpu"]),
    ("physics", &[]),
    ("basis", &[]),
    ("gpu", &[]),
];

/// The package at the root of the workspace, which holds the tests of the whole suite.
const ROOT_PACKAGE: &str = "dgsuite-workspace";

/// A program on top of the workspace, as users write it.
const OWN_PROGRAM: &str = "own-flux";

fn cargo_metadata(arguments: &[&str]) -> Value {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Command::new(cargo)
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .args(["metadata", "--format-version", "1", "--offline"])
        .args(arguments)
        .output()
        .expect("cargo can be started");
    assert!(output.status.success(), "cargo metadata: {}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).expect("cargo metadata prints JSON")
}

fn text<'a>(value: &'a Value, key: &str) -> &'a str {
    value[key].as_str().unwrap_or_else(|| panic!("no text `{key}` in {value}"))
}

fn list<'a>(value: &'a Value, key: &str) -> &'a [Value] {
    value[key].as_array().unwrap_or_else(|| panic!("no list `{key}` in {value}"))
}

/// The folder under `crates/` of a member, by the name of its package.
fn folder_of(package: &str) -> &str {
    if package == "dgsuite" { "app" } else { package.strip_prefix("dgsuite-").unwrap_or(package) }
}

/// Edges among members, `(from, to)`, of dependencies of one kind: `normal`, `dev` or `build`.
fn edges(metadata: &Value, kind: &str) -> BTreeSet<(String, String)> {
    let mut edges = BTreeSet::new();
    for package in list(metadata, "packages") {
        let from = text(package, "name");
        if from == OWN_PROGRAM {
            continue;
        }
        for dependency in list(package, "dependencies") {
            let of_kind = dependency["kind"].as_str().unwrap_or("normal") == kind;
            // A member is a dependency with a path; dependencies from a registry have none.
            if of_kind && dependency["path"].is_string() {
                edges.insert((folder_of(from).to_owned(), folder_of(text(dependency, "name")).to_owned()));
            }
        }
    }
    edges
}

fn allowed(from: &str, to: &str) -> bool {
    FLOOR_PLAN.iter().any(|(name, below)| *name == from && below.contains(&to))
}

/// The crates that `from` may reach, including itself.
fn below(from: &str) -> BTreeSet<&'static str> {
    let (name, direct) = FLOOR_PLAN.iter().find(|(name, _)| *name == from).expect("a crate of the plan");
    direct.iter().flat_map(|next| below(next)).chain([*name]).collect()
}

#[test]
fn the_crates_are_those_of_the_floor_plan() {
    let metadata = cargo_metadata(&["--no-deps"]);
    let mut found: Vec<&str> = list(&metadata, "packages").iter().map(|p| text(p, "name")).collect();
    found.sort_unstable();
    let mut expected: Vec<String> = FLOOR_PLAN
        .iter()
        .map(|(name, _)| if *name == "app" { "dgsuite".to_owned() } else { format!("dgsuite-{name}") })
        .chain([ROOT_PACKAGE, OWN_PROGRAM].map(str::to_owned))
        .collect();
    expected.sort_unstable();
    assert_eq!(found, expected, "a new crate gets its floor in FLOOR_PLAN and in ARCHITECTURE.md");
}

#[test]
fn dependencies_go_down_the_floor_plan() {
    let metadata = cargo_metadata(&["--no-deps"]);
    let edges = edges(&metadata, "normal");
    assert!(edges.len() >= 10, "too few edges were found for a meaningful test: {edges:?}");
    let against: Vec<_> = edges.iter().filter(|(from, to)| !allowed(from, to)).collect();
    assert!(against.is_empty(), "edges that are not in the floor plan: {against:?}");
}

#[test]
fn build_dependencies_are_none() {
    let metadata = cargo_metadata(&["--no-deps"]);
    assert_eq!(edges(&metadata, "build"), BTreeSet::new());
    for package in list(&metadata, "packages") {
        for target in list(package, "targets") {
            assert!(
                !list(target, "kind").contains(&"custom-build".into()),
                "{} has a build script; the default build needs none",
                text(package, "name")
            );
        }
    }
}

/// Tests may depend on crates of the same floor, but not above: a crate must be testable without the crates
/// above it.
#[test]
fn dev_dependencies_do_not_go_up() {
    let metadata = cargo_metadata(&["--no-deps"]);
    let edges = edges(&metadata, "dev");
    println!("dev-dependencies among members: {edges:?}");
    let up: Vec<_> = edges.iter().filter(|(from, to)| below(to).contains(from.as_str())).collect();
    assert!(up.is_empty(), "dev-dependencies on a crate above: {up:?}");
}

#[test]
fn cuda_is_reached_through_gpu_alone() {
    let metadata = cargo_metadata(&["--no-deps"]);
    for package in list(&metadata, "packages") {
        let name = text(package, "name");
        for dependency in list(package, "dependencies") {
            let cuda = text(dependency, "name") == "cudarc";
            assert!(!cuda || name == "dgsuite-gpu", "{name} depends on cudarc; only dgsuite-gpu may");
        }
    }
}

/// Data that the registry shows; `cargo publish` rejects a crate without it.
#[test]
fn each_crate_could_be_published() {
    let metadata = cargo_metadata(&["--no-deps"]);
    for package in list(&metadata, "packages") {
        let name = text(package, "name");
        assert_eq!(text(package, "license"), "MIT OR Apache-2.0", "{name}");
        assert_eq!(text(package, "edition"), "2024", "{name}");
        if [ROOT_PACKAGE, OWN_PROGRAM].contains(&name) {
            continue;
        }
        for key in ["description", "repository", "readme", "rust_version"] {
            assert!(!text(package, key).is_empty(), "{name}: {key}");
        }
        assert!((1..=5).contains(&list(package, "keywords").len()), "{name}: one to five keywords");
        assert!(!list(package, "categories").is_empty(), "{name}: categories");
        assert!(package["publish"].is_null(), "{name} is kept from being published");
        for dependency in list(package, "dependencies") {
            // cargo drops dev-dependencies without a version from the packed manifest, and rejects other
            // dependencies without one.
            let packed = dependency["kind"].as_str() != Some("dev");
            assert!(
                !packed || text(dependency, "req") != "*",
                "{name}: {} has no version",
                dependency["name"]
            );
        }
    }
}

/// `1.89` or `1.89.0` as numbers that can be compared.
fn version(words: &str) -> (u32, u32, u32) {
    let mut parts = words.split('.').map(|part| part.parse().expect("a number"));
    (parts.next().expect("a major version"), parts.next().unwrap_or(0), parts.next().unwrap_or(0))
}

/// The dependencies build with the oldest Rust of the workspace, as far as they declare theirs.
#[test]
fn no_dependency_asks_for_a_newer_rust() {
    let rustc = Command::new("rustc").arg("-vV").output().expect("rustc can be started");
    let rustc = String::from_utf8(rustc.stdout).expect("rustc prints UTF-8");
    let host = rustc.lines().find_map(|line| line.strip_prefix("host: ")).expect("rustc names its host");
    let metadata = cargo_metadata(&["--filter-platform", host]);

    let mut asked = BTreeMap::new();
    let mut stated = BTreeSet::new();
    for package in list(&metadata, "packages") {
        let member = package["source"].is_null();
        match (member, package["rust_version"].as_str()) {
            (true, words) => {
                stated.insert(words.map(version));
            }
            (false, Some(words)) => {
                asked.insert(
                    format!("{} {}", text(package, "name"), text(package, "version")),
                    version(words),
                );
            }
            (false, None) => {}
        }
    }
    let oldest = stated.pop_first().flatten().expect("every member states rust-version");
    assert!(stated.is_empty(), "members differ in rust-version");
    assert!(asked.len() > 20, "too few dependencies were found for a meaningful test: {asked:?}");
    asked.retain(|_, version| *version > oldest);
    assert!(asked.is_empty(), "dependencies newer than rust-version {oldest:?}: {asked:?}");
}

/// The Rust files below a folder with their text, without comments.
fn code_below(folder: &Path) -> Vec<(PathBuf, String)> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).expect("a folder of sources") {
        let path = entry.expect("an entry of a folder").path();
        if path.is_dir() {
            found.extend(code_below(&path));
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let text = fs::read_to_string(&path).expect("a source file");
            let code = text.lines().map(|line| line.split("//").next().unwrap_or(line));
            found.push((path, code.collect::<Vec<_>>().join("\n")));
        }
    }
    found
}

/// The names that a path goes on with: those of the first level of `{…}`, or one.
fn next_names(rest: &str) -> Vec<String> {
    let word = |text: &str| -> String {
        text.trim_start().chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect()
    };
    let Some(group) = rest.strip_prefix('{') else { return vec![word(rest)] };
    let (mut depth, mut names, mut start) = (0, Vec::new(), 0);
    for (i, c) in group.char_indices() {
        match c {
            '{' => depth += 1,
            '}' if depth > 0 => depth -= 1,
            ',' | '}' if depth == 0 => {
                names.push(word(&group[start..i]));
                start = i + 1;
                if c == '}' {
                    break;
                }
            }
            _ => {}
        }
    }
    names
}

/// Which rooms of a house use which: a room is a module of `face`, its file and the folder of its name. Tests
/// may use all rooms.
///
/// The code names all of a crate from its root, `crate::room::…` or `crate::Name` of what `face` hands on, or
/// from the file of a room as `super::room::…`.
fn rooms_used(face: &Path, path_of_face: &str) -> BTreeMap<String, BTreeSet<String>> {
    let text = fs::read_to_string(face).expect("the file that lists the rooms");
    let house = if face.ends_with("lib.rs") { face.with_file_name("") } else { face.with_extension("") };
    let plain = |line: &str| match line.strip_prefix("pub(").and_then(|rest| rest.split_once(") ")) {
        Some((_, rest)) => rest.to_owned(),
        None => line.trim_start_matches("pub ").to_owned(),
    };
    let rooms: Vec<String> = text
        .lines()
        .filter_map(|line| Some(plain(line).strip_prefix("mod ")?.strip_suffix(';')?.to_owned()))
        .collect();
    assert!(rooms.len() > 5, "too few rooms were found for a meaningful test: {rooms:?}");
    let mut room_of: BTreeMap<&str, &str> = rooms.iter().map(|room| (&**room, &**room)).collect();
    for line in text.split("pub use ").skip(1) {
        let (path, names) =
            line.split_once(';').map_or(line, |found| found.0).rsplit_once("::").expect("a path");
        let room = path.split("::").find(|part| *part != "self").unwrap_or(path);
        let names = names.split(|c: char| !(c.is_alphanumeric() || c == '_')).filter(|name| !name.is_empty());
        room_of.extend(names.map(|name| (name, room)));
    }
    let mut used: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for (path, code) in code_below(&house) {
        let inside = path.strip_prefix(&house).expect("a file of the house").with_extension("");
        let own = inside.iter().next().and_then(|room| room.to_str()).expect("a room");
        if own == "lib" || inside.ends_with("tests") {
            continue;
        }
        let code = code.split("\n#[cfg(test)]\nmod tests {").next().unwrap_or(&code);
        assert!(
            !code.contains("super::super"),
            "{}: name each module by its path from the root",
            path.display()
        );
        let mut paths: Vec<&str> = code.split(path_of_face).skip(1).collect();
        if inside.iter().count() == 1 {
            paths.extend(code.split("super::").skip(1));
        }
        for name in paths.into_iter().flat_map(next_names) {
            if let Some(room) = room_of.get(&*name).filter(|room| **room != own) {
                used.entry(own.to_owned()).or_default().insert((*room).to_owned());
            }
        }
    }
    used
}

/// The rooms of a face of a crate that use each other in circles, with what they use there.
fn circles(face: &Path, path_of_face: &str) -> BTreeMap<String, BTreeSet<String>> {
    let mut used = rooms_used(face, path_of_face);
    assert!(used.values().map(BTreeSet::len).sum::<usize>() >= 7, "too few uses were found: {used:?}");
    loop {
        let open: BTreeSet<String> = used.keys().cloned().collect();
        used.retain(|_, below| {
            below.retain(|room| open.contains(room));
            !below.is_empty()
        });
        if used.len() == open.len() {
            return used;
        }
    }
}

/// Rooms can be put in an order in which each uses only those before it.
#[test]
fn rooms_do_not_use_each_other_in_circles() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("crates");
    for (face, path) in [
        ("ops/src/lib.rs", "crate::"),
        ("ops/src/cuda.rs", "crate::cuda::"),
        ("app/src/lib.rs", "crate::"),
        ("app/src/file.rs", "crate::file::"),
        ("app/src/monitors.rs", "crate::monitors::"),
        ("app/src/pipeline.rs", "crate::pipeline::"),
        ("app/src/plan.rs", "crate::plan::"),
        ("app/src/run.rs", "crate::run::"),
        ("solve/src/lib.rs", "crate::"),
        ("solve/src/elliptic.rs", "crate::elliptic::"),
        ("solve/src/incompressible.rs", "crate::incompressible::"),
        ("output/src/lib.rs", "crate::"),
        ("output/src/writer.rs", "crate::writer::"),
    ] {
        let circles = circles(&crates.join(face), path);
        assert!(circles.is_empty(), "rooms of {face} use each other in a circle: {circles:?}");
    }
}

#[test]
fn no_folder_of_a_large_crate_is_a_heap() {
    const MOST: usize = 25;
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("crates");
    let mut open = ["ops", "solve", "output", "app"].map(|name| crates.join(name).join("src")).to_vec();
    while let Some(folder) = open.pop() {
        let entries =
            fs::read_dir(&folder).expect("a folder of sources").map(|e| e.expect("an entry").path());
        let (folders, files): (Vec<PathBuf>, Vec<PathBuf>) = entries.partition(|path| path.is_dir());
        let n = files.len();
        assert!(n <= MOST, "{} has {n} files, more than {MOST}: make a room", folder.display());
        open.extend(folders);
    }
}
