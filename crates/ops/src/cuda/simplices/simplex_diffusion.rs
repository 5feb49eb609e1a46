//! The operators, texts and launches of `simplex_gradient.cu` and `simplex_mean_flux.cu`: both passes of
//! diffusion on simplices, nodal. In single precision states are stored so, and calculated with in
//! double precision, which the tensor cores have.

use crate::cuda::simplices::fragments::{
    Padding, SimplexTables, fragment, pairs, steps, tiles, weight_adjusted,
};
use crate::cuda::text::kernel_text::{KernelText, LaunchShape, Sizes, reference_normals};
use crate::cuda::text::passes::Passes;
use crate::cuda::text::setting::{File, OF_A_BLOCK, SHARED, Setting, blocks_of};
use crate::error::OpsError;
use crate::lanes::simd::PackScalar;
use crate::space::connect::ORIENTATIONS;
use crate::space::geometry::reference_normal;
use crate::space::group::volume_matrices;
use crate::space::lifting::{face_derivatives, penalty};
use crate::space::quadratic::places;
use crate::space::scheme::{Form, MetricRule};
use dgsuite_basis::{Matrix, ReferenceElement, Representation, Shape};
use dgsuite_gpu::cuda::Source;

/// Number of elements of a warp.
const GROUP: usize = 8;
/// Derivatives along a face smaller than this, relative to those across, are zero.
const SAME_SLOPE: f64 = 1e-10;

/// Variants of the first pass; see the head of simplex_gradient.cu.
#[derive(Clone, Copy)]
struct Build {
    warps: usize,
    /// Number of warps that share eight elements.
    team: usize,
    blocks: usize,
    buffers: usize,
    /// Whether half jumps are stored in shared memory.
    jumps: bool,
}

/// The part of the first pass that a kernel computes; WORK of simplex_gradient.cu.
#[derive(Clone, Copy)]
enum Work {
    All,
    Faces,
    Volume,
}

/// The kernels of the first pass.
enum Builds {
    One(Build),
    /// One kernel for faces, then one for the volume.
    Two(Build, Build),
}

/// The variants that were the fastest on an H200 of those tried, for each shape and order.
fn builds(shape: Shape, order: usize, collocated: bool) -> Builds {
    let kept = |warps, blocks, buffers| Build { warps, team: 1, blocks, buffers, jumps: false };
    let waiting = |warps, blocks, buffers| Build { warps, team: 1, blocks, buffers, jumps: true };
    let pairs = |warps| Build { team: 2, ..waiting(warps, 1, 1) };
    Builds::One(match (shape, order) {
        (Shape::Triangle, 0..=2) => kept(4, 4, 2),
        (Shape::Triangle, 4) if collocated => waiting(4, 3, 1),
        (Shape::Triangle, 3 | 4) => kept(4, 3, 2),
        (Shape::Triangle, 5) => kept(4, 2, 2),
        (Shape::Triangle, _) => kept(8, 1, 1),
        (_, 0 | 1) => waiting(4, 3, 2),
        (_, 2) => waiting(12, 1, 1),
        (_, 3) if collocated => waiting(8, 1, 1),
        (_, 3 | 4) => pairs(8),
        _ => return Builds::Two(waiting(8, 1, 1), kept(8, 1, 1)),
    })
}

/// The operators of both passes.
pub(crate) struct SimplexDiffusion {
    pub(crate) tables: SimplexTables,
    /// In the order of simplex_gradient.cu.
    entries: Vec<f64>,
    /// Offsets of operators that may stay in global memory, and the end.
    cuts: [usize; 5],
    /// Offset of the lifts.
    lift_at: usize,
    /// Where the places of points begin, from which the geometry is computed of elements that have maps.
    places_at: usize,
}

