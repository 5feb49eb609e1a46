//! Element quality: scaled Jacobian, variation of the Jacobian, size, volume.

use dgsuite_basis::{
    LagrangeBasis, Matrix, Quadrature, Shape,
    lattice::{lattice, lattice_vertices},
};
use rayon::prelude::*;

use crate::{
    Across, Mesh,
    geometry::{Sampler, cross, determinant, norm, sample_points, set_volumes},
    mesh::ElementSet,
    topology::Lattice,
};

/// Measures of one element.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ElementQuality {
    /// Smallest value over the geometry nodes of `c · det(t₁, t₂, t₃) / (|t₁| |t₂| |t₃|)`, with `c` such that
    /// the regular element has 1. At a vertex the tangents `t` are those of its edges; at the other nodes of
    /// a curved element they are the images of the edge directions of each vertex in turn. At most about 1;
    /// zero or negative where the element is flat or inverted. The apex of a pyramid is omitted. Affine
    /// elements have the same value for every geometry order.
    ///
    /// Source: Knupp (2000), as in the Verdict library's scaled Jacobian.
    pub scaled_jacobian: f64,
    /// `min J / max J` over sample points: 1 for an affine element, smaller for distorted ones.
    pub jacobian_ratio: f64,
    /// `h = d |E| / (largest face measure)`, the length scale of step sizes.
    pub size: f64,
    /// Volume; area in the plane.
    pub volume: f64,
}

/// Smallest, mean and largest value of a measure over the mesh.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Range {
    /// Smallest value.
    pub min: f64,
    /// Mean over the elements.
    pub mean: f64,
    /// Largest value.
    pub max: f64,
}

/// One of the worst elements.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Worst {
    /// Global index.
    pub element: usize,
    /// Its number in the file.
    pub tag: u64,
    /// Its shape.
    pub shape: Shape,
    /// Mean of its vertices.
    pub centroid: [f64; 3],
    /// Its measures.
    pub quality: ElementQuality,
}

/// Measures of the whole mesh.
#[derive(Clone, Debug, PartialEq)]
pub struct Statistics {
    /// Number of elements of each shape and geometry order.
    pub elements: Vec<(Shape, usize, usize)>,
    /// Volume; area in the plane.
    pub volume: f64,
    /// See [`ElementQuality::scaled_jacobian`].
    pub scaled_jacobian: Range,
    /// See [`ElementQuality::jacobian_ratio`].
    pub jacobian_ratio: Range,
    /// See [`ElementQuality::size`].
    pub size: Range,
    /// The elements with the smallest scaled Jacobian, worst first.
    pub worst: Vec<Worst>,
}

/// Statistics with the five worst elements.
///
/// ```
/// use dgsuite_mesh::{Shape, generate::Box, quality};
/// let mesh = Box::unit(Shape::Hexahedron, 3).build()?;
/// let s = quality::statistics(&mesh);
/// assert!((s.volume - 1.0).abs() < 1e-14 && (s.scaled_jacobian.min - 1.0).abs() < 1e-14);
/// assert!((s.size.max - 1.0).abs() < 1e-14); // 3 |E| / face = 3 · (1/27) / (1/9)
/// # Ok::<(), dgsuite_mesh::MeshError>(())
/// ```
#[must_use]
pub fn statistics(mesh: &Mesh) -> Statistics {
    statistics_of(mesh, &elements(mesh))
}

/// Statistics with the five worst elements, from the measures that [`elements`] returned for this mesh.
///
/// # Panics
/// If there are fewer measures than elements.
#[must_use]
pub fn statistics_of(mesh: &Mesh, all: &[ElementQuality]) -> Statistics {
    let range = |pick: fn(&ElementQuality) -> f64| {
        let values = || all.iter().map(pick);
        Range {
            min: values().fold(f64::INFINITY, f64::min),
            mean: values().sum::<f64>() / all.len().max(1) as f64,
            max: values().fold(f64::NEG_INFINITY, f64::max),
        }
    };
    let mut order: Vec<usize> = (0..all.len()).collect();
    order.sort_by(|&a, &b| all[a].scaled_jacobian.total_cmp(&all[b].scaled_jacobian));
    let worst = order.into_iter().take(5).map(|element| Worst {
        element,
        tag: mesh.tag(element),
        shape: mesh.shape(element),
        centroid: mesh.centroid(element),
        quality: all[element],
    });
    Statistics {
        elements: mesh.sets.iter().map(|s| (s.shape, s.order, s.len())).collect(),
        volume: all.iter().map(|q| q.volume).sum(),
        scaled_jacobian: range(|q| q.scaled_jacobian),
        jacobian_ratio: range(|q| q.jacobian_ratio),
        size: range(|q| q.size),
        worst: worst.collect(),
    }
}

