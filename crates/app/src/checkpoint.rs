//! Checkpoints: the whole state of a run in one file, written atomically and checked when read.
//!
//! # Format
//! `DGSUITE1`, the length of the header (u64), the header (JSON: law, basis, order, mesh digest, counts, version), then
//! 64-bit floating-point numbers (time, what it lost by rounding, time of the state, tally of the boundary fluxes and
//! first integrals, coefficients, means over time), then the CRC-32 of all before it (u32). All numbers are little-endian.

use std::fs;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use dgsuite_timeint::TimePoint;
use flate2::Crc;
use serde::{Deserialize, Serialize};

use crate::systems::hyperbolic::State;
use crate::writer::{WriterError, atomic};

const MAGIC: &[u8; 8] = b"DGSUITE1";

/// The name of the small file that holds the name of the newest checkpoint.
const LATEST: &str = "latest";

/// What is wrong with a checkpoint.
#[derive(Debug, thiserror::Error)]
pub enum CheckpointError {
    /// The file cannot be read.
    #[error("{}: {reason}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What the system said.
        reason: io::Error,
    },
    /// The directory has none.
    #[error("there is no checkpoint in {}", path.display())]
    NoneThere {
        /// The directory.
        path: PathBuf,
    },
    /// The file is something else.
    #[error("{} is not a checkpoint of dgsuite", path.display())]
    NotACheckpoint {
        /// The file.
        path: PathBuf,
    },
    /// The file is shorter than it says, or its checksum is wrong.
    #[error("{} is damaged: {}", path.display(), damage)]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What shows it.
        damage: Damage,
    },
    /// It belongs to another run.
    #[error("{} has {what} {found}, but this run has {wanted}", path.display())]
    Mismatch {
        /// The file.
        path: PathBuf,
        /// What differs.
        what: &'static str,
        /// What the file has.
        found: String,
        /// What the run has.
        wanted: String,
    },
}

/// What shows that a checkpoint is damaged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Damage {
    /// Its length.
    #[error("it has {found} bytes where {wanted} are announced")]
    Length {
        /// Bytes found.
        found: usize,
        /// Bytes announced.
        wanted: usize,
    },
    /// Its checksum.
    #[error("its checksum is wrong")]
    Checksum,
    /// Its header.
    #[error("its header cannot be read")]
    Header,
}

/// A state and the point in time of the run that it belongs to.
#[derive(Clone, Debug, PartialEq)]
pub struct Checkpoint {
    /// Where the run's step control is.
    pub now: TimePoint,
    /// The solver's state.
    pub state: State,
    /// Means over time so far: the time that they are over, then integrals; empty where there are none.
    pub averages: Vec<f64>,
}

/// Numbers in front of the tally.
const TIMES: usize = 3;

#[derive(Debug, Serialize, Deserialize)]
struct Header {
    version: String,
    law: String,
    basis: String,
    order: usize,
    run_step: u64,
    step: usize,
    mesh: String,
    tally: usize,
    coefficients: usize,
    #[serde(default)]
    averages: usize,
}

/// Writes the state as `step-N.dgs` into `directory` and points `latest` to it.
///
/// # Errors
/// Those of the file system; what was there is then untouched.
pub fn write(directory: &Path, checkpoint: &Checkpoint, mesh: u64) -> Result<PathBuf, WriterError> {
    let io_error = |path: &Path| {
        let path = path.to_owned();
        move |source| WriterError::Io { path, source }
    };
    let Checkpoint { now, state, averages } = checkpoint;
    fs::create_dir_all(directory).map_err(io_error(directory))?;
    let name = format!("step-{:08}.dgs", now.step);
    let path = directory.join(&name);
    let header = Header {
        version: env!("CARGO_PKG_VERSION").into(),
        law: state.law.clone(),
        basis: state.basis.clone(),
        order: state.order,
        run_step: now.step,
        step: state.step,
        mesh: digest_text(mesh),
        tally: state.tally.len(),
        coefficients: state.fields.len(),
        averages: averages.len(),
    };
    let header = serde_json::to_vec(&header).map_err(|e| io_error(&path)(e.into()))?;
    atomic::write_with(&path, |out| {
        let mut out = Summed { out, crc: Crc::new() };
        out.write_all(MAGIC)?;
        out.write_all(&(header.len() as u64).to_le_bytes())?;
        out.write_all(&header)?;
        for x in [now.t, now.low, state.time].iter().chain(&state.tally).chain(&state.fields).chain(averages)
        {
            out.write_all(&x.to_le_bytes())?;
        }
        let sum = out.crc.sum();
        out.out.write_all(&sum.to_le_bytes())
    })?;
    atomic::write(&directory.join(LATEST), format!("{name}\n").as_bytes())?;
    Ok(path)
}

