//! Boundaries: matches the boundary elements of a file with sides, names them, and joins them by `$Periodic`.

use std::collections::{HashMap, HashSet};

use crate::{
    BoundaryTag, MeshError, PeriodicLink, Side,
    connect::{Draft, Join, Mark, Paired},
    gmsh::{
        assemble::physical,
        raw::{Link, Raw},
        report::Warning,
    },
    mesh::mean,
    nearby::{Nearby, distance},
    periodic::{IDENTITY, TOLERANCE, candidates, fit},
    sides::{Corners, NONE},
};

/// A side with a boundary element.
struct Tagged {
    side: u32,
    boundary: u32,
    entity: i32,
    /// False if the boundary is named by its entity because it has no physical group.
    physical: bool,
}

/// The sides that have boundary elements, sorted by side.
pub(crate) struct Hull {
    tagged: Vec<Tagged>,
    sides: Vec<Side>,
}

/// A boundary while its elements are collected.
#[derive(Default)]
struct Group {
    name: String,
    tag: i32,
    physical: bool,
    interior: usize,
    loose: usize,
}

/// Find the sides of all boundary elements, and build the boundaries.
pub(crate) fn hull(
    raw: &Raw,
    draft: &mut Draft,
    paired: &Paired,
    node: &impl Fn(u64) -> Option<u32>,
    warnings: &mut Vec<Warning>,
) -> Result<Hull, MeshError> {
    let dim = draft.dim - 1;
    let names = group_names(raw, dim);
    let mut groups: Vec<Group> = Vec::new();
    let mut by_name: HashMap<(bool, String), usize> = HashMap::new();
    let mut side_of: HashMap<u32, usize> = HashMap::new();
    let mut tagged: Vec<(u32, usize, i32)> = Vec::new();
    let mut doubles: HashMap<(usize, usize), usize> = HashMap::new();
    let mut group_of = |key: (bool, String), tag: i32, groups: &mut Vec<Group>| {
        *by_name.entry(key).or_insert_with_key(|(physical, name)| {
            groups.push(Group { name: name.clone(), tag, physical: *physical, ..Group::default() });
            groups.len() - 1
        })
    };
    let key_of = |number: u32| match names.get(&number) {
        Some(name) => (true, (*name).to_owned()),
        None => (true, format!("#{number}")),
    };
    let blocks = raw.blocks.iter().chain(raw.repeated.values());
    for block in blocks.filter(|b| b.kind.dim() == Some(dim)) {
        let (number, others) = physical(raw, block, dim);
        let parent = raw.entities.get(&(dim, block.entity)).and_then(|e| e.parent);
        let entity = parent.map_or(block.entity, |(_, tag)| tag);
        // Entities and physical groups have separate numbers.
        let group = match number {
            0 => group_of((false, format!("#{entity}")), entity, &mut groups),
            _ => group_of(key_of(number), number.cast_signed(), &mut groups),
        };
        let others: Vec<usize> =
            others.map(|other| group_of(key_of(other), other.cast_signed(), &mut groups)).collect();
        let n_vertices = block.kind.n_vertices();
        if n_vertices == 0 {
            continue;
        }
        for (nodes, &tag) in block.nodes.chunks_exact(block.kind.n_nodes).zip(&block.tags) {
            let vertices: Option<Vec<u32>> = nodes[..n_vertices].iter().map(|&n| node(n)).collect();
            let sides: Vec<u32> =
                vertices.map(|v| paired.table.find(&Corners::new(v)).collect()).unwrap_or_default();
            match sides[..] {
                [side] => match side_of.get(&side) {
                    None => {
                        side_of.insert(side, tagged.len());
                        tagged.push((side, group, entity));
                        others.iter().for_each(|&other| *doubles.entry((group, other)).or_default() += 1);
                    }
                    Some(&at) => {
                        let (_, first, _) = tagged[at];
                        if !groups[first].physical && groups[group].physical {
                            tagged[at] = (side, group, entity);
                        } else if first != group && groups[group].physical {
                            *doubles.entry((first, group)).or_default() += 1;
                        }
                    }
                },
                [] if number != 0 => {
                    let at = |&n: &u64| raw_point(raw, n);
                    let points: Vec<[f64; 3]> = nodes[..n_vertices].iter().filter_map(at).collect();
                    let ids: Vec<u32> = (0..points.len() as u32).collect();
                    let (boundary, centroid) = (groups[group].name.clone(), mean(&points, &ids));
                    return Err(MeshError::OrphanBoundary { element: tag, boundary, centroid });
                }
                [] => groups[group].loose += 1,
                _ => groups[group].interior += 1,
            }
        }
    }
    let mut double: Vec<_> = doubles.into_iter().collect();
    double.sort_unstable();
    for ((first, second), count) in double {
        let (first, second) = (groups[first].name.clone(), groups[second].name.clone());
        warnings.push(Warning::SeveralBoundaries { first, second, count });
    }
    for g in &groups {
        // Interfaces between partitions need no warning.
        if g.interior > 0 && g.physical {
            warnings.push(Warning::InteriorBoundary { name: g.name.clone(), count: g.interior });
        }
        if g.loose > 0 {
            warnings.push(Warning::LooseBoundary { name: g.name.clone(), count: g.loose });
        }
    }
    let boundary = boundaries(&groups, &tagged, draft);
    for (_, _, name) in raw.names.iter().filter(|n| n.0 == dim) {
        if !by_name.contains_key(&(true, name.clone())) {
            warnings.push(Warning::UnusedName { name: name.clone() });
        }
    }
    tagged.sort_unstable_by_key(|t| t.0);
    let sides = tagged.iter().map(|t| paired.numbers.side(t.0)).collect();
    let tagged = tagged
        .into_iter()
        .map(|(side, g, entity)| Tagged { side, boundary: boundary[g], entity, physical: groups[g].physical })
        .collect();
    Ok(Hull { tagged, sides })
}

