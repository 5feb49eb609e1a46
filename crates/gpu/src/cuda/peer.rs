//! Messages between the devices of one host without a library: each device writes into the memory of the
//! others, and flags in memory say that a message has arrived, or that its place is free again.
//!
//! A transfer is a part of a stream: the receiver raises the sender's flag `free`; the sender waits for it,
//! writes the message, and raises the receiver's flag `arrived`, for which the receiver waits (`flags.rs`).
//! Graphs can repeat transfers. The message is copied, or a kernel writes it where it is wanted.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use cudarc::driver::{result, sys};

use super::device::Context;
use super::driver::{check, wrapped};
use super::flags::{FlagKernels, Release, Route, Routes, Ways};
use super::nccl::DeviceMessage;
use super::{Args, Cuda, DeviceBuffer, Event, Function, LaunchConfig, Source, Stream};
use crate::GpuError;
use crate::comm::process::{has_ended, others, process};
use crate::comm::{CommError, Communicator, deadline};

/// Most numbers of one minimum or sum, and threads of its kernel.
const WORDS: usize = 1152;
/// Threads of the kernels of votes.cu.
const VOTERS: u32 = 128;
/// Bytes of a driver's handle of memory.
const HANDLE: usize = 64;
/// Time between looks for processes that have ended.
const LOOK: Duration = Duration::from_millis(500);
/// How long the work before an event may still take after a process has ended.
const LATE: Duration = Duration::from_secs(2);

/// Memory of another process that is mapped into this one.
struct Mapped {
    context: Arc<Context>,
    start: u64,
}

impl Drop for Mapped {
    fn drop(&mut self) {
        if self.context.bind().is_ok() {
            // SAFETY: opened by `Mapping::address`, closed once.
            let _ = unsafe { sys::cuIpcCloseMemHandle(self.start) };
        }
    }
}

/// The connection of this process's device with those of the other processes of the host.
pub(super) struct Peer {
    cuda: Cuda,
    deadline: Duration,
    sets: Vec<Routes>,
    ways: Ways,
    votes: Votes,
    /// Raises flags after a failure.
    side: Stream,
    /// The ranks of other processes, with the numbers of the processes.
    others: Vec<(usize, i32)>,
    /// Memory of other ranks by rank and handle.
    open: HashMap<(usize, String), Mapped>,
}

/// Minima and sums over all ranks; the first set sends the row of this rank to all others.
struct Votes {
    /// Writes the row of this rank.
    share: Function,
    minimum: Function,
    total: Function,
    /// Two rows of [`WORDS`] numbers for each rank; kernels of votes.cu have the first one.
    rows: DeviceBuffer<u64>,
    /// The addresses of this rank's rows on all ranks.
    places: DeviceBuffer<u64>,
    size: usize,
}

impl Peer {
    /// Connects the devices of all ranks, which must be processes of one host. Collective; if it fails on one
    /// rank, it fails on all.
    ///
    /// # Errors
    /// [`CommError::Peer`] if the devices cannot reach each other's memory.
    pub(super) fn connect(cuda: &Cuda, comm: &Arc<dyn Communicator>) -> Result<Self, GpuError> {
        let (rank, size) = (comm.rank(), comm.size());
        let rows = DeviceBuffer::<u64>::zeros(cuda, "numbers of all ranks", 2 * size * WORDS)?;
        let row = |rank: usize| rows.ptr_at(2 * rank * WORDS);
        let bytes = 2 * WORDS * size_of::<u64>();
        let vote = |other| DeviceMessage {
            rank: other,
            send: row(rank),
            send_bytes: bytes,
            receive: row(other),
            receive_bytes: bytes,
        };
        let set: Vec<_> = (0..size).filter(|&other| other != rank).map(vote).collect();
        let module = cuda.compile(&Source::new("votes.cu", include_str!("votes.cu")))?;
        let [share, minimum, total] = ["share", "minimum", "total"].map(|name| module.function(name));
        let places = DeviceBuffer::from_slice(cuda, "places of numbers", &vec![row(rank); size])?;
        let mut peer = Self {
            cuda: cuda.clone(),
            deadline: deadline()?,
            sets: Vec::new(),
            ways: Ways::agreed(cuda, comm.as_ref())?,
            votes: Votes { share: share?, minimum: minimum?, total: total?, rows, places, size },
            side: Stream::new(cuda)?,
            others: others(rank, &everywhere(comm.as_ref(), &process())?),
            open: HashMap::new(),
        };
        // SAFETY: the rows live as long as the connection.
        unsafe { peer.add(comm, &set, Release::Explicit) }?;
        let routes = peer.sets[0].routes.iter();
        let places: Vec<_> =
            routes.map(|r| r.there).chain([peer.votes.rows.ptr_at(2 * rank * WORDS)]).collect();
        peer.votes.places.upload(&places)?;
        Ok(peer)
    }

