//! What a picture shows of a domain: the plane, a cut through a solid, or surfaces in space.

use std::collections::HashMap;

use dgsuite_basis::{
    Shape,
    lattice::{lattice_len, lattice_vertices},
};

use super::patch::{Division, Fine, Patch};
use super::quantity::Quantity;
use super::{PictureError, contour};
use crate::writer::{CellBlock, UnstructuredFields};
use dgsuite_solve::post::cut::{Cut, Slice};

/// Which faces of the boundary of a solid are shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Surface {
    /// Those that face the eye: the domain from outside.
    Outside,
    /// Those that turn their back to the eye: bodies, and the far walls behind them.
    Inside,
}

/// The surface on which a quantity has a value.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Level {
    /// The quantity.
    pub quantity: Quantity,
    /// Its value.
    pub value: f64,
}

/// How a domain appears on the page: points of space become `[right, up, towards the eye]`.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Geometry {
    /// A plane domain.
    Plane,
    /// One cut through a solid, seen along its axis.
    Cut(Slice),
    /// Cuts and surfaces in space, seen from a direction.
    Space { axes: [[f64; 3]; 3], cuts: Vec<Slice>, surface: Option<Surface>, level: Option<Level> },
}

/// Finest division of solids.
const FINEST_SOLID: usize = 12;
/// Points that are nearer to a plane, by this share of their element, are on it: files have single precision.
const HAIR: f64 = 1e-5;
/// Sides of fine triangles, in pixels.
const FINE: f64 = 4.0;

impl Geometry {
    /// The axes of a view from a direction, with z (or y, seen along z) upward.
    pub(super) fn axes(towards_eye: [f64; 3]) -> Result<[[f64; 3]; 3], PictureError> {
        let eye = unit(towards_eye).ok_or_else(|| PictureError::Option {
            option: "--view",
            found: format!("{},{},{}", towards_eye[0], towards_eye[1], towards_eye[2]),
            expected: "a direction, such as 1,-2,1".to_owned(),
        })?;
        let up = if eye[2].abs() > 0.999 { [0.0, 1.0, 0.0] } else { [0.0, 0.0, 1.0] };
        let right = unit(cross(up, eye)).unwrap_or([1.0, 0.0, 0.0]);
        Ok([right, cross(eye, right), eye])
    }

    /// Whether what is nearer covers what is farther.
    pub(super) const fn is_solid(&self) -> bool {
        matches!(self, Self::Space { .. })
    }

    /// Names of the axes of the page, unless it shows space.
    pub(super) const fn names(&self) -> Option<[&'static str; 2]> {
        match self {
            Self::Plane | Self::Cut(Slice { axis: 2, .. }) => Some(["x", "y"]),
            Self::Cut(Slice { axis: 0, .. }) => Some(["y", "z"]),
            Self::Cut(_) => Some(["x", "z"]),
            Self::Space { .. } => None,
        }
    }

    /// A point of space on the page.
    pub(super) fn project(&self, x: [f64; 3]) -> [f64; 3] {
        match self {
            Self::Plane => [x[0], x[1], 0.0],
            Self::Cut(Slice { axis, .. }) => {
                let [a, b] = others(*axis);
                [x[a], x[b], 0.0]
            }
            Self::Space { axes, .. } => axes.map(|axis| dot(axis, x)),
        }
    }

    /// Lower and upper corner of all that may be shown, on the page; `None` if there is nothing.
    pub(super) fn bounds(&self, fields: &UnstructuredFields) -> Option<[[f64; 2]; 2]> {
        let mut bounds = [[f64::INFINITY; 2], [f64::NEG_INFINITY; 2]];
        for block in &fields.pieces {
            for &point in &block.points {
                let p = self.project(point);
                for d in 0..2 {
                    bounds[0][d] = bounds[0][d].min(p[d]);
                    bounds[1][d] = bounds[1][d].max(p[d]);
                }
            }
        }
        (0..2).all(|d| bounds[1][d] - bounds[0][d] > 0.0 && bounds[1][d].is_finite()).then_some(bounds)
    }

