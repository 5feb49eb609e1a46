//! Generator of the mesh of a channel with a cylinder.

use std::f64::consts::{FRAC_PI_4, TAU};

use dgsuite_basis::Shape;

use crate::{
    Mesh, MeshError,
    generate::{
        annulus::{at_least, positive},
        quilt::{Quilt, fractions, subdivided},
    },
};

/// Cells outside of the square around the cylinder grow by this factor towards the sides of the channel.
const STRETCH: f64 = 1.05;

/// A channel with a circular cylinder, in curved quadrilaterals or triangles.
///
/// The cylinder is in the middle of a square whose side is `2 √(radius · distance)` with the distance from
/// the centre to the nearest side of the channel. Layers of cells lead from the circle to the square, each
/// `growth` times as thick as the one before (an O-grid). A grid of rectangles continues the cells of the
/// square to the sides of the channel (an H-grid), where lengths grow by 5 % from cell to cell. The
/// boundaries are called `inflow` (at the lowest x), `outflow`, `walls` and `cylinder`.
///
/// Nodes of the cylinder lie on the circle at equal angles. The area differs from the exact one by O(h^(q+1))
/// or less with the geometry order q.
///
/// [`CylinderInChannel::dfg`] is the geometry of the DFG benchmark (Schäfer & Turek 1996).
///
/// ```
/// use dgsuite_mesh::generate::CylinderInChannel;
/// let mesh = CylinderInChannel::dfg().build()?;
/// let area: f64 = mesh.volumes().iter().sum();
/// assert!((area - (2.2 * 0.41 - std::f64::consts::PI * 0.05 * 0.05)).abs() < 1e-8);
/// assert_eq!(mesh.boundary_names(), ["inflow", "outflow", "walls", "cylinder"]);
/// # Ok::<(), dgsuite_mesh::MeshError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CylinderInChannel {
    /// Quadrilaterals, or triangles: two of each cell.
    pub shape: Shape,
    /// Lower corner of the channel.
    pub min: [f64; 2],
    /// Upper corner of the channel.
    pub max: [f64; 2],
    /// Centre of the cylinder.
    pub centre: [f64; 2],
    /// Radius of the cylinder.
    pub radius: f64,
    /// Number of layers of the O-grid, and of cells around the cylinder, a multiple of 4.
    pub cells: [usize; 2],
    /// Thickness of each layer of the O-grid divided by that of the layer inside it.
    pub growth: f64,
    /// Geometry order, 1 to 4.
    pub order: usize,
}

/// Corners of cells along an axis, with the numbers of those at the square.
struct Axis {
    corners: Vec<f64>,
    square: [usize; 2],
}

impl CylinderInChannel {
    /// The channel of the DFG benchmark, 2.2 × 0.41, with a cylinder of radius 0.05 at (0.2, 0.2): 829 cubic
    /// quadrilaterals.
    #[must_use]
    pub const fn dfg() -> Self {
        Self {
            shape: Shape::Quadrilateral,
            min: [0.0, 0.0],
            max: [2.2, 0.41],
            centre: [0.2, 0.2],
            radius: 0.05,
            cells: [4, 32],
            growth: 1.3,
            order: 3,
        }
    }

    /// Check the values without building the mesh.
    ///
    /// # Errors
    /// [`MeshError::Generator`] for a cylinder that is not inside the channel, for the cells and for the
    /// growth; [`MeshError::BoxShape`], [`MeshError::GeometryOrder`], [`MeshError::TooLarge`].
    pub fn check(&self) -> Result<(), MeshError> {
        let [layers, around] = self.cells;
        positive("radius", self.radius)?;
        at_least(layers, 1, "layers")?;
        at_least(around, 4, "cells around the cylinder")?;
        if !around.is_multiple_of(4) {
            let (value, expected) = (format!("{around} cells around the cylinder"), "a multiple of 4");
            return Err(MeshError::Generator { key: "cells", value, expected: expected.to_owned() });
        }
        let distance = self.distance();
        // Written so that NaN is refused as well.
        if !(distance > self.radius && (0..2).all(|d| (self.max[d] - self.min[d]).is_finite())) {
            let expected = format!("less than the distance from `centre` to the sides, {distance},");
            return Err(MeshError::Generator { key: "radius", value: self.radius.to_string(), expected });
        }
        Quilt::new(self.shape, self.order, self.cells)?;
        fractions(layers, self.growth).map(|_| ())
    }

