//! Operators in the layout of the tensor cores, for `simplex.cu`.
//!
//! In a product `C += A B` of the FP64 tensor cores, the rows of `A` and `C` are eight elements, the columns
//! of `A` four rows of the input, and the columns of `C` eight rows of the output. Lane `l` of a warp holds
//! `B[l % 4][l / 4]` and `C[l / 4][2 (l % 4) + {0, 1}]`. Rows are numbered ([`row`]) so that an entry of `C`,
//! where it is, is an entry of `A` in the next product; `fragments.cuh` has the same functions.

use crate::cuda::text::literals::rounded;
use crate::space::quadratic;
use dgsuite_basis::nodes::nodes;
use dgsuite_basis::{BasisError, ElementSpec, Matrix, NodeSet, ReferenceElement, Shape};

/// Number of lanes of a warp, and of entries of a fragment of an operator.
pub(crate) const LANES: usize = 32;
/// Traces that differ by less than this are the same function of the face's nodes.
const SAME_TRACE: f64 = 1e-10;

/// Number of tiles of eight rows for `n` rows.
pub(crate) const fn tiles(n: usize) -> usize {
    n.div_ceil(8)
}

/// Number of steps of four rows for `n` rows: two per tile, one if the last tile has at most four rows.
pub(crate) const fn steps(n: usize) -> usize {
    2 * tiles(n) - (!n.is_multiple_of(8) && n % 8 <= 4) as usize
}

/// The row of lane `j` of four in a step; `None` for padding.
pub(crate) const fn row(n: usize, step: usize, j: usize) -> Option<usize> {
    let first = step / 2 * 8;
    let half = n - first <= 4;
    let row = first + if half { j } else { 2 * j + step % 2 };
    if row < n && !(half && step % 2 == 1) { Some(row) } else { None }
}

/// The rows of an input of `n`, in the order in which a product adds them up: fused multiply-adds, which the
/// tensor cores perform one after the other.
pub(crate) fn sum_order(n: usize) -> Vec<usize> {
    (0..steps(n)).flat_map(|step| (0..4).filter_map(move |j| row(n, step, j))).collect()
}

/// The row of column `c` of a tile of the output.
const fn column(n: usize, tile: usize, c: usize) -> Option<usize> {
    row(n, 2 * tile + c % 2, c / 2)
}

/// The contents of columns of an operator that belong to no row of its output.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Padding {
    /// Zeros.
    Zero,
    /// A copy of the first row, so that the padding contains a valid state.
    First,
}

/// Appends the fragment of the operator `a` (`[output × input]`) from step `step` of its input to tile `tile`
/// of its output.
pub(crate) fn fragment(a: &Matrix, step: usize, tile: usize, padding: Padding, out: &mut Vec<f64>) {
    for lane in 0..LANES {
        let i = column(a.rows, tile, lane / 4).or((padding == Padding::First).then_some(0));
        let k = row(a.cols, step, lane % 4);
        out.push(i.zip(k).map_or(0.0, |(i, k)| a[(i, k)]));
    }
}

/// The operators of `simplex.cu` and the nodes of the faces.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct SimplexTables {
    /// Interpolation to volume points `[tile][step]` unless collocated, face nodes to face points
    /// `[tile][step]` unless they are the same, −lift `[face][step][tile]`, for the weight-adjusted rule `Π`
    /// `[step][tile]`, `∫ φ` and the constant 1 `[basis function]` and the places of points (see
    /// `quadratic.rs`), projections `[step][tile][direction]`.
    pub(crate) entries: Vec<f64>,
    /// Offset of the projections; they may stay in global memory.
    pub(crate) project_at: usize,
    /// The nodes of each face, in the order of the face's frame.
    pub(crate) face_nodes: Vec<Vec<usize>>,
    /// Whether face points are interpolated from face nodes.
    pub(crate) face_interp: bool,
}

