//! An engine on one part of the mesh that appears as an engine on the whole mesh.
//!
//! Steps, norms and integrals are collective in the operators. This file translates between the numbers of
//! elements in the part and in the whole mesh, and gathers states, samples and faces on rank 0. Other ranks
//! receive empty ones: only rank 0 writes results.

mod offsets;

use self::offsets::Offsets;
use super::engine::{
    Adaptive, Described, Elementwise, Engine, Integrand, LargestRate, Limits, NewtonSteps, OfIncompressible,
    OnRanks, OneStep, RunsAhead,
};
use super::error::SystemError;
use super::implicit::{NewtonStatistics, Response};
use super::ranges::Ranges;
use super::rank_mesh::{ROOT, RankMesh};
use super::solves::Histories;
use super::words::gathered::{merge_faces, merge_samples, write_faces, write_samples};
use super::words::{Reader, Words};
use dgsuite_basis::Representation;
use dgsuite_gpu::ExactSum;
use dgsuite_ops::{BoundarySamples, Norms, OpsError, Ranks, Sample, StepMeasure};
use dgsuite_physics::Exact;
use dgsuite_physics::formula::Formula;
use dgsuite_timeint::NewtonStep;
use std::sync::Arc;

/// An [`Engine`] on this rank's part of a mesh.
pub(crate) struct Ranked {
    inner: Box<dyn Engine>,
    ranks: Arc<Ranks>,
    /// Boundaries that have faces in the whole mesh.
    boundaries: Vec<String>,
    mesh: RankMesh,
    offsets: Offsets,
}

impl Ranked {
    pub(crate) fn new(inner: Box<dyn Engine>, ranks: Arc<Ranks>, mesh: RankMesh) -> Self {
        let summary = inner.discretization().summary();
        let size = |shape| summary.iter().find(|part| part.shape == shape).map_or(0, |part| part.n_basis);
        let offsets = Offsets::new(&mesh.set_sizes(), inner.variables().len(), size);
        let boundaries = mesh.boundary_names().into_iter().map(str::to_owned).collect();
        Self { inner, ranks, boundaries, mesh, offsets }
    }

    fn is_root(&self) -> bool {
        self.ranks.comm().rank() == ROOT
    }

    /// The messages of all ranks; empty on ranks other than the root and after a failure of the
    /// communication, which ends the run at the next step.
    fn gather(&self, words: &Words) -> Vec<Vec<u8>> {
        let gathered = self.ranks.comm().gather(ROOT, words.bytes());
        self.ranks.kept(gathered).flatten().unwrap_or_default()
    }

    /// The first failure of the communication, as an error.
    fn checked(&self) -> Result<(), OpsError> {
        self.ranks.take_failure().map_or(Ok(()), |failure| Err(failure.into()))
    }

    /// The coefficients of this part's elements among those of the whole mesh.
    fn own_part(&self, whole: &[f64], offsets: &Offsets) -> Option<Vec<f64>> {
        if offsets.total() != whole.len() {
            return None;
        }
        let of = |&e: &u32| whole[offsets.of(e as usize)].iter().copied();
        Some(self.ranks.elements().iter().flat_map(of).collect())
    }

    /// One number for each element of the whole mesh, from those of the part.
    fn of_elements(&self, own: Vec<f32>) -> Option<Vec<f32>> {
        let mut words = Words::default();
        words.numbers(self.ranks.elements().iter().map(|&e| e as usize));
        words.reals(own.into_iter().map(f64::from));
        let messages = self.gather(&words);
        let mut all = vec![0.0; if messages.is_empty() { 0 } else { self.mesh.n_elements() }];
        for message in &messages {
            let mut reader = Reader::new(message);
            let (elements, values) = (reader.numbers(), reader.reals());
            elements.into_iter().zip(values).for_each(|(element, value)| all[element] = value as f32);
        }
        Some(all)
    }

    /// The offsets in a state of this basis and order.
    fn offsets_of(&self, from: Representation, order: usize) -> Offsets {
        let described = self.inner.discretization();
        let size = |shape| described.basis_size_in(from, order, shape);
        Offsets::new(&self.mesh.set_sizes(), self.inner.variables().len(), size)
    }

    fn sampled(&self, samples: &[Sample]) -> Vec<Sample> {
        let mut words = Words::default();
        write_samples(samples, self.ranks.elements(), &mut words);
        merge_samples(&self.gather(&words))
    }
}

impl Engine for Ranked {
    fn discretization(&self) -> &dyn Described {
        self.inner.discretization()
    }

    fn step(&mut self, t: f64, dt: f64) -> Result<(), SystemError> {
        let done = self.inner.step(t, dt);
        // A failure of the communication is the cause of all others.
        self.checked()?;
        done
    }

    fn histories(&self) -> Option<Histories> {
        self.inner.histories()
    }

    fn set_histories(&mut self, histories: &Histories) -> Option<()> {
        self.inner.set_histories(histories)
    }

