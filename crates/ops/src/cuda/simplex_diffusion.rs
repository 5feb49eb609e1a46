//! The operators, texts and launches of `simplex_gradient.cu` and `simplex_mean_flux.cu`: both passes of diffusion on affine
//! simplices, nodal, in double precision.

use crate::connect::ORIENTATIONS;
use crate::cuda::fragments::{Padding, SimplexTables, fragment, pairs, steps, tiles};
use crate::cuda::source::{KernelText, LaunchShape, LawText, Sizes, source};
use crate::error::OpsError;
use crate::geometry::reference_normal;
use crate::group::{Group, Part, volume_matrices};
use crate::lifting::{face_derivatives, penalty};
use crate::scheme::{Form, MetricRule};
use crate::simd::PackScalar;
use dgsuite_basis::{Matrix, ReferenceElement, Representation, Shape};

/// Elements of a warp.
const GROUP: usize = 8;
/// Shared memory that a block may have, in bytes.
const SHARED: usize = 227 * 1024;

/// How the first pass is built; see the head of simplex_gradient.cu.
#[derive(Clone, Copy)]
struct Build {
    warps: usize,
    blocks: usize,
    buffers: usize,
    /// Whether half jumps wait in shared memory.
    jumps: bool,
}

/// The build for the shape and order.
fn build(shape: Shape, order: usize) -> Build {
    let kept = |warps, blocks, buffers| Build { warps, blocks, buffers, jumps: false };
    let waiting = |warps, blocks, buffers| Build { warps, blocks, buffers, jumps: true };
    match (shape, order) {
        (Shape::Triangle, 0..=2) => kept(4, 4, 2),
        (Shape::Triangle, 3 | 4) => kept(4, 3, 2),
        (Shape::Triangle, 5) => kept(4, 2, 2),
        (Shape::Triangle, _) => kept(8, 1, 1),
        (_, 0 | 1) => waiting(4, 3, 2),
        (_, 2) => kept(8, 1, 2),
        _ => kept(8, 1, 1),
    }
}

/// The operators of both passes.
pub(super) struct SimplexDiffusion {
    pub(super) tables: SimplexTables,
    /// In the order of simplex_gradient.cu.
    pub(super) entries: Vec<f64>,
    /// Where operators begin that may stay out of shared memory, and the end.
    cuts: [usize; 4],
    /// Where the lifts begin.
    lift_at: usize,
}

impl SimplexDiffusion {
    /// The operators of a part, or nothing if these kernels can't run it.
    ///
    /// # Errors
    /// Those of reference elements.
    pub(super) fn new<T: PackScalar>(
        group: &Group<T>,
        part: &Part<T>,
        form: Form,
        eta: Option<f64>,
    ) -> Result<Option<Self>, OpsError> {
        let Representation::Nodal(nodes) = part.spec.element.representation else { return Ok(None) };
        let alone = group.parts.len() == 1;
        if T::BYTES != 8 || part.spec.rule != MetricRule::Affine || group.state.rows < 3 || !alone {
            return Ok(None);
        }
        let reference = &part.reference;
        let project = volume_matrices(reference, form, group.shape.dim());
        let Some(tables) = SimplexTables::new(reference, nodes, &project, false)? else { return Ok(None) };
        let (np, nq, dim) = (reference.n_basis, reference.volume.points.len(), group.shape.dim());
        let ng = reference.face_offsets[1];
        // Interpolations and lifts, as they stand.
        let mut entries = tables.entries[..tables.project_at].to_vec();
        let lift_at = tables.project_at - group.shape.n_faces() * steps(ng) * tiles(np) * 32;
        let faces = || 0..group.shape.n_faces();
        let own = reference.interp_face.mul(&reference.lift);
        for f in faces() {
            let first = reference.face_offsets[f];
            let eta = penalty(group.shape, eta);
            let a = Matrix::from_fn(ng, ng, |q, k| eta * own[(first + q, first + k)]);
            operator(&a, &mut entries);
        }
        let lifted = reference.interp_volume.mul(&reference.lift);
        for f in faces() {
            let first = reference.face_offsets[f];
            let sign = reference_normal(group.shape, f).iter().sum::<f64>().signum();
            operator(&Matrix::from_fn(nq, ng, |q, k| sign * lifted[(q, first + k)]), &mut entries);
        }
        let slope_at = entries.len();
        directions(&reference.derivative, &mut entries);
        let face_slope_at = entries.len();
        let slopes = face_derivatives(reference);
        for f in faces() {
            let first = reference.face_offsets[f];
            let of = |d: &Matrix| Matrix::from_fn(ng, np, |q, i| d[(first + q, i)]);
            directions(&slopes.iter().map(of).collect::<Vec<_>>(), &mut entries);
        }
        let project_at = entries.len();
        entries.extend_from_slice(&tables.entries[tables.project_at..]);
        debug_assert!(signs_are_plain(reference, dim));
        let cuts = [slope_at, face_slope_at, project_at, entries.len()];
        Ok(Some(Self { tables, entries, cuts, lift_at }))
    }

