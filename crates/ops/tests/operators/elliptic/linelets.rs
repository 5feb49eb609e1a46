//! Point Jacobi with linelets: symmetry, lines of columns, exactness, and the diagonal of its basis.

use crate::elliptic::{SHAPES, bend, dot, everywhere, full, host, noise, poisson, shear, unit};
use dgsuite_basis::{LagrangeBasis, NodeSet};
use dgsuite_mesh::{Mesh, Shape, generate};
use dgsuite_ops::{EllipticBoundary, Sipdg, SipdgOptions};
use std::sync::Arc;

/// Divides the last coordinate.
fn flatten(mesh: &mut Mesh, aspect: f64) {
    let last = mesh.dim - 1;
    mesh.map(|mut x| {
        x[last] /= aspect;
        x
    })
    .expect("affine");
}

fn apply(a: &Sipdg<f64>, r: &[f64]) -> Vec<f64> {
    let mut z = vec![f64::NAN; r.len()];
    a.linelet_inverse().expect("positive definite linelets").apply(r, &mut z);
    z
}

/// A random vector without entries in the padding.
fn random(a: &Sipdg<f64>, seed: u64) -> Vec<f64> {
    let all = noise(a.len(), seed);
    let mut out = vec![0.0; a.len()];
    a.unknowns().into_iter().for_each(|i| out[i as usize] = all[i as usize]);
    out
}

/// A single row of stretched elements: one line would be the whole operator, which is singular where nothing
/// prescribes a value.
#[test]
fn a_row_of_elements_without_prescribed_values_is_cut_in_two() {
    for (shape, cells, lines) in [
        (Shape::Triangle, [3, 1, 1], 2),
        (Shape::Triangle, [1, 5, 1], 2),
        (Shape::Quadrilateral, [3, 1, 1], 2),
    ] {
        let mut mesh = generate::Box { cells, ..generate::Box::unit(shape, 1) }.build().expect("a box");
        let along = cells.iter().position(|n| *n > 1).unwrap_or(0);
        mesh.map(|mut x| {
            x[along] /= 4.0;
            x
        })
        .expect("affine");
        let mesh = Arc::new(mesh);
        for (condition, found) in [(EllipticBoundary::Neumann, lines), (EllipticBoundary::Dirichlet, 1)] {
            let conditions = everywhere(&mesh, condition);
            let options = SipdgOptions::new(2);
            let a = Sipdg::new(Arc::clone(&mesh), &options, &|_, _| 1.0, &|_, _| 0.0, &conditions, host(1))
                .expect("an operator");
            assert_eq!(a.linelets().elements().len(), found, "{shape} {cells:?} {condition:?}");
            let r = random(&a, 5);
            assert!(dot(&apply(&a, &r), &r) > 0.0, "{shape} {cells:?} {condition:?}");
        }
    }
}

#[test]
fn it_is_symmetric_and_positive_for_all_shapes() {
    for (shape, dim, n) in SHAPES {
        for order in if full() { 1..=6 } else { 1..=3 } {
            for deformation in ["flat", "sheared", "curved"] {
                let mut mesh = unit(shape, dim, n.max(2));
                match deformation {
                    "sheared" => shear(&mut mesh),
                    "curved" => bend(&mut mesh, 2),
                    _ => {}
                }
                flatten(&mut mesh, 20.0);
                mesh.make_periodic("xmin", "xmax").expect("opposite sides match");
                let mut conditions = everywhere(&mesh, EllipticBoundary::Neumann);
                conditions[0].1 = EllipticBoundary::Dirichlet;
                let kappa = |e: usize, _: [f64; 3]| if e.is_multiple_of(3) { 100.0 } else { 1.0 };
                let options = SipdgOptions::new(order);
                let a = Sipdg::new(Arc::new(mesh), &options, &kappa, &|_, _| 0.5, &conditions, host(2))
                    .expect("an operator");
                let (r, s) = (random(&a, 3), random(&a, 4));
                let (br, bs) = (apply(&a, &r), apply(&a, &s));
                let what = format!("{shape:?} {dim} {order} {deformation}");
                let (x, y) = (dot(&br, &s), dot(&r, &bs));
                assert!((x - y).abs() <= 1e-10 * dot(&br, &r), "{what}: {x} {y}");
                assert!(dot(&br, &r) > 0.0 && dot(&bs, &s) > 0.0, "{what}");
            }
        }
    }
}

