//! The parameters of incompressible flow.

use super::scalars::{MOST_SCALARS, Scalar};
use crate::elliptic::SolverOptions;
use dgsuite_ops::StepMeasure;
use dgsuite_physics::Exact;
use dgsuite_physics::closures::EddyViscosity;
use dgsuite_physics::incompressible::{
    Buoyancy, ScalarFormulas, VariableDiffusivity, VariableViscosity, ViscosityFormula, force_of_scalars,
};
use dgsuite_physics::source::{Manufactured, ScalarDiffusivity, SourceError};
use dgsuite_physics::trace::StateRecording;
use dgsuite_timeint::Scheme;

/// How velocity and pressure are decoupled in a step of size Δt of a backward difference formula.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Splitting {
    /// Explicit convection, a Poisson problem for the pressure, projection, then an implicit viscous step. At
    /// walls the pressure balances the viscous term of the last step and its extrapolated change.
    ///
    /// # Source
    /// Karniadakis, Israeli, Orszag, J. Comput. Phys. 97 (1991) 414–443, and Guermond, Shen, SIAM J. Numer.
    /// Anal. 41 (2003) 112–134, with the weak forms and boundary data of Fehn, Wall, Kronbichler, J. Comput.
    /// Phys. 351 (2017) 392–421.
    #[default]
    Dual,
    /// An implicit viscous step with the old pressure, then a Poisson problem for the pressure's increment.
    ///
    /// # Source
    /// Guermond, Minev, Shen, Comput. Methods Appl. Mech. Engrg. 195 (2006) 6011–6045.
    PressureCorrection {
        /// Whether ν∇·û is subtracted from the pressure (the rotational form), which removes the artificial
        /// boundary condition ∂p/∂n = const at walls.
        rotational: bool,
    },
}

/// Factors ζ of the penalties on divergence and on normal jumps of the velocity; 0 for none.
///
/// After the projection in each step the velocity û is replaced by the solution `u` of
///
/// ```text
/// (v, u) + Δt Σ_e τ_D (∇·v, ∇·u) + Δt Σ_f τ_C ⟨[v]·n, [u]·n⟩ = (v, û)   for all v
/// τ_D = ζ_D |u| h/(p + 1),   τ_C = ζ_C |u|
/// ```
///
/// with the mean speed `|u|` of an element (of both elements of a face), `h` the element's volume to the
/// power `1/d`, and the order `p`.
///
/// # Source
/// Fehn, Wall, Kronbichler, J. Comput. Phys. 372 (2018) 667–693.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Penalties {
    /// ζ_D, of the divergence.
    pub divergence: f64,
    /// ζ_C, of the normal jumps.
    pub continuity: f64,
}

impl Penalties {
    /// No penalties.
    pub const NONE: Self = Self { divergence: 0.0, continuity: 0.0 };
}

impl Default for Penalties {
    fn default() -> Self {
        Self { divergence: 1.0, continuity: 1.0 }
    }
}

/// The polynomial order of the pressure, for velocities of order p.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PressureOrder {
    /// p.
    #[default]
    Equal,
    /// p − 1, at least 1. This needs the penalty on the divergence; the penalty of the pressure's operator is
    /// that of order p. Otherwise the projection would add to the energy of the flow.
    Lower,
}

impl PressureOrder {
    /// The order of the pressure for velocities of degree `order`.
    #[must_use]
    pub const fn of(self, order: usize) -> usize {
        match self {
            Self::Equal => order,
            Self::Lower => order.saturating_sub(1),
        }
    }
}

/// The number of explicit sub-steps of convection in each step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Subcycling {
    /// The same number in every step, at least 1.
    Number(usize),
    /// In each step the smallest number for which the sub-steps have at most this CFL number in the velocity
    /// at the start of the step; `None` for the largest stable sub-step.
    Cfl(Option<f64>),
}

impl Subcycling {
    /// The measure of the size of a sub-step and its largest value, for polynomials of degree `order`; `None`
    /// if the number of sub-steps is fixed.
    #[must_use]
    pub fn bound(self, order: usize) -> Option<(StepMeasure, f64)> {
        match self {
            Self::Number(_) => None,
            Self::Cfl(Some(cfl)) => Some((StepMeasure::Cfl, cfl)),
            Self::Cfl(None) => Some((StepMeasure::Radius, Scheme::Lserk54.stable_radius(order))),
        }
    }
}

/// A prescribed flow rate, as in a channel that is periodic along the flow: a uniform force per mass, which
/// is computed in each step, keeps the mean velocity.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FlowRate {
    /// The unit vector along the force.
    pub direction: [f64; 3],
    /// The mean over the domain of the velocity in this direction; of a gas the bulk velocity `∫ρ u·e / ∫ρ`.
    pub mean: f64,
}

