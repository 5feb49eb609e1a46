//! The table of exact solutions: names, parameters, defaults.

use std::f64::consts::{FRAC_1_SQRT_2, FRAC_PI_2, FRAC_PI_4};

/// A parameter of a solution.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Parameter {
    /// Name in pipeline files.
    pub name: &'static str,
    /// Default value; periods default to those of the domain.
    pub default: f64,
    /// Its meaning.
    pub about: &'static str,
}

/// A solution that [`by_name`](super::by_name) accepts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Entry {
    /// Name in pipeline files.
    pub name: &'static str,
    /// Name of the model: that of the law, as [`Law::NAME`](crate::Law::NAME), or `navier-stokes`. Solutions
    /// listed for `euler` can also be used in `navier-stokes`. Name and model identify an entry.
    pub model: &'static str,
    /// Dimensions in which it exists.
    pub dims: &'static [usize],
    /// A description in one line.
    pub about: &'static str,
    /// Its parameters.
    pub parameters: &'static [Parameter],
}

const fn p(name: &'static str, default: f64, about: &'static str) -> Parameter {
    Parameter { name, default, about }
}

pub(super) static CATALOGUE: [Entry; 24] = [
    Entry {
        name: "isentropic-vortex",
        model: "euler",
        dims: &[2, 3],
        about: "vortex carried along by a free stream (extruded along z in 3D)",
        parameters: &[
            p("mach", 0.5, "Mach number of the free stream"),
            p("eps", 0.3, "strength"),
            p("radius", 1.0, "core radius"),
            p("rho", 1.0, "density of the free stream"),
            p("u", FRAC_1_SQRT_2, "velocity of the free stream"),
            p("v", FRAC_1_SQRT_2, "velocity of the free stream"),
            p("w", 0.0, "velocity of the free stream"),
            p("x0", 0.0, "centre at t = 0"),
            p("y0", 0.0, "centre at t = 0"),
            p("period_x", 0.0, "period of the domain, 0 for none"),
            p("period_y", 0.0, "period of the domain, 0 for none"),
        ],
    },
    Entry {
        name: "isentropic-vortex-beta",
        model: "euler",
        dims: &[2, 3],
        about: "vortex of strength beta with p = rho^gamma (extruded along z in 3D)",
        parameters: &[
            p("beta", 5.0, "strength"),
            p("u", 1.0, "velocity of the free stream"),
            p("v", 0.0, "velocity of the free stream"),
            p("w", 0.0, "velocity of the free stream"),
            p("x0", 5.0, "centre at t = 0"),
            p("y0", 0.0, "centre at t = 0"),
            p("period_x", 0.0, "period of the domain, 0 for none"),
            p("period_y", 0.0, "period of the domain, 0 for none"),
        ],
    },
    Entry {
        name: "vortex-tube",
        model: "euler",
        dims: &[3],
        about: "vortex about an oblique axis with a jet along it: smooth in all of space",
        parameters: &[
            p("beta", 1.0, "strength of the swirl"),
            p("jet", 0.5, "strength of the jet"),
            p("u", 1.0, "velocity of the free stream"),
            p("v", 0.5, "velocity of the free stream"),
            p("w", 0.25, "velocity of the free stream"),
            p("x0", 0.0, "point of the axis at t = 0"),
            p("y0", 0.0, "point of the axis at t = 0"),
            p("z0", 0.0, "point of the axis at t = 0"),
            p("axis_x", 1.0, "direction of the axis"),
            p("axis_y", 1.0, "direction of the axis"),
            p("axis_z", 1.0, "direction of the axis"),
            p("period_x", 0.0, "period of the domain, 0 for none"),
            p("period_y", 0.0, "period of the domain, 0 for none"),
            p("period_z", 0.0, "period of the domain, 0 for none"),
        ],
    },
    Entry {
        name: "supersonic-vortex",
        model: "euler",
        dims: &[2],
        about: "steady flow around the origin between two arcs",
        parameters: &[
            p("radius", 1.0, "radius of the inner wall"),
            p("mach", 2.25, "Mach number at the inner wall"),
            p("rho", 1.0, "density at the inner wall"),
        ],
    },
    Entry {
        name: "entropy-wave",
        model: "euler",
        dims: &[2, 3],
        about: "sine wave of density carried along at constant pressure",
        parameters: &[
            p("rho", 1.0, "mean density"),
            p("amplitude", 0.2, "amplitude relative to the mean density"),
            p("u", 1.0, "velocity"),
            p("v", 1.0, "velocity"),
            p("w", 1.0, "velocity"),
            p("p", 1.0, "pressure"),
            p("kx", 1.0, "waves per length along x"),
            p("ky", 1.0, "waves per length along y"),
            p("kz", 1.0, "waves per length along z"),
            p("length", 1.0, "the length"),
        ],
    },
    Entry {
        name: "sod",
        model: "euler",
        dims: &[2, 3],
        about: "Sod's shock tube, solved exactly",
        parameters: &[
            p("diaphragm", 0.5, "position along the direction"),
            p("nx", 1.0, "direction"),
            p("ny", 0.0, "direction"),
            p("nz", 0.0, "direction"),
        ],
    },
    Entry {
        name: "lax",
        model: "euler",
        dims: &[2, 3],
        about: "Lax's shock tube, solved exactly",
        parameters: &[
            p("diaphragm", 0.0, "position along the direction"),
            p("nx", 1.0, "direction"),
            p("ny", 0.0, "direction"),
            p("nz", 0.0, "direction"),
        ],
    },
    Entry {
        name: "le-blanc",
        model: "euler",
        dims: &[2, 3],
        about: "Le Blanc's shock tube (γ = 5/3): a pressure ratio of 3e8, solved exactly",
        parameters: &[
            p("diaphragm", 3.0, "position along the direction"),
            p("nx", 1.0, "direction"),
            p("ny", 0.0, "direction"),
            p("nz", 0.0, "direction"),
        ],
    },
    Entry {
        name: "two-rarefactions",
        model: "euler",
        dims: &[2, 3],
        about: "two rarefactions with a near vacuum between them, solved exactly",
        parameters: &[
            p("diaphragm", 0.5, "position along the direction"),
            p("nx", 1.0, "direction"),
            p("ny", 0.0, "direction"),
            p("nz", 0.0, "direction"),
        ],
    },
    Entry {
        name: "riemann-problem",
        model: "euler",
        dims: &[2, 3],
        about: "two states that meet at a plane, solved exactly",
        parameters: &[
            p("rho_left", 1.0, "density on the left"),
            p("u_left", 0.0, "velocity on the left"),
            p("v_left", 0.0, "velocity on the left"),
            p("w_left", 0.0, "velocity on the left"),
            p("p_left", 1.0, "pressure on the left"),
            p("rho_right", 0.125, "density on the right"),
            p("u_right", 0.0, "velocity on the right"),
            p("v_right", 0.0, "velocity on the right"),
            p("w_right", 0.0, "velocity on the right"),
            p("p_right", 0.1, "pressure on the right"),
            p("diaphragm", 0.0, "position along the direction"),
            p("nx", 1.0, "direction"),
            p("ny", 0.0, "direction"),
            p("nz", 0.0, "direction"),
        ],
    },
    Entry {
        name: "uniform",
        model: "euler",
        dims: &[2, 3],
        about: "the same state everywhere",
        parameters: &[
            p("rho", 1.0, "density"),
            p("u", 1.0, "velocity"),
            p("v", 0.0, "velocity"),
            p("w", 0.0, "velocity"),
            p("p", 1.0, "pressure"),
        ],
    },
    Entry {
        name: "taylor-green",
        model: "euler",
        dims: &[2, 3],
        about: "Taylor-Green vortices at a constant temperature; initial state only in 3D",
        parameters: &[
            p("mach", 0.1, "Mach number of the largest velocity"),
            p("rho", 1.0, "mean density"),
            p("speed", 1.0, "largest velocity"),
            p("length", 1.0, "period over 2 pi"),
        ],
    },
    Entry {
        name: "manufactured",
        model: "euler",
        dims: &[2, 3],
        about: "waves of density, velocity and pressure, each with its own direction; needs a source term",
        parameters: &[
            p("rho", 1.0, "mean density"),
            p("u", 0.5, "mean velocity"),
            p("v", 0.3, "mean velocity"),
            p("w", 0.4, "mean velocity"),
            p("p", 1.0, "mean pressure"),
            p("amplitude", 0.1, "amplitude relative to the mean density, pressure and sqrt(p/rho)"),
            p("length", 1.0, "period along x, y and z"),
            p("frequency", 1.0, "oscillations per unit time, 0 for a steady solution"),
        ],
    },
    Entry {
        name: "couette",
        model: "navier-stokes",
        dims: &[2, 3],
        about: "flow between a wall at rest and one moving along x, at given temperatures; constant viscosity",
        parameters: &[
            p("u", 1.0, "velocity of the upper wall"),
            p("height", 2.0, "distance of the walls"),
            p("y0", 0.0, "position of the lower wall"),
            p("t_bottom", 0.8, "temperature of the lower wall"),
            p("t_top", 0.85, "temperature of the upper wall"),
            p("rho_top", 1.0, "density at the upper wall"),
        ],
    },
    Entry {
        name: "sine-wave",
        model: "advection",
        dims: &[2, 3],
        about: "plane sine wave carried along",
        parameters: &[
            p("mean", 0.0, "mean value"),
            p("amplitude", 1.0, "amplitude"),
            p("kx", 1.0, "waves per length along x"),
            p("ky", 1.0, "waves per length along y"),
            p("kz", 1.0, "waves per length along z"),
            p("length", 1.0, "the length"),
        ],
    },
    Entry {
        name: "gaussian-pulse",
        model: "advection",
        dims: &[2, 3],
        about: "bell-shaped pulse carried along",
        parameters: &[
            p("mean", 0.0, "value far away"),
            p("amplitude", 1.0, "height"),
            p("width", 0.1, "standard deviation"),
            p("x0", 0.5, "centre at t = 0"),
            p("y0", 0.5, "centre at t = 0"),
            p("z0", 0.5, "centre at t = 0"),
            p("period_x", 0.0, "period of the domain, 0 for none"),
            p("period_y", 0.0, "period of the domain, 0 for none"),
            p("period_z", 0.0, "period of the domain, 0 for none"),
        ],
    },
    Entry {
        name: "taylor-vortex",
        model: "incompressible",
        dims: &[2, 3],
        about: "periodic eddies that decay, carried along by a mean velocity (extruded along z in 3D)",
        parameters: &[
            p("speed", 1.0, "largest velocity of the eddies at t = 0"),
            p("length", 1.0, "period along x and y"),
            p("u", 0.0, "mean velocity"),
            p("v", 0.0, "mean velocity"),
            p("w", 0.0, "mean velocity"),
        ],
    },
    Entry {
        name: "walsh-eddies",
        model: "incompressible",
        dims: &[2, 3],
        about: "eddies of two sizes that decay, carried along by a mean velocity; period 2 pi along x and y",
        parameters: &[
            p("strength", 1.0, "factor of the velocity of the eddies"),
            p("u", 1.0, "mean velocity"),
            p("v", 0.3, "mean velocity"),
            p("w", 0.0, "mean velocity"),
        ],
    },
    Entry {
        name: "taylor-green",
        model: "incompressible",
        dims: &[2, 3],
        about: "Taylor-Green vortices; initial state only in 3D",
        parameters: &[p("speed", 1.0, "largest velocity"), p("length", 1.0, "period over 2 pi")],
    },
    Entry {
        name: "kovasznay",
        model: "incompressible",
        dims: &[2, 3],
        about: "steady flow behind a grid (extruded along z in 3D)",
        parameters: &[p("speed", 1.0, "mean velocity"), p("length", 1.0, "period along y")],
    },
    Entry {
        name: "poiseuille",
        model: "incompressible",
        dims: &[2, 3],
        about: "steady flow between two plates, driven by a pressure gradient along x",
        parameters: &[
            p("u", 1.0, "largest velocity"),
            p("height", 1.0, "distance of the plates"),
            p("y0", 0.0, "position of the lower plate"),
            p("x0", 0.0, "position where the pressure is zero"),
        ],
    },
    Entry {
        name: "beltrami",
        model: "incompressible",
        dims: &[3],
        about: "decaying flow with parallel velocity and vorticity, smooth in all of space",
        parameters: &[
            p("a", FRAC_PI_4, "growth along the axes, one over a length"),
            p("d", FRAC_PI_2, "wave number, one over a length"),
        ],
    },
    Entry {
        name: "guermond-shen",
        model: "incompressible",
        dims: &[2, 3],
        about: "waves of velocity and pressure that change at walls; needs a source term",
        parameters: &[p("frequency", 1.0, "angular frequency, 0 for a steady flow")],
    },
    Entry {
        name: "uniform",
        model: "incompressible",
        dims: &[2, 3],
        about: "the same state everywhere",
        parameters: &[
            p("u", 1.0, "velocity"),
            p("v", 0.0, "velocity"),
            p("w", 0.0, "velocity"),
            p("p", 0.0, "pressure"),
        ],
    },
];
