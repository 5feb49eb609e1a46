//! Exact sums of floating-point numbers, which depend neither on the order nor on the grouping of the terms.

use crate::comm::{CommError, Communicator};

/// Limbs of the number: 67 × 32 bits = 2144 bits hold every sum of up to 2⁷⁷ finite terms.
const LIMBS: usize = 67;
/// Bits of the number in one limb; the other half of an `i64` collects carries.
const LIMB_BITS: u32 = 32;
const LOW: i64 = (1 << LIMB_BITS) - 1;
/// Additions before the carries must be moved on: each changes a limb by less than 2³².
const MOST_PENDING: u32 = 1 << 30;
/// Bits of an `f64`'s fraction, without the leading one.
const FRACTION_BITS: u32 = 52;

/// The sum of `f64` numbers without any rounding, and therefore the same for every order and grouping.
///
/// The accumulator is one wide integer in units of 2⁻¹⁰⁷⁴, the smallest positive `f64`,
///
/// ```text
/// Σ x = 2⁻¹⁰⁷⁴ Σ_i limb_i 2^(32 i),   i = 0 … 66
/// ```
///
/// with limbs of 32 bits in signed words of 64 bits. A term changes three limbs at most; carries are moved on
/// every 2³⁰ terms. Three more words count NaN, +∞ and −∞. All words of two accumulators may be added as
/// integers, in any order: this is how [`Communicator::sum`] forms sums over ranks.
///
/// [`value`](Self::value) rounds the exact sum once, to the nearest `f64`, ties to even; sums beyond the
/// largest `f64` give ±∞. A sum of zero is +0. A term NaN, or infinities of both signs, give NaN.
///
/// Source: Kulisch (2013), *Computer Arithmetic and Validity*, ch. 8 (long accumulators); Neal (2015), *Fast
/// exact summation using small and large superaccumulators*, arXiv:1505.05571 (carries in signed words).
///
/// ```
/// use dgsuite_gpu::ExactSum;
/// let sum: ExactSum = [1e308, 1.0, 1e308, -1e308, -1e308].into_iter().collect();
/// assert_eq!(sum.value(), 1.0);
/// ```
#[derive(Clone, Debug)]
pub struct ExactSum {
    /// The limbs, then the numbers of NaN, +∞ and −∞.
    words: [i64; Self::WORDS],
    /// A bound: every limb is at most this times 2³², in absolute value.
    pending: u32,
}

impl ExactSum {
    /// Words of an accumulator.
    pub const WORDS: usize = LIMBS + 3;

    /// The empty sum.
    pub const fn new() -> Self {
        Self { words: [0; Self::WORDS], pending: 0 }
    }

    /// Adds one term.
    #[inline]
    pub fn add(&mut self, x: f64) {
        let bits = x.to_bits();
        let exponent = (bits >> FRACTION_BITS) as usize & 0x7ff;
        if exponent == 0x7ff {
            return self.add_special(x);
        }
        let fraction = bits & ((1 << FRACTION_BITS) - 1);
        // x = ± integer 2^(shift − 1074); subnormal numbers have no leading one and the exponent of the
        // smallest normal ones.
        let (integer, shift) = match exponent {
            0 => (fraction, 0),
            _ => (fraction | 1 << FRACTION_BITS, exponent - 1),
        };
        let (first, within) = (shift / LIMB_BITS as usize, shift as u32 % LIMB_BITS);
        let low = (integer << within) as i64;
        // The shifted integer has 84 bits; these are its bits from 32 on.
        let high = (integer >> (LIMB_BITS - within)) as i64;
        let sign = (bits as i64) >> 63;
        let signed = |limb: i64| (limb ^ sign) - sign;
        self.words[first] += signed(low & LOW);
        self.words[first + 1] += signed(high & LOW);
        self.words[first + 2] += signed(high >> LIMB_BITS);
        self.pending += 1;
        if self.pending >= MOST_PENDING {
            self.carry();
        }
    }

    #[cold]
    fn add_special(&mut self, x: f64) {
        let flag = if x.is_nan() {
            0
        } else if x > 0.0 {
            1
        } else {
            2
        };
        self.words[LIMBS + flag] += 1;
    }

    /// Adds all terms of another sum.
    pub fn merge(&mut self, other: &Self) {
        if self.pending + other.pending >= MOST_PENDING {
            self.carry();
        }
        for (word, &more) in self.words.iter_mut().zip(&other.words) {
            *word += more;
        }
        self.pending += other.pending;
        if self.pending >= MOST_PENDING {
            self.carry();
        }
    }

    /// The words of this sum, after carries: sums of the words of up to 2³⁰ accumulators cannot overflow.
    /// Equal sums have equal words.
    pub fn limbs(&self) -> [i64; Self::WORDS] {
        let mut normal = self.clone();
        normal.carry();
        for flag in &mut normal.words[LIMBS..] {
            *flag = i64::from(*flag != 0);
        }
        normal.words
    }

