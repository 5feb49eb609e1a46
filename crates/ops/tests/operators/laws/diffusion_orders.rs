//! Manufactured solutions converge at the expected order: scalar advection–diffusion and viscous flow.
//!
//! The tests cover all shapes and mixed meshes, affine and curved, with the solution prescribed on all
//! boundaries.
//!
//! They use a few coarse meshes. Viscous flow on all shapes with all orders and schemes takes hours; it is in
//! the pipelines `orders*.yaml` of `examples/navier-stokes`.

use crate::laws::convergence;
use crate::laws::diffusion::{VISCOUS, diffusing, manufactured, viscous};
use crate::testkit::{Cells, GAS, PLANE, mesh};
use dgsuite_basis::Shape;
use dgsuite_gpu::SimdLevel;
use dgsuite_ops::{Discretization, Scheme, StepMeasure};
use dgsuite_physics::exact::{ClosedForm, SineWave};
use dgsuite_physics::source::Manufactured;
use dgsuite_physics::{Advection, Exact, Roe, Rusanov, ScalarDiffusion, Source};
use std::sync::Arc;

/// Product of step and spectral radius, so small that the error in time is negligible.
const STEP: f64 = 2.8;

/// Integrates to `end` and returns the L² errors.
fn march(d: &mut Discretization<f64>, exact: &dyn Exact, end: f64) -> Vec<f64> {
    let mut u = vec![0.0; d.len()];
    d.project(exact, 0.0, &mut u);
    d.measure_steps_by(StepMeasure::Radius);
    let steps = (end / (STEP * d.time_step(&u, None).expect("admissible"))).ceil();
    convergence::march(d, end, steps, &mut u);
    d.time_step(&u, None).expect("still admissible");
    d.errors(&u, exact, end).1.l2
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Model {
    Scalar,
    Flow,
}

/// The solution has half a wave length in each direction, the cell Reynolds number is about 1, and the flow
/// passes several cells. At even orders the error constants of density and pressure differ between
/// convection-dominated and diffusion-dominated cells, and until the initial projection has left the domain;
/// meshes in between show orders that are too low by one half.
fn errors(model: Model, cells: Cells, n: usize, geometry: usize, scheme: &Scheme) -> Vec<f64> {
    let mut mesh = mesh(cells, n, geometry, false);
    Arc::make_mut(&mut mesh).scale(0.5).expect("smaller");
    let (dim, level, threads, end) = (cells.dim(), SimdLevel::detect(), 1, 0.2);
    if model == Model::Flow {
        let (exact, source) = manufactured(dim);
        // On meshes as coarse as these, even orders appear with Roe's flux, odd orders with any flux.
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
                threads,
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
                threads,
                level,
            ),
            _ => viscous::<f64>(&mesh, scheme, data, source, threads, level),
        };
        let mut errors = march(&mut d, exact.as_ref(), end);
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
                threads,
                level,
            );
            march(&mut d, &exact, end)
        }};
    }
    if dim == 2 { scalar!(2, [0.8, 0.5]) } else { scalar!(3, [0.8, 0.5, -0.4]) }
}

struct Case {
    model: Model,
    cells: Cells,
    geometry: usize,
    name: &'static str,
    scheme: Scheme,
    coarse: usize,
}

impl Case {
    /// Returns the orders between `coarse` cells per side and twice as many, if they are too low.
    fn check(&self) -> Result<(), String> {
        let &Self { model, cells, geometry, name, ref scheme, coarse } = self;
        let p = scheme.order as f64;
        let [a, b] = [1, 2].map(|k| errors(model, cells, k * coarse, geometry, scheme));
        let rates: Vec<f64> = a.iter().zip(&b).map(|(a, b)| (a / b).log2()).collect();
        let line = format!(
            "{model:?} {cells:?} p = {p} geometry {geometry} {name} from {coarse}: {b:?} {rates:.2?}"
        );
        let least = rates.iter().copied().fold(f64::INFINITY, f64::min);
        // Meshes are coarse.
        let margin = if cells.dim() == 2 { 0.5 } else { 0.3 };
        if least > p + margin { Ok(()) } else { Err(line) }
    }
}

fn check(cases: &[Case]) {
    let failed: Vec<String> = cases.iter().map(Case::check).filter_map(Result::err).collect();
    assert!(failed.is_empty(), "{failed:#?}");
}

fn modal(p: usize) -> (&'static str, Scheme) {
    ("modal", Scheme::modal(p))
}

fn nodal(p: usize) -> (&'static str, Scheme) {
    ("collocated", Scheme::collocated(p))
}

#[test]
fn plane_orders() {
    let mut cases = Vec::new();
    for cells in PLANE {
        let (flow, scalar) = (Model::Flow, Model::Scalar);
        // Flows of even order reach their rates on finer meshes only, with or without viscosity; scalars
        // reach them at once.
        for (model, geometry, (name, scheme), coarse) in [
            (flow, 1, modal(1), 4),
            (flow, 1, nodal(3), 3),
            (scalar, 2, modal(2), 4),
            (scalar, 1, nodal(2), 6),
        ] {
            cases.push(Case { model, cells, geometry, name, scheme, coarse });
        }
    }
    check(&cases);
}

#[test]
fn orders_in_space() {
    let (name, scheme) = modal(1);
    let shapes = [Shape::Tetrahedron, Shape::Hexahedron, Shape::Prism];
    check(&shapes.map(|shape| Case {
        model: Model::Flow,
        cells: Cells::Of(shape),
        geometry: 1,
        name,
        scheme,
        coarse: 2,
    }));
}
