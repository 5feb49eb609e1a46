//! Assembly of a mesh from the sections of a file.

use std::collections::{BTreeMap, HashMap};

use dgsuite_basis::Shape;
use rayon::prelude::*;

use crate::{
    Mesh, MeshError, RegionTag, conform,
    connect::Draft,
    gmsh::{
        ReadOptions, bounds,
        input::Encoding,
        kinds::Family,
        max_order,
        node_order::gmsh_to_lattice,
        raw::{Block, Raw},
        report::{self, Report, Warning},
    },
    mesh::ElementSet,
    orient,
    sides::NONE,
};

/// The mesh and its report with warnings.
pub(crate) fn assemble(file: Raw, options: &ReadOptions) -> Result<(Mesh, Report), MeshError> {
    let raw = &file;
    let mut report = Report {
        version: raw.version,
        binary: raw.encoding != Encoding::Text,
        big_endian: raw.encoding == Encoding::Binary(nom::number::Endianness::Big),
        nodes: raw.node_tags.len(),
        elements: raw.blocks.iter().map(|b| b.tags.len()).sum(),
        warnings: Vec::new(),
    };
    let warnings = &mut report.warnings;
    let dim = raw.blocks.iter().filter_map(|b| b.kind.dim()).max().unwrap_or(0);
    if dim < 2 {
        return Err(MeshError::NoElements);
    }
    let index = NodeIndex::new(&raw.node_tags)?;
    let mut draft = Draft { dim, ..Draft::default() };
    draft.sets = element_sets(raw, dim, &index)?;
    let new_of_file = keep_used_points(raw, &mut draft, warnings)?;
    flatten(&mut draft, warnings)?;
    draft.settle()?;
    draft.region_names = region_names(raw, &draft);
    several_regions(raw, dim, warnings);
    let reoriented = orient::orient(&mut draft)?;
    if let Some(&first) = reoriented.first() {
        warnings.push(Warning::Reoriented { count: reoriented.len(), first });
    }
    let mut paired = draft.pair().map_err(|error| named_groups(error, raw, dim))?;
    let node = |tag: u64| index.find(tag).map(|i| new_of_file[i as usize]).filter(|&n| n != NONE);
    let hull = bounds::hull(raw, &mut draft, &paired, &node, warnings)?;
    conform::check_hull(&draft, &hull.loose_ends(&paired))?;
    let joins = if options.periodic { hull.joins(raw, &mut draft, &paired, &node)? } else { Vec::new() };
    let marks = hull.marks();
    // They are large, and not needed any more.
    drop(file);
    paired.forget_table();
    let mut mesh = draft.connect(&paired, &marks, &joins)?;
    conform::check_curved_faces(&mesh)?;
    if options.periodic {
        join_named_pairs(&mut mesh)?;
    }
    unnamed_faces(&mesh, warnings);
    warnings.extend(report::of_shapes(&mesh));
    Ok((mesh, report))
}

/// From the file's node numbers to positions in the file.
pub(crate) enum NodeIndex {
    /// Position by number, for numbers without large gaps.
    Dense(Vec<u32>),
    /// Sorted numbers and their positions.
    Sparse(Vec<(u64, u32)>),
}

impl NodeIndex {
    fn new(tags: &[u64]) -> Result<Self, MeshError> {
        let max = NONE as usize - 1;
        if tags.len() > max {
            return Err(MeshError::TooLarge { what: "nodes", count: tags.len(), max });
        }
        let highest = tags.iter().copied().max().unwrap_or(0);
        if highest < 4 * tags.len() as u64 + 1024 {
            let mut place = vec![NONE; highest as usize + 1];
            for (i, &tag) in tags.iter().enumerate() {
                if std::mem::replace(&mut place[tag as usize], i as u32) != NONE {
                    return Err(MeshError::DuplicateNode { node: tag });
                }
            }
            return Ok(Self::Dense(place));
        }
        let mut sorted: Vec<(u64, u32)> = tags.iter().zip(0..).map(|(&t, i)| (t, i)).collect();
        sorted.par_sort_unstable();
        match sorted.windows(2).find(|w| w[0].0 == w[1].0) {
            Some(w) => Err(MeshError::DuplicateNode { node: w[0].0 }),
            None => Ok(Self::Sparse(sorted)),
        }
    }

    pub(crate) fn find(&self, tag: u64) -> Option<u32> {
        match self {
            Self::Dense(place) => place.get(usize::try_from(tag).ok()?).copied().filter(|&i| i != NONE),
            Self::Sparse(sorted) => sorted.binary_search_by_key(&tag, |&(t, _)| t).ok().map(|i| sorted[i].1),
        }
    }
}

