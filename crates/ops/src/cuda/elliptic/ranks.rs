//! Messages between the devices of ranks that solve an elliptic problem: launches of `elliptic_ranks.cu`.
//!
//! As on the host, entries of the layer of elements beyond the rank's own are brought from the ranks that own
//! them after each product, and vectors of the coarsest level are gathered on all ranks.

use super::{CudaSipdg, with_headers};
use crate::elliptic::{EllipticRanks, Entries, Sipdg};
use crate::error::OpsError;
use crate::lock::lock;
use dgsuite_gpu::cuda::nccl::DeviceMessage;
use dgsuite_gpu::cuda::{Args, Cuda, DeviceBuffer, Function, JointLink, LaunchConfig};
use dgsuite_gpu::{CudaVector, GpuError, Scalar};
use std::sync::{Arc, Mutex};

/// Threads of a block.
const THREADS: u32 = 256;

/// The devices of the ranks of an elliptic problem: one link for all its operators, and messages that several
/// of them share.
pub(crate) struct DeviceRanks {
    link: Arc<JointLink>,
    refreshes: Mutex<Vec<Arc<CudaRefresh>>>,
    gatherings: Mutex<Vec<Arc<Gathered>>>,
}

impl DeviceRanks {
    /// Those of `ranks`, made at first. Collective.
    pub(crate) fn of(ranks: &EllipticRanks, cuda: &Cuda) -> Result<Arc<Self>, GpuError> {
        let mut known = lock(&ranks.on_device);
        if let Some(Ok(known)) = known.as_ref().map(|known| Arc::clone(known).downcast::<Self>()) {
            return Ok(known);
        }
        let link = Arc::new(JointLink::new(cuda, ranks.joint())?);
        let of = Arc::new(Self { link, refreshes: Mutex::default(), gatherings: Mutex::default() });
        *known = Some(Arc::clone(&of) as _);
        Ok(of)
    }

    pub(crate) const fn link(&self) -> &Arc<JointLink> {
        &self.link
    }

    /// The messages of the vectors of an operator, of which `rows` are the places on the device. Collective.
    pub(super) fn refresh<T: Scalar>(
        &self,
        cuda: &Cuda,
        host: &Sipdg<f64>,
        rows: &[u32],
    ) -> Result<Arc<CudaRefresh>, OpsError> {
        let ranks = host.ranks().ok_or_else(not_on_ranks)?;
        let places = |list: &[u32]| -> Vec<u32> {
            list.iter().flat_map(|&e| on_device(host.entries(e as usize), rows)).collect()
        };
        let all = ranks.neighbours().iter();
        let lists =
            all.map(|n| (n.part as usize, Lists { sends: places(&n.sends), receives: places(&n.receives) }));
        let lists: Vec<(usize, Lists)> = lists.collect();
        let mut known = lock(&self.refreshes);
        let found = known.iter().find(|k| k.messages.bytes == T::BYTES && k.messages.lists == lists);
        let found = found.map(Arc::clone);
        let mut missing = [found.is_none()];
        ranks.any(&mut missing)?;
        if let (Some(found), [false]) = (found, missing) {
            return Ok(found);
        }
        let messages = Messages::new::<T>(cuda, &self.link, lists)?;
        let new = Arc::new(CudaRefresh { messages });
        known.push(Arc::clone(&new));
        Ok(new)
    }

    /// The messages of vectors that are gathered. Collective.
    fn gathered<T: Scalar>(
        &self,
        cuda: &Cuda,
        ranks: &EllipticRanks,
        lists: Vec<(usize, Lists)>,
        pairs: [Vec<u32>; 2],
    ) -> Result<Arc<Gathered>, OpsError> {
        let mut known = lock(&self.gatherings);
        let same = |k: &&Arc<Gathered>| {
            k.messages.bytes == T::BYTES && k.messages.lists == lists && k.listed == pairs
        };
        let found = known.iter().find(same).map(Arc::clone);
        let mut missing = [found.is_none()];
        ranks.any(&mut missing)?;
        if let (Some(found), [false]) = (found, missing) {
            return Ok(found);
        }
        let messages = Messages::new::<T>(cuda, &self.link, lists)?;
        let list = |of: &[u32]| DeviceBuffer::from_slice(cuda, "the entries of a rank", of);
        let (here, there) = (list(&pairs[0])?, list(&pairs[1])?);
        let new = Arc::new(Gathered { messages, here, there, listed: pairs });
        known.push(Arc::clone(&new));
        Ok(new)
    }
}

