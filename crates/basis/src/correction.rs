//! Corrections of flux reconstruction: the one-parameter family of Vincent, Castonguay, Jameson and Huynh.
//!
//! Flux reconstruction adds a correction to the divergence of the discontinuous flux `F`: a lift of its jumps
//! to the common fluxes `f*` at the faces. Its energy-stable schemes are discontinuous Galerkin schemes with
//! another lift (Allaneau & Jameson 2011; Zwanenburg & Nadarajah 2016),
//!
//! ```text
//! du = −D·F − (M + K)⁻¹ I_fᵀ W_f (f* − F·n),     K_ij = c Σ_{|α|=p} p!/α! ∂^α φ_i ∂^α φ_j ,
//! ```
//!
//! where `M` is the exact mass matrix and the derivatives of degree p are constants. `K` vanishes on
//! polynomials of lower degree. So it vanishes on `D·F` of a line or simplex, and on constants, which keeps
//! the scheme conservative. On the line the columns of the lift are the derivatives of
//! [`correction_functions`] (Vincent, Castonguay & Jameson 2011); on triangles and tetrahedra they are the
//! correction fields of Castonguay, Vincent & Jameson (2012) and Williams & Jameson (2014). Derivatives refer
//! to the coordinates of the *regular* simplex with edges of length 2, the length of the line, so that `K`
//! does not depend on the numbering of the vertices. Quadrilaterals, hexahedra and prisms are products,
//! corrected in the direction across each face.
//!
//! | parameter | scheme on the line |
//! |---|---|
//! | c = 0 | nodal discontinuous Galerkin; `g` are Radau polynomials |
//! | [`c_sd`] | spectral difference, for linear fluxes |
//! | [`c_hu`] | Huynh's g₂: discontinuous Galerkin with the mass lumped at Lobatto points |
//! | c → ∞ | the top mode is no longer corrected |
//!
//! A larger c damps the correction of the highest modes: it allows larger steps and costs some accuracy; the
//! order remains p + 1 for moderate c. On simplices the named parameters are defined by the spectrum of
//! `M⁻¹ K` on the line, since the line's values of c would be far too large there. Stability requires
//! `c > c_−`, below which `M + K` is not positive definite; see [`c_minus`].

use crate::{BasisError, Matrix, OrthonormalBasis, Polynomials, Quadrature, Shape, jacobi::legendre};

/// The lift of jumps at the faces.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Correction {
    /// Discontinuous Galerkin: `M⁻¹ I_fᵀ W_f`, with the mass matrix of the element's cubature.
    #[default]
    Dg,
    /// Flux reconstruction: `(M + K)⁻¹ I_fᵀ W_f`, with the exact mass matrix.
    Vcjh(Parameter),
}

/// The parameter c of flux reconstruction, by name or number.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Parameter {
    /// [`c_sd`] of each shape.
    SpectralDifference,
    /// [`c_hu`] of each shape.
    Huynh,
    /// A number, the same for all shapes; 0 is discontinuous Galerkin.
    C(f64),
}

impl Parameter {
    /// The value of c on a line, triangle or tetrahedron.
    ///
    /// # Errors
    /// [`BasisError::NoCorrection`] on other shapes.
    pub fn on(self, shape: Shape, order: usize) -> Result<f64, BasisError> {
        match self {
            Self::SpectralDifference => c_sd(shape, order),
            Self::Huynh => c_hu(shape, order),
            Self::C(c) => Ok(c),
        }
    }
}

/// `(2p + 1) (a_p p!)² / 2` with `a_p p! = (2p)! / (2^p p!)`, the p-th derivative of the Legendre polynomial:
/// the square of the p-th derivative of the orthonormal mode of degree p.
fn top_derivative_squared(order: usize) -> f64 {
    let slope: f64 = (1..=order).map(|k| (2 * k - 1) as f64).product();
    (2 * order + 1) as f64 * slope * slope / 2.0
}

/// The parameter of the spectral-difference scheme, on the line `2p / ((2p+1)(p+1)(a_p p!)²)` (Vincent,
/// Castonguay & Jameson 2011). On triangles and tetrahedra, the c for which `M⁻¹ K` is as large as on the
/// line, `p/(p+1)`.
///
/// # Errors
/// [`BasisError::NoCorrection`] unless the shape is a line, a triangle or a tetrahedron.
pub fn c_sd(shape: Shape, order: usize) -> Result<f64, BasisError> {
    with_eta(shape, order, order as f64 / (order + 1) as f64)
}

