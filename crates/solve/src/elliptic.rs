//! The screened Poisson equation `−∇·κ∇u + λu = f` by the interior penalty method with multigrid.
//!
//! The linear systems are solved by conjugate gradients, preconditioned by p-multigrid and algebraic
//! multigrid.
//!
//! Operators (`ops`) and solvers (`amg`) do not depend on each other; this module connects them.
//!
//! ```
//! use dgsuite_solve::elliptic::*;
//! use dgsuite_mesh::{Shape, generate::Box as Square};
//! use std::sync::{Arc, atomic::AtomicBool};
//!
//! let mesh = Arc::new(Square::unit(Shape::Triangle, 8).build()?);
//! let mut setup = EllipticSetup::new(mesh, 4);                    // κ = 1, λ = 0, f = 0
//! setup.forcing = Arc::new(|_, x| x[0] * x[1]);
//! setup.boundaries = ["xmin", "xmax", "ymin", "ymax"].map(EllipticCondition::zero).to_vec();
//! let mut solver = Elliptic::new(setup)?;
//! let solved = solver.solve(&AtomicBool::new(false), &mut |_, _| {});
//! assert!(solved.outcome?.iterations < 20);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub(crate) mod bridge;
mod continuous;
mod entries;
pub(crate) mod krylov;
pub(crate) mod lines;
pub(crate) mod machine;
pub(crate) mod on_device;
pub(crate) mod on_host;
mod options;
mod parts;
pub(crate) mod preconditioner;
mod range;
pub(crate) mod ranks;
pub(crate) mod shapes;
mod solved;
mod stored;
mod watched;
mod work;

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use dgsuite_amg::{AmgError, MatrixError, Reference, Solution, SolveError, Stop};
use dgsuite_gpu::comm::Communicator;
use dgsuite_gpu::{GpuError, Host, HostVector, Vector};
use dgsuite_mesh::{Mesh, MeshError};
pub use dgsuite_ops::elliptic::{EllipticBoundary as EllipticKind, EllipticErrors as Errors};
use dgsuite_ops::elliptic::{GradientField, Sipdg, SipdgOptions};
use dgsuite_ops::{OpsError, Sample};

use self::bridge::Operator;
use self::krylov::Solver;
pub use self::lines::{LineDescription, SHORT, ThinElement, ThinElements, linelets};
use self::on_device::DeviceSolver;
use self::on_host::HostSolver;
pub use self::options::{CoarseSpace, Orders, Preconditioning, SmootherKind, SolverOptions};
use self::parts::Constants;
pub use self::shapes::{THIN, aspect_ratio, is_thin};
pub use self::solved::{BadDatum, Imbalance, Solved};
pub use self::stored::{LAW, Stored};
pub use self::work::weights;
use super::device::Device;
use super::precision::Precision;
use super::rank_mesh::ROOT;
use super::sampled::SampledSet;
use super::words::gathered::in_order;

/// A function of element (in the mesh's numbers) and place.
pub type Function = Arc<dyn Fn(usize, [f64; 3]) -> f64 + Send + Sync>;

/// A function of element, place and outward normal.
pub type BoundaryFunction = Arc<dyn Fn(usize, [f64; 3], [f64; 3]) -> f64 + Send + Sync>;

/// A boundary condition.
#[derive(Clone)]
pub struct EllipticCondition {
    /// The boundary's name in the mesh.
    pub name: String,
    /// The kind of condition.
    pub kind: EllipticKind,
    /// The data g.
    pub data: BoundaryFunction,
}

impl EllipticCondition {
    /// `u = 0` on a boundary.
    #[must_use]
    pub fn zero(name: &str) -> Self {
        Self { name: name.to_owned(), kind: EllipticKind::Dirichlet, data: Arc::new(|_, _, _| 0.0) }
    }

    /// The name of the condition in the pipeline file.
    #[must_use]
    pub const fn kind_name(&self) -> &'static str {
        match self.kind {
            EllipticKind::Dirichlet => "dirichlet",
            EllipticKind::Neumann => "neumann",
            EllipticKind::Robin { .. } => "robin",
        }
    }
}

