//! The seven reference shapes: vertices, faces, face frames and their relative orientation.
//!
//! Vertices are numbered as in Gmsh. The vertices of a face are listed so that its normal, by the right-hand
//! rule, points out of the element; in two dimensions the edges run counter-clockwise. The *face frame* maps
//! the reference coordinates of the face's own shape onto the face, so that the vertices of the face's
//! reference shape become the listed vertices in order.
//!
//! Two elements of positive volume that share a face traverse it in opposite directions, so that one number
//! describes their relative orientation: with `m` the vertices of the minus side's face and `q` those of the
//! plus side's, the orientation `k` is the rotation for which `m[i] = q[(k − i) mod n]`.

/// A reference shape.
///
/// | shape | region | vertices |
/// |---|---|---|
/// | line | −1 ≤ r ≤ 1 | 2 |
/// | triangle | r, s ≥ −1, r + s ≤ 0 | 3 |
/// | quadrilateral | [−1, 1]² | 4 |
/// | tetrahedron | r, s, t ≥ −1, r + s + t ≤ −1 | 4 |
/// | hexahedron | [−1, 1]³ | 8 |
/// | prism | triangle × [−1, 1] | 6 |
/// | pyramid | base [−1, 1]² at t = −1, apex (0, 0, 1) | 5 |
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Shape {
    /// The interval [−1, 1].
    Line,
    /// The triangle (−1, −1), (1, −1), (−1, 1).
    Triangle,
    /// The square [−1, 1]².
    Quadrilateral,
    /// The tetrahedron (−1, −1, −1), (1, −1, −1), (−1, 1, −1), (−1, −1, 1).
    Tetrahedron,
    /// The cube [−1, 1]³.
    Hexahedron,
    /// The triangle times [−1, 1].
    Prism,
    /// The pyramid over [−1, 1]² at t = −1 with its apex at (0, 0, 1).
    Pyramid,
}

impl Shape {
    /// Every shape, lines first.
    pub const ALL: [Self; 7] = [
        Self::Line,
        Self::Triangle,
        Self::Quadrilateral,
        Self::Tetrahedron,
        Self::Hexahedron,
        Self::Prism,
        Self::Pyramid,
    ];