    /// The part of the page around the middle of the elements, if it is much smaller than all: in meshes
    /// around bodies elements are small where something happens.
    pub(super) fn close(&self, fields: &UnstructuredFields) -> Option<[[f64; 2]; 2]> {
        let [low, high] = self.bounds(fields)?;
        let mut centres: [Vec<f64>; 2] = [Vec::new(), Vec::new()];
        for block in &fields.pieces {
            for nodes in block.points.chunks(lattice_len(block.shape, block.order)) {
                let mean =
                    |d: usize| nodes.iter().map(|&x| self.project(x)[d]).sum::<f64>() / nodes.len() as f64;
                (0..2).for_each(|d| centres[d].push(mean(d)));
            }
        }
        let mut window = [low, high];
        let mut part = 1.0;
        for d in 0..2 {
            centres[d].sort_by(f64::total_cmp);
            let n = centres[d].len();
            let (a, b) = (centres[d][n / 5], centres[d][n - 1 - n / 5]);
            let room = 0.5 * (b - a);
            window[0][d] = low[d].max(a - room);
            window[1][d] = high[d].min(b + room);
            part *= (window[1][d] - window[0][d]) / (high[d] - low[d]);
        }
        (part > 0.0 && part < 0.2).then_some(window)
    }

    /// Calls `show` with each patch, its points on the page, and how bright its triangles are. `scale` is in
    /// pixels; elements outside of `window` are left out.
    pub(super) fn patches(
        &self,
        fields: &UnstructuredFields,
        quantity: &Quantity,
        scale: f64,
        window: [[f64; 2]; 2],
        mut show: impl FnMut(&Patch, &dyn Fn([usize; 3]) -> f64),
    ) {
        let mut division = Division::default();
        let all = fields.pieces.iter().flat_map(|block| &block.points);
        let lowest = all.fold([f64::INFINITY; 3], |low, x| std::array::from_fn(|d| low[d].min(x[d])));
        let boundary = match self {
            Self::Space { surface: Some(_), .. } => boundary_faces(fields),
            _ => Vec::new(),
        };
        for (number, block) in fields.pieces.iter().enumerate() {
            let Some(numbers) = quantity.of_block(block) else { continue };
            let per_cell = lattice_len(block.shape, block.order);
            let bright = |_: [usize; 3]| 1.0;
            for cell in 0..block.n_cells() {
                let nodes = &block.points[cell * per_cell..(cell + 1) * per_cell];
                let (size, inside) = self.extent(nodes, window);
                if !inside {
                    continue;
                }
                let curved = block.order > 1 || !matches!(block.shape, Shape::Triangle | Shape::Tetrahedron);
                let wanted = if curved { (size * scale / FINE).ceil().clamp(1.0, 48.0) as usize } else { 1 };
                match self {
                    Self::Plane if block.shape.dim() == 2 => {
                        let fine = division.of(block.shape, block.order, wanted, 48);
                        let mut patch = fine.plane(block, &numbers, quantity, cell);
                        self.place(&mut patch);
                        show(&patch, &bright);
                    }
                    Self::Space { .. } if block.shape.dim() == 2 => {
                        let fine = division.of(block.shape, block.order, wanted, 48);
                        let mut patch = fine.plane(block, &numbers, quantity, cell);
                        self.place(&mut patch);
                        let of = |t: [usize; 3]| shade([normal(t.map(|k| patch.points[k])); 3]);
                        show(&patch, &of);
                    }
                    Self::Cut(slice) if block.shape.dim() == 3 && slice.may_cross(nodes, block.order) => {
                        let fine = division.of(block.shape, block.order, wanted, FINEST_SOLID);
                        let (points, values) = fine.evaluate(block, &numbers, quantity, cell);
                        let height = slice.heights(&points, lowest[slice.axis], HAIR);
                        let mut patch = cut(fine, &points, &values, &height, true);
                        self.place(&mut patch);
                        show(&patch, &bright);
                    }
                    Self::Space { axes, cuts, surface, level } if block.shape.dim() == 3 => {
                        let faces: &[bool] = boundary.get(number).map_or(&[], |faces| {
                            let n = block.shape.faces().len();
                            &faces[n * cell..n * (cell + 1)]
                        });
                        let cuts: Vec<Slice> =
                            cuts.iter().copied().filter(|&s| s.may_cross(nodes, block.order)).collect();
                        if cuts.is_empty() && level.is_none() && !faces.contains(&true) {
                            continue;
                        }
                        let fine = division.of(block.shape, block.order, wanted, FINEST_SOLID);
                        let (points, values) = fine.evaluate(block, &numbers, quantity, cell);
                        for slice in cuts {
                            let height = slice.heights(&points, lowest[slice.axis], HAIR);
                            let mut patch = cut(fine, &points, &values, &height, true);
                            self.place(&mut patch);
                            show(&patch, &bright);
                        }
                        if let Some(Level { quantity: of, value }) = level
                            && let Some(numbers) = of.of_block(block)
                        {
                            let (_, heights) = fine.evaluate(block, &numbers, of, cell);
                            let heights: Vec<f64> = heights.iter().map(|h| h - value).collect();
                            let mut patch = cut(fine, &points, &values, &heights, false);
                            self.place(&mut patch);
                            let normals = normals(&patch);
                            show(&patch, &|t| shade(t.map(|k| normals[k])));
                        }
                        if let Some(surface) = surface {
                            for (face, _) in faces.iter().enumerate().filter(|(_, boundary)| **boundary) {
                                let mut patch = Patch {
                                    points: points.clone(),
                                    values: values.clone(),
                                    triangles: fine.faces[face].clone(),
                                    outline: (fine.face_edges[face].iter())
                                        .map(|edge| edge.iter().map(|&k| points[k]).collect())
                                        .collect(),
                                };
                                let seen = |t: &[usize; 3]| {
                                    let out = dot(normal(t.map(|k| points[k])), axes[2]);
                                    (out > 0.0) == (*surface == Surface::Outside)
                                };
                                patch.triangles.retain(seen);
                                if patch.triangles.is_empty() {
                                    continue;
                                }
                                self.place(&mut patch);
                                let of = |t: [usize; 3]| shade([normal(t.map(|k| patch.points[k])); 3]);
                                show(&patch, &of);
                            }
                        }
                    }
                    _ => {}
                }
            }
        }
    }

