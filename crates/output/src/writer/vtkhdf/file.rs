//! The bytes of a `.vtkhdf` file: what a time adds to it, and the description of the whole.

use std::collections::HashMap;
use std::fs::{File, OpenOptions};
use std::io::{self, Read as _, Seek as _, SeekFrom, Write};
use std::path::Path;

use rayon::prelude::*;

use super::read;
use super::{Array, Arrays, CHUNK, Catalog, Dataset, GEOMETRY, OFFSETS, Step, TYPES, split};
use crate::writer::arrays::Kind;
use crate::writer::hdf5::{
    self, Attribute, Chunk, Dataset as Described, Description, Group, SUPERBLOCK, Storage, checksum,
};

/// The end of a catalog in a file, before the root group: the number of its bytes, their checksum, and this.
const MARK: &[u8; 4] = b"dgs1";

/// More rows than any dataset has, so that positions do not overflow.
const MOST_ROWS: u64 = 1 << 48;

/// What is in a file, for the next time.
#[derive(Debug)]
pub(super) struct State {
    pub(super) catalog: Catalog,
    /// The end of the file.
    end: u64,
    /// A place where a description may stand, with its length: not that of the present one.
    spare: Option<(u64, u64)>,
    /// The place of the present one, if this program has made it.
    present: Option<(u64, u64)>,
    /// The hash of the points and cells of the last time, if known.
    geometry: Option<u64>,
    /// Of fields of integers on cells the hash of the last numbers and their row, by path.
    constant: HashMap<String, (u64, u64)>,
}

impl State {
    /// A file without a time for such arrays.
    pub(super) fn new(arrays: &Arrays, level: u32) -> Self {
        let dataset = |array: &Array| {
            let rows = array.rows().max(1);
            let row = array.columns.unwrap_or(1) * array.kind.width() as u64;
            // Chunks of about the same size, so that little is filled up.
            let chunk = rows.div_ceil((rows * row).div_ceil(CHUNK).max(1));
            Dataset {
                path: array.path.clone(),
                kind: array.kind,
                columns: array.columns,
                rows: 0,
                chunk,
                chunks: Vec::new(),
                compressed: level > 0,
            }
        };
        let catalog = Catalog { arrays: arrays.arrays.iter().map(dataset).collect(), ..Catalog::default() };
        Self {
            catalog,
            end: SUPERBLOCK as u64,
            spare: None,
            present: None,
            geometry: None,
            constant: HashMap::new(),
        }
    }

    /// Reads what is in a file; the error says what is wrong with it.
    pub(super) fn load(path: &Path) -> Result<Self, String> {
        let mut file = File::open(path).map_err(|error| error.to_string())?;
        let size = file.metadata().map_err(|error| error.to_string())?.len();
        let strange = || "it is damaged, or of another program".to_owned();
        let mut block = [0; SUPERBLOCK];
        file.read_exact(&mut block).map_err(|_| strange())?;
        let (root, end) = hdf5::read_superblock(&block).ok_or_else(strange)?;
        let mut tail = [0; 16];
        let at = root.checked_sub(tail.len() as u64).ok_or_else(strange)?;
        file.seek(SeekFrom::Start(at)).and_then(|_| file.read_exact(&mut tail)).map_err(|_| strange())?;
        let [length, sum] = [&tail[..8], &tail[8..12]]
            .map(|bytes| bytes.iter().rev().fold(0u64, |number, &byte| (number << 8) | u64::from(byte)));
        let start = at.checked_sub(length).filter(|_| &tail[12..] == MARK).ok_or_else(strange)?;
        file.seek(SeekFrom::Start(start)).map_err(|error| error.to_string())?;
        let mut text = Vec::new();
        file.take(length).read_to_end(&mut text).map_err(|error| error.to_string())?;
        if u64::from(checksum(&text)) != sum {
            return Err(strange());
        }
        let catalog: Catalog = serde_json::from_slice(&text).map_err(|_| strange())?;
        if end > size || !catalog.is_sound(end) {
            return Err(strange());
        }
        Ok(Self { catalog, end, spare: None, present: None, geometry: None, constant: HashMap::new() })
    }

