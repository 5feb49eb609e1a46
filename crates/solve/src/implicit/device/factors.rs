//! Incomplete factors of a sparse matrix of blocks on a device.

use std::sync::Arc;

use dgsuite_gpu::cuda::{Args, Cuda, DeviceBuffer, Function, Graph};
use dgsuite_gpu::{CudaVector, GpuError};
use dgsuite_ops::cuda::CudaGathering;

use super::across::AcrossDevices;
use super::product::Product;
use super::{
    Between, BlockMatrix, Coloured, Lists, Whole, by_colours, for_each_block, of_rank, single, source,
};

/// `Levels` of factors.cu.
#[repr(C)]
#[derive(Clone, Copy)]
struct LevelsArgument {
    first: u64,
    coarse: u64,
    kind: u64,
    between: u64,
    numbers: u64,
}

/// `Matrix` of factors.cu.
#[repr(C)]
#[derive(Clone, Copy)]
struct MatrixArgument {
    starts: u64,
    columns: u64,
    blocks: u64,
    diagonal: u64,
}

/// As [`Factors`](crate::implicit::factors::Factors), with blocks stored column by column.
///
/// Rows that do not depend on each other are a level: rows of a level are solved at a time, in the order of
/// the sequential elimination.
pub(super) struct DeviceFactors {
    levels: LevelsArgument,
    /// The same with first entries in vectors of this rank.
    own: LevelsArgument,
    /// What the arguments point to.
    _lists: [DeviceBuffer<u32>; 4],
    _numbers: DeviceBuffer<f64>,
    _between: DeviceBuffer<u64>,
    /// The blocks of each row, ascending: first block of each row, columns, and first entries.
    pattern: Pattern,
    blocks: DeviceBuffer<u64>,
    n_numbers: usize,
    columns: Vec<usize>,
    /// Elements of each colour, and the blocks of their columns.
    colours: Lists,
    takes: Lists,
    /// How the rows of other ranks come here, if there are several.
    rows: Option<CudaGathering<f64>>,
    /// The Jacobian's part and the factors, once they are made.
    made: Option<[DeviceBuffer<f64>; 2]>,
    elimination: Option<Elimination>,
    /// A residual, which becomes the solution.
    x: DeviceBuffer<f64>,
    /// The recorded solution with the factors.
    solution: Option<Graph>,
    kernels: Kernels,
}

/// The places of blocks.
struct Pattern {
    sizes: Vec<usize>,
    starts: Vec<u32>,
    columns: Vec<u32>,
    blocks: Vec<u64>,
}

/// The order of elimination on the device.
struct Elimination {
    matrix: MatrixArgument,
    /// What the argument points to.
    _lists: [DeviceBuffer<u32>; 3],
    _blocks: DeviceBuffer<u64>,
    /// Rows that can be solved at a time, from the first row and from the last one.
    lower: Lists,
    upper: Lists,
}

struct Kernels {
    seed: Function,
    take: Function,
    shift: Function,
    factor: Function,
    restrict: Function,
    lower: Function,
    upper: Function,
    prolongate: Function,
}

impl Pattern {
    /// The numbers of a row of blocks, of all `n` numbers.
    fn row(&self, e: usize, n: usize) -> std::ops::Range<usize> {
        let begin = |e: usize| self.blocks.get(self.starts[e] as usize).map_or(n, |&first| first as usize);
        begin(e)..begin(e + 1)
    }

    /// The number of a block.
    fn block(&self, row: u32, column: u32) -> Option<u32> {
        let (begin, end) = (self.starts[row as usize] as usize, self.starts[row as usize + 1] as usize);
        self.columns[begin..end].binary_search(&column).ok().map(|at| (begin + at) as u32)
    }
}

/// The rows of each level, if row `e` comes after the rows `before(e)`, in the given order.
fn rows_of_levels<'a>(
    order: impl Iterator<Item = usize>,
    n: usize,
    before: impl Fn(usize) -> &'a [u32],
) -> Vec<Vec<u32>> {
    let mut level = vec![0; n];
    let mut rows: Vec<Vec<u32>> = Vec::new();
    for e in order {
        level[e] = before(e).iter().map(|&other| level[other as usize] + 1).max().unwrap_or(0);
        if rows.len() <= level[e] {
            rows.resize(level[e] + 1, Vec::new());
        }
        rows[level[e]].push(e as u32);
    }
    rows
}

