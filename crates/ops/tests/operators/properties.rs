//! Properties of the residual for random states: invariances of any consistent scheme.

use dgsuite_gpu::Host;
use dgsuite_mesh::{Mesh, Shape, SpaceFillingCurve, generate};
use dgsuite_ops::{Discretization, PointKernels, Pointwise, Scheme};
use dgsuite_physics::{Euler, Exact, Hllc, Law, Rusanov};
use proptest::prelude::*;
use std::sync::Arc;

const GAS: Euler = Euler { gamma: 1.4 };

/// A random trigonometric flow, rotated by `angle` about the origin.
#[derive(Clone, Debug)]
struct Flow {
    amplitudes: Vec<f64>,
    angle: f64,
}

impl Exact for Flow {
    fn n_fields(&self) -> usize {
        4
    }

    fn eval(&self, _t: f64, x: &[[f64; 3]], out: &mut [Vec<f64>]) {
        let (c, s) = (self.angle.cos(), self.angle.sin());
        out.iter_mut().for_each(Vec::clear);
        for p in x {
            // The flow in the rotated frame.
            let (a, b) = (c * p[0] + s * p[1], c * p[1] - s * p[0]);
            let m = &self.amplitudes;
            let rho = 1.0 + 0.2 * m[0] * (a + 2.0 * b).sin();
            let (u, v) = (0.5 * m[1] + 0.1 * (b + m[2]).cos(), 0.5 * m[3] + 0.1 * (2.0 * a - b).sin());
            let pressure = 1.0 + 0.2 * m[4] * (a - b).cos();
            let (u, v) = (c * u - s * v, s * u + c * v);
            let state = [rho, rho * u, rho * v, pressure / 0.4 + 0.5 * rho * (u * u + v * v)];
            out.iter_mut().zip(state).for_each(|(o, v)| o.push(v));
        }
    }
}

fn flow() -> impl Strategy<Value = Flow> {
    prop::collection::vec(-1.0..1.0f64, 5).prop_map(|amplitudes| Flow { amplitudes, angle: 0.0 })
}

fn square(shape: Shape, n: usize) -> Mesh {
    let cells = [n; 3];
    let mut mesh = generate::Box { cells, ..generate::Box::unit(shape, n) }.build().expect("a square");
    mesh.make_periodic("xmin", "xmax").expect("periodic");
    mesh.make_periodic("ymin", "ymax").expect("periodic");
    mesh
}

/// The residual in canonical order, and the mesh's element numbers.
fn residual(mesh: Mesh, scheme: &Scheme, flow: &Flow, hllc: bool) -> (Vec<f64>, Vec<u64>) {
    let tags = (0..mesh.n_elements()).map(|e| mesh.tag(e)).collect();
    let host = Arc::new(Host::new(1).expect("a machine"));
    let physics: Box<dyn dgsuite_ops::PointKernels<f64>> = if hllc {
        Box::new(Pointwise::<_, _, 2, 4> { law: GAS, flux: Hllc })
    } else {
        Box::new(Pointwise::<_, _, 2, 4> { law: GAS, flux: Rusanov })
    };
    let mut d = Discretization::new(Arc::new(mesh), scheme, physics, Vec::new(), host).expect("a scheme");
    let (mut u, mut du) = (vec![0.0; d.len()], vec![0.0; d.len()]);
    d.project(flow, 0.0, &mut u);
    d.eval(0.0, &u, &mut du);
    (d.to_canonical(&du), tags)
}

