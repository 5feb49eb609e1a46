//! Messages between NVIDIA devices by NCCL, in and between machines. The library is found at run time.
//!
//! One process drives one device. The ranks are those of a [`Communicator`], which also carries what happens
//! on the host. Messages are work of a stream: they can be recorded into a graph, on all ranks alike. Sums
//! are sums of integers, so that no algorithm of the library changes a bit.

use std::ffi::{CStr, c_char, c_int};
use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError, mpsc};
use std::time::{Duration, Instant};

use libloading::Library;

use super::{Cuda, DeviceBuffer, Event, Stream};
use crate::GpuError;
use crate::comm::{CommError, Communicator, deadline};
use crate::library::{folders_of_packages, function_table, open_first};

/// The environment variable with the file of the library.
pub const NCCL_VARIABLE: &str = "DGSUITE_NCCL_LIBRARY";

const NAMES: [&str; 2] = ["libnccl.so.2", "libnccl.so"];
/// The oldest version: 2.18, the first for CUDA 12.1.
const OLDEST: c_int = 21_800;

const SUCCESS: c_int = 0;
const IN_PROGRESS: c_int = 7;
const UINT8: c_int = 1;
const UINT64: c_int = 5;
const SUM: c_int = 0;
const MIN: c_int = 3;

/// `ncclComm_t`.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub(super) struct Handle(usize);

/// `ncclUniqueId`.
#[derive(Clone, Copy)]
#[repr(C)]
pub(super) struct UniqueId([u8; 128]);

/// A library and its functions.
struct Api {
    path: PathBuf,
    version: String,
    functions: Functions,
}

impl Deref for Api {
    type Target = Functions;

    fn deref(&self) -> &Functions {
        &self.functions
    }
}

// As in nccl.h of NCCL 2.18 to 2.32; addresses and streams are integers here.
function_table! { Functions {
    get_version = "ncclGetVersion" (*mut c_int) -> c_int;
    get_unique_id = "ncclGetUniqueId" (*mut UniqueId) -> c_int;
    comm_init_rank = "ncclCommInitRank" (*mut Handle, c_int, UniqueId, c_int) -> c_int;
    comm_destroy = "ncclCommDestroy" (Handle) -> c_int;
    comm_abort = "ncclCommAbort" (Handle) -> c_int;
    comm_get_async_error = "ncclCommGetAsyncError" (Handle, *mut c_int) -> c_int;
    get_error_string = "ncclGetErrorString" (c_int) -> *const c_char;
    get_last_error = "ncclGetLastError" (Handle) -> *const c_char;
    group_start = "ncclGroupStart" () -> c_int;
    group_end = "ncclGroupEnd" () -> c_int;
    send = "ncclSend" (u64, usize, c_int, c_int, Handle, usize) -> c_int;
    recv = "ncclRecv" (u64, usize, c_int, c_int, Handle, usize) -> c_int;
    all_reduce = "ncclAllReduce" (u64, u64, usize, c_int, c_int, Handle, usize) -> c_int;
} }

impl Api {
    fn check(&self, doing: &'static str, code: c_int) -> Result<(), CommError> {
        if code == SUCCESS || code == IN_PROGRESS {
            return Ok(());
        }
        /// A text of the library.
        ///
        /// # Safety
        /// Null, or a string of C.
        unsafe fn text(text: *const c_char) -> String {
            if text.is_null() {
                return String::new();
            }
            // SAFETY: by the caller's contract.
            unsafe { CStr::from_ptr(text) }.to_string_lossy().trim().to_owned()
        }
        // SAFETY: both return strings of the library; the second ignores its argument.
        let (kind, last) =
            unsafe { (text((self.get_error_string)(code)), text((self.get_last_error)(Handle(0)))) };
        let reason = if last.is_empty() { kind } else { format!("{kind} ({last})") };
        Err(CommError::Nccl { doing, reason })
    }
}

/// The NCCL library that this process uses: its file (or name) and its version. This needs no device.
///
/// # Errors
/// [`CommError::NoNccl`] if there is none.
pub fn library() -> Result<(&'static Path, &'static str), CommError> {
    api().map(|api| (api.path.as_path(), api.version.as_str()))
}

fn api() -> Result<&'static Api, CommError> {
    static API: OnceLock<Result<Api, String>> = OnceLock::new();
    let api = API.get_or_init(|| {
        let candidates = match std::env::var_os(NCCL_VARIABLE) {
            Some(file) => vec![file.into()],
            None => {
                let of_packages = folders_of_packages().into_iter().map(|folder| folder.join(NAMES[0]));
                NAMES.map(PathBuf::from).into_iter().chain(of_packages).collect()
            }
        };
        // SAFETY: libraries with the name of NCCL, or named by the user.
        unsafe { open_first(&candidates, accept) }
    });
    api.as_ref().map_err(|tried| CommError::NoNccl { tried: tried.clone() })
}

