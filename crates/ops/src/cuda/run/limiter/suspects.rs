//! Text and tables of `limiter_suspects.cu`: elements whose coefficients show that they are not troubled.

use crate::cuda::run::limiter::text::{LimiterText, Preamble, THREADS, fitting, to_and_from};
use crate::error::OpsError;
use crate::lanes::simd::PackScalar;
use crate::rhs::discretization::Discretization;
use crate::rhs::limiter::Tables;
use dgsuite_basis::Matrix;

/// Shared memory of a block in bytes above which more lanes process an element.
const ROOMY: usize = 24 * 1024;
/// Matrices whose distance is below this are the same.
const SAME: f64 = 1e-10;

/// The search for suspects among the elements of a part: text and tables, see limiter_suspects.cu.
pub(crate) struct SuspectsText {
    pub(crate) text: LimiterText,
    /// Coefficients of the constant 1.
    pub(crate) one: Vec<f64>,
    /// Bounds of basis functions.
    pub(crate) reach: Vec<f64>,
    /// Modes of the highest degree.
    pub(crate) top: Vec<f64>,
}

impl SuspectsText {
    /// Builds text and tables for part `p` of group `g`. Returns `None` for elements of order 1, which are as
    /// cheap to evaluate.
    ///
    /// # Errors
    /// [`OpsError::NotOnDevices`] if an element does not fit shared memory.
    pub(crate) fn new<T: PackScalar>(
        preamble: &Preamble,
        d: &Discretization<T>,
        (g, p): (usize, usize),
        t: &Tables,
    ) -> Result<Option<Self>, OpsError> {
        if t.order < 2 {
            return Ok(None);
        }
        let (np, fields) = (t.np, preamble.fields);
        let (to, from) = to_and_from(t);
        let at = t.values.mul(&to);
        let volume = Matrix::from_fn(t.nq, np, |q, i| at[(q, i)]);
        let modes = t.sensor.mul(&volume);
        let modal = modes.distance(&Matrix::identity(np)) < SAME;
        let is_top: Vec<usize> = (0..np).filter(|&m| t.degrees[m] == t.order).collect();

        let room = (np * (fields + usize::from(!modal))) | 1;
        let bytes = room * size_of::<f64>();
        let mut width = 1;
        while width < 32 && THREADS / width * bytes > ROOMY {
            width *= 2;
        }
        let of = Response::new(&t.sensor, &is_top);
        let source = preamble
            .elements::<T>("limiter_suspects.cu", include_str!("limiter_suspects.cu"), d, (g, p), t)
            .define("BLOCK", THREADS)
            .define("WIDTH", width)
            .define("ROOM", room)
            .define("MODAL", u8::from(modal))
            .define("TOP", is_top.len())
            .define("ROOT_THRESHOLD", format!("{:?}", t.threshold().sqrt()))
            .define("OF_ONE", format!("{:?}", of.one))
            .define("OF_MODE", format!("{:?}", of.mode))
            .define("OF_TOP", format!("{:?}", of.top));
        let (elements, shared) = (THREADS / width, THREADS / width * bytes);
        let text = fitting(LimiterText { source, threads: THREADS, elements, shared })?;

        let sizes = |i: usize| (0..t.nc).map(move |q| (q, i));
        let reach = if modal {
            (0..np).map(|i| sizes(i).map(|x| at[x].abs()).fold(0.0, f64::max)).collect()
        } else {
            let sum = |q: usize| at.row(q).iter().map(|x| x.abs()).sum::<f64>();
            vec![(0..t.nc).map(sum).fold(0.0, f64::max)]
        };
        let top = if modal {
            t.degrees.iter().map(|&d| if d == t.order { 1.0 } else { 0.0 }).collect()
        } else {
            (0..np).flat_map(|i| is_top.iter().map(move |&m| (m, i))).map(|x| modes[x]).collect()
        };
        let one = (0..np).map(|i| from[(i, 0)] / t.values[(0, 0)]).collect();
        Ok(Some(Self { text, one, reach, top }))
    }
}

/// Bounds of the modes of functions with values within ±1 at the volume points.
struct Response {
    /// Mode 0 of the function 1.
    one: f64,
    /// Largest mode 0.
    mode: f64,
    /// Largest norm of the modes of the highest degree.
    top: f64,
}

impl Response {
    /// `sensor` is the matrix from values to modes, `[mode × volume point]`.
    fn new(sensor: &Matrix, is_top: &[usize]) -> Self {
        let sum = |m: usize| sensor.row(m).iter().map(|x| x.abs()).sum::<f64>();
        let mut square: f64 = is_top.iter().map(|&m| sum(m) * sum(m)).sum();
        // With weights w that have the sum W, |A f|² ≤ |A w^(−½)|² W, and the square of a matrix' norm is at
        // most the largest sum of a row of its product with its transpose. Mode 0 is a sum with the weights
        // of the cubature.
        let weights = sensor.row(0);
        if weights.iter().all(|&w| w > 0.0) {
            let product = |a: usize, b: usize| -> f64 {
                let rows = sensor.row(a).iter().zip(sensor.row(b)).zip(weights);
                rows.map(|((x, y), w)| x * y / w).sum()
            };
            let of_row = |&a: &usize| is_top.iter().map(|&b| product(a, b).abs()).sum::<f64>();
            let norm = is_top.iter().map(of_row).fold(0.0, f64::max);
            square = square.min(norm * sum(0));
        }
        Self { one: sensor.row(0).iter().sum(), mode: sum(0), top: square.sqrt() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn responses_are_those_of_legendre_polynomials() {
        // Modes 0 and 1 of a function at the two Gauss points ±1/√3: sums of ψ w with the weights 1.
        let (a, b) = (0.5_f64.sqrt(), (1.5_f64 / 3.0).sqrt());
        let sensor = Matrix::from_row_major(2, 2, vec![a, a, -b, b]);
        let of = Response::new(&sensor, &[1]);
        // The largest mode 1 is that of (−1, 1).
        for (found, expected) in [(of.one, 2.0 * a), (of.mode, 2.0 * a), (of.top, 2.0 * b)] {
            assert!((found - expected).abs() < 1e-15, "{found} {expected}");
        }
    }
}
