//! Norms and integrals of a state on a device, without copying the state to the host.
//!
//! Integrands are translated formulas of the state, position and time. The host computes integrals whose
//! formulas cannot be translated or whose tables are too large.

use crate::cuda::discretization::CudaDiscretization;
use crate::cuda::kernel_text::REDUCE_THREADS;
use crate::fields::Norms;
use crate::group::{Group, element_points};
use crate::simd::PackScalar;
use dgsuite_basis::{LagrangeBasis, Matrix, Quadrature};
use dgsuite_gpu::cuda::{Args, Cuda, DeviceBuffer, LaunchConfig, Source};
use dgsuite_gpu::{ExactSum, GpuError};
use dgsuite_physics::Exact;
use dgsuite_physics::trace::{PRELUDE, Parameters, ROOTS, TraceError};
use std::fmt::Write;

/// Number of elements that a block processes.
const RUN: usize = 16;
/// Largest size in bytes of a group's nodes on the device; larger meshes are measured by the host, to save
/// device memory.
const LARGEST: usize = 256 << 20;

/// The points at which integrands are evaluated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PointRule {
    /// A rule of this degree on every shape.
    Degree(usize),
    /// The scheme's own volume cubature.
    Own,
}

/// Elements of a group that share tables; `words` has the layout of `Elements` in measure.cu.
struct Elements {
    words: [u64; 11],
    blocks: usize,
    _slots: DeviceBuffer<u32>,
    _nodes: DeviceBuffer<f64>,
    _tables: [DeviceBuffer<f64>; 4],
}

/// Tables of the rules used so far, which are kept for later measurements.
#[derive(Default)]
pub struct Measures {
    rules: Vec<(PointRule, Vec<Elements>)>,
}

/// An integrand: text of `integrand`, its parameters, and the number of its values.
pub struct Integrand {
    text: String,
    parameters: Parameters,
    n: usize,
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
        Ok(Self { text: text + &function(body), parameters, n })
    }

    /// A function of each conserved value `v` separately.
    fn of_values(fields: usize, expression: &str) -> Self {
        let body = format!(
            "  for (int k = 0; k < FIELDS; ++k) {{\n    const real v = u[k];\n    out[k] = {expression};\n  }}\n"
        );
        Self { text: function(&body), parameters: Parameters::new(), n: fields }
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
            Ok(Self { text: primitive + &reference? + &function(&body), parameters, n: 2 * n })
        }))
    }
}

fn function(body: &str) -> String {
    format!(
        "static __device__ void integrand(const Parameters& parameters, const real (&u)[FIELDS], \
         const real (&x)[3], real t, real (&out)[M]) {{\n{body}}}\n"
    )
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
        .define("BLOCK", REDUCE_THREADS)
        .define("RUN", RUN)
}

