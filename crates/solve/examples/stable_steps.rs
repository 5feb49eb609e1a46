//! Compares the default step with the largest stable step, by shape, geometry, form and order.
//!
//! The largest stable step is found by stepping a gas at rest, or in a uniform flow, with noise.
//!
//! ```text
//! cargo run --release -p dgsuite-solve --example stable_steps -- \
//!     [orders] [shapes] [forms] [geometries] [fluids] [schemes] [machs]
//! cargo run --release -p dgsuite-solve --example stable_steps -- \
//!     1,2,3 tri,quad modal,collocated affine,curved euler,viscous lserk54 0
//! ```
//!
//! Shapes: `tri quad tet hex prism pyramid tri+quad prism+tet mixed`; forms: `modal collocated fr`;
//! geometries: `affine curved`, and `stretched`, a hundred times longer along x. In `viscous` diffusion alone
//! bounds the step; in `both` it contributes half of the bound. The number is the largest stable step divided
//! by the default step, within two per cent; a step is stable if noise has not grown after 400 steps.

use std::error::Error;
use std::io::Write as _;
use std::sync::Arc;

use dgsuite_mesh::{Mesh, Shape, generate};
use dgsuite_physics::navier_stokes::Viscosity;
use dgsuite_physics::{Euler, Exact, NavierStokes};
use dgsuite_solve::flow::{Flow, Law, NodeSet, Parameter, Setup, State, StepMeasure};
use dgsuite_timeint::Scheme;

/// Number of steps after which noise must not have grown.
const STEPS: usize = 400;

/// Noise larger than this multiple of the initial noise has grown.
const GROWN: f64 = 3.0;

/// Ratio of the bounds at which the search ends.
const CLOSE: f64 = 1.02;

/// A uniform flow of density 1.4 and pressure 1 along (1, 0.5, 0.25), with random noise.
struct Noisy {
    dim: usize,
    mach: f64,
    noise: f64,
}

impl Exact for Noisy {
    fn n_fields(&self) -> usize {
        self.dim + 2
    }

    fn eval(&self, _t: f64, points: &[[f64; 3]], out: &mut [Vec<f64>]) {
        let direction = [1.0, 0.5, 0.25];
        let length = direction[..self.dim].iter().map(|d: &f64| d * d).sum::<f64>().sqrt();
        out.iter_mut().for_each(Vec::clear);
        for x in points {
            let noise = |k: usize| {
                let s = (x[0] * 127.1 + x[1] * 311.7 + x[2] * 74.7 + k as f64 * 19.19).sin() * 43_758.545_3;
                self.noise * (2.0 * (s - s.floor()) - 1.0)
            };
            let (rho, p) = (1.4 + noise(0), 1.0 + noise(1));
            let mut kinetic = 0.0;
            out[0].push(rho);
            for d in 0..self.dim {
                let v = self.mach * direction[d] / length + noise(2 + d);
                out[1 + d].push(rho * v);
                kinetic += 0.5 * rho * v * v;
            }
            out[self.dim + 1].push(p / 0.4 + kinetic);
        }
    }
}

/// One row of the table.
struct Case<'a> {
    shape: &'a str,
    form: &'a str,
    cells: &'a str,
    fluid: &'a str,
    scheme: Scheme,
    mach: f64,
}

/// A periodic unit square or cube.
fn mesh(shape: &str, geometry: &str, order: usize) -> Result<Mesh, Box<dyn Error>> {
    // Waves over several cells limit low orders, waves over two cells high ones.
    let (plane, space) = (if order < 4 { 8 } else { 4 }, if order < 3 { 4 } else { 2 });
    let box_of =
        |shape: Shape| generate::Box::unit(shape, if shape.dim() == 2 { plane } else { space }).build();
    let stack = |shapes: [Shape; 2]| {
        let cells = if shapes[0].dim() == 2 { [plane, plane, 1] } else { [space, space, 4] };
        generate::Stack { shapes, min: [0.0; 3], max: [1.0; 3], cells, lower: cells[shapes[0].dim() - 1] / 2 }
            .build()
    };
    let mut mesh = match shape {
        "tri" => box_of(Shape::Triangle)?,
        "quad" => box_of(Shape::Quadrilateral)?,
        "tet" => box_of(Shape::Tetrahedron)?,
        "hex" => box_of(Shape::Hexahedron)?,
        "prism" => box_of(Shape::Prism)?,
        "pyramid" => box_of(Shape::Pyramid)?,
        "tri+quad" => stack([Shape::Triangle, Shape::Quadrilateral])?,
        "prism+tet" => stack([Shape::Prism, Shape::Tetrahedron])?,
        "mixed" => {
            let cells = [5, 2, 2];
            generate::MixedBox { dim: 3, min: [0.0; 3], max: [2.5, 1.0, 1.0], cells }.build()?
        }
        other => return Err(format!("no shape {other}").into()),
    };
    let axes = [("xmin", "xmax"), ("ymin", "ymax"), ("zmin", "zmax")];
    for (first, second) in &axes[..mesh.dim] {
        mesh.make_periodic(first, second)?;
    }
    if geometry == "stretched" {
        mesh.map(|[x, y, z]| [100.0 * x, y, z])?;
    }
    if geometry == "curved" {
        mesh.elevate(order.clamp(2, 3))?;
        let wave = |a: f64| (std::f64::consts::TAU * a).sin();
        mesh.map(|[x, y, z]| {
            let bend = 0.06 * wave(x) * wave(y);
            [x + bend, y + bend, z]
        })?;
    }
    Ok(mesh)
}

