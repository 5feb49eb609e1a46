//! Builds the preconditioner on a device: p-multigrid, then algebraic multigrid.

use std::sync::Arc;

use dgsuite_amg::cuda::{
    CudaAmg, CudaCsr, CudaInterpolation, CudaJacobi, CudaMultigrid, CudaReordered, NOWHERE,
};
use dgsuite_amg::{
    Amg, AmgError, AmgOptions, CoarseSpec, Csr, Identity, LevelSmoother, LevelSpec, LinearOperator,
    Multigrid, Preconditioner, Transfer,
};
use dgsuite_gpu::cuda::Cuda;
use dgsuite_gpu::{CudaVector, Host, Scalar};
use dgsuite_ops::cuda::{CudaPTransfer, CudaSipdg};
use dgsuite_ops::elliptic::{CompressedRows, Sipdg};

use super::bridge::{BetweenOrders, Blocks, OnDevice};
use crate::systems::elliptic::continuous::ContinuousSpace;
use crate::systems::elliptic::options::{CoarseSpace, Preconditioning, SmootherKind, SolverOptions};
use crate::systems::elliptic::preconditioner::{Work, describe_amg, inverse_diagonal, is_simplicial};
use crate::systems::elliptic::watched::Apply;
use crate::systems::elliptic::{EllipticError, LevelDescription};
use crate::systems::setup::Precision;

type Vector<T> = CudaVector<T>;

/// A preconditioner with its properties.
pub(in crate::systems) struct Built {
    pub(in crate::systems) apply: Box<Apply<Vector<f64>>>,
    /// Whether it is slightly nonlinear.
    pub(in crate::systems) flexible: bool,
    pub(in crate::systems) levels: Vec<LevelDescription>,
    /// Bytes in addition to the levels.
    pub(in crate::systems) bytes: usize,
    /// Products with the operator in each application, in products of the finest level.
    pub(in crate::systems) applications: f64,
}

/// Builds the preconditioner.
pub(in crate::systems) fn build(
    cuda: &Cuda,
    host_operator: &Arc<Sipdg<f64>>,
    operator: &OnDevice<f64>,
    options: &SolverOptions,
    host: &Host,
) -> Result<Built, EllipticError> {
    let plain = |apply: Box<Apply<Vector<f64>>>, bytes: usize| Built {
        apply,
        flexible: false,
        levels: Vec::new(),
        bytes,
        applications: 0.0,
    };
    Ok(match (options.preconditioner, options.inner_precision) {
        (Preconditioning::None, _) => plain(Box::new(Identity), 0),
        (Preconditioning::Mass, _) => {
            let (apply, bytes) = inverse_mass(cuda, host_operator, &operator.0)?;
            plain(apply, bytes)
        }
        (Preconditioning::Jacobi, _) => {
            let jacobi = CudaJacobi::from_inverse_diagonal(diagonal(host_operator, &operator.0)?)?;
            let bytes = jacobi.bytes();
            plain(Box::new(jacobi), bytes)
        }
        (Preconditioning::Amg, precision) => {
            let options = options.amg(host_operator.is_singular(), is_simplicial(host_operator.mesh()));
            let rows = host_operator.compressed_rows();
            let (apply, bytes, levels, work) = match precision {
                Precision::Single => matrix_solver::<f32, f64>(cuda, rows, &operator.0, &options, host)?,
                Precision::Double => matrix_solver::<f64, f64>(cuda, rows, &operator.0, &options, host)?,
            };
            Built { apply, flexible: true, levels, bytes, applications: work.products }
        }
        (Preconditioning::PmgAmg, Precision::Double) => {
            p_multigrid(cuda, host_operator, &operator.0, options, host)?
        }
        (Preconditioning::PmgAmg, Precision::Single) => {
            let orders = options.orders().levels(host_operator.order());
            if orders.len() == 1 && options.coarse_space() == CoarseSpace::Discontinuous {
                // There is only the matrix of order 1, which accepts residuals of either precision.
                let amg = options.amg(host_operator.is_singular(), is_simplicial(host_operator.mesh()));
                let rows = host_operator.compressed_rows();
                let (apply, bytes, levels, work) =
                    matrix_solver::<f32, f64>(cuda, rows, &operator.0, &amg, host)?;
                return Ok(Built { apply, flexible: true, levels, bytes, applications: work.products });
            }
            let single = Arc::new(CudaSipdg::<f32>::rounded(cuda, host_operator)?);
            let own = single.bytes();
            let mut built = p_multigrid(cuda, host_operator, &single, options, host)?;
            if let Some(finest) = built.levels.first_mut() {
                finest.bytes += own;
            }
            built
        }
    })
}

