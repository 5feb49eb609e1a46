//! Checkpoints: the whole state of a run in one file, written atomically and checked when it is read.
//!
//! A file consists of named sections ([`section`]):
//!
//! | section | description | numbers |
//! |---|---|---|
//! | `run` | version of the program, mesh digest, steps of the run and of the solver | time, its rounding error, time of the state |
//! | `law` | name of the law, names of its parameters | their values |
//! | `state` | basis, order | coefficients, `[element][field][basis function]` |
//! | `tally` | | time integrals of the boundary fluxes, integrals at the start, integrals of the sizes there |
//! | `tally-rest` (optional) | | what the time integrals of the boundary fluxes lack, rounded, and so on |
//! | `averages` (optional) | | means over time so far: times, then integrals and last values in the order of the elements of each shape |
//! | `averaged` (optional) | what the means are of: order of the points, fields with their formulas, products; the step of the first sample | |
//! | `history` (optional) | lengths of the past fields of a multistep scheme, number of its past steps | sizes of these steps, coefficients of the fields |
//! | `control` (optional) | | the next step of the error control, the last two errors, attempts rejected since |
//! | `retry` (optional) | | the share of the step size after failed steps |
//! | `steady` (optional) | | the best residual of a steady run relative to the largest, its step, the largest residuals |
//! | `counts` (optional) | smallest and largest step, rejected and repeated steps, iterations of linear solvers | |
//!
//! To store more, push a [`Section`] to [`Checkpoint::sections`], add a row for it to `KNOWN`, and read it
//! after a restart with [`Checkpoint::section`].

mod coefficients;
mod draft;
mod error;
mod first_format;
pub mod section;

use std::fs::{self, File};
use std::io::{self, BufReader, Read as _, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};

use dgsuite_timeint::TimePoint;
use serde::{Deserialize, Serialize};

pub use self::coefficients::Coefficients;
pub use self::draft::{Draft, write_ranges};
pub use self::error::{CheckpointError, CheckpointProblem, Damage};
use self::section::Left;
pub use self::section::Section;
use crate::writer::WriterError;
use dgsuite_solve::flow::State;
use dgsuite_solve::setup::MAX_ORDER;
use dgsuite_solve::{Histories, Ranges};

/// The name of the small file that contains the name of the newest checkpoint.
const LATEST: &str = "latest";

/// The sections that this program reads, each with the newest version that it can read.
const KNOWN: [(&str, u16); 13] = [
    ("run", 1),
    ("law", 1),
    ("state", 1),
    ("tally", 1),
    (TALLY_REST, 1),
    ("averages", 2),
    ("averaged", 1),
    ("history", 1),
    ("control", 1),
    ("retry", 1),
    ("steady", 1),
    ("triggers", 1),
    ("counts", 1),
];

/// The sections whose numbers may stay in the file.
const STATE: &str = "state";
const AVERAGES: &str = "averages";
const HISTORY: &str = "history";
const TALLY_REST: &str = "tally-rest";

/// The words of a mismatch of meshes.
pub const MESH: &str = "a mesh with digest";

/// Largest number of steps of a run: numbers of steps are columns of tables, as 64-bit floating-point
/// numbers.
const MAX_STEPS: u64 = 1 << 53;

/// A state and its point in time in the run.
#[derive(Clone, Debug, PartialEq)]
pub struct Checkpoint {
    /// Time, step number and state of the step control.
    pub now: TimePoint,
    /// The solver's state.
    pub state: State,
    /// Means over time so far: the time that they span, then integrals; empty if there are none.
    pub averages: Vec<f64>,
    /// Sections of other parts of the program, under their own names.
    pub sections: Vec<Section<'static>>,
}

impl Checkpoint {
    /// Returns the section of this name from [`sections`](Self::sections), if the file had it.
    #[must_use]
    pub fn section(&self, name: &str) -> Option<&Section<'static>> {
        self.sections.iter().find(|section| section.name() == name)
    }
}

/// A checkpoint as read, with the digest of its mesh.
struct Read {
    checkpoint: Checkpoint,
    mesh: String,
    /// Where its coefficients are, if they were left in the file.
    left: Option<Left>,
}

#[derive(Serialize, Deserialize)]
struct RunHeader {
    version: String,
    mesh: String,
    step: u64,
    solver_step: usize,
}

