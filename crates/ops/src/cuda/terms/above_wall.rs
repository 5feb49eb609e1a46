//! Data of a boundary from the states at a height above it, as [`Above`] on the host.

use crate::cuda::parts::trace_points::InnerTrace;
use crate::cuda::text::kernel_text::POINT_THREADS;
use crate::lanes::simd::PackScalar;
use crate::rhs::above_wall::{Above, Run};
use dgsuite_gpu::GpuError;
use dgsuite_gpu::cuda::{Args, Cuda, DeviceBuffer, Function, LaunchConfig, Module};
use std::sync::Arc;

/// Tables of the points whose states lie in elements of one group.
struct DeviceRun<T: PackScalar> {
    offset: usize,
    stride: usize,
    count: usize,
    n_basis: usize,
    places: DeviceBuffer<u32>,
    begin: DeviceBuffer<u64>,
    /// All points use the same places.
    list: DeviceBuffer<u32>,
    weight: DeviceBuffer<u32>,
    weights: DeviceBuffer<T>,
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
        const WHAT: &str = "states above a boundary";
        let upload = |run: &Run<T>| -> Result<DeviceRun<T>, GpuError> {
            let (count, n_basis) = (run.points.len(), run.rows.len());
            let weight: Vec<u32> = (0..count).map(|q| (q * n_basis) as u32).collect();
            Ok(DeviceRun {
                offset: run.offset,
                stride: run.stride,
                count,
                n_basis,
                places: DeviceBuffer::from_slice(cuda, WHAT, &run.rows)?,
                begin: DeviceBuffer::from_slice(cuda, WHAT, &run.begin)?,
                list: DeviceBuffer::from_slice(cuda, WHAT, &vec![0; count])?,
                weight: DeviceBuffer::from_slice(cuda, WHAT, &weight)?,
                weights: DeviceBuffer::from_slice(cuda, WHAT, &run.weights)?,
                points: DeviceBuffer::from_slice(cuda, WHAT, &run.points)?,
                normals: DeviceBuffer::from_slice(cuda, WHAT, &run.normals)?,
                heights: DeviceBuffer::from_slice(cuda, WHAT, &run.heights)?,
            })
        };
        let runs = above.runs.iter().map(upload).collect::<Result<_, _>>()?;
        Ok(Self { kernel: module.function("data_above")?, runs, args: Args::new() })
    }

    /// Writes the data of all points to `data` from the state at `u`.
    pub(crate) fn launch(
        &mut self,
        cuda: &Cuda,
        u: u64,
        data: u64,
        parameters: &[T],
    ) -> Result<(), GpuError> {
        for run in &self.runs {
            let trace = InnerTrace {
                values: u + (run.offset * T::BYTES) as u64,
                begin: run.begin.ptr(),
                list: run.list.ptr(),
                weight: run.weight.ptr(),
                places: run.places.ptr(),
                weights: run.weights.ptr(),
                n: run.n_basis as u32,
                stride: run.stride as u32,
            };
            self.args.clear();
            self.args.value(trace).buffer(&run.points).buffer(&run.normals).buffer(&run.heights);
            self.args.value(run.count as u32).pointer(data).slice(parameters);
            let config = LaunchConfig::cover(run.count, POINT_THREADS as u32);
            // SAFETY: the arguments are the kernel's; the places lie in the state, and the data has room for
            // all points of the boundary.
            unsafe { cuda.launch(&self.kernel, config, &self.args)? };
        }
        Ok(())
    }
}
