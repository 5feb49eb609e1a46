//! A changed λ, the mass matrix of the interior penalty operator, and the penalties of incompressible flow
//! give the same results on device and host.

use dgsuite_basis::Shape;
use dgsuite_gpu::{CudaVector, Host, Scalar};
use dgsuite_mesh::ElementSet;
use dgsuite_ops::cuda::{CudaPenalties, CudaSipdg};
use dgsuite_ops::{
    BoundaryBinding, BoundaryOf, Discretization, Equation, Pointwise, Scheme, Sipdg, elliptic_places,
};
use dgsuite_physics::incompressible::{ElementwiseFlux, Incompressible};
use dgsuite_physics::{Boundary, Law, NumericalFlux, Outflow, Penalty, PenaltyFlux};
use std::sync::Arc;

/// The largest difference divided by the largest entry and the rounding of a number.
fn roundings<T: Scalar>(found: &[f64], wanted: &[f64]) -> f64 {
    let eps = if T::BYTES == 4 { f64::from(f32::EPSILON) } else { f64::EPSILON };
    let largest = wanted.iter().fold(0.0_f64, |m, v| m.max(v.abs()));
    found.iter().zip(wanted).fold(0.0_f64, |m, (a, b)| m.max((a - b).abs())) / (largest * eps)
}

/// Changes λ on both machines, where it is not zero, and replays a graph recorded before.
pub(crate) fn compare_lambda<T: Scalar>(
    host: &mut Sipdg<f64>,
    on_device: &mut CudaSipdg<T>,
    u: &[f64],
    what: &str,
    allowed: f64,
) {
    let mut wanted = vec![0.0; host.len()];
    let cuda = on_device.cuda().clone();
    let (on, mut au) = (on_device.upload(u).expect("room"), on_device.upload(u).expect("room"));
    let graph = cuda.capture(|_: &_| on_device.apply(&on, &mut au)).expect("a graph");
    if host.set_lambda(40.0).is_err() {
        assert!(on_device.set_lambda(40.0).is_err(), "{what}: lambda is zero");
        return;
    }
    for factor in [40.0, 0.25, 1.0] {
        host.set_lambda(factor).expect("a factor");
        on_device.set_lambda(factor).expect("a factor");
        host.apply(u, &mut wanted);
        graph.launch().expect("a launch");
        let difference = roundings::<T>(&on_device.download(&au).expect("a result"), &wanted);
        assert!(difference <= allowed, "{what}: factor {factor} of lambda: {difference:.1} roundings");
    }
    // An operator that is set up later.
    host.set_lambda(40.0).expect("a factor");
    let mut later = CudaSipdg::<T>::new(&cuda, host).expect("an operator on the device");
    host.set_lambda(2.0).expect("a factor");
    later.set_lambda(2.0).expect("a factor");
    host.apply(u, &mut wanted);
    later.apply(&on, &mut au).expect("a launch");
    let difference = roundings::<T>(&later.download(&au).expect("a result"), &wanted);
    assert!(difference <= allowed, "{what}: set up later: {difference:.1} roundings");
}

/// Compares the mass matrix and its inverse.
pub(crate) fn compare_mass<T: Scalar>(host: &Sipdg<f64>, on_device: &CudaSipdg<T>, u: &[f64], what: &str) {
    let mass = on_device.mass(host).expect("a mass matrix");
    let mut wanted = vec![0.0; host.len()];
    let (on, mut out) = (on_device.upload(u).expect("room"), on_device.upload(u).expect("room"));
    host.mass(u, &mut wanted);
    mass.mass(&on, &mut out).expect("a launch");
    let difference = roundings::<T>(&on_device.download(&out).expect("a result"), &wanted);
    assert!(difference <= 32.0, "{what}: the mass matrix: {difference:.1} roundings");
    host.inverse_mass(u, &mut wanted);
    mass.inverse_mass(&on, &mut out).expect("a launch");
    let difference = roundings::<T>(&on_device.download(&out).expect("a result"), &wanted);
    assert!(difference <= 200.0, "{what}: its inverse: {difference:.1} roundings");
    assert!(mass.bytes() > 0, "{what}: bytes");
}