    fn place(&self, patch: &mut Patch) {
        let outline = patch.outline.iter_mut().flatten();
        patch.points.iter_mut().chain(outline).for_each(|x| *x = self.project(*x));
    }

    /// The larger side of an element on the page, and whether it may reach into the window.
    fn extent(&self, nodes: &[[f64; 3]], window: [[f64; 2]; 2]) -> (f64, bool) {
        let mut low = [f64::INFINITY; 3];
        let mut high = [f64::NEG_INFINITY; 3];
        for &node in nodes {
            let p = self.project(node);
            for d in 0..3 {
                low[d] = low[d].min(p[d]);
                high[d] = high[d].max(p[d]);
            }
        }
        let size = (high[0] - low[0]).max(high[1] - low[1]);
        // Curved sides may bulge beyond the nodes.
        let room = 0.1 * size;
        let inside = (0..2).all(|d| high[d] + room >= window[0][d] && low[d] - room <= window[1][d]);
        (size, inside && size.is_finite())
    }
}

/// The two axes that are not this one, in order.
const fn others(axis: usize) -> [usize; 2] {
    match axis {
        0 => [1, 2],
        1 => [0, 2],
        _ => [0, 1],
    }
}

/// The surface on which `height` is zero, in the fine tetrahedra of an element.
fn cut(fine: &Fine, points: &[[f64; 3]], values: &[f64], height: &[f64], outlined: bool) -> Patch {
    let mut cut = Cut::new(&fine.simplices, height);
    let mut outline = Vec::new();
    for face in if outlined { &fine.faces[..] } else { &[] } {
        let mut pieces = Vec::new();
        for triangle in face {
            let ends: Vec<usize> = (0..3)
                .map(|k| (triangle[k], triangle[(k + 1) % 3]))
                .filter(|&(a, b)| (height[a] >= 0.0) != (height[b] >= 0.0))
                .map(|(a, b)| cut.crossing(a, b))
                .collect();
            if let [a, b] = ends[..]
                && a != b
            {
                pieces.push((a, b));
            }
        }
        outline.extend(contour::joined(&pieces));
    }
    let place = |&(a, b, t): &(usize, usize, f64)| -> [f64; 3] {
        std::array::from_fn(|d| points[a][d] + t * (points[b][d] - points[a][d]))
    };
    let points: Vec<[f64; 3]> = cut.crossings.iter().map(place).collect();
    Patch {
        values: cut.crossings.iter().map(|&(a, b, t)| values[a] + t * (values[b] - values[a])).collect(),
        outline: outline.iter().map(|line| line.iter().map(|&k| points[k]).collect()).collect(),
        triangles: cut.triangles,
        points,
    }
}