    fn stable_dt(&mut self) -> Result<f64, OpsError> {
        let dt = self.inner.stable_dt()?;
        self.checked()?;
        Ok(dt)
    }

    fn measure_steps_by(&mut self, measure: StepMeasure) -> Result<(), OpsError> {
        self.inner.measure_steps_by(measure)
    }

    fn residual(&mut self, t: f64) -> Result<Vec<f64>, OpsError> {
        let norms = self.inner.residual(t)?;
        self.checked()?;
        Ok(norms)
    }

    fn errors(&self, exact: &dyn Exact, t: f64) -> (Vec<String>, Norms) {
        self.inner.errors(exact, t)
    }

    fn integrate(&self, bounded: bool, n: usize, f: &Integrand<'_>) -> Vec<f64> {
        self.inner.integrate(bounded, n, f)
    }

    fn integrate_gradients(&self, t: f64, degree: usize, n: usize, f: &Elementwise<'_>) -> Vec<f64> {
        self.inner.integrate_gradients(t, degree, n, f)
    }

    fn integrate_formulas(&self, formulas: &[Formula], t: f64) -> Option<Vec<f64>> {
        self.inner.integrate_formulas(formulas, t)
    }

    fn integrate_derivatives(&self, formulas: &[&Formula], degree: usize, t: f64) -> Option<Vec<f64>> {
        self.inner.integrate_derivatives(formulas, degree, t)
    }

    fn totals(&self) -> Vec<f64> {
        self.inner.totals()
    }

    fn absolute_totals(&self) -> Vec<f64> {
        self.inner.absolute_totals()
    }

    fn map_unknowns(&mut self, a: &[f64]) -> Result<(), OpsError> {
        self.inner.map_unknowns(a)
    }

    fn boundary_sums(&self) -> Vec<ExactSum> {
        self.inner.boundary_sums()
    }

    fn set_boundary_sums(&mut self, sums: &[ExactSum]) {
        self.inner.set_boundary_sums(sums);
    }

    fn sample(&self, order: usize) -> Vec<Sample> {
        self.sampled(&self.inner.sample(order))
    }

    fn sample_with_gradients(&self, t: f64, order: usize) -> Vec<Sample> {
        self.sampled(&self.inner.sample_with_gradients(t, order))
    }

    fn boundary_samples(&self, t: f64, boundary: &str) -> Option<BoundarySamples> {
        if !self.boundaries.iter().any(|name| name == boundary) {
            return None;
        }
        let mut words = Words::default();
        if let Some(faces) = self.inner.boundary_samples(t, boundary) {
            write_faces(&faces, self.ranks.elements(), &mut words);
        }
        Some(merge_faces(&self.gather(&words)))
    }

    fn states_at(&self, places: &[Option<(usize, [f64; 3])>]) -> Vec<Option<Vec<f64>>> {
        let own: Vec<Option<(usize, [f64; 3])>> = places
            .iter()
            .map(|place| {
                let (element, r) = (*place)?;
                let local = self.ranks.elements().binary_search(&(element as u32)).ok()?;
                Some((local, r))
            })
            .collect();
        let mut words = Words::default();
        for (i, state) in self.inner.states_at(&own).into_iter().enumerate() {
            if let Some(state) = state {
                words.number(i);
                words.reals(state.into_iter());
            }
        }
        let mut states = vec![None; places.len()];
        for message in self.gather(&words) {
            let mut reader = Reader::new(&message);
            while !reader.is_empty() {
                let (i, state) = (reader.number(), reader.reals());
                if let Some(place) = states.get_mut(i) {
                    *place = Some(state);
                }
            }
        }
        states
    }

    fn to_canonical(&self) -> Vec<f64> {
        let mut words = Words::default();
        words.numbers(self.ranks.elements().iter().map(|&e| e as usize));
        words.reals(self.inner.to_canonical().into_iter());
        let messages = self.gather(&words);
        if messages.is_empty() {
            return Vec::new();
        }
        let mut whole = vec![0.0; self.offsets.total()];
        for message in &messages {
            let mut reader = Reader::new(message);
            let (elements, values) = (reader.numbers(), reader.reals());
            let mut from = 0;
            for element in elements {
                let to = self.offsets.of(element);
                let values = &values[from..from + to.len()];
                from += to.len();
                whole[to].copy_from_slice(values);
            }
        }
        whole
    }

    fn set_canonical(&mut self, values: &[f64]) -> Option<()> {
        let own = self.own_part(values, &self.offsets)?;
        self.inner.set_canonical(&own)
    }

    fn set_canonical_of(&mut self, from: Representation, order: usize, values: &[f64]) -> Option<()> {
        let own = self.own_part(values, &self.offsets_of(from, order))?;
        self.inner.set_canonical_of(from, order, &own)
    }

