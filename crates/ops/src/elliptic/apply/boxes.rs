//! `A u` of groups that are all boxes, in one pass: each block reads the nodes of its neighbours.

use super::{NEXT, Work, fetch};
use crate::elliptic::Sipdg;
use crate::elliptic::lines::boxes::{LineNeighbours, LineStiffness};
use crate::elliptic::lines::{LineTraces, Lines};
use crate::pointwise::NeighbourStates;
use crate::simd::PackScalar;
use dgsuite_gpu::Buffer;

impl<T: PackScalar> Sipdg<T> {
    /// The lines of a group that is all boxes.
    pub(in crate::elliptic) fn boxes(&self, g: usize) -> Option<&Lines<T>> {
        self.operators[g][0].lines.as_ref().filter(|_| self.windows[g].halo.is_empty())
    }

    /// A group of boxes, some blocks from `first` on: each reads the nodes of its neighbours.
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
        for i in 0..au.len() / len {
            let (au, au_next) = au[i * len..].split_at_mut(len);
            let au_next = &au_next[..len.min(au_next.len())];
            let block = first + i;
            let own = &u[block * len..(block + 1) * len];
            self.fetch_ahead(g, block + NEXT, u);
            fetch(au_next);
            let across = NeighbourStates {
                source: u,
                block_len: len,
                sources: &n.sources,
                first: &n.first_source[block * n_faces..=(block + 1) * n_faces],
                tables: &n.point_tables,
            };
            let to_mend = self.mends[g].has(block);
            for direction in 0..self.space.problem.mesh.dim {
                let (table_len, coefficients, out) = (n.table_len, o.box_of(block), &mut plus[..]);
                T::line_neighbours(
                    self.level,
                    LineNeighbours { lines, direction, offsets, across, table_len, coefficients, out },
                );
                if to_mend {
                    let (faces, wanted) = (Some(self.faces(g, o, block)), lines.faces_across(direction));
                    T::line_traces(self.level, LineTraces { lines, u: own, faces, wanted, out: minus });
                    self.mend(g, block, wanted, (minus, published), plus);
                    self.add_robin(g, block, wanted, minus, &mut plus[trace..]);
                }
                self.test_lines(g, block, (lines, direction), own, plus, au);
            }
            self.pad(g, block, own, au);
        }
    }

    /// Fetch a block of boxes, and those of its neighbours that come later and have not been read much.
    fn fetch_ahead(&self, g: usize, block: usize, u: &[T]) {
        let (group, n) = (&self.space.groups[g], &self.space.connectivity.neighbours[g]);
        if block >= group.state.blocks {
            return;
        }
        let len = group.state.block_len();
        fetch(&u[block * len..(block + 1) * len]);
        fetch(self.operator(g, block).box_of(block));
        let n_faces = group.face_offsets.len() - 1;
        let first = &n.first_source[block * n_faces..=(block + 1) * n_faces];
        for s in &n.sources[first[0] as usize..first[n_faces] as usize] {
            let other = s.block as usize;
            if other > block {
                fetch(&u[other * len..(other + 1) * len]);
            }
        }
    }

    /// One direction of a block of boxes, from what lies across its faces.
    pub(super) fn test_lines(
        &self,
        g: usize,
        block: usize,
        (lines, direction): (&Lines<T>, usize),
        u: &[T],
        plus: &[T],
        out: &mut [T],
    ) {
        let o = self.operator(g, block);
        let (values, coefficients) = (o.n_values > 0, o.box_of(block));
        T::line_stiffness(self.level, LineStiffness { lines, direction, values, u, coefficients, plus, out });
    }
}
