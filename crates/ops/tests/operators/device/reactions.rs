//! With reactions, device and host agree: a sponge and a body force, with and without a source.

use crate::device::compiled::Compiled;
use crate::device::residual::{compare_twins, device};
use crate::device::viscous::{Precision, bindings, equation, gain};
use crate::reactions_of_gas::reactions;
use crate::testkit::{Cells, PLANE, SPACE, mesh, schemes, two_point, wavy};
use dgsuite_basis::Shape;
use dgsuite_gpu::Host;
use dgsuite_gpu::cuda::{Cuda, DeviceBuffer};
use dgsuite_mesh::Mesh;
use dgsuite_ops::cuda::CudaDiscretization;
use dgsuite_ops::{Discretization, Equation, Reacting, ReactionKernels, Scheme};
use dgsuite_physics::Exact;
use dgsuite_physics::reaction::{BodyForce, Sponge};
use std::sync::Arc;

/// Compares a residual, a stage and the step bound on device and host. With one reaction alone a stage is
/// also compared after another state has been used, so that old rows cannot go unnoticed.
pub(crate) fn compare_reactions<T: Precision>(cuda: &Cuda, mesh: &Arc<Mesh>, what: &str, scheme: &Scheme)
where
    Reacting<Sponge, 4, 5>: ReactionKernels<T>,
    Reacting<Sponge, 5, 6>: ReactionKernels<T>,
    Reacting<BodyForce, 4, 2>: ReactionKernels<T>,
    Reacting<BodyForce, 5, 3>: ReactionKernels<T>,
{
    let exact: Arc<dyn Exact> = Arc::new(wavy(mesh.dim));
    let with_source = || {
        let mut equation = Equation::from(T::physics(mesh.dim == 2)).with_source(gain(mesh.dim));
        equation.two_point = two_point(mesh.dim, scheme);
        equation.reactions = reactions(mesh.dim, Arc::clone(&exact));
        equation
    };
    compare_equations(cuda, mesh, &format!("reactions and a source, {what}"), scheme, with_source);
}

/// As [`compare_reactions`], for viscous flow.
fn compare_viscous<T: Precision>(cuda: &Cuda, mesh: &Arc<Mesh>, what: &str, scheme: &Scheme)
where
    Reacting<Sponge, 4, 5>: ReactionKernels<T>,
    Reacting<Sponge, 5, 6>: ReactionKernels<T>,
    Reacting<BodyForce, 4, 2>: ReactionKernels<T>,
    Reacting<BodyForce, 5, 3>: ReactionKernels<T>,
{
    let exact: Arc<dyn Exact> = Arc::new(wavy(mesh.dim));
    let viscous = || {
        let mut equation = equation::<T>(mesh.dim, scheme);
        equation.source = None;
        equation.reactions = reactions(mesh.dim, Arc::clone(&exact));
        equation
    };
    compare_equations(cuda, mesh, &format!("viscous with reactions, {what}"), scheme, viscous);
}

fn compare_equations<T: Precision>(
    cuda: &Cuda,
    mesh: &Arc<Mesh>,
    what: &str,
    scheme: &Scheme,
    equation: impl Fn() -> Equation<T>,
) {
    let exact: Arc<dyn Exact> = Arc::new(wavy(mesh.dim));
    let threads = || Arc::new(Host::new(2).expect("a machine"));
    let bindings = || bindings::<T>(mesh, &exact);
    let host = Discretization::new(Arc::clone(mesh), scheme, equation(), bindings(), threads());
    let device = CudaDiscretization::new(Arc::clone(mesh), scheme, equation(), bindings(), threads(), cuda);
    let (host, device) = (host.expect("a discretisation"), device.expect("a discretisation"));
    compare_twins(cuda, host, device, exact.as_ref(), what, &|device, u| {
        // Rows must follow the state: another one in between changes nothing.
        let zero = vec![T::from_f64(0.0); u.len()];
        let mut first = DeviceBuffer::from_slice(cuda, "a test", &zero).expect("memory");
        let mut second = DeviceBuffer::from_slice(cuda, "a test", &zero).expect("memory");
        device.eval(0.0, u, &mut first).expect("a residual");
        let half: Vec<T> =
            u.to_vec().expect("a copy").iter().map(|x| T::from_f64(0.9 * x.to_f64())).collect();
        let other = DeviceBuffer::from_slice(cuda, "a test", &half).expect("memory");
        device.eval(0.0, &other, &mut second).expect("a residual");
        let (a, b) = (first.to_vec().expect("a copy"), second.to_vec().expect("a copy"));
        assert!(a != b, "{what}: the residual does not depend on the state");
        device.eval(0.0, u, &mut second).expect("a residual");
        assert!(a == second.to_vec().expect("a copy"), "{what}: rows of another state remain");
    });
}

/// Every scheme on every shape, affine and curved.
#[test]
fn reactions_are_the_hosts() {
    let Some(cuda) = device() else { return };
    for (c, cells) in PLANE.into_iter().chain(SPACE).enumerate() {
        for order in [1, 2] {
            let mesh = mesh(cells, 2, order, (c + order) % 2 == 0);
            for (j, (name, scheme)) in schemes(cells, 2).into_iter().enumerate() {
                if !(c + order + j).is_multiple_of(3) {
                    continue;
                }
                let what = format!("{cells:?} {name} geometry {order}");
                compare_reactions::<f64>(&cuda, &mesh, &what, &scheme);
                if j % 2 == 0 && name != "Taylor" {
                    compare_reactions::<f32>(&cuda, &mesh, &what, &scheme);
                }
                if j % 2 == 1 && cells != Cells::Mixed3 && !cells.has_pyramids() {
                    compare_viscous::<f64>(&cuda, &mesh, &what, &scheme);
                }
            }
        }
    }
}

/// The kernels of reactions compile for devices, and their states and coefficients stay in registers.
#[test]
fn kernels_of_reactions_fit_registers() {
    let compiled = Compiled::of("reactions");
    let of = Cells::Of;
    for (cells, name, p, order) in [
        (of(Shape::Triangle), "nodal", 2, 2),
        (of(Shape::Hexahedron), "modal", 3, 1),
        (of(Shape::Prism), "collocated", 2, 2),
    ] {
        let scheme = schemes(cells, p).into_iter().find(|s| s.0 == name).expect("a scheme of the shape").1;
        let mesh = mesh(cells, 2, order, true);
        let mut equation = Equation::from(f64::physics(mesh.dim == 2));
        equation.reactions = reactions(mesh.dim, Arc::new(wavy(mesh.dim)));
        let host = Arc::new(Host::new(1).expect("a machine"));
        let texts =
            CudaDiscretization::<f64>::texts(mesh, &scheme, equation, Vec::new(), host).expect("texts");
        let own: Vec<_> = texts.into_iter().filter(|text| text.name.starts_with("reaction")).collect();
        assert!(own.len() > 1, "{cells:?} {name}: {} texts", own.len());
        for source in own {
            for r in compiled.kernels("sm_90", &source) {
                let what = format!("{cells:?} {name} p = {p} {}", r.kernel);
                println!("{what}: {} registers, {} bytes of stack", r.registers, r.stack_bytes);
                assert!(r.stack_bytes == 0, "{what}: {} bytes of stack", r.stack_bytes);
            }
        }
    }
    compiled.close();
}