impl SimplexDiffusion {
    /// The operators of a part; `None` if these kernels do not support it.
    ///
    /// # Errors
    /// Errors of reference elements.
    pub(crate) fn new<T: PackScalar>(
        of: &Setting<'_, T>,
        form: Form,
        eta: Option<f64>,
    ) -> Result<Option<Self>, OpsError> {
        let Setting { group, part, .. } = *of;
        let Representation::Nodal(nodes) = part.spec.element.representation else { return Ok(None) };
        let weighted = part.spec.rule == MetricRule::WeightAdjusted;
        let known = part.spec.rule != MetricRule::Stored && !(weighted && part.collocated);
        if !known || group.state.rows < 3 {
            return Ok(None);
        }
        let reference = &part.reference;
        let project = volume_matrices(reference, form, group.shape.dim());
        let Some(tables) = SimplexTables::new(reference, nodes, &project, false)? else { return Ok(None) };
        let (np, nq, dim) = (reference.n_basis, reference.volume.points.len(), group.shape.dim());
        let ng = reference.face_offsets[1];
        // Operators of the faces, operators of the volume points, and the lifts, which only the second pass
        // uses.
        let lifts_at = tables.project_at - group.shape.n_faces() * steps(ng) * tiles(np) * 32;
        let face_at = if part.collocated { 0 } else { tiles(nq) * steps(np) * 32 };
        let mut entries = tables.entries[face_at..lifts_at].to_vec();
        let faces = || 0..group.shape.n_faces();
        let face_slope_at = entries.len();
        for f in faces() {
            let Some(face) =
                FaceOperators::new(reference, f, &tables.face_nodes[f], penalty(group.shape, eta))
            else {
                return Ok(None);
            };
            face.write(&mut entries);
        }
        let volume_at = entries.len();
        entries.extend_from_slice(&tables.entries[..face_at]);
        let lifted = reference.interp_volume.mul(&reference.lift);
        let shares = |tile: usize| dim == 2 && has_half(nq) && tile + 1 == tiles(nq);
        for f in faces() {
            let first = reference.face_offsets[f];
            let normal = reference_normal(group.shape, f);
            let a =
                Matrix::from_fn(nq, ng, |q, k| normal.iter().sum::<f64>().signum() * lifted[(q, first + k)]);
            for (tile, step) in pairs(tiles(nq), steps(ng)) {
                if shares(tile) {
                    let of = [0, 1].map(|d| a.scaled(normal[d].abs()));
                    both(&of, tile, step, &mut entries);
                } else {
                    fragment(&a, step, tile, Padding::Zero, &mut entries);
                }
            }
        }
        let slope_at = entries.len();
        for (tile, step) in pairs(tiles(nq), steps(np)) {
            if let ([a, b], true) = (&reference.derivative[..], shares(tile)) {
                both(&[a.clone(), b.clone()], tile, step, &mut entries);
            } else {
                reference
                    .derivative
                    .iter()
                    .for_each(|a| fragment(a, step, tile, Padding::Zero, &mut entries));
            }
        }
        let project_at = entries.len();
        entries.extend_from_slice(&tables.entries[tables.project_at..]);
        let lift_at = entries.len();
        entries.extend_from_slice(&tables.entries[lifts_at..tables.project_at]);
        if weighted {
            entries.extend_from_slice(&tables.entries[..face_at]);
            weight_adjusted(reference, &mut entries);
        }
        let places_at = entries.len();
        if !part.map.is_empty() {
            entries.extend(places(reference));
        }
        debug_assert!(signs_are_plain(reference, dim));
        let cuts = [face_slope_at, volume_at, slope_at, project_at, lift_at];
        Ok(Some(Self { tables, entries, cuts, lift_at, places_at }))
    }

    /// Builds a kernel of the first pass with as many warps as fit the device, at most as many as in `b` and
    /// at least half of them.
    fn widest<T: PackScalar>(&self, of: &Setting<'_, T>, work: Work, b: Build) -> Option<KernelText> {
        let least = b.warps.div_ceil(2);
        (least..=b.warps)
            .rev()
            .filter(|warps| warps % b.team == 0)
            .find_map(|warps| self.work(of, work, Build { warps, ..b }))
    }

