//! Values at a height above the points of boundaries, as a sparse matrix for vectors of the operator.

use super::{BoundaryPoints, Triplet};
use crate::elliptic::{Sipdg, Space};
use crate::error::OpsError;
use crate::lanes::simd::PackScalar;
use crate::rhs::places_above::{PlaceAbove, places_above};
use crate::space::above::{Base, Height};
use std::collections::BTreeMap;

/// The heights of points, and the values there.
#[derive(Clone, Debug, Default)]
pub struct PointsAbove {
    /// The height above each point.
    pub heights: Vec<f64>,
    /// The matrix of `u` at the heights, with the points as rows, then the places lent to other ranks. The
    /// rows of points whose places lie in elements of other ranks are empty.
    pub value: Vec<Triplet>,
    /// The ranks with which places are shared, ascending.
    pub loans: Vec<SharedPlaces>,
}

/// The places that this rank shares with another one.
#[derive(Clone, Debug)]
pub struct SharedPlaces {
    /// The other rank.
    pub rank: usize,
    /// The number of places lent to it.
    pub lent: usize,
    /// The points whose places it has, in the order in which it lends them.
    pub borrowed: Vec<usize>,
}

impl<T: PackScalar> Sipdg<T> {
    /// The values above the points `on` of the boundaries `names`, each with its height. Collective on
    /// several ranks.
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
        let among = space.problem.ranks.as_ref().map(|ranks| ranks.among());
        let mut out = PointsAbove { heights: vec![0.0; on.len()], ..PointsAbove::default() };
        let mut loans: BTreeMap<usize, (Vec<PlaceAbove>, Vec<usize>)> = BTreeMap::new();
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
            let places = places_above(mesh, name, &bases, among.as_ref())?;
            for ((&q, base), place) in points.iter().zip(&bases).zip(&places.own) {
                out.heights[q] = base.height;
                let Some((element, r)) = *place else { continue };
                out.value.extend(space.functions_at(element, r).map(|(i, v)| (q, i as usize, v)));
            }
            for loan in places.loans {
                let (lent, borrowed) = loans.entry(loan.rank).or_default();
                lent.extend(loan.lent);
                borrowed.extend(loan.borrowed.iter().map(|&p| points[p]));
            }
        }
        let mut row = on.len();
        for (rank, (lent, borrowed)) in loans {
            out.loans.push(SharedPlaces { rank, lent: lent.len(), borrowed });
            for (element, r) in lent {
                out.value.extend(space.functions_at(element, r).map(|(i, v)| (row, i as usize, v)));
                row += 1;
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
