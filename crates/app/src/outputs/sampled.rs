//! Field files: samples the solution on the lattices of the cells and computes the fields of the plan.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use crate::monitors::sampling::evaluate;
use crate::outputs::named::{OfElement, OutputField};
use dgsuite_output::writer::background::Making;
use dgsuite_output::writer::{
    CellBlock, Field, MAX_LAGRANGE_ORDER, UnstructuredFields, VtuOptions, WriterError,
};
use dgsuite_solve::flow::{Flow, SampledSet};

/// The order of the lattice on which a solution of order `order` is written: its own, at least that of the
/// geometry, `geometry`, and at least 1.
pub fn lattice_order(order: usize, geometry: usize) -> usize {
    order.max(geometry).clamp(1, MAX_LAGRANGE_ORDER)
}

/// Samples the solution on lattices of order `lattice_order` and computes the fields.
///
/// With `mark_failures`, cells have a field `not_finite`, which is 1 if a value is not a finite number.
pub fn sample(
    solver: &Flow,
    time: f64,
    lattice_order: usize,
    fields: &[OutputField],
    mark_failures: bool,
) -> UnstructuredFields {
    let sets = match fields.iter().any(|field| field.gradients) {
        true => solver.sample_with_gradients(lattice_order),
        false => solver.sample(lattice_order),
    };
    let pieces = compute(solver, sets, lattice_order, fields, mark_failures);
    UnstructuredFields { time, pieces }
}

/// As [`sample`] on the elements of this rank. Collective.
pub fn sample_own(
    solver: &Flow,
    time: f64,
    lattice_order: usize,
    fields: &[OutputField],
) -> UnstructuredFields {
    let sets = solver.sample_own(lattice_order, fields.iter().any(|field| field.gradients));
    let of_elements = of_elements(solver, fields, true);
    let pieces = with_cells(solver, sets, lattice_order, fields, (&of_elements, false));
    UnstructuredFields { time, pieces }
}

/// Computes fields from sampled values.
pub(crate) fn compute(
    solver: &Flow,
    sets: Vec<SampledSet>,
    order: usize,
    fields: &[OutputField],
    mark_failures: bool,
) -> Vec<CellBlock> {
    let of_elements = of_elements(solver, fields, false);
    with_cells(solver, sets, order, fields, (&of_elements, mark_failures))
}

/// Computes fields from sampled values; those of whole elements are known.
fn with_cells(
    solver: &Flow,
    sets: Vec<SampledSet>,
    order: usize,
    fields: &[OutputField],
    (of_elements, mark_failures): (&[OfElements<'_>], bool),
) -> Vec<CellBlock> {
    let piece = |set: SampledSet| {
        let own: Vec<Field> = of_elements.iter().map(|(name, values)| cells(name, values, &set)).collect();
        let mut piece = block(set, (solver.dim(), solver.time()), order, fields, mark_failures);
        piece.cell_data.extend(own);
        piece
    };
    sets.into_iter().map(piece).collect()
}

/// A field with one value for each element.
type OfElements<'a> = (&'a str, HashMap<u64, f32>);

/// The fields with one value for each element, by the number of the element in the mesh file.
fn of_elements<'a>(solver: &Flow, fields: &'a [OutputField], own: bool) -> Vec<OfElements<'a>> {
    if fields.iter().all(|field| field.of_element.is_none()) {
        return Vec::new();
    }
    let mesh = &solver.setup().mesh;
    let elements = if own { solver.own_elements() } else { Vec::new() };
    let tag = |i: usize| mesh.tag(if own { elements[i] } else { i });
    let values = |field: &'a OutputField| {
        let values = match field.of_element? {
            OfElement::Sensor if own => solver.own_sensors(),
            OfElement::Sensor => solver.sensors(),
            OfElement::Filter if own => solver.own_limiter_factors(),
            OfElement::Filter => solver.limiter_factors(),
        };
        let tagged = values?.into_iter().enumerate().map(|(i, value)| (tag(i), value));
        Some((field.name.as_str(), tagged.collect()))
    };
    fields.iter().filter_map(values).collect()
}