#[derive(Serialize, Deserialize)]
struct LawHeader {
    name: String,
    parameters: Vec<String>,
}

#[derive(Serialize, Deserialize)]
struct StateHeader {
    basis: String,
    order: usize,
}

#[derive(Serialize, Deserialize)]
struct HistoryHeader {
    steps: usize,
    fields: Vec<usize>,
}

/// Writes the state as `step-N.dgs` into `directory` and makes `latest` point to it.
///
/// # Errors
/// Errors of the file system; existing checkpoints are then untouched.
pub fn write(directory: &Path, checkpoint: &Checkpoint, mesh: u64) -> Result<PathBuf, WriterError> {
    let numbers = &checkpoint.state.fields;
    let draft = Draft::begin(directory, checkpoint, mesh, numbers.len())?;
    let written = write_ranges(draft.file(), draft.at(), &Ranges::all(numbers.len()), numbers);
    draft.finish(written.map_err(WriterError::io(directory))?)
}

/// Not every reader of JSON holds 64-bit integers exactly.
fn digest_text(mesh: u64) -> String {
    format!("{mesh:016x}")
}

/// Returns the checkpoint that `path` refers to: the file itself, the one that a file `latest` names, or the
/// latest one of a directory of checkpoints or results.
///
/// # Errors
/// A file that cannot be read, a directory without a checkpoint.
pub fn find(path: &Path) -> Result<PathBuf, CheckpointError> {
    if path.is_dir() {
        let inner = [path.join(LATEST), path.join("checkpoints").join(LATEST)];
        let latest = inner.iter().find(|file| file.is_file() || newest(file).is_some());
        return find(latest.ok_or_else(|| CheckpointProblem::NoneThere.of(path))?);
    }
    let unreadable = |reason| CheckpointProblem::Unreadable(reason).of(path);
    if path.file_name().is_some_and(|name| name == LATEST) {
        let named = fs::read_to_string(path).map(|name| path.with_file_name(name.trim()));
        return match (named, newest(path)) {
            (Ok(file), newest) if file.is_file() || newest.is_none() => Ok(file),
            (_, Some(newest)) => Ok(newest),
            (named, None) => named.map_err(unreadable),
        };
    }
    fs::metadata(path).map_err(unreadable)?;
    Ok(path.to_owned())
}

/// The checkpoint with the largest step beside the file `latest`, which may have been lost.
fn newest(latest: &Path) -> Option<PathBuf> {
    let step = |file: &PathBuf| -> Option<u64> {
        file.file_name()?.to_str()?.strip_prefix("step-")?.strip_suffix(".dgs")?.parse().ok()
    };
    let files = fs::read_dir(latest.parent()?).ok()?.filter_map(|entry| Some(entry.ok()?.path()));
    files.filter(|file| step(file).is_some()).max_by_key(step)
}

/// Reads a checkpoint and checks that it belongs to a run with this law and mesh.
///
/// # Errors
/// A file that is missing, is not a checkpoint, is damaged, comes from a newer program, has another law or
/// mesh, or contains numbers that no run can have.
pub fn read(path: &Path, law: &str, mesh: u64) -> Result<Checkpoint, CheckpointError> {
    let (checkpoint, found) = of_law(path, law, &[])?;
    same_mesh(&found, mesh).map_err(|problem| problem.of(path))?;
    Ok(checkpoint)
}

/// Reads a checkpoint of a run with this law on any mesh, and returns whether this is the mesh with the
/// digest `mesh`.
///
/// # Errors
/// As [`read`], but for the mesh.
pub fn read_on_any_mesh(path: &Path, law: &str, mesh: u64) -> Result<(Checkpoint, bool), CheckpointError> {
    let (checkpoint, found) = of_law(path, law, &[])?;
    Ok((checkpoint, found == digest_text(mesh)))
}

