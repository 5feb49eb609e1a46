//! An Euler solver from its parts: a mesh, an equation with a numerical flux and a wall of its own, steps in
//! time, errors, a file for ParaView and a picture.
//!
//! ```text
//! cargo run --release --example from-scratch [FOLDER]
//! ```
//!
//! The program that runs pipeline files does much more, but nothing else: each section below is what one
//! crate contributes to it. The flow is a supersonic vortex in a quarter bend, whose solution is known. It is
//! steady, so that what changes in time is the error of the discretisation.

use std::error::Error;
use std::fs;
use std::io::Write as _;
use std::path::PathBuf;
use std::sync::Arc;

use dgsuite_gpu::{Host, HostVector};
use dgsuite_mesh::{Mesh, Shape, generate};
use dgsuite_ops::{
    BoundaryBinding, BoundaryOf, Discretization, Pointwise, Scheme, StageWeights, StepMeasure,
};
use dgsuite_output::picture::{Picture, Run};
use dgsuite_output::writer::{CellBlock, Field, UnstructuredFields, VtuOptions, atomic, pvd};
use dgsuite_physics::exact::{Context, Model, by_name};
use dgsuite_physics::{Boundary, Euler, Exact, Law, NumericalFlux, Outflow, Prescribed, Real};
use dgsuite_timeint::{Controller, Rhs, Schedule, Stage, StepSize, Stepper};

// 1. Point formulas
//
// A formula is written once, for any `Real`. With numbers it runs on CPUs, with packs of numbers in SIMD
// registers; with symbols it is recorded and printed as the text of a CUDA kernel; with dual numbers it gives
// a derivative. This is why it selects by `min` and `max` and never branches on a value.

/// The flux of Harten, Lax and van Leer (1983) with the simplest bounds of the wave speeds (Davis 1988):
/// those of the two states.
#[derive(Clone, Copy, Debug)]
struct Davis;

impl NumericalFlux<Euler, 2, 4> for Davis {
    const NAME: &'static str = "davis";

    fn eval<R: Real>(&self, law: &Euler, um: &[R; 4], up: &[R; 4], n: &[R; 2]) -> [R; 4] {
        let zero = R::lit(0.0);
        let normal = |u: &[R; 4]| (u[1] * n[0] + u[2] * n[1]) * u[0].recip();
        // The largest normal speed is |v·n| + c; without |v·n| it is the speed of sound.
        let bounds = |u: &[R; 4]| {
            let (v, largest) = (normal(u), law.normal_speed(u, n));
            let sound = largest - v.max(-v);
            (v - sound, v + sound)
        };
        let (slow_m, fast_m) = bounds(um);
        let (slow_p, fast_p) = bounds(up);
        let (a, b) = (slow_m.min(slow_p).min(zero), fast_m.max(fast_p).max(zero));
        let (fm, fp) = (law.normal_flux(um, n), law.normal_flux(up, n));
        let inverse = (b - a).recip();
        std::array::from_fn(|k| (b * fm[k] - a * fp[k] + a * b * (up[k] - um[k])) * inverse)
    }
}

/// An inviscid wall: the state outside is the mirrored one, so that no mass passes. It was written without
/// knowing of the flux above, and the flux without knowing of it.
#[derive(Clone, Copy, Debug)]
struct Mirror;

impl Boundary<Euler, 2, 4> for Mirror {
    const NAME: &'static str = "mirror";
    const USES_DATA: bool = false;

    fn outer<R: Real>(&self, _: &Euler, um: &[R; 4], n: &[R; 2], _: &[R; 4]) -> [R; 4] {
        let twice = R::lit(2.0) * (um[1] * n[0] + um[2] * n[1]);
        [um[0], um[1] - twice * n[0], um[2] - twice * n[1], um[3]]
    }
}

// 2. A mesh
//
// Generated here; `dgsuite_mesh::gmsh::read` reads one of Gmsh. Elements of order 3 follow the arcs.
// Boundaries have names, and nothing else: what happens there is not the business of a mesh.

/// A quarter of an annulus between the radii 1 and 1.384, of `n × 4n` cubic quadrilaterals.
fn bend(n: usize) -> Result<Mesh, Box<dyn Error>> {
    let mut square = generate::Box::unit(Shape::Quadrilateral, n);
    square.cells = [n, 4 * n, 1];
    let mut mesh = square.build()?;
    mesh.elevate(3)?;
    mesh.map(|[x, y, _]| {
        let (r, angle) = (1.0 + 0.384 * x, std::f64::consts::FRAC_PI_2 * y);
        [r * angle.cos(), r * angle.sin(), 0.0]
    })?;
    Ok(mesh)
}

// 3. The semi-discrete equation
//
// Law, numerical flux and conditions are put together, and a scheme turns them into du/dt = R(t, u) on the
// mesh. What the scheme is (modal, nodal, collocated, flux reconstruction) is a choice of reference matrices.

