//! Tangents: the first half is the wrapped formula, the second half its derivative.

use crate::states::{GAS, Gas, assert_close, config, direction, flux_scale, unit};
use crate::tangent_pairs::*;
use dgsuite_physics::exact::{ClosedForm, EntropyWave};
use dgsuite_physics::incompressible::ElementwiseFlux;
use dgsuite_physics::reaction::{BodyForce, Reaction, Sponge};
use dgsuite_physics::two_point::{self, KennedyGruber, Ranocha};
use dgsuite_physics::{
    Boundary, Central, CurvedSlipWall, Diffusion, DiffusiveBoundary, Dual, Euler, Exact, FaceMean, FarField,
    GivenVelocity, Hllc, InflowProtected, Lanes, Law, NavierStokes, NoDiffusion, NumericalFlux, Outflow,
    Penalty, PenaltyFlux, Prescribed, PressureOutlet, Roe, Rusanov, ScalarDiffusion, Tangent, TransportFlux,
    TwoPointFlux, ZeroNormalVelocity, ZeroPressure, ZeroVelocity, gas_fluxes,
};
use proptest::prelude::*;
use std::sync::Arc;

const SPARING: Roe = Roe { mean: FaceMean::KennedyGruber, dissipation: 0.2, ..Roe::LOW_MACH };
const SPLIT: Roe = Roe { mean: FaceMean::Ranocha, dissipation: 0.3, ..Roe::PLAIN };

/// Two states with two directions each, and a normal.
#[derive(Clone, Copy, Debug)]
struct Point<const D: usize, const N: usize> {
    state: [[f64; N]; 2],
    along: [[f64; N]; 2],
    other: [[f64; N]; 2],
    n: [f64; D],
}

/// A state and its direction.
fn joined<const N: usize, const M: usize>(u: &[f64; N], v: &[f64; N]) -> [f64; M] {
    std::array::from_fn(|k| if k < N { u[k] } else { v[k - N] })
}

fn first<R: Copy, const N: usize, const M: usize>(f: &[R; M]) -> [R; N] {
    std::array::from_fn(|k| f[k])
}

fn second<R: Copy, const N: usize, const M: usize>(f: &[R; M]) -> [R; N] {
    std::array::from_fn(|k| f[N + k])
}

/// The derivative along the directions.
fn slope<const D: usize, const N: usize, const M: usize>(
    pair: &dyn Numbers<D, N, M>,
    point: &Point<D, N>,
    along: [[f64; N]; 2],
) -> [f64; N] {
    let [a, b] = [0, 1].map(|side| joined(&point.state[side], &along[side]));
    second(&pair.tangent(&a, &b, &point.n))
}

/// The derivative along the directions from central differences, extrapolated from two steps. `None` if a
/// kink may lie between: then the two differences, or twice the jump of the slopes over the short step and
/// that over the long one, disagree.
fn differences<const D: usize, const N: usize, const M: usize>(
    pair: &dyn Numbers<D, N, M>,
    point: &Point<D, N>,
    size: &[f64; N],
) -> Option<[f64; N]> {
    let at = |h: f64| {
        let Point { state, along, n, .. } = point;
        let [a, b] = [0, 1].map(|s| std::array::from_fn(|k| state[s][k] + h * along[s][k]));
        pair.inner(&a, &b, n)
    };
    let (h, middle) = (1e-5, at(0.0));
    let of_step = |h: f64| {
        let (ahead, behind) = (at(h), at(-h));
        let slope: [f64; N] = std::array::from_fn(|k| (ahead[k] - behind[k]) / (2.0 * h));
        let jump: [f64; N] = std::array::from_fn(|k| (ahead[k] - 2.0 * middle[k] + behind[k]) / h);
        (slope, jump)
    };
    let ((long, bend), (short, half)) = (of_step(h), of_step(0.5 * h));
    let smooth = |k: usize| {
        let bound = 1e-8 * size[k];
        (long[k] - short[k]).abs() <= bound && (2.0 * half[k] - bend[k]).abs() <= bound
    };
    (0..N).all(smooth).then(|| std::array::from_fn(|k| (4.0 * short[k] - long[k]) / 3.0))
}

