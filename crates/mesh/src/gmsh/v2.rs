//! The sections of MSH 2.2.

use crate::{
    MeshError,
    gmsh::{
        input::{Encoding, Input, f64_of, i32_of},
        kinds::{Kind, kind},
        raw::{Block, Link, Raw},
    },
};

/// `$Nodes`: number and coordinates.
pub(crate) fn nodes(input: &mut Input<'_>, raw: &mut Raw) -> Result<(), MeshError> {
    let n = input.text_count("nodes", if input.encoding == Encoding::Text { 8 } else { 28 })?;
    raw.node_tags.reserve_exact(n);
    raw.coordinates.reserve_exact(n);
    match input.encoding {
        Encoding::Text => {
            for _ in 0..n {
                raw.node_tags.push(input.size("the number of a node")?);
                let mut x = [0.0; 3];
                for x in &mut x {
                    *x = input.double("a coordinate")?;
                }
                raw.coordinates.push(x);
            }
        }
        Encoding::Binary(e) => {
            let bytes = input.bytes(n.saturating_mul(28), "nodes")?;
            for b in bytes.chunks_exact(28) {
                raw.node_tags.push(u64::from(i32_of(e, b).cast_unsigned()));
                raw.coordinates.push([f64_of(e, &b[4..]), f64_of(e, &b[12..]), f64_of(e, &b[20..])]);
            }
        }
    }
    Ok(())
}

/// `$Elements`: number, type, tags (physical group, entity, partitions) and nodes.
pub(crate) fn elements(input: &mut Input<'_>, raw: &mut Raw) -> Result<(), MeshError> {
    let n = input.text_count("elements", 8)?;
    let mut nodes = Vec::new();
    let mut tags = Vec::new();
    match input.encoding {
        Encoding::Text => {
            for _ in 0..n {
                let element = input.size("the number of an element")?;
                let kind = known_kind(input, element)?;
                let n_tags = input.count("tags of an element", 2)?;
                tags.clear();
                for _ in 0..n_tags {
                    tags.push(input.int("a tag of an element")?);
                }
                nodes.clear();
                input.sizes(kind.n_nodes, "the number of a node", &mut nodes)?;
                push(raw, kind, element, &tags, &nodes);
            }
        }
        Encoding::Binary(e) => {
            let mut read = 0;
            while read < n {
                let here = input.here();
                let kind = known_kind(input, 0)?;
                let follow = input.int("the number of elements that follow")?;
                let n_tags = input.int("the number of tags")?;
                let words = |n: i32| usize::try_from(n).ok();
                let (Some(follow), Some(n_tags)) = (words(follow).filter(|&f| f > 0), words(n_tags)) else {
                    return Err(MeshError::Syntax {
                        location: input.location_of(here),
                        section: "Elements".to_owned(),
                        expected: "positive counts of elements and tags",
                        found: format!("{follow} and {n_tags}"),
                    });
                };
                let size = 4 * (1 + n_tags + kind.n_nodes);
                let bytes = input.bytes(follow.saturating_mul(size), "elements")?;
                for b in bytes.chunks_exact(size) {
                    let words = b.chunks_exact(4).map(|b| i32_of(e, b));
                    tags.clear();
                    tags.extend(words.clone().skip(1).take(n_tags));
                    nodes.clear();
                    nodes.extend(words.skip(1 + n_tags).map(|t| u64::from(t.cast_unsigned())));
                    push(raw, kind, u64::from(i32_of(e, b).cast_unsigned()), &tags, &nodes);
                }
                read += follow;
            }
        }
    }
    Ok(())
}

/// The type of the next element.
fn known_kind(input: &mut Input<'_>, element: u64) -> Result<Kind, MeshError> {
    let here = input.here();
    let number = input.int("an element type")?;
    match u32::try_from(number).ok().and_then(kind) {
        Some(kind) => refuse_special(kind, element),
        None => {
            let location = input.location_of(here);
            Err(MeshError::UnknownElementType { location, kind: i64::from(number) })
        }
    }
}

/// Types without a fixed number of nodes cannot even be skipped.
pub(crate) fn refuse_special(kind: Kind, element: u64) -> Result<Kind, MeshError> {
    if kind.dim().is_some() {
        return Ok(kind);
    }
    Err(MeshError::UnsupportedElement { element, kind: kind.number, name: kind.name, fix: kind.fix() })
}

fn push(raw: &mut Raw, kind: Kind, element: u64, tags: &[i32], nodes: &[u64]) {
    let physical = tags.first().copied().unwrap_or(0);
    let entity = tags.get(1).copied().unwrap_or(0);
    if let Some(last) = raw.blocks.last_mut() {
        let same = last.kind == kind && last.entity == entity;
        // An element of several physical groups is written once for each of them.
        if same && last.physical != Some(physical) && last.nodes.ends_with(nodes) {
            let key = (kind.number, entity, last.physical.unwrap_or(0), physical);
            let empty =
                || Block { kind, entity, physical: Some(physical), tags: Vec::new(), nodes: Vec::new() };
            let block = raw.repeated.entry(key).or_insert_with(empty);
            block.tags.push(element);
            block.nodes.extend_from_slice(nodes);
            return;
        }
        if same && last.physical == Some(physical) {
            last.tags.push(element);
            last.nodes.extend_from_slice(nodes);
            return;
        }
    }
    let (tags, nodes) = (vec![element], nodes.to_vec());
    raw.blocks.push(Block { kind, entity, physical: Some(physical), tags, nodes });
}

/// `$Periodic`, text also in binary files: entities, perhaps `Affine` and 16 numbers, node pairs.
pub(crate) fn periodic(input: &mut Input<'_>, raw: &mut Raw) -> Result<(), MeshError> {
    let n = input.count("periodic entities", 8)?;
    for _ in 0..n {
        let dim = input.size("the dimension of a periodic entity")? as usize;
        let slave = input.int("the number of a periodic entity")?;
        let master = input.int("the number of a periodic entity's master")?;
        let mut affine = None;
        if input.next_word_is(b"Affine") {
            input.word("`Affine`")?;
            let mut a = [0.0; 16];
            for a in &mut a {
                *a = input.double("a number of the affine map")?;
            }
            affine = Some(a);
        }
        let pairs = pairs(input)?;
        raw.links.push(Link { dim, slave, master, affine, pairs });
    }
    Ok(())
}

/// Node pairs, slave first, with their count.
pub(crate) fn pairs(input: &mut Input<'_>) -> Result<Vec<(u64, u64)>, MeshError> {
    let n = input.count("pairs of nodes", if input.encoding == Encoding::Text { 4 } else { 16 })?;
    let mut flat = Vec::new();
    input.sizes(2 * n, "the number of a node", &mut flat)?;
    Ok(flat.chunks_exact(2).map(|p| (p[0], p[1])).collect())
}
