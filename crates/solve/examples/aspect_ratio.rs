//! Iterations of the elliptic solver on stretched, graded and curved meshes, as a table.
//!
//! Poisson's equation with a rough right-hand side and `u = 0` on the boundary, from a residual of 1 to 1e-8.
//!
//! ```text
//! cargo run --release -p dgsuite-solve --example aspect_ratio -- [meshes] [orders] [aspects] [options]
//! cargo run --release -p dgsuite-solve --example aspect_ratio -- quad,tri 1,3,5 1,100
//! ```
//!
//! Meshes: `quad tri delaunay annulus annulus-tri bent kershaw-1 kershaw-0.3 kershaw-0.05 kershaw-hex-0.3 hex
//! prism tet`, with `-1.2` for layers whose thickness grows by 1.2. The first layer of a mesh has the aspect
//! ratio. Options are words of the section `solver`, such as `smoother=block-jacobi`, `size=20` for the cells
//! along a side, `penalty=10`, `threads=1` and `device=cuda`. Numbers are iterations, then the seconds of the
//! solve in parentheses.

use std::error::Error;
use std::io::Write as _;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use dgsuite_mesh::generate::{Annulus, Box as Cells};
use dgsuite_mesh::{Mesh, Shape};
use dgsuite_solve::elliptic::{
    CoarseSpace, Elliptic, EllipticCondition, EllipticSetup, Orders, SmootherKind, SolverOptions,
};
use dgsuite_solve::flow::Device;

type Failure = Box<dyn Error>;

/// What is solved on a mesh.
struct Options {
    size: Option<usize>,
    penalty: f64,
    threads: usize,
    device: Device,
    solver: SolverOptions,
}

impl Options {
    fn read(words: &[String]) -> Result<Self, Failure> {
        let mut out = Self {
            size: None,
            penalty: 1.0,
            threads: 0,
            device: Device::Cpu,
            solver: SolverOptions { max_iterations: 1000, ..SolverOptions::default() },
        };
        for word in words {
            let (key, value) = word.split_once('=').ok_or("options are key=value")?;
            match key {
                "size" => out.size = Some(value.parse()?),
                "penalty" => out.penalty = value.parse()?,
                "threads" => out.threads = value.parse()?,
                "device" if value == "cuda" => out.device = Device::Cuda(0),
                "smoother" => {
                    let known = SmootherKind::WORDS.iter().find(|(word, _)| *word == value);
                    out.solver.smoother = Some(known.ok_or("an unknown smoother")?.1);
                }
                "coarse_space" => {
                    let known = CoarseSpace::WORDS.iter().find(|(word, _)| *word == value);
                    out.solver.coarse_space = Some(known.ok_or("an unknown space")?.1);
                }
                "coarsening" => {
                    let known = Orders::WORDS.iter().find(|(word, _)| *word == value);
                    out.solver.orders = Some(known.ok_or("unknown orders")?.1);
                }
                "degree" => out.solver.degree = Some(value.parse()?),
                "aggregation" => out.solver.aggregation = Some(value.parse()?),
                _ => return Err(format!("{word}: an unknown option").into()),
            }
        }
        Ok(out)
    }
}

/// The heights of n layers whose first has the thickness `first` and whose ratio of thickness is `growth`;
/// the last is at 1, so that the layers fill the height if `first` is small.
fn layers(n: usize, first: f64, growth: f64) -> Vec<f64> {
    let mut out = vec![0.0];
    for k in 0..n {
        out.push(out[k] + first * growth.powi(k as i32));
    }
    out
}

/// The side of the first layer's cells is 1; its thickness is 1 / aspect.
fn stretched(shape: Shape, n: usize, aspect: f64, growth: f64) -> Result<Mesh, Failure> {
    let dim = shape.dim();
    let mut mesh =
        Cells { shape, min: [0.0; 3], max: [n as f64; 3], cells: [n; 3], diagonal: Default::default() }
            .build()?;
    let heights = layers(n, 1.0 / aspect, growth);
    mesh.map(|mut x| {
        let k = (x[dim - 1].round() as usize).min(n);
        x[dim - 1] = heights[k];
        x
    })?;
    Ok(mesh)
}

/// A rectangle or box that is bent into half a turn, with curved elements of order 3.
fn bent(n: usize, aspect: f64) -> Result<Mesh, Failure> {
    let mut mesh = stretched(Shape::Hexahedron, n, aspect, 1.0)?;
    mesh.elevate(3)?;
    let length = n as f64;
    mesh.map(|[x, y, z]| {
        let (angle, radius) = (std::f64::consts::PI * x / length, length / std::f64::consts::PI + z);
        [-radius * angle.cos(), y, radius * angle.sin()]
    })?;
    Ok(mesh)
}

