//! `solve`: known solutions, random matrices, every size from zero on, and each error.

use std::error::Error;

use dgsuite_amg::{AmgError, Csr, MatrixError, SolveError, SystemError, gallery, solve, sprs};
use proptest::prelude::*;

fn product(a: &Csr<f64>, x: &[f64]) -> Vec<f64> {
    (0..a.n_rows()).map(|i| a.row(i).map(|(j, value)| value * x[j]).sum()).collect()
}

/// The matrix of `−u″ = 1` with `u = 0` at both ends has the solution `i (n + 1 − i) / 2`.
#[test]
fn the_parabola_is_found() {
    for n in [0, 1, 2, 3, 50, 1000] {
        let a = gallery::poisson_1d(n).unwrap();
        let b = vec![1.0; n];
        let solved = solve(&a, &b).unwrap();
        let exact = |i: usize| 0.5 * ((i + 1) * (n - i)) as f64;
        // λ_min ≥ 8 / (n + 1)², so that errors are at most (n + 1)² / 8 of the residual.
        let most = 1e-12 + solved.residual * ((n + 1) * (n + 1)) as f64 / 8.0;
        assert!(solved.x.iter().enumerate().all(|(i, x)| (x - exact(i)).abs() <= most), "{n}");
    }
}

#[test]
fn a_zero_right_hand_side_takes_no_iteration() {
    let a = gallery::poisson_2d(30, 20, 1.0).unwrap();
    let solved = solve(&a, &[0.0; 600]).unwrap();
    assert_eq!((solved.iterations, solved.residual), (0, 0.0));
    assert!(solved.x.iter().all(|&x| x == 0.0));
}

#[test]
fn each_fault_is_an_error_with_its_reason() {
    let message = |a: &Csr<f64>, b: &[f64]| {
        let error = solve(a, b).unwrap_err();
        let source = error.source().and_then(|e| e.source().or(Some(e))).map(ToString::to_string);
        (error, source.unwrap_or_default())
    };
    let poisson = gallery::poisson_1d(3).unwrap();
    let (short, _) = message(&poisson, &[1.0; 2]);
    assert!(matches!(short, SystemError::Length { entries: 2, rows: 3 }));
    assert_eq!(short.to_string(), "the right-hand side has 2 entries, but the matrix has 3 rows");
    let (nan, _) = message(&poisson, &[1.0, f64::NAN, 0.0]);
    assert!(matches!(nan, SystemError::Solve { source: SolveError::NotFinite { .. } }));
    let lopsided = Csr::from_triplets(2, 2, [(0, 0, 2.0), (1, 1, 2.0), (0, 1, 1.0)]).unwrap();
    let (error, reason) = message(&lopsided, &[1.0; 2]);
    assert!(matches!(error, SystemError::Setup { source: AmgError::Matrix { .. } }));
    assert!(reason.starts_with("not symmetric: entry (1, 2)"), "{reason}");
    let neumann = gallery::diffusion_2d(5, 5, false, |_, _| 1.0).unwrap();
    let (error, _) = message(&neumann, &[1.0; 25]);
    assert!(matches!(error, SystemError::Setup { source: AmgError::Singular { .. } }));
}

#[test]
fn matrices_of_sprs_are_converted() {
    let mut triplets = sprs::TriMat::new((2, 2));
    for (row, col, value) in [(0, 0, 2.0), (0, 1, 1.0), (1, 0, 1.0), (1, 1, 2.0)] {
        triplets.add_triplet(row, col, value);
    }
    let matrix: sprs::CsMat<f64> = triplets.to_csc();
    let a: Csr<f64> = matrix.try_into().unwrap();
    let x = solve(&a, &[3.0, 3.0]).unwrap().x;
    assert!(x.iter().all(|x| (x - 1.0).abs() < 1e-8));
    let mut triplets = sprs::TriMat::new((1, 1));
    triplets.add_triplet(0, 0, f64::NAN);
    let refused = Csr::try_from(triplets.to_csr::<usize>());
    assert!(matches!(refused, Err(MatrixError::NotFinite { row: 0, col: 0, .. })));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, failure_persistence: None, ..ProptestConfig::default() })]

    /// Random weighted graphs plus a positive diagonal: `λ_min ≥ shift` bounds the error by the residual.
    #[test]
    fn random_m_matrices_are_solved_to_the_tolerance(
        n in 1usize..600,
        edges in prop::collection::vec((0usize..1000, 0usize..1000, 0.01f64..10.0), 1..1500),
        shift in 0.01..2.0,
        seed in prop::collection::vec(-1.0..1.0, 600),
    ) {
        let mut entries: Vec<(usize, usize, f64)> = (0..n).map(|i| (i, i, shift)).collect();
        for (i, j, weight) in edges {
            let (i, j) = (i % n, j % n);
            if i != j {
                entries.extend([(i, j, -weight), (j, i, -weight), (i, i, weight), (j, j, weight)]);
            }
        }
        let a = Csr::from_triplets(n, n, entries).unwrap();
        let exact = &seed[..n];
        let b = product(&a, exact);
        let norm = |v: &mut dyn Iterator<Item = f64>| v.map(|x| x * x).sum::<f64>().sqrt();
        // A row has at most 600 entries, and 600·2⁻⁵³ < 1e-13: rounding of a product, which may be all of a
        // small system's residual.
        let rounding = |x: &[f64]| {
            let row = |i| a.row(i).map(|(j, value)| (value * x[j]).abs()).sum();
            1e-13 * norm(&mut (0..n).map(row))
        };
        let size = norm(&mut b.iter().copied());
        let solved = solve(&a, &b).unwrap();
        prop_assert!(solved.residual <= 1e-8 * size && solved.iterations <= 60, "{}", solved.iterations);
        let ax = product(&a, &solved.x);
        let residual = norm(&mut b.iter().zip(&ax).map(|(b, ax)| b - ax));
        prop_assert!(residual <= 1.01 * solved.residual + 2.0 * rounding(&solved.x));
        let error = norm(&mut solved.x.iter().zip(exact).map(|(x, e)| x - e));
        prop_assert!(error <= (1.01 * residual + rounding(exact) + rounding(&solved.x)) / shift);
    }
}
