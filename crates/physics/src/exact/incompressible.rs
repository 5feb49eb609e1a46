//! Exact solutions of incompressible flow, and their parameters by name.

mod beltrami;
mod channel;
mod eddies;
mod manufactured;

pub use beltrami::Beltrami;
pub use channel::{Kovasznay, Poiseuille};
pub use eddies::{TaylorGreenEddies, TaylorVortex, WalshEddies};
pub use manufactured::GuermondShen;

use super::catalogue::{U, X0};
use super::reader::Reader;
use super::{ClosedForm, Exact, ExactError, Solution, Uniform};
use crate::incompressible::Incompressible;
use crate::real::Real;

/// Primitive unknowns `(u, v, [w,] p)`.
fn state<R: Real, const N: usize>(v: [R; 3], p: R) -> [R; N] {
    const { assert!(N == 3 || N == 4, "an incompressible flow in 2D or 3D") };
    std::array::from_fn(|k| if k == N - 1 { p } else { v[k] })
}

/// The kinematic viscosity, as a number of the formula's type.
fn nu<R: Real>(viscosity: f64) -> R {
    R::param("viscosity", viscosity)
}

/// Makes a solution of incompressible flow from its parameters.
pub(super) fn by_name(
    name: &str,
    r: &Reader<'_>,
    viscosity: f64,
    dim: usize,
) -> Result<Box<dyn Exact>, ExactError> {
    Ok(match name {
        "taylor-vortex" => {
            let (speed, length, velocity) = (r.number("speed"), r.positive("length")?, r.vector(U));
            let solution = TaylorVortex { viscosity, speed, length, velocity };
            flow(viscosity, dim, solution, solution)
        }
        "walsh-eddies" => {
            let (strength, velocity) = (r.number("strength"), r.vector(U));
            let solution = WalshEddies { viscosity, strength, velocity };
            flow(viscosity, dim, solution, solution)
        }
        "taylor-green" => {
            let (speed, length) = (r.number("speed"), r.positive("length")?);
            let solution = TaylorGreenEddies { viscosity, speed, length };
            flow(viscosity, dim, solution, solution)
        }
        "kovasznay" => {
            let (speed, length) = (r.positive("speed")?, r.positive("length")?);
            let solution = Kovasznay { viscosity, speed, length };
            flow(viscosity, dim, solution, solution)
        }
        "poiseuille" => {
            let [start, bottom, _] = r.vector(X0);
            let (speed, height) = (r.number("u"), r.positive("height")?);
            let solution = Poiseuille { viscosity, speed, height, bottom, start };
            flow(viscosity, dim, solution, solution)
        }
        "beltrami" => {
            let solution = Beltrami { viscosity, a: r.number("a"), d: r.number("d") };
            Box::new(ClosedForm::<_, _, 3, 4>::new(Incompressible { viscosity }, solution))
        }
        "guermond-shen" => {
            let solution = GuermondShen { frequency: r.number("frequency") };
            flow(viscosity, dim, solution, solution)
        }
        "uniform" => {
            let (v, p) = (r.vector(U), r.number("p"));
            let (plane, space) = ([v[0], v[1], p], [v[0], v[1], v[2], p]);
            flow(viscosity, dim, Uniform { primitive: plane }, Uniform { primitive: space })
        }
        other => unreachable!("`{other}` is in the catalogue of incompressible flow"),
    })
}

/// A flow in two or three dimensions.
fn flow(viscosity: f64, dim: usize, plane: impl Solution<3>, space: impl Solution<4>) -> Box<dyn Exact> {
    let law = Incompressible { viscosity };
    if dim == 2 {
        Box::new(ClosedForm::<_, _, 2, 3>::new(law, plane))
    } else {
        Box::new(ClosedForm::<_, _, 3, 4>::new(law, space))
    }
}
