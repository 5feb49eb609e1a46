//! Affine triangles and tetrahedra with constant coefficients, with modes of the gradient.
//!
//! This form is used beside other elements, and at high orders; groups of such simplices alone use the
//! Bernstein form ([`super::bernstein`]). The gradient is a polynomial of order p − 1 and is stored as
//! orthonormal modes `g_a` along directions a of the reference element. The conormal derivative, and the test
//! of the element's own face terms, are products with the traces R of these few modes,
//!
//! ```text
//! p_f = R_f Σ_a c_fa g_a,     A u = Σ_a D_aᵀ ( Σ_b G_ab g_b − ½ Σ_f c_fa R_fᵀ W_f j_f ) + I_fᵀ W_f y,
//! ```
//!
//! with `c_fa = κ_f sJ n·∇r_a`, the jumps `j` and `y = κ_f sJ τ j − ½ (p⁻ − p⁺)`. All products except the
//! traces are between functions that reflections keep or reverse ([`super::reflections`]).

use super::point_kernels::FaceCoefficients;
use super::reflections::{Reflections, directions};
use super::tables::{Tables, clean, frame};
use crate::lanes::panel::{Panels, Rows};
use crate::lanes::simd::{Kernel, Pack, PackScalar, compiled};
use crate::space::chain::Chain;
use dgsuite_basis::{Matrix, OrthonormalBasis, Polynomials, Shape};

compiled! {
    face_fluxes: FaceFluxes,
    divergence: Divergence,
    jumps: Jumps,
}

/// Largest number of faces of a simplex.
const MAX_FACES: usize = 4;

/// Operators of a simplex.
pub(super) struct Simplex<T> {
    pub(super) reflections: Reflections,
    /// `D`, from classes of nodes to classes of modes.
    pub(super) gradient: Chain<T>,
    /// `Dᵀ`, and the mass matrix if there are values.
    pub(super) test: Chain<T>,
    /// `I_f`.
    pub(super) trace: Chain<T>,
    /// `R`, from `[face][mode]`.
    pub(super) normal: Chain<T>,
    /// `Rᵀ W_f`, to `[face][mode]`.
    pub(super) lift: Chain<T>,
    /// `I_fᵀ W_f`.
    pub(super) surface: Panels<T>,
    pub(super) frames: Frames<T>,
}

/// Conversion of stored coefficients to the directions a.
pub(super) struct Frames<T> {
    dim: usize,
    n_faces: usize,
    /// Row of `∂_a` of each mode, `[mode][a]`.
    rows: Vec<u32>,
    /// `c_fa` from the factors of derivatives along the face's frame, `[face][a][m]`.
    conormal: Vec<T>,
    /// `G_ab` from `G_de`, `[a ≤ b][d ≤ e]`.
    metric: Vec<T>,
}