    /// The sum with these words: those of [`limbs`](Self::limbs), or sums over ranks of such words.
    pub fn from_limbs(words: [i64; Self::WORDS]) -> Self {
        let mut sum = Self { words, pending: 1 };
        sum.carry();
        sum
    }

    /// The exact sum, rounded once.
    pub fn value(&self) -> f64 {
        match [0, 1, 2].map(|flag| self.words[LIMBS + flag] != 0) {
            [true, ..] | [_, true, true] => return f64::NAN,
            [_, true, _] => return f64::INFINITY,
            [_, _, true] => return f64::NEG_INFINITY,
            _ => {}
        }
        let mut magnitude = self.clone();
        magnitude.carry();
        let negative = magnitude.words[LIMBS - 1] < 0;
        if negative {
            for limb in &mut magnitude.words[..LIMBS] {
                *limb = -*limb;
            }
            magnitude.carry();
        }
        let value = rounded(&magnitude.words[..LIMBS]);
        if negative { -value } else { value }
    }

    /// Moves carries on, so that all limbs but the last are in [0, 2³²); the last has the sign of the sum.
    #[cold]
    fn carry(&mut self) {
        let mut carry = 0;
        for limb in &mut self.words[..LIMBS - 1] {
            let full = *limb + carry;
            *limb = full & LOW;
            carry = full >> LIMB_BITS;
        }
        self.words[LIMBS - 1] += carry;
        self.pending = 1;
    }
}

/// The non-negative number with these limbs in [0, 2³²), the last one arbitrary, to the nearest `f64`.
fn rounded(limbs: &[i64]) -> f64 {
    let Some(top) = limbs.iter().rposition(|&limb| limb != 0) else { return 0.0 };
    if limbs[top] > LOW {
        return f64::INFINITY;
    }
    let limb = |i: usize, below: usize| i.checked_sub(below).map_or(0, |i| limbs[i] as u128);
    // The three highest limbs, which contain the 53 bits of the result and the bit after them.
    let head = limb(top, 0) << 64 | limb(top, 1) << 32 | limb(top, 2);
    let head_bits = u128::BITS - head.leading_zeros();
    let all_bits = LIMB_BITS * top as u32 + head_bits - 2 * LIMB_BITS;
    if all_bits <= FRACTION_BITS + 1 {
        // No bit is lost, and such an integer is the bit pattern of the number itself.
        let integer = (head >> (2 * LIMB_BITS - LIMB_BITS * top as u32)) as u64;
        return f64::from_bits(integer);
    }
    let dropped = head_bits - (FRACTION_BITS + 1);
    let kept = (head >> dropped) as u64;
    let rest = head & ((1 << dropped) - 1);
    let half = 1 << (dropped - 1);
    let below = limbs[..top.saturating_sub(2)].iter().any(|&limb| limb != 0);
    let up = rest > half || (rest == half && (below || kept & 1 == 1));
    // The leading one of `kept` adds 1 to the exponent, and so does a carry out of the fraction.
    let exponent = u64::from(all_bits - (FRACTION_BITS + 1));
    if exponent >= 0x7fe {
        return f64::INFINITY;
    }
    f64::from_bits((exponent << FRACTION_BITS) + kept + u64::from(up))
}

impl Default for ExactSum {
    fn default() -> Self {
        Self::new()
    }
}

impl Extend<f64> for ExactSum {
    fn extend<I: IntoIterator<Item = f64>>(&mut self, terms: I) {
        for x in terms {
            self.add(x);
        }
    }
}

impl FromIterator<f64> for ExactSum {
    fn from_iter<I: IntoIterator<Item = f64>>(terms: I) -> Self {
        let mut sum = Self::new();
        sum.extend(terms);
        sum
    }
}

