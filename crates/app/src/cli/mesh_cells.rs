//! The elements and boundary faces of a mesh as cells of a file for ParaView, with the geometry's order.

use std::collections::BTreeMap;

use dgsuite_basis::Shape;
use dgsuite_mesh::{Across, ElementSet, Mesh, Side, UNNAMED};

pub(super) use dgsuite_output::writer::Values;
use dgsuite_output::writer::{CellBlock, Field, UnstructuredFields};

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

/// The number of a boundary in files for ParaView: that of the physical group, or −1 for faces in no group.
pub(super) fn number(mesh: &Mesh, boundary: u32) -> i64 {
    let tag = &mesh.boundaries[boundary as usize];
    if tag.name == UNNAMED { -1 } else { i64::from(tag.tag) }
}

/// The elements, and the faces on boundaries as cells of one dimension less.
///
/// Cell data: `element_id`, of a face the number of its element; `region` of elements; `boundary` of faces;
/// `partner`, the number of the element across a periodic face. They are 0 where they have no meaning.
pub(super) fn with_faces(mesh: &Mesh) -> UnstructuredFields {
    let nothing = Values::Integer(vec![0; mesh.n_elements()]);
    let mut fields = elements(mesh, &[("boundary", nothing.clone()), ("partner", nothing)]);
    // Points and numbers by shape and order: element, boundary, partner.
    let mut blocks: BTreeMap<(Shape, usize), (Vec<[f64; 3]>, [Vec<i64>; 3])> = BTreeMap::new();
    let tag = |side: Side| i64::try_from(mesh.tag(side.element as usize)).unwrap_or(i64::MAX);
    let mut add = |side: Side, boundary: u32, partner: i64| {
        let (set, _) = mesh.locate(side.element as usize);
        let (points, numbers) = blocks.entry((mesh.side_shape(side), mesh.sets[set].order)).or_default();
        points.extend(mesh.side_nodes(side).into_iter().map(|node| mesh.points[node as usize]));
        for (list, value) in numbers.iter_mut().zip([tag(side), number(mesh, boundary), partner]) {
            list.push(value);
        }
    };
    let mut origins = mesh.periodic_faces.iter().peekable();
    for face in &mesh.faces {
        match face.across {
            Across::Boundary(boundary) => add(face.minus, boundary, 0),
            Across::Periodic { plus, .. } => {
                if let Some(origin) = origins.next_if(|origin| origin.minus == face.minus) {
                    let link = &mesh.links[origin.link as usize];
                    let [mine, other] =
                        if origin.reversed { [link.second, link.first] } else { [link.first, link.second] };
                    add(face.minus, mine, tag(plus));
                    add(plus, other, tag(face.minus));
                }
            }
            Across::Interior { .. } => {}
        }
    }
    for ((shape, order), (points, [element, boundary, partner])) in blocks {
        let region = vec![0; element.len()];
        // In the order of the elements' data.
        let all = [("boundary", boundary), ("partner", partner), ("element_id", element), ("region", region)];
        let cell_data = all.map(|(name, values)| Field::integer(name, 1, values)).into();
        fields.pieces.push(CellBlock { shape, order, points, point_data: Vec::new(), cell_data });
    }
    fields
}
