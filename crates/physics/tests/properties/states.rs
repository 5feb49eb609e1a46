//! Random gas states, directions and rotations, shared by all properties.

use dgsuite_physics::{Euler, Law};
use proptest::prelude::*;

pub(crate) const GAS: Euler = Euler { gamma: 1.4 };

/// Failures do not write files.
pub(crate) fn config(cases: u32) -> ProptestConfig {
    ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() }
}

/// Density, velocity and pressure; the third velocity is not used in two dimensions.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Gas {
    pub(crate) rho: f64,
    pub(crate) v: [f64; 3],
    pub(crate) p: f64,
}

impl Gas {
    /// The conserved state.
    pub(crate) fn state<const D: usize, const N: usize>(&self) -> [f64; N]
    where
        Euler: Law<D, N>,
    {
        let w = std::array::from_fn(|k| match k {
            0 => self.rho,
            k if k == N - 1 => self.p,
            k => self.v[k - 1],
        });
        Law::<D, N>::to_conserved(&GAS, &w)
    }

    /// Speed of sound.
    pub(crate) fn c(&self) -> f64 {
        (GAS.gamma * self.p / self.rho).sqrt()
    }
}

/// Gas from rest to about Mach 6, with densities and pressures over two decades.
pub(crate) fn gas() -> impl Strategy<Value = Gas> {
    let log = || (-1.5f64..1.5).prop_map(|x| 10f64.powf(x / 1.5));
    (log(), [-4.0..4.0f64, -4.0..4.0, -4.0..4.0], log()).prop_map(|(rho, v, p)| Gas { rho, v, p })
}

/// A unit vector whose first two components do not vanish together.
pub(crate) fn direction() -> impl Strategy<Value = [f64; 3]> {
    [-1.0..1.0f64, -1.0..1.0, -1.0..1.0].prop_filter("too short", |n| n[0] * n[0] + n[1] * n[1] > 0.05)
}

/// The first `D` components, of unit length.
pub(crate) fn unit<const D: usize>(n: [f64; 3]) -> [f64; D] {
    let length = n[..D].iter().map(|x| x * x).sum::<f64>().sqrt();
    std::array::from_fn(|d| n[d] / length)
}

/// Scalar product.
pub(crate) fn dot<const D: usize>(a: &[f64; D], b: &[f64; D]) -> f64 {
    a.iter().zip(b).map(|(x, y)| x * y).sum()
}

/// The rotation composed of two reflections, applied to a vector.
pub(crate) fn rotate<const D: usize>(v: &[f64; D], mirrors: [[f64; 3]; 2]) -> [f64; D] {
    let mut v = *v;
    for m in mirrors {
        let q = unit::<D>(m);
        let twice = 2.0 * dot(&v, &q);
        v = std::array::from_fn(|d| v[d] - twice * q[d]);
    }
    v
}

/// A state with its momentum rotated; also for fluxes.
pub(crate) fn rotate_state<const D: usize, const N: usize>(u: &[f64; N], mirrors: [[f64; 3]; 2]) -> [f64; N] {
    let m: [f64; D] = rotate(&std::array::from_fn(|d| u[1 + d]), mirrors);
    std::array::from_fn(|k| if k == 0 || k == N - 1 { u[k] } else { m[k - 1] })
}

/// Size of the fluxes of a state, for each unknown: the scale of rounding errors.
pub(crate) fn flux_scale<const D: usize, const N: usize>(states: &[&[f64; N]]) -> [f64; N]
where
    Euler: Law<D, N>,
{
    std::array::from_fn(|k| {
        let one = |u: &&[f64; N]| {
            let f = Law::<D, N>::flux(&GAS, u);
            let speed = Law::<D, N>::max_speed(&GAS, u);
            let momentum = u[1..N - 1].iter().map(|m| m.abs()).sum::<f64>();
            let size = if k == 0 || k == N - 1 { u[k].abs() } else { momentum + u[0] * speed };
            f.iter().map(|f| f[k].abs()).sum::<f64>() + speed * size
        };
        states.iter().map(one).sum()
    })
}

/// Fails unless `a` and `b` agree to `tolerance` times `scale` in each component.
#[track_caller]
pub(crate) fn assert_close<const N: usize>(
    what: &str,
    a: &[f64; N],
    b: &[f64; N],
    scale: &[f64; N],
    tolerance: f64,
) {
    for k in 0..N {
        let error = (a[k] - b[k]).abs();
        assert!(
            error <= tolerance * scale[k],
            "{what}: component {k} of {a:?} and {b:?} differ by {error:e}"
        );
    }
}
