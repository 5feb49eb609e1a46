//! The parameters of a solver: law, scheme, boundaries, device.

pub(crate) mod formulas;
mod incompressible;
pub mod own;
mod scalars;

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

pub use self::incompressible::{
    FlowRate, Incompressible, Penalties, PressureOrder, Splitting, Subcycling, VelocityOptions,
    VelocityPreconditioner,
};
use self::own::{Flux, OwnCondition};
pub use self::scalars::{MOST_SCALARS, Scalar, ScalarCondition, ScalarData, TEMPERATURE};
use super::device::Device;
use super::elliptic::{linelets, weights};
use super::error::SystemError;
pub use super::precision::Precision;
use super::rank_mesh::RankMesh;
use super::two_point::SplitFlux;
use dgsuite_basis::correction::Parameter;
use dgsuite_basis::{Correction, Cubature, NodeSet, Polynomials, Representation};
use dgsuite_gpu::comm::{Alone, Communicator};
use dgsuite_mesh::{Cutting, Partition, Shape};
use dgsuite_ops::{Form, Limiting, Ranks, Scheme as Space, StepMeasure, basis_size};
use dgsuite_physics::closures::EddyViscosity;
use dgsuite_physics::exact::{Context, Model};
use dgsuite_physics::formula::Formula;
use dgsuite_physics::gas_fluxes;
pub use dgsuite_physics::incompressible::Buoyancy;
use dgsuite_physics::navier_stokes::Viscosity;
use dgsuite_physics::source::Manufactured;
use dgsuite_physics::trace::StateRecording;
use dgsuite_physics::{Coefficients, Euler, Exact, Given, NavierStokes, Source};
use dgsuite_timeint::{Esdirk, Scheme};

/// The highest polynomial order: reference matrices are well conditioned and tested up to it.
pub const MAX_ORDER: usize = 10;

/// The law.
#[derive(Clone, Debug, PartialEq)]
#[expect(clippy::large_enum_variant, reason = "a run has few laws, and copies none in its steps")]
pub enum Law {
    /// Linear advection of one unknown, `u`.
    Advection {
        /// Velocity, one component for each dimension.
        velocity: Vec<f64>,
    },
    /// The compressible Euler equations of a perfect gas.
    Euler {
        /// Ratio of specific heats.
        gamma: f64,
        /// The specific gas constant in `p = ρ R T`, which temperatures of output and boundaries need.
        gas_constant: f64,
    },
    /// The compressible Navier–Stokes equations of a perfect gas.
    NavierStokes(NavierStokes),
    /// The incompressible Navier–Stokes equations.
    Incompressible(Incompressible),
}

/// The numbers of a closure, by the names of their keys in `physics`.
fn of_closure(closure: &EddyViscosity) -> [(String, f64); 2] {
    let key = |name: &str| format!("closure.{}.{name}", closure.closure.name());
    [(key("constant"), closure.constant), (key("turbulent_prandtl"), closure.prandtl)]
}

