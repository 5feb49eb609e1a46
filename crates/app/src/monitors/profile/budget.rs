//! The budget of the turbulent kinetic energy `k = ½⟨u_i'u_i'⟩` along a line across homogeneous directions.
//!
//! With the direction n of the line, the only one in which means change, and `∂ = ∂/∂x_n`,
//!
//! ```text
//! ∂k/∂t = −⟨u_i'u_n'⟩ ∂U_i   production
//!         −ν⟨∇u_i'·∇u_i'⟩    dissipation
//!         −½ ∂⟨u_i'u_i'u_n'⟩ transport by turbulence
//!         −∂⟨p'u_n'⟩/ρ       transport by pressure
//!         +∂(ν ∂k)           diffusion by viscosity
//!         −U_n ∂k            convection
//! ```
//!
//! with the stress `t_ij = ν_t (∂_j u_i + ∂_i u_j)` of a closure also
//!
//! ```text
//!         −⟨t_ij ∂_j u_i⟩ + ⟨t_in⟩ ∂U_i   dissipation by the eddy viscosity
//!         +∂(⟨t_in u_i⟩ − ⟨t_in⟩ U_i)     diffusion by the eddy viscosity
//! ```
//!
//! and the residual, the sum of all, which is zero in a steady state. The means of products and of their
//! derivatives are those of point values, `∂⟨u_i u_n⟩ = ⟨u_n ∂u_i + u_i ∂u_n⟩`; only diffusion has a
//! derivative of a mean along the line. A gas is taken as one of nearly constant density.
//!
//! # Source
//! Pope, *Turbulent Flows*, Cambridge 2000, §5.3 and exercise 7.21; Mansour, Kim & Moin, J. Fluid Mech. 194
//! (1988) 15–44.

use dgsuite_physics::formula::Formula;

use super::directions::AXES;
use super::{COMPONENTS, Context};
use crate::file::problem::InputError;
use crate::file::problem::mistakes::each;
use crate::monitors::kinetic_energy;
use dgsuite_solve::flow::Law;
use dgsuite_solve::post::line::derivative;

/// The names of the terms, before those of a closure and the residual.
const TERMS: [&str; 6] = [
    "production",
    "dissipation",
    "turbulent_transport",
    "pressure_transport",
    "viscous_diffusion",
    "convection",
];

/// The names of the terms of a closure.
const OF_CLOSURE: [&str; 2] = ["eddy_dissipation", "eddy_diffusion"];

/// The names of the terms, the residual last, with or without a closure.
pub(super) fn terms(closure: bool) -> Vec<&'static str> {
    let of_closure = if closure { &OF_CLOSURE[..] } else { &[] };
    [&TERMS, of_closure, &["residual"]].concat()
}

/// What a budget is made of.
pub(super) struct Budget {
    /// The direction of the line.
    pub(super) axis: usize,
    dim: usize,
    /// Whether the flow has a closure.
    closure: bool,
    /// The formulas whose means it needs, and their names.
    pub(super) formulas: Vec<(String, Formula)>,
}

