//! Parts of a mesh on devices give the residual of the whole mesh on one, to the last bit.

use crate::device::emulated::{half_curved_row, row};
use crate::device::limiter::stripes;
use crate::device::residual::device;
use crate::device::viscous::{bindings, equation};
use crate::testkit::{Cells, PLANE, SPACE, bounds, mesh, problem, schemes, wavy};
use dgsuite_basis::Shape;
use dgsuite_gpu::Host;
use dgsuite_gpu::comm::{Communicator, on_each, threads};
use dgsuite_gpu::cuda::{Cuda, DeviceBuffer};
use dgsuite_mesh::{Mesh, Partition};
use dgsuite_ops::cuda::CudaDiscretization;
use dgsuite_ops::{
    BoundaryBinding, EntropyFilter, Equation, Form, Limiting, Neighbourhood, Ranks, Scheme, StageWeights,
};
use dgsuite_physics::Exact;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

type Problem = (Equation<f64>, Vec<BoundaryBinding<f64>>);

/// The number of coefficients of each element.
fn sizes(d: &CudaDiscretization<f64>, mesh: &Mesh) -> Vec<usize> {
    let of = |e: usize| {
        let layout = d.description().layouts().find(|(s, ..)| *s == mesh.shape(e));
        layout.map_or(0, |(_, l, _)| l.rows * l.fields)
    };
    (0..mesh.n_elements()).map(of).collect()
}

/// The values of a state by element, in canonical order.
fn by_element(d: &CudaDiscretization<f64>, mesh: &Mesh, state: &DeviceBuffer<f64>) -> Vec<Vec<f64>> {
    let flat = d.description().to_canonical(&state.to_vec().expect("a copy"));
    let mut rest = &flat[..];
    let mut next = |n: usize| {
        let (own, more) = rest.split_at(n);
        rest = more;
        own.to_vec()
    };
    sizes(d, mesh).into_iter().map(&mut next).collect()
}

/// Multiplies the coefficients of each element by numbers near 1, of size `share`.
fn shake(d: &CudaDiscretization<f64>, mesh: &Mesh, elements: &[u32], u: &mut [f64], share: (f64, f64)) {
    let mut shaken = d.description().to_canonical(u);
    let mut at = 0;
    for (n, &e) in sizes(d, mesh).into_iter().zip(elements) {
        let own = shaken[at..at + n].iter_mut().enumerate();
        own.for_each(|(i, x)| *x *= 1.0 + share.0 * (f64::from(e) + share.1 * i as f64).sin());
        at += n;
    }
    d.description().from_canonical(&shaken, u).expect("it fits");
}

/// The residual of a state with jumps, by element, in canonical order.
fn rates(d: &mut CudaDiscretization<f64>, mesh: &Mesh, elements: &[u32]) -> Vec<Vec<f64>> {
    let mut u = vec![0.0; d.len()];
    d.description().project(&wavy(mesh.dim), 0.0, &mut u);
    shake(d, mesh, elements, &mut u, (0.002, 0.1));
    let state = DeviceBuffer::from_slice(d.cuda(), "a test", &u).expect("memory");
    let mut rate = DeviceBuffer::zeros(d.cuda(), "a test", d.len()).expect("memory");
    d.eval(0.0, &state, &mut rate).expect("a residual");
    let step = d.time_step(&state, false).expect("a gas");
    let mut out = by_element(d, mesh, &rate);
    out.push(vec![step, d.norm(&state).expect("a norm")]);
    out
}

/// Compares the residual on parts with that on the whole mesh, to the last bit.
fn compare(cuda: &Cuda, what: &str, mesh: &Arc<Mesh>, scheme: &Scheme, of: &(dyn Fn() -> Problem + Sync)) {
    let host = || Arc::new(Host::new(1).expect("a machine"));
    let all: Vec<u32> = (0..mesh.n_elements() as u32).collect();
    let (equation, bindings) = of();
    let whole = CudaDiscretization::new(Arc::clone(mesh), scheme, equation, bindings, host(), cuda);
    let expected = rates(&mut whole.expect("a scheme"), mesh, &all);
    // Elements in turn, so that most faces are cut, and stretches of elements, so that few are.
    for length in [2, mesh.n_elements().div_ceil(4) as u32] {
        let of_element = (0..mesh.n_elements() as u32).map(|e| e / length % 2).collect();
        let partition = &Partition::of_elements(of_element).expect("two parts");
        let parts = |overlap: bool| {
            on_each(threads(2), |comm| {
                let comm: Arc<dyn Communicator> = Arc::new(comm);
                let ranks = Ranks::new(mesh, partition, comm).expect("one part a rank");
                let ranks = Arc::new(ranks.overlapping(overlap));
                let (equation, bindings) = of();
                let d = CudaDiscretization::on_ranks(&ranks, scheme, equation, bindings, host(), cuda);
                let mut d = d.expect("a scheme");
                assert_eq!(d.link(), Some("staged"));
                let found = rates(&mut d, ranks.mesh(), ranks.elements());
                assert!(ranks.take_failure().is_none());
                (ranks.elements().to_vec(), found)
            })
        };
        let found = parts(true);
        for ((elements, a), (_, b)) in found.iter().zip(parts(false)) {
            for (e, (a, b)) in elements.iter().zip(a.iter().zip(&b)) {
                assert!(a == b, "{what}, element {e}: {a:?} and, without overlap, {b:?}");
            }
        }
        for (elements, mut found) in found {
            assert_eq!(found.pop(), expected.last().cloned(), "{what}: step and norm");
            for (e, own) in elements.into_iter().zip(found) {
                let same = own == expected[e as usize] && own.iter().all(|x| x.is_finite());
                assert!(same, "{what}, element {e}: {own:?} and {:?}", expected[e as usize]);
            }
        }
    }
}

