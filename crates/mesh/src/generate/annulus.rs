//! Generator of the mesh between two circles.

use std::f64::consts::TAU;

use dgsuite_basis::Shape;

use crate::{
    Mesh, MeshError,
    generate::quilt::{Quilt, fractions, subdivided},
};

/// The plane between two concentric circles, in layers of curved quadrilaterals or triangles.
///
/// Nodes of the boundaries, which are called `inner` and `outer`, lie on the circles at equal angles. The
/// area differs from `π (outer² − inner²)` by O(h^(q+1)) or less with the geometry order q.
///
/// ```
/// use dgsuite_mesh::{Shape, generate::Annulus};
/// let ring = Annulus {
///     shape: Shape::Quadrilateral,
///     centre: [0.0; 2],
///     inner: 1.0,
///     outer: 2.0,
///     cells: [4, 16],
///     growth: 1.2,
///     order: 4,
/// };
/// let mesh = ring.build()?;
/// let area: f64 = mesh.volumes().iter().sum();
/// assert!((area - 3.0 * std::f64::consts::PI).abs() < 1e-6);
/// assert_eq!(mesh.boundary_names(), ["inner", "outer"]);
/// # Ok::<(), dgsuite_mesh::MeshError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Annulus {
    /// Quadrilaterals, or triangles: two of each cell.
    pub shape: Shape,
    /// The centre of both circles.
    pub centre: [f64; 2],
    /// Radius of the inner circle.
    pub inner: f64,
    /// Radius of the outer circle.
    pub outer: f64,
    /// Number of cells from the inner to the outer circle, and around.
    pub cells: [usize; 2],
    /// Thickness of each layer of cells divided by that of the layer inside it.
    pub growth: f64,
    /// Geometry order, 1 to 4.
    pub order: usize,
}

impl Annulus {
    /// Check the values without building the mesh.
    ///
    /// # Errors
    /// [`MeshError::Generator`] for radii that are not `0 < inner < outer`, for fewer than 1 × 3 cells and
    /// for the growth; [`MeshError::BoxShape`], [`MeshError::GeometryOrder`], [`MeshError::TooLarge`].
    pub fn check(&self) -> Result<(), MeshError> {
        let [layers, around] = self.cells;
        positive("inner", self.inner)?;
        // Written so that NaN is refused as well.
        if !(self.outer > self.inner && self.outer.is_finite()) {
            let expected = format!("a number above `inner`, {},", self.inner);
            return Err(MeshError::Generator { key: "outer", value: self.outer.to_string(), expected });
        }
        at_least(layers, 1, "layers")?;
        at_least(around, 3, "cells around")?;
        Quilt::new(self.shape, self.order, self.cells)?;
        fractions(layers, self.growth).map(|_| ())
    }

    /// Build the mesh. Elements are numbered layer by layer from the inside, counter-clockwise.
    ///
    /// # Errors
    /// As [`Self::check`]; [`MeshError::Inverted`].
    pub fn build(&self) -> Result<Mesh, MeshError> {
        self.check()?;
        let ([layers, around], q) = (self.cells, self.order);
        let mut quilt = Quilt::new(self.shape, q, self.cells)?;
        let radii = subdivided(&fractions(layers, self.growth)?, q);
        let turn = around * q;
        let mut nodes = Vec::with_capacity(radii.len() * turn);
        for (l, w) in radii.iter().enumerate() {
            let radius = (1.0 - w) * self.inner + w * self.outer;
            let sides = u8::from(l == 0) | u8::from(l + 1 == radii.len()) << 1;
            for a in 0..turn {
                let (sin, cos) = (TAU * a as f64 / turn as f64).sin_cos();
                let [x, y] = self.centre;
                nodes.push(quilt.point([x + radius * cos, y + radius * sin], sides));
            }
        }
        for k in 0..layers {
            for a in 0..around {
                quilt.cell(|i, j| nodes[(k * q + i) * turn + (a * q + j) % turn]);
            }
        }
        quilt.mesh(&["inner", "outer"], &[0, 1])
    }
}