/// Checks one formula at one point. The names of the steps say what holds.
fn check<const D: usize, const N: usize, const M: usize>(
    name: &str,
    pair: &dyn Numbers<D, N, M>,
    point: Point<D, N>,
) {
    let Point { state, along, other, n } = point;
    let [a, b] = [0, 1].map(|side| joined::<N, M>(&state[side], &along[side]));
    let whole = pair.tangent(&a, &b, &n);
    let (value, derivative): ([f64; N], [f64; N]) = (first(&whole), second(&whole));

    let plain = pair.inner(&state[0], &state[1], &n);
    assert_eq!(value.map(f64::to_bits), plain.map(f64::to_bits), "{name}: bits of {value:?}, {plain:?}");

    // The derivative from the columns of the Jacobian, one for each unknown of both sides.
    let mut columns = [0.0; N];
    let mut size = [0.0; N];
    for side in 0..2 {
        for j in 0..N {
            let seed = |s: usize| {
                std::array::from_fn(|k| Dual::new(state[s][k], if s == side && k == j { 1.0 } else { 0.0 }))
            };
            let column = pair.inner_dual(&seed(0), &seed(1), &n);
            for k in 0..N {
                let term = column[k].derivative * along[side][j];
                columns[k] += term;
                size[k] += term.abs();
            }
        }
    }
    // Terms may cancel within the formula; all numbers here are of size 1.
    let most = size.iter().chain(along.as_flattened()).fold(0.0_f64, |most, s| most.max(s.abs()));
    let sizes = size.map(|s| s + 0.01 * most);
    assert_close(&format!("{name}: Jacobian"), &derivative, &columns, &sizes, 1e-12);

    let tolerance: [f64; N] = std::array::from_fn(|k| sizes[k] + plain[k].abs());
    if let Some(expected) = differences(pair, &point, &tolerance) {
        assert_close(&format!("{name}: differences"), &derivative, &expected, &tolerance, 1e-7);
    }

    let twice = slope(pair, &point, along.map(|v| v.map(|v| 2.0 * v)));
    assert_eq!(twice, derivative.map(|d| 2.0 * d), "{name}: twice the direction");
    let added = std::array::from_fn(|s| std::array::from_fn(|k| along[s][k] + other[s][k]));
    let apart = slope(pair, &point, other);
    let both: [f64; N] = std::array::from_fn(|k| derivative[k] + apart[k]);
    let with_other = slope(pair, &point, added);
    // The size of the terms is that of this direction, and others are not much longer.
    assert_close(&format!("{name}: sum of directions"), &with_other, &both, &[100.0 * most; N], 1e-13);
    let none = slope(pair, &point, [[0.0; N]; 2]);
    assert_eq!(none, [0.0; N], "{name}: no direction");

    // Lanes with the sides one way and the other.
    let pack = |u: &[f64; M], v: &[f64; M]| std::array::from_fn(|k| Lanes([u[k], v[k]]));
    let lanes = pair.tangent_lanes(&pack(&a, &b), &pack(&b, &a), &n);
    let exchanged = pair.tangent(&b, &a, &n);
    for (i, one) in [whole, exchanged].into_iter().enumerate() {
        assert_eq!(lanes.map(|f| f.0[i].to_bits()), one.map(f64::to_bits), "{name}: lane {i}");
    }
}

/// Calls `check` for each pair of a list.
macro_rules! check_all {
    ($point:expr, $d:expr, $n:expr, $m:expr; $($name:literal $pair:expr;)*) => {
        $( check::<$d, $n, $m>($name, &$pair, $point); )*
    };
}

