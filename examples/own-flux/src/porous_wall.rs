//! A wall through which gas passes by the difference of pressures.

use std::sync::Arc;

use dgsuite::conditions::{Condition, OfModel, value};
use dgsuite::file::keys::{Absent, GAS, Kind, Range, row};
use dgsuite::file::problem::InputError;
use dgsuite::file::section::Section;
use dgsuite::own::ConditionKind;
use dgsuite_physics::{Boundary, Diffusion, DiffusiveBoundary, Euler, Law, NavierStokes, Real};
use dgsuite_solve::own::condition;

/// The normal velocity at the wall is σ (p − p₀)/(ρ c), with the porosity σ and the pressure p₀ behind it:
/// the outer state has density and pressure of the inner one, and a normal velocity of which the mean is
/// that.
///
/// For sound in gas at rest the energy that a DG scheme loses there is
/// ρc (v_n² − σ v_n q + σ q²) with q = (p − p₀)/(ρc), which is positive for 0 ≤ σ ≤ 1.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PorousWall {
    porosity: f64,
    behind: f64,
}

impl<const D: usize, const N: usize> Boundary<Euler, D, N> for PorousWall
where
    Euler: Law<D, N>,
{
    const NAME: &'static str = "porous-wall";
    const USES_DATA: bool = false;

    #[inline(always)]
    fn outer<R: Real>(&self, law: &Euler, um: &[R; N], n: &[R; D], _: &[R; N]) -> [R; N] {
        // Numbers of the condition are parameters, so that one kernel serves all of their values.
        let (porosity, behind) = (R::param("porosity", self.porosity), R::param("behind", self.behind));
        let mut w = law.to_primitive(um);
        let normal = (0..D).fold(R::lit(0.0), |sum, d| w[1 + d].mul_add(n[d], sum));
        let sound = law.normal_speed(um, n) - normal.abs();
        let through = porosity * (w[N - 1] - behind) / (w[0] * sound);
        let change = R::lit(2.0) * (through - normal);
        (0..D).for_each(|d| w[1 + d] = change.mul_add(n[d], w[1 + d]));
        law.to_conserved(&w)
    }
}

/// Without friction, and adiabatic.
impl<const D: usize, const N: usize> DiffusiveBoundary<NavierStokes, D, N> for PorousWall
where
    Euler: Law<D, N>,
    NavierStokes: Diffusion<D, N>,
{
}

/// The condition as pipeline files know it.
pub(crate) const CONDITION: ConditionKind = ConditionKind {
    name: "porous-wall",
    models: GAS,
    keys: &[
        row(
            "boundaries.<name>.porosity",
            &[Kind::Number(Range::Between(0.0, 1.0))],
            Absent::Required,
            "The velocity through the wall, relative to (p - behind)/(rho c).",
        )
        .of(GAS)
        .with(&["porous-wall"]),
        row(
            "boundaries.<name>.behind",
            &[Kind::Number(Range::Above(0.0))],
            Absent::Required,
            "The pressure behind the wall.",
        )
        .of(GAS)
        .with(&["porous-wall"]),
    ],
    elsewhere: "",
    read,
};

fn read(section: &Section<'_>, _: OfModel<'_>) -> Result<Arc<dyn Condition>, InputError> {
    let missing = |key: &str, what: &str| section.missing(key, what);
    let porosity = section.number("porosity")?.ok_or_else(|| missing("porosity", "a number from 0 to 1"))?;
    if !(0.0..=1.0).contains(&porosity.value) {
        return Err(InputError::range(&porosity, "from 0 to 1"));
    }
    let behind =
        section.positive("behind")?.ok_or_else(|| missing("behind", "the pressure behind the wall"))?;
    Ok(value(condition(PorousWall { porosity: porosity.value, behind: behind.value })))
}
