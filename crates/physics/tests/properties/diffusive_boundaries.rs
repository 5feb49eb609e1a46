//! Properties of the diffusive part of boundary conditions.

use crate::fields::*;
use crate::states::*;
use dgsuite_physics::{
    Boundary, Diffusion, DiffusiveBoundary, Euler, FarField, Given, Law, NavierStokes, NoSlipWall, Outflow,
    Prescribed, PressureOutlet, ScalarDiffusion, SlipLengthWall, SlipWall, SubsonicInflow, Symmetry,
    WallHeat,
};
use proptest::prelude::*;

/// The face state and the flux through the face.
fn face<B, const D: usize, const N: usize>(
    condition: B,
    u: &[f64; N],
    grad: &[[f64; N]; D],
    n: &[f64; D],
    data: &[f64; N],
) -> ([f64; N], [f64; N])
where
    NavierStokes: Diffusion<D, N>,
    B: DiffusiveBoundary<NavierStokes, D, N> + Copy,
{
    let ub = condition.face_state(&SUTHERLAND, u, n, data);
    (ub, condition.normal_flux(&SUTHERLAND, u, &ub, grad, n, data))
}

/// A field that satisfies a condition exactly keeps its state and its flux.
fn keeps<B, const D: usize, const N: usize>(condition: B, field: Field, n: &[f64; D], data: &[f64; N])
where
    NavierStokes: Diffusion<D, N>,
    Euler: Law<D, N>,
    B: DiffusiveBoundary<NavierStokes, D, N> + Copy + std::fmt::Debug,
{
    let (u, grad) = field.conserved::<D, N>();
    let (ub, flux) = face(condition, &u, &grad, n, data);
    let what = format!("{condition:?}");
    assert_close(&what, &ub, &u, &[u[N - 1] + u[0] * (1.0 + u[N - 1] / u[0]); N], 1e-12);
    let exact = SUTHERLAND.normal_diffusive_flux(&u, &grad, n);
    assert_close(&what, &flux, &exact, &field.scale::<D, N>(&SUTHERLAND), 1e-11);
}

/// Removes the components of velocity and slopes that a wall does not allow.
struct Shaped<const D: usize> {
    field: Field,
    n: [f64; D],
}

impl<const D: usize> Shaped<D> {
    fn new(field: Field, n: [f64; 3]) -> Self {
        let mut field = field;
        // Velocity and slopes vanish along directions that do not exist.
        for d in D..3 {
            field.gas.v[d] = 0.0;
        }
        Self { field, n: unit::<D>(n) }
    }

    fn normal(&self, v: [f64; 3]) -> f64 {
        (0..D).map(|d| v[d] * self.n[d]).sum()
    }

    /// No velocity along the normal.
    fn sliding(mut self) -> Self {
        let vn = self.normal(self.field.gas.v);
        for d in 0..D {
            self.field.gas.v[d] -= vn * self.n[d];
        }
        self
    }

    /// No slope of the `k`-th quantity along the normal.
    fn level(mut self, k: usize) -> Self {
        let slope: f64 = (0..D).map(|d| self.field.slopes[d][k] * self.n[d]).sum();
        for d in 0..D {
            self.field.slopes[d][k] -= slope * self.n[d];
        }
        self
    }

    /// No heat flux along the normal: relative slopes of pressure and density are equal.
    fn adiabatic(mut self) -> Self {
        self = self.level(4);
        self.level(0)
    }

    /// The velocity of a mirrored flow: `∂_n v_t = 0`, `∂_t v_n = 0`.
    fn mirrored(mut self) -> Self {
        let n = self.n;
        let old = self.field.slopes;
        for d in 0..D {
            for i in 0..D {
                let mut left = 0.0; // n·∇v_i
                let mut right = 0.0; // ∂_d v·n
                let mut both = 0.0;
                for a in 0..D {
                    left += n[a] * old[a][1 + i];
                    right += old[d][1 + a] * n[a];
                    for b in 0..D {
                        both += n[a] * old[a][1 + b] * n[b];
                    }
                }
                self.field.slopes[d][1 + i] += -n[d] * left - right * n[i] + 2.0 * n[d] * both * n[i];
            }
        }
        self
    }
}

