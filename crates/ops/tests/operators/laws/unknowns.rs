//! Laws with 2, 3, 6 and 7 unknowns: the fused kernels are the separate stages of `split`.

use crate::laws::oracle::difference;
use crate::several::{Several, Waves, machine, of_several, several};
use crate::testkit::{Cells, PLANE, SPACE, mesh, nested, schemes, shake};
use dgsuite_basis::Shape;
use dgsuite_gpu::SimdLevel;
use dgsuite_mesh::Mesh;
use dgsuite_ops::split::{Split, Walls};
use dgsuite_ops::{
    DiffusionKernels, Diffusive, Discretization, Form, PackScalar, PointKernels, Pointwise, Scheme,
    StageWeights,
};
use dgsuite_physics::{Real, Rusanov};
use std::sync::Arc;

/// Compares a residual with that of `split`, and a stage with the residual and the update.
fn compare<T, const D: usize, const N: usize>(
    mesh: &Arc<Mesh>,
    scheme: &Scheme,
    level: SimdLevel,
    diffusive: bool,
    what: &str,
) where
    T: PackScalar + Real,
    Pointwise<Several<D, N>, Rusanov, D, N>: PointKernels<T>,
    Diffusive<Several<D, N>, D, N>: DiffusionKernels<T>,
{
    let what = format!("{N} unknowns, {what}, {level:?}, diffusion {diffusive}");
    let (equation, bindings) = several::<T, D, N>(mesh, diffusive);
    let mut d = Discretization::new(Arc::clone(mesh), scheme, equation, bindings, machine(level))
        .expect("a discretisation");
    let zero = vec![T::from_f64(0.0); d.len()];
    let (mut u, mut du, mut next) = (zero.clone(), zero.clone(), zero);
    d.project(&Waves::<N>, 0.0, &mut u);
    shake(&d, &mut u);
    d.eval(0.0, &u, &mut du);
    let state = nested(&d, &u, mesh);
    let split = Split::<_, _, D, N>::new(Arc::clone(mesh), scheme, Several::<D, N>, Rusanov).expect("set up");
    let mut expected = split.eval(&state, &|_, um, _| *um);
    if diffusive {
        let walls = Walls { state: &|_, um, _| *um, flux: &|_, _, _, _, _| [0.0; N] };
        let more = split.diffusive(&state, &Several::<D, N>, None, &walls);
        for (a, b) in expected.iter_mut().flatten().flatten().zip(more.into_iter().flatten().flatten()) {
            *a += b;
        }
    }
    let tolerance = if T::BYTES == 8 { 2e-12 } else { 2e-4 };
    let found = nested(&d, &du, mesh);
    let e = difference(&found, &expected);
    assert!(e < tolerance, "{what}: {e:.2e}");
    let weights = StageWeights { a: -0.4, b: 0.25, c: 0.7, dt: 0.01, keep: true };
    let start: Vec<T> = u.iter().map(|x| T::from_f64(0.9 * x.to_f64())).collect();
    let mut register = u.clone();
    d.stage(0.0, weights, &u, Some(&start), &mut register, &mut next);
    for i in 0..u.len() {
        let (u, du) = (u[i].to_f64(), du[i].to_f64());
        let v = (0.25 * 0.9 + 0.75) * u + 0.7 * (0.01 * du - 0.4 * u);
        let found = next[i].to_f64();
        assert!(
            (found - v).abs() < 100.0 * T::EPSILON.to_f64() * (1.0 + v.abs()),
            "{what}: stage {found} {v}"
        );
    }
}

/// All numbers of unknowns on all shapes, affine and curved; schemes are distributed over them.
#[test]
fn any_number_of_unknowns_is_split() {
    for (c, cells) in PLANE.into_iter().chain(SPACE).enumerate() {
        for geometry in [1, 2] {
            let mesh = mesh(cells, 2, geometry, true);
            for (i, n) in [2, 3, 6, 7].into_iter().enumerate() {
                let list = schemes(cells, 2).into_iter().filter(|s| s.1.form != Form::Split);
                for (j, (name, scheme)) in list.enumerate() {
                    if (c + geometry + i + j).is_multiple_of(3) {
                        let what = format!("{cells:?} {name} geometry {geometry}");
                        let level = SimdLevel::detect();
                        let diffusive = !cells.has_pyramids();
                        of_several!(compare::<f64>, cells.dim(), n, &mesh, &scheme, level, diffusive, &what);
                    }
                }
            }
        }
    }
}

#[test]
fn any_number_of_unknowns_has_all_simd_levels_and_precisions() {
    let shapes = [Shape::Triangle, Shape::Quadrilateral, Shape::Prism].map(Cells::Of);
    for cells in shapes.into_iter().chain([Cells::Mixed2]) {
        let mesh = mesh(cells, 3, 2, true);
        for level in SimdLevel::ALL.into_iter().filter(|&l| l <= SimdLevel::hardware()) {
            for n in [2, 3, 6, 7] {
                for (name, scheme) in
                    schemes(cells, 2).into_iter().filter(|s| ["modal", "nodal"].contains(&s.0))
                {
                    let what = format!("{cells:?} {name}");
                    of_several!(compare::<f64>, cells.dim(), n, &mesh, &scheme, level, true, &what);
                    of_several!(compare::<f32>, cells.dim(), n, &mesh, &scheme, level, true, &what);
                }
            }
        }
    }
}
