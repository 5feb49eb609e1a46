//! A key with the type of its values: one declaration reads, checks, defaults, writes out and documents it.
//!
//! ```text
//! keys! { KEYS:
//!     REFINE: Usual<usize> = key("mesh.refine").whole(0, 12).text("The number of refinements.").default(0);
//! }
//! let refine = REFINE.read(&section)?;
//! REFINE.write(&mut tree, &refine);
//! ```
//!
//! The row of the table, with which the file's keys are known and documented, follows from the declaration.

use std::borrow::Cow;
use std::ops::Deref;

use super::expression::wrong_type;
use super::keys::{Absent, Kind, Low, Range, Row, fits, shown};
use super::node::{Node, Value};
use super::problem::{InputError, Problem};
use super::section::{self, Section};
use super::source::Located;
use super::tree::Tree;

/// What stands in the table.
pub trait Declared: Sync {
    /// The row of the table.
    fn row(&self) -> Row;
}

/// Declares the keys of a section in the order of the table, and the list of them.
macro_rules! keys {
    ($list:ident: $($vis:vis $name:ident: $type:ty = $value:expr;)*) => {
        $($vis static $name: $type = $value;)*
        pub(crate) static $list: &[&dyn $crate::file::key::Declared] = &[$(&$name),*];
    };
}
pub(crate) use keys;

/// A key that may be absent, with values of type `T`.
pub struct Key<T: 'static> {
    path: &'static str,
    ways: [Option<Way<T>>; 2],
    absent: Absent,
    models: &'static [&'static str],
    text: &'static str,
    why: &'static str,
}

/// The value of a key that leads to keys of its own, or to a list, which its reader takes apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Parts {}

/// A way in which a value is written.
enum Way<T: 'static> {
    /// Words, each with its value.
    Words(&'static [(&'static str, T)]),
    /// The same, where a program can make the list longer.
    Found(fn() -> Vec<(&'static str, T)>),
    /// Words in which a capital letter stands for a number, and what parses them.
    Parsed(&'static [&'static str], fn(&str) -> Option<T>, fn(&T) -> Option<String>),
    Whole(usize, usize, Between<usize, T>),
    Number(Range, Between<f64, T>),
    Flag(Between<bool, T>),
    /// A text or a formula.
    Text(Kind, Between<String, T>),
    Vector(Kind, Between<Vec<f64>, T>),
    /// What the reader takes apart.
    Parts(Kind),
}

/// From what a file has to a value, and back.
struct Between<F, T>(fn(F) -> T, fn(&T) -> Option<F>);

impl<F, T> Clone for Between<F, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<F, T> Copy for Between<F, T> {}

impl<T> Clone for Way<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Way<T> {}

/// A key; how its values are written follows.
pub const fn key<T>(path: &'static str) -> Key<T> {
    Key { path, ways: [None; 2], absent: Absent::Nothing, models: &[], text: "", why: "" }
}

impl Key<usize> {
    /// A whole number within these limits, both included.
    pub const fn whole(self, least: usize, most: usize) -> Self {
        self.or(Way::Whole(least, most, Between(|n| n, |n| Some(*n))))
    }
}

impl Key<f64> {
    /// A number, or an expression without variables.
    pub const fn number(self, range: Range) -> Self {
        self.or(Way::Number(range, Between(|x| x, |x| Some(*x))))
    }
}

impl Key<bool> {
    /// `true` or `false`.
    pub const fn flag(self) -> Self {
        self.or(Way::Flag(Between(|flag| flag, |flag| Some(*flag))))
    }
}

impl Key<String> {
    /// Any text.
    pub const fn any(self) -> Self {
        self.or(Way::Text(Kind::Text, Between(|text| text, |text| Some(text.clone()))))
    }

    /// A number or a formula, with the names that it may use.
    pub const fn formula(self, names: &'static str) -> Self {
        self.or(Way::Text(Kind::Formula(names), Between(|text| text, |text| Some(text.clone()))))
    }
}

