//! Groups and parts on a device: their tables, faces, arguments and launches.

pub(super) mod arguments;
pub(super) mod branches;
pub(super) mod device_group;
pub(super) mod faces;
pub(super) mod trace_points;
