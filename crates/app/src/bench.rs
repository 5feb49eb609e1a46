//! `dgsuite bench`: the operators against the speed limits of this machine.
//!
//! Each row is one operator: the residual of the Euler equations (Rusanov flux), or with `navier-stokes` of
//! the compressible Navier–Stokes equations (BR2, constant viscosity), on a periodic box, alone or fused with
//! a Runge–Kutta stage. Its *floor* is the time that its bytes need at the measured copy bandwidth, or its
//! matrix products at the measured multiply–add rate, whichever is longer; the share is floor over time.
//!
//! Bytes per degree of freedom are those that the kernel's own layout must move once, with numbers of `s`
//! bytes: the state read (`s`), the rate written (`s`) or the register read and written and the next state
//! written (`3 s`), geometry and neighbours once per element, and, where traces are written by a kernel of
//! their own, these written once and read twice, for the element and its neighbour. Diffusion adds one-sided
//! fluxes at the face points (written once, read twice), the rows that are kept between its two passes
//! (written and read), and the geometry once more. On a mixed mesh, of two shapes with half of the unknowns
//! each, bytes and operations are those of its parts, and the last column says how fast it is beside them.
//!
//! With `poisson` a row is the interior penalty operator: for the residual stands the product `A u`, for the
//! stage a smoother's step `y ← (1 + α) x − α y + β D⁻¹ (b − A x)`, which in one pass reads three vectors
//! more.

mod case;
mod poisson;
mod table;

use crate::systems::hyperbolic::{Device, SplitFlux};
use case::{Case, Form, Machine};
use dgsuite_basis::{NodeSet, Shape};
use dgsuite_gpu::cuda::Cuda;
use dgsuite_gpu::probe::{self, DeviceEffort, Effort};
use dgsuite_gpu::{GpuError, Host};
use dgsuite_ops::OpsError;
use poisson::Poisson;
use serde_json::{Map, Value, json};
use std::sync::Arc;

pub use table::{head, line};

/// What is measured.
#[derive(Clone, Debug)]
pub struct Options {
    /// Where.
    pub device: Device,
    /// CPU threads; 0 for all.
    pub threads: usize,
    /// Words of shapes: tri quad tet hex prism, and of mixed meshes: tri+quad prism+tet.
    pub shapes: Vec<String>,
    /// Polynomial degrees.
    pub orders: Vec<usize>,
    /// Words of forms: collocated nodal modal, flux reconstruction at Lobatto and at Gauss points: fr
    /// fr-gauss, and the two-point fluxes of split forms: kennedy-gruber ranocha.
    pub forms: Vec<String>,
    /// Words of models: euler navier-stokes poisson.
    pub models: Vec<String>,
    /// Words of geometries: affine curved.
    pub geometries: Vec<String>,
    /// Words of precisions: double single.
    pub precisions: Vec<String>,
    /// Millions of degrees of freedom of a case.
    pub size: f64,
}

/// Why a measurement was not made.
#[derive(Debug, thiserror::Error)]
pub enum BenchError {
    /// A word that means nothing here.
    #[error("{what} \"{word}\" is not known; there are {}", known.join(", "))]
    Word {
        /// What the word is for.
        what: &'static str,
        /// The word.
        word: String,
        /// Words that are known.
        known: Vec<String>,
    },
    /// The machine refused.
    #[error(transparent)]
    Machine(#[from] GpuError),
    /// An operator could not be set up.
    #[error("{case}: {error}")]
    Operator {
        /// Which.
        case: String,
        /// Why.
        error: OpsError,
    },
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
    /// Time of an empty launch; 0 on the CPU.
    pub launch: f64,
}

/// One measurement.
#[derive(Clone, Debug)]
pub struct Row {
    /// `euler`, `navier-stokes` or `poisson`.
    pub model: &'static str,
    /// Shape, geometry, form, precision, degree.
    pub shape: &'static str,
    /// `affine` or `curved`.
    pub geometry: &'static str,
    /// `collocated`, `nodal`, `modal`, `kennedy-gruber` or `ranocha`; `sip` of the interior penalty method.
    pub form: &'static str,
    /// `double` or `single`.
    pub precision: &'static str,
    /// Polynomial degree.
    pub order: usize,
    /// Degrees of freedom.
    pub dofs: f64,
    /// Seconds of the residual and of the fused stage; of `A u` and a smoother's step.
    pub time: [f64; 2],
    /// Bytes per degree of freedom of both.
    pub bytes: [f64; 2],
    /// Operations of the matrix products per degree of freedom.
    pub flops: f64,
    /// On mixed meshes, speed of the residual and of the stage as a share of what the parts alone would make
    /// of it: the time of the parts on meshes of their own, for their unknowns, over that of the whole.
    pub of_parts: Option<[f64; 2]>,
    /// Registers of a thread of the stage's kernel, and bytes that it keeps in local memory; on devices.
    pub resources: Option<(u32, u32)>,
}

impl Row {
    /// The floor of the residual or the stage, in seconds.
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

/// A model that rows are of.
#[derive(Clone, Copy)]
enum Model {
    /// The residual of a gas, with viscosity or without.
    Flow(bool),
    /// The interior penalty operator.
    Poisson,
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

/// Measures; `each` is told every row as it comes, after the limits.
///
/// # Errors
/// [`BenchError`] for unknown words, or where machine or operators refuse.
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
    let forms = words(
        "form",
        &options.forms,
        &[
            ("collocated", Form::Collocated),
            ("nodal", Form::Nodal),
            ("modal", Form::Modal),
            ("fr", Form::Reconstruction(NodeSet::GaussLobatto)),
            ("fr-gauss", Form::Reconstruction(NodeSet::GaussLegendre)),
            ("kennedy-gruber", Form::Split(SplitFlux::KennedyGruber)),
            ("ranocha", Form::Split(SplitFlux::Ranocha)),
        ],
    )?;
    let known =
        [("euler", Model::Flow(false)), ("navier-stokes", Model::Flow(true)), ("poisson", Model::Poisson)];
    let models = words("model", &options.models, &known)?;
    let curved = words("geometry", &options.geometries, &[("affine", false), ("curved", true)])?;
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
                // The tensor cores do the matrix products of simplices.
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
    for &model in &models {
        for &single in &single {
            for &(shape, above) in &shapes {
                for &curved in &curved {
                    let Model::Flow(viscous) = model else {
                        let size = options.size;
                        let of = |&order| Poisson { shape, curved, order, single, size };
                        solves.extend(options.orders.iter().filter(|_| above.is_none()).map(of));
                        continue;
                    };
                    for &form in &forms {
                        let size = options.size;
                        let of = |&order| Case { viscous, shape, above, curved, form, order, single, size };
                        cases.extend(options.orders.iter().map(of));
                    }
                }
            }
        }
    }
    for case in cases.into_iter().filter(Case::exists) {
        let row = case
            .measure(&machine, &host)
            .map_err(|error| BenchError::Operator { case: case.to_string(), error })?;
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
