//! Operators of a part as products of sparse factors (sum factorisation on tensor shapes).
//!
//! A dense operator is a chain with one factor. On over-integrated tensor shapes, interpolation, projection
//! and the residual operator are products of one-dimensional operators, one direction after the other.
//! Collocated operators are sparse already.

use crate::lanes::panel::{Panels, Rows};
use crate::lanes::simd::PackScalar;
use dgsuite_basis::{Cubature, Matrix, ReferenceElement, TensorFactors};
use dgsuite_gpu::Scalar;

/// A product of factors, the first applied first.
#[derive(Clone, Debug, Default)]
pub(crate) struct Chain<T> {
    pub(crate) stages: Vec<Panels<T>>,
}

impl<T: Scalar> Chain<T> {
    /// Builds the chain from its factors; the second entry of each is the number of rows that follow one
    /// another along the first direction.
    pub(crate) fn new(factors: &[(Rows, usize)], max_rows: usize, width: usize) -> Self {
        Self { stages: factors.iter().map(|(m, line)| Panels::new(m, *line, max_rows, width)).collect() }
    }

    /// Columns of the product.
    pub(crate) fn cols(&self) -> usize {
        self.stages.first().map_or(0, Panels::cols)
    }

    /// Rows of the product.
    pub(crate) fn rows(&self) -> usize {
        self.stages.last().map_or(0, Panels::rows)
    }

    /// The largest number of rows between two factors.
    pub(crate) fn widest(&self) -> usize {
        self.stages.iter().map(Panels::rows).max().unwrap_or(0)
    }

    /// Memory in bytes.
    pub(crate) fn bytes(&self) -> usize {
        self.stages.iter().map(Panels::bytes).sum()
    }

    /// Multiply–adds per field.
    pub(crate) fn multiply_adds(&self) -> usize {
        self.stages.iter().map(Panels::multiply_adds).sum()
    }
}

/// The operators of one part.
pub(crate) struct Operators<T> {
    /// `I`.
    pub(crate) interp: Chain<T>,
    /// `[P_0 | … | −L]`.
    pub(crate) residual: Chain<T>,
    /// `Π`.
    pub(crate) project: Chain<T>,
    /// `I_f`.
    pub(crate) interp_face: Chain<T>,
}

/// The operators of one part as sparse factors. With each factor goes the number of rows that follow one
/// another along the first direction. The first factor of a chain is applied first.
pub(crate) struct Factors {
    /// `I`.
    pub(crate) interp: Vec<(Rows, usize)>,
    /// `[P_0 | … | −L]`.
    pub(crate) residual: Vec<(Rows, usize)>,
    /// `Π`.
    pub(crate) project: Vec<(Rows, usize)>,
    /// `I_f`.
    pub(crate) interp_face: Vec<(Rows, usize)>,
}

impl Factors {
    /// The factors of a reference element, given its volume matrices `P_d` of the form in use.
    pub(crate) fn new(reference: &ReferenceElement, volume: &[Matrix], weak: bool) -> Self {
        let np = reference.n_basis;
        let n = reference.tensor.as_ref().map_or(np, |t| t.n_basis_1d);
        let collocated = reference.spec.volume == Cubature::Collocated;
        let factored = reference.tensor.as_ref().filter(|_| !collocated && weak);
        match factored {
            Some(t) => {
                let faces = FaceFactors::new(reference, t);
                Self {
                    interp: interpolation(t, volume.len()),
                    project: projection(t, volume.len()),
                    residual: residual(t, &faces, volume.len()),
                    interp_face: faces.trace(),
                }
            }
            None => {
                let mut all = Rows::dense(&volume[0]);
                for m in &volume[1..] {
                    all = all.beside(&Rows::dense(m));
                }
                let all = all.beside(&Rows::dense(&reference.lift).negated());
                let points = reference.volume.points.len();
                Self {
                    interp: vec![(Rows::dense(&reference.interp_volume), points)],
                    project: vec![(Rows::dense(&reference.project_volume), np)],
                    residual: vec![(all, n)],
                    interp_face: vec![(Rows::dense(&reference.interp_face), reference.face_points.len())],
                }
            }
        }
    }
}

