//! A prescribed flow rate of a gas: a uniform force per mass that keeps the bulk velocity.
//!
//! A force per mass `g(t) e` along the unit vector e adds the same velocity everywhere and leaves density and
//! pressure. So after a step of size Δt, with the integrals `M = ∫ρ` and `P = ∫ρ u·e` over the domain,
//!
//! ```text
//! a = U − P/M,   u ← u + a e,   ρE ← ρE + a ρ u·e + ½ a² ρ − q ρ,   g = a/Δt
//! ```
//!
//! has the bulk velocity `P/M = U`. The map is linear in the conserved variables, so that it is exact in
//! every basis. `q = 0`, or, where the work of the force is taken out again, equally for all mass,
//! `q = a (P/M + a/2)`: the total energy is then that before. The force acts between the steps, which is an
//! error of first order in the velocity that it gives in one step, `g Δt`.

use super::Flow;
use crate::SystemError;
use crate::setup::Drive;
use crate::solves::Driven;
use dgsuite_gpu::ExactSum;
use std::mem::replace;

/// The force, and what it has given.
#[derive(Clone, Debug)]
pub(crate) struct Driving {
    of: Drive,
    /// The force per mass after a step; `None` before the first one.
    force: Option<f64>,
    /// The integrals over the domain and the time of what was added to each conserved variable.
    given: Vec<ExactSum>,
    /// The same before the last step.
    given_before: Vec<ExactSum>,
}

impl Driving {
    pub(super) fn new(of: Drive, fields: usize) -> Self {
        let given = vec![ExactSum::new(); fields];
        Self { of, force: None, given_before: given.clone(), given }
    }

    /// `P/M` of these integrals of the conserved variables.
    fn bulk_velocity(&self, totals: &[f64]) -> f64 {
        let momentum = totals[1..].iter().zip(self.of.rate.direction).map(|(m, e)| m * e).sum::<f64>();
        momentum / totals[0]
    }

    /// Forgets the last step.
    pub(super) fn undo(&mut self) {
        self.given.clone_from(&self.given_before);
    }
}

impl Flow {
    /// Gives the gas its prescribed bulk velocity after a step of size `dt`; nothing without a prescribed
    /// one. [`step`](Self::step) has done it; after [`try_step`](Self::try_step) it is left to the caller,
    /// who knows whether the step is kept. Collective.
    ///
    /// # Errors
    /// Errors of the device, and of the communication.
    pub fn keep_flow_rate(&mut self, dt: f64) -> Result<(), SystemError> {
        let Some(driving) = &mut self.driving else { return Ok(()) };
        let totals = self.engine.totals();
        let Drive { rate, balanced } = driving.of;
        let (before, fields, dim) = (driving.bulk_velocity(&totals), totals.len(), self.setup.mesh.dim());
        let a = rate.mean - before;
        let work = a * (before + 0.5 * a);
        let specific = if balanced { 0.5 * a * a - work } else { 0.5 * a * a };
        let energy = dim + 1;
        let mut map = vec![0.0; fields * fields];
        (0..fields).for_each(|k| map[k * fields + k] = 1.0);
        map[energy * fields] = specific;
        for (d, e) in rate.direction[..dim].iter().enumerate() {
            map[(d + 1) * fields] = a * e;
            map[energy * fields + d + 1] = a * e;
        }
        self.engine.map_unknowns(&map)?;
        driving.force = Some(a / dt);
        driving.given_before.clone_from(&driving.given);
        for (k, given) in driving.given.iter_mut().enumerate() {
            let row = &map[k * fields..][..fields];
            let added = row.iter().zip(&totals).enumerate();
            added.filter(|&(j, _)| j != k).for_each(|(_, (a, total))| given.add(a * total));
        }
        self.engine.connected()?;
        Ok(())
    }

    /// Returns the mean velocity and the force that keeps it; `None` if no flow rate is prescribed.
    /// Collective.
    #[must_use]
    pub fn driven(&self) -> Option<Driven> {
        let Some(driving) = &self.driving else { return self.engine.of_incompressible()?.driven() };
        let mean = driving.bulk_velocity(&self.engine.totals());
        Some(Driven { mean, force: driving.force.unwrap_or(0.0), after_step: driving.force.is_some() })
    }

    /// What has passed the boundary of the domain or was given by the driving force, of each conserved
    /// variable; the former as `through`.
    pub(super) fn with_given(&self, mut through: Vec<ExactSum>) -> Vec<ExactSum> {
        through.resize(self.n_fields(), ExactSum::new());
        if let Some(driving) = &self.driving {
            through.iter_mut().zip(&driving.given).for_each(|(sum, given)| sum.merge(given));
        }
        through
    }

    /// Takes what the driving force has given as passed through the boundary, as after a restart.
    pub(super) fn forget_given(&mut self) {
        let fields = self.n_fields();
        if let Some(driving) = &mut self.driving {
            let _ = replace(driving, Driving::new(driving.of, fields));
        }
    }
}
