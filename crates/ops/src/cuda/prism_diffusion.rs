//! The texts and launches of `prism_gradient.cu` and `prism_mean_flux.cu`: both passes of diffusion on collocated prisms.

use crate::cuda::prism::{PrismTables, agree};
use crate::cuda::source::{KernelText, LaunchShape, LawText, Sizes, reference_normals, source};
use crate::cuda::tensor::elements_near;
use crate::geometry::reference_normal;
use crate::group::{Group, Part};
use crate::lifting::penalty;
use crate::scheme::{Form, MetricRule, PartSpec};
use crate::simd::PackScalar;
use dgsuite_basis::{BasisError, ReferenceElement, Shape};

/// Bytes of shared memory of a multiprocessor that its blocks may have.
const SHARED: usize = 227 * 1024;
/// Registers of a multiprocessor.
const REGISTERS: usize = 65_536;
/// Threads of a block that both passes aim at.
const NEAR_THREADS: usize = 160;
/// Highest order whose gradients and jumps fit the shared memory of a block.
const MOST_ORDER: usize = 7;
/// Registers that the passes are held to.
const GRADIENT_REGISTERS: usize = 128;
const MEAN_REGISTERS: usize = 64;

/// The operators of both passes of a part.
pub(super) struct PrismDiffusion {
    tables: PrismTables,
    /// Those of `prism.cu`, then the layer's derivatives `[direction][column][row]` and the line's `[row][column]`.
    pub(super) entries: Vec<f64>,
}

/// Whether these kernels run the elements of `specs`.
///
/// # Errors
/// Those of reference elements.
pub(super) fn is_known(specs: [Option<PartSpec>; 2], form: Form) -> Result<bool, BasisError> {
    for spec in specs.into_iter().flatten() {
        let metric = matches!(spec.rule, MetricRule::Affine | MetricRule::Collocated);
        let known = spec.element.shape == Shape::Prism && spec.element.order <= MOST_ORDER && metric;
        if !known || entries(&ReferenceElement::new(&spec.element)?, form).is_none() {
            return Ok(false);
        }
    }
    Ok(true)
}

/// The tables of `prism.cu`, and with the derivatives behind them; `None` unless all are products.
fn entries(reference: &ReferenceElement, form: Form) -> Option<(PrismTables, Vec<f64>)> {
    let tables = PrismTables::new(reference, form)?;
    let (n, nt) = (tables.n_nodes, tables.n_triangle);
    let slopes = &reference.derivative;
    let entry = |d: usize, i: usize, j: usize| {
        let ((z, t), (zj, tj)) = ((i / nt, i % nt), (j / nt, j % nt));
        match d {
            2 if t == tj => slopes[2][(z * nt, zj * nt)],
            0 | 1 if z == zj => slopes[d][(t, tj)],
            _ => 0.0,
        }
    };
    if !(0..3).all(|d| agree(&slopes[d], |i, j| entry(d, i, j))) {
        return None;
    }
    let mut all = tables.entries.clone();
    for d in 0..2 {
        all.extend((0..nt * nt).map(|i| entry(d, i % nt, i / nt)));
    }
    all.extend((0..n * n).map(|i| entry(2, i / n * nt, i % n * nt)));
    Some((tables, all))
}

impl PrismDiffusion {
    /// The operators of a part, or nothing if these kernels can't run it.
    pub(super) fn new<T: PackScalar>(group: &Group<T>, part: &Part<T>, form: Form) -> Option<Self> {
        if !group.state.planar || group.face_nodes.is_none() {
            return None;
        }
        let (tables, entries) = entries(&part.reference, form)?;
        Some(Self { tables, entries })
    }

