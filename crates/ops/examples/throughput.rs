//! Throughput of the residual and of the fused Runge–Kutta stage, in a table.
//!
//! ```sh
//! cargo run --release -p dgsuite-ops --example throughput -- \
//!     [--threads N] [--size MDOF] [--shapes tri,quad,…] [--orders 1,2,…]
//! ```
//!
//! Euler equations, double precision, Rusanov flux, periodic boxes, elements along the mesh's own
//! order. Columns: millions of degrees of freedom (elements × basis functions × fields) a second of
//! the residual alone and of the residual fused with a low-storage stage, for the collocated nodal
//! form and the over-integrated modal one; beside the collocated residual the share of the measured
//! rate of fused multiply–adds that its matrix products alone account for, and the share of the
//! copy bandwidth that its compulsory traffic (state read, rate written and its lines fetched,
//! geometry and neighbour tables) takes. The median of at least nine calls counts.

#![allow(clippy::print_stdout, clippy::print_stderr)] // a program that prints a table

use dgsuite_basis::Shape;
use dgsuite_gpu::{Buffer, Host, probe};
use dgsuite_mesh::{SpaceFillingCurve, generate};
use dgsuite_ops::{Discretization, Pointwise, Scheme, StageWeights};
use dgsuite_physics::{Euler, Exact, Rusanov};
use std::sync::Arc;
use std::time::Instant;

struct Wave(usize);

impl Exact for Wave {
    fn n_fields(&self) -> usize {
        self.0 + 2
    }

    fn eval(&self, _t: f64, x: &[[f64; 3]], out: &mut [Vec<f64>]) {
        for (k, column) in out.iter_mut().enumerate() {
            column.clear();
            column.extend(x.iter().map(|x| match k {
                0 => 1.0 + 0.1 * (std::f64::consts::PI * (x[0] + x[1])).sin(),
                k if k <= self.0 => 0.3 * k as f64,
                _ => 2.5 + 0.1 * (std::f64::consts::PI * x[0]).cos(),
            }));
        }
    }
}

struct Args {
    threads: usize,
    dofs: f64,
    shapes: Vec<String>,
    orders: Vec<usize>,
}

fn args() -> Args {
    let mut out = Args {
        threads: 1,
        dofs: 2e6,
        shapes: ["tri", "quad", "tet", "hex", "prism"].map(String::from).to_vec(),
        orders: (1..=6).collect(),
    };
    let given: Vec<String> = std::env::args().skip(1).collect();
    for pair in given.chunks(2) {
        let value = pair.get(1).cloned().unwrap_or_default();
        let list = || value.split(',').map(String::from).collect::<Vec<_>>();
        match pair[0].as_str() {
            "--threads" => out.threads = value.parse().unwrap_or(1),
            "--size" => out.dofs = value.parse::<f64>().unwrap_or(2.0) * 1e6,
            "--shapes" => out.shapes = list(),
            "--orders" => out.orders = list().iter().filter_map(|s| s.parse().ok()).collect(),
            other => {
                eprintln!(
                    "{other}? Options: --threads N, --size MDOF, --shapes tri,quad,tet,hex,prism, --orders 1,2,…"
                );
                std::process::exit(2);
            }
        }
    }
    out
}

fn shape(name: &str) -> Option<(Shape, usize)> {
    Some(match name {
        "tri" => (Shape::Triangle, 2),
        "quad" => (Shape::Quadrilateral, 1),
        "tet" => (Shape::Tetrahedron, 6),
        "hex" => (Shape::Hexahedron, 1),
        "prism" => (Shape::Prism, 2),
        _ => return None,
    })
}

/// Median time of one call, of at least nine calls and 0.3 s.
fn median(mut call: impl FnMut()) -> f64 {
    call();
    let begin = Instant::now();
    let mut times = Vec::new();
    while times.len() < 9 || begin.elapsed().as_secs_f64() < 0.3 {
        let t = Instant::now();
        call();
        times.push(t.elapsed().as_secs_f64());
    }
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}

struct Row {
    dofs: f64,
    residual: f64,
    stage: f64,
    flops_per_dof: f64,
    bytes_per_dof: f64,
}

