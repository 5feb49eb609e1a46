//! Solves Sod's shock tube by first-order finite volumes with each flux, and prints the errors.
//!
//! `cargo run --release -p dgsuite-physics --example sod -- [cells]`
#![expect(clippy::print_stdout, reason = "the program prints a table")]

use dgsuite_physics::exact::{ExactError, RiemannProblem, Solution};
use dgsuite_physics::{Euler, Hll, Hllc, Law, NumericalFlux, Roe, Rusanov};

const GAS: Euler = Euler { gamma: 1.4 };
const END: f64 = 0.2;

/// Mean of `|ρ − ρ_exact|` at `t = 0.2` on `n` cells of the unit interval.
fn error<F: NumericalFlux<Euler, 2, 4>>(flux: F, sod: &RiemannProblem, n: usize) -> f64 {
    let h = 1.0 / n as f64;
    let exact = |t: f64, i: usize| -> [f64; 4] { sod.primitive(t, &[(i as f64 + 0.5) * h, 0.0, 0.0]) };
    let mut u: Vec<[f64; 4]> = (0..n).map(|i| GAS.to_conserved(&exact(0.0, i))).collect();
    let mut t = 0.0;
    while t < END {
        let fastest = u.iter().map(|u| GAS.max_speed(u)).fold(0.0, f64::max);
        let dt = (0.5 * h / fastest).min(END - t);
        // Faces 0 … n; the states outside the ends are copies of the end cells.
        let faces: Vec<[f64; 4]> = (0..=n)
            .map(|f| flux.eval(&GAS, &u[f.saturating_sub(1)], &u[f.min(n - 1)], &[1.0, 0.0]))
            .collect();
        for (i, u) in u.iter_mut().enumerate() {
            for k in 0..4 {
                u[k] -= dt / h * (faces[i + 1][k] - faces[i][k]);
            }
        }
        t += dt;
    }
    u.iter().enumerate().map(|(i, u)| (u[0] - exact(END, i)[0]).abs()).sum::<f64>() * h
}

fn main() -> Result<(), ExactError> {
    let cells = std::env::args().nth(1).and_then(|a| a.parse().ok()).unwrap_or(200);
    let sod = RiemannProblem::sod(GAS, 0.5)?;
    let star = sod.star();
    println!("between the waves: p* = {:.8}, u* = {:.8}", star.pressure, star.velocity);
    println!("wave speeds: {:.6?}", sod.speeds());
    println!("\nL1 error of density at t = {END}, first order, {cells} and {} cells", 2 * cells);
    let row = |name: &str, coarse: f64, fine: f64| {
        println!("{name:8}  {coarse:.4e}  {fine:.4e}  order {:.2}", (coarse / fine).log2());
    };
    row("rusanov", error(Rusanov, &sod, cells), error(Rusanov, &sod, 2 * cells));
    row("hll", error(Hll, &sod, cells), error(Hll, &sod, 2 * cells));
    row("hllc", error(Hllc, &sod, cells), error(Hllc, &sod, 2 * cells));
    row("roe", error(Roe::PLAIN, &sod, cells), error(Roe::PLAIN, &sod, 2 * cells));
    Ok(())
}
