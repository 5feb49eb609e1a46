//! Overrides: `--set space.order=4`, the section `ci` and the cases of a study change the tree before it is
//! read.

use std::sync::Arc;

use crate::file::every::AUTO;
use crate::file::node::{Entry, Node, Value};
use crate::file::problem::{InputError, PathFault, Problem};
use crate::file::source::{DEEPEST, Place, Source};

/// A path of a key with its new value.
#[derive(Clone, Debug)]
pub struct Override {
    /// The keys from the top. An entry of a list is addressed by its number, counted from 0, or by its key if
    /// it is a section with one key (`monitors.error.every`).
    pub path: Vec<String>,
    /// Where the path was written.
    pub place: Place,
    /// The value.
    pub node: Node,
}

/// Keys of one section that exclude each other: setting one removes the other.
const ALTERNATIVES: [(&str, &str); 5] =
    [("cfl", "dt"), ("end", "steady"), ("steps", "steady"), ("file", "generate"), ("every", "every_steps")];

const SUBCYCLES: &str = "subcycles";

impl Override {
    /// Reads `KEY=VALUE` as given to the option `--set`.
    ///
    /// # Errors
    /// [`Problem::Override`] without `=`, [`Problem::Path`] for an empty key, [`Problem::Syntax`] for a value
    /// that is not YAML.
    pub fn parse(text: &str) -> Result<Self, InputError> {
        Self::below("", "--set ", text)
    }

    /// Reads `KEY=VALUE`, written after `option`, where the key's path continues `above`, which is empty or
    /// ends with a dot.
    ///
    /// # Errors
    /// As [`Self::parse`].
    pub fn below(above: &str, option: &str, text: &str) -> Result<Self, InputError> {
        let source = Source::new("command line", format!("{option}{text}"));
        let Some((path, value)) = text.split_once('=') else {
            return Err(InputError::at(&Place::whole(&source), Problem::Override { text: text.to_owned() }));
        };
        let place = Place {
            source: source.clone(),
            line: 1,
            column: option.chars().count() + 1,
            length: path.chars().count().max(1),
        };
        let shift = option.chars().count() + path.chars().count() + 1;
        let node = match Node::parse(&Source::new("command line", value)) {
            Ok(node) => moved(node, &source, shift),
            Err(mut error) => {
                error.place = error.place.map(|p| moved_place(&p, &source, shift));
                return Err(error);
            }
        };
        Ok(Self { path: split_path(&format!("{above}{}", path.trim()), &place)?, place, node })
    }

    /// The override of `path` by an option such as `--device cpu`.
    ///
    /// # Errors
    /// [`Problem::Syntax`] for a value that is not YAML.
    pub fn option(option: &str, path: &str, value: &str) -> Result<Self, InputError> {
        let source = Source::new("command line", format!("{option} {value}"));
        let shift = option.chars().count() + 1;
        let node = moved(Node::parse(&Source::new("command line", value))?, &source, shift);
        Self::new(path, &Place::whole(&source), &node)
    }

    /// An override whose path is a key of the file, as in `ci: { set: { time.steps: 5 } }`.
    ///
    /// # Errors
    /// [`Problem::Path`] for an empty key.
    pub fn from_entry(entry: &Entry) -> Result<Self, InputError> {
        let path = split_path(&entry.key, &entry.place)?;
        Ok(Self { path, place: entry.place.clone(), node: entry.node.clone() })
    }

    /// An override of `path` by a node of the file.
    ///
    /// # Errors
    /// [`Problem::Path`] for an empty key.
    pub fn new(path: &str, place: &Place, node: &Node) -> Result<Self, InputError> {
        Ok(Self { path: split_path(path, place)?, place: place.clone(), node: node.clone() })
    }
}

