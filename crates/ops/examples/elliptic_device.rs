//! Measures the speed of the interior penalty operator on an NVIDIA device and compares results with the CPU.
//!
//! ```sh
//! cargo run --release -p dgsuite-ops --example elliptic_device -- [ORDERS [SHAPES [MILLIONS \
//!     [PRECISIONS [LAMBDA]]]]]
//! cargo run --release -p dgsuite-ops --example elliptic_device -- 1,2,3,4 tri,tet,hex 5 8,4
//! ```
//!
//! For each case the program prints the unknowns per second, the bytes that an application must move per
//! second, and the largest difference from the CPU's result, relative to its largest entry. SHAPES: `tri`,
//! `quad`, `tet`, `hex`, `prism`; with the prefix `bent-` the mesh is curved. PRECISIONS: bytes of a number,
//! or `r` for single precision with the rounded products of preconditioners. LAMBDA: the coefficient of the
//! mass matrix, 0 by default.

#![allow(clippy::print_stdout)] // a program that prints

use dgsuite_gpu::cuda::{Cuda, nvrtc};
use dgsuite_gpu::{GpuError, Host, Scalar};
use dgsuite_mesh::{Shape, SpaceFillingCurve, generate};
use dgsuite_ops::cuda::CudaSipdg;
use dgsuite_ops::{Sipdg, SipdgOptions};
use std::error::Error;
use std::sync::Arc;
use std::time::Instant;

/// Number of applications in one measurement, and number of measurements.
const RUNS: (usize, usize) = (10, 15);

fn operator(
    shape: Shape,
    order: usize,
    millions: f64,
    bent: bool,
    lambda: f64,
    host: &Arc<Host>,
) -> Result<Sipdg<f64>, Box<dyn Error>> {
    let basis = dgsuite_ops::basis_size(&dgsuite_ops::Scheme::collocated(order), shape);
    let per_cell = match shape {
        Shape::Triangle | Shape::Prism => 2.0,
        Shape::Tetrahedron => 6.0,
        _ => 1.0,
    };
    let cells = (millions * 1e6 / basis as f64 / per_cell).powf(1.0 / shape.dim() as f64).round() as usize;
    let mut mesh = generate::Box::unit(shape, cells.max(2)).build()?;
    for pair in [["xmin", "xmax"], ["ymin", "ymax"], ["zmin", "zmax"]].iter().take(shape.dim()) {
        mesh.make_periodic(pair[0], pair[1])?;
    }
    if bent {
        mesh.elevate(2)?;
        let s = |x: f64| 0.03 * (2.0 * std::f64::consts::PI * x).sin();
        let space = shape.dim() == 3;
        mesh.map(|[x, y, z]| [x + s(y), y + s(x), if space { z + s(x) } else { z }])?;
    } else {
        mesh.map(|[x, y, z]| [x + 0.3 * y, y, z])?;
    }
    mesh.renumber(SpaceFillingCurve::Hilbert);
    let (one, reaction) = (|_: usize, _: [f64; 3]| 1.0, |_: usize, _: [f64; 3]| lambda);
    Ok(Sipdg::new(Arc::new(mesh), &SipdgOptions::new(order), &one, &reaction, &[], Arc::clone(host))?)
}

fn measure<T: Scalar>(
    cuda: &Cuda,
    a: &Sipdg<f64>,
    name: &str,
    setup: f64,
    rounded: bool,
) -> Result<(), Box<dyn Error>> {
    let start = Instant::now();
    let twin = if rounded { CudaSipdg::<T>::rounded(cuda, a)? } else { CudaSipdg::<T>::new(cuda, a)? };
    let upload = start.elapsed().as_secs_f64();
    let u: Vec<f64> = (0..a.len()).map(|i| (i as f64 * 0.37).sin()).collect();
    let mut wanted = vec![0.0; a.len()];
    a.apply(&u, &mut wanted);
    let (on, mut au) = (twin.upload(&u)?, twin.upload(&u)?);
    twin.apply(&on, &mut au)?;
    let found = twin.download(&au)?;
    let largest = wanted.iter().fold(0.0_f64, |m, v| m.max(v.abs()));
    let gap = wanted.iter().zip(&found).fold(0.0_f64, |m, (x, y)| m.max((x - y).abs())) / largest;
    let work = || (0..RUNS.0).try_for_each(|_| twin.apply(&on, &mut au));
    let seconds = cuda.median_time(RUNS.1, work)? / RUNS.0 as f64;
    println!(
        "{name:<12} {:>2} {:>2} {:>8.2} {:>9.1} {:>9.1} {:>9.0} {gap:>9.1e}   set up in {setup:.2} + {upload:.2} s",
        a.order(),
        T::BYTES,
        a.dofs() as f64 / 1e6,
        1e6 * seconds,
        a.dofs() as f64 / seconds / 1e9,
        twin.bytes_moved() as f64 / seconds / 1e9,
    );
    Ok(())
}

fn main() -> Result<(), Box<dyn Error>> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let word = |i: usize, otherwise: &str| words.get(i).cloned().unwrap_or_else(|| otherwise.to_owned());
    let (millions, precisions) = (word(2, "5").parse::<f64>()?, word(3, "8,4"));
    let lambda = word(4, "0").parse::<f64>()?;
    let host = Arc::new(Host::new(std::thread::available_parallelism()?.get())?);
    let cuda = Cuda::new(0);
    // Kernels do not depend on the number of elements.
    let millions = if cuda.is_ok() { millions } else { 0.0 };
    match &cuda {
        Ok(cuda) => println!("{}", cuda.info()),
        Err(e) => println!("kernels are compiled only: {e}"),
    }
    println!(
        "{:<12} {:>2} {:>2} {:>8} {:>9} {:>9} {:>9} {:>9}",
        "shape", "p", "B", "MDOF", "us", "GDOF/s", "GB/s", "differ"
    );
    for name in word(1, "tri,tet,quad,hex").split(',') {
        let (plain, bent) = name.strip_prefix("bent-").map_or((name, false), |n| (n, true));
        let shape = match plain {
            "tri" => Shape::Triangle,
            "quad" => Shape::Quadrilateral,
            "tet" => Shape::Tetrahedron,
            "hex" => Shape::Hexahedron,
            "prism" => Shape::Prism,
            _ => return Err(format!("no shape {name}").into()),
        };
        for order in word(0, "1,2,3,4,5,6,7,8").split(',') {
            let start = Instant::now();
            let a = operator(shape, order.parse()?, millions, bent, lambda, &host)?;
            let setup = start.elapsed().as_secs_f64();
            let Ok(cuda) = &cuda else {
                let mut texts = CudaSipdg::<f64>::texts(&a)?;
                texts.extend(CudaSipdg::<f32>::rounded_texts(&a)?);
                for source in &texts {
                    let compiled = match nvrtc::compile_for("sm_90", source) {
                        Err(reason @ GpuError::NoCompiler { .. }) => {
                            println!("{reason}");
                            return Ok(());
                        }
                        compiled => compiled?,
                    };
                    for r in compiled.resources() {
                        println!(
                            "{name:<12} {order:>2} {}: {} registers, {} bytes of stack, {} spilt",
                            r.kernel, r.registers, r.stack_bytes, r.spill_stores
                        );
                    }
                }
                continue;
            };
            if precisions.contains('8') {
                measure::<f64>(cuda, &a, name, setup, false)?;
            }
            if precisions.contains('4') {
                measure::<f32>(cuda, &a, name, setup, false)?;
            }
            if precisions.contains('r') {
                measure::<f32>(cuda, &a, name, setup, true)?;
            }
        }
    }
    Ok(())
}
