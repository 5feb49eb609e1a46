//! Vector arithmetic on the CPU: the same bits for any number of threads and any SIMD level, and agreement
//! with plain sums.
#![allow(clippy::unwrap_used)]

use std::sync::LazyLock;

use dgsuite_gpu::{ALIGNMENT, Backend, Buffer, Host, HostVector, Scalar, SimdLevel, Vector};
use proptest::prelude::*;

/// Hosts of each kind: 1, 2 and 5 threads, each SIMD level of this CPU.
static HOSTS: LazyLock<Vec<Host>> = LazyLock::new(|| {
    SimdLevel::ALL
        .into_iter()
        .filter(|&level| level <= SimdLevel::hardware())
        .flat_map(|level| [1, 2, 5].map(|n| Host::with_simd(n, level).unwrap()))
        .collect()
});

/// Numbers of many magnitudes and both signs, from a seed.
fn numbers(seed: u64, n: usize) -> Vec<f64> {
    let mut state = seed | 1;
    (0..n)
        .map(|_| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            let mantissa = (state >> 11) as f64 / (1u64 << 53) as f64 - 0.5;
            mantissa * f64::powi(10.0, (state % 13) as i32 - 6)
        })
        .collect()
}

/// Every operation, as bits.
fn everything<T: Scalar>(host: &Host, x: &[f64], y: &[f64]) -> (Vec<u64>, [u64; 4]) {
    let convert = |v: &[f64]| v.iter().map(|&a| T::from_f64(a)).collect::<Vec<_>>();
    let x = host.upload(&convert(x)).unwrap();
    let y = host.upload(&convert(y)).unwrap();
    let mut z = x.zeros_like().unwrap();
    z.copy_from(&y);
    z.axpby(0.3, &x, -1.7);
    z.axpby(0.1, &y, 1.0);
    z.lincomb(0.9, &[(1.1, &x), (-0.2, &y), (1e-3, &x)]);
    z.add_product(0.7, &x, &y, 0.4);
    let reductions = [z.dot(&x), z.norm2(), z.norm_max(), z.sum()].map(f64::to_bits);
    (z.iter().map(|a| a.to_f64().to_bits()).collect(), reductions)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn threads_and_instruction_levels_change_no_bit(seed: u64, n in 0usize..200_000) {
        let (x, y) = (numbers(seed, n), numbers(!seed, n));
        let first = everything::<f64>(&HOSTS[0], &x, &y);
        let first_single = everything::<f32>(&HOSTS[0], &x, &y);
        for host in &HOSTS[1..] {
            prop_assert!(first == everything::<f64>(host, &x, &y), "{host:?}");
            prop_assert!(first_single == everything::<f32>(host, &x, &y), "{host:?}");
        }
    }

    #[test]
    fn updates_equal_the_plain_loop(seed: u64, n in 0usize..70_000, a in -2.0..2.0, b in -2.0..2.0) {
        let (x, y) = (numbers(seed, n), numbers(!seed, n));
        let host = HOSTS.last().unwrap();
        let (xv, yv) = (host.upload(&x).unwrap(), host.upload(&y).unwrap());
        let mut z = yv.clone();
        z.axpby(a, &xv, b);
        prop_assert!((0..n).all(|i| z[i] == b * y[i] + a * x[i]));
        z.lincomb(0.0, &[(a, &xv), (b, &yv)]);
        prop_assert!((0..n).all(|i| z[i] == a * x[i] + b * y[i]));
        z.copy_from(&yv);
        z.add_product(a, &xv, &yv, b);
        prop_assert!((0..n).all(|i| z[i] == b * y[i] + a * x[i] * y[i]));
    }

    /// Rounding bounds of Higham, Accuracy and Stability of Numerical Algorithms (2002), §4.2.
    #[test]
    fn reductions_agree_with_naive_sums_within_rounding(seed: u64, n in 0usize..100_000) {
        let (x, y) = (numbers(seed, n), numbers(!seed, n));
        let host = &HOSTS[1];
        let (xv, yv) = (host.upload(&x).unwrap(), host.upload(&y).unwrap());
        let naive: f64 = x.iter().zip(&y).map(|(a, b)| a * b).sum();
        let size: f64 = x.iter().zip(&y).map(|(a, b)| (a * b).abs()).sum();
        prop_assert!((xv.dot(&yv) - naive).abs() <= f64::EPSILON * n as f64 * size);
        let largest = x.iter().fold(0.0f64, |m, a| m.max(a.abs()));
        prop_assert_eq!(xv.norm_max(), largest);
        let squares: f64 = x.iter().map(|a| a * a).sum();
        prop_assert!((xv.norm2() - squares.sqrt()).abs() <= f64::EPSILON * (n as f64 + 2.0) * squares.sqrt());
    }

    /// The sum is exact up to one rounding even if plain summation loses all digits.
    #[test]
    fn sums_survive_cancellation(seed: u64, n in 1usize..20_000, at in 0.0..1.0) {
        let small = numbers(seed, n).iter().map(|a| (a * 1e3).round()).collect::<Vec<_>>();
        let exact: f64 = small.iter().sum();    // integers: no rounding
        let mut x = small;
        let place = (at * n as f64) as usize;
        x.insert(place, 1e18);
        x.push(-1e18);
        for host in HOSTS.iter() {
            prop_assert_eq!(host.upload(&x).unwrap().sum(), exact);
        }
    }

    #[test]
    fn buffers_are_aligned_zeroed_and_keep_their_values(n in 0usize..300_000, value: u32) {
        for host in HOSTS.iter().take(2) {
            let mut a = Buffer::<u32>::zeros_on(host, n).unwrap();
            prop_assert_eq!(a.as_ptr() as usize % ALIGNMENT, 0);
            prop_assert!(a.len() == n && a.iter().all(|&x| x == 0));
            a.fill(value);
            let copy = a.clone();
            prop_assert_eq!(copy.as_ptr() as usize % ALIGNMENT, 0);
            prop_assert!(copy == a);
        }
    }
}

#[test]
fn a_vector_can_be_used_from_inside_and_outside_the_pool() {
    let host = Host::new(2).unwrap();
    let x = HostVector::from_slice(&host, &numbers(7, 150_000)).unwrap();
    assert_eq!(host.install(|| x.sum()).to_bits(), x.sum().to_bits());
    let mut out = vec![0.0; x.len()];
    host.download(&x, &mut out).unwrap();
    assert_eq!(out, x.as_slice());
    assert!(host.describe().contains("2 threads"));
}
