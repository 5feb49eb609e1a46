//! Polynomials on products of simplices by Bernstein coefficients, which enclose their values; their halves.
//!
//! A factor of dimension `m` has the barycentric coordinates `λ₀ … λ_m`, of which `λ₁ … λ_m` are coordinates
//! of the product. The Bernstein polynomials of degree `n` on it are `n!/(α₀! … α_m!) Π λ_i^α_i` with
//! `Σ α_i = n`; those of the product are their products. They are positive and add up to one, so that a
//! polynomial lies between its smallest and its largest coefficient; the coefficients at the vertices are its
//! values there.
//!
//! Source: Farouki (2012), "The Bernstein polynomial basis: a centennial retrospective".

/// Bernstein polynomials of one degree on each factor.
#[derive(Clone, Debug)]
pub(crate) struct Bernstein {
    /// Dimension and degree of each factor.
    factors: Vec<(usize, usize)>,
    /// Exponents of the coordinates of the product, for each polynomial.
    exponents: Vec<[usize; 3]>,
    /// The factors `n!/(α₀! … α_m!)`, multiplied over the factors of the product.
    weights: Vec<f64>,
}

impl Bernstein {
    /// The polynomials on factors of these dimensions (together at most 3) with these degrees.
    pub(crate) fn new(dimensions: &[usize], degrees: &[usize]) -> Self {
        let factors: Vec<(usize, usize)> =
            dimensions.iter().zip(degrees).map(|(&dim, &degree)| (dim, degree)).collect();
        let mut all = vec![([0; 3], 1.0)];
        let mut first = 0;
        for &(dim, degree) in &factors {
            let own = exponents(dim, degree);
            let join = |slow: &[usize; 3], weight: f64| {
                let (base, mut all) = (all.clone(), Vec::new());
                for (fast, factor) in base {
                    let sum: [usize; 3] = std::array::from_fn(|d| {
                        if (first..first + dim).contains(&d) { slow[d - first] } else { fast[d] }
                    });
                    all.push((sum, weight * factor));
                }
                all
            };
            all = own.iter().flat_map(|alpha| join(alpha, multinomial(degree, &alpha[..dim]))).collect();
            first += dim;
        }
        let (exponents, weights) = all.into_iter().unzip();
        Self { factors, exponents, weights }
    }

    /// Dimension and degree of each factor.
    pub(crate) fn factors(&self) -> &[(usize, usize)] {
        &self.factors
    }

    /// Number of polynomials.
    pub(crate) const fn len(&self) -> usize {
        self.exponents.len()
    }

    /// Exponents of the coordinates, for each polynomial.
    pub(crate) fn exponents(&self) -> &[[usize; 3]] {
        &self.exponents
    }

    /// The multinomial coefficients of the polynomials.
    pub(crate) fn weights(&self) -> &[f64] {
        &self.weights
    }

    /// The barycentric exponent of vertex `v` of factor `f`, whose coordinates start at `first`.
    fn exponent(&self, f: usize, first: usize, v: usize, alpha: &[usize; 3]) -> usize {
        let (dim, degree) = self.factors[f];
        match v {
            0 => degree - alpha[first..first + dim].iter().sum::<usize>(),
            v => alpha[first + v - 1],
        }
    }

    /// Values of all polynomials at a point of the product.
    pub(crate) fn eval(&self, lambda: [f64; 3]) -> Vec<f64> {
        let value = |(alpha, weight): (&[usize; 3], &f64)| {
            let (mut value, mut first) = (*weight, 0);
            for (f, &(dim, _)) in self.factors.iter().enumerate() {
                let own = &lambda[first..first + dim];
                let base = 1.0 - own.iter().sum::<f64>();
                for v in 0..=dim {
                    let at = if v == 0 { base } else { own[v - 1] };
                    value *= at.powi(self.exponent(f, first, v, alpha) as i32);
                }
                first += dim;
            }
            value
        };
        self.exponents.iter().zip(&self.weights).map(value).collect()
    }

