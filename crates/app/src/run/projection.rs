//! States of other runs as the start of a run: on another mesh of the domain, or of another order.

use std::collections::HashMap;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use dgsuite_basis::LagrangeBasis;
use dgsuite_basis::lattice::lattice_len;
use dgsuite_mesh::{Locator, Mesh};
use dgsuite_ops::Sample;
use dgsuite_physics::Exact;

use crate::file::number::grouped;
use crate::file::problem::{InputError, Problem};
use crate::plan::{Choices, Plan};
use crate::run::stored::{ExportError, Stored};
use dgsuite_output::checkpoint::{Checkpoint, CheckpointError, CheckpointProblem};
use dgsuite_solve::flow::{Flow, Law};

/// How far outside of the stored mesh a point may lie, as a share of the length of the nearest element: where
/// the meshes follow a curved boundary, they do not agree.
const LIMIT: f64 = 0.1;

/// Makes the solver of a run from the state of a checkpoint on another mesh: the L² projection of the stored
/// polynomials, evaluated at the points of a cubature rule. Time and steps continue. Also returns how it was
/// projected, in words.
///
/// # Errors
/// The run of the checkpoint is not there or cannot be read, a point is farther outside of its mesh than
/// [`LIMIT`] allows, or the solver cannot be set up.
pub(super) fn onto_mesh(
    plan: &Plan,
    choices: &Choices,
    file: &Path,
    saved: &Checkpoint,
) -> Result<(Flow, String), InputError> {
    if plan.setup.comm.size() > 1 {
        choices.one_rank("projections from another mesh")?;
    }
    let refused = |problem| {
        let error = CheckpointError { path: file.to_owned(), problem };
        InputError::nowhere(Problem::Restart { error })
    };
    let run = file.parent().and_then(Path::parent).unwrap_or(Path::new(""));
    let pipeline = run.join("pipeline.yaml");
    if !pipeline.is_file() {
        return Err(refused(CheckpointProblem::MeshUnknown { pipeline }));
    }
    let stored = Stored::open(run, Some(file)).map_err(|error| match error {
        ExportError::Input(error) => error,
        ExportError::Checkpoint(error) => InputError::nowhere(Problem::Restart { error }),
        _ => refused(CheckpointProblem::MeshUnknown { pipeline }),
    })?;
    let (own, other) = (plan.setup.mesh.seen(), stored.mesh());
    let Some(before) = stored.solver().filter(|_| own.dim == other.dim) else {
        let [found, wanted] = [other, own].map(|mesh| format!("{} dimensions", mesh.dim));
        return Err(refused(CheckpointProblem::Mismatch { what: "a mesh of", found, wanted }));
    };
    let state = Projected::new(other, before.conserved(stored.order(), false));
    let mut solver = Flow::new(plan.setup.clone(), &state, saved.now.t)
        .map_err(|error| InputError::at(plan.outline.places.of(&error), Problem::Setup { error }))?;
    if let Some(problem) = state.missed.into_inner().unwrap_or_else(PoisonError::into_inner) {
        return Err(refused(problem));
    }
    solver.set_time(saved.state.time);
    solver.set_steps(saved.state.step);
    let said = format!(
        "{} of order {} on {} elements is projected onto this mesh{}",
        file.display(),
        saved.state.order,
        grouped(other.n_elements()),
        change(before, &solver)
    );
    Ok((solver, said))
}

/// Says how a restored state of another order was projected; `None` if it has the order of the run. A higher
/// order has the same polynomials, of a lower one the highest modes are left out.
pub(super) fn to_order(solver: &Flow, file: &Path, saved: &Checkpoint) -> Option<String> {
    let (from, to) = (saved.state.order, solver.setup().order);
    if from == to {
        return None;
    }
    let defects = solver.conservation().into_iter().map(|(_, defect)| defect);
    let defect = match solver.setup().law {
        // Its equations for the velocity have no conserved integrals.
        Law::Incompressible(_) => String::new(),
        _ => format!("; conservation defect {:.1e}", defects.fold(0.0, f64::max)),
    };
    Some(format!("{} of order {from} is projected to order {to}{defect}", file.display()))
}

