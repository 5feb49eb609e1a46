//! Operators linearised about uniform states, and whether they let the energy of a disturbance grow.
//!
//! In the variables `y = (√ρ v', p'/(√ρ c), (p/(γ(γ−1)))^½ s')`, with `s' = p'/p − γ ρ'/ρ`, the linear
//! equations are symmetric, and `½ ∫ |y|²` is an energy that neither waves nor diffusion increase.

use crate::testkit::{GAS, State};
use dgsuite_basis::Matrix;
use dgsuite_ops::Discretization;
use std::sync::Arc;

/// Maps disturbances of the conserved state `(ρ, ρv, ρE)` about `w` (ρ v p) to the variables `y`.
fn symmetric_variables(w: &[f64]) -> Matrix {
    let n = w.len();
    let (rho, v, p) = (w[0], &w[1..n - 1], w[n - 1]);
    let (g, g1) = (GAS.gamma, GAS.gamma - 1.0);
    let q2: f64 = v.iter().map(|v| v * v).sum();
    let density = |k: usize| if k == 0 { 1.0 } else { 0.0 };
    let pressure = |k: usize| match k {
        0 => 0.5 * g1 * q2,
        k if k == n - 1 => g1,
        k => -g1 * v[k - 1],
    };
    let (root, entropy) = (rho.sqrt(), (p / (g * g1)).sqrt());
    Matrix::from_fn(n, n, |i, k| match i {
        i if i < n - 2 && k == 0 => -root * v[i] / rho,
        i if i < n - 2 => root * if k == i + 1 { 1.0 / rho } else { 0.0 },
        i if i == n - 2 => pressure(k) / (g * p).sqrt(),
        _ => entropy * (pressure(k) / p - g * density(k) / rho),
    })
}

/// The operator about `w` in the variables `y` and in orthonormal modes, which all elements share, computed
/// by differences `(8 D(h) − 6 D(2h) + D(4h))/3` of central ones: the errors of smooth terms and of products
/// such as `δ|δ|`, which upwind fluxes have at rest, are of third order. At a kink it is the mean of both
/// sides.
///
/// The pool of threads is entered once: for boxes of a few elements that costs more than a loop.
pub(crate) fn linearised(d: &mut Discretization<f64>, w: &[f64]) -> Matrix {
    Arc::clone(d.host()).install(|| about(d, w))
}

fn about(d: &mut Discretization<f64>, w: &[f64]) -> Matrix {
    let to = symmetric_variables(w);
    let from = to.inverse().expect("variables");
    let fields = w.len();
    let mut u = vec![0.0; d.len()];
    let mut du = u.clone();
    let state = w.to_vec();
    d.project(&State(fields, move |_, _| state.clone()), 0.0, &mut u);
    let rest = d.to_canonical(&u);
    let (n, np) = (rest.len(), d.layouts().next().map_or(1, |(_, layout, _)| layout.rows));
    // `[element][field][mode]`
    let place = |j: usize, k: usize| j / (fields * np) * (fields * np) + k * np + j % np;
    let field = |j: usize| j / np % fields;
    let step = 1e-4;
    let mut matrix = Matrix::zeros(n, n);
    for j in 0..n {
        let mut rate = vec![0.0; n];
        for (at, weight) in [(1.0, 32.0), (-1.0, -32.0), (2.0, -12.0), (-2.0, 12.0), (4.0, 1.0), (-4.0, -1.0)]
        {
            let mut moved = rest.clone();
            for k in 0..fields {
                moved[place(j, k)] += at * step * from[(k, field(j))];
            }
            d.from_canonical(&moved, &mut u).expect("it fits");
            d.eval(0.0, &u, &mut du);
            for (rate, x) in rate.iter_mut().zip(d.to_canonical(&du)) {
                *rate += weight * x / (24.0 * step);
            }
        }
        for i in 0..n {
            matrix[(i, j)] = (0..fields).map(|k| to[(field(i), k)] * rate[place(i, k)]).sum();
        }
    }
    matrix
}

/// Whether the energy `|y|²` of every disturbance grows more slowly than at the rate `2 δ`: whether
/// `δ 1 − ½ (A + Aᵀ)` has a Cholesky factorisation.
pub(crate) fn grows_slower_than(a: &Matrix, delta: f64) -> bool {
    let n = a.rows();
    let mut l =
        Matrix::from_fn(n, n, |i, j| if i == j { delta } else { 0.0 } - 0.5 * (a[(i, j)] + a[(j, i)]));
    for k in 0..n {
        // NaN is not a valid pivot either.
        if !matches!(l[(k, k)].partial_cmp(&0.0), Some(std::cmp::Ordering::Greater)) {
            return false;
        }
        let pivot = l.row(k).to_vec();
        for i in k + 1..n {
            let factor = pivot[i] / pivot[k];
            for (x, p) in l.row_mut(i)[i..].iter_mut().zip(&pivot[i..]) {
                *x -= factor * p;
            }
        }
    }
    true
}