    /// The name in lower case, for input and output.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Line => "line",
            Self::Triangle => "triangle",
            Self::Quadrilateral => "quadrilateral",
            Self::Tetrahedron => "tetrahedron",
            Self::Hexahedron => "hexahedron",
            Self::Prism => "prism",
            Self::Pyramid => "pyramid",
        }
    }

    /// Dimension of the shape: 1, 2 or 3.
    #[must_use]
    pub const fn dim(self) -> usize {
        match self {
            Self::Line => 1,
            Self::Triangle | Self::Quadrilateral => 2,
            _ => 3,
        }
    }

    /// Length, area or volume of the reference shape.
    #[must_use]
    pub const fn measure(self) -> f64 {
        match self {
            Self::Line | Self::Triangle => 2.0,
            Self::Quadrilateral | Self::Prism => 4.0,
            Self::Tetrahedron => 4.0 / 3.0,
            Self::Hexahedron => 8.0,
            Self::Pyramid => 8.0 / 3.0,
        }
    }

    /// Reference coordinates `[r, s, t]` of the vertices; unused coordinates are zero.
    #[must_use]
    pub const fn vertices(self) -> &'static [[f64; 3]] {
        match self {
            Self::Line => &[[-1.0, 0.0, 0.0], [1.0, 0.0, 0.0]],
            Self::Triangle => &[[-1.0, -1.0, 0.0], [1.0, -1.0, 0.0], [-1.0, 1.0, 0.0]],
            Self::Quadrilateral => &[[-1.0, -1.0, 0.0], [1.0, -1.0, 0.0], [1.0, 1.0, 0.0], [-1.0, 1.0, 0.0]],
            Self::Tetrahedron => {
                &[[-1.0, -1.0, -1.0], [1.0, -1.0, -1.0], [-1.0, 1.0, -1.0], [-1.0, -1.0, 1.0]]
            }
            Self::Hexahedron => &[
                [-1.0, -1.0, -1.0],
                [1.0, -1.0, -1.0],
                [1.0, 1.0, -1.0],
                [-1.0, 1.0, -1.0],
                [-1.0, -1.0, 1.0],
                [1.0, -1.0, 1.0],
                [1.0, 1.0, 1.0],
                [-1.0, 1.0, 1.0],
            ],
            Self::Prism => &[
                [-1.0, -1.0, -1.0],
                [1.0, -1.0, -1.0],
                [-1.0, 1.0, -1.0],
                [-1.0, -1.0, 1.0],
                [1.0, -1.0, 1.0],
                [-1.0, 1.0, 1.0],
            ],
            Self::Pyramid => {
                &[[-1.0, -1.0, -1.0], [1.0, -1.0, -1.0], [1.0, 1.0, -1.0], [-1.0, 1.0, -1.0], [0.0, 0.0, 1.0]]
            }
        }
    }

    /// Number of vertices.
    #[must_use]
    pub const fn n_vertices(self) -> usize {
        self.vertices().len()
    }

    /// For each face, its vertices: outward by the right-hand rule (edges counter-clockwise).
    #[must_use]
    pub const fn faces(self) -> &'static [&'static [usize]] {
        match self {
            Self::Line => &[&[0], &[1]],
            Self::Triangle => &[&[0, 1], &[1, 2], &[2, 0]],
            Self::Quadrilateral => &[&[0, 1], &[1, 2], &[2, 3], &[3, 0]],
            Self::Tetrahedron => &[&[0, 2, 1], &[0, 1, 3], &[1, 2, 3], &[0, 3, 2]],
            Self::Hexahedron => {
                &[&[0, 3, 2, 1], &[0, 1, 5, 4], &[1, 2, 6, 5], &[2, 3, 7, 6], &[3, 0, 4, 7], &[4, 5, 6, 7]]
            }
            Self::Prism => &[&[0, 2, 1], &[3, 4, 5], &[0, 1, 4, 3], &[1, 2, 5, 4], &[2, 0, 3, 5]],
            Self::Pyramid => &[&[0, 3, 2, 1], &[0, 1, 4], &[1, 2, 4], &[2, 3, 4], &[3, 0, 4]],
        }
    }

    /// Number of faces (end points of a line, edges in two dimensions).
    #[must_use]
    pub const fn n_faces(self) -> usize {
        self.faces().len()
    }

    /// Vertices of face `face`.
    #[must_use]
    pub const fn face_vertices(self, face: usize) -> &'static [usize] {
        self.faces()[face]
    }

    /// Shape of face `face`; `None` for the end points of a line.
    #[must_use]
    pub const fn face_shape(self, face: usize) -> Option<Self> {
        match self.faces()[face].len() {
            2 => Some(Self::Line),
            3 => Some(Self::Triangle),
            4 => Some(Self::Quadrilateral),
            _ => None,
        }
    }

    /// Edges as pairs of vertices, each once, lower vertex first.
    #[must_use]
    pub const fn edges(self) -> &'static [[usize; 2]] {
        match self {
            Self::Line => &[[0, 1]],
            Self::Triangle => &[[0, 1], [1, 2], [0, 2]],
            Self::Quadrilateral => &[[0, 1], [1, 2], [2, 3], [0, 3]],
            Self::Tetrahedron => &[[0, 1], [1, 2], [0, 2], [0, 3], [1, 3], [2, 3]],
            Self::Hexahedron => &[
                [0, 1],
                [1, 2],
                [2, 3],
                [0, 3],
                [4, 5],
                [5, 6],
                [6, 7],
                [4, 7],
                [0, 4],
                [1, 5],
                [2, 6],
                [3, 7],
            ],
            Self::Prism => &[[0, 1], [1, 2], [0, 2], [3, 4], [4, 5], [3, 5], [0, 3], [1, 4], [2, 5]],
            Self::Pyramid => &[[0, 1], [1, 2], [2, 3], [0, 3], [0, 4], [1, 4], [2, 4], [3, 4]],
        }
    }

    /// Map a point of face `face`, given in the face's frame, to the element's coordinates.
    ///
    /// Affine on line and triangle faces, bilinear on quadrilateral faces (these are parallelograms on every
    /// reference shape, so that the map is affine there too).
    #[must_use]
    pub fn face_point(self, face: usize, xi: [f64; 3]) -> [f64; 3] {
        let corner = |i: usize| self.vertices()[self.face_vertices(face)[i]];
        let [a, b] = [xi[0], xi[1]];
        let weights: [f64; 4] = match self.face_shape(face) {
            None => [1.0, 0.0, 0.0, 0.0],
            Some(Self::Line) => [0.5 * (1.0 - a), 0.5 * (1.0 + a), 0.0, 0.0],
            Some(Self::Triangle) => [-0.5 * (a + b), 0.5 * (1.0 + a), 0.5 * (1.0 + b), 0.0],
            Some(_) => [
                0.25 * (1.0 - a) * (1.0 - b),
                0.25 * (1.0 + a) * (1.0 - b),
                0.25 * (1.0 + a) * (1.0 + b),
                0.25 * (1.0 - a) * (1.0 + b),
            ],
        };
        let mut r = [0.0; 3];
        for i in 0..self.face_vertices(face).len() {
            for d in 0..3 {
                r[d] += weights[i] * corner(i)[d];
            }
        }
        r
    }

    /// The two columns `∂(r,s,t)/∂ξ` of the face frame (constant on each face); the second is zero
    /// on edges.
    #[must_use]
    pub fn face_tangents(self, face: usize) -> [[f64; 3]; 2] {
        let v = self.face_vertices(face);
        let corner = |i: usize| self.vertices()[v[i]];
        let half = |to: usize, from: usize| std::array::from_fn(|d| 0.5 * (corner(to)[d] - corner(from)[d]));
        match v.len() {
            2 => [half(1, 0), [0.0; 3]],
            3 => [half(1, 0), half(2, 0)],
            4 => [half(1, 0), half(3, 0)],
            _ => [[0.0; 3]; 2],
        }
    }

    /// True if `r` lies in the closed reference shape, up to `tolerance`.
    #[must_use]
    pub fn contains(self, r: [f64; 3], tolerance: f64) -> bool {
        let e = tolerance;
        let within = |x: f64| x >= -1.0 - e && x <= 1.0 + e;
        match self {
            Self::Line => within(r[0]),
            Self::Triangle => r[0] >= -1.0 - e && r[1] >= -1.0 - e && r[0] + r[1] <= e,
            Self::Quadrilateral => within(r[0]) && within(r[1]),
            Self::Tetrahedron => r.iter().all(|&x| x >= -1.0 - e) && r[0] + r[1] + r[2] <= -1.0 + e,
            Self::Hexahedron => r.iter().all(|&x| within(x)),
            Self::Prism => Self::Triangle.contains(r, e) && within(r[2]),
            Self::Pyramid => {
                let half_width = 0.5 * (1.0 - r[2]) + e;
                within(r[2]) && r[0].abs() <= half_width && r[1].abs() <= half_width
            }
        }
    }

    /// The point in the plus side's face frame that coincides with `xi` in the minus side's, when the two
    /// sides meet with orientation `k` (`m[i] = q[(k − i) mod n]`). The map is its own inverse.
    ///
    /// `self` is the shape of the face: line, triangle or quadrilateral.
    ///
    /// # Panics
    /// If `self` is not two- or one-dimensional, or `k` is not a rotation of the face.
    #[must_use]
    pub fn meet(self, k: usize, xi: [f64; 3]) -> [f64; 3] {
        let n = self.n_vertices();
        assert!(self.dim() < 3 && k < n, "orientation {k} of a {}", self.name());
        // The vertex weights of ξ on the minus side, assigned to the plus side's vertices.
        let [a, b] = [xi[0], xi[1]];
        let weights: [f64; 4] = match self {
            Self::Line => [0.5 * (1.0 - a), 0.5 * (1.0 + a), 0.0, 0.0],
            Self::Triangle => [-0.5 * (a + b), 0.5 * (1.0 + a), 0.5 * (1.0 + b), 0.0],
            _ => [
                0.25 * (1.0 - a) * (1.0 - b),
                0.25 * (1.0 + a) * (1.0 - b),
                0.25 * (1.0 + a) * (1.0 + b),
                0.25 * (1.0 - a) * (1.0 + b),
            ],
        };
        let mut out = [0.0; 3];
        for i in 0..n {
            let q = self.vertices()[(k + n - i) % n];
            for d in 0..3 {
                out[d] += weights[i] * q[d];
            }
        }
        out
    }
}

