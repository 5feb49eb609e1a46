//! Turbulence on a mean state: eddies at random places that are carried along, as a function of place and
//! time.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::Exact;
use crate::coefficients::{Coefficients, FormulaCoefficients};

/// Eddies in a cell of the moving frame, in three and in two dimensions: each point is in about eight or
/// nine.
const IN_CELL: [usize; 2] = [2, 3];

/// A velocity of mean 0, variance 1 of each component and no covariances, without divergence:
///
/// ```text
/// ũ(x, t) = a Σ_k g(|r_k|) r_k × α_k,   r_k = (x − U t − x_k)/σ,   g(r) = (1 − r²)² for r < 1, else 0
/// ```
///
/// with the radius `σ` of eddies, their velocity `U`, random signs `α_k`, in two dimensions along z alone,
/// and random places `x_k`, a fixed number in each cell of a lattice of the width `σ`.
///
/// Places and signs are the values of a hash function of the number of the cell and a seed: the velocity is a
/// function of place and time, the same on all machines, ranks and after a restart. In a periodic direction
/// the lattice has its period.
///
/// # Source
/// Jarrin, Benhamadouche, Laurence & Prosser, Int. J. Heat Fluid Flow 27 (2006) 585–593; shape functions
/// without divergence as in Poletto, Craft & Revell, Flow Turbul. Combust. 91 (2013) 519–539. There the
/// eddies fill a box around an inlet and are renewed where they leave it; here they fill the space in front
/// of it, which passes by.
#[derive(Clone, Debug, PartialEq)]
pub struct SyntheticEddies {
    dim: usize,
    radius: f64,
    velocity: [f64; 3],
    seed: u64,
    /// The widths of a cell.
    width: [f64; 3],
    /// The number of cells in a period; 0 for none.
    cells: [i64; 3],
    /// The number of cells on each side that reach a point.
    reach: [i64; 3],
    /// `a` above.
    amplitude: f64,
}

/// An eddy: its place in the moving frame and its signs.
#[derive(Clone, Copy, Debug, Default)]
struct Eddy {
    at: [f64; 3],
    sign: [f64; 3],
}

impl SyntheticEddies {
    /// The radius of eddies whose velocity has a longitudinal integral length,
    /// `∫ ⟨ũ_x(x) ũ_x(x + r e_x)⟩ dr`. In three dimensions the transverse one is half of it.
    #[must_use]
    pub fn radius(dim: usize, length: f64) -> f64 {
        length / if dim == 2 { 0.617_5 } else { 0.595_8 }
    }

    /// Eddies in two or three dimensions; `periods` are 0 in directions that are not periodic.
    ///
    /// # Panics
    /// If the radius is not positive.
    #[must_use]
    pub fn new(dim: usize, radius: f64, velocity: [f64; 3], periods: [f64; 3], seed: u64) -> Self {
        assert!(radius > 0.0, "the radius of eddies is positive");
        let (mut width, mut cells, mut reach) = ([radius; 3], [0; 3], [1; 3]);
        for d in 0..dim {
            if periods[d] > 0.0 {
                let n = (periods[d] / radius).floor().max(1.0);
                width[d] = periods[d] / n;
                cells[d] = n as i64;
                reach[d] = (radius / width[d]).ceil() as i64;
            }
        }
        if dim == 2 {
            (width[2], reach[2]) = (1.0, 0);
        }
        let density = IN_CELL[usize::from(dim == 2)] as f64 / width[..dim].iter().product::<f64>();
        // The mean of the square of a component: density × ∫ g² r² (2/3, in two dimensions 1/2).
        let beta = 24.0 / (6.5 * 5.5 * 4.5 * 3.5 * 2.5);
        let of_one = match dim {
            2 => std::f64::consts::PI / 60.0 * radius.powi(2),
            _ => std::f64::consts::TAU * beta * (2.0 / 3.0) * radius.powi(3),
        };
        let amplitude = (density * of_one).sqrt().recip();
        Self { dim, radius, velocity, seed, width, cells, reach, amplitude }
    }

    /// Evaluates the velocity at points and time `t`, `out[direction][point]`.
    pub fn eval(&self, t: f64, x: &[[f64; 3]], out: &mut [Vec<f64>; 3]) {
        out.iter_mut().for_each(|out| out.resize(x.len(), 0.0));
        let moved = |x: &[f64; 3]| -> [f64; 3] {
            std::array::from_fn(|d| if d < self.dim { x[d] - self.velocity[d] * t } else { 0.0 })
        };
        let cell =
            |x: [f64; 3]| -> [i64; 3] { std::array::from_fn(|d| (x[d] / self.width[d]).floor() as i64) };
        let points: Vec<([f64; 3], [i64; 3])> = x.iter().map(moved).map(|x| (x, cell(x))).collect();
        // Neighbouring points are in the same cell as a rule.
        let mut near: BTreeMap<[i64; 3], Vec<Eddy>> = BTreeMap::new();
        for (i, (x, at)) in points.iter().enumerate() {
            let mut sum = [0.0; 3];
            let eddies = near.entry(*at).or_insert_with(|| self.near(*at));
            eddies.iter().for_each(|eddy| self.add(eddy, x, &mut sum));
            (0..3).for_each(|d| out[d][i] = self.amplitude * sum[d]);
        }
    }