/// The parameters of a solver.
#[derive(Clone)]
pub struct EllipticSetup {
    /// Mesh.
    pub mesh: Arc<Mesh>,
    /// Polynomial degree, 1 to 10.
    pub order: usize,
    /// Factor on the penalty for which the method is known to be stable.
    pub penalty: f64,
    /// The coefficient κ > 0.
    pub kappa: Function,
    /// The coefficient λ ≥ 0.
    pub lambda: Function,
    /// The right-hand side f.
    pub forcing: Function,
    /// Conditions on all boundaries.
    pub boundaries: Vec<EllipticCondition>,
    /// For a solution that is fixed only up to a constant: a function with the mean of the solution; default:
    /// mean 0.
    pub mean_of: Option<Function>,
    /// The linear solver.
    pub solver: SolverOptions,
    /// CPU threads; 0 for all.
    pub threads: usize,
    /// The device of the solve; the set-up runs on the CPU.
    pub device: Device,
    /// The ranks that solve together, each of which has the whole mesh. Set-up, solve and all that needs the
    /// solution are then collective. Results have the same bits for any number of ranks.
    pub comm: Option<Arc<dyn Communicator>>,
}

impl EllipticSetup {
    /// The ranks, if there are several.
    pub(super) fn ranks(&self) -> Option<&Arc<dyn Communicator>> {
        self.comm.as_ref().filter(|comm| comm.size() > 1)
    }

    /// `−∇²u = 0` without boundary conditions, with the default solver on all threads.
    #[must_use]
    pub fn new(mesh: Arc<Mesh>, order: usize) -> Self {
        Self {
            mesh,
            order,
            penalty: 1.0,
            kappa: Arc::new(|_, _| 1.0),
            lambda: Arc::new(|_, _| 0.0),
            forcing: Arc::new(|_, _| 0.0),
            boundaries: Vec::new(),
            mean_of: None,
            solver: SolverOptions::default(),
            threads: 0,
            device: Device::Cpu,
            comm: None,
        }
    }
}

/// Why a solver could not be set up.
#[derive(Debug, thiserror::Error)]
pub enum EllipticError {
    /// The operator could not be set up.
    #[error(transparent)]
    Operator(#[from] OpsError),
    /// The mesh could not be cut into a part for each rank.
    #[error(transparent)]
    Mesh(#[from] MeshError),
    /// Multigrid cannot use the assembled matrix.
    #[error("the assembled matrix: {0}")]
    Matrix(#[source] MatrixError),
    /// Matrix entries that single precision cannot represent.
    #[error(
        "kappa or lambda lead to matrix entries beyond the range of single precision (3e38): scale the equation, or choose \
         `solver.inner_precision: double`"
    )]
    Overflow,
    /// Matrix entries so small that their products underflow.
    #[error(
        "kappa and lambda lead to matrix entries of {largest:.1e} at most, which underflow in {}: scale the equation{}",
        match precision { Precision::Double => "double precision", Precision::Single => "single precision" },
        match precision { Precision::Double => "", Precision::Single => ", or choose `solver.inner_precision: double`" }
    )]
    Underflow {
        /// The largest entry.
        largest: f64,
        /// The precision of the preconditioner.
        precision: Precision,
    },
    /// No multigrid hierarchy could be built.
    #[error("multigrid: {}", with_cause(.0))]
    Multigrid(#[source] AmgError),
    /// λ, or α of Robin conditions, so small that rounding loses it beside κ.
    #[error(
        "lambda and alpha are so small beside kappa that they do not fix u: set them to 0, for the solution of mean 0, or make them larger"
    )]
    NearlySingular,
    /// A part of the mesh in which nothing fixes u, although a condition fixes it in another part.
    #[error(
        "nothing fixes u in the part of the mesh with element {element} at ({}, {}, {}), which is joined with no other: it needs a \
         `dirichlet` or `robin` boundary, or lambda > 0, as other parts have",
        at[0], at[1], at[2]
    )]
    Floating {
        /// An element of this part, as numbered in the mesh file.
        element: u64,
        /// One of its vertices.
        at: [f64; 3],
    },
    /// The threads or the device could not be used.
    #[error(transparent)]
    Machine(#[from] GpuError),
}

