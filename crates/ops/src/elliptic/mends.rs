//! Lanes whose neighbours are not in their group: boundaries and other shapes.

use super::EllipticBoundary;
use super::space::{Beyond, Space};
use crate::simd::PackScalar;

/// A lane whose neighbour is not in its group: what stands in for the values gathered.
pub(super) struct Mend<T> {
    pub(super) face: u8,
    pub(super) lane: u8,
    pub(super) from: From<T>,
}

/// Where the values across such a face come from.
pub(super) enum From<T> {
    /// The own values times ±1.
    Ghost { sign: T },
    /// Another group: the lane's first published value, and the code of its table.
    Group { group: u8, first: usize, code: u8 },
}

/// `α κ`-weighted values of a Robin boundary, added behind the face terms.
pub(super) struct Robin<T> {
    pub(super) face: u8,
    pub(super) lane: u8,
    /// A value for each point.
    pub(super) rows: Vec<T>,
}

/// Lanes of each block to be mended.
pub(super) struct Mends<T> {
    pub(super) first: Vec<u32>,
    pub(super) mends: Vec<Mend<T>>,
    pub(super) first_robin: Vec<u32>,
    pub(super) robin: Vec<Robin<T>>,
}

impl<T: PackScalar> Mends<T> {
    pub(super) fn new(space: &Space<T>, g: usize) -> Self {
        let group = &space.groups[g];
        let lanes = group.state.lanes;
        let mut out = Self { first: vec![0], mends: Vec::new(), first_robin: vec![0], robin: Vec::new() };
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
                        let code = side.face * crate::connect::ORIENTATIONS as u8 + orientation;
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
                        // A Dirichlet ghost mirrors the values, the others repeat them.
                        let dirichlet = matches!(condition, EllipticBoundary::Dirichlet);
                        From::Ghost { sign: if dirichlet { T::ZERO - T::ONE } else { T::ONE } }
                    }
                };
                out.mends.push(Mend { face: fix.face, lane: fix.lane, from });
            }
            out.first.push(out.mends.len() as u32);
            out.first_robin.push(out.robin.len() as u32);
        }
        out
    }

    /// Those of a block.
    pub(super) fn of(&self, block: usize) -> &[Mend<T>] {
        &self.mends[self.first[block] as usize..self.first[block + 1] as usize]
    }

    /// Robin boundaries of a block.
    pub(super) fn robin_of(&self, block: usize) -> &[Robin<T>] {
        &self.robin[self.first_robin[block] as usize..self.first_robin[block + 1] as usize]
    }

    /// Whether a block has any.
    pub(super) fn has(&self, block: usize) -> bool {
        self.first[block] < self.first[block + 1] || self.first_robin[block] < self.first_robin[block + 1]
    }

    /// Groups and blocks that the group reads through its mends.
    pub(super) fn read_blocks<'a>(
        &'a self,
        space: &'a Space<T>,
    ) -> impl Iterator<Item = (usize, usize)> + 'a {
        self.mends.iter().filter_map(|m| match m.from {
            From::Group { group, first, .. } => {
                let size = 2 * space.groups[group as usize].trace.block_len();
                Some((group as usize, first / size))
            }
            From::Ghost { .. } => None,
        })
    }
}