/// Kershaw's mesh of the unit square or cube as in the benchmarks of CEED (Kolev et al. 2021): layers are
/// squeezed by ε from side to side.
fn kershaw(shape: Shape, n: usize, epsilon: f64) -> Result<Mesh, Failure> {
    let right = |x: f64| if x <= 0.5 { (2.0 - epsilon) * x } else { 1.0 + epsilon * (x - 1.0) };
    let left = |x: f64| 1.0 - right(1.0 - x);
    let step = |a: f64, b: f64, x: f64| {
        let x = x.clamp(0.0, 1.0);
        a + (b - a) * x * x * x * (x * (6.0 * x - 15.0) + 10.0)
    };
    let mut mesh = Cells::unit(shape, n).build()?;
    mesh.map(|[x, y, z]| {
        let layer = (6.0 * x).floor();
        let lambda = 6.0 * x - layer;
        let across = |y: f64| match layer as usize {
            0 => left(y),
            1 | 4 => step(left(y), right(y), lambda),
            2 => step(right(y), left(y), lambda / 2.0),
            3 => step(right(y), left(y), (1.0 + lambda) / 2.0),
            _ => right(y),
        };
        [x, across(y), if shape.dim() == 3 { across(z) } else { z }]
    })?;
    Ok(mesh)
}

fn annulus(shape: Shape, n: usize, aspect: f64) -> Result<Mesh, Failure> {
    let around = 4 * n;
    let layer = std::f64::consts::TAU / around as f64 / aspect;
    let ring = Annulus {
        shape,
        centre: [0.0; 2],
        inner: 1.0,
        outer: 1.0 + n as f64 * layer,
        cells: [n, around],
        growth: 1.0,
        order: 4,
    };
    Ok(ring.build()?)
}

fn delaunay(aspect: f64) -> Result<Mesh, Failure> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../data/meshes/square-tri.msh");
    let mut mesh = Mesh::read(path)?;
    mesh.map(|[x, y, z]| [x, y / aspect, z])?;
    Ok(mesh)
}

fn mesh(name: &str, size: Option<usize>, aspect: f64) -> Result<Mesh, Failure> {
    let (flat, solid) = (size.unwrap_or(24), size.unwrap_or(8));
    let (family, growth) = match name.rsplit_once('-') {
        Some((family, growth)) if !name.starts_with("kershaw") && growth.parse::<f64>().is_ok() => {
            (family, growth.parse()?)
        }
        _ => (name, 1.0),
    };
    match family {
        "quad" => stretched(Shape::Quadrilateral, flat, aspect, growth),
        "tri" => stretched(Shape::Triangle, flat, aspect, growth),
        "hex" => stretched(Shape::Hexahedron, solid, aspect, growth),
        "prism" => stretched(Shape::Prism, solid, aspect, growth),
        "tet" => stretched(Shape::Tetrahedron, solid, aspect, growth),
        "pyramid" => stretched(Shape::Pyramid, solid, aspect, growth),
        "delaunay" => delaunay(aspect),
        "annulus" => annulus(Shape::Quadrilateral, size.unwrap_or(16), aspect),
        "annulus-tri" => annulus(Shape::Triangle, size.unwrap_or(16), aspect),
        "bent" => bent(solid, aspect),
        _ => match family.strip_prefix("kershaw-hex-") {
            Some(epsilon) => kershaw(Shape::Hexahedron, size.unwrap_or(12), epsilon.parse()?),
            None => {
                let epsilon = family.strip_prefix("kershaw-").ok_or(format!("{name}: an unknown mesh"))?;
                kershaw(Shape::Quadrilateral, flat, epsilon.parse()?)
            }
        },
    }
}

/// Iterations, or why there are none, and the seconds of the solve.
fn solve(mesh: Mesh, order: usize, options: &Options) -> String {
    let mesh = Arc::new(mesh);
    let mut setup = EllipticSetup::new(Arc::clone(&mesh), order);
    setup.boundaries = mesh.boundary_names().into_iter().map(EllipticCondition::zero).collect();
    setup.forcing = Arc::new(|element, x| {
        let s = (x[0] * 127.1 + x[1] * 311.7 + x[2] * 74.7 + element as f64 * 19.19).sin() * 43_758.545_3;
        2.0 * (s - s.floor()) - 1.0
    });
    (setup.penalty, setup.solver, setup.threads) = (options.penalty, options.solver, options.threads);
    setup.device = options.device;
    let mut solver = match Elliptic::new(setup) {
        Ok(solver) => solver,
        Err(error) => return error.to_string(),
    };
    let solved = solver.solve(&AtomicBool::new(false), &mut |_, _| {});
    match solved.outcome {
        Ok(solution) => format!("{} ({:.3})", solution.iterations, solved.solve_s),
        Err(error) => error.to_string(),
    }
}

fn main() -> Result<(), Failure> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let list = |k: usize, default: &str| -> Vec<String> {
        let word = arguments.get(k).map_or(default, String::as_str);
        word.split(',').map(str::to_owned).collect()
    };
    let (meshes, orders, aspects) = (list(0, "quad,tri"), list(1, "1,2,3"), list(2, "1,100"));
    let options = Options::read(arguments.get(3..).unwrap_or_default())?;
    let mut out = std::io::stdout();
    let titles: Vec<String> = orders.iter().map(|p| format!("p = {p}")).collect();
    writeln!(out, "| mesh | aspect | {} |", titles.join(" | "))?;
    writeln!(out, "|---|---|{}", "---|".repeat(orders.len()))?;
    for name in &meshes {
        for aspect in &aspects {
            write!(out, "| {name} | {aspect} |")?;
            for order in &orders {
                let mesh = mesh(name, options.size, aspect.parse()?)?;
                write!(out, " {} |", solve(mesh, order.parse()?, &options))?;
                out.flush()?;
            }
            writeln!(out)?;
        }
    }
    Ok(())
}
