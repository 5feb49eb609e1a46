//! The table of keys as a JSON schema (draft 7), with which editors complete and check pipeline files.
//!
//! A key that several models have with other values gets all of these values: the schema does not know the
//! model of a file. Numbers may be written as expressions, which are strings.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::{Absent, Kind, Low, Part, Range, Row, all};

/// A place in a file: its keys in the table, and the places below.
#[derive(Default)]
struct Place {
    keys: Vec<&'static Row>,
    named: BTreeMap<&'static str, Place>,
    free: Option<Box<Place>>,
    item: Option<Box<Place>>,
}

/// The schema of a pipeline file.
#[must_use]
pub fn schema() -> Value {
    let mut root = Place::default();
    for key in all() {
        root.add(&key.parts(), key);
    }
    let mut schema = root.object();
    schema.insert("$schema".to_owned(), json!("http://json-schema.org/draft-07/schema#"));
    schema.insert("title".to_owned(), json!("Pipeline file of dgsuite"));
    Value::Object(schema)
}

impl Place {
    fn add(&mut self, parts: &[Part], key: &'static Row) {
        let Some((first, rest)) = parts.split_first() else {
            self.keys.push(key);
            return;
        };
        match first {
            Part::Each(names) => {
                for name in names {
                    self.named.entry(name).or_default().add(rest, key);
                }
            }
            Part::Free => self.free.get_or_insert_default().add(rest, key),
            Part::Item => self.item.get_or_insert_default().add(rest, key),
        }
    }

    /// An object with the places below as properties.
    fn object(&self) -> Map<String, Value> {
        let mut object = Map::new();
        object.insert("type".to_owned(), json!("object"));
        let properties: Map<String, Value> =
            self.named.iter().map(|(name, place)| ((*name).to_owned(), place.schema())).collect();
        object.insert("properties".to_owned(), Value::Object(properties));
        // The table does not repeat what may stand below `ci`.
        let open = self.named.is_empty();
        let others = self.free.as_ref().map_or(json!(open), |place| place.schema());
        object.insert("additionalProperties".to_owned(), others);
        object
    }

    fn schema(&self) -> Value {
        let mut kinds: Vec<Value> = Vec::new();
        for kind in self.keys.iter().flat_map(|key| key.kinds) {
            for one in self.kind(kind) {
                if !kinds.contains(&one) {
                    kinds.push(one);
                }
            }
        }
        let mut texts: Vec<&str> = Vec::new();
        for key in &self.keys {
            if !texts.contains(&key.text) {
                texts.push(key.text);
            }
        }
        let mut schema = Map::new();
        schema.insert("description".to_owned(), json!(texts.join("\n")));
        if let Some(Absent::Value(value)) = self.keys.first().map(|key| key.default)
            && self.keys.iter().all(|key| key.default == Absent::Value(value))
        {
            schema.insert("default".to_owned(), serde_json::from_str(value).unwrap_or_else(|_| json!(value)));
        }
        // `null` removes a key that a file or a table has.
        kinds.push(json!({ "type": "null" }));
        schema.insert("anyOf".to_owned(), Value::Array(kinds));
        Value::Object(schema)
    }

    /// The schemas of a kind of value.
    fn kind(&self, kind: &Kind) -> Vec<Value> {
        let expression = || json!({ "type": "string" });
        match kind {
            Kind::Section => vec![Value::Object(self.object())],
            Kind::Number(range) => vec![number(range), expression()],
            Kind::Whole(least, most) => {
                let mut whole = json!({ "type": "integer", "minimum": least });
                if *most < usize::MAX {
                    whole["maximum"] = json!(most);
                }
                vec![whole, expression()]
            }
            Kind::Flag => vec![json!({ "type": "boolean" })],
            Kind::Text => vec![json!({ "type": ["string", "number"] })],
            Kind::Words(words) => words.iter().map(|word| one_word(word)).collect(),
            Kind::Formula(_) => vec![json!({ "type": ["string", "number"] })],
            Kind::Vector => vec![json!({ "type": "array", "items": { "type": ["string", "number"] } })],
            Kind::List(_, of) => {
                let none = Self::default();
                let below = self.item.as_deref().unwrap_or(&none);
                let items: Vec<Value> = of.iter().flat_map(|kind| below.kind(kind)).collect();
                // Draft 7 wants at least one schema in `anyOf`; a list without kinds may hold any values.
                let items = if items.is_empty() { json!(true) } else { json!({ "anyOf": items }) };
                vec![json!({ "type": "array", "items": items })]
            }
        }
    }
}

/// A word, in which an upper-case letter stands for a number.
fn one_word(word: &str) -> Value {
    if !word.contains(char::is_uppercase) {
        return json!({ "const": word });
    }
    let pattern: String =
        word.chars().map(|c| if c.is_uppercase() { "[0-9.]+".to_owned() } else { c.to_string() }).collect();
    json!({ "type": "string", "pattern": format!("^{pattern}$") })
}

fn number(range: &Range) -> Value {
    match *range {
        Range::Any => json!({ "type": "number" }),
        Range::Above(a) => json!({ "type": "number", "exclusiveMinimum": a }),
        Range::AtLeast(a) => json!({ "type": "number", "minimum": a }),
        Range::Between(a, b) => json!({ "type": "number", "minimum": a, "maximum": b }),
        Range::Below(Low::From(a), b) => json!({ "type": "number", "minimum": a, "exclusiveMaximum": b }),
        Range::Below(Low::Over(a), b) => {
            json!({ "type": "number", "exclusiveMinimum": a, "exclusiveMaximum": b })
        }
    }
}
