//! NVIDIA's run-time compiler NVRTC: compiles a kernel text to machine code. It needs no device, so that
//! kernels can be checked without one.
//!
//! The library is found at run time: the file in `DGSUITE_NVRTC`, or the usual names and places.

use std::ffi::{CString, c_char, c_int, c_void};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use libloading::Library;

use super::Source;
use crate::library::folders_of_packages;
use crate::{CudaVersion, GpuError};

/// The environment variable with the compiler's library.
pub const NVRTC_VARIABLE: &str = "DGSUITE_NVRTC";

const SUCCESS: c_int = 0;
/// `NVRTC_ERROR_COMPILATION`, `_INVALID_OPTION`: the log describes the error in the text or the options.
const REFUSED: [c_int; 2] = [6, 5];

/// Machine code and the compiler's log.
#[derive(Clone, Debug, PartialEq)]
pub struct Compiled {
    /// A cubin for the requested architecture.
    pub cubin: Vec<u8>,
    /// The compiler's log: warnings, and the resources of each kernel.
    pub log: String,
}

/// A kernel's use of a multiprocessor, as reported by the compiler.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Resources {
    /// Name of the kernel.
    pub kernel: String,
    /// Registers per thread.
    pub registers: u32,
    /// Stack per thread, in bytes: local arrays and spilled registers.
    pub stack_bytes: u32,
    /// Bytes that instructions write to spill registers.
    pub spill_stores: u32,
    /// Bytes that instructions read to restore registers.
    pub spill_loads: u32,
    /// Static shared memory, in bytes.
    pub shared_bytes: u32,
}

impl Compiled {
    /// The resources of each kernel, in the order of the log.
    pub fn resources(&self) -> Vec<Resources> {
        resources(&self.log)
    }
}

/// Parses the lines of `ptxas -v`.
fn resources(log: &str) -> Vec<Resources> {
    /// The number before `unit` in one of the parts separated by commas.
    fn number(line: &str, unit: &str) -> Option<u32> {
        line.split([',', ':'])
            .find_map(|part| part.trim().strip_suffix(unit)?.trim().rsplit(' ').next()?.parse().ok())
    }
    let mut found: Vec<Resources> = Vec::new();
    for line in log.lines() {
        if let Some((_, rest)) = line.split_once("Compiling entry function '") {
            let kernel = rest.split('\'').next().unwrap_or("").to_owned();
            found.push(Resources { kernel, ..Resources::default() });
        } else if let Some(last) = found.last_mut() {
            last.stack_bytes = number(line, "bytes stack frame").unwrap_or(last.stack_bytes);
            last.spill_stores = number(line, "bytes spill stores").unwrap_or(last.spill_stores);
            last.spill_loads = number(line, "bytes spill loads").unwrap_or(last.spill_loads);
            last.registers = number(line, "registers").unwrap_or(last.registers);
            last.shared_bytes = number(line, "bytes smem").unwrap_or(last.shared_bytes);
        }
    }
    found
}

/// The version of the compiler that this process uses.
///
/// # Errors
/// [`GpuError::NoCompiler`] if there is none.
pub fn version() -> Result<CudaVersion, GpuError> {
    Ok(library()?.version)
}

/// Compiles a text for an architecture such as `sm_90`, with or without a device.
///
/// # Errors
/// [`GpuError::NoCompiler`]; [`GpuError::Compile`] with the compiler's log.
pub fn compile_for(architecture: &str, source: &Source) -> Result<Compiled, GpuError> {
    let api = library()?;
    let refused = |log: String| GpuError::Compile {
        name: source.name.clone(),
        architecture: architecture.to_owned(),
        log,
    };
    let text = |text: &str| {
        CString::new(text).map_err(|_| refused("a text for the compiler holds a zero byte".to_owned()))
    };
    let mut arguments = vec![text(&format!("--gpu-architecture={architecture}"))?];
    for argument in source.arguments() {
        arguments.push(text(&argument)?);
    }
    let arguments: Vec<*const c_char> = arguments.iter().map(|a| a.as_ptr()).collect();
    let program = Program::new(api, source, &text)?;

    // SAFETY: the program is valid, and the arguments live to the end of the call.
    let code = unsafe { (api.compile)(program.raw, arguments.len() as c_int, arguments.as_ptr()) };
    let log = program.bytes("reading its log", api.log_size, api.log)?;
    let log = String::from_utf8_lossy(&log).trim_end_matches(['\0', '\n']).to_owned();
    match code {
        SUCCESS => {
            let cubin = program.bytes("reading the machine code", api.cubin_size, api.cubin)?;
            Ok(Compiled { cubin, log })
        }
        code if REFUSED.contains(&code) => Err(refused(log)),
        code => Err(GpuError::Compiler { doing: "compiling", code }),
    }
}

