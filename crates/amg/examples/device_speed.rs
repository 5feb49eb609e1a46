//! Measures products, smoothers and solves on an NVIDIA device: `device_speed [N2] [N3]` uses problems of N2²
//! and N3³ rows.
//!
//! Rates count once each byte that an operation must move: the matrix, and each vector that it reads or
//! writes. They are printed next to the device's own copy rate.
#![allow(clippy::print_stdout)]

use std::time::Instant;

use dgsuite_amg::cuda::{CudaAmg, CudaCsr, RowLayout};
use dgsuite_amg::{
    Amg, AmgOptions, Csr, Cycle, LinearOperator, Pcg, Preconditioner, Reference, Stop, gallery,
};
use dgsuite_gpu::cuda::Cuda;
use dgsuite_gpu::probe::{DeviceEffort, measure_device};
use dgsuite_gpu::{Backend, GpuError, Host, Scalar, Vector};

type Failure = Box<dyn std::error::Error>;

/// Operations timed together, and the number of such timings, of which the median is printed.
const TOGETHER: usize = 10;
const RUNS: usize = 11;

fn main() -> Result<(), Failure> {
    let sizes: Vec<usize> = std::env::args().skip(1).map(|n| n.parse()).collect::<Result<_, _>>()?;
    let (n2, n3) = (sizes.first().copied().unwrap_or(1000), sizes.get(1).copied().unwrap_or(100));
    let cuda = match Cuda::new(0) {
        Ok(cuda) => cuda,
        Err(reason) => {
            println!("{reason}");
            return Ok(());
        }
    };
    let host = Host::new(0)?;
    let limits = measure_device(&cuda, DeviceEffort::default())?;
    println!("{}\nset-up: {}", cuda.describe(), host.describe());
    println!("copy {:.0} GB/s, node of a graph {:.2} us\n", 1e-9 * limits.copy, 1e6 * limits.graph_node);

    let problems = [
        (format!("5 points, {n2} x {n2}"), gallery::diffusion_2d(n2, n2, true, |_, _| 1.0)?),
        (format!("7 points, {n3} x {n3} x {n3}"), gallery::poisson_7(n3)?),
    ];
    for (name, a) in &problems {
        println!("{name}: {} rows, {} entries", a.n_rows(), a.n_nonzeros());
        rates::<f64>(&cuda, a, limits.copy)?;
        rates::<f32>(&cuda, a, limits.copy)?;
        solves(&host, &cuda, a)?;
        println!();
    }
    // Larger than any cache.
    for (name, a) in [
        (format!("5 points, {} x {0}", 2 * n2), gallery::diffusion_2d(2 * n2, 2 * n2, true, |_, _| 1.0)?),
        (format!("7 points, {} x {0} x {0}", 8 * n3 / 5), gallery::poisson_7(8 * n3 / 5)?),
    ] {
        println!("{name}: {} rows, {} entries", a.n_rows(), a.n_nonzeros());
        rates::<f64>(&cuda, &a, limits.copy)?;
        rates::<f32>(&cuda, &a, limits.copy)?;
        println!();
    }
    Ok(())
}

/// Times of product and smoother in each layout.
fn rates<T: Scalar>(cuda: &Cuda, a: &Csr<f64>, copy: f64) -> Result<(), Failure> {
    let (n, name) = (a.n_rows(), T::NAME);
    let matrix = a.as_sprs();
    let (starts, columns) = (matrix.indptr().raw_storage().to_vec(), matrix.indices().to_vec());
    let values = matrix.data().iter().map(|&a| T::from_f64(a)).collect();
    let a = Csr::from_arrays(n, n, starts, columns, values)?;
    let ones = vec![T::ONE; n];
    let (x, b, d) = (cuda.upload(&ones)?, cuda.upload(&ones)?, cuda.upload(&ones)?);
    let mut y = x.zeros_like()?;
    let chosen = CudaCsr::new(cuda, &a)?.layout();
    let groups = [0, 1, 2, 3].map(|shift| RowLayout::Groups { shift });
    for layout in [RowLayout::Slices].into_iter().chain(groups) {
        let matrix = CudaCsr::with_layout(cuda, &a, layout)?;
        let time = |work: &mut dyn FnMut() -> Result<(), GpuError>| {
            let many = || (0..TOGETHER).try_for_each(|_| work());
            cuda.median_time(RUNS, many).map(|seconds| seconds / TOGETHER as f64)
        };
        let product = time(&mut || {
            matrix.apply(&x, &mut y);
            Ok(())
        })?;
        let smoother = time(&mut || {
            matrix.relax(0.5, &d, &b, &x, &mut y);
            Ok(())
        })?;
        let show = |what: &str, seconds: f64, vectors: usize| {
            let rate = (matrix.bytes() + vectors * n * T::BYTES) as f64 / seconds;
            let (us, gb, share) = (1e6 * seconds, 1e-9 * rate, 100.0 * rate / copy);
            format!("{what} {us:7.1} us {gb:6.0} GB/s {share:4.0} %")
        };
        let (product, smoother) = (show("product", product, 2), show("smoother", smoother, 4));
        let star = if layout == chosen { "*" } else { " " };
        println!("  {name} {star}{:<20} {product}   {smoother}", format!("{layout:?}"));
    }
    Ok(())
}

/// Times of set-up, copy, cycle and solve to 10⁻⁸ of the right-hand side.
fn solves(host: &Host, cuda: &Cuda, a: &Csr<f64>) -> Result<(), Failure> {
    let right: Vec<f64> = (0..a.n_rows()).map(|i| 1.0 + (i as f64).sin()).collect();
    let b = cuda.upload(&right)?;
    let stop = Stop { reference: Reference::RightHandSide, ..Stop::default() };
    let on_device = CudaCsr::new(cuda, a)?;
    for (cycle, direct_rows) in [("v", 300), ("k1", 300), ("k2", 300), ("k2", 1200), ("k", 300), ("k", 1200)]
    {
        let cycle: Cycle = cycle.parse()?;
        let options = AmgOptions { cycle, direct_rows, ..AmgOptions::default() };
        let start = Instant::now();
        let amg = Amg::new(host, a, &options)?;
        let setup = start.elapsed().as_secs_f64();
        let start = Instant::now();
        let mut amg = CudaAmg::upload(cuda, &amg)?;
        let upload = start.elapsed().as_secs_f64();
        let mut x = b.zeros_like()?;
        let once = cuda.median_time(RUNS, || {
            amg.apply(&b, &mut x);
            Ok(())
        })?;
        let (mut pcg, mut best, mut iterations) = (Pcg::new(&b)?.flexible(), f64::INFINITY, 0);
        for _ in 0..3 {
            x.fill(0.0);
            let start = Instant::now();
            iterations = pcg.solve(&on_device, &mut amg, &b, &mut x, &stop)?.iterations;
            best = best.min(start.elapsed().as_secs_f64());
        }
        cuda.take_failure()?;
        println!(
            "  cycle {cycle:<2} over {direct_rows:4} rows: set-up {setup:.3} s, copy {upload:.3} s; cycle {:.3} ms in {} launches; solve {:.1} ms, \
             {iterations} iterations, {:.1} million rows/s",
            1e3 * once,
            amg.n_launches(),
            1e3 * best,
            1e-6 * a.n_rows() as f64 / best
        );
    }
    Ok(())
}