/// As [`read_on_any_mesh`], but the coefficients of the state and past states stay in the file, for
/// [`Coefficients`], and without `averages` also the means but for their times. What stays is not checked. If
/// `only` is true, another mesh is an error.
///
/// # Errors
/// As [`read`].
pub fn read_outline(
    path: &Path,
    law: &str,
    (mesh, only): (u64, bool),
    averages: bool,
) -> Result<(Checkpoint, bool), CheckpointError> {
    let leave: &[&str] = if averages { &[STATE, HISTORY] } else { &[STATE, HISTORY, AVERAGES] };
    let (mut checkpoint, found) = of_law(path, law, leave)?;
    let same = same_mesh(&found, mesh);
    let is_same = same.is_ok();
    same.or_else(|problem| if only { Err(problem.of(path)) } else { Ok(()) })?;
    // Files of the first format are read as a whole.
    (checkpoint.state.fields, checkpoint.state.histories) = (Vec::new(), None);
    Ok((checkpoint, is_same))
}

fn same_mesh(found: &str, mesh: u64) -> Result<(), CheckpointProblem> {
    let (found, wanted) = (found.to_owned(), digest_text(mesh));
    if found == wanted { Ok(()) } else { Err(CheckpointProblem::Mismatch { what: MESH, found, wanted }) }
}

/// Reads a checkpoint of a run with this law, and the digest of its mesh. The numbers of the sections in
/// `leave` are left in the file.
fn of_law(path: &Path, law: &str, leave: &[&str]) -> Result<(Checkpoint, String), CheckpointError> {
    let found = open(path, leave).and_then(|Read { checkpoint, mesh, .. }| match &checkpoint.state {
        state if state.law != law => {
            let (found, wanted) = (state.law.clone(), law.to_owned());
            Err(CheckpointProblem::Mismatch { what: "the model", found, wanted })
        }
        _ => bounded(&checkpoint).map(|()| (checkpoint, mesh)),
    });
    found.map_err(|problem| problem.of(path))
}

fn open(path: &Path, leave: &[&str]) -> Result<Read, CheckpointProblem> {
    // Checked before the file is opened: opening a pipe waits for a writer.
    let described = fs::metadata(path).map_err(CheckpointProblem::Unreadable)?;
    if !described.is_file() {
        return Err(CheckpointProblem::NotACheckpoint);
    }
    let file = File::open(path).map_err(CheckpointProblem::Unreadable)?;
    let mut file = BufReader::new(file);
    let mut magic = [0; 8];
    file.read_exact(&mut magic).map_err(|error| match error.kind() {
        io::ErrorKind::UnexpectedEof => CheckpointProblem::NotACheckpoint,
        _ => CheckpointProblem::Unreadable(error),
    })?;
    if &magic == section::MAGIC {
        let sections = section::read_all(&mut file, described.len() - magic.len() as u64, &KNOWN, leave)?;
        let averages = |section: &&Section<'_>| section.name() == AVERAGES && of_the_mesh(section);
        let averages = sections.iter().find(averages).and_then(Section::left);
        let mut read = from_sections(sections)?;
        // All ranks must know the times of the means.
        if let Some(left) = averages.filter(|left| left.numbers > 1) {
            let mut times = [[0; 8]; 2];
            file.seek(SeekFrom::Start(left.at)).map_err(CheckpointProblem::Unreadable)?;
            file.read_exact(times.as_flattened_mut()).map_err(CheckpointProblem::Unreadable)?;
            read.checkpoint.averages = times.map(f64::from_le_bytes).to_vec();
        }
        return Ok(read);
    }
    if &magic == first_format::MAGIC {
        let mut rest = Vec::new();
        file.read_to_end(&mut rest).map_err(CheckpointProblem::Unreadable)?;
        return first_format::read(&rest);
    }
    match magic.strip_prefix(b"DGSUITE") {
        Some([format @ b'3'..=b'9']) => {
            let what = format!("its format is number {}, this program reads 1 and 2", char::from(*format));
            Err(CheckpointProblem::Newer { what })
        }
        _ => Err(CheckpointProblem::NotACheckpoint),
    }
}