/// Entries that a block of threads brings to shared memory at a time.
const TILED: usize = 1536;

impl DeviceFactors {
    pub(super) fn new(
        cuda: &Cuda,
        whole: &Whole,
        fields: usize,
        between: Option<&[Arc<Between>]>,
        coloured: &Coloured,
        across: Option<&AcrossDevices>,
    ) -> Result<Self, GpuError> {
        let (offsets, n_elements) = (&whole.offsets, whole.n_elements());
        // The prolongations, each once: functions of a field above and below, and places of the numbers.
        let mut known: Vec<(usize, usize)> = Vec::new();
        let (mut kinds, mut tables, mut numbers) = (Vec::new(), Vec::new(), Vec::new());
        for e in 0..n_elements {
            let own = between.map(|between| &between[e]);
            let fine = (offsets[e + 1] - offsets[e]) / fields;
            let key = own.map_or((0, fine), |own| (Arc::as_ptr(own) as usize, fine));
            let kind = known.iter().position(|other| *other == key).unwrap_or_else(|| {
                tables.push(fine as u64 | (own.map_or(fine, |own| own.coarse) as u64) << 32);
                let (up, down) = own.map_or((&[][..], &[][..]), |own| (&own.up, &own.down));
                tables.extend([numbers.len() as u64, (numbers.len() + up.len()) as u64]);
                numbers.extend(up.iter().chain(down).copied());
                known.push(key);
                known.len() - 1
            });
            kinds.push(kind as u32);
        }
        let size = |e: usize| between.map_or(whole.size(e), |b| fields * b[e].coarse);
        let sizes: Vec<usize> = (0..n_elements).map(size).collect();
        let most = sizes.iter().copied().max().unwrap_or(1);
        let mut pattern = Pattern { sizes, starts: vec![0], columns: Vec::new(), blocks: Vec::new() };
        let (mut coarse, mut n_numbers) = (vec![0], 0);
        for e in 0..n_elements {
            coarse.push(coarse[e] + pattern.sizes[e] as u32);
            let mut row: Vec<u32> = whole.neighbours[e].iter().copied().chain([e as u32]).collect();
            row.sort_unstable();
            for column in row {
                pattern.columns.push(column);
                pattern.blocks.push(n_numbers as u64);
                n_numbers += pattern.sizes[e] * pattern.sizes[column as usize];
            }
            pattern.starts.push(pattern.columns.len() as u32);
        }
        let takes: Vec<Vec<[u32; 3]>> = coloured
            .apart
            .iter()
            .map(|colour| {
                let of = |&e: &u32| {
                    let rows = whole.neighbours[e as usize].iter().copied().chain([e]);
                    let rows = rows.filter(|&row| whole.local(row as usize).is_some());
                    rows.filter_map(|row| pattern.block(row, e).map(|at| [e, row, at])).collect::<Vec<_>>()
                };
                colour.iter().flat_map(of).collect()
            })
            .collect();
        let first: Vec<u32> = offsets.iter().map(|&offset| offset as u32).collect();
        let largest = |colour: &Vec<u32>| colour.iter().map(|&e| size(e as usize)).max().unwrap_or(0);
        let list = |values: &[u32]| DeviceBuffer::from_slice(cuda, "lists of blocks", values);
        let here: Vec<u32> = (0..n_elements).map(|e| whole.first(e) as u32).collect();
        let lists = [list(&first)?, list(&coarse)?, list(&kinds)?, list(&here)?];
        let numbers = DeviceBuffer::from_slice(cuda, "prolongations", &numbers)?;
        let tables = DeviceBuffer::from_slice(cuda, "prolongations", &tables)?;
        let text = source("factors.cu", include_str!("factors.cu"), most);
        let module = cuda.compile(&text.define("TILE", (TILED / most).clamp(1, 32)))?;
        let kernel = |name| module.function(name);
        let levels = LevelsArgument {
            first: lists[0].ptr(),
            coarse: lists[1].ptr(),
            kind: lists[2].ptr(),
            between: tables.ptr(),
            numbers: numbers.ptr(),
        };
        let row = |e: usize| pattern.row(e, n_numbers);
        Ok(Self {
            rows: across.map(|across| across.gather_numbers(cuda, whole, &row, n_numbers)).transpose()?,
            levels,
            own: LevelsArgument { first: lists[3].ptr(), ..levels },
            _lists: lists,
            _numbers: numbers,
            _between: tables,
            blocks: DeviceBuffer::from_slice(cuda, "first entries of blocks", &pattern.blocks)?,
            pattern,
            n_numbers,
            columns: coloured.apart.iter().map(largest).collect(),
            colours: Lists::new(cuda, &of_rank(&coloured.apart, whole))?,
            takes: Lists::new(cuda, &takes)?,
            made: None,
            elimination: None,
            x: DeviceBuffer::zeros(cuda, "a residual", coarse[n_elements] as usize)?,
            solution: None,
            kernels: Kernels {
                seed: kernel("seed_coarse")?,
                take: kernel("take_coarse")?,
                shift: kernel("add_shifts")?,
                factor: kernel("factor_rows")?,
                restrict: kernel("restrict_coarse")?,
                lower: kernel("solve_lower")?,
                upper: kernel("solve_upper")?,
                prolongate: kernel("prolongate")?,
            },
        })
    }

