//! Quadrilaterals and hexahedra at Gauss nodes: all products run along lines of nodes.
//!
//! With n nodes on a line, the gradient is an n × n product along each line, and the trace and the normal
//! derivative on a face are one row each. Kernels are compiled for each n, so that the values of a line stay
//! in registers.

/// Calls `run_n::<V, n>` for the number of nodes on a line.
macro_rules! by_nodes {
    ($self:ident, $v:ty) => {
        match $self.lines.n {
            2 => $self.run_n::<$v, 2>(),
            3 => $self.run_n::<$v, 3>(),
            4 => $self.run_n::<$v, 4>(),
            5 => $self.run_n::<$v, 5>(),
            6 => $self.run_n::<$v, 6>(),
            7 => $self.run_n::<$v, 7>(),
            8 => $self.run_n::<$v, 8>(),
            n => unreachable!("lines of {n} nodes"),
        }
    };
}

pub(crate) mod boxes;

use super::point_kernels::FaceCoefficients;
use super::tables::Tables;
use crate::lanes::simd::{Kernel, Pack, PackScalar, compiled};
use boxes::Mirrored;

compiled! {
    line_traces: LineTraces,
    line_gradient: LineGradient,
    line_test: LineTest,
}

/// Largest number of nodes of a line for which there are kernels.
const MAX_NODES: usize = 8;

/// One-dimensional operators, and the intersections of lines with faces.
pub(crate) struct Lines<T> {
    n: usize,
    dim: usize,
    /// `∂φ_i/∂r (x_q)`, `[q][i]`.
    derivative: Vec<T>,
    /// The derivative times the weight of q, `[i][q]`; without the weight if coefficients are weighted.
    test: Vec<T>,
    /// `[d][end][value, derivative along the face's normal][i]`.
    ends: Vec<T>,
    /// Face point at which a line ends, `[d][line][end]`.
    rows: Vec<u32>,
    /// Face at each end of the lines, `[d][end]`.
    faces: Vec<u8>,
    /// First node of each line, `[d][line]`.
    first: Vec<u32>,
    /// Weight of the other directions, `[d][line]`; one if coefficients are weighted.
    across: Vec<T>,
    /// Weight of a face point divided by `across`, `[d][line]`.
    surface: Vec<T>,
    /// Weight of each node; one if coefficients are weighted.
    weight: Vec<T>,
    /// Tables for mirror-symmetric nodes.
    pub(super) mirrored: Option<Mirrored<T>>,
}

impl<T: PackScalar> Lines<T> {
    /// Returns `None` for shapes that are not products of lines, or lines with too many nodes.
    pub(super) fn new(tables: &Tables, weighted: bool) -> Option<Self> {
        let reference = &tables.reference;
        let factors = reference.tensor.as_ref()?;
        let (n, dim) = (factors.n_basis_1d, reference.spec.shape.dim());
        let nodes = reference.nodes.as_ref()?;
        if !(2..=MAX_NODES).contains(&n) || factors.n_points_1d != n || dim < 2 {
            return None;
        }
        let number = T::from_f64;
        let d = |q: usize, i: usize| factors.derivative[(q, i)];
        let weight = |q: usize| if weighted { 1.0 } else { factors.weights[q] };
        let n_lines = nodes.len() / n;
        let (mut ends, mut rows, mut first, mut faces) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        let (mut across, mut surface) = (Vec::new(), Vec::new());
        for direction in 0..dim {
            let stride = n.pow(direction as u32);
            let begin: Vec<usize> = (0..nodes.len()).filter(|i| (i / stride) % n == 0).collect();
            let mut at = vec![[0; 2]; n_lines];
            for end in 0..2 {
                let side = 2.0 * end as f64 - 1.0;
                for (line, &node) in begin.iter().enumerate() {
                    // The face point with the line's other coordinates.
                    at[line][end] = reference.face_points.iter().position(|x| {
                        (x[direction] - side).abs() < 1e-9
                            && (0..dim).all(|c| c == direction || (x[c] - nodes[node][c]).abs() < 1e-9)
                    })?;
                }
                let row = at[0][end];
                faces.push(reference.face_offsets.iter().rposition(|&o| o <= row)? as u8);
                for m in [&reference.interp_face, &tables.frame_derivative[0]] {
                    ends.extend((0..n).map(|i| m[(row, begin[0] + i * stride)]));
                }
            }
            rows.extend(at.iter().flatten().map(|&r| r as u32));
            for &node in &begin {
                let others = || (0..dim).filter(|&c| c != direction).map(|c| (node / n.pow(c as u32)) % n);
                let product: f64 = others().map(weight).product();
                let face: f64 = others().map(|q| factors.weights[q]).product();
                across.push(number(product));
                surface.push(number(face / product));
            }
            first.extend(begin.iter().map(|&i| i as u32));
        }
        let stiffness: Vec<f64> = (0..n * n)
            .map(|k| (0..n).map(|q| d(q, k / n) * factors.weights[q] * d(q, k % n)).sum())
            .collect();
        let mirrored = Mirrored::new(n, (&ends, &stiffness), (&rows, &faces, &first));
        let node_weight = |i: usize| (0..dim).map(|c| weight((i / n.pow(c as u32)) % n)).product();
        Some(Self {
            n,
            dim,
            derivative: (0..n * n).map(|k| number(d(k / n, k % n))).collect(),
            test: (0..n * n).map(|k| number(d(k % n, k / n) * weight(k % n))).collect(),
            ends: ends.into_iter().map(number).collect(),
            rows,
            faces,
            first,
            across,
            surface,
            weight: (0..nodes.len()).map(|i| number(node_weight(i))).collect(),
            mirrored,
        })
    }

