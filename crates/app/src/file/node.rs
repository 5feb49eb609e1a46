//! The pipeline file as a tree in which every key and value has the place where it was written.
//!
//! This is the only module that uses the YAML parser, which reads YAML 1.2 and reports places.
//! [`Section`](super::section::Section) reads typed values from this tree, because overrides (`--set`, `ci`,
//! `study`) change the tree before that.

use std::fmt;
use std::sync::Arc;

use serde::de::{self, Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde::ser::{Serialize, SerializeMap, SerializeSeq, Serializer};
use serde_saphyr::budget::BudgetBreach;
use serde_saphyr::{DuplicateKeyPolicy, Location, Options, Spanned};

use super::problem::{InputError, Problem};
use super::source::{DEEPEST, Place, Source};

/// A value and where it was written.
#[derive(Clone, Debug)]
pub struct Node {
    /// The value.
    pub value: Value,
    /// Where it starts.
    pub place: Place,
}

/// A YAML value. Maps keep the order of the file.
#[derive(Clone, Debug)]
pub enum Value {
    /// Nothing, or `null`.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// A number.
    Number(f64),
    /// Any other scalar.
    Text(String),
    /// A sequence.
    List(Vec<Node>),
    /// A mapping.
    Map(Vec<Entry>),
}

/// A key of a mapping with its value.
#[derive(Clone, Debug)]
pub struct Entry {
    /// The key.
    pub key: String,
    /// Where the key was written.
    pub place: Place,
    /// Its value.
    pub node: Node,
}

impl Node {
    /// The tree of a YAML text. An empty text is an empty mapping.
    ///
    /// # Errors
    /// [`Problem::Syntax`] where the text is not YAML (also for a key given twice).
    pub fn parse(source: &Arc<Source>) -> Result<Self, InputError> {
        let options: Options = serde_saphyr::options! {
            duplicate_keys: DuplicateKeyPolicy::Error,
            // `y`, `n`, `on` and `off` are names, above all the coordinate y.
            strict_booleans: true,
            non_finite_float_policy: serde_saphyr::options::NonFiniteFloatPolicy::AsString,
            with_snippet: false,
            budget: serde_saphyr::budget! { max_depth: DEEPEST },
        };
        let raw: Spanned<Raw> = serde_saphyr::from_str_with_options(&source.text, options)
            .map_err(|error| syntax_error(source, &error))?;
        Ok(place_tree(raw, source))
    }

    /// The value of `key`, if this is a mapping with this key.
    pub fn get(&self, key: &str) -> Option<&Self> {
        match &self.value {
            Value::Map(entries) => entries.iter().find(|e| e.key == key).map(|e| &e.node),
            _ => None,
        }
    }

    /// Rejects characters that terminals interpret and XML cannot contain: all control characters in keys,
    /// and all except line ends and tabulators in texts; and those that turn the direction of a text, with
    /// which a name looks like another one.
    ///
    /// # Errors
    /// [`Problem::Control`] at the first.
    pub fn check_characters(&self) -> Result<(), InputError> {
        let turns = |c: &char| matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
        let bad = |c: &char| c.is_control() || turns(c) || matches!(c, '\u{fffe}' | '\u{ffff}');
        let refused = |what: &str, text: &str, character: char, place: &Place| {
            let visible = |c: char| if bad(&c) { c.escape_unicode().to_string() } else { c.to_string() };
            let what = format!("the {what} `{}`", text.chars().map(visible).collect::<String>());
            Err(InputError::at(place, Problem::Control { what, character }))
        };
        match &self.value {
            Value::Text(text) => match text.chars().find(|c| bad(c) && !matches!(c, '\n' | '\t')) {
                Some(character) => refused("text", text, character, &self.place),
                None => Ok(()),
            },
            Value::List(items) => items.iter().try_for_each(Self::check_characters),
            Value::Map(entries) => entries.iter().try_for_each(|entry| match entry.key.chars().find(bad) {
                Some(character) => refused("key", &entry.key, character, &entry.place),
                None => entry.node.check_characters(),
            }),
            _ => Ok(()),
        }
    }

    /// The tree as YAML text.
    pub fn to_yaml(&self) -> Result<String, serde_saphyr::SerializeError> {
        serde_saphyr::to_string(self)
    }

    /// The kind of this value in words, with the value if it is short.
    pub fn kind(&self) -> String {
        match &self.value {
            Value::Null => "nothing".into(),
            Value::Bool(b) => format!("`{b}`"),
            Value::Number(x) => format!("the number {x}"),
            Value::Text(t) if t.chars().count() <= 40 => format!("the text `{t}`"),
            Value::Text(_) => "a text".into(),
            Value::List(_) => "a list".into(),
            Value::Map(_) => "a section with keys".into(),
        }
    }
}

/// The longest number that is written without an exponent: one with 17 digits has a sign and a point, too.
const LONGEST: usize = 24;

impl Value {
    /// A scalar as text (numbers in their shortest form).
    pub fn scalar_text(&self) -> Option<String> {
        match self {
            Self::Text(t) => Some(t.clone()),
            Self::Number(x) => {
                let plain = x.to_string();
                Some(if plain.len() > LONGEST { format!("{x:e}") } else { plain })
            }
            Self::Bool(b) => Some(b.to_string()),
            _ => None,
        }
    }
}

/// The parser's message and place, in this program's form.
fn syntax_error(source: &Arc<Source>, error: &serde_saphyr::Error) -> InputError {
    let bare = error.without_snippet();
    let text = bare.to_string();
    // The parser repeats the place in words; the excerpt below the message shows it.
    let reason = text
        .split(" at line ")
        .next()
        .unwrap_or(&text)
        .trim_start_matches("error: ")
        .trim_end_matches([':', ',', ' '])
        .to_owned();
    let reason = match reason.strip_prefix("duplicate mapping key: ") {
        Some(rest) => {
            let key = rest.split(',').next().unwrap_or(rest);
            // A formula that the commas of a list or section have cut.
            let cut = !key.starts_with(|c: char| c.is_alphabetic() || c == '_') || key.contains(['(', ')']);
            let quotes = match cut {
                true => "; inside { } or [ ] a formula with commas needs quotes: \"if(x < 0, 1, 2)\"",
                false => "",
            };
            format!("the key `{key}` is given twice{quotes}")
        }
        None if reason.contains("did not find expected ',' or") => {
            format!("{reason}: a bracket in a line before is not closed, or a text needs quotes")
        }
        None if reason.starts_with("multiple YAML documents") => {
            "a second document begins after `---`; write one file for each run, or a `study` for a series"
                .to_owned()
        }
        None => reason,
    };
    let reason = match bare {
        serde_saphyr::Error::Budget { breach: BudgetBreach::Depth { .. }, .. } => {
            format!("lists and sections are nested in more than {DEEPEST} levels")
        }
        _ => reason,
    };
    let problem = Problem::Syntax { reason };
    match bare.location() {
        Some(location) if location.line() > 0 => InputError::at(&place_of(source, location), problem),
        _ => InputError::nowhere(problem),
    }
}

fn place_of(source: &Arc<Source>, location: Location) -> Place {
    let at = |n: u64| usize::try_from(n).unwrap_or(1).max(1);
    Place {
        source: source.clone(),
        line: at(location.line()),
        column: at(location.column()),
        length: at(location.span().len()),
    }
}

/// The text of the source at a place.
fn written(place: &Place) -> Option<String> {
    let text: String =
        place.source.line(place.line).chars().skip(place.column - 1).take(place.length).collect();
    Some(text.trim().to_owned()).filter(|text| !text.is_empty())
}

/// The tree of the parser, before its places are related to the source.
enum Raw {
    Null,
    Bool(bool),
    Number(f64),
    Text(String),
    List(Vec<Spanned<Raw>>),
    Map(Vec<(Spanned<String>, Spanned<Raw>)>),
}

fn place_tree(raw: Spanned<Raw>, source: &Arc<Source>) -> Node {
    let place = place_of(source, raw.defined);
    let value = match raw.value {
        Raw::Null => Value::Null,
        Raw::Bool(b) => Value::Bool(b),
        Raw::Number(x) => Value::Number(x),
        // The parser's words for numbers that are not finite, such as 1e400.
        Raw::Text(t) if [".inf", "-.inf", ".nan"].contains(&t.as_str()) => {
            Value::Text(written(&place).unwrap_or(t))
        }
        Raw::Text(t) => Value::Text(t),
        Raw::List(items) => Value::List(items.into_iter().map(|item| place_tree(item, source)).collect()),
        Raw::Map(entries) => Value::Map(
            entries
                .into_iter()
                .map(|(key, node)| Entry {
                    place: place_of(source, key.defined),
                    key: key.value,
                    node: place_tree(node, source),
                })
                .collect(),
        ),
    };
    Node { value, place }
}

impl<'de> Deserialize<'de> for Raw {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(RawVisitor)
    }
}

