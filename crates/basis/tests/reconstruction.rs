//! Elements of flux reconstruction: their lifts are the classical corrections, and preserve moments and
//! symmetries.

use dgsuite_basis::correction::{Parameter, c_hu, c_minus, c_sd, correction_functions};
use dgsuite_basis::{
    BasisError, Correction, Cubature, ElementSpec, Matrix, NodeSet, Polynomials, Quadrature,
    ReferenceElement, Representation, Shape,
};

const CORRECTED: [Shape; 6] =
    [Shape::Line, Shape::Triangle, Shape::Quadrilateral, Shape::Tetrahedron, Shape::Hexahedron, Shape::Prism];

fn spec(shape: Shape, order: usize, set: NodeSet, c: Parameter) -> ElementSpec {
    let simplex = matches!(shape, Shape::Triangle | Shape::Tetrahedron);
    let set = if simplex && set == NodeSet::GaussLobatto { NodeSet::WarpBlend } else { set };
    ElementSpec { correction: Correction::Vcjh(c), ..ElementSpec::collocated(shape, order, set) }
}

fn build(spec: &ElementSpec) -> ReferenceElement {
    ReferenceElement::new(spec).unwrap_or_else(|e| panic!("{spec:?}: {e}"))
}

const SETS: [NodeSet; 2] = [NodeSet::GaussLegendre, NodeSet::GaussLobatto];

#[test]
fn lifts_of_the_line_are_derivatives_of_the_correction_functions() {
    for p in 0..=8 {
        let line = Shape::Line;
        let named = [c_sd(line, p).unwrap(), c_hu(line, p).unwrap()];
        for c in [0.0, named[0], named[1], 0.5 * c_minus(line, p).unwrap().max(-1.0)] {
            for set in SETS {
                let e = build(&spec(Shape::Line, p, set, Parameter::C(c)));
                let t = e.tensor.as_ref().unwrap();
                for (i, x) in e.nodes.as_ref().unwrap().iter().enumerate() {
                    let [(_, left), (_, right)] = correction_functions(p, c, x[0]);
                    let scale = e.lift.max_abs();
                    assert!((e.lift[(i, 0)] + left).abs() < 1e-12 * scale, "{p} {c} {set}");
                    assert!((e.lift[(i, 1)] - right).abs() < 1e-12 * scale, "{p} {c} {set}");
                    assert!((t.lift[0][i] + left).abs() < 1e-12 * scale, "{p} {c} {set}");
                }
            }
        }
    }
}

/// Huynh's g₂ at Lobatto points is lumping: the lift of the discontinuous Galerkin spectral element method.
#[test]
fn the_lumping_parameter_gives_the_lumped_lift() {
    for shape in [Shape::Line, Shape::Quadrilateral, Shape::Hexahedron] {
        for p in 1..=4 {
            let e = build(&spec(shape, p, NodeSet::GaussLobatto, Parameter::Huynh));
            let lumped = build(&ElementSpec::collocated(shape, p, NodeSet::GaussLobatto));
            assert!(e.lift.distance(&lumped.lift) < 1e-11, "{shape} {p}");
            let (t, l) = (e.tensor.as_ref().unwrap(), lumped.tensor.as_ref().unwrap());
            assert!(
                (0..2).all(|end| t.lift[end].iter().zip(&l.lift[end]).all(|(a, b)| (a - b).abs() < 1e-11))
            );
            assert!(t.lift[0][1..].iter().all(|&x| x == 0.0), "no node but the end: {:?}", t.lift[0]);
        }
    }
}

/// Without correction of the mass, Gauss points and simplices have the lift of nodal discontinuous Galerkin.
#[test]
fn a_zero_parameter_is_discontinuous_galerkin() {
    for shape in CORRECTED {
        for p in 0..=4 {
            let fr = spec(shape, p, NodeSet::GaussLegendre, Parameter::C(0.0));
            let dg = ElementSpec { correction: Correction::Dg, ..fr };
            let (fr, dg) = (build(&fr), build(&dg));
            assert!(fr.lift.distance(&dg.lift) < 1e-11 * dg.lift.max_abs(), "{shape} {p}");
            assert!(fr.mass.distance(&dg.mass) < 1e-13, "{shape} {p}");
        }
    }
}

