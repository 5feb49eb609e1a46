//! Initial guesses from former solutions of the same matrix: those with the smallest residual.

use dgsuite_gpu::{GpuError, Vector};

use crate::LinearOperator;

/// Stores the last solutions of `A x = b` for changing `b` and computes from them a guess for the next solve
/// (Fischer 1998).
///
/// The guess is the combination of the stored solutions with the smallest residual `‖b − A x‖`, so that it is
/// never worse than an extrapolation of them. (Fischer minimises the error in the energy norm. In a cavity
/// that took 18.6 iterations of the pressure a step, and takes 10.9 with residuals.) Solutions at equal steps
/// in time hardly differ, so the combination is one of backward differences `D_0 = x_n`,
/// `D_k^n = D_{k−1}^n − D_{k−1}^{n−1}`, whose products with A are the differences of `A x`. Differences that
/// add nothing but rounding are left out.
///
/// The guess depends on nothing but the last solutions: a window to which the
/// [`solutions`](Self::solutions) of another are added again gives the same bits.
///
/// ```
/// use dgsuite_amg::{Backend, Host, Identity, Pcg, Projection, Reference, Stop, Vector, gallery};
/// let host = Host::new(1)?;
/// let a = gallery::poisson_2d(30, 30, 1.0)?;
/// let mut guesses = Projection::new(4);
/// let mut b = host.upload(&vec![1.0; a.n_rows()])?;
/// let (mut x, mut pcg) = (b.zeros_like()?, Pcg::new(&b)?);
/// for step in 0..3 {
///     b.fill(1.0 + step as f64);
///     guesses.guess(&b, &mut x);
///     let stop = Stop { reference: Reference::RightHandSide, ..Stop::default() };
///     let solution = pcg.solve(&a, &mut Identity, &b, &mut x, &stop)?;
///     assert!(step == 0 || solution.iterations == 0);     // a multiple of a known solution
///     guesses.keep(&a, &x)?;
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Projection<V: Vector> {
    window: usize,
    /// Solutions, the oldest first.
    solutions: Vec<V>,
    /// Differences of the latest solution, and their products with A.
    differences: Vec<(V, V)>,
}

/// A difference is left out if the square of its product outside of the span of those before is less than
/// this fraction of the whole.
const NOTHING_NEW: f64 = 1e-12;

impl<V: Vector> Projection<V> {
    /// Stores up to `window` solutions; with 0 it stores none, and guesses are zero.
    pub fn new(window: usize) -> Self {
        Self { window, solutions: Vec::new(), differences: Vec::new() }
    }

    /// Number of stored solutions.
    pub fn len(&self) -> usize {
        self.solutions.len()
    }

    /// Whether no solution is stored.
    pub fn is_empty(&self) -> bool {
        self.solutions.is_empty()
    }

    /// The stored solutions, the oldest first.
    pub fn solutions(&self) -> &[V] {
        &self.solutions
    }

    /// Number of vectors for a full window of `window` solutions.
    pub const fn vectors(window: usize) -> usize {
        3 * window
    }

    /// Removes all solutions; call it when the matrix changes.
    pub fn clear(&mut self) {
        self.solutions.clear();
        self.differences.clear();
    }

    /// `x ← Σ_k c_k D_k` with `Σ_l (A D_k)ᵀ(A D_l) c_l = (A D_k)ᵀ b`. Waits once on asynchronous machines.
    ///
    /// # Panics
    /// If a length does not fit.
    #[track_caller]
    pub fn guess(&self, b: &V, x: &mut V) {
        let n = self.differences.len();
        let mut pairs: Vec<(&V, &V)> = self.differences.iter().map(|(_, product)| (product, b)).collect();
        for (k, (_, product)) in self.differences.iter().enumerate() {
            pairs.extend(self.differences[..=k].iter().map(|(_, other)| (product, other)));
        }
        let sums = V::dots(&pairs);
        let (right, lower) = sums.split_at(n);
        let factors = combination(right, lower);
        let terms: Vec<(f64, &V)> =
            factors.into_iter().zip(self.differences.iter().map(|(d, _)| d)).collect();
        x.lincomb(0.0, &terms);
    }

    /// Adds a solution, with one product with A, and removes the oldest if the window is full.
    ///
    /// # Errors
    /// [`GpuError::OutOfMemory`] if three more vectors do not fit; the window is then empty.
    ///
    /// # Panics
    /// If a length does not fit.
    #[track_caller]
    pub fn keep(&mut self, a: &impl LinearOperator<V>, x: &V) -> Result<(), GpuError> {
        if self.window == 0 {
            return Ok(());
        }
        if self.solutions.len() < self.window {
            let (solution, last, product) = match self.room(x) {
                Ok(room) => room,
                Err(full) => {
                    self.clear();
                    return Err(full);
                }
            };
            self.solutions.push(solution);
            self.differences.push((last, product));
        } else {
            self.solutions.rotate_left(1);
        }
        if let Some(latest) = self.solutions.last_mut() {
            latest.copy_from(x);
        }
        // The last difference is not needed any more, or new; it becomes the first.
        self.differences.rotate_right(1);
        let Some(((newest, product), older)) = self.differences.split_first_mut() else { return Ok(()) };
        newest.copy_from(x);
        a.apply(newest, product);
        // Each place holds a difference of the solution before: it moves on by one order.
        let (mut lower, mut product) = (&*newest, &*product);
        for (d, ad) in older {
            d.axpby(1.0, lower, -1.0);
            ad.axpby(1.0, product, -1.0);
            (lower, product) = (d, ad);
        }
        Ok(())
    }

