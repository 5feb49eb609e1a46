//! Finds linelets: chains of elements that are strongly coupled across their long faces.

use super::Linelets;
use crate::elliptic::{Beyond, EllipticBoundary, Space};
use crate::lanes::simd::PackScalar;
use crate::space::geometry::{cross, dot};
use dgsuite_basis::Shape;
use dgsuite_gpu::SimdLevel;
use rayon::prelude::*;
use std::sync::Arc;

/// Two elements are coupled strongly if their face is at least as strong as this multiple of their weakest
/// faces, which is about the square of their aspect ratio. Slightly less than 4, so that rounding does not
/// break lines of elements with an aspect ratio of exactly 2.
const STRONG: f64 = 3.99;

/// A direction of a reference element: that of one edge, or of several parallel ones.
pub(super) struct Direction {
    /// Along the edges.
    pub(super) along: [f64; 3],
    /// The edges, as pairs of vertices.
    pub(super) edges: Vec<[usize; 2]>,
    /// Whether each face is crossed: none of its edges has this direction.
    pub(super) crosses: Vec<bool>,
}

/// The directions of a shape.
pub(super) fn directions(shape: Shape) -> Vec<Direction> {
    let vertices = shape.vertices();
    let mut out: Vec<Direction> = Vec::new();
    for &edge in shape.edges() {
        let [a, b] = edge.map(|v| vertices[v]);
        let along: [f64; 3] = std::array::from_fn(|d| 0.5 * (b[d] - a[d]));
        // Parallel edges of reference elements are equal or opposite.
        let same = |with: &[f64; 3]| *with == along || with.iter().zip(along).all(|(a, b)| *a == -b);
        match out.iter_mut().find(|found| same(&found.along)) {
            Some(found) => found.edges.push(edge),
            None => out.push(Direction { along, edges: vec![edge], crosses: Vec::new() }),
        }
    }
    for direction in &mut out {
        let has = |face: &[usize], [a, b]: [usize; 2]| face.contains(&a) && face.contains(&b);
        let of = |f: usize| !direction.edges.iter().any(|edge| has(shape.face_vertices(f), *edge));
        direction.crosses = (0..shape.n_faces()).map(of).collect();
    }
    out
}

/// The direction of an element that is across the layers, in reference coordinates.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Across {
    /// One of [`directions`] of the element's shape.
    Edge(u8),
    /// Another one: on simplices without an edge across the layer.
    Vector([f64; 3]),
}

/// An element of a linelet.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Link {
    pub(super) element: u32,
    pub(super) across: Across,
    /// The face to the element before it; `None` for the first.
    pub(super) face: Option<u8>,
}

/// The weakest and the strongest face of an element, and its direction.
struct Stretching {
    weakest: f64,
    strongest: f64,
    across: Across,
}

impl<T: PackScalar> Space<T> {
    /// The linelets of the problem, which are found once for all orders, with the cubature of order 1, or
    /// known of the whole mesh: the same on all levels and for any number of ranks.
    pub(super) fn linelets(&self, level: SimdLevel) -> &Linelets {
        let problem = &self.problem;
        if let Some(ranks) = &problem.ranks {
            return ranks.lines();
        }
        problem.lines.get_or_init(|| {
            let linear = Space::<f64>::new(Arc::clone(problem), 1, level);
            Linelets(linear.map_or_else(|_| self.find_linelets(), |linear| linear.find_linelets()))
        })
    }

