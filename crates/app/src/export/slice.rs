//! Cuts of solids by planes, as triangles with the fields of the solution.

use dgsuite_basis::lattice::{lattice, lattice_len};
use dgsuite_basis::{LagrangeBasis, Matrix, Shape};
use dgsuite_ops::Sample;

use super::{ExportError, Fields, Stored};
use dgsuite_output::writer::{UnstructuredFields, tetrahedra};
use dgsuite_solve::post::cut::{Cut, Slice};
use dgsuite_solve::post::points::{Place, evaluate};

/// Points that are nearer to a plane, by this share of their element, are on it.
const HAIR: f64 = 1e-12;
/// Largest number of corrections of points on curved elements.
const CORRECTIONS: usize = 60;

impl Stored {
    /// Returns fields on planes, as linear triangles. Each side of an element is divided into `divisions`
    /// parts; the corners of the triangles lie on the plane and have the values of the solution there.
    ///
    /// # Errors
    /// [`ExportError::Option`] for a mesh in the plane, or a plane beside the mesh.
    pub fn slices(
        &self,
        slices: &[Slice],
        fields: &Fields,
        divisions: usize,
    ) -> Result<UnstructuredFields, ExportError> {
        let option = |slice: &Slice, expected: String| {
            let found = format!("{}={}", ["x", "y", "z"][slice.axis.min(2)], slice.at);
            ExportError::Option { option: "--slice", found, expected }
        };
        let samples = self.polynomials(fields);
        let points = || samples.iter().flat_map(|sample| &sample.points);
        let mut triangles: Vec<Sample> = Vec::new();
        for slice in slices {
            if self.mesh().dim == 2 {
                let expected = "the mesh is a plane itself; --line follows a line in it".to_owned();
                return Err(option(slice, expected));
            }
            let along = points().map(|x| x[slice.axis]);
            let start = (f64::INFINITY, f64::NEG_INFINITY);
            let (low, high) = along.fold(start, |(low, high), x| (low.min(x), high.max(x)));
            let before = triangles.len();
            triangles.extend(samples.iter().filter_map(|sample| cut(sample, *slice, low, divisions)));
            if triangles.len() == before {
                return Err(option(slice, format!("the mesh lies between {low:.6} and {high:.6}")));
            }
        }
        let pieces = self.computed(triangles, fields, 1);
        Ok(UnstructuredFields { time: self.time, pieces })
    }
}

/// Cuts the elements of a sample; the result has three points for each triangle. `lowest` is the lower end of
/// the domain.
fn cut(sample: &Sample, slice: Slice, lowest: f64, divisions: usize) -> Option<Sample> {
    let fine = lattice(sample.shape, divisions);
    let solids = tetrahedra(sample.shape, divisions);
    let basis = LagrangeBasis::new(sample.shape, sample.order);
    let matrix = basis.eval(&fine);
    let per_cell = lattice_len(sample.shape, sample.order);
    let (mut places, mut corners): (Vec<Place>, Vec<usize>) = (Vec::new(), Vec::new());
    for cell in 0..sample.elements.len() {
        let nodes = &sample.points[cell * per_cell..(cell + 1) * per_cell];
        if !slice.may_cross(nodes, sample.order) {
            continue;
        }
        let points = image(&matrix, nodes);
        let heights = slice.heights(&points, lowest, HAIR);
        let cut = Cut::new(&solids, &heights);
        let first = places.len();
        corners.extend(cut.triangles.iter().flatten().map(|corner| first + corner));
        let end = |share: f64, point: usize| (share, points[point][slice.axis] - slice.at);
        let edge = |&(a, b, t): &(usize, usize, f64)| Edge {
            ends: [fine[a], fine[b]],
            t,
            bracket: [end(0.0, a), end(1.0, b)],
        };
        let edges = cut.crossings.iter().map(edge).collect();
        places.extend(on_plane(edges, slice, &basis, nodes).into_iter().map(|r| (cell, r)));
    }
    let all = evaluate(sample, &places);
    let pick = |column: &Vec<f64>| -> Vec<f64> { corners.iter().map(|&corner| column[corner]).collect() };
    (!corners.is_empty()).then(|| Sample {
        shape: Shape::Triangle,
        order: 1,
        elements: corners.iter().step_by(3).map(|&corner| all.elements[corner]).collect(),
        floors: match &all.floors[..] {
            [] => Vec::new(),
            floors => corners.iter().step_by(3).map(|&corner| floors[corner].clone()).collect(),
        },
        points: corners.iter().map(|&corner| all.points[corner]).collect(),
        values: all.values.iter().map(pick).collect(),
        gradients: all.gradients.iter().map(|axis| axis.iter().map(pick).collect()).collect(),
    })
}

/// The images of points of the reference shape, given the values of the basis there.
fn image(matrix: &Matrix, nodes: &[[f64; 3]]) -> Vec<[f64; 3]> {
    let point = |row: &[f64]| {
        let terms = row.iter().zip(nodes);
        terms.fold([0.0; 3], |x, (l, node)| std::array::from_fn(|d| x[d] + l * node[d]))
    };
    (0..matrix.rows()).map(|q| point(matrix.row(q))).collect()
}

/// An edge with ends on both sides of the plane, or a point on the plane.
struct Edge {
    ends: [[f64; 3]; 2],
    /// The crossing, as a share of the edge.
    t: f64,
    /// Shares with heights of both signs, the newer one last.
    bracket: [(f64, f64); 2],
}

impl Edge {
    fn place(&self) -> [f64; 3] {
        let [a, b] = self.ends;
        std::array::from_fn(|d| a[d] + self.t * (b[d] - a[d]))
    }

    /// Improves the crossing, given the height there, by the method of false position in its Illinois form
    /// (Dowell and Jarratt 1971).
    fn improve(&mut self, height: f64) {
        let [(t0, h0), (t1, h1)] = self.bracket;
        let old = if height * h1 < 0.0 { (t1, h1) } else { (t0, 0.5 * h0) };
        self.bracket = [old, (self.t, height)];
        self.t -= height * (self.t - old.0) / (height - old.1);
    }
}

/// Returns the reference points of crossings, moved along their edges onto the plane: where an element is
/// curved, the height is not linear.
fn on_plane(mut edges: Vec<Edge>, slice: Slice, basis: &LagrangeBasis, nodes: &[[f64; 3]]) -> Vec<[f64; 3]> {
    let size = nodes.iter().flatten().fold(slice.at.abs(), |most, c| most.max(c.abs()));
    for _ in 0..CORRECTIONS {
        let places: Vec<[f64; 3]> = edges.iter().map(Edge::place).collect();
        let points = image(&basis.eval(&places), nodes);
        let mut done = true;
        for (edge, x) in edges.iter_mut().zip(points) {
            let height = x[slice.axis] - slice.at;
            if edge.ends[0] != edge.ends[1] && height.abs() > 8.0 * f64::EPSILON * size {
                edge.improve(height);
                done = false;
            }
        }
        if done {
            break;
        }
    }
    edges.iter().map(Edge::place).collect()
}
