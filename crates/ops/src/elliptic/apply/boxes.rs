//! The product `A u` for groups of rectangles or boxes, in one pass that reads the nodes of neighbours.
//!
//! Blocks whose lanes all have neighbours in the group, or in the block itself, gather and test in one
//! kernel, several blocks at a time. For blocks with foreign lanes, the gathered values are corrected between
//! the two steps.

use super::Work;
use crate::elliptic::Sipdg;
use crate::elliptic::lines;
use crate::elliptic::lines::boxes::blocks;
use crate::elliptic::lines::boxes::blocks::{Around, LineBlocks};
use crate::elliptic::lines::{LineTraces, Lines};
use crate::formulas::pointwise::NeighbourStates;
use crate::lanes::simd::PackScalar;
use dgsuite_gpu::Buffer;

impl<T: PackScalar> Sipdg<T> {
    /// The lines of a group that consists of boxes only.
    pub(in crate::elliptic) fn boxes(&self, g: usize) -> Option<&Lines<T>> {
        self.operators[g][0].lines.as_ref().filter(|_| self.schedules[g].runs.is_empty())
    }

    /// Computes `A u` of some blocks of boxes, from block `first` on; each reads the nodes of its neighbours.
    pub(super) fn apply_boxes(
        &self,
        g: usize,
        (first, lines): (usize, &Lines<T>),
        u: &[T],
        published: &[Buffer<T>],
        au: &mut [T],
    ) {
        let (group, n) = (&self.space.groups[g], &self.space.connectivity.neighbours[g]);
        let (o, offsets) = (self.operator(g, first), &group.face_offsets);
        let (len, trace, n_faces) = (group.state.block_len(), group.trace.block_len(), offsets.len() - 1);
        let u = &u[group.offset..group.offset + group.state.len()];
        let mut scratch = self.scratch();
        let Work { columns: minus, plus, .. } = &mut scratch.work;
        let dim = self.space.problem.mesh.dim;
        let blocks = first..first + au.len() / len;
        let mut begin = blocks.start;
        while begin < blocks.end {
            if self.is_idle(g, begin..blocks.end) {
                au[(begin - first) * len..].fill(T::ZERO);
                return;
            }
            // Blocks without foreign lanes are processed together.
            let has_foreign = self.foreign[g].has(begin);
            let end = if has_foreign {
                begin + 1
            } else {
                (begin..blocks.end).find(|b| self.foreign[g].has(*b)).unwrap_or(blocks.end)
            };
            let au = &mut au[(begin - first) * len..(end - first) * len];
            let own = &u[begin * len..end * len];
            let across = NeighbourStates {
                values: u,
                block_len: len,
                donors: &n.donors,
                first: &n.first_donor[begin * n_faces..=end * n_faces],
                tables: &n.point_tables,
            };
            let around = Around {
                across,
                table_len: n.table_len,
                offsets,
                straight: &o.straight,
                block: begin,
                ahead: &o.ahead,
            };
            let coefficients = o.boxes_of(begin..end);
            let values = o.n_values > 0;
            let work = |directions, gather, test, plus: &mut [T], out: &mut [T]| {
                let around = Some(around);
                blocks::line_blocks(
                    self.level,
                    LineBlocks {
                        lines,
                        directions,
                        values,
                        u: own,
                        coefficients,
                        around,
                        gather,
                        test,
                        plus,
                        out,
                    },
                );
            };
            if has_foreign {
                for d in 0..dim {
                    work(d..d + 1, true, false, plus, au);
                    let (faces, wanted) = (Some(self.faces(g, o, begin)), lines.faces_across(d));
                    lines::line_traces(self.level, LineTraces { lines, u: own, faces, wanted, out: minus });
                    self.replace_foreign(g, begin, wanted, (minus, published), plus);
                    self.add_robin(g, begin, wanted, minus, &mut plus[trace..]);
                    work(d..d + 1, false, true, plus, au);
                }
            } else {
                work(0..dim, true, true, plus, au);
            }
            self.pad(g, end - 1, &own[own.len() - len..], &mut au[own.len() - len..]);
            begin = end;
        }
    }

    /// Number of donors whose nodes are read, without those that the block's own lines lead to.
    pub(in crate::elliptic) fn donors_across(&self, g: usize) -> usize {
        let (n, straight) = (&self.space.connectivity.neighbours[g], &self.operators[g][0].straight);
        let of_face = |(i, w): (usize, &[u32])| {
            let (block, face) = (i / straight.len(), i % straight.len());
            let donors = n.donors[w[0] as usize..w[1] as usize].iter();
            donors.filter(|s| s.block as usize != block || s.table != straight[face]).count()
        };
        n.first_donor.windows(2).enumerate().map(of_face).sum()
    }

    /// Computes `A u` of a block of boxes from the values across its faces.
    pub(super) fn test_lines(
        &self,
        g: usize,
        block: usize,
        lines: &Lines<T>,
        u: &[T],
        plus: &mut [T],
        out: &mut [T],
    ) {
        let o = self.operator(g, block);
        let (values, coefficients, directions) =
            (o.n_values > 0, o.boxes_of(block..block + 1), 0..self.space.problem.mesh.dim);
        blocks::line_blocks(
            self.level,
            LineBlocks {
                lines,
                directions,
                values,
                u,
                coefficients,
                around: None,
                gather: false,
                test: true,
                plus,
                out,
            },
        );
    }
}
