//! Source terms `S(t, x)`: evaluated at volume points, projected, and added before the metric rule.
//!
//! The rows `Π J S` have the layout of a state and are added to the tested residual before the metric rule.
//! They are evaluated again only if the source changes with time.

use crate::lanes::simd::PackScalar;
use crate::rhs::discretization::Discretization;
use crate::space::group::{Group, Part};
use crate::space::positions::positions;
use crate::space::scheme::MetricRule;
use dgsuite_basis::Matrix;
use dgsuite_gpu::{Buffer, Element, GpuError, Host};
use dgsuite_mesh::Mesh;
use dgsuite_physics::Source;
use rayon::prelude::*;
use std::sync::Arc;

/// A source and its projected rows, `Π J S` on curved and `Π S` on affine elements (whose operators contain
/// `1/J`), in the layout of the state of each group.
pub(crate) struct SourceTerm<T: Element> {
    source: Arc<dyn Source>,
    /// Per group.
    pub(crate) rows: Vec<Buffer<T>>,
    /// Per group and part: positions of the volume points, `[slot][point]`.
    points: Vec<Vec<Vec<[f64; 3]>>>,
    /// Time at which `rows` were evaluated.
    time: Option<f64>,
}

impl<T: PackScalar> SourceTerm<T> {
    /// Allocates buffers for `source` on `groups`.
    ///
    /// # Errors
    /// [`GpuError`] if memory cannot be allocated.
    pub(crate) fn new(
        mesh: &Mesh,
        groups: &[Group<T>],
        host: &Host,
        source: Arc<dyn Source>,
    ) -> Result<Self, GpuError> {
        let rows = groups.iter().map(|g| Buffer::zeros_on(host, g.state.len())).collect::<Result<_, _>>()?;
        let points = groups
            .iter()
            .map(|group| {
                let of_part = |part: &Part<T>| {
                    let lanes = group.state.lanes;
                    let elements = &group.elements[part.first_block * lanes..][..part.n_blocks * lanes];
                    let at = &part.reference.volume.points;
                    host.install(|| {
                        elements.par_iter().flat_map_iter(|&e| positions(mesh, e as usize, at)).collect()
                    })
                };
                group.parts.iter().map(of_part).collect()
            })
            .collect();
        Ok(Self { source, rows, points, time: None })
    }

    /// Whether the rows do not depend on time.
    pub(crate) fn is_steady(&self) -> bool {
        self.source.is_steady()
    }

    /// The formulas of the source.
    pub(crate) fn formulas(&self) -> &dyn Source {
        self.source.as_ref()
    }

    /// Positions of the volume points of a group's part, `[slot][point]`.
    pub(crate) fn points_of(&self, group: usize, part: usize) -> &[[f64; 3]] {
        &self.points[group][part]
    }

    /// Evaluates the rows at time `t`, unless they are up to date.
    pub(crate) fn update(&mut self, t: f64, groups: &[Group<T>], host: &Host) {
        if self.time.is_some_and(|last| last == t || self.source.is_steady()) {
            return;
        }
        let source = self.source.as_ref();
        for ((group, rows), points) in groups.iter().zip(&mut self.rows).zip(&self.points) {
            let (len, lanes) = (group.state.block_len(), group.state.lanes);
            for (part, points) in group.parts.iter().zip(points) {
                let rows = &mut rows[part.first_block * len..(part.first_block + part.n_blocks) * len];
                let per_block = part.n_points * lanes;
                let np = group.state.rows;
                let project = if part.collocated {
                    Matrix::identity(np)
                } else {
                    part.reference.project_volume.clone()
                };
                host.install(|| {
                    rows.par_chunks_mut(len).zip(points.par_chunks(per_block)).enumerate().for_each(
                        |(b, (rows, points))| block_rows(group, part, &project, source, t, b, points, rows),
                    );
                });
            }
        }
        self.time = Some(t);
    }
}

/// Computes `Π J S` of the part's block `b`.
fn block_rows<T: PackScalar>(
    group: &Group<T>,
    part: &Part<T>,
    project: &Matrix,
    source: &dyn Source,
    t: f64,
    b: usize,
    points: &[[f64; 3]],
    rows: &mut [T],
) {
    let (fields, lanes, n) = (group.state.fields, group.state.lanes, part.n_points);
    let mut values = vec![Vec::new(); fields];
    source.eval(t, points, &mut values);
    for (k, values) in values.iter_mut().enumerate() {
        for lane in 0..lanes {
            let values = &mut values[lane * n..(lane + 1) * n];
            if part.spec.rule != MetricRule::Affine {
                for (q, v) in values.iter_mut().enumerate() {
                    *v /= part.inverse_jacobian[(b * n + q) * lanes + lane].to_f64();
                }
            }
            for (i, v) in project.mul_vec(values).into_iter().enumerate() {
                rows[group.state.index(lane, i, k)] = T::from_f64(v);
            }
        }
    }
}

impl<T: PackScalar> Discretization<T> {
    /// Updates the rows of the source to time `t`, if there is a source.
    pub(crate) fn update_source(&mut self, t: f64) {
        if let Some(source) = &mut self.source {
            source.update(t, &self.groups, &self.host);
        }
    }
}