impl<T: PackScalar> Operators<T> {
    /// The chains of `factors`, in panels of at most `max_rows` rows for blocks of rows of `width` scalars.
    pub(crate) fn new(factors: &Factors, max_rows: usize, width: usize) -> Self {
        let chain = |factors: &[(Rows, usize)]| Chain::new(factors, max_rows, width);
        Self {
            interp: chain(&factors.interp),
            project: chain(&factors.project),
            residual: chain(&factors.residual),
            interp_face: chain(&factors.interp_face),
        }
    }
}

impl<T: PackScalar> Operators<T> {
    /// Memory in bytes.
    pub(crate) fn bytes(&self) -> usize {
        self.interp.bytes() + self.residual.bytes() + self.project.bytes() + self.interp_face.bytes()
    }

    /// Multiply–adds of a residual per element and field.
    pub(crate) fn multiply_adds(&self, collocated: bool, direct_traces: bool) -> usize {
        let interp = if collocated { 0 } else { self.interp.multiply_adds() };
        let trace = if direct_traces { 0 } else { self.interp_face.multiply_adds() };
        self.residual.multiply_adds() + interp + trace
    }
}

/// `A` along direction `d` of `dim`; identity matrices of the given sizes along the other directions.
fn along(a: &Matrix, d: usize, sizes: &[usize]) -> Rows {
    let mut out = Rows::identity(1);
    for (e, &n) in sizes.iter().enumerate().rev() {
        out = out.kron(&if e == d { Rows::dense(a) } else { Rows::identity(n) });
    }
    out
}

/// `I = I₁ ⊗ … ⊗ I₁`, first direction first.
fn interpolation(t: &TensorFactors, dim: usize) -> Vec<(Rows, usize)> {
    let (n, q) = (t.n_basis_1d, t.n_points_1d);
    let mut sizes = vec![n; dim];
    (0..dim)
        .map(|d| {
            let stage = along(&t.interp, d, &sizes);
            sizes[d] = q;
            (stage, q)
        })
        .collect()
}

/// `Π = Π₁ ⊗ … ⊗ Π₁`, last direction first.
fn projection(t: &TensorFactors, dim: usize) -> Vec<(Rows, usize)> {
    let (n, q) = (t.n_basis_1d, t.n_points_1d);
    let mut sizes = vec![q; dim];
    (0..dim)
        .rev()
        .map(|d| {
            let stage = along(&t.mass_project, d, &sizes);
            sizes[d] = n;
            (stage, if d == 0 { n } else { q })
        })
        .collect()
}

/// `Σ_d P_d F_d − L f*` in stages, last direction first. With the derivative factor `P` and the mass factor
/// `Π` of each direction, in three dimensions `P_r Π_s Π_t F_r + Π_r (P_s Π_t F_s + Π_s P_t F_t) − E Π_f f*`.
fn residual(t: &TensorFactors, faces: &FaceFactors, dim: usize) -> Vec<(Rows, usize)> {
    let (n, q) = (t.n_basis_1d, t.n_points_1d);
    let (p, m) = (&t.project, &t.mass_project);
    let lift = faces.lift.clone().negated();
    let keep = Rows::identity(faces.lift.cols);
    if dim == 2 {
        let sizes = [q, q];
        let first = along(m, 1, &sizes).and(&along(p, 1, &sizes)).and(&faces.project);
        let sizes = [q, n];
        let second = along(p, 0, &sizes).beside(&along(m, 0, &sizes)).beside(&lift);
        vec![(first, q), (second, n)]
    } else {
        let sizes = [q, q, q];
        let first =
            along(m, 2, &sizes).and(&along(m, 2, &sizes)).and(&along(p, 2, &sizes)).and(&faces.project);
        let sizes = [q, q, n];
        let sum = along(p, 1, &sizes).beside(&along(m, 1, &sizes));
        let second = along(m, 1, &sizes).and(&sum).and(&keep);
        let sizes = [q, n, n];
        let third = along(p, 0, &sizes).beside(&along(m, 0, &sizes)).beside(&lift);
        vec![(first, q), (second, q), (third, n)]
    }
}

