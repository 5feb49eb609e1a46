//! With diffusion too the device is the host: Navier–Stokes, by BR2, with walls, prescribed states and a source.

use crate::residual::{compare_twins, device};
use crate::testkit::{Cells, GAS, PLANE, SPACE, mesh, schemes, two_point, wavy};
use dgsuite_basis::Representation;
use dgsuite_gpu::Host;
use dgsuite_gpu::cuda::{Cuda, Source};
use dgsuite_mesh::Mesh;
use dgsuite_ops::cuda::CudaDiscretization;
use dgsuite_ops::{
    BoundaryBinding, BoundaryKernel, BoundaryOf, DiffusionKernels, Diffusive, DiffusiveBoundaryKernel,
    DiffusiveBoundaryOf, Discretization, Equation, PackScalar, PointKernels, Pointwise, Scheme,
    WithDiffusion,
};
use dgsuite_physics::navier_stokes::Viscosity;
use dgsuite_physics::trace::{Parameters, Recording, Sym, TraceError};
use dgsuite_physics::{Euler, Exact, Given, NavierStokes, NoSlipWall, Prescribed, Real, Rusanov, WallHeat};
use std::sync::Arc;

/// Viscosity that depends on the state, so that nothing of it can be wrong unseen.
const LAW: NavierStokes = NavierStokes {
    gas: GAS,
    prandtl: 0.72,
    viscosity: Viscosity::Sutherland { mu_ref: 0.05, t_ref: 0.9, s: 0.4 },
    gas_constant: 1.0,
};
const WALL: NoSlipWall =
    NoSlipWall { heat: WallHeat::Adiabatic, velocity: Some(Given::vector([0.1, -0.2, 0.3])) };
/// With velocity and temperature from [`swaying`].
const SWAYING: NoSlipWall = NoSlipWall {
    heat: WallHeat::Isothermal { temperature: Given::Prescribed },
    velocity: Some([Given::Prescribed; 3]),
};

/// What the tests need of a precision.
pub(crate) trait Precision: PackScalar + Real {
    fn physics(plane: bool) -> Box<dyn PointKernels<Self>>;
    fn diffusion(plane: bool) -> Box<dyn DiffusionKernels<Self>>;
}

macro_rules! precision {
    ($t:ty) => {
        impl Precision for $t {
            fn physics(plane: bool) -> Box<dyn PointKernels<Self>> {
                let (law, flux) = (GAS, Rusanov);
                if plane {
                    Box::new(Pointwise::<Euler, _, 2, 4> { law, flux })
                } else {
                    Box::new(Pointwise::<Euler, _, 3, 5> { law, flux })
                }
            }

            fn diffusion(plane: bool) -> Box<dyn DiffusionKernels<Self>> {
                let diffusion = LAW;
                if plane {
                    Box::new(Diffusive::<_, 2, 4> { diffusion })
                } else {
                    Box::new(Diffusive::<_, 3, 5> { diffusion })
                }
            }
        }
    };
}
precision!(f64);
precision!(f32);

/// The wavy state as a source.
struct Gain(usize);

impl dgsuite_physics::Source for Gain {
    fn n_fields(&self) -> usize {
        self.0 + 2
    }

    fn eval(&self, t: f64, x: &[[f64; 3]], out: &mut [Vec<f64>]) {
        wavy(self.0).eval(t, x, out);
    }

    fn is_steady(&self) -> bool {
        false
    }

    fn device_source(&self, _: &mut Parameters) -> Result<String, TraceError> {
        Ok(String::new())
    }
}

fn equation<T: Precision>(dim: usize, scheme: &Scheme) -> Equation<T> {
    let mut equation = Equation::from(T::physics(dim == 2))
        .with_diffusion(T::diffusion(dim == 2))
        .with_source(Arc::new(Gain(dim)));
    equation.two_point = two_point(dim, scheme);
    equation
}

/// Velocity and temperature of a wall, which change with place and time; the device evaluates them itself.
fn swaying(dim: usize) -> Arc<dyn Exact> {
    Arc::new(Recording::new(|t, x| {
        let mut numbers = vec![Sym::lit(0.0)];
        numbers.extend((0..dim).map(|d| (x[d] + t * Sym::lit(1.0 + d as f64)).sin()));
        numbers.push(Sym::lit(1.0) + Sym::lit(0.1) * (x[0] - x[1] - t).cos());
        numbers
    }))
}

