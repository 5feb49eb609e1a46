//! Formulas and their tangents, each as one function of two states and a normal.

use crate::fields::{CONSTANT, POWER, SUTHERLAND};
use crate::states::GAS;
use dgsuite_physics::formula::{Formula, Names};
use dgsuite_physics::reaction::{FormulaReaction, Reaction};
use dgsuite_physics::{
    Advection, Backflow, Boundary, Convection, Diffusion, DiffusiveBoundary, Dual, Euler, Given,
    Incompressible, Lanes, Law, NavierStokes, NoSlipWall, NumericalFlux, PressureOutlet, Real,
    SubsonicInflow, Tangent, Transport, TwoPointFlux, WallHeat,
};

/// A formula of two states and a normal, and its tangent of two states with their directions.
pub(crate) trait Pair<const D: usize, const N: usize, const M: usize> {
    fn inner<R: Real>(&self, a: &[R; N], b: &[R; N], n: &[R; D]) -> [R; N];
    fn tangent<R: Real>(&self, a: &[R; M], b: &[R; M], n: &[R; D]) -> [R; M];
}

/// A [`Pair`] for the number types under test, so that checks of them are compiled once.
pub(crate) trait Numbers<const D: usize, const N: usize, const M: usize> {
    fn inner(&self, a: &[f64; N], b: &[f64; N], n: &[f64; D]) -> [f64; N];
    fn inner_dual(&self, a: &[Dual<f64>; N], b: &[Dual<f64>; N], n: &[f64; D]) -> [Dual<f64>; N];
    fn tangent(&self, a: &[f64; M], b: &[f64; M], n: &[f64; D]) -> [f64; M];
    fn tangent_lanes(&self, a: &[Pack; M], b: &[Pack; M], n: &[f64; D]) -> [Pack; M];
}

pub(crate) type Pack = Lanes<f64, 2>;

impl<P: Pair<D, N, M>, const D: usize, const N: usize, const M: usize> Numbers<D, N, M> for P {
    fn inner(&self, a: &[f64; N], b: &[f64; N], n: &[f64; D]) -> [f64; N] {
        Pair::inner(self, a, b, n)
    }
    fn inner_dual(&self, a: &[Dual<f64>; N], b: &[Dual<f64>; N], n: &[f64; D]) -> [Dual<f64>; N] {
        Pair::inner(self, a, b, &n.map(Dual::constant))
    }
    fn tangent(&self, a: &[f64; M], b: &[f64; M], n: &[f64; D]) -> [f64; M] {
        Pair::tangent(self, a, b, n)
    }
    fn tangent_lanes(&self, a: &[Pack; M], b: &[Pack; M], n: &[f64; D]) -> [Pack; M] {
        Pair::tangent(self, a, b, &n.map(Lanes::splat))
    }
}

/// The fluxes of a law along the normal, by both ways; the sum of both sides; and the primitive unknowns.
pub(crate) struct OfLaw<L>(pub(crate) L);

/// A numerical flux, and the same scaled by a number that is no power of two.
pub(crate) struct Flux<L, F>(pub(crate) L, pub(crate) F);

/// A two-point flux.
pub(crate) struct Split<L, F>(pub(crate) L, pub(crate) F);

/// The outer state of a condition; the second state is its data.
pub(crate) struct Outer<L, B>(pub(crate) L, pub(crate) B);

/// The diffusive flux along the normal, by both ways; the gradient depends on both states.
pub(crate) struct Viscous<V>(pub(crate) V);

/// The diffusive flux through a face, with the face state; the second state is the data.
pub(crate) struct Face<V, B>(pub(crate) V, pub(crate) B);

/// A source term with the coefficients `c`.
pub(crate) struct Rate<S, const C: usize>(pub(crate) S, pub(crate) [f64; C]);

fn sum<R: Real, const K: usize>(a: [R; K], b: [R; K]) -> [R; K] {
    std::array::from_fn(|k| a[k] + b[k])
}

fn of_law<R: Real, L: Law<D, K>, const D: usize, const K: usize>(
    law: &L,
    a: &[R; K],
    b: &[R; K],
    n: &[R; D],
) -> [R; K] {
    let f = law.flux(a);
    let along = std::array::from_fn(|k| (1..D).fold(f[0][k] * n[0], |sum, d| f[d][k].mul_add(n[d], sum)));
    let (both, _) = law.flux_sum_and_speed(a, b, n);
    // Not the inverse of each other: the mean of the primitive unknowns.
    let half = R::lit(0.5);
    let w = sum(law.to_primitive(a), law.to_primitive(b)).map(|w| half * w);
    [law.normal_flux(a, n), both, law.to_primitive(b), law.to_conserved(&w)].into_iter().fold(along, sum)
}