    /// The first pass; `None` if it does not fit the device.
    pub(super) fn gradient<T: PackScalar>(
        &self,
        law: &LawText,
        group: &Group<T>,
        part: &Part<T>,
    ) -> Option<KernelText> {
        let sizes = Sizes::new(group, part);
        let elements = elements_near(sizes.np, NEAR_THREADS);
        let blocks = blocks(elements * sizes.np, GRADIENT_REGISTERS);
        let (state, faces) = (elements * sizes.np * sizes.fields, elements * sizes.nf * sizes.fields);
        // The plan of shared memory of prism_gradient.cu.
        let plan = |rooms: usize| {
            T::BYTES
                * (self.entries.len().next_multiple_of(2) + state + 2 * faces + rooms * sizes.dim * state)
        };
        let separate = blocks * (plan(2) + 1024) <= SHARED;
        let shared = plan(1 + usize::from(separate));
        if shared > SHARED {
            return None;
        }
        let eta = law.lifts.and_then(|lifts| lifts.eta);
        let name = "prism_gradient.cu";
        let mut found =
            self.text(name, include_str!("prism_gradient.cu"), law, group, part, elements, blocks, shared);
        found.source = found
            .source
            .define("STAGE", 0)
            .define("SEPARATE", u8::from(separate))
            .define("NORMALS", u8::from(sizes.curved))
            .define("REFERENCE_NORMALS", reference_normals(group.shape))
            .define("SIDE_NORMALS", self.side_normals(group.shape))
            .define("ETA", format!("{:?}", penalty(group.shape, eta)));
        Some(found)
    }

    /// The second pass, alone or with the stage.
    pub(super) fn mean_flux<T: PackScalar>(
        &self,
        law: &LawText,
        group: &Group<T>,
        part: &Part<T>,
        stage: bool,
    ) -> KernelText {
        let sizes = Sizes::new(group, part);
        let elements = elements_near(sizes.np, NEAR_THREADS);
        let blocks = blocks(elements * sizes.np, MEAN_REGISTERS);
        // The plan of shared memory of prism_mean_flux.cu.
        let lifts = 3 * self.tables.n_nodes * self.tables.n_triangle;
        let shared = T::BYTES * (lifts.next_multiple_of(2) + elements * sizes.nf * sizes.fields);
        let name = "prism_mean_flux.cu";
        let mut found =
            self.text(name, include_str!("prism_mean_flux.cu"), law, group, part, elements, blocks, shared);
        found.source = found.source.define("STAGE", u8::from(stage));
        found
    }

    /// `N̂` of the sides in the plane of a layer; along the line it is 0.
    fn side_normals(&self, shape: Shape) -> String {
        let rows = self.tables.sides.iter().map(|&f| {
            let n = reference_normal(shape, f);
            format!("{{{},{}}}", n[0].round() as i64, n[1].round() as i64)
        });
        format!("{{{}}}", rows.collect::<Vec<_>>().join(","))
    }

    fn text<T: PackScalar>(
        &self,
        name: &str,
        text: &str,
        law: &LawText,
        group: &Group<T>,
        part: &Part<T>,
        elements: usize,
        blocks: usize,
        shared: usize,
    ) -> KernelText {
        let sizes = Sizes::new(group, part);
        let headers = "#include \"normals.cuh\"\n#include \"published.cuh\"\n";
        let headers = if name == "prism_gradient.cu" { headers } else { "#include \"published.cuh\"\n" };
        let body = format!("{}{headers}#line 1 \"{name}\"\n{text}", law.preamble());
        let source = self
            .tables
            .define(sizes.define(source::<T>(name, body), &group.face_offsets))
            .define("ELEMENTS", elements)
            .define("BLOCKS", blocks);
        let threads = elements * sizes.np;
        let shape = LaunchShape { threads, elements, shared, work: 0, persistent: false };
        KernelText { source, shape, wide: false }
    }
}

/// Blocks of a multiprocessor that has so many registers for each thread.
fn blocks(threads: usize, registers: usize) -> usize {
    (REGISTERS / (registers * threads.next_multiple_of(32))).clamp(1, 32)
}
