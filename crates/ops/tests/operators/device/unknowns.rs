//! Laws with 2, 3, 6 and 7 unknowns on the device: a residual, a stage and the step bound are the host's.

use crate::device::emulated::{half_curved_row, row};
use crate::device::residual::{compare_twins, device};
use crate::several::{Several, Waves, machine, of_several, several};
use crate::testkit::{Cells, PLANE, SPACE, mesh, schemes};
use dgsuite_basis::Shape;
use dgsuite_gpu::SimdLevel;
use dgsuite_gpu::cuda::Cuda;
use dgsuite_mesh::Mesh;
use dgsuite_ops::cuda::CudaDiscretization;
use dgsuite_ops::{
    DiffusionKernels, Diffusive, Discretization, Equation, Form, PackScalar, PointKernels, Pointwise, Scheme,
};
use dgsuite_physics::{Real, Rusanov, Transport, TransportFlux};
use std::sync::Arc;

fn compare<T, const D: usize, const N: usize>(
    cuda: &Cuda,
    mesh: &Arc<Mesh>,
    scheme: &Scheme,
    diffusive: bool,
    what: &str,
) where
    T: PackScalar + Real,
    Pointwise<Several<D, N>, Rusanov, D, N>: PointKernels<T>,
    Diffusive<Several<D, N>, D, N>: DiffusionKernels<T>,
{
    let start = std::time::Instant::now();
    let what = format!("{N} unknowns, {what}, diffusion {diffusive}");
    let parts = || several::<T, D, N>(mesh, diffusive);
    let machine = || machine(SimdLevel::detect());
    let (equation, bindings) = parts();
    let host = Discretization::new(Arc::clone(mesh), scheme, equation, bindings, machine());
    let (equation, bindings) = parts();
    let device = CudaDiscretization::new(Arc::clone(mesh), scheme, equation, bindings, machine(), cuda);
    let (host, device) = (host.expect("a discretisation"), device.expect("a discretisation"));
    compare_twins(cuda, host, device, &Waves::<N>, &what, &|_, _| {});
    println!("{what}: {:.1} s", start.elapsed().as_secs_f64());
}

/// The transport of a velocity by another one: the fluxes of the last unknowns are zero.
fn compare_transport(cuda: &Cuda) {
    let law = Transport { factor: 1.0 };
    for (cells, name, p, geometry) in [
        (Cells::Of(Shape::Quadrilateral), "over-integrated", 2, 2),
        (Cells::Of(Shape::Quadrilateral), "FR Gauss", 2, 1),
        (Cells::Of(Shape::Hexahedron), "over-integrated", 1, 1),
    ] {
        let (mesh, what) = (mesh(cells, 2, geometry, true), format!("transport, {cells:?} {name} p = {p}"));
        let scheme = schemes(cells, p).iter().find(|s| s.0 == name).expect("a scheme of the shape").1;
        let machine = || machine(SimdLevel::detect());
        let equation = || -> Equation<f64> {
            match mesh.dim {
                2 => Box::new(Pointwise::<_, _, 2, 4> { law, flux: TransportFlux }).into(),
                _ => Box::new(Pointwise::<_, _, 3, 6> { law, flux: TransportFlux }).into(),
            }
        };
        let host = Discretization::new(Arc::clone(&mesh), &scheme, equation(), Vec::new(), machine());
        let device =
            CudaDiscretization::new(Arc::clone(&mesh), &scheme, equation(), Vec::new(), machine(), cuda);
        let (host, device) = (host.expect("a discretisation"), device.expect("a discretisation"));
        match mesh.dim {
            2 => compare_twins(cuda, host, device, &Waves::<4>, &what, &|_, _| {}),
            _ => compare_twins(cuda, host, device, &Waves::<6>, &what, &|_, _| {}),
        }
    }
}

/// Some cases, for the emulated device: all kinds of kernels, and odd and even numbers of unknowns for those
/// that treat unknowns in pairs.
pub(crate) fn compare_few(cuda: &Cuda, only: &str) {
    let shape = Cells::Of;
    let (triangle, tetrahedron) = (shape(Shape::Triangle), shape(Shape::Tetrahedron));
    let (quadrilateral, hexahedron) = (shape(Shape::Quadrilateral), shape(Shape::Hexahedron));
    let prism = shape(Shape::Prism);
    let on_box = |n, cells: Cells, order, name, p, diffusive| {
        (n, mesh(cells, 2, order, false), cells, name, p, diffusive)
    };
    let cases = [
        on_box(2, Cells::Mixed2, 2, "nodal", 2, false),
        on_box(3, quadrilateral, 2, "collocated", 3, true),
        on_box(2, quadrilateral, 1, "collocated Gauss", 2, true),
        on_box(6, quadrilateral, 2, "modal", 1, false),
        on_box(2, hexahedron, 2, "collocated", 2, true),
        on_box(3, hexahedron, 2, "collocated Gauss", 2, false),
        on_box(6, hexahedron, 1, "collocated", 3, false),
        on_box(7, hexahedron, 1, "over-integrated", 1, false),
        on_box(3, prism, 2, "collocated", 2, true),
        on_box(6, prism, 2, "modal", 1, false),
        on_box(2, prism, 1, "nodal", 2, false),
        (2, half_curved_row(2, 33), triangle, "nodal", 3, true),
        (3, half_curved_row(2, 17), triangle, "nodal", 2, true),
        (6, row(2, 9), triangle, "modal", 2, false),
        (7, row(2, 9), triangle, "nodal", 1, true),
        (2, row(3, 17), tetrahedron, "nodal", 2, true),
        (3, half_curved_row(3, 17), tetrahedron, "nodal", 2, false),
        (6, row(3, 9), tetrahedron, "nodal", 2, false),
        (6, row(3, 9), tetrahedron, "nodal", 4, false),
    ];
    if "transport".contains(only) {
        compare_transport(cuda);
    }
    for (n, mesh, cells, name, p, diffusive) in &cases {
        let list = schemes(*cells, *p);
        let scheme = list.iter().find(|s| s.0 == *name).expect("a scheme of the shape").1;
        let what = format!("{cells:?} of {} {name} p = {p}", mesh.n_elements());
        if format!("unknowns {n} {what}").contains(only) {
            of_several!(compare::<f64>, mesh.dim, *n, cuda, mesh, &scheme, *diffusive, &what);
        }
    }
}

/// All numbers of unknowns on all shapes, affine and curved; schemes and orders are distributed over them.
#[test]
fn any_number_of_unknowns_is_the_hosts() {
    let Some(cuda) = device() else { return };
    compare_transport(&cuda);
    for (c, cells) in PLANE.into_iter().chain(SPACE).enumerate() {
        for geometry in [1, 2] {
            let mesh = mesh(cells, 2, geometry, (c + geometry) % 2 == 0);
            for (i, n) in [2, 3, 6, 7].into_iter().enumerate() {
                let p = geometry + (c + i) % 3;
                let list = schemes(cells, p).into_iter().filter(|s| s.1.form != Form::Split);
                for (j, (name, scheme)) in list.enumerate() {
                    if (c + geometry + i + j).is_multiple_of(3) {
                        let what = format!("{cells:?} {name} p = {p} geometry {geometry}");
                        let diffusive = j % 2 == 0 && !cells.has_pyramids();
                        of_several!(compare::<f64>, cells.dim(), n, &cuda, &mesh, &scheme, diffusive, &what);
                    }
                }
            }
        }
    }
}
