//! A process with an emulated driver and compiler instead of NVIDIA's, so that programs for devices run on
//! the host.

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::{ARGUMENTS, Folder, SANITIZED, ShimError, compiler, next_number};
use crate::cuda::nvrtc::NVRTC_VARIABLE;
use crate::cuda::{CACHE_VARIABLE, Source};

/// The environment variable by which an emulated device does its work late: `old` prefers work of the streams
/// that were created first, `new` those created last, wherever no event orders them. Work that does not wait
/// for what it needs comes too early with one of them. Without it, work is done in the order of the calls.
pub const EMULATOR_ORDER: &str = "DGSUITE_EMULATOR_ORDER";

/// The environment variable with a folder in which emulators keep what the C++ compiler made, so that later
/// ones compile only texts that have changed; without it nothing is kept. What is kept depends on the texts,
/// the arguments and the version of the compiler.
pub const EMULATOR_CACHE: &str = "DGSUITE_EMULATOR_CACHE";

/// The files of the emulator.
const FILES: [(&str, &str); 6] = [
    ("shim.hpp", include_str!("shim.hpp")),
    ("machine.cpp", include_str!("machine.cpp")),
    ("module.hpp", include_str!("module.hpp")),
    ("capture.hpp", include_str!("capture.hpp")),
    ("late.hpp", include_str!("late.hpp")),
    ("driver.cpp", include_str!("driver.cpp")),
];

/// What is compiled once for all texts, the header, the fibres and the driver: the result, and the arguments
/// of the compiler. The first two have those of the texts beside them.
const PARTS: [(&str, &[&str]); 3] = [
    ("module.hpp.gch", &["-fPIC", "-x", "c++-header", "module.hpp"]),
    ("libmachine.so", &["-O1", "-shared", "-fPIC", "-Wl,-soname,libmachine.so", "machine.cpp"]),
    (DRIVER, &["-std=c++17", "-O1", "-shared", "-fPIC", "driver.cpp", "-ldl"]),
];
const DRIVER: &str = "libcuda.so";

/// A linker for many small libraries.
const GOLD: &str = "ld.gold";

/// An emulated NVIDIA driver with its run-time compiler (`driver.cpp`), for processes started by
/// [`command`](Self::command).
///
/// In these processes the machine has one device, `emulated by the host`. Programs that use
/// [`Cuda`](crate::cuda::Cuda) run unchanged: memory, streams, graphs and kernels, with each launch under
/// sanitizers and in two orders of threads. Operations that NVIDIA's driver refuses while a stream is
/// recorded are refused (`capture.hpp`). [`EMULATOR_ORDER`] makes streams run late and in turn (`late.hpp`).
/// An error of a kernel ends the process with a report and an exit status other than 0. Compiled kernels are
/// kept as long as the emulator exists and are shared by its processes; with [`EMULATOR_CACHE`] they are kept
/// longer.
///
/// ```no_run
/// use dgsuite_gpu::shim::Emulator;
/// let status = Emulator::new()?.command("target/release/examples/devices").status()?;
/// assert!(status.success());
/// # Ok::<(), dgsuite_gpu::shim::ShimError>(())
/// ```
#[derive(Debug)]
pub struct Emulator {
    folder: Folder,
    compiler: String,
    /// The arguments of the compiler.
    arguments: Vec<&'static str>,
    /// The address sanitizer's library, which must be loaded first; none without sanitizers.
    sanitizer: Option<PathBuf>,
    /// The folder of what is kept for later emulators.
    kept: Option<PathBuf>,
}

impl Emulator {
    /// Compiles the driver.
    ///
    /// # Errors
    /// [`ShimError::NoCompiler`] if there is no C++ compiler with GCC's address sanitizer,
    /// [`ShimError::Compile`], [`ShimError::Io`].
    pub fn new() -> Result<Self, ShimError> {
        const LIBRARY: &str = "libasan.so";
        let compiler = compiler()?;
        let found = Command::new(&compiler).arg(format!("-print-file-name={LIBRARY}")).output()?;
        let sanitizer = PathBuf::from(String::from_utf8_lossy(&found.stdout).trim());
        // The compiler prints the bare name if it does not find the library.
        if !sanitizer.is_absolute() {
            return Err(ShimError::NoCompiler { tried: format!("{compiler}, which has no {LIBRARY}") });
        }
        Self::build(compiler, ARGUMENTS.iter().chain(&SANITIZED).copied().collect(), Some(sanitizer))
    }

    /// As [`new`](Self::new), without sanitizers: texts compile in less than half of the time. For tests of
    /// whole programs whose kernels run under sanitizers elsewhere.
    ///
    /// # Errors
    /// As [`new`](Self::new).
    pub fn plain() -> Result<Self, ShimError> {
        Self::build(compiler()?, ARGUMENTS.to_vec(), None)
    }

