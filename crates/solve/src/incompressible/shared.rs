//! What the ranks of a flow share: the whole mesh, its partition, and the elements of each for elliptic
//! operators.

use std::sync::Arc;

use dgsuite_gpu::comm::CommError;
use dgsuite_mesh::{Mesh, Part, Partition};
use dgsuite_ops::elliptic::{EllipticRanks, Sipdg};
use dgsuite_ops::{OpsError, Ranks};

use crate::SystemError;
use crate::elliptic::lines;
use crate::rank_mesh::ROOT;
use crate::setup::Setup;
use crate::words::{Reader, Words};

/// This rank's share of the elliptic operators of a flow, with the parts of `ranks`, which cut no linelet.
/// Collective.
pub(super) fn share(setup: &Setup, ranks: &Ranks) -> Result<Arc<EllipticRanks>, SystemError> {
    let whole = whole_mesh(setup, ranks)?;
    let partition = partition(&whole, ranks)?;
    let lines = lines::find(&whole).map_err(|error| SystemError::Elliptic(Box::new(error)))?;
    Ok(Arc::new(EllipticRanks::new(whole, partition, &lines, Arc::clone(ranks.joint()))?))
}

/// The whole mesh, which rank 0 sends to the others where they hold their parts only.
fn whole_mesh(setup: &Setup, ranks: &Ranks) -> Result<Arc<Mesh>, SystemError> {
    if setup.mesh.ranks().is_none() {
        return Ok(Arc::clone(setup.mesh.seen()));
    }
    let mut bytes = Vec::new();
    if !setup.mesh.is_part() {
        let mesh = setup.mesh.seen().as_ref().clone();
        let elements = (0..mesh.n_elements() as u32).collect();
        bytes = Part { mesh, elements, cuts: Vec::new() }.to_bytes();
    }
    ranks.comm().broadcast(ROOT, &mut bytes).map_err(lost)?;
    match setup.mesh.is_part() {
        true => Ok(Arc::new(Part::from_bytes(&bytes).map_err(OpsError::Message)?.mesh)),
        false => Ok(Arc::clone(setup.mesh.seen())),
    }
}

/// The partition, from the elements of each rank.
fn partition(whole: &Mesh, ranks: &Ranks) -> Result<Partition, SystemError> {
    let comm = ranks.comm();
    let mut own = Words::default();
    own.numbers(ranks.elements().iter().map(|&element| element as usize));
    let all = comm.gather(ROOT, own.bytes()).map_err(lost)?;
    let mut words = Words::default();
    if let Some(all) = all {
        let mut of = vec![0; whole.n_elements()];
        for (rank, elements) in all.iter().enumerate() {
            Reader::new(elements).numbers().into_iter().for_each(|element| of[element] = rank);
        }
        words.numbers(of.into_iter());
    }
    let mut bytes = words.bytes().to_vec();
    comm.broadcast(ROOT, &mut bytes).map_err(lost)?;
    let of = Reader::new(&bytes).numbers().into_iter().map(|rank| rank as u32).collect();
    Ok(Partition::of_elements(of)?)
}

/// Whether the whole mesh has faces on one of these boundaries.
pub(super) fn bounded(sipdg: &Sipdg<f64>, names: &[&str]) -> bool {
    let whole = sipdg.whole_mesh();
    let mut faces = whole.boundaries.iter().zip(whole.boundary_counts());
    faces.any(|(tag, count)| count > 0 && names.contains(&tag.name.as_str()))
}

fn lost(error: CommError) -> SystemError {
    OpsError::from(error).into()
}