fn accept(library: Library, path: &Path) -> Result<Api, String> {
    // SAFETY: the types are those of nccl.h, and the library has its functions.
    let functions = unsafe { Functions::new(library, "") }?;
    let mut number = 0;
    // SAFETY: `number` is valid for a write.
    let code = unsafe { (functions.get_version)(&mut number) };
    if code != SUCCESS || number < OLDEST {
        return Err(format!(
            "its version is {}, but at least {} is needed",
            version(number),
            version(OLDEST)
        ));
    }
    Ok(Api { path: path.to_owned(), version: version(number), functions })
}

/// 23203 is 2.32.3; before 2.9 the number was 2803 for 2.8.3.
fn version(number: c_int) -> String {
    let major = if number < 10_000 { 1_000 } else { 10_000 };
    format!("{}.{}.{}", number / major, number % major / 100, number % 100)
}

/// A message to a rank and one from it, of different lengths: addresses on the device, lengths in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DeviceMessage {
    /// The other rank.
    pub rank: usize,
    /// Address of the message to it.
    pub send: u64,
    /// Its length.
    pub send_bytes: usize,
    /// Place of the message from it.
    pub receive: u64,
    /// Its length.
    pub receive_bytes: usize,
}

/// The connection of this process's device with those of the other ranks.
///
/// After an error, or a deadline that has passed, it is closed: the kernels of the library end, and all
/// further operations fail. [`Communicator::abort`] then informs the other ranks.
pub struct Nccl {
    api: &'static Api,
    cuda: Cuda,
    size: usize,
    deadline: Duration,
    /// `None` after a failure.
    handle: Mutex<Option<Handle>>,
}

impl Nccl {
    /// Connects the devices of all ranks, one for each. All ranks call it; if one fails, all do.
    ///
    /// # Errors
    /// [`CommError::NoNccl`], [`CommError::Nccl`] (two ranks with the same device, for example), and those of
    /// [`Communicator::broadcast`].
    pub fn connect(cuda: &Cuda, comm: &dyn Communicator) -> Result<Self, CommError> {
        Self::try_connect(cuda, comm).inspect_err(|error| comm.abort(&error.to_string()))
    }

    fn try_connect(cuda: &Cuda, comm: &dyn Communicator) -> Result<Self, CommError> {
        const DOING: &str = "connecting devices";
        let api = api()?;
        let deadline = deadline()?;
        let (rank, size) = (comm.rank(), comm.size());
        let mut id = UniqueId([0; 128]);
        if rank == 0 {
            // SAFETY: `id` is valid for a write.
            api.check(DOING, unsafe { (api.get_unique_id)(&mut id) })?;
        }
        let mut bytes = id.0.to_vec();
        comm.broadcast(0, &mut bytes)?;
        let failed = |reason: String| CommError::Nccl { doing: DOING, reason };
        id.0 = bytes.try_into().map_err(|_| failed("rank 0 sent no identifier".to_owned()))?;
        // The library waits for all ranks without a deadline: on a thread of its own.
        let (sender, receiver) = mpsc::channel();
        let device = cuda.clone();
        std::thread::spawn(move || {
            let mut handle = Handle(0);
            let result = device.context().bind().map_err(|error| error.to_string()).map(|()| {
                // SAFETY: `handle` is valid for a write; the device's context is current on this thread.
                unsafe { (api.comm_init_rank)(&mut handle, size as c_int, id, rank as c_int) }
            });
            // Nobody listens after the deadline.
            let _ = sender.send(result.map(|code| (code, handle)));
        });
        let (code, handle) = receiver
            .recv_timeout(deadline)
            .map_err(|_| failed(format!("some rank did not answer within {} s", deadline.as_secs_f64())))?
            .map_err(failed)?;
        api.check(DOING, code)?;
        Ok(Self { api, cuda: cuda.clone(), size, deadline, handle: Mutex::new(Some(handle)) })
    }

    /// Sends and receives messages in a stream, all at once, and returns when they are in the queue. The own
    /// rank is allowed.
    ///
    /// # Errors
    /// [`CommError::Partner`] for a rank that does not exist, [`CommError::Nccl`].
    ///
    /// # Safety
    /// The addresses are those of device memory of these lengths, which lives and is not used otherwise until
    /// the stream has passed this work, also when a graph repeats it.
    pub unsafe fn exchange(&self, stream: &Stream, messages: &[DeviceMessage]) -> Result<(), CommError> {
        const DOING: &str = "sending messages between devices";
        for message in messages {
            crate::comm::check_rank(message.rank, self.size)?;
        }
        self.enqueue(DOING, |api, handle| {
            let raw = stream.raw as usize;
            // SAFETY: handle and stream are valid, the messages by the caller's contract. A group that was
            // started is ended, whatever happens in between.
            unsafe {
                let mut code = (api.group_start)();
                for message in messages {
                    let (to, from) = (message.send, message.receive);
                    let peer = message.rank as c_int;
                    if code == SUCCESS && message.send_bytes > 0 {
                        code = (api.send)(to, message.send_bytes, UINT8, peer, handle, raw);
                    }
                    if code == SUCCESS && message.receive_bytes > 0 {
                        code = (api.recv)(from, message.receive_bytes, UINT8, peer, handle, raw);
                    }
                }
                let end = (api.group_end)();
                if code == SUCCESS { end } else { code }
            }
        })
    }

