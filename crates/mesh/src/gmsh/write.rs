//! Writing MSH 2.2 and 4.1, text and binary, either byte order.
//!
//! Boundary faces become elements with their physical names. Periodic faces are written as boundary elements
//! on both sides and as node pairs in `$Periodic`. `$Periodic` relates entities, so that a boundary has one
//! entity for each of its partners. Text has as many digits as are needed to read the same numbers back.

use std::collections::BTreeMap;

use dgsuite_basis::Shape;

use crate::{
    Across, Mesh, Side,
    gmsh::{Version, kinds::number_of, node_order::gmsh_to_lattice},
    periodic::link_pairs,
    topology::Lattice,
};

/// The format of a mesh file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Format {
    /// Version of the format.
    pub version: Version,
    /// True for a binary file.
    pub binary: bool,
    /// True for a binary file with the high byte first.
    pub big_endian: bool,
}

impl Default for Format {
    /// MSH 4.1, binary, low byte first.
    fn default() -> Self {
        Self { version: Version::V41, binary: true, big_endian: false }
    }
}

/// Numbers as text with spaces and line ends, or as bytes.
struct Output {
    bytes: Vec<u8>,
    format: Format,
}

impl Output {
    fn text(&mut self, text: &str) {
        self.bytes.extend_from_slice(text.as_bytes());
    }

    fn raw<const N: usize>(&mut self, little: [u8; N]) {
        let mut word = little;
        if self.format.big_endian {
            word.reverse();
        }
        self.bytes.extend_from_slice(&word);
    }

    fn int(&mut self, value: i32) {
        if self.format.binary { self.raw(value.to_le_bytes()) } else { self.text(&format!("{value} ")) }
    }

    /// A `size_t` of MSH 4.1, an `int` of MSH 2.2.
    fn number(&mut self, value: u64) {
        match (self.format.binary, self.format.version) {
            (true, Version::V41) => self.raw(value.to_le_bytes()),
            (true, Version::V22) => self.raw((value as u32).to_le_bytes()),
            (false, _) => self.text(&format!("{value} ")),
        }
    }

    fn double(&mut self, value: f64) {
        if self.format.binary { self.raw(value.to_le_bytes()) } else { self.text(&format!("{value:?} ")) }
    }

    fn end_line(&mut self) {
        if !self.format.binary {
            self.bytes.push(b'\n');
        }
    }
}

/// Elements of one type on one entity.
struct Block {
    dim: usize,
    entity: i32,
    physical: i32,
    kind: u32,
    n_nodes: usize,
    tags: Vec<u64>,
    nodes: Vec<u32>,
}

/// The content of a Gmsh file.
///
/// Nodes are numbered from 1 in the order of the points. Elements keep their numbers; boundary
/// elements get numbers above them.
///
/// # Panics
/// If an element has a geometry order for which Gmsh has no type (10 and higher).
#[must_use]
pub fn to_bytes(mesh: &Mesh, format: &Format) -> Vec<u8> {
    let mut out = Output { bytes: Vec::new(), format: *format };
    let entities = boundary_entities(mesh);
    let blocks = blocks(mesh, &entities);
    out.text("$MeshFormat\n");
    out.text(&format!("{} {} 8\n", format.version, u8::from(format.binary)));
    if format.binary {
        out.int(1);
        out.text("\n");
    }
    out.text("$EndMeshFormat\n");
    physical_names(mesh, &mut out);
    match format.version {
        Version::V22 => {
            nodes_22(mesh, &mut out);
            elements_22(&blocks, &mut out);
        }
        Version::V41 => {
            entities_41(mesh, &blocks, &mut out);
            nodes_41(mesh, &mut out);
            elements_41(&blocks, &mut out);
        }
    }
    periodic(mesh, &entities, &mut out);
    out.bytes
}

/// The entity of a region, and of the first part of a boundary; Gmsh requires positive numbers.
const fn entity(index: u32) -> i32 {
    index.cast_signed().wrapping_add(1)
}

/// A part of a boundary: the faces that are not periodic, or the faces on one side of a link (true for its
/// second).
type Part = (u32, Option<(u32, bool)>);

/// The sides of boundary faces with their parts, in the order of the faces.
fn boundary_parts(mesh: &Mesh) -> Vec<(Side, Part)> {
    let mut origin = mesh.periodic_faces.iter().peekable();
    let mut all = Vec::new();
    for face in &mesh.faces {
        match face.across {
            Across::Boundary(b) => {
                if mesh.boundaries[b as usize].name != crate::UNNAMED {
                    all.push((face.minus, (b, None)));
                }
            }
            Across::Periodic { plus, .. } => {
                if let Some(p) = origin.next_if(|p| p.minus == face.minus) {
                    let link = &mesh.links[p.link as usize];
                    let ends = [(link.first, Some((p.link, false))), (link.second, Some((p.link, true)))];
                    let [m, q] = if p.reversed { [ends[1], ends[0]] } else { ends };
                    all.extend([(face.minus, m), (plus, q)]);
                }
            }
            Across::Interior { .. } => {}
        }
    }
    all
}

