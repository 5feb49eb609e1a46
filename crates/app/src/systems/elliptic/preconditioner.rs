//! Builds the preconditioner: p-multigrid over operators of decreasing order, then algebraic multigrid.

use std::sync::Arc;

use dgsuite_amg::{
    Amg, CoarseSpec, Csr, HierarchySummary, Identity, Interpolation, Jacobi, LevelSmoother, LevelSpec,
    Multigrid, Preconditioner, Smoother, Transfer,
};
use dgsuite_basis::Shape;
use dgsuite_gpu::{Host, HostVector};
use dgsuite_mesh::Mesh;
use dgsuite_ops::PackScalar;
use dgsuite_ops::elliptic::Sipdg;

use super::bridge::{BetweenOrders, Blocks, InverseMass, Operator};
use super::continuous::ContinuousSpace;
use super::entries::{Compact, Reordered, compact};
use super::options::{CoarseSpace, Preconditioning, SmootherKind, SolverOptions};
use super::watched::Apply;
use super::{EllipticError, LevelDescription};
use crate::systems::setup::Precision;

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

type Vector<T> = HostVector<T>;

/// Builds the preconditioner.
pub(in crate::systems) fn build(
    operator: &Operator<f64>,
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
        (Preconditioning::Mass, _) => plain(Box::new(InverseMass(Arc::clone(&operator.0))), 0),
        (Preconditioning::Jacobi, _) => plain(Box::new(jacobi(&operator.0, host)?), 8 * operator.0.len()),
        (Preconditioning::Amg, precision) => assembled(operator, options, host, precision)?,
        (Preconditioning::PmgAmg, Precision::Double) => {
            let (multigrid, built) = p_multigrid(&operator.0, options, host, Amg::in_double)?;
            Built { apply: Box::new(multigrid), ..built }
        }
        (Preconditioning::PmgAmg, Precision::Single) => {
            let orders = options.orders().levels(operator.0.order());
            if orders.len() == 1 && options.coarse_space() == CoarseSpace::Discontinuous {
                // There is only the matrix of order 1, which accepts residuals of either precision.
                return assembled(operator, options, host, Precision::Single);
            }
            let single = Arc::new(operator.0.single()?);
            let own = single.bytes();
            let (multigrid, mut built) = p_multigrid(&single, options, host, Amg::new)?;
            if let Some(finest) = built.levels.first_mut() {
                finest.bytes += own;
            }
            let apply = Reordered::new(&operator.0, &single, multigrid, host)?;
            let bytes = built.bytes + apply.bytes();
            Built { apply: Box::new(apply), bytes, ..built }
        }
    })
}

/// Whether all elements are simplices.
pub(in crate::systems) fn is_simplicial(mesh: &Mesh) -> bool {
    mesh.sets.iter().all(|set| matches!(set.shape, Shape::Triangle | Shape::Tetrahedron))
}

/// An element is stretched if the lengths of its edges differ by more than this factor. There, the extra
/// iterations of point smoothers and continuous functions outweigh their lower cost per iteration.
const STRETCHED: f64 = 30.0;

/// Returns whether more than a hundredth of the elements are stretched; simplices do not count.
pub(in crate::systems) fn is_stretched(mesh: &Mesh) -> bool {
    let mut stretched = 0;
    for set in &mesh.sets {
        if matches!(set.shape, Shape::Triangle | Shape::Tetrahedron) {
            continue;
        }
        let faces: Vec<&[usize]> = (0..set.shape.n_faces()).map(|f| set.shape.face_vertices(f)).collect();
        for element in set.first..set.first + set.len() {
            let vertices = mesh.element_vertices(element);
            let (mut shortest, mut longest) = (f64::INFINITY, 0.0_f64);
            for face in &faces {
                for (k, &v) in face.iter().enumerate() {
                    let [a, b] = [v, face[(k + 1) % face.len()]].map(|v| mesh.points[vertices[v] as usize]);
                    let square: f64 = (0..3).map(|d| (a[d] - b[d]).powi(2)).sum();
                    (shortest, longest) = (shortest.min(square), longest.max(square));
                }
            }
            stretched += usize::from(longest > STRETCHED * STRETCHED * shortest);
        }
    }
    100 * stretched > mesh.n_elements()
}

