//! Sets of faces that waves in one direction cross: see `formulas/directed.rs`.

/// The sets of faces of a reference element.
#[derive(Clone, Debug, PartialEq)]
pub struct Directions(pub(crate) Vec<FaceSet>);

/// A set of faces.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct FaceSet {
    /// The largest eigenvalue for the weight 1 of these faces.
    pub(crate) radius: f64,
    /// The normals `N̂` of the reference faces; one of two opposite ones.
    pub(crate) normals: Vec<[f64; 3]>,
}
