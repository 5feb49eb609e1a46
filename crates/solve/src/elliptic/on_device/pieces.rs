//! The parts of preconditioners on a device.

use std::sync::Arc;

use dgsuite_amg::cuda::{
    CudaAmg, CudaCsr, CudaInterpolation, CudaJacobi, CudaMultigrid, CudaReordered, NOWHERE, RowLayout,
};
use dgsuite_amg::{AmgOptions, Csr, LinearOperator, Multigrid, Preconditioner, Transfer};
use dgsuite_gpu::cuda::Cuda;
use dgsuite_gpu::{CudaVector, Host, Scalar};
use dgsuite_ops::cuda::{CudaGathering, CudaPTransfer, CudaSipdg};
use dgsuite_ops::elliptic::{CompressedRows, Sipdg};

use super::bridge::{BetweenOrders, Blocks, Linelets, OnDevice};
use crate::elliptic::EllipticError;
use crate::elliptic::bridge::Operator;
use crate::elliptic::continuous::ContinuousSpace;
use crate::elliptic::entries::inverse_diagonal;
use crate::elliptic::lines::LineDescription;
use crate::elliptic::machine::{Between, Machine, Number, OnMatrix, Piece, Sizes, start_entry};
use crate::elliptic::options::with_continuous;
use crate::elliptic::ranks::{GatheredSolver, GatheredTransfer, Whole, whole_of_order};

type Vector<T> = CudaVector<T>;

/// A device as the machine of a preconditioner; the host sets it up.
pub(crate) struct WithHost<'a> {
    pub cuda: &'a Cuda,
    pub host: &'a Host,
    /// On several ranks, the operator of order 1 on the whole mesh.
    pub whole: Option<&'a Operator<f64>>,
}

/// An operator on the device, and on the host.
pub(crate) struct Pair<T: Scalar> {
    pub on_device: Arc<CudaSipdg<T>>,
    pub on_host: Arc<Sipdg<f64>>,
}

impl<T: Scalar> Clone for Pair<T> {
    fn clone(&self) -> Self {
        Self { on_device: Arc::clone(&self.on_device), on_host: Arc::clone(&self.on_host) }
    }
}

impl WithHost<'_> {
    /// Gathers vectors of an operator to those of the whole mesh. Collective.
    fn gathered<T: Number>(
        &self,
        a: &Pair<T>,
        whole: &Sipdg<f64>,
    ) -> Result<Whole<Vector<T>>, EllipticError> {
        let zeros = || Vector::zeros(self.cuda, whole.len());
        let gathering = CudaGathering::new(&a.on_device, &a.on_host, whole)?;
        Ok(Whole::new(gathering, [zeros()?, zeros()?]))
    }

    fn rounded<T: Scalar>(&self, on_host: Arc<Sipdg<f64>>) -> Result<Pair<T>, EllipticError> {
        Ok(Pair { on_device: Arc::new(CudaSipdg::rounded(self.cuda, &on_host)?), on_host })
    }

    fn multigrid<T: Scalar>(
        &self,
        a: &Pair<f64>,
        multigrid: Multigrid<Vector<T>>,
    ) -> Result<Piece<Vector<f64>>, EllipticError> {
        let apply = match a.on_device.is_recordable() {
            true => CudaMultigrid::new(self.cuda, multigrid)?,
            false => CudaMultigrid::launched(self.cuda, multigrid)?,
        };
        let bytes = apply.bytes();
        Ok(Piece::new(apply, bytes))
    }
}

