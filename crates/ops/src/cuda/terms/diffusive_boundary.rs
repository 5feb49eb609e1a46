//! Boundaries under diffusion on a device: jumps before the first pass, fluxes after it.

use crate::cuda::parts::device_group::DeviceGroup;
use crate::cuda::terms::above_wall::DataAbove;
use crate::cuda::terms::boundary::{Accrual, DeviceBoundaries, Run};
use crate::cuda::text::kernel_text::{LawText, POINT_THREADS, parameter_values, pointwise};
use crate::cuda::text::published::Shared;
use crate::error::OpsError;
use crate::lanes::simd::PackScalar;
use crate::rhs::boundary_set::BoundarySet;
use dgsuite_gpu::GpuError;
use dgsuite_gpu::cuda::{Args, Cuda, DeviceBuffer, Function, LaunchConfig, Source};

/// Builds the text of a boundary's kernels, and the law with the condition's formulas; `None` if the
/// condition has no diffusive part.
pub(crate) fn diffusive_text<T: PackScalar>(
    law: &LawText,
    set: &BoundarySet<T>,
    dim: usize,
    fields: usize,
) -> Result<Option<(LawText, Source)>, OpsError> {
    let Some(condition) = set.binding.kernel.diffusive().filter(|_| law.lifts.is_some()) else {
        return Ok(None);
    };
    let law = law.with(|parameters| condition.device_source(parameters))?;
    let above = set.binding.kernel.above();
    let law = match above {
        Some(above) => law.with(|parameters| above.device_source(parameters))?,
        None => law,
    };
    let text = match above {
        Some(_) => concat!(include_str!("diffusive_boundary.cu"), "\n", include_str!("above_wall.cu")),
        None => include_str!("diffusive_boundary.cu"),
    };
    let source = pointwise::<T>("diffusive_boundary.cu", text, &law, dim, fields);
    Ok(Some((law, source.define("BLOCK", POINT_THREADS))))
}

/// The diffusive part of a boundary, in addition to [`DeviceBoundaries`].
pub(crate) struct DiffusiveBoundary<T: PackScalar> {
    jumps: Function,
    fluxes: Function,
    /// The computation of the data from above the boundary, if they come from there.
    above: Option<DataAbove<T>>,
    parameters: Vec<T>,
    /// The coefficient of the diffusive flux of each point's element; empty if it has none.
    coefficients: DeviceBuffer<T>,
    fields: usize,
    args: Args,
}

impl<T: PackScalar> DiffusiveBoundary<T> {
    /// Sets up the boundary `set` for the diffusion of `law`; `None` if there is none.
    pub(crate) fn new(
        cuda: &Cuda,
        law: &LawText,
        set: &BoundarySet<T>,
        dim: usize,
        fields: usize,
    ) -> Result<Option<Self>, OpsError> {
        let Some((law, source)) = diffusive_text::<T>(law, set, dim, fields)? else { return Ok(None) };
        let module = cuda.compile(&source)?;
        let coefficients: Vec<T> = set.coefficients.iter().map(|&c| T::from_f64(c)).collect();
        Ok(Some(Self {
            jumps: module.function("face_jumps")?,
            fluxes: module.function("face_fluxes")?,
            above: set.above.as_ref().map(|above| DataAbove::new(cuda, &module, above)).transpose()?,
            parameters: parameter_values(&law.parameters),
            coefficients: DeviceBuffer::from_slice(cuda, "coefficients", &coefficients)?,
            fields,
            args: Args::new(),
        }))
    }

    /// Computes the jumps `u_b − u⁻` from the state at `u`; before, the data from above the boundary, also
    /// from the states at `arrived` that have come from other ranks.
    pub(crate) fn launch_jumps(
        &mut self,
        cuda: &Cuda,
        u: u64,
        arrived: u64,
        groups: &[DeviceGroup<T>],
        boundaries: &DeviceBoundaries<T>,
        boundary: usize,
        shared: &Shared<T>,
    ) -> Result<(), GpuError> {
        if let Some(above) = &mut self.above {
            above.launch(cuda, u, arrived, boundaries.data[boundary].ptr(), &self.parameters)?;
        }
        for run in boundaries.runs_of(boundary) {
            self.args.clear();
            self.args.value(groups[run.group].inner_trace(u, &run.points, false)).buffer(&run.normal);
            self.args.pointer(boundaries.data[boundary].ptr_at(run.first)).value(run.count as u32);
            self.args.pointer(shared.jumps.ptr_at(run.exterior)).slice(&self.parameters);
            // SAFETY: the arguments are the kernel's; every array has room for the run's points.
            unsafe { cuda.launch(&self.jumps, config(run), &self.args)? };
        }
        Ok(())
    }

    /// Computes the diffusive fluxes out of the domain: writes them to the exterior buffer for the second
    /// pass, and subtracts them from the boundary's time integrals.
    pub(crate) fn launch_fluxes(
        &mut self,
        cuda: &Cuda,
        dim: usize,
        u: u64,
        groups: &[DeviceGroup<T>],
        boundaries: &DeviceBoundaries<T>,
        boundary: usize,
        shared: &Shared<T>,
        accrual: Accrual,
    ) -> Result<(), GpuError> {
        for run in boundaries.runs_of(boundary) {
            let [sums, corrections] = boundaries.sums_of(run);
            self.args.clear();
            self.args.value(groups[run.group].inner_trace(u, &run.points, false));
            self.args.buffer(&run.normal).buffer(&run.weight);
            self.args.pointer(boundaries.data[boundary].ptr_at(run.first));
            self.args.pointer(shared.gradients.ptr_at(run.exterior * dim));
            self.args.value(run.count as u32).pointer(shared.exterior.ptr_at(run.exterior));
            self.args.pointer(accrual.clock).value(accrual.share).pointer(sums).pointer(corrections);
            self.args.slice(&self.parameters);
            if !self.coefficients.is_empty() {
                self.args.pointer(self.coefficients.ptr_at(run.first / self.fields));
            }
            // SAFETY: as above.
            unsafe { cuda.launch(&self.fluxes, config(run), &self.args)? };
        }
        Ok(())
    }
}

fn config<T: PackScalar>(run: &Run<T>) -> LaunchConfig {
    LaunchConfig::cover(run.count, POINT_THREADS as u32)
}
