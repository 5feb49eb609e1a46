//! Properties of diffusion: comparison with the reference stages, exactness, symmetry, conservation.
//!
//! Linear fields have their exact gradients and uniform fields none; operators are symmetric and dissipative;
//! integrals change by boundary fluxes only.

use crate::laws::oracle::difference;
use crate::testkit::{Cells, GAS, PLANE, SPACE, State, mesh, nested, schemes, shake, wavy};
use dgsuite_basis::Shape;
use dgsuite_gpu::{Host, SimdLevel};
use dgsuite_mesh::Mesh;
use dgsuite_ops::split::{Split, Walls};
use dgsuite_ops::{
    BoundaryBinding, BoundaryKernel, BoundaryOf, Diffusive, DiffusiveBoundaryOf, Discretization, Equation,
    Form, PackScalar, PointKernels, Pointwise, Scheme, StageWeights, TwoPoint, WithDiffusion,
};
use dgsuite_physics::exact::{ClosedForm, ManufacturedGas};
use dgsuite_physics::navier_stokes::Viscosity;
use dgsuite_physics::source::Manufactured;
use dgsuite_physics::two_point::Central;
use dgsuite_physics::{
    Advection, Diffusion, DiffusiveBoundary, Exact, Law, NavierStokes, NumericalFlux, Prescribed, Real,
    Rusanov, ScalarDiffusion, Source,
};
use std::sync::Arc;

pub(crate) const VISCOUS: NavierStokes = NavierStokes {
    gas: GAS,
    prandtl: 0.72,
    viscosity: Viscosity::Constant { mu: 0.05 },
    gas_constant: 1.0,
    closure: None,
};

/// A scalar field.
pub(crate) struct Scalar<F>(pub(crate) F);

impl<F: Fn([f64; 3]) -> f64 + Send + Sync> Exact for Scalar<F> {
    fn n_fields(&self) -> usize {
        1
    }

    fn eval(&self, _t: f64, x: &[[f64; 3]], out: &mut [Vec<f64>]) {
        out[0].clear();
        out[0].extend(x.iter().map(|&x| (self.0)(x)));
    }

    fn is_steady(&self) -> bool {
        true
    }
}

/// A law with diffusion, and prescribed states on all boundaries.
pub(crate) fn diffusing<T, L, F, V, const D: usize, const N: usize>(
    mesh: &Arc<Mesh>,
    scheme: &Scheme,
    law: L,
    flux: F,
    diffusion: V,
    data: Option<&Arc<dyn Exact>>,
    source: Option<Arc<dyn Source>>,
    threads: usize,
    level: SimdLevel,
) -> Discretization<T>
where
    T: PackScalar + Real,
    L: Law<D, N>,
    V: Diffusion<D, N>,
    F: NumericalFlux<L, D, N>,
    Prescribed: dgsuite_physics::Boundary<L, D, N> + DiffusiveBoundary<V, D, N>,
    Pointwise<L, F, D, N>: PointKernels<T>,
    Diffusive<V, D, N>: dgsuite_ops::DiffusionKernels<T>,
{
    let host = Arc::new(Host::with_simd(threads, level).expect("a machine"));
    let (equation, bindings) = problem(mesh, scheme, law, flux, diffusion, data, source);
    Discretization::new(Arc::clone(mesh), scheme, equation, bindings, host)
        .expect("the discretisation is made")
}

