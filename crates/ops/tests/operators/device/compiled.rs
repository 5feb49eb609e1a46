//! Registers and stack of compiled kernels, kept in `tests/data/compiled/` so that only texts that are new
//! are compiled: the compiler takes most of the time of the tests.
//!
//! A text is known by the digest of all that its machine code depends on. One in 32 is compiled anyway and
//! must be what was kept. `DGSUITE_UPDATE_KERNELS=1` compiles the new ones and writes the files; with another
//! version of the compiler than theirs everything is compiled, and nothing is compared.

use dgsuite_gpu::GpuError;
use dgsuite_gpu::cuda::{Source, nvrtc};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

/// Registers, bytes of stack and of spill stores of one kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Use {
    pub(crate) kernel: String,
    pub(crate) registers: u32,
    pub(crate) stack_bytes: u32,
    pub(crate) spill_stores: u32,
}

/// Kernels by the digest of their text for an architecture.
type Kernels = BTreeMap<u128, (String, Vec<Use>)>;

/// The kernels of one test.
pub(crate) struct Compiled {
    path: PathBuf,
    kept: Kernels,
    found: Mutex<Kernels>,
    /// Of the compiler; none if there is no compiler.
    version: Option<String>,
    update: bool,
}

impl Compiled {
    /// Reads the file of a test.
    pub(crate) fn of(test: &str) -> Self {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/data/compiled/{test}.txt"));
        let text = std::fs::read_to_string(&path).unwrap_or_default();
        let version = match nvrtc::version() {
            Ok(version) => Some(version.to_string()),
            Err(e @ GpuError::NoCompiler { .. }) => {
                assert!(std::env::var_os("DGSUITE_REQUIRE_TOOLS").is_none_or(|v| v != "1"), "{e}");
                println!("{e}");
                None
            }
            Err(e) => panic!("{e}"),
        };
        let mut lines = text.lines();
        let of = lines.next().and_then(|head| head.strip_prefix("nvrtc "));
        let same = version.is_none() || of == version.as_deref();
        let mut kept = Kernels::new();
        for line in lines.filter(|_| same) {
            let words: Vec<&str> = line.split(' ').collect();
            let [digest, text, kernel, registers, stack, stores] = words[..] else {
                panic!("{}: {line:?} has no six words", path.display())
            };
            let number = |word: &str| word.parse().expect("a number");
            kept.entry(u128::from_str_radix(digest, 16).expect("a digest"))
                .or_insert_with(|| (text.to_owned(), Vec::new()))
                .1
                .push(Use {
                    kernel: kernel.to_owned(),
                    registers: number(registers),
                    stack_bytes: number(stack),
                    spill_stores: number(stores),
                });
        }
        let update = std::env::var_os("DGSUITE_UPDATE_KERNELS").is_some();
        Self { path, kept, found: Mutex::default(), version, update }
    }

    /// The kernels of a text that compiles; of a text that was not kept none without a compiler.
    ///
    /// # Panics
    /// If the text does not compile.
    pub(crate) fn kernels(&self, architecture: &str, source: &Source) -> Vec<Use> {
        let digest = source.digest(&[architecture]);
        let kept = self.kept.get(&digest).map(|k| k.1.clone());
        let kernels = match kept {
            Some(kept) if !digest.is_multiple_of(32) || self.version.is_none() => kept,
            None if self.version.is_none() => {
                println!("SKIPPED: {} for {architecture} is new, and there is no NVRTC", source.name);
                return Vec::new();
            }
            kept => {
                let compiled = nvrtc::compile_for(architecture, source).unwrap_or_else(|e| panic!("{e}"));
                let new: Vec<Use> = compiled
                    .resources()
                    .into_iter()
                    .map(|r| Use {
                        kernel: r.kernel,
                        registers: r.registers,
                        stack_bytes: r.stack_bytes,
                        spill_stores: r.spill_stores,
                    })
                    .collect();
                assert!(!new.is_empty(), "{} has no kernel", source.name);
                if let Some(kept) = kept {
                    assert_eq!(new, kept, "{} for {architecture}: compiled, and kept", source.name);
                }
                new
            }
        };
        let entry = (format!("{}:{architecture}", source.name), kernels.clone());
        self.found.lock().expect("no panic").insert(digest, entry);
        kernels
    }

    pub(crate) fn has_compiler(&self) -> bool {
        self.version.is_some()
    }

    /// Writes the file, or fails if it is not what was found.
    pub(crate) fn close(self) {
        let found = self.found.into_inner().expect("no panic");
        let Some(version) = self.version else { return };
        if self.update {
            let mut text = format!("nvrtc {version}\n");
            for (digest, (name, kernels)) in &found {
                for k in kernels {
                    let (registers, stack, stores) = (k.registers, k.stack_bytes, k.spill_stores);
                    let _ = writeln!(text, "{digest:032x} {name} {} {registers} {stack} {stores}", k.kernel);
                }
            }
            std::fs::create_dir_all(self.path.parent().expect("a folder")).expect("a folder");
            return std::fs::write(&self.path, text).expect("the file can be written");
        }
        if self.kept.is_empty() {
            assert!(self.path.exists(), "DGSUITE_UPDATE_KERNELS=1 writes {}", self.path.display());
            return println!("{} is of another compiler than {version}", self.path.display());
        }
        let new = found.keys().filter(|k| !self.kept.contains_key(k)).count();
        let old = self.kept.keys().filter(|k| !found.contains_key(k)).count();
        assert!(
            new + old == 0,
            "{} lacks {new} texts, which compile, and has {old} of old texts; DGSUITE_UPDATE_KERNELS=1 writes it",
            self.path.display()
        );
    }
}
