//! `dgsuite devices`: lists the devices that pipelines can run on.

use dgsuite_gpu::comm::mpi_library;
use dgsuite_gpu::cores::list_of_cores;
use dgsuite_gpu::cuda::{Cuda, nccl, nvrtc};
use dgsuite_gpu::{Backend, Host};
use dgsuite_solve::flow::Device;
use std::fmt::Write;

use super::ranks::{cores_of, listed};

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
                "no MPI library of the standard ABI (`pip install mpich`; for another MPI `dgsuite mpi-adapter`): \
                 ranks of torchrun or srun use sockets"
            );
        }
    }
    let n_devices = Cuda::devices().map_or(0, |devices| devices.len());
    if n_devices > 1 {
        text.push_str(&links(n_devices));
        if let Some(cores) = cores_of(&(0..n_devices).collect::<Vec<_>>()) {
            let lists: Vec<String> = cores.iter().map(|cores| list_of_cores(cores)).collect();
            let lists = listed(&lists.iter().map(String::as_str).collect::<Vec<_>>());
            let _ = writeln!(text, "cores of the processes of `--devices all`: {lists}");
        }
        let planes = match nccl::library() {
            Ok((path, version)) => format!("NCCL {version} ({}), ", path.display()),
            Err(_) => "no NCCL, ".to_owned(),
        };
        let _ = writeln!(
            text,
            "GPUs of several ranks exchange messages by: {planes}peer (direct access), staged (host memory); \
             `dgsuite bench comm --devices all` measures them"
        );
    }
    let _ = write!(text, "`device: auto` is {}", Device::auto().0);
    text
}

/// The links between all pairs of devices; pairs with the same link share a line.
fn links(n_devices: usize) -> String {
    let mut kinds: Vec<(String, Vec<String>)> = Vec::new();
    for (a, b) in (0..n_devices).flat_map(|b| (0..b).map(move |a| (a, b))) {
        let kind = Cuda::link(a, b).map_or_else(|error| error.to_string(), |link| link.to_string());
        let pair = format!("{a}-{b}");
        match kinds.iter_mut().find(|(known, _)| *known == kind) {
            Some((_, pairs)) => pairs.push(pair),
            None => kinds.push((kind, vec![pair])),
        }
    }
    kinds.into_iter().map(|(kind, pairs)| format!("GPUs {}: {kind}\n", pairs.join(", "))).collect()
}
