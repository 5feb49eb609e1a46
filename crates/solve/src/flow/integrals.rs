//! Integrals over the domain of formulas of the solution.

use super::{FILTER_WIDTH, Flow, Formula};

impl Flow {
    /// Returns integrals over the domain of formulas, whose arguments are the conserved variables, the
    /// primitive variables and `x y z t`, in this order. With a limiter those of primitive variables are of
    /// the states that are shown, which it bounds; those of conserved variables alone are of the polynomials,
    /// whose means are conserved. Collective.
    #[must_use]
    pub fn integral(&self, formulas: &[Formula]) -> Vec<f64> {
        if self.setup.limiting.is_none() {
            return self.integral_of(formulas, false);
        }
        let variables = self.variables();
        let primitives = self.primitives();
        let shown = |formula: &&Formula| {
            primitives.iter().any(|name| !variables.contains(name) && formula.depends_on(name))
        };
        let (bounded, plain): (Vec<&Formula>, Vec<&Formula>) = formulas.iter().partition(shown);
        let of = |all: Vec<&Formula>, bounded: bool| -> Vec<f64> {
            let all: Vec<Formula> = all.into_iter().cloned().collect();
            if all.is_empty() { Vec::new() } else { self.integral_of(&all, bounded) }
        };
        let (mut bounded, mut plain) = (of(bounded, true).into_iter(), of(plain, false).into_iter());
        let of_formula = |formula| if shown(&formula) { bounded.next() } else { plain.next() };
        formulas.iter().map(of_formula).map(|value| value.unwrap_or(f64::NAN)).collect()
    }

    fn integral_of(&self, formulas: &[Formula], bounded: bool) -> Vec<f64> {
        let n = self.n_fields();
        let d = self.engine.discretization();
        let t = self.time;
        let on_device = || self.engine.integrate_formulas(formulas, t);
        if let Some(values) = (!bounded).then(on_device).flatten() {
            return values;
        }
        self.engine.integrate(bounded, formulas.len(), &|x, u, out| {
            let mut w = vec![0.0; n];
            d.to_primitive(u, &mut w);
            let mut values = u.to_vec();
            values.extend(&w);
            values.extend([x[0], x[1], x[2], t]);
            for (out, f) in out.iter_mut().zip(formulas) {
                *out = f.eval(&values);
            }
        })
    }

    /// Returns integrals over the domain of formulas, whose arguments are the primitive variables, their
    /// derivatives, `[axis][variable]`, and `x y z t`, in this order, and with a closure the filter width.
    /// Derivatives are lifted as in output files; the rule is exact to degree `2 p + 2`, with the order of
    /// the geometry for p if it is higher. Collective.
    #[must_use]
    pub fn integral_of_derivatives(&self, formulas: &[&Formula]) -> Vec<f64> {
        let degree = 2 * self.setup.order.max(self.setup.mesh.max_order()).max(1) + 2;
        let (n, dim, t) = (self.n_fields(), self.dim(), self.time);
        // Kernels know nothing of the element.
        let of_element = formulas.iter().any(|formula| formula.depends_on(FILTER_WIDTH));
        let on_device = || self.engine.integrate_derivatives(formulas, degree, t);
        if let Some(values) = (!of_element).then(on_device).flatten() {
            return values;
        }
        let d = self.engine.discretization();
        let (widths, mesh) = (&self.widths, &self.setup.mesh);
        self.engine.integrate_gradients(t, degree, formulas.len(), &|at, out| {
            let points = at.x.len();
            let (mut u, mut w) = (vec![0.0; n], vec![0.0; n]);
            let (mut g, mut h) = (vec![0.0; n * dim], vec![0.0; n * dim]);
            // `[argument][point]`
            let mut arguments = vec![0.0; (n * (1 + dim) + 3) * points];
            for (q, x) in at.x.iter().enumerate() {
                u.iter_mut().enumerate().for_each(|(k, u)| *u = at.states[k * points + q]);
                g.iter_mut().enumerate().for_each(|(k, g)| *g = at.gradients[k * points + q]);
                d.to_primitive(&u, &mut w);
                d.primitive_gradient(&u, &g, &mut h);
                let values = w.iter().chain(&h).chain(x);
                values.enumerate().for_each(|(i, v)| arguments[i * points + q] = *v);
            }
            let time = [t];
            let width = match &widths[..] {
                [] => Vec::new(),
                all => vec![all[mesh.position_of_part(at.element)]],
            };
            let last = [&time[..], &width].into_iter().filter(|values| !values.is_empty());
            let inputs: Vec<&[f64]> = arguments.chunks_exact(points).chain(last).collect();
            for (formula, out) in formulas.iter().zip(out.chunks_exact_mut(points)) {
                formula.eval_batch(&inputs, out);
            }
        })
    }
}
