//! Flags of messages between devices that write into each other's memory: a message has arrived, or its place
//! is free again. Two ways to raise and await them, in the order of a stream:
//!
//! | way | how | |
//! |---|---|---|
//! | streams | the device's front end writes words and waits for them: all flags are down before and after | no kernel waits; 2 to 4 µs an operation |
//! | kernels | kernels of one block (`flags.cu`) compare counts, which only grow | needs a device for each rank |

use std::sync::Arc;

use cudarc::driver::sys;
use sys::CUstreamBatchMemOpType_enum as Op;

use super::device::{Context, uuid};
use super::driver::check;
use super::nccl::DeviceMessage;
use super::stream::Stream;
use super::{Args, Cuda, DeviceBuffer, Function, LaunchConfig, Source};
use crate::GpuError;
use crate::comm::{CommError, Communicator};

/// The environment variable that chooses the way of all flags: `streams` or `kernels`.
pub const FLAGS_VARIABLE: &str = "DGSUITE_PEER_FLAGS";

/// Threads of the kernels that wait, and of those that combine numbers.
const WAITERS: u32 = 32;
const COMBINERS: u32 = 128;

/// One transfer: a message to another rank and one from it.
#[derive(Clone, Copy)]
pub(super) struct Route {
    pub(super) message: DeviceMessage,
    /// Place of the message in the memory of the other rank.
    pub(super) there: u64,
    /// Flags of this device: a message has arrived; its place in the other memory is free.
    pub(super) arrived: u64,
    pub(super) free: u64,
    /// The same flags of the other device.
    pub(super) arrived_there: u64,
    pub(super) free_there: u64,
}

/// When the places of a set's messages become free again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Release {
    /// When this rank sends the next messages of the set: it has read all of them then.
    BySending,
    /// When [`Routes::release`] says so, so that the other rank need not wait for this one.
    Explicit,
}

/// The kernels of flags.cu.
pub(super) struct FlagKernels {
    cuda: Cuda,
    open: Function,
    close: Function,
    release: Function,
    pub(super) least: Function,
    pub(super) sums: Function,
    /// Not 0 after a failure: no kernel waits any more.
    stop: DeviceBuffer<u32>,
}

/// Which flags are those of kernels.
#[derive(Clone)]
pub(super) struct Ways {
    kernels: Option<Arc<FlagKernels>>,
    /// Also those of sets whose places are released by sending.
    all: bool,
}

impl Ways {
    /// The way that [`FLAGS_VARIABLE`] names on all ranks. Otherwise kernels for places that are released
    /// explicitly, if each rank has a device of its own: a kernel that waits for another one of the same
    /// device may keep it from running. Collective.
    ///
    /// # Errors
    /// [`CommError::Variable`], and those of the communication and of the device.
    pub(super) fn agreed(cuda: &Cuda, comm: &dyn Communicator) -> Result<Self, GpuError> {
        let wanted = match std::env::var(FLAGS_VARIABLE).ok() {
            None => Ok([0.0, 0.0]),
            Some(word) if word == "streams" => Ok([1.0, 0.0]),
            Some(word) if word == "kernels" => Ok([0.0, 1.0]),
            Some(value) => {
                let expected = "streams or kernels";
                Err(CommError::Variable { variable: FLAGS_VARIABLE, value, expected })
            }
        };
        // A rank with an error agrees with the others before it ends.
        let [streams, kernels] = wanted.as_ref().copied().unwrap_or_default();
        let mut wishes = [streams, kernels];
        comm.max(&mut wishes)?;
        wanted?;
        let by_streams = wishes[0] > 0.0 || (wishes[1] == 0.0 && is_a_device_shared(cuda, comm)?);
        let kernels = if by_streams { None } else { Some(Arc::new(FlagKernels::new(cuda)?)) };
        Ok(Self { kernels, all: wishes[1] > 0.0 })
    }

    /// Those of a set, or none if they are the front end's.
    pub(super) fn of(&self, release: Release) -> Option<&Arc<FlagKernels>> {
        self.kernels.as_ref().filter(|_| self.all || release == Release::Explicit)
    }

    /// Ends all waits of kernels, by work of a stream.
    pub(super) fn stop(&self, stream: &Stream) -> Result<(), GpuError> {
        let Some(kernels) = &self.kernels else { return Ok(()) };
        // SAFETY: the array has one number.
        let raised = unsafe { sys::cuMemsetD32Async(kernels.stop.ptr(), 1, 1, stream.raw) };
        check("ending messages", raised)
    }
}

/// Whether some ranks have the same device. Collective.
pub(super) fn is_a_device_shared(cuda: &Cuda, comm: &dyn Communicator) -> Result<bool, CommError> {
    let own = uuid(cuda.info().ordinal).unwrap_or_default();
    let mut answer = vec![0];
    if let Some(mut all) = comm.gather(0, &own)? {
        all.sort_unstable();
        answer = vec![u8::from(all.windows(2).any(|pair| pair[0] == pair[1]))];
    }
    comm.broadcast(0, &mut answer)?;
    Ok(answer == [1])
}