fn solver(case: &Case<'_>, mesh: &Arc<Mesh>, order: usize, mu: f64) -> Result<Flow, Box<dyn Error>> {
    let gas = Euler { gamma: 1.4 };
    let viscosity = Viscosity::Constant { mu };
    let law = match case.fluid {
        "euler" => Law::Euler { gamma: 1.4, gas_constant: 1.0 },
        _ => Law::NavierStokes(NavierStokes {
            gas,
            prandtl: 0.72,
            viscosity,
            gas_constant: 1.0,
            closure: None,
        }),
    };
    let setup = Setup::new(Arc::clone(mesh), law, order);
    let setup = match case.form {
        "modal" => setup,
        "collocated" => setup.collocated(),
        "fr" => setup.flux_reconstruction(NodeSet::GaussLegendre, Parameter::C(0.0)),
        other => return Err(format!("no form {other}").into()),
    };
    let setup = Setup { scheme: case.scheme, step_measure: StepMeasure::Radius, threads: 1, ..setup };
    let flow = Noisy { dim: mesh.dim, mach: case.mach, noise: 1e-6 };
    Ok(Flow::new(setup, &flow, 0.0)?)
}

/// Returns the largest stable step divided by the default step.
fn ratio(case: &Case<'_>, order: usize) -> Result<f64, Box<dyn Error>> {
    let mesh = Arc::new(mesh(case.shape, case.cells, order)?);
    let mut mu = 100.0;
    if case.fluid == "both" {
        // Diffusion contributes as much to 1/Δt as waves.
        let waves = 1.0 / solver(case, &mesh, order, 1e-12)?.stable_dt()?;
        mu = waves / (1.0 / solver(case, &mesh, order, 1.0)?.stable_dt()? - waves);
    }
    let mut solver = solver(case, &mesh, order, mu)?;
    let start = solver.save();
    let quiet = Noisy { dim: mesh.dim, mach: case.mach, noise: 0.0 };
    let default = case.scheme.stable_radius(order) * solver.stable_dt()?;
    let (mut stable, mut unstable) = (0.25, 0.25);
    while unstable < 64.0 && is_stable(&mut solver, &start, &quiet, unstable * default)? {
        stable = unstable;
        unstable *= 1.5;
    }
    while unstable > CLOSE * stable {
        let middle = (stable * unstable).sqrt();
        if is_stable(&mut solver, &start, &quiet, middle * default)? {
            stable = middle;
        } else {
            unstable = middle;
        }
    }
    Ok(stable)
}

fn is_stable(solver: &mut Flow, start: &State, quiet: &Noisy, dt: f64) -> Result<bool, Box<dyn Error>> {
    solver.restore(start)?;
    let size = |solver: &Flow| solver.errors(quiet, 0.0).l2.iter().map(|e| e * e).sum::<f64>().sqrt();
    let first = size(solver);
    for step in 0..STEPS {
        solver.step(dt)?;
        if step % 50 == 49 {
            let now = size(solver);
            if now.is_nan() || now > GROWN * first {
                return Ok(false);
            }
        }
    }
    Ok(true)
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let list = |i: usize, default: &str| -> Vec<String> {
        let text = arguments.get(i).map_or(default, String::as_str);
        text.split(',').map(str::to_owned).collect()
    };
    let orders: Vec<usize> = list(0, "1,2,3").iter().map(|p| p.parse()).collect::<Result<_, _>>()?;
    let machs: Vec<f64> = list(6, "0").iter().map(|m| m.parse()).collect::<Result<_, _>>()?;
    let mut out = std::io::stdout();
    write!(
        out,
        "{:<10} {:<10} {:<7} {:<8} {:<8} {:>4}",
        "shape", "form", "cells", "fluid", "scheme", "Mach"
    )?;
    for order in &orders {
        write!(out, "  {:>6}", format!("p = {order}"))?;
    }
    writeln!(out)?;
    let (mut least, mut most) = (f64::INFINITY, 0.0_f64);
    for shape in &list(1, "tri,quad") {
        for form in &list(2, "modal") {
            if form != "modal" && matches!(shape.as_str(), "pyramid" | "mixed") {
                continue;
            }
            for cells in &list(3, "affine") {
                for fluid in &list(4, "euler,viscous") {
                    for scheme in &list(5, "lserk54") {
                        for &mach in &machs {
                            let scheme = scheme.parse()?;
                            let case = Case { shape, form, cells, fluid, scheme, mach };
                            write!(
                                out,
                                "{shape:<10} {form:<10} {cells:<7} {fluid:<8} {:<8} {mach:>4}",
                                scheme.name()
                            )?;
                            for &order in &orders {
                                let ratio = ratio(&case, order)?;
                                (least, most) = (least.min(ratio), most.max(ratio));
                                write!(out, "  {ratio:>6.2}")?;
                                out.flush()?;
                            }
                            writeln!(out)?;
                        }
                    }
                }
            }
        }
    }
    writeln!(out, "largest stable step over the default step: {least:.2} to {most:.2}")?;
    Ok(())
}
