//! The two passes of diffusion, as kernels made for one kind of elements supply them.

use crate::cuda::text::kernel_text::KernelText;
use crate::cuda::text::setting::Setting;
use crate::lanes::simd::PackScalar;

/// The fast kernels of both passes.
pub(crate) trait Passes<T: PackScalar> {
    /// Builds the first pass, as one or two kernels; `None` if it does not fit the device.
    fn gradient(&self, of: &Setting<'_, T>) -> Option<Vec<KernelText>>;

    /// Builds the second pass, alone or with the stage; `None` if it does not fit the device.
    fn mean_flux(&self, of: &Setting<'_, T>, stage: bool) -> Option<KernelText>;

    /// The operators' entries.
    fn into_entries(self) -> Vec<f64>;
}