    /// Adds a set. Collective; if it fails on one rank, it fails on all.
    ///
    /// # Errors
    /// As for [`connect`](Self::connect).
    ///
    /// # Safety
    /// As for [`Link::new`](super::Link::new).
    pub(super) unsafe fn add(
        &mut self,
        comm: &Arc<dyn Communicator>,
        set: &[DeviceMessage],
        release: Release,
    ) -> Result<(), GpuError> {
        let flags = Routes::flags(&self.cuda, set.len(), release)?;
        let own = Description::new(&self.cuda, set, &flags);
        let text = own.as_ref().map_or_else(|_| String::new(), Description::to_text);
        let texts = everywhere(comm.as_ref(), &text)?;
        let routed = own.and_then(|_| {
            let all: Option<Vec<_>> = texts.iter().map(|text| Description::read(text)).collect();
            let all = all.ok_or_else(|| peer("the memory of another rank cannot be shared".to_owned()))?;
            Mapping { cuda: &self.cuda, rank: comm.rank(), all: &all, open: &mut self.open }.routes(set)
        });
        let mut failed = [f64::from(u8::from(routed.is_err()))];
        comm.max(&mut failed)?;
        match (failed, routed) {
            ([0.0], routed) => self.sets.push(Routes::new(routed?, release, flags, &self.ways)?),
            (_, Err(error @ GpuError::Ranks(_))) => return Err(error),
            (_, Err(error)) => return Err(peer(error.to_string())),
            (_, Ok(_)) => return Err(peer("another rank cannot reach the memory of a device".to_owned())),
        }
        Ok(())
    }

    /// Runs a set in a stream; sets are numbered from 0 in the order of [`add`](Self::add).
    pub(super) fn run(&self, stream: &Stream, set: usize) -> Result<(), GpuError> {
        self.open(stream, set)?;
        for Route { there, message, .. } in self.sets[set + 1].sends() {
            // SAFETY: both places have this length, by the contract of `connect`; the other rank does not use
            // its place until the flag is raised.
            let copied =
                unsafe { result::memcpy_dtod_async(*there, message.send, message.send_bytes, stream.raw) };
            wrapped("copying to another device", copied)?;
        }
        self.close(stream, set)
    }

    /// The places of a set's messages in the memory of the other devices, in the order of the set; 0 for an
    /// empty message.
    pub(super) fn places(&self, set: usize) -> Vec<u64> {
        self.sets[set + 1].routes.iter().map(|route| route.there).collect()
    }

    /// Makes a stream wait until the places of a set's messages are free.
    pub(super) fn open(&self, stream: &Stream, set: usize) -> Result<(), GpuError> {
        self.sets[set + 1].open(self.cuda.context(), stream)
    }

    /// Tells the other ranks that a set's messages are complete, and makes the stream wait for theirs.
    pub(super) fn close(&self, stream: &Stream, set: usize) -> Result<(), GpuError> {
        self.sets[set + 1].close(self.cuda.context(), stream)
    }

    /// Tells the other ranks that a set's messages have been read.
    pub(super) fn have_read(&self, stream: &Stream, set: usize) -> Result<(), GpuError> {
        self.sets[set + 1].release(self.cuda.context(), stream)
    }

    /// Replaces unsigned integers by their minima over all ranks.
    ///
    /// # Safety
    /// As for [`Link::min`](super::Link::min).
    pub(super) unsafe fn min(&self, stream: &Stream, at: u64, count: usize) -> Result<(), GpuError> {
        // SAFETY: the caller's contract.
        unsafe { self.vote(stream, (|k| &k.least, &self.votes.minimum), at, count) }
    }

    /// Replaces the first `count` integers by their sums over all ranks.
    pub(super) fn sum(
        &self,
        stream: &Stream,
        values: &mut DeviceBuffer<i64>,
        count: usize,
    ) -> Result<(), GpuError> {
        // SAFETY: the numbers are those of a buffer, which the driver does not free before the work is done.
        unsafe { self.vote(stream, (|k| &k.sums, &self.votes.total), values.ptr(), count) }
    }

