//! Multigrid over given levels: symmetry, rates that do not depend on the mesh, determinism, refused input.
#![expect(clippy::unwrap_used, reason = "a failed preparation fails the test")]

use dgsuite_amg::{
    Amg, AmgError, AmgOptions, CoarseSpec, Csr, InSingle, Interpolation, Jacobi, LevelSmoother, LevelSpec,
    LinearOperator, Multigrid, Pcg, Preconditioner, Reference, Smoother, Stop, gallery,
};
use dgsuite_gpu::{Backend, Host, HostVector, Scalar, Vector};

type V<T> = HostVector<T>;

/// Inverses of diagonal blocks of two rows.
struct Pairs<T>(Vec<[T; 3]>);

impl<T: Scalar> Pairs<T> {
    fn new(a: &Csr<T>) -> Self {
        let block = |k: usize| {
            let (i, j) = (2 * k, (2 * k + 1).min(a.n_rows() - 1));
            let (p, q, s) = (a.get(i, i), a.get(i, j), a.get(j, j));
            if i == j { [T::ONE / p, T::ZERO, T::ZERO] } else { [s, -q, p].map(|c| c / (p * s - q * q)) }
        };
        Self((0..a.n_rows().div_ceil(2)).map(block).collect())
    }
}

impl<T: Scalar> Preconditioner<V<T>> for Pairs<T> {
    fn apply(&mut self, r: &V<T>, z: &mut V<T>) {
        for ((z, r), [p, q, s]) in z.chunks_mut(2).zip(r.chunks(2)).zip(&self.0) {
            let (r0, r1) = (r[0], r.get(1).copied().unwrap_or(T::ZERO));
            z[0] = *p * r0 + *q * r1;
            if let Some(z) = z.get_mut(1) {
                *z = *q * r0 + *s * r1;
            }
        }
    }
}

/// Linear interpolation from `n` points to `2 n + 1`.
fn line(n: usize) -> Vec<(usize, usize, f64)> {
    (0..n).flat_map(|k| [(2 * k, k, 0.5), (2 * k + 1, k, 1.0), (2 * k + 2, k, 0.5)]).collect()
}

/// The five-point stencil on `n × n` points. It does not depend on the mesh size, so that coarser grids have
/// it too.
fn grid<T: Scalar>(n: usize) -> Csr<T> {
    let a = gallery::poisson_2d(n, n, 1.0).unwrap();
    convert(&a)
}

fn convert<T: Scalar>(a: &Csr<f64>) -> Csr<T> {
    let entries = (0..a.n_rows()).flat_map(|i| a.row(i).map(move |(j, v)| (i, j, T::from_f64(v))));
    Csr::from_triplets(a.n_rows(), a.n_cols(), entries.collect::<Vec<_>>()).unwrap()
}

/// A hierarchy of grids of `2^k − 1` points a side, from `fine` down to 3.
fn hierarchy<T: Scalar>(host: &Host, fine: usize, polynomial: Smoother, blocks: bool) -> Multigrid<V<T>>
where
    Amg<T>: Preconditioner<V<T>>,
{
    let mut levels = Vec::new();
    let mut n = fine;
    while n > 3 {
        let (a, m) = (grid::<T>(n), n / 2);
        let (rows, columns) = (line(m), line(m));
        let p = rows.iter().flat_map(|&(j, l, v)| {
            columns.iter().map(move |&(i, k, w)| (i + n * j, k + m * l, T::from_f64(v * w)))
        });
        let p = Csr::from_triplets(n * n, m * m, p).unwrap();
        let inverse: Box<dyn Preconditioner<V<T>> + Send> =
            if blocks { Box::new(Pairs::new(&a)) } else { Box::new(Jacobi::new(host, &a).unwrap()) };
        levels.push(LevelSpec {
            name: format!("{n} x {n}"),
            operator: Box::new(a),
            smoother: LevelSmoother { polynomial, inverse },
            transfer: Box::new(Interpolation::new(p)),
            bytes: Some(1000 * n),
            start: None,
        });
        n = m;
    }
    let solver = Box::new(Amg::in_double(host, &grid(n), &AmgOptions::default()).unwrap());
    let coarse = CoarseSpec { name: "coarse".to_owned(), n_rows: n * n, solver, bytes: None };
    Multigrid::new(host, levels, coarse).unwrap()
}

