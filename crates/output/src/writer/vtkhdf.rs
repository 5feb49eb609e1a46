//! The `.vtkhdf` file: all times of a series in one HDF5 file, as VTK and ParaView read it.
//!
//! The layout is VTKHDF 2.0 of the type `UnstructuredGrid` with `Steps` (VTK documentation, "VTKHDF File
//! Format"); VTK 9.3 and ParaView 5.12 read it. With P points, C cells and L nodes of cells at each of N
//! times, all below the group `VTKHDF`:
//!
//! | dataset | shape |
//! |---|---|
//! | `Points`, `Connectivity`, `Offsets`, `Types` | `[P × 3]`, `[L]`, `[C + 1]`, `[C]` |
//! | `NumberOfPoints`, `NumberOfCells`, `NumberOfConnectivityIds` | `[1]` |
//! | `PointData/NAME`, `CellData/NAME`, `FieldData/TimeValue` | `[N P × components]`, `[N C × components]`, `[N]` |
//! | `Steps/Values` (times), `Steps/PartOffsets`, `Steps/PointDataOffsets/NAME`, … | `[N]` |
//!
//! Points and cells are written once, and again only if they change (as when a run is continued on another
//! mesh); so are fields of integers on cells. Offsets say where the values of a time begin. Rows between the
//! times, if there are any, fill chunks up and belong to none.
//!
//! **Whole or absent.** The file appears with its first time. Another time goes behind the end of the file,
//! and with it a new description of the whole; then the superblock, the first 48 bytes, is pointed to that. A
//! run that is killed, or a full disk, leaves the file with the times before. Descriptions stand in two
//! places in turn, so that the one before stays readable while a new one is written. The bytes of a time that
//! was not finished, or that a restart has dropped, stay in the file unused.
//!
//! **Why not a library of HDF5.** `hdf5-metno` needs C. `hdf5-pure` 0.47 appends to datasets of rank 1 alone,
//! but vectors have rank 2, and it takes a minute to compile; `rust-hdf5` 0.7 takes longer, and does not say
//! what a killed program leaves. The part of the format that this file needs is small (`hdf5.rs`).

mod file;
pub(crate) mod read;

use std::fs;
use std::hash::{DefaultHasher, Hasher as _};
use std::io;
use std::path::PathBuf;

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use self::file::State;
use super::arrays::{self, Kind, Section, Sink};
use super::hdf5::Chunk;
use super::pattern::Pattern;
use super::pvd::make_directory;
use super::{Precision, TimeSeries, UnstructuredFields, VtuOptions, WriterError, atomic};

/// A `.vtkhdf` file that grows by one time after another.
///
/// ```
/// use dgsuite_output::writer::vtkhdf::Series;
/// use dgsuite_output::writer::{CellBlock, Field, TimeSeries, UnstructuredFields, VtuOptions};
/// use dgsuite_basis::{Shape, lattice::lattice};
///
/// let directory = tempfile::tempdir()?;
/// let mut series = Series::create(directory.path().join("fields.vtkhdf"));
/// for time in [0.0, 0.5] {
///     let points = lattice(Shape::Triangle, 3);
///     let pressure = points.iter().map(|x| x[0] * x[1] + time).collect();
///     let block = CellBlock {
///         shape: Shape::Triangle,
///         order: 3,
///         point_data: vec![Field::real("Pressure", 1, pressure)],
///         cell_data: vec![Field::integer("element_id", 1, vec![0])],
///         points,
///     };
///     series.write(&UnstructuredFields { time, pieces: vec![block] }, &VtuOptions::default())?;
/// }
/// assert_eq!(series.times()?, [0.0, 0.5]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Series {
    path: PathBuf,
    /// Whether the file is there.
    started: bool,
    /// What is in the file; `None` until it is looked up.
    state: Option<State>,
}

/// What is in a file, and where: stored in it as JSON, for this program.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
struct Catalog {
    times: Vec<f64>,
    steps: Vec<Step>,
    /// Numbers of points, cells and nodes of cells that were written, one after the other.
    parts: Vec<[u64; 3]>,
    /// The datasets in chunks: first those of [`GEOMETRY`], then the fields.
    arrays: Vec<Dataset>,
}

/// Where the numbers of a time begin: rows of datasets.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
struct Step {
    part: u64,
    /// In the datasets of [`GEOMETRY`].
    geometry: [u64; 4],
    /// In those of the fields.
    fields: Vec<u64>,
}

/// A dataset in chunks.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Dataset {
    /// Its path below `VTKHDF`.
    path: String,
    kind: Kind,
    /// The length of a row of a dataset of rank 2.
    columns: Option<u64>,
    rows: u64,
    /// Rows of a chunk.
    chunk: u64,
    chunks: Vec<Chunk>,
    compressed: bool,
}

const GEOMETRY: [&str; 4] = ["Points", "Connectivity", "Offsets", "Types"];
const OFFSETS: usize = 2;
const TYPES: usize = 3;