impl Key<Cow<'static, str>> {
    /// A number or a formula that may have a default, with the names that it may use.
    pub const fn formula_with_default(self, names: &'static str) -> Self {
        self.or(Way::Text(Kind::Formula(names), Between(Cow::Owned, |text| Some(text.to_string()))))
    }
}

impl Key<Vec<f64>> {
    /// A list with one number for each direction.
    pub const fn vector(self) -> Self {
        self.list(Kind::Vector)
    }

    /// A list of one to three numbers, with what the table says of it.
    pub const fn list(self, kind: Kind) -> Self {
        self.or(Way::Vector(kind, Between(|list| list, |_| None)))
    }
}

impl<T> Key<T> {
    /// One of these words.
    pub const fn words(self, words: &'static [(&'static str, T)]) -> Self {
        self.or(Way::Words(words))
    }

    /// One of the words of a list that a program can make longer.
    pub const fn found(self, words: fn() -> Vec<(&'static str, T)>) -> Self {
        self.or(Way::Found(words))
    }

    /// Words that the type itself reads; `show` is for those that are not in the list.
    pub const fn parsed(
        self,
        words: &'static [&'static str],
        parse: fn(&str) -> Option<T>,
        show: fn(&T) -> Option<String>,
    ) -> Self {
        self.or(Way::Parsed(words, parse, show))
    }

    /// A whole number that stands for a value.
    pub const fn or_whole(
        self,
        least: usize,
        most: usize,
        to: fn(usize) -> T,
        of: fn(&T) -> Option<usize>,
    ) -> Self {
        self.or(Way::Whole(least, most, Between(to, of)))
    }

    /// A number that stands for a value.
    pub const fn or_number(self, range: Range, to: fn(f64) -> T, of: fn(&T) -> Option<f64>) -> Self {
        self.or(Way::Number(range, Between(to, of)))
    }

    /// Something that the reader takes apart, such as a section.
    pub const fn parts(self, kind: Kind) -> Self {
        self.or(Way::Parts(kind))
    }

    /// A section with keys of its own.
    pub const fn section(self) -> Self {
        self.parts(Kind::Section)
    }

    const fn or(mut self, way: Way<T>) -> Self {
        let free = if self.ways[0].is_none() { 0 } else { 1 };
        self.ways[free] = Some(way);
        self
    }

    /// The meaning, in one or two sentences.
    pub const fn text(mut self, text: &'static str) -> Self {
        self.text = text;
        self
    }

    /// The key, for some models only.
    pub const fn of(mut self, models: &'static [&'static str]) -> Self {
        self.models = models;
        self
    }

    /// What follows in messages where a number is out of range.
    pub const fn why(mut self, why: &'static str) -> Self {
        self.why = why;
        self
    }

    /// What an absent key means, in words.
    pub const fn says(mut self, words: &'static str) -> Self {
        self.absent = Absent::Says(words);
        self
    }

    /// The value of an absent key.
    pub const fn default(self, value: T) -> Usual<T> {
        Usual { key: self, value }
    }

    /// A key that must be given; messages say what is expected.
    pub const fn required(mut self, expected: &'static str) -> Needed<T> {
        self.absent = Absent::Required;
        Needed { key: self, expected }
    }
}

/// A key with a default.
pub struct Usual<T: 'static> {
    key: Key<T>,
    value: T,
}

/// A key that must be given.
pub struct Needed<T: 'static> {
    key: Key<T>,
    expected: &'static str,
}

impl<T> Deref for Usual<T> {
    type Target = Key<T>;

    fn deref(&self) -> &Key<T> {
        &self.key
    }
}

impl<T> Deref for Needed<T> {
    type Target = Key<T>;

    fn deref(&self) -> &Key<T> {
        &self.key
    }
}

impl<T: Clone + PartialEq> Usual<T> {
    /// The value, or the default.
    ///
    /// # Errors
    /// As [`Key::read`].
    pub fn read(&self, section: &Section<'_>) -> Result<T, InputError> {
        Ok(self.key.read(section)?.map_or_else(|| self.value.clone(), |given| given.value))
    }

