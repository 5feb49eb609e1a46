//! Connectivity of the faces: tables by which a block reads the traces of its neighbours.
//!
//! An *inner* face joins two elements of one group. The neighbour's trace is read in place, at `[slot]`,
//! through a table of rows (basis functions or trace rows) that depends on the neighbour's face and on the
//! orientation. For SIMD packs, the lanes of a face are sorted by block and table into [`Donor`]s: a few
//! packs are loaded and permuted, instead of many single loads. A *foreign* face (whose neighbour is in
//! another group, or a boundary) reads its trace from the exterior buffer `[face][point][field]`, which is
//! filled beforehand in the frame of this element's own face. A *cut* face, whose neighbour belongs to
//! another rank, is a foreign face whose trace arrives as a message.

use crate::error::OpsError;
use crate::lanes::simd::{MAX_LANES, PackScalar};
use crate::space::group::Group;
use dgsuite_basis::{ReferenceElement, Shape, face_permutation};
use dgsuite_gpu::Element;
use dgsuite_mesh::{Across, Cut, Mesh, Side};
use std::ops::Range;

/// The largest number of orientations of a face.
pub(crate) const ORIENTATIONS: usize = 4;

/// One lane of a block whose trace lies in the exterior buffer.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fix {
    pub(crate) face: u8,
    pub(crate) lane: u8,
    /// Index of the face's first value in the exterior buffer.
    pub(crate) exterior: u32,
}

/// Lanes of one face of a block whose neighbours lie in the same block and are read through the same table.
/// The states across a face are assembled from a few packs of other blocks, whose lanes are permuted and
/// merged. As elements are numbered along a space-filling curve, the neighbours lie in few blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Donor {
    /// The block of the neighbours.
    pub(crate) block: u32,
    /// Index of the first entry of the table in the tables of [`Neighbours`].
    pub(crate) table: u32,
    /// Bit `l` is set if the neighbour of lane `l` lies in this block.
    pub(crate) taken: u32,
    /// For each lane of the reading block, the lane of its neighbour in this block, or −1.
    pub(crate) lanes: [i8; MAX_LANES],
}

/// The faces in common with one other part.
#[derive(Clone, Debug, Default)]
pub(crate) struct Border {
    pub(crate) rank: usize,
    /// The values to send; `exterior` is an index in the message.
    pub(crate) sends: Vec<Foreign>,
    /// Scalars of the exterior buffer that are received.
    pub(crate) exterior: Range<usize>,
}

/// The neighbours of the elements of one group.
#[derive(Clone, Debug, Default)]
pub(crate) struct Neighbours {
    /// Slot across each face, `[block][face][lane]`; the element's own slot if the face is foreign.
    pub(crate) slot: Vec<u32>,
    /// Number of the table through which the neighbour is read, `[block][face][lane]`.
    pub(crate) code: Vec<u8>,
    /// `[code][point of the own face]`: row × fields × lanes; `table_len` entries for each code.
    pub(crate) tables: Vec<u32>,
    /// The same tables for arrays of face points, `[slot][face point][field]`.
    pub(crate) point_tables: Vec<u32>,
    pub(crate) table_len: usize,
    /// The contents of `slot` and `code`, grouped by block and table: the donors of face `f` of block `b` are
    /// `first_donor[b n_faces + f]..first_donor[b n_faces + f + 1]`.
    pub(crate) donors: Vec<Donor>,
    pub(crate) first_donor: Vec<u32>,
    /// Foreign lanes, sorted by block: the fixes of block `b` are `first_fix[b]..first_fix[b + 1]`.
    pub(crate) fixes: Vec<Fix>,
    pub(crate) first_fix: Vec<u32>,
}

impl Neighbours {
    /// Memory in bytes.
    pub(crate) fn bytes(&self) -> usize {
        self.slot.len() * 5
            + size_of_val(&self.donors[..])
            + size_of_val(&self.first_donor[..])
            + size_of_val(&self.fixes[..])
    }

    /// Foreign lanes of a block.
    pub(crate) fn fixes_of(&self, block: usize) -> &[Fix] {
        &self.fixes[self.first_fix[block] as usize..self.first_fix[block + 1] as usize]
    }

    /// The table of `code` for arrays of face points, for a face with `count` points.
    pub(crate) fn point_table(&self, code: u8, count: usize) -> &[u32] {
        let first = code as usize * self.table_len;
        &self.point_tables[first..first + count]
    }