    fn variables(&self) -> Vec<&'static str> {
        self.inner.variables()
    }

    fn primitives(&self) -> Vec<&'static str> {
        self.inner.primitives()
    }

    fn rhs_evaluations(&self) -> u64 {
        self.inner.rhs_evaluations()
    }

    fn state_bytes(&self) -> usize {
        self.inner.state_bytes() * self.ranks.comm().size()
    }

    fn admissible_at_faces(&self) -> bool {
        self.inner.admissible_at_faces()
    }

    fn stable_dt_at(&self, boundary: &str, t: f64) -> f64 {
        let mut largest = [-self.inner.stable_dt_at(boundary, t)];
        self.ranks.max(&mut largest);
        -largest[0]
    }

    fn newton(&mut self) -> Option<&mut dyn NewtonSteps> {
        self.inner.newton().is_some().then_some(self)
    }

    fn newton_statistics(&self) -> Option<NewtonStatistics> {
        self.inner.newton_statistics()
    }

    fn adaptive(&mut self) -> Option<&mut dyn Adaptive> {
        self.inner.adaptive()
    }

    fn one_step(&mut self) -> Option<&mut dyn OneStep> {
        self.inner.one_step()
    }

    fn ahead(&mut self) -> Option<&mut dyn RunsAhead> {
        self.inner.ahead()
    }

    fn limits(&self) -> Option<&dyn Limits> {
        self.inner.limits()
    }

    fn of_incompressible(&self) -> Option<&dyn OfIncompressible> {
        self.inner.of_incompressible()
    }

    fn of_incompressible_mut(&mut self) -> Option<&mut dyn OfIncompressible> {
        self.inner.of_incompressible_mut()
    }

    fn on_ranks(&self) -> Option<&dyn OnRanks> {
        Some(self)
    }

    fn on_ranks_mut(&mut self) -> Option<&mut dyn OnRanks> {
        Some(self)
    }
}

impl NewtonSteps for Ranked {
    fn newton_step(&mut self, t: f64) -> Result<NewtonStep, OpsError> {
        let taken = self.inner.newton().map_or(Ok(NewtonStep::none()), |newton| newton.newton_step(t));
        // A failure of the communication is the cause of all others.
        self.checked()?;
        taken
    }

    fn response(&mut self, t: f64, rate: &[f64]) -> Result<Option<Response>, OpsError> {
        let found = self.inner.newton().map_or(Ok(None), |newton| newton.response(t, rate));
        self.checked()?;
        found
    }

    fn relative_rates(&mut self, t: f64, order: usize) -> Result<Vec<Sample>, OpsError> {
        let own = self.inner.newton().map_or(Ok(Vec::new()), |newton| newton.relative_rates(t, order))?;
        let all = self.sampled(&own);
        self.checked()?;
        Ok(all)
    }

    fn largest_rate(&mut self, t: f64) -> Result<Option<LargestRate>, OpsError> {
        let largest = self.inner.newton().map_or(Ok(None), |newton| newton.largest_rate(t));
        self.checked()?;
        largest
    }
}

impl OnRanks for Ranked {
    fn own_samples(&self, t: Option<f64>, order: usize) -> Vec<Sample> {
        let mut own = self.inner.own_samples(t, order);
        let elements = own.iter_mut().flat_map(|sample| &mut sample.elements);
        elements.for_each(|e| *e = self.ranks.elements()[*e] as usize);
        own
    }

    fn own_elements(&self) -> Option<&[u32]> {
        Some(self.ranks.elements())
    }

    fn own_canonical(&self) -> Vec<f64> {
        self.inner.to_canonical()
    }

    fn set_own_canonical(&mut self, values: &[f64]) -> Option<()> {
        self.inner.set_canonical(values)
    }

    fn set_own_canonical_of(&mut self, from: Representation, order: usize, values: &[f64]) -> Option<()> {
        self.inner.set_canonical_of(from, order, values)
    }

    fn own_ranges(&self, from: Representation, order: usize) -> Option<Ranges> {
        let offsets = self.offsets_of(from, order);
        let of = |&e: &u32| offsets.of(e as usize);
        Some(Ranges::new(self.ranks.elements().iter().map(of), offsets.total()))
    }

    fn whole_boundary_sums(&self) -> Vec<ExactSum> {
        let mut sums = self.inner.boundary_sums();
        // A device that has failed has none.
        sums.resize(self.inner.variables().len(), ExactSum::new());
        // After a failure, which ends the run, they are those of this rank.
        let _ = self.ranks.sum(&mut sums);
        sums
    }

    fn set_whole_boundary_sums(&mut self, sums: &[ExactSum]) {
        let own = |sum: &ExactSum| if self.is_root() { sum.clone() } else { ExactSum::new() };
        let own: Vec<ExactSum> = sums.iter().map(own).collect();
        self.inner.set_boundary_sums(&own);
    }

    fn any(&self, here: bool) -> bool {
        let mut flag = [f64::from(u8::from(here))];
        self.ranks.max(&mut flag);
        flag != [0.0]
    }

    fn connected(&self) -> Result<(), OpsError> {
        self.checked()
    }

    fn gathered(&self, own: Vec<f32>) -> Option<Vec<f32>> {
        self.of_elements(own)
    }
}
