//! Prints the NVIDIA devices of this machine and their speed limits: `cargo run --release --example devices`.

use dgsuite_gpu::GpuError;
use dgsuite_gpu::cuda::{Cuda, nvrtc};
use dgsuite_gpu::probe::{DeviceEffort, measure_device};

#[allow(clippy::print_stdout)]
fn main() -> Result<(), GpuError> {
    let devices = match Cuda::devices() {
        Ok(devices) => devices,
        Err(reason) => {
            println!("{reason}");
            return Ok(());
        }
    };
    match nvrtc::version() {
        Ok(version) => println!("run-time compiler: NVRTC {version}"),
        Err(reason) => println!("{reason}"),
    }
    for device in devices {
        println!("{}: {device}", device.ordinal);
        let cuda = Cuda::new(device.ordinal)?;
        let limits = match measure_device(&cuda, DeviceEffort::default()) {
            Ok(limits) => limits,
            Err(reason) => {
                println!("   {reason}");
                continue;
            }
        };
        for (name, value, unit) in [
            ("copy, kernel", limits.copy * 1e-9, "GB/s"),
            ("copy, driver", limits.driver_copy * 1e-9, "GB/s"),
            ("read", limits.read * 1e-9, "GB/s"),
            ("double precision", limits.flops_double * 1e-9, "GFLOP/s"),
            ("single precision", limits.flops_single * 1e-9, "GFLOP/s"),
            ("double, tensor cores", limits.flops_tensor * 1e-9, "GFLOP/s"),
            ("launch", limits.launch * 1e6, "µs"),
            ("kernel in a graph", limits.graph_node * 1e6, "µs"),
        ] {
            println!("   {name:<22} {value:>10.2} {unit}");
        }
    }
    Ok(())
}
