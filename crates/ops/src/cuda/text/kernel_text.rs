//! The text of a kernel: the law's formulas and the sizes of a part, in front of a `.cu` file.
//!
//! [`LawText`] holds the formulas translated to CUDA, [`Sizes`] the macros, [`KernelText`] the result with
//! its launch configuration. This file also builds the texts of the universal kernels, which support every
//! scheme.

use crate::cuda::text::operators::{Packed, widest_between};
use crate::cuda::text::published::Lifts;
use crate::cuda::text::sections::{COEFFICIENTS, resolved};
use crate::cuda::text::setting::{Setting, list};
use crate::formulas::diffusion::DiffusionKernels;
use crate::formulas::pointwise::PointKernels;
use crate::formulas::two_point::TwoPointKernels;
use crate::lanes::simd::PackScalar;
use crate::space::chain::Factors;
use crate::space::directions::Directions;
use crate::space::group::{Group, Part};
use crate::space::scheme::MetricRule;
use dgsuite_basis::{Cubature, Shape};
use dgsuite_gpu::cuda::Source;
use dgsuite_physics::trace::{PRELUDE, Parameters, TraceError};

/// Largest dynamic shared memory in bytes of a block of a universal kernel; larger work space is in global
/// memory. It is half of the shared memory of a multiprocessor on devices of compute capability 9, so that
/// two blocks fit.
pub(crate) const SHARED_LIMIT: usize = 100 * 1024;

/// The sizes of a part that are constants of its kernels.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Sizes {
    pub(crate) dim: usize,
    pub(crate) fields: usize,
    pub(crate) lanes: usize,
    pub(crate) planar: bool,
    pub(crate) np: usize,
    pub(crate) nq: usize,
    pub(crate) nf: usize,
    pub(crate) faces: usize,
    pub(crate) curved: bool,
    pub(crate) collocated: bool,
    pub(crate) direct: bool,
    pub(crate) rule: MetricRule,
}

impl Sizes {
    pub(crate) fn new<T: PackScalar>(group: &Group<T>, part: &Part<T>) -> Self {
        Self {
            dim: group.shape.dim(),
            fields: group.state.fields,
            lanes: group.state.lanes,
            planar: group.state.planar,
            np: group.state.rows,
            nq: part.n_points,
            nf: group.trace.rows,
            faces: group.shape.n_faces(),
            curved: part.spec.rule != MetricRule::Affine,
            collocated: part.spec.element.volume == Cubature::Collocated,
            direct: group.face_nodes.is_some(),
            rule: part.spec.rule,
        }
    }

    /// The macros of common.cuh.
    pub(crate) fn define(&self, source: Source, face_offsets: &[usize]) -> Source {
        source
            .define("DIM", self.dim)
            .define("FIELDS", self.fields)
            .define("LANES", self.lanes)
            .define("PLANAR", u8::from(self.planar))
            .define("NP", self.np)
            .define("NQ", self.nq)
            .define("NF", self.nf)
            .define("FACES", self.faces)
            .define("FACE_FIRST", list(face_offsets))
            .define("CURVED", u8::from(self.curved))
            .define("COLLOCATED", u8::from(self.collocated))
            .define("DIRECT", u8::from(self.direct))
            .define("RULE", rule_number(self.rule))
    }
}

const fn rule_number(rule: MetricRule) -> u8 {
    match rule {
        // The factor of affine elements is part of their metric.
        MetricRule::Affine | MetricRule::Reference => 0,
        MetricRule::Collocated => 1,
        MetricRule::WeightAdjusted => 2,
        MetricRule::Stored => 3,
    }
}

/// The work space of a universal kernel, and the number of elements that a block processes.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Plan {
    pub(super) elements: usize,
    threads: usize,
    /// Size in scalars.
    work: usize,
    shared: bool,
    /// Names and offsets of the regions.
    regions: Vec<(&'static str, usize)>,
}

