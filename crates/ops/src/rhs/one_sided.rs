//! One-sided normal fluxes, which are exchanged between the two passes of diffusion.
//!
//! The fluxes of an element are contiguous, `[place][lane][face point][field]`, so that a neighbour finds the
//! fluxes of a face in few cache lines. In packs of lanes each cache line would contain only one number of
//! that element. Both passes transpose between the two orders in registers.

use crate::lanes::simd::{Kernel, MAX_LANES, Pack, PackScalar, compiled};
use crate::lanes::span::{Span, by_fields};
use crate::space::connect::Neighbours;
use crate::space::group::Group;
use dgsuite_gpu::Element;

compiled! {
    publish: Publish,
    mean_flux: MeanFlux,
}

/// Number of scalars of an element's one-sided fluxes, padded to whole packs.
pub(crate) fn published_len<T: Element>(group: &Group<T>) -> usize {
    (group.trace.rows * group.trace.fields).next_multiple_of(group.trace.lanes)
}

/// Location of the one-sided fluxes of a group.
#[derive(Clone, Copy)]
pub(crate) struct OneSided<'a, T> {
    /// `[place][lane][face point][field]`, each lane padded to `stride` scalars.
    pub(crate) fluxes: *mut [T],
    pub(crate) stride: usize,
    /// `[code][point of the own face]`: index of the matching point's first scalar in its element; see
    /// [`Neighbours`].
    pub(crate) tables: &'a [u32],
    pub(crate) neighbours: &'a Neighbours,
    /// The place of each block, see [`Schedule`](crate::rhs::schedule::Schedule).
    pub(crate) place: &'a [u32],
}

// SAFETY: blocks write disjoint parts, and read what is complete, see `schedule`.
unsafe impl<T: Send> Send for OneSided<'_, T> {}
// SAFETY: likewise.
unsafe impl<T: Send> Sync for OneSided<'_, T> {}

/// Normals and scales of faces or face points, and the points of each face.
#[derive(Clone, Copy)]
pub(crate) struct FaceScales<'a, T> {
    pub(crate) dim: usize,
    pub(crate) offsets: &'a [usize],
    /// Normal and scale, `[D + 1][lane]`, of each face or face point.
    pub(crate) geometry: &'a [T],
    pub(crate) per_point: bool,
}

impl<T> OneSided<'_, T> {
    /// Index of the first scalar of a block with `lanes` lanes.
    pub(crate) fn first_of(&self, block: usize, lanes: usize) -> usize {
        self.place[block] as usize * lanes * self.stride
    }
}

impl<T: PackScalar> FaceScales<'_, T> {
    /// Half of the scale at point `q` of face `f`; lengths must have been asserted by [`check`](Self::check).
    #[inline(always)]
    unsafe fn half<V: Pack<T = T>>(&self, f: usize, q: usize) -> V {
        let row = if self.per_point { q } else { f };
        let at = (row * (self.dim + 1) + self.dim) * V::W;
        // SAFETY: by the caller's contract.
        V::lit(0.5) * unsafe { V::load(self.geometry.as_ptr().add(at)) }
    }

    /// Asserts lengths; returns the number of faces and face points.
    #[inline(always)]
    fn check<V: Pack<T = T>>(&self) -> (usize, usize) {
        let n_faces = self.offsets.len() - 1;
        let n = self.offsets[n_faces];
        let rows = if self.per_point { n } else { n_faces };
        assert!(self.geometry.len() >= rows * (self.dim + 1) * V::W);
        (n_faces, n)
    }
}

/// Stores the one-sided fluxes `p⁻` of a block for its neighbours, and subtracts its own half of the mean
/// from the numerical flux, `surface ← surface − ½ s p⁻`.
pub(crate) struct Publish<'a, T> {
    pub(crate) fields: usize,
    pub(crate) scales: FaceScales<'a, T>,
    /// `[point][field][lane]`, padded to `stride` packs.
    pub(crate) own: &'a [T],
    pub(crate) surface: &'a mut [T],
    pub(crate) stride: usize,
    /// `[lane][point][field]`, `stride` scalars a lane.
    pub(crate) out: &'a mut [T],
}