/// Everything that a gas has, in three dimensions.
fn in_space(point: Point<3, 5>) {
    macro_rules! each_flux {
        ($($variant:ident $word:literal $value:expr, $text:literal;)*) => {
            $( check::<3, 5, 10>($word, &Flux(gas(), $value), point); )*
        };
    }
    gas_fluxes!(each_flux! {});
    macro_rules! each_wall {
        ($($name:ident $wall:expr;)*) => {
            $(
                check::<3, 5, 10>(stringify!($name), &Outer(gas(), $wall), point);
                for ns in viscous_gases() {
                    check::<3, 5, 10>(stringify!($name), &Face(ns, $wall), point);
                }
            )*
        };
    }
    dgsuite_physics::walls!(each_wall! {});
    check_all! { point, 3, 5, 10;
        "euler" OfLaw(gas());
        "roe with a share" Flux(gas(), SPARING);
        "roe about Ranocha" Flux(gas(), SPLIT);
        "central" Flux(gas(), Central);
        "elementwise" Flux(gas(), ElementwiseFlux);
        "kennedy-gruber" Split(gas(), KennedyGruber);
        "ranocha" Split(gas(), Ranocha);
        "central split" Split(gas(), two_point::Central);
        "prescribed" Outer(gas(), Prescribed);
        "outflow" Outer(gas(), Outflow);
        "curved wall" Outer(gas(), CurvedSlipWall);
        "moving wall" Outer(gas(), MOVING_WALL);
        "far field" Outer(gas(), FarField);
        "outlet" Outer(gas(), PressureOutlet::at(0.7));
        "given outlet" Outer(gas(), GIVEN_OUTLET);
        "inflow" Outer(gas(), INFLOW);
        "given inflow" Outer(gas(), GIVEN_INFLOW);
        "no diffusion" Viscous(NoDiffusion);
    }
    for ns in viscous_gases() {
        check_all! { point, 3, 5, 10;
            "navier-stokes" Viscous(ns);
            "face: moving wall" Face(ns, MOVING_WALL);
            "face: given wall" Face(ns, GIVEN_WALL);
            "face: warm wall" Face(ns, WARM_WALL);
            "face: prescribed" Face(ns, Prescribed);
            "face: outflow" Face(ns, Outflow);
            "face: far field" Face(ns, FarField);
            "face: outlet" Face(ns, GIVEN_OUTLET);
            "face: inflow" Face(ns, GIVEN_INFLOW);
        }
    }
    check_all! { point, 3, 5, 10;
        "force" Rate(BodyForce, [0.3, -0.7, 0.2]);
        "sponge" Rate(Sponge, [0.7, 1.0, 0.1, 0.2, 0.3, 2.5]);
        "cooling" Rate(cooling::<3, 5>(), [0.5, -0.25, 0.0]);
    }
}

/// One formula of each kind in two dimensions; a test of all would take long to compile.
fn in_the_plane(point: Point<2, 4>) {
    let [constant, sutherland, _] = viscous_gases();
    check_all! { point, 2, 4, 8;
        "euler" OfLaw(gas());
        "rusanov" Flux(gas(), Rusanov);
        "hllc" Flux(gas(), Hllc);
        "kennedy-gruber" Split(gas(), KennedyGruber);
        "far field" Outer(gas(), FarField);
        "navier-stokes" Viscous(constant);
        "navier-stokes" Viscous(sutherland);
        "face: given wall" Face(sutherland, GIVEN_WALL);
        "force" Rate(BodyForce, [0.3, -0.7]);
        "sponge" Rate(Sponge, [0.7, 1.0, 0.1, 0.2, 2.5]);
        "cooling" Rate(cooling::<2, 4>(), [0.5, -0.25, 0.0]);
    }
}

/// Both states come from gases near each other in size, whose Mach numbers are up to 2, so that errors of
/// differences are those of the formulas.
fn mild() -> impl Strategy<Value = Gas> {
    (0.4..2.5f64, prop::array::uniform3(-1.5..1.5f64), 0.4..2.5f64).prop_map(|(rho, v, p)| Gas { rho, v, p })
}

