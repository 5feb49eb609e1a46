//! Compares order and cost of the schemes on an eccentric orbit: `cargo run --release --example kepler`.
//!
//! `x'' = -x / |x|³` from the perihelion of an orbit of eccentricity 1/2. After one period the planet returns
//! to its start; its distance from the start is the error.

use dgsuite_gpu::{GpuError, Host, HostVector};
use dgsuite_timeint::{Controller, Schedule, Scheme, StepSize, Stepper, from_fn};

type Orbit = HostVector<f64>;

fn gravity(_t: f64, u: &Orbit, du: &mut Orbit) {
    let r3 = (u[0] * u[0] + u[1] * u[1]).powf(1.5);
    (du[0], du[1], du[2], du[3]) = (u[2], u[3], -u[0] / r3, -u[1] / r3);
}

/// Distance from the start after one period in `n` steps.
fn miss(host: &Host, scheme: Scheme, n: usize) -> Result<f64, Box<dyn std::error::Error>> {
    let start = [0.5, 0.0, 0.0, 3.0f64.sqrt()];
    let mut u = HostVector::from_slice(host, &start)?;
    let mut rhs = from_fn(gravity);
    let mut stepper = Stepper::new(scheme, &u)?;
    let period = std::f64::consts::TAU;
    let schedule = Schedule { end: Some(period), ..Schedule::default() };
    let mut run = Controller::new(&schedule, StepSize::Fixed(period / n as f64))?;
    while let Some(step) = run.plan(f64::INFINITY)? {
        let Ok(()) = stepper.step(&mut rhs, step.t, step.dt, &mut u);
        run.accept(&step);
    }
    Ok(f64::hypot(u[0] - start[0], u[1] - start[1]))
}

#[allow(clippy::print_stdout)]
fn main() -> Result<(), Box<dyn std::error::Error>> {
    let host: Result<Host, GpuError> = Host::new(1);
    let host = host?;
    println!(
        "{:<8} {:>6} {:>8} {:>12} {:>6}   at equal cost: 12,000 evaluations",
        "scheme", "stages", "vectors", "error", "rate"
    );
    for scheme in Scheme::ALL {
        let n = 12_000 / scheme.n_stages();
        let (coarse, fine) = (miss(&host, scheme, n / 2)?, miss(&host, scheme, n)?);
        let rate = (coarse / fine).log2();
        let (stages, vectors) = (scheme.n_stages(), scheme.n_vectors());
        println!("{:<8} {stages:>6} {vectors:>8} {fine:>12.3e} {rate:>6.2}", scheme.name());
    }
    Ok(())
}
