//! Between the two passes of diffusion: jumps and fluxes on boundaries, published fluxes of other groups.

use crate::boundary_set::BoundarySet;
use crate::connect::Connectivity;
use crate::discretization::{CHUNK, Discretization, lock};
use crate::error::OpsError;
use crate::group::Group;
use crate::residual::Inputs;
use crate::simd::PackScalar;
use crate::viscous::{Diffusing, Kept, gradient_blocks};
use dgsuite_gpu::{Buffer, Element, Host};
use rayon::prelude::*;

/// What diffusion keeps between its passes.
pub(crate) struct Published<T: Element> {
    /// Per group: volume and inviscid face terms before the metric rule, as the state.
    pub(crate) rows: Vec<Buffer<T>>,
    /// Per group: one-sided normal fluxes, as traces.
    pub(crate) fluxes: Vec<Buffer<T>>,
    /// `u_b − u⁻` on the boundaries, as the exterior buffer.
    pub(crate) jumps: Vec<T>,
    /// Physical gradients on the boundaries, `[point][x][field]`.
    pub(crate) gradients: Vec<T>,
    /// One-sided fluxes of other groups, and what stands for them on boundaries.
    pub(crate) exterior: Vec<T>,
}

impl<T: PackScalar> Published<T> {
    /// Room for `groups`.
    ///
    /// # Errors
    /// [`OpsError::Machine`] if it cannot be had.
    pub(crate) fn new(
        groups: &[Group<T>],
        connectivity: &Connectivity,
        dim: usize,
        host: &Host,
    ) -> Result<Self, OpsError> {
        let of = |len: &dyn Fn(&Group<T>) -> usize| {
            groups.iter().map(|g| Buffer::zeros_on(host, len(g))).collect::<Result<Vec<_>, _>>()
        };
        Ok(Self {
            rows: of(&|g| g.state.len())?,
            fluxes: of(&|g| g.trace.len())?,
            jumps: vec![T::ZERO; connectivity.boundary_len],
            gradients: vec![T::ZERO; connectivity.boundary_len * dim],
            exterior: vec![T::ZERO; connectivity.exterior_len],
        })
    }

    /// Scalars held.
    pub(crate) fn len(&self) -> usize {
        let of = |b: &[Buffer<T>]| b.iter().map(|b| b.len()).sum::<usize>();
        of(&self.rows) + of(&self.fluxes) + self.jumps.len() + self.gradients.len() + self.exterior.len()
    }
}

impl<T: PackScalar> BoundarySet<T> {
    /// `u_b` and the jumps `u_b − u⁻`, after the inner traces are known.
    pub(crate) fn face_states(&mut self, jumps: &mut [T]) {
        let Some(kernel) = self.binding.kernel.diffusive() else { return };
        kernel.face_state(&self.minus, &self.normal, &self.data, &mut self.face);
        for ((jump, face), minus) in jumps.iter_mut().zip(&self.face).zip(&self.minus) {
            *jump = *face - *minus;
        }
    }
}

impl<T: PackScalar> Discretization<T> {
    /// The first pass of diffusion, and what the second reads of boundaries and other groups.
    pub(crate) fn publish(&mut self, u: &[T]) {
        let (Some(diffusion), Some(mut published)) = (self.diffusion.take(), self.published.take()) else {
            return;
        };
        let diffusing = Diffusing { diffusion: diffusion.as_ref(), jumps: &published.jumps };
        let gradients = published.gradients.as_mut_ptr();
        for (g, group) in self.groups.iter().enumerate() {
            let source = self.source.as_ref().map_or(&[][..], |s| &s.rows[g]);
            let inputs = self.inputs(g, u, source);
            let kept = Kept {
                rows: published.rows[g].as_mut_ptr(),
                published: published.fluxes[g].as_mut_ptr(),
                gradients,
            };
            let chunks = group.state.blocks.div_ceil(CHUNK);
            let work = |i: usize| {
                let thread = rayon::current_thread_index().unwrap_or(0) % self.scratch.len();
                let mut scratch = lock(&self.scratch[thread]);
                let blocks = i * CHUNK..((i + 1) * CHUNK).min(group.state.blocks);
                // SAFETY: the pointers cover the group and the boundaries; each block is in exactly one chunk, and each
                // boundary face belongs to one element.
                unsafe { gradient_blocks(&inputs, &diffusing, &mut scratch, blocks, &kept) };
            };
            self.host.install(|| (0..chunks).into_par_iter().for_each(work));
        }
        self.boundary_fluxes(&mut published);
        self.exchange_fluxes(&mut published);
        self.diffusion = Some(diffusion);
        self.published = Some(published);
    }

    /// What the residual of group `g` reads.
    pub(crate) fn inputs<'a>(&'a self, g: usize, u: &'a [T], add: &'a [T]) -> Inputs<'a, T> {
        let group = &self.groups[g];
        Inputs {
            group,
            neighbours: &self.connectivity.neighbours[g],
            physics: self.physics.as_ref(),
            two_point: self.two_point.as_deref(),
            level: self.level,
            u: &u[group.offset..group.offset + group.state.len()],
            traces: &self.traces[g],
            exterior: &self.exterior,
            add,
        }
    }

    /// The diffusive flux through each boundary. The exterior gets the one-sided flux whose mean with the element's own is
    /// that flux, so that the second pass does not tell boundaries from neighbours.
    fn boundary_fluxes(&mut self, published: &mut Published<T>) {
        let fields = self.physics.n_fields();
        let dim = self.physics.dim();
        for set in &mut self.boundaries {
            let Some(kernel) = set.binding.kernel.diffusive() else { continue };
            let begin = self.connectivity.boundary_exterior[set.boundary];
            let len = set.positions.len() * fields;
            let gradients = &published.gradients[begin * dim..(begin + len) * dim];
            kernel.normal_flux(&set.minus, &set.face, gradients, &set.normal, &set.data, &mut set.flux);
            let exterior = &mut published.exterior[begin..begin + len];
            let mut at = 0;
            for face in &self.connectivity.boundaries[set.boundary] {
                let group = &self.groups[face.group as usize];
                let own = &published.fluxes[face.group as usize];
                let points =
                    group.face_offsets[face.face as usize]..group.face_offsets[face.face as usize + 1];
                for q in points {
                    for k in 0..fields {
                        let flux = set.flux[at];
                        exterior[at] = own[group.trace.index(face.slot as usize, q, k)] - (flux + flux);
                        at += 1;
                    }
                }
            }
            for (flux, w) in set.flux.chunks_exact(fields).zip(&set.weight) {
                for k in 0..fields {
                    self.tally[k] += w * flux[k].to_f64();
                }
            }
        }
    }

    /// Published fluxes of other groups' elements.
    fn exchange_fluxes(&self, published: &mut Published<T>) {
        for foreign in &self.connectivity.foreign {
            let group = &self.groups[foreign.group as usize];
            let neighbours = &self.connectivity.neighbours[foreign.group as usize];
            let source = &published.fluxes[foreign.group as usize];
            let base = group.trace.index(foreign.slot as usize, 0, 0);
            let mut at = foreign.exterior as usize;
            for &row in neighbours.point_table(foreign.code, foreign.points as usize) {
                for k in 0..group.trace.fields {
                    published.exterior[at] = source[base + row as usize + k * group.trace.lanes];
                    at += 1;
                }
            }
        }
    }
}