fn measure(shape: Shape, per_cell: usize, scheme: &Scheme, host: &Arc<Host>, dofs: f64) -> Row {
    let dim = shape.dim();
    let fields = dim + 2;
    let p = scheme.order;
    let basis = dgsuite_basis::OrthonormalBasis::new(
        shape,
        p,
        if matches!(shape, Shape::Triangle | Shape::Tetrahedron) {
            dgsuite_basis::Polynomials::Total
        } else {
            dgsuite_basis::Polynomials::Tensor
        },
    );
    let cells =
        (dofs / (per_cell * basis.len() * fields) as f64).powf(1.0 / dim as f64).round().max(2.0) as usize;
    let mut mesh = generate::Box {
        shape,
        min: [-1.0; 3],
        max: [1.0; 3],
        cells: [cells; 3],
        diagonal: generate::Diagonal::Anti,
    }
    .build()
    .expect("a box");
    for pair in [["xmin", "xmax"], ["ymin", "ymax"], ["zmin", "zmax"]].iter().take(dim) {
        mesh.make_periodic(pair[0], pair[1]).expect("a periodic box");
    }
    mesh.renumber(SpaceFillingCurve::Hilbert);
    let (law, flux) = (Euler { gamma: 1.4 }, Rusanov);
    let mesh = Arc::new(mesh);
    let physics: Box<dyn dgsuite_ops::PointKernels<f64>> = if dim == 2 {
        Box::new(Pointwise::<_, _, 2, 4> { law, flux })
    } else {
        Box::new(Pointwise::<_, _, 3, 5> { law, flux })
    };
    let mut d = Discretization::new(mesh, scheme, physics, Vec::new(), Arc::clone(host)).expect("a scheme");
    let n = d.len();
    let zeros = || Buffer::zeros_on(host, n).expect("memory");
    let (mut u, mut du, mut next) = (zeros(), zeros(), zeros());
    d.project(&Wave(dim), 0.0, &mut u);
    let residual = median(|| d.eval(0.0, &u, &mut du));
    let weights = StageWeights { a: -0.5, b: 0.0, c: 0.1, dt: 1e-9, keep: true };
    let stage = median(|| d.stage(0.0, weights, &u, None, &mut du, &mut next));
    let part = &d.summary()[0];
    let np = part.n_basis;
    let dofs = d.dofs() as f64;
    let elements = dofs / (np * fields) as f64;
    let geometry = (dim * dim + shape.n_faces() * (dim + 1)) * 8 + shape.n_faces() * 5;
    Row {
        dofs,
        residual,
        stage,
        flops_per_dof: 2.0 * part.multiply_adds as f64 / np as f64,
        bytes_per_dof: 24.0 + geometry as f64 * elements / dofs,
    }
}

fn main() {
    let args = args();
    let host = Arc::new(Host::new(args.threads).expect("a machine"));
    let limits = probe::measure(&host, probe::Effort::default()).expect("a measurement");
    let (fma, copy) = (limits.flops_double, limits.copy);
    println!(
        "{} threads, {}: fused multiply-adds {:.1} GFLOP/s, copy {:.1} GB/s",
        host.n_threads(),
        host.simd(),
        fma / 1e9,
        copy / 1e9
    );
    println!(
        "{:<6} {:>2} {:>8} | {:>9} {:>9} {:>6} {:>6} | {:>9} {:>9} | {:>6}",
        "", "p", "MDOF", "residual", "stage", "FMA", "copy", "residual", "stage", "ratio"
    );
    println!("{:<18} | {:^33} | {:^19} |", "", "collocated, MDOF/s", "over-integrated");
    for name in &args.shapes {
        let Some((shape, per_cell)) = shape(name) else { continue };
        for &p in &args.orders {
            if shape.dim() == 3 && p > 4 {
                continue;
            }
            let c = measure(shape, per_cell, &Scheme::collocated(p), &host, args.dofs);
            let m = measure(shape, per_cell, &Scheme::modal(p), &host, args.dofs);
            let rate = |row: &Row, t: f64| row.dofs / t / 1e6;
            let collocated = rate(&c, c.residual);
            println!(
                "{name:<6} {p:>2} {:>8.2} | {collocated:>9.0} {:>9.0} {:>5.0}% {:>5.0}% | {:>9.0} {:>9.0} | {:>6.2}",
                c.dofs / 1e6,
                rate(&c, c.stage),
                100.0 * collocated * 1e6 * c.flops_per_dof / fma,
                100.0 * collocated * 1e6 * c.bytes_per_dof / copy,
                rate(&m, m.residual),
                rate(&m, m.stage),
                rate(&m, m.residual) / collocated,
            );
        }
    }
}
