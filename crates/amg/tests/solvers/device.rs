//! Products, cycles and solves on a device equal those on the host. Without a device every test prints
//! SKIPPED and passes, unless `DGSUITE_REQUIRE_GPU` is 1; with a C++ compiler all of them run on an emulated
//! device, on smaller problems.
#![expect(clippy::unwrap_used, reason = "a failed preparation fails the test")]

use std::cell::Cell;
use std::io::Write;
use std::sync::{Mutex, MutexGuard, PoisonError};

use dgsuite_amg::cuda::{CudaAmg, CudaCsr, RowLayout};
use dgsuite_amg::{
    Amg, AmgError, AmgOptions, Coarsening, Csr, Cycle, Jacobi, LinearOperator, NullSpace, Pcg,
    Preconditioner, Reference, Smoother, Solution, Stop, gallery,
};
use dgsuite_gpu::cuda::Cuda;
use dgsuite_gpu::shim::{Emulator, ShimError};
use dgsuite_gpu::{Backend, CudaVector, Host, Scalar, Vector};

/// A device for one test at a time, so that tests share neither memory nor time.
fn device(test: &str) -> Option<(Cuda, MutexGuard<'static, ()>)> {
    static ONE: Mutex<()> = Mutex::new(());
    let guard = ONE.lock().unwrap_or_else(PoisonError::into_inner);
    match Cuda::new(0) {
        Ok(cuda) => Some((cuda, guard)),
        Err(reason) => {
            assert!(std::env::var_os("DGSUITE_REQUIRE_GPU").is_none_or(|v| v != "1"), "{reason}");
            // Not eprintln!: the test harness hides its output in tests that pass.
            let _ = writeln!(std::io::stderr(), "SKIPPED {test}: {reason}");
            None
        }
    }
}

/// Whether the device is the emulated one, which is slow.
fn emulated(cuda: &Cuda) -> bool {
    cuda.info().name.contains("emulated")
}

fn download<T: Scalar>(cuda: &Cuda, x: &CudaVector<T>) -> Vec<T> {
    let mut values = vec![T::ZERO; x.len()];
    cuda.download(x, &mut values).unwrap();
    values
}

/// Numbers between −1 and 1, by Knuth's linear congruential generator.
fn numbers(seed: u64, n: usize) -> Vec<f64> {
    let mut state = seed;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as f64 / f64::from(1_u32 << 30) - 1.0
    };
    (0..n).map(|_| next()).collect()
}

/// A square matrix with a diagonal of 2 whose row i has `length(i)` entries, at most.
fn random<T: Scalar>(n: usize, length: impl Fn(usize) -> usize) -> Csr<T> {
    let mut entries = Vec::new();
    for i in 0..n {
        entries.push((i, i, 2.0));
        for (k, value) in numbers(i as u64 + 1, length(i).saturating_sub(1)).into_iter().enumerate() {
            entries.push((i, (i + 1 + 7 * k + k * k) % n, value));
        }
    }
    Csr::from_triplets(n, n, entries.into_iter().map(|(i, j, a)| (i, j, T::from_f64(a)))).unwrap()
}

/// `A x` and `|A| |x|` in double precision.
fn product<T: Scalar>(a: &Csr<T>, x: &[T]) -> Vec<(f64, f64)> {
    let term = |(j, a): (usize, T)| a.to_f64() * x[j].to_f64();
    (0..a.n_rows()).map(|i| a.row(i).map(term).fold((0.0, 0.0), |(s, m), t| (s + t, m + t.abs()))).collect()
}

fn rows_agree<T: Scalar>(cuda: &Cuda, name: &str, a: &Csr<T>, layout: RowLayout) {
    let n = a.n_rows();
    let vector = |seed: u64| numbers(seed, n).into_iter().map(T::from_f64).collect::<Vec<T>>();
    let [x, b, d] = [1, 2, 3].map(vector);
    let upload = |values: &[T]| cuda.upload(values).unwrap();
    let [dx, db, dd] = [&x, &b, &d].map(|values| upload(values));
    let matrix = CudaCsr::with_layout(cuda, a, layout).unwrap();
    let nothing = vec![T::from_f64(f64::NAN); n];
    let exact = product(a, &x);
    let check = |what: &str,
                 found: &CudaVector<T>,
                 value: &dyn Fn(usize) -> f64,
                 size: &dyn Fn(usize) -> f64| {
        for (i, found) in download(cuda, found).into_iter().enumerate() {
            let error = (found.to_f64() - value(i)).abs();
            // Sums of up to 200 terms in any order, and the updates' roundings.
            assert!(error <= 40.0 * T::EPSILON.to_f64() * size(i), "{name} {layout:?} {what} {i}: {error}");
        }
    };
    let f = |values: &[T], i: usize| values[i].to_f64();
    let mut y = upload(&nothing);
    matrix.apply(&dx, &mut y);
    check("product", &y, &|i| exact[i].0, &|i| exact[i].1);
    matrix.residual(&db, &dx, &mut y);
    check("residual", &y, &|i| f(&b, i) - exact[i].0, &|i| exact[i].1 + 1.0);
    let step = |i: usize| 0.7 * f(&d, i) * (f(&b, i) - exact[i].0);
    y = upload(&nothing);
    matrix.relax(0.7, &dd, &db, &dx, &mut y);
    check("step", &y, &|i| f(&x, i) + step(i), &|i| exact[i].1 + 2.0);
}