impl<T: PackScalar> Simplex<T> {
    /// Returns `None` for other shapes, and if the nodes are not symmetric.
    pub(super) fn new(tables: &Tables, values: bool, max_rows: usize, lanes: usize) -> Option<Self> {
        let reference = &tables.reference;
        let shape = reference.spec.shape;
        if !matches!(shape, Shape::Triangle | Shape::Tetrahedron) {
            return None;
        }
        let (dim, np) = (shape.dim(), reference.n_basis);
        let reflections = Reflections::new(shape, reference.nodes.as_ref()?)?;
        let along = directions(shape);
        let back = along.inverse().ok()?;

        let basis = OrthonormalBasis::new(shape, reference.spec.order - 1, Polynomials::Total);
        let (points, w) = (&reference.volume.points, &reference.volume.weights);
        let (modes, classes) = Reflections::modes(shape, points, w, |x| basis.eval(x));
        let n_modes = modes.cols();
        // S⁻¹ = Sᵀ / (size of the orbit).
        let s = reflections.matrix();
        let sizes: Vec<f64> = (0..np).map(|i| 1.0 / s.row(i).iter().map(|x| x * x).sum::<f64>()).collect();
        let inverse = s.transpose().scale_cols(&sizes);
        let project = modes.transpose().mul(&basis.eval(points).scale_rows(w).transpose());
        let slopes: Vec<Matrix> = (0..dim)
            .map(|a| {
                let mut sum = Matrix::zeros(points.len(), np);
                for d in 0..dim {
                    sum = sum.add_scaled(along[(a, d)], &reference.derivative[d]);
                }
                clean(&project.mul(&sum).mul(&inverse))
            })
            .collect();

        // Class by class of the nodes, so that the rows of a class share their columns.
        let mut gradient = Rows { cols: np, rows: Vec::new() };
        let mut rows = vec![0; n_modes * dim];
        let mut test = vec![Vec::new(); np];
        for c in reflections.classes.windows(2) {
            for (a, slopes) in slopes.iter().enumerate() {
                for m in classes.windows(2) {
                    let entry = |i: usize, j: usize| slopes[(i, j)];
                    if (m[0]..m[1]).all(|i| (c[0]..c[1]).all(|j| entry(i, j) == 0.0)) {
                        continue;
                    }
                    for i in m[0]..m[1] {
                        let row = gradient.rows.len();
                        rows[i * dim + a] = row as u32;
                        gradient.rows.push((c[0]..c[1]).map(|j| (j, entry(i, j))).collect());
                        (c[0]..c[1]).for_each(|j| test[j].push((row, entry(i, j))));
                    }
                }
            }
        }
        if gradient.rows.len() != n_modes * dim {
            return None;
        }
        let mut test = Rows { cols: n_modes * dim, rows: test };
        if values {
            let mass = inverse.transpose().mul(&reference.mass).mul(&inverse);
            let mut of_classes = Rows { cols: np, rows: Vec::new() };
            for c in reflections.classes.windows(2) {
                let row = |i: usize| (c[0]..c[1]).map(|j| (j, mass[(i, j)])).collect();
                of_classes.rows.extend((c[0]..c[1]).map(row));
            }
            test = test.beside(&of_classes);
        }

        let offsets = &reference.face_offsets;
        let n_faces = offsets.len() - 1;
        let weights = &reference.face_weights;
        let traces = basis.eval(&reference.face_points).mul(&modes);
        let (mut normal, mut lift) = (Rows::default(), Rows::default());
        (normal.cols, lift.cols) = (n_faces * n_modes, traces.rows());
        for (f, o) in offsets.windows(2).enumerate() {
            for q in o[0]..o[1] {
                normal.rows.push((0..n_modes).map(|m| (f * n_modes + m, traces[(q, m)])).collect());
            }
            for m in 0..n_modes {
                lift.rows.push((o[0]..o[1]).map(|q| (q, traces[(q, m)] * weights[q])).collect());
            }
        }
        let trace = clean(&reference.interp_face);
        let chain = |m: &Rows| Chain::new(&[(m.clone(), m.rows.len())], max_rows, lanes);
        let mut surface = Rows { cols: traces.rows(), rows: vec![Vec::new(); np] };
        for o in offsets.windows(2) {
            for (i, row) in surface.rows.iter_mut().enumerate() {
                if (o[0]..o[1]).any(|q| trace[(q, i)] != 0.0) {
                    row.extend((o[0]..o[1]).map(|q| (q, trace[(q, i)] * weights[q])));
                }
            }
        }
        let back_to = |d: usize, a: usize| back[(d, a)];
        let mut conormal = Vec::new();
        for f in 0..n_faces {
            let frame = frame(shape, f);
            for a in 0..dim {
                conormal.extend(
                    (0..dim).map(|m| T::from_f64((0..dim).map(|d| back_to(d, a) * frame[m][d]).sum())),
                );
            }
        }
        let mut metric = Vec::new();
        for a in 0..dim {
            for b in a..dim {
                for d in 0..dim {
                    for e in d..dim {
                        let once = back_to(d, a) * back_to(e, b);
                        let other = if d == e { 0.0 } else { back_to(e, a) * back_to(d, b) };
                        metric.push(T::from_f64(once + other));
                    }
                }
            }
        }
        Some(Self {
            gradient: chain(&gradient),
            test: chain(&test),
            trace: chain(&super::part::alike(&trace, offsets)),
            normal: chain(&normal),
            lift: chain(&lift),
            surface: Panels::by_columns(&surface, offsets, max_rows, lanes),
            frames: Frames { dim, n_faces, rows, conormal, metric },
            reflections,
        })
    }

    /// Number of rows of the gradient.
    pub(super) fn gradient_rows(&self) -> usize {
        self.gradient.rows()
    }

    /// Number of rows between faces and modes.
    pub(super) fn face_rows(&self) -> usize {
        self.lift.rows()
    }

    fn chains(&self) -> [&Chain<T>; 5] {
        [&self.gradient, &self.test, &self.trace, &self.normal, &self.lift]
    }

    pub(super) fn bytes(&self) -> usize {
        self.chains().iter().map(|c| c.bytes()).sum::<usize>() + self.surface.bytes()
    }

