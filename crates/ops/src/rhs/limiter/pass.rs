//! The pass over all elements that limits a state on the host.

use super::{
    ABROAD_GROUP, EXTERIOR_GROUP, FIELDS, Limited, Limiter, Limiting, NOTHING, Range, Work, limit, unpack,
    within_means,
};
use super::{BoundKernels, Bounds, Neighbourhood, Screen, Tables};
use crate::error::OpsError;
use crate::lanes::simd::PackScalar;
use crate::lock::lock;
use crate::rhs::discretization::{CHUNK, Discretization};
use crate::rhs::halo::ElementHalo;
use crate::space::group::{Group, Part};
use crate::space::layout::Layout;
use crate::space::positions::positions;
use dgsuite_physics::Exact;
use rayon::prelude::*;
use std::sync::MutexGuard;

/// The blocks of a pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Turn {
    All,
    /// Those that need nothing of other ranks.
    Inner,
    /// Those with elements at cut faces.
    Cut,
}

/// Numbers of a [`Range`].
pub(crate) const RANGE: usize = 3;

impl<T: PackScalar> Discretization<T> {
    /// Limits the state after each [`stage`](Self::stage).
    ///
    /// # Errors
    /// [`OpsError::Equation`] if `law` has another number of unknowns.
    pub fn limit_by(&mut self, limiting: Limiting, law: Box<dyn BoundKernels<T>>) -> Result<(), OpsError> {
        let (dim, fields) = (self.physics.dim(), self.physics.n_fields());
        if law.n_fields() != fields {
            let words = |fields: usize| format!("{fields} unknowns in {dim} dimensions");
            let (found, expected) = (words(law.n_fields()), words(fields));
            return Err(OpsError::Equation { part: "limiter", found, expected });
        }
        let threads = self.host.n_threads();
        let space = (self.mesh.as_ref(), self.groups.as_slice(), &self.connectivity);
        let mut limiter = Limiter::new(limiting, law, space, (threads, self.level))?;
        if let Some(ranks) = &self.ranks {
            let width = match limiting {
                Limiting::Slopes(Neighbourhood::Vertices) => {
                    return Err(OpsError::NotOnRanks {
                        what: "slope limiters with the neighbours at vertices",
                    });
                }
                Limiting::Slopes(Neighbourhood::Faces) => Some(fields),
                Limiting::EntropyFilter(_) => Some(RANGE),
                Limiting::Positivity => None,
            };
            let halo = width.map(|width| ElementHalo::new(ranks, &self.connectivity.borders, width));
            limiter.abroad = halo.transpose()?;
        }
        self.limiter = Some(limiter);
        Ok(())
    }

    /// Whether there is a limiter.
    #[must_use]
    pub fn is_limited(&self) -> bool {
        self.limiter.is_some()
    }

    /// Result of the limiter in the last stage; `None` without a limiter.
    #[must_use]
    pub fn limited(&self) -> Option<Limited> {
        self.limiter.as_ref().map(|limiter| self.summarised(&limiter.factors))
    }

    /// Returns the smallest density and the smallest pressure of the state `u` at all points at which the
    /// limiter bounds them; `None` without a limiter.
    #[must_use]
    pub fn least(&self, u: &[T]) -> Option<[f64; 2]> {
        let limiter = self.limiter.as_ref()?;
        let (law, fields): (&dyn Bounds, _) = (limiter.law.as_ref(), limiter.law.n_fields());
        // Comparisons with NaN are false, so that it stays.
        let smaller = |a: [f64; 2], b: [f64; 2]| [0, 1].map(|i| if b[i] >= a[i] { a[i] } else { b[i] });
        let mut least = [f64::INFINITY; 2];
        for (g, group) in self.groups.iter().enumerate() {
            let state = &u[group.offset..group.offset + group.state.len()];
            let of_slot = |slot: usize| {
                let [work, _] = &mut *limiter.work_space();
                let tables = tables_of(limiter, group, g, slot).1;
                load(state, group.state, slot, work);
                work.compute_modes(tables, fields);
                work.least(tables, law)
            };
            // On devices, the copies that fill up blocks stay as they were at first.
            let slots: Vec<usize> = group.real_slots().collect();
            let of_group = self
                .host
                .install(|| slots.into_par_iter().map(of_slot).reduce(|| [f64::INFINITY; 2], smaller));
            least = smaller(least, of_group);
        }
        if let Some(ranks) = &self.ranks {
            let mut largest = least.map(|x| -x);
            ranks.max(&mut largest);
            least = largest.map(|x| -x);
        }
        Some(least)
    }

