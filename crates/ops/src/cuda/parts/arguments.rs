//! The structure of kernel arguments; `Arguments` in common.cuh is the same structure.

/// Addresses and numbers for a kernel of one part. Addresses of arrays that a kernel does not read may be 0.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Arguments {
    pub(crate) u: u64,
    pub(crate) traces: u64,
    pub(crate) exterior: u64,
    pub(crate) across: u64,
    pub(crate) code: u64,
    pub(crate) rows: u64,
    pub(crate) own: u64,
    pub(crate) metric: u64,
    pub(crate) face: u64,
    pub(crate) inverse_jacobian: u64,
    pub(crate) weighted: u64,
    pub(crate) inverse: u64,
    pub(crate) map: u64,
    pub(crate) tables: u64,
    pub(crate) indices: u64,
    pub(crate) local: u64,
    pub(crate) start: u64,
    pub(crate) register: u64,
    pub(crate) out: u64,
    pub(crate) work: u64,
    pub(crate) step: u64,
    pub(crate) source: u64,
    pub(crate) a: f64,
    pub(crate) b: f64,
    pub(crate) c: f64,
    pub(crate) keep: u32,
    pub(crate) first: u32,
    pub(crate) count: u32,
    pub(crate) table_len: u32,
}

/// Runs of boundary points and the time of a stage, for kernels that process boundaries themselves; same as
/// `OwnBoundaries` in simplex.cu.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub(crate) struct OwnBoundaries {
    pub(crate) runs: u64,
    pub(crate) clock: u64,
    pub(crate) time: f64,
    pub(crate) part: f64,
    pub(crate) share: f64,
}
