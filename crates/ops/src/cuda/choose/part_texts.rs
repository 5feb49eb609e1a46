//! Kernel texts of a part: residual and stage, alone or in two passes, traces, step bound.

use crate::cuda::choose::plan::{Chosen, Plan};
use crate::cuda::text::kernel_text::{self, KernelText, LawText, Universal};
use crate::cuda::text::operators::Packed;
use crate::cuda::text::published;
use crate::cuda::text::setting::Setting;
use crate::cuda::text::speed;
use crate::error::OpsError;
use crate::lanes::simd::PackScalar;
use crate::space::chain::Factors;
use crate::space::group::{Group, volume_matrices};
use crate::space::scheme::{Form, MetricRule};
use dgsuite_basis::Shape;
use dgsuite_gpu::cuda::Source;

/// The texts of a part's kernels.
pub(crate) struct PartTexts {
    pub(crate) residual: KernelText,
    pub(crate) stage: KernelText,
    pub(crate) speed: KernelText,
    pub(crate) traces: Option<KernelText>,
    /// Whether the kernel of the traces uses the operators of the fast kernel.
    pub(crate) fast_traces: bool,
    /// The first pass of diffusion, as one or two kernels.
    pub(crate) gradient: Vec<KernelText>,
}

/// The kernels of the elements of one shape that are affine, or of those that are curved.
#[derive(Clone, Debug)]
pub struct ChosenKernels {
    /// The shape.
    pub shape: Shape,
    /// Whether the elements are curved.
    pub curved: bool,
    /// Whether the kernels were made for such elements; the universal kernels run all others.
    pub fast: bool,
    /// The file of the residual's kernel, such as `simplex.cu`; with diffusion that of its first pass.
    pub name: String,
    /// The texts of all kernels of these elements.
    pub texts: Vec<Source>,
}

/// Builds the texts of a part's kernels and the operators of the universal ones; `written`: whether a kernel
/// writes traces.
pub(crate) fn part_texts<T: PackScalar>(
    of: Setting<'_, T>,
    form: Form,
    chosen: &Chosen,
    written: bool,
) -> (PartTexts, Packed<T>) {
    let (fast, passes) = (chosen.fast(), chosen.passes());
    let Setting { law, group, part } = of;
    let matrices = volume_matrices(&part.reference, form, group.shape.dim());
    let factors = Factors::new(&part.reference, &matrices, form == Form::Weak);
    let mut packed = Packed::new(&factors, &part.integral, &part.one);
    let lifts = law.lifts.map(|lifts| lifts.factors(group, part));
    if let Some(lifts) = &lifts {
        packed.add_lifts(lifts);
    }
    let dense = speed::add_dense(&mut packed, &factors, of.sizes().collocated);
    let universal = Universal { of, factors: &factors, packed: &packed };
    let residual = |stage| {
        if let Some(fast) = passes {
            return if stage { fast.stage.clone() } else { fast.residual.clone() };
        }
        if let Some(lifts) = &lifts {
            return published::mean_flux(&universal, lifts, stage);
        }
        fast.and_then(|fast| fast.text(&of, stage))
            .unwrap_or_else(|| kernel_text::residual(&universal, stage))
    };
    let fast_traces = match passes {
        Some(passes) => passes.traces.clone(),
        None => fast.and_then(|fast| fast.traces(&of)),
    };
    let fast_traces = fast_traces.filter(|_| written);
    let texts = PartTexts {
        fast_traces: fast_traces.is_some(),
        residual: residual(false),
        stage: residual(true),
        speed: speed::speed(&universal, dense, lifts.as_ref()),
        traces: fast_traces.or_else(|| written.then(|| kernel_text::traces(&universal))),
        gradient: match (passes, &lifts) {
            (Some(fast), _) => fast.gradient.clone(),
            (None, Some(lifts)) => vec![published::gradient(&universal, lifts)],
            (None, None) => Vec::new(),
        },
    };
    (texts, packed)
}

/// The texts of a group's kernels, part by part.
///
/// # Errors
/// Errors of reference elements.
pub(crate) fn kernel_texts<T: PackScalar>(
    law: &LawText,
    group: &Group<T>,
    form: Form,
) -> Result<Vec<ChosenKernels>, OpsError> {
    let mut chosen = Vec::new();
    let plan = Plan::new(law, group, form)?;
    for (part, kernels) in group.parts.iter().zip(&plan.parts) {
        let (t, _) = part_texts(Setting { law, group, part }, form, kernels, plan.writes_traces);
        let first = t.gradient.first().unwrap_or(&t.residual);
        chosen.push(ChosenKernels {
            shape: group.shape,
            curved: part.spec.rule != MetricRule::Affine,
            fast: !matches!(kernels, Chosen::Universal),
            name: first.source.name.clone(),
            texts: [Some(t.residual), Some(t.stage), Some(t.speed), t.traces]
                .into_iter()
                .flatten()
                .chain(t.gradient)
                .map(|text| text.source)
                .collect(),
        });
    }
    Ok(chosen)
}
