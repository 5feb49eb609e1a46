//! Point Jacobi with linelets on a device: launches of `elliptic_linelets.cu`.

mod conforming;
mod step;

use self::conforming::CudaConforming;
use self::step::Steps;
use super::ranks::CudaRefresh;
use super::transfer::Step;
use super::{CudaSipdg, upload, with_headers};
use crate::elliptic::LineletInverse;
use crate::error::OpsError;
use dgsuite_gpu::cuda::{Args, Cuda, DeviceBuffer, Function, LaunchConfig, Source};
use dgsuite_gpu::{CudaVector, GpuError, Scalar, Vector as _};
use std::sync::Arc;

/// Threads of a block, and of one for a line in shared memory.
const THREADS: u32 = 64;
const LINE_THREADS: u32 = 128;

/// The largest number of unknowns of an element of lines that are solved in shared memory, and the bytes that
/// these have for their blocks.
const SMALL: usize = 32;
const BLOCK_BYTES: usize = 24 * 1024;

/// The largest number of elements of such a line that are brought to shared memory at a time, and of elements
/// of a line with nodal functions that a thread loads at a time.
const MOST_AT_A_TIME: usize = 64;
const STEPS: usize = 8;

/// Marks an element without a linelet, and a member whose functions are dense.
const NONE: u32 = u32::MAX;

/// Marks the number of rows of a member whose basis changes.
const CHANGED: u32 = 1 << 31;

/// What kernels know of an element of a line.
const HEADER: (&str, &str) = ("linelets.cuh", include_str!("headers/linelets.cuh"));

/// The smoother of [`LineletInverse`] on a device. Rows that fill up the host's blocks are copied.
pub struct CudaLinelets<T: Scalar> {
    cuda: Cuda,
    len: usize,
    /// Number of rows of elements.
    real: usize,
    parts: Vec<Part<T>>,
    members: DeviceBuffer<u32>,
    restrict: Function,
    /// Places of unknowns, of which each member has as many as that with the most.
    places_of_all: usize,
    /// First member and end of each line: of those whose members have the same number of dense functions, of
    /// others with dense functions, and of those with nodal ones.
    equal: Lines,
    dense: Lines,
    nodal: Lines,
    /// Systems of a line with nodal functions.
    count: usize,
    values: DeviceBuffer<T>,
    places: DeviceBuffer<u32>,
    /// The nodes of each number along the layer, in the order across it.
    nodes: DeviceBuffer<u32>,
    systems: DeviceBuffer<u32>,
    numbers: DeviceBuffer<u32>,
    linear: DeviceBuffer<T>,
    factors: DeviceBuffer<T>,
    diagonal: CudaVector<T>,
    unknowns: DeviceBuffer<T>,
    /// The residual of the Gauss–Lobatto basis; its other rows are not used.
    changed: CudaVector<T>,
    /// The continuous functions.
    conforming: Option<CudaConforming<T>>,
    /// Whether the operator's nodes are those of the smoother on all elements, and there are no lines.
    plain: bool,
    /// Whole steps of a smoother, where all elements change their basis.
    steps: Option<Steps<T>>,
    refresh: Option<Arc<CudaRefresh>>,
}

/// The tables of `Functions` in the kernels.
#[repr(C)]
#[derive(Clone, Copy)]
struct FunctionTables([u64; 6]);

struct Lines {
    ends: DeviceBuffer<u32>,
    n: usize,
    solve: Function,
}

/// The elements of one shape.
struct Part<T: Scalar> {
    first_row: usize,
    rows: usize,
    member: DeviceBuffer<u32>,
    add: Function,
    /// The changes of basis, inwards and outwards.
    change: Option<[Step<T>; 2]>,
}

