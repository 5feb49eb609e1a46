//! Point location: Newton's method on the elements whose bounding boxes contain the point.

use dgsuite_basis::{LagrangeBasis, Shape};

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
                if !self.box_of(&nodes).holds(x, self.dim) {
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

    /// The bounding box of the nodes of an element, slightly enlarged for curved sides.
    fn box_of(&self, nodes: &[[f64; 3]]) -> Bounds {
        let mut bounds = Bounds::EMPTY;
        nodes.iter().for_each(|&node| bounds.add(node, node));
        for d in 0..self.dim {
            let room = 0.25 * (bounds.high[d] - bounds.low[d]);
            (bounds.low[d], bounds.high[d]) = (bounds.low[d] - room, bounds.high[d] + room);
        }
        bounds
    }

    /// The reference point whose image is `x`, by Newton's method from the shape's centre.
    fn invert(&self, basis: &LagrangeBasis, nodes: &[[f64; 3]], x: [f64; 3]) -> Option<[f64; 3]> {
        let mut r = centre(basis.shape());
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

/// A box parallel to the axes.
#[derive(Clone, Copy, Debug)]
struct Bounds {
    low: [f64; 3],
    high: [f64; 3],
}

impl Bounds {
    const EMPTY: Self = Self { low: [f64::INFINITY; 3], high: [f64::NEG_INFINITY; 3] };

    fn add(&mut self, low: [f64; 3], high: [f64; 3]) {
        for d in 0..3 {
            self.low[d] = self.low[d].min(low[d]);
            self.high[d] = self.high[d].max(high[d]);
        }
    }

    /// The distance of a point from the box.
    fn distance(&self, x: [f64; 3], dim: usize) -> f64 {
        let beyond = |d: usize| (self.low[d] - x[d]).max(x[d] - self.high[d]).max(0.0);
        (0..dim).map(|d| beyond(d).powi(2)).sum::<f64>().sqrt()
    }

    fn holds(&self, x: [f64; 3], dim: usize) -> bool {
        (0..dim).all(|d| (self.low[d]..=self.high[d]).contains(&x[d]))
    }
}

/// The search for many points in one mesh: a tree of the boxes of its elements.
///
/// ```
/// use dgsuite_mesh::{Locator, Shape, generate::Box};
/// let mesh = Box::unit(Shape::Triangle, 8).build()?;
/// let locator = Locator::new(&mesh);
/// for x in [[0.3, 0.7, 0.0], [1.0, 0.5, 0.0], [1.1, 0.5, 0.0]] {
///     assert_eq!(locator.find(x), mesh.find_point(x));
/// }
/// # Ok::<(), dgsuite_mesh::MeshError>(())
/// ```
pub struct Locator<'a> {
    mesh: &'a Mesh,
    /// The basis of the geometry of each set.
    bases: Vec<LagrangeBasis>,
    boxes: Vec<Bounds>,
    /// Elements in the order of the leaves.
    elements: Vec<u32>,
    /// Nodes of the tree: bounds of all elements below, and the range of elements of a leaf or the children.
    nodes: Vec<(Bounds, Below)>,
}

/// What is below a node of the tree.
#[derive(Clone, Copy, Debug)]
enum Below {
    Leaf { first: u32, end: u32 },
    Children([u32; 2]),
}

/// Largest number of elements of a leaf.
const LEAF: usize = 8;

impl<'a> Locator<'a> {
    /// Prepares the search.
    #[must_use]
    pub fn new(mesh: &'a Mesh) -> Self {
        let boxes: Vec<Bounds> = (0..mesh.n_elements())
            .map(|element| {
                let (set, i) = mesh.locate(element);
                mesh.box_of(&mesh.element_points(set, i).collect::<Vec<_>>())
            })
            .collect();
        let bases = mesh.sets.iter().map(|set| LagrangeBasis::new(set.shape, set.order)).collect();
        let elements = (0..boxes.len() as u32).collect();
        let mut locator = Self { mesh, bases, boxes, elements, nodes: Vec::new() };
        locator.divide(0, locator.elements.len());
        locator
    }

    /// Adds the node of a range of elements, and all nodes below; returns its number.
    fn divide(&mut self, first: usize, end: usize) -> u32 {
        let mut bounds = Bounds::EMPTY;
        for &element in &self.elements[first..end] {
            let Bounds { low, high } = self.boxes[element as usize];
            bounds.add(low, high);
        }
        let number = self.nodes.len();
        self.nodes.push((bounds, Below::Leaf { first: first as u32, end: end as u32 }));
        if end - first > LEAF {
            let length = |d: &usize| bounds.high[*d] - bounds.low[*d];
            let axis = (0..self.mesh.dim).max_by(|a, b| length(a).total_cmp(&length(b))).unwrap_or(0);
            let boxes = &self.boxes;
            let middle = |e: &u32| boxes[*e as usize].low[axis] + boxes[*e as usize].high[axis];
            let half = (end - first) / 2;
            self.elements[first..end].select_nth_unstable_by(half, |a, b| middle(a).total_cmp(&middle(b)));
            let children = [self.divide(first, first + half), self.divide(first + half, end)];
            self.nodes[number].1 = Below::Children(children);
        }
        number as u32
    }

    /// Does the same as [`Mesh::find_point`].
    #[must_use]
    pub fn find(&self, x: [f64; 3]) -> Option<(usize, [f64; 3])> {
        let mut open = vec![0];
        let mut candidates: Vec<u32> = Vec::new();
        while let Some(node) = open.pop() {
            let (bounds, below) = &self.nodes[node as usize];
            if !bounds.holds(x, self.mesh.dim) {
                continue;
            }
            match *below {
                Below::Children(children) => open.extend(children),
                Below::Leaf { first, end } => {
                    let inside = |e: &&u32| self.boxes[**e as usize].holds(x, self.mesh.dim);
                    candidates.extend(self.elements[first as usize..end as usize].iter().filter(inside));
                }
            }
        }
        candidates.sort_unstable();
        candidates.into_iter().find_map(|element| {
            let (r, inside) = self.inverse(element, x)?;
            inside.then_some((element as usize, r))
        })
    }

    /// As [`find`](Self::find), also for points beyond boundaries that are periodic by translations: the
    /// place whose image they are.
    ///
    /// ```
    /// use dgsuite_mesh::{Locator, Shape, generate::Box};
    /// let mut mesh = Box::unit(Shape::Triangle, 8).build()?;
    /// mesh.make_periodic("xmin", "xmax")?;
    /// let locator = Locator::new(&mesh);
    /// let inside = mesh.find_point([0.3, 0.7, 0.0]).map(|(element, _)| element);
    /// assert_eq!(locator.find_across([1.3, 0.7, 0.0]).map(|(element, _)| element), inside);
    /// assert_eq!(locator.find_across([0.3, 1.7, 0.0]), None);
    /// # Ok::<(), dgsuite_mesh::MeshError>(())
    /// ```
    #[must_use]
    pub fn find_across(&self, x: [f64; 3]) -> Option<(usize, [f64; 3])> {
        self.find_image(x).map(|(_, element, r)| (element, r))
    }

    /// As [`find_across`](Self::find_across), with the number of the image that was found, which comes first:
    /// images are tried in an order that depends on the links of the mesh only.
    #[must_use]
    pub fn find_image(&self, x: [f64; 3]) -> Option<(usize, usize, [f64; 3])> {
        let mut images = vec![x];
        for link in self.mesh.links.iter().filter(|link| link.is_translation()) {
            let moved =
                |sign: f64| images.iter().map(move |x| std::array::from_fn(|d| x[d] + sign * link.offset[d]));
            let more: Vec<[f64; 3]> = moved(1.0).chain(moved(-1.0)).collect();
            images.extend(more);
        }
        images
            .into_iter()
            .enumerate()
            .find_map(|(image, x)| self.find(x).map(|(element, r)| (image, element, r)))
    }

    /// The reference coordinates of a point in an element; `None` if it lies outside of it.
    #[must_use]
    pub fn find_in(&self, element: usize, x: [f64; 3]) -> Option<[f64; 3]> {
        self.inverse(element as u32, x).and_then(|(r, inside)| inside.then_some(r))
    }

    /// Finds the element that is nearest to a point outside of the mesh, a point in it, given by reference
    /// coordinates, and the distance between the two. The point in the element is where the line from its
    /// centre to the given point leaves it, in reference coordinates: the distance is an upper bound.
    ///
    /// `None` if the point is many times farther away than any element is long.
    #[must_use]
    pub fn nearest(&self, x: [f64; 3]) -> Option<(usize, [f64; 3], f64)> {
        let mut best: Option<(usize, [f64; 3], f64)> = None;
        let mut open = vec![(0.0, 0)];
        while let Some((bound, node)) = open.pop() {
            if best.is_some_and(|(_, _, distance)| bound >= distance) {
                continue;
            }
            match self.nodes[node as usize].1 {
                Below::Children(children) => {
                    let bound = |child: u32| self.nodes[child as usize].0.distance(x, self.mesh.dim);
                    open.extend(children.map(|child| (bound(child), child)));
                    // The nearer child is taken first.
                    let n = open.len();
                    open[n - 2..].sort_by(|a, b| b.0.total_cmp(&a.0));
                }
                Below::Leaf { first, end } => {
                    for &element in &self.elements[first as usize..end as usize] {
                        let Some((r, _)) = self.inverse(element, x) else { continue };
                        let (set, i) = self.mesh.locate(element as usize);
                        let r = pulled_inside(self.mesh.sets[set].shape, r);
                        let value = self.bases[set].eval(&[r]);
                        let mut miss = x;
                        for (m, node) in self.mesh.element_points(set, i).enumerate() {
                            (0..self.mesh.dim).for_each(|d| miss[d] -= value[(0, m)] * node[d]);
                        }
                        let distance = miss[..self.mesh.dim].iter().map(|m| m * m).sum::<f64>().sqrt();
                        if best.is_none_or(|(_, _, least)| distance < least) {
                            best = Some((element as usize, r, distance));
                        }
                    }
                }
            }
        }
        best
    }

    /// Returns the longest side of the bounding box of an element.
    #[must_use]
    pub fn extent(&self, element: usize) -> f64 {
        let Bounds { low, high } = self.boxes[element];
        // The boxes are enlarged by a quarter on each side.
        (0..self.mesh.dim).map(|d| (high[d] - low[d]) / 1.5).fold(0.0, f64::max)
    }

    /// The reference coordinates of a point in an element, and whether they are inside of its shape.
    fn inverse(&self, element: u32, x: [f64; 3]) -> Option<([f64; 3], bool)> {
        let (set, i) = self.mesh.locate(element as usize);
        let nodes: Vec<[f64; 3]> = self.mesh.element_points(set, i).collect();
        let r = self.mesh.invert(&self.bases[set], &nodes, x)?;
        Some((r, self.mesh.sets[set].shape.contains(r, TOLERANCE)))
    }
}

/// The point at which the line from the centre of a shape to `r` leaves it, or `r` inside.
fn pulled_inside(shape: Shape, r: [f64; 3]) -> [f64; 3] {
    let centre = centre(shape);
    let at = |share: f64| std::array::from_fn(|d| centre[d] + share * (r[d] - centre[d]));
    if shape.contains(r, 0.0) {
        return r;
    }
    let (mut inside, mut outside) = (0.0, 1.0);
    for _ in 0..52 {
        let middle = 0.5 * (inside + outside);
        *(if shape.contains(at(middle), 0.0) { &mut inside } else { &mut outside }) = middle;
    }
    at(inside)
}

/// The mean of the vertices of a shape.
fn centre(shape: Shape) -> [f64; 3] {
    let vertices = shape.vertices();
    std::array::from_fn(|d| vertices.iter().map(|v| v[d]).sum::<f64>() / vertices.len() as f64)
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generate::Box as Cuboid;

    #[test]
    fn the_tree_finds_the_element_that_the_search_over_all_finds() {
        for shape in [Shape::Triangle, Shape::Quadrilateral, Shape::Tetrahedron, Shape::Prism] {
            let mut mesh = Cuboid::unit(shape, 4).build().unwrap();
            mesh.elevate(2).unwrap();
            let bend = |x: [f64; 3]| [x[0] + 0.05 * x[1] * x[1], x[1] - 0.1 * x[0] * x[0], x[2]];
            mesh.points.iter_mut().for_each(|x| *x = bend(*x));
            let locator = Locator::new(&mesh);
            let mut inside = 0;
            for k in 0..120 {
                let share = |prime: f64| (f64::from(k) * prime).fract() * 1.2 - 0.1;
                let depth = if mesh.dim == 3 { share(0.331) } else { 0.0 };
                // Some of them on the faces between elements.
                let grid = if k % 3 == 0 { 4.0 } else { 1e6 };
                let x = bend([share(0.618), share(0.755), depth].map(|c| (c * grid).round() / grid));
                assert_eq!(locator.find(x), mesh.find_point(x), "{shape} {x:?}");
                inside += usize::from(locator.find(x).is_some());
            }
            assert!((30..120).contains(&inside), "{shape}: {inside}");
        }
    }

    #[test]
    fn a_point_outside_is_near_the_element_below_it() {
        let mesh = Cuboid::unit(Shape::Triangle, 8).build().unwrap();
        let locator = Locator::new(&mesh);
        for k in 0..40 {
            let x = [0.013 + 0.024 * f64::from(k), 1.0 + 0.001 * f64::from(k % 7), 0.0];
            let (element, r, distance) = locator.nearest(x).unwrap();
            let up = x[1] - 1.0;
            // An upper bound: towards the centre of the triangle and not straight down.
            assert!(distance >= up - 1e-12 && distance <= 3.0 * up + 1e-12, "{x:?}: {distance}");
            assert!(Shape::Triangle.contains(r, 1e-12));
            assert!((locator.extent(element) - 0.125).abs() < 1e-12);
            let nodes = mesh.element_points(mesh.locate(element).0, mesh.locate(element).1);
            assert!(nodes.map(|node| node[1]).fold(0.0, f64::max) > 1.0 - 1e-12, "at the boundary");
        }
        assert_eq!(locator.nearest([1e6, 0.0, 0.0]), None);
    }
}
