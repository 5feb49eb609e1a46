//! Properties of the reader of pipeline files, for random input.

use std::path::Path;

use dgsuite::file::node::Node;
use dgsuite::file::source::Source;
use dgsuite::pipeline::Document;
use dgsuite::pipeline::overrides::{Override, apply};
use proptest::prelude::*;

const CASE: &str = "\
title: A case
mesh: { file: a.msh, refine: 1 }
physics: { model: euler }
space: { order: 2, basis: nodal }
initial: { exact: isentropic-vortex }
boundaries:
  wall: { type: slip-wall }
time: { cfl: 0.5, end: 1 }
monitors:
- error: { exact: isentropic-vortex, every: 0.5 }
checks:
- { value: error.l2.rho, below: 1e-3 }
";

fn config() -> ProptestConfig {
    ProptestConfig { cases: 256, failure_persistence: None, ..ProptestConfig::default() }
}

fn read(text: &str) -> Result<(), String> {
    let source = Source::new("case.yaml", text);
    let document = Document::parse(&source, Path::new("."), "case", false, &[]).map_err(|e| e.to_string())?;
    document.pipeline().map(|_| ()).map_err(|e| e.to_string())
}

proptest! {
    #![proptest_config(config())]

    /// Any text is read or rejected with a message; nothing panics.
    #[test]
    fn any_text_is_read_or_refused(text in "[ -~\n]{0,200}") {
        if let Err(message) = read(&text) {
            prop_assert!(!message.is_empty());
        }
    }

    /// A case with one character replaced, inserted or removed is read or rejected with a message.
    #[test]
    fn a_typo_is_read_or_refused(at in 0..CASE.len(), c in "[ -~]?", skip in 0..2_usize) {
        let end = (at + skip).min(CASE.len());
        let text = format!("{}{c}{}", &CASE[..at], &CASE[end..]);
        if let Err(message) = read(&text) {
            prop_assert!(message.lines().count() >= 1);
        }
    }

    /// A value set by an override is found at its path.
    #[test]
    fn an_override_is_found_where_it_was_set(
        path in prop::collection::vec("[a-z]{1,6}", 1..4),
        value in -1000_i32..1000,
    ) {
        let mut root = Node::parse(&Source::new("case.yaml", "top: { a: 1 }\n")).unwrap();
        let typed = format!("new.{}={value}", path.join("."));
        apply(&mut root, &[Override::parse(&typed).unwrap()]).unwrap();
        let mut node = root.get("new").unwrap();
        for key in &path {
            node = node.get(key).unwrap();
        }
        prop_assert_eq!(node.value.scalar_text(), Some(value.to_string()));
        prop_assert!(root.get("top").and_then(|top| top.get("a")).is_some());
    }

    /// Numbers survive writing and reading bit for bit.
    #[test]
    fn numbers_survive_writing_and_reading(x in any::<f64>().prop_filter("finite", |x| x.is_finite())) {
        let root = Node::parse(&Source::new("case.yaml", format!("x: {x:?}\n"))).unwrap();
        let again = Node::parse(&Source::new("again.yaml", root.to_yaml().unwrap())).unwrap();
        let number = |node: &Node| node.get("x").unwrap().value.scalar_text().unwrap().parse::<f64>().unwrap();
        // Zero loses its sign, which has no meaning as a value of a key.
        prop_assert_eq!((number(&root) + 0.0).to_bits(), (x + 0.0).to_bits());
        prop_assert_eq!((number(&again) + 0.0).to_bits(), (x + 0.0).to_bits());
    }
}
