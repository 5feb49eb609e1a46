//! Open boundaries of incompressible flow through which fluid comes back, as a likely reason of a failure.

use dgsuite_solve::flow::{BoundaryKind, Flow, Law};
use dgsuite_solve::post::Surface;

/// Smallest share of the inflow in all flow through a boundary that is reported. Above the largest one the
/// boundary is meant as an inlet.
const LEAST: f64 = 0.01;
const MOST: f64 = 0.99;

/// Returns hints about boundaries whose pressure does not fall where fluid comes back, and through which
/// much of it does in the present state.
pub(super) fn hints(solver: &Flow) -> Vec<String> {
    if !matches!(solver.setup().law, Law::Incompressible(_)) {
        return Vec::new();
    }
    let hint = |(name, kind): (&String, &BoundaryKind)| {
        let (condition, instead) = match kind {
            BoundaryKind::PressureOutlet { .. } => ("pressure-outlet", "type: outflow"),
            BoundaryKind::Open { backflow: None, data: None } => ("do-nothing", "kind: dong"),
            _ => return None,
        };
        let share = inflow(&solver.surface(name).ok()?)?;
        (LEAST..=MOST).contains(&share).then(|| {
            format!(
                "fluid comes back through boundary \"{name}\" ({condition}), {:.0} % of all flow through it, and \
                 gains energy there: try `boundaries.{name}.{instead}`, where the pressure falls with backflow, \
                 or a boundary further downstream",
                100.0 * share
            )
        })
    };
    solver.setup().boundaries.iter().filter_map(hint).collect()
}

/// Returns the inflow relative to inflow and outflow; `None` without flow. Points that are not finite are
/// left out.
fn inflow(surface: &Surface) -> Option<f64> {
    let (mut inflow, mut size) = (0.0, 0.0);
    for (q, (n, w)) in surface.normals.iter().zip(&surface.weights).enumerate() {
        let components = surface.values.len().saturating_sub(1 + surface.scalars).min(3);
        let out = w * (0..components).map(|d| n[d] * surface.values[d][q]).sum::<f64>();
        if out.is_finite() {
            size += out.abs();
            inflow += (-out).max(0.0);
        }
    }
    (size > 0.0).then(|| inflow / size)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_share_of_the_inflow_is_by_area_and_leaves_out_what_is_not_finite() {
        let surface = Surface {
            first: vec![0, 4],
            points: vec![[0.0; 3]; 4],
            normals: vec![[0.0, 1.0, 0.0]; 4],
            weights: vec![1.0, 2.0, 1.0, 1.0],
            values: vec![vec![9.0; 4], vec![-3.0, 1.0, f64::NAN, 1.0], vec![0.0; 4]],
            scalars: 0,
            traction: Vec::new(),
            heat: Vec::new(),
            u_tau: Vec::new(),
            y_plus: Vec::new(),
        };
        assert_eq!(inflow(&surface), Some(0.5));
    }
}
