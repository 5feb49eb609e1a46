//! Tables of points whose inner traces kernels read, such as those of boundaries.

use crate::cuda::parts::faces::{FaceTables, TraceSource};
use crate::lanes::simd::PackScalar;
use crate::space::group::Group;
use dgsuite_gpu::GpuError;
use dgsuite_gpu::cuda::{Cuda, DeviceBuffer};

/// Location of the inner traces of some points; same as `InnerTrace` in common.cuh.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub(crate) struct InnerTrace {
    pub(crate) values: u64,
    pub(crate) begin: u64,
    pub(crate) list: u64,
    pub(crate) weight: u64,
    pub(crate) places: u64,
    pub(crate) weights: u64,
    pub(crate) n: u32,
    pub(crate) stride: u32,
}

/// The points of faces whose traces are read, on the device.
pub(crate) struct TracePoints {
    pub(crate) begin: DeviceBuffer<u64>,
    pub(crate) list: DeviceBuffer<u32>,
    pub(crate) weight: DeviceBuffer<u32>,
}

/// The same tables during construction.
#[derive(Default)]
pub(crate) struct TraceList {
    begin: Vec<u64>,
    list: Vec<u32>,
    weight: Vec<u32>,
}

impl TraceList {
    /// Adds the points of a face of `slot`, read through the entries of a table from `first` on.
    pub(crate) fn push<T: PackScalar>(
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

    pub(crate) fn len(&self) -> usize {
        self.begin.len()
    }

    pub(crate) fn upload(&self, cuda: &Cuda, what: &str) -> Result<TracePoints, GpuError> {
        Ok(TracePoints {
            begin: DeviceBuffer::from_slice(cuda, what, &self.begin)?,
            list: DeviceBuffer::from_slice(cuda, what, &self.list)?,
            weight: DeviceBuffer::from_slice(cuda, what, &self.weight)?,
        })
    }
}
