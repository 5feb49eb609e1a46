//! A residual and a stage on the device equal the host's.

use crate::testkit::{Cells, PLANE, SPACE, euler, mesh, nested, schemes, shake, two_point, wavy};
use dgsuite_basis::Representation;
use dgsuite_gpu::cuda::{Cuda, DeviceBuffer};
use dgsuite_gpu::{ExactSum, Host};
use dgsuite_ops::cuda::CudaDiscretization;
use dgsuite_ops::split::Split;
use dgsuite_ops::{
    BoundaryBinding, BoundaryOf, Discretization, Equation, Form, PackScalar, PointKernels, Pointwise, Scheme,
    StageWeights, StepMeasure,
};
use dgsuite_physics::{Euler, Exact, Prescribed, Real, Rusanov};
use std::sync::Arc;

use crate::testkit::GAS;

pub(crate) fn device() -> Option<Cuda> {
    match Cuda::new(0) {
        Ok(cuda) => Some(cuda),
        Err(e) => {
            assert!(std::env::var_os("DGSUITE_REQUIRE_GPU").is_none_or(|v| v != "1"), "{e}");
            println!("SKIPPED: {e}");
            None
        }
    }
}

/// The device version of `testkit::euler`.
pub(crate) fn euler_on<T>(
    cuda: &Cuda,
    mesh: &Arc<dgsuite_mesh::Mesh>,
    scheme: &Scheme,
    data: Option<&Arc<dyn Exact>>,
) -> CudaDiscretization<T>
where
    T: PackScalar + Real,
    Pointwise<Euler, Rusanov, 2, 4>: PointKernels<T>,
    Pointwise<Euler, Rusanov, 3, 5>: PointKernels<T>,
{
    let (law, flux, condition) = (GAS, Rusanov, Prescribed);
    let plane = mesh.dim == 2;
    let bindings = mesh
        .boundary_names()
        .into_iter()
        .map(|name| BoundaryBinding {
            name: name.to_owned(),
            kernel: if plane {
                Box::new(BoundaryOf::<_, _, 2, 4> { law, condition })
            } else {
                Box::new(BoundaryOf::<_, _, 3, 5> { law, condition })
            },
            data: data.cloned(),
        })
        .collect();
    let physics: Box<dyn PointKernels<T>> = if plane {
        Box::new(Pointwise::<_, _, 2, 4> { law, flux })
    } else {
        Box::new(Pointwise::<_, _, 3, 5> { law, flux })
    };
    let host = Arc::new(Host::new(2).expect("a machine"));
    let mut equation = Equation::from(physics);
    equation.two_point = two_point(mesh.dim, scheme);
    CudaDiscretization::new(Arc::clone(mesh), scheme, equation, bindings, host, cuda)
        .expect("a discretisation")
}

fn largest(v: &[f64]) -> f64 {
    v.iter().fold(0.0, |m, x| m.max(x.abs()))
}

fn compare<T>(cuda: &Cuda, cells: Cells, name: &str, scheme: &Scheme, order: usize, periodic: bool, n: usize)
where
    T: PackScalar + Real,
    Pointwise<Euler, Rusanov, 2, 4>: PointKernels<T>,
    Pointwise<Euler, Rusanov, 3, 5>: PointKernels<T>,
{
    let what = format!("{cells:?} {name} p = {}, geometry {order}, {} bytes", scheme.order, T::BYTES);
    compare_on::<T>(cuda, &mesh(cells, n, order, periodic), &what, scheme);
}

