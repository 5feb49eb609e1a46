//! Exact sums: correctly rounded, and the same bits for every order, grouping and number of ranks.
#![allow(clippy::unwrap_used)]

use dgsuite_gpu::comm::{on_each, threads};
use dgsuite_gpu::{ExactSum, sum_all};
use proptest::prelude::*;

/// Every finite number, subnormal ones included: random bits.
fn any_finite() -> impl Strategy<Value = f64> {
    any::<u64>().prop_map(f64::from_bits).prop_filter("finite", |x| x.is_finite())
}

/// Terms that cancel in part: some are followed by their opposite.
fn terms() -> impl Strategy<Value = Vec<f64>> {
    prop::collection::vec((any_finite(), -40..40i32, any::<bool>()), 0..40).prop_map(|parts| {
        let mut terms = Vec::new();
        for (x, power, cancel) in parts {
            terms.push(x);
            terms.push((x % 1.0) * f64::powi(2.0, power));
            terms.extend(cancel.then_some(-x));
        }
        terms
    })
}

fn sum(terms: &[f64]) -> ExactSum {
    terms.iter().copied().collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    /// IEEE 754 rounds the exact sum of two numbers, subnormal and overflowing ones included.
    #[test]
    fn two_terms_give_the_sum_of_the_processor(a in any_finite(), b in any_finite(), power in -3..3i32) {
        let near = a * f64::powi(2.0, power);
        for (x, y) in [(a, b), (a, near), (near, -a)] {
            // Exact sums of zero are +0.
            prop_assert_eq!(sum(&[x, y]).value().to_bits(), (x + y + 0.0).to_bits());
        }
    }

    /// Integers times a power of two, whose exact sum an `i128` holds; its conversion rounds correctly.
    #[test]
    fn sums_are_those_of_integers(
        parts in prop::collection::vec((-(1i64 << 53)..1 << 53, 0..60u32), 0..50),
        power in -900..900i32,
    ) {
        let scale = f64::powi(2.0, power);
        let terms: Vec<f64> =
            parts.iter().map(|&(i, shift)| i as f64 * f64::powi(2.0, shift as i32) * scale).collect();
        let exact: i128 = parts.iter().map(|&(i, shift)| i128::from(i) << shift).sum();
        prop_assert_eq!(sum(&terms).value().to_bits(), (exact as f64 * scale).to_bits());
    }

    #[test]
    fn order_and_grouping_change_nothing(
        (terms, shuffled) in terms().prop_flat_map(|t| (Just(t.clone()), Just(t).prop_shuffle())),
        cut in any::<prop::sample::Index>(),
    ) {
        let all = sum(&terms);
        prop_assert_eq!(all.limbs(), sum(&shuffled).limbs());
        let cut = cut.index(terms.len() + 1);
        let mut merged = sum(&shuffled[cut..]);
        merged.merge(&sum(&shuffled[..cut]));
        prop_assert_eq!(all.limbs(), merged.limbs());
        let words: Vec<i64> = sum(&terms[..cut]).limbs().iter().zip(sum(&terms[cut..]).limbs())
            .map(|(a, b)| a + b).collect();
        let added = ExactSum::from_limbs(words.try_into().unwrap());
        prop_assert_eq!(all.value().to_bits(), added.value().to_bits());
    }

    #[test]
    fn terms_and_their_opposites_cancel(terms in terms(), rest in any_finite()) {
        let mut all = sum(&terms);
        all.extend(terms.iter().map(|x| -x));
        prop_assert_eq!(all.limbs(), ExactSum::new().limbs());
        all.add(rest);
        prop_assert_eq!(all.value().to_bits(), (rest + 0.0).to_bits());
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 20, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_number_of_ranks_gives_the_bits_of_one(
        terms in terms(),
        owners in prop::collection::vec(0..4usize, 120),
        ranks in 1..=4usize,
    ) {
        let one = sum(&terms).value();
        let values = on_each(threads(ranks), |comm| {
            let mut sums = [ExactSum::new(), ExactSum::new()];
            for (&x, owner) in terms.iter().zip(&owners) {
                if owner % ranks == dgsuite_gpu::comm::Communicator::rank(&comm) {
                    sums[0].add(x);
                    sums[1].add(-x);
                }
            }
            sum_all(&comm, &mut sums).unwrap()
        });
        for value in values {
            prop_assert_eq!(value[0].to_bits(), one.to_bits());
            prop_assert_eq!(value[1], -one);
        }
    }
}
