//! `dgsuite bench`: measures the operators against the speed limits of this machine.
//!
//! Each row is one operator: the residual of the Euler equations (Rusanov flux), or with `navier-stokes` of
//! the compressible Navier–Stokes equations (BR2, constant viscosity), on a periodic box, alone or fused with
//! a Runge–Kutta stage. Its *floor* is the time for its bytes at the measured copy bandwidth or the time for
//! its matrix products at the measured multiply–add rate, whichever is longer. The share is the floor divided
//! by the measured time.
//!
//! Bytes per degree of freedom are those that the layout of the kernel must move once, with numbers of `s`
//! bytes: the state read (`s`); the rate written (`s`), or the register read and written and the next state
//! written (`3 s`); geometry and neighbours once per element; and, where a separate kernel writes traces,
//! these traces written once and read twice, for the element and for its neighbour. Diffusion adds one-sided
//! fluxes at the face points (written once, read twice), the rows that are stored between its two passes
//! (written and read), and the geometry once more. On a mixed mesh of two shapes, each with half of the
//! unknowns, bytes and operations are the sums over its parts, and the last column compares its speed with
//! the speeds of the parts alone.
//!
//! With `poisson` a row is the interior penalty operator. The product `A u` replaces the residual, and a
//! smoother's step `y ← (1 + α) x − α y + β D⁻¹ (b − A x)` replaces the stage; in one pass the step reads
//! three more vectors.
//!
//! With `incompressible` the rows are the kernels of a step: convection `−∇·(u ⊗ u)`, over-integrated; a
//! sub-step of it with the advecting velocity as a second vector, whose fused stage is the one of subcycling;
//! gradient and divergence, which one kernel computes for all of `u v [w] p`; and `A u` of the Helmholtz
//! operator, with the smoother's step.

mod case;
mod choice;
pub mod comm;
mod incompressible;
mod poisson;
mod table;

use crate::SystemError;
use crate::flow::Device;
use crate::incompressible::FirstOrder;
use case::{Bend, Case, Flow, Form, Machine};
use dgsuite_basis::Shape;
use dgsuite_gpu::cuda::Cuda;
use dgsuite_gpu::probe::{self, DeviceEffort, Effort};
use dgsuite_gpu::{GpuError, Host};
use dgsuite_ops::OpsError;
use incompressible::Kernel;
use poisson::Poisson;
use serde_json::{Map, Value, json};
use std::sync::Arc;

use choice::choices_on;
pub use choice::{Choice, choices, digests, list};
pub use table::{head, line};

/// What to measure.
#[derive(Clone, Debug)]
pub struct Options {
    /// The device to measure on.
    pub device: Device,
    /// Number of CPU threads; 0 for all.
    pub threads: usize,
    /// Shapes: `tri quad tet hex prism`, and the mixed meshes `tri+quad prism+tet`.
    pub shapes: Vec<String>,
    /// Polynomial degrees.
    pub orders: Vec<usize>,
    /// Forms: `collocated nodal modal taylor`; `collocated-strong modal-strong`, in strong form;
    /// `modal-stored taylor-stored`, with stored inverses of mass matrices; `fr fr-gauss`, flux
    /// reconstruction at Lobatto and at Gauss points; and `kennedy-gruber ranocha`, the two-point fluxes of
    /// split forms.
    pub forms: Vec<String>,
    /// Models: `euler euler-source navier-stokes poisson incompressible`.
    pub models: Vec<String>,
    /// Geometries: `affine curved half-curved`.
    pub geometries: Vec<String>,
    /// Precisions: `double single`.
    pub precisions: Vec<String>,
    /// Millions of degrees of freedom of each case.
    pub size: f64,
    /// Measure each kernel of [`choices`] once on each shape, geometry and model instead of the cases above.
    pub all: bool,
}