/// The most bytes of a chunk before compression: what the cache of the library holds.
const CHUNK: u64 = 1 << 20;

impl Series {
    /// A series that starts anew with its first fields, which replace a file of this name.
    #[must_use]
    pub fn create(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into(), started: false, state: None }
    }

    /// Continues the series at `path` from time `time` with the point fields `names` in precision
    /// `precision`: later times are dropped from it. If there is no such file, a new series is started.
    ///
    /// # Errors
    /// [`WriterError::Hdf`] if the file is not one of these series or has other fields;
    /// [`WriterError::Io`] from the system.
    pub fn resume(
        path: impl Into<PathBuf>,
        time: f64,
        names: &[&str],
        precision: Precision,
    ) -> Result<Self, WriterError> {
        let mut series = Self::create(path);
        if !series.path.is_file() {
            return Ok(series);
        }
        let mut state = series.load()?;
        let at_points = state.catalog.arrays.iter().filter(|array| array.folder() == "PointData");
        let mut found: Vec<&str> = at_points.map(Dataset::name).collect();
        let wanted: Vec<String> = names.iter().map(|name| link(name)).collect();
        let mut wanted: Vec<&str> = wanted.iter().map(String::as_str).collect();
        found.sort_unstable();
        wanted.sort_unstable();
        let in_words = |names: &[&str], double: bool| {
            format!("{} ({} precision)", names.join(", "), if double { "double" } else { "single" })
        };
        let (double, now) = (state.catalog.arrays[0].kind == Kind::Float64, precision == Precision::Double);
        if found != wanted || double != now {
            return Err(series.other_fields(&in_words(&found, double), &in_words(&wanted, now)));
        }
        let keep = state.catalog.times.iter().filter(|&&t| t <= time).count();
        if keep == 0 {
            fs::remove_file(&series.path).map_err(WriterError::io(&series.path))?;
            return Ok(series);
        }
        if keep < state.catalog.times.len() {
            state.cut(keep);
            state.commit(&series.path, &[]).map_err(WriterError::io(&series.path))?;
        }
        (series.started, series.state) = (true, Some(state));
        Ok(series)
    }

    /// The times in the file.
    ///
    /// # Errors
    /// [`WriterError::Hdf`] if the file is not one of these series.
    pub fn times(&self) -> Result<Vec<f64>, WriterError> {
        Ok(self.load()?.catalog.times)
    }

    fn load(&self) -> Result<State, WriterError> {
        State::load(&self.path).map_err(|reason| WriterError::Hdf { path: self.path.clone(), reason })
    }

    fn other_fields(&self, found: &str, wanted: &str) -> WriterError {
        let reason = format!(
            "it has the fields {found}, now {wanted} are to be written, and every field needs values at all times"
        );
        WriterError::Hdf { path: self.path.clone(), reason }
    }

    fn add(&mut self, fields: &UnstructuredFields, options: &VtuOptions) -> Result<(), WriterError> {
        let arrays = Arrays::new(fields, options)?;
        // After an error, what is in the file is looked up.
        let mut state = match self.state.take() {
            Some(state) => state,
            None if self.started => self.load()?,
            None => State::new(&arrays, options.compression),
        };
        if !arrays.fit(&state.catalog) {
            let found = state.catalog.arrays[GEOMETRY.len()..].iter().map(Dataset::in_words);
            let wanted = arrays.arrays[GEOMETRY.len()..].iter().map(Array::in_words);
            let [found, wanted] = [found.collect::<Vec<_>>(), wanted.collect()].map(|all| all.join(", "));
            return Err(self.other_fields(&found, &wanted));
        }
        // A time that is there already is replaced.
        let keep = state.catalog.times.iter().take_while(|&&t| t < fields.time).count();
        state.cut(keep);
        let new = state.add(&self.path, arrays, fields.time, options.compression);
        let new = new.map_err(WriterError::io(&self.path))?;
        if self.started {
            state.commit(&self.path, &new).map_err(WriterError::io(&self.path))?;
        } else {
            make_directory(&self.path)?;
            atomic::write_with(&self.path, |file| state.start(file, &new))?;
            self.started = true;
        }
        self.state = Some(state);
        Ok(())
    }
}

/// Fields without cells are not written: those of a rank that has no results.
impl TimeSeries for Series {
    fn write(&mut self, fields: &UnstructuredFields, options: &VtuOptions) -> Result<(), WriterError> {
        fields.check()?;
        if fields.pieces.is_empty() { Ok(()) } else { self.add(fields, options) }
    }
}

/// A field's name as the name of a link, which has no slash: in its place is a division sign that looks like
/// one.
fn link(name: &str) -> String {
    match name {
        "" | "." => format!("_{name}"),
        _ => name.replace('/', "\u{2215}"),
    }
}

/// The name of a field from that of a link.
fn unlink(name: &str) -> String {
    name.replace('\u{2215}', "/")
}

fn split(path: &str) -> (&str, &str) {
    path.rsplit_once('/').unwrap_or(("", path))
}

