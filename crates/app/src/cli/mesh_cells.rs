//! The elements of a mesh as cells of a file for ParaView, with the geometry's order.

use dgsuite_mesh::{ElementSet, Mesh};

pub(super) use crate::writer::Values;
use crate::writer::{CellBlock, Field, UnstructuredFields};

/// The elements with their numbers in the file (`element_id`), their regions (`region`, 0 for none) and
/// further scalars `[element]`.
pub(super) fn elements(mesh: &Mesh, scalars: &[(&str, Values)]) -> UnstructuredFields {
    let piece = |(s, set): (usize, &ElementSet)| {
        let part = |values: &Values| {
            let range = set.first..set.first + set.len();
            match values {
                Values::Real(all) => Values::Real(all[range].to_vec()),
                Values::Integer(all) => Values::Integer(all[range].to_vec()),
            }
        };
        let scalar = |(name, values): &(&str, Values)| Field {
            name: (*name).to_owned(),
            components: 1,
            values: part(values),
        };
        let numbers = set.tags.iter().map(|&t| i64::try_from(t).unwrap_or(i64::MAX)).collect();
        let regions = set.regions.iter().map(|&r| i64::from(r)).collect();
        let own = [Field::integer("element_id", 1, numbers), Field::integer("region", 1, regions)];
        CellBlock {
            shape: set.shape,
            order: set.order,
            points: (0..set.len()).flat_map(|i| mesh.element_points(s, i)).collect(),
            point_data: Vec::new(),
            cell_data: scalars.iter().map(scalar).chain(own).collect(),
        }
    };
    UnstructuredFields { time: 0.0, pieces: mesh.sets.iter().enumerate().map(piece).collect() }
}
