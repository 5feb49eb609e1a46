//! Gmsh's MSH files: reading and writing versions 2.2 and 4.1, text and binary.
//!
//! A parser on `nom` reads the files: sections and text with its combinators, bulk data of binary files in
//! one pass over the bytes. It recognises all element types of the seven shapes, reads the complete ones up
//! to geometry order 4 (pyramids 2), and rejects the others by name. No file content can make the reader
//! panic, or allocate more than a small multiple of the file's size.

use std::path::Path;

use crate::{Mesh, MeshError};

mod assemble;
mod bounds;
mod input;
mod kinds;
mod node_order;
mod raw;
mod report;
mod v2;
mod v4;
mod write;

pub use report::{POOR, Report, Warning};
pub use write::{Format, to_bytes};

/// A version of the MSH format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Version {
    /// MSH 2.2.
    V22,
    /// MSH 4.1.
    V41,
}

impl std::fmt::Display for Version {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::V22 => "2.2",
            Self::V41 => "4.1",
        })
    }
}

/// Highest supported geometry order; [`MAX_PYRAMID_ORDER`] for pyramids.
pub const MAX_ORDER: usize = 4;

/// Highest supported geometry order of pyramids.
pub const MAX_PYRAMID_ORDER: usize = 2;

/// The highest geometry order of a shape.
#[must_use]
pub const fn max_order(shape: crate::Shape) -> usize {
    if matches!(shape, crate::Shape::Pyramid) { MAX_PYRAMID_ORDER } else { MAX_ORDER }
}

/// The actions of the reader after reading the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReadOptions {
    /// Join the boundaries that `$Periodic` pairs, and boundaries called `periodic-NAME-l` and
    /// `periodic-NAME-r`.
    pub periodic: bool,
}

impl Default for ReadOptions {
    fn default() -> Self {
        Self { periodic: true }
    }
}

impl Mesh {
    /// Read a Gmsh file (MSH 2.2 or 4.1, text or binary), and join the boundaries that the file declares as
    /// periodic.
    ///
    /// # Errors
    /// [`MeshError::File`] with the path and the reason.
    pub fn read(path: impl AsRef<Path>) -> Result<Self, MeshError> {
        read(path.as_ref(), &ReadOptions::default()).map(|(mesh, _)| mesh)
    }

    /// Write a Gmsh file.
    ///
    /// # Errors
    /// [`MeshError::File`] if the file cannot be written.
    pub fn write(&self, path: impl AsRef<Path>, format: &Format) -> Result<(), MeshError> {
        let path = path.as_ref();
        std::fs::write(path, to_bytes(self, format)).map_err(|e| MeshError::Io(e).in_file(path))
    }
}

/// Read a file; also returns a report of its contents.
///
/// # Errors
/// [`MeshError::File`] with the path and the reason.
pub fn read(path: &Path, options: &ReadOptions) -> Result<(Mesh, Report), MeshError> {
    let refused = |e: std::io::Error| match e.kind() {
        std::io::ErrorKind::NotFound => MeshError::NotFound.in_file(path),
        _ => MeshError::Io(e).in_file(path),
    };
    // Opening a pipe could block for ever, and reading a device might never end.
    if !std::fs::metadata(path).map_err(refused)?.is_file() {
        return Err(MeshError::NotAFile.in_file(path));
    }
    let bytes = std::fs::read(path).map_err(refused)?;
    let raw = raw::parse(&bytes).map_err(|e| e.in_file(path))?;
    // Its numbers are in `raw`.
    drop(bytes);
    assemble::assemble(raw, options).map_err(|e| e.in_file(path))
}

/// Read the content of a file.
///
/// # Errors
/// [`MeshError`] with the reason.
pub fn read_bytes(bytes: &[u8], options: &ReadOptions) -> Result<(Mesh, Report), MeshError> {
    assemble::assemble(raw::parse(bytes)?, options)
}
