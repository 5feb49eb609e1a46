//! Uniform incompressible flow remains on curved elements of every shape, by every term of a step.

#![expect(clippy::print_stdout, reason = "`--nocapture` shows the table of errors")]

use dgsuite_mesh::{Mesh, Shape, generate};
use dgsuite_physics::closures::EddyViscosity;
use dgsuite_physics::{Closure, Exact, Given};
use dgsuite_solve::flow::{BoundaryKind, Flow, Law, Setup};
use dgsuite_solve::incompressible::{Incompressible, Penalties, PressureOrder, Splitting, Subcycling};
use std::f64::consts::PI;
use std::sync::Arc;

/// Rounding errors of velocities of order 1, which the pressure solver's stop leaves.
const ROUNDING: f64 = 1e-12;

/// A uniform velocity with a uniform pressure.
struct Uniform {
    dim: usize,
    pressure: f64,
}

const VELOCITY: [f64; 3] = [1.0, 0.5, 0.25];

impl Exact for Uniform {
    fn n_fields(&self) -> usize {
        self.dim + 1
    }

    fn eval(&self, _: f64, x: &[[f64; 3]], out: &mut [Vec<f64>]) {
        let state = VELOCITY[..self.dim].iter().chain([&self.pressure]);
        out.iter_mut().zip(state).for_each(|(out, v)| *out = vec![*v; x.len()]);
    }

    fn is_steady(&self) -> bool {
        true
    }
}

/// A cube of elements of geometry order `order`, all of them curved; faces at x = 1 stay planes.
fn bent(shape: Shape, n: usize, order: usize) -> Mesh {
    let dim = if matches!(shape, Shape::Triangle | Shape::Quadrilateral) { 2 } else { 3 };
    let mut mesh = generate::Box::unit(shape, n).build().expect("a box");
    mesh.elevate(order).expect("elevation");
    let s = |x: f64| (PI * x).sin();
    let (size, shallow) = (0.05, dim == 2);
    mesh.map(|[x, y, z]| {
        let along = if shallow { 1.0 } else { s(z + 0.3) };
        let dx = size * s(y + 0.1) * along * (1.0 - x);
        let dy = size * s(x + 0.2) * along;
        let dz = if shallow { 0.0 } else { size * s(x + 0.5) * s(y + 0.4) };
        [x + dx, y + dy, z + dz]
    })
    .expect("a map that does not fold");
    mesh
}

/// The largest errors of velocity and pressure after some steps at prescribed velocities.
fn errors(mesh: Mesh, law: Incompressible, order: usize, open: Option<&BoundaryKind>) -> [f64; 2] {
    let dim = mesh.dim;
    let pressure = if open.is_some() { 2.0 } else { 0.0 };
    let exact: Arc<dyn Exact> = Arc::new(Uniform { dim, pressure });
    let names: Vec<String> = mesh.boundary_names().iter().map(|n| (*n).to_owned()).collect();
    let mut setup = Setup::new(Arc::new(mesh), Law::Incompressible(law), order);
    for name in names {
        let kind = match open {
            Some(open) if name == "xmax" => open.clone(),
            _ => BoundaryKind::Prescribed(Arc::clone(&exact)),
        };
        setup.boundaries.insert(name, kind);
    }
    setup.threads = 1;
    let mut solver = Flow::new(setup, exact.as_ref(), 0.0).expect("a solver");
    (0..3).for_each(|_| solver.step(1e-3).expect("a step"));
    let linf = solver.errors(exact.as_ref(), solver.time()).linf;
    [linf[..dim].iter().fold(0.0, |m: f64, e| m.max(*e)), linf[dim]]
}

fn law(splitting: Splitting) -> Incompressible {
    Incompressible { splitting, graded_start: false, ..Incompressible::new(0.05) }
}

const DUAL: Splitting = Splitting::Dual;
const CORRECTION: Splitting = Splitting::PressureCorrection { rotational: true };

/// Checks one case for both splittings and prints its errors: `--nocapture` shows the table.
fn check(shape: Shape, geometry: usize, order: usize, what: &str, change: impl Fn(&mut Incompressible)) {
    for splitting in [DUAL, CORRECTION] {
        let mut law = law(splitting);
        change(&mut law);
        let [u, p] = errors(bent(shape, 2, geometry), law, order, None);
        println!("{shape:?} geometry {geometry} order {order} {splitting:?}{what}: u {u:.1e} p {p:.1e}");
        // The pressure is the velocity's rounding over the step, 1e-3.
        assert!(u < ROUNDING && p < 1e3 * ROUNDING, "{shape:?} {geometry} {order} {splitting:?}{what}");
    }
}

/// Among them are orders below that of the geometry, and those for which fluxes need more points on faces
/// than products of two functions.
#[test]
fn uniform_flow_remains_on_curved_elements() {
    for (shape, geometry, order) in [
        (Shape::Triangle, 2, 1),
        (Shape::Triangle, 3, 3),
        (Shape::Triangle, 4, 1),
        (Shape::Quadrilateral, 3, 2),
        (Shape::Quadrilateral, 4, 4),
        (Shape::Tetrahedron, 2, 2),
        (Shape::Tetrahedron, 3, 1),
        (Shape::Hexahedron, 2, 2),
        (Shape::Hexahedron, 3, 2),
        (Shape::Prism, 2, 3),
        (Shape::Prism, 3, 2),
        (Shape::Pyramid, 2, 1),
        (Shape::Pyramid, 2, 3),
    ] {
        check(shape, geometry, order, "", |_| {});
    }
}

#[test]
fn uniform_flow_remains_with_every_option_of_a_step() {
    for shape in [Shape::Triangle, Shape::Prism] {
        check(shape, 3, 2, " without penalties", |law| law.penalties = Penalties::NONE);
        check(shape, 3, 2, " with a pressure of lower order", |law| {
            law.pressure_order = PressureOrder::Lower;
        });
        check(shape, 3, 2, " with sub-steps", |law| law.subcycles = Some(Subcycling::Number(2)));
        check(shape, 3, 2, " with a closure", |law| {
            law.closure = Some(Box::new(EddyViscosity::usual(Closure::Smagorinsky)));
        });
    }
}

#[test]
fn a_uniform_pressure_outside_leaves_uniform_flow() {
    let (p, temperature, velocity, data) = (Given::Constant(2.0), None, None, None);
    let outlet = BoundaryKind::PressureOutlet { p, temperature, velocity, data };
    for (shape, geometry, order) in
        [(Shape::Triangle, 3, 2), (Shape::Triangle, 4, 1), (Shape::Tetrahedron, 3, 1), (Shape::Prism, 2, 2)]
    {
        for splitting in [DUAL, CORRECTION] {
            let mesh = bent(shape, 2, geometry);
            let mut law = law(splitting);
            // The pressure outside is solved for.
            law.pressure.tolerance = 1e-13;
            let [u, p] = errors(mesh, law, order, Some(&outlet));
            println!("{shape:?} geometry {geometry} order {order} {splitting:?}: u {u:.1e} p {p:.1e}");
            assert!(u < ROUNDING && p < 1e3 * ROUNDING, "{shape:?} {geometry} {order} {splitting:?}");
        }
    }
}