    /// Keeps the first `keep` times.
    pub(super) fn cut(&mut self, keep: usize) {
        if keep < self.catalog.times.len() {
            self.catalog.times.truncate(keep);
            self.catalog.steps.truncate(keep);
            (self.geometry, self.constant) = (None, HashMap::new());
        }
    }

    /// Adds a time, and returns the bytes that go behind the end of the file.
    pub(super) fn add(&mut self, path: &Path, arrays: Arrays, time: f64, level: u32) -> io::Result<Vec<u8>> {
        let mut new = Vec::new();
        let hash = arrays.geometry();
        let last = self.catalog.steps.last();
        let known = match (self.geometry, last) {
            (Some(known), _) => Some(known),
            (None, Some(last)) => read::geometry(path, &self.catalog, last).ok(),
            (None, None) => None,
        };
        let same = last.filter(|_| known == Some(hash)).map(|last| (last.part, last.geometry));
        self.geometry = Some(hash);
        let counts = [arrays.points, arrays.cells, arrays.nodes].map(|n| n as u64);
        let (geometry, fields) = {
            let mut all = arrays.arrays;
            let fields = all.split_off(GEOMETRY.len());
            (all, fields)
        };
        let (part, places) = match same {
            Some(same) => same,
            None => {
                let part = self.catalog.parts.len() as u64;
                self.catalog.parts.push(counts);
                let mut places: [u64; 4] = std::array::from_fn(|i| self.catalog.arrays[i].next());
                // Readers find the offsets of cells at the row of their types plus the number of the part.
                let (offsets, types) = (places[OFFSETS], &self.catalog.arrays[TYPES]);
                let least = offsets.saturating_sub(part).max(types.next());
                places[TYPES] = least.next_multiple_of(types.chunk);
                places[OFFSETS] = places[TYPES] + part;
                for (i, array) in geometry.into_iter().enumerate() {
                    self.put(i, places[i], array, level, &mut new)?;
                }
                (part, places)
            }
        };
        let mut rows = Vec::new();
        for (i, array) in fields.into_iter().enumerate() {
            let i = i + GEOMETRY.len();
            let hash = array.may_stay().then(|| array.hash());
            let stays = self.constant.get(&array.path).filter(|(known, _)| Some(*known) == hash);
            let row = match stays {
                Some(&(_, row)) => row,
                None => {
                    let row = self.catalog.arrays[i].next();
                    if let Some(hash) = hash {
                        self.constant.insert(array.path.clone(), (hash, row));
                    }
                    self.put(i, row, array, level, &mut new)?;
                    row
                }
            };
            rows.push(row);
        }
        self.catalog.times.push(time);
        self.catalog.steps.push(Step { part, geometry: places, fields: rows });
        Ok(new)
    }

    /// Adds numbers to dataset `i` at row `start`, which lies behind its last chunk, in chunks that `new`
    /// gets.
    fn put(&mut self, i: usize, start: u64, array: Array, level: u32, new: &mut Vec<u8>) -> io::Result<()> {
        let dataset = &mut self.catalog.arrays[i];
        let (row, rows) = (dataset.row() as usize, array.rows());
        let (first, front) = (start / dataset.chunk, (start % dataset.chunk) as usize);
        let mut bytes = array.bytes;
        bytes.splice(0..0, std::iter::repeat_n(0, front * row));
        let size = dataset.chunk as usize * row;
        bytes.resize(bytes.len().next_multiple_of(size), 0);
        let level = if dataset.compressed { level.max(1) } else { 0 };
        let packed = bytes
            .par_chunks(size)
            .map(|chunk| if level > 0 { hdf5::compress(chunk, level) } else { Ok(chunk.to_vec()) })
            .collect::<io::Result<Vec<_>>>()?;
        for (number, chunk) in (first..).zip(packed) {
            let address = self.end + new.len() as u64;
            let size = u32::try_from(chunk.len()).map_err(io::Error::other)?;
            dataset.chunks.push(Chunk { number, address, size });
            new.extend(chunk);
        }
        dataset.rows = start + rows;
        Ok(())
    }

