//! Solves `A x = b` for a Matrix Market file or a problem of the gallery, with any preconditioner of this
//! crate:
//! `cargo run --release --example solve_matrix_market -- [FILE | poisson-5:N | poisson-7:N | poisson-27:N |
//! anisotropic:N | jump:N | neumann:N | sipdg:N | sipdg-half:N] [OPTION=VALUE …]`.
//!
//! The right-hand side is half smooth and half rough, or is read from a file with one number a line, such as
//! a Matrix Market `array` (`rhs=FILE`). `solution=FILE` writes the solution in the same format. The exit
//! code is 1 if the solve does not converge, and for any error in the file or the options.
//!
//! Options: `device` (cpu, cuda), `preconditioner` (amg, amg-double, jacobi, none), `cycle` (v, w, k, k2 …),
//! `smoother` (chebyshev, chebyshev-4, jacobi, l1-jacobi), `coarsening` (pairwise, pairwise-strict,
//! independent-sets, independent-sets-negative, smoothed), `quality` (κ of `pairwise`), `degree` and `ratio`
//! (of `chebyshev`), `tolerance`, `threads`, `singular` (yes for pure Neumann problems).

use std::fmt::Write as _;
use std::process::ExitCode;
use std::time::Instant;

use dgsuite_amg::cuda::{CudaAmg, CudaCsr};
use dgsuite_amg::{
    Amg, AmgError, AmgOptions, Coarsening, Csr, Identity, Jacobi, KrylovVector, LinearOperator, NullSpace,
    Pcg, Preconditioner, Reference, SlicedCsr, Smoother, Solution, SolveError, Stop, gallery,
    read_matrix_market,
};
use dgsuite_gpu::cuda::Cuda;
use dgsuite_gpu::{Backend, GpuError, Host, HugePages, Vector};

#[global_allocator]
static ALLOCATOR: HugePages = HugePages;

const SAMPLE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/data/poisson_10x10.mtx");

type Failure = Box<dyn std::error::Error>;

/// The matrix for a word: a file, or a problem of the gallery with its size.
fn matrix(word: &str) -> Result<Csr<f64>, Failure> {
    let problem = word.split_once(':').filter(|_| !std::path::Path::new(word).exists());
    let Some((name, size)) = problem else { return Ok(read_matrix_market(word)?) };
    let n: usize = number("the size of the problem", size)?;
    if n == 0 {
        return Err("a problem of size 0 has no rows".into());
    }
    // Squares of n/16 cells, with κ = 1 and 10⁴ alternating.
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
        _ => {
            let known = "poisson-5, poisson-7, poisson-27, anisotropic, jump, neumann, sipdg or sipdg-half";
            return Err(format!("unknown problem '{name}', expected {known} before the colon").into());
        }
    })
}

/// Parses a number of the command line.
fn number<T: std::str::FromStr>(what: &str, word: &str) -> Result<T, Failure> {
    word.parse().map_err(|_| format!("{what} must be a number, found '{word}'").into())
}

/// A preconditioner of one machine's vectors.
type Boxed<B> = Box<dyn Preconditioner<<B as Backend>::Vector<f64>> + Send>;

/// The preconditioner for a word; `amg` and `in_double` build the machine's own.
fn preconditioner<B: Backend>(
    word: &str,
    machine: &B,
    a: &Csr<f64>,
    amg: impl FnOnce() -> Result<Boxed<B>, Failure>,
    in_double: impl FnOnce() -> Result<Boxed<B>, Failure>,
) -> Result<Boxed<B>, Failure>
where
    B::Vector<f64>: 'static,
{
    match word {
        "none" => Ok(Box::new(Identity)),
        "jacobi" => Ok(Box::new(Jacobi::new(machine, a)?)),
        "amg" => amg(),
        "amg-double" => in_double(),
        _ => Err(format!("unknown preconditioner '{word}', expected amg, amg-double, jacobi or none").into()),
    }
}

/// The result of a solve, its time in seconds, and the last iterate.
type Solved<V> = (Result<Solution, SolveError>, f64, V);

