//! Penalties on the divergence and on jumps of the normal velocity on a device: launches of `penalties.cu`.

use super::universal::{DeviceRows, MATRIX, MatrixArgument};
use super::{CudaSipdg, upload, with_headers};
use crate::elliptic::Sipdg;
use crate::elliptic::device::penalties::DevicePenalties;
use crate::error::OpsError;
use crate::lanes::panel::Rows;
use dgsuite_gpu::cuda::{Args, DeviceBuffer, Function, LaunchConfig, Source};
use dgsuite_gpu::{CudaVector, GpuError, Scalar};

/// Threads of a block, and the most shared memory of one.
const THREADS: usize = 256;
const ROOM: usize = 224 * 1024;

/// The operator
///
/// ```text
/// (v, P u) = Σ_e τ (∇·v, ∇·u) + Σ_f ⟨[v]·n, {c} [u]·n⟩
/// ```
///
/// on the velocities of an operator's space, with one τ and one c for each element, on affine elements. Inner
/// faces have a penalty, boundaries have none. It is symmetric and positive semi-definite.
///
/// # Source
/// Fehn, Wall & Kronbichler, J. Comput. Phys. 372 (2018) 667–693.
pub struct CudaPenalties<T: Scalar> {
    parts: Vec<Part<T>>,
    published: DeviceBuffer<T>,
    dim: usize,
}

/// The structure `Part` of the kernels.
#[repr(C)]
#[derive(Clone, Copy)]
struct PartArgument {
    frame: u64,
    normals: u64,
    sides: u64,
    meets: u64,
    face_of: u64,
    gradient: [MatrixArgument; 3],
    gradient_test: [MatrixArgument; 3],
    trace: MatrixArgument,
    trace_test: MatrixArgument,
    first_row: u64,
    first_point: u64,
    n_elements: u32,
    padding: u32,
    filled: u64,
    n_filled: u64,
}

struct Part<T: Scalar> {
    numbers: [DeviceBuffer<T>; 2],
    tables: [DeviceBuffer<u32>; 3],
    matrices: Vec<DeviceRows<T>>,
    argument: PartArgument,
    publish: Function,
    test: Function,
    config: LaunchConfig,
}

/// The text of a part with the bytes of shared memory of a block and its number of elements; `None` if an
/// element does not fit.
fn text<T: Scalar>(of: &DevicePenalties) -> Option<(Source, usize, usize)> {
    let (part, dim) = (&of.part, of.part.shape.dim());
    let points = of.gradient[0].rows.len();
    let element = (dim * part.np + points + part.nf) * T::BYTES;
    let elements = (THREADS / part.np).clamp(1, 16).min(ROOM / element);
    if elements == 0 {
        return None;
    }
    let width = |m: &Rows| m.rows.iter().map(Vec::len).max().unwrap_or(0);
    let longest = |m: &[Rows]| m.iter().map(width).max().unwrap_or(0);
    let source = with_headers::<T>("penalties.cu", include_str!("penalties/penalties.cu"))
        .header(MATRIX.0, MATRIX.1)
        .define("NP", part.np)
        .define("NF", part.nf)
        .define("DIM", dim)
        .define("FACES", part.n_faces)
        .define("POINTS", points)
        .define("ELEMENTS", elements)
        .define("THREADS", THREADS)
        .define("WIDTH", longest(&of.gradient))
        .define("TEST_WIDTH", longest(&of.gradient_test))
        .define("TRACE_WIDTH", width(&of.trace))
        .define("TRACE_TEST_WIDTH", width(&of.trace_test))
        .define("SHARED_BYTES", elements * element);
    Some((source, elements * element, elements))
}

/// Fills up rows with zeros to a common length.
fn padded(m: &Rows, width: usize) -> Rows {
    let mut m = m.clone();
    m.rows.iter_mut().for_each(|row| row.resize(width, (0, 0.0)));
    m
}

