//! Contour lines: where a value that is linear on triangles has a given level.

use std::collections::HashMap;
use std::hash::Hash;

use super::patch::Patch;

/// The lines in a patch on which its value is `level`, each through its points.
pub(super) fn lines(patch: &Patch, level: f64) -> Vec<Vec<[f64; 3]>> {
    // A crossing is an edge, by its two points; each triangle joins two of them.
    type Edge = (usize, usize);
    let above = |k: usize| patch.values[k] >= level;
    let mut pairs: Vec<(Edge, Edge)> = Vec::new();
    for triangle in &patch.triangles {
        let crossed: Vec<Edge> = (0..3)
            .map(|k| (triangle[k], triangle[(k + 1) % 3]))
            .filter(|&(a, b)| above(a) != above(b))
            .map(|(a, b)| (a.min(b), a.max(b)))
            .collect();
        if let [a, b] = crossed[..] {
            pairs.push((a, b));
        }
    }
    let place = |(a, b): Edge| -> [f64; 3] {
        let t = (level - patch.values[a]) / (patch.values[b] - patch.values[a]);
        std::array::from_fn(|d| patch.points[a][d] + t * (patch.points[b][d] - patch.points[a][d]))
    };
    joined(&pairs).into_iter().map(|line| line.into_iter().map(place).collect()).collect()
}

/// Joins pieces, each given by its two ends, to lines.
pub(super) fn joined<K: Copy + Ord + Hash>(pieces: &[(K, K)]) -> Vec<Vec<K>> {
    let mut neighbours: HashMap<K, Vec<K>> = HashMap::new();
    for &(a, b) in pieces {
        neighbours.entry(a).or_default().push(b);
        neighbours.entry(b).or_default().push(a);
    }
    // Open lines begin at ends with one neighbour; what is left then are closed lines.
    let mut starts: Vec<K> = neighbours.keys().copied().collect();
    starts.sort_unstable_by_key(|end| (neighbours[end].len(), *end));
    let mut out = Vec::new();
    for start in starts {
        let mut line = vec![start];
        let mut here = start;
        while let Some(next) = neighbours.get_mut(&here).and_then(Vec::pop) {
            if let Some(back) = neighbours.get_mut(&next)
                && let Some(k) = back.iter().position(|&end| end == here)
            {
                back.swap_remove(k);
            }
            line.push(next);
            here = next;
        }
        if line.len() > 1 {
            out.push(line);
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A square of 2·n² triangles with the value f.
    fn square(n: usize, f: impl Fn(f64, f64) -> f64) -> Patch {
        let at = |i: usize, j: usize| j * (n + 1) + i;
        let mut patch = Patch::default();
        for j in 0..=n {
            for i in 0..=n {
                let [x, y] = [i, j].map(|k| 2.0 * k as f64 / n as f64 - 1.0);
                patch.points.push([x, y, 0.0]);
                patch.values.push(f(x, y));
                if i < n && j < n {
                    patch.triangles.push([at(i, j), at(i + 1, j), at(i + 1, j + 1)]);
                    patch.triangles.push([at(i, j), at(i + 1, j + 1), at(i, j + 1)]);
                }
            }
        }
        patch
    }

    #[test]
    fn a_circle_is_one_closed_line_and_a_front_is_one_open_line() {
        let circle = lines(&square(40, |x, y| x.hypot(y)), 0.5);
        assert_eq!(circle.len(), 1);
        assert_eq!(circle[0].first(), circle[0].last());
        assert!(circle[0].iter().all(|p| (p[0].hypot(p[1]) - 0.5).abs() < 2e-3));
        let front = lines(&square(5, |x, y| x + 0.1 * y), 0.05);
        assert_eq!(front.len(), 1);
        assert!(front[0].iter().all(|p| (p[0] + 0.1 * p[1] - 0.05).abs() < 1e-14));
        assert!(lines(&square(5, |x, _| x), 2.0).is_empty());
        assert!(lines(&square(5, |_, _| 1.0), 1.0).is_empty(), "a constant has no contour");
    }
}
