//! Forces and moments of the fluid on a boundary, with their pressure and viscous parts, and coefficients.

use super::{Surface, cross, dot};

/// Forces of the fluid on a boundary. In two dimensions forces are per length along z.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Forces {
    /// `∮ (p − p∞) n dS`, with the normal into the body.
    pub pressure: [f64; 3],
    /// `−∮ τ·n dS`.
    pub viscous: [f64; 3],
    /// Moment of the pressure about the origin given.
    pub pressure_moment: [f64; 3],
    /// Moment of the viscous stress.
    pub viscous_moment: [f64; 3],
    /// Heat into the boundary, per time.
    pub heat: f64,
    /// Area of the boundary.
    pub area: f64,
}

/// Reference quantities of the coefficients.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scales {
    /// Density `ρ∞`.
    pub density: f64,
    /// Speed `|v∞|`.
    pub speed: f64,
    /// Pressure `p∞`.
    pub pressure: f64,
    /// Area `A` (in two dimensions a length).
    pub area: f64,
    /// Length `L` of moments and Strouhal numbers.
    pub length: f64,
    /// Unit vector of drag.
    pub drag: [f64; 3],
    /// Unit vector of lift.
    pub lift: [f64; 3],
    /// Reference point of the moments.
    pub origin: [f64; 3],
}

impl Scales {
    /// The dynamic pressure `½ ρ |v|²`.
    #[must_use]
    pub fn dynamic_pressure(&self) -> f64 {
        0.5 * self.density * self.speed * self.speed
    }

    /// Returns the unit vector of lift, perpendicular to `drag`: in the plane of x and y, to the left of the
    /// flow.
    #[must_use]
    pub fn lift_of(drag: [f64; 3]) -> [f64; 3] {
        let across = [-drag[1], drag[0], 0.0];
        let length = dot(across, across).sqrt();
        if length > 0.0 { across.map(|x| x / length) } else { [1.0, 0.0, 0.0] }
    }
}

/// Coefficients: forces over `½ρ|v|² A`, moments over `½ρ|v|² A L`.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Coefficients {
    /// Drag.
    pub cd: f64,
    /// Pressure drag.
    pub cd_pressure: f64,
    /// Friction drag.
    pub cd_viscous: f64,
    /// Lift.
    pub cl: f64,
    /// Side force, along drag × lift.
    pub cs: f64,
    /// Moment about z; for a flow along x a positive moment turns the nose down.
    pub cm: f64,
}

impl Coefficients {
    /// Returns names and values, in the order of tables.
    #[must_use]
    pub fn named(&self) -> [(&'static str, f64); 6] {
        [
            ("cd", self.cd),
            ("cl", self.cl),
            ("cs", self.cs),
            ("cm", self.cm),
            ("cd_pressure", self.cd_pressure),
            ("cd_viscous", self.cd_viscous),
        ]
    }
}

impl Forces {
    /// Integrates over a boundary.
    #[must_use]
    pub fn of(surface: &Surface, scales: &Scales) -> Self {
        let mut f = Self::default();
        let pressure = surface.pressure();
        for (i, (&x, &n)) in surface.points.iter().zip(&surface.normals).enumerate() {
            let w = surface.weights[i];
            let arm: [f64; 3] = std::array::from_fn(|d| x[d] - scales.origin[d]);
            let push = n.map(|n| w * (pressure.get(i).copied().unwrap_or(0.0) - scales.pressure) * n);
            let drag = surface.traction.get(i).copied().unwrap_or_default().map(|t| -w * t);
            let (turn, twist) = (cross(arm, push), cross(arm, drag));
            for d in 0..3 {
                f.pressure[d] += push[d];
                f.viscous[d] += drag[d];
                f.pressure_moment[d] += turn[d];
                f.viscous_moment[d] += twist[d];
            }
            f.heat += w * surface.heat.get(i).copied().unwrap_or(0.0);
            f.area += w;
        }
        f
    }

    /// Returns the total force.
    #[must_use]
    pub fn total(&self) -> [f64; 3] {
        std::array::from_fn(|d| self.pressure[d] + self.viscous[d])
    }

