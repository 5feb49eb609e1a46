//! The geometry of curved triangles and tetrahedra of order 2 as derivatives of the map at one point.
//!
//! If x(r) is a polynomial of degree 2, `∂x/∂r_d (r) = ∂x/∂r_d (c) + Σ_e ∂²x/∂r_d∂r_e (r − c)_e`. These are
//! 10 numbers for a triangle and 27 for a tetrahedron, whereas metric terms and normals at all points are 51
//! numbers for a triangle at p = 2 and several hundred for a tetrahedron. `simplex.cu` computes the latter
//! from the former, see `quadratic.cuh`.

use crate::lanes::simd::PackScalar;
use crate::space::geometry::GeometryBasis;
use dgsuite_basis::{ReferenceElement, Shape};

/// The order of the geometry.
pub(crate) const ORDER: usize = 2;

/// Whether elements of a shape have such a record.
pub(crate) const fn has_map(shape: Shape) -> bool {
    matches!(shape, Shape::Triangle | Shape::Tetrahedron)
}

/// Derivatives of the map of an element: first `[d][x]`, then second `[d ≤ e][x]`.
pub(crate) const fn derivatives_len(dim: usize) -> usize {
    dim * dim + dim * (dim + 1) / 2 * dim
}

/// Number of scalars of an element's record: the derivatives, `weighted` further numbers, and padding, so
/// that records begin at even offsets and those of eight elements are in different banks of shared memory.
pub(crate) const fn record_len(dim: usize, weighted: usize) -> usize {
    let n = derivatives_len(dim) + weighted;
    n + (4 + 2 - n % 4) % 4
}

/// The point about which maps are expanded: the centroid of the reference shape.
pub(crate) fn centre(shape: Shape) -> [f64; 3] {
    let dim = shape.dim();
    let c = 2.0 / (dim + 1) as f64 - 1.0;
    std::array::from_fn(|d| if d < dim { c } else { 0.0 })
}

/// Positions relative to the centre of the volume points, then of the face points, `[point][d]`, padded with
/// zeros to an even number.
pub(crate) fn places(reference: &ReferenceElement) -> Vec<f64> {
    let shape = reference.spec.shape;
    let (dim, c) = (shape.dim(), centre(shape));
    let points = reference.volume.points.iter().chain(&reference.face_points);
    let mut places: Vec<f64> = points.flat_map(|r| (0..dim).map(move |d| r[d] - c[d])).collect();
    places.resize(places.len().next_multiple_of(2), 0.0);
    places
}

/// Computes derivatives of maps of one shape.
pub(crate) struct Derivatives {
    dim: usize,
    /// At the centre, and at one further point in each direction.
    basis: GeometryBasis,
}

impl Derivatives {
    pub(crate) fn new(shape: Shape) -> Self {
        let (dim, c) = (shape.dim(), centre(shape));
        let further = |e: usize| std::array::from_fn(|d| c[d] + f64::from(u8::from(d == e)));
        let points: Vec<[f64; 3]> = std::iter::once(c).chain((0..dim).map(further)).collect();
        Self { dim, basis: GeometryBasis::new(shape, ORDER, &points) }
    }

    /// Writes the record of the element with lattice nodes `x`.
    pub(crate) fn record<T: PackScalar>(&self, x: &[[f64; 3]], weighted: &[T], out: &mut [T]) {
        let (dim, first) = (self.dim, self.basis.tangents(0, x));
        let mut numbers: Vec<f64> = first[..dim].iter().flat_map(|t| t[..dim].to_vec()).collect();
        let further: Vec<_> = (0..dim).map(|e| self.basis.tangents(e + 1, x)).collect();
        for d in 0..dim {
            for further in &further[d..] {
                numbers.extend((0..dim).map(|c| further[d][c] - first[d][c]));
            }
        }
        let numbers = numbers.into_iter().map(T::from_f64).chain(weighted.iter().copied());
        out.iter_mut().zip(numbers).for_each(|(out, x)| *out = x);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::space::geometry::volume_factors;
    use dgsuite_basis::ElementSpec;
    use dgsuite_basis::lattice::lattice;

    #[test]
    fn derivatives_make_the_tangents_at_every_point() {
        for shape in [Shape::Triangle, Shape::Tetrahedron] {
            let dim = shape.dim();
            let bend =
                |d: usize, r: [f64; 3]| r[d] + 0.1 * r[0] * r[1] - 0.07 * r[d] * r[2] + 0.05 * r[1] * r[1];
            let x: Vec<[f64; 3]> = lattice(shape, ORDER)
                .iter()
                .map(|&r| std::array::from_fn(|d| if d < dim { bend(d, r) } else { 0.0 }))
                .collect();
            let reference = ReferenceElement::new(&ElementSpec::over_integrated(shape, 3)).unwrap();
            let places = places(&reference);
            let mut record = vec![0.0_f64; record_len(dim, 2)];
            Derivatives::new(shape).record(&x, &[3.0, 4.0], &mut record);
            assert_eq!(record[derivatives_len(dim)..][..2], [3.0, 4.0]);
            assert_eq!(record.len() % 4, 2);

            let points: Vec<[f64; 3]> =
                reference.volume.points.iter().chain(&reference.face_points).copied().collect();
            let basis = GeometryBasis::new(shape, ORDER, &points);
            for q in 0..points.len() {
                // As in quadratic.cuh.
                let mut t = [[0.0; 3]; 3];
                let mut pair = dim * dim;
                for d in 0..dim {
                    for c in 0..dim {
                        t[d][c] += record[d * dim + c];
                    }
                    for e in d..dim {
                        for c in 0..dim {
                            t[d][c] += record[pair + c] * places[q * dim + e];
                            if e > d {
                                t[e][c] += record[pair + c] * places[q * dim + d];
                            }
                        }
                        pair += dim;
                    }
                }
                let (j, exact) = (volume_factors(dim, &t).0, basis.tangents(q, &x));
                assert!(j > 0.1, "{shape:?}");
                let same = |a: &[f64; 3], b: &[f64; 3]| (0..3).all(|c| (a[c] - b[c]).abs() < 1e-14);
                assert!(t.iter().zip(&exact).all(|(a, b)| same(a, b)), "{shape:?} {q}: {t:?} {exact:?}");
            }
        }
    }
}
