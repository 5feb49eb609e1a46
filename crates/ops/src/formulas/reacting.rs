//! Reactions `S(u, c)` as point formulas, for one block of lanes at a time.
//!
//! [`ReactionKernels`] is the interface between the operators and point formulas; [`Reacting`] implements it
//! for a [`Reaction`] and its [`Coefficients`].

mod formulas;

pub use formulas::ReactingByFormulas;

use crate::formulas::pointwise::{load_row, local, store_row};
use crate::lanes::simd::{Kernel, Pack, PackScalar, checked};
use dgsuite_gpu::SimdLevel;
use dgsuite_physics::trace::{Parameters, TraceError, device_fn};
use dgsuite_physics::{Coefficients, Reaction};
use std::sync::Arc;

/// A reaction with its coefficients, for blocks of lanes.
pub trait ReactionKernels<T>: Send + Sync {
    /// Number of unknowns.
    fn n_fields(&self) -> usize;

    /// The coefficients as functions of place.
    fn coefficients(&self) -> &dyn Coefficients;

    /// Adds the source term at `n` points: `out ← out + S(u, c)`.
    ///
    /// `u` and `out`: `[n][field][lane]`; `c`: `[n][stride][lane]`, of which the coefficients from `first` on
    /// are those of this reaction.
    fn add(&self, level: SimdLevel, n: usize, u: &[T], c: &[T], first: usize, stride: usize, out: &mut [T]);

    /// Returns a bound of the absolute eigenvalues of `∂S/∂u` for coefficients `c`.
    fn stiffness(&self, c: &[f64]) -> f64;

    /// Returns whether the source term is zero for every state with coefficients `c`.
    fn is_idle(&self, c: &[f64]) -> bool;

    /// Returns the formula as text of the CUDA function `name(u, c, out)` and adds the parameters that it
    /// uses to `parameters`.
    ///
    /// # Errors
    /// [`TraceError`] if a parameter has two values.
    fn device_source(&self, name: &str, parameters: &mut Parameters) -> Result<String, TraceError>;
}

/// The [`ReactionKernels`] of a reaction `S` with `C` coefficients.
///
/// ```
/// use dgsuite_ops::{Equation, Pointwise, Reacting};
/// use dgsuite_physics::coefficients::FormulaCoefficients;
/// use dgsuite_physics::formula::{Formula, Names};
/// use dgsuite_physics::{Advection, Rusanov, reaction::Sponge};
/// use std::sync::Arc;
///
/// // Damping towards u = 1 at a rate that grows with x.
/// let names = Names::new(["x", "y", "z"]);
/// let formulas = ["max(x, 0)", "1"].map(|c| Formula::parse(c, &names).expect("a formula"));
/// let coefficients = Arc::new(FormulaCoefficients(formulas.to_vec()));
/// let sponge = Reacting::<_, 1, 2> { reaction: Sponge, coefficients };
/// let law = Advection { velocity: [1.0, 0.5] };
/// let advection = Pointwise::<_, _, 2, 1> { law, flux: Rusanov };
/// let equation = Equation::<f64>::from(Box::new(advection)).with_reaction(Box::new(sponge));
/// # assert_eq!(equation.reactions.len(), 1);
/// ```
#[derive(Clone)]
pub struct Reacting<S, const N: usize, const C: usize> {
    /// The point formula.
    pub reaction: S,
    /// Its coefficients.
    pub coefficients: Arc<dyn Coefficients>,
}

struct Add<'a, L, T, const N: usize, const C: usize> {
    reaction: &'a L,
    n: usize,
    u: &'a [T],
    c: &'a [T],
    first: usize,
    stride: usize,
    out: &'a mut [T],
}

impl<L: Reaction<N, C>, T: PackScalar, const N: usize, const C: usize> Kernel<T> for Add<'_, L, T, N, C> {
    #[inline(always)]
    fn run<V: Pack<T = T>>(self) {
        let n = self.n;
        assert!(self.u.len() >= n * N * V::W && self.out.len() >= n * N * V::W);
        assert!(self.first + C <= self.stride && self.c.len() >= n * self.stride * V::W);
        local!(reaction = self.reaction);
        let (u, c, out) = (self.u.as_ptr(), self.c.as_ptr(), self.out.as_mut_ptr());
        for q in 0..n {
            // SAFETY: point `q < n` of `u`, `c` and `out`, whose lengths are asserted above.
            unsafe {
                let uq = load_row::<V, N>(u, q);
                let mut cq = [V::lit(0.0); C];
                for k in 0..C {
                    cq[k] = V::load(c.add((q * self.stride + self.first + k) * V::W));
                }
                let s = reaction.rate(&uq, &cq);
                let mut row = load_row::<V, N>(out, q);
                for k in 0..N {
                    row[k] = row[k] + s[k];
                }
                store_row::<V, N>(out, q, row);
            }
        }
    }
}

macro_rules! reaction_kernels {
    ($t:ty) => {
        impl<S: Reaction<N, C>, const N: usize, const C: usize> ReactionKernels<$t> for Reacting<S, N, C> {
            fn n_fields(&self) -> usize {
                N
            }

            fn coefficients(&self) -> &dyn Coefficients {
                self.coefficients.as_ref()
            }

            fn add(
                &self,
                level: SimdLevel,
                n: usize,
                u: &[$t],
                c: &[$t],
                first: usize,
                stride: usize,
                out: &mut [$t],
            ) {
                let reaction = &self.reaction;
                let kernel = Add::<S, $t, N, C> { reaction, n, u, c, first, stride, out };
                <$t>::dispatch(checked(level), kernel);
            }

            fn stiffness(&self, c: &[f64]) -> f64 {
                let mut values = [0.0; C];
                values.copy_from_slice(&c[..C]);
                self.reaction.stiffness(&values)
            }

            fn is_idle(&self, c: &[f64]) -> bool {
                let mut values = [0.0; C];
                values.copy_from_slice(&c[..C]);
                self.reaction.is_idle(&values)
            }

            fn device_source(&self, name: &str, parameters: &mut Parameters) -> Result<String, TraceError> {
                device_fn(name, &[("u", N), ("c", C)], parameters, |a| {
                    self.reaction.rate(&a.array("u"), &a.array("c"))
                })
            }
        }
    };
}
reaction_kernels!(f64);
reaction_kernels!(f32);