fn from_sections(mut sections: Vec<Section<'static>>) -> Result<Read, CheckpointProblem> {
    let mut find = |name: &str| {
        let place = sections.iter().position(|section| section.name() == name)?;
        Some(sections.swap_remove(place))
    };
    let mut need = |name: &'static str| find(name).ok_or(Damage::Missing(name));
    let [run, law, state, tally] = [need("run")?, need("law")?, need("state")?, need("tally")?];
    let left = state.left();
    let tally_rest = find(TALLY_REST).map_or_else(Vec::new, Section::into_values);
    let averages = find(AVERAGES).filter(of_the_mesh).map_or_else(Vec::new, Section::into_values);
    let histories = find(HISTORY).filter(|section| section.left().is_none());
    let histories = histories.map(|section| past(&section)).transpose()?;
    let header = |name: &str| Damage::Header(name.to_owned());
    let about: RunHeader = run.description().ok_or_else(|| header("run"))?;
    let &[t, low, time] = run.values() else { return Err(header("run").into()) };
    let named: LawHeader = law.description().ok_or_else(|| header("law"))?;
    if named.parameters.len() != law.values().len() {
        return Err(header("law").into());
    }
    let space: StateHeader = state.description().ok_or_else(|| header("state"))?;
    let state = State {
        time,
        step: about.solver_step,
        order: space.order,
        law: named.name,
        parameters: named.parameters.into_iter().zip(law.values().iter().copied()).collect(),
        basis: space.basis,
        fields: state.into_values(),
        tally: tally.into_values(),
        tally_rest,
        histories,
    };
    let now = TimePoint { t, low, step: about.step };
    Ok(Read { checkpoint: Checkpoint { now, state, averages, sections }, mesh: about.mesh, left })
}

/// Whether means are in the order of the mesh. In version 1 their order depended on the machine and on the
/// number of ranks.
fn of_the_mesh(averages: &Section<'_>) -> bool {
    averages.version() > 1
}

/// Reads the past states of a multistep scheme.
fn past(section: &Section<'_>) -> Result<Histories, Damage> {
    let header = || Damage::Header("history".to_owned());
    let HistoryHeader { steps, fields } = section.description().ok_or_else(header)?;
    let (steps, mut rest) = section.values().split_at_checked(steps).ok_or_else(header)?;
    let mut all = Vec::new();
    for length in fields {
        let (field, behind) = rest.split_at_checked(length).ok_or_else(header)?;
        all.push(field.to_vec());
        rest = behind;
    }
    if rest.is_empty() { Ok(Histories { steps: steps.to_vec(), fields: all }) } else { Err(header()) }
}

/// Rejects numbers that no run can have: a file with correct checksums may still come from another program or
/// an attacker.
fn bounded(checkpoint: &Checkpoint) -> Result<(), CheckpointProblem> {
    let Checkpoint { now, state, averages, .. } = checkpoint;
    let refused = |what, found: String, expected: &str| {
        Err(CheckpointProblem::OutOfRange { what, found, expected: expected.to_owned() })
    };
    if state.order > MAX_ORDER {
        return refused("order", state.order.to_string(), &format!("from 0 to {MAX_ORDER}"));
    }
    for (what, time) in [("time", now.t), ("time of the state", state.time)] {
        if !(0.0..f64::INFINITY).contains(&time) {
            return refused(what, time.to_string(), "0 or more and finite");
        }
    }
    if !now.low.is_finite() {
        return refused("rounding of the time", now.low.to_string(), "finite");
    }
    if now.step > MAX_STEPS || state.step as u64 > MAX_STEPS {
        let found = now.step.max(state.step as u64).to_string();
        return refused("number of steps", found, &format!("at most {MAX_STEPS}"));
    }
    let past = state.histories.iter().flat_map(|h| h.steps.iter().chain(h.fields.iter().flatten()));
    finite(state.fields.iter().chain(&state.tally).chain(&state.tally_rest).chain(averages).chain(past))
}

/// Rejects numbers of a state that are not finite.
fn finite<'a>(mut numbers: impl Iterator<Item = &'a f64>) -> Result<(), CheckpointProblem> {
    let (what, expected) = ("a state with the number", "finite".to_owned());
    numbers
        .find(|x| !x.is_finite())
        .map_or(Ok(()), |x| Err(CheckpointProblem::OutOfRange { what, found: x.to_string(), expected }))
}

