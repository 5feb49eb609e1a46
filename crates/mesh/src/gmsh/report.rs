//! What the reader found in a file and thinks worth telling.

use crate::gmsh::Version;

/// What a file held.
#[derive(Clone, Debug, PartialEq)]
pub struct Report {
    /// Version of the format.
    pub version: Version,
    /// True for a binary file.
    pub binary: bool,
    /// True for a binary file of a machine that stores the high byte first.
    pub big_endian: bool,
    /// Nodes in the file.
    pub nodes: usize,
    /// Elements in the file, of any dimension.
    pub elements: usize,
    /// Things that a user may want to know.
    pub warnings: Vec<Warning>,
}

/// Something odd that does not keep the mesh from being used.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Warning {
    /// Nodes that no element uses; they are left out.
    UnusedNodes {
        /// How many.
        count: usize,
    },
    /// A plane mesh whose z is not constant, by little; z is dropped.
    ZDropped {
        /// Least z.
        min: f64,
        /// Greatest z.
        max: f64,
    },
    /// Boundary elements inside the mesh; they are ignored.
    InteriorBoundary {
        /// Name of their group.
        name: String,
        /// How many.
        count: usize,
    },
    /// Boundary elements without a physical group that are no element's face; they are ignored.
    LooseBoundary {
        /// Name of their entity.
        name: String,
        /// How many.
        count: usize,
    },
    /// Faces that belong to two boundaries; the first counts.
    SeveralBoundaries {
        /// The name that counts.
        first: String,
        /// A name that does not.
        second: String,
        /// How many faces.
        count: usize,
    },
    /// Elements that belong to two regions; the first counts.
    SeveralRegions {
        /// The name that counts.
        first: String,
        /// A name that does not.
        second: String,
        /// How many elements.
        count: usize,
    },
    /// Elements that were inverted and have been turned round.
    Reoriented {
        /// How many.
        count: usize,
        /// Number of the first.
        first: u64,
    },
    /// Faces on the hull without a boundary element; they are the boundary
    /// [`UNNAMED`](crate::UNNAMED).
    UnnamedFaces {
        /// How many.
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
            Self::UnusedNodes { count } => write!(f, "{count} nodes belong to no element and are left out"),
            Self::ZDropped { min, max } => {
                write!(f, "z runs from {min} to {max} in a plane mesh and is dropped")
            }
            Self::InteriorBoundary { name, count } => {
                write!(f, "{count} faces of `{name}` lie inside the mesh and are ignored")
            }
            Self::LooseBoundary { name, count } => {
                write!(f, "{count} elements of `{name}` are faces of no element and are ignored")
            }
            Self::SeveralBoundaries { first, second, count } => {
                write!(f, "{count} faces belong to both `{first}` and `{second}`; the first counts")
            }
            Self::SeveralRegions { first, second, count } => {
                write!(
                    f,
                    "{count} elements belong to both regions `{first}` and `{second}`; the first counts"
                )
            }
            Self::Reoriented { count, first } => {
                write!(f, "{count} elements were inverted and have been turned round (the first is {first})")
            }
            Self::UnnamedFaces { count, centroid } => write!(
                f,
                "{count} faces of the hull are in no physical group, the first at {}",
                crate::error::Point(centroid)
            ),
            Self::UnusedName { name } => write!(f, "nothing in the mesh has the physical name `{name}`"),
        }
    }
}
