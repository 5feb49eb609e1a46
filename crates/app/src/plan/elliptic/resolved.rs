//! The file of an elliptic problem as it was run: defaults written out, paths made absolute.

use crate::file::node::Node;
use crate::file::tree::Tree;
use crate::pipeline::elliptic::EllipticPipeline;
use crate::pipeline::elliptic::solver::OF_POISSON;
use crate::pipeline::{Document, top};
use crate::plan::resolved::{number, tables, text};
use dgsuite_solve::elliptic::EllipticSetup;
use dgsuite_solve::flow::Precision;

/// Returns the tree of the file with every default filled in.
pub(super) fn resolve(document: &Document, file: &EllipticPipeline, setup: &EllipticSetup) -> Node {
    let mut tree = Tree::new(&document.root);
    top::TITLE.write(&mut tree, &file.title);
    file.mesh.write(&mut tree, &file.base);
    tables(&mut tree, &file.references, &file.constants, &file.base);
    tree.default("physics.kappa", number(1.0));
    tree.default("physics.lambda", number(0.0));
    tree.default("physics.forcing", text("exact"));
    file.space.write(&mut tree);
    OF_POISSON.write(&mut tree, &setup.solver);
    if let Some((path, device)) = top::DEVICE.entry(&Some(setup.device)) {
        tree.set(path, device);
    }
    top::write(&mut tree, Precision::Double, file.threads);
    tree.set("output.directory", text("."));
    tree.into_root()
}
