//! Reactions by formulas, evaluated for all points of a block at once.

use super::ReactionKernels;
use dgsuite_gpu::SimdLevel;
use dgsuite_physics::reaction::{FormulaReaction, Position};
use dgsuite_physics::trace::{Parameters, TraceError, device_fn};
use dgsuite_physics::{Coefficients, Law, Reaction};

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
                if n == 0 {
                    return;
                }
                let lanes = out.len().min(u.len()) / (n * N);
                // Point `q` and lane `l` are entry `q lanes + l` of each column.
                let mut columns = vec![vec![0.0; n * lanes]; N + 3];
                for i in 0..n * lanes {
                    let (q, l) = (i / lanes, i % lanes);
                    let state = std::array::from_fn(|k| f64::from(u[(q * N + k) * lanes + l]));
                    let primitive = self.reaction.law.to_primitive::<f64>(&state);
                    (0..N).for_each(|k| columns[k][i] = primitive[k]);
                    for d in 0..3 {
                        columns[N + d][i] = f64::from(c[(q * stride + first + d) * lanes + l]);
                    }
                }
                let columns: Vec<&[f64]> = columns.iter().map(Vec::as_slice).collect();
                let mut rates = vec![0.0; n * lanes];
                for (k, formula) in self.reaction.formulas.iter().enumerate().take(N) {
                    let Some(formula) = formula else { continue };
                    formula.eval_batch(&columns, &mut rates);
                    for (i, rate) in rates.iter().enumerate() {
                        out[((i / lanes) * N + k) * lanes + i % lanes] += *rate as $t;
                    }
                }
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