    /// Writes a file with `new` and its description.
    pub(super) fn start(&mut self, file: &mut impl Write, new: &[u8]) -> io::Result<()> {
        let place = self.end + new.len() as u64;
        let (description, root) = self.describe(place)?;
        self.end = place + description.len() as u64;
        self.present = Some((place, description.len() as u64));
        file.write_all(&hdf5::superblock(root, self.end))?;
        file.write_all(new)?;
        file.write_all(&description)
    }

    /// Adds `new` to a file, and describes it anew.
    pub(super) fn commit(&mut self, path: &Path, new: &[u8]) -> io::Result<()> {
        let mut file = OpenOptions::new().write(true).open(path)?;
        file.seek(SeekFrom::Start(self.end))?;
        file.write_all(new)?;
        self.end += new.len() as u64;
        let size = self.describe(0)?.0.len() as u64;
        let (place, room) = match self.spare.filter(|&(_, room)| room >= size) {
            Some(spare) => spare,
            None => {
                // Twice the size, so that the places of all descriptions together stay in proportion to the
                // last.
                let place = (self.end.next_multiple_of(8), 2 * size);
                self.end = place.0 + place.1;
                file.set_len(file.metadata()?.len().max(self.end))?;
                place
            }
        };
        let (description, root) = self.describe(place)?;
        file.seek(SeekFrom::Start(place))?;
        file.write_all(&description)?;
        // All that the superblock points to must be on the disk before it.
        file.sync_data()?;
        file.seek(SeekFrom::Start(0))?;
        file.write_all(&hdf5::superblock(root, self.end))?;
        file.sync_data()?;
        self.spare = self.present.replace((place, room));
        Ok(())
    }

    /// Returns the description of the file for a place, and the address of the root group.
    fn describe(&self, place: u64) -> io::Result<(Vec<u8>, u64)> {
        let mut description = Description::new(place);
        let top = Group { groups: vec![("VTKHDF".to_owned(), self.catalog.groups())], ..Group::default() };
        let root = description.group(&top);
        let mut tail = serde_json::to_vec(&self.catalog)?;
        let (length, sum) = (tail.len() as u64, checksum(&tail));
        tail.extend(length.to_le_bytes());
        tail.extend(sum.to_le_bytes());
        tail.extend(MARK);
        // The root group begins at a multiple of 8, and so must the end of the tail.
        tail.splice(0..0, std::iter::repeat_n(0, tail.len().next_multiple_of(8) - tail.len()));
        description.add(&tail);
        let root = description.add(&root);
        Ok((description.into_bytes(), root))
    }
}

impl Catalog {
    /// Whether it can be that of a file that ends at `end`: a checksum that fits is no proof, and memory is
    /// taken and numbers are computed by what it says.
    fn is_sound(&self, end: u64) -> bool {
        self.times.len() == self.steps.len()
            && !self.times.is_empty()
            && self.times.is_sorted()
            && self.arrays.len() >= GEOMETRY.len()
            && self.arrays.iter().zip(GEOMETRY).all(|(array, path)| array.path == path)
            && self.arrays.iter().all(|array| array.is_sound(end))
            && self.steps.iter().all(|step| {
                step.fields.len() + GEOMETRY.len() == self.arrays.len() && step.part < self.parts.len() as u64
            })
    }

    /// The group `VTKHDF`.
    fn groups(&self) -> Group<'_> {
        let n = self.times.len() as i64;
        let mut top = Group::default();
        top.attributes.push(("Version", Attribute::Numbers(vec![2, 0])));
        top.attributes.push(("Type", Attribute::Text("UnstructuredGrid")));
        let mut steps = Group { attributes: vec![("NSteps", Attribute::Number(n))], ..Group::default() };

