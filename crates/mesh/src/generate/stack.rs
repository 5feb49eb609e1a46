//! Generator of box meshes with layers of two shapes.

use dgsuite_basis::Shape;

use crate::{
    Mesh, MeshError,
    generate::{Elements, Grid},
};

/// A box of two shapes: one fills the cells of the lower layers, the other the cells of the upper layers.
///
/// Layers are stacked along the last direction. In the plane any two shapes are possible; in space prisms and
/// tetrahedra, which share triangular faces, and hexahedra and pyramids. Hexahedra and prisms share
/// quadrilateral faces, so that their layers are stacked along the first direction. Cells are filled as in
/// [`crate::generate::Box`], with the main diagonal for triangles of triangles and prisms. Boundaries have
/// the same names as there, and opposite ones match, so that each pair can be made periodic.
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
    /// The direction in which the layers of these shapes are stacked: 0 for x.
    #[must_use]
    pub const fn axis(shapes: [Shape; 2]) -> usize {
        match shapes {
            [Shape::Hexahedron, Shape::Prism] | [Shape::Prism, Shape::Hexahedron] => 0,
            [below, _] => below.dim() - 1,
        }
    }

    /// Build the mesh.
    ///
    /// # Errors
    /// [`MeshError::BoxShape`] for two shapes that do not fit together, and for lines;
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
