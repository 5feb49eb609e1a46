//! Compressed arrays in VTK's form: zlib blocks after a header with their sizes.
//!
//! ```text
//! u64 number of blocks | u64 bytes of a full block | u64 bytes of the last block if partial, else 0
//! u64 compressed bytes of block 0, 1, … | block 0 | block 1 | …
//! ```
//!
//! Blocks are independent, so they are compressed in parallel and can be read in any order.

use std::io::{self, Write};

use flate2::{Compression, write::ZlibEncoder};
use rayon::prelude::*;

/// Bytes of a full block before compression. zlib looks back 32 KiB at most, so larger blocks hardly compress
/// better. This size keeps the header small and the cost of starting a block low.
const BLOCK: usize = 1 << 17;

/// One compressed array.
pub(super) struct Blocks {
    header: Vec<u8>,
    blocks: Vec<Vec<u8>>,
}

impl Blocks {
    /// Compresses `n` values of `W` bytes; value `i` is `value(i)`.
    pub(super) fn compress<const W: usize>(
        n: usize,
        level: u32,
        value: impl Fn(usize) -> [u8; W] + Sync,
    ) -> io::Result<Self> {
        let per_block = BLOCK / W;
        let n_blocks = n.div_ceil(per_block);
        let blocks = (0..n_blocks)
            .into_par_iter()
            .map_init(
                || Vec::with_capacity(BLOCK),
                |bytes, block| {
                    bytes.clear();
                    for i in block * per_block..n.min((block + 1) * per_block) {
                        bytes.extend_from_slice(&value(i));
                    }
                    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::new(level.min(9)));
                    encoder.write_all(bytes)?;
                    encoder.finish()
                },
            )
            .collect::<io::Result<Vec<_>>>()?;
        let partial = n % per_block * W;
        let sizes = blocks.iter().map(Vec::len);
        let header = [n_blocks, per_block * W, partial]
            .into_iter()
            .chain(sizes)
            .flat_map(|number| (number as u64).to_le_bytes())
            .collect();
        Ok(Self { header, blocks })
    }

    /// Bytes in the file.
    pub(super) fn len(&self) -> usize {
        self.header.len() + self.blocks.iter().map(Vec::len).sum::<usize>()
    }

    pub(super) fn write(&self, file: &mut impl Write) -> io::Result<()> {
        file.write_all(&self.header)?;
        self.blocks.iter().try_for_each(|block| file.write_all(block))
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use super::*;

    fn round_trip(n: usize) {
        let value = |i: usize| (i as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15).to_le_bytes();
        let blocks = Blocks::compress(n, 1, value).unwrap();
        let mut file = Vec::new();
        blocks.write(&mut file).unwrap();
        assert_eq!(file.len(), blocks.len());
        let number = |i: usize| u64::from_le_bytes(file[8 * i..8 * (i + 1)].try_into().unwrap()) as usize;
        let (count, full, partial) = (number(0), number(1), number(2));
        let mut start = 8 * (3 + count);
        let mut bytes = Vec::new();
        for b in 0..count {
            let before = bytes.len();
            let size = number(3 + b);
            flate2::read::ZlibDecoder::new(&file[start..start + size]).read_to_end(&mut bytes).unwrap();
            start += size;
            let expected = if b + 1 == count && partial > 0 { partial } else { full };
            assert_eq!(bytes.len() - before, expected, "block {b} of {n} values");
        }
        assert_eq!(start, file.len());
        let expected: Vec<u8> = (0..n).flat_map(value).collect();
        assert_eq!(bytes, expected);
    }

    #[test]
    fn values_come_back_from_none_part_one_and_many_blocks() {
        let full = BLOCK / 8;
        for n in [0, 1, full - 1, full, full + 1, 3 * full, 3 * full + 17] {
            round_trip(n);
        }
    }
}
