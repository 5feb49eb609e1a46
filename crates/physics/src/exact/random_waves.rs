//! Isotropic turbulence in a periodic box: waves with random phases and directions and a given spectrum.

use std::sync::Arc;

use super::Exact;
use super::synthetic_eddies::{add_velocity, mixed};

/// Positions are multiples of this part of a period, so that the points of a plane, whose coordinates differ
/// by rounding, share sums.
const GRAIN: f64 = 1.0 / (1_u64 << 40) as f64;

/// A velocity without divergence whose energy is prescribed in shells of wave numbers:
///
/// ```text
/// u(x) = Re Σ_k û(k) e^(i k·x),   û = a (e^(iα) cos γ e_1 + e^(iβ) sin γ e_2),   e_1, e_2 ⊥ k
/// ```
///
/// over half of the wave vectors `k = 2π (m_1/L_1, m_2/L_2, m_3/L_3)` with integers `m` and the periods `L`.
/// With `κ = 2π/max L`, the shell `n` has the vectors of lengths from `(n − ½)κ` to `(n + ½)κ`, which share
/// its energy `E(nκ) κ` equally. The angles `α`, `β` and `γ` of a vector are values of a hash function of `m`
/// and a seed. In two dimensions `e_1` is the direction in the plane, and `γ = 0`.
///
/// The velocity is a function of place, the same on all machines and ranks. Its mean is 0, and the mean of
/// `½|u|²` is the sum of the energies of the shells.
///
/// # Source
/// Rogallo, NASA TM 81315 (1981), eqs. 19–20; there the energy of a wave vector is that of its length.
#[derive(Clone, Debug, PartialEq)]
pub struct RandomWaves {
    dim: usize,
    /// The wave number of one wave in a period, by direction; 1 in the third one of the plane.
    unit: [f64; 3],
    /// The largest number of waves along a direction.
    most: [i64; 3],
    /// The lines of wave vectors along the third direction, by the first two, in rising order.
    lines: Vec<Line>,
    /// `û` of all vectors, real and imaginary parts by component.
    amplitudes: Vec<[[f64; 2]; 3]>,
}

/// Wave vectors `(m_1, m_2, first…)`.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Line {
    m: [i64; 2],
    first: i64,
    /// The place of the first and the number of its vectors.
    at: usize,
    count: usize,
}

impl RandomWaves {
    /// The largest number of shells: the amplitudes of so many take 200 MB.
    pub const MOST: usize = 128;

    /// The wave numbers `nκ` of `shells` shells in a box with these periods.
    #[must_use]
    pub fn shells(dim: usize, periods: [f64; 3], shells: usize) -> Vec<f64> {
        let longest = periods[..dim].iter().copied().fold(0.0, f64::max);
        (1..=shells).map(|n| n as f64 * std::f64::consts::TAU / longest).collect()
    }

