//! Integrals and norms on the device equal the host's.

use crate::device::residual::euler_on;
use crate::testkit::{euler, wavy};
use dgsuite_gpu::CudaVector;
use dgsuite_gpu::cuda::{Cuda, DeviceBuffer};
use dgsuite_mesh::Mesh;
use dgsuite_ops::cuda::{Integrand, Measures, PointRule, UnknownMap};
use dgsuite_ops::{PackScalar, PointKernels, Pointwise, Scheme};
use dgsuite_physics::trace::{Parameters, Sym, device_fn};
use dgsuite_physics::{Euler, Exact, Real, Rusanov};
use std::sync::Arc;

/// Two integrands of a state, its derivatives `[axis][variable]`, a position and a time.
fn of_gradients<R: Real>(w: &[R], h: &[R], x: &[R], t: R) -> [R; 2] {
    let n = w.len();
    let sum = (0..n).map(|k| w[k] * h[k] - h[n + (k + 1) % n] * x[1]).reduce(|a, b| a + b);
    [sum.unwrap_or(t) + t * x[0], h.iter().map(|&g| g * g).reduce(|a, b| a + b).unwrap_or(t)]
}

/// An integrand of conserved and primitive variables.
fn of_values<R: Real>(u: &[R], w: &[R], x: &[R], t: R) -> [R; 1] {
    [u[1] * w[1] - w[0] * x[0] + t]
}

fn assert_near(what: &str, found: &[f64], expected: &[f64], tolerance: f64) {
    let size = expected.iter().fold(1e-3_f64, |m, x| m.max(x.abs()));
    for (i, (a, b)) in found.iter().zip(expected).enumerate() {
        assert!((a - b).abs() <= tolerance * size, "{what}, {i}: {a} on the device, {b} on the host");
    }
    assert_eq!(found.len(), expected.len(), "{what}");
}

/// Compares integrals of values and of lifted gradients, norms of the error, totals.
pub(crate) fn compare_integrals<T>(cuda: &Cuda, mesh: &Arc<Mesh>, what: &str, scheme: &Scheme)
where
    T: PackScalar + Real,
    Pointwise<Euler, Rusanov, 2, 4>: PointKernels<T>,
    Pointwise<Euler, Rusanov, 3, 5>: PointKernels<T>,
{
    let exact: Arc<dyn Exact> = Arc::new(wavy(mesh.dim));
    let data = (!mesh.boundary_names().is_empty()).then_some(&exact);
    let (dim, n, t, degree) = (mesh.dim, mesh.dim + 2, 0.3, 2 * scheme.order + 2);
    let host = euler::<T>(mesh, scheme, data, 2);
    let device = euler_on::<T>(cuda, mesh, scheme, data);
    let (mut u, mut v) = (vec![T::from_f64(0.0); host.len()], vec![T::from_f64(0.0); device.len()]);
    // Not the exact solution: its error and the jumps between elements and at boundaries are not small.
    host.project(exact.as_ref(), 0.0, &mut u);
    for (i, x) in u.iter_mut().enumerate() {
        *x *= T::from_f64(1.0 + 0.01 * (i as f64).sin());
    }
    let canonical = host.to_canonical(&u);
    let own =
        device.description().convert_canonical(&canonical, host.representation()).expect("the same space");
    device.description().from_canonical(&own, &mut v).expect("the same size");
    let v = DeviceBuffer::from_slice(cuda, "a test", &v).expect("memory");
    host.from_canonical(&canonical, &mut u).expect("the same size");
    let mut measures = Measures::default();
    let tolerance = if T::BYTES == 8 { 1e-11 } else { 1e-4 };

    let inputs = [("u", n), ("w", n), ("x", 3), ("t", 0)];
    let trace = |parameters: &mut Parameters| {
        device_fn("formulas", &inputs, parameters, |a| {
            of_values::<Sym>(&a.list("u"), &a.list("w"), &a.list("x"), a.scalar("t"))
        })
    };
    let integrand = Integrand::of_formulas(&device, 1, trace).expect("a text");
    let physics = host.physics();
    let (expected, _) = host.integrate(&u, degree, 1, |x, u, out| {
        let mut w = vec![0.0; n];
        physics.to_primitive(u, &mut w);
        out.copy_from_slice(&of_values(u, &w, &x, t));
    });
    for _ in 0..2 {
        let found = device.measure(&mut measures, &v, PointRule::Degree(degree), &integrand, t);
        assert_near(&format!("{what}: values"), &found.expect("a measurement").0, &expected, tolerance);
    }

    let inputs = [("w", n), ("h", dim * n), ("x", 3), ("t", 0)];
    let trace = |parameters: &mut Parameters| {
        device_fn("formulas", &inputs, parameters, |a| {
            of_gradients::<Sym>(&a.list("w"), &a.list("h"), &a.list("x"), a.scalar("t"))
        })
    };
    let integrand = Integrand::of_gradients(&device, 2, trace).expect("a text");
    let expected = host.integrate_gradients(&u, t, degree, 2, &|at, out| {
        let points = at.x.len();
        let (mut w, mut h) = (vec![0.0; n], vec![0.0; n * dim]);
        for (q, x) in at.x.iter().enumerate() {
            let u: Vec<f64> = (0..n).map(|k| at.states[k * points + q]).collect();
            let g: Vec<f64> = (0..n * dim).map(|k| at.gradients[k * points + q]).collect();
            physics.to_primitive(&u, &mut w);
            physics.primitive_gradient(&u, &g, &mut h);
            (out[q], out[points + q]) = of_gradients(&w, &h, x, t).into();
        }
    });
    let found = device.measure(&mut measures, &v, PointRule::Degree(degree), &integrand, t);
    assert_near(&format!("{what}: gradients"), &found.expect("a measurement").0, &expected, tolerance);

    let (names, errors) = host.errors(&u, exact.as_ref(), 0.0);
    if let Some((same, found)) = device.errors(&mut measures, &v, exact.as_ref(), 0.0) {
        assert_eq!(names, same, "{what}");
        assert_near(&format!("{what}: errors"), &found.l2, &errors.l2, tolerance);
        assert_near(&format!("{what}: largest errors"), &found.linf, &errors.linf, tolerance);
    }
    if let Some(found) = device.totals(&mut measures, &v, true) {
        assert_near(&format!("{what}: totals"), &found, &host.absolute_totals(&u), tolerance);
    }

    // A map that mixes all unknowns.
    let map: Vec<f64> = (0..n * n).map(|i| 1.0 + (i as f64).sin()).collect();
    let moments =
        |u: &[T]| host.integrate(u, degree, n, |x, u, out| (0..n).for_each(|k| out[k] = u[k] * x[0])).0;
    let before = moments(&u);
    let rows = map.chunks_exact(n).map(|row| row.iter().zip(&before).map(|(a, m)| a * m).sum());
    let expected: Vec<f64> = rows.collect();
    host.map_unknowns(&map, &mut u);
    assert_near(&format!("{what}: a map"), &moments(&u), &expected, tolerance);
    let mut mapped = CudaVector::from_buffer(cuda, v).expect("a vector");
    UnknownMap::new(&device).and_then(|mut on| on.apply(&device, &map, &mut mapped)).expect("a map");
    let on_device = device.description().to_canonical(&mapped.buffer().to_vec().expect("the state"));
    let on_host = host.to_canonical(&u);
    let expected =
        device.description().convert_canonical(&on_host, host.representation()).expect("the same space");
    assert_near(&format!("{what}: a map"), &on_device, &expected, tolerance);
}