/// The preconditioner of the viscous step `(s M + ν A) u = b`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VelocityPreconditioner {
    /// The inverse mass matrix, for steps that are small for the viscosity.
    Mass,
    /// The inverse diagonal.
    Jacobi,
    /// Point Jacobi with linelets, for steps that are large across thin elements only.
    Linelets,
    /// p-multigrid and algebraic multigrid, for steps that are large for the viscosity in all directions.
    PmgAmg,
}

impl VelocityPreconditioner {
    /// The values of the key in the pipeline file.
    pub const WORDS: [(&'static str, Self); 4] = [
        ("mass", Self::Mass),
        ("jacobi", Self::Jacobi),
        ("linelets", Self::Linelets),
        ("pmg-amg", Self::PmgAmg),
    ];

    /// The value of the key in the pipeline file.
    #[must_use]
    pub fn word(self) -> &'static str {
        Self::WORDS.iter().find(|(_, kind)| *kind == self).map_or("", |(word, _)| word)
    }
}

/// The conjugate gradients for the velocity.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct VelocityOptions {
    /// The preconditioner; `None`: chosen in each step by its size and the mesh.
    pub preconditioner: Option<VelocityPreconditioner>,
    /// Ratio of the last residual's norm to that of the right-hand side.
    pub tolerance: f64,
    /// Largest number of iterations.
    pub max_iterations: usize,
}

impl Default for VelocityOptions {
    fn default() -> Self {
        Self { preconditioner: None, tolerance: 1e-8, max_iterations: 500 }
    }
}

/// The law of incompressible flow, with its time integration and linear solvers.
#[derive(Clone, Debug, PartialEq)]
pub struct Incompressible {
    /// Kinematic viscosity ν, positive; the least one ν₀ if it varies.
    pub viscosity: f64,
    /// The kinematic viscosity as a formula, if it varies. What it differs from ν₀ is explicit.
    pub viscosity_formula: Option<Box<ViscosityFormula>>,
    /// Order of the backward difference formula and of the extrapolation of explicit terms: 1, 2 or 3.
    pub time_order: usize,
    /// Whether the first step is Δt/100 and the next ones grow to Δt. Without it, the first steps of order 1
    /// limit the accuracy of formulas of order 3 to order 2.
    pub graded_start: bool,
    /// How velocity and pressure are decoupled.
    pub splitting: Splitting,
    /// Explicit sub-steps of convection in each step; `None`: convection is extrapolated.
    pub subcycles: Option<Subcycling>,
    /// The scalars that the flow carries, at most [`MOST_SCALARS`](super::MOST_SCALARS).
    pub scalars: Vec<Scalar>,
    /// A model of the scales that the mesh does not resolve, if there is one.
    pub closure: Option<Box<EddyViscosity>>,
    /// The force of buoyancy, which needs a first scalar.
    pub buoyancy: Option<Buoyancy>,
    /// A force by formulas of the scalars, of place and of time. One that reads no scalar is a source of the
    /// set-up.
    pub forcing: Option<Box<ScalarFormulas>>,
    /// A mean velocity that a uniform force keeps; `None`: no such force.
    pub flow_rate: Option<FlowRate>,
    /// The order of the pressure.
    pub pressure_order: PressureOrder,
    /// Penalties on divergence and normal jumps.
    pub penalties: Penalties,
    /// Factor of `max |n·u|` in the local Lax–Friedrichs flux of convection.
    pub lax_friedrichs: f64,
    /// The solver of the pressure.
    pub pressure: SolverOptions,
    /// The solver of the velocity components, of the scalars, and of the penalties.
    pub velocity: VelocityOptions,
}

impl Incompressible {
    /// Returns the law with the viscosity ν and default parameters: order 2 in time with a graded start, dual
    /// splitting, no sub-steps, equal orders, both penalties and a Lax–Friedrichs factor of 1.
    #[must_use]
    pub fn new(viscosity: f64) -> Self {
        Self {
            viscosity,
            viscosity_formula: None,
            time_order: 2,
            graded_start: true,
            splitting: Splitting::default(),
            subcycles: None,
            scalars: Vec::new(),
            closure: None,
            buoyancy: None,
            forcing: None,
            flow_rate: None,
            pressure_order: PressureOrder::default(),
            penalties: Penalties::default(),
            lax_friedrichs: 1.0,
            pressure: SolverOptions::default(),
            velocity: VelocityOptions::default(),
        }
    }

    /// The number of times of which a run keeps fields: rates of change need two.
    pub(crate) fn kept_times(&self) -> usize {
        self.time_order.clamp(2, 3)
    }

