//! The time that the slowest process takes to cross the domain, for runs to a steady state.

use super::{Flow, Law};

/// Means over the domain.
struct Means {
    /// `(mean |v|²)^½`.
    speed: f64,
    /// The mean of the smallest kinematic diffusivity.
    diffusivity: f64,
}

impl Flow {
    /// Returns the longer of the times that flow and diffusion take across the domain, with its largest
    /// extent `L`:
    ///
    /// ```text
    /// max(L/|v|, L²/ν)
    /// ```
    ///
    /// `|v|` is the root mean square of the velocity, `ν` the mean of `μ/ρ min(1, γ/Pr)`. `None` if nothing
    /// moves or diffuses.
    pub fn slowest_time(&self) -> Option<f64> {
        let [lower, upper] = self.setup.mesh.bounding_box();
        let extent = (0..3).map(|d| upper[d] - lower[d]).fold(0.0, f64::max);
        let Means { speed, diffusivity } = self.means();
        let times = [extent / speed, extent * extent / diffusivity];
        times.into_iter().filter(|time| time.is_finite()).reduce(f64::max)
    }

    fn means(&self) -> Means {
        let (law, n, dim) = (&self.setup.law, self.n_fields(), self.setup.mesh.dim());
        let integrals = self.engine.integrate(false, 3, &|_, u, out| {
            out[0] = 1.0;
            (out[1], out[2]) = match law {
                Law::Advection { velocity } => (velocity.iter().map(|v| v * v).sum(), 0.0),
                Law::Euler { .. } => (squared_speed(u), 0.0),
                Law::Incompressible(law) => (u[..dim].iter().map(|v| v * v).sum(), law.viscosity),
                Law::NavierStokes(viscous) => {
                    let squared = squared_speed(u);
                    let mu: f64 = viscous.viscosity_at(u[n - 1] / u[0] - 0.5 * squared);
                    let least = (viscous.gas.gamma / viscous.prandtl).min(1.0);
                    (squared, mu / u[0] * least)
                }
            };
        });
        Means { speed: (integrals[1] / integrals[0]).sqrt(), diffusivity: integrals[2] / integrals[0] }
    }
}

/// `|v|²` of a conserved state of a gas.
fn squared_speed(u: &[f64]) -> f64 {
    u[1..u.len() - 1].iter().map(|m| m * m).sum::<f64>() / (u[0] * u[0])
}
