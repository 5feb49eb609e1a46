//! Small meshes: one kernel per stage, boundaries included, launched while the previous one runs.
//!
//! On such meshes a stage takes no longer than the launch of its kernels.

use crate::cuda::choose::plan::{Chosen, Plan};
use crate::cuda::run::discretization::{CudaDiscretization, law_text};
use crate::cuda::terms::boundary::ConditionText;
use crate::cuda::text::kernel_text::{KernelText, LawText};
use crate::cuda::text::setting::Setting;
use crate::error::OpsError;
use crate::lanes::simd::PackScalar;
use crate::rhs::discretization::Discretization;

impl<T: PackScalar> CudaDiscretization<T> {
    /// Makes each stage a single kernel, boundaries included. This is possible if the mesh is so small that
    /// the device processes all elements at once, and for elements with such a kernel: simplices in double
    /// precision, without diffusion and without a limiter. Results are the same up to rounding. Returns
    /// `false` if nothing changes.
    ///
    /// # Errors
    /// Errors of compilation and of the device.
    pub fn gather_stages(&mut self) -> Result<bool, OpsError> {
        if self.gathered || !self.exchanges.is_empty() || self.halo.is_some() || self.limiter.is_some() {
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

/// Builds the stage of each part, for a number of runs of boundary points and a number of multiprocessors;
/// `None` if a part has no such kernel, or if there are several groups.
pub(crate) fn gathered<T: PackScalar>(
    d: &Discretization<T>,
    law: &LawText,
    runs: usize,
    multiprocessors: usize,
) -> Result<Option<Vec<KernelText>>, OpsError> {
    let [group] = &d.groups[..] else { return Ok(None) };
    if law.lifts.is_some() || law.source {
        return Ok(None);
    }
    let conditions = ConditionText::new::<T>(law, &d.boundaries)?;
    let law = law.with_text(&conditions.functions);
    let plan = Plan::new(&law, group, d.scheme.form)?;
    let text = |(part, chosen): (_, &Chosen)| {
        chosen.fast()?.small_text(&Setting { law: &law, group, part }, runs, multiprocessors)
    };
    Ok(group.parts.iter().zip(&plan.parts).map(text).collect())
}