/// Face operators split into a tangential and a normal factor.
pub(crate) struct FaceFactors {
    /// `E`, `[np × face functions]`: `M⁻¹ φ(±1)` in the normal direction.
    pub(crate) lift: Rows,
    /// Tangential projection, `[face functions × face points]`, one diagonal block for each face.
    pub(crate) project: Rows,
    /// `φ(±1)`, `[face functions × np]`.
    ends: Rows,
    /// Tangential interpolation, `[face points × face functions]`.
    interp: Rows,
}

impl FaceFactors {
    pub(crate) fn new(reference: &ReferenceElement, t: &TensorFactors) -> Self {
        let shape = reference.spec.shape;
        let (n, np, dim) = (t.n_basis_1d, reference.n_basis, shape.dim());
        let per_face = np / n;
        let cols = per_face * shape.n_faces();
        let mut lift = Rows { cols, rows: vec![Vec::new(); np] };
        let mut ends = Rows { cols: np, rows: Vec::new() };
        let mut project = Rows { cols: reference.face_points.len(), rows: Vec::new() };
        let mut interp = Rows { cols, rows: Vec::new() };
        for f in 0..shape.n_faces() {
            // The direction and the end that are constant on the face, from its normal.
            let normal = crate::space::geometry::reference_normal(shape, f);
            let d = (0..dim).find(|&d| normal[d].abs() > 0.5).unwrap_or(0);
            let end = usize::from(normal[d] > 0.0);
            let stride = n.pow(d as u32);
            // Functions of the face: the functions with index 0 in direction d, in their order.
            let roots: Vec<usize> = (0..np).filter(|i| (i / stride) % n == 0).collect();
            let largest = |v: &[f64]| (0..n).max_by(|&a, &b| v[a].abs().total_cmp(&v[b].abs())).unwrap_or(0);
            let (il, ie) = (largest(&t.lift[end]), largest(&t.ends[end]));
            let points = reference.face_offsets[f]..reference.face_offsets[f + 1];
            for (a, &root) in roots.iter().enumerate() {
                for i in 0..n {
                    let v = t.lift[end][i];
                    if v != 0.0 {
                        lift.rows[root + i * stride].push((f * per_face + a, v));
                    }
                }
                ends.rows.push(
                    (0..n).map(|i| (root + i * stride, t.ends[end][i])).filter(|e| e.1 != 0.0).collect(),
                );
                let row =
                    points.clone().map(|q| (q, reference.lift[(root + il * stride, q)] / t.lift[end][il]));
                project.rows.push(clean(row.collect()));
            }
            for q in points {
                let row = roots.iter().enumerate().map(|(a, &root)| {
                    (f * per_face + a, reference.interp_face[(q, root + ie * stride)] / t.ends[end][ie])
                });
                interp.rows.push(clean(row.collect()));
            }
        }
        Self { lift, project, ends, interp }
    }

    /// `I_f`: the normal direction first, then along the faces.
    fn trace(&self) -> Vec<(Rows, usize)> {
        let per_face = self.ends.rows.len().max(1);
        vec![(self.ends.clone(), per_face), (self.interp.clone(), self.interp.rows.len().max(1))]
    }
}

/// Removes entries of a row that are zero up to rounding.
fn clean(row: Vec<(usize, f64)>) -> Vec<(usize, f64)> {
    let largest = row.iter().fold(0.0_f64, |m, e| m.max(e.1.abs()));
    row.into_iter().filter(|e| e.1.abs() > 1e-14 * largest).collect()
}
