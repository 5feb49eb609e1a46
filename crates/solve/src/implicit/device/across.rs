//! Newton steps on the devices of several ranks: whole vectors and matrices, of which each rank has its part.

use std::ops::Range;
use std::sync::Arc;

use dgsuite_gpu::cuda::{Cuda, CudaItems, CudaSummation, DeviceBuffer, JointLink};
use dgsuite_gpu::{CudaVector, GpuError};
use dgsuite_ops::cuda::CudaGathering;

use super::Whole;

/// Sums of a rank's vectors, as [`Whole::summation`]. Collective.
pub(super) fn summation(
    cuda: &Cuda,
    whole: &Whole,
    link: Option<&Arc<JointLink>>,
) -> Result<Arc<CudaSummation>, GpuError> {
    let mut first = 0;
    let items: Vec<CudaItems> = whole
        .runs()
        .into_iter()
        .map(|(rows, n)| {
            let items = CudaItems { first, rows, n, counted: n };
            first += rows * n;
            items
        })
        .collect();
    Ok(Arc::new(CudaSummation::new(cuda, whole.own_len(), &items, link.map(Arc::clone))?))
}

/// What the devices of several ranks exchange.
pub(super) struct AcrossDevices {
    pub(super) link: Arc<JointLink>,
    vectors: CudaGathering<f64>,
}

/// Residual, solution and scales of the whole mesh.
pub(super) struct WholeVectors {
    pub(super) r: CudaVector<f64>,
    pub(super) z: CudaVector<f64>,
    pub(super) scales: CudaVector<f64>,
    pub(super) shifts: DeviceBuffer<f64>,
}

impl WholeVectors {
    pub(super) fn new(cuda: &Cuda, whole: &Whole) -> Result<Self, GpuError> {
        let zeros = || CudaVector::zeros(cuda, whole.offsets[whole.n_elements()]);
        let shifts = DeviceBuffer::zeros(cuda, "pseudo-time", whole.n_elements())?;
        Ok(Self { r: zeros()?, z: zeros()?, scales: zeros()?, shifts })
    }

    /// Sets `1/Δτ` and the scale of each element, of which each rank has its own. Collective.
    pub(super) fn set_pseudo_time(
        &mut self,
        whole: &Whole,
        shifts: &[f64],
        scales: &[f64],
    ) -> Result<(), GpuError> {
        let each = whole.of_elements(scales).into_iter().enumerate();
        let scales: Vec<f64> =
            each.flat_map(|(e, scale)| std::iter::repeat_n(scale, whole.size(e))).collect();
        self.scales.buffer_mut().upload(&scales)?;
        self.shifts.upload(&whole.of_elements(shifts))
    }
}

/// Entries as the kernels of messages know them.
fn entries(ranges: impl Iterator<Item = Range<usize>>) -> Vec<u32> {
    ranges.flatten().map(|entry| entry as u32).collect()
}

impl AcrossDevices {
    /// `None` on one rank. Collective.
    pub(super) fn new(cuda: &Cuda, whole: &Whole) -> Result<Option<Self>, GpuError> {
        let Some((joint, others)) = whole.others() else { return Ok(None) };
        let link = Arc::new(JointLink::new(cuda, joint)?);
        let range = |e: usize| whole.offsets[e]..whole.offsets[e + 1];
        let receives =
            others.map(|(rank, elements)| (rank, entries(elements.iter().map(|&e| range(e as usize)))));
        let there = entries((0..whole.n_elements()).filter(|&e| whole.local(e).is_some()).map(range));
        let here = (0..there.len() as u32).collect();
        let lengths = [whole.own_len(), whole.offsets[whole.n_elements()]];
        let vectors = CudaGathering::of_entries(cuda, &link, [here, there], receives.collect(), lengths)?;
        Ok(Some(Self { link, vectors }))
    }

    /// The messages of numbers, `n` of all elements, of which `of(e)` are those of an element. Collective.
    pub(super) fn gather_numbers(
        &self,
        cuda: &Cuda,
        whole: &Whole,
        of: &dyn Fn(usize) -> Range<usize>,
        n: usize,
    ) -> Result<CudaGathering<f64>, GpuError> {
        let receives = whole.others().into_iter().flat_map(|(_, others)| others);
        let receives =
            receives.map(|(rank, elements)| (rank, entries(elements.iter().map(|&e| of(e as usize)))));
        let own = entries((0..whole.n_elements()).filter(|&e| whole.local(e).is_some()).map(of));
        CudaGathering::of_entries(cuda, &self.link, [own.clone(), own], receives.collect(), [n, n])
    }

    /// The whole of a vector. Collective.
    pub(super) fn gather(&self, own: &CudaVector<f64>, whole: &mut CudaVector<f64>) -> Result<(), GpuError> {
        self.vectors.gather(own, whole)
    }

    /// This rank's entries of a whole vector.
    pub(super) fn put(&self, own: &CudaVector<f64>, whole: &mut CudaVector<f64>) -> Result<(), GpuError> {
        self.vectors.put(own, whole)
    }

    /// This rank's entries from a whole vector.
    pub(super) fn pick(&self, whole: &CudaVector<f64>, own: &mut CudaVector<f64>) -> Result<(), GpuError> {
        self.vectors.pick(whole, own)
    }
}