    fn room(&self, x: &V) -> Result<(V, V, V), GpuError> {
        Ok((x.zeros_like()?, x.zeros_like()?, x.zeros_like()?))
    }
}

/// The solution of the equations with the right-hand side `right` and the rows of the lower triangle `lower`,
/// by Cholesky's method on the matrix scaled to a diagonal of 1; the factors of rows that add nothing are 0.
fn combination(right: &[f64], lower: &[f64]) -> Vec<f64> {
    let n = right.len();
    let entry = |i: usize, j: usize| lower[i * (i + 1) / 2 + j];
    let mut scale = vec![0.0; n];
    let mut rows: Vec<Vec<f64>> = Vec::with_capacity(n);
    let mut y = vec![0.0; n];
    for i in 0..n {
        let energy = entry(i, i);
        let mut row = vec![0.0; i + 1];
        if energy.is_finite() && energy > 0.0 {
            scale[i] = 1.0 / energy.sqrt();
            for j in 0..i {
                let known: f64 = row[..j].iter().zip(&rows[j]).map(|(a, b)| a * b).sum();
                let pivot = rows[j][j];
                if pivot > 0.0 {
                    row[j] = (entry(i, j) * scale[i] * scale[j] - known) / pivot;
                }
            }
            let rest = 1.0 - row[..i].iter().map(|a| a * a).sum::<f64>();
            if rest > NOTHING_NEW {
                row[i] = rest.sqrt();
                let known: f64 = row[..i].iter().zip(&y).map(|(a, y)| a * y).sum();
                y[i] = (right[i] * scale[i] - known) / row[i];
            } else {
                row.fill(0.0);
            }
        }
        rows.push(row);
    }
    let mut c = vec![0.0; n];
    for i in (0..n).rev().filter(|&i| rows[i][i] > 0.0) {
        let known: f64 = (i + 1..n).map(|k| rows[k][i] * c[k]).sum();
        c[i] = (y[i] - known) / rows[i][i];
    }
    c.iter().zip(&scale).map(|(c, scale)| c * scale).collect()
}

#[cfg(test)]
mod tests {
    use dgsuite_gpu::{Backend, Host, HostVector};

    use super::*;
    use crate::{Csr, gallery};

    fn vector(host: &Host, entry: impl Fn(f64) -> f64) -> HostVector<f64> {
        host.upload(&(0..300).map(|i| entry(f64::from(i))).collect::<Vec<_>>()).unwrap()
    }

    /// Relative distance between the guess for `A x` and x.
    fn miss(a: &Csr<f64>, guesses: &Projection<HostVector<f64>>, x: &HostVector<f64>) -> f64 {
        let (mut b, mut guess) = (x.zeros_like().unwrap(), x.zeros_like().unwrap());
        a.apply(x, &mut b);
        guesses.guess(&b, &mut guess);
        guess.axpby(-1.0, x, 1.0);
        guess.norm2() / x.norm2()
    }

    /// Solutions quadratic in time: any three span all of them, also after many steps, and however small.
    #[test]
    fn a_window_of_three_follows_a_parabola_for_ever() {
        let host = Host::new(1).unwrap();
        let a = gallery::poisson_2d(20, 15, 0.5).unwrap();
        let at = |t: f64| vector(&host, |i| (0.1 * i).sin() + t * (0.07 * i).cos() + t * t * (0.9 * i).sin());
        for dt in [0.1, 1e-3] {
            let mut guesses = Projection::new(3);
            for step in 0..40 {
                let x = at(dt * f64::from(step));
                let miss = miss(&a, &guesses, &x);
                assert!(if step < 3 { miss > 1e-6 * dt } else { miss < 1e-8 }, "step {step} of {dt}: {miss}");
                guesses.keep(&a, &x).unwrap();
            }
            assert!(guesses.len() == 3);
        }
    }

    #[test]
    fn the_window_holds_the_last_solutions_and_no_other() {
        let host = Host::new(1).unwrap();
        let a = gallery::poisson_2d(20, 15, 1.0).unwrap();
        let wave = |k: u32| vector(&host, move |i| (0.37 * f64::from(k) * (i + 1.0)).sin());
        let mut guesses = Projection::new(4);
        for k in 1..=9 {
            guesses.keep(&a, &wave(k)).unwrap();
        }
        assert_eq!(guesses.len(), 4);
        for k in 1..=9 {
            let miss = miss(&a, &guesses, &wave(k));
            assert!(if k > 5 { miss < 1e-10 } else { miss > 0.3 }, "{k}: {miss}");
        }
        // The same solutions in another window give the same bits.
        let mut again = Projection::new(4);
        guesses.solutions().iter().for_each(|x| again.keep(&a, x).unwrap());
        let (b, mut x, mut y) = (wave(17), wave(1), wave(1));
        guesses.guess(&b, &mut x);
        again.guess(&b, &mut y);
        assert!(x.iter().zip(y.iter()).all(|(x, y)| x.to_bits() == y.to_bits()));
        guesses.clear();
        assert!(guesses.is_empty() && miss(&a, &guesses, &wave(9)) == 1.0);
    }

    /// A solution that does not change, and one that is zero.
    #[test]
    fn solutions_that_add_nothing_do_no_harm() {
        let host = Host::new(1).unwrap();
        let a = gallery::poisson_2d(20, 15, 1.0).unwrap();
        let (x, zero) = (vector(&host, f64::sin), vector(&host, |_| 0.0));
        let mut guesses = Projection::new(3);
        guesses.keep(&a, &zero).unwrap();
        assert_eq!(miss(&a, &guesses, &x), 1.0);
        for _ in 0..5 {
            guesses.keep(&a, &x).unwrap();
            assert!(miss(&a, &guesses, &x) < 1e-12);
        }
    }
}
