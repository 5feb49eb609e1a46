//! Embedded pairs: a second solution of lower order from the same stages; the difference estimates the error
//! of a step.

use crate::scheme::butcher::Combination;
use crate::scheme::tables::{Base, Mean, Row, row, share};
use crate::scheme::{Scheme, Symbols};

/// Coefficients γ₂, γ₃, δ and β of a stage in 3S* form (Ketcheson 2010; γ₁ is the difference to one):
/// `S₂ ← S₂ + δ S₁`, `S₁ ← γ₁ S₁ + γ₂ S₂ + γ₃ S₃ + β dt R(S₁)`, with `S₃` the state at the start of the step.
struct Stage3S {
    g2: f64,
    g3: f64,
    d: f64,
    b: f64,
}

/// RK3(2)5[3S*+] of Ranocha, Dalcin, Parsani and Ketcheson (2022), J. Sci. Comput. 91, Appendix; the first
/// stage is `S₁ ← S₁ + β dt R(S₁)`.
const STAGES: [Stage3S; 4] = [
    Stage3S { g2: 5.528_418_745_102_16e-1, g3: 0.0, d: 3.407_687_209_321_455e-1, b: 3.021_457_892_454_17e-1 },
    Stage3S {
        g2: 6.731_844_400_389_674e-1,
        g3: 0.0,
        d: 3.414_399_280_584_625e-1,
        b: 8.025_601_039_472_704e-1,
    },
    Stage3S {
        g2: 2.803_103_804_507_635e-1,
        g3: 2.752_585_813_446_637e-1,
        d: 7.229_302_732_875_59e-1,
        b: 4.362_158_997_637_63e-1,
    },
    Stage3S {
        g2: 5.521_508_873_507_393e-1,
        g3: -8.950_548_709_279_785e-1,
        d: 0.0,
        b: 1.129_268_494_470_295_4e-1,
    },
];

/// β of the first stage.
const FIRST: f64 = 2.300_285_062_878_154_4e-1;

/// Weights of the embedded solution of order two.
const EMBEDDED: [f64; 5] = [
    1.046_363_371_354_093_8e-1,
    9.520_431_574_956_759e-2,
    4.482_446_645_568_668_4e-1,
    2.449_030_295_461_310_1e-1,
    1.070_116_530_120_251_8e-1,
];

/// `S₂` is stored as means whose weights add to one. A stage's own input is not part of its base: it belongs
/// to the weight `1 − b`.
pub(super) static RDPK35: [Row; 5] = {
    let [two, three, four, five] = STAGES;
    // Weights of the states in `S₂`, before and after each stage adds its input.
    let (s2, s3) = (1.0 + two.d, 1.0 + two.d + three.d);
    let s4 = s3 + four.d;
    let (b3, b4, b5) = (share(three.g2 * s2), share(four.g2 * s3 + four.g3), share(five.g2 * s4 + five.g3));
    let (m4, q4) = (four.g2 * s2 / b4, four.g2 * three.d / b4);
    // Except for the input of the fourth stage, the last base is a combination of the base before and the
    // start.
    let (m5, q5) = (five.g2 * b4 / (four.g2 * b5), five.g2 * four.d / b5);
    [
        row(0.0, 0.0, FIRST, Base::None),
        row_with_mean(share(two.g2), two.b, Base::Start, 0.0, two.d / s2),
        row_with_mean(b3, three.b, Base::Mean, m4, q4),
        row_with_mean(b4, four.b, Base::Mean, m5, q5),
        row(0.0, b5, five.b, Base::Mean),
    ]
};

const fn row_with_mean(b: f64, c: f64, base: Base, m: f64, q: f64) -> Row {
    Row { a: 0.0, b, c, base, sum: None, mean: Some(Mean { m, q, s: 1.0 - m - q }) }
}