    /// Multiply–adds per element.
    pub(super) fn multiply_adds(&self) -> usize {
        let Frames { dim, n_faces, .. } = self.frames;
        let of_mode = dim * dim + 2 * n_faces * dim;
        let chains: usize = self.chains().iter().map(|c| c.multiply_adds()).sum();
        chains + self.surface.multiply_adds() + of_mode * self.gradient.rows() / dim
    }
}

impl<T: PackScalar> Frames<T> {
    /// `c_fa` of a face from the rows of coefficients.
    ///
    /// # Safety
    /// `rows` points to a row for each face, and `f` is one.
    #[inline(always)]
    unsafe fn conormal<V: Pack<T = T>, const D: usize>(&self, rows: *const T, f: usize) -> [V; D] {
        // SAFETY: D × D factors a face, D + 1 packs a row.
        unsafe {
            let rows = rows.add(f * (D + 1) * V::W);
            let factors = self.conormal.as_ptr().add(f * D * D);
            let mut out = [V::lit(0.0); D];
            for m in 0..D {
                let along = V::load(rows.add(m * V::W));
                for a in 0..D {
                    out[a] = V::broadcast(factors.add(a * D + m)).mul_add(along, out[a]);
                }
            }
            out
        }
    }

    fn check(&self, width: usize, gradient: usize, of_faces: usize, faces: usize) {
        let d = self.dim;
        let n_modes = self.rows.len() / d;
        assert!(self.n_faces == d + 1 && self.conormal.len() == self.n_faces * d * d);
        assert!(gradient >= n_modes * d * width && of_faces >= self.n_faces * n_modes * width);
        assert!(faces >= self.n_faces * (d + 1) * width);
    }
}

/// `Σ_a c_fa g_a`, `[face][mode][lane]`.
pub(crate) struct FaceFluxes<'a, T> {
    pub(super) frames: &'a Frames<T>,
    /// Rows of [`FaceCoefficients`].
    pub(super) faces: &'a [T],
    pub(super) gradient: &'a [T],
    pub(super) out: &'a mut [T],
}

impl<T: PackScalar> Kernel<T> for FaceFluxes<'_, T> {
    #[inline(always)]
    fn run<V: Pack<T = T>>(self) {
        match self.frames.dim {
            2 => self.run_dim::<V, 2, 3>(),
            _ => self.run_dim::<V, 3, 4>(),
        }
    }
}

impl<T: PackScalar> FaceFluxes<'_, T> {
    #[inline(always)]
    fn run_dim<V: Pack<T = T>, const D: usize, const F: usize>(self) {
        let frames = self.frames;
        frames.check(V::W, self.gradient.len(), self.out.len(), self.faces.len());
        let n_modes = frames.rows.len() / D;
        // SAFETY (whole body): lengths are checked above; rows are rows of the gradient.
        unsafe {
            let mut c = [[V::lit(0.0); D]; F];
            for f in 0..F {
                c[f] = frames.conormal::<V, D>(self.faces.as_ptr(), f);
            }
            for m in 0..n_modes {
                let g: [V; D] = frames.derivatives(self.gradient.as_ptr(), m);
                for f in 0..F {
                    let mut sum = c[f][0] * g[0];
                    for a in 1..D {
                        sum = c[f][a].mul_add(g[a], sum);
                    }
                    sum.store(self.out.as_mut_ptr().add((f * n_modes + m) * V::W));
                }
            }
        }
    }
}

impl<T: PackScalar> Frames<T> {
    /// Loads mode `m` of all derivatives.
    ///
    /// # Safety
    /// `gradient` points to all rows, and `m` is a mode.
    #[inline(always)]
    unsafe fn derivatives<V: Pack<T = T>, const D: usize>(&self, gradient: *const T, m: usize) -> [V; D] {
        let mut out = [V::lit(0.0); D];
        for a in 0..D {
            // SAFETY: rows of the gradient.
            out[a] = unsafe { V::load(gradient.add(*self.rows.get_unchecked(m * D + a) as usize * V::W)) };
        }
        out
    }
}

/// `Σ_b G_ab g_b + Σ_f c_fa l_f`, followed by the values λ û.
pub(crate) struct Divergence<'a, T> {
    pub(super) frames: &'a Frames<T>,
    pub(super) faces: &'a [T],
    /// `G_de`, and λ if there are values.
    pub(super) metric: &'a [T],
    pub(super) gradient: &'a [T],
    /// `l`, `[face][mode][lane]`.
    pub(super) lifted: &'a [T],
    /// `û`; empty without λ.
    pub(super) values: &'a [T],
    pub(super) out: &'a mut [T],
}