    /// Does the same for one of the names at the end of the path.
    ///
    /// # Errors
    /// As [`Key::read`].
    pub fn read_as(&self, section: &Section<'_>, name: &str) -> Result<T, InputError> {
        Ok(self.key.read_as(section, name)?.map_or_else(|| self.value.clone(), |given| given.value))
    }

    /// The value, if it is given.
    ///
    /// # Errors
    /// As [`Key::read`].
    pub fn given(&self, section: &Section<'_>) -> Result<Option<Located<T>>, InputError> {
        self.key.read(section)
    }

    /// The default.
    pub fn usual(&self) -> T {
        self.value.clone()
    }
}

impl<T: Clone + PartialEq> Needed<T> {
    /// The value.
    ///
    /// # Errors
    /// No value; as [`Key::read`].
    pub fn read(&self, section: &Section<'_>) -> Result<Located<T>, InputError> {
        self.key.read(section)?.ok_or_else(|| self.missing(section))
    }
}

impl Needed<Parts> {
    /// The section below the key.
    ///
    /// # Errors
    /// No section, one with unknown keys.
    pub fn open<'a>(&self, section: &Section<'a>) -> Result<Section<'a>, InputError> {
        self.key.open(section)?.ok_or_else(|| self.missing(section))
    }
}

impl<T: Clone> Needed<T> {
    /// The error where there is no value; of words without another text, their list.
    fn missing(&self, section: &Section<'_>) -> InputError {
        let words: Vec<_> = self.ways().flat_map(Way::all_words).map(|(word, _)| word).collect();
        match self.expected {
            "" => section.missing(self.name(), &words.join(", ")),
            expected => section.missing(self.name(), expected),
        }
    }
}

impl<T> Key<T> {
    /// The name in its section.
    pub fn name(&self) -> &'static str {
        self.row().name()
    }

    /// Whether the key is given.
    pub fn is_given(&self, section: &Section<'_>) -> bool {
        section.has(self.name())
    }

    /// Whether the value is a section.
    pub fn is_section(&self, section: &Section<'_>) -> bool {
        section.node(self.name()).is_some_and(|node| matches!(node.value, Value::Map(_)))
    }

    /// The section below the key.
    ///
    /// # Errors
    /// A value that is no section, one with unknown keys.
    pub fn open<'a>(&self, section: &Section<'a>) -> Result<Option<Section<'a>>, InputError> {
        section.section(self.name())
    }

    /// The items of the list below the key.
    ///
    /// # Errors
    /// A value that is no list.
    pub fn items<'a>(&self, section: &Section<'a>) -> Result<Option<&'a [Node]>, InputError> {
        section.list(self.name())
    }

    fn ways(&self) -> impl Iterator<Item = &Way<T>> {
        self.ways.iter().flatten()
    }

    /// The row without a default.
    fn row(&self) -> Row {
        Row {
            path: self.path,
            kinds: &[],
            default: self.absent,
            models: self.models,
            types: &[],
            text: self.text,
            since: "0.1",
        }
    }
}

impl<T: Clone + PartialEq> Key<T> {
    /// The value, if it is given.
    ///
    /// # Errors
    /// A value that is none of those declared.
    pub fn read(&self, section: &Section<'_>) -> Result<Option<Located<T>>, InputError> {
        self.read_as(section, self.name())
    }

    /// Does the same for one of the names at the end of the path.
    ///
    /// # Errors
    /// As [`Self::read`].
    pub fn read_as(&self, section: &Section<'_>, name: &str) -> Result<Option<Located<T>>, InputError> {
        let Some(node) = section.node(name) else { return Ok(None) };
        debug_assert!(
            fits(&self.row().parts(), &[section.steps(), &[name.to_owned()]].concat()),
            "{} is read at {}",
            self.path,
            section.key(name)
        );
        let key = section.key(name);
        let words = self.all_words();
        let other = self.ways().find(|way| way.is_plain());
        let is_word = match (&node.value, other) {
            (_, None) => true,
            // One word beside a number may be the name of a constant.
            (Value::Text(text), Some(_)) => {
                words.iter().any(|(word, _)| word == text)
                    || (words.len() > 1 && text.chars().all(char::is_alphabetic))
            }
            _ => false,
        };
        match other.filter(|_| !is_word) {
            Some(way) => self.plain(way, node, &key, section).map(Some),
            None => section::choice(node, &key, &words).map(Some),
        }
    }

