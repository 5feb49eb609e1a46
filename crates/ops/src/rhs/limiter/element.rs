//! The limiters of one element, on its modes in double precision.

use super::{Bounds, Limiting, Tables};

/// Number of bisections for the filter's `f`.
pub(crate) const BISECTIONS: usize = 8;
/// Smallest density and pressure, relative to those of the mean, in units of the precision of states.
pub(crate) const FLOOR: f64 = 500.0;
/// Smallest pressure, relative to the total energy of the mean, in the same units: rounding does not change
/// its sign.
pub(crate) const ENERGY_FLOOR: f64 = 50.0;

/// The smallest density and pressure that are allowed in an element with these values for its `mean` state of
/// the total energy `energy`; `epsilon` is the precision of states.
pub(crate) fn floors([rho, p]: [f64; 2], energy: f64, epsilon: f64) -> [f64; 2] {
    [FLOOR * epsilon * rho, (FLOOR * epsilon * p).max(ENERGY_FLOOR * epsilon * energy.abs()).min(0.5 * p)]
}

/// Bounds of the states of an element.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Range {
    /// Smallest entropy.
    pub(crate) entropy: f64,
    /// Extrema of the density.
    pub(crate) low: f64,
    pub(crate) high: f64,
}

impl Range {
    /// The range of no state.
    pub(crate) const EMPTY: Self =
        Self { entropy: f64::INFINITY, low: f64::INFINITY, high: f64::NEG_INFINITY };

    /// Extends the range by one state.
    pub(crate) fn add(&mut self, [rho, _, s]: [f64; 3]) {
        self.entropy = if s < self.entropy { s } else { self.entropy };
        self.low = if rho < self.low { rho } else { self.low };
        self.high = if rho > self.high { rho } else { self.high };
    }
}

impl Range {
    /// Extends the range by another one.
    pub(crate) fn merge(&mut self, other: &Self) {
        self.entropy = if other.entropy < self.entropy { other.entropy } else { self.entropy };
        self.low = if other.low < self.low { other.low } else { self.low };
        self.high = if other.high > self.high { other.high } else { self.high };
    }
}

/// Work space for one element, and for its neighbours.
pub(crate) struct Work {
    /// Coefficients, `[basis function][field]`.
    pub(crate) coefficients: Vec<f64>,
    /// Modes, `[mode][field]`, and modes on trial.
    pub(crate) modes: Vec<f64>,
    trial: Vec<f64>,
    /// States at the points, `[point][field]`.
    values: Vec<f64>,
    /// `ρ p` at the volume points.
    product: Vec<f64>,
    mean: Vec<f64>,
}

impl Work {
    pub(crate) fn new(tables: &[Vec<Tables>], fields: usize) -> Self {
        let most = |of: fn(&Tables) -> usize| tables.iter().flatten().map(of).max().unwrap_or(0);
        let (np, nc, nq) = (most(|t| t.np), most(|t| t.nc), most(|t| t.nq));
        Self {
            coefficients: vec![0.0; np * fields],
            modes: vec![0.0; np * fields],
            trial: vec![0.0; np * fields],
            values: vec![0.0; nc * fields],
            product: vec![0.0; nq],
            mean: vec![0.0; fields],
        }
    }

    /// Computes the modes of the coefficients.
    pub(crate) fn compute_modes(&mut self, t: &Tables, n: usize) {
        match &t.modes {
            Some((to, _)) => multiply(to, &self.coefficients, n, &mut self.modes),
            None => self.modes.copy_from_slice(&self.coefficients),
        }
    }

    /// Computes the coefficients of the modes.
    pub(crate) fn compute_coefficients(&mut self, t: &Tables, n: usize) {
        match &t.modes {
            Some((_, from)) => multiply(from, &self.modes, n, &mut self.coefficients),
            None => self.coefficients.copy_from_slice(&self.modes),
        }
    }

    /// The mean of the modes.
    pub(crate) fn mean(&mut self, nu: &[f64], n: usize) -> &[f64] {
        for k in 0..n {
            self.mean[k] = nu.iter().enumerate().map(|(i, v)| v * self.modes[i * n + k]).sum();
        }
        &self.mean
    }

    /// Extends `range` by the states of the modes at all points.
    pub(crate) fn add_to(&mut self, t: &Tables, law: &dyn Bounds, range: &mut Range) {
        let n = law.n_fields();
        multiply(&t.values, &self.modes, n, &mut self.values);
        for u in self.values[..t.nc * n].chunks_exact(n) {
            range.add(law.bounded(u));
        }
    }

