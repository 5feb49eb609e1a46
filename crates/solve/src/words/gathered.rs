//! Samples and faces of all ranks as those of the whole mesh, in the order of its elements.

use crate::words::{Reader, Words};
use dgsuite_basis::Shape;
use dgsuite_ops::{BoundarySamples, Sample, StateFloor};

/// Appends samples; `global` are the indices of the part's elements in the whole mesh.
pub(crate) fn write_samples(samples: &[Sample], global: &[u32], words: &mut Words) {
    for s in samples {
        words.number(Shape::ALL.iter().position(|&shape| shape == s.shape).unwrap_or(0));
        words.number(s.order);
        words.numbers(s.elements.iter().map(|&e| global[e] as usize));
        words.points(&s.points);
        words.rows(&s.values);
        words.number(s.gradients.len());
        s.gradients.iter().for_each(|rows| words.rows(rows));
        let floor = |f: &StateFloor| f.low.iter().chain(&f.mean).copied().collect();
        words.rows(&s.floors.iter().map(floor).collect::<Vec<_>>());
    }
}

/// Merges the samples of all ranks, shape by shape.
pub(crate) fn merge_samples(messages: &[Vec<u8>]) -> Vec<Sample> {
    let mut all: Vec<Sample> = Vec::new();
    for message in messages {
        let mut reader = Reader::new(message);
        while !reader.is_empty() {
            let shape = Shape::ALL.get(reader.number()).copied().unwrap_or(Shape::Line);
            let order = reader.number();
            let (elements, points, values) = (reader.numbers(), reader.points(), reader.rows());
            let n = reader.number();
            let gradients = (0..n.min(3)).map(|_| reader.rows()).collect();
            let floor = |row: Vec<f64>| match row[..] {
                [rho, p, ref mean @ ..] => Some(StateFloor { mean: mean.to_vec(), low: [rho, p] }),
                _ => None,
            };
            let floors = reader.rows().into_iter().filter_map(floor).collect();
            all.push(Sample { shape, order, elements, points, values, gradients, floors });
        }
    }
    let mut shapes: Vec<Shape> = all.iter().map(|s| s.shape).collect();
    shapes.sort_unstable();
    shapes.dedup();
    let of_shape = |shape: Shape| {
        let same: Vec<&Sample> = all.iter().filter(|s| s.shape == shape).collect();
        merge(&same)
    };
    shapes.into_iter().map(of_shape).collect()
}

/// A sample in the order of its elements. Those of an engine are in the order in which elements fill its
/// blocks, which depends on the machine.
pub(crate) fn in_order(sample: Sample) -> Sample {
    if sample.elements.is_sorted() { sample } else { merge(&[&sample]) }
}

/// Merges samples of one shape in the order of their elements.
fn merge(samples: &[&Sample]) -> Sample {
    let mut order: Vec<(usize, usize, usize)> = Vec::new();
    for (s, sample) in samples.iter().enumerate() {
        order.extend(sample.elements.iter().enumerate().map(|(i, &e)| (e, s, i)));
    }
    order.sort_unstable();
    let Some(first) = samples.first() else {
        return Sample {
            shape: Shape::Line,
            order: 1,
            elements: Vec::new(),
            points: Vec::new(),
            values: Vec::new(),
            gradients: Vec::new(),
            floors: Vec::new(),
        };
    };
    // Lattice points of an element, the same in all samples.
    let nodes = first.points.len() / first.elements.len().max(1);
    let column = |of: &dyn Fn(&Sample) -> &[f64]| -> Vec<f64> {
        let piece =
            |&(_, s, i): &(usize, usize, usize)| of(samples[s])[i * nodes..(i + 1) * nodes].iter().copied();
        order.iter().flat_map(piece).collect()
    };
    let points =
        |&(_, s, i): &(usize, usize, usize)| samples[s].points[i * nodes..(i + 1) * nodes].iter().copied();
    Sample {
        shape: first.shape,
        order: first.order,
        elements: order.iter().map(|&(e, _, _)| e).collect(),
        points: order.iter().flat_map(points).collect(),
        values: (0..first.values.len()).map(|k| column(&|s| &s.values[k])).collect(),
        gradients: (0..first.gradients.len())
            .map(|d| (0..first.gradients[d].len()).map(|k| column(&|s| &s.gradients[d][k])).collect())
            .collect(),
        floors: order.iter().filter_map(|&(_, s, i)| samples[s].floors.get(i).cloned()).collect(),
    }
}

