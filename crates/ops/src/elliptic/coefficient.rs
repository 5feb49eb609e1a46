//! Coefficients of an elliptic problem, projected to one polynomial per element.
//!
//! A coefficient is given as a function of element and position. It is replaced by its L² projection, on the
//! reference element, to polynomials of the order of the finest level, so that all levels discretise the same
//! problem. A coefficient that is constant in each element remains unchanged; it may jump between elements,
//! because the cubature points of the projection lie inside the elements.

use super::Field;
use super::space::ranks::EllipticRanks;
use crate::error::OpsError;
use crate::space::group::element_points;
use crate::space::positions::image;
use dgsuite_basis::{LagrangeBasis, Matrix, OrthonormalBasis, Polynomials, Quadrature, Shape};
use dgsuite_gpu::Host;
use dgsuite_mesh::Mesh;
use rayon::prelude::*;

/// Samples whose relative difference is below this are one constant.
const SAME: f64 = 1e-14;

/// A coefficient, by element.
#[derive(Clone)]
pub(super) struct Coefficient {
    name: &'static str,
    order: usize,
    /// The constant of each element; if it is not constant, the mean of the samples.
    value: Vec<f64>,
    /// Coefficients of the orthonormal modes, empty for constants; the outer array is empty if all elements
    /// have constants.
    modes: Vec<Vec<f64>>,
    /// Whether it vanishes in all elements.
    zero: bool,
}

impl Coefficient {
    pub(super) fn new(
        name: &'static str,
        mesh: &Mesh,
        order: usize,
        field: &Field<'_>,
        host: &Host,
    ) -> Result<Self, OpsError> {
        let (mut value, mut modes) = (Vec::new(), Vec::new());
        for (s, set) in mesh.sets.iter().enumerate() {
            let rule = Quadrature::new(set.shape, 2 * order + 2);
            let position = LagrangeBasis::new(set.shape, set.order).eval(&rule.points);
            let project = basis(set.shape, order).eval(&rule.points).scale_rows(&rule.weights).transpose();
            let of_element = |local: usize| -> (f64, Vec<f64>) {
                let x = image(&position, &element_points(mesh, s, local));
                let samples: Vec<f64> = x.into_iter().map(|x| field(set.first + local, x)).collect();
                let largest = samples.iter().fold(0.0_f64, |m, v| m.max(v.abs()));
                if samples.iter().all(|v| (v - samples[0]).abs() <= SAME * largest) {
                    return (samples[0], Vec::new());
                }
                let mean = samples.iter().sum::<f64>() / samples.len() as f64;
                (mean, project.mul_vec(&samples))
            };
            let all: Vec<(f64, Vec<f64>)> =
                host.install(|| (0..set.len()).into_par_iter().map(of_element).collect());
            for (v, m) in all {
                value.push(v);
                modes.push(m);
            }
        }
        if modes.iter().all(Vec::is_empty) {
            modes.clear();
        }
        let zero = modes.is_empty() && value.iter().all(|v| *v == 0.0);
        let out = Self { name, order, value, modes, zero };
        for element in 0..out.value.len() {
            out.check(mesh, element, &[out.value[element]])?;
        }
        Ok(out)
    }

    /// The coefficient with what is known of all ranks. Collective.
    pub(super) fn on(mut self, ranks: Option<&EllipticRanks>) -> Result<Self, OpsError> {
        if let Some(ranks) = ranks {
            let mut flags = [!self.modes.is_empty(), !self.zero];
            ranks.any(&mut flags)?;
            if flags[0] && self.modes.is_empty() {
                self.modes = vec![Vec::new(); self.value.len()];
            }
            self.zero = !flags[1];
        }
        Ok(self)
    }

    /// Whether the coefficient is constant in every element.
    pub(super) fn is_piecewise_constant(&self) -> bool {
        self.modes.is_empty()
    }

    /// Whether the coefficient vanishes.
    pub(super) fn is_zero(&self) -> bool {
        self.zero
    }

    /// Values of the modes at reference points of a shape.
    pub(super) fn table(&self, shape: Shape, points: &[[f64; 3]]) -> Matrix {
        basis(shape, self.order).eval(points)
    }

    /// Values in an element at the points of a table.
    pub(super) fn at(&self, element: usize, table: &Matrix) -> Vec<f64> {
        match self.modes.get(element) {
            Some(modes) if !modes.is_empty() => table.mul_vec(modes),
            _ => vec![self.value[element]; table.rows()],
        }
    }

    /// The value at row `q` of a table.
    pub(super) fn at_point(&self, element: usize, table: &Matrix, q: usize) -> f64 {
        match self.modes.get(element) {
            Some(modes) if !modes.is_empty() => table.row(q).iter().zip(modes).map(|(a, b)| a * b).sum(),
            _ => self.value[element],
        }
    }

    /// Returns an error for values that make the operator indefinite.
    pub(super) fn check(&self, mesh: &Mesh, element: usize, values: &[f64]) -> Result<(), OpsError> {
        let positive = self.name == "kappa";
        let bad = |v: f64| !v.is_finite() || v < 0.0 || (positive && v == 0.0);
        values.iter().find(|v| bad(**v)).map_or(Ok(()), |&value| {
            let bound = if positive { "positive" } else { "not negative" };
            Err(OpsError::Coefficient { name: self.name, element: mesh.tag(element), value, bound })
        })
    }
}

fn basis(shape: Shape, order: usize) -> OrthonormalBasis {
    OrthonormalBasis::new(shape, order, Polynomials::Tensor)
}
