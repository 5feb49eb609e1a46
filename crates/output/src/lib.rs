//! Files and pictures of flow solvers.
//!
//! | concept | module | content |
//! |---|---|---|
//! | files for ParaView | [`writer`] | cells of high order, series, tables, charts |
//! | checkpoint | [`checkpoint`] | the state of a run, written atomically, checked when read |
//! | drawing | [`draw`] | lines, texts, images, colour maps, axes |
//! | picture of fields | [`picture`] | a page of fields of finished runs, as PNG or SVG |
//! | words | [`escape`], [`nearest`] | texts made safe for other formats; the name that was meant |
//!
//! ```
//! use dgsuite_basis::{Shape, lattice::lattice};
//! use dgsuite_output::writer::{CellBlock, Field, UnstructuredFields, VtuOptions};
//!
//! let points = lattice(Shape::Triangle, 3); // one cubic triangle
//! let pressure = points.iter().map(|x| x[0] * x[0] * x[1]).collect();
//! let point_data = vec![Field::real("Pressure", 1, pressure)];
//! let cell = CellBlock { shape: Shape::Triangle, order: 3, points, point_data, cell_data: Vec::new() };
//! let fields = UnstructuredFields { time: 0.0, pieces: vec![cell] };
//! let folder = tempfile::tempdir()?;
//! fields.write(&folder.path().join("cubic.vtu"), &VtuOptions::default())?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Invariants
//! * A file is on the disk completely or not at all, except tables, which grow line by line.
//! * A damaged file is an error that names it, never a panic.
#![forbid(unsafe_code)]

pub mod checkpoint;
pub mod draw;
pub mod escape;
pub mod nearest;
pub mod picture;
pub mod writer;

/// The example of the README as a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct ReadmeDoctests;