fn flux<R: Real, L: Law<D, K>, F: NumericalFlux<L, D, K>, const D: usize, const K: usize>(
    law: &L,
    flux: F,
    a: &[R; K],
    b: &[R; K],
    n: &[R; D],
) -> [R; K] {
    sum(flux.eval(law, a, b, n), flux.eval_scaled(law, a, b, n, R::lit(0.3)))
}

fn gradient<R: Real, const D: usize, const K: usize>(a: &[R; K], b: &[R; K], n: &[R; D]) -> [[R; K]; D] {
    std::array::from_fn(|d| {
        std::array::from_fn(|k| b[k] * n[d] + a[k] * n[(d + 1) % D] * R::lit(0.5 + d as f64))
    })
}

fn viscous<R: Real, V: Diffusion<D, K>, const D: usize, const K: usize>(
    v: &V,
    a: &[R; K],
    b: &[R; K],
    n: &[R; D],
) -> [R; K] {
    let grad = gradient(a, b, n);
    let f = v.diffusive_flux(a, &grad);
    // Another vector than the normal.
    let m: [R; D] = std::array::from_fn(|d| n[d] * R::lit(0.4 + d as f64));
    let along = std::array::from_fn(|k| (1..D).fold(f[0][k] * m[0], |sum, d| f[d][k].mul_add(m[d], sum)));
    sum(v.normal_diffusive_flux(a, &grad, n), along)
}

fn face<R: Real, V, B, const D: usize, const K: usize>(
    v: &V,
    condition: &B,
    a: &[R; K],
    b: &[R; K],
    n: &[R; D],
) -> [R; K]
where
    V: Diffusion<D, K>,
    B: DiffusiveBoundary<V, D, K>,
{
    let ub = condition.face_state(v, a, n, b);
    sum(condition.normal_flux(v, a, &ub, &gradient(a, b, n), n, b), ub)
}

impl<L: Law<D, N>, const D: usize, const N: usize, const M: usize> Pair<D, N, M> for OfLaw<L> {
    fn inner<R: Real>(&self, a: &[R; N], b: &[R; N], n: &[R; D]) -> [R; N] {
        of_law(&self.0, a, b, n)
    }
    fn tangent<R: Real>(&self, a: &[R; M], b: &[R; M], n: &[R; D]) -> [R; M] {
        of_law(&Tangent::<_, N>(self.0.clone()), a, b, n)
    }
}

impl<L, F, const D: usize, const N: usize, const M: usize> Pair<D, N, M> for Flux<L, F>
where
    L: Law<D, N>,
    F: NumericalFlux<L, D, N>,
{
    fn inner<R: Real>(&self, a: &[R; N], b: &[R; N], n: &[R; D]) -> [R; N] {
        flux(&self.0, self.1, a, b, n)
    }
    fn tangent<R: Real>(&self, a: &[R; M], b: &[R; M], n: &[R; D]) -> [R; M] {
        flux(&Tangent::<_, N>(self.0.clone()), Tangent::<_, N>(self.1), a, b, n)
    }
}

impl<L, F, const D: usize, const N: usize, const M: usize> Pair<D, N, M> for Split<L, F>
where
    L: Law<D, N>,
    F: TwoPointFlux<L, D, N>,
{
    fn inner<R: Real>(&self, a: &[R; N], b: &[R; N], n: &[R; D]) -> [R; N] {
        self.1.eval(&self.0, a, b, n)
    }
    fn tangent<R: Real>(&self, a: &[R; M], b: &[R; M], n: &[R; D]) -> [R; M] {
        Tangent::<_, N>(self.1).eval(&Tangent(self.0.clone()), a, b, n)
    }
}

impl<L, B, const D: usize, const N: usize, const M: usize> Pair<D, N, M> for Outer<L, B>
where
    L: Law<D, N>,
    B: Boundary<L, D, N>,
{
    fn inner<R: Real>(&self, a: &[R; N], b: &[R; N], n: &[R; D]) -> [R; N] {
        self.1.outer(&self.0, a, n, b)
    }
    fn tangent<R: Real>(&self, a: &[R; M], b: &[R; M], n: &[R; D]) -> [R; M] {
        Tangent::<_, N>(self.1.clone()).outer(&Tangent(self.0.clone()), a, n, b)
    }
}

