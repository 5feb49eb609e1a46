//! Reads one time of a `.vtkhdf` file as this program writes it. Each claim of a file is checked.

use std::fs::File;
use std::hash::{DefaultHasher, Hasher as _};
use std::io::{Read as _, Seek as _, SeekFrom};
use std::path::Path;

use flate2::read::ZlibDecoder;

use super::file::State;
use super::{Catalog, Dataset, GEOMETRY, OFFSETS, Step, split, unlink};
use crate::writer::arrays::Kind;

/// Cells of one time as VTK stores them.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Stored {
    /// The time.
    pub(crate) time: f64,
    /// Coordinates, three for each point.
    pub(crate) points: Vec<f64>,
    /// Points of all cells, in VTK's order.
    pub(crate) nodes: Vec<usize>,
    /// End of each cell in `nodes`.
    pub(crate) ends: Vec<usize>,
    /// VTK's types of the cells.
    pub(crate) types: Vec<usize>,
    /// Name, number of components and numbers of each field at points.
    pub(crate) at_points: Vec<(String, usize, Vec<f64>)>,
    /// As `at_points`, of each field on cells.
    pub(crate) of_cells: Vec<(String, usize, Vec<f64>)>,
}

/// Reads the times of a file.
///
/// # Errors
/// In words, if the file is not one of this program or is damaged.
pub(crate) fn times(path: &Path) -> Result<Vec<f64>, String> {
    Ok(State::load(path)?.catalog.times)
}

/// Reads time number `step` of a file.
///
/// # Errors
/// As for [`times`].
pub(crate) fn read(path: &Path, step: usize) -> Result<Stored, String> {
    let catalog = State::load(path)?.catalog;
    let mut file = File::open(path).map_err(|error| error.to_string())?;
    let (Some(&time), Some(at)) = (catalog.times.get(step), catalog.steps.get(step)) else {
        return Err(format!("it has no time number {step}"));
    };
    let counts = counts(&catalog, at)?;
    let mut geometry = |i: usize| numbers(&mut file, &catalog.arrays[i], at.geometry[i], counts[i]);
    let (points, nodes) = (geometry(0)?, whole(&geometry(1)?)?);
    let (ends, types) = (whole(&geometry(OFFSETS)?)?, whole(&geometry(3)?)?);
    if points.len() as u64 != 3 * counts[0] || ends.first() != Some(&0) || ends.last() != Some(&nodes.len()) {
        return Err("its cells do not have the points that it tells".to_owned());
    }
    let (mut at_points, mut of_cells) = (Vec::new(), Vec::new());
    for (array, &row) in catalog.arrays[GEOMETRY.len()..].iter().zip(&at.fields) {
        let (folder, name) = split(&array.path);
        let (rows, into) = match folder {
            "PointData" => (counts[0], &mut at_points),
            _ => (counts[3], &mut of_cells),
        };
        let components = usize::try_from(array.columns.unwrap_or(1)).unwrap_or(1);
        into.push((unlink(name), components, numbers(&mut file, array, row, rows)?));
    }
    Ok(Stored { time, points, nodes, ends: ends[1..].to_vec(), types, at_points, of_cells })
}

/// The hash of the points and cells of a time.
///
/// # Errors
/// As for [`times`].
pub(super) fn geometry(path: &Path, catalog: &Catalog, step: &Step) -> Result<u64, String> {
    let mut file = File::open(path).map_err(|error| error.to_string())?;
    let mut hasher = DefaultHasher::new();
    for (i, rows) in counts(catalog, step)?.into_iter().enumerate() {
        hasher.write(&bytes(&mut file, &catalog.arrays[i], step.geometry[i], rows)?);
    }
    Ok(hasher.finish())
}

/// The rows of a time in the datasets of [`GEOMETRY`].
fn counts(catalog: &Catalog, step: &Step) -> Result<[u64; 4], String> {
    let part = usize::try_from(step.part).ok().and_then(|part| catalog.parts.get(part));
    let [points, cells, nodes] = *part.ok_or("it does not tell its numbers of cells")?;
    Ok([points, nodes, cells.saturating_add(1), cells])
}

/// Bytes of rows of a dataset.
fn bytes(file: &mut File, array: &Dataset, first: u64, rows: u64) -> Result<Vec<u8>, String> {
    let short = || format!("`{}` does not have the numbers of this time", array.path);
    let row = array.columns.unwrap_or(1).checked_mul(array.kind.width() as u64).ok_or_else(short)?;
    let size = array.chunk.checked_mul(row).and_then(|size| usize::try_from(size).ok()).ok_or_else(short)?;
    let end = first.checked_add(rows).filter(|&end| end <= array.rows).ok_or_else(short)?;
    let mut out = Vec::new();
    for number in first / array.chunk..end.div_ceil(array.chunk) {
        let found = array.chunks.binary_search_by_key(&number, |chunk| chunk.number).map_err(|_| short())?;
        let chunk = array.chunks[found];
        let mut packed = Vec::new();
        let begin = file.seek(SeekFrom::Start(chunk.address));
        let read = begin.and_then(|_| file.by_ref().take(chunk.size.into()).read_to_end(&mut packed));
        read.map_err(|error| error.to_string())?;
        if array.compressed {
            let mut plain = Vec::new();
            let room = size as u64 + 1;
            let unpacked = ZlibDecoder::new(packed.as_slice()).take(room).read_to_end(&mut plain);
            unpacked.map_err(|error| format!("`{}` cannot be unpacked: {error}", array.path))?;
            packed = plain;
        }
        if packed.len() != size {
            return Err(short());
        }
        let begin = number * array.chunk;
        let from = first.saturating_sub(begin) * row;
        let to = (end - begin).min(array.chunk) * row;
        out.extend_from_slice(packed.get(from as usize..to as usize).ok_or_else(short)?);
    }
    Ok(out)
}

/// Numbers of rows of a dataset.
fn numbers(file: &mut File, array: &Dataset, first: u64, rows: u64) -> Result<Vec<f64>, String> {
    let bytes = bytes(file, array, first, rows)?;
    Ok(match array.kind {
        Kind::Float32 => groups(&bytes).map(|b| f64::from(f32::from_le_bytes(b))).collect(),
        Kind::Float64 => groups(&bytes).map(f64::from_le_bytes).collect(),
        Kind::Int64 => groups(&bytes).map(|b| i64::from_le_bytes(b) as f64).collect(),
        Kind::UInt8 => groups(&bytes).map(|[b]| f64::from(b)).collect(),
    })
}

fn groups<const W: usize>(bytes: &[u8]) -> impl Iterator<Item = [u8; W]> {
    bytes.chunks_exact(W).map(|chunk| std::array::from_fn(|k| chunk[k]))
}

fn whole(numbers: &[f64]) -> Result<Vec<usize>, String> {
    let one =
        |&x: &f64| if x >= 0.0 { Ok(x as usize) } else { Err("it has a number that is no index".to_owned()) };
    numbers.iter().map(one).collect()
}
