//! Quantities of a flow as plain functions: forces, wall curves, wake lengths, frequencies, decay rates,
//! integrals of derivatives, cuts.

pub mod batches;
pub mod cut;
pub mod forces;
pub mod history;
pub mod homogeneous;
pub mod line;
pub mod points;
pub mod settled;
pub mod slow_outflow;
pub mod spectrum;
pub mod wall;

/// The solution at the points of a boundary, face by face.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Surface {
    /// Index of the first point of each face, and the number of points at the end.
    pub first: Vec<usize>,
    /// The points.
    pub points: Vec<[f64; 3]>,
    /// Unit normals, out of the domain.
    pub normals: Vec<[f64; 3]>,
    /// Weights of the cubature, with the element of area.
    pub weights: Vec<f64>,
    /// Primitive variables, `[variable][point]`: the last ones are the pressure, then `scalars` others.
    pub values: Vec<Vec<f64>>,
    /// The number of scalars that incompressible flow carries.
    pub scalars: usize,
    /// The viscous stress on the fluid, `τ·n`; empty for an inviscid fluid.
    pub traction: Vec<[f64; 3]>,
    /// The distances from the wall in wall units, `y⁺ = d u_τ/ν`, of the nodes of the solution or of the
    /// state of a wall model; empty for an inviscid fluid.
    pub y_plus: Vec<f64>,
    /// The friction velocity `u_τ = √(|τ_w|/ρ)`; empty for an inviscid fluid.
    pub u_tau: Vec<f64>,
    /// The heat that leaves the fluid, `q·n`, per area and time; of incompressible flow `−α ∂T/∂n` of its
    /// first scalar. Empty for a fluid without conduction of heat.
    pub heat: Vec<f64>,
}

impl Surface {
    /// Appends another boundary.
    pub fn append(&mut self, other: Self) {
        let n = self.points.len();
        self.first.extend(other.first.iter().skip(1).map(|first| n + first));
        self.points.extend(other.points);
        self.normals.extend(other.normals);
        self.weights.extend(other.weights);
        self.scalars = self.scalars.max(other.scalars);
        self.values.resize(self.values.len().max(other.values.len()), Vec::new());
        for (all, more) in self.values.iter_mut().zip(other.values) {
            all.extend(more);
        }
        self.traction.extend(other.traction);
        self.y_plus.extend(other.y_plus);
        self.u_tau.extend(other.u_tau);
        self.heat.extend(other.heat);
    }

    /// The pressure.
    #[must_use]
    pub fn pressure(&self) -> &[f64] {
        self.values.iter().rev().nth(self.scalars).map_or(&[], Vec::as_slice)
    }
}

/// `a·b`.
pub fn dot(a: [f64; 3], b: [f64; 3]) -> f64 {
    a.iter().zip(b).map(|(x, y)| x * y).sum()
}

/// `a × b`.
pub fn cross(a: [f64; 3], b: [f64; 3]) -> [f64; 3] {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}