impl Budget {
    /// The budget along a line in the direction `axis`.
    ///
    /// # Errors
    /// A mistake in the formula of the viscosity.
    pub(super) fn new(axis: usize, context: &Context<'_>) -> Result<Self, InputError> {
        let variables = context.states.variables;
        let (law, dim) = (variables.law(), variables.dim());
        let gas = matches!(law, Law::NavierStokes(_));
        let (n, x) = (COMPONENTS[axis], AXES[axis]);
        let of_all = |term: &dyn Fn(&str) -> String| {
            COMPONENTS[..dim].iter().map(|u| term(u)).collect::<Vec<_>>().join(" + ")
        };
        let density = if gas { "rho" } else { "1" };
        let viscosity = kinetic_energy::viscosity(law, dim);
        let viscosity = format!("({viscosity})/{density}");
        let squares =
            COMPONENTS[..dim].iter().flat_map(|u| AXES[..dim].iter().map(move |x| format!("{u}_{x}^2")));
        let squares = squares.collect::<Vec<_>>().join(" + ");
        let slopes = of_all(&|u| format!("{u}*{u}_{x}"));
        let energy = of_all(&|u| format!("{u}^2"));
        let mut texts = vec![
            ("nu", viscosity.clone()),
            ("rho", density.to_owned()),
            ("p", "p".to_owned()),
            ("p slope", format!("p_{x}")),
            ("flux of p", format!("p_{x}*{n} + p*{n}_{x}")),
            ("gradients", format!("{viscosity}*({squares})")),
            ("k slope", slopes.clone()),
            ("flux of k", format!("({slopes})*{n} + ({energy})/2*{n}_{x}")),
        ];
        let names = COMPONENTS[..dim].iter().map(|u| [format!("{u} slope"), format!("{u}{n} slope")]);
        let names: Vec<[String; 2]> = names.collect();
        for (u, [slope, product]) in COMPONENTS.iter().zip(&names) {
            texts.push((slope, format!("{u}_{x}")));
            texts.push((product, format!("{u}_{x}*{n} + {u}*{n}_{x}")));
        }
        let closure = law.closure().is_some();
        let stress = |i: usize| format!("EddyViscosity*({}_{x} + {n}_{})", COMPONENTS[i], AXES[i]);
        let stresses: Vec<[String; 2]> = COMPONENTS[..dim]
            .iter()
            .enumerate()
            .map(|(i, u)| [format!("stress of {u}"), stress(i)])
            .collect();
        if closure {
            let work = (0..dim).map(|i| format!("{}*{}", COMPONENTS[i], stress(i))).collect::<Vec<_>>();
            let strain = kinetic_energy::strain(dim).join(" + ");
            texts.push(("eddies", format!("EddyViscosity*({strain})")));
            texts.push(("work of stress", work.join(" + ")));
            texts.extend(stresses.iter().map(|[name, text]| (name.as_str(), text.clone())));
        }
        let parse = |(name, text): (&str, String)| {
            Ok((name.to_owned(), kinetic_energy::formula("monitors.profile.budget", &text, context)?))
        };
        Ok(Self { axis, dim, closure, formulas: each(texts.into_iter().map(parse))? })
    }

    /// The terms, `[term][point]`, at points of the line with these coordinates `x_n`, from the means of the
    /// velocity, `[component][point]`, of its products with the component n, and of the formulas.
    pub(super) fn terms(
        &self,
        x: &[f64],
        velocity: &[Vec<f64>],
        products: &[Vec<f64>],
        energy: &[f64],
        means: &[Vec<f64>],
    ) -> Vec<Vec<f64>> {
        let names = self.names();
        let [nu, rho, p, p_slope, p_flux, gradients, k_slope, k_flux, of_components @ ..] = means else {
            return vec![vec![f64::NAN; x.len()]; names.len()];
        };
        let (dim, n) = (self.dim, self.axis);
        let (of_components, of_closure) = of_components.split_at(2 * dim);
        let (slope, product) = (|i: usize| &of_components[2 * i], |i: usize| &of_components[2 * i + 1]);
        let sum = |term: &dyn Fn(usize) -> f64| (0..dim).map(term).sum::<f64>();
        // ∂k without the energy of the mean.
        let rise = |q: usize| k_slope[q] - sum(&|i| velocity[i][q] * slope(i)[q]);
        let diffusive: Vec<f64> = (0..x.len()).map(|q| nu[q] * rise(q)).collect();
        let diffusion = derivative(x, &diffusive);
        let eddies = self.of_closure(x, velocity, &slope, of_closure);
        let mut terms = vec![Vec::with_capacity(x.len()); names.len()];
        for q in 0..x.len() {
            let (u, g) = (|i: usize| velocity[i][q], |i: usize| slope(i)[q]);
            let production = -sum(&|i| (products[i][q] - u(i) * u(n)) * g(i));
            let dissipation = -(gradients[q] - nu[q] * sum(&|i| g(i) * g(i)));
            // ∂ of ½⟨u_i u_i u_n⟩ − U_i⟨u_i u_n⟩ − U_n K + U_i U_i U_n with K = ½⟨u_i u_i⟩.
            let carried = k_flux[q]
                - sum(&|i| g(i) * products[i][q] + u(i) * product(i)[q])
                - g(n) * energy[q]
                - u(n) * k_slope[q]
                + sum(&|i| 2.0 * u(i) * g(i) * u(n) + u(i) * u(i) * g(n));
            let pressed = (p_flux[q] - p_slope[q] * u(n) - p[q] * g(n)) / rho[q];
            let all = [production, dissipation, -carried, -pressed, diffusion[q], -u(n) * rise(q)];
            let all: Vec<f64> = all.into_iter().chain(eddies.iter().map(|term| term[q])).collect();
            let residual = all.iter().sum::<f64>();
            terms
                .iter_mut()
                .zip(all.into_iter().chain([residual]))
                .for_each(|(term, value)| term.push(value));
        }
        terms
    }