    /// Distance from the centre to the nearest side of the channel; negative outside.
    fn distance(&self) -> f64 {
        let along = |d: usize| (self.centre[d] - self.min[d]).min(self.max[d] - self.centre[d]);
        along(0).min(along(1))
    }

    /// Build the mesh. Elements of the O-grid come first.
    ///
    /// # Errors
    /// As [`Self::check`]; [`MeshError::Inverted`].
    pub fn build(&self) -> Result<Mesh, MeshError> {
        self.check()?;
        let (half, side) = ((self.radius * self.distance()).sqrt(), self.cells[1] / 4);
        let x = self.axis(0, half, side)?;
        let y = self.axis(1, half, side)?;
        let grid = [x.corners.len(), y.corners.len()];
        let mut quilt = Quilt::new(self.shape, self.order, grid)?;
        self.fill(&mut quilt, &x, &y)?;
        quilt.mesh(&["inflow", "outflow", "walls", "cylinder"], &[0, 1, 2, 2, 3])
    }

    /// The cells along one axis: towards the lower side, of the square, towards the upper side.
    fn axis(&self, d: usize, half: f64, side: usize) -> Result<Axis, MeshError> {
        let (low, high) = (self.centre[d] - half, self.centre[d] + half);
        let cell = 2.0 * half / side as f64;
        let count = |length: f64| {
            // The smallest n for which cells that grow from the square's size fill the length.
            let n = (1.0 + (STRETCH - 1.0) * length / cell).ln() / STRETCH.ln();
            (n - 1e-9).ceil().max(1.0) as usize
        };
        let (below, above) = (low - self.min[d], self.max[d] - high);
        let mut corners: Vec<f64> =
            fractions(count(below), STRETCH)?.iter().rev().map(|w| low - w * below).collect();
        corners[0] = self.min[d];
        let first = corners.len() - 1;
        corners.extend((1..=side).map(|i| low + 2.0 * half * i as f64 / side as f64));
        let last = corners.len() - 1;
        let start = corners[last];
        corners.extend(fractions(count(above), STRETCH)?.iter().skip(1).map(|w| start + w * above));
        if let Some(end) = corners.last_mut() {
            *end = self.max[d];
        }
        Ok(Axis { corners, square: [first, last] })
    }

