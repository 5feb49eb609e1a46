//! Gmsh's MSH files: reading and writing versions 2.2 and 4.1, text and binary.
//!
//! Files are read by an own parser on `nom`: sections and text by its combinators, bulk data of
//! binary files in one pass over the bytes. All element types of the seven shapes are known;
//! complete ones up to geometry order 4 (pyramids 2) are read, the others are refused by name.
//! Nothing that a file says can make the reader panic, or ask for more memory than a small
//! multiple of the file's size.

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

pub use report::{Report, Warning};
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

/// Highest geometry order that is read; pyramids have [`MAX_PYRAMID_ORDER`].
pub const MAX_ORDER: usize = 4;

/// Highest geometry order of pyramids that is read.
pub const MAX_PYRAMID_ORDER: usize = 2;

/// The highest geometry order of a shape.
#[must_use]
pub const fn max_order(shape: crate::Shape) -> usize {
    if matches!(shape, crate::Shape::Pyramid) { MAX_PYRAMID_ORDER } else { MAX_ORDER }
}

/// What is done with a file beyond reading it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReadOptions {
    /// Join the boundaries that `$Periodic` pairs, and those called `periodic-NAME-l` and
    /// `periodic-NAME-r`.
    pub periodic: bool,
}

impl Default for ReadOptions {
    fn default() -> Self {
        Self { periodic: true }
    }
}

impl Mesh {
    /// Read a Gmsh file (MSH 2.2 or 4.1, text or binary), and join the boundaries that it says are
    /// periodic.
    ///
    /// # Errors
    /// [`MeshError::File`] with the path and what is wrong.
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

/// Read a file, and tell what was found in it.
///
/// # Errors
/// [`MeshError::File`] with the path and what is wrong.
pub fn read(path: &Path, options: &ReadOptions) -> Result<(Mesh, Report), MeshError> {
    let refused = |e: std::io::Error| match e.kind() {
        std::io::ErrorKind::NotFound => MeshError::NotFound.in_file(path),
        _ => MeshError::Io(e).in_file(path),
    };
    // A pipe may wait for ever for somebody who writes, and a device may have no end.
    if !std::fs::metadata(path).map_err(refused)?.is_file() {
        return Err(MeshError::NotAFile.in_file(path));
    }
    let bytes = std::fs::read(path).map_err(refused)?;
    read_bytes(&bytes, options).map_err(|e| e.in_file(path))
}

/// Read the content of a file.
///
/// # Errors
/// What is wrong with it.
pub fn read_bytes(bytes: &[u8], options: &ReadOptions) -> Result<(Mesh, Report), MeshError> {
    assemble::assemble(&raw::parse(bytes)?, options)
}
