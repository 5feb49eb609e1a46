//! Faces between groups: which traces, and which fluxes of diffusion, are copied from one group to another.

use crate::cuda::parts::device_group::DeviceGroup;
use crate::cuda::parts::trace_points::{TraceList, TracePoints};
use crate::cuda::terms::above_wall::DeviceSpots;
use crate::cuda::text::kernel_text::POINT_THREADS;
use crate::lanes::simd::PackScalar;
use crate::rhs::discretization::Discretization;
use crate::space::connect::Foreign;
use dgsuite_gpu::GpuError;
use dgsuite_gpu::cuda::{Args, Cuda, DeviceBuffer, Function, LaunchConfig, Stream};

/// Points whose traces are copied from one group to elements of others.
pub(crate) struct Exchange {
    pub(crate) group: usize,
    pub(crate) from: TracePoints,
    /// The same points in the published fluxes of diffusion; empty without diffusion.
    pub(crate) fluxes: DeviceBuffer<u64>,
    pub(crate) to: DeviceBuffer<u32>,
    pub(crate) count: usize,
}

/// The kernels of `exchange.cu`.
pub(crate) struct Copies {
    pub(crate) traces: Function,
    pub(crate) fluxes: Function,
    pub(crate) args: Args,
}

impl Copies {
    /// Copies the traces of the state at address `u` to the address `to`, in a stream.
    pub(crate) fn traces<T: PackScalar>(
        &mut self,
        cuda: &Cuda,
        stream: &Stream,
        groups: &[DeviceGroup<T>],
        u: u64,
        of: &Exchange,
        to: u64,
    ) -> Result<(), GpuError> {
        let inner = groups[of.group].inner_trace(u, &of.from, true);
        self.args.clear();
        self.args.value(inner).buffer(&of.to).value(of.count as u32).pointer(to);
        let config = LaunchConfig::cover(of.count, POINT_THREADS as u32);
        // SAFETY: the arguments are the kernel's; offsets lie in the group's arrays and behind `to`, where
        // this rank or another has the exterior buffer, or this one that of messages; all live as long as the
        // discretisation, whose main stream waits for the others.
        unsafe { cuda.launch_on(stream, &self.traces, config, &self.args) }
    }

    /// Writes the states at places, interpolated in the values at address `u`, behind the address `to`, in a
    /// stream.
    pub(crate) fn states<T: PackScalar>(
        &mut self,
        cuda: &Cuda,
        stream: &Stream,
        spots: &DeviceSpots<T>,
        u: u64,
        (offsets, to): (&DeviceBuffer<u32>, u64),
    ) -> Result<(), GpuError> {
        self.args.clear();
        self.args.value(spots.trace(u)).buffer(offsets).value(spots.count as u32).pointer(to);
        let config = LaunchConfig::cover(spots.count, POINT_THREADS as u32);
        // SAFETY: as in `traces`; the places lie in the state.
        unsafe { cuda.launch_on(stream, &self.traces, config, &self.args) }
    }

    /// Copies the published fluxes to the address `to`, in a stream.
    pub(crate) fn fluxes<T: PackScalar>(
        &mut self,
        cuda: &Cuda,
        stream: &Stream,
        groups: &[DeviceGroup<T>],
        of: &Exchange,
        to: u64,
    ) -> Result<(), GpuError> {
        let Some(published) = &groups[of.group].published else { return Ok(()) };
        self.args.clear();
        self.args.buffer(&published.fluxes).buffer(&of.fluxes).buffer(&of.to);
        self.args.value(published.field_stride as u32).value(of.count as u32).pointer(to);
        let config = LaunchConfig::cover(of.count, POINT_THREADS as u32);
        // SAFETY: as in `traces`; offsets lie in the group's fluxes and behind `to`.
        unsafe { cuda.launch_on(stream, &self.fluxes, config, &self.args) }
    }
}

/// The faces between groups, ordered by the group whose traces are read.
pub(crate) fn exchanges<T: PackScalar>(
    cuda: &Cuda,
    d: &Discretization<T>,
    device: &[DeviceGroup<T>],
) -> Result<Vec<Exchange>, GpuError> {
    exchanges_of(cuda, d, device, &d.connectivity.foreign)
}

/// Copies of the traces of the faces `list`, ordered by the group whose traces are read.
pub(crate) fn exchanges_of<T: PackScalar>(
    cuda: &Cuda,
    d: &Discretization<T>,
    device: &[DeviceGroup<T>],
    list: &[Foreign],
) -> Result<Vec<Exchange>, GpuError> {
    let mut out = Vec::new();
    for (g, group) in d.groups.iter().enumerate() {
        let (mut from, mut to, mut fluxes) = (TraceList::default(), Vec::new(), Vec::new());
        let neighbours = &d.connectivity.neighbours[g];
        let tables = &device[g].faces;
        for foreign in list.iter().filter(|f| f.group as usize == g) {
            let points = foreign.points as usize;
            from.push(group, tables, foreign.slot as usize, foreign.code as usize * tables.len, points);
            if let Some(published) = &device[g].published {
                let begin = group.trace.index(foreign.slot as usize, 0, 0) as u64;
                let rows = neighbours.point_table(foreign.code, points);
                fluxes.extend(rows.iter().map(|&row| begin + u64::from(published.place(row))));
            }
            to.extend((0..points).map(|i| foreign.exterior + (i * group.state.fields) as u32));
        }
        if from.len() > 0 {
            out.push(Exchange {
                group: g,
                count: from.len(),
                fluxes: DeviceBuffer::from_slice(cuda, "faces between shapes", &fluxes)?,
                from: from.upload(cuda, "faces between shapes")?,
                to: DeviceBuffer::from_slice(cuda, "faces between shapes", &to)?,
            });
        }
    }
    Ok(out)
}