/// One of them on the cells of a set.
fn cells(name: &str, values: &HashMap<u64, f32>, set: &SampledSet) -> Field {
    let value = |tag: &u64| values.get(tag).copied().map_or(f64::NAN, f64::from);
    Field::real(name, 1, set.elements.iter().map(value).collect())
}

/// As [`sample`] for fields without derivatives, but the writing thread computes them while the run
/// continues; `None` if the solver cannot do so.
pub fn sample_later(
    solver: &mut Flow,
    time: f64,
    order: usize,
    fields: &Arc<[OutputField]>,
) -> Option<Making> {
    if fields.iter().any(|field| field.gradients || field.of_element.is_some()) {
        return None;
    }
    let later = solver.sample_later(order)?;
    let (dim, fields) = (solver.dim(), Arc::clone(fields));
    Some(Box::new(move || {
        let sets = later.wait().map_err(|e| WriterError::Device { reason: e.to_string() })?;
        let pieces = sets.into_iter().map(|set| block(set, (dim, time), order, &fields, false)).collect();
        Ok(UnstructuredFields { time, pieces })
    }))
}

fn block(
    set: SampledSet,
    (dim, time): (usize, f64),
    order: usize,
    fields: &[OutputField],
    mark_failures: bool,
) -> CellBlock {
    let n = set.points.len();
    let formulas = fields.iter().flat_map(|field| &field.components);
    let mut columns = evaluate(&set, (dim, time), formulas).into_iter();
    let of_points = fields.iter().filter(|field| field.of_element.is_none());
    let point_data = of_points
        .map(|field| {
            let parts = field.components.len();
            let mut values = vec![0.0; n * parts];
            for (c, column) in columns.by_ref().take(parts).enumerate() {
                for (i, x) in column.into_iter().enumerate() {
                    values[i * parts + c] = x;
                }
            }
            Field::real(&*field.name, parts, values)
        })
        .collect();
    let per_cell = if set.elements.is_empty() { 1 } else { (n / set.elements.len()).max(1) };
    let ids = set.elements.iter().map(|&e| i64::try_from(e).unwrap_or(i64::MAX)).collect();
    let mut cell_data = vec![Field::integer("element_id", 1, ids)];
    if mark_failures {
        let marks = (0..set.elements.len()).map(|cell| {
            let range = cell * per_cell..(cell + 1) * per_cell;
            i64::from(set.values.iter().any(|column| column[range.clone()].iter().any(|x| !x.is_finite())))
        });
        cell_data.push(Field::integer("not_finite", 1, marks.collect()));
    }
    CellBlock { shape: set.shape, order, points: set.points, point_data, cell_data }
}

/// Writes how much an explicit step would change each conserved variable, as fields with their names.
///
/// # Errors
/// The errors of the writer.
pub fn write_rates(
    sets: Vec<SampledSet>,
    variables: &[&str],
    lattice_order: usize,
    path: &Path,
) -> Result<(), WriterError> {
    if let Some(parent) = path.parent() {
        std::fs::create_dir_all(parent)
            .map_err(|source| WriterError::Io { path: parent.to_owned(), source })?;
    }
    let piece = |set: SampledSet| {
        let fields = variables.iter().zip(set.values);
        let point_data = fields.map(|(name, values)| Field::real(*name, 1, values)).collect();
        let ids = set.elements.iter().map(|&e| i64::try_from(e).unwrap_or(i64::MAX)).collect();
        let cell_data = vec![Field::integer("element_id", 1, ids)];
        CellBlock { shape: set.shape, order: lattice_order, points: set.points, point_data, cell_data }
    };
    let fields = UnstructuredFields { time: 0.0, pieces: sets.into_iter().map(piece).collect() };
    fields.write(path, &VtuOptions::default()).map(|_| ())
}

/// Writes the state at which a run failed, beside its other fields.
///
/// # Errors
/// The errors of the writer.
pub fn write_failed(
    solver: &Flow,
    time: f64,
    lattice_order: usize,
    fields: &[OutputField],
    path: &Path,
    options: &VtuOptions,
) -> Result<(), WriterError> {
    if let Some(parent) = path.parent() {
        std::fs::create_dir_all(parent)
            .map_err(|source| WriterError::Io { path: parent.to_owned(), source })?;
    }
    sample(solver, time, lattice_order, fields, true).write(path, options).map(|_| ())
}
