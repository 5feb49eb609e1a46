//! Prints value, derivative, time per evaluation and device code of a formula.
//!
//! `cargo run --release -p dgsuite-physics --example formula -- "1 + 0.2*sin(pi*(x+y))*exp(-x^2)"`
#![expect(clippy::print_stdout, reason = "the program prints a report")]

use dgsuite_physics::Dual;
use dgsuite_physics::formula::{Formula, Names};
use dgsuite_physics::trace::{Parameters, device_fn};
use std::hint::black_box;
use std::time::Instant;

/// The default formula in Rust, to compare the speed.
fn native(x: f64, y: f64) -> f64 {
    1.0 + 0.2 * (std::f64::consts::PI * (x + y)).sin() * (-(x * x)).exp()
}

/// Nanoseconds per point, the best of some runs.
fn time(n: usize, mut run: impl FnMut()) -> f64 {
    let best = (0..20).map(|_| {
        let start = Instant::now();
        run();
        start.elapsed().as_secs_f64()
    });
    best.fold(f64::INFINITY, f64::min) / n as f64 * 1e9
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let default = "1 + 0.2*sin(pi*(x+y))*exp(-x^2)".to_owned();
    let text = std::env::args().nth(1).unwrap_or(default);
    let formula = match Formula::parse(&text, &Names::space_time()) {
        Ok(formula) => formula,
        Err(error) => {
            println!("{}\n{}", error.snippet(), error.kind);
            if let Some(hint) = &error.hint {
                println!("hint: {hint}");
            }
            return Ok(());
        }
    };
    let point = [0.3, -0.4, 0.5, 0.0];
    let mut seeded = point.map(Dual::constant);
    seeded[0] = Dual::variable(point[0]);
    println!("at (x, y, z, t) = {point:?}: {}", formula.eval(&point));
    println!("its derivative by x:          {}", formula.trace(&seeded).derivative);
    println!("it depends on:                {}", formula.variables().join(", "));

    let n = 100_000;
    let x: Vec<f64> = (0..n).map(|i| (i as f64 * 1e-3).sin()).collect();
    let y: Vec<f64> = (0..n).map(|i| (i as f64 * 7e-4).cos()).collect();
    let mut out = vec![0.0; n];
    let batch = time(n, || formula.eval_batch(&[&x, &y, &[0.0], &[0.0]], black_box(&mut out)));
    println!("in batches:                   {batch:.1} ns per point");
    let rust = time(n, || {
        for (o, (x, y)) in out.iter_mut().zip(x.iter().zip(&y)) {
            *o = native(*x, *y);
        }
        black_box(&mut out);
    });
    println!("the default formula in Rust:  {rust:.1} ns per point\n");

    let mut parameters = Parameters::new();
    let device = device_fn("value", &[("x", 3), ("t", 0)], &mut parameters, |a| {
        let [x, y, z] = a.array("x");
        [formula.trace(&[x, y, z, a.scalar("t")])]
    })?;
    println!("{device}");
    Ok(())
}
