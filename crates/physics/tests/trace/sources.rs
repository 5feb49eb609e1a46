//! The formulas recorded by these tests, each as a device function and as a Rust function of the same inputs.

use dgsuite_physics::closures::EddyViscosity;
use dgsuite_physics::incompressible::{OpenPressure, wall_force};
use dgsuite_physics::navier_stokes::Viscosity;
use dgsuite_physics::reaction::{BodyForce, Reaction, Sponge};
use dgsuite_physics::trace::{Arguments, Parameters, Sym, device_fn};
use dgsuite_physics::{
    Boundary, Closure, Convection, Diffusion, DiffusiveBoundary, Euler, FaceMean, Given, Incompressible, Law,
    NavierStokes, NoSlipWall, NumericalFlux, Real, Roe, SubsonicInflow, Transport, TwoPointFlux, WallHeat,
};

pub(crate) const GAS: Euler = Euler { gamma: 1.4 };

pub(crate) const AIR: NavierStokes = NavierStokes {
    gas: GAS,
    prandtl: 0.72,
    viscosity: Viscosity::Sutherland { mu_ref: 0.3, t_ref: 1.5, s: 0.6 },
    gas_constant: 0.8,
    closure: None,
};
pub(crate) const SYRUP: NavierStokes = NavierStokes { viscosity: Viscosity::Constant { mu: 0.25 }, ..AIR };

pub(crate) const INFLOW: SubsonicInflow = SubsonicInflow {
    total_pressure: Given::Constant(3.0),
    total_temperature: Given::Constant(2.0),
    gas_constant: 0.8,
    direction: None,
};
pub(crate) const WALL: NoSlipWall =
    NoSlipWall { heat: WallHeat::Adiabatic, velocity: Some(Given::vector([0.5, -0.25, 0.75])) };
pub(crate) const WARM: NoSlipWall =
    NoSlipWall { heat: WallHeat::Isothermal { temperature: Given::Constant(1.2) }, velocity: None };

pub(crate) const SPARING: Roe = Roe { mean: FaceMean::KennedyGruber, dissipation: 0.2, ..Roe::LOW_MACH };

pub(crate) const CONVECTION: Convection = Convection { factor: 1.25 };
pub(crate) const COUPLING: Incompressible = Incompressible { viscosity: 0.01 };
pub(crate) const OPEN: OpenPressure = OpenPressure { viscosity: 0.01, width: 0.5 };
pub(crate) const TRANSPORT: Transport = Transport { factor: 1.25 };

/// A formula of two states and a normal.
pub(crate) trait Formula<const D: usize, const N: usize>: Copy {
    fn eval<R: Real>(&self, um: &[R; N], up: &[R; N], n: &[R; D]) -> [R; N];

    /// A random state.
    fn state(&self, random: &mut Random) -> [f64; N];
}

/// The force on an open boundary with the pressure there; the second state is `∂u/∂n`.
#[derive(Clone, Copy)]
pub(crate) struct Open(pub(crate) OpenPressure);

impl<const D: usize> Formula<D, D> for Open {
    fn eval<R: Real>(&self, um: &[R; D], up: &[R; D], n: &[R; D]) -> [R; D] {
        let p = self.0.pressure(um, up, n);
        let (push, friction) = wall_force(self.0.viscosity, p, &gradient(up, n), n);
        std::array::from_fn(|d| push[d] + friction[d])
    }

    fn state(&self, random: &mut Random) -> [f64; D] {
        random.numbers()
    }
}

/// A numerical flux of any law.
#[derive(Clone, Copy)]
pub(crate) struct FluxOf<L, F>(pub(crate) L, pub(crate) F);

/// The outer state of a boundary condition of any law; the second state is its data.
#[derive(Clone, Copy)]
pub(crate) struct OuterOf<L, B>(pub(crate) L, pub(crate) B);