impl Machine for WithHost<'_> {
    type Backend = Cuda;
    type Operator<T: Number> = Pair<T>;

    fn backend(&self) -> &Cuda {
        self.cuda
    }

    fn on_host(a: &Pair<f64>) -> &Sipdg<f64> {
        &a.on_host
    }

    fn sizes<T: Number>(a: &Pair<T>) -> Sizes {
        let (order, dofs) = (a.on_device.order(), a.on_host.dofs());
        Sizes { order, dofs, entries: a.on_device.len(), bytes: a.on_device.bytes() }
    }

    fn linear<T: Number>(a: &Pair<T>) -> Box<dyn LinearOperator<Vector<T>> + Send + Sync> {
        Box::new(OnDevice(Arc::clone(&a.on_device)))
    }

    fn start<T: Number>(&self, a: &Pair<T>) -> Result<Vector<T>, EllipticError> {
        Ok(a.on_device.upload(&a.on_host.numbered(start_entry))?)
    }

    fn single(&self, a: &Pair<f64>) -> Result<Pair<f32>, EllipticError> {
        self.rounded(Arc::clone(&a.on_host))
    }

    fn at_order<T: Number>(&self, a: &Pair<T>, order: usize) -> Result<Pair<T>, EllipticError> {
        self.rounded(Arc::new(a.on_host.at_order(order)?))
    }

    fn inverse_mass(&self, a: &Pair<f64>) -> Result<Piece<Vector<f64>>, EllipticError> {
        inverse_mass(self.cuda, a)
    }

    fn jacobi<T: Number>(&self, a: &Pair<T>) -> Result<Piece<Vector<T>>, EllipticError> {
        let inverse = a.on_device.upload(&inverse_diagonal(&a.on_host)?)?;
        let jacobi = CudaJacobi::from_inverse_diagonal(inverse)?;
        let bytes = jacobi.bytes();
        Ok(Piece::new(jacobi, bytes))
    }

    fn block_jacobi<T: Number>(&self, a: &Pair<T>) -> Result<Piece<Vector<T>>, EllipticError> {
        let inverse = a.on_device.block_inverses(&a.on_host.block_inverses()?)?;
        let bytes = inverse.bytes();
        Ok(Piece::new(Blocks(inverse), bytes))
    }

    fn linelets<T: Number>(&self, a: &Pair<T>) -> Result<(Piece<Vector<T>>, usize), EllipticError> {
        let on_host = a.on_host.linelet_inverse(with_continuous(&a.on_host))?;
        let of_lines = on_host.summary().bytes / size_of::<f64>() * T::BYTES;
        let inverse = a.on_device.linelets(&on_host)?;
        let bytes = inverse.bytes();
        Ok((Piece::new(Linelets(inverse), bytes), of_lines))
    }

    fn describe_lines<T: Number>(&self, a: &Pair<T>, bytes: usize) -> LineDescription {
        let of = self.whole.map_or(&a.on_host, |whole| &whole.0);
        LineDescription { bytes, ..LineDescription::found(of) }
    }

    fn linelets_with_reaction(
        &self,
        a: &Pair<f64>,
        lambda: f64,
    ) -> Result<Piece<Vector<f64>>, EllipticError> {
        let inverse = a.on_device.linelets(&a.on_host.linelet_inverse_with_reaction(lambda)?)?;
        let bytes = inverse.bytes();
        Ok(Piece::new(Linelets(inverse), bytes))
    }

    fn between_orders<T: Number>(
        &self,
        fine: &Pair<T>,
        coarse: &Pair<T>,
    ) -> Result<Between<Self, T>, EllipticError> {
        let between = Sipdg::transfer(&fine.on_host, &coarse.on_host)?;
        let transfer = CudaPTransfer::new(self.cuda, &fine.on_device, &coarse.on_device, &between)?;
        Ok((Box::new(BetweenOrders(transfer)), 0))
    }

    fn continuous<T: Number>(&self, a: &Pair<T>) -> Result<(Csr<f64>, Between<Self, T>), EllipticError> {
        let order = a.on_host.order();
        let whole = self.whole.map(|whole| whole_of_order(&whole.0, order)).transpose()?;
        let of = whole.as_ref().unwrap_or(&a.on_host);
        let rows = of.device_rows()?;
        let space = ContinuousSpace::of(of, self.host)?;
        let transfer = CudaInterpolation::new(self.cuda, &space.prolongation::<T>(Some(&rows))?)?;
        let bytes = transfer.bytes();
        let transfer: Box<dyn Transfer<Vector<T>> + Send + Sync> = match &whole {
            None => Box::new(transfer),
            Some(whole) => {
                Box::new(GatheredTransfer { inner: Box::new(transfer), whole: self.gathered(a, whole)? })
            }
        };
        Ok((space.matrix, (transfer, bytes)))
    }

    fn of_operator<T: Number, S: Number>(
        &self,
        a: &Pair<S>,
        options: &AmgOptions,
    ) -> Result<OnMatrix<Vector<S>>, EllipticError> {
        let order = a.on_host.order();
        let whole = self.whole.map(|whole| whole_of_order(&whole.0, order)).transpose()?;
        let of = whole.as_ref().unwrap_or(&a.on_host);
        let CompressedRows { entries, starts, columns, values } = of.compressed_rows();
        let matrix = Csr::from_arrays(entries.len(), entries.len(), starts, columns, values)?;
        let amg = CudaAmg::upload(self.cuda, &T::amg(self.host, &matrix, options)?)?;
        let summary = amg.summary().clone();
        let (inwards, outwards) = places(&of.device_rows()?, &entries);
        let apply = CudaReordered::<S, _>::new(self.cuda, amg, &inwards, &outwards)?;
        let bytes = apply.bytes();
        let piece = match &whole {
            None => Piece::new(apply, bytes),
            Some(whole) => {
                let whole = self.gathered(a, whole)?;
                Piece::new(GatheredSolver { inner: Box::new(apply), whole }, bytes)
            }
        };
        Ok(OnMatrix { piece, summary, rows: matrix.n_rows() })
    }

    fn of_matrix<T: Number>(
        &self,
        matrix: &Csr<f64>,
        options: &AmgOptions,
    ) -> Result<OnMatrix<Vector<T>>, EllipticError> {
        let amg = CudaAmg::upload(self.cuda, &T::amg(self.host, matrix, options)?)?;
        let summary = amg.summary().clone();
        Ok(OnMatrix { piece: Piece::new(amg, 0), summary, rows: matrix.n_rows() })
    }

    fn as_it_is(
        &self,
        a: &Pair<f64>,
        multigrid: Multigrid<Vector<f64>>,
    ) -> Result<Piece<Vector<f64>>, EllipticError> {
        self.multigrid(a, multigrid)
    }

    fn inside_double(
        &self,
        a: &Pair<f64>,
        _: &Pair<f32>,
        multigrid: Multigrid<Vector<f32>>,
    ) -> Result<Piece<Vector<f64>>, EllipticError> {
        self.multigrid(a, multigrid)
    }
}