    /// The smallest density and the smallest pressure of the modes at all points.
    pub(crate) fn least(&mut self, t: &Tables, law: &dyn Bounds) -> [f64; 2] {
        let n = law.n_fields();
        multiply(&t.values, &self.modes, n, &mut self.values);
        let mut least = [f64::INFINITY; 2];
        for u in self.values[..t.nc * n].chunks_exact(n) {
            let [rho, p, _] = law.bounded(u);
            for (least, x) in least.iter_mut().zip([rho, p]) {
                *least = if x >= *least { *least } else { x };
            }
        }
        least
    }

    /// The share of the modes of the highest degree in the squares of the modes of `ρ p`.
    pub(crate) fn roughness(&mut self, t: &Tables, law: &dyn Bounds) -> f64 {
        let n = law.n_fields();
        multiply(&t.values, &self.modes, n, &mut self.values);
        for (product, u) in self.product[..t.nq].iter_mut().zip(self.values.chunks_exact(n)) {
            let [rho, p, _] = law.bounded(u);
            *product = rho * p;
        }
        let [all, top] = squares(t, &self.product);
        if t.np == 1 { 0.0 } else { top / all }
    }

    /// Multiplies the modes above the constant by `factor(mode)`, in one unknown or in all, and changes the
    /// constant so that the mean stays.
    fn scale(&mut self, nu: &[f64], n: usize, fields: std::ops::Range<usize>, factor: impl Fn(usize) -> f64) {
        for k in fields {
            let mut lost = 0.0;
            for i in 1..nu.len() {
                let (f, m) = (factor(i), &mut self.modes[i * n + k]);
                lost += (1.0 - f) * nu[i] * *m;
                *m *= f;
            }
            self.modes[k] += lost / nu[0];
        }
    }
}

/// `out ← A b` for `n` unknowns.
fn multiply(a: &dgsuite_basis::Matrix, b: &[f64], n: usize, out: &mut [f64]) {
    for i in 0..a.rows() {
        let out = &mut out[i * n..(i + 1) * n];
        out.fill(0.0);
        for (x, row) in a.row(i).iter().zip(b.chunks_exact(n)) {
            for (o, v) in out.iter_mut().zip(row) {
                *o += x * v;
            }
        }
    }
}

/// Limits the modes of `w` by positivity, and by the filter if there is one; returns the factor, 1 if the
/// modes were not changed. `range` computes the bounds of a troubled element.
pub(crate) fn limit(
    t: &Tables,
    nu: &[f64],
    law: &dyn Bounds,
    limiting: &Limiting,
    epsilon: f64,
    w: &mut Work,
    range: impl FnOnce() -> Range,
) -> f64 {
    if t.np == 1 {
        return 1.0;
    }
    let n = law.n_fields();
    multiply(&t.values, &w.modes, n, &mut w.values);
    w.mean(nu, n);
    let mean = law.bounded(&w.mean);
    // The end of the step reports a bad mean.
    if !(mean[0] > 0.0 && mean[1] > 0.0) {
        return 1.0;
    }
    let (mut rho_least, mut p_least) = (f64::INFINITY, f64::INFINITY);
    for q in 0..t.nc {
        let [rho, p, _] = law.bounded(&w.values[q * n..(q + 1) * n]);
        rho_least = rho_least.min(rho);
        p_least = p_least.min(p);
        if q < t.nq {
            w.product[q] = rho * p;
        }
    }
    let mut factor = 1.0;
    if let Some(filter) = limiting.filter() {
        let low = !(rho_least >= 0.5 * mean[0] && p_least >= 0.5 * mean[1]);
        if !filter.gate || low || is_rough(t, &w.product) {
            let mut bounds = range();
            bounds.entropy = bounds.entropy.min(mean[2]) + (1.0 - filter.tolerance).ln();
            bounds.low = bounds.low.min(mean[0]) * (1.0 - 1e-12);
            bounds.high = bounds.high.max(mean[0]) * (1.0 + 1e-12);
            factor = filtered(t, nu, law, bounds, filter.density, w);
            if factor < 1.0 {
                w.scale(nu, n, 0..n, |i| factor.powi((t.degrees[i] * t.degrees[i]) as i32));
            }
        }
    }
    let floor = floors([mean[0], mean[1]], w.mean[n - 1], epsilon);
    factor.min(positive(t, nu, law, [mean[0], mean[1]], floor, w))
}