impl EllipticError {
    /// Returns a hint, if the message does not contain one.
    #[must_use]
    pub const fn hint(&self) -> Option<&'static str> {
        match self {
            Self::Multigrid(
                AmgError::NotPositiveDefinite { .. }
                | AmgError::LevelNotPositive { .. }
                | AmgError::SmootherNotPositive { .. },
            ) => Some(
                "rounding loses coefficients that differ by more than about 1e12 in one mesh: let kappa jump by less, and give a \
                 `dirichlet` condition for a huge alpha; if there are none, raise the penalty in `space.viscous`",
            ),
            _ => None,
        }
    }
}

impl From<MatrixError> for EllipticError {
    fn from(error: MatrixError) -> Self {
        match error {
            MatrixError::DiagonalNotPositive { value, .. } if value.is_infinite() => Self::Overflow,
            error => Self::Matrix(error),
        }
    }
}

impl From<AmgError> for EllipticError {
    fn from(error: AmgError) -> Self {
        match error {
            // Problems in which nothing fixes u are known to be singular and reported otherwise.
            AmgError::Singular { .. } => Self::NearlySingular,
            error => Self::Multigrid(error),
        }
    }
}

/// Formats an error of multigrid with its cause.
fn with_cause(error: &AmgError) -> String {
    match std::error::Error::source(error) {
        Some(source) => format!("{error}: {source}"),
        None => error.to_string(),
    }
}

/// A level of the preconditioner.
#[derive(Clone, Debug, PartialEq)]
pub struct LevelDescription {
    /// `order 4`, or `amg`.
    pub kind: String,
    /// Unknowns.
    pub rows: usize,
    /// Stored entries; 0 for a level without a matrix.
    pub nonzeros: usize,
    /// Bytes in addition to the solver's own operator.
    pub bytes: usize,
}

/// Sizes, memory and set-up times of a solver, for plans and summaries.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct EllipticDescription {
    /// Unknowns.
    pub dofs: usize,
    /// CPU threads.
    pub threads: usize,
    /// The name of the device, if it is not the CPU.
    pub device_name: Option<String>,
    /// Bytes of operator, preconditioner and vectors on the device.
    pub device_bytes: usize,
    /// Bytes of the operator.
    pub operator_bytes: usize,
    /// Bytes of the preconditioner, without the operator.
    pub preconditioner_bytes: usize,
    /// Its levels, the finest first; none without multigrid.
    pub levels: Vec<LevelDescription>,
    /// The linelets of the smoother, if it has them.
    pub lines: Option<LineDescription>,
    /// Products with the operator of the finest level in each iteration, including the one of conjugate
    /// gradients; products on coarser levels count in proportion to their unknowns.
    pub applications: f64,
    /// Whether constants are in the null space.
    pub singular: bool,
    /// Seconds to set up the operator.
    pub operator_s: f64,
    /// Seconds to copy the operator to the device.
    pub device_s: f64,
    /// Seconds to set up the preconditioner.
    pub preconditioner_s: f64,
}

impl EllipticDescription {
    /// Returns the number of entries of all assembled levels relative to the finest of them; 0 if there is
    /// none.
    #[must_use]
    pub fn operator_complexity(&self) -> f64 {
        let entries: Vec<f64> =
            self.levels.iter().map(|level| level.nonzeros as f64).filter(|n| *n > 0.0).collect();
        entries.first().map_or(0.0, |first| entries.iter().sum::<f64>() / first)
    }
}

/// Operator, preconditioner and the vectors of a solve.
pub struct Elliptic {
    setup: EllipticSetup,
    operator: Operator<f64>,
    /// On several ranks, the operator of order 1 on the whole mesh.
    whole: Option<Operator<f64>>,
    solver: Box<dyn Solver>,
    b: HostVector<f64>,
    x: HostVector<f64>,
    /// The constants in the null space of a singular problem.
    constants: Option<Constants>,
    description: EllipticDescription,
}

