//! Memory bandwidth: copy, triad (McCalpin's STREAM, 1995) and read, each thread on its own part.

use std::hint::black_box;

use rayon::prelude::*;

use super::{Effort, best_time};
use crate::simd::simd_versions;
use crate::{Buffer, GpuError, Host, Scalar};

/// Bytes per second.
pub(super) struct Bandwidth {
    pub(super) copy: f64,
    pub(super) triad: f64,
    pub(super) read: f64,
}

#[inline(always)]
fn triad_body<T: Scalar>(a: &mut [T], b: &[T], s: T, c: &[T]) {
    for (a, (b, c)) in a.iter_mut().zip(b.iter().zip(c)) {
        *a = *b + s * *c;
    }
}

#[inline(always)]
fn read_body<T: Scalar>(a: &[T], b: &[T]) -> T {
    let mut lanes = [T::ZERO; 32];
    for (a, b) in a.as_chunks::<32>().0.iter().zip(b.as_chunks::<32>().0) {
        for l in 0..32 {
            lanes[l] += a[l] * b[l];
        }
    }
    lanes.into_iter().sum()
}

simd_versions! {
    /// `a = b + s c`.
    fn triad<T: Scalar>(a: &mut [T], b: &[T], s: T, c: &[T]) = triad_body;
}
simd_versions! {
    /// `Σ a b` over whole blocks of 32.
    fn read<T: Scalar>(a: &[T], b: &[T]) -> T = read_body;
}

pub(super) fn measure(host: &Host, effort: Effort) -> Result<Bandwidth, GpuError> {
    let n_threads = host.n_threads();
    let stretch = (effort.array_bytes / 8 / n_threads).next_multiple_of(32).max(32);
    let n = stretch * n_threads;
    let mut a = Buffer::<f64>::zeros_on(host, n)?;
    let mut b = Buffer::<f64>::zeros_on(host, n)?;
    let mut c = Buffer::<f64>::zeros_on(host, n)?;
    b.fill(1.0);
    c.fill(2.0);

    let copy = best_time(effort.runs, || {
        host.install(|| {
            let pairs = a.par_chunks_mut(stretch).zip(b.par_chunks(stretch));
            pairs.for_each(|(a, b)| a.copy_from_slice(black_box(b)));
        });
    });
    let triad = best_time(effort.runs, || {
        host.install(|| {
            let triples = a.par_chunks_mut(stretch).zip(b.par_chunks(stretch)).zip(c.par_chunks(stretch));
            triples.for_each(|((a, b), c)| triad(host, black_box(a), b, 3.0, c));
        });
    });
    let read = best_time(effort.runs, || {
        host.install(|| {
            let pairs = b.par_chunks(stretch).zip(c.par_chunks(stretch));
            pairs.for_each(|(b, c)| {
                black_box(read(host, black_box(b), c));
            });
        });
    });
    let bytes = 8.0 * n as f64;
    Ok(Bandwidth { copy: 2.0 * bytes / copy, triad: 3.0 * bytes / triad, read: 2.0 * bytes / read })
}