    /// The share of the elements whose factor, per group and slot, is below 1, and the smallest factor.
    pub(crate) fn summarised(&self, factors: &[Vec<f32>]) -> Limited {
        let (mut changed, mut least) = (0_usize, 1.0_f32);
        for (group, factors) in self.groups.iter().zip(factors) {
            for slot in group.real_slots() {
                changed += usize::from(factors[slot] < 1.0);
                least = least.min(factors[slot]);
            }
        }
        let (mut counts, mut most) = ([changed as i64, self.mesh.n_elements() as i64], [-f64::from(least)]);
        if let Some(ranks) = &self.ranks {
            let _ = ranks.kept(ranks.comm().sum(&mut counts));
            ranks.max(&mut most);
        }
        Limited { share: counts[0] as f64 / counts[1].max(1) as f64, least: 0.0 - most[0] }
    }

    /// Limits a state that was projected from `exact`, whose values in each element are the bounds.
    pub fn limit_initial(&mut self, exact: &dyn Exact, t: f64, u: &mut [T]) {
        let Some(mut limiter) = self.limiter.take() else { return };
        let mut factors = std::mem::take(&mut limiter.factors);
        let mut means = std::mem::take(&mut limiter.means);
        if matches!(limiter.limiting, Limiting::Slopes(_)) {
            self.compute_means(&limiter, u, &mut means, Turn::All);
            self.send_means(&mut limiter, &means);
            receive(&mut limiter);
        }
        let mesh = &self.mesh;
        let bounds = |group: &Group<T>, tables: &Tables, slot: usize, _: &mut Work| {
            let x = positions(mesh, group.elements[slot] as usize, &tables.points);
            let mut values = vec![Vec::new(); group.state.fields];
            exact.eval(t, &x, &mut values);
            let mut range = Range::EMPTY;
            for q in 0..x.len() {
                let state: Vec<f64> = values.iter().map(|v| v[q]).collect();
                range.add(limiter.law.bounded(&state));
            }
            range
        };
        self.limit_in(&limiter, &mut factors, &means, u, Turn::All, &bounds);
        (limiter.factors, limiter.means) = (factors, means);
        self.limiter = Some(limiter);
    }

    /// Sends the ranges of the input `u` of a stage to other ranks, unless the stage waits for messages at
    /// once.
    pub(crate) fn send_bounds(&mut self, u: &[T]) {
        if !self.waits() {
            self.send_ranges(u);
        }
    }

    /// Limits the result `next` of a stage with input `u`, for which [`send_bounds`](Self::send_bounds) has
    /// been called.
    pub(crate) fn limit_stage(&mut self, u: &[T], next: &mut [T]) {
        let waits = self.waits();
        if waits {
            self.send_ranges(u);
        }
        let Some(mut limiter) = self.limiter.take() else { return };
        let mut factors = std::mem::take(&mut limiter.factors);
        let mut means = std::mem::take(&mut limiter.means);
        let slopes = matches!(limiter.limiting, Limiting::Slopes(_));
        // Means are those of the result: only work on inner elements hides their messages.
        let in_turns = slopes && limiter.abroad.is_some() && !waits;
        let turns: &[Turn] = if in_turns { &[Turn::Inner, Turn::Cut] } else { &[Turn::All] };
        if slopes {
            let first = if in_turns { Turn::Cut } else { Turn::All };
            self.compute_means(&limiter, next, &mut means, first);
            self.send_means(&mut limiter, &means);
        }
        if in_turns {
            self.compute_means(&limiter, next, &mut means, Turn::Inner);
        }
        for &turn in turns {
            if turn != Turn::Inner {
                receive(&mut limiter);
            }
            let bounds = |group: &Group<T>, _: &Tables, slot: usize, work: &mut Work| {
                self.bounds_near(&limiter, u, group, slot, work)
            };
            self.limit_in(&limiter, &mut factors, &means, next, turn, &bounds);
        }
        (limiter.factors, limiter.means) = (factors, means);
        self.limiter = Some(limiter);
    }

