//! Solves `A x = b` for a Matrix Market file or a problem of the gallery, with any preconditioner of this
//! crate:
//! `cargo run --release --example solve_matrix_market -- [FILE | poisson-5:N | poisson-7:N | poisson-27:N |
//! anisotropic:N | jump:N | neumann:N | sipdg:N | sipdg-half:N] [OPTION=VALUE …]`.
//!
//! Options: `preconditioner` (amg, amg-double, jacobi, none), `cycle` (v, w, k, k2 …), `smoother` (chebyshev,
//! chebyshev-4, jacobi, l1-jacobi), `coarsening` (pairwise, pairwise-strict, independent-sets, independent-sets-negative),
//! `quality` (κ of `pairwise`), `degree` and `ratio` (of `chebyshev`), `tolerance`, `threads`, `singular` (yes for
//! pure Neumann problems).

use std::time::Instant;

use dgsuite_amg::{
    Amg, AmgOptions, Coarsening, Csr, Identity, Jacobi, NullSpace, Pcg, Preconditioner, Reference, Smoother,
    SolveError, Stop, gallery, read_matrix_market,
};
use dgsuite_gpu::{Backend, Host, HostVector, Vector};

const SAMPLE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/data/poisson_10x10.mtx");

type Failure = Box<dyn std::error::Error>;

/// The matrix that a word names: a file, or a problem of the gallery with its size.
fn matrix(word: &str) -> Result<Csr<f64>, Failure> {
    let Some((name, size)) = word.split_once(':') else { return Ok(read_matrix_market(word)?) };
    let n: usize = size.parse()?;
    // Squares of n/16 cells with κ = 1 and 10⁴ in turn.
    let jumps = |i: usize, j: usize| if (16 * i / n + 16 * j / n).is_multiple_of(2) { 1.0 } else { 1e4 };
    Ok(match name {
        "poisson-5" => gallery::poisson_2d(n, n, 1.0)?,
        "anisotropic" => gallery::poisson_2d(n, n, 1e-2)?,
        "poisson-7" => gallery::poisson_7(n)?,
        "sipdg" => gallery::sipdg_triangles(n, 1.0)?,
        "sipdg-half" => gallery::sipdg_triangles(n, 0.5)?,
        "poisson-27" => gallery::poisson_27(n)?,
        "jump" => gallery::diffusion_2d(n, n, true, jumps)?,
        "neumann" => gallery::diffusion_2d(n, n, false, |_, _| 1.0)?,
        _ => return Err(format!("no problem is called '{name}'").into()),
    })
}

#[allow(clippy::print_stdout)]
fn main() -> Result<(), Failure> {
    let mut path = SAMPLE.to_owned();
    let mut preconditioner = "amg".to_owned();
    let mut chebyshev = (2, 4.0);
    let (mut options, mut threads, mut tolerance) = (AmgOptions::default(), 0, 1e-8);
    for argument in std::env::args().skip(1) {
        match argument.split_once('=') {
            Some(("preconditioner", word)) => word.clone_into(&mut preconditioner),
            Some(("cycle", word)) => options.cycle = word.parse()?,
            Some(("smoother", word)) => options.smoother = word.parse()?,
            Some(("coarsening", word)) => options.coarsening = word.parse()?,
            Some(("quality", word)) => {
                options.coarsening = Coarsening::Pairwise { passes: 2, quality: word.parse()? };
            }
            Some(("threads", word)) => threads = word.parse()?,
            Some(("degree", word)) => chebyshev.0 = word.parse()?,
            Some(("ratio", word)) => chebyshev.1 = word.parse()?,
            Some(("tolerance", word)) => tolerance = word.parse()?,
            Some(("singular", "yes")) => options.null_space = NullSpace::Constant,
            Some((option, _)) => return Err(format!("no option is called '{option}'").into()),
            None => path = argument,
        }
    }
    if let Smoother::Chebyshev { .. } = options.smoother {
        options.smoother = Smoother::Chebyshev { degree: chebyshev.0, ratio: chebyshev.1 };
    }
    let host = Host::new(threads)?;
    let a = matrix(&path)?;
    println!("{path}: {} rows, {} entries; {}", a.n_rows(), a.n_nonzeros(), host.describe());

    // Half smooth, half rough.
    let b: Vec<f64> = (0..a.n_rows()).map(|i| 1.0 + (i as f64).sin()).collect();
    let b = host.upload(&b)?;

    let start = Instant::now();
    let mut m: Box<dyn Preconditioner<HostVector<f64>> + Send> = match preconditioner.as_str() {
        "none" => Box::new(Identity),
        "jacobi" => Box::new(Jacobi::new(&host, &a)?),
        "amg" => {
            let amg = Amg::new(&host, &a, &options)?;
            println!("{}", amg.summary());
            Box::new(amg)
        }
        "amg-double" => Box::new(Amg::in_double(&host, &a, &options)?),
        _ => return Err(format!("no preconditioner is called '{preconditioner}'").into()),
    };
    let setup = start.elapsed().as_secs_f64();
    let stop = Stop {
        relative: tolerance,
        reference: Reference::RightHandSide,
        max_iterations: 10_000,
        ..Stop::default()
    };
    let start = Instant::now();
    let mut pcg = Pcg::new(&b)?.flexible();
    if options.null_space == NullSpace::Constant {
        pcg = pcg.without_mean()?;
    }
    let mut x = b.zeros_like()?;
    let result = host.install(|| pcg.solve(&a, &mut m, &b, &mut x, &stop));
    let time = start.elapsed().as_secs_f64();
    match result {
        Ok(solution) => {
            let (n, r) = (solution.iterations, solution.true_residual / b.norm2());
            println!("{preconditioner}: {n} iterations, residual {r:.2e} of |b|");
            println!("set-up {setup:.3} s, solve {time:.3} s, together {:.3} s", setup + time);
        }
        Err(error @ SolveError::MaxIterations { .. }) => println!("{preconditioner}: {error}"),
        Err(error) => return Err(error.into()),
    }
    Ok(())
}
