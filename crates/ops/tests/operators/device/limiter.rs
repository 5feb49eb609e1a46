//! Limiters on the device do what those on the host do.

use crate::device::residual::{device, euler_on};
use crate::testkit::{Cells, PLANE, SPACE, State, bounds, euler, mesh, nested, schemes};
use dgsuite_basis::Representation;
use dgsuite_gpu::cuda::{Cuda, DeviceBuffer};
use dgsuite_mesh::Mesh;
use dgsuite_ops::cuda::CudaDiscretization;
use dgsuite_ops::{
    BoundKernels, BoundsOf, Discretization, EntropyFilter, Form, Limiting, Neighbourhood, PackScalar,
    PointKernels, Pointwise, Scheme, StageWeights,
};
use dgsuite_physics::{Euler, Exact, Real, Rusanov};
use std::sync::Arc;

const ALL: [Limiting; 5] = [
    Limiting::Positivity,
    Limiting::EntropyFilter(EntropyFilter { tolerance: 1e-3, gate: true, density: true }),
    Limiting::EntropyFilter(EntropyFilter { tolerance: 1e-3, gate: false, density: false }),
    Limiting::Slopes(Neighbourhood::Faces),
    Limiting::Slopes(Neighbourhood::Vertices),
];

/// A gas in stripes of high and low density and pressure.
pub(crate) fn stripes(dim: usize) -> Arc<dyn Exact> {
    Arc::new(State(dim + 2, move |x: [f64; 3], _| {
        let high = (0.9 * x[0] + 0.3 * x[1] + 0.2 * x[2] - 0.05).rem_euclid(2.0) > 1.0;
        let mut w = vec![if high { 1.0 } else { 0.02 }, 0.3, -0.2];
        w.resize(dim + 1, 0.1);
        w.push(if high { 1.0 } else { 0.01 });
        w
    }))
}

fn buffer<T: PackScalar>(cuda: &Cuda, values: &[T]) -> DeviceBuffer<T> {
    DeviceBuffer::from_slice(cuda, "a test", values).expect("memory")
}

/// A state in the order and the basis of the host.
fn on_host<T: PackScalar>(device: &CudaDiscretization<T>, host: &Discretization<T>, u: &[T]) -> Vec<f64> {
    let d = device.description();
    host.convert_canonical(&d.to_canonical(u), d.representation()).expect("the same space")
}

/// The largest difference, relative to the largest value.
fn difference(a: &[f64], b: &[f64]) -> f64 {
    let largest = a.iter().fold(0.0_f64, |m, x| m.max(x.abs()));
    assert!(a.iter().all(|x| x.is_finite()), "a state of the host that is not finite");
    assert!(b.iter().all(|x| x.is_finite()), "a state of the device that is not finite");
    a.iter().zip(b).map(|(x, y)| (x - y).abs()).fold(0.0, f64::max) / largest
}