    /// Applies all that `limiter` consists of to the elements of a turn.
    fn limit_in(
        &self,
        limiter: &Limiter<T>,
        factors: &mut [Vec<f32>],
        means: &[Vec<f64>],
        next: &mut [T],
        turn: Turn,
        bounds: &(dyn Fn(&Group<T>, &Tables, usize, &mut Work) -> Range + Sync),
    ) {
        if let Limiting::Slopes(near) = limiter.limiting {
            self.limit_slopes(limiter, near, means, factors, next, turn);
        } else {
            factors.iter_mut().for_each(|f| f.fill(1.0));
        }
        self.limit_all(limiter, factors, next, turn, bounds);
    }

    /// Sends the ranges of the state `u` in elements at cut faces, if the limiter needs any.
    fn send_ranges(&mut self, u: &[T]) {
        let Some(mut limiter) = self.limiter.take() else { return };
        if limiter.limiting.filter().is_some()
            && let Some(mut abroad) = limiter.abroad.take()
        {
            self.host.install(|| abroad.start(|g, slot, out| self.range_of(&limiter, u, (g, slot), out)));
            limiter.abroad = Some(abroad);
        }
        self.limiter = Some(limiter);
    }

    /// Sends the means of elements at cut faces.
    fn send_means(&self, limiter: &mut Limiter<T>, means: &[Vec<f64>]) {
        let (fields, Some(abroad)) = (limiter.law.n_fields(), &mut limiter.abroad) else { return };
        let mean = |g: usize, slot: usize, out: &mut [f64]| {
            out.copy_from_slice(&means[g][slot * fields..(slot + 1) * fields]);
        };
        self.host.install(|| abroad.start(mean));
    }

    /// The bounds of an element: the states `u` in it and in its neighbours, and outer states at boundaries.
    fn bounds_near(
        &self,
        limiter: &Limiter<T>,
        u: &[T],
        group: &Group<T>,
        slot: usize,
        work: &mut Work,
    ) -> Range {
        let fields = limiter.law.n_fields();
        let mut range = Range::EMPTY;
        let mut add = |group: &Group<T>, g: usize, slot: usize| {
            let state = &u[group.offset..group.offset + group.state.len()];
            let tables = tables_of(limiter, group, g, slot).1;
            load(state, group.state, slot, work);
            work.compute_modes(tables, fields);
            work.add_to(tables, limiter.law.as_ref(), &mut range);
        };
        let own = self.groups.iter().position(|g| g.shape == group.shape).unwrap_or(0);
        add(group, own, slot);
        let n = group.shape.n_faces();
        let across = &limiter.across[own][slot * n..(slot + 1) * n];
        for &neighbour in across.iter().filter(|&&x| x != NOTHING) {
            let (g, slot) = unpack(neighbour);
            if g < ABROAD_GROUP {
                add(&self.groups[g as usize], g as usize, slot);
            }
        }
        if let Some(abroad) = &limiter.abroad {
            for (_, face) in across.iter().map(|&x| unpack(x)).filter(|(g, _)| *g == ABROAD_GROUP) {
                let &[entropy, low, high] = abroad.of(face) else { continue };
                range.merge(&Range { entropy, low, high });
            }
        }
        let mut state = [0.0; FIELDS];
        for (face, &neighbour) in across.iter().enumerate() {
            let (g, first) = unpack(neighbour);
            if neighbour == NOTHING || g != EXTERIOR_GROUP {
                continue;
            }
            let points = group.face_offsets[face + 1] - group.face_offsets[face];
            for outer in self.exterior[first..first + points * fields].chunks_exact(fields) {
                for (x, v) in state.iter_mut().zip(outer) {
                    *x = v.to_f64();
                }
                range.add(limiter.law.bounded(&state));
            }
        }
        range
    }

    /// The bounds of the states in one element, `[entropy, lowest density, highest density]`.
    fn range_of(&self, limiter: &Limiter<T>, u: &[T], (g, slot): (usize, usize), out: &mut [f64]) {
        let group = &self.groups[g];
        let [_, work] = &mut *limiter.work_space();
        let tables = tables_of(limiter, group, g, slot).1;
        let mut range = Range::EMPTY;
        load(&u[group.offset..group.offset + group.state.len()], group.state, slot, work);
        work.compute_modes(tables, limiter.law.n_fields());
        work.add_to(tables, limiter.law.as_ref(), &mut range);
        out.copy_from_slice(&[range.entropy, range.low, range.high]);
    }

