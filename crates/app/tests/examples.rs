//! Every example runs, shortened by its `ci` block, and passes its checks. It runs in another directory, so
//! that files that depend on the working directory are noticed.

#![expect(clippy::unwrap_used, reason = "a failed preparation fails the test")]

#[path = "support/case.rs"]
mod support;

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::{Value, json};

fn examples() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    let mut files = Vec::new();
    let mut folders = vec![root];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            // A crate has words of its own.
            let own = path.join("Cargo.toml").exists();
            if path.is_dir() && path.file_name().is_some_and(|n| n != "out") && !own {
                folders.push(path);
            } else if path.extension().is_some_and(|e| e == "yaml") {
                files.push(path);
            }
        }
    }
    files.sort();
    files
}

/// Calls `test` for the number and the file of each example, as many at a time as there are cores.
fn for_each(test: impl Fn(usize, &Path) + Sync) {
    let files = examples();
    assert!(files.len() >= 8, "{files:?}");
    let next = AtomicUsize::new(0);
    let work = || {
        loop {
            let i = next.fetch_add(1, Ordering::Relaxed);
            let Some(file) = files.get(i) else { return };
            test(i, file);
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, |n| n.get()) {
            scope.spawn(work);
        }
    });
}

/// Each with one thread: the runs are too small for more.
#[test]
fn every_example_runs() {
    let directory = tempfile::tempdir().unwrap();
    // Some files have the same name.
    for_each(|i, file| passes_its_checks(&directory.path().join(i.to_string()), file));
}

fn passes_its_checks(directory: &Path, file: &Path) {
    std::fs::create_dir(directory).unwrap();
    let results = directory.join("out");
    let [name, output] = [file, &results].map(|path| path.to_str().unwrap());
    let args = ["run", "--ci", "--quiet", "--set", "threads=1", "--output", output, name];
    let outcome = support::dgsuite(directory, &args);
    assert_eq!(outcome.code, 0, "{name}: {}", outcome.stderr);
    let text = std::fs::read_to_string(results.join("summary.json")).unwrap();
    let summary: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(summary["status"], json!("ok"), "{name}");
    assert!(!summary["checks"].as_array().unwrap().is_empty(), "{name} checks nothing");
}

/// Examples that are checked with fewer cells: making the solver of the full mesh takes seconds, and all that
/// a file says is read and resolved alike on a coarse one.
const LARGE: [(&str, &str); 15] = [
    ("euler/vortex-speed.yaml", "mesh.generate.cells=[16, 16]"),
    ("euler/wave-speed.yaml", "mesh.generate.cells=[4, 4, 4]"),
    ("incompressible/channel-186.yaml", "mesh.generate.cells=[2, 2, 2]"),
    ("incompressible/channel-inflow.yaml", "mesh.generate.cells=[2, 2, 2]"),
    ("incompressible/cylinder-3d-1z.yaml", "space.order=1"),
    ("incompressible/taylor-green.yaml", "mesh.generate.cells=[2, 2, 2]"),
    ("navier-stokes/channel-180.yaml", "mesh.generate.cells=[4, 4, 4]"),
    ("navier-stokes/channel-5200.yaml", "mesh.generate.cells=[4, 4, 4]"),
    ("navier-stokes/orders-3d-high.yaml", "study.refine=[0]"),
    ("navier-stokes/orders-3d.yaml", "study.refine=[0, 1]"),
    ("navier-stokes/orders-high.yaml", "study.order=[4]"),
    ("navier-stokes/orders.yaml", "study.refine=[0, 1]"),
    ("navier-stokes/taylor-green.yaml", "mesh.generate.cells=[2, 2, 2]"),
    ("poisson/growth.yaml", "study.\"mesh.generate.cells\"=[[8, 8]]"),
    ("poisson/speed.yaml", "constants.dofs=4e3"),
];

/// The checks of the long form of every example are valid too.
#[test]
fn every_example_is_fit_to_run_in_full() {
    let found = AtomicUsize::new(0);
    for_each(|_, file| {
        let large = LARGE.iter().filter(|(name, _)| file.ends_with(name));
        let coarse: Vec<&str> = large.flat_map(|(_, set)| ["--set", set]).collect();
        found.fetch_add(coarse.len() / 2, Ordering::Relaxed);
        let args = [&["check", file.to_str().unwrap()], &coarse[..]].concat();
        let outcome = support::dgsuite(Path::new("."), &args);
        assert_eq!(outcome.code, 0, "{}: {}", file.display(), outcome.stderr);
    });
    assert_eq!(found.into_inner(), LARGE.len(), "an example of the list is missing");
}