/// Solves from a zero guess.
fn solve<V: KrylovVector>(
    a: &impl LinearOperator<V>,
    m: &mut (dyn Preconditioner<V> + Send),
    b: &V,
    without_mean: bool,
    stop: &Stop,
) -> Result<Solved<V>, GpuError> {
    struct Borrowed<'a, V: Vector>(&'a mut (dyn Preconditioner<V> + Send));
    impl<V: Vector> Preconditioner<V> for Borrowed<'_, V> {
        fn apply(&mut self, r: &V, z: &mut V) {
            self.0.apply(r, z);
        }
    }
    let start = Instant::now();
    let mut pcg = Pcg::new(b)?.flexible();
    if without_mean {
        pcg = pcg.without_mean()?;
    }
    let mut x = b.zeros_like()?;
    let result = pcg.solve(a, &mut Borrowed(m), b, &mut x, stop);
    Ok((result, start.elapsed().as_secs_f64(), x))
}

/// Reads a file with one number a line; skips lines with `%` and, in a Matrix Market array, the line with the
/// sizes.
fn numbers(path: &str, n: usize) -> Result<Vec<f64>, Failure> {
    let text = std::fs::read_to_string(path).map_err(|error| format!("cannot read {path}: {error}"))?;
    let array = text.starts_with("%%MatrixMarket");
    let lines = text.lines().enumerate().map(|(i, line)| (i + 1, line.trim()));
    let lines = lines.filter(|(_, line)| !line.is_empty() && !line.starts_with('%')).skip(usize::from(array));
    let entry = |(i, line): (usize, &str)| match line.parse() {
        Ok(value) => Ok(value),
        Err(_) => Err(format!("{path}, line {i}: expected a number, found '{line}'")),
    };
    let found: Vec<f64> = lines.map(entry).collect::<Result<_, _>>()?;
    match found.len() {
        len if len == n => Ok(found),
        len => Err(format!("{path} contains {len} numbers, but the matrix has {n} rows").into()),
    }
}

/// Writes a vector as a Matrix Market array.
fn keep(path: &str, x: &[f64]) -> Result<(), Failure> {
    let mut text = format!("%%MatrixMarket matrix array real general\n{} 1\n", x.len());
    for x in x {
        let _ = writeln!(text, "{x:e}");
    }
    std::fs::write(path, text).map_err(|error| format!("cannot write {path}: {error}").into())
}

#[allow(clippy::print_stderr)]
fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            let mut text = format!("error: {error}");
            let mut cause = error.source();
            while let Some(error) = cause {
                let _ = write!(text, ": {error}");
                cause = error.source();
            }
            text.push_str(match error.downcast_ref() {
                Some(AmgError::Singular { .. }) => " (here: singular=yes)",
                Some(AmgError::Matrix { .. }) => " (rows and columns are counted from 0)",
                _ => "",
            });
            eprintln!("{text}");
            ExitCode::FAILURE
        }
    }
}

