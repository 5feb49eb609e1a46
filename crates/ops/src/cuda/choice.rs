//! Which kernels a device would run: the rule that chooses, asked without a device.

use crate::boundary::BoundaryBinding;
use crate::cuda::discretization::{CudaDiscretization, law_text};
use crate::cuda::part_texts::kernel_texts;
use crate::cuda::scheme::on_device;
use crate::discretization::Discretization;
use crate::equation::Equation;
use crate::error::OpsError;
use crate::group::Lanes;
use crate::scheme::Scheme;
use crate::simd::PackScalar;
use dgsuite_basis::Shape;
use dgsuite_gpu::Host;
use dgsuite_gpu::cuda::Source;
use dgsuite_mesh::Mesh;
use std::sync::Arc;

/// The kernels of the elements of one shape that are affine, or of those that are curved.
#[derive(Clone, Debug)]
pub struct ChosenKernels {
    /// The shape.
    pub shape: Shape,
    /// Whether the elements are curved.
    pub curved: bool,
    /// Whether the kernels were made for such elements; the universal kernels run all others.
    pub fast: bool,
    /// The file of the residual's kernel, such as `simplex.cu`; with diffusion that of its first pass.
    pub name: String,
    /// The texts of all kernels of these elements.
    pub texts: Vec<Source>,
}

impl<T: PackScalar> CudaDiscretization<T> {
    /// The kernels that [`new`](Self::new) would compile for the elements of each shape. No device is needed.
    ///
    /// # Errors
    /// As [`new`](Self::new), but for those of the device.
    pub fn chosen(
        mesh: Arc<Mesh>,
        scheme: &Scheme,
        equation: impl Into<Equation<T>>,
        boundaries: Vec<BoundaryBinding<T>>,
        host: Arc<Host>,
    ) -> Result<Vec<ChosenKernels>, OpsError> {
        let scheme = &on_device(scheme, &mesh, None);
        let d =
            Discretization::laid_out(mesh, scheme, equation.into(), boundaries, host, Lanes::Device, None)?;
        of_groups(&d)
    }

    /// The kernels of this discretisation.
    ///
    /// # Errors
    /// None after [`new`](Self::new) has succeeded.
    pub fn kernels(&self) -> Result<Vec<ChosenKernels>, OpsError> {
        of_groups(self.description())
    }
}

fn of_groups<T: PackScalar>(d: &Discretization<T>) -> Result<Vec<ChosenKernels>, OpsError> {
    let law = law_text(d)?;
    let mut chosen = Vec::new();
    for group in &d.groups {
        chosen.extend(kernel_texts(&law, group, d.scheme.form)?);
    }
    Ok(chosen)
}
