//! The functions of an MPI library, found at run time through the standard ABI of MPI 5.
//!
//! With this ABI one program serves every implementation: handles are words of the size of a pointer, and the
//! predefined ones are small constants. Source: Message Passing Interface Forum (2025), *MPI: A
//! Message-Passing Interface Standard, Version 5.0*, ch. 20; values from its header `mpi.h` (`mpi_abi.h` of
//! MPICH 5.0). An older library serves through the adapter `adapter.c`, which has the same functions with a
//! prefix.

use std::ffi::{c_char, c_int, c_void};
use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use libloading::Library;

use crate::comm::CommError;
use crate::library::{function_table, open_first};

/// The environment variable with the file of the MPI library.
pub const MPI_VARIABLE: &str = "DGSUITE_MPI_LIBRARY";

/// The C text of an adapter for libraries without the standard ABI, which the compiler of the library
/// (`mpicc`) makes a library for [`MPI_VARIABLE`]. Its first comment has the commands.
pub const MPI_ADAPTER: &str = include_str!("adapter.c");

/// The file names of a library of the standard ABI.
const NAMES: [&str; 2] = ["libmpi_abi.so.1", "libmpi_abi.so"];
/// The file name of an adapter in the folder of the program.
const ADAPTER: &str = "libdgsuite_mpi.so";
/// The prefix of the functions of an adapter.
const PREFIX: &str = "dgsuite_";

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

/// A library and its functions.
pub(super) struct Api {
    /// The file or name under which the library was found.
    pub(super) path: PathBuf,
    /// The first line of its description of itself.
    pub(super) version: String,
    functions: Functions,
}

impl Deref for Api {
    type Target = Functions;

    fn deref(&self) -> &Functions {
        &self.functions
    }
}

// Each returns an error code.
function_table! { Functions {
    abi_version = "MPI_Abi_get_version" (*mut c_int, *mut c_int) -> c_int;
    library_version = "MPI_Get_library_version" (*mut c_char, *mut c_int) -> c_int;
    error_string = "MPI_Error_string" (c_int, *mut c_char, *mut c_int) -> c_int;
    initialized = "MPI_Initialized" (*mut c_int) -> c_int;
    init_thread = "MPI_Init_thread" (*mut c_int, *mut *mut *mut c_char, c_int, *mut c_int) -> c_int;
    finalize = "MPI_Finalize" () -> c_int;
    comm_rank = "MPI_Comm_rank" (Comm, *mut c_int) -> c_int;
    comm_size = "MPI_Comm_size" (Comm, *mut c_int) -> c_int;
    comm_dup = "MPI_Comm_dup" (Comm, *mut Comm) -> c_int;
    comm_free = "MPI_Comm_free" (*mut Comm) -> c_int;
    comm_set_errhandler = "MPI_Comm_set_errhandler" (Comm, Errhandler) -> c_int;
    send_init = "MPI_Send_init_c" (*const c_void, i64, Datatype, c_int, c_int, Comm, *mut Request) -> c_int;
    recv_init = "MPI_Recv_init_c" (*mut c_void, i64, Datatype, c_int, c_int, Comm, *mut Request) -> c_int;
    startall = "MPI_Startall" (c_int, *mut Request) -> c_int;
    isend = "MPI_Isend_c" (*const c_void, i64, Datatype, c_int, c_int, Comm, *mut Request) -> c_int;
    irecv = "MPI_Irecv_c" (*mut c_void, i64, Datatype, c_int, c_int, Comm, *mut Request) -> c_int;
    recv = "MPI_Recv_c" (*mut c_void, i64, Datatype, c_int, c_int, Comm, *mut Status) -> c_int;
    iprobe = "MPI_Iprobe" (c_int, c_int, Comm, *mut c_int, *mut Status) -> c_int;
    get_count = "MPI_Get_count_c" (*const Status, Datatype, *mut i64) -> c_int;
    testall = "MPI_Testall" (c_int, *mut Request, *mut c_int, *mut Status) -> c_int;
    request_get_status = "MPI_Request_get_status" (Request, *mut c_int, *mut Status) -> c_int;
    request_free = "MPI_Request_free" (*mut Request) -> c_int;
    iallreduce = "MPI_Iallreduce_c" (*const c_void, *mut c_void, i64, Datatype, Op, Comm, *mut Request) -> c_int;
    ibcast = "MPI_Ibcast_c" (*mut c_void, i64, Datatype, c_int, Comm, *mut Request) -> c_int;
    ibarrier = "MPI_Ibarrier" (Comm, *mut Request) -> c_int;
} }

impl Api {
    /// The sentence of the library for an error code.
    pub(super) fn reason(&self, code: c_int) -> String {
        let mut text = [0 as c_char; MAX_ERROR_STRING];
        let mut length = 0;
        // SAFETY: the text has the length that the standard prescribes.
        let found = unsafe { (self.error_string)(code, text.as_mut_ptr(), &mut length) };
        if found == SUCCESS { ends_of(&lines(&text, length)) } else { format!("error code {code}") }
    }
}

