//! Tables of `elliptic_simplex.cu`: affine simplices split into even and odd parts under a reflection.
//!
//! The reflection that exchanges vertices 0 and 1 permutes the nodes and maps each mode to itself or its
//! negative. The derivative along the edge from vertex 0 to vertex 1 maps even to odd functions and vice
//! versa; the sums of the derivatives from both vertices to another vertex, and the mass matrix, preserve
//! parity. So a matrix for all nodes splits into two with half as many rows and columns.
//!
//! Nodes are in *slots*, four for each step: first the pairs of nodes that are images of each other, then
//! those that are their own images. In steps that odd parts have too, the kernel computes the sum and the
//! difference of the two nodes of a slot; a node that is its own image occurs twice in its slot.

use crate::cuda::elliptic::rounding::{Products, rounded_without_sum};
use crate::cuda::simplices::fragments::{Padding, fragment, pairs, row, steps, tiles};
use crate::cuda::text::setting::list;
use crate::elliptic::device::simplices::Simplices;
use dgsuite_basis::Matrix;
use dgsuite_gpu::cuda::Source;

/// Largest fraction of a derivative's square that may have the other parity.
const NEITHER: f64 = 1e-10;

/// The nodes and the modes of an element, ordered by the reflection.
pub(super) struct Halves<'a> {
    of: &'a Simplices,
    /// For each slot, a node and its image.
    slots: Vec<[usize; 2]>,
    n_pairs: usize,
    /// The even and the odd modes.
    modes: [Vec<usize>; 2],
    /// `∂_1 − ∂_0`, then `(∂_m − ∂_0) + (∂_m − ∂_1)`, m = 2 … dim.
    derivatives: Vec<Matrix>,
}

impl<'a> Halves<'a> {
    /// Without a reflection: nodes are their own images, modes are even, and derivatives are those along the
    /// edges from vertex 0.
    pub(super) fn whole(t: &'a Simplices) -> Self {
        let own = t.nodes.len() - t.dim - 1;
        let sides = || t.nodes[own..].iter().map(|o| &o[..t.n_face]);
        // Vertices first, then the nodes of one side after the other, so that the nodes of a side are in few
        // tiles.
        let corners = (0..t.np).filter(|n| sides().filter(|s| s.contains(n)).count() == t.dim);
        let mut slots: Vec<[usize; 2]> = Vec::new();
        for n in corners.chain(sides().flatten().copied()).chain(0..t.np) {
            if !slots.contains(&[n, n]) {
                slots.push([n, n]);
            }
        }
        let modes = [(0..t.gradient[0].rows()).collect(), Vec::new()];
        Self { of: t, slots, n_pairs: 0, modes, derivatives: t.gradient.clone() }
    }

    /// With the reflection; `None` if a mode is neither even nor odd.
    pub(super) fn new(t: &'a Simplices) -> Option<Self> {
        let own = t.nodes.len() - t.dim - 1;
        // Nodes of side 1 first, so that the nodes of a side are in few tiles.
        let sides = t.nodes[own + 1..].iter().flat_map(|o| &o[..t.n_face]).copied();
        let (mut of_pairs, mut alone): (Vec<[usize; 2]>, Vec<[usize; 2]>) = (Vec::new(), Vec::new());
        let mut seen = vec![false; t.np];
        for n in sides.chain(0..t.np) {
            let image = t.mirrored[n];
            if !std::mem::replace(&mut seen[n], true) {
                seen[image] = true;
                if image == n { &mut alone } else { &mut of_pairs }.push([n, image]);
            }
        }
        let along = &t.gradient[0];
        let mut modes = [Vec::new(), Vec::new()];
        for k in 0..along.rows() {
            let own: f64 = along.row(k).iter().map(|v| v * v).sum();
            let mirrored: f64 = (0..t.np).map(|n| along[(k, n)] * along[(k, t.mirrored[n])]).sum();
            // The derivative along the exchanged edge changes parity.
            let odd = mirrored > 0.0;
            if (own - mirrored.abs()).abs() > NEITHER * own {
                return None;
            }
            modes[usize::from(odd)].push(k);
        }
        let derivatives = (t.gradient.iter().enumerate())
            .map(|(d, m)| if d == 0 { m.clone() } else { m.scaled(2.0).add_scaled(-1.0, along) })
            .collect();
        let n_pairs = of_pairs.len();
        let slots = of_pairs.into_iter().chain(alone).collect();
        Some(Self { of: t, slots, n_pairs, modes, derivatives })
    }

