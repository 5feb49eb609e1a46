//! Links between the devices of ranks: transfers from device memory to the device memory of other ranks.
//!
//! | plane | how |
//! |---|---|
//! | `nccl` | NVIDIA's NCCL, in stream order; can be recorded in graphs |
//! | `peer` | writes into the memory of the other devices of the host, in stream order; can be recorded |
//! | `staged` | through host memory and the communicator; waits for the stream |

use std::sync::{Arc, Mutex, PoisonError, Weak};

use cudarc::driver::result;

use super::driver::wrapped;
use super::flags::{Release, is_a_device_shared};
use super::nccl::{self, DeviceMessage, Nccl};
use super::peer::Peer;
use super::stream::{Event, Stream};
use super::{Cuda, DeviceBuffer};
use crate::GpuError;
use crate::comm::{Amount, CommError, Communicator, Exchange, Partner};

/// The environment variable that chooses the plane: `nccl`, `peer` or `staged`.
pub const PLANE_VARIABLE: &str = "DGSUITE_DEVICE_PLANE";

/// The way of messages between devices.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DevicePlane {
    /// By NCCL.
    Nccl,
    /// By copies into the memory of the other devices, which are on the same host.
    Peer,
    /// Through host memory, by the communicator.
    Staged,
}

impl DevicePlane {
    /// All planes.
    pub const ALL: [Self; 3] = [Self::Nccl, Self::Peer, Self::Staged];

    /// Its name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Nccl => "nccl",
            Self::Peer => "peer",
            Self::Staged => "staged",
        }
    }

    /// The plane that [`Link::new`] chooses if all ranks are like this one. On one host, copies between
    /// devices are faster than NCCL, whose kernels compete with those of the stage.
    #[must_use]
    pub fn expected(comm: &dyn Communicator) -> Self {
        let found = || match comm.plane() == "children" || nccl::library().is_err() {
            true => Self::Peer,
            false => Self::Nccl,
        };
        Self::wanted().ok().flatten().unwrap_or_else(found)
    }

    /// The plane that [`PLANE_VARIABLE`] names.
    fn wanted() -> Result<Option<Self>, CommError> {
        let Ok(value) = std::env::var(PLANE_VARIABLE) else { return Ok(None) };
        match Self::ALL.into_iter().find(|plane| plane.name() == value) {
            Some(plane) => Ok(Some(plane)),
            None => {
                let expected = "nccl, peer or staged";
                Err(CommError::Variable { variable: PLANE_VARIABLE, value, expected })
            }
        }
    }
}

/// Persistent sets of transfers.
pub struct Link {
    cuda: Cuda,
    sets: Vec<Vec<DeviceMessage>>,
    plane: Plane,
    /// Why messages through the host failed: they are under way for good.
    failed: Option<CommError>,
    done: Event,
}

enum Plane {
    Nccl(Arc<Nccl>),
    Peer(Box<Peer>),
    /// One exchange for each set.
    Staged(Vec<Box<dyn Exchange>>),
}

/// The exchange of a set through the communicator.
fn exchange_of(comm: &Arc<dyn Communicator>, set: &[DeviceMessage]) -> Result<Box<dyn Exchange>, CommError> {
    let partner = |t: &DeviceMessage| Partner { rank: t.rank, send: t.send_bytes, receive: t.receive_bytes };
    comm.exchange(&set.iter().map(partner).collect::<Vec<_>>())
}

/// The connections by NCCL that exist: the ranks, the device, and the connection.
static CONNECTIONS: Mutex<Vec<(Weak<dyn Communicator>, usize, Weak<Nccl>)>> = Mutex::new(Vec::new());

/// The connection of all links of a device with the same ranks, made for the first of them: the work of
/// several connections may wait for each other for ever. Collective.
fn nccl_of(cuda: &Cuda, comm: &Arc<dyn Communicator>) -> Result<Arc<Nccl>, CommError> {
    let lock = || CONNECTIONS.lock().unwrap_or_else(PoisonError::into_inner);
    let ordinal = cuda.info().ordinal;
    let same = |(of, device, _): &&(Weak<dyn Communicator>, usize, Weak<Nccl>)| {
        *device == ordinal && of.upgrade().is_some_and(|of| Arc::ptr_eq(&of, comm))
    };
    if let Some(known) = lock().iter().find(same).and_then(|(.., known)| known.upgrade()) {
        return Ok(known);
    }
    // Ranks that are threads connect at the same time.
    let new = Arc::new(Nccl::connect(cuda, comm.as_ref())?);
    let mut all = lock();
    all.retain(|(.., known)| known.strong_count() > 0);
    all.push((Arc::downgrade(comm), ordinal, Arc::downgrade(&new)));
    Ok(new)
}

