//! The dominant frequency of a time series by a windowed spectrum, and the waves of periodic functions.

use std::f64::consts::{PI, TAU};

/// The largest peak of a spectrum.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Peak {
    /// Its frequency, by a parabola through the logarithms of three lines.
    pub frequency: f64,
    /// The distance of spectral lines, 1 / length of the series: two frequencies that differ by less cannot
    /// be separated.
    pub resolution: f64,
    /// The amplitude of the oscillation at this frequency.
    pub amplitude: f64,
}

/// Returns the mean and half the range of a series; the mean is weighted by time (trapezoidal rule).
#[must_use]
pub fn mean_and_amplitude(t: &[f64], x: &[f64]) -> Option<(f64, f64)> {
    let n = t.len().min(x.len());
    let length = t.get(n.checked_sub(1)?)? - t.first()?;
    if length <= 0.0 {
        return None;
    }
    let sum: f64 = (1..n).map(|i| 0.5 * (x[i] + x[i - 1]) * (t[i] - t[i - 1])).sum();
    let (low, high) =
        x[..n].iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), &x| (a.min(x), b.max(x)));
    Some((sum / length, 0.5 * (high - low)))
}

/// Returns the standard deviation of a series from its `mean`, weighted by time as the mean is.
#[must_use]
pub fn deviation(t: &[f64], x: &[f64], mean: f64) -> Option<f64> {
    let squares: Vec<f64> = x.iter().map(|x| (x - mean) * (x - mean)).collect();
    mean_and_amplitude(t, &squares).map(|(variance, _)| variance.sqrt())
}

/// Smallest number of samples for a spectrum.
const LEAST: usize = 16;

/// Largest number of samples of a spectrum.
const MOST: usize = 1 << 15;

/// Length of the zeros appended to the series, relative to its length.
const PADDING: usize = 4;

/// Returns the dominant frequency of `x(t)`, `t` increasing and not necessarily uniform.
///
/// The series is resampled at equal distances by linear interpolation, its mean is subtracted, and it is
/// multiplied by Hann's window and transformed. `None` for fewer than 16 samples, and for a series that is
/// constant or a trend only.
#[must_use]
pub fn dominant(t: &[f64], x: &[f64]) -> Option<Peak> {
    let given = t.len().min(x.len());
    if given < LEAST {
        return None;
    }
    let (t, x) = (&t[..given], &x[..given]);
    let length = t[given - 1] - t[0];
    let (mean, range) = mean_and_amplitude(t, x)?;
    if range <= 1e-12 * mean.abs() || range == 0.0 || !range.is_finite() {
        return None;
    }
    let n = given.next_power_of_two().min(MOST);
    let mut re = vec![0.0; PADDING * n];
    let mut im = vec![0.0; PADDING * n];
    let mut at = 0;
    for (i, out) in re.iter_mut().take(n).enumerate() {
        let time = t[0] + length * i as f64 / n as f64;
        while at + 2 < given && t[at + 1] <= time {
            at += 1;
        }
        let share = (time - t[at]) / (t[at + 1] - t[at]);
        let window = 0.5 - 0.5 * (TAU * i as f64 / n as f64).cos();
        *out = window * (x[at] + share * (x[at + 1] - x[at]) - mean);
    }
    transform(&mut re, &mut im);
    let size = |i: usize| re[i].hypot(im[i]);
    // Below two lines of the series, the width of the window hides any peak.
    let least = 2 * PADDING;
    let peak = (least..re.len() / 2 - 1).max_by(|&a, &b| size(a).total_cmp(&size(b)))?;
    // The spectrum of a trend decreases from the lowest frequency on.
    if size(peak - 1) > size(peak) {
        return None;
    }
    let [a, b, c] = [peak - 1, peak, peak + 1].map(|i| size(i).max(f64::MIN_POSITIVE).ln());
    let bend = a - 2.0 * b + c;
    let shift = if bend < 0.0 { 0.5 * (a - c) / bend } else { 0.0 };
    Some(Peak {
        frequency: (peak as f64 + shift) / (PADDING as f64 * length),
        resolution: 1.0 / length,
        // The mean of the window is ½, and half of the amplitude of a cosine is at the negative frequency.
        amplitude: 4.0 * size(peak) / n as f64,
    })
}

/// The mean squares of the waves of a periodic function, from equally spaced values of a period: of the mean,
/// and of 1, 2, … waves in a period, to half as many as there are values. Their sum is the mean of the
/// squares (Parseval's theorem).
///
/// ```
/// use dgsuite_solve::post::spectrum::mean_squares;
/// let wave = |i: i32| 3.0 + 2.0 * (std::f64::consts::TAU * f64::from(2 * i) / 10.0).cos();
/// let found = mean_squares(&(0..10).map(wave).collect::<Vec<_>>());
/// for (found, expected) in found.iter().zip([9.0, 0.0, 2.0, 0.0, 0.0, 0.0]) {
///     assert!((found - expected).abs() < 1e-14);
/// }
/// ```
#[must_use]
pub fn mean_squares(values: &[f64]) -> Vec<f64> {
    let n = values.len();
    let half = n / 2;
    let (mut re, mut im) = (values.to_vec(), vec![0.0; n]);
    of_any_length(&mut re, &mut im);
    // A wave has two coefficients, of m and −m, but for the mean and the shortest wave of an even number.
    let count = |m: usize| if m == 0 || 2 * m == n { 1.0 } else { 2.0 };
    let square = |m: usize| count(m) * (re[m] * re[m] + im[m] * im[m]) / (n * n) as f64;
    (0..=half).take(n).map(square).collect()
}

