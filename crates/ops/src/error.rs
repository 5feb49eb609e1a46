//! What can go wrong when an operator is set up or evaluated.

use dgsuite_basis::{BasisError, Shape};

/// Errors of this crate.
#[derive(Debug, thiserror::Error)]
pub enum OpsError {
    /// A reference element could not be made.
    #[error(transparent)]
    Basis(#[from] BasisError),
    /// The machine refused.
    #[error(transparent)]
    Machine(#[from] dgsuite_gpu::GpuError),
    /// The formulas could not be printed for a device.
    #[error(transparent)]
    Trace(#[from] dgsuite_physics::trace::TraceError),
    /// The law's dimension is not the mesh's.
    #[error("the law has {law} dimensions, the mesh {mesh}")]
    Dimension {
        /// Dimension of the law.
        law: usize,
        /// Dimension of the mesh.
        mesh: usize,
    },
    /// The mesh has no elements.
    #[error("the mesh has no elements")]
    Empty,
    /// An element's Jacobian is not positive at a point that the scheme uses.
    #[error(
        "element {element} ({shape}) is inverted or degenerate near ({:.6}, {:.6}, {:.6}): its Jacobian is {jacobian:.3e}",
        at[0], at[1], at[2]
    )]
    Jacobian {
        /// The element's number in the mesh file.
        element: u64,
        /// Its shape.
        shape: Shape,
        /// Physical coordinates of the point.
        at: [f64; 3],
        /// The Jacobian there.
        jacobian: f64,
    },
    /// Two shapes do not share their points on a common face.
    #[error(
        "{first} and {second} elements do not share their points on {face} faces: choose \
         a face cubature by degree, or Lobatto nodes"
    )]
    FacePoints {
        /// One shape.
        first: Shape,
        /// The other.
        second: Shape,
        /// Shape of the face.
        face: Shape,
    },
    /// Periodic boundaries that are turned against each other, under a law of vectors.
    #[error(
        "boundaries \"{first}\" and \"{second}\" are periodic by a rotation; vectors would have to turn with it, \
         and only translations are supported"
    )]
    TurnedPeriodicity {
        /// One boundary.
        first: String,
        /// The other.
        second: String,
    },
    /// A boundary of the mesh has no condition.
    #[error("boundary \"{name}\" has no condition")]
    BoundaryWithoutCondition {
        /// Name of the boundary.
        name: String,
    },
    /// The condition of a boundary does not say what happens to diffusive fluxes there.
    #[error("the condition of boundary \"{name}\" says nothing about diffusive fluxes")]
    BoundaryWithoutDiffusion {
        /// Name of the boundary.
        name: String,
    },
    /// The parts of an equation do not belong together.
    #[error("the {part} is made for {found}, the law for {expected}")]
    Equation {
        /// "two-point flux", "diffusive flux" or "source".
        part: &'static str,
        /// What it is made for.
        found: String,
        /// What the law is made for.
        expected: String,
    },
    /// A split form without a two-point flux, or a two-point flux without a split form.
    #[error("a two-point flux belongs to the split form: give both or neither")]
    TwoPointFlux,
    /// Something that only the CPU has.
    #[error("{what} run on the CPU only")]
    NotOnDevices {
        /// What it is, in the plural.
        what: &'static str,
    },
    /// An elliptic problem that cannot be set up.
    #[error("elliptic problem: {reason}")]
    Elliptic {
        /// What is wrong, and what would be right.
        reason: String,
    },
    /// A coefficient of an elliptic problem is not admissible: `κ > 0` and `λ ≥ 0`, both finite.
    #[error("{name} = {value:.6e} in element {element}; {name} has to be finite and {bound}")]
    Coefficient {
        /// "kappa" or "lambda".
        name: &'static str,
        /// The element's number in the mesh file.
        element: u64,
        /// The value.
        value: f64,
        /// "positive" or "not negative".
        bound: &'static str,
    },
    /// The scheme cannot be had on this shape.
    #[error("{shape}: {reason}")]
    Scheme {
        /// The shape.
        shape: Shape,
        /// What is in the way, and what to do.
        reason: &'static str,
    },
    /// The state has a value that is not finite, or is outside the law's admissible set.
    #[error(
        "the solution is no longer {what} in element {element} near ({:.6}, {:.6}, {:.6})",
        at[0], at[1], at[2]
    )]
    State {
        /// "finite" or "admissible".
        what: &'static str,
        /// The element's number in the mesh file.
        element: u64,
        /// Physical coordinates of the worst point.
        at: [f64; 3],
        /// The conserved state there.
        state: Vec<f64>,
    },
}