    /// The table of `code` for a face with `count` points.
    pub(crate) fn table(&self, code: u8, count: usize) -> &[u32] {
        let first = code as usize * self.table_len;
        &self.tables[first..first + count]
    }
}

/// A face whose trace is copied from another group into the exterior buffer.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Foreign {
    pub(crate) group: u8,
    pub(crate) slot: u32,
    pub(crate) code: u8,
    pub(crate) points: u16,
    pub(crate) exterior: u32,
}

/// A face of the boundary, in the order of the exterior buffer.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BoundaryFace {
    pub(crate) group: u8,
    pub(crate) slot: u32,
    pub(crate) face: u8,
}

/// The connectivity of all faces of a mesh.
pub(crate) struct Connectivity {
    /// Per group.
    pub(crate) neighbours: Vec<Neighbours>,
    /// Per boundary of the mesh, its faces.
    pub(crate) boundaries: Vec<Vec<BoundaryFace>>,
    /// Per boundary, the index of its first value in the exterior buffer.
    pub(crate) boundary_exterior: Vec<usize>,
    pub(crate) foreign: Vec<Foreign>,
    /// The cut faces, by the rank beyond them.
    pub(crate) borders: Vec<Border>,
    /// Scalars of the exterior buffer.
    pub(crate) exterior_len: usize,
    /// Scalars of the exterior buffer that belong to boundaries; they come first.
    pub(crate) boundary_len: usize,
    /// Index of the first scalar of the exterior buffer that belongs to a cut face; they come last.
    pub(crate) cut_exterior: usize,
}

impl Connectivity {
    /// Whether a block of group `g` reads a cut face.
    pub(crate) fn reads_cuts(&self, g: usize, block: usize) -> bool {
        self.neighbours[g].fixes_of(block).iter().any(|f| f.exterior as usize >= self.cut_exterior)
    }
}

/// The group and slot of each element of the mesh.
pub(crate) fn places<T: PackScalar>(mesh: &Mesh, groups: &[Group<T>]) -> Vec<(u8, u32)> {
    let mut out = vec![(0, 0); mesh.n_elements()];
    for (g, group) in groups.iter().enumerate() {
        for slot in group.real_slots() {
            out[group.elements[slot] as usize] = (g as u8, slot as u32);
        }
    }
    out
}