impl Link {
    /// Prepares sets of transfers, each of which is run as a whole. Collective: all ranks call this in the
    /// same order, and each transfer has its counterpart in the same set. The plane is that of
    /// [`PLANE_VARIABLE`]. Otherwise, ranks of one host take `peer` if the devices reach each other, then
    /// NCCL if all ranks have it, and each a device of its own; ranks of MPI and sockets take these in the
    /// opposite order; the last is `staged`.
    ///
    /// # Errors
    /// [`GpuError`] of the device or of NCCL, [`GpuError::Ranks`] if other ranks cannot be reached.
    ///
    /// # Safety
    /// The addresses are those of memory of `cuda` with the given sizes, as long as the link exists.
    pub unsafe fn new(
        cuda: &Cuda,
        comm: &Arc<dyn Communicator>,
        sets: Vec<Vec<DeviceMessage>>,
    ) -> Result<Self, GpuError> {
        let mut lacks = [f64::from(u8::from(nccl::library().is_err()))];
        comm.max(&mut lacks)?;
        if let Some(plane) = DevicePlane::wanted()? {
            // SAFETY: the caller's contract.
            return unsafe { Self::on(cuda, comm, sets, plane) };
        }
        let can = lacks == [0.0] && !is_a_device_shared(cuda, comm.as_ref())?;
        let nccl = can.then_some(DevicePlane::Nccl);
        if let Some(plane) = nccl.filter(|_| ["mpi", "sockets"].contains(&comm.plane())) {
            // SAFETY: the caller's contract.
            return unsafe { Self::on(cuda, comm, sets, plane) };
        }
        // It fails on all ranks alike.
        // SAFETY: the caller's contract.
        match unsafe { Self::on(cuda, comm, sets.clone(), DevicePlane::Peer) } {
            // SAFETY: the caller's contract.
            Err(GpuError::Ranks(CommError::Peer { .. })) => unsafe {
                Self::on(cuda, comm, sets, nccl.unwrap_or(DevicePlane::Staged))
            },
            other => other,
        }
    }

    /// As [`new`](Self::new), by a plane that is the same on all ranks.
    ///
    /// # Errors
    /// As for [`new`](Self::new); also if this plane is not possible here.
    ///
    /// # Safety
    /// As for [`new`](Self::new).
    pub unsafe fn on(
        cuda: &Cuda,
        comm: &Arc<dyn Communicator>,
        sets: Vec<Vec<DeviceMessage>>,
        plane: DevicePlane,
    ) -> Result<Self, GpuError> {
        let plane = match plane {
            DevicePlane::Nccl => Plane::Nccl(nccl_of(cuda, comm)?),
            DevicePlane::Peer => {
                let mut peer = Peer::connect(cuda, comm)?;
                // SAFETY: the caller's contract.
                sets.iter().try_for_each(|set| unsafe { peer.add(comm, set, Release::BySending) })?;
                Plane::Peer(Box::new(peer))
            }
            DevicePlane::Staged => {
                Plane::Staged(sets.iter().map(|set| exchange_of(comm, set)).collect::<Result<_, _>>()?)
            }
        };
        if let Some(traffic) = comm.traffic() {
            cuda.counts_in(traffic);
        }
        Ok(Self { cuda: cuda.clone(), sets, plane, failed: None, done: Event::new(cuda)? })
    }

    /// Adds a set and returns its number. With `released`, whoever has read its messages calls
    /// [`release`](Self::release), so that other ranks can send the next ones before this rank does.
    /// Collective.
    ///
    /// # Errors
    /// As for [`new`](Self::new).
    ///
    /// # Safety
    /// As for [`new`](Self::new), as long as the set is run.
    pub unsafe fn add(
        &mut self,
        comm: &Arc<dyn Communicator>,
        set: Vec<DeviceMessage>,
        released: bool,
    ) -> Result<usize, GpuError> {
        let release = if released { Release::Explicit } else { Release::BySending };
        match &mut self.plane {
            Plane::Nccl(_) => {}
            // SAFETY: the caller's contract.
            Plane::Peer(peer) => unsafe { peer.add(comm, &set, release) }?,
            Plane::Staged(exchanges) => exchanges.push(exchange_of(comm, &set)?),
        }
        self.sets.push(set);
        Ok(self.sets.len() - 1)
    }