/// Number of bins of a [`histogram`].
pub const BINS: usize = 10;

/// Number of elements by scaled Jacobian: bin `i` has those from `i/10` to below `(i + 1)/10`. The first bin
/// has the negative values too, and the last one those of 1 and above.
///
/// ```
/// use dgsuite_mesh::{Shape, generate::Box, quality};
/// let mesh = Box::unit(Shape::Triangle, 2).build()?; // right triangles: sin 45° · 2/√3 = 0.816
/// assert_eq!(quality::histogram(&quality::elements(&mesh)), [0, 0, 0, 0, 0, 0, 0, 0, 8, 0]);
/// # Ok::<(), dgsuite_mesh::MeshError>(())
/// ```
#[must_use]
pub fn histogram(all: &[ElementQuality]) -> [usize; BINS] {
    let mut bins = [0; BINS];
    for q in all {
        // A conversion to an integer saturates. Rounding must not move a square out of its bin.
        let bin = (q.scaled_jacobian * BINS as f64 * (1.0 + 1e-12)) as usize;
        bins[bin.min(BINS - 1)] += 1;
    }
    bins
}

/// Measures of each element, by global index.
#[must_use]
pub fn elements(mesh: &Mesh) -> Vec<ElementQuality> {
    mesh.sets.iter().flat_map(|set| set_quality(mesh, set)).collect()
}

/// Length (in space: area) of each boundary, by its index; 0 for boundaries that have become periodic.
///
/// Curved faces are integrated by a rule of degree 2q with the geometry order q, of which the error falls
/// faster than that of the geometry.
#[must_use]
pub fn boundary_measures(mesh: &Mesh) -> Vec<f64> {
    let faces: Vec<Faces> = mesh.sets.iter().map(Faces::new).collect();
    let mut sums = vec![0.0; mesh.boundaries.len()];
    for face in &mesh.faces {
        if let Across::Boundary(b) = face.across {
            let (s, i) = mesh.locate(face.minus.element as usize);
            let nodes = mesh.element_nodes(s, i);
            sums[b as usize] += faces[s].measure(face.minus.face as usize, &mesh.points, nodes);
        }
    }
    sums
}

/// The scaled Jacobian of each element, by global index.
pub(crate) fn scaled_jacobians(mesh: &Mesh) -> Vec<f64> {
    let of_set = |set: &ElementSet| -> Vec<f64> {
        let scaled = Scaled::new(set);
        let elements = set.nodes.par_chunks(set.nodes_per_element());
        elements.map(|nodes| scaled.measure(&mesh.points, nodes)).collect()
    };
    mesh.sets.iter().flat_map(of_set).collect()
}

/// The scaled Jacobian of the elements of a set.
struct Scaled {
    corners: Vec<Corner>,
    /// Corners with different directions, by their number.
    distinct: Vec<usize>,
    at_corners: Sampler,
    at_others: Sampler,
    ideal: f64,
    straight_simplex: bool,
}

impl Scaled {
    fn new(set: &ElementSet) -> Self {
        let shape = set.shape;
        let corners = Corner::of(shape);
        let vertices: Vec<[f64; 3]> = corners.iter().map(|c| shape.vertices()[c.vertex]).collect();
        let ideal = match shape {
            Shape::Triangle | Shape::Prism => 2.0 / 3.0_f64.sqrt(),
            Shape::Tetrahedron | Shape::Pyramid => 2.0_f64.sqrt(),
            _ => 1.0,
        };
        Self {
            distinct: Corner::distinct(&corners),
            at_corners: Sampler::new(shape, set.order, &vertices),
            at_others: Sampler::new(shape, set.order, &other_nodes(shape, set.order)),
            corners,
            ideal,
            straight_simplex: set.order == 1 && matches!(shape, Shape::Triangle | Shape::Tetrahedron),
        }
    }

    fn measure(&self, points: &[[f64; 3]], nodes: &[u32]) -> f64 {
        if self.straight_simplex {
            // The derivatives are the same everywhere.
            let columns = self.at_corners.columns(0, points, nodes);
            let all = self.corners.iter().map(|c| c.scaled(&columns));
            return self.ideal * all.fold(f64::INFINITY, f64::min);
        }
        let corner = |(q, c): (usize, &Corner)| c.scaled(&self.at_corners.columns(q, points, nodes));
        let mut scaled = self.corners.iter().enumerate().map(corner).fold(f64::INFINITY, f64::min);
        for q in 0..self.at_others.n_points() {
            let columns = self.at_others.columns(q, points, nodes);
            let all = self.distinct.iter().map(|&c| self.corners[c].scaled(&columns));
            scaled = all.fold(scaled, f64::min);
        }
        self.ideal * scaled
    }
}

