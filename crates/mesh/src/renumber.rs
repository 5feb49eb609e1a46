//! Renumbering along a space-filling curve, so that neighbours in space are neighbours in memory.

use crate::{Across, ElementSet, Mesh, Side, sides::NONE};
use dgsuite_basis::lattice::lattice_vertices;

/// A space-filling curve through the cells of a grid of `2ᵇ` cells in each direction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SpaceFillingCurve {
    /// Hilbert's curve: consecutive cells share a face.
    #[default]
    Hilbert,
    /// Morton's curve: the bits of the coordinates interleaved.
    Morton,
}

impl SpaceFillingCurve {
    /// Position along the curve of the grid cell `cell`, each coordinate below `2^bits`;
    /// `dim · bits ≤ 64`, unused coordinates zero.
    ///
    /// # Source
    /// Hilbert: J. Skilling, Programming the Hilbert curve, AIP Conf. Proc. 707 (2004).
    #[must_use]
    pub fn position(self, dim: usize, bits: u32, cell: [u32; 3]) -> u64 {
        let mut x = cell;
        if self == Self::Hilbert {
            to_transpose(&mut x[..dim], bits);
        }
        let mut key = 0;
        for b in (0..bits).rev() {
            for &x in &x[..dim] {
                key = key << 1 | u64::from(x >> b & 1);
            }
        }
        key
    }
}

/// Skilling's `AxestoTranspose`: the bits of the Hilbert index, distributed over the coordinates.
fn to_transpose(x: &mut [u32], bits: u32) {
    let n = x.len();
    let top = 1_u32 << (bits - 1);
    let mut q = top;
    while q > 1 {
        let p = q - 1;
        for i in 0..n {
            if x[i] & q != 0 {
                x[0] ^= p;
            } else {
                let t = (x[0] ^ x[i]) & p;
                x[0] ^= t;
                x[i] ^= t;
            }
        }
        q >>= 1;
    }
    for i in 1..n {
        x[i] ^= x[i - 1];
    }
    let mut t = 0;
    q = top;
    while q > 1 {
        if x[n - 1] & q != 0 {
            t ^= q - 1;
        }
        q >>= 1;
    }
    x.iter_mut().for_each(|x| *x ^= t);
}

/// The grid of cells on which elements are numbered along a curve.
pub(crate) struct CurveGrid {
    lower: [f64; 3],
    bits: u32,
    cells: f64,
    scale: f64,
}

impl CurveGrid {
    /// Positions along `curve` of elements of `set`, each by the mean of its vertices, with their numbers.
    pub(crate) fn positions(
        &self,
        mesh: &Mesh,
        set: &ElementSet,
        elements: impl Iterator<Item = usize>,
        curve: SpaceFillingCurve,
    ) -> Vec<(u64, usize)> {
        let vertices = lattice_vertices(set.shape, set.order);
        elements.map(|i| (self.position(mesh, &vertices, set.element(i), curve), i)).collect()
    }

    fn position(&self, mesh: &Mesh, vertices: &[usize], nodes: &[u32], curve: SpaceFillingCurve) -> u64 {
        let mut x = [0.0; 3];
        for &v in vertices {
            for d in 0..3 {
                x[d] += mesh.points[nodes[v] as usize][d];
            }
        }
        let at = |d: usize| {
            let mean = x[d] / vertices.len() as f64;
            ((mean - self.lower[d]) * self.scale).clamp(0.0, self.cells - 1.0) as u32
        };
        curve.position(mesh.dim, self.bits, [at(0), at(1), at(2)])
    }
}

impl Mesh {
    /// The grid of the mesh's bounding box.
    pub(crate) fn curve_grid(&self) -> CurveGrid {
        let [lower, upper] = self.bounding_box();
        let bits = if self.dim == 2 { 31 } else { 21 };
        let extent = (0..3).map(|d| upper[d] - lower[d]).fold(0.0, f64::max);
        let cells = (1_u64 << bits) as f64;
        CurveGrid { lower, bits, cells, scale: if extent > 0.0 { cells / extent } else { 0.0 } }
    }