/// `1 / a_ii` in the device's order.
fn diagonal<T: Scalar>(host: &Sipdg<f64>, operator: &CudaSipdg<T>) -> Result<Vector<T>, EllipticError> {
    Ok(operator.upload(&inverse_diagonal(host)?)?)
}

/// Maps between the entries of an operator's vectors and those of its unknowns alone, see
/// [`CudaReordered::new`].
fn places<T: Scalar>(operator: &CudaSipdg<T>, entries: &[u32]) -> (Vec<u32>, Vec<u32>) {
    let rows = operator.rows();
    let inwards: Vec<u32> = entries.iter().map(|&i| rows[i as usize]).collect();
    let mut outwards = vec![NOWHERE; operator.len()];
    for (k, &row) in inwards.iter().enumerate() {
        outwards[row as usize] = k as u32;
    }
    (inwards, outwards)
}

/// Algebraic multigrid of either precision on a device.
trait UploadAmg: Scalar {
    fn upload(
        host: &Host,
        cuda: &Cuda,
        a: &Csr<f64>,
        options: &AmgOptions,
    ) -> Result<CudaAmg<Self>, AmgError>;
}

impl UploadAmg for f32 {
    fn upload(host: &Host, cuda: &Cuda, a: &Csr<f64>, options: &AmgOptions) -> Result<CudaAmg, AmgError> {
        CudaAmg::upload(cuda, &Amg::new(host, a, options)?)
    }
}

impl UploadAmg for f64 {
    fn upload(
        host: &Host,
        cuda: &Cuda,
        a: &Csr<f64>,
        options: &AmgOptions,
    ) -> Result<CudaAmg<f64>, AmgError> {
        CudaAmg::upload(cuda, &Amg::in_double(host, a, options)?)
    }
}

type MatrixSolver<S> = (Box<Apply<Vector<S>>>, usize, Vec<LevelDescription>, Work);

/// Algebraic multigrid in the precision `T` on an assembled matrix, for vectors of `operator`.
fn matrix_solver<T: UploadAmg, S: Scalar>(
    cuda: &Cuda,
    rows: CompressedRows,
    operator: &CudaSipdg<S>,
    options: &AmgOptions,
    host: &Host,
) -> Result<MatrixSolver<S>, EllipticError> {
    let CompressedRows { entries, starts, columns, values } = rows;
    let matrix = Csr::from_arrays(entries.len(), entries.len(), starts, columns, values)?;
    let amg = T::upload(host, cuda, &matrix, options)?;
    let levels = amg.summary().levels.iter().map(describe_amg).collect();
    let work = Work::of(amg.summary(), options);
    let (inwards, outwards) = places(operator, &entries);
    let apply = CudaReordered::<S, _>::new(cuda, amg, &inwards, &outwards)?;
    let bytes = apply.bytes();
    Ok((Box::new(apply), bytes, levels, work))
}