/// Names of the physical groups of a dimension, by number without sign.
pub(crate) fn group_names(raw: &Raw, dim: usize) -> HashMap<u32, &str> {
    let of_dim = raw.names.iter().filter(|(d, ..)| *d == dim);
    of_dim.map(|(_, tag, name)| (tag.unsigned_abs(), name.as_str())).collect()
}

/// Build the boundaries that have sides, physical groups first, by number; returns the index of each.
fn boundaries(groups: &[Group], tagged: &[(u32, usize, i32)], draft: &mut Draft) -> Vec<u32> {
    let mut used = vec![false; groups.len()];
    tagged.iter().for_each(|&(_, g, _)| used[g] = true);
    let mut order: Vec<usize> = (0..groups.len()).filter(|&g| used[g]).collect();
    order.sort_by_key(|&g| (!groups[g].physical, groups[g].tag));
    let mut index = vec![NONE; groups.len()];
    let mut taken = HashSet::new();
    for g in order {
        index[g] = draft.boundaries.len() as u32;
        let mut name = groups[g].name.clone();
        if !taken.insert(name.clone()) {
            name = format!("#entity{}", groups[g].tag);
        }
        draft.boundaries.push(BoundaryTag { name, tag: groups[g].tag });
    }
    index
}

fn raw_point(raw: &Raw, node: u64) -> Option<[f64; 3]> {
    raw.node_tags.iter().position(|&t| t == node).map(|i| raw.coordinates[i])
}

impl Hull {
    pub(crate) fn marks(&self) -> Vec<Mark> {
        let mark = |(t, &side): (&Tagged, &Side)| Mark { side, boundary: t.boundary };
        self.tagged.iter().zip(&self.sides).map(mark).collect()
    }

