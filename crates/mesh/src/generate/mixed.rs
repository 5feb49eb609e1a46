//! Generator of box meshes that contain all shapes.

use dgsuite_basis::Shape;

use crate::{
    Mesh, MeshError,
    generate::{Elements, Grid, tetrahedra, triangles},
};

/// A box of all shapes of its dimension, in slabs along x.
///
/// In the plane: quadrilaterals, then triangles. In space: hexahedra, prisms, a slab of pyramids and
/// tetrahedra around cell centres, tetrahedra, and a second slab of pyramids and tetrahedra. Each slab has
/// about the same number of layers. Opposite boundaries match, so that each pair can be made periodic; they
/// have the names of [`crate::generate::Box`].
///
/// ```
/// use dgsuite_mesh::generate::MixedBox;
/// let mesh = MixedBox { dim: 3, min: [0.0; 3], max: [1.0; 3], cells: [5, 2, 2] }.build()?;
/// let shapes: Vec<&str> = mesh.sets.iter().map(|set| set.shape.name()).collect();
/// assert_eq!(shapes, ["tetrahedron", "hexahedron", "prism", "pyramid"]);
/// # Ok::<(), dgsuite_mesh::MeshError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MixedBox {
    /// Dimension: 2 or 3.
    pub dim: usize,
    /// Lower corner.
    pub min: [f64; 3],
    /// Upper corner.
    pub max: [f64; 3],
    /// Number of cells in each direction; in x at least 2 in the plane and 5 in space.
    pub cells: [usize; 3],
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Slab {
    Hexahedra,
    Prisms,
    /// Pyramids and tetrahedra that meet in the centre of the cell.
    Centred,
    Tetrahedra,
}

const SLABS: [Slab; 5] = [Slab::Hexahedra, Slab::Prisms, Slab::Centred, Slab::Tetrahedra, Slab::Centred];

impl MixedBox {
    /// Build the mesh.
    ///
    /// # Errors
    /// [`MeshError::EmptyBox`], [`MeshError::TooFewCells`].
    ///
    /// # Panics
    /// If the dimension is neither 2 nor 3.
    pub fn build(&self) -> Result<Mesh, MeshError> {
        assert!(self.dim == 2 || self.dim == 3, "a mixed box has dimension 2 or 3, not {}", self.dim);
        let least = if self.dim == 2 { 2 } else { SLABS.len() };
        if self.cells[0] < least {
            return Err(MeshError::TooFewCells { axis: 'x', cells: self.cells[0], least });
        }
        let mut grid = Grid::new(self.dim, self.min, self.max, self.cells)?;
        let mut elements = Elements::default();
        for cell in grid.cells() {
            let c = grid.corners(cell);
            if self.dim == 2 {
                if 2 * cell[0] < self.cells[0] {
                    elements.add(Shape::Quadrilateral, &c[..4]);
                } else {
                    let two = triangles([c[0], c[1], c[2], c[3]], false);
                    two.iter().for_each(|t| elements.add(Shape::Triangle, t));
                }
                continue;
            }
            match self.slab(cell[0]) {
                Slab::Hexahedra => elements.add(Shape::Hexahedron, &c),
                Slab::Prisms => {
                    for [a, b, d] in triangles([0, 1, 2, 3], true) {
                        elements.add(Shape::Prism, &[c[a], c[b], c[d], c[a + 4], c[b + 4], c[d + 4]]);
                    }
                }
                Slab::Tetrahedra => {
                    tetrahedra(&c).iter().for_each(|t| elements.add(Shape::Tetrahedron, t));
                }
                Slab::Centred => {
                    let centre = grid.add_centre(&c);
                    self.centred(cell[0], &c, centre, &mut elements);
                }
            }
        }
        grid.mesh(elements)
    }

    fn slab(&self, i: usize) -> Slab {
        SLABS[i * SLABS.len() / self.cells[0]]
    }

    /// Pyramids over the cell's faces, or two tetrahedra over a face shared with tetrahedra.
    fn centred(&self, i: usize, c: &[u32; 8], centre: u32, elements: &mut Elements) {
        for (f, &face) in Shape::Hexahedron.faces().iter().enumerate() {
            // Faces 4 and 2 of the hexahedron lie at its lower and upper x.
            let neighbour = match f {
                4 => i.checked_sub(1),
                2 => Some(i + 1).filter(|&i| i < self.cells[0]),
                _ => None,
            };
            // The listed corners run counter-clockwise seen from outside; elements need them seen from
            // inside.
            let q = [face[0], face[3], face[2], face[1]].map(|v| c[v]);
            if neighbour.is_some_and(|n| self.slab(n) == Slab::Tetrahedra) {
                // The diagonal of the tetrahedra connects the lowest and highest corners of the face.
                let main = matches!(
                    [face[0], face[3], face[2], face[1]].iter().position(|&v| v == 0 || v == 6),
                    Some(0 | 2)
                );
                for [a, b, d] in triangles(q, main) {
                    elements.add(Shape::Tetrahedron, &[a, b, d, centre]);
                }
            } else {
                elements.add(Shape::Pyramid, &[q[0], q[1], q[2], q[3], centre]);
            }
        }
    }
}
