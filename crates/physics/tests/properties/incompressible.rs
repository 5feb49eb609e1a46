//! Properties of the laws, fluxes and boundary conditions of incompressible flow.

use crate::states::*;
use dgsuite_physics::incompressible::{OpenPressure, VelocityFirst, wall_force};
use dgsuite_physics::{
    Boundary, Central, Convection, Dual, Incompressible, InflowProtected, Law, NumericalFlux, Outflow,
    Penalty, PenaltyFlux, Prescribed, Rusanov, Transport, TransportFlux, ZeroNormalVelocity, ZeroPressure,
    ZeroVelocity,
};
use proptest::prelude::*;

const CONVECTION: Convection = Convection { factor: 1.5 };
const COUPLING: Incompressible = Incompressible { viscosity: 0.1 };
const TRANSPORT: Transport = Transport { factor: 1.0 };

type Numbers = [f64; 6];

fn numbers() -> impl Strategy<Value = Numbers> {
    prop::array::uniform6(-4.0..4.0f64)
}

fn first<const N: usize>(x: &Numbers) -> [f64; N] {
    std::array::from_fn(|k| x[k])
}

/// Size of the products of two states, the scale of rounding errors.
fn size<const N: usize>(a: &Numbers, b: &Numbers) -> [f64; N] {
    let most = a.iter().chain(b).fold(0.0f64, |m, x| m.max(x.abs()));
    [1.0 + 10.0 * most * (1.0 + most * most); N]
}

/// Runs a check for each law with its flux, in both dimensions.
macro_rules! for_each {
    ($check:ident, $arguments:tt) => {
        for_each!(@one $check, CONVECTION, Rusanov, 2, 2, $arguments);
        for_each!(@one $check, CONVECTION, Rusanov, 3, 3, $arguments);
        for_each!(@one $check, CONVECTION, Central, 3, 3, $arguments);
        for_each!(@one $check, COUPLING, Central, 2, 3, $arguments);
        for_each!(@one $check, COUPLING, Central, 3, 4, $arguments);
        for_each!(@one $check, Penalty, PenaltyFlux, 2, 4, $arguments);
        for_each!(@one $check, Penalty, PenaltyFlux, 3, 5, $arguments);
        for_each!(@one $check, TRANSPORT, TransportFlux, 2, 4, $arguments);
        for_each!(@one $check, TRANSPORT, TransportFlux, 3, 6, $arguments);
    };
    (@one $check:ident, $law:ident, $flux:ident, $d:literal, $n:literal, ($($argument:expr),*)) => {
        $check::<_, _, $d, $n>(&$law, $flux, $($argument),*);
    };
}

fn normal_fluxes_are_sums<L, F, const D: usize, const N: usize>(
    law: &L,
    _: F,
    a: &Numbers,
    b: &Numbers,
    n: [f64; 3],
) where
    L: Law<D, N>,
    F: NumericalFlux<L, D, N>,
{
    let (um, up): ([f64; N], [f64; N]) = (first(a), first(b));
    let long: [f64; D] = std::array::from_fn(|d| -2.5 * n[d]);
    let f = law.flux(&um);
    let sum = std::array::from_fn(|k| (0..D).map(|d| f[d][k] * long[d]).sum());
    assert_close(L::NAME, &law.normal_flux(&um, &long), &sum, &size(a, a), 1e-14);

    let n = unit::<D>(n);
    let (both, speed) = law.flux_sum_and_speed(&um, &up, &n);
    let (fm, fp) = (law.normal_flux(&um, &n), law.normal_flux(&up, &n));
    assert_close(L::NAME, &both, &std::array::from_fn(|k| fm[k] + fp[k]), &size(a, b), 1e-14);
    assert_eq!(speed, law.normal_speed(&um, &n).max(law.normal_speed(&up, &n)), "{}", L::NAME);
    assert!(law.normal_speed(&um, &n) <= law.max_speed(&um) * (1.0 + 1e-14), "{}", L::NAME);
    assert_eq!(law.to_conserved(&law.to_primitive(&um)), um);
    assert_eq!(law.variables(), law.primitives());
    assert_eq!(law.admissibility(&um), 1.0);
    for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        for k in 0..N {
            let mut u = um;
            u[k] = bad;
            assert_eq!(law.admissibility(&u), 0.0, "{} with {bad} in {k}", L::NAME);
        }
    }
}

