//! One link between the devices of ranks for all messages of vectors, and sums over ranks on the device.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::link::Link;
use super::module::Function;
use super::nccl::DeviceMessage;
use super::stream::Stream;
use super::{Args, Cuda, DeviceBuffer, LaunchConfig};
use crate::comm::{CommError, Joint};
use crate::vector::cuda::exact_source;
use crate::{ExactSum, GpuError, sum_all};

/// A [`Link`] that many operators share. Its sets run in the device's main stream, one after the other.
///
/// After the first failure nothing is sent any more: all functions return it at once. It is also that of the
/// [`Joint`], since numbers that follow from messages that never came may fail first elsewhere.
pub struct JointLink {
    cuda: Cuda,
    joint: Arc<Joint>,
    link: Mutex<Inner>,
    recordable: bool,
    complement: Function,
}

struct Inner {
    link: Link,
    failed: Option<CommError>,
}

impl JointLink {
    /// Connects the devices of all ranks, as [`Link::new`]. Collective.
    ///
    /// # Errors
    /// As for [`Link::new`].
    pub fn new(cuda: &Cuda, joint: &Arc<Joint>) -> Result<Self, GpuError> {
        // SAFETY: there are no sets yet.
        let link = unsafe { Link::new(cuda, joint.comm(), Vec::new())? };
        let complement = cuda.compile(&exact_source::<f64>())?.function("complement")?;
        let (recordable, joint) = (link.is_recordable(), Arc::clone(joint));
        Ok(Self {
            cuda: cuda.clone(),
            joint,
            link: Mutex::new(Inner { link, failed: None }),
            recordable,
            complement,
        })
    }

    /// The ranks.
    #[must_use]
    pub fn joint(&self) -> &Arc<Joint> {
        &self.joint
    }

    /// Whether messages and sums can be recorded in a graph.
    #[must_use]
    pub const fn is_recordable(&self) -> bool {
        self.recordable
    }

    /// The name of the plane.
    #[must_use]
    pub fn plane(&self) -> &'static str {
        self.lock().link.plane()
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.link.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn run<T>(&self, work: impl FnOnce(&mut Link) -> Result<T, GpuError>) -> Result<T, GpuError> {
        let mut inner = self.lock();
        if let Some(failed) = &inner.failed {
            return Err(failed.clone().into());
        }
        let done = work(&mut inner.link);
        if let Err(GpuError::Ranks(failed)) = &done {
            inner.failed = Some(failed.clone());
            self.joint.kept(Err::<(), _>(failed.clone()));
        }
        done
    }

    /// Adds a set of messages and returns its number. Collective.
    ///
    /// # Errors
    /// As for [`Link::add`].
    ///
    /// # Safety
    /// As for [`Link::add`].
    pub unsafe fn add(&self, set: Vec<DeviceMessage>) -> Result<usize, GpuError> {
        // SAFETY: the caller's contract.
        self.run(|link| unsafe { link.add(self.joint.comm(), set, true) })
    }

    /// As [`Link::places`].
    #[must_use]
    pub fn places(&self, set: usize) -> Option<Vec<u64>> {
        self.lock().link.places(set)
    }

    /// Sends a set in the device's main stream: `pack` launches what writes the messages to their places,
    /// `unpack` what reads those of the other ranks.
    ///
    /// # Errors
    /// As for [`Link::close`].
    pub fn send(
        &self,
        set: usize,
        pack: impl FnOnce() -> Result<(), GpuError>,
        unpack: impl FnOnce() -> Result<(), GpuError>,
    ) -> Result<(), GpuError> {
        self.run(|link| {
            let stream = Stream::current(self.cuda.context());
            link.open(&stream, set)?;
            pack()?;
            link.close(&stream, set)?;
            unpack()?;
            link.release(&stream, set)
        })
    }

    /// Replaces the first `count` integers by their sums over all ranks, with wrapping, in the order of the
    /// device's main stream.
    ///
    /// # Errors
    /// [`GpuError::Ranks`], and errors of the device.
    pub fn sum(&self, words: &mut DeviceBuffer<i64>, count: usize) -> Result<(), GpuError> {
        self.run(|link| {
            if link.sum(words, count)? {
                return Ok(());
            }
            let mut all = words.to_vec()?;
            let (words_of_sums, _) = all[..count].as_chunks::<{ ExactSum::WORDS }>();
            let mut sums: Vec<ExactSum> = words_of_sums.iter().map(|w| ExactSum::from_limbs(*w)).collect();
            sum_all(self.joint.comm().as_ref(), &mut sums)?;
            for (to, sum) in all.chunks_exact_mut(ExactSum::WORDS).zip(&sums) {
                to.copy_from_slice(&sum.limbs());
            }
            words.upload(&all)
        })
    }

    /// Replaces number `at`, which is not negative, by the largest of all ranks, NaN if one is, in the order
    /// of the device's main stream.
    ///
    /// # Errors
    /// As for [`sum`](Self::sum).
    pub fn largest(&self, numbers: &mut DeviceBuffer<f64>, at: usize) -> Result<(), GpuError> {
        let place = numbers.ptr_at(at);
        let complement = || {
            let mut args = Args::new();
            args.pointer(place);
            // SAFETY: the argument is the kernel's, a number of 64 bits.
            unsafe { self.cuda.launch(&self.complement, LaunchConfig::new(1, 1), &args) }
        };
        self.run(|link| {
            if !link.sums() {
                let mut all = numbers.to_vec()?;
                self.joint.comm().max(&mut all[at..=at])?;
                return numbers.upload(&all);
            }
            complement()?;
            // SAFETY: the number is one of a buffer, which the driver does not free before the work is done.
            unsafe { link.min(place, 1)? };
            complement()
        })
    }

    /// Waits until the device's main stream is done.
    ///
    /// # Errors
    /// As for [`Link::wait`].
    pub fn wait(&self) -> Result<(), GpuError> {
        self.run(|link| link.wait())
    }
}
