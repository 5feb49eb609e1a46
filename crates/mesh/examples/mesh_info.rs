//! Prints the contents of meshes: `cargo run --example mesh_info -- FILE.msh …`; without a file, of a
//! generated mesh of all solid shapes.
#![allow(clippy::print_stdout, reason = "printing is what this program is for")]

use dgsuite_mesh::{
    Across, Mesh, MeshError,
    generate::MixedBox,
    gmsh::{self, ReadOptions},
    quality,
};

fn main() -> Result<(), MeshError> {
    let files: Vec<String> = std::env::args().skip(1).collect();
    if files.is_empty() {
        println!("a box of all solid shapes");
        let cells = [10, 4, 4];
        let mut mesh = MixedBox { dim: 3, min: [0.0; 3], max: [5.0, 2.0, 2.0], cells }.build()?;
        mesh.make_periodic("zmin", "zmax")?;
        describe(&mesh);
    }
    for file in files {
        let (mesh, report) = gmsh::read(file.as_ref(), &ReadOptions::default())?;
        let form = match (report.binary, report.big_endian) {
            (false, _) => "text",
            (true, false) => "binary",
            (true, true) => "binary, high byte first",
        };
        println!("{file}: MSH {}, {form}", report.version);
        report.warnings.iter().for_each(|w| println!("  warning: {w}"));
        describe(&mesh);
    }
    Ok(())
}

fn describe(mesh: &Mesh) {
    let s = quality::statistics(mesh);
    for (shape, order, n) in &s.elements {
        println!("  {n} elements of shape {shape}, geometry order {order}");
    }
    let kind = |f: fn(&Across) -> bool| mesh.faces.iter().filter(|face| f(&face.across)).count();
    println!(
        "  {} faces: {} inner, {} periodic, {} on boundaries",
        mesh.faces.len(),
        kind(|a| matches!(a, Across::Interior { .. })),
        kind(|a| matches!(a, Across::Periodic { .. })),
        kind(|a| matches!(a, Across::Boundary(_)))
    );
    for (boundary, n) in mesh.boundaries.iter().zip(mesh.boundary_counts()).filter(|(_, n)| *n > 0) {
        println!("  boundary {:<12} {n} faces", boundary.name);
    }
    for link in &mesh.links {
        let name = |b: u32| &mesh.boundaries[b as usize].name;
        let kind = if link.is_translation() { "translation" } else { "rotation" };
        println!("  periodic {} -> {} ({kind} by {:?})", name(link.first), name(link.second), link.offset);
    }
    println!("  volume          {:.12}", s.volume);
    for (what, r) in [
        ("scaled Jacobian", s.scaled_jacobian),
        ("min J / max J  ", s.jacobian_ratio),
        ("size h         ", s.size),
    ] {
        println!("  {what} {:.4} to {:.4}, mean {:.4}", r.min, r.max, r.mean);
    }
    if let Some(w) = s.worst.first() {
        let [x, y, z] = w.centroid;
        println!("  worst element   {} ({}) at ({x:.4}, {y:.4}, {z:.4})", w.tag, w.shape);
    }
    println!("  digest          {:016x}", mesh.digest());
}
