//! No boundary condition adds energy to viscous flow.
//!
//! The tests linearise the operators of small boxes about uniform states.

use crate::laws::linear::{self, grows_slower_than};
use crate::testkit::{Cells, GAS, State, mesh};
use dgsuite_basis::{Matrix, Shape};
use dgsuite_gpu::{Host, SimdLevel};
use dgsuite_ops::{
    BoundaryBinding, BoundaryKernel, BoundaryOf, Diffusive, DiffusiveBoundaryOf, Discretization, Equation,
    Pointwise, Scheme, WithDiffusion,
};
use dgsuite_physics::navier_stokes::Viscosity;
use dgsuite_physics::{
    Boundary, DiffusiveBoundary, Euler, Exact, FarField, Given, NavierStokes, NoSlipWall, Outflow,
    Prescribed, PressureOutlet, Real, Roe, SubsonicInflow, WallHeat,
};
use std::sync::Arc;

const SHAPES: [Cells; 2] = [Cells::Of(Shape::Quadrilateral), Cells::Of(Shape::Triangle)];
/// The speed of sound is 1.
const PRESSURE: f64 = 1.0 / 1.4;
/// Gas at rest.
const REST: [f64; 4] = [1.0, 0.0, 0.0, PRESSURE];
/// Slow flow: diffusion dominates.
const SLOW: [f64; 4] = [1.0, 0.03, 0.02, PRESSURE];
/// At more than half the speed of sound.
const FAST: [f64; 4] = [1.0, 0.5, 0.3, PRESSURE];

/// A wrong treatment for comparison: the gradient is lifted towards the condition's outer state.
#[derive(Clone, Copy)]
struct Lifted<B, const LEVEL: bool>(B);

impl<B: Boundary<Euler, 2, 4>, const LEVEL: bool> Boundary<Euler, 2, 4> for Lifted<B, LEVEL> {
    const NAME: &'static str = "lifted";
    const USES_DATA: bool = true;

    fn outer<R: Real>(&self, law: &Euler, um: &[R; 4], n: &[R; 2], data: &[R; 4]) -> [R; 4] {
        self.0.outer(law, um, n, data)
    }
}

impl<B: Boundary<Euler, 2, 4>, const LEVEL: bool> DiffusiveBoundary<NavierStokes, 2, 4> for Lifted<B, LEVEL> {
    const LEVEL: bool = LEVEL;

    fn face_state<R: Real>(&self, ns: &NavierStokes, um: &[R; 4], n: &[R; 2], data: &[R; 4]) -> [R; 4] {
        self.0.outer(&ns.gas, um, n, data)
    }
}

/// The reservoir of the state `w`, directed along its velocity, or against the normal for gas at rest.
fn reservoir(w: [f64; 4]) -> SubsonicInflow {
    let q2 = w[1] * w[1] + w[2] * w[2];
    let rise = 1.0 + 0.2 * q2;
    let q = q2.sqrt();
    SubsonicInflow {
        total_pressure: (w[3] * rise.powf(3.5)).into(),
        total_temperature: (w[3] / w[0] * rise).into(),
        gas_constant: 1.0,
        direction: (q > 0.0).then(|| Given::vector([w[1] / q, w[2] / q, 0.0])),
    }
}

/// A box with two cells per side and the same condition on all boundaries, whose data are the state `w`.
fn discretise<C>(cells: Cells, p: usize, mu: f64, condition: &C, w: [f64; 4]) -> Discretization<f64>
where
    C: Boundary<Euler, 2, 4> + DiffusiveBoundary<NavierStokes, 2, 4>,
{
    let viscosity = Viscosity::Constant { mu };
    let diffusion = NavierStokes { gas: GAS, prandtl: 0.72, viscosity, gas_constant: 1.0, closure: None };
    let mesh = mesh(cells, 2, 1, false);
    let (law, flux) = (GAS, Roe::PLAIN);
    let state: Arc<dyn Exact> = Arc::new(State(4, move |_, _| w.to_vec()));
    let kernel = || -> Box<dyn BoundaryKernel<f64>> {
        let inviscid = Box::new(BoundaryOf::<_, _, 2, 4> { law, condition: condition.clone() });
        let diffusive =
            Box::new(DiffusiveBoundaryOf::<_, _, 2, 4> { diffusion, condition: condition.clone() });
        Box::new(WithDiffusion { inviscid, diffusive })
    };
    let bindings = mesh
        .boundary_names()
        .into_iter()
        .map(|name| BoundaryBinding { name: name.to_owned(), kernel: kernel(), data: Some(state.clone()) })
        .collect();
    let equation = Equation::<f64>::from(Box::new(Pointwise::<_, _, 2, 4> { law, flux }))
        .with_diffusion(Box::new(Diffusive::<_, 2, 4> { diffusion }));
    let host = Arc::new(Host::with_simd(1, SimdLevel::detect()).expect("a machine"));
    Discretization::new(mesh, &Scheme::modal(p), equation, bindings, host)
        .expect("the discretisation is made")
}

