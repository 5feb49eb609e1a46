//! The device of a solver: the CPU or an NVIDIA GPU.

use dgsuite_gpu::cuda::{Cuda, DeviceInfo, nvrtc};
use std::fmt;
use std::str::FromStr;

/// The device that stores the state and computes the steps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Device {
    /// The CPU's threads.
    #[default]
    Cpu,
    /// The NVIDIA GPU of this number, as counted by the driver.
    Cuda(usize),
}

impl Device {
    /// Returns the first usable GPU, or else the CPU; if there is a GPU that cannot be used, with the reason.
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

    /// Number of GPUs that the driver shows.
    #[must_use]
    pub fn count() -> usize {
        Cuda::devices().map_or(0, |devices| devices.len())
    }

    /// Returns the GPU of this number if kernels can be compiled and run for it.
    ///
    /// # Errors
    /// A sentence that names what is missing.
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

/// A device that is unknown or cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DeviceError {
    /// The word is not a device.
    #[error("there is no device \"{0}\": known are auto, cpu, cuda, cuda:N")]
    Unknown(String),
    /// The device cannot be used.
    #[error("the device `{device}` cannot be used: {reason}")]
    Unusable {
        /// The device.
        device: String,
        /// The reason.
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