/// JSON numbers do not hold 64-bit integers exactly in every reader.
fn digest_text(mesh: u64) -> String {
    format!("{mesh:016x}")
}

/// A writer that keeps the checksum of what went through it.
struct Summed<'a> {
    out: &'a mut BufWriter<fs::File>,
    crc: Crc,
}

impl Write for Summed<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let n = self.out.write(bytes)?;
        self.crc.update(&bytes[..n]);
        Ok(n)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

/// The checkpoint that `path` means: the file itself, or the one that a file `latest` names, or the latest one of a
/// directory of checkpoints or results.
///
/// # Errors
/// [`CheckpointError::Unreadable`], [`CheckpointError::NoneThere`].
pub fn find(path: &Path) -> Result<PathBuf, CheckpointError> {
    let unreadable = |path: &Path| {
        let path = path.to_owned();
        move |reason| CheckpointError::Unreadable { path, reason }
    };
    if path.is_dir() {
        let inner = [path.join(LATEST), path.join("checkpoints").join(LATEST)];
        let latest = inner.iter().find(|file| file.is_file());
        return find(latest.ok_or_else(|| CheckpointError::NoneThere { path: path.to_owned() })?);
    }
    if path.file_name().is_some_and(|name| name == LATEST) {
        let name = fs::read_to_string(path).map_err(unreadable(path))?;
        return Ok(path.with_file_name(name.trim()));
    }
    fs::metadata(path).map_err(unreadable(path))?;
    Ok(path.to_owned())
}

/// Reads a checkpoint and checks that it belongs to a run of this law and mesh.
///
/// # Errors
/// A file that is missing, no checkpoint, damaged, or of another law or mesh.
pub fn read(path: &Path, law: &str, mesh: u64) -> Result<Checkpoint, CheckpointError> {
    let bytes =
        fs::read(path).map_err(|reason| CheckpointError::Unreadable { path: path.to_owned(), reason })?;
    let not_ours = || CheckpointError::NotACheckpoint { path: path.to_owned() };
    let damaged = |damage| CheckpointError::Damaged { path: path.to_owned(), damage };
    let rest = bytes.strip_prefix(MAGIC.as_slice()).ok_or_else(not_ours)?;
    let (length, rest) = rest.split_first_chunk::<8>().ok_or_else(|| damaged(Damage::Header))?;
    let length = usize::try_from(u64::from_le_bytes(*length)).map_err(|_| damaged(Damage::Header))?;
    let header = rest.get(..length).ok_or_else(|| damaged(Damage::Header))?;
    let payload = &rest[length..];
    let header: Header = serde_json::from_slice(header).map_err(|_| damaged(Damage::Header))?;
    let announced = header
        .coefficients
        .checked_add(header.tally)
        .and_then(|n| n.checked_add(header.averages))
        .and_then(|n| n.checked_add(TIMES))
        .and_then(|n| n.checked_mul(8))
        .and_then(|n| n.checked_add(4))
        .ok_or_else(|| damaged(Damage::Header))?;
    if payload.len() != announced {
        return Err(damaged(Damage::Length { found: payload.len(), wanted: announced }));
    }
    let (before, sum) = bytes.split_at(bytes.len() - 4);
    let mut crc = Crc::new();
    crc.update(before);
    if sum != crc.sum().to_le_bytes() {
        return Err(damaged(Damage::Checksum));
    }
    let mismatch = |what, found: &str, wanted: &str| CheckpointError::Mismatch {
        path: path.to_owned(),
        what,
        found: found.to_owned(),
        wanted: wanted.to_owned(),
    };
    if header.law != law {
        return Err(mismatch("the model", &header.law, law));
    }
    let mesh = digest_text(mesh);
    if header.mesh != mesh {
        return Err(mismatch("a mesh with digest", &header.mesh, &mesh));
    }
    let mut numbers = payload[..announced - 4].chunks_exact(8).map(|chunk| {
        let mut eight = [0; 8];
        eight.copy_from_slice(chunk);
        f64::from_le_bytes(eight)
    });
    let mut next = || numbers.next().unwrap_or(0.0);
    let now = TimePoint { t: next(), low: next(), step: header.run_step };
    let time = next();
    let tally = numbers.by_ref().take(header.tally).collect();
    let fields = numbers.by_ref().take(header.coefficients).collect();
    let averages = numbers.collect();
    let (order, law, basis) = (header.order, header.law, header.basis);
    let state = State { time, step: header.step, order, law, basis, tally, fields };
    Ok(Checkpoint { now, state, averages })
}

