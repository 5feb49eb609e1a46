//! Boundaries on the device: outer states, fluxes, and their time integral.

use crate::boundary_set::BoundarySet;
use crate::connect::Connectivity;
use crate::cuda::faces::TraceSource;
use crate::cuda::kernels::{DeviceGroup, TraceList, TracePoints};
use crate::cuda::source::{LawText, POINT_THREADS, parameter_values, pointwise};
use crate::error::OpsError;
use crate::group::Group;
use crate::simd::PackScalar;
use dgsuite_gpu::GpuError;
use dgsuite_gpu::cuda::{Args, Cuda, DeviceBuffer, Function, LaunchConfig, Source};

/// Points of one boundary whose inner traces lie in one array.
struct Run<T: PackScalar> {
    /// Group whose elements they belong to.
    group: usize,
    points: TracePoints,
    normal: DeviceBuffer<T>,
    weight: DeviceBuffer<T>,
    /// First point among the boundary's.
    first: usize,
    count: usize,
}

/// The text of a boundary's kernel, and the law with the condition's formulas.
pub(super) fn boundary_source<T: PackScalar>(
    law: &LawText,
    set: &BoundarySet<T>,
    dim: usize,
    fields: usize,
) -> Result<(LawText, Source), OpsError> {
    let law = law.with(|parameters| set.binding.kernel.device_source(parameters))?;
    let source = pointwise::<T>("boundary.cu", include_str!("boundary.cu"), &law, dim, fields);
    Ok((law, source.define("BLOCK", POINT_THREADS)))
}

/// The faces of one boundary on the device.
pub(super) struct DeviceBoundary<T: PackScalar> {
    function: Function,
    parameters: Vec<T>,
    runs: Vec<Run<T>>,
    data: DeviceBuffer<T>,
    /// First scalar in the exterior buffer.
    exterior: usize,
    /// First point among those of all boundaries.
    first: usize,
    args: Args,
}

impl<T: PackScalar> DeviceBoundary<T> {
    /// The boundary `set`, whose points follow `first` points of others.
    pub(super) fn new(
        cuda: &Cuda,
        law: &LawText,
        groups: &[Group<T>],
        device: &[DeviceGroup<T>],
        connectivity: &Connectivity,
        set: &BoundarySet<T>,
        dim: usize,
        first: usize,
    ) -> Result<Self, OpsError> {
        let fields = groups[0].state.fields;
        let (law, source) = boundary_source::<T>(law, set, dim, fields)?;
        let function = cuda.compile(&source)?.function("boundary")?;
        let faces = &connectivity.boundaries[set.boundary];
        let mut runs = Vec::new();
        let mut f = 0;
        while f < faces.len() {
            let group = faces[f].group;
            let last = faces[f..].iter().position(|face| face.group != group).map_or(faces.len(), |n| f + n);
            let mut list = TraceList::default();
            let (g, tables) = (&groups[group as usize], &device[group as usize].faces);
            for face in &faces[f..last] {
                let local = face.face as usize;
                let points = g.face_offsets[local]..g.face_offsets[local + 1];
                let first =
                    if tables.source == TraceSource::FaceNodes { local * tables.len } else { points.start };
                list.push(g, tables, face.slot as usize, first, points.len());
            }
            let points = set.first[f]..set.first[last];
            let weight: Vec<T> = set.weight[points.clone()].iter().map(|&w| T::from_f64(w)).collect();
            runs.push(Run {
                group: group as usize,
                points: list.upload(cuda, "boundary faces")?,
                normal: DeviceBuffer::from_slice(
                    cuda,
                    "boundary faces",
                    &set.normal[points.start * dim..points.end * dim],
                )?,
                weight: DeviceBuffer::from_slice(cuda, "boundary faces", &weight)?,
                first: points.start,
                count: points.len(),
            });
            f = last;
        }
        Ok(Self {
            function,
            parameters: parameter_values(&law.parameters),
            runs,
            data: DeviceBuffer::from_slice(cuda, "boundary data", &set.data)?,
            exterior: connectivity.boundary_exterior[set.boundary],
            first,
            args: Args::new(),
        })
    }

    /// New prescribed states.
    pub(super) fn update(&mut self, data: &[T]) -> Result<(), GpuError> {
        self.data.upload(data)
    }

    /// Outer states to `exterior` and weighted fluxes to `flux`, from the state at `u`.
    pub(super) fn launch(
        &mut self,
        cuda: &Cuda,
        fields: usize,
        u: u64,
        groups: &[DeviceGroup<T>],
        exterior: &DeviceBuffer<T>,
        flux: &DeviceBuffer<f64>,
    ) -> Result<(), GpuError> {
        for run in &self.runs {
            self.args.clear();
            self.args.value(groups[run.group].inner_trace(u, &run.points, false));
            self.args.buffer(&run.normal).buffer(&run.weight);
            self.args.pointer(self.data.ptr_at(run.first * fields)).value(run.count as u32);
            self.args.pointer(exterior.ptr_at(self.exterior + run.first * fields));
            self.args.pointer(flux.ptr_at((self.first + run.first) * fields)).slice(&self.parameters);
            // SAFETY: the arguments are the kernel's; every array has room for the run's points.
            unsafe {
                let config = LaunchConfig::cover(run.count, POINT_THREADS as u32);
                cuda.launch(&self.function, config, &self.args)?;
            };
        }
        Ok(())
    }
}
