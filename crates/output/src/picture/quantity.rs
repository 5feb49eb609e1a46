//! The quantity that a picture shows: a field, a component or the magnitude of a vector, or a Mach number.

use super::PictureError;
use crate::nearest::nearest;
use crate::writer::{CellBlock, UnstructuredFields, Values};

/// What a picture shows, of the fields of a file.
#[derive(Clone, Debug, PartialEq)]
pub struct Quantity {
    /// Its name on the colour bar.
    pub label: String,
    formula: Formula,
    /// The values that it may have: from or up to zero if those in the file have one sign. Between its nodes
    /// the polynomial of a Mach number would fall below zero at a stagnation point.
    bounds: [f64; 2],
}

#[derive(Clone, Debug, PartialEq)]
enum Formula {
    /// A component of a field.
    Component { field: String, component: usize },
    /// The magnitude of a vector.
    Magnitude { field: String },
    /// `|v| √(ρ/(γ p))`.
    Mach { gamma: f64 },
}

/// The bounds of a quantity that may have any value.
const UNBOUNDED: [f64; 2] = [f64::NEG_INFINITY, f64::INFINITY];

/// Names for fields as the pipeline file has them: name, field, component.
const ALIASES: [(&str, &str, Option<usize>); 14] = [
    ("rho", "Density", None),
    ("density", "Density", None),
    ("p", "Pressure", None),
    ("pressure", "Pressure", None),
    ("u", "Velocity", Some(0)),
    ("v", "Velocity", Some(1)),
    ("w", "Velocity", Some(2)),
    ("speed", "Velocity", None),
    ("velocity", "Velocity", None),
    ("t", "Temperature", None),
    ("q", "QCriterion", None),
    ("omega", "Vorticity", None),
    ("s", "Entropy", None),
    ("mach", "Mach", None),
];

/// Fields that tell most about a flow, the best first.
const TELLING: [&str; 4] = ["Schlieren", "Mach", "Vorticity", "Density"];

impl Quantity {
    /// The quantity of a name: that of a field (`Density`, `rho`), a component (`u`, `Velocity.x`) or the
    /// magnitude (`Velocity`) of a vector. `Mach` is computed if the file does not have it and `gamma`, the
    /// ratio of specific heats, is known.
    ///
    /// # Errors
    /// [`PictureError::Field`] with the nearest name and all names.
    pub fn named(fields: &UnstructuredFields, name: &str, gamma: Option<f64>) -> Result<Self, PictureError> {
        let known = names(fields);
        let same = |a: &str, b: &str| a.eq_ignore_ascii_case(b);
        let (stem, part) = match name.rsplit_once('.') {
            Some((stem, part)) if axis(part).is_some() => (stem, axis(part)),
            _ => (name, None),
        };
        let exact = known.iter().find(|(field, _)| field == stem);
        let found = exact.or_else(|| known.iter().find(|(field, _)| same(field, stem)));
        if let Some((field, components)) = found
            && part.is_none_or(|part| part < *components)
        {
            return Ok(Self::of(fields, field, *components, part));
        }
        let alias = ALIASES.iter().find(|(word, ..)| same(word, stem));
        if let Some((_, field, component)) = alias
            && let Some((_, components)) = known.iter().find(|(known, _)| known == field)
            && part.or(*component).is_none_or(|part| part < *components)
        {
            return Ok(Self::of(fields, field, *components, part.or(*component)));
        }
        if let Some(gamma) = gamma.filter(|_| same(name, "mach") && has_gas(&known)) {
            return Ok(Self::mach(gamma));
        }
        let mut known: Vec<String> = known.into_iter().map(|(field, _)| field).collect();
        if gamma.is_some()
            && known.iter().any(|field| field == "Pressure")
            && !known.iter().any(|f| f == "Mach")
        {
            known.push("Mach".to_owned());
        }
        let hint = nearest(stem, &known).map(str::to_owned);
        Err(PictureError::Field { name: name.to_owned(), hint, known })
    }