/// The entity of every part: the boundary's entity for the first, a separate one for the others.
fn boundary_entities(mesh: &Mesh) -> BTreeMap<Part, i32> {
    let mut entities: BTreeMap<Part, i32> =
        boundary_parts(mesh).into_iter().map(|(_, part)| (part, 0)).collect();
    let (mut next, mut before) = (mesh.boundaries.len() as u32, None);
    for (&(boundary, _), number) in &mut entities {
        *number = entity(if before == Some(boundary) { next } else { boundary });
        next += u32::from(before == Some(boundary));
        before = Some(boundary);
    }
    entities
}

/// True if the boundary's name is a physical name of the file.
fn is_named(mesh: &Mesh, boundary: usize) -> bool {
    let b = &mesh.boundaries[boundary];
    b.name != crate::UNNAMED && !b.name.starts_with('#')
}

/// The physical group of a boundary; `#tag` keeps the number and has no name.
fn group(mesh: &Mesh, boundary: usize) -> i32 {
    let b = &mesh.boundaries[boundary];
    if b.name == crate::UNNAMED { 0 } else { b.tag }
}

fn physical_names(mesh: &Mesh, out: &mut Output) {
    let mut lines = Vec::new();
    for (i, b) in mesh.boundaries.iter().enumerate().filter(|&(i, _)| is_named(mesh, i)) {
        lines.push(format!("{} {} \"{}\"\n", mesh.dim - 1, group(mesh, i), b.name));
    }
    for r in &mesh.region_names {
        lines.push(format!("{} {} \"{}\"\n", mesh.dim, r.region, r.name));
    }
    if !lines.is_empty() {
        out.text(&format!("$PhysicalNames\n{}\n{}$EndPhysicalNames\n", lines.len(), lines.concat()));
    }
}

/// All elements by dimension, entity and type; boundaries first, as in Gmsh.
fn blocks(mesh: &Mesh, entities: &BTreeMap<Part, i32>) -> Vec<Block> {
    let lattices: Vec<Lattice> = mesh.sets.iter().map(|s| Lattice::new(s.shape, s.order)).collect();
    let mut next = mesh.sets.iter().flat_map(|s| s.tags.iter().copied()).max().unwrap_or(0);
    let mut faces: BTreeMap<(Part, Shape, usize), (Vec<u64>, Vec<u32>)> = BTreeMap::new();
    for (side, part) in boundary_parts(mesh) {
        let (set, i) = mesh.locate(side.element as usize);
        let (shape, order) = (mesh.side_shape(side), lattices[set].order);
        let nodes = mesh.element_nodes(set, i);
        let face: Vec<u32> = lattices[set].faces[side.face as usize].iter().map(|&l| nodes[l]).collect();
        let (tags, all) = faces.entry((part, shape, order)).or_default();
        next += 1;
        tags.push(next);
        all.extend_from_slice(&face);
    }
    let mut blocks = Vec::new();
    for ((part, shape, order), (tags, nodes)) in faces {
        let (dim, physical) = (mesh.dim - 1, group(mesh, part.0 as usize));
        blocks.push(block(dim, entities[&part], physical, shape, order, tags, &nodes));
    }
    for set in &mesh.sets {
        // Runs of one region, so that the order of the elements is kept.
        let n = set.nodes_per_element();
        let mut start = 0;
        for run in set.regions.chunk_by(|a, b| a == b) {
            let (from, to) = (start, start + run.len());
            start = to;
            let (tags, nodes) = (set.tags[from..to].to_vec(), &set.nodes[from * n..to * n]);
            let region = run[0];
            blocks.push(block(
                mesh.dim,
                entity(region),
                region.cast_signed(),
                set.shape,
                set.order,
                tags,
                nodes,
            ));
        }
    }
    blocks
}

fn block(
    dim: usize,
    entity: i32,
    physical: i32,
    shape: Shape,
    order: usize,
    tags: Vec<u64>,
    lattice_nodes: &[u32],
) -> Block {
    let kind = number_of(shape, order).unwrap_or_else(|| panic!("Gmsh has no {shape} of order {order}"));
    let place = gmsh_to_lattice(shape, order);
    let mut nodes = Vec::with_capacity(lattice_nodes.len());
    for e in lattice_nodes.chunks_exact(place.len()) {
        nodes.extend(place.iter().map(|&l| e[l]));
    }
    Block { dim, entity, physical, kind, n_nodes: place.len(), tags, nodes }
}

fn nodes_22(mesh: &Mesh, out: &mut Output) {
    out.text(&format!("$Nodes\n{}\n", mesh.points.len()));
    for (x, tag) in mesh.points.iter().zip(1..) {
        out.number(tag);
        x.iter().for_each(|&x| out.double(x));
        out.end_line();
    }
    out.text(if out.format.binary { "\n$EndNodes\n" } else { "$EndNodes\n" });
}