    /// Sort the elements of each set along `curve` (by centroid) and the nodes by first use.
    ///
    /// Element numbers of the file, regions, boundaries and periodic pairs are permuted accordingly. Returns
    /// `new[old]`, the new global index of each element. A second call changes nothing.
    pub fn renumber(&mut self, curve: SpaceFillingCurve) -> Vec<u32> {
        let grid = self.curve_grid();
        let mut new_of_old = vec![0_u32; self.n_elements()];
        // The keys are those of the present points and sets.
        let orders: Vec<Vec<(u64, usize)>> = (self.sets.iter())
            .map(|set| {
                let mut order = grid.positions(self, set, 0..set.len(), curve);
                order.sort_unstable();
                order
            })
            .collect();
        for (set, order) in self.sets.iter_mut().zip(orders) {
            let n = set.nodes_per_element();
            for (new, &(_, old)) in order.iter().enumerate() {
                new_of_old[set.first + old] = (set.first + new) as u32;
            }
            let mut nodes = Vec::with_capacity(set.nodes.len());
            order.iter().for_each(|&(_, old)| nodes.extend_from_slice(&set.nodes[old * n..(old + 1) * n]));
            set.nodes = nodes;
            set.tags = order.iter().map(|&(_, old)| set.tags[old]).collect();
            set.regions = order.iter().map(|&(_, old)| set.regions[old]).collect();
        }
        self.renumber_points();
        self.move_sides(|s| Side { element: new_of_old[s.element as usize], face: s.face });
        new_of_old
    }

    /// Number the points in the order in which the elements use them.
    fn renumber_points(&mut self) {
        let mut new_of_old = vec![NONE; self.points.len()];
        let mut points = Vec::with_capacity(self.points.len());
        for set in &mut self.sets {
            for node in &mut set.nodes {
                let old = *node as usize;
                if new_of_old[old] == NONE {
                    new_of_old[old] = points.len() as u32;
                    points.push(self.points[old]);
                }
                *node = new_of_old[old];
            }
        }
        self.points = points;
    }

    /// Renumber the sides of all faces, and sort the faces again.
    ///
    /// Exchanging minus and plus keeps the orientation: `m[i] = q[k − i]` implies `q[j] = m[k − j]`.
    pub(crate) fn move_sides(&mut self, to: impl Fn(Side) -> Side) {
        let mut periodic_faces = std::mem::take(&mut self.periodic_faces);
        let mut origin = periodic_faces.iter_mut().peekable();
        for face in &mut self.faces {
            let old = face.minus;
            let periodic = origin.next_if(|p| p.minus == old);
            face.minus = to(old);
            if let Across::Interior { plus, .. } | Across::Periodic { plus, .. } = &mut face.across {
                *plus = to(*plus);
                if *plus < face.minus {
                    std::mem::swap(plus, &mut face.minus);
                }
            }
            if let Some(periodic) = periodic {
                periodic.minus = face.minus;
                periodic.reversed ^= face.minus != to(old);
            }
        }
        self.faces.sort_unstable_by_key(|face| face.minus);
        periodic_faces.sort_unstable_by_key(|face| face.minus);
        self.periodic_faces = periodic_faces;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hilberts_curve_visits_every_cell_by_steps_to_a_neighbour() {
        for dim in [2, 3] {
            let bits = 3;
            let n = 1_u32 << bits;
            let depth = if dim == 3 { n } else { 1 };
            let mut cells = vec![None; (n * n * depth) as usize];
            for i in 0..n {
                for j in 0..n {
                    for k in 0..depth {
                        let at = SpaceFillingCurve::Hilbert.position(dim, bits, [i, j, k]) as usize;
                        assert!(cells[at].replace([i, j, k]).is_none());
                    }
                }
            }
            for pair in cells.windows(2) {
                let (a, b) = (pair[0].unwrap(), pair[1].unwrap());
                let step: u32 = (0..3).map(|d| a[d].abs_diff(b[d])).sum();
                assert_eq!(step, 1, "{a:?} {b:?}");
            }
        }
    }

    #[test]
    fn mortons_curve_interleaves_bits() {
        assert_eq!(SpaceFillingCurve::Morton.position(2, 2, [0b10, 0b01, 0]), 0b1001);
        assert_eq!(SpaceFillingCurve::Morton.position(3, 1, [0, 1, 1]), 0b011);
    }
}
