//! Advects a wave once through a periodic square, with the right-hand side and its fused stages only.
//!
//! ```sh
//! cargo run --release -p dgsuite-ops --example wave
//! ```
//!
//! Solves `∂u/∂t + a·∇u = 0` with `a = (1, 1/2)` until `t = 2`, when the exact solution equals the initial
//! state. Time integration is the scheme of Shu and Osher (1988) in three stages
//! `next ← b u₀ + (1 − b) (u + dt R(u))`. Prints the L² error on two meshes and the order of convergence.

#![allow(clippy::print_stdout)] // a program that prints

use dgsuite_gpu::Host;
use dgsuite_mesh::{Shape, generate::Box as Square};
use dgsuite_ops::{Discretization, Pointwise, Scheme, StageWeights};
use dgsuite_physics::{Advection, Exact, Rusanov};
use std::sync::Arc;

/// `sin(2π (x − t)) sin(2π (y − t/2))`.
struct Wave;

impl Exact for Wave {
    fn n_fields(&self) -> usize {
        1
    }

    fn eval(&self, t: f64, x: &[[f64; 3]], out: &mut [Vec<f64>]) {
        let turn = 2.0 * std::f64::consts::PI;
        out[0].clear();
        out[0].extend(x.iter().map(|x| (turn * (x[0] - t)).sin() * (turn * (x[1] - 0.5 * t)).sin()));
    }
}

/// Computes the L² error at `t = 2` on `n × n` squares divided into triangles.
fn error(n: usize, order: usize) -> Result<f64, Box<dyn std::error::Error>> {
    let mut mesh = Square::unit(Shape::Triangle, n).build()?;
    mesh.make_periodic("xmin", "xmax")?;
    mesh.make_periodic("ymin", "ymax")?;
    let law = Advection { velocity: [1.0, 0.5] };
    let physics = Box::new(Pointwise::<_, _, 2, 1> { law, flux: Rusanov });
    let host = Arc::new(Host::new(0)?);
    let mut rhs =
        Discretization::<f64>::new(Arc::new(mesh), &Scheme::modal(order), physics, Vec::new(), host)?;
    let zeros = || vec![0.0; rhs.len()];
    let (mut u, mut stage, mut next, mut register) = (zeros(), zeros(), zeros(), zeros());
    rhs.project(&Wave, 0.0, &mut u);
    let end = 2.0;
    let steps = (end / (0.3 * rhs.time_step(&u, None)?)).ceil();
    let dt = end / steps;
    for step in 0..steps as usize {
        let t = step as f64 * dt;
        // A register of weight 0 is not read; c = 1 − b gives (1 − b) (u + dt R).
        let weights = |b: f64| StageWeights { a: 0.0, b, c: 1.0 - b, dt, keep: false };
        rhs.stage(t, weights(0.0), &u, None, &mut register, &mut stage);
        rhs.stage(t + dt, weights(0.75), &stage, Some(&u), &mut register, &mut next);
        rhs.stage(t + 0.5 * dt, weights(1.0 / 3.0), &next, Some(&u), &mut register, &mut stage);
        std::mem::swap(&mut u, &mut stage);
    }
    let (_, norms) = rhs.errors(&u, &Wave, end);
    Ok(norms.l2[0])
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let order = 2;
    let (coarse, fine) = (error(8, order)?, error(16, order)?);
    println!("p = {order}: L² error {coarse:.3e} on 8 x 8 squares, {fine:.3e} on 16 x 16");
    println!("order {:.2}", (coarse / fine).log2());
    Ok(())
}