fn directions() -> impl Strategy<Value = [[f64; 6]; 4]> {
    prop::array::uniform4(prop::array::uniform6(-1.0..1.0f64))
}

/// The first components of some directions.
fn point<const D: usize, const N: usize>(state: [[f64; N]; 2], v: [[f64; 6]; 4], n: [f64; 3]) -> Point<D, N> {
    let v = v.map(|v| std::array::from_fn(|k| v[k]));
    Point { state, along: [v[0], v[1]], other: [v[2], v[3]], n: unit::<D>(n) }
}

fn gas_point<const D: usize, const N: usize>(a: Gas, b: Gas, v: [[f64; 6]; 4], n: [f64; 3]) -> Point<D, N>
where
    Euler: Law<D, N>,
{
    point([a.state::<D, N>(), b.state::<D, N>()], v, n)
}

/// Consistency, `f*(u, u) = F(u)·n`, and equal fluxes from both sides, for values and derivatives.
fn of_both_sides<F, const D: usize, const N: usize, const M: usize>(name: &str, flux: F, point: Point<D, N>)
where
    Euler: Law<D, N>,
    F: NumericalFlux<Tangent<Euler, N>, D, M>,
{
    let Point { state, along, n, .. } = point;
    let law = Tangent::<_, N>(GAS);
    let [a, b] = [0, 1].map(|side| joined::<N, M>(&state[side], &along[side]));
    let one = flux_scale::<D, N>(&[&state[0]]);
    // The Jacobian is of the size of the fluxes for these states and directions.
    let size = |s: [f64; N]| joined::<N, M>(&s, &[s.iter().sum(); N]);
    assert_close(name, &flux.eval(&law, &a, &a, &n), &law.normal_flux(&a, &n), &size(one), 1e-13);
    let both = flux_scale::<D, N>(&[&state[0], &state[1]]);
    let back = flux.eval(&law, &b, &a, &n.map(|n| -n)).map(|f| -f);
    assert_close(name, &flux.eval(&law, &a, &b, &n), &back, &size(both), 1e-12);
}

fn consistent_and_conservative<const D: usize, const N: usize, const M: usize>(point: Point<D, N>)
where
    Euler: Law<D, N>,
{
    macro_rules! each_flux {
        ($($variant:ident $word:literal $value:expr, $text:literal;)*) => {
            $( of_both_sides::<_, D, N, M>($word, Tangent::<_, N>($value), point); )*
        };
    }
    gas_fluxes!(each_flux! {});
    of_both_sides::<_, D, N, M>("sparing", Tangent::<_, N>(SPARING), point);
    let shared = NumericalFlux::<Tangent<Euler, N>, D, M>::with_share(
        Tangent::<_, N>(Roe::PLAIN),
        SPLIT.dissipation,
        SPLIT.mean,
    );
    assert_eq!(shared, Tangent(SPLIT));
}

/// The derivative of a symmetric two-point flux is symmetric, and consistent.
fn symmetric<F, const D: usize, const N: usize, const M: usize>(name: &str, flux: F, point: Point<D, N>)
where
    Euler: Law<D, N>,
    F: TwoPointFlux<Tangent<Euler, N>, D, M>,
{
    let Point { state, along, n, .. } = point;
    let law = Tangent::<_, N>(GAS);
    let [a, b] = [0, 1].map(|side| joined::<N, M>(&state[side], &along[side]));
    let size: f64 = flux_scale::<D, N>(&[&state[0], &state[1]]).iter().sum();
    assert_close(name, &flux.eval(&law, &a, &b, &n), &flux.eval(&law, &b, &a, &n), &[size; M], 1e-13);
    assert_close(name, &flux.eval(&law, &a, &a, &n), &law.normal_flux(&a, &n), &[size; M], 1e-13);
}

