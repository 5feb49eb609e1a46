//! Initial guesses from former solutions of the same matrix: the best approximation in the energy norm.

use dgsuite_gpu::{GpuError, Vector};

use crate::LinearOperator;

/// Stores the last solutions of `A x = b` for changing `b` and computes from them a guess for the next solve
/// (Fischer 1998).
///
/// The guess is the combination of the stored solutions that is nearest to the new one in the norm
/// `(xᵀ A x)^½`. The solutions are stored as `X = V R` with `Vᵀ A V = 1`. When the window is full, the oldest
/// solution is removed by rotations of V, so that V spans exactly the others.
///
/// ```
/// use dgsuite_amg::{Backend, Host, Identity, Pcg, Projection, Reference, Stop, Vector, gallery};
/// let host = Host::new(1)?;
/// let a = gallery::poisson_2d(30, 30, 1.0)?;
/// let mut guesses = Projection::new(8);
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
    /// Directions, orthonormal in the inner product of A, and their products with A.
    basis: Vec<(V, V)>,
    /// Column j: coefficients of solution j, oldest first, in the first j + 1 directions.
    columns: Vec<Vec<f64>>,
}

/// A solution adds nothing if its energy outside of the span of the others is less than this fraction of its
/// own.
const NOTHING_NEW: f64 = 1e-24;

impl<V: Vector> Projection<V> {
    /// Stores up to `window` solutions; with 0 it stores none, and guesses are zero.
    pub fn new(window: usize) -> Self {
        Self { window, basis: Vec::new(), columns: Vec::new() }
    }

    /// Number of stored solutions.
    pub fn len(&self) -> usize {
        self.basis.len()
    }

    /// Whether no solution is stored.
    pub fn is_empty(&self) -> bool {
        self.basis.is_empty()
    }

    /// Removes all solutions; call it when the matrix changes.
    pub fn clear(&mut self) {
        self.basis.clear();
        self.columns.clear();
    }

    /// `x ← Σ_k (v_kᵀ b) v_k`.
    ///
    /// # Panics
    /// If a length does not fit.
    #[track_caller]
    pub fn guess(&self, b: &V, x: &mut V) {
        x.fill(0.0);
        for (v, _) in &self.basis {
            x.axpby(v.dot(b), v, 1.0);
        }
    }

    /// Adds a solution, with one product with A, and removes the oldest if the window is full. A solution
    /// that is a combination of the stored ones changes nothing.
    ///
    /// # Errors
    /// [`GpuError::OutOfMemory`] if two more vectors do not fit.
    ///
    /// # Panics
    /// If a length does not fit.
    #[track_caller]
    pub fn keep(&mut self, a: &impl LinearOperator<V>, x: &V) -> Result<(), GpuError> {
        if self.window == 0 {
            return Ok(());
        }
        let (mut v, mut av) = (x.zeros_like()?, x.zeros_like()?);
        v.copy_from(x);
        let mut column = vec![0.0; self.basis.len()];
        // Orthogonalising twice is enough (Giraud, Langou, Rozložník and van den Eshof 2005).
        for _ in 0..2 {
            for ((w, aw), coefficient) in self.basis.iter().zip(&mut column) {
                let share = aw.dot(&v);
                v.axpby(-share, w, 1.0);
                *coefficient += share;
            }
        }
        a.apply(&v, &mut av);
        let (energy, known) = (v.dot(&av), column.iter().map(|c| c * c).sum::<f64>());
        if !energy.is_finite() || energy <= NOTHING_NEW * known || energy <= 0.0 {
            return Ok(());
        }
        let size = energy.sqrt();
        let (raw, raw_product) = (v, av);
        let (mut v, mut av) = (raw.zeros_like()?, raw.zeros_like()?);
        v.axpby(1.0 / size, &raw, 0.0);
        av.axpby(1.0 / size, &raw_product, 0.0);
        column.push(size);
        self.basis.push((v, av));
        self.columns.push(column);
        if self.basis.len() > self.window {
            self.forget_oldest(raw);
        }
        Ok(())
    }

    /// Removes the first solution. Without its column R has one entry below the diagonal in each column;
    /// rotations of neighbouring directions eliminate it. `spare` is work space.
    fn forget_oldest(&mut self, mut spare: V) {
        self.columns.remove(0);
        for k in 0..self.columns.len() {
            let (above, below) = (self.columns[k][k], self.columns[k][k + 1]);
            let size = above.hypot(below);
            let (c, s) = (above / size, below / size);
            for column in &mut self.columns[k..] {
                let (p, q) = (column[k], column[k + 1]);
                (column[k], column[k + 1]) = (c * p + s * q, c * q - s * p);
            }
            self.columns[k].truncate(k + 1);
            let (head, tail) = self.basis.split_at_mut(k + 1);
            if let (Some(first), Some(second)) = (head.last_mut(), tail.first_mut()) {
                for (p, q) in [(&mut first.0, &mut second.0), (&mut first.1, &mut second.1)] {
                    spare.copy_from(p);
                    p.axpby(s, q, c);
                    q.axpby(-s, &spare, c);
                }
            }
        }
        self.basis.pop();
    }
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

    /// Solutions quadratic in time: any three span all of them, also after many rotations.
    #[test]
    fn a_window_of_three_follows_a_parabola_for_ever() {
        let host = Host::new(1).unwrap();
        let a = gallery::poisson_2d(20, 15, 0.5).unwrap();
        let at = |t: f64| vector(&host, |i| (0.1 * i).sin() + t * (0.07 * i).cos() + t * t * (0.9 * i).sin());
        let mut guesses = Projection::new(3);
        for step in 0..40 {
            let x = at(0.1 * f64::from(step));
            let miss = miss(&a, &guesses, &x);
            assert!(if step < 3 { miss > 1e-6 } else { miss < 1e-8 }, "step {step}: {miss}");
            guesses.keep(&a, &x).unwrap();
        }
        assert!(guesses.len() <= 3);
    }

    #[test]
    fn the_window_holds_the_last_solutions_and_no_other() {
        let host = Host::new(1).unwrap();
        let a = gallery::poisson_2d(20, 15, 1.0).unwrap();
        let wave = |k: u32| vector(&host, move |i| (0.37 * f64::from(k) * (i + 1.0)).sin());
        let mut guesses = Projection::new(4);
        for k in 1..=9 {
            guesses.keep(&a, &wave(k)).unwrap();
            guesses.keep(&a, &wave(k)).unwrap(); // adds nothing
        }
        assert_eq!(guesses.len(), 4);
        for k in 1..=9 {
            let miss = miss(&a, &guesses, &wave(k));
            assert!(if k > 5 { miss < 1e-10 } else { miss > 0.3 }, "{k}: {miss}");
        }
        guesses.clear();
        assert!(guesses.is_empty() && miss(&a, &guesses, &wave(9)) == 1.0);
    }
}
