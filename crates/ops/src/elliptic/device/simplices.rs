//! Tables for devices of affine triangles and tetrahedra with piecewise constant coefficients.
//!
//! In a mesh with other elements as well, curved ones or other shapes, the tables are those of the affine
//! simplices, and of these the ones beside other elements are listed: their results are of no use, and the
//! universal kernels compute them again.
//!
//! The metric of an element enters through one number for each edge; all matrices are the same for all
//! elements. With the barycentric coordinates λ_i, and `∂_i − ∂_j` the derivative along the edge from vertex
//! j to vertex i,
//! ```text
//! ∫ κ ∇u·∇v = Σ_{i<j} W_ij ∫̂ (∂_i − ∂_j)u (∂_i − ∂_j)v,    W_ij = −κ J ∇λ_i·∇λ_j,
//! ```
//!
//! and across the face opposite to vertex c, `κ sJ ∂u/∂n = γ Σ_i W_ci (∂_i − ∂_c)u` with γ = d |Ê| / |F̂|. So
//! derivatives need only the weights of the edges, and the weights of a neighbour are found for any
//! orientation. The contribution of the jumps is added to the edges' derivatives: with
//! `h_i = ∂_i u + ½ γ ℓ_i`, where `ℓ_i` is the jump on the face opposite to vertex i, tested by the modes,
//! `Σ W_ij (h_i − h_j) (∂_i − ∂_j)v` contains both terms.
//!
//! Sides are numbered by the opposite vertex. In a side's *own order* the nodes on the face come first, in
//! the order of the frame of the face, so that both elements of a face list them in the same order.

use super::{DeviceLayout, DeviceSpan};
use crate::elliptic::space::{Beyond, Space};
use crate::elliptic::tables::clean;
use crate::elliptic::{EllipticBoundary, Sipdg};
use crate::error::OpsError;
use crate::space::scheme::MetricRule;
use dgsuite_basis::{Matrix, OrthonormalBasis, Polynomials, Shape, lattice::lattice};
use rayon::prelude::*;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Bits of a side's code, below the neighbour's number: the orientation, then the flags.
pub(crate) const CODE_BITS: u32 = 6;
/// The neighbour is the element itself with opposite values: a Dirichlet boundary.
pub(crate) const OPPOSITE: u32 = 16;
/// The penalty applies to the element's own values: a boundary with prescribed flux.
pub(crate) const OWN: u32 = 32;
/// An element is stretched if its longest edge is longer than this times its smallest height; a mesh is
/// stretched if more than a hundredth of its elements are.
const STRETCHED: f64 = 30.0;
/// Other kernels compute at most this share of the rows of a mesh; otherwise all.
const OTHERS: f64 = 0.5;
/// Nodes and points closer than this are the same.
const SAME: f64 = 1e-8;

/// The elements, and the matrices that they share.
pub(crate) struct Simplices {
    pub(crate) dim: usize,
    pub(crate) np: usize,
    pub(crate) n_elements: usize,
    /// The span of the elements among those of the layout, and its first row in the device's vectors.
    pub(crate) span: usize,
    pub(crate) first_row: usize,
    /// Elements beside others than these.
    pub(crate) beside: Vec<u32>,
    /// Their neighbours among these elements, without the ones in `beside`.
    pub(crate) near: Vec<u32>,
    /// How many of this rank's elements are stretched, and their number.
    n_stretched: (usize, usize),
    /// Whether the mesh is stretched; sums over edges then lose digits.
    pub(crate) stretched: bool,
    /// `[element][edge]`: W of the vertices (0, 1), (0, 2), (1, 2) or (0, 1), (0, 2), (0, 3), (1, 2), (1, 3),
    /// (2, 3).
    pub(crate) weights: Vec<f64>,
    /// `[element][side]`: κ_f sJ τ.
    pub(crate) penalty: Vec<f64>,
    /// `[element][side]`: κ_f / κ; `None` if all are 1.
    pub(crate) ratio: Option<Vec<f64>>,
    /// `[element]`: λ J; `None` if λ = 0.
    pub(crate) reaction: Option<Vec<f64>>,
    /// `[element][side]`: the neighbour's number and the code.
    pub(crate) sides: Vec<u32>,
    /// For each code, the side's own order: first as seen from the other side,
    /// `[face of the neighbour][orientation]`, then for the element's own sides.
    pub(crate) nodes: Vec<Vec<usize>>,
    /// For each code, the edges from the face's vertices, in its own order, to the opposite vertex; and the
    /// side.
    pub(crate) edges: Vec<Vec<usize>>,
    pub(crate) side_of_code: Vec<usize>,
    /// For each node, its image when vertices 0 and 1 are exchanged.
    pub(crate) mirrored: Vec<usize>,
    /// Number of nodes of a face.
    pub(crate) n_face: usize,
    /// `∂_m − ∂_0` to orthonormal modes of order p − 1, m = 1 … dim: `[mode × node]`.
    pub(crate) gradient: Vec<Matrix>,
    /// `−½ γ (∂_last − ∂_c)` at the nodes of a face from the nodes in its own order.
    pub(crate) across: Matrix,
    /// `−½ γ (∂_i − ∂_last)` at the nodes of a face, from the nodes of the face.
    pub(crate) tangent: Vec<Matrix>,
    /// The mass matrix of each side, `[node × node of the face]`.
    pub(crate) mass: Vec<Matrix>,
    /// `½ γ ∫ ψ_k φ_a` of each side, `[mode × node of the face]`.
    pub(crate) lift: Vec<Matrix>,
    /// The mass matrix of the reference element.
    pub(crate) volume_mass: Matrix,
}