pub(super) fn positive(key: &'static str, value: f64) -> Result<(), MeshError> {
    if value > 0.0 && value.is_finite() {
        return Ok(());
    }
    Err(MeshError::Generator { key, value: value.to_string(), expected: "a positive number".to_owned() })
}

pub(super) fn at_least(cells: usize, least: usize, what: &str) -> Result<(), MeshError> {
    if cells >= least {
        return Ok(());
    }
    let expected = format!("at least {least}");
    Err(MeshError::Generator { key: "cells", value: format!("{cells} {what}"), expected })
}

#[cfg(test)]
mod tests {
    use std::f64::consts::PI;

    use super::*;
    use crate::quality;

    fn ring(shape: Shape, order: usize, around: usize) -> Annulus {
        let cells = [around / 8, around];
        Annulus { shape, centre: [0.25, -0.5], inner: 0.5, outer: 1.5, cells, growth: 1.1, order }
    }

    #[test]
    fn rings_are_closed_and_their_areas_converge_with_the_order() {
        for shape in [Shape::Triangle, Shape::Quadrilateral] {
            for order in 1..=4 {
                let error = |around: usize| {
                    let mesh = ring(shape, order, around).build().unwrap();
                    assert_eq!(mesh.boundary_names(), ["inner", "outer"]);
                    assert_eq!(mesh.boundary_counts(), [around, around]);
                    let cells = around * around / 8;
                    assert_eq!(mesh.n_elements(), if shape == Shape::Triangle { 2 * cells } else { cells });
                    // Every node of the boundaries is on its circle.
                    for face in &mesh.faces {
                        if let crate::Across::Boundary(b) = face.across {
                            for node in mesh.side_nodes(face.minus) {
                                let [x, y, _] = mesh.points[node as usize];
                                let radius = (x - 0.25).hypot(y + 0.5);
                                assert!((radius - [0.5, 1.5][b as usize]).abs() < 1e-15);
                            }
                        }
                    }
                    (quality::statistics(&mesh).volume - 2.0 * PI).abs()
                };
                let (coarse, fine) = (error(8), error(16));
                let rate = (coarse / fine).log2();
                assert!(rate > order as f64 + 0.9, "{shape} {order}: {coarse:e} {fine:e}");
            }
        }
    }

    #[test]
    fn layers_grow() {
        let mesh =
            Annulus { cells: [3, 32], growth: 2.0, ..ring(Shape::Quadrilateral, 1, 8) }.build().unwrap();
        let radius = |p: usize| (mesh.points[p][0] - 0.25).hypot(mesh.points[p][1] + 0.5);
        for (layer, expected) in [0.5, 0.5 + 1.0 / 7.0, 0.5 + 3.0 / 7.0, 1.5].into_iter().enumerate() {
            assert!((radius(32 * layer) - expected).abs() < 1e-14);
        }
    }

    #[test]
    fn impossible_rings_are_refused_with_the_key() {
        let good = ring(Shape::Quadrilateral, 2, 8);
        for (bad, part) in [
            (Annulus { inner: 0.0, ..good }, "`inner` is 0"),
            (Annulus { outer: 0.5, ..good }, "`outer` is 0.5, where a number above `inner`, 0.5, is needed"),
            (Annulus { outer: f64::NAN, ..good }, "`outer` is NaN"),
            (Annulus { growth: -1.0, ..good }, "`growth` is -1"),
            (Annulus { growth: 1e200, cells: [9, 8], ..good }, "`growth` is 1"),
            (Annulus { cells: [1, 2], ..good }, "`cells` is 2 cells around"),
            (Annulus { cells: [usize::MAX, 8], ..good }, "nodes are too many"),
            (Annulus { order: 5, ..good }, "geometry order 5"),
            (Annulus { shape: Shape::Prism, ..good }, "prism"),
        ] {
            let error = bad.build().unwrap_err().to_string();
            assert!(error.contains(part), "{error}");
        }
    }
}