impl SimplexTables {
    /// The tables of a nodal triangle or tetrahedron with the node family `set`. `project` are the matrices
    /// by which the fluxes of each direction are multiplied, `[basis function × volume point]`; `weighted`
    /// adds the tables of the weight-adjusted rule.
    ///
    /// Returns `None` if the kernel does not support the element: if traces depend on more than the nodes on
    /// a face.
    ///
    /// # Errors
    /// As [`ReferenceElement::new`], if the shape has no such nodes.
    pub(crate) fn new(
        reference: &ReferenceElement,
        set: NodeSet,
        project: &[Matrix],
        weighted: bool,
    ) -> Result<Option<Self>, BasisError> {
        let Some(face_nodes) = face_nodes(reference, set)? else { return Ok(None) };
        let Some(interp) = face_interpolation(reference, &face_nodes) else { return Ok(None) };
        let face_interp = reference.face_nodes.is_none();

        let mut entries = Vec::new();
        let np = reference.n_basis;
        let volume = &reference.interp_volume;
        if *volume != Matrix::identity(np) {
            for (tile, step) in pairs(tiles(volume.rows), steps(np)) {
                fragment(volume, step, tile, Padding::First, &mut entries);
            }
        }
        if face_interp {
            for (tile, step) in pairs(tiles(interp.rows), steps(interp.cols)) {
                fragment(&interp, step, tile, Padding::First, &mut entries);
            }
        }
        for range in reference.face_offsets.windows(2) {
            let lift = Matrix::from_fn(np, range[1] - range[0], |i, k| -reference.lift[(i, range[0] + k)]);
            for (step, tile) in pairs(steps(lift.cols), tiles(np)) {
                fragment(&lift, step, tile, Padding::Zero, &mut entries);
            }
        }
        if weighted {
            weight_adjusted(reference, &mut entries);
            entries.extend(quadratic::places(reference));
        }
        let project_at = entries.len();
        for (step, tile) in pairs(steps(volume.rows), tiles(np)) {
            for p in project {
                fragment(p, step, tile, Padding::Zero, &mut entries);
            }
        }
        Ok(Some(Self { entries, project_at, face_nodes, face_interp }))
    }
}

/// The operators of the weight-adjusted rule in addition to the interpolation to volume points: `Π`
/// `[step][tile]`, `∫ φ` and the constant 1 `[basis function]`.
pub(crate) fn weight_adjusted(reference: &ReferenceElement, entries: &mut Vec<f64>) {
    let volume = &reference.interp_volume;
    for (step, tile) in pairs(steps(volume.rows), tiles(reference.n_basis)) {
        fragment(&reference.project_volume, step, tile, Padding::Zero, entries);
    }
    entries.extend(volume.transpose().mul_vec(&reference.volume.weights));
    entries.extend(reference.project_volume.mul_vec(&vec![1.0; volume.rows]));
}

pub(crate) fn pairs(n: usize, m: usize) -> impl Iterator<Item = (usize, usize)> {
    (0..n).flat_map(move |i| (0..m).map(move |j| (i, j)))
}

/// The element's nodes on each face, in the order of a collocated element with the same nodes; `None` if a
/// face has no nodes. Gauss–Legendre nodes of simplices are those of warp & blend where there are no others.
pub(crate) fn face_nodes(
    reference: &ReferenceElement,
    set: NodeSet,
) -> Result<Option<Vec<Vec<usize>>>, BasisError> {
    let ElementSpec { shape, order, .. } = reference.spec;
    let simplex = matches!(shape, Shape::Triangle | Shape::Tetrahedron);
    let set = match set {
        NodeSet::GaussLegendre
            if simplex && reference.nodes == Some(nodes(shape, order, NodeSet::WarpBlend)?) =>
        {
            NodeSet::WarpBlend
        }
        set => set,
    };
    Ok(ReferenceElement::new(&ElementSpec::collocated(shape, order, set))?.face_nodes)
}