/// The equation of a law with diffusion, and prescribed states on all boundaries.
#[expect(clippy::needless_pass_by_value, reason = "formulas are small values")]
pub(crate) fn problem<T, L, F, V, const D: usize, const N: usize>(
    mesh: &Mesh,
    scheme: &Scheme,
    law: L,
    flux: F,
    diffusion: V,
    data: Option<&Arc<dyn Exact>>,
    source: Option<Arc<dyn Source>>,
) -> (Equation<T>, Vec<BoundaryBinding<T>>)
where
    T: PackScalar + Real,
    L: Law<D, N>,
    V: Diffusion<D, N>,
    F: NumericalFlux<L, D, N>,
    Prescribed: dgsuite_physics::Boundary<L, D, N> + DiffusiveBoundary<V, D, N>,
    Pointwise<L, F, D, N>: PointKernels<T>,
    Diffusive<V, D, N>: dgsuite_ops::DiffusionKernels<T>,
{
    let kernel = || -> Box<dyn BoundaryKernel<T>> {
        Box::new(WithDiffusion {
            inviscid: Box::new(BoundaryOf::<_, _, D, N> { law: law.clone(), condition: Prescribed }),
            diffusive: Box::new(DiffusiveBoundaryOf::<_, _, D, N> {
                diffusion: diffusion.clone(),
                condition: Prescribed,
            }),
        })
    };
    let bindings = mesh
        .boundary_names()
        .into_iter()
        .map(|name| BoundaryBinding { name: name.to_owned(), kernel: kernel(), data: data.cloned() })
        .collect();
    let mut equation = Equation::<T>::from(Box::new(Pointwise::<L, F, D, N> { law: law.clone(), flux }))
        .with_diffusion(Box::new(Diffusive::<V, D, N> { diffusion: diffusion.clone() }));
    equation.source = source;
    if scheme.form == Form::Split {
        equation.two_point = Some(Box::new(TwoPoint::<L, _, D, N> { law: law.clone(), flux: Central }));
    }
    (equation, bindings)
}

pub(crate) fn viscous<T>(
    mesh: &Arc<Mesh>,
    scheme: &Scheme,
    data: Option<&Arc<dyn Exact>>,
    source: Option<Arc<dyn Source>>,
    threads: usize,
    level: SimdLevel,
) -> Discretization<T>
where
    T: PackScalar + Real,
    Pointwise<dgsuite_physics::Euler, Rusanov, 2, 4>: PointKernels<T>,
    Pointwise<dgsuite_physics::Euler, Rusanov, 3, 5>: PointKernels<T>,
    Diffusive<NavierStokes, 2, 4>: dgsuite_ops::DiffusionKernels<T>,
    Diffusive<NavierStokes, 3, 5>: dgsuite_ops::DiffusionKernels<T>,
{
    if mesh.dim == 2 {
        diffusing::<T, _, _, _, 2, 4>(mesh, scheme, GAS, Rusanov, VISCOUS, data, source, threads, level)
    } else {
        diffusing::<T, _, _, _, 3, 5>(mesh, scheme, GAS, Rusanov, VISCOUS, data, source, threads, level)
    }
}

/// A flow in which all quantities vary, and the source for which it is a solution.
pub(crate) fn manufactured(dim: usize) -> (Arc<dyn Exact>, Arc<dyn Source>) {
    // The mean flow passes several cells, so that the initial entropy leaves the domain.
    let solution =
        ManufacturedGas { length: 2.0, frequency: 0.5, velocity: [1.0; 3], ..ManufacturedGas::new() };
    if dim == 2 {
        let exact = ClosedForm::<_, _, 2, 4>::new(GAS, solution);
        let source = Manufactured::new::<_, _, 2, 4>(&GAS, &VISCOUS, &exact).expect("a formula");
        (Arc::new(exact), Arc::new(source))
    } else {
        let exact = ClosedForm::<_, _, 3, 5>::new(GAS, solution);
        let source = Manufactured::new::<_, _, 3, 5>(&GAS, &VISCOUS, &exact).expect("a formula");
        (Arc::new(exact), Arc::new(source))
    }
}

