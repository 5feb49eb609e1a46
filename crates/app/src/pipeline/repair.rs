//! All independent mistakes of a file: after each one the tree is repaired, and read again.
//!
//! A repair replaces what is wrong by something that can be read: the nearest name, the default, or a value
//! of the kind that the table of keys states. A mistake that may follow from a repair is not reported.

use super::Document;
use crate::file::keys::{self, Absent, Kind, Low, Range, Scope};
use crate::file::node::{Entry, Node, Value};
use crate::file::problem::{InputError, Problem, is_of_reference};
use dgsuite_output::nearest::{is_of_another_code, nearest};

/// The largest number of mistakes in one answer.
const MOST: usize = 20;

/// The steps to the key on which the meaning of most others depends.
const MODEL: [&str; 2] = ["physics", "model"];

/// The steps to the section that gives names to all formulas.
const REFERENCE: [&str; 2] = ["physics", "reference"];

/// The largest number of repairs, of which some lead to mistakes that are not reported.
const REPAIRS: usize = 40;

/// Returns the first mistake with all further ones that do not follow from it.
pub(super) fn with_others(
    document: &Document,
    first: InputError,
    read: impl Fn(&Document) -> Result<(), InputError>,
) -> InputError {
    let mut document = document.clone();
    let word = find(&mut document.root, &MODEL.map(str::to_owned)).and_then(|node| node.value.scalar_text());
    let model = word.filter(|word| keys::MODELS.contains(&word.as_str()));
    let (mut others, mut repairs) = (Vec::new(), Repairs::default());
    // A mistake that is repaired, but not reported.
    let mut hidden: Option<InputError> = None;
    for _ in 0..REPAIRS {
        let last = hidden.as_ref().or(others.last()).unwrap_or(&first);
        if repairs.repair(&mut document.root, &last.problem).is_none() {
            break;
        }
        let Err(next) = read(&document) else { break };
        if repairs.is_independent(&next.problem) {
            hidden = None;
            others.push(next);
            if others.len() + 1 == MOST {
                break;
            }
        } else {
            hidden = Some(next);
        }
    }
    let mut all = InputError { more: others, ..first };
    if let Some(model) = model.as_deref() {
        std::iter::once(&mut all.problem)
            .chain(all.more.iter_mut().map(|error| &mut error.problem))
            .for_each(|problem| of_model(problem, model));
    }
    all.in_order(&document.root.place.source)
}

/// Leaves out what the file's model does not have.
fn of_model(problem: &mut Problem, word: &str) {
    let scope = Scope { model: Some(word), kind: None };
    match problem {
        Problem::UnknownKey { section, known, .. } => {
            let has = keys::known(&keys::steps(section), scope);
            let of_model: Vec<String> =
                known.iter().filter(|name| has.names.contains(&name.as_str())).cloned().collect();
            if !of_model.is_empty() {
                *known = of_model;
            }
        }
        Problem::WrongType { model, .. } => *model = Some(word.to_owned()),
        _ => {}
    }
}

/// The steps to the key of a mistake.
fn place_of(problem: &Problem) -> Option<Vec<String>> {
    let path = match problem {
        Problem::UnknownKey { key, section, .. } if section.is_empty() => return Some(vec![key.clone()]),
        Problem::UnknownKey { key, section, .. } => {
            let steps = keys::steps(section).into_iter().map(str::to_owned);
            return Some(steps.chain([key.clone()]).collect());
        }
        Problem::MissingKey { key, .. }
        | Problem::WrongType { key, .. }
        | Problem::UnknownValue { key, .. }
        | Problem::OutOfRange { key, .. }
        | Problem::NoUnit { key, .. }
        | Problem::Formula { key, .. }
        | Problem::Exact { key, .. }
        | Problem::Unsupported { key, .. }
        | Problem::Misplaced { key, .. }
        | Problem::Twice { key, .. }
        | Problem::Conflict { second: key, .. } => key,
        _ => return None,
    };
    Some(keys::steps(path).into_iter().map(str::to_owned).collect())
}

