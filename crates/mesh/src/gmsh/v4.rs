//! The sections of MSH 4.1.

use crate::{
    Location, MeshError,
    gmsh::{
        input::{Encoding, Input, f64_of, u64_of},
        kinds::kind,
        raw::{Block, Entity, Link, Raw},
        v2::{pairs, refuse_special},
    },
};

/// The least number of bytes of an item with `text` characters or a binary record.
fn least(input: &Input<'_>, text: usize, binary: usize) -> usize {
    if input.encoding == Encoding::Text { text } else { binary }
}

/// A dimension from 0 to 3.
fn dimension(input: &mut Input<'_>) -> Result<usize, MeshError> {
    let here = input.here();
    let dim = input.int("the dimension of an entity")?;
    usize::try_from(dim).ok().filter(|&d| d <= 3).ok_or_else(|| MeshError::Syntax {
        location: input.location_of(here),
        section: "the entity blocks".to_owned(),
        expected: "a dimension from 0 to 3",
        found: dim.to_string(),
    })
}

/// `$Entities`: the physical groups of each geometrical entity.
pub(crate) fn entities(input: &mut Input<'_>, raw: &mut Raw) -> Result<(), MeshError> {
    let mut counts = [0; 4];
    for count in &mut counts {
        *count = input.count("entities", least(input, 8, 36))?;
    }
    for (dim, n) in counts.into_iter().enumerate() {
        for _ in 0..n {
            let tag = input.int("the number of an entity")?;
            let physical = bounds_and_groups(input, dim)?;
            raw.entities.insert((dim, tag), Entity { physical, parent: None });
        }
    }
    Ok(())
}

/// `$PartitionedEntities`: the same for parts of entities, with the entity of each part.
pub(crate) fn partitioned_entities(input: &mut Input<'_>, raw: &mut Raw) -> Result<(), MeshError> {
    input.size("the number of partitions")?;
    for _ in 0..input.count("ghost entities", least(input, 4, 8))? {
        input.int("the number of a ghost entity")?;
        input.int("a partition")?;
    }
    let mut counts = [0; 4];
    for count in &mut counts {
        *count = input.count("partitioned entities", least(input, 8, 36))?;
    }
    for (dim, n) in counts.into_iter().enumerate() {
        for _ in 0..n {
            let tag = input.int("the number of a partitioned entity")?;
            let parent_dim = input.int("the dimension of a parent")?;
            let parent_tag = input.int("the number of a parent")?;
            for _ in 0..input.count("partitions", least(input, 2, 4))? {
                input.int("a partition")?;
            }
            let physical = bounds_and_groups(input, dim)?;
            // An interface between partitions has a parent of higher dimension; it is not a boundary.
            let parent = usize::try_from(parent_dim).ok().filter(|&d| d == dim).map(|d| (d, parent_tag));
            raw.entities.insert((dim, tag), Entity { physical, parent });
        }
    }
    Ok(())
}

/// The rest of an entity: position or bounding box, physical groups, bounding entities.
fn bounds_and_groups(input: &mut Input<'_>, dim: usize) -> Result<Vec<i32>, MeshError> {
    for _ in 0..if dim == 0 { 3 } else { 6 } {
        input.double("a bound of an entity")?;
    }
    let n = input.count("physical groups", least(input, 2, 4))?;
    let mut physical = Vec::with_capacity(n);
    for _ in 0..n {
        physical.push(input.int("the number of a physical group")?);
    }
    if dim > 0 {
        for _ in 0..input.count("bounding entities", least(input, 2, 4))? {
            input.int("the number of a bounding entity")?;
        }
    }
    Ok(physical)
}

