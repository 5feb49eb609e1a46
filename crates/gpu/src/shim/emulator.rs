//! A process with an emulated driver and compiler instead of NVIDIA's, so that programs for devices run on
//! the host.

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::path::PathBuf;
use std::process::{Command, Stdio};

use super::{ARGUMENTS, Folder, SANITIZED, ShimError, compiler};
use crate::cuda::CACHE_VARIABLE;
use crate::cuda::nvrtc::NVRTC_VARIABLE;

/// The environment variable by which an emulated device does its work late: `old` prefers work of the streams
/// that were created first, `new` those created last, wherever no event orders them. Work that does not wait
/// for what it needs comes too early with one of them. Without it, work is done in the order of the calls.
pub const EMULATOR_ORDER: &str = "DGSUITE_EMULATOR_ORDER";

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
/// kept as long as the emulator exists and are shared by its processes.
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
        folder.write("shim.hpp", include_str!("shim.hpp"))?;
        folder.write("machine.cpp", include_str!("machine.cpp"))?;
        folder.write("module.hpp", include_str!("module.hpp"))?;
        folder.write("capture.hpp", include_str!("capture.hpp"))?;
        folder.write("late.hpp", include_str!("late.hpp"))?;
        folder.write("driver.cpp", include_str!("driver.cpp"))?;
        let emulator = Self { folder, compiler, arguments, sanitizer };
        // The header and the fibres are compiled once for all texts.
        let mut header = Command::new(&emulator.compiler);
        header.args(&emulator.arguments).args([
            "-fPIC",
            "-x",
            "c++-header",
            "-o",
            "module.hpp.gch",
            "module.hpp",
        ]);
        let mut machine = Command::new(&emulator.compiler);
        machine.args(&emulator.arguments).args([
            "-O1",
            "-shared",
            "-fPIC",
            "-o",
            "libmachine.so",
            "machine.cpp",
        ]);
        let mut driver = Command::new(&emulator.compiler);
        driver.args(["-std=c++17", "-O0", "-shared", "-fPIC", "-o", "libcuda.so", "driver.cpp", "-ldl"]);
        let start = |(name, mut command): (&'static str, Command)| {
            command.current_dir(&emulator.folder.0).stdout(Stdio::null()).stderr(Stdio::piped());
            command.spawn().map(|child| (name, child))
        };
        let started = [("module.hpp", header), ("machine.cpp", machine), ("driver.cpp", driver)].map(start);
        for started in started {
            let (name, child) = started?;
            let output = child.wait_with_output()?;
            if !output.status.success() {
                let log = String::from_utf8_lossy(&output.stderr).into_owned();
                return Err(ShimError::Compile { name: name.to_owned(), log });
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
            .env(NVRTC_VARIABLE, folder.join("libcuda.so"))
            .env(CACHE_VARIABLE, folder.join("cache"))
            .env("DGSUITE_EMULATOR", folder)
            .env("DGSUITE_EMULATOR_COMPILER", format!("{} {} -fPIC", self.compiler, self.arguments.join(" ")))
            .env("ASAN_OPTIONS", "detect_leaks=0:use_sigaltstack=0")
            .env("UBSAN_OPTIONS", "print_stacktrace=1");
        if let Some(library) = &self.sanitizer {
            command.env("LD_PRELOAD", library);
        }
        command
    }
}
