//! Times of messages between ranks: on the host by a [`Communicator`], and between devices by a [`Link`].

use std::sync::Arc;
use std::time::Instant;

use crate::GpuError;
use crate::comm::{CommError, Communicator, Partner};
use crate::cuda::nccl::DeviceMessage;
use crate::cuda::{Cuda, DeviceBuffer, DevicePlane, Link};

/// Length of a message and the time of an exchange with it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MessageTime {
    /// Length of each message, in bytes.
    pub bytes: usize,
    /// Seconds in which every rank has sent such a message to the next rank and to the previous one, and has
    /// received theirs; two ranks send each other one message.
    pub seconds: f64,
}

/// Times of the operations of ranks. All ranks have the same times: those of the slowest rank.
#[derive(Clone, Debug, PartialEq)]
pub struct MessageTimes {
    /// The plane.
    pub plane: &'static str,
    /// Exchanges, in the order of the lengths that were asked for.
    pub exchanges: Vec<MessageTime>,
    /// Seconds in which all ranks agree: the largest of one number of each rank on the host, the smallest on
    /// devices.
    pub agreement: f64,
    /// Whether the operations of devices were part of a graph.
    pub in_graph: bool,
}

impl MessageTimes {
    /// Time of an exchange of the shortest messages, in seconds.
    #[must_use]
    pub fn latency(&self) -> f64 {
        self.exchanges.iter().map(|e| e.seconds).fold(f64::INFINITY, f64::min)
    }

    /// Bytes per second from one rank to another, from the two longest messages, so that the latency drops
    /// out; `None` unless the longer one takes longer.
    #[must_use]
    pub fn bandwidth(&self) -> Option<f64> {
        let mut sorted = self.exchanges.clone();
        sorted.sort_by_key(|e| e.bytes);
        let [.., a, b] = sorted[..] else { return None };
        let seconds = b.seconds - a.seconds;
        (seconds > 0.0).then(|| (b.bytes - a.bytes) as f64 / seconds)
    }
}

/// Number of operations of a device that are recorded together.
const RECORDED: usize = 20;

/// Measures the messages of a communicator; each length, and the agreement, takes about `seconds`.
/// Collective.
///
/// # Errors
/// Those of the communicator.
///
/// ```
/// use dgsuite_gpu::comm::{on_each, threads};
/// use dgsuite_gpu::probe::measure_messages;
///
/// let times = on_each(threads(3), |comm| measure_messages(&comm, &[8, 4096], 0.001));
/// let first = times[0].clone()?;
/// assert_eq!(first.exchanges.len(), 2);
/// assert!(times.iter().all(|t| t.as_ref() == Ok(&first)));
/// # Ok::<(), dgsuite_gpu::comm::CommError>(())
/// ```
pub fn measure_messages(
    comm: &dyn Communicator,
    lengths: &[usize],
    seconds: f64,
) -> Result<MessageTimes, CommError> {
    let mut exchanges = Vec::new();
    for &bytes in lengths {
        let partner = |rank| Partner { rank, send: bytes, receive: bytes };
        let mut exchange = comm.exchange(&neighbours(comm).into_iter().map(partner).collect::<Vec<_>>())?;
        let seconds = repeated(comm, seconds, || {
            exchange.start()?;
            exchange.finish()
        })?;
        exchanges.push(MessageTime { bytes, seconds });
    }
    let agreement = repeated(comm, seconds, || comm.max(&mut [0.0]))?;
    Ok(MessageTimes { plane: comm.plane(), exchanges, agreement, in_graph: false })
}

/// Measures the messages between the devices of all ranks by one plane; see [`measure_messages`]. Operations
/// are recorded in a graph if the plane allows that. Collective.
///
/// # Errors
/// Those of [`Link`], and [`GpuError::OutOfDeviceMemory`].
pub fn measure_link(
    cuda: &Cuda,
    comm: &Arc<dyn Communicator>,
    plane: DevicePlane,
    lengths: &[usize],
    seconds: f64,
) -> Result<MessageTimes, GpuError> {
    const WHAT: &str = "measuring messages";
    let longest = lengths.iter().copied().max().unwrap_or(0);
    let others = neighbours(comm.as_ref());
    let zeros = |n| DeviceBuffer::<u64>::zeros(cuda, WHAT, n);
    let words = longest.div_ceil(8);
    let (from, to) = (zeros(others.len() * words)?, zeros(others.len() * words)?);
    let number = zeros(1)?;
    let message = |bytes: usize, i: usize, rank: usize| DeviceMessage {
        rank,
        send: from.ptr_at(i * words),
        send_bytes: bytes,
        receive: to.ptr_at(i * words),
        receive_bytes: bytes,
    };
    let set = |&bytes: &usize| others.iter().enumerate().map(|(i, &rank)| message(bytes, i, rank)).collect();
    let sets = lengths.iter().map(set).collect();
    // SAFETY: the arrays live longer than the link, which waits for its work below.
    let mut link = unsafe { Link::on(cuda, comm, sets, plane) }?;
    let in_graph = link.is_recordable();
    let timed = |link: &mut Link, work: &mut dyn FnMut(&mut Link) -> Result<(), GpuError>| {
        // Connections are made by the first message, outside of recordings.
        work(link)?;
        link.wait()?;
        if !in_graph {
            return repeated(comm.as_ref(), seconds, || work(link));
        }
        let graph = cuda.capture(|_| (0..RECORDED).try_for_each(|_| work(link)))?;
        let time = repeated(comm.as_ref(), seconds, || {
            graph.launch()?;
            link.wait()
        })?;
        Ok(time / RECORDED as f64)
    };
    let mut exchanges = Vec::new();
    for (set, &bytes) in lengths.iter().enumerate() {
        exchanges.push(MessageTime { bytes, seconds: timed(&mut link, &mut |link| link.run(set))? });
    }
    // SAFETY: the number lives longer than the work, which `timed` waits for.
    let agreement = timed(&mut link, &mut |link| match unsafe { link.min(number.ptr(), 1) }? {
        true => Ok(()),
        false => Ok(comm.max(&mut [0.0])?),
    })?;
    link.wait()?;
    Ok(MessageTimes { plane: link.plane(), exchanges, agreement, in_graph })
}

/// The next rank and the previous one.
fn neighbours(comm: &dyn Communicator) -> Vec<usize> {
    let (rank, size) = (comm.rank(), comm.size());
    let mut others = vec![(rank + 1) % size, (rank + size - 1) % size];
    others.dedup();
    others
}

/// Seconds of one call of `work`, on the slowest rank, from as many calls as fit into `seconds`.
fn repeated<E: From<CommError>>(
    comm: &dyn Communicator,
    seconds: f64,
    mut work: impl FnMut() -> Result<(), E>,
) -> Result<f64, E> {
    let mut time = |calls: usize| {
        comm.barrier()?;
        let start = Instant::now();
        (0..calls).try_for_each(|_| work())?;
        let mut slowest = [start.elapsed().as_secs_f64() / calls as f64];
        comm.max(&mut slowest)?;
        Ok::<f64, E>(slowest[0].max(1e-9))
    };
    time(1)?;
    let calls = seconds / time(2)?;
    time((calls as usize).clamp(3, 100_000))
}
