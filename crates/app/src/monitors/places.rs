//! The points of a sample: listed, read from a file, on a line, or on a plane.

use std::path::PathBuf;

use crate::file::expression;
use crate::file::node::{Node, Value};
use crate::file::problem::InputError;
use crate::file::section::{self, Section};
use crate::file::source::Located;

/// Points as written.
#[derive(Clone, Debug)]
pub enum PlacesSpec {
    /// A list of points.
    Listed(Vec<Located<Vec<f64>>>),
    /// A table whose first columns are coordinates; the path is relative to the pipeline file.
    File(Located<PathBuf>),
    /// Points of a line.
    Line {
        /// The first point.
        from: Located<Vec<f64>>,
        /// The last point.
        to: Located<Vec<f64>>,
        /// Their number, at least 2.
        n: usize,
        /// Where they are.
        spacing: Spacing,
    },
    /// A grid of points on a parallelogram.
    Plane {
        /// A corner.
        corner: Located<Vec<f64>>,
        /// The vectors of the two sides that begin there.
        sides: [Located<Vec<f64>>; 2],
        /// The number of points along each, at least 2.
        n: [usize; 2],
    },
}

/// Where the points of a line are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Spacing {
    /// At equal distances.
    Uniform,
    /// Dense at both ends, as at the walls of a channel.
    Cosine,
}

impl Spacing {
    /// The spacings by their words.
    pub const ALL: &'static [(&'static str, Self)] = &[("uniform", Self::Uniform), ("cosine", Self::Cosine)];
    /// The words.
    pub const WORDS: [&'static str; 2] = ["uniform", "cosine"];
}

/// The default number of points along a line.
const LINE: usize = 101;

/// The default number of points along a side of a plane.
const SIDE: usize = 51;

/// The sides of a plane, in words.
const SIDES: &str = "the two sides of the plane as vectors, such as [[1, 0], [0, 1]]";

/// The numbers of points of a plane, in words.
const COUNTS: &str = "the numbers of points along both sides, such as [21, 11]";

impl PlacesSpec {
    /// Reads `points`, `line` or `plane` of a monitor.
    pub(super) fn read(monitor: &Section<'_>) -> Result<Self, InputError> {
        for (first, second) in [("points", "line"), ("points", "plane"), ("line", "plane")] {
            monitor.exclusive(first, second)?;
        }
        if let Some(line) = Self::line(monitor)? {
            return Ok(line);
        }
        if let Some(plane) = monitor.section("plane")? {
            return Self::plane(&plane);
        }
        let node = monitor.node("points").ok_or_else(|| {
            let expected = "a list of points or { file: points.csv }, or in its place `line` or `plane`";
            monitor.missing("points", expected)
        })?;
        match node.value {
            Value::Map(_) => {
                let Some(inner) = monitor.section("points")? else {
                    return listed(monitor).map(Self::Listed);
                };
                let file = inner.text("file")?.ok_or_else(|| inner.missing("file", "a table of points"))?;
                Ok(Self::File(file.with(PathBuf::from(&file.value))))
            }
            _ => listed(monitor).map(Self::Listed),
        }
    }

    /// Reads `line` of a monitor.
    pub(super) fn line(monitor: &Section<'_>) -> Result<Option<Self>, InputError> {
        let Some(line) = monitor.section("line")? else { return Ok(None) };
        let from = vector(&line, "from", "the first point of the line")?;
        let to = vector(&line, "to", "the last point of the line")?;
        let spacing = line.choice("spacing", Spacing::ALL)?.map_or(Spacing::Uniform, |word| word.value);
        Ok(Some(Self::Line { from, to, n: line.count("points", 2)?.map_or(LINE, |n| n.value), spacing }))
    }

    fn plane(plane: &Section<'_>) -> Result<Self, InputError> {
        let corner = vector(plane, "corner", "a corner of the plane")?;
        let [first, second] = pair(plane, "sides", SIDES)?.ok_or_else(|| plane.missing("sides", SIDES))?;
        let key = plane.key("sides");
        let sides = [point(first, &key, plane)?, point(second, &key, plane)?];
        let n = match pair(plane, "points", COUNTS)? {
            None => [SIDE; 2],
            Some([first, second]) => {
                let key = plane.key("points");
                let count = |node| section::count(node, &key, 2, plane.constants());
                [count(first)?.value, count(second)?.value]
            }
        };
        Ok(Self::Plane { corner, sides, n })
    }
}

fn vector(section: &Section<'_>, key: &str, expected: &str) -> Result<Located<Vec<f64>>, InputError> {
    section.vector(key)?.ok_or_else(|| section.missing(key, expected))
}

/// A list of two entries.
fn pair<'a>(section: &Section<'a>, key: &str, expected: &str) -> Result<Option<&'a [Node; 2]>, InputError> {
    let Some(node) = section.node(key) else { return Ok(None) };
    let items = section.list(key)?.unwrap_or_default();
    let wrong = |_| expression::wrong_type(node, &section.key(key), expected);
    items.try_into().map(Some).map_err(wrong)
}

/// The list `points` of a monitor.
pub(super) fn listed(section: &Section<'_>) -> Result<Vec<Located<Vec<f64>>>, InputError> {
    let items = section.list("points")?.ok_or_else(|| section.missing("points", "a list of points"))?;
    let key = section.key("points");
    items.iter().map(|item| point(item, &key, section)).collect()
}

fn point(item: &Node, key: &str, section: &Section<'_>) -> Result<Located<Vec<f64>>, InputError> {
    let numbers = section::list(item, key)?;
    if numbers.is_empty() || numbers.len() > 3 {
        return Err(expression::wrong_type(item, key, "a point of two or three numbers"));
    }
    let numbers = numbers.iter().map(|number| Ok(section.constants().number(number, key)?.value));
    let value = numbers.collect::<Result<_, InputError>>()?;
    Ok(Located { value, key: key.to_owned(), place: item.place.clone() })
}