/// Why a measurement failed.
#[derive(Debug, thiserror::Error)]
pub enum BenchError {
    /// A word is not one of the known ones.
    #[error("{what} \"{word}\" is not known; there are {}", known.join(", "))]
    Word {
        /// The option to which the word belongs.
        what: &'static str,
        /// The word.
        word: String,
        /// The known words.
        known: Vec<String>,
    },
    /// The device cannot be used.
    #[error(transparent)]
    Machine(#[from] GpuError),
    /// An operator cannot be set up.
    #[error("{case}: {error}")]
    Operator {
        /// The case.
        case: String,
        /// The reason.
        error: OpsError,
    },
    /// An equation cannot be set up.
    #[error(transparent)]
    System(#[from] SystemError),
}

/// The speed limits of the machine, in bytes, operations and seconds.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Copy bandwidth, bytes read and written per second.
    pub copy: f64,
    /// Read bandwidth.
    pub read: f64,
    /// Multiply–adds in double precision, two operations each, per second.
    pub double: f64,
    /// The same in single precision.
    pub single: f64,
    /// Time of an empty kernel launch; 0 on the CPU.
    pub launch: f64,
}

/// One measurement.
#[derive(Clone, Debug)]
pub struct Row {
    /// `euler`, `euler-source`, `navier-stokes`, `poisson` or `incompressible`.
    pub model: &'static str,
    /// Shape, or the two shapes of a mixed mesh.
    pub shape: &'static str,
    /// `affine`, `curved` or `half-curved`.
    pub geometry: &'static str,
    /// One of [`Options::forms`]; `sip` for the interior penalty method; a kernel
    /// of incompressible flow: `convection sub-step gradient+divergence helmholtz`.
    pub form: &'static str,
    /// `double` or `single`.
    pub precision: &'static str,
    /// Polynomial degree.
    pub order: usize,
    /// Degrees of freedom.
    pub dofs: f64,
    /// Seconds of the residual and of the fused stage; for `poisson` of `A u` and of a smoother's step.
    pub time: [f64; 2],
    /// Bytes per degree of freedom of both operators.
    pub bytes: [f64; 2],
    /// Operations of the matrix products per degree of freedom.
    pub flops: f64,
    /// On mixed meshes, the speeds of the residual and of the stage relative to the speeds of the parts: the
    /// time of the parts on meshes of their own, weighted with their unknowns, divided by the time of the
    /// whole.
    pub of_parts: Option<[f64; 2]>,
    /// On devices: registers per thread of the stage's kernel, and bytes of its local memory.
    pub resources: Option<(u32, u32)>,
}

impl Row {
    /// Returns the floor of the residual (0) or of the stage (1), in seconds.
    #[must_use]
    pub fn floor(&self, which: usize, limits: &Limits) -> f64 {
        let rate = if self.precision == "double" { limits.double } else { limits.single };
        self.dofs * (self.bytes[which] / limits.copy).max(self.flops / rate)
    }

