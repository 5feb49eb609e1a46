//! Solutions on lattices of points.

use dgsuite_basis::Shape;

/// Values on the lattice of the elements of a shape.
#[derive(Clone, Debug, PartialEq)]
pub struct SampledSet {
    /// Shape.
    pub shape: Shape,
    /// Points, `[cell][lattice point]`.
    pub points: Vec<[f64; 3]>,
    /// Primitive variables, `[variable][cell × lattice point]`.
    pub values: Vec<Vec<f64>>,
    /// Their derivatives, `[axis × variable][cell × lattice point]`; empty unless requested.
    pub gradients: Vec<Vec<f64>>,
    /// The elements' numbers in the mesh file.
    pub elements: Vec<u64>,
    /// The filter widths of a closure, `[cell]`; empty without one.
    pub widths: Vec<f64>,
}
