//! Properties of the boundary conditions.

use crate::states::*;
use dgsuite_physics::{
    Advection, Backflow, Boundary, CurvedSlipWall, Dual, Euler, FarField, Given, Hllc, Law, NoSlipWall,
    NumericalFlux, Outflow, Prescribed, PressureOutlet, Rusanov, SlipWall, SubsonicInflow, Symmetry,
    WallHeat, gas_fluxes,
};
use proptest::prelude::*;

/// Only normal momentum crosses a wall.
fn passes_only_pressure<F, B, const D: usize, const N: usize>(flux: F, wall: B, g: Gas, n: [f64; 3])
where
    Euler: Law<D, N>,
    F: NumericalFlux<Euler, D, N>,
    B: Boundary<Euler, D, N> + Copy,
{
    let (u, n) = (g.state::<D, N>(), unit::<D>(n));
    let f = flux.eval(&GAS, &u, &wall.outer(&GAS, &u, &n, &[f64::NAN; N]), &n);
    let size = flux_scale::<D, N>(&[&u]);
    let momentum: [f64; D] = std::array::from_fn(|d| f[1 + d]);
    let push = dot(&momentum, &n);
    let expected = std::array::from_fn(|k| if k == 0 || k == N - 1 { 0.0 } else { push * n[k - 1] });
    // The tangential flux vanishes for fluxes that resolve contacts; the others diffuse shear, which a
    // mirrored state does not have.
    assert_close(F::NAME, &f, &expected, &size, 1e-13);
    // A gas without normal velocity has its own pressure at the wall.
    let vn = dot(&std::array::from_fn::<f64, D, _>(|d| g.v[d]), &n);
    let still =
        Gas { v: std::array::from_fn(|d| if d < D { g.v[d] - vn * n[d] } else { 0.0 }), ..g }.state::<D, N>();
    let f = flux.eval(&GAS, &still, &wall.outer(&GAS, &still, &n, &[f64::NAN; N]), &n);
    let rest = std::array::from_fn(|k| if k == 0 || k == N - 1 { 0.0 } else { g.p * n[k - 1] });
    assert_close(F::NAME, &f, &rest, &size, 1e-13);
}

fn walls<const D: usize, const N: usize>(g: Gas, n: [f64; 3])
where
    Euler: Law<D, N>,
{
    macro_rules! pass_only_pressure {
        ($($variant:ident $word:literal $value:expr, $text:literal;)*) => {
            $( passes_only_pressure::<_, _, D, N>($value, SlipWall, g, n); )*
        };
    }
    gas_fluxes!(pass_only_pressure! {});
    macro_rules! walls_pass_only_pressure {
        ($($name:ident $wall:expr;)*) => {
            $(
                passes_only_pressure::<_, _, D, N>(Rusanov, $wall, g, n);
                passes_only_pressure::<_, _, D, N>(Hllc, $wall, g, n);
            )*
        };
    }
    dgsuite_physics::walls!(walls_pass_only_pressure! {});
    // Friction belongs to the diffusive flux of a no-slip wall, not to the convective one.
    let sticky = NoSlipWall { heat: WallHeat::Adiabatic, velocity: Some(Given::vector([3.0, -2.0, 1.0])) };
    passes_only_pressure::<_, _, D, N>(Rusanov, sticky, g, n);
    passes_only_pressure::<_, _, D, N>(Hllc, sticky, g, n);
}