impl Scheme {
    /// Weights of the embedded solution, `û = u₀ + dt Σ_i b̂_i R_i`, of schemes that have one.
    pub fn embedded(self) -> Option<&'static [f64]> {
        (self == Self::Rdpk35).then_some(EMBEDDED.as_slice())
    }

    /// Order of accuracy of the embedded solution.
    pub fn embedded_order(self) -> Option<usize> {
        (self == Self::Rdpk35).then_some(2)
    }

    /// Factors of the rates in the estimate of the error, `û − u = dt Σ_i (b̂_i − b_i) R_i`. In the schemes
    /// that have them the register of a stage is `dt R_i` alone.
    pub fn error_weights(self) -> Option<Vec<f64>> {
        let own = self.tableau().b;
        Some(self.embedded()?.iter().zip(own).map(|(embedded, own)| embedded - own).collect())
    }

    /// Factors with which the vectors of a step add up to `û − u = dt Σ_i (b̂_i − b_i) R_i`: the factors of
    /// the state at its start, of each mean, of the input of the last stage, and of the new state.
    ///
    /// The estimate needs no stored rates: the rate of each stage follows from the states before and after
    /// it.
    pub fn error_factors(self) -> Option<Vec<f64>> {
        let mut left = self.error_weights()?;
        let Symbols { inputs, means, result } = self.symbols();
        let start = &inputs[0];
        let mut vectors: Vec<&Combination> = means.iter().collect();
        vectors.extend(inputs.last());
        vectors.push(&result);
        // Vector i contains rates up to that of stage i only: the system is solved from the last one to the
        // first.
        let mut factors = vec![0.0; vectors.len()];
        for (i, vector) in vectors.iter().enumerate().rev() {
            factors[i] = left[i] / vector.k[i];
            left.iter_mut().zip(&vector.k).for_each(|(left, k)| *left -= factors[i] * k);
        }
        // The factor of the start: zero rates must give zero error.
        let of_start = -factors.iter().zip(&vectors).map(|(f, v)| f * v.start).sum::<f64>() / start.start;
        factors.insert(0, of_start);
        Some(factors)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// γ₁ as printed.
    const G1: [f64; 4] = [
        2.587_669_070_352_079e-1,
        -1.324_366_873_994_503e-1,
        5.055_601_231_460_399e-2,
        5.670_552_807_902_877e-1,
    ];

    /// The recursion as printed, run on separate symbols.
    #[test]
    fn the_means_are_the_printed_recursion() {
        let mean = |terms: &[(f64, &[f64; 6])]| -> [f64; 6] {
            std::array::from_fn(|j| terms.iter().map(|(f, x)| f * x[j]).sum())
        };
        let unit = |i: usize| -> [f64; 6] { std::array::from_fn(|j| if i == j { 1.0 } else { 0.0 }) };
        let start = unit(0);
        let mut one = mean(&[(1.0, &start), (FIRST, &unit(1))]);
        let mut two = start;
        let mut inputs = vec![start];
        for (i, s) in STAGES.iter().enumerate() {
            inputs.push(one);
            two = mean(&[(1.0, &two), (s.d, &one)]);
            one = mean(&[(G1[i], &one), (s.g2, &two), (s.g3, &start), (s.b, &unit(i + 2))]);
        }
        let tableau = Scheme::Rdpk35.tableau();
        for (i, input) in inputs.iter().enumerate() {
            assert!((input[0] - 1.0).abs() < 1e-15, "a constant stays: {input:?}");
            assert!(tableau.a[i].iter().zip(&input[1..]).all(|(a, b)| (a - b).abs() < 1e-14), "stage {i}");
        }
        assert!(tableau.b.iter().zip(&one[1..]).all(|(a, b)| (a - b).abs() < 1e-14), "{:?}", tableau.b);
    }

    /// Printed with the coefficients: the weights b and times c of the main scheme.
    #[test]
    fn the_pair_has_its_printed_weights_and_times() {
        let tableau = Scheme::Rdpk35.tableau();
        let b = [
            1.147_931_563_369_900_7e-1,
            8.933_559_295_232_86e-2,
            4.355_858_717_379_232e-1,
            2.473_585_295_257_286_3e-1,
            1.129_268_494_470_295_4e-1,
        ];
        let c = [
            0.0,
            2.300_285_062_878_154_4e-1,
            4.050_049_049_262_915e-1,
            8.947_823_877_926_76e-1,
            7.235_108_137_218_888e-1,
        ];
        assert!(tableau.b.iter().zip(b).all(|(x, y)| (x - y).abs() < 1e-14), "{:?}", tableau.b);
        assert!(tableau.c.iter().zip(c).all(|(x, y)| (x - y).abs() < 1e-14), "{:?}", tableau.c);
    }

    #[test]
    fn the_embedded_solution_has_order_two_and_not_three() {
        for scheme in Scheme::ALL {
            let (Some(weights), Some(order)) = (scheme.embedded(), scheme.embedded_order()) else {
                assert_eq!((scheme.embedded(), scheme.embedded_order()), (None, None));
                continue;
            };
            assert_eq!(order, scheme.order() - 1);
            let rows = scheme.rows();
            assert!(
                rows.iter().all(|row| row.a == 0.0 && row.sum.is_none()),
                "{scheme}: a register of rates"
            );
            let c = scheme.tableau().c;
            let moment = |k: i32| weights.iter().zip(&c).map(|(b, c)| b * c.powi(k)).sum::<f64>();
            assert!((moment(0) - 1.0).abs() < 1e-15 && (moment(1) - 0.5).abs() < 1e-14, "{scheme}");
            assert!((moment(2) - 1.0 / 3.0).abs() > 1e-4, "{scheme}: no estimate");
        }
    }

    #[test]
    fn the_factors_of_the_error_give_the_difference_of_the_solutions() {
        let scheme = Scheme::Rdpk35;
        let factors = scheme.error_factors().unwrap();
        let Symbols { inputs, means, result } = scheme.symbols();
        let mut vectors = vec![inputs[0].clone()];
        vectors.extend(means);
        vectors.push(inputs[4].clone());
        vectors.push(result.clone());
        let terms: Vec<(f64, &Combination)> = factors.iter().copied().zip(&vectors).collect();
        let error = Combination::of(&terms);
        assert!(error.start.abs() < 1e-16);
        for (i, k) in error.k.iter().enumerate() {
            assert!((k - (EMBEDDED[i] - result.k[i])).abs() < 1e-16, "rate {i}: {k}");
        }
        // Rounding errors of the states do not affect the estimate.
        assert!(factors.iter().all(|f| f.abs() < 0.3), "{factors:?}");
    }
}
