//! Files of boundaries alone, `output.surfaces`: the faces of named boundaries with the fields of the
//! elements beside them.

use std::collections::BTreeMap;
use std::sync::Arc;

use dgsuite_basis::Shape;
use dgsuite_basis::lattice::lattice;
use dgsuite_mesh::{Across, Mesh};

use super::named::{self, FieldSpec, OutputField};
use super::series::Files;
use super::{Context, Kind, Opener, Resolved, Spec};
use crate::file::beginning::Beginning;
use crate::file::every::Every;
use crate::file::keys::Absent::{Nothing, Required};
use crate::file::keys::Kind::{List, Section as Of, Text};
use crate::file::keys::{FLOW, row};
use crate::file::problem::InputError;
use crate::file::problem::mistakes::both;
use crate::file::section;
use crate::file::source::Located;
use crate::monitors::surface::named_boundaries;
use dgsuite_output::writer::{CellBlock, Field, UnstructuredFields, Values};

/// Fields on boundaries alone.
pub static OUTPUT: Kind = Kind {
    name: "surfaces",
    keys: &[
        row(
            "output.surfaces",
            &[Of],
            Nothing,
            "Fields on boundaries alone, in `surfaces.pvd` and `surfaces/*.vtu` or in `surfaces.vtkhdf`.",
        )
        .of(FLOW),
        row(
            "output.surfaces.boundaries",
            &[List("names of boundaries", &[Text])],
            Required,
            "The boundaries.",
        )
        .of(FLOW),
    ],
    read: |section| {
        let key = section.key("boundaries");
        let expected = "a list of names of boundaries";
        let items = section.list("boundaries")?.ok_or_else(|| section.missing("boundaries", expected))?;
        let names = items.iter().map(|item| section::text(item, &key, expected));
        let boundaries = names.collect::<Result<Vec<_>, _>>()?;
        section::once(&boundaries)?;
        Ok(Arc::new(Surfaces {
            boundaries,
            from: Beginning::read(section)?,
            every: Every::read(section, Every::End)?,
            names: FieldSpec::read_all(section)?,
        }))
    },
    usual: |_, _| None,
    writes_files: true,
    after_all: false,
};

#[derive(Debug)]
struct Surfaces {
    boundaries: Vec<Located<String>>,
    from: Option<Beginning>,
    every: Every,
    names: Option<Vec<FieldSpec>>,
}

impl Spec for Surfaces {
    fn resolve(&self, context: &Context<'_>) -> Result<Resolved, InputError> {
        let named = named_boundaries(&self.boundaries, &context.mesh.boundary_names());
        let (boundaries, fields) = both(named, context.at_points(self.names.as_deref()))?;
        let (every, fields): (_, Arc<[OutputField]>) = (self.every, fields.into());
        let about = format!("surfaces {} of {}", boundaries.join(", "), named::list(&fields));
        let boundaries: Arc<[String]> = boundaries.into();
        let open: Opener = Box::new(move |opening| {
            Ok(Box::new(Files::of_boundaries(opening, every, (&fields, &boundaries))?))
        });
        Ok(Resolved { every, about, open })
    }

    fn from(&self) -> Option<&Beginning> {
        self.from.as_ref()
    }
}