/// `$Nodes`: blocks of numbers, then of coordinates (and parametric coordinates, which are ignored).
pub(crate) fn nodes(input: &mut Input<'_>, raw: &mut Raw) -> Result<(), MeshError> {
    let blocks = input.count("blocks of nodes", least(input, 8, 20))?;
    let location = input.location();
    let n = input.count("nodes", least(input, 8, 32))?;
    input.size("the lowest node number")?;
    input.size("the highest node number")?;
    raw.node_tags.reserve_exact(n);
    raw.coordinates.reserve_exact(n);
    for _ in 0..blocks {
        let dim = dimension(input)?;
        input.int("the number of an entity")?;
        let parametric = input.int("0 or 1 for parametric coordinates")?;
        let n = input.count("nodes of a block", least(input, 8, 32))?;
        input.sizes(n, "the number of a node", &mut raw.node_tags)?;
        let n_coordinates = if parametric == 0 { 3 } else { 3 + dim };
        match input.encoding {
            Encoding::Text => {
                for _ in 0..n {
                    let mut x = [0.0; 3];
                    for d in 0..n_coordinates {
                        let value = input.double("a coordinate")?;
                        if let Some(x) = x.get_mut(d) {
                            *x = value;
                        }
                    }
                    raw.coordinates.push(x);
                }
            }
            Encoding::Binary(e) => {
                let bytes = input.bytes(n.saturating_mul(8 * n_coordinates), "coordinates")?;
                let x = |b: &[u8]| [f64_of(e, b), f64_of(e, &b[8..]), f64_of(e, &b[16..])];
                raw.coordinates.extend(bytes.chunks_exact(8 * n_coordinates).map(x));
            }
        }
    }
    check_total("Nodes", "nodes", location, n, raw.node_tags.len())
}

/// `$Elements`: blocks of one type on one entity.
pub(crate) fn elements(input: &mut Input<'_>, raw: &mut Raw) -> Result<(), MeshError> {
    let blocks = input.count("blocks of elements", least(input, 8, 20))?;
    let location = input.location();
    let n = input.count("elements", least(input, 4, 16))?;
    input.size("the lowest element number")?;
    input.size("the highest element number")?;
    let mut total = 0;
    for _ in 0..blocks {
        dimension(input)?;
        let entity = input.int("the number of an entity")?;
        let here = input.here();
        let number = input.int("an element type")?;
        let Some(kind) = u32::try_from(number).ok().and_then(kind) else {
            let location = input.location_of(here);
            return Err(MeshError::UnknownElementType { location, kind: i64::from(number) });
        };
        // Each element needs its number and its nodes, so that a wrong count cannot allocate memory.
        let per_element = 1 + kind.n_nodes;
        let n = input.count("elements of a block", least(input, 2, 8) * per_element)?;
        total += n;
        if n == 0 {
            continue;
        }
        let kind = refuse_special(kind, 0)?;
        let mut block = Block {
            kind,
            entity,
            physical: None,
            tags: Vec::with_capacity(n),
            nodes: Vec::with_capacity(n * kind.n_nodes),
        };
        match input.encoding {
            Encoding::Text => {
                for _ in 0..n {
                    block.tags.push(input.size("the number of an element")?);
                    input.sizes(kind.n_nodes, "the number of a node", &mut block.nodes)?;
                }
            }
            Encoding::Binary(e) => {
                let bytes = input.bytes(n.saturating_mul(8 * per_element), "elements")?;
                for b in bytes.chunks_exact(8 * per_element) {
                    block.tags.push(u64_of(e, b));
                    block.nodes.extend(b[8..].chunks_exact(8).map(|b| u64_of(e, b)));
                }
            }
        }
        raw.blocks.push(block);
    }
    check_total("Elements", "elements", location, n, total)
}

/// Check that the blocks add up to the total that the section announces.
fn check_total(
    section: &'static str,
    what: &'static str,
    location: Location,
    announced: usize,
    found: usize,
) -> Result<(), MeshError> {
    if announced == found {
        return Ok(());
    }
    Err(MeshError::Total { location, section, what, announced, found })
}

/// `$Periodic`: entities, affine map, node pairs.
pub(crate) fn periodic(input: &mut Input<'_>, raw: &mut Raw) -> Result<(), MeshError> {
    for _ in 0..input.count("periodic entities", least(input, 8, 28))? {
        let dim = dimension(input)?;
        let slave = input.int("the number of a periodic entity")?;
        let master = input.int("the number of a periodic entity's master")?;
        let n = input.count("numbers of an affine map", least(input, 2, 8))?;
        let mut numbers = Vec::with_capacity(n);
        for _ in 0..n {
            numbers.push(input.double("a number of the affine map")?);
        }
        let affine = <[f64; 16]>::try_from(numbers).ok();
        let pairs = pairs(input)?;
        raw.links.push(Link { dim, slave, master, affine, pairs });
    }
    Ok(())
}