    /// Builds a kernel of the first pass.
    fn work<T: PackScalar>(&self, of: &Setting<'_, T>, work: Work, b: Build) -> Option<KernelText> {
        let (sizes, group) = (of.sizes(), of.group);
        let faces_waiting = match work {
            Work::Faces => 1,
            Work::All if b.jumps => sizes.faces,
            Work::All | Work::Volume => 0,
        };
        let jumps = faces_waiting * steps(group.face_offsets[1]) * sizes.fields * 32;
        let teams = b.warps / b.team;
        let states = teams * b.buffers * GROUP * sizes.np * sizes.fields;
        let nodes = self.tables.face_nodes[0].len();
        let rows = (sizes.faces * ORIENTATIONS + sizes.faces) * nodes;
        // Rows of an even number of unknowns are copied in pairs.
        let ahead = sizes.fields.is_multiple_of(2) && b.team == 1 && !matches!(work, Work::Volume);
        let across = if ahead { b.warps * sizes.faces * steps(nodes) * sizes.fields * 32 } else { 0 };
        let bytes =
            |in_shared: usize| 8 * (in_shared + teams * jumps) + T::BYTES * (states + across) + 4 * rows;
        let [_, volume_at, .., end] = self.cuts;
        let (from, most) = match work {
            Work::All => (0, end),
            Work::Faces => (0, volume_at),
            Work::Volume => (volume_at, end),
        };
        // The last operators may stay in global memory; all of them, if no operator is for faces only.
        let to = self
            .cuts
            .into_iter()
            .rev()
            .filter(|&cut| cut >= from && cut <= most)
            .find(|&cut| b.blocks * (bytes(cut - from) + OF_A_BLOCK) <= SHARED)?;
        let source = self
            .text(of, "simplex_gradient.cu", include_str!("simplex_gradient.cu"), true)
            .define("STAGE", 0)
            .define("WORK", work as u8)
            .define("WARPS", b.warps)
            .define("TEAM", b.team)
            .define("BLOCKS", b.blocks)
            .define("BUFFERS", b.buffers)
            .define("JUMPS", u8::from(b.jumps))
            .define("AHEAD", u8::from(ahead))
            .define("TABLES_FROM", from)
            .define("TABLES_TO", to);
        let (threads, elements, shared) = (32 * b.warps, GROUP * teams, bytes(to - from));
        let shape = LaunchShape { threads, elements, shared, work: 0, persistent: true };
        Some(KernelText::new(source, shape, true))
    }

    /// A text of either pass; `quadratic` allows geometry computed from derivatives of maps.
    fn text<T: PackScalar>(
        &self,
        of: &Setting<'_, T>,
        name: &'static str,
        text: &'static str,
        quadratic: bool,
    ) -> Source {
        let sizes = Sizes { direct: true, ..of.sizes() };
        let file = File { name, text, headers: &["rows.cuh", "fragments.cuh", "published.cuh"] };
        of.wide_with_sizes(file, &sizes)
            .define("FACE_NODES", self.tables.face_nodes[0].len())
            .define("FACE_POINTS", of.group.face_offsets[1])
            .define("FACE_INTERP", u8::from(self.tables.face_interp))
            .define("CODES", sizes.faces * ORIENTATIONS)
            .define("REFERENCE_NORMALS", reference_normals(of.group.shape))
            .define("QUADRATIC", u8::from(quadratic && !of.part.map.is_empty()))
            .define("PLACES_AT", self.places_at)
    }
}

impl<T: PackScalar> Passes<T> for SimplexDiffusion {
    fn gradient(&self, of: &Setting<'_, T>) -> Option<Vec<KernelText>> {
        match builds(of.group.shape, of.part.spec.element.order, of.part.collocated) {
            Builds::One(build) => Some(vec![self.widest(of, Work::All, build)?]),
            Builds::Two(faces, volume) => {
                Some(vec![self.widest(of, Work::Faces, faces)?, self.widest(of, Work::Volume, volume)?])
            }
        }
    }

    fn mean_flux(&self, of: &Setting<'_, T>, stage: bool) -> Option<KernelText> {
        let (sizes, group) = (of.sizes(), of.group);
        let (warps, rate) = (4, tiles(sizes.np) * sizes.fields * 4);
        // Registers for the rates and about 40 more, or 60 if the fluxes of a face need two steps; the
        // weight-adjusted rule needs two unknowns of the rates a second time.
        let more = if sizes.fields == 4 && steps(group.face_offsets[1]) > 1 { 64 } else { 48 };
        let weighted = sizes.rule == MetricRule::WeightAdjusted;
        let more = more + if weighted { 4 * steps(sizes.np) } else { 0 };
        let blocks = blocks_of(32 * warps, rate + more).clamp(2, 8);
        let staged = if sizes.fields.is_multiple_of(2) { 0 } else { warps * GROUP * sizes.np * sizes.fields };
        let shared = 8 * (self.places_at - self.lift_at + staged);
        if shared > SHARED {
            return None;
        }
        // The metric terms of tetrahedra do not fit into the registers together with the rates.
        let (name, body) = ("simplex_mean_flux.cu", include_str!("simplex_mean_flux.cu"));
        let source = self
            .text(of, name, body, sizes.dim == 2)
            .define("STAGE", u8::from(stage))
            .define("WARPS", warps)
            .define("BLOCKS", blocks)
            .define("LIFT_AT", self.lift_at);
        let (threads, elements) = (32 * warps, GROUP * warps);
        let shape = LaunchShape { threads, elements, shared, work: 0, persistent: true };
        Some(KernelText::new(source, shape, true))
    }