    /// The names of the terms.
    pub(super) fn names(&self) -> Vec<&'static str> {
        terms(self.closure)
    }

    /// The terms of the closure, from the means of its formulas; none without one.
    fn of_closure<'m>(
        &self,
        x: &[f64],
        velocity: &[Vec<f64>],
        slope: &dyn Fn(usize) -> &'m Vec<f64>,
        means: &[Vec<f64>],
    ) -> Vec<Vec<f64>> {
        let [eddies, work, stress @ ..] = means else { return Vec::new() };
        let of_mean =
            |q: usize, of: &dyn Fn(usize) -> f64| (0..self.dim).map(|i| stress[i][q] * of(i)).sum::<f64>();
        let dissipation = |q: usize| of_mean(q, &|i| slope(i)[q]) - eddies[q];
        let flux: Vec<f64> = (0..x.len()).map(|q| work[q] - of_mean(q, &|i| velocity[i][q])).collect();
        vec![(0..x.len()).map(dissipation).collect(), derivative(x, &flux)]
    }
}

/// The largest absolute residual as a share of the largest production, over the points with both.
pub(super) fn share(terms: &[Vec<f64>]) -> f64 {
    let largest = |term: &[f64]| term.iter().filter(|x| x.is_finite()).fold(0.0_f64, |m, x| m.max(x.abs()));
    terms.last().map_or(0.0, |residual| largest(residual)) / largest(&terms[0])
}

#[cfg(test)]
mod tests {
    use super::*;
    use dgsuite_solve::post::line::cosine_points;

    const NU: f64 = 0.03;

    /// Velocity and pressure at the phase `a` of fluctuations at the height `y`.
    fn state(y: f64, a: f64) -> [f64; 4] {
        let waves = |f: f64, g: f64, h: f64| f * (a + h).cos() + g * (2.0 * a - h).cos();
        [
            1.0 - y * y + waves(y * (1.0 - y), 0.3 * y, 0.4),
            0.2 * y + waves(y * y, 0.5 * y * (1.0 - y), -0.7),
            0.1 + waves(0.3 * y * y, 0.2 * y, 1.1),
            2.0 - y + waves(0.4 * y, 0.3, 0.2),
        ]
    }

    const PHASES: usize = 12;

    fn mean(f: impl Fn(f64) -> f64) -> f64 {
        let phase = |i: usize| i as f64 / PHASES as f64 * std::f64::consts::TAU;
        (0..PHASES).map(phase).map(f).sum::<f64>() / PHASES as f64
    }

    /// Fluctuations.
    fn fluctuation(y: f64, a: f64) -> [f64; 4] {
        let of = state(y, a);
        std::array::from_fn(|i| of[i] - mean(|a| state(y, a)[i]))
    }

    fn slope(f: impl Fn(f64) -> f64, y: f64) -> f64 {
        let h = 1e-3;
        (8.0 * (f(y + h) - f(y - h)) - f(y + 2.0 * h) + f(y - 2.0 * h)) / (12.0 * h)
    }

