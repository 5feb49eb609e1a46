//! Conjugate gradients: known solutions and rates, determinism, and every way to fail.
#![expect(clippy::unwrap_used, reason = "a failed preparation fails the test")]

use dgsuite_amg::{
    Csr, Identity, Jacobi, LinearOperator, Pcg, Preconditioner, Reference, Solution, SolveError, Stop,
    gallery,
};
use dgsuite_gpu::{Backend, Host, HostVector, Vector};
use proptest::prelude::*;

type V = HostVector<f64>;

fn solve(host: &Host, a: &Csr<f64>, b: &[f64], stop: &Stop) -> (Result<Solution, SolveError>, V) {
    let b = host.upload(b).unwrap();
    let mut x = b.zeros_like().unwrap();
    let result = Pcg::new(&b).unwrap().solve(a, &mut Identity, &b, &mut x, stop);
    (result, x)
}

fn product(a: &Csr<f64>, x: &[f64]) -> Vec<f64> {
    (0..a.n_rows()).map(|i| a.row(i).map(|(j, value)| value * x[j]).sum()).collect()
}

fn tight() -> Stop {
    Stop { relative: 1e-12, max_iterations: 5_000, ..Stop::default() }
}

#[test]
fn an_eigenvector_takes_one_iteration() {
    let host = Host::new(1).unwrap();
    let n = 50;
    let a = gallery::poisson_1d(n).unwrap();
    for k in [1, 7, 50] {
        let pi = std::f64::consts::PI;
        let v: Vec<f64> = (1..=n).map(|i| ((k * i) as f64 * pi / (n + 1) as f64).sin()).collect();
        let (result, x) = solve(&host, &a, &v, &Stop::default());
        assert_eq!(result.unwrap().iterations, 1);
        let eigenvalue = gallery::poisson_1d_eigenvalue(n, k);
        assert!(x.iter().zip(&v).all(|(x, v)| (x - v / eigenvalue).abs() < 1e-9 / eigenvalue));
    }
}

/// `‖x − x_k‖_A ≤ 2 ((√κ − 1) / (√κ + 1))^k ‖x − x_0‖_A` (Saad 2003, eq. 6.128).
#[test]
fn errors_fall_at_least_at_the_chebyshev_rate() {
    let host = Host::new(1).unwrap();
    let n = 24;
    let a = gallery::poisson_2d(n, n, 1.0).unwrap();
    let root = (gallery::poisson_1d_eigenvalue(n, n) / gallery::poisson_1d_eigenvalue(n, 1)).sqrt();
    let exact: Vec<f64> = (0..n * n).map(|i| ((i * i * 7 + 3 * i) % 23) as f64 / 11.0 - 1.0).collect();
    let b = product(&a, &exact);
    let energy = |x: &[f64]| {
        let e: Vec<f64> = x.iter().zip(&exact).map(|(x, y)| x - y).collect();
        product(&a, &e).iter().zip(&e).map(|(x, y)| x * y).sum::<f64>().sqrt()
    };
    let start = energy(&vec![0.0; n * n]);
    for k in [1, 5, 10, 20, 40] {
        let stop = Stop { relative: 0.0, max_iterations: k, ..Stop::default() };
        let (result, x) = solve(&host, &a, &b, &stop);
        assert!(matches!(result, Err(SolveError::MaxIterations { iterations, .. }) if iterations == k));
        let bound = 2.0 * ((root - 1.0) / (root + 1.0)).powi(k as i32) * start;
        assert!(energy(&x) <= bound, "{k}: {} > {bound}", energy(&x));
    }
}