    /// The eddies that may reach a cell.
    fn near(&self, at: [i64; 3]) -> Vec<Eddy> {
        let range = |d: usize| at[d] - self.reach[d]..=at[d] + self.reach[d];
        let mut all = Vec::new();
        for i in range(0) {
            for j in range(1) {
                range(2).for_each(|k| all.extend(self.in_cell([i, j, k])));
            }
        }
        all
    }

    /// The eddies of a cell.
    fn in_cell(&self, cell: [i64; 3]) -> Vec<Eddy> {
        let wrapped: [i64; 3] = std::array::from_fn(|d| match self.cells[d] {
            0 => cell[d],
            n => cell[d].rem_euclid(n),
        });
        let start = wrapped.iter().fold(mixed(self.seed), |hash, i| mixed(hash ^ (*i as u64)));
        let one = |k: usize| {
            let mut state = mixed(start ^ k as u64);
            let mut next = || {
                state = mixed(state);
                state
            };
            // The upper 53 bits, between 0 and 1.
            let mut number = || (next() >> 11) as f64 / (1_u64 << 53) as f64;
            let at = std::array::from_fn(|d| match d < self.dim {
                true => (cell[d] as f64 + number()) * self.width[d],
                false => 0.0,
            });
            let signs = next();
            let sign = std::array::from_fn(|d| match (self.dim == 2 && d < 2, signs >> (60 + d) & 1) {
                (true, _) => 0.0,
                (false, bit) => {
                    if bit == 1 {
                        1.0
                    } else {
                        -1.0
                    }
                }
            });
            Eddy { at, sign }
        };
        (0..IN_CELL[usize::from(self.dim == 2)]).map(one).collect()
    }

    /// Adds `g(r) r × α`.
    fn add(&self, eddy: &Eddy, x: &[f64; 3], sum: &mut [f64; 3]) {
        let r: [f64; 3] = std::array::from_fn(|d| (x[d] - eddy.at[d]) / self.radius);
        let inside = 1.0 - (r[0] * r[0] + r[1] * r[1] + r[2] * r[2]);
        if inside > 0.0 {
            let (g, s) = (inside * inside, eddy.sign);
            sum[0] += g * (r[1] * s[2] - r[2] * s[1]);
            sum[1] += g * (r[2] * s[0] - r[0] * s[2]);
            sum[2] += g * (r[0] * s[1] - r[1] * s[0]);
        }
    }
}

