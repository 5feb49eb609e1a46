//! Reactions on a device: their rows before each residual, and their share of the step bound.

use crate::cuda::parts::device_group::{DeviceGroup, Kernel};
use crate::cuda::text::kernel_text::{
    KernelText, LawText, POINT_THREADS, Universal, parameter_values, pointwise, reaction,
};
use crate::cuda::text::operators::Packed;
use crate::cuda::text::setting::Setting;
use crate::error::OpsError;
use crate::lanes::simd::PackScalar;
use crate::rhs::reaction::Reactions;
use crate::space::chain::Factors;
use crate::space::group::{Group, volume_matrices};
use crate::space::scheme::Form;
use dgsuite_gpu::GpuError;
use dgsuite_gpu::cuda::{Args, Cuda, DeviceBuffer, Function, LaunchConfig, Source};
use dgsuite_physics::trace::TraceError;
use std::fmt::Write;

/// The kernel of one part, and its coefficients.
struct ReactionPart<T: PackScalar> {
    kernel: Kernel,
    group: usize,
    part: usize,
    /// `[element][point][coefficient]`.
    coefficients: DeviceBuffer<T>,
}

/// The reactions of a discretisation on the device.
pub(crate) struct DeviceReactions<T: PackScalar> {
    parts: Vec<ReactionPart<T>>,
    parameters: Vec<T>,
    /// The kernel that limits steps, and the stiffness; `None` if no reaction limits them.
    limit: Option<(Function, f64)>,
    args: Args,
}

/// The law with the formulas of the reactions: `reactions(parameters, u, c, out)` is their sum.
fn with_reactions<T: PackScalar>(law: &LawText, reactions: &Reactions<T>) -> Result<LawText, TraceError> {
    law.with(|parameters| {
        let mut text = String::new();
        let fields = reactions.kernels.first().map_or(0, |kernel| kernel.n_fields());
        let mut sum = format!(
            "static __device__ __forceinline__ void reactions(const Parameters& parameters, \
             const real (&u)[{fields}], const real (&c)[{}], real (&out)[{fields}]) {{\n    \
             real s[{fields}];\n    for (int k = 0; k < {fields}; ++k) out[k] = 0;\n",
            reactions.count
        );
        let mut first = 0;
        for (i, kernel) in reactions.kernels.iter().enumerate() {
            let count = kernel.coefficients().count();
            text.push_str(&kernel.device_source(&format!("reaction_{i}"), parameters)?);
            let _ = write!(
                sum,
                "    {{\n        real own[{count}];\n        \
                 for (int k = 0; k < {count}; ++k) own[k] = c[{first} + k];\n        \
                 reaction_{i}(parameters, u, own, s);\n        \
                 for (int k = 0; k < {fields}; ++k) out[k] += s[k];\n    }}\n"
            );
            first += count;
        }
        Ok(text + &sum + "}\n")
    })
}

/// Builds the text of a part's kernel. Its operators are the first ones of the part's universal kernels.
fn text<T: PackScalar>(of: Setting<'_, T>, form: Form, count: usize) -> KernelText {
    let matrices = volume_matrices(&of.part.reference, form, of.group.shape.dim());
    let factors = Factors::new(&of.part.reference, &matrices, form == Form::Weak);
    let packed = Packed::new(&factors, &of.part.integral, &of.part.one);
    let mut text = reaction(&Universal { of, factors: &factors, packed: &packed });
    text.source = text.source.define("COEFFICIENTS", count);
    text
}

/// The text of the kernel that limits steps.
fn limit_text<T: PackScalar>(law: &LawText, dim: usize, fields: usize) -> Source {
    let source = pointwise::<T>("reaction_step.cu", include_str!("reaction_step.cu"), law, dim, fields);
    source.define("BLOCK", POINT_THREADS).exact()
}

/// The texts of all kernels of the reactions, by group and part; the last one limits steps.
pub(crate) fn reaction_texts<T: PackScalar>(
    law: &LawText,
    reactions: &Reactions<T>,
    groups: &[Group<T>],
    form: Form,
) -> Result<Vec<Source>, TraceError> {
    let law = with_reactions(law, reactions)?;
    let (mut texts, mut sizes) = (Vec::new(), None);
    for group in groups {
        sizes = Some((group.shape.dim(), group.state.fields));
        let of = |part| Setting { law: &law, group, part };
        texts.extend(group.parts.iter().map(|part| text(of(part), form, reactions.count).source));
    }
    if let Some((dim, fields)) = sizes.filter(|_| reactions.stiffness > 0.0) {
        texts.push(limit_text::<T>(&law, dim, fields));
    }
    Ok(texts)
}

impl<T: PackScalar> DeviceReactions<T> {
    pub(crate) fn new(
        cuda: &Cuda,
        law: &LawText,
        reactions: &Reactions<T>,
        groups: &[Group<T>],
        form: Form,
    ) -> Result<Self, OpsError> {
        let law = with_reactions(law, reactions)?;
        let (mut parts, mut limit) = (Vec::new(), None);
        for (g, group) in groups.iter().enumerate() {
            for (p, part) in group.parts.iter().enumerate() {
                let text = text(Setting { law: &law, group, part }, form, reactions.count);
                parts.push(ReactionPart {
                    kernel: Kernel::new(cuda, &text, "reaction_rows", part.n_elements)?,
                    group: g,
                    part: p,
                    coefficients: DeviceBuffer::from_slice(
                        cuda,
                        "coefficients",
                        &reactions.coefficients[g][p],
                    )?,
                });
            }
            if limit.is_none() && reactions.stiffness > 0.0 {
                let text = limit_text::<T>(&law, group.shape.dim(), group.state.fields);
                limit = Some((cuda.compile(&text)?.function("limit_steps")?, reactions.stiffness));
            }
        }
        Ok(Self { parts, parameters: parameter_values(&law.parameters), limit, args: Args::new() })
    }

    /// Scalars of work space in global memory that the kernels need.
    pub(crate) fn work(&self) -> usize {
        self.parts.iter().map(|part| part.kernel.work()).max().unwrap_or(0)
    }

    pub(crate) fn bytes(&self) -> usize {
        self.parts.iter().map(|part| part.coefficients.bytes()).sum()
    }

    /// Launches the rows of all parts, from the state at `u`.
    pub(crate) fn launch(
        &self,
        cuda: &Cuda,
        groups: &mut [DeviceGroup<T>],
        u: u64,
        work: u64,
    ) -> Result<(), GpuError> {
        for own in &self.parts {
            let group = &mut groups[own.group];
            group.launch_reactions(
                cuda,
                own.part,
                &own.kernel,
                [u, work],
                &own.coefficients,
                &self.parameters,
            )?;
        }
        Ok(())
    }

    /// Limits `n` step bounds, and the steps of `slots` slots at `steps` unless that is 0.
    pub(crate) fn limit_steps(
        &mut self,
        cuda: &Cuda,
        bounds: u64,
        n: usize,
        steps: u64,
        slots: usize,
    ) -> Result<(), GpuError> {
        let Some((function, stiffness)) = &self.limit else { return Ok(()) };
        self.args.clear();
        self.args.pointer(bounds).value(n as u32).pointer(steps).value(slots as u32).value(*stiffness);
        let config = LaunchConfig::cover(n.max(slots), POINT_THREADS as u32);
        // SAFETY: the arguments are the kernel's; the callers pass arrays of these lengths.
        unsafe { cuda.launch(function, config, &self.args) }
    }
}