fn conditions_keep_the_flows_that_they_hold_for<const D: usize, const N: usize>(f: Field, n: [f64; 3])
where
    NavierStokes: Diffusion<D, N>,
    Euler: Law<D, N>,
{
    let shaped = || Shaped::<D>::new(f, n);
    let none = [f64::NAN; N];

    let moving = shaped().sliding();
    let velocity = Some(Given::vector(moving.field.gas.v));
    let temperature = Given::from(f.gas.p / (f.gas.rho * SUTHERLAND.gas_constant));
    let isothermal = NoSlipWall { heat: WallHeat::Isothermal { temperature }, velocity };
    keeps::<_, D, N>(isothermal, moving.field, &moving.n, &none);
    let moving = moving.adiabatic();
    keeps::<_, D, N>(NoSlipWall { heat: WallHeat::Adiabatic, velocity }, moving.field, &moving.n, &none);

    let mirrored = shaped().sliding().adiabatic().mirrored();
    keeps::<_, D, N>(SlipWall, mirrored.field, &mirrored.n, &none);
    keeps::<_, D, N>(Symmetry, mirrored.field, &mirrored.n, &none);

    let leaving = (0..5).fold(shaped(), Shaped::level);
    keeps::<_, D, N>(Outflow, leaving.field, &leaving.n, &none);
    keeps::<_, D, N>(PressureOutlet::at(f.gas.p), leaving.field, &leaving.n, &none);
    keeps::<_, D, N>(FarField, leaving.field, &leaving.n, &none);
    let inflow = SubsonicInflow {
        total_pressure: 1.0.into(),
        total_temperature: 1.0.into(),
        gas_constant: 1.0,
        direction: None,
    };
    keeps::<_, D, N>(inflow, leaving.field, &leaving.n, &none);

    let free = shaped();
    let data = free.field.gas.state::<D, N>();
    keeps::<_, D, N>(Prescribed, free.field, &free.n, &data);
}

fn walls_keep_what_is_theirs<const D: usize, const N: usize>(f: Field, n: [f64; 3], w: [f64; 3])
where
    NavierStokes: Diffusion<D, N>,
    Euler: Law<D, N>,
{
    let n = unit::<D>(n);
    let (u, grad) = f.conserved::<D, N>();
    let size = f.scale::<D, N>(&SUTHERLAND);
    // Heat flux and work: an adiabatic wall at rest transmits no energy; a moving one does the work of its
    // friction.
    let wall = |velocity| NoSlipWall { heat: WallHeat::Adiabatic, velocity };
    let (ub, still) = face(wall(None), &u, &grad, &n, &[f64::NAN; N]);
    assert_eq!((ub[0], still[0], still[N - 1]), (u[0], 0.0, 0.0));
    assert!((1..=D).all(|k| ub[k] == 0.0));
    let (ub, flux) = face(wall(Some(Given::vector(w))), &u, &grad, &n, &[f64::NAN; N]);
    let wn = (0..D).map(|d| w[d] * n[d]).sum::<f64>();
    let work: f64 = (0..D).map(|d| flux[1 + d] * (w[d] - wn * n[d])).sum();
    assert!((flux[N - 1] - work).abs() <= 1e-13 * size[N - 1]);
    let across: f64 = (0..D).map(|d| ub[1 + d] * n[d]).sum();
    assert!(across.abs() <= 1e-14 * u[0], "the wall stays in its place");
    // The temperature of an isothermal wall does not depend on the gas.
    let isothermal = |temperature, velocity| NoSlipWall {
        heat: WallHeat::Isothermal { temperature },
        velocity: Some(velocity),
    };
    let constant = isothermal(1.25.into(), Given::vector(w));
    let (ub, flux) = face(constant, &u, &grad, &n, &[f64::NAN; N]);
    // The same numbers as data of the point.
    let data: [f64; N] = std::array::from_fn(|k| if k == N - 1 { 1.25 } else { w[k.max(1) - 1] });
    let prescribed = isothermal(Given::Prescribed, [Given::Prescribed; 3]);
    assert_eq!((ub, flux), face(prescribed, &u, &grad, &n, &data));
    let p = GAS.to_primitive(&ub)[N - 1];
    assert!((p / (ub[0] * SUTHERLAND.gas_constant) - 1.25).abs() < 1e-13);
    // With a slip length, the friction is that of a layer of this thickness, and the energy stays in the gas.
    let slip = SlipLengthWall { length: 0.25 };
    let (ub, flux) = face(slip, &u, &grad, &n, &[f64::NAN; N]);
    let (free, frictionless) = face(SlipWall, &u, &grad, &n, &[f64::NAN; N]);
    assert_eq!((ub, flux[0], flux[N - 1]), (free, 0.0, 0.0));
    let energy = GAS.to_primitive(&ub)[N - 1] / (ub[0] * (GAS.gamma - 1.0));
    let friction = SUTHERLAND.viscosity_at(energy) / 0.25;
    let expected = std::array::from_fn(|k| match k {
        0 => 0.0,
        k if k == N - 1 => 0.0,
        k => frictionless[k] - friction * ub[k] / ub[0],
    });
    let large = size.map(|s| s + friction * (u[N - 1] / u[0]).sqrt());
    assert_close("friction", &flux, &expected, &large, 1e-13);
    // An inviscid wall has neither friction nor heat flux.
    let (ub, flux) = face(SlipWall, &u, &grad, &n, &[f64::NAN; N]);
    let stress: f64 = (0..D).map(|d| flux[1 + d] * n[d]).sum();
    let expected = std::array::from_fn(|k| if k == 0 || k == N - 1 { 0.0 } else { stress * n[k - 1] });
    assert_close("no shear", &flux, &expected, &size, 1e-14);
    let across: f64 = (0..D).map(|d| ub[1 + d] * n[d]).sum();
    assert!(across.abs() <= 1e-13 * (u[0] + u[N - 1]));
    let (before, after) = (GAS.to_primitive(&u)[N - 1], GAS.to_primitive(&ub)[N - 1]);
    assert!((before - after).abs() <= 1e-13 * u[N - 1], "the internal energy stays");
}

