//! The fused kernels agree with the separate stages of `split`, at every SIMD level and in both precisions.

use crate::testkit::{Cells, GAS, PLANE, SPACE, at_level, euler, mesh, nested, schemes, shake, wavy};
use dgsuite_gpu::SimdLevel;
use dgsuite_mesh::Mesh;
use dgsuite_ops::split::Split;
use dgsuite_ops::{PackScalar, Scheme, StageWeights};
use dgsuite_physics::two_point::Ranocha;
use dgsuite_physics::{Exact, Rusanov};
use std::sync::Arc;

fn oracle(mesh: &Arc<Mesh>, scheme: &Scheme, u: &[Vec<Vec<f64>>]) -> Vec<Vec<Vec<f64>>> {
    if mesh.dim == 2 {
        let split = Split::<_, _, 2, 4>::new(mesh.clone(), scheme, GAS, Rusanov).expect("set up");
        split.with_two_point(Ranocha).eval(u, &|_, um, _| *um)
    } else {
        let split = Split::<_, _, 3, 5>::new(mesh.clone(), scheme, GAS, Rusanov).expect("set up");
        split.with_two_point(Ranocha).eval(u, &|_, um, _| *um)
    }
}

pub(crate) fn difference(a: &[Vec<Vec<f64>>], b: &[Vec<Vec<f64>>]) -> f64 {
    let flat = |x: &[Vec<Vec<f64>>]| x.iter().flatten().flatten().copied().collect::<Vec<f64>>();
    let size = flat(b).iter().fold(1.0_f64, |m, v| m.max(v.abs()));
    flat(a).iter().zip(flat(b)).fold(0.0_f64, |m, (a, b)| m.max((a - b).abs())) / size
}

fn compare<T>(cells: Cells, n: usize, geometry: usize, p: usize, level: SimdLevel, tolerance: f64)
where
    T: PackScalar + dgsuite_physics::Real,
    dgsuite_ops::Pointwise<dgsuite_physics::Euler, Rusanov, 2, 4>: dgsuite_ops::PointKernels<T>,
    dgsuite_ops::Pointwise<dgsuite_physics::Euler, Rusanov, 3, 5>: dgsuite_ops::PointKernels<T>,
{
    let mesh = mesh(cells, n, geometry, true);
    let state = wavy(cells.dim());
    for (name, scheme) in schemes(cells, p) {
        let mut d = at_level::<T>(&mesh, &scheme, None, 1, level);
        let mut u = vec![T::ZERO; d.len()];
        d.project(&state, 0.0, &mut u);
        shake(&d, &mut u);
        let mut du = vec![T::ZERO; d.len()];
        d.eval(0.0, &u, &mut du);
        let expected = oracle(&mesh, &scheme, &nested(&d, &u, &mesh));
        let e = difference(&nested(&d, &du, &mesh), &expected);
        assert!(e < tolerance, "{cells:?} p = {p} geometry {geometry} {level:?} {name}: {e:.2e}");
    }
}

#[test]
fn fused_is_split_on_affine_meshes() {
    for cells in PLANE.into_iter().chain(SPACE) {
        for p in 0..=3 {
            if p > 0 || !cells.has_pyramids() {
                compare::<f64>(cells, 3, 1, p.max(1), SimdLevel::detect(), 1e-12);
            }
        }
    }
}

#[test]
fn fused_is_split_on_curved_meshes() {
    for cells in PLANE.into_iter().chain(SPACE) {
        compare::<f64>(cells, 2, 2, 2, SimdLevel::detect(), 1e-12);
    }
}

#[test]
fn every_simd_level_and_precision_gives_the_same() {
    for cells in [
        Cells::Of(dgsuite_basis::Shape::Triangle),
        Cells::Mixed2,
        Cells::Of(dgsuite_basis::Shape::Hexahedron),
    ] {
        for level in SimdLevel::ALL.into_iter().filter(|&l| l <= SimdLevel::hardware()) {
            compare::<f64>(cells, 3, 2, 2, level, 1e-12);
            compare::<f32>(cells, 3, 2, 2, level, 2e-4);
        }
    }
}

#[test]
fn a_stage_is_the_residual_and_the_update() {
    let mesh = mesh(Cells::Mixed2, 3, 2, true);
    for (name, scheme) in schemes(Cells::Mixed2, 3) {
        let mut d = euler::<f64>(&mesh, &scheme, None, 1);
        let n = d.len();
        let (mut u, mut du) = (vec![0.0; n], vec![0.0; n]);
        d.project(&wavy(2), 0.0, &mut u);
        d.eval(0.0, &u, &mut du);
        let start: Vec<f64> = u.iter().map(|v| 0.9 * v).collect();
        let old: Vec<f64> = u.iter().map(|v| 0.1 * v).collect();
        let (mut register, mut next) = (old.clone(), vec![f64::NAN; n]);
        let weights = StageWeights { a: -0.4, b: 0.25, c: 0.7, dt: 1e-3, keep: true };
        d.stage(0.0, weights, &u, Some(&start), &mut register, &mut next);
        for i in 0..n {
            let r = -0.4 * old[i] + 1e-3 * du[i];
            let v = 0.25 * start[i] + 0.75 * u[i] + 0.7 * r;
            assert!((register[i] - r).abs() < 1e-14 && (next[i] - v).abs() < 1e-14, "{name} at {i}");
        }
        // A register of weight 0 is not read, and one without `keep` is not written.
        let mut register = vec![f64::NAN; n];
        let weights = StageWeights { a: 0.0, b: 0.0, c: 1.0, dt: 1e-3, keep: false };
        d.stage(0.0, weights, &u, None, &mut register, &mut next);
        assert!(register.iter().all(|v| v.is_nan()));
        assert!((0..n).all(|i| (next[i] - u[i] - 1e-3 * du[i]).abs() < 1e-14), "{name}");
    }
}

#[test]
fn canonical_order_goes_there_and_back() {
    let mesh = mesh(Cells::Mixed3, 3, 1, true);
    let d = euler::<f64>(&mesh, &Scheme::modal(2), None, 1);
    let mut u = vec![0.0; d.len()];
    d.project(&wavy(3) as &dyn Exact, 0.0, &mut u);
    let flat = d.to_canonical(&u);
    assert_eq!(flat.len(), d.dofs());
    let mut back = vec![0.0; d.len()];
    d.from_canonical(&flat, &mut back).expect("it fits");
    assert_eq!(u, back);
}