impl std::fmt::Display for Shape {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cross(a: [f64; 3], b: [f64; 3]) -> [f64; 3] {
        [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
    }

    #[test]
    fn faces_point_outward_and_close_the_shape() {
        for shape in Shape::ALL.into_iter().filter(|s| s.dim() > 1) {
            let n = shape.n_vertices() as f64;
            let centre: [f64; 3] =
                std::array::from_fn(|d| shape.vertices().iter().map(|v| v[d]).sum::<f64>() / n);
            let mut closed = [0.0; 3];
            for f in 0..shape.n_faces() {
                let [a, b] = shape.face_tangents(f);
                let b = if shape.dim() == 2 { [0.0, 0.0, 1.0] } else { b };
                let normal = cross(a, b);
                let x = shape.vertices()[shape.face_vertices(f)[0]];
                let out: f64 = (0..3).map(|d| normal[d] * (x[d] - centre[d])).sum();
                assert!(out > 0.0, "{shape} face {f}");
                let area = shape.face_shape(f).map_or(1.0, Shape::measure);
                for d in 0..3 {
                    closed[d] += area * normal[d];
                }
            }
            assert!(closed.iter().all(|c| c.abs() < 1e-14), "{shape}: {closed:?}");
        }
    }

    #[test]
    fn meeting_twice_is_the_identity_and_vertices_meet_vertices() {
        for shape in [Shape::Line, Shape::Triangle, Shape::Quadrilateral] {
            let n = shape.n_vertices();
            for k in 0..n {
                for i in 0..n {
                    let there = shape.meet(k, shape.vertices()[i]);
                    assert_eq!(there, shape.vertices()[(k + n - i) % n]);
                    let back = shape.meet(k, there);
                    assert_eq!(back, shape.vertices()[i]);
                }
            }
        }
    }
}
