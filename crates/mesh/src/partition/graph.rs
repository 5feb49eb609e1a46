//! Partitions of the graph of elements by METIS (Karypis and Kumar 1998), with the feature `metis`.

use super::{Partition, beyond};
use crate::{Mesh, MeshError};

/// Units of weight of the lightest element: weights are integers in the library.
const UNITS: f64 = 100.0;

/// Cuts the graph of elements, in which elements with a common face are neighbours, into `parts` parts of
/// about equal weight with few cut faces.
pub(super) fn cut(mesh: &Mesh, parts: usize, weight: impl Fn(usize) -> f64) -> Result<Partition, MeshError> {
    let n = mesh.n_elements();
    if parts == 0 || parts > n {
        return Err(MeshError::TooManyParts { parts, elements: n });
    }
    if parts == 1 {
        return Partition::of_elements(vec![0; n]);
    }
    let failed = |reason: String| MeshError::Graph { reason };
    let index = |i: usize| {
        let max = metis::Idx::MAX as usize;
        metis::Idx::try_from(i).map_err(|_| MeshError::TooLarge { what: "edges of a graph", count: i, max })
    };
    let sides = mesh.faces.iter().filter_map(|face| {
        let plus = beyond(face.across)?.0.element;
        (plus != face.minus.element).then_some([face.minus.element as usize, plus as usize])
    });
    let mut degree = vec![0; n + 1];
    sides.clone().flatten().for_each(|e| degree[e + 1] += 1);
    for e in 0..n {
        degree[e + 1] += degree[e];
    }
    let starts = degree.iter().map(|&d| index(d)).collect::<Result<Vec<_>, _>>()?;
    let mut next = degree.clone();
    let mut neighbours = vec![0; degree[n]];
    for [a, b] in sides {
        for (from, to) in [(a, b), (b, a)] {
            neighbours[next[from]] = index(to)?;
            next[from] += 1;
        }
    }
    let weights: Vec<f64> = (0..n).map(weight).collect();
    let least = weights.iter().copied().fold(f64::INFINITY, f64::min);
    let weights: Vec<metis::Idx> =
        weights.iter().map(|w| (UNITS * w / least).round().max(1.0) as metis::Idx).collect();
    let graph = metis::Graph::new(1, index(parts)?, &starts, &neighbours)
        .map_err(|error| failed(error.to_string()))?
        .set_vwgt(&weights)
        .set_option(metis::option::Seed(1));
    let mut of = vec![0; n];
    // The library wants recursive bisection for few parts.
    let cut = if parts <= 8 { graph.part_recursive(&mut of) } else { graph.part_kway(&mut of) };
    cut.map_err(|error| failed(error.to_string()))?;
    let out = Partition { of: of.into_iter().map(|part| part as u32).collect(), parts };
    if out.counts().contains(&0) {
        return Err(failed(format!("a part of {parts} got no element")));
    }
    Ok(out)
}
