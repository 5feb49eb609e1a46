//! Kernel texts of limiters, and the tables of their passes over the elements of a part.

use crate::cuda::text::setting::{OF_A_BLOCK, SHARED, list};
use crate::error::OpsError;
use crate::lanes::simd::PackScalar;
use crate::rhs::discretization::Discretization;
use crate::rhs::limiter::{BISECTIONS, Bounds, ENERGY_FLOOR, FLOOR, Tables};
use crate::space::scheme::MetricRule;
use dgsuite_basis::Matrix;
use dgsuite_gpu::cuda::Source;
use dgsuite_physics::trace::{PRELUDE, Parameters, ROOTS};

/// Threads of a block of the passes over all elements.
pub(crate) const THREADS: usize = 128;
/// Shared memory of a block in bytes above which more lanes process an element.
const ROOMY: usize = 32 * 1024;
/// States at points that a lane computes at a time, times the unknowns.
const AT_A_TIME: usize = 32;
/// Modes that a lane computes at a time.
const MODES: usize = 4;
/// Largest number of threads for an element of the list.
const MOST_THREADS: usize = 128;

/// The text of a kernel and its launch configuration.
pub(crate) struct LimiterText {
    pub(crate) source: Source,
    pub(crate) threads: usize,
    /// Elements of a block.
    pub(crate) elements: usize,
    /// Bytes of shared memory.
    pub(crate) shared: usize,
}

/// The text in front of the kernels, with the functions of the law.
pub(crate) struct Preamble {
    text: String,
    /// Values of the parameters.
    pub(crate) parameters: Vec<f64>,
    pub(crate) fields: usize,
}

impl Preamble {
    pub(crate) fn new(law: &dyn Bounds) -> Result<Self, OpsError> {
        let mut parameters = Parameters::new();
        let bounded = law.device_source(&mut parameters)?;
        let text = format!("#include \"device.cuh\"\n{ROOTS}{PRELUDE}{}{bounded}", parameters.definition());
        let mut values = parameters.values();
        values.resize(values.len().max(1), 0.0);
        Ok(Self { text, parameters: values, fields: law.n_fields() })
    }

    /// A text with the macros of all limiters' kernels.
    fn source<T: PackScalar>(&self, name: &str, body: &str) -> Source {
        Source::new(name, format!("{}#line 1 \"{name}\"\n{body}", self.text))
            .header("limiter.cuh", include_str!("limiter.cuh"))
            .define("STATE_REAL", if T::BYTES == 4 { "float" } else { "double" })
            .define("FIELDS", self.fields)
            .define("FLOOR", format!("{:?}", FLOOR * T::EPSILON.to_f64()))
            .define("ENERGY_FLOOR", format!("{:?}", ENERGY_FLOOR * T::EPSILON.to_f64()))
    }

    /// A text with the macros of `limiter_elements.cuh` that do not depend on the launch, for part `p` of
    /// group `g`.
    pub(crate) fn elements<T: PackScalar>(
        &self,
        name: &str,
        body: &str,
        d: &Discretization<T>,
        (g, p): (usize, usize),
        t: &Tables,
    ) -> Source {
        let layout = d.groups[g].state;
        self.source::<T>(name, body)
            .header("limiter_elements.cuh", include_str!("limiter_elements.cuh"))
            .define("LANES", layout.lanes)
            .define("PLANAR", u8::from(layout.planar))
            .define("NP", t.np)
            .define("CURVED", u8::from(d.groups[g].parts[p].spec.rule != MetricRule::Affine))
    }

    /// Builds the kernel for the elements of the list; `points` and `most` are the largest numbers of points
    /// and of coefficients of an element.
    ///
    /// # Errors
    /// [`OpsError::NotOnDevices`] if an element does not fit shared memory.
    pub(crate) fn apply<T: PackScalar>(&self, points: usize, most: usize) -> Result<LimiterText, OpsError> {
        let threads = points.next_multiple_of(32).clamp(32, MOST_THREADS);
        let source = self
            .source::<T>("limiter_apply.cu", include_str!("limiter_apply.cu"))
            .define("BLOCK", threads)
            .define("MOST", most)
            .define("BISECTIONS", BISECTIONS);
        fitting(LimiterText { source, threads, elements: 1, shared: 2 * most * size_of::<f64>() })
    }
}

/// The finished text, if a block of its kernel fits shared memory.
pub(crate) fn fitting(mut text: LimiterText) -> Result<LimiterText, OpsError> {
    if text.threads == 0 || text.shared + OF_A_BLOCK > SHARED {
        return Err(OpsError::NotOnDevices { what: "limiters of so high an order" });
    }
    text.source = text.source.define("SHARED_BYTES", text.shared);
    Ok(text)
}

