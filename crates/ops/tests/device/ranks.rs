//! Parts of a mesh on devices give the residual of the whole mesh on one.

use crate::emulated::row;
use crate::residual::device;
use crate::testkit::{Cells, mesh, problem, schemes, wavy};
use crate::viscous::{bindings, equation};
use dgsuite_basis::Shape;
use dgsuite_gpu::Host;
use dgsuite_gpu::comm::{Communicator, on_each, threads};
use dgsuite_gpu::cuda::{Cuda, DeviceBuffer};
use dgsuite_mesh::{Mesh, Partition};
use dgsuite_ops::cuda::CudaDiscretization;
use dgsuite_ops::{BoundaryBinding, Equation, Ranks, Scheme};
use dgsuite_physics::Exact;
use std::sync::Arc;

type Problem = (Equation<f64>, Vec<BoundaryBinding<f64>>);

/// The residual of a state with jumps, by element, in canonical order.
fn rates(d: &mut CudaDiscretization<f64>, mesh: &Mesh, elements: &[u32]) -> Vec<Vec<f64>> {
    let description = d.description();
    let mut u = vec![0.0; d.len()];
    description.project(&wavy(mesh.dim), 0.0, &mut u);
    let sizes: Vec<usize> = (0..mesh.n_elements())
        .map(|e| {
            let layout = description.layouts().find(|(s, ..)| *s == mesh.shape(e));
            layout.map_or(0, |(_, l, _)| l.rows * l.fields)
        })
        .collect();
    let mut shaken = description.to_canonical(&u);
    let mut at = 0;
    for (n, &e) in sizes.iter().zip(elements) {
        let own = shaken[at..at + n].iter_mut().enumerate();
        own.for_each(|(i, x)| *x *= 1.0 + 0.02 * (f64::from(e) + 0.1 * i as f64).sin());
        at += n;
    }
    description.from_canonical(&shaken, &mut u).expect("it fits");
    let state = DeviceBuffer::from_slice(d.cuda(), "a test", &u).expect("memory");
    let mut rate = DeviceBuffer::zeros(d.cuda(), "a test", d.len()).expect("memory");
    d.eval(0.0, &state, &mut rate).expect("a residual");
    let step = d.time_step(&state, false).expect("a gas");
    let flat = d.description().to_canonical(&rate.to_vec().expect("a copy"));
    let mut rest = &flat[..];
    let mut out: Vec<Vec<f64>> = sizes
        .iter()
        .map(|&n| {
            let (own, more) = rest.split_at(n);
            rest = more;
            own.to_vec()
        })
        .collect();
    out.push(vec![step]);
    out
}

/// Compares the residual on parts with that on the whole mesh.
fn compare(cuda: &Cuda, what: &str, mesh: &Arc<Mesh>, scheme: &Scheme, of: &(dyn Fn() -> Problem + Sync)) {
    let host = || Arc::new(Host::new(1).expect("a machine"));
    let all: Vec<u32> = (0..mesh.n_elements() as u32).collect();
    let (equation, bindings) = of();
    let whole = CudaDiscretization::new(Arc::clone(mesh), scheme, equation, bindings, host(), cuda);
    let expected = rates(&mut whole.expect("a scheme"), mesh, &all);
    let size = expected.iter().flatten().fold(0.0_f64, |m, x| m.max(x.abs()));
    // Elements in turn, so that most faces are cut.
    let of_element = (0..mesh.n_elements() as u32).map(|e| e / 2 % 2).collect();
    let partition = &Partition::of_elements(of_element).expect("two parts");
    let parts = on_each(threads(2), |comm| {
        let comm: Arc<dyn Communicator> = Arc::new(comm);
        let ranks = Arc::new(Ranks::new(mesh, partition, comm).expect("one part a rank"));
        let (equation, bindings) = of();
        let d = CudaDiscretization::on_ranks(&ranks, scheme, equation, bindings, host(), cuda);
        let mut d = d.expect("a scheme");
        assert_eq!(d.link(), Some("staged"));
        let found = rates(&mut d, ranks.mesh(), ranks.elements());
        assert!(ranks.take_failure().is_none());
        (ranks.elements().to_vec(), found)
    });
    for (elements, mut found) in parts {
        assert_eq!(found.pop(), expected.last().cloned(), "{what}: the step");
        for (e, own) in elements.into_iter().zip(found) {
            for (a, b) in own.iter().zip(&expected[e as usize]) {
                assert!((a - b).abs() <= 1e-13 * size, "{what}, element {e}: {a} and {b}");
            }
        }
    }
}

/// The cases; their kernels are those of other tests.
pub(crate) fn compare_parts(cuda: &Cuda) {
    let data: Arc<dyn Exact> = Arc::new(wavy(2));
    let named = |cells, name: &str, p| {
        let list = schemes(cells, p);
        list.into_iter().find(|s| s.0 == name).expect("a scheme of the shape").1
    };
    let triangles = Cells::Of(Shape::Triangle);
    let cases = [
        (row(2, 33), named(triangles, "nodal", 3), false),
        (row(2, 9), named(triangles, "nodal", 3), true),
        (mesh(Cells::Mixed2, 2, 2, false), named(Cells::Mixed2, "nodal", 1), true),
    ];
    for (mesh, scheme, viscous) in cases {
        let what = format!("{} elements of {:?}", mesh.n_elements(), mesh.sets[0].shape);
        compare(cuda, &what, &mesh, &scheme, &|| problem(&mesh, &scheme, Some(&data)));
        if viscous {
            compare(cuda, &format!("viscous, {what}"), &mesh, &scheme, &|| {
                (equation(mesh.dim, &scheme), bindings(&mesh, &data))
            });
        }
    }
}

#[test]
fn parts_on_one_device_give_the_residual_of_the_whole() {
    let Some(cuda) = device() else { return };
    compare_parts(&cuda);
}
