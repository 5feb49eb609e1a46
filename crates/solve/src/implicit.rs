//! Steady states of gases by Newton's method: exact products with the Jacobian, blocks, and a correction of
//! order one.
//!
//! A step solves `(1/Δτ − R′(u)) δ = R(u)` by flexible GMRES. Its preconditioner is the problem of order one,
//! `P A₁⁻¹ R`, and then a few directions of a smoother. Both have incomplete factors of a sparse matrix of
//! blocks, in an order that follows lines of strong coupling; where the factors of the whole space do not
//! fit, the smoother has the inverses of the diagonal blocks. Products come from the tangent equation
//! ([`Tangent`](dgsuite_physics::Tangent)), blocks from products with directions that are not zero in the
//! elements of one colour.

mod between;
mod blocks;
mod colours;
mod consistency;
mod dense;
#[allow(unsafe_code)] // kernels are launched
mod device;
mod factors;
mod host;
mod jacobian;
mod linear;
mod matrix;
mod ordering;
mod parts;
mod places;
mod response;
mod stages;
mod step;
mod tangent;
mod whole;

use std::cell::Cell;
use std::sync::Arc;

use dgsuite_amg::Gmres;
use dgsuite_basis::{Representation, Shape};
use dgsuite_gpu::{Host, Vector};
use dgsuite_ops::cuda::CudaDiscretization;
use dgsuite_ops::{Discretization, OpsError, PackScalar};
use dgsuite_timeint::{NewtonStep, PseudoTime};

use crate::SystemError;
use crate::precision::Precision;
use crate::setup::{BoundaryKind, Newton, ReactionTerm, Setup};
use crate::solves::Histories;
use between::Between;
pub use consistency::{Consistency, consistency};
pub(crate) use device::{DeviceParts, SumsBefore};
pub(crate) use host::{HostMarch, HostParts, HostState};
use jacobian::Jacobian;
use linear::Linear;
pub(crate) use parts::{Evolving, Parts};
pub use response::{Response, lacks_responses};
pub(crate) use stages::Stages;
pub use stages::lacks_in_time;
use step::Problem;
use whole::Whole;

/// Why a set-up has no Newton steps, as what to use instead; `None` if it has them.
#[must_use]
pub fn lacks(setup: &Setup) -> Option<String> {
    let what = if setup.law.gas().is_none() {
        format!("Newton steps are for euler and navier-stokes, not for {}", setup.law.name())
    } else if setup.precision == Precision::Single {
        "Newton steps are in double precision: `precision: double`, or `solver: explicit`".to_owned()
    } else if setup.limiting.is_some() {
        "Newton steps have no limiter: leave `space.limiter` out, or `solver: explicit`".to_owned()
    } else if setup.newton.is_some() && is_insulated(setup) {
        "Newton steps do not keep the energy between walls of which none has a temperature, and the steady \
         state depends on it: `solver: explicit`, with steps of one size, keeps it"
            .to_owned()
    } else {
        return None;
    };
    Some(what)
}

/// Whether no mass comes in or goes out: the steady state then depends on the mass at the start.
pub(crate) fn is_closed(setup: &Setup) -> bool {
    let wall = |kind: &BoundaryKind| {
        use BoundaryKind::{CurvedSlipWall, NoSlipWall, SlipWall, Symmetry};
        matches!(kind, SlipWall | CurvedSlipWall { .. } | Symmetry | NoSlipWall { .. })
    };
    let sources = setup.source.is_some()
        || setup.reactions.iter().any(|term| !matches!(term, ReactionTerm::BodyForce(_)));
    !sources && setup.boundaries.iter().all(|(_, kind)| wall(kind))
}

/// Whether walls let neither mass nor heat through. The steady state then depends on mass and energy at the
/// start, which steps of different size in each element do not keep.
#[must_use]
pub fn is_insulated(setup: &Setup) -> bool {
    let given = |kind: &BoundaryKind| matches!(kind, BoundaryKind::NoSlipWall { temperature: Some(_), .. });
    is_closed(setup) && !setup.boundaries.is_empty() && !setup.boundaries.iter().any(|(_, kind)| given(kind))
}