/// Builds the tables. `cuts` are the faces beyond which other ranks continue, sorted by rank.
pub(crate) fn connect<T: PackScalar>(
    mesh: &Mesh,
    groups: &[Group<T>],
    cuts: &[Cut],
) -> Result<Connectivity, OpsError> {
    check_face_points(groups)?;
    let place = places(mesh, groups);
    let fields = groups[0].state.fields;
    let mut neighbours: Vec<Neighbours> = groups.iter().map(blank).collect::<Result<_, _>>()?;
    let mut fixes: Vec<Vec<(u32, Fix)>> = vec![Vec::new(); groups.len()];
    let mut boundaries = vec![Vec::new(); mesh.boundaries.len()];
    let mut foreign = Vec::new();

    // Boundary faces come first, one boundary after the other, then foreign faces.
    let points = |side: Side| {
        let group = &groups[place[side.element as usize].0 as usize];
        group.face_offsets[side.face as usize + 1] - group.face_offsets[side.face as usize]
    };
    let mut counts = vec![0; mesh.boundaries.len()];
    for face in &mesh.faces {
        if let Across::Boundary(b) = face.across {
            counts[b as usize] += points(face.minus) * fields;
        }
    }
    let mut exterior_len = 0;
    let boundary_exterior: Vec<usize> = counts
        .iter()
        .map(|&n| {
            let first = exterior_len;
            exterior_len += n;
            first
        })
        .collect();
    let boundary_len = exterior_len;
    let mut next = boundary_exterior.clone();
    for face in &mesh.faces {
        let (group, slot) = place[face.minus.element as usize];
        match face.across {
            Across::Boundary(b) => {
                let exterior = next[b as usize];
                next[b as usize] += points(face.minus) * fields;
                fixes[group as usize].push(fix(&groups[group as usize], slot, face.minus.face, exterior));
                boundaries[b as usize].push(BoundaryFace { group, slot, face: face.minus.face });
            }
            Across::Interior { plus, orientation } | Across::Periodic { plus, orientation } => {
                let (plus_group, plus_slot) = place[plus.element as usize];
                let code = |side: Side| side.face * ORIENTATIONS as u8 + orientation;
                if group == plus_group {
                    let n = &mut neighbours[group as usize];
                    let layout = &groups[group as usize];
                    set(n, layout, slot, face.minus.face, plus_slot, code(plus));
                    set(n, layout, plus_slot, plus.face, slot, code(face.minus));
                } else {
                    for (own, own_place, other, other_place) in [
                        (face.minus, (group, slot), plus, (plus_group, plus_slot)),
                        (plus, (plus_group, plus_slot), face.minus, (group, slot)),
                    ] {
                        let g = &groups[own_place.0 as usize];
                        fixes[own_place.0 as usize].push(fix(g, own_place.1, own.face, exterior_len));
                        foreign.push(Foreign {
                            group: other_place.0,
                            slot: other_place.1,
                            code: code(other),
                            points: points(own) as u16,
                            exterior: exterior_len as u32,
                        });
                        exterior_len += points(own) * fields;
                    }
                }
            }
        }
    }
    let cut_exterior = exterior_len;
    let mut borders: Vec<Border> = Vec::new();
    for cut in cuts {
        let (group, slot) = place[cut.own.element as usize];
        let points = points(cut.own);
        if borders.last().is_none_or(|b| b.rank != cut.part as usize) {
            let exterior = exterior_len..exterior_len;
            borders.push(Border { rank: cut.part as usize, sends: Vec::new(), exterior });
        }
        let Some(border) = borders.last_mut() else { continue };
        border.sends.push(Foreign {
            group,
            slot,
            code: cut.own.face * ORIENTATIONS as u8 + cut.orientation,
            points: points as u16,
            exterior: border.exterior.len() as u32,
        });
        fixes[group as usize].push(fix(&groups[group as usize], slot, cut.own.face, exterior_len));
        exterior_len += points * fields;
        border.exterior.end = exterior_len;
    }
    for ((n, fixes), group) in neighbours.iter_mut().zip(&mut fixes).zip(groups) {
        finish(n, fixes, group);
    }
    Ok(Connectivity {
        neighbours,
        boundaries,
        boundary_exterior,
        foreign,
        borders,
        exterior_len,
        boundary_len,
        cut_exterior,
    })
}

fn fix<T: Element>(group: &Group<T>, slot: u32, face: u8, exterior: usize) -> (u32, Fix) {
    let lanes = group.state.lanes as u32;
    (slot / lanes, Fix { face, lane: (slot % lanes) as u8, exterior: exterior as u32 })
}

fn set<T: Element>(n: &mut Neighbours, group: &Group<T>, slot: u32, face: u8, across: u32, code: u8) {
    let i = index(group, slot as usize, face as usize);
    n.slot[i] = across;
    n.code[i] = code;
}

/// Index of a face of a slot in [`Neighbours::slot`].
pub(crate) fn index<T: Element>(group: &Group<T>, slot: usize, face: usize) -> usize {
    let lanes = group.state.lanes;
    ((slot / lanes) * group.shape.n_faces() + face) * lanes + slot % lanes
}

/// Tables in which every lane reads its own face: a foreign lane reads its own trace before the exterior
/// overwrites it.
fn blank<T: PackScalar>(group: &Group<T>) -> Result<Neighbours, OpsError> {
    let (lanes, n_faces) = (group.state.lanes, group.shape.n_faces());
    let n = group.state.blocks * n_faces * lanes;
    let mut out = Neighbours { slot: vec![0; n], code: vec![0; n], ..Neighbours::default() };
    for slot in 0..group.state.blocks * lanes {
        for face in 0..n_faces {
            let i = index(group, slot, face);
            out.slot[i] = slot as u32;
            out.code[i] = (face * ORIENTATIONS) as u8;
        }
    }
    let direct = group.face_nodes.is_some();
    let scale = if direct { group.state.row_stride() } else { group.trace.row_stride() };
    out.table_len = group.face_offsets.windows(2).map(|w| w[1] - w[0]).max().unwrap_or(0);
    let (first, nodes) = (&group.face_offsets, group.face_nodes.as_deref());
    out.tables = orientation_tables(group.shape, &group.parts[0].reference, out.table_len, |face, q| {
        let row = nodes.map_or(first[face] + q, |nodes| nodes[first[face] + q] as usize);
        (row * scale) as u32
    })?;
    out.point_tables =
        orientation_tables(group.shape, &group.parts[0].reference, out.table_len, |face, q| {
            ((first[face] + q) * group.trace.row_stride()) as u32
        })?;
    Ok(out)
}

