//! Files for other programs: ParaView files, time series and tables.
//!
//! | to write | use |
//! |---|---|
//! | fields of one time, `.vtu` | [`UnstructuredFields::write`] |
//! | fields over time, `.vtu` files and their `.pvd` | [`pvd::Series`] |
//! | fields over time, one `.vtkhdf` file | [`vtkhdf::Series`] |
//! | either of these, in the format of a run | [`Format::create`], [`Format::resume`] |
//! | the same, written by a separate thread | [`background::BackgroundSeries`] |
//! | a monitor's table, `.csv` | [`csv::Table`] |
//! | curves as a picture, `.svg` | [`plot::Chart`] |
//! | any file that other programs must never read incomplete | [`atomic::write`] |
//!
//! This module does not depend on the pipeline file or the solvers: it takes points and values on the
//! equispaced lattice of each cell (`dgsuite_basis::lattice`) and writes files.
//!
//! ```
//! use dgsuite_output::writer::{CellBlock, Field, UnstructuredFields, VtuOptions};
//! use dgsuite_basis::{Shape, lattice::lattice};
//!
//! let points = lattice(Shape::Triangle, 3); // one cubic triangle
//! let pressure = points.iter().map(|x| x[0] * x[0] * x[1]).collect();
//! let fields = UnstructuredFields {
//!     time: 0.5,
//!     pieces: vec![CellBlock {
//!         shape: Shape::Triangle,
//!         order: 3,
//!         point_data: vec![Field::real("Pressure", 1, pressure)],
//!         cell_data: vec![Field::integer("element_id", 1, vec![0])],
//!         points,
//!     }],
//! };
//! let directory = tempfile::tempdir()?;
//! fields.write(&directory.path().join("cubic.vtu"), &VtuOptions::default())?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! ParaView draws Lagrange cells with straight sides until *Nonlinear Subdivision Level* (display properties)
//! is raised. [`Cells::Linear`] writes linear cells instead.

mod arrays;
pub mod atomic;
pub mod background;
mod blocks;
pub mod csv;
mod format;
mod hdf5;
mod lagrange;
mod linear;
pub mod parallel;
mod pattern;
pub mod plot;
pub mod pvd;
mod series;
pub mod vtkhdf;
mod vtu;

use std::path::{Path, PathBuf};

use dgsuite_basis::{Shape, lattice::lattice_len};

pub use format::Format;
pub use lagrange::lagrange_nodes;
pub use linear::tetrahedra;
pub use series::{AnySeries, TimeSeries};

/// The highest order of a Lagrange cell that VTK can read.
pub const MAX_LAGRANGE_ORDER: usize = 10;

/// Fields of one time on cells of any shapes and orders.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct UnstructuredFields {
    /// Time of the fields, written as `TimeValue`.
    pub time: f64,
    /// Cells, one block for each shape and order; each becomes a `Piece` of the file.
    pub pieces: Vec<CellBlock>,
}

/// Cells of one shape and order. Each has its own points, so that jumps between neighbours are visible.
#[derive(Clone, Debug, PartialEq)]
pub struct CellBlock {
    /// Shape of every cell.
    pub shape: Shape,
    /// Order of the lattice of points of each cell, at least 1.
    pub order: usize,
    /// Points, `[cell][lattice node]`; the third coordinate is 0 in two dimensions.
    pub points: Vec<[f64; 3]>,
    /// Values at the points, `[cell][lattice node][component]`.
    pub point_data: Vec<Field>,
    /// Values of the cells, `[cell][component]`.
    pub cell_data: Vec<Field>,
}

impl CellBlock {
    /// Number of cells.
    #[must_use]
    pub fn n_cells(&self) -> usize {
        self.points.len() / lattice_len(self.shape, self.order)
    }
}

/// A named array of scalars, vectors or tensors.
#[derive(Clone, Debug, PartialEq)]
pub struct Field {
    /// Name shown by ParaView.
    pub name: String,
    /// Components of each value: 1 for scalars. Vectors of 2 components are written with 3, the third zero,
    /// because VTK has no vectors in the plane.
    pub components: usize,
    /// Values, component fastest.
    pub values: Values,
}

impl Field {
    /// A field of real numbers.
    #[must_use]
    pub fn real(name: impl Into<String>, components: usize, values: Vec<f64>) -> Self {
        Self { name: name.into(), components, values: Values::Real(values) }
    }

    /// A field of integers, such as element numbers.
    #[must_use]
    pub fn integer(name: impl Into<String>, components: usize, values: Vec<i64>) -> Self {
        Self { name: name.into(), components, values: Values::Integer(values) }
    }
}

/// The numbers of a [`Field`].
#[derive(Clone, Debug, PartialEq)]
pub enum Values {
    /// Real numbers, written in the precision of [`VtuOptions::precision`].
    Real(Vec<f64>),
    /// Integers, written as `Int64`.
    Integer(Vec<i64>),
}

impl Values {
    fn len(&self) -> usize {
        match self {
            Self::Real(v) => v.len(),
            Self::Integer(v) => v.len(),
        }
    }
}

/// How a `.vtu` file is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VtuOptions {
    /// Precision of points and real fields.
    pub precision: Precision,
    /// Lagrange cells or linear cells.
    pub cells: Cells,
    /// Level of zlib, 0 (none) to 9 (smallest). Levels above 1 gain little for fields with noise-like digits.
    pub compression: u32,
}