    /// Returns the total moment.
    #[must_use]
    pub fn moment(&self) -> [f64; 3] {
        std::array::from_fn(|d| self.pressure_moment[d] + self.viscous_moment[d])
    }

    /// Returns the coefficients.
    #[must_use]
    pub fn coefficients(&self, scales: &Scales) -> Coefficients {
        let unit = scales.dynamic_pressure() * scales.area;
        let along = |force: [f64; 3], axis: [f64; 3]| dot(force, axis) / unit;
        Coefficients {
            cd: along(self.total(), scales.drag),
            cd_pressure: along(self.pressure, scales.drag),
            cd_viscous: along(self.viscous, scales.drag),
            cl: along(self.total(), scales.lift),
            cs: along(self.total(), cross(scales.drag, scales.lift)),
            cm: self.moment()[2] / (unit * scales.length),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const N: usize = 64;

    /// A circle of radius ½ about (1, 2) in a fluid around it, with pressure `p(θ)` and stress `τ(θ)`.
    fn circle(p: impl Fn(f64) -> f64, stress: impl Fn(f64) -> [f64; 3]) -> Surface {
        let angles: Vec<f64> = (0..N).map(|i| (i as f64 + 0.5) * std::f64::consts::TAU / N as f64).collect();
        Surface {
            first: (0..=N).collect(),
            points: angles.iter().map(|a| [1.0 + 0.5 * a.cos(), 2.0 + 0.5 * a.sin(), 0.0]).collect(),
            normals: angles.iter().map(|a| [-a.cos(), -a.sin(), 0.0]).collect(),
            weights: vec![std::f64::consts::PI / N as f64; N],
            values: vec![vec![1.0; N], angles.iter().map(|&a| p(a)).collect()],
            scalars: 0,
            traction: angles.iter().map(|&a| stress(a)).collect(),
            heat: vec![2.0; N],
            u_tau: Vec::new(),
            y_plus: Vec::new(),
        }
    }

    fn scales() -> Scales {
        let drag = [1.0, 0.0, 0.0];
        let (density, speed, pressure, area, length) = (2.0, 3.0, 0.7, 1.0, 1.0);
        Scales {
            density,
            speed,
            pressure,
            area,
            length,
            drag,
            lift: Scales::lift_of(drag),
            origin: [1.0, 2.0, 0.0],
        }
    }

    #[test]
    fn a_constant_pressure_pushes_nowhere_and_a_linear_one_lifts_like_archimedes() {
        let still = Forces::of(&circle(|_| 5.0, |_| [0.0; 3]), &scales());
        assert!(still.pressure.iter().all(|x| x.abs() < 1e-14), "{still:?}");
        // p = −g y gives a force upwards of g × the area π/4.
        let f = Forces::of(&circle(|a| -3.0 * 0.5 * a.sin(), |_| [0.0; 3]), &scales());
        let expected = 3.0 * std::f64::consts::PI / 4.0;
        assert!((f.pressure[1] - expected).abs() < 1e-14 && f.pressure[0].abs() < 1e-14, "{f:?}");
        assert!((f.coefficients(&scales()).cl - expected / 9.0).abs() < 1e-14);
        assert!((f.area - std::f64::consts::PI).abs() < 1e-14 && (f.heat - 2.0 * f.area).abs() < 1e-13);
    }

    #[test]
    fn a_fluid_that_circles_turns_the_body_and_one_that_passes_drags_it() {
        // A fluid that rotates anticlockwise: the stress on the fluid is clockwise, on the body
        // anticlockwise.
        let f = Forces::of(&circle(|_| 0.7, |a| [a.sin(), -a.cos(), 0.0]), &scales());
        assert!((f.viscous_moment[2] - 0.5 * std::f64::consts::PI).abs() < 1e-14, "{f:?}");
        assert!(f.pressure_moment[2].abs() < 1e-14);
        let f = Forces::of(&circle(|_| 0.7, |_| [-1.0, 0.0, 0.0]), &scales());
        let c = f.coefficients(&scales());
        assert!((c.cd_viscous - std::f64::consts::PI / 9.0).abs() < 1e-14 && c.cd_pressure.abs() < 1e-14);
        assert!(c.cm.abs() < 1e-14);
    }
}
