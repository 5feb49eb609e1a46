//! Errors of setting up and evaluating operators.

use dgsuite_basis::{BasisError, Shape};

/// Errors of this crate.
#[derive(Debug, thiserror::Error)]
pub enum OpsError {
    /// A reference element could not be constructed.
    #[error(transparent)]
    Basis(#[from] BasisError),
    /// An error of the machine layer (`dgsuite-gpu`).
    #[error(transparent)]
    Machine(#[from] dgsuite_gpu::GpuError),
    /// A coefficient of a reaction is not finite.
    #[error("a coefficient is {value} at ({}, {}, {})", at[0], at[1], at[2])]
    ReactionCoefficient {
        /// The value.
        value: f64,
        /// The point.
        at: [f64; 3],
    },
    /// The formulas could not be translated for a device.
    #[error(transparent)]
    Trace(#[from] dgsuite_physics::trace::TraceError),
    /// The dimensions of law and mesh differ.
    #[error("the law has {law} dimensions, the mesh {mesh}")]
    Dimension {
        /// Dimension of the law.
        law: usize,
        /// Dimension of the mesh.
        mesh: usize,
    },
    /// Other ranks could not be reached.
    #[error(transparent)]
    Ranks(#[from] dgsuite_gpu::comm::CommError),
    /// A partition has another number of parts than there are ranks.
    #[error("the mesh is cut into {parts} parts for {ranks} ranks")]
    Parts {
        /// Parts of the partition.
        parts: usize,
        /// Ranks.
        ranks: usize,
    },
    /// What another rank has sent of the mesh cannot be used.
    #[error("the mesh did not arrive whole from another rank: {0}")]
    Message(#[source] dgsuite_mesh::MeshError),
    /// Another rank has an error, and reports it.
    #[error("rank {rank} has stopped; its message says why")]
    OtherRank {
        /// The rank.
        rank: usize,
    },
    /// A feature that is available on one rank only.
    #[error("{what} run on one rank only")]
    NotOnRanks {
        /// The feature, in the plural.
        what: &'static str,
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
    /// Two shapes do not have the same points on a common face.
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
    /// Two boundaries are periodic by a rotation, and the law has vectors.
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
    /// The filter width of an element is not a length.
    #[error("the filter width of element {element} is {width:.6e}; it has to be finite and positive")]
    Width {
        /// The element's number in the mesh file.
        element: u64,
        /// The value.
        width: f64,
    },
    /// A boundary of the mesh has no condition.
    #[error("boundary \"{name}\" has no condition")]
    BoundaryWithoutCondition {
        /// Name of the boundary.
        name: String,
    },
    /// There is no element at a height above a point of a boundary.
    #[error(
        "there is nothing of the mesh at the height {height:.4} above boundary \"{boundary}\" at ({:.4}, {:.4}, \
         {:.4}); the height can be at most {largest:.4}",
        at[0], at[1], at[2]
    )]
    NothingAbove {
        /// Name of the boundary.
        boundary: String,
        /// The height.
        height: f64,
        /// The point of the boundary.
        at: [f64; 3],
        /// The largest height that all points allow.
        largest: f64,
    },
    /// The condition of a boundary has no diffusive part, but the equation has diffusion.
    #[error("the condition of boundary \"{name}\" has no diffusive part, but the equation has diffusion")]
    BoundaryWithoutDiffusion {
        /// Name of the boundary.
        name: String,
    },
    /// The parts of an equation differ in dimension or number of unknowns.
    #[error("the {part} is made for {found}, the law for {expected}")]
    Equation {
        /// "two-point flux", "diffusive flux" or "source".
        part: &'static str,
        /// Dimension and number of unknowns of the part.
        found: String,
        /// Dimension and number of unknowns of the law.
        expected: String,
    },
    /// A split form without a two-point flux, or a two-point flux without a split form.
    #[error("a two-point flux belongs to the split form: give both or neither")]
    TwoPointFlux,
    /// A feature that is available on the CPU only.
    #[error("{what} run on the CPU only")]
    NotOnDevices {
        /// The feature, in the plural.
        what: &'static str,
    },
    /// An elliptic problem that cannot be set up.
    #[error("elliptic problem: {reason}")]
    Elliptic {
        /// The error, and how to correct it.
        reason: String,
    },
    /// A coefficient of an elliptic problem is not admissible: `κ > 0` and `λ ≥ 0` are required, both finite.
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
    /// The scheme does not exist on this shape.
    #[error("{shape}: {reason}")]
    Scheme {
        /// The shape.
        shape: Shape,
        /// The reason, and how to avoid it.
        reason: &'static str,
    },
    /// A value of the state is not finite, or lies outside the law's admissible set.
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