impl<T: PackScalar> Kernel<T> for Publish<'_, T> {
    #[inline(always)]
    fn run<V: Pack<T = T>>(mut self) {
        by_fields!(self, V);
    }
}

impl<T: PackScalar> Publish<'_, T> {
    #[inline(always)]
    fn run_fields<V: Pack<T = T>, const N: usize>(&mut self, span: Span) {
        let (n_faces, n) = self.scales.check::<V>();
        let stride = self.stride;
        assert!(stride.is_multiple_of(V::W) && stride >= n * span.of() && self.own.len() >= stride * V::W);
        assert!(self.surface.len() >= n * span.of() * V::W && self.out.len() >= stride * V::W);
        let (own, surface, out) = (self.own.as_ptr(), self.surface.as_mut_ptr(), self.out.as_mut_ptr());
        for f in 0..n_faces {
            for q in self.scales.offsets[f]..self.scales.offsets[f + 1] {
                // SAFETY: `q < n`; lengths are asserted above.
                unsafe {
                    let half = self.scales.half::<V>(f, q);
                    for k in 0..N {
                        let at = span.at(q, k) * V::W;
                        (V::load(surface.add(at)) - half * V::load(own.add(at))).store(surface.add(at));
                    }
                }
            }
        }
        if !span.is_last::<N>() {
            return;
        }
        for first in (0..stride).step_by(V::W) {
            // SAFETY: `stride` packs and `W` rows of `stride` scalars, a multiple of `W`, as asserted above.
            unsafe { V::store_turned(own.add(first * V::W), out.add(first), stride) };
        }
    }
}

/// Computes `out ← −½ s p⁺` at the face points of one block: the neighbours' half of the mean flux, where
/// each `p` refers to its own outward normal.
///
/// The caller guarantees that the neighbours' fluxes are complete and that no thread writes them.
pub(crate) struct MeanFlux<'a, T> {
    pub(crate) fields: usize,
    pub(crate) scales: FaceScales<'a, T>,
    pub(crate) from: OneSided<'a, T>,
    pub(crate) block: usize,
    pub(crate) out: &'a mut [T],
}

impl<T: PackScalar> Kernel<T> for MeanFlux<'_, T> {
    #[inline(always)]
    fn run<V: Pack<T = T>>(mut self) {
        by_fields!(self, V);
    }
}

impl<T: PackScalar> MeanFlux<'_, T> {
    #[inline(always)]
    fn run_fields<V: Pack<T = T>, const N: usize>(&mut self, span: Span) {
        let (n_faces, n) = self.scales.check::<V>();
        assert!(self.out.len() >= n * span.of() * V::W);
        let OneSided { fluxes, stride, tables, neighbours, place } = self.from;
        let lanes = self.block * n_faces * V::W..(self.block + 1) * n_faces * V::W;
        let (slots, codes) = (&neighbours.slot[lanes.clone()], &neighbours.code[lanes]);
        for f in 0..n_faces {
            let (first, end) = (self.scales.offsets[f], self.scales.offsets[f + 1]);
            let mut base = [fluxes.cast::<T>().cast_const(); MAX_LANES];
            let mut table = [tables.as_ptr(); MAX_LANES];
            for l in 0..V::W {
                let slot = slots[f * V::W + l] as usize;
                let slot = place[slot / V::W] as usize * V::W + slot % V::W;
                let entry = codes[f * V::W + l] as usize * neighbours.table_len;
                assert!((slot + 1) * stride <= fluxes.len() && entry + (end - first) <= tables.len());
                base[l] = base[l].wrapping_add(slot * stride);
                table[l] = table[l].wrapping_add(entry);
            }
            for q in first..end {
                // SAFETY: tables hold points of an element, `stride` covers them; slots and entries are
                // asserted above, lengths by `check`. The caller guarantees that no thread writes what is
                // read.
                unsafe {
                    let half = self.scales.half::<V>(f, q);
                    let mut rows = base;
                    for l in 0..V::W {
                        rows[l] = base[l].add(*table[l].add(q - first) as usize + span.at(0, 0));
                    }
                    let across = V::load_turned::<N>(&rows);
                    for k in 0..N {
                        (-(half * across[k])).store(self.out.as_mut_ptr().add(span.at(q, k) * V::W));
                    }
                }
            }
        }
    }
}
