//! Tables of points whose inner traces kernels read, such as those of boundaries.

use crate::cuda::faces::{FaceTables, TraceSource};
use crate::group::Group;
use crate::simd::PackScalar;
use dgsuite_gpu::GpuError;
use dgsuite_gpu::cuda::{Cuda, DeviceBuffer};

/// Location of the inner traces of some points; same as `InnerTrace` in common.cuh.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub(super) struct InnerTrace {
    pub(super) values: u64,
    pub(super) begin: u64,
    pub(super) list: u64,
    pub(super) weight: u64,
    pub(super) places: u64,
    pub(super) weights: u64,
    pub(super) n: u32,
    pub(super) stride: u32,
}

/// The points of faces whose traces are read, on the device.
pub(super) struct TracePoints {
    pub(super) begin: DeviceBuffer<u64>,
    pub(super) list: DeviceBuffer<u32>,
    pub(super) weight: DeviceBuffer<u32>,
}

/// The same tables during construction.
#[derive(Default)]
pub(super) struct TraceList {
    begin: Vec<u64>,
    list: Vec<u32>,
    weight: Vec<u32>,
}

impl TraceList {
    /// Adds the points of a face of `slot`, read through the entries of a table from `first` on.
    pub(super) fn push<T: PackScalar>(
        &mut self,
        group: &Group<T>,
        faces: &FaceTables<T>,
        slot: usize,
        first: usize,
        n: usize,
    ) {
        let layout = if faces.source == TraceSource::Traces { group.trace } else { group.state };
        for q in 0..n {
            let (list, weight) = faces.point(first, q);
            self.begin.push(layout.index(slot, 0, 0) as u64);
            self.list.push(list);
            self.weight.push(weight);
        }
    }

    pub(super) fn len(&self) -> usize {
        self.begin.len()
    }

    pub(super) fn upload(&self, cuda: &Cuda, what: &str) -> Result<TracePoints, GpuError> {
        Ok(TracePoints {
            begin: DeviceBuffer::from_slice(cuda, what, &self.begin)?,
            list: DeviceBuffer::from_slice(cuda, what, &self.list)?,
            weight: DeviceBuffer::from_slice(cuda, what, &self.weight)?,
        })
    }
}
