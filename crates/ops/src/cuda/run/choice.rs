//! Which kernels a device would run: the rule that chooses, asked without a device.

use crate::cuda::choose::layout::layout;
use crate::cuda::choose::part_texts::ChosenKernels;
use crate::cuda::choose::part_texts::kernel_texts;
use crate::cuda::choose::scheme::on_device;
use crate::cuda::run::discretization::{CudaDiscretization, law_text};
use crate::error::OpsError;
use crate::formulas::boundary::BoundaryBinding;
use crate::formulas::equation::Equation;
use crate::lanes::simd::PackScalar;
use crate::rhs::discretization::Discretization;
use crate::space::layout::Lanes;
use crate::space::layout::Terms;
use crate::space::scheme::Scheme;
use dgsuite_gpu::Host;
use dgsuite_mesh::Mesh;
use std::sync::Arc;

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
        let d = Discretization::laid_out(
            mesh,
            scheme,
            equation.into(),
            boundaries,
            host,
            Lanes::Device(layout::<T>, Terms::default()),
            None,
        )?;
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