fn right_hand_side(host: &Host, n: usize) -> V<f64> {
    host.upload(&(0..n).map(|i| 0.5 + (i as f64).sin()).collect::<Vec<_>>()).unwrap()
}

fn iterations(host: &Host, n: usize, m: &mut impl Preconditioner<V<f64>>) -> usize {
    let (a, b) = (grid::<f64>(n), right_hand_side(host, n * n));
    let stop = Stop { reference: Reference::RightHandSide, max_iterations: 60, ..Stop::default() };
    let mut x = b.zeros_like().unwrap();
    Pcg::new(&b).unwrap().solve(&a, m, &b, &mut x, &stop).unwrap().iterations
}

const SMOOTHERS: [Smoother; 3] =
    [Smoother::CHEBYSHEV, Smoother::ChebyshevFourth { degree: 2 }, Smoother::Jacobi { sweeps: 1 }];

#[test]
fn iterations_do_not_grow_with_the_mesh() {
    let host = Host::new(2).unwrap();
    for polynomial in SMOOTHERS {
        for blocks in [false, true] {
            let counts = [31, 127, 255]
                .map(|n| iterations(&host, n, &mut hierarchy::<f64>(&host, n, polynomial, blocks)));
            assert!(counts[2] <= counts[0] + 2 && counts[2] <= 14, "{polynomial:?} {blocks}: {counts:?}");
        }
    }
}

#[test]
fn a_cycle_is_symmetric_and_positive() {
    let host = Host::new(1).unwrap();
    let n = 31;
    let vector = |seed: usize| {
        host.upload(
            &(0..n * n).map(|i| (((i + seed) * (i + 7 * seed)) % 101) as f64 - 50.0).collect::<Vec<_>>(),
        )
        .unwrap()
    };
    let (u, v) = (vector(3), vector(11));
    for polynomial in SMOOTHERS {
        for blocks in [false, true] {
            let mut multigrid = hierarchy::<f64>(&host, n, polynomial, blocks);
            let mut apply = |r: &V<f64>| {
                let mut z = r.zeros_like().unwrap();
                multigrid.apply(r, &mut z);
                z
            };
            let (mu, mv) = (apply(&u), apply(&v));
            assert!(
                (mu.dot(&v) - mv.dot(&u)).abs() < 1e-13 * mu.norm2() * v.norm2(),
                "{polynomial:?} {blocks}"
            );
            assert!(mu.dot(&u) > 0.0 && mv.dot(&v) > 0.0);
            // The same on every call: a cycle leaves no state behind for the next one.
            assert!(apply(&u).iter().zip(mu.iter()).all(|(a, b)| a == b));
        }
    }
}

#[test]
fn threads_change_no_bit() {
    let run = |threads| {
        let host = Host::new(threads).unwrap();
        let mut multigrid = hierarchy::<f64>(&host, 255, Smoother::CHEBYSHEV, false);
        let r = right_hand_side(&host, 255 * 255);
        let mut z = r.zeros_like().unwrap();
        multigrid.apply(&r, &mut z);
        (multigrid.summary().clone(), z.iter().map(|z| z.to_bits()).collect::<Vec<_>>())
    };
    let one = run(1);
    assert!(one == run(2) && one == run(3));
}

#[test]
fn single_precision_serves_a_solve_in_double_precision() {
    let host = Host::new(1).unwrap();
    let double = iterations(&host, 127, &mut hierarchy::<f64>(&host, 127, Smoother::CHEBYSHEV, true));
    let single = hierarchy::<f32>(&host, 127, Smoother::CHEBYSHEV, true);
    let mut single = InSingle::new(&host, 127 * 127, single).unwrap();
    assert!(iterations(&host, 127, &mut single) <= double + 1);
    assert!(single.inner().summary().levels[0].vectors == 4 * (3 * 127 * 127 + 2 * 63 * 63));
}

