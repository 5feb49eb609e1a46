//! Curved quadrilaterals and triangles of the plane, while a mesh is built.

use dgsuite_basis::{Shape, lattice::lattice_len};

use crate::{Mesh, MeshError, connect::Draft, generate::finished, gmsh, mesh::ElementSet};

/// Points of the plane, and cells that are quadrilaterals or halved into triangles.
pub(super) struct Quilt {
    shape: Shape,
    order: usize,
    points: Vec<[f64; 3]>,
    /// For each point the sides of the domain that it lies on, one bit each.
    sides: Vec<u8>,
    nodes: Vec<u32>,
}

impl Quilt {
    /// # Errors
    /// [`MeshError::BoxShape`] for shapes in space, [`MeshError::GeometryOrder`], [`MeshError::TooLarge`] if
    /// `cells` would need too many nodes.
    pub(super) fn new(shape: Shape, order: usize, cells: [usize; 2]) -> Result<Self, MeshError> {
        if !matches!(shape, Shape::Triangle | Shape::Quadrilateral) {
            return Err(MeshError::BoxShape { shape });
        }
        let max = gmsh::max_order(shape);
        if order == 0 || order > max {
            return Err(MeshError::GeometryOrder { shape, order, max });
        }
        let count = cells.iter().try_fold(order * order, |p, &n| p.checked_mul(n)).unwrap_or(usize::MAX);
        let limit = u32::MAX as usize / 32;
        if count > limit {
            return Err(MeshError::TooLarge { what: "nodes", count, max: limit });
        }
        Ok(Self { shape, order, points: Vec::new(), sides: Vec::new(), nodes: Vec::new() })
    }

    /// Adds a point that lies on `sides`.
    pub(super) fn point(&mut self, [x, y]: [f64; 2], sides: u8) -> u32 {
        self.points.push([x, y, 0.0]);
        self.sides.push(sides);
        self.points.len() as u32 - 1
    }

    /// Adds a cell; its node `[i, j]` of the lattice is `at(i, j)`, with `i` and `j` in right-handed order.
    pub(super) fn cell(&mut self, at: impl Fn(usize, usize) -> u32) {
        let q = self.order;
        if self.shape == Shape::Quadrilateral {
            for j in 0..=q {
                self.nodes.extend((0..=q).map(|i| at(i, j)));
            }
            return;
        }
        for j in 0..=q {
            self.nodes.extend((0..=q - j).map(|i| at(i, j)));
        }
        for j in 0..=q {
            self.nodes.extend((0..=q - j).map(|i| at(q - i, q - j)));
        }
    }

    /// The mesh, whose sides belong to the boundaries `names`: side `i` to `boundary_of[i]`.
    ///
    /// # Errors
    /// [`MeshError::Inverted`] and [`MeshError::Degenerate`] for elements without a positive Jacobian.
    pub(super) fn mesh(self, names: &[&str], boundary_of: &[u32]) -> Result<Mesh, MeshError> {
        let Self { shape, order, points, sides, nodes } = self;
        let len = nodes.len() / lattice_len(shape, order);
        let set = ElementSet { shape, order, nodes, tags: vec![0; len], regions: vec![1; len], first: 0 };
        let draft = Draft { dim: 2, points, sets: vec![set], ..Draft::default() };
        let mesh = finished(draft, names, |face| {
            let common = face.iter().fold(u8::MAX, |common, &node| common & sides[node as usize]);
            (0..boundary_of.len()).find(|side| common >> side & 1 == 1).map(|side| boundary_of[side])
        })?;
        mesh.check_orientation()?;
        Ok(mesh)
    }
}

/// Places from 0 to 1 of which each of the `n` intervals is `growth` times as long as the one before.
///
/// # Errors
/// [`MeshError::Generator`] if `growth` is not positive, or so far from 1 that intervals vanish.
pub(super) fn fractions(n: usize, growth: f64) -> Result<Vec<f64>, MeshError> {
    let mut places = vec![0.0];
    let (mut sum, mut length) = (0.0, 1.0);
    for _ in 0..n {
        sum += length;
        length *= growth;
        places.push(sum);
    }
    places.iter_mut().for_each(|x| *x /= sum);
    if growth > 0.0 && places.windows(2).all(|pair| pair[1] - pair[0] > 1e-12) {
        return Ok(places);
    }
    let expected = format!("a positive number near 1, such that none of the {n} layers vanishes");
    Err(MeshError::Generator { key: "growth", value: growth.to_string(), expected })
}

/// The places and, between each two of them, `order − 1` equispaced ones.
pub(super) fn subdivided(places: &[f64], order: usize) -> Vec<f64> {
    let mut fine = Vec::with_capacity(places.len() * order);
    for pair in places.windows(2) {
        fine.extend((0..order).map(|j| pair[0] + (pair[1] - pair[0]) * j as f64 / order as f64));
    }
    fine.extend(places.last());
    fine
}
