//! Norms and integrals of a state on a device, without copying the state to the host.
//!
//! Integrands are translated formulas of the state, its gradient, position and time. The host computes
//! integrals whose formulas cannot be translated or whose tables are too large. Integrals of elements are
//! added exactly, as on the host: the same bits for any number of ranks.

use crate::cuda::run::discretization::CudaDiscretization;
use crate::cuda::run::measure_tables::{Elements, TEAM, Traces, elements};
use crate::cuda::terms::exact_sums::TermSums;
use crate::fields::integrals::Norms;
use crate::lanes::simd::PackScalar;
use crate::rhs::discretization::Discretization;
use dgsuite_gpu::GpuError;
use dgsuite_gpu::cuda::{Args, DeviceBuffer, Function, LaunchConfig, Source};
use dgsuite_physics::Exact;
use dgsuite_physics::trace::{PRELUDE, Parameters, ROOTS, TraceError};
use std::fmt::Write;

/// Threads of a block, a power of two.
const BLOCK: usize = 128;
/// Smallest number of threads of a team.
const SMALLEST: usize = 8;
/// Largest shared memory of a block in bytes, if elements of one team are less.
const SHARED: usize = 48 << 10;
/// Numbers that a thread should not keep more of.
const KEPT: usize = 48;

/// The points at which integrands are evaluated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PointRule {
    /// A rule of this degree on every shape.
    Degree(usize),
    /// The scheme's own volume cubature.
    Own,
}

/// Tables and kernels used so far, which are kept for later measurements.
#[derive(Default)]
pub struct Measures {
    rules: Vec<(PointRule, bool, Vec<Elements>)>,
    traces: Option<Traces>,
    kernels: Vec<Kernels>,
}

/// The kernels that measure an integrand, with their memory.
struct Kernels {
    text: String,
    measure: Function,
    largest: Function,
    /// Of traces and of points on boundaries, with gradients.
    traces: Option<[Function; 2]>,
    sums: TermSums,
    result: DeviceBuffer<f64>,
}

/// An integrand: text of `integrand`, its parameters, and the number of its values.
pub struct Integrand {
    text: String,
    parameters: Parameters,
    n: usize,
    gradients: bool,
    /// Whether the largest values are wanted.
    largest: bool,
}

impl Integrand {
    /// Integrands of conserved states `u`, primitive states `w`, position and time, given by `trace` as text
    /// of the CUDA function `formulas(parameters, u, w, x, t, out)`.
    ///
    /// # Errors
    /// If a parameter has two values.
    pub fn of_formulas<T: PackScalar>(
        on: &CudaDiscretization<T>,
        n: usize,
        trace: impl FnOnce(&mut Parameters) -> Result<String, TraceError>,
    ) -> Result<Self, TraceError> {
        let mut parameters = Parameters::new();
        let mut text = on.description.physics.primitive_source(&mut parameters)?;
        text += &trace(&mut parameters)?;
        let body =
            "  real w[FIELDS];\n  primitive(parameters, u, w);\n  formulas(parameters, u, w, x, t, out);\n";
        Ok(Self { text: text + &function(body, false), parameters, n, gradients: false, largest: false })
    }

    /// Integrands of primitive states `w`, their derivatives `h`, `[axis][variable]`, position and time,
    /// given by `trace` as text of the CUDA function `formulas(parameters, w, h, x, t, out)`.
    ///
    /// # Errors
    /// If a parameter has two values.
    pub fn of_gradients<T: PackScalar>(
        on: &CudaDiscretization<T>,
        n: usize,
        trace: impl FnOnce(&mut Parameters) -> Result<String, TraceError>,
    ) -> Result<Self, TraceError> {
        let (mut parameters, physics) = (Parameters::new(), &on.description.physics);
        let mut text = physics.primitive_source(&mut parameters)?;
        text += &physics.slopes_source(&mut parameters)?;
        text += &trace(&mut parameters)?;
        let body = "  real w[FIELDS], h[DIM * FIELDS];\n  primitive(parameters, u, w);\n  slopes(parameters, u, g, \
                    h);\n  formulas(parameters, w, h, x, t, out);\n";
        Ok(Self { text: text + &function(body, true), parameters, n, gradients: true, largest: false })
    }

    /// A function of each conserved value `v` separately.
    fn of_values(fields: usize, expression: &str) -> Self {
        let body = format!(
            "  for (int k = 0; k < FIELDS; ++k) {{\n    const real v = u[k];\n    out[k] = {expression};\n  }}\n"
        );
        let text = function(&body, false);
        Self { text, parameters: Parameters::new(), n: fields, gradients: false, largest: false }
    }