/// A sample text, for compilation without a device.
pub(super) fn sample_text<T: PackScalar>(dim: usize, fields: usize) -> Source {
    kernel_text::<T>(&Integrand::of_values(fields, "fabs(v)"), dim, fields)
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

    /// Computes the integrals of an integrand and its largest values. Returns `None` if the host must compute
    /// them; also after an error of the device, which the next step reports.
    pub fn measure(
        &self,
        measures: &mut Measures,
        u: &DeviceBuffer<T>,
        rule: PointRule,
        integrand: &Integrand,
        t: f64,
    ) -> Option<(Vec<f64>, Vec<f64>)> {
        if !measures.rules.iter().any(|(known, _)| *known == rule) {
            let elements = self.elements(rule).ok()??;
            measures.rules.push((rule, elements));
        }
        let (_, elements) = measures.rules.iter().find(|(known, _)| *known == rule)?;
        self.run_measure(u, elements, integrand, t).ok()
    }

    fn run_measure(
        &self,
        u: &DeviceBuffer<T>,
        elements: &[Elements],
        integrand: &Integrand,
        t: f64,
    ) -> Result<(Vec<f64>, Vec<f64>), GpuError> {
        let cuda = self.cuda();
        let (dim, fields) = (self.description.physics.dim(), self.description.physics.n_fields());
        let module = cuda.compile(&kernel_text::<T>(integrand, dim, fields))?;
        let (measure, gather) = (module.function("measure")?, module.function("gather")?);
        let n = integrand.n;
        let blocks: usize = elements.iter().map(|e| e.blocks).sum();
        let partial = DeviceBuffer::<f64>::zeros(cuda, "a measurement", 2 * n * blocks)?;
        let result = DeviceBuffer::<f64>::zeros(cuda, "a measurement", 2 * n)?;
        let mut parameters = integrand.parameters.values();
        parameters.resize(parameters.len().max(1), 0.0);
        let mut args = Args::new();
        let mut first = 0;
        for e in elements {
            args.clear();
            args.buffer(u).value(e.words).value(t).pointer(partial.ptr_at(2 * n * first)).slice(&parameters);
            // SAFETY: the arguments are the kernel's; tables cover the elements, `partial` has room for the
            // blocks.
            unsafe {
                cuda.launch(&measure, LaunchConfig::new(e.blocks as u32, REDUCE_THREADS as u32), &args)?;
            }
            first += e.blocks;
        }
        args.clear();
        args.buffer(&partial).value(blocks as u32).buffer(&result);
        // SAFETY: as above.
        unsafe { cuda.launch(&gather, LaunchConfig::new(1, REDUCE_THREADS as u32), &args)? };
        let values = result.to_vec()?;
        let (sums, mut largest) = (values[..n].to_vec(), values[n..].to_vec());
        match self.description.ranks() {
            Some(ranks) => {
                ranks.max(&mut largest);
                let mut exact: Vec<ExactSum> = sums.iter().map(|&x| ExactSum::from_iter([x])).collect();
                Ok((ranks.sum(&mut exact), largest))
            }
            None => Ok((sums, largest)),
        }
    }

    /// Elements with the tables of a rule; `None` if there are too many.
    fn elements(&self, rule: PointRule) -> Result<Option<Vec<Elements>>, GpuError> {
        let mesh = &self.description.mesh;
        let mut out = Vec::new();
        for group in &self.description.groups {
            let mut orders: Vec<usize> =
                mesh.sets.iter().filter(|s| s.shape == group.shape).map(|s| s.order).collect();
            orders.sort_unstable();
            orders.dedup();
            for part in &group.parts {
                let first = part.first_block * group.state.lanes;
                let (points, weights, basis) = match rule {
                    PointRule::Degree(degree) => {
                        let rule = Quadrature::new(group.shape, degree);
                        let basis = part.reference.evaluate(&rule.points);
                        (rule.points, rule.weights, basis)
                    }
                    PointRule::Own => {
                        let rule = &part.reference.volume;
                        let basis = if part.collocated {
                            Matrix::identity(part.reference.n_basis)
                        } else {
                            part.reference.interp_volume.clone()
                        };
                        (rule.points.clone(), rule.weights.clone(), basis)
                    }
                };
                for &order in &orders {
                    let slots: Vec<u32> = (first..first + part.n_elements)
                        .filter(|&s| mesh.sets[mesh.locate(group.elements[s] as usize).0].order == order)
                        .map(|s| s as u32)
                        .collect();
                    if slots.is_empty() {
                        continue;
                    }
                    let lagrange = LagrangeBasis::new(group.shape, order);
                    let (geometry, gradient) = (lagrange.eval(&points), lagrange.grad(&points));
                    if slots.len() * geometry.cols() * 24 > LARGEST {
                        return Ok(None);
                    }
                    let tables = Tables { basis: basis.clone(), geometry, gradient, weights: &weights };
                    out.push(tables.upload(self, group, &slots)?);
                }
            }
        }
        Ok(Some(out))
    }
}

/// Tables of a point rule, to be completed by the elements' nodes.
struct Tables<'a> {
    basis: Matrix,
    geometry: Matrix,
    gradient: [Matrix; 3],
    weights: &'a [f64],
}

impl Tables<'_> {
    fn upload<T: PackScalar>(
        &self,
        on: &CudaDiscretization<T>,
        group: &Group<T>,
        slots: &[u32],
    ) -> Result<Elements, GpuError> {
        const WHAT: &str = "points of measurements";
        let (cuda, mesh): (&Cuda, _) = (on.cuda(), &on.description.mesh);
        let rows = |m: &Matrix| -> Vec<f64> {
            (0..m.rows()).flat_map(|i| (0..m.cols()).map(move |j| m[(i, j)])).collect()
        };
        let nodes: Vec<f64> = slots
            .iter()
            .flat_map(|&slot| {
                let (set, local) = mesh.locate(group.elements[slot as usize] as usize);
                element_points(mesh, set, local).concat()
            })
            .collect();
        let gradient: Vec<f64> = self.gradient.iter().take(mesh.dim).flat_map(rows).collect();
        let buffer = |values: &[f64]| DeviceBuffer::from_slice(cuda, WHAT, values);
        let tables = [
            buffer(&rows(&self.basis))?,
            buffer(&rows(&self.geometry))?,
            buffer(&gradient)?,
            buffer(self.weights)?,
        ];
        let (nodes, slots_on) = (buffer(&nodes)?, DeviceBuffer::from_slice(cuda, WHAT, slots)?);
        let pair = |a: usize, b: usize| a as u64 | (b as u64) << 32;
        let words = [
            slots_on.ptr(),
            nodes.ptr(),
            tables[0].ptr(),
            tables[1].ptr(),
            tables[2].ptr(),
            tables[3].ptr(),
            group.offset as u64,
            pair(slots.len(), group.state.lanes),
            pair(self.basis.cols(), self.weights.len()),
            pair(self.geometry.cols(), group.state.row_stride()),
            pair(group.state.field_stride(), 0),
        ];
        let blocks = slots.len().div_ceil(RUN);
        Ok(Elements { words, blocks, _slots: slots_on, _nodes: nodes, _tables: tables })
    }
}
