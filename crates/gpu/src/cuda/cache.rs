//! The cache of compiled kernels on disk, so that the second run does not wait for the compiler.
//!
//! An entry is named by a digest of everything it depends on, appears completely or not at all, and contains
//! a digest of its own bytes: a damaged entry is compiled again. If the folder cannot be written, kernels are
//! compiled in every run, without an error.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

use super::nvrtc::{self, Compiled};
use super::source::{Digest, Source};
use crate::GpuError;

/// The environment variable with the folder.
pub const CACHE_VARIABLE: &str = "DGSUITE_CACHE";

/// First bytes of an entry: the name and version of the format.
const MAGIC: [u8; 8] = *b"dgcubin1";
/// Bytes before the log: magic, digest of the rest, length of the log.
const HEAD: usize = 8 + 16 + 8;

/// The location of compiled kernels.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cache {
    folder: Option<PathBuf>,
}

impl Cache {
    /// The folder in `DGSUITE_CACHE`; otherwise `dgsuite/kernels` in the user's cache folder
    /// (`XDG_CACHE_HOME`, `~/.cache`); otherwise none.
    pub fn from_environment() -> Self {
        let folder = |variable: &str| std::env::var_os(variable).filter(|v| !v.is_empty()).map(PathBuf::from);
        let user = || folder("XDG_CACHE_HOME").or_else(|| folder("HOME").map(|home| home.join(".cache")));
        let folder = folder(CACHE_VARIABLE).or_else(|| user().map(|caches| caches.join("dgsuite/kernels")));
        Self { folder }
    }

    /// The given folder, which is created when it is first needed.
    pub fn at(folder: impl Into<PathBuf>) -> Self {
        Self { folder: Some(folder.into()) }
    }

    /// No cache: every text is compiled.
    pub fn none() -> Self {
        Self { folder: None }
    }

    /// The folder, if there is one.
    pub fn folder(&self) -> Option<&Path> {
        self.folder.as_deref()
    }

    /// Machine code of a text, from the cache or from the compiler; the latter is stored in the cache.
    ///
    /// # Errors
    /// The errors of [`nvrtc::compile_for`].
    pub fn compile(&self, architecture: &str, source: &Source) -> Result<Compiled, GpuError> {
        let key = source.digest(&[&nvrtc::version()?.to_string(), architecture]);
        let path = self.folder.as_ref().map(|folder| folder.join(format!("{key:032x}.cubin")));
        if let Some(found) = path.as_ref().and_then(|path| decode(&fs::read(path).ok()?)) {
            return Ok(found);
        }
        let compiled = nvrtc::compile_for(architecture, source)?;
        if let Some(path) = path {
            // A full or read-only disk must not end the run.
            let _ = store(&path, &encode(&compiled));
        }
        Ok(compiled)
    }
}

fn checksum(bytes: &[u8]) -> [u8; 16] {
    let mut digest = Digest::default();
    digest.add(bytes);
    digest.0.to_le_bytes()
}

fn encode(compiled: &Compiled) -> Vec<u8> {
    let mut body = (compiled.log.len() as u64).to_le_bytes().to_vec();
    body.extend_from_slice(compiled.log.as_bytes());
    body.extend_from_slice(&compiled.cubin);
    [&MAGIC[..], &checksum(&body), &body].concat()
}

/// `None` if the entry differs in any way from the format of [`encode`].
fn decode(entry: &[u8]) -> Option<Compiled> {
    let (head, rest) = entry.split_at_checked(HEAD)?;
    let (magic, digest, length) = (&head[..8], &head[8..24], &head[24..]);
    let intact = magic == MAGIC && checksum(&entry[24..]) == *digest;
    let length = usize::try_from(u64::from_le_bytes(length.try_into().ok()?)).ok()?;
    let (log, cubin) = rest.split_at_checked(length).filter(|_| intact)?;
    Some(Compiled { cubin: cubin.to_vec(), log: String::from_utf8(log.to_vec()).ok()? })
}

/// Writes a temporary file and renames it: readers and writers in other processes see complete entries only.
fn store(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    let folder = path.parent().unwrap_or(path);
    fs::create_dir_all(folder)?;
    let mut file = NamedTempFile::new_in(folder)?;
    file.write_all(bytes)?;
    file.persist(path)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_broken_entry_is_not_taken() {
        let compiled = Compiled { cubin: vec![1, 2, 3, 250], log: "ptxas info : ä".to_owned() };
        let entry = encode(&compiled);
        assert_eq!(decode(&entry), Some(compiled));
        for n in 0..entry.len() {
            assert_eq!(decode(&entry[..n]), None, "cut to {n} bytes");
            let mut other = entry.clone();
            other[n] ^= 4;
            assert_eq!(decode(&other), None, "byte {n} changed");
        }
    }

    #[test]
    fn what_is_stored_appears_whole_and_alone() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("deep/er/entry.cubin");
        store(&path, b"first").unwrap();
        store(&path, b"second").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"second");
        assert_eq!(fs::read_dir(path.parent().unwrap()).unwrap().count(), 1);
    }
}
