//! The file of an elliptic problem as it was run: defaults written out, paths made absolute.

use crate::file::node::Node;
use crate::pipeline::Document;
use crate::pipeline::elliptic::EllipticPipeline;
use crate::pipeline::mesh::MeshSource;
use crate::plan::resolved::{Tree, number, path_text, text};
use dgsuite_solve::elliptic::EllipticSetup;

/// Returns the tree of the file with every default filled in.
pub(super) fn resolve(document: &Document, file: &EllipticPipeline, setup: &EllipticSetup) -> Node {
    let mut tree = Tree::new(document);
    tree.default("title", text(&file.title));
    if let MeshSource::File(mesh) = &file.mesh.source {
        tree.set("mesh.file", path_text(&file.resolve(&mesh.value)));
    }
    tree.extrusion(file.mesh.extrude.as_ref());
    tree.default("mesh.refine", number(file.mesh.refine as f64));
    tree.default("mesh.scale", number(file.mesh.scale));
    tree.tables(&file.references, &file.constants, &file.base);
    tree.default("physics.kappa", number(1.0));
    tree.default("physics.lambda", number(0.0));
    tree.default("physics.forcing", text("exact"));
    tree.default("space.order", number(file.space.order as f64));
    tree.default("space.viscous", text("sipdg"));
    let solver = &setup.solver;
    for (key, word) in solver.words() {
        tree.default(&format!("solver.{key}"), text(&word));
    }
    for (key, value) in solver.numbers() {
        tree.default(&format!("solver.{key}"), number(value));
    }
    tree.set("device", text(&setup.device.to_string()));
    tree.default("precision", text("double"));
    tree.default("threads", number(file.threads as f64));
    tree.set("output.directory", text("."));
    tree.into_root()
}