/// Compares the limited initial state and limited stages for each limiter; `steps` steps of two stages with
/// the filter, which are repeated on the device.
pub(crate) fn compare_limited<T>(cuda: &Cuda, mesh: &Arc<Mesh>, what: &str, scheme: &Scheme, steps: usize)
where
    T: PackScalar + Real,
    Pointwise<Euler, Rusanov, 2, 4>: PointKernels<T>,
    Pointwise<Euler, Rusanov, 3, 5>: PointKernels<T>,
    BoundsOf<Euler, 2, 4>: BoundKernels<T>,
    BoundsOf<Euler, 3, 5>: BoundKernels<T>,
{
    let data = stripes(mesh.dim);
    let outer = (!mesh.boundary_names().is_empty()).then_some(&data);
    let mut host = euler::<T>(mesh, scheme, outer, 2);
    let mut device = euler_on::<T>(cuda, mesh, scheme, outer);
    let tolerance = if T::BYTES == 8 { 1e-11 } else { 1e-4 };
    let (zeros, mut changes) = (vec![T::from_f64(0.0); host.len()], 0);
    for limiting in ALL {
        let what = format!("{what}, {} bytes, {limiting:?}", T::BYTES);
        host.limit_by(limiting, bounds(mesh.dim)).expect("the law fits");
        device.limit_by(limiting, bounds(mesh.dim)).expect("the law fits");
        let mut v = vec![T::from_f64(0.0); device.len()];
        let mut u = zeros.clone();
        host.project(data.as_ref(), 0.0, &mut u);
        device.description().project(data.as_ref(), 0.0, &mut v);
        host.limit_initial(data.as_ref(), 0.0, &mut u);
        device.limit_initial(data.as_ref(), 0.0, &mut v).expect("factors");
        let found = difference(&host.to_canonical(&u), &on_host(&device, &host, &v));
        assert!(found < tolerance, "{what}: initial states differ by {found:.1e}");

        // Two stages from states with jumps between all elements, which are positive at all points.
        let states = nested(&host, &u, mesh).into_iter().enumerate();
        let states = states.map(|(e, u)| (1.0 + 0.02 * (e as f64).sin(), u));
        let states = states.flat_map(|(f, u)| u.into_iter().flatten().map(move |x| f * x));
        host.from_canonical(&states.collect::<Vec<_>>(), &mut u).expect("the same size");
        let dt = 0.15 * host.time_step(&u, None).expect("a step");
        let mut changed = false;
        for _ in 0..2 {
            let d = device.description();
            let canonical = d.convert_canonical(&host.to_canonical(&u), host.representation());
            d.from_canonical(&canonical.expect("the same space"), &mut v).expect("the same size");
            let (from, mut register, mut after) = (buffer(cuda, &v), buffer(cuda, &v), buffer(cuda, &v));
            let weights = StageWeights { a: 0.0, b: 0.0, c: 1.0, dt, keep: false };
            let (mut next, mut own) = (zeros.clone(), zeros.clone());
            host.stage(0.0, weights, &u, None, &mut own, &mut next);
            device.set_step(dt).expect("a step");
            device.stage(0.0, 1.0, weights, &from, None, &mut register, &mut after).expect("a stage");
            let next_on_device = on_host(&device, &host, &after.to_vec().expect("a copy"));
            let found = difference(&host.to_canonical(&next), &next_on_device);
            assert!(found < tolerance, "{what}: states differ by {found:.1e}");
            let (a, b) = (host.limited().expect("a limiter"), device.limited().expect("factors"));
            let b = b.expect("a limiter");
            assert!(a.share == b.share && (a.least - b.least).abs() < 1e-3, "{what}: {a:?} and {b:?}");
            let (a, b) = (host.strengths().expect("a limiter"), device.strengths().expect("factors"));
            for (e, (x, y)) in a.iter().zip(&b.expect("a limiter")).enumerate() {
                assert!((x - y).abs() < 1e-3, "{what}: element {e}: factors {x} and {y}");
            }
            changed = changed || a.iter().any(|&f| f < 1.0);
            u = next;
        }
        changes += usize::from(changed);
    }
    assert!(changes > 2, "{what}: {changes} limiters changed something");
    if steps > 0 {
        march::<T>(cuda, (host, device), &data, steps, what);
    }
}