impl<L, F, const D: usize, const N: usize> Formula<D, N> for FluxOf<L, F>
where
    L: Law<D, N> + Copy,
    F: NumericalFlux<L, D, N>,
{
    fn eval<R: Real>(&self, um: &[R; N], up: &[R; N], n: &[R; D]) -> [R; N] {
        self.1.eval(&self.0, um, up, n)
    }

    fn state(&self, random: &mut Random) -> [f64; N] {
        random.numbers()
    }
}

impl<L, B, const D: usize, const N: usize> Formula<D, N> for OuterOf<L, B>
where
    L: Law<D, N> + Copy,
    B: Boundary<L, D, N> + Copy,
{
    fn eval<R: Real>(&self, um: &[R; N], up: &[R; N], n: &[R; D]) -> [R; N] {
        self.1.outer(&self.0, um, n, up)
    }

    fn state(&self, random: &mut Random) -> [f64; N] {
        random.numbers()
    }
}

/// A numerical flux.
#[derive(Clone, Copy)]
pub(crate) struct Flux<F>(pub(crate) F);

/// The outer state of a boundary condition; the second state is its data.
#[derive(Clone, Copy)]
pub(crate) struct Outer<B>(pub(crate) B);

/// A diffusive flux; the second state varies along the normal only.
#[derive(Clone, Copy)]
pub(crate) struct Viscous(pub(crate) NavierStokes);

/// A diffusive flux with a closure; the gradient has both states.
#[derive(Clone, Copy)]
pub(crate) struct Eddy(pub(crate) Closure);

/// The face state of a boundary condition plus the diffusive flux through the face.
#[derive(Clone, Copy)]
pub(crate) struct Face<B>(pub(crate) B);

/// A sponge towards the second state, with the force `n`.
#[derive(Clone, Copy)]
pub(crate) struct Reactions;

macro_rules! reactions {
    ($d:literal, $n:literal, $c:literal) => {
        impl Formula<$d, $n> for Reactions {
            fn eval<R: Real>(&self, um: &[R; $n], up: &[R; $n], n: &[R; $d]) -> [R; $n] {
                let c: [R; $c] = std::array::from_fn(|k| if k == 0 { n[0] } else { up[k - 1] });
                let (damping, force) = (Sponge.rate(um, &c), BodyForce.rate(um, n));
                std::array::from_fn(|k| damping[k] + force[k])
            }

            fn state(&self, random: &mut Random) -> [f64; $n] {
                random.gas::<$d, $n>()
            }
        }
    };
}
reactions!(2, 4, 5);
reactions!(3, 5, 6);

/// A two-point flux.
#[derive(Clone, Copy)]
pub(crate) struct Split<F>(pub(crate) F);

/// The gradient `n ⊗ u`.
fn gradient<R: Real, const D: usize, const N: usize>(u: &[R; N], n: &[R; D]) -> [[R; N]; D] {
    n.map(|n| u.map(|u| u * n))
}

impl<const D: usize, const N: usize> Formula<D, N> for Viscous
where
    Euler: Law<D, N>,
    NavierStokes: Diffusion<D, N>,
{
    fn eval<R: Real>(&self, um: &[R; N], up: &[R; N], n: &[R; D]) -> [R; N] {
        self.0.normal_diffusive_flux(um, &gradient(up, n), n)
    }

    fn state(&self, random: &mut Random) -> [f64; N] {
        random.gas::<D, N>()
    }
}

impl<const D: usize, const N: usize> Formula<D, N> for Eddy
where
    Euler: Law<D, N>,
    NavierStokes: Diffusion<D, N>,
{
    fn eval<R: Real>(&self, um: &[R; N], up: &[R; N], n: &[R; D]) -> [R; N] {
        let closure = EddyViscosity { mixing: 0.3, ..EddyViscosity::usual(self.0) };
        let law = NavierStokes { closure: Some(closure), ..SYRUP };
        let grad = std::array::from_fn(|d| {
            std::array::from_fn(|k| up[k] * n[d] + um[(k + d) % N] * n[(d + 1) % D] * R::lit(0.5 + d as f64))
        });
        let (flux, normal) = (law.diffusive_flux(um, &grad), law.normal_diffusive_flux(um, &grad, n));
        let nu = law.diffusivity_with(um, &grad, law.own_coefficient());
        std::array::from_fn(|k| flux[D - 1][k] + normal[k] + nu)
    }

    fn state(&self, random: &mut Random) -> [f64; N] {
        random.gas::<D, N>()
    }
}