    /// The quantity that tells most about the flow: the first of schlieren, Mach number, vorticity and
    /// density in the file (the density only if it changes by a percent), else the Mach number of a gas, the
    /// speed of a flow, or the first field.
    ///
    /// # Errors
    /// [`PictureError::Empty`] if there is no field.
    pub fn telling(fields: &UnstructuredFields, gamma: Option<f64>) -> Result<Self, PictureError> {
        let known = names(fields);
        let has = |name: &str| known.iter().find(|(field, _)| field == name);
        let changes = |name: &str| {
            let values = fields.pieces.iter().flat_map(|p| array(p, name).map(|(v, _, _)| v)).flatten();
            let (low, high) =
                values.fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), &v| (l.min(v), h.max(v)));
            high - low > 0.01 * high.abs().max(low.abs())
        };
        for name in TELLING {
            if let Some((field, components)) = has(name)
                && changes(name)
            {
                return Ok(Self::of(fields, field, *components, None));
            }
        }
        if let Some(gamma) = gamma.filter(|_| has_gas(&known)) {
            return Ok(Self::mach(gamma));
        }
        let first = has("Velocity").or_else(|| known.iter().find(|(name, _)| name != "element_id"));
        let (field, components) =
            first.ok_or_else(|| PictureError::Empty { what: "the file has no fields".to_owned() })?;
        Ok(Self::of(fields, field, *components, None))
    }

    fn mach(gamma: f64) -> Self {
        Self { label: "Mach".to_owned(), formula: Formula::Mach { gamma }, bounds: UNBOUNDED }
    }

    fn of(fields: &UnstructuredFields, field: &str, components: usize, part: Option<usize>) -> Self {
        let (label, formula) = Self::labelled(field, components, part);
        let mut quantity = Self { label, formula, bounds: UNBOUNDED };
        if let Formula::Component { field, component } = &quantity.formula {
            let values = fields.pieces.iter().filter_map(|piece| array(piece, field));
            let values =
                values.flat_map(|(values, stride, _)| values.iter().skip(*component).step_by(stride));
            let (low, high) =
                values.fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), &v| (l.min(v), h.max(v)));
            if low >= 0.0 {
                quantity.bounds[0] = 0.0;
            }
            if high <= 0.0 {
                quantity.bounds[1] = 0.0;
            }
        }
        quantity
    }

    /// The label and the formula of a field, or of a part of it.
    fn labelled(field: &str, components: usize, part: Option<usize>) -> (String, Formula) {
        let field = field.to_owned();
        match part {
            Some(component) if components > 1 => {
                let label = match (field.as_str(), component) {
                    ("Velocity", c) => ["u", "v", "w"].get(c).map(|name| (*name).to_owned()),
                    _ => None,
                };
                let label = label
                    .unwrap_or_else(|| format!("{field}.{}", ["x", "y", "z"].get(component).unwrap_or(&"?")));
                (label, Formula::Component { field, component })
            }
            _ if components > 1 => {
                let label = if field == "Velocity" { "Speed".to_owned() } else { format!("|{field}|") };
                (label, Formula::Magnitude { field })
            }
            _ => (field.clone(), Formula::Component { field, component: 0 }),
        }
    }

    /// A short word for names of files.
    #[must_use]
    pub fn word(&self) -> String {
        let word: String = self
            .label
            .chars()
            .map(|c| if c.is_alphanumeric() { c.to_ascii_lowercase() } else { '-' })
            .collect();
        let word = word.trim_matches('-').to_owned();
        if word.is_empty() { "field".to_owned() } else { word }
    }

    /// Returns the numbers of a block that this quantity is computed from, or `None` if the block lacks one.
    pub(super) fn of_block<'a>(&self, block: &'a CellBlock) -> Option<Numbers<'a>> {
        let one = |name: &str| array(block, name);
        let columns = match &self.formula {
            Formula::Component { field, component } => {
                let (values, components, of_cells) = one(field)?;
                vec![Column { values, stride: components, first: *component, of_cells }]
            }
            Formula::Magnitude { field } => {
                let (values, components, of_cells) = one(field)?;
                (0..components).map(|first| Column { values, stride: components, first, of_cells }).collect()
            }
            Formula::Mach { .. } => {
                let velocity = one("Velocity")?;
                let mut columns: Vec<Column<'_>> = ["Density", "Pressure"]
                    .into_iter()
                    .map(|name| {
                        one(name).map(|(values, stride, of_cells)| Column {
                            values,
                            stride,
                            first: 0,
                            of_cells,
                        })
                    })
                    .collect::<Option<_>>()?;
                let (values, stride, of_cells) = velocity;
                columns.extend((0..stride).map(|first| Column { values, stride, first, of_cells }));
                columns
            }
        };
        Some(Numbers { columns })
    }

    /// The value, given the numbers of [`Self::of_block`] at a point.
    pub(super) fn value(&self, numbers: &[f64]) -> f64 {
        let length = |v: &[f64]| v.iter().map(|x| x * x).sum::<f64>().sqrt();
        match &self.formula {
            Formula::Component { .. } => numbers[0].clamp(self.bounds[0], self.bounds[1]),
            Formula::Magnitude { .. } => length(numbers),
            Formula::Mach { gamma } => length(&numbers[2..]) * (numbers[0] / (gamma * numbers[1])).sqrt(),
        }
    }
}

/// The numbers of a block from which a quantity is computed.
pub(super) struct Numbers<'a> {
    columns: Vec<Column<'a>>,
}