/// Compares a run over the jumps with the filter to the host's and to its repetition.
fn march<T>(
    cuda: &Cuda,
    (mut host, mut device): (Discretization<T>, CudaDiscretization<T>),
    data: &Arc<dyn Exact>,
    steps: usize,
    what: &str,
) where
    T: PackScalar,
    BoundsOf<Euler, 2, 4>: BoundKernels<T>,
    BoundsOf<Euler, 3, 5>: BoundKernels<T>,
{
    let filter = Limiting::EntropyFilter(EntropyFilter::default());
    host.limit_by(filter, bounds(host.mesh().dim)).expect("the law fits");
    device.limit_by(filter, bounds(host.mesh().dim)).expect("the law fits");
    assert!(!device.gather_stages().expect("a kernel"), "a stage of one kernel has no limiter");
    let mut first = vec![T::from_f64(0.0); device.len()];
    device.description().project(data.as_ref(), 0.0, &mut first);
    device.limit_initial(data.as_ref(), 0.0, &mut first).expect("factors");
    let mut u = vec![T::from_f64(0.0); host.len()];
    let (mut own, mut next, mut start) = (u.clone(), u.clone(), u.clone());
    host.project(data.as_ref(), 0.0, &mut u);
    host.limit_initial(data.as_ref(), 0.0, &mut u);
    let dt = 0.1 * host.time_step(&u, None).expect("a step");
    let stages = [(0.0, 1.0), (0.5, 0.5)].map(|(b, c)| StageWeights { a: 0.0, b, c, dt, keep: false });
    let mut limited = 0.0;
    for _ in 0..steps {
        start.copy_from_slice(&u);
        for weights in stages {
            host.stage(0.0, weights, &u, Some(&start), &mut own, &mut next);
            std::mem::swap(&mut u, &mut next);
        }
        limited += host.limited().expect("a limiter").share;
    }
    assert!(limited > 0.0, "{what}: nothing is limited");
    device.set_step(dt).expect("a step");
    let mut run = || {
        let (mut u, mut next) = (buffer(cuda, &first), buffer(cuda, &first));
        let (mut start, mut register) = (buffer(cuda, &first), buffer(cuda, &first));
        for _ in 0..steps {
            start.copy_from(&u, cuda.stream()).expect("a copy");
            for weights in stages {
                device.stage(0.0, 1.0, weights, &u, Some(&start), &mut register, &mut next).expect("a stage");
                std::mem::swap(&mut u, &mut next);
            }
        }
        u.to_vec().expect("a copy")
    };
    let (once, again) = (run(), run());
    assert!(once == again, "{what}: a repeated run differs");
    let found = difference(&host.to_canonical(&u), &on_host(&device, &host, &once));
    println!("{what}: {steps} steps differ by {found:.1e}");
    assert!(found < if T::BYTES == 8 { 1e-9 } else { 1e-3 }, "{what}: runs differ by {found:.1e}");
}

/// Ways in which the modes of an element differ from those of a constant, with the smallest and the largest
/// coefficient.
const CHANGES: [(fn(&[usize; 4], f64) -> f64, f64, f64); 4] = [
    // All modes of all unknowns.
    (|at, size| 1.2 * size * ((at[0] * 131 + at[1] * 37 + at[2] * 17 + at[3]) as f64).sin(), 0.0005, 0.6),
    // A mode of the highest degree of the density.
    (|at, size| if at[2] == 0 && at[3] == 0 { size } else { 0.0 }, 0.002, 0.6),
    // A linear pressure.
    (|at, size| if at[1] == 1 && at[3] == 3 { size } else { 0.0 }, 0.05, 2.5),
    // A linear density and pressure: ρp has modes of second degree.
    (|at, size| if at[1] == 1 { [size, 0.3 * size, -0.2 * size, 2.0 * size][at[3]] } else { 0.0 }, 0.1, 1.0),
];