fn every_layout_agrees<T: Scalar>(cuda: &Cuda) {
    let rows: [(&str, usize, &dyn Fn(usize) -> usize); 6] = [
        ("diagonal", 33, &|_| 1),
        ("three", 257, &|_| 3),
        ("33", 35, &|_| 33),
        ("200", 210, &|_| 200),
        ("uneven", 65, &|i| 1 + i * i % 61),
        ("one row", 1, &|_| 1),
    ];
    for (name, n, length) in rows {
        let a = random::<T>(n, length);
        // The emulator is slow.
        let shifts: &[u32] = if emulated(cuda) { &[1, 5] } else { &[0, 1, 2, 3, 4, 5] };
        let groups = shifts.iter().map(|&shift| RowLayout::Groups { shift });
        for layout in groups.chain([RowLayout::Slices]) {
            rows_agree(cuda, name, &a, layout);
        }
    }
}

#[test]
fn products_and_steps_equal_the_host_s() {
    let Some((cuda, _guard)) = device("products_and_steps_equal_the_host_s") else { return };
    every_layout_agrees::<f64>(&cuda);
    every_layout_agrees::<f32>(&cuda);
    // Not square; in slices each row is summed in the order of the host.
    let entries = [(0, 4, 2.0), (2, 0, 1.0), (2, 3, 0.1), (2, 4, 0.3), (3, 1, -1.0)];
    let a = Csr::from_triplets(4, 5, entries).unwrap();
    let x = [0.1, 0.2, 0.3, 0.7, 0.9];
    for layout in [RowLayout::Slices, RowLayout::Groups { shift: 1 }] {
        let mut y = cuda.upload(&[f64::NAN; 4]).unwrap();
        CudaCsr::with_layout(&cuda, &a, layout).unwrap().apply(&cuda.upload(&x).unwrap(), &mut y);
        let y = download(&cuda, &y);
        assert!((y[2] - 0.44).abs() < 1e-15 && y[1] == 0.0 && y[0] == 1.8 && y[3] == -0.2, "{y:?}");
    }
}

/// The largest difference of `M⁻¹ r` on host and device, relative to its largest entry.
fn difference<T: Scalar, S: Scalar>(host: &Host, cuda: &Cuda, amg: &mut Amg<T>, seed: u64) -> f64 {
    let n = amg.summary().levels[0].rows;
    let r: Vec<S> = numbers(seed, n).into_iter().map(|r| S::from_f64(1e-3 * r)).collect();
    let (r, on_device) = (host.upload(&r).unwrap(), cuda.upload(&r).unwrap());
    let (mut z, mut found) = (r.zeros_like().unwrap(), on_device.zeros_like().unwrap());
    amg.apply(&r, &mut z);
    let mut copy = CudaAmg::upload(cuda, amg).unwrap();
    copy.apply(&on_device, &mut found);
    let once = download(cuda, &found);
    if T::BYTES == 4 {
        // Another vector, and the first again: a cycle leaves no state behind.
        let mut other = on_device.zeros_like().unwrap();
        copy.apply(&found, &mut other);
        copy.apply(&on_device, &mut found);
        assert!(download(cuda, &found) == once, "a cycle repeats its bits");
    }
    let worst = z.iter().zip(&once).map(|(z, found)| (z.to_f64() - found.to_f64()).abs()).fold(0.0, f64::max);
    worst / z.norm_max()
}

