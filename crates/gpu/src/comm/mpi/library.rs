//! The functions of an MPI library, found at run time through the standard ABI of MPI 5.
//!
//! With this ABI one program serves every implementation: handles are words of the size of a pointer, and the
//! predefined ones are small constants. Source: Message Passing Interface Forum (2025), *MPI: A
//! Message-Passing Interface Standard, Version 5.0*, ch. 20; values from its header `mpi.h` (`mpi_abi.h` of
//! MPICH 5.0).

use std::ffi::{c_char, c_int, c_void};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use libloading::Library;

use crate::comm::CommError;

/// The environment variable with the file of the MPI library.
pub const MPI_VARIABLE: &str = "DGSUITE_MPI_LIBRARY";

/// The file names of a library of the standard ABI.
const NAMES: [&str; 2] = ["libmpi_abi.so.1", "libmpi_abi.so"];

macro_rules! handles {
    ($($Name:ident)*) => { $(
        /// A handle of the library: an integer of the size of a pointer.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[repr(transparent)]
        pub(super) struct $Name(usize);
    )* };
}
handles!(Comm Datatype Op Request Errhandler);

pub(super) const COMM_NULL: Comm = Comm(0x100);
pub(super) const COMM_WORLD: Comm = Comm(0x101);
pub(super) const BYTE: Datatype = Datatype(0x247);
pub(super) const INT64: Datatype = Datatype(0x258);
pub(super) const UINT64: Datatype = Datatype(0x259);
pub(super) const SUM: Op = Op(0x21);
pub(super) const MAX: Op = Op(0x23);
pub(super) const REQUEST_NULL: Request = Request(0x180);
pub(super) const ERRORS_RETURN: Errhandler = Errhandler(0x143);
pub(super) const ANY_SOURCE: c_int = -1;
pub(super) const ANY_TAG: c_int = -2;
pub(super) const THREAD_SERIALIZED: c_int = 2048;
pub(super) const SUCCESS: c_int = 0;
pub(super) const PENDING: c_int = 18;
pub(super) const IN_STATUS: c_int = 19;
const MAX_ERROR_STRING: usize = 512;
const MAX_LIBRARY_VERSION_STRING: usize = 8192;

/// The source, tag and error of a message.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
pub(super) struct Status {
    pub(super) source: c_int,
    pub(super) tag: c_int,
    pub(super) error: c_int,
    internal: [c_int; 5],
}

macro_rules! functions {
    ($($name:ident = $symbol:literal ($($Argument:ty),*);)*) => {
        /// The functions used here; each returns an error code.
        pub(super) struct Api {
            /// The file or name under which the library was found.
            pub(super) path: PathBuf,
            /// The first line of its description of itself.
            pub(super) version: String,
            $(pub(super) $name: unsafe extern "C" fn($($Argument),*) -> c_int,)*
        }

        impl Api {
            /// Finds all functions.
            ///
            /// # Safety
            /// The library follows the standard ABI where it has a function of the same name.
            unsafe fn new(library: Library, path: PathBuf) -> Result<Self, String> {
                let api = Self {
                    path,
                    version: String::new(),
                    $($name: {
                        // SAFETY: the signature is that of the standard, and the caller vouches for the ABI.
                        let symbol = unsafe { library.get(concat!($symbol, "\0").as_bytes()) };
                        *symbol.map_err(|_| concat!("it has no function ", $symbol).to_owned())?
                    },)*
                };
                // The functions stay valid, because the library is never closed.
                std::mem::forget(library);
                Ok(api)
            }
        }
    };
}

functions! {
    abi_version = "MPI_Abi_get_version" (*mut c_int, *mut c_int);
    library_version = "MPI_Get_library_version" (*mut c_char, *mut c_int);
    error_string = "MPI_Error_string" (c_int, *mut c_char, *mut c_int);
    initialized = "MPI_Initialized" (*mut c_int);
    init_thread = "MPI_Init_thread" (*mut c_int, *mut *mut *mut c_char, c_int, *mut c_int);
    finalize = "MPI_Finalize" ();
    comm_rank = "MPI_Comm_rank" (Comm, *mut c_int);
    comm_size = "MPI_Comm_size" (Comm, *mut c_int);
    comm_dup = "MPI_Comm_dup" (Comm, *mut Comm);
    comm_free = "MPI_Comm_free" (*mut Comm);
    comm_set_errhandler = "MPI_Comm_set_errhandler" (Comm, Errhandler);
    send_init = "MPI_Send_init_c" (*const c_void, i64, Datatype, c_int, c_int, Comm, *mut Request);
    recv_init = "MPI_Recv_init_c" (*mut c_void, i64, Datatype, c_int, c_int, Comm, *mut Request);
    startall = "MPI_Startall" (c_int, *mut Request);
    isend = "MPI_Isend_c" (*const c_void, i64, Datatype, c_int, c_int, Comm, *mut Request);
    irecv = "MPI_Irecv_c" (*mut c_void, i64, Datatype, c_int, c_int, Comm, *mut Request);
    recv = "MPI_Recv_c" (*mut c_void, i64, Datatype, c_int, c_int, Comm, *mut Status);
    iprobe = "MPI_Iprobe" (c_int, c_int, Comm, *mut c_int, *mut Status);
    get_count = "MPI_Get_count_c" (*const Status, Datatype, *mut i64);
    testall = "MPI_Testall" (c_int, *mut Request, *mut c_int, *mut Status);
    request_get_status = "MPI_Request_get_status" (Request, *mut c_int, *mut Status);
    request_free = "MPI_Request_free" (*mut Request);
    iallreduce = "MPI_Iallreduce_c" (*const c_void, *mut c_void, i64, Datatype, Op, Comm, *mut Request);
    ibcast = "MPI_Ibcast_c" (*mut c_void, i64, Datatype, c_int, Comm, *mut Request);
    ibarrier = "MPI_Ibarrier" (Comm, *mut Request);
}