type ProgramHandle = *mut c_void;
type Size = unsafe extern "C" fn(ProgramHandle, *mut usize) -> c_int;
type Bytes = unsafe extern "C" fn(ProgramHandle, *mut c_char) -> c_int;
type Strings = *const *const c_char;

/// The functions of the library that are used here (`nvrtc.h` of CUDA 12 and 13).
struct Api {
    version: CudaVersion,
    create: unsafe extern "C" fn(
        *mut ProgramHandle,
        *const c_char,
        *const c_char,
        c_int,
        Strings,
        Strings,
    ) -> c_int,
    compile: unsafe extern "C" fn(ProgramHandle, c_int, Strings) -> c_int,
    destroy: unsafe extern "C" fn(*mut ProgramHandle) -> c_int,
    log_size: Size,
    log: Bytes,
    cubin_size: Size,
    cubin: Bytes,
    /// Keeps the library loaded.
    _library: Library,
}

/// The library, loaded at the first call.
fn library() -> Result<&'static Api, GpuError> {
    static LIBRARY: OnceLock<Result<Api, String>> = OnceLock::new();
    LIBRARY.get_or_init(open).as_ref().map_err(|tried| GpuError::NoCompiler { tried: tried.clone() })
}

/// Names and paths of the library, in the order in which they are tried.
fn candidates() -> Vec<PathBuf> {
    const NAMES: [&str; 3] = ["libnvrtc.so", "libnvrtc.so.13", "libnvrtc.so.12"];
    if let Some(named) = std::env::var_os(NVRTC_VARIABLE).filter(|named| !named.is_empty()) {
        let named = PathBuf::from(named);
        // A folder is accepted as well.
        return if named.is_dir() { NAMES.map(|name| named.join(name)).to_vec() } else { vec![named] };
    }
    let mut places = vec![PathBuf::new()];
    places.extend(folders_of_packages());
    for variable in ["CUDA_HOME", "CUDA_PATH"] {
        places.extend(std::env::var_os(variable).map(|root| Path::new(&root).join("lib64")));
    }
    places.push(PathBuf::from("/usr/local/cuda/lib64"));
    places.iter().flat_map(|place| NAMES.map(|name| place.join(name))).collect()
}

/// Opens the first usable library, or returns the list of attempts.
fn open() -> Result<Api, String> {
    let mut tried = Vec::new();
    for path in candidates() {
        open_builtins(&path);
        // SAFETY: opening the library runs its initialisers; it is NVIDIA's or the one named by the user.
        match unsafe { Library::new(&path) } {
            // SAFETY: the library has the name of NVRTC.
            Ok(library) => match unsafe { Api::new(library) } {
                Ok(api) => return Ok(api),
                Err(reason) => tried.push(format!("{} ({reason})", path.display())),
            },
            Err(_) => tried.push(path.display().to_string()),
        }
    }
    Err(tried.join(", "))
}

/// Opens the library of built-in functions beside the compiler. NVRTC loads it by its bare name only, which
/// the system does not find in a package's folder unless the library is already open.
fn open_builtins(compiler: &Path) {
    let Some(folder) = compiler.parent().filter(|folder| folder.is_absolute()) else { return };
    // NVRTC looks beside the file that a link points to.
    let Ok(folder) = folder.canonicalize() else { return };
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        if entry.file_name().to_string_lossy().starts_with("libnvrtc-builtins.so") {
            // SAFETY: a library of tables beside the compiler that is opened next.
            if let Ok(library) = unsafe { Library::new(entry.path()) } {
                std::mem::forget(library);
            }
        }
    }
}

