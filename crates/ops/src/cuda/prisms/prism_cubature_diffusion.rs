//! Texts and operators of `prism_cubature_gradient.cu` and `prism_cubature_mean_flux.cu`.
//!
//! Both passes of diffusion on prisms integrated by a triangle's cubature times as many Gauss points as there
//! are functions along the line.

use crate::cuda::prisms::prism::{agree, side_normals};
use crate::cuda::prisms::prism_cubature::{CubatureTables, Factors, inner, largest};
use crate::cuda::tensors::gauss;
use crate::cuda::text::kernel_text::KernelText;
use crate::cuda::text::passes::Passes;
use crate::cuda::text::setting::{File, Room, Setting};
use crate::lanes::simd::PackScalar;
use crate::space::lifting::face_derivatives;
use crate::space::scheme::{Form, PartSpec};
use dgsuite_basis::{BasisError, Matrix, ReferenceElement};

/// The highest order whose operators, gradients and jumps fit into the shared memory of a block.
const MOST_ORDER: usize = 6;

/// The operators of both passes of a part.
pub(crate) struct CubatureDiffusion {
    tables: CubatureTables,
    /// The operators of `prism_cubature.cuh`, then those of `prism_cubature_gradient.cu`.
    entries: Vec<f64>,
}

/// Whether these kernels run the elements of `specs`.
///
/// # Errors
/// Errors of reference elements.
pub(crate) fn is_known(specs: [Option<PartSpec>; 2], form: Form) -> Result<bool, BasisError> {
    for spec in specs.into_iter().flatten() {
        let known = spec.element.order <= MOST_ORDER && gauss::knows(spec.rule, true);
        if !known || CubatureDiffusion::of(&ReferenceElement::new(&spec.element)?, form).is_none() {
            return Ok(false);
        }
    }
    Ok(true)
}

impl CubatureDiffusion {
    /// The operators of a part; `None` if these kernels do not support it.
    pub(crate) fn new<T: PackScalar>(of: &Setting<'_, T>, form: Form) -> Option<Self> {
        let known = of.group.state.planar && gauss::knows(of.part.spec.rule, true);
        known.then(|| Self::of(&of.part.reference, form))?
    }

    /// The operators of an element; `None` unless they are products.
    fn of(reference: &ReferenceElement, form: Form) -> Option<Self> {
        let (tables, f) = CubatureTables::with_factors(reference, form)?;
        let mut entries = tables.entries.clone();
        entries.extend(slopes(reference, &tables, &f)?);
        Some(Self { tables, entries })
    }

    /// The kernel of the traces that the first pass reads; `None` if it does not fit the device.
    pub(crate) fn traces<T: PackScalar>(&self, of: &Setting<'_, T>) -> Option<KernelText> {
        self.tables.traces(of)
    }
}

impl<T: PackScalar> Passes<T> for CubatureDiffusion {
    fn gradient(&self, of: &Setting<'_, T>) -> Option<Vec<KernelText>> {
        let (s, t) = (of.sizes(), &self.tables);
        let (n, nt) = (t.n_nodes, t.n_triangle);
        let element = t.room((s.dim * t.flux_rows()).max(2 * (n + 2) * nt) * s.fields)
            + t.face_room((2 * s.nf).max(s.np) * s.fields)
            + 2 * nt * s.fields;
        // Without the lifts of sides and the constants of the metric rule.
        let block = self.entries.len() - 3 * n * nt - 2 * s.np;
        let registers = if T::BYTES == 4 { 80 } else { 128 };
        let file = File {
            name: "prism_cubature_gradient.cu",
            text: include_str!("prism_cubature_gradient.cu"),
            headers: &["published.cuh"],
        };
        let mut found = t.kernel(of, file, false, Room { registers, block, element })?;
        found.source =
            found.source.define("ETA", of.eta()).define("SIDE_NORMALS", side_normals(of.group.shape));
        Some(vec![found])
    }