/// The first line of a description and its last one, which has the cause if the first one announces a stack.
fn ends_of(lines: &[String]) -> String {
    match lines {
        [first, .., last] => format!("{first} {last}"),
        _ => lines.concat(),
    }
}

/// The lines of a text of the library that are not empty.
fn lines(text: &[c_char], length: c_int) -> Vec<String> {
    let length = usize::try_from(length).map_or(0, |length| length.min(text.len()));
    let bytes: Vec<u8> = text[..length].iter().map(|&c| c as u8).collect();
    let text = String::from_utf8_lossy(&bytes).replace('\0', " ");
    let words = |line: &str| line.split_whitespace().collect::<Vec<_>>().join(" ");
    text.lines().map(words).filter(|line| !line.is_empty()).collect()
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
    #[cfg(feature = "mpi-native")]
    if std::env::var_os(MPI_VARIABLE).is_none()
        && let Some(file) = built_in()
    {
        let candidates: Vec<PathBuf> = std::iter::once(file.to_path_buf()).chain(candidates()).collect();
        // SAFETY: as below; the first is the adapter that was compiled with this program.
        let mut opened = unsafe { open_first(&candidates, accept) };
        if let Ok(api) = &mut opened
            && api.path == candidates[0]
        {
            api.path = "built in".into();
        }
        return opened;
    }
    // SAFETY: libraries with the name of MPI, or named by the user.
    unsafe { open_first(&candidates(), accept) }
}

/// The adapter that was compiled with this program, as a file until it is open.
#[cfg(feature = "mpi-native")]
fn built_in() -> Option<tempfile::TempPath> {
    let library = include_bytes!(env!("DGSUITE_MPI_ADAPTER", "the full path of the compiled adapter"));
    let mut file = tempfile::Builder::new().suffix(ADAPTER).tempfile().ok()?;
    std::io::Write::write_all(&mut file, library).ok()?;
    Some(file.into_temp_path())
}

/// The file in the variable and no other; or an adapter in the folder of this program, the file beside the
/// program that started this process, or beside the `mpiexec` in PATH, so that launcher and library belong
/// together; then the names for the system's search.
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
    let program = std::env::current_exe().and_then(|program| program.canonicalize());
    let adapter = program.ok().and_then(|program| Some(program.parent()?.join(ADAPTER)));
    let mut found: Vec<PathBuf> = adapter.filter(|file| file.exists()).into_iter().chain(beside).collect();
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

fn accept(library: Library, path: &Path) -> Result<Api, String> {
    // SAFETY: the symbol is not used.
    let adapted = unsafe { library.get::<*const c_void>(b"dgsuite_MPI_Abi_get_version\0") }.is_ok();
    // SAFETY: nothing but queries is called before the version of the ABI is known.
    let functions = unsafe { Functions::new(library, if adapted { PREFIX } else { "" }) }?;
    let mut api = Api { path: path.to_owned(), version: String::new(), functions };
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
    let version = lines(&text, length).into_iter().next().filter(|_| code == SUCCESS);
    api.version = version.unwrap_or_else(|| "MPI".to_owned());
    Ok(api)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_adapter_has_the_values_of_the_standard_abi() {
        let values = [
            ("COMM_NULL", COMM_NULL.0),
            ("COMM_WORLD", COMM_WORLD.0),
            ("BYTE", BYTE.0),
            ("INT64", INT64.0),
            ("UINT64", UINT64.0),
            ("SUM", SUM.0),
            ("MAX", MAX.0),
            ("REQUEST_NULL", REQUEST_NULL.0),
            ("ERRORS_RETURN", ERRORS_RETURN.0),
        ];
        let lines = values.map(|(name, value)| format!("    ABI_{name} = {value:#x},"));
        let numbers = [
            ("ANY_SOURCE", ANY_SOURCE),
            ("ANY_TAG", ANY_TAG),
            ("THREAD_SERIALIZED", THREAD_SERIALIZED),
            ("PENDING", PENDING),
            ("IN_STATUS", IN_STATUS),
            ("MAX_ERROR_STRING", MAX_ERROR_STRING as c_int),
        ];
        let numbers = numbers.map(|(name, value)| format!("    ABI_{name} = {value},"));
        for line in lines.into_iter().chain(numbers) {
            assert!(MPI_ADAPTER.lines().any(|found| found == line), "{line}");
        }
    }

    #[test]
    fn the_cause_at_the_end_of_a_description_is_told() {
        let of = |text: &str| {
            let text: Vec<c_char> = text.bytes().map(|byte| byte as c_char).collect();
            ends_of(&lines(&text, text.len() as c_int))
        };
        let stack = "Internal MPI error!, error stack:\nMPIDI_IPC_rndv_cb(176).:\ncopy_iovs(224)...:  failed (errno 3)\n\0";
        assert_eq!(of(stack), "Internal MPI error!, error stack: copy_iovs(224)...: failed (errno 3)");
        assert_eq!(of("Invalid  rank"), "Invalid rank");
        assert_eq!(of(""), "");
    }
}
