//! The formulas recorded by these tests, each as a device function and as a Rust function of the same inputs.

use dgsuite_physics::navier_stokes::Viscosity;
use dgsuite_physics::trace::{Arguments, Parameters, Sym, device_fn};
use dgsuite_physics::{
    Boundary, Diffusion, DiffusiveBoundary, Euler, FaceMean, Given, Law, NavierStokes, NoSlipWall,
    NumericalFlux, Real, Roe, SubsonicInflow, TwoPointFlux, WallHeat,
};

pub(crate) const GAS: Euler = Euler { gamma: 1.4 };

pub(crate) const AIR: NavierStokes = NavierStokes {
    gas: GAS,
    prandtl: 0.72,
    viscosity: Viscosity::Sutherland { mu_ref: 0.3, t_ref: 1.5, s: 0.6 },
    gas_constant: 0.8,
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

/// A formula of two states and a normal.
pub(crate) trait Formula<const D: usize, const N: usize>: Copy {
    fn eval<R: Real>(&self, um: &[R; N], up: &[R; N], n: &[R; D]) -> [R; N];
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

/// The face state of a boundary condition plus the diffusive flux through the face.
#[derive(Clone, Copy)]
pub(crate) struct Face<B>(pub(crate) B);

/// A two-point flux.
#[derive(Clone, Copy)]
pub(crate) struct Split<F>(pub(crate) F);

/// The gradient `n ⊗ u`.
fn gradient<R: Real, const D: usize, const N: usize>(u: &[R; N], n: &[R; D]) -> [[R; N]; D] {
    n.map(|n| u.map(|u| u * n))
}

impl<const D: usize, const N: usize> Formula<D, N> for Viscous
where
    NavierStokes: Diffusion<D, N>,
{
    fn eval<R: Real>(&self, um: &[R; N], up: &[R; N], n: &[R; D]) -> [R; N] {
        self.0.normal_diffusive_flux(um, &gradient(up, n), n)
    }
}

impl<B: DiffusiveBoundary<NavierStokes, D, N> + Copy, const D: usize, const N: usize> Formula<D, N>
    for Face<B>
where
    NavierStokes: Diffusion<D, N>,
{
    fn eval<R: Real>(&self, um: &[R; N], up: &[R; N], n: &[R; D]) -> [R; N] {
        let ub = self.0.face_state(&AIR, um, n, up);
        let f = self.0.normal_flux(&AIR, um, &ub, &gradient(up, n), n, up);
        std::array::from_fn(|k| ub[k] + f[k])
    }
}

impl<F: TwoPointFlux<Euler, D, N>, const D: usize, const N: usize> Formula<D, N> for Split<F>
where
    Euler: Law<D, N>,
{
    fn eval<R: Real>(&self, um: &[R; N], up: &[R; N], n: &[R; D]) -> [R; N] {
        self.0.eval(&GAS, um, up, n)
    }
}

impl<F: NumericalFlux<Euler, D, N>, const D: usize, const N: usize> Formula<D, N> for Flux<F>
where
    Euler: Law<D, N>,
{
    fn eval<R: Real>(&self, um: &[R; N], up: &[R; N], n: &[R; D]) -> [R; N] {
        self.0.eval(&GAS, um, up, n)
    }
}

impl<B: Boundary<Euler, D, N> + Copy, const D: usize, const N: usize> Formula<D, N> for Outer<B>
where
    Euler: Law<D, N>,
{
    fn eval<R: Real>(&self, um: &[R; N], up: &[R; N], n: &[R; D]) -> [R; N] {
        self.0.outer(&GAS, um, n, up)
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

/// Calls `$visit!(name, formula, D, N)` for every formula under test.
macro_rules! for_each_formula {
    ($visit:ident) => {
        for_each_formula!(@dims $visit, rusanov, Flux(Rusanov));
        for_each_formula!(@dims $visit, hll, Flux(Hll));
        for_each_formula!(@dims $visit, hllc, Flux(Hllc));
        for_each_formula!(@dims $visit, roe, Flux(Roe::PLAIN));
        for_each_formula!(@dims $visit, roe_low_mach, Flux(Roe::LOW_MACH));
        for_each_formula!(@dims $visit, roe_sparing, Flux(SPARING));
        for_each_formula!(@dims $visit, slip_wall, Outer(SlipWall));
        for_each_formula!(@dims $visit, pressure_outlet, Outer(PressureOutlet { p: 0.7.into() }));
        for_each_formula!(@dims $visit, far_field, Outer(FarField));
        for_each_formula!(@dims $visit, inflow, Outer(INFLOW));
        for_each_formula!(@dims $visit, viscous, Viscous(AIR));
        for_each_formula!(@dims $visit, viscous_constant, Viscous(SYRUP));
        for_each_formula!(@dims $visit, wall, Face(WALL));
        for_each_formula!(@dims $visit, isothermal_wall, Face(WARM));
        for_each_formula!(@dims $visit, slip_face, Face(SlipWall));
        for_each_formula!(@dims $visit, outlet_face, Face(PressureOutlet { p: 0.7.into() }));
        for_each_formula!(@dims $visit, kennedy_gruber, Split(KennedyGruber));
    };
    (@dims $visit:ident, $name:ident, $formula:expr) => {
        $visit!(concat!(stringify!($name), "_2d"), $formula, 2, 4);
        $visit!(concat!(stringify!($name), "_3d"), $formula, 3, 5);
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

    /// An admissible state with velocities up to about Mach 5.
    pub(crate) fn state<const D: usize, const N: usize>(&mut self) -> [f64; N]
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