struct Column<'a> {
    values: &'a [f64],
    stride: usize,
    first: usize,
    of_cells: bool,
}

impl Numbers<'_> {
    /// How many numbers each point has.
    pub(super) fn len(&self) -> usize {
        self.columns.len()
    }

    /// Number `k` of node `node` of cell `cell`, which has `per_cell` nodes.
    pub(super) fn at(&self, k: usize, cell: usize, node: usize, per_cell: usize) -> f64 {
        let column = &self.columns[k];
        let tuple = if column.of_cells { cell } else { cell * per_cell + node };
        column.values[tuple * column.stride + column.first]
    }
}

/// The values of a field of a block, its number of components, and whether they are of cells.
fn array<'a>(block: &'a CellBlock, name: &str) -> Option<(&'a [f64], usize, bool)> {
    let find = |fields: &'a [crate::writer::Field], of_cells: bool| {
        fields.iter().find(|f| f.name == name).and_then(|f| match &f.values {
            Values::Real(values) => Some((values.as_slice(), f.components, of_cells)),
            Values::Integer(_) => None,
        })
    };
    find(&block.point_data, false).or_else(|| find(&block.cell_data, true))
}

/// Names and numbers of components of the fields of a file.
fn names(fields: &UnstructuredFields) -> Vec<(String, usize)> {
    let Some(block) = fields.pieces.first() else { return Vec::new() };
    block.point_data.iter().chain(&block.cell_data).map(|f| (f.name.clone(), f.components)).collect()
}

fn has_gas(known: &[(String, usize)]) -> bool {
    ["Density", "Velocity", "Pressure"].iter().all(|name| known.iter().any(|(field, _)| field == name))
}

fn axis(name: &str) -> Option<usize> {
    ["x", "y", "z"].iter().position(|axis| *axis == name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::writer::Field;
    use dgsuite_basis::Shape;

    fn gas() -> UnstructuredFields {
        let block = CellBlock {
            shape: Shape::Triangle,
            order: 1,
            points: vec![[0.0; 3], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]],
            point_data: vec![
                Field::real("Density", 1, vec![1.0, 2.0, 1.4]),
                Field::real("Velocity", 3, vec![3.0, 4.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0]),
                Field::real("Pressure", 1, vec![1.0; 3]),
            ],
            cell_data: vec![Field::real("Sensor", 1, vec![0.5])],
        };
        UnstructuredFields { time: 0.0, pieces: vec![block] }
    }

    fn at(name: &str, node: usize) -> f64 {
        let fields = gas();
        let quantity = Quantity::named(&fields, name, Some(1.4)).unwrap();
        let numbers = quantity.of_block(&fields.pieces[0]).unwrap();
        let all: Vec<f64> = (0..numbers.len()).map(|k| numbers.at(k, 0, node, 3)).collect();
        quantity.value(&all)
    }

    #[test]
    fn fields_are_found_by_several_names() {
        assert_eq!([at("rho", 1), at("density", 1), at("Density", 1)], [2.0; 3]);
        assert_eq!(
            [at("Velocity", 0), at("speed", 0), at("u", 0), at("Velocity.y", 0)],
            [5.0, 5.0, 3.0, 4.0]
        );
        assert_eq!([at("sensor", 2), at("p", 2), at("mach", 2)], [0.5, 1.0, 1.0]);
        let telling = Quantity::telling(&gas(), Some(1.4)).unwrap();
        assert_eq!((telling.label.as_str(), telling.word().as_str()), ("Density", "density"));
    }

    #[test]
    fn values_between_nodes_keep_the_sign_of_those_at_nodes() {
        let mach = |values: [f64; 3]| {
            let mut fields = gas();
            fields.pieces[0].point_data.push(Field::real("Mach", 1, values.to_vec()));
            let quantity = Quantity::named(&fields, "Mach", None).unwrap();
            [quantity.value(&[-0.125]), quantity.value(&[0.5])]
        };
        // A polynomial through such nodes may be −0.125 between them.
        assert_eq!(mach([0.0, 0.0, 1.0]), [0.0, 0.5]);
        assert_eq!(mach([0.0, 0.0, -1.0]), [-0.125, 0.0]);
        assert_eq!(mach([1.0, 0.0, -1.0]), [-0.125, 0.5]);
    }

    #[test]
    fn an_unknown_field_is_answered_with_the_nearest_and_all() {
        let message = Quantity::named(&gas(), "Presure", None).unwrap_err().to_string();
        assert!(message.contains("`Presure` (did you mean `Pressure`?)"), "{message}");
        assert!(message.contains("Density, Velocity, Pressure, Sensor"), "{message}");
        assert!(Quantity::named(&gas(), "mach", None).is_err(), "without γ");
        assert!(Quantity::named(&gas(), "Density.y", None).is_err());
    }
}
