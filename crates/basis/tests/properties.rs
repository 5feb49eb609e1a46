//! Properties that hold for random polynomials, orders and points.

use dgsuite_basis::{
    Cubature, ElementSpec, LagrangeBasis, NodeSet, OrthonormalBasis, Polynomials, Quadrature,
    ReferenceElement, Representation, Shape, TaylorBasis, degree_change, jacobi,
};
use proptest::prelude::*;

/// A polynomial of total degree `degree`, `Σ c_i (1 + a·x)^i` with a random direction: cheap,
/// well scaled, and with a known gradient.
#[derive(Clone, Debug)]
struct Ridge {
    direction: [f64; 3],
    coefficients: Vec<f64>,
}

impl Ridge {
    fn argument(&self, x: [f64; 3]) -> f64 {
        (0..3).map(|d| self.direction[d] * x[d]).sum()
    }

    fn value(&self, x: [f64; 3]) -> f64 {
        self.coefficients.iter().rev().fold(0.0, |v, c| v * self.argument(x) + c)
    }

    fn slope(&self, x: [f64; 3], d: usize) -> f64 {
        let y = self.argument(x);
        let terms = self.coefficients.iter().enumerate().skip(1);
        self.direction[d] * terms.map(|(i, c)| i as f64 * c * y.powi(i as i32 - 1)).sum::<f64>()
    }

    fn times(&self, other: &Self) -> impl Fn([f64; 3]) -> f64 {
        move |x| self.value(x) * other.value(x)
    }
}

fn ridge(degree: usize) -> impl Strategy<Value = Ridge> {
    let direction = prop::array::uniform3(-0.45f64..0.45);
    let coefficients = prop::collection::vec(-1.0f64..1.0, degree + 1);
    (direction, coefficients).prop_map(|(direction, coefficients)| Ridge { direction, coefficients })
}

fn shape() -> impl Strategy<Value = Shape> {
    prop::sample::select(Shape::ALL.to_vec())
}

/// Collocated, over-integrated nodal or modal, with either space, of order 1 to 4.
fn spec() -> impl Strategy<Value = ElementSpec> {
    (shape(), 1usize..5, 0usize..3, any::<bool>(), any::<prop::sample::Index>()).prop_map(
        |(shape, order, kind, total, set)| {
            let sets: Vec<NodeSet> = NodeSet::ALL.into_iter().filter(|s| s.is_defined_on(shape)).collect();
            let nodal = ElementSpec::collocated(shape, order, *set.get(&sets));
            let degree = Cubature::Degree(2 * order);
            match kind {
                0 if shape != Shape::Pyramid => nodal,
                1 => ElementSpec { volume: degree, face: degree, ..nodal },
                _ => ElementSpec {
                    polynomials: if total { Polynomials::Total } else { Polynomials::Tensor },
                    representation: Representation::Modal,
                    volume: degree,
                    face: degree,
                    ..nodal
                },
            }
        },
    )
}

/// A spec with a polynomial in its space.
fn element() -> impl Strategy<Value = (ElementSpec, Ridge)> {
    spec().prop_flat_map(|s| (Just(s), ridge(s.order)))
}