fn set_quality(mesh: &Mesh, set: &ElementSet) -> Vec<ElementQuality> {
    let shape = set.shape;
    let scaled = Scaled::new(set);
    let inside = Sampler::new(shape, set.order, &sample_points(shape, set.order));
    let faces = Faces::new(set);
    let volumes = set_volumes(&mesh.points, set);
    let measure = |(nodes, &volume): (&[u32], &f64)| {
        let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
        for q in 0..inside.n_points() {
            let j = determinant(&inside.columns(q, &mesh.points, nodes));
            (low, high) = (low.min(j), high.max(j));
        }
        ElementQuality {
            scaled_jacobian: scaled.measure(&mesh.points, nodes),
            jacobian_ratio: low / high,
            size: shape.dim() as f64 * volume / faces.largest(&mesh.points, nodes),
            volume,
        }
    };
    set.nodes.par_chunks(set.nodes_per_element()).zip(volumes.par_iter()).map(measure).collect()
}

/// The lattice nodes of an element that are no vertices.
fn other_nodes(shape: Shape, order: usize) -> Vec<[f64; 3]> {
    let mut nodes = lattice(shape, order);
    let vertices = lattice_vertices(shape, order);
    let mut number = 0..;
    nodes.retain(|_| number.next().is_some_and(|n| !vertices.contains(&n)));
    nodes
}

/// A vertex with the directions of its edges, in right-handed order.
struct Corner {
    vertex: usize,
    directions: Vec<[f64; 3]>,
}

impl Corner {
    fn of(shape: Shape) -> Vec<Self> {
        let v = shape.vertices();
        (0..v.len())
            .filter_map(|vertex| {
                let mut directions: Vec<[f64; 3]> = shape
                    .edges()
                    .iter()
                    .filter(|e| e.contains(&vertex))
                    .map(|e| {
                        let other = if e[0] == vertex { e[1] } else { e[0] };
                        std::array::from_fn(|d| 0.5 * (v[other][d] - v[vertex][d]))
                    })
                    .collect();
                if shape.dim() == 2 {
                    directions.push([0.0, 0.0, 1.0]);
                }
                let three = <[[f64; 3]; 3]>::try_from(directions.as_slice()).ok()?;
                if determinant(&three) < 0.0 {
                    directions.swap(0, 1);
                }
                Some(Self { vertex, directions })
            })
            .collect()
    }

    /// The corners whose directions differ from those of the corners before by more than signs.
    fn distinct(corners: &[Self]) -> Vec<usize> {
        let parallel = |a: &[f64; 3], b: &[f64; 3]| norm(cross(*a, *b)) < 1e-9;
        let covers = |old: &Self, new: &Self| {
            new.directions.iter().all(|a| old.directions.iter().any(|b| parallel(a, b)))
        };
        let mut distinct: Vec<usize> = Vec::new();
        for (i, corner) in corners.iter().enumerate() {
            if !distinct.iter().any(|&old| covers(&corners[old], corner)) {
                distinct.push(i);
            }
        }
        distinct
    }

    /// `det(t₁, t₂, t₃) / (|t₁| |t₂| |t₃|)` of the images of the directions.
    fn scaled(&self, columns: &[[f64; 3]; 3]) -> f64 {
        let image = |r: &[f64; 3]| std::array::from_fn(|j| (0..3).map(|d| columns[d][j] * r[d]).sum());
        let t: [[f64; 3]; 3] = std::array::from_fn(|i| image(&self.directions[i]));
        determinant(&t) / (norm(t[0]) * norm(t[1]) * norm(t[2]))
    }
}

/// The faces of a set's elements, prepared for measuring.
struct Faces {
    /// For each face its nodes in the element's lattice, and the index of its shape's rule.
    nodes: Vec<(Vec<usize>, usize)>,
    rules: Vec<(Vec<f64>, [Matrix; 3], usize)>,
}