/// The repairs of a tree.
#[derive(Default)]
struct Repairs {
    /// The steps to what was changed or left out.
    changed: Vec<Vec<String>>,
    /// The steps to keys that have their right name now.
    renamed: Vec<Vec<String>>,
}

impl Repairs {
    /// Whether a mistake cannot follow from these repairs.
    fn is_independent(&self, problem: &Problem) -> bool {
        let Some(own) = place_of(problem) else { return false };
        let changed = || self.changed.iter();
        if changed().any(|other| own.starts_with(other) || other.starts_with(&own)) {
            return false;
        }
        match problem {
            Problem::MissingKey { .. } => {
                let section = &own[..own.len() - 1];
                let renamed = self.renamed.iter().any(|other| own.starts_with(other));
                !renamed && (section.is_empty() || !changed().any(|other| other.starts_with(section)))
            }
            // Names of the reference state are those of its section.
            Problem::Formula { error, .. } if is_of_reference(&error.kind) => {
                !changed().any(|other| *other == REFERENCE)
            }
            // These depend on other keys of their section, and on the model.
            Problem::Misplaced { .. } | Problem::Conflict { .. } => {
                !changed().any(|other| other[0] == own[0] || *other == MODEL)
            }
            _ => true,
        }
    }

    /// Repairs a tree; `None` if there is no repair, or none but one that was made before. Where no value is
    /// known to be right, the list or section around the key is left out.
    fn repair(&mut self, root: &mut Node, problem: &Problem) -> Option<()> {
        let steps = place_of(problem)?;
        let changed = match self.changed.contains(&steps) {
            true => None,
            false => self.mend(root, problem, &steps),
        };
        let changed = match changed {
            Some(changed) => changed,
            // Without its model nothing is known of a file.
            None if steps == MODEL => return None,
            None => match self.replace_item(root, &steps) {
                Some(item) => item,
                None => {
                    let mut around = (1..steps.len()).rev().map(|n| steps[..n].to_vec());
                    around.find(|steps| remove(root, steps).is_some())?
                }
            },
        };
        self.changed.push(changed);
        Some(())
    }

    /// Replaces the item of a list around a key by one that can be read, so that those after it are read,
    /// too, and returns the steps to the item. No item is replaced twice.
    fn replace_item(&self, root: &mut Node, steps: &[String]) -> Option<Vec<String>> {
        let item = steps.get(..2)?.to_vec();
        let entries: &[(&str, Value)] = match item[0].as_str() {
            "monitors" => &[("residual", Value::Map(Vec::new()))],
            "checks" => &[("value", Value::Text("time.steps".to_owned())), ("above", Value::Number(0.0))],
            _ => return None,
        };
        if self.changed.contains(&item) {
            return None;
        }
        let node = find(root, &item)?;
        let place = node.place.clone();
        let entry = |(key, value): &(&str, Value)| Entry {
            key: (*key).to_owned(),
            place: place.clone(),
            node: Node { value: value.clone(), place: place.clone() },
        };
        node.value = Value::Map(entries.iter().map(entry).collect());
        Some(item)
    }

