//! The product `A u`, matrix-free, in two passes over runs of blocks.
//!
//! The first pass computes and stores (*publishes*) what neighbours read: values and conormal derivatives
//! `p = κ_f n·∇u` at the face points. The second pass computes `F_d = κ J Σ_e (∇r_d·∇r_e) ∂u/∂r_e`, gathers
//! the published values of the neighbours, and tests everything in one product,
//! `A u = [B_0ᵀ | … | I_fᵀ | Nᵀ] (F_0, …, y, z)ᵀ`.

mod boxes;
mod simplices;

use super::Sipdg;
use super::bernstein::TOGETHER;
use super::foreign::From;
use super::lines::{LineGradient, LineTest, LineTraces};
use super::part::PartOperator;
use super::point_kernels::{Conduct, Conormal, FaceCoefficients, FaceTerms, GatherPair};
use super::reflections::Symmetrise;
use super::schedule::{Publication, Schedule};
use super::simplex::{FaceFluxes, Simplex};
use crate::elliptic::lines;
use crate::elliptic::point_kernels;
use crate::elliptic::reflections;
use crate::elliptic::simplex;
use crate::error::OpsError;
use crate::formulas::pointwise::NeighbourStates;
use crate::lanes::simd::PackScalar;
use crate::lock::lock;
use crate::rhs::matrix_kernels;
use crate::rhs::matrix_kernels::MultiplyAdd;
use crate::rhs::residual::{multiply, prefetch};
use crate::space::group::Group;
use dgsuite_gpu::{Buffer, Element};
use rayon::prelude::*;

/// Number of blocks in one task of a parallel loop.
const CHUNK: usize = 16;

/// The values of the block this many blocks ahead are prefetched.
const NEXT: usize = 2;

/// Work space of one thread.
pub(super) struct Scratch<T: Element> {
    /// Published values of blocks, `[place][u, p][face point][lane]`, followed by the length of one trace.
    published: Buffer<T>,
    /// Gradients of the blocks at the same places, for simplices.
    gradients: Buffer<T>,
    work: Work<T>,
}

/// Work space of one block.
struct Work<T: Element> {
    /// `F_0 …`, values, `y`, `z`.
    columns: Buffer<T>,
    /// `u⁺`, then `p⁺`.
    plus: Buffer<T>,
    tangential: Buffer<T>,
    between: [Buffer<T>; 2],
    /// For simplices: sums and differences of nodal values, and intermediate results between faces and modes.
    nodes: Buffer<T>,
    faces: Buffer<T>,
}

impl<T: PackScalar> Scratch<T> {
    pub(super) fn new(
        groups: &[Group<T>],
        operators: &[Vec<PartOperator<T>>],
        schedules: &[Schedule<1>],
    ) -> Result<Self, OpsError> {
        let (mut columns, mut plus, mut tangential) = (0, 0, 0);
        let (mut gradients, mut nodes, mut faces) = (0, 0, 0);
        for ((group, parts), schedule) in groups.iter().zip(operators).zip(schedules) {
            let lanes = group.state.lanes;
            plus = plus.max(2 * group.trace.rows * lanes);
            for o in parts {
                columns = columns.max(o.columns() * lanes);
                tangential = tangential.max(o.tangential.rows() * lanes);
                if let Some(s) = &o.simplex {
                    gradients = gradients.max(schedule.places * s.gradient_rows() * lanes);
                    nodes = nodes.max(group.state.rows * lanes);
                    faces = faces.max(s.face_rows() * lanes);
                }
            }
        }
        let room = |((g, o), s): ((&Group<T>, &Vec<PartOperator<T>>), &Schedule<1>)| {
            let places = o[0].bernstein.as_ref().map_or(s.places, |b| b.schedule().places * TOGETHER);
            places * o[0].published_len(&g.trace) + g.trace.block_len()
        };
        let zeros = Buffer::<T>::zeros;
        Ok(Self {
            published: zeros(groups.iter().zip(operators).zip(schedules).map(room).max().unwrap_or(0))?,
            gradients: zeros(gradients)?,
            work: Work {
                columns: zeros(columns)?,
                plus: zeros(plus)?,
                tangential: zeros(tangential)?,
                between: [zeros(0)?, zeros(0)?],
                nodes: zeros(nodes)?,
                faces: zeros(faces)?,
            },
        })
    }
}

/// Prefetches the values that a later block reads.
fn fetch<T: PackScalar>(values: &[T]) {
    values.iter().step_by(64 / T::BYTES).for_each(|v| prefetch(v));
}