    #[test]
    fn terms_are_those_of_the_fluctuations() {
        let (_, points) = cosine_points([0.0; 3], [0.0, 1.0, 0.0], 40);
        let x: Vec<f64> = points.iter().map(|x| x[1]).collect();
        let column =
            |f: &dyn Fn(f64, f64) -> f64| -> Vec<f64> { x.iter().map(|&y| mean(|a| f(y, a))).collect() };
        let d = |i: usize, y: f64, a: f64| slope(|y| state(y, a)[i], y);
        let sum = |term: &dyn Fn(usize) -> f64| (0..3).map(term).sum::<f64>();
        let velocity: Vec<Vec<f64>> = (0..3).map(|i| column(&|y, a| state(y, a)[i])).collect();
        let products: Vec<Vec<f64>> =
            (0..3).map(|i| column(&|y, a| state(y, a)[i] * state(y, a)[1])).collect();
        let energy = column(&|y, a| 0.5 * sum(&|i| state(y, a)[i].powi(2)));
        let mut means = vec![
            column(&|_, _| NU),
            column(&|_, _| 2.0),
            column(&|y, a| state(y, a)[3]),
            column(&|y, a| d(3, y, a)),
            column(&|y, a| slope(|y| state(y, a)[3] * state(y, a)[1], y)),
            column(&|y, a| NU * sum(&|i| d(i, y, a).powi(2))),
            column(&|y, a| slope(|y| 0.5 * sum(&|i| state(y, a)[i].powi(2)), y)),
            column(&|y, a| slope(|y| 0.5 * sum(&|i| state(y, a)[i].powi(2)) * state(y, a)[1], y)),
        ];
        for i in 0..3 {
            means.push(column(&|y, a| d(i, y, a)));
            means.push(column(&|y, a| slope(|y| state(y, a)[i] * state(y, a)[1], y)));
        }
        // The stress of a closure in fluctuations that depend on y alone.
        let eddy = |y: f64, a: f64| 0.1 + 0.05 * y * (a + 0.6).cos();
        let rate = |i: usize, y: f64, a: f64| d(i, y, a) * if i == 1 { 2.0 } else { 1.0 };
        let stress = |i: usize, y: f64, a: f64| eddy(y, a) * rate(i, y, a);
        means.push(column(&|y, a| sum(&|i| stress(i, y, a) * d(i, y, a))));
        means.push(column(&|y, a| sum(&|i| stress(i, y, a) * state(y, a)[i])));
        means.extend((0..3).map(|i| column(&|y, a| stress(i, y, a))));
        let budget = Budget { axis: 1, dim: 3, closure: true, formulas: Vec::new() };
        let terms = budget.terms(&x, &velocity, &products, &energy, &means);
        let k = |y: f64| mean(|a| 0.5 * sum(&|i| fluctuation(y, a)[i].powi(2)));
        let moment = |y: f64, i: usize| mean(|a| fluctuation(y, a)[i] * fluctuation(y, a)[1]);
        let carried = |y: f64| mean(|a| 0.5 * sum(&|i| fluctuation(y, a)[i].powi(2)) * fluctuation(y, a)[1]);
        for (q, &y) in x.iter().enumerate() {
            let rise = |i: usize| slope(|y| mean(|a| state(y, a)[i]), y);
            let expected = [
                -sum(&|i| moment(y, i) * rise(i)),
                -NU * mean(|a| sum(&|i| slope(|y| fluctuation(y, a)[i], y).powi(2))),
                -slope(carried, y),
                -slope(|y| moment(y, 3), y) / 2.0,
                NU * slope(|y| slope(k, y), y),
                -mean(|a| state(y, a)[1]) * slope(k, y),
                -mean(|a| {
                    sum(&|i| {
                        (stress(i, y, a) - mean(|a| stress(i, y, a))) * slope(|y| fluctuation(y, a)[i], y)
                    })
                }),
                slope(
                    |y| {
                        mean(|a| {
                            sum(&|i| (stress(i, y, a) - mean(|a| stress(i, y, a))) * fluctuation(y, a)[i])
                        })
                    },
                    y,
                ),
            ];
            let found: Vec<f64> = terms.iter().map(|term| term[q]).collect();
            for (name, (found, expected)) in budget.names().iter().zip(found.iter().zip(expected)) {
                assert!((found - expected).abs() < 1e-6, "{name} at {y}: {found} {expected}");
            }
            assert!((found[8] - expected.iter().sum::<f64>()).abs() < 1e-5);
        }
        assert!(share(&terms) > 0.1);
    }
}