/// On a curved wall with the normal `along`, the flow along the curve is kept, any other is mirrored; with
/// the normal of the face it is a slip wall.
fn curved<const D: usize, const N: usize>(g: Gas, n: [f64; 3], along: [f64; 3])
where
    Euler: Law<D, N>,
{
    let (u, n, curve) = (g.state::<D, N>(), unit::<D>(n), unit::<D>(along));
    let data = |n: &[f64; D]| std::array::from_fn(|k| if k == 0 || k == N - 1 { f64::NAN } else { n[k - 1] });
    let mirrored: [f64; N] = CurvedSlipWall.outer(&GAS, &u, &n, &data(&n));
    assert_eq!(mirrored, SlipWall.outer(&GAS, &u, &n, &[f64::NAN; N]));
    let outer: [f64; N] = CurvedSlipWall.outer(&GAS, &u, &n, &data(&curve));
    let back: [f64; N] = CurvedSlipWall.outer(&GAS, &outer, &n, &data(&curve.map(|c| -c)));
    let size = flux_scale::<D, N>(&[&u]);
    assert_close("mirrored twice", &back, &u, &size, 1e-13);
    let across = |u: &[f64; N]| (0..D).map(|d| u[1 + d] * curve[d]).sum::<f64>();
    assert!((across(&outer) + across(&u)).abs() < 1e-13 * size[1]);
    let vn = dot(&std::array::from_fn::<f64, D, _>(|d| g.v[d]), &curve);
    let still = std::array::from_fn(|d| if d < D { g.v[d] - vn * curve[d] } else { 0.0 });
    let still = Gas { v: still, ..g }.state::<D, N>();
    assert_close("along", &CurvedSlipWall.outer(&GAS, &still, &n, &data(&curve)), &still, &size, 1e-13);
}

fn far_field<const D: usize, const N: usize>(inner: Gas, free: Gas, n: [f64; 3])
where
    Euler: Law<D, N>,
{
    let n = unit::<D>(n);
    let (u, data) = (inner.state::<D, N>(), free.state::<D, N>());
    let scale = |u: &[f64; N]| -> [f64; N] {
        std::array::from_fn(|k| if k == 0 { u[0] } else { u[N - 1] + u[0] * (1.0 + u[N - 1] / u[0]) })
    };
    // The free stream is preserved, whatever its direction and speed.
    assert_close("free stream", &FarField.outer(&GAS, &data, &n, &data), &data, &scale(&data), 1e-12);

    let normal = |g: &Gas| dot(&std::array::from_fn::<f64, D, _>(|d| g.v[d]), &n);
    let outer = FarField.outer(&GAS, &u, &n, &data);
    let (vn, c) = (normal(&inner), inner.c());
    if vn >= c {
        assert_close("supersonic outflow", &outer, &u, &scale(&u), 1e-12);
    } else if vn <= -c {
        assert_close("supersonic inflow", &outer, &data, &scale(&data), 1e-12);
    } else {
        let w = GAS.to_primitive(&outer);
        let v: [f64; D] = std::array::from_fn(|d| w[1 + d]);
        let (out_vn, two, z) = (dot(&v, &n), 2.0 / (GAS.gamma - 1.0), 0.5 * (GAS.gamma - 1.0) / GAS.gamma);
        let sum = vn + two * c - (normal(&free) - two * free.c());
        if sum > 0.1 * c {
            // Each wave keeps the entropy of its side.
            let wave = |g: &Gas| two * g.c() * ((w[N - 1] / g.p).powf(z) - 1.0);
            let size = 1.0 + out_vn.abs() + wave(&inner).abs() + wave(&free).abs() + c + free.c();
            assert!((out_vn + wave(&inner) - vn).abs() < 1e-11 * size);
            assert!((out_vn - wave(&free) - normal(&free)).abs() < 1e-11 * size);
        }
        // Entropy from upstream.
        let from = if out_vn > 0.0 { entropy(inner.rho, inner.p) } else { entropy(free.rho, free.p) };
        if out_vn.abs() > 1e-9 {
            let relative = (entropy(w[0], w[N - 1]) / from - 1.0).abs();
            let digits = outer[N - 1] / w[N - 1]; // lost in the pressure
            assert!(relative < 1e-13 * (10.0 + digits), "entropy {relative:e}");
        }
    }
}

/// Whether the pressure `outer` beside `inner` sets the pressure `p`: the mean of near pressures, within half
/// of it for any.
fn sets(inner: f64, outer: f64, p: f64) -> bool {
    let d = inner / p - 1.0;
    (outer / p - 1.0).abs() <= 0.5 && (0.5 * (inner + outer) / p - 1.0).abs() <= 0.5 * d.abs().powi(3) + 1e-12
}

fn entropy(rho: f64, p: f64) -> f64 {
    p / rho.powf(GAS.gamma)
}

