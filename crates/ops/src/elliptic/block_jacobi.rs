//! Block Jacobi: the inverse of each element's diagonal block as a dense matrix.

use super::point_kernels::Blocks;
use super::{Sipdg, Space};
use crate::elliptic::point_kernels;
use crate::error::OpsError;
use crate::lanes::simd::PackScalar;
use crate::space::layout::Layout;
use dgsuite_basis::Matrix;
use dgsuite_gpu::{Buffer, Element, Host, SimdLevel};
use rayon::prelude::*;
use std::sync::Arc;

/// A dense matrix for each element, `[block][i][j][lane]`; the identity in the padding.
///
/// It stores n² numbers for an element with n functions: 0.9 MB in double precision for a hexahedron of
/// order 6.
pub struct BlockInverse<T: Element> {
    host: Arc<Host>,
    level: SimdLevel,
    groups: Vec<(Layout, usize, Buffer<T>)>,
}

/// The matrix of one element.
pub(crate) struct ElementMatrix<'a, T> {
    pub(crate) n: usize,
    lanes: usize,
    /// The element's first row in a device's vectors.
    pub(crate) row: usize,
    entries: &'a [T],
}

impl<T: Copy> ElementMatrix<'_, T> {
    pub(crate) fn entry(&self, i: usize, j: usize) -> T {
        self.entries[(i * self.n + j) * self.lanes]
    }
}

impl<T: PackScalar> BlockInverse<T> {
    /// Builds the matrices from a function of the element.
    pub(super) fn new(
        space: &Space<T>,
        level: SimdLevel,
        matrix: impl Fn(usize) -> Result<Matrix, OpsError> + Sync,
    ) -> Result<Self, OpsError> {
        let host = Arc::clone(&space.problem.host);
        let mut groups = Vec::new();
        for group in &space.groups {
            let (n, lanes) = (group.state.rows, group.state.lanes);
            let mut out = Buffer::<T>::zeros_on(&host, group.state.blocks * n * n * lanes)?;
            host.install(|| {
                out.par_chunks_mut(n * n * lanes).enumerate().try_for_each(|(block, out)| {
                    let part = group.part_of(block);
                    for lane in 0..lanes {
                        let slot = block * lanes + lane;
                        let real = slot < part.first_block * lanes + part.n_elements;
                        let m =
                            if real { matrix(group.elements[slot] as usize)? } else { Matrix::identity(n) };
                        for (i, v) in m.as_slice().iter().enumerate() {
                            out[i * lanes + lane] = T::from_f64(*v);
                        }
                    }
                    Ok::<(), OpsError>(())
                })
            })?;
            groups.push((group.state, group.offset, out));
        }
        Ok(Self { host, level, groups })
    }

    /// `z ← B r`.
    ///
    /// # Panics
    /// If the length of a vector is not that of the operator's vectors.
    pub fn apply(&self, r: &[T], z: &mut [T]) {
        let n: usize = self.groups.iter().map(|(l, ..)| l.len()).sum();
        assert!(r.len() == n && z.len() == n, "vectors of {n} entries");
        self.host.install(|| {
            let mut rest = z;
            for (layout, offset, matrices) in &self.groups {
                let (own, others) = rest.split_at_mut(layout.len());
                rest = others;
                let (len, n) = (layout.block_len(), layout.rows);
                let size = n * len;
                own.par_chunks_mut(len).enumerate().for_each(|(b, z)| {
                    let matrix = &matrices[b * size..(b + 1) * size];
                    let r = &r[offset + b * len..offset + (b + 1) * len];
                    point_kernels::blocks(self.level, Blocks { n, matrix, r, z });
                });
            }
        });
    }

    /// The matrices of all elements, for a device: `rows` are the rows of its vectors; rows of elements are
    /// below `real`.
    pub(crate) fn of_elements(&self, rows: &[u32], real: usize) -> Vec<ElementMatrix<'_, T>> {
        let mut out = Vec::new();
        for (layout, offset, matrices) in &self.groups {
            let (n, lanes) = (layout.rows, layout.lanes);
            for slot in 0..layout.blocks * lanes {
                let row = rows.get(offset + layout.index(slot, 0, 0)).map_or(real, |r| *r as usize);
                if row < real {
                    let entries = &matrices[slot / lanes * n * n * lanes + slot % lanes..];
                    out.push(ElementMatrix { n, lanes, row, entries });
                }
            }
        }
        out
    }

    /// Memory in bytes.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.groups.iter().map(|(.., m)| m.len() * size_of::<T>()).sum()
    }
}

impl<T: PackScalar> Sipdg<T> {
    /// Computes the inverses of the matrix's diagonal blocks: block Jacobi with the elements as blocks.
    ///
    /// # Errors
    /// [`OpsError::Basis`] if a block is singular, [`OpsError::Machine`] if memory runs out.
    pub fn block_inverses(&self) -> Result<BlockInverse<T>, OpsError> {
        let space = &self.space;
        BlockInverse::new(space, self.level, |e| Ok(space.diagonal_block(e).inverse()?))
    }
}