#[allow(clippy::print_stdout)]
fn run() -> Result<(), Failure> {
    let mut path = SAMPLE.to_owned();
    let (mut rhs, mut output) = (None, None);
    let mut cycle = None;
    let (mut word, mut device) = ("amg".to_owned(), "cpu".to_owned());
    let mut chebyshev = (2, 4.0);
    let (mut options, mut threads, mut tolerance) = (AmgOptions::default(), 0, 1e-8);
    for argument in std::env::args().skip(1) {
        match argument.split_once('=') {
            Some(("preconditioner", value)) => value.clone_into(&mut word),
            Some(("device" | "--device", value)) => value.clone_into(&mut device),
            Some(("cycle", word)) => cycle = Some(word.parse()?),
            Some(("smoother", word)) => options.smoother = word.parse()?,
            Some(("coarsening", word)) => options.coarsening = word.parse()?,
            Some(("quality", word)) => {
                options.coarsening = Coarsening::Pairwise { passes: 2, quality: number("quality", word)? };
            }
            Some(("threads", word)) => threads = number("threads", word)?,
            Some(("degree", word)) => chebyshev.0 = number("degree", word)?,
            Some(("ratio", word)) => chebyshev.1 = number("ratio", word)?,
            Some(("tolerance", word)) => tolerance = number("tolerance", word)?,
            Some(("rhs", file)) => rhs = Some(file.to_owned()),
            Some(("solution", file)) => output = Some(file.to_owned()),
            Some(("singular", "yes")) => options.null_space = NullSpace::Constant,
            Some(("singular", "no")) => options.null_space = NullSpace::None,
            Some(("singular", word)) => {
                return Err(format!("singular must be yes or no, found '{word}'").into());
            }
            Some((option, _)) => {
                let known = "device preconditioner cycle smoother coarsening quality degree ratio tolerance threads singular \
                             rhs solution";
                return Err(format!("unknown option '{option}', expected one of {known}").into());
            }
            None if argument.starts_with('-') => {
                return Err(format!("expected a FILE or OPTION=VALUE, found '{argument}'").into());
            }
            None => path = argument,
        }
    }
    if !(tolerance > 0.0 && tolerance < 1.0) {
        return Err(format!("tolerance is {tolerance}, but must lie between 0 and 1").into());
    }
    if let Smoother::Chebyshev { .. } = options.smoother {
        options.smoother = Smoother::Chebyshev { degree: chebyshev.0, ratio: chebyshev.1 };
    }
    if device == "cuda" {
        options.cycle = AmgOptions::on_device().cycle;
    }
    options.cycle = cycle.unwrap_or(options.cycle);
    let host = Host::new(threads)?;
    let a = matrix(&path)?;
    println!("{path}: {} rows, {} entries; {}", a.n_rows(), a.n_nonzeros(), host.describe());

    if !word.starts_with("amg") {
        // Multigrid checks the symmetry itself.
        a.require_symmetric(1e-12).map_err(|error| format!("conjugate gradients cannot be used: {error}"))?;
    }
    let b: Vec<f64> = match &rhs {
        Some(file) => numbers(file, a.n_rows())?,
        None => (0..a.n_rows()).map(|i| 1.0 + (i as f64).sin()).collect(),
    };
    let norm = b.iter().map(|b| b * b).sum::<f64>().sqrt();
    let stop = Stop {
        relative: tolerance,
        reference: Reference::RightHandSide,
        max_iterations: 10_000,
        ..Stop::default()
    };
    let singular = options.null_space == NullSpace::Constant;
    let start = Instant::now();
    let mut x = vec![0.0; a.n_rows()];
    let (result, time, setup) = match device.as_str() {
        "cpu" => {
            let single = || {
                let amg = Amg::new(&host, &a, &options)?;
                println!("{}", amg.summary());
                Ok(Box::new(amg) as _)
            };
            let double = || {
                let amg = Amg::in_double(&host, &a, &options)?;
                println!("{}", amg.summary());
                Ok(Box::new(amg) as _)
            };
            let mut m = preconditioner(&word, &host, &a, single, double)?;
            let (sliced, b) = (SlicedCsr::new(&host, &a), host.upload(&b)?);
            let setup = start.elapsed().as_secs_f64();
            let (result, time, last) = host.install(|| solve(&sliced, &mut *m, &b, singular, &stop))?;
            host.download(&last, &mut x)?;
            (result, time, setup)
        }
        "cuda" => {
            let cuda = Cuda::new(0)?;
            println!("{}", cuda.describe());
            let single = || {
                let amg = CudaAmg::new(&host, &cuda, &a, &options)?;
                println!("{}\n{} launches in a cycle", amg.summary(), amg.n_launches());
                Ok(Box::new(amg) as _)
            };
            let double = || {
                let amg = CudaAmg::in_double(&host, &cuda, &a, &options)?;
                println!("{}\n{} launches in a cycle", amg.summary(), amg.n_launches());
                Ok(Box::new(amg) as _)
            };
            let mut m = preconditioner(&word, &cuda, &a, single, double)?;
            let (a, b) = (CudaCsr::new(&cuda, &a)?, cuda.upload(&b)?);
            let setup = start.elapsed().as_secs_f64();
            let (result, time, last) = solve(&a, &mut *m, &b, singular, &stop)?;
            cuda.download(&last, &mut x)?;
            (result, time, setup)
        }
        _ => return Err(format!("unknown device '{device}', expected cpu or cuda").into()),
    };
    let solution = result?;
    println!(
        "{word}: {} iterations, residual {:.2e} of |b|",
        solution.iterations,
        if norm > 0.0 { solution.true_residual / norm } else { 0.0 }
    );
    println!("set-up {setup:.3} s, solve {time:.3} s, together {:.3} s", setup + time);
    match output {
        Some(file) => keep(&file, &x),
        None => Ok(()),
    }
}
