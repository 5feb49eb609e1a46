//! Lagrange bases to 1e-14: zero and one at their nodes, and closed forms on equispaced nodes.

use dgsuite_basis::{LagrangeBasis, Matrix, NodeSet, Shape};

/// The inverse of the Vandermonde matrix is refined by a Newton step. Without it the values at the nodes of
/// tetrahedra of orders 8 to 10 miss 0 and 1 by 1.1e-14 to 4.9e-14, with it by at most 3.4e-15.
#[test]
fn functions_of_high_order_are_one_and_zero_to_rounding() {
    for shape in [Shape::Line, Shape::Triangle, Shape::Tetrahedron] {
        for set in [NodeSet::WarpBlend, NodeSet::GaussLegendre] {
            for order in 1..=10 {
                let basis = LagrangeBasis::with_nodes(shape, order, set).expect("nodes of a simplex");
                let error = basis.eval(basis.nodes()).distance(&Matrix::identity(basis.len()));
                assert!(error < 1e-14, "{shape} {set} {order}: {error:e}");
            }
        }
    }
}

/// `Π_{m<i} (p λ − m) / (m + 1)`, a factor of each barycentric coordinate λ (Silvester 1969).
fn silvester(p: usize, i: usize, lambda: f64) -> f64 {
    (0..i).map(|m| (p as f64 * lambda - m as f64) / (m + 1) as f64).product()
}

/// The barycentric coordinates of a point of a simplex.
fn barycentric(shape: Shape, x: [f64; 3]) -> Vec<f64> {
    let others = x.iter().take(shape.dim()).map(|x| 0.5 * (1.0 + x));
    std::iter::once(1.0 - others.clone().sum::<f64>()).chain(others).collect()
}

/// Points inside a simplex, spread by multiples of irrational numbers.
fn points(shape: Shape) -> Vec<[f64; 3]> {
    let point = |k: u32| {
        let spread = [2.0_f64.sqrt(), 3.0_f64.sqrt(), 5.0_f64.sqrt(), 7.0_f64.sqrt()];
        let shares = spread.map(|a| (f64::from(k) * a).fract());
        let sum: f64 = shares.iter().take(shape.dim() + 1).sum();
        std::array::from_fn(|d| if d < shape.dim() { 2.0 * shares[d + 1] / sum - 1.0 } else { 0.0 })
    };
    (1..=50).map(point).collect()
}

#[test]
fn functions_on_equispaced_nodes_have_their_closed_form() {
    for shape in [Shape::Line, Shape::Triangle, Shape::Tetrahedron] {
        let points = points(shape);
        for order in 1..=7 {
            let basis = LagrangeBasis::new(shape, order);
            let values = basis.eval(&points);
            for (k, &node) in basis.nodes().iter().enumerate() {
                let numbers: Vec<usize> =
                    barycentric(shape, node).iter().map(|l| (order as f64 * l).round() as usize).collect();
                for (q, &x) in points.iter().enumerate() {
                    let factors =
                        numbers.iter().zip(barycentric(shape, x)).map(|(&i, l)| silvester(order, i, l));
                    let exact: f64 = factors.product();
                    let error = (values[(q, k)] - exact).abs();
                    assert!(error < 1e-14, "{shape} {order}, function {k} at {x:?}: {error:e}");
                }
            }
        }
    }
}