/// What bounds the step does not depend on the direction.
fn bounds_are_those_of_the_state<const D: usize, const N: usize, const M: usize>(point: Point<D, N>)
where
    Euler: Law<D, N>,
    NavierStokes: Diffusion<D, N>,
{
    let Point { state: [u, up], along: [v, vp], n, .. } = point;
    let law = Tangent::<_, N>(GAS);
    let wild: [f64; M] = joined(&u, &v.map(|v| 1e9 * v));
    assert_eq!(Law::<D, M>::max_speed(&law, &wild), Law::<D, N>::max_speed(&GAS, &u));
    assert_eq!(law.normal_speed(&wild, &n), GAS.normal_speed(&u, &n));
    let (_, speed) = law.flux_sum_and_speed(&wild, &joined::<N, M>(&up, &vp), &n);
    assert_eq!(speed, GAS.flux_sum_and_speed(&u, &up, &n).1);
    assert_eq!(Law::<D, M>::admissibility(&law, &wild), Law::<D, N>::admissibility(&GAS, &u));
    for bad in [f64::NAN, f64::INFINITY] {
        let mut v = v;
        v[N - 1] = bad;
        assert_eq!(Law::<D, M>::admissibility(&law, &joined::<N, M>(&u, &v)), 0.0);
        let mut u = u;
        u[N - 1] = bad.min(-1.0);
        let least = Law::<D, M>::admissibility(&law, &joined::<N, M>(&u, &[1.0; N]));
        assert!(least.is_nan() || least <= 0.0);
    }
    for ns in viscous_gases() {
        assert_eq!(Diffusion::<D, M>::diffusivity(&Tangent::<_, N>(ns), &wild), ns.diffusivity(&u));
    }
}

proptest! {
    #![proptest_config(config(256))]

    #[test]
    fn formulas_of_a_gas(a in mild(), b in mild(), v in directions(), n in direction()) {
        in_space(gas_point::<3, 5>(a, b, v, n));
        in_the_plane(gas_point::<2, 4>(a, b, v, n));
    }

    #[test]
    fn formulas_of_other_laws(u in directions(), v in directions(), n in direction()) {
        fn of<const D: usize, const N: usize>(u: [[f64; 6]; 4], v: [[f64; 6]; 4], n: [f64; 3]) -> Point<D, N> {
            point([0, 1].map(|side: usize| std::array::from_fn(|k| u[side][k])), v, n)
        }
        check_all! { of::<3, 1>(u, v, n), 3, 1, 2;
            "advection" OfLaw(advection());
            "rusanov" Flux(advection(), Rusanov);
            "far field" Outer(advection(), FarField);
            "diffusion" Viscous(ScalarDiffusion { nu: 0.3 });
            "prescribed" Face(ScalarDiffusion { nu: 0.3 }, Prescribed);
            "outflow" Face(ScalarDiffusion { nu: 0.3 }, Outflow);
        }
        check_all! { of::<1, 1>(u, v, [1.0, 0.0, 0.0]), 1, 1, 2; "advection" Flux(advection(), Rusanov); }
        check_all! { of::<2, 2>(u, v, n), 2, 2, 4;
            "convection" OfLaw(CONVECTION);
            "rusanov" Flux(CONVECTION, Rusanov);
            "protected" Outer(CONVECTION, InflowProtected);
        }
        check_all! { of::<3, 4>(u, v, n), 3, 4, 8;
            "coupling" OfLaw(COUPLING);
            "central" Flux(COUPLING, Central);
            "still" Outer(COUPLING, ZeroVelocity);
            "given" Outer(COUPLING, GivenVelocity);
            "open" Outer(COUPLING, ZeroPressure);
        }
        check_all! { of::<2, 4>(u, v, n), 2, 4, 8;
            "penalty" Flux(Penalty, PenaltyFlux);
            "transport" OfLaw(TRANSPORT);
            "transport flux" Flux(TRANSPORT, TransportFlux);
            "reflected" Outer(TRANSPORT, ZeroNormalVelocity);
        }
    }

    #[test]
    fn fluxes_are_consistent_and_conservative(a in mild(), b in mild(), v in directions(), n in direction()) {
        let (plane, space) = (gas_point::<2, 4>(a, b, v, n), gas_point::<3, 5>(a, b, v, n));
        consistent_and_conservative::<2, 4, 8>(plane);
        consistent_and_conservative::<3, 5, 10>(space);
        symmetric::<_, 3, 5, 10>("kennedy-gruber", Tangent(KennedyGruber), space);
        symmetric::<_, 3, 5, 10>("ranocha", Tangent(Ranocha), space);
        bounds_are_those_of_the_state::<2, 4, 8>(plane);
        bounds_are_those_of_the_state::<3, 5, 10>(space);
    }

    /// Also at states far from each other, and in single precision.
    #[test]
    fn values_have_the_bits_of_the_wrapped_flux(a in crate::states::gas(), b in crate::states::gas(), n in direction()) {
        let (ul, ur, n) = (a.state::<3, 5>(), b.state::<3, 5>(), unit::<3>(n));
        let [al, ar] = [ul, ur].map(|u| joined::<5, 10>(&u, &[1.0, -0.5, 0.25, 2.0, 3.0]));
        macro_rules! each_flux {
            ($($variant:ident $word:literal $value:expr, $text:literal;)*) => {
                $(
                    let whole = Tangent::<_, 5>($value).eval_scaled(&Tangent(gas()), &al, &ar, &n, 0.7);
                    let plain = $value.eval_scaled(&gas(), &ul, &ur, &n, 0.7);
                    prop_assert_eq!(first::<_, 5, 10>(&whole).map(f64::to_bits), plain.map(f64::to_bits), $word);
                )*
            };
        }
        gas_fluxes!(each_flux! {});
        let single = |u: &[f64; 10]| u.map(|x| Lanes([x as f32]));
        let n32 = n.map(|n| Lanes([n as f32]));
        let whole = Tangent::<_, 5>(Hllc).eval(&Tangent(gas()), &single(&al), &single(&ar), &n32);
        let plain = Hllc.eval(&gas(), &ul.map(|u| u as f32), &ur.map(|u| u as f32), &n.map(|n| n as f32));
        prop_assert_eq!(first::<_, 5, 10>(&whole).map(|f| f.0[0].to_bits()), plain.map(f32::to_bits));
        let whole = Tangent::<_, 5>(FarField).outer(&Tangent(gas()), &al, &n, &ar);
        let plain = FarField.outer(&gas(), &ul, &n, &ur);
        prop_assert_eq!(first::<_, 5, 10>(&whole).map(f64::to_bits), plain.map(f64::to_bits));
    }
}