#[test]
fn jacobi_undoes_a_bad_scaling() {
    let host = Host::new(1).unwrap();
    let n = 30;
    let plain = gallery::poisson_2d(n, n, 1.0).unwrap();
    let scale = |i: usize| 10f64.powi((i % 7) as i32 - 3);
    let entries = (0..n * n).flat_map(|i| plain.row(i).map(move |(j, a)| (i, j, scale(i) * a * scale(j))));
    let scaled = Csr::from_triplets(n * n, n * n, entries.collect::<Vec<_>>()).unwrap();
    let exact: Vec<f64> = (0..n * n).map(|i| (i as f64).sin() / scale(i)).collect();
    let b = host.upload(&product(&scaled, &exact)).unwrap();
    let mut x = b.zeros_like().unwrap();
    let mut pcg = Pcg::new(&b).unwrap();
    let stop = Stop { relative: 1e-10, max_iterations: 200, ..Stop::default() };
    let mut jacobi = Jacobi::new(&host, &scaled).unwrap();
    let with = pcg.solve(&scaled, &mut jacobi, &b, &mut x, &stop).unwrap();
    assert!(x.iter().zip(&exact).all(|(x, e)| (x - e).abs() < 1e-5 * e.abs().max(1.0)));
    x.fill(0.0);
    let without = pcg.solve(&scaled, &mut Identity, &b, &mut x, &stop);
    assert!(with.iterations < 120 && matches!(without, Err(SolveError::MaxIterations { .. })));
}

#[test]
fn threads_and_runs_change_no_bit() {
    let n = 220;
    let a = gallery::poisson_2d(n, n, 0.7).unwrap();
    let b: Vec<f64> = (0..n * n).map(|i| ((i * 31 + i * i) % 17) as f64 - 8.0).collect();
    let stop = Stop { max_iterations: 60, ..Stop::default() };
    let run = |threads| {
        let (result, x) = solve(&Host::new(threads).unwrap(), &a, &b, &stop);
        let history: Vec<u64> = result.unwrap_err().history().iter().map(|r| r.to_bits()).collect();
        (history, x.iter().map(|x| x.to_bits()).collect::<Vec<_>>())
    };
    let one = run(1);
    assert_eq!(one.0.len(), 61);
    assert!(one == run(2) && one == run(3) && one == run(2));
}

#[test]
fn zero_and_exact_guesses_take_no_iteration() {
    let host = Host::new(1).unwrap();
    let a = gallery::poisson_1d(10).unwrap();
    let (result, x) = solve(&host, &a, &[0.0; 10], &Stop::default());
    assert_eq!(result.unwrap().iterations, 0);
    assert_eq!(x.norm_max(), 0.0);
    let exact: Vec<f64> = (0..10).map(f64::from).collect();
    let b = host.upload(&product(&a, &exact)).unwrap();
    let mut x = host.upload(&exact).unwrap();
    let stop = Stop { reference: Reference::RightHandSide, ..Stop::default() };
    let solution = Pcg::new(&b).unwrap().solve(&a, &mut Identity, &b, &mut x, &stop).unwrap();
    assert_eq!((solution.iterations, solution.residuals.len()), (0, 1));
}

#[test]
fn indefinite_and_singular_matrices_are_found_out() {
    let host = Host::new(1).unwrap();
    let indefinite = Csr::from_triplets(2, 2, [(0, 0, 1.0), (1, 1, -3.0)]).unwrap();
    let (result, _) = solve(&host, &indefinite, &[1.0, 1.0], &Stop::default());
    match result {
        Err(SolveError::NotPositiveDefinite { iteration: 1, curvature, history }) => {
            assert!((curvature + 1.0).abs() < 1e-15 && history.len() == 1);
        }
        other => panic!("{other:?}"),
    }
    // The graph Laplacian of two nodes with a right-hand side in its null space.
    let singular = Csr::from_triplets(2, 2, [(0, 0, 1.0), (0, 1, -1.0), (1, 0, -1.0), (1, 1, 1.0)]).unwrap();
    let (result, _) = solve(&host, &singular, &[1.0, 1.0], &Stop::default());
    assert!(matches!(result, Err(SolveError::NotPositiveDefinite { curvature: 0.0, .. })));
}

/// Minus the identity, zero, or NaN: not a valid preconditioner.
struct Times(f64);

impl Preconditioner<V> for Times {
    fn apply(&mut self, r: &V, z: &mut V) {
        z.axpby(self.0, r, 0.0);
    }
}

