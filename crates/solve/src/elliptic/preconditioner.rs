//! Builds the preconditioner: p-multigrid over operators of decreasing order, then algebraic multigrid.
//!
//! What is built is decided here, for all machines; a [`Machine`] supplies the parts.

use dgsuite_amg::{
    AmgOptions, CoarseSpec, Cycle, HierarchySummary, Identity, LevelSmoother, LevelSpec, LevelSummary,
    Multigrid, Smoother,
};
use dgsuite_gpu::Vector;

use super::lines::LineDescription;
use super::machine::{Apply, Machine, Number, Of, OnMatrix, Piece, Sizes};
use super::options::{CoarseSpace, Preconditioning, SmootherKind, SolverOptions};
use super::shapes::is_simplicial;
use super::{EllipticError, LevelDescription};
use crate::precision::Precision;

/// A preconditioner with its properties.
pub(crate) struct Built<V> {
    pub apply: Box<Apply<V>>,
    /// Whether it is slightly nonlinear.
    pub flexible: bool,
    pub levels: Vec<LevelDescription>,
    /// The linelets of the smoother, if it has them.
    pub lines: Option<LineDescription>,
    /// Bytes in addition to the levels.
    bytes: usize,
    /// Products with the operator in each application, in products of the finest level.
    pub applications: f64,
}

impl<V: Vector> Built<V> {
    fn plain(Piece { apply, bytes }: Piece<V>) -> Self {
        Self { apply, flexible: false, levels: Vec::new(), lines: None, bytes, applications: 0.0 }
    }

    /// Algebraic multigrid on the matrix of the full order.
    fn assembled(OnMatrix { piece, summary, .. }: OnMatrix<V>, options: &AmgOptions) -> Self {
        Self {
            apply: piece.apply,
            flexible: true,
            levels: summary.levels.iter().map(describe_amg).collect(),
            lines: None,
            bytes: piece.bytes,
            applications: products(&summary, options),
        }
    }

    /// Bytes, without the operator of the solve.
    pub(crate) fn bytes(&self) -> usize {
        self.levels.iter().map(|level| level.bytes).sum::<usize>() + self.bytes
    }
}

/// Builds the preconditioner for an operator.
pub(crate) fn build<M: Machine>(
    machine: &M,
    operator: &M::Operator<f64>,
    options: &SolverOptions,
) -> Result<Built<Of<M, f64>>, EllipticError> {
    let amg = amg_options::<M>(operator, options);
    // Order 1 alone has no level but its matrix, which accepts residuals of either precision.
    let matrix_alone = options.orders().levels(M::sizes(operator).order).len() == 1
        && options.coarse_space() == CoarseSpace::Discontinuous;
    Ok(match (options.preconditioner, options.inner_precision) {
        (Preconditioning::None, _) => Built::plain(Piece::new(Identity, 0)),
        (Preconditioning::Mass, _) => Built::plain(machine.inverse_mass(operator)?),
        (Preconditioning::Jacobi, _) => Built::plain(machine.jacobi(operator)?),
        (Preconditioning::Amg, Precision::Double) => {
            Built::assembled(machine.of_operator::<f64, f64>(operator, &amg)?, &amg)
        }
        (Preconditioning::PmgAmg, Precision::Single) if !matrix_alone => {
            let single = machine.single(operator)?;
            let mut levels = p_multigrid(machine, operator, &single, options)?;
            if let Some(finest) = levels.described.first_mut() {
                finest.bytes += M::sizes(&single).bytes;
            }
            let Levels { multigrid, described, lines, bytes, applications } = levels;
            let whole = machine.inside_double(operator, &single, multigrid)?;
            let bytes = bytes + whole.bytes;
            Built { apply: whole.apply, flexible: true, levels: described, lines, bytes, applications }
        }
        (Preconditioning::Amg | Preconditioning::PmgAmg, Precision::Single) => {
            Built::assembled(machine.of_operator::<f32, f64>(operator, &amg)?, &amg)
        }
        (Preconditioning::PmgAmg, Precision::Double) => {
            let levels = p_multigrid(machine, operator, operator, options)?;
            let Levels { multigrid, described, lines, bytes, applications } = levels;
            let whole = machine.as_it_is(operator, multigrid)?;
            let bytes = bytes + whole.bytes;
            Built { apply: whole.apply, flexible: true, levels: described, lines, bytes, applications }
        }
    })
}

/// The options of algebraic multigrid for an operator and those of lower order.
fn amg_options<M: Machine>(operator: &M::Operator<f64>, options: &SolverOptions) -> AmgOptions {
    let sipdg = M::on_host(operator);
    options.amg(sipdg.is_singular(), is_simplicial(sipdg.whole_mesh()))
}

/// The levels of p-multigrid, algebraic multigrid included.
struct Levels<V: Vector> {
    multigrid: Multigrid<V>,
    described: Vec<LevelDescription>,
    /// Linelets of the finest level, with the bytes of all.
    lines: Option<LineDescription>,
    /// Bytes in addition to the levels.
    bytes: usize,
    applications: f64,
}

