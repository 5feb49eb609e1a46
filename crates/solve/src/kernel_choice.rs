//! The kernel that a GPU runs for elements of one kind, and what would make a slow one fast.

use dgsuite_basis::Shape;
use dgsuite_ops::cuda::{Change, Forecast};
use serde_json::{Value, json};
use std::fmt;

/// The kernel that a GPU runs for the residual of elements of one shape, affine or curved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KernelChoice {
    /// The shape.
    pub shape: Shape,
    /// Whether the elements are curved.
    pub curved: bool,
    /// Whether the kernel was made for such elements; the universal kernel runs all others.
    pub fast: bool,
    /// The name of the kernel.
    pub name: String,
    /// If it is the universal one, what would have a fast kernel, in words: `order 2`.
    pub faster: Vec<String>,
}

impl KernelChoice {
    /// From the name of the kernel's file.
    pub fn new(shape: Shape, curved: bool, fast: bool, file: &str) -> Self {
        let name = file.trim_end_matches(".cu").trim_end_matches("_gradient");
        let name = if fast { name.to_owned() } else { "universal".to_owned() };
        Self { shape, curved, fast, name, faster: Vec::new() }
    }

    /// From a forecast.
    pub fn of(forecast: &Forecast) -> Self {
        let Forecast { shape, curved, fast, ref name, ref faster } = *forecast;
        let words = |change: &Change| match change {
            Change::Order(order) => format!("order {order}"),
            Change::Straight => match shape {
                Shape::Triangle | Shape::Tetrahedron => "straight elements".to_owned(),
                Shape::Quadrilateral => "parallelograms".to_owned(),
                _ => "elements with parallel faces".to_owned(),
            },
            Change::Modal => "basis: modal".to_owned(),
            Change::Collocated => "cubature: collocated".to_owned(),
        };
        Self { faster: faster.iter().map(words).collect(), ..Self::new(shape, curved, fast, name) }
    }

    /// What would have a fast kernel, if this one is not fast and such a change is known.
    #[must_use]
    pub fn advice(&self) -> Option<String> {
        let (last, others) = self.faster.split_last()?;
        let all = if others.is_empty() { last.clone() } else { format!("{} or {last}", others.join(", ")) };
        let kind = if self.curved { "curved" } else { "affine" };
        Some(format!("{kind} {} elements would have a faster kernel with {all}", self.shape.name()))
    }

    /// For programs.
    #[must_use]
    pub fn to_json(&self) -> Value {
        json!({
            "shape": self.shape.name(),
            "curved": self.curved,
            "name": self.name,
            "fast": self.fast,
            "faster": self.faster,
        })
    }
}

impl fmt::Display for KernelChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}: {}", if self.curved { "curved" } else { "affine" }, self.shape.name(), self.name)
    }
}