    /// Absolute values and squares of the differences to `exact`: of the conserved values, then of the
    /// primitive ones with the numbers `extra`.
    fn of_errors<T: PackScalar>(
        on: &CudaDiscretization<T>,
        exact: &dyn Exact,
        extra: &[usize],
    ) -> Option<Result<Self, TraceError>> {
        let mut parameters = Parameters::new();
        let primitive = on.description.physics.primitive_source(&mut parameters);
        let reference = exact.recorded()?.device_fn("reference", &mut parameters);
        let fields = on.description.physics.n_fields();
        let n = fields + extra.len();
        let mut body = "  real r[FIELDS], w[FIELDS], v[FIELDS];\n  reference(parameters, x, t, r);\n  \
                        primitive(parameters, u, w);\n  primitive(parameters, r, v);\n"
            .to_owned();
        let differences = (0..fields)
            .map(|k| format!("u[{k}] - r[{k}]"))
            .chain(extra.iter().map(|i| format!("w[{i}] - v[{i}]")));
        for (i, e) in differences.enumerate() {
            let _ = writeln!(body, "  out[{i}] = fabs({e});\n  out[{}] = ({e}) * ({e});", n + i);
        }
        Some(primitive.and_then(|primitive| {
            let text = primitive + &reference? + &function(&body, false);
            Ok(Self { text, parameters, n: 2 * n, gradients: false, largest: true })
        }))
    }
}

fn function(body: &str, gradients: bool) -> String {
    let g = if gradients { "const real (&g)[DIM * FIELDS], " } else { "" };
    format!(
        "static __device__ void integrand(const Parameters& parameters, const real (&u)[FIELDS], {g}\
         const real (&x)[3], real t, real (&out)[M]) {{\n{body}}}\n"
    )
}

/// Elements of a team: as many as their values fit a thread, up to four.
fn elements_of_a_team(integrand: &Integrand, dim: usize, fields: usize) -> usize {
    let values = if integrand.gradients { fields * (1 + dim) } else { fields };
    let results = if integrand.largest { 2 * integrand.n } else { integrand.n };
    (KEPT / (values + results)).clamp(1, 4)
}

/// Builds the text of the kernels that measure `integrand`.
fn kernel_text<T: PackScalar>(integrand: &Integrand, dim: usize, fields: usize) -> Source {
    let text = format!(
        "#include \"device.cuh\"\n{ROOTS}{PRELUDE}{}{}#line 1 \"measure.cu\"\n{}",
        integrand.parameters.definition(),
        integrand.text,
        include_str!("measure.cu")
    );
    Source::new("measure.cu", text)
        .define("STATE_REAL", if T::BYTES == 4 { "float" } else { "double" })
        .define("DIM", dim)
        .define("FIELDS", fields)
        .define("M", integrand.n)
        .define("E", elements_of_a_team(integrand, dim, fields))
        .define("BLOCK", BLOCK)
        .define("SLOPES", u32::from(integrand.gradients))
        .define("LARGEST", u32::from(integrand.largest))
}

/// Sample texts, for compilation without a device: of values, and of gradients.
pub(crate) fn sample_texts<T: PackScalar>(dim: usize, fields: usize) -> [Source; 2] {
    let gradients = Integrand {
        text: function("  for (int m = 0; m < M; ++m) out[m] = g[m] * g[m];\n", true),
        parameters: Parameters::new(),
        n: dim,
        gradients: true,
        largest: false,
    };
    [Integrand::of_values(fields, "fabs(v)"), gradients]
        .map(|integrand| kernel_text::<T>(&integrand, dim, fields))
}

impl<T: PackScalar> CudaDiscretization<T> {
    /// Computes norms of the difference to `exact`, as
    /// [`Discretization::errors`](crate::Discretization::errors); `None` if the host must compute them.
    pub fn errors(
        &self,
        measures: &mut Measures,
        u: &DeviceBuffer<T>,
        exact: &dyn Exact,
        t: f64,
    ) -> Option<(Vec<String>, Norms)> {
        let physics = &self.description.physics;
        let (conserved, primitive) = (physics.variables(), physics.primitives());
        let extra: Vec<usize> =
            (0..primitive.len()).filter(|&i| !conserved.contains(&primitive[i])).collect();
        let mut names: Vec<String> = conserved.iter().map(ToString::to_string).collect();
        names.extend(extra.iter().map(|&i| primitive[i].to_string()));
        let integrand = Integrand::of_errors(self, exact, &extra)?.ok()?;
        let degree = 2 * self.description.order() + 4;
        let (sums, largest) = self.measure(measures, u, PointRule::Degree(degree), &integrand, t)?;
        let n = names.len();
        let norms = Norms {
            l1: sums[..n].to_vec(),
            l2: sums[n..].iter().map(|s| s.sqrt()).collect(),
            linf: largest[..n].to_vec(),
        };
        Some((names, norms))
    }

