//! Libraries that are found at run time: tables of their functions, and the first that can be used.

use std::error::Error;
use std::path::{Path, PathBuf};

use libloading::Library;

/// A struct of functions with C's calling convention: field, symbol, arguments, result.
macro_rules! function_table {
    ($Table:ident { $($name:ident = $symbol:literal ($($Argument:ty),*) -> $Result:ty;)* }) => {
        pub(super) struct $Table {
            $(pub(super) $name: unsafe extern "C" fn($($Argument),*) -> $Result,)*
        }

        impl $Table {
            /// Finds all functions, whose names in the library begin with `prefix`; they stay valid, because
            /// the library is never closed.
            ///
            /// # Safety
            /// Functions of these names have these types.
            unsafe fn new(library: libloading::Library, prefix: &str) -> Result<Self, String> {
                let table = Self {
                    $($name: {
                        // SAFETY: by the caller's contract.
                        let symbol = unsafe { library.get(format!("{prefix}{}\0", $symbol).as_bytes()) };
                        *symbol.map_err(|_| concat!("it has no function ", $symbol).to_owned())?
                    },)*
                };
                std::mem::forget(library);
                Ok(table)
            }
        }
    };
}
pub(crate) use function_table;

/// The folders of libraries that Python's packages bring, if this program was installed as one: those of the
/// packages of NVIDIA, in the environment of the program.
pub(crate) fn folders_of_packages() -> Vec<PathBuf> {
    let program = std::env::current_exe().and_then(|program| program.canonicalize());
    let Some(root) = program.ok().and_then(|program| Some(program.parent()?.parent()?.to_owned())) else {
        return Vec::new();
    };
    below(&root.join("lib"), "python")
        .iter()
        .flat_map(|python| below(&python.join("site-packages/nvidia"), ""))
        .map(|package| package.join("lib"))
        .collect()
}

/// The entries of a folder whose names begin with `start`, sorted; the newest version comes first.
fn below(folder: &Path, start: &str) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let named = entries.filter(|entry| entry.file_name().to_string_lossy().starts_with(start));
    let mut found: Vec<PathBuf> = named.map(|entry| entry.path()).collect();
    found.sort();
    found.reverse();
    found
}

/// The first file or name of which `accept` makes something, or the list of attempts with their reasons.
///
/// # Safety
/// The initialisers of a library of this name may run.
pub(crate) unsafe fn open_first<T>(
    candidates: &[PathBuf],
    accept: impl Fn(Library, &Path) -> Result<T, String>,
) -> Result<T, String> {
    let mut tried = Vec::new();
    for path in candidates {
        // SAFETY: by the caller's contract.
        let opened = unsafe { Library::new(path) }.map_err(|error| {
            let text = error.source().map_or_else(|| error.to_string(), ToString::to_string);
            // Behind the name, which is printed anyway.
            text.split_once(": ").map_or(text.clone(), |(_, reason)| reason.to_owned())
        });
        match opened.and_then(|library| accept(library, path)) {
            Ok(found) => return Ok(found),
            Err(reason) => tried.push(format!("{} ({reason})", path.display())),
        }
    }
    Err(tried.join(", "))
}
