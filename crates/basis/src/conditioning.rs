//! The quality of node sets: Lebesgue constant and condition number of the Vandermonde matrix.

use crate::{LagrangeBasis, Matrix, lattice::lattice};

/// Condition number `σ_max / σ_min` in the 2-norm; infinite for a singular matrix, NaN if the computation of
/// the singular values fails.
#[must_use]
pub fn condition_number(matrix: &Matrix) -> f64 {
    matrix.singular_values().map_or(f64::NAN, |s| match (s.first(), s.last()) {
        (Some(largest), Some(smallest)) => largest / smallest,
        _ => 1.0,
    })
}

/// Lebesgue constant `max_x Σ_i |ℓ_i(x)|` of a Lagrange basis: the factor by which interpolation can
/// be worse than the best approximation. Sampled on the lattice of order `samples` (a lower bound
/// that converges from below; 40 gives two digits).
#[must_use]
pub fn lebesgue_constant(basis: &LagrangeBasis, samples: usize) -> f64 {
    let values = basis.eval(&lattice(basis.shape(), samples));
    (0..values.rows).map(|q| values.row(q).iter().map(|x| x.abs()).sum()).fold(0.0, f64::max)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{NodeSet, Shape};

    #[test]
    fn lebesgue_constants_of_warp_and_blend_are_the_published_ones() {
        // Warburton (2006), optimised nodes on the triangle: 2.11, 2.66, 3.12, 3.70, 4.27, 4.96,
        // 5.74 for orders 3 to 9, to the two digits that sampling gives.
        let published = [2.11, 2.66, 3.12, 3.70, 4.27, 4.96, 5.74];
        for (order, expected) in (3..).zip(published) {
            let basis = LagrangeBasis::with_nodes(Shape::Triangle, order, NodeSet::WarpBlend).unwrap();
            let found = lebesgue_constant(&basis, 60);
            assert!((found - expected).abs() < 0.03, "order {order}: {found} against {expected}");
        }
    }

    #[test]
    fn nodes_are_well_conditioned_at_order_ten() {
        for shape in Shape::ALL {
            for set in NodeSet::ALL.into_iter().filter(|s| s.is_defined_on(shape)) {
                if set == NodeSet::Equispaced {
                    continue;
                }
                let basis = LagrangeBasis::with_nodes(shape, 10, set).unwrap();
                let condition = condition_number(&basis.vandermonde());
                assert!(condition < 200.0, "{shape} {set}: {condition}");
            }
        }
    }
}
