//! The mass matrix of each part for devices, in double precision.

use super::DeviceLayout;
use crate::elliptic::Sipdg;
use crate::elliptic::tables::clean;
use crate::error::OpsError;
use crate::lanes::panel::Rows;
use crate::space::scheme::MetricRule;
use dgsuite_basis::Matrix;
use rayon::prelude::*;

/// The mass matrix of the elements of one part, in the order of the device.
pub(crate) enum DeviceMass {
    /// `w J`, `[element][node]`.
    Diagonal(Vec<f64>),
    /// The reference matrix and its inverse, and `J` of each element.
    Reference { matrices: [Rows; 2], jacobian: Vec<f64> },
    /// The reference matrix with `J = 1` on this number of elements, in place of the matrix of loads.
    Load { matrix: Rows, elements: usize },
    /// The matrix of each element and its inverse, `[element][column][row]`.
    Dense([Vec<f64>; 2]),
}

impl Sipdg<f64> {
    /// The mass matrices of all parts.
    ///
    /// # Errors
    /// [`OpsError::Basis`] if the matrix of a curved element cannot be inverted.
    pub(crate) fn device_mass(&self, layout: &DeviceLayout) -> Result<Vec<DeviceMass>, OpsError> {
        let space = &self.space;
        let of_span = |span: &super::DeviceSpan| -> Result<DeviceMass, OpsError> {
            let (g, p) = span.place;
            let part = &space.groups[g].parts[p];
            let (reference, elements) = (&part.reference, || span.elements.par_iter().map(|&e| e as usize));
            if reference.tensor.is_some() {
                let of_elements: Vec<Vec<f64>> = elements().map(|e| space.terms(e).jw).collect();
                return Ok(DeviceMass::Diagonal(of_elements.concat()));
            }
            if part.spec.rule == MetricRule::Affine {
                let weight = reference.volume.weights[0];
                let jacobian = elements().map(|e| space.terms(e).jw[0] / weight).collect();
                let matrices = [&reference.mass, &reference.mass_inverse].map(|m| Rows::dense(&clean(m)));
                return Ok(DeviceMass::Reference { matrices, jacobian });
            }
            let blocks: Vec<[Matrix; 2]> = elements()
                .map(|e| {
                    let mass = space.mass_block(e);
                    let inverse = mass.inverse()?;
                    Ok([mass, inverse])
                })
                .collect::<Result<_, OpsError>>()?;
            Ok(DeviceMass::Dense([0, 1].map(|k| blocks.iter().flat_map(|b| b[k].transpose().data).collect())))
        };
        space.problem.host.install(|| layout.spans.iter().map(of_span).collect())
    }

    /// The matrices from residuals to loads of the parts where they are not the mass matrix, see
    /// [`load_of_residual`](Self::load_of_residual).
    pub(crate) fn device_load(&self, layout: &DeviceLayout) -> Vec<Option<DeviceMass>> {
        let of_span = |span: &super::DeviceSpan| {
            let (g, p) = span.place;
            let reference = &self.space.groups[g].parts[p].reference;
            let elements = span.elements.len();
            let matrix = || match reference.tensor {
                Some(_) => DeviceMass::Diagonal(reference.volume.weights.repeat(elements)),
                None => DeviceMass::Load { matrix: Rows::dense(&clean(&reference.mass)), elements },
            };
            self.space.leaves_out_jacobian(g, p).then(matrix)
        };
        layout.spans.iter().map(of_span).collect()
    }
}
