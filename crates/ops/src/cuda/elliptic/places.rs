//! Positions of the unknowns of a first-order law in vectors of the elliptic operator, on a device.

use crate::cuda::CudaDiscretization;
use crate::cuda::CudaSipdg;
use crate::elliptic::{Sipdg, elliptic_places};
use crate::error::OpsError;
use crate::lanes::simd::PackScalar;
use dgsuite_gpu::Scalar;

impl<T: Scalar> CudaSipdg<T> {
    /// As [`elliptic_places`], for vectors and states on a device: for each unknown of the law and each entry
    /// of a vector of this operator, the index in states of `discretization`, or `u32::MAX` for the entries
    /// at the end of a vector that fill it up. `host` is the operator from which this one was set up.
    ///
    /// # Errors
    /// As for [`elliptic_places`].
    pub fn places<U: PackScalar>(
        &self,
        host: &Sipdg<f64>,
        discretization: &CudaDiscretization<U>,
    ) -> Result<Vec<Vec<u32>>, OpsError> {
        let places = elliptic_places(discretization.description(), host)?;
        if host.len() != self.len() {
            let reason = "an operator on a device was not set up from this one".to_owned();
            return Err(OpsError::Elliptic { reason });
        }
        let on_device = |places: Vec<u32>| {
            let mut out = vec![u32::MAX; places.len()];
            self.rows().iter().zip(places).for_each(|(&row, place)| out[row as usize] = place);
            out
        };
        Ok(places.into_iter().map(on_device).collect())
    }
}