/// Appends the faces of a boundary.
pub(crate) fn write_faces(faces: &BoundarySamples, global: &[u32], words: &mut Words) {
    words.numbers(faces.first.iter().copied());
    words.numbers(faces.elements.iter().map(|&e| global[e] as usize));
    words.points(&faces.points);
    words.points(&faces.normals);
    words.reals(faces.weights.iter().copied());
    words.reals(faces.distances.iter().copied());
    for rows in [&faces.inner, &faces.states, &faces.inviscid, &faces.diffusive] {
        words.rows(rows);
    }
    let flat: Vec<Vec<f64>> = faces.gradients.iter().flatten().cloned().collect();
    words.number(faces.gradients.first().map_or(0, Vec::len));
    words.rows(&flat);
}

/// Merges the faces of all ranks in the order of their elements; those of one element keep their order.
pub(crate) fn merge_faces(messages: &[Vec<u8>]) -> BoundarySamples {
    let mut all: Vec<BoundarySamples> = Vec::new();
    for message in messages.iter().filter(|m| !m.is_empty()) {
        let mut reader = Reader::new(message);
        let mut faces = BoundarySamples {
            first: reader.numbers(),
            elements: reader.numbers(),
            points: reader.points(),
            normals: reader.points(),
            weights: reader.reals(),
            distances: reader.reals(),
            inner: reader.rows(),
            states: reader.rows(),
            inviscid: reader.rows(),
            diffusive: reader.rows(),
            gradients: Vec::new(),
        };
        let dim = reader.number().max(1);
        faces.gradients = reader.rows().chunks_exact(dim).map(<[Vec<f64>]>::to_vec).collect();
        all.push(faces);
    }
    let mut order: Vec<(usize, usize, usize)> = Vec::new();
    for (s, faces) in all.iter().enumerate() {
        order.extend(faces.elements.iter().enumerate().map(|(f, &e)| (e, s, f)));
    }
    order.sort_unstable();
    let mut out = BoundarySamples { first: vec![0], ..BoundarySamples::default() };
    for (element, s, f) in order {
        let faces = &all[s];
        let points = faces.first[f]..faces.first[f + 1];
        out.elements.push(element);
        out.points.extend_from_slice(&faces.points[points.clone()]);
        out.normals.extend_from_slice(&faces.normals[points.clone()]);
        out.weights.extend_from_slice(&faces.weights[points.clone()]);
        out.distances.extend_from_slice(&faces.distances[points.clone()]);
        out.inner.extend_from_slice(&faces.inner[points.clone()]);
        out.states.extend_from_slice(&faces.states[points.clone()]);
        out.inviscid.extend_from_slice(&faces.inviscid[points.clone()]);
        out.diffusive.extend_from_slice(&faces.diffusive[points.clone()]);
        out.gradients.extend_from_slice(&faces.gradients[points]);
        out.first.push(out.points.len());
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_are_merged_in_the_order_of_the_elements() {
        let sample = |elements: Vec<usize>, first: f64| {
            let n = 2 * elements.len();
            Sample {
                shape: Shape::Triangle,
                order: 1,
                points: (0..n).map(|i| [first + i as f64, 0.0, 0.0]).collect(),
                values: vec![(0..n).map(|i| first + i as f64).collect()],
                gradients: vec![vec![(0..n).map(|i| -(first + i as f64)).collect()]; 2],
                floors: elements
                    .iter()
                    .map(|&e| StateFloor { mean: vec![first], low: [e as f64, -1.0] })
                    .collect(),
                elements,
            }
        };
        // Two ranks with two elements each; their global indices are 0 and 2, 1 and 3.
        let mut messages = Vec::new();
        for (global, first) in [([0, 2], 0.0), ([1, 3], 10.0)] {
            let mut words = Words::default();
            write_samples(&[sample(vec![1, 0], first)], &global, &mut words);
            messages.push(words.bytes().to_vec());
        }
        let merged = merge_samples(&messages);
        let [all] = &merged[..] else { panic!("one shape") };
        assert_eq!(all.elements, [0, 1, 2, 3]);
        assert_eq!(all.values[0], [2.0, 3.0, 12.0, 13.0, 0.0, 1.0, 10.0, 11.0]);
        assert_eq!(all.gradients[1][0][0], -2.0);
        assert_eq!(all.points[4][0], 0.0);
        // Each element keeps its own floor, of the rank on which it is.
        let floors = [(0.0, 0.0), (0.0, 10.0), (1.0, 0.0), (1.0, 10.0)];
        let floors = floors.map(|(e, first)| StateFloor { mean: vec![first], low: [e, -1.0] });
        assert_eq!(all.floors, floors);
        assert!(merge_samples(&[]).is_empty());
    }
}
