//! Diffusion with a coefficient of each element, as closures have: plain stages, exact stresses, steps.

use crate::laws::diffusion::{VISCOUS, diffusing};
use crate::laws::oracle::difference;
use crate::testkit::{Cells, GAS, PLANE, SPACE, State, mesh, nested, schemes, shake, wavy};
use dgsuite_gpu::SimdLevel;
use dgsuite_mesh::Mesh;
use dgsuite_ops::split::{Split, Walls};
use dgsuite_ops::{Diffusive, Discretization, PackScalar, PointKernels, Pointwise, Scheme};
use dgsuite_physics::closures::EddyViscosity;
use dgsuite_physics::navier_stokes::Viscosity;
use dgsuite_physics::two_point::Central;
use dgsuite_physics::{Closure, Diffusion, Euler, Exact, Law, NavierStokes, NumericalFlux, Real, Rusanov};
use std::sync::Arc;

/// Eddies beside which the molecular viscosity is small.
fn large(closure: Closure) -> NavierStokes {
    let constant = 5.0 * closure.usual_constant();
    NavierStokes { closure: Some(EddyViscosity { constant, ..EddyViscosity::usual(closure) }), ..VISCOUS }
}

fn discretised<T>(
    mesh: &Arc<Mesh>,
    scheme: &Scheme,
    law: NavierStokes,
    data: Option<&Arc<dyn Exact>>,
    level: SimdLevel,
) -> Discretization<T>
where
    T: PackScalar + Real,
    Pointwise<Euler, Rusanov, 2, 4>: PointKernels<T>,
    Pointwise<Euler, Rusanov, 3, 5>: PointKernels<T>,
    Diffusive<NavierStokes, 2, 4>: dgsuite_ops::DiffusionKernels<T>,
    Diffusive<NavierStokes, 3, 5>: dgsuite_ops::DiffusionKernels<T>,
{
    if mesh.dim == 2 {
        diffusing::<T, _, _, _, 2, 4>(mesh, scheme, GAS, Rusanov, law, data, None, 1, level)
    } else {
        diffusing::<T, _, _, _, 3, 5>(mesh, scheme, GAS, Rusanov, law, data, None, 1, level)
    }
}

fn oracle<const D: usize, const N: usize>(
    mesh: &Arc<Mesh>,
    scheme: &Scheme,
    law: NavierStokes,
    u: &[Vec<Vec<f64>>],
) -> Vec<Vec<Vec<f64>>>
where
    Euler: Law<D, N>,
    Rusanov: NumericalFlux<Euler, D, N>,
    NavierStokes: Diffusion<D, N>,
{
    let split = Split::<_, _, D, N>::new(mesh.clone(), scheme, GAS, Rusanov).expect("set up");
    let split = split.with_two_point(Central);
    // The meshes are periodic.
    let walls = Walls { state: &|_, um: &[f64; N], _| *um, flux: &|_, _, _, _, _| [0.0; N] };
    let mut out = split.eval(u, &|_, um, _| *um);
    let more = split.diffusive(u, &law, None, &walls);
    for (out, add) in out.iter_mut().flatten().flatten().zip(more.iter().flatten().flatten()) {
        *out += add;
    }
    out
}

fn compare<T>(cells: Cells, geometry: usize, p: usize, closure: Closure, level: SimdLevel, tolerance: f64)
where
    T: PackScalar + Real,
    Pointwise<Euler, Rusanov, 2, 4>: PointKernels<T>,
    Pointwise<Euler, Rusanov, 3, 5>: PointKernels<T>,
    Diffusive<NavierStokes, 2, 4>: dgsuite_ops::DiffusionKernels<T>,
    Diffusive<NavierStokes, 3, 5>: dgsuite_ops::DiffusionKernels<T>,
{
    let (mesh, law) = (mesh(cells, 2, geometry, true), large(closure));
    for (name, scheme) in schemes(cells, p) {
        let mut d = discretised::<T>(&mesh, &scheme, law, None, level);
        let (mut u, mut du) = (vec![T::ZERO; d.len()], vec![T::ZERO; d.len()]);
        d.project(&wavy(cells.dim()), 0.0, &mut u);
        shake(&d, &mut u);
        d.eval(0.0, &u, &mut du);
        let of = nested(&d, &u, &mesh);
        let expected = if mesh.dim == 2 {
            oracle::<2, 4>(&mesh, &scheme, law, &of)
        } else {
            oracle::<3, 5>(&mesh, &scheme, law, &of)
        };
        let e = difference(&nested(&d, &du, &mesh), &expected);
        assert!(e < tolerance, "{cells:?} p = {p} geometry {geometry} {level:?} {closure:?} {name}: {e:.2e}");
    }
}

#[test]
fn two_passes_with_a_closure_are_plain_stages() {
    let level = SimdLevel::detect();
    for (i, cells) in PLANE.into_iter().chain(SPACE).enumerate() {
        for p in 1..=2 {
            let of_plane = [Closure::Wale, Closure::Vreman];
            let closure = if cells.dim() == 2 { of_plane[(i + p) % 2] } else { Closure::ALL[(i + p) % 4] };
            compare::<f64>(cells, 1, p, closure, level, 1e-10);
            compare::<f64>(cells, 2, 2, closure, level, 1e-10);
        }
    }
    for level in SimdLevel::ALL.into_iter().filter(|&l| l <= SimdLevel::hardware()) {
        compare::<f64>(Cells::Mixed2, 2, 2, Closure::Smagorinsky, level, 2e-12);
        compare::<f32>(Cells::Mixed2, 2, 2, Closure::Smagorinsky, level, 1e-3);
    }
}