impl Api {
    /// # Safety
    /// `library` must be NVRTC, so that its functions have the types written here.
    unsafe fn new(library: Library) -> Result<Self, String> {
        /// # Safety
        /// `F` must be the function's type.
        unsafe fn function<F: Copy>(library: &Library, name: &str) -> Result<F, String> {
            // SAFETY: by the caller's contract.
            unsafe { library.get::<F>(name.as_bytes()) }.map(|f| *f).map_err(|_| format!("it has no {name}"))
        }
        // SAFETY: types as in nvrtc.h.
        unsafe {
            let ask: unsafe extern "C" fn(*mut c_int, *mut c_int) -> c_int =
                function(&library, "nvrtcVersion")?;
            let (mut major, mut minor) = (0, 0);
            if ask(&raw mut major, &raw mut minor) != SUCCESS {
                return Err("it does not report its version".to_owned());
            }
            Ok(Self {
                version: CudaVersion { major: major.unsigned_abs(), minor: minor.unsigned_abs() },
                create: function(&library, "nvrtcCreateProgram")?,
                compile: function(&library, "nvrtcCompileProgram")?,
                destroy: function(&library, "nvrtcDestroyProgram")?,
                log_size: function(&library, "nvrtcGetProgramLogSize")?,
                log: function(&library, "nvrtcGetProgramLog")?,
                cubin_size: function(&library, "nvrtcGetCUBINSize")?,
                cubin: function(&library, "nvrtcGetCUBIN")?,
                _library: library,
            })
        }
    }
}

/// A text during compilation.
struct Program<'a> {
    api: &'a Api,
    raw: ProgramHandle,
    /// The compiler may keep pointers to its inputs.
    _texts: Vec<CString>,
}

impl<'a> Program<'a> {
    fn new(
        api: &'a Api,
        source: &Source,
        text: &impl Fn(&str) -> Result<CString, GpuError>,
    ) -> Result<Self, GpuError> {
        let mut texts = vec![text(&source.text)?, text(&source.name)?];
        for (name, body) in &source.headers {
            texts.extend([text(name)?, text(body)?]);
        }
        let (names, bodies): (Vec<_>, Vec<_>) =
            texts[2..].chunks(2).map(|pair| (pair[0].as_ptr(), pair[1].as_ptr())).unzip();
        let mut raw = std::ptr::null_mut();
        // SAFETY: all strings end with zero and live as long as the program.
        let code = unsafe {
            let (text, name, n_headers) = (texts[0].as_ptr(), texts[1].as_ptr(), names.len() as c_int);
            (api.create)(&raw mut raw, text, name, n_headers, bodies.as_ptr(), names.as_ptr())
        };
        if code != SUCCESS {
            return Err(GpuError::Compiler { doing: "reading a kernel text", code });
        }
        Ok(Self { api, raw, _texts: texts })
    }

    /// The result of one of the library's pairs of functions: a size, then as many bytes.
    fn bytes(&self, doing: &'static str, size: Size, get: Bytes) -> Result<Vec<u8>, GpuError> {
        let mut n_bytes = 0;
        // SAFETY: the program is valid and `n_bytes` a place for a size.
        let code = unsafe { size(self.raw, &raw mut n_bytes) };
        let mut bytes = vec![0_u8; n_bytes.max(1)];
        // SAFETY: `bytes` has the size just returned.
        let code = if code == SUCCESS { unsafe { get(self.raw, bytes.as_mut_ptr().cast()) } } else { code };
        if code == SUCCESS { Ok(bytes) } else { Err(GpuError::Compiler { doing, code }) }
    }
}

impl Drop for Program<'_> {
    fn drop(&mut self) {
        // SAFETY: created by `new`, destroyed once.
        unsafe { (self.api.destroy)(&raw mut self.raw) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Output of ptxas 13.0 and 12.4.
    #[test]
    fn resources_are_read_from_the_log() {
        let log = "ptxas info    : 0 bytes gmem, 64 bytes cmem[3]\n\
             ptxas info    : Compiling entry function 'first' for 'sm_90'\n\
             ptxas info    : Function properties for first\n\
             ptxas         .     5392 bytes stack frame, 7128 bytes spill stores, 7120 bytes spill loads\n\
             ptxas info    : Used 32 registers, used 1 barriers, 5392 bytes cumulative stack size\n\
             ptxas info    : Compiling entry function 'second' for 'sm_90'\n    \
                 0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n\
             ptxas info    : Used 128 registers, used 0 barriers, 2048 bytes smem, 540 bytes cmem[0]\n";
        let first = Resources {
            kernel: "first".to_owned(),
            registers: 32,
            stack_bytes: 5392,
            spill_stores: 7128,
            spill_loads: 7120,
            shared_bytes: 0,
        };
        let second = Resources {
            kernel: "second".to_owned(),
            registers: 128,
            shared_bytes: 2048,
            ..Resources::default()
        };
        assert_eq!(resources(log), [first, second]);
    }
}
