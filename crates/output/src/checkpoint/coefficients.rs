//! The coefficients of a checkpoint that was read without them: each rank reads the ranges of its elements.

use std::fs::File;
use std::io::{BufReader, Read as _, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use crc32fast::Hasher;

use super::draft::shift;
use super::error::{CheckpointError, CheckpointProblem, Damage};
use super::section::{CHUNK, Left};
use super::{AVERAGES, HISTORY, STATE};
use dgsuite_solve::{Histories, Ranges};

/// The coefficients of the state in a checkpoint.
#[derive(Debug)]
pub struct Coefficients {
    path: PathBuf,
    from: From,
    histories: Option<Histories>,
}

#[derive(Debug)]
enum From {
    File(File, Left),
    /// A file of the first format is read as a whole.
    Memory(Vec<f64>),
}

impl Coefficients {
    /// Finds the coefficients in a checkpoint, and reads the past states of a multistep scheme if they are
    /// wanted.
    ///
    /// # Errors
    /// As [`read`](super::read).
    pub fn open(path: &Path, histories: bool) -> Result<Self, CheckpointError> {
        let leave: &[&str] = if histories { &[STATE, AVERAGES] } else { &[STATE, AVERAGES, HISTORY] };
        let found = || {
            let super::Read { checkpoint, left, .. } = super::open(path, leave)?;
            super::bounded(&checkpoint)?;
            let state = checkpoint.state;
            let from = match left {
                Some(left) => From::File(File::open(path).map_err(CheckpointProblem::Unreadable)?, left),
                None => From::Memory(state.fields),
            };
            Ok(Self { path: path.to_owned(), from, histories: state.histories.filter(|_| histories) })
        };
        found().map_err(|problem: CheckpointProblem| problem.of(path))
    }

    /// How many there are.
    #[must_use]
    pub fn total(&self) -> usize {
        match &self.from {
            From::File(_, left) => left.numbers as usize,
            From::Memory(numbers) => numbers.len(),
        }
    }

    /// The past states, if they were wanted and are there.
    pub fn take_histories(&mut self) -> Option<Histories> {
        self.histories.take()
    }

    /// Reads ranges of them, and returns their part of the checksum.
    ///
    /// # Errors
    /// A file that cannot be read.
    pub fn read(&self, ranges: &Ranges) -> Result<(Vec<f64>, u32), CheckpointError> {
        let read = || match &self.from {
            From::File(file, left) => read_ranges(file, left.at, ranges),
            From::Memory(numbers) => {
                Ok((ranges.iter().flat_map(|range| numbers[range].iter().copied()).collect(), 0))
            }
        };
        read().map_err(|error| CheckpointProblem::Unreadable(error).of(&self.path))
    }

    /// Compares the checksum in the file with the sum of what [`read`](Self::read) returned for ranges that
    /// cover all coefficients.
    ///
    /// # Errors
    /// [`Damage::Section`].
    pub fn check(&self, sum: u32) -> Result<(), CheckpointError> {
        match &self.from {
            From::File(_, left) if shift(left.head, 8 * left.numbers) ^ sum != left.sum => {
                Err(CheckpointProblem::from(Damage::Section(STATE.to_owned())).of(&self.path))
            }
            _ => Ok(()),
        }
    }

    /// Rejects coefficients that are not finite.
    ///
    /// # Errors
    /// [`CheckpointProblem::OutOfRange`].
    pub fn check_finite(&self, numbers: &[f64]) -> Result<(), CheckpointError> {
        super::finite(numbers.iter()).map_err(|problem| problem.of(&self.path))
    }
}

/// Reads ranges of numbers, of which the first of all is at position `at`.
fn read_ranges(file: &File, at: u64, ranges: &Ranges) -> std::io::Result<(Vec<f64>, u32)> {
    let mut numbers = Vec::new();
    numbers.try_reserve_exact(ranges.count()).map_err(|_| std::io::ErrorKind::OutOfMemory)?;
    let mut source = BufReader::with_capacity(CHUNK, file);
    let (mut sum, mut end) = (0, 0);
    let mut bytes = vec![0; CHUNK];
    for range in ranges.iter() {
        source.seek(SeekFrom::Start(at + 8 * range.start as u64))?;
        let mut crc = Hasher::new();
        let mut left = 8 * range.len();
        while left > 0 {
            let part = &mut bytes[..left.min(CHUNK)];
            source.read_exact(part)?;
            crc.update(part);
            left -= part.len();
            numbers.extend(part.as_chunks().0.iter().map(|eight| f64::from_le_bytes(*eight)));
        }
        sum = shift(sum, 8 * (range.end - end) as u64) ^ crc.finalize();
        end = range.end;
    }
    Ok((numbers, shift(sum, 8 * (ranges.total() - end) as u64)))
}