    /// Mends the key of a mistake itself, and returns the steps to what it changed.
    fn mend(&mut self, root: &mut Node, problem: &Problem, steps: &[String]) -> Option<Vec<String>> {
        let (last, above) = steps.split_last()?;
        let section = find(root, above);
        match problem {
            Problem::UnknownKey { known, .. } => {
                let entries = entries(section?)?;
                let at = entries.iter().position(|entry| entry.key == *last)?;
                let free = |name: &&str| !entries.iter().any(|entry| entry.key == **name);
                match nearest(last, known).filter(free) {
                    Some(name) => {
                        entries[at].key = name.to_owned();
                        self.renamed.push(above.iter().cloned().chain([name.to_owned()]).collect());
                    }
                    None => drop(entries.remove(at)),
                }
            }
            Problem::MissingKey { .. } => {
                let value = usual(steps)?;
                let section = section?;
                let place = section.place.clone();
                if matches!(section.value, Value::Null) {
                    section.value = Value::Map(Vec::new());
                }
                let node = Node { value, place: place.clone() };
                let entries = entries(section)?;
                entries.retain(|entry| entry.key != *last);
                entries.push(Entry { key: last.clone(), place, node });
            }
            Problem::UnknownValue { found, known, .. } => match nearest(found, known) {
                Some(word) => {
                    find(root, steps)?.value = Value::Text(word.to_owned());
                    // A word of another code comes with the keys that go with it there.
                    if last == "type" && is_of_another_code(found) {
                        return Some(above.to_vec());
                    }
                }
                // Nothing is known of a boundary without its type, nor of a file without its model.
                None if last == "type" => {
                    remove(root, above)?;
                    return Some(above.to_vec());
                }
                None if last == "model" => return None,
                None => reset(root, steps)?,
            },
            Problem::Misplaced { .. } | Problem::Conflict { .. } => remove(root, steps)?,
            _ => reset(root, steps)?,
        }
        Some(steps.to_vec())
    }
}

/// Removes a key that has a default, and gives another one a value that can be read.
fn reset(root: &mut Node, steps: &[String]) -> Option<()> {
    let required =
        keys::at(steps, Scope::default()).first().is_some_and(|key| key.default == Absent::Required);
    // Expressions may use a constant; a list must not change its length.
    let named = steps.first().is_some_and(|first| first == "constants");
    let listed = steps.last().is_some_and(|last| last.parse::<usize>().is_ok());
    if required || named || listed {
        find(root, steps)?.value = usual(steps)?;
        return Some(());
    }
    remove(root, steps)
}

fn remove(root: &mut Node, steps: &[String]) -> Option<()> {
    let (last, above) = steps.split_last()?;
    let entries = entries(find(root, above)?)?;
    let at = entries.iter().position(|entry| entry.key == *last)?;
    entries.remove(at);
    Some(())
}

fn find<'n>(root: &'n mut Node, steps: &[String]) -> Option<&'n mut Node> {
    steps.iter().try_fold(root, |node, step| match &mut node.value {
        Value::Map(entries) => {
            entries.iter_mut().find(|entry| entry.key == *step).map(|entry| &mut entry.node)
        }
        Value::List(items) => items.get_mut(step.parse::<usize>().ok()?),
        _ => None,
    })
}

fn entries(node: &mut Node) -> Option<&mut Vec<Entry>> {
    match &mut node.value {
        Value::Map(entries) => Some(entries),
        _ => None,
    }
}

/// A value that the table allows for a key.
fn usual(steps: &[String]) -> Option<Value> {
    let rows = keys::at(steps, Scope::default());
    // Words such as `exact` may need other keys.
    let is_word = |kind: &&Kind| matches!(kind, Kind::Words(_));
    let kinds = || rows.iter().flat_map(|key| key.kinds);
    kinds().filter(|kind| !is_word(kind)).chain(kinds().filter(is_word)).find_map(|kind| {
        Some(match kind {
            Kind::Number(range) => Value::Number(within(*range)),
            Kind::Whole(least, most) => Value::Number(2.clamp(*least, *most) as f64),
            Kind::Flag => Value::Bool(false),
            Kind::Formula(_) => Value::Number(1.0),
            Kind::Words(words) => {
                let plain = |word: &&&str| !word.contains(|c: char| c.is_ascii_uppercase());
                Value::Text((*words.iter().find(plain)?).to_owned())
            }
            Kind::Section | Kind::Text | Kind::Vector | Kind::List(..) => return None,
        })
    })
}

/// A number in a range.
fn within(range: Range) -> f64 {
    match range {
        Range::Any => 1.0,
        Range::Above(least) => least + 1.0,
        Range::AtLeast(least) => least.max(1.0),
        Range::Between(least, most) => f64::midpoint(least, most),
        Range::Below(Low::From(least) | Low::Over(least), most) => f64::midpoint(least, most),
    }
}