/// The physical groups of a block: the number, without sign, of the first one (0 for none), and the numbers
/// of the others.
///
/// Gmsh writes a negative number for groups with reversed orientation.
pub(crate) fn physical<'a>(
    raw: &'a Raw,
    block: &Block,
    dim: usize,
) -> (u32, impl Iterator<Item = u32> + use<'a>) {
    let of_entity = match block.physical {
        Some(_) => &[][..],
        None => raw.entities.get(&(dim, block.entity)).map_or(&[][..], |e| &e.physical),
    };
    let first = block.physical.or_else(|| of_entity.first().copied()).unwrap_or(0).unsigned_abs();
    let others = of_entity.iter().skip(1).map(|group| group.unsigned_abs());
    (first, others.filter(move |&group| group != first))
}

/// Elements of the highest dimension by shape and order; nodes are positions in the file.
fn element_sets(raw: &Raw, dim: usize, index: &NodeIndex) -> Result<Vec<ElementSet>, MeshError> {
    let mut sets: Vec<ElementSet> = Vec::new();
    let mut permutations: HashMap<(Shape, usize), Vec<usize>> = HashMap::new();
    for block in raw.blocks.iter().filter(|b| b.kind.dim() == Some(dim)) {
        let (kind, element) = (block.kind, block.tags.first().copied().unwrap_or(0));
        let (shape, order) = match kind.family {
            Family::Complete(shape, order) if order > 0 => (shape, order),
            _ => {
                let (number, name, fix) = (kind.number, kind.name, kind.fix());
                return Err(MeshError::UnsupportedElement { element, kind: number, name, fix });
            }
        };
        let max = max_order(shape);
        if order > max {
            return Err(MeshError::GeometryOrder { shape, order, max });
        }
        let place = permutations.entry((shape, order)).or_insert_with(|| gmsh_to_lattice(shape, order));
        let n = place.len();
        let mut nodes = vec![0_u32; block.nodes.len()];
        let convert = |(to, (from, &element)): (&mut [u32], (&[u64], &u64))| {
            for (&l, &node) in place.iter().zip(from) {
                to[l] = index.find(node).ok_or(MeshError::MissingNode { element, node })?;
            }
            Ok(())
        };
        // Errors are checked in order, so that the first one is reported.
        let results: Vec<Result<(), MeshError>> = nodes
            .par_chunks_mut(n * 4096)
            .zip(block.nodes.par_chunks(n * 4096).zip(block.tags.par_chunks(4096)))
            .map(|(to, (from, tags))| {
                to.chunks_exact_mut(n).zip(from.chunks_exact(n).zip(tags)).try_for_each(convert)
            })
            .collect();
        results.into_iter().collect::<Result<(), _>>()?;
        let (region, _) = physical(raw, block, dim);
        let set = match sets.iter_mut().find(|s| s.shape == shape && s.order == order) {
            Some(set) => set,
            None => {
                let (nodes, tags, regions) = (Vec::new(), Vec::new(), Vec::new());
                sets.push(ElementSet { shape, order, nodes, tags, regions, first: 0 });
                sets.last_mut().ok_or(MeshError::NoElements)?
            }
        };
        if set.nodes.is_empty() {
            set.nodes = nodes;
        } else {
            set.nodes.extend_from_slice(&nodes);
        }
        set.tags.extend_from_slice(&block.tags);
        set.regions.resize(set.tags.len(), region);
    }
    Ok(sets)
}

/// Keep the points that elements use, in the file's order; returns the new number of each.
fn keep_used_points(
    raw: &Raw,
    draft: &mut Draft,
    warnings: &mut Vec<Warning>,
) -> Result<Vec<u32>, MeshError> {
    let mut new_of_file = vec![NONE; raw.node_tags.len()];
    for set in &draft.sets {
        set.nodes.iter().for_each(|&n| new_of_file[n as usize] = 0);
    }
    for (i, new) in new_of_file.iter_mut().enumerate().filter(|(_, new)| **new == 0) {
        *new = draft.points.len() as u32;
        let x = raw.coordinates[i];
        if !x.iter().all(|x| x.is_finite()) {
            return Err(MeshError::NotFinite { node: raw.node_tags[i] });
        }
        draft.points.push(x);
    }
    for set in &mut draft.sets {
        set.nodes.par_iter_mut().for_each(|n| *n = new_of_file[*n as usize]);
    }
    let count = raw.node_tags.len() - draft.points.len();
    if count > 0 {
        warnings.push(Warning::UnusedNodes { count });
    }
    Ok(new_of_file)
}

/// A plane mesh may deviate from its plane by this fraction of its extent: slopes of that size change lengths
/// by rounding only (their square).
const FLAT: f64 = 1e-6;

