//! The mass matrix and its inverse, and the matrix from residuals of first-order laws to their loads.
//!
//! On affine elements they are `J` times the reference matrix, at Gauss nodes a diagonal, and on other curved
//! elements a dense matrix for each element. They are computed at their first use.
//!
//! Residuals of [`Scheme::loads_on_elliptic_nodes`](crate::Scheme::loads_on_elliptic_nodes) are `M⁻¹` times
//! their load with the same M where it is affine or diagonal; elsewhere their metric rule leaves out J, and
//! the reference matrix takes the place of M.

use super::point_kernels::Blocks;
use super::{Sipdg, Space};
use crate::elliptic::point_kernels;
use crate::lanes::panel::Rows;
use crate::lanes::simd::PackScalar;
use crate::rhs::residual::multiply;
use crate::space::chain::Chain;
use crate::space::scheme::MetricRule;
use dgsuite_basis::Matrix;
use dgsuite_gpu::{Buffer, SimdLevel};
use rayon::prelude::*;

/// One of the matrices, for one part.
enum Factor<T> {
    /// A reference matrix, and a factor for each slot.
    Affine { matrix: Chain<T>, scale: Vec<T> },
    /// `[block][node][lane]`.
    Diagonal(Vec<T>),
    /// `[block][i][j][lane]`.
    Dense(Vec<T>),
}

/// Mass matrix and inverse, and the matrix of loads where it is another, `[group][part]`.
pub(super) struct Mass<T> {
    parts: Vec<Vec<([Factor<T>; 2], Option<Factor<T>>)>>,
}

/// Which matrix of [`Mass`].
#[derive(Clone, Copy)]
enum Which {
    Mass,
    Inverse,
    Load,
}

impl<T> Mass<T> {
    fn factor(&self, g: usize, p: usize, which: Which) -> &Factor<T> {
        let ([mass, inverse], load) = &self.parts[g][p];
        match which {
            Which::Mass => mass,
            Which::Inverse => inverse,
            Which::Load => load.as_ref().unwrap_or(mass),
        }
    }
}

impl<T: PackScalar> Space<T> {
    /// `∫ φ_i φ_j` on one element.
    pub(super) fn mass_block(&self, element: usize) -> Matrix {
        let i = &self.tables_of(element).reference.interp_volume;
        i.transpose().mul(&i.scale_rows(&self.terms(element).jw))
    }

    /// Whether residuals of [`Scheme::loads_on_elliptic_nodes`](crate::Scheme::loads_on_elliptic_nodes) on
    /// this part are `M̂⁻¹` times their load.
    pub(super) fn leaves_out_jacobian(&self, group: usize, part: usize) -> bool {
        self.loads[group][part].rule == MetricRule::Reference
    }
}

impl<T: PackScalar> Mass<T> {
    fn new(space: &Space<T>, level: SimdLevel) -> Self {
        let of_part = |g: usize, p: usize| -> [Factor<T>; 2] {
            let (group, part) = (&space.groups[g], &space.groups[g].parts[p]);
            let (np, lanes) = (group.state.rows, group.state.lanes);
            let first = part.first_block * lanes;
            let slots = 0..part.n_blocks * lanes;
            let element = |slot: usize| group.elements[first + slot] as usize;
            let each = |f: &(dyn Fn(usize) -> Vec<f64> + Sync)| -> Vec<Vec<f64>> {
                space.problem.host.install(|| slots.clone().into_par_iter().map(f).collect())
            };
            // From numbers of each slot to `[block][number][lane]`.
            let spread = |of_slot: &[Vec<f64>]| -> Vec<T> {
                let n = of_slot[0].len();
                let mut out = vec![T::ZERO; of_slot.len() * n];
                for (slot, numbers) in of_slot.iter().enumerate() {
                    for (i, v) in numbers.iter().enumerate() {
                        out[((slot / lanes) * n + i) * lanes + slot % lanes] = T::from_f64(*v);
                    }
                }
                out
            };
            let reference = &part.reference;
            if reference.tensor.is_some() {
                let values = each(&|slot| space.terms(element(slot)).jw);
                let inverse: Vec<Vec<f64>> =
                    values.iter().map(|v| v.iter().map(|v| 1.0 / v).collect()).collect();
                return [Factor::Diagonal(spread(&values)), Factor::Diagonal(spread(&inverse))];
            }
            if part.spec.rule == MetricRule::Affine {
                let jacobian =
                    each(&|slot| vec![space.terms(element(slot)).jw[0] / reference.volume.weights[0]]);
                let rows = T::panel_rows(level, 1);
                let chain = |m: &Matrix| Chain::new(&[(Rows::dense(m), np)], rows, lanes);
                let scale = |f: fn(f64) -> f64| jacobian.iter().map(|j| T::from_f64(f(j[0]))).collect();
                return [
                    Factor::Affine { matrix: chain(&reference.mass), scale: scale(|j| j) },
                    Factor::Affine { matrix: chain(&reference.mass_inverse), scale: scale(|j| 1.0 / j) },
                ];
            }
            let values = each(&|slot| space.mass_block(element(slot)).data);
            let inverse = each(&|slot| {
                // The matrix is regular: weights and Jacobians are positive, which was checked during set-up.
                let regular = space.mass_block(element(slot)).inverse();
                regular.map_or_else(|_| vec![f64::NAN; np * np], |m| m.data)
            });
            [Factor::Dense(spread(&values)), Factor::Dense(spread(&inverse))]
        };
        let load_of_part = |g: usize, p: usize| -> Option<Factor<T>> {
            let (group, part) = (&space.groups[g], &space.groups[g].parts[p]);
            let (np, lanes, reference) = (group.state.rows, group.state.lanes, &part.reference);
            if !space.leaves_out_jacobian(g, p) {
                return None;
            }
            if reference.tensor.is_some() {
                // One weight for each node, the same in all lanes of all blocks.
                let of_block = reference.volume.weights.iter().flat_map(|w| vec![T::from_f64(*w); lanes]);
                let of_block: Vec<T> = of_block.collect();
                return Some(Factor::Diagonal(of_block.repeat(part.n_blocks)));
            }
            let rows = T::panel_rows(level, 1);
            let matrix = Chain::new(&[(Rows::dense(&reference.mass), np)], rows, lanes);
            Some(Factor::Affine { matrix, scale: vec![T::from_f64(1.0); part.n_blocks * lanes] })
        };
        let of_group = |g: usize| {
            let parts = 0..space.groups[g].parts.len();
            parts.map(|p| (of_part(g, p), load_of_part(g, p))).collect()
        };
        Self { parts: (0..space.groups.len()).map(of_group).collect() }
    }
}