/// A gas at rest, the same on both sides or with a jump of the pressure: no root of zero is differentiated.
#[test]
fn a_gas_at_rest_has_finite_derivatives() {
    let law = Tangent::<_, 4>(GAS);
    let along = [0.3, -0.2, 0.5, 0.7];
    let [a, b] = [1.0, 1.5].map(|p| joined::<4, 8>(&GAS.to_conserved(&[1.0, 0.0, 0.0, p]), &along));
    for up in [&a, &b] {
        macro_rules! each_flux {
            ($($variant:ident $word:literal $value:expr, $text:literal;)*) => {
                $(
                    let f = Tangent::<_, 4>($value).eval(&law, &a, up, &[0.6, 0.8]);
                    assert!(f.iter().all(|f| f.is_finite()), "{}: {f:?}", $word);
                )*
            };
        }
        gas_fluxes!(each_flux! {});
        for f in [
            Tangent::<_, 4>(FarField).outer(&law, &a, &[0.6, 0.8], up),
            Tangent::<_, 4>(INFLOW).outer(&law, &a, &[0.6, 0.8], up),
            Tangent::<_, 4>(GIVEN_OUTLET).outer(&law, &a, &[0.6, 0.8], up),
            Tangent::<_, 4>(Ranocha).eval(&law, &a, up, &[0.6, 0.8]),
        ] {
            assert!(f.iter().all(|f| f.is_finite()), "{f:?}");
        }
    }
}

