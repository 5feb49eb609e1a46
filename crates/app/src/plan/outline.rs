//! What the plans of all models have in common.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use super::Places;
use super::values::KnownValues;
use crate::directory::Former;
use crate::file::expression::Constants;
use crate::file::node::Node;
use crate::pipeline::checks::CheckSpec;
use dgsuite_solve::RankMesh;
use dgsuite_solve::flow::Device;

/// The part of a plan that does not depend on the model: mesh, device, results, checks.
pub struct Outline {
    /// The title of the run.
    pub title: String,
    /// The mesh.
    pub mesh: RankMesh,
    /// A description of where the mesh comes from.
    pub mesh_origin: String,
    /// Number of uniform refinements of the mesh.
    pub refine: usize,
    /// The mesh's digest.
    pub mesh_digest: u64,
    /// Polynomial order.
    pub order: usize,
    /// The device.
    pub device: Device,
    /// Why `device: auto` chose the CPU although there is a GPU.
    pub device_note: Option<String>,
    /// The bytes that the run is expected to need on this machine.
    pub memory: f64,
    /// The memory that this process may use, if it is known.
    pub available: Option<f64>,
    /// Settings that are allowed but probably not intended.
    pub warnings: Vec<String>,
    /// The directory of the results.
    pub directory: PathBuf,
    /// What happens to existing results.
    pub former: Former,
    /// The checks of the results.
    pub checks: Vec<CheckSpec>,
    /// The file's constants, with `order`, for the limits of the checks.
    pub constants: Constants,
    /// The values that checks may name.
    pub known_values: KnownValues,
    /// The file with every default written out.
    pub resolved: Node,
    /// When set, ends the run after the current step or iteration.
    pub stop: Arc<AtomicBool>,
    /// Whether the program that started the run is asked after each output of fields.
    pub ask: bool,
    /// Places of `mesh` and `space` in the file, for errors that the solver finds.
    pub places: Places,
}