    fn to_json(&self, limits: &Limits) -> Value {
        let operator = |which: usize| {
            let t = self.time[which];
            json!({
                "seconds": t,
                "gdofs_per_s": self.dofs / t / 1e9,
                "gbytes_per_s": self.dofs * self.bytes[which] / t / 1e9,
                "gflops_per_s": self.dofs * self.flops / t / 1e9,
                "share_of_floor": self.floor(which, limits) / t,
                "share_of_parts": self.of_parts.map(|share| share[which]),
            })
        };
        json!({
            "model": self.model, "shape": self.shape, "geometry": self.geometry, "form": self.form, "precision": self.precision,
            "order": self.order, "dofs": self.dofs,
            "registers": self.resources.map(|r| r.0), "local_bytes": self.resources.map(|r| r.1),
            "residual": operator(0), "stage": operator(1),
        })
    }
}

/// The model of a row.
#[derive(Clone, Copy)]
enum Model {
    /// The residual of a gas.
    Flow(Flow),
    /// The interior penalty operator.
    Poisson,
    /// The kernels of incompressible flow.
    Incompressible,
}

fn words<T: Copy>(what: &'static str, given: &[String], known: &[(&str, T)]) -> Result<Vec<T>, BenchError> {
    given
        .iter()
        .map(|word| {
            known.iter().find(|(name, _)| name == word).map(|k| k.1).ok_or_else(|| BenchError::Word {
                what,
                word: word.clone(),
                known: known.iter().map(|k| k.0.to_owned()).collect(),
            })
        })
        .collect()
}

/// Measures all cases. Calls `limits_known` with the limits of the machine and `each` with every row when it
/// is measured.
///
/// # Errors
/// [`BenchError`] for unknown words, and for errors of the device or of the operators.
pub fn run(
    options: &Options,
    limits_known: &mut dyn FnMut(&str, &Limits),
    each: &mut dyn FnMut(&Row, &Limits),
) -> Result<Value, BenchError> {
    let shapes = words(
        "shape",
        &options.shapes,
        &[
            ("tri", (Shape::Triangle, None)),
            ("quad", (Shape::Quadrilateral, None)),
            ("tet", (Shape::Tetrahedron, None)),
            ("hex", (Shape::Hexahedron, None)),
            ("prism", (Shape::Prism, None)),
            ("tri+quad", (Shape::Triangle, Some(Shape::Quadrilateral))),
            ("prism+tet", (Shape::Prism, Some(Shape::Tetrahedron))),
        ],
    )?;
    let forms = words("form", &options.forms, &Form::ALL)?;
    let known = [Flow::Euler, Flow::Source, Flow::NavierStokes].map(|flow| (flow.name(), Model::Flow(flow)));
    let known: Vec<_> = known
        .into_iter()
        .chain([("poisson", Model::Poisson), ("incompressible", Model::Incompressible)])
        .collect();
    let models = words("model", &options.models, &known)?;
    let known = [Bend::None, Bend::All, Bend::Half].map(|bend| (bend.name(), bend));
    let bends = words("geometry", &options.geometries, &known)?;
    let single = words("precision", &options.precisions, &[("double", false), ("single", true)])?;
    let host = Arc::new(Host::new(options.threads)?);
    let (machine, name, limits) = match options.device {
        Device::Cpu => {
            let l = probe::measure(&host, Effort::default())?;
            let limits = Limits {
                copy: l.copy,
                read: l.read,
                double: l.flops_double,
                single: l.flops_single,
                launch: 0.0,
            };
            (Machine::Host, format!("CPU, {} threads, {}", host.n_threads(), host.simd()), limits)
        }
        Device::Cuda(ordinal) => {
            let cuda = Cuda::new(ordinal)?;
            let l = probe::measure_device(&cuda, DeviceEffort::default())?;
            let limits = Limits {
                copy: l.copy,
                read: l.read,
                // Tensor cores compute the matrix products of simplices.
                double: l.flops_double.max(l.flops_tensor),
                single: l.flops_single,
                launch: l.launch,
            };
            let name = cuda.info().name.clone();
            (Machine::Cuda(cuda), name, limits)
        }
    };
    limits_known(&name, &limits);
    let mut rows = Vec::new();
    let mut cases = Vec::new();
    let mut solves = Vec::new();
    let mut kernels = Vec::new();
    for &model in &models {
        for &single in &single {
            for &(shape, above) in &shapes {
                for &bend in &bends {
                    let Model::Flow(flow) = model else {
                        let (size, orders) = (options.size, options.orders.iter());
                        let in_step = matches!(model, Model::Incompressible);
                        let orders = orders.filter(|_| above.is_none() && !(in_step && single));
                        if in_step {
                            let of = |&order| Kernel { what: FirstOrder::ALL[0], shape, bend, order, size };
                            let kernel = |order| FirstOrder::ALL.map(|what| Kernel { what, ..of(order) });
                            kernels.extend(orders.clone().flat_map(kernel));
                        }
                        let of = |&order| Poisson { shape, bend, order, single, size, in_step };
                        solves.extend(orders.map(of));
                        continue;
                    };
                    for &form in &forms {
                        let size = options.size;
                        let of = |&order| Case { flow, shape, above, bend, form, order, single, size };
                        cases.extend(options.orders.iter().map(of));
                    }
                }
            }
        }
    }
    cases.retain(Case::exists);
    if options.all {
        (cases, solves) = (choice::covering(&choices_on(&host), options.size), Vec::new());
        kernels.clear();
    }
    for case in cases {
        let row = case
            .measure(&machine, &host)
            .map_err(|error| BenchError::Operator { case: case.to_string(), error })?;
        each(&row, &limits);
        rows.push(row.to_json(&limits));
    }
    for case in kernels {
        let row = case.measure(&machine, &host)?;
        each(&row, &limits);
        rows.push(row.to_json(&limits));
    }
    for case in solves.into_iter().filter(Poisson::exists) {
        let row = case
            .measure(&machine, &host)
            .map_err(|error| BenchError::Operator { case: case.to_string(), error })?;
        each(&row, &limits);
        rows.push(row.to_json(&limits));
    }
    let mut out = Map::new();
    out.insert("device".into(), json!(options.device.to_string()));
    out.insert("name".into(), json!(name));
    out.insert(
        "limits".into(),
        json!({
            "copy_gbytes_per_s": limits.copy / 1e9,
            "read_gbytes_per_s": limits.read / 1e9,
            "double_gflops_per_s": limits.double / 1e9,
            "single_gflops_per_s": limits.single / 1e9,
            "launch_us": limits.launch * 1e6,
        }),
    );
    out.insert("rows".into(), Value::Array(rows));
    Ok(Value::Object(out))
}