    /// Finds the linelets of the mesh: each element with strong faces is in one of them. The strength of a
    /// face is `κ |E| / h²` of the stronger side, where h is the height of the element above the face.
    fn find_linelets(&self) -> Vec<Vec<Link>> {
        let mesh = &self.problem.mesh;
        let n = mesh.n_elements();
        let of_side = self.side_strengths();
        let mut first = vec![0];
        for e in 0..n {
            first.push(first[e] + mesh.shape(e).n_faces());
        }
        let strength = |e: usize, f: usize| match self.across(e, f) {
            Beyond::Boundary(_) => of_side[first[e] + f],
            Beyond::Element { side, .. } => {
                of_side[first[e] + f].max(of_side[first[side.element as usize] + side.face as usize])
            }
        };
        let known: Vec<(Shape, Vec<Direction>)> =
            mesh.sets.iter().map(|set| (set.shape, directions(set.shape))).collect();
        let directions_of = |e: usize| {
            let shape = mesh.shape(e);
            known.iter().find(|(s, _)| *s == shape).map_or(&[][..], |(_, d)| d)
        };
        let crosses_of = |e: usize, across: Across, f: usize| match across {
            Across::Edge(d) => directions_of(e).get(d as usize).is_some_and(|d| d.crosses[f]),
            Across::Vector(_) => true,
        };
        let stretching_of = |e: usize| {
            let corners =
                mesh.element_vertices(e).iter().map(|&v| mesh.points[v as usize]).collect::<Vec<_>>();
            let across = thin_direction(mesh.shape(e), directions_of(e), &corners);
            let all = (0..mesh.shape(e).n_faces()).map(|f| (f, strength(e, f)));
            let strongest = all.clone().filter(|(f, _)| crosses_of(e, across, *f)).map(|(_, s)| s);
            Stretching {
                weakest: all.map(|(_, s)| s).fold(f64::INFINITY, f64::min),
                strongest: strongest.fold(0.0, f64::max),
                across,
            }
        };
        let stretching: Vec<Stretching> =
            self.problem.host.install(|| (0..n).into_par_iter().map(stretching_of).collect());
        let crosses = |e: usize, f: usize| crosses_of(e, stretching[e].across, f);
        // Strong faces, from the strongest ratio to the weakest; equal ones as they are numbered.
        let strong_of = |e: usize| {
            let (stretching, strength, crosses) = (&stretching, &strength, &crosses);
            (0..mesh.shape(e).n_faces()).filter_map(move |f| {
                let Beyond::Element { side, .. } = self.across(e, f) else { return None };
                let (other, their) = (side.element as usize, side.face as usize);
                if (other, their) <= (e, f) || !crosses(e, f) || !crosses(other, their) {
                    return None;
                }
                let ratio = strength(e, f) / stretching[e].weakest.max(stretching[other].weakest);
                let both = [(e as u32, f as u8), (other as u32, their as u8)];
                (ratio >= STRONG).then_some((ratio, both))
            })
        };
        let mut strong: Vec<(f64, [(u32, u8); 2])> =
            self.problem.host.install(|| (0..n).into_par_iter().flat_map_iter(strong_of).collect());
        strong.sort_by(|a, b| b.0.total_cmp(&a.0));
        let mut taken: Vec<[Option<(u8, u32, u8)>; 2]> = vec![[None; 2]; n];
        let mut parent: Vec<u32> = (0..n as u32).collect();
        for (_, [(a, fa), (b, fb)]) in strong {
            let (ra, rb) = (root(&mut parent, a), root(&mut parent, b));
            let free = |e: u32| taken[e as usize].iter().position(Option::is_none);
            if ra == rb {
                continue;
            }
            if let (Some(i), Some(j)) = (free(a), free(b)) {
                taken[a as usize][i] = Some((fa, b, fb));
                taken[b as usize][j] = Some((fb, a, fa));
                parent[ra.max(rb) as usize] = ra.min(rb);
            }
        }
        let link = |element: u32, face: Option<u8>| Link {
            element,
            across: stretching[element as usize].across,
            face,
        };
        let mut seen = vec![false; n];
        let mut out = Vec::new();
        for e in 0..n {
            let ends = taken[e][1].is_none();
            let alone = taken[e][0].is_none();
            let stretched = stretching[e].strongest >= STRONG * stretching[e].weakest;
            if seen[e] || !ends || (alone && !stretched) {
                continue;
            }
            let mut line = vec![link(e as u32, None)];
            seen[e] = true;
            let mut next = taken[e][0];
            while let Some((_, other, face)) = next {
                line.push(link(other, Some(face)));
                seen[other as usize] = true;
                next = taken[other as usize].into_iter().flatten().find(|(own, ..)| *own != face);
            }
            out.push(line);
        }
        if out.first().is_some_and(|line| line.len() == n) && self.determines_gradients_only() {
            cut_in_two(&mut out);
        }
        out
    }

    /// Whether no boundary of the problem determines a value, so that without λ a constant is free.
    fn determines_gradients_only(&self) -> bool {
        (0..self.problem.mesh.n_elements()).all(|e| {
            (0..self.problem.mesh.shape(e).n_faces()).all(|f| match self.across(e, f) {
                Beyond::Element { .. } => true,
                Beyond::Boundary(b) => match self.problem.boundary(b) {
                    EllipticBoundary::Dirichlet => false,
                    EllipticBoundary::Neumann => true,
                    EllipticBoundary::Robin { alpha } => alpha == 0.0,
                },
            })
        })
    }