/// The largest difference between a residual on the device and on the host, entry by entry in the device's
/// basis, divided by the bound for rounding errors `8 √n ε S`, where `S` is the sum of the absolute values of
/// the `n` terms of the entry.
fn rounding<T>(
    mesh: &Arc<dgsuite_mesh::Mesh>,
    device: &mut CudaDiscretization<T>,
    v: &DeviceBuffer<T>,
    data: Option<&Arc<dyn Exact>>,
) -> f64
where
    T: PackScalar + Real,
    Pointwise<Euler, Rusanov, 2, 4>: PointKernels<T>,
    Pointwise<Euler, Rusanov, 3, 5>: PointKernels<T>,
{
    let scheme = *device.description().scheme();
    let mut host = euler::<T>(mesh, &scheme, data, 2);
    let mut rate =
        DeviceBuffer::from_slice(device.cuda(), "a test", &v.to_vec().expect("a copy")).expect("memory");
    device.eval(0.0, v, &mut rate).expect("a residual");
    let found = nested(device.description(), &rate.to_vec().expect("a copy"), mesh);
    let canonical = device.description().to_canonical(&v.to_vec().expect("a copy"));
    let (mut u, mut du) = (vec![T::from_f64(0.0); host.len()], vec![T::from_f64(0.0); host.len()]);
    host.from_canonical(&canonical, &mut u).expect("the same size");
    host.eval(0.0, &u, &mut du);
    let (u, expected) = (nested(&host, &u, mesh), nested(&host, &du, mesh));
    // Fluxes on boundaries have the magnitude of those of the inner states.
    let sizes = if mesh.dim == 2 {
        let split = Split::<_, _, 2, 4>::new(Arc::clone(mesh), &scheme, GAS, Rusanov).expect("set up");
        split.rounding(&u, &|_, um, _| *um)
    } else {
        let split = Split::<_, _, 3, 5>::new(Arc::clone(mesh), &scheme, GAS, Rusanov).expect("set up");
        split.rounding(&u, &|_, um, _| *um)
    };
    let entries = |x: Vec<Vec<Vec<f64>>>| x.into_iter().flatten().flatten();
    let found: Vec<f64> = entries(found).collect();
    assert!(found.iter().all(|x| x.is_finite()), "a residual that is not finite");
    let allowed = 8.0 * T::EPSILON.to_f64();
    found
        .into_iter()
        .zip(entries(expected))
        .zip(entries(sizes))
        .map(|((a, b), s)| (a - b).abs() / (allowed * s).max(f64::MIN_POSITIVE))
        .fold(0.0, f64::max)
}

/// Compares a residual, a stage, the step bound and the boundary's rates on device and host.
pub(crate) fn compare_on<T>(cuda: &Cuda, mesh: &Arc<dgsuite_mesh::Mesh>, what: &str, scheme: &Scheme)
where
    T: PackScalar + Real,
    Pointwise<Euler, Rusanov, 2, 4>: PointKernels<T>,
    Pointwise<Euler, Rusanov, 3, 5>: PointKernels<T>,
{
    let exact: Arc<dyn Exact> = Arc::new(wavy(mesh.dim));
    let data = (!mesh.boundary_names().is_empty()).then_some(&exact);
    let host = euler::<T>(mesh, scheme, data, 2);
    let device = euler_on::<T>(cuda, mesh, scheme, data);
    compare_twins(cuda, host, device, exact.as_ref(), what, &|device, u| {
        let size = rounding(mesh, device, u, data);
        println!("{what}: at most {size:.2} of the rounding allowed");
        assert!(size <= 1.0, "{what}: {size} times the rounding of a residual");
    });
}