fn antisymmetric_and_scaled<L, F, const D: usize, const N: usize>(
    law: &L,
    flux: F,
    a: &Numbers,
    b: &Numbers,
    n: [f64; 3],
) where
    L: Law<D, N>,
    F: NumericalFlux<L, D, N>,
{
    let (um, up, n): ([f64; N], [f64; N], _) = (first(a), first(b), unit::<D>(n));
    let forth = flux.eval(law, &um, &up, &n);
    let back = flux.eval(law, &up, &um, &n.map(|x| -x)).map(|f| -f);
    assert_close(F::NAME, &forth, &back, &size(a, b), 1e-14);
    assert_eq!(flux.eval_scaled(law, &um, &up, &n, 0.37), forth.map(|f| f * 0.37), "{}", F::NAME);
    let same = flux.eval(law, &um, &um, &n);
    // The flux of the penalties is zero without a jump; the others are consistent.
    let expected = if F::NAME == "penalty" { [0.0; N] } else { law.normal_flux(&um, &n) };
    assert_close(F::NAME, &same, &expected, &size(a, a), 1e-14);
}

/// `∂(F·n)/∂u r` by dual numbers.
fn jacobian<const D: usize>(u: &[f64; D], n: &[f64; D], r: &[f64; D]) -> [f64; D] {
    let seeded = std::array::from_fn(|k| Dual::new(u[k], r[k]));
    CONVECTION.normal_flux(&seeded, &n.map(Dual::constant)).map(|f| f.derivative)
}

fn eigenvalues_of_convection<const D: usize>(a: &Numbers, n: [f64; 3]) {
    let (u, n): ([f64; D], _) = (first(a), unit::<D>(n));
    let un = dot(&u, &n);
    assert_close("u", &jacobian(&u, &n, &u), &u.map(|x| 2.0 * un * x), &size(a, a), 1e-14);
    let mut across = [0.0; D];
    (across[0], across[1]) = (-n[1], n[0]);
    assert_close("shear", &jacobian(&u, &n, &across), &across.map(|x| un * x), &size(a, a), 1e-14);
    assert!((Convection { factor: 2.0 }.normal_speed(&u, &n) - (2.0 * un).abs()).abs() < 1e-14);
}

/// Jumps of the normal velocity lose energy, tangential jumps do not.
fn penalty_dissipates<const D: usize, const N: usize>(a: &Numbers, b: &Numbers, n: [f64; 3])
where
    Penalty: Law<D, N>,
    PenaltyFlux: NumericalFlux<Penalty, D, N>,
{
    let (mut um, mut up, n): ([f64; N], [f64; N], _) = (first(a), first(b), unit::<D>(n));
    (um[D + 1], up[D + 1]) = (um[D + 1].abs(), up[D + 1].abs());
    let f: [f64; D] = first_of(&PenaltyFlux.eval(&Penalty, &um, &up, &n));
    let jump: [f64; D] = std::array::from_fn(|d| um[d] - up[d]);
    let c = 0.5 * (um[D + 1] + up[D + 1]);
    let loss = dot(&jump, &f);
    assert!(loss >= 0.0 && (loss - c * dot(&jump, &n).powi(2)).abs() <= 1e-12 * (1.0 + loss));
    assert_eq!(PenaltyFlux.eval(&Penalty, &um, &up, &n)[D..], [0.0; N][D..]);
}

fn first_of<const D: usize, const N: usize>(x: &[f64; N]) -> [f64; D] {
    std::array::from_fn(|d| x[d])
}

fn transport_is_upwind<const D: usize, const N: usize>(a: &Numbers, b: &Numbers, n: [f64; 3])
where
    Transport: Law<D, N>,
    TransportFlux: NumericalFlux<Transport, D, N>,
{
    let (um, mut up, n): ([f64; N], [f64; N], _) = (first(a), first(b), unit::<D>(n));
    let rusanov = Rusanov.eval(&TRANSPORT, &um, &up, &n);
    let f = TransportFlux.eval(&TRANSPORT, &um, &up, &n);
    assert_close(
        "rows of the advected velocity",
        &first_of(&f),
        &first_of::<D, N>(&rusanov),
        &size(a, b),
        1e-14,
    );
    assert_eq!(f[D..], [0.0; N][D..], "the given velocity does not change");
    up[D..].copy_from_slice(&um[D..]);
    let un = dot(&Transport::velocity(&um, 1), &n);
    let from = if un > 0.0 { um } else { up };
    let f = TransportFlux.eval(&TRANSPORT, &um, &up, &n);
    assert_close(
        "upwind",
        &first_of(&f),
        &std::array::from_fn::<_, D, _>(|k| un * from[k]),
        &size(a, b),
        1e-14,
    );
}

