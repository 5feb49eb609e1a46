//! Identities that the matrices of every reference element must satisfy.

use dgsuite_basis::{
    BasisError, Cubature, ElementSpec, Matrix, NodeSet, OrthonormalBasis, Polynomials, Quadrature,
    ReferenceElement, Representation, Shape, degree_change, face_permutation,
};

/// Every kind of element of one shape and order.
fn specs(shape: Shape, order: usize) -> Vec<ElementSpec> {
    let mut out = Vec::new();
    for polynomials in [Polynomials::Total, Polynomials::Tensor] {
        for degree in [2 * order, 2 * order + 3] {
            let modal = ElementSpec {
                polynomials,
                volume: Cubature::Degree(degree),
                face: Cubature::Degree(degree),
                ..ElementSpec::over_integrated(shape, order)
            };
            out.push(modal);
            let total = polynomials == Polynomials::Total && shape != Shape::Pyramid;
            if total && order <= 6 {
                out.push(ElementSpec { representation: Representation::Taylor, ..modal });
            }
        }
    }
    for set in NodeSet::ALL.into_iter().filter(|s| s.is_defined_on(shape)) {
        let nodal = ElementSpec::collocated(shape, order, set);
        let degree = Cubature::Degree(2 * order);
        out.push(ElementSpec { volume: degree, face: degree, ..nodal });
        out.push(ElementSpec { volume: degree, ..nodal });
        if shape != Shape::Pyramid {
            out.push(nodal);
            out.push(ElementSpec { face: degree, ..nodal });
        }
    }
    out
}

fn build(spec: &ElementSpec) -> ReferenceElement {
    ReferenceElement::new(spec).unwrap_or_else(|e| panic!("{spec:?}: {e}"))
}

/// Outward normals of each face times the ratio of surface measures, `∂r/∂ξ × ∂r/∂η`.
fn normal(shape: Shape, face: usize) -> [f64; 3] {
    let [a, b] = shape.face_tangents(face);
    match shape.dim() {
        1 => [if face == 0 { -1.0 } else { 1.0 }, 0.0, 0.0],
        2 => [a[1], -a[0], 0.0],
        _ => [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]],
    }
}

/// Scale row `k` of `I_f` by component `d` of its face's normal.
fn with_normal(e: &ReferenceElement, d: usize) -> Matrix {
    let mut n = Vec::new();
    for f in 0..e.spec.shape.n_faces() {
        n.resize(e.face_offsets[f + 1], normal(e.spec.shape, f)[d]);
    }
    e.interp_face.scale_rows(&n)
}

/// Largest defect of `M (P_d-form): M P_d I + D-part = M L n_d I_f`, relative to the largest entry.
///
/// With `S = M⁻¹ ∫ φ_i ∂_d φ_j = Π D_d`, summation by parts reads `S + P_d I = L n_d I_f`.
fn summation_by_parts(e: &ReferenceElement) -> f64 {
    let mut worst: f64 = 0.0;
    for d in 0..e.spec.shape.dim() {
        let strong = e.project_volume.mul(&e.derivative[d]);
        let weak = e.project[d].mul(&e.interp_volume);
        let boundary = e.lift.mul(&with_normal(e, d));
        let scale = boundary.max_abs().max(strong.max_abs());
        worst = worst.max(strong.add_scaled(1.0, &weak).distance(&boundary) / scale);
    }
    worst
}

/// Summation by parts needs face fluxes integrated in the same way as in the volume: it fails for a mass
/// matrix lumped on the faces only, or in the volume only.
fn lumped_on_one_side(spec: &ElementSpec) -> bool {
    spec.representation == Representation::Nodal(NodeSet::GaussLobatto)
        && (spec.volume == Cubature::Collocated) != (spec.face == Cubature::Collocated)
        && spec.shape.dim() > 1
}

#[test]
fn summation_by_parts_holds_for_every_element() {
    for shape in Shape::ALL {
        let end = if shape.dim() == 3 { 4 } else { 7 };
        for order in 1..=end {
            for spec in specs(shape, order).into_iter().filter(|s| !lumped_on_one_side(s)) {
                let error = summation_by_parts(&build(&spec));
                assert!(error < 1e-11, "{spec:?}: {error:e}");
            }
        }
    }
}