fn in_words(path: &str, kind: Kind, columns: Option<u64>) -> String {
    format!("{path} ({kind:?} × {})", columns.unwrap_or(1))
}

impl Dataset {
    fn folder(&self) -> &str {
        split(&self.path).0
    }

    fn name(&self) -> &str {
        split(&self.path).1
    }

    fn in_words(&self) -> String {
        in_words(&self.path, self.kind, self.columns)
    }

    /// Bytes of a row.
    fn row(&self) -> u64 {
        self.columns.unwrap_or(1) * self.kind.width() as u64
    }

    /// The first row of the next chunk.
    fn next(&self) -> u64 {
        self.chunks.last().map_or(0, |chunk| (chunk.number + 1) * self.chunk)
    }
}

/// Numbers of one time, of one dataset.
struct Array {
    /// Its path below `VTKHDF`.
    path: String,
    kind: Kind,
    /// The length of a row of a dataset of rank 2.
    columns: Option<u64>,
    /// The numbers, little-endian.
    bytes: Vec<u8>,
}

impl Array {
    fn in_words(&self) -> String {
        in_words(&self.path, self.kind, self.columns)
    }

    fn rows(&self) -> u64 {
        self.bytes.len() as u64 / (self.columns.unwrap_or(1) * self.kind.width() as u64).max(1)
    }

    /// Whether the numbers are likely to be those of the time before.
    fn may_stay(&self) -> bool {
        split(&self.path).0 == "CellData" && self.kind == Kind::Int64
    }

    fn hash(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        hasher.write(&self.bytes);
        hasher.finish()
    }
}

/// The arrays of one time, in the order of [`Catalog::arrays`].
struct Arrays {
    arrays: Vec<Array>,
    folder: &'static str,
    points: usize,
    cells: usize,
    nodes: usize,
    /// Points before the block that is being taken.
    first: i64,
}

impl Arrays {
    fn new(fields: &UnstructuredFields, options: &VtuOptions) -> Result<Self, WriterError> {
        let mut all = Self { arrays: Vec::new(), folder: "", points: 0, cells: 0, nodes: 0, first: 0 };
        for block in &fields.pieces {
            let pattern = Pattern::new(block.shape, block.order, options.cells)?;
            all.first = all.points as i64;
            // A sink in memory does not fail.
            let _ = arrays::write(&mut all, block, &pattern, options.precision);
            all.points += block.points.len();
            all.cells += block.n_cells() * pattern.types.len();
            all.nodes += block.n_cells() * pattern.nodes.len();
        }
        Ok(all)
    }

    /// Whether the datasets of a file are those of these arrays.
    fn fit(&self, catalog: &Catalog) -> bool {
        self.arrays.len() == catalog.arrays.len()
            && self.arrays.iter().zip(&catalog.arrays).all(|(ours, theirs)| {
                ours.path == theirs.path && ours.kind == theirs.kind && ours.columns == theirs.columns
            })
    }

    /// The hash of points and cells.
    fn geometry(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        self.arrays[..GEOMETRY.len()].iter().for_each(|array| hasher.write(&array.bytes));
        hasher.finish()
    }
}

impl Sink for Arrays {
    fn section(&mut self, section: Section) {
        self.folder = match section {
            Section::Points | Section::Cells => "",
            Section::PointData => "PointData/",
            Section::CellData => "CellData/",
        };
    }

    fn array<const W: usize>(
        &mut self,
        kind: Kind,
        name: &str,
        components: usize,
        n: usize,
        value: impl Fn(usize) -> [u8; W] + Sync,
    ) -> io::Result<()> {
        const RUN: usize = 1 << 14;
        let (path, base) = match (self.folder, name) {
            ("", "connectivity") => ("Connectivity".to_owned(), self.first),
            ("", "offsets") => ("Offsets".to_owned(), self.nodes as i64),
            ("", "types") => ("Types".to_owned(), 0),
            ("", name) => (name.to_owned(), 0),
            (folder, name) => (format!("{folder}{}", link(name)), 0),
        };
        let mut bytes = vec![0; n * W];
        bytes.par_chunks_mut(RUN * W).enumerate().for_each(|(run, bytes)| {
            for (i, bytes) in bytes.chunks_exact_mut(W).enumerate() {
                bytes.copy_from_slice(&value(run * RUN + i));
                if base != 0
                    && let Ok(number) = <[u8; 8]>::try_from(&*bytes)
                {
                    bytes.copy_from_slice(&(i64::from_le_bytes(number) + base).to_le_bytes());
                }
            }
        });
        if let Some(array) = self.arrays.iter_mut().find(|array| array.path == path) {
            array.bytes.extend_from_slice(&bytes);
            return Ok(());
        }
        if path == "Offsets" {
            bytes.splice(0..0, [0; 8]);
        }
        let columns = (components > 1).then_some(components as u64);
        self.arrays.push(Array { path, kind, columns, bytes });
        Ok(())
    }
}

#[cfg(test)]
mod tests;