    /// # Safety
    /// As for [`min`](Self::min).
    unsafe fn vote(
        &self,
        stream: &Stream,
        (one, several): (fn(&FlagKernels) -> &Function, &Function),
        at: u64,
        count: usize,
    ) -> Result<(), GpuError> {
        let Votes { share, rows, places, size, .. } = &self.votes;
        assert!(count <= WORDS, "{count} numbers of each rank, but there is place for {WORDS}");
        let (context, set) = (self.cuda.context(), &self.sets[0]);
        context.bind()?;
        // SAFETY: the caller's contract; the first set has routes to all other ranks.
        if unsafe { set.combine(stream, one, (at, count), (places, rows, WORDS)) }? {
            return Ok(());
        }
        let config = LaunchConfig::new(1, VOTERS);
        set.open(context, stream)?;
        let mut args = Args::new();
        args.value(at).buffer(places).value(*size as u32).value(count as u32);
        // SAFETY: the arguments are those of the kernel in votes.cu; `count` numbers lie at `at` by the
        // caller's contract, and fit into the rows, which the other ranks do not use until the flag is
        // raised.
        unsafe { self.cuda.launch_on(stream, share, config, &args) }?;
        set.close(context, stream)?;
        args.clear();
        args.value(at).buffer(rows).value(*size as u32).value(2 * WORDS as u32).value(count as u32);
        // SAFETY: the arguments are those of the kernels in votes.cu; `rows` has a row for each rank.
        unsafe { self.cuda.launch_on(stream, several, config, &args) }?;
        set.release(context, stream)
    }

    /// Waits for an event behind transfers.
    ///
    /// # Errors
    /// [`CommError::Peer`] after the deadline, [`CommError::Left`] if the process of another rank has ended;
    /// all transfers of this device then end, whatever they carry.
    pub(super) fn wait(&self, event: &Event) -> Result<(), GpuError> {
        let begun = Instant::now();
        let (mut looked, mut ended) = (begun, None);
        while !event.is_done()? {
            if ended.is_none() && looked.elapsed() > LOOK {
                looked = Instant::now();
                let gone = self.others.iter().find(|(_, process)| has_ended(*process));
                ended = gone.map(|&(rank, _)| (rank, looked));
            }
            let left = ended.filter(|(_, since)| since.elapsed() > LATE);
            if left.is_some() || begun.elapsed() > self.deadline {
                self.release(event);
                let seconds = self.deadline.as_secs_f64();
                return Err(match left {
                    Some((rank, _)) => CommError::Left { rank }.into(),
                    None => peer(format!("messages did not arrive within {seconds} s")),
                });
            }
            if begun.elapsed() < Duration::from_millis(2) {
                std::thread::yield_now();
            } else {
                std::thread::sleep(Duration::from_micros(50));
            }
        }
        Ok(())
    }

    /// Raises all flags until the work before the event is done, so that the device does not wait for ever.
    fn release(&self, event: &Event) {
        let begun = Instant::now();
        while matches!(event.is_done(), Ok(false)) && begun.elapsed() < Duration::from_secs(10) {
            let stopped = self.ways.stop(&self.side);
            let raised = stopped.and_then(|()| self.sets.iter().try_for_each(|set| set.raise(&self.side)));
            if raised.and_then(|()| self.side.synchronize()).is_err() {
                return;
            }
        }
    }
}

/// A place in device memory, as other processes can find it.
#[derive(Clone, Debug, PartialEq)]
struct Place {
    /// The driver's handle of the array, in hexadecimal digits.
    handle: String,
    /// The position in the array, in bytes.
    offset: u64,
    /// The address in its own process.
    address: u64,
}

/// What the other ranks need to know of one for a set: its process, and the places of its flags and of the
/// messages to it, each with the sender.
struct Description {
    process: String,
    flags: Place,
    messages: Vec<(usize, Place)>,
}

impl Description {
    fn new(cuda: &Cuda, set: &[DeviceMessage], flags: &DeviceBuffer<u32>) -> Result<Self, GpuError> {
        cuda.context().bind()?;
        let message = |m: &DeviceMessage| Ok((m.rank, place(m.receive, m.receive_bytes)?));
        Ok(Self {
            process: process(),
            flags: place(flags.ptr(), flags.bytes())?,
            messages: set.iter().map(message).collect::<Result<_, GpuError>>()?,
        })
    }

    /// Lines: the process, the flags, and each message.
    fn to_text(&self) -> String {
        let place = |p: &Place| format!("{} {} {}", p.handle, p.offset, p.address);
        let mut text = format!("{}\n{}\n", self.process, place(&self.flags));
        text.extend(self.messages.iter().map(|(rank, p)| format!("{rank} {}\n", place(p))));
        text
    }

    fn read(text: &str) -> Option<Self> {
        let place = |words: &[&str]| {
            let &[handle, offset, address] = words else { return None };
            Some(Place {
                handle: handle.to_owned(),
                offset: offset.parse().ok()?,
                address: address.parse().ok()?,
            })
        };
        let mut lines = text.lines();
        let process = lines.next()?.to_owned();
        let flags = place(&lines.next()?.split(' ').collect::<Vec<_>>())?;
        let message = |line: &str| match line.split(' ').collect::<Vec<_>>()[..] {
            [rank, ref words @ ..] => Some((rank.parse().ok()?, place(words)?)),
            [] => None,
        };
        Some(Self { process, flags, messages: lines.map(message).collect::<Option<_>>()? })
    }
}

