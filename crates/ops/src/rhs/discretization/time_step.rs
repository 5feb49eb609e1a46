//! Step sizes from the state: the largest speed and diffusivity of each element, and the first invalid state.

use crate::space::step_measure::StepMeasure;
use rayon::prelude::*;

use super::{CHUNK, Discretization};
use crate::error::OpsError;
use crate::lanes::simd::PackScalar;
use crate::lock::lock;
use crate::rhs::diffusion_passes::diffusivity_of_block;
use crate::space::group::Group;

impl<T: PackScalar> Discretization<T> {
    /// Sets the measure of the steps that [`time_step`](Self::time_step) computes. The default is the CFL
    /// number.
    pub fn measure_steps_by(&mut self, measure: StepMeasure) {
        self.measure = measure;
    }

    /// Computes the smallest step of all elements for a value of 1 of [the measure](StepMeasure) and, if
    /// `local` is given, the step of each slot: `1/Δt = τ λ + σ ν`, with the largest speed `λ` and
    /// diffusivity `ν` in each element and the largest eigenvalues `τ` of advection and `σ` of diffusion. For
    /// a CFL number, `1/Δt = (2p + 1)/h (λ + ν σ/τ)`. Reactions add their largest stiffness to `1/Δt`.
    ///
    /// # Errors
    /// [`OpsError::State`] for the element with the lowest number in the whole mesh among those whose state
    /// is not finite or not admissible.
    pub fn time_step(&self, u: &[T], mut local: Option<&mut Vec<f64>>) -> Result<f64, OpsError> {
        let unit = |group: &Group<T>, slot: usize| group.bounds[slot].unit(self.measure, self.scheme.order);
        let mut smallest = f64::INFINITY;
        let mut worst: Option<(usize, OpsError)> = None;
        if let Some(steps) = local.as_deref_mut() {
            steps.clear();
        }
        for group in &self.groups {
            let state = &u[group.offset..group.offset + group.state.len()];
            let lanes = group.state.lanes;
            let blocks = group.state.blocks;
            let chunk = |i: usize| {
                let mut dt = f64::INFINITY;
                let mut bad = None;
                for block in i * CHUNK..((i + 1) * CHUNK).min(blocks) {
                    let (speed, admissible) = self.block_speed(group, state, block);
                    for lane in 0..lanes {
                        let (s, a) = (speed[lane].to_f64(), admissible[lane].to_f64());
                        let slot = block * lanes + lane;
                        if !(s.is_finite() && a > 0.0) {
                            let found = (group.elements[slot], slot);
                            bad = Some(bad.map_or(found, |first: (u32, usize)| first.min(found)));
                        } else if s > 0.0 {
                            dt = dt.min(unit(group, slot) / s);
                        }
                    }
                }
                (dt, bad)
            };
            let chunks = blocks.div_ceil(CHUNK);
            // `min` is exact, so the order of the reduction does not matter.
            let (dt, bad) = self.host.install(|| {
                (0..chunks).into_par_iter().map(chunk).reduce(
                    || (f64::INFINITY, None),
                    |a, b| {
                        (
                            a.0.min(b.0),
                            match (a.1, b.1) {
                                (Some(x), Some(y)) => Some(x.min(y)),
                                (x, y) => x.or(y),
                            },
                        )
                    },
                )
            });
            if let Some((element, slot)) = bad
                && worst.as_ref().is_none_or(|(first, _)| (element as usize) < *first)
            {
                worst = Some((element as usize, self.bad_state(group, state, slot)));
            }
            smallest = smallest.min(dt);
            if let Some(steps) = local.as_deref_mut() {
                for block in 0..blocks {
                    let (speed, _) = self.block_speed(group, state, block);
                    let step = |l: usize| unit(group, block * lanes + l) / speed[l].to_f64();
                    steps.extend((0..lanes).map(|l| self.limited_by_reactions(step(l))));
                }
            }
        }
        let smallest = self.limited_by_reactions(smallest);
        match &self.ranks {
            Some(ranks) => ranks.agree_on_step(smallest, worst.as_ref().map(|(e, error)| (*e, error))),
            None => worst.map_or(Ok(smallest), |(_, error)| Err(error)),
        }
    }

    /// The values of elements, in the order of the mesh, from those of slots, as
    /// [`time_step`](Self::time_step) computes them.
    #[must_use]
    pub fn of_elements(&self, slots: &[f64]) -> Vec<f64> {
        let mut values = vec![0.0; self.mesh.n_elements()];
        let mut first = 0;
        for group in &self.groups {
            group.real_slots().for_each(|slot| values[group.elements[slot] as usize] = slots[first + slot]);
            first += group.state.blocks * group.state.lanes;
        }
        values
    }

