//! The unknowns of incompressible flow with scalars that it carries, such as a temperature.

use super::{Incompressible, VelocityFirst, coupling_of, normal_coupling_of};
use crate::law::{Law, finite};
use crate::real::{Real, array, dot};

/// The state of incompressible flow that carries `S` scalars, `(u_1, …, u_D, p, T_1, …, T_S)`. The flux is
/// that of [`Incompressible`], and zero for the scalars: their convection is the law
/// [`Transport`](super::Transport), their diffusion an elliptic operator.
///
/// ```
/// use dgsuite_physics::Law;
/// use dgsuite_physics::incompressible::WithScalars;
/// let law = WithScalars { names: ["T"] };
/// assert_eq!(Law::<2, 4>::variables(&law), ["u", "v", "p", "T"]);
/// assert_eq!(law.flux(&[2.0, 3.0, 7.0, 5.0]), [[7.0, 0.0, 2.0, 0.0], [0.0, 7.0, 3.0, 0.0]]);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WithScalars<const S: usize> {
    /// The names of the scalars.
    pub names: [&'static str; S],
}

impl<const S: usize, const D: usize, const N: usize> VelocityFirst<D, N> for WithScalars<S>
where
    Self: Law<D, N>,
{
    const VELOCITIES: usize = 1;
}

macro_rules! with_scalars {
    ($d:literal, $s:literal, $n:literal, $flow:expr) => {
        impl Law<$d, $n> for WithScalars<$s> {
            const NAME: &'static str = <Incompressible as Law<$d, { $d + 1 }>>::NAME;

            fn variables(&self) -> [&'static str; $n] {
                array!($n, |k| if k <= $d { $flow[k] } else { self.names[k - $d - 1] })
            }

            fn primitives(&self) -> [&'static str; $n] {
                Law::<$d, $n>::variables(self)
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
                dot(&<Self as VelocityFirst<$d, $n>>::velocity(u, 0), n).abs()
            }

            #[inline(always)]
            fn max_speed<R: Real>(&self, u: &[R; $n]) -> R {
                let v = <Self as VelocityFirst<$d, $n>>::velocity(u, 0);
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

const PLANE: [&str; 3] = ["u", "v", "p"];
const SPACE: [&str; 4] = ["u", "v", "w", "p"];

with_scalars!(2, 1, 4, PLANE);
with_scalars!(2, 2, 5, PLANE);
with_scalars!(2, 3, 6, PLANE);
with_scalars!(3, 1, 5, SPACE);
with_scalars!(3, 2, 6, SPACE);
with_scalars!(3, 3, 7, SPACE);