/// The place of an array, or of a part of it; of an empty one the address only.
fn place(address: u64, bytes: usize) -> Result<Place, GpuError> {
    let (mut base, mut size) = (address, 0);
    let mut handle = sys::CUipcMemHandle { reserved: [0; HANDLE] };
    if bytes > 0 {
        // SAFETY: places for the results; the driver refuses an address that is not its own.
        let found = unsafe { sys::cuMemGetAddressRange_v2(&raw mut base, &raw mut size, address) };
        check("finding an array", found)?;
        // SAFETY: as above.
        check("sharing memory", unsafe { sys::cuIpcGetMemHandle(&raw mut handle, base) })?;
    }
    let handle = handle.reserved.iter().map(|&c| format!("{:02x}", c as u8)).collect();
    Ok(Place { handle, offset: address - base, address })
}

/// The memory of other ranks, mapped into this process as far as it is needed.
struct Mapping<'a> {
    cuda: &'a Cuda,
    rank: usize,
    all: &'a [Description],
    open: &'a mut HashMap<(usize, String), Mapped>,
}

impl Mapping<'_> {
    /// The address in this process of a place of another rank.
    fn address(&mut self, rank: usize, place: &Place) -> Result<u64, GpuError> {
        let (own, other) = (&self.all[self.rank].process, &self.all[rank].process);
        if own == other {
            return Err(peer(format!("rank {rank} is a thread of the same process")));
        }
        let host = |process: &str| process.split(' ').next().map(str::to_owned);
        if host(own) != host(other) {
            return Err(peer(format!("rank {rank} runs on another machine")));
        }
        let key = (rank, place.handle.clone());
        if let Some(mapped) = self.open.get(&key) {
            return Ok(mapped.start + place.offset);
        }
        let mut handle = sys::CUipcMemHandle { reserved: [0; HANDLE] };
        for (i, c) in handle.reserved.iter_mut().enumerate() {
            let digits = place.handle.get(2 * i..2 * i + 2);
            *c = digits.and_then(|d| u8::from_str_radix(d, 16).ok()).unwrap_or_default() as _;
        }
        let mut start = 0;
        let lazily = sys::CUipcMem_flags::CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS as u32;
        // SAFETY: a place for the address; the driver checks the handle.
        let opened = unsafe { sys::cuIpcOpenMemHandle_v2(&raw mut start, handle, lazily) };
        check("opening the memory of another device", opened)
            .map_err(|error| peer(format!("the memory of rank {rank} cannot be opened: {error}")))?;
        let mapped = Mapped { context: self.cuda.context().clone(), start };
        self.open.insert(key, mapped);
        Ok(start + place.offset)
    }

    /// The routes of a set of this rank.
    fn routes(&mut self, set: &[DeviceMessage]) -> Result<Vec<Route>, GpuError> {
        self.cuda.context().bind()?;
        let flag = |flags: u64, message: usize, which: u64| flags + 4 * (2 * message as u64 + which);
        let own = self.all[self.rank].flags.address;
        let mut routes = Vec::new();
        for (i, &message) in set.iter().enumerate() {
            let other = &self.all[message.rank];
            // The k-th message to a rank belongs to the k-th message of that rank to this one.
            let k = set[..i].iter().filter(|m| m.rank == message.rank).count();
            let mut to_this = other.messages.iter().enumerate().filter(|(_, (rank, _))| *rank == self.rank);
            let Some((j, (_, place))) = to_this.nth(k) else {
                return Err(peer(format!("rank {} does not expect a message", message.rank)));
            };
            let there = if message.send_bytes > 0 { self.address(message.rank, place)? } else { 0 };
            let flags_there = self.address(message.rank, &other.flags)?;
            routes.push(Route {
                message,
                there,
                arrived: flag(own, i, 0),
                free: flag(own, i, 1),
                arrived_there: flag(flags_there, j, 0),
                free_there: flag(flags_there, j, 1),
            });
        }
        Ok(routes)
    }
}

/// The texts of all ranks, on all ranks.
fn everywhere(comm: &dyn Communicator, own: &str) -> Result<Vec<String>, CommError> {
    let text = |rank| {
        let mut bytes = if rank == comm.rank() { own.as_bytes().to_vec() } else { Vec::new() };
        comm.broadcast(rank, &mut bytes)?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    };
    (0..comm.size()).map(text).collect()
}

fn peer(reason: String) -> GpuError {
    CommError::Peer { reason }.into()
}