    /// Outer sides without a physical group.
    pub(crate) fn loose_ends(&self, paired: &Paired) -> Vec<Side> {
        let mut named = self.tagged.iter().filter(|t| t.physical).map(|t| t.side).peekable();
        let mut out = Vec::new();
        for (number, &partner) in paired.partner.iter().enumerate() {
            let named = named.next_if_eq(&(number as u32)).is_some();
            if partner == NONE && !named {
                out.push(paired.numbers.side(number as u32));
            }
        }
        out
    }

    /// The sides that `$Periodic` joins; also adds the links to the draft.
    pub(crate) fn joins(
        &self,
        raw: &Raw,
        draft: &mut Draft,
        paired: &Paired,
        node: &impl Fn(u64) -> Option<u32>,
    ) -> Result<Vec<Join>, MeshError> {
        let mut joins: Vec<Join> = Vec::new();
        let mut joined: HashMap<u32, u32> = HashMap::new();
        let mut by_entity: HashMap<i32, Vec<&Tagged>> = HashMap::new();
        self.tagged.iter().for_each(|t| by_entity.entry(t.entity).or_default().push(t));
        let none = Vec::new();
        for link in raw.links.iter().filter(|l| l.dim == draft.dim - 1) {
            let slaves = by_entity.get(&link.slave).unwrap_or(&none);
            let masters = by_entity.get(&link.master).unwrap_or(&none);
            // Gmsh also saves the relation of entities that it does not save.
            if slaves.is_empty() || masters.is_empty() || link.slave == link.master {
                continue;
            }
            let mut pairs: HashMap<u32, u32> =
                link.pairs.iter().filter_map(|&(s, m)| Some((node(s)?, node(m)?))).collect();
            let corners = |t: &Tagged| side_corners(draft, paired.numbers.side(t.side));
            let all = |sides: &[&Tagged]| -> Vec<Corners> { sides.iter().map(|t| corners(t)).collect() };
            let (slave_faces, master_faces) = (all(slaves), all(masters));
            // Gmsh omits the pairs where it extrudes periodic surfaces.
            if slave_faces.iter().any(|c| c.as_slice().iter().any(|v| !pairs.contains_key(v))) {
                pairs.extend(pairs_by_place(draft, link, &master_faces, &slave_faces));
            }
            let mut free: HashMap<[u32; 4], &Tagged> =
                masters.iter().zip(&master_faces).map(|(t, c)| (c.key(), *t)).collect();
            let mut found = Vec::with_capacity(slaves.len());
            for slave in slaves {
                let mismatch = || MeshError::PeriodicMismatch {
                    first: draft.boundaries[slave.boundary as usize].name.clone(),
                    second: draft.boundaries[masters[0].boundary as usize].name.clone(),
                    n_first: slaves.len(),
                    n_second: masters.len(),
                    centroid: mean(&draft.points, corners(slave).as_slice()),
                };
                let mine = corners(slave);
                let image: Option<Vec<u32>> = mine.as_slice().iter().map(|v| pairs.get(v).copied()).collect();
                let image = Corners::new(image.ok_or_else(mismatch)?);
                let master = free.remove(&image.key()).ok_or_else(mismatch)?;
                let orientation = image.orientation(&corners(master)).ok_or_else(mismatch)?;
                for t in [slave, &master] {
                    if joined.insert(t.side, t.boundary).is_some() {
                        let name = |b: u32| draft.boundaries[b as usize].name.clone();
                        let (name, other) = (name(slave.boundary), name(master.boundary));
                        return Err(MeshError::AlreadyPeriodic { name, other });
                    }
                }
                found.push((master, *slave, orientation));
            }
            let Some(&(master, slave, _)) = found.first() else { continue };
            let map = link_map(draft, link, &pairs, master.boundary, slave.boundary)?;
            for (master, slave, orientation) in found {
                let map = PeriodicLink { first: master.boundary, second: slave.boundary, ..map.clone() };
                let same = |l: &PeriodicLink| {
                    l.first == map.first
                        && l.second == map.second
                        && l.linear == map.linear
                        && l.offset == map.offset
                };
                let at = draft.links.iter().position(same).unwrap_or_else(|| {
                    draft.links.push(map.clone());
                    draft.links.len() - 1
                });
                let (first, second) = (paired.numbers.side(master.side), paired.numbers.side(slave.side));
                joins.push(Join { first, second, orientation, link: at as u32 });
            }
        }
        Ok(joins)
    }
}

