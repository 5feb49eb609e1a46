//! The state of some elements in host memory, for monitors of points and boundaries.

use dgsuite_gpu::cuda::{DeviceBuffer, Permutation};
use dgsuite_gpu::{CudaVector, GpuError};
use dgsuite_ops::cuda::CudaDiscretization;
use dgsuite_ops::{Discretization, PackScalar};

/// Largest number of lists of elements that are kept.
const MOST: usize = 16;
/// Elements are copied by themselves if they are at most this share of all.
const SHARE: usize = 4;

/// Elements that are read together.
struct List<T: PackScalar> {
    elements: Vec<usize>,
    /// Places of their coefficients in the state.
    entries: Vec<u32>,
    permutation: Permutation,
    values: CudaVector<T>,
}

/// An array like the state in which only the coefficients of some elements are current.
pub(super) struct Partial<T: PackScalar> {
    state: Vec<T>,
    lists: Vec<List<T>>,
}

impl<T: PackScalar> Default for Partial<T> {
    fn default() -> Self {
        Self { state: Vec::new(), lists: Vec::new() }
    }
}

impl<T: PackScalar> Partial<T> {
    /// Calls `read` with an array like the state that contains the coefficients of `elements`; `None` if the
    /// whole state is as well copied, and after an error of the device, which the next step reports.
    pub(super) fn read<R>(
        &mut self,
        on: &CudaDiscretization<T>,
        u: &DeviceBuffer<T>,
        elements: &[usize],
        read: impl FnOnce(&Discretization<T>, &[T]) -> R,
    ) -> Option<R> {
        let d = on.description();
        if elements.len() * SHARE > d.mesh().n_elements() {
            return None;
        }
        if elements.is_empty() {
            return Some(read(d, &self.state));
        }
        self.copy(on, u, elements).ok()?;
        Some(read(d, &self.state))
    }

    fn copy(
        &mut self,
        on: &CudaDiscretization<T>,
        u: &DeviceBuffer<T>,
        elements: &[usize],
    ) -> Result<(), GpuError> {
        if !self.lists.iter().any(|list| list.elements == elements) {
            let (entries, cuda) = (on.description().entries(elements), on.cuda());
            if self.lists.len() == MOST {
                self.lists.remove(0);
            }
            self.lists.push(List {
                permutation: Permutation::new::<T>(cuda, &entries, u.len())?,
                values: CudaVector::zeros(cuda, entries.len())?,
                entries,
                elements: elements.to_vec(),
            });
        }
        self.state.resize(u.len(), T::ZERO);
        let Some(list) = self.lists.iter_mut().find(|list| list.elements == elements) else { return Ok(()) };
        list.permutation.gather(u, &mut list.values);
        let values = list.values.buffer().to_vec()?;
        list.entries.iter().zip(values).for_each(|(&at, value)| self.state[at as usize] = value);
        Ok(())
    }
}
