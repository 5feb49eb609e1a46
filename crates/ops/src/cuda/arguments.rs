//! The structure of kernel arguments; `Arguments` in common.cuh is the same structure.

/// Addresses and numbers for a kernel of one part. Addresses of arrays that a kernel does not read may be 0.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Arguments {
    pub(super) u: u64,
    pub(super) traces: u64,
    pub(super) exterior: u64,
    pub(super) across: u64,
    pub(super) code: u64,
    pub(super) rows: u64,
    pub(super) own: u64,
    pub(super) metric: u64,
    pub(super) face: u64,
    pub(super) inverse_jacobian: u64,
    pub(super) weighted: u64,
    pub(super) inverse: u64,
    pub(super) map: u64,
    pub(super) tables: u64,
    pub(super) indices: u64,
    pub(super) local: u64,
    pub(super) start: u64,
    pub(super) register: u64,
    pub(super) out: u64,
    pub(super) work: u64,
    pub(super) step: u64,
    pub(super) source: u64,
    pub(super) a: f64,
    pub(super) b: f64,
    pub(super) c: f64,
    pub(super) keep: u32,
    pub(super) first: u32,
    pub(super) count: u32,
    pub(super) table_len: u32,
}

/// Runs of boundary points and the time of a stage, for kernels that process boundaries themselves; same as
/// `OwnBoundaries` in simplex.cu.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub(super) struct OwnBoundaries {
    pub(super) runs: u64,
    pub(super) clock: u64,
    pub(super) time: f64,
    pub(super) part: f64,
    pub(super) share: f64,
}