    /// Computes integrals of the conserved variables, or of their absolute values, by the scheme's own
    /// cubature; `None` if the host must compute them.
    pub fn totals(&self, measures: &mut Measures, u: &DeviceBuffer<T>, sizes: bool) -> Option<Vec<f64>> {
        // In single precision the scheme's own Jacobians are rounded.
        if T::BYTES != 8 {
            return None;
        }
        let integrand =
            Integrand::of_values(self.description.physics.n_fields(), if sizes { "fabs(v)" } else { "v" });
        Some(self.measure(measures, u, PointRule::Own, &integrand, 0.0)?.0)
    }

    /// Computes L² norms, for each conserved variable, of an array in the layout of the state; `None` if the
    /// host must compute them.
    pub fn norms(&self, measures: &mut Measures, rate: &DeviceBuffer<T>) -> Option<Vec<f64>> {
        let integrand = Integrand::of_values(self.description.physics.n_fields(), "v * v");
        let rule = PointRule::Degree(2 * self.description.order());
        let (squares, _) = self.measure(measures, rate, rule, &integrand, 0.0)?;
        Some(squares.into_iter().map(f64::sqrt).collect())
    }

    /// Computes the integrals of an integrand of values and, if it is of errors, its largest values. Returns
    /// `None` if the host must compute them; also after an error of the device, which the next step reports.
    pub fn measure(
        &self,
        measures: &mut Measures,
        u: &DeviceBuffer<T>,
        rule: PointRule,
        integrand: &Integrand,
        t: f64,
    ) -> Option<(Vec<f64>, Vec<f64>)> {
        self.measure_with(measures, u, rule, integrand, t, &self.description)
    }

    /// [`measure`](Self::measure) of an integrand of lifted gradients as well, with the conditions at
    /// boundaries of `outside`: a discretisation of the same mesh by the same scheme.
    pub fn measure_with<S: PackScalar>(
        &self,
        measures: &mut Measures,
        u: &DeviceBuffer<T>,
        rule: PointRule,
        integrand: &Integrand,
        t: f64,
        outside: &Discretization<S>,
    ) -> Option<(Vec<f64>, Vec<f64>)> {
        let gradients = integrand.gradients;
        let ready = self.prepare(measures, rule, integrand);
        // All ranks compute the integrals in the same way.
        let mut missing = [f64::from(u8::from(ready.is_none()))];
        if let Some(ranks) = self.description.ranks() {
            ranks.max(&mut missing);
        }
        let (place, of) = ready.filter(|_| missing[0] == 0.0)?;
        let Measures { rules, traces, kernels } = measures;
        let (elements, kernels) = (&rules[place].2, &mut kernels[of]);
        let traces = traces.as_mut().filter(|_| gradients);
        let sides = |minus: &[f64]| outside.boundary_jumps(minus, t);
        self.run_measure(u, elements, traces, kernels, integrand, t, sides).ok()
    }

    /// The indices of the tables of a rule and of the kernels of an integrand; `None` if the host must
    /// compute it.
    fn prepare(
        &self,
        measures: &mut Measures,
        rule: PointRule,
        integrand: &Integrand,
    ) -> Option<(usize, usize)> {
        let gradients = integrand.gradients;
        if !measures.rules.iter().any(|(known, with, _)| *known == rule && *with == gradients) {
            let elements = elements(self, rule, gradients).ok()??;
            measures.rules.push((rule, gradients, elements));
        }
        if gradients && measures.traces.is_none() {
            measures.traces = Some(Traces::new(self).ok()?);
        }
        let place =
            measures.rules.iter().position(|(known, with, _)| *known == rule && *with == gradients)?;
        Some((place, self.kernels_of(measures, integrand, place).ok()?))
    }

    /// The index of the kernels of an integrand, which are compiled if they are new.
    fn kernels_of(
        &self,
        measures: &mut Measures,
        integrand: &Integrand,
        rule: usize,
    ) -> Result<usize, GpuError> {
        let count: usize = measures.rules[rule].2.iter().map(|e| e.count).sum();
        // Parameters are arguments: their values are no part of the text.
        let text = format!("{}{}", integrand.parameters.definition(), integrand.text);
        if let Some(known) = measures.kernels.iter().position(|k| k.text == text) {
            return Ok(known);
        }
        let (dim, fields) = (self.description.physics.dim(), self.description.physics.n_fields());
        let cuda = self.cuda();
        let module = cuda.compile(&kernel_text::<T>(integrand, dim, fields))?;
        let largest = if integrand.largest { integrand.n * count } else { 0 };
        let traces =
            || -> Result<_, GpuError> { Ok([module.function("traces")?, module.function("picked")?]) };
        measures.kernels.push(Kernels {
            measure: module.function("measure")?,
            largest: module.function("largest_term")?,
            traces: if integrand.gradients { Some(traces()?) } else { None },
            sums: TermSums::new::<T>(cuda, fields, integrand.n, count, largest)?,
            result: DeviceBuffer::zeros(cuda, "a measurement", integrand.n)?,
            text,
        });
        Ok(measures.kernels.len() - 1)
    }