/// The shear `u = a y` of a gas at rest otherwise, at uniform density and pressure.
fn shear(dim: usize, a: f64) -> Arc<dyn Exact> {
    Arc::new(State(dim + 2, move |x: [f64; 3], _| {
        let mut w = vec![1.2, a * x[1], 0.0];
        w.resize(dim + 1, 0.0);
        w.push(0.9);
        w
    }))
}

/// Smagorinsky's `ν_t` is `(C Δ)² a` there: stress and work at a boundary, the residual and the step are
/// those of a gas with the viscosity `μ + ρ ν_t`.
#[test]
fn uniform_shear_has_the_stress_and_the_step_of_both_viscosities() {
    let a = 0.7;
    for cells in [PLANE[0], PLANE[1], SPACE[0], SPACE[1], SPACE[2]] {
        let (mesh, dim) = (mesh(cells, 2, 1, false), cells.dim());
        // The elements of these boxes have one size: a square or a cube of edge 1, or a part of it.
        let volume = mesh.volumes()[0];
        assert!(mesh.volumes().iter().all(|v| (v - volume).abs() < 1e-12), "{cells:?}");
        let law = NavierStokes {
            closure: Some(EddyViscosity {
                prandtl: VISCOUS.prandtl,
                ..large(Closure::Smagorinsky).closure.unwrap()
            }),
            ..VISCOUS
        };
        let data = shear(dim, a);
        for (name, scheme) in schemes(cells, 2) {
            let width = volume.powf(1.0 / dim as f64) / 3.0;
            let mu = 0.05 + 1.2 * (5.0 * 0.17 * width).powi(2) * a;
            let mut d = discretised::<f64>(&mesh, &scheme, law, Some(&data), SimdLevel::detect());
            let (mut u, mut du) = (vec![0.0; d.len()], vec![0.0; d.len()]);
            d.project(data.as_ref(), 0.0, &mut u);
            d.eval(0.0, &u, &mut du);
            let samples = d.boundary_samples(&u, 0.0, "ymax").expect("a boundary");
            for (flux, x) in samples.diffusive.iter().zip(&samples.points) {
                assert!((flux[1] - mu * a).abs() < 1e-11, "{cells:?} {name}: {} {}", flux[1], mu * a);
                assert!((flux[dim + 1] - mu * a * a * x[1]).abs() < 1e-11, "{cells:?} {name}: work");
            }
            let syrup = NavierStokes { viscosity: Viscosity::Constant { mu }, ..VISCOUS };
            let mut of_syrup = discretised::<f64>(&mesh, &scheme, syrup, Some(&data), SimdLevel::detect());
            let mut expected = vec![0.0; d.len()];
            of_syrup.eval(0.0, &u, &mut expected);
            let worst = du.iter().zip(&expected).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
            assert!(worst < 1e-10, "{cells:?} {name}: {worst:.2e}");
            // A change of the stress has twice ν_t, as ν_t grows with the gradient; heat has it once.
            let eddies = (mu - 0.05) / 1.2;
            let nu = (4.0 / 3.0 * (0.05 / 1.2 + 2.0 * eddies)).max(1.4 / 0.72 * mu / 1.2);
            let syrup =
                NavierStokes { viscosity: Viscosity::Constant { mu: nu * 1.2 * 0.72 / 1.4 }, ..VISCOUS };
            let of_syrup = discretised::<f64>(&mesh, &scheme, syrup, Some(&data), SimdLevel::detect());
            let [dt, expected] = [&d, &of_syrup].map(|d| d.time_step(&u, None).expect("a gas"));
            assert!((dt / expected - 1.0).abs() < 1e-12, "{cells:?} {name}: {dt} {expected}");
        }
    }
}

#[test]
fn a_uniform_flow_stays_uniform_and_integrals_change_by_fluxes() {
    for cells in PLANE.into_iter().chain(SPACE) {
        let dim = cells.dim();
        let closure = if dim == 2 { Closure::Vreman } else { Closure::Sigma };
        let mesh = mesh(cells, 2, 2, false);
        for (name, scheme) in schemes(cells, 2) {
            let uniform: Arc<dyn Exact> = Arc::new(State(dim + 2, move |_, _| {
                let mut w = vec![1.1, 0.4, -0.3];
                w.resize(dim + 1, 0.2);
                w.push(0.9);
                w
            }));
            let wavy: Arc<dyn Exact> = Arc::new(wavy(dim));
            for (state, free) in [(uniform, true), (wavy, false)] {
                let mut d =
                    discretised::<f64>(&mesh, &scheme, large(closure), Some(&state), SimdLevel::detect());
                let (mut u, mut du) = (vec![0.0; d.len()], vec![0.0; d.len()]);
                d.project(state.as_ref(), 0.0, &mut u);
                d.eval(0.0, &u, &mut du);
                if free {
                    let square = |_: [f64; 3], rate: &[f64], out: &mut [f64]| {
                        out.iter_mut().zip(rate).for_each(|(square, x)| *square = x * x);
                    };
                    let (squares, _) = d.integrate(&du, 4, dim + 2, square);
                    let rate = squares.into_iter().fold(0.0, f64::max).sqrt();
                    assert!(rate < 1e-10, "{cells:?} {name}: {rate:.2e}");
                    continue;
                }
                let size = d.absolute_totals(&du);
                for ((rate, boundary), size) in d.totals(&du).iter().zip(d.tally()).zip(&size) {
                    let defect = (rate - boundary).abs();
                    assert!(defect < 1e-12 * (1.0 + size), "{cells:?} {name}: {defect:.2e} of {size:.2e}");
                }
            }
        }
    }
}
