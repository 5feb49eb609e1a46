//! Cuts through elements: triangles where a height over the points of tetrahedra is zero.

use std::collections::HashMap;

/// A plane perpendicular to an axis.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Slice {
    /// The axis: 0, 1 or 2 for x, y or z.
    pub axis: usize,
    /// The coordinate.
    pub at: f64,
}

impl Slice {
    /// Returns whether an element with these nodes may cross the plane; the sides of elements of an order
    /// above 1 may bulge beyond their nodes.
    #[must_use]
    pub fn may_cross(&self, nodes: &[[f64; 3]], order: usize) -> bool {
        let [low, high] = self.span(nodes);
        let room = if order > 1 { 0.1 } else { 1e-5 } * (high - low);
        (low - room..=high + room).contains(&self.at)
    }

    /// Returns heights of points of an element above the plane. A point that is nearer than the share `hair`
    /// of the element's extent is on it, and so above: a plane through faces of elements is shown by those
    /// below it, or at `lowest`, the lower end of the domain, by those above.
    #[must_use]
    pub fn heights(&self, points: &[[f64; 3]], lowest: f64, hair: f64) -> Vec<f64> {
        let [low, high] = self.span(points);
        let hair = hair * (high - low);
        let side = if self.at <= lowest + hair { -1.0 } else { 1.0 };
        let height = |x: &[f64; 3]| x[self.axis] - self.at;
        points.iter().map(height).map(|h| if h.abs() <= hair { 0.0 } else { side * h }).collect()
    }

    fn span(&self, points: &[[f64; 3]]) -> [f64; 2] {
        let along = points.iter().map(|x| x[self.axis]);
        along.fold([f64::INFINITY, f64::NEG_INFINITY], |[low, high], x| [low.min(x), high.max(x)])
    }
}

/// The surface on which a height is zero.
pub struct Cut<'a> {
    height: &'a [f64],
    known: HashMap<(usize, usize), usize>,
    /// Crossings `(a, b, t)`: the point at the share `t` of the way from the point `a` to the point `b`. If
    /// the height of a point is zero, it is the crossing itself, `(a, a, 0)`.
    pub crossings: Vec<(usize, usize, f64)>,
    /// Triangles, by crossings.
    pub triangles: Vec<[usize; 3]>,
}

impl<'a> Cut<'a> {
    /// Cuts tetrahedra, given by the numbers of their points, where the linear function with the values
    /// `height` at the points is zero.
    #[must_use]
    pub fn new(tetrahedra: &[Vec<usize>], height: &'a [f64]) -> Self {
        let mut cut = Self { height, known: HashMap::new(), crossings: Vec::new(), triangles: Vec::new() };
        for tetrahedron in tetrahedra {
            // A point at height zero counts as above: each crossing lies inside of an edge or at its upper
            // end.
            let (up, down): (Vec<usize>, Vec<usize>) = tetrahedron.iter().partition(|&&k| height[k] >= 0.0);
            match (&up[..], &down[..]) {
                (&[a], &[b, c, d]) | (&[b, c, d], &[a]) => {
                    let triangle = [b, c, d].map(|k| cut.crossing(a, k));
                    cut.push(triangle);
                }
                (&[a, b], &[c, d]) => {
                    let [p, q, r, s] = [(a, c), (a, d), (b, d), (b, c)].map(|(x, y)| cut.crossing(x, y));
                    cut.push([p, q, r]);
                    cut.push([p, r, s]);
                }
                _ => {}
            }
        }
        cut
    }

    /// Returns the number of the crossing of an edge with one end above.
    pub fn crossing(&mut self, a: usize, b: usize) -> usize {
        let (mut a, mut b) = (a.min(b), a.max(b));
        for end in [a, b] {
            if self.height[end] == 0.0 {
                (a, b) = (end, end);
            }
        }
        let t = if a == b { 0.0 } else { self.height[a] / (self.height[a] - self.height[b]) };
        let crossings = &mut self.crossings;
        *self.known.entry((a, b)).or_insert_with(|| {
            crossings.push((a, b, t));
            crossings.len() - 1
        })
    }

    /// Keeps a triangle unless two of its corners are one point.
    fn push(&mut self, [a, b, c]: [usize; 3]) {
        if a != b && b != c && c != a {
            self.triangles.push([a, b, c]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The unit cube as six tetrahedra around a diagonal, by the corners of its lattice.
    fn cube() -> (Vec<[f64; 3]>, Vec<Vec<usize>>) {
        let points = dgsuite_basis::lattice::lattice(dgsuite_basis::Shape::Hexahedron, 1);
        let unit = points.iter().map(|x| x.map(|c| 0.5 + 0.5 * c)).collect();
        // Corner k of the lattice has the coordinates of its bits; each path from 0 to 7 is a tetrahedron.
        let axes = [[1, 2], [2, 1], [1, 4], [4, 1], [2, 4], [4, 2]];
        (unit, axes.map(|[a, b]| vec![0, a, a + b, 7]).to_vec())
    }

    fn area(points: &[[f64; 3]], cut: &Cut<'_>) -> f64 {
        let place = |k: usize| -> [f64; 3] {
            let (a, b, t) = cut.crossings[k];
            std::array::from_fn(|d| points[a][d] + t * (points[b][d] - points[a][d]))
        };
        let of = |triangle: &[usize; 3]| {
            let [a, b, c] = triangle.map(place);
            let [u, v] = [b, c].map(|p| std::array::from_fn(|d| p[d] - a[d]));
            let n = crate::post::cross(u, v);
            0.5 * crate::post::dot(n, n).sqrt()
        };
        cut.triangles.iter().map(of).sum()
    }

    #[test]
    fn the_cut_of_a_cube_is_a_square_also_at_its_faces() {
        let (points, tetrahedra) = cube();
        for axis in 0..3 {
            for (at, wanted) in [(0.3, 1.0), (0.5, 1.0), (1.0, 1.0), (0.0, 1.0), (1.2, 0.0)] {
                let slice = Slice { axis, at };
                let heights = slice.heights(&points, 0.0, 1e-12);
                let cut = Cut::new(&tetrahedra, &heights);
                assert!((area(&points, &cut) - wanted).abs() < 1e-14, "axis {axis} at {at}");
            }
            // Inside of the domain, a plane through a face belongs to the element below.
            let heights = Slice { axis, at: 0.0 }.heights(&points, -1.0, 1e-12);
            assert!(Cut::new(&tetrahedra, &heights).triangles.is_empty());
        }
        // x + y + z = 3/2 cuts the cube in a regular hexagon of side √½.
        let heights: Vec<f64> = points.iter().map(|x| x.iter().sum::<f64>() - 1.5).collect();
        let hexagon = 0.75 * 3.0_f64.sqrt();
        assert!((area(&points, &Cut::new(&tetrahedra, &heights)) - hexagon).abs() < 1e-14);
    }
}
