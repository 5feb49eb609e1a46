//! The interface of a machine: vectors and copies to and from them.

use crate::{GpuError, Host, HostVector, Scalar, Vector};

/// A machine: it creates vectors and copies numbers to and from them.
///
/// A handle, cheap to clone. Operators are separate types, generic over the backend and implemented for each
/// machine; this trait contains only what every solver needs.
pub trait Backend: Clone + Send + Sync + 'static {
    /// The machine's vectors.
    type Vector<T: Scalar>: Vector<Scalar = T>;

    /// One line that describes the machine and how it is used.
    fn describe(&self) -> String;

    /// A vector of `len` zeros.
    ///
    /// # Errors
    /// [`GpuError::OutOfMemory`] if the machine's memory is too small.
    fn zeros<T: Scalar>(&self, len: usize) -> Result<Self::Vector<T>, GpuError>;

    /// A vector with the values of a slice.
    ///
    /// # Errors
    /// [`GpuError::OutOfMemory`] if the machine's memory is too small.
    fn upload<T: Scalar>(&self, values: &[T]) -> Result<Self::Vector<T>, GpuError>;

    /// Copies a vector's values out.
    ///
    /// # Errors
    /// The errors of the machine; the host has none.
    ///
    /// # Panics
    /// If the lengths differ.
    fn download<T: Scalar>(&self, vector: &Self::Vector<T>, values: &mut [T]) -> Result<(), GpuError>;
}

impl Backend for Host {
    type Vector<T: Scalar> = HostVector<T>;

    fn describe(&self) -> String {
        let n = self.n_threads();
        format!("CPU, {n} thread{}, {}", if n == 1 { "" } else { "s" }, self.simd())
    }

    fn zeros<T: Scalar>(&self, len: usize) -> Result<HostVector<T>, GpuError> {
        HostVector::zeros(self, len)
    }

    fn upload<T: Scalar>(&self, values: &[T]) -> Result<HostVector<T>, GpuError> {
        HostVector::from_slice(self, values)
    }

    fn download<T: Scalar>(&self, vector: &HostVector<T>, values: &mut [T]) -> Result<(), GpuError> {
        assert_eq!(vector.len(), values.len(), "a vector is copied to a slice of the same length");
        values.copy_from_slice(vector);
        Ok(())
    }
}