/// The parameter of Huynh's g₂ scheme, on the line `2(p+1) / ((2p+1) p (a_p p!)²)` (Vincent, Castonguay &
/// Jameson 2011). On triangles and tetrahedra, the c for which `M⁻¹ K` is as large as on the line, `(p+1)/p`.
///
/// # Errors
/// [`BasisError::NoCorrection`] unless the shape is a line, a triangle or a tetrahedron.
pub fn c_hu(shape: Shape, order: usize) -> Result<f64, BasisError> {
    with_eta(shape, order, (order + 1) as f64 / order.max(1) as f64)
}

/// The c for which the largest eigenvalue of `M⁻¹ K` is `eta`; 0 for order 0, which needs no correction.
fn with_eta(shape: Shape, order: usize, eta: f64) -> Result<f64, BasisError> {
    let least = c_minus(shape, order)?;
    Ok(if order == 0 { 0.0 } else { -eta * least })
}

/// The bound that c must exceed on a shape, `−1 / λ_max(M⁻¹ K/c)`: on the line `−2 / ((2p+1)(a_p p!)²)`
/// (Vincent, Castonguay & Jameson 2011).
///
/// # Errors
/// [`BasisError::NoCorrection`] unless the shape is a line, a triangle or a tetrahedron.
pub fn c_minus(shape: Shape, order: usize) -> Result<f64, BasisError> {
    let largest =
        top_form(shape, order)?.and_then(|form| form.singular_values()?.into_iter().reduce(f64::max));
    Ok(largest.map_or(f64::NEG_INFINITY, |largest| -1.0 / largest))
}

/// The correction functions of the line at `x`, each with its derivative: `[(g_L, g_L′), (g_R, g_R′)]`.
///
/// ```text
/// g_L = (−1)^p/2 [L_p − (η L_{p−1} + L_{p+1})/(1+η)],   g_R(x) = g_L(−x),   η = c (2p+1)(a_p p!)²/2
/// ```
///
/// Polynomials of degree p + 1 with `g_L(−1) = 1`, `g_L(1) = 0`. Source: Vincent, Castonguay & Jameson
/// (2011).
#[must_use]
pub fn correction_functions(order: usize, c: f64, x: f64) -> [(f64, f64); 2] {
    let eta = if order == 0 { 0.0 } else { c * top_derivative_squared(order) };
    let below = order.saturating_sub(1);
    let combine = |f: &dyn Fn(usize) -> f64, sign: f64| {
        0.5 * (f(order) + sign * (eta * f(below) + f(order + 1)) / (1.0 + eta))
    };
    let slope = |n: usize| crate::jacobi::jacobi_derivative(n, 0, 0, x);
    let value = |n: usize| legendre(n, x);
    let flip = if order.is_multiple_of(2) { 1.0 } else { -1.0 };
    [
        (flip * combine(&value, -1.0), flip * combine(&slope, -1.0)),
        (combine(&value, 1.0), combine(&slope, 1.0)),
    ]
}

/// `(1 + M⁻¹ K)⁻¹` in the orthonormal modes of total degree `order`; `None` where that is the identity.
///
/// # Errors
/// [`BasisError::NoCorrection`] unless the shape is a line, a triangle or a tetrahedron;
/// [`BasisError::UnstableCorrection`] for a c that is not finite or not above [`c_minus`].
pub(crate) fn filter(shape: Shape, order: usize, parameter: Parameter) -> Result<Option<Matrix>, BasisError> {
    let c = parameter.on(shape, order)?;
    let least = c_minus(shape, order)?;
    // Close to the bound the inverse is dominated by rounding.
    if !c.is_finite() || 1.0 - c / least < 1e-10 {
        return Err(BasisError::UnstableCorrection { shape, order, c, least });
    }
    let Some(form) = top_form(shape, order)?.filter(|_| c != 0.0) else { return Ok(None) };
    let top = Matrix::identity(form.rows()).add_scaled(c, &form).inverse()?;
    let n = OrthonormalBasis::new(shape, order, Polynomials::Total).len();
    let first = n - form.rows();
    Ok(Some(Matrix::from_fn(n, n, |i, j| {
        if i >= first && j >= first {
            top[(i - first, j - first)]
        } else if i == j {
            1.0
        } else {
            0.0
        }
    })))
}

