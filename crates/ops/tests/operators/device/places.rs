//! On a device, too, each unknown of a state at elliptic nodes is a vector of the operator, permuted.

use crate::device::emulated::half_curved_row;
use crate::several::{Several, Waves, machine, several};
use crate::testkit::{Cells, mesh};
use dgsuite_basis::Shape;
use dgsuite_gpu::SimdLevel;
use dgsuite_gpu::cuda::Cuda;
use dgsuite_mesh::Mesh;
use dgsuite_ops::cuda::{CudaDiscretization, CudaSipdg};
use dgsuite_ops::{Discretization, EllipticBoundary, Scheme, Sipdg, SipdgOptions, elliptic_places};
use std::sync::Arc;

fn compare<const D: usize>(cuda: &Cuda, mesh: &Arc<Mesh>, p: usize) {
    let level = SimdLevel::detect();
    let boundaries: Vec<_> =
        mesh.boundary_names().iter().map(|n| ((*n).to_owned(), EllipticBoundary::Dirichlet)).collect();
    let options = SipdgOptions::new(p);
    let (one, zero) = (|_: usize, _: [f64; 3]| 1.0, |_: usize, _: [f64; 3]| 0.0);
    let host = Sipdg::<f64>::new(Arc::clone(mesh), &options, &one, &zero, &boundaries, machine(level))
        .expect("an operator");
    let device = CudaSipdg::<f64>::new(cuda, &host).expect("an operator");
    let scheme = Scheme::on_elliptic_nodes(p);
    let (equation, bindings) = several::<f64, D, 3>(mesh, false);
    let on_host = Discretization::new(Arc::clone(mesh), &scheme, equation, bindings, machine(level));
    let on_host = on_host.expect("a discretisation");
    let (equation, bindings) = several::<f64, D, 3>(mesh, false);
    let on_device =
        CudaDiscretization::new(Arc::clone(mesh), &scheme, equation, bindings, machine(level), cuda)
            .expect("a discretisation");
    let (mut u, mut v) = (vec![0.0; on_host.len()], vec![0.0; on_device.len()]);
    on_host.project(&Waves::<3>, 0.0, &mut u);
    on_device.description().from_canonical(&on_host.to_canonical(&u), &mut v).expect("the same basis");
    let places = elliptic_places(&on_host, &host).expect("places");
    let on_device = device.places(&host, &on_device).expect("places");
    for (places, on_device) in places.iter().zip(&on_device) {
        let pick = |state: &[f64], places: &[u32]| -> Vec<f64> {
            places.iter().map(|&i| if i == u32::MAX { 0.0 } else { state[i as usize] }).collect()
        };
        let expected = device.upload(&pick(&u, places)).expect("a copy");
        let expected = expected.buffer().to_vec().expect("a copy");
        assert_eq!(expected, pick(&v, on_device), "{:?} p = {p}", mesh.shape(0));
    }
}

/// All shapes, affine and curved.
pub(crate) fn compare_places(cuda: &Cuda) {
    for cells in [Cells::Of(Shape::Triangle), Cells::Of(Shape::Quadrilateral), Cells::Mixed2] {
        (1..=2).for_each(|order| compare::<2>(cuda, &mesh(cells, 3, order, false), 3));
    }
    compare::<2>(cuda, &half_curved_row(2, 17), 2);
    for shape in [Shape::Tetrahedron, Shape::Hexahedron, Shape::Prism] {
        (1..=2).for_each(|order| compare::<3>(cuda, &mesh(Cells::Of(shape), 2, order, false), 2));
    }
}

#[test]
fn unknowns_on_the_device_are_permuted_vectors() {
    let Some(cuda) = crate::device::residual::device() else { return };
    compare_places(&cuda);
}

/// With as many points along lines as nodes, and on simplices, elements have fast kernels for 2 to 6
/// unknowns.
#[test]
fn laws_at_elliptic_nodes_have_fast_kernels() {
    fn check<const D: usize, const N: usize>(shape: Shape)
    where
        dgsuite_ops::Pointwise<Several<D, N>, dgsuite_physics::Rusanov, D, N>: dgsuite_ops::PointKernels<f64>,
    {
        for (order, p) in [(1, 2), (1, 4), (2, 4)] {
            let mesh = mesh(Cells::Of(shape), 2, order, false);
            let (equation, bindings) = several::<f64, D, N>(&mesh, false);
            let scheme = Scheme::on_elliptic_nodes(p);
            let kernels =
                CudaDiscretization::chosen(mesh, &scheme, equation, bindings, machine(SimdLevel::detect()));
            for kernel in kernels.expect("kernels") {
                assert!(kernel.fast, "{shape}, {N} unknowns, p = {p}, geometry {order}: {}", kernel.name);
            }
        }
    }
    for shape in [Shape::Triangle, Shape::Quadrilateral] {
        check::<2, 2>(shape);
        check::<2, 3>(shape);
    }
    for shape in [Shape::Tetrahedron, Shape::Hexahedron, Shape::Prism] {
        check::<3, 3>(shape);
        check::<3, 4>(shape);
        check::<3, 6>(shape);
    }
}