#[test]
fn cycles_equal_the_host_s() {
    let Some((cuda, _guard)) = device("cycles_equal_the_host_s") else { return };
    let host = Host::new(0).unwrap();
    // On a device, large enough for the layouts of many rows.
    let n = if emulated(&cuda) { 13 } else { 300 };
    let a = gallery::poisson_2d(n, n + 1, 0.7).unwrap();
    let default = AmgOptions { direct_rows: if emulated(&cuda) { 8 } else { 100 }, ..AmgOptions::default() };
    let third = Smoother::ChebyshevFourth { degree: 3 };
    let sets: Coarsening = "independent-sets".parse().unwrap();
    let kinds = [
        (Cycle::V, default.smoother, default.coarsening),
        (Cycle::V, Smoother::Jacobi { sweeps: 1 }, sets),
        (Cycle::W, third, sets),
        (Cycle::K { levels: 2 }, default.smoother, default.coarsening),
        (Cycle::K { levels: usize::MAX }, Smoother::L1Jacobi { sweeps: 2 }, default.coarsening),
        (Cycle::V, third, Coarsening::SMOOTHED),
        (Cycle::K { levels: 1 }, default.smoother, Coarsening::SMOOTHED),
    ];
    for (k, (cycle, smoother, coarsening)) in kinds.into_iter().enumerate() {
        let options = AmgOptions { cycle, smoother, coarsening, ..default };
        let mut double = Amg::in_double(&host, &a, &options).unwrap();
        let found = difference::<f64, f64>(&host, &cuda, &mut double, 5);
        assert!(double.summary().levels.len() > 2 && found < 1e-12, "{cycle} {smoother:?}: {found}");
        if emulated(&cuda) && k % 2 == 0 {
            // The emulator is slow.
            continue;
        }
        let mut single = Amg::new(&host, &a, &options).unwrap();
        let found = if k % 2 == 0 {
            difference::<f32, f64>(&host, &cuda, &mut single, 6)
        } else {
            difference::<f32, f32>(&host, &cuda, &mut single, 6)
        };
        assert!(found < 1e-5, "{cycle} {smoother:?}: {found}");
    }
}

/// One level solved directly; one that is smoothed only; K-cycles whose coarsest level is smoothed; floating
/// parts; zero and NaN.
#[test]
fn special_hierarchies_equal_the_host_s() {
    let Some((cuda, _guard)) = device("special_hierarchies_equal_the_host_s") else { return };
    let host = Host::new(1).unwrap();
    let options = AmgOptions::default();
    let small = gallery::poisson_2d(9, 8, 1.0).unwrap();
    let diagonal = Csr::from_triplets(400, 400, (0..400).map(|i| (i, i, 1.0 + i as f64))).unwrap();
    let closed = gallery::diffusion_2d(20, 20, false, |i, _| 1.0 + i as f64).unwrap();
    let constant = AmgOptions { null_space: NullSpace::Constant, direct_rows: 20, ..options };
    let smoothed = AmgOptions { max_levels: 3, direct_rows: 1, ..options };
    for (a, options) in [(&small, options), (&diagonal, options), (&closed, constant), (&small, smoothed)] {
        let mut amg = Amg::in_double(&host, a, &options).unwrap();
        let found = difference::<f64, f64>(&host, &cuda, &mut amg, 7);
        assert!(found < 1e-12, "{}: {found}", amg.summary());
    }
    let mut amg = CudaAmg::new(&host, &cuda, &closed, &constant).unwrap();
    let mut z = cuda.upload(&[1.0; 400]).unwrap();
    amg.apply(&cuda.zeros::<f64>(400).unwrap(), &mut z);
    assert_eq!(z.norm_max(), 0.0);
    let mut r = vec![1.0; 400];
    r[17] = f64::NAN;
    amg.apply(&cuda.upload(&r).unwrap(), &mut z);
    assert!(z.norm_max().is_nan());
    let summary = amg.summary();
    assert!(summary.floating && amg.n_launches() > 5 && summary.bytes() > 8 * closed.n_nonzeros());

    // Pairs of pairs of a chain: sixteen levels, each visited twice as often as the one above.
    let (coarsening, cycle) = (Coarsening::Pairwise { passes: 1, quality: 8.0 }, Cycle::W);
    let slow = AmgOptions { coarsening, cycle, direct_rows: 1, ..options };
    let refused = CudaAmg::new(&host, &cuda, &gallery::poisson_1d(1 << 16).unwrap(), &slow).map(|_| ());
    assert!(matches!(refused, Err(AmgError::TooManyVisits { .. })), "{refused:?}");
}

fn stop() -> Stop {
    Stop { relative: 1e-9, max_iterations: 100, reference: Reference::RightHandSide, ..Stop::default() }
}

