//! The lifted gradient on tensor shapes as sparse factors, one direction at a time.
//!
//! The factor of direction `e` interpolates values and differentiates them along `e`, interpolates the
//! gradients of the directions before, adds the jumps of the two faces at the ends of direction `e` to its
//! gradient, and interpolates the jumps of the other faces along these faces. Along a direction that is not
//! yet interpolated there are `n` functions, along others `q` points.

use super::own_liftings;
use crate::lanes::panel::Rows;
use crate::space::chain::FaceFactors;
use crate::space::geometry::reference_normal;
use dgsuite_basis::{ReferenceElement, TensorFactors};

/// Direction and end (0 or 1) of a face of a tensor shape, and `N̂` along that direction.
fn closing(reference: &ReferenceElement, f: usize) -> (usize, usize, f64) {
    let normal = reference_normal(reference.spec.shape, f);
    let d = (0..3).find(|&d| normal[d].abs() > 0.5).unwrap_or(0);
    (d, usize::from(normal[d] > 0.0), normal[d])
}

/// A part of the columns: a tensor of the given sizes, first direction fastest.
#[derive(Clone)]
struct Stream {
    first: usize,
    sizes: Vec<usize>,
}

impl Stream {
    fn len(&self) -> usize {
        self.sizes.iter().product()
    }

    fn column(&self, index: &[usize]) -> usize {
        let flat = index.iter().zip(&self.sizes).rev().fold(0, |at, (&i, &n)| at * n + i);
        self.first + flat
    }

    /// All indices of a tensor.
    fn indices(sizes: &[usize]) -> Vec<Vec<usize>> {
        let all = (0..sizes.iter().product()).map(|mut flat: usize| {
            sizes
                .iter()
                .map(|&n| {
                    let i = flat % n;
                    flat /= n;
                    i
                })
                .collect()
        });
        all.collect()
    }
}

/// From `[u; [u]_f]` to `u` and `g_d` at the volume points.
pub(super) fn gradient(reference: &ReferenceElement, t: &TensorFactors) -> Vec<(Rows, usize)> {
    let dim = reference.spec.shape.dim();
    let (n, q, np) = (t.n_basis_1d, t.n_points_1d, reference.n_basis);
    let project = FaceFactors::new(reference, t).project;
    let (n_faces, per_face) = (reference.spec.shape.n_faces(), np / n);
    let mut stages = vec![(Rows::identity(np).and(&project), n)];
    let mut values = Stream { first: 0, sizes: vec![n; dim] };
    let mut gradients: Vec<Stream> = Vec::new();
    let mut faces: Vec<(usize, Stream)> =
        (0..n_faces).map(|f| (f, Stream { first: np + f * per_face, sizes: vec![n; dim - 1] })).collect();
    let mut cols = np + project.rows.len();
    for e in 0..dim {
        let mut rows: Vec<Vec<(usize, f64)>> = Vec::new();
        let mut interpolate = |s: &Stream, along: usize| {
            let mut sizes = s.sizes.clone();
            sizes[along] = q;
            let out = Stream { first: rows.len(), sizes };
            rows.extend(Stream::indices(&out.sizes).into_iter().map(|index| {
                let entry = |j: usize| {
                    let mut from = index.clone();
                    from[along] = j;
                    (s.column(&from), t.interp[(index[along], j)])
                };
                (0..n).map(entry).collect()
            }));
            out
        };
        let next = interpolate(&values, e);
        let mut done: Vec<Stream> = gradients.iter().map(|g| interpolate(g, e)).collect();
        // The gradient along this direction.
        let gradient = Stream { first: rows.len(), sizes: next.sizes.clone() };
        rows.extend(Stream::indices(&gradient.sizes).into_iter().map(|index| {
            let mut row: Vec<(usize, f64)> = (0..n)
                .map(|j| {
                    let mut from = index.clone();
                    from[e] = j;
                    (values.column(&from), t.derivative[(index[e], j)])
                })
                .collect();
            let mut along_face = index.clone();
            along_face.remove(e);
            for (f, s) in &faces {
                let (d, end, normal) = closing(reference, *f);
                if d == e {
                    let lifted: f64 = (0..n).map(|j| t.interp[(index[e], j)] * t.lift[end][j]).sum();
                    row.push((s.column(&along_face), normal * lifted));
                }
            }
            row
        }));
        done.push(gradient);
        let rest: Vec<(usize, Stream)> = faces
            .iter()
            .filter(|(f, _)| closing(reference, *f).0 > e)
            .map(|(f, s)| {
                // Directions before the normal keep their position along the face.
                let mut sizes = s.sizes.clone();
                sizes[e] = q;
                let out = Stream { first: rows.len(), sizes };
                rows.extend(Stream::indices(&out.sizes).into_iter().map(|index| {
                    let entry = |j: usize| {
                        let mut from = index.clone();
                        from[e] = j;
                        (s.column(&from), t.interp[(index[e], j)])
                    };
                    (0..n).map(entry).collect()
                }));
                (*f, out)
            })
            .collect();
        for row in &mut rows {
            row.retain(|entry| entry.1 != 0.0);
            row.sort_unstable_by_key(|entry| entry.0);
        }
        let count = rows.len();
        stages.push((Rows { cols, rows }, q));
        (values, gradients, faces, cols) = (next, done, rest, count);
    }
    debug_assert!(gradients.iter().all(|g| g.len() == values.len()));
    stages
}