/// `1 / a_ii`.
pub(in crate::systems) fn inverse_diagonal<T: PackScalar>(
    operator: &Sipdg<T>,
) -> Result<Vec<T>, EllipticError> {
    let mut diagonal = operator.diagonal();
    for (row, entry) in diagonal.iter_mut().enumerate() {
        let value = entry.to_f64();
        if !(value > 0.0 && value.is_finite()) {
            return Err(dgsuite_amg::MatrixError::DiagonalNotPositive { row, value }.into());
        }
        *entry = T::from_f64(1.0 / value);
    }
    Ok(diagonal)
}

fn jacobi<T: PackScalar>(operator: &Sipdg<T>, host: &Host) -> Result<Jacobi<Vector<T>>, EllipticError> {
    Ok(Jacobi::from_inverse_diagonal(Vector::from_slice(host, &inverse_diagonal(operator)?)?))
}

/// Algebraic multigrid on the matrix of the full order.
fn assembled(
    operator: &Operator<f64>,
    options: &SolverOptions,
    host: &Host,
    precision: Precision,
) -> Result<Built, EllipticError> {
    let sipdg = &operator.0;
    let options = options.amg(sipdg.is_singular(), is_simplicial(sipdg.mesh()));
    let (matrix, unknowns) = compact(sipdg)?;
    let (inner, summary): (Box<dyn Preconditioner<Vector<f64>> + Send>, HierarchySummary) = match precision {
        Precision::Single => {
            let amg = Amg::new(host, &matrix, &options)?;
            let summary = amg.summary().clone();
            (Box::new(amg), summary)
        }
        Precision::Double => {
            let amg = Amg::in_double(host, &matrix, &options)?;
            let summary = amg.summary().clone();
            (Box::new(amg), summary)
        }
    };
    let applications = Work::of(&summary, &options).products;
    let apply = Compact::new(inner, unknowns, host)?;
    let levels = summary.levels.iter().map(describe_amg).collect();
    Ok(Built { apply: Box::new(apply), flexible: true, levels, bytes: 0, applications })
}

/// The cost of a cycle of algebraic multigrid.
pub(in crate::systems) struct Work {
    /// Products with the finest matrix that read as many entries; a product with the matrix counts as one
    /// with the operator, whatever the cost of its entries.
    pub(in crate::systems) products: f64,
}

impl Work {
    pub(in crate::systems) fn of(summary: &HierarchySummary, options: &dgsuite_amg::AmgOptions) -> Self {
        let first = summary.levels.first().map_or(1, |level| level.nonzeros).max(1) as f64;
        Self { products: amg_work(summary, degree(options.smoother)) / first }
    }
}

