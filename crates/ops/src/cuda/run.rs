//! Runs on a device: the discretisation, its clock and control, exchanges, limiters, norms and samples.

pub(super) mod above_messages;
pub(super) mod choice;
pub(super) mod clock;
pub(super) mod control;
pub(super) mod discretization;
pub(super) mod exchange;
pub(super) mod forecast;
pub(super) mod halo;
pub(super) mod limiter;
pub(super) mod measure;
pub(super) mod measure_tables;
pub(super) mod norm;
pub(super) mod sample;
pub(super) mod small;
pub(super) mod texts;
pub(super) mod unknown_map;
