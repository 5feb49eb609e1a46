//! The fuzz targets, as plain functions.

pub mod mutate;
pub mod targets;