/// Coefficients of a polynomial of the element's space: nodal values, or L2 projection.
fn coefficients(e: &ReferenceElement, f: impl Fn([f64; 3]) -> f64) -> Vec<f64> {
    match &e.nodes {
        Some(nodes) => nodes.iter().map(|&x| f(x)).collect(),
        None => e.project_volume.mul_vec(&e.volume.points.iter().map(|&x| f(x)).collect::<Vec<_>>()),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn derivatives_are_exact_on_the_space((spec, f) in element()) {
        let e = ReferenceElement::new(&spec).unwrap();
        let u = coefficients(&e, |x| f.value(x));
        for d in 0..spec.shape.dim() {
            for (slope, &x) in e.derivative[d].mul_vec(&u).iter().zip(&e.volume.points) {
                prop_assert!((slope - f.slope(x, d)).abs() < 1e-10, "{spec:?}");
            }
        }
    }

    #[test]
    fn traces_and_interpolants_are_exact_on_the_space((spec, f) in element()) {
        let e = ReferenceElement::new(&spec).unwrap();
        let u = coefficients(&e, |x| f.value(x));
        for (v, &x) in e.interp_face.mul_vec(&u).iter().zip(&e.face_points) {
            prop_assert!((v - f.value(x)).abs() < 1e-11, "{spec:?}");
        }
        for (v, &x) in e.interp_volume.mul_vec(&u).iter().zip(&e.volume.points) {
            prop_assert!((v - f.value(x)).abs() < 1e-11, "{spec:?}");
        }
    }

    #[test]
    fn weak_divergence_equals_strong_for_a_linear_flux((spec, f) in element()) {
        // −P_d u + L n_d I_f u = ∂_d u as coefficients: the DG derivative of a polynomial is exact.
        let e = ReferenceElement::new(&spec).unwrap();
        let shape = spec.shape;
        let u = coefficients(&e, |x| f.value(x));
        for d in 0..shape.dim() {
            let volume = e.project[d].mul_vec(&e.interp_volume.mul_vec(&u));
            let mut flux = e.interp_face.mul_vec(&u);
            for face in 0..shape.n_faces() {
                let [a, b] = shape.face_tangents(face);
                let normal = match shape.dim() {
                    1 => [if face == 0 { -1.0 } else { 1.0 }, 0.0, 0.0],
                    2 => [a[1], -a[0], 0.0],
                    _ => {
                        [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
                    }
                };
                flux[e.face_offsets[face]..e.face_offsets[face + 1]].iter_mut().for_each(|v| *v *= normal[d]);
            }
            let surface = e.lift.mul_vec(&flux);
            let exact = coefficients(&e, |x| f.slope(x, d));
            for i in 0..e.n_basis {
                prop_assert!((surface[i] - volume[i] - exact[i]).abs() < 1e-9, "{spec:?} direction {d}");
            }
        }
    }

    #[test]
    fn mass_matrices_integrate_products(
        (spec, f, g) in spec().prop_flat_map(|s| (Just(s), ridge(s.order), ridge(s.order)))
    ) {
        let e = ReferenceElement::new(&spec).unwrap();
        let exact = Quadrature::new(spec.shape, 2 * spec.order).integrate(f.times(&g));
        let (u, v) = (coefficients(&e, |x| f.value(x)), coefficients(&e, |x| g.value(x)));
        let found: f64 = e.mass.mul_vec(&u).iter().zip(&v).map(|(a, b)| a * b).sum();
        // Lobatto lines are lumped: exact to degree 2p − 1 only.
        let lumped = spec.representation == Representation::Nodal(NodeSet::GaussLobatto)
            && spec.volume == Cubature::Collocated;
        if !lumped {
            prop_assert!((found - exact).abs() < 1e-11, "{spec:?}: {found} {exact}");
        }
    }

    #[test]
    fn degree_change_keeps_functions_that_fit((spec, f) in element(), up in 1usize..3) {
        let mut higher = ElementSpec { order: spec.order + up, ..spec };
        if spec.volume != Cubature::Collocated {
            higher.volume = Cubature::Degree(2 * higher.order);
        }
        let (low, high) = (ReferenceElement::new(&spec).unwrap(), ReferenceElement::new(&higher).unwrap());
        let u = coefficients(&low, |x| f.value(x));
        let lifted = degree_change(&low, &high).mul_vec(&u);
        let exact = coefficients(&high, |x| f.value(x));
        for (a, b) in lifted.iter().zip(&exact) {
            prop_assert!((a - b).abs() < 1e-10, "{spec:?}");
        }
        let back = degree_change(&high, &low).mul_vec(&lifted);
        for (a, b) in back.iter().zip(&u) {
            prop_assert!((a - b).abs() < 1e-10, "{spec:?}");
        }
    }

    #[test]
    fn rules_integrate_random_polynomials_alike(
        (shape, degree, f) in (shape(), 0usize..21).prop_flat_map(|(s, d)| (Just(s), Just(d), ridge(d)))
    ) {
        let here = Quadrature::new(shape, degree).integrate(|x| f.value(x));
        let finer = Quadrature::new(shape, degree + 7).integrate(|x| f.value(x));
        prop_assert!((here - finer).abs() < 1e-12, "{shape} {degree}: {here} {finer}");
        let symmetric = Quadrature::symmetric(shape, degree).integrate(|x| f.value(x));
        prop_assert!((here - symmetric).abs() < 1e-12, "{shape} {degree}");
    }

    #[test]
    fn gauss_rules_integrate_monomials(n in 1usize..60, alpha in 0usize..4, k in 0usize..40) {
        let k = k.min(2 * n - 1);
        let (x, w) = jacobi::gauss_jacobi(n, alpha, 0);
        let found: f64 = x.iter().zip(&w).map(|(x, w)| w * (0.5 + 0.5 * x).powi(k as i32)).sum();
        let exact = jacobi::total_weight(alpha, k) / 2f64.powi(k as i32);
        prop_assert!((found - exact).abs() < 1e-14 * jacobi::total_weight(alpha, 0), "{found} {exact}");
    }

    #[test]
    fn geometry_bases_sum_to_one_with_zero_gradient(
        shape in shape(), order in 1usize..5, c in prop::collection::vec(0.01f64..1.0, 8)
    ) {
        // A random convex combination of the vertices.
        let v = shape.vertices();
        let sum: f64 = c[..v.len()].iter().sum();
        let x = std::array::from_fn(|d| (0..v.len()).map(|a| c[a] / sum * v[a][d]).sum());
        let basis = LagrangeBasis::new(shape, order);
        prop_assert!((basis.eval(&[x]).data.iter().sum::<f64>() - 1.0).abs() < 1e-13);
        for g in basis.grad(&[x]) {
            prop_assert!(g.data.iter().sum::<f64>().abs() < 1e-12);
        }
    }

    #[test]
    fn taylor_bases_span_the_polynomials(
        (shape, order, f) in (shape(), 1usize..4).prop_flat_map(|(s, p)| (Just(s), Just(p), ridge(p)))
    ) {
        let rule = Quadrature::new(shape, 2 * order);
        let scale = TaylorBasis::half_extent(shape.vertices());
        let basis = TaylorBasis::new(shape.dim(), order, &rule.points, &rule.weights, scale);
        let v = basis.eval(&rule.points);
        let weighted = v.transpose().scale_cols(&rule.weights);
        let values: Vec<f64> = rule.points.iter().map(|&x| f.value(x)).collect();
        let load = weighted.mul_vec(&values);
        let right = dgsuite_basis::Matrix::from_row_major(load.len(), 1, load);
        let u = weighted.mul(&v).solve(&right).unwrap();
        for (a, b) in v.mul_vec(&u.data).iter().zip(&values) {
            prop_assert!((a - b).abs() < 1e-9, "{shape} {order}");
        }
        // The first coefficient is the mean.
        let mean = rule.integrate(|x| f.value(x)) / shape.measure();
        prop_assert!((u.data[0] - mean).abs() < 1e-12);
    }

    #[test]
    fn total_degree_spaces_sit_inside_tensor_spaces(
        (shape, order, f) in (shape(), 1usize..7).prop_flat_map(|(s, p)| (Just(s), Just(p), ridge(p)))
    ) {
        for space in [Polynomials::Total, Polynomials::Tensor] {
            let basis = OrthonormalBasis::new(shape, order, space);
            let rule = Quadrature::new(shape, 2 * order);
            let v = basis.eval(&rule.points);
            let values: Vec<f64> = rule.points.iter().map(|&x| f.value(x)).collect();
            let u = v.transpose().scale_cols(&rule.weights).mul_vec(&values);
            for (a, b) in v.mul_vec(&u).iter().zip(&values) {
                prop_assert!((a - b).abs() < 1e-11, "{shape} {space} {order}");
            }
        }
    }
}