impl<B: DiffusiveBoundary<NavierStokes, D, N> + Copy, const D: usize, const N: usize> Formula<D, N>
    for Face<B>
where
    Euler: Law<D, N>,
    NavierStokes: Diffusion<D, N>,
{
    fn eval<R: Real>(&self, um: &[R; N], up: &[R; N], n: &[R; D]) -> [R; N] {
        let ub = self.0.face_state(&AIR, um, n, up);
        let f = self.0.normal_flux(&AIR, um, &ub, &gradient(up, n), n, up);
        std::array::from_fn(|k| ub[k] + f[k])
    }

    fn state(&self, random: &mut Random) -> [f64; N] {
        random.gas::<D, N>()
    }
}

impl<F: TwoPointFlux<Euler, D, N>, const D: usize, const N: usize> Formula<D, N> for Split<F>
where
    Euler: Law<D, N>,
{
    fn eval<R: Real>(&self, um: &[R; N], up: &[R; N], n: &[R; D]) -> [R; N] {
        self.0.eval(&GAS, um, up, n)
    }

    fn state(&self, random: &mut Random) -> [f64; N] {
        random.gas::<D, N>()
    }
}

impl<F: NumericalFlux<Euler, D, N>, const D: usize, const N: usize> Formula<D, N> for Flux<F>
where
    Euler: Law<D, N>,
{
    fn eval<R: Real>(&self, um: &[R; N], up: &[R; N], n: &[R; D]) -> [R; N] {
        self.0.eval(&GAS, um, up, n)
    }

    fn state(&self, random: &mut Random) -> [f64; N] {
        random.gas::<D, N>()
    }
}

impl<B: Boundary<Euler, D, N> + Copy, const D: usize, const N: usize> Formula<D, N> for Outer<B>
where
    Euler: Law<D, N>,
{
    fn eval<R: Real>(&self, um: &[R; N], up: &[R; N], n: &[R; D]) -> [R; N] {
        self.0.outer(&GAS, um, n, up)
    }

    fn state(&self, random: &mut Random) -> [f64; N] {
        random.gas::<D, N>()
    }
}

/// Records a formula with the arguments of its device function.
pub(crate) fn body<F: Formula<D, N>, const D: usize, const N: usize>(
    formula: F,
) -> impl Fn(&Arguments<'_>) -> [Sym; N] {
    move |a| formula.eval(&a.array("um"), &a.array("up"), &a.array("n"))
}

/// The device function of a formula.
pub(crate) fn print<F: Formula<D, N>, const D: usize, const N: usize>(
    name: &str,
    formula: F,
    parameters: &mut Parameters,
) -> String {
    device_fn(name, &[("um", N), ("up", N), ("n", D)], parameters, body::<F, D, N>(formula)).unwrap()
}

/// The rows of `gas_fluxes!`.
macro_rules! fluxes_of_gas {
    ($visit:ident; $($variant:ident $word:literal $value:expr, $text:literal;)*) => {
        $( for_each_formula!(@dims $visit, $variant, Flux($value)); )*
    };
}
pub(crate) use fluxes_of_gas;

/// The diffusive parts of walls.
macro_rules! of_walls {
    ($visit:ident; $($name:ident $wall:expr;)*) => {
        $( for_each_formula!(@dims $visit, $name, Face($wall)); )*
    };
}
pub(crate) use of_walls;