/// The largest change of an integral of a conserved variable, relative to that of its absolute value.
fn change(before: &Flow, after: &Flow) -> String {
    let (old, new, sizes) = (before.conserved_totals(), after.conserved_totals(), before.absolute_totals());
    let change = |k: usize| {
        let size = if sizes[k] > 0.0 { sizes[k] } else { 1.0 };
        (new[k] - old[k]).abs() / size
    };
    let names = before.variables();
    match (0..old.len()).max_by(|&a, &b| change(a).total_cmp(&change(b))) {
        Some(k) => format!("; integrals change by at most {:.1e} ({})", change(k), names[k]),
        None => String::new(),
    }
}

/// The polynomials of a state on another mesh as a function of place.
struct Projected<'a> {
    locator: Locator<'a>,
    samples: Vec<(Sample, LagrangeBasis)>,
    /// The sample and the position in it of each element.
    places: HashMap<usize, (usize, usize)>,
    /// The first point that was found to be outside.
    missed: Mutex<Option<CheckpointProblem>>,
}

impl<'a> Projected<'a> {
    /// `samples` are values of the conserved variables on lattices that determine the polynomials.
    fn new(mesh: &'a Mesh, samples: Vec<Sample>) -> Self {
        let mut places = HashMap::new();
        for (number, sample) in samples.iter().enumerate() {
            places.extend(sample.elements.iter().enumerate().map(|(cell, &e)| (e, (number, cell))));
        }
        let with_basis = |sample: Sample| {
            let basis = LagrangeBasis::new(sample.shape, sample.order);
            (sample, basis)
        };
        let samples = samples.into_iter().map(with_basis).collect();
        Self { locator: Locator::new(mesh), samples, places, missed: Mutex::new(None) }
    }

    /// The element of a point and its reference coordinates; near the mesh those of the nearest element.
    fn find(&self, x: [f64; 3]) -> Result<(usize, [f64; 3]), CheckpointProblem> {
        if let Some(found) = self.locator.find(x) {
            return Ok(found);
        }
        let (distance, extent) = match self.locator.nearest(x) {
            Some((element, r, distance)) => {
                let extent = self.locator.extent(element);
                if distance <= LIMIT * extent {
                    return Ok((element, r));
                }
                (distance, extent)
            }
            None => (f64::INFINITY, 0.0),
        };
        Err(CheckpointProblem::Outside { point: x, distance, extent, limit: LIMIT })
    }

    /// The state at a point.
    fn at(&self, x: [f64; 3]) -> Result<Vec<f64>, CheckpointProblem> {
        let (element, r) = self.find(x)?;
        let (number, cell) = self.places[&element];
        let (sample, basis) = &self.samples[number];
        let nodes = lattice_len(sample.shape, sample.order);
        let matrix = basis.eval(&[r]);
        let value = |column: &Vec<f64>| {
            let own = &column[cell * nodes..(cell + 1) * nodes];
            matrix.row(0).iter().zip(own).map(|(l, v)| l * v).sum()
        };
        Ok(sample.values.iter().map(value).collect())
    }
}

impl Exact for Projected<'_> {
    fn n_fields(&self) -> usize {
        self.samples.first().map_or(0, |(sample, _)| sample.values.len())
    }

    fn eval(&self, _: f64, x: &[[f64; 3]], out: &mut [Vec<f64>]) {
        out.iter_mut().for_each(|column| column.clear());
        for &point in x {
            let state = self.at(point).unwrap_or_else(|problem| {
                self.missed.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(problem);
                // Any state of the mesh stands in; the projection is refused.
                self.samples.first().map_or_else(Vec::new, |(s, _)| s.values.iter().map(|v| v[0]).collect())
            });
            for (column, value) in out.iter_mut().zip(state) {
                column.push(value);
            }
        }
    }

    fn is_steady(&self) -> bool {
        true
    }
}
