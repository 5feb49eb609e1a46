//! `dgsuite mesh info`: describes a mesh file.

use std::fmt::Write as _;
use std::path::Path;

use dgsuite_mesh::quality::{self, Range};
use dgsuite_mesh::{Mesh, MeshError};

use crate::pipeline::checks::rounded;
use crate::plan::print::{elements_by_shape, grouped, shape_word};

/// Reads a mesh and returns its description.
///
/// # Errors
/// The errors of the reader.
pub(super) fn describe(file: &Path) -> Result<String, MeshError> {
    let mesh = Mesh::read(file)?;
    let statistics = quality::statistics(&mesh);
    let mut out = String::new();
    let mut line = |key: &str, value: String| {
        let _ = writeln!(out, "{key:<11} {value}");
    };
    let counts: Vec<String> =
        elements_by_shape(&mesh).iter().map(|(shape, n)| format!("{} {shape}", grouped(*n))).collect();
    line("mesh", format!("{}, {} dimensions", file.display(), mesh.dim));
    line("elements", format!("{} ({})", grouped(mesh.n_elements()), counts.join(" + ")));
    line("order", format!("geometry of order {}", mesh.max_order()));
    line("nodes", grouped(mesh.points.len()));
    line("faces", grouped(mesh.faces.len()));
    let [low, high] = mesh.bounding_box();
    let axes = ["x", "y", "z"];
    let range = |d: usize| format!("{} from {} to {}", axes[d], rounded(low[d]), rounded(high[d]));
    let ranges: Vec<String> = (0..mesh.dim).map(range).collect();
    line("extent", ranges.join(", "));
    let boundaries: Vec<String> = mesh
        .boundaries
        .iter()
        .zip(mesh.boundary_counts())
        .filter(|(_, n)| *n > 0)
        .map(|(b, n)| format!("{} ({} faces)", b.name, grouped(n)))
        .collect();
    line("boundaries", if boundaries.is_empty() { "none".into() } else { boundaries.join(", ") });
    let name = |i: u32| mesh.boundaries.get(i as usize).map_or("?", |b| b.name.as_str());
    let links: Vec<String> =
        mesh.links.iter().map(|l| format!("{} - {}", name(l.first), name(l.second))).collect();
    if !links.is_empty() {
        line("periodic", links.join(", "));
    }
    let unit = if mesh.dim == 2 { "area" } else { "volume" };
    line(unit, format!("{:.6}", statistics.volume));
    let range = |r: Range| format!("{:.4e} to {:.4e}, mean {:.4e}", r.min, r.max, r.mean);
    line("size", range(statistics.size));
    line("quality", format!("scaled Jacobian {}", range(statistics.scaled_jacobian)));
    for worst in &statistics.worst {
        let [x, y, z] = worst.centroid;
        let place =
            if mesh.dim == 2 { format!("({x:.4}, {y:.4})") } else { format!("({x:.4}, {y:.4}, {z:.4})") };
        let text = format!(
            "element {} ({}) at {place}: scaled Jacobian {:.4}, size {:.4e}",
            worst.tag,
            shape_word(worst.shape),
            worst.quality.scaled_jacobian,
            worst.quality.size
        );
        line("worst", text);
    }
    Ok(out)
}
