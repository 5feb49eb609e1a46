//! Integrals and norms over the domain.
//!
//! Integrals and norms use cubatures finer than the scheme's, unless they say otherwise; they run over
//! elements in parallel. Integrals of elements are summed exactly and rounded once, so that sums do not
//! depend on the order of the elements, on threads, or on ranks.

use crate::fields::evaluation;
use crate::fields::gradients::Lift;
use crate::lanes::simd::PackScalar;
use crate::rhs::discretization::Discretization;
use crate::rhs::limiter::StateFloor;
use crate::space::geometry::{GeometryBasis, volume_factors};
use crate::space::group::{Group, element_points};
use crate::space::positions::{coefficients, metric_determinant};
use crate::space::scheme::MetricRule;
use dgsuite_basis::{Evaluation, Quadrature};
use dgsuite_gpu::ExactSum;
use dgsuite_physics::Exact;
use rayon::prelude::*;

/// The solution at the points of a rule in one element, for integrands.
#[derive(Clone, Copy, Debug)]
pub struct AtPoints<'a> {
    /// The element, a number of [`Discretization::mesh`].
    pub element: usize,
    /// Positions, `[point]`.
    pub x: &'a [[f64; 3]],
    /// Conserved states, `[field][point]`.
    pub states: &'a [f64],
    /// Lifted gradients of the conserved variables, physical, `[axis][field][point]`; empty unless they were
    /// asked for.
    pub gradients: &'a [f64],
    /// What a limiter bounds in the element, if integrands are of the states that are shown.
    pub floor: Option<&'a StateFloor>,
}

/// Exact sums and largest values over elements.
struct Sums {
    sums: Vec<ExactSum>,
    largest: Vec<f64>,
}

impl Sums {
    fn new(n: usize) -> Self {
        Self { sums: vec![ExactSum::default(); n], largest: vec![0.0; n] }
    }

    /// Sums and largest values of the elements `slots`, in parallel.
    fn over(n: usize, slots: &[usize], of_element: impl Fn(&usize) -> (Vec<f64>, Vec<f64>) + Sync) -> Self {
        let of_run = |run: &[usize]| {
            let mut own = Self::new(n);
            for (sums, largest) in run.iter().map(&of_element) {
                own.sums.iter_mut().zip(sums).for_each(|(s, x)| s.add(x));
                own.largest.iter_mut().zip(largest).for_each(|(m, x)| *m = m.max(x));
            }
            own
        };
        let join = |mut a: Self, b: Self| {
            a.merge(&b);
            a
        };
        // Exact sums do not depend on the order in which they are merged.
        slots.par_chunks(256).map(of_run).reduce(|| Self::new(n), join)
    }

    fn merge(&mut self, other: &Self) {
        self.sums.iter_mut().zip(&other.sums).for_each(|(a, b)| a.merge(b));
        self.largest.iter_mut().zip(&other.largest).for_each(|(a, b)| *a = a.max(*b));
    }
}

/// Norms of `u − u_exact`, for each field.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Norms {
    /// `∫ |e|`.
    pub l1: Vec<f64>,
    /// `(∫ e²)^½`.
    pub l2: Vec<f64>,
    /// Largest `|e|` over the points of the rule.
    pub linf: Vec<f64>,
}

impl<T: PackScalar> Discretization<T> {
    /// Computes `∫ f(x, u) dx` for several integrands at once, by a rule of degree at least `degree`.
    ///
    /// `f` receives a position, the conserved state there and the array of integrands to fill. Returns the
    /// integrals and the largest values at the points of the rule. The result does not depend on the number
    /// of threads.
    pub fn integrate(
        &self,
        u: &[T],
        degree: usize,
        n: usize,
        f: impl Fn([f64; 3], &[f64], &mut [f64]) + Sync,
    ) -> (Vec<f64>, Vec<f64>) {
        self.integrate_states(u, false, degree, n, f)
    }