/// Integrals of the lifted field against a basis of the polynomials of lower degree.
#[test]
fn lower_moments_of_a_jump_do_not_depend_on_the_parameter() {
    for shape in CORRECTED {
        for p in 1..=4 {
            for set in SETS {
                for face in [Cubature::Collocated, Cubature::Degree(2 * p + 1)] {
                    let with = |c: Parameter| build(&ElementSpec { face, ..spec(shape, p, set, c) });
                    let (zero, other) = (with(Parameter::C(0.0)), with(Parameter::Huynh));
                    let rule = Quadrature::new(shape, 2 * p);
                    let low = dgsuite_basis::OrthonormalBasis::new(shape, p - 1, Polynomials::Total);
                    let tested = low.eval(&rule.points).transpose().scale_cols(&rule.weights);
                    let moments = |e: &ReferenceElement| tested.mul(&e.evaluate(&rule.points)).mul(&e.lift);
                    let (a, b) = (moments(&zero), moments(&other));
                    // On products K vanishes on degrees below p in the direction across the face.
                    assert!(a.distance(&b) < 1e-11 * (1.0 + a.max_abs()), "{shape} {p} {set} {face:?}");
                    // The mean: the flux that enters through the face is preserved.
                    let sums = other.lift.transpose().mul_vec(&other.volume.weights);
                    for (s, w) in sums.iter().zip(&other.face_weights) {
                        assert!((s - w).abs() < 1e-12, "{shape} {p} {set} {face:?}: {s} {w}");
                    }
                    assert!(zero.lift.distance(&other.lift) > 1e-3, "{shape} {p}: c does something");
                }
            }
        }
    }
}

/// On products each face point affects only its own line of nodes.
#[test]
fn corrections_of_products_stay_on_their_lines() {
    for p in 1..=4 {
        for set in SETS {
            for shape in [Shape::Quadrilateral, Shape::Hexahedron] {
                let e = build(&spec(shape, p, set, Parameter::SpectralDifference));
                let nodes = e.nodes.as_ref().unwrap();
                for (k, x) in e.face_points.iter().enumerate() {
                    let entries: Vec<usize> = (0..e.n_basis).filter(|&i| e.lift[(i, k)] != 0.0).collect();
                    assert!(entries.len() <= p + 1, "{shape} {p} {set}: {}", entries.len());
                    for i in entries {
                        let apart = (0..3).filter(|&d| (nodes[i][d] - x[d]).abs() > 1e-10).count();
                        assert!(apart <= 1, "{shape} {p} {set}");
                    }
                }
            }
            let e = build(&spec(Shape::Prism, p, set, Parameter::SpectralDifference));
            let levels = p + 1;
            for k in e.face_offsets[2]..e.face_offsets[5] {
                let entries = (0..e.n_basis).filter(|&i| e.lift[(i, k)] != 0.0).count();
                assert!(entries <= e.n_basis / levels, "prism {p} {set}");
            }
        }
    }
}

/// A jump in a corner of a simplex has the same effect in every corner.
#[test]
fn corrections_have_the_symmetries_of_the_simplex() {
    for shape in [Shape::Triangle, Shape::Tetrahedron] {
        for p in 1..=4 {
            let e = build(&spec(shape, p, NodeSet::WarpBlend, Parameter::Huynh));
            let ones = vec![1.0; e.face_offsets[1]];
            // A uniform jump on one face: its field at the vertex across is the same for every face.
            let at_vertices = e.evaluate(shape.vertices());
            let mut found = Vec::new();
            for f in 0..shape.n_faces() {
                let mut jump = vec![0.0; e.face_points.len()];
                jump[e.face_offsets[f]..e.face_offsets[f + 1]].copy_from_slice(&ones);
                let field = at_vertices.mul_vec(&e.lift.mul_vec(&jump));
                let across = (0..shape.n_vertices()).find(|v| !shape.face_vertices(f).contains(v)).unwrap();
                found.push(field[across]);
            }
            assert!(found.iter().all(|v| (v - found[0]).abs() < 1e-11 * (1.0 + found[0].abs())), "{found:?}");
        }
    }
}