/// Move a plane mesh to z = 0.
fn flatten(draft: &mut Draft, warnings: &mut Vec<Warning>) -> Result<(), MeshError> {
    if draft.dim != 2 || draft.points.is_empty() {
        return Ok(());
    }
    let range = |d: usize| {
        let along = || draft.points.iter().map(|x| x[d]);
        (along().fold(f64::INFINITY, f64::min), along().fold(f64::NEG_INFINITY, f64::max))
    };
    if !is_plane(&draft.points) {
        return Err(MeshError::SurfaceInSpace);
    }
    let [x, y, z] = [range(0), range(1), range(2)];
    let extent = (x.1 - x.0).max(y.1 - y.0);
    for (axis, r) in [('x', x), ('y', y)] {
        if r.1 - r.0 <= 1e-12 * extent.max(z.1 - z.0) {
            return Err(MeshError::NotInPlane { axis });
        }
    }
    let (min, max) = z;
    if max - min > FLAT * extent {
        return Err(MeshError::NotFlat { min, max });
    }
    if max - min > 1e-12 * extent {
        warnings.push(Warning::ZDropped { min, max });
    }
    draft.points.iter_mut().for_each(|x| x[2] = 0.0);
    Ok(())
}

/// Whether all points lie in one plane, within the tolerance for plane meshes.
fn is_plane(points: &[[f64; 3]]) -> bool {
    let minus = |a: &[f64; 3], b: &[f64; 3]| [a[0] - b[0], a[1] - b[1], a[2] - b[2]];
    let cross = |a: &[f64; 3], b: &[f64; 3]| {
        [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
    };
    let dot = |a: &[f64; 3], b: &[f64; 3]| a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
    let length = |a: &[f64; 3]| dot(a, a).sqrt();
    let Some(first) = points.first() else { return true };
    // The triangle of the first point, the point farthest from it, and the point farthest from the line
    // through both.
    let arms = || points.iter().map(|x| minus(x, first));
    let longest = |a: [f64; 3], b: [f64; 3]| if length(&b) > length(&a) { b } else { a };
    let far = arms().fold([0.0; 3], longest);
    let normal = arms().map(|arm| cross(&far, &arm)).fold([0.0; 3], longest);
    let limit = FLAT * length(&far) * length(&normal);
    arms().all(|arm| dot(&arm, &normal).abs() <= limit)
}

/// Names of the physical groups that elements belong to.
fn region_names(raw: &Raw, draft: &Draft) -> Vec<RegionTag> {
    let mut used: Vec<u32> = draft.sets.iter().flat_map(|s| s.regions.iter().copied()).collect();
    used.sort_unstable();
    used.dedup();
    let names = bounds::group_names(raw, draft.dim);
    let named = |&region: &u32| names.get(&region).map(|&name| RegionTag { region, name: name.to_owned() });
    used.iter().filter_map(named).collect()
}

/// The error with the names of physical groups in place of their numbers.
fn named_groups(mut error: MeshError, raw: &Raw, dim: usize) -> MeshError {
    if let MeshError::DuplicateElement { groups: Some(groups), .. } = &mut error {
        let names = bounds::group_names(raw, dim);
        for group in groups.iter_mut() {
            let name = group.parse().ok().and_then(|number: u32| names.get(&number));
            if let Some(name) = name {
                *group = format!("`{name}`");
            }
        }
    }
    error
}

/// Warn about elements in several physical groups, of which the first is used.
fn several_regions(raw: &Raw, dim: usize, warnings: &mut Vec<Warning>) {
    let mut counts: BTreeMap<(u32, u32), usize> = BTreeMap::new();
    for block in raw.blocks.iter().filter(|b| b.kind.dim() == Some(dim)) {
        let (first, others) = physical(raw, block, dim);
        others.for_each(|other| *counts.entry((first, other)).or_default() += block.tags.len());
    }
    for (&(_, _, first, other), block) in raw.repeated.iter().filter(|(_, b)| b.kind.dim() == Some(dim)) {
        *counts.entry((first.unsigned_abs(), other.unsigned_abs())).or_default() += block.tags.len();
    }
    let names = bounds::group_names(raw, dim);
    let name = |group: u32| names.get(&group).map_or_else(|| format!("#{group}"), |&name| name.to_owned());
    for ((first, other), count) in counts {
        warnings.push(Warning::SeveralRegions { first: name(first), second: name(other), count });
    }
}

/// Join the pairs `periodic-NAME-l` and `periodic-NAME-r` (also with underscores).
fn join_named_pairs(mesh: &mut Mesh) -> Result<(), MeshError> {
    let names: Vec<String> = mesh.boundaries.iter().map(|b| b.name.clone()).collect();
    for left in &names {
        let stem = left.strip_suffix("-l").or_else(|| left.strip_suffix("_l"));
        let Some(stem) = stem.filter(|s| s.starts_with("periodic-") || s.starts_with("periodic_")) else {
            continue;
        };
        let right = format!("{stem}{}r", &left[stem.len()..=stem.len()]);
        if names.contains(&right) {
            mesh.make_periodic(left, &right)?;
        }
    }
    Ok(())
}

fn unnamed_faces(mesh: &Mesh, warnings: &mut Vec<Warning>) {
    if let Ok(unnamed) = mesh.boundary_index(crate::UNNAMED) {
        let sides = mesh.boundary_sides(unnamed);
        if let Some(&first) = sides.first() {
            let centroid = mesh.side_centroid(first);
            warnings.push(Warning::UnnamedFaces { count: sides.len(), centroid });
        }
    }
}