/// The edge between two vertices.
pub(crate) fn edge(dim: usize, a: usize, b: usize) -> usize {
    let (i, j) = (a.min(b), a.max(b));
    i * dim - i * i.saturating_sub(1) / 2 + j - i - 1
}

/// The kernels for a mesh with simplices.
pub(crate) enum OfSimplices {
    /// Not those of simplices: less than half of the mesh of all ranks are affine simplices of one shape, or
    /// coefficients vary within elements.
    No,
    /// Those of simplices, of which this rank has none.
    NoneHere,
    /// The tables of the simplices.
    Here(Box<Simplices>),
}

impl Sipdg<f64> {
    /// The tables of simplices. Collective.
    pub(crate) fn simplices(&self, layout: &DeviceLayout) -> Result<OfSimplices, OpsError> {
        let space = &self.space;
        let Some(chosen) = Chosen::new(space, layout)? else { return Ok(OfSimplices::No) };
        let tables = chosen.number.map(|number| {
            space.problem.host.install(|| Simplices::new(space, layout, number, &chosen.beside_others))
        });
        let mut tables = tables.flatten();
        // Facts of all simplices.
        let (stretched, n) = tables.as_ref().map_or((0, 0), |t| t.n_stretched);
        let [stretched, n] = space.totals([stretched, n])?;
        let differ = space.any(tables.as_ref().is_some_and(|t| t.ratio.is_some()))?;
        let Some(of) = &mut tables else { return Ok(OfSimplices::NoneHere) };
        of.stretched = 100 * stretched > n;
        if differ {
            of.ratio.get_or_insert_with(|| vec![1.0; of.n_elements * (of.dim + 1)]);
        }
        Ok(tables.map_or(OfSimplices::NoneHere, |tables| OfSimplices::Here(Box::new(tables))))
    }
}

/// The affine simplices of one shape that are most of the mesh.
struct Chosen {
    /// Their span on this rank, if it has any.
    number: Option<usize>,
    /// Which of them are beside other elements.
    beside_others: Vec<bool>,
}

impl Chosen {
    /// Collective.
    fn new(space: &Space<f64>, layout: &DeviceLayout) -> Result<Option<Self>, OpsError> {
        const KINDS: usize = 2 * Shape::ALL.len();
        let kind_of = |span: &DeviceSpan| {
            let (g, p) = span.place;
            let affine = space.groups[g].parts[p].spec.rule == MetricRule::Affine;
            let shape = Shape::ALL.iter().position(|&shape| shape == span.shape).unwrap_or(0);
            2 * shape + usize::from(!affine)
        };
        let counts = |element: &&u32| space.counts(**element as usize);
        let mut rows = [0; KINDS];
        for span in &layout.spans {
            rows[kind_of(span)] += span.elements.iter().filter(counts).count() * span.np;
        }
        let rows = space.totals(rows)?;
        let most = (0..KINDS).max_by_key(|&kind| rows[kind]).unwrap_or(0);
        let number = layout.spans.iter().position(|span| kind_of(span) == most);
        let (problem, shape) = (&space.problem, Shape::ALL[most / 2]);
        let here = number.map_or(0, |number| layout.spans[number].elements.len());
        let too_many = space.any(here >= 1 << (32 - CODE_BITS))?;
        if !matches!(shape, Shape::Triangle | Shape::Tetrahedron)
            || most % 2 == 1
            || !problem.kappa.is_piecewise_constant()
            || !problem.lambda.is_piecewise_constant()
            || too_many
        {
            return Ok(None);
        }
        let mut beside_others = Vec::new();
        let mut beside_rows = 0;
        if let Some(number) = number {
            let span = &layout.spans[number];
            let is_beside = |&element: &u32| {
                (0..shape.n_faces()).any(|f| match space.across(element as usize, f) {
                    Beyond::Element { side, .. } => layout.places[side.element as usize].0 as usize != number,
                    Beyond::Boundary(_) => false,
                })
            };
            beside_others = problem.host.install(|| span.elements.par_iter().map(is_beside).collect());
            let own = span.elements.iter().zip(&beside_others).filter(|(e, beside)| **beside && counts(e));
            beside_rows = own.count() * span.np;
        }
        let [beside_rows] = space.totals([beside_rows])?;
        let all: usize = rows.iter().sum();
        let recomputed = all - rows[most] + beside_rows;
        let few = recomputed as f64 <= OTHERS * all as f64;
        Ok(few.then_some(Self { number, beside_others }))
    }
}