#[test]
fn the_table_counts_rows_bytes_and_applications() {
    let host = Host::new(1).unwrap();
    let multigrid = hierarchy::<f64>(&host, 31, Smoother::CHEBYSHEV, false);
    let summary = multigrid.summary();
    let rows: Vec<usize> = summary.levels.iter().map(|level| level.rows).collect();
    assert_eq!(rows, [31 * 31, 15 * 15, 7 * 7, 9]);
    let vectors: usize = rows.windows(2).map(|pair| 8 * (3 * pair[0] + 2 * pair[1])).sum();
    assert_eq!(summary.bytes(), vectors + 1000 * (31 + 15 + 7));
    assert!((summary.work() - 4.0 * (961.0 + 225.0 + 49.0) / 961.0).abs() < 1e-12);
    assert!(summary.levels[0].largest.unwrap() > 1.95 && summary.levels[0].largest.unwrap() < 2.2);
    let text = summary.to_string();
    assert!(
        text.lines().count() == 6
            && text.contains("31 x 31")
            && text.ends_with("5.14 applications of the finest operator"),
        "{text}"
    );
    // The count equals the applications that are made: 4 on the finest level.
    struct Counting(Csr<f64>, std::sync::Arc<std::sync::atomic::AtomicUsize>);
    impl LinearOperator<V<f64>> for Counting {
        fn n_rows(&self) -> usize {
            self.0.n_rows()
        }
        fn apply(&self, x: &V<f64>, y: &mut V<f64>) {
            self.1.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
            self.0.apply(x, y);
        }
    }
    let count = std::sync::Arc::default();
    let a = grid::<f64>(3);
    let p = Csr::from_triplets(9, 1, [(4, 0, 1.0)]).unwrap();
    let level = LevelSpec {
        name: "fine".to_owned(),
        operator: Box::new(Counting(a.clone(), std::sync::Arc::clone(&count))),
        smoother: LevelSmoother { polynomial: Smoother::CHEBYSHEV, inverse: Box::new(Pairs::new(&a)) },
        transfer: Box::new(Interpolation::new(p)),
        bytes: None,
        start: None,
    };
    let inverse = host.upload(&[0.25]).unwrap();
    let solver = Box::new(Jacobi::from_inverse_diagonal(inverse));
    let coarse = CoarseSpec { name: "one".to_owned(), n_rows: 1, solver, bytes: None };
    let mut small = Multigrid::new(&host, vec![level], coarse).unwrap();
    count.store(0, std::sync::atomic::Ordering::Relaxed);
    let r = right_hand_side(&host, 9);
    small.apply(&r, &mut r.zeros_like().unwrap());
    assert_eq!(count.load(std::sync::atomic::Ordering::Relaxed), small.summary().levels[0].applications);
}

#[test]
fn levels_that_are_not_positive_are_named() {
    let host = Host::new(1).unwrap();
    let build = |a: Csr<f64>, polynomial, scale: f64| {
        let inverse = Box::new(Jacobi::from_inverse_diagonal(host.upload(&[scale; 9]).unwrap()));
        let level = LevelSpec {
            name: "p = 2".to_owned(),
            operator: Box::new(a),
            smoother: LevelSmoother { polynomial, inverse },
            transfer: Box::new(Interpolation::new(Csr::from_triplets(9, 1, [(4, 0, 1.0)]).unwrap())),
            bytes: None,
            start: None,
        };
        let solver = Box::new(dgsuite_amg::Identity);
        let coarse = CoarseSpec { name: "one".to_owned(), n_rows: 1, solver, bytes: None };
        Multigrid::new(&host, vec![level], coarse).map(|_| ())
    };
    build(grid(3), Smoother::CHEBYSHEV, 0.25).unwrap();
    let degree = build(grid(3), Smoother::Chebyshev { degree: 0, ratio: 4.0 }, 0.25);
    assert!(matches!(degree, Err(AmgError::OptionOutOfRange { option: "degree", .. })));
    for bad in [-0.25, f64::NAN, 0.0] {
        match build(grid(3), Smoother::CHEBYSHEV, bad) {
            Err(AmgError::SmootherNotPositive { level, rows: 9 }) => assert_eq!(level, "p = 2"),
            other => panic!("{bad}: {other:?}"),
        }
    }
}

/// Sums that cancel up to rounding are left out of a coarser level; small entries are kept.
#[test]
fn a_coarser_level_keeps_small_entries() {
    let host = Host::new(1).unwrap();
    let entries = |small: f64| {
        let a =
            Csr::from_arrays(2, 2, vec![0, 2, 4], vec![0, 1, 0, 1], vec![1.0, small, small, 1.0]).unwrap();
        let one = Csr::from_arrays(2, 2, vec![0, 1, 2], vec![0, 1], vec![1.0, 1.0]).unwrap();
        a.galerkin(&host, &one).unwrap().n_nonzeros()
    };
    assert_eq!([1e-3, 1e-11, 1e-13].map(entries), [4, 4, 2]);
}
