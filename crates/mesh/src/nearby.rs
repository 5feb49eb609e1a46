//! Search for points by their coordinates, with a hash of grid cells.

use std::collections::HashMap;

/// Points in cells of one size.
pub(crate) struct Nearby<'a> {
    points: &'a [[f64; 3]],
    cell: f64,
    cells: HashMap<[i64; 3], Vec<u32>>,
}

impl<'a> Nearby<'a> {
    /// The points `ids` of `points`, in cells of edge `cell > 0`.
    pub(crate) fn new(points: &'a [[f64; 3]], ids: &[u32], cell: f64) -> Self {
        let cell = if cell > 0.0 { cell } else { 1.0 };
        let mut cells: HashMap<[i64; 3], Vec<u32>> = HashMap::with_capacity(ids.len());
        for &id in ids {
            cells.entry(index(points[id as usize], cell)).or_default().push(id);
        }
        Self { points, cell, cells }
    }

    /// The point nearest to `x` within `tolerance ≤ cell`; the lowest index among equals.
    pub(crate) fn nearest(&self, x: [f64; 3], tolerance: f64) -> Option<u32> {
        let mut best: Option<(f64, u32)> = None;
        self.within(x, x, tolerance, |id| {
            let r = distance(self.points[id as usize], x);
            if r <= tolerance && best.is_none_or(|b| (r, id) < b) {
                best = Some((r, id));
            }
        });
        best.map(|(_, id)| id)
    }

    /// Visit the points whose cell intersects the box from `lower` to `upper`, enlarged by `margin`.
    ///
    /// If the box has more cells than there are points, all points are visited.
    pub(crate) fn within(&self, lower: [f64; 3], upper: [f64; 3], margin: f64, mut visit: impl FnMut(u32)) {
        let from = index(lower.map(|x| x - margin), self.cell);
        let to = index(upper.map(|x| x + margin), self.cell);
        let cells = (0..3).fold(1.0, |n, d| n * (1.0 + to[d] as f64 - from[d] as f64));
        if cells > (27 + self.cells.len()) as f64 {
            let mut all: Vec<u32> = self.cells.values().flatten().copied().collect();
            all.sort_unstable();
            all.into_iter().for_each(visit);
            return;
        }
        for i in from[0]..=to[0] {
            for j in from[1]..=to[1] {
                for k in from[2]..=to[2] {
                    for &id in self.cells.get(&[i, j, k]).into_iter().flatten() {
                        visit(id);
                    }
                }
            }
        }
    }
}

fn index(x: [f64; 3], cell: f64) -> [i64; 3] {
    // Far from the ends of the range, so that neighbours have valid numbers.
    x.map(|x| (x / cell).floor().clamp(-1e18, 1e18) as i64)
}

pub(crate) fn distance(a: [f64; 3], b: [f64; 3]) -> f64 {
    (0..3).map(|d| (a[d] - b[d]).powi(2)).sum::<f64>().sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_point_is_found_across_cell_borders() {
        let points = [[0.999, 0.0, 0.0], [1.002, 0.0, 0.0], [-3.0, 5.0, 2.0]];
        let near = Nearby::new(&points, &[0, 1, 2], 1.0);
        assert_eq!(near.nearest([1.0, 0.0, 0.0], 0.01), Some(0));
        assert_eq!(near.nearest([1.001, 0.0, 0.0], 0.01), Some(1));
        assert_eq!(near.nearest([-3.0, 5.0, 2.1], 0.01), None);
        let point = [[2.001, 0.0, 0.0]];
        let above = Nearby::new(&point, &[0], 1.0);
        assert_eq!(above.nearest([1.999, 0.0, 0.0], 0.01), Some(0));
        let mut seen = Vec::new();
        near.within([-1e30; 3], [1e30; 3], 0.0, |id| seen.push(id));
        assert_eq!(seen, [0, 1, 2]);
    }
}
