//! Why a solver of a conservation law could not be made, or stopped.

use dgsuite_gpu::GpuError;
use dgsuite_ops::OpsError;
use dgsuite_physics::source::SourceError;

/// Why a solver could not be made, or stopped.
#[derive(Debug, thiserror::Error)]
pub enum SystemError {
    /// A state that is not finite or not that of a gas.
    #[error(
        "at time {time:.6e}, step {step}: the solution is no longer {what} in element {element} near \
         ({:.6}, {:.6}, {:.6}): {}", coordinates[0], coordinates[1], coordinates[2], state_text(state)
    )]
    NotFinite {
        /// Time.
        time: f64,
        /// Steps done.
        step: usize,
        /// The element's number in the mesh file.
        element: u64,
        /// Where in the element.
        coordinates: [f64; 3],
        /// "finite" or "admissible".
        what: &'static str,
        /// The conserved state there, by name; of a gas also pressure and temperature.
        state: Vec<(String, f64)>,
    },
    /// A condition that the law does not have.
    #[error("boundary \"{boundary}\": {law} has no condition \"{condition}\"")]
    BoundaryNotForLaw {
        /// Name of the boundary.
        boundary: String,
        /// The condition's name.
        condition: &'static str,
        /// The law's name.
        law: &'static str,
    },
    /// A saved state of another law.
    #[error(
        "the saved state is one of {found} with {sums} sums for conservation, this solver is one of {law} with {wanted}"
    )]
    OtherLaw {
        /// The law of the saved state.
        found: String,
        /// Its sums, three for each unknown.
        sums: usize,
        /// The law of the solver.
        law: &'static str,
        /// Its sums.
        wanted: usize,
    },
    /// A saved state with too many or too few coefficients.
    #[error(
        "the saved state has {found} coefficients, which do not fit order {order} with a {basis} basis on this mesh{}",
        those(wanted)
    )]
    Coefficients {
        /// Coefficients found.
        found: usize,
        /// Order of the saved state.
        order: usize,
        /// Basis of the saved state.
        basis: String,
        /// Coefficients wanted, where the order and the basis are those of the solver.
        wanted: Option<usize>,
    },
    /// A saved state whose coefficients mean something else.
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
    /// A source cannot be made from the solution.
    #[error("no source can be made: {0}")]
    Source(#[from] SourceError),
    /// The operators could not be set up.
    #[error(transparent)]
    Ops(OpsError),
    /// The machine refused.
    #[error(transparent)]
    Machine(#[from] GpuError),
}

impl From<OpsError> for SystemError {
    fn from(error: OpsError) -> Self {
        Self::Ops(error)
    }
}

/// How many coefficients there should be.
fn those(wanted: &Option<usize>) -> String {
    wanted.map_or_else(String::new, |wanted| format!(": these have {wanted}"))
}

fn state_text(state: &[(String, f64)]) -> String {
    state.iter().map(|(name, v)| format!("{name} = {v:.4e}")).collect::<Vec<_>>().join(", ")
}
