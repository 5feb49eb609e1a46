//! The product `A u` for affine simplices with constant coefficients.

use super::{Scratch, Sipdg, Work, fetch};
use crate::elliptic::bernstein::passes;
use crate::elliptic::bernstein::passes::{BernsteinPublish, BernsteinTest};
use crate::elliptic::bernstein::{Bernstein, TOGETHER};
use crate::elliptic::reflections;
use crate::elliptic::reflections::{Expand, Symmetrise};
use crate::elliptic::schedule::Publication;
use crate::elliptic::simplex;
use crate::elliptic::simplex::{Divergence, Jumps, Simplex};
use crate::lanes::simd::PackScalar;
use crate::rhs::matrix_kernels;
use crate::rhs::matrix_kernels::MultiplyAdd;
use crate::rhs::residual::multiply;

impl<T: PackScalar> Sipdg<T> {
    /// Computes `A u` of one run in Bernstein form.
    pub(super) fn apply_bernstein(&self, g: usize, form: &Bernstein<T>, run: usize, u: &[T], au: &mut [T]) {
        let (group, o) = (&self.space.groups[g], &self.operators[g][0]);
        let len = group.state.block_len();
        let size = o.published_len(&group.trace) * TOGETHER;
        let first = run * form.schedule().len;
        let plan = &form.schedule().runs[run];
        let mut scratch = self.scratch();
        let Scratch { published, work, .. } = &mut *scratch;
        let work = &mut work.columns[..];
        let end = first + au.len() / len;
        let of_blocks = |blocks: std::ops::Range<usize>| {
            &u[group.offset + blocks.start * len..group.offset + blocks.end * len]
        };
        let values_of =
            |p: &Publication<TOGETHER>| p.blocks.map(|block| of_blocks(block as usize..block as usize + 1));
        let faces_of =
            |p: &Publication<TOGETHER>| p.blocks.map(|block| o.face_of(block as usize - o.first_block));
        let foreign = &self.foreign[g];
        let mut done = 0;
        for (i, test) in plan.tests.iter().enumerate() {
            if self.is_idle(g, first + i * TOGETHER..end) {
                au[i * TOGETHER * len..].fill(T::ZERO);
                return;
            }
            for j in done..test.after as usize {
                let now = &plan.publications[j];
                let next = plan.publications.get(j + 1).unwrap_or(now);
                let place = now.place as usize;
                let publish = BernsteinPublish {
                    by: form,
                    u: values_of(now),
                    faces: faces_of(now),
                    wanted: now.wanted,
                    next: values_of(next),
                    next_faces: faces_of(next),
                    work: &mut *work,
                    out: &mut published[place * size..(place + 1) * size],
                };
                passes::bernstein_publish(self.level, publish);
            }
            done = test.after as usize;
            let begin = first + i * TOGETHER;
            let blocks = begin..(begin + TOGETHER).min(end);
            let (own, later) = au[i * TOGETHER * len..].split_at_mut(len * blocks.len());
            let within = blocks.start - o.first_block..blocks.end - o.first_block;
            let ahead = within.end..(within.end + TOGETHER).min(o.n_blocks);
            let block = std::array::from_fn(|k| (begin + k).min(blocks.end - 1));
            let test = BernsteinTest {
                by: form,
                u: of_blocks(blocks.clone()),
                published: &published[..],
                own: test.place as usize,
                crossings: block.map(|block| form.crossings_of(block)),
                foreign: block.map(|block| foreign.of(block)),
                robin: block.map(|block| foreign.robin_of(block)),
                faces: o.faces_of(within.clone()),
                shares: o.shares_of(within.clone()),
                metric: o.metrics_of(within),
                next: &later[..later.len().min(TOGETHER * len)],
                next_metric: o.metrics_of(ahead),
                work: &mut *work,
                out: own,
            };
            passes::bernstein_test(self.level, test);
            for (k, block) in blocks.enumerate() {
                self.pad(g, block, of_blocks(block..block + 1), &mut own[k * len..(k + 1) * len]);
            }
        }
    }

    /// Computes `A u` of a block of affine simplices from the values and derivatives at points across the
    /// faces.
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
        simplex::jumps(level, Jumps { faces: coefficients, minus, plus, out: sides });
        multiply(level, 1, &simplex.lift, &sides[surface..], between, faces);
        let values: &[T] = if o.n_values > 0 {
            reflections::symmetrise(level, Symmetrise { by: &simplex.reflections, u, out: nodes });
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
        simplex::divergence(
            level,
            Divergence { frames, faces: rows, metric, gradient, lifted: faces, values, out },
        );
        multiply(level, 1, &simplex.test, columns, between, nodes);
        reflections::expand(level, Expand { by: &simplex.reflections, from: nodes, u: au });
        matrix_kernels::multiply_add(
            level,
            MultiplyAdd { fields: 1, a: &simplex.surface, b: sides, out: au },
        );
    }
}