    /// Filter and positivity of the elements of a turn; `factors` become smaller.
    fn limit_all(
        &self,
        limiter: &Limiter<T>,
        factors: &mut [Vec<f32>],
        next: &mut [T],
        turn: Turn,
        bounds: &(dyn Fn(&Group<T>, &Tables, usize, &mut Work) -> Range + Sync),
    ) {
        let (law, fields): (&dyn Bounds, _) = (limiter.law.as_ref(), limiter.law.n_fields());
        let epsilon = T::EPSILON.to_f64();
        for (g, (group, factors)) in self.groups.iter().zip(factors).enumerate() {
            self.each_block(g, turn, next, factors, 1, &|state, layout, block, factors| {
                let (i, part) = part_of(group, block);
                let tables = &limiter.tables[g][i];
                let of_part = (group, part, tables, &limiter.blocks[g][i]);
                let troubled = limiter.screen().troubled(limiter, of_part, self.level, block, state);
                for (lane, factor) in factors.iter_mut().enumerate().filter(|(lane, _)| troubled[*lane]) {
                    let slot = block * layout.lanes + lane;
                    let [work, near] = &mut *limiter.work_space();
                    load(state, layout, lane, work);
                    work.compute_modes(tables, fields);
                    let nu = tables.mean_of(slot - part.first_block * layout.lanes);
                    let range = || bounds(group, tables, slot, near);
                    let found = limit(tables, nu, law, &limiter.limiting, epsilon, work, range);
                    *factor = factor.min(found as f32);
                    if found < 1.0 {
                        work.compute_coefficients(tables, fields);
                        store(work, state, layout, lane);
                    }
                }
            });
        }
    }

    /// The means of the elements of a turn, for slopes.
    fn compute_means(&self, limiter: &Limiter<T>, state: &mut [T], means: &mut [Vec<f64>], turn: Turn) {
        let fields = limiter.law.n_fields();
        for (g, (group, means)) in self.groups.iter().zip(means).enumerate() {
            self.each_slot(g, turn, state, means, fields, &|state, layout, (slot, lane), mean| {
                let [work, _] = &mut *limiter.work_space();
                let (own, tables) = tables_of(limiter, group, g, slot);
                load(state, layout, lane, work);
                work.compute_modes(tables, fields);
                mean.copy_from_slice(work.mean(tables.mean_of(own), fields));
            });
        }
    }

    /// Limits the slopes of the elements of a turn.
    fn limit_slopes(
        &self,
        limiter: &Limiter<T>,
        near: Neighbourhood,
        means: &[Vec<f64>],
        factors: &mut [Vec<f32>],
        next: &mut [T],
        turn: Turn,
    ) {
        let fields = limiter.law.n_fields();
        for (g, (group, factors)) in self.groups.iter().zip(factors).enumerate() {
            let n = group.shape.n_faces();
            self.each_slot(g, turn, next, factors, 1, &|state, layout, (slot, lane), factor| {
                let [work, _] = &mut *limiter.work_space();
                let (own, tables) = tables_of(limiter, group, g, slot);
                load(state, layout, lane, work);
                work.compute_modes(tables, fields);
                let near = match near {
                    Neighbourhood::Faces => &limiter.across[g][slot * n..(slot + 1) * n],
                    Neighbourhood::Vertices => {
                        let (first, all) = &limiter.vertices[g];
                        &all[first[slot] as usize..first[slot + 1] as usize]
                    }
                };
                let mut extremes = [(0.0, 0.0); FIELDS];
                for (x, &m) in extremes.iter_mut().zip(&means[g][slot * fields..(slot + 1) * fields]) {
                    *x = (m, m);
                }
                for &neighbour in near.iter().filter(|&&x| x != NOTHING) {
                    let (g, slot) = unpack(neighbour);
                    let means = match (g, &limiter.abroad) {
                        (EXTERIOR_GROUP, _) | (ABROAD_GROUP, None) => continue,
                        (ABROAD_GROUP, Some(abroad)) => abroad.of(slot),
                        _ => &means[g as usize][slot * fields..(slot + 1) * fields],
                    };
                    for (x, &m) in extremes.iter_mut().zip(means) {
                        *x = (x.0.min(m), x.1.max(m));
                    }
                }
                let found = within_means(tables, tables.mean_of(own), fields, &extremes, work);
                factor[0] = found as f32;
                if found < 1.0 {
                    work.compute_coefficients(tables, fields);
                    store(work, state, layout, lane);
                }
            });
        }
    }