/// Returns the faces of `boundaries` as cells, with the point values of `volume`, whose first cell field is
/// the number of the element.
pub fn restrict(volume: &UnstructuredFields, mesh: &Mesh, boundaries: &[String]) -> UnstructuredFields {
    // The position of each element: its block and its index in the block.
    let mut places: BTreeMap<i64, (usize, usize)> = BTreeMap::new();
    for (b, block) in volume.pieces.iter().enumerate() {
        if let Some(Field { values: Values::Integer(ids), .. }) = block.cell_data.first() {
            places.extend(ids.iter().enumerate().map(|(cell, &id)| (id, (b, cell))));
        }
    }
    let mut sizes: BTreeMap<usize, usize> = BTreeMap::new();
    let mut nodes_of: BTreeMap<(usize, u8), Vec<usize>> = BTreeMap::new();
    let mut pieces: BTreeMap<(Shape, usize), CellBlock> = BTreeMap::new();
    for face in &mesh.faces {
        let Across::Boundary(boundary) = face.across else { continue };
        let name = mesh.boundaries.get(boundary as usize).map_or("", |b| b.name.as_str());
        let id = i64::try_from(mesh.tag(face.minus.element as usize)).unwrap_or(i64::MAX);
        let (true, Some(&(b, cell))) = (boundaries.iter().any(|wanted| wanted == name), places.get(&id))
        else {
            continue;
        };
        let block = &volume.pieces[b];
        let side = face.minus.face;
        let nodes =
            nodes_of.entry((b, side)).or_insert_with(|| face_nodes(block.shape, block.order, side as usize));
        let per_cell = *sizes.entry(b).or_insert_with(|| lattice(block.shape, block.order).len());
        let shape = block.shape.face_shape(side as usize).unwrap_or(Shape::Line);
        let out = pieces.entry((shape, block.order)).or_insert_with(|| CellBlock {
            shape,
            order: block.order,
            points: Vec::new(),
            point_data: block
                .point_data
                .iter()
                .map(|f| Field::real(&*f.name, f.components, Vec::new()))
                .collect(),
            cell_data: vec![Field::integer("element_id", 1, Vec::new())],
        });
        let at = |node: &usize| cell * per_cell + node;
        out.points.extend(nodes.iter().map(|node| block.points[at(node)]));
        for (to, from) in out.point_data.iter_mut().zip(&block.point_data) {
            if let (Values::Real(to), Values::Real(from)) = (&mut to.values, &from.values) {
                let n = from.len() / block.points.len().max(1);
                to.extend(nodes.iter().flat_map(|node| &from[at(node) * n..(at(node) + 1) * n]));
            }
        }
        if let Values::Integer(ids) = &mut out.cell_data[0].values {
            ids.push(id);
        }
    }
    UnstructuredFields { time: volume.time, pieces: pieces.into_values().collect() }
}

/// Returns the nodes of an element's lattice on one of its faces, in the order of the face's own lattice.
fn face_nodes(shape: Shape, order: usize, face: usize) -> Vec<usize> {
    let all = lattice(shape, order);
    let own = lattice(shape.face_shape(face).unwrap_or(Shape::Line), order);
    let distance = |a: &[f64; 3], b: &[f64; 3]| (0..3).map(|d| (a[d] - b[d]).powi(2)).sum::<f64>();
    let nearest = |x: [f64; 3]| {
        (0..all.len()).min_by(|&i, &j| distance(&all[i], &x).total_cmp(&distance(&all[j], &x))).unwrap_or(0)
    };
    own.into_iter().map(|xi| nearest(shape.face_point(face, xi))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use dgsuite_mesh::generate::Box as Cuboid;

    #[test]
    fn the_faces_of_a_boundary_lie_on_it_and_keep_their_values() {
        for (shape, faces) in
            [(Shape::Triangle, 2), (Shape::Quadrilateral, 2), (Shape::Tetrahedron, 8), (Shape::Hexahedron, 4)]
        {
            let mut mesh = Cuboid::unit(shape, 2).build().unwrap();
            // The geometry nodes of order 3 serve as points of a sampled field.
            mesh.elevate(3).unwrap();
            let mut block = CellBlock {
                shape,
                order: 3,
                points: Vec::new(),
                point_data: vec![],
                cell_data: vec![Field::integer(
                    "element_id",
                    1,
                    (0..mesh.n_elements()).map(|e| mesh.tag(e) as i64).collect(),
                )],
            };
            for e in 0..mesh.n_elements() {
                block.points.extend(mesh.element_points(0, e));
            }
            let values = block.points.iter().flat_map(|x| [x[0], x[1] + 2.0 * x[2]]).collect();
            block.point_data.push(Field::real("f", 2, values));
            let whole = UnstructuredFields { time: 0.5, pieces: vec![block] };
            let cut = restrict(&whole, &mesh, &["xmax".to_owned()]);
            assert_eq!(cut.pieces.len(), 1, "{shape}");
            let piece = &cut.pieces[0];
            assert!(
                matches!(&piece.cell_data[0].values, Values::Integer(ids) if ids.len() == faces),
                "{shape}"
            );
            let Values::Real(values) = &piece.point_data[0].values else { panic!("{shape}") };
            assert_eq!(values.len(), 2 * piece.points.len());
            for (x, f) in piece.points.iter().zip(values.chunks(2)) {
                assert!((x[0] - 1.0).abs() < 1e-14 && (f[0] - 1.0).abs() < 1e-14, "{shape}: {x:?} {f:?}");
                assert!((f[1] - x[1] - 2.0 * x[2]).abs() < 1e-14, "{shape}");
            }
        }
    }
}