impl Law {
    /// The name in pipeline files and checkpoints.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Advection { .. } => "advection",
            Self::Euler { .. } => "euler",
            Self::NavierStokes(_) => "navier-stokes",
            Self::Incompressible(_) => "incompressible",
        }
    }

    /// The parameters, by the names of their keys in `physics`.
    #[must_use]
    pub fn parameters(&self) -> Vec<(String, f64)> {
        let named = |list: &[(&str, f64)]| list.iter().map(|&(name, x)| (name.to_owned(), x)).collect();
        let NavierStokes { gas, prandtl, viscosity, gas_constant, closure } = match self {
            Self::Advection { velocity } => {
                return velocity.iter().enumerate().map(|(d, &a)| (format!("velocity.{d}"), a)).collect();
            }
            Self::Euler { gamma, .. } => return named(&[("gamma", *gamma)]),
            Self::Incompressible(law) => {
                let mut all = named(&[("viscosity", law.viscosity)]);
                all.extend(law.scalars.iter().map(|s| (format!("{}.diffusivity", s.name), s.diffusivity)));
                if let Some(Buoyancy { gravity, expansion, reference }) = law.buoyancy {
                    let gravity =
                        gravity.iter().enumerate().map(|(d, &g)| (format!("buoyancy.gravity.{d}"), g));
                    all.extend(gravity);
                    all.push(("buoyancy.expansion".to_owned(), expansion));
                    all.push(("buoyancy.reference".to_owned(), reference));
                }
                all.extend(law.closure.iter().flat_map(|closure| of_closure(closure)));
                return all;
            }
            Self::NavierStokes(law) => law,
        };
        let mut all = vec![("gamma", gas.gamma), ("prandtl", *prandtl), ("gas_constant", *gas_constant)];
        match *viscosity {
            Viscosity::Constant { mu } => all.push(("viscosity.constant", mu)),
            Viscosity::PowerLaw { mu_ref, t_ref, exponent } => all.extend([
                ("viscosity.power.mu_ref", mu_ref),
                ("viscosity.power.t_ref", t_ref),
                ("viscosity.power.exponent", exponent),
            ]),
            Viscosity::Sutherland { mu_ref, t_ref, s } => all.extend([
                ("viscosity.sutherland.mu_ref", mu_ref),
                ("viscosity.sutherland.t_ref", t_ref),
                ("viscosity.sutherland.s", s),
            ]),
        }
        let mut all = named(&all);
        all.extend(closure.iter().flat_map(of_closure));
        all
    }

    /// The model for exact solutions and manufactured source terms.
    #[must_use]
    pub fn model(&self) -> Model {
        match self {
            Self::Advection { velocity } => Model::Advection {
                velocity: std::array::from_fn(|d| velocity.get(d).copied().unwrap_or(0.0)),
            },
            Self::Euler { gamma, .. } => Model::Euler { gamma: *gamma },
            Self::NavierStokes(viscous) => Model::NavierStokes(*viscous),
            Self::Incompressible(law) => Model::Incompressible { viscosity: law.viscosity },
        }
    }

    /// The gas, if the law has one.
    #[must_use]
    pub const fn gas(&self) -> Option<Euler> {
        match self {
            Self::Advection { .. } | Self::Incompressible(_) => None,
            Self::Euler { gamma, .. } => Some(Euler { gamma: *gamma }),
            Self::NavierStokes(viscous) => Some(viscous.gas),
        }
    }

    /// The specific gas constant in `p = ρ R T`; 1 if the law has none.
    #[must_use]
    pub const fn gas_constant(&self) -> f64 {
        match self {
            Self::Advection { .. } | Self::Incompressible(_) => 1.0,
            Self::Euler { gas_constant, .. } => *gas_constant,
            Self::NavierStokes(viscous) => viscous.gas_constant,
        }
    }

    /// The closure, if the law has one.
    #[must_use]
    pub fn closure(&self) -> Option<&EddyViscosity> {
        match self {
            Self::NavierStokes(law) => law.closure.as_ref(),
            Self::Incompressible(law) => law.closure.as_deref(),
            Self::Euler { .. } | Self::Advection { .. } => None,
        }
    }
}

/// Makes the choice from the rows of `gas_fluxes!`.
macro_rules! choice_of_fluxes {
    ($($variant:ident $word:literal $value:expr, $text:literal;)*) => {
        /// The numerical flux. Advection has only the upwind flux, to which Rusanov's flux reduces.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Riemann {
            $(#[doc = $text] $variant,)*
            /// One of another crate.
            Own(Flux),
        }

        impl Riemann {
            /// All fluxes of this workspace.
            pub const ALL: &'static [Self] = &[$(Self::$variant),*];

            /// Their words in pipeline files; `llf` is another one for `rusanov`.
            pub const WORDS: &'static [&'static str] = &[$($word,)* Self::LLF];

            /// The name in pipeline files.
            #[must_use]
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $word,)*
                    Self::Own(Flux(flux)) => flux.name(),
                }
            }
        }
    };
}

gas_fluxes!(choice_of_fluxes! {});

impl Riemann {
    /// Another word for [`Riemann::Rusanov`].
    pub const LLF: &'static str = "llf";
}

impl Default for Riemann {
    fn default() -> Self {
        Self::Rusanov
    }
}