impl Simplices {
    fn new(space: &Space<f64>, layout: &DeviceLayout, number: usize, beside_others: &[bool]) -> Option<Self> {
        let span = &layout.spans[number];
        let (g, p) = span.place;
        let group = &space.groups[g];
        let (shape, order) = (group.shape, space.order);
        let problem = &space.problem;
        let (dim, tables) = (shape.dim(), &space.tables[g][p]);
        let reference = &tables.reference;
        let vertices = shape.vertices();
        let order_of =
            |sigma: &[usize], nodes: &[[f64; 3]]| -> Option<Vec<usize>> { own_order(dim, sigma, nodes) };
        let nodes = reference.nodes.as_ref()?;
        // The vertices of each face, then the opposite one.
        let with_opposite = |mut face: Vec<usize>| -> Option<Vec<usize>> {
            let c = (0..=dim).find(|v| !face.contains(v))?;
            face.push(c);
            Some(face)
        };
        let mut face_of = vec![0; dim + 1];
        let mut own = vec![Vec::new(); dim + 1];
        let mut seen = Vec::new();
        for f in 0..=dim {
            let face = shape.face_vertices(f);
            let sigma = with_opposite(face.to_vec())?;
            face_of[sigma[dim]] = f;
            own[sigma[dim]].clone_from(&sigma);
            for k in 0..dim {
                seen.push(with_opposite((0..dim).map(|i| face[(k + dim - i) % dim]).collect())?);
            }
        }
        seen.extend(own.iter().cloned());
        let orders = seen.iter().map(|s| order_of(s, nodes)).collect::<Option<Vec<_>>>()?;
        let edges = seen.iter().map(|s| (0..dim).map(|i| edge(dim, s[dim], s[i])).collect()).collect();
        let side_of_code = seen.iter().map(|s| s[dim]).collect();

        // Matrices.
        let offsets = &reference.face_offsets;
        let gamma = dim as f64 * shape.measure() / shape.face_shape(0)?.measure();
        let along = |to: usize, from: usize, m: &[Matrix]| {
            (0..dim).fold(Matrix::zeros(m[0].rows(), m[0].cols()), |sum, d| {
                sum.add_scaled(vertices[to][d] - vertices[from][d], &m[d])
            })
        };
        let modes = OrthonormalBasis::new(shape, order - 1, Polynomials::Total);
        let project = modes.eval(&reference.volume.points).scale_rows(&reference.volume.weights).transpose();
        let gradient = (1..=dim).map(|m| clean(&project.mul(&along(m, 0, &reference.derivative)))).collect();
        let swapped: Vec<usize> = [1, 0].into_iter().chain(2..=dim).collect();
        let mirrored = (0..nodes.len()).map(|k| image(dim, &swapped, nodes, k)).collect::<Option<_>>()?;
        // The element in the order of a side: vertices 0 … dim − 1 are on the face.
        let identity: Vec<usize> = (0..=dim).collect();
        let canonical = order_of(&identity, nodes)?;
        let n_face = canonical.iter().filter(|&&n| barycentric(dim, nodes[n])[dim].abs() < SAME).count();
        let at: Vec<[f64; 3]> = canonical[..n_face].iter().map(|&n| nodes[n]).collect();
        let slopes = reference.gradient(&at);
        let ordered = |m: &Matrix, n: usize| Matrix::from_fn(m.rows(), n, |i, j| m[(i, canonical[j])]);
        let across = clean(&ordered(&along(dim - 1, dim, &slopes), reference.n_basis).scaled(-0.5 * gamma));
        let tangent = (0..dim - 1)
            .map(|i| clean(&ordered(&along(i, dim - 1, &slopes), n_face).scaled(-0.5 * gamma)))
            .collect();
        let (mut mass, mut lift) = (Vec::new(), Vec::new());
        for c in 0..=dim {
            let range = offsets[face_of[c]]..offsets[face_of[c] + 1];
            let own = &orders[dim * (dim + 1) + c];
            let values = &reference.interp_face;
            let trace = Matrix::from_fn(range.len(), n_face, |q, a| values[(range.start + q, own[a])]);
            let weighted = trace.scale_rows(&reference.face_weights[range.clone()]);
            let all = values.row_range(range.clone()).transpose().mul(&weighted);
            mass.push(clean(&all));
            let psi = modes.eval(&reference.face_points[range]).transpose();
            lift.push(clean(&psi.mul(&weighted).scaled(0.5 * gamma)));
        }

        // Elements.
        let corners: Vec<(usize, Vec<usize>)> = problem
            .mesh
            .sets
            .iter()
            .map(|set| {
                let points = lattice(shape, set.order);
                let close = |v: &[f64; 3], x: &[f64; 3]| (0..3).all(|d| (v[d] - x[d]).abs() < SAME);
                let corner = |v: &[f64; 3]| points.iter().position(|x| close(v, x)).unwrap_or(0);
                (set.order, vertices.iter().map(corner).collect())
            })
            .collect();
        let n_edges = dim * (dim + 1) / 2;
        let n = span.elements.len();
        let (mut weights, mut penalty) = (vec![0.0; n * n_edges], vec![0.0; n * (dim + 1)]);
        let (mut ratio, mut reaction) = (vec![1.0; n * (dim + 1)], vec![0.0; n]);
        let mut sides = vec![0; n * (dim + 1)];
        let is_one = |element: usize| layout.places[element].0 as usize == number;
        let faces = |element: usize| (0..=dim).map(move |f| space.across(element, f));
        let listed =
            |wanted: &dyn Fn(usize) -> bool| (0..n).filter(|&i| wanted(i)).map(|i| i as u32).collect();
        let beside: Vec<u32> = listed(&|i| beside_others[i]);
        let mut is_near = vec![false; n];
        for &i in &beside {
            for beyond in faces(span.elements[i as usize] as usize) {
                if let Beyond::Element { side, .. } = beyond
                    && is_one(side.element as usize)
                {
                    is_near[layout.places[side.element as usize].1 as usize] = true;
                }
            }
        }
        let near: Vec<u32> = listed(&|i| is_near[i] && !beside_others[i]);
        let stretched = AtomicUsize::new(0);
        let rows = weights
            .par_chunks_mut(n_edges)
            .zip(penalty.par_chunks_mut(dim + 1))
            .zip(ratio.par_chunks_mut(dim + 1))
            .zip(sides.par_chunks_mut(dim + 1))
            .zip(reaction.par_iter_mut())
            .zip(span.elements.par_iter());
        rows.enumerate().for_each(|(i, (((((weights, penalty), ratio), sides), reaction), &element))| {
            let element = element as usize;
            let x = space.nodes(element);
            let (set, _) = problem.mesh.locate(element);
            let corner: Vec<[f64; 3]> = corners[set].1.iter().map(|&k| x[k]).collect();
            let (slopes, volume) = barycentric_slopes(dim, &corner);
            let j = volume / shape.measure();
            let kappa = problem.kappa.at_point(element, &tables.kappa[1], 0);
            let dot = |a: usize, b: usize| (0..3).map(|d| slopes[a][d] * slopes[b][d]).sum::<f64>();
            for a in 0..=dim {
                for b in a + 1..=dim {
                    weights[edge(dim, a, b)] = -kappa * j * dot(a, b);
                }
            }
            let square =
                |a: usize, b: usize| (0..3).map(|d| (corner[a][d] - corner[b][d]).powi(2)).sum::<f64>();
            let longest = (0..=dim)
                .flat_map(|a| (0..a).map(move |b| (a, b)))
                .fold(0.0, |m: f64, (a, b)| m.max(square(a, b)));
            // The length of the gradient is the inverse of the height.
            let steepest = (0..=dim).fold(0.0, |m: f64, c| m.max(dot(c, c)));
            if longest * steepest > STRETCHED * STRETCHED && space.counts(element) {
                stretched.fetch_add(1, Ordering::Relaxed);
            }
            *reaction = j * (space.lambda_factor * problem.lambda.at_point(element, &tables.lambda, 0));
            for c in 0..=dim {
                let f = face_of[c];
                let surface = gamma * j * dot(c, c).sqrt();
                let (tau, of_face) = space.face_coefficients(element, f);
                let own = dim * (dim + 1) + c;
                let code;
                (penalty[c], ratio[c]) = (of_face[0] * surface * tau, of_face[0] / kappa);
                (sides[c], code) = match space.across(element, f) {
                    // Replaced by the universal kernels.
                    Beyond::Element { side, .. } if !is_one(side.element as usize) => {
                        (i as u32, own as u32 | OPPOSITE)
                    }
                    Beyond::Element { side, orientation } => {
                        let code = side.face as usize * dim + orientation as usize;
                        (layout.places[side.element as usize].1, code as u32)
                    }
                    Beyond::Boundary(b) => match problem.boundary(b) {
                        EllipticBoundary::Dirichlet => (i as u32, own as u32 | OPPOSITE),
                        EllipticBoundary::Neumann => {
                            penalty[c] = 0.0;
                            (i as u32, own as u32 | OWN)
                        }
                        EllipticBoundary::Robin { alpha } => {
                            penalty[c] = alpha * surface;
                            (i as u32, own as u32 | OWN)
                        }
                    },
                };
                sides[c] = sides[c] << CODE_BITS | code;
            }
        });
        Some(Self {
            dim,
            np: reference.n_basis,
            n_elements: n,
            span: number,
            first_row: span.first_row,
            beside,
            near,
            n_stretched: (
                stretched.into_inner(),
                span.elements.iter().filter(|&&element| space.counts(element as usize)).count(),
            ),
            stretched: false,
            weights,
            penalty,
            ratio: ratio.iter().any(|r| *r != 1.0).then_some(ratio),
            reaction: (!problem.lambda.is_zero()).then_some(reaction),
            sides,
            nodes: orders,
            edges,
            side_of_code,
            mirrored,
            n_face,
            gradient,
            across,
            tangent,
            mass,
            lift,
            volume_mass: reference.mass.clone(),
        })
    }
}

