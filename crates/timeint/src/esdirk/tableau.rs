//! The catalogue of implicit Runge–Kutta schemes.

use std::f64::consts::SQRT_2;
use std::fmt;

use crate::Tableau;

/// A diagonally implicit Runge–Kutta scheme with an explicit first stage (ESDIRK).
///
/// | scheme | word | stages | order | γ | source |
/// |---|---|---|---|---|---|
/// | [`Esdirk32`](Self::Esdirk32) | `esdirk32` | 4, three of them implicit | 3 (2) | 0.4359 | ESDIRK3(2)4L\[2\]SA |
/// | [`Esdirk43`](Self::Esdirk43) | `esdirk43` | 6, five of them implicit | 4 (3) | 1/4 | ESDIRK4(3)6L\[2\]SA |
///
/// Both are L-stable and stiffly accurate: the last stage is the result. Stages have order two, and a second
/// solution of the order in brackets estimates the error of a step. The fifth stage of the latter lies at
/// `t + 1.04 dt`, beyond the step.
///
/// # Source
/// Kennedy & Carpenter, Diagonally implicit Runge–Kutta methods for ordinary differential equations, NASA/TM–
/// 2016–219173, the latter in table 16; the former is the implicit part of ARK3(2)4L\[2\]SA, Kennedy &
/// Carpenter, Appl. Numer. Math. 44 (2003) 139–181, with coefficients by their formulas in `γ` and
/// `c₃ = 3/5`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Esdirk {
    /// Four stages, order three, embedded order two.
    Esdirk32,
    /// Six stages, order four, embedded order three.
    Esdirk43,
}

/// The root of `6γ³ − 18γ² + 9γ − 1 = 0` for which three implicit stages of order three are L-stable.
const GAMMA: f64 = 0.435_866_521_508_459;

impl Esdirk {
    /// Every scheme.
    pub const ALL: [Self; 2] = [Self::Esdirk32, Self::Esdirk43];

    /// The word in pipeline files.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Esdirk32 => "esdirk32",
            Self::Esdirk43 => "esdirk43",
        }
    }

    /// Order of accuracy.
    #[must_use]
    pub fn order(self) -> usize {
        match self {
            Self::Esdirk32 => 3,
            Self::Esdirk43 => 4,
        }
    }

    /// Order of accuracy of the embedded solution.
    #[must_use]
    pub fn embedded_order(self) -> usize {
        self.order() - 1
    }

    /// Number of stages, with the explicit one.
    #[must_use]
    pub fn n_stages(self) -> usize {
        match self {
            Self::Esdirk32 => 4,
            Self::Esdirk43 => 6,
        }
    }

    /// The factor of the step on the diagonal, the same in all implicit stages.
    #[must_use]
    pub fn gamma(self) -> f64 {
        match self {
            Self::Esdirk32 => GAMMA,
            Self::Esdirk43 => 0.25,
        }
    }

    /// The tableau; `a` is lower triangular with `γ` on the diagonal, but for its first entry, which is 0.
    #[must_use]
    pub fn tableau(self) -> Tableau {
        match self {
            Self::Esdirk32 => three(),
            Self::Esdirk43 => four(),
        }
    }

    /// Weights of the embedded solution.
    #[must_use]
    pub fn embedded(self) -> Vec<f64> {
        match self {
            Self::Esdirk32 => vec![
                2_756_255_671_327.0 / 12_835_298_489_170.0,
                -10_771_552_573_575.0 / 22_201_958_757_719.0,
                9_247_589_265_047.0 / 10_645_013_368_117.0,
                2_193_209_047_091.0 / 5_459_859_503_100.0,
            ],
            Self::Esdirk43 => {
                let second = -480_923_228_411.0 / 4_982_971_448_372.0;
                vec![
                    second,
                    second,
                    6_709_447_293_961.0 / 12_833_189_095_359.0,
                    3_513_175_791_894.0 / 6_748_737_351_361.0,
                    -498_863_281_070.0 / 6_042_575_550_617.0,
                    2_077_005_547_802.0 / 8_945_017_530_137.0,
                ]
            }
        }
    }
}