    /// `κ |E| / h²` of each side, up to a factor of its shape, with the mean of κ over the face.
    fn side_strengths(&self) -> Vec<f64> {
        let of_element = |e: usize, all: &mut Vec<f64>| {
            let terms = self.terms(e);
            let volume: f64 = terms.jw.iter().sum();
            let offsets = &self.tables_of(e).reference.face_offsets;
            for face in 0..offsets.len() - 1 {
                let points = &terms.face[offsets[face]..offsets[face + 1]];
                let area: f64 = points.iter().map(|p| p.weight).sum();
                let (_, kappa) = self.face_coefficients(e, face);
                let weighted: f64 = points.iter().zip(kappa).map(|(p, k)| p.weight * k).sum();
                all.push(area * weighted / volume / slenderness(self.problem.mesh.shape(e), face).powi(2));
            }
            Ok::<(), std::convert::Infallible>(())
        };
        let Ok(all) = self.in_pieces(of_element);
        all
    }
}

/// Cuts the only line, which has all elements, at its middle. Its block would be the operator itself, which
/// is singular on constants; those of its halves are not. A line of one element is left out.
fn cut_in_two(lines: &mut Vec<Vec<Link>>) {
    let Some(mut first) = lines.pop() else { return };
    let mut second = first.split_off(first.len() / 2);
    if let (Some(link), false) = (second.first_mut(), first.is_empty()) {
        link.face = None;
        lines.extend([first, second]);
    }
}

/// `h |f| / |E|`, with the height h of an element above a face, relative to that of other faces of the shape.
fn slenderness(shape: Shape, face: usize) -> f64 {
    match (shape, shape.face_vertices(face).len()) {
        (Shape::Prism, 4) | (Shape::Pyramid, 4) => 2.0,
        _ => 1.0,
    }
}

/// The direction of the shortest edges, or, on a simplex none of whose edges is across its largest face, the
/// normal of that face.
fn thin_direction(shape: Shape, directions: &[Direction], corners: &[[f64; 3]]) -> Across {
    let edge = |[a, b]: [usize; 2]| minus(corners[b], corners[a]);
    let length =
        |d: &Direction| d.edges.iter().map(|e| dot(edge(*e), edge(*e))).sum::<f64>() / d.edges.len() as f64;
    let lengths = directions.iter().map(length);
    let shortest = lengths.enumerate().min_by(|a, b| a.1.total_cmp(&b.1)).map_or(0, |(d, _)| d);
    let plain = Across::Edge(shortest as u8);
    if !matches!(shape, Shape::Triangle | Shape::Tetrahedron) {
        return plain;
    }
    // The height is that of the vertex beyond the largest face.
    let (dim, base) = (shape.dim(), corners[0]);
    let columns: Vec<[f64; 3]> = (1..=dim).map(|k| minus(corners[k], base).map(|x| 0.5 * x)).collect();
    let normal_of = |face: &[usize]| {
        let [a, b] = [edge([face[0], face[1]]), edge([face[0], face[dim - 1]])];
        if dim == 2 { [a[1], -a[0], 0.0] } else { cross(a, b) }
    };
    let normals = (0..shape.n_faces()).map(|f| normal_of(shape.face_vertices(f)));
    let Some(normal) = normals.max_by(|a, b| dot(*a, *a).total_cmp(&dot(*b, *b))) else { return plain };
    let size = dot(normal, normal).sqrt();
    let along = edge(directions[shortest].edges[0]);
    let height = dot(along, normal) / size;
    // A function that is constant along an edge at 45° changes as much across the layer as along it.
    if 2.0 * height * height >= dot(along, along) {
        return plain;
    }
    // J v = normal, by Cramer's rule.
    let mut v = [0.0; 3];
    if let [a, b] = columns[..] {
        let det = a[0] * b[1] - a[1] * b[0];
        v = [(normal[0] * b[1] - normal[1] * b[0]) / det, (a[0] * normal[1] - a[1] * normal[0]) / det, 0.0];
    } else if let [a, b, c] = columns[..] {
        let det = dot(a, cross(b, c));
        v = [cross(b, c), cross(c, a), cross(a, b)].map(|row| dot(row, normal) / det);
    }
    let size = dot(v, v).sqrt();
    Across::Vector(v.map(|x| x / size))
}

fn minus(a: [f64; 3], b: [f64; 3]) -> [f64; 3] {
    std::array::from_fn(|d| a[d] - b[d])
}

/// The representative of an element's line; chains are halved along the way.
fn root(parent: &mut [u32], mut e: u32) -> u32 {
    while parent[e as usize] != e {
        parent[e as usize] = parent[parent[e as usize] as usize];
        e = parent[e as usize];
    }
    e
}