/// Diffusion only: the operator of a scalar without advection.
pub(crate) fn heat(mesh: &Arc<Mesh>, scheme: &Scheme, data: Option<&Arc<dyn Exact>>) -> Discretization<f64> {
    let (nu, level) = (ScalarDiffusion { nu: 1.0 }, SimdLevel::detect());
    if mesh.dim == 2 {
        let law = Advection { velocity: [0.0; 2] };
        diffusing::<f64, _, _, _, 2, 1>(mesh, scheme, law, Rusanov, nu, data, None, 1, level)
    } else {
        let law = Advection { velocity: [0.0; 3] };
        diffusing::<f64, _, _, _, 3, 1>(mesh, scheme, law, Rusanov, nu, data, None, 1, level)
    }
}

fn oracle<const D: usize, const N: usize>(
    mesh: &Arc<Mesh>,
    scheme: &Scheme,
    u: &[Vec<Vec<f64>>],
) -> Vec<Vec<Vec<f64>>>
where
    dgsuite_physics::Euler: Law<D, N>,
    Rusanov: dgsuite_physics::NumericalFlux<dgsuite_physics::Euler, D, N>,
    NavierStokes: Diffusion<D, N>,
{
    // On the boundaries of the reference, `Prescribed` has the state 0.9 u⁻, which differs from the inner
    // one.
    let split =
        Split::<_, _, D, N>::new(mesh.clone(), scheme, GAS, Rusanov).expect("set up").with_two_point(Central);
    let walls = Walls {
        state: &|_, um: &[f64; N], _| um.map(|v| 0.9 * v),
        flux: &|_, _, ub: &[f64; N], g: &[[f64; N]; D], n: &[f64; D]| VISCOUS.normal_diffusive_flux(ub, g, n),
    };
    let mut out = split.eval(u, &|_, um, _| *um);
    for (out, add) in out
        .iter_mut()
        .flatten()
        .flatten()
        .zip(split.diffusive(u, &VISCOUS, None, &walls).iter().flatten().flatten())
    {
        *out += add;
    }
    out
}

fn compare<T>(cells: Cells, n: usize, geometry: usize, p: usize, level: SimdLevel, tolerance: f64)
where
    T: PackScalar + Real,
    Pointwise<dgsuite_physics::Euler, Rusanov, 2, 4>: PointKernels<T>,
    Pointwise<dgsuite_physics::Euler, Rusanov, 3, 5>: PointKernels<T>,
    Diffusive<NavierStokes, 2, 4>: dgsuite_ops::DiffusionKernels<T>,
    Diffusive<NavierStokes, 3, 5>: dgsuite_ops::DiffusionKernels<T>,
{
    let mesh = mesh(cells, n, geometry, true);
    for (name, scheme) in schemes(cells, p) {
        let mut d = viscous::<T>(&mesh, &scheme, None, None, 1, level);
        let (mut u, mut du) = (vec![T::ZERO; d.len()], vec![T::ZERO; d.len()]);
        d.project(&wavy(cells.dim()), 0.0, &mut u);
        shake(&d, &mut u);
        d.eval(0.0, &u, &mut du);
        let nested_u = nested(&d, &u, &mesh);
        let expected = if mesh.dim == 2 {
            oracle::<2, 4>(&mesh, &scheme, &nested_u)
        } else {
            oracle::<3, 5>(&mesh, &scheme, &nested_u)
        };
        let e = difference(&nested(&d, &du, &mesh), &expected);
        assert!(e < tolerance, "{cells:?} p = {p} geometry {geometry} {level:?} {name}: {e:.2e}");
    }
}

#[test]
fn two_passes_are_plain_stages() {
    for cells in PLANE.into_iter().chain(SPACE) {
        for p in 1..=3 {
            compare::<f64>(cells, if cells.dim() == 2 { 3 } else { 2 }, 1, p, SimdLevel::detect(), 2e-12);
        }
        compare::<f64>(cells, 2, 2, 2, SimdLevel::detect(), 2e-12);
    }
    for level in SimdLevel::ALL.into_iter().filter(|&l| l <= SimdLevel::hardware()) {
        compare::<f64>(Cells::Mixed2, 3, 2, 2, level, 2e-12);
        compare::<f32>(Cells::Mixed2, 3, 2, 2, level, 1e-3);
    }
}

