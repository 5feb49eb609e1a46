//! Source terms on a device: evaluated by a kernel if they change with time, otherwise by the host.
//!
//! The host also evaluates sources whose formulas cannot be translated.

use crate::cuda::parts::device_group::{DeviceGroup, Kernel};
use crate::cuda::terms::boundary::Accrual;
use crate::cuda::text::kernel_text::{KernelText, LaunchShape, LawText, SHARED_LIMIT, parameter_values};
use crate::cuda::text::setting::{File, Setting};
use crate::error::OpsError;
use crate::lanes::simd::PackScalar;
use crate::rhs::source::SourceTerm;
use crate::space::group::Group;
use dgsuite_gpu::GpuError;
use dgsuite_gpu::cuda::{Args, Cuda, DeviceBuffer};
use dgsuite_physics::Source;

/// Threads of a block.
const THREADS: usize = 128;

/// The kernel of one part, and its arrays.
struct SourcePart {
    kernel: Kernel,
    group: usize,
    /// Positions of the volume points, `[slot][point]`.
    position: DeviceBuffer<f64>,
    /// Π by columns.
    project: DeviceBuffer<f64>,
    part: usize,
}

/// The source of a discretisation on the device.
pub(crate) struct DeviceSource {
    /// All parts, if the device evaluates the source; otherwise empty.
    parts: Vec<SourcePart>,
    parameters: Vec<f64>,
    /// Time of the rows that the host has copied.
    time: Option<f64>,
    args: Args,
}

/// The law with the formulas of the source; `None` if they cannot be translated together.
fn with_source(law: &LawText, source: &dyn Source) -> Option<LawText> {
    law.with(|parameters| source.device_source(parameters)).ok()
}

/// Builds the text of a part's kernel; `None` if an element's points do not fit into a block.
fn text<T: PackScalar>(of: &Setting<'_, T>) -> Option<KernelText> {
    let sizes = of.sizes();
    let elements = (THREADS / sizes.np.max(sizes.nq)).max(1);
    let shared = elements * sizes.nq * sizes.fields * size_of::<f64>();
    if shared > SHARED_LIMIT {
        return None;
    }
    let file = File { name: "source_term.cu", text: include_str!("source_term.cu"), headers: &[] };
    let source = of
        .wide_with_sizes(file, &sizes)
        .define("BLOCK", THREADS)
        .define("ELEMENTS", elements)
        .define("STAGE", 0);
    let shape = LaunchShape { threads: THREADS, elements, shared, work: 0, persistent: false };
    Some(KernelText::new(source, shape, true))
}

/// The texts of all parts, by group and part, if the device evaluates the source: if it changes with time and
/// can be translated.
pub(crate) fn source_term_texts<T: PackScalar>(
    law: &LawText,
    source: &SourceTerm<T>,
    groups: &[Group<T>],
) -> Option<(LawText, Vec<(usize, usize, KernelText)>)> {
    if source.is_steady() {
        return None;
    }
    let law = with_source(law, source.formulas())?;
    let parts = groups.iter().enumerate().flat_map(|(g, group)| {
        let law = &law;
        group
            .parts
            .iter()
            .enumerate()
            .map(move |(i, part)| Some((g, i, text(&Setting { law, group, part })?)))
    });
    let texts = parts.collect::<Option<Vec<_>>>()?;
    Some((law, texts))
}

impl DeviceSource {
    pub(crate) fn new<T: PackScalar>(
        cuda: &Cuda,
        law: &LawText,
        source: &SourceTerm<T>,
        groups: &[Group<T>],
    ) -> Result<Self, OpsError> {
        const WHAT: &str = "the source";
        let (mut parts, mut parameters) = (Vec::new(), Vec::new());
        if let Some((law, texts)) = source_term_texts(law, source, groups) {
            parameters = parameter_values(&law.parameters);
            for (group, i, text) in texts {
                let part = &groups[group].parts[i];
                let matrix = &part.reference.project_volume;
                let columns: Vec<f64> = (0..matrix.cols())
                    .flat_map(|q| (0..matrix.rows()).map(move |i| matrix[(i, q)]))
                    .collect();
                let columns = if part.collocated { &[][..] } else { &columns };
                parts.push(SourcePart {
                    kernel: Kernel::new(cuda, &text, "source_rows", part.n_elements)?,
                    group,
                    position: DeviceBuffer::from_slice(
                        cuda,
                        WHAT,
                        source.points_of(group, i).as_flattened(),
                    )?,
                    project: DeviceBuffer::from_slice(cuda, WHAT, columns)?,
                    part: i,
                });
            }
        }
        Ok(Self { parts, parameters, time: None, args: Args::new() })
    }

    /// Whether the device evaluates the source.
    pub(crate) fn is_moving(&self) -> bool {
        !self.parts.is_empty()
    }

    pub(crate) fn bytes(&self) -> usize {
        self.parts.iter().map(|part| part.position.bytes() + part.project.bytes()).sum()
    }

    /// Updates the rows to the time of a stage, unless they are up to date.
    pub(crate) fn update<T: PackScalar>(
        &mut self,
        cuda: &Cuda,
        when: Accrual,
        source: &mut SourceTerm<T>,
        host: &dgsuite_gpu::Host,
        description: &[Group<T>],
        groups: &mut [DeviceGroup<T>],
    ) -> Result<(), GpuError> {
        for own in &self.parts {
            let rows = groups[own.group].given_rows().ptr();
            let group = &groups[own.group];
            let part = &group.parts[own.part];
            self.args.clear();
            self.args.buffer(&own.position).buffer(&part.inverse_jacobian).buffer(&own.project);
            self.args.pointer(rows).pointer(when.clock).value(when.time).value(when.part);
            self.args.value(part.first as u32).value(part.count as u32).slice(&self.parameters);
            // SAFETY: the arguments are the kernel's; positions are those of the part's points, rows those of
            // its group.
            unsafe { own.kernel.launch(cuda, &self.args)? };
        }
        if self.is_moving() || self.time.is_some_and(|last| last == when.time || source.is_steady()) {
            return Ok(());
        }
        source.update(when.time, description, host);
        for (group, rows) in groups.iter_mut().zip(&source.rows) {
            group.given_rows().upload(rows)?;
        }
        self.time = Some(when.time);
        Ok(())
    }
}