impl Api {
    /// The sentence of the library for an error code.
    pub(super) fn reason(&self, code: c_int) -> String {
        let mut text = [0 as c_char; MAX_ERROR_STRING];
        let mut length = 0;
        // SAFETY: the text has the length that the standard prescribes.
        let found = unsafe { (self.error_string)(code, text.as_mut_ptr(), &mut length) };
        if found == SUCCESS { string(&text, length) } else { format!("error code {code}") }
    }
}

/// The first line of a text of the library.
fn string(text: &[c_char], length: c_int) -> String {
    let length = usize::try_from(length).map_or(0, |length| length.min(text.len()));
    let bytes: Vec<u8> = text[..length].iter().map(|&c| c as u8).collect();
    let text = String::from_utf8_lossy(&bytes);
    let words: Vec<&str> = text.lines().next().unwrap_or("").split(['\0', ' ', '\t']).collect();
    words.into_iter().filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ")
}

/// The MPI library that this process uses: its file (or name) and its description of itself.
///
/// # Errors
/// [`CommError::NoMpi`] if there is none.
pub fn mpi_library() -> Result<(&'static Path, &'static str), CommError> {
    api().map(|api| (api.path.as_path(), api.version.as_str()))
}

/// The library, which is opened once.
pub(super) fn api() -> Result<&'static Api, CommError> {
    static API: OnceLock<Result<Api, String>> = OnceLock::new();
    API.get_or_init(open).as_ref().map_err(|tried| CommError::NoMpi { tried: tried.clone() })
}

fn open() -> Result<Api, String> {
    let mut tried = Vec::new();
    for path in candidates() {
        match open_file(&path) {
            Ok(api) => return Ok(api),
            Err(reason) => tried.push(format!("{} ({reason})", path.display())),
        }
    }
    Err(tried.join(", "))
}

/// The file in the variable and no other; or the file beside the program that started this process, or beside
/// the `mpiexec` in PATH, so that launcher and library belong together; then the names for the system's
/// search.
fn candidates() -> Vec<PathBuf> {
    if let Some(path) = std::env::var_os(MPI_VARIABLE) {
        return vec![path.into()];
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    let launchers = parent().into_iter().chain(std::env::split_paths(&path).map(|bin| bin.join("mpiexec")));
    let beside = launchers.filter(|launcher| launcher.exists()).filter_map(|launcher| {
        let file = launcher.parent()?.parent()?.join("lib").join(NAMES[0]);
        file.exists().then_some(file)
    });
    let mut found: Vec<PathBuf> = beside.collect();
    found.extend(NAMES.map(PathBuf::from));
    found.dedup();
    found
}

/// The program that started this process.
fn parent() -> Option<PathBuf> {
    #[cfg(target_os = "linux")]
    return std::fs::read_link(format!("/proc/{}/exe", std::os::unix::process::parent_id())).ok();
    #[cfg(not(target_os = "linux"))]
    None
}

fn open_file(path: &Path) -> Result<Api, String> {
    let short = |error: libloading::Error| {
        let text = error.to_string();
        text.split_once(": ").map_or(text.clone(), |(_, reason)| reason.to_owned())
    };
    // SAFETY: initialisers of an MPI library run; a file of this name, or named by the user, is one.
    let library = unsafe { Library::new(path) }.map_err(short)?;
    // SAFETY: nothing but queries is called before the version of the ABI is known.
    let mut api = unsafe { Api::new(library, path.to_owned()) }?;
    let (mut major, mut minor) = (-1, -1);
    // SAFETY: both arguments are valid for a write; this function may be called before initialisation.
    let code = unsafe { (api.abi_version)(&mut major, &mut minor) };
    if code != SUCCESS || major != 1 {
        return Err(format!("its ABI is not version 1 of the standard ABI, but {major}.{minor}"));
    }
    let mut text = vec![0; MAX_LIBRARY_VERSION_STRING];
    let mut length = 0;
    // SAFETY: the text has the length that the standard prescribes; no initialisation is needed.
    let code = unsafe { (api.library_version)(text.as_mut_ptr(), &mut length) };
    api.version = if code == SUCCESS { string(&text, length) } else { "MPI".to_owned() };
    Ok(api)
}