fn not_on_ranks() -> OpsError {
    OpsError::Elliptic { reason: "the operator is not on several ranks".to_owned() }
}

/// The places on a device of an element's entries.
fn on_device(entries: Entries, rows: &[u32]) -> impl Iterator<Item = u32> {
    entries.all().map(|entry| rows[entry])
}

/// Places of what is sent to another rank, and of what comes from there.
#[derive(PartialEq)]
struct Lists {
    sends: Vec<u32>,
    receives: Vec<u32>,
}

/// Messages between entries of vectors on all ranks.
struct Messages {
    link: Arc<JointLink>,
    set: usize,
    /// Bytes of a number.
    bytes: usize,
    lists: Vec<(usize, Lists)>,
    copy: Function,
    /// The entries of each message to another rank, and the address to which they are copied.
    packs: Vec<(DeviceBuffer<u32>, u64)>,
    /// All messages from other ranks, and their entries.
    incoming: DeviceBuffer<f64>,
    received: DeviceBuffer<u32>,
    _outgoing: DeviceBuffer<f64>,
}

impl Messages {
    /// Collective.
    fn new<T: Scalar>(
        cuda: &Cuda,
        link: &Arc<JointLink>,
        lists: Vec<(usize, Lists)>,
    ) -> Result<Self, GpuError> {
        const WHAT: &str = "messages to other ranks";
        let text = include_str!("elliptic_ranks.cu");
        let copy = cuda.compile(&with_headers::<T>("elliptic_ranks.cu", text))?.function("copy_entries")?;
        // Messages begin at multiples of 8 bytes.
        let padded = |n: usize| (n * T::BYTES).div_ceil(size_of::<f64>());
        let sum = |of: &dyn Fn(&Lists) -> usize| lists.iter().map(|(_, list)| padded(of(list))).sum();
        let outgoing = DeviceBuffer::<f64>::zeros(cuda, WHAT, sum(&|list| list.sends.len()))?;
        let incoming = DeviceBuffer::<f64>::zeros(cuda, WHAT, sum(&|list| list.receives.len()))?;
        let (mut at, mut messages) = ([0; 2], Vec::new());
        for (rank, list) in &lists {
            messages.push(DeviceMessage {
                rank: *rank,
                send: outgoing.ptr_at(at[0]),
                send_bytes: list.sends.len() * T::BYTES,
                receive: incoming.ptr_at(at[1]),
                receive_bytes: list.receives.len() * T::BYTES,
            });
            at = [at[0] + padded(list.sends.len()), at[1] + padded(list.receives.len())];
        }
        // SAFETY: the arrays live as long as these messages, and the set is not run without them.
        let set = unsafe { link.add(messages.clone())? };
        let places = link.places(set);
        let to = |i: usize| places.as_ref().map_or(messages[i].send, |places| places[i]);
        let pack = |(i, (_, list)): (usize, &(usize, Lists))| {
            Ok((DeviceBuffer::from_slice(cuda, WHAT, &list.sends)?, to(i)))
        };
        let packs = lists.iter().enumerate().map(pack).collect::<Result<_, GpuError>>()?;
        // Numbers in the gaps between messages have no place.
        let mut received = Vec::new();
        for (_, list) in &lists {
            received.extend_from_slice(&list.receives);
            let gap = padded(list.receives.len()) * size_of::<f64>() / T::BYTES - list.receives.len();
            received.extend(std::iter::repeat_n(NOWHERE, gap));
        }
        let received = DeviceBuffer::from_slice(cuda, WHAT, &received)?;
        let (link, bytes) = (Arc::clone(link), T::BYTES);
        Ok(Self { link, set, bytes, lists, copy, packs, incoming, received, _outgoing: outgoing })
    }