    /// Points, as many as polynomials, whose values determine the coefficients; none is a vertex of a line.
    pub(crate) fn points(&self) -> Vec<[f64; 3]> {
        let place = |alpha: &[usize; 3]| {
            let (mut x, mut first) = ([0.0; 3], 0);
            for &(dim, degree) in &self.factors {
                (first..first + dim).for_each(|d| {
                    x[d] = match (dim, degree) {
                        // The roots of a Chebyshev polynomial.
                        (1, n) => {
                            let angle = (2 * alpha[d] + 1) as f64 / (2 * n + 2) as f64;
                            0.5 - 0.5 * (std::f64::consts::PI * angle).cos()
                        }
                        (m, 0) => 1.0 / (m + 1) as f64,
                        (_, n) => alpha[d] as f64 / n as f64,
                    };
                });
                first += dim;
            }
            x
        };
        self.exponents.iter().map(place).collect()
    }

    /// The vertices of the product: the position of the coefficient, and the vertex of each factor.
    pub(crate) fn vertices(&self) -> Vec<(usize, [usize; 3])> {
        let mut out = Vec::new();
        for (i, alpha) in self.exponents.iter().enumerate() {
            let (mut vertex, mut first, mut whole) = ([0; 3], 0, true);
            for (f, &(dim, degree)) in self.factors.iter().enumerate() {
                match (0..=dim).find(|&v| self.exponent(f, first, v, alpha) == degree) {
                    // Every coefficient of degree 0 is that of all vertices; the first one stands for them.
                    Some(v) => vertex[f] = v,
                    None => whole = false,
                }
                first += dim;
            }
            if whole {
                out.push((i, vertex));
            }
        }
        out
    }

    /// The edges of all factors along which the product can be halved.
    pub(crate) fn edges(&self) -> Vec<Edge> {
        let find = |alpha: [usize; 3]| self.exponents.iter().position(|&x| x == alpha);
        let (mut edges, mut first) = (Vec::new(), 0);
        for (factor, &(dim, _)) in self.factors.iter().enumerate() {
            for (a, b) in (0..=dim).flat_map(|a| (a + 1..=dim).map(move |b| (a, b))) {
                let row = |alpha: &[usize; 3]| -> Option<Vec<usize>> {
                    (self.exponent(factor, first, b, alpha) == 0).then(|| {
                        let length = self.exponent(factor, first, a, alpha);
                        let step = |j: usize| {
                            let mut next = *alpha;
                            next[first + b - 1] += j;
                            if a > 0 {
                                next[first + a - 1] -= j;
                            }
                            find(next)
                        };
                        (0..=length).filter_map(step).collect()
                    })
                };
                let rows = self.exponents.iter().filter_map(row).collect();
                edges.push(Edge { factor, ends: [a, b], rows });
            }
            first += dim;
        }
        edges
    }
}

/// An edge of a factor, with the coefficients along it.
///
/// Along an edge from `a` to `b` the coefficients whose other exponents agree are a polynomial of one
/// variable, so that de Casteljau's algorithm halves each of these rows by itself.
#[derive(Clone, Debug)]
pub(crate) struct Edge {
    /// The factor.
    pub(crate) factor: usize,
    /// Its vertices at the ends.
    pub(crate) ends: [usize; 2],
    /// Positions of the coefficients, each row from the first end to the second.
    rows: Vec<Vec<usize>>,
}

impl Edge {
    /// The largest second difference along the edge: zero if the polynomial is linear in its direction.
    pub(crate) fn bend(&self, c: &[f64]) -> f64 {
        let second = |w: &[usize]| (c[w[0]] - 2.0 * c[w[1]] + c[w[2]]).abs();
        self.rows.iter().flat_map(|row| row.windows(3)).map(second).fold(0.0, f64::max)
    }

    /// The coefficients on the halves at the first and at the second end.
    pub(crate) fn halves(&self, c: &[f64]) -> [Vec<f64>; 2] {
        let mut halves = [c.to_vec(), c.to_vec()];
        let mut now = Vec::new();
        for row in &self.rows {
            now.clear();
            now.extend(row.iter().map(|&i| c[i]));
            let last = row.len() - 1;
            for (level, &left) in row.iter().enumerate() {
                halves[0][left] = now[0];
                halves[1][row[last - level]] = now[last - level];
                for j in 0..last - level {
                    now[j] = 0.5 * (now[j] + now[j + 1]);
                }
            }
        }
        halves
    }
}

