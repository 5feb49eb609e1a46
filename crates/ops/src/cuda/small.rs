//! Small meshes, where a stage takes no longer than the launch of its kernels: one kernel a stage, which
//! works on boundaries itself and is launched while the one before works.

use crate::cuda::boundary::ConditionText;
use crate::cuda::discretization::{CudaDiscretization, law_text};
use crate::cuda::fast::Fast;
use crate::cuda::kernel_text::{KernelText, LawText};
use crate::cuda::setting::Setting;
use crate::discretization::Discretization;
use crate::error::OpsError;
use crate::simd::PackScalar;

impl<T: PackScalar> CudaDiscretization<T> {
    /// Makes each stage one kernel, boundaries included, if the mesh is so small that the device works on all
    /// elements at once, and of elements that have such a kernel: simplices in double precision, without
    /// diffusion. Results are the same to rounding. `false` if nothing changes.
    ///
    /// # Errors
    /// Those of compilers and of the device.
    pub fn gather_stages(&mut self) -> Result<bool, OpsError> {
        if self.gathered || !self.exchanges.is_empty() {
            return Ok(self.gathered);
        }
        let law = law_text(&self.description)?;
        let multiprocessors = self.cuda.info().n_multiprocessors as usize;
        let texts = gathered(&self.description, &law, self.boundaries.n_runs(), multiprocessors)?;
        let Some(texts) = texts else { return Ok(false) };
        self.groups[0].gather(&self.cuda, &texts)?;
        self.gathered = true;
        Ok(true)
    }
}

/// The stage of each part, with so many runs of boundary points, for so many multiprocessors; `None` if a
/// part has none, or there are several groups.
pub(super) fn gathered<T: PackScalar>(
    d: &Discretization<T>,
    law: &LawText,
    runs: usize,
    multiprocessors: usize,
) -> Result<Option<Vec<KernelText>>, OpsError> {
    let [group] = &d.groups[..] else { return Ok(None) };
    if law.lifts.is_some() {
        return Ok(None);
    }
    let conditions = ConditionText::new::<T>(law, &d.boundaries)?;
    let law = law.with_text(&conditions.functions);
    let fast = Fast::of_parts(&law, group, d.scheme.form)?;
    let text = |(part, fast): (_, &Option<Fast>)| {
        fast.as_ref()?.small_text(&Setting { law: &law, group, part }, runs, multiprocessors)
    };
    Ok(group.parts.iter().zip(&fast).map(text).collect())
}