struct RawVisitor;

impl<'de> Visitor<'de> for RawVisitor {
    type Value = Raw;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a YAML value")
    }

    fn visit_unit<E: de::Error>(self) -> Result<Raw, E> {
        Ok(Raw::Null)
    }

    fn visit_none<E: de::Error>(self) -> Result<Raw, E> {
        Ok(Raw::Null)
    }

    fn visit_bool<E: de::Error>(self, b: bool) -> Result<Raw, E> {
        Ok(Raw::Bool(b))
    }

    fn visit_i64<E: de::Error>(self, i: i64) -> Result<Raw, E> {
        Ok(Raw::Number(i as f64))
    }

    fn visit_u64<E: de::Error>(self, i: u64) -> Result<Raw, E> {
        Ok(Raw::Number(i as f64))
    }

    fn visit_i128<E: de::Error>(self, i: i128) -> Result<Raw, E> {
        Ok(Raw::Number(i as f64))
    }

    fn visit_u128<E: de::Error>(self, i: u128) -> Result<Raw, E> {
        Ok(Raw::Number(i as f64))
    }

    fn visit_f64<E: de::Error>(self, x: f64) -> Result<Raw, E> {
        Ok(Raw::Number(x))
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Raw, E> {
        Ok(Raw::Text(text.to_owned()))
    }

    fn visit_string<E: de::Error>(self, text: String) -> Result<Raw, E> {
        Ok(Raw::Text(text))
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<Raw, D::Error> {
        Raw::deserialize(deserializer)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Raw, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = seq.next_element()? {
            items.push(item);
        }
        Ok(Raw::List(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Raw, A::Error> {
        let mut entries = Vec::new();
        while let Some(entry) = map.next_entry()? {
            entries.push(entry);
        }
        Ok(Raw::Map(entries))
    }
}

/// Whole numbers below this are written without a decimal point; all of them are exact in a double.
const EXACT_INTEGERS: f64 = 9.0e15;

impl Serialize for Node {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match &self.value {
            Value::Null => serializer.serialize_unit(),
            Value::Bool(b) => serializer.serialize_bool(*b),
            Value::Number(x) if x.fract() == 0.0 && x.abs() < EXACT_INTEGERS => {
                serializer.serialize_i64(*x as i64)
            }
            Value::Number(x) => serializer.serialize_f64(*x),
            Value::Text(t) => serializer.serialize_str(t),
            Value::List(items) => {
                let mut seq = serializer.serialize_seq(Some(items.len()))?;
                for item in items {
                    seq.serialize_element(item)?;
                }
                seq.end()
            }
            Value::Map(entries) => {
                let mut map = serializer.serialize_map(Some(entries.len()))?;
                for entry in entries {
                    map.serialize_entry(&entry.key, &entry.node)?;
                }
                map.end()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Node {
        Node::parse(&Source::new("case.yaml", text)).unwrap()
    }

    #[test]
    fn keys_and_values_know_their_places() {
        let tree = parse("title: A case\nspace:\n  order: 3\n  basis: [modal, y]\n");
        let Value::Map(top) = &tree.value else { panic!("not a map") };
        assert_eq!((top[1].place.line, top[1].place.column), (2, 1));
        let order = tree.get("space").and_then(|s| s.get("order")).unwrap();
        assert_eq!((order.place.line, order.place.column, order.place.length), (3, 10, 1));
        let Value::List(items) = &tree.get("space").unwrap().get("basis").unwrap().value else {
            panic!("not a list")
        };
        assert_eq!((items[1].place.line, items[1].place.column), (4, 18));
        assert!(matches!(&items[1].value, Value::Text(t) if t == "y"));
    }

    #[test]
    fn numbers_flow_mappings_and_formulas_read_as_meant() {
        let tree = parse("a: { p: 1/1.4, q: 1e-3, r: -2, s: rho*u, t: 10.0 }\n");
        let a = tree.get("a").unwrap();
        assert!(matches!(&a.get("p").unwrap().value, Value::Text(t) if t == "1/1.4"));
        assert!(matches!(a.get("q").unwrap().value, Value::Number(x) if x == 1e-3));
        assert!(matches!(a.get("r").unwrap().value, Value::Number(x) if x == -2.0));
        assert!(matches!(&a.get("s").unwrap().value, Value::Text(t) if t == "rho*u"));
        assert!(matches!(a.get("t").unwrap().value, Value::Number(x) if x == 10.0));
    }

    #[test]
    fn a_key_given_twice_is_refused_at_the_second() {
        let error = Node::parse(&Source::new("case.yaml", "a: 1\nb: 2\na: 3\n")).unwrap_err();
        assert_eq!(error.place.as_ref().map(|p| p.line), Some(3), "{error}");
    }

    #[test]
    fn broken_yaml_names_the_line() {
        let error = Node::parse(&Source::new("case.yaml", "a: [1, 2\nb: 3\n")).unwrap_err();
        assert!(error.place.is_some(), "{error}");
    }

    #[test]
    fn the_tree_survives_writing_and_reading() {
        let text = "title: 'yes: no'\nlist: [1, 2.5, 1e-12, x]\nempty: {}\nnone:\nflag: true\n";
        let tree = parse(text);
        let yaml = tree.to_yaml().unwrap();
        assert_eq!(parse(&yaml).to_yaml().unwrap(), yaml);
        assert!(yaml.contains("- 1\n- 2.5\n- 1.0e-12\n- x"), "{yaml}");
    }

    #[test]
    fn anchors_and_merges_are_expanded() {
        let tree = parse("base: &b { type: outflow }\nleft: { <<: *b }\nright: *b\n");
        for key in ["left", "right"] {
            let node = tree.get(key).unwrap().get("type").unwrap();
            assert!(matches!(&node.value, Value::Text(t) if t == "outflow"));
        }
    }
}
