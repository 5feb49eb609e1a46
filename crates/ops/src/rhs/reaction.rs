//! Reactions `S(u, c)`: source terms of the state, with coefficients stored at the volume points.
//!
//! Before each residual the rows `Π J S(I u, c)` are computed
//! from the state, block by block, in the layout of the state. Like those of a source that does not depend on
//! the state, which are included, they are added to the tested residual before the metric rule. So every
//! scheme, form and kernel has reactions, and equations without them run the same code as before.
//!
//! Index order of coefficients: `[block][point][coefficient][lane]`.

use crate::error::OpsError;
use crate::formulas::reacting::ReactionKernels;
use crate::lanes::simd::PackScalar;
use crate::lock::lock;
use crate::rhs::discretization::{CHUNK, Discretization};
use crate::rhs::ranks::Ranks;
use crate::rhs::residual::{Scratch, multiply};
use crate::space::group::{Group, Part};
use crate::space::positions::positions;
use crate::space::scheme::MetricRule;
use dgsuite_gpu::{Buffer, Element, GpuError, Host, SimdLevel};
use dgsuite_mesh::Mesh;
use rayon::prelude::*;
use std::sync::Mutex;

/// The reactions of a discretisation, with their coefficients and rows.
pub(crate) struct Reactions<T: Element> {
    pub(crate) kernels: Vec<Box<dyn ReactionKernels<T>>>,
    /// Number of coefficients of all reactions together.
    pub(crate) count: usize,
    /// Per group and part: coefficients, `[block][point][coefficient][lane]`.
    pub(crate) coefficients: Vec<Vec<Buffer<T>>>,
    /// Per group, whether all source terms are zero in a block for every state.
    idle: Vec<Vec<bool>>,
    /// Per group: the rows to be added, those of a source included; empty on a device.
    pub(crate) rows: Vec<Buffer<T>>,
    /// The largest stiffness of all elements, on all ranks.
    pub(crate) stiffness: f64,
}

impl<T: PackScalar> Reactions<T> {
    /// Evaluates the coefficients of `kernels` at the volume points of `groups`; `evaluates` if the host
    /// computes residuals. `None` if there are no reactions.
    ///
    /// # Errors
    /// [`OpsError::ReactionCoefficient`] for a value that is not finite; [`GpuError`] if memory cannot be
    /// allocated; [`OpsError::Ranks`].
    pub(crate) fn new(
        mesh: &Mesh,
        groups: &[Group<T>],
        host: &Host,
        kernels: Vec<Box<dyn ReactionKernels<T>>>,
        evaluates: bool,
        ranks: Option<&Ranks>,
    ) -> Result<Option<Self>, OpsError> {
        if kernels.is_empty() {
            return Ok(None);
        }
        let count = kernels.iter().map(|kernel| kernel.coefficients().count()).sum();
        let found = Self::evaluate(mesh, groups, host, &kernels, count);
        let Evaluated { coefficients, idle, stiffness } = match ranks {
            Some(ranks) => crate::rhs::ranks::agree(ranks.comm().as_ref(), found)?,
            None => found?,
        };
        let rows = groups
            .iter()
            .map(|g| Buffer::zeros_on(host, if evaluates { g.state.len() } else { 0 }))
            .collect::<Result<_, GpuError>>()?;
        let mut largest = [stiffness];
        if let Some(ranks) = ranks {
            ranks.max(&mut largest);
        }
        Ok(Some(Self { kernels, count, coefficients, idle, rows, stiffness: largest[0] }))
    }

