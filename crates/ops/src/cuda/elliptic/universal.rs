//! Launches of `elliptic.cu`: any elements, two kernels for each part, from the host's tables. They also
//! complete the results of the kernel of simplices where a mesh has other elements as well.

use super::reaction::ReactionTable;
use super::simplex::{Finish, STEP};
use crate::cuda::elliptic::{upload, with_headers};
use crate::elliptic::device::{DeviceLayout, DevicePart};
use crate::error::OpsError;
use crate::lanes::panel::Rows;
use dgsuite_gpu::cuda::{Args, Cuda, DeviceBuffer, Function, LaunchConfig, Source};
use dgsuite_gpu::{GpuError, Scalar};

/// Shared memory of a block that allows several blocks per multiprocessor, and the largest that is available.
const ROOM: [usize; 2] = [48 * 1024, 224 * 1024];

/// Rows of equal length on a device, `[entry][row]`.
pub(super) struct DeviceRows<T: Scalar> {
    values: DeviceBuffer<T>,
    columns: DeviceBuffer<u32>,
    rows: usize,
    width: usize,
}

/// The header of the structure `Matrix`.
pub(super) const MATRIX: (&str, &str) = ("matrix.cuh", include_str!("headers/matrix.cuh"));

/// The structure `Matrix` of the kernels.
#[repr(C)]
#[derive(Clone, Copy)]
pub(super) struct MatrixArgument {
    values: u64,
    columns: u64,
    rows: u32,
    width: u32,
}

impl MatrixArgument {
    /// Addresses of values and columns.
    pub(super) fn addresses(self) -> [u64; 2] {
        [self.values, self.columns]
    }
}

impl<T: Scalar> DeviceRows<T> {
    pub(super) fn new(cuda: &Cuda, m: &Rows) -> Result<Self, GpuError> {
        let (rows, width) = (m.rows.len(), m.rows.iter().map(Vec::len).max().unwrap_or(0));
        let mut values = vec![T::ZERO; rows * width];
        let mut columns = vec![0_u32; rows * width];
        for (i, row) in m.rows.iter().enumerate() {
            for (j, (column, v)) in row.iter().enumerate() {
                values[j * rows + i] = T::from_f64(*v);
                columns[j * rows + i] = *column as u32;
            }
        }
        let values = DeviceBuffer::from_slice(cuda, "an operator's matrix", &values)?;
        let columns = DeviceBuffer::from_slice(cuda, "an operator's matrix", &columns)?;
        Ok(Self { values, columns, rows, width })
    }

    pub(super) fn argument(&self) -> MatrixArgument {
        let (rows, width) = (self.rows as u32, self.width as u32);
        MatrixArgument { values: self.values.ptr(), columns: self.columns.ptr(), rows, width }
    }

    /// Entries of a row.
    pub(super) fn width(&self) -> usize {
        self.width
    }

    pub(super) fn bytes(&self) -> usize {
        self.values.bytes() + self.columns.bytes()
    }
}

/// Number of elements that a block processes, and how rows are distributed.
#[derive(Clone, Copy)]
pub(super) struct Blocks {
    pub(super) elements: usize,
    pub(super) chunk: usize,
    pub(super) threads: usize,
}

impl Blocks {
    /// For elements that need `per_element` bytes of shared memory and whose products have about `rows` rows;
    /// `None` if not even one element fits.
    pub(super) fn new(rows: usize, per_element: usize) -> Option<Self> {
        let threads: usize = if rows > 256 { 256 } else { 128 };
        // Enough elements to occupy the threads, four for each row.
        let wanted = (threads * 4).div_ceil(rows).next_multiple_of(4);
        let fits = |room: usize| room / per_element;
        let few = |most: usize, chunk: usize| most / chunk * chunk;
        let most = fits(ROOM[0]);
        let (elements, chunk) = match (most, fits(ROOM[1])) {
            (4.., _) => (wanted.min(few(most, 4)), 4),
            (_, 4..) => (4, 4),
            (_, 2..) => (2, 2),
            (_, 1) => (1, 1),
            _ => return None,
        };
        Some(Self { elements, chunk, threads })
    }
}

