//! Tables for devices of quadrilaterals and hexahedra at Gauss nodes, along lines of nodes.
//!
//! Sides are numbered 2 d + end for the two ends of direction d. The lines that end on a side are numbered by
//! their other coordinates, the first fastest. Near a side, a line is traversed from the side inwards
//! (a *walk*), regardless of its direction, so that values and slopes at the end need only one row each.
//! Conormal derivatives use the element's own directions, `κ_f sJ n·∇u = Σ_d b_d ∂u/∂r_d`; those of a
//! neighbour are rotated to the same directions.

use super::DeviceLayout;
use crate::elliptic::space::{Beyond, Space};
use crate::elliptic::{EllipticBoundary, Sipdg};
use crate::error::OpsError;
use dgsuite_basis::Shape;
use rayon::prelude::*;
use std::collections::HashMap;

/// The neighbour has the opposite values.
pub(crate) const OPPOSITE: u32 = 1 << 30;
/// The values of the neighbour count as zero.
pub(crate) const NOTHING: u32 = 1 << 31;
/// Factors of tangential derivatives below this fraction of the normal factor are rounding errors.
const ORTHOGONAL: f64 = 1e-13;
/// Points closer than this are the same.
const SAME: f64 = 1e-9;

/// The elements, and the operators of a line.
pub(crate) struct Grids {
    pub(crate) dim: usize,
    /// Number of nodes of a line.
    pub(crate) n: usize,
    pub(crate) n_elements: usize,
    /// Whether there are coefficients for each point, which then include cubature weights.
    pub(crate) per_point: bool,
    /// Whether there are tangential derivatives.
    pub(crate) skew: bool,
    /// `[q][i]`: derivatives at the nodes.
    pub(crate) derivative: Vec<Vec<f64>>,
    /// Values and inward slopes at the end where a walk begins.
    pub(crate) end: [Vec<f64>; 2],
    pub(crate) weights: Vec<f64>,
    /// `[element][node or 1][κ J ∇r_d·∇r_e …, λ J]`.
    pub(crate) metric: Vec<f64>,
    pub(crate) reaction: bool,
    /// `[element][side][line or 1]`: κ_f sJ τ, the factors of the inward slope of the element and of the
    /// neighbour, then of each tangential derivative of the element and of each of the neighbour.
    pub(crate) faces: Vec<f64>,
    /// `[element][side]`: the neighbour, and the number of its walk, or [`OPPOSITE`] or [`NOTHING`].
    pub(crate) sides: Vec<[u32; 2]>,
    /// For each walk: the first node of line 0, the strides between lines in both directions, and the stride
    /// between nodes.
    pub(crate) walks: Vec<[i32; 4]>,
}

impl Sipdg<f64> {
    /// The tables of grids; `None` if the mesh has other elements. Collective.
    pub(crate) fn grids(&self, layout: &DeviceLayout) -> Result<Option<Grids>, OpsError> {
        let grids = self.space.problem.host.install(|| Grids::new(&self.space, layout));
        let Some(mut grids) = grids else { return Ok(None) };
        grids.skew = self.space.any(grids.skew)?;
        if !grids.skew {
            let width = 3 + 2 * (grids.dim - 1);
            grids.faces = grids.faces.chunks_exact(width).flat_map(|row| row[..3].to_vec()).collect();
        }
        Ok(Some(grids))
    }
}

/// The lines of a side and their positions.
struct Side {
    direction: usize,
    /// The other directions.
    others: Vec<usize>,
    /// The face point of each line.
    points: Vec<usize>,
}

/// Numbering of the nodes as a grid.
struct Numbering {
    dim: usize,
    n: usize,
    line: Vec<f64>,
}

impl Numbering {
    fn stride(&self, d: usize) -> i32 {
        self.n.pow(d as u32) as i32
    }

    /// The index of a coordinate on a line.
    fn index(&self, x: f64) -> Option<i32> {
        self.line.iter().position(|y| (x - y).abs() < SAME).map(|i| i as i32)
    }

    /// The first node of the walk from a face point, its direction and end.
    fn start(&self, x: [f64; 3]) -> Option<(i32, usize, usize)> {
        let d = (0..self.dim).find(|&d| (x[d].abs() - 1.0).abs() < SAME)?;
        let end = usize::from(x[d] > 0.0);
        let first = if end == 1 { (self.n as i32 - 1) * self.stride(d) } else { 0 };
        let others = (0..self.dim).filter(|&c| c != d);
        let sum = others.map(|c| Some(self.index(x[c])? * self.stride(c))).sum::<Option<i32>>()?;
        Some((first + sum, d, end))
    }
}

