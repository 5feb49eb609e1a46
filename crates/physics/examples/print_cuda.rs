//! Prints a numerical flux of the Euler equations as CUDA C++.
//!
//! `cargo run --release -p dgsuite-physics --example print_cuda -- [rusanov|hll|hllc|roe] [2|3]`
#![expect(clippy::print_stdout, reason = "the program prints a text")]

use dgsuite_physics::trace::{PRELUDE, Parameters, ROOTS, TraceError, device_fn};
use dgsuite_physics::{Euler, Hll, Hllc, Law, NumericalFlux, Roe, Rusanov};

fn print<F: NumericalFlux<Euler, D, N>, const D: usize, const N: usize>(flux: F) -> Result<(), TraceError>
where
    Euler: Law<D, N>,
{
    let gas = Euler { gamma: 1.4 };
    let mut parameters = Parameters::new();
    let arguments = [("um", N), ("up", N), ("n", D)];
    let text = device_fn(F::NAME, &arguments, &mut parameters, |a| {
        flux.eval(&gas, &a.array("um"), &a.array("up"), &a.array("n"))
    })?;
    println!("typedef double real;\n{ROOTS}{PRELUDE}{}{text}", parameters.definition());
    Ok(())
}

fn main() -> Result<(), TraceError> {
    let mut arguments = std::env::args().skip(1);
    let name = arguments.next().unwrap_or_else(|| "hllc".to_owned());
    let dim = arguments.next().unwrap_or_else(|| "2".to_owned());
    match (name.as_str(), dim.as_str()) {
        ("rusanov", "2") => print::<_, 2, 4>(Rusanov),
        ("rusanov", "3") => print::<_, 3, 5>(Rusanov),
        ("hll", "2") => print::<_, 2, 4>(Hll),
        ("hll", "3") => print::<_, 3, 5>(Hll),
        ("hllc", "2") => print::<_, 2, 4>(Hllc),
        ("hllc", "3") => print::<_, 3, 5>(Hllc),
        ("roe", "2") => print::<_, 2, 4>(Roe::PLAIN),
        ("roe", "3") => print::<_, 3, 5>(Roe::PLAIN),
        _ => {
            println!("usage: print_cuda [rusanov|hll|hllc|roe] [2|3]");
            Ok(())
        }
    }
}