/// The rate `R(u)` of a set-up and the product `R′(u) v`, as Newton steps compute them on the CPU.
///
/// Vectors are in the order of [`State::fields`](crate::flow::State::fields).
///
/// Sources of place and time are left out, as they do not depend on the state.
///
/// # Errors
/// [`SystemError::Unavailable`] for set-ups without Newton steps, and those of the discretisation.
///
/// # Panics
/// If a vector does not have the length of the state.
pub fn rate_and_product(setup: &Setup, u: &[f64], v: &[f64]) -> Result<(Vec<f64>, Vec<f64>), SystemError> {
    let fields = setup.mesh.dim() + 2;
    let mut jacobian = Jacobian::new(setup, &Arc::new(Host::new(setup.threads)?), None, fields)?;
    assert!(u.len() == jacobian.len() && v.len() == u.len(), "the state has {} scalars", jacobian.len());
    jacobian.linearise(0.0, u);
    let rate = jacobian.rate();
    let mut product = vec![0.0; v.len()];
    jacobian.multiply(v, &mut product);
    Ok((rate, product))
}

/// What the steps of a run have cost.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct NewtonStatistics {
    /// Steps, those that were rejected included.
    pub steps: u64,
    /// Iterations of the linear solver.
    pub linear_iterations: u64,
    /// Products with the Jacobian, those for preconditioners included.
    pub products: u64,
    /// Seconds of products.
    pub product_s: f64,
    /// How often the preconditioner was made.
    pub setups: u64,
    /// Seconds of that.
    pub setup_s: f64,
    /// Seconds of linear solves.
    pub solve_s: f64,
    /// Bytes of Jacobian and preconditioner.
    pub bytes: usize,
}

/// Newton steps of one discretisation on the machine of `P`.
pub(crate) struct Implicit<P: Parts> {
    linear: Linear<P>,
    control: PseudoTime,
    gmres: Gmres<P::Vector>,
    statistics: NewtonStatistics,
    /// Multiple and residual after the last step.
    last: Option<[f64; 2]>,
    /// Those of a checkpoint with which the next step may continue.
    restored: Option<[f64; 2]>,
    /// Whether no mass comes in or goes out, and the mass then, once it is known.
    closed: bool,
    mass: Option<f64>,
    /// Whether a checkpoint was made since the last step.
    saved: Cell<bool>,
}

/// The multiple of a checkpoint holds as long as the residual is at most this many times the one then: it is
/// larger if the set-up has changed.
const SAME_RESIDUAL: f64 = 10.0;

impl Implicit<HostParts> {
    /// Steps for a set-up on the CPU.
    pub(crate) fn on_host<T: PackScalar>(
        setup: &Setup,
        newton: Newton,
        host: &Arc<Host>,
        d: &Discretization<T>,
    ) -> Result<Self, SystemError> {
        Self::new(HostParts::of(setup, newton, host, d)?, newton, is_closed(setup))
    }
}

impl Implicit<DeviceParts> {
    /// Steps for a set-up on a device.
    pub(crate) fn on_device<T: PackScalar>(
        setup: &Setup,
        newton: Newton,
        d: &CudaDiscretization<T>,
    ) -> Result<Self, SystemError> {
        Self::new(DeviceParts::new(setup, newton, d)?, newton, is_closed(setup))
    }
}

impl<P: Parts> Implicit<P> {
    /// What the machine supplies.
    pub(crate) fn parts(&self) -> &P {
        &self.linear.parts
    }

    fn new(parts: P, newton: Newton, closed: bool) -> Result<Self, SystemError> {
        let gmres = Gmres::new(&parts.zeros()?, newton.restart)?;
        let control = PseudoTime::new(newton.start, newton.growth);
        let linear = Linear::new(parts, newton)?;
        Ok(Self {
            linear,
            control,
            gmres,
            statistics: NewtonStatistics::default(),
            last: None,
            restored: None,
            closed,
            mass: None,
            saved: Cell::new(false),
        })
    }

    /// What the next step depends on beside the state. The preconditioner is made anew after a checkpoint, so
    /// that a run that continues from it has the same bits.
    pub(crate) fn histories(&self) -> Option<Histories> {
        let [cfl, residual] = self.last?;
        self.saved.set(true);
        let steps = [cfl, residual].into_iter().chain(self.mass).collect();
        Some(Histories { steps, fields: Vec::new() })
    }