    fn fill(&self, quilt: &mut Quilt, x: &Axis, y: &Axis) -> Result<(), MeshError> {
        let q = self.order;
        let (xs, ys) = (subdivided(&x.corners, q), subdivided(&y.corners, q));
        let [[i0, i1], [j0, j1]] = [x.square.map(|i| i * q), y.square.map(|j| j * q)];
        let (nx, ny) = (xs.len(), ys.len());
        let mut grid = vec![u32::MAX; nx * ny];
        for (j, &y) in ys.iter().enumerate() {
            for (i, &x) in xs.iter().enumerate() {
                if !(i0 < i && i < i1 && j0 < j && j < j1) {
                    let on = [i == 0, i + 1 == nx, j == 0, j + 1 == ny];
                    let sides = (0..4).map(|side| u8::from(on[side]) << side).sum();
                    grid[j * nx + i] = quilt.point([x, y], sides);
                }
            }
        }
        // The square's nodes, counter-clockwise from its lower right corner.
        let (side, turn) = (i1 - i0, 4 * (i1 - i0));
        let on_square = |a: usize| {
            let along = a % side;
            match a / side {
                0 => [i1, j0 + along],
                1 => [i1 - along, j1],
                2 => [i0, j1 - along],
                _ => [i0 + along, j0],
            }
        };
        let places = subdivided(&fractions(self.cells[0], self.growth)?, q);
        let outer = places.len() - 1;
        let mut ring = Vec::with_capacity(places.len() * turn);
        for (l, w) in places.iter().enumerate() {
            for a in 0..turn {
                let [i, j] = on_square(a);
                if l == outer {
                    ring.push(grid[j * nx + i]);
                    continue;
                }
                let (sin, cos) = (TAU * a as f64 / turn as f64 - FRAC_PI_4).sin_cos();
                let on_circle = [self.centre[0] + self.radius * cos, self.centre[1] + self.radius * sin];
                let end = [xs[i], ys[j]];
                let at = |d: usize| (1.0 - w) * on_circle[d] + w * end[d];
                ring.push(quilt.point([at(0), at(1)], u8::from(l == 0) << 4));
            }
        }
        for k in 0..self.cells[0] {
            for a in 0..self.cells[1] {
                quilt.cell(|i, j| ring[(k * q + i) * turn + (a * q + j) % turn]);
            }
        }
        for cj in 0..y.corners.len() - 1 {
            for ci in 0..x.corners.len() - 1 {
                let inside = |c: usize, [from, to]: [usize; 2]| (from..to).contains(&c);
                if !(inside(ci, x.square) && inside(cj, y.square)) {
                    quilt.cell(|i, j| grid[(cj * q + j) * nx + ci * q + i]);
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::f64::consts::PI;

    use super::*;
    use crate::{Across, quality};

    #[test]
    fn channels_are_closed_and_their_areas_converge_with_the_order() {
        for shape in [Shape::Triangle, Shape::Quadrilateral] {
            for order in 1..=4 {
                let error = |around: usize| {
                    let cells = [around / 8, around];
                    let channel = CylinderInChannel { shape, order, cells, ..CylinderInChannel::dfg() };
                    let mesh = channel.build().unwrap();
                    assert_eq!(mesh.boundary_names(), ["inflow", "outflow", "walls", "cylinder"]);
                    assert_eq!(mesh.boundary_counts()[3], around);
                    let lengths = quality::boundary_measures(&mesh);
                    for (found, expected) in lengths.iter().zip([0.41, 0.41, 4.4]) {
                        assert!((found - expected).abs() < 1e-13, "{lengths:?}");
                    }
                    for face in mesh.faces.iter().filter(|f| f.across == Across::Boundary(3)) {
                        for node in mesh.side_nodes(face.minus) {
                            let [x, y, _] = mesh.points[node as usize];
                            assert!(((x - 0.2).hypot(y - 0.2) - 0.05).abs() < 1e-16);
                        }
                    }
                    (quality::statistics(&mesh).volume - (2.2 * 0.41 - PI * 0.05 * 0.05)).abs()
                };
                let (coarse, fine) = (error(8), error(16));
                let rate = (coarse / fine).log2();
                assert!(rate > order as f64 + 0.9, "{shape} {order}: {coarse:e} {fine:e}");
            }
        }
    }

    #[test]
    fn the_benchmark_has_good_elements_that_are_thinnest_at_the_cylinder() {
        let mesh = CylinderInChannel::dfg().build().unwrap();
        assert_eq!(mesh.n_elements(), 829);
        let quality = quality::elements(&mesh);
        let statistics = quality::statistics_of(&mesh, &quality);
        assert!(statistics.scaled_jacobian.min > 0.5, "{statistics:?}");
        // Elements 0 to 31 are the layer at the cylinder, 32 to 63 the next, …
        assert!((0..96).all(|i| quality[i].volume < quality[i + 32].volume));
        let at_cylinder = mesh.faces.iter().filter(|f| f.across == Across::Boundary(3));
        assert!(at_cylinder.into_iter().all(|f| f.minus.element < 32));
        // The rectangles are affine.
        assert!((128..829).all(|i| mesh.is_affine(0, i, 1e-12)));
    }

    #[test]
    fn impossible_channels_are_refused_with_the_key() {
        let good = CylinderInChannel::dfg();
        for (bad, part) in [
            (CylinderInChannel { radius: 0.2, ..good }, "`radius` is 0.2, where less than"),
            (CylinderInChannel { radius: -1.0, ..good }, "`radius` is -1"),
            (CylinderInChannel { centre: [3.0, 0.2], ..good }, "`radius`"),
            (CylinderInChannel { max: [f64::INFINITY, 0.41], ..good }, "`radius`"),
            (CylinderInChannel { cells: [4, 30], ..good }, "`cells` is 30 cells around the cylinder"),
            (CylinderInChannel { cells: [0, 32], ..good }, "`cells` is 0 layers"),
            (CylinderInChannel { cells: [2, 1 << 40], ..good }, "too many"),
            (CylinderInChannel { growth: 0.0, ..good }, "`growth` is 0"),
            (CylinderInChannel { order: 0, ..good }, "geometry order 0"),
        ] {
            let error = bad.build().unwrap_err().to_string();
            assert!(error.contains(part), "{error}");
        }
    }
}
