//! The reader's report on a file: counts and warnings.

use crate::gmsh::Version;

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
            Self::UnusedName { name } => write!(f, "the physical name `{name}` is not used in the mesh"),
        }
    }
}
