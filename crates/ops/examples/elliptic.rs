//! Measures the speed of the interior penalty operator, compared with the copy bandwidth of the machine.
//!
//! ```sh
//! cargo run --release -p dgsuite-ops --example elliptic -- THREADS [ORDERS [SHAPES [MILLIONS]]]
//! cargo run --release -p dgsuite-ops --example elliptic -- 2 2,3,4,5,6 tri,hex 2
//! ```
//!
//! For each case the program prints the unknowns per second; the bytes that must be moved per unknown
//! (reading `u`, writing `A u`, and for each element its metric, 8 (d (d + 1)/2) bytes, the coefficients of
//! its faces, 8 (d + 1) bytes each, and its neighbours, 8 bytes each), with the corresponding fraction of the
//! copy bandwidth; and the multiply–adds per unknown, with the corresponding fraction of the machine's peak
//! rate.

#![allow(clippy::print_stdout)] // a program that prints

use dgsuite_gpu::{Buffer, Host, HugePages, probe};
use dgsuite_mesh::{Shape, SpaceFillingCurve, generate};
use dgsuite_ops::{Sipdg, SipdgOptions};
use std::error::Error;
use std::sync::Arc;
use std::time::Instant;

/// The allocator of the program `dgsuite`.
#[global_allocator]
static ALLOCATOR: HugePages = HugePages;

fn main() -> Result<(), Box<dyn Error>> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let word = |i: usize, otherwise: &str| words.get(i).cloned().unwrap_or_else(|| otherwise.to_owned());
    let host = Arc::new(Host::new(word(0, "1").parse()?)?);
    let size: f64 = word(3, "2").parse()?;
    let limits = probe::measure(&host, probe::Effort::default())?;
    let (copy, flops) = (limits.copy / 1e9, limits.flops_double / 1e9);
    println!("{} threads: copy {copy:.1} GB/s, multiply-adds {flops:.0} GFLOP/s", host.n_threads());
    println!(
        "{:<24} {:>2} {:>8} {:>8} {:>7} {:>8} {:>8} {:>9} {:>8}",
        "shape", "p", "MDOF", "GDOF/s", "bytes", "of copy", "mul-add", "of rate", "set up"
    );
    for name in word(2, "tri,hex").split(',') {
        let (name, sheared) = name.strip_prefix("sheared-").map_or((name, false), |n| (n, true));
        let (shape, per_cell) = match name {
            "tri" => (Shape::Triangle, 2.0),
            "quad" => (Shape::Quadrilateral, 1.0),
            "tet" => (Shape::Tetrahedron, 6.0),
            "hex" => (Shape::Hexahedron, 1.0),
            "prism" => (Shape::Prism, 2.0),
            _ => return Err(format!("no shape {name}").into()),
        };
        for order in word(1, "2,3,4,5,6").split(',') {
            let order: usize = order.parse()?;
            let basis = dgsuite_ops::basis_size(&dgsuite_ops::Scheme::collocated(order), shape);
            let cells =
                (size * 1e6 / basis as f64 / per_cell).powf(1.0 / shape.dim() as f64).round() as usize;
            let mut mesh = generate::Box::unit(shape, cells.max(2)).build()?;
            for pair in [["xmin", "xmax"], ["ymin", "ymax"], ["zmin", "zmax"]].iter().take(shape.dim()) {
                mesh.make_periodic(pair[0], pair[1])?;
            }
            if sheared {
                mesh.map(|[x, y, z]| {
                    [x + 0.3 * y, y + 0.1 * x, if shape.dim() == 3 { z + 0.2 * x } else { z }]
                })?;
            }
            mesh.renumber(SpaceFillingCurve::Hilbert);
            let options = SipdgOptions::new(order);
            let begin = Instant::now();
            let a = Sipdg::<f64>::new(
                Arc::new(mesh),
                &options,
                &|_, _| 1.0,
                &|_, _| 0.0,
                &[],
                Arc::clone(&host),
            )?;
            let setup = begin.elapsed().as_secs_f64();
            let (mut u, mut au) =
                (Buffer::<f64>::zeros_on(&host, a.len())?, Buffer::<f64>::zeros_on(&host, a.len())?);
            u.iter_mut().enumerate().for_each(|(i, u)| *u = (i as f64 * 0.37).sin());
            a.apply(&u, &mut au);
            let mut best = f64::INFINITY;
            let begin = Instant::now();
            while begin.elapsed().as_secs_f64() < 0.7 {
                let start = Instant::now();
                a.apply(&u, &mut au);
                best = best.min(start.elapsed().as_secs_f64());
            }
            let (dofs, rate) = (a.dofs() as f64, a.dofs() as f64 / best / 1e9);
            let (d, faces) = (shape.dim(), shape.n_faces());
            let element = 8 * (d * (d + 1) / 2 + faces * (d + 1) + faces);
            let bytes = 16.0 + (element * a.mesh().n_elements()) as f64 / dofs;
            let products = a.multiply_adds() as f64 / dofs;
            println!(
                "{:<24} {order:>2} {:>8.2} {rate:>8.3} {bytes:>7.1} {:>7.1}% {products:>8.0} {:>8.0}% {setup:>6.2} s",
                format!("{}{shape}", if sheared { "sheared " } else { "" }),
                dofs / 1e6,
                100.0 * bytes * rate / copy,
                200.0 * products * rate / flops
            );
        }
    }
    Ok(())
}
