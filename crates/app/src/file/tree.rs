//! The tree of a file while defaults are written out and paths made absolute.

use std::path::{Path, PathBuf};

use super::node::{Entry, Node, Value};
use super::source::Place;

/// The tree of a file while defaults are filled in.
#[derive(Debug)]
pub struct Tree {
    root: Node,
    place: Place,
}

impl Tree {
    /// The tree of a file as read.
    pub fn new(root: &Node) -> Self {
        Self { root: root.clone(), place: root.place.clone() }
    }

    /// Returns the tree.
    pub fn into_root(self) -> Node {
        self.root
    }

    /// The node at a path.
    pub fn get(&self, path: &str) -> Option<&Node> {
        path.split('.').try_fold(&self.root, |node, key| node.get(key))
    }

    /// Whether there is a text at a path.
    pub fn has_text(&self, path: &str) -> bool {
        self.get(path).is_some_and(|node| matches!(node.value, Value::Text(_)))
    }

    /// Sets a value where there is none.
    pub fn default(&mut self, path: &str, value: Value) {
        if self.get(path).is_none_or(|node| matches!(node.value, Value::Null)) {
            self.set(path, value);
        }
    }

    /// Sets the path of a file, made absolute.
    pub fn file(&mut self, path: &str, file: &Path) {
        let absolute: PathBuf = std::path::absolute(file).unwrap_or_else(|_| file.to_owned());
        self.set(path, Value::Text(absolute.display().to_string()));
    }

    /// Sets a value and creates the sections above it; a number in the path indexes a list.
    pub fn set(&mut self, path: &str, value: Value) {
        let place = self.place.clone();
        let mut node = &mut self.root;
        for key in path.split('.') {
            let index = match &node.value {
                Value::List(items) => key.parse::<usize>().ok().filter(|&i| i < items.len()),
                _ => None,
            };
            if let Some(i) = index {
                let Value::List(items) = &mut node.value else { return };
                node = &mut items[i];
                continue;
            }
            if !matches!(node.value, Value::Map(_)) {
                node.value = Value::Map(Vec::new());
            }
            let Value::Map(entries) = &mut node.value else { return };
            let at = entries.iter().position(|e| e.key == key).unwrap_or_else(|| {
                let empty = Node { value: Value::Null, place: place.clone() };
                entries.push(Entry { key: key.to_owned(), place: place.clone(), node: empty });
                entries.len() - 1
            });
            node = &mut entries[at].node;
        }
        node.value = value;
    }
}
