//! Places in the file for mistakes that the set-up of the solver finds.

use std::collections::BTreeMap;

use dgsuite_gpu::GpuError;
use dgsuite_ops::OpsError;

use crate::file::node::{Entry, Node, Value};
use crate::file::source::Place;
use crate::pipeline::Document;
use dgsuite_solve::SystemError;

/// The place of each boundary's `exchange`, or of its section.
fn exchanges(root: &Node) -> BTreeMap<String, Place> {
    let Some(Value::Map(entries)) = root.get("boundaries").map(|node| &node.value) else {
        return BTreeMap::new();
    };
    let place = |entry: &Entry| entry.node.get("exchange").map_or(&entry.place, |node| &node.place).clone();
    entries.iter().map(|entry| (entry.key.clone(), place(entry))).collect()
}

/// Places in the file of the sections in which the solver's set-up may find mistakes.
#[derive(Clone, Debug)]
pub struct Places {
    /// The mesh.
    pub mesh: Place,
    /// The discretisation.
    pub space: Place,
    /// The number of threads, or where the file starts.
    threads: Place,
    /// The flow rate and the linear solvers, or the discretisation.
    flow_rate: Place,
    /// For each boundary its `exchange`, or its section.
    exchanges: BTreeMap<String, Place>,
    solver: Place,
}

impl Places {
    /// The places for a file whose sections `mesh` and `space` are here.
    pub(super) fn new(document: &Document, mesh: &Place, space: &Place) -> Self {
        let root = &document.root;
        let threads = root.get("threads").map_or(&root.place, |node| &node.place);
        let flow_rate = root.get("physics").and_then(|physics| physics.get("flow_rate"));
        Self {
            mesh: mesh.clone(),
            space: space.clone(),
            threads: threads.clone(),
            flow_rate: flow_rate.map_or(space, |node| &node.place).clone(),
            exchanges: exchanges(root),
            solver: root.get("solver").map_or(space, |node| &node.place).clone(),
        }
    }

    /// Returns the place of the mistake for an error of the set-up.
    pub fn of(&self, error: &SystemError) -> &Place {
        match error {
            SystemError::Ops(OpsError::Jacobian { .. } | OpsError::Empty) => &self.mesh,
            SystemError::Mesh(_) => &self.mesh,
            SystemError::Machine(error) => self.of_machine(error),
            SystemError::Ops(OpsError::NothingAbove { boundary, .. }) => {
                self.exchanges.get(boundary).unwrap_or(&self.space)
            }
            SystemError::Closed { .. } => &self.flow_rate,
            SystemError::Solve { .. } => &self.solver,
            _ => &self.space,
        }
    }

    /// Returns the place of the mistake for an error of the device or the threads.
    pub fn of_machine(&self, error: &GpuError) -> &Place {
        match error {
            GpuError::TooManyThreads { .. } | GpuError::Threads { .. } => &self.threads,
            _ => &self.space,
        }
    }
}
