//! Turbulence of random waves: its spectrum, divergence and period.

use std::f64::consts::TAU;

use dgsuite_physics::exact::RandomWaves;
use proptest::prelude::*;

/// The number of values along a direction; more than twice the largest number of waves.
const N: usize = 14;

/// Values at the points of a lattice, `[point][component]`.
fn at_lattice(field: &RandomWaves, dim: usize, periods: [f64; 3]) -> Vec<[f64; 3]> {
    let along = |d: usize, i: usize| periods[d] * (i as f64 / N as f64 - 0.3);
    let third = if dim == 3 { N } else { 1 };
    let all = (0..N * N * third).map(|i| [along(0, i % N), along(1, i / N % N), along(2, i / N / N)]);
    let mut out = <[Vec<f64>; 3]>::default();
    field.eval(&all.collect::<Vec<_>>(), &mut out);
    (0..out[0].len()).map(|i| [out[0][i], out[1][i], out[2][i]]).collect()
}

/// The coefficients of waves `m`, real and imaginary part by component.
fn coefficient(values: &[[f64; 3]], m: [i64; 3]) -> [[f64; 2]; 3] {
    let mut sum = [[0.0; 2]; 3];
    for (i, u) in values.iter().enumerate() {
        let at = [i % N, i / N % N, i / N / N];
        let turns: i64 = (0..3).map(|d| m[d] * at[d] as i64).sum();
        let (sin, cos) = (-TAU * turns.rem_euclid(N as i64) as f64 / N as f64).sin_cos();
        for (sum, u) in sum.iter_mut().zip(u) {
            sum[0] += u * cos / values.len() as f64;
            sum[1] += u * sin / values.len() as f64;
        }
    }
    sum
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(6))]

    #[test]
    fn waves_have_the_prescribed_spectrum_and_no_divergence(
        dim in 2_usize..=3,
        sizes in prop::array::uniform3(0.6_f64..1.0),
        spectrum in prop::collection::vec(0.1_f64..2.0, 3),
        seed in any::<u64>(),
    ) {
        // One period is the longest, with the most waves.
        let periods = [2.0, 2.0 * sizes[1], 2.0 * sizes[2]];
        let waves = RandomWaves::new(dim, periods, &spectrum, seed);
        let values = at_lattice(&waves, dim, periods);
        let kappa = TAU / 2.0;
        let mut found = [0.0; 7];
        let most = (N / 2 - 1) as i64;
        let third = if dim == 3 { most } else { 0 };
        for i in -most..=most {
            for j in -most..=most {
                for k in -third..=third {
                    let u = coefficient(&values, [i, j, k]);
                    let wave: [f64; 3] =
                        std::array::from_fn(|d| TAU * [i, j, k][d] as f64 / periods[d]);
                    let length = wave.iter().map(|k| k * k).sum::<f64>().sqrt();
                    let square: f64 = u.iter().flatten().map(|x| x * x).sum();
                    let n = ((length / kappa).round() as usize).min(6);
                    found[n] += 0.5 * square;
                    // û ⊥ k.
                    for part in 0..2 {
                        let along: f64 = (0..3).map(|d| wave[d] * u[d][part]).sum();
                        prop_assert!(along.abs() < 1e-10 * (1.0 + length), "{along}");
                    }
                }
            }
        }
        for (n, found) in found.iter().enumerate() {
            let expected = if (1..=3).contains(&n) { spectrum[n - 1] * kappa } else { 0.0 };
            prop_assert!((found - expected).abs() < 1e-9, "shell {n}: {found} {expected}");
        }
        if dim == 2 {
            prop_assert!(values.iter().all(|u| u[2] == 0.0));
        }
    }

    #[test]
    fn waves_are_a_function_of_the_place_with_the_periods_of_the_box(
        points in prop::collection::vec(prop::array::uniform3(-3.0_f64..3.0), 12),
        seed in any::<u64>(),
    ) {
        let periods = [2.0, 1.5, 3.0];
        let waves = RandomWaves::new(3, periods, &[1.0, 0.5, 0.2], seed);
        let eval = |points: &[[f64; 3]]| {
            let mut out = <[Vec<f64>; 3]>::default();
            waves.eval(points, &mut out);
            (0..points.len()).map(|i| [out[0][i], out[1][i], out[2][i]]).collect::<Vec<_>>()
        };
        let all = eval(&points);
        prop_assert!(all.iter().flatten().all(|u| u.is_finite()));
        for (x, u) in points.iter().zip(&all) {
            // The same bits alone and among others.
            prop_assert_eq!(&eval(&[*x])[0], u);
            let moved = [x[0] + 2.0 * periods[0], x[1] - periods[1], x[2] + periods[2]];
            for (a, b) in eval(&[moved])[0].iter().zip(u) {
                prop_assert!((a - b).abs() < 1e-9, "{a} {b}");
            }
        }
        let others = RandomWaves::new(3, periods, &[1.0, 0.5, 0.2], seed ^ 1);
        prop_assert!(others != waves);
    }
}
