//! After a change of λ an operator is the one that is set up with that λ.

use crate::elliptic::{SHAPES, bend, everywhere, host, noise, shear, unit};
use dgsuite_mesh::Mesh;
use dgsuite_ops::{EllipticBoundary, OpsError, PackScalar, Sipdg, SipdgOptions};
use std::sync::Arc;

const FACTOR: f64 = 3.7;

/// λ is 2, or jumps, or is a function.
fn operator(mesh: &Arc<Mesh>, order: usize, kind: usize, factor: f64) -> Sipdg<f64> {
    let lambda = |e: usize, x: [f64; 3]| match kind {
        0 => 2.0 * factor,
        1 => [2.0, 0.5][e % 2] * factor,
        _ => (1.0 + 0.3 * x[0] + 0.1 * x[1]) * factor,
    };
    let kappa = |e: usize, _: [f64; 3]| if kind == 1 { [1.0, 3.0][e % 2] } else { 0.5 };
    let boundaries = everywhere(mesh, EllipticBoundary::Dirichlet);
    let options = SipdgOptions::new(order);
    Sipdg::new(Arc::clone(mesh), &options, &kappa, &lambda, &boundaries, host(1)).expect("an operator")
}

/// The largest difference of two vectors divided by the largest entry.
fn gap<T: PackScalar>(a: &[T], b: &[T]) -> f64 {
    assert_eq!(a.len(), b.len());
    let largest = b.iter().fold(0.0_f64, |m, v| m.max(v.to_f64().abs()));
    a.iter().zip(b).fold(0.0_f64, |m, (a, b)| m.max((a.to_f64() - b.to_f64()).abs())) / largest
}

fn product<T: PackScalar>(a: &Sipdg<T>) -> Vec<T> {
    let u: Vec<T> = noise(a.len(), 5).into_iter().map(T::from_f64).collect();
    let mut au = vec![T::ZERO; a.len()];
    a.apply(&u, &mut au);
    au
}

#[test]
fn a_changed_lambda_is_that_of_a_new_operator() {
    for (shape, dim, n) in SHAPES {
        for (form, kind) in [(0, 0), (1, 1), (2, 0), (0, 2)] {
            let mut mesh = unit(shape, dim, n);
            match form {
                1 => shear(&mut mesh),
                2 => bend(&mut mesh, 2),
                _ => {}
            }
            let (mesh, p) = (Arc::new(mesh), 1 + (form + kind + n) % 3);
            let what = format!("{shape:?} in {dim} dimensions, form {form}, lambda {kind}, p = {p}");
            let (mut a, new) = (operator(&mesh, p, kind, 1.0), operator(&mesh, p, kind, FACTOR));
            let before = product(&a);
            let mut single = a.single().expect("an operator");
            a.set_lambda(7.0).expect("a factor");
            a.set_lambda(FACTOR).expect("a factor");
            single.set_lambda(FACTOR).expect("a factor");
            let error = gap(&product(&a), &product(&new));
            assert!(error < 1e-14, "{what}: {error:.1e}");
            assert!(gap(&product(&a), &before) > 1e-5, "{what}: the product has not changed");
            let same = new.single().expect("an operator");
            assert!(gap(&product(&single), &product(&same)) < 1e-6, "{what}: single precision");
            assert!(
                gap(&product(&a.single().expect("an operator")), &product(&same)) < 1e-6,
                "{what}: later"
            );
            assert!(gap(&a.diagonal(), &new.diagonal()) < 1e-15, "{what}: the diagonal");
            let (diffusion, reaction) = a.diagonals();
            let sum: Vec<f64> = diffusion.iter().zip(&reaction).map(|(d, r)| d + FACTOR * r).collect();
            assert!(gap(&sum, &new.diagonal()) < 1e-14, "{what}: the parts of the diagonal");
            if p > 1 {
                let low = |a: &Sipdg<f64>| product(&a.at_order(p - 1).expect("an operator"));
                assert!(gap(&low(&a), &low(&new)) < 1e-14, "{what}: a lower order");
            }
            a.set_lambda(1.0).expect("a factor");
            assert_eq!(product(&a), before, "{what}: the first lambda");
        }
    }
}

#[test]
fn an_operator_with_another_reaction_is_a_new_one() {
    for (shape, dim, n) in SHAPES {
        let mesh = Arc::new(unit(shape, dim, n));
        let conditions = everywhere(&mesh, EllipticBoundary::Dirichlet);
        let of = |lambda: f64| -> Sipdg<f64> {
            let options = SipdgOptions::new(2);
            let (one, lambda) = (|_: usize, _: [f64; 3]| 1.0, move |_: usize, _: [f64; 3]| lambda);
            Sipdg::new(Arc::clone(&mesh), &options, &one, &lambda, &conditions, host(1)).expect("an operator")
        };
        let (without, with) = (of(0.0), of(3.5));
        let changed = without.with_reaction(3.5).expect("an operator");
        assert!(product(&changed) == product(&with), "{shape:?}: products");
        assert!(changed.diagonal() == with.diagonal(), "{shape:?}: diagonals");
        assert!(product(&changed) != product(&without), "{shape:?}: nothing has changed");
        assert!(without.with_reaction(-1.0).is_err() && without.with_reaction(f64::NAN).is_err());
    }
}

#[test]
fn factors_that_lambda_cannot_have_are_refused() {
    let mesh = Arc::new(unit(SHAPES[0].0, 2, 2));
    let mut a = operator(&mesh, 1, 0, 1.0);
    for factor in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert!(matches!(a.set_lambda(factor), Err(OpsError::Elliptic { .. })), "{factor}");
    }
    let mut without = crate::elliptic::poisson(&mesh, 1, EllipticBoundary::Dirichlet);
    assert!(matches!(without.set_lambda(2.0), Err(OpsError::Elliptic { .. })));
}