impl<V: Diffusion<D, N>, const D: usize, const N: usize, const M: usize> Pair<D, N, M> for Viscous<V> {
    fn inner<R: Real>(&self, a: &[R; N], b: &[R; N], n: &[R; D]) -> [R; N] {
        viscous(&self.0, a, b, n)
    }
    fn tangent<R: Real>(&self, a: &[R; M], b: &[R; M], n: &[R; D]) -> [R; M] {
        viscous(&Tangent::<_, N>(self.0.clone()), a, b, n)
    }
}

impl<V, B, const D: usize, const N: usize, const M: usize> Pair<D, N, M> for Face<V, B>
where
    V: Diffusion<D, N>,
    B: DiffusiveBoundary<V, D, N>,
{
    fn inner<R: Real>(&self, a: &[R; N], b: &[R; N], n: &[R; D]) -> [R; N] {
        face(&self.0, &self.1, a, b, n)
    }
    fn tangent<R: Real>(&self, a: &[R; M], b: &[R; M], n: &[R; D]) -> [R; M] {
        face(&Tangent::<_, N>(self.0.clone()), &Tangent::<_, N>(self.1.clone()), a, b, n)
    }
}

impl<S, const D: usize, const N: usize, const M: usize, const C: usize> Pair<D, N, M> for Rate<S, C>
where
    S: Reaction<N, C>,
{
    fn inner<R: Real>(&self, a: &[R; N], _b: &[R; N], _n: &[R; D]) -> [R; N] {
        self.0.rate(a, &self.1.map(R::lit))
    }
    fn tangent<R: Real>(&self, a: &[R; M], _b: &[R; M], _n: &[R; D]) -> [R; M] {
        Tangent::<_, N>(self.0.clone()).rate(a, &self.1.map(R::lit))
    }
}

pub(crate) const MOVING_WALL: NoSlipWall =
    NoSlipWall { heat: WallHeat::Adiabatic, velocity: Some(Given::vector([0.5, -0.25, 0.75])) };
/// The velocity and the temperature are data.
pub(crate) const GIVEN_WALL: NoSlipWall = NoSlipWall {
    heat: WallHeat::Isothermal { temperature: Given::Prescribed },
    velocity: Some([Given::Prescribed; 3]),
};
pub(crate) const WARM_WALL: NoSlipWall =
    NoSlipWall { heat: WallHeat::Isothermal { temperature: Given::Constant(1.2) }, velocity: None };
pub(crate) const INFLOW: SubsonicInflow = SubsonicInflow {
    total_pressure: Given::Constant(3.0),
    total_temperature: Given::Constant(2.0),
    gas_constant: 0.8,
    direction: None,
};
pub(crate) const GIVEN_INFLOW: SubsonicInflow = SubsonicInflow {
    total_pressure: Given::Prescribed,
    total_temperature: Given::Prescribed,
    direction: Some([Given::Prescribed; 3]),
    ..INFLOW
};
pub(crate) const GIVEN_OUTLET: PressureOutlet = PressureOutlet {
    p: Given::Prescribed,
    backflow: Some(Backflow {
        temperature: Given::Prescribed,
        gas_constant: 0.8,
        velocity: Some([Given::Prescribed; 3]),
    }),
};
pub(crate) const COUPLING: Incompressible = Incompressible { viscosity: 0.01 };
pub(crate) const CONVECTION: Convection = Convection { factor: 1.25 };
pub(crate) const TRANSPORT: Transport = Transport { factor: 1.25 };

/// A gas that the compiler does not know. It would replace powers with a known exponent, in one of two
/// formulas perhaps.
pub(crate) fn gas() -> Euler {
    std::hint::black_box(GAS)
}

/// The gases with viscosity, likewise.
pub(crate) fn viscous_gases() -> [NavierStokes; 3] {
    [CONSTANT, SUTHERLAND, POWER].map(|ns| std::hint::black_box(NavierStokes { gas_constant: 0.8, ..ns }))
}

pub(crate) fn advection<const D: usize>() -> Advection<D> {
    Advection { velocity: std::array::from_fn(|d| [0.7, -1.1, 0.4][d]) }
}

/// Cooling `∂(ρE)/∂t = −p²ρ`, beside a drag, as formulas of the primitive unknowns.
pub(crate) fn cooling<const D: usize, const N: usize>() -> FormulaReaction<Euler, D>
where
    Euler: Law<D, N>,
{
    let names = GAS.primitives().into_iter().chain(["x", "y", "z"]);
    let names = Names::new(names);
    let formula = |text: &str| Some(Formula::parse(text, &names).unwrap());
    let mut formulas = vec![None; N];
    formulas[1] = formula("-u*sqrt(u^2 + v^2 + x)");
    formulas[N - 1] = formula("-p^2*rho*exp(-y)");
    FormulaReaction { law: GAS, formulas: formulas.into(), stiffness: 1.5 }
}