/// The structure `Part` of the kernels.
#[repr(C)]
#[derive(Clone, Copy)]
struct PartArgument {
    metric: u64,
    face: u64,
    sides: u64,
    meets: u64,
    face_of: u64,
    numbers: u64,
    matrices: [MatrixArgument; 5],
    first_row: u64,
    first_point: u64,
    n_elements: u32,
    padding: u32,
    copied: u64,
    n_copied: u64,
}

struct Part<T: Scalar> {
    numbers: [DeviceBuffer<T>; 2],
    tables: [DeviceBuffer<u32>; 4],
    matrices: [DeviceRows<T>; 5],
    argument: PartArgument,
    /// Number of elements to which the operator is applied.
    tested: usize,
    /// Numbers of a row of the metric that ends with the reaction, if there is one.
    with_reaction: Option<usize>,
    publish: (Function, LaunchConfig),
    test: (Function, LaunchConfig),
}

/// The kernels of all parts, and the published values.
pub(super) struct Universal<T: Scalar> {
    parts: Vec<Part<T>>,
    published: DeviceBuffer<T>,
}

/// The text of a part and the shared memory of its two kernels.
fn text<T: Scalar>(part: &DevicePart) -> Result<(Source, Blocks, [usize; 2]), OpsError> {
    let dim = part.shape.dim();
    let skew = !part.tangential.rows.is_empty();
    let along = if skew { (dim - 1) * part.nf } else { 0 };
    let columns = dim * part.n_points + part.n_values + 2 * part.nf;
    let numbers = [part.np + 2 * part.nf + along, part.np + columns + along];
    let rows = part.np.max(dim * part.n_points);
    let blocks = Blocks::new(rows, numbers[0].max(numbers[1]) * T::BYTES).ok_or_else(|| {
        let reason = format!("an element of order {} does not fit a device's shared memory", part.order);
        OpsError::Elliptic { reason }
    })?;
    let shared = numbers.map(|n| n * blocks.elements * T::BYTES);
    let source = with_headers::<T>("elliptic.cu", include_str!("elliptic.cu"))
        .define("NP", part.np)
        .define("NF", part.nf)
        .define("DIM", dim)
        .define("FACES", part.n_faces)
        .define("POINTS", part.n_points)
        .define("VALUES", part.n_values)
        .define("ENTRIES", part.entries)
        .header(STEP.0, STEP.1)
        .header(MATRIX.0, MATRIX.1)
        .define("LISTED", u8::from(!part.numbers.is_empty()))
        .define("PER_POINT", u8::from(part.per_point))
        .define("SKEW", u8::from(skew))
        .define("ELEMENTS", blocks.elements)
        .define("CHUNK", blocks.chunk)
        .define("THREADS", blocks.threads)
        .define("PUBLISH_BYTES", shared[0])
        .define("SHARED_BYTES", shared[1]);
    Ok((source, blocks, shared))
}