/// All exponents `[α₁ … α_m]` with a sum of at most `degree`, the first one fastest.
fn exponents(dim: usize, degree: usize) -> Vec<[usize; 3]> {
    let end = |d: usize| if d < dim { degree } else { 0 };
    let mut out = Vec::new();
    for k in 0..=end(2) {
        for j in 0..=end(1).saturating_sub(k) {
            for i in 0..=end(0).saturating_sub(j + k) {
                out.push([i, j, k]);
            }
        }
    }
    out
}

/// `n!/(α₀! α₁! …)` with `α₀ = n − Σ α_i`.
fn multinomial(n: usize, alpha: &[usize]) -> f64 {
    let (mut out, mut left) = (1.0, n);
    for &a in alpha {
        for i in 0..a {
            out = out * (left - i) as f64 / (i + 1) as f64;
        }
        left -= a;
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    const DOMAINS: [(&[usize], &[usize]); 5] =
        [(&[2], &[4]), (&[3], &[3]), (&[1, 1], &[3, 2]), (&[2, 1], &[2, 3]), (&[1, 1, 1], &[2, 3, 1])];

    /// Numbers between -1 and 1.
    fn noise(n: usize) -> Vec<f64> {
        (0..n).map(|i| (1e4 * ((i + 1) as f64 * 0.618).sin()).fract()).collect()
    }

    fn value(basis: &Bernstein, c: &[f64], x: [f64; 3]) -> f64 {
        basis.eval(x).iter().zip(c).map(|(b, c)| b * c).sum()
    }

    #[test]
    fn polynomials_add_up_to_one_and_vertices_have_their_coefficient() {
        for (dimensions, degrees) in DOMAINS {
            let basis = Bernstein::new(dimensions, degrees);
            let sum: f64 = basis.eval([0.2, 0.3, 0.1]).iter().sum();
            assert!((sum - 1.0).abs() < 1e-14, "{dimensions:?}: {sum}");
            let c = noise(basis.len());
            let vertices = basis.vertices();
            assert_eq!(vertices.len(), dimensions.iter().map(|m| m + 1).product::<usize>());
            for (i, vertex) in vertices {
                let (mut x, mut first) = ([0.0; 3], 0);
                for (f, &dim) in dimensions.iter().enumerate() {
                    if vertex[f] > 0 {
                        x[first + vertex[f] - 1] = 1.0;
                    }
                    first += dim;
                }
                assert!((value(&basis, &c, x) - c[i]).abs() < 1e-14, "{dimensions:?} {x:?}");
            }
        }
    }

    #[test]
    fn halves_are_the_same_polynomial() {
        for (dimensions, degrees) in DOMAINS {
            let basis = Bernstein::new(dimensions, degrees);
            let c = noise(basis.len());
            for edge in basis.edges() {
                let halves = edge.halves(&c);
                let first: usize = dimensions[..edge.factor].iter().sum();
                let dim = dimensions[edge.factor];
                let inside = [0.25, 0.3, 0.15];
                for (half, new) in halves.iter().zip([1, 0]) {
                    // The vertex that moves to the middle of the edge shares its coordinate with the other.
                    let mut lambda: Vec<f64> = vec![1.0 - inside[first..first + dim].iter().sum::<f64>()];
                    lambda.extend(&inside[first..first + dim]);
                    let (moved, kept) = (edge.ends[new], edge.ends[1 - new]);
                    lambda[kept] += 0.5 * lambda[moved];
                    lambda[moved] *= 0.5;
                    let mut x = inside;
                    x[first..first + dim].copy_from_slice(&lambda[1..]);
                    let (a, b) = (value(&basis, half, inside), value(&basis, &c, x));
                    assert!((a - b).abs() < 1e-13, "{dimensions:?} {:?}: {a} {b}", edge.ends);
                }
            }
        }
    }
}
