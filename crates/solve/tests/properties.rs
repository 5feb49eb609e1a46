//! Properties of the solver of a flow, for random orders, shapes and states.

#![expect(clippy::unwrap_used, reason = "a failed preparation fails the test")]

use std::sync::Arc;

use dgsuite_mesh::{Mesh, Shape, generate};
use dgsuite_physics::Exact;
use dgsuite_solve::flow::{Flow, Law, Setup};
use proptest::prelude::*;

/// A gas with a wave of random amplitude and direction.
struct Wave {
    dim: usize,
    amplitude: f64,
    velocity: [f64; 3],
}

impl Exact for Wave {
    fn n_fields(&self) -> usize {
        self.dim + 2
    }

    fn eval(&self, _t: f64, points: &[[f64; 3]], out: &mut [Vec<f64>]) {
        out.iter_mut().for_each(Vec::clear);
        for x in points {
            let rho =
                1.0 + self.amplitude * (std::f64::consts::TAU * x[..self.dim].iter().sum::<f64>()).sin();
            let velocity = &self.velocity[..self.dim];
            out[0].push(rho);
            for (momentum, v) in out[1..].iter_mut().zip(velocity) {
                momentum.push(rho * v);
            }
            let kinetic = 0.5 * rho * velocity.iter().map(|v| v * v).sum::<f64>();
            out[self.dim + 1].push(2.5 + kinetic);
        }
    }
}

/// A periodic unit box.
fn periodic(shape: Shape, n: usize) -> Arc<Mesh> {
    let mut mesh = generate::Box::unit(shape, n).build().unwrap();
    for (first, second) in &[("xmin", "xmax"), ("ymin", "ymax"), ("zmin", "zmax")][..mesh.dim] {
        mesh.make_periodic(first, second).unwrap();
    }
    Arc::new(mesh)
}

fn shapes() -> impl Strategy<Value = Shape> {
    use Shape::{Hexahedron, Prism, Quadrilateral, Tetrahedron, Triangle};
    prop::sample::select(vec![Triangle, Quadrilateral, Tetrahedron, Hexahedron, Prism])
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

    /// A state that is saved and restored into another solver goes on with the same bits, whatever the number
    /// of threads; what a periodic box contains stays.
    #[test]
    fn a_restored_state_goes_on_with_the_same_bits(
        shape in shapes(),
        order in 1..4_usize,
        amplitude in 0.01..0.3_f64,
        velocity in prop::array::uniform3(-0.5..0.5_f64),
    ) {
        let mesh = periodic(shape, 3);
        let wave = Wave { dim: mesh.dim, amplitude, velocity };
        let build = |threads| {
            let law = Law::Euler { gamma: 1.4, gas_constant: 1.0 };
            let setup = Setup { threads, ..Setup::new(Arc::clone(&mesh), law, order) };
            Flow::new(setup, &wave, 0.0).unwrap()
        };
        let mut whole = build(1);
        let dt = 0.5 * whole.stable_cfl().unwrap() * whole.stable_dt().unwrap();
        let step = |flow: &mut Flow, n: usize| (0..n).try_for_each(|_| flow.step(dt));
        step(&mut whole, 2).unwrap();
        let mut continued = build(2);
        continued.restore(&whole.save()).unwrap();
        step(&mut whole, 2).unwrap();
        step(&mut continued, 2).unwrap();
        prop_assert!(whole.save() == continued.save());
        for (name, error) in whole.conservation() {
            prop_assert!(error.abs() < 1e-12, "{name}: {error:e}");
        }
    }
}