/// The regular simplex with edges of length 2: `∂r_d/∂x_i`, `[d × i]`, and its measure.
fn regular(shape: Shape) -> Result<(Matrix, f64), BasisError> {
    // Half the edges from vertex 0, as columns.
    let root = f64::sqrt;
    let edges: &[f64] = match shape {
        Shape::Line => &[1.0],
        Shape::Triangle => &[1.0, 0.5, 0.0, root(3.0) / 2.0],
        Shape::Tetrahedron => {
            &[1.0, 0.5, 0.5, 0.0, root(3.0) / 2.0, root(3.0) / 6.0, 0.0, 0.0, root(2.0 / 3.0)]
        }
        _ => return Err(BasisError::NoCorrection { shape }),
    };
    let dim = shape.dim();
    let determinant: f64 = (0..dim).map(|d| edges[d * (dim + 1)]).product();
    let edges = Matrix::from_row_major(dim, dim, edges.to_vec());
    Ok((edges.inverse()?, determinant * shape.measure()))
}

/// `K/c` on the modes of degree `order`, orthonormal on the regular simplex; `None` for order 0.
fn top_form(shape: Shape, order: usize) -> Result<Option<Matrix>, BasisError> {
    let (slopes, measure) = regular(shape)?;
    if order == 0 {
        return Ok(None);
    }
    let dim = shape.dim();
    let modes = OrthonormalBasis::new(shape, order, Polynomials::Total);
    let n = modes.len();
    let rule = Quadrature::new(shape, 2 * order);
    let tested = modes.eval(&rule.points).transpose().scale_cols(&rule.weights);
    let gradient = modes.grad(&rule.points);
    let along: Vec<Matrix> = (0..dim)
        .map(|i| {
            let zero = Matrix::zeros(rule.len(), n);
            let slope = (0..dim).fold(zero, |sum, d| sum.add_scaled(slopes[(d, i)], &gradient[d]));
            tested.mul(&slope).transpose()
        })
        .collect();
    // Coefficients of mode 0 in ∂^α of every mode, for all α of one degree, with the multinomials |α|!/α!.
    let mut mean = vec![0.0; n];
    mean[0] = 1.0;
    let mut level: Vec<([usize; 3], f64, Vec<f64>)> = vec![([0; 3], 1.0, mean)];
    for _ in 0..order {
        let mut next: Vec<([usize; 3], f64, Vec<f64>)> = Vec::new();
        for (alpha, count, row) in &level {
            for (i, slope) in along.iter().enumerate() {
                let mut beta = *alpha;
                beta[i] += 1;
                match next.iter_mut().find(|entry| entry.0 == beta) {
                    // All orders of differentiation by β give the same derivative.
                    Some(entry) => entry.1 += count,
                    None => next.push((beta, *count, slope.mul_vec(row))),
                }
            }
        }
        level = next;
    }
    let first = (0..n).find(|&m| modes.degrees()[m] == order).unwrap_or(n);
    let entry = |i: usize, j: usize| -> f64 {
        level.iter().map(|(_, count, row)| count * row[first + i] * row[first + j]).sum()
    };
    Ok(Some(Matrix::from_fn(n - first, n - first, entry).scaled(1.0 / measure)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sd(p: usize) -> f64 {
        c_sd(Shape::Line, p).unwrap()
    }

    fn hu(p: usize) -> f64 {
        c_hu(Shape::Line, p).unwrap()
    }

    #[test]
    fn parameters_are_the_published_ones() {
        // Vincent, Castonguay & Jameson (2011): g₂ and spectral difference by η = (p+1)/p and p/(p+1).
        for (p, sd, hu) in [(2, 4.0 / 135.0, 1.0 / 15.0), (3, 1.0 / 1050.0, 8.0 / 4725.0)] {
            let found = [c_sd(Shape::Line, p).unwrap(), c_hu(Shape::Line, p).unwrap()];
            assert!((found[0] - sd).abs() < 1e-15 && (found[1] - hu).abs() < 1e-15, "{p}");
            let closed = -1.0 / top_derivative_squared(p);
            assert!((c_minus(Shape::Line, p).unwrap() / closed - 1.0).abs() < 1e-12);
        }
    }

    #[test]
    fn correction_functions_take_one_and_zero_at_the_ends() {
        for p in 0..=6 {
            for c in [0.0, sd(p), hu(p), 5.0] {
                let at = |x: f64| correction_functions(p, c, x);
                assert!((at(-1.0)[0].0 - 1.0).abs() < 1e-13 && at(1.0)[0].0.abs() < 1e-13, "{p} {c}");
                for x in [-0.7, 0.1, 0.9] {
                    let ([left, _], [_, right]) = (at(x), at(-x));
                    assert!((left.0 - right.0).abs() < 1e-13 && (left.1 + right.1).abs() < 1e-11, "{p} {c}");
                    let h = 1e-5;
                    let slope = (at(x + h)[0].0 - at(x - h)[0].0) / (2.0 * h);
                    assert!((slope - left.1).abs() < 1e-6, "{p} {c}");
                }
            }
        }
    }

    #[test]
    fn special_parameters_give_their_polynomials() {
        for p in 1..=6 {
            // c = 0: the right Radau polynomial, p zeros and the end among the points of its Gauss rule.
            let radau = |x: f64| 0.5 * (legendre(p, x) - legendre(p + 1, x)) * (-1f64).powi(p as i32);
            // Spectral difference: p zeros at the zeros of L_p; g₂: zero slope but at the Lobatto point −1.
            for x in [-0.9, -0.3, 0.4] {
                assert!((correction_functions(p, 0.0, x)[0].0 - radau(x)).abs() < 1e-14);
            }
            for x in crate::jacobi::gauss_legendre(p).0 {
                assert!(correction_functions(p, sd(p), x)[0].0.abs() < 1e-13, "{p}");
            }
            for &x in &crate::jacobi::gauss_lobatto(p + 1).0[1..] {
                assert!(correction_functions(p, hu(p), x)[0].1.abs() < 1e-11, "{p}");
            }
        }
    }

    #[test]
    fn the_form_is_that_of_the_line_and_does_not_know_the_numbering() {
        for p in 1..=8 {
            let line = top_form(Shape::Line, p).unwrap().unwrap();
            assert!((line[(0, 0)] / top_derivative_squared(p) - 1.0).abs() < 1e-12, "{p}");
        }
        // Values of K/c for the p-th power of each barycentric coordinate, and of products of two.
        for (shape, p) in [(Shape::Triangle, 3), (Shape::Tetrahedron, 2)] {
            let form = top_form(shape, p).unwrap().unwrap();
            let basis = OrthonormalBasis::new(shape, p, Polynomials::Total);
            let rule = Quadrature::new(shape, 2 * p);
            let tested = basis.eval(&rule.points).transpose().scale_cols(&rule.weights);
            let first = basis.len() - form.rows();
            let barycentric = |x: &[f64; 3], v: usize| {
                let sum: f64 = (0..shape.dim()).map(|d| 0.5 * (1.0 + x[d])).sum();
                if v == 0 { 1.0 - sum } else { 0.5 * (1.0 + x[v - 1]) }
            };
            let energy = |f: &dyn Fn(&[f64; 3]) -> f64| {
                let modes = tested.mul_vec(&rule.points.iter().map(f).collect::<Vec<_>>());
                let top = &modes[first..];
                form.mul_vec(top).iter().zip(top).map(|(a, b)| a * b).sum::<f64>()
            };
            let n = shape.n_vertices();
            let of =
                |v: usize| energy(&|x| barycentric(x, v).powi(p as i32 - 1) * barycentric(x, (v + 1) % n));
            for v in 1..n {
                assert!((of(v) / of(0) - 1.0).abs() < 1e-11, "{shape}");
            }
        }
    }

    #[test]
    fn lower_degrees_pass_and_unstable_parameters_do_not() {
        for shape in [Shape::Line, Shape::Triangle, Shape::Tetrahedron] {
            for p in 0..=4usize {
                let below = OrthonormalBasis::new(shape, p.saturating_sub(1), Polynomials::Total).len();
                let n = OrthonormalBasis::new(shape, p, Polynomials::Total).len();
                for c in [Parameter::C(0.0), Parameter::SpectralDifference, Parameter::Huynh] {
                    let q = filter(shape, p, c).unwrap().unwrap_or_else(|| Matrix::identity(n));
                    for i in 0..below {
                        assert!(
                            (0..n)
                                .all(|j| q[(i, j)] == f64::from(u8::from(i == j)) && q[(j, i)] == q[(i, j)])
                        );
                    }
                }
                let least = c_minus(shape, p).unwrap();
                if p > 0 {
                    assert!(filter(shape, p, Parameter::C(0.9 * least)).is_ok());
                    for c in [least, 1.1 * least] {
                        let error = filter(shape, p, Parameter::C(c)).unwrap_err();
                        assert!(matches!(error, BasisError::UnstableCorrection { .. }), "{error}");
                    }
                }
                assert!(filter(shape, p, Parameter::C(f64::NAN)).is_err());
            }
        }
        assert_eq!(c_minus(Shape::Pyramid, 2), Err(BasisError::NoCorrection { shape: Shape::Pyramid }));
    }
}