impl Plan {
    fn new(sizes: &Sizes, bytes: usize, regions: &[(&'static str, usize)]) -> Self {
        // Enough elements to keep all threads of a block busy, if they fit.
        let per_element: usize = regions.iter().map(|r| r.1).sum::<usize>() * sizes.fields;
        let rows = sizes.np.max(sizes.nq).max(sizes.nf);
        let threads: usize = if rows > 128 { 256 } else { 128 };
        let fit = (SHARED_LIMIT / 2 / (per_element * bytes).max(1)).max(1);
        let elements = (threads * 3 / 2).div_ceil(rows).min(fit).max(1);
        let scalars = |&(name, rows): &(_, usize)| (name, rows * sizes.fields * elements);
        Self::of_block(elements, threads, &regions.iter().map(scalars).collect::<Vec<_>>(), bytes)
    }

    /// The plan for a number of elements of a block; `regions`: their sizes in scalars.
    pub(super) fn of_block(
        elements: usize,
        threads: usize,
        regions: &[(&'static str, usize)],
        bytes: usize,
    ) -> Self {
        let mut at = 0;
        let regions = regions
            .iter()
            .map(|&(name, scalars)| {
                let begin = at;
                at += scalars;
                (name, begin)
            })
            .collect();
        Self { elements, threads, work: at, shared: at * bytes <= SHARED_LIMIT, regions }
    }

    fn shape(&self, bytes: usize) -> LaunchShape {
        let (shared, work) = if self.shared { (self.work * bytes, 0) } else { (0, self.work) };
        LaunchShape { threads: self.threads, elements: self.elements, shared, work, persistent: true }
    }

    fn define(&self, mut source: Source) -> Source {
        for (name, at) in &self.regions {
            source = source.define(*name, at);
        }
        source
            .define("ELEMENTS", self.elements)
            .define("BLOCK", self.threads)
            .define("WORK", self.work)
            .define("SHARED_WORK", u8::from(self.shared))
    }
}

/// The formulas of a law in CUDA: the structure of its parameters, and functions.
pub(crate) struct LawText {
    pub(crate) parameters: Parameters,
    functions: String,
    /// Whether there is a two-point flux, for a split form.
    pub(crate) two_point: bool,
    /// Parameters of the lifting, if there is diffusion.
    pub(crate) lifts: Option<Lifts>,
    /// Whether the diffusive flux has a coefficient of each element.
    pub(crate) coefficients: bool,
    /// Whether there is a source.
    pub(crate) source: bool,
    /// Whether the mesh has boundaries.
    pub(crate) boundaries: bool,
    /// The number of the first unknowns; the fluxes of the others are zero.
    pub(crate) changing: usize,
    /// Whether those are given, see [`Scheme::given`](crate::Scheme::given).
    pub(crate) given: bool,
    /// The functions of the rates of waves in one direction, with the sets of faces of parts.
    rates: Vec<(Directions, String)>,
}

impl LawText {
    pub(crate) fn new<T>(physics: &dyn PointKernels<T>) -> Result<Self, TraceError> {
        let mut parameters = Parameters::new();
        let functions = physics.device_source(&mut parameters)?;
        Ok(Self {
            parameters,
            functions,
            two_point: false,
            lifts: None,
            coefficients: false,
            source: false,
            boundaries: true,
            changing: physics.n_changing(),
            given: false,
            rates: Vec::new(),
        })
    }

    /// With the function `wave_rate` of the parts of a group, if waves run in one direction.
    pub(crate) fn with_rates<T: PackScalar>(
        mut self,
        physics: &dyn PointKernels<T>,
        group: &Group<T>,
    ) -> Result<Self, TraceError> {
        for directions in group.parts.iter().filter_map(|part| part.directions.as_ref()) {
            if self.rate(directions).is_none() {
                let source = physics.rate_source(directions, &mut self.parameters)?;
                self.rates.push((directions.clone(), source));
            }
        }
        Ok(self)
    }

    /// The function of a part's sets of faces.
    pub(crate) fn rate(&self, directions: &Directions) -> Option<&str> {
        self.rates.iter().find(|(of, _)| of == directions).map(|(_, source)| source.as_str())
    }

    /// With the formulas of the two-point flux, if there is one.
    pub(crate) fn with_two_point<T>(self, flux: Option<&dyn TwoPointKernels<T>>) -> Result<Self, TraceError> {
        let Some(flux) = flux else { return Ok(self) };
        let law = self.with(|parameters| flux.device_source(parameters))?;
        Ok(Self { two_point: true, ..law })
    }

    /// Adds the formulas of the diffusive flux, if there is one, and the weight of liftings.
    pub(crate) fn with_diffusion<T>(
        self,
        diffusion: Option<&dyn DiffusionKernels<T>>,
        eta: Option<f64>,
    ) -> Result<Self, TraceError> {
        let Some(diffusion) = diffusion else { return Ok(self) };
        let law = self.with(|parameters| diffusion.device_source(parameters))?;
        let coefficients = diffusion.coefficient(1.0).is_some();
        Ok(Self { lifts: Some(Lifts { eta }), coefficients, ..law })
    }

    /// Sets whether there is a source; its formulas are in its own kernel.
    pub(crate) fn with_source(self, source: bool) -> Self {
        Self { source, ..self }
    }

    /// Adds functions, such as those of boundary conditions.
    pub(crate) fn with_text(&self, more: &str) -> Self {
        let (parameters, functions) = (self.parameters.clone(), self.functions.clone() + more);
        Self { parameters, functions, rates: self.rates.clone(), ..*self }
    }

    /// Adds functions, such as those of a boundary condition.
    pub(crate) fn with(
        &self,
        more: impl FnOnce(&mut Parameters) -> Result<String, TraceError>,
    ) -> Result<Self, TraceError> {
        let mut parameters = self.parameters.clone();
        let functions = self.functions.clone() + &more(&mut parameters)?;
        Ok(Self { parameters, functions, rates: self.rates.clone(), ..*self })
    }

    /// All text in front of the kernel.
    pub(crate) fn preamble(&self) -> String {
        format!(
            "{}#include \"device.cuh\"\n#include \"fast_math.cuh\"\n{PRELUDE}{}{}#include \"common.cuh\"\n",
            if self.coefficients { COEFFICIENTS } else { "" },
            self.parameters.definition(),
            self.functions
        )
    }
}

/// The fields of `struct Parameters`, as a kernel argument.
pub(crate) fn parameter_values<T: PackScalar>(parameters: &Parameters) -> Vec<T> {
    let mut values: Vec<T> = parameters.values().into_iter().map(T::from_f64).collect();
    if values.is_empty() {
        values.push(T::from_f64(0.0));
    }
    values
}

/// Adds the headers. With [`COEFFICIENTS`] at its begin the text and its headers have the sections of fluxes
/// with coefficients.
pub(crate) fn with_headers<T: PackScalar>(name: &str, text: &str) -> Source {
    let coefficients = text.starts_with(COEFFICIENTS);
    let own = |text: &str| resolved(text, coefficients);
    let source = Source::new(name, own(text))
        .header("fast_math.cuh", own(include_str!("fast_math.cuh")))
        .header("common.cuh", own(include_str!("common.cuh")))
        .header("rows.cuh", own(include_str!("../pass/rows.cuh")))
        .header("normals.cuh", own(include_str!("../pass/normals.cuh")))
        .header("fragments.cuh", own(include_str!("../simplices/fragments.cuh")))
        .header("weight_adjusted.cuh", own(include_str!("weight_adjusted.cuh")))
        .header("quadratic.cuh", own(include_str!("../simplices/quadratic.cuh")))
        .header("sparse.cuh", own(include_str!("../chains/sparse.cuh")))
        .header("metric_rule.cuh", own(include_str!("../chains/metric_rule.cuh")))
        .header("gauss_lines.cuh", own(include_str!("../tensors/gauss_lines.cuh")))
        .header("lines.cuh", own(include_str!("lines.cuh")))
        .header("prisms.cuh", own(include_str!("../prisms/prisms.cuh")))
        .header("prism_cubature.cuh", own(include_str!("../prisms/prism_cubature.cuh")))
        .header("two_point.cuh", own(include_str!("two_point.cuh")))
        .header("passes.cuh", own(include_str!("../pass/passes.cuh")))
        .header("gradient_pass.cuh", own(include_str!("../pass/gradient_pass.cuh")))
        .header("mean_flux_pass.cuh", own(include_str!("../pass/mean_flux_pass.cuh")))
        .header("residual_pass.cuh", own(include_str!("../pass/residual_pass.cuh")))
        .header("traces_pass.cuh", own(include_str!("../pass/traces_pass.cuh")))
        .header("viscous.cuh", own(include_str!("../pass/viscous.cuh")))
        .header("published.cuh", own(include_str!("../pass/published.cuh")))
        .header("simplex_geometry.cuh", own(include_str!("../simplices/simplex_geometry.cuh")))
        .header("simplex_gradient.cuh", own(include_str!("../simplices/simplex_gradient.cuh")))
        .header("boundary_point.cuh", own(include_str!("../terms/boundary_point.cuh")));
    if T::BYTES == 4 { source.define("DG_SINGLE", 1) } else { source }
}

/// As [`with_headers`], for a kernel that computes in double precision for any stored precision.
pub(crate) fn wide_with_headers<T: PackScalar>(name: &str, text: &str) -> Source {
    let source = with_headers::<f64>(name, text);
    if T::BYTES == 4 { source.define("DG_STORED_SINGLE", 1) } else { source }
}

/// The normals of the reference faces, as a macro of normals.cuh.
pub(crate) fn reference_normals(shape: Shape) -> String {
    let integers = |n: [f64; 3]| list(n.iter().take(shape.dim()).map(|x| x.round() as i64));
    list((0..shape.n_faces()).map(|f| integers(crate::space::geometry::reference_normal(shape, f))))
}

/// The text of a kernel and its launch configuration.
#[derive(Clone)]
pub(crate) struct KernelText {
    pub(crate) source: Source,
    pub(crate) shape: LaunchShape,
    /// Whether parameters and operators are in double precision for any precision of the state.
    pub(crate) wide: bool,
}

impl KernelText {
    /// The text with the size of shared memory as the macro `SHARED_BYTES`, which kernels compare with their
    /// own layout.
    pub(crate) fn new(source: Source, shape: LaunchShape, wide: bool) -> Self {
        Self { source: source.define("SHARED_BYTES", shape.shared), shape, wide }
    }
}

/// The launch configuration of a kernel.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct LaunchShape {
    /// Threads of a block.
    pub(crate) threads: usize,
    /// Number of elements that a block processes at a time.
    pub(crate) elements: usize,
    /// Bytes of dynamic shared memory.
    pub(crate) shared: usize,
    /// Scalars of work space in global memory that each block needs.
    pub(crate) work: usize,
    /// Whether a block processes several groups of elements in turn; otherwise there is a block for each
    /// group.
    pub(crate) persistent: bool,
}

/// The setting of universal kernels, with the operators of the part as chains of sparse factors.
pub(crate) struct Universal<'a, T: PackScalar> {
    pub(crate) of: Setting<'a, T>,
    pub(crate) factors: &'a Factors,
    pub(crate) packed: &'a Packed<T>,
}

/// Builds the text of a universal kernel.
pub(crate) fn universal<T: PackScalar>(
    name: &str,
    body: &str,
    of: &Universal<'_, T>,
    stage: u8,
    regions: &[(&'static str, usize)],
) -> KernelText {
    planned(name, body, of, stage, &Plan::new(&of.of.sizes(), T::BYTES, regions))
}

/// As [`universal`], with its own plan.
pub(super) fn planned<T: PackScalar>(
    name: &str,
    body: &str,
    Universal { of, packed, .. }: &Universal<'_, T>,
    stage: u8,
    plan: &Plan,
) -> KernelText {
    let (Setting { law, group, .. }, sizes) = (*of, of.sizes());
    let text =
        format!("{}#include \"sparse.cuh\"\n{}#line 1 \"{name}\"\n{body}", law.preamble(), packed.text);
    let source = sizes.define(with_headers::<T>(name, &text), &group.face_offsets);
    let source = source.define("INTEGRAL", packed.integral).define("ONE", packed.one).define("STAGE", stage);
    KernelText::new(plan.define(source), plan.shape(T::BYTES), false)
}

/// Builds the fused residual of a part, alone or with the stage.
pub(crate) fn residual<T: PackScalar>(of: &Universal<'_, T>, stage: bool) -> KernelText {
    let (s, factors) = (of.of.sizes(), of.factors);
    let fluxes = s.dim * s.nq + s.nf;
    let weight_adjusted = s.rule == MetricRule::WeightAdjusted;
    let between = [&factors.interp, &factors.residual, &factors.project].map(|c| widest_between(c));
    let between = between.into_iter().max().unwrap_or(0);
    let odd = if factors.residual.len() > 2 || factors.interp.len() > 2 { between } else { 0 };
    let regions = [
        ("STATE_AT", s.np),
        ("FLUXES_AT", fluxes),
        ("RATE_AT", s.np),
        ("POINTS_AT", if s.collocated { 0 } else { s.nq }),
        ("EVEN_AT", between),
        ("ODD_AT", odd),
        ("GAIN_AT", usize::from(weight_adjusted)),
    ];
    let stage = u8::from(stage);
    universal("residual.cu", include_str!("../chains/residual.cu"), of, stage, &regions)
}

/// Builds the kernel of the traces of a part.
pub(crate) fn traces<T: PackScalar>(of: &Universal<'_, T>) -> KernelText {
    let (s, factors) = (of.of.sizes(), of.factors);
    let between = widest_between(&factors.interp_face);
    let regions = [("STATE_AT", s.np), ("EVEN_AT", between), ("ODD_AT", 0), ("OUT_AT", s.nf)];
    universal("traces.cu", include_str!("../chains/traces.cu"), of, 0, &regions)
}

/// Builds the kernel of the reactions of a part.
pub(crate) fn reaction<T: PackScalar>(of: &Universal<'_, T>) -> KernelText {
    let (s, factors) = (of.of.sizes(), of.factors);
    let between = [&factors.interp, &factors.project].map(|c| widest_between(c));
    let between = if s.collocated { 0 } else { between.into_iter().max().unwrap_or(0) };
    let odd = if factors.interp.len() > 2 || factors.project.len() > 2 { between } else { 0 };
    let regions = [
        ("STATE_AT", s.np),
        ("POINTS_AT", if s.collocated { 0 } else { s.nq }),
        ("EVEN_AT", between),
        ("ODD_AT", odd),
    ];
    universal("reaction.cu", include_str!("../terms/reaction.cu"), of, 0, &regions)
}

/// Threads per block of kernels with one thread per point.
pub(crate) const POINT_THREADS: usize = 128;
/// Threads of the single block of sums and comparisons.
pub(crate) const REDUCE_THREADS: usize = 256;

/// Builds a kernel that does not depend on the sizes of a group.
pub(crate) fn pointwise<T: PackScalar>(
    name: &str,
    body: &str,
    law: &LawText,
    dim: usize,
    fields: usize,
) -> Source {
    let text = format!("{}#line 1 \"{name}\"\n{body}", law.preamble());
    let one = Sizes {
        dim,
        fields,
        lanes: 1,
        planar: false,
        np: 1,
        nq: 1,
        nf: 1,
        faces: 1,
        curved: false,
        collocated: true,
        direct: true,
        rule: MetricRule::Affine,
    };
    one.define(with_headers::<T>(name, &text), &[0, 1]).define("STAGE", 0)
}
