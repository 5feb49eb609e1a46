//! Kernels without a device: compiles the same text with the host's C++ compiler and runs it with fibres
//! under sanitizers.
//!
//! The threads of a block are fibres that meet at every collective operation (`shim/shim.hpp`). Buffers have
//! their exact size, so that the address sanitizer finds every wrong index. Threads that wait for each other
//! at different places, and results that depend on the order of threads, are errors. This is slow and meant
//! for tests, with thousands of threads and not millions.
//!
//! ```no_run
//! use dgsuite_gpu::cuda::{LaunchConfig, Source};
//! use dgsuite_gpu::shim::{Arg, Program, bytes, values};
//! let text = r#"extern "C" __global__ void scale(double* x, double a, unsigned n) {
//!     const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
//!     if (i < n) x[i] *= a;
//! }"#;
//! let program = Program::new(&Source::new("scale.cu", text), &["scale"], &[])?;
//! let mut memory = [bytes(&[1.0, 2.0, 3.0])];
//! let args = [Arg::buffer(0), Arg::value(0.5_f64), Arg::value(3_u32)];
//! program.run("scale", LaunchConfig::cover(3, 32), &mut memory, &args)?;
//! assert_eq!(values::<f64>(&memory[0]), [0.5, 1.0, 1.5]);
//! # Ok::<(), dgsuite_gpu::shim::ShimError>(())
//! ```

mod emulator;

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::Element;
use crate::cuda::{DEVICE_HEADER, LaunchConfig, Source};

pub use emulator::{EMULATOR_CACHE, EMULATOR_ORDER, Emulator};

/// Compilers that are tried, in order, unless `CXX` is set.
const COMPILERS: [&str; 3] = ["g++", "c++", "clang++"];

/// Arguments of the compiler, without optimisation: a kernel runs over a few elements once or twice, and
/// compiling it takes most of the time.
const ARGUMENTS: [&str; 5] =
    ["-std=c++17", "-O0", "-ffp-contract=off", "-fno-strict-aliasing", "-DDGSUITE_SHIM"];

/// Those that find wrong indices, misaligned accesses and overflows, with their places. The other checks of
/// `undefined` find nothing more in kernels, and would take half of the time of the compiler.
const SANITIZED: [&str; 5] = [
    "-g1",
    "-fsanitize=address",
    "-fsanitize=alignment,bounds,float-cast-overflow,integer-divide-by-zero,shift,signed-integer-overflow",
    "-fno-sanitize-recover=all",
    "-fno-omit-frame-pointer",
];

/// Why a kernel could not be run on the host, or which error it has.
#[derive(Debug, thiserror::Error)]
pub enum ShimError {
    /// No C++ compiler was found.
    #[error("no C++ compiler was found (tried {tried}): install g++, or set CXX")]
    NoCompiler {
        /// The compilers that were tried.
        tried: String,
    },
    /// The text cannot be compiled for the host.
    #[error("{name} does not compile for the host:\n{log}")]
    Compile {
        /// The name of the text.
        name: String,
        /// The compiler's messages.
        log: String,
    },
    /// The kernel has an error: a wrong index, a barrier that not all threads reach, an overflow.
    #[error("{kernel} failed:\n{log}")]
    Run {
        /// The kernel.
        kernel: String,
        /// The output of the sanitizers or the fibres.
        log: String,
    },
    /// The kernel's result depends on the order in which threads run.
    #[error(
        "{kernel} writes another byte {byte} of buffer {buffer} when threads run in another order: a race"
    )]
    Order {
        /// The kernel.
        kernel: String,
        /// Number of the buffer.
        buffer: usize,
        /// The first byte that differs.
        byte: usize,
    },
    /// A name that was not passed to [`Program::new`].
    #[error("the program has no kernel or constant '{name}'")]
    NoSymbol {
        /// The requested name.
        name: String,
    },
    /// A file could not be written or read.
    #[error("cannot write or read a file of the kernel's program")]
    Io(#[from] io::Error),
}