    /// Bytes of the matrices.
    pub(super) fn bytes(&self) -> usize {
        16 * self.n_numbers
    }

    fn n_elements(&self) -> usize {
        self.pattern.sizes.len()
    }

    /// Takes the blocks from products with directions of one colour, in a vector `v` of zeros, which it is
    /// afterwards as well.
    pub(super) fn make(
        &mut self,
        cuda: &Cuda,
        product: &mut Product,
        v: &mut CudaVector<f64>,
    ) -> Result<(), GpuError> {
        if self.made.is_none() {
            let numbers = || DeviceBuffer::zeros(cuda, "incomplete factors", self.n_numbers);
            self.made = Some([numbers()?, numbers()?]);
        }
        let Some([made, _]) = &mut self.made else { return Ok(()) };
        let numbers = made.ptr();
        let seed = |colour: usize, j: u32, v: &CudaVector<f64>| {
            let (elements, n) = self.colours.of(colour);
            let mut args = Args::new();
            args.pointer(elements).value(self.own).value(j).buffer(v.buffer());
            for_each_block(cuda, &self.kernels.seed, n, &args)
        };
        let take = |colour: usize, j: u32, product: &Product| {
            let (pairs, n) = self.takes.of(colour);
            let mut args = Args::new();
            args.pointer(pairs).value(self.own).buffer(&self.blocks).value(j);
            args.buffer(&product.places).buffer(&product.rate).pointer(numbers);
            for_each_block(cuda, &self.kernels.take, n, &args)
        };
        by_colours(&self.columns, product, v, seed, take)?;
        match &self.rows {
            Some(rows) => rows.complete(made),
            None => Ok(()),
        }
    }

    /// The blocks that were made, on the host.
    pub(super) fn matrix(&self) -> Result<BlockMatrix, GpuError> {
        let numbers = self.made.as_ref().map(|[made, _]| made.to_vec()).transpose()?.unwrap_or_default();
        let Pattern { sizes, starts, columns, blocks } = &self.pattern;
        let mut offsets = vec![0];
        let mut rows = Vec::with_capacity(sizes.len());
        for (e, &n) in sizes.iter().enumerate() {
            offsets.push(offsets[e] + n);
            let row = (starts[e] as usize..starts[e + 1] as usize).map(|k| {
                let (m, first) = (sizes[columns[k] as usize], blocks[k] as usize);
                let entry = |i: usize| numbers.get(first + i % m * n + i / m).copied().unwrap_or(f64::NAN);
                (columns[k], (0..n * m).map(entry).collect())
            });
            rows.push(row.collect());
        }
        Ok(BlockMatrix { offsets, rows })
    }

