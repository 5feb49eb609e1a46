//! With diffusion, device and host agree: Navier–Stokes by BR2, with walls, prescribed states and a source.

use crate::device::emulated::half_curved_row;
use crate::device::residual::{compare_twins, device};
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
use dgsuite_physics::closures::EddyViscosity;
use dgsuite_physics::formula::Names;
use dgsuite_physics::navier_stokes::Viscosity;
use dgsuite_physics::source::FormulaSource;
use dgsuite_physics::trace::{Recording, Sym};
use dgsuite_physics::{
    Closure, Euler, Exact, Given, NavierStokes, NoSlipWall, Prescribed, Real, Rusanov, WallHeat,
};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The viscosity depends on the state, so that an error in it cannot go unnoticed.
const LAW: NavierStokes = NavierStokes {
    gas: GAS,
    prandtl: 0.72,
    viscosity: Viscosity::Sutherland { mu_ref: 0.05, t_ref: 0.9, s: 0.4 },
    gas_constant: 1.0,
    closure: None,
};
const WALL: NoSlipWall =
    NoSlipWall { heat: WallHeat::Adiabatic, velocity: Some(Given::vector([0.1, -0.2, 0.3])) };
/// Walls with velocity and temperature from [`swaying`].
const SWAYING: NoSlipWall = NoSlipWall {
    heat: WallHeat::Isothermal { temperature: Given::Prescribed },
    velocity: Some([Given::Prescribed; 3]),
};

/// Point formulas for each precision.
pub(crate) trait Precision: PackScalar + Real {
    fn physics(plane: bool) -> Box<dyn PointKernels<Self>>;
    fn diffusion(plane: bool, diffusion: NavierStokes) -> Box<dyn DiffusionKernels<Self>>;
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