    /// The name of the plane.
    #[must_use]
    pub const fn plane(&self) -> &'static str {
        match self.plane {
            Plane::Nccl(_) => DevicePlane::Nccl.name(),
            Plane::Peer(_) => DevicePlane::Peer.name(),
            Plane::Staged(_) => DevicePlane::Staged.name(),
        }
    }

    /// Whether [`run`](Self::run) can be recorded in a graph.
    #[must_use]
    pub const fn is_recordable(&self) -> bool {
        !matches!(self.plane, Plane::Staged(_))
    }

    /// Runs a set, after the work that is in this thread's stream and before the work that follows.
    ///
    /// # Errors
    /// As for [`new`](Self::new).
    ///
    /// # Panics
    /// If there is no such set.
    pub fn run(&mut self, set: usize) -> Result<(), GpuError> {
        let stream = Stream::current(self.cuda.context());
        self.run_in(&stream, set)
    }

    /// As [`run`](Self::run), in the order of a given stream. Sets of one link do not run at the same time.
    ///
    /// # Errors
    /// As for [`new`](Self::new).
    ///
    /// # Panics
    /// If there is no such set.
    pub fn run_in(&mut self, stream: &Stream, set: usize) -> Result<(), GpuError> {
        self.count_messages(set);
        let transfers = &self.sets[set];
        match &mut self.plane {
            // SAFETY: the addresses are the contract of `new`.
            Plane::Nccl(nccl) => Ok(unsafe { nccl.exchange(stream, transfers) }?),
            Plane::Peer(peer) => peer.run(stream, set),
            Plane::Staged(exchanges) => {
                let (context, exchange) = (self.cuda.context(), &mut exchanges[set]);
                if let Some(error) = &self.failed {
                    return Err(error.clone().into());
                }
                context.bind()?;
                for (i, t) in transfers.iter().enumerate() {
                    // SAFETY: the addresses are the contract of `new`; the message outlives the copy, for
                    // which the next line waits.
                    let copied =
                        unsafe { result::memcpy_dtoh_async(exchange.outgoing(i), t.send, stream.raw) };
                    wrapped("copying from the device", copied)?;
                }
                stream.synchronize()?;
                if let Err(error) = exchange.start().and_then(|()| exchange.finish()) {
                    self.failed = Some(error.clone());
                    return Err(error.into());
                }
                context.bind()?;
                for (i, t) in transfers.iter().enumerate() {
                    // SAFETY: as above; the message is not written before the next call has waited for the
                    // stream.
                    let copied =
                        unsafe { result::memcpy_htod_async(t.receive, exchange.incoming(i), stream.raw) };
                    wrapped("copying to the device", copied)?;
                }
                stream.synchronize()
            }
        }
    }

    /// Counts the messages of a set, but those of the communicator, which counts its own.
    fn count_messages(&self, set: usize) {
        if let (true, Some(traffic)) = (self.is_recordable(), self.cuda.traffic()) {
            traffic.add(Amount::of(self.sets[set].iter().map(|message| message.send_bytes)));
        }
    }

    /// Counts an agreement.
    fn count_agreement(&self) {
        if let (true, Some(traffic)) = (self.is_recordable(), self.cuda.traffic()) {
            traffic.add(Amount::AGREEMENT);
        }
    }

    /// The places of a set's messages in the memory of the other ranks' devices, in the order of the set, if
    /// kernels of this device can write there, between [`open`](Self::open) and [`close`](Self::close): this
    /// takes the place of [`run`](Self::run) and needs no array for messages.
    #[must_use]
    pub fn places(&self, set: usize) -> Option<Vec<u64>> {
        match &self.plane {
            Plane::Peer(peer) => Some(peer.places(set)),
            Plane::Nccl(_) | Plane::Staged(_) => None,
        }
    }

    /// Makes a stream wait until the [`places`](Self::places) of a set may be written. Without such places it
    /// does nothing.
    ///
    /// # Errors
    /// As for [`new`](Self::new).
    ///
    /// # Panics
    /// If there is no such set.
    pub fn open(&self, stream: &Stream, set: usize) -> Result<(), GpuError> {
        match &self.plane {
            Plane::Peer(peer) => peer.open(stream, set),
            Plane::Nccl(_) | Plane::Staged(_) => Ok(()),
        }
    }

    /// Tells the other ranks that work of a stream has written all messages of a set to their
    /// [`places`](Self::places), and makes the stream wait for the messages of the other ranks. Without such
    /// places, the same as [`run_in`](Self::run_in).
    ///
    /// # Errors
    /// As for [`new`](Self::new).
    ///
    /// # Panics
    /// If there is no such set.
    pub fn close(&mut self, stream: &Stream, set: usize) -> Result<(), GpuError> {
        match &self.plane {
            Plane::Peer(peer) => {
                self.count_messages(set);
                peer.close(stream, set)
            }
            Plane::Nccl(_) | Plane::Staged(_) => self.run_in(stream, set),
        }
    }

    /// Tells the other ranks that work of a stream has read a set's messages, if the set was added so.
    ///
    /// # Errors
    /// As for [`new`](Self::new).
    ///
    /// # Panics
    /// If there is no such set.
    pub fn release(&self, stream: &Stream, set: usize) -> Result<(), GpuError> {
        match &self.plane {
            Plane::Peer(peer) => peer.have_read(stream, set),
            Plane::Nccl(_) | Plane::Staged(_) => Ok(()),
        }
    }

    /// Replaces integers by their minima over all ranks, in the order of this thread's stream. Returns
    /// `false`, and does nothing, if this plane needs the host for it.
    ///
    /// # Errors
    /// [`GpuError::Ranks`].
    ///
    /// # Safety
    /// The address is that of `count` integers of 64 bits on this device, which live until the stream has
    /// passed this work, also when a graph repeats it.
    pub unsafe fn min(&self, at: u64, count: usize) -> Result<bool, GpuError> {
        self.count_agreement();
        let stream = Stream::current(self.cuda.context());
        match &self.plane {
            // SAFETY: the caller's contract.
            Plane::Nccl(nccl) => Ok(unsafe { nccl.min(&stream, at, count) }.map(|()| true)?),
            // SAFETY: the caller's contract.
            Plane::Peer(peer) => unsafe { peer.min(&stream, at, count) }.map(|()| true),
            Plane::Staged(_) => Ok(false),
        }
    }

    /// Replaces the first `count` integers by their sums over all ranks, with wrapping; otherwise as
    /// [`min`](Self::min).
    ///
    /// # Errors
    /// [`GpuError::Ranks`].
    ///
    /// # Panics
    /// If there are not so many integers.
    pub fn sum(&self, values: &mut DeviceBuffer<i64>, count: usize) -> Result<bool, GpuError> {
        assert!(count <= values.len(), "{count} integers of {}", values.len());
        self.count_agreement();
        let stream = Stream::current(self.cuda.context());
        match &self.plane {
            Plane::Nccl(nccl) => Ok(nccl.sum(&stream, values, count).map(|()| true)?),
            Plane::Peer(peer) => peer.sum(&stream, values, count).map(|()| true),
            Plane::Staged(_) => Ok(false),
        }
    }

    /// Whether [`sum`](Self::sum) does without the host.
    #[must_use]
    pub const fn sums(&self) -> bool {
        !matches!(self.plane, Plane::Staged(_))
    }

    /// Waits until this thread's stream is done.
    ///
    /// # Errors
    /// Failures of the device; after the communicator's deadline, or a failure of another rank's device,
    /// [`GpuError::Ranks`].
    pub fn wait(&self) -> Result<(), GpuError> {
        Stream::current(self.cuda.context()).record(&self.done)?;
        self.wait_for(&self.done)
    }

    /// Waits for an event behind work of this link, as [`wait`](Self::wait).
    ///
    /// # Errors
    /// As for [`wait`](Self::wait).
    pub fn wait_for(&self, event: &Event) -> Result<(), GpuError> {
        match &self.plane {
            Plane::Nccl(nccl) => Ok(nccl.wait(event)?),
            Plane::Peer(peer) => peer.wait(event),
            Plane::Staged(_) => event.synchronize(),
        }
    }
}