fn the_inflow_comes_from_its_reservoir<const D: usize, const N: usize>(
    g: Gas,
    n: [f64; 3],
    tilt: [f64; 3],
    mach: f64,
) where
    NavierStokes: Diffusion<D, N>,
    Euler: Law<D, N>,
{
    let n = unit::<D>(n);
    // Into the domain, at up to 60 degrees: √3/2 sideways at the most.
    let a = unit::<D>(std::array::from_fn(|d| if d < D { 0.5 * tilt[d] - n[d] } else { 0.0 }));
    let direction = Some(Given::vector(std::array::from_fn(|d| if d < D { a[d] } else { 0.0 })));
    let (r, rise) = (0.8, 1.0 + 0.5 * (GAS.gamma - 1.0) * mach * mach);
    let flow = Gas { v: std::array::from_fn(|d| if d < D { mach * g.c() * a[d] } else { 0.0 }), ..g };
    let total_pressure = g.p * rise.powf(GAS.gamma / (GAS.gamma - 1.0));
    let total_temperature = g.p / (g.rho * r) * rise;
    let reservoir = SubsonicInflow {
        total_pressure: total_pressure.into(),
        total_temperature: total_temperature.into(),
        gas_constant: r,
        direction,
    };
    // The flow from the reservoir is preserved.
    let u = flow.state::<D, N>();
    let outer = reservoir.outer(&GAS, &u, &n, &[f64::NAN; N]);
    assert_close("inflow", &outer, &u, &[u[0] + u[N - 1]; N], 1e-11);
    // Any other inner state: entropy of the reservoir, direction, subsonic, and the inner normal velocity.
    let other = Gas { v: std::array::from_fn(|d| 0.3 * flow.v[d]), p: 0.97 * g.p, rho: g.rho };
    let outer = reservoir.outer(&GAS, &other.state::<D, N>(), &n, &[f64::NAN; N]);
    let w = GAS.to_primitive(&outer);
    // The same numbers as data of the point.
    let data: [f64; N] = std::array::from_fn(|k| match k {
        0 => total_pressure,
        _ if k == N - 1 => total_temperature,
        _ => a[k - 1],
    });
    let prescribed = SubsonicInflow {
        total_pressure: Given::Prescribed,
        total_temperature: Given::Prescribed,
        direction: Some([Given::Prescribed; 3]),
        ..reservoir
    };
    assert_eq!(outer, prescribed.outer(&GAS, &other.state::<D, N>(), &n, &data));
    let v: [f64; D] = std::array::from_fn(|d| w[1 + d]);
    let (speed, c2) = (dot(&v, &a), GAS.gamma * w[N - 1] / w[0]);
    assert!(
        (dot(&v, &v) - speed * speed).abs() <= 1e-13 * c2
            && speed >= 0.0
            && speed * speed <= c2 * (1.0 + 1e-12)
    );
    let entropy = |rho: f64, p: f64| p / rho.powf(GAS.gamma);
    let reservoir_entropy = entropy(total_pressure / (r * total_temperature), total_pressure);
    assert!((entropy(w[0], w[N - 1]) / reservoir_entropy - 1.0).abs() < 1e-12);
    let inside = dot(&std::array::from_fn::<f64, D, _>(|d| other.v[d]), &n);
    assert!((dot(&v, &n) - inside).abs() < 1e-12 * (1.0 + g.c()));
    // The pressure that the reservoir has at this speed is the mean of both sides, for near pressures.
    let c02 = GAS.gamma * r * total_temperature;
    let fall = (1.0 - 0.5 * (GAS.gamma - 1.0) * speed * speed / c02).powf(GAS.gamma / (GAS.gamma - 1.0));
    let (at_face, mean) = (total_pressure * fall, 0.5 * (w[N - 1] + other.p));
    let d = (other.p / at_face - 1.0).abs();
    assert!((mean / at_face - 1.0).abs() <= 0.5 * d.powi(3) + 1e-12, "{mean} for {at_face}");
    // Without a direction the inflow is along the normal.
    let straight = SubsonicInflow { direction: None, ..reservoir };
    let w = GAS.to_primitive(&straight.outer(&GAS, &u, &n, &[f64::NAN; N]));
    let v: [f64; D] = std::array::from_fn(|d| w[1 + d]);
    assert!((dot(&v, &n) + dot(&v, &v).sqrt()).abs() < 1e-13 * (1.0 + g.c()));
}