#[test]
fn bad_preconditioners_and_numbers_are_found_out() {
    let host = Host::new(1).unwrap();
    let a = gallery::poisson_1d(10).unwrap();
    let b = host.upload(&[1.0; 10]).unwrap();
    let mut pcg = Pcg::new(&b).unwrap();
    let mut run =
        |m: f64, b: &V| pcg.solve(&a, &mut Times(m), b, &mut b.zeros_like().unwrap(), &Stop::default());
    assert!(matches!(run(-1.0, &b), Err(SolveError::PreconditionerNotPositive { product: -10.0, .. })));
    assert!(matches!(run(0.0, &b), Err(SolveError::PreconditionerNotPositive { .. })));
    assert!(matches!(run(f64::NAN, &b), Err(SolveError::NotFinite { what: "rᵀM⁻¹r", iteration: 0, .. })));
    let nan = host.upload(&[f64::NAN; 10]).unwrap();
    assert!(matches!(run(1.0, &nan), Err(SolveError::NotFinite { what: "the first residual", .. })));
    // The squares of these numbers are 0 or infinite; the numbers themselves are not.
    for extreme in [1e-200, 1e200] {
        let result = run(1.0, &host.upload(&[extreme; 10]).unwrap());
        assert!(matches!(result, Err(SolveError::Range { size, .. }) if size == extreme), "{result:?}");
    }
    assert_eq!(run(1.0, &host.upload(&[0.0; 10]).unwrap()).unwrap().iterations, 0);
    let spent = Stop { max_iterations: 0, ..Stop::default() };
    let result = pcg.solve(&a, &mut Identity, &b, &mut b.zeros_like().unwrap(), &spent);
    assert!(matches!(result, Err(SolveError::MaxIterations { iterations: 0, .. })));
}

/// With a fixed preconditioner the flexible method equals the plain one. With one that changes it keeps its
/// rate, and the plain method does not.
#[test]
fn the_flexible_method_bears_a_preconditioner_that_changes() {
    let host = Host::new(1).unwrap();
    let a = gallery::poisson_2d(40, 40, 1.0).unwrap();
    let b = host.upload(&(0..1600).map(|i| (i as f64).sin()).collect::<Vec<_>>()).unwrap();
    let count = |flexible: bool, wobble: f64| {
        let pcg = Pcg::new(&b).unwrap();
        let mut pcg = if flexible { pcg.flexible() } else { pcg };
        let mut m = Wobbling { size: wobble, calls: 0 };
        pcg.solve(&a, &mut m, &b, &mut b.zeros_like().unwrap(), &Stop::default()).map(|s| s.iterations)
    };
    let plain = count(false, 0.0).unwrap();
    assert!(count(true, 0.0).unwrap().abs_diff(plain) <= 1);
    let flexible = count(true, 0.3).unwrap();
    assert!(flexible < 400 && count(false, 0.3).is_err(), "{plain} {flexible}");
}

/// A diagonal that differs from call to call.
struct Wobbling {
    size: f64,
    calls: usize,
}

impl Preconditioner<V> for Wobbling {
    fn apply(&mut self, r: &V, z: &mut V) {
        self.calls += 1;
        let (size, calls) = (self.size, self.calls);
        for (i, (z, r)) in z.iter_mut().zip(r.iter()).enumerate() {
            *z = r * (1.0 + size * ((i * calls) as f64).sin());
        }
    }
}

#[test]
fn a_mean_that_nothing_meets_is_left_out() {
    let host = Host::new(1).unwrap();
    let a = gallery::random_graph(60, 2, 0.0, 5).unwrap();
    let b = host.upload(&(0..60).map(f64::from).collect::<Vec<_>>()).unwrap();
    let mut x = b.zeros_like().unwrap();
    let stop = Stop { reference: Reference::RightHandSide, ..tight() };
    let mut pcg = Pcg::new(&b).unwrap().without_mean().unwrap();
    let solution = pcg.solve(&a, &mut Identity, &b, &mut x, &stop).unwrap();
    assert!(solution.true_residual <= solution.target);
    let ax = product(&a, &x);
    assert!(ax.iter().zip(b.iter()).all(|(ax, b)| (ax - (b - 29.5)).abs() < 1e-8));
    assert!(x.sum().abs() < 1e-10);
    let with = Pcg::new(&b).unwrap().solve(&a, &mut Identity, &b, &mut b.zeros_like().unwrap(), &stop);
    assert!(with.is_err());
}