/// The values of several sums over all ranks, the same bits on every rank and for every number of ranks. Each
/// rank passes the sums of its own terms; on return they contain the terms of all ranks. One message.
///
/// # Errors
/// Those of [`Communicator::sum`].
///
/// ```
/// use dgsuite_gpu::{ExactSum, comm, sum_all};
/// let mut sums = [[0.1, 0.2].into_iter().collect::<ExactSum>()];
/// assert_eq!(sum_all(&comm::Alone, &mut sums)?, [0.1 + 0.2]);
/// # Ok::<(), comm::CommError>(())
/// ```
pub fn sum_all(comm: &dyn Communicator, sums: &mut [ExactSum]) -> Result<Vec<f64>, CommError> {
    if comm.size() > 1 {
        let mut words: Vec<i64> = sums.iter().flat_map(|sum| sum.limbs()).collect();
        comm.sum(&mut words)?;
        for (sum, words) in sums.iter_mut().zip(words.as_chunks().0) {
            *sum = ExactSum::from_limbs(*words);
        }
    }
    Ok(sums.iter().map(ExactSum::value).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sum(terms: &[f64]) -> f64 {
        terms.iter().copied().collect::<ExactSum>().value()
    }

    #[track_caller]
    fn assert_sum(terms: &[f64], expected: f64) {
        assert_eq!(sum(terms).to_bits(), expected.to_bits(), "{terms:?}: {} ≠ {expected}", sum(terms));
        let opposite: Vec<f64> = terms.iter().map(|x| -x).collect();
        if expected != 0.0 {
            assert_eq!(sum(&opposite).to_bits(), (-expected).to_bits(), "{opposite:?}");
        }
    }

    #[test]
    fn large_terms_that_cancel_leave_the_small_ones() {
        assert_sum(&[1e308, 1e-320, -1e308], 1e-320);
        assert_sum(&[f64::MAX, f64::MAX, 3.0, -f64::MAX, -f64::MAX], 3.0);
        assert_sum(&[f64::MAX, f64::from_bits(1), -f64::MAX], f64::from_bits(1));
        assert_sum(&[1.0, 1e100, 1.0, -1e100], 2.0);
        assert_sum(&[0.5, -0.5], 0.0);
        assert_sum(&[-0.0, -0.0], 0.0);
        assert_sum(&[], 0.0);
    }

    #[test]
    fn ties_go_to_even_and_the_smallest_term_breaks_them() {
        let half_ulp = f64::EPSILON / 2.0;
        assert_sum(&[1.0, half_ulp], 1.0);
        assert_sum(&[1.0 + f64::EPSILON, half_ulp], 1.0 + 2.0 * f64::EPSILON);
        assert_sum(&[1.0, half_ulp, f64::from_bits(1)], 1.0 + f64::EPSILON);
        assert_sum(&[1.0 + f64::EPSILON, half_ulp, -f64::from_bits(1)], 1.0 + f64::EPSILON);
        assert_sum(&[2.0 - f64::EPSILON, half_ulp], 2.0);
    }

    #[test]
    fn sums_beyond_the_largest_number_are_infinite_from_half_an_ulp_on() {
        let half_ulp = f64::powi(2.0, 970);
        assert_sum(&[f64::MAX, f64::MAX], f64::INFINITY);
        assert_sum(&[f64::MAX, half_ulp], f64::INFINITY);
        assert_sum(&[f64::MAX, half_ulp, -f64::from_bits(1)], f64::MAX);
        assert_sum(&vec![f64::MAX; 100_000], f64::INFINITY);
    }

    #[test]
    fn subnormal_numbers_grow_into_normal_ones() {
        let tiny = f64::from_bits(1);
        assert_sum(&[f64::MIN_POSITIVE, -tiny], f64::MIN_POSITIVE - tiny);
        assert_sum(&[f64::MIN_POSITIVE - tiny, tiny], f64::MIN_POSITIVE);
        assert_sum(&[f64::MIN_POSITIVE; 3], 3.0 * f64::MIN_POSITIVE);
    }

    #[test]
    fn values_that_are_not_finite_are_seen_in_the_sum() {
        assert!(sum(&[1.0, f64::NAN, f64::INFINITY]).is_nan());
        assert!(sum(&[f64::INFINITY, f64::NEG_INFINITY]).is_nan());
        assert_eq!(sum(&[f64::INFINITY, -1e308, -1e308]), f64::INFINITY);
        assert_eq!(sum(&[f64::NEG_INFINITY, 1.0]), f64::NEG_INFINITY);
    }

    #[test]
    fn carries_are_moved_on_before_a_limb_overflows() {
        // 2³¹ additions would take seconds: the sum of 2²⁰ terms is merged 2¹² times.
        let x = f64::from_bits(f64::MAX.to_bits() - 1);
        let few: ExactSum = std::iter::repeat_n(x, 1 << 20).collect();
        let mut all = ExactSum::new();
        (0..1 << 12).for_each(|_| all.merge(&few));
        let mut back = ExactSum::from_limbs(all.limbs());
        let less: ExactSum = std::iter::repeat_n(-x, 1 << 20).collect();
        (0..1 << 12).for_each(|_| back.merge(&less));
        back.add(1.5);
        assert_eq!(back.value(), 1.5);
    }

    #[test]
    fn equal_sums_have_equal_words() {
        let a: ExactSum = [1.0, -3.0, 2.5].into_iter().collect();
        let b: ExactSum = [0.5].into_iter().collect();
        assert_eq!(a.limbs(), b.limbs());
    }

    #[test]
    #[ignore = "a measurement: prints nanoseconds for each term"]
    fn time_of_one_term() {
        let terms: Vec<f64> = (0..4096).map(|i| f64::sin(i as f64) * f64::powi(10.0, i % 7)).collect();
        let mut sum = ExactSum::new();
        let started = std::time::Instant::now();
        let repeats = 20_000;
        for _ in 0..repeats {
            sum.extend(std::hint::black_box(&terms).iter().copied());
        }
        let ns = started.elapsed().as_secs_f64() * 1e9 / (repeats * terms.len()) as f64;
        println!("{ns:.2} ns for each term (sum {})", sum.value());
        assert!(ns < 100.0);
    }
}