    /// The name of the time scheme in pipeline files.
    #[must_use]
    pub const fn scheme_name(&self) -> &'static str {
        match self.time_order {
            1 => "bdf1",
            3 => "bdf3",
            _ => "bdf2",
        }
    }

    /// The default product of step and spectral radius of convection for polynomials of degree `order`: that
    /// of each sub-step times their number, or nine tenths of the limit of the extrapolated formula for
    /// upwind discontinuous Galerkin operators. The formula of order 1 has no limit of its own in long runs;
    /// it uses that of order 2. Without a limit, as for sub-steps that follow from a CFL number, the result
    /// is infinite.
    #[must_use]
    pub fn stable_radius(&self, order: usize) -> f64 {
        let explicit = Scheme::Lserk54.stable_radius(order);
        match self.subcycles {
            Some(Subcycling::Number(n)) => explicit * n as f64,
            Some(Subcycling::Cfl(_)) => f64::INFINITY,
            None => explicit * share(self.time_order, order),
        }
    }

    /// The stress that the constant viscosity leaves out: of a closure, or of a viscosity that varies; and
    /// the fluxes of scalars that constant diffusivities leave out.
    pub(crate) fn variable_viscosity(&self) -> Option<VariableViscosity> {
        let (closure, formula) =
            (self.closure.as_deref().copied(), self.viscosity_formula.as_deref().cloned());
        let diffusivities: [_; MOST_SCALARS] = std::array::from_fn(|k| {
            let scalar = self.scalars.get(k)?;
            let formula = scalar.formula.clone()?;
            Some(VariableDiffusivity { constant: scalar.diffusivity, formula })
        });
        let varies = closure.is_some() || formula.is_some() || diffusivities.iter().any(Option::is_some);
        let constant = VariableViscosity::of(self.viscosity);
        varies.then_some(VariableViscosity { closure, formula, diffusivities, ..constant })
    }

    /// Whether viscosity or diffusivities have an explicit part.
    #[must_use]
    pub fn has_explicit_stress(&self) -> bool {
        self.variable_viscosity().is_some()
    }

    /// Whether a force depends on the scalars, buoyancy or another one.
    #[must_use]
    pub const fn has_forces(&self) -> bool {
        self.buoyancy.is_some() || self.forcing.is_some()
    }

    /// The force that depends on the scalars in `dim` dimensions, if there is one.
    pub(crate) fn force_of_scalars(&self, dim: usize) -> Option<StateRecording> {
        let of = (dim, self.scalars.len());
        force_of_scalars(of, self.buoyancy.as_ref(), self.forcing.as_deref())
    }

    /// The force and the sources of the scalars for which `exact` is a solution.
    pub(crate) fn manufactured(
        &self,
        dim: usize,
        exact: &dyn Exact,
    ) -> Result<(Manufactured, Vec<Manufactured>), SourceError> {
        let mut scalars = Vec::new();
        for Scalar { diffusivity, formula, .. } in &self.scalars {
            scalars.push(ScalarDiffusivity { constant: *diffusivity, formula: formula.as_ref() });
        }
        let force = self.force_of_scalars(dim);
        Manufactured::with_scalars(dim, self.viscosity, &scalars, force.as_ref(), exact)
    }

    /// The viscosity of the fluid, without eddies, in a state `(u, p, T, …)` with the gradient
    /// `[axis][unknown]`.
    pub(crate) fn viscosity_at(&self, state: &[f64], gradient: &[Vec<f64>]) -> f64 {
        let Some(formula) = &self.viscosity_formula else { return self.viscosity };
        let dim = gradient.len();
        let mut squares = 0.0;
        for d in 0..dim {
            squares += (0..dim).map(|i| (gradient[d][i] + gradient[i][d]).powi(2)).sum::<f64>();
        }
        formula.at(&state[dim + 1..], (0.5 * squares).sqrt()).max(self.viscosity)
    }

    /// The largest product of the step and the spectral radius of explicit diffusion, that of a closure: at
    /// the limit the solution changes its sign in each step, so that `ζ = −1` is a root of
    /// `γζᴶ − Σ α_i ζᴶ⁻¹⁻ⁱ + z Σ β_i ζᴶ⁻¹⁻ⁱ`. What the implicit viscosity damps in addition is left out.
    pub(crate) const fn explicit_diffusion(&self) -> f64 {
        match self.time_order {
            1 => 2.0,
            3 => 20.0 / 21.0,
            _ => 4.0 / 3.0,
        }
    }
}

/// The step limit of BDF2 or BDF3 with extrapolation of the same order relative to that of LSERK(5,4), for
/// upwind discontinuous Galerkin operators of degrees 1 to 8 in one dimension: the largest `c Δt/h` for which
/// no mode grows by more than 1e-6 in a step.
fn share(time_order: usize, order: usize) -> f64 {
    const LSERK54: [f64; 8] = [0.679, 0.352, 0.220, 0.152, 0.113, 0.087, 0.070, 0.057];
    const BDF2: [f64; 8] = [0.205, 0.056, 0.024, 0.0139, 0.0093, 0.0069, 0.0054, 0.0044];
    const BDF3: [f64; 8] = [0.157, 0.080, 0.050, 0.0342, 0.0252, 0.0194, 0.0155, 0.0127];
    let at = order.clamp(1, LSERK54.len()) - 1;
    let limits = if time_order == 3 { BDF3 } else { BDF2 };
    limits[at] / LSERK54[at]
}
