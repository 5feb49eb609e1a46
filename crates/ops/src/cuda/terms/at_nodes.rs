//! Formulas of fields, of place and of time at the nodes of the elliptic operator's vectors.

use crate::cuda::text::kernel_text::{POINT_THREADS, parameter_values};
use crate::error::OpsError;
use dgsuite_gpu::cuda::{Args, Cuda, DeviceBuffer, Function, LaunchConfig, Source};
use dgsuite_gpu::{CudaVector, GpuError, Vector as _};
use dgsuite_physics::trace::{PRELUDE, Parameters, ROOTS, StateRecording, TraceError, device_fn};

/// Formulas that are evaluated at the nodes of vectors.
pub struct CudaAtNodes {
    cuda: Cuda,
    kernel: Function,
    /// `[axis][entry]`.
    place: DeviceBuffer<f64>,
    /// Zero at entries that are not nodes.
    inside: DeviceBuffer<f64>,
    parameters: Vec<f64>,
    fields: usize,
    outputs: usize,
    args: Args,
}

/// The text of the kernel of formulas of this number of fields, and its parameters.
fn text(formulas: &StateRecording, fields: usize) -> Result<(Source, Parameters), TraceError> {
    let mut parameters = Parameters::new();
    let function = device_fn("formulas", &[("w", fields), ("x", 3), ("t", 0)], &mut parameters, |a| {
        formulas.eval(&a.list("w"), &a.array("x"), a.scalar("t"))
    })?;
    let (name, body) = ("at_nodes.cu", include_str!("at_nodes.cu"));
    let text = format!(
        "#include \"device.cuh\"\n{ROOTS}{PRELUDE}{}{function}#line 1 \"{name}\"\n{body}",
        parameters.definition()
    );
    let source = Source::new(name, text).define("FIELDS", fields).define("OUTPUTS", formulas.n_outputs());
    // Memory bounds the time, so that the arithmetic may be the host's.
    Ok((source.define("BLOCK", POINT_THREADS).exact(), parameters))
}

impl CudaAtNodes {
    /// The text of the kernel of formulas of this number of fields.
    ///
    /// # Errors
    /// [`OpsError::Trace`] if a parameter has two values.
    pub fn text(formulas: &StateRecording, fields: usize) -> Result<Source, OpsError> {
        Ok(text(formulas, fields)?.0)
    }

    /// Prepares formulas of this number of fields. `place` are the coordinates of the entries of vectors in
    /// the order of the device, and `inside` is zero at entries that are not nodes.
    ///
    /// # Errors
    /// Errors of compilation and of the device.
    ///
    /// # Panics
    /// If vectors have different lengths.
    pub fn new(
        cuda: &Cuda,
        formulas: &StateRecording,
        fields: usize,
        place: [&CudaVector<f64>; 3],
        inside: &CudaVector<f64>,
    ) -> Result<Self, OpsError> {
        const WHAT: &str = "the places of nodes";
        let (source, parameters) = text(formulas, fields)?;
        let n = inside.len();
        let mut all = Vec::with_capacity(3 * n);
        for along in place {
            assert_eq!(along.len(), n, "all vectors have one length");
            all.extend(along.buffer().to_vec()?);
        }
        Ok(Self {
            cuda: cuda.clone(),
            kernel: cuda.compile(&source)?.function("at_nodes")?,
            place: DeviceBuffer::from_slice(cuda, WHAT, &all)?,
            inside: DeviceBuffer::from_slice(cuda, WHAT, &inside.buffer().to_vec()?)?,
            parameters: parameter_values(&parameters),
            fields,
            outputs: formulas.n_outputs(),
            args: Args::new(),
        })
    }

    /// Computes the formulas of `fields` at time `t`.
    ///
    /// # Errors
    /// Errors of the launch.
    ///
    /// # Panics
    /// If there are not as many fields and outputs as the formulas have, or a vector has another length.
    pub fn eval(
        &mut self,
        t: f64,
        fields: &[&CudaVector<f64>],
        outputs: &mut [CudaVector<f64>],
    ) -> Result<(), GpuError> {
        let n = self.inside.len();
        assert_eq!((fields.len(), outputs.len()), (self.fields, self.outputs), "those of the formulas");
        assert!(fields.iter().all(|v| v.len() == n) && outputs.iter().all(|v| v.len() == n), "one length");
        let read: Vec<u64> = fields.iter().map(|v| v.buffer().ptr()).collect();
        let written: Vec<u64> = outputs.iter_mut().map(|v| v.buffer_mut().ptr()).collect();
        self.args.clear();
        self.args.slice(&read).slice(&written).buffer(&self.place).buffer(&self.inside);
        self.args.value(t).value(n as u64).slice(&self.parameters);
        // SAFETY: the arguments are the kernel's; all vectors have the length `n`, and their memory is freed
        // in the order of the stream.
        unsafe { self.cuda.launch(&self.kernel, LaunchConfig::cover(n, POINT_THREADS as u32), &self.args) }
    }

    /// Bytes on the device.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.place.bytes() + self.inside.bytes()
    }
}
