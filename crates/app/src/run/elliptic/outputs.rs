//! The files of a solve: fields for ParaView, the history of residuals as a table.

use dgsuite_timeint::TimePoint;

use super::Failure;
use crate::directory::Directory;
use crate::monitors::charts;
use crate::monitors::not_finite::NotFinite;
use crate::outputs::sampled::lattice_order;
use crate::plan::elliptic::functions::ExactSolution;
use crate::plan::elliptic::{EllipticField, EllipticPlan, FieldContent};
use crate::run::Status;
use dgsuite_output::checkpoint::{self, Checkpoint};
use dgsuite_output::writer::{
    CellBlock, Field, Precision, TimeSeries as _, UnstructuredFields, VtuOptions, WriterError, csv,
};
use dgsuite_solve::elliptic::{Elliptic, Solved};
use dgsuite_solve::flow::SampledSet;

/// Writes all results except the summary. Of several ranks, which all take part, one writes.
///
/// # Errors
/// The errors of the file system.
pub(super) fn write(
    plan: &EllipticPlan,
    solver: &Elliptic,
    solved: &Solved,
    failure: Option<&Failure>,
    directory: &Directory,
    not_finite: &NotFinite,
) -> Result<(), WriterError> {
    residuals(solved, directory)?;
    let order = lattice_order(plan.setup.order, plan.setup.mesh.max_order());
    let sample = |fields: &[EllipticField]| {
        let sets = solver.sample(&solved.u, order);
        let exact = plan.exact.as_ref();
        let pieces = sets.into_iter().map(|set| block(set, order, exact, fields)).collect();
        UnstructuredFields { time: 0.0, pieces }
    };
    if failure.is_some_and(|failure| failure.status != Status::Stopped) {
        let path = directory.failed();
        if let Some(parent) = path.parent() {
            std::fs::create_dir_all(parent)
                .map_err(|source| WriterError::Io { path: parent.to_owned(), source })?;
        }
        let last = [EllipticField { name: "u".into(), content: FieldContent::Solution }];
        let sampled = sample(&last);
        if solver.writes() {
            sampled.write(&path, &VtuOptions::default())?;
        }
        return Ok(());
    }
    if let Some(fields) = &plan.fields {
        let precision = if fields.double { Precision::Double } else { Precision::Single };
        let sampled = sample(&fields.fields);
        if solver.writes() {
            let mut series = fields.format.create(&directory.fields())?;
            not_finite.look_at_fields(&sampled);
            series.write(&sampled, &VtuOptions { precision, ..VtuOptions::default() })?;
        }
    }
    if plan.stores {
        let saved = Checkpoint {
            now: TimePoint { t: 0.0, low: 0.0, step: 0 },
            state: solver.save(&solved.u),
            averages: Vec::new(),
            sections: Vec::new(),
        };
        if !solver.writes() {
            return Ok(());
        }
        checkpoint::write(&directory.checkpoints(), &saved, plan.outline.mesh_digest)?;
    }
    Ok(())
}

/// Writes the residuals of all iterations, `monitors/residual.csv`, and their curve.
fn residuals(solved: &Solved, directory: &Directory) -> Result<(), WriterError> {
    let history = solved.history();
    let first = history.first().copied().filter(|first| *first > 0.0).unwrap_or(1.0);
    let mut table =
        csv::Table::create(directory.monitor("residual")?, &["iteration", "residual", "relative"])?;
    for (i, residual) in history.iter().enumerate() {
        table.row(&[i as f64, *residual, residual / first])?;
    }
    let picture = charts::of_linear_solve(&csv::Columns::read(table.path())?);
    picture.write(&table.path().with_extension("svg"))?;
    Ok(())
}

/// Computes fields on the lattice of the elements of a set.
pub(crate) fn block(
    set: SampledSet,
    order: usize,
    exact: Option<&ExactSolution>,
    fields: &[EllipticField],
) -> CellBlock {
    let u = set.values.first().map_or(&[][..], Vec::as_slice);
    let exact = |x: [f64; 3]| exact.map_or(0.0, |exact| exact.value.at(x));
    let point_data = fields
        .iter()
        .map(|field| {
            let at = u.iter().zip(&set.points);
            let values = match &field.content {
                FieldContent::Solution => u.to_vec(),
                FieldContent::Exact => set.points.iter().map(|&x| exact(x)).collect(),
                FieldContent::Error => at.map(|(u, &x)| u - exact(x)).collect(),
                FieldContent::Formula(formula) => {
                    at.map(|(&u, x)| formula.eval(&[u, x[0], x[1], x[2]])).collect()
                }
            };
            Field::real(&*field.name, 1, values)
        })
        .collect();
    let ids = set.elements.iter().map(|&e| i64::try_from(e).unwrap_or(i64::MAX)).collect();
    let cell_data = vec![Field::integer("element_id", 1, ids)];
    CellBlock { shape: set.shape, order, points: set.points, point_data, cell_data }
}