/// One argument of a kernel.
#[derive(Clone, Debug, PartialEq)]
pub struct Arg {
    bytes: Vec<u8>,
    is_pointer: bool,
    /// For each pointer: its position in the bytes, the buffer, and the offset in bytes from the buffer's
    /// start.
    pointers: Vec<(usize, usize, usize)>,
}

impl Arg {
    /// The address of a buffer.
    pub fn buffer(i: usize) -> Self {
        Self::within(i, 0)
    }

    /// An address inside a buffer, `offset` bytes from its start.
    pub fn within(i: usize, offset: usize) -> Self {
        Self { bytes: vec![0; 8], is_pointer: true, pointers: vec![(0, i, offset)] }
    }

    /// A null pointer.
    pub fn null() -> Self {
        Self { bytes: vec![0; 8], is_pointer: true, pointers: Vec::new() }
    }

    /// A number.
    pub fn value<T: Element>(value: T) -> Self {
        Self::structure(bytes(&[value]), &[])
    }

    /// A structure, as bytes, that contains addresses of buffers: pairs (position in bytes, buffer).
    pub fn structure(bytes: Vec<u8>, pointers: &[(usize, usize)]) -> Self {
        let pointers = pointers.iter().map(|&(place, buffer)| (place, buffer, 0)).collect();
        Self { bytes, is_pointer: false, pointers }
    }
}

/// The bytes of numbers.
pub fn bytes<T: Element>(values: &[T]) -> Vec<u8> {
    // SAFETY: an `Element` of this crate is a number or an array of numbers: no padding, all bytes
    // initialised.
    unsafe { std::slice::from_raw_parts(values.as_ptr().cast::<u8>(), size_of_val(values)) }.to_vec()
}

/// Numbers from their bytes.
///
/// # Panics
/// If the number of bytes is not a multiple of the size.
pub fn values<T: Element>(bytes: &[u8]) -> Vec<T> {
    assert_eq!(bytes.len() % size_of::<T>(), 0, "a whole number of values");
    // SAFETY: every bit pattern is a value of a number; the read needs no alignment.
    bytes.chunks_exact(size_of::<T>()).map(|b| unsafe { b.as_ptr().cast::<T>().read_unaligned() }).collect()
}

/// The C++ compiler of this machine.
///
/// # Errors
/// [`ShimError::NoCompiler`].
pub fn compiler() -> Result<String, ShimError> {
    let named = std::env::var("CXX").ok().filter(|name| !name.is_empty());
    let tried: Vec<String> = named.map_or(COMPILERS.map(str::to_owned).to_vec(), |name| vec![name]);
    let works =
        |name: &&String| Command::new(name).arg("--version").output().is_ok_and(|o| o.status.success());
    tried.iter().find(works).cloned().ok_or_else(|| ShimError::NoCompiler { tried: tried.join(", ") })
}

/// A text compiled for the host.
#[derive(Debug)]
pub struct Program {
    folder: Folder,
    kernels: Vec<String>,
    constants: Vec<String>,
    /// Constants that were set: number and bytes.
    set: Vec<(usize, Vec<u8>)>,
}

impl Program {
    /// Compiles a text. `kernels` are its kernels that will be run, `constants` its `__constant__` variables
    /// that will be set. Compiler options of `source` are ignored: nothing is fused.
    ///
    /// # Errors
    /// [`ShimError::NoCompiler`], [`ShimError::Compile`], [`ShimError::Io`].
    pub fn new(source: &Source, kernels: &[&str], constants: &[&str]) -> Result<Self, ShimError> {
        let compiler = compiler()?;
        let folder = Folder::new()?;
        folder.write("shim.hpp", include_str!("shim/shim.hpp"))?;
        folder.write("machine.cpp", include_str!("shim/machine.cpp"))?;
        folder.write("main.hpp", include_str!("shim/main.hpp"))?;
        for (name, text) in &source.headers {
            let text = if name == DEVICE_HEADER.0 { text.clone() } else { host_text(text) };
            folder.write(name, &text)?;
        }
        folder.write(&source.name, &host_text(&source.text))?;
        folder.write("main.cpp", &main_text(&source.name, kernels, constants))?;
        let mut command = Command::new(compiler);
        command.current_dir(&folder.0).args(ARGUMENTS).args(SANITIZED);
        command.args(source.defines.iter().map(|(name, value)| format!("-D{name}={value}")));
        let output = command.args(["-o", "program", "main.cpp", "machine.cpp"]).output()?;
        if !output.status.success() {
            let log = String::from_utf8_lossy(&output.stderr).into_owned();
            return Err(ShimError::Compile { name: source.name.clone(), log });
        }
        let names = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect();
        Ok(Self { folder, kernels: names(kernels), constants: names(constants), set: Vec::new() })
    }