/// Barycentric coordinates of a reference point.
fn barycentric(dim: usize, x: [f64; 3]) -> Vec<f64> {
    let mut out: Vec<f64> = (0..dim).map(|d| 0.5 * (1.0 + x[d])).collect();
    out.insert(0, 1.0 - out.iter().sum::<f64>());
    out
}

/// The order of the nodes of an element with its vertices permuted by `sigma`, when the nodes of the face
/// opposite to the last vertex are listed first; `None` if the nodes are not symmetric.
fn own_order(dim: usize, sigma: &[usize], nodes: &[[f64; 3]]) -> Option<Vec<usize>> {
    let on_face = |n: &usize| barycentric(dim, nodes[*n])[dim].abs() < SAME;
    let (first, rest): (Vec<usize>, Vec<usize>) = (0..nodes.len()).partition(on_face);
    first.into_iter().chain(rest).map(|k| image(dim, sigma, nodes, k)).collect()
}

/// The node whose coordinate of vertex `sigma[i]` equals the coordinate of vertex i of node `k`.
fn image(dim: usize, sigma: &[usize], nodes: &[[f64; 3]], k: usize) -> Option<usize> {
    let of_k = barycentric(dim, nodes[k]);
    nodes.iter().position(|&x| {
        let at = barycentric(dim, x);
        (0..=dim).all(|i| (at[sigma[i]] - of_k[i]).abs() < SAME)
    })
}

/// The gradients of the barycentric coordinates of a simplex, and its measure.
fn barycentric_slopes(dim: usize, x: &[[f64; 3]]) -> (Vec<[f64; 3]>, f64) {
    let e: Vec<[f64; 3]> = (1..=dim).map(|i| std::array::from_fn(|d| x[i][d] - x[0][d])).collect();
    let cross = |a: &[f64; 3], b: &[f64; 3]| {
        [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
    };
    let (rows, determinant) = if dim == 2 {
        let det = e[0][0] * e[1][1] - e[0][1] * e[1][0];
        (vec![[e[1][1], -e[1][0], 0.0], [-e[0][1], e[0][0], 0.0]], det)
    } else {
        let rows = vec![cross(&e[1], &e[2]), cross(&e[2], &e[0]), cross(&e[0], &e[1])];
        let det = (0..3).map(|d| rows[0][d] * e[0][d]).sum();
        (rows, det)
    };
    let mut slopes: Vec<[f64; 3]> = rows.iter().map(|r| r.map(|v| v / determinant)).collect();
    slopes.insert(0, std::array::from_fn(|d| -slopes.iter().map(|s| s[d]).sum::<f64>()));
    (slopes, determinant / if dim == 2 { 2.0 } else { 6.0 })
}