/// Calls `$visit!(name, formula, D, N)` for every formula under test.
macro_rules! for_each_formula {
    ($visit:ident) => {
        gas_fluxes!(fluxes_of_gas! { $visit; });
        for_each_formula!(@dims $visit, roe_sparing, Flux(SPARING));
        for_each_formula!(@dims $visit, mirrored, Outer(SlipWall));
        for_each_formula!(@dims $visit, curved_wall, Outer(CurvedSlipWall));
        for_each_formula!(@dims $visit, pressure_outlet, Outer(PressureOutlet::at(0.7)));
        for_each_formula!(@dims $visit, far_field, Outer(FarField));
        for_each_formula!(@dims $visit, inflow, Outer(INFLOW));
        for_each_formula!(@dims $visit, viscous, Viscous(AIR));
        for_each_formula!(@dims $visit, viscous_constant, Viscous(SYRUP));
        for_each_formula!(@dims $visit, smagorinsky, Eddy(Closure::Smagorinsky));
        for_each_formula!(@dims $visit, wale, Eddy(Closure::Wale));
        for_each_formula!(@dims $visit, vreman, Eddy(Closure::Vreman));
        for_each_formula!(@dims $visit, sigma, Eddy(Closure::Sigma));
        for_each_formula!(@dims $visit, wall, Face(WALL));
        for_each_formula!(@dims $visit, isothermal_wall, Face(WARM));
        dgsuite_physics::walls!(of_walls! { $visit; });
        for_each_formula!(@dims $visit, outlet_face, Face(PressureOutlet::at(0.7)));
        for_each_formula!(@dims $visit, kennedy_gruber, Split(KennedyGruber));
        for_each_formula!(@dims $visit, reactions, Reactions);
        for_each_formula!(@both $visit, convection, FluxOf(CONVECTION, Rusanov), 2, 3);
        for_each_formula!(@both $visit, coupling, FluxOf(COUPLING, Central), 3, 4);
        for_each_formula!(@both $visit, penalty, FluxOf(Penalty, PenaltyFlux), 4, 5);
        for_each_formula!(@both $visit, transport, FluxOf(TRANSPORT, TransportFlux), 4, 6);
        for_each_formula!(@both $visit, open_pressure, Open(OPEN), 2, 3);
        for_each_formula!(@both $visit, still, OuterOf(COUPLING, ZeroVelocity), 3, 4);
        for_each_formula!(@both $visit, open, OuterOf(COUPLING, ZeroPressure), 3, 4);
        for_each_formula!(@both $visit, reflected, OuterOf(TRANSPORT, ZeroNormalVelocity), 4, 6);
        for_each_formula!(@both $visit, protected, OuterOf(CONVECTION, InflowProtected), 2, 3);
        for_each_tangent!($visit);
    };
    (@dims $visit:ident, $name:ident, $formula:expr) => {
        for_each_formula!(@both $visit, $name, $formula, 4, 5);
    };
    (@both $visit:ident, $name:ident, $formula:expr, $plane:literal, $space:literal) => {
        $visit!(concat!(stringify!($name), "_2d"), $formula, 2, $plane);
        $visit!(concat!(stringify!($name), "_3d"), $formula, 3, $space);
    };
}
pub(crate) use for_each_formula;

/// Deterministic random numbers in `[0, 1)` (xorshift).
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn next(&mut self) -> f64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as f64 / (1u64 << 53) as f64
    }

    /// Numbers between −3 and 3.
    pub(crate) fn numbers<const N: usize>(&mut self) -> [f64; N] {
        std::array::from_fn(|_| 6.0 * self.next() - 3.0)
    }

    /// An admissible state of a gas with velocities up to about Mach 5.
    pub(crate) fn gas<const D: usize, const N: usize>(&mut self) -> [f64; N]
    where
        Euler: Law<D, N>,
    {
        let w: [f64; N] = std::array::from_fn(|k| {
            let x = self.next();
            if k == 0 || k == N - 1 { 0.05 + 3.0 * x } else { 6.0 * x - 3.0 }
        });
        GAS.to_conserved(&w)
    }

    /// A unit vector.
    pub(crate) fn normal<const D: usize>(&mut self) -> [f64; D] {
        let n: [f64; D] = std::array::from_fn(|_| 2.0 * self.next() - 1.0);
        let length = n.iter().map(|x| x * x).sum::<f64>().sqrt();
        n.map(|x| x / length)
    }
}