    fn mean_flux(&self, of: &Setting<'_, T>, stage: bool) -> Option<KernelText> {
        let (s, t) = (of.sizes(), &self.tables);
        let (n, nt) = (t.n_nodes, t.n_triangle);
        let rule = if s.curved { 2 * nt * t.n_points + 2 * s.np } else { 0 };
        let rows = if s.curved { s.dim * s.nq } else { s.np } + 2 * nt;
        let room = Room {
            registers: if T::BYTES == 4 { 56 } else { 80 },
            block: 4 * n * n + 6 * n + (3 * n + t.n_ends) * nt + rule,
            element: rows * s.fields + t.face_room(s.nf.max(s.np) * s.fields),
        };
        let file = File {
            name: "prism_cubature_mean_flux.cu",
            text: include_str!("prism_cubature_mean_flux.cu"),
            headers: &["published.cuh"],
        };
        t.kernel(of, file, stage, room)
    }

    fn into_entries(self) -> Vec<f64> {
        self.entries
    }
}

/// The tables of the first pass after those of `prism_cubature.cuh`; `None` unless derivatives are products.
fn slopes(reference: &ReferenceElement, tables: &CubatureTables, f: &Factors) -> Option<Vec<f64>> {
    let (n, nt, tq, ne) = (tables.n_nodes, tables.n_triangle, tables.n_points, tables.n_ends);
    let (np, nf) = (reference.n_basis, tables.place.len());
    let volume = &reference.derivative;
    let mut at = vec![0; nf];
    tables.place.iter().enumerate().for_each(|(q, &p)| at[p] = q);
    let faces: Vec<Matrix> =
        face_derivatives(reference).iter().map(|m| Matrix::from_fn(nf, np, |p, i| m[(at[p], i)])).collect();
    let (a, b) = largest(&f.interp);
    let line = Matrix::from_fn(n, n, |l, z| volume[2][(l * tq + a, z * nt + b)] / f.interp[(a, b)]);
    let (q, t) = largest(&f.end_traces);
    let ends = Matrix::from_fn(2, n, |e, z| faces[2][(e * ne + q, z * nt + t)] / f.end_traces[(q, t)]);
    let triangle = [0, 1].map(|d| inner(&volume[d], &f.values, tq, nt));
    // For the lower end, and for the sides' points in layer 0.
    let (_, z) = largest(&f.ends.row_range(0..1));
    let on_ends = [0, 1].map(|d| Matrix::from_fn(ne, nt, |q, t| faces[d][(q, z * nt + t)] / f.ends[(0, z)]));
    let (_, z) = largest(&f.values.row_range(0..1));
    let on_sides = [0, 1].map(|d| {
        Matrix::from_fn(3 * n, nt, |k, t| {
            faces[d][(2 * ne + k / n * n * n + k % n, z * nt + t)] / f.values[(0, z)]
        })
    });
    let same = |d: usize, p: usize, i: usize| {
        let (z, t) = (i / nt, i % nt);
        if p < 2 * ne {
            let (e, q) = (p / ne, p % ne);
            if d == 2 { ends[(e, z)] * f.end_traces[(q, t)] } else { f.ends[(e, z)] * on_ends[d][(q, t)] }
        } else {
            let k = p - 2 * ne;
            let (l, k) = (k / n % n, k / (n * n) * n + k % n);
            if d == 2 { line[(l, z)] * f.side_traces[(k, t)] } else { f.values[(l, z)] * on_sides[d][(k, t)] }
        }
    };
    let product = |whole: &Matrix, line: &Matrix, triangle: &Matrix| {
        let product = line.kron(triangle);
        agree(whole, |i, j| product[(i, j)])
    };
    let known = product(&volume[0], &f.values, &triangle[0])
        && product(&volume[1], &f.values, &triangle[1])
        && product(&volume[2], &line, &f.interp)
        && (0..3).all(|d| agree(&faces[d], |p, i| same(d, p, i)));
    if !known {
        return None;
    }
    let mut entries = Vec::new();
    let mut add = |m: &Matrix| entries.extend_from_slice(m.as_slice());
    add(&line);
    add(&ends);
    triangle.iter().for_each(|m| add(&m.transpose()));
    add(&f.interp.mul(&f.side_lifts).transpose());
    on_sides.iter().chain(&on_ends).for_each(|m| add(&m.transpose()));
    let own = f.side_traces.mul(&f.side_lifts);
    (0..3).for_each(|s| add(&Matrix::from_fn(n, n, |from, to| own[(s * n + to, s * n + from)])));
    add(&f.end_traces.mul(&f.end_face_lifts).transpose());
    let own = f.ends.mul(&f.end_lifts);
    entries.extend([own[(0, 0)], own[(1, 1)]]);
    Some(entries)
}
