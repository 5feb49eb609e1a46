//! Steady states of gases by Newton's method: exact products with the Jacobian, blocks, and a correction of
//! order one.
//!
//! A step solves `(1/Δτ − R′(u)) δ = R(u)` by flexible GMRES. Its preconditioner is the problem of order one,
//! `P A₁⁻¹ R` with incomplete factors of a sparse matrix of blocks, and then a few directions of block
//! Jacobi, with the inverses of the diagonal blocks of all elements. Products come from the tangent equation
//! ([`Tangent`](dgsuite_physics::Tangent)), blocks from products with directions that are not zero in the
//! elements of one colour.

mod blocks;
mod coarse;
mod colours;
mod dense;
mod jacobian;
mod linear;
mod step;
mod tangent;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use dgsuite_amg::Gmres;
use dgsuite_basis::Shape;
use dgsuite_gpu::{Host, HostVector, Vector};
use dgsuite_ops::{Discretization, Form, OpsError, PackScalar};
use dgsuite_timeint::{NewtonStep, PseudoTime};

use crate::SystemError;
use crate::device::Device;
use crate::setup::{BoundaryKind, Newton, ReactionTerm, Riemann, Setup};
use coarse::Between;
use jacobian::Jacobian;
use linear::Linear;
use step::Problem;

/// Why a set-up has no Newton steps, as what to use instead; `None` if it has them.
#[must_use]
pub fn lacks(setup: &Setup) -> Option<String> {
    let boundary = setup.boundaries.iter().find(|(_, kind)| {
        matches!(kind, BoundaryKind::OfState { .. } | BoundaryKind::Own(_) | BoundaryKind::Open { .. })
    });
    let formulas = |term: &ReactionTerm| matches!(term, ReactionTerm::Formulas(_));
    let what = if setup.law.gas().is_none() {
        format!("Newton steps are for euler and navier-stokes, not for {}", setup.law.name())
    } else if setup.device != Device::Cpu {
        "Newton steps run on the CPU: `device: cpu`, or `solver: explicit`".to_owned()
    } else if setup.comm.size() > 1 {
        "Newton steps run on one rank, with all of its threads; `solver: explicit` on several".to_owned()
    } else if setup.limiting.is_some() {
        "Newton steps have no limiter: leave `space.limiter` out, or `solver: explicit`".to_owned()
    } else if setup.form == Form::Split {
        "Newton steps have no split form: another `space.form`, or `solver: explicit`".to_owned()
    } else if matches!(setup.riemann, Riemann::Own(_)) {
        "Newton steps know the fluxes of dgsuite; `solver: explicit` for those of another crate".to_owned()
    } else if let Some((name, kind)) = boundary {
        format!(
            "Newton steps have no derivative of the condition {} of `{name}` (data by formulas of the state, \
             or a condition of another crate); use numbers, or `solver: explicit`",
            kind.name()
        )
    } else if setup.reactions.iter().any(formulas) {
        "Newton steps have no sources by formulas of the state; `solver: explicit` has".to_owned()
    } else {
        return None;
    };
    Some(what)
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

/// Newton steps of one discretisation.
pub(crate) struct Implicit {
    linear: Linear,
    control: PseudoTime,
    gmres: Gmres<HostVector<f64>>,
    statistics: NewtonStatistics,
}

impl Implicit {
    /// Steps for a set-up.
    pub(crate) fn new<T: PackScalar>(
        setup: &Setup,
        newton: Newton,
        host: &Arc<Host>,
        d: &Discretization<T>,
    ) -> Result<Self, SystemError> {
        let jacobian = Jacobian::new(setup, host, d.physics().n_fields())?;
        let neighbours = colours::neighbours(setup.mesh.seen());
        let gmres = Gmres::new(&HostVector::zeros(host, jacobian.len())?, newton.restart)?;
        let below = (d.order(), between(d));
        let linear = Linear::new(jacobian, host, below, neighbours, newton);
        let control = PseudoTime::new(newton.start, newton.growth);
        Ok(Self { linear, control, gmres, statistics: NewtonStatistics::default() })
    }

    /// Takes a step from the state `u` at time `t`.
    pub(crate) fn step<T: PackScalar>(
        &mut self,
        d: &mut Discretization<T>,
        t: f64,
        u: &mut HostVector<T>,
    ) -> Result<NewtonStep, OpsError> {
        let start = d.to_canonical(u);
        let zeros = HostVector::zeros(&self.linear.host, start.len())?;
        let mut problem = Problem {
            delta: zeros.zeros_like()?,
            right: zeros,
            rate: u.zeros_like()?,
            start,
            d,
            t,
            u,
            linear: &mut self.linear,
            gmres: &mut self.gmres,
            statistics: &mut self.statistics,
        };
        let step = self.control.step(&mut problem)?;
        self.statistics.steps += 1;
        self.statistics.linear_iterations += step.iterations as u64;
        self.statistics.products = self.linear.jacobian.products();
        self.statistics.product_s = self.linear.jacobian.seconds();
        self.statistics.bytes = self.linear.bytes();
        Ok(step)
    }

    /// What the steps have cost.
    pub(crate) fn statistics(&self) -> NewtonStatistics {
        self.statistics
    }
}

/// The prolongations of all elements from order 1, or from a lower order of the space; `None` if there is
/// none.
fn between<T: PackScalar>(d: &Discretization<T>) -> Option<Vec<Arc<Between>>> {
    let (mesh, basis, fields) = (d.mesh(), d.representation(), d.physics().n_fields());
    let order = d.order().min(1);
    let coarse = |e: usize| d.basis_size_in(basis, order, mesh.shape(e));
    let fine = |e: usize| d.basis_size_in(basis, d.order(), mesh.shape(e));
    let n = mesh.n_elements();
    let total: usize = (0..n).map(|e| fields * coarse(e)).sum();
    // The first element of each shape shows the prolongation.
    let mut known: Vec<(Shape, Arc<Between>)> = Vec::new();
    let (mut first_coarse, mut first_fine) = (0, 0);
    let mut all = Vec::with_capacity(n);
    for e in 0..n {
        let shape = mesh.shape(e);
        if !known.iter().any(|(of, _)| *of == shape) {
            let mut up = vec![0.0; fine(e) * coarse(e)];
            for j in 0..coarse(e) {
                let mut unit = vec![0.0; total];
                unit[first_coarse + j] = 1.0;
                let column = d.convert_canonical_of_order(&unit, basis, order)?;
                (0..fine(e)).for_each(|i| up[i * coarse(e) + j] = column[first_fine + i]);
            }
            known.push((shape, Arc::new(Between::new(up, coarse(e))?)));
        }
        first_coarse += fields * coarse(e);
        first_fine += fields * fine(e);
        all.extend(known.iter().find(|(of, _)| *of == shape).map(|(_, between)| Arc::clone(between)));
    }
    Some(all)
}
