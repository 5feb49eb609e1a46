//! Homogeneous directions of monitors: lists of directions, and places along these.

use super::Context;
use super::samples::Placed;
use crate::file::problem::InputError;
use crate::file::section::{self, Section};
use crate::file::source::Located;
use dgsuite_mesh::Locator;
use dgsuite_solve::RankMesh;

/// The names of the directions.
pub(super) const AXES: [&str; 3] = ["x", "y", "z"];

/// The largest number of places that one row samples.
const MOST: usize = 10_000_000;

/// Reads a list of different directions.
pub(super) fn read(section: &Section<'_>, key: &str) -> Result<Option<Vec<Located<usize>>>, InputError> {
    let Some(items) = section.list(key)? else { return Ok(None) };
    let key = section.key(key);
    let axes: Vec<(&str, usize)> = AXES.iter().copied().zip(0..).collect();
    let over = items.iter().map(|item| section::choice(item, &key, &axes)).collect::<Result<Vec<_>, _>>()?;
    section::once(&over.iter().map(|axis| axis.with(AXES[axis.value].to_owned())).collect::<Vec<_>>())?;
    Ok(Some(over))
}

/// Rejects directions in which the mesh has no period.
pub(super) fn periodic(over: &[Located<usize>], context: &Context<'_>) -> Result<(), InputError> {
    let mesh = context.mesh;
    let has = |d: usize| d < mesh.dim() && (context.states.periods[d] > 0.0 || mesh.is_part());
    match over.iter().find(|axis| !has(axis.value)) {
        None => Ok(()),
        Some(axis) => {
            let expected = "a direction in which opposite sides of the mesh are joined by `mesh.periodic`";
            Err(InputError::range(&axis.with(AXES[axis.value]), expected))
        }
    }
}

/// Rejects more places than a row can sample.
pub(super) fn not_too_many(places: usize, key: &Located<()>) -> Result<(), InputError> {
    match places > MOST {
        true => Err(InputError::range(&key.with(places), format!("at most {MOST} places in all"))),
        false => Ok(()),
    }
}

/// Points moved along homogeneous directions, `[point][place]`. A place lies in the
/// middle of its part of the period, and within the box around the mesh.
pub(super) fn spread(
    points: &[[f64; 3]],
    over: &[Located<usize>],
    samples: usize,
    context: &Context<'_>,
) -> Vec<[f64; 3]> {
    let periods = context.states.periods;
    let least = |d: usize| context.mesh.seen().points.iter().map(|x| x[d]).fold(f64::INFINITY, f64::min);
    let least: [f64; 3] = std::array::from_fn(least);
    let mut points = points.to_vec();
    for axis in over {
        let (d, period) = (axis.value, periods[axis.value]);
        let along = |x: [f64; 3]| {
            (0..samples).map(move |i| {
                let mut moved = x;
                let offset = (i as f64 + 0.5) / samples as f64 * period;
                moved[d] = least[d] + (x[d] - least[d] + offset).rem_euclid(period);
                moved
            })
        };
        points = points.into_iter().flat_map(along).collect();
    }
    points
}

/// Finds points in a mesh, also across periodic boundaries, which need not be straight; a rank with a part of
/// it gets their places from rank 0.
pub(super) fn placed(points: Vec<[f64; 3]>, mesh: &RankMesh) -> Vec<Placed> {
    let locator = (!mesh.is_part()).then(|| Locator::new(mesh.seen()));
    points.into_iter().map(|x| (x, locator.as_ref().and_then(|locator| locator.find_across(x)))).collect()
}