impl<T: PackScalar> Sipdg<T> {
    /// `au ← A u`, with the matrix `A` of [`assemble`](Self::assemble). Padding is copied.
    ///
    /// The result is bitwise the same for any number of threads.
    ///
    /// # Panics
    /// If a vector does not have the length [`len`](Self::len).
    pub fn apply(&self, u: &[T], au: &mut [T]) {
        assert!(u.len() == self.len() && au.len() == self.len(), "vectors of {} entries", self.len());
        let mut guard = lock(&self.published);
        let published = &mut *guard;
        self.space.problem.host.install(|| {
            for (g, out) in published.iter_mut().enumerate() {
                self.publish_for_others(g, u, out);
            }
            let published = &published[..];
            let mut rest = &mut *au;
            for (g, group) in self.space.groups.iter().enumerate() {
                let (own, others) = rest.split_at_mut(group.state.len());
                rest = others;
                let len = group.state.block_len();
                if let Some(form) = &self.operators[g][0].bernstein {
                    own.par_chunks_mut(len * form.schedule().len).enumerate().for_each(|(run, au)| {
                        self.apply_bernstein(g, form, run, u, au);
                    });
                } else if let Some(lines) = self.boxes(g) {
                    own.par_chunks_mut(len * CHUNK).enumerate().for_each(|(chunk, au)| {
                        self.apply_boxes(g, (chunk * CHUNK, lines), u, published, au);
                    });
                } else {
                    own.par_chunks_mut(len * self.schedules[g].len).enumerate().for_each(|(run, au)| {
                        self.apply_run(g, run, u, published, au);
                    });
                }
            }
        });
        drop(guard);
        self.refresh(au);
    }

    /// Computes `A u` of one run; `others` holds the values that groups publish for each other.
    fn apply_run(&self, g: usize, run: usize, u: &[T], others: &[Buffer<T>], au: &mut [T]) {
        let group = &self.space.groups[g];
        let (len, size) = (group.state.block_len(), 2 * group.trace.block_len());
        let first = run * self.schedules[g].len;
        let blocks = first..first + au.len() / len;
        let plan = &self.schedules[g].runs[run];
        let mut scratch = self.scratch();
        let Scratch { published, gradients, work } = &mut *scratch;
        // Gradients are stored if they are needed again.
        let kept = |block: usize, place: usize| {
            let rows = self.operator(g, block).simplex.as_ref().map_or(0, Simplex::gradient_rows);
            let size = rows * group.state.lanes;
            if blocks.contains(&block) { place * size..(place + 1) * size } else { 0..0 }
        };
        let mut done = 0;
        for (i, test) in plan.tests.iter().enumerate() {
            if self.is_idle(g, first + i..blocks.end) {
                au[i * len..].fill(T::ZERO);
                return;
            }
            for j in done..test.after as usize {
                if let Some(next) = plan.publications.get(j + NEXT) {
                    let begin = group.offset + next.blocks[0] as usize * len;
                    fetch(&u[begin..begin + len]);
                }
                let Publication { blocks: [block], wanted, place } = plan.publications[j];
                let (block, place) = (block as usize, place as usize);
                let gradient = &mut gradients[kept(block, place)];
                let out = &mut published[place * size..(place + 1) * size];
                self.publish_block(g, (block, wanted), u, work, gradient, out);
            }
            done = test.after as usize;
            let place = test.place as usize;
            let gradient = &gradients[kept(first + i, place)];
            let (own, later) = au[i * len..].split_at_mut(len);
            fetch(&later[..len.min(later.len())]);
            self.test_block(g, first + i, u, (published, place, gradient), others, work, own);
        }
    }

    /// Whether the results of all of some blocks come from other ranks.
    fn is_idle(&self, g: usize, mut blocks: std::ops::Range<usize>) -> bool {
        self.idle.get(g).is_some_and(|idle| blocks.all(|block| idle[block]))
    }