    /// Waves in a box with these periods, of which the third is ignored in two dimensions. `spectrum` is the
    /// energy per wave number, `E(nκ)`, of the shells 1, 2, ….
    ///
    /// # Panics
    /// If a period is not positive, or an energy is negative.
    #[must_use]
    pub fn new(dim: usize, periods: [f64; 3], spectrum: &[f64], seed: u64) -> Self {
        assert!(periods[..dim].iter().all(|l| *l > 0.0), "periods are positive");
        assert!(spectrum.iter().all(|e| *e >= 0.0), "an energy is not negative");
        let unit = std::array::from_fn(|d| if d < dim { std::f64::consts::TAU / periods[d] } else { 1.0 });
        let least = unit[..dim].iter().copied().fold(f64::INFINITY, f64::min);
        let reach = spectrum.len() as f64 + 0.5;
        let most = std::array::from_fn(|d| if d < dim { (reach * least / unit[d]) as i64 } else { 0 });
        let vector = |m: [i64; 3]| -> [f64; 3] {
            std::array::from_fn(|d| if d < dim { m[d] as f64 * unit[d] } else { 0.0 })
        };
        // The shell of a vector, counted from 1; `None` for the mean and beyond the last one.
        let shell = |m: [i64; 3]| {
            let n = (norm(vector(m)) / least).round() as usize;
            (1..=spectrum.len()).contains(&n).then_some(n)
        };
        let mut field = Self { dim, unit, most, lines: Vec::new(), amplitudes: Vec::new() };
        let mut shells = Vec::new();
        for i in 0..=most[0] {
            for j in -most[1]..=most[1] {
                // Of m and −m only one counts.
                let first = |k: &i64| [i, j, *k] > [0, 0, 0] && shell([i, j, *k]).is_some();
                let all = || (-most[2]..=most[2]).filter(first);
                let Some(least) = all().next() else { continue };
                let (at, last) = (shells.len(), all().next_back().unwrap_or(least));
                shells.extend((least..=last).map(|k| shell([i, j, k]).unwrap_or(0)));
                let count = shells.len() - at;
                field.lines.push(Line { m: [i, j], first: least, at, count });
            }
        }
        let mut sizes = vec![0_usize; spectrum.len() + 1];
        shells.iter().for_each(|&n| sizes[n] += 1);
        for line in &field.lines {
            for (k, &n) in (line.first..).zip(&shells[line.at..line.at + line.count]) {
                let m = [line.m[0], line.m[1], k];
                // ¼|û|² is the mean of ½|u|² of one wave.
                let energy = if n == 0 { 0.0 } else { spectrum[n - 1] * least / sizes[n] as f64 };
                field.amplitudes.push(amplitude(dim, m, vector(m), 2.0 * energy.sqrt(), seed));
            }
        }
        field
    }

    /// Evaluates the velocity at points, `out[direction][point]`.
    pub fn eval(&self, x: &[[f64; 3]], out: &mut [Vec<f64>; 3]) {
        out.iter_mut().for_each(|out| out.resize(x.len(), 0.0));
        // Multiples of the grain in a period: sums over one direction are shared by the points of a plane,
        // those over two by the points of a line.
        let grains = |x: &[f64; 3]| -> [i64; 3] {
            std::array::from_fn(|d| match d < self.dim {
                true => (x[d] * self.unit[d] / (std::f64::consts::TAU * GRAIN)).round() as i64,
                false => 0,
            })
        };
        let mut points: Vec<([i64; 3], usize)> =
            x.iter().map(grains).enumerate().map(|(i, [x, y, z])| ([z, y, x], i)).collect();
        points.sort_unstable();
        let mut of_line = vec![[[0.0; 2]; 3]; self.lines.len()];
        let mut of_first = vec![[[0.0; 2]; 3]; self.most[0] as usize + 1];
        let (mut plane, mut line) = (None, None);
        let mut waves = Vec::new();
        for ([z, y, x], i) in points {
            if plane != Some(z) {
                self.waves(2, z, &mut waves);
                for (sum, line) in of_line.iter_mut().zip(&self.lines) {
                    *sum = [[0.0; 2]; 3];
                    let start = (line.first + self.most[2]) as usize;
                    for (u, wave) in self.amplitudes[line.at..].iter().zip(&waves[start..start + line.count])
                    {
                        add(sum, u, *wave);
                    }
                }
                (plane, line) = (Some(z), None);
            }
            if line != Some(y) {
                self.waves(1, y, &mut waves);
                of_first.fill([[0.0; 2]; 3]);
                for (u, line) in of_line.iter().zip(&self.lines) {
                    let wave = waves[(line.m[1] + self.most[1]) as usize];
                    add(&mut of_first[line.m[0] as usize], u, wave);
                }
                line = Some(y);
            }
            self.waves(0, x, &mut waves);
            let mut sum = [[0.0; 2]; 3];
            let right = &waves[self.most[0] as usize..];
            of_first.iter().zip(right).for_each(|(u, wave)| add(&mut sum, u, *wave));
            (0..3).for_each(|d| out[d][i] = sum[d][0]);
        }
    }

