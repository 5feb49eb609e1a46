//! Reference implementation of reactions in simple stages: interpolate, evaluate, project, mass.

use super::{Split, invert, states};
use crate::space::positions::positions;
use dgsuite_basis::{Cubature, Matrix};
use dgsuite_physics::{Law, NumericalFlux};

impl<L, F, const D: usize, const N: usize> Split<L, F, D, N>
where
    L: Law<D, N>,
    F: NumericalFlux<L, D, N>,
{
    /// Computes the part of the residual of a source `rate(u, x)` of state and place,
    /// `[element][field][basis function]`.
    #[must_use]
    pub fn reaction(
        &self,
        u: &[Vec<Vec<f64>>],
        rate: &dyn Fn(&[f64; N], [f64; 3]) -> [f64; N],
    ) -> Vec<Vec<Vec<f64>>> {
        let of_element = |(e, element): (usize, &super::Element)| {
            let reference = &element.reference;
            let collocated = reference.spec.volume == Cubature::Collocated;
            let identity = Matrix::identity(reference.n_basis);
            let interp = if collocated { &identity } else { &reference.interp_volume };
            let at: Vec<[f64; N]> = states(interp, &u[e]);
            let places = positions(&self.mesh, e, &reference.volume.points);
            let rates: Vec<[f64; N]> = at.iter().zip(&places).map(|(u, &x)| rate(u, x)).collect();
            let field = |k: usize| {
                let jacobian = &element.geometry.jacobian;
                let values: Vec<f64> = rates.iter().zip(jacobian).map(|(s, j)| s[k] * j).collect();
                let rows = if collocated { values } else { reference.project_volume.mul_vec(&values) };
                invert(element, rows)
            };
            (0..N).map(field).collect()
        };
        self.elements.iter().enumerate().map(of_element).collect()
    }
}
