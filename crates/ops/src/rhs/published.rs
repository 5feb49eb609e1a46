//! Orchestration of the two passes of diffusion: boundary jumps and fluxes, exchange of published fluxes.
//!
//! Within regions of blocks both passes run interleaved (see [`Schedule`]). Then the diffusive fluxes on
//! boundaries are computed, published fluxes of other groups are copied, and the second pass runs over the
//! blocks that had to wait for them.

use crate::error::OpsError;
use crate::lanes::simd::PackScalar;
use crate::lock::lock;
use crate::rhs::boundary_set::BoundarySet;
use crate::rhs::diffusion_passes::{Diffusing, Kept, gradient_blocks, mean_flux_blocks};
use crate::rhs::discretization::{CHUNK, Discretization, Outputs};
use crate::rhs::one_sided::{OneSided, published_len};
use crate::rhs::residual::{Inputs, Scratch};
use crate::rhs::schedule::Schedule;
use crate::space::connect::{Connectivity, Foreign, Neighbours};
use crate::space::group::Group;
use dgsuite_gpu::{Buffer, Element, Host};
use rayon::prelude::*;
use std::ops::Range;
use std::sync::Mutex;

/// Data that diffusion keeps between its passes.
pub(crate) struct Published<T: Element> {
    /// Per group, one-sided normal fluxes, see [`OneSided`].
    pub(crate) fluxes: Vec<Buffer<T>>,
    /// Per group, the index of the matching point of the neighbour in its fluxes.
    tables: Vec<Vec<u32>>,
    /// Per group, the order of the passes.
    schedules: Vec<Schedule>,
    /// Per group, the blocks that wait for the end of the first pass: those that do not read cut faces, then
    /// those that do.
    waiting: Vec<[Vec<u32>; 2]>,
    /// `u_b − u⁻` on the boundaries, in the order of the exterior buffer.
    pub(crate) jumps: Vec<T>,
    /// Physical gradients on the boundaries, `[point][x][field]`.
    pub(crate) gradients: Vec<T>,
    /// One-sided fluxes of other groups' elements, and their replacements on boundaries.
    pub(crate) exterior: Vec<T>,
}

impl<T: PackScalar> Published<T> {
    /// Allocates the buffers for `groups`.
    ///
    /// # Errors
    /// [`OpsError::Machine`] if memory cannot be allocated.
    pub(crate) fn new(
        groups: &[Group<T>],
        connectivity: &Connectivity,
        dim: usize,
        host: &Host,
    ) -> Result<Self, OpsError> {
        let tables = |(g, n): (&Group<T>, &Neighbours)| {
            n.point_tables.iter().map(|row| row / g.trace.lanes as u32).collect()
        };
        let pairs = || groups.iter().zip(&connectivity.neighbours);
        let threads = host.n_threads();
        let schedules: Vec<_> = pairs().map(|(g, n)| Schedule::new(g, n, threads)).collect();
        let room = |(g, s): (&Group<T>, &Schedule)| {
            Buffer::zeros_on(host, s.n_places * g.state.lanes * published_len(g))
        };
        let waiting = schedules.iter().enumerate().map(|(g, s)| {
            let (late, early) = s.waiting.iter().partition(|&&b| connectivity.reads_cuts(g, b as usize));
            [early, late]
        });
        Ok(Self {
            waiting: waiting.collect(),
            fluxes: groups.iter().zip(&schedules).map(room).collect::<Result<_, _>>()?,
            tables: pairs().map(tables).collect(),
            schedules,
            jumps: vec![T::ZERO; connectivity.boundary_len],
            gradients: vec![T::ZERO; connectivity.boundary_len * dim],
            exterior: vec![T::ZERO; connectivity.exterior_len],
        })
    }

    /// The one-sided fluxes of group `g`, stored in `fluxes`, for reading and writing.
    fn one_sided<'a>(&'a self, fluxes: *mut [T], g: usize, inputs: &Inputs<'a, T>) -> OneSided<'a, T> {
        OneSided {
            fluxes,
            stride: published_len(inputs.group),
            tables: &self.tables[g],
            neighbours: inputs.neighbours,
            place: &self.schedules[g].place,
        }
    }

