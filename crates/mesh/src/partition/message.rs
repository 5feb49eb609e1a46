//! Parts as bytes, as which they are sent to other processes.

use dgsuite_basis::{Shape, lattice::lattice_len};

use super::{Cut, Part};
use crate::bytes::{Reader, Writer};
use crate::gmsh::max_order;
use crate::{
    Across, BoundaryTag, ElementSet, Face, Mesh, MeshError, PeriodicFace, PeriodicLink, RegionTag, Side,
};

impl Part {
    /// The part as bytes, the same on every machine.
    ///
    /// ```
    /// use dgsuite_mesh::{Part, Partition, Shape, generate::Box};
    /// let mesh = Box::unit(Shape::Triangle, 4).build()?;
    /// let part = Partition::along_curve(&mesh, 3, |_| 1.0)?.part(&mesh, 1);
    /// assert_eq!(Part::from_bytes(&part.to_bytes())?, part);
    /// # Ok::<(), dgsuite_mesh::MeshError>(())
    /// ```
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let mesh = &self.mesh;
        let nodes: usize = mesh.sets.iter().map(|set| set.nodes.len()).sum();
        let lists = 24 * mesh.points.len() + 4 * nodes + 16 * self.elements.len() + 12 * mesh.faces.len();
        let mut out = Writer::with_capacity(lists + 15 * self.cuts.len() + 4096);
        out.byte(mesh.dim as u8);
        out.list(&mesh.points, |out, x| out.reals(x));
        out.list(&mesh.sets, |out, set| {
            write_shape(out, set.shape);
            out.byte(set.order as u8);
            out.list(&set.nodes, |out, &node| out.short(node));
            out.list(&set.tags, |out, &tag| out.long(tag));
            out.list(&set.regions, |out, &region| out.short(region));
        });
        out.list(&mesh.faces, |out, face| {
            write_side(out, face.minus);
            let (kind, plus, orientation) = match face.across {
                Across::Interior { plus, orientation } => (INTERIOR, plus, orientation),
                Across::Periodic { plus, orientation } => (PERIODIC, plus, orientation),
                Across::Boundary(number) => (BOUNDARY, Side { element: number, face: 0 }, 0),
            };
            out.byte(kind);
            write_side(out, plus);
            out.byte(orientation);
        });
        out.list(&mesh.boundaries, write_boundary);
        out.list(&mesh.region_names, |out, region| {
            out.short(region.region);
            out.text(&region.name);
        });
        out.list(&mesh.links, write_link);
        out.list(&mesh.periodic_faces, |out, face| {
            write_side(out, face.minus);
            out.short(face.link);
            out.byte(u8::from(face.reversed));
        });
        out.list(&self.elements, |out, &element| out.short(element));
        out.list(&self.cuts, |out, cut| {
            write_side(out, cut.own);
            write_side(out, cut.other);
            out.short(cut.part);
            out.byte(cut.orientation);
        });
        out.finish()
    }

    /// The part of these bytes.
    ///
    /// # Errors
    /// [`MeshError::Message`] if they are no part, or if one of its numbers refers to what is not there.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, MeshError> {
        let mut from = Reader::new(bytes, "a part of a mesh");
        let dim = usize::from(from.byte()?);
        from.check(dim == 2 || dim == 3)?;
        let points = from.list(Reader::reals)?;
        let mut first = 0;
        let sets = from.list(|from| {
            let set = read_set(from, dim, points.len(), first)?;
            first += set.len();
            Ok(set)
        })?;
        from.check(sets.is_sorted_by_key(|set| (set.shape, set.order)))?;
        let ends: Vec<(usize, usize)> =
            sets.iter().map(|set| (set.first + set.len(), set.shape.n_faces())).collect();
        let has = |side: Side| {
            let set = ends.iter().find(|(end, _)| (side.element as usize) < *end);
            set.is_some_and(|&(_, faces)| usize::from(side.face) < faces)
        };
        let faces = from.list(|from| {
            let (minus, kind) = (read_side(from)?, from.byte()?);
            let (plus, orientation) = (read_side(from)?, from.byte()?);
            from.check(has(minus) && (kind == BOUNDARY || has(plus) && orientation < MOST_ROTATIONS))?;
            let across = match kind {
                INTERIOR => Across::Interior { plus, orientation },
                PERIODIC => Across::Periodic { plus, orientation },
                BOUNDARY => Across::Boundary(plus.element),
                _ => return Err(from.damaged()),
            };
            Ok(Face { minus, across })
        })?;
        from.check(faces.is_sorted_by_key(|face| face.minus))?;
        let boundaries = from.list(read_boundary)?;
        let is_boundary = |number: u32| (number as usize) < boundaries.len();
        from.check(faces.iter().all(|face| match face.across {
            Across::Boundary(number) => is_boundary(number),
            _ => true,
        }))?;
        let region_names = from.list(|from| Ok(RegionTag { region: from.short()?, name: from.text()? }))?;
        let links = from.list(read_link)?;
        from.check(links.iter().all(|link| is_boundary(link.first) && is_boundary(link.second)))?;
        let periodic_faces = from.list(|from| {
            let face =
                PeriodicFace { minus: read_side(from)?, link: from.short()?, reversed: from.byte()? == 1 };
            from.check(has(face.minus) && (face.link as usize) < links.len())?;
            Ok(face)
        })?;
        let elements = from.list(Reader::short)?;
        from.check(elements.len() == first && elements.is_sorted_by(|a, b| a < b))?;
        let cuts = from.list(|from| {
            let (own, other) = (read_side(from)?, read_side(from)?);
            let cut = Cut { own, other, part: from.short()?, orientation: from.byte()? };
            from.check(has(own) && cut.orientation < MOST_ROTATIONS)?;
            Ok(cut)
        })?;
        from.finish()?;
        let mesh = Mesh { dim, points, sets, faces, boundaries, region_names, links, periodic_faces };
        Ok(Self { mesh, elements, cuts })
    }
}

