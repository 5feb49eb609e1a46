//! The source term for which a given function is a solution, derived by dual numbers.

mod scalars;

pub use scalars::ScalarDiffusivity;

use super::{Source, source_from_recording};
use crate::advection::Advection;
use crate::diffusion::{Diffusion, NoDiffusion};
use crate::euler::Euler;
use crate::exact::{Context, Exact, Model};
use crate::law::Law;
use crate::real::{Dual, Real, array};
use crate::trace::Recording;

/// Why no source term can be derived.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SourceError {
    /// The solution is not a formula and cannot be differentiated.
    #[error("the solution is not a formula, so no source term can be derived from it")]
    NotAFormula,
    /// The number of unknowns of the solution is not that of the law.
    #[error("the solution has {found} unknowns, the law has {expected}")]
    WrongFields {
        /// Unknowns of the law.
        expected: usize,
        /// Unknowns of the solution.
        found: usize,
    },
}

/// The source term for which any function `u(t, x)` is a solution (method of manufactured solutions):
///
/// ```text
/// S = ∂u/∂t + ∇·(F(u) − F_v(u, ∇u))
/// ```
///
/// The derivatives are exact: dual numbers of dual numbers carry first and second derivatives through the
/// formula of the solution and the fluxes. They are computed once, when the source term is recorded; the
/// evaluation is a list of operations. For an exact solution the source term is zero to rounding.
///
/// # Source
/// Roache, J. Fluids Eng. 124 (2002) 4–10.
///
/// ```
/// use dgsuite_physics::exact::{ClosedForm, EntropyWave};
/// use dgsuite_physics::navier_stokes::Viscosity;
/// use dgsuite_physics::source::{Manufactured, Source};
/// use dgsuite_physics::{Euler, NavierStokes};
///
/// let gas = Euler { gamma: 1.4 };
/// let viscosity = Viscosity::Constant { mu: 0.01 };
/// let ns = NavierStokes { gas, prandtl: 0.72, viscosity, gas_constant: 1.0, closure: None };
/// let wave = ClosedForm::<_, _, 2, 4>::new(gas, EntropyWave::new(2));
/// let source = Manufactured::new::<_, _, 2, 4>(&gas, &ns, &wave)?;
/// let mut out = vec![Vec::new(); 4];
/// source.eval(0.0, &[[0.1, 0.2, 0.0]], &mut out);
/// assert!(out[0][0].abs() < 1e-14); // mass is conserved without a source
/// assert!(out[3][0].abs() > 1e-3); // heat is conducted
/// # Ok::<(), dgsuite_physics::source::SourceError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Manufactured {
    recording: Recording,
}

impl Manufactured {
    /// Derives the source term for a law, its diffusion ([`NoDiffusion`] if there is none) and a solution.
    ///
    /// # Errors
    /// [`SourceError`]: the solution is not a formula, or not one for this law.
    pub fn new<L, V, const D: usize, const N: usize>(
        law: &L,
        diffusion: &V,
        solution: &dyn Exact,
    ) -> Result<Self, SourceError>
    where
        L: Law<D, N>,
        V: Diffusion<D, N>,
    {
        let state = recorded(N, solution)?;
        let recording = Recording::new(|t, x| source_of(law, diffusion, &state, t, &x));
        Ok(Self { recording })
    }

    /// Derives the source term for the model of a context, as for exact solutions by name.
    ///
    /// # Errors
    /// [`SourceError`]: the solution is not a formula, or not one for this model and dimension.
    pub fn for_model(context: &Context, solution: &dyn Exact) -> Result<Self, SourceError> {
        match (context.model, context.dim) {
            (Model::Advection { velocity: [a, b, _] }, 2) => {
                Self::new::<_, _, 2, 1>(&Advection { velocity: [a, b] }, &NoDiffusion, solution)
            }
            (Model::Advection { velocity }, _) => {
                Self::new::<_, _, 3, 1>(&Advection { velocity }, &NoDiffusion, solution)
            }
            (Model::Euler { gamma }, 2) => Self::new::<_, _, 2, 4>(&Euler { gamma }, &NoDiffusion, solution),
            (Model::Euler { gamma }, _) => Self::new::<_, _, 3, 5>(&Euler { gamma }, &NoDiffusion, solution),
            (Model::NavierStokes(ns), 2) => Self::new::<_, _, 2, 4>(&ns.gas, &ns, solution),
            (Model::NavierStokes(ns), _) => Self::new::<_, _, 3, 5>(&ns.gas, &ns, solution),
            (Model::Incompressible { viscosity }, 2) => Self::incompressible::<2, 3>(viscosity, solution),
            (Model::Incompressible { viscosity }, _) => Self::incompressible::<3, 4>(viscosity, solution),
        }
    }

    /// Derives the body force of an incompressible flow `(u_1, …, u_D, p)` with the kinematic viscosity `ν`,
    /// and the divergence of its velocity in the last row:
    ///
    /// ```text
    /// (f, s) = (∂u/∂t + ∇·(u ⊗ u) + ∇p − ν Δu, ∇·u)
    /// ```
    ///
    /// The solver has no source of mass: `s` must be zero, which [`size_at`](Self::size_at) shows.
    ///
    /// # Errors
    /// [`SourceError`]: the solution is not a formula, or does not have `D + 1` unknowns.
    pub fn incompressible<const D: usize, const N: usize>(
        viscosity: f64,
        solution: &dyn Exact,
    ) -> Result<Self, SourceError> {
        let state = recorded(N, solution)?;
        Ok(Self { recording: Recording::new(|t, x| force_of::<_, D, N>(viscosity, &state, t, &x)) })
    }