/// Compares a residual, a stage, the step bound and the boundary's rates of two discretisations that should
/// agree; `more` checks the device further in the same state.
pub(crate) fn compare_twins<T: PackScalar>(
    cuda: &Cuda,
    mut host: Discretization<T>,
    mut device: CudaDiscretization<T>,
    exact: &dyn Exact,
    what: &str,
    more: &dyn Fn(&mut CudaDiscretization<T>, &DeviceBuffer<T>),
) {
    let zero = |n| vec![T::from_f64(0.0); n];
    let (mut u, mut du) = (zero(host.len()), zero(host.len()));
    host.project(exact, 0.0, &mut u);
    shake(&host, &mut u);
    // The device may use another basis of the same space.
    let canonical = device
        .description()
        .convert_canonical(&host.to_canonical(&u), host.representation())
        .expect("the same space");
    let mut v = zero(device.len());
    device.description().from_canonical(&canonical, &mut v).expect("the same size");
    let on_device = DeviceBuffer::from_slice(cuda, "a test", &v).expect("memory");
    let mut rate = DeviceBuffer::from_slice(cuda, "a test", &zero(v.len())).expect("memory");

    host.eval(0.0, &u, &mut du);
    device.eval(0.0, &on_device, &mut rate).expect("a residual");
    let found = |device: &CudaDiscretization<T>, host: &Discretization<T>, values: &DeviceBuffer<T>| {
        let values = device.description().to_canonical(&values.to_vec().expect("a copy"));
        host.convert_canonical(&values, device.description().representation()).expect("the same space")
    };
    let (a, b) = (host.to_canonical(&du), found(&device, &host, &rate));
    let scale = largest(&a);
    let tolerance = if T::BYTES == 8 { 2e-12 } else { 2e-3 } * scale;
    for (i, (x, y)) in a.iter().zip(&b).enumerate() {
        assert!((x - y).abs() <= tolerance, "{what}: entry {i}: host {x:e}, device {y:e}, scale {scale:e}");
    }

    more(&mut device, &on_device);

    // A stage with all terms, at another time.
    let dt = 0.01 / scale;
    let weights = StageWeights { a: -0.5, b: 0.25, c: 0.75, dt, keep: true };
    let mut next = zero(host.len());
    let start: Vec<T> = u.iter().map(|x| T::from_f64(0.9 * x.to_f64())).collect();
    host.stage(0.3, weights, &u, Some(&start), &mut du, &mut next);
    let mut w = v.clone();
    w.iter_mut().for_each(|x| *x = T::from_f64(0.9 * x.to_f64()));
    let first = DeviceBuffer::from_slice(cuda, "a test", &w).expect("memory");
    let mut after = DeviceBuffer::from_slice(cuda, "a test", &zero(v.len())).expect("memory");
    device.set_step(dt).expect("a step");
    device.stage(0.3, 1.0, weights, &on_device, Some(&first), &mut rate, &mut after).expect("a stage");
    let (a, b) = (host.to_canonical(&next), found(&device, &host, &after));
    let tolerance = if T::BYTES == 8 { 1e-12 } else { 1e-4 } * largest(&a);
    for (x, y) in a.iter().zip(&b) {
        assert!((x - y).abs() <= tolerance, "{what}: stage: host {x:e}, device {y:e}");
    }

    // The step bound, and the boundary's rates.
    for measure in [StepMeasure::Radius, StepMeasure::Cfl] {
        host.measure_steps_by(measure);
        device.measure_steps_by(measure).expect("a measure");
        let (x, y) =
            (host.time_step(&u, None).expect("a step"), device.time_step(&on_device, false).expect("a step"));
        let tolerance = if T::BYTES == 8 { 1e-12 } else { 1e-4 };
        assert!((x / y - 1.0).abs() < tolerance, "{what}: steps {x:e} and {y:e}");
    }
    let found = device.integrals().expect("sums");
    for (x, y) in host.tally().iter().zip(found.iter().map(ExactSum::value)) {
        let tolerance = if T::BYTES == 8 { 1e-11 } else { 1e-4 };
        assert!((dt * x - y).abs() <= tolerance * dt * (1.0 + x.abs()), "{what}: rates {} and {y:e}", dt * x);
    }

    // The stage as a CUDA graph, in which groups are branches.
    if host.layouts().count() > 1 {
        device.eval(0.0, &on_device, &mut rate).expect("a residual");
        let mut again = DeviceBuffer::from_slice(cuda, "a test", &zero(v.len())).expect("memory");
        // Data for the stage's time that the host evaluates must exist before.
        device.eval(0.3, &on_device, &mut again).expect("a residual");
        let work = |_: &_| device.stage(0.3, 1.0, weights, &on_device, Some(&first), &mut rate, &mut again);
        cuda.capture(work).expect("a graph").launch().expect("a stage");
        assert!(after.to_vec().expect("a copy") == again.to_vec().expect("a copy"), "{what}: a graph");
    }

    // Samples for writers, computed on the device.
    let order = device.description().order().max(1);
    let mut sampler = None;
    let later = device.sample_later(&mut sampler, &on_device, order).expect("samples").expect("a kernel");
    let mut w = vec![0.0; host.physics().n_fields()];
    for (a, b) in device.description().sample(&v, order).iter().zip(&later.wait().expect("samples")) {
        assert_eq!((a.shape, &a.elements, &a.points), (b.shape, &b.elements, &b.points), "{what}");
        for i in 0..a.points.len() {
            let u: Vec<f64> = a.values.iter().map(|values| values[i]).collect();
            host.physics().to_primitive(&u, &mut w);
            for (k, x) in w.iter().enumerate() {
                let y = b.values[k][i];
                assert!(
                    (x - y).abs() <= 1e-12 * (1.0 + x.abs()),
                    "{what}: sample {x:e}, on the device {y:e}"
                );
            }
        }
    }

    // The same stage as one kernel, if it exists. Under emulation few meshes are tested, as the kernel is
    // compiled for each.
    let wanted = GATHERED.contains(&what);
    if cuda.info().name.starts_with("emulated") && !wanted {
        return;
    }
    let gathered = device.gather_stages().expect("a kernel");
    assert!(gathered || !wanted, "{what} has no stage of one kernel");
    if !gathered {
        return;
    }
    let mut again = DeviceBuffer::from_slice(cuda, "a test", &zero(v.len())).expect("memory");
    let mut register = DeviceBuffer::from_slice(cuda, "a test", &zero(v.len())).expect("memory");
    device.eval(0.0, &on_device, &mut register).expect("a residual");
    device.stage(0.3, 1.0, weights, &on_device, Some(&first), &mut register, &mut again).expect("a stage");
    for (x, y) in after.to_vec().expect("a copy").iter().zip(&again.to_vec().expect("a copy")) {
        let (x, y) = (x.to_f64(), y.to_f64());
        assert!((x - y).abs() <= tolerance, "{what}: stage {x:e}, as one kernel {y:e}");
    }
    for (x, y) in
        found.iter().map(ExactSum::value).zip(device.integrals().expect("sums").iter().map(ExactSum::value))
    {
        let tolerance = 1e-11 * (dt + x.abs());
        assert!((2.0 * x - y).abs() <= tolerance, "{what}: twice the rate {x:e} as one kernel: {y:e}");
    }
}

