//! Checkpoints of several ranks: one file, of which each rank writes the ranges of its elements.

use std::fs::OpenOptions;
use std::io;
use std::path::{Path, PathBuf};

use dgsuite_gpu::comm::{CommError, Communicator};
use dgsuite_ops::OpsError;
use serde::{Deserialize, Serialize};

use crate::monitors::MonitorError;
use dgsuite_output::checkpoint::{self, Checkpoint, Draft};
use dgsuite_output::writer::WriterError;
use dgsuite_solve::{ROOT, Ranges, SystemError};

/// The file that rank 0 has begun.
#[derive(Default, Deserialize, Serialize)]
struct Begun {
    /// Its present name; none if it could not be created.
    name: Option<String>,
    /// Position of the coefficients.
    at: u64,
}

/// What a rank tells rank 0 about its ranges.
#[derive(Default, Deserialize, Serialize)]
struct Told {
    /// Why they were not written.
    error: Option<String>,
    /// Their part of the checksum.
    sum: u32,
}

/// Writes a checkpoint into a directory that all ranks see. Its `state` has the coefficients in `ranges`; all
/// else is that of rank 0. Returns the path on rank 0. Collective.
///
/// Rank 0 gives the file its name, and updates `latest`, after all ranks have written their ranges.
///
/// # Errors
/// Those of the system on the rank that meets them; on rank 0 also [`WriterError::Rank`] if another one met
/// them. Existing checkpoints are then untouched. A failure of the communication is one of the solver.
pub fn write(
    comm: &dyn Communicator,
    directory: &Path,
    checkpoint: &Checkpoint,
    ranges: &Ranges,
    mesh: u64,
) -> Result<Option<PathBuf>, MonitorError> {
    let lost = |error: CommError| MonitorError::System(SystemError::from(OpsError::from(error)));
    let root = comm.rank() == ROOT;
    let draft = root.then(|| Draft::begin(directory, checkpoint, mesh, ranges.total())).transpose();
    let begun = match &draft {
        Ok(Some(draft)) => {
            let name = draft.temporary().file_name().map(|name| name.to_string_lossy().into_owned());
            Begun { name, at: draft.at() }
        }
        _ => Begun::default(),
    };
    let mut begun = serde_json::to_vec(&begun).unwrap_or_default();
    comm.broadcast(ROOT, &mut begun).map_err(lost)?;
    let Begun { name, at } = serde_json::from_slice(&begun).unwrap_or_default();
    let draft = draft?;
    // Rank 0 has the reason.
    let Some(name) = name else { return Ok(None) };
    let path = directory.join(name);
    let own = own_ranges(&path, at, ranges, &checkpoint.state.fields);
    let told = match &own {
        Ok(sum) => Told { error: None, sum: *sum },
        Err(error) => Told { error: Some(error.to_string()), sum: 0 },
    };
    let told = serde_json::to_vec(&told).unwrap_or_default();
    let all = comm.gather(ROOT, &told).map_err(lost)?;
    own?;
    let (Some(draft), Some(all)) = (draft, all) else { return Ok(None) };
    let mut sum = 0;
    for (rank, told) in all.iter().enumerate() {
        let told: Told = serde_json::from_slice(told).unwrap_or_default();
        if let Some(reason) = told.error {
            return Err(WriterError::Rank { rank, reason }.into());
        }
        sum ^= told.sum;
    }
    Ok(Some(draft.finish(sum)?))
}

fn own_ranges(path: &Path, at: u64, ranges: &Ranges, numbers: &[f64]) -> Result<u32, WriterError> {
    let file = OpenOptions::new().write(true).open(path).map_err(|source| match source.kind() {
        io::ErrorKind::NotFound => WriterError::Unseen { path: path.to_owned() },
        _ => WriterError::io(path)(source),
    })?;
    checkpoint::write_ranges(&file, at, ranges, numbers).map_err(WriterError::io(path))
}

#[cfg(test)]
mod tests {
    use dgsuite_gpu::comm::{on_each, threads};
    use dgsuite_solve::flow::State;
    use dgsuite_timeint::TimePoint;

    use super::*;

    fn part(rank: usize) -> (Checkpoint, Ranges) {
        let ranges = Ranges::share(40, rank, 2);
        let fields = ranges.iter().flatten().map(|i| i as f64).collect();
        let state = State {
            time: 0.5,
            step: 3,
            order: 1,
            law: "euler".to_owned(),
            parameters: Vec::new(),
            basis: "modal".to_owned(),
            fields,
            tally: vec![1.0; 12],
            tally_rest: Vec::new(),
            histories: None,
        };
        let now = TimePoint { t: 0.5, low: 0.0, step: 3 };
        (Checkpoint { now, state, averages: Vec::new(), sections: Vec::new() }, ranges)
    }

    #[test]
    fn a_rank_that_cannot_write_leaves_the_old_checkpoint_and_is_named() {
        let dir = tempfile::tempdir().unwrap();
        let write_to = |directories: [&Path; 2]| {
            on_each(threads(2), |comm| {
                let (checkpoint, ranges) = part(comm.rank());
                write(&comm, directories[comm.rank()], &checkpoint, &ranges, 7).map_err(|e| e.to_string())
            })
        };
        let good = dir.path().join("good");
        let path = good.join("step-00000003.dgs");
        assert_eq!(write_to([&good, &good]), [Ok(Some(path.clone())), Ok(None)]);
        let numbers = checkpoint::read(&path, "euler", 7).unwrap().state.fields;
        assert_eq!(numbers, (0..40).map(f64::from).collect::<Vec<_>>());
        // The other rank sees another directory, as on another machine.
        let before = std::fs::read(&path).unwrap();
        let other = dir.path().join("other");
        let said: Vec<String> =
            write_to([&good, &other]).into_iter().map(|result| result.unwrap_err()).collect();
        assert!(
            said[0].starts_with("rank 1: cannot write") && said[0].contains("all machines share"),
            "{said:?}"
        );
        assert!(said[1].contains("it is not there"), "{said:?}");
        assert_eq!(std::fs::read(&path).unwrap(), before);
        assert_eq!(std::fs::read_dir(&good).unwrap().count(), 2, "the checkpoint and `latest`");
        // Rank 0 cannot create the file: it alone has the reason.
        let in_the_way = dir.path().join("file");
        std::fs::write(&in_the_way, "").unwrap();
        let results = write_to([&in_the_way, &in_the_way]);
        assert!(results[0].is_err() && results[1] == Ok(None), "{results:?}");
    }
}