/// The values that the central flux sees: `(p* n, u*·n)`.
fn homogeneous_conditions<const D: usize, const N: usize>(a: &Numbers, n: [f64; 3])
where
    Incompressible: Law<D, N>,
{
    let (u, n): ([f64; N], _) = (first(a), unit::<D>(n));
    let none = [f64::NAN; N];
    let flux = |up: [f64; N]| Central.eval(&COUPLING, &u, &up, &n);
    let expected = |p: f64, un: f64| std::array::from_fn(|k| if k < D { p * n[k] } else { un });
    let (p, un) = (u[D], dot(&Incompressible::velocity(&u, 0), &n));
    let close = |name: &str, f: [f64; N], e: [f64; N]| assert_close(name, &f, &e, &size(a, a), 1e-14);
    close("wall", flux(ZeroVelocity.outer(&COUPLING, &u, &n, &none)), expected(p, 0.0));
    close("open", flux(ZeroPressure.outer(&COUPLING, &u, &n, &none)), expected(0.0, un));
    close("symmetry", flux(ZeroNormalVelocity.outer(&COUPLING, &u, &n, &none)), expected(p, 0.0));
    let reflected = ZeroNormalVelocity.outer(&COUPLING, &u, &n, &none);
    let back = ZeroNormalVelocity.outer(&COUPLING, &reflected, &n, &none);
    close("reflected twice", back, u);
    let (v, r) = (Incompressible::velocity(&u, 0), Incompressible::velocity(&reflected, 0));
    assert!((dot(&v, &v) - dot(&r, &r)).abs() < 1e-13 * size::<1>(a, a)[0], "the speed is kept");
}

/// The central flux of a linear symmetric law neither adds nor removes energy.
fn coupling_conserves_energy<const D: usize, const N: usize>(a: &Numbers, b: &Numbers, n: [f64; 3])
where
    Incompressible: Law<D, N>,
{
    let (um, up, n): ([f64; N], [f64; N], _) = (first(a), first(b), unit::<D>(n));
    let f = Central.eval(&COUPLING, &um, &up, &n);
    let inside = |u: &[f64; N]| 0.5 * dot(u, &COUPLING.normal_flux(u, &n));
    let balance = dot(&um, &f) - dot(&up, &f) - inside(&um) + inside(&up);
    assert!(balance.abs() < 1e-13 * size::<1>(a, b)[0], "{balance:e}");
}

fn conditions_of_convection<const D: usize>(a: &Numbers, b: &Numbers, n: [f64; 3]) {
    let (u, g, n): ([f64; D], [f64; D], _) = (first(a), first(b), unit::<D>(n));
    let un = dot(&u, &n);
    let mirrored = ZeroNormalVelocity.outer(&CONVECTION, &u, &n, &g);
    let f = Rusanov.eval(&CONVECTION, &u, &mirrored, &n);
    let push = un * un + CONVECTION.normal_speed(&u, &n) * un;
    assert_close("symmetry", &f, &n.map(|n| push * n), &size(a, b), 1e-14);
    assert_eq!(InflowProtected.outer(&CONVECTION, &u, &n, &g), if un < 0.0 { g } else { u });
    assert_eq!(Prescribed.outer(&CONVECTION, &u, &n, &g), g);
    assert_eq!(Outflow.outer(&CONVECTION, &u, &n, &g), u);
    assert_eq!(ZeroVelocity.outer(&CONVECTION, &u, &n, &g), u.map(|x| -x));
}

