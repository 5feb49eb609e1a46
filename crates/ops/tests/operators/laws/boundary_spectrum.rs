//! No pair of boundary conditions that meet at a corner lets the energy of a disturbance of uniform flow
//! grow.
//!
//! The operators of boxes with two cells a side are linearised about a flow that is slow or at Mach 0.3. The
//! symmetric part of the operator in the variables of [`linear`](crate::laws::linear) must not have a
//! positive eigenvalue; no eigenvalue of the operator has a positive real part then.
//!
//! `DGSUITE_FULL=1 cargo test --release -p dgsuite-ops --test operators boundary_spectrum -- --nocapture`
//! tries all combinations and prints their number.

use crate::laws::linear::{grows_slower_than, linearised};
use crate::testkit::{Cells, GAS, State, mesh};
use dgsuite_basis::Shape;
use dgsuite_gpu::{Host, SimdLevel};
use dgsuite_ops::{
    BoundaryBinding, BoundaryKernel, BoundaryOf, Discretization, Equation, PointKernels, Pointwise, Scheme,
};
use dgsuite_physics::{
    Backflow, Boundary, Euler, Exact, FarField, Given, Hll, Hllc, Law, NumericalFlux, Outflow, Prescribed,
    PressureOutlet, Roe, Rusanov, SlipWall, SubsonicInflow,
};
use std::sync::Arc;

/// The speed of sound is 1.
const PRESSURE: f64 = 1.0 / 1.4;
const SPEEDS: [f64; 4] = [0.0, 0.05, 0.3, -0.05];

#[derive(Clone, Copy, Debug, PartialEq)]
enum Condition {
    Dirichlet,
    FarField,
    Outlet,
    Inflow,
    Wall,
    /// All waves come from inside: not stable in subsonic flow.
    Outflow,
}

const CONDITIONS: [Condition; 5] =
    [Condition::Dirichlet, Condition::FarField, Condition::Outlet, Condition::Inflow, Condition::Wall];

/// The condition that the flow with the velocity `v` keeps, where `vn` of it leaves through the boundary.
fn kernel<const D: usize, const N: usize>(
    condition: Condition,
    vn: f64,
    v: [f64; 3],
) -> Box<dyn BoundaryKernel<f64>>
where
    Euler: Law<D, N>,
{
    fn of<B, const D: usize, const N: usize>(condition: B) -> Box<dyn BoundaryKernel<f64>>
    where
        Euler: Law<D, N>,
        B: Boundary<Euler, D, N>,
    {
        Box::new(BoundaryOf::<_, _, D, N> { law: GAS, condition })
    }
    // The total conditions of gas with the speed q that enters.
    let total = |q: f64| {
        let rise = if vn < 0.0 { 1.0 + 0.2 * q * q } else { 1.0 };
        (PRESSURE * rise.powf(3.5), PRESSURE * rise)
    };
    match condition {
        Condition::Dirichlet => of::<_, D, N>(Prescribed),
        Condition::FarField => of::<_, D, N>(FarField),
        Condition::Outflow => of::<_, D, N>(Outflow),
        Condition::Wall => of::<_, D, N>(SlipWall),
        Condition::Outlet => {
            let (p, temperature) = total(vn);
            let velocity = Some(Given::vector(v));
            let backflow = Some(Backflow { temperature: temperature.into(), gas_constant: 1.0, velocity });
            of::<_, D, N>(PressureOutlet { p: p.into(), backflow })
        }
        Condition::Inflow => {
            let q = v.iter().map(|v| v * v).sum::<f64>().sqrt();
            let (p, temperature) = total(q);
            of::<_, D, N>(SubsonicInflow {
                total_pressure: p.into(),
                total_temperature: temperature.into(),
                gas_constant: 1.0,
                direction: (q > 0.0).then(|| Given::vector(v.map(|v| v / q))),
            })
        }
    }
}

/// The linearised flow with the velocity `v` in a box with a condition for each boundary.
fn grows<F, const D: usize, const N: usize>(
    flux: F,
    cells: Cells,
    p: usize,
    v: [f64; 3],
    condition: impl Fn(&str) -> Condition,
) -> bool
where
    Euler: Law<D, N>,
    F: NumericalFlux<Euler, D, N>,
    Pointwise<Euler, F, D, N>: PointKernels<f64>,
{
    let mesh = mesh(cells, 2, 1, false);
    let mut w = vec![0.0; N];
    (w[0], w[N - 1]) = (1.0, PRESSURE);
    w[1..=D].copy_from_slice(&v[..D]);
    let state = w.clone();
    let state: Arc<dyn Exact> = Arc::new(State(N, move |_, _| state.clone()));
    let bindings = mesh
        .boundary_names()
        .into_iter()
        .map(|name| {
            let vn = match name {
                "xmin" => -v[0],
                "xmax" => v[0],
                "ymin" => -v[1],
                "ymax" => v[1],
                "zmin" => -v[2],
                _ => v[2],
            };
            let kernel = kernel::<D, N>(condition(name), vn, v);
            BoundaryBinding { name: name.to_owned(), kernel, data: Some(state.clone()) }
        })
        .collect();
    let equation = Equation::<f64>::from(Box::new(Pointwise::<_, _, D, N> { law: GAS, flux }));
    let host = Arc::new(Host::with_simd(1, SimdLevel::detect()).expect("a machine"));
    let mut d = Discretization::new(mesh, &Scheme::modal(p), equation, bindings, host)
        .expect("the discretisation is made");
    let a = linearised(&mut d, &w);
    // Rounding and differences.
    !grows_slower_than(&a, 1e-9 * a.norm_1())
}

