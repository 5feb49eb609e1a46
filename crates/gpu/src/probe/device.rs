//! Speed limits of a device: memory bandwidth, multiply-adds, tensor cores, launches, measured with events.

use crate::cuda::{Args, Cuda, DeviceBuffer, Function, LaunchConfig, Source};
use crate::{Element, GpuError};

/// Threads per block in all kernels of device.cu.
const THREADS: u32 = 256;
/// Blocks per multiprocessor in the kernels without memory traffic: 2048 threads.
const BLOCKS: u32 = 8;
/// Launches, or launches of a graph, that are measured together.
const LAUNCHES: usize = 500;

/// The size of the measurements.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DeviceEffort {
    /// Bytes of each of the two arrays of the bandwidth tests; more than the device's cache.
    pub array_bytes: usize,
    /// Multiply-adds of each accumulator in the rate tests.
    pub fma_rounds: u32,
    /// Runs of each test, of which the median is used.
    pub runs: usize,
}

impl Default for DeviceEffort {
    /// Arrays of 1 GiB, 4096 rounds, median of 21: well below a second.
    fn default() -> Self {
        Self { array_bytes: 1 << 30, fma_rounds: 4096, runs: 21 }
    }
}

/// Measured limits of a device.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DeviceLimits {
    /// `b_i = a_i` by a kernel: bytes read and written per second.
    pub copy: f64,
    /// `b_i = a_i` by the driver: bytes read and written per second.
    pub driver_copy: f64,
    /// `Σ a_i`: bytes read per second.
    pub read: f64,
    /// Double precision operations per second, a multiply-add counted as two.
    pub flops_double: f64,
    /// Single precision operations per second, a multiply-add counted as two.
    pub flops_single: f64,
    /// Double precision operations per second of the tensor cores.
    pub flops_tensor: f64,
    /// Time of one launch of an empty kernel among many, in seconds.
    pub launch: f64,
    /// Time of one empty kernel among many in a graph, in seconds.
    pub graph_node: f64,
}

/// Measures the limits of a device.
///
/// # Errors
/// [`GpuError::OutOfDeviceMemory`] if the arrays do not fit; the errors of [`Cuda::compile`]; a failure of
/// the driver.
pub fn measure_device(cuda: &Cuda, effort: DeviceEffort) -> Result<DeviceLimits, GpuError> {
    let probe = Probe::new(cuda, effort)?;
    let (copy, driver_copy, read) = probe.bandwidth()?;
    let (launch, graph_node) = probe.launches()?;
    Ok(DeviceLimits {
        copy,
        driver_copy,
        read,
        flops_double: probe.rate("fma_double", 0.5_f64, 1.0, 16.0)?,
        flops_single: probe.rate("fma_single", 0.5_f32, 1.0, 16.0)?,
        // 4 products of 8 x 4 by 4 x 8 for a warp of 32 threads.
        flops_tensor: probe.rate("mma_double", 0.5_f64, 1.0, 4.0 * 512.0 / 32.0)?,
        launch,
        graph_node,
    })
}

/// The text of the kernels.
fn source() -> Source {
    Source::new("device.cu", include_str!("device.cu"))
}

struct Probe<'a> {
    cuda: &'a Cuda,
    effort: DeviceEffort,
    module: std::sync::Arc<crate::cuda::Module>,
}

impl<'a> Probe<'a> {
    fn new(cuda: &'a Cuda, effort: DeviceEffort) -> Result<Self, GpuError> {
        Ok(Self { cuda, effort, module: cuda.compile(&source())? })
    }

    /// Median time of a launch, in seconds.
    fn time(&self, function: &Function, config: LaunchConfig, args: &Args) -> Result<f64, GpuError> {
        // SAFETY: the callers below pass each kernel of device.cu its arguments.
        self.cuda.median_time(self.effort.runs, || unsafe { self.cuda.launch(function, config, args) })
    }