impl Default for VtuOptions {
    /// Single precision, Lagrange cells, the fastest compression.
    fn default() -> Self {
        Self { precision: Precision::Single, cells: Cells::Lagrange, compression: 1 }
    }
}

/// Precision of real numbers in a file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Precision {
    /// `Float32`, which suffices for pictures and takes half the space.
    #[default]
    Single,
    /// `Float64`.
    Double,
}

/// The VTK cells for a cell of order `n`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Cells {
    /// One Lagrange cell (VTK types 68–73); at order 1 the linear type, except for prisms. Pyramids become
    /// linear cells as with [`Cells::Linear`], because few programs read VTK's Lagrange pyramid.
    #[default]
    Lagrange,
    /// Linear cells between the points of the lattice: `n^d` cells of the same shape in dimension `d`; for a
    /// prism `3n³` tetrahedra; for a pyramid `n(2n² + 1)/3` pyramids and `2n(n² − 1)/3` tetrahedra.
    Linear,
}

/// Why an output file was not written.
#[derive(Debug, thiserror::Error)]
pub enum WriterError {
    /// Rank 0, which writes the results, could not write one.
    #[error("another rank could not write its results")]
    Elsewhere,
    /// A rank could not write its part of a result.
    #[error("rank {rank}: {reason}")]
    Rank {
        /// The rank.
        rank: usize,
        /// Its error, in words.
        reason: String,
    },
    /// A rank wrote a file that rank 0 does not see.
    #[error(
        "rank {rank} wrote {}, but rank 0 does not see it: let --output name a directory that all machines share",
        path.display()
    )]
    NotShared {
        /// The rank.
        rank: usize,
        /// The file.
        path: PathBuf,
    },
    /// A rank does not see the file of rank 0 into which it is to write.
    #[error(
        "cannot write {}, which rank 0 has created: it is not there; let --output name a directory that all machines \
         share", path.display()
    )]
    Unseen {
        /// The file.
        path: PathBuf,
    },
    /// The operating system could not write the file.
    #[error("cannot write {}: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// The error of the operating system.
        source: std::io::Error,
    },
    /// The operating system could not start a thread for writing.
    #[error("cannot start a thread that writes: {source}")]
    Thread {
        /// The error of the operating system.
        source: std::io::Error,
    },
    /// The state could not be copied from the device.
    #[error("cannot write a state that could not be copied from the device: {reason}")]
    Device {
        /// The error of the driver.
        reason: String,
    },
    /// Another run writes to the directory.
    #[error("another run ({holder}) is writing to {}: wait for its end, or give another directory with --output", directory.display())]
    InUse {
        /// The directory.
        directory: PathBuf,
        /// The description in the lock file of the other run.
        holder: String,
    },
    /// Results of a former run lie behind a symbolic link.
    #[error(
        "{} is a symbolic link to results of a former run, which are not moved: move them away, or let this run replace \
         them with --overwrite", path.display()
    )]
    Linked {
        /// The link.
        path: PathBuf,
    },
    /// A file of a run cannot be read.
    #[error("cannot read {}: {source}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The error of the operating system.
        source: std::io::Error,
    },
    /// No Lagrange cell has this order.
    #[error("{shape} cells of order {order} cannot be written: orders 1 to {MAX_LAGRANGE_ORDER} can")]
    Order {
        /// Shape of the block.
        shape: Shape,
        /// Order of the block.
        order: usize,
    },
    /// An array's length does not fit the cells.
    #[error("`{name}` has {found} numbers where {expected} are needed")]
    Length {
        /// Name of the array.
        name: String,
        /// Count needed.
        expected: usize,
        /// Count given.
        found: usize,
    },
    /// VTK needs the same arrays in every piece of a file.
    #[error("piece {piece} does not have the same fields as piece 0")]
    FieldsDiffer {
        /// Index of the piece.
        piece: usize,
    },
    /// A series to be continued that this program did not write.
    #[error("{}, line {line}: not an entry of a series: {text}", path.display())]
    Series {
        /// The `.pvd` file.
        path: PathBuf,
        /// Line number, counted from 1.
        line: usize,
        /// The line.
        text: String,
    },
    /// A `.vtkhdf` file that cannot be continued or read.
    #[error("{}: {reason}; move the file away", path.display())]
    Hdf {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// A table to be continued that has other columns.
    #[error(
        "{} has columns `{}`, now `{}` are to be written; move it away",
        path.display(), few(found), few(expected)
    )]
    Columns {
        /// The `.csv` file.
        path: PathBuf,
        /// Columns to be written.
        expected: String,
        /// Columns of the file.
        found: String,
    },
}

/// The most columns that a message lists.
const LISTED: usize = 8;

/// A list of columns for a message: that of a table with many is cut, and their number given.
fn few(columns: &str) -> String {
    match columns.match_indices(',').nth(LISTED - 1) {
        None => columns.to_owned(),
        Some((end, _)) => format!("{}, … ({} columns)", &columns[..end], columns.split(',').count()),
    }
}

impl WriterError {
    /// Makes an error of the operating system one at `path`.
    pub fn io(path: &Path) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.to_path_buf();
        move |source| Self::Io { path, source }
    }

    /// Returns whether the disk or the user's quota is full.
    #[must_use]
    pub fn is_storage_full(&self) -> bool {
        use std::io::ErrorKind::{QuotaExceeded, StorageFull};
        matches!(self, Self::Io { source, .. } if matches!(source.kind(), StorageFull | QuotaExceeded))
    }
}
