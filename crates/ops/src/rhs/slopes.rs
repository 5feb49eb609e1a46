//! Operators of the gradients at the points of a boundary.

use crate::lanes::simd::PackScalar;
use crate::space::group::Group;
use dgsuite_basis::Matrix;

/// Time-independent data from which gradients at the points of one boundary are computed.
pub(crate) struct BoundarySlopes {
    /// `∂φ_i/∂r_d` at the face points of the parts that the boundary touches, with their group and first
    /// block.
    pub(crate) parts: Vec<(usize, usize, Vec<Matrix>)>,
    /// Distance of the points from the first nodes of the solution above them, or from the state of a wall
    /// model: the thickness of the element over p + 1, or the height.
    pub(crate) distances: Vec<f64>,
    /// Unit normals at the points of the boundary.
    pub(crate) normals: Vec<[f64; 3]>,
    /// `∇r_d` at the points of the boundary.
    pub(crate) metric: Vec<[[f64; 3]; 3]>,
}

impl BoundarySlopes {
    /// The derivatives at the face points of the part of an element.
    pub(crate) fn of<T: PackScalar>(&self, g: usize, group: &Group<T>, slot: usize) -> &[Matrix] {
        let first = group.part_of(slot / group.state.lanes).first_block;
        let found = self.parts.iter().find(|(of, block, _)| (*of, *block) == (g, first));
        found.map_or(&[], |(.., slopes)| slopes)
    }
}
