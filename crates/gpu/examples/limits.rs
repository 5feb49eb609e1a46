//! Prints this machine's speed limits on one thread and on all, and the rates of vector arithmetic:
//! `cargo run --release --example limits`.

use std::time::Instant;

use dgsuite_gpu::{Backend, GpuError, Host, HostVector, SimdLevel, Vector, probe};

/// Entries of the vectors in the measurements: 128 MiB each.
const LENGTH: usize = 16 << 20;

/// GB/s of an operation that moves `bytes` for each entry, best of five.
fn rate(bytes: usize, mut operation: impl FnMut()) -> f64 {
    let mut best = f64::INFINITY;
    for _ in 0..5 {
        let start = Instant::now();
        operation();
        best = best.min(start.elapsed().as_secs_f64());
    }
    (bytes * LENGTH) as f64 / best / 1e9
}

/// Rates of an update of one and of three vectors, of a dot product, of a compensated sum.
fn arithmetic(host: &Host) -> Result<[f64; 4], GpuError> {
    let mut x = HostVector::<f64>::zeros(host, LENGTH)?;
    x.fill(0.5);
    let (mut y, mut z) = (x.clone(), x.clone());
    let mut sink = 0.0;
    let rates = [
        rate(24, || y.axpby(0.5, &x, 0.9)),
        rate(32, || z.lincomb(0.5, &[(0.25, &x), (0.25, &y)])),
        rate(16, || sink += x.dot(&y)),
        rate(8, || sink += x.sum()),
    ];
    assert!(sink.is_finite());
    Ok(rates)
}

#[allow(clippy::print_stdout)]
fn main() -> Result<(), GpuError> {
    println!(
        "{:<28} {:>10} {:>10} {:>10} {:>12} {:>12}",
        "machine", "copy GB/s", "triad GB/s", "read GB/s", "f64 GFLOP/s", "f32 GFLOP/s"
    );
    let all = Host::new(0)?.n_threads();
    let mut threads = vec![1, all];
    threads.dedup();
    for level in SimdLevel::ALL.into_iter().filter(|&level| level <= SimdLevel::detect()) {
        for &n in &threads {
            let host = Host::with_simd(n, level)?;
            let limits = probe::measure(&host, probe::Effort::default())?;
            println!(
                "{:<28} {:>10.1} {:>10.1} {:>10.1} {:>12.1} {:>12.1}",
                host.describe(),
                limits.copy / 1e9,
                limits.triad / 1e9,
                limits.read / 1e9,
                limits.flops_double / 1e9,
                limits.flops_single / 1e9
            );
        }
    }
    println!("\n{:<28} {:>10} {:>10} {:>10} {:>10}   GB/s", "vectors", "axpby", "lincomb", "dot", "sum");
    for n in threads {
        let host = Host::new(n)?;
        let [axpby, lincomb, dot, sum] = arithmetic(&host)?;
        println!("{:<28} {axpby:>10.1} {lincomb:>10.1} {dot:>10.1} {sum:>10.1}", host.describe());
    }
    Ok(())
}