impl Elliptic {
    /// Sets up operator and preconditioner.
    ///
    /// # Errors
    /// [`EllipticError`]: elements that are inverted, a boundary without a condition, coefficients that are
    /// not positive, a penalty so small that the problem is not positive definite, memory, a device that
    /// cannot be used.
    pub fn new(mut setup: EllipticSetup) -> Result<Self, EllipticError> {
        let start = Instant::now();
        let solver = setup.solver.for_penalty(setup.penalty, setup.order, &setup.mesh);
        setup.solver = solver.on(setup.device, setup.order, &setup.mesh);
        let opened = match setup.device {
            Device::Cpu => None,
            Device::Cuda(ordinal) => Some(on_device::open(ordinal, &setup.solver)?),
        };
        let opened_s = start.elapsed().as_secs_f64();
        let start = Instant::now();
        let host = Arc::new(Host::new(setup.threads)?);
        parts::check(&setup)?;
        let (operator, whole) = match setup.ranks() {
            None => (operator(&setup, &host)?, None),
            Some(comm) => {
                let [operator, whole] = ranks::operators(&setup, &host, comm)?;
                (operator, Some(whole))
            }
        };
        let mut description = EllipticDescription {
            dofs: operator.0.dofs(),
            threads: host.n_threads(),
            operator_bytes: operator.0.bytes(),
            singular: operator.0.is_singular(),
            operator_s: start.elapsed().as_secs_f64(),
            ..EllipticDescription::default()
        };
        let start = Instant::now();
        let one = HostVector::from_slice(&host, &operator.0.constant(1.0))?.summed_by(operator.0.summation());
        let (b, x) = (one.zeros_like()?, one.zeros_like()?);
        let constants = description.singular.then(|| Constants::new(&operator.0, &host)).transpose()?;
        let solver: Result<Box<dyn Solver>, _> = match opened {
            None => HostSolver::new(&operator, &setup.solver, &host, &one, whole.as_ref())
                .map(|solver| Box::new(solver) as _),
            Some((cuda, _ahead)) => {
                DeviceSolver::new(cuda, &operator.0, &setup.solver, &host, &one, whole.as_ref())
                    .map(|solver| Box::new(solver) as _)
            }
        };
        let solver =
            solver.map_err(|error| range::cause(error, &operator.0, setup.solver.inner_precision))?;
        solver.describe(&mut description);
        description.preconditioner_s = start.elapsed().as_secs_f64() - description.device_s;
        description.device_s += opened_s;
        Ok(Self { setup, operator, whole, solver, b, x, constants, description })
    }

    /// Returns sizes, memory and set-up times.
    #[must_use]
    pub fn describe(&self) -> &EllipticDescription {
        &self.description
    }

    /// Adds the linelets of the mesh to the description, where they have not been set up.
    pub fn find_lines(&mut self) {
        let of = self.whole.as_ref().unwrap_or(&self.operator);
        self.description.lines.get_or_insert_with(|| LineDescription::found(&of.0));
    }

    /// Returns the parameters.
    #[must_use]
    pub fn setup(&self) -> &EllipticSetup {
        &self.setup
    }

    /// Solves from `u = 0`. Calls `progress` with the iteration and its residual from time to time; `stop`
    /// ends the solve.
    pub fn solve(&mut self, stop: &AtomicBool, progress: &mut (dyn FnMut(usize, f64) + Send)) -> Solved {
        let start = Instant::now();
        let imbalance = self.right_hand_side();
        let options = &self.setup.solver;
        let limits = Stop {
            relative: options.tolerance,
            reference: Reference::InitialResidual,
            absolute: 0.0,
            max_iterations: options.max_iterations,
        };
        let mut refused = self.solver.take(&self.b).err();
        let right_hand_side_s = start.elapsed().as_secs_f64();
        let start = Instant::now();
        self.x.fill(0.0);
        let (outcome, stopped) = self.solver.solve(&self.b, &mut self.x, &limits, stop, progress);
        let solve_s = start.elapsed().as_secs_f64();
        if let Err(error) = self.solver.fetch(&mut self.x) {
            refused.get_or_insert(error);
        }
        let outcome = outcome.or_else(|error| self.accept_rounding(error));
        if let Some(constants) = &self.constants {
            let mean_of = self.setup.mean_of.as_ref();
            let operator = &self.operator;
            let wanted = mean_of.map(|f| operator.0.project(&|element, x| f(operator.number(element), x)));
            constants.set_means(wanted.as_deref(), &mut self.x);
        }
        let bad_datum = match &outcome {
            Err(SolveError::NotFinite { iteration: 0, .. }) => {
                let operator = &self.operator;
                let (forcing, conditions) = operator.data(&self.setup);
                operator.agreed(bridge::bad_datum(&operator.0, &forcing, &conditions))
            }
            _ => None,
        };
        let u = self.x.to_vec();
        let integral = self.operator.0.integral(&u);
        let refused = refused.or_else(|| ranks::failure(&self.operator));
        Solved { u, outcome, refused, bad_datum, stopped, right_hand_side_s, solve_s, integral, imbalance }
    }