/// The reduction of the pressure where flow enters through an open boundary, which keeps the energy bounded:
/// with the outward unit normal n, `p = ν n·∂u/∂n − ½|u|² Θ`, `Θ = ½ (1 − tanh(n·u/(U₀ δ)))`.
///
/// # Source
/// Dong, Karniadakis, Chryssostomidis, J. Comput. Phys. 261 (2014) 83–105.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Backflow {
    /// The velocity U₀; `None` for the root mean square of the flow's velocity over the domain, in each step.
    pub velocity: Option<f64>,
    /// The width δ of the step Θ, relative to U₀.
    pub delta: f64,
}

impl Default for Backflow {
    fn default() -> Self {
        Self { velocity: None, delta: 0.05 }
    }
}

/// A boundary condition.
#[derive(Clone)]
pub enum BoundaryKind {
    /// The outer state is prescribed.
    Prescribed(Arc<dyn Exact>),
    /// The outer state is the inner one.
    Outflow,
    /// An open boundary of incompressible flow, where the viscous stress balances the pressure.
    Open {
        /// How the pressure is reduced where the flow enters; `None` if it is zero there, too.
        backflow: Option<Backflow>,
        /// A solution whose pressure and normal derivative of the velocity are imposed instead of zero.
        data: Option<Arc<dyn Exact>>,
    },
    /// An inviscid wall.
    SlipWall,
    /// An inviscid wall along a curve of which the faces are chords.
    CurvedSlipWall {
        /// The unit normals of the curve: entries 1 to d of this state
        /// ([`EstimatedNormals`](super::curved_wall::EstimatedNormals), or known ones).
        normals: Arc<dyn Exact>,
    },
    /// A plane of symmetry.
    Symmetry,
    /// Waves enter from a prescribed free stream.
    FarField(Arc<dyn Exact>),
    /// Prescribed pressure at a subsonic outlet.
    PressureOutlet {
        /// Pressure.
        p: Given,
        /// Temperature of gas that comes back; `None` takes its entropy and its velocity along the boundary
        /// from inside.
        temperature: Option<Given>,
        /// A velocity of which gas that comes back has the part along the boundary; default: none.
        velocity: Option<[Given; 3]>,
        /// The prescribed values as functions: temperature, velocity, pressure; for incompressible flow an
        /// unused velocity and the pressure.
        data: Option<Arc<dyn Exact>>,
    },
    /// Prescribed total conditions at a subsonic inlet.
    SubsonicInflow {
        /// Total pressure.
        total_pressure: Given,
        /// Total temperature.
        total_temperature: Given,
        /// Unit vector of the velocity; default: against the normal.
        direction: Option<[Given; 3]>,
        /// The prescribed values as functions: total pressure, direction, total temperature.
        data: Option<Arc<dyn Exact>>,
    },
    /// A viscous wall.
    NoSlipWall {
        /// Velocity of the wall; default: at rest.
        velocity: Option<[Given; 3]>,
        /// Temperature of the wall; default: adiabatic.
        temperature: Option<Given>,
        /// The prescribed values as functions: an unused one, velocity, temperature; for incompressible flow
        /// velocity and an unused one.
        data: Option<Arc<dyn Exact>>,
    },
    /// A condition of a gas as a value, of this workspace or of another crate.
    Own(Arc<dyn OwnCondition>),
    /// Another condition, the data of which are formulas of the inner state.
    OfState {
        /// The condition. Its data are [`place_and_time`](dgsuite_ops::place_and_time).
        kind: Box<Self>,
        /// The data of the condition as functions of the primitive unknowns, place and time.
        formulas: Arc<StateRecording>,
    },
}

impl BoundaryKind {
    /// The name of the condition in the pipeline file.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self::OfState { kind, .. } => kind.name(),
            Self::Prescribed(_) => "dirichlet",
            Self::Outflow | Self::Open { .. } => "outflow",
            Self::SlipWall => "slip-wall",
            Self::CurvedSlipWall { .. } => "curved-slip-wall",
            Self::Symmetry => "symmetry",
            Self::FarField(_) => "far-field",
            Self::PressureOutlet { .. } => "pressure-outlet",
            Self::SubsonicInflow { .. } => "subsonic-inflow",
            Self::NoSlipWall { .. } => "no-slip-wall",
            Self::Own(condition) => condition.name(),
        }
    }

    /// The prescribed states or other numbers, if any.
    #[must_use]
    pub fn data(&self) -> Option<Arc<dyn Exact>> {
        match self {
            Self::Prescribed(data) | Self::FarField(data) | Self::CurvedSlipWall { normals: data } => {
                Some(Arc::clone(data))
            }
            Self::Open { data, .. }
            | Self::PressureOutlet { data, .. }
            | Self::SubsonicInflow { data, .. }
            | Self::NoSlipWall { data, .. } => data.clone(),
            Self::OfState { kind, .. } => kind.data(),
            Self::Own(_) | Self::Outflow | Self::SlipWall | Self::Symmetry => None,
        }
    }
}