#[test]
fn summation_by_parts_holds_at_order_ten() {
    for shape in Shape::ALL {
        let set = match shape {
            Shape::Triangle | Shape::Tetrahedron => NodeSet::WarpBlend,
            _ => NodeSet::GaussLobatto,
        };
        let order = if shape == Shape::Hexahedron { 7 } else { 10 };
        if shape != Shape::Pyramid {
            let error = summation_by_parts(&build(&ElementSpec::collocated(shape, order, set)));
            assert!(error < 1e-11, "collocated {shape}: {error:e}");
        }
        if shape != Shape::Hexahedron {
            let modal = ElementSpec {
                polynomials: Polynomials::Total,
                face: Cubature::Degree(2 * order),
                ..ElementSpec::over_integrated(shape, order)
            };
            let error = summation_by_parts(&build(&modal));
            assert!(error < 1e-11, "modal {shape}: {error:e}");
        }
    }
}

#[test]
fn mass_matrices_have_their_inverses_and_the_measure() {
    for shape in Shape::ALL {
        for order in 0..=4 {
            for spec in specs(shape, order) {
                let e = build(&spec);
                let identity = Matrix::identity(e.n_basis);
                // Taylor polynomials are far from orthogonal: rounding errors grow with the condition number.
                let condition = (e.mass.max_abs() * e.mass_inverse.max_abs()).max(1.0);
                let error = e.mass.mul(&e.mass_inverse).distance(&identity);
                assert!(error < 1e-12_f64.max(1e-15 * condition), "{spec:?}: {error:e}");
                // Coefficients of the function 1.
                let one = e.project_volume.mul_vec(&vec![1.0; e.volume.len()]);
                let measure: f64 = e.mass.mul_vec(&one).iter().zip(&one).map(|(a, b)| a * b).sum();
                assert!((measure - shape.measure()).abs() < 1e-12, "{spec:?}: {measure}");
                let weights: f64 = e.volume.weights.iter().sum();
                assert!((weights - shape.measure()).abs() < 1e-12, "{spec:?}: {weights}");
            }
        }
    }
}

#[test]
fn lift_of_a_constant_has_the_face_measure() {
    for shape in Shape::ALL {
        for order in 0..=4 {
            for spec in specs(shape, order) {
                let e = build(&spec);
                let one = e.project_volume.mul_vec(&vec![1.0; e.volume.len()]);
                for f in 0..shape.n_faces() {
                    let measure = shape.face_shape(f).map_or(1.0, Shape::measure);
                    let range = e.face_offsets[f]..e.face_offsets[f + 1];
                    let mut flux = vec![0.0; e.face_points.len()];
                    flux[range.clone()].fill(1.0);
                    // 1ᵀ M L 1_f: the contribution of the face to the integral over the element.
                    let lifted = e.mass.mul_vec(&e.lift.mul_vec(&flux));
                    let total: f64 = one.iter().zip(&lifted).map(|(a, b)| a * b).sum();
                    assert!((total - measure).abs() < 1e-12, "{spec:?} face {f}: {total}");
                    let weights: f64 = e.face_weights[range].iter().sum();
                    assert!((weights - measure).abs() < 1e-12, "{spec:?} face {f}: {weights}");
                }
            }
        }
    }
}

#[test]
fn each_face_flux_adds_its_weight_to_the_cell_integral() {
    // Conservation requires of both neighbours: 1ᵀ M L = face weights, entry by entry.
    for shape in Shape::ALL {
        for order in 1..=4 {
            for spec in specs(shape, order) {
                let e = build(&spec);
                let one = e.project_volume.mul_vec(&vec![1.0; e.volume.len()]);
                let sums = e.lift.transpose().mul(&e.mass).mul_vec(&one);
                for (s, w) in sums.iter().zip(&e.face_weights) {
                    assert!((s - w).abs() < 1e-12, "{spec:?}");
                }
            }
        }
    }
}

#[test]
fn a_constant_flux_gives_no_residual() {
    for shape in Shape::ALL {
        for order in 0..=4 {
            for spec in specs(shape, order) {
                let e = build(&spec);
                for d in 0..shape.dim() {
                    let volume = e.project[d].mul_vec(&vec![1.0; e.volume.len()]);
                    let mut flux = Vec::new();
                    for f in 0..shape.n_faces() {
                        flux.resize(e.face_offsets[f + 1], normal(shape, f)[d]);
                    }
                    let surface = e.lift.mul_vec(&flux);
                    let scale = surface.iter().fold(1.0f64, |m, x| m.max(x.abs()));
                    for (v, s) in volume.iter().zip(&surface) {
                        assert!((v - s).abs() < 1e-11 * scale, "{spec:?} direction {d}: {v} {s}");
                    }
                }
            }
        }
    }
}

