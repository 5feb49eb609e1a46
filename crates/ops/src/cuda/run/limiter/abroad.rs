//! The exchange with other ranks of what a limiter needs of the elements at cut faces: ranges, or means.
//!
//! Ranges are those of the stage's input. They leave behind its traces, so that the whole stage and the
//! search for troubled elements hide their messages. Means are those of the stage's result: those at cut
//! faces are computed and sent first, and the passes over all other elements hide the messages.

use std::ops::Range;

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
    /// Computes a message.
    pack: Function,
    /// For each neighbouring rank.
    messages: Vec<Message>,
    /// The elements at cut faces: names, or slots among those of all groups.
    elements: DeviceBuffer<u32>,
    /// The messages, if the link transfers them.
    outgoing: DeviceBuffer<f64>,
    /// Ranges that arrive; means arrive behind the own ones.
    ranges: DeviceBuffer<f64>,
    /// The number of the set of the link.
    set: usize,
    flight: Flight,
    args: Args,
}

/// The message to a rank.
struct Message {
    /// Its elements in the list.
    elements: Range<usize>,
    config: LaunchConfig,
    /// Where it is written.
    to: u64,
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
        let mut ends = vec![0];
        ends.extend(borders.iter().map(|border| border.sends.len()));
        (1..ends.len()).for_each(|i| ends[i] += ends[i - 1]);
        let message = |(border, &first): (&Border, &usize)| {
            let (at, bytes) = (first * width, border.sends.len() * width * size_of::<f64>());
            let receive = match means {
                Some((means, _)) => means.ptr_at(n_slots * width + at),
                None => ranges.ptr_at(at),
            };
            let send = outgoing.ptr_at(at);
            DeviceMessage { rank: border.rank, send, send_bytes: bytes, receive, receive_bytes: bytes }
        };
        let set: Vec<_> = borders.iter().zip(&ends).map(message).collect();
        let own: Vec<_> = set.iter().map(|message| message.send).collect();
        // SAFETY: the buffers live as long as the limiter, which alone runs this set.
        let set = unsafe { link.add(ranks.comm(), set, false)? };
        let places = link.places(set).unwrap_or(own);
        let messages = ends.windows(2).zip(places).map(|(at, to)| {
            let n = at[1] - at[0];
            let blocks = if means.is_some() { (n * width).div_ceil(text.threads) } else { n };
            Message { elements: at[0]..at[1], config: config(text, blocks), to }
        });
        let messages = messages.filter(|message| !message.elements.is_empty()).collect();
        let [pack] = compiled(cuda, text, [if means.is_some() { "gather_means" } else { "ranges" }])?;
        let elements = uploaded(cuda, &elements)?;
        let flight = Flight::new(cuda)?;
        Ok(Self { pack, messages, elements, outgoing, ranges, set, flight, args: Args::new() })
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
        self.begin(cuda, messages, |args, elements, _, to| {
            args.pointer(u).pointer(elements).pointer(to).value(settings).slice(parameters);
        })
    }

    /// Starts to send means.
    pub(super) fn begin_means(
        &mut self,
        cuda: &Cuda,
        messages: &mut Messages,
        means: &DeviceBuffer<f64>,
    ) -> Result<(), GpuError> {
        self.begin(cuda, messages, |args, elements, n, to| {
            args.buffer(means).pointer(elements).value(n as u32).pointer(to);
        })
    }

    /// `arguments` sets those of the kernel for a message: the address of its elements, their number, and the
    /// address of the message.
    fn begin(
        &mut self,
        cuda: &Cuda,
        messages: &mut Messages,
        arguments: impl Fn(&mut Args, u64, usize, u64),
    ) -> Result<(), GpuError> {
        let Self { pack, messages: own, elements, set, flight, args, .. } = self;
        messages.begin(cuda, flight, *set, |stream| {
            own.iter().try_for_each(|Message { elements: range, config, to }| {
                args.clear();
                arguments(args, elements.ptr_at(range.start), range.len(), *to);
                // SAFETY: the arguments are the kernel's, set by the callers; elements are those of this
                // rank.
                unsafe { cuda.launch_on(stream, pack, *config, args) }
            })
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