impl fmt::Display for Esdirk {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

fn three() -> Tableau {
    let (g, c) = (GAMMA, 0.6);
    let a32 = c * (c - 2.0 * g) / (4.0 * g);
    let b2 = (-2.0 + 3.0 * c + 6.0 * g * (1.0 - c)) / (12.0 * g * (c - 2.0 * g));
    let b3 = (1.0 - 6.0 * g + 6.0 * g * g) / (3.0 * c * (c - 2.0 * g));
    let b = vec![1.0 - b2 - b3 - g, b2, b3, g];
    let a = vec![vec![0.0; 4], vec![g, g, 0.0, 0.0], vec![c - a32 - g, a32, g, 0.0], b.clone()];
    Tableau { a, b, c: vec![0.0, 2.0 * g, c, 1.0] }
}

/// The first two entries of each row are equal, so that stages have order two.
fn four() -> Tableau {
    let (q, g) = (SQRT_2, 0.25);
    let row = |second: f64, rest: &[f64]| {
        let mut row = vec![second, second];
        row.extend(rest);
        row.resize(6, 0.0);
        row
    };
    let b = row(
        (1181.0 - 987.0 * q) / 13_782.0,
        &[
            47.0 * (-267.0 + 1783.0 * q) / 273_343.0,
            -16.0 * (-22_922.0 + 3525.0 * q) / 571_953.0,
            -15_625.0 * (97.0 + 376.0 * q) / 90_749_876.0,
            g,
        ],
    );
    let a = vec![
        vec![0.0; 6],
        row(g, &[]),
        row((1.0 - q) / 8.0, &[g]),
        row((5.0 - 7.0 * q) / 64.0, &[7.0 * (1.0 + q) / 32.0, g]),
        row(
            (-13_796.0 - 54_539.0 * q) / 125_000.0,
            &[(506_605.0 + 132_109.0 * q) / 437_500.0, 166.0 * (-97.0 + 376.0 * q) / 109_375.0, g],
        ),
        b.clone(),
    ];
    Tableau { a, b, c: vec![0.0, 0.5, (2.0 - q) / 4.0, 0.625, 1.04, 1.0] }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `Σ_j a_ij x_j`
    fn times(t: &Tableau, x: &[f64]) -> Vec<f64> {
        t.a.iter().map(|row| row.iter().zip(x).map(|(a, x)| a * x).sum()).collect()
    }

    /// The defects of the conditions of order up to four for weights, by order.
    fn defects(t: &Tableau, b: &[f64]) -> Vec<(usize, f64)> {
        let sum = |x: &[f64]| b.iter().zip(x).map(|(b, x)| b * x).sum::<f64>();
        let of = |f: &dyn Fn(f64) -> f64| t.c.iter().map(|&c| f(c)).collect::<Vec<f64>>();
        let (one, c, c2, c3) = (of(&|_| 1.0), of(&|c| c), of(&|c| c * c), of(&|c| c * c * c));
        let ac = times(t, &c);
        let cac: Vec<f64> = c.iter().zip(&ac).map(|(c, x)| c * x).collect();
        vec![
            (1, sum(&one) - 1.0),
            (2, sum(&c) - 0.5),
            (3, sum(&c2) - 1.0 / 3.0),
            (3, sum(&ac) - 1.0 / 6.0),
            (4, sum(&c3) - 0.25),
            (4, sum(&cac) - 0.125),
            (4, sum(&times(t, &c2)) - 1.0 / 12.0),
            (4, sum(&times(t, &ac)) - 1.0 / 24.0),
        ]
    }

    #[test]
    fn the_conditions_of_order_hold_and_those_of_the_next_order_do_not() {
        for scheme in Esdirk::ALL {
            let t = scheme.tableau();
            for (weights, order) in
                [(t.b.clone(), scheme.order()), (scheme.embedded(), scheme.embedded_order())]
            {
                for (of, defect) in defects(&t, &weights) {
                    assert!(of > order || defect.abs() < 1e-14, "{scheme}, order {of}: {defect:.1e}");
                    // The estimate would be too small otherwise.
                    assert!(of != order + 1 || defect.abs() > 1e-4, "{scheme}, order {of}: {defect:.1e}");
                }
            }
        }
    }

    #[test]
    fn stages_have_order_two_and_the_last_one_is_the_result() {
        for scheme in Esdirk::ALL {
            let t = scheme.tableau();
            let n = scheme.n_stages();
            let squares = times(&t, &t.c);
            for (i, row) in t.a.iter().enumerate() {
                assert!((row.iter().sum::<f64>() - t.c[i]).abs() < 1e-14, "{scheme}, stage {i}");
                assert!((squares[i] - 0.5 * t.c[i] * t.c[i]).abs() < 1e-14, "{scheme}, stage {i}");
                assert_eq!(row[i], if i == 0 { 0.0 } else { scheme.gamma() });
                assert!(row[i + 1..].iter().all(|a| *a == 0.0));
            }
            assert_eq!((&t.a[n - 1], t.c[n - 1]), (&t.b, 1.0));
        }
        let g = GAMMA;
        assert!((6.0 * g * g * g - 18.0 * g * g + 9.0 * g - 1.0).abs() < 1e-15);
    }

    /// `R(z)` and the same of the embedded solution, for `z = x + iy`, by the stages of `u' = λu`.
    fn amplification(scheme: Esdirk, x: f64, y: f64) -> [f64; 2] {
        let times = |[a, b]: [f64; 2], [c, d]: [f64; 2]| [a * c - b * d, a * d + b * c];
        let (t, z) = (scheme.tableau(), [x, y]);
        // 1 / (1 − γz)
        let below = [1.0 - scheme.gamma() * x, -scheme.gamma() * y];
        let square = below[0] * below[0] + below[1] * below[1];
        let inverse = [below[0] / square, -below[1] / square];
        let mut rates: Vec<[f64; 2]> = vec![z];
        let after = |weights: &[f64], rates: &[[f64; 2]]| {
            weights.iter().zip(rates).fold([1.0, 0.0], |u, (w, k)| [u[0] + w * k[0], u[1] + w * k[1]])
        };
        for row in &t.a[1..] {
            let w = after(&row[..rates.len()], &rates);
            rates.push(times(z, times(w, inverse)));
        }
        [&t.b, &scheme.embedded()].map(|b| {
            let [re, im] = after(b, &rates);
            re.hypot(im)
        })
    }

    #[test]
    fn the_schemes_are_l_stable_and_their_estimates_bounded() {
        for scheme in Esdirk::ALL {
            for i in -60..=60 {
                let y = 10f64.powf(f64::from(i) / 15.0);
                let [main, _] = amplification(scheme, 0.0, y);
                assert!(main <= 1.0 + 1e-12, "{scheme} on the imaginary axis at {y:.1e}: {main}");
            }
            let [main, embedded] = amplification(scheme, -1e9, 0.0);
            assert!(main < 1e-7 && embedded < 1.0, "{scheme}: {main:.1e} {embedded}");
        }
    }
}
