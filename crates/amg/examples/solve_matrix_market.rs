//! Solves `A x = A 1` for a Matrix Market file: `cargo run --release --example solve_matrix_market [FILE]`.

use std::time::Instant;

use dgsuite_amg::{Identity, Jacobi, LinearOperator, Pcg, SolveError, Stop, read_matrix_market};
use dgsuite_gpu::{Backend, Host, Vector};

const SAMPLE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/data/poisson_10x10.mtx");

#[allow(clippy::print_stdout)]
fn main() -> Result<(), Box<dyn std::error::Error>> {
    let path = std::env::args().nth(1).unwrap_or_else(|| SAMPLE.to_owned());
    let host = Host::new(0)?;
    let a = read_matrix_market(&path)?;
    a.require_symmetric(1e-12)?;
    println!("{path}: {} rows, {} entries; {}", a.n_rows(), a.n_nonzeros(), host.describe());

    // The exact solution is one everywhere, so the error is known.
    let mut ones = host.zeros::<f64>(a.n_rows())?;
    ones.fill(1.0);
    let mut b = ones.zeros_like()?;
    a.apply(&ones, &mut b);
    let mut pcg = Pcg::new(&b)?;
    let stop = Stop { relative: 1e-10, max_iterations: 10_000, ..Stop::default() };
    for name in ["none", "jacobi"] {
        let mut x = b.zeros_like()?;
        let start = Instant::now();
        let result = match name {
            "none" => pcg.solve(&a, &mut Identity, &b, &mut x, &stop),
            _ => pcg.solve(&a, &mut Jacobi::new(&host, &a)?, &b, &mut x, &stop),
        };
        let time = start.elapsed().as_secs_f64();
        match result {
            Ok(solution) => {
                x.axpby(-1.0, &ones, 1.0);
                let (n, r, e) = (solution.iterations, solution.true_residual, x.norm_max());
                println!("{name:<7} {n:>5} iterations, true residual {r:.2e}, error {e:.2e}, {time:.3} s");
            }
            Err(error @ SolveError::MaxIterations { .. }) => println!("{name:<7} {error}"),
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}
