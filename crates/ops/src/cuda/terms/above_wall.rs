//! Data of a boundary from the states at a height above it, as [`Above`] on the host.

use crate::cuda::parts::trace_points::InnerTrace;
use crate::cuda::text::kernel_text::POINT_THREADS;
use crate::lanes::simd::PackScalar;
use crate::rhs::above_wall::{Above, Run, Spots};
use dgsuite_gpu::GpuError;
use dgsuite_gpu::cuda::{Args, Cuda, DeviceBuffer, Function, LaunchConfig, Module};
use std::sync::Arc;

const WHAT: &str = "states above a boundary";

/// Tables of places at which states are interpolated.
pub(crate) struct DeviceSpots<T: PackScalar> {
    offset: usize,
    stride: usize,
    pub(crate) count: usize,
    n_basis: usize,
    places: DeviceBuffer<u32>,
    begin: DeviceBuffer<u64>,
    /// All places use the same rows.
    list: DeviceBuffer<u32>,
    weight: DeviceBuffer<u32>,
    weights: DeviceBuffer<T>,
}

impl<T: PackScalar> DeviceSpots<T> {
    pub(crate) fn new(cuda: &Cuda, spots: &Spots<T>) -> Result<Self, GpuError> {
        let (count, n_basis) = (spots.len(), spots.rows.len());
        let weight: Vec<u32> = (0..count).map(|q| (q * n_basis) as u32).collect();
        Ok(Self {
            offset: spots.offset,
            stride: spots.stride,
            count,
            n_basis,
            places: DeviceBuffer::from_slice(cuda, WHAT, &spots.rows)?,
            begin: DeviceBuffer::from_slice(cuda, WHAT, &spots.begin)?,
            list: DeviceBuffer::from_slice(cuda, WHAT, &vec![0; count])?,
            weight: DeviceBuffer::from_slice(cuda, WHAT, &weight)?,
            weights: DeviceBuffer::from_slice(cuda, WHAT, &spots.weights)?,
        })
    }

    /// Where kernels find the states at the places from the values at an address.
    pub(crate) fn trace(&self, values: u64) -> InnerTrace {
        InnerTrace {
            values: values + (self.offset * T::BYTES) as u64,
            begin: self.begin.ptr(),
            list: self.list.ptr(),
            weight: self.weight.ptr(),
            places: self.places.ptr(),
            weights: self.weights.ptr(),
            n: self.n_basis as u32,
            stride: self.stride as u32,
        }
    }
}

/// Tables of the points whose states come from elements of one group, or from other ranks.
struct DeviceRun<T: PackScalar> {
    spots: DeviceSpots<T>,
    arrived: bool,
    points: DeviceBuffer<u32>,
    normals: DeviceBuffer<T>,
    heights: DeviceBuffer<T>,
}

/// The kernel `data_above` with its tables.
pub(crate) struct DataAbove<T: PackScalar> {
    kernel: Function,
    runs: Vec<DeviceRun<T>>,
    args: Args,
}

impl<T: PackScalar> DataAbove<T> {
    pub(crate) fn new(cuda: &Cuda, module: &Arc<Module>, above: &Above<T>) -> Result<Self, GpuError> {
        let upload = |run: &Run<T>| -> Result<DeviceRun<T>, GpuError> {
            Ok(DeviceRun {
                spots: DeviceSpots::new(cuda, &run.spots)?,
                arrived: run.arrived,
                points: DeviceBuffer::from_slice(cuda, WHAT, &run.points)?,
                normals: DeviceBuffer::from_slice(cuda, WHAT, &run.normals)?,
                heights: DeviceBuffer::from_slice(cuda, WHAT, &run.heights)?,
            })
        };
        let runs = above.runs.iter().map(upload).collect::<Result<_, _>>()?;
        Ok(Self { kernel: module.function("data_above")?, runs, args: Args::new() })
    }

    /// Writes the data of all points to `data` from the state at `u`, and from the states at `arrived` that
    /// have come from other ranks.
    pub(crate) fn launch(
        &mut self,
        cuda: &Cuda,
        u: u64,
        arrived: u64,
        data: u64,
        parameters: &[T],
    ) -> Result<(), GpuError> {
        for run in &self.runs {
            let trace = run.spots.trace(if run.arrived { arrived } else { u });
            self.args.clear();
            self.args.value(trace).buffer(&run.points).buffer(&run.normals).buffer(&run.heights);
            self.args.value(run.spots.count as u32).pointer(data).slice(parameters);
            let config = LaunchConfig::cover(run.spots.count, POINT_THREADS as u32);
            // SAFETY: the arguments are the kernel's; the places lie in the state, and the data has room for
            // all points of the boundary.
            unsafe { cuda.launch(&self.kernel, config, &self.args)? };
        }
        Ok(())
    }
}
