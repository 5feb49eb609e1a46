//! A checkpoint that is being written: everything but the coefficients first, these in ranges.
//!
//! The CRC-32 of a section follows from those of its ranges: with `c(A)` the checksum of A, and `shift(c, n)`
//! that of a text with checksum c followed by n bytes that contribute nothing,
//!
//! ```text
//! c(A₀ A₁ … A_m) = Σ_i shift(c(A_i), bytes behind A_i)     (sum modulo 2, bit by bit)
//! ```
//!
//! Each rank sends its part of this sum, 4 bytes.

use std::fs::File;
use std::io::{self, BufWriter, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use crc32fast::Hasher;

use super::section::{self, CHUNK, MAGIC};
use super::{
    Checkpoint, HistoryHeader, LATEST, LawHeader, RunHeader, Section, StateHeader, TALLY_REST, digest_text,
};
use crate::writer::{WriterError, atomic};
use dgsuite_solve::{Histories, Ranges};

/// A checkpoint whose file has a temporary name and lacks the coefficients of the state.
#[derive(Debug)]
pub struct Draft {
    file: atomic::Draft,
    path: PathBuf,
    at: u64,
    numbers: usize,
    head: u32,
}

/// The checksum `sum` of some bytes, followed by `n` bytes that contribute nothing.
pub(super) fn shift(sum: u32, n: u64) -> u32 {
    let mut hasher = Hasher::new_with_initial_len(sum, 0);
    hasher.combine(&Hasher::new_with_initial_len(0, n));
    hasher.finalize()
}

impl Draft {
    /// Creates the file beside `step-N.dgs` in `directory`, and writes all of a checkpoint but the
    /// coefficients of its state, of which there are `numbers`. `mesh` is the digest of the mesh.
    ///
    /// # Errors
    /// Errors of the file system; existing checkpoints are then untouched.
    pub fn begin(
        directory: &Path,
        checkpoint: &Checkpoint,
        mesh: u64,
        numbers: usize,
    ) -> Result<Self, WriterError> {
        std::fs::create_dir_all(directory).map_err(WriterError::io(directory))?;
        let path = directory.join(format!("step-{:08}.dgs", checkpoint.now.step));
        let begun = || {
            let file = atomic::Draft::new(&path)?;
            let (at, head) = write_others(file.file(), checkpoint, mesh, numbers)?;
            Ok(Self { file, path: path.clone(), at, numbers, head })
        };
        begun().map_err(WriterError::io(&path))
    }

    /// The open file.
    #[must_use]
    pub fn file(&self) -> &File {
        self.file.file()
    }

    /// Its present name.
    #[must_use]
    pub fn temporary(&self) -> &Path {
        self.file.temporary()
    }

    /// Position of the coefficients in the file.
    #[must_use]
    pub const fn at(&self) -> u64 {
        self.at
    }

    /// Adds the checksum, gives the file its name and makes `latest` point to it. `sum` is the sum of what
    /// [`write_ranges`] returned for ranges that cover all coefficients.
    ///
    /// # Errors
    /// Errors of the file system.
    pub fn finish(self, sum: u32) -> Result<PathBuf, WriterError> {
        let Self { file, path, at, numbers, head } = self;
        let bytes = 8 * numbers as u64;
        let write = |mut out: &File| {
            out.seek(SeekFrom::Start(at + bytes))?;
            out.write_all(&(shift(head, bytes) ^ sum).to_le_bytes())
        };
        write(file.file()).and_then(|()| file.commit(&path)).map_err(WriterError::io(&path))?;
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let latest = path.with_file_name(LATEST);
        atomic::write(&latest, format!("{name}\n").as_bytes())?;
        Ok(path)
    }
}

/// Writes all but the coefficients and the checksum behind them. Returns the position of the coefficients and
/// the checksum of their section up to there.
fn write_others(file: &File, checkpoint: &Checkpoint, mesh: u64, numbers: usize) -> io::Result<(u64, u32)> {
    let Checkpoint { now, state, averages, sections } = checkpoint;
    let (version, mesh) = (env!("CARGO_PKG_VERSION").to_owned(), digest_text(mesh));
    let run = RunHeader { version, mesh, step: now.step, solver_step: state.step };
    let (parameters, values): (Vec<String>, Vec<f64>) = state.parameters.iter().cloned().unzip();
    let law = LawHeader { name: state.law.clone(), parameters };
    let space = StateHeader { basis: state.basis.clone(), order: state.order };
    let before = [
        Section::required("run", 1).about(&run).numbers(vec![now.t, now.low, state.time]),
        Section::required("law", 1).about(&law).numbers(values),
    ];
    let mut behind = vec![Section::required("tally", 1).numbers(&state.tally)];
    if !state.tally_rest.is_empty() {
        behind.push(Section::optional(TALLY_REST, 1).numbers(&state.tally_rest));
    }
    if !averages.is_empty() {
        behind.push(Section::optional("averages", 2).numbers(averages));
    }
    if let Some(Histories { steps, fields }) = &state.histories {
        let about = HistoryHeader { steps: steps.len(), fields: fields.iter().map(Vec::len).collect() };
        let numbers: Vec<f64> = steps.iter().chain(fields.iter().flatten()).copied().collect();
        behind.push(Section::optional("history", 1).about(&about).numbers(numbers));
    }
    let mut out = BufWriter::new(file);
    out.write_all(MAGIC)?;
    before.iter().try_for_each(|section| section.write(&mut out))?;
    let head = Section::required("state", 1).about(&space).head(numbers);
    out.write_all(&head)?;
    let at = out.stream_position()?;
    out.seek(SeekFrom::Start(at + 8 * numbers as u64 + 4))?;
    behind.iter().chain(sections).try_for_each(|section| section.write(&mut out))?;
    section::end(before.len() + 1 + behind.len() + sections.len()).write(&mut out)?;
    out.flush()?;
    Ok((at, crc32fast::hash(&head)))
}

/// Writes coefficients, those of `ranges` one after the other, into a file in which the first coefficient of
/// all is at position `at`. Returns their part of the checksum.
///
/// # Errors
/// Errors of the file system.
///
/// # Panics
/// If there are fewer numbers than places in the ranges.
pub fn write_ranges(file: &File, at: u64, ranges: &Ranges, mut numbers: &[f64]) -> io::Result<u32> {
    let mut out = BufWriter::with_capacity(CHUNK, file);
    let (mut sum, mut end) = (0, 0);
    for range in ranges.iter() {
        let (own, rest) = numbers.split_at(range.len());
        numbers = rest;
        out.seek(SeekFrom::Start(at + 8 * range.start as u64))?;
        let mut crc = Hasher::new();
        section::write_numbers(&mut out, own, &mut crc)?;
        sum = shift(sum, 8 * (range.end - end) as u64) ^ crc.finalize();
        end = range.end;
    }
    out.flush()?;
    file.sync_all()?;
    Ok(shift(sum, 8 * (ranges.total() - end) as u64))
}

#[cfg(test)]
mod tests {
    use super::super::tests::checkpoint;
    use super::super::{CheckpointError, Coefficients, find, read_outline, write};
    use super::*;

    /// The ranges of every third of runs of two numbers, of which there are 30 in all.
    fn thirds() -> [Ranges; 3] {
        std::array::from_fn(|rank| {
            let runs = (0..15).filter(|run| run % 3 == rank).map(|run| 2 * run..2 * run + 2);
            Ranges::new(runs, 30)
        })
    }

    fn of(ranges: &Ranges, numbers: &[f64]) -> Vec<f64> {
        ranges.iter().flat_map(|range| numbers[range].to_vec()).collect()
    }

    /// Reads a checkpoint in ranges.
    fn in_ranges(path: &Path, parts: &[Ranges]) -> Result<Vec<Vec<f64>>, CheckpointError> {
        let (saved, _) = read_outline(path, "euler", (7, true), true)?;
        assert!(saved.state.fields.is_empty() && saved.state.histories.is_none());
        let mut coefficients = Coefficients::open(path, true)?;
        assert!(coefficients.take_histories().is_some());
        let read: Vec<_> = parts.iter().map(|part| coefficients.read(part)).collect::<Result<_, _>>()?;
        coefficients.check(read.iter().fold(0, |sum, (_, own)| sum ^ own))?;
        Ok(read.into_iter().map(|(numbers, _)| numbers).collect())
    }

    #[test]
    fn a_file_written_in_ranges_is_the_file_of_one_and_is_read_in_other_ranges() {
        let dir = tempfile::tempdir().unwrap();
        let whole = checkpoint();
        let numbers = &whole.state.fields;
        let expected = std::fs::read(write(dir.path(), &whole, 7).unwrap()).unwrap();
        let shared = dir.path().join("shared");
        let without = Checkpoint {
            state: dgsuite_solve::flow::State { fields: Vec::new(), ..whole.state.clone() },
            ..whole.clone()
        };
        let draft = Draft::begin(&shared, &without, 7, numbers.len()).unwrap();
        assert!(find(&shared).is_err(), "it is not there before all have written");
        let sum = thirds().iter().fold(0, |sum, part| {
            let file = File::options().write(true).open(draft.temporary()).unwrap();
            sum ^ write_ranges(&file, draft.at(), part, &of(part, numbers)).unwrap()
        });
        let path = draft.finish(sum).unwrap();
        assert_eq!(find(&shared).unwrap(), path);
        assert_eq!(std::fs::read(&path).unwrap(), expected);
        for parts in [&thirds()[..], &[Ranges::share(30, 0, 2), Ranges::share(30, 1, 2)], &[Ranges::all(30)]]
        {
            let expected: Vec<_> = parts.iter().map(|part| of(part, numbers)).collect();
            assert_eq!(in_ranges(&path, parts).unwrap(), expected);
        }
    }

    #[test]
    fn every_cut_and_every_flipped_byte_is_noticed_by_those_who_read_ranges() {
        let dir = tempfile::tempdir().unwrap();
        let bytes = std::fs::read(write(dir.path(), &checkpoint(), 7).unwrap()).unwrap();
        let broken = dir.path().join("broken.dgs");
        for n in 0..bytes.len() {
            std::fs::write(&broken, &bytes[..n]).unwrap();
            assert!(in_ranges(&broken, &thirds()).is_err(), "cut to {n} bytes");
            let mut flipped = bytes.clone();
            flipped[n] ^= 1;
            std::fs::write(&broken, &flipped).unwrap();
            assert!(in_ranges(&broken, &thirds()).is_err(), "byte {n} flipped");
        }
    }

    #[test]
    fn a_draft_that_is_dropped_leaves_the_old_checkpoint() {
        let dir = tempfile::tempdir().unwrap();
        let old = write(dir.path(), &checkpoint(), 7).unwrap();
        drop(Draft::begin(dir.path(), &checkpoint(), 7, 30).unwrap());
        assert_eq!(find(dir.path()).unwrap(), old);
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 2, "a checkpoint and `latest`");
    }
}