impl Grids {
    fn new(space: &Space<f64>, layout: &DeviceLayout) -> Option<Self> {
        let curved = space.any_curved_of_one_shape()?;
        let (group, problem) = (space.groups.first()?, &space.problem);
        let shape = group.shape;
        if !matches!(shape, Shape::Quadrilateral | Shape::Hexahedron) {
            return None;
        }
        let tables = &space.tables[0][0];
        let reference = &tables.reference;
        let factors = reference.tensor.as_ref()?;
        let (n, dim) = (factors.n_basis_1d, shape.dim());
        let nodes = reference.nodes.as_ref()?;
        let line: Vec<f64> = nodes.iter().take(n).map(|x| x[0]).collect();
        let numbering = Numbering { dim, n, line };
        let n_lines = n.pow(dim as u32 - 1);
        if n < 2 || factors.n_points_1d != n || reference.face_points.len() != 2 * dim * n_lines {
            return None;
        }
        // Affine elements beside curved ones have coefficients for each point, too.
        let per_point =
            curved || !problem.kappa.is_piecewise_constant() || !problem.lambda.is_piecewise_constant();
        let sides: Vec<Side> = (0..2 * dim)
            .map(|s| {
                let (direction, end) = (s / 2, s % 2);
                let others: Vec<usize> = (0..dim).filter(|&c| c != direction).collect();
                let at = |line: usize| {
                    let coordinate = |k: usize| numbering.line[line / n.pow(k as u32) % n];
                    reference.face_points.iter().position(|x| {
                        (x[direction] - (2.0 * end as f64 - 1.0)).abs() < SAME
                            && others.iter().enumerate().all(|(k, &c)| (x[c] - coordinate(k)).abs() < SAME)
                    })
                };
                let points = (0..n_lines).map(at).collect::<Option<Vec<_>>>()?;
                Some(Side { direction, others, points })
            })
            .collect::<Option<_>>()?;
        let offsets = &reference.face_offsets;
        let face_of =
            |side: &Side| (0..2 * dim).find(|&f| (offsets[f]..offsets[f + 1]).contains(&side.points[0]));
        let faces_of: Vec<usize> = sides.iter().map(face_of).collect::<Option<_>>()?;
        let mut walks: Vec<[i32; 4]> = Vec::new();
        let mut walk_from = |starts: [(i32, usize, usize); 3]| -> u32 {
            let [(first, d, end), a, b] = starts;
            let step = numbering.stride(d) * if end == 1 { -1 } else { 1 };
            let walk = [first, a.0 - first, b.0 - first, step];
            let found = walks.iter().position(|w| *w == walk).unwrap_or_else(|| {
                walks.push(walk);
                walks.len() - 1
            });
            found as u32
        };
        // Lines 0, 1 and, in three dimensions, n.
        let samples = [0, 1, if dim == 3 { n } else { 1 }];
        let mut own_walks = Vec::new();
        for side in &sides {
            let start = |l: usize| numbering.start(reference.face_points[side.points[l]]);
            own_walks.push(walk_from([start(samples[0])?, start(samples[1])?, start(samples[2])?]));
        }

        // Data that do not depend on neighbours: the metric, and conormals of the face points times sJ, which
        // is the last number.
        let (n_edges, values) = (dim * (dim + 1) / 2, !problem.lambda.is_zero());
        let entries = n_edges + usize::from(values);
        let (points, face_rows) = if per_point { (nodes.len(), n_lines) } else { (1, 1) };
        let elements: Vec<u32> = layout.spans.iter().flat_map(|span| span.elements.iter().copied()).collect();
        let n_elements = elements.len();
        let mut metric = vec![0.0; n_elements * points * entries];
        let mut conormals = vec![[0.0; 4]; n_elements * 2 * dim * face_rows];
        metric
            .par_chunks_mut(points * entries)
            .zip(conormals.par_chunks_mut(2 * dim * face_rows))
            .zip(&elements)
            .for_each(|((metric, conormals), &element)| {
                let terms = space.terms(element as usize);
                for (q, row) in metric.chunks_exact_mut(entries).enumerate() {
                    let jw = terms.jw[q] / if per_point { 1.0 } else { reference.volume.weights[q] };
                    let a = &terms.metric[q];
                    let pairs = (0..dim).flat_map(|d| (d..dim).map(move |e| (d, e)));
                    for (v, (d, e)) in row.iter_mut().zip(pairs) {
                        *v = jw * terms.kappa[q] * (0..3).map(|x| a[d][x] * a[e][x]).sum::<f64>();
                    }
                    if values {
                        row[n_edges] = jw * terms.lambda[q];
                    }
                }
                for (s, side) in sides.iter().enumerate() {
                    for l in 0..face_rows {
                        let q = side.points[l];
                        let scale =
                            terms.face[q].weight / if per_point { 1.0 } else { reference.face_weights[q] };
                        let [x, y, z] = terms.face[q].conormal();
                        conormals[s * face_rows + l] = [x * scale, y * scale, z * scale, scale];
                    }
                }
            });

        // Orientation of neighbours: the walk, the neighbour's side and the directions with their signs.
        let mut turns: HashMap<(usize, u8, u8), Turn> = HashMap::new();
        for &element in &elements {
            for (s, &face) in faces_of.iter().enumerate() {
                if let Beyond::Element { side, orientation } = space.across(element as usize, face)
                    && let std::collections::hash_map::Entry::Vacant(place) =
                        turns.entry((s, side.face, orientation))
                {
                    let meets = space.meeting_points(element as usize, face);
                    let theirs = offsets[side.face as usize];
                    let point = |l: usize| theirs + meets[sides[s].points[l] - offsets[face]];
                    let start = |l: usize| numbering.start(reference.face_points[point(l)]);
                    let starts = [start(samples[0])?, start(samples[1])?, start(samples[2])?];
                    let walk = walk_from(starts);
                    let axis = |k: usize| {
                        let step = starts[k].0 - starts[0].0;
                        (0..dim)
                            .find(|&d| numbering.stride(d) == step.abs())
                            .map(|d| (d, f64::from(step.signum())))
                    };
                    let axes = (1..dim).map(axis).collect::<Option<Vec<_>>>()?;
                    let theirs = 2 * starts[0].1 + starts[0].2;
                    let lines = (0..if per_point { face_rows } else { 0 })
                        .map(|l| sides[theirs].points.iter().position(|&q| q == point(l)))
                        .collect::<Option<Vec<_>>>()?;
                    place.insert(Turn { walk, side: theirs, axes, lines });
                }
            }
        }

        let width = 3 + 2 * (dim - 1);
        let mut faces = vec![0.0; n_elements * 2 * dim * face_rows * width];
        let mut neighbours = vec![[0; 2]; n_elements * 2 * dim];
        let rows = faces.par_chunks_mut(2 * dim * face_rows * width);
        let rows = rows.zip(neighbours.par_chunks_mut(2 * dim)).zip(&elements).enumerate();
        let orthogonal = rows.map(|(i, ((faces, neighbours), &element))| {
            let mut orthogonal = true;
            for (s, side) in sides.iter().enumerate() {
                let face = faces_of[s];
                let (tau, kappa) = space.face_coefficients(element as usize, face);
                let own = &conormals[(i * 2 * dim + s) * face_rows..][..face_rows];
                let inwards = |side: usize| if side % 2 == 1 { -1.0 } else { 1.0 };
                let rows = faces[s * face_rows * width..][..face_rows * width].chunks_exact_mut(width);
                let across = space.across(element as usize, face);
                let mut natural = None;
                neighbours[s] = match across {
                    Beyond::Element { side, orientation } => {
                        let turn = &turns[&(s, side.face, orientation)];
                        [layout.number(side.element), turn.walk]
                    }
                    Beyond::Boundary(b) => match problem.boundary(b) {
                        EllipticBoundary::Dirichlet => [i as u32, own_walks[s] | OPPOSITE],
                        EllipticBoundary::Neumann => {
                            natural = Some(0.0);
                            [i as u32, own_walks[s] | NOTHING]
                        }
                        EllipticBoundary::Robin { alpha } => {
                            natural = Some(alpha);
                            [i as u32, own_walks[s] | NOTHING]
                        }
                    },
                };
                for (l, row) in rows.enumerate() {
                    let q = side.points[l] - offsets[face];
                    let (kappa, b) = (kappa[q], own[l]);
                    let surface = b[3];
                    if let Some(alpha) = natural {
                        row[0] = alpha * surface;
                        continue;
                    }
                    row[0] = kappa * tau * surface;
                    row[1] = kappa * b[side.direction] * inwards(s);
                    for (k, &c) in side.others.iter().enumerate() {
                        row[3 + k] = kappa * b[c];
                    }
                    if let Beyond::Element { side: other, orientation } = across {
                        let turn = &turns[&(s, other.face, orientation)];
                        let e = neighbours[s][0] as usize;
                        let line = turn.lines.get(l).copied().unwrap_or(0);
                        let b = conormals[(e * 2 * dim + turn.side) * face_rows + line];
                        row[2] = kappa * b[turn.side / 2] * inwards(turn.side);
                        for (k, &(c, sign)) in turn.axes.iter().enumerate() {
                            row[2 + dim + k] = kappa * b[c] * sign;
                        }
                    } else {
                        let (here, there) = row.split_at_mut(2 + dim);
                        there[..dim - 1].copy_from_slice(&here[3..]);
                        here[2] = here[1];
                    }
                    let least = ORTHOGONAL * row[1].abs();
                    orthogonal &= row[3..].iter().all(|v| v.abs() <= least);
                }
            }
            orthogonal
        });
        let skew = !orthogonal.reduce(|| true, |a, b| a && b);
        let derivative = (0..n).map(|q| (0..n).map(|i| factors.derivative[(q, i)]).collect()).collect();
        // Side 0: its walks run along their lines.
        let row = sides[0].points[0];
        let value = (0..n).map(|i| reference.interp_face[(row, i)]).collect();
        let slope = (0..n).map(|i| tables.face_derivative[0][(row, i)]).collect();
        Some(Self {
            dim,
            n,
            n_elements,
            per_point,
            skew,
            derivative,
            end: [value, slope],
            weights: factors.weights.clone(),
            metric,
            reaction: values,
            faces,
            sides: neighbours,
            walks,
        })
    }
}

/// The orientation of a neighbour relative to a side.
struct Turn {
    walk: u32,
    /// The side of the neighbour.
    side: usize,
    /// The neighbour's direction along each of the side's other directions, and its sign.
    axes: Vec<(usize, f64)>,
    /// The neighbour's line that meets each line of the side.
    lines: Vec<usize>,
}