    fn build(
        compiler: String,
        arguments: Vec<&'static str>,
        sanitizer: Option<PathBuf>,
    ) -> Result<Self, ShimError> {
        let folder = Folder::new()?;
        let mut arguments = arguments;
        // It links a library in a third of the time.
        if Command::new(GOLD).arg("--version").output().is_ok_and(|o| o.status.success()) {
            arguments.push("-fuse-ld=gold");
        }
        for (name, text) in FILES {
            folder.write(name, text)?;
        }
        let kept = kept(&compiler, &arguments)?;
        let emulator = Self { folder, compiler, arguments, sanitizer, kept };
        let mut started = Vec::new();
        for (made, own) in PARTS {
            let here = emulator.folder.0.join(made);
            let there = emulator.kept.as_ref().map(|folder| folder.join(made));
            if there.as_ref().is_some_and(|there| std::fs::copy(there, &here).is_ok()) {
                continue;
            }
            let mut command = Command::new(&emulator.compiler);
            if made != DRIVER {
                command.args(&emulator.arguments);
            }
            command.args(["-o", made]).args(own).current_dir(&emulator.folder.0);
            let child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn()?;
            started.push((made, child, here, there));
        }
        for (made, child, here, there) in started {
            let output = child.wait_with_output()?;
            if !output.status.success() {
                let log = String::from_utf8_lossy(&output.stderr).into_owned();
                return Err(ShimError::Compile { name: made.to_owned(), log });
            }
            if let Some(there) = there {
                keep(&here, &there)?;
            }
        }
        Ok(emulator)
    }

    /// The names of the texts that its processes have compiled so far.
    ///
    /// # Errors
    /// The errors of the file system.
    pub fn texts(&self) -> std::io::Result<BTreeSet<String>> {
        let mut names = BTreeSet::new();
        for entry in std::fs::read_dir(&self.folder.0)? {
            let path = entry?.path();
            if !path.is_dir() {
                continue;
            }
            for file in std::fs::read_dir(path)? {
                let name = file?.file_name().to_string_lossy().into_owned();
                if name.ends_with(".cu") {
                    names.insert(name);
                }
            }
        }
        Ok(names)
    }

    /// A command that runs `program` with the emulated driver.
    pub fn command(&self, program: impl AsRef<OsStr>) -> Command {
        let folder = &self.folder.0;
        let mut path = OsString::from(folder);
        if let Some(others) = std::env::var_os("LD_LIBRARY_PATH") {
            path.push(":");
            path.push(others);
        }
        let mut command = Command::new(program);
        command
            .env("LD_LIBRARY_PATH", path)
            .env(NVRTC_VARIABLE, folder.join(DRIVER))
            .env(CACHE_VARIABLE, folder.join("cache"))
            .env("DGSUITE_EMULATOR", folder)
            .env("DGSUITE_EMULATOR_COMPILER", format!("{} {} -fPIC", self.compiler, self.arguments.join(" ")))
            .env("ASAN_OPTIONS", "detect_leaks=0:use_sigaltstack=0")
            .env("UBSAN_OPTIONS", "print_stacktrace=1");
        match &self.kept {
            Some(kept) => command.env("DGSUITE_EMULATOR_KEPT", kept),
            None => command.env_remove("DGSUITE_EMULATOR_KEPT"),
        };
        if let Some(library) = &self.sanitizer {
            command.env("LD_PRELOAD", library);
        }
        command
    }
}

/// The folder of [`EMULATOR_CACHE`] for this compiler, these arguments and this emulator.
fn kept(compiler: &str, arguments: &[&str]) -> std::io::Result<Option<PathBuf>> {
    let Some(cache) = std::env::var_os(EMULATOR_CACHE).filter(|folder| !folder.is_empty()) else {
        return Ok(None);
    };
    let version = Command::new(compiler).arg("--version").output()?.stdout;
    let version = String::from_utf8_lossy(&version);
    let words = [compiler, &version].into_iter().chain(arguments.iter().copied());
    let all: Vec<&str> = words
        .chain(PARTS.into_iter().flat_map(|(made, own)| own.iter().copied().chain([made])))
        .chain(FILES.into_iter().flat_map(|(name, text)| [name, text]))
        .collect();
    let folder = PathBuf::from(cache).join(format!("{:032x}", Source::new("emulator", "").digest(&all)));
    std::fs::create_dir_all(&folder)?;
    Ok(Some(folder))
}

/// Copies a file, which appears as a whole.
fn keep(from: &Path, to: &Path) -> std::io::Result<()> {
    let temporary = to.with_extension(format!("{}-{}.new", std::process::id(), next_number()));
    std::fs::copy(from, &temporary)?;
    std::fs::rename(temporary, to)
}