fn scheme(p: usize, collocated: bool) -> Scheme {
    if collocated { Scheme::collocated(p) } else { Scheme::modal(p) }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn renumbering_changes_nothing(flow in flow(), p in 1usize..4, collocated: bool, hllc: bool, quad: bool) {
        let mesh = square(if quad { Shape::Quadrilateral } else { Shape::Triangle }, 5);
        let mut renumbered = mesh.clone();
        renumbered.renumber(SpaceFillingCurve::Hilbert);
        let s = scheme(p, collocated);
        let (a, tags_a) = residual(mesh, &s, &flow, hllc);
        let (b, tags_b) = residual(renumbered, &s, &flow, hllc);
        let n = a.len() / tags_a.len();
        let size = a.iter().fold(1.0f64, |m, v| m.max(v.abs()));
        for (e, tag) in tags_a.iter().enumerate() {
            let other = tags_b.iter().position(|t| t == tag).expect("the same elements");
            for i in 0..n {
                let d = (a[e * n + i] - b[other * n + i]).abs();
                prop_assert!(d <= 1e-12 * size, "element {tag}: {d:.2e}");
            }
        }
    }

    #[test]
    fn turning_mesh_and_flow_turns_the_residual(flow in flow(), p in 1usize..4, collocated: bool, angle in 0.1..3.0f64) {
        let mesh = square(Shape::Triangle, 4);
        let mut turned = mesh.clone();
        let (c, s) = (angle.cos(), angle.sin());
        turned.map(|[x, y, z]| [c * x - s * y, s * x + c * y, z]).expect("a turned mesh");
        let scheme = scheme(p, collocated);
        let (a, _) = residual(mesh.clone(), &scheme, &flow, false);
        let (b, _) = residual(turned, &scheme, &Flow { angle, ..flow }, false);
        let np = a.len() / mesh.n_elements() / 4;
        let size = a.iter().fold(1.0f64, |m, v| m.max(v.abs()));
        for (a, b) in a.chunks(4 * np).zip(b.chunks(4 * np)) {
            for i in 0..np {
                let (mx, my) = (a[np + i], a[2 * np + i]);
                let expected = [a[i], c * mx - s * my, s * mx + c * my, a[3 * np + i]];
                for k in 0..4 {
                    let d = (b[k * np + i] - expected[k]).abs();
                    prop_assert!(d <= 1e-11 * size, "field {k}: {d:.2e} of {size:.2e}");
                }
            }
        }
    }

    #[test]
    fn integrals_do_not_change_in_a_periodic_box(flow in flow(), p in 0usize..4, collocated: bool, hllc: bool) {
        let mesh = square(Shape::Triangle, 4);
        let host = Arc::new(Host::new(1).expect("a machine"));
        let physics: Box<dyn dgsuite_ops::PointKernels<f64>> = if hllc {
            Box::new(Pointwise::<_, _, 2, 4> { law: GAS, flux: Hllc })
        } else {
            Box::new(Pointwise::<_, _, 2, 4> { law: GAS, flux: Rusanov })
        };
        let s = scheme(p.max(usize::from(collocated)), collocated);
        let mut d = Discretization::new(Arc::new(mesh), &s, physics, Vec::new(), host).expect("a scheme");
        let (mut u, mut du) = (vec![0.0; d.len()], vec![0.0; d.len()]);
        d.project(&flow, 0.0, &mut u);
        d.eval(0.0, &u, &mut du);
        for (total, size) in d.totals(&du).iter().zip(d.absolute_totals(&du)) {
            prop_assert!(total.abs() <= 1e-13 * (1.0 + size), "{total:.2e} of {size:.2e}");
        }
    }
}

#[test]
fn primitive_gradients_are_those_of_the_primitive_variables() {
    // Along a line w(s), the chain rule must agree with central differences.
    let w = |s: f64| [1.2 + 0.3 * s, 0.4 - s, 0.7 * s, 0.9, 2.0 + s * s];
    let conserved = |s: f64| -> [f64; 5] { GAS.to_conserved(&w(s)) };
    let (s, h) = (0.3, 1e-5);
    let rate = |f: &dyn Fn(f64) -> [f64; 5]| -> [f64; 5] {
        std::array::from_fn(|k| (f(s + h)[k] - f(s - h)[k]) / (2.0 * h))
    };
    let (du, dw) = (rate(&conserved), rate(&w));
    let physics: Box<dyn PointKernels<f64>> = Box::new(Pointwise::<_, _, 3, 5> { law: GAS, flux: Rusanov });
    let (mut grad, mut out) = (vec![0.0; 15], vec![1.0; 15]);
    grad[5..10].copy_from_slice(&du);
    physics.primitive_gradient(&conserved(s), &grad, &mut out);
    for k in 0..5 {
        assert!((out[5 + k] - dw[k]).abs() < 1e-8, "{k}: {} {}", out[5 + k], dw[k]);
        assert_eq!((out[k], out[10 + k]), (0.0, 0.0));
    }
}