        let counts = ["NumberOfPoints", "NumberOfCells", "NumberOfConnectivityIds"];
        for (k, name) in counts.into_iter().enumerate() {
            top.datasets.push((name.to_owned(), whole(self.parts.iter().map(|part| part[k]), None)));
        }
        let times = || self.times.iter().flat_map(|t| t.to_le_bytes()).collect();
        let real = || Described {
            kind: Kind::Float64,
            rows: n as u64,
            columns: None,
            storage: Storage::Inline(times()),
        };
        steps.datasets.push(("Values".to_owned(), real()));
        let each = |row: &dyn Fn(&Step) -> u64, columns| whole(self.steps.iter().map(row), columns);
        for (name, columns, row) in [
            ("PartOffsets", None, &(|step: &Step| step.part) as &dyn Fn(&Step) -> u64),
            ("NumberOfParts", None, &|_| 1),
            ("PointOffsets", None, &|step| step.geometry[0]),
            ("ConnectivityIdOffsets", Some(1), &|step| step.geometry[1]),
            ("CellOffsets", Some(1), &|step| step.geometry[TYPES]),
        ] {
            steps.datasets.push((name.to_owned(), each(row, columns)));
        }
        let (mut data, mut offsets) = (Group::default(), Group::default());
        data.datasets.push(("TimeValue".to_owned(), real()));
        offsets.datasets.push(("TimeValue".to_owned(), whole(0..n as u64, None)));
        top.groups.push(("FieldData".to_owned(), data));
        steps.groups.push(("FieldDataOffsets".to_owned(), offsets));
        for folder in ["PointData", "CellData"] {
            let (mut data, mut offsets) = (Group::default(), Group::default());
            for (k, array) in self.arrays[GEOMETRY.len()..].iter().enumerate() {
                let (of, name) = split(&array.path);
                if of == folder {
                    data.datasets.push((name.to_owned(), array.described()));
                    offsets.datasets.push((name.to_owned(), each(&|step| step.fields[k], None)));
                }
            }
            top.groups.push((folder.to_owned(), data));
            steps.groups.push((format!("{folder}Offsets"), offsets));
        }
        for array in &self.arrays[..GEOMETRY.len()] {
            top.datasets.push((array.path.clone(), array.described()));
        }
        top.groups.push(("Steps".to_owned(), steps));
        top
    }
}

impl Dataset {
    /// Whether its chunks have a size that this program gives them, cover no more than its rows, and stand
    /// one behind the other in a file that ends at `end`.
    fn is_sound(&self, end: u64) -> bool {
        let row = self.columns.unwrap_or(1).checked_mul(self.kind.width() as u64);
        let fits = |row: u64| {
            let bytes = self.chunk.checked_mul(row);
            (1..=CHUNK).contains(&row) && bytes.is_some_and(|bytes| bytes > 0 && bytes <= CHUNK + row)
        };
        let (mut number, mut address) = (0, SUPERBLOCK as u64);
        row.is_some_and(fits)
            && self.rows <= MOST_ROWS
            && self.chunks.iter().all(|chunk| {
                let sound = chunk.number >= number
                    && chunk.number < self.rows.div_ceil(self.chunk)
                    && chunk.address >= address
                    && chunk.address.checked_add(chunk.size.into()).is_some_and(|behind| behind <= end);
                (number, address) =
                    (chunk.number.saturating_add(1), chunk.address.saturating_add(chunk.size.into()));
                sound
            })
    }

    fn described(&self) -> Described<'_> {
        let storage = Storage::Chunks { rows: self.chunk, chunks: &self.chunks, compressed: self.compressed };
        Described { kind: self.kind, rows: self.rows, columns: self.columns, storage }
    }
}

/// A dataset of whole numbers, stored with its description.
fn whole(numbers: impl Iterator<Item = u64>, columns: Option<u64>) -> Described<'static> {
    let bytes: Vec<u8> = numbers.flat_map(u64::to_le_bytes).collect();
    let rows = bytes.len() as u64 / 8;
    Described { kind: Kind::Int64, rows, columns, storage: Storage::Inline(bytes) }
}