impl Faces {
    fn new(set: &ElementSet) -> Self {
        let lattice = Lattice::new(set.shape, set.order);
        let mut shapes: Vec<Shape> = Vec::new();
        let mut nodes = Vec::new();
        for (f, on) in lattice.faces.iter().enumerate() {
            let shape = set.shape.face_shape(f).unwrap_or(Shape::Line);
            let at = shapes.iter().position(|&s| s == shape).unwrap_or_else(|| {
                shapes.push(shape);
                shapes.len() - 1
            });
            nodes.push((on.clone(), at));
        }
        let rule = |&shape: &Shape| {
            // Exact for plane faces; the measure of curved ones is not a polynomial.
            let straight = set.order == 1 && shape != Shape::Quadrilateral;
            let rule = Quadrature::new(shape, if straight { 0 } else { 2 * set.order });
            let grad = LagrangeBasis::new(shape, set.order).grad(&rule.points);
            (rule.weights, grad, shape.dim())
        };
        Self { nodes, rules: shapes.iter().map(rule).collect() }
    }

    /// The largest length or area of an element's faces.
    fn largest(&self, points: &[[f64; 3]], nodes: &[u32]) -> f64 {
        (0..self.nodes.len()).map(|f| self.measure(f, points, nodes)).fold(0.0, f64::max)
    }

    /// The length or area of face `f` of an element.
    fn measure(&self, f: usize, points: &[[f64; 3]], nodes: &[u32]) -> f64 {
        let (on, at) = &self.nodes[f];
        let (weights, grad, dim) = &self.rules[*at];
        let tangent = |q: usize, d: usize| {
            let mut t = [0.0; 3];
            for (&w, &l) in grad[d].row(q).iter().zip(on) {
                (0..3).for_each(|j| t[j] += w * points[nodes[l] as usize][j]);
            }
            t
        };
        let density = |q: usize| match dim {
            1 => norm(tangent(q, 0)),
            _ => norm(cross(tangent(q, 0), tangent(q, 1))),
        };
        weights.iter().enumerate().map(|(q, w)| w * density(q)).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generate::Box;

    #[test]
    fn regular_elements_have_scaled_jacobian_one() {
        // A tetrahedron, pyramid, prism, … with all edges equal, each alone in a mesh.
        let h = 0.5 * 3.0_f64.sqrt();
        let regular: [(Shape, Vec<[f64; 3]>); 3] = [
            (Shape::Triangle, vec![[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.5, h, 0.0]]),
            (
                Shape::Tetrahedron,
                vec![[0.0; 3], [1.0, 0.0, 0.0], [0.5, h, 0.0], [0.5, h / 3.0, (2.0_f64 / 3.0).sqrt()]],
            ),
            (
                Shape::Pyramid,
                vec![[0.0; 3], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [1.0, 1.0, 0.0], [0.5, 0.5, 0.5_f64.sqrt()]],
            ),
        ];
        for (shape, points) in regular {
            let mut mesh = Box::unit(shape, 1).build().unwrap();
            mesh.sets[0].nodes = (0..points.len() as u32).collect();
            mesh.sets[0].tags.truncate(1);
            mesh.sets[0].regions.truncate(1);
            mesh.points = points;
            let q = elements(&mesh)[0];
            assert!((q.scaled_jacobian - 1.0).abs() < 1e-14, "{shape}: {q:?}");
            assert!((q.jacobian_ratio - 1.0).abs() < 1e-13, "{shape}: {q:?}");
        }
    }

    #[test]
    fn nodes_between_vertices_count_and_raising_the_order_changes_nothing() {
        for shape in Shape::ALL.into_iter().filter(|s| s.dim() > 1) {
            let mut mesh = Box::unit(shape, 2).build().unwrap();
            let straight = elements(&mesh);
            mesh.elevate(2).unwrap();
            for (a, b) in straight.iter().zip(elements(&mesh)) {
                assert!((a.scaled_jacobian - b.scaled_jacobian).abs() < 1e-13, "{shape}: {a:?} {b:?}");
            }
        }
        // A shear of S shape: the slope of y (1 − y)(1 − 2 y) is 1 at corners and −1/3 at the inner nodes;
        // with −y added it is 0 at the corners and −4/3 inside.
        let mut mesh = Box::unit(Shape::Quadrilateral, 1).build().unwrap();
        mesh.elevate(3).unwrap();
        mesh.map(|[x, y, _]| [x + y * (1.0 - y) * (1.0 - 2.0 * y) - y, y, 0.0]).unwrap();
        let q = elements(&mesh)[0];
        assert!((q.scaled_jacobian - 0.6).abs() < 1e-13, "{q:?}");
    }

    #[test]
    fn size_of_a_right_triangle_is_its_least_height() {
        let mesh = Box::unit(Shape::Triangle, 2).build().unwrap();
        for q in elements(&mesh) {
            // Legs 1/2, hypotenuse √½: 2 · (1/8) / √½.
            assert!((q.size - 0.25 / 0.5_f64.sqrt()).abs() < 1e-15);
        }
    }
}