            fn diffusion(plane: bool, diffusion: NavierStokes) -> Box<dyn DiffusionKernels<Self>> {
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

/// A source that changes with time; the device evaluates it itself.
pub(crate) fn gain(dim: usize) -> Arc<dyn dgsuite_physics::Source> {
    let texts = [
        ("rho", "0.3*sin(x - t)"),
        ("rho_u", "cos(2*y + t)"),
        ("rho_v", "0.5 - x*t"),
        ("rho_E", "1 + sin(x*y + 3*t)"),
    ];
    let mut texts: BTreeMap<String, String> =
        texts.map(|(name, text)| (name.to_owned(), text.to_owned())).into();
    if dim == 2 {
        return Arc::new(
            FormulaSource::parse::<_, 2, 4>(&GAS, &texts, &Names::space_time()).expect("formulas"),
        );
    }
    texts.insert("rho_w".to_owned(), "z*cos(t)".to_owned());
    Arc::new(FormulaSource::parse::<_, 3, 5>(&GAS, &texts, &Names::space_time()).expect("formulas"))
}

pub(crate) fn equation<T: Precision>(dim: usize, scheme: &Scheme) -> Equation<T> {
    equation_of(dim, scheme, LAW)
}

fn equation_of<T: Precision>(dim: usize, scheme: &Scheme, law: NavierStokes) -> Equation<T> {
    let physics = T::physics(dim == 2);
    let mut equation =
        Equation::from(physics).with_diffusion(T::diffusion(dim == 2, law)).with_source(gain(dim));
    equation.two_point = two_point(dim, scheme);
    equation
}

/// Velocity and temperature of a wall that change in space and time; the device evaluates them itself.
fn swaying(dim: usize) -> Arc<dyn Exact> {
    Arc::new(Recording::new(|t, x| {
        let mut numbers = vec![Sym::lit(0.0)];
        numbers.extend((0..dim).map(|d| (x[d] + t * Sym::lit(1.0 + d as f64)).sin()));
        numbers.push(Sym::lit(1.0) + Sym::lit(0.1) * (x[0] - x[1] - t).cos());
        numbers
    }))
}

/// Moving walls on the first two boundaries, prescribed states on the others.
pub(crate) fn bindings<T: Precision>(mesh: &Mesh, data: &Arc<dyn Exact>) -> Vec<BoundaryBinding<T>> {
    bindings_of(mesh, data, LAW)
}

fn bindings_of<T: Precision>(
    mesh: &Mesh,
    data: &Arc<dyn Exact>,
    diffusion: NavierStokes,
) -> Vec<BoundaryBinding<T>> {
    let law = GAS;
    let of = |i: usize| -> Box<dyn BoundaryKernel<T>> {
        let (inviscid, diffusive): (Box<dyn BoundaryKernel<T>>, Box<dyn DiffusiveBoundaryKernel<T>>) =
            match (mesh.dim, i) {
                (2, 0) => (
                    Box::new(BoundaryOf::<Euler, _, 2, 4> { law, condition: WALL }),
                    Box::new(DiffusiveBoundaryOf::<_, _, 2, 4> { diffusion, condition: WALL }),
                ),
                (2, 1) => (
                    Box::new(BoundaryOf::<Euler, _, 2, 4> { law, condition: SWAYING }),
                    Box::new(DiffusiveBoundaryOf::<_, _, 2, 4> { diffusion, condition: SWAYING }),
                ),
                (2, _) => (
                    Box::new(BoundaryOf::<Euler, _, 2, 4> { law, condition: Prescribed }),
                    Box::new(DiffusiveBoundaryOf::<_, _, 2, 4> { diffusion, condition: Prescribed }),
                ),
                (_, 0) => (
                    Box::new(BoundaryOf::<Euler, _, 3, 5> { law, condition: WALL }),
                    Box::new(DiffusiveBoundaryOf::<_, _, 3, 5> { diffusion, condition: WALL }),
                ),
                (_, 1) => (
                    Box::new(BoundaryOf::<Euler, _, 3, 5> { law, condition: SWAYING }),
                    Box::new(DiffusiveBoundaryOf::<_, _, 3, 5> { diffusion, condition: SWAYING }),
                ),
                _ => (
                    Box::new(BoundaryOf::<Euler, _, 3, 5> { law, condition: Prescribed }),
                    Box::new(DiffusiveBoundaryOf::<_, _, 3, 5> { diffusion, condition: Prescribed }),
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

/// Compares a residual, a stage, the step bound and the boundary's rates on device and host.
pub(crate) fn compare_viscous<T: Precision>(cuda: &Cuda, mesh: &Arc<Mesh>, what: &str, scheme: &Scheme) {
    let equation = || equation::<T>(mesh.dim, scheme);
    compare_equations(cuda, mesh, &format!("viscous {what}"), scheme, equation, LAW);
}

/// As [`compare_viscous`], for inviscid flow with a source.
pub(crate) fn compare_source<T: Precision>(cuda: &Cuda, mesh: &Arc<Mesh>, what: &str, scheme: &Scheme) {
    let equation = || {
        let mut equation = Equation::from(T::physics(mesh.dim == 2)).with_source(gain(mesh.dim));
        equation.two_point = two_point(mesh.dim, scheme);
        equation
    };
    compare_equations(cuda, mesh, &format!("with a source {what}"), scheme, equation, LAW);
}

/// As [`compare_viscous`], with an eddy viscosity that is as large as the molecular one.
pub(crate) fn compare_closed<T: Precision>(
    cuda: &Cuda,
    mesh: &Arc<Mesh>,
    what: &str,
    scheme: &Scheme,
    closure: Closure,
) {
    let what = format!("closed by {} {what}", closure.name());
    let law = closed(closure);
    compare_equations(cuda, mesh, &what, scheme, || equation_of::<T>(mesh.dim, scheme, law), law);
}

fn closed(closure: Closure) -> NavierStokes {
    let constant = 2.0 * closure.usual_constant();
    NavierStokes { closure: Some(EddyViscosity { constant, ..EddyViscosity::usual(closure) }), ..LAW }
}

fn compare_equations<T: Precision>(
    cuda: &Cuda,
    mesh: &Arc<Mesh>,
    what: &str,
    scheme: &Scheme,
    equation: impl Fn() -> Equation<T>,
    law: NavierStokes,
) {
    let exact: Arc<dyn Exact> = Arc::new(wavy(mesh.dim));
    let threads = || Arc::new(Host::new(2).expect("a machine"));
    let bindings = || bindings_of::<T>(mesh, &exact, law);
    let host = Discretization::new(Arc::clone(mesh), scheme, equation(), bindings(), threads());
    let device = CudaDiscretization::new(Arc::clone(mesh), scheme, equation(), bindings(), threads(), cuda);
    let (host, device) = (host.expect("a discretisation"), device.expect("a discretisation"));
    compare_twins(cuda, host, device, exact.as_ref(), what, &|device, _| {
        // Prescribed states of boundaries cannot be translated; without them the device works alone.
        let alone = device.is_autonomous() || !mesh.boundaries.is_empty();
        assert!(alone && device.is_moving(), "{what}: the host works between stages");
    });
}

/// The texts of all kernels of `cells` under `scheme`.
pub(crate) fn viscous_texts<T: Precision>(cells: Cells, scheme: &Scheme, order: usize) -> Vec<Source> {
    // With one cell per side, all lattice nodes would stay in place.
    let mesh = mesh(cells, order, order, false);
    let exact: Arc<dyn Exact> = Arc::new(wavy(mesh.dim));
    let (equation, bindings) = (equation::<T>(mesh.dim, scheme), bindings::<T>(&mesh, &exact));
    let host = Arc::new(Host::new(1).expect("a machine"));
    CudaDiscretization::texts(mesh, scheme, equation, bindings, host).expect("texts")
}

/// The same with a closure.
pub(crate) fn closed_texts(cells: Cells, scheme: &Scheme, order: usize, closure: Closure) -> Vec<Source> {
    let mesh = mesh(cells, order, order, false);
    let exact: Arc<dyn Exact> = Arc::new(wavy(mesh.dim));
    let law = closed(closure);
    let equation = equation_of::<f64>(mesh.dim, scheme, law);
    let bindings = bindings_of::<f64>(&mesh, &exact, law);
    let host = Arc::new(Host::new(1).expect("a machine"));
    CudaDiscretization::texts(mesh, scheme, equation, bindings, host).expect("texts")
}

/// The same for inviscid flow with a source.
pub(crate) fn texts_with_source<T: Precision>(cells: Cells, scheme: &Scheme, order: usize) -> Vec<Source> {
    let mesh = mesh(cells, order, order, true);
    let mut equation = Equation::from(T::physics(mesh.dim == 2)).with_source(gain(mesh.dim));
    equation.two_point = two_point(mesh.dim, scheme);
    let host = Arc::new(Host::new(1).expect("a machine"));
    CudaDiscretization::texts(mesh, scheme, equation, Vec::new(), host).expect("texts")
}

/// Tests that curved elements in a mesh take no fast kernel away, whatever the number of affine ones.
#[test]
fn affine_and_curved_tetrahedra_share_a_mesh_on_fast_kernels() {
    let scheme = Scheme::modal(4);
    for n in [16, 17, 18, 19] {
        let (mesh, host) = (half_curved_row(3, n), Arc::new(Host::new(1).expect("a machine")));
        let exact: Arc<dyn Exact> = Arc::new(wavy(3));
        let bindings = bindings::<f64>(&mesh, &exact);
        let found = CudaDiscretization::chosen(mesh, &scheme, equation(3, &scheme), bindings, host);
        let found = found.expect("kernels");
        let kinds: Vec<_> = found.iter().map(|k| (k.curved, k.fast, k.name.as_str())).collect();
        let name = "simplex_gradient.cu";
        assert_eq!(kinds, [(false, true, name), (true, true, name)], "{n} elements");
    }
}

/// Tests every scheme on every shape, affine and curved, with and without boundaries; orders are distributed
/// over the schemes.
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

/// Tests sources in inviscid flow: all metric rules, layouts and both precisions.
#[test]
fn sources_without_diffusion_are_the_hosts() {
    let Some(cuda) = device() else { return };
    for (i, cells) in PLANE.into_iter().chain(SPACE).enumerate() {
        for order in [1, 2] {
            let list = schemes(cells, 2);
            let (name, scheme) = &list[(3 * i + order) % 6];
            let mesh = mesh(cells, 3, order, i % 2 == 0);
            let what = format!("{cells:?} {name} p = 2, geometry {order}");
            compare_source::<f64>(&cuda, &mesh, &what, scheme);
            if i % 2 == 0 && scheme.representation != Representation::Taylor {
                compare_source::<f32>(&cuda, &mesh, &what, scheme);
            }
        }
    }
}