/// The residual of a law without boundary terms, for the fields `inputs` at the nodes of `host`.
fn residual<L, F, const D: usize, const N: usize>(
    host: &Sipdg<f64>,
    (law, flux): (L, F),
    inputs: &[&[f64]],
) -> Vec<Vec<f64>>
where
    L: Law<D, N> + Copy + 'static,
    F: NumericalFlux<L, D, N> + Copy + 'static,
    Outflow: Boundary<L, D, N>,
{
    let mesh = host.mesh();
    let of = |name: &&str| BoundaryBinding {
        name: (*name).to_owned(),
        kernel: Box::new(BoundaryOf::<_, _, D, N> { law, condition: Outflow }),
        data: None,
    };
    let boundaries = mesh.boundary_names().iter().map(of).collect();
    let equation: Equation<f64> = Box::new(Pointwise::<_, _, D, N> { law, flux }).into();
    let scheme = Scheme::loads_on_elliptic_nodes(host.order());
    let machine = Arc::new(Host::new(1).expect("a machine"));
    let mut d = Discretization::new(Arc::clone(mesh), &scheme, equation, boundaries, machine)
        .expect("a discretisation");
    let places = elliptic_places(&d, host).expect("the same nodes");
    let (mut state, mut rates) = (vec![0.0; d.len()], vec![0.0; d.len()]);
    let pairs = |k: usize| places[k].iter().map(|&at| at as usize).enumerate();
    for (k, input) in inputs.iter().enumerate() {
        pairs(k).filter(|(_, at)| *at < d.len()).for_each(|(i, at)| state[at] = input[i]);
    }
    let canonical = d.to_canonical(&state);
    d.from_canonical(&canonical, &mut state).expect("a state");
    d.eval(0.0, &state, &mut rates);
    let of = |k: usize| pairs(k).map(|(_, at)| rates.get(at).copied().unwrap_or(0.0)).collect();
    (0..N).map(of).collect()
}

/// Compares the penalties with those of the laws of first order, on affine elements.
pub(crate) fn compare_penalties<T: Scalar>(
    host: &Sipdg<f64>,
    on_device: &CudaSipdg<T>,
    noise: &dyn Fn(u64) -> Vec<f64>,
    what: &str,
) {
    let found = on_device.penalties(host).expect("penalties on the device");
    let affine =
        |set: &ElementSet| set.order == 1 && matches!(set.shape, Shape::Triangle | Shape::Tetrahedron);
    let straight = host.mesh().sets.iter().all(affine);
    assert!(found.is_some() || !straight, "{what}: penalties of affine elements");
    let Some(penalties) = found else { return };
    match host.mesh().dim {
        2 => compare_in::<T, 2, 3, 4>(host, on_device, &penalties, noise, what),
        _ => compare_in::<T, 3, 4, 5>(host, on_device, &penalties, noise, what),
    }
    assert!(penalties.bytes() > 0, "{what}: bytes");
}

fn compare_in<T: Scalar, const D: usize, const N: usize, const P: usize>(
    host: &Sipdg<f64>,
    on_device: &CudaSipdg<T>,
    penalties: &CudaPenalties<T>,
    noise: &dyn Fn(u64) -> Vec<f64>,
    what: &str,
) where
    Incompressible: Law<D, N>,
    Penalty: Law<D, P>,
    PenaltyFlux: NumericalFlux<Penalty, D, P>,
    Outflow: Boundary<Incompressible, D, N> + Boundary<Penalty, D, P>,
{
    let u: Vec<Vec<f64>> = (0..D as u64).map(|d| noise(20 + d)).collect();
    // One number for each element.
    let (mut tau, mut jump) = (vec![0.0; host.len()], vec![0.0; host.len()]);
    for (e, block) in host.blocks_of_unknowns().iter().enumerate() {
        for &i in block {
            tau[i as usize] = [0.5, 1.0, 0.2][e % 3];
            jump[i as usize] = [2.0, 0.7][e % 2];
        }
    }
    let parts: Vec<&[f64]> = u.iter().map(Vec::as_slice).collect();
    let law = Incompressible { viscosity: 1.0 };
    let divergence = residual::<_, _, D, N>(host, (law, ElementwiseFlux), &parts).swap_remove(D);
    let scaled: Vec<f64> = divergence.iter().zip(&tau).map(|(d, tau)| d * tau).collect();
    let inputs: Vec<&[f64]> = parts.into_iter().chain([&scaled[..], &jump[..]]).collect();
    let rates = residual::<_, _, D, P>(host, (Penalty, PenaltyFlux), &inputs);
    let upload = |v: &[f64]| on_device.upload(v).expect("room");
    let on: Vec<CudaVector<T>> = u.iter().map(|u| upload(u)).collect();
    let mut out: Vec<CudaVector<T>> = (0..D).map(|_| upload(&noise(9))).collect();
    let of = [&upload(&tau), &upload(&jump)];
    penalties.apply(on_device, of, -2.0, &on, &mut out).expect("a launch");
    for (d, rate) in rates.iter().take(D).enumerate() {
        let mut wanted = vec![0.0; host.len()];
        host.load_of_residual(rate, &mut wanted);
        // Minus the penalties, which were multiplied by −2.
        wanted.iter_mut().for_each(|v| *v *= 2.0);
        let difference = roundings::<T>(&on_device.download(&out[d]).expect("a result"), &wanted);
        assert!(difference <= 500.0, "{what}: penalties, component {d}: {difference:.1} roundings");
    }
}