impl<T: Scalar> Universal<T> {
    /// The kernels of the parts `of_host`. With `whole` these are all elements, and the first kernel also
    /// copies the rows that belong to none.
    pub(super) fn new(
        cuda: &Cuda,
        layout: &DeviceLayout,
        of_host: &[DevicePart],
        whole: bool,
    ) -> Result<Self, OpsError> {
        let mut parts = Vec::new();
        for part in of_host {
            let (source, blocks, shared) = text::<T>(part)?;
            let module = cuda.compile(&source)?;
            let kernel =
                |name: &str, n: usize, shared: usize| -> Result<(Function, LaunchConfig), GpuError> {
                    let function = module.function(name)?;
                    function.set_max_dynamic_shared(shared)?;
                    let n = n.div_ceil(blocks.elements);
                    let config = LaunchConfig::new(n as u32, blocks.threads as u32).shared(shared as u32);
                    Ok((function, config.early(true)))
                };
            let numbers = [
                upload(cuda, "the metric of an operator", &part.metric)?,
                upload(cuda, "the faces of an operator", &part.face)?,
            ];
            let table = |values: &[u32]| DeviceBuffer::from_slice(cuda, "an operator's neighbours", values);
            let tables_of = [
                table(part.sides.as_flattened())?,
                table(&part.meets)?,
                table(&part.face_of)?,
                table(&part.numbers)?,
            ];
            let matrix = |m: &Rows| DeviceRows::new(cuda, m);
            let matrices = [
                matrix(&part.publish)?,
                matrix(&part.tangential)?,
                matrix(&part.tangential_test)?,
                matrix(&part.gradient)?,
                matrix(&part.test)?,
            ];
            let last = whole && part.first_row + part.elements.len() * part.np == layout.real;
            let argument = PartArgument {
                metric: numbers[0].ptr(),
                face: numbers[1].ptr(),
                sides: tables_of[0].ptr(),
                meets: tables_of[1].ptr(),
                face_of: tables_of[2].ptr(),
                numbers: tables_of[3].ptr(),
                matrices: std::array::from_fn(|i| matrices[i].argument()),
                first_row: part.first_row as u64,
                first_point: part.first_point as u64,
                n_elements: part.elements.len() as u32,
                padding: 0,
                copied: layout.real as u64,
                n_copied: if last { layout.rows.len() - layout.real } else { 0 } as u64,
            };
            let publish = kernel("elliptic_publish", part.elements.len(), shared[0])?;
            let test = kernel("elliptic_test", part.tested, shared[1])?;
            let with_reaction = (part.n_values > 0).then_some(part.entries);
            let tables = tables_of;
            let tested = part.tested;
            parts.push(Part { numbers, tables, matrices, argument, tested, with_reaction, publish, test });
        }
        let published = DeviceBuffer::zeros(cuda, "the traces of an operator", 2 * layout.points)?;
        Ok(Self { parts, published })
    }

    /// The text of a part.
    pub(super) fn text(part: &DevicePart) -> Result<Source, OpsError> {
        Ok(text::<T>(part)?.0)
    }

    pub(super) fn apply(
        &self,
        cuda: &Cuda,
        u: &DeviceBuffer<T>,
        au: &mut DeviceBuffer<T>,
        finish: Option<Finish<'_, T>>,
    ) -> Result<(), GpuError> {
        let mut args = Args::new();
        for part in &self.parts {
            args.clear();
            args.value(part.argument).buffer(u).buffer(&self.published);
            // SAFETY: the arguments are those of the kernel, whose tables lead to rows of vectors of the
            // operator's length, which was checked.
            unsafe { cuda.launch(&part.publish.0, part.publish.1, &args)? };
        }
        for part in &self.parts {
            args.clear();
            args.value(PartArgument { n_elements: part.tested as u32, ..part.argument });
            args.buffer(u).buffer(&self.published).buffer(au).value(finish.map_or(0.0, |f| f.beta));
            args.pointer(finish.and_then(|f| f.inverse_diagonal).map_or(0, DeviceBuffer::ptr));
            args.pointer(finish.map_or(0, |f| f.b.ptr()));
            // SAFETY: as above.
            unsafe { cuda.launch(&part.test.0, part.test.1, &args)? };
        }
        Ok(())
    }

    /// The tables that contain the reaction.
    pub(super) fn reaction_tables(&self) -> Vec<ReactionTable> {
        let of_part = |p: &Part<T>| Some(ReactionTable::new(&p.numbers[0], p.with_reaction?));
        self.parts.iter().filter_map(of_part).collect()
    }

    pub(super) fn bytes(&self) -> usize {
        let of_part = |p: &Part<T>| {
            p.numbers.iter().map(DeviceBuffer::bytes).sum::<usize>()
                + p.tables.iter().map(DeviceBuffer::bytes).sum::<usize>()
                + p.matrices.iter().map(DeviceRows::bytes).sum::<usize>()
        };
        self.parts.iter().map(of_part).sum::<usize>() + self.published.bytes()
    }

    /// Bytes that an application moves besides its vectors: `u` is read twice.
    pub(super) fn bytes_moved(&self) -> usize {
        let of_part = |p: &Part<T>| {
            let n = p.argument.n_elements as usize;
            let vector = n * p.matrices[4].rows * T::BYTES;
            // Two numbers of a point, written and read; rows of the first matrix are twice the points.
            let published = 2 * n * p.matrices[0].rows * T::BYTES;
            let faces = 2 * p.numbers[1].bytes();
            vector + published + faces + p.numbers[0].bytes() + p.tables[0].bytes()
        };
        self.parts.iter().map(of_part).sum::<usize>()
    }
}
