//! `A u` of affine simplices with constant coefficients.

use super::{Scratch, Sipdg, Work, fetch};
use crate::elliptic::bernstein::kernels::{BernsteinPublish, BernsteinTest};
use crate::elliptic::bernstein::{Bernstein, TOGETHER};
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
        let size = o.published_len(&group.trace) * TOGETHER;
        let first = window * windows.run;
        let mut scratch = self.scratch();
        let Scratch { window: local, work, .. } = &mut *scratch;
        let work = &mut work.columns[..];
        let n = au.len() / len;
        let halo = &windows.halo[window];
        let of_blocks = |blocks: std::ops::Range<usize>| {
            &u[group.offset + blocks.start * len..group.offset + blocks.end * len]
        };
        // The run, then the halo, a few blocks together; where there are fewer the last stands in for the others.
        let of_run = n.div_ceil(TOGETHER);
        let count = of_run + halo.len().div_ceil(TOGETHER);
        let block_at = |i: usize, k: usize| {
            if i < of_run {
                (first + (i * TOGETHER + k).min(n - 1), u8::MAX)
            } else {
                let (block, wanted) = halo[((i - of_run) * TOGETHER + k).min(halo.len() - 1)];
                (block as usize, wanted)
            }
        };
        let values_at = |i: usize| {
            std::array::from_fn(|k| {
                let block = block_at(i.min(count - 1), k).0;
                of_blocks(block..block + 1)
            })
        };
        let faces_at = |i: usize| {
            std::array::from_fn(|k| {
                let block = block_at(i.min(count - 1), k).0 - o.first_block;
                o.face_of(block)
            })
        };
        let (mut values, mut faces): ([&[T]; TOGETHER], [&[T]; TOGETHER]) = (values_at(0), faces_at(0));
        for (i, out) in local.chunks_exact_mut(size).take(count).enumerate() {
            let (next, next_faces) = (values_at(i + 1), faces_at(i + 1));
            let wanted = (0..TOGETHER).fold(0, |bits, k| bits | block_at(i, k).1);
            let publish =
                BernsteinPublish { by: form, u: values, faces, wanted, next, next_faces, work, out };
            T::bernstein_publish(self.level, publish);
            (values, faces) = (next, next_faces);
        }
        let mends = &self.mends[g];
        for i in 0..of_run {
            let begin = first + i * TOGETHER;
            let blocks = begin..(begin + TOGETHER).min(first + n);
            let (own, later) = au[i * TOGETHER * len..].split_at_mut(len * blocks.len());
            let within = blocks.start - o.first_block..blocks.end - o.first_block;
            let ahead = within.end..(within.end + TOGETHER).min(o.n_blocks);
            let test = BernsteinTest {
                by: form,
                u: of_blocks(blocks.clone()),
                window: &local[..],
                own: i,
                crossings: std::array::from_fn(|k| form.crossings_of((begin + k).min(blocks.end - 1))),
                mends: std::array::from_fn(|k| mends.of((begin + k).min(blocks.end - 1))),
                robin: std::array::from_fn(|k| mends.robin_of((begin + k).min(blocks.end - 1))),
                faces: o.faces_of(within.clone()),
                shares: o.shares_of(within.clone()),
                metric: o.metrics_of(within),
                next: &later[..later.len().min(TOGETHER * len)],
                next_metric: o.metrics_of(ahead),
                work: &mut *work,
                out: own,
            };
            T::bernstein_test(self.level, test);
            for (k, block) in blocks.enumerate() {
                self.pad(g, block, of_blocks(block..block + 1), &mut own[k * len..(k + 1) * len]);
            }
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
