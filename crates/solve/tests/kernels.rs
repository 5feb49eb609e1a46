//! Which kernels a GPU runs for every combination of shape, form, geometry, model and order 1 to 4, and the
//! digests of their texts. No device is needed.
//!
//! `DGSUITE_UPDATE_KERNELS=1 cargo test --release -p dgsuite-solve --test kernels` writes the lists.

use dgsuite_solve::bench;
use std::fs;
use std::path::Path;

fn compare(name: &str, found: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(name);
    if std::env::var_os("DGSUITE_UPDATE_KERNELS").is_some() {
        fs::write(&path, found).expect("the list can be written");
    }
    let kept = fs::read_to_string(&path).unwrap_or_default();
    let differs = found.lines().zip(kept.lines()).find(|(new, old)| new != old);
    assert!(
        found == kept,
        "{name} is not up to date ({}); DGSUITE_UPDATE_KERNELS=1 writes it",
        differs.map_or("its length".to_owned(), |(new, old)| format!("{old:?} should be {new:?}"))
    );
}

#[test]
fn kernels_are_chosen_and_written_as_listed() {
    let choices = bench::choices(0).expect("a machine");
    compare("kernels.txt", &bench::list(&choices));
    compare("kernel-digests.txt", &bench::digests(&choices));
}
