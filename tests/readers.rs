//! Runs the fuzz targets (`fuzz/`) on stable Rust, over good files and damaged copies, the same each time.
//!
//! `DGSUITE_FUZZ_SECONDS=120` continues for that time with other copies. The current copy is stored in
//! `target/fuzz`, so that it is available after an abort or a kill; every copy that failed is kept there.

use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

#[path = "../fuzz/src/mutate.rs"]
#[expect(unreachable_pub, reason = "public in the crate of the fuzz targets")]
mod mutate;
#[path = "../fuzz/src/targets.rs"]
#[expect(unreachable_pub, reason = "public in the crate of the fuzz targets")]
mod targets;

use mutate::Mutator;

/// Larger files take long and find nothing that smaller ones do not find.
const LARGEST: u64 = 12_000;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The files of folders below the root, in order.
fn files(folders: &[&str]) -> Vec<(PathBuf, Vec<u8>)> {
    let mut paths = Vec::new();
    for folder in folders {
        let entries = fs::read_dir(root().join(folder)).expect("a folder of good files");
        paths.extend(entries.map(|entry| entry.expect("an entry").path()));
    }
    paths.retain(|path| path.is_file() && path.metadata().is_ok_and(|data| data.len() <= LARGEST));
    paths.sort();
    assert!(paths.len() > 2, "too few files in {folders:?}");
    paths.into_iter().map(|path| (path.clone(), fs::read(&path).expect("a good file"))).collect()
}

/// Runs a target over the files of some folders, and over damaged copies of them: `copies` of them, or as
/// many as the time allows.
#[expect(clippy::print_stdout, reason = "the harness shows it if a test fails, or on request")]
fn try_all(target: &str, run: fn(&[u8]), folders: &[&str], copies: usize) {
    for (path, bytes) in files(folders) {
        println!("{}", path.display());
        run(&bytes);
    }
    let good: Vec<Vec<u8>> = files(folders).into_iter().map(|(_, bytes)| bytes).collect();
    let mut mutator = Mutator::new(1);
    let Some(seconds) = std::env::var("DGSUITE_FUZZ_SECONDS").ok().and_then(|s| s.parse().ok()) else {
        (0..copies).for_each(|_| run(&mutator.damaged(&good)));
        return;
    };
    let kept = root().join("target/fuzz").join(target);
    fs::create_dir_all(&kept).expect("a folder");
    let seed = std::env::var("DGSUITE_FUZZ_SEED").ok().and_then(|s| s.parse().ok()).unwrap_or(2);
    let (mut mutator, start) = (Mutator::new(seed), Instant::now());
    let (mut tried, mut failed, mut longest) = (0, 0, Duration::ZERO);
    while start.elapsed() < Duration::from_secs(seconds) {
        let file = mutator.damaged(&good);
        fs::write(kept.join("at-hand"), &file).expect("a file");
        let begin = Instant::now();
        if catch_unwind(AssertUnwindSafe(|| run(&file))).is_err() {
            failed += 1;
            fs::write(kept.join(format!("failed-{failed}")), &file).expect("a file");
        }
        if begin.elapsed() > longest {
            longest = begin.elapsed();
            fs::write(kept.join("slowest"), &file).expect("a file");
        }
        tried += 1;
    }
    println!("{target}: {tried} files, {failed} failed, the slowest took {longest:?}");
    assert_eq!(failed, 0, "see {}", kept.display());
}

#[test]
fn meshes_are_refused_or_whole() {
    try_all("mesh", targets::mesh, &["data/meshes", "data/meshes/orders", "fuzz/seeds/mesh"], 2000);
}

#[test]
fn pipeline_files_are_refused_with_a_message_or_read() {
    let folders = ["advection", "euler", "navier-stokes", "poisson"].map(|name| format!("examples/{name}"));
    let mut folders: Vec<&str> = folders.iter().map(String::as_str).collect();
    folders.push("fuzz/seeds/pipeline");
    try_all("pipeline", targets::pipeline, &folders, 1000);
}

#[test]
fn formulas_are_refused_with_their_place_or_are_one_number() {
    try_all("formula", targets::formula, &["fuzz/seeds/formula"], 20_000);
}

#[test]
fn checkpoints_are_refused_with_a_message_or_start_a_run() {
    try_all("checkpoint", targets::checkpoint, &["fuzz/seeds/checkpoint"], 100);
}