/// Maps between the entries of an operator's vectors and those of its unknowns alone, see
/// [`CudaReordered::new`].
fn places(rows: &[u32], entries: &[u32]) -> (Vec<u32>, Vec<u32>) {
    let inwards: Vec<u32> = entries.iter().map(|&i| rows[i as usize]).collect();
    let mut outwards = vec![NOWHERE; rows.len()];
    for (k, &row) in inwards.iter().enumerate() {
        outwards[row as usize] = k as u32;
    }
    (inwards, outwards)
}

/// A stored matrix as a preconditioner.
struct Stored(CudaCsr<f64>);

impl Preconditioner<Vector<f64>> for Stored {
    fn apply(&mut self, r: &Vector<f64>, z: &mut Vector<f64>) {
        self.0.apply(r, z);
    }
}

/// The inverse mass matrix, stored: a block for each element. Its columns are products with vectors that are
/// 1 at one node of all elements.
fn inverse_mass(cuda: &Cuda, a: &Pair<f64>) -> Result<Piece<Vector<f64>>, EllipticError> {
    let host = &a.on_host;
    let blocks = host.blocks_of_unknowns();
    let widest = blocks.iter().map(Vec::len).max().unwrap_or(0);
    let mut columns_of = Vec::with_capacity(widest);
    let (mut unit, mut column) = (vec![0.0; host.len()], vec![0.0; host.len()]);
    for j in 0..widest {
        unit.fill(0.0);
        blocks.iter().filter_map(|block| block.get(j)).for_each(|&i| unit[i as usize] = 1.0);
        host.inverse_mass(&unit, &mut column);
        columns_of.push(column.clone());
    }
    let mut entries: Vec<u32> = blocks.concat();
    entries.sort_unstable();
    let mut place = vec![NOWHERE; host.len()];
    for (k, &i) in entries.iter().enumerate() {
        place[i as usize] = k as u32;
    }
    let mut rows: Vec<Vec<(u32, f64)>> = vec![Vec::new(); entries.len()];
    for block in &blocks {
        for &i in block {
            let row = &mut rows[place[i as usize] as usize];
            let of_row =
                block.iter().zip(&columns_of).map(|(&j, column)| (place[j as usize], column[i as usize]));
            row.extend(of_row.filter(|(_, value)| *value != 0.0));
            row.sort_unstable_by_key(|(j, _)| *j);
        }
    }
    let mut starts = vec![0];
    let (mut columns, mut values) = (Vec::new(), Vec::new());
    for row in rows {
        columns.extend(row.iter().map(|(j, _)| *j));
        values.extend(row.iter().map(|(_, value)| *value));
        starts.push(columns.len());
    }
    let n = entries.len();
    let matrix = Csr::from_arrays(n, n, starts, columns, values)?;
    let stored = CudaCsr::with_layout(cuda, &matrix, RowLayout::of_rows(host.largest_element()))?;
    let (inwards, outwards) = places(a.on_device.rows(), &entries);
    let matrix_bytes = stored.bytes();
    let apply = CudaReordered::new(cuda, Stored(stored), &inwards, &outwards)?;
    let bytes = matrix_bytes + apply.bytes();
    Ok(Piece::new(apply, bytes))
}