impl fmt::Debug for BoundaryKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A source term `S` in `∂u/∂t + ∇·F = S`.
#[derive(Clone)]
pub enum SourceTerm {
    /// Derived such that this state is a solution of the equations.
    Manufactured(Arc<dyn Exact>),
    /// Given for each conserved variable, as a function of place and time.
    Given(Arc<dyn Source>),
}

impl fmt::Debug for SourceTerm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Manufactured(_) => "manufactured",
            Self::Given(_) => "given",
        })
    }
}

/// A source term of the state, with the coefficients of its point formula.
#[derive(Clone)]
pub enum ReactionTerm {
    /// Damping towards a reference state, [`Sponge`](dgsuite_physics::reaction::Sponge): the strength, then
    /// the conserved state.
    Sponge(Arc<dyn Coefficients>),
    /// A force per mass on a gas, [`BodyForce`](dgsuite_physics::reaction::BodyForce): one component for each
    /// direction.
    BodyForce(Arc<dyn Coefficients>),
    /// Formulas of the primitive variables and of `x, y, z` for each conserved variable,
    /// [`FormulaReaction`](dgsuite_physics::reaction::FormulaReaction).
    Formulas(Arc<[Option<Formula>]>),
}

impl fmt::Debug for ReactionTerm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Sponge(_) => "sponge",
            Self::BodyForce(_) => "body force",
            Self::Formulas(_) => "formulas",
        })
    }
}

/// A prescribed flow rate of a gas: a uniform force per mass, computed after each step, keeps the bulk
/// velocity.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Drive {
    /// The direction and the bulk velocity `∫ρ u·e / ∫ρ`.
    pub rate: FlowRate,
    /// Whether the work of the force is taken out as heat, equally for all mass, so that the force leaves the
    /// total energy.
    pub balanced: bool,
}

/// The parameters of a solver.
#[derive(Clone, Debug)]
pub struct Setup {
    /// Mesh.
    pub mesh: RankMesh,
    /// Law.
    pub law: Law,
    /// Numerical flux.
    pub riemann: Riemann,
    /// The share of the dissipation of Roe's flux between elements; in split form it is added to the
    /// two-point flux. Default: Roe's flux.
    pub dissipation: Option<f64>,
    /// The factor η of the lifted jumps in the viscous terms; default: the number of faces of the element.
    pub eta: Option<f64>,
    /// The filter width of a closure, a formula of `x`, `y`, `z` and `delta`; default: `delta`, which is
    /// `|E|^{1/d}/(p + 1)`. See [`filter_widths`](dgsuite_ops::filter_widths).
    pub filter_width: Option<Formula>,
    /// A source term.
    pub source: Option<SourceTerm>,
    /// Source terms of the state.
    pub reactions: Vec<ReactionTerm>,
    /// A flow rate that a uniform force keeps, of a gas; incompressible flow has its own.
    pub drive: Option<Drive>,
    /// Sources and conditions of the scalars of incompressible flow.
    pub scalars: Vec<ScalarData>,
    /// Polynomial degree.
    pub order: usize,
    /// Space of polynomials; default: total on simplices, tensor elsewhere.
    pub polynomials: Option<Polynomials>,
    /// Modal or nodal basis.
    pub representation: Representation,
    /// Volume cubature; default: degree 2p, raised on curved elements.
    pub volume: Option<Cubature>,
    /// Face cubature; default: degree 2p + 1, raised on curved elements.
    pub face: Option<Cubature>,
    /// Weak, strong or split form.
    pub form: Form,
    /// Two-point flux of the split form.
    pub split_flux: SplitFlux,
    /// Discontinuous Galerkin, or flux reconstruction: nodal, collocated, in strong form.
    pub correction: Correction,
    /// Limiter of each stage, of a gas.
    pub limiting: Option<Limiting>,
    /// Conditions by name of the boundary.
    pub boundaries: BTreeMap<String, BoundaryKind>,
    /// Newton steps towards a steady state.
    pub newton: Option<Newton>,
    /// Implicit steps in time, in place of explicit ones.
    pub implicit: Option<ImplicitSteps>,
    /// Time integration scheme of explicit steps.
    pub scheme: Scheme,
    /// The measure that defines the size of a step of one.
    pub step_measure: StepMeasure,
    /// Floating-point precision.
    pub precision: Precision,
    /// CPU threads; 0 for all.
    pub threads: usize,
    /// The device that stores the state and computes the steps.
    pub device: Device,
    /// The ranks that share the mesh; each has its own solver with the same set-up.
    pub comm: Arc<dyn Communicator>,
    /// How the mesh is cut into a part for each rank.
    pub cutting: Cutting,
    /// The solver is made to be described, not to run: incompressible flow then sets up no preconditioner and
    /// takes the initial state as it is, without the solves of its start.
    pub only_described: bool,
}