    /// Replaces the first `count` integers by their sums over all ranks, with wrapping, in a stream.
    ///
    /// # Errors
    /// [`CommError::Nccl`].
    ///
    /// # Panics
    /// If there are not so many integers.
    pub fn sum(
        &self,
        stream: &Stream,
        values: &mut DeviceBuffer<i64>,
        count: usize,
    ) -> Result<(), CommError> {
        assert!(count <= values.len(), "{count} integers of {}", values.len());
        let at = values.ptr();
        self.enqueue("summing over devices", |api, handle| {
            // SAFETY: handle, stream and array are valid; the driver frees the array after its work.
            unsafe { (api.all_reduce)(at, at, count, UINT64, SUM, handle, stream.raw as usize) }
        })
    }

    /// Replaces integers by their minima over all ranks, in a stream.
    ///
    /// # Errors
    /// [`CommError::Nccl`].
    ///
    /// # Safety
    /// The address is that of `count` integers on the device, which live and are not used otherwise until the
    /// stream has passed this work, also when a graph repeats it.
    pub unsafe fn min(&self, stream: &Stream, at: u64, count: usize) -> Result<(), CommError> {
        self.enqueue("comparing devices", |api, handle| {
            // SAFETY: handle and stream are valid, the array by the caller's contract.
            unsafe { (api.all_reduce)(at, at, count, UINT64, MIN, handle, stream.raw as usize) }
        })
    }

    /// Waits for an event behind work of this connection.
    ///
    /// # Errors
    /// [`CommError::Nccl`] if the work has failed or the deadline has passed. The connection is then closed.
    pub fn wait(&self, event: &Event) -> Result<(), CommError> {
        const DOING: &str = "waiting for messages between devices";
        let begun = Instant::now();
        loop {
            let failure = match event.is_done() {
                Ok(true) => return Ok(()),
                Ok(false) if begun.elapsed() < self.deadline => self.check().err(),
                Ok(false) => {
                    let reason = format!("they did not arrive within {} s", self.deadline.as_secs_f64());
                    Some(CommError::Nccl { doing: DOING, reason })
                }
                Err(error) => Some(device_failure(DOING, &error)),
            };
            if let Some(failure) = failure {
                self.close();
                return Err(failure);
            }
            if begun.elapsed() < Duration::from_millis(2) {
                std::thread::yield_now();
            } else {
                std::thread::sleep(Duration::from_micros(50));
            }
        }
    }

    /// The failure of work in progress, if the library has noticed one.
    ///
    /// # Errors
    /// [`CommError::Nccl`].
    pub fn check(&self) -> Result<(), CommError> {
        self.enqueue("transferring messages between devices", |api, handle| {
            let mut failure = SUCCESS;
            // SAFETY: the handle is valid, and `failure` is valid for a write.
            let code = unsafe { (api.comm_get_async_error)(handle, &mut failure) };
            if code == SUCCESS { failure } else { code }
        })
    }

    /// Ends the library's work at once: its kernels no longer wait for other ranks.
    pub fn close(&self) {
        if let Some(handle) = self.lock().take()
            && self.cuda.context().bind().is_ok()
        {
            // SAFETY: the handle is valid, and nobody uses it from now on.
            unsafe { (self.api.comm_abort)(handle) };
        }
    }

    fn lock(&self) -> MutexGuard<'_, Option<Handle>> {
        self.handle.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn enqueue(
        &self,
        doing: &'static str,
        work: impl FnOnce(&Api, Handle) -> c_int,
    ) -> Result<(), CommError> {
        let handle = self.lock();
        let Some(raw) = *handle else {
            return Err(CommError::Nccl {
                doing,
                reason: "the connection was closed after a failure".to_owned(),
            });
        };
        self.cuda.context().bind().map_err(|error| device_failure(doing, &error))?;
        self.api.check(doing, work(self.api, raw))
    }
}

impl Drop for Nccl {
    fn drop(&mut self) {
        if std::thread::panicking() {
            return self.close();
        }
        if let Some(handle) = self.lock().take()
            && self.cuda.context().bind().is_ok()
        {
            // SAFETY: the handle is valid, and nobody uses it from now on.
            unsafe { (self.api.comm_destroy)(handle) };
        }
    }
}

fn device_failure(doing: &'static str, error: &GpuError) -> CommError {
    CommError::Nccl { doing, reason: error.to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_read_from_the_librarys_number() {
        assert_eq!([23_203, OLDEST, 2_803].map(version), ["2.32.3", "2.18.0", "2.8.3"]);
    }
}
