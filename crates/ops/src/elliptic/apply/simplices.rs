//! `A u` of affine simplices with constant coefficients.

use super::{NEXT, Scratch, Sipdg, Work, fetch};
use crate::elliptic::bernstein::Bernstein;
use crate::elliptic::bernstein::kernels::{BernsteinPublish, BernsteinTest};
use crate::elliptic::reflections::{Expand, Symmetrise};
use crate::elliptic::simplex::{Divergence, Jumps, Simplex};
use crate::kernels::MultiplyAdd;
use crate::residual::multiply;
use crate::simd::PackScalar;

impl<T: PackScalar> Sipdg<T> {
    /// `A u` of the run of one window, in Bernstein form.
    pub(super) fn apply_bernstein(
        &self,
        g: usize,
        form: &Bernstein<T>,
        window: usize,
        u: &[T],
        au: &mut [T],
    ) {
        let (group, o, windows) = (&self.space.groups[g], &self.operators[g][0], &self.windows[g]);
        let len = group.state.block_len();
        let size = o.published_len(&group.trace);
        let first = window * windows.run;
        let mut scratch = self.scratch();
        let Scratch { window: local, work, .. } = &mut *scratch;
        let n = au.len() / len;
        let n_faces = group.face_offsets.len() - 1;
        let halo = &windows.halo[window];
        let block_at =
            |i: usize| if i < n { (first + i, u8::MAX) } else { (halo[i - n].0 as usize, halo[i - n].1) };
        let of_block = |block: usize| &u[group.offset + block * len..group.offset + (block + 1) * len];
        let count = n + halo.len();
        for (i, out) in local.chunks_exact_mut(size).take(count).enumerate() {
            if i + NEXT < count {
                let (next, wanted) = block_at(i + NEXT);
                fetch(of_block(next));
                let faces = o.face_of(next - o.first_block);
                let size = faces.len() / n_faces;
                faces
                    .chunks_exact(size)
                    .enumerate()
                    .filter(|(f, _)| wanted >> f & 1 == 1)
                    .for_each(|(_, f)| fetch(f));
            }
            let (block, wanted) = block_at(i);
            let (u, faces, work) = (of_block(block), o.face_of(block - o.first_block), &mut work.columns[..]);
            let publish = BernsteinPublish { by: form, u, faces, wanted, work, out };
            T::bernstein_publish(self.level, publish);
        }
        let (neighbours, mends) = (&self.space.connectivity.neighbours[g], &self.mends[g]);
        for i in 0..n {
            let block = first + i;
            let (own, later) = au[i * len..].split_at_mut(len);
            fetch(&later[..len.min(later.len())]);
            if i + NEXT < n {
                fetch(o.face_of(block + NEXT - o.first_block));
            }
            if let Some(next) = o.metric_ahead(block - o.first_block) {
                fetch(next);
            }
            let sources = &neighbours.first_source[block * n_faces..=(block + 1) * n_faces];
            let test = BernsteinTest {
                by: form,
                u: of_block(block),
                own: &local[i * size..(i + 1) * size],
                across: BernsteinTest::neighbours(form, &local[..], size, (&neighbours.sources, sources)),
                mends: mends.of(block),
                robin: mends.robin_of(block),
                faces: o.face_of(block - o.first_block),
                metric: o.metric_of(block - o.first_block),
                work: &mut work.columns,
                out: own,
            };
            T::bernstein_test(self.level, test);
            self.pad(g, block, of_block(block), own);
        }
    }

    /// `A u` of a block of affine simplices from what lies across the faces, with values and derivatives at points.
    pub(super) fn test_simplex(
        &self,
        g: usize,
        block: usize,
        simplex: &Simplex<T>,
        (u, minus, gradient): (&[T], &[T], &[T]),
        scratch: &mut Work<T>,
        au: &mut [T],
    ) {
        let (group, o, level) = (&self.space.groups[g], self.operator(g, block), self.level);
        let Work { columns, plus, between, nodes, faces, .. } = scratch;
        let (surface, jumps) = (group.trace.block_len(), simplex.test.cols() * group.state.lanes);
        let (columns, sides) = columns.split_at_mut(jumps);
        let coefficients = self.faces(g, o, block);
        T::jumps(level, Jumps { faces: coefficients, minus, plus, out: sides });
        multiply(level, 1, &simplex.lift, &sides[surface..], between, faces);
        let values: &[T] = if o.n_values > 0 {
            T::symmetrise(level, Symmetrise { by: &simplex.reflections, u, out: nodes });
            &nodes[..group.state.block_len()]
        } else {
            &[]
        };
        let metric = o.metric_of(block - o.first_block);
        if let Some(next) = o.metric_ahead(block - o.first_block) {
            fetch(next);
        }
        let (frames, rows) = (&simplex.frames, coefficients.rows);
        let out = &mut *columns;
        T::divergence(
            level,
            Divergence { frames, faces: rows, metric, gradient, lifted: faces, values, out },
        );
        multiply(level, 1, &simplex.test, columns, between, nodes);
        T::expand(level, Expand { by: &simplex.reflections, from: nodes, u: au });
        T::multiply_add(level, MultiplyAdd { fields: 1, a: &simplex.surface, b: sides, out: au });
    }
}