fn on_device(cuda: &Cuda, a: &Csr<f64>, m: &mut CudaAmg, b: &[f64]) -> (Solution, Vec<f64>) {
    let a = CudaCsr::new(cuda, a).unwrap();
    let b = cuda.upload(b).unwrap();
    let mut x = b.zeros_like().unwrap();
    let solution = Pcg::new(&b).unwrap().flexible().solve(&a, m, &b, &mut x, &stop()).unwrap();
    let x = download(cuda, &x);
    (solution, x)
}

#[test]
fn a_solve_is_that_of_the_host_and_repeats_its_bits() {
    let Some((cuda, _guard)) = device("a_solve_is_that_of_the_host_and_repeats_its_bits") else { return };
    let host = Host::new(0).unwrap();
    let n = if emulated(&cuda) { 12 } else { 400 };
    let jumps = |i: usize, j: usize| if (i / 8 + j / 8).is_multiple_of(2) { 1.0 } else { 1e3 };
    let a = gallery::diffusion_2d(n, n, true, jumps).unwrap();
    let right: Vec<f64> = (0..n * n).map(|i| 0.5 + (i as f64).sin()).collect();
    let direct_rows = if emulated(&cuda) { 20 } else { 300 };
    let cycles = [Cycle::K { levels: 2 }, Cycle::V];
    // The emulator is slow.
    for cycle in cycles.into_iter().take(if emulated(&cuda) { 1 } else { 2 }) {
        let options = AmgOptions { cycle, direct_rows, ..AmgOptions::default() };
        let mut amg = Amg::new(&host, &a, &options).unwrap();
        let b = host.upload(&right).unwrap();
        let mut x = b.zeros_like().unwrap();
        let expected = Pcg::new(&b).unwrap().flexible().solve(&a, &mut amg, &b, &mut x, &stop()).unwrap();
        let mut copy = CudaAmg::upload(&cuda, &amg).unwrap();
        let (found, y) = on_device(&cuda, &a, &mut copy, &right);
        assert!(found.iterations.abs_diff(expected.iterations) <= 1, "{cycle}: {found:?} {expected:?}");
        // Both meet the tolerance for the residual; errors may be larger by the condition number.
        let worst = x.iter().zip(&y).map(|(x, y)| (x - y).abs()).fold(0.0, f64::max);
        assert!(worst < 1e-5 * x.norm_max(), "{cycle}: {worst}");
        let mut another = CudaAmg::new(&host, &cuda, &a, &options).unwrap();
        assert!(on_device(&cuda, &a, &mut another, &right) == (found, y), "{cycle}");
    }
}

/// An operator or a preconditioner that says whether it can be recorded, and counts its applications.
struct Recorded<A> {
    of: A,
    number: Option<u64>,
    calls: Cell<usize>,
}

impl<A: LinearOperator<CudaVector<f64>>> LinearOperator<CudaVector<f64>> for Recorded<A> {
    fn n_rows(&self) -> usize {
        self.of.n_rows()
    }

    fn apply(&self, x: &CudaVector<f64>, y: &mut CudaVector<f64>) {
        self.calls.set(self.calls.get() + 1);
        self.of.apply(x, y);
    }

    fn recordable(&self) -> Option<u64> {
        self.number
    }
}

impl<M: Preconditioner<CudaVector<f64>>> Preconditioner<CudaVector<f64>> for Recorded<M> {
    fn apply(&mut self, r: &CudaVector<f64>, z: &mut CudaVector<f64>) {
        self.of.apply(r, z);
    }

    fn recordable(&self) -> Option<u64> {
        self.number
    }
}