/// Returns the checkpoints in a directory in which a run continues, in the order of removal: states beyond
/// `step`, which the run will reach again, then older ones.
///
/// # Errors
/// Errors of the file system.
pub fn present(directory: &Path, step: u64) -> Result<Vec<PathBuf>, WriterError> {
    let mut found = Vec::new();
    for entry in fs::read_dir(directory).map_err(WriterError::io(directory))? {
        let path = entry.map_err(WriterError::io(directory))?.path();
        let number =
            path.file_name().and_then(|name| name.to_str()?.strip_prefix("step-")?.strip_suffix(".dgs"));
        if let Some(number) = number.and_then(|number| number.parse::<u64>().ok()) {
            found.push((number <= step, number, path));
        }
    }
    found.sort();
    Ok(found.into_iter().map(|(_, _, path)| path).collect())
}

/// Adds the file that was written last to those written by this run or found by [`present`], keeps the newest
/// `keep` of them, and removes the others. A file that was written again counts once. Those that someone else
/// has removed are no error.
///
/// # Errors
/// Errors of the file system.
pub fn prune(written: &mut Vec<PathBuf>, newest: PathBuf, keep: usize) -> Result<(), WriterError> {
    written.retain(|old| *old != newest);
    written.push(newest);
    while written.len() > keep {
        let old = written.remove(0);
        match fs::remove_file(&old) {
            Err(source) if source.kind() != io::ErrorKind::NotFound => {
                return Err(WriterError::Io { path: old, source });
            }
            _ => {}
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    pub(super) fn checkpoint() -> Checkpoint {
        let state = State {
            time: 0.1 + 0.2,
            step: 17,
            order: 2,
            law: "euler".into(),
            parameters: vec![("gamma".into(), 1.4)],
            basis: "modal".into(),
            fields: (0..30).map(|i| (f64::from(i) * 0.37).sin()).collect(),
            tally: vec![1.0 / 3.0, -2.0],
            tally_rest: vec![1e-17],
            histories: Some(Histories { steps: vec![0.1, 0.05], fields: vec![vec![1.5; 3], vec![-0.1; 2]] }),
        };
        Checkpoint {
            now: TimePoint { t: 0.3, low: 1e-17, step: 17 },
            state,
            averages: vec![2.5, -0.125, 1e9],
            sections: Vec::new(),
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
        for other in [read(&path, "advection", 7), read(&path, "euler", 8)] {
            assert!(matches!(other.unwrap_err().problem, CheckpointProblem::Mismatch { .. }));
        }
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

    /// The first format, as written by version 0.1: two quadrilaterals of order 1 with means of the density.
    #[test]
    fn a_file_of_the_first_format_is_read_and_its_damage_noticed() {
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/first-format.dgs");
        let bytes = fs::read(&file).unwrap();
        let header = String::from_utf8_lossy(&bytes).into_owned();
        let mesh = header.split("\"mesh\":\"").nth(1).unwrap().split('"').next().unwrap();
        let mesh = u64::from_str_radix(mesh, 16).unwrap();
        let Checkpoint { now, state, averages, .. } = read(&file, "euler", mesh).unwrap();
        assert_eq!((now.t, now.step, state.order, state.basis.as_str()), (0.05, 2, 1, "modal"));
        assert_eq!((state.fields.len(), state.tally.len(), state.parameters.len()), (2 * 4 * 4, 12, 0));
        assert!(averages.is_empty(), "their order is unknown");
        let dir = tempfile::tempdir().unwrap();
        let rest = &bytes[first_format::MAGIC.len()..];
        assert!(first_format::read(rest).is_ok());
        for n in 0..rest.len() {
            let mut flipped = rest.to_vec();
            flipped[n] ^= 4;
            assert!(first_format::read(&flipped).is_err(), "byte {n} flipped");
            assert!(first_format::read(&rest[..n]).is_err(), "cut to {n} bytes");
        }
        let broken = dir.path().join("broken.dgs");
        // With a checksum that matches.
        let newer = header_of_version_99(&bytes);
        fs::write(&broken, newer).unwrap();
        let error = read(&broken, "euler", mesh).unwrap_err().to_string();
        assert!(error.contains("newer version of dgsuite: it is of version 99"), "{error}");
    }

    fn header_of_version_99(bytes: &[u8]) -> Vec<u8> {
        let at = bytes.windows(7).position(|part| part == b"\"0.1.0\"").unwrap();
        let mut new = [&bytes[..at], b"\"99\"   ", &bytes[at + 7..bytes.len() - 4]].concat();
        let mut crc = flate2::Crc::new();
        crc.update(&new);
        new.extend(crc.sum().to_le_bytes());
        new
    }

    #[test]
    fn numbers_that_no_run_can_have_are_refused_although_the_checksums_fit() {
        let dir = tempfile::tempdir().unwrap();
        let refused = |change: &dyn Fn(&mut Checkpoint), part: &str| {
            let mut changed = checkpoint();
            change(&mut changed);
            let path = write(dir.path(), &changed, 7).unwrap();
            let error = read(&path, "euler", 7).unwrap_err().to_string();
            assert!(error.contains(part), "`{part}` is not in: {error}");
        };
        refused(&|c| c.state.order = 1000, "order 1000, which is not from 0 to 10");
        refused(&|c| c.state.order = usize::MAX >> 1, "which is not from 0 to 10");
        refused(&|c| c.now.t = f64::NAN, "time NaN, which is not 0 or more and finite");
        refused(&|c| c.state.time = f64::INFINITY, "time of the state inf");
        refused(&|c| c.now.t = -1.0, "time -1");
        refused(&|c| c.now.low = f64::NAN, "rounding of the time NaN");
        refused(&|c| c.now.step = u64::MAX, "number of steps 18446744073709551615");
        refused(&|c| c.state.fields[3] = f64::NAN, "a state with the number NaN");
        refused(&|c| c.averages[0] = f64::NEG_INFINITY, "a state with the number -inf");
        let past = Histories { steps: vec![f64::NAN], fields: Vec::new() };
        refused(&|c| c.state.histories = Some(past.clone()), "a state with the number NaN");
    }

    #[test]
    fn what_others_keep_comes_back_by_name_and_what_is_newer_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let with = |section: Section<'static>| {
            let saved = Checkpoint { sections: vec![section], ..checkpoint() };
            read(&write(dir.path(), &saved, 7).unwrap(), "euler", 7)
        };
        // The section is unknown and therefore left out.
        let saved = with(Section::optional("weather", 3).numbers(vec![1.0])).unwrap();
        assert_eq!((&saved, saved.section("weather")), (&checkpoint(), None));
        let newer = with(Section::required("weather", 1)).unwrap_err();
        assert!(matches!(newer.problem, CheckpointProblem::Newer { .. }), "{newer}");
        let path = dir.path().join("next.dgs");
        fs::write(&path, b"DGSUITE3 and more").unwrap();
        let newer = read(&path, "euler", 7).unwrap_err().to_string();
        assert!(newer.contains("its format is number 3"), "{newer}");
        fs::write(&path, b"DGS").unwrap();
        let other = read(&path, "euler", 7).unwrap_err();
        assert!(matches!(other.problem, CheckpointProblem::NotACheckpoint));
    }

    #[test]
    fn only_the_newest_are_kept() {
        let dir = tempfile::tempdir().unwrap();
        let mut written = Vec::new();
        for step in 1..=4 {
            let now = TimePoint { step, ..checkpoint().now };
            let newest = write(dir.path(), &Checkpoint { now, ..checkpoint() }, 7).unwrap();
            prune(&mut written, newest, 2).unwrap();
        }
        // One that is written again, as at the end of a restart of a finished run, does not count twice.
        let newest = write(
            dir.path(),
            &Checkpoint { now: TimePoint { step: 4, ..checkpoint().now }, ..checkpoint() },
            7,
        );
        prune(&mut written, newest.unwrap(), 2).unwrap();
        let left = fs::read_dir(dir.path()).unwrap().count();
        assert_eq!(left, 3, "two checkpoints and `latest`");
        assert_eq!(find(dir.path()).unwrap(), written[1]);
        // A user may remove an old one while the run goes on, also the whole directory.
        for whole in [false, true] {
            match whole {
                false => fs::remove_file(&written[0]).unwrap(),
                true => fs::remove_dir_all(dir.path()).unwrap(),
            }
            let now = TimePoint { step: written.len() as u64 + 5, ..checkpoint().now };
            let newest = write(dir.path(), &Checkpoint { now, ..checkpoint() }, 7).unwrap();
            prune(&mut written, newest, 2).unwrap();
            assert_eq!(find(dir.path()).unwrap(), written[1]);
        }
    }
}