proptest! {
    #![proptest_config(config(512))]

    #[test]
    fn exact_flows_stay(f in field(), n in direction()) {
        conditions_keep_the_flows_that_they_hold_for::<2, 4>(f, n);
        conditions_keep_the_flows_that_they_hold_for::<3, 5>(f, n);
    }

    #[test]
    fn walls(f in field(), n in direction(), w in direction()) {
        walls_keep_what_is_theirs::<2, 4>(f, n, w);
        walls_keep_what_is_theirs::<3, 5>(f, n, w);
    }

    #[test]
    fn inflow(g in gas(), n in direction(), tilt in prop::array::uniform3(-1.0..1.0f64), mach in 0.05..0.9f64) {
        the_inflow_comes_from_its_reservoir::<2, 4>(g, n, tilt, mach);
        the_inflow_comes_from_its_reservoir::<3, 5>(g, n, tilt, mach);
    }

    #[test]
    fn scalars(u in -2.0..2.0f64, data in -2.0..2.0f64, slope in prop::array::uniform3(-1.0..1.0f64), n in direction()) {
        let (law, n, grad) = (ScalarDiffusion { nu: 0.5 }, unit::<3>(n), slope.map(|s| [s]));
        let ub = Prescribed.face_state(&law, &[u], &n, &[data]);
        let flux = Prescribed.normal_flux(&law, &[u], &ub, &grad, &n, &[data]);
        prop_assert!(ub == [data] && (flux[0] - 0.5 * dot(&slope, &n)).abs() < 1e-15);
        let ub = Outflow.face_state(&law, &[u], &n, &[data]);
        let flux = Outflow.normal_flux(&law, &[u], &ub, &grad, &n, &[data]);
        prop_assert!(ub == [u] && flux[0].abs() < 1e-15, "nothing changes across: {}", flux[0]);
    }
}

/// If the gas inside moves away faster than sound, the inflow is choked: the gas enters at the speed of
/// sound, at the critical temperature `2 T₀/(γ + 1)` where the pressure inside is that of the gas.
#[test]
fn a_reservoir_is_choked_at_the_speed_of_sound() {
    let reservoir = SubsonicInflow {
        total_pressure: 2.0.into(),
        total_temperature: 1.5.into(),
        gas_constant: 0.8,
        direction: None,
    };
    let n = [0.6, 0.8];
    let critical = 2.0 / (GAS.gamma + 1.0);
    let p = 2.0 * critical.powf(GAS.gamma / (GAS.gamma - 1.0));
    for inwards in [2.0, 4.0] {
        let inner = GAS.to_conserved(&[1.0, -inwards * n[0], -inwards * n[1], p]);
        let w = GAS.to_primitive(&reservoir.outer(&GAS, &inner, &n, &[f64::NAN; 4]));
        let (v2, c2) = (w[1] * w[1] + w[2] * w[2], GAS.gamma * w[3] / w[0]);
        assert!((v2 / c2 - 1.0).abs() < 1e-12, "{inwards} inwards: Mach {}", (v2 / c2).sqrt());
        assert!((w[3] / (w[0] * 0.8) / (1.5 * critical) - 1.0).abs() < 1e-12);
    }
}

/// Gas that comes back leaves into the reservoir, at its pressure.
#[test]
fn gas_leaves_into_a_reservoir_at_its_pressure() {
    let reservoir = SubsonicInflow {
        total_pressure: 2.0.into(),
        total_temperature: 1.5.into(),
        gas_constant: 0.8,
        direction: None,
    };
    let u = GAS.to_conserved(&[1.3, 0.2, 0.4, 2.0]);
    let outer = reservoir.outer(&GAS, &u, &[0.6, 0.8], &[f64::NAN; 4]);
    assert_close("leaves", &outer, &u, &u.map(f64::abs), 1e-14);
}
