//! Manufactured solutions converge at order p + 0.8 and better: advection–diffusion of a scalar and viscous flow, on every shape
//! and on mixed meshes, affine and curved, with the solution prescribed on all boundaries.
//!
//! `DGSUITE_FULL=1 cargo test --release -p dgsuite-ops --test laws orders -- --nocapture` runs and prints the whole matrix.

#![expect(clippy::print_stdout, reason = "the table is the result")]

use crate::convergence::{A, B, C};
use crate::diffusion::{VISCOUS, diffusing, manufactured, viscous};
use crate::testkit::{Cells, GAS, PLANE, SPACE, mesh};
use dgsuite_basis::{NodeSet, Representation, Shape};
use dgsuite_gpu::SimdLevel;
use dgsuite_ops::{Discretization, Scheme, StageWeights};
use dgsuite_physics::exact::{ClosedForm, SineWave};
use dgsuite_physics::source::Manufactured;
use dgsuite_physics::{Advection, Exact, Roe, Rusanov, ScalarDiffusion, Source};
use std::sync::Arc;

/// Small enough that the error in time does not show.
const CFL: f64 = 0.4;

/// March to `end` and take the L² errors.
fn march(d: &mut Discretization<f64>, exact: &dyn Exact, end: f64, cfl: f64) -> Vec<f64> {
    let len = d.len();
    let (mut u, mut register, mut next) = (vec![0.0; len], vec![0.0; len], vec![0.0; len]);
    d.project(exact, 0.0, &mut u);
    let steps = (end / (cfl * d.time_step(&u, None).expect("admissible"))).ceil();
    let dt = end / steps;
    for step in 0..steps as usize {
        for s in 0..5 {
            let weights = StageWeights { a: A[s], b: 0.0, c: B[s], dt, keep: true };
            d.stage((step as f64 + C[s]) * dt, weights, &u, None, &mut register, &mut next);
            std::mem::swap(&mut u, &mut next);
        }
    }
    d.time_step(&u, None).expect("still admissible");
    d.errors(&u, exact, end).1.l2
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Model {
    Scalar,
    Flow,
}

fn errors(model: Model, cells: Cells, n: usize, geometry: usize, scheme: &Scheme) -> Vec<f64> {
    let mesh = mesh(cells, n, geometry, false);
    let (dim, level, end) = (cells.dim(), SimdLevel::detect(), 0.2);
    if model == Model::Flow {
        let (exact, source) = manufactured(dim);
        // Even orders show with Roe's flux on meshes as coarse as these, odd ones with any.
        let (data, source, viscosity) = (Some(&exact), Some(source), VISCOUS);
        let mut d = match (dim, scheme.order % 2) {
            (2, 0) => diffusing::<f64, _, _, _, 2, 4>(
                &mesh,
                scheme,
                GAS,
                Roe::PLAIN,
                viscosity,
                data,
                source,
                2,
                level,
            ),
            (_, 0) => diffusing::<f64, _, _, _, 3, 5>(
                &mesh,
                scheme,
                GAS,
                Roe::PLAIN,
                viscosity,
                data,
                source,
                2,
                level,
            ),
            _ => viscous::<f64>(&mesh, scheme, data, source, 2, level),
        };
        let mut errors = march(&mut d, exact.as_ref(), end, CFL);
        errors.truncate(dim + 2);
        return errors;
    }
    let nu = ScalarDiffusion { nu: 0.1 };
    macro_rules! scalar {
        ($d:literal, $velocity:expr) => {{
            let law = Advection { velocity: $velocity };
            let velocity = [0.8, 0.5, if $d == 2 { 0.0 } else { -0.4 }];
            let waves = [1.0, 1.0, if $d == 2 { 0.0 } else { 1.0 }];
            let wave = SineWave { mean: 1.0, amplitude: 0.5, velocity, waves, length: 2.0 };
            let exact = ClosedForm::<_, _, $d, 1>::new(law, wave);
            let source: Arc<dyn Source> =
                Arc::new(Manufactured::new::<_, _, $d, 1>(&law, &nu, &exact).expect("a formula"));
            let data: Arc<dyn Exact> = Arc::new(exact.clone());
            let mut d = diffusing::<f64, _, _, _, $d, 1>(
                &mesh,
                scheme,
                law,
                Rusanov,
                nu,
                Some(&data),
                Some(source),
                2,
                level,
            );
            march(&mut d, &exact, end, CFL)
        }};
    }
    if dim == 2 { scalar!(2, [0.8, 0.5]) } else { scalar!(3, [0.8, 0.5, -0.4]) }
}

fn full() -> bool {
    std::env::var_os("DGSUITE_FULL").is_some_and(|v| v == "1")
}

fn check(
    model: Model,
    cells: Cells,
    geometry: usize,
    name: &str,
    scheme: &Scheme,
    coarse: usize,
    factor: usize,
) {
    let p = scheme.order as f64;
    let (a, b) = (
        errors(model, cells, coarse, geometry, scheme),
        errors(model, cells, coarse * factor, geometry, scheme),
    );
    let rates: Vec<f64> = a.iter().zip(&b).map(|(a, b)| (a / b).ln() / (factor as f64).ln()).collect();
    println!("{model:?} {cells:?} p = {p} geometry {geometry} {name} {coarse} x {factor}: {b:?} {rates:.2?}");
    let least = rates.iter().copied().fold(f64::INFINITY, f64::min);
    // The short set has coarse meshes only.
    let margin = if full() {
        0.8
    } else if cells.dim() == 2 {
        0.5
    } else {
        0.3
    };
    assert!(
        least > p + margin,
        "{model:?} {cells:?} p = {p} geometry {geometry} {name}: {a:?} {b:?} {rates:.2?}"
    );
}

fn modal(p: usize) -> (&'static str, Scheme) {
    ("modal", Scheme::modal(p))
}

fn nodal(p: usize) -> (&'static str, Scheme) {
    ("collocated", Scheme::collocated(p))
}

#[test]
fn plane_orders() {
    if full() {
        return;
    }
    for cells in PLANE {
        for (name, scheme, n) in [("modal", Scheme::modal(1), 8), ("collocated", Scheme::collocated(3), 8)] {
            check(Model::Flow, cells, 1, name, &scheme, n, 2);
        }
        // Flows of even order come to their rates on finer meshes only, with or without viscosity; scalars at once.
        check(Model::Scalar, cells, 2, "modal", &Scheme::modal(2), 8, 2);
        check(Model::Scalar, cells, 1, "collocated", &Scheme::collocated(2), 12, 2);
    }
}

#[test]
fn orders_in_space() {
    if full() {
        return;
    }
    for shape in [Shape::Tetrahedron, Shape::Hexahedron, Shape::Prism] {
        check(Model::Flow, Cells::Of(shape), 1, "modal", &Scheme::modal(1), 4, 2);
    }
}

#[test]
fn all_orders() {
    if !full() {
        return;
    }
    for model in [Model::Scalar, Model::Flow] {
        for cells in PLANE {
            for p in 1..=5 {
                let n = if p <= 2 { 16 } else { 10 };
                for geometry in if p > 1 { vec![1, p.min(4)] } else { vec![1] } {
                    let nodes = Representation::Nodal(NodeSet::GaussLobatto);
                    for (name, scheme) in
                        [modal(p), nodal(p), ("nodal", Scheme { representation: nodes, ..Scheme::modal(p) })]
                    {
                        check(model, cells, geometry, name, &scheme, n, 2);
                    }
                }
            }
        }
        for cells in SPACE {
            for p in 1..=3 {
                let mut schemes = vec![modal(p)];
                if !cells.has_pyramids() {
                    schemes.push(nodal(p));
                }
                for (name, scheme) in schemes {
                    check(model, cells, 1, name, &scheme, if p == 1 { 8 } else { 6 }, 2);
                    if p == 2 {
                        check(model, cells, 2, name, &scheme, 6, 2);
                    }
                }
            }
        }
    }
}