#[test]
fn linear_fields_diffuse_to_nothing() {
    // Their gradients are exact and constant, so all fluxes are equal and jumps vanish on all faces.
    for cells in PLANE.into_iter().chain(SPACE) {
        for (geometry, p) in [(1, 1), (1, 3), (2, 2), (2, 4)] {
            if geometry > 1 && p > 2 && cells.dim() == 3 {
                continue;
            }
            let mesh = mesh(cells, 2, geometry, false);
            let linear: Arc<dyn Exact> =
                Arc::new(Scalar(|x: [f64; 3]| 0.3 + 0.7 * x[0] - 0.4 * x[1] + 0.2 * x[2]));
            for (name, scheme) in schemes(cells, p) {
                // A polynomial of x is one of r only if the geometry is in the space; curl-form metrics in
                // three dimensions differ from those of the map.
                let nodal = name.contains("collocated") || name.contains("FR");
                let total = scheme.polynomials == Some(dgsuite_basis::Polynomials::Total);
                if geometry > 1 && (nodal && cells.dim() == 3 || name.contains("Taylor") || total) {
                    continue;
                }
                let mut d = heat(&mesh, &scheme, Some(&linear));
                let (mut u, mut du) = (vec![0.0; d.len()], vec![0.0; d.len()]);
                d.project(linear.as_ref(), 0.0, &mut u);
                d.eval(0.0, &u, &mut du);
                let square = |_: [f64; 3], r: &[f64], out: &mut [f64]| out[0] = r[0] * r[0];
                let rate = d.integrate(&du, 2 * p, 1, square).0[0].sqrt();
                assert!(rate < 1e-9, "{cells:?} p = {p} geometry {geometry} {name}: {rate:.2e}");
            }
        }
    }
}

#[test]
fn uniform_flow_stays_uniform() {
    for cells in PLANE.into_iter().chain(SPACE) {
        for (geometry, p) in [(1, 2), (2, 2)] {
            for periodic in [true, false] {
                let mesh = mesh(cells, 2, geometry, periodic);
                let dim = cells.dim();
                let uniform: Arc<dyn Exact> = Arc::new(State(dim + 2, move |_, _| {
                    let mut w = vec![1.1, 0.4, -0.3];
                    w.resize(dim + 1, 0.2);
                    w.push(0.9);
                    w
                }));
                for (name, scheme) in schemes(cells, p) {
                    let mut d = viscous::<f64>(&mesh, &scheme, Some(&uniform), None, 1, SimdLevel::detect());
                    let (mut u, mut du) = (vec![0.0; d.len()], vec![0.0; d.len()]);
                    d.project(uniform.as_ref(), 0.0, &mut u);
                    d.eval(0.0, &u, &mut du);
                    let square = |_: [f64; 3], rate: &[f64], out: &mut [f64]| {
                        out.iter_mut().zip(rate).for_each(|(square, x)| *square = x * x);
                    };
                    let rate =
                        d.integrate(&du, 2 * p, dim + 2, square).0.into_iter().fold(0.0, f64::max).sqrt();
                    assert!(rate < 1e-10, "{cells:?} geometry {geometry} {name}: {rate:.2e}");
                }
            }
        }
    }
}

#[test]
fn rates_of_the_integrals_are_the_fluxes_through_the_boundary() {
    for cells in PLANE.into_iter().chain(SPACE) {
        for periodic in [true, false] {
            for geometry in [1, 2] {
                let mesh = mesh(cells, 2, geometry, periodic);
                for (name, scheme) in schemes(cells, 2) {
                    let state: Arc<dyn Exact> = Arc::new(wavy(cells.dim()));
                    let mut d = viscous::<f64>(&mesh, &scheme, Some(&state), None, 1, SimdLevel::detect());
                    let (mut u, mut du) = (vec![0.0; d.len()], vec![0.0; d.len()]);
                    d.project(state.as_ref(), 0.0, &mut u);
                    d.eval(0.0, &u, &mut du);
                    let size = d.absolute_totals(&du);
                    for ((rate, boundary), size) in d.totals(&du).iter().zip(d.tally()).zip(&size) {
                        let defect = (rate - boundary).abs();
                        assert!(
                            defect < 1e-12 * (1.0 + size),
                            "{cells:?} periodic {periodic} geometry {geometry} {name}: {defect:.2e} of {size:.2e}"
                        );
                    }
                }
            }
        }
    }
}