    /// The first pass; `None` if it does not fit the device.
    pub(super) fn gradient<T: PackScalar>(
        &self,
        law: &LawText,
        group: &Group<T>,
        part: &Part<T>,
    ) -> Option<KernelText> {
        let sizes = Sizes::new(group, part);
        let b = build(group.shape, part.spec.element.order);
        let jumps = if b.jumps { sizes.faces * steps(group.face_offsets[1]) * sizes.fields * 32 } else { 0 };
        let space = b.warps * (b.buffers * GROUP * sizes.np * sizes.fields + jumps);
        let nodes = self.tables.face_nodes[0].len();
        let rows = (sizes.faces * ORIENTATIONS + sizes.faces) * nodes;
        let bytes = |in_shared: usize| 8 * (in_shared + space) + 4 * rows;
        let in_shared = self.cuts.into_iter().rev().find(|&cut| b.blocks * (bytes(cut) + 1024) <= SHARED)?;
        let mut text =
            self.text("simplex_gradient.cu", include_str!("simplex_gradient.cu"), law, group, part);
        text.source = text
            .source
            .define("STAGE", 0)
            .define("WARPS", b.warps)
            .define("BLOCKS", b.blocks)
            .define("BUFFERS", b.buffers)
            .define("JUMPS", u8::from(b.jumps))
            .define("SHARED_TABLES", in_shared);
        text.shape.threads = 32 * b.warps;
        text.shape.elements = GROUP * b.warps;
        text.shape.shared = bytes(in_shared);
        Some(text)
    }

    /// The second pass, alone or with the stage; `None` if it does not fit the device.
    pub(super) fn mean_flux<T: PackScalar>(
        &self,
        law: &LawText,
        group: &Group<T>,
        part: &Part<T>,
        stage: bool,
    ) -> Option<KernelText> {
        let sizes = Sizes::new(group, part);
        let (warps, rate) = (4, tiles(sizes.np) * sizes.fields * 4);
        // Registers for the rates and some 40 more.
        let blocks = (65_536 / (128 * (rate + 48))).clamp(2, 8);
        let staged = if sizes.fields.is_multiple_of(2) { 0 } else { warps * GROUP * sizes.np * sizes.fields };
        let lifts = sizes.faces * steps(group.face_offsets[1]) * tiles(sizes.np) * 32;
        let shared = 8 * (lifts + staged);
        if shared > SHARED {
            return None;
        }
        let mut text =
            self.text("simplex_mean_flux.cu", include_str!("simplex_mean_flux.cu"), law, group, part);
        text.source = text
            .source
            .define("STAGE", u8::from(stage))
            .define("WARPS", warps)
            .define("BLOCKS", blocks)
            .define("LIFT_AT", self.lift_at);
        text.shape.threads = 32 * warps;
        text.shape.elements = GROUP * warps;
        text.shape.shared = shared;
        Some(text)
    }

    fn text<T: PackScalar>(
        &self,
        name: &str,
        text: &str,
        law: &LawText,
        group: &Group<T>,
        part: &Part<T>,
    ) -> KernelText {
        let sizes = Sizes { direct: true, ..Sizes::new(group, part) };
        let normals: Vec<String> = (0..sizes.faces)
            .map(|f| {
                let n = reference_normal(group.shape, f);
                let list: Vec<String> =
                    n.iter().take(sizes.dim).map(|x| format!("{}", x.round() as i64)).collect();
                format!("{{{}}}", list.join(","))
            })
            .collect();
        let headers = "#include \"rows.cuh\"\n#include \"fragments.cuh\"\n#include \"published.cuh\"\n";
        let body = format!("{}{headers}#line 1 \"{name}\"\n{text}", law.preamble());
        let source = sizes
            .define(source::<T>(name, body), &group.face_offsets)
            .define("FACE_NODES", self.tables.face_nodes[0].len())
            .define("FACE_POINTS", group.face_offsets[1])
            .define("FACE_INTERP", u8::from(self.tables.face_interp))
            .define("CODES", sizes.faces * ORIENTATIONS)
            .define("REFERENCE_NORMALS", format!("{{{}}}", normals.join(",")));
        let shape = LaunchShape { threads: 0, elements: 0, shared: 0, work: 0, persistent: true };
        KernelText { source, shape, wide: false }
    }
}

/// An operator in the order `[tile][step]`.
fn operator(a: &Matrix, entries: &mut Vec<f64>) {
    for (tile, step) in pairs(tiles(a.rows), steps(a.cols)) {
        fragment(a, step, tile, Padding::Zero, entries);
    }
}

/// Operators of the directions in the order `[tile][step][direction]`.
fn directions(list: &[Matrix], entries: &mut Vec<f64>) {
    for (tile, step) in pairs(tiles(list[0].rows), steps(list[0].cols)) {
        for a in list {
            fragment(a, step, tile, Padding::Zero, entries);
        }
    }
}

/// Whether every `N̂` has entries of one sign and of size 1, as the tables of liftings suppose.
fn signs_are_plain(reference: &ReferenceElement, dim: usize) -> bool {
    (0..reference.spec.shape.n_faces()).all(|f| {
        let n = reference_normal(reference.spec.shape, f);
        let one = |s: f64| n.iter().take(dim).all(|&x| x == 0.0 || (x - s).abs() < 1e-12);
        one(1.0) || one(-1.0)
    })
}