/// The matrix from the nodes of a face to its points, with zeros where it is zero up to rounding; `None` if
/// faces differ or depend on other nodes.
pub(crate) fn face_interpolation(reference: &ReferenceElement, face_nodes: &[Vec<usize>]) -> Option<Matrix> {
    let offsets = &reference.face_offsets;
    let of = |f: usize, q: usize, n: usize| reference.interp_face[(offsets[f] + q, face_nodes[f][n])];
    let first = Matrix::from_fn(offsets[1], face_nodes[0].len(), |q, n| of(0, q, n));
    for (f, nodes) in face_nodes.iter().enumerate() {
        let n_points = offsets[f + 1] - offsets[f];
        let same = n_points == first.rows && nodes.len() == first.cols;
        let own = |q: usize| (0..first.cols).all(|n| (of(f, q, n) - first[(q, n)]).abs() < SAME_TRACE);
        let other = |q: usize| {
            (0..reference.n_basis)
                .filter(|i| !nodes.contains(i))
                .all(|i| reference.interp_face[(offsets[f] + q, i)].abs() < SAME_TRACE)
        };
        if !same || !(0..n_points).all(|q| own(q) && other(q)) {
            return None;
        }
    }
    Some(rounded(&first))
}

#[cfg(test)]
mod tests {
    use super::*;
    use dgsuite_basis::{Correction, Cubature, Polynomials, Representation, Shape};

    /// The values that the lanes of a warp hold of the rows of eight elements: `[step][lane]`.
    type Held = Vec<[f64; LANES]>;

    /// Distributes the rows of eight elements over a warp, as the kernel reads them.
    fn hold(rows: usize, value: impl Fn(usize, usize) -> f64) -> Held {
        let entry = |s: usize, lane: usize| value(lane / 4, row(rows, s, lane % 4).unwrap_or(0));
        (0..steps(rows)).map(|s| std::array::from_fn(|lane| entry(s, lane))).collect()
    }

    /// `C += A B` of the tensor cores, from the definition of their operands.
    fn multiply(c: &mut [[f64; LANES]; 2], a: &[f64; LANES], b: &[f64]) {
        for lane in 0..LANES {
            for (i, c) in c.iter_mut().enumerate() {
                let column = 2 * (lane % 4) + i;
                c[lane] += (0..4).map(|k| a[lane / 4 * 4 + k] * b[column * 4 + k]).sum::<f64>();
            }
        }
    }

    /// Accumulates a product with an operator whose fragments are `[tile][step]` or `[step][tile]`.
    fn product(
        fragments: &[f64],
        held: &Held,
        out: &mut Held,
        n_tiles: usize,
        at: impl Fn(usize, usize) -> usize,
    ) {
        for tile in 0..n_tiles {
            let mut c = [[0.0; LANES]; 2];
            for (step, a) in held.iter().enumerate() {
                multiply(&mut c, a, &fragments[at(tile, step) * LANES..][..LANES]);
            }
            for (out, c) in out[2 * tile..].iter_mut().zip(&c) {
                out.iter_mut().zip(c).for_each(|(o, c)| *o += c);
            }
        }
    }

    fn element(shape: Shape, order: usize, volume: Cubature, face: Cubature) -> ReferenceElement {
        let representation = Representation::Nodal(NodeSet::WarpBlend);
        let polynomials = Polynomials::Tensor;
        let correction = Correction::Dg;
        let spec = ElementSpec { shape, order, polynomials, representation, volume, face, correction };
        ReferenceElement::new(&spec).unwrap()
    }

    #[test]
    fn every_row_is_held_once() {
        for n in 1..100 {
            let mut rows: Vec<_> =
                (0..steps(n)).flat_map(|s| (0..4).filter_map(move |j| row(n, s, j))).collect();
            rows.sort_unstable();
            assert_eq!(rows, (0..n).collect::<Vec<_>>());
            let columns = (0..tiles(n)).flat_map(|t| (0..8).filter_map(move |c| column(n, t, c))).count();
            assert_eq!(columns, n);
        }
    }