    /// Bandwidth of the kernel's copy, of the driver's copy, and of reading, in bytes per second.
    fn bandwidth(&self) -> Result<(f64, f64, f64), GpuError> {
        let n = (self.effort.array_bytes / 16).max(1);
        let from = DeviceBuffer::<[f64; 2]>::zeros(self.cuda, "measuring the memory", n)?;
        let mut to = DeviceBuffer::<[f64; 2]>::zeros(self.cuda, "measuring the memory", n)?;
        let bytes = from.bytes() as f64;
        let mut args = Args::new();
        args.buffer(&to).buffer(&from).value(n as u64);
        let config = LaunchConfig::cover(n.div_ceil(4), THREADS);
        let copy = self.time(&self.module.function("copy_pairs")?, config, &args)?;
        let driver = self.cuda.median_time(self.effort.runs, || to.copy_from(&from, self.cuda.stream()))?;
        args.clear();
        args.buffer(&from).buffer(&to).value(n as u64);
        let config = LaunchConfig::new(BLOCKS * self.cuda.info().n_multiprocessors, THREADS);
        let read = self.time(&self.module.function("read_pairs")?, config, &args)?;
        Ok((2.0 * bytes / copy, 2.0 * bytes / driver, bytes / read))
    }

    /// Operations per second of a kernel whose threads do `operations` in each round.
    fn rate<T: Element>(&self, kernel: &str, m: T, a: T, operations: f64) -> Result<f64, GpuError> {
        let config = LaunchConfig::new(BLOCKS * self.cuda.info().n_multiprocessors, THREADS);
        let threads = (config.grid[0] * THREADS) as usize;
        let out = DeviceBuffer::<T>::zeros(self.cuda, "measuring multiply-adds", threads)?;
        let mut args = Args::new();
        args.buffer(&out).value(m).value(a).value(self.effort.fma_rounds);
        let time = self.time(&self.module.function(kernel)?, config, &args)?;
        Ok(operations * threads as f64 * f64::from(self.effort.fma_rounds) / time)
    }

    /// Time of an empty kernel, launched separately and in a graph.
    fn launches(&self) -> Result<(f64, f64), GpuError> {
        let (nothing, args) = (self.module.function("nothing")?, Args::new());
        let many = || {
            for _ in 0..LAUNCHES {
                // SAFETY: the kernel has no arguments and does nothing.
                unsafe { self.cuda.launch(&nothing, LaunchConfig::new(1, 32), &args)? };
            }
            Ok(())
        };
        let launch = self.cuda.median_time(self.effort.runs, many)?;
        let graph = self.cuda.capture(|_| many())?;
        let node = self.cuda.median_time(self.effort.runs, || graph.launch())?;
        Ok((launch / LAUNCHES as f64, node / LAUNCHES as f64))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shim::{self, Arg, Program, bytes, values};

    /// The kernels do the work that is counted: copies are complete, chains reach their fixed point, products
    /// their sum.
    #[test]
    fn kernels_do_what_is_counted() {
        if shim::compiler().is_err() {
            return;
        }
        let program =
            Program::new(&source(), &["copy_pairs", "read_pairs", "fma_single", "mma_double"], &[]).unwrap();
        let from: Vec<f64> = (0..2 * 1029).map(f64::from).collect();
        let mut memory = [vec![0; 16 * 1029], bytes(&from)];
        let args = [Arg::buffer(0), Arg::buffer(1), Arg::value(1029_u64)];
        program.run("copy_pairs", LaunchConfig::new(2, THREADS), &mut memory, &args).unwrap();
        assert_eq!(memory[0], memory[1]);
        let args = [Arg::buffer(0), Arg::buffer(1), Arg::value(1029_u64)];
        program.run("read_pairs", LaunchConfig::new(2, THREADS), &mut memory, &args).unwrap();
        assert_eq!(values::<f64>(&memory[1]), from);

        let mut memory = [vec![0; 4 * 256]];
        let args = [Arg::buffer(0), Arg::value(0.5_f32), Arg::value(1.0_f32), Arg::value(60_u32)];
        program.run("fma_single", LaunchConfig::new(1, THREADS), &mut memory, &args).unwrap();
        assert_eq!(values::<f32>(&memory[0]), [16.0; 256]);
        let mut memory = [vec![0; 8 * 256]];
        let args = [Arg::buffer(0), Arg::value(0.5), Arg::value(1.0), Arg::value(3_u32)];
        program.run("mma_double", LaunchConfig::new(1, THREADS), &mut memory, &args).unwrap();
        assert_eq!(values::<f64>(&memory[0]), [4.0 * 2.0 * 3.0 * 4.0 * 0.5; 256]);
    }
}