const INTERIOR: u8 = 0;
const PERIODIC: u8 = 1;
const BOUNDARY: u8 = 2;

/// The vertices of a face, each of which may lie on the first one of the other side.
const MOST_ROTATIONS: u8 = 4;

pub(crate) fn write_shape(out: &mut Writer, shape: Shape) {
    out.byte(Shape::ALL.iter().position(|&s| s == shape).unwrap_or(0) as u8);
}

pub(crate) fn read_shape(from: &mut Reader<'_>, dim: usize) -> Result<Shape, MeshError> {
    let shape = Shape::ALL.get(usize::from(from.byte()?)).filter(|shape| shape.dim() == dim);
    shape.copied().ok_or_else(|| from.damaged())
}

fn read_set(from: &mut Reader<'_>, dim: usize, points: usize, first: usize) -> Result<ElementSet, MeshError> {
    let (shape, order) = (read_shape(from, dim)?, usize::from(from.byte()?));
    from.check(order >= 1 && order <= max_order(shape))?;
    let nodes = from.list(Reader::short)?;
    let (tags, regions) = (from.list(Reader::long)?, from.list(Reader::short)?);
    let lengths = nodes.len() == tags.len() * lattice_len(shape, order) && regions.len() == tags.len();
    from.check(lengths && !tags.is_empty() && nodes.iter().all(|&node| (node as usize) < points))?;
    Ok(ElementSet { shape, order, nodes, tags, regions, first })
}

fn write_side(out: &mut Writer, side: Side) {
    out.short(side.element);
    out.byte(side.face);
}

fn read_side(from: &mut Reader<'_>) -> Result<Side, MeshError> {
    Ok(Side { element: from.short()?, face: from.byte()? })
}

pub(crate) fn write_boundary(out: &mut Writer, boundary: &BoundaryTag) {
    out.text(&boundary.name);
    out.short(boundary.tag.cast_unsigned());
}

pub(crate) fn read_boundary(from: &mut Reader<'_>) -> Result<BoundaryTag, MeshError> {
    Ok(BoundaryTag { name: from.text()?, tag: from.short()?.cast_signed() })
}

pub(crate) fn write_link(out: &mut Writer, link: &PeriodicLink) {
    out.short(link.first);
    out.short(link.second);
    link.linear.iter().for_each(|row| out.reals(row));
    out.reals(&link.offset);
}

pub(crate) fn read_link(from: &mut Reader<'_>) -> Result<PeriodicLink, MeshError> {
    let (first, second) = (from.short()?, from.short()?);
    let linear = [from.reals()?, from.reals()?, from.reals()?];
    Ok(PeriodicLink { first, second, linear, offset: from.reals()? })
}
