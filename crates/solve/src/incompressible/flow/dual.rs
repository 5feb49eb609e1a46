//! Dual splitting: the pressure first, then the viscous step.
//!
//! With the past, convection and forces in û, and at the beginning of the step the viscous term `F = ν ∇²uⁿ`
//! and the divergence `D = ∇·uⁿ`, both by the operators of the step and with the boundary data of `tⁿ`,
//!
//! ```text
//! w̃ = û + F/s,   −∇²π = −s ∇·w̃ with ∂π/∂n = −θν n·∇×∇×(u* − uⁿ) on walls,
//! w = w̃ − (∇π + F − ν ∇D)/s,   penalties on w,   (s − ν∇²) u = s w,   p = π − ν D
//! ```
//!
//! The penalties act on a velocity from which F has been removed. If it is removed afterwards, what they have
//! changed of it remains, and grows without bound where steps are large for the viscosity at thin elements.
//! With a pressure of lower order it is removed afterwards all the same: there `F − ν ∇D` has a divergence in
//! the space of the velocity, by which the penalties would spoil the pressure.
//!
//! `F − ν ∇D` is `−ν ∇×∇×uⁿ`. In w̃ it gives the pressure the boundary value that the second part needs:
//! where u changes little in a step, u is free of divergence as w is. If the boundary value were that of the
//! broken velocity alone, `∂p/∂n = −ν n·∇×∇×u*`, u would keep a divergence of Δt times the difference of
//! both discretisations of the viscous term. It is of the order `h^(p−2)`, large in viscous flow and at
//! corners, and s times it enters the pressure of the next step, which then follows each change of the step.
//!
//! The change of the viscous term during the step, `u* − uⁿ`, is left to the broken velocity: extrapolation
//! with the operators of the step would be unstable where viscosity is large within a step. There also that
//! of the broken velocity excites modes at walls that decay slowly, so that only the part `θ = min(1, 1/λ)`
//! counts, with the `stiffness` λ of the velocity's solver. At given elements θ is 1 as soon as steps are
//! small.
//!
//! Without walls F and D are left out. The divergence that jumps between elements then leave in u is
//! harmless, and F would bring the same jumps into the pressure.
//!
//! # Source
//! Guermond & Shen, SIAM J. Numer. Anal. 41 (2003) 112–134, for the rotational velocity correction;
//! Karniadakis, Israeli & Orszag, J. Comput. Phys. 97 (1991) 414–443, for the boundary value of the change.

use super::Flow;
use crate::SystemError;
use crate::incompressible::machine::Machine;
use crate::incompressible::phases::Phase;
use crate::setup::PressureOrder;
use dgsuite_gpu::Vector;
use dgsuite_timeint::Weights;

impl<M: Machine> Flow<M> {
    /// The rest of a step of size `dt` from `t` to `end`, with `û` in `work.hat`.
    pub(super) fn dual(
        &mut self,
        (t, end, dt): (f64, f64, f64),
        s: f64,
        w: &Weights,
    ) -> Result<(), SystemError> {
        let start = self.machine.now();
        let low = self.steps.weights_of_order(dt, 2);
        let walls = self.boundaries.have_walls();
        if walls {
            self.add_viscous_term(t, s)?;
        }
        self.extrapolate(&low.beta);
        self.boundaries.update(&self.machine, end, &self.work.star)?;
        self.load_of_divergence(end, s)?;
        if walls {
            let part = (1.0 / self.velocity.stiffness(s)).min(1.0);
            self.work.star.axpby(-part, &self.u[0], part);
        }
        self.boundaries.add_to_pressure(&mut self.work.load, s, &self.work.star);
        self.extrapolate_pressure(&low.beta);
        self.solve_next_pressure(s)?;
        self.gradient(end)?;
        self.work.b.fill(0.0);
        let open = self.boundaries.add_pressure(&mut self.work.b);
        self.complete_gradient(open);
        self.work.hat.axpby(1.0 / s, &self.work.gradient, 1.0);
        if walls {
            self.work.phi.axpby(self.law.viscosity, &self.work.kept, 1.0);
        }
        let lower = self.law.pressure_order == PressureOrder::Lower;
        if walls && !lower {
            self.work.hat.axpby(-1.0 / s, &self.work.viscous, 1.0);
        }
        self.phases.add(Phase::Pressure, start, self.machine.now());

        self.penalise(dt)?;

        let start = self.machine.now();
        if walls && lower {
            self.work.hat.axpby(-1.0 / s, &self.work.viscous, 1.0);
        }
        self.load_of_velocity(s);
        self.boundaries.add_to_velocity(&mut self.work.b);
        if walls || w.beta != low.beta {
            self.extrapolate(&w.beta);
        }
        self.solve_velocity(s)?;
        self.phases.add(Phase::Velocity, start, self.machine.now());
        Ok(())
    }

    /// `û ← û + F/s`, `work.viscous ← F − ν ∇D` and `work.kept ← −D` of the velocity at time `t`.
    fn add_viscous_term(&mut self, t: f64, s: f64) -> Result<(), SystemError> {
        self.work.b.fill(0.0);
        self.boundaries.add_to_velocity_at(&self.machine, (t, &self.u[0]), &mut self.work.b)?;
        self.velocity.subtract_viscous(&self.u[0], &mut self.work.b);
        for (viscous, b) in self.work.viscous.0.iter_mut().zip(&self.work.b.0) {
            self.machine.inverse_mass(b, viscous);
        }
        std::mem::swap(&mut self.work.hat, &mut self.u[0]);
        let load = self.load_of_divergence(t, 1.0);
        std::mem::swap(&mut self.work.hat, &mut self.u[0]);
        load?;
        self.boundaries.add_wall_flux(&mut self.work.load, 1.0);
        self.machine.pressure_of_load(&self.work.load, &mut self.work.kept);
        self.work.phi.copy_from(&self.work.kept);
        self.gradient(t)?;
        self.work.hat.axpby(1.0 / s, &self.work.viscous, 1.0);
        self.work.viscous.axpby(-self.law.viscosity, &self.work.gradient, 1.0);
        Ok(())
    }
}