/// Applies a batch of overrides. Keys that exclude a key of the batch are removed first, so that two keys of
/// one batch that exclude each other are both kept, and rejected by the reader.
///
/// # Errors
/// [`Problem::Path`] where a path leads through a single value or past the end of a list.
pub fn apply(root: &mut Node, batch: &[Override]) -> Result<(), InputError> {
    for item in batch {
        let Some((last, parents)) = item.path.split_last() else { continue };
        for (a, b) in ALTERNATIVES {
            let other = if last == a { b } else { a };
            if (last == a || last == b) && !(a == "cfl" && bounds_sub_steps(root, parents, batch)) {
                remove(root, parents, other);
            }
        }
    }
    for item in batch {
        set(root, &item.path, &item.path, item)?;
    }
    Ok(())
}

/// Whether the section has, or is given, `subcycles: auto`, with which a CFL number does not exclude a step.
fn bounds_sub_steps(root: &mut Node, section: &[String], batch: &[Override]) -> bool {
    let is_auto = |node: &Node| matches!(&node.value, Value::Text(word) if word == AUTO);
    let given = batch.iter().rev().find(|item| {
        item.path.split_last().is_some_and(|(last, parents)| last == SUBCYCLES && parents == section)
    });
    if let Some(item) = given {
        return is_auto(&item.node);
    }
    let found = section.iter().try_fold(root, |node, key| child(node, key));
    found.and_then(|node| child(node, SUBCYCLES)).is_some_and(|node| is_auto(node))
}

/// Splits `a.b[0].c` and `a.b.0.c` at its dots; a name that contains a dot is put in double quotes.
fn split_path(text: &str, place: &Place) -> Result<Vec<String>, InputError> {
    let mut keys = vec![String::new()];
    let mut quoted = false;
    for c in text.chars() {
        match c {
            '"' => quoted = !quoted,
            '.' | '[' if !quoted => keys.push(String::new()),
            ']' if !quoted => {}
            c => {
                if let Some(key) = keys.last_mut() {
                    key.push(c);
                }
            }
        }
    }
    let reason = if keys.iter().any(String::is_empty) {
        PathFault::EmptyKey
    } else if keys.len() > DEEPEST {
        PathFault::TooDeep
    } else {
        return Ok(keys);
    };
    Err(InputError::at(place, Problem::Path { path: text.to_owned(), reason }))
}

/// The child of `node` that `key` addresses, if there is one.
fn child<'a>(node: &'a mut Node, key: &str) -> Option<&'a mut Node> {
    match &mut node.value {
        Value::Map(entries) => entries.iter_mut().find(|e| e.key == key).map(|e| &mut e.node),
        Value::List(items) => match key.parse::<usize>() {
            Ok(i) => items.get_mut(i),
            Err(_) => items.iter_mut().find_map(|item| match &mut item.value {
                Value::Map(entries) => match entries.as_mut_slice() {
                    [only] if only.key == key => Some(&mut only.node),
                    _ => None,
                },
                _ => None,
            }),
        },
        _ => None,
    }
}

fn remove(root: &mut Node, parents: &[String], key: &str) {
    let mut node = root;
    for parent in parents {
        match child(node, parent) {
            Some(next) => node = next,
            None => return,
        }
    }
    if let Value::Map(entries) = &mut node.value {
        entries.retain(|e| e.key != key);
    }
}

fn set(node: &mut Node, rest: &[String], path: &[String], item: &Override) -> Result<(), InputError> {
    let Some((key, below)) = rest.split_first() else {
        *node = item.node.clone();
        return Ok(());
    };
    if matches!(node.value, Value::Null) {
        *node = Node { value: Value::Map(Vec::new()), place: item.place.clone() };
    }
    if let Some(next) = child(node, key) {
        return set(next, below, path, item);
    }
    let fault = match &mut node.value {
        Value::Map(entries) => {
            let empty = Node { value: Value::Null, place: item.node.place.clone() };
            let mut entry = Entry { key: key.clone(), place: item.place.clone(), node: empty };
            set(&mut entry.node, below, path, item)?;
            entries.push(entry);
            return Ok(());
        }
        Value::List(items) if key.parse() == Ok(items.len()) => {
            let mut added = Node { value: Value::Null, place: item.node.place.clone() };
            set(&mut added, below, path, item)?;
            items.push(added);
            return Ok(());
        }
        Value::List(items) => PathFault::Index(items.len()),
        _ => PathFault::Scalar,
    };
    Err(InputError::at(&item.place, Problem::Path { path: path.join("."), reason: fault }))
}