/// Newton steps with pseudo-time, and their linear problems.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Newton {
    /// The first multiple of the explicit step of each element.
    pub start: f64,
    /// The least growth of the multiple after a whole step.
    pub growth: f64,
    /// The part of its first residual to which GMRES reduces that of a step.
    pub tolerance: f64,
    /// The number of directions after which GMRES starts again.
    pub restart: usize,
    /// The largest number of iterations of a step.
    pub max_iterations: usize,
    /// The most bytes that incomplete factors of all blocks may have, with the blocks. Beyond them the
    /// smoother has the inverses of the diagonal blocks alone.
    pub factor_bytes: usize,
}

impl Default for Newton {
    /// From ten explicit steps, at least fourfold after each step; a tenth, within 200 iterations; 4 GiB of
    /// factors.
    fn default() -> Self {
        Self {
            start: 10.0,
            growth: 4.0,
            tolerance: 0.1,
            restart: 80,
            max_iterations: 200,
            factor_bytes: 4 << 30,
        }
    }
}

/// Implicit Runge–Kutta steps in time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ImplicitSteps {
    /// The scheme.
    pub scheme: Esdirk,
    /// The residual of a stage that is left, relative to the size of the solution.
    pub tolerance: f64,
    /// The linear problems of the stages.
    pub newton: Newton,
}

impl ImplicitSteps {
    /// Steps of a scheme with stages that are solved to this tolerance.
    #[must_use]
    pub fn new(scheme: Esdirk, tolerance: f64) -> Self {
        Self { scheme, tolerance, newton: Newton { restart: 40, max_iterations: 120, ..Newton::default() } }
    }
}

impl Setup {
    /// Changes the scheme to split form, at Lobatto points.
    #[must_use]
    pub fn split(self, flux: SplitFlux) -> Self {
        Self { form: Form::Split, split_flux: flux, ..self.collocated() }
    }

    /// The source term for which `exact` is a solution; of incompressible flow the force.
    pub(super) fn manufactured(&self, exact: &dyn Exact) -> Result<Arc<dyn Source>, SystemError> {
        if let Law::Incompressible(law) = &self.law
            && !law.scalars.is_empty()
        {
            return Ok(Arc::new(law.manufactured(self.mesh.dim(), exact)?.0));
        }
        let context = Context { dim: self.mesh.dim(), model: self.law.model(), period: [0.0; 3] };
        Ok(Arc::new(Manufactured::for_model(&context, exact)?))
    }

    /// The source term as a function of place and time, if there is one.
    pub(super) fn given_source(&self) -> Result<Option<Arc<dyn Source>>, SystemError> {
        match &self.source {
            None => Ok(None),
            Some(SourceTerm::Given(source)) => Ok(Some(Arc::clone(source))),
            Some(SourceTerm::Manufactured(exact)) => self.manufactured(exact.as_ref()).map(Some),
        }
    }