    /// Sends entries of `from`, and copies what arrives to entries of `to`.
    fn run(&self, cuda: &Cuda, from: u64, to: u64) -> Result<(), GpuError> {
        let pack = || {
            let mut args = Args::new();
            for (entries, message) in &self.packs {
                args.clear();
                args.pointer(from).buffer(entries).pointer(*message).pointer(0).value(entries.len() as u64);
                self.launch(cuda, &args, entries.len())?;
            }
            Ok(())
        };
        let unpack = || {
            let mut args = Args::new();
            args.buffer(&self.incoming).pointer(0).pointer(to).buffer(&self.received);
            args.value(self.received.len() as u64);
            self.launch(cuda, &args, self.received.len())
        };
        self.link.send(self.set, pack, unpack)
    }

    fn launch(&self, cuda: &Cuda, args: &Args, n: usize) -> Result<(), GpuError> {
        if n == 0 {
            return Ok(());
        }
        // SAFETY: the arguments are those of the kernel: lists of places in vectors of the operator, and
        // messages of their lengths.
        unsafe { cuda.launch(&self.copy, LaunchConfig::cover(n, THREADS), args) }
    }
}

/// Marks a number of a message that has no place.
const NOWHERE: u32 = u32::MAX;

/// Brings the entries of elements of other ranks.
pub(super) struct CudaRefresh {
    messages: Messages,
}

impl CudaRefresh {
    pub(super) fn run<T: Scalar>(&self, cuda: &Cuda, vector: &mut DeviceBuffer<T>) -> Result<(), GpuError> {
        self.messages.run(cuda, vector.ptr(), vector.ptr())
    }
}

/// Brings entries of nodes that elements of several ranks share.
pub(super) struct NodeMessages(Messages);

impl NodeMessages {
    /// By partner: its rank, the places of what is sent, and where what comes from it is put. Collective.
    pub(super) fn new<T: Scalar>(
        cuda: &Cuda,
        link: &Arc<JointLink>,
        partners: Vec<(usize, Vec<u32>, Vec<u32>)>,
    ) -> Result<Self, GpuError> {
        let list = |(rank, sends, receives)| (rank, Lists { sends, receives });
        Ok(Self(Messages::new::<T>(cuda, link, partners.into_iter().map(list).collect())?))
    }

    /// Sends entries of `from`, and puts what arrives to `to`.
    pub(super) fn run(&self, cuda: &Cuda, from: u64, to: u64) -> Result<(), GpuError> {
        self.0.run(cuda, from, to)
    }
}

/// What all gatherings between the same vectors share.
struct Gathered {
    messages: Messages,
    /// Entries of this rank's vectors, with those of the layer, and the same entries in whole vectors.
    here: DeviceBuffer<u32>,
    there: DeviceBuffer<u32>,
    listed: [Vec<u32>; 2],
}

/// Gathers vectors of a rank's part of the mesh to vectors of the whole mesh, on the devices of all ranks, as
/// [`Gathering`](crate::elliptic::Gathering).
pub struct CudaGathering<T> {
    cuda: Cuda,
    of: Arc<Gathered>,
    lengths: [usize; 2],
    numbers: std::marker::PhantomData<T>,
}

impl<T: Scalar> CudaGathering<T> {
    /// Prepares the exchange between vectors of `part`, the device version of `of_part` on several ranks, and
    /// of `whole`, the operator of the same order on the whole mesh. Collective.
    ///
    /// # Errors
    /// [`OpsError::Elliptic`] if the operator is not on several ranks; errors of the communication.
    pub fn new(part: &CudaSipdg<T>, of_part: &Sipdg<f64>, whole: &Sipdg<f64>) -> Result<Self, OpsError> {
        let ranks = of_part.ranks().ok_or_else(not_on_ranks)?;
        let cuda = part.cuda.clone();
        let (rows, whole_rows) = (part.rows(), whole.device_rows()?);
        let (mut own, mut here, mut there) = (Vec::new(), Vec::new(), Vec::new());
        for (local, &element) in ranks.elements().iter().enumerate() {
            let entries = of_part.entries(local);
            here.extend(on_device(entries, rows));
            there.extend(on_device(whole.entries(element as usize), &whole_rows));
            if ranks.owns(local) {
                own.extend(on_device(entries, rows));
            }
        }
        let comm = ranks.joint().comm();
        let mut receives = vec![Vec::new(); comm.size()];
        for (element, &rank) in ranks.partition().of().iter().enumerate() {
            receives[rank as usize].extend(on_device(whole.entries(element), &whole_rows));
        }
        let others = receives.into_iter().enumerate().filter(|(rank, _)| *rank != comm.rank());
        let lists = others.map(|(rank, receives)| (rank, Lists { sends: own.clone(), receives })).collect();
        let devices = DeviceRanks::of(ranks, &cuda)?;
        let of = devices.gathered::<T>(&cuda, ranks, lists, [here, there])?;
        Ok(Self { cuda, of, lengths: [part.len(), whole.len()], numbers: std::marker::PhantomData })
    }