impl<T: Scalar> CudaPenalties<T> {
    /// Sets up the penalties on the space of `operator`; `None` if an element of the mesh is curved
    /// or a pyramid, or does not fit the device's shared memory.
    ///
    /// # Errors
    /// As for [`CudaSipdg::new`].
    pub(super) fn new(operator: &CudaSipdg<T>, host: &Sipdg<f64>) -> Result<Option<Self>, OpsError> {
        let cuda = &operator.cuda;
        let layout = host.device_layout()?;
        let Some(of_host) = host.device_penalties(&layout) else { return Ok(None) };
        let mut parts = Vec::new();
        let dim = host.mesh().dim;
        for of in &of_host {
            let Some((source, shared, elements)) = text::<T>(of) else { return Ok(None) };
            let module = cuda.compile(&source)?;
            let (publish, test) = (module.function("penalties_publish")?, module.function("penalties_test")?);
            test.set_max_dynamic_shared(shared)?;
            let part = &of.part;
            let what = "the geometry of penalties";
            let numbers = [upload(cuda, what, &of.frame)?, upload(cuda, what, &of.normals)?];
            let table = |values: &[u32]| DeviceBuffer::from_slice(cuda, "an operator's neighbours", values);
            let tables = [table(part.sides.as_flattened())?, table(&part.meets)?, table(&part.face_of)?];
            let longest = |all: &[Rows]| all.iter().flat_map(|m| &m.rows).map(Vec::len).max().unwrap_or(0);
            let of_directions = [&of.gradient, &of.gradient_test].map(|m| (m.iter(), longest(m))).into_iter();
            let directions = of_directions.flat_map(|(all, width)| all.map(move |m| padded(m, width)));
            let matrices = directions
                .chain([of.trace.clone(), of.trace_test.clone()])
                .map(|m| DeviceRows::new(cuda, &m))
                .collect::<Result<Vec<_>, _>>()?;
            let direction = |from: usize| std::array::from_fn(|d| matrices[from + d.min(dim - 1)].argument());
            let last = part.first_row + part.elements.len() * part.np == layout.real;
            let argument = PartArgument {
                frame: numbers[0].ptr(),
                normals: numbers[1].ptr(),
                sides: tables[0].ptr(),
                meets: tables[1].ptr(),
                face_of: tables[2].ptr(),
                gradient: direction(0),
                gradient_test: direction(dim),
                trace: matrices[2 * dim].argument(),
                trace_test: matrices[2 * dim + 1].argument(),
                first_row: part.first_row as u64,
                first_point: part.first_point as u64,
                n_elements: part.elements.len() as u32,
                padding: 0,
                filled: layout.real as u64,
                n_filled: if last { layout.rows.len() - layout.real } else { 0 } as u64,
            };
            let blocks = part.elements.len().div_ceil(elements);
            let config = LaunchConfig::new(blocks as u32, THREADS as u32).shared(shared as u32).early(true);
            parts.push(Part { numbers, tables, matrices, argument, publish, test, config });
        }
        let published = DeviceBuffer::zeros(cuda, "the traces of penalties", 2 * layout.points)?;
        Ok(Some(Self { parts, published, dim }))
    }

    /// The texts of the kernels, as they are compiled; empty where [`CudaSipdg::penalties`] is `None`.
    ///
    /// # Errors
    /// As for [`CudaSipdg::texts`].
    pub fn texts(host: &Sipdg<f64>) -> Result<Vec<Source>, OpsError> {
        let parts = host.device_penalties(&host.device_layout()?).unwrap_or_default();
        Ok(parts.iter().filter_map(|of| Some(text::<T>(of)?.0)).collect())
    }

    /// Computes `out ← factor P u` for the components of a velocity, in the order of the operator's vectors;
    /// `τ` and `c` are vectors with the same number at all entries of an element. Entries that belong to no
    /// element become zero. Consists of launches only, which a graph can record if the operator
    /// [is recordable](CudaSipdg::is_recordable). Collective on several ranks.
    ///
    /// # Errors
    /// [`GpuError::Length`] if a length is not the operator's, and errors of launches and messages.
    ///
    /// # Panics
    /// If there are not as many components as dimensions.
    #[track_caller]
    pub fn apply(
        &self,
        operator: &CudaSipdg<T>,
        [tau, jump]: [&CudaVector<T>; 2],
        factor: f64,
        u: &[CudaVector<T>],
        out: &mut [CudaVector<T>],
    ) -> Result<(), GpuError> {
        assert!(u.len() == self.dim && out.len() == self.dim, "a velocity of {} components", self.dim);
        for vector in u.iter().chain(&*out).chain([tau, jump]) {
            operator.check("applying penalties", vector.buffer().len())?;
        }
        let addresses = |of: &[CudaVector<T>]| -> [u64; 3] {
            std::array::from_fn(|d| of.get(d).map_or(0, |x| x.buffer().ptr()))
        };
        let cuda = &operator.cuda;
        let mut args = Args::new();
        for part in &self.parts {
            args.clear();
            args.value(part.argument).value(addresses(u)).buffer(jump.buffer()).buffer(&self.published);
            // SAFETY: the arguments are those of the kernel, whose tables lead to rows of vectors of the
            // operator's length, which was checked.
            unsafe { cuda.launch(&part.publish, part.config.shared(0), &args)? };
        }
        for part in &self.parts {
            args.clear();
            args.value(part.argument).value(addresses(u)).buffer(tau.buffer()).buffer(&self.published);
            args.value(addresses(out)).value(factor);
            // SAFETY: as above.
            unsafe { cuda.launch(&part.test, part.config, &args)? };
        }
        out.iter_mut().try_for_each(|component| operator.refresh(component))
    }

    /// Memory on the device in bytes.
    #[must_use]
    pub fn bytes(&self) -> usize {
        let of_part = |p: &Part<T>| {
            p.numbers.iter().map(DeviceBuffer::bytes).sum::<usize>()
                + p.tables.iter().map(DeviceBuffer::bytes).sum::<usize>()
                + p.matrices.iter().map(DeviceRows::bytes).sum::<usize>()
        };
        self.parts.iter().map(of_part).sum::<usize>() + self.published.bytes()
    }
}
