//! Generalised minimal residuals: against dense solves, restarts, varying preconditioners, and failures.
#![expect(clippy::unwrap_used, reason = "a failed preparation fails the test")]

use dgsuite_amg::{
    Amg, AmgOptions, Csr, Gmres, Identity, Jacobi, LinearOperator, Pcg, Preconditioner, Reference, Solution,
    SolveError, Stop, gallery,
};
use dgsuite_gpu::{Backend, Host, HostVector, Vector};
use faer::linalg::solvers::Solve;
use proptest::prelude::*;

type V = HostVector<f64>;

fn tight() -> Stop {
    Stop { relative: 1e-12, reference: Reference::RightHandSide, ..Stop::default() }
}

fn solve(a: &Csr<f64>, b: &[f64], restart: usize, stop: &Stop) -> (Result<Solution, SolveError>, V) {
    let host = Host::new(1).unwrap();
    let b = host.upload(b).unwrap();
    let mut x = b.zeros_like().unwrap();
    let result = Gmres::new(&b, restart).unwrap().solve(a, &mut Identity, &b, &mut x, stop);
    (result, x)
}

/// Upwind convection with diffusion on `n × n` points.
fn convection(n: usize, wind: f64) -> Csr<f64> {
    let a = gallery::poisson_2d(n, n, 1.0).unwrap();
    let blown = (0..n * n).flat_map(|i| {
        let upwind = (i % n > 0).then(|| (i, i - 1, -wind));
        a.row(i).map(move |(j, v)| (i, j, v)).chain([(i, i, wind)]).chain(upwind).collect::<Vec<_>>()
    });
    Csr::from_triplets(n * n, n * n, blown).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, failure_persistence: None, ..ProptestConfig::default() })]

    /// Random matrices with a dominant diagonal of either sign, so neither symmetric nor definite.
    #[test]
    fn random_matrices_are_solved_as_by_elimination(
        n in 1usize..40,
        raw in prop::collection::vec((0usize..1000, 0usize..1000, -1.0..1.0), 0..200),
        signs in prop::collection::vec(any::<bool>(), 40),
        b in prop::collection::vec(-1.0..1.0, 40),
    ) {
        let mut entries: Vec<(usize, usize, f64)> =
            raw.into_iter().map(|(i, j, v)| (i % n, j % n, v)).filter(|(i, j, _)| i != j).collect();
        for i in 0..n {
            let sum: f64 = entries.iter().filter(|e| e.0 == i).map(|e| e.2.abs()).sum();
            entries.push((i, i, if signs[i] { 0.5 + sum } else { -0.5 - sum }));
        }
        let a = Csr::from_triplets(n, n, entries).unwrap();
        let dense = faer::Mat::from_fn(n, n, |i, j| a.get(i, j));
        let exact = dense.partial_piv_lu().solve(faer::Mat::from_fn(n, 1, |i, _| b[i]));
        let (result, x) = solve(&a, &b[..n], 50, &tight());
        let solution = result.unwrap();
        // In exact arithmetic n directions are enough; rounding may cost another cycle.
        prop_assert!(solution.iterations <= n + 2 && solution.true_residual <= solution.target);
        prop_assert_eq!(solution.residuals.len(), solution.iterations + 1);
        prop_assert!((0..n).all(|i| (x[i] - exact[(i, 0)]).abs() < 1e-10));
    }
}

#[test]
fn residuals_never_grow_and_a_restart_costs_iterations() {
    let a = convection(20, 3.0);
    let b: Vec<f64> = (0..400).map(|i| (i as f64).sin()).collect();
    let run = |restart| solve(&a, &b, restart, &Stop { max_iterations: 400, ..Stop::default() }).0.unwrap();
    let (whole, often) = (run(100), run(8));
    for solution in [&whole, &often] {
        assert!(solution.residuals.windows(2).all(|pair| pair[1] <= pair[0] * (1.0 + 1e-12)));
    }
    assert!(whole.iterations < often.iterations, "{} {}", whole.iterations, often.iterations);
}

/// On symmetric positive definite systems the residual is no larger than that of conjugate gradients in any
/// iteration.
#[test]
fn no_residual_of_conjugate_gradients_is_smaller() {
    let host = Host::new(1).unwrap();
    let a = gallery::poisson_2d(15, 14, 0.5).unwrap();
    let b: Vec<f64> = (0..210).map(|i| 1.0 + (i as f64).cos()).collect();
    let (ours, _) = solve(&a, &b, 100, &Stop::default());
    let b = host.upload(&b).unwrap();
    let theirs =
        Pcg::new(&b).unwrap().solve(&a, &mut Identity, &b, &mut b.zeros_like().unwrap(), &Stop::default());
    let (ours, theirs) = (ours.unwrap(), theirs.unwrap());
    assert!(
        ours.residuals.iter().zip(&theirs.residuals).all(|(ours, theirs)| *ours <= theirs * (1.0 + 1e-10))
    );
}