    #[test]
    fn chained_products_are_those_of_the_dense_matrices() {
        let value = |e: usize, i: usize| ((e * 37 + i * 11) % 17) as f64 - 8.0;
        let cases = [(Shape::Triangle, 1..=6, 1), (Shape::Tetrahedron, 1..=4, 0)];
        for (shape, order, more) in cases.into_iter().flat_map(|(s, o, m)| o.map(move |o| (s, o, m))) {
            let r = element(shape, order, Cubature::Degree(2 * order), Cubature::Degree(2 * order + more));
            let t = SimplexTables::new(&r, NodeSet::WarpBlend, &r.project, false).unwrap().unwrap();
            let (np, nq, dim) = (r.n_basis, r.volume.len(), shape.dim());
            let nodes = hold(np, value);

            // States at volume points; then, for each direction d, (d + 1) times the state as a flux,
            // projected.
            let mut points = vec![[0.0; LANES]; steps(nq)];
            product(&t.entries, &nodes, &mut points, tiles(nq), |tile, step| tile * steps(np) + step);
            let mut rate = vec![[0.0; LANES]; steps(np)];
            for d in 0..dim {
                let flux: Held = points.iter().map(|p| p.map(|x| (d + 1) as f64 * x)).collect();
                let at = |tile: usize, step: usize| (step * tiles(np) + tile) * dim + d;
                product(&t.entries[t.project_at..], &flux, &mut rate, tiles(np), at);
            }
            // Traces from face nodes, then lifted.
            let (nn, ng) = (t.face_nodes[0].len(), r.face_offsets[1]);
            let face_at = tiles(nq) * steps(np) * LANES;
            let lift_at = face_at + if t.face_interp { tiles(ng) * steps(nn) * LANES } else { 0 };
            for (face, own) in t.face_nodes.iter().enumerate() {
                let mut trace = hold(nn, |e, n| value(e, own[n]));
                if t.face_interp {
                    let mut at_points = vec![[0.0; LANES]; steps(ng)];
                    product(&t.entries[face_at..], &trace, &mut at_points, tiles(ng), |t, s| {
                        t * steps(nn) + s
                    });
                    trace = at_points;
                }
                let at = |tile: usize, step: usize| (face * steps(ng) + step) * tiles(np) + tile;
                product(&t.entries[lift_at..], &trace, &mut rate, tiles(np), at);
            }

            // Σ_d (d + 1) P_d I − L I_f.
            let mut dense = r.lift.mul(&r.interp_face).scaled(-1.0);
            for d in 0..dim {
                dense = dense.add_scaled((d + 1) as f64, &r.project[d].mul(&r.interp_volume));
            }
            for (s, j, lane) in (0..steps(np)).flat_map(|s| (0..LANES).map(move |l| (s, l % 4, l))) {
                let Some(i) = row(np, s, j) else { continue };
                let exact: f64 = (0..np).map(|k| dense[(i, k)] * value(lane / 4, k)).sum();
                assert!((rate[s][lane] - exact).abs() < 1e-10 * dense.max_abs(), "{shape:?} {order} row {i}");
            }
        }
    }

    #[test]
    fn padding_of_states_is_the_first_row() {
        let r = element(Shape::Triangle, 2, Cubature::Degree(4), Cubature::Degree(5));
        let t = SimplexTables::new(&r, NodeSet::WarpBlend, &r.project, false).unwrap().unwrap();
        let mut points = vec![[0.0; LANES]; 2];
        product(&t.entries, &hold(6, |_, _| 1.0), &mut points, 1, |_, step| step);
        // Six points fill three of four lanes; the fourth has the first point's state, not zero.
        assert!(points.iter().flatten().all(|x| (x - 1.0).abs() < 1e-13));
    }

    #[test]
    fn elements_without_nodes_on_faces_are_left_to_others() {
        let r = ReferenceElement::new(&ElementSpec::over_integrated(Shape::Triangle, 2)).unwrap();
        assert_eq!(SimplexTables::new(&r, NodeSet::WarpBlend, &r.project, false).unwrap(), None);
    }
}