#[test]
fn any_number_of_threads_gives_the_same_bits_and_a_stage_is_its_residual() {
    for cells in [Cells::Mixed2, Cells::Mixed3] {
        let mesh = mesh(cells, if cells.dim() == 2 { 6 } else { 4 }, 2, false);
        let data: Arc<dyn Exact> = Arc::new(wavy(cells.dim()));
        let source = manufactured(cells.dim()).1;
        for (name, scheme) in schemes(cells, 2) {
            let run = |threads: usize| {
                let mut d = viscous::<f64>(
                    &mesh,
                    &scheme,
                    Some(&data),
                    Some(source.clone()),
                    threads,
                    SimdLevel::detect(),
                );
                let (mut u, mut du) = (vec![0.0; d.len()], vec![0.0; d.len()]);
                d.project(data.as_ref(), 0.0, &mut u);
                d.eval(0.0, &u, &mut du);
                let (mut register, mut next) = (vec![0.5; d.len()], vec![0.0; d.len()]);
                let weights = StageWeights { a: -0.4, b: 0.0, c: 0.7, dt: 1e-3, keep: true };
                d.stage(0.0, weights, &u, None, &mut register, &mut next);
                for i in 0..d.len() {
                    let r = -0.2 + 1e-3 * du[i];
                    assert!((next[i] - u[i] - 0.7 * r).abs() < 1e-14 * (1.0 + du[i].abs()), "{name} at {i}");
                }
                let tally: Vec<u64> = d.tally().iter().map(|v| v.to_bits()).collect();
                let dt = d.time_step(&u, None).expect("a gas").to_bits();
                (du.iter().map(|v| v.to_bits()).collect::<Vec<_>>(), tally, dt)
            };
            let one = run(1);
            assert!(one == run(2) && one == run(3), "{cells:?} {name}");
        }
    }
}

/// The matrix of the operator in the modes of each element, times its Jacobian; symmetric if the operator is.
fn operator(d: &mut Discretization<f64>, mesh: &Mesh, scheme: &Scheme) -> (Vec<Vec<f64>>, Vec<f64>) {
    let n = d.dofs();
    let columns: Vec<Vec<f64>> = (0..n)
        .map(|j| {
            let mut c = vec![0.0; n];
            c[j] = 1.0;
            let (mut u, mut du) = (vec![0.0; d.len()], vec![0.0; d.len()]);
            d.from_canonical(&c, &mut u).expect("it fits");
            d.eval(0.0, &u, &mut du);
            d.to_canonical(&du)
        })
        .collect();
    // Modes are orthonormal on the reference element.
    assert_eq!(scheme.representation, dgsuite_basis::Representation::Modal);
    let mut weight = Vec::new();
    for measure in mesh.volumes() {
        weight.extend(vec![measure; n / mesh.n_elements()]);
    }
    (columns, weight)
}

