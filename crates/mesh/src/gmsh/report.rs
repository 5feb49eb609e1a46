//! The reader's report on a file: counts and warnings.

use dgsuite_basis::Shape;

use crate::{Mesh, chords, gmsh::Version, quality};

/// Elements with a scaled Jacobian below this are reported.
pub const POOR: f64 = 0.1;

/// The contents of a file.
#[derive(Clone, Debug, PartialEq)]
pub struct Report {
    /// Version of the format.
    pub version: Version,
    /// True for a binary file.
    pub binary: bool,
    /// True for a binary file with the high byte first.
    pub big_endian: bool,
    /// Nodes in the file.
    pub nodes: usize,
    /// Elements in the file, of any dimension.
    pub elements: usize,
    /// Warnings.
    pub warnings: Vec<Warning>,
}

/// An oddity of the file that does not prevent its use.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Warning {
    /// Nodes that no element uses; they are omitted.
    UnusedNodes {
        /// Their number.
        count: usize,
    },
    /// A plane mesh whose z varies slightly; z is set to zero.
    ZDropped {
        /// Smallest z.
        min: f64,
        /// Largest z.
        max: f64,
    },
    /// Boundary elements inside the mesh; they are ignored.
    InteriorBoundary {
        /// Name of their group.
        name: String,
        /// Their number.
        count: usize,
    },
    /// Boundary elements without a physical group that are not a face of any element; they are ignored.
    LooseBoundary {
        /// Name of their entity.
        name: String,
        /// Their number.
        count: usize,
    },
    /// Faces that belong to two boundaries; the first is used.
    SeveralBoundaries {
        /// The name that is used.
        first: String,
        /// The name that is not used.
        second: String,
        /// Number of faces.
        count: usize,
    },
    /// Elements that belong to two regions; the first is used.
    SeveralRegions {
        /// The name that is used.
        first: String,
        /// The name that is not used.
        second: String,
        /// Number of elements.
        count: usize,
    },
    /// Inverted elements; their node order was reversed.
    Reoriented {
        /// Their number.
        count: usize,
        /// Number of the first.
        first: u64,
    },
    /// Outer faces without a boundary element; they form the boundary [`UNNAMED`](crate::UNNAMED).
    UnnamedFaces {
        /// Their number.
        count: usize,
        /// Centroid of the first.
        centroid: [f64; 3],
    },
    /// Straight faces on a boundary whose other faces are curved, which meet their neighbours at an angle.
    StraightFaces {
        /// Name of the boundary.
        name: String,
        /// Their number.
        count: usize,
        /// Number of curved faces of the boundary.
        curved: usize,
        /// Centroid of the first.
        centroid: [f64; 3],
    },
    /// Elements with a scaled Jacobian below [`POOR`].
    PoorElements {
        /// Their number.
        count: usize,
        /// Number of the worst one.
        element: u64,
        /// Its shape.
        shape: Shape,
        /// Centroid of its vertices.
        centroid: [f64; 3],
        /// Its scaled Jacobian.
        scaled_jacobian: f64,
    },
    /// Physical names that nothing in the mesh has.
    UnusedName {
        /// The name.
        name: String,
    },
}

impl std::fmt::Display for Warning {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::UnusedNodes { count } => write!(f, "{count} nodes belong to no element and are ignored"),
            Self::ZDropped { min, max } => {
                write!(f, "z ranges from {min} to {max} in a plane mesh and is set to zero")
            }
            Self::InteriorBoundary { name, count } => {
                write!(f, "{count} faces of `{name}` lie inside the mesh and are ignored")
            }
            Self::LooseBoundary { name, count } => {
                write!(f, "{count} elements of `{name}` are not faces of any element and are ignored")
            }
            Self::SeveralBoundaries { first, second, count } => {
                write!(f, "{count} faces belong to both `{first}` and `{second}`; the first is used")
            }
            Self::SeveralRegions { first, second, count } => {
                write!(
                    f,
                    "{count} elements belong to both regions `{first}` and `{second}`; the first is used"
                )
            }
            Self::Reoriented { count, first } => {
                write!(f, "{count} inverted elements were reversed (the first is {first})")
            }
            Self::UnnamedFaces { count, centroid } => write!(
                f,
                "{count} outer faces are in no physical group, the first at {}",
                crate::error::Point(centroid)
            ),
            Self::StraightFaces { name, count, curved, centroid } => write!(
                f,
                "{count} faces of `{name}` are straight where {curved} others are curved, and meet their neighbours at an angle, the first at {}: they may have lost their curved nodes",
                crate::error::Point(centroid)
            ),
            Self::PoorElements { count, element, shape, centroid, scaled_jacobian } => write!(
                f,
                "{count} elements have a scaled Jacobian below {POOR}, the lowest is {scaled_jacobian:.4} ({shape} {element} at {})",
                crate::error::Point(centroid)
            ),
            Self::UnusedName { name } => write!(f, "the physical name `{name}` is not used in the mesh"),
        }
    }
}

/// Warnings about the shape of the elements and of the boundaries.
pub(super) fn of_shapes(mesh: &Mesh) -> Vec<Warning> {
    let straight = |chords: chords::Chords| Warning::StraightFaces {
        name: mesh.boundaries[chords.boundary as usize].name.clone(),
        count: chords.count,
        curved: chords.curved,
        centroid: mesh.side_centroid(chords.first),
    };
    let mut warnings: Vec<Warning> = chords::chords(mesh).into_iter().map(straight).collect();
    let scaled = quality::scaled_jacobians(mesh);
    let worst = scaled.iter().enumerate().min_by(|a, b| a.1.total_cmp(b.1));
    if let Some((worst, &scaled_jacobian)) = worst.filter(|(_, low)| **low < POOR) {
        warnings.push(Warning::PoorElements {
            count: scaled.iter().filter(|&&s| s < POOR).count(),
            element: mesh.tag(worst),
            shape: mesh.shape(worst),
            centroid: mesh.centroid(worst),
            scaled_jacobian,
        });
    }
    warnings
}
