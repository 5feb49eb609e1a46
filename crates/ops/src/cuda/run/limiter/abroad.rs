//! The exchange with other ranks of what a limiter needs of the elements at cut faces: ranges, or means.
//!
//! Ranges are those of the stage's input. They leave behind its traces, so that the whole stage and the
//! search for troubled elements hide their messages. Means are those of the stage's result: those at cut
//! faces are computed and sent first, and the passes over all other elements hide the messages.

use crate::cuda::run::halo::{Flight, Messages};
use crate::cuda::run::limiter::text::LimiterText;
use crate::cuda::run::limiter::{Settings, compiled, config, first_slots, uploaded};
use crate::error::OpsError;
use crate::lanes::simd::PackScalar;
use crate::rhs::discretization::Discretization;
use crate::rhs::limiter::{RANGE, pack};
use crate::space::connect::Border;
use dgsuite_gpu::GpuError;
use dgsuite_gpu::cuda::nccl::DeviceMessage;
use dgsuite_gpu::cuda::{Args, Cuda, DeviceBuffer, Function, LaunchConfig, Link};

/// The exchange with other ranks.
pub(super) struct Abroad {
    /// Computes the messages.
    pack: Function,
    config: LaunchConfig,
    /// The elements at cut faces: names, or slots among those of all groups.
    elements: DeviceBuffer<u32>,
    outgoing: DeviceBuffer<f64>,
    /// Ranges that arrive; means arrive behind the own ones.
    ranges: DeviceBuffer<f64>,
    /// The number of the set of the link.
    set: usize,
    flight: Flight,
    args: Args,
}

impl Abroad {
    /// Prepares the exchange: of `means`, with that number for each element, or of ranges. `text` is that of
    /// the elements of the list. Collective.
    pub(super) fn new<T: PackScalar>(
        cuda: &Cuda,
        d: &Discretization<T>,
        link: &mut Link,
        text: &LimiterText,
        means: Option<(&DeviceBuffer<f64>, usize)>,
    ) -> Result<Self, OpsError> {
        let Some(ranks) = d.ranks() else { return Err(OpsError::NotOnRanks { what: "limiters" }) };
        let borders = &d.connectivity.borders;
        let firsts = first_slots(d);
        let n_slots = firsts.last().copied().unwrap_or(0);
        let width = means.map_or(RANGE, |(_, fields)| fields);
        let sends = borders.iter().flat_map(|border| &border.sends);
        let elements: Vec<u32> = sends
            .map(|send| match means {
                Some(_) => (firsts[send.group as usize] + send.slot as usize) as u32,
                None => pack(u32::from(send.group), send.slot as usize),
            })
            .collect();
        let n = elements.len();
        let outgoing = uploaded(cuda, &vec![0.0_f64; n * width])?;
        let ranges = uploaded(cuda, &vec![0.0_f64; if means.is_some() { 0 } else { n * width }])?;
        let mut first = 0;
        let message = |border: &Border| {
            let (at, bytes) = (first * width, border.sends.len() * width * size_of::<f64>());
            first += border.sends.len();
            let receive = match means {
                Some((means, _)) => means.ptr_at(n_slots * width + at),
                None => ranges.ptr_at(at),
            };
            let send = outgoing.ptr_at(at);
            DeviceMessage { rank: border.rank, send, send_bytes: bytes, receive, receive_bytes: bytes }
        };
        let set = borders.iter().map(message).collect();
        // SAFETY: the buffers live as long as the limiter, which alone runs this set.
        let set = unsafe { link.add(ranks.comm(), set)? };
        let (name, blocks) = match means {
            Some(_) => ("gather_means", (n * width).div_ceil(text.threads)),
            None => ("ranges", n),
        };
        let [pack] = compiled(cuda, text, [name])?;
        let elements = uploaded(cuda, &elements)?;
        let (config, flight) = (config(text, blocks), Flight::new(cuda)?);
        Ok(Self { pack, config, elements, outgoing, ranges, set, flight, args: Args::new() })
    }

    /// The address of the ranges that arrive.
    pub(super) fn ranges(&self) -> u64 {
        self.ranges.ptr()
    }

    /// Memory on the device in bytes.
    pub(super) fn bytes(&self) -> usize {
        self.outgoing.bytes() + self.ranges.bytes()
    }

    /// Starts to send the ranges of the state at the address `u`.
    ///
    /// # Safety
    /// `u` is the address of a state that stays as it is until [`finish`](Self::finish).
    pub(super) unsafe fn begin_ranges(
        &mut self,
        cuda: &Cuda,
        messages: &mut Messages,
        u: u64,
        settings: Settings,
        parameters: &[f64],
    ) -> Result<(), GpuError> {
        self.args.clear();
        self.args.pointer(u).buffer(&self.elements).buffer(&self.outgoing).value(settings).slice(parameters);
        self.begin(cuda, messages)
    }

    /// Starts to send means.
    pub(super) fn begin_means(
        &mut self,
        cuda: &Cuda,
        messages: &mut Messages,
        means: &DeviceBuffer<f64>,
    ) -> Result<(), GpuError> {
        self.args.clear();
        self.args.buffer(means).buffer(&self.elements);
        self.args.value(self.elements.len() as u32).buffer(&self.outgoing);
        self.begin(cuda, messages)
    }

    fn begin(&mut self, cuda: &Cuda, messages: &mut Messages) -> Result<(), GpuError> {
        let Self { pack, config, set, flight, args, .. } = self;
        messages.begin(cuda, flight, *set, |stream| {
            // SAFETY: the arguments are the kernel's, set by the callers; elements are those of this rank.
            unsafe { cuda.launch_on(stream, pack, *config, args) }
        })
    }

    /// Lets the main stream wait for the messages.
    pub(super) fn finish(&mut self, cuda: &Cuda, messages: &mut Messages) -> Result<(), GpuError> {
        match messages.finish(&mut self.flight)? {
            Some(arrived) => cuda.stream().wait(arrived),
            None => Ok(()),
        }
    }
}
