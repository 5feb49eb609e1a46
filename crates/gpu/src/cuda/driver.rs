//! The NVIDIA driver: loading, version check, error codes.
//!
//! `cudarc` loads the driver's library at the first call and panics if there is none. So every path to it
//! calls [`load`] first.

use cudarc::driver::{result, sys};
use sys::CUresult;

use crate::{CudaVersion, GpuError};

/// The oldest driver version that has all functions used here.
const OLDEST: CudaVersion = CudaVersion { major: 12, minor: 0 };

impl CudaVersion {
    /// From the driver's version number: 12040 is 12.4.
    pub(super) fn from_number(number: i32) -> Self {
        let number = number.unsigned_abs();
        Self { major: number / 1000, minor: number % 1000 / 10 }
    }
}

/// Loads and initialises the driver; its functions can be called afterwards.
pub(super) fn load() -> Result<CudaVersion, GpuError> {
    // SAFETY: opens the driver's library by name, which runs its initialisers and nothing else.
    if !unsafe { sys::is_culib_present() } {
        return Err(GpuError::NoDriver);
    }
    let mut number = 0;
    // SAFETY: the library is loaded, every version of it has this function, and `number` is a place for an
    // int.
    check("reading its version", unsafe { sys::cuDriverGetVersion(&raw mut number) })?;
    let found = CudaVersion::from_number(number);
    if found < OLDEST {
        return Err(GpuError::DriverTooOld { found, needed: OLDEST });
    }
    // SAFETY: no preconditions; may be called any number of times.
    check("starting", unsafe { sys::cuInit(0) })?;
    Ok(found)
}

/// Converts the result of a driver call.
pub(super) fn check(doing: &'static str, code: CUresult) -> Result<(), GpuError> {
    if code == CUresult::CUDA_SUCCESS { Ok(()) } else { Err(failure(doing, code)) }
}

/// As [`check`], for the calls that `cudarc` wraps.
pub(super) fn wrapped<T>(doing: &'static str, result: Result<T, result::DriverError>) -> Result<T, GpuError> {
    result.map_err(|error| failure(doing, error.0))
}

/// The driver's description of an error code.
pub(super) fn reason(code: CUresult) -> String {
    let name = format!("{code:?}");
    match result::DriverError(code).error_string() {
        Ok(words) => format!("{}, {name}", words.to_string_lossy()),
        Err(_) => name,
    }
}

fn failure(doing: &'static str, code: CUresult) -> GpuError {
    use CUresult as C;
    match code {
        C::CUDA_ERROR_STUB_LIBRARY => GpuError::NoDriver,
        C::CUDA_ERROR_NO_DEVICE => no_device(),
        // After these the driver refuses every further call of the process.
        C::CUDA_ERROR_ILLEGAL_ADDRESS
        | C::CUDA_ERROR_LAUNCH_TIMEOUT
        | C::CUDA_ERROR_ASSERT
        | C::CUDA_ERROR_HARDWARE_STACK_ERROR
        | C::CUDA_ERROR_ILLEGAL_INSTRUCTION
        | C::CUDA_ERROR_MISALIGNED_ADDRESS
        | C::CUDA_ERROR_INVALID_ADDRESS_SPACE
        | C::CUDA_ERROR_INVALID_PC
        | C::CUDA_ERROR_LAUNCH_FAILED => GpuError::Kernel { doing, reason: reason(code) },
        _ => GpuError::Driver { doing, reason: reason(code) },
    }
}

/// The error if no device is visible.
pub(super) fn no_device() -> GpuError {
    let visible = std::env::var("CUDA_VISIBLE_DEVICES").unwrap_or_else(|_| "unset".to_owned());
    GpuError::NoDevice { visible }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_read_from_the_drivers_number() {
        let version = CudaVersion::from_number(12_040);
        assert_eq!((version, version.to_string().as_str()), (CudaVersion { major: 12, minor: 4 }, "12.4"));
        assert!(CudaVersion::from_number(13_000) > version && version > OLDEST);
    }
}
