//! The Butcher tableau of a scheme, computed from its stages.

use crate::scheme::{Base, Mean, Scheme};

/// The tableau `u_i = u₀ + dt Σ_j a_ij R(t + c_j dt, u_j)`, `u = u₀ + dt Σ_i b_i R(t + c_i dt, u_i)`.
#[derive(Clone, Debug, PartialEq)]
pub struct Tableau {
    /// `a[i][j]`, strictly lower triangular.
    pub a: Vec<Vec<f64>>,
    /// Weights of the quadrature in time.
    pub b: Vec<f64>,
    /// Times of the stages, as fractions of the step: the row sums of `a`.
    pub c: Vec<f64>,
}

/// A vector of a step, as `start u₀ + dt Σ_j k_j R_j`.
#[derive(Clone)]
pub(super) struct Combination {
    pub(super) start: f64,
    pub(super) k: Vec<f64>,
}

/// The vectors of a step as combinations.
pub(super) struct Symbols {
    /// The states at the start of the stages.
    pub(super) inputs: Vec<Combination>,
    /// Means of states, in the order in which they are computed.
    pub(super) means: Vec<Combination>,
    /// The state at the end of the step.
    pub(super) result: Combination,
}

impl Combination {
    /// `Σ factor × combination`.
    pub(super) fn of(terms: &[(f64, &Self)]) -> Self {
        let k = (0..terms[0].1.k.len()).map(|j| terms.iter().map(|(f, x)| f * x.k[j]).sum()).collect();
        Self { start: terms.iter().map(|(f, x)| f * x.start).sum(), k }
    }
}

impl Scheme {
    /// The vectors of a step, computed by running its stages on symbols.
    pub(super) fn symbols(self) -> Symbols {
        let n = self.n_stages();
        let zero = Combination { start: 0.0, k: vec![0.0; n] };
        let start = Combination { start: 1.0, ..zero.clone() };
        let (mut reg, mut sum, mut u) = (zero.clone(), zero.clone(), start.clone());
        let (mut inputs, mut means) = (Vec::with_capacity(n), Vec::<Combination>::new());
        for (i, row) in self.rows().iter().enumerate() {
            let mut slope = zero.clone();
            slope.k[i] = 1.0;
            reg = Combination::of(&[(row.a, &reg), (1.0, &slope)]);
            let base = match row.base {
                Base::Sum => &sum,
                Base::Mean => means.last().unwrap_or(&zero),
                Base::None | Base::Start => &start,
            };
            let next = Combination::of(&[(row.b, base), (1.0 - row.b, &u), (row.c, &reg)]);
            if let Some(s) = row.sum {
                sum = Combination::of(&[(s.p, &sum), (s.q, &u), (s.d, &reg)]);
            }
            if let Some(Mean { m, q, s }) = row.mean {
                means.push(Combination::of(&[(m, means.last().unwrap_or(&zero)), (q, &u), (s, &start)]));
            }
            inputs.push(u);
            u = next;
        }
        Symbols { inputs, means, result: u }
    }

    /// The Butcher tableau, derived from the stages, so that it agrees with them up to rounding.
    pub fn tableau(self) -> Tableau {
        let Symbols { inputs, result, .. } = self.symbols();
        let a: Vec<Vec<f64>> = inputs.into_iter().map(|input| input.k).collect();
        let c = a.iter().map(|row| row.iter().sum()).collect();
        Tableau { a, b: result.k, c }
    }
}

