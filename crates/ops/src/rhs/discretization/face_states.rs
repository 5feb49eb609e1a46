//! Whether the states at the points of faces are admissible, which the fluxes through faces are computed
//! from.

use rayon::prelude::*;

use super::{CHUNK, Discretization};
use crate::lanes::simd::PackScalar;
use crate::lock::lock;
use crate::rhs::residual::trace_blocks;
use crate::space::group::Group;

impl<T: PackScalar> Discretization<T> {
    /// Returns whether the states on the inner sides of all faces are finite and admissible, on all ranks.
    /// [`time_step`](Self::time_step) looks at the volume points alone, between which a polynomial may fall
    /// below zero. Collective.
    #[must_use]
    pub fn admissible_at_faces(&self, u: &[T]) -> bool {
        let fine = self.groups.iter().all(|group| {
            let chunk = |i: usize| {
                let mut faces = vec![T::ZERO; group.trace.block_len()];
                let blocks = i * CHUNK..((i + 1) * CHUNK).min(group.state.blocks);
                blocks.into_iter().all(|block| self.block_is_admissible(group, u, block, &mut faces))
            };
            let chunks = group.state.blocks.div_ceil(CHUNK);
            self.host.install(|| (0..chunks).into_par_iter().all(chunk))
        });
        match &self.ranks {
            None => fine,
            Some(ranks) => {
                let mut bad = [f64::from(u8::from(!fine))];
                ranks.max(&mut bad);
                bad[0] == 0.0
            }
        }
    }

    /// The same of a block; `faces` is the place of its traces.
    fn block_is_admissible(&self, group: &Group<T>, u: &[T], block: usize, faces: &mut Vec<T>) -> bool {
        let state = &u[group.offset..group.offset + group.state.len()];
        let width = group.state.fields * group.state.lanes;
        let rows = match &group.face_nodes {
            Some(nodes) => {
                let own = &state[block * group.state.block_len()..];
                faces.clear();
                nodes.iter().for_each(|&i| faces.extend(&own[i as usize * width..][..width]));
                nodes.len()
            }
            None => {
                let mut scratch = lock(self.scratch_of_thread());
                trace_blocks(group, self.level, state, &mut scratch, block..block + 1, faces);
                group.trace.rows
            }
        };
        let (mut speed, mut admissible) = ([T::ZERO; 16], [T::ZERO; 16]);
        self.physics.wave_speed(self.level, rows, faces, &mut speed, &mut admissible);
        let lanes = speed.iter().zip(&admissible).take(group.state.lanes);
        lanes.into_iter().all(|(speed, a)| speed.to_f64().is_finite() && a.to_f64() > 0.0)
    }
}