#[test]
fn the_operator_of_a_scalar_is_symmetric_and_dissipates() {
    for (shape, n) in
        [(Shape::Triangle, 3), (Shape::Quadrilateral, 3), (Shape::Tetrahedron, 2), (Shape::Prism, 2)]
    {
        let mesh = mesh(Cells::Of(shape), n, 1, true);
        for p in [1, 2] {
            let scheme = Scheme::modal(p);
            let mut d = heat(&mesh, &scheme, None);
            let (columns, weight) = operator(&mut d, &mesh, &scheme);
            let n = weight.len();
            let a = |i: usize, j: usize| weight[i] * columns[j][i];
            let size = (0..n).map(|i| a(i, i).abs()).fold(0.0, f64::max);
            for i in 0..n {
                for j in 0..i {
                    assert!((a(i, j) - a(j, i)).abs() < 1e-11 * size, "{shape} p = {p}: {i}, {j}");
                }
            }
            // −A + ε I has a Cholesky decomposition: no eigenvalue of A is above ε; the eigenvalue of
            // constants is 0.
            let mut l: Vec<Vec<f64>> = (0..n)
                .map(|i| (0..n).map(|j| -a(i, j) + if i == j { 1e-9 * size } else { 0.0 }).collect())
                .collect();
            for k in 0..n {
                assert!(l[k][k] > 0.0, "{shape} p = {p}: not definite at {k}, {:.2e} of {size:.2e}", l[k][k]);
                let pivot = l[k].clone();
                for row in l.iter_mut().skip(k + 1) {
                    let factor = row[k] / pivot[k];
                    for j in k..n {
                        row[j] -= factor * pivot[j];
                    }
                }
            }
        }
    }
}

#[test]
fn samples_have_the_gradients_of_linear_fields_and_fluxes_of_the_scheme() {
    for cells in PLANE.into_iter().chain(SPACE) {
        for geometry in [1, 2] {
            let mesh = mesh(cells, 2, geometry, false);
            let slopes = [0.7, -0.4, 0.2];
            let linear: Arc<dyn Exact> =
                Arc::new(Scalar(move |x: [f64; 3]| 0.3 + (0..3).map(|d| slopes[d] * x[d]).sum::<f64>()));
            let mut d = heat(&mesh, &Scheme::modal(2), Some(&linear));
            let mut u = vec![0.0; d.len()];
            d.project(linear.as_ref(), 0.0, &mut u);
            for sample in d.sample_with_gradients(&u, 0.0, 2) {
                for x in 0..mesh.dim {
                    let worst =
                        sample.gradients[x][0].iter().fold(0.0_f64, |m, g| m.max((g - slopes[x]).abs()));
                    // Near the apex of a pyramid, rational functions are nearly singular.
                    let tolerance = if sample.shape == Shape::Pyramid { 1e-5 } else { 1e-10 };
                    assert!(worst < tolerance, "{cells:?} {} geometry {geometry}: {worst:.2e}", sample.shape);
                }
            }
            let integrals = d.integrate_gradients(&u, 0.0, 4, 1 + mesh.dim, &|at, out| {
                let (volume, slopes) = out.split_at_mut(at.x.len());
                volume.fill(1.0);
                slopes.copy_from_slice(at.gradients);
            });
            for x in 0..mesh.dim {
                let mean = integrals[1 + x] / integrals[0];
                assert!((mean - slopes[x]).abs() < 1e-11, "{cells:?} geometry {geometry}: {mean}");
            }
            // The tally is the integral of the sampled fluxes, and the flux is the normal derivative.
            let mut du = vec![0.0; d.len()];
            d.project(&Scalar(|x: [f64; 3]| (x[0] + 0.3 * x[1]).sin()), 0.0, &mut u);
            d.eval(0.0, &u, &mut du);
            let mut sum = 0.0;
            for name in mesh.boundary_names() {
                let s = d.boundary_samples(&u, 0.0, name).expect("a boundary");
                for (p, w) in s.weights.iter().enumerate() {
                    let slope: f64 = (0..mesh.dim).map(|x| s.normals[p][x] * s.gradients[p][x][0]).sum();
                    assert!((slope - s.diffusive[p][0]).abs() < 1e-11, "{cells:?} {name}");
                    sum += w * (s.diffusive[p][0] - s.inviscid[p][0]);
                }
            }
            assert!(
                (sum - d.tally()[0]).abs() < 1e-11 * (1.0 + sum.abs()),
                "{cells:?}: {sum} {}",
                d.tally()[0]
            );
        }
    }
}