/// A rotation with growth: `pᵀAp > 0`, but conjugate gradients diverge.
#[test]
fn divergence_is_called_so() {
    let host = Host::new(1).unwrap();
    let t = 1e13;
    let a = Csr::from_triplets(2, 2, [(0, 0, 1.0), (0, 1, -t), (1, 0, t), (1, 1, 1.0)]).unwrap();
    let (result, _) = solve(&host, &a, &[1.0, 0.0], &Stop::default());
    match result {
        Err(SolveError::Diverged { iteration: 1, history, .. }) => assert_eq!(history.len(), 2),
        other => panic!("{other:?}"),
    }
}

/// No solver reaches a residual below the rounding of `b − A x`; the error reports the true residual.
#[test]
fn what_rounding_forbids_is_stagnation() {
    let host = Host::new(1).unwrap();
    let n = 2_000;
    let a = gallery::poisson_1d(n).unwrap();
    let b: Vec<f64> = (0..n).map(|i| (i as f64).cos()).collect();
    let stop = Stop { relative: 1e-18, max_iterations: 100_000, ..Stop::default() };
    match solve(&host, &a, &b, &stop).0 {
        Err(SolveError::Stagnated { residual, target, history, .. }) => {
            assert!(residual > target && history.last().unwrap() <= &target);
            assert!(residual < 1e-8 * history[0]);
        }
        other => panic!("{:?}", other.map(|s| (s.iterations, s.true_residual)).map_err(|e| e.to_string())),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, failure_persistence: None, ..ProptestConfig::default() })]

    /// Random weighted graphs plus a positive diagonal: symmetric M-matrices.
    #[test]
    fn random_m_matrices_are_solved(
        n in 2usize..120,
        edges in prop::collection::vec((0usize..1000, 0usize..1000, 0.01f64..10.0), 1..400),
        shift in 0.01..2.0,
        seed in prop::collection::vec(-1.0..1.0, 120),
    ) {
        let host = Host::new(2).unwrap();
        let mut entries: Vec<(usize, usize, f64)> = (0..n).map(|i| (i, i, shift)).collect();
        for (i, j, weight) in edges {
            let (i, j) = (i % n, j % n);
            if i != j {
                entries.extend([(i, j, -weight), (j, i, -weight), (i, i, weight), (j, j, weight)]);
            }
        }
        let a = Csr::from_triplets(n, n, entries).unwrap();
        prop_assert!(a.require_symmetric(1e-15).is_ok());
        let exact = &seed[..n];
        let b = host.upload(&product(&a, exact)).unwrap();
        let mut pcg = Pcg::new(&b).unwrap();
        let mut jacobi = Jacobi::new(&host, &a).unwrap();
        for which in 0..2 {
            let mut x = b.zeros_like().unwrap();
            let solved = if which == 0 {
                pcg.solve(&a, &mut Identity, &b, &mut x, &tight())
            } else {
                pcg.solve(&a, &mut jacobi, &b, &mut x, &tight())
            };
            let solution = solved.unwrap();
            prop_assert!(solution.true_residual <= solution.target);
            prop_assert_eq!(solution.residuals.len(), solution.iterations + 1);
            // ‖x − x*‖ ≤ ‖r‖ / λ_min, and λ_min ≥ shift.
            let error = x.iter().zip(exact).map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt();
            prop_assert!(error <= 1.01 * solution.true_residual / shift + 1e-13 * b.norm2() / shift);
        }
    }

    #[test]
    fn products_equal_the_dense_ones(
        n in 1usize..30, m in 1usize..30, raw in prop::collection::vec((0usize..100, 0usize..100, -1.0..1.0), 0..200),
    ) {
        let host = Host::new(1).unwrap();
        let entries: Vec<_> = raw.into_iter().map(|(i, j, a)| (i % n, j % m, a)).collect();
        let a = Csr::from_triplets(n, m, entries.clone()).unwrap();
        let x: Vec<f64> = (0..m).map(|j| (j as f64 + 0.5).sin()).collect();
        let mut dense = vec![0.0; n];
        for (i, j, value) in entries {
            dense[i] += value * x[j];
        }
        let x = host.upload(&x).unwrap();
        let mut y = host.zeros(n).unwrap();
        a.apply(&x, &mut y);
        prop_assert!(y.iter().zip(&dense).all(|(y, d)| (y - d).abs() < 1e-13));
        prop_assert!((0..n).all(|i| (0..m).all(|j| a.get(i, j) == a.transpose().get(j, i))));
    }
}