    /// The waves `e^(i m 2π x/L)` of a direction at a position in grains, for `m` from `−most` to `most`.
    fn waves(&self, d: usize, grains: i64, out: &mut Vec<[f64; 2]>) {
        out.clear();
        let one = |m: i64| {
            // Whole periods, of which there may be many, leave no rounding errors.
            let turns = (i128::from(m) * i128::from(grains)).rem_euclid(1 << 40) as f64 * GRAIN;
            let (sin, cos) = (std::f64::consts::TAU * turns).sin_cos();
            [cos, sin]
        };
        out.extend((-self.most[d]..=self.most[d]).map(one));
    }
}

/// Adds the product of a vector and a complex number.
fn add(sum: &mut [[f64; 2]; 3], u: &[[f64; 2]; 3], [cos, sin]: [f64; 2]) {
    for (sum, [re, im]) in sum.iter_mut().zip(u) {
        sum[0] += re * cos - im * sin;
        sum[1] += re * sin + im * cos;
    }
}

fn norm(k: [f64; 3]) -> f64 {
    (k[0] * k[0] + k[1] * k[1] + k[2] * k[2]).sqrt()
}

fn cross(a: [f64; 3], b: [f64; 3]) -> [f64; 3] {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}

/// `û` of a wave vector of `m` waves in the periods, with the length `size`.
fn amplitude(dim: usize, m: [i64; 3], k: [f64; 3], size: f64, seed: u64) -> [[f64; 2]; 3] {
    let mut state = m.iter().fold(mixed(seed), |hash, m| mixed(hash ^ (*m as u64)));
    let mut angle = || {
        state = mixed(state);
        // The upper 53 bits, between 0 and 1.
        std::f64::consts::TAU * ((state >> 11) as f64 / (1_u64 << 53) as f64)
    };
    let scaled = |v: [f64; 3]| v.map(|x| x / norm(v));
    // Across the component of k that is least; in the plane its normal.
    let across = if dim == 2 {
        2
    } else {
        (1..3).fold(0, |least, d| if k[d].abs() < k[least].abs() { d } else { least })
    };
    let axis = std::array::from_fn(|d| if d == across { 1.0 } else { 0.0 });
    let first = scaled(cross(axis, k));
    let second = scaled(cross(k, first));
    let (alpha, beta) = (angle().sin_cos(), angle().sin_cos());
    let (sin, cos) = if dim == 2 { (0.0, 1.0) } else { angle().sin_cos() };
    std::array::from_fn(|d| {
        let (a, b) = (size * cos * first[d], size * sin * second[d]);
        [a * alpha.1 + b * beta.1, a * alpha.0 + b * beta.0]
    })
}

/// A state with turbulence: its velocity has [`RandomWaves`]; density, pressure and scalars are those of the
/// mean.
pub struct WithWaves {
    /// The mean, with conserved variables.
    pub mean: Arc<dyn Exact>,
    /// The waves.
    pub waves: RandomWaves,
    /// Whether the mean is that of a gas, `(ρ, ρv, ρE)`, or begins with the velocity.
    pub gas: bool,
}

impl Exact for WithWaves {
    fn n_fields(&self) -> usize {
        self.mean.n_fields()
    }

    fn eval(&self, t: f64, x: &[[f64; 3]], out: &mut [Vec<f64>]) {
        self.mean.eval(t, x, out);
        let mut more = <[Vec<f64>; 3]>::default();
        self.waves.eval(x, &mut more);
        for i in 0..x.len() {
            add_velocity(out, i, self.waves.dim, self.gas, [more[0][i], more[1][i], more[2][i]]);
        }
    }

    fn is_steady(&self) -> bool {
        self.mean.is_steady()
    }
}
