//! The order of floating-point numbers as integers, in which NaN is the largest.

/// An integer that grows with the number: −∞ < … < −0 < +0 < … < +∞ < NaN.
pub(super) fn key(x: f64) -> i64 {
    if x.is_nan() {
        return i64::MAX;
    }
    let bits = x.to_bits() as i64;
    // Of negative numbers the magnitude is reversed.
    if bits < 0 { bits ^ i64::MAX } else { bits }
}

/// The number with this key.
pub(super) fn number(key: i64) -> f64 {
    if key == i64::MAX {
        return f64::NAN;
    }
    f64::from_bits((if key < 0 { key ^ i64::MAX } else { key }) as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_grow_with_the_numbers_and_lead_back() {
        let sorted =
            [f64::NEG_INFINITY, f64::MIN, -1.0, -f64::from_bits(1), -0.0, 0.0, 1e-320, 1.0, f64::INFINITY];
        for pair in sorted.windows(2) {
            assert!(key(pair[0]) < key(pair[1]), "{pair:?}");
        }
        for x in sorted {
            assert_eq!(number(key(x)).to_bits(), x.to_bits());
            assert!(key(x) < key(f64::NAN) && key(x) < key(-f64::NAN));
        }
        assert!(number(key(-f64::NAN)).is_nan());
    }
}
