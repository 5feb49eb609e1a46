//! `dgsuite devices`: lists the devices that pipelines can run on.

use crate::systems::hyperbolic::Device;
use dgsuite_gpu::comm::mpi_library;
use dgsuite_gpu::cuda::{Cuda, nccl, nvrtc};
use dgsuite_gpu::{Backend, Host};
use std::fmt::Write;

/// Returns a list of the CPU and the GPUs, with the values that `device` of a pipeline file accepts and the
/// one that `auto` chooses, and the libraries that connect several ranks.
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
    match mpi_library() {
        Ok((path, version)) => _ = writeln!(text, "several ranks run by MPI: {version} ({})", path.display()),
        Err(_) => {
            _ = writeln!(
                text,
                "no MPI library of the standard ABI: several ranks need one (`pip install mpich`)"
            );
        }
    }
    if Cuda::devices().is_ok_and(|devices| devices.len() > 1) {
        match nccl::library() {
            Ok((path, version)) => {
                let _ = writeln!(
                    text,
                    "GPUs of several ranks exchange messages by NCCL {version} ({})",
                    path.display()
                );
            }
            Err(_) => {
                _ = writeln!(
                    text,
                    "GPUs of several ranks exchange messages through host memory: there is no NCCL"
                );
            }
        }
    }
    let _ = write!(text, "`device: auto` is {}", Device::auto().0);
    text
}