impl<T: Scalar> CudaLinelets<T> {
    pub(super) fn new(operator: &CudaSipdg<T>, host: &LineletInverse<f64>) -> Result<Self, OpsError> {
        let cuda = &operator.cuda;
        let refuse = |reason: &str| OpsError::Elliptic { reason: reason.to_owned() };
        let tables = host.device_tables(operator.order)?;
        if tables.diagonal.len() != operator.len() {
            return Err(refuse("the linelets are not of this operator"));
        }
        let n_lists = tables.values.len().max(tables.n_unknowns).max(tables.members.len());
        if u32::try_from(n_lists).is_err() {
            return Err(refuse("the linelets have more than 2^32 unknowns"));
        }
        let along = operator.order + 1;
        let most = tables.members.iter().map(|m| m.n).max().unwrap_or(1);
        let count = operator.spans.iter().map(|s| s.np / along).max().unwrap_or(1);
        let any_nodal = tables.members.iter().any(|m| m.turn.is_some());
        let width = if any_nodal { most.max(2 * count) } else { most };
        // Lines that are solved in shared memory.
        let in_shared = |m: &std::ops::Range<usize>| {
            let members = &tables.members[m.clone()];
            members[0].n <= SMALL && members.iter().all(|other| other.n == members[0].n)
        };
        let equal = tables.lines.iter().filter(|(m, nodal)| !nodal && in_shared(m));
        let small = equal.map(|(m, _)| tables.members[m.start].n).max().unwrap_or(1);
        let batch = (BLOCK_BYTES / (small * (small | 1) * size_of::<T>())).clamp(1, MOST_AT_A_TIME);
        let text = |np: usize| {
            with_headers::<T>("elliptic_linelets.cu", include_str!("linelets/elliptic_linelets.cu"))
                .header(HEADER.0, HEADER.1)
                .define("THREADS", THREADS)
                .define("LINE_THREADS", LINE_THREADS)
                .define("MOST", most)
                .define("WIDTH", width)
                .define("SMALL", small)
                .define("BATCH", batch)
                .define("STEPS", STEPS)
                .define("COUNT", count)
                .define("ALONG", along)
                .define("NP", np)
        };
        // A member is a struct of a number of 64 bits and six of 32.
        let mut members = Vec::with_capacity(8 * tables.members.len());
        let mut of_row: Vec<(u32, u32)> = Vec::with_capacity(tables.members.len());
        for (k, m) in tables.members.iter().enumerate() {
            let row = operator.rows[m.entry];
            let factor = m.factor as u64;
            let turn = m.turn.map_or(NONE, |turn| turn as u32);
            let changes = tables.changes[m.group].1.is_some();
            let nodes = m.nodes as u32 | if changes { CHANGED } else { 0 };
            members.extend([factor as u32, (factor >> 32) as u32, row, nodes]);
            members.extend([m.start as u32, m.n as u32, m.reduced as u32, turn]);
            of_row.push((row, k as u32));
        }
        let mut parts = Vec::new();
        for span in &operator.spans {
            let change = tables.changes.iter().find(|(shape, _)| *shape == span.shape);
            let (first, rows) = (span.first_row, span.n_elements * span.np);
            let mut member = vec![NONE; span.n_elements];
            for (row, k) in &of_row {
                let row = *row as usize;
                if (first..first + rows).contains(&row) {
                    member[(row - first) / span.np] = *k;
                }
            }
            let step = |factors: &Vec<_>| Step::new(cuda, factors, [first, first], span.n_elements, false);
            let change = match change {
                Some((_, Some([inwards, outwards]))) => Some([step(inwards)?, step(outwards)?]),
                _ => None,
            };
            parts.push(Part {
                first_row: first,
                rows,
                member: DeviceBuffer::from_slice(cuda, "the linelet of each element", &member)?,
                add: cuda.compile(&text(span.np))?.function("linelets_add")?,
                change,
            });
        }
        let module = cuda.compile(&text(1))?;
        let lines = |name: &str, wanted: &dyn Fn(&(std::ops::Range<usize>, bool)) -> bool| {
            let of = tables.lines.iter().filter(|line| wanted(line));
            let ends: Vec<u32> = of.flat_map(|(m, _)| [m.start as u32, m.end as u32]).collect();
            let solve = module.function(name)?;
            let n = ends.len() / 2;
            let ends = DeviceBuffer::from_slice(cuda, "the ends of linelets", &ends)?;
            Ok::<_, OpsError>(Lines { ends, n, solve })
        };
        let equal = lines("linelets_equal", &|(m, nodal)| !nodal && in_shared(m))?;
        let dense = lines("linelets_dense", &|(m, nodal)| !nodal && !in_shared(m))?;
        let nodal = lines("linelets_nodal", &|(_, nodal)| *nodal)?;
        // The reverse of `places`, table by table.
        let mut nodes = vec![0; tables.places.len()];
        for (first, table) in tables.places.chunks(count * along).enumerate() {
            for (node, place) in table.iter().enumerate() {
                let (j, k) = ((place >> 8) as usize, (place & 255) as usize);
                nodes[first * count * along + j * along + k] = node as u32;
            }
        }
        let steps = if host.of_one_shape {
            let text =
                |source: Source| source.define("COUNT", count).define("ALONG", along).define("WIDTH", width);
            Steps::new(cuda, &operator.spans, &tables.changes, &text)?
        } else {
            None
        };
        let list = |numbers: &[u32]| DeviceBuffer::from_slice(cuda, "linelets", numbers);
        let diagonal = operator.upload(&tables.diagonal)?;
        let zeros = vec![T::ZERO; operator.len()];
        let changed = CudaVector::from_buffer(cuda, DeviceBuffer::from_slice(cuda, "a residual", &zeros)?)?;
        Ok(Self {
            cuda: cuda.clone(),
            len: operator.len(),
            real: operator.real,
            parts,
            members: list(&members)?,
            restrict: module.function("linelets_restrict")?,
            places_of_all: width * tables.members.len(),
            equal,
            dense,
            nodal,
            count,
            values: upload(cuda, "the functions of linelets", &tables.values)?,
            places: list(&tables.places)?,
            nodes: list(&nodes)?,
            systems: list(&tables.systems)?,
            numbers: list(&tables.numbers)?,
            linear: upload(cuda, "the functions of linelets", &tables.linear)?,
            factors: upload(cuda, "the factors of linelets", tables.factors)?,
            diagonal,
            unknowns: DeviceBuffer::from_slice(
                cuda,
                "the unknowns of linelets",
                &vec![T::ZERO; tables.n_unknowns],
            )?,
            changed,
            conforming: host.conforming.as_ref().map(|of| CudaConforming::new(operator, of)).transpose()?,
            plain: host.keeps_nodes && !host.has_lines,
            steps,
            refresh: operator.refresh.clone(),
        })
    }