proptest! {
    #![proptest_config(config(256))]

    #[test]
    fn laws_add_their_fluxes_and_bound_their_speeds(a in numbers(), b in numbers(), n in direction()) {
        for_each!(normal_fluxes_are_sums, (&a, &b, n));
    }

    #[test]
    fn fluxes_are_conservative_and_but_one_consistent(a in numbers(), b in numbers(), n in direction()) {
        for_each!(antisymmetric_and_scaled, (&a, &b, n));
    }

    #[test]
    fn twice_the_normal_velocity_is_the_spectral_radius_of_convection(a in numbers(), n in direction()) {
        eigenvalues_of_convection::<2>(&a, n);
        eigenvalues_of_convection::<3>(&a, n);
    }

    #[test]
    fn penalties_dissipate_jumps_of_the_normal_velocity(a in numbers(), b in numbers(), n in direction()) {
        penalty_dissipates::<2, 4>(&a, &b, n);
        penalty_dissipates::<3, 5>(&a, &b, n);
    }

    #[test]
    fn transport_is_upwind_and_keeps_the_given_velocity(a in numbers(), b in numbers(), n in direction()) {
        transport_is_upwind::<2, 4>(&a, &b, n);
        transport_is_upwind::<3, 6>(&a, &b, n);
    }

    #[test]
    fn the_coupling_of_velocity_and_pressure_conserves_energy(a in numbers(), b in numbers(), n in direction()) {
        coupling_conserves_energy::<2, 3>(&a, &b, n);
        coupling_conserves_energy::<3, 4>(&a, &b, n);
    }

    #[test]
    fn homogeneous_conditions_set_the_values_of_the_central_flux(a in numbers(), n in direction()) {
        homogeneous_conditions::<2, 3>(&a, n);
        homogeneous_conditions::<3, 4>(&a, n);
    }

    #[test]
    fn convection_is_reflected_protected_and_prescribed(a in numbers(), b in numbers(), n in direction()) {
        conditions_of_convection::<2>(&a, &b, n);
        conditions_of_convection::<3>(&a, &b, n);
    }

    #[test]
    fn the_given_velocity_decides_where_transport_enters(a in numbers(), b in numbers(), n in direction()) {
        let n = unit::<3>(n);
        let enters = dot(&Transport::velocity(&a, 1), &n) < 0.0;
        prop_assert_eq!(InflowProtected.outer(&TRANSPORT, &a, &n, &b), if enters { b } else { a });
        let r = ZeroNormalVelocity.outer(&TRANSPORT, &a, &n, &b);
        for vector in 0..2 {
            let sum = dot(&Transport::velocity(&r, vector), &n) + dot(&Transport::velocity(&a, vector), &n);
            prop_assert!(sum.abs() < 1e-13);
        }
    }

    #[test]
    fn walls_double_the_jump_of_the_penalty_and_outflow_has_none(a in numbers(), n in direction()) {
        let (u, n): ([f64; 5], _) = (first(&a), unit::<3>(n));
        let un = dot(&Penalty::velocity(&u, 0), &n);
        let expected = std::array::from_fn(|k| if k < 3 { 2.0 * u[4] * un * n[k] } else { 0.0 });
        let sizes = size::<5>(&a, &a);
        let flux = |up: [f64; 5]| PenaltyFlux.eval(&Penalty, &u, &up, &n);
        assert_close("wall", &flux(ZeroVelocity.outer(&Penalty, &u, &n, &u)), &expected, &sizes, 1e-14);
        assert_close("symmetry", &flux(ZeroNormalVelocity.outer(&Penalty, &u, &n, &u)), &expected, &sizes, 1e-14);
        prop_assert_eq!(flux(Outflow.outer(&Penalty, &u, &n, &u)), [0.0; 5]);
    }
}

#[test]
fn names_of_laws_unknowns_and_conditions() {
    assert_eq!(Law::<2, 2>::variables(&CONVECTION), ["u", "v"]);
    assert_eq!(Law::<3, 3>::variables(&CONVECTION), ["u", "v", "w"]);
    assert_eq!(Law::<2, 3>::primitives(&COUPLING), ["u", "v", "p"]);
    assert_eq!(Law::<3, 4>::primitives(&COUPLING), ["u", "v", "w", "p"]);
    assert_eq!(<Incompressible as Law<2, 3>>::NAME, "incompressible");
    fn describe<B: Boundary<Incompressible, 2, 3>>(_: B) -> (&'static str, bool) {
        (B::NAME, B::USES_DATA)
    }
    assert_eq!(describe(ZeroVelocity), ("zero-velocity", false));
    assert_eq!(describe(ZeroPressure), ("zero-pressure", false));
    assert_eq!(describe(ZeroNormalVelocity), ("zero-normal-velocity", false));
    assert_eq!(describe(InflowProtected), ("inflow-protected", true));
}