impl FlagKernels {
    fn new(cuda: &Cuda) -> Result<Self, GpuError> {
        let module = cuda.compile(&Source::new("flags.cu", include_str!("flags.cu")))?;
        Ok(Self {
            cuda: cuda.clone(),
            open: module.function("open_messages")?,
            close: module.function("close_messages")?,
            release: module.function("release_messages")?,
            least: module.function("combine_least")?,
            sums: module.function("combine_sums")?,
            stop: DeviceBuffer::zeros(cuda, "the end of messages", 1)?,
        })
    }
}

/// What the kernels know of a set.
struct Counted {
    kernels: Arc<FlagKernels>,
    /// The structures `Route` of flags.cu.
    table: DeviceBuffer<u64>,
    /// Messages sent and received, for each route.
    counts: DeviceBuffer<u32>,
}

/// The transfers of a set.
pub(super) struct Routes {
    pub(super) routes: Vec<Route>,
    release: Release,
    /// Their flags, written by other devices too.
    flags: DeviceBuffer<u32>,
    counted: Option<Counted>,
}

impl Routes {
    /// The flags of a set of `n` messages before the first one: whether a message has arrived, and whether
    /// its place on the other device is free.
    pub(super) fn flags(cuda: &Cuda, n: usize, release: Release) -> Result<DeviceBuffer<u32>, GpuError> {
        let free = u32::from(release == Release::Explicit);
        DeviceBuffer::from_slice(cuda, "flags of messages", &[0, free].repeat(n.max(1)))
    }

    pub(super) fn new(
        routes: Vec<Route>,
        release: Release,
        flags: DeviceBuffer<u32>,
        ways: &Ways,
    ) -> Result<Self, GpuError> {
        let counted = |kernels: &Arc<FlagKernels>| {
            let row = |r: &Route| {
                let there = |bytes: usize, flag: u64| if bytes > 0 { flag } else { 0 };
                let (sends, receives) = (r.message.send_bytes, r.message.receive_bytes);
                [
                    there(receives, r.arrived),
                    there(sends, r.free),
                    there(sends, r.arrived_there),
                    there(receives, r.free_there),
                ]
            };
            let table: Vec<u64> = routes.iter().flat_map(row).collect();
            let of = |table: &[u64]| DeviceBuffer::from_slice(&kernels.cuda, "flags of messages", table);
            Ok::<_, GpuError>(Counted {
                table: of(if table.is_empty() { &[0; 4] } else { &table })?,
                counts: DeviceBuffer::zeros(&kernels.cuda, "counts of messages", 2 * routes.len().max(1))?,
                kernels: Arc::clone(kernels),
            })
        };
        let counted = ways.of(release).map(counted).transpose()?;
        Ok(Self { routes, release, flags, counted })
    }

    pub(super) fn sends(&self) -> impl Iterator<Item = &Route> {
        self.routes.iter().filter(|r| r.message.send_bytes > 0)
    }

    fn receives(&self) -> impl Iterator<Item = &Route> {
        self.routes.iter().filter(|r| r.message.receive_bytes > 0)
    }

    fn count(&self) -> u32 {
        self.routes.len() as u32
    }

    /// Before messages are written.
    pub(super) fn open(&self, context: &Context, stream: &Stream) -> Result<(), GpuError> {
        context.bind()?;
        let grants = self.release == Release::BySending;
        if let Some(Counted { kernels, table, counts }) = &self.counted {
            if self.sends().next().is_none() && !grants {
                return Ok(());
            }
            let mut args = Args::new();
            args.buffer(table).buffer(counts).value(self.count()).value(u32::from(grants));
            args.buffer(&kernels.stop);
            return self.launch(kernels, stream, &kernels.open, &args);
        }
        let mut batch = Vec::new();
        if grants {
            batch.extend(self.receives().map(|r| write(r.free_there, 1)));
        }
        batch.extend(self.sends().flat_map(|r| [wait(r.free, 1), write(r.free, 0)]));
        in_stream(stream, &mut batch)
    }

    /// After messages are written, before others are read. Writing a flag makes earlier writes visible.
    pub(super) fn close(&self, context: &Context, stream: &Stream) -> Result<(), GpuError> {
        context.bind()?;
        if let Some(Counted { kernels, table, counts }) = &self.counted {
            let mut args = Args::new();
            args.buffer(table).buffer(counts).value(self.count()).buffer(&kernels.stop);
            return self.launch(kernels, stream, &kernels.close, &args);
        }
        let mut batch: Vec<_> = self.sends().map(|r| write(r.arrived_there, 1)).collect();
        batch.extend(self.receives().flat_map(|r| [wait(r.arrived, 1), write(r.arrived, 0)]));
        in_stream(stream, &mut batch)
    }