impl Tableau {
    /// Coefficients of the stability function `R(z) = 1 + Σ_k z^k bᵀ A^{k−1} 1`, lowest power first.
    pub fn stability_polynomial(&self) -> Vec<f64> {
        let n = self.b.len();
        let mut power = vec![1.0; n];
        let mut coefficients = vec![1.0];
        for _ in 0..n {
            coefficients.push(self.b.iter().zip(&power).map(|(b, v)| b * v).sum());
            power = self.a.iter().map(|row| row.iter().zip(&power).map(|(a, v)| a * v).sum()).collect();
        }
        coefficients
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(x: f64, y: f64) -> bool {
        (x - y).abs() < 4e-15
    }

    fn assert_tableau(scheme: Scheme, a: &[&[f64]], b: &[f64], c: &[f64]) {
        let t = scheme.tableau();
        for (i, row) in a.iter().enumerate() {
            for (j, &entry) in row.iter().enumerate() {
                assert!(close(t.a[i][j], entry), "{scheme} a[{i}][{j}] = {} not {entry}", t.a[i][j]);
            }
        }
        assert!(t.b.iter().zip(b).all(|(x, y)| close(*x, *y)), "{scheme} b = {:?}", t.b);
        assert!(t.c.iter().zip(c).all(|(x, y)| close(*x, *y)), "{scheme} c = {:?}", t.c);
    }

    #[test]
    fn classical_schemes_have_their_printed_tableaux() {
        assert_tableau(Scheme::Midpoint, &[&[0.0, 0.0], &[0.5, 0.0]], &[0.0, 1.0], &[0.0, 0.5]);
        for trapezoidal in [Scheme::Heun, Scheme::SspRk22] {
            assert_tableau(trapezoidal, &[&[0.0, 0.0], &[1.0, 0.0]], &[0.5, 0.5], &[0.0, 1.0]);
        }
        assert_tableau(
            Scheme::Rk4,
            &[&[0.0; 4], &[0.5, 0.0, 0.0, 0.0], &[0.0, 0.5, 0.0, 0.0], &[0.0, 0.0, 1.0, 0.0]],
            &[1.0 / 6.0, 1.0 / 3.0, 1.0 / 3.0, 1.0 / 6.0],
            &[0.0, 0.5, 0.5, 1.0],
        );
        assert_tableau(
            Scheme::SspRk33,
            &[&[0.0; 3], &[1.0, 0.0, 0.0], &[0.25, 0.25, 0.0]],
            &[1.0 / 6.0, 1.0 / 6.0, 2.0 / 3.0],
            &[0.0, 1.0, 0.5],
        );
        assert_tableau(
            Scheme::SspRk43,
            &[&[0.0; 4], &[0.5, 0.0, 0.0, 0.0], &[0.5, 0.5, 0.0, 0.0], &[1.0 / 6.0; 3]],
            &[1.0 / 6.0, 1.0 / 6.0, 1.0 / 6.0, 0.5],
            &[0.0, 0.5, 1.0, 0.5],
        );
    }

    /// Printed with the coefficients: Carpenter and Kennedy (1994), the column c.
    #[test]
    fn carpenter_kennedy_has_its_printed_times() {
        let c = [
            0.0,
            1432997174477.0 / 9575080441755.0,
            2526269341429.0 / 6820363962896.0,
            2006345519317.0 / 3224310063776.0,
            2802321613138.0 / 2924317926251.0,
        ];
        let t = Scheme::Lserk54.tableau();
        assert!(t.c.iter().zip(c).all(|(x, y)| close(*x, y)), "{:?}", t.c);
    }

    /// The Shu–Osher form as printed by Spiteri and Ruuth, run on separate symbols.
    #[test]
    fn spiteri_ruuth_equals_its_printed_form() {
        let unit = |i: usize| (0..5).map(|j| if i == j { 1.0 } else { 0.0 }).collect::<Vec<f64>>();
        let mean = |terms: &[(f64, &Vec<f64>)]| -> Vec<f64> {
            (0..5).map(|j| terms.iter().map(|(f, x)| f * x[j]).sum()).collect()
        };
        let k: Vec<Vec<f64>> = (0..5).map(unit).collect();
        let u1 = mean(&[(0.391752226571890, &k[0])]);
        let u2 = mean(&[(0.555629506348765, &u1), (0.368410593050371, &k[1])]);
        let u3 = mean(&[(0.379898148511597, &u2), (0.251891774271694, &k[2])]);
        let u4 = mean(&[(0.821920045606868, &u3), (0.544974750228521, &k[3])]);
        let u5 = mean(&[
            (0.517231671970585, &u2),
            (0.096059710526147, &u3),
            (0.063692468666290, &k[3]),
            (0.386708617503269, &u4),
            (0.226007483236906, &k[4]),
        ]);
        let a = [vec![0.0; 5], u1, u2, u3, u4];
        let c: Vec<f64> = a.iter().map(|row| row.iter().sum()).collect();
        let rows: Vec<&[f64]> = a.iter().map(Vec::as_slice).collect();
        assert_tableau(Scheme::SspRk54, &rows, &u5, &c);
    }

    /// The low-storage form as printed by Ketcheson (2008), run on separate symbols.
    #[test]
    fn ketcheson_equals_its_printed_form() {
        let unit = |i: usize| (0..10).map(|j| if i == j { 1.0 } else { 0.0 }).collect::<Vec<f64>>();
        let mean = |terms: &[(f64, &Vec<f64>)]| -> Vec<f64> {
            (0..10).map(|j| terms.iter().map(|(f, x)| f * x[j]).sum()).collect()
        };
        let (mut q1, mut q2, mut a) = (vec![0.0; 10], vec![0.0; 10], Vec::new());
        for i in 0..9 {
            a.push(q1.clone());
            q1 = mean(&[(1.0, &q1), (1.0 / 6.0, &unit(i))]);
            if i == 4 {
                q2 = mean(&[(1.0 / 25.0, &q2), (9.0 / 25.0, &q1)]);
                q1 = mean(&[(15.0, &q2), (-5.0, &q1)]);
            }
        }
        a.push(q1.clone());
        let b = mean(&[(1.0, &q2), (0.6, &q1), (0.1, &unit(9))]);
        let c: Vec<f64> = a.iter().map(|row| row.iter().sum()).collect();
        let rows: Vec<&[f64]> = a.iter().map(Vec::as_slice).collect();
        assert_tableau(Scheme::SspRk104, &rows, &b, &c);
    }

    /// Butcher's order conditions up to the scheme's order (Hairer, Nørsett, Wanner 1993, table II.2.1).
    #[test]
    fn order_conditions_hold() {
        for scheme in Scheme::ALL {
            let Tableau { a, b, c } = scheme.tableau();
            let n = b.len();
            let ac: Vec<f64> = (0..n).map(|i| (0..n).map(|j| a[i][j] * c[j]).sum()).collect();
            let acc: Vec<f64> = (0..n).map(|i| (0..n).map(|j| a[i][j] * c[j] * c[j]).sum()).collect();
            let aac: Vec<f64> = (0..n).map(|i| (0..n).map(|j| a[i][j] * ac[j]).sum()).collect();
            let weigh = |x: &dyn Fn(usize) -> f64| (0..n).map(|i| b[i] * x(i)).sum::<f64>();
            let conditions = [
                (1, weigh(&|_| 1.0), 1.0),
                (2, weigh(&|i| c[i]), 1.0 / 2.0),
                (3, weigh(&|i| c[i] * c[i]), 1.0 / 3.0),
                (3, weigh(&|i| ac[i]), 1.0 / 6.0),
                (4, weigh(&|i| c[i].powi(3)), 1.0 / 4.0),
                (4, weigh(&|i| c[i] * ac[i]), 1.0 / 8.0),
                (4, weigh(&|i| acc[i]), 1.0 / 12.0),
                (4, weigh(&|i| aac[i]), 1.0 / 24.0),
            ];
            for (order, sum, value) in conditions.into_iter().filter(|x| x.0 <= scheme.order()) {
                assert!(close(sum, value), "{scheme}, order {order}: {sum} not {value}");
            }
        }
    }
}
