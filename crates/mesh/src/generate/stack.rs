//! Boxes of two shapes, one above or beside the other.

use dgsuite_basis::Shape;

use crate::{
    Mesh, MeshError,
    generate::{Elements, Grid},
};

/// A box of two shapes: cells of the lower layers are filled with one, those of the upper layers with the
/// other.
///
/// Layers follow one another along the last direction. In the plane any two shapes meet; in space prisms and
/// tetrahedra do, whose faces there are triangles, and hexahedra and pyramids. Hexahedra and prisms meet
/// where the latter have quadrilaterals: their layers follow one another along the first direction. Cells are
/// filled as those of [`crate::generate::Box`], triangles of triangles and prisms by the main diagonal; names
/// of boundaries are its, too, and opposite ones match, so that each pair can be made periodic.
///
/// ```
/// use dgsuite_mesh::{Shape, generate::Stack};
/// let shapes = [Shape::Prism, Shape::Tetrahedron];
/// let mut mesh = Stack { shapes, min: [0.0; 3], max: [1.0; 3], cells: [2, 2, 4], lower: 3 }.build()?;
/// mesh.make_periodic("zmin", "zmax")?;
/// let sizes: Vec<usize> = mesh.sets.iter().map(|set| set.len()).collect();
/// assert_eq!(sizes, [24, 24]);
/// # Ok::<(), dgsuite_mesh::MeshError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stack {
    /// Shapes of the lower and of the upper layers.
    pub shapes: [Shape; 2],
    /// Lower corner.
    pub min: [f64; 3],
    /// Upper corner.
    pub max: [f64; 3],
    /// Number of cells in each direction.
    pub cells: [usize; 3],
    /// Number of lower layers.
    pub lower: usize,
}

impl Stack {
    /// The direction in which the layers of these shapes follow one another: 0 for x.
    #[must_use]
    pub const fn axis(shapes: [Shape; 2]) -> usize {
        match shapes {
            [Shape::Hexahedron, Shape::Prism] | [Shape::Prism, Shape::Hexahedron] => 0,
            [below, _] => below.dim() - 1,
        }
    }

    /// Make the mesh.
    ///
    /// # Errors
    /// [`MeshError::BoxShape`] for a second shape that does not meet the first, and for lines;
    /// [`MeshError::EmptyBox`], [`MeshError::TooFewCells`].
    pub fn build(&self) -> Result<Mesh, MeshError> {
        let [below, above] = self.shapes;
        let dim = below.dim();
        let has_triangles = |s: Shape| matches!(s, Shape::Prism | Shape::Tetrahedron);
        let along = Self::axis(self.shapes);
        let meet = along < 2 || has_triangles(below) == has_triangles(above);
        if dim == 1 || above.dim() != dim || !meet {
            return Err(MeshError::BoxShape { shape: above });
        }
        let mut grid = Grid::new(dim, self.min, self.max, self.cells)?;
        let mut elements = Elements::default();
        for cell in grid.cells() {
            let shape = if cell[along] < self.lower { below } else { above };
            elements.fill(&mut grid, cell, shape, true);
        }
        grid.mesh(elements)
    }
}