impl<T: PackScalar> Kernel<T> for Divergence<'_, T> {
    #[inline(always)]
    fn run<V: Pack<T = T>>(self) {
        match self.frames.dim {
            2 => self.run_dim::<V, 2, 3, 3>(),
            _ => self.run_dim::<V, 3, 4, 6>(),
        }
    }
}

impl<T: PackScalar> Divergence<'_, T> {
    #[inline(always)]
    fn run_dim<V: Pack<T = T>, const D: usize, const F: usize, const E: usize>(self) {
        let frames = self.frames;
        frames.check(V::W, self.gradient.len(), self.lifted.len(), self.faces.len());
        let n_modes = frames.rows.len() / D;
        let (n_gradient, n_values) = (D * n_modes * V::W, self.values.len());
        let values = usize::from(n_values > 0);
        assert!(self.metric.len() >= (E + values) * V::W && frames.metric.len() == E * E);
        assert!(self.out.len() >= n_gradient + n_values);
        let out = self.out.as_mut_ptr();
        // SAFETY (whole body): lengths are checked above; rows are rows of the gradient.
        unsafe {
            let mut entries = [V::lit(0.0); E];
            for k in 0..E {
                let stored = V::load(self.metric.as_ptr().add(k * V::W));
                for i in 0..E {
                    let factor = V::broadcast(frames.metric.as_ptr().add(i * E + k));
                    entries[i] = factor.mul_add(stored, entries[i]);
                }
            }
            let mut metric = [[V::lit(0.0); D]; D];
            let mut next = 0;
            for a in 0..D {
                for b in a..D {
                    (metric[a][b], metric[b][a]) = (entries[next], entries[next]);
                    next += 1;
                }
            }
            let mut c = [[V::lit(0.0); D]; F];
            for f in 0..F {
                c[f] = frames.conormal::<V, D>(self.faces.as_ptr(), f);
            }
            for m in 0..n_modes {
                let g: [V; D] = frames.derivatives(self.gradient.as_ptr(), m);
                let mut l = [V::lit(0.0); F];
                for f in 0..F {
                    l[f] = V::load(self.lifted.as_ptr().add((f * n_modes + m) * V::W));
                }
                for a in 0..D {
                    let mut sum = metric[a][0] * g[0];
                    for b in 1..D {
                        sum = metric[a][b].mul_add(g[b], sum);
                    }
                    for f in 0..F {
                        sum = c[f][a].mul_add(l[f], sum);
                    }
                    sum.store(out.add(*frames.rows.get_unchecked(m * D + a) as usize * V::W));
                }
            }
            if values > 0 {
                let lambda = V::load(self.metric.as_ptr().add(E * V::W));
                for i in (0..n_values).step_by(V::W) {
                    (lambda * V::load(self.values.as_ptr().add(i))).store(out.add(n_gradient + i));
                }
            }
        }
    }
}

/// With the jump `j = u⁻ − u⁺`: `y = κ sJ τ j − ½ (p⁻ − p⁺)` and `−½ j`.
pub(crate) struct Jumps<'a, T> {
    pub(super) faces: FaceCoefficients<'a, T>,
    /// `u⁻`, then `p⁻`, `[point][lane]`.
    pub(super) minus: &'a [T],
    /// `u⁺`, then `p⁺`.
    pub(super) plus: &'a [T],
    /// `y`, then `−½ j`.
    pub(super) out: &'a mut [T],
}

impl<T: PackScalar> Kernel<T> for Jumps<'_, T> {
    #[inline(always)]
    fn run<V: Pack<T = T>>(self) {
        let faces = &self.faces;
        let n = faces.check(V::W);
        let least = 2 * n * V::W;
        assert!(!faces.per_point && faces.offsets.len() <= MAX_FACES + 1);
        assert!(self.minus.len() >= least && self.plus.len() >= least && self.out.len() >= least);
        let half = V::lit(0.5);
        for (f, o) in faces.offsets.windows(2).enumerate() {
            // SAFETY: rows of faces and points are covered by the lengths asserted above.
            unsafe {
                let tau = V::load(faces.rows.as_ptr().add((f * (faces.dim + 1) + faces.dim) * V::W));
                for q in o[0]..o[1] {
                    let (minus, plus) = (self.minus.as_ptr().add(q * V::W), self.plus.as_ptr().add(q * V::W));
                    let jump = V::load(minus) - V::load(plus);
                    let mean = half * (V::load(minus.add(n * V::W)) - V::load(plus.add(n * V::W)));
                    (tau * jump - mean).store(self.out.as_mut_ptr().add(q * V::W));
                    (V::lit(-0.5) * jump).store(self.out.as_mut_ptr().add((n + q) * V::W));
                }
            }
        }
    }
}
