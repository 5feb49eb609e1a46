//! The diagonal blocks of the Jacobian on a device, and their inverses.

use dgsuite_gpu::cuda::{Args, Cuda, DeviceBuffer, Function};
use dgsuite_gpu::{CudaVector, GpuError};

use super::product::Product;
use super::{Coloured, Lists, Whole, by_colours, for_each_block, source};

/// As [`Blocks`](crate::implicit::blocks::Blocks), stored column by column.
pub(super) struct DeviceBlocks {
    /// First entry of each element, and of its block.
    first: DeviceBuffer<u32>,
    blocks: DeviceBuffer<u64>,
    n_elements: usize,
    n_numbers: usize,
    /// Unknowns of the largest element of each colour.
    columns: Vec<usize>,
    colours: Lists,
    /// The blocks and their inverses, once they are made.
    made: Option<[DeviceBuffer<f64>; 2]>,
    seed: Function,
    take: Function,
    invert: Function,
    apply: Function,
}

impl DeviceBlocks {
    pub(super) fn new(
        cuda: &Cuda,
        offsets: &[usize],
        whole: &Whole,
        coloured: &Coloured,
    ) -> Result<Self, GpuError> {
        let size = |e: usize| offsets[e + 1] - offsets[e];
        let n_elements = offsets.len() - 1;
        let most = (0..n_elements).map(size).max().unwrap_or(1);
        let first: Vec<u32> = offsets.iter().map(|&offset| offset as u32).collect();
        let mut n_numbers = 0;
        let blocks: Vec<u64> = (0..n_elements)
            .map(|e| {
                let begin = n_numbers as u64;
                n_numbers += size(e) * size(e);
                begin
            })
            .collect();
        let largest = |colour: &Vec<u32>| colour.iter().map(|&e| whole.size(e as usize)).max().unwrap_or(0);
        let own = |colour: &Vec<u32>| -> Vec<[u32; 1]> {
            colour.iter().filter_map(|&e| Some([whole.local(e as usize)? as u32])).collect()
        };
        let colours: Vec<Vec<[u32; 1]>> = coloured.near.iter().map(own).collect();
        let module = cuda.compile(&source("blocks.cu", include_str!("blocks.cu"), most))?;
        Ok(Self {
            first: DeviceBuffer::from_slice(cuda, "first entries", &first)?,
            blocks: DeviceBuffer::from_slice(cuda, "first entries of blocks", &blocks)?,
            n_elements,
            n_numbers,
            columns: coloured.near.iter().map(largest).collect(),
            colours: Lists::new(cuda, &colours)?,
            made: None,
            seed: module.function("seed_columns")?,
            take: module.function("take_columns")?,
            invert: module.function("invert_blocks")?,
            apply: module.function("apply_blocks")?,
        })
    }

    /// Bytes of blocks and inverses.
    pub(super) fn bytes(&self) -> usize {
        16 * self.n_numbers
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
            let numbers = || DeviceBuffer::zeros(cuda, "blocks of the Jacobian", self.n_numbers);
            self.made = Some([numbers()?, numbers()?]);
        }
        let Some([made, _]) = &self.made else { return Ok(()) };
        let seed = |colour: usize, j: u32, v: &CudaVector<f64>| {
            let (elements, n) = self.colours.of(colour);
            let mut args = Args::new();
            args.pointer(elements).buffer(&self.first).value(j).buffer(v.buffer());
            for_each_block(cuda, &self.seed, n, &args)
        };
        let take = |colour: usize, j: u32, product: &Product| {
            let (elements, n) = self.colours.of(colour);
            let mut args = Args::new();
            args.pointer(elements).buffer(&self.first).buffer(&self.blocks).value(j);
            args.buffer(&product.places).buffer(&product.rate).buffer(made);
            for_each_block(cuda, &self.take, n, &args)
        };
        by_colours(&self.columns, product, v, seed, take)
    }

    /// Inverts the blocks with the pseudo-time of each element.
    pub(super) fn invert(&mut self, cuda: &Cuda, shifts: &DeviceBuffer<f64>) -> Result<(), GpuError> {
        let Some([blocks, inverses]) = &self.made else { return Ok(()) };
        let mut args = Args::new();
        args.buffer(&self.first).buffer(&self.blocks).buffer(shifts).buffer(blocks).buffer(inverses);
        for_each_block(cuda, &self.invert, self.n_elements, &args)
    }

    /// `z ← D⁻¹ S⁻¹ r`.
    pub(super) fn apply(
        &self,
        cuda: &Cuda,
        scales: &CudaVector<f64>,
        r: &CudaVector<f64>,
        z: &mut CudaVector<f64>,
    ) -> Result<(), GpuError> {
        let Some([_, inverses]) = &self.made else { return Ok(()) };
        let mut args = Args::new();
        args.buffer(&self.first).buffer(&self.blocks).buffer(inverses).buffer(scales.buffer());
        args.buffer(r.buffer()).buffer(z.buffer());
        for_each_block(cuda, &self.apply, self.n_elements, &args)
    }
}