fn outlet<const D: usize, const N: usize>(g: Gas, outside: Gas, n: [f64; 3])
where
    Euler: Law<D, N>,
{
    let (u, n, p) = (g.state::<D, N>(), unit::<D>(n), outside.p);
    let backflow =
        |temperature, velocity| Backflow { temperature, gas_constant: 1.0, velocity: Some(velocity) };
    let t = outside.p / outside.rho;
    let constant =
        PressureOutlet { p: p.into(), backflow: Some(backflow(t.into(), Given::vector(outside.v))) };
    let outer = constant.outer(&GAS, &u, &n, &[f64::NAN; N]);
    let prescribed = Given::Prescribed;
    let data = std::array::from_fn(|k| match k {
        0 => t,
        k if k == N - 1 => p,
        k => outside.v[k - 1],
    });
    let of_data = PressureOutlet { p: prescribed, backflow: Some(backflow(prescribed, [prescribed; 3])) };
    assert_eq!(outer, of_data.outer(&GAS, &u, &n, &data), "the same numbers as data of the point");

    let w = GAS.to_primitive(&outer);
    let velocity = |g: &Gas| -> [f64; D] { std::array::from_fn(|d| g.v[d]) };
    let (v, inside, vn) = (std::array::from_fn(|d| w[1 + d]), velocity(&g), dot(&velocity(&g), &n));
    let lost = outer[N - 1] / w[N - 1]; // digits of the pressure
    let near = |a: f64, b: f64, size: f64| (a - b).abs() <= 1e-13 * (10.0 + lost) * (size + b.abs());
    if vn > g.c() * (1.0 + 1e-12) {
        assert_close("supersonic", &outer, &u, &flux_scale::<D, N>(&[&u]), 1e-13);
        return;
    }
    let sonic = (2.0 * GAS.gamma * t / (GAS.gamma + 1.0)).sqrt();
    let vn = vn.max(-sonic);
    assert!(near(dot(&v, &n), vn, g.c()), "the normal velocity does not jump");
    if vn > 0.0 {
        assert!((0..D).all(|d| near(v[d], inside[d], g.c())));
        assert!(sets(g.p, w[N - 1], p), "{} beside {} for {p}", w[N - 1], g.p);
        assert!(near(entropy(w[0], w[N - 1]), entropy(g.rho, g.p), 0.0), "entropy from inside");
    } else if vn < 0.0 {
        let across = dot(&velocity(&outside), &n);
        assert!((0..D).all(|d| near(v[d] - vn * n[d], outside.v[d] - across * n[d], g.c() + 4.0)));
        assert!(near(entropy(w[0], w[N - 1]), entropy(outside.rho, outside.p), 0.0), "entropy from outside");
        let mach2 = vn * vn / (GAS.gamma * t);
        let fall = (1.0 - 0.5 * (GAS.gamma - 1.0) * mach2).powf(GAS.gamma / (GAS.gamma - 1.0));
        assert!(sets(g.p, w[N - 1], p * fall), "{} beside {} for {}", w[N - 1], g.p, p * fall);
    }
}

fn derivative<B, const D: usize, const N: usize>(boundary: B, g: Gas, free: Gas, n: [f64; 3], along: [f64; 5])
where
    Euler: Law<D, N>,
    B: Boundary<Euler, D, N> + Copy,
{
    let (u, data, n) = (g.state::<D, N>(), free.state::<D, N>(), unit::<D>(n));
    let du: [f64; N] = std::array::from_fn(|k| along[k] * (0.2 * u[0] + 0.05 * u[k].abs()));
    let seeded = std::array::from_fn(|k| Dual::new(u[k], du[k]));
    let dual = boundary.outer(&GAS, &seeded, &n.map(Dual::constant), &data.map(Dual::constant));
    let h = 1e-6;
    let at = |h: f64| boundary.outer(&GAS, &std::array::from_fn(|k| u[k] + h * du[k]), &n, &data);
    let (ahead, behind) = (at(h), at(-h));
    let slope = std::array::from_fn(|k| (ahead[k] - behind[k]) / (2.0 * h));
    let stiff = 1.0 + u[N - 1] / g.p;
    let size = std::array::from_fn(|k| stiff * stiff * (1.0 + ahead[k].abs() + ahead[N - 1] + u[N - 1]));
    assert_close(B::NAME, &dual.map(|d| d.derivative), &slope, &size, 1e-7);
}