/// From `[u; [u]_f]` to `g_d^f` at the face points: first values and normal derivatives on the faces, then
/// interpolation along the faces.
pub(super) fn face_gradient(reference: &ReferenceElement, t: &TensorFactors, eta: f64) -> Vec<(Rows, usize)> {
    let shape = reference.spec.shape;
    let dim = shape.dim();
    let (n, np, nf) = (t.n_basis_1d, reference.n_basis, reference.face_points.len());
    let per_face = np / n;
    let slopes = reference.gradient(&reference.face_points);
    let own = Rows::dense(&own_liftings(reference, eta));
    let largest = |v: &[f64]| (0..v.len()).max_by(|&a, &b| v[a].abs().total_cmp(&v[b].abs())).unwrap_or(0);
    // First stage: values of face functions, their normal derivatives, liftings on their own faces.
    let (mut values, mut normals) = (Vec::new(), Vec::new());
    // Second stage, `[d][point]`.
    let mut second = vec![vec![Vec::new(); nf]; dim];
    let clean = |mut row: Vec<(usize, f64)>| {
        let largest = row.iter().fold(0.0_f64, |m, e| m.max(e.1.abs()));
        row.retain(|e| e.1.abs() > 1e-14 * largest);
        row
    };
    let total = shape.n_faces() * per_face;
    for f in 0..shape.n_faces() {
        let (d, end, normal) = closing(reference, f);
        let stride = n.pow(d as u32);
        let roots: Vec<usize> = (0..np).filter(|i| (i / stride) % n == 0).collect();
        let points = reference.face_offsets[f]..reference.face_offsets[f + 1];
        let at = largest(&t.ends[end]);
        let along = |q: usize, a: usize| reference.interp_face[(q, roots[a] + at * stride)] / t.ends[end][at];
        // Derivatives of the one-dimensional functions at the end, where the face's function is largest.
        let first = points.start;
        let a0 = largest(&(0..per_face).map(|a| along(first, a)).collect::<Vec<_>>());
        let end_slopes: Vec<f64> =
            (0..n).map(|i| slopes[d][(first, roots[a0] + i * stride)] / along(first, a0)).collect();
        for &root in &roots {
            let line = |v: &[f64]| clean((0..n).map(|i| (root + i * stride, v[i])).collect());
            values.push(line(&t.ends[end]));
            normals.push(line(&end_slopes));
        }
        for q in points {
            for (e, second) in second.iter_mut().enumerate() {
                let column = |a: usize| f * per_face + a;
                let mut row: Vec<(usize, f64)> = if e == d {
                    (0..per_face).map(|a| (total + column(a), along(q, a))).collect()
                } else {
                    let slope = |a: usize| slopes[e][(q, roots[a] + at * stride)] / t.ends[end][at];
                    (0..per_face).map(|a| (column(a), slope(a))).collect()
                };
                row = clean(row);
                if e == d {
                    row.push((2 * total + q, normal));
                }
                second[q] = row;
            }
        }
    }
    values.append(&mut normals);
    let on_faces = Rows { cols: np, rows: values }.and(&own);
    let rows = second.into_iter().flatten().collect();
    vec![(on_faces, per_face), (Rows { cols: 2 * total + nf, rows }, nf / shape.n_faces())]
}