    /// Memory on the device in bytes.
    #[must_use]
    pub fn bytes(&self) -> usize {
        let numbers = self.values.bytes() + self.factors.bytes() + self.unknowns.bytes();
        let lists = self.members.bytes() + self.places.bytes() + self.nodes.bytes();
        let conforming = self.conforming.as_ref().map_or(0, CudaConforming::bytes);
        conforming + numbers + lists + 2 * self.diagonal.buffer().bytes()
    }

    /// Computes `z ← B r`. Consists of launches only, which a graph can record as those of the operator.
    /// Collective on several ranks.
    ///
    /// # Errors
    /// [`GpuError::Length`] if a length is not the operator's, and errors of launches and messages.
    pub fn apply(&mut self, r: &CudaVector<T>, z: &mut CudaVector<T>) -> Result<(), GpuError> {
        for found in [r.buffer().len(), z.buffer().len()] {
            if found != self.len {
                return Err(GpuError::Length { doing: "applying linelets", wanted: self.len, found });
            }
        }
        let changes = self.parts.iter().any(|part| part.change.is_some());
        if self.conforming.is_some() && changes && self.parts.iter().any(|part| part.change.is_none()) {
            // The functions are summed over elements of both kinds.
            self.changed.copy_from(r);
        }
        for part in &self.parts {
            if let Some([inwards, _]) = &part.change {
                inwards.launch(&self.cuda, r, &mut self.changed)?;
            }
        }
        self.restrict(r)?;
        self.solve()?;
        let [function, sums] = match &self.conforming {
            Some(conforming) => {
                let from = if changes { &self.changed } else { r };
                conforming.sum(&self.cuda, [from.buffer().ptr(), 0])?;
                conforming.addresses()
            }
            None => [0; 2],
        };
        for part in &self.parts {
            let last = part.first_row + part.rows == self.real;
            let copied = if last { self.len - self.real } else { 0 };
            let from = if part.change.is_some() { self.changed.buffer() } else { r.buffer() };
            let to = if part.change.is_some() { self.changed.buffer() } else { z.buffer() };
            let mut args = Args::new();
            args.buffer(&self.members).buffer(&part.member).value(self.functions()).buffer(&self.unknowns);
            args.buffer(self.diagonal.buffer()).buffer(from).buffer(to).buffer(r.buffer()).buffer(z.buffer());
            args.value(part.first_row as u64).value(part.rows as u64);
            args.value(self.real as u64).value(copied as u64);
            args.value(function).value(sums).value(T::from_f64(LineletInverse::<f64>::WEIGHT));
            let config = LaunchConfig::cover(part.rows.max(copied), THREADS).early(true);
            // SAFETY: the arguments are those of the kernel; the vectors have the operator's length.
            unsafe { self.cuda.launch(&part.add, config, &args)? };
            if let Some([_, outwards]) = &part.change {
                outwards.launch(&self.cuda, &self.changed, z)?;
            }
        }
        // Lines of elements of other ranks are not known here.
        self.refresh.as_ref().map_or(Ok(()), |refresh| refresh.run(&self.cuda, z.buffer_mut()))
    }

