//! What the means in a checkpoint are of, and their conversion where a run continues with others.

use std::collections::HashMap;

use dgsuite_basis::lattice::{lattice, lattice_len};
use dgsuite_basis::{LagrangeBasis, Shape};
use serde::{Deserialize, Serialize};

use super::AveragesPlan;
use crate::models::vocabulary::VELOCITY;
use crate::outputs::named::OutputField;

/// The section of a checkpoint that describes its means.
pub(super) const SECTION: &str = "averaged";

/// What the numbers of means are of, in their order.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub(super) struct Content {
    /// The order of the lattices of the cells.
    order: usize,
    /// The names of the fields, with the formulas of their components.
    fields: Vec<(String, Vec<String>)>,
    deviations: bool,
    reynolds_stresses: bool,
}

/// Numbers of each piece that belong together.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
struct Block {
    /// The name in messages.
    name: String,
    /// The formulas of the components: another field may have the same name.
    formulas: Vec<String>,
    components: usize,
}

impl Content {
    /// Describes the means of a plan.
    pub(super) fn of(plan: &AveragesPlan, order: usize) -> Self {
        let field = |field: &OutputField| {
            let formulas = field.components.iter().map(|formula| formula.text().to_owned()).collect();
            (field.name.clone(), formulas)
        };
        Self {
            order,
            fields: plan.fields.iter().map(field).collect(),
            deviations: plan.deviations,
            reynolds_stresses: plan.reynolds_stresses,
        }
    }

    /// The blocks of the fields, and those of their products.
    fn blocks(&self) -> [Vec<Block>; 2] {
        let (mut means, mut products) = (Vec::new(), Vec::new());
        for (name, formulas) in &self.fields {
            let block = |name: String, components| Block { name, formulas: formulas.clone(), components };
            means.push(block(name.clone(), formulas.len()));
            if self.deviations {
                products.push(block(format!("{name}_std"), formulas.len()));
            }
            if self.reynolds_stresses && name == VELOCITY {
                products.push(block("ReynoldsStresses".to_owned(), super::SYMMETRIC.len()));
            }
        }
        [means, products]
    }

    /// Returns the names of what `self` has and `other` has not.
    pub(super) fn more_than(&self, other: &Self) -> Vec<String> {
        let had: Vec<Block> = other.blocks().concat();
        self.blocks()
            .concat()
            .into_iter()
            .filter(|block| !had.contains(block))
            .map(|block| block.name)
            .collect()
    }

    /// Converts numbers of the content `other` to numbers of this one, which is a part of it: values on the
    /// lattices of another order are interpolated. `cells` has the shape and the number of the cells of each
    /// piece. `None` if the numbers do not fit.
    pub(super) fn convert(
        &self,
        other: &Self,
        cells: &[(Shape, usize)],
        numbers: &[f64],
    ) -> Option<Vec<f64>> {
        let mut left = numbers;
        let mut found: HashMap<(usize, Block), &[f64]> = HashMap::new();
        for blocks in other.blocks() {
            for (piece, (shape, n)) in cells.iter().enumerate() {
                for block in &blocks {
                    let (own, rest) =
                        left.split_at_checked(n * lattice_len(*shape, other.order) * block.components)?;
                    found.insert((piece, block.clone()), own);
                    left = rest;
                }
            }
        }
        if !left.is_empty() {
            return None;
        }
        let mut converted = Vec::new();
        for blocks in self.blocks() {
            for (piece, (shape, _)) in cells.iter().enumerate() {
                for block in &blocks {
                    let values = found.get(&(piece, block.clone()))?;
                    converted.extend(on_lattice(*shape, [other.order, self.order], block.components, values));
                }
            }
        }
        Some(converted)
    }
}

/// Values `[cell][point][component]` on the lattice of another order.
fn on_lattice(shape: Shape, [from, to]: [usize; 2], components: usize, values: &[f64]) -> Vec<f64> {
    if from == to {
        return values.to_vec();
    }
    let matrix = LagrangeBasis::new(shape, from).eval(&lattice(shape, to));
    let nodes = lattice_len(shape, from);
    let mut out = Vec::with_capacity(values.len() / nodes * lattice_len(shape, to));
    for cell in values.chunks_exact(nodes * components) {
        for q in 0..lattice_len(shape, to) {
            let row = matrix.row(q);
            out.extend(
                (0..components)
                    .map(|c| row.iter().enumerate().map(|(j, l)| l * cell[j * components + c]).sum::<f64>()),
            );
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn content(order: usize, names: &[&str], deviations: bool) -> Content {
        let field = |name: &&str| {
            let components = if *name == VELOCITY { 3 } else { 1 };
            let formulas = (0..components).map(|c| format!("{name} {c}")).collect();
            ((*name).to_owned(), formulas)
        };
        let reynolds_stresses = names.contains(&VELOCITY);
        Content { order, fields: names.iter().map(field).collect(), deviations, reynolds_stresses }
    }

    /// Numbers of a content whose values are `component + x + 2 y` at the points.
    fn numbers(content: &Content, cells: &[(Shape, usize)]) -> Vec<f64> {
        let mut numbers = Vec::new();
        for blocks in content.blocks() {
            for (shape, n) in cells {
                for block in &blocks {
                    // The name tells blocks apart.
                    let shift = block.name.len() as f64;
                    for _ in 0..*n {
                        for [x, y, _] in lattice(*shape, content.order) {
                            numbers.extend((0..block.components).map(|c| shift + c as f64 + x + 2.0 * y));
                        }
                    }
                }
            }
        }
        numbers
    }

    #[test]
    fn fewer_fields_and_another_order_are_converted_and_more_fields_are_named() {
        let cells = [(Shape::Triangle, 3), (Shape::Quadrilateral, 2)];
        let old = content(2, &["Density", VELOCITY], true);
        let saved = numbers(&old, &cells);
        for order in [1, 2, 3] {
            for new in [
                content(order, &["Density", VELOCITY], true),
                content(order, &[VELOCITY, "Density"], false),
                content(order, &["Density"], true),
            ] {
                assert!(new.more_than(&old).is_empty());
                let (found, expected) = (new.convert(&old, &cells, &saved).unwrap(), numbers(&new, &cells));
                assert_eq!(found.len(), expected.len());
                assert!(found.iter().zip(&expected).all(|(a, b)| (a - b).abs() < 1e-12), "{new:?}");
            }
        }
        assert_eq!(content(2, &["Density", "Pressure"], true).more_than(&old), ["Pressure", "Pressure_std"]);
        assert_eq!(old.convert(&old, &cells, &saved[1..]), None);
        // A field of the same name and another formula is another one.
        let mut other = old.clone();
        other.fields[0].1[0] = "2 rho".to_owned();
        assert_eq!(other.more_than(&old), ["Density", "Density_std"]);
    }
}
