//! Limiters: they conserve, bound what they promise to bound, and leave smooth flow as it is.

use crate::testkit::{Cells, PLANE, SPACE, State, bounds, euler, mesh, schemes, shake, wavy};
use dgsuite_basis::{Shape, lattice::lattice};
use dgsuite_ops::{Discretization, EntropyFilter, Limiting, Neighbourhood, Scheme, StageWeights};
use dgsuite_physics::Exact;
use std::sync::Arc;

const ALL: [Limiting; 4] = [
    Limiting::Positivity,
    Limiting::EntropyFilter(EntropyFilter { tolerance: 1e-3, gate: true, density: true }),
    Limiting::Slopes(Neighbourhood::Faces),
    Limiting::Slopes(Neighbourhood::Vertices),
];

/// A gas with a contact and a pressure jump along an oblique plane.
fn jump(dim: usize, low: f64) -> Arc<dyn Exact> {
    Arc::new(State(dim + 2, move |x: [f64; 3], _| {
        let left = 0.9 * x[0] + 0.3 * x[1] + 0.2 * x[2] < 0.05;
        let mut w = vec![if left { 1.0 } else { 0.125 }, 0.3, -0.2];
        w.resize(dim + 1, 0.1);
        w.push(if left { 1.0 } else { low });
        w
    }))
}

/// The state after one forward Euler step of the size `dt`, or with `dt = 0` after the limiter alone.
fn stepped(d: &mut Discretization<f64>, u: &[f64], dt: f64) -> Vec<f64> {
    let weights = StageWeights { a: 0.0, b: 0.0, c: 1.0, dt, keep: false };
    let (mut register, mut next) = (vec![0.0; u.len()], vec![0.0; u.len()]);
    d.stage(0.0, weights, u, None, &mut register, &mut next);
    next
}

/// A discretisation of a state with a limiter, and the projection of the state.
fn limited(
    cells: Cells,
    scheme: &Scheme,
    order: usize,
    limiting: Limiting,
    data: &Arc<dyn Exact>,
) -> (Discretization<f64>, Vec<f64>) {
    let mesh = mesh(cells, if cells.dim() == 2 { 3 } else { 2 }, order, false);
    let mut d = euler::<f64>(&mesh, scheme, Some(data), 1);
    d.limit_by(limiting, bounds(cells.dim())).expect("the law fits");
    let mut u = vec![0.0; d.len()];
    d.project(data.as_ref(), 0.0, &mut u);
    (d, u)
}

#[test]
fn a_limiter_keeps_the_integrals() {
    for cells in PLANE.into_iter().chain(SPACE) {
        let data = jump(cells.dim(), 0.1);
        for order in [1, 2] {
            for limiting in ALL {
                let mut changes = 0;
                for (name, scheme) in schemes(cells, 2) {
                    let (mut d, u) = limited(cells, &scheme, order, limiting, &data);
                    let mut v = u.clone();
                    d.limit_initial(data.as_ref(), 0.0, &mut v);
                    changes += usize::from(u != v && d.limited().is_some_and(|l| l.share > 0.0));
                    let next = stepped(&mut d, &v, 0.0);
                    for (x, y) in d.totals(&u).iter().zip(d.totals(&next)) {
                        let defect = (x - y).abs() / (1.0 + x.abs());
                        assert!(defect < 1e-12, "{cells:?} {order} {name} {limiting:?}: {defect:.2e}");
                    }
                }
                assert!(changes > 2, "{cells:?} {order} {limiting:?}: {changes} schemes were limited");
            }
        }
    }
}

#[test]
fn a_gated_filter_and_positivity_leave_smooth_flow_as_it_is() {
    for cells in PLANE.into_iter().chain([Cells::Of(Shape::Hexahedron)]) {
        for order in [1, 2] {
            let mesh = mesh(cells, 8, order, true);
            let exact = wavy(cells.dim());
            for (name, scheme) in schemes(cells, 3) {
                // Without tolerance the filter changes nearly every element that passes the gate.
                let sharp = EntropyFilter { tolerance: 0.0, ..EntropyFilter::default() };
                for limiting in [Limiting::Positivity, Limiting::EntropyFilter(sharp)] {
                    let mut plain = euler::<f64>(&mesh, &scheme, None, 1);
                    let mut limited = euler::<f64>(&mesh, &scheme, None, 1);
                    limited.limit_by(limiting, bounds(cells.dim())).expect("the law fits");
                    let mut u = vec![0.0; plain.len()];
                    plain.project(&exact, 0.0, &mut u);
                    let (a, b) = (stepped(&mut plain, &u, 1e-3), stepped(&mut limited, &u, 1e-3));
                    assert!(a == b, "{cells:?} {order} {name} {limiting:?}: {:?}", limited.limited());
                }
            }
        }
    }
}

