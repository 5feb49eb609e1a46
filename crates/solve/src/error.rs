//! Why a solver of a conservation law could not be set up, or stopped.

use super::elliptic::EllipticError;
use super::solves::LinearSystem;
use dgsuite_amg::SolveError;
use dgsuite_gpu::GpuError;
use dgsuite_mesh::MeshError;
use dgsuite_ops::OpsError;
use dgsuite_physics::source::SourceError;
use dgsuite_timeint::{StageFailure, Unsolved};

/// Means below this are rounding errors.
const ROUNDING: f64 = 1e-13;

/// Why a solver could not be set up, or stopped.
#[derive(Debug, thiserror::Error)]
pub enum SystemError {
    /// A state that is not finite or not admissible for a gas.
    #[error(
        "at time {time:.6e}, step {step}: the solution is no longer {what} in element {element} near \
         ({:.6}, {:.6}, {:.6}): {}", coordinates[0], coordinates[1], coordinates[2], state_text(state)
    )]
    NotFinite {
        /// Time.
        time: f64,
        /// Number of steps done.
        step: usize,
        /// The element's number in the mesh file.
        element: u64,
        /// A point in the element.
        coordinates: [f64; 3],
        /// "finite" or "admissible".
        what: &'static str,
        /// The conserved state at this point, by name; for a gas also pressure and temperature.
        state: Vec<(String, f64)>,
    },
    /// A condition that the law does not support.
    #[error("boundary \"{boundary}\": {law} has no condition \"{condition}\"")]
    BoundaryNotForLaw {
        /// Name of the boundary.
        boundary: String,
        /// The condition's name.
        condition: &'static str,
        /// The law's name.
        law: &'static str,
    },
    /// A set-up that the solver of the law does not support.
    #[error("{law} is not available {what}")]
    Unavailable {
        /// The law's name.
        law: &'static str,
        /// Where it is not available, such as "in single precision".
        what: String,
    },
    /// Prescribed velocities of incompressible flow that let in more fluid than they let out.
    #[error(
        "the prescribed velocities let in {inflow:.4e} more than they let out{}, of {size:.4e} in and out, and no \
         boundary is open",
        later(*time)
    )]
    NetInflow {
        /// The net inflow: volume (in the plane area) per time.
        inflow: f64,
        /// The sum of inflow and outflow, the largest so far.
        size: f64,
        /// The time.
        time: f64,
    },
    /// A saved state of another law.
    #[error(
        "the saved state is of {found} with {sums} sums for conservation, this solver is of {law} with {wanted}"
    )]
    OtherLaw {
        /// The law of the saved state.
        found: String,
        /// The number of its sums, three for each unknown.
        sums: usize,
        /// The law of the solver.
        law: &'static str,
        /// The number of sums of the solver.
        wanted: usize,
    },
    /// A saved state with the wrong number of coefficients.
    #[error(
        "the saved state has {found} coefficients, which do not fit order {order} with a {basis} basis on this mesh{}",
        those(wanted)
    )]
    Coefficients {
        /// Number of coefficients found.
        found: usize,
        /// Order of the saved state.
        order: usize,
        /// Basis of the saved state.
        basis: String,
        /// Number of coefficients needed, if order and basis are those of the solver.
        wanted: Option<usize>,
    },
    /// A saved state with coefficients of another basis.
    #[error("the saved state has a {found} basis, this solver a {wanted} one")]
    OtherBasis {
        /// Basis of the saved state.
        found: String,
        /// Basis of the solver.
        wanted: String,
    },
    /// A boundary that the mesh does not have.
    #[error("the mesh has no boundary \"{name}\"")]
    NoBoundary {
        /// The name.
        name: String,
    },
    /// No source term can be derived from the solution.
    #[error("no source term can be derived: {0}")]
    Source(#[from] SourceError),
    /// A linear system of a step that was not solved.
    #[error("{system} could not be solved: {cause}")]
    Solve {
        /// What was to be solved for.
        system: LinearSystem,
        /// Why it was not.
        #[source]
        cause: SolveError,
    },
    /// A prescribed flow rate in a direction in which nothing can flow.
    #[error(
        "no flow passes through the domain along {direction:?}: the mean of a potential flow in this direction \
         is {} that of a uniform flow",
        if *mean < ROUNDING { "a rounding error beside".to_owned() } else { format!("{mean:.1e} of") }
    )]
    Closed {
        /// The unit vector of the flow rate.
        direction: [f64; 3],
        /// The mean velocity.
        mean: f64,
    },
    /// A step of incompressible flow that needs too many sub-steps of convection.
    #[error("a step of size {dt:.4e} needs {needed} sub-steps of convection, and at most {most} are taken")]
    SubSteps {
        /// The size of the step.
        dt: f64,
        /// The number of sub-steps.
        needed: f64,
        /// The largest number.
        most: f64,
    },
    /// An implicit step of which a stage has no solution that Newton's method finds.
    #[error("no solution is found for a step of size {dt:.4e}: {}", stage_text(failure))]
    Stage {
        /// The size of the step.
        dt: f64,
        /// The stage.
        failure: StageFailure,
    },
    /// The solver of an elliptic problem could not be set up.
    #[error(transparent)]
    Elliptic(Box<EllipticError>),
    /// The mesh could not be cut into parts.
    #[error(transparent)]
    Mesh(#[from] MeshError),
    /// The operators could not be set up.
    #[error(transparent)]
    Ops(OpsError),
    /// The threads or the device could not be used.
    #[error(transparent)]
    Machine(#[from] GpuError),
}

impl From<OpsError> for SystemError {
    fn from(error: OpsError) -> Self {
        Self::Ops(error)
    }
}

/// The time of an error, if it is not the start.
fn later(time: f64) -> String {
    if time == 0.0 { String::new() } else { format!(" at time {time:.6e}") }
}

/// Names the expected number of coefficients.
fn those(wanted: &Option<usize>) -> String {
    wanted.map_or_else(String::new, |wanted| format!(": these have {wanted}"))
}

fn stage_text(failure: &StageFailure) -> String {
    let StageFailure { stage, t, residual, tolerance, corrections, reason } = failure;
    let why = match reason {
        Unsolved::Inadmissible => "every share of a correction leads to states that are not admissible",
        Unsolved::Stalled => "no share of a correction makes the residual smaller",
        Unsolved::Linear => "the linear solver does not reach its tolerance",
        Unsolved::Slow => "the residual falls too slowly",
    };
    let left = match residual.is_nan() {
        true => String::new(),
        false => format!(
            "; the residual is {residual:.1e} of the solution after {corrections} corrections, and must be below \
             {tolerance:.1e}"
        ),
    };
    format!("Newton's method fails in stage {stage}, at time {t:.6e}, as {why}{left}")
}

fn state_text(state: &[(String, f64)]) -> String {
    state.iter().map(|(name, v)| format!("{name} = {v:.4e}")).collect::<Vec<_>>().join(", ")
}