    fn functions(&self) -> FunctionTables {
        let [values, linear] = [&self.values, &self.linear].map(DeviceBuffer::ptr);
        let lists = [&self.nodes, &self.numbers, &self.places, &self.systems].map(DeviceBuffer::ptr);
        let [nodes, numbers, places, systems] = lists;
        FunctionTables([values, nodes, numbers, places, systems, linear])
    }

    /// Solves the systems of all lines.
    fn solve(&self) -> Result<(), GpuError> {
        self.solve_dense(&self.equal, LINE_THREADS)?;
        self.solve_dense(&self.dense, THREADS)?;
        self.solve_nodal()
    }

    fn restrict(&self, r: &CudaVector<T>) -> Result<(), GpuError> {
        if self.places_of_all == 0 {
            return Ok(());
        }
        let mut args = Args::new();
        args.buffer(&self.members).value(self.functions());
        args.buffer(r.buffer()).buffer(self.changed.buffer()).buffer(&self.unknowns);
        args.value(self.places_of_all as u64);
        let config = LaunchConfig::cover(self.places_of_all, THREADS).early(true);
        // SAFETY: the arguments are those of the kernel, with a thread for each place.
        unsafe { self.cuda.launch(&self.restrict, config, &args) }
    }

    fn solve_dense(&self, Lines { ends, n, solve }: &Lines, threads: u32) -> Result<(), GpuError> {
        if *n == 0 {
            return Ok(());
        }
        let mut args = Args::new();
        args.buffer(&self.members).buffer(ends).buffer(&self.factors).buffer(&self.unknowns);
        let config = LaunchConfig::new(*n as u32, threads).early(true);
        // SAFETY: the arguments are those of the kernel, with a block for each line.
        unsafe { self.cuda.launch(solve, config, &args) }
    }

    fn solve_nodal(&self) -> Result<(), GpuError> {
        let Lines { ends, n, solve } = &self.nodal;
        if *n == 0 {
            return Ok(());
        }
        let mut args = Args::new();
        args.buffer(&self.members).buffer(ends).buffer(&self.factors).buffer(&self.unknowns);
        args.value(*n as u32).value(0_u32);
        let config = LaunchConfig::cover(n * self.count, THREADS).early(true);
        // SAFETY: the arguments are those of the kernel, with a thread for each system of each line.
        unsafe { self.cuda.launch(solve, config, &args) }
    }
}