#[test]
fn projection_undoes_interpolation() {
    for shape in Shape::ALL {
        for order in 0..=4 {
            for spec in specs(shape, order) {
                let e = build(&spec);
                let product = e.project_volume.mul(&e.interp_volume);
                // A rule of degree 2p is exact for the nodal basis.
                assert!(product.distance(&Matrix::identity(e.n_basis)) < 1e-11, "{spec:?}");
            }
        }
    }
}

#[test]
fn traces_and_lifts_agree_with_evaluation_at_the_face_points() {
    for shape in Shape::ALL {
        for spec in specs(shape, 3) {
            let e = build(&spec);
            assert!(e.interp_face.distance(&e.evaluate(&e.face_points)) < 1e-12, "{spec:?}");
            assert!(e.interp_volume.distance(&e.evaluate(&e.volume.points)) < 1e-12, "{spec:?}");
            for (d, g) in e.gradient(&e.volume.points).iter().enumerate().take(shape.dim()) {
                assert!(e.derivative[d].distance(g) < 1e-11, "{spec:?}");
            }
            for f in 0..shape.n_faces() {
                for (i, &xi) in e.face_quadrature[f].points.iter().enumerate() {
                    let there = shape.face_point(f, xi);
                    assert_eq!(there, e.face_points[e.face_offsets[f] + i]);
                }
            }
        }
    }
}

#[test]
fn collocated_faces_are_nodes_where_the_family_has_them() {
    for shape in Shape::ALL.into_iter().filter(|&s| s != Shape::Pyramid) {
        for set in NodeSet::ALL.into_iter().filter(|s| s.is_defined_on(shape)) {
            let e = build(&ElementSpec::collocated(shape, 4, set));
            let warp_blend = dgsuite_basis::nodes(shape, 4, NodeSet::WarpBlend).ok();
            // Where no cubature has as many points as the space, warp & blend nodes are used.
            let on_faces =
                set != NodeSet::GaussLegendre || (shape == Shape::Tetrahedron && e.nodes == warp_blend);
            assert_eq!(e.face_nodes.is_some(), on_faces, "{shape} {set}");
            let nodes = e.nodes.as_ref().unwrap();
            for (f, list) in e.face_nodes.iter().flatten().enumerate() {
                for (i, &node) in list.iter().enumerate() {
                    let x = e.face_points[e.face_offsets[f] + i];
                    assert!((0..3).all(|d| (x[d] - nodes[node][d]).abs() < 1e-13), "{shape} {set}");
                    let row = e.interp_face.row(e.face_offsets[f] + i);
                    assert!(row.iter().enumerate().all(|(j, &v)| v == f64::from(u8::from(j == node))));
                }
            }
        }
    }
}

#[test]
fn faces_of_equal_shape_have_equal_points_that_meet_at_every_orientation() {
    for shape in Shape::ALL.into_iter().filter(|s| s.dim() > 1) {
        for order in [0, 1, 4, 5] {
            for spec in specs(shape, order) {
                let e = build(&spec);
                for rule in &e.face_quadrature {
                    let first = e.face_quadrature.iter().find(|r| r.shape == rule.shape).unwrap();
                    assert_eq!(rule, first, "{spec:?}");
                    for k in 0..rule.shape.n_vertices() {
                        let there = face_permutation(rule.shape, k, &rule.points).unwrap();
                        for (i, &j) in there.iter().enumerate() {
                            assert!((rule.weights[i] - rule.weights[j]).abs() < 1e-13, "{spec:?}");
                        }
                    }
                }
            }
        }
    }
}

