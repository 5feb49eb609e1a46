//! Transfers between orders: prolongation preserves functions, restriction is its transpose.

use crate::{SHAPES, dot, noise, poisson, unit};
use dgsuite_ops::{EllipticBoundary, Sipdg};
use std::sync::Arc;

#[test]
fn prolongation_keeps_functions_and_restriction_is_its_transpose() {
    for (shape, dim, n) in SHAPES {
        let mesh = Arc::new(unit(shape, dim, n));
        let fine = poisson(&mesh, 4, EllipticBoundary::Dirichlet);
        for order in [1, 2] {
            let coarse = fine.at_order(order).expect("a lower order");
            let transfer = Sipdg::transfer(&fine, &coarse).expect("one mesh");
            let f = |_: usize, x: [f64; 3]| {
                if order == 1 { 1.0 + 2.0 * x[0] - x[1] } else { x[0] * x[1] - x[1] * x[1] }
            };
            let (on_coarse, on_fine) = (coarse.project(&f), fine.project(&f));
            let mut prolonged = vec![0.0; fine.len()];
            transfer.prolong(&on_coarse, &mut prolonged);
            transfer.prolong(&on_coarse, &mut prolonged);
            let same = prolonged.iter().zip(&on_fine).all(|(p, f)| (p - 2.0 * f).abs() < 1e-12);
            assert!(same, "{shape:?} {dim}D from order {order}");

            let (c, r) = (noise(coarse.len(), 5), noise(fine.len(), 6));
            let (mut pc, mut pr) = (vec![0.0; fine.len()], vec![0.0; coarse.len()]);
            transfer.prolong(&c, &mut pc);
            transfer.restrict(&r, &mut pr);
            let (left, right) = (dot(&pc, &r), dot(&c, &pr));
            assert!((left - right).abs() <= 1e-12 * dot(&pc, &pc).sqrt() * dot(&r, &r).sqrt());
        }
    }
}
