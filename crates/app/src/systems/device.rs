//! Where a solver runs.

use dgsuite_gpu::cuda::{Cuda, DeviceInfo, nvrtc};
use std::fmt;
use std::str::FromStr;

/// Where the state lives and steps are made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Device {
    /// The CPU's threads.
    #[default]
    Cpu,
    /// The NVIDIA GPU of this number, as the driver counts.
    Cuda(usize),
}

impl Device {
    /// The first GPU that can be used, or the CPU; with the reason where there is a GPU that cannot be used.
    #[must_use]
    pub fn auto() -> (Self, Option<String>) {
        match Self::usable(0) {
            Ok(_) => (Self::Cuda(0), None),
            Err(reason) => {
                let stands_idle = Cuda::devices().is_ok_and(|devices| !devices.is_empty());
                (Self::Cpu, stands_idle.then_some(reason))
            }
        }
    }

    /// The GPU of this number if kernels can be compiled and run for it.
    ///
    /// # Errors
    /// A sentence that says what is missing.
    pub fn usable(ordinal: usize) -> Result<DeviceInfo, String> {
        let devices = Cuda::devices().map_err(|e| e.to_string())?;
        let n = devices.len();
        let info = devices.into_iter().nth(ordinal).ok_or_else(|| {
            let plural = if n == 1 { "device" } else { "devices" };
            format!("there is no CUDA device {ordinal}: the driver shows {n} {plural}, counted from 0")
        })?;
        nvrtc::version().map_err(|e| e.to_string())?;
        Ok(info)
    }
}

/// A device that is not known, or cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DeviceError {
    /// The word means nothing.
    #[error("there is no device \"{0}\": known are auto, cpu, cuda, cuda:N")]
    Unknown(String),
    /// Something is missing.
    #[error("the device `{device}` cannot be used: {reason}")]
    Unusable {
        /// The device.
        device: String,
        /// What is missing.
        reason: String,
    },
}

impl FromStr for Device {
    type Err = DeviceError;

    /// `auto`, `cpu`, `cuda` or `cuda:N`; a GPU must be usable.
    fn from_str(word: &str) -> Result<Self, DeviceError> {
        let ordinal = match word {
            "auto" => return Ok(Self::auto().0),
            "cpu" => return Ok(Self::Cpu),
            "cuda" => 0,
            _ => word
                .strip_prefix("cuda:")
                .and_then(|n| n.parse().ok())
                .ok_or_else(|| DeviceError::Unknown(word.to_owned()))?,
        };
        let device = Self::Cuda(ordinal);
        Self::usable(ordinal)
            .map_err(|reason| DeviceError::Unusable { device: device.to_string(), reason })?;
        Ok(device)
    }
}

impl fmt::Display for Device {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Cpu => f.write_str("cpu"),
            Self::Cuda(n) => write!(f, "cuda:{n}"),
        }
    }
}