/// Builds p-multigrid for the solve with `operator`, from `finest`, the same operator in the numbers of the
/// levels, to order 1, with algebraic multigrid below.
fn p_multigrid<M: Machine, T: Number>(
    machine: &M,
    operator: &M::Operator<f64>,
    finest: &M::Operator<T>,
    options: &SolverOptions,
) -> Result<Levels<Of<M, T>>, EllipticError> {
    let Sizes { order, dofs, .. } = M::sizes(finest);
    let orders = options.orders().levels(order);
    let amg = amg_options::<M>(operator, options);
    let (mut levels, mut described) = (Vec::new(), Vec::new());
    let mut fine = finest.clone();
    let mut continuous = None;
    let mut lines: Option<LineDescription> = None;
    for k in 0..orders.len() {
        let (next, (transfer, transfer_bytes)) = match orders.get(k + 1) {
            Some(&order) => {
                let coarse = machine.at_order(&fine, order)?;
                let transfer = machine.between_orders(&fine, &coarse)?;
                (Some(coarse), transfer)
            }
            None if options.coarse_space() == CoarseSpace::Continuous => {
                let (matrix, transfer) = machine.continuous(&fine)?;
                continuous = Some(matrix);
                (None, transfer)
            }
            None => break,
        };
        let inverse = match options.smoother() {
            SmootherKind::BlockJacobi => machine.block_jacobi(&fine)?,
            SmootherKind::Linelets => {
                let (piece, bytes) = machine.linelets(&fine)?;
                match &mut lines {
                    Some(finest) => finest.bytes += bytes,
                    None => lines = Some(machine.describe_lines(&fine, bytes)),
                }
                piece
            }
            _ => machine.jacobi(&fine)?,
        };
        let of = M::sizes(&fine);
        // The finest operator belongs to the solver, or its copy counts it.
        let own = if k == 0 { 0 } else { of.bytes };
        let (name, bytes) = (format!("order {}", of.order), own + inverse.bytes + transfer_bytes);
        described.push(LevelDescription { kind: name.clone(), rows: of.dofs, nonzeros: 0, bytes });
        levels.push(LevelSpec {
            name,
            operator: M::linear(&fine),
            smoother: LevelSmoother { polynomial: amg.smoother, inverse: inverse.apply },
            transfer,
            bytes: Some(bytes),
            start: Some(machine.start(&fine)?),
        });
        if let Some(next) = next {
            fine = next;
        }
    }
    let (bottom, n_rows) = match continuous {
        Some(matrix) => (machine.of_matrix::<T>(&matrix, &amg)?, matrix.n_rows()),
        None => (machine.of_operator::<T, T>(&fine, &amg)?, M::sizes(&fine).entries),
    };
    drop(fine);
    let OnMatrix { piece: Piece { apply: solver, bytes }, summary, rows } = bottom;
    let coarse = CoarseSpec { name: "amg".to_owned(), n_rows, bytes: Some(summary.bytes() + bytes), solver };
    let p_levels = levels.len();
    let multigrid = Multigrid::new(machine.backend(), levels, coarse)?;
    for (level, counted) in described.iter_mut().zip(&multigrid.summary().levels) {
        level.bytes += counted.vectors;
    }
    described.extend(summary.levels.iter().map(describe_amg));
    // The matrix counts as an operator with as many rows.
    let share = if p_levels == 0 { 1.0 } else { rows as f64 / dofs as f64 };
    let applications = multigrid.summary().work() + products(&summary, &amg) * share;
    Ok(Levels { multigrid, described, lines, bytes, applications })
}

/// Returns the products with the finest matrix that read as many entries as a cycle of algebraic multigrid; a
/// product with the matrix counts as one with the operator, whatever the cost of its entries.
fn products(summary: &HierarchySummary, options: &AmgOptions) -> f64 {
    let first = summary.levels.first().map_or(1, |level| level.nonzeros).max(1) as f64;
    amg_work(summary, degree(options.smoother)) / first
}

/// Returns the number of entries that a cycle reads: for each level its entries times its products times its
/// visits.
fn amg_work(summary: &HierarchySummary, degree: usize) -> f64 {
    let mut visits = 1.0;
    let mut work = 0.0;
    for (k, level) in summary.levels.iter().enumerate() {
        let twice = match summary.cycle {
            Cycle::V => false,
            Cycle::W => k > 0,
            Cycle::K { levels } => k > 0 && k <= levels,
        };
        let direct = summary.direct && k + 1 == summary.levels.len();
        // Iterations of a K-cycle need one more product.
        let inner = if twice { 2.0 } else { 1.0 };
        visits *= inner;
        let products = if direct { 1.0 } else { 2.0 * degree as f64 + (inner - 1.0) };
        work += visits * products * level.nonzeros as f64;
    }
    work
}

fn degree(smoother: Smoother) -> usize {
    match smoother {
        Smoother::Jacobi { sweeps: n } | Smoother::L1Jacobi { sweeps: n } => n,
        Smoother::Chebyshev { degree: n, .. } | Smoother::ChebyshevFourth { degree: n } => n,
    }
}

/// Describes a level for the table.
fn describe_amg(level: &LevelSummary) -> LevelDescription {
    LevelDescription {
        kind: "amg".to_owned(),
        rows: level.rows,
        nonzeros: level.nonzeros,
        bytes: level.bytes,
    }
}