/// Solves twice in a row on host and device, the second time with another right-hand side: the outcomes have
/// the same bits, iterates included. A batch has the iterations of the solve before.
#[test]
fn conjugate_gradients_without_waits_have_the_bits_of_the_host() {
    const NAME: &str = "conjugate_gradients_without_waits_have_the_bits_of_the_host";
    let Some((cuda, _guard)) = device(NAME) else { return };
    let host = Host::new(0).unwrap();
    let n = if emulated(&cuda) { 6 } else { 90 };
    let good = gallery::poisson_2d(n, n, 0.5).unwrap();
    let entries = |lambda: f64| (0..n * n).map(move |i| (i, i, if i == 7 { lambda } else { 1.0 + i as f64 }));
    let indefinite = Csr::from_triplets(n * n, n * n, entries(-3.0)).unwrap();
    let not_finite = Csr::from_triplets(n * n, n * n, entries(1e308)).unwrap();
    let floating = gallery::random_graph(n * n, 2, 0.0, 5).unwrap();
    let rights = [numbers(5, n * n), numbers(6, n * n)];
    let usual = Stop { relative: 1e-9, max_iterations: 400, ..stop() };
    let cases = [
        ("plain", &good, usual, false),
        ("flexible", &good, Stop { reference: Reference::InitialResidual, ..usual }, true),
        ("too few iterations", &good, Stop { max_iterations: 9, ..usual }, false),
        ("below rounding", &good, Stop { relative: 1e-18, max_iterations: 5000, ..usual }, false),
        ("converged", &good, Stop { absolute: 1e9, ..usual }, false),
        ("not positive", &indefinite, usual, false),
        ("not finite", &not_finite, usual, false),
        ("with a null space", &floating, Stop { relative: 1e-6, ..usual }, false),
    ];
    for (name, a, stop, flexible) in cases {
        let inverse: Vec<f64> = a.diagonal().iter().map(|d| 1.0 / d.abs()).collect();
        let run_host = || {
            let like = host.zeros(n * n).unwrap();
            let mut pcg = Pcg::new(&like).unwrap();
            pcg = if flexible { pcg.flexible() } else { pcg };
            pcg = if name == "with a null space" { pcg.without_mean().unwrap() } else { pcg };
            let mut m = Jacobi::from_inverse_diagonal(host.upload(&inverse).unwrap());
            rights.each_ref().map(|b| {
                let (b, mut x) = (host.upload(b).unwrap(), like.zeros_like().unwrap());
                let solved = pcg.solve(a, &mut m, &b, &mut x, &stop);
                (format!("{solved:?}"), x.to_vec())
            })
        };
        let expected = run_host();
        let copy = CudaCsr::with_layout(&cuda, a, RowLayout::Slices).unwrap();
        // The emulator is slow.
        let both = name == "plain" || !emulated(&cuda);
        for number in [None, Some(3)].into_iter().filter(|number| both || number.is_some()) {
            let like: CudaVector<f64> = cuda.zeros(n * n).unwrap();
            let mut pcg = Pcg::new(&like).unwrap();
            pcg = if flexible { pcg.flexible() } else { pcg };
            pcg = if name == "with a null space" { pcg.without_mean().unwrap() } else { pcg };
            let of = Jacobi::from_inverse_diagonal(cuda.upload(&inverse).unwrap());
            let mut m = Recorded { of, number, calls: Cell::new(0) };
            let a = Recorded { of: &copy, number, calls: Cell::new(0) };
            let found = rights.each_ref().map(|b| {
                let (b, mut x) = (cuda.upload(b).unwrap(), like.zeros_like().unwrap());
                let solved = pcg.solve(&a, &mut m, &b, &mut x, &stop);
                (format!("{solved:?}"), download(&cuda, &x))
            });
            for (found, expected) in found.iter().zip(&expected) {
                assert_eq!(found.0, expected.0, "{name}, {number:?}");
                let bits = |x: &[f64]| x.iter().map(|x| x.to_bits()).collect::<Vec<_>>();
                assert!(bits(&found.1) == bits(&expected.1), "{name}, {number:?}: other iterates");
            }
            if name == "plain" && number.is_some() {
                // Two residuals in each of two batches at least, and one recording.
                assert!(a.calls.get() < 12, "{} products were not recorded", a.calls.get());
            }
        }
    }
}

/// The tests above on the emulated device, under sanitizers.
#[test]
fn all_this_on_an_emulated_device() {
    const NAME: &str = "all_this_on_an_emulated_device";
    if std::env::var_os("DGSUITE_EMULATOR").is_some() {
        return;
    }
    let emulator = match Emulator::new() {
        Ok(emulator) => emulator,
        Err(reason @ ShimError::NoCompiler { .. }) => {
            assert!(std::env::var_os("DGSUITE_REQUIRE_TOOLS").is_none_or(|v| v != "1"), "{reason}");
            let _ = writeln!(std::io::stderr(), "SKIPPED {NAME}: {reason}");
            return;
        }
        Err(reason) => panic!("{reason}"),
    };
    let mut command = emulator.command(std::env::current_exe().unwrap());
    let output = command.args(["device::", "--skip", NAME]).env("DGSUITE_REQUIRE_GPU", "1").output().unwrap();
    let log =
        [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).concat();
    assert!(output.status.success() && log.contains("test result: ok. 5 passed"), "{log}");
}