/// The operator about `w` in the variables `y` and in orthonormal modes.
fn linearised<C>(cells: Cells, p: usize, mu: f64, condition: &C, w: [f64; 4]) -> Matrix
where
    C: Boundary<Euler, 2, 4> + DiffusiveBoundary<NavierStokes, 2, 4>,
{
    linear::linearised(&mut discretise(cells, p, mu, condition, w), &w)
}

/// The largest entry of `exp(A t)` at `t = 2^k` and at twice that time, by squaring.
fn growth(a: &Matrix, k: i32) -> f64 {
    let halvings = k + a.norm_1().log2().ceil() as i32 + 1;
    let small = a.scaled(f64::exp2(f64::from(k - halvings)));
    // ‖small‖ ≤ ½: the remainder of the series is 2e-14 of it.
    let mut exponential = Matrix::identity(a.rows());
    for i in (1..=11).rev() {
        exponential = Matrix::identity(a.rows()).add_scaled(1.0 / f64::from(i), &small.mul(&exponential));
    }
    for _ in 0..halvings {
        exponential = exponential.mul(&exponential);
    }
    exponential.mul(&exponential).max_abs() / exponential.max_abs()
}

/// The diffusive part for viscosity 1; with a large viscosity the waves are negligible.
fn diffusive_half<C>(cells: Cells, p: usize, condition: &C, w: [f64; 4]) -> Matrix
where
    C: Boundary<Euler, 2, 4> + DiffusiveBoundary<NavierStokes, 2, 4>,
{
    let large = 1e6;
    linearised(cells, p, large, condition, w).scaled(1.0 / large)
}

fn dissipates<C>(name: &str, condition: &C, w: [f64; 4], orders: std::ops::RangeInclusive<usize>)
where
    C: Boundary<Euler, 2, 4> + DiffusiveBoundary<NavierStokes, 2, 4>,
{
    for cells in SHAPES {
        for p in orders.clone() {
            let a = diffusive_half(cells, p, condition, w);
            // Rounding and finite differences. Stresses along plane faces do not cancel at the corners of the
            // box, for any mesh and order; their effect is small compared with the slowest diffusion mode of
            // the box, whose rate is (π/2)².
            let delta = if C::LEVEL { 0.4 } else { 1e-7 * a.norm_1() };
            assert!(grows_slower_than(&a, delta), "{name} {cells:?} p = {p} about {w:?} adds energy");
        }
    }
}

#[test]
fn no_boundary_feeds_energy_into_diffusion() {
    for (w, orders) in [(REST, 1..=4), (FAST, 3..=3)] {
        dissipates("dirichlet", &Prescribed, w, orders.clone());
        dissipates("outflow", &Outflow, w, orders.clone());
        dissipates("far-field", &FarField, w, orders.clone());
        dissipates("pressure-outlet", &PressureOutlet::at(w[3]), w, orders.clone());
        dissipates("subsonic-inflow", &reservoir(w), w, orders);
    }
    let temperature = Given::from(REST[3] / REST[0]);
    let heat = WallHeat::Isothermal { temperature };
    dissipates("isothermal wall", &NoSlipWall { heat, velocity: None }, REST, 1..=4);
    macro_rules! all_dissipate {
        ($($name:ident $wall:expr;)*) => { $( dissipates(stringify!($name), &$wall, REST, 1..=4); )* };
    }
    dgsuite_physics::walls!(all_dissipate! {});
}

#[test]
fn gradients_lifted_towards_the_states_of_waves_feed_energy() {
    // Otherwise the test above would prove nothing.
    let w = SLOW;
    for cells in SHAPES {
        for p in [2, 4] {
            let feeds = |a: &Matrix| !grows_slower_than(a, 20.0);
            let far = diffusive_half(cells, p, &Lifted::<_, false>(FarField), w);
            let outlet = Lifted::<_, true>(PressureOutlet::at(w[3]));
            let outlet = diffusive_half(cells, p, &outlet, w);
            let inflow = diffusive_half(cells, p, &Lifted::<_, false>(reservoir(w)), w);
            assert!(feeds(&far) && feeds(&outlet) && feeds(&inflow), "{cells:?} p = {p}");
        }
    }
}

/// Including waves: disturbances leave or decay between boundaries that let them pass, for any viscosity.
#[test]
fn gas_between_open_boundaries_comes_to_rest() {
    let w = SLOW;
    let p = 3;
    for cells in SHAPES {
        let parts = |inviscid: Matrix, viscous: Matrix| (viscous.add_scaled(-1.0, &inviscid), inviscid);
        macro_rules! parts {
            ($condition:expr) => {{
                let condition = $condition;
                parts(linearised(cells, p, 0.0, &condition, w), linearised(cells, p, 1.0, &condition, w))
            }};
        }
        for (name, (diffusion, waves), stable) in [
            ("far-field", parts!(FarField), true),
            ("subsonic-inflow", parts!(reservoir(w)), true),
            ("lifted far-field", parts!(Lifted::<_, false>(FarField)), false),
        ] {
            let decays = |mu: f64| growth(&waves.add_scaled(mu, &diffusion), 6) < 1.0;
            let found = [1.0, 0.05].map(decays);
            assert_eq!(found.iter().all(|&x| x), stable, "{name} {cells:?}: {found:?}");
        }
    }
}