/// `[code][point of the own face]`: the `row` of the matching point of the other face, for each face and
/// orientation; `len` entries for each code.
pub(crate) fn orientation_tables(
    shape: Shape,
    reference: &ReferenceElement,
    len: usize,
    row: impl Fn(usize, usize) -> u32,
) -> Result<Vec<u32>, OpsError> {
    let mut tables = Vec::new();
    for face in 0..shape.n_faces() {
        let face_shape = shape.face_shape(face).unwrap_or(Shape::Line);
        let points = &reference.face_quadrature[face].points;
        for k in 0..ORIENTATIONS {
            let permutation = if k < face_shape.n_vertices() {
                face_permutation(face_shape, k, points)?
            } else {
                (0..points.len()).collect()
            };
            tables.extend(permutation.iter().map(|&q| row(face, q)));
            tables.resize((face * ORIENTATIONS + k + 1) * len, 0);
        }
    }
    Ok(tables)
}

/// Sorts the foreign lanes by block and gives the filler slots the neighbours of the last element.
fn finish<T: PackScalar>(n: &mut Neighbours, fixes: &mut Vec<(u32, Fix)>, group: &Group<T>) {
    let lanes = group.state.lanes;
    for part in &group.parts {
        let last = part.first_block * lanes + part.n_elements - 1;
        let fillers = last + 1..(part.first_block + part.n_blocks) * lanes;
        for slot in fillers {
            for face in 0..group.shape.n_faces() {
                let (from, to) = (index(group, last, face), index(group, slot, face));
                n.slot[to] = n.slot[from];
                n.code[to] = n.code[from];
            }
            let (block, lane) = ((last / lanes) as u32, (last % lanes) as u8);
            let copies: Vec<_> = fixes
                .iter()
                .filter(|(b, f)| *b == block && f.lane == lane)
                .map(|(_, f)| ((slot / lanes) as u32, Fix { lane: (slot % lanes) as u8, ..*f }))
                .collect();
            fixes.extend(copies);
        }
    }
    fixes.sort_by_key(|(block, f)| (*block, f.lane, f.face));
    n.first_fix = (0..=group.state.blocks)
        .map(|b| fixes.partition_point(|(block, _)| (*block as usize) < b) as u32)
        .collect();
    n.fixes = fixes.iter().map(|(_, f)| *f).collect();
    n.first_donor.push(0);
    if lanes > MAX_LANES {
        return; // a device's layout; kernels on devices read lane by lane
    }
    for (slots, codes) in n.slot.chunks_exact(lanes).zip(n.code.chunks_exact(lanes)) {
        let first = n.donors.len();
        for (lane, (&slot, &code)) in slots.iter().zip(codes).enumerate() {
            let (block, table) = (slot / lanes as u32, u32::from(code) * n.table_len as u32);
            let known = n.donors[first..].iter().position(|s| s.block == block && s.table == table);
            let i = known.map_or(n.donors.len(), |i| first + i);
            if known.is_none() {
                n.donors.push(Donor { block, table, taken: 0, lanes: [-1; MAX_LANES] });
            }
            n.donors[i].taken |= 1 << lane;
            n.donors[i].lanes[lane] = (slot % lanes as u32) as i8;
        }
        n.first_donor.push(n.donors.len() as u32);
    }
}

/// Checks that neighbours of different shape have the same points on their common face.
fn check_face_points<T: Element>(groups: &[Group<T>]) -> Result<(), OpsError> {
    let close = |a: &[f64; 3], b: &[f64; 3]| (0..3).all(|d| (a[d] - b[d]).abs() < 1e-12);
    let mut seen: Vec<(Shape, Shape, &[[f64; 3]])> = Vec::new();
    for group in groups {
        for part in &group.parts {
            for (f, rule) in part.reference.face_quadrature.iter().enumerate() {
                let face = group.shape.face_shape(f).unwrap_or(Shape::Line);
                match seen.iter().find(|(_, s, _)| *s == face) {
                    Some((first, _, points)) => {
                        let same = points.len() == rule.points.len()
                            && points.iter().zip(&rule.points).all(|(a, b)| close(a, b));
                        if !same {
                            return Err(OpsError::FacePoints { first: *first, second: group.shape, face });
                        }
                    }
                    None => seen.push((group.shape, face, &rule.points)),
                }
            }
        }
    }
    Ok(())
}