/// The correction acts on functions, independently of their representation.
#[test]
fn modal_and_nodal_elements_have_the_same_corrections() {
    for shape in CORRECTED {
        for p in 1..=3 {
            let nodal = ElementSpec {
                volume: Cubature::Degree(2 * p),
                face: Cubature::Degree(2 * p + 1),
                ..spec(shape, p, NodeSet::GaussLobatto, Parameter::SpectralDifference)
            };
            let modal = ElementSpec { representation: Representation::Modal, ..nodal };
            let (nodal, modal) = (build(&nodal), build(&modal));
            let points = Quadrature::new(shape, 2 * p).points;
            let of = |e: &ReferenceElement| e.evaluate(&points).mul(&e.lift);
            let (a, b) = (of(&nodal), of(&modal));
            assert!(a.distance(&b) < 1e-11 * a.max_abs(), "{shape} {p}");
        }
    }
}

/// An element that interpolates its fluxes at the nodes of another family is the collocated element of that
/// family in another basis.
#[test]
fn fluxes_at_other_nodes_are_those_of_their_element() {
    let gauss = NodeSet::GaussLegendre;
    for shape in [Shape::Line, Shape::Triangle, Shape::Tetrahedron] {
        for p in 1..=5 {
            let collocated = spec(shape, p, gauss, Parameter::SpectralDifference);
            let at = Cubature::Nodes(gauss);
            let representation = Representation::Nodal(NodeSet::WarpBlend);
            let other = build(&ElementSpec { representation, volume: at, face: at, ..collocated });
            let collocated = build(&collocated);
            // From the values of one element to those of the other.
            let change = &other.interp_volume;
            let same = |a: &Matrix, b: &Matrix| {
                assert!(a.distance(b) < 1e-11 * (1.0 + a.max_abs()), "{shape} {p}: {:e}", a.distance(b));
            };
            for d in 0..shape.dim() {
                same(&change.mul(&other.project[d]), &collocated.project[d]);
                same(&other.derivative[d], &collocated.derivative[d].mul(change));
            }
            same(&change.mul(&other.project_volume), &Matrix::identity(change.rows));
            same(&change.mul(&other.lift), &collocated.lift);
            same(&other.interp_face, &collocated.interp_face.mul(change));
            let weights = other.volume.weights.iter().zip(&collocated.volume.weights);
            assert!(weights.clone().all(|(a, b)| (a - b).abs() < 1e-12), "{shape} {p}");
        }
    }
}

#[test]
fn what_has_no_corrections_is_refused() {
    let new = |spec: &ElementSpec| ReferenceElement::new(spec).map(|_| Matrix::identity(1));
    let corrected = |shape| ElementSpec {
        correction: Correction::Vcjh(Parameter::C(0.0)),
        ..ElementSpec::over_integrated(shape, 2)
    };
    let none = |shape| Err(BasisError::NoCorrection { shape });
    assert_eq!(new(&corrected(Shape::Pyramid)), none(Shape::Pyramid));
    let total = ElementSpec { polynomials: Polynomials::Total, ..corrected(Shape::Hexahedron) };
    assert_eq!(new(&total), none(Shape::Hexahedron));
    let least = c_minus(Shape::Line, 2).unwrap();
    let low = spec(Shape::Hexahedron, 2, NodeSet::GaussLegendre, Parameter::C(2.0 * least));
    let error = new(&low).unwrap_err();
    assert!(matches!(error, BasisError::UnstableCorrection { shape: Shape::Line, order: 2, .. }), "{error}");
    assert!(error.to_string().contains("above -4.4444e-2"), "{error}");
}