/// A diagonal that differs from call to call.
struct Wobbling(usize);

impl Preconditioner<V> for Wobbling {
    fn apply(&mut self, r: &V, z: &mut V) {
        self.0 += 1;
        for (i, (z, r)) in z.iter_mut().zip(r.iter()).enumerate() {
            *z = r * (1.0 + 0.5 * ((i * self.0) as f64).sin());
        }
    }
}

#[test]
fn preconditioners_help_and_may_vary() {
    let host = Host::new(1).unwrap();
    let n = 40;
    let a = convection(n, 0.3);
    let b = host.upload(&(0..n * n).map(|i| 0.5 + (i as f64).sin()).collect::<Vec<_>>()).unwrap();
    let mut gmres = Gmres::new(&b, 40).unwrap();
    let mut count = |m: &mut dyn FnMut(&V, &mut V)| {
        struct Closure<'a>(&'a mut dyn FnMut(&V, &mut V));
        impl Preconditioner<V> for Closure<'_> {
            fn apply(&mut self, r: &V, z: &mut V) {
                (self.0)(r, z);
            }
        }
        let mut x = b.zeros_like().unwrap();
        let solution = gmres.solve(&a, &mut Closure(m), &b, &mut x, &Stop::default()).unwrap();
        let mut ax = b.zeros_like().unwrap();
        a.apply(&x, &mut ax);
        ax.axpby(1.0, &b, -1.0);
        assert!(ax.norm2() <= 1e-8 * b.norm2());
        solution.iterations
    };
    // Multigrid of the symmetric part, with a K-cycle, which is not linear.
    let laplacian = gallery::poisson_2d(n, n, 1.0).unwrap();
    let mut amg = Amg::new(&host, &laplacian, &AmgOptions::default()).unwrap();
    let mut jacobi = Jacobi::new(&host, &a).unwrap();
    let mut wobbling = Wobbling(0);
    let [plain, with_amg, varying] = [
        count(&mut |r, z| jacobi.apply(r, z)),
        count(&mut |r, z| amg.apply(r, z)),
        count(&mut |r, z| wobbling.apply(r, z)),
    ];
    assert!(
        with_amg < 40 && 3 * with_amg < plain && varying < 2 * plain + 100,
        "{plain} {with_amg} {varying}"
    );
}

#[test]
fn failures_are_typed() {
    // A cyclic shift: the residual does not decrease before the last direction.
    let shift = Csr::from_triplets(10, 10, (0..10).map(|i| (i, (i + 1) % 10, 1.0))).unwrap();
    let mut b = [0.0; 10];
    b[3] = 1.0;
    assert_eq!(solve(&shift, &b, 10, &tight()).0.unwrap().iterations, 10);
    match solve(&shift, &b, 9, &tight()).0 {
        Err(SolveError::Stagnated { iterations: 9, residual, history, .. }) => {
            assert!((residual - 1.0).abs() < 1e-15 && history.len() == 10);
        }
        other => panic!("{other:?}"),
    }
    let spent = solve(&shift, &b, 10, &Stop { max_iterations: 4, ..tight() }).0;
    assert!(matches!(spent, Err(SolveError::MaxIterations { iterations: 4, .. })), "{spent:?}");
    // Singular, with a right-hand side outside of the range, and with one inside.
    let singular = Csr::from_triplets(2, 2, [(0, 0, 1.0), (0, 1, -1.0), (1, 0, -1.0), (1, 1, 1.0)]).unwrap();
    assert!(matches!(solve(&singular, &[1.0, 1.0], 5, &tight()).0, Err(SolveError::Stagnated { .. })));
    assert!(solve(&singular, &[1.0, -1.0], 5, &tight()).0.is_ok());
    let zero = Csr::from_triplets(2, 2, []).unwrap();
    assert!(matches!(solve(&zero, &[1.0, 1.0], 5, &tight()).0, Err(SolveError::Stagnated { .. })));
    let nan = solve(&shift, &[f64::NAN; 10], 5, &tight()).0;
    assert!(matches!(nan, Err(SolveError::NotFinite { what: "the first residual", iteration: 0, .. })));
    let tiny = solve(&shift, &[1e-200; 10], 5, &tight()).0;
    assert!(matches!(tiny, Err(SolveError::Range { size: 1e-200, .. })), "{tiny:?}");
    assert_eq!(solve(&shift, &[0.0; 10], 5, &tight()).0.unwrap().iterations, 0);
}