    /// Calls `run(state of a block, its layout, (slot, lane), output of the slot)` for each slot of group `g`
    /// in a turn.
    fn each_slot<O: Send>(
        &self,
        g: usize,
        turn: Turn,
        state: &mut [T],
        out: &mut [O],
        width: usize,
        run: &(dyn Fn(&mut [T], Layout, (usize, usize), &mut [O]) + Sync),
    ) {
        self.each_block(g, turn, state, out, width, &|state, layout, block, outs| {
            for (lane, out) in outs.chunks_exact_mut(width).enumerate() {
                run(state, layout, (block * layout.lanes + lane, lane), out);
            }
        });
    }

    /// Calls `run(state of a block, its layout, block, output of its slots)` for each block of group `g` in a
    /// turn.
    fn each_block<O: Send>(
        &self,
        g: usize,
        turn: Turn,
        state: &mut [T],
        out: &mut [O],
        width: usize,
        run: &(dyn Fn(&mut [T], Layout, usize, &mut [O]) + Sync),
    ) {
        let group = &self.groups[g];
        let (layout, len, width) = (group.state, group.state.block_len(), width * group.state.lanes);
        let state = &mut state[group.offset..group.offset + layout.len()];
        let work = |(chunk, (states, outs)): (usize, (&mut [T], &mut [O]))| {
            let blocks = states.chunks_exact_mut(len).zip(outs.chunks_exact_mut(width));
            let numbered = (chunk * CHUNK..).zip(blocks);
            for (b, (block, outs)) in numbered.filter(|(b, _)| self.is_in(turn, g, *b)) {
                run(block, layout, b, outs);
            }
        };
        self.host.install(|| {
            let outs = out.par_chunks_mut(CHUNK * width);
            state.par_chunks_mut(CHUNK * len).zip(outs).enumerate().for_each(work);
        });
    }

    /// Whether a block of group `g` belongs to a turn.
    fn is_in(&self, turn: Turn, g: usize, block: usize) -> bool {
        turn == Turn::All || self.connectivity.reads_cuts(g, block) == (turn == Turn::Cut)
    }
}

/// Waits for the numbers of other ranks' elements.
fn receive<T: PackScalar>(limiter: &mut Limiter<T>) {
    if let Some(abroad) = &mut limiter.abroad {
        abroad.finish();
    }
}

impl<T: PackScalar> Limiter<T> {
    /// The work space of this thread, for an element.
    pub(super) fn work_space(&self) -> MutexGuard<'_, [Work; 2]> {
        lock(&self.work[rayon::current_thread_index().unwrap_or(0) % self.work.len()])
    }

    /// The work space of this thread, for a block.
    fn screen(&self) -> MutexGuard<'_, Screen<T>> {
        lock(&self.screens[rayon::current_thread_index().unwrap_or(0) % self.screens.len()])
    }
}

/// The number of the part that has a block, and the part.
fn part_of<T: PackScalar>(group: &Group<T>, block: usize) -> (usize, &Part<T>) {
    let i = group.parts.iter().rposition(|p| p.first_block <= block).unwrap_or(0);
    (i, &group.parts[i])
}

/// The number of a slot in its part, and the tables of the part.
pub(super) fn tables_of<'a, T: PackScalar>(
    limiter: &'a Limiter<T>,
    group: &Group<T>,
    g: usize,
    slot: usize,
) -> (usize, &'a Tables) {
    let (i, part) = part_of(group, slot / group.state.lanes);
    (slot - part.first_block * group.state.lanes, &limiter.tables[g][i])
}

/// Copies the coefficients of a slot to the work space.
pub(super) fn load<T: PackScalar>(state: &[T], layout: Layout, slot: usize, work: &mut Work) {
    for i in 0..layout.rows {
        for k in 0..layout.fields {
            work.coefficients[i * layout.fields + k] = state[layout.index(slot, i, k)].to_f64();
        }
    }
}

/// Copies the coefficients of the work space to a slot.
fn store<T: PackScalar>(work: &Work, state: &mut [T], layout: Layout, slot: usize) {
    for i in 0..layout.rows {
        for k in 0..layout.fields {
            state[layout.index(slot, i, k)] = T::from_f64(work.coefficients[i * layout.fields + k]);
        }
    }
}