/// The state after three limited stages from one with jumps, and their factors, by element; then the number
/// of elements that the last one evaluated.
fn limited(d: &mut CudaDiscretization<f64>, mesh: &Mesh, elements: &[u32], dt: f64) -> Vec<Vec<f64>> {
    let data = stripes(mesh.dim);
    let mut u = vec![0.0; d.len()];
    d.description().project(data.as_ref(), 0.0, &mut u);
    d.limit_initial(data.as_ref(), 0.0, &mut u).expect("factors");
    shake(d, mesh, elements, &mut u, (0.02, 0.0));
    let buffer = || DeviceBuffer::from_slice(d.cuda(), "a test", &u).expect("memory");
    let (mut state, mut next, mut register) = (buffer(), buffer(), buffer());
    d.set_step(dt).expect("a step");
    let mut factors = vec![Vec::new(); mesh.n_elements()];
    for _ in 0..3 {
        let weights = StageWeights { a: 0.0, b: 0.0, c: 1.0, dt, keep: false };
        d.stage(0.0, 1.0, weights, &state, None, &mut register, &mut next).expect("a stage");
        std::mem::swap(&mut state, &mut next);
        let now = d.strengths().expect("factors").expect("a limiter");
        factors.iter_mut().zip(now).for_each(|(all, f)| all.push(f64::from(f)));
    }
    let states = by_element(d, mesh, &state);
    let mut out: Vec<_> = factors.into_iter().zip(states).map(|(f, u)| [f, u].concat()).collect();
    out.push(vec![d.evaluated().expect("a number").expect("a limiter") as f64]);
    out
}

/// Limiters of parts do what they do on the whole mesh, to the last bit, whether or not other work hides
/// their messages.
fn compare_limited_parts(cuda: &Cuda, mesh: &Arc<Mesh>, scheme: &Scheme, limitings: &[Limiting]) {
    let host = || Arc::new(Host::new(1).expect("a machine"));
    let all: Vec<u32> = (0..mesh.n_elements() as u32).collect();
    let data: Arc<dyn Exact> = stripes(mesh.dim);
    for &limiting in limitings {
        let (equation, bindings) = problem(mesh, scheme, Some(&data));
        let whole = CudaDiscretization::new(Arc::clone(mesh), scheme, equation, bindings, host(), cuda);
        let mut whole = whole.expect("a scheme");
        whole.limit_by(limiting, bounds(mesh.dim)).expect("the law fits");
        let mut expected = limited(&mut whole, mesh, &all, 2e-3);
        let evaluated = expected.pop().unwrap_or_default();
        let changed = expected.iter().filter(|e| e[..3].iter().any(|f| *f < 1.0)).count();
        assert!(changed > 3, "{limiting:?}: {changed} elements are limited");
        // Elements in turn, so that all are at cut faces, and stretches of elements, so that few are.
        for length in [2, mesh.n_elements().div_ceil(3) as u32] {
            let of_element = all.iter().map(|e| e / length % 3).collect();
            let partition = &Partition::of_elements(of_element).expect("three parts");
            let parts = |overlap: bool| {
                on_each(threads(3), |comm| {
                    let comm: Arc<dyn Communicator> = Arc::new(comm);
                    let ranks = Ranks::new(mesh, partition, comm).expect("one part a rank");
                    let ranks = Arc::new(ranks.overlapping(overlap));
                    let (equation, bindings) = problem(mesh, scheme, Some(&data));
                    let d = CudaDiscretization::on_ranks(&ranks, scheme, equation, bindings, host(), cuda);
                    let mut d = d.expect("a scheme");
                    d.limit_by(limiting, bounds(mesh.dim)).expect("the law fits");
                    let found = limited(&mut d, ranks.mesh(), ranks.elements(), 2e-3);
                    assert!(ranks.take_failure().is_none());
                    (ranks.elements().to_vec(), found)
                })
            };
            let found = parts(true);
            assert_eq!(found, parts(false), "{limiting:?}: hidden messages change nothing");
            let numbers = found.iter().filter_map(|(_, found)| found.last()).flatten();
            assert_eq!(vec![numbers.sum::<f64>()], evaluated, "{limiting:?}: elements are evaluated once");
            for (elements, found) in found {
                for (e, own) in elements.into_iter().zip(found) {
                    assert_eq!(own, expected[e as usize], "{limiting:?}, element {e}");
                }
            }
        }
    }
}