    /// Returns a solve that has stagnated as a solution if its residual is rounding: below a few times
    /// `ε ‖D x‖` with the diagonal D, which large jumps of κ make larger than the tolerance. The last iterate
    /// is then the solution of a problem that differs by rounding.
    fn accept_rounding(&self, error: SolveError) -> Result<Solution, SolveError> {
        let SolveError::Stagnated { iterations, residual, target, history } = error else {
            return Err(error);
        };
        let mut terms = self.x.clone();
        terms.iter_mut().zip(self.operator.0.diagonal()).for_each(|(x, d)| *x *= d);
        let size = terms.norm2();
        if residual <= ROUNDINGS * f64::EPSILON * size {
            return Ok(Solution { iterations, residuals: history, true_residual: residual, target });
        }
        Err(SolveError::Stagnated { iterations, residual, target, history })
    }

    /// Computes `b`. For a singular problem, removes the part for which no solution exists and returns it.
    fn right_hand_side(&mut self) -> Option<Imbalance> {
        let (forcing, conditions) = self.operator.data(&self.setup);
        let b = bridge::right_hand_side(&self.operator.0, &forcing, &conditions);
        self.b.copy_from_slice(&b);
        self.constants.as_ref().and_then(|constants| constants.balance(&mut self.b))
    }

    /// Returns the norms of `u − exact`; the energy norm if the gradient is given.
    #[must_use]
    pub fn errors(
        &self,
        u: &[f64],
        exact: &(dyn Fn(usize, [f64; 3]) -> f64 + Sync),
        gradient: Option<&GradientField<'_>>,
    ) -> Errors {
        let operator = &self.operator;
        let exact = |element, x| exact(operator.number(element), x);
        match gradient {
            None => operator.0.errors(u, &exact, None),
            Some(gradient) => {
                let gradient = |element, x| gradient(operator.number(element), x);
                operator.0.errors(u, &exact, Some(&gradient))
            }
        }
    }

    /// Returns the solution on the lattices of the cells, in the order of elements; on several ranks that of
    /// the whole mesh on rank 0, and none on others.
    #[must_use]
    pub fn sample(&self, u: &[f64], order: usize) -> Vec<SampledSet> {
        let own = self.operator.0.sample(u, order);
        let samples = match self.operator.0.ranks() {
            None => own.into_iter().map(in_order).collect(),
            Some(ranks) => ranks::samples(ranks, &own),
        };
        located(samples, &self.setup.mesh)
    }

    /// Whether this rank writes results: the only one, or rank 0.
    #[must_use]
    pub fn writes(&self) -> bool {
        self.setup.comm.as_ref().is_none_or(|comm| comm.rank() == ROOT)
    }
}

/// The residual of a solution is rounding below this number of `ε` times its terms.
const ROUNDINGS: f64 = 10.0;

/// Makes the operator of a set-up.
fn operator(setup: &EllipticSetup, host: &Arc<Host>) -> Result<Operator<f64>, EllipticError> {
    let conditions: Vec<_> = setup.boundaries.iter().map(|c| (c.name.clone(), c.kind)).collect();
    let options = SipdgOptions { penalty: setup.penalty, ..SipdgOptions::new(setup.order) };
    let (kappa, lambda) = (&setup.kappa, &setup.lambda);
    let sipdg = Sipdg::<f64>::new(
        Arc::clone(&setup.mesh),
        &options,
        &|element, x| kappa(element, x),
        &|element, x| lambda(element, x),
        &conditions,
        Arc::clone(host),
    )?;
    Ok(Operator(Arc::new(sipdg)))
}

/// Samples with the numbers of their elements in the mesh file.
pub fn located(samples: Vec<Sample>, mesh: &Mesh) -> Vec<SampledSet> {
    let set = |set: Sample| SampledSet {
        shape: set.shape,
        points: set.points,
        values: set.values,
        gradients: Vec::new(),
        elements: set.elements.iter().map(|&e| mesh.tag(e)).collect(),
        widths: Vec::new(),
    };
    samples.into_iter().map(set).collect()
}