    /// Continues with that of a checkpoint; `None` if it does not fit.
    pub(crate) fn set_histories(&mut self, of: &Histories) -> Option<()> {
        let (&[cfl, residual, ref mass @ ..], []) = (&of.steps[..], &of.fields[..]) else { return None };
        let fits = cfl.is_finite() && cfl > 0.0 && residual.is_finite() && mass.len() < 2;
        fits.then(|| {
            self.restored = Some([cfl, residual]);
            self.mass = mass.first().copied().filter(|_| self.closed);
        })
    }

    /// Takes a step from a state.
    pub(crate) fn step<E: Evolving<P>>(&mut self, state: E) -> Result<NewtonStep, OpsError> {
        let zeros = self.linear.parts.zeros()?;
        let mut problem = Problem {
            state,
            delta: zeros.zeros_like()?,
            right: zeros,
            linear: &mut self.linear,
            gmres: &mut self.gmres,
            statistics: &mut self.statistics,
        };
        if let Some([cfl, residual]) = self.restored.take()
            && problem.residual()? <= SAME_RESIDUAL * residual
        {
            self.control.cfl = cfl;
        }
        if self.saved.take() {
            problem.linear.forget();
        }
        if self.closed && self.mass.is_none() {
            self.mass = Some(problem.state.mass()?);
        }
        let step = self.control.step(&mut problem)?;
        if let Some(mass) = self.mass {
            // Steps of different size in each element do not keep it.
            let by = mass / problem.state.mass()?;
            if by.is_finite() && by != 1.0 {
                problem.state.scale(by)?;
            }
        }
        self.last = Some([self.control.cfl, step.residual]);
        self.statistics.steps += 1;
        self.statistics.linear_iterations += step.iterations as u64;
        let parts = &self.linear.parts;
        self.statistics.products = parts.products();
        self.statistics.product_s = parts.seconds();
        self.statistics.bytes = parts.bytes();
        Ok(step)
    }

    /// What the steps have cost.
    pub(crate) fn statistics(&self) -> NewtonStatistics {
        self.statistics
    }
}

/// The prolongations of all elements from order 1, or from a lower order of the space, with their L²
/// projections; `None` if there is none. Collective.
fn between<T: PackScalar>(
    d: &Discretization<T>,
    whole: &Whole,
) -> Result<Option<Vec<Arc<Between>>>, SystemError> {
    let known = of_shapes(d).unwrap_or_default();
    Ok(whole.prolongations(&known).map_err(OpsError::from)?)
}

/// [`between`] for the shapes of a discretisation's own elements.
fn of_shapes<T: PackScalar>(d: &Discretization<T>) -> Option<Vec<(Shape, Arc<Between>)>> {
    let (mesh, basis, fields) = (d.mesh(), d.representation(), d.physics().n_fields());
    let n = mesh.n_elements();
    // The first element of each shape shows a change of basis, `[own function][function of the other]`.
    let change = |of: usize, from: Representation, order: usize| -> Option<Vec<f64>> {
        let size = |basis, order, e: usize| d.basis_size_in(basis, order, mesh.shape(e));
        let begin = |basis, order| fields * (0..of).map(|e| size(basis, order, e)).sum::<usize>();
        let total = begin(from, order) + fields * (of..n).map(|e| size(from, order, e)).sum::<usize>();
        let (first, other) = (begin(basis, d.order()), begin(from, order));
        let (rows, columns) = (size(basis, d.order(), of), size(from, order, of));
        let mut matrix = vec![0.0; rows * columns];
        for j in 0..columns {
            let mut unit = vec![0.0; total];
            unit[other + j] = 1.0;
            let column = d.convert_canonical_of_order(&unit, from, order)?;
            (0..rows).for_each(|i| matrix[i * columns + j] = column[first + i]);
        }
        Some(matrix)
    };
    let order = d.order().min(1);
    let mut known: Vec<(Shape, Arc<Between>)> = Vec::new();
    for e in 0..n {
        let shape = mesh.shape(e);
        if known.iter().any(|(of, _)| *of == shape) {
            continue;
        }
        let up = change(e, basis, order)?;
        // Orthonormal functions, by which the L² product is known.
        let modes = change(e, Representation::Modal, d.order());
        let coarse = d.basis_size_in(basis, order, shape);
        known.push((shape, Arc::new(Between::new(up, coarse, modes.as_deref())?)));
    }
    Some(known)
}