#[test]
fn names_are_those_of_the_law_and_of_its_directions() {
    fn of<L: Law<D, M>, const D: usize, const M: usize>(law: &L) -> ([&'static str; M], [&'static str; M]) {
        (law.variables(), law.primitives())
    }
    let (conserved, primitive) = of::<_, 2, 8>(&Tangent::<_, 4>(GAS));
    assert_eq!(conserved, ["rho", "rho_u", "rho_v", "rho_E", "d_rho", "d_rho_u", "d_rho_v", "d_rho_E"]);
    assert_eq!(primitive, ["rho", "u", "v", "p", "d_rho", "d_u", "d_v", "d_p"]);
    let names = [
        of::<_, 3, 10>(&Tangent::<_, 5>(GAS)).0.to_vec(),
        of::<_, 3, 10>(&Tangent::<_, 5>(GAS)).1.to_vec(),
        of::<_, 3, 2>(&Tangent::<_, 1>(advection())).0.to_vec(),
        of::<_, 3, 6>(&Tangent::<_, 3>(CONVECTION)).0.to_vec(),
        of::<_, 3, 8>(&Tangent::<_, 4>(COUPLING)).0.to_vec(),
        of::<_, 3, 10>(&Tangent::<_, 5>(Penalty)).0.to_vec(),
        of::<_, 3, 12>(&Tangent::<_, 6>(TRANSPORT)).0.to_vec(),
    ];
    for list in names {
        let (unknowns, directions) = list.split_at(list.len() / 2);
        for (unknown, direction) in unknowns.iter().zip(directions) {
            assert_eq!(*direction, format!("d_{unknown}"));
        }
    }
}

#[test]
fn descriptions_are_those_of_the_wrapped_parts() {
    fn described<B: Boundary<Tangent<Euler, 4>, 2, 8>>(_: B) -> (&'static str, bool) {
        (B::NAME, B::USES_DATA)
    }
    fn level<B: DiffusiveBoundary<Tangent<NavierStokes, 4>, 2, 8>>(_: B) -> bool {
        B::LEVEL
    }
    assert_eq!(described(Tangent(FarField)), ("far-field", true));
    assert_eq!(described(Tangent(Outflow)), ("outflow", false));
    assert!(level(Tangent(FarField)) && !level(Tangent(MOVING_WALL)));
    let (wrapped, rate) = (Tangent::<_, 4>(cooling::<2, 4>()), cooling::<2, 4>());
    let stiffness = Reaction::<8, 3>::stiffness(&wrapped, &[0.0; 3]);
    assert_eq!(stiffness, Reaction::<4, 3>::stiffness(&rate, &[0.0; 3]));
    let still = Tangent::<_, 4>(Sponge);
    assert!(Reaction::<8, 5>::is_idle(&still, &[0.0, 1.0, 0.0, 0.0, 2.5]));
    assert!(!Reaction::<8, 5>::is_idle(&still, &[0.1, 1.0, 0.0, 0.0, 2.5]));
}

#[test]
fn prescribed_data_have_no_direction() {
    let wave: Arc<dyn Exact> = Arc::new(ClosedForm::<_, _, 2, 4>::new(GAS, EntropyWave::new(2)));
    let data = Tangent::<_, 4>(Arc::clone(&wave));
    assert_eq!((data.n_fields(), data.is_steady()), (8, wave.is_steady()));
    let points = [[0.1, 0.2, 0.0], [0.5, -0.3, 0.0]];
    let (mut both, mut one) = (vec![vec![7.0; 3]; 8], vec![Vec::new(); 4]);
    data.eval(0.4, &points, &mut both);
    wave.eval(0.4, &points, &mut one);
    assert_eq!((&both[..4], &both[4..]), (&one[..], &vec![vec![0.0; 2]; 4][..]));
    let values = data.recorded().unwrap().at::<8>(0.4, points[1]);
    assert!((0..4).all(|k| (values[k] - one[k][1]).abs() < 1e-14 && values[4 + k] == 0.0));
}