proptest! {
    #![proptest_config(config(1024))]

    #[test]
    fn walls_pass_no_mass_through_any_flux(g in gas(), n in direction()) {
        walls::<2, 4>(g, n);
        walls::<3, 5>(g, n);
    }

    #[test]
    fn a_curved_wall_keeps_the_flow_along_its_curve(g in gas(), n in direction(), along in direction()) {
        curved::<2, 4>(g, n, along);
        curved::<3, 5>(g, n, along);
    }

    #[test]
    fn the_far_field_follows_the_characteristics(a in gas(), b in gas(), n in direction()) {
        far_field::<2, 4>(a, b, n);
        far_field::<3, 5>(a, b, n);
    }

    #[test]
    fn the_far_field_stays_near_a_free_stream_that_is_near(a in gas(), n in direction(), d in -1e-6..1e-6f64) {
        let n = unit::<2>(n);
        let (u, near) = (a.state::<2, 4>(), Gas { p: a.p * (1.0 + d), rho: a.rho * (1.0 - d), ..a }.state::<2, 4>());
        let outer = FarField.outer(&GAS, &near, &n, &u);
        for k in 0..4 {
            let size = u[3] + u[0] * (1.0 + u[3] / u[0]);
            prop_assert!((outer[k] - u[k]).abs() <= 20.0 * d.abs() * size + 1e-12 * size);
        }
    }

    #[test]
    fn a_pressure_outlet_sets_the_pressure_of_subsonic_flow(g in gas(), outside in gas(), n in direction()) {
        outlet::<2, 4>(g, outside, n);
        outlet::<3, 5>(g, outside, n);
    }

    #[test]
    fn derivatives_agree_with_differences(
        g in gas(), free in gas(), n in direction(), along in prop::array::uniform5(-1.0..1.0f64),
    ) {
        derivative::<_, 2, 4>(SlipWall, g, free, n, along);
        derivative::<_, 3, 5>(SlipWall, g, free, n, along);
        derivative::<_, 2, 4>(PressureOutlet::at(1.0), g, free, n, along);
        derivative::<_, 3, 5>(PressureOutlet::at(1.0), g, free, n, along);
    }

    #[test]
    fn prescribed_and_outflow_are_outer_and_inner_state(g in gas(), free in gas(), n in direction()) {
        let (u, data, n) = (g.state::<3, 5>(), free.state::<3, 5>(), unit::<3>(n));
        prop_assert_eq!(Prescribed.outer(&GAS, &u, &n, &data), data);
        prop_assert_eq!(Outflow.outer(&GAS, &u, &n, &data), u);
    }

    #[test]
    fn the_far_field_of_advection_is_upwind(a in direction(), n in direction(), u in -1.0..1.0f64) {
        let law = Advection { velocity: a };
        let n = unit::<3>(n);
        let expected = if dot(&a, &n) < 0.0 { 7.0 } else { u };
        prop_assert_eq!(FarField.outer(&law, &[u], &n, &[7.0]), [expected]);
    }
}

#[test]
fn names_and_use_of_data() {
    fn describe<B: Boundary<Euler, 2, 4>>(_: B) -> (&'static str, bool) {
        (B::NAME, B::USES_DATA)
    }
    assert_eq!(describe(Prescribed), ("dirichlet", true));
    assert_eq!(describe(FarField), ("far-field", true));
    assert_eq!(describe(Outflow), ("outflow", false));
    assert_eq!(describe(SlipWall), ("slip-wall", false));
    assert_eq!(describe(CurvedSlipWall), ("curved-slip-wall", true));
    assert_eq!(describe(Symmetry), ("symmetry", false));
    assert_eq!(describe(PressureOutlet::at(1.0)), ("pressure-outlet", true));
    assert_eq!(describe(NoSlipWall { heat: WallHeat::Adiabatic, velocity: None }), ("no-slip-wall", false));
    let (total_pressure, total_temperature, gas_constant) = (Given::Prescribed, Given::Prescribed, 1.0);
    let inflow = SubsonicInflow { total_pressure, total_temperature, gas_constant, direction: None };
    assert_eq!(describe(inflow), ("subsonic-inflow", true));
}