/// Pairs of vertices of the slave and the master, by the file's map or by one that fits.
fn pairs_by_place(draft: &Draft, link: &Link, masters: &[Corners], slaves: &[Corners]) -> HashMap<u32, u32> {
    let vertices = |faces: &[Corners]| {
        let mut all: Vec<u32> = faces.iter().flat_map(|c| c.as_slice().iter().copied()).collect();
        all.sort_unstable();
        all.dedup();
        all
    };
    let (from, to) = (vertices(masters), vertices(slaves));
    let at = |v: u32| draft.points[v as usize];
    let shortest = |c: &Corners| {
        let edge = |i: usize| distance(at(c.node[i]), at(c.node[(i + 1) % c.n]));
        (0..c.n).map(edge).fold(f64::INFINITY, f64::min)
    };
    let edge = slaves.iter().map(shortest).fold(f64::INFINITY, f64::min);
    let near = Nearby::new(&draft.points, &to, edge);
    let given = link.affine.map(affine_map);
    for (linear, offset) in given.into_iter().chain(candidates(&draft.points, draft.dim, [&from, &to])) {
        let map = PeriodicLink { first: 0, second: 0, linear, offset };
        let image = |&m: &u32| Some((near.nearest(map.apply(at(m)), TOLERANCE * edge)?, m));
        if let Some(pairs) = from.iter().map(image).collect() {
            return pairs;
        }
    }
    HashMap::new()
}

/// Matrix and offset of a 4 × 4 map stored by rows.
fn affine_map(a: [f64; 16]) -> ([[f64; 3]; 3], [f64; 3]) {
    let linear = std::array::from_fn(|i| std::array::from_fn(|j| a[4 * i + j]));
    (linear, [a[3], a[7], a[11]])
}

fn side_corners(draft: &Draft, side: Side) -> Corners {
    let e = side.element as usize;
    let set = draft.sets.iter().find(|s| e < s.first + s.len()).unwrap_or(&draft.sets[0]);
    let at = dgsuite_basis::lattice::lattice_vertices(set.shape, set.order);
    let nodes = set.element(e - set.first);
    Corners::new(set.shape.face_vertices(side.face as usize).iter().map(|&v| nodes[at[v]]))
}

/// The map from master to slave: the file's if it fits the node pairs, otherwise one that does.
fn link_map(
    draft: &Draft,
    link: &Link,
    pairs: &HashMap<u32, u32>,
    first: u32,
    second: u32,
) -> Result<PeriodicLink, MeshError> {
    let mut ids: Vec<(u32, u32)> = pairs.iter().map(|(&s, &m)| (m, s)).collect();
    ids.sort_unstable();
    let given = link.affine.map(affine_map);
    let (linear, offset) = given.map_or((IDENTITY, None), |(linear, offset)| (linear, Some(offset)));
    // The pairs are authoritative; the map only has to agree with them within the size of the entity.
    match fit(&draft.points, draft.dim, &ids, linear, offset, TOLERANCE) {
        Ok((linear, offset)) => Ok(PeriodicLink { first, second, linear, offset }),
        Err(node) => {
            let name = |b: u32| draft.boundaries[b as usize].name.clone();
            Err(MeshError::PeriodicMismatch {
                first: name(first),
                second: name(second),
                n_first: ids.len(),
                n_second: ids.len(),
                centroid: draft.points[node as usize],
            })
        }
    }
}