    /// Sets the order of elimination.
    pub(super) fn eliminate(&mut self, cuda: &Cuda, order: &[u32]) -> Result<(), GpuError> {
        let n = self.n_elements();
        let Pattern { starts, columns, blocks, .. } = &self.pattern;
        let mut place = vec![0_u32; n];
        order.iter().zip(0..).for_each(|(&e, k)| place[e as usize] = k);
        let (mut ordered, mut firsts, mut diagonal) = (Vec::new(), Vec::new(), Vec::new());
        for e in 0..n {
            let mut row: Vec<usize> = (starts[e] as usize..starts[e + 1] as usize).collect();
            row.sort_unstable_by_key(|&k| place[columns[k] as usize]);
            for k in row {
                if columns[k] as usize == e {
                    diagonal.push(ordered.len() as u32);
                }
                ordered.push(columns[k]);
                firsts.push(blocks[k]);
            }
        }
        let before = |e: usize| &ordered[starts[e] as usize..diagonal[e] as usize];
        let after = |e: usize| &ordered[diagonal[e] as usize + 1..starts[e + 1] as usize];
        let lower = rows_of_levels(order.iter().map(|&e| e as usize), n, before);
        let upper = rows_of_levels(order.iter().rev().map(|&e| e as usize), n, after);
        let list = |values: &[u32]| DeviceBuffer::from_slice(cuda, "lists of blocks", values);
        let lists = [list(starts)?, list(&ordered)?, list(&diagonal)?];
        let firsts = DeviceBuffer::from_slice(cuda, "first entries of blocks", &firsts)?;
        self.solution = None;
        self.elimination = Some(Elimination {
            matrix: MatrixArgument {
                starts: lists[0].ptr(),
                columns: lists[1].ptr(),
                blocks: firsts.ptr(),
                diagonal: lists[2].ptr(),
            },
            _lists: lists,
            _blocks: firsts,
            lower: Lists::new(cuda, &single(&lower))?,
            upper: Lists::new(cuda, &single(&upper))?,
        });
        Ok(())
    }

    /// Adds the pseudo-time of each element, and factorises.
    pub(super) fn factorise(&mut self, cuda: &Cuda, shifts: &DeviceBuffer<f64>) -> Result<(), GpuError> {
        let n_elements = self.n_elements();
        let (Some([jacobian, factors]), Some(by)) = (&mut self.made, &self.elimination) else {
            return Ok(());
        };
        factors.copy_from(jacobian, cuda.stream())?;
        let mut args = Args::new();
        args.value(self.levels).value(by.matrix).buffer(shifts).buffer(factors);
        for_each_block(cuda, &self.kernels.shift, n_elements, &args)?;
        for (rows, n) in by.lower.each() {
            args.clear();
            args.pointer(rows).value(self.levels).value(by.matrix).buffer(factors);
            for_each_block(cuda, &self.kernels.factor, n, &args)?;
        }
        Ok(())
    }

    /// Solves with the factors, in place of the residual.
    fn solve(&self, cuda: &Cuda, factors: &DeviceBuffer<f64>) -> Result<(), GpuError> {
        let Some(by) = &self.elimination else { return Ok(()) };
        let mut args = Args::new();
        for (kernel, lists) in [(&self.kernels.lower, &by.lower), (&self.kernels.upper, &by.upper)] {
            for (rows, n) in lists.each() {
                args.clear();
                args.pointer(rows).value(self.levels).value(by.matrix).buffer(factors).buffer(&self.x);
                for_each_block(cuda, kernel, n, &args)?;
            }
        }
        Ok(())
    }

    /// `z ← z + P A⁻¹ R S⁻¹ r`.
    pub(super) fn add_correction(
        &mut self,
        cuda: &Cuda,
        scales: &CudaVector<f64>,
        r: &CudaVector<f64>,
        z: &mut CudaVector<f64>,
    ) -> Result<(), GpuError> {
        let Some([_, factors]) = &self.made else { return Ok(()) };
        let mut args = Args::new();
        args.value(self.levels).buffer(scales.buffer()).buffer(r.buffer()).buffer(&self.x);
        for_each_block(cuda, &self.kernels.restrict, self.n_elements(), &args)?;
        match &self.solution {
            Some(solution) => solution.launch()?,
            None => {
                let solution = cuda.capture(|_| self.solve(cuda, factors))?;
                solution.launch()?;
                self.solution = Some(solution);
            }
        }
        args.clear();
        args.value(self.levels).buffer(&self.x).buffer(z.buffer());
        for_each_block(cuda, &self.kernels.prolongate, self.n_elements(), &args)
    }
}