    /// One-sided fluxes of an element that is also read outside the passes, `[face point][field]`.
    fn of_element(&self, g: usize, group: &Group<T>, slot: usize) -> &[T] {
        let (lanes, len) = (group.state.lanes, published_len(group));
        let place = self.schedules[g].place[slot / lanes] as usize;
        &self.fluxes[g][(place * lanes + slot % lanes) * len..][..len]
    }

    /// Number of scalars stored.
    pub(crate) fn len(&self) -> usize {
        self.fluxes.iter().map(|b| b.len()).sum::<usize>()
            + self.jumps.len()
            + self.gradients.len()
            + self.exterior.len()
    }
}

impl<T: PackScalar> BoundarySet<T> {
    /// Computes `u_b` and the jumps `u_b − u⁻`; needs the inner traces.
    pub(crate) fn face_states(&mut self, jumps: &mut [T]) {
        let Some(kernel) = self.binding.kernel.diffusive() else { return };
        kernel.face_state(&self.minus, &self.normal, &self.data, &mut self.face);
        for ((jump, face), minus) in jumps.iter_mut().zip(&self.face).zip(&self.minus) {
            *jump = *face - *minus;
        }
    }
}

impl<T: PackScalar> Discretization<T> {
    /// Runs both passes of diffusion over all groups.
    pub(crate) fn diffuse(&mut self, u: &[T], outputs: &Outputs<T>) {
        let (Some(diffusion), Some(mut published)) = (self.diffusion.take(), self.published.take()) else {
            return;
        };
        let gradients = published.gradients.as_mut_ptr();
        let diffusing = Diffusing { diffusion: diffusion.as_ref(), jumps: &published.jumps };
        for (g, output) in outputs.iter().enumerate().filter_map(|(g, o)| Some((g, o.as_ref()?))) {
            let source = self.added_rows(g);
            let inputs = self.inputs(g, u, source);
            let fluxes = &raw mut published.fluxes[g][..];
            let one_sided = published.one_sided(fluxes, g, &inputs);
            let kept = Kept { rows: output.rows(), published: one_sided, gradients };
            let schedule = &published.schedules[g];
            let region = |region: &Range<usize>| {
                let mut scratch = lock(self.scratch_of_thread());
                for block in region.clone() {
                    // SAFETY: the pointers cover the group and the boundaries; each block is in exactly one
                    // region, and each boundary face belongs to one element. The schedule lists a block after
                    // all that it reads, of its own region.
                    unsafe {
                        gradient_blocks(&inputs, &diffusing, &mut scratch, block..block + 1, &kept);
                        let after = schedule.after(block);
                        mean_flux_blocks(&inputs, one_sided, &[], &mut scratch, after, output);
                    }
                }
            };
            self.host.install(|| schedule.regions.par_iter().for_each(region));
        }
        let mut halo = self.halo.take();
        if let Some(halo) = &mut halo {
            halo.start(|foreign, out| self.copy_flux(foreign, &published, out));
        }
        self.boundary_fluxes(&mut published);
        self.exchange_fluxes(&mut published);
        // Blocks that read cut faces wait for the messages, which the work on all others hides.
        for turn in if self.waits() { [1, 0] } else { [0, 1] } {
            if turn == 1 {
                let Some(halo) = &mut halo else { continue };
                halo.finish(&mut published.exterior);
            }
            self.second_pass(&mut published, turn, u, outputs);
        }
        self.halo = halo;
        self.diffusion = Some(diffusion);
        self.published = Some(published);
    }