    fn into_entries(self) -> Vec<f64> {
        self.entries
    }
}

/// Operators of the gradient at the points of a face, in directions of the face. Across: the first reference
/// direction in which its normal has a component. Along: the other directions, minus the first one if the
/// normal has a component in all directions.
struct FaceOperators {
    /// From half jumps to the direction across.
    lift: Matrix,
    /// From the state to the direction across.
    across: Matrix,
    /// From face nodes to the directions along.
    along: Vec<Matrix>,
    /// From the state to the directions along.
    along_of_state: Vec<Matrix>,
}

impl FaceOperators {
    /// The operators of face `f`; `None` if derivatives along it depend on more than the nodes on it.
    fn new(reference: &ReferenceElement, f: usize, nodes: &[usize], eta: f64) -> Option<Self> {
        let (first, np) = (reference.face_offsets[f], reference.n_basis);
        let ng = reference.face_offsets[f + 1] - first;
        let dim = reference.spec.shape.dim();
        let normal = &reference_normal(reference.spec.shape, f)[..dim];
        let own = reference.interp_face.mul(&reference.lift);
        let sign = eta * normal.iter().sum::<f64>().signum();
        let slopes = face_derivatives(reference);
        let across = normal.iter().position(|x| x.abs() > 0.5)?;
        let slanted = f64::from(u8::from(normal.iter().all(|x| x.abs() > 0.5)));
        let entry = |d: usize, q: usize, i: usize| {
            slopes[d][(first + q, i)] - slanted * slopes[across][(first + q, i)]
        };
        let others: Vec<usize> = (0..dim).filter(|&d| d != across).collect();
        let size = slopes[across].max_abs();
        let apart = |d: usize| {
            let on_face = |i: usize| nodes.contains(&i);
            pairs(ng, np).all(|(q, i)| on_face(i) || entry(d, q, i).abs() < SAME_SLOPE * size)
        };
        if !others.iter().all(|&d| apart(d)) {
            return None;
        }
        Some(Self {
            lift: Matrix::from_fn(ng, ng, |q, k| sign * own[(first + q, first + k)]),
            across: Matrix::from_fn(ng, np, |q, i| slopes[across][(first + q, i)]),
            along: others
                .iter()
                .map(|&d| Matrix::from_fn(ng, nodes.len(), |q, n| entry(d, q, nodes[n])))
                .collect(),
            along_of_state: others.iter().map(|&d| Matrix::from_fn(ng, np, |q, i| entry(d, q, i))).collect(),
        })
    }

    /// Appends the fragments in the order of simplex_gradient.cu.
    fn write(&self, entries: &mut Vec<f64>) {
        let ng = self.lift.rows;
        for tile in 0..tiles(ng) {
            for step in 0..steps(ng) {
                fragment(&self.lift, step, tile, Padding::Zero, entries);
            }
            if let ([along], true) = (&self.along_of_state[..], has_half(ng) && tile + 1 == tiles(ng)) {
                let of = [self.across.clone(), along.clone()];
                (0..steps(of[0].cols)).for_each(|step| both(&of, tile, step, entries));
                continue;
            }
            for step in 0..steps(self.across.cols) {
                fragment(&self.across, step, tile, Padding::Zero, entries);
            }
            for step in 0..steps(self.along[0].cols) {
                self.along.iter().for_each(|a| fragment(a, step, tile, Padding::Zero, entries));
            }
        }
    }
}

/// Whether the last tile of `n` rows needs one step only.
const fn has_half(n: usize) -> bool {
    steps(n) % 2 == 1
}

/// The fragment of two operators whose outputs share a last tile (of at most four rows): the first uses its
/// even columns.
fn both(of: &[Matrix; 2], tile: usize, step: usize, entries: &mut Vec<f64>) {
    let row = |r: usize| 8 * tile + r / 2;
    let a =
        Matrix::from_fn(8, of[0].cols, |r, c| if row(r) < of[0].rows { of[r % 2][(row(r), c)] } else { 0.0 });
    fragment(&a, step, 0, Padding::Zero, entries);
}

/// Whether every `N̂` has entries of one sign and of magnitude 1, as the tables of liftings assume.
fn signs_are_plain(reference: &ReferenceElement, dim: usize) -> bool {
    (0..reference.spec.shape.n_faces()).all(|f| {
        let n = reference_normal(reference.spec.shape, f);
        let one = |s: f64| n.iter().take(dim).all(|&x| x == 0.0 || (x - s).abs() < 1e-12);
        one(1.0) || one(-1.0)
    })
}
