//! The errors of reading, building and changing meshes, with numbers and coordinates.

use std::path::PathBuf;

use dgsuite_basis::Shape;

/// A place in a mesh file: the line in a text file, the byte in a binary one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Location {
    /// Offset in bytes.
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

/// The physical groups of two elements, as the end of a sentence.
struct Groups<'a>(&'a Option<Box<[String; 2]>>);

impl std::fmt::Display for Groups<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.0.as_deref() {
            None => Ok(()),
            Some([a, b]) => write!(
                f,
                ": one is in the physical group {a}, the other in {b}; a cell belongs to one group only"
            ),
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

/// Why a mesh could not be read, built or changed.
///
/// Elements and nodes are given by their numbers in the file; coordinates are the centroid of the vertices of
/// the element or face.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum MeshError {
    /// An error in a file; the path comes first in the message.
    #[error("{}: {error}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// The error in the file.
        #[source]
        error: Box<MeshError>,
    },
    /// The file does not exist.
    #[error("there is no such mesh file")]
    NotFound,
    /// A directory, a pipe or a device instead of a file.
    #[error("this is not a regular file")]
    NotAFile,
    /// The operating system could not read or write the file.
    #[error("cannot read or write the file: {0}")]
    Io(#[from] std::io::Error),
    /// The file does not start like an MSH file of Gmsh.
    #[error("not a Gmsh mesh: `$MeshFormat` was expected, found {}", or_nothing(found))]
    NotGmsh {
        /// The first characters of the file.
        found: String,
    },
    /// A version of MSH that the reader does not support.
    #[error("MSH version {found} is not supported; save the mesh again with `{fix}`")]
    Version {
        /// The version in the file.
        found: String,
        /// A command that writes a supported file.
        fix: &'static str,
    },
    /// A word size other than 8 bytes.
    #[error("{location}: a data size of {found} bytes is not supported, only 8")]
    DataSize {
        /// Where the size is.
        location: Location,
        /// The size in the file.
        found: i64,
    },
    /// The integer 1 that gives the byte order of a binary file is not 1 in either byte order.
    #[error("{location}: the byte order of this binary file cannot be determined; was it copied as text?")]
    ByteOrder {
        /// Where the integer is.
        location: Location,
    },
    /// A text or number that the format does not allow there.
    #[error("{location}, in ${section}: expected {expected}, found `{found}`")]
    Syntax {
        /// Where it is.
        location: Location,
        /// The section.
        section: String,
        /// What the format requires.
        expected: &'static str,
        /// What the file contains.
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
    /// A count that needs more bytes than the file has left.
    #[error("{location}, in ${section}: {count} {what} are announced, but only {bytes} bytes follow")]
    Count {
        /// Where the count is.
        location: Location,
        /// The section.
        section: String,
        /// The kind of items counted.
        what: &'static str,
        /// The count.
        count: u64,
        /// Bytes left in the file.
        bytes: usize,
    },
    /// Blocks whose sum differs from the total that their section announces.
    #[error("{location}, in ${section}: {announced} {what} are announced, but the blocks hold {found}")]
    Total {
        /// Where the total is.
        location: Location,
        /// The section.
        section: &'static str,
        /// The kind of items counted.
        what: &'static str,
        /// The total announced.
        announced: usize,
        /// The sum of the blocks.
        found: usize,
    },
    /// A section that does not end after the announced number of items.
    #[error("{location}: `$End{section}` was expected, found `{found}`; a count in the section may be wrong")]
    SectionEnd {
        /// Where it should end.
        location: Location,
        /// The section.
        section: String,
        /// What the file contains.
        found: String,
    },
    /// A required section is missing.
    #[error("the file has no ${section} section")]
    MissingSection {
        /// The section.
        section: &'static str,
    },
    /// A second copy of a section that may occur only once.
    #[error("{location}: a second ${section} section")]
    RepeatedSection {
        /// Where the second one starts.
        location: Location,
        /// The section.
        section: String,
    },
    /// A section that changes the meaning of other sections and that the reader does not support.
    #[error("{location}: ${section} is not supported; save the mesh again with `{fix}`")]
    UnsupportedSection {
        /// Where the section starts.
        location: Location,
        /// The section.
        section: String,
        /// A setting that writes a supported file.
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
    /// An element type of Gmsh that the reader does not support.
    #[error("element {element} is a {name} (Gmsh type {kind}), which is not supported; {fix}")]
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
        "{shape} elements of geometry order {order} are not supported (at most {max}); set `Mesh.ElementOrder = {max}`"
    )]
    GeometryOrder {
        /// The shape.
        shape: Shape,
        /// The order in the file or the call.
        order: usize,
        /// The highest supported order.
        max: usize,
    },
    /// Two nodes with the same number.
    #[error("node {node} is defined twice")]
    DuplicateNode {
        /// The node's number.
        node: u64,
    },
    /// An element refers to a node that does not exist.
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
    /// No elements that can carry a solution.
    #[error(
        "the mesh has no triangles, quadrilaterals or solid elements (with physical groups, Gmsh saves only elements of a group: add a `Physical Surface` in 2D or a `Physical Volume` in 3D)"
    )]
    NoElements,
    /// A plane mesh outside of the xy plane.
    #[error("the plane mesh does not lie in the xy plane: its extent in {axis} is zero")]
    NotInPlane {
        /// The axis without extent.
        axis: char,
    },
    /// A surface in space that is not a plane of constant z.
    #[error(
        "the mesh has two dimensions, but its z ranges from {min} to {max}: move it into a plane of constant z (surfaces in space are not supported)"
    )]
    NotFlat {
        /// Least z.
        min: f64,
        /// Greatest z.
        max: f64,
    },
    /// Surface elements that do not lie in one plane, without a volume.
    #[error(
        "the mesh has no solid elements, and its triangles and quadrilaterals do not lie in one plane: it is the surface of a body in space; mesh the volume (`Mesh 3;`, `gmsh -3`), and add a `Physical Volume` if the file has physical groups, because Gmsh then saves only elements of a group"
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
    #[error("{shape} {element} at {} is inverted: its Jacobian ranges from {min:.3e}, near {}, to {max:.3e}", Point(.centroid), Point(.at))]
    Inverted {
        /// The element's number.
        element: u64,
        /// Its shape.
        shape: Shape,
        /// Centroid of its vertices.
        centroid: [f64; 3],
        /// Smallest Jacobian found.
        min: f64,
        /// Its place.
        at: [f64; 3],
        /// Largest Jacobian found.
        max: f64,
    },
    /// An element whose Jacobian is so close to zero somewhere that its sign is not certain.
    #[error("{shape} {element} at {} is nearly inverted: near {} its Jacobian falls to {min:.3e} or below, and it is {max:.3e} elsewhere", Point(.centroid), Point(.at))]
    NearlyInverted {
        /// The element's number.
        element: u64,
        /// Its shape.
        shape: Shape,
        /// Centroid of its vertices.
        centroid: [f64; 3],
        /// Smallest Jacobian found.
        min: f64,
        /// Its place.
        at: [f64; 3],
        /// Largest Jacobian found.
        max: f64,
    },
    /// An element without volume, or with a repeated node.
    #[error("{shape} {element} at {} is degenerate: it has no volume or repeats a node", Point(.centroid))]
    Degenerate {
        /// The element's number.
        element: u64,
        /// Its shape.
        shape: Shape,
        /// Centroid of its vertices.
        centroid: [f64; 3],
    },
    /// Two elements with the same vertices.
    #[error("elements {first} and {second} at {} have the same vertices{}", Point(.centroid), Groups(.groups))]
    DuplicateElement {
        /// The physical groups of the two, by their names or numbers, if they differ.
        groups: Option<Box<[String; 2]>>,
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
    /// A node in the interior of another element's face.
    #[error("a node of element {neighbour} lies inside the face of element {element} at {} (hanging node); meshes must be conforming", Point(.point))]
    HangingNode {
        /// The element whose face holds the node.
        element: u64,
        /// An element that has the node.
        neighbour: u64,
        /// The node.
        point: [f64; 3],
    },
    /// A quadrilateral face that meets triangular faces.
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
    #[error("elements {first} and {second} touch at {} but do not share nodes; merge them (`Coherence;` in the .geo, `Coherence Mesh` in Gmsh), or name both faces as boundaries if the gap is intended", Point(.centroid))]
    UnmergedNodes {
        /// The first element's number.
        first: u64,
        /// The second element's number.
        second: u64,
        /// Centroid of the face.
        centroid: [f64; 3],
    },
    /// Two curved elements whose geometry differs on the face they share.
    #[error("the curved faces of elements {first} and {second} at {} differ by {distance:.3e}", Point(.centroid))]
    CurvedFace {
        /// The first element's number.
        first: u64,
        /// The second element's number.
        second: u64,
        /// Centroid of the face.
        centroid: [f64; 3],
        /// Largest distance of nodes that should coincide.
        distance: f64,
    },
    /// A boundary element that is not a face of any element.
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
        /// The requested name.
        name: String,
        /// The existing names.
        known: Vec<String>,
        /// The most similar name.
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
    /// A boundary that is joined to itself.
    #[error("boundary `{name}` cannot be periodic with itself")]
    PeriodicSelf {
        /// The boundary.
        name: String,
    },
    /// A boundary that is already periodic with another one.
    #[error("boundary `{name}` is already periodic with `{other}`")]
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
    /// Too few cells for the mesh.
    #[error("{cells} cells in {axis} are too few (at least {least})")]
    TooFewCells {
        /// The axis.
        axis: char,
        /// Number of cells requested.
        cells: usize,
        /// Least number.
        least: usize,
    },
    /// A mesh in space where one of the plane is needed.
    #[error("the mesh already has {dim} dimensions")]
    NotPlane {
        /// Its dimension.
        dim: usize,
    },
    /// Ends of an extrusion that are not in ascending order, or not finite.
    #[error("a mesh cannot be extruded from z = {from:?} to z = {to:?}")]
    Extent {
        /// Lower end.
        from: f64,
        /// Upper end.
        to: f64,
    },
    /// A boundary that has the name of an end of the extruded mesh.
    #[error("the mesh already has a boundary `{name}`, the name of an end of the extruded mesh")]
    EndTaken {
        /// The name.
        name: String,
    },
    /// A shape that cannot fill a box.
    #[error("a box cannot be made of elements of shape {shape}")]
    BoxShape {
        /// The shape.
        shape: Shape,
    },
    /// A value from which a generator cannot build a mesh.
    #[error("`{key}` is {value}, where {expected} is needed")]
    Generator {
        /// Name of the value.
        key: &'static str,
        /// The value.
        value: String,
        /// What is possible.
        expected: String,
    },
    /// A scale that is not a positive number.
    #[error("a mesh cannot be scaled by {factor}: a positive number is needed")]
    Scale {
        /// The factor.
        factor: f64,
    },
    /// A mesh cannot be cut into so many parts.
    #[error("a mesh of {elements} elements cannot be cut into {parts} parts: each part needs an element")]
    TooManyParts {
        /// Parts asked for.
        parts: usize,
        /// Elements of the mesh.
        elements: usize,
    },
    /// More parts than chains of elements that are never cut, and elements outside of them.
    #[error(
        "{parts} parts of a mesh with {pieces} pieces: lines of thin elements are not cut, and each part needs a piece"
    )]
    Chains {
        /// Parts asked for.
        parts: usize,
        /// Chains, and elements outside of them.
        pieces: usize,
    },
    /// METIS cannot cut a mesh.
    #[error("METIS cannot cut this mesh: {reason}")]
    Graph {
        /// The reason.
        reason: String,
    },
    /// Bytes from another process that cannot be what they should be.
    #[error("the bytes of {what} are damaged")]
    Message {
        /// What they should be.
        what: &'static str,
    },
    /// A number of items that exceeds 32-bit indices.
    #[error("{count} {what} are too many (at most {max})")]
    TooLarge {
        /// The kind of items counted.
        what: &'static str,
        /// Their number.
        count: usize,
        /// The largest possible number.
        max: usize,
    },
    /// A reference element that could not be built.
    #[error(transparent)]
    Basis(#[from] dgsuite_basis::BasisError),
}

impl MeshError {
    /// The error itself, without the path of the file.
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

/// The text found, or `no text` if there is nothing to show.
fn or_nothing(found: &str) -> String {
    if found.is_empty() { "no text".to_owned() } else { format!("`{found}`") }
}
