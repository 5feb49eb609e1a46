//! `dgsuite devices`: lists the devices that pipelines can run on.

use crate::systems::hyperbolic::Device;
use dgsuite_gpu::cuda::{Cuda, nvrtc};
use dgsuite_gpu::{Backend, Host};
use std::fmt::Write;

/// Returns a list of the CPU and the GPUs, with the values that `device` of a pipeline file accepts and the
/// one that `auto` chooses.
pub(super) fn describe() -> String {
    let mut text = String::new();
    match Host::new(0) {
        Ok(host) => _ = writeln!(text, "cpu      {}", host.describe()),
        Err(error) => _ = writeln!(text, "cpu      {error}"),
    }
    match Cuda::devices() {
        Ok(devices) => {
            for (n, info) in devices.iter().enumerate() {
                let _ = writeln!(text, "cuda:{n:<3} {info}");
            }
            match nvrtc::version() {
                Ok(version) => _ = writeln!(text, "kernels are compiled by NVRTC {version}"),
                Err(error) => _ = writeln!(text, "no kernels can be compiled: {error}"),
            }
        }
        Err(error) => _ = writeln!(text, "no GPU: {error}"),
    }
    let _ = write!(text, "`device: auto` is {}", Device::auto().0);
    text
}