    /// Number of slots of even and odd parts, padded to whole steps.
    fn rows(&self) -> [usize; 2] {
        [self.slots.len(), self.n_pairs].map(|n| n.next_multiple_of(4))
    }

    /// The slots of even or odd parts in the numbering of the tensor cores.
    fn order(&self, odd: usize) -> Vec<usize> {
        let n = self.rows()[odd];
        let mut out = vec![0; n];
        for (step, j) in pairs(steps(n), 4) {
            if let Some(i) = row(n, step, j) {
                out[i] = 4 * step + j;
            }
        }
        out
    }

    /// Coefficients of even or odd parts from coefficients of nodes, `value(n)`: the mean of the two nodes of
    /// a slot, or half their difference; half the value for nodes that are their own image.
    fn part(&self, odd: usize, slot: usize, value: impl Fn(usize) -> f64) -> f64 {
        match self.slots.get(slot) {
            Some(&[a, b]) if slot < self.n_pairs => {
                0.5 * if odd == 0 { value(a) + value(b) } else { value(a) - value(b) }
            }
            Some(&[a, _]) if odd == 0 => 0.5 * value(a),
            _ => 0.0,
        }
    }

    /// Whether the kernel has both nodes of a slot, so that it computes their sum.
    fn in_both(&self, slot: usize) -> bool {
        slot < self.rows()[1]
    }

    /// 2 if a node is its own image, otherwise 1.
    fn alone(&self, slot: usize) -> f64 {
        if slot < self.n_pairs { 1.0 } else { 2.0 }
    }

    /// The factor of what is summed in a slot until all sides are done.
    fn share(&self, slot: usize) -> f64 {
        if self.in_both(slot) { 0.5 } else { 1.0 }
    }

    /// The coefficient of an input that contains the node's value once.
    fn input(&self, slot: usize) -> f64 {
        if self.in_both(slot) { 1.0 } else { self.alone(slot) }
    }

    /// The parity of derivative `d` of even or odd parts.
    fn image(&self, odd: usize, d: usize) -> usize {
        if self.n_pairs > 0 && d == 0 { 1 - odd } else { odd }
    }

    /// Derivative `d` of even or odd parts: `[mode × slot]`, as it is tested; a node that is its own image
    /// has half of it.
    fn derivative(&self, odd: usize, d: usize, products: Products) -> Matrix {
        let (order, modes) = (self.order(odd), &self.modes[self.image(odd, d)]);
        let m = Matrix::from_fn(modes.len(), order.len(), |k, i| {
            self.part(odd, order[i], |n| self.derivatives[d][(modes[k], n)])
        });
        if products == Products::Rounded && odd == 0 { rounded_without_sum(&m) } else { m }
    }

    /// The mass matrix of a side, for the first and second nodes of the slots.
    fn face_mass(&self, c: usize) -> [Matrix; 2] {
        let m = &self.of.mass[c];
        [0, 1].map(|half| {
            let order = self.order(half);
            let entry = |i: usize, a: usize| {
                self.slots.get(order[i]).map_or(0.0, |s| self.share(order[i]) * m[(s[half], a)])
            };
            Matrix::from_fn(order.len(), m.cols(), entry)
        })
    }

    /// For each side, bits for the tiles of its mass matrix that have entries.
    fn mass_tiles(&self) -> Vec<u32> {
        let filled = |m: &Matrix, tile: usize| {
            let rows = pairs(2, 4).filter_map(|(i, j)| row(m.rows(), 2 * tile + i, j));
            rows.into_iter().any(|i| m.row(i).iter().any(|v| *v != 0.0))
        };
        let of_side = |c: usize| {
            let of_half =
                self.face_mass(c).map(|m| (0..tiles(m.rows())).map(|t| filled(&m, t)).collect::<Vec<_>>());
            of_half.iter().flatten().enumerate().fold(0, |bits, (t, f)| bits | u32::from(*f) << t)
        };
        (0..=self.of.dim).map(of_side).collect()
    }