    /// Puts the states at face points into `traces`, and what lies beyond boundaries and other ranks' faces.
    /// Collective.
    fn put_traces(
        &self,
        u: &DeviceBuffer<T>,
        elements: &[Elements],
        traces: &mut Traces,
        [at_faces, picked]: &[Function; 2],
        jumps: impl Fn(&[f64]) -> Vec<f64>,
    ) -> Result<(), GpuError> {
        let (cuda, mut args) = (self.cuda(), Args::new());
        for e in elements {
            args.clear();
            args.buffer(u).value(e.words).buffer(&traces.values);
            // SAFETY: the arguments are the kernel's; there is a trace for each face point.
            unsafe { cuda.launch(at_faces, LaunchConfig::cover(e.count * e.n_face, BLOCK as u32), &args)? };
        }
        let n = traces.picked.len();
        if n > 0 {
            let config = LaunchConfig::cover(n * self.description.physics.n_fields(), BLOCK as u32);
            args.clear();
            args.buffer(&traces.values).buffer(&traces.picked).value(n as u32).buffer(&traces.outer);
            // SAFETY: as above; `outer` has all fields of each point on a boundary.
            unsafe { cuda.launch(picked, config, &args)? };
        }
        traces.meet(&self.description, jumps)
    }

    fn run_measure(
        &self,
        u: &DeviceBuffer<T>,
        elements: &[Elements],
        mut traces: Option<&mut Traces>,
        kernels: &mut Kernels,
        integrand: &Integrand,
        t: f64,
        jumps: impl Fn(&[f64]) -> Vec<f64>,
    ) -> Result<(Vec<f64>, Vec<f64>), GpuError> {
        let cuda = self.cuda();
        let (dim, fields) = (self.description.physics.dim(), self.description.physics.n_fields());
        let count: usize = elements.iter().map(|e| e.count).sum();
        let mut parameters = integrand.parameters.values();
        parameters.resize(parameters.len().max(1), 0.0);
        if let (Some(traces), Some(functions)) = (&mut traces, &kernels.traces) {
            self.put_traces(u, elements, traces, functions, jumps)?;
        }
        let addresses =
            traces.map_or([0; 3], |traces| [traces.values.ptr(), traces.across.ptr(), traces.outer.ptr()]);
        let in_a_team = elements_of_a_team(integrand, dim, fields);
        let mut args = Args::new();
        for e in elements {
            let of_one = (e.n_basis + e.n_face) * fields * in_a_team * size_of::<f64>();
            let mut team = e.points.next_power_of_two().clamp(SMALLEST, BLOCK);
            while team < BLOCK && BLOCK / team * of_one > SHARED {
                team *= 2;
            }
            let shared = BLOCK / team * of_one;
            kernels.measure.set_max_dynamic_shared(shared)?;
            let mut words = e.words;
            words[TEAM] |= (team as u64) << 32;
            let blocks = e.count.div_ceil(BLOCK / team * in_a_team);
            args.clear();
            args.buffer(u).value(words).value(t).value(count as u32).buffer(&kernels.sums.terms);
            addresses.iter().for_each(|&at| _ = args.pointer(at));
            args.slice(&parameters);
            let config = LaunchConfig::new(blocks as u32, BLOCK as u32).shared(shared as u32);
            // SAFETY: the arguments are the kernel's; tables cover the elements, and each has its terms.
            unsafe { cuda.launch(&kernels.measure, config, &args)? };
        }
        kernels.sums.launch(cuda, count, &mut args)?;
        let mut largest = Vec::new();
        if integrand.largest {
            args.clear();
            args.pointer(kernels.sums.terms.ptr_at(integrand.n * count)).value(count as u32);
            args.buffer(&kernels.result);
            let config = LaunchConfig::new(integrand.n as u32, BLOCK as u32);
            // SAFETY: as above.
            unsafe { cuda.launch(&kernels.largest, config, &args)? };
            largest = kernels.result.to_vec()?;
        }
        let mut sums = kernels.sums.read()?;
        match self.description.ranks() {
            Some(ranks) => {
                ranks.max(&mut largest);
                Ok((ranks.sum(&mut sums), largest))
            }
            None => Ok((sums.iter().map(dgsuite_gpu::ExactSum::value).collect(), largest)),
        }
    }
}
