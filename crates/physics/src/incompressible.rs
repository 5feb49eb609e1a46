//! Incompressible flow of constant density: its first-order operators as laws.

mod convection;
mod elementwise;
mod force;
mod outflow;
mod penalty;
mod scalar_force;
mod scalar_formulas;
mod transport;
mod variable_viscosity;
mod with_scalars;

pub use convection::Convection;
pub use elementwise::ElementwiseFlux;
pub use force::wall_force;
pub use outflow::OpenPressure;
pub use penalty::{Penalty, PenaltyFlux};
pub use scalar_force::{Buoyancy, force_of_scalars};
pub use scalar_formulas::ScalarFormulas;
pub use transport::{AdvectiveFlux, Transport, TransportFlux};
pub use variable_viscosity::{NoFlux, VariableDiffusivity, VariableViscosity, ViscosityFormula};
pub use with_scalars::WithScalars;

use crate::law::{Law, finite};
use crate::real::{Real, array, dot};

/// A law whose state begins with velocity vectors, so that conditions on velocities apply to it.
pub trait VelocityFirst<const D: usize, const N: usize>: Law<D, N> {
    /// The number of velocity vectors at the beginning of the state. The last one carries the others.
    const VELOCITIES: usize;

    /// Returns velocity `vector` of a state, `vector < VELOCITIES`.
    #[inline(always)]
    fn velocity<R: Real>(u: &[R; N], vector: usize) -> [R; D] {
        const { assert!((D == 2 || D == 3) && N >= D * Self::VELOCITIES && Self::VELOCITIES > 0) };
        array!(D, |d| u[D * vector + d])
    }
}

impl<const D: usize> VelocityFirst<D, D> for Convection {
    const VELOCITIES: usize = 1;
}

impl<const D: usize, const N: usize> VelocityFirst<D, N> for Incompressible
where
    Self: Law<D, N>,
{
    const VELOCITIES: usize = 1;
}

impl<const D: usize, const N: usize> VelocityFirst<D, N> for Penalty
where
    Self: Law<D, N>,
{
    const VELOCITIES: usize = 1;
}

impl<const D: usize, const N: usize> VelocityFirst<D, N> for Transport
where
    Self: Law<D, N>,
{
    const VELOCITIES: usize = 2;
}

/// The incompressible Navier–Stokes equations with the kinematic viscosity `ν`; the unknowns are the velocity
/// `u` and the pressure `p`, divided by the constant density:
///
/// ```text
/// ∂u/∂t + ∇·(u ⊗ u) = −∇p + ν Δu,   ∇·u = 0
/// ```
///
/// The state is `(u_1, …, u_D, p)`; conserved and primitive unknowns are the same. The flux is that of the
/// coupling between velocity and pressure,
///
/// ```text
/// F_d = (p e_d, u_d)
/// ```
///
/// so that the right-hand side of the law, `−∇·F = (−∇p, −∇·u)`, consists of a gradient and a divergence;
/// the solver uses it with the flux [`Central`](crate::Central). Convection is a law of its own,
/// [`Convection`]; the viscous term is an elliptic operator. The same formulas implement `Law<2, 3>` and
/// `Law<3, 4>`.
///
/// The equations have no finite wave speed; `λ = |n·u|` and `|u|` serve the step bounds only.
///
/// ```
/// use dgsuite_physics::{Incompressible, Law};
/// let law = Incompressible { viscosity: 0.01 };
/// assert_eq!(law.flux(&[2.0, 3.0, 7.0]), [[7.0, 0.0, 2.0], [0.0, 7.0, 3.0]]);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Incompressible {
    /// Kinematic viscosity `ν`, length² per time.
    pub viscosity: f64,
}

/// `F_d = (p e_d, u_d)`, and zero for further unknowns.
#[inline(always)]
fn coupling_of<R: Real, const D: usize, const N: usize>(u: &[R; N]) -> [[R; N]; D] {
    let mut f = [[R::lit(0.0); N]; D];
    for d in 0..D {
        f[d][d] = u[D];
        f[d][D] = u[d];
    }
    f
}

/// `Σ_d F_d n_d = (p n, u·n)`, and zero for further unknowns.
#[inline(always)]
fn normal_coupling_of<R: Real, const D: usize, const N: usize>(u: &[R; N], n: &[R; D]) -> [R; N] {
    let mut f = [dot(&array!(D, |d| u[d]), n); N];
    for d in 0..D {
        f[d] = u[D] * n[d];
    }
    for scalar in D + 1..N {
        f[scalar] = R::lit(0.0);
    }
    f
}

macro_rules! incompressible {
    ($d:literal, $n:literal, $variables:expr) => {
        impl Law<$d, $n> for Incompressible {
            const NAME: &'static str = "incompressible";

            fn variables(&self) -> [&'static str; $n] {
                $variables
            }

            fn primitives(&self) -> [&'static str; $n] {
                $variables
            }

            #[inline(always)]
            fn flux<R: Real>(&self, u: &[R; $n]) -> [[R; $n]; $d] {
                coupling_of(u)
            }

            #[inline(always)]
            fn normal_flux<R: Real>(&self, u: &[R; $n], n: &[R; $d]) -> [R; $n] {
                normal_coupling_of(u, n)
            }

            #[inline(always)]
            fn normal_speed<R: Real>(&self, u: &[R; $n], n: &[R; $d]) -> R {
                dot(&Self::velocity(u, 0), n).abs()
            }

            /// The flux is linear: the states are added first.
            #[inline(always)]
            fn flux_sum_and_speed<R: Real>(&self, um: &[R; $n], up: &[R; $n], n: &[R; $d]) -> ([R; $n], R) {
                let sum = array!($n, |k| um[k] + up[k]);
                let (m, p) = (self.normal_speed(um, n), self.normal_speed(up, n));
                (normal_coupling_of(&sum, n), m.max(p))
            }

            #[inline(always)]
            fn max_speed<R: Real>(&self, u: &[R; $n]) -> R {
                let v = Self::velocity(u, 0);
                dot(&v, &v).sqrt()
            }

            #[inline(always)]
            fn to_primitive<R: Real>(&self, u: &[R; $n]) -> [R; $n] {
                *u
            }

            #[inline(always)]
            fn to_conserved<R: Real>(&self, w: &[R; $n]) -> [R; $n] {
                *w
            }

            #[inline(always)]
            fn admissibility<R: Real>(&self, u: &[R; $n]) -> R {
                finite(u)
            }
        }
    };
}

incompressible!(2, 3, ["u", "v", "p"]);
incompressible!(3, 4, ["u", "v", "w", "p"]);
