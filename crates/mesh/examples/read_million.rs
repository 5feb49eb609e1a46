//! Measures the time to read and connect a large mesh, written by this program first:
//! `cargo run --release --example read_million -- [elements] [shape]` (default 1,000,000 triangles).
#![allow(clippy::print_stdout, reason = "printing is what this program is for")]

use std::time::Instant;

use dgsuite_mesh::{
    Mesh, MeshError, Shape, SpaceFillingCurve,
    generate::Box,
    gmsh::{Format, Version},
    quality,
};

fn main() -> Result<(), MeshError> {
    let mut arguments = std::env::args().skip(1);
    let elements: f64 = arguments.next().and_then(|n| n.parse().ok()).unwrap_or(1e6);
    let name = arguments.next().unwrap_or_else(|| "triangle".to_owned());
    let shape = Shape::ALL.into_iter().find(|s| s.name() == name).unwrap_or(Shape::Triangle);
    let per_cell = Box::unit(shape, 1).build()?.n_elements() as f64;
    let n = (elements / per_cell).powf(1.0 / shape.dim() as f64).ceil() as usize;
    let mut mesh = Box::unit(shape, n).build()?;
    mesh.renumber(SpaceFillingCurve::Hilbert);
    println!("{} elements of shape {shape}, {} faces", mesh.n_elements(), mesh.faces.len());
    let file = std::env::temp_dir().join(format!("dgsuite-read-million-{}.msh", std::process::id()));
    for (version, binary) in [(Version::V41, true), (Version::V22, true), (Version::V41, false)] {
        mesh.write(&file, &Format { version, binary, big_endian: false })?;
        let size = std::fs::metadata(&file)?.len() as f64 / 1e6;
        let start = Instant::now();
        let again = Mesh::read(&file)?;
        let seconds = start.elapsed().as_secs_f64();
        let form = if binary { "binary" } else { "text" };
        println!("MSH {version} {form:<6}: {size:6.1} MB read and connected in {seconds:.3} s");
        assert!(again.faces == mesh.faces, "the mesh has changed");
    }
    std::fs::remove_file(&file)?;
    for (what, run) in [
        ("renumber", &(|m: &mut Mesh| drop(m.renumber(SpaceFillingCurve::Hilbert))) as &dyn Fn(&mut Mesh)),
        ("statistics", &|m: &mut Mesh| drop(quality::statistics(m))),
        ("digest", &|m: &mut Mesh| println!("digest {:016x}", m.digest())),
    ] {
        let start = Instant::now();
        run(&mut mesh);
        println!("{what}: {:.3} s", start.elapsed().as_secs_f64());
    }
    let start = Instant::now();
    mesh.refine_uniform()?;
    println!("refine to {} elements: {:.3} s", mesh.n_elements(), start.elapsed().as_secs_f64());
    Ok(())
}
