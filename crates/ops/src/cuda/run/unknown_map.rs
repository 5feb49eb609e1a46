//! Linear maps of the unknowns on a device, as [`Discretization::map_unknowns`].

use crate::cuda::run::discretization::CudaDiscretization;
use crate::lanes::simd::PackScalar;
use crate::rhs::discretization::Discretization;
use dgsuite_gpu::cuda::{Args, Cuda, DeviceBuffer, Function, LaunchConfig, Source};
use dgsuite_gpu::{CudaVector, GpuError, Vector as _};

const THREADS: usize = 128;

/// A linear map of the unknowns, `u ← A u` at every point.
pub struct UnknownMap {
    kernel: Function,
    matrix: DeviceBuffer<f64>,
    args: Args,
}

/// Builds the text of the kernel.
pub(crate) fn map_text<T: PackScalar>(fields: usize) -> Source {
    Source::new("unknown_map.cu", include_str!("unknown_map.cu"))
        .define("STATE_REAL", if T::BYTES == 4 { "float" } else { "double" })
        .define("FIELDS", fields)
        .define("BLOCK", THREADS)
}

impl UnknownMap {
    /// Compiles the kernel.
    ///
    /// # Errors
    /// Errors of compilation and of the device.
    pub fn new<T: PackScalar>(on: &CudaDiscretization<T>) -> Result<Self, GpuError> {
        let (cuda, fields) = (on.cuda(), on.description().physics().n_fields());
        let kernel = cuda.compile(&map_text::<T>(fields))?.function("map_unknowns")?;
        let matrix = DeviceBuffer::zeros(cuda, "a map of unknowns", fields * fields)?;
        Ok(Self { kernel, matrix, args: Args::new() })
    }

    /// Puts the map with the entries `a` of A, `[row][column]`, into the device's stream.
    ///
    /// # Errors
    /// Errors of the device.
    ///
    /// # Panics
    /// If `a` is not square with the number of unknowns, or `u` does not have the length of the state.
    pub fn apply<T: PackScalar>(
        &mut self,
        on: &CudaDiscretization<T>,
        a: &[f64],
        u: &mut CudaVector<T>,
    ) -> Result<(), GpuError> {
        assert_eq!(u.len(), on.len(), "the array has the state's length");
        self.matrix.upload(a)?;
        self.launch(on.cuda(), on.description(), u)
    }

    fn launch<T: PackScalar>(
        &mut self,
        cuda: &Cuda,
        d: &Discretization<T>,
        u: &mut CudaVector<T>,
    ) -> Result<(), GpuError> {
        for group in &d.groups {
            let (layout, begin) = (group.state, (group.offset * T::BYTES) as u64);
            let points = layout.blocks * layout.rows * layout.lanes;
            self.args.clear();
            self.args.pointer(u.buffer().ptr() + begin).value(points as u64).value(layout.rows as u32);
            self.args.value(layout.lanes as u32).value(u32::from(layout.planar)).buffer(&self.matrix);
            // SAFETY: the arguments are the kernel's; the vector has the length of the state, and its memory
            // is freed in the order of the stream.
            unsafe { cuda.launch(&self.kernel, LaunchConfig::cover(points, THREADS as u32), &self.args)? };
        }
        Ok(())
    }
}