proptest! {
    #![proptest_config(config(256))]

    #[test]
    fn convection_and_transport_are_the_rate_of_change_along_the_flow(
        u in numbers(), slopes in prop::array::uniform3(prop::array::uniform6(-2.0..2.0f64)),
    ) {
        // Σ_d ∂F_d/∂x_d by central differences, exact for products of two linear functions, against
        // (ū·∇)ũ + ũ ∇·ū. The states (ũ, ū) and their slopes are numbers of their own; convection has ū = ũ.
        fn divergence<L: Law<3, N>, const N: usize>(law: &L, u: &[f64; N], slopes: &[[f64; N]; 3]) -> [f64; N] {
            let mut sum = [0.0; N];
            for d in 0..3 {
                let flux = |h: f64| law.flux(&std::array::from_fn(|k| u[k] + h * slopes[d][k]))[d];
                let (after, before) = (flux(0.5), flux(-0.5));
                (0..N).for_each(|k| sum[k] += after[k] - before[k]);
            }
            sum
        }
        let along = |i: usize, given: usize| -> f64 {
            (0..3).map(|d| u[given + d] * slopes[d][i] + u[i] * slopes[d][given + d]).sum()
        };
        let transport = divergence(&TRANSPORT, &u, &slopes);
        let convection = divergence(&CONVECTION, &first(&u), &slopes.map(|slope| first::<3>(&slope)));
        for i in 0..3 {
            prop_assert!((transport[i] - along(i, 3)).abs() < 1e-12, "{transport:?}");
            prop_assert!((convection[i] - along(i, 0)).abs() < 1e-12, "{convection:?}");
            prop_assert_eq!(transport[3 + i], 0.0);
        }
    }

    #[test]
    fn fluid_that_enters_through_an_open_boundary_gains_no_energy(
        a in numbers(), n in direction(), width in 1e-3..1.0f64,
    ) {
        let (u, n): ([f64; 3], _) = (first(&a), unit::<3>(n));
        let open = OpenPressure { viscosity: 0.3, width };
        let (un, energy) = (dot(&u, &n), 0.5 * dot(&u, &u));
        let p = open.pressure(&u, &[0.0; 3], &n);
        prop_assert!(-energy <= p && p <= 0.0, "{p} beyond {energy}");
        let gain = un * (-energy - p);
        prop_assert!(gain <= 0.14 * width * energy + 1e-14, "{gain} at n·u = {un}");
        // Both sides of the step add up, and the viscous term is linear.
        let other = open.pressure(&u.map(|x| -x), &[0.0; 3], &n);
        prop_assert!((p + other + energy).abs() < 1e-13 * (1.0 + energy));
        let slope = [a[3], a[4], a[5]];
        let viscous = open.pressure(&u, &slope, &n) - p;
        prop_assert!((viscous - 0.3 * dot(&slope, &n)).abs() < 1e-13 * (1.0 + energy));
    }

    #[test]
    fn friction_does_the_work_of_dissipation_and_rotation_has_none(
        grad in prop::array::uniform3(prop::array::uniform3(-2.0..2.0f64)), n in direction(), p in -2.0..2.0f64,
    ) {
        let n = unit::<3>(n);
        let (push, friction) = wall_force(0.3, p, &grad, &n);
        prop_assert_eq!(push, n.map(|n| p * n));
        // τ = 2 ν S is symmetric: a·τ b = b·τ a for the normals a = n and b = e_i.
        for i in 0..3 {
            let mut e = [0.0; 3];
            e[i] = 1.0;
            let (_, other) = wall_force(0.3, p, &grad, &e);
            prop_assert!((friction[i] - dot(&other, &n)).abs() < 1e-14);
        }
        // Rigid rotation, ∇u antisymmetric, has no friction.
        let spin = std::array::from_fn(|d| std::array::from_fn(|i| grad[d][i] - grad[i][d]));
        prop_assert!(wall_force(0.3, p, &spin, &n).1.iter().all(|f| f.abs() < 1e-14));
        // Σ_d τ e_d·∂u/∂x_d = 2 ν |S|², the dissipation.
        let axes = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
        let work: f64 = (0..3).map(|d| -dot(&wall_force(0.3, p, &grad, &axes[d]).1, &grad[d])).sum();
        let strain = |d: usize, i: usize| 0.5 * (grad[d][i] + grad[i][d]);
        let square: f64 = (0..9).map(|k| strain(k / 3, k % 3).powi(2)).sum();
        prop_assert!((work - 2.0 * 0.3 * square).abs() < 1e-13);
    }
}
