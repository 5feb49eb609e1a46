//! Prints how ranks are connected, and the times of their exchanges and sums.
//!
//! ```sh
//! cargo build --release -p dgsuite-gpu --example ranks
//! mpiexec -n 4 target/release/examples/ranks
//! ```
#![allow(clippy::print_stdout)]

use std::time::Instant;

use dgsuite_gpu::comm::{CommError, Partner, connect, launched, mpi_library};
use dgsuite_gpu::{ExactSum, sum_all};

/// Median microseconds of an operation that all ranks perform.
fn median(mut operation: impl FnMut() -> Result<(), CommError>) -> Result<f64, CommError> {
    let mut times = Vec::new();
    for _ in 0..200 {
        let started = Instant::now();
        operation()?;
        times.push(started.elapsed().as_secs_f64() * 1e6);
    }
    times.sort_by(f64::total_cmp);
    Ok(times[times.len() / 2])
}

fn main() -> Result<(), CommError> {
    let launch = launched();
    let comm = &*connect(launch.as_ref())?;
    let (rank, size) = (comm.rank(), comm.size());
    if rank == 0 {
        match launch {
            Some(launch) => println!("{size} ranks, started by {}, plane {}", launch.launcher, comm.plane()),
            None => println!("one rank: no launcher was recognised"),
        }
        if comm.plane() == "mpi" {
            let (path, version) = mpi_library()?;
            println!("{version} ({})", path.display());
        }
    }
    // Both neighbours of a ring, which may be the same rank, or this one.
    let mut neighbours = vec![(rank + size - 1) % size, (rank + 1) % size];
    neighbours.dedup();
    for bytes in [0, 8, 1 << 10, 1 << 14, 1 << 17, 1 << 20] {
        let partner = |&rank: &usize| Partner { rank, send: bytes, receive: bytes };
        let mut exchange = comm.exchange(&neighbours.iter().map(partner).collect::<Vec<_>>())?;
        let time = median(|| {
            exchange.start()?;
            exchange.finish()
        })?;
        if rank == 0 {
            let speed = (neighbours.len() * bytes) as f64 / time * 1e-3;
            println!(
                "exchange of {bytes:>7} bytes with {}: {time:8.2} µs, {speed:6.2} GB/s",
                neighbours.len()
            );
        }
    }
    let time = median(|| comm.sum(&mut [1]))?;
    let mut sums = [ExactSum::new()];
    let exact = median(|| {
        sums[0] = (rank..1000).step_by(size).map(|i| 1.0 / (i + 1) as f64).collect();
        sum_all(comm, &mut sums).map(|_| ())
    })?;
    if rank == 0 {
        println!("sum of an integer {time:.2} µs, exact sum of 1000 numbers {exact:.2} µs");
        println!("Σ 1/i = {} for any number of ranks", sums[0].value());
    }
    Ok(())
}
