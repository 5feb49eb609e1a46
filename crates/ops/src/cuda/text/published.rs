//! Diffusion in two passes on a device: data exchanged between them, and texts of the universal kernels.
//!
//! On a device an element publishes its part of the complete normal flux, `½ (f* − F_v·n)`, so that the
//! second pass reads one number for each side of a face and unknown. The flux through a point is the
//! difference of the numbers of its two sides.

use crate::cuda::text::kernel_text::{self, KernelText, Universal};
use crate::cuda::text::operators::widest_between;
use crate::error::OpsError;
use crate::lanes::panel::Rows;
use crate::lanes::simd::PackScalar;
use crate::space::connect::{Connectivity, Neighbours};
use crate::space::group::{Group, Part};
use crate::space::lifting::{LiftFactors, lift_factors, penalty};
use crate::space::scheme::MetricRule;
use dgsuite_gpu::GpuError;
use dgsuite_gpu::cuda::{Args, Cuda, DeviceBuffer};

/// Parameters of BR2, for laws with diffusion.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Lifts {
    /// Weight of the liftings on their own faces; `None` for the number of faces.
    pub(crate) eta: Option<f64>,
}

impl Lifts {
    /// The lifting operators of a part.
    pub(crate) fn factors<T: PackScalar>(self, group: &Group<T>, part: &Part<T>) -> PassFactors {
        let LiftFactors { gradient, face_gradient } =
            LiftFactors::new(&part.reference, penalty(group.shape, self.eta));
        PassFactors { gradient, face_gradient, lift: lift_factors(&part.reference) }
    }
}

/// The operators of both passes as chains of sparse factors; see [`LiftFactors`].
pub(crate) struct PassFactors {
    pub(crate) gradient: Vec<(Rows, usize)>,
    pub(crate) face_gradient: Vec<(Rows, usize)>,
    /// `L`.
    pub(crate) lift: Vec<(Rows, usize)>,
}

/// Addresses for both passes; same as `Published` in published.cuh.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct PublishedArguments {
    jumps: u64,
    gradients: u64,
    fluxes: u64,
    exterior: u64,
    rows: u64,
    metric: u64,
    kept: u64,
    source: u64,
    lifted: u64,
    boundary: u32,
    table_len: u32,
}

/// The same with the coefficients of the diffusive flux at its end.
#[repr(C)]
#[derive(Clone, Copy)]
struct WithCoefficients {
    published: PublishedArguments,
    coefficients: u64,
}

/// Arrays shared by all groups.
pub(crate) struct Shared<T: PackScalar> {
    /// `u_b − u⁻` on the boundaries, in the order of the exterior buffer.
    pub(crate) jumps: DeviceBuffer<T>,
    /// Physical gradients there, `[point][x][field]`.
    pub(crate) gradients: DeviceBuffer<T>,
    /// Published fluxes of other groups, and their replacements on boundaries.
    pub(crate) exterior: DeviceBuffer<T>,
    boundary: u32,
}

impl<T: PackScalar> Shared<T> {
    pub(crate) fn new(cuda: &Cuda, connectivity: &Connectivity, dim: usize) -> Result<Self, GpuError> {
        let (boundary, all) = (connectivity.boundary_len, connectivity.exterior_len);
        let zeros = |len| DeviceBuffer::zeros(cuda, "diffusive fluxes on boundaries", len);
        Ok(Self {
            jumps: zeros(boundary)?,
            gradients: zeros(boundary * dim)?,
            exterior: zeros(all)?,
            boundary: boundary as u32,
        })
    }

    pub(crate) fn bytes(&self) -> usize {
        self.jumps.bytes() + self.gradients.bytes() + self.exterior.bytes()
    }
}

/// Arrays of a group between the passes.
pub(crate) struct GroupPublished<T: PackScalar> {
    /// The elements' parts of normal fluxes, in the layout of traces, or unknown by unknown if the state is
    /// planar.
    pub(crate) fluxes: DeviceBuffer<T>,
    kept: DeviceBuffer<T>,
    /// Half jumps, if faces and volume have separate kernels; otherwise empty.
    lifted: DeviceBuffer<T>,
    /// The coefficient of the diffusive flux of each slot; empty if it has none.
    coefficients: DeviceBuffer<T>,
    rows: DeviceBuffer<u32>,
    /// The metric at face points of each part.
    metric: Vec<DeviceBuffer<T>>,
    table_len: usize,
    /// Stride between unknowns in `fluxes`.
    pub(crate) field_stride: usize,
    /// Number of unknowns of a row that are contiguous in `fluxes`.
    together: u32,
}

impl<T: PackScalar> GroupPublished<T> {
    pub(crate) fn new(
        cuda: &Cuda,
        group: &Group<T>,
        neighbours: &Neighbours,
        split: bool,
    ) -> Result<Self, OpsError> {
        let empty: &[T] = &[];
        let metric = group
            .parts
            .iter()
            .map(|part| {
                let values = part.lifting.as_ref().map_or(empty, |l| &l.face_metric[..]);
                DeviceBuffer::from_slice(cuda, "metric terms of faces", values)
            })
            .collect::<Result<_, _>>()?;
        let planar = group.state.planar;
        let together = if planar { group.state.fields as u32 } else { 1 };
        let rows: Vec<u32> = neighbours.point_tables.iter().map(|row| row / together).collect();
        Ok(Self {
            field_stride: if planar { group.trace.rows } else { 1 },
            together,
            fluxes: DeviceBuffer::zeros(cuda, "diffusive fluxes", group.trace.len())?,
            lifted: DeviceBuffer::zeros(cuda, "jumps", if split { group.trace.len() } else { 0 })?,
            kept: DeviceBuffer::zeros(cuda, "rows between the passes of diffusion", group.state.len())?,
            coefficients: DeviceBuffer::from_slice(cuda, "coefficients", &group.coefficients)?,
            rows: DeviceBuffer::from_slice(cuda, "neighbours", &rows)?,
            metric,
            table_len: neighbours.table_len,
        })
    }