/// For each block, for each face of each cell, whether no other cell has it.
fn boundary_faces(fields: &UnstructuredFields) -> Vec<Vec<bool>> {
    let corners = |block: &CellBlock| lattice_vertices(block.shape, block.order);
    let all = || fields.pieces.iter().filter(|b| b.shape.dim() == 3);
    let mut welded = Welded::new(all().flat_map(|b| b.points.iter()));
    let mut seen: HashMap<Vec<usize>, usize> = HashMap::new();
    let mut keys: Vec<Vec<Vec<usize>>> = Vec::new();
    for block in &fields.pieces {
        let (at, per_cell) = (corners(block), lattice_len(block.shape, block.order));
        let mut of_block = Vec::new();
        for cell in 0..if block.shape.dim() == 3 { block.n_cells() } else { 0 } {
            let ids: Vec<usize> =
                at.iter().map(|&k| welded.number(block.points[cell * per_cell + k])).collect();
            for face in block.shape.faces() {
                let mut key: Vec<usize> = face.iter().map(|&v| ids[v]).collect();
                key.sort_unstable();
                *seen.entry(key.clone()).or_default() += 1;
                of_block.push(key);
            }
        }
        keys.push(of_block);
    }
    keys.into_iter().map(|block| block.iter().map(|key| seen[key] == 1).collect()).collect()
}

/// Numbers for points: the same one for points that differ by rounding.
struct Welded {
    low: [f64; 3],
    size: f64,
    grid: HashMap<[i64; 3], usize>,
}

impl Welded {
    fn new<'a>(points: impl Iterator<Item = &'a [f64; 3]>) -> Self {
        let (mut low, mut high) = ([f64::INFINITY; 3], [f64::NEG_INFINITY; 3]);
        for x in points {
            for d in 0..3 {
                low[d] = low[d].min(x[d]);
                high[d] = high[d].max(x[d]);
            }
        }
        let length = (0..3).map(|d| high[d] - low[d]).fold(f64::MIN_POSITIVE, f64::max);
        // Files have single precision: 6e-8 of the largest coordinate.
        let largest = (0..3).map(|d| low[d].abs().max(high[d].abs())).fold(length, f64::max);
        Self { low, size: 2e-6 * largest, grid: HashMap::new() }
    }

    fn number(&mut self, x: [f64; 3]) -> usize {
        let place: [f64; 3] = std::array::from_fn(|d| (x[d] - self.low[d]) / self.size);
        let cell = place.map(|c| c.floor() as i64);
        // Near the side of a grid cell the point may have been seen in the next one.
        for k in 0..8 {
            let near: [i64; 3] = std::array::from_fn(|d| {
                let side = if place[d] - place[d].floor() < 0.5 { -1 } else { 1 };
                cell[d] + if k >> d & 1 == 1 { side } else { 0 }
            });
            if let Some(&number) = self.grid.get(&near) {
                return number;
            }
        }
        let number = self.grid.len();
        self.grid.insert(cell, number);
        number
    }
}

fn dot(a: [f64; 3], b: [f64; 3]) -> f64 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

fn cross(a: [f64; 3], b: [f64; 3]) -> [f64; 3] {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}

fn unit(a: [f64; 3]) -> Option<[f64; 3]> {
    let length = dot(a, a).sqrt();
    (length.is_finite() && length > 0.0).then(|| a.map(|x| x / length))
}

/// The normal of a triangle; zero if it has none.
fn normal([a, b, c]: [[f64; 3]; 3]) -> [f64; 3] {
    let side = |p: [f64; 3]| std::array::from_fn(|d| p[d] - a[d]);
    unit(cross(side(b), side(c))).unwrap_or([0.0; 3])
}

/// Normals at the points of a patch: means over the triangles around them, which all turn to the eye.
fn normals(patch: &Patch) -> Vec<[f64; 3]> {
    let mut out = vec![[0.0; 3]; patch.points.len()];
    for triangle in &patch.triangles {
        let n = normal(triangle.map(|k| patch.points[k]));
        let side = if n[2] < 0.0 { -1.0 } else { 1.0 };
        for &k in triangle {
            for d in 0..3 {
                out[k][d] += side * n[d];
            }
        }
    }
    out
}

/// The brightness of a triangle with normals at its corners, on the page: lit from the upper left behind the
/// eye, on both sides.
fn shade(normals: [[f64; 3]; 3]) -> f64 {
    const LIGHT: [f64; 3] = [-0.35, 0.45, 0.82];
    let mean = std::array::from_fn(|d| normals.iter().map(|n| n[d]).sum());
    let n = unit(mean).unwrap_or([0.0, 0.0, 1.0]);
    let n = if n[2] < 0.0 { n.map(|x| -x) } else { n };
    0.7 + 0.3 * dot(n, LIGHT).max(0.0)
}