    /// Sets a `__constant__` variable for all later runs.
    ///
    /// # Errors
    /// [`ShimError::NoSymbol`] if the program was built without it.
    pub fn set_constant<T: Element>(&mut self, name: &str, values: &[T]) -> Result<(), ShimError> {
        let number = find(&self.constants, name)?;
        self.set.retain(|(i, _)| *i != number);
        self.set.push((number, bytes(values)));
        Ok(())
    }

    /// Runs a kernel on `memory`, its buffers, twice: with threads and blocks in ascending and in descending
    /// order. The results, which must agree, replace the buffers.
    ///
    /// # Errors
    /// [`ShimError::Run`] with the output of the sanitizers, [`ShimError::Order`], [`ShimError::NoSymbol`],
    /// [`ShimError::Io`].
    pub fn run(
        &self,
        kernel: &str,
        config: LaunchConfig,
        memory: &mut [Vec<u8>],
        args: &[Arg],
    ) -> Result<(), ShimError> {
        let number = find(&self.kernels, kernel)?;
        let up = self.once(kernel, &self.input(number, config, memory, args, false))?;
        let down = self.once(kernel, &self.input(number, config, memory, args, true))?;
        let mut first = 0;
        for (i, buffer) in memory.iter_mut().enumerate() {
            let end = first + buffer.len();
            let (Some(a), Some(b)) = (up.get(first..end), down.get(first..end)) else {
                return Err(ShimError::Run {
                    kernel: kernel.to_owned(),
                    log: "the output is short".to_owned(),
                });
            };
            if let Some(byte) = (0..a.len()).find(|&byte| a[byte] != b[byte]) {
                return Err(ShimError::Order { kernel: kernel.to_owned(), buffer: i, byte });
            }
            buffer.copy_from_slice(a);
            first = end;
        }
        Ok(())
    }

    /// A launch in the format of `shim/main.hpp`.
    fn input(
        &self,
        kernel: usize,
        config: LaunchConfig,
        memory: &[Vec<u8>],
        args: &[Arg],
        descending: bool,
    ) -> Vec<u8> {
        let mut input = Vec::new();
        let numbers = |input: &mut Vec<u8>, numbers: &[usize]| {
            input.extend(numbers.iter().flat_map(|&n| (n as u64).to_le_bytes()));
        };
        numbers(&mut input, &[kernel]);
        let sizes = config.grid.into_iter().chain(config.block).chain([config.shared]);
        numbers(&mut input, &sizes.map(|n| n as usize).collect::<Vec<_>>());
        numbers(&mut input, &[usize::from(descending), memory.len()]);
        for buffer in memory {
            numbers(&mut input, &[buffer.len()]);
            input.extend_from_slice(buffer);
        }
        numbers(&mut input, &[self.set.len()]);
        for (number, bytes) in &self.set {
            numbers(&mut input, &[*number, bytes.len()]);
            input.extend_from_slice(bytes);
        }
        numbers(&mut input, &[args.len()]);
        for arg in args {
            numbers(&mut input, &[usize::from(arg.is_pointer), arg.bytes.len()]);
            input.extend_from_slice(&arg.bytes);
            numbers(&mut input, &[arg.pointers.len()]);
            for &(place, buffer, offset) in &arg.pointers {
                numbers(&mut input, &[place, buffer, offset]);
            }
        }
        input
    }