#[test]
fn density_and_pressure_become_positive_at_all_points() {
    for cells in PLANE.into_iter().chain(SPACE) {
        let data = jump(cells.dim(), 1e-9);
        for (name, scheme) in schemes(cells, 3) {
            let (mut d, mut next) = limited(cells, &scheme, 2, Limiting::Positivity, &data);
            d.limit_initial(data.as_ref(), 0.0, &mut next);
            assert!(d.time_step(&next, None).is_ok(), "{cells:?} {name}");
            let mut again = next.clone();
            d.limit_initial(data.as_ref(), 0.0, &mut again);
            let change = next.iter().zip(&again).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
            assert!(change < 1e-12, "{cells:?} {name}: the second use changes {change:.2e}");
        }
    }
}

#[test]
fn the_filter_keeps_density_within_the_bounds_of_the_jump() {
    for cells in PLANE.into_iter().chain(SPACE) {
        let data = jump(cells.dim(), 0.1);
        for (name, scheme) in schemes(cells, 3) {
            let filter = Limiting::EntropyFilter(EntropyFilter { gate: false, ..EntropyFilter::default() });
            let (mut d, mut u) = limited(cells, &scheme, 1, filter, &data);
            let overshoot = |d: &Discretization<f64>, u: &[f64]| {
                let samples = d.sample(u, 3);
                let rho = samples.iter().flat_map(|s| s.values[0].iter());
                rho.map(|x| (x - 1.0).max(0.125 - x)).fold(0.0, f64::max)
            };
            let before = overshoot(&d, &u);
            d.limit_initial(data.as_ref(), 0.0, &mut u);
            let after = overshoot(&d, &u);
            // The samples are not the points of the scheme: values there may leave the bounds a little.
            let fits = after < 0.1 * before + 0.07 || (before < 0.2 && after <= before);
            assert!(fits, "{cells:?} {name}: from {before:.3} to {after:.3}");
        }
    }
}

#[test]
fn slopes_of_a_linear_state_stay_where_neighbours_allow_them() {
    for near in [Neighbourhood::Faces, Neighbourhood::Vertices] {
        let mesh = mesh(Cells::Of(Shape::Quadrilateral), 6, 1, false);
        let linear: Arc<dyn Exact> =
            Arc::new(State(4, |x: [f64; 3], _| vec![2.0 + 0.1 * x[0] - 0.05 * x[1], 0.0, 0.0, 1.0]));
        let mut d = euler::<f64>(&mesh, &Scheme::modal(1), Some(&linear), 1);
        d.limit_by(Limiting::Slopes(near), bounds(2)).expect("the law fits");
        let mut u = vec![0.0; d.len()];
        d.project(linear.as_ref(), 0.0, &mut u);
        let next = stepped(&mut d, &u, 0.0);
        let share = d.limited().expect("a limiter").share;
        // 20 of 36 squares touch the boundary, where one neighbour is missing.
        assert!(next != u && share <= 20.0 / 36.0 + 1e-12, "{near:?}: {share}");
    }
}

#[test]
fn limited_states_are_the_same_on_any_number_of_threads() {
    for cells in PLANE.into_iter().chain([Cells::Mixed3]) {
        let mesh = mesh(cells, 6, 2, false);
        let data = jump(cells.dim(), 0.1);
        for limiting in ALL {
            let run = |threads: usize| {
                let mut d = euler::<f64>(&mesh, &Scheme::modal(2), Some(&data), threads);
                d.limit_by(limiting, bounds(cells.dim())).expect("the law fits");
                let mut u = vec![0.0; d.len()];
                d.project(data.as_ref(), 0.0, &mut u);
                d.limit_initial(data.as_ref(), 0.0, &mut u);
                shake(&d, &mut u);
                let next = stepped(&mut d, &u, 0.01);
                (next.iter().map(|v| v.to_bits()).collect::<Vec<_>>(), d.limited())
            };
            let one = run(1);
            assert!(one == run(2) && one == run(3), "{cells:?} {limiting:?}");
        }
    }
}

#[test]
fn the_sensor_tells_a_jump_from_smooth_flow() {
    let threshold = 0.5_f64.log10() - 1.8 * 4.0_f64.powf(0.25);
    for cells in PLANE {
        let filter = Limiting::EntropyFilter(EntropyFilter::default());
        let largest = |d: &Discretization<f64>, u: &[f64]| {
            let sensors = d.sensors(u).expect("a limiter");
            sensors.into_iter().map(f64::from).fold(f64::NEG_INFINITY, f64::max)
        };
        for (name, scheme) in schemes(cells, 3) {
            let (d, u) = limited(cells, &scheme, 1, filter, &jump(2, 0.1));
            let at_jump = largest(&d, &u);
            assert!(at_jump > threshold && at_jump <= 0.0, "{cells:?} {name}: {at_jump}");
            let mut d = euler::<f64>(&mesh(cells, 8, 1, true), &scheme, None, 1);
            d.limit_by(filter, bounds(2)).expect("the law fits");
            let mut u = vec![0.0; d.len()];
            d.project(&wavy(2), 0.0, &mut u);
            let smooth = largest(&d, &u);
            assert!(smooth < threshold, "{cells:?} {name}: {smooth}");
        }
    }
}