/// Returns the number of entries that a cycle reads: for each level its entries times its products times its
/// visits.
fn amg_work(summary: &HierarchySummary, degree: usize) -> f64 {
    let mut visits = 1.0;
    let mut work = 0.0;
    for (k, level) in summary.levels.iter().enumerate() {
        let twice = match summary.cycle {
            dgsuite_amg::Cycle::V => false,
            dgsuite_amg::Cycle::W => k > 0,
            dgsuite_amg::Cycle::K { levels } => k > 0 && k <= levels,
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
pub(in crate::systems) fn describe_amg(level: &dgsuite_amg::LevelSummary) -> LevelDescription {
    LevelDescription {
        kind: "amg".to_owned(),
        rows: level.rows,
        nonzeros: level.nonzeros,
        bytes: level.bytes,
    }
}

/// Builds p-multigrid from the order of `finest` to 1, with the algebraic multigrid built by `amg` below. The
/// caller replaces `apply` of the second result.
fn p_multigrid<T: PackScalar>(
    finest: &Arc<Sipdg<T>>,
    options: &SolverOptions,
    host: &Host,
    amg: impl Fn(&Host, &Csr<f64>, &dgsuite_amg::AmgOptions) -> Result<Amg<T>, dgsuite_amg::AmgError>,
) -> Result<(Multigrid<Vector<T>>, Built), EllipticError>
where
    Amg<T>: Preconditioner<Vector<T>>,
{
    let orders = options.orders().levels(finest.order());
    let mut operators = vec![Arc::clone(finest)];
    for &order in &orders[1..] {
        operators.push(Arc::new(finest.at_order(order)?));
    }
    let amg_options = options.amg(finest.is_singular(), is_simplicial(finest.mesh()));
    let polynomial = amg_options.smoother;
    let mut levels = Vec::new();
    let mut described = Vec::new();
    let bottom = operators.last().unwrap_or(finest);
    let continuous = match options.coarse_space() {
        CoarseSpace::Continuous => Some(ContinuousSpace::of(bottom, host)?),
        CoarseSpace::Discontinuous => None,
    };
    for (k, fine) in operators.iter().enumerate() {
        let transfer: Box<dyn Transfer<Vector<T>> + Send + Sync> = match (operators.get(k + 1), &continuous) {
            (Some(coarse), _) => Box::new(BetweenOrders(Sipdg::transfer(fine, coarse)?)),
            (None, Some(space)) => Box::new(Interpolation::new(space.prolongation::<T>(None)?)),
            (None, None) => break,
        };
        let (inverse, smoother_bytes): (Box<dyn Preconditioner<Vector<T>> + Send>, usize) =
            match options.smoother() {
                SmootherKind::BlockJacobi => {
                    let inverse = fine.block_inverses()?;
                    let bytes = inverse.bytes();
                    (Box::new(Blocks(inverse)), bytes)
                }
                _ => (Box::new(jacobi(fine, host)?), fine.len() * T::BYTES),
            };
        // The finest operator belongs to the solver, or its copy counts it.
        let own = if Arc::ptr_eq(fine, finest) { 0 } else { fine.bytes() };
        let name = format!("order {}", fine.order());
        let bytes = own + smoother_bytes;
        described.push(LevelDescription { kind: name.clone(), rows: fine.dofs(), nonzeros: 0, bytes });
        levels.push(LevelSpec {
            name,
            operator: Box::new(Operator(Arc::clone(fine))),
            smoother: LevelSmoother { polynomial, inverse },
            transfer,
            bytes: Some(bytes),
        });
    }
    let (matrix, unknowns, n_rows) = match continuous {
        Some(space) => {
            let n = space.matrix.n_rows();
            (space.matrix, None, n)
        }
        None => {
            let (matrix, unknowns) = compact(bottom)?;
            (matrix, unknowns, bottom.len())
        }
    };
    let solver = amg(host, &matrix, &amg_options)?;
    let summary = solver.summary().clone();
    let rows = matrix.n_rows();
    let coarse = CoarseSpec {
        name: "amg".to_owned(),
        n_rows,
        bytes: Some(summary.bytes()),
        solver: Box::new(Compact::new(Box::new(solver), unknowns, host)?),
    };
    drop(matrix);
    let p_levels = levels.len();
    let multigrid = Multigrid::new(host, levels, coarse)?;
    for (level, counted) in described.iter_mut().zip(&multigrid.summary().levels) {
        level.bytes += counted.vectors;
    }
    described.extend(summary.levels.iter().map(describe_amg));
    // The matrix counts as an operator with as many rows.
    let coarse_work = Work::of(&summary, &amg_options).products;
    let share = if p_levels == 0 { 1.0 } else { rows as f64 / finest.dofs() as f64 };
    let applications = multigrid.summary().work() + coarse_work * share;
    let built =
        Built { apply: Box::new(Identity), flexible: true, levels: described, bytes: 0, applications };
    Ok((multigrid, built))
}

#[cfg(test)]
mod tests {
    use super::*;
    use dgsuite_mesh::generate::Box as Rectangle;

    #[test]
    fn elements_are_stretched_by_their_edges() {
        for (shape, height, stretched) in [
            (Shape::Quadrilateral, 1.0 / 29.0, false),
            (Shape::Quadrilateral, 1.0 / 31.0, true),
            (Shape::Hexahedron, 1.0 / 31.0, true),
            (Shape::Triangle, 1.0 / 100.0, false),
        ] {
            let mut mesh = Rectangle::unit(shape, 3).build().unwrap();
            mesh.map(|[x, y, z]| [x, height * y, z]).unwrap();
            assert_eq!(is_stretched(&mesh), stretched, "{shape:?} {height}");
        }
    }
}
