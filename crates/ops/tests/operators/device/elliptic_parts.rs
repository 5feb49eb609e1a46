//! A changed λ and the mass matrix of the interior penalty operator give the same results on device and host.

use dgsuite_gpu::Scalar;
use dgsuite_ops::Sipdg;
use dgsuite_ops::cuda::CudaSipdg;

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