    /// Computes the smallest step, as [`time_step`](Self::time_step), of the elements at a boundary if their
    /// states were the prescribed ones at time `t`; infinite without prescribed states.
    ///
    /// Use it for conditions whose data are states, such as a far field: waves run into the elements at these
    /// speeds before their own states show it.
    #[must_use]
    pub fn time_step_at(&self, boundary: &str, t: f64) -> f64 {
        let (fields, lanes, order) = (self.physics.n_fields(), T::lanes(self.level), self.scheme.order);
        let mut least = f64::INFINITY;
        for set in self.boundaries.iter().filter(|set| set.binding.name == boundary) {
            let Some(exact) = &set.binding.data else { continue };
            let mut states = vec![Vec::new(); fields];
            exact.eval(t, &set.positions, &mut states);
            for (face, points) in self.connectivity.boundaries[set.boundary].iter().zip(set.first.windows(2))
            {
                let group = &self.groups[face.group as usize];
                let unit = group.bounds[face.slot as usize].unit(self.measure, order);
                let (mut speed, mut admissible) = ([T::from_f64(0.0); 16], [T::from_f64(0.0); 16]);
                let u: Vec<T> = (points[0]..points[1])
                    .flat_map(|i| states.iter().map(move |values| T::from_f64(values[i])))
                    .flat_map(|v| std::iter::repeat_n(v, lanes))
                    .collect();
                self.physics.wave_speed(
                    self.level,
                    u.len() / (fields * lanes),
                    &u,
                    &mut speed,
                    &mut admissible,
                );
                let speed = speed[0].to_f64();
                // The run checks prescribed states on its own.
                if speed.is_finite() && speed > 0.0 {
                    least = least.min(unit / speed);
                }
            }
        }
        least
    }

    /// Computes the largest speed and the smallest admissibility of each lane of a block. Diffusion adds
    /// `ν σ/τ` to the speed.
    fn block_speed(&self, group: &Group<T>, state: &[T], block: usize) -> ([T; 16], [T; 16]) {
        let (mut speed, mut admissible) = ([T::from_f64(0.0); 16], [T::from_f64(0.0); 16]);
        let mut largest = [T::from_f64(0.0); 16];
        let len = group.state.block_len();
        let u = &state[block * len..(block + 1) * len];
        let part = group.part_of(block);
        let mut of_states = |points: &[T]| {
            self.physics.wave_speed(self.level, part.n_points, points, &mut speed, &mut admissible);
            if let Some(diffusion) = self.diffusion.as_ref().filter(|_| group.coefficients.is_empty()) {
                diffusion.diffusivity(self.level, part.n_points, points, &mut largest);
            }
        };
        let mut rate = [T::from_f64(0.0); 16];
        let directions = part.directions.as_ref().filter(|_| self.measure == StepMeasure::Radius);
        let own = block - part.first_block;
        let inverse = &part.inverse_jacobian[..];
        let per_block = inverse.len() / part.n_blocks;
        let mut of_states = |points: &[T]| {
            of_states(points);
            if let Some(directions) = directions {
                let metric = (part.metric_of(own), part.kind);
                let inverse = &inverse[own * per_block..(own + 1) * per_block];
                let (level, n) = (self.level, part.n_points);
                self.physics.wave_rate(level, n, points, metric, inverse, directions, &mut rate);
            }
        };
        if part.collocated {
            of_states(u);
        } else {
            let thread = rayon::current_thread_index().unwrap_or(0) % self.scratch.len();
            let mut scratch = lock(&self.scratch[thread]);
            of_states(scratch.at_points(part, self.level, group.state.fields, u));
        }
        if directions.is_some() {
            for lane in 0..group.state.lanes {
                // A speed that is not finite stays so.
                let bound = &group.bounds[block * group.state.lanes + lane];
                let along = bound.factor / bound.radius * rate[lane].to_f64();
                if speed[lane].to_f64().is_finite() {
                    speed[lane] = T::from_f64(along);
                }
            }
        }
        if let Some(diffusion) = &self.diffusion {
            if !group.coefficients.is_empty() {
                let mut scratch = lock(self.scratch_of_thread());
                let diffusion = diffusion.as_ref();
                diffusivity_of_block(diffusion, self.level, group, u, block, &mut scratch, &mut largest);
            }
            for lane in 0..group.state.lanes {
                let spread = group.bounds[block * group.state.lanes + lane].spread;
                speed[lane] += T::from_f64(spread * largest[lane].to_f64());
            }
        }
        (speed, admissible)
    }

    pub(crate) fn bad_state(&self, group: &Group<T>, state: &[T], slot: usize) -> OpsError {
        let part = group.part_of(slot / group.state.lanes);
        let coefficients = crate::space::positions::coefficients(group, state, slot);
        let points = &part.reference.volume.points;
        let values: Vec<Vec<f64>> =
            coefficients.iter().map(|c| part.reference.interp_volume.mul_vec(c)).collect();
        let at_point = |q: usize| -> Vec<f64> { values.iter().map(|v| v[q]).collect() };
        let finite = |q: usize| values.iter().all(|v| v[q].is_finite());
        let worst = (0..points.len()).find(|&q| !finite(q));
        let admissible = |q: usize| {
            let lanes = T::lanes(self.level);
            let u: Vec<T> = at_point(q).into_iter().flat_map(|v| vec![T::from_f64(v); lanes]).collect();
            let (mut speed, mut a) = ([T::from_f64(0.0); 16], [T::from_f64(0.0); 16]);
            self.physics.wave_speed(self.level, 1, &u, &mut speed, &mut a);
            a[0].to_f64()
        };
        let q = worst.unwrap_or_else(|| {
            (0..points.len()).min_by(|&a, &b| admissible(a).total_cmp(&admissible(b))).unwrap_or(0)
        });
        let element = group.elements[slot] as usize;
        let (set, local) = self.mesh.locate(element);
        OpsError::State {
            what: if worst.is_some() { "finite" } else { "admissible" },
            element: self.mesh.sets[set].tags[local],
            at: crate::space::positions::positions(&self.mesh, element, &points[q..=q])[0],
            state: at_point(q),
        }
    }
}