    /// Modal, cubature of degree 2p, weak form, Rusanov flux, LSERK(5,4), double precision, all threads,
    /// no boundaries.
    #[must_use]
    pub fn new(mesh: impl Into<RankMesh>, law: Law, order: usize) -> Self {
        Self {
            mesh: mesh.into(),
            law,
            riemann: Riemann::default(),
            dissipation: None,
            eta: None,
            filter_width: None,
            source: None,
            reactions: Vec::new(),
            drive: None,
            scalars: Vec::new(),
            order,
            polynomials: None,
            representation: Representation::Modal,
            volume: None,
            face: None,
            form: Form::Weak,
            split_flux: SplitFlux::default(),
            correction: Correction::Dg,
            limiting: None,
            boundaries: BTreeMap::new(),
            newton: None,
            implicit: None,
            scheme: Scheme::Lserk54,
            step_measure: StepMeasure::default(),
            precision: Precision::Double,
            threads: 0,
            device: Device::Cpu,
            comm: Arc::new(Alone),
            cutting: Cutting::Curve,
            only_described: false,
        }
    }

    /// Changes the scheme to nodal bases, collocated: Lobatto points, warp & blend on simplices.
    #[must_use]
    pub fn collocated(self) -> Self {
        Self {
            representation: Representation::Nodal(NodeSet::GaussLobatto),
            volume: Some(Cubature::Collocated),
            face: Some(Cubature::Collocated),
            ..self
        }
    }

    /// Changes the scheme to flux reconstruction with the correction of parameter c, at Gauss or Lobatto
    /// points.
    #[must_use]
    pub fn flux_reconstruction(self, nodes: NodeSet, c: Parameter) -> Self {
        let form = Form::Strong;
        let (representation, correction) = (Representation::Nodal(nodes), Correction::Vcjh(c));
        Self { representation, form, correction, ..self.collocated() }
    }

    /// The default product of step and spectral radius.
    #[must_use]
    pub fn stable_radius(&self) -> f64 {
        match &self.law {
            Law::Incompressible(law) => law.stable_radius(self.order),
            _ => self.scheme.stable_radius(self.order),
        }
    }

    /// The part of this rank; `None` if there is one rank. Where rank 0 has not distributed the mesh, all
    /// ranks have the same mesh, and each cuts out its part.
    pub(super) fn share(&self) -> Result<Option<Arc<Ranks>>, SystemError> {
        if let Some(ranks) = self.mesh.ranks() {
            return Ok(Some(Arc::clone(ranks)));
        }
        if self.comm.size() == 1 {
            return Ok(None);
        }
        let partition = self.partition()?;
        Ok(Some(Arc::new(Ranks::new(self.mesh.seen(), &partition, Arc::clone(&self.comm))?)))
    }

    /// The part of each element of the whole mesh, with one part for each rank.
    pub fn partition(&self) -> Result<Partition, SystemError> {
        let (mesh, space) = (self.mesh.seen(), self.space());
        if let Law::Incompressible(_) = self.law {
            // Lines of thin elements are not cut.
            let lines = linelets(mesh).map_err(|error| SystemError::Elliptic(Box::new(error)))?;
            let weights = weights(mesh, self.order, self.device, &lines);
            let weight = |element: usize| weights[element];
            return Ok(match lines.is_empty() {
                true => Partition::new(mesh, self.comm.size(), self.cutting, weight)?,
                false => Partition::along_chains(mesh, self.comm.size(), weight, &lines)?,
            });
        }
        let sizes: Vec<f64> = mesh.sets.iter().map(|set| cost(&space, set.shape, set.order)).collect();
        let weight = |element: usize| sizes[mesh.locate(element).0];
        Ok(Partition::new(mesh, self.comm.size(), self.cutting, weight)?)
    }

    pub(super) fn space(&self) -> Space {
        Space {
            order: self.order,
            polynomials: self.polynomials,
            representation: self.representation,
            simplex_nodes: None,
            volume: self.volume,
            face: self.face,
            form: self.form,
            metric: None,
            correction: self.correction,
            given: false,
        }
    }
}

/// The relative cost of an element in a step: its unknowns, and half as much again for metric terms at
/// points.
pub fn cost(space: &Space, shape: Shape, geometry_order: usize) -> f64 {
    basis_size(space, shape) as f64 * if geometry_order > 1 { 1.5 } else { 1.0 }
}