#[test]
fn families_that_share_faces_share_their_points() {
    let faces = |shape, set| build(&ElementSpec::collocated(shape, 4, set)).face_quadrature;
    let of = |rules: &[Quadrature], shape| rules.iter().find(|r| r.shape == shape).unwrap().points.clone();
    let close = |a: &[[f64; 3]], b: &[[f64; 3]]| {
        a.len() == b.len() && a.iter().zip(b).all(|(x, y)| (0..3).all(|d| (x[d] - y[d]).abs() < 1e-13))
    };
    for set in [NodeSet::GaussLegendre, NodeSet::GaussLobatto] {
        let (hex, prism) = (faces(Shape::Hexahedron, set), faces(Shape::Prism, set));
        assert!(close(&of(&hex, Shape::Quadrilateral), &of(&prism, Shape::Quadrilateral)));
    }
    let tetrahedron = of(&faces(Shape::Tetrahedron, NodeSet::WarpBlend), Shape::Triangle);
    for set in [NodeSet::WarpBlend, NodeSet::GaussLegendre, NodeSet::GaussLobatto] {
        assert!(close(&tetrahedron, &of(&faces(Shape::Prism, set), Shape::Triangle)), "{set}");
    }
    let quad = faces(Shape::Quadrilateral, NodeSet::GaussLobatto);
    let triangle = faces(Shape::Triangle, NodeSet::WarpBlend);
    assert!(close(&quad[0].points, &triangle[0].points));
    for (q, t) in quad[0].weights.iter().zip(&triangle[0].weights) {
        assert!((q - t).abs() < 1e-14, "an edge's exact and lumped masses have the same row sums");
    }
}

#[test]
fn tensor_factors_make_the_dense_matrices() {
    for shape in [Shape::Line, Shape::Quadrilateral, Shape::Hexahedron] {
        for spec in specs(shape, 3).into_iter().filter(|s| s.polynomials == Polynomials::Tensor) {
            let e = build(&spec);
            let t = e.tensor.as_ref().unwrap();
            let dim = shape.dim();
            let all = |special: &Matrix, other: &Matrix, at: usize| {
                (0..dim).fold(Matrix::identity(1), |product, d| {
                    (if d == at { special } else { other }).kron(&product)
                })
            };
            assert!(all(&t.interp, &t.interp, 0).distance(&e.interp_volume) < 1e-13, "{spec:?}");
            assert!(all(&t.mass_project, &t.mass_project, 0).distance(&e.project_volume) < 1e-12);
            assert!(all(&t.mass, &t.mass, 0).distance(&e.mass) < 1e-13);
            for d in 0..dim {
                assert!(all(&t.derivative, &t.interp, d).distance(&e.derivative[d]) < 1e-12);
                assert!(all(&t.project, &t.mass_project, d).distance(&e.project[d]) < 1e-11);
            }
            // Faces: coordinate `d` is fixed, the others run over the tensor grid of face points.
            for f in 0..shape.n_faces() {
                let x = e.face_points[e.face_offsets[f]];
                let [a, b] = shape.face_tangents(f);
                let d = (0..dim).find(|&d| a[d] == 0.0 && b[d] == 0.0).unwrap();
                let end = usize::from(x[d] > 0.0);
                for k in e.face_offsets[f]..e.face_offsets[f + 1] {
                    let at: Vec<usize> = (0..dim)
                        .map(|c| {
                            let y = e.face_points[k][c];
                            t.face_points.iter().position(|z| (z - y).abs() < 1e-12).unwrap_or(0)
                        })
                        .collect();
                    for i in 0..e.n_basis {
                        let (mut trace, mut lift) = (1.0, 1.0);
                        for c in 0..dim {
                            let j = i / t.n_basis_1d.pow(c as u32) % t.n_basis_1d;
                            if c == d {
                                trace *= t.ends[end][j];
                                lift *= t.lift[end][j];
                            } else {
                                trace *= t.face_interp[(at[c], j)];
                                lift *= t.face_mass_project[(j, at[c])];
                            }
                        }
                        assert!((trace - e.interp_face[(k, i)]).abs() < 1e-12, "{spec:?}");
                        assert!((lift - e.lift[(i, k)]).abs() < 1e-11, "{spec:?} {f}");
                    }
                }
            }
        }
    }
    let total =
        ElementSpec { polynomials: Polynomials::Total, ..ElementSpec::over_integrated(Shape::Hexahedron, 3) };
    assert!(build(&total).tensor.is_none());
}

#[test]
fn degree_change_up_and_down_is_the_identity_and_up_keeps_the_function() {
    for shape in Shape::ALL {
        let (low, high) = (specs(shape, 2), specs(shape, 5));
        for (a, b) in low.iter().zip(&high) {
            if (a.polynomials, b.polynomials) == (Polynomials::Tensor, Polynomials::Total) {
                continue;
            }
            let (a, b) = (build(a), build(b));
            let up = degree_change(&a, &b);
            let back = degree_change(&b, &a).mul(&up);
            assert!(back.distance(&Matrix::identity(a.n_basis)) < 1e-12, "{:?}", a.spec);
            let points = Quadrature::new(shape, 6).points;
            let same = b.evaluate(&points).mul(&up).distance(&a.evaluate(&points));
            assert!(same < 1e-11, "{:?}: {same:e}", a.spec);
        }
    }
}