fn elements_22(blocks: &[Block], out: &mut Output) {
    let n: usize = blocks.iter().map(|b| b.tags.len()).sum();
    out.text(&format!("$Elements\n{n}\n"));
    for b in blocks {
        if out.format.binary {
            [b.kind as i32, b.tags.len() as i32, 2].into_iter().for_each(|v| out.int(v));
        }
        for (&tag, nodes) in b.tags.iter().zip(b.nodes.chunks_exact(b.n_nodes)) {
            out.number(tag);
            if !out.format.binary {
                out.int(b.kind as i32);
                out.int(2);
            }
            out.int(b.physical);
            out.int(b.entity);
            nodes.iter().for_each(|&n| out.number(u64::from(n) + 1));
            out.end_line();
        }
    }
    out.text(if out.format.binary { "\n$EndElements\n" } else { "$EndElements\n" });
}

/// Entities with a bounding box around everything; readers need no more.
fn entities_41(mesh: &Mesh, blocks: &[Block], out: &mut Output) {
    let mut all: [BTreeMap<i32, i32>; 4] = Default::default();
    for b in blocks {
        all[b.dim].insert(b.entity, b.physical);
    }
    out.text("$Entities\n");
    all.iter().for_each(|entities| out.number(entities.len() as u64));
    out.end_line();
    let bounds = mesh.bounding_box();
    for entities in &all {
        for (&tag, &physical) in entities {
            out.int(tag);
            bounds.iter().flatten().for_each(|&x| out.double(x));
            out.number(u64::from(physical != 0));
            if physical != 0 {
                out.int(physical);
            }
            out.number(0);
            out.end_line();
        }
    }
    out.text(if out.format.binary { "\n$EndEntities\n" } else { "$EndEntities\n" });
}

fn nodes_41(mesh: &Mesh, out: &mut Output) {
    let n = mesh.points.len() as u64;
    out.text("$Nodes\n");
    [1, n, 1, n].into_iter().for_each(|v| out.number(v));
    out.end_line();
    let first = mesh.sets.first().and_then(|s| s.regions.first().copied()).unwrap_or(0);
    [mesh.dim as i32, entity(first), 0].into_iter().for_each(|v| out.int(v));
    out.number(n);
    out.end_line();
    for tag in 1..=n {
        out.number(tag);
        out.end_line();
    }
    for x in &mesh.points {
        x.iter().for_each(|&x| out.double(x));
        out.end_line();
    }
    out.text(if out.format.binary { "\n$EndNodes\n" } else { "$EndNodes\n" });
}

fn elements_41(blocks: &[Block], out: &mut Output) {
    let n: usize = blocks.iter().map(|b| b.tags.len()).sum();
    let tags = || blocks.iter().flat_map(|b| b.tags.iter().copied());
    out.text("$Elements\n");
    let totals = [blocks.len() as u64, n as u64, tags().min().unwrap_or(0), tags().max().unwrap_or(0)];
    totals.into_iter().for_each(|v| out.number(v));
    out.end_line();
    for b in blocks {
        [b.dim as i32, b.entity, b.kind as i32].into_iter().for_each(|v| out.int(v));
        out.number(b.tags.len() as u64);
        out.end_line();
        for (&tag, nodes) in b.tags.iter().zip(b.nodes.chunks_exact(b.n_nodes)) {
            out.number(tag);
            nodes.iter().for_each(|&n| out.number(u64::from(n) + 1));
            out.end_line();
        }
    }
    out.text(if out.format.binary { "\n$EndElements\n" } else { "$EndElements\n" });
}

/// Node pairs of each link, the second boundary as Gmsh's slave.
fn periodic(mesh: &Mesh, entities: &BTreeMap<Part, i32>, out: &mut Output) {
    let pairs = link_pairs(mesh);
    let used: Vec<usize> = (0..pairs.len()).filter(|&l| !pairs[l].is_empty()).collect();
    if used.is_empty() {
        return;
    }
    out.text("$Periodic\n");
    // In MSH 2.2 this section is text, even in binary files.
    let binary = out.format.binary;
    out.format.binary = binary && out.format.version == Version::V41;
    out.number(used.len() as u64);
    out.end_line();
    for l in used {
        let link = &mesh.links[l];
        out.int(mesh.dim as i32 - 1);
        out.int(entities[&(link.second, Some((l as u32, true)))]);
        out.int(entities[&(link.first, Some((l as u32, false)))]);
        out.end_line();
        match out.format.version {
            Version::V22 => out.text("Affine "),
            Version::V41 => out.number(16),
        }
        for i in 0..3 {
            link.linear[i].iter().for_each(|&a| out.double(a));
            out.double(link.offset[i]);
        }
        [0.0, 0.0, 0.0, 1.0].into_iter().for_each(|a| out.double(a));
        out.end_line();
        out.number(pairs[l].len() as u64);
        out.end_line();
        for &(master, slave) in &pairs[l] {
            out.number(u64::from(slave) + 1);
            out.number(u64::from(master) + 1);
            out.end_line();
        }
    }
    let in_bytes = out.format.binary;
    out.format.binary = binary;
    out.text(if in_bytes { "\n$EndPeriodic\n" } else { "$EndPeriodic\n" });
}