/// The velocity of a flow along x at the speed `u`, with `a` on the boundaries across x and `b` along it;
/// `None` if there is none. It leaves or enters each open boundary at a small speed at least: conditions
/// switch where gas begins to enter, and there the operator has no derivative.
fn velocity(a: Condition, b: Condition, u: f64) -> Option<[f64; 3]> {
    let drift = |condition: Condition, v: f64| if condition == Condition::Wall { 0.0 } else { v };
    match (a, b) {
        (Condition::Wall, _) if u != 0.0 => None,
        // Reservoirs whose gas enters obliquely.
        (_, Condition::Inflow) if a != Condition::Wall => None,
        (Condition::Inflow, _) if u == 0.0 && b != Condition::Wall => None,
        _ => Some([drift(a, if u == 0.0 { 0.004 } else { u }), drift(b, 0.01), drift(b, 0.006)]),
    }
}

/// All pairs of conditions, in two arrangements: `a` at both ends and `b` along the flow, or `a` at one end
/// only.
fn pairs(u: f64) -> Vec<(Condition, Condition, bool)> {
    let mut all = Vec::new();
    for a in CONDITIONS {
        for b in CONDITIONS {
            if velocity(a, b, u).is_some() {
                all.push((a, b, true));
                if a != b && velocity(b, b, u).is_some() && a != Condition::Wall {
                    all.push((a, b, false));
                }
            }
        }
    }
    all
}

fn check<F, const D: usize, const N: usize>(
    flux: F,
    cells: Cells,
    p: usize,
    u: f64,
    pair: (Condition, Condition, bool),
) where
    Euler: Law<D, N>,
    F: NumericalFlux<Euler, D, N>,
    Pointwise<Euler, F, D, N>: PointKernels<f64>,
{
    let (a, b, both_ends) = pair;
    let v = velocity(a, b, u).expect("a flow");
    // In the plane nothing moves along z.
    let v = std::array::from_fn(|d| if d < D { v[d] } else { 0.0 });
    let condition = |name: &str| match name {
        "xmax" => a,
        "xmin" if both_ends => a,
        _ => b,
    };
    assert!(
        !grows::<F, D, N>(flux, cells, p, v, condition),
        "{a:?} beside {b:?} ({both_ends}), {}, {cells:?}, p = {p}, u = {u}",
        F::NAME
    );
}

/// Calls `check` for the flux with the number `i`, in the plane.
fn with_flux(i: usize, cells: Cells, p: usize, u: f64, pair: (Condition, Condition, bool)) {
    match i {
        0 => check::<_, 2, 4>(Rusanov, cells, p, u, pair),
        1 => check::<_, 2, 4>(Hll, cells, p, u, pair),
        2 => check::<_, 2, 4>(Hllc, cells, p, u, pair),
        3 => check::<_, 2, 4>(Roe::PLAIN, cells, p, u, pair),
        _ => check::<_, 2, 4>(Roe::LOW_MACH, cells, p, u, pair),
    }
}

/// Whether the combination with this number is tried: all of them on demand, else about 40.
fn is_tried(number: usize, of: usize) -> bool {
    std::env::var_os("DGSUITE_FULL").is_some() || number.is_multiple_of(of)
}

#[test]
fn no_pair_of_conditions_feeds_energy_in_the_plane() {
    let (mut number, mut tried) = (0, 0);
    for p in 1..=5 {
        for cells in [Cells::Of(Shape::Quadrilateral), Cells::Of(Shape::Triangle)] {
            for u in SPEEDS {
                for pair in pairs(u) {
                    for flux in 0..5 {
                        number += 1;
                        // Prime to the numbers of fluxes and speeds.
                        if is_tried(number, if p < 4 { 197 } else { 997 }) {
                            tried += 1;
                            with_flux(flux, cells, p, u, pair);
                        }
                    }
                }
            }
        }
    }
    println!("{tried} of {number} combinations in the plane: none grows");
}

#[test]
fn no_pair_of_conditions_feeds_energy_in_space() {
    let (mut number, mut tried) = (0, 0);
    let shapes = [Shape::Tetrahedron, Shape::Hexahedron, Shape::Prism, Shape::Pyramid];
    for p in 1..=2 {
        for shape in shapes {
            for u in SPEEDS {
                for pair in pairs(u) {
                    number += 1;
                    if is_tried(number, if p == 1 { 151 } else { 499 }) {
                        tried += 1;
                        // One flux, as each is compiled for space anew: the formulas are those of the plane.
                        check::<_, 3, 5>(Rusanov, Cells::Of(shape), p, u, pair);
                    }
                }
            }
        }
    }
    println!("{tried} of {number} combinations in space: none grows");
}

#[test]
fn outflow_of_slow_gas_feeds_energy() {
    // Otherwise the tests above would prove nothing. This is why the program warns of it.
    let quad = Cells::Of(Shape::Quadrilateral);
    assert!(grows::<_, 2, 4>(Hllc, quad, 2, [0.3, 0.01, 0.0], |name| match name {
        "xmax" => Condition::Outflow,
        _ => Condition::FarField,
    }));
}