    /// One run of the program: from its input to the bytes of all buffers.
    fn once(&self, kernel: &str, input: &[u8]) -> Result<Vec<u8>, ShimError> {
        let n = next_number();
        let (from, to) = (self.folder.0.join(format!("in-{n}")), self.folder.0.join(format!("out-{n}")));
        fs::write(&from, input)?;
        let output = Command::new(self.folder.0.join("program"))
            .args([&from, &to])
            .env("ASAN_OPTIONS", "detect_leaks=0:abort_on_error=0")
            .env("UBSAN_OPTIONS", "print_stacktrace=1")
            .output()?;
        if !output.status.success() {
            let log = String::from_utf8_lossy(&output.stderr).into_owned();
            return Err(ShimError::Run { kernel: kernel.to_owned(), log });
        }
        let bytes = fs::read(&to)?;
        fs::remove_file(&from)?;
        fs::remove_file(&to)?;
        Ok(bytes)
    }
}

fn find(names: &[String], name: &str) -> Result<usize, ShimError> {
    names.iter().position(|n| n == name).ok_or_else(|| ShimError::NoSymbol { name: name.to_owned() })
}

/// The main file of the program.
fn main_text(text: &str, kernels: &[&str], constants: &[&str]) -> String {
    let mut main =
        format!("#include \"main.hpp\"\n#include \"{text}\"\nint main(int argc, char** argv) {{\n");
    main.push_str("    return shim::run(argc, argv, {\n");
    for kernel in kernels {
        main.push_str(&format!(
            "        [](const std::vector<shim::Argument>& a) {{ return shim::closure({kernel}, a); }},\n"
        ));
    }
    main.push_str("    }, {\n");
    for constant in constants {
        main.push_str(&format!("        {{(void*)&{constant}, sizeof({constant})}},\n"));
    }
    main.push_str("    });\n}\n");
    main
}

/// Replaces `extern __shared__ T name[];`, which C++ lacks, by a pointer to the block's dynamic shared
/// memory. Line numbers do not change.
fn host_text(text: &str) -> String {
    const WORDS: &str = "extern __shared__";
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(WORDS) {
        out.push_str(&rest[..at]);
        rest = &rest[at + WORDS.len()..];
        let end = rest.find(';').unwrap_or(rest.len());
        let (declaration, after) = rest.split_at(end);
        let declaration = declaration.split('[').next().unwrap_or("").trim();
        // An alignment before the type: the shared memory has the largest possible alignment.
        let declaration = match declaration.strip_prefix("__align__(") {
            Some(more) => more.split_once(')').map_or(more, |(_, declaration)| declaration).trim(),
            None => declaration,
        };
        let name_at = declaration.rfind(|c: char| !(c.is_alphanumeric() || c == '_')).map_or(0, |i| i + 1);
        let (kind, name) = (declaration[..name_at].trim(), &declaration[name_at..]);
        out.push_str(&format!("{kind}* const {name} = reinterpret_cast<{kind}*>(shim::dynamic_shared())"));
        rest = after;
    }
    out.push_str(rest);
    out
}

fn next_number() -> u64 {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    COUNT.fetch_add(1, Ordering::Relaxed)
}

/// A temporary folder, removed with the program.
#[derive(Debug)]
struct Folder(PathBuf);

impl Folder {
    fn new() -> io::Result<Self> {
        let name = format!("dgsuite-shim-{}-{}", std::process::id(), next_number());
        let path = std::env::temp_dir().join(name);
        fs::create_dir_all(&path)?;
        Ok(Self(path))
    }

    fn write(&self, name: &str, text: &str) -> io::Result<()> {
        fs::write(self.0.join(Path::new(name)), text)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dynamic_shared_memory_becomes_a_pointer() {
        let text =
            "a;\nextern __shared__ __align__(16) double s[];\nextern __shared__ unsigned char b [ ] ; c";
        let expected = "a;\ndouble* const s = reinterpret_cast<double*>(shim::dynamic_shared());\n\
             unsigned char* const b = reinterpret_cast<unsigned char*>(shim::dynamic_shared()); c";
        assert_eq!(host_text(text), expected);
    }

    #[test]
    fn numbers_survive_as_bytes() {
        assert_eq!(values::<f32>(&bytes(&[1.5_f32, -0.0])), [1.5, -0.0]);
        assert_eq!(values::<u64>(&bytes::<u64>(&[])), [] as [u64; 0]);
    }
}
