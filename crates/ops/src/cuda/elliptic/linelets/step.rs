//! Whole steps of a smoother with linelets: launches of `elliptic_linelets_step.cu`.

use super::conforming::CudaConforming;
use super::{CudaLinelets, FunctionTables, HEADER};
use crate::cuda::elliptic::Span;
use crate::cuda::elliptic::transfer::{ChainText, argument};
use crate::cuda::elliptic::universal::DeviceRows;
use crate::elliptic::LineletInverse;
use crate::error::OpsError;
use crate::lanes::panel::Rows;
use dgsuite_basis::Shape;
use dgsuite_gpu::cuda::{Args, Cuda, Function, LaunchConfig, Source};
use dgsuite_gpu::{CudaVector, GpuError, Scalar};

/// The kernels of each part of a device's vectors.
pub(super) struct Steps<T: Scalar>(Vec<OfPart<T>>);

struct OfPart<T: Scalar> {
    inwards: Function,
    outwards: Function,
    config: LaunchConfig,
    /// The changes of basis, inwards and outwards.
    chains: [Vec<DeviceRows<T>>; 2],
    first_row: usize,
    n_elements: usize,
}

/// The structure `Part` of the kernels.
#[repr(C)]
#[derive(Clone, Copy)]
struct Argument {
    members: u64,
    member: u64,
    functions: FunctionTables,
    unknowns: u64,
    diagonal: u64,
    changed: u64,
    function: u64,
    sums: u64,
    first_row: u64,
    n_elements: u32,
    padding: u32,
}

impl<T: Scalar> Steps<T> {
    /// The kernels; `None` if elements keep their basis. `text` adds the numbers of the linelets to a text.
    pub(super) fn new(
        cuda: &Cuda,
        spans: &[Span],
        changes: &[(Shape, Option<[Vec<Rows>; 2]>)],
        text: &dyn Fn(Source) -> Source,
    ) -> Result<Option<Self>, OpsError> {
        let mut parts = Vec::with_capacity(spans.len());
        for span in spans {
            let change = changes.iter().find(|(shape, _)| *shape == span.shape);
            let Some((_, Some(both @ [inwards, outwards]))) = change else { return Ok(None) };
            let of = |factors: &[Rows]| {
                let kernel = include_str!("elliptic_linelets_step.cu");
                ChainText::new::<T>("elliptic_linelets_step.cu", kernel, factors)
            };
            let (chain, other) = (of(inwards)?, of(outwards)?);
            // One text for both directions.
            if chain.source != other.source {
                return Ok(None);
            }
            let module = cuda.compile(&text(chain.source.clone()).header(HEADER.0, HEADER.1))?;
            let function = |name: &str| {
                let function = module.function(name)?;
                function.set_max_dynamic_shared(chain.shared)?;
                Ok::<_, GpuError>(function)
            };
            let on_device = |factors: &[Rows]| {
                factors.iter().map(|m| DeviceRows::new(cuda, m)).collect::<Result<Vec<_>, GpuError>>()
            };
            parts.push(OfPart {
                inwards: function("linelets_in")?,
                outwards: function("linelets_out")?,
                config: chain.config(span.n_elements),
                chains: [on_device(&both[0])?, on_device(&both[1])?],
                first_row: span.first_row,
                n_elements: span.n_elements,
            });
        }
        Ok(Some(Self(parts)))
    }
}

impl<T: Scalar> CudaLinelets<T> {
    /// Computes `y ← x + β B (b − A x)`, with `A x` in `ax`, or, without both, `y ← β B b`. Returns false,
    /// and does nothing, if there is no such kernel: elements of several shapes or in lines that keep their
    /// basis. Consists of launches only; collective on several ranks.
    ///
    /// # Errors
    /// [`GpuError::Length`] if a length is not the operator's, and errors of launches and messages.
    pub fn relax(
        &mut self,
        beta: f64,
        b: &CudaVector<T>,
        from: Option<[&CudaVector<T>; 2]>,
        y: &mut CudaVector<T>,
    ) -> Result<bool, GpuError> {
        let plain = self.conforming.as_ref().filter(|_| self.plain);
        if self.steps.is_none() && plain.is_none() {
            return Ok(false);
        }
        let lengths = [b.buffer().len(), y.buffer().len()];
        let given = from.iter().flatten().map(|v| v.buffer().len());
        for found in lengths.into_iter().chain(given) {
            if found != self.len {
                return Err(GpuError::Length { doing: "a step with linelets", wanted: self.len, found });
            }
        }
        let [x, ax] = from.map_or([0, 0], |both| both.map(|v| v.buffer().ptr()));
        let parts: &[OfPart<T>] = match (&self.steps, plain) {
            (_, Some(conforming)) => {
                let vectors = [b.buffer().ptr(), ax, x, y.buffer().ptr(), self.changed.buffer().ptr()];
                conforming.step(&self.cuda, beta, &self.diagonal, vectors, self.real)?;
                self.refresh.as_ref().map_or(Ok(()), |refresh| refresh.run(&self.cuda, y.buffer_mut()))?;
                return Ok(true);
            }
            (Some(Steps(parts)), None) => parts,
            (None, None) => &[],
        };
        let [function, sums] = self.conforming.as_ref().map_or([0; 2], CudaConforming::addresses);
        let argument_of = |k: usize, part: &OfPart<T>| Argument {
            members: self.members.ptr(),
            member: self.parts[k].member.ptr(),
            functions: self.functions(),
            unknowns: self.unknowns.ptr(),
            diagonal: self.diagonal.buffer().ptr(),
            changed: self.changed.buffer().ptr(),
            function,
            sums,
            first_row: part.first_row as u64,
            n_elements: part.n_elements as u32,
            padding: 0,
        };
        for (k, part) in parts.iter().enumerate() {
            let mut args = Args::new();
            argument(&mut args, &part.chains[0]);
            args.value(argument_of(k, part)).buffer(b.buffer()).value(ax);
            // SAFETY: the arguments are those of the kernel; the vectors have the operator's length.
            unsafe { self.cuda.launch(&part.inwards, part.config, &args)? };
        }
        self.solve()?;
        if let Some(conforming) = &self.conforming {
            conforming.sum(&self.cuda, [self.changed.buffer().ptr(), 0])?;
        }
        for (k, part) in parts.iter().enumerate() {
            let last = k + 1 == parts.len();
            let copied = if last { self.len - self.real } else { 0 };
            let mut args = Args::new();
            argument(&mut args, &part.chains[1]);
            args.value(argument_of(k, part)).buffer(b.buffer()).value(ax).value(x).buffer(y.buffer());
            args.value(self.real as u64).value(copied as u64).value(beta);
            args.value(LineletInverse::<f64>::WEIGHT);
            // SAFETY: as above.
            unsafe { self.cuda.launch(&part.outwards, part.config, &args)? };
        }
        // Lines of elements of other ranks are not known here.
        self.refresh.as_ref().map_or(Ok(()), |refresh| refresh.run(&self.cuda, y.buffer_mut()))?;
        Ok(true)
    }
}