/// The mean squares of the waves of a function with periods in several directions, by shells of the length of
/// wave vectors, from equally spaced values of a box, the last direction fastest. `counts` are the numbers of
/// values along the directions. The shell n = 1, 2, … has the wave vectors `2π (m_1/L_1, m_2/L_2, …)` of
/// lengths from `n − ½` to `n + ½` times `2π/max L`.
///
/// # Panics
/// If the counts are not those of the values.
///
/// ```
/// use dgsuite_solve::post::spectrum::shells;
/// let wave = |i: usize| (std::f64::consts::TAU * (i / 5) as f64 / 6.0).sin();
/// let found = shells(&(0..30).map(wave).collect::<Vec<_>>(), &[6, 5], &[2.0, 1.0], 3);
/// assert!((found[0] - 0.5).abs() < 1e-14 && found[1].abs() < 1e-14);
/// ```
#[must_use]
pub fn shells(values: &[f64], counts: &[usize], periods: &[f64], shells: usize) -> Vec<f64> {
    let n = values.len();
    assert_eq!(counts.iter().product::<usize>(), n, "the counts are those of the values");
    let (mut re, mut im) = (values.to_vec(), vec![0.0; n]);
    let mut stride = n;
    for &count in counts {
        stride /= count;
        let (mut a, mut b) = (vec![0.0; count], vec![0.0; count]);
        // The first values of the lines along the direction.
        for first in (0..n).filter(|i| (i / stride).is_multiple_of(count)) {
            for k in 0..count {
                (a[k], b[k]) = (re[first + k * stride], im[first + k * stride]);
            }
            of_any_length(&mut a, &mut b);
            for k in 0..count {
                (re[first + k * stride], im[first + k * stride]) = (a[k], b[k]);
            }
        }
    }
    let longest = periods.iter().copied().fold(0.0, f64::max);
    let mut found = vec![0.0; shells];
    for i in 0..n {
        let (mut rest, mut square) = (i, 0.0);
        for (&count, period) in counts.iter().zip(periods).rev() {
            let m = rest % count;
            rest /= count;
            square += (m.min(count - m) as f64 * longest / period).powi(2);
        }
        let shell = square.sqrt().round() as usize;
        if (1..=shells).contains(&shell) {
            found[shell - 1] += (re[i] * re[i] + im[i] * im[i]) / (n as f64 * n as f64);
        }
    }
    found
}

/// The discrete Fourier transform in place.
fn of_any_length(re: &mut [f64], im: &mut [f64]) {
    let n = re.len();
    if n.is_power_of_two() {
        return transform(re, im);
    }
    let waves: Vec<(f64, f64)> = (0..n).map(|i| (-2.0 * PI * i as f64 / n as f64).sin_cos()).collect();
    let (a, b) = (re.to_vec(), im.to_vec());
    for m in 0..n {
        let waves = || (0..n).map(|i| waves[i * m % n]);
        let values = || a.iter().zip(&b);
        re[m] = values().zip(waves()).map(|((a, b), (sin, cos))| a * cos - b * sin).sum();
        im[m] = values().zip(waves()).map(|((a, b), (sin, cos))| a * sin + b * cos).sum();
    }
}

/// The discrete Fourier transform in place; the length is a power of two (Cooley and Tukey 1965).
fn transform(re: &mut [f64], im: &mut [f64]) {
    let n = re.len();
    let bits = n.trailing_zeros();
    for i in 0..n {
        let j = i.reverse_bits() >> (usize::BITS - bits);
        if i < j {
            re.swap(i, j);
            im.swap(i, j);
        }
    }
    let mut half = 1;
    while half < n {
        for k in 0..half {
            let (s, c) = (-PI * k as f64 / half as f64).sin_cos();
            for i in (k..n).step_by(2 * half) {
                let j = i + half;
                let (x, y) = (c * re[j] - s * im[j], c * im[j] + s * re[j]);
                (re[j], im[j]) = (re[i] - x, im[i] - y);
                (re[i], im[i]) = (re[i] + x, im[i] + y);
            }
        }
        half *= 2;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_frequency_is_found_between_the_lines() {
        // Steps of different sizes; 12.3 periods; a mean and a weaker harmonic.
        let f = 0.1647;
        let mut t = vec![3.0];
        while t[t.len() - 1] < 3.0 + 12.3 / f {
            let i = t.len() as f64;
            t.push(t[t.len() - 1] + 0.05 * (1.0 + 0.5 * (0.7 * i).sin()));
        }
        let x: Vec<f64> =
            t.iter().map(|t| 1.3 + 0.3 * (TAU * f * t).sin() + 0.05 * (2.0 * TAU * f * t).cos()).collect();
        let peak = dominant(&t, &x).unwrap();
        assert!((peak.frequency - f).abs() < 0.02 * peak.resolution, "{peak:?}");
        assert!((peak.amplitude - 0.3).abs() < 0.01, "{peak:?}");
        assert!((peak.resolution * (t[t.len() - 1] - 3.0) - 1.0).abs() < 1e-12);
        let (mean, amplitude) = mean_and_amplitude(&t, &x).unwrap();
        assert!((mean - 1.3).abs() < 0.01 && (amplitude - 0.32).abs() < 0.04, "{mean} {amplitude}");
    }

    #[test]
    fn what_does_not_change_has_no_frequency() {
        let t: Vec<f64> = (0..100).map(f64::from).collect();
        assert_eq!(dominant(&t, &vec![2.0; 100]), None);
        assert_eq!(dominant(&t[..9], &t[..9]), None);
        assert_eq!(dominant(&[], &[]), None);
        // A decaying start, and less than two periods.
        assert_eq!(dominant(&t, &t.iter().map(|t| (-t / 20.0).exp()).collect::<Vec<_>>()), None);
        assert_eq!(dominant(&t, &t.iter().map(|t| (TAU * t / 80.0).cos()).collect::<Vec<_>>()), None);
    }
}