/// Builds p-multigrid from the order of `finest` to 1, with algebraic multigrid below.
fn p_multigrid<T: UploadAmg>(
    cuda: &Cuda,
    host_finest: &Arc<Sipdg<f64>>,
    finest: &Arc<CudaSipdg<T>>,
    options: &SolverOptions,
    host: &Host,
) -> Result<Built, EllipticError> {
    let orders = options.orders().levels(host_finest.order());
    let amg_options = options.amg(host_finest.is_singular(), is_simplicial(host_finest.mesh()));
    let polynomial = amg_options.smoother;
    let (mut host_fine, mut fine) = (Arc::clone(host_finest), Arc::clone(finest));
    let (mut levels, mut described) = (Vec::new(), Vec::new());
    let mut continuous = None;
    for k in 0..orders.len() {
        let (next, transfer, transfer_bytes): (_, Box<dyn Transfer<Vector<T>> + Send + Sync>, usize) =
            match orders.get(k + 1) {
                Some(&order) => {
                    let host_coarse = Arc::new(host_fine.at_order(order)?);
                    let coarse = Arc::new(CudaSipdg::<T>::rounded(cuda, &host_coarse)?);
                    let between = Sipdg::transfer(&host_fine, &host_coarse)?;
                    let transfer = CudaPTransfer::new(cuda, &fine, &coarse, &between)?;
                    (Some((host_coarse, coarse)), Box::new(BetweenOrders(transfer)), 0)
                }
                None if options.coarse_space() == CoarseSpace::Continuous => {
                    let space = ContinuousSpace::of(&host_fine, host)?;
                    let transfer =
                        CudaInterpolation::new(cuda, &space.prolongation::<T>(Some(fine.rows()))?)?;
                    continuous = Some(space.matrix);
                    let bytes = transfer.bytes();
                    (None, Box::new(transfer), bytes)
                }
                None => break,
            };
        let (inverse, smoother_bytes): (Box<Apply<Vector<T>>>, usize) = match options.smoother() {
            SmootherKind::BlockJacobi => {
                let inverse = fine.block_inverses(&host_fine.block_inverses()?)?;
                let bytes = inverse.bytes();
                (Box::new(Blocks(inverse)), bytes)
            }
            _ => {
                let jacobi = CudaJacobi::from_inverse_diagonal(diagonal(&host_fine, &fine)?)?;
                let bytes = jacobi.bytes();
                (Box::new(jacobi), bytes)
            }
        };
        // The finest operator belongs to the solver, or its copy counts it.
        let own = if Arc::ptr_eq(&fine, finest) { 0 } else { fine.bytes() };
        let (name, bytes) = (format!("order {}", fine.order()), own + smoother_bytes + transfer_bytes);
        let rows = host_fine.dofs();
        described.push(LevelDescription { kind: name.clone(), rows, nonzeros: 0, bytes });
        levels.push(LevelSpec {
            name,
            operator: Box::new(OnDevice(Arc::clone(&fine))),
            smoother: LevelSmoother { polynomial, inverse },
            transfer,
            bytes: Some(bytes),
        });
        if let Some(next) = next {
            (host_fine, fine) = next;
        }
    }
    let (solver, reordering, amg_levels, work, n_rows, dofs) = match continuous {
        Some(matrix) => {
            let amg = T::upload(host, cuda, &matrix, &amg_options)?;
            let amg_levels = amg.summary().levels.iter().map(describe_amg).collect();
            let (work, n) = (Work::of(amg.summary(), &amg_options), matrix.n_rows());
            let solver: Box<Apply<Vector<T>>> = Box::new(amg);
            (solver, 0, amg_levels, work, n, n)
        }
        None => {
            let rows = host_fine.compressed_rows();
            let (solver, reordering, amg_levels, work) =
                matrix_solver::<T, T>(cuda, rows, &fine, &amg_options, host)?;
            (solver, reordering, amg_levels, work, fine.len(), host_fine.dofs())
        }
    };
    let coarse = CoarseSpec { name: "amg".to_owned(), n_rows, bytes: Some(reordering), solver };
    drop(fine);
    let p_levels = levels.len();
    let multigrid = Multigrid::new(cuda, levels, coarse)?;
    for (level, counted) in described.iter_mut().zip(&multigrid.summary().levels) {
        level.bytes += counted.vectors;
    }
    described.extend(amg_levels);
    let share = if p_levels == 0 { 1.0 } else { dofs as f64 / host_finest.dofs() as f64 };
    let applications = multigrid.summary().work() + work.products * share;
    let apply = CudaMultigrid::new(cuda, multigrid)?;
    let bytes = apply.bytes() + reordering;
    Ok(Built { apply: Box::new(apply), flexible: true, levels: described, bytes, applications })
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
fn inverse_mass(
    cuda: &Cuda,
    host: &Sipdg<f64>,
    operator: &CudaSipdg<f64>,
) -> Result<(Box<Apply<Vector<f64>>>, usize), EllipticError> {
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
    let stored = CudaCsr::new(cuda, &Csr::from_arrays(n, n, starts, columns, values)?)?;
    let (inwards, outwards) = places(operator, &entries);
    let matrix_bytes = stored.bytes();
    let apply = CudaReordered::new(cuda, Stored(stored), &inwards, &outwards)?;
    let bytes = matrix_bytes + apply.bytes();
    Ok((Box::new(apply), bytes))
}