    /// As [`integrate`](Self::integrate); if `bounded`, with the states that are shown between the points of
    /// a limiter ([`StateFloor`]).
    pub fn integrate_states(
        &self,
        u: &[T],
        bounded: bool,
        degree: usize,
        n: usize,
        f: impl Fn([f64; 3], &[f64], &mut [f64]) + Sync,
    ) -> (Vec<f64>, Vec<f64>) {
        self.integrate_elements(u, (None, bounded), degree, n, &|at: &AtPoints<'_>, out: &mut [f64]| {
            let points = at.x.len();
            let (mut state, mut values) = (vec![0.0; at.states.len() / points], vec![0.0; n]);
            for (q, &x) in at.x.iter().enumerate() {
                state.iter_mut().enumerate().for_each(|(k, s)| *s = at.states[k * points + q]);
                if let Some(floor) = at.floor {
                    self.keep_above(floor, &mut state);
                }
                f(x, &state, &mut values);
                values.iter().enumerate().for_each(|(i, v)| out[i * points + q] = *v);
            }
        })
    }

    /// Computes `∫ f(x, u, ∇u) dx` for `n` integrands at once, by a rule of degree at least `degree`; `∇u` is
    /// the lifted gradient at time `t`, as in [`sample_with_gradients`](Self::sample_with_gradients).
    ///
    /// `f` receives the solution at the points of an element and fills `[integrand][point]`. Collective.
    pub fn integrate_gradients(
        &self,
        u: &[T],
        t: f64,
        degree: usize,
        n: usize,
        f: &(dyn Fn(&AtPoints<'_>, &mut [f64]) + Sync),
    ) -> Vec<f64> {
        self.integrate_elements(u, (Some(t), false), degree, n, f).0
    }

    /// Integrals and largest values, with gradients at the time `t` if there is one, and with the floors of
    /// elements if `bounded`.
    fn integrate_elements(
        &self,
        u: &[T],
        (t, bounded): (Option<f64>, bool),
        degree: usize,
        n: usize,
        f: &(dyn Fn(&AtPoints<'_>, &mut [f64]) + Sync),
    ) -> (Vec<f64>, Vec<f64>) {
        let jumps = t.map(|t| self.half_jumps(u, t));
        let mut all = Sums::new(n);
        for (g, group) in self.groups.iter().enumerate() {
            let state = &u[group.offset..group.offset + group.state.len()];
            let rule = self.rule(group, degree, jumps.is_some());
            let slots: Vec<usize> = group.real_slots().collect();
            let per_element = |&slot: &usize| {
                let (set, local) = self.mesh.locate(group.elements[slot] as usize);
                let nodes = element_points(&self.mesh, set, local);
                let c = coefficients(group, state, slot).concat();
                let part = group.parts.iter().rposition(|p| p.first_block <= slot / group.state.lanes);
                let len = group.trace.rows * group.state.fields;
                let jump = jumps.as_ref().map(|all| &all[g][slot * len..(slot + 1) * len]);
                let jump = jump.map(|jump| (&rule.lifts[part.unwrap_or(0)], jump));
                let element = group.elements[slot] as usize;
                let floor = if bounded { self.state_floor(u, g, slot) } else { None };
                let of = (element, self.mesh.dim, floor.as_ref());
                rule.of_element(of, self.mesh.sets[set].order, &nodes, &c, jump, n, f)
            };
            all.merge(&self.host.install(|| Sums::over(n, &slots, per_element)));
        }
        self.agreed(all)
    }

    /// The tables of a rule for a group.
    fn rule(&self, group: &Group<T>, degree: usize, gradients: bool) -> Rule {
        let quadrature = Quadrature::new(group.shape, degree);
        let at_rule = |shape| Quadrature::new(shape, degree).points;
        let mut orders: Vec<usize> =
            self.mesh.sets.iter().filter(|s| s.shape == group.shape).map(|s| s.order).collect();
        orders.sort_unstable();
        orders.dedup();
        let geometry =
            orders.iter().map(|&n| (n, GeometryBasis::new(group.shape, n, &quadrature.points))).collect();
        let lifts = match gradients {
            true => group.parts.iter().map(|p| Lift::at(&p.reference, &quadrature.points)).collect(),
            false => Vec::new(),
        };
        let of = evaluation(&group.parts[0].reference, at_rule);
        Rule { of, geometry, lifts, weights: quadrature.weights }
    }

    /// The sums and the largest values over all ranks.
    fn agreed(&self, mut own: Sums) -> (Vec<f64>, Vec<f64>) {
        match &self.ranks {
            Some(ranks) => {
                ranks.max(&mut own.largest);
                (ranks.sum(&mut own.sums), own.largest)
            }
            None => (own.sums.iter().map(ExactSum::value).collect(), own.largest),
        }
    }

    /// The norm `(Σ_i x_i²)^½` of an array like the state, where each element counts once. Sums over elements
    /// are exact: the same bits for any number of ranks.
    #[must_use]
    pub fn norm(&self, x: &[T]) -> f64 {
        let mut total = Sums::new(1);
        for group in &self.groups {
            let (own, l) = (&x[group.offset..group.offset + group.state.len()], group.state);
            let slots: Vec<usize> = group.real_slots().collect();
            let of_element = |&slot: &usize| {
                let mut sum = 0.0;
                for i in 0..l.rows {
                    for k in 0..l.fields {
                        let v = own[l.index(slot, i, k)].to_f64();
                        sum += v * v;
                    }
                }
                (vec![sum], Vec::new())
            };
            total.merge(&self.host.install(|| Sums::over(1, &slots, of_element)));
        }
        self.agreed(total).0[0].sqrt()
    }

    /// Norms of the difference to `exact` at time `t`: of the conserved variables, then of the primitive ones
    /// that have other names.
    #[must_use]
    pub fn errors(&self, u: &[T], exact: &dyn Exact, t: f64) -> (Vec<String>, Norms) {
        let fields = self.physics.n_fields();
        let conserved = self.physics.variables();
        let primitive = self.physics.primitives();
        let extra: Vec<usize> =
            (0..primitive.len()).filter(|&i| !conserved.contains(&primitive[i])).collect();
        let mut names: Vec<String> = conserved.iter().map(ToString::to_string).collect();
        names.extend(extra.iter().map(|&i| primitive[i].to_string()));
        let n = names.len();
        let degree = 2 * self.scheme.order + 4;
        let (sums, largest) = self.integrate(u, degree, 2 * n, |x, state, out| {
            let mut reference = vec![Vec::new(); fields];
            exact.eval(t, &[x], &mut reference);
            let reference: Vec<f64> = reference.iter().map(|v| v[0]).collect();
            let (mut w, mut we) = (vec![0.0; fields], vec![0.0; fields]);
            self.physics.to_primitive(state, &mut w);
            self.physics.to_primitive(&reference, &mut we);
            for i in 0..n {
                let e = if i < fields {
                    state[i] - reference[i]
                } else {
                    w[extra[i - fields]] - we[extra[i - fields]]
                };
                out[i] = e.abs();
                out[n + i] = e * e;
            }
        });
        let norms = Norms {
            l1: sums[..n].to_vec(),
            l2: sums[n..].iter().map(|s| s.sqrt()).collect(),
            linf: largest[..n].to_vec(),
        };
        (names, norms)
    }

    /// Integrals of the conserved variables by the scheme's own cubature, which the scheme conserves.
    #[must_use]
    pub fn totals(&self, u: &[T]) -> Vec<f64> {
        self.own_integral(u, |v| v)
    }

    /// Integrals of the absolute values of the conserved variables, by the scheme's own cubature.
    #[must_use]
    pub fn absolute_totals(&self, u: &[T]) -> Vec<f64> {
        self.own_integral(u, f64::abs)
    }

    fn own_integral(&self, u: &[T], f: impl Fn(f64) -> f64 + Sync) -> Vec<f64> {
        let fields = self.physics.n_fields();
        let mut total = Sums::new(fields);
        for group in &self.groups {
            let state = &u[group.offset..group.offset + group.state.len()];
            for part in &group.parts {
                let reference = &part.reference;
                let lanes = group.state.lanes;
                let first = part.first_block * lanes;
                let slots: Vec<usize> = (first..first + part.n_elements).collect();
                let of_element = |&slot: &usize| -> (Vec<f64>, Vec<f64>) {
                    let (b, lane) = (slot / lanes - part.first_block, slot % lanes);
                    let curved = part.spec.rule != MetricRule::Affine;
                    let jacobian = |q: usize| {
                        if curved {
                            1.0 / part.inverse_jacobian[(b * part.n_points + q) * lanes + lane].to_f64()
                        } else {
                            1.0 / metric_determinant(&part.metric, b, lanes, lane, self.mesh.dim)
                        }
                    };
                    let sums = coefficients(group, state, slot)
                        .iter()
                        .map(|c| {
                            let at_points =
                                if part.collocated { c.clone() } else { reference.interp_volume.mul_vec(c) };
                            (0..part.n_points)
                                .map(|q| reference.volume.weights[q] * jacobian(q) * f(at_points[q]))
                                .sum()
                        })
                        .collect();
                    (sums, Vec::new())
                };
                total.merge(&self.host.install(|| Sums::over(fields, &slots, of_element)));
            }
        }
        self.agreed(total).0
    }
}

/// A point rule in the elements of one shape.
struct Rule {
    of: Evaluation,
    /// By order of the geometry.
    geometry: Vec<(usize, GeometryBasis)>,
    /// For each part, the lifts in each direction; empty without gradients.
    lifts: Vec<Vec<Lift>>,
    weights: Vec<f64>,
}

impl Rule {
    /// Integrals and largest values of the integrands over one element with coefficients `c`,
    /// `[field][basis function]`; with gradients if lifts and half jumps are given.
    fn of_element(
        &self,
        (element, dim, floor): (usize, usize, Option<&StateFloor>),
        order: usize,
        nodes: &[[f64; 3]],
        c: &[f64],
        jump: Option<(&Vec<Lift>, &[f64])>,
        n: usize,
        f: &(dyn Fn(&AtPoints<'_>, &mut [f64]) + Sync),
    ) -> (Vec<f64>, Vec<f64>) {
        let points = self.weights.len();
        let states = self.of.values.apply(c);
        let fields = states.len() / points;
        let i = self.geometry.iter().position(|(of, _)| *of == order).unwrap_or(0);
        let geometry = &self.geometry[i].1;
        let x: Vec<[f64; 3]> = (0..points).map(|q| geometry.position(q, nodes)).collect();
        let factors: Vec<_> =
            (0..points).map(|q| volume_factors(dim, &geometry.tangents(q, nodes))).collect();
        let mut gradients = Vec::new();
        if let Some((lifts, jump)) = jump {
            gradients.resize(dim * fields * points, 0.0);
            for (d, lift) in lifts.iter().enumerate() {
                let (slope, lifted) = (self.of.derivatives[d].apply(c), lift.apply(jump, fields));
                for (q, (jacobian, rows)) in factors.iter().enumerate() {
                    for (k, b) in lifted.row(q).iter().enumerate() {
                        let g = (slope[k * points + q] + b) / jacobian;
                        for x in 0..dim {
                            gradients[(x * fields + k) * points + q] += rows[d][x] * g;
                        }
                    }
                }
            }
        }
        let mut values = vec![0.0; n * points];
        f(&AtPoints { element, x: &x, states: &states, gradients: &gradients, floor }, &mut values);
        let integral = |v: &[f64]| (0..points).map(|q| self.weights[q] * factors[q].0 * v[q]).sum();
        let largest = |v: &[f64]| v.iter().copied().fold(0.0, f64::max);
        (
            values.chunks_exact(points).map(integral).collect(),
            values.chunks_exact(points).map(largest).collect(),
        )
    }
}