impl<T: PackScalar> Sipdg<T> {
    /// `mu ← M u`; padding is copied.
    ///
    /// # Panics
    /// If a vector does not have [`len`](Self::len) entries.
    pub fn mass(&self, u: &[T], mu: &mut [T]) {
        self.multiply_mass(Which::Mass, u, mu);
    }

    /// `z ← M⁻¹ r`; padding is copied.
    ///
    /// # Panics
    /// If a vector does not have [`len`](Self::len) entries.
    pub fn inverse_mass(&self, r: &[T], z: &mut [T]) {
        self.multiply_mass(Which::Inverse, r, z);
    }

    /// `load ← ` the residual `r` tested with the functions, for one unknown of a law with the scheme
    /// [`Scheme::loads_on_elliptic_nodes`](crate::Scheme::loads_on_elliptic_nodes), in the order of vectors;
    /// padding is copied. It is `M r` if [`residuals_are_rates`](Self::residuals_are_rates).
    ///
    /// # Panics
    /// If a vector does not have [`len`](Self::len) entries.
    pub fn load_of_residual(&self, r: &[T], load: &mut [T]) {
        self.multiply_mass(Which::Load, r, load);
    }

    /// Whether residuals of such a law are `M⁻¹` times their load on all elements.
    #[must_use]
    pub fn residuals_are_rates(&self) -> bool {
        let groups = self.space.groups.iter().enumerate();
        let mut parts = groups.flat_map(|(g, group)| (0..group.parts.len()).map(move |p| (g, p)));
        !parts.any(|(g, p)| self.space.leaves_out_jacobian(g, p))
    }

    fn multiply_mass(&self, which: Which, u: &[T], out: &mut [T]) {
        assert!(u.len() == self.len() && out.len() == self.len(), "vectors of {} entries", self.len());
        let space = &self.space;
        let mass = self.mass.get_or_init(|| Mass::new(space, self.level));
        space.problem.host.install(|| {
            let mut rest = out;
            for (g, group) in space.groups.iter().enumerate() {
                let (own, others) = rest.split_at_mut(group.state.len());
                rest = others;
                let (len, lanes, np) = (group.state.block_len(), group.state.lanes, group.state.rows);
                own.par_chunks_mut(len).enumerate().for_each(|(block, out)| {
                    let p = group.parts.iter().rposition(|p| p.first_block <= block).unwrap_or(0);
                    let b = block - group.parts[p].first_block;
                    let u = &u[group.offset + block * len..group.offset + (block + 1) * len];
                    match mass.factor(g, p, which) {
                        Factor::Affine { matrix, scale } => {
                            let none = || Buffer::zeros(0);
                            let Ok(mut between) = none().and_then(|a| Ok([a, none()?])) else { return };
                            multiply(self.level, 1, matrix, u, &mut between, out);
                            for row in out.chunks_exact_mut(lanes) {
                                for (v, s) in row.iter_mut().zip(&scale[b * lanes..]) {
                                    *v *= *s;
                                }
                            }
                        }
                        Factor::Diagonal(d) => {
                            for ((v, u), d) in out.iter_mut().zip(u).zip(&d[b * len..]) {
                                *v = *u * *d;
                            }
                        }
                        Factor::Dense(m) => {
                            let matrix = &m[b * np * len..(b + 1) * np * len];
                            point_kernels::blocks(self.level, Blocks { n: np, matrix, r: u, z: out });
                        }
                    }
                    self.pad(g, block, u, out);
                });
            }
        });
    }
}