    /// Prepares the exchange between vectors of this rank and whole vectors, of these lengths: the entries
    /// `here` are the entries `there` of whole vectors, `receives` are those of the other ranks, which come
    /// from each in the order of its own `there`. Collective.
    ///
    /// # Errors
    /// Not enough memory, errors of the communication.
    pub fn of_entries(
        cuda: &Cuda,
        link: &Arc<JointLink>,
        [here, there]: [Vec<u32>; 2],
        receives: Vec<(usize, Vec<u32>)>,
        lengths: [usize; 2],
    ) -> Result<Self, GpuError> {
        let lists =
            receives.into_iter().map(|(rank, receives)| (rank, Lists { sends: here.clone(), receives }));
        let messages = Messages::new::<T>(cuda, link, lists.collect())?;
        let list = |of: &[u32]| DeviceBuffer::from_slice(cuda, "the entries of a rank", of);
        let of = Gathered { messages, here: list(&here)?, there: list(&there)?, listed: [here, there] };
        Ok(Self { cuda: cuda.clone(), of: Arc::new(of), lengths, numbers: std::marker::PhantomData })
    }

    /// Completes numbers of which each rank has its own, if whole vectors are all there is: the entries
    /// `here` of every rank are sent, and those of the others received, in one place. Collective.
    ///
    /// # Errors
    /// Errors of launches and messages.
    pub fn complete(&self, whole: &mut DeviceBuffer<T>) -> Result<(), GpuError> {
        self.of.messages.run(&self.cuda, whole.ptr(), whole.ptr())
    }

    /// The whole vector. Its padding is not changed. Collective.
    ///
    /// # Errors
    /// [`GpuError::Length`] if a length is not that of the operators, errors of launches and messages.
    pub fn gather(&self, part: &CudaVector<T>, whole: &mut CudaVector<T>) -> Result<(), GpuError> {
        self.put(part, whole)?;
        self.of.messages.run(&self.cuda, part.buffer().ptr(), whole.buffer().ptr())
    }

    /// Copies this rank's entries, with those of the layer, into a whole vector.
    ///
    /// # Errors
    /// As for [`gather`](Self::gather).
    pub fn put(&self, part: &CudaVector<T>, whole: &mut CudaVector<T>) -> Result<(), GpuError> {
        self.check([part, whole])?;
        self.copy([(part, &self.of.here), (whole, &self.of.there)])
    }

    /// Copies this rank's entries, with those of the layer, from a whole vector.
    ///
    /// # Errors
    /// As for [`gather`](Self::gather).
    pub fn pick(&self, whole: &CudaVector<T>, part: &mut CudaVector<T>) -> Result<(), GpuError> {
        self.check([part, whole])?;
        self.copy([(whole, &self.of.there), (part, &self.of.here)])
    }

    fn copy(&self, [from, to]: [(&CudaVector<T>, &DeviceBuffer<u32>); 2]) -> Result<(), GpuError> {
        let mut args = Args::new();
        args.buffer(from.0.buffer()).buffer(from.1).buffer(to.0.buffer()).buffer(to.1);
        args.value(from.1.len() as u64);
        self.of.messages.launch(&self.cuda, &args, from.1.len())
    }

    fn check(&self, vectors: [&CudaVector<T>; 2]) -> Result<(), GpuError> {
        for (vector, wanted) in vectors.into_iter().zip(self.lengths) {
            let found = vector.buffer().len();
            if found != wanted {
                return Err(GpuError::Length { doing: "gathering a vector", wanted, found });
            }
        }
        Ok(())
    }
}