    /// The word of a value, or nothing.
    pub fn shown(&self, value: &T) -> &'static str {
        self.all_words().iter().find(|(_, of)| of == value).map_or("", |(word, _)| word)
    }

    /// Rejects the words that `other`, the same key of other models, has and this one lacks.
    ///
    /// # Errors
    /// [`Problem::Unsupported`].
    pub fn refuse_others<U: Clone>(
        &self,
        other: &Key<U>,
        section: &Section<'_>,
        model: &str,
    ) -> Result<(), InputError> {
        let name = self.name();
        let words: Vec<_> = self.all_words().iter().map(|(word, _)| *word).collect();
        let others = other.ways().flat_map(Way::all_words).map(|(word, _)| word);
        let others: Vec<_> = others.filter(|word| !words.contains(word)).collect();
        section.lacks(name, &others, &format!("the model {model} has `{name}: {}`", words.join(" | ")))
    }

    /// The words with their values.
    fn all_words(&self) -> Vec<(&'static str, T)> {
        self.ways().flat_map(Way::all_words).collect()
    }

    /// Reads a value that is no word.
    fn plain(
        &self,
        way: &Way<T>,
        node: &Node,
        key: &str,
        from: &Section<'_>,
    ) -> Result<Located<T>, InputError> {
        let constants = from.constants();
        match way {
            Way::Parsed(words, parse, _) => {
                let expected = format!("one of {}", words.join(", "));
                let word = section::text(node, key, &expected)?;
                let value = parse(&word.value).ok_or_else(|| {
                    let known = words.iter().map(|&word| word.to_owned()).collect();
                    let problem =
                        Problem::UnknownValue { key: key.to_owned(), found: word.value.clone(), known };
                    InputError::at(&word.place, problem)
                })?;
                Ok(word.with(value))
            }
            Way::Whole(least, most, with) => {
                // Of a key with both limits, a message has both.
                let n = section::count(node, key, if *most < usize::MAX { 0 } else { *least }, constants)?;
                if !(*least..=*most).contains(&n.value) {
                    let words: String =
                        self.all_words().iter().map(|(word, _)| format!(", or `{word}`")).collect();
                    return Err(InputError::range(&n, format!("from {least} to {most}{words}{}", self.why)));
                }
                Ok(n.with((with.0)(n.value)))
            }
            Way::Number(range, with) => {
                let x = constants.number(node, key)?;
                // The reason is that of the upper limit where zero needs none.
                let why = if matches!(range, Range::Below(Low::Over(low), _) if x.value <= *low) {
                    ""
                } else {
                    self.why
                };
                match range.expected(x.value) {
                    Some(expected) => Err(InputError::range(&x, expected + why)),
                    None => Ok(x.with((with.0)(x.value))),
                }
            }
            Way::Flag(with) => match node.value {
                Value::Bool(flag) => {
                    Ok(Located { value: flag, key: key.to_owned(), place: node.place.clone() }
                        .with((with.0)(flag)))
                }
                _ => Err(wrong_type(node, key, "true or false")),
            },
            Way::Text(kind, with) => {
                let text = match kind {
                    Kind::Text => section::text(node, key, "a text")?,
                    _ => constants.text(node, key)?,
                };
                Ok(text.with((with.0)(text.value.clone())))
            }
            Way::Vector(_, with) => {
                let list = section::vector(node, key, constants)?;
                Ok(list.with((with.0)(list.value.clone())))
            }
            Way::Words(_) | Way::Found(_) | Way::Parts(_) => section::choice(node, key, &self.all_words()),
        }
    }

    /// The value as a run writes it to its file, where there is a way.
    fn written(&self, value: &T) -> Option<Value> {
        let one = |way: &Way<T>| match way {
            Way::Parsed(words, parse, show) => {
                let known = || words.iter().find(|word| parse(word).as_ref() == Some(value));
                show(value).or_else(|| known().map(|&word| word.to_owned())).map(Value::Text)
            }
            Way::Whole(_, _, with) => (with.1)(value).map(|n| Value::Number(n as f64)),
            Way::Number(_, with) => (with.1)(value).map(Value::Number),
            Way::Flag(with) => (with.1)(value).map(Value::Bool),
            Way::Text(_, with) => (with.1)(value).map(Value::Text),
            Way::Vector(..) | Way::Parts(_) => None,
            Way::Words(_) | Way::Found(_) => way
                .all_words()
                .iter()
                .find(|(_, of)| of == value)
                .map(|(word, _)| Value::Text((*word).to_owned())),
        };
        self.ways().find_map(one)
    }

    /// The path with a value as a run writes it to its file.
    pub fn entry(&self, value: &T) -> Option<(&'static str, Value)> {
        self.written(value).map(|written| (self.path, written))
    }

    /// Writes a value where the file has none.
    pub fn write(&self, tree: &mut Tree, value: &T) {
        self.write_at(tree, self.path, value);
    }

    /// Does the same for one of the names at the end of the path.
    pub fn write_as(&self, tree: &mut Tree, name: &str, value: &T) {
        let above = self.path.rsplit_once('.').map_or("", |(above, _)| above);
        self.write_at(tree, &format!("{above}.{name}"), value);
    }

    /// Does the same in the section `above`, one of those of the path.
    pub fn write_below(&self, tree: &mut Tree, above: &str, value: &T) {
        self.write_at(tree, &format!("{above}.{}", self.name()), value);
    }

    fn write_at(&self, tree: &mut Tree, path: &str, value: &T) {
        if let Some(written) = self.written(value) {
            tree.default(path, written);
        }
    }

    /// The row with its kinds, which are made once in a process.
    fn full_row(&self) -> Row {
        let kinds: Vec<Kind> = self.ways().map(Way::kind).collect();
        Row { kinds: kinds.leak(), ..self.row() }
    }
}