/// Emulated cases whose stage is tested as one kernel: interpolated and collocated face points, in two and
/// three dimensions, curved elements, several groups per warp, data on boundaries that depend on time.
const GATHERED: [&str; 5] = [
    "6 unknowns, Of(Tetrahedron) of 9 nodal p = 2, diffusion false",
    "curved of 18 Of(Triangle), collocated p = 3",
    "row of 33 Of(Triangle), nodal p = 3",
    "row of 9 Of(Tetrahedron), nodal p = 2",
    "curved of 8 Of(Triangle), nodal p = 2",
];

/// Tests every scheme on every shape, affine and curved, with and without boundaries. Orders are distributed
/// over the schemes; with `DGSUITE_FULL` each scheme is tested with all orders.
#[test]
fn residuals_are_the_hosts() {
    let Some(cuda) = device() else { return };
    let full = std::env::var_os("DGSUITE_FULL").is_some();
    let run = |i: usize, cells: Cells| {
        let highest = if full { 8 } else { 4 - usize::from(cells.dim() == 3) };
        for order in [1, 2] {
            for p in order - 1..=highest {
                for (j, (name, scheme)) in schemes(cells, p).into_iter().enumerate() {
                    // Split forms have metrics at their own nodes.
                    let curved = scheme.form == Form::Split && order > p;
                    if curved
                        || p == 0 && name.starts_with("collocated")
                        || !full && !(i + j + p).is_multiple_of(3)
                    {
                        continue;
                    }
                    compare::<f64>(&cuda, cells, name, &scheme, order, (j + p) % 2 == 0, 3);
                    // Taylor bases are too ill-conditioned in single precision for a fixed bound.
                    if (j + p).is_multiple_of(4) && scheme.representation != Representation::Taylor {
                        compare::<f32>(&cuda, cells, name, &scheme, order, false, 3);
                    }
                }
            }
        }
    };
    // Kernels are compiled on all cores.
    std::thread::scope(|scope| {
        for (i, cells) in PLANE.into_iter().chain(SPACE).enumerate() {
            let run = &run;
            scope.spawn(move || run(i, cells));
        }
    });
}

#[test]
fn bad_states_are_found_where_they_are() {
    let Some(cuda) = device() else { return };
    let mesh = mesh(Cells::Mixed2, 3, 1, true);
    let scheme = Scheme::modal(2);
    let host = euler::<f64>(&mesh, &scheme, None, 1);
    let mut device = euler_on::<f64>(&cuda, &mesh, &scheme, None);
    let mut u = vec![0.0; host.len()];
    host.project(&wavy(2), 0.0, &mut u);
    let mut own = host.to_canonical(&u);
    let middle = own.len() / 2;
    own[middle] = f64::NAN;
    host.from_canonical(&own, &mut u).expect("the same size");
    // The device may use another basis of the same space.
    let canonical =
        device.description().convert_canonical(&own, host.representation()).expect("the same space");
    let mut v = vec![0.0; device.len()];
    device.description().from_canonical(&canonical, &mut v).expect("the same size");
    let on_device = DeviceBuffer::from_slice(&cuda, "a test", &v).expect("memory");
    let (a, b) = (host.time_step(&u, None), device.time_step(&on_device, false));
    assert_eq!(a.expect_err("a bad state").to_string(), b.expect_err("a bad state").to_string());
}