#[test]
fn degree_change_down_is_the_l2_projection() {
    for shape in Shape::ALL {
        let (low, high) = (build(&specs(shape, 2)[0]), build(&specs(shape, 4)[0]));
        let down = degree_change(&high, &low);
        let rule = Quadrature::new(shape, 8);
        let (a, b) = (low.evaluate(&rule.points), high.evaluate(&rule.points));
        let projection = a.transpose().scale_cols(&rule.weights).mul(&b);
        assert!(down.distance(&projection) < 1e-12, "{shape}");
    }
}

#[test]
fn the_pyramid_space_holds_polynomials_and_has_polynomial_traces() {
    for p in 1..=6 {
        let pyramid = OrthonormalBasis::new(Shape::Pyramid, p, Polynomials::Total);
        let rule = Quadrature::new(Shape::Pyramid, 2 * p);
        let f = |x: &[f64; 3]| (0.3 + 0.5 * x[0] - 0.7 * x[1] + 0.2 * x[2]).powi(p as i32);
        let values: Vec<f64> = rule.points.iter().zip(&rule.weights).map(|(x, w)| w * f(x)).collect();
        let coefficients = pyramid.eval(&rule.points).transpose().mul_vec(&values);
        let there = pyramid.eval(&rule.points).mul_vec(&coefficients);
        for (x, v) in rule.points.iter().zip(&there) {
            assert!((v - f(x)).abs() < 1e-12, "order {p}");
        }
        // Trace of every mode on every face: equal to its L2 projection on the face's polynomials.
        for face in 0..5 {
            let shape = Shape::Pyramid.face_shape(face).unwrap();
            let trace = OrthonormalBasis::new(shape, p, Polynomials::Tensor);
            let rule = Quadrature::new(shape, 3 * p);
            let on: Vec<[f64; 3]> = rule.points.iter().map(|&x| Shape::Pyramid.face_point(face, x)).collect();
            let (modes, own) = (pyramid.eval(&on), trace.eval(&rule.points));
            let projected = own.mul(&own.transpose().scale_cols(&rule.weights).mul(&modes));
            assert!(projected.distance(&modes) < 1e-11, "order {p} face {face}");
        }
    }
}

#[test]
fn impossible_elements_are_refused_with_their_reason() {
    let new = |spec: ElementSpec| ReferenceElement::new(&spec).map(|e| e.n_basis);
    let collocated = ElementSpec::collocated;
    assert_eq!(
        new(collocated(Shape::Triangle, 3, NodeSet::GaussLobatto)),
        Err(BasisError::UnsupportedNodes { shape: Shape::Triangle, set: NodeSet::GaussLobatto })
    );
    assert_eq!(
        new(collocated(Shape::Pyramid, 2, NodeSet::Equispaced)),
        Err(BasisError::NotCollocated { shape: Shape::Pyramid })
    );
    let modal = ElementSpec {
        representation: Representation::Modal,
        ..collocated(Shape::Line, 2, NodeSet::WarpBlend)
    };
    assert_eq!(new(modal), Err(BasisError::NotCollocated { shape: Shape::Line }));
    for shape in [Shape::Quadrilateral, Shape::Hexahedron, Shape::Prism] {
        let total =
            ElementSpec { polynomials: Polynomials::Total, ..collocated(shape, 2, NodeSet::GaussLobatto) };
        assert!(matches!(
            new(total),
            Err(BasisError::NodesDoNotSpan { polynomials: Polynomials::Total, .. })
        ));
    }
}

#[test]
fn a_hexahedron_of_order_eight_is_built_in_a_moment() {
    // 729 functions; with Kronecker products the time is that of writing the memory.
    let e = build(&ElementSpec::collocated(Shape::Hexahedron, 8, NodeSet::GaussLobatto));
    assert_eq!(e.n_basis, 729);
    let cubes: Vec<f64> = e.nodes.as_ref().unwrap().iter().map(|x| x[2].powi(8)).collect();
    let slope = e.derivative[2].mul_vec(&cubes);
    for (s, x) in slope.iter().zip(&e.volume.points) {
        assert!((s - 8.0 * x[2].powi(7)).abs() < 1e-12);
    }
}