impl<T: Clone> Way<T> {
    fn all_words(&self) -> Vec<(&'static str, T)> {
        match self {
            Self::Words(words) => words.to_vec(),
            Self::Found(words) => words(),
            _ => Vec::new(),
        }
    }

    fn kind(&self) -> Kind {
        match self {
            Self::Parsed(words, ..) => Kind::Words(words),
            Self::Whole(least, most, _) => Kind::Whole(*least, *most),
            Self::Number(range, _) => Kind::Number(*range),
            Self::Flag(_) => Kind::Flag,
            Self::Text(kind, _) | Self::Vector(kind, _) | Self::Parts(kind) => *kind,
            Self::Words(_) | Self::Found(_) => {
                let words: Vec<&'static str> = self.all_words().iter().map(|(word, _)| *word).collect();
                Kind::Words(words.leak())
            }
        }
    }
}

impl<T> Way<T> {
    /// Whether a value is neither a word nor taken apart by its reader.
    fn is_plain(&self) -> bool {
        !matches!(self, Self::Words(_) | Self::Found(_) | Self::Parts(_))
    }
}

impl<T: Clone + PartialEq + Sync> Declared for Key<T> {
    fn row(&self) -> Row {
        self.full_row()
    }
}

impl<T: Clone + PartialEq + Sync> Declared for Needed<T> {
    fn row(&self) -> Row {
        self.key.full_row()
    }
}

impl<T: Clone + PartialEq + Sync> Declared for Usual<T> {
    fn row(&self) -> Row {
        let value = match self.key.written(&self.value) {
            Some(Value::Text(text)) => text,
            Some(Value::Number(x)) => shown(x),
            Some(Value::Bool(flag)) => flag.to_string(),
            _ => String::new(),
        };
        Row { default: Absent::Value(value.leak()), ..self.key.full_row() }
    }
}
