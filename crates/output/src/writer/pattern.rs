//! The VTK cells of one cell and the lattice nodes of each: the same for every cell of a block.

use dgsuite_basis::Shape;
use vtkio::model::CellType;

use super::{Cells, MAX_LAGRANGE_ORDER, WriterError, lagrange::lagrange_nodes, linear::linear_cells};

/// The VTK cells for one cell.
#[derive(Clone, Debug, Default)]
pub(super) struct Pattern {
    /// VTK type of each.
    pub(super) types: Vec<CellType>,
    /// Lattice nodes of all, in VTK's order, one cell after the other.
    pub(super) nodes: Vec<usize>,
    /// End of each cell's nodes in `nodes`.
    pub(super) ends: Vec<usize>,
}

impl Pattern {
    pub(super) fn new(shape: Shape, order: usize, cells: Cells) -> Result<Self, WriterError> {
        let mut pattern = Self::default();
        match lagrange_type(shape, order).filter(|_| cells == Cells::Lagrange) {
            _ if order == 0 => return Err(WriterError::Order { shape, order }),
            Some(_) if order > MAX_LAGRANGE_ORDER => return Err(WriterError::Order { shape, order }),
            Some(kind) => pattern.push(kind, &lagrange_nodes(shape, order)),
            None => linear_cells(shape, order).iter().for_each(|(kind, nodes)| pattern.push(*kind, nodes)),
        }
        Ok(pattern)
    }

    fn push(&mut self, kind: CellType, nodes: &[usize]) {
        self.types.push(kind);
        self.nodes.extend_from_slice(nodes);
        self.ends.push(self.nodes.len());
    }
}

/// Returns the Lagrange type, unless linear cells are preferred. More programs know linear types, but
/// `VTK_WEDGE` has no settled orientation (see `linear`).
fn lagrange_type(shape: Shape, order: usize) -> Option<CellType> {
    match shape {
        Shape::Prism => Some(CellType::LagrangeWedge),
        _ if order == 1 => None,
        Shape::Line => Some(CellType::LagrangeCurve),
        Shape::Triangle => Some(CellType::LagrangeTriangle),
        Shape::Quadrilateral => Some(CellType::LagrangeQuadrilateral),
        Shape::Tetrahedron => Some(CellType::LagrangeTetrahedron),
        Shape::Hexahedron => Some(CellType::LagrangeHexahedron),
        Shape::Pyramid => None,
    }
}
