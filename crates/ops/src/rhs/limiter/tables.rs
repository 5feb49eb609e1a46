//! Matrices of the limiters for one part of a group, in double precision.

use crate::lanes::simd::PackScalar;
use crate::space::group::{Group, Part};
use crate::space::scheme::MetricRule;
use dgsuite_basis::{Matrix, Representation};

/// Matrices of one part. Modes are those of the orthonormal basis of the element's space.
pub(crate) struct Tables {
    /// Number of modes, of volume points, and of all points at which states are bounded.
    pub(crate) np: usize,
    pub(crate) nq: usize,
    pub(crate) nc: usize,
    /// The points: those of the volume, then those of the faces that differ from them.
    pub(crate) points: Vec<[f64; 3]>,
    /// Values of the modes at the points, `[point × mode]`.
    pub(crate) values: Matrix,
    /// From coefficients to modes and back; `None` if they are the same.
    pub(crate) modes: Option<(Matrix, Matrix)>,
    /// Modes of a function that is given at the volume points, `[mode × volume point]`.
    pub(crate) sensor: Matrix,
    /// Degree of each mode, and the largest one.
    pub(crate) degrees: Vec<usize>,
    pub(crate) order: usize,
    /// The mean of each mode: once, or for each slot of the part if elements are curved, `[slot][mode]`.
    pub(crate) means: Vec<f64>,
}

impl Tables {
    pub(crate) fn new<T: PackScalar>(group: &Group<T>, part: &Part<T>) -> Self {
        let r = &part.reference;
        let np = r.n_basis;
        let from_modes = r.from_modes();
        let volume = if part.collocated { Matrix::identity(np) } else { r.interp_volume.clone() };
        let mut points = r.volume.points.clone();
        let extra = match (&group.face_nodes, &r.nodes) {
            (Some(_), _) if part.collocated => None,
            (Some(_), Some(nodes)) => Some((Matrix::identity(np), nodes.clone())),
            _ => Some((r.interp_face.clone(), r.face_points.clone())),
        };
        let mut rows = volume.as_slice().to_vec();
        if let Some((matrix, more)) = extra {
            rows.extend_from_slice(matrix.as_slice());
            points.extend(more);
        }
        let nc = points.len();
        let values = Matrix::from_row_major(nc, np, rows).mul(&from_modes);
        let degrees = r.modes().degrees();
        let order = degrees.iter().copied().max().unwrap_or(0);
        let project = if part.collocated { Matrix::identity(np) } else { r.project_volume.clone() };
        let same = r.spec.representation == Representation::Modal;
        let mean_of = |jacobian: &dyn Fn(usize) -> f64| -> Vec<f64> {
            let weights: Vec<f64> = (0..part.n_points).map(|q| r.volume.weights[q] * jacobian(q)).collect();
            let total: f64 = weights.iter().sum();
            (0..np)
                .map(|m| weights.iter().enumerate().map(|(q, w)| w * values[(q, m)]).sum::<f64>() / total)
                .collect()
        };
        let means = if part.spec.rule == MetricRule::Affine {
            // All modes but the first are orthogonal to constants.
            let mut mean = mean_of(&|_| 1.0);
            mean[1..].fill(0.0);
            mean
        } else {
            let lanes = group.state.lanes;
            let of_slot = |slot: usize| {
                let (b, lane) = (slot / lanes, slot % lanes);
                mean_of(&|q| 1.0 / part.inverse_jacobian[(b * part.n_points + q) * lanes + lane].to_f64())
            };
            (0..part.n_blocks * lanes).flat_map(of_slot).collect()
        };
        let to_modes = r.to_modes();
        Self {
            np,
            nq: part.n_points,
            nc,
            points,
            sensor: to_modes.mul(&project),
            modes: (!same).then_some((to_modes, from_modes)),
            values,
            degrees,
            order,
            means,
        }
    }

    /// The means of the modes of a slot, counted from the part's first one.
    pub(crate) fn mean_of(&self, slot: usize) -> &[f64] {
        let first = if self.means.len() == self.np { 0 } else { slot * self.np };
        &self.means[first..first + self.np]
    }

    /// The share of the modes of the highest degree above which an element is troubled.
    pub(crate) fn threshold(&self) -> f64 {
        0.5 * 10.0_f64.powf(-1.8 * (self.order as f64 + 1.0).powf(0.25))
    }
}
