//! What comes out of runs that end.

#![expect(clippy::unwrap_used, reason = "a test ends where its preparation fails")]

#[path = "support/case.rs"]
mod support;

use std::fs;

use support::{Case, PLATE};

/// Where a part of a text begins.
#[track_caller]
fn at(text: &str, part: &str) -> usize {
    text.find(part).unwrap_or_else(|| panic!("`{part}` is not in:\n{text}"))
}

#[test]
fn vorticity_in_the_plane_has_one_component() {
    let case = Case::new(&format!("{PLATE}output: {{ fields: {{ names: [Vorticity, Velocity] }} }}\n"));
    case.run(&[]);
    let file = fs::read(case.path("out/case/fields/fields_000001.vtu")).unwrap();
    let text = String::from_utf8_lossy(&file);
    for (name, components) in [("Vorticity", 1), ("Velocity", 3)] {
        at(&text, &format!("Name=\"{name}\" NumberOfComponents=\"{components}\""));
    }
}