    /// The matrices in the layout of the tensor cores, in the order of `elliptic_simplex.cu`.
    pub(super) fn fragments(&self, products: Products) -> Vec<f64> {
        let t = self.of;
        let (np, face) = (t.np, t.n_face);
        let mut out = Vec::new();
        let mut put = |matrices: &[Matrix]| {
            for step in 0..matrices.first().map_or(0, |m| steps(m.cols())) {
                for m in matrices {
                    (0..tiles(m.rows())).for_each(|tile| fragment(m, step, tile, Padding::Zero, &mut out));
                }
            }
        };
        for (odd, d) in pairs(2, t.dim) {
            let (m, order) = (self.derivative(odd, d, products), self.order(odd));
            put(&[Matrix::from_fn(m.rows(), m.cols(), |k, i| self.input(order[i]) * m[(k, i)])]);
        }
        let columns = |first: usize, n: usize| Matrix::from_fn(face, n, |i, j| t.across[(i, first + j)]);
        for part in [columns(0, face), columns(face, np - face)] {
            if part.cols() > 0 {
                put(&[part]);
            }
        }
        t.tangent.iter().for_each(|m| put(std::slice::from_ref(m)));
        (0..=t.dim).for_each(|c| put(&self.face_mass(c)));
        for (c, m) in t.lift.iter().enumerate() {
            // Both edges to the vertex opposite to the side.
            let twice = if self.n_pairs > 0 && c > 1 { 2.0 } else { 1.0 };
            put(&self
                .modes
                .each_ref()
                .map(|of| Matrix::from_fn(of.len(), face, |k, a| twice * m[(of[k], a)])));
        }
        for (odd, d) in pairs(2, t.dim) {
            let of_nodes = self.image(odd, d);
            let (m, order) = (self.derivative(of_nodes, d, products), self.order(of_nodes));
            put(&[Matrix::from_fn(m.cols(), m.rows(), |i, k| self.alone(order[i]) * m[(k, i)])]);
        }
        if t.reaction.is_some() {
            for odd in 0..2 {
                let order = self.order(odd);
                put(&[Matrix::from_fn(order.len(), order.len(), |i, j| {
                    let [to, from] = [order[i], order[j]];
                    let reached = if odd == 0 { to < self.slots.len() } else { to < self.n_pairs };
                    let entry = |n: usize| t.volume_mass[(self.slots[to][0], n)];
                    if reached {
                        self.share(to) * self.input(from) * self.part(odd, from, entry)
                    } else {
                        0.0
                    }
                })]);
            }
        }
        out
    }

    /// The rows of a side's own order for the groups of four lanes, four steps per word:
    /// `[code][lane][word]`, followed by the first and the second nodes of the slots.
    pub(super) fn words(&self) -> Vec<u32> {
        let t = self.of;
        let (face, inner) = (t.n_face, t.np - t.n_face);
        let mut out = Vec::new();
        let mut put = |n: usize, node: &dyn Fn(usize) -> usize| {
            for first in (0..n).step_by(4) {
                out.push((first..n.min(first + 4)).fold(0, |w, s| w | (node(s) as u32) << (8 * (s - first))));
            }
        };
        for (order, j) in t.nodes.iter().flat_map(|o| (0..4).map(move |j| (o, j))) {
            let of_inner = if inner > 0 { steps(inner) } else { 0 };
            put(steps(face) + of_inner, &|s| {
                if s < steps(face) {
                    order[row(face, s, j).unwrap_or(0)]
                } else {
                    order[face + row(inner, s - steps(face), j).unwrap_or(0)]
                }
            });
        }
        for (j, half) in pairs(4, 2) {
            put(self.rows()[half] / 4, &|s| self.slots.get(4 * s + j).map_or(0, |slot| slot[half]));
        }
        out
    }

    /// Defines the macros of the kernel.
    pub(super) fn define(&self, source: Source) -> Source {
        source
            .define("PAIRS", self.n_pairs)
            .define("OWN_IMAGES", self.slots.len() - self.n_pairs)
            .define("EVEN_MODES", self.modes[0].len())
            .define("ODD_MODES", self.modes[1].len())
            .define("MASS_TILES", list(self.mass_tiles()))
    }
}
