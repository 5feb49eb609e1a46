//! Convergence for smooth flow: the residual converges to `−∇·F(u)`, and waves converge at order p + 1.

use crate::testkit::{Cells, PLANE, SPACE, State, euler, mesh, schemes};
use dgsuite_basis::Shape;
use dgsuite_ops::{Discretization, StageWeights};
use std::sync::Arc;

/// Low-storage coefficients of Carpenter & Kennedy (1994), RK5(4).
const A: [f64; 5] = [
    0.0,
    -567301805773.0 / 1357537059087.0,
    -2404267990393.0 / 2016746695238.0,
    -3550918686646.0 / 2091501179385.0,
    -1275806237668.0 / 842570457699.0,
];
const B: [f64; 5] = [
    1432997174477.0 / 9575080441755.0,
    5161836677717.0 / 13612068292357.0,
    1720146321549.0 / 2090206949498.0,
    3134564353537.0 / 4481467310338.0,
    2277821191437.0 / 14882151754819.0,
];

/// Times of the stages.
const C: [f64; 5] = [0.0, 0.1496590219992291, 0.3704009573642048, 0.6222557631344432, 0.9582821306746903];

/// Integrates from `t = 0` to `end` in equal steps.
///
/// The pool of threads is entered once: on small meshes that costs more than a loop.
pub(crate) fn march(d: &mut Discretization<f64>, end: f64, steps: f64, u: &mut Vec<f64>) {
    let (mut register, mut next) = (vec![0.0; u.len()], vec![0.0; u.len()]);
    let dt = end / steps;
    Arc::clone(d.host()).install(|| {
        for step in 0..steps as usize {
            for s in 0..5 {
                let weights = StageWeights { a: A[s], b: 0.0, c: B[s], dt, keep: true };
                d.stage((step as f64 + C[s]) * dt, weights, u, None, &mut register, &mut next);
                std::mem::swap(u, &mut next);
            }
        }
    });
}

/// L² errors of a density wave advected with the flow over `t = 0.5`.
fn error(cells: Cells, n: usize, geometry: usize, scheme: &dgsuite_ops::Scheme, periodic: bool) -> f64 {
    let dim = cells.dim();
    let wave: Arc<dyn dgsuite_physics::Exact> = Arc::new(State(dim + 2, move |x: [f64; 3], t: f64| {
        let v = [0.8, 0.5, -0.4];
        // In three dimensions a third of the wave number, which few cells resolve; the boundaries prescribe
        // the exact state.
        let k = std::f64::consts::PI / if dim == 3 { 3.0 } else { 1.0 };
        let phase: f64 = (0..dim).map(|d| k * (x[d] - v[d] * t)).sum();
        let mut w = vec![1.0 + 0.2 * phase.sin()];
        w.extend(&v[..dim]);
        w.push(1.0);
        w
    }));
    let mesh = mesh(cells, n, geometry, periodic);
    let mut d = euler::<f64>(&mesh, scheme, Some(&wave), 1);
    let mut u = vec![0.0; d.len()];
    d.project(wave.as_ref(), 0.0, &mut u);
    let end = 0.3;
    let cfl = if dim == 3 { 0.25 } else { 0.4 };
    let steps = (end / (cfl * d.time_step(&u, None).expect("a gas"))).ceil();
    march(&mut d, end, steps, &mut u);
    d.errors(&u, wave.as_ref(), end).1.l2[0]
}

fn check(cells: Cells, coarse: usize, geometry: usize, p: usize) {
    for (name, scheme) in schemes(cells, p) {
        let periodic = p.is_multiple_of(2) && cells.dim() == 2;
        let e = [1, 2].map(|k| error(cells, coarse * k, geometry, &scheme, periodic));
        let rate = (e[0] / e[1]).log2();
        // There are only two coarse meshes; the tests of the program measure asymptotic orders. With the
        // Rusanov flux, even orders on quadrilaterals with flux points away from the nodes appear on finer
        // meshes only.
        let late = name.starts_with("FR") && cells != Cells::Of(Shape::Triangle) && p.is_multiple_of(2);
        let margin = if cells.dim() == 3 || late { 0.3 } else { 0.5 };
        assert!(
            rate > p as f64 + margin,
            "{cells:?} p = {p} geometry {geometry} {name}: {e:?}, rate {rate:.2}"
        );
    }
}

#[test]
fn plane_waves_converge() {
    for cells in PLANE {
        for p in 1..=4 {
            check(cells, if p <= 2 { 10 } else { 5 }, 1, p);
        }
    }
}

#[test]
fn plane_waves_converge_on_curved_meshes() {
    for cells in PLANE {
        for p in [2, 3] {
            check(cells, 6, p, p);
        }
    }
}

#[test]
fn waves_in_space_converge() {
    for cells in SPACE {
        check(cells, 2, 1, 2);
    }
}
