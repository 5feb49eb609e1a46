//! High-order discontinuous Galerkin flow solver: one binary, one pipeline file.
//!
//! `dgsuite run vortex.yaml` reads a pipeline file and a Gmsh mesh, solves the equations on it, and writes
//! error norms, tables, checkpoints and files for ParaView. The solvers are the crate [`dgsuite_solve`],
//! which needs a mesh and parameters alone; files and pictures are the crate [`dgsuite_output`].
//!
//! | concept | type | content |
//! |---|---|---|
//! | file as written | [`pipeline::Document`], [`pipeline::Pipeline`] | a tree of values with their places in the file; typed sections |
//! | mistake in the input | [`file::problem::InputError`] | the mistake, its place (file, line, column, key), and a hint |
//! | kind of an error | [`code::Code`] | its word in `error[…]`, and its page |
//! | checked file | [`plan::Plan`] | mesh read, names resolved, defaults filled in, everything checked |
//! | run | [`run::Run`], [`run::Report`] | the frame of all runs: directory, log, checks, summary |
//! | run of a model in time | [`run::flow::FlowRun`] | time loop, outputs, monitors |
//! | elliptic problem | [`plan::elliptic::EllipticPlan`], [`run::elliptic::EllipticRun`] | a linear system instead of a time loop |
//! | program with additions | [`Program`] | fluxes, conditions and monitors of another crate |
//! | run of any model | [`job::Job`] | a run as the program starts it |
//! | study | [`study::Study`] | a matrix of runs and its table of rates |
//! | solver | [`dgsuite_solve::flow::Flow`] | a conservation law on a mesh |
//! | linear solver | [`dgsuite_solve::elliptic::Elliptic`] | the screened Poisson equation on a mesh |
//! | checkpoint | [`dgsuite_output::checkpoint::Checkpoint`] | the state of a run, written atomically, checked when read |
//! | stored state | [`export::Stored`] | the state of a checkpoint with its space, as fields on cells |
//! | picture of fields | [`dgsuite_output::picture::Picture`] | a page of fields of finished runs, as PNG or SVG |
//! | drawing | [`dgsuite_output::draw`] | lines, texts, images, colour maps, axes |
//! | files for ParaView | [`dgsuite_output::writer`] | Lagrange cells, series, tables |
//!
//! ```
//! use dgsuite::{file::source::Source, pipeline::Document};
//! use dgsuite::plan::Choices;
//! use dgsuite::{job::Job, run::{Status, log::Log}};
//!
//! let results = tempfile::tempdir()?;
//! let file = Source::new("wave.yaml", "
//! mesh: { generate: { shape: quad, cells: [4, 4] }, periodic: [[xmin, xmax], [ymin, ymax]] }
//! physics: { model: advection, velocity: [1, 0] }
//! initial: { exact: { u: sin(2*pi*(x - t)) } }
//! time: { end: 0.1 }
//! ");
//! let document = Document::parse(&file, results.path(), "wave", false, &[])?;
//! let report = Job::new(&document, &Choices::default())?.execute(&mut Log::new(true))?;
//! assert_eq!(report.status, Status::Ok);
//! assert!(report.summary["error"]["l2"]["u"].as_f64().unwrap() < 1e-2);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Invariants
//! * A mistake in the input is found before anything is written; existing results stay as they are.
//! * A result is on the disk completely or not at all, except tables and logs, which grow line by line.
//! * A run that is stopped and continued has the same results, bit for bit, as one that is not stopped.
#![deny(unsafe_code)]

pub mod cli;
pub mod code;
pub mod communication;
pub mod conditions;
pub mod directory;
pub mod export;
pub mod file;
pub mod job;
mod kind;
mod machine;
pub mod models;
pub mod monitors;
pub mod outputs;
pub mod own;
pub mod pipeline;
pub mod plan;
mod program;
pub mod report;
pub mod run;
pub mod scale;
pub mod study;

pub use program::{Program, program};

/// The example of the README as a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct ReadmeDoctests;