    fn scratch(&self) -> std::sync::MutexGuard<'_, Scratch<T>> {
        lock(&self.scratch[rayon::current_thread_index().unwrap_or(0) % self.scratch.len()])
    }

    fn operator(&self, g: usize, block: usize) -> &PartOperator<T> {
        let parts = &self.operators[g];
        &parts[parts.iter().rposition(|o| o.first_block <= block).unwrap_or(0)]
    }

    fn faces<'a>(&'a self, g: usize, o: &'a PartOperator<T>, block: usize) -> FaceCoefficients<'a, T> {
        FaceCoefficients {
            dim: self.space.problem.mesh.dim,
            offsets: &self.space.groups[g].face_offsets,
            per_point: o.per_point,
            rows: o.face_of(block - o.first_block),
        }
    }

    /// Publishes the values that other groups read of this group.
    fn publish_for_others(&self, g: usize, u: &[T], out: &mut Buffer<T>) {
        let size = 2 * self.space.groups[g].trace.block_len();
        out.par_chunks_mut(size * CHUNK).enumerate().for_each(|(chunk, out)| {
            let mut scratch = self.scratch();
            for (i, out) in out.chunks_exact_mut(size).enumerate() {
                if self.read_by_others[g][chunk * CHUNK + i] {
                    self.publish_block(g, (chunk * CHUNK + i, u8::MAX), u, &mut scratch.work, &mut [], out);
                }
            }
        });
    }

    /// Computes values and conormal derivatives of one block, at least at the faces whose bit is set in
    /// `wanted`; stores the gradient of simplices if `gradient` has memory for it.
    fn publish_block(
        &self,
        g: usize,
        (block, wanted): (usize, u8),
        u: &[T],
        scratch: &mut Work<T>,
        gradient: &mut [T],
        out: &mut [T],
    ) {
        let (group, o) = (&self.space.groups[g], self.operator(g, block));
        let len = group.state.block_len();
        let u = &u[group.offset + block * len..group.offset + (block + 1) * len];
        let Work { columns, tangential, between, nodes, faces, .. } = scratch;
        if let Some(next) = o.face_ahead(block - o.first_block) {
            fetch(next);
        }
        if let Some(s) = &o.simplex {
            reflections::symmetrise(self.level, Symmetrise { by: &s.reflections, u, out: nodes });
            let gradient = if gradient.is_empty() { &mut columns[..] } else { gradient };
            multiply(self.level, 1, &s.gradient, nodes, between, gradient);
            let coefficients = o.face_of(block - o.first_block);
            let fluxes = FaceFluxes { frames: &s.frames, faces: coefficients, gradient, out: faces };
            simplex::face_fluxes(self.level, fluxes);
            let (trace, p) = out.split_at_mut(group.trace.block_len());
            multiply(self.level, 1, &s.trace, u, between, trace);
            multiply(self.level, 1, &s.normal, faces, between, p);
            return;
        }
        match &o.lines {
            Some(lines) => {
                let faces = o.tangential.stages.is_empty().then(|| self.faces(g, o, block));
                lines::line_traces(self.level, LineTraces { lines, u, faces, wanted, out });
                if faces.is_some() {
                    return;
                }
            }
            None => multiply(self.level, 1, &o.publish, u, between, out),
        }
        let (trace, p) = out.split_at_mut(group.trace.block_len());
        let tangential: &[T] = if o.tangential.stages.is_empty() {
            &[]
        } else {
            multiply(self.level, 1, &o.tangential, trace, between, tangential);
            tangential
        };
        point_kernels::conormal(
            self.level,
            Conormal { faces: self.faces(g, o, block), tangential, wanted, p },
        );
    }

    /// Computes `A u` of one block.
    fn test_block(
        &self,
        g: usize,
        block: usize,
        u: &[T],
        (window, place, gradient): (&[T], usize, &[T]),
        published: &[Buffer<T>],
        scratch: &mut Work<T>,
        au: &mut [T],
    ) {
        let (group, o) = (&self.space.groups[g], self.operator(g, block));
        let len = group.state.block_len();
        let begin = group.offset + block * len;
        let u = &u[begin..begin + len];
        let trace = group.trace.block_len();
        let minus = &window[2 * trace * place..2 * trace * (place + 1)];
        self.gather(g, block, u8::MAX, (window, minus, published), &mut scratch.plus);
        match (&o.simplex, &o.lines) {
            (Some(simplex), _) => self.test_simplex(g, block, simplex, (u, minus, gradient), scratch, au),
            (_, Some(lines)) if o.rectangular => {
                self.test_lines(g, block, lines, u, &mut scratch.plus, au);
            }
            _ => self.test_chains(g, block, (u, minus), scratch, au),
        }
        self.pad(g, block, u, au);
    }

    /// As [`test_block`](Self::test_block), from the values across the faces, with the chains or along lines.
    fn test_chains(
        &self,
        g: usize,
        block: usize,
        (u, minus): (&[T], &[T]),
        scratch: &mut Work<T>,
        au: &mut [T],
    ) {
        let (group, o) = (&self.space.groups[g], self.operator(g, block));
        let lanes = group.state.lanes;
        let dim = self.space.problem.mesh.dim;
        let Work { columns, plus, tangential, between, .. } = scratch;
        let values = o.n_values > 0;
        let metric = o.metric_of(block - o.first_block);
        if let Some(next) = o.metric_ahead(block - o.first_block) {
            fetch(next);
        }
        match &o.lines {
            Some(lines) => lines::line_gradient(self.level, LineGradient { lines, values, u, out: columns }),
            None => multiply(self.level, 1, &o.gradient, u, between, columns),
        }
        let (n, n_values, per_point) = (o.n_points, o.n_values, o.per_point);
        point_kernels::conduct(self.level, Conduct { dim, n, n_values, per_point, metric, x: columns });

        let volume = (dim * n + n_values) * lanes;
        let surface = &mut columns[volume..];
        let faces = self.faces(g, o, block);
        let skew = !o.tangential.stages.is_empty();
        let along: &mut [T] = if skew { tangential } else { &mut [] };
        let terms = FaceTerms { faces, minus, plus, out: surface, tangential: along };
        point_kernels::face_terms(self.level, terms);
        if skew {
            let product = MultiplyAdd { fields: 1, a: &o.tangential_test, b: tangential, out: surface };
            matrix_kernels::multiply_add(self.level, product);
        }
        match &o.lines {
            Some(lines) => lines::line_test(self.level, LineTest { lines, values, columns, out: au }),
            None => multiply(self.level, 1, &o.test, columns, between, au),
        }
    }

    /// Robin boundaries add `α sJ u` to the terms that test values, `y = κ sJ τ j − ½ (p⁻ − p⁺)`. For this,
    /// the function adds twice that term to the conormal derivative `p⁺`.
    fn add_robin(&self, g: usize, block: usize, wanted: u8, minus: &[T], p: &mut [T]) {
        let (group, foreign) = (&self.space.groups[g], &self.foreign[g]);
        let lanes = group.state.lanes;
        for robin in foreign.robin_of(block).iter().filter(|r| wanted >> r.face & 1 == 1) {
            let first = group.face_offsets[robin.face as usize];
            for (i, r) in robin.rows.iter().enumerate() {
                let at = (first + i) * lanes + robin.lane as usize;
                p[at] += (*r + *r) * minus[at];
            }
        }
    }

    /// Gathers the values across the faces of a block whose bit is set in `wanted`.
    fn gather(
        &self,
        g: usize,
        block: usize,
        wanted: u8,
        (window, minus, published): (&[T], &[T], &[Buffer<T>]),
        plus: &mut [T],
    ) {
        let group = &self.space.groups[g];
        let trace = group.trace.block_len();
        let n = &self.space.connectivity.neighbours[g];
        let n_faces = group.face_offsets.len() - 1;
        let across = NeighbourStates {
            values: window,
            block_len: 2 * trace,
            donors: &n.donors,
            first: &n.first_donor[block * n_faces..=(block + 1) * n_faces],
            tables: &n.point_tables,
        };
        let offsets = &group.face_offsets;
        point_kernels::gather_pair(self.level, GatherPair { offsets, trace, across, wanted, out: plus });
        self.replace_foreign(g, block, wanted, (minus, published), plus);
        self.add_robin(g, block, wanted, minus, &mut plus[trace..]);
    }

    /// Replaces the gathered values of foreign lanes: at a boundary, or from another group.
    fn replace_foreign(
        &self,
        g: usize,
        block: usize,
        wanted: u8,
        (minus, published): (&[T], &[Buffer<T>]),
        plus: &mut [T],
    ) {
        let group = &self.space.groups[g];
        let (trace, lanes) = (group.trace.block_len(), group.state.lanes);
        for lane_across in self.foreign[g].of(block).iter().filter(|m| wanted >> m.face & 1 == 1) {
            let points = group.face_offsets[lane_across.face as usize]
                ..group.face_offsets[lane_across.face as usize + 1];
            match lane_across.from {
                From::Ghost { sign } => {
                    for q in points {
                        let at = q * lanes + lane_across.lane as usize;
                        plus[at] = sign * minus[at];
                        plus[trace + at] = sign * minus[trace + at];
                    }
                }
                From::Group { group: other, first, code } => {
                    let other = other as usize;
                    let table = self.space.connectivity.neighbours[other].point_table(code, points.len());
                    let theirs = self.space.groups[other].trace.block_len();
                    for (q, row) in points.zip(table) {
                        let at = q * lanes + lane_across.lane as usize;
                        plus[at] = published[other][first + *row as usize];
                        plus[trace + at] = published[other][first + theirs + *row as usize];
                    }
                }
            }
        }
    }

    /// Copies lanes that only fill up a block: they have rows of the identity.
    pub(super) fn pad(&self, g: usize, block: usize, from: &[T], to: &mut [T]) {
        let group = &self.space.groups[g];
        let lanes = group.state.lanes;
        let part = group.part_of(block);
        let real = part.n_elements - (block - part.first_block) * lanes;
        for lane in real.min(lanes)..lanes {
            for i in 0..group.state.rows {
                to[i * lanes + lane] = from[i * lanes + lane];
            }
        }
    }
}