/// A hash function of 64 bits.
///
/// # Source
/// The finaliser of `SplitMix64`: Steele, Lea & Flood, OOPSLA 2014, 453–472.
pub(super) fn mixed(x: u64) -> u64 {
    let x = x.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

/// A state with synthetic turbulence: its velocity has the fluctuations `u'_i = Σ_j a_ij ũ_j`, where `a` is
/// the lower triangular factor of the Reynolds stresses, `a aᵀ = R(x)`; density, pressure and scalars are
/// those of the mean.
///
/// # Source
/// Lund, Wu & Squires, J. Comput. Phys. 140 (1998) 233–258, appendix B.
pub struct WithEddies {
    /// The mean, with conserved variables.
    pub mean: Arc<dyn Exact>,
    /// The eddies.
    pub eddies: SyntheticEddies,
    /// The Reynolds stresses `uu, vv, ww, uv, uw, vw` of a place.
    pub stress: FormulaCoefficients,
    /// Whether the mean is that of a gas, `(ρ, ρv, ρE)`, or begins with the velocity.
    pub gas: bool,
}

/// The lower triangular factor of Reynolds stresses; rows of a component without fluctuations are 0.
fn factor([uu, vv, ww, uv, uw, vw]: [f64; 6]) -> [[f64; 3]; 3] {
    let root = |square: f64| square.max(0.0).sqrt();
    let over = |x: f64, a: f64| if a > 0.0 { x / a } else { 0.0 };
    let a = root(uu);
    let (b, d) = (over(uv, a), over(uw, a));
    let c = root(vv - b * b);
    let e = over(vw - b * d, c);
    [[a, 0.0, 0.0], [b, c, 0.0], [d, e, root(ww - d * d - e * e)]]
}

/// Whether six stresses `uu, vv, ww, uv, uw, vw` are those of fluctuations: finite, and not less than 0 as a
/// matrix, up to rounding.
#[must_use]
pub fn are_stresses(stress: [f64; 6]) -> bool {
    let [uu, vv, ww, uv, uw, vw] = stress;
    let a = factor(stress);
    let product = |i: usize, j: usize| (0..3).map(|k| a[i][k] * a[j][k]).sum::<f64>();
    let found = [product(0, 0), product(1, 1), product(2, 2), product(0, 1), product(0, 2), product(1, 2)];
    let size = uu.abs() + vv.abs() + ww.abs();
    stress.iter().all(|x| x.is_finite())
        && found.iter().zip([uu, vv, ww, uv, uw, vw]).all(|(a, b)| (a - b).abs() <= 1e-9 * size)
}

/// Adds a velocity to the state `out[field][i]` of a gas, `(ρ, ρv, ρE)`, which keeps its density and
/// pressure, or of a state that begins with the velocity.
pub(super) fn add_velocity(out: &mut [Vec<f64>], i: usize, dim: usize, gas: bool, more: [f64; 3]) {
    if gas {
        let (rho, energy) = (out[0][i], dim + 1);
        let work: f64 = (0..dim).map(|d| (out[1 + d][i] + 0.5 * rho * more[d]) * more[d]).sum();
        out[energy][i] += work;
        (0..dim).for_each(|d| out[1 + d][i] += rho * more[d]);
    } else {
        (0..dim).for_each(|d| out[d][i] += more[d]);
    }
}

impl Exact for WithEddies {
    fn n_fields(&self) -> usize {
        self.mean.n_fields()
    }

    fn eval(&self, t: f64, x: &[[f64; 3]], out: &mut [Vec<f64>]) {
        self.mean.eval(t, x, out);
        let (mut unit, mut stress) = <([Vec<f64>; 3], [Vec<f64>; 6])>::default();
        self.eddies.eval(t, x, &mut unit);
        self.stress.eval(x, &mut stress);
        let dim = self.eddies.dim;
        for i in 0..x.len() {
            let a = factor(std::array::from_fn(|k| stress[k][i]));
            let more: [f64; 3] = std::array::from_fn(|d| (0..=d).map(|j| a[d][j] * unit[j][i]).sum());
            add_velocity(out, i, dim, self.gas, more);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formula::{Formula, Names};

    fn velocities(eddies: &SyntheticEddies, t: f64, x: &[[f64; 3]]) -> Vec<[f64; 3]> {
        let mut out = <[Vec<f64>; 3]>::default();
        eddies.eval(t, x, &mut out);
        (0..x.len()).map(|i| std::array::from_fn(|d| out[d][i])).collect()
    }

    /// Points of a lattice, between two of which are several eddies.
    fn lattice(n: usize, dim: usize) -> Vec<[f64; 3]> {
        let all = (0..n * n * if dim == 3 { n } else { 1 }).map(|i| [i % n, i / n % n, i / n / n]);
        all.map(|i| i.map(|i| 0.37 * i as f64)).collect()
    }

    #[test]
    fn components_have_mean_0_variance_1_and_no_covariance() {
        for dim in [2, 3] {
            let n = if dim == 3 { 34 } else { 200 };
            let eddies = SyntheticEddies::new(dim, 0.3, [1.0, 0.5, 0.0], [0.0, 0.0, 12.58], 7);
            let u = velocities(&eddies, 3.0, &lattice(n, dim));
            let mean = |f: &dyn Fn(&[f64; 3]) -> f64| u.iter().map(f).sum::<f64>() / u.len() as f64;
            for i in 0..dim {
                assert!(mean(&|u| u[i]).abs() < 0.02, "{dim}D");
                for j in 0..dim {
                    let covariance = mean(&|u| u[i] * u[j]);
                    assert!((covariance - f64::from(u8::from(i == j))).abs() < 0.03, "{dim}D: {covariance}");
                }
            }
            assert!(dim == 3 || u.iter().all(|u| u[2] == 0.0));
            // Nearly that of a normal distribution, 3.
            let fourth = mean(&|u| u[0].powi(4));
            assert!((2.4..3.6).contains(&fourth), "{dim}D: {fourth}");
        }
    }

    #[test]
    fn eddies_have_no_divergence_pass_by_and_repeat_in_a_period() {
        let eddies = SyntheticEddies::new(3, 0.4, [2.0, -1.0, 0.5], [0.0, 0.0, 1.5], 1);
        let h = 1e-5;
        for i in 0..50_u8 {
            let x = [0.31, 0.17, 0.23].map(|a| a * f64::from(i));
            let at = |d: usize, h: f64| {
                let mut x = x;
                x[d] += h;
                x
            };
            let around: Vec<[f64; 3]> = (0..3).flat_map(|d| [at(d, h), at(d, -h)]).collect();
            let u = velocities(&eddies, 0.7, &around);
            let divergence: f64 = (0..3).map(|d| (u[2 * d][d] - u[2 * d + 1][d]) / (2.0 * h)).sum();
            assert!(divergence.abs() < 1e-7, "{divergence}");
            let later = [x[0] + 2.0 * 0.25, x[1] - 0.25, x[2] + 0.5 * 0.25];
            let (a, b) = (velocities(&eddies, 0.7, &[x])[0], velocities(&eddies, 0.95, &[later])[0]);
            let c = velocities(&eddies, 0.7, &[[x[0], x[1], x[2] + 1.5]])[0];
            for d in 0..3 {
                assert!((a[d] - b[d]).abs() < 1e-12 && (a[d] - c[d]).abs() < 1e-12, "{a:?} {b:?} {c:?}");
            }
        }
        // The flux of each eddy through a plane is zero.
        let eddies = SyntheticEddies::new(3, 0.4, [2.0, -1.0, 0.5], [0.0, 1.2, 1.5], 1);
        let n = 48;
        let plane = (0..n * n).map(|i| [0.3, 0.025 * f64::from(i % n), 1.5 / 48.0 * f64::from(i / n)]);
        let plane: Vec<[f64; 3]> = plane.collect();
        let u = velocities(&eddies, 0.7, &plane);
        let mean = |f: &dyn Fn(&[f64; 3]) -> f64| u.iter().map(f).sum::<f64>() / f64::from(n * n);
        assert!(mean(&|u| u[0]).abs() < 1e-4 && mean(&|u| u[0].abs()) > 0.3, "{}", mean(&|u| u[0]));
        // Another seed has other eddies; a point has the same velocity alone and among others.
        let other = SyntheticEddies { seed: 2, ..eddies };
        let points = lattice(5, 3);
        let all = velocities(&eddies, 0.0, &points);
        assert_ne!(all, velocities(&other, 0.0, &points));
        points.iter().zip(&all).for_each(|(x, u)| assert_eq!(velocities(&eddies, 0.0, &[*x])[0], *u));
    }

    /// A gas at rest in the mean.
    struct Rest;

    impl Exact for Rest {
        fn n_fields(&self) -> usize {
            5
        }

        fn eval(&self, _: f64, x: &[[f64; 3]], out: &mut [Vec<f64>]) {
            for (out, value) in out.iter_mut().zip([2.0, 2.0, 0.0, 0.0, 3.0]) {
                out.clear();
                out.resize(x.len(), value);
            }
        }
    }

    #[test]
    fn a_gas_has_the_stresses_and_keeps_its_pressure() {
        let names = Names::new(["x", "y", "z"]);
        let texts = ["0.04", "0.01", "0.02", "-0.01", "0", "0.005"];
        let stress = texts.map(|text| Formula::parse(text, &names).unwrap()).to_vec();
        let eddies = SyntheticEddies::new(3, 0.3, [1.0, 0.0, 0.0], [0.0; 3], 7);
        let state =
            WithEddies { mean: Arc::new(Rest), eddies, stress: FormulaCoefficients(stress), gas: true };
        let points = lattice(34, 3);
        let mut u = vec![Vec::new(); 5];
        state.eval(0.5, &points, &mut u);
        let n = points.len();
        let velocity = |d: usize, i: usize| u[1 + d][i] / 2.0 - f64::from(u8::from(d == 0));
        let mean =
            |a: usize, b: usize| (0..n).map(|i| velocity(a, i) * velocity(b, i)).sum::<f64>() / n as f64;
        let pairs = [(0, 0, 0.04), (1, 1, 0.01), (2, 2, 0.02), (0, 1, -0.01), (0, 2, 0.0), (1, 2, 0.005)];
        pairs
            .iter()
            .for_each(|&(a, b, r)| assert!((mean(a, b) - r).abs() < 1.5e-3, "{a}{b}: {}", mean(a, b)));
        for i in 0..n {
            let inner = u[4][i] - (1..4).map(|k| u[k][i] * u[k][i]).sum::<f64>() / 4.0;
            assert!((inner - 2.0).abs() < 1e-14);
        }
        assert!(are_stresses([0.04, 0.01, 0.02, -0.01, 0.0, 0.005]) && are_stresses([0.0; 6]));
        assert!(
            !are_stresses([0.04, 0.01, 0.02, -0.03, 0.0, 0.0])
                && !are_stresses([-1.0, 1.0, 1.0, 0.0, 0.0, 0.0])
        );
    }
}
