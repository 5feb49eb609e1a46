//! Conservation: the integrals of the unknowns change by the boundary fluxes only.

use crate::testkit::{PLANE, SPACE, euler, mesh, schemes, shake, wavy};
use std::sync::Arc;

#[test]
fn rates_of_the_integrals_are_the_boundary_fluxes() {
    for cells in PLANE.into_iter().chain(SPACE) {
        for periodic in [true, false] {
            for geometry in [1, 2] {
                let mesh = mesh(cells, 2, geometry, periodic);
                for (name, scheme) in schemes(cells, 2) {
                    let state: Arc<dyn dgsuite_physics::Exact> = Arc::new(wavy(cells.dim()));
                    let mut d = euler::<f64>(&mesh, &scheme, Some(&state), 1);
                    let mut u = vec![0.0; d.len()];
                    d.project(state.as_ref(), 0.0, &mut u);
                    shake(&d, &mut u);
                    let mut du = vec![0.0; d.len()];
                    d.eval(0.0, &u, &mut du);
                    let size = d.absolute_totals(&du);
                    for ((rate, boundary), size) in d.totals(&du).iter().zip(d.tally()).zip(&size) {
                        let defect = (rate - boundary).abs();
                        assert!(
                            defect < 1e-12 * (1.0 + size),
                            "{cells:?} periodic {periodic} geometry {geometry} {name}: {defect:.2e} of {size:.2e}"
                        );
                    }
                    if periodic {
                        assert!(d.tally().iter().all(|&t| t == 0.0));
                    }
                }
            }
        }
    }
}
