//! Sums over the items of a device's vectors, exact over all ranks: the counterpart of
//! [`Summation`](crate::Summation).

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::cuda::{Args, Cuda, DeviceBuffer, Function, JointLink, LaunchConfig, PinnedBuffer, Source};
use crate::{ExactSum, GpuError, Scalar};

/// The header `exact.cuh`: exact sums for kernels of other crates, whose texts are [`exact`](Source::exact).
pub const EXACT_HEADER: (&str, &str) = ("exact.cuh", include_str!("../exact.cuh"));

/// Most lists of items, and threads of a block (`ITEM_LISTS`, `32 * ITEM_WARPS` of exact.cuh).
const LISTS: usize = 12;
const THREADS: u32 = 256;
const WARPS: usize = 8;
const WARP: usize = 32;
/// Blocks of a multiprocessor.
const BLOCKS: usize = 8;
/// Most sums of one launch.
pub(crate) const TOGETHER: usize = 16;

/// The kernels of exact.cu for one number type.
pub(crate) fn exact_source<T: Scalar>() -> Source {
    let source = Source::new("exact.cu", include_str!("../exact.cu")).exact();
    let source = source.header(EXACT_HEADER.0, EXACT_HEADER.1);
    if T::BYTES == 4 { source.define("DG_SINGLE", 1) } else { source }
}

/// Items of the same number of entries in a device's vector, one after the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CudaItems {
    /// The first entry.
    pub first: usize,
    /// Entries of an item.
    pub rows: usize,
    /// Number of items.
    pub n: usize,
    /// How many of them, the first ones, are counted in sums of this rank.
    pub counted: usize,
}

/// An argument of the kernels: the structure `ItemLists` of exact.cuh.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct ItemLists {
    first: [u64; LISTS],
    items: [u32; LISTS],
    counted: [u32; LISTS],
    rows: [u32; LISTS],
    threads: [u32; LISTS],
    ends: [u32; LISTS],
    chunks: u32,
}

impl ItemLists {
    /// The same items, none of which is counted.
    #[must_use]
    pub const fn uncounted(mut self) -> Self {
        self.counted = [0; LISTS];
        self
    }

    pub(super) fn new(all: &[CudaItems], only_counted: bool) -> Self {
        let zeros = [0; LISTS];
        let mut lists = Self {
            first: [0; LISTS],
            items: zeros,
            counted: zeros,
            rows: zeros,
            threads: zeros,
            ends: [u32::MAX; LISTS],
            chunks: 0,
        };
        let listed = all.iter().filter(|items| items.n > 0 && (!only_counted || items.counted > 0));
        for (l, items) in listed.enumerate() {
            let n = if only_counted { items.counted } else { items.n };
            // At least two entries for each thread.
            let threads = (items.rows / 2 + 1).next_power_of_two() / 2;
            let threads = threads.clamp(1, WARP);
            lists.first[l] = items.first as u64;
            (lists.items[l], lists.counted[l]) = (n as u32, items.counted as u32);
            (lists.rows[l], lists.threads[l]) = (items.rows as u32, threads as u32);
            lists.chunks += n.div_ceil(WARP / threads) as u32;
            lists.ends[l] = lists.chunks;
        }
        lists
    }
}

/// How a device's vectors of one layout are summed: the entries of an item in an order that depends on their
/// number alone, then the items of all ranks without rounding. A sum is therefore the same for any order of
/// the items and any number of ranks.
pub struct CudaSummation {
    cuda: Cuda,
    len: usize,
    counted: ItemLists,
    all: ItemLists,
    ranks: Option<Arc<JointLink>>,
    /// The length of the longest vector of all ranks.
    longest: usize,
    work: Mutex<Work>,
}

/// The accumulators and results of one operation.
pub(crate) struct Work {
    pub(crate) words: DeviceBuffer<i64>,
    result: DeviceBuffer<f64>,
    shown: PinnedBuffer<f64>,
    pub(crate) args: Args,
}

impl CudaSummation {
    /// Vectors of `len` entries with these items; other entries are not counted. Collective with ranks.
    ///
    /// # Errors
    /// Not enough memory, and errors of the communication.
    ///
    /// # Panics
    /// If there are more than eleven lists, or one goes beyond the vector.
    pub fn new(
        cuda: &Cuda,
        len: usize,
        items: &[CudaItems],
        ranks: Option<Arc<JointLink>>,
    ) -> Result<Self, GpuError> {
        assert!(items.len() < LISTS, "at most {LISTS} lists of items");
        assert!(
            items.iter().all(|i| i.first + i.n * i.rows <= len && i.counted <= i.n),
            "items of the vector"
        );
        let end = items.iter().map(|i| i.first + i.n * i.rows).max().unwrap_or(0);
        let rest = CudaItems { first: end, rows: 1, n: len - end, counted: 0 };
        let all: Vec<CudaItems> = items.iter().copied().chain([rest]).collect();
        let mut longest = [len as f64];
        if let Some(ranks) = &ranks {
            ranks.joint().comm().max(&mut longest)?;
        }
        Ok(Self {
            cuda: cuda.clone(),
            len,
            counted: ItemLists::new(&all, true),
            all: ItemLists::new(&all, false),
            ranks,
            longest: longest[0] as usize,
            work: Mutex::new(Work {
                words: DeviceBuffer::zeros(cuda, "exact sums", TOGETHER * ExactSum::WORDS)?,
                result: DeviceBuffer::zeros(cuda, "sums", TOGETHER)?,
                shown: PinnedBuffer::zeros(cuda, TOGETHER)?,
                args: Args::new(),
            }),
        })
    }