fn moved_place(place: &Place, source: &Arc<Source>, shift: usize) -> Place {
    let column = if place.line == 1 { place.column + shift } else { place.column };
    Place { source: source.clone(), line: place.line, column, length: place.length }
}

fn moved(node: Node, source: &Arc<Source>, shift: usize) -> Node {
    let place = moved_place(&node.place, source, shift);
    let value = match node.value {
        Value::List(items) => Value::List(items.into_iter().map(|n| moved(n, source, shift)).collect()),
        Value::Map(entries) => Value::Map(
            entries
                .into_iter()
                .map(|e| Entry {
                    key: e.key,
                    place: moved_place(&e.place, source, shift),
                    node: moved(e.node, source, shift),
                })
                .collect(),
        ),
        scalar => scalar,
    };
    Node { value, place }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree(text: &str) -> Node {
        Node::parse(&Source::new("case.yaml", text)).unwrap()
    }

    fn after(text: &str, sets: &[&str]) -> Result<String, InputError> {
        let mut root = tree(text);
        let batch: Result<Vec<Override>, InputError> = sets.iter().map(|s| Override::parse(s)).collect();
        apply(&mut root, &batch?)?;
        Ok(root.to_yaml().unwrap())
    }

    fn same(text: &str, sets: &[&str], expected: &str) {
        assert_eq!(after(text, sets).unwrap(), tree(expected).to_yaml().unwrap());
    }

    #[test]
    fn a_value_is_replaced_or_added_at_any_depth() {
        same("space: { order: 2 }\n", &["space.order=4"], "space: { order: 4 }\n");
        same("a: 1\n", &["b.c.d=[1, x]"], "a: 1\nb: { c: { d: [1, x] } }\n");
        same("a:\n", &["a.b=1"], "a: { b: 1 }\n");
    }

    #[test]
    fn entries_of_lists_are_meant_by_number_or_by_their_only_key() {
        let text = "m: [{ residual: { every: 1 } }, { error: { every: 2 } }]\n";
        let expected = "m: [{ residual: { every: 1 } }, { error: { every: 5 } }]\n";
        same(text, &["m.1.error.every=5"], expected);
        same(text, &["m[1].error.every=5"], expected);
        same(text, &["m.error.every=5"], expected);
        same("p: [1, 2]\n", &["p.2=3"], "p: [1, 2, 3]\n");
    }

    #[test]
    fn what_excludes_the_key_is_removed_unless_given_too() {
        same("time: { cfl: 0.5, end: 1 }\n", &["time.dt=1e-3"], "time: { end: 1, dt: 1e-3 }\n");
        let both = after("time: { end: 1 }\n", &["time.dt=1e-3", "time.cfl=0.5"]).unwrap();
        assert!(both.contains("dt:") && both.contains("cfl:"));
    }

    #[test]
    fn paths_that_lead_nowhere_are_refused() {
        for (text, set) in
            [("a: 1\n", "a.b=2"), ("a: [1]\n", "a.7=2"), ("a: 1\n", "a..b=2"), ("a: 1\n", "=2")]
        {
            let error = after(text, &[set]).unwrap_err();
            assert!(matches!(*error.problem, Problem::Path { .. }), "{error}");
        }
        assert!(matches!(*after("a: 1\n", &["space"]).unwrap_err().problem, Problem::Override { .. }));
    }

    #[test]
    fn values_keep_their_place_on_the_command_line() {
        let item = Override::parse("space.order=three").unwrap();
        assert_eq!(
            item.node.place.excerpt(),
            "  |\n1 | --set space.order=three\n  |                   ^^^^^"
        );
    }
}