#[test]
fn states_between_the_points_of_a_limiter_are_admissible() {
    let mut bad = 0;
    for cells in PLANE.into_iter().chain(SPACE) {
        let (data, law) = (jump(cells.dim(), 1e-4), bounds::<f64>(cells.dim()));
        for limiting in [ALL[0], ALL[1]] {
            let (mut d, mut u) = limited(cells, &Scheme::modal(3), 1, limiting, &data);
            d.limit_initial(data.as_ref(), 0.0, &mut u);
            let low = d.least(&u).expect("there is a limiter");
            for sample in d.sample(&u, 7) {
                let points = lattice(sample.shape, 7);
                assert_eq!(sample.floors.len(), sample.elements.len());
                for (cell, (&element, floor)) in sample.elements.iter().zip(&sample.floors).enumerate() {
                    for (q, r) in points.iter().enumerate() {
                        let i = cell * points.len() + q;
                        let raw: Vec<f64> = sample.values.iter().map(|column| column[i]).collect();
                        let mut state = raw.clone();
                        d.keep_above(floor, &mut state);
                        bad += usize::from(law.bounded(&raw)[1] < 0.0);
                        let [rho, p, _] = law.bounded(&state);
                        assert!(
                            rho > 0.49 * low[0] && p > 0.49 * low[1],
                            "{cells:?} {limiting:?}: {rho} {p}"
                        );
                        // A probe at the same point has the same state.
                        let probe = d.state_at(&u, element, *r).expect("the point is inside");
                        let gap = probe.iter().zip(&state).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
                        assert!(gap < 1e-10, "{cells:?} {limiting:?}: {gap:.2e}");
                    }
                }
            }
        }
        // Smooth flow is shown as it is.
        let smooth: Arc<dyn Exact> = Arc::new(wavy(cells.dim()));
        let (mut d, mut u) = limited(cells, &Scheme::modal(3), 1, ALL[0], &smooth);
        d.limit_initial(smooth.as_ref(), 0.0, &mut u);
        for sample in d.sample(&u, 5) {
            let each = sample.points.len() / sample.elements.len();
            for i in 0..sample.points.len() {
                let raw: Vec<f64> = sample.values.iter().map(|column| column[i]).collect();
                let mut state = raw.clone();
                d.keep_above(&sample.floors[i / each], &mut state);
                assert_eq!(state, raw, "{cells:?}");
            }
        }
    }
    assert!(bad > 50, "the polynomials have a negative pressure at {bad} points only");
}

/// A gas whose pressure is a parabola, `low` at x = −1 and 1 and 0.1 in between.
fn bent(dim: usize, low: f64) -> Arc<dyn Exact> {
    Arc::new(State(dim + 2, move |x: [f64; 3], _| {
        let mut w = vec![1.0];
        w.resize(dim + 1, 0.0);
        w.push(0.1 + (low - 0.1) * x[0] * x[0]);
        w
    }))
}

#[test]
fn pressures_below_zero_are_seen_at_faces() {
    for cells in [Cells::Of(Shape::Quadrilateral), Cells::Of(Shape::Hexahedron), Cells::Of(Shape::Triangle)] {
        let mesh = mesh(cells, 1, 1, false);
        let mut unseen = 0;
        for (name, scheme) in schemes(cells, 2) {
            let d = euler::<f64>(&mesh, &scheme, None, 1);
            let of = |low: f64| {
                let mut u = vec![0.0; d.len()];
                d.project(bent(cells.dim(), low).as_ref(), 0.0, &mut u);
                [d.time_step(&u, None).is_ok(), d.admissible_at_faces(&u)]
            };
            assert_eq!(of(0.01), [true; 2], "{cells:?} {name}");
            let [inside, at_faces] = of(-0.005);
            assert!(!at_faces, "{cells:?} {name}");
            unseen += usize::from(inside);
        }
        assert!(unseen > 2, "{cells:?}: points inside saw it in all but {unseen} schemes");
    }
}

#[test]
fn integrals_of_what_is_shown_see_no_negative_pressure() {
    let mut seen = 0.0;
    for cells in [Cells::Of(Shape::Quadrilateral), Cells::Of(Shape::Tetrahedron)] {
        let (data, law) = (jump(cells.dim(), 1e-4), bounds::<f64>(cells.dim()));
        let (mut d, mut u) = limited(cells, &Scheme::modal(3), 1, ALL[0], &data);
        d.limit_initial(data.as_ref(), 0.0, &mut u);
        let of = |bounded: bool| {
            d.integrate_states(&u, bounded, 12, 2, |_, state, out| {
                out[0] = (-law.bounded(state)[1]).max(0.0);
                out[1] = 1.0;
            })
        };
        let ([negative, volume], [shown, same]) =
            ([of(false).0[0], of(false).0[1]], [of(true).0[0], of(true).0[1]]);
        assert_eq!((shown, volume), (0.0, same), "{cells:?}");
        seen += negative;
    }
    assert!(seen > 1e-5, "the polynomials have a negative pressure: {seen:e}");
}