    /// Runs the second pass over the blocks that had to wait for the end of the first pass: those that do not
    /// read cut faces (`turn` 0) or those that do (1).
    fn second_pass(&self, published: &mut Published<T>, turn: usize, u: &[T], outputs: &Outputs<T>) {
        for (g, output) in outputs.iter().enumerate().filter_map(|(g, o)| Some((g, o.as_ref()?))) {
            let inputs = self.inputs(g, u, &[]);
            let fluxes = &raw mut published.fluxes[g][..];
            let one_sided = published.one_sided(fluxes, g, &inputs);
            let exterior = &published.exterior;
            let blocks = |blocks: &[u32]| {
                let mut scratch = lock(self.scratch_of_thread());
                // SAFETY: the pointers cover the group; each block is in exactly one chunk, and the first
                // pass is over.
                unsafe { mean_flux_blocks(&inputs, one_sided, exterior, &mut scratch, blocks, output) };
            };
            let waiting = &published.waiting[g][turn];
            self.host.install(|| waiting.par_chunks(CHUNK).for_each(blocks));
        }
    }

    /// Work space of the calling thread.
    pub(crate) fn scratch_of_thread(&self) -> &Mutex<Scratch<T>> {
        &self.scratch[rayon::current_thread_index().unwrap_or(0) % self.scratch.len()]
    }

    /// Inputs of the residual of group `g`.
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

    /// Computes the diffusive flux through each boundary. The exterior buffer receives the one-sided flux
    /// whose mean with the element's own is that flux, so that the second pass treats boundaries like
    /// neighbours.
    fn boundary_fluxes(&mut self, published: &mut Published<T>) {
        let fields = self.physics.n_fields();
        let dim = self.physics.dim();
        let mut all = std::mem::take(&mut published.exterior);
        let mut faces_before = 0;
        for set in &mut self.boundaries {
            let face = faces_before;
            faces_before += set.first.len() - 1;
            let Some(kernel) = set.binding.kernel.diffusive() else { continue };
            let begin = self.connectivity.boundary_exterior[set.boundary];
            let len = set.positions.len() * fields;
            let gradients = &published.gradients[begin * dim..(begin + len) * dim];
            let (minus, data, of) = (&set.minus, &set.data, &set.coefficients);
            kernel.normal_flux(minus, &set.face, gradients, &set.normal, data, of, &mut set.flux);
            let exterior = &mut all[begin..begin + len];
            let mut at = 0;
            for face in &self.connectivity.boundaries[set.boundary] {
                let group = &self.groups[face.group as usize];
                let own = published.of_element(face.group as usize, group, face.slot as usize);
                let points =
                    group.face_offsets[face.face as usize]..group.face_offsets[face.face as usize + 1];
                for q in points {
                    for k in 0..fields {
                        let flux = set.flux[at];
                        exterior[at] = own[q * fields + k] - (flux + flux);
                        at += 1;
                    }
                }
            }
            let flux = set.flux.iter().map(|f| f.to_f64());
            self.tally.add(face, &set.first, set.weight.iter().copied(), flux);
        }
        self.tally.sum();
        published.exterior = all;
    }

    /// Copies published fluxes of other groups' elements into the exterior buffer.
    fn exchange_fluxes(&self, published: &mut Published<T>) {
        let mut all = std::mem::take(&mut published.exterior);
        for foreign in &self.connectivity.foreign {
            self.copy_flux(foreign, published, &mut all[foreign.exterior as usize..]);
        }
        published.exterior = all;
    }

    /// Copies the published flux of an element's face, `[point][field]`, in the frame of the face that meets
    /// it.
    fn copy_flux(&self, foreign: &Foreign, published: &Published<T>, out: &mut [T]) {
        let group = &self.groups[foreign.group as usize];
        let neighbours = &self.connectivity.neighbours[foreign.group as usize];
        let (fields, lanes) = (group.trace.fields, group.trace.lanes);
        let source = published.of_element(foreign.group as usize, group, foreign.slot as usize);
        let table = neighbours.point_table(foreign.code, foreign.points as usize);
        for (point, &row) in out.chunks_exact_mut(fields).zip(table) {
            point.copy_from_slice(&source[row as usize / lanes..][..fields]);
        }
    }
}