    /// The coefficients of all parts, and what follows from them.
    fn evaluate(
        mesh: &Mesh,
        groups: &[Group<T>],
        host: &Host,
        kernels: &[Box<dyn ReactionKernels<T>>],
        count: usize,
    ) -> Result<Evaluated<T>, OpsError> {
        let mut all = Evaluated { coefficients: Vec::new(), idle: Vec::new(), stiffness: 0.0 };
        for group in groups {
            let (mut of_parts, mut idle) = (Vec::new(), Vec::new());
            for part in &group.parts {
                let lanes = group.state.lanes;
                let elements = &group.elements[part.first_block * lanes..][..part.n_blocks * lanes];
                let len = part.n_points * count * lanes;
                let mut values = Buffer::<T>::zeros_on(host, part.n_blocks * len)?;
                let found = host.install(|| {
                    let blocks = values.par_chunks_mut(len).zip(elements.par_chunks(lanes));
                    let block = |(out, own): (&mut [T], &[u32])| block_values(mesh, part, kernels, own, out);
                    blocks.map(block).collect::<Result<Vec<_>, _>>()
                })?;
                all.stiffness = found.iter().fold(all.stiffness, |most, of| most.max(of.0));
                idle.extend(found.iter().map(|of| of.1));
                of_parts.push(values);
            }
            all.coefficients.push(of_parts);
            all.idle.push(idle);
        }
        Ok(all)
    }

    /// Number of scalars of coefficients and rows.
    pub(crate) fn len(&self) -> usize {
        let coefficients = self.coefficients.iter().flatten();
        coefficients.chain(&self.rows).map(|values| values.len()).sum()
    }

    /// Computes the rows from the state `u` and the rows of a source that does not depend on the state, if
    /// there is one.
    fn update(
        &mut self,
        groups: &[Group<T>],
        host: &Host,
        level: SimdLevel,
        scratch: &[Mutex<Scratch<T>>],
        u: &[T],
        given: Option<&[Buffer<T>]>,
    ) {
        let (kernels, count) = (&self.kernels, self.count);
        for (g, (group, rows)) in groups.iter().zip(&mut self.rows).enumerate() {
            let len = group.state.block_len();
            let state = &u[group.offset..group.offset + group.state.len()];
            let given = given.map(|given| &given[g]);
            let (coefficients, idle) = (&self.coefficients[g], &self.idle[g]);
            let work = |(i, rows): (usize, &mut [T])| {
                let thread = rayon::current_thread_index().unwrap_or(0) % scratch.len();
                let mut scratch = lock(&scratch[thread]);
                for (b, rows) in rows.chunks_mut(len).enumerate() {
                    let block = i * CHUNK + b;
                    if idle[block] {
                        // Rows are zero from the start.
                        if let Some(given) = given {
                            rows.copy_from_slice(&given[block * len..(block + 1) * len]);
                        }
                        continue;
                    }
                    let p = group.parts.iter().rposition(|p| p.first_block <= block).unwrap_or(0);
                    let part = &group.parts[p];
                    let c_len = part.n_points * count * group.state.lanes;
                    let c = &coefficients[p][(block - part.first_block) * c_len..][..c_len];
                    let u = &state[block * len..(block + 1) * len];
                    block_rows(group, part, block, level, kernels, count, u, c, &mut scratch, rows);
                    if let Some(given) = given {
                        rows.iter_mut().zip(&given[block * len..]).for_each(|(r, g)| *r += *g);
                    }
                }
            };
            host.install(|| rows.par_chunks_mut(CHUNK * len).enumerate().for_each(work));
        }
    }
}

/// What is known of the coefficients of a discretisation, on this rank.
struct Evaluated<T: Element> {
    coefficients: Vec<Vec<Buffer<T>>>,
    idle: Vec<Vec<bool>>,
    stiffness: f64,
}