    /// The length of vectors.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.len
    }

    /// Whether vectors have no entries.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The length of the longest vector of all ranks.
    #[must_use]
    pub const fn longest(&self) -> usize {
        self.longest
    }

    /// The ranks over which sums go, if there are several.
    #[must_use]
    pub const fn ranks(&self) -> Option<&Arc<JointLink>> {
        self.ranks.as_ref()
    }

    /// Whether sums can be recorded in a graph.
    #[must_use]
    pub fn is_recordable(&self) -> bool {
        self.ranks.as_ref().is_none_or(|ranks| ranks.is_recordable())
    }

    /// The argument of a kernel that adds items to accumulators, and its configuration for `sums` rows of
    /// blocks. `all` kernels process items that are not counted, too.
    #[must_use]
    pub fn launch(&self, all: bool, sums: usize) -> (ItemLists, LaunchConfig) {
        let lists = if all { self.all } else { self.counted };
        let most = BLOCKS * self.cuda.info().n_multiprocessors as usize;
        let blocks = (lists.chunks as usize).div_ceil(WARPS).clamp(1, most);
        let mut config = LaunchConfig::new(blocks as u32, THREADS);
        config.grid[1] = sums as u32;
        (lists, config)
    }

    /// Adds the accumulators of all ranks: those of the first `sums` sums.
    ///
    /// # Errors
    /// [`GpuError::Ranks`], and errors of the device.
    pub fn over_ranks(&self, words: &mut DeviceBuffer<i64>, sums: usize) -> Result<(), GpuError> {
        self.ranks.as_ref().map_or(Ok(()), |ranks| ranks.sum(words, sums * ExactSum::WORDS))
    }

    /// Waits for the device's main stream; with ranks until the communicator's deadline.
    ///
    /// # Errors
    /// Errors of the device, and [`GpuError::Ranks`].
    pub fn wait(&self) -> Result<(), GpuError> {
        match &self.ranks {
            Some(ranks) => ranks.wait(),
            None => self.cuda.stream().synchronize(),
        }
    }

    fn work(&self) -> MutexGuard<'_, Work> {
        self.work.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The values of `N` sums, which `add` launches into the accumulators; NaN if the work fails.
    pub(crate) fn sums<const N: usize>(
        &self,
        round: &Function,
        n: usize,
        add: impl FnOnce(&mut Work) -> Result<(), GpuError>,
    ) -> [f64; N] {
        const { assert!(N <= TOGETHER, "there is room for so many sums") };
        let mut work = self.work();
        let done = self.all_sums(&mut work, round, n, add);
        let failed = done.is_err();
        self.cuda.note(done);
        if failed { [f64::NAN; N] } else { std::array::from_fn(|k| work.shown[k]) }
    }

    fn all_sums(
        &self,
        work: &mut Work,
        round: &Function,
        n: usize,
        add: impl FnOnce(&mut Work) -> Result<(), GpuError>,
    ) -> Result<(), GpuError> {
        add(work)?;
        self.over_ranks(&mut work.words, n)?;
        let Work { words, result, shown, args } = work;
        args.clear();
        args.buffer(words).value(n as u32).buffer(result);
        // SAFETY: the arguments are the kernel's; there is room for all sums.
        unsafe { self.cuda.launch(round, LaunchConfig::new(1, THREADS), args)? };
        // SAFETY: the next line waits for the copy.
        unsafe { result.download_async(0, shown, self.cuda.stream())? };
        self.wait()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kernels_have_the_accumulators_of_the_host() {
        let text = EXACT_HEADER.1;
        for (name, value) in
            [("EXACT_WORDS", ExactSum::WORDS), ("EXACT_LIMBS", ExactSum::WORDS - 3), ("ITEM_WARPS", WARPS)]
        {
            assert!(text.contains(&format!("#define {name} {value}u\n")), "{name} {value}");
        }
        assert!(text.contains(&format!("#define ITEM_LISTS {LISTS}\n")));
    }
}
