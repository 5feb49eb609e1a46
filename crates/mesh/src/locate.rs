//! Point location: Newton's method on the elements whose bounding boxes contain the point.

use dgsuite_basis::LagrangeBasis;

use crate::Mesh;

/// Newton steps; the maps are nearly affine, so that a few are enough.
const STEPS: usize = 20;

/// How far outside of its reference shape a point may lie and still belong to an element.
const TOLERANCE: f64 = 1e-9;

impl Mesh {
    /// Find the element that contains the point `x`, and the point's reference coordinates there.
    ///
    /// On a face the element with the lowest number is returned; outside of the mesh `None`. The search loops
    /// over all elements: it is meant for a few points, such as probes.
    ///
    /// ```
    /// use dgsuite_mesh::{Shape, generate::Box};
    /// let mesh = Box::unit(Shape::Quadrilateral, 2).build()?;
    /// let (element, r) = mesh.find_point([0.75, 0.25, 0.0]).expect("a point of the square");
    /// assert_eq!(element, 1);
    /// assert!(r.iter().all(|c| c.abs() < 1e-12));
    /// assert!(mesh.find_point([1.5, 0.5, 0.0]).is_none());
    /// # Ok::<(), dgsuite_mesh::MeshError>(())
    /// ```
    #[must_use]
    pub fn find_point(&self, x: [f64; 3]) -> Option<(usize, [f64; 3])> {
        for (s, set) in self.sets.iter().enumerate() {
            let basis = LagrangeBasis::new(set.shape, set.order);
            for i in 0..set.len() {
                let nodes: Vec<[f64; 3]> = self.element_points(s, i).collect();
                if !self.box_holds(&nodes, x) {
                    continue;
                }
                if let Some(r) = self.invert(&basis, &nodes, x)
                    && set.shape.contains(r, TOLERANCE)
                {
                    return Some((set.first + i, r));
                }
            }
        }
        None
    }

    /// Whether the bounding box of the nodes, slightly enlarged for curved elements, contains the point.
    fn box_holds(&self, nodes: &[[f64; 3]], x: [f64; 3]) -> bool {
        (0..self.dim).all(|d| {
            let (low, high) =
                nodes.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), n| (a.min(n[d]), b.max(n[d])));
            let room = 0.25 * (high - low);
            x[d] >= low - room && x[d] <= high + room
        })
    }

    /// The reference point whose image is `x`, by Newton's method from the shape's centre.
    fn invert(&self, basis: &LagrangeBasis, nodes: &[[f64; 3]], x: [f64; 3]) -> Option<[f64; 3]> {
        let vertices = basis.shape().vertices();
        let mut r: [f64; 3] =
            std::array::from_fn(|d| vertices.iter().map(|v| v[d]).sum::<f64>() / vertices.len() as f64);
        let size = nodes
            .iter()
            .flatten()
            .fold(0.0_f64, |m, c| m.max((c - nodes[0][0]).abs()))
            .max(f64::MIN_POSITIVE);
        for _ in 0..STEPS {
            let value = basis.eval(&[r]);
            let grad = basis.grad(&[r]);
            let mut miss = x;
            let mut jacobian = [[0.0; 3]; 3];
            for (m, node) in nodes.iter().enumerate() {
                for c in 0..3 {
                    miss[c] -= value[(0, m)] * node[c];
                    for d in 0..self.dim {
                        jacobian[c][d] += grad[d][(0, m)] * node[c];
                    }
                }
            }
            if self.dim == 2 {
                miss[2] = 0.0;
                jacobian[2] = [0.0, 0.0, 1.0];
            }
            let step = solve3(&jacobian, miss)?;
            for d in 0..3 {
                r[d] += step[d];
            }
            if !r.iter().all(|c| c.is_finite() && c.abs() < 10.0) {
                return None;
            }
            if miss.iter().all(|m| m.abs() <= 1e-14 * size) || step.iter().all(|s| s.abs() < 1e-14) {
                return Some(r);
            }
        }
        None
    }
}

/// `A⁻¹ b` by Cramer's rule; `None` if `A` is singular.
fn solve3(a: &[[f64; 3]; 3], b: [f64; 3]) -> Option<[f64; 3]> {
    let det = |m: &[[f64; 3]; 3]| {
        m[0][0] * (m[1][1] * m[2][2] - m[1][2] * m[2][1]) - m[0][1] * (m[1][0] * m[2][2] - m[1][2] * m[2][0])
            + m[0][2] * (m[1][0] * m[2][1] - m[1][1] * m[2][0])
    };
    let d = det(a);
    if d == 0.0 || !d.is_finite() {
        return None;
    }
    Some(std::array::from_fn(|c| {
        let mut m = *a;
        for row in 0..3 {
            m[row][c] = b[row];
        }
        det(&m) / d
    }))
}
