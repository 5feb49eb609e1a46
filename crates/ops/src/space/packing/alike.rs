//! Assignment of tetrahedra to blocks on meshes with a repeated pattern, such as six in each cell of a grid.
//!
//! In such a mesh the elements fall into a few classes; the elements of one class differ only in their
//! position and in the scale of the axes. Starting from each element of the first class, the same walk across
//! faces finds a cluster with one element of each class. Clusters are packed like cells, and each block
//! receives elements of one class only. A face of a block then has its neighbours in one or two blocks, which
//! again contain one class.

use super::{Edge, Graph, NONE, pack};
use crate::space::group::element_points;
use dgsuite_mesh::{Across, Mesh};
use std::collections::BTreeMap;

/// Largest number of classes of a mesh with a repeated pattern.
const MOST_CLASSES: usize = 12;

/// Steps in which the position of a node within the bounding box of its element is measured.
const STEPS: f64 = 8.0;

/// Not in a class.
const OTHER: u8 = u8::MAX;

/// Positions of an element's nodes within its bounding box; they are equal for elements of one class.
fn form(mesh: &Mesh, element: u32) -> Vec<i8> {
    let (set, local) = mesh.locate(element as usize);
    let nodes = element_points(mesh, set, local);
    let bound = |d: usize, f: fn(f64, f64) -> f64, first: f64| nodes.iter().map(|x| x[d]).fold(first, f);
    let low: [f64; 3] = std::array::from_fn(|d| bound(d, f64::min, f64::INFINITY));
    let size: [f64; 3] = std::array::from_fn(|d| bound(d, f64::max, f64::NEG_INFINITY) - low[d]);
    let step =
        |x: &[f64; 3], d: usize| ((x[d] - low[d]) / size[d].max(f64::MIN_POSITIVE) * STEPS).round() as i8;
    nodes.iter().flat_map(|x| (0..3).map(move |d| step(x, d))).collect()
}

/// Returns the class of each element and the number of classes; `None` if there are too many.
fn classes(mesh: &Mesh, elements: &[u32]) -> Option<(Vec<u8>, usize)> {
    let mut known: BTreeMap<Vec<i8>, u8> = BTreeMap::new();
    let mut out = Vec::with_capacity(elements.len());
    for &e in elements {
        let next = known.len();
        let class = *known.entry(form(mesh, e)).or_insert(next as u8);
        if known.len() > MOST_CLASSES {
            return None;
        }
        out.push(class);
    }
    Some((out, known.len()))
}

/// A step of the walk: from which member of the cluster, across which face, to which class.
type Step = (usize, usize, u8);

/// Finds the walk from class 0 to all classes that is stopped by the fewest boundaries.
fn walk(across: &[[u32; 4]], class: &[u8], n_classes: usize) -> Option<Vec<Step>> {
    let mut count = vec![[[0_u32; MOST_CLASSES]; 4]; n_classes];
    for (row, &c) in across.iter().zip(class) {
        for (f, &x) in row.iter().enumerate().filter(|(_, x)| **x != NONE) {
            count[c as usize][f][class[x as usize] as usize] += 1;
        }
    }
    let mut members = vec![0_u8];
    let mut steps = Vec::new();
    while members.len() < n_classes {
        let mut best = (0, (0, 0, OTHER));
        for (m, &from) in members.iter().enumerate() {
            for (f, row) in count[from as usize].iter().enumerate() {
                for to in (0..n_classes).filter(|to| !members.contains(&(*to as u8))) {
                    if row[to] > best.0 {
                        best = (row[to], (m, f, to as u8));
                    }
                }
            }
        }
        if best.0 == 0 {
            return None;
        }
        members.push(best.1.2);
        steps.push(best.1);
    }
    Some(steps)
}

/// The order of [`pack`] for tetrahedra of a mesh with a repeated pattern; `None` for other meshes.
pub(super) fn pack_alike(mesh: &Mesh, elements: &[u32], lanes: usize) -> Option<Vec<u32>> {
    let n = elements.len();
    let (class, n_classes) = classes(mesh, elements)?;
    if n_classes == 0 {
        return None;
    }
    let mut place = vec![NONE; mesh.n_elements()];
    elements.iter().enumerate().for_each(|(i, &e)| place[e as usize] = i as u32);
    let mut across = vec![[NONE; 4]; n];
    for face in &mesh.faces {
        if let Across::Interior { plus, .. } = face.across {
            for (own, other) in [(face.minus, plus), (plus, face.minus)] {
                if place[own.element as usize] != NONE {
                    across[place[own.element as usize] as usize][own.face as usize] =
                        place[other.element as usize];
                }
            }
        }
    }
    let steps = walk(&across, &class, n_classes)?;

    // The cluster of each element, and its number within it.
    let mut of = vec![(NONE, 0_u8); n];
    let mut members: Vec<u32> = Vec::with_capacity(n);
    for first in (0..n as u32).filter(|i| class[*i as usize] == 0) {
        let begin = members.len();
        members.push(first);
        for &(from, face, to) in &steps {
            let next = across[members[begin + from] as usize][face];
            if next == NONE || class[next as usize] != to || of[next as usize].0 != NONE {
                break;
            }
            members.push(next);
        }
        if members.len() < begin + n_classes {
            members.truncate(begin);
            continue;
        }
        let cluster = (begin / n_classes) as u32;
        for (m, &x) in members[begin..].iter().enumerate() {
            of[x as usize] = (cluster, m as u8);
        }
    }
    if 2 * members.len() < n {
        return None;
    }
    let mut pairs = Vec::new();
    for face in &mesh.faces {
        if let Across::Interior { plus, .. } | Across::Periodic { plus, .. } = face.across {
            let [a, b] = [face.minus, plus].map(|s| (place[s.element as usize], s.face));
            if a.0 == NONE || b.0 == NONE {
                continue;
            }
            let [a, b] = [a, b].map(|(x, f)| {
                let (cluster, member) = of[x as usize];
                (cluster, 4 * member + f)
            });
            if a.0 != NONE && b.0 != NONE && a.0 != b.0 {
                let edge = |to| Edge { to, kind: [a.1.min(b.1), a.1.max(b.1)], count: 1 };
                pairs.extend([(a.0, edge(b.0)), (b.0, edge(a.0))]);
            }
        }
    }
    let clusters = pack(Graph::new(members.len() / n_classes, &pairs), lanes, false);

    // Blocks of each brick of clusters, then the remaining elements, along the curve.
    let mut units: Vec<Vec<u32>> = Vec::new();
    let mut rest: Vec<u32> = (0..n as u32).filter(|i| of[*i as usize].0 == NONE).collect();
    for brick in clusters.chunks(lanes) {
        let member = |m: usize| brick.iter().map(move |&c| c as usize * n_classes + m);
        let all: Vec<u32> = (0..n_classes).flat_map(|m| member(m).map(|i| members[i])).collect();
        if brick.len() == lanes {
            units.push(all);
        } else {
            rest.extend(all);
        }
    }
    rest.sort_unstable();
    let whole = rest.len() / lanes * lanes;
    units.extend(rest[..whole].chunks(lanes).map(<[u32]>::to_vec));
    units.sort_unstable_by_key(|unit| unit.iter().min().copied());
    let mut out = units.concat();
    out.extend_from_slice(&rest[whole..]);
    Some(out)
}