/// Evaluates the coefficients of one block, and returns its largest stiffness and whether it is idle.
fn block_values<T: PackScalar>(
    mesh: &Mesh,
    part: &Part<T>,
    kernels: &[Box<dyn ReactionKernels<T>>],
    elements: &[u32],
    out: &mut [T],
) -> Result<(f64, bool), OpsError> {
    let lanes = elements.len();
    let count = out.len() / (part.n_points * lanes);
    let (mut stiffness, mut idle) = (0.0_f64, true);
    for (lane, &element) in elements.iter().enumerate() {
        let x = positions(mesh, element as usize, &part.reference.volume.points);
        let mut first = 0;
        for kernel in kernels {
            let coefficients = kernel.coefficients();
            let own = coefficients.count();
            let mut values = vec![Vec::new(); own];
            coefficients.eval(&x, &mut values);
            for (q, &at) in x.iter().enumerate() {
                let c: Vec<f64> = values.iter().map(|v| v[q]).collect();
                if let Some(&value) = c.iter().find(|c| !c.is_finite()) {
                    return Err(OpsError::ReactionCoefficient { value, at });
                }
                stiffness = stiffness.max(kernel.stiffness(&c));
                idle &= kernel.is_idle(&c);
                for (k, &c) in c.iter().enumerate() {
                    out[(q * count + first + k) * lanes + lane] = T::from_f64(c);
                }
            }
            first += own;
        }
    }
    Ok((stiffness, idle))
}

/// Computes `Π J S` of a block, `Π S` on affine elements (whose operators contain `1/J`).
fn block_rows<T: PackScalar>(
    group: &Group<T>,
    part: &Part<T>,
    block: usize,
    level: SimdLevel,
    kernels: &[Box<dyn ReactionKernels<T>>],
    count: usize,
    u: &[T],
    c: &[T],
    scratch: &mut Scratch<T>,
    rows: &mut [T],
) {
    let (fields, lanes, n) = (group.state.fields, group.state.lanes, part.n_points);
    let operators = &part.operators;
    let states = if part.collocated {
        u
    } else {
        multiply(level, fields, &operators.interp, u, &mut scratch.between, &mut scratch.points);
        &scratch.points[..]
    };
    let rates = &mut scratch.fluxes[..n * fields * lanes];
    rates.fill(T::ZERO);
    let mut first = 0;
    for kernel in kernels {
        kernel.add(level, n, states, c, first, count, rates);
        first += kernel.coefficients().count();
    }
    if part.spec.rule != MetricRule::Affine {
        let own = (block - part.first_block) * n * lanes;
        let inverse = &part.inverse_jacobian[own..own + n * lanes];
        for (values, inverse) in rates.chunks_exact_mut(fields * lanes).zip(inverse.chunks_exact(lanes)) {
            for field in values.chunks_exact_mut(lanes) {
                field.iter_mut().zip(inverse).for_each(|(v, inverse)| *v /= *inverse);
            }
        }
    }
    if part.collocated {
        rows.copy_from_slice(rates);
    } else {
        multiply(level, fields, &operators.project, rates, &mut scratch.between, rows);
    }
}

impl<T: PackScalar> Discretization<T> {
    /// Computes the rows of the reactions in the state `u`, if there are any.
    pub(crate) fn update_reactions(&mut self, u: &[T]) {
        let Some(reactions) = &mut self.reactions else { return };
        let given = self.source.as_ref().map(|source| &source.rows[..]);
        reactions.update(&self.groups, &self.host, self.level, &self.scratch, u, given);
    }

    /// The rows of a group that are added before the metric rule: of reactions and sources, or empty.
    pub(crate) fn added_rows(&self, group: usize) -> &[T] {
        match (&self.reactions, &self.source) {
            (Some(reactions), _) => &reactions.rows[group],
            (None, Some(source)) => &source.rows[group],
            (None, None) => &[],
        }
    }

    /// The step `dt` with the stiffness of the reactions: `1/(1/Δt + r)`; `dt` itself without them.
    pub(crate) fn limited_by_reactions(&self, dt: f64) -> f64 {
        match &self.reactions {
            Some(reactions) if reactions.stiffness > 0.0 => 1.0 / (1.0 / dt + reactions.stiffness),
            _ => dt,
        }
    }
}
