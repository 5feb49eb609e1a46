//! Walls with friction like that of a thin layer, which makes explicit steps stiff, and wall models that take
//! the state from there.

use crate::conditions::BoundarySpec;
use crate::conditions::faces::{outward, sides_of};
use dgsuite_ops::Height;
use dgsuite_solve::RankMesh;

/// Warns if the layer is much thinner than the elements at the wall, divided by (p + 1)²: the step is not
/// bounded by its friction. Warns too if a wall model takes the state from below the first nodes, at the
/// thickness of the elements divided by p + 1.
pub(crate) fn check(specs: &[BoundarySpec], on_rank: &RankMesh, order: usize) -> Vec<String> {
    if on_rank.is_part() {
        return Vec::new();
    }
    let mesh = on_rank.seen();
    let warning = |spec: &BoundarySpec| {
        let condition = spec.condition.as_value()?;
        let name = &spec.name.value;
        let thickness = sides_of(mesh, name).into_iter().map(|side| {
            let (n, at) = (outward(side, mesh), mesh.side_centroid(side));
            let vertices = mesh.element_vertices(side.element as usize).into_iter();
            let depth = |v: u32| (0..3).map(|d| n[d] * (at[d] - mesh.points[v as usize][d])).sum::<f64>();
            vertices.map(depth).fold(0.0, f64::max)
        });
        let thinnest = thickness.fold(f64::INFINITY, f64::min);
        if let Some(Height::Length(height)) = condition.height() {
            let least = thinnest / (order + 1) as f64;
            return (height < least).then(|| {
                format!(
                    "boundaries.{name}: `exchange: {height}` is below the first nodes of the solution, {least:.1e}: the \
                     flow there is wrong, and steps may be unstable; `auto` is near the far side of the elements"
                )
            });
        }
        let length = condition.friction_length()?;
        let least = thinnest / ((order + 1) * (order + 1)) as f64;
        (length < LEAST * least).then(|| {
            format!(
                "boundaries.{name}: {length} is much shorter than {least:.1e}, the elements at the wall divided by \
                 (order + 1)^2: steps may be unstable; there the wall is as good as a `no-slip-wall`"
            )
        })
    };
    specs.iter().filter_map(warning).collect()
}

/// Lengths below this part are too short.
const LEAST: f64 = 0.25;