    pub(super) fn nodes(&self) -> usize {
        self.weight.len()
    }

    /// Multiply–adds per element: the gradient and its test (or both in one), values and derivatives at both
    /// ends, and their tests; those of boxes are halved.
    pub(super) fn multiply_adds(&self, rectangular: bool) -> usize {
        let n = self.n;
        let of_line =
            if rectangular { n.div_ceil(2).pow(2) + (n / 2).pow(2) + 5 * n } else { 2 * n * n + 8 * n };
        self.dim * (self.nodes() / n) * of_line
    }

    fn face_points(&self) -> usize {
        2 * self.dim * (self.nodes() / self.n)
    }
}

/// Loads the values at the nodes of a line.
///
/// # Safety
/// `u` points to the nodes of a block, which include `first + i stride` for i < N.
#[inline(always)]
unsafe fn line<V: Pack, const N: usize>(u: *const V::T, first: usize, stride: usize) -> [V; N] {
    // Not a closure: it might not be inlined, and would then be compiled without the instructions of the
    // packs.
    let mut out = [V::lit(0.0); N];
    for i in 0..N {
        // SAFETY: the caller's contract.
        out[i] = unsafe { V::load(u.add((first + i * stride) * V::W)) };
    }
    out
}

/// `Σ_i a_i b_i`, with the entries of `a` broadcast.
///
/// # Safety
/// `a` points to N readable scalars.
#[inline(always)]
unsafe fn product<V: Pack, const N: usize>(a: *const V::T, b: &[V; N]) -> V {
    // SAFETY: the caller's contract.
    unsafe {
        let mut sum = V::broadcast(a) * b[0];
        for i in 1..N {
            sum = V::broadcast(a.add(i)).mul_add(b[i], sum);
        }
        sum
    }
}

/// Computes values and normal derivatives on the faces: `out ← [I_f; N] u`, or `[I_f; c_0 N] u`.
pub(crate) struct LineTraces<'a, T> {
    pub(super) lines: &'a Lines<T>,
    pub(super) u: &'a [T],
    /// Source of `c_0`: if there are no tangential derivatives, multiplication by it gives the conormal
    /// derivative.
    pub(super) faces: Option<FaceCoefficients<'a, T>>,
    /// Bit f is set if face f is needed.
    pub(super) wanted: u8,
    pub(super) out: &'a mut [T],
}

impl<T: PackScalar> Kernel<T> for LineTraces<'_, T> {
    #[inline(always)]
    fn run<V: Pack<T = T>>(self) {
        by_nodes!(self, V);
    }
}

impl<T: PackScalar> LineTraces<'_, T> {
    #[inline(always)]
    fn run_n<V: Pack<T = T>, const N: usize>(self) {
        let l = self.lines;
        let (np, nf) = (l.nodes(), l.face_points());
        assert!(l.n == N && self.u.len() >= np * V::W && self.out.len() >= 2 * nf * V::W);
        let width = (l.dim + 1) * V::W;
        if let Some(faces) = &self.faces {
            assert!(faces.dim == l.dim && faces.offsets.len() == 2 * l.dim + 1 && faces.check(V::W) == nf);
        }
        let n_lines = np / N;
        for d in 0..l.dim {
            let wanted = [0, 1].map(|end| self.wanted >> l.faces[2 * d + end] & 1 == 1);
            if wanted == [false; 2] {
                continue;
            }
            let stride = N.pow(d as u32);
            for line in 0..n_lines {
                // SAFETY: nodes of a line are nodes, its ends face points; lengths are asserted above.
                unsafe {
                    let first = *l.first.get_unchecked(d * n_lines + line) as usize;
                    let u = self::line::<V, N>(self.u.as_ptr(), first, stride);
                    for end in 0..2 {
                        if !wanted[end] {
                            continue;
                        }
                        let row = *l.rows.get_unchecked((d * n_lines + line) * 2 + end) as usize;
                        let a = l.ends.as_ptr().add((d * 2 + end) * 2 * N);
                        let out = self.out.as_mut_ptr();
                        product::<V, N>(a, &u).store(out.add(row * V::W));
                        let mut slope = product::<V, N>(a.add(N), &u);
                        if let Some(faces) = &self.faces {
                            let at = if faces.per_point { row } else { l.faces[2 * d + end] as usize };
                            slope = V::load(faces.rows.as_ptr().add(at * width)) * slope;
                        }
                        slope.store(out.add((nf + row) * V::W));
                    }
                }
            }
        }
    }
}