/// The flow through a mesh at an order: the gas comes in at the upper end and leaves at the lower one, faster
/// than sound everywhere, so that nothing comes back.
fn discretise(
    mesh: Mesh,
    order: usize,
    inflow: &Arc<dyn Exact>,
) -> Result<Discretization<f64>, Box<dyn Error>> {
    let law = Euler { gamma: 1.4 };
    let boundaries = mesh
        .boundary_names()
        .into_iter()
        .map(|name| {
            // The sides of the square became the ends of the bend (y) and its walls (x).
            let (kernel, data): (Box<dyn dgsuite_ops::BoundaryKernel<f64>>, _) = match name {
                "ymax" => {
                    let kernel = BoundaryOf::<_, _, 2, 4> { law, condition: Prescribed };
                    (Box::new(kernel), Some(Arc::clone(inflow)))
                }
                "ymin" => (Box::new(BoundaryOf::<_, _, 2, 4> { law, condition: Outflow }), None),
                _ => (Box::new(BoundaryOf::<_, _, 2, 4> { law, condition: Mirror }), None),
            };
            BoundaryBinding { name: name.to_owned(), kernel, data }
        })
        .collect();
    let equation = Box::new(Pointwise::<_, _, 2, 4> { law, flux: Davis });
    let host = Arc::new(Host::new(0)?);
    let mut rhs = Discretization::new(Arc::new(mesh), &Scheme::modal(order), equation, boundaries, host)?;
    rhs.measure_steps_by(StepMeasure::Radius);
    Ok(rhs)
}

// 4. Steps in time
//
// `dgsuite_timeint` knows nothing of elements: it advances anything that is an `Rhs`. Handing it the stages,
// too, lets the discretisation compute rate and update in one pass over the mesh.

/// The right-hand side as the schemes in time see it.
struct Semidiscrete(Discretization<f64>);

impl Rhs for Semidiscrete {
    type Vector = HostVector<f64>;
    type Error = std::convert::Infallible;

    fn eval(&mut self, t: f64, u: &Self::Vector, du: &mut Self::Vector) -> Result<(), Self::Error> {
        self.0.eval(t, u, du);
        Ok(())
    }

    fn stage(
        &mut self,
        t: f64,
        s: &Stage,
        u: &Self::Vector,
        u0: Option<&Self::Vector>,
        register: &mut Self::Vector,
        next: &mut Self::Vector,
    ) -> Result<(), Self::Error> {
        let weights = StageWeights { a: s.a, b: s.b, c: s.c, dt: s.dt, keep: s.keep };
        self.0.stage(t, weights, u, u0.map(|u| u.as_slice()), register, next);
        Ok(())
    }
}

/// Advances the projected solution until the time `end`, which the last step hits exactly.
fn march(
    rhs: Discretization<f64>,
    exact: &dyn Exact,
    end: f64,
) -> Result<(Semidiscrete, HostVector<f64>, usize), Box<dyn Error>> {
    let mut u = HostVector::from_slice(&Host::new(0)?, &vec![0.0; rhs.len()])?;
    rhs.project(exact, 0.0, &mut u);
    let scheme = dgsuite_timeint::Scheme::Lserk54;
    let mut stepper = Stepper::new(scheme, &u)?;
    let mut rhs = Semidiscrete(rhs);
    // A share of the largest stable step, from the spectrum of each element.
    let dt = 0.8 * scheme.stable_radius(rhs.0.order()) * rhs.0.time_step(&u, None)?;
    let schedule = Schedule { end: Some(end), ..Schedule::default() };
    let mut run = Controller::new(&schedule, StepSize::Fixed(dt))?;
    let mut steps = 0;
    while let Some(step) = run.plan(f64::INFINITY)? {
        let Ok(()) = stepper.step(&mut rhs, step.t, step.dt, &mut u);
        run.accept(&step);
        steps += 1;
    }
    Ok((rhs, u, steps))
}

// 5. Results
//
// Cells of high order for ParaView, and a picture that evaluates them as finely as it needs.

/// The density as a file and as a picture.
fn write(
    rhs: &Discretization<f64>,
    u: &[f64],
    time: f64,
    folder: &PathBuf,
) -> Result<PathBuf, Box<dyn Error>> {
    fs::create_dir_all(folder)?;
    let pieces = rhs.sample(u, rhs.order()).into_iter().map(|sample| {
        let density = Field::real("Density", 1, sample.values[0].clone());
        let (shape, order, points) = (sample.shape, sample.order, sample.points);
        CellBlock { shape, order, points, point_data: vec![density], cell_data: Vec::new() }
    });
    let fields = UnstructuredFields { time, pieces: pieces.collect() };
    pvd::Series::create(folder.join("fields.pvd"))?.write(&fields, &VtuOptions::default())?;
    let picture = Picture { mesh: true, even_contours: 12, ..Picture::default() };
    let path = folder.join("density.png");
    atomic::write(&path, &picture.draw(&[Run::open(folder)?])?.image(1.0).png())?;
    Ok(path)
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut out = std::io::stdout();
    let folder = std::env::args()
        .nth(1)
        .map_or_else(|| std::env::temp_dir().join("dgsuite-from-scratch"), PathBuf::from);
    let context = Context { dim: 2, model: Model::Euler { gamma: 1.4 }, period: [0.0; 3] };
    let vortex: Arc<dyn Exact> =
        Arc::from(by_name("supersonic-vortex", &[("mach".to_owned(), 2.25)].into(), &context)?);

    // 6. The order of convergence: the error on each mesh, and the order from one to the next.
    let (order, end) = (2, 0.5);
    writeln!(out, "cells   steps   L2 error of rho   order")?;
    let mut before = None;
    for n in [2, 4, 8] {
        let (rhs, u, steps) = march(discretise(bend(n)?, order, &vortex)?, vortex.as_ref(), end)?;
        let error = rhs.0.errors(&u, vortex.as_ref(), end).1.l2[0];
        let rate = before.map_or_else(String::new, |before: f64| format!("{:7.2}", (before / error).log2()));
        writeln!(out, "{:5} {steps:7} {error:17.2e} {rate}", 4 * n * n)?;
        before = Some(error);
        if n == 8 {
            writeln!(out, "{}", write(&rhs.0, &u, end, &folder)?.display())?;
        }
    }
    Ok(())
}
