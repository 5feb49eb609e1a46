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