/// Computes the gradient at the nodes, `[d][node][lane]`, followed by the values if `out` has memory for
/// them.
pub(crate) struct LineGradient<'a, T> {
    pub(super) lines: &'a Lines<T>,
    pub(super) values: bool,
    pub(super) u: &'a [T],
    pub(super) out: &'a mut [T],
}

impl<T: PackScalar> Kernel<T> for LineGradient<'_, T> {
    #[inline(always)]
    fn run<V: Pack<T = T>>(self) {
        by_nodes!(self, V);
    }
}

impl<T: PackScalar> LineGradient<'_, T> {
    #[inline(always)]
    fn run_n<V: Pack<T = T>, const N: usize>(self) {
        let l = self.lines;
        let np = l.nodes();
        let len = np * V::W;
        assert!(
            l.n == N && self.u.len() >= len && self.out.len() >= (l.dim + usize::from(self.values)) * len
        );
        let n_lines = np / N;
        for d in 0..l.dim {
            let stride = N.pow(d as u32);
            for line in 0..n_lines {
                // SAFETY: nodes of a line are nodes; lengths are asserted above.
                unsafe {
                    let first = *l.first.get_unchecked(d * n_lines + line) as usize;
                    let u = self::line::<V, N>(self.u.as_ptr(), first, stride);
                    let out = self.out.as_mut_ptr().add(d * len);
                    for q in 0..N {
                        let slope = product::<V, N>(l.derivative.as_ptr().add(q * N), &u);
                        slope.store(out.add((first + q * stride) * V::W));
                    }
                }
            }
        }
        if self.values {
            self.out[l.dim * len..(l.dim + 1) * len].copy_from_slice(&self.u[..len]);
        }
    }
}

/// `A u = Σ_d D_dᵀ W F_d + I_fᵀ W_f y + Nᵀ W_f z`, plus weighted values if there are any.
pub(crate) struct LineTest<'a, T> {
    pub(super) lines: &'a Lines<T>,
    pub(super) values: bool,
    /// `F_0 …`, values if any, `y`, `z`.
    pub(super) columns: &'a [T],
    pub(super) out: &'a mut [T],
}

impl<T: PackScalar> Kernel<T> for LineTest<'_, T> {
    #[inline(always)]
    fn run<V: Pack<T = T>>(self) {
        by_nodes!(self, V);
    }
}

impl<T: PackScalar> LineTest<'_, T> {
    #[inline(always)]
    fn run_n<V: Pack<T = T>, const N: usize>(self) {
        let l = self.lines;
        let (np, nf) = (l.nodes(), l.face_points());
        let len = np * V::W;
        let volume = (l.dim + usize::from(self.values)) * len;
        assert!(l.n == N && self.out.len() >= len && self.columns.len() >= volume + 2 * nf * V::W);
        let n_lines = np / N;
        let (columns, out) = (self.columns.as_ptr(), self.out.as_mut_ptr());
        for d in 0..l.dim {
            let stride = N.pow(d as u32);
            for line in 0..n_lines {
                // SAFETY: nodes of a line are nodes, its ends face points; lengths are asserted above.
                unsafe {
                    let first = *l.first.get_unchecked(d * n_lines + line) as usize;
                    let at = |i: usize| (first + i * stride) * V::W;
                    let flux = self::line::<V, N>(columns.add(d * len), first, stride);
                    let weight = V::broadcast(l.surface.as_ptr().add(d * n_lines + line));
                    let mut surface = [V::lit(0.0); 4];
                    for end in 0..2 {
                        let row = *l.rows.get_unchecked((d * n_lines + line) * 2 + end) as usize;
                        let p = columns.add(volume + row * V::W);
                        surface[2 * end] = weight * V::load(p);
                        surface[2 * end + 1] = weight * V::load(p.add(nf * V::W));
                    }
                    let across = V::broadcast(l.across.as_ptr().add(d * n_lines + line));
                    let ends = l.ends.as_ptr().add(d * 4 * N);
                    for i in 0..N {
                        let mut sum = product::<V, N>(l.test.as_ptr().add(i * N), &flux);
                        for k in 0..4 {
                            sum = V::broadcast(ends.add(k * N + i)).mul_add(surface[k], sum);
                        }
                        let p = out.add(at(i));
                        if d > 0 {
                            across.mul_add(sum, V::load(p)).store(p);
                        } else if self.values {
                            let value = V::load(columns.add(l.dim * len + at(i)));
                            let weight = V::broadcast(l.weight.as_ptr().add(first + i * stride));
                            across.mul_add(sum, weight * value).store(p);
                        } else {
                            (across * sum).store(p);
                        }
                    }
                }
            }
        }
    }
}