    /// Returns the largest absolute value of the source term over some points, for each unknown.
    pub fn size_at(&self, t: f64, x: &[[f64; 3]]) -> Vec<f64> {
        let mut out = vec![Vec::new(); self.n_fields()];
        self.eval(t, x, &mut out);
        out.iter().map(|values| values.iter().fold(0.0, |most: f64, v| most.max(v.abs()))).collect()
    }
}

source_from_recording!(Manufactured);

/// The formula of a solution with `n` unknowns.
fn recorded(n: usize, solution: &dyn Exact) -> Result<Recording, SourceError> {
    if solution.n_fields() != n {
        return Err(SourceError::WrongFields { expected: n, found: solution.n_fields() });
    }
    let Some(state) = solution.recorded() else { return Err(SourceError::NotAFormula) };
    if state.n_outputs() != n {
        return Err(SourceError::WrongFields { expected: n, found: state.n_outputs() });
    }
    Ok(state)
}

/// Computes `∂u/∂t + ∇·(F(u) − F_v(u, ∇u))` of the recorded conserved state `u(t, x)`, over any number type.
///
/// # Panics
/// If the state does not have `N` numbers.
pub fn source_of<R, L, V, const D: usize, const N: usize>(
    law: &L,
    diffusion: &V,
    state: &Recording,
    t: R,
    x: &[R; 3],
) -> [R; N]
where
    R: Real,
    L: Law<D, N>,
    V: Diffusion<D, N>,
{
    assert_eq!(state.n_outputs(), N, "a state of the law");
    let (u, mut source) = moving::<R, N>(state, t, x);
    let Slopes { grad, hessian } = Slopes::<R, D, N>::new(state, t, x);
    for d in 0..D {
        let at: [Dual<R>; N] = array!(N, |k| Dual::new(u[k], grad[d][k]));
        let slopes: [[Dual<R>; N]; D] =
            std::array::from_fn(|j| std::array::from_fn(|k| Dual::new(grad[j][k], hessian[d][j][k])));
        let convective = law.flux(&at);
        let diffusive = diffusion.diffusive_flux(&at, &slopes);
        for k in 0..N {
            source[k] = source[k] + convective[d][k].derivative - diffusive[d][k].derivative;
        }
    }
    source
}

/// Computes the body force and the divergence of [`Manufactured::incompressible`].
fn force_of<R: Real, const D: usize, const N: usize>(
    viscosity: f64,
    state: &Recording,
    t: R,
    x: &[R; 3],
) -> [R; N] {
    const { assert!(N == D + 1, "velocity and pressure") };
    let (u, mut force) = moving::<R, N>(state, t, x);
    let Slopes { grad, hessian } = Slopes::<R, D, N>::new(state, t, x);
    let nu = R::param("viscosity", viscosity);
    let mut divergence = grad[0][0];
    for d in 1..D {
        divergence = divergence + grad[d][d];
    }
    for k in 0..D {
        force[k] = force[k] + u[k] * divergence + grad[k][D];
        for d in 0..D {
            force[k] = force[k] + u[d] * grad[d][k] - nu * hessian[d][d][k];
        }
    }
    force[D] = divergence;
    force
}

/// The state and its derivative in time.
fn moving<R: Real, const N: usize>(state: &Recording, t: R, x: &[R; 3]) -> ([R; N], [R; N]) {
    let moving = state.eval(Dual::variable(t), &x.map(Dual::constant));
    (array!(N, |k| moving[k].value), array!(N, |k| moving[k].derivative))
}

/// First and second derivatives of a state in space.
struct Slopes<R, const D: usize, const N: usize> {
    /// `grad[d] = ∂u/∂x_d`.
    grad: [[R; N]; D],
    /// `hessian[d][j] = ∂²u/∂x_d∂x_j`.
    hessian: [[[R; N]; D]; D],
}

impl<R: Real, const D: usize, const N: usize> Slopes<R, D, N> {
    fn new(state: &Recording, t: R, x: &[R; 3]) -> Self {
        let (zero, one) = (R::lit(0.0), R::lit(1.0));
        let along = |d: usize, i: usize| if d == i { one } else { zero };
        let mut grad = [[zero; N]; D];
        let mut hessian = [[[zero; N]; D]; D];
        for d in 0..D {
            for j in 0..=d {
                let at: [Dual<Dual<R>>; 3] = std::array::from_fn(|i| {
                    Dual::new(Dual::new(x[i], along(d, i)), Dual::constant(along(j, i)))
                });
                let second = state.eval(Dual::constant(Dual::constant(t)), &at);
                for k in 0..N {
                    grad[d][k] = second[k].value.derivative;
                    hessian[d][j][k] = second[k].derivative.derivative;
                    hessian[j][d][k] = hessian[d][j][k];
                }
            }
        }
        Self { grad, hessian }
    }
}