#[test]
fn lines_are_whole_columns() {
    for (shape, n, lines, longest) in [
        (Shape::Quadrilateral, 5, 5, 5),
        (Shape::Triangle, 5, 5, 10),
        (Shape::Hexahedron, 3, 9, 3),
        (Shape::Prism, 3, 18, 3),
    ] {
        // An aspect ratio of exactly 2 is enough.
        for (aspect, counted) in [(1.0, 0), (2.0, lines), (1000.0, lines)] {
            let mut mesh = generate::Box::unit(shape, n).build().expect("a box");
            flatten(&mut mesh, aspect);
            let elements = mesh.n_elements();
            let a = poisson(&Arc::new(mesh), 2, EllipticBoundary::Dirichlet);
            let inverse = a.linelet_inverse().expect("linelets");
            let found = inverse.summary();
            assert_eq!(inverse.elements(), a.linelets().elements(), "{shape:?} {aspect}");
            assert_eq!(found.lines, counted, "{shape:?} {aspect}");
            if counted > 0 {
                assert_eq!((found.elements, found.longest), (elements, longest), "{shape:?} {aspect}");
            }
        }
    }
}

/// In a column, functions of degree 1 across it are in the space of its linelet, which is solved exactly.
#[test]
fn a_column_of_triangles_is_solved_exactly() {
    for order in 1..=5_usize {
        let cells = [1, 6, 1];
        let column = generate::Box { cells, ..generate::Box::unit(Shape::Triangle, 1) };
        let mut mesh = column.build().expect("a column");
        mesh.map(|[x, y, z]| [x, 0.05 * y * (1.0 + y), z]).expect("affine elements");
        let a = poisson(&Arc::new(mesh), order, EllipticBoundary::Dirichlet);
        let p = order as i32;
        let u =
            a.project(&|element, [x, y, _]| x.powi(p) + (1.0 + element as f64) * y * x.powi(p - 1) - 0.3 * y);
        let mut r = vec![0.0; a.len()];
        a.apply(&u, &mut r);
        let z = apply(&a, &r);
        // B A u = 0.7 (D⁻¹ A u + u).
        for (i, d) in a.diagonal().into_iter().enumerate() {
            let wanted = 0.7 * (r[i] / d + u[i]);
            assert!((z[i] - wanted).abs() < 1e-9, "{order} {i}: {} {wanted}", z[i]);
        }
    }
}

/// Without linelets it is `T D⁻¹ Tᵀ`, where T has the Gauss–Lobatto functions at the operator's nodes and D
/// is the diagonal of `Tᵀ A T`.
#[test]
fn on_square_elements_it_is_the_diagonal_for_the_lobatto_basis() {
    for (shape, curved) in [
        (Shape::Quadrilateral, false),
        (Shape::Quadrilateral, true),
        (Shape::Hexahedron, false),
        (Shape::Hexahedron, true),
    ] {
        for order in 1..=3 {
            let mut mesh = unit(Some(shape), shape.dim(), 2);
            if curved {
                bend(&mut mesh, 2);
            }
            let a = poisson(&Arc::new(mesh), order, EllipticBoundary::Dirichlet);
            let matrix = a.assemble();
            let gauss = LagrangeBasis::with_nodes(shape, order, NodeSet::GaussLegendre).expect("a basis");
            let lobatto = LagrangeBasis::with_nodes(shape, order, NodeSet::GaussLobatto).expect("a basis");
            let t = lobatto.eval(gauss.nodes());
            let r = random(&a, 5);
            let mut wanted = vec![0.0; a.len()];
            for block in a.blocks_of_unknowns() {
                for j in 0..t.cols() {
                    let mut function = vec![0.0; a.len()];
                    block.iter().enumerate().for_each(|(i, at)| function[*at as usize] = t[(i, j)]);
                    let image: Vec<f64> = matrix
                        .outer_iterator()
                        .map(|row| row.iter().map(|(k, v)| v * function[k]).sum())
                        .collect();
                    let factor = dot(&function, &r) / dot(&function, &image);
                    wanted.iter_mut().zip(&function).for_each(|(w, f)| *w += factor * f);
                }
            }
            let found = apply(&a, &r);
            for (found, wanted) in found.iter().zip(&wanted) {
                assert!((found - wanted).abs() < 1e-11, "{shape:?} {curved} {order}: {found} {wanted}");
            }
        }
    }
}

#[test]
fn threads_do_not_change_a_bit() {
    let mut mesh = unit(Some(Shape::Triangle), 2, 9);
    flatten(&mut mesh, 100.0);
    let mesh = Arc::new(mesh);
    let boundaries = everywhere(&mesh, EllipticBoundary::Dirichlet);
    let of = |threads: usize| {
        let options = SipdgOptions::new(3);
        let a = Sipdg::<f64>::new(
            Arc::clone(&mesh),
            &options,
            &|_, _| 1.0,
            &|_, _| 0.0,
            &boundaries,
            host(threads),
        )
        .expect("an operator");
        apply(&a, &random(&a, 6))
    };
    let one = of(1);
    assert!(one == of(2) && one == of(3));
}
