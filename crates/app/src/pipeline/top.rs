//! The keys of the top level: title, device, precision and threads.

use crate::file::key::{Key, Usual, key, keys};
use crate::file::keys::{EXPLICIT, IMPLICIT};
use crate::file::problem::{InputError, Problem};
use crate::file::section::Section;
use crate::file::source::Place;
use crate::file::tree::Tree;
use dgsuite_solve::flow::{Device, Precision};

keys! { KEYS:
    pub(crate) TITLE: Key<String> = key("title")
        .any()
        .says("the file's name")
        .text("The title of the case, for reports and pictures.");
    pub(crate) DEVICE: Usual<Option<Device>> = key("device")
        .parsed(&["auto", "cpu", "cuda", "cuda:N"], device_of, |device| device.map(|device| device.to_string()))
        .text("Where the run computes. `auto` is an NVIDIA GPU if one can be used, else the CPU; `cuda:1` is the \
               second GPU.")
        .default(None);
    PRECISION: Usual<Precision> = key("precision")
        .words(&[("double", Precision::Double), ("single", Precision::Single)])
        .of(EXPLICIT)
        .text("The arithmetic of the solution.")
        .default(Precision::Double);
    PRECISION_OF_IMPLICIT: Usual<Precision> = key("precision")
        .words(&[("double", Precision::Double)])
        .of(IMPLICIT)
        .text("The arithmetic of the solution. `solver.inner_precision` is that of the preconditioner.")
        .default(Precision::Double);
    pub(crate) THREADS: Usual<usize> = key("threads")
        .whole(0, usize::MAX)
        .text("The number of CPU threads, of each rank if there are several; 0 stands for all cores, which ranks \
               share.")
        .default(0);
}

/// The device of a word; `None` for the best one.
fn device_of(word: &str) -> Option<Option<Device>> {
    match word {
        "auto" => Some(None),
        "cpu" => Some(Some(Device::Cpu)),
        "cuda" => Some(Some(Device::Cuda(0))),
        _ => word.strip_prefix("cuda:")?.parse().ok().map(|n| Some(Device::Cuda(n))),
    }
}

/// Where the run computes, as written.
#[derive(Clone, Debug, PartialEq)]
pub enum DeviceSpec {
    /// A GPU if one can be used, else the CPU.
    Auto,
    /// The CPU.
    Cpu,
    /// The GPU with this number, and where it was requested.
    Cuda(usize, Place),
}

impl DeviceSpec {
    /// Reads `device`.
    pub(super) fn read(top: &Section<'_>) -> Result<Self, InputError> {
        let Some(found) = DEVICE.given(top)? else { return Ok(Self::Auto) };
        Ok(match found.value {
            None => Self::Auto,
            Some(Device::Cpu) => Self::Cpu,
            Some(Device::Cuda(n)) => Self::Cuda(n, found.place),
        })
    }
}

/// Reads `precision`. Models with linear solvers compute in double precision; `of_preconditioner` is the key
/// of their preconditioner's.
pub(super) fn precision(top: &Section<'_>, of_preconditioner: Option<&str>) -> Result<Precision, InputError> {
    let found = PRECISION.given(top)?;
    let (Some(key), Some(found)) = (of_preconditioner, &found) else {
        return Ok(found.map_or(PRECISION.usual(), |found| found.value));
    };
    if found.value != PRECISION_OF_IMPLICIT.usual() {
        let value = PRECISION.shown(&found.value).to_owned();
        let instead = format!(
            "the solution is in double precision; {key}: single (the default) makes the preconditioner single"
        );
        let problem = Problem::Unsupported { key: found.key.clone(), value, instead };
        return Err(InputError::at(&found.place, problem));
    }
    Ok(found.value)
}

/// Writes out precision and threads.
pub(crate) fn write(tree: &mut Tree, precision: Precision, threads: usize) {
    PRECISION.write(tree, &precision);
    THREADS.write(tree, &threads);
}