/// The sums of the squares of the modes of a function: all of them, and those of the highest degree.
fn squares(t: &Tables, product: &[f64]) -> [f64; 2] {
    let (mut all, mut top) = (0.0, 0.0);
    for i in 0..t.np {
        let mode: f64 = t.sensor.row(i).iter().zip(product).map(|(a, b)| a * b).sum();
        all += mode * mode;
        if t.degrees[i] == t.order {
            top += mode * mode;
        }
    }
    [all, top]
}

/// Whether the modes of the highest degree of a function hold more than the threshold.
fn is_rough(t: &Tables, product: &[f64]) -> bool {
    let [all, top] = squares(t, product);
    top > t.threshold() * all || (top + all).is_nan()
}

/// The largest `f`, to one of 2⁸ parts, for which the filtered state is within the bounds.
fn filtered(t: &Tables, nu: &[f64], law: &dyn Bounds, bounds: Range, density: bool, w: &mut Work) -> f64 {
    let n = law.n_fields();
    let Work { modes, trial, values, .. } = w;
    let mut fits = |f: f64| {
        for k in 0..n {
            let mut lost = 0.0;
            for i in 1..t.np {
                let g = f.powi((t.degrees[i] * t.degrees[i]) as i32);
                lost += (1.0 - g) * nu[i] * modes[i * n + k];
                trial[i * n + k] = g * modes[i * n + k];
            }
            trial[k] = modes[k] + lost / nu[0];
        }
        multiply(&t.values, trial, n, values);
        values[..t.nc * n].chunks_exact(n).all(|u| {
            let [rho, _, s] = law.bounded(u);
            s >= bounds.entropy && (!density || (bounds.low..=bounds.high).contains(&rho))
        })
    };
    if fits(1.0) {
        return 1.0;
    }
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..BISECTIONS {
        let middle = 0.5 * (low + high);
        if fits(middle) {
            low = middle;
        } else {
            high = middle;
        }
    }
    low
}

/// The factor of the deviation from the mean with which the smallest value `least` becomes `floor`; at
/// most 1.
pub(crate) fn share(mean: f64, floor: f64, least: f64) -> f64 {
    if least >= floor { 1.0 } else { ((mean - floor) / (mean - least)).clamp(0.0, 1.0) }
}

/// Scales the deviation from the mean so that density and pressure are positive; returns the factor.
fn positive(t: &Tables, nu: &[f64], law: &dyn Bounds, mean: [f64; 2], floor: [f64; 2], w: &mut Work) -> f64 {
    let n = law.n_fields();
    let least = |w: &mut Work, i: usize| {
        multiply(&t.values, &w.modes, n, &mut w.values);
        let of = |u: &[f64]| law.bounded(u)[i];
        w.values[..t.nc * n].chunks_exact(n).map(of).fold(f64::INFINITY, f64::min)
    };
    let first = share(mean[0], floor[0], least(w, 0));
    if first < 1.0 {
        w.scale(nu, n, 0..1, |_| first);
    }
    let second = share(mean[1], floor[1], least(w, 1));
    if second < 1.0 {
        w.scale(nu, n, 0..n, |_| second);
    }
    first.min(second)
}

/// Limits the slopes of the modes of `w` so that the values at the points lie within the means `extremes`,
/// `[field]`; returns the smallest factor.
pub(crate) fn within_means(t: &Tables, nu: &[f64], n: usize, extremes: &[(f64, f64)], w: &mut Work) -> f64 {
    if t.np == 1 {
        return 1.0;
    }
    w.mean(nu, n);
    let mut least: f64 = 1.0;
    for k in 0..n {
        let (low, high) = extremes[k];
        let mean = w.mean[k];
        let linear = (1..t.np).filter(|&i| t.degrees[i] <= 1);
        let shift: f64 = linear.clone().map(|i| nu[i] * w.modes[i * n + k]).sum();
        let mut factor: f64 = 1.0;
        for q in 0..t.nc {
            let change: f64 =
                linear.clone().map(|i| t.values[(q, i)] * w.modes[i * n + k]).sum::<f64>() - shift;
            let room = if change > 0.0 { high - mean } else { low - mean };
            // Changes of the size of rounding are allowed.
            if change.abs() > 1e-12 * mean.abs().max(1e-300) && change.abs() > room.abs() {
                factor = factor.min(room / change);
            }
        }
        if factor < 1.0 {
            w.scale(nu, n, k..k + 1, |i| if t.degrees[i] <= 1 { factor } else { 0.0 });
        }
        least = least.min(factor);
    }
    least
}