    /// After messages are read.
    pub(super) fn release(&self, context: &Context, stream: &Stream) -> Result<(), GpuError> {
        if self.release == Release::BySending || self.receives().next().is_none() {
            return Ok(());
        }
        context.bind()?;
        if let Some(Counted { kernels, table, counts }) = &self.counted {
            let mut args = Args::new();
            args.buffer(table).buffer(counts).value(self.count());
            return self.launch(kernels, stream, &kernels.release, &args);
        }
        let mut batch: Vec<_> = self.receives().map(|r| write(r.free_there, 1)).collect();
        in_stream(stream, &mut batch)
    }

    fn launch(
        &self,
        kernels: &FlagKernels,
        stream: &Stream,
        kernel: &Function,
        args: &Args,
    ) -> Result<(), GpuError> {
        if self.routes.is_empty() {
            return Ok(());
        }
        // SAFETY: the arguments are those of the kernels in flags.cu: a row of the table and two counts for
        // each route; the flags are those of the set, here and on other devices.
        unsafe { kernels.cuda.launch_on(stream, kernel, LaunchConfig::new(1, WAITERS), args) }
    }

    /// Combines the first `count` numbers at `at` with those of the other ranks by one kernel, if the flags
    /// are those of kernels. `places` are the addresses of this rank's two rows of `stride` numbers on all
    /// ranks, `rows` those of all ranks here.
    ///
    /// # Safety
    /// The numbers live until the stream has passed this work; the set has a route to every other rank, of
    /// both rows.
    pub(super) unsafe fn combine(
        &self,
        stream: &Stream,
        kernel: impl Fn(&FlagKernels) -> &Function,
        (at, count): (u64, usize),
        (places, rows, stride): (&DeviceBuffer<u64>, &DeviceBuffer<u64>, usize),
    ) -> Result<bool, GpuError> {
        let Some(Counted { kernels, table, counts }) = &self.counted else { return Ok(false) };
        let mut args = Args::new();
        args.value(at).buffer(places).buffer(rows).value(self.count() + 1).value(stride as u32);
        args.value(count as u32).buffer(table).buffer(counts).value(self.count()).buffer(&kernels.stop);
        let config = LaunchConfig::new(1, COMBINERS);
        // SAFETY: the arguments are those of the kernels in flags.cu, by the caller's contract.
        unsafe { kernels.cuda.launch_on(stream, kernel(kernels), config, &args) }?;
        Ok(true)
    }

    /// Raises all flags by work of a stream.
    pub(super) fn raise(&self, stream: &Stream) -> Result<(), GpuError> {
        if self.counted.is_some() {
            return Ok(());
        }
        // SAFETY: the range is the whole array.
        let raised = unsafe { sys::cuMemsetD32Async(self.flags.ptr(), 1, self.flags.len(), stream.raw) };
        check("ending messages", raised)
    }
}

fn write(address: u64, value: u32) -> sys::CUstreamBatchMemOpParams {
    let value = sys::CUstreamBatchMemOpParams_union_CUstreamMemOpWriteValueParams_st__bindgen_ty_1 { value };
    let mut op = sys::CUstreamBatchMemOpParams { pad: [0; 6] };
    op.writeValue = sys::CUstreamBatchMemOpParams_union_CUstreamMemOpWriteValueParams_st {
        operation: Op::CU_STREAM_MEM_OP_WRITE_VALUE_32,
        address,
        __bindgen_anon_1: value,
        flags: 0,
        alias: 0,
    };
    op
}

fn wait(address: u64, value: u32) -> sys::CUstreamBatchMemOpParams {
    let value = sys::CUstreamBatchMemOpParams_union_CUstreamMemOpWaitValueParams_st__bindgen_ty_1 { value };
    let mut op = sys::CUstreamBatchMemOpParams { pad: [0; 6] };
    op.waitValue = sys::CUstreamBatchMemOpParams_union_CUstreamMemOpWaitValueParams_st {
        operation: Op::CU_STREAM_MEM_OP_WAIT_VALUE_32,
        address,
        __bindgen_anon_1: value,
        flags: sys::CUstreamWaitValue_flags::CU_STREAM_WAIT_VALUE_EQ as u32,
        alias: 0,
    };
    op
}

fn in_stream(stream: &Stream, batch: &mut [sys::CUstreamBatchMemOpParams]) -> Result<(), GpuError> {
    if batch.is_empty() {
        return Ok(());
    }
    let (count, at) = (batch.len() as u32, batch.as_mut_ptr());
    // SAFETY: the operations are complete; the driver copies them. The addresses are those of flags.
    check("waiting for another device", unsafe { sys::cuStreamBatchMemOp_v2(stream.raw, count, at, 0) })
}