/// The passes over the elements of a part: text and tables, see limiter.cu.
pub(crate) struct PassText {
    pub(crate) text: LimiterText,
    /// Values at the points that are not nodes, `[basis function][point]`, rows filled up.
    pub(crate) at: Vec<f64>,
    /// `[volume point][mode]`, the modes of the highest degree last, rows filled up.
    pub(crate) sensor: Vec<f64>,
    /// Means of the basis functions, once or for each slot.
    pub(crate) mean: Vec<f64>,
    /// From coefficients to the linear modes, `[linear mode][basis function]`.
    pub(crate) linear: Vec<f64>,
    /// Values of the linear modes, `[linear mode][point]`.
    pub(crate) points: Vec<f64>,
    /// From the constant and the linear modes to coefficients, `[basis function][mode]`.
    pub(crate) back: Vec<f64>,
}

impl PassText {
    /// Builds text and tables for part `p` of group `g`.
    ///
    /// # Errors
    /// [`OpsError::NotOnDevices`] if an element does not fit shared memory.
    pub(crate) fn new<T: PackScalar>(
        preamble: &Preamble,
        d: &Discretization<T>,
        (g, p): (usize, usize),
        t: &Tables,
    ) -> Result<Self, OpsError> {
        let (fields, np) = (preamble.fields, t.np);
        let (to, from) = to_and_from(t);
        let at = t.values.mul(&to);
        let (nodes, dense) = dense_points(&at, t.nq);
        let linear: Vec<usize> = (1..np).filter(|&i| t.degrees[i] <= 1).collect();
        let below: Vec<usize> = (0..np).filter(|&i| t.degrees[i] < t.order).collect();
        let top = (0..np).filter(|&i| t.degrees[i] == t.order);

        let room = (np * fields + t.nq.max((linear.len() + 2) * fields)) | 1;
        let (bytes, per) = (room * size_of::<f64>(), AT_A_TIME / fields);
        let mut width = 1;
        while width < 32 && (dense.len().max(np).div_ceil(width) > per || THREADS / width * bytes > ROOMY) {
            width *= 2;
        }
        let warps = (THREADS / 32).min((SHARED - OF_A_BLOCK) / (32 / width * bytes));
        let per = dense.len().div_ceil(width).clamp(1, per);
        let source = preamble
            .elements::<T>("limiter.cu", include_str!("limiter.cu"), d, (g, p), t)
            .define("NQ", t.nq)
            .define("NC", t.nc)
            .define("NODES", nodes)
            .define("BLOCK", warps * 32)
            .define("WIDTH", width)
            .define("ROOM", room)
            .define("PER", per)
            .define("MODES", MODES)
            .define("TOP", below.len())
            .define("THRESHOLD", format!("{:?}", t.threshold()))
            .define("LINEAR", linear.len())
            .define("LINEAR_MODES", list(&linear));
        let (elements, shared) = (warps * 32 / width, warps * 32 / width * bytes);
        let text = fitting(LimiterText { source, threads: warps * 32, elements, shared })?;

        let rows = |columns: &[usize], width: usize, n: usize, entry: &dyn Fn(usize, usize) -> f64| {
            let row = columns.len().next_multiple_of(width);
            let mut out = vec![0.0; n * row];
            for (i, out) in out.chunks_exact_mut(row.max(1)).enumerate() {
                for (x, &c) in out.iter_mut().zip(columns) {
                    *x = entry(i, c);
                }
            }
            out
        };
        let modes: Vec<usize> = below.iter().copied().chain(top).collect();
        let (points, first): (Vec<usize>, _) = ((0..t.nc).collect(), [0]);
        Ok(Self {
            text,
            at: rows(&dense, width * per, np, &|i, q| at[(q, i)]),
            sensor: rows(&modes, width * MODES, t.nq, &|q, m| t.sensor[(m, q)]),
            mean: t.means.chunks_exact(np).flat_map(|nu| to.transpose().mul_vec(nu)).collect(),
            linear: linear.iter().flat_map(|&m| to.row(m).to_vec()).collect(),
            points: rows(&points, 1, linear.len(), &|j, q| t.values[(q, linear[j])]),
            back: rows(&[&first[..], &linear].concat(), 1, np, &|i, m| from[(i, m)]),
        })
    }
}

/// The matrices from coefficients to modes and back.
pub(crate) fn to_and_from(t: &Tables) -> (Matrix, Matrix) {
    t.modes.clone().unwrap_or_else(|| (Matrix::identity(t.np), Matrix::identity(t.np)))
}

/// Which points are the nodes (0: none, 1: the volume points, 2: the last ones), and all other points.
fn dense_points(at: &Matrix, nq: usize) -> (usize, Vec<usize>) {
    let (nc, np) = (at.rows(), at.cols());
    let are_nodes = |first: usize| {
        let unit = |i: usize, j: usize| if i == j { 1.0 } else { 0.0 };
        (0..np).all(|i| (0..np).all(|j| (at[(first + i, j)] - unit(i, j)).abs() < 1e-12))
    };
    if nq == np && are_nodes(0) {
        (1, (np..nc).collect())
    } else if nq + np <= nc && are_nodes(nc - np) {
        (2, (0..nc - np).collect())
    } else {
        (0, (0..nc).collect())
    }
}