    /// Offset in a block of `fluxes` of a row of a table of points.
    pub(crate) const fn place(&self, row: u32) -> u32 {
        row / self.together
    }

    /// Address of the coefficients of the diffusive flux, [slot]; `None` if it has none.
    pub(crate) fn coefficients(&self) -> Option<u64> {
        (!self.coefficients.is_empty()).then(|| self.coefficients.ptr())
    }

    /// Adds the [`arguments`](Self::arguments) to those of a kernel.
    pub(crate) fn pass(
        &self,
        args: &mut Args,
        shared: &Shared<T>,
        source: u64,
        part: usize,
        elements: (usize, usize),
    ) {
        let published = self.arguments(shared, source, part, elements);
        match self.coefficients() {
            Some(coefficients) => args.value(WithCoefficients { published, coefficients }),
            None => args.value(published),
        };
    }

    /// The arguments of part `part` for its elements from `first` of `count` on; `source` is the address of
    /// the group's rows of the source, or 0.
    fn arguments(
        &self,
        shared: &Shared<T>,
        source: u64,
        part: usize,
        (first, count): (usize, usize),
    ) -> PublishedArguments {
        let metric = &self.metric[part];
        PublishedArguments {
            jumps: shared.jumps.ptr(),
            gradients: shared.gradients.ptr(),
            fluxes: self.fluxes.ptr(),
            exterior: shared.exterior.ptr(),
            rows: self.rows.ptr(),
            metric: metric.ptr_at(metric.len() / count * first),
            kept: self.kept.ptr(),
            source,
            lifted: self.lifted.ptr(),
            boundary: shared.boundary,
            table_len: self.table_len as u32,
        }
    }

    pub(crate) fn bytes(&self) -> usize {
        let metric: usize = self.metric.iter().map(DeviceBuffer::bytes).sum();
        let own = [&self.fluxes, &self.lifted, &self.kept, &self.coefficients];
        own.map(DeviceBuffer::bytes).iter().sum::<usize>() + self.rows.bytes() + metric
    }
}

/// Builds the text of a universal kernel of diffusion.
fn universal<T: PackScalar>(
    name: &str,
    body: &str,
    of: &Universal<'_, T>,
    stage: u8,
    regions: &[(&'static str, usize)],
) -> KernelText {
    let body = format!("#include \"published.cuh\"\n#line 1 \"{name}\"\n{body}");
    kernel_text::universal(name, &body, of, stage, regions)
}

/// Builds the first pass of a part.
pub(crate) fn gradient<T: PackScalar>(of: &Universal<'_, T>, lifts: &PassFactors) -> KernelText {
    let (s, factors) = (of.of.sizes(), of.factors);
    let (even, odd) = between(&[&lifts.gradient, &lifts.face_gradient, &factors.residual]);
    let volume = s.dim * s.nq + if s.collocated { 0 } else { s.nq };
    let regions = [
        ("JOINED_AT", s.np + s.nf),
        ("GRADIENTS_AT", volume.max(s.dim * s.nf)),
        ("FLUXES_AT", s.dim * s.nq + s.nf),
        ("EVEN_AT", even),
        ("ODD_AT", odd),
    ];
    universal("gradient.cu", include_str!("../chains/gradient.cu"), of, 0, &regions)
}

/// Builds the second pass of a part, alone or with the stage.
pub(crate) fn mean_flux<T: PackScalar>(
    of: &Universal<'_, T>,
    lifts: &PassFactors,
    stage: bool,
) -> KernelText {
    let (s, factors) = (of.of.sizes(), of.factors);
    let weight_adjusted = s.rule == MetricRule::WeightAdjusted;
    let chains = [&lifts.lift, &factors.interp, &factors.project];
    let (even, odd) = between(&chains[..if weight_adjusted { 3 } else { 1 }]);
    let regions = [
        ("FLUXES_AT", s.nf),
        ("RATE_AT", s.np),
        ("POINTS_AT", if weight_adjusted { s.nq } else { 0 }),
        ("EVEN_AT", even),
        ("ODD_AT", odd),
        ("GAIN_AT", usize::from(weight_adjusted)),
    ];
    let stage = u8::from(stage);
    universal("mean_flux.cu", include_str!("../chains/mean_flux.cu"), of, stage, &regions)
}

/// Largest numbers of rows between the factors of chains: after an even and after an odd number of factors.
fn between(chains: &[&Vec<(Rows, usize)>]) -> (usize, usize) {
    let rows = chains.iter().map(|c| widest_between(c)).max().unwrap_or(0);
    (rows, if chains.iter().any(|c| c.len() > 2) { rows } else { 0 })
}
