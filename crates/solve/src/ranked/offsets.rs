//! Where the coefficients of each element are in the state of a whole mesh.

use std::ops::Range;

use dgsuite_basis::Shape;
use dgsuite_mesh::SetSize;

/// The places of coefficients, by one row for each set of elements.
pub(super) struct Offsets {
    sets: Vec<Row>,
    total: usize,
}

/// A set of elements.
struct Row {
    first: usize,
    end: usize,
    /// The place of the first coefficient of the first element.
    at: usize,
    /// Coefficients of an element.
    size: usize,
}

impl Offsets {
    /// The places in a state with `fields` unknowns; `size` is the number of basis functions of a shape.
    pub(super) fn new(sets: &[SetSize], fields: usize, size: impl Fn(Shape) -> usize) -> Self {
        let (mut first, mut at) = (0, 0);
        let row = |set: &SetSize| {
            let row = Row { first, end: first + set.elements, at, size: size(set.shape) * fields };
            (first, at) = (row.end, at + set.elements * row.size);
            row
        };
        let sets = sets.iter().map(row).collect();
        Self { sets, total: at }
    }

    /// The coefficients of an element of the whole mesh; none if there is no such element.
    pub(super) fn of(&self, element: usize) -> Range<usize> {
        let row = self.sets.iter().find(|row| element < row.end);
        row.map_or(self.total..self.total, |row| {
            let begin = row.at + (element - row.first) * row.size;
            begin..begin + row.size
        })
    }

    /// Number of coefficients of the whole mesh.
    pub(super) const fn total(&self) -> usize {
        self.total
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_follow_each_other_without_gaps() {
        let set = |shape, elements| SetSize { shape, order: 1, elements };
        let sets = [set(Shape::Triangle, 3), set(Shape::Quadrilateral, 2)];
        let offsets = Offsets::new(&sets, 2, |shape| shape.n_faces());
        let all: Vec<Range<usize>> = (0..6).map(|element| offsets.of(element)).collect();
        assert_eq!(all, [0..6, 6..12, 12..18, 18..26, 26..34, 34..34]);
        assert_eq!(offsets.total(), 34);
    }
}