/// The cases; their kernels are those of other tests.
pub(crate) fn compare_parts(cuda: &Cuda) {
    let named = |cells, name: &str, p| {
        let list = schemes(cells, p);
        list.into_iter().find(|s| s.0 == name).expect("a scheme of the shape").1
    };
    let triangles = Cells::Of(Shape::Triangle);
    let cases = [
        (row(2, 33), named(triangles, "nodal", 3), false),
        (row(2, 40), named(triangles, "nodal", 3), true),
        // One thread processes an element, in blocks of 32.
        (row(2, 140), named(triangles, "nodal", 1), false),
        // Affine and curved elements, with tables for each.
        (half_curved_row(2, 40), named(triangles, "modal strong", 3), true),
        (half_curved_row(2, 40), named(triangles, "modal stored", 2), false),
        // Parts with an odd number of affine elements.
        (half_curved_row(2, 39), named(triangles, "modal", 1), false),
        (mesh(Cells::Mixed2, 2, 2, false), named(Cells::Mixed2, "nodal", 1), true),
        (
            mesh(Cells::Of(Shape::Tetrahedron), 2, 1, false),
            named(Cells::Of(Shape::Tetrahedron), "FR Gauss", 1),
            true,
        ),
    ];
    compare_limited(cuda);
    for (mesh, scheme, viscous) in cases {
        let data: Arc<dyn Exact> = Arc::new(wavy(mesh.dim));
        let what = format!("{} elements of {:?}", mesh.n_elements(), mesh.sets[0].shape);
        compare(cuda, &what, &mesh, &scheme, &|| problem(&mesh, &scheme, Some(&data)));
        if viscous {
            compare(cuda, &format!("viscous, {what}"), &mesh, &scheme, &|| {
                (equation(mesh.dim, &scheme), bindings(&mesh, &data))
            });
        }
    }
}

/// The cases with limiters.
fn compare_limited(cuda: &Cuda) {
    let slopes = Limiting::Slopes(Neighbourhood::Faces);
    let both = [Limiting::EntropyFilter(EntropyFilter::default()), slopes];
    compare_limited_parts(cuda, &row(2, 40), &Scheme::collocated(2), &both);
    // All elements are screened, in blocks of 32 slots.
    let of_order = |p| schemes(Cells::Of(Shape::Triangle), p).into_iter().find(|s| s.0 == "nodal");
    let linear = of_order(1).expect("a scheme of the shape").1;
    compare_limited_parts(cuda, &row(2, 140), &linear, &[slopes]);
    // Affine and curved elements.
    let cubic = of_order(3).expect("a scheme of the shape").1;
    compare_limited_parts(cuda, &half_curved_row(2, 40), &cubic, &[slopes]);
}

#[test]
fn limited_parts_on_one_device_are_the_whole() {
    let Some(cuda) = device() else { return };
    compare_limited(&cuda);
}

#[test]
fn parts_on_one_device_give_the_residual_of_the_whole() {
    let Some(cuda) = device() else { return };
    compare_parts(&cuda);
}

/// Every shape, curved and affine, with every scheme that has kernels of its own.
#[test]
fn parts_of_every_shape_on_one_device_are_the_whole() {
    let Some(cuda) = device() else { return };
    let cells: Vec<Cells> = PLANE.into_iter().chain(SPACE).chain([Cells::Stacked]).collect();
    let orders = 1..=3_usize;
    let cases: Vec<(Cells, usize, usize)> =
        cells.iter().flat_map(|&c| orders.clone().flat_map(move |p| [(c, p, 1), (c, p, 2)])).collect();
    let only = std::env::var("DGSUITE_CASE").unwrap_or_default();
    let next = AtomicUsize::new(0);
    let work = || {
        while let Some(&(cells, p, geometry)) = cases.get(next.fetch_add(1, Ordering::Relaxed)) {
            let mesh = mesh(cells, if cells.dim() == 2 { 5 } else { 3 }, geometry, false);
            let data: Arc<dyn Exact> = Arc::new(wavy(mesh.dim));
            for (name, scheme) in schemes(cells, p) {
                if scheme.form == Form::Split && geometry > p {
                    continue;
                }
                let what = format!("{cells:?} {name} p = {p}, geometry {geometry}");
                if !what.contains(&only) {
                    continue;
                }
                compare(&cuda, &what, &mesh, &scheme, &|| problem(&mesh, &scheme, Some(&data)));
                compare(&cuda, &format!("viscous, {what}"), &mesh, &scheme, &|| {
                    (equation(mesh.dim, &scheme), bindings(&mesh, &data))
                });
            }
        }
    };
    std::thread::scope(|scope| (0..8).for_each(|_| drop(scope.spawn(work))));
}