/// Keeps the newest `keep` of the files written by this run and removes the others.
///
/// # Errors
/// Those of the file system.
pub fn prune(written: &mut Vec<PathBuf>, keep: usize) -> Result<(), WriterError> {
    while written.len() > keep {
        let old = written.remove(0);
        if !written.contains(&old) {
            fs::remove_file(&old).map_err(|source| WriterError::Io { path: old, source })?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn checkpoint() -> Checkpoint {
        let state = State {
            time: 0.1 + 0.2,
            step: 17,
            order: 2,
            law: "euler".into(),
            basis: "modal".into(),
            fields: (0..30).map(|i| (f64::from(i) * 0.37).sin()).collect(),
            tally: vec![1.0 / 3.0, -2.0],
        };
        Checkpoint {
            now: TimePoint { t: 0.3, low: 1e-17, step: 17 },
            state,
            averages: vec![2.5, -0.125, 1e9],
        }
    }

    #[test]
    fn what_is_written_is_read_back_bit_for_bit() {
        let dir = tempfile::tempdir().unwrap();
        let path = write(dir.path(), &checkpoint(), 7).unwrap();
        assert_eq!(find(&dir.path().join("latest")).unwrap(), path);
        assert_eq!(find(dir.path()).unwrap(), path);
        let back = read(&path, "euler", 7).unwrap();
        assert_eq!(back.state.time.to_bits(), checkpoint().state.time.to_bits());
        assert_eq!(back, checkpoint());
    }

    #[test]
    fn another_law_or_mesh_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let path = write(dir.path(), &checkpoint(), 7).unwrap();
        assert!(matches!(read(&path, "advection", 7), Err(CheckpointError::Mismatch { .. })));
        assert!(matches!(read(&path, "euler", 8), Err(CheckpointError::Mismatch { .. })));
    }

    #[test]
    fn every_cut_and_every_flipped_byte_is_noticed() {
        let dir = tempfile::tempdir().unwrap();
        let path = write(dir.path(), &checkpoint(), 7).unwrap();
        let bytes = fs::read(&path).unwrap();
        let broken = dir.path().join("broken.dgs");
        for n in 0..bytes.len() {
            fs::write(&broken, &bytes[..n]).unwrap();
            assert!(read(&broken, "euler", 7).is_err(), "cut to {n} bytes");
            let mut flipped = bytes.clone();
            flipped[n] ^= 1;
            fs::write(&broken, &flipped).unwrap();
            assert!(read(&broken, "euler", 7).is_err(), "byte {n} flipped");
        }
    }

    #[test]
    fn only_the_newest_are_kept() {
        let dir = tempfile::tempdir().unwrap();
        let mut written = Vec::new();
        for step in 1..=4 {
            let now = TimePoint { step, ..checkpoint().now };
            written.push(write(dir.path(), &Checkpoint { now, ..checkpoint() }, 7).unwrap());
            prune(&mut written, 2).unwrap();
        }
        let left = fs::read_dir(dir.path()).unwrap().count();
        assert_eq!(left, 3, "two checkpoints and `latest`");
        assert_eq!(find(dir.path()).unwrap(), written[1]);
    }
}
