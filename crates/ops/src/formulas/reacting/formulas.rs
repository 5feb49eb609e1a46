//! Reactions by formulas, evaluated for all points of a block at once.

use super::ReactionKernels;
use dgsuite_gpu::SimdLevel;
use dgsuite_physics::reaction::{FormulaReaction, Position};
use dgsuite_physics::trace::{Parameters, TraceError, device_fn};
use dgsuite_physics::{Coefficients, Law, Reaction};
use std::cell::RefCell;

/// The [`ReactionKernels`] of a [`FormulaReaction`].
///
/// On the host a formula is evaluated operation by operation over all points of a block, in double precision;
/// [`Reacting`](super::Reacting) would interpret it point by point, which takes ten times as long. On a
/// device it is compiled.
#[derive(Clone)]
pub struct ReactingByFormulas<L, const D: usize, const N: usize> {
    /// The formulas.
    pub reaction: FormulaReaction<L, D>,
}

/// The largest number of variables of a formula: the unknowns and three coordinates.
const MOST: usize = 16;

thread_local! {
    /// Columns of variables and of rates, kept between blocks and steps.
    static SCRATCH: RefCell<Vec<f64>> = const { RefCell::new(Vec::new()) };
}

macro_rules! reaction_kernels {
    ($t:ty) => {
        impl<L: Law<D, N>, const D: usize, const N: usize> ReactionKernels<$t>
            for ReactingByFormulas<L, D, N>
        {
            fn n_fields(&self) -> usize {
                N
            }

            fn coefficients(&self) -> &dyn Coefficients {
                &Position
            }

            fn add(
                &self,
                _: SimdLevel,
                n: usize,
                u: &[$t],
                c: &[$t],
                first: usize,
                stride: usize,
                out: &mut [$t],
            ) {
                const { assert!(N + 3 <= MOST, "unknowns of a law with formulas") };
                if n == 0 {
                    return;
                }
                let lanes = out.len().min(u.len()) / (n * N);
                SCRATCH.with_borrow_mut(|scratch| {
                    let len = n * lanes;
                    scratch.resize((N + 4) * len, 0.0);
                    let (columns, rates) = scratch.split_at_mut((N + 3) * len);
                    // Point `q` and lane `l` are entry `q lanes + l` of each column.
                    for i in 0..len {
                        let (q, l) = (i / lanes, i % lanes);
                        let state = std::array::from_fn(|k| f64::from(u[(q * N + k) * lanes + l]));
                        let primitive = self.reaction.law.to_primitive::<f64>(&state);
                        (0..N).for_each(|k| columns[k * len + i] = primitive[k]);
                        for d in 0..3 {
                            columns[(N + d) * len + i] = f64::from(c[(q * stride + first + d) * lanes + l]);
                        }
                    }
                    let mut slices: [&[f64]; MOST] = [&[]; MOST];
                    slices
                        .iter_mut()
                        .zip(columns.chunks_exact(len))
                        .for_each(|(slice, column)| *slice = column);
                    for (k, formula) in self.reaction.formulas.iter().enumerate().take(N) {
                        let Some(formula) = formula else { continue };
                        formula.eval_batch(&slices[..N + 3], rates);
                        for (i, rate) in rates.iter().enumerate() {
                            out[((i / lanes) * N + k) * lanes + i % lanes] += *rate as $t;
                        }
                    }
                });
            }

            fn stiffness(&self, _: &[f64]) -> f64 {
                self.reaction.stiffness
            }

            fn is_idle(&self, _: &[f64]) -> bool {
                false
            }

            fn device_source(&self, name: &str, parameters: &mut Parameters) -> Result<String, TraceError> {
                device_fn(name, &[("u", N), ("c", 3)], parameters, |a| {
                    Reaction::<N, 3>::rate(&self.reaction, &a.array("u"), &a.array("c"))
                })
            }
        }
    };
}
reaction_kernels!(f64);
reaction_kernels!(f32);
