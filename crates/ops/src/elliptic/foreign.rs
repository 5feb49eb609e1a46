//! Foreign lanes of the elliptic operator: sides at boundaries or to elements of other groups.
//!
//! The gather of a block reads neighbours within its group. The values of the remaining lanes are replaced
//! afterwards by those listed here.

use super::EllipticBoundary;
use super::space::{Beyond, Space};
use crate::lanes::simd::PackScalar;

/// A lane whose neighbour is not in its group, and the origin of its values.
pub(super) struct ForeignLane<T> {
    pub(super) face: u8,
    pub(super) lane: u8,
    pub(super) from: From<T>,
}

/// The origin of the values across such a face.
pub(super) enum From<T> {
    /// The element's own values times ±1 (boundary).
    Ghost { sign: T },
    /// Another group: offset of the lane's first published value, and the code of its table.
    Group { group: u8, first: usize, code: u8 },
}

/// The factors `α sJ` of `u` at the points of a Robin boundary, `κ ∂u/∂n + α u = g`, which are added to the
/// face terms.
pub(super) struct Robin<T> {
    pub(super) face: u8,
    pub(super) lane: u8,
    /// One factor for each point.
    pub(super) rows: Vec<T>,
}

/// The foreign lanes and Robin boundaries of each block of a group.
pub(super) struct ForeignLanes<T> {
    pub(super) first: Vec<u32>,
    pub(super) foreign: Vec<ForeignLane<T>>,
    pub(super) first_robin: Vec<u32>,
    pub(super) robin: Vec<Robin<T>>,
}

impl<T: PackScalar> ForeignLanes<T> {
    pub(super) fn new(space: &Space<T>, g: usize) -> Self {
        let group = &space.groups[g];
        let lanes = group.state.lanes;
        let mut out = Self { first: vec![0], foreign: Vec::new(), first_robin: vec![0], robin: Vec::new() };
        for block in 0..group.state.blocks {
            for fix in space.connectivity.neighbours[g].fixes_of(block) {
                let element = group.elements[block * lanes + fix.lane as usize] as usize;
                let face = fix.face as usize;
                let from = match space.across(element, face) {
                    Beyond::Element { side, orientation } => {
                        let (other, slot) = space.place[side.element as usize];
                        let theirs = &space.groups[other as usize];
                        let len = 2 * theirs.trace.block_len();
                        let (block, lane) =
                            (slot as usize / theirs.state.lanes, slot as usize % theirs.state.lanes);
                        let code = side.face * crate::space::connect::ORIENTATIONS as u8 + orientation;
                        From::Group { group: other, first: block * len + lane, code }
                    }
                    Beyond::Boundary(b) => {
                        let condition = space.problem.boundary(b);
                        if let EllipticBoundary::Robin { alpha } = condition {
                            let terms = space.terms(element);
                            let reference = &space.tables_of(element).reference;
                            let range = reference.face_offsets[face]..reference.face_offsets[face + 1];
                            let rows = range
                                .map(|q| {
                                    T::from_f64(alpha * terms.face[q].weight / reference.face_weights[q])
                                })
                                .collect();
                            out.robin.push(Robin { face: fix.face, lane: fix.lane, rows });
                        }
                        // A Dirichlet ghost has the opposite values, other ghosts the same values.
                        let dirichlet = matches!(condition, EllipticBoundary::Dirichlet);
                        From::Ghost { sign: if dirichlet { T::ZERO - T::ONE } else { T::ONE } }
                    }
                };
                out.foreign.push(ForeignLane { face: fix.face, lane: fix.lane, from });
            }
            out.first.push(out.foreign.len() as u32);
            out.first_robin.push(out.robin.len() as u32);
        }
        out
    }

    /// The foreign lanes of a block.
    pub(super) fn of(&self, block: usize) -> &[ForeignLane<T>] {
        &self.foreign[self.first[block] as usize..self.first[block + 1] as usize]
    }

    /// The Robin boundaries of a block.
    pub(super) fn robin_of(&self, block: usize) -> &[Robin<T>] {
        &self.robin[self.first_robin[block] as usize..self.first_robin[block + 1] as usize]
    }

    /// Whether a block has any foreign lanes.
    pub(super) fn has(&self, block: usize) -> bool {
        self.first[block] < self.first[block + 1] || self.first_robin[block] < self.first_robin[block + 1]
    }

    /// Whether a side of this group has its neighbour in another group.
    pub(super) fn meets_others(&self) -> bool {
        self.foreign.iter().any(|m| matches!(m.from, From::Group { .. }))
    }

    /// Groups and blocks from which foreign lanes of this group read.
    pub(super) fn read_blocks<'a>(
        &'a self,
        space: &'a Space<T>,
    ) -> impl Iterator<Item = (usize, usize)> + 'a {
        self.foreign.iter().filter_map(|m| match m.from {
            From::Group { group, first, .. } => {
                let size = 2 * space.groups[group as usize].trace.block_len();
                Some((group as usize, first / size))
            }
            From::Ghost { .. } => None,
        })
    }
}