/// Moving walls at the first two boundaries, prescribed states at the others.
fn bindings<T: Precision>(mesh: &Mesh, data: &Arc<dyn Exact>) -> Vec<BoundaryBinding<T>> {
    let (law, flux) = (GAS, Rusanov);
    let of = |i: usize| -> Box<dyn BoundaryKernel<T>> {
        let (inviscid, diffusive): (Box<dyn BoundaryKernel<T>>, Box<dyn DiffusiveBoundaryKernel<T>>) =
            match (mesh.dim, i) {
                (2, 0) => (
                    Box::new(BoundaryOf::<Euler, Rusanov, _, 2, 4> { law, flux, condition: WALL }),
                    Box::new(DiffusiveBoundaryOf::<_, _, 2, 4> { diffusion: LAW, condition: WALL }),
                ),
                (2, 1) => (
                    Box::new(BoundaryOf::<Euler, Rusanov, _, 2, 4> { law, flux, condition: SWAYING }),
                    Box::new(DiffusiveBoundaryOf::<_, _, 2, 4> { diffusion: LAW, condition: SWAYING }),
                ),
                (2, _) => (
                    Box::new(BoundaryOf::<Euler, Rusanov, _, 2, 4> { law, flux, condition: Prescribed }),
                    Box::new(DiffusiveBoundaryOf::<_, _, 2, 4> { diffusion: LAW, condition: Prescribed }),
                ),
                (_, 0) => (
                    Box::new(BoundaryOf::<Euler, Rusanov, _, 3, 5> { law, flux, condition: WALL }),
                    Box::new(DiffusiveBoundaryOf::<_, _, 3, 5> { diffusion: LAW, condition: WALL }),
                ),
                (_, 1) => (
                    Box::new(BoundaryOf::<Euler, Rusanov, _, 3, 5> { law, flux, condition: SWAYING }),
                    Box::new(DiffusiveBoundaryOf::<_, _, 3, 5> { diffusion: LAW, condition: SWAYING }),
                ),
                _ => (
                    Box::new(BoundaryOf::<Euler, Rusanov, _, 3, 5> { law, flux, condition: Prescribed }),
                    Box::new(DiffusiveBoundaryOf::<_, _, 3, 5> { diffusion: LAW, condition: Prescribed }),
                ),
            };
        Box::new(WithDiffusion { inviscid, diffusive })
    };
    let named = |(i, name): (usize, &str)| BoundaryBinding {
        name: name.to_owned(),
        kernel: of(i),
        data: Some(if i == 1 { swaying(mesh.dim) } else { Arc::clone(data) }),
    };
    mesh.boundary_names().into_iter().enumerate().map(named).collect()
}

/// A residual, a stage, the step bound and the boundary's rates on the device and on the host.
pub(crate) fn compare_viscous<T: Precision>(cuda: &Cuda, mesh: &Arc<Mesh>, what: &str, scheme: &Scheme) {
    let exact: Arc<dyn Exact> = Arc::new(wavy(mesh.dim));
    let threads = || Arc::new(Host::new(2).expect("a machine"));
    let (equation, bindings) = (|| equation::<T>(mesh.dim, scheme), || bindings::<T>(mesh, &exact));
    let host = Discretization::new(Arc::clone(mesh), scheme, equation(), bindings(), threads());
    let device = CudaDiscretization::new(Arc::clone(mesh), scheme, equation(), bindings(), threads(), cuda);
    let (host, device) = (host.expect("a discretisation"), device.expect("a discretisation"));
    compare_twins(cuda, host, device, exact.as_ref(), &format!("viscous {what}"), |_, _| ());
}

/// The texts of all kernels of `cells` under `scheme`.
pub(crate) fn viscous_texts<T: Precision>(cells: Cells, scheme: &Scheme, order: usize) -> Vec<Source> {
    // One cell a side would leave its lattice nodes where they are.
    let mesh = mesh(cells, order, order, false);
    let exact: Arc<dyn Exact> = Arc::new(wavy(mesh.dim));
    let (equation, bindings) = (equation::<T>(mesh.dim, scheme), bindings::<T>(&mesh, &exact));
    let host = Arc::new(Host::new(1).expect("a machine"));
    CudaDiscretization::sources(mesh, scheme, equation, bindings, host).expect("texts")
}

/// Every scheme of every shape, affine and curved, with boundaries and without; orders are spread over the schemes.
#[test]
fn viscous_residuals_are_the_hosts() {
    let Some(cuda) = device() else { return };
    let run = |i: usize, cells: Cells| {
        for order in [1, 2] {
            for p in order..=4 - usize::from(cells.dim() == 3) {
                for (j, (name, scheme)) in schemes(cells, p).into_iter().enumerate() {
                    if !(i + j + p).is_multiple_of(3) {
                        continue;
                    }
                    let mesh = mesh(cells, 3, order, (j + p) % 2 == 0);
                    let what = format!("{cells:?} {name} p = {p}, geometry {order}");
                    compare_viscous::<f64>(&cuda, &mesh, &what, &scheme);
                    if (j + p).is_multiple_of(4) && scheme.representation != Representation::Taylor {
                        compare_viscous::<f32>(&cuda, &mesh, &what, &scheme);
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