/// Compares which elements are troubled, for elements whose states differ from a constant from little to
/// much. The bounds are those of the constant, so that all troubled elements are changed.
pub(crate) fn compare_flags(cuda: &Cuda, mesh: &Arc<Mesh>, what: &str, scheme: &Scheme) {
    const ROUNDS: usize = 16;
    let (dim, n) = (mesh.dim, mesh.n_elements());
    let constant: Arc<dyn Exact> = Arc::new(State(dim + 2, move |_: [f64; 3], _| {
        let mut w = vec![1.0, 0.3, -0.2];
        w.resize(dim + 1, 0.1);
        w.push(0.8);
        w
    }));
    let outer = (!mesh.boundary_names().is_empty()).then_some(&constant);
    let mut host = euler::<f64>(mesh, scheme, outer, 2);
    let mut device = euler_on::<f64>(cuda, mesh, scheme, outer);
    let filter = Limiting::EntropyFilter(EntropyFilter::default());
    host.limit_by(filter, bounds(dim)).expect("the law fits");
    device.limit_by(filter, bounds(dim)).expect("the law fits");
    let mut u = vec![0.0; host.len()];
    let (mut start, mut own, mut next) = (u.clone(), u.clone(), u.clone());
    host.project(constant.as_ref(), 0.0, &mut u);
    let (constants, elements) = (host.to_canonical(&u), nested(&host, &u, mesh));
    let on_device = |u: &[f64]| {
        let d = device.description();
        let canonical = d.convert_canonical(&host.to_canonical(u), host.representation());
        let mut v = vec![0.0; d.len()];
        d.from_canonical(&canonical.expect("the same space"), &mut v).expect("the same size");
        buffer(cuda, &v)
    };
    let (from, mut register, mut after) = (on_device(&u), on_device(&u), on_device(&u));
    let (mut starts, mut states) = (Vec::new(), Vec::new());
    for round in 0..ROUNDS {
        let of_element = |(e, fields): (usize, &Vec<Vec<f64>>)| {
            let (change, least, largest) = CHANGES[(e + round) % CHANGES.len()];
            let size = least * f64::powf(largest / least, (0.618_034 * (e * ROUNDS + round) as f64).fract());
            let fields = fields.iter().enumerate().flat_map(move |(k, modes)| {
                // The energy counts as number 3 in three dimensions, too.
                let (k, np) = (if k == dim + 1 { 3 } else { k.min(2) }, modes.len());
                (0..np).map(move |m| change(&[e * ROUNDS + round, m, np - 1 - m, k], size))
            });
            fields.collect::<Vec<_>>()
        };
        let changes: Vec<f64> = elements.iter().enumerate().flat_map(of_element).collect();
        let changes = host.convert_canonical(&changes, Representation::Modal).expect("the same space");
        let canonical: Vec<f64> = constants.iter().zip(&changes).map(|(c, x)| c + x).collect();
        host.from_canonical(&canonical, &mut start).expect("the same size");
        starts.push(on_device(&start));
        states.push(start.clone());
    }
    let weights = StageWeights { a: 0.0, b: 1.0, c: 1.0, dt: 1e-9, keep: false };
    device.set_step(weights.dt).expect("a step");
    let (mut troubled, mut evaluated) = (0, 0);
    for (start, start_on_device) in states.iter().zip(&starts) {
        host.stage(0.0, weights, &u, Some(start), &mut own, &mut next);
        device
            .stage(0.0, 1.0, weights, &from, Some(start_on_device), &mut register, &mut after)
            .expect("a stage");
        let (a, b) = (host.strengths().expect("a limiter"), device.strengths().expect("factors"));
        for (e, (x, y)) in a.iter().zip(&b.expect("a limiter")).enumerate() {
            // A bisection more or less is rounding.
            assert!((x - y).abs() < 1e-2 && (*x < 1.0) == (*y < 1.0), "{what}: element {e}: {x} and {y}");
        }
        let (own, seen) = (a.iter().filter(|&&f| f < 1.0).count(), device.evaluated().expect("counts"));
        assert!(own <= seen.unwrap_or(0), "{what}: {own} are troubled, {seen:?} were evaluated");
        troubled += own;
        evaluated += seen.unwrap_or(0);
    }
    println!("{what}: {troubled} troubled, {evaluated} evaluated of {}", ROUNDS * n);
    assert!(troubled > 0, "{what}: no element is troubled");
    assert!(scheme.order < 2 || evaluated < ROUNDS * n, "{what}: all elements were evaluated");
    if scheme.order >= 2 {
        device.stage(0.0, 1.0, weights, &from, Some(&from), &mut register, &mut after).expect("a stage");
        assert_eq!(device.evaluated().expect("counts"), Some(0), "{what}: a constant needs no evaluation");
    }
}

/// Tests every scheme on every shape, affine and curved; orders are distributed over them.
#[test]
fn limited_stages_are_the_hosts() {
    let Some(cuda) = device() else { return };
    let run = |i: usize, cells: Cells| {
        for geometry in [1, 2] {
            for (j, p) in (1..=3).enumerate() {
                for (k, (name, scheme)) in schemes(cells, p).into_iter().enumerate() {
                    // Split forms have metrics at their own nodes.
                    let curved = scheme.form == Form::Split && geometry > p;
                    if curved || !(i + j + k + geometry).is_multiple_of(4) {
                        continue;
                    }
                    let mesh = mesh(cells, 3, geometry, k.is_multiple_of(3));
                    let what = format!("{cells:?} {name} p = {p}, geometry {geometry}");
                    compare_limited::<f64>(&cuda, &mesh, &what, &scheme, if p == 2 { 10 } else { 0 });
                    compare_flags(&cuda, &mesh, &what, &scheme);
                    if (i + k).is_multiple_of(3) && scheme.representation != Representation::Taylor {
                        compare_limited::<f32>(&cuda, &mesh, &what, &scheme, 0);
                    }
                }
            }
        }
    };
    std::thread::scope(|scope| {
        for (i, cells) in PLANE.into_iter().chain(SPACE).enumerate() {
            let run = &run;
            scope.spawn(move || run(i, cells));
        }
    });
}
