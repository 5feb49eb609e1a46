//! Values at a height above the points of boundaries, as a sparse matrix for vectors of the operator.

use super::{BoundaryPoints, Triplet};
use crate::elliptic::{Sipdg, Space};
use crate::error::OpsError;
use crate::lanes::simd::PackScalar;
use crate::space::above::{Base, Height, places_above};

/// The heights of points, and the values there.
#[derive(Clone, Debug, Default)]
pub struct PointsAbove {
    /// The height above each point.
    pub heights: Vec<f64>,
    /// The matrix of `u` at the heights, with the points as rows.
    pub value: Vec<Triplet>,
}

impl<T: PackScalar> Sipdg<T> {
    /// The values above the points `on` of the boundaries `names`, each with its height. On several ranks the
    /// heights have to lie in the elements at the boundary.
    ///
    /// # Errors
    /// [`OpsError::NothingAbove`] if there is no element at the height of a point.
    pub fn points_above(
        &self,
        on: &BoundaryPoints,
        names: &[&str],
        heights: &[Height],
    ) -> Result<PointsAbove, OpsError> {
        let space = &self.space;
        let mesh = &space.problem.mesh;
        let volumes = mesh.volumes();
        let mut out = PointsAbove::default();
        for (b, (name, height)) in names.iter().zip(heights).enumerate() {
            let points: Vec<usize> = (0..on.len()).filter(|&q| on.boundary[q] as usize == b).collect();
            let same = |q: &usize, r: &usize| {
                let cosine: f64 = (0..3).map(|d| on.normals[*q][d] * on.normals[*r][d]).sum();
                on.elements[*q] == on.elements[*r] && cosine > 0.5
            };
            let mut bases = Vec::new();
            for face in points.chunk_by(same) {
                let area = face.iter().map(|&q| on.weights[q]).sum();
                let element = on.elements[face[0]] as usize;
                let height = height.above(volumes[element], area);
                bases.extend(face.iter().map(|&q| Base {
                    element,
                    at: on.points[q],
                    normal: on.normals[q],
                    height,
                }));
            }
            let places = places_above(mesh, name, &bases, space.problem.ranks.is_none())?;
            out.heights.resize(on.len(), 0.0);
            for ((&q, base), (element, r)) in points.iter().zip(&bases).zip(places) {
                out.heights[q] = base.height;
                out.value.extend(space.functions_at(element, r).map(|(i, v)| (q, i as usize, v)));
            }
        }
        out.value.sort_by_key(|&(q, i, _)| (q, i));
        Ok(out)
    }
}

impl<T: PackScalar> Space<T> {
    /// The entries of the functions of an element, with their values at a reference point.
    fn functions_at(&self, element: usize, r: [f64; 3]) -> impl Iterator<Item = (u32, f64)> {
        let (g, p) = self.part_of(element);
        let values = self.tables[g][p].reference.evaluate(&[r]);
        let entries: Vec<u32> = self.entries_of(element).collect();
        entries.into_iter().enumerate().map(move |(i, entry)| (entry, values[(0, i)]))
    }
}
