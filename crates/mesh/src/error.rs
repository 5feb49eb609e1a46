//! What can be wrong with a mesh, with the numbers and the place that show it.

use std::path::PathBuf;

use dgsuite_basis::Shape;

/// A place in a mesh file: the line in a text file, the byte in a binary one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Location {
    /// Bytes before the place.
    pub byte: usize,
    /// Line, counted from 1; `None` in binary files.
    pub line: Option<usize>,
}

impl std::fmt::Display for Location {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.line {
            Some(line) => write!(f, "line {line}"),
            None => write!(f, "byte {}", self.byte),
        }
    }
}

/// Writes a point as `(x, y, z)`.
pub(crate) struct Point<'a>(pub(crate) &'a [f64; 3]);

impl std::fmt::Display for Point<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let [x, y, z] = self.0;
        write!(f, "({x:.6}, {y:.6}, {z:.6})")
    }
}

fn nearest_hint(nearest: Option<&String>) -> String {
    nearest.map_or_else(String::new, |name| format!("; did you mean `{name}`?"))
}

/// Why a mesh could not be read, made or changed.
///
/// Elements and nodes are named by the numbers that the file gives them; coordinates are those of
/// the centroid of the element's or face's vertices.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum MeshError {
    /// An error in a file; the path comes first in the message.
    #[error("{}: {error}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// What is wrong in it.
        #[source]
        error: Box<MeshError>,
    },
    /// The file does not exist.
    #[error("there is no such mesh file")]
    NotFound,
    /// A directory, a pipe or a device in the place of a file.
    #[error("this is not a regular file, which a mesh is read from")]
    NotAFile,
    /// The operating system could not read or write the file.
    #[error("cannot read or write the file: {0}")]
    Io(#[from] std::io::Error),
    /// The file does not start as Gmsh's MSH files do.
    #[error("not a Gmsh mesh: `$MeshFormat` was expected, found {}", or_nothing(found))]
    NotGmsh {
        /// The first characters of the file.
        found: String,
    },
    /// A version of MSH that is not read.
    #[error("MSH version {found} is not read; save it again with `{fix}`")]
    Version {
        /// The version in the file.
        found: String,
        /// A command that makes a readable file.
        fix: &'static str,
    },
    /// A word size other than 8 bytes.
    #[error("{location}: words of {found} bytes are not read, only 8")]
    DataSize {
        /// Where it is said.
        location: Location,
        /// The size in the file.
        found: i64,
    },
    /// The integer 1 that shows the byte order of a binary file is neither way round.
    #[error("{location}: the byte order of this binary file cannot be told; was it copied as text?")]
    ByteOrder {
        /// Where the integer is.
        location: Location,
    },
    /// Something else than what the format asks for.
    #[error("{location}, in ${section}: expected {expected}, found `{found}`")]
    Syntax {
        /// Where.
        location: Location,
        /// The section.
        section: String,
        /// What the format asks for.
        expected: &'static str,
        /// What the file has.
        found: String,
    },
    /// The file ends too early.
    #[error("{location}: the file ends inside ${section}, where {expected} was expected; is it cut off?")]
    Truncated {
        /// Where the file ends.
        location: Location,
        /// The section.
        section: String,
        /// What was expected next.
        expected: &'static str,
    },
    /// A count that the file is too short to satisfy.
    #[error("{location}, in ${section}: {count} {what} are announced, but only {bytes} bytes follow")]
    Count {
        /// Where the count is.
        location: Location,
        /// The section.
        section: String,
        /// Things counted.
        what: &'static str,
        /// The count.
        count: u64,
        /// Bytes left in the file.
        bytes: usize,
    },
    /// Blocks that do not add up to what their section announces.
    #[error("{location}, in ${section}: {announced} {what} are announced, but the blocks hold {found}")]
    Total {
        /// Where the total is.
        location: Location,
        /// The section.
        section: &'static str,
        /// Things counted.
        what: &'static str,
        /// The total announced.
        announced: usize,
        /// The sum of the blocks.
        found: usize,
    },
    /// A section does not end where its counts say.
    #[error("{location}: `$End{section}` was expected, found `{found}`; a count in the section may be wrong")]
    SectionEnd {
        /// Where.
        location: Location,
        /// The section.
        section: String,
        /// What the file has.
        found: String,
    },
    /// A section that must be there is not.
    #[error("the file has no ${section} section")]
    MissingSection {
        /// The section.
        section: &'static str,
    },
    /// A section that may be there once is there twice.
    #[error("{location}: a second ${section} section")]
    RepeatedSection {
        /// Where the second one starts.
        location: Location,
        /// The section.
        section: String,
    },
    /// A section that changes the meaning of the others and is not read.
    #[error("{location}: ${section} is not read; save the mesh again with `{fix}`")]
    UnsupportedSection {
        /// Where the section starts.
        location: Location,
        /// The section.
        section: String,
        /// A setting that makes a readable file.
        fix: &'static str,
    },
    /// An element type that Gmsh does not have.
    #[error("{location}: {kind} is not a Gmsh element type")]
    UnknownElementType {
        /// Where.
        location: Location,
        /// The type number.
        kind: i64,
    },
    /// An element type that Gmsh has and that is of no use here.
    #[error("element {element} is a {name} (Gmsh type {kind}), which is not read; {fix}")]
    UnsupportedElement {
        /// The element's number.
        element: u64,
        /// The type number.
        kind: u32,
        /// Gmsh's name of the type.
        name: &'static str,
        /// What to do.
        fix: &'static str,
    },
    /// Geometry of too high an order.
    #[error(
        "{shape} elements of geometry order {order} are not read (at most {max}); set `Mesh.ElementOrder = {max}`"
    )]
    GeometryOrder {
        /// The shape.
        shape: Shape,
        /// The order asked for.
        order: usize,
        /// The highest that is possible.
        max: usize,
    },
    /// Two nodes with one number.
    #[error("node {node} is there twice")]
    DuplicateNode {
        /// The node's number.
        node: u64,
    },
    /// An element names a node that is not there.
    #[error("element {element} uses node {node}, which is not in $Nodes")]
    MissingNode {
        /// The element's number.
        element: u64,
        /// The missing node's number.
        node: u64,
    },
    /// A coordinate that is not a finite number.
    #[error("node {node} has a coordinate that is not a finite number")]
    NotFinite {
        /// The node's number.
        node: u64,
    },
    /// No elements that could carry a solution.
    #[error(
        "the mesh has no triangles, quadrilaterals or solid elements (with physical groups, Gmsh saves only elements of a group: add a `Physical Surface` in 2D or a `Physical Volume` in 3D)"
    )]
    NoElements,
    /// A plane mesh outside the xy plane.
    #[error("the plane mesh does not lie in the xy plane: its extent in {axis} is zero")]
    NotInPlane {
        /// The axis without extent.
        axis: char,
    },
    /// A surface in space that is no plane of constant z.
    #[error(
        "the mesh has two dimensions, but its z runs from {min} to {max}: turn it into a plane of constant z (surfaces in space are not solved on)"
    )]
    NotFlat {
        /// Least z.
        min: f64,
        /// Greatest z.
        max: f64,
    },
    /// Surface elements that fill no plane, without a volume.
    #[error(
        "the mesh has no solid elements, and its triangles and quadrilaterals do not lie in one plane: it is the surface of a body in space; mesh the volume (`Mesh 3;`, `gmsh -3`), and add a `Physical Volume` if the file has physical groups, as Gmsh saves only elements of a group"
    )]
    SurfaceInSpace,
    /// Two physical groups with one number.
    #[error("physical group {tag} of dimension {dim} has two names, `{first}` and `{second}`")]
    DuplicatePhysicalGroup {
        /// Dimension of the group.
        dim: usize,
        /// Number of the group.
        tag: i64,
        /// Its first name.
        first: String,
        /// Its second name.
        second: String,
    },
    /// An element whose Jacobian changes sign.
    #[error("{shape} {element} at {} is inverted: its Jacobian runs from {min:.3e} to {max:.3e}", Point(.centroid))]
    Inverted {
        /// The element's number.
        element: u64,
        /// Its shape.
        shape: Shape,
        /// Centroid of its vertices.
        centroid: [f64; 3],
        /// Least Jacobian found.
        min: f64,
        /// Greatest Jacobian found.
        max: f64,
    },
    /// An element without volume, or with one node in two places.
    #[error("{shape} {element} at {} is degenerate: it has no volume or repeats a node", Point(.centroid))]
    Degenerate {
        /// The element's number.
        element: u64,
        /// Its shape.
        shape: Shape,
        /// Centroid of its vertices.
        centroid: [f64; 3],
    },
    /// Two elements on the same vertices.
    #[error("elements {first} and {second} at {} are the same", Point(.centroid))]
    DuplicateElement {
        /// The first element's number.
        first: u64,
        /// The second element's number.
        second: u64,
        /// Centroid of the vertices.
        centroid: [f64; 3],
    },
    /// Three or more elements on one face.
    #[error("{} elements share the face at {}: {elements:?}", elements.len(), Point(.centroid))]
    NonManifold {
        /// Numbers of the elements (at most 8).
        elements: Vec<u64>,
        /// Centroid of the face.
        centroid: [f64; 3],
    },
    /// Two elements on the same side of the face that they share.
    #[error("elements {first} and {second} overlap at the face they share, {}", Point(.centroid))]
    Overlap {
        /// The first element's number.
        first: u64,
        /// The second element's number.
        second: u64,
        /// Centroid of the face.
        centroid: [f64; 3],
    },
    /// A node in the middle of another element's face.
    #[error("a node of element {neighbour} hangs in the face of element {element} at {}; meshes must be conforming", Point(.point))]
    HangingNode {
        /// The element whose face holds the node.
        element: u64,
        /// An element that has the node.
        neighbour: u64,
        /// The node.
        point: [f64; 3],
    },
    /// A quadrilateral face against triangular ones.
    #[error("the quadrilateral face of element {element} at {} meets triangular faces, such as that of element {neighbour}; pyramids are needed between them", Point(.centroid))]
    MixedFace {
        /// The element with the quadrilateral face.
        element: u64,
        /// An element with a triangular face on it.
        neighbour: u64,
        /// Centroid of the quadrilateral face.
        centroid: [f64; 3],
    },
    /// Two faces at one place that do not share their nodes.
    #[error("elements {first} and {second} touch at {} but do not share nodes; merge them (`Coherence;` in the .geo, `Coherence Mesh` in Gmsh), or name both faces as boundaries if the gap is meant", Point(.centroid))]
    UnmergedNodes {
        /// The first element's number.
        first: u64,
        /// The second element's number.
        second: u64,
        /// Centroid of the face.
        centroid: [f64; 3],
    },
    /// Two curved elements that disagree about the face they share.
    #[error("the curved faces of elements {first} and {second} at {} differ by {distance:.3e}", Point(.centroid))]
    CurvedFace {
        /// The first element's number.
        first: u64,
        /// The second element's number.
        second: u64,
        /// Centroid of the face.
        centroid: [f64; 3],
        /// Largest distance of nodes that should be the same.
        distance: f64,
    },
    /// A boundary element that is no element's face.
    #[error("element {element} of boundary `{boundary}` at {} is not a face of any element of the mesh; are the surface and the volume meshed together and both in physical groups?", Point(.centroid))]
    OrphanBoundary {
        /// The boundary element's number.
        element: u64,
        /// Name of the boundary.
        boundary: String,
        /// Its centroid.
        centroid: [f64; 3],
    },
    /// A boundary name that the mesh does not have.
    #[error("the mesh has no boundary `{name}` (it has: {}){}", known.join(", "), nearest_hint(nearest.as_ref()))]
    UnknownBoundary {
        /// The name asked for.
        name: String,
        /// The names that there are.
        known: Vec<String>,
        /// The most similar one.
        nearest: Option<String>,
    },
    /// Boundaries that do not match face by face.
    #[error("`{first}` ({n_first} faces) and `{second}` ({n_second} faces) do not match: no partner for the face at {}", Point(.centroid))]
    PeriodicMismatch {
        /// The first boundary.
        first: String,
        /// The second boundary.
        second: String,
        /// Faces of the first boundary.
        n_first: usize,
        /// Faces of the second boundary.
        n_second: usize,
        /// Centroid of a face (of the first boundary, if it has one left over) without a partner.
        centroid: [f64; 3],
    },
    /// A boundary joined to itself.
    #[error("boundary `{name}` cannot be periodic with itself")]
    PeriodicSelf {
        /// The boundary.
        name: String,
    },
    /// A boundary that is periodic with another one already.
    #[error("boundary `{name}` is periodic with `{other}` already")]
    AlreadyPeriodic {
        /// The boundary.
        name: String,
        /// Its partner.
        other: String,
    },
    /// A box whose maximum is not above its minimum.
    #[error("the box has no extent in {axis}: from {min} to {max}")]
    EmptyBox {
        /// The axis.
        axis: char,
        /// Lower end.
        min: f64,
        /// Upper end.
        max: f64,
    },
    /// Too few cells to build the mesh from.
    #[error("{cells} cells in {axis} are too few (at least {least})")]
    TooFewCells {
        /// The axis.
        axis: char,
        /// Cells asked for.
        cells: usize,
        /// Least number.
        least: usize,
    },
    /// A shape that cannot fill a box.
    #[error("a box cannot be made of elements of shape {shape}")]
    BoxShape {
        /// The shape.
        shape: Shape,
    },
    /// A scale that is not a positive number.
    #[error("a mesh cannot be scaled by {factor}: a positive number is needed")]
    Scale {
        /// The factor.
        factor: f64,
    },
    /// More than 32-bit indices can count.
    #[error("{count} {what} are too many (at most {max})")]
    TooLarge {
        /// Things counted.
        what: &'static str,
        /// How many there are.
        count: usize,
        /// How many there may be.
        max: usize,
    },
    /// A reference element that could not be made.
    #[error(transparent)]
    Basis(#[from] dgsuite_basis::BasisError),
}

impl MeshError {
    /// The error itself, without the path that it happened in.
    #[must_use]
    pub fn without_path(&self) -> &Self {
        match self {
            Self::File { error, .. } => error.without_path(),
            other => other,
        }
    }

    pub(crate) fn in_file(self, path: &std::path::Path) -> Self {
        Self::File { path: path.to_owned(), error: Box::new(self) }
    }
}

/// What was found, or a word for nothing that can be shown.
fn or_nothing(found: &str) -> String {
    if found.is_empty() { "no text".to_owned() } else { format!("`{found}`") }
}
