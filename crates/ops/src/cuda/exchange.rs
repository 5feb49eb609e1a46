//! Faces between groups: which traces, and which fluxes of diffusion, are copied from one group to another.

use crate::connect::Foreign;
use crate::cuda::device_group::DeviceGroup;
use crate::cuda::trace_points::{TraceList, TracePoints};
use crate::discretization::Discretization;
use crate::simd::PackScalar;
use dgsuite_gpu::GpuError;
use dgsuite_gpu::cuda::{Cuda, DeviceBuffer};

/// Points whose traces are copied from one group to elements of others.
pub(super) struct Exchange {
    pub(super) group: usize,
    pub(super) from: TracePoints,
    /// The same points in the published fluxes of diffusion; empty without diffusion.
    pub(super) fluxes: DeviceBuffer<u64>,
    pub(super) to: DeviceBuffer<u32>,
    pub(super) count: usize,
}

/// The faces between groups, ordered by the group whose traces are read.
pub(super) fn exchanges<T: PackScalar>(
    cuda: &Cuda,
    d: &Discretization<T>,
    device: &[DeviceGroup<T>],
) -> Result<Vec<Exchange>, GpuError> {
    exchanges_of(cuda, d, device, &d.connectivity.foreign)
}

/// Copies of the traces of the faces `list`, ordered by the group whose traces are read.
pub(super) fn exchanges_of<T: PackScalar>(
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
